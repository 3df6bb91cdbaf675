"""Getters of what is judged."""

from __future__ import annotations

from annotator.errors import NotYours
from annotator.studies.models import Study


def get_study_by_slug(slug: str) -> Study:
    """For the command line: whoever may run commands may see every study. Raises NotYours, naming those known."""
    # Only ASCII can be a slug; a terminal may hand over what no database can look for.
    study = Study.objects.filter(slug=slug).first() if slug.isascii() else None
    if study is None:
        known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True))
        rest = f"Known studies: {known}." if known else "There is none yet: import one with import_study."
        raise NotYours(f"There is no study {slug!a}. {rest}")
    return study
