"""What researchers do with the science packages before and after the grading: draw a sample, leave people out."""

from __future__ import annotations

from typing import Any

import pandas as pd

import metrics
from analysis import annotators, quality, sampling
from annotator.errors import BadInput, NotYours
from annotator.grading import actions as grading
from annotator.grading.models import Exclusion
from annotator.results import export
from annotator.studies import actions as studies
from annotator.studies.models import Snippet, Study, System

PASS = "PASS"
"""Name of the score of a file that says whether a snippet passes its tests, 0 or 1."""
EDIT_SIMILARITY = "edit-similarity"


def draw_sample(
    study: Study,
    per_stratum: int,
    *,
    anchor: str | None = None,
    seed: int | None = None,
    pass_metric: str = PASS,
) -> sampling.Sample:
    """Keep a seeded sample of the draft's problems, so many of each stratum; the study keeps strata and weights.

    With `anchor`, a system's name, the strata are those of the published value study: where PASS (the score
    `pass_metric` of the file) and edit similarity of the anchor's snippet disagree. Without it they are the column
    `stratum`. Raises BadInput, Conflict (opened already), NotYours (no such system).
    """
    table = _strata(study) if anchor is None else _buckets(study, anchor, pass_metric)
    try:
        sample = sampling.draw_strata(
            table,
            per_stratum,
            study.seed if seed is None else seed,
            fill_from=None if anchor is None else sampling.AGREE,
            strata=() if anchor is None else sampling.BUCKETS,
        )
    except ValueError as error:
        raise BadInput(str(error)) from None
    if sample.rows.empty:
        raise BadInput("The sample is empty: there is no problem to draw from.")
    rows = zip(sample.rows["problem"], sample.rows["stratum"], sample.rows["weight"], strict=True)
    how = {
        "anchor": anchor,
        "per_stratum": per_stratum,
        "seed": study.seed if seed is None else seed,
        "pass_metric": pass_metric,
        "sizes": sample.sizes.astype(object).where(sample.sizes.notna(), None).to_dict("records"),
        "warnings": sample.warnings,
    }
    kept = {problem: (stratum, float(weight)) for problem, stratum, weight in rows}
    studies.keep_problems(study, kept, how)
    return sample


def _strata(study: Study) -> pd.DataFrame:
    rows = study.problems.filter(snippets__items__isnull=False).distinct()
    return pd.DataFrame(rows.values_list("key", "stratum"), columns=["problem", "stratum"], dtype="str")


def _buckets(study: Study, anchor: str, pass_metric: str) -> pd.DataFrame:
    system = study.systems.filter(name=anchor, kind=System.Kind.GENERATED).first()
    if system is None:
        known = ", ".join(study.systems.filter(kind=System.Kind.GENERATED).values_list("name", flat=True))
        raise NotYours(f"There is no system {anchor!r:.60} in this study. Known: {known}.")
    snippets = Snippet.objects.filter(system=system, sample=0).select_related("problem")
    similarity = metrics.get(EDIT_SIMILARITY)
    rows = []
    for snippet in snippets.order_by("problem__key"):
        references = list(
            snippet.problem.snippets.filter(system__kind=System.Kind.REFERENCE).values_list("code", flat=True)
        )
        if not references:
            raise BadInput(f"Problem {snippet.problem.key!r} has no reference to compare with.")
        passed = snippet.file_scores.get(pass_metric)
        rows.append((snippet.problem.key, passed, similarity.segment(snippet.code, references)))
    try:
        return sampling.buckets(pd.DataFrame(rows, columns=["problem", "passed", "edit_similarity"]))
    except ValueError as error:
        raise BadInput(
            f"{error} Give it as a column `scores` or `score:{pass_metric}` of the file."
        ) from None


def passed_frame(study: Study, pass_metric: str = PASS) -> pd.DataFrame | None:
    """PASS of each snippet, as the file gave it; None where it gave none."""
    snippets = Snippet.objects.filter(system__study=study, system__kind=System.Kind.GENERATED)
    rows = [
        (problem, system, sample, scores[pass_metric])
        for problem, system, sample, scores in snippets.values_list(
            "problem__key", "system__name", "sample", "file_scores"
        )
        if pass_metric in scores
    ]
    return pd.DataFrame(rows, columns=list(annotators.PASSED)) if rows else None


def annotator_frame(study: Study) -> pd.DataFrame:
    """One row an annotator: pace, sameness, checks, agreement; performance where PASS is known."""
    return annotators.annotator_table(export.grade_frame(study), passed_frame(study), **equivalence(study))


def top_performers(study: Study, count: int = 5) -> pd.DataFrame:
    """Who told best what passes its tests: the table of `quality.top_performers`, empty where PASS is not known."""
    passed = passed_frame(study)
    if passed is None:
        return pd.DataFrame()
    wanted = study.read_protocol().tasks_per_person
    return quality.top_performers(
        export.grade_frame(study), passed, count, minimum_items=wanted, **equivalence(study)
    )


def equivalence(study: Study) -> dict[str, Any]:
    """The question that tells whether a person saw what passes - `accuracy` where there is one, else the first - and
    the answer that says so: the highest of its scale."""
    scaled = study.read_protocol().scaled
    question = next((each for each in scaled if each.key == annotators.EQUIVALENCE), scaled[0])
    return {"question": question.key, "equivalent_from": question.highest}


def preview_rule(study: Study, rule: str, parameters: dict[str, Any] | None = None) -> quality.RuleResult:
    """Whom a rule would leave out, and why. Changes nothing. Raises BadInput.

    Where a rule asks for the question about equivalence and its top answer, the study's protocol gives them.
    """
    chosen = dict(parameters or {})
    known = quality.RULES[rule].parameters if rule in quality.RULES else {}
    for name, value in equivalence(study).items():
        if name in known:
            chosen.setdefault(name, value)
    try:
        return quality.apply_rule(rule, export.grade_frame(study), passed=passed_frame(study), **chosen)
    except (ValueError, TypeError) as error:
        raise BadInput(str(error)) from None


def apply_rule(
    study: Study, rule: str, parameters: dict[str, Any] | None = None, *, reopen: bool = False
) -> tuple[quality.RuleResult, Exclusion | None]:
    """Leave out whom the rule excludes, from now on and reversibly; None where it excludes nobody. Raises BadInput."""
    found = preview_rule(study, rule, parameters)
    out = found.table[found.table["excluded"]]
    reasons = dict(zip(out["annotator"], out["reason"], strict=True))
    if not reasons:
        return found, None
    exclusion = grading.exclude(
        study, found.rule, found.version, dict(found.parameters), reasons, reopen=reopen
    )
    return found, exclusion
