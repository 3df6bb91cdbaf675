"""The annotator's pages. GET changes nothing; each POST is one action and a redirect to the next step."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotator.errors import BadInput, Conflict, NotYours
from annotator.grading import access, actions, display, forms, pages, steps, throttle
from annotator.grading.actions.people import External
from annotator.grading.models import Annotator
from annotator.studies.models import Study

WRONG_ACTION = gettext_lazy("The page sent something unknown. Please reload it.")
EXTERNAL = {
    "id": ("PROLIFIC_PID", "workerId"),
    "study": ("STUDY_ID", "hitId"),
    "session": ("SESSION_ID", "assignmentId"),
}
"""What panels call a participant, their study and the session in the links that they send people with."""
COOKIE_DAYS = 180


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "grading/home.html")


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 when the app answers and the database does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join(request: HttpRequest, slug: str) -> HttpResponse:
    """The open link. GET creates nothing; POST makes a person, whose cookie finds back to their link."""
    study = access.get_study_to_join(slug)
    request.LANGUAGE_CODE = study.read_protocol().language
    with translation.override(request.LANGUAGE_CODE):
        given = request.POST if request.method == "POST" else request.GET
        external = External(**{name: _first(given, known) for name, known in EXTERNAL.items()})
        before = _joined_before(request, study)
        if request.method == "POST":
            return _join(request, study, external)
        if before is not None and external.id and before.external_id == external.id:
            return redirect("annotator", token=before.token)
        return render(
            request,
            "grading/join.html",
            {
                "study": study,
                "key": uuid.uuid4().hex,
                "closed": access.why_closed(study),
                "external": {known[0]: getattr(external, name) for name, known in EXTERNAL.items()},
                "before": None if external.id else before,
            },
        )


def _first(given: Any, names: tuple[str, ...]) -> str:
    return next((given[name].replace("\0", "")[:100] for name in names if given.get(name)), "")


def _cookie(study: Study) -> str:
    return f"codejury-{study.slug}"


def _joined_before(request: HttpRequest, study: Study) -> Annotator | None:
    """Who joined this study in this browser."""
    try:
        person = access.get_annotator(request.COOKIES.get(_cookie(study), "").replace("\0", "")[:64])
    except NotYours:
        return None
    return person if person.study_id == study.pk else None


def _join(request: HttpRequest, study: Study, external: External) -> HttpResponse:
    throttle.check_rate(request.META.get("REMOTE_ADDR", ""))
    person = actions.join(study, request.POST.get("key", "")[:64].replace("\0", ""), external)
    response = redirect("annotator", token=person.token)
    response.set_cookie(
        _cookie(study),
        person.token,
        max_age=COOKIE_DAYS * 86_400,
        path=reverse("join", args=[study.slug]),
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
    return response


View = Callable[..., HttpResponseBase]


def personal(view: View) -> View:
    """A page of the person with this link, in the study's language."""

    @never_cache
    def wrapped(request: HttpRequest, token: str, **rest: Any) -> HttpResponseBase:
        person = access.get_annotator(token)
        request.LANGUAGE_CODE = person.study.read_protocol().language  # of the page of an error, too
        with translation.override(request.LANGUAGE_CODE):
            return view(request, person, **rest)

    return wrapped


@require_http_methods(["GET", "HEAD", "POST"])
@personal
def annotator(request: HttpRequest, person: Annotator) -> HttpResponse:
    """The personal link: whatever the person's current step is."""
    if request.method == "POST":
        return do(request, person)
    return pages.current(request, person)


def do(request: HttpRequest, person: Annotator) -> HttpResponse:
    """One POST of the personal page."""
    action = request.POST.get("action", "")
    known = {
        "grade": grade,
        "skip": give_back,
        "broken": give_back,
        "consent": consent,
        "answer": answer,
        "practice": practise,
        "start": go_on,
        "next": go_on,
        "stop": stop,
    }
    if action not in known:
        raise BadInput(str(WRONG_ACTION))
    return known[action](request, person)


def back_to(person: Annotator) -> HttpResponse:
    return redirect("annotator", token=person.token)


def next_item(person: Annotator) -> HttpResponse:
    """Hand out what comes next, and go there. Where the study does not hand out, the page says so."""
    with contextlib.suppress(Conflict):
        actions.hand_out(person)
    return back_to(person)


