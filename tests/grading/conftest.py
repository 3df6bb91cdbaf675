"""What the tests of grading share: people who walk the pages, with or without a clock of their own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from tests.grading.blinding import (
    IMAGE,
    PNG,
    SECRET_KEY_OF_PROBLEM,
    Clock,
    Walk,
)
from tests.grading.walker import Walker


@pytest.fixture
def walker(client: Client) -> Walker:
    return Walker(client)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Tokens in their order, keys of join forms in theirs, and a clock of the test's own."""
    clock = Clock()
    now = SimpleNamespace(time=lambda: clock.now.timestamp())
    monkeypatch.setattr("django.utils.timezone.now", lambda: clock.now)
    monkeypatch.setattr("django.utils.cache.time", now)
    monkeypatch.setattr("django.http.response.time", now)
    return clock


@pytest.fixture
def walk(clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> Walk:
    """Walks through studies whose rows may have images."""
    settings.MEDIA_ROOT = tmp_path / "media"
    for number in range(12):
        (tmp_path / f"{IMAGE}-{SECRET_KEY_OF_PROBLEM}{number}.png").write_bytes(PNG + bytes([number]) * 40)
    return Walk(clock, monkeypatch, tmp_path)
