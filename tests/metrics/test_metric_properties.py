"""What every metric declares, checked for every metric. A new metric is tested here without a new line."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics
from metrics.base import Metric, MissingInput, PairMetric
from metrics.codebleu import CodeBleu
from metrics.registry import METRICS

DECLARATIONS = {name for name in Metric.__annotations__ if not hasattr(Metric, name)}
CODES = (
    "x = foo('a', b)",
    "x = foo(`a`, b)",
    "os.kill(os.getpid(), signal.SIGUSR1)",
    "foo",
    "self",
    "foo(bar)",
    "a a a b",
    "a b",
    "a b c d",
    "a b c d e",
    "import os\n\n\ndef f(x):\n    return x\n",
    "größe = 'ß'",
    "\0",
    "\udcff = 1",
)
texts = st.text(alphabet="ab \n('.\0\ud800é", max_size=30) | st.sampled_from(CODES)

every_metric = pytest.mark.parametrize("metric", [metrics.get(name) for name in METRICS], ids=list(METRICS))


def undeclared(kind: type[Metric]) -> set[str]:
    """The declarations that neither the class nor a base other than Metric makes."""
    made = {name for base in kind.__mro__ if base is not Metric for name in vars(base)}
    return DECLARATIONS - made


def best(metric: Metric) -> float:
    return metric.range[1]


@every_metric
def test_a_metric_declares_everything(metric: Metric) -> None:
    assert undeclared(type(metric)) == set()


def test_a_metric_that_declares_nothing_is_found() -> None:
    class Silent(PairMetric):
        def pair(self, code: str, reference: str) -> float:
            return 0.0

    assert undeclared(Silent) == DECLARATIONS - {"order_invariant", "repeat_invariant"}


@every_metric
def test_the_registry_gives_the_class_it_names(metric: Metric) -> None:
    module, _, attribute = METRICS[metric.name].rpartition(".")
    assert type(metric) is getattr(import_module(module), attribute)
    assert metric is metrics.get(metric.name)


@every_metric
def test_the_signature_tells_how_the_score_came_about(metric: Metric) -> None:
    parts = metric.signature.split("|")
    assert parts[:3] == [metric.name, f"version:{metric.version}", f"tokenizer:{metric.tokenizer}"]
    assert parts[3:] == [f"{key}:{value}" for key, value in metric.parameters.items()]
    assert not set(metric.signature) & set(",;\"'\n\t")


@every_metric
@settings(max_examples=60, deadline=None)
@given(code=texts, references=st.lists(texts, min_size=1, max_size=3))
def test_scores_stay_within_the_range(metric: Metric, code: str, references: list[str]) -> None:
    low, high = metric.range
    statistics = metric.statistics(code, references)
    assert statistics.ndim == 1
    assert statistics.dtype == np.float64
    for score in (
        metric.segment(code, references),
        metric.segment_score(statistics),
        metric.score(statistics),
    ):
        assert isinstance(score, float)
        assert low <= score <= high


@every_metric
@pytest.mark.parametrize("code", CODES)
def test_equal_texts_score_highest(metric: Metric, code: str) -> None:
    if metric.identity:
        assert metric.segment(code, ["something else", code]) == pytest.approx(best(metric), abs=1e-12)


@every_metric
def test_a_metric_without_identity_has_none(metric: Metric) -> None:
    """Such a metric says in its docstring which texts fall short of themselves; its own tests hold it to that."""
    falls_short = [code for code in CODES if metric.segment(code, [code]) < best(metric) - 1e-12]
    assert bool(falls_short) != metric.identity


@every_metric
@settings(max_examples=60, deadline=None)
@given(left=texts, right=texts)
def test_a_symmetric_metric_is_symmetric(metric: Metric, left: str, right: str) -> None:
    if metric.symmetric:
        assert metric.segment(left, [right]) == metric.segment(right, [left])


@every_metric
def test_an_asymmetric_metric_is_not_symmetric(metric: Metric) -> None:
    pairs = [(left, right) for left in CODES for right in CODES]
    same = all(metric.segment(left, [right]) == metric.segment(right, [left]) for left, right in pairs)
    assert same == metric.symmetric


@every_metric
@settings(max_examples=60, deadline=None)
@given(code=texts, references=st.lists(texts, min_size=2, max_size=4))
def test_the_order_and_number_of_references_do_not_matter(
    metric: Metric, code: str, references: list[str]
) -> None:
    score = metric.segment(code, references)
    assert metric.order_invariant, "declare why not, and test that instead"
    assert metric.segment(code, references[::-1]) == pytest.approx(score, abs=1e-12)
    assert metric.repeat_invariant, "declare why not, and test that instead"
    assert metric.segment(code, [*references, *references]) == pytest.approx(score, abs=1e-12)


@every_metric
def test_empty_texts_have_the_documented_scores(metric: Metric) -> None:
    low = metric.range[0]
    assert metric.segment("", ["x = 1"]) == low
    assert metric.segment("x = 1", [""]) == low
    assert metric.segment("", [""]) == metric.both_empty
    assert metric.corpus(["", ""], [[""], ["x = 1"]]) == metric.both_empty / 2


@every_metric
def test_missing_or_wrong_inputs_are_said_in_a_sentence(metric: Metric) -> None:
    with pytest.raises(MissingInput, match=f"^{metric.name} needs at least one reference"):
        metric.segment("x", [])
    with pytest.raises(TypeError, match="the references must be a list of texts"):
        metric.segment("x", "x = 1")
    with pytest.raises(TypeError, match="the references must be a list of texts"):
        metric.segment("x", ["x", None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="the code must be text, not NoneType"):
        metric.segment(None, ["x"])  # type: ignore[arg-type]
    with pytest.raises(MissingInput, match="needs at least one code"):
        metric.corpus([], [])
    with pytest.raises(ValueError, match="There are 1 codes but 2 lists of references"):
        metric.corpus(["x"], [["x"], ["y"]])


@every_metric
def test_a_corpus_is_scored_from_summed_statistics(metric: Metric) -> None:
    references = [[code, "x = foo('b')"] for code in CODES[1:]]
    rows = np.array([metric.statistics(*pair) for pair in zip(CODES[:-1], references, strict=True)])
    whole = metric.corpus(CODES[:-1], references)
    assert metric.score(rows.sum(axis=0)) == whole
    doubled = metric.corpus([*CODES[:-1]] * 2, references * 2)
    assert (doubled == pytest.approx(whole, abs=1e-12)) == metric.size_invariant
    if isinstance(metric, PairMetric):
        segments = [metric.segment(*pair) for pair in zip(CODES[:-1], references, strict=True)]
        assert whole == pytest.approx(math.fsum(segments) / len(segments), abs=1e-12)


@every_metric
def test_a_line_of_100_kb_is_scored(metric: Metric) -> None:
    long = "foo(bar, 'baz') + " * 5_600
    assert len(long) > 100_000
    assert metric.segment(long, [long]) == pytest.approx(best(metric), abs=1e-12)
    assert metric.segment(long, ["pass"]) < 0.1
    # A metric of recall finds most of a short reference in a long text
    assert metric.segment(long, ["x = foo(bar)"]) < (0.9 if isinstance(metric, CodeBleu) else 0.1)


@pytest.mark.parametrize(
    "name", [name for name, path in METRICS.items() if "edit" in name or "rouge" in path]
)
def test_two_different_long_lines_are_scored(name: str) -> None:
    left, right = "a(bc).d" * 6_000, "b(ca).d" * 6_000
    assert 0 < metrics.get(name).segment(left, [right]) < 1


@every_metric
def test_a_text_of_10_mb_is_refused_with_a_sentence(metric: Metric) -> None:
    huge = "x" * 10_485_760
    for pair in ((huge, ["x"]), ("x", ["y", huge])):
        with pytest.raises(
            metrics.Undefined, match="a text has 10,485,760 characters; metrics read 120,000 at"
        ):
            metric.segment(*pair)
    (row,) = metrics.score_rows(
        [{"problem": 1, "system": 2, "code": huge, "references": [""]}], [metric.name]
    )
    assert row["score"] is None
    assert "10,485,760" in row["undefined"]


def test_an_unknown_name_lists_the_known_ones() -> None:
    known = ", ".join(sorted(METRICS))
    with pytest.raises(metrics.UnknownMetric, match=f"no metric 'blue'; the known ones are {known}.$"):
        metrics.get("blue")
    assert metrics.names() == sorted(METRICS)


def test_rows_are_scored_in_order_with_their_signature() -> None:
    rows: list[dict[str, object]] = [
        {"problem": "007", "system": "a", "sample": 3, "code": "x", "references": ["x"]},
        {"problem": "8", "system": "b", "code": "y", "references": ["x"]},
    ]
    chrf, exact = metrics.get("chrf"), metrics.get("exact-match")
    expected = [
        ("007", "a", 3, "exact-match", exact.signature, 1.0, ""),
        ("007", "a", 3, "chrf", chrf.signature, 1.0, ""),
        ("8", "b", 0, "exact-match", exact.signature, 0.0, ""),
        ("8", "b", 0, "chrf", chrf.signature, 0.0, ""),
    ]
    scores = list(metrics.score_rows(rows, ["exact-match", "chrf"]))
    assert [tuple(row.values()) for row in scores] == expected
    assert [*scores[0]] == ["problem", "system", "sample", "metric", "signature", "score", "undefined"]


def test_score_rows_refuses_at_once_and_names_the_row() -> None:
    with pytest.raises(metrics.UnknownMetric):
        metrics.score_rows([], ["bleu", "blue"])
    row = {"problem": "7", "system": "a", "code": "x", "references": []}
    with pytest.raises(MissingInput, match=r"^Problem 7, system a: bleu needs at least one reference"):
        list(metrics.score_rows([row], ["bleu"]))


@every_metric
def test_the_manual_describes_the_metric(metric: Metric) -> None:
    manual = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    table, undefined = manual.split("## Undefined inputs")
    assert f"\n| `{metric.name}` |" in table
    header, _, *rows = [line for line in undefined.split("\n##")[0].splitlines() if line.startswith("|")]
    column = next(place for place, cell in enumerate(header.split("|")) if f"`{metric.name}`" in cell)
    both_empty = next(row for row in rows if row.startswith("| both empty"))
    assert float(both_empty.split("|")[column]) == metric.both_empty


def test_the_manual_quotes_the_signature_of_bleu() -> None:
    manual = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert f"    {metrics.get('bleu').signature}\n" in manual