def grade(request: HttpRequest, person: Annotator) -> HttpResponse:
    """Store the answers of one page, or show it again with what was chosen and a sentence."""
    form = forms.GradeForm(request.POST)
    if not form.is_valid():
        return pages.task(request, person, error=str(access.DAMAGED), typed=request.POST, status=400)
    sent = form.cleaned_data
    page = steps.page_of(person.study.read_protocol(), sent["question"]) or ()
    try:
        done = actions.submit(
            person,
            sent["sequence"],
            forms.read_values(page, request.POST),
            key=sent["key"],
            question=sent["question"],
            revision=sent["revision"],
            comments=forms.read_comments(page, request.POST),
            active_seconds=sent["active_seconds"],
            go_on=True,
        )
    except BadInput as error:
        return pages.task(request, person, error=str(error), typed=request.POST, status=400)
    except Conflict as error:
        return pages.conflict(request, person, error)
    return back_to(person) if done.in_hand else next_item(person)


def give_back(request: HttpRequest, person: Annotator) -> HttpResponse:
    """Skip the item, or report that it is broken."""
    form = forms.SequenceForm(request.POST)
    if not form.is_valid():
        raise BadInput(str(WRONG_ACTION))
    if request.POST["action"] == "broken":
        actions.report_broken(person, form.cleaned_data["sequence"], form.cleaned_data["text"])
    else:
        actions.skip(person, form.cleaned_data["sequence"])
    return next_item(person)


def consent(request: HttpRequest, person: Annotator) -> HttpResponse:
    actions.consent(person)
    return next_item(person)


def answer(request: HttpRequest, person: Annotator) -> HttpResponse:
    """The questions about the person, or those at the end."""
    protocol = person.study.read_protocol()
    step = request.POST.get("step", "")
    asks = {steps.BACKGROUND: protocol.background, steps.FEEDBACK: protocol.feedback}.get(step)
    if asks is None:
        raise BadInput(str(WRONG_ACTION))
    try:
        actions.answer(person, step, forms.read_answers(asks, request.POST))
    except BadInput as error:
        return pages.asks(request, person, step, errors=error.lines, typed=request.POST, status=400)
    return next_item(person)


def practise(request: HttpRequest, person: Annotator) -> HttpResponse:
    form = forms.SequenceForm(request.POST)
    if not form.is_valid():
        raise BadInput(str(WRONG_ACTION))
    number = form.cleaned_data["sequence"] - 1
    asked = pages.practised(person.study.read_protocol())
    values = forms.read_values(asked, request.POST)
    if number == person.practised and steps.off_scale(steps.Due(tuple(asked)), values):
        return pages.practice(request, person, typed=request.POST)
    actions.practise(person, number, {key: f"{value:.12g}" for key, value in values.items()})
    return redirect("practice", token=person.token, number=number + 1)


def go_on(request: HttpRequest, person: Annotator) -> HttpResponse:
    practised = person.step == steps.PRACTICE and access.has_practised(person)
    if practised or person.step in (steps.INSTRUCTIONS, *steps.AFTER_PRACTICE):
        actions.start(person)
    return back_to(person)


def stop(request: HttpRequest, person: Annotator) -> HttpResponse:
    form = forms.StopForm(request.POST)
    form.is_valid()
    given = [form.cleaned_data.get(name, "").strip() for name in ("reason", "text")]
    actions.stop(person, ": ".join(part for part in given if part))
    return back_to(person)


@require_safe
@personal
def pause(request: HttpRequest, person: Annotator) -> HttpResponse:
    return render(request, "grading/pause.html", pages.context_of(person))


@require_safe
@personal
def instructions(request: HttpRequest, person: Annotator) -> HttpResponse:
    return pages.instructions(request, person, again=True)


@require_safe
@personal
def practice(request: HttpRequest, person: Annotator, number: int) -> HttpResponse:
    """What was right in a practice task that is done."""
    return pages.practice_result(request, person, number)


@require_safe
@personal
def change(request: HttpRequest, person: Annotator) -> HttpResponse:
    """The answer before, to change it, where the protocol allows that."""
    changeable = access.get_changeable(person)
    if changeable is None:
        return back_to(person)
    return pages.task(request, person, changing=changeable)


@require_safe
@personal
def image(request: HttpRequest, person: Annotator, name: str) -> FileResponse:
    """The image of the problem in the person's hands, under a name that tells nothing of it."""
    held = access.get_held(person)
    shown = [each for each in (held, (access.get_changeable(person) or (None,))[0]) if each is not None]
    for assignment in shown:
        problem = assignment.item.snippet.problem
        path = settings.MEDIA_ROOT / "images" / problem.image
        if problem.image and display.image_name(person.study, problem) == name and path.is_file():
            response = FileResponse(path.open("rb"))
            response["Cache-Control"] = "private, max-age=86400"
            response["Content-Disposition"] = "inline"
            response["Content-Security-Policy"] = "default-src 'none'; sandbox"
            return response
    raise Http404("No such image.")
