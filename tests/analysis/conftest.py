"""Files that several tests of analysis read."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import columns
from tests.analysis.reports_of import FORMULA, study
from tests.analysis.tables_of import grades_of, scores_of


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with grades.csv and scores.csv."""
    folder = tmp_path_factory.mktemp("files")
    grades, scores = study(systems=("alpha", FORMULA))
    columns.write_csv(grades_of(grades), folder / "grades.csv")
    columns.write_csv(scores_of(scores), folder / "scores.csv")
    return folder
