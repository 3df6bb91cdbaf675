"""Settings come from the environment and refuse what is wrong with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotator import settings

WRONG: list[tuple[str, str, Callable[[], Any], str]] = [
    ("DEBUG", "maybe", lambda: settings.env_bool("DEBUG", False), "true or false"),
    ("PORT", "http", lambda: settings.env_int("PORT", 8000, 1, 65535), "whole number from 1 to 65535"),
    ("PORT", "0", lambda: settings.env_int("PORT", 8000, 1, 65535), "whole number from 1 to 65535"),
    ("PORT", "-1", lambda: settings.env_int("PORT", 8000, 1, 65535), "whole number from 1 to 65535"),
    ("DATABASE_URL", "mysql://u@h/d", settings.read_database, "sqlite:// or postgres://"),
    ("DATABASE_URL", "not an address", settings.read_database, "DATABASE_URL"),
    ("BROKER_URL", "filesystem://relative", settings.read_broker, "absolute"),
    ("BROKER_URL", "kafka://h", settings.read_broker, "filesystem://, redis:// or amqp://"),
    ("PORT", "9" * 5000, lambda: settings.env_int("PORT", 8000, 1, 65535), "whole number from 1 to 65535"),
    ("LOG_LEVEL", "loud", settings.env_log_level, "LOG_LEVEL must be one of DEBUG"),
    ("VAR_DIR", "~no-such-user/x", lambda: settings.env_folder("VAR_DIR", Path("x")), "home of a user"),
    ("DATABASE_URL", "sqlite:////dev/null/x/y", settings.read_database, "Cannot make the folder /dev/null/x"),
    ("BROKER_URL", "filesystem:///dev/null/x", settings.read_broker, "Cannot make the folder"),
    ("BROKER_URL", "redis://[::1", settings.read_broker, "BROKER_URL is not an address"),
    ("SECRET_KEY", "short", settings.read_secret_key, "at least 32 characters"),
]


@pytest.mark.parametrize(("name", "value", "read", "sentence"), WRONG)
def test_wrong_values_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, read: Callable[[], Any], sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=sentence):
        read()


def test_the_secret_key_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setattr(settings, "VAR_DIR", tmp_path / "new")
    monkeypatch.setattr(settings, "USES_SQLITE", True)
    first = settings.read_secret_key()
    assert len(first) >= 50
    assert settings.read_secret_key() == first
    assert (tmp_path / "new" / "secret-key").stat().st_mode & 0o077 == 0


def test_a_shared_database_needs_a_secret_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setattr(settings, "USES_SQLITE", False)
    with pytest.raises(ImproperlyConfigured, match="Set SECRET_KEY"):
        settings.read_secret_key()


def test_sqlite_writes_to_disk_before_it_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/deep/er/x.sqlite3")
    config = settings.read_database()
    assert "synchronous=FULL" in config["OPTIONS"]["init_command"]
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert settings.reader_of(config)["OPTIONS"]["transaction_mode"] == "DEFERRED"
