"""The annotator's pages in a real browser: by keyboard, without JavaScript, without a connection, for everybody."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies.models import Problem, Snippet
from tests.browser.conftest import OpenPage, Watch
from tests.browser.helpers import DESK, PHONE, WIDE, assert_accessible, shoot
from tests.factories import make_study

WIDE_CODE = "\n".join(f"value_{number} = compute({'argument, ' * 20})" for number in range(40))


def start(page: Page, slug: str = "study") -> str:
    """Join, agree, read the instructions; returns the personal link at the first item."""
    page.goto(f"/join/{slug}/")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I agree, start").click()
    page.get_by_role("button", name="Start grading").click()
    expect(page.get_by_role("radio").first).to_be_attached()
    return page.url


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("Saved")


def grade_by_keys(page: Page, value: int) -> None:
    sequence = page.locator("input[name=sequence]").input_value()
    page.keyboard.press(str(value))
    page.keyboard.press("Enter")
    expect(page.locator("input[name=sequence]")).not_to_have_value(sequence)
    saved(page)


def held_code() -> str:
    return Assignment.objects.get(state=Assignment.State.HELD).item.snippet.code


def test_the_whole_walk_by_keyboard_and_back_on_another_device(page: Page, open_page: OpenPage) -> None:
    make_study(problems=4, systems=("a",), references=0)
    link = start(page)
    for value in (3, 0, 4):
        grade_by_keys(page, value)
    assert list(Grade.objects.order_by("pk").values_list("value", flat=True)) == [3, 0, 4]
    code = held_code()
    page.context.close()

    other = open_page()
    other.goto(link)
    assert other.locator(".snippet pre.code").text_content() == code + "\n"
    other.keyboard.press("s")
    expect(other.locator(".snippet pre.code")).to_have_count(0)  # the last one: the pool is empty
    expect(other.get_by_role("heading", name="Thank you")).to_be_visible()
    assert Grade.objects.count() == 3
    assert Assignment.objects.filter(state=Assignment.State.SKIPPED).count() == 1


def test_stop_and_come_back(page: Page) -> None:
    make_study()
    start(page)
    grade_by_keys(page, 2)
    page.get_by_role("link", name="Pause or stop").click()
    page.get_by_label("Tired of it").check()
    page.get_by_label("In your words").fill("enough for today")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("You graded 1 snippet.")).to_be_visible()
    assert Annotator.objects.get().stop_reason == "tired: enough for today"
    page.get_by_role("button", name="Grade some more").click()
    expect(page.locator(".snippet pre.code")).to_be_visible()


def test_without_javascript_everything_works(open_page: OpenPage, watch: Watch) -> None:
    watch.allow_console_errors = True  # the 400 of an empty answer
    make_study(problems=3, systems=("a",), references=0)
    page = open_page(java_script_enabled=False)
    start(page)
    save = page.get_by_role("button", name="Save and next")
    save.click()
    expect(page.get_by_text("Please choose one of the answers.")).to_be_visible()
    page.get_by_role("radio", name="Helpful Needs a small change").check()
    save.click()
    expect(page.get_by_text("1 graded")).to_be_visible()
    page.get_by_role("button", name="Skip this one").click()
    page.get_by_role("link", name="Read the instructions again").click()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("radio", name="Not at all").check()
    save.click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert list(Grade.objects.order_by("pk").values_list("value", flat=True)) == [3, 0]


def test_an_answer_given_offline_is_stored_once(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    start(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text("Not saved yet: trying again")
    expect(page.get_by_role("button", name="Save and next")).to_be_disabled()
    page.keyboard.press("4")  # what is on its way does not change any more
    assert not Grade.objects.exists()
    page.context.set_offline(False)
    saved(page)
    assert [grade.value for grade in Grade.objects.all()] == [2]


def test_an_answer_whose_receipt_was_lost_is_stored_once(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    start(page)
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.request.post_data or "")
            route.fetch(max_redirects=0)
            route.abort()
        else:
            route.continue_()

    page.route("**/a/**", lose_the_first)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    saved(page)
    assert lost
    assert [grade.value for grade in Grade.objects.all()] == [3]
    assert Assignment.objects.count() == 2


def test_an_answer_that_did_not_leave_is_sent_by_the_next_visit(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    link = start(page)
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text("Not saved yet: trying again")
    page.on("dialog", lambda dialog: dialog.accept())
    again = page.context.new_page()
    page.goto("about:blank")  # its script ends while it is offline still: it cannot send at the last moment
    page.close()
    page.context.set_offline(False)
    again.goto(link)
    saved(again)
    assert [grade.value for grade in Grade.objects.all()] == [1]
    again.reload()
    expect(again.locator("#saved")).to_have_text("")
    assert Grade.objects.count() == 1


def test_a_lost_cookie_loses_no_answer(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    start(page)
    page.context.clear_cookies()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    saved(page)
    assert [grade.value for grade in Grade.objects.all()] == [3]


def test_keys_do_nothing_by_accident(page: Page) -> None:
    make_study()
    start(page)
    page.keyboard.press("9")
    page.keyboard.press("Control+3")
    assert page.get_by_role("radio", checked=True).count() == 0
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    saved(page)
    page.keyboard.press("Enter")  # no choice is carried over
    expect(page.get_by_text("Please choose one of the answers.")).to_be_visible()
    assert Grade.objects.count() == 1
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("s")
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.get_by_role("radio", checked=True).count() == 0
    assert not Assignment.objects.filter(state=Assignment.State.SKIPPED).exists()


def test_the_time_of_looking_is_measured(page: Page) -> None:
    make_study()
    start(page)
    page.wait_for_timeout(1100)
    grade_by_keys(page, 2)
    seconds = Grade.objects.get().active_seconds
    assert seconds is not None
    assert 1.0 <= seconds < 15


def test_the_dress_of_the_code_is_remembered(page: Page) -> None:
    make_study()
    start(page)
    page.get_by_role("button", name="Larger code").click()
    page.get_by_role("button", name="Wrap").click()
    grade_by_keys(page, 1)
    expect(page.locator(".snippet pre.code")).to_have_css("font-size", "16px")
    page.reload()
    expect(page.locator(".snippet pre.code")).to_have_css("font-size", "16px")
    expect(page.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "true")


def narrow(page: Page) -> None:
    """The page itself never scrolls sideways: what is wide scrolls in a box of its own."""
    extra = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert extra <= 0, page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", ["desk", "phone"])
def test_each_page_is_accessible_and_fits(
    open_page: OpenPage, watch: Watch, scheme: str, device: str
) -> None:
    watch.allow_console_errors = True  # a 404 is looked at
    make_study(problems=3, systems=("a",), references=0)
    Snippet.objects.update(code=WIDE_CODE)
    options: dict[str, Any] = {"color_scheme": scheme} | ({"viewport": PHONE} if device == "phone" else {})
    page = open_page(**options)

    def check(name: str) -> None:
        narrow(page)
        assert_accessible(page)
        shoot(page, f"{name}-{scheme}-{device}")

    for path, name in (
        ("/", "home"),
        ("/nowhere/", "404"),
        ("/join/none/", "error"),
        ("/join/study/", "join"),
    ):
        page.goto(path)
        check(name)
    for button, name in (("Start", "consent"), ("I agree, start", "instructions"), ("Start grading", "task")):
        page.get_by_role("button", name=button).click()
        page.wait_for_load_state()
        check(name)
    page.keyboard.press("Enter")
    check("task-error")
    page.keyboard.press("3")
    check("task-chosen")
    page.keyboard.press("?")
    check("keys")
    page.keyboard.press("Escape")
    link = page.url
    for step in ("pause", "instructions"):
        page.goto(link + step + "/")
        check(step)
    Assignment.objects.update(state=Assignment.State.RELEASED)
    page.goto(link)
    expect(page.get_by_role("heading", name="Welcome back")).to_be_visible()
    check("continue")
    page.get_by_role("button", name=re.compile("grading")).click()
    page.goto(link + "pause/")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    check("thanks")


def test_single_keys_can_be_turned_off(page: Page) -> None:
    make_study()
    start(page)
    page.keyboard.press("?")
    page.get_by_label("Use these keys").uncheck()
    assert_accessible(page)
    page.get_by_role("button", name="Close").click()
    for key in ("3", "s", "?"):
        page.keyboard.press(key)
    assert page.get_by_role("radio", checked=True).count() == 0
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    page.keyboard.press("3")
    assert page.get_by_role("radio", checked=True).count() == 0
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_label("Use these keys").check()
    page.keyboard.press("Escape")
    grade_by_keys(page, 3)


def add_image(media: Path) -> str:
    """A picture like that of a card among the study's files; returns its name."""
    content = io.BytesIO()
    Image.new("RGB", (300, 420), "gray").save(content, "PNG")
    name = f"{hashlib.sha256(content.getvalue()).hexdigest()}.png"
    (media / "images").mkdir(parents=True)
    (media / "images" / name).write_bytes(content.getvalue())
    return name


