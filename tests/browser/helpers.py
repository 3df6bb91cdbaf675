"""Sizes of windows, the accessibility check and screenshots for browser tests."""

from __future__ import annotations

import os
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

from tests.environment import ROOT

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
WIDE: ViewportSize = {"width": 1920, "height": 1080}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def assert_accessible(page: Page) -> None:
    """No violation of WCAG 2.2 A and AA that axe can find on the page as it is now."""
    options: dict[str, Any] = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
    results = Axe().run(page, options=options)
    found = [
        f"{violation['id']}: {violation['help']}\n"
        + "\n".join(f"    {node['html'][:200]}" for node in violation["nodes"][:5])
        for violation in results.response["violations"]
    ]
    assert not found, f"{page.url}\n" + "\n".join(found)


def shoot(page: Page, name: str, *, full: bool = True) -> None:
    """A picture var/screenshots/NAME.png, when CODEJURY_SCREENSHOTS is set."""
    if os.environ.get("CODEJURY_SCREENSHOTS"):
        folder = ROOT / "var" / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=full)
