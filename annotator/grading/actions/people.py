"""A person comes in, and goes through the steps before and after the tasks."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotator.errors import Conflict
from annotator.grading import access, steps
from annotator.grading.actions.pool import lock_annotator
from annotator.grading.assignment import pseudonym
from annotator.grading.models import Annotator, Answer
from annotator.studies.models import Study
from annotator.studies.protocols import Protocol

JOINED_BEFORE = gettext_lazy(
    "Somebody with this participant id has started this study already. If that was you, open your personal link, "
    "or this page in the browser in which you started."
)


@dataclass(frozen=True)
class External:
    """Who a panel says the person is. It never opens anybody's work."""

    id: str = ""
    study: str = ""
    session: str = ""


def join(study: Study, join_key: str, external: External | None = None) -> Annotator:
    """A new annotator with a personal link; the same join key again gives the same annotator.

    Raises Conflict where the study is not open, or somebody with this external id joined it before.
    """
    access.check_open(study)
    external = external or External()
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        known = Annotator.objects.filter(study=study, join_key=join_key).first() if join_key else None
        if known:
            return known
        if external.id and study.annotators.filter(external_id=external.id).exists():
            raise Conflict(str(JOINED_BEFORE))
        number = (study.annotators.aggregate(last=Max("number"))["last"] or 0) + 1
        return Annotator.objects.create(
            study=study,
            number=number,
            pseudonym=pseudonym(study.seed, number),
            token=secrets.token_urlsafe(24),
            join_key=join_key or None,
            external_id=external.id,
            external_study=external.study,
            external_session=external.session,
            step=steps.first_step(study.read_protocol()),
        )


def consent(annotator: Annotator) -> None:
    """The person agrees to the consent text: its version and the time are kept."""
    with transaction.atomic():
        annotator = lock_annotator(annotator)
        if annotator.step == steps.CONSENT:
            protocol = annotator.study.read_protocol()
            annotator.consent_version, annotator.consented_at = protocol.version, timezone.now()
            _advance(annotator, protocol, "consent_version", "consented_at")


def answer(annotator: Annotator, step: str, answers: Mapping[str, str]) -> None:
    """Keep the answers about the person (`background`) or at the end (`feedback`), and go on. A replay changes
    nothing."""
    with transaction.atomic():
        annotator = lock_annotator(annotator)
        if annotator.step != step or step not in (steps.BACKGROUND, steps.FEEDBACK):
            return
        Answer.objects.bulk_create(
            [Answer(annotator=annotator, step=step, question=key, text=text) for key, text in answers.items()]
        )
        _advance(annotator, annotator.study.read_protocol())


def practise(annotator: Annotator, number: int, answers: Mapping[str, str]) -> None:
    """Keep the answers to practice task `number` (counted from 0), which is then done; a replay changes nothing.

    After the last one the tasks come next.
    """
    with transaction.atomic():
        annotator = lock_annotator(annotator)
        protocol = annotator.study.read_protocol()
        if annotator.step != steps.PRACTICE or number != annotator.practised:
            return
        Answer.objects.bulk_create(
            [
                Answer(
                    annotator=annotator, step=Answer.Step.PRACTICE, question=f"{number + 1}.{key}", text=text
                )
                for key, text in answers.items()
            ]
        )
        annotator.practised = number + 1
        annotator.save(update_fields=["practised"])
        if annotator.practised >= len(protocol.practice):
            _advance(annotator, protocol)


def _advance(annotator: Annotator, protocol: Protocol, *fields: str) -> None:
    annotator.step = steps.step_after(protocol, annotator.step)
    annotator.last_seen_at = timezone.now()
    annotator.save(update_fields=["step", "last_seen_at", *fields])


def revoke_link(annotator: Annotator) -> None:
    """The personal link opens nothing any more; what was graded stays."""
    Annotator.objects.filter(pk=annotator.pk, revoked_at=None).update(revoked_at=timezone.now())


def reissue_link(annotator: Annotator) -> Annotator:
    """A new personal link; the old one opens nothing any more."""
    with transaction.atomic():
        annotator = lock_annotator(annotator)
        annotator.token, annotator.revoked_at = secrets.token_urlsafe(24), None
        annotator.save(update_fields=["token", "revoked_at"])
    return annotator
