"""The annotator's pages in a real browser: by keyboard, without JavaScript, without a connection, for everybody."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies.actions import close_study, open_study
from annotator.studies.models import Problem, Snippet
from tests.browser.conftest import OpenPage, Watch
from tests.browser.helpers import DESK, PHONE, WIDE, assert_accessible, assert_fits, inspect
from tests.browser.walk import grade_by_keys, saved, start
from tests.factories import make_study

WIDE_CODE = "\n".join(f"value_{number} = compute({'argument, ' * 20})" for number in range(40))


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
    expect(page.get_by_text("You did one task.")).to_be_visible()
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
    assert_fits(page)
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


def test_each_page_is_accessible_and_fits(open_page: OpenPage, watch: Watch) -> None:
    watch.allow_console_errors = True  # a 404 is looked at
    study = make_study(problems=3, systems=("a",), references=0)
    Snippet.objects.update(code=WIDE_CODE)
    page = open_page(reduced_motion="reduce")
    for path, name in (
        ("/", "home"),
        ("/nowhere/", "404"),
        ("/join/none/", "error"),
        ("/a/not-a-token/", "error-link"),
        ("/join/study/", "join"),
    ):
        page.goto(path)
        inspect(page, name)
    start(page)
    page.keyboard.press("Enter")
    inspect(page, "task-error")
    page.keyboard.press("3")
    inspect(page, "task-chosen")
    page.keyboard.press("?")
    inspect(page, "keys")
    page.keyboard.press("Escape")
    link = page.url
    for step in ("pause", "instructions"):
        page.goto(link + step + "/")
        inspect(page, step)
    page.goto("/join/study/")
    inspect(page, "join-again")
    Assignment.objects.update(state=Assignment.State.RELEASED)
    page.goto(link)
    expect(page.get_by_role("heading", name="Welcome back")).to_be_visible()
    inspect(page, "welcome")
    close_study(study)
    page.goto(link)
    expect(page.locator("main[data-step=closed]")).to_have_count(1)
    inspect(page, "closed")
    open_study(study)
    page.goto(link + "pause/")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    inspect(page, "thanks")


FOCUSED = """() => {
    const part = document.activeElement;
    const shown = part.closest(".option") || part;
    const style = getComputedStyle(shown);
    return [part.id || part.value || part.matches("pre") && "code" || part.textContent.trim().split("\\n")[0],
        style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
}"""


def test_the_tab_key_goes_through_the_page_in_order_and_is_seen(page: Page) -> None:
    make_study()
    start(page)
    page.reload()
    order, unseen = [], []
    for _ in range(13):
        page.keyboard.press("Tab")
        name, seen = page.evaluate(FOCUSED)
        order.append(name)
        if not seen:
            unseen.append(name)
    assert not unseen
    assert order == [
        *["To the content", "Pause or stop", "problem", "wrap", "smaller", "larger"],
        *["code", "0", "grade", "skip", "keys", "Read the instructions again"],
        "Is something broken here?",
    ]
