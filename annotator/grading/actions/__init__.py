"""Every change of an annotator's state: one named function, one transaction each."""

from __future__ import annotations

from annotator.grading.actions.answers import Submitted, submission_key, submit
from annotator.grading.actions.exclusions import exclude, reinstate, reopen_slots, undo_exclusion
from annotator.grading.actions.people import answer, consent, join, practise, reissue_link, revoke_link
from annotator.grading.actions.tasks import (
    hand_out,
    release_expired,
    report_broken,
    skip,
    start,
    stop,
)

__all__ = [
    "Submitted",
    "answer",
    "consent",
    "exclude",
    "hand_out",
    "join",
    "practise",
    "reinstate",
    "reissue_link",
    "release_expired",
    "reopen_slots",
    "report_broken",
    "revoke_link",
    "skip",
    "start",
    "stop",
    "submission_key",
    "submit",
    "undo_exclusion",
]
