"""What the documents name exists: links, files, make targets, commands with their options, settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from tests.environment import ROOT, SETTINGS

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MADE = ("var/", ".venv", ".cache", "../", "/")
"""Places that exist only after something ran, or outside the project."""
MAKEFILE = (ROOT / "Makefile").read_text()

documents = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


def slug_of(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(document: Path) -> list[str]:
    text = document.read_text()
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = document.parent / name if name else document
        anchors = re.findall(r"^#+ (.+)$", path.read_text(), re.M) if anchor and path.exists() else []
        if not path.exists() or (anchor and anchor not in map(slug_of, anchors)):
            broken.append(target)
    return broken


def code_of(text: str) -> Iterator[str]:
    """Every line of the code blocks, and every piece of code inside the text."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        yield from block.splitlines()
    yield from re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def missing_files(text: str) -> list[str]:
    """Code that looks like a path of the project (its first folder or file is one) and is none."""
    missing = []
    for code in code_of(text):
        for word in re.findall(r"[\w.\-/]*/[\w.\-/]*", code):
            first = word.split("/")[0]
            is_ours = first and not word.startswith(MADE) and (ROOT / first).is_dir()
            if is_ours and not re.search(r"[A-Z]{3,}", word) and not (ROOT / word.rstrip("/.")).exists():
                missing.append(word)
    return missing


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))


def parser_options(name: str, app: str | BaseCommand) -> set[str]:
    command = app if isinstance(app, BaseCommand) else load_command_class(app, name)
    parser = command.create_parser("manage.py", name)
    return {option for action in parser._actions for option in action.option_strings}


def wrong_commands(text: str) -> list[str]:
    """`manage.py NAME --option` that is not there."""
    known, wrong = get_commands(), []
    for code in code_of(text):
        for name, rest in re.findall(r"manage\.py ([a-z_]+)([^&|;]*)", code):
            if name not in known:
                wrong.append(name)
                continue
            used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest))
            wrong += [f"{name} {option}" for option in used - parser_options(name, known[name])]
    return wrong


@documents
def test_links_lead_somewhere(document: Path) -> None:
    assert broken_links(document) == []


@documents
def test_files_that_are_named_exist(document: Path) -> None:
    assert missing_files(document.read_text()) == []


@documents
def test_make_targets_that_are_named_exist(document: Path) -> None:
    named = {
        word
        for code in code_of(document.read_text())
        for word in re.findall(r"(?:^|[;&] ?)make ([a-z-]+)", code)
    }
    assert named <= make_targets()


@documents
def test_commands_that_are_named_exist_with_their_options(document: Path) -> None:
    assert wrong_commands(document.read_text()) == []


@documents
def test_modules_that_are_named_can_be_run(document: Path) -> None:
    for code in code_of(document.read_text()):
        for module in re.findall(r"python -m ([\w.]+)", code):
            assert find_spec(module), module


def test_make_shows_every_target_with_a_comment() -> None:
    documented = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.M))
    assert documented >= {"setup", "run", "test", "bench", "proof"}
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.M)
    assert phony
    assert set(phony[1].split()) == make_targets()


def test_every_setting_is_documented_and_cleared_for_tests() -> None:
    source = (ROOT / "annotator" / "settings.py").read_text()
    read = set(re.findall(r"(?:env_\w+|environ\.get)\(\s*\"([A-Z_]+)\"", source))
    assert {"DATABASE_URL", "SECRET_KEY", "PORT"} <= read
    table = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs" / "deployment.md").read_text(), re.M))
    assert table == read
    assert set(SETTINGS) == read


def test_planted_mistakes_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One Title\n[a](no.md) [b](#one-title) [c](#two) [d](https://example.org/x)\n")
    assert broken_links(page) == ["no.md", "#two"]
    text = (
        "`manage.py migrate --noinput`, `manage.py nonsense`,\n```sh\npython manage.py migrate --what\n```\n"
    )
    assert sorted(wrong_commands(text)) == ["migrate --what", "nonsense"]
    assert missing_files("`tests/conftest.py`, `tests/nothing.py`, `docs/NAME.md`, `a/b`, `var/x`") == [
        "tests/nothing.py"
    ]
