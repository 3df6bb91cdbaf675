"""From a protocol's TOML file to a checked Protocol; every fault is told with its line."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotator.errors import BadInput
from annotator.studies.protocol_rules import contradictions
from annotator.studies.protocols import (
    CHECK_KINDS,
    FOLDER,
    POLICIES,
    SHOWS,
    Ask,
    Checks,
    Example,
    Option,
    Protocol,
    Question,
    protocol_names,
)
from annotator.studies.tabular import unfit
from annotator.studies.toml_lines import Path as KeyPath
from annotator.studies.toml_lines import key_lines, left_open

MAX_FILE = 200_000
LONGEST = {"name": 60, "title": 200, "label": 200}
"""Characters that the columns hold which keep these texts."""
CODES = ("complete", "partial", "failed")
NUMBER = (int, float)
MISSING: Any = object()


class Table:
    """A table of the file that is read key by key; what is wrong is gathered, with its line."""

    def __init__(self, data: Any, path: KeyPath, wrong: list[tuple[KeyPath, str]]) -> None:
        self.path, self.wrong = path, wrong
        self.data: dict[str, Any] = data if isinstance(data, dict) else {}
        self.taken: list[str] = []
        if not isinstance(data, dict):
            self.fault("", "must be a table.")

    def fault(self, key: str, sentence: str) -> None:
        self.wrong.append(((*self.path, key) if key else self.path, sentence))

    def take(self, key: str, kinds: type | tuple[type, ...], default: Any = MISSING) -> Any:
        """The value of a key, of one of the types; the default where it is missing or wrong."""
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        self.taken.append(key)
        fallback = kinds[0]() if default is MISSING else default
        value = self.data.get(key)
        if value is None:
            if default is MISSING:
                self.fault(key, f"`{key}` is missing.")
            return fallback
        if type(value) not in kinds:
            self.fault(key, f"`{key}` must be {_words(kinds)}.")
            return fallback
        if type(value) is str and unfit(value, LONGEST.get(key, MAX_FILE)):
            self.fault(key, f"`{key}` {unfit(value, LONGEST.get(key, MAX_FILE))}")
        return value

    def number(self, key: str, default: Any, low: float, high: float, *, whole: bool = False) -> Any:
        value = self.take(key, int if whole else NUMBER, default)
        if self.data.get(key) is not None and value is not None and not low <= value <= high:
            self.fault(key, f"`{key}` must be from {low:g} to {high:g}.")
            return default
        return value

    def choice(self, key: str, known: tuple[str, ...], default: Any = MISSING) -> str:
        value: str = self.take(key, str, default)
        if value not in known and (key in self.data or default is not MISSING):
            self.fault(key, f"`{key}` must be one of {', '.join(known)}.")
        return value

    def texts(self, key: str, default: Any = MISSING) -> tuple[str, ...]:
        value = self.take(key, list, default)
        if not all(isinstance(each, str) and each.strip() and not unfit(each) for each in value):
            self.fault(key, f"`{key}` must be a list of texts.")
            return ()
        return tuple(value)

    def tables(self, key: str, default: Any = MISSING) -> list[Table]:
        value = self.take(key, list, default)
        return [Table(each, (*self.path, key, place), self.wrong) for place, each in enumerate(value)]

    def table(self, key: str) -> Table | None:
        value = self.take(key, dict, None)
        return None if value is None else Table(value, (*self.path, key), self.wrong)

    def done(self) -> None:
        """Complains about the keys that nobody took."""
        for key in self.data:
            if key not in self.taken:
                self.fault(key, f"`{key}` is not known here. Known: {', '.join(sorted(self.taken))}.")


def _words(kinds: tuple[type, ...]) -> str:
    if float in kinds:
        return "a number"
    names = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}
    return names[kinds[0]]


def read_protocol(data: dict[str, Any], source: str = "", name: str = "") -> Protocol:
    """A checked Protocol from the table of its TOML file; with its text (`source`), faults name their lines.

    Raises BadInput whose `lines` name every fault.
    """
    if not source:
        return _cached(json.dumps(data, sort_keys=True))
    return _read(data, source, name)


@lru_cache(maxsize=256)
def _cached(data: str) -> Protocol:
    return _read(json.loads(data), "", "")


def _read(data: dict[str, Any], source: str, name: str) -> Protocol:
    wrong: list[tuple[KeyPath, str]] = []
    protocol = _protocol(Table(data, (), wrong))
    if not wrong:
        wrong += contradictions(protocol)
    if wrong:
        raise BadInput(
            f"The protocol {name or data.get('name', '')!r} cannot be used.",
            _located(wrong, key_lines(source), name),
        )
    return protocol


def _located(wrong: list[tuple[KeyPath, str]], lines: dict[KeyPath, int], name: str) -> list[str]:
    """`file:line: sentence` in the order of the file; a key that is missing gets the line of its table."""
    if not lines:
        return [f"{_place(path)}{sentence}" for path, sentence in wrong]
    numbered = []
    for path, sentence in wrong:
        number = next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 1)
        numbered.append((number, sentence))
    return [f"{name or 'protocol'}:{number}: {sentence}" for number, sentence in sorted(numbered)]


def _place(path: KeyPath) -> str:
    words = [f"[{part + 1}]" if isinstance(part, int) else str(part) for part in path[:-1]]
    return " ".join(words).replace(" [", "[") + ": " if words else ""


def _protocol(table: Table) -> Protocol:
    texts = {
        "problem_heading": "The problem",
        "snippet_heading": "A snippet that may or may not solve it",
        "reference_heading": "The reference",
        "score_heading": "The score",
        "consent": "",
        "instructions": "",
        "thanks": "Thank you.",
    }
    example = table.table("example")
    codes = table.table("codes")
    checks = table.table("checks")
    protocol = Protocol(
        name=table.take("name", str),
        version=table.number("version", 1, 1, 1_000_000, whole=True),
        title=table.take("title", str),
        policy=table.choice("policy", POLICIES),
        language=table.take("language", str, "en"),
        target=table.number("target", None, 1, 10_000, whole=True),
        tasks_per_person=table.number("tasks_per_person", None, 1, 100_000, whole=True),
        blocks=table.number("blocks", None, 1, 100_000, whole=True),
        sample_snippets=table.number("sample_snippets", None, 1, 1_000_000, whole=True),
        lease_minutes=table.number("lease_minutes", 30, 1 / 60, 100_000),
        reservation_hours=table.number("reservation_hours", 72, 0.01, 10_000),
        minimum_seconds=table.number("minimum_seconds", 0, 0, 3600),
        deadline=_deadline(table),
        show=table.choice("show", SHOWS, "snippet"),
        truth=table.choice("truth", ("m-msr", "mean"), "m-msr"),
        intent_as_code=table.take("intent_as_code", bool, False),
        grade_references=table.take("grade_references", bool, False),
        skip=table.take("skip", bool, True),
        back=table.take("back", bool, False),
        copy=table.take("copy", bool, True),
        questions=tuple(map(_question, table.tables("questions"))),
        background=tuple(map(_ask, table.tables("background", []))),
        feedback=tuple(map(_ask, table.tables("feedback", []))),
        example=None if example is None else _example(example),
        practice=tuple(map(_example, table.tables("practice", []))),
        checks=Checks() if checks is None else _checks(checks),
        codes={} if codes is None else _codes(codes),
        **{key: table.take(key, str, default) for key, default in texts.items()},
    )
    table.done()
    return protocol


def _deadline(table: Table) -> datetime | None:
    """A moment; a date alone means its end, a time without a zone is UTC."""
    text = table.take("deadline", str, None)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= 10:
            moment += timedelta(days=1)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        table.fault("deadline", "`deadline` must be like 2026-12-31 or 2026-12-31T18:00:00Z.")
        return None


def _question(table: Table) -> Question:
    kind = table.choice("kind", ("options", "slider", "text"), "options")
    options = tuple(map(_option, table.tables("options"))) if kind == "options" else ()
    if kind == "options" and len({option.value for option in options}) < max(len(options), 2):
        table.fault("options", "needs at least two options, each with a `value` of its own.")
    low, high, step = 0.0, 100.0, 1.0
    labels = ("", "")
    if kind == "slider":
        low, high = table.number("low", 0, -1e6, 1e6), table.number("high", 100, -1e6, 1e6)
        step = table.number("step", 1, 1e-6, 1e6)
        labels = (table.take("low_label", str, ""), table.take("high_label", str, ""))
        if low >= high:
            table.fault("high", "`high` must be above `low`.")
    question = Question(
        key=_key(table),
        text=_filled(table, "text"),
        kind=kind,
        options=options,
        low=low,
        high=high,
        step=step,
        low_label=labels[0],
        high_label=labels[1],
        with_previous=table.take("with_previous", bool, False),
        reveal=table.take("reveal", bool, False),
    )
    table.done()
    return question


def _option(table: Table) -> Option:
    option = Option(
        table.number("value", MISSING, -1_000_000, 1_000_000, whole=True),
        _filled(table, "label"),
        table.take("description", str, ""),
    )
    table.done()
    return option


def _key(table: Table) -> str:
    key: str = table.take("key", str)
    if key and not (key.replace("_", "").replace("-", "").isalnum() and key.isascii() and len(key) <= 60):
        table.fault("key", "`key` must be up to 60 of a-z, 0-9, - and _.")
    return key


def _filled(table: Table, key: str) -> str:
    text: str = table.take(key, str)
    if key in table.data and not text.strip():
        table.fault(key, f"`{key}` is empty.")
    return text


def _ask(table: Table) -> Ask:
    kind = table.choice("kind", ("text", "number", "choice"), "text")
    choices = table.texts("choices") if kind == "choice" else ()
    if kind == "choice" and len(set(choices)) < max(len(choices), 2):
        table.fault("choices", "`choices` must be at least two different texts.")
    bounds = {}
    if kind == "number":
        bounds = {key: table.number(key, None, -1e9, 1e9) for key in ("low", "high")}
    ask = Ask(
        key=_key(table),
        text=_filled(table, "text"),
        kind=kind,
        choices=choices,
        required=table.take("required", bool, False),
        **bounds,
    )
    table.done()
    return ask


def _example(table: Table) -> Example:
    expected = table.table("expected")
    values: dict[str, tuple[float, ...]] = {}
    for key in expected.data if expected else ():
        given = expected.data[key] if expected else []
        listed = given if isinstance(given, list) else [given]
        if not listed or any(type(each) not in NUMBER for each in listed):
            table.fault("expected", f"`expected.{key}` must be a number or a list of numbers.")
            listed = []
        values[key] = tuple(listed)
    example = Example(
        intent=_filled(table, "intent"),
        code=_filled(table, "code"),
        **{key: table.take(key, str, "") for key in ("reference", "tests", "score", "why")},
        language=table.take("language", str, "python"),
        expected=values or None,
    )
    table.done()
    return example


def _checks(table: Table) -> Checks:
    kinds = table.texts("kinds")
    unknown = [kind for kind in kinds if kind not in CHECK_KINDS]
    if unknown:
        table.fault("kinds", f"`kinds` knows {', '.join(CHECK_KINDS)}, not {', '.join(unknown)}.")
    checks = Checks(
        kinds=kinds,
        every=table.number("every", 10, 1, 10_000, whole=True),
        loud=table.take("loud", bool, False),
        fail_at=table.number("fail_at", None, 1, 10_000, whole=True),
        tolerance=table.number("tolerance", 1, 0, 1e6),
    )
    table.done()
    return checks


def _codes(table: Table) -> dict[str, str]:
    codes = {key: table.take(key, str, "") for key in CODES}
    table.done()
    return {key: code for key, code in codes.items() if code}


def parse_protocol(text: str, name: str) -> dict[str, Any]:
    """The checked table of a protocol's TOML text, ready for Study.protocol. Raises BadInput with the lines."""
    if len(text) > MAX_FILE:
        raise BadInput(f"{name} is longer than {MAX_FILE:,} characters: that is no protocol.")
    try:
        data: dict[str, Any] = _plain(tomllib.loads(text))
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        raise BadInput(f"{name}: {error}") from error
    _read(data, text, name)
    return data


