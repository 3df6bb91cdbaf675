"""Through a whole survey, whatever its protocol: each page is looked at, answered and left."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Look = Callable[[str], None]


def step_of(page: Page) -> str:
    return page.locator("main").get_attribute("data-step") or ""


def leave(page: Page, action: str) -> None:
    """Press the button of the action and wait for the page that comes of it."""
    page.locator("main > :first-child").evaluate("part => part.dataset.left = '1'")
    page.locator(f"main button[value={action}]").click()
    expect(page.locator("[data-left]")).to_have_count(0)


def answer_asks(page: Page) -> None:
    """Something in each field about the person or the study."""
    for field in page.locator("main fieldset").all():
        field.get_by_role("radio").first.check()
    for number in page.locator("main input[type=number]").all():
        number.fill("7")
    for text in page.locator("main textarea").all():
        text.fill("quite so")


def answer_questions(page: Page, choice: int = 1) -> None:
    """The same choice in each scale of the page, the middle of each slider, a comment."""
    for scale in page.locator("main .scale").all():
        scale.get_by_role("radio").nth(choice).check()
    for slider in page.locator("main .slider input[type=number]").all():
        slider.fill("50")
    for comment in page.locator("main textarea").all():
        comment.fill("because")


def go_on(page: Page, step: str) -> None:
    """From a page of this step to the next page."""
    if step in ("background", "feedback"):
        answer_asks(page)
        leave(page, "answer")
    elif step == "practice" and page.locator("button[value=practice]").count():
        answer_questions(page)
        leave(page, "practice")
    elif step == "tasks":
        answer_questions(page)
        leave(page, "grade")
    else:
        leave(page, {"consent": "consent", "instructions": "start"}.get(step, "next"))


def walk(page: Page, look: Look, *, slug: str = "study", most: int = 60) -> list[str]:
    """From the open link to the thanks; calls `look` with the step on each page. Returns the steps."""
    page.goto(f"/join/{slug}/")
    look("join")
    page.locator("main form button").click()
    steps = []
    for _ in range(most):
        expect(page.locator("main:not([data-step=join])")).to_have_count(1)
        steps.append(step_of(page))
        look(steps[-1])
        if steps[-1] in ("thanks", "wait", "closed"):
            return steps
        go_on(page, steps[-1])
    raise AssertionError(f"no end after {most} pages: {steps}")


def start(page: Page, slug: str = "study") -> str:
    """Through whatever comes before the tasks; returns the personal link at the first item."""
    page.goto(f"/join/{slug}/")
    page.locator("main form button").click()
    while True:
        expect(page.locator("main:not([data-step=join])")).to_have_count(1)
        step = step_of(page)
        if step == "tasks":
            return page.url
        go_on(page, step)


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("Saved")


def grade_by_keys(page: Page, value: int) -> None:
    """An answer by its key, and Enter; waits for the next page."""
    sequence = page.locator("input[name=sequence]").input_value()
    page.keyboard.press(str(value))
    page.keyboard.press("Enter")
    expect(page.locator("input[name=sequence]")).not_to_have_value(sequence)
    saved(page)
