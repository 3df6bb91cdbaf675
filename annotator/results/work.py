"""What the parts of jobs compute. No transaction is open meanwhile; the effect is returned, to be written."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from django.db.models import Count, Q, QuerySet

import metrics
from analysis import columns
from annotator.errors import BadInput, CodejuryError
from annotator.results import export
from annotator.results.models import Job, JobPart, MetricScore, Report, ReportFile
from annotator.studies.models import Problem, Snippet, Study, System

EXPECTED = (CodejuryError, metrics.MissingInput, metrics.UnknownMetric, columns.TableError)
"""Failures whose sentence is for the researcher."""
UNITS_A_PART = 250
"""Scores a part: so few that one short transaction writes them."""
REPORT_STEPS = 100
NO_SNIPPETS = "This study has no generated snippets to score: import some with import_study."
NO_REFERENCES = (
    "No problem of this study has a reference to compare with: import a file with a column `references`, "
    "or with snippets of the system `reference`."
)

Effect = Callable[[], None]
Progress = Callable[[int, str], None]


def compute(part: JobPart, progress: Progress) -> Effect:
    """Do the work of a part; what is returned writes the result, in the caller's transaction.

    `progress(done, text)` may raise, to stop the work. Raises EXPECTED with a sentence for the researcher.
    """
    if part.job.kind == Job.Kind.METRICS:
        return compute_scores(part.job.study_id, part.params, progress)
    return build_report(part.job, progress)


def plan_scores(study: Study, names: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """The parts of a metrics job - metric, snippets [first id, last id], units - and what is left out.

    Raises BadInput when there is nothing to score.
    """
    problems = Problem.objects.filter(study=study).annotate(
        references=Count("snippets", filter=Q(snippets__system__kind=System.Kind.REFERENCE))
    )
    if not generated_of(study).exists():
        raise BadInput(NO_SNIPPETS)
    lacking = problems.filter(references=0).count()
    snippets = generated_of(study)
    if all("references" in metrics.get(name).needs for name in names):
        snippets = snippets.filter(problem__in=problems.filter(references__gt=0).values("pk"))
    ids = list(snippets.order_by("pk").values_list("pk", flat=True))
    if not ids:
        raise BadInput(NO_REFERENCES)
    shares = [ids[start : start + UNITS_A_PART] for start in range(0, len(ids), UNITS_A_PART)]
    parts = [
        {"metric": name, "snippets": [share[0], share[-1]], "units": len(share)}
        for name in names
        for share in shares
    ]
    return parts, f"{_count(lacking, 'problem')} without references left out." if lacking else ""


def generated_of(study: Study) -> QuerySet[Snippet]:
    return Snippet.objects.filter(system__study=study, system__kind=System.Kind.GENERATED)


def compute_scores(study_id: int, params: dict[str, Any], progress: Progress) -> Effect:
    """Score a run of generated snippets by a metric, against the references of their problems.

    A score is made anew where the texts or the signature changed since it was made."""
    metric = metrics.get(params["metric"])
    first, last = params["snippets"]
    generated = Snippet.objects.filter(
        pk__range=(first, last), system__study_id=study_id, system__kind=System.Kind.GENERATED
    )
    snippets = list(generated.order_by("pk").values_list("pk", "problem_id", "code"))
    references = references_of({problem for _, problem, _ in snippets})
    stored = MetricScore.objects.filter(
        snippet__in=[pk for pk, _, _ in snippets], metric=metric.name, signature=metric.signature
    )
    known = dict(stored.values_list("snippet_id", "inputs"))
    scores = []
    for number, (pk, problem, code) in enumerate(snippets):
        progress(number, metric.name)
        if "references" in metric.needs and not references[problem]:
            continue
        inputs = hash_of(code, references[problem])
        if known.get(pk) != inputs:
            score = MetricScore(snippet_id=pk, metric=metric.name, signature=metric.signature, inputs=inputs)
            try:
                score.score = metric.segment(code, references[problem])
            except metrics.Undefined as error:
                score.undefined = str(error)
            scores.append(score)
    return lambda: write_scores(scores)


def hash_of(code: str, references: Sequence[str]) -> str:
    """16 hexadecimal digits that tell these texts from others."""
    texts = json.dumps([code, *references]).encode("ascii")
    return hashlib.blake2b(texts, digest_size=8).hexdigest()


def references_of(problems: Iterable[int]) -> dict[int, list[str]]:
    """The references of each problem, by system and sample; an empty list where there are none."""
    rows = Snippet.objects.filter(problem__in=problems, system__kind=System.Kind.REFERENCE)
    found: dict[int, list[str]] = defaultdict(list)
    for problem, code in rows.order_by("system_id", "sample").values_list("problem_id", "code"):
        found[problem].append(code)
    return found


def write_scores(scores: list[MetricScore]) -> None:
    """Once each, however often; in one order everywhere, so that two workers never wait in a ring."""
    scores.sort(key=lambda score: (score.snippet_id, score.metric))
    MetricScore.objects.bulk_create(
        scores,
        update_conflicts=True,
        unique_fields=["snippet", "metric", "signature"],
        update_fields=["score", "undefined", "inputs"],
    )


def build_report(job: Job, progress: Progress) -> Effect:
    """Run the analysis on what the study exports, into a folder that becomes rows."""
    from analysis import report  # draws figures: too slow to load for every start of the web server

    study, params = job.study, job.params

    def steps(done: int, total: int, text: str) -> None:
        progress(REPORT_STEPS * done // max(total, 1), text)

    steps(0, 1, "Reading grades and scores")
    grades, scores = export.grade_frame(study), export.score_frame(study)
    with tempfile.TemporaryDirectory(prefix="codejury-report-") as folder:
        summary = report.build(
            grades,
            scores,
            Path(folder),
            seed=params["seed"],
            resamples=params["resamples"],
            aggregator=params["aggregator"],
            decimals=params["decimals"],
            study=study.slug,
            progress=steps,
        )
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }
    return lambda: write_report(job, summary, files)


def write_report(job: Job, summary: dict[str, Any], files: dict[str, bytes]) -> None:
    made = Report.objects.create(study=job.study, job=job, summary=summary)
    ReportFile.objects.bulk_create(
        ReportFile(report=made, name=name, content=content) for name, content in files.items()
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
