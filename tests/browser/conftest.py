"""A real Chromium against a live server.

`page` is a fresh window; `open_page(color_scheme="dark", viewport=PHONE)` gives more, with the options of
Playwright's `new_context`. A request to anywhere but the live server, an error in the console and an uncaught
script error fail the test. Set CODEJURY_SCREENSHOTS=1 to keep what `helpers.shoot` takes in var/screenshots.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from scripts.services import CHROMIUM_FLAGS, find_chromium
from tests.browser.helpers import DESK
from tests.environment import NEEDS

LOCAL_SCHEMES = ("data", "blob", "about")


class OpenPage(Protocol):
    def __call__(self, **options: Any) -> Page: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests always have both databases, and commit."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.django_db(transaction=True, databases=["default", "reader"]))


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Chromium's path, or a skip that is a failure where services are required."""
    path = find_chromium()
    if path is None:
        pytest.skip(f"{NEEDS}Chromium: apt-get install chromium, or set CHROMIUM to its path")
    return path


@pytest.fixture(scope="session")
def browser(chromium: Path) -> Iterator[Browser]:
    # Playwright's synchronous API keeps an event loop in this thread; the ORM would refuse to work beside it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS, timeout=60_000)
        yield started
        started.close()


class Watch:
    """Collects what no page may do; `allow_console_errors` where a test provokes one (offline, a 404)."""

    def __init__(self, server: str) -> None:
        self.server, self.wrong = urlsplit(server).netloc, list[str]()
        self.allow_console_errors = False

    def page(self, page: Page) -> None:
        page.on("request", self.request)
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.wrong.append(f"script error: {error}"))

    def request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in LOCAL_SCHEMES and parts.netloc != self.server:
            self.wrong.append(f"request to {request.url}")

    def console(self, message: ConsoleMessage) -> None:
        url = str(message.location.get("url", ""))
        # Chromium asks for this by itself where a page names no icon, as plain text cannot.
        if message.type == "error" and not self.allow_console_errors and not url.endswith("/favicon.ico"):
            self.wrong.append(f"console: {message.text} at {url}")


@pytest.fixture
def watch(live_server: Any) -> Watch:
    return Watch(live_server.url)


@pytest.fixture
def new_context(browser: Browser, live_server: Any, watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browser contexts (separate people: own cookies, own storage), closed after the test."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        options = {"viewport": DESK, "base_url": live_server.url, "locale": "en-GB"} | options
        context = browser.new_context(**options)
        context.set_default_timeout(15_000)
        context.on("page", watch.page)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        with suppress(Exception):  # the test may have closed it
            context.close()
    assert not watch.wrong, "\n".join(watch.wrong)


@pytest.fixture
def open_page(new_context: Callable[..., BrowserContext]) -> OpenPage:
    """`open_page(color_scheme="dark", viewport=PHONE)`: a page of a context of its own."""

    def make(**options: Any) -> Page:
        return new_context(**options).new_page()

    return make


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()
