"""An annotator without a browser: reads each page as it comes, and answers as its habits say.

It knows the survey by its pages alone: the step in `<main data-step>`, the fields and buttons of the form. What
the server acknowledged (2xx or 3xx) is noted, to be compared with what is stored.
"""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

TOO_FAST = 429
TURNED_AWAY = (400, 404, 409, TOO_FAST)
"""What a sound request may be answered with besides 200 and a redirect."""
OVER = ("thanks", "closed")
ONWARD = ("consent", "answer", "start", "practice", "next")
"""Actions that lead on and need no judgement."""


class WalkerError(Exception):
    """The survey cannot be walked: no form where one is due, or no answer in good time."""


@dataclass
class Form:
    """A form as the page holds it; `choices` and `ranges` are the inputs that want an answer."""

    action: str = ""
    hidden: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    def actions(self) -> list[str]:
        return [value for name, value in self.buttons if name == "action"]


@dataclass
class Page:
    status: int
    url: str
    text: str
    step: str
    forms: list[Form]
    links: list[str]

    def form_with(self, *actions: str) -> tuple[Form, str] | None:
        """The first form that has a button for one of `actions`, and that action."""
        for form in self.forms:
            for action in form.actions():
                if action in actions:
                    return form, action
        return None


class _Reader(HTMLParser):
    """Collects the step, the forms and the links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.step = ""
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.open_form: Form | None = None
        self.open_select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "main":
            self.step = given.get("data-step", "")
        elif tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "form" and given.get("method", "").lower() == "post":
            self.open_form = Form(given.get("action", ""))
            self.forms.append(self.open_form)
        elif self.open_form is not None:
            self._field(self.open_form, tag, given)

    def _field(self, form: Form, tag: str, given: dict[str, str]) -> None:
        name, value, kind = given.get("name", ""), given.get("value", ""), given.get("type", "")
        if tag == "button":
            form.buttons.append((name, value))
        elif tag == "select":
            self.open_select = name
        elif tag == "option" and value:
            form.choices.setdefault(self.open_select, []).append(value)
        elif tag == "textarea" or (tag == "input" and kind == "text"):
            form.texts.append(name)
        elif tag == "input" and kind == "hidden":
            form.hidden[name] = value
        elif tag == "input" and kind in ("radio", "checkbox"):
            form.choices.setdefault(name, []).append(value or "on")
        elif tag == "input" and kind in ("range", "number"):
            low, high = (
                round(float(given.get(name) or default)) for name, default in (("min", 0), ("max", 100))
            )
            form.ranges[name] = (low, high)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open_form = None


def read_page(status: int, url: str, text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    return Page(status, url, text, reader.step, reader.forms, reader.links)


@dataclass(frozen=True)
class Habits:
    """How a person works. `think` is the longest pause before an answer, in seconds, drawn anew each time."""

    think: float = 0.0
    ask_again: float = 0.3
    """Seconds between two questions of somebody who was told to wait."""
    skips: float = 0.0
    """The chance that an item is skipped."""
    vanishes_after: int | None = None
    """Leaves for good, with the next item in hand, after so many answers."""
    stops_after: int | None = None
    """Says "stop now" after so many answers."""
    patience: float = 90.0
    """Seconds after which a server that does not answer, or a survey that does not end, is an error."""


@dataclass
class Walker:
    """One annotator of the study `slug` at `base`; everything random comes from `seed`."""

    base: str
    slug: str
    seed: int
    habits: Habits = Habits()
    through_failures: bool = False
    """Tries again when the server is gone or fails, as a person would who presses the button again."""
    before_each: Callable[[], None] = lambda: None
    """Called before each request of a survey page: where a test makes everybody pause."""
    link: str = ""
    page: Page | None = None
    answered: dict[tuple[int, str], float] = field(default_factory=dict)
    """Acknowledged: (sequence, question) -> value."""
    late: set[int] = field(default_factory=set)
    """Sequences answered with a form that had been left lying."""
    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    waits: int = 0
    finished_at: float = 0.0
    """When the survey said that it is over, by time.time()."""
    vanished: bool = False

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.slug} {self.seed}")
        self.cookies: SimpleCookie = SimpleCookie()
        self.address = urlsplit(self.base)

    @property
    def token(self) -> str:
        return self.link.rstrip("/").rsplit("/", 1)[-1]

    # One request.

    def send(self, url: str, data: dict[str, str] | None = None) -> tuple[int, str, str]:
        """One request, no redirect followed: status, place it points to, text."""
        target = urlsplit(url)
        headers = {"Cookie": "; ".join(f"{name}={crumb.value}" for name, crumb in self.cookies.items())}
        method, body = "GET", None
        if data is not None:
            method, body = "POST", urlencode(data).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        path = target.path + (f"?{target.query}" if target.query else "")
        connection = http.client.HTTPConnection(str(self.address.hostname), self.address.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        for crumb in answer.headers.get_all("Set-Cookie") or []:
            self.cookies.load(crumb)
        self.statuses[answer.status] += 1
        return answer.status, urljoin(url, answer.headers.get("Location") or ""), text

    def insist(self, url: str, data: dict[str, str] | None = None) -> tuple[int, str, str]:
        """The same request until it is answered: after "too fast", and where `through_failures` after failures."""
        deadline = time.monotonic() + self.habits.patience
        while True:
            try:
                status, place, text = self.send(url, data)
                again = status == TOO_FAST or (status >= 500 and self.through_failures)
                why = str(status)
            except (OSError, http.client.HTTPException) as error:
                if not self.through_failures:
                    raise
                again, why = True, type(error).__name__
            if not again:
                return status, place, text
            self.failures[why] += 1
            if time.monotonic() > deadline:
                raise WalkerError(f"{url} did not answer in {self.habits.patience:g} s: {why}")
            time.sleep(0.05 + 0.1 * self.random.random())

    def open(self, url: str) -> Page:
        """A page, redirects followed."""
        for _ in range(5):
            status, place, text = self.insist(url)
            if not 300 <= status < 400:
                self.page = read_page(status, url, text)
                return self.page
            url = place
        raise WalkerError(f"{url} redirects in a circle.")

    def post(self, form: Form, fields: dict[str, str]) -> int:
        """Sends the form, then opens where it leads, or the personal link after a refusal. The status."""
        assert self.page is not None
        self.before_each()
        url = urljoin(self.page.url, form.action)
        status, place, text = self.insist(url, form.hidden | fields)
        if 300 <= status < 400:
            self.open(place)
        elif status < 300:
            self.page = read_page(status, url, text)
        elif status in TURNED_AWAY:
            self.refused.append(f"{status}: {fields}")
            if self.link:
                self.open(self.link)
        else:
            raise WalkerError(f"{status} for {fields} at {url}: {text[:300]}")
        return status

    # One step.

    def join(self, query: str = "") -> Page:
        page = self.open(f"{self.base}/join/{self.slug}/{query}")
        if not page.forms:
            raise WalkerError(f"The join page has no form: {page.text[:300]}")
        self.post(page.forms[0], {name: value for name, value in page.forms[0].buttons if name})
        assert self.page is not None
        self.link = self.page.url
        return self.page

    def fill(self, form: Form, value: int | None = None) -> dict[str, str]:
        """An answer to each input that wants one: `value`, or one drawn from the seed."""
        filled = {
            name: str(value) if value is not None and str(value) in values else self.random.choice(values)
            for name, values in form.choices.items()
        }
        for name, (low, high) in form.ranges.items():
            filled[name] = str(value if value is not None else self.random.randint(low, high))
        return filled

    def grade(self, value: int | None = None, old: Page | None = None) -> int:
        """Answers the item in hand (or on the page `old`, that was left lying). The status."""
        page = old or self.page
        assert page is not None
        found = page.form_with("grade")
        if found is None:
            raise WalkerError(f"There is nothing to grade at the step {page.step!r}.")
        form = found[0]
        fields = self.fill(form, value)
        sequence = int(form.hidden["sequence"])
        status = self.post(form, fields | {"action": "grade"})
        if status < 400:
            for name, given in fields.items():
                if name.startswith("value-"):
                    self.answered[sequence, name.removeprefix("value-")] = float(given)
            if old is not None:
                self.late.add(sequence)
        return status

    def stop(self, reason: str = "") -> Page:
        """By the page for pausing and stopping."""
        page = self.open(self.link.rstrip("/") + "/pause/")
        found = page.form_with("stop")
        if found is None:
            raise WalkerError("The page for a pause has no button to stop.")
        self.post(found[0], {"action": "stop", "reason": reason})
        assert self.page is not None
        return self.page

    def onward(self) -> None:
        """Through any page that only leads on: consent, questions about the person, instructions, practice."""
        found = self.page and self.page.form_with(*ONWARD)
        if not found:
            raise WalkerError(f"Nothing leads on from {self.page and self.page.text[:2000]}")
        form, action = found
        self.post(form, self.fill(form) | {"action": action})

    def go_to(self, *steps: str) -> Page:
        """From the join page to the first page of one of these steps, or to where the survey ends."""
        page = self.page or self.join()
        while page.step not in (*steps, *OVER):
            self.onward()
            page = self.page or page
        return page

    # The whole survey.

    def run(self, until: threading.Event | None = None) -> None:
        """From the join page until the survey is over, the person is gone for good, or `until` is set."""
        deadline = time.monotonic() + self.habits.patience
        page = self.go_to("tasks", "wait")
        while page.step not in OVER and not (until and until.is_set()):
            if time.monotonic() > deadline and until is None:
                raise WalkerError(f"Still at {page.step!r} after {self.habits.patience:g} s.")
            if self._leaves(page):
                return
            if page.step == "wait":
                self.waits += 1
                time.sleep(self.habits.ask_again)
                self.onward()
            elif page.step == "tasks":
                self._work(page)
            else:
                self.onward()
            page = self.page or page
        self.finished_at = time.time()

    def _leaves(self, page: Page) -> bool:
        """Whether the person vanishes here, with the page in hand, or stops in good order."""
        count = len(self.answered)
        if self.habits.stops_after is not None and count >= self.habits.stops_after:
            self.stop("no time")
            return True
        goes = self.habits.vanishes_after is not None and count >= self.habits.vanishes_after
        self.vanished = goes and page.step == "tasks"
        return self.vanished

    def _work(self, page: Page) -> None:
        if self.habits.think:
            time.sleep(self.random.random() * self.habits.think)
        skip = page.form_with("skip")
        if skip and self.random.random() < self.habits.skips:
            self.post(skip[0], {"action": "skip"})
        else:
            self.grade()
