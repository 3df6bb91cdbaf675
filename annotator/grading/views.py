"""The annotator's pages. GET changes nothing; each POST is one action and a redirect to the next step."""

from __future__ import annotations

import statistics
import uuid
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotator.errors import BadInput, Conflict
from annotator.grading import access, actions, display, steps
from annotator.grading.forms import GradeForm, SkipForm, StopForm
from annotator.grading.models import Annotator, Assignment
from annotator.studies.models import Study

WRONG_ACTION = "The page sent something unknown. Please reload it."


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
    study = access.get_study_to_join(slug)
    if request.method == "POST":
        annotator = actions.join(study, request.POST.get("key", "")[:64].replace("\0", ""))
        return redirect("annotator", token=annotator.token)
    closed = "" if study.state == Study.State.OPEN else access.CLOSED[Study.State(study.state)]
    return render(
        request,
        "grading/join.html",
        {"study": study, "key": uuid.uuid4().hex, "closed": closed},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def annotator(request: HttpRequest, token: str) -> HttpResponse:
    """The personal link: whatever the person's current step is."""
    person = access.get_annotator(token)
    if request.method == "POST":
        return do(request, person)
    if person.study.state != Study.State.OPEN and person.step != steps.THANKS:
        return render(
            request,
            "error.html",
            {"error": access.CLOSED[Study.State(person.study.state)]},
        )
    if person.step == steps.CONSENT:
        return consent_page(request, person)
    if person.step == steps.INSTRUCTIONS:
        return instructions_page(request, person, again=False)
    if person.step == steps.TASKS:
        return task_page(request, person)
    return thanks_page(request, person)


def do(request: HttpRequest, person: Annotator) -> HttpResponse:
    """One POST of the personal page."""
    action = request.POST.get("action", "")
    if action == "grade":
        return grade(request, person)
    if action == "skip":
        skip_form = SkipForm(request.POST)
        if not skip_form.is_valid():
            raise BadInput(WRONG_ACTION)
        actions.skip(person, skip_form.cleaned_data["sequence"])
        actions.hand_out(person)
    elif action == "consent":
        actions.consent(person)
        if access.get_annotator(person.token).step == steps.TASKS:
            actions.hand_out(person)
    elif action in ("start", "next"):
        actions.start(person)
    elif action == "stop":
        stop_form = StopForm(request.POST)
        stop_form.is_valid()
        given = [stop_form.cleaned_data.get(name, "").strip() for name in ("reason", "text")]
        actions.stop(person, ": ".join(part for part in given if part))
    else:
        raise BadInput(WRONG_ACTION)
    return redirect("annotator", token=person.token)


def grade(request: HttpRequest, person: Annotator) -> HttpResponse:
    """Store one answer, or show the page again with what was chosen and a sentence."""
    form = GradeForm(request.POST)
    sentence = ""
    if not form.is_valid():
        sentence = form.sentence()
    else:
        answer = form.cleaned_data
        try:
            actions.submit(
                person,
                answer["sequence"],
                answer["question"],
                answer["value"],
                key=answer["key"],
                active_seconds=answer["active_seconds"],
            )
        except BadInput as error:
            sentence = str(error)
        except Conflict:
            # Dealt with in another tab, or the study closed meanwhile: the current page says which.
            access.check_open(person.study)
    if sentence:
        return task_page(
            request,
            person,
            chosen=request.POST.get("value", ""),
            error=sentence,
            status=400,
        )
    if person.study.state == Study.State.OPEN:
        actions.hand_out(person)
    return redirect("annotator", token=person.token)


def page_context(person: Annotator) -> dict[str, Any]:
    total = person.study.item_count if person.study.policy == Study.Policy.EVERYONE else None
    minutes = None
    if total:
        recent = access.recent_seconds(person)
        left = max(total - person.graded - person.skipped, 0)
        minutes = max(round(left * statistics.median(recent) / 60), 1) if len(recent) >= 5 and left else None
    return {
        "study": person.study,
        "annotator": person,
        "protocol": person.study.read_protocol(),
        "graded": person.graded,
        "total": total,
        "minutes_left": minutes,
    }


def consent_page(request: HttpRequest, person: Annotator) -> HttpResponse:
    context = page_context(person)
    context["paragraphs"] = display.paragraphs(context["protocol"].consent)
    context["personal_link"] = request.build_absolute_uri(request.path)
    return render(request, "grading/consent.html", context)


def instructions_page(request: HttpRequest, person: Annotator, *, again: bool) -> HttpResponse:
    context = page_context(person)
    protocol = context["protocol"]
    context |= {
        "paragraphs": display.paragraphs(protocol.instructions),
        "question": protocol.questions[0],
    }
    return render(request, "grading/instructions.html", context | {"again": again})


def task_page(
    request: HttpRequest,
    person: Annotator,
    *,
    chosen: str = "",
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    """The item in the annotator's hands with the question that is due: nothing of what comes later."""
    held = access.get_held(person)
    context = page_context(person)
    question = (
        None if held is None else steps.question_after(context["protocol"], access.answered_questions(held))
    )
    if held is None or question is None:
        return render(request, "grading/continue.html", context)
    context |= item_context(held) | {
        "sequence": held.sequence,
        "question": question,
        "key": actions.submission_key(person, held.sequence, question.key),
        "chosen": chosen,
        "error": error,
    }
    return render(request, "grading/task.html", context, status=status)


def item_context(held: Assignment) -> dict[str, Any]:
    """What is shown of an item: the problem and the code, and nothing that depends on the system."""
    snippet = held.item.snippet
    return {
        "problem": snippet.problem,
        "intent_html": display.intent_html(snippet.problem.intent),
        "context_html": display.intent_html(snippet.problem.context),
        "code_html": display.code_html(snippet.code, snippet.language),
    }


def thanks_page(request: HttpRequest, person: Annotator) -> HttpResponse:
    context = page_context(person)
    is_open = person.study.state == Study.State.OPEN
    left = is_open and access.open_items(person).exists()
    code = salted_hmac("codejury.completion", person.token).hexdigest()[:8].upper()
    context |= {
        "paragraphs": display.paragraphs(context["protocol"].thanks),
        "code": code if person.graded else None,
        "stopped": person.stopped_at is not None,
        "can_continue": left,
        "exhausted": is_open and not left,
    }
    return render(request, "grading/thanks.html", context)


@require_safe
@never_cache
def pause(request: HttpRequest, token: str) -> HttpResponse:
    person = access.get_annotator(token)
    return render(request, "grading/pause.html", page_context(person))


@require_safe
@never_cache
def instructions(request: HttpRequest, token: str) -> HttpResponse:
    return instructions_page(request, access.get_annotator(token), again=True)


@require_safe
def image(request: HttpRequest, name: str) -> FileResponse:
    """A problem's image, named by its content (the route admits nothing else)."""
    path = settings.MEDIA_ROOT / "images" / name
    if not path.is_file():
        raise Http404("No such image.")
    response = FileResponse(path.open("rb"))
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
