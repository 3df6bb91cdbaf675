"""Samples drawn before a study opens, people left out after it: actions, commands and the page."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis import columns
from annotator.errors import BadInput, Conflict, NotYours
from annotator.grading import actions as grading
from annotator.grading.models import Assignment, Exclusion
from annotator.grading.verify import drifted
from annotator.results import actions, records, research
from annotator.studies import actions as studies
from annotator.studies.models import Snippet, Study
from tests.factories import (
    give_grade,
    give_grades,
    make_annotator,
    make_researcher,
    make_study,
    short_protocol,
)

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)


def draft(problems: int = 8) -> Study:
    """A draft whose system a passes odd problems and is like the reference in the first half."""
    study = make_study(problems=problems, state="draft")
    for snippet in Snippet.objects.filter(system__name="a").select_related("problem"):
        number = int(snippet.problem.key)
        reference = snippet.problem.snippets.get(system__name="reference")
        snippet.code = reference.code if number < problems // 2 else "?" * 40
        snippet.file_scores = {"PASS": number % 2}
        snippet.save()
    return study


def command(name: str, *arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, **options)
    return out.getvalue()


def test_a_sample_by_buckets_keeps_strata_and_weights() -> None:
    study = draft()
    # Low similarity: problems 4 to 7; they pass when odd. pass-low: 5, 7. fail-high: 0, 2. agree: 1, 3, 4, 6.
    said = command("draw_sample", "study", "--anchor", "a", "--per-bucket", "1")
    assert "3 problems, 9 items to grade." in said
    study.refresh_from_db()
    kept = {
        problem.key: (problem.stratum, problem.weight)
        for problem in study.problems.filter(snippets__items__isnull=False).distinct()
    }
    by_stratum = {stratum: key for key, (stratum, _) in kept.items()}
    assert by_stratum["pass-low"] in "57"
    assert by_stratum["fail-high"] in "02"
    assert by_stratum["agree"] in "1346"
    assert dict(kept.values()) == {
        "pass-low": 2,
        "fail-high": 2,
        "agree": 4,
    }
    assert study.sample is not None
    assert study.sample["anchor"] == "a"
    assert drifted(study) == []
    with pytest.raises(CommandError, match="drawn already"):
        command("draw_sample", "study", "--anchor", "a")


def test_a_sample_by_the_column_stratum() -> None:
    study = draft()
    study.problems.filter(key__in="012345").update(stratum="easy")
    study.problems.filter(key__in="67").update(stratum="hard")
    research.draw_sample(study, 2)
    assert study.item_count == 4 * 3
    weights = dict(study.problems.exclude(weight=1).values_list("stratum", "weight"))
    assert weights == {"easy": 3.0}


def test_a_sample_that_cannot_be_drawn() -> None:
    study = draft()
    with pytest.raises(NotYours, match=r"no system 'z' in this study\. Known: a, b"):
        research.draw_sample(study, 2, anchor="z")
    with pytest.raises(BadInput, match="PASS"):
        research.draw_sample(study, 2, anchor="b")
    studies.open_study(study)
    with pytest.raises(Conflict, match="before the study opens"):
        research.draw_sample(study, 2)


def graded() -> Study:
    """Four people; the fourth failed three checks."""
    study = make_study(problems=4, target=5)
    give_grades(study, annotators=4)
    bad = study.annotators.order_by("number").last()
    assert bad is not None
    for item in list(study.items.all())[:3]:
        check = type(item).objects.create(
            study=study,
            snippet=item.snippet,
            kind="snippet",
            check_kind="gold",
            draw=1,
            low=4,
            high=4,
            taken=1,
        )
        grade = give_grade(bad, check, 0)
        Assignment.objects.filter(pk=grade.assignment_id).update(passed=False)
        type(check).objects.filter(pk=check.pk).update(taken=1)
    bad.checks = bad.failed_checks = 3
    bad.save()
    assert drifted(study) == []
    return study


def excluded(study: Study) -> set[str]:
    rows = [
        dict(zip(columns.GRADES, row, strict=True)) for row in records.grade_table(study, using="default")
    ]
    return {row["annotator"] for row in rows if row["excluded"]}


def test_a_rule_is_looked_at_applied_and_undone() -> None:
    study = graded()
    said = command("exclude", "study", "failed_checks")
    assert "would leave out 1. Nothing changed" in said
    assert not Exclusion.objects.exists()
    said = command("exclude", "study", "failed_checks", "--set", "at_least=3", "--apply")
    exclusion = Exclusion.objects.get()
    assert f"Exclusion {exclusion.pk}: the grades of 1 annotators are left out" in said
    assert (exclusion.rule, exclusion.parameters["at_least"], exclusion.reopened) == (
        "failed_checks",
        3,
        False,
    )
    assert excluded(study) == {"person-4"}
    assert "person-4" in command("exclude", "study")
    command("exclude", "study", "--undo", str(exclusion.pk))
    assert excluded(study) == set()
    assert "undone" in command("exclude", "study")
    assert drifted(study) == []


def test_reopened_slots_go_to_others_and_what_comes_back_is_surplus() -> None:
    study = make_study(problems=3, systems=("a",), references=0, target=2)
    give_grades(study, annotators=2)
    bad = study.annotators.get(number=2)
    exclusion = grading.exclude(study, "too_fast", 1, {}, {bad.pseudonym: "too fast"}, reopen=True)
    assert list(study.items.values_list("taken", flat=True)) == [1, 1, 1]
    assert drifted(study) == []
    person = make_annotator(study)
    give_grade(person, study.items.order_by("pk")[0], 3)
    assert grading.undo_exclusion(exclusion) == 1
    assert grading.undo_exclusion(exclusion) == 0
    assert sorted(study.items.values_list("taken", flat=True)) == [2, 2, 2]
    assert Assignment.objects.filter(annotator=bad, surplus=True).count() == 1
    assert drifted(study) == []


def test_who_two_exclusions_leave_out_stays_out_until_both_are_undone() -> None:
    study = make_study(problems=2, systems=("a",), references=0, target=2)
    give_grades(study, annotators=1)
    person = study.annotators.get()
    first = grading.exclude(study, "too_fast", 1, {}, {person.pseudonym: "x"}, reopen=True)
    second = grading.exclude(study, "failed_checks", 1, {}, {person.pseudonym: "y"}, reopen=True)
    grading.undo_exclusion(first)
    assert excluded(study) == {person.pseudonym}
    assert set(study.items.values_list("taken", flat=True)) == {0}
    grading.undo_exclusion(second)
    assert set(study.items.values_list("taken", flat=True)) == {1}
    assert drifted(study) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("none",), "no (exclusion )?rule 'none'"),
        (("failed_checks", "--set", "at_least"), "takes KEY=VALUE"),
        (("failed_checks", "--set", "colour=1"), "colour"),
        (("failed_checks", "--set", "at_least=many"), "at_least"),
        (("published",), "PASS"),
        (("--undo", "77"), "no exclusion 77"),
    ],
)
def test_what_cannot_be_is_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    graded()
    with pytest.raises(CommandError, match=sentence):
        command("exclude", "study", *arguments)


def test_the_page(client: Client) -> None:
    study = graded()
    client.force_login(make_researcher())
    first = client.get("/results/study/annotators/")
    assert first.status_code == 200
    assert "person-4" in first.content.decode()
    page = client.get(
        "/results/study/annotators/", {"rule": "failed_checks", "set-at_least": "3"}
    ).content.decode()
    assert "It would leave out 1 annotator." in page
    assert not Exclusion.objects.exists()
    form = {"rule": "failed_checks", "set-at_least": "3", "reopen": "on"}
    page = client.post("/results/study/annotators/exclude/", form, follow=True).content.decode()
    assert "left out from now on" in page
    exclusion = Exclusion.objects.get()
    assert exclusion.reopened
    assert excluded(study) == {"person-4"}
    client.post(f"/results/study/annotators/{exclusion.pk}/undo/")
    assert excluded(study) == set()
    assert drifted(study) == []
    for odd in ({"rule": "x"}, {"rule": "too_fast", "set-seconds": "many"}, {"rule": "published"}):
        assert client.get("/results/study/annotators/", odd).status_code == 200
        assert client.post("/results/study/annotators/exclude/", odd).status_code == 302
    assert client.post("/results/study/annotators/77/undo/").status_code == 404
    assert Exclusion.objects.count() == 1


def test_the_page_of_an_empty_study_and_for_strangers(client: Client) -> None:
    make_study()
    assert client.get("/results/study/annotators/").status_code == 302
    client.force_login(make_researcher())
    page = client.get("/results/study/annotators/")
    assert (page.status_code, "Nobody has graded yet" in page.content.decode()) == (200, True)


def test_answers_leave_as_a_table(client: Client) -> None:
    study = make_study(protocol=short_protocol(feedback=[{"key": "comment", "text": "So?"}]))
    person = actions_walk(study)
    client.force_login(make_researcher())
    response: Any = client.get("/results/study/answers.csv")
    rows = b"".join(response.streaming_content).decode().splitlines()
    assert rows[0] == ",".join(records.ANSWERS)
    assert rows[1].startswith(f"study,{person},feedback,comment,'=1+1,")


def actions_walk(study: Study) -> str:
    person = grading.join(study, "")
    grading.consent(person)
    assignment = grading.start(person)
    assert assignment is not None
    key = grading.submission_key(person, 1, "helpfulness")
    grading.submit(person, 1, {"helpfulness": 2}, key=key)
    grading.stop(person)
    grading.answer(person, "feedback", {"comment": "=1+1"})
    return person.pseudonym


def test_m_msr_is_refused_where_the_protocol_gives_each_item_one_grade() -> None:
    study = make_study(protocol=short_protocol(truth="mean"))
    with pytest.raises(BadInput, match=r"an item has one grade\. Use mean"):
        actions.check_params(study, "report", {"aggregator": "m-msr"})
    assert actions.check_params(study, "report", {})["aggregator"] == "mean"


def test_a_protocol_is_changed_on_the_command_line(tmp_path: Any) -> None:
    studies.create_study("mine", "", "helpfulness")
    text = command("change_protocol", "mine", "--print")
    (tmp_path / "new.toml").write_text(text.replace("How helpful is this", "How good is this"))
    assert "version 2" in command("change_protocol", "mine", str(tmp_path / "new.toml"))
    (tmp_path / "bad.toml").write_text(text + "colour = 1\n")
    with pytest.raises(CommandError, match=r"bad\.toml:\d+: `colour` is not known here"):
        command("change_protocol", "mine", str(tmp_path / "bad.toml"))


def test_the_admin_changes_a_protocol(client: Client) -> None:
    study = studies.create_study("mine", "", "helpfulness")
    client.force_login(make_researcher(is_superuser=True))
    link = f"/admin/studies/study/{study.pk}/change/"
    form = {"title": "New title", "notes": "", "protocol_source": study.protocol_source}
    client.post(link, form)
    study.refresh_from_db()
    assert (study.title, study.protocol_version) == ("New title", 1)
    changed = study.protocol_source.replace("How helpful is this", "How good is this")
    client.post(link, form | {"protocol_source": changed.replace("\n", "\r\n")})
    study.refresh_from_db()
    assert study.protocol_version == 2
    assert study.read_protocol().questions[0].text.startswith("How good is this")
    page = client.post(link, form | {"protocol_source": changed + "colour = 1\n"}).content.decode()
    assert "`colour` is not known here" in page
    study.refresh_from_db()
    assert study.protocol_version == 2
