"""Sizes of windows, what every page must be, and screenshots for browser tests."""

from __future__ import annotations

import os
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

from tests.environment import ROOT

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
WIDE: ViewportSize = {"width": 1920, "height": 1080}
SMALLEST: ViewportSize = {"width": 320, "height": 640}
WIDEST: ViewportSize = {"width": 2560, "height": 1300}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LEFT_OUT = {"region": {"enabled": False}}
"""Of the best practices: the link that jumps to the content and the status line stand outside of landmarks."""


def assert_accessible(page: Page) -> None:
    """No violation of WCAG 2.2 A and AA, nor of best practice, that axe can find on the page as it is now."""
    options: dict[str, Any] = {
        "runOnly": {"type": "tag", "values": WCAG},
        "rules": LEFT_OUT,
        "resultTypes": ["violations"],
    }
    results = Axe().run(page, options=options)
    found = [
        f"{violation['id']}: {violation['help']}\n"
        + "\n".join(f"    {node['html'][:200]}" for node in violation["nodes"][:5])
        for violation in results.response["violations"]
    ]
    assert not found, f"{page.url}\n" + "\n".join(found)


def assert_fits(page: Page) -> None:
    """The page itself never scrolls sideways: what is wide scrolls in a box of its own."""
    extra = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert extra <= 0, f"{page.url} is {extra} too wide at {page.viewport_size}"


def inspect(page: Page, name: str) -> None:
    """The page is accessible, light on a desk and dark on a phone, and fits from 320 to 2560."""
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size(size)
        assert_fits(page)
        assert_accessible(page)
        shoot(page, f"{name}-{size['width']}-{scheme}")
    page.emulate_media(color_scheme="light")
    for size in (SMALLEST, WIDEST):
        page.set_viewport_size(size)
        assert_fits(page)
        shoot(page, f"{name}-{size['width']}-light")
    page.set_viewport_size(DESK)


def shoot(page: Page, name: str, *, full: bool = True) -> None:
    """A picture var/screenshots/NAME.png, when CODEJURY_SCREENSHOTS is set."""
    if os.environ.get("CODEJURY_SCREENSHOTS"):
        folder = ROOT / "var" / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=full)