@pytest.mark.parametrize("viewport", [PHONE, DESK, WIDE], ids=["phone", "desk", "wide"])
@pytest.mark.parametrize("picture", [False, True], ids=["text", "picture"])
def test_problem_code_and_buttons_have_room(
    open_page: OpenPage, settings: Any, tmp_path: Path, viewport: dict[str, int], picture: bool
) -> None:
    """Nothing collapses; on a desk all of it is in the window, however long the problem and the code."""
    settings.MEDIA_ROOT = tmp_path
    make_study(problems=1, systems=("a",), references=0)
    Snippet.objects.update(code=WIDE_CODE)
    Problem.objects.update(intent="Add all the numbers of a file. " * 60)
    if picture:
        Problem.objects.update(intent="", image=add_image(tmp_path), image_alt="A card")
    page = open_page(viewport=viewport)
    start(page)
    page.wait_for_load_state("networkidle")
    narrow(page)
    for name in ("#problem", ".snippet pre.code", "#grade") + (("#problem img",) if picture else ()):
        box = page.locator(name).bounding_box()
        assert box is not None
        assert box["width"] > 220, name
        assert box["height"] > 100, name
    if picture:
        assert page.get_by_role("img", name="A card").evaluate("image => image.naturalWidth") == 300
    if viewport != PHONE and not picture:
        box = page.get_by_role("button", name="Save and next").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= viewport["height"]
