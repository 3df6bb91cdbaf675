"""What a metric is: per-segment statistics first, a score from summed statistics second."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

Statistics = npt.NDArray[np.float64]


class MissingInput(ValueError):
    """A metric was asked for a score without something it needs; the text says what."""


class Undefined(ValueError):
    """A metric gives this input no score; the text says why, in a sentence."""


LONGEST = 120_000
"""Characters of a text that metrics read. Two unlike texts of that length take the slowest metric some seconds."""


class Metric(ABC):
    """One metric. A subclass declares everything below; the tests check the declarations of all metrics.

    The design follows sacrebleu (Post 2018, doi:10.18653/v1/W18-6319): a score carries a signature, and
    resampling works on statistics.
    """

    name: ClassVar[str]
    """The name in the registry and in the column `metric`."""
    version: ClassVar[str]
    """Raised whenever a change of the code changes a score."""
    tokenizer: ClassVar[str]
    """What the text is cut into, for the signature."""
    parameters: ClassVar[Mapping[str, str]]
    """Settings that decide the score, for the signature."""
    needs: ClassVar[frozenset[str]]
    """Inputs besides the code: any of "references", "intent", "tests"."""
    paper: ClassVar[str]
    """Where the metric was defined."""
    range: ClassVar[tuple[float, float]]
    """The lowest and the highest score."""
    symmetric: ClassVar[bool]
    """Whether swapping the code and a single reference leaves the segment score as it is."""
    identity: ClassVar[bool]
    """Whether code equal to a reference scores the highest score (for code with at least one token)."""
    order_invariant: ClassVar[bool]
    """Whether the order of the references leaves the segment score as it is."""
    repeat_invariant: ClassVar[bool]
    """Whether giving a reference twice leaves the segment score as it is."""
    both_empty: ClassVar[float]
    """The segment score of an empty text against an empty reference."""
    size_invariant: ClassVar[bool] = True
    """Whether a corpus in which every segment stands twice scores the same; few metrics have it otherwise."""

    @property
    def signature(self) -> str:
        """Name, version, tokenizer and settings, as in `rouge-l|version:1|tokenizer:tranx|beta:1`."""
        settings = {"version": self.version, "tokenizer": self.tokenizer, **self.parameters}
        return "|".join([self.name, *(f"{key}:{value}" for key, value in settings.items())])

    @abstractmethod
    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        """The numbers of one segment, as a 1-d array of floats; they may be summed over segments.

        Raises MissingInput if there are no references, Undefined if a text is longer than LONGEST, TypeError if
        something is not text.
        """

    @abstractmethod
    def score(self, statistics: Statistics) -> float:
        """The corpus score of one row of statistics summed over segments.

        For most metrics the row of a single segment gives the segment score too; where it does not (BLEU),
        `segment_score` differs from `score` and the metric says how.
        """

    def segment_score(self, statistics: Statistics) -> float:
        """The score of one segment's own row of statistics."""
        return self.score(statistics)

    def segment(self, code: str, references: Sequence[str]) -> float:
        """The score of one text against its references; raises as `statistics` does."""
        return self.segment_score(self.statistics(code, references))

    def corpus(self, codes: Sequence[str], list_of_references: Sequence[Sequence[str]]) -> float:
        """The score of a whole corpus: `list_of_references[i]` are the references of `codes[i]`."""
        if len(codes) != len(list_of_references):
            raise ValueError(
                f"There are {len(codes)} codes but {len(list_of_references)} lists of references; "
                "give one list for each code."
            )
        if not codes:
            raise MissingInput(f"{self.name} of a corpus needs at least one code.")
        rows = [self.statistics(*pair) for pair in zip(codes, list_of_references, strict=True)]
        return self.score(np.sum(rows, axis=0))

    def check(self, code: str, references: Sequence[str]) -> None:
        """Raises unless there is one text and at least one reference text, none of them longer than LONGEST."""
        if not isinstance(code, str):
            raise TypeError(f"{self.name}: the code must be text, not {type(code).__name__}.")
        if isinstance(references, str) or not all(isinstance(text, str) for text in references):
            raise TypeError(f"{self.name}: the references must be a list of texts.")
        if not references:
            raise MissingInput(f"{self.name} needs at least one reference.")
        longest = max(map(len, (code, *references)))
        if longest > LONGEST:
            raise Undefined(f"a text has {longest:,} characters; metrics read {LONGEST:,} at most.")


class PairMetric(Metric):
    """A metric of two texts: the best over the references; the corpus score is the mean of the segments.

    Statistics are [score, 1]: their sum is [sum of scores, number of segments].
    """

    order_invariant = True
    repeat_invariant = True

    @abstractmethod
    def pair(self, code: str, reference: str) -> float:
        """The score of one text against one reference."""

    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        self.check(code, references)
        return np.array([max(self.pair(code, text) for text in references), 1.0])

    def score(self, statistics: Statistics) -> float:
        total, count = statistics
        if not count:
            raise MissingInput(f"{self.name} of a corpus needs at least one code.")
        return float(total / count)
