"""Each protocol from the open link to the thanks: what it shows, in which order, for everybody, on every screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from annotator.grading.models import Answer, Grade, GradeRevision
from annotator.studies.actions import close_study
from scripts.messages import LOCALE, read_po
from tests.browser.conftest import OpenPage, Watch
from tests.browser.helpers import assert_fits, inspect, shoot
from tests.browser.studies import everything, real_study
from tests.browser.walk import answer_questions, leave, saved, start, step_of, walk

ALL_STEPS = [
    "consent",
    "background",
    "instructions",
    *["practice"] * 4,
    "tasks",
    "tasks",
    "feedback",
    "thanks",
]


def page_for_pictures(open_page: OpenPage) -> Page:
    """Nothing moves, so that a picture shows what a page comes to."""
    return open_page(reduced_motion="reduce")


def test_every_kind_of_step_and_question(open_page: OpenPage, tmp_path: Path) -> None:
    everything(tmp_path)
    page = page_for_pictures(open_page)
    seen: list[str] = []

    def look(step: str) -> None:
        if seen.count(step) < {"practice": 2}.get(step, 1):
            inspect(page, f"everything-{len(seen)}-{step}")
        seen.append(step)
        if step == "practice" and page.get_by_text("Your answer").count():
            expect(page.locator(".result").first).to_contain_text("hardly+")

    assert walk(page, look) == ALL_STEPS
    expect(page.get_by_text("C0MPLETE")).to_be_visible()
    first = {grade.question: grade.value for grade in Grade.objects.order_by("pk")[:3]}
    assert first == {"readable": 1, "agree": 0, "sure": 50}
    assert Answer.objects.filter(step="comment", text="because").count() == 2
    assert set(Answer.objects.filter(step="background").values_list("question", "text")) == {
        ("years", "7"),
        ("role", "Read the code and say how easy it is to follow. a"),
        ("more", "quite so"),
    }


def test_every_step_works_without_javascript(open_page: OpenPage, tmp_path: Path, watch: Watch) -> None:
    watch.allow_console_errors = True  # the 400s
    everything(tmp_path)
    page = open_page(java_script_enabled=False)
    tried: set[str] = set()

    def look(step: str) -> None:
        """On each page of questions: what is missing is said, what was typed is there again."""
        if step not in ("background", "tasks") or step in tried:
            return
        tried.add(step)
        page.locator("main textarea").last.fill("typed before")
        button = page.locator("main button.go[name=action]")
        button.evaluate("button => { button.formNoValidate = true; }")
        button.click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.locator("main textarea").last).to_have_value("typed before")
        assert_fits(page)

    assert walk(page, look) == ALL_STEPS
    assert tried == {"background", "tasks"}
    assert Grade.objects.filter(question="sure").values_list("value", flat=True)[0] == 50


def test_the_page_of_a_right_to_left_language(open_page: OpenPage, tmp_path: Path) -> None:
    everything(tmp_path, language="ar")
    page = page_for_pictures(open_page)

    seen: set[str] = set()

    def look(step: str) -> None:
        if step != "join":
            expect(page.locator("html[dir=rtl][lang=ar]")).to_have_count(1)
        if step in ("consent", "tasks") and step not in seen:
            inspect(page, f"rtl-{step}")
        seen.add(step)

    assert walk(page, look) == ALL_STEPS
    assert page.locator("html").get_attribute("dir") == "rtl"


def test_a_pair_with_one_question_after_another(open_page: OpenPage) -> None:
    real_study("value-accuracy-effort")
    page = page_for_pictures(open_page)
    start(page)
    questions = page.locator("main legend")
    expect(page.locator(".snippet h2")).to_have_text(["Code snippet A", "Code snippet B"])
    expect(page.locator(".badge")).to_have_count(0)
    expect(page.locator("details.tests pre")).to_be_hidden()
    html = page.content()
    assert "useful" not in html
    assert "effort" not in html
    inspect(page, "pair-first")
    page.get_by_text("Unit tests").click()
    expect(page.locator("details.tests pre")).to_be_visible()
    shoot(page, "pair-tests-unfolded")
    answer_questions(page)
    leave(page, "grade")

    expect(questions).to_contain_text("how useful will this be to you?")
    expect(page.locator(".badge")).to_have_count(2)
    expect(page.get_by_role("heading", name="AI model")).to_be_visible()
    expect(page.get_by_role("heading", name="human programmer")).to_be_visible()
    assert "How much effort" not in page.content()
    assert page.get_by_role("button", name="Skip this one").count() == 0
    inspect(page, "pair-second")
    expect(questions).to_be_focused()  # the item stayed: only the question is new
    answer_questions(page)
    leave(page, "grade")
    expect(questions).to_contain_text("How much effort")
    inspect(page, "pair-third")
    answer_questions(page)
    leave(page, "grade")
    expect(page.locator(".badge")).to_have_count(0)  # the next pair is blind again
    assert [grade.value for grade in Grade.objects.order_by("pk")] == [4, 4, 4]


def test_a_score_beside_the_code(open_page: OpenPage) -> None:
    real_study("metric-reasonableness", problems=10)
    page = page_for_pictures(open_page)
    start(page)
    expect(page.locator(".snippet h2")).to_have_text(["A correct solution", "The generated code"])
    expect(page.locator(".score b")).to_have_text("0.50")
    assert "bleu" not in page.content().lower()
    inspect(page, "score")


def card(folder: Path) -> Path:
    path = folder / "card.png"
    Image.new("RGB", (286, 395), "#7a5c3a").save(path)
    return path


def test_a_card_beside_the_code(open_page: OpenPage, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    real_study("hearthstone", image=card(tmp_path))
    page = page_for_pictures(open_page)
    start(page)
    picture = page.get_by_role("img", name="A card with the picture of a bird")
    expect(picture).to_have_js_property("naturalWidth", 286)
    inspect(page, "card")


def test_keys_go_from_question_to_question(page: Page, tmp_path: Path) -> None:
    everything(tmp_path)
    start(page)
    first, second = page.locator(".scale").all()
    page.keyboard.press("3")
    page.keyboard.press("2")  # the second question's second option
    assert first.get_by_role("radio", checked=True).get_attribute("value") == "3"
    assert second.get_by_role("radio", checked=True).get_attribute("value") == "0"
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Please answer each question.")
    expect(page.get_by_role("slider")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("spinbutton")).to_have_value("51")
    expect(page.get_by_role("alert")).to_be_hidden()
    page.keyboard.press("Enter")
    saved(page)
    assert [grade.value for grade in Grade.objects.order_by("pk")] == [3, 0, 51]


def test_the_answer_before_can_be_changed_where_the_protocol_lets(
    open_page: OpenPage, tmp_path: Path
) -> None:
    everything(tmp_path)
    page = page_for_pictures(open_page)
    start(page)
    assert page.get_by_role("link", name="Change the answer before").count() == 0
    answer_questions(page, 1)
    leave(page, "grade")
    page.get_by_role("link", name="Change the answer before").click()
    assert page.locator(".scale").first.get_by_role("radio", checked=True).get_attribute("value") == "1"
    expect(page.get_by_role("slider")).to_have_value("50")
    inspect(page, "change")
    answer_questions(page, 0)
    leave(page, "grade")
    assert step_of(page) == "tasks"
    assert not page.url.endswith("/change/")
    assert list(Grade.objects.filter(question="readable").values_list("value", flat=True)) == [0]
    assert GradeRevision.objects.filter(grade__question="readable").count() == 2


def test_a_broken_item_is_reported(page: Page, tmp_path: Path) -> None:
    everything(tmp_path)
    start(page)
    code = page.locator(".snippet code").text_content()
    page.get_by_text("Is something broken here?").click()
    page.get_by_label("What is wrong with it?").fill("the code is cut off")
    page.get_by_role("button", name="Report it and go on").click()
    expect(page.locator(".snippet code")).not_to_have_text(code or "")
    assert Answer.objects.get(step="broken").text == "the code is cut off"


@pytest.mark.parametrize("copies", [True, False])
def test_code_is_copied_only_where_the_protocol_lets(page: Page, tmp_path: Path, copies: bool) -> None:
    if copies:
        real_study("hearthstone")
    else:
        everything(tmp_path)
    start(page)
    copied = page.evaluate(
        """() => {
            getSelection().selectAllChildren(document.querySelector(".snippet code"));
            return [getSelection().toString() !== "",
                document.querySelector(".snippet code").dispatchEvent(
                    new ClipboardEvent("copy", { bubbles: true, cancelable: true }))];
        }"""
    )
    assert copied == [copies, copies]


ALL_TEXTS = """() => [...document.querySelectorAll("*")].flatMap((part) => [
    ...["aria-label", "alt", "title", "placeholder"].map((name) => part.getAttribute(name) || ""),
    ...(part.tagName === "TEMPLATE" ? Object.values(part.dataset) : []),
    ...[...part.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data),
]).map((text) => text.trim().replace(/\\s+/g, " ")).filter((text) => text)"""


def english(texts: list[str]) -> list[str]:
    """Texts of a page that are one of our sentences as it is in English; long ones also as a part of a text."""
    german = read_po((LOCALE / "de/LC_MESSAGES/django.po").read_text())[1:]
    sentences = [
        text
        for entry in german
        for text in (entry.message, entry.plural)
        if text and text not in entry.texts and "%(" not in text
    ]
    return [
        text
        for text in texts
        for sentence in sentences
        if text == sentence or (len(sentence) > 12 and sentence in text)
    ]


def test_a_german_study_has_no_english_sentence_of_ours(
    open_page: OpenPage, tmp_path: Path, watch: Watch
) -> None:
    watch.allow_console_errors = True  # the 400
    study = everything(tmp_path, language="de")
    page = page_for_pictures(open_page)
    told: list[str] = []

    def look(step: str) -> None:
        expect(page.locator("html[lang=de]")).to_have_count(1)
        texts = page.evaluate(ALL_TEXTS)
        told.extend(texts)
        assert not english(texts), step
        shoot(page, f"german-{step}")

    def look_closer(step: str) -> None:
        look(step)
        if step == "tasks" and "Pause oder Schluss" in told and "Hier aufhören" not in told:
            page.keyboard.press("Enter")
            look("task-error")
            link = page.url
            for path in ("pause/", "instructions/"):
                page.goto(link + path)
                look(path)
            page.goto(link)

    assert walk(page, look_closer) == ALL_STEPS
    expect(page.get_by_text("Sie haben 2 Aufgaben bearbeitet.")).to_be_visible()
    assert "Bitte beantworten Sie jede Frage." in told
    page.goto("/join/study/")
    look("join again")
    close_study(study)
    page.goto("/join/study/")
    look("closed")
    assert "Diese Studie ist beendet. Vielen Dank." in told
