"""What a person answered is never lost: without a connection, in two tabs, over reloads; and told as it is."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, Request, Route, expect

from annotator.grading import actions
from annotator.grading.models import Annotator, Answer, Assignment, Grade
from tests.browser.conftest import OpenPage, Watch
from tests.browser.helpers import assert_accessible, inspect
from tests.browser.studies import everything
from tests.browser.walk import grade_by_keys, saved, start, step_of
from tests.factories import make_annotator, make_study

KEPT = "No connection. Your answer is kept here and is sent as soon as there is one."
LEAVING = """() => {
    const leaving = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(leaving);
    return leaving.defaultPrevented;
}"""


def grades() -> list[float]:
    return list(Grade.objects.order_by("pk").values_list("value", flat=True))


def test_an_answer_given_offline_is_kept_said_to_be_kept_and_stored_once(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    start(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text(KEPT)
    expect(page.get_by_text(KEPT)).to_be_in_viewport()
    assert_accessible(page)
    expect(page.get_by_role("button", name="Save and next")).to_be_disabled()
    page.keyboard.press("4")  # what is on its way does not change any more
    assert not grades()
    page.context.set_offline(False)
    saved(page)
    expect(page.get_by_text(KEPT)).to_have_count(0)
    grade_by_keys(page, 3)
    assert grades() == [2, 3]


def test_nothing_of_the_next_item_is_asked_for_before_the_answer_is_stored(page: Page) -> None:
    make_study()
    start(page)
    page.wait_for_load_state("networkidle")
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))
    page.keyboard.press("2")
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/*", hold_the_first)
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text("Saving")
    page.wait_for_timeout(300)
    assert [request.method for request in sent] == ["POST"]
    held[0].continue_()
    saved(page)
    assert [request.method for request in sent] == ["POST", "GET"]  # the redirect to what comes next


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
    assert grades() == [3]
    assert Assignment.objects.count() == 2


def test_a_server_that_is_down_for_a_moment_costs_nothing(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    start(page)
    failed: list[Route] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.continue_()
        else:
            failed.append(route)
            route.fulfill(status=502, body="<h1>Bad gateway</h1>")

    page.route("**/a/**", fail_once)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    saved(page)
    assert failed
    assert grades() == [1]


def test_an_answer_that_did_not_leave_is_sent_by_the_next_visit(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    link = start(page)
    assert page.evaluate(LEAVING) is False
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text(KEPT)
    assert page.evaluate(LEAVING) is True  # only now the browser asks before it leaves
    page.on("dialog", lambda dialog: dialog.accept())
    again = page.context.new_page()
    page.goto("about:blank")  # its script ends while it is offline still: it cannot send at the last moment
    page.close()
    page.context.set_offline(False)
    again.goto(link)
    saved(again)
    assert again.evaluate(LEAVING) is False
    assert grades() == [1]
    again.reload()
    expect(again.locator("#saved")).to_have_text("")
    assert grades() == [1]


def test_a_lost_cookie_loses_no_answer(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True
    make_study()
    start(page)
    page.context.clear_cookies()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    saved(page)
    assert grades() == [3]


def test_what_was_chosen_and_written_is_there_after_a_reload(page: Page, tmp_path: Path) -> None:
    everything(tmp_path)
    start(page)
    page.keyboard.press("3")
    page.get_by_role("slider").fill("70")
    page.locator("main textarea").fill("the names help")
    assert page.evaluate(LEAVING) is False
    page.reload()
    assert page.locator(".scale").first.get_by_role("radio", checked=True).get_attribute("value") == "3"
    expect(page.get_by_role("slider")).to_have_value("70")
    expect(page.locator("main textarea")).to_have_value("the names help")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    saved(page)
    assert grades() == [3, 0, 70]
    assert Answer.objects.get(step="comment").text == "the names help"
    expect(page.locator("main textarea")).to_have_value("")  # the next item starts fresh


def test_two_tabs_with_two_answers_keep_the_first_and_show_both(page: Page, watch: Watch) -> None:
    watch.allow_console_errors = True  # the 409
    make_study()
    link = start(page)
    other = page.context.new_page()
    other.goto(link)
    page.keyboard.press("2")
    other.keyboard.press("4")
    page.keyboard.press("Enter")
    saved(page)
    other.keyboard.press("Enter")
    expect(other.locator("main[data-step=conflict]")).to_have_count(1)
    expect(other.get_by_role("heading")).to_contain_text("Somewhat")
    expect(other.get_by_role("heading")).to_contain_text("Very helpful")
    inspect(other, "conflict")
    other.get_by_role("link", name="Go on").click()
    expect(other.get_by_role("radio").first).to_be_attached()
    assert grades() == [2]


def test_who_waits_gets_what_comes_back_without_a_flash(page: Page, open_page: OpenPage) -> None:
    study = make_study(problems=1, systems=("a",), references=0, target=1)
    other = make_annotator(study)
    assert actions.hand_out(other) is not None
    page.clock.install()
    page.emulate_media(reduced_motion="reduce")
    page.goto("/join/study/")
    page.locator("main form button").click()
    for action in ("consent", "start"):
        page.locator(f"button[value={action}]").click()
    expect(page.locator("main[data-step=wait]")).to_have_count(1)
    expect(page.get_by_role("heading", name="One moment")).to_be_visible()
    inspect(page, "wait")
    page.get_by_role("button", name="Look again").focus()
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.clock.fast_forward(15_000)
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("button", name="Look again")).to_be_focused()  # nothing moved
    actions.stop(Annotator.objects.get(pk=other.pk))
    for _ in range(50):
        page.clock.fast_forward(15_000)
        page.wait_for_timeout(100)
        if step_of(page) == "tasks":
            break
    expect(page.get_by_role("radio").first).to_be_attached()
