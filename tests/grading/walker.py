"""A scripted annotator: walks the survey by its pages alone and keeps all that a browser would get."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client

CSRF = re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]+"')
HELD_BACK = ("", "hidden", "submit", "button")
"""Types of inputs that nobody fills in."""


@dataclass
class Field:
    """One named field of a form; `choices` are the values of radio buttons, a list, or the steps of a range."""

    kind: str
    value: str = ""
    choices: list[str] = field(default_factory=list)


@dataclass
class Form:
    action: str
    method: str
    name: str
    fields: dict[str, Field] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)
    """Values of the buttons named `action`."""

    def hidden(self) -> dict[str, str]:
        return {name: each.value for name, each in self.fields.items() if each.kind == "hidden"}


def steps_of(found: dict[str, str]) -> list[str]:
    """What can be set on a slider or in a field for a number."""
    low, high = float(found.get("min") or 0), float(found.get("max") or 100)
    step = float(found["step"]) if found.get("step", "any") != "any" else (high - low) / 4
    return [f"{low + place * step:g}" for place in range(int((high - low) / step) + 1)]


class Page(HTMLParser):
    """What a page says of itself: its step, its forms, its pictures and links."""

    def __init__(self, body: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.step = ""
        self.forms: list[Form] = []
        self.images: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self._in_form = False
        self._list = ""
        self._text = ""
        self.feed(body.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if found.get("id") == "content":
            self.step = found.get("data-step", "")
        if tag == "form":
            self._in_form = True
            self.forms.append(
                Form(found.get("action", ""), found.get("method", "get").lower(), found.get("id", ""))
            )
        elif tag == "img":
            self.images.append(found.get("src", ""))
        elif tag == "a":
            self.links.append(found.get("href", ""))
        elif self._in_form:
            self._in_a_form(tag, found)

    def _in_a_form(self, tag: str, found: dict[str, str]) -> None:
        form, name = self.forms[-1], found.get("name", "")
        if tag == "button" and name == "action":
            form.buttons.append(found.get("value", ""))
        elif tag == "option" and self._list:
            form.fields[self._list].choices.append(found.get("value", ""))
        elif not name or "disabled" in found:
            return
        elif tag == "input":
            self._input(form, name, found)
        elif tag == "textarea":
            form.fields[name] = Field("text")
            self._text = name
        elif tag == "select":
            form.fields[name] = Field("choice")
            self._list = name

    def _input(self, form: Form, name: str, found: dict[str, str]) -> None:
        kind, value = found.get("type", "text"), found.get("value", "")
        if kind == "radio":
            form.fields.setdefault(name, Field("choice")).choices.append(value)
            if "checked" in found:
                form.fields[name].value = value
        elif kind in ("range", "number"):
            form.fields[name] = Field("choice", value, steps_of(found))
        elif kind != "checkbox" and (kind not in HELD_BACK or kind == "hidden"):
            form.fields[name] = Field("hidden" if kind == "hidden" else "text", value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._in_form = False
        elif tag == "select":
            self._list = ""
        elif tag == "textarea":
            self._text = ""

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._text:
            self.forms[-1].fields[self._text].value += data

    @property
    def text(self) -> str:
        return "".join(self.words)

    def form(self, *buttons: str) -> Form:
        """The form that has one of the buttons."""
        return next(form for form in self.forms if set(buttons) & set(form.buttons))

    @property
    def grade_form(self) -> Form:
        return self.form("grade")


@dataclass(frozen=True)
class Got:
    """One answer of the server as the browser got it; what must be random in it is taken out."""

    asked: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def page(self) -> Page:
        return Page(self.body if self.body.startswith(b"<!doctype") else b"")

    def everything(self) -> bytes:
        return b"\n".join([self.body, *(f"{name}: {value}".encode() for name, value in self.headers)])


class Walker:
    """A browser without a person. `log` has every answer, redirects and images included."""

    def __init__(self, client: Client | None = None) -> None:
        self.client = client or Client()
        self.log: list[Got] = []
        self.link = ""

    def get(self, path: str) -> Page:
        return self._keep(f"GET {path}", self.client.get(path))

    def post(self, path: str, form: dict[str, Any]) -> Page:
        """Sends the form and goes where the answer says."""
        return self._keep(f"POST {path} {form.get('action', '')}", self.client.post(path, form))

    def _keep(self, asked: str, response: Any) -> Page:
        body = b"".join(response.streaming_content) if response.streaming else response.content
        headers = tuple(sorted(response.headers.items()))
        got = Got(asked, response.status_code, headers, CSRF.sub(rb'\1..."', body))
        self.log.append(got)
        if response.status_code == 302:
            if asked.startswith("POST /join/"):
                self.link = response.headers["Location"]
            return self.get(response.headers["Location"])
        page = got.page
        for source in page.images:
            if source.startswith("/") and not source.startswith("/static/"):
                self._keep(f"GET {source}", self.client.get(source))
        return page

    def join(self, slug: str, **external: str) -> Page:
        query = "&".join(f"{name}={value}" for name, value in external.items())
        path = f"/join/{slug}/" + (f"?{query}" if query else "")
        form = next(form for form in self.get(path).forms if form.method == "post")
        return self.post(path, form.hidden())

    def send(self, page: Page, action: str, fill: Callable[[str, Field], str] | None = None) -> Page:
        """Sends the page's form that has the button, its fields filled in."""
        form = page.form(action)
        sent = {
            name: each.value if each.kind == "hidden" or fill is None else fill(name, each)
            for name, each in form.fields.items()
        }
        return self.post(form.action or self.link, sent | {"action": action})

    def to_tasks(self, slug: str, **external: str) -> Page:
        """Joins and takes every step before the tasks in the plainest way."""
        page = self.join(slug, **external)
        for _ in range(100):
            if page.step in ("tasks", "wait", "thanks", "closed"):
                return page
            page = self.send(page, first_button(page), first_choice)
        raise AssertionError(f"no way past the step {page.step!r}")


ORDER = ("consent", "answer", "start", "practice", "grade", "next")


def first_button(page: Page) -> str:
    """What a willing person clicks on the page."""
    there = {button for form in page.forms for button in form.buttons}
    return next(button for button in ORDER if button in there)


def first_choice(name: str, each: Field) -> str:
    return each.choices[0] if each.choices else "A few words."


def scripted(numbers: Iterable[int]) -> Callable[[str, Field], str]:
    """Answers that depend on nothing but how many were given before."""
    left = iter(numbers)

    def fill(name: str, each: Field) -> str:
        number = next(left)
        return each.choices[number % len(each.choices)] if each.choices else f"Words {number}."

    return fill
