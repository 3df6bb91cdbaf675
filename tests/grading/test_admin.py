"""The admin shows what people did and lets nobody change it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotator.grading.models import Annotator, Grade, GradeRevision
from annotator.studies.models import Study
from tests.factories import give_grades, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root", password="a long password"))
    return client


@pytest.fixture
def study() -> Study:
    study = make_study(problems=4)
    give_grades(study, annotators=2)
    return study


@pytest.mark.parametrize("name", ["annotator", "assignment", "grade"])
def test_lists_answer_with_few_queries(
    admin: Client, study: Study, name: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        assert admin.get(f"/admin/grading/{name}/").status_code == 200


def test_a_grade_says_whose_and_of_what(admin: Client, study: Study) -> None:
    page = admin.get("/admin/grading/grade/").content.decode()
    assert "person-1" in page
    assert ">a<" in page


def test_nothing_can_be_changed(admin: Client, study: Study) -> None:
    grade = Grade.objects.first()
    assert grade is not None
    page = admin.get(f"/admin/grading/grade/{grade.pk}/change/").content.decode()
    assert 'name="revisions-0-value"' not in page
    before = list(Grade.objects.values()), list(GradeRevision.objects.values())
    data = {"value": "0", "revisions-TOTAL_FORMS": "0", "revisions-INITIAL_FORMS": "0"}
    assert admin.post(f"/admin/grading/grade/{grade.pk}/change/", data).status_code == 403
    assert admin.post(f"/admin/grading/grade/{grade.pk}/delete/", {"post": "yes"}).status_code == 403
    assert admin.get(f"/admin/studies/study/{study.pk}/delete/").status_code == 403
    assert before == (list(Grade.objects.values()), list(GradeRevision.objects.values()))


def test_only_people_who_joined_have_a_link(admin: Client, study: Study) -> None:
    person = study.annotators.first()
    assert person is not None
    path = f"/admin/grading/annotator/{person.pk}/change/"
    assert f"/a/{person.token}/" in admin.get(path).content.decode()
    Annotator.objects.update(origin="imported")
    assert person.token not in admin.get(path).content.decode()