def _plain(value: Any) -> Any:
    """Dates as texts, so that the table can be kept as JSON."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def protocol_text(name: str) -> tuple[str, str]:
    """(file name, text) of a shipped protocol or of a .toml file of one's own. Raises BadInput."""
    if name in protocol_names():
        path = FOLDER / f"{name}.toml"
    elif name.endswith(".toml"):
        path = Path(name)
    else:
        known = ", ".join(protocol_names())
        raise BadInput(f"There is no protocol {name!r}. Known: {known}; or give the path of a .toml file.")
    try:
        return path.name, path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise BadInput(f"Cannot read {name!r}: {reason}.") from error


def load_protocol(name: str) -> dict[str, Any]:
    """The checked table of a shipped protocol or of a .toml file. Raises BadInput."""
    file_name, text = protocol_text(name)
    return parse_protocol(text, file_name)


def set_key(text: str, key: str, value: str | int | float) -> str:
    """The TOML text with a top-level key set to the value."""
    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    found = key_lines(text).get((key,))
    lines = text.rstrip("\n").split("\n")  # splitlines would also cut at characters that a text may hold
    if found is not None:
        quote = left_open(lines[found - 1].partition("=")[2].strip())
        while quote and quote not in lines.pop(found):
            pass
        comment = re.search(r"\s+#[^\"']*$", lines[found - 1])
        lines[found - 1] = line + (comment.group() if comment else "")
    else:
        place = key_lines(text).get(("version",), 0)
        lines.insert(place, line)
    return "\n".join(lines) + "\n"
