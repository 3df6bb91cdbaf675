"""The replication package of "Out of the BLEU" (Evtikhiev et al., arXiv:2208.03133): its problems and its grades.

Layout: `data/to-grade/DATASET/` holds DATASET.json (problems and the systems' snippets), graderN.DATASET.json (the
raw grades of one grader) and DATASET-human-grades.json (all grades by grader, rows of equal intent merged); problems
without an intent are shown by `data/datasets/DATASET_cards/ROW.png`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotator.errors import BadInput
from annotator.studies.images import checked_image
from annotator.studies.importer import REFERENCE, Material, ProblemData, SnippetData
from annotator.studies.tabular import read_text, unfit

SKIPPED = -1
MAX_GRADE = 1000
MAX_NAME = 100
CARD_NAMES = {"hs": "Hearthstone card"}
HUMAN = "snippet"
"""The key under which the package keeps the human-written code of a row, and `grade-snippet` its grades."""


@dataclass(frozen=True)
class PackageGrade:
    """One grader's grade of one snippet; `place` says where it was read."""

    problem: str
    system: str
    annotator: str
    grade: int
    place: str
    sample: int = 0


@dataclass
class Package:
    dataset: str
    material: Material
    grades: list[PackageGrade] = field(default_factory=list)


Cells = dict[tuple[str, str], dict[str, int]]
"""(intent or row number, system) -> grader -> grade, of what was read from one or several files."""


def data_folder(path: Path) -> Path | None:
    """The folder that holds `to-grade`, if `path` is a package or its data folder."""
    return next((folder for folder in (path / "data", path) if (folder / "to-grade").is_dir()), None)


def read_package(path: Path, dataset: str | None) -> Package:
    """The material and the grades of one data set of the package. Raises BadInput with every bad row."""
    data = data_folder(path)
    if data is None:
        raise BadInput(
            f"{path} is no replication package: it has no folder data/to-grade. To import snippets, name a file."
        )
    known = sorted(folder.name for folder in (data / "to-grade").iterdir() if folder.is_dir())
    if not known:
        raise BadInput(f"The package holds no data set: {data / 'to-grade'} has no folders.")
    if dataset is None and len(known) == 1:
        dataset = known[0]
    if dataset not in known:
        asked = f"has no data set {dataset!r}" if dataset else "has several data sets"
        raise BadInput(
            f"The package {asked}. Choose one: " + " or ".join(f"--dataset {name}" for name in known) + "."
        )
    reader = _PackageReader(data, str(dataset))
    package = reader.read()
    if reader.bad:
        raise BadInput(f"The package cannot be used: {len(reader.bad)} bad rows.", reader.bad)
    return package


class _PackageReader:
    def __init__(self, data: Path, dataset: str) -> None:
        self.data, self.dataset, self.folder = data, dataset, data / "to-grade" / dataset
        self.bad: list[str] = []
        self.package = Package(dataset, Material())

    def read(self) -> Package:
        merged = self.folder / f"{self.dataset}-human-grades.json"
        graders = sorted(
            self.folder.glob(f"grader*.{self.dataset}.json"), key=lambda path: (len(path.name), path.name)
        )
        if merged.is_file():
            rows = self.load(merged)
            self.add_rows(rows, merged.name)
            self.add_merged_grades(rows, merged.name)
            self.compare_raw(rows, graders)
        else:
            plain = self.folder / f"{self.dataset}.json"
            sources = [plain] if plain.is_file() else graders[:1]
            if not sources:
                raise BadInput(f"{self.folder} holds neither {merged.name} nor {plain.name}.")
            rows = self.merge_by_intent(self.load(sources[0]), sources[0].name)
            self.add_rows(rows, sources[0].name)
            self.add_raw_grades(rows, graders)
        self.note_references()
        return self.package

    def load(self, path: Path) -> list[dict[str, Any]]:
        try:
            rows = json.loads(read_text(path))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path.name} is not JSON: {error}.") from error
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise BadInput(f"{path.name} must hold a list of objects.")
        for name in dict.fromkeys(name for row in rows for name in row):
            if unfit(name, MAX_NAME):
                raise BadInput(f"{path.name}: the name {name!r:.60} {unfit(name, MAX_NAME)}")
        return rows

    def systems(self, rows: list[dict[str, Any]]) -> list[str]:
        """Keys with code; in a graded file those that have grades (numbers are metric values)."""
        texts = {key for row in rows for key, value in row.items() if isinstance(value, str)}
        texts -= {"intent", HUMAN}
        graded = {name for name in texts for row in rows if f"grade-{name}" in row}
        return sorted(graded or texts)

    def add_rows(self, rows: list[dict[str, Any]], name: str) -> None:
        """Problems are named by their row, counted from 0; the order of systems in the file is of no account."""
        self.names = self.systems(rows)
        if not self.names:
            raise BadInput(f"{name}: no row holds the code of a system.")
        for system in self.names:
            # In files of snippets and of grades any spelling of it means the references.
            if system.strip().lower() == REFERENCE:
                raise BadInput(f"{name}: no system can be called {system!r}. Rename it in the files.")
        for number, row in enumerate(rows):
            place = f"{name}, row {number}"
            try:
                self.add_problem(str(number), row, place)
                self.add_codes(str(number), row, place)
            except ValueError as error:
                self.bad.append(f"{place}: {error}")

    def add_problem(self, key: str, row: dict[str, Any], place: str) -> None:
        problem = ProblemData(key, intent=_text(row.get("intent", "")), place=place)
        cards = self.data / "datasets" / f"{self.dataset}_cards"
        if not problem.intent and cards.is_dir():
            problem.image = checked_image(cards, f"{key}.png")
            problem.image_alt = f"{CARD_NAMES.get(self.dataset, 'Card')} {int(key) + 1}"
        elif not problem.intent:
            raise ValueError(f"no intent, and no card {cards.name}/{key}.png: nothing to judge by.")
        self.package.material.problems[key] = problem

    def add_codes(self, key: str, row: dict[str, Any], place: str) -> None:
        human = row.get(HUMAN, [])
        codes = [
            (REFERENCE, sample, code)
            for sample, code in enumerate(human if isinstance(human, list) else [human])
        ]
        codes += [(system, 0, row[system]) for system in self.names if system in row]
        self.package.material.snippets += [
            SnippetData(key, system, sample, _text(code), "python", place, system == REFERENCE)
            for system, sample, code in codes
        ]

    def add_merged_grades(self, rows: list[dict[str, Any]], name: str) -> None:
        for number, row in enumerate(rows):
            for system in [*self.names, HUMAN]:
                given = row.get(f"grade-{system}", {})
                place = f"{name}, row {number}"
                if not isinstance(given, dict):
                    self.bad.append(f"{place}: the grades of {system} are no object of graders and grades.")
                    continue
                for grader, grade in given.items():
                    self.add_grade(str(number), system, grader, grade, place)

    def add_grade(self, problem: str, system: str, grader: str, grade: Any, place: str) -> None:
        if grade == SKIPPED:
            return
        if unfit(grader, MAX_NAME) or not grader.strip():
            self.bad.append(f"{place}: {grader!r:.60} cannot be the name of a grader.")
            return
        if not isinstance(grade, int) or isinstance(grade, bool) or abs(grade) > MAX_GRADE:
            self.bad.append(
                f"{place}: the grade of {grader} for {system} is not on any scale: {grade!r:.60}."
            )
            return
        name = REFERENCE if system == HUMAN else system
        self.package.grades.append(PackageGrade(problem, name, grader, grade, place))

    def merge_by_intent(self, rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        """Rows of one intent become one problem with all their references; a row without an intent stays alone."""
        systems = self.systems(rows)
        merged: dict[str, dict[str, Any]] = {}
        other: list[str] = []
        for number, row in enumerate(rows):
            key = str(row.get("intent") or number)
            known = merged.setdefault(key, {**row, HUMAN: []})
            other += [
                f"{system} in row {number}" for system in systems if row.get(system) != known.get(system)
            ]
            human = row.get(HUMAN)
            for code in human if isinstance(human, list) else [human]:
                if code is not None and code not in known[HUMAN]:
                    known[HUMAN].append(code)
        if other:
            self.package.material.notes.append(
                f"{name}: rows of the same intent were merged. Where their code differs ({', '.join(other)}), that of "
                "the first row stands."
            )
        return list(merged.values())

    def raw_cells(self, graders: list[Path]) -> tuple[Cells, int]:
        """The graders' own files by intent. Of two rows of one intent the first grade stands; how many differ."""
        cells: Cells = {}
        differing = 0
        for path in graders:
            grader = path.name.split(".")[0]
            for number, row in enumerate(self.load(path)):
                key = str(row.get("intent") or number)
                for system in [*self.names, HUMAN]:
                    grade = row.get(f"grade-{system}", SKIPPED)
                    if grade == SKIPPED:
                        continue
                    first = cells.setdefault((key, system), {}).setdefault(grader, grade)
                    differing += first != grade
        return cells, differing

    def add_raw_grades(self, rows: list[dict[str, Any]], graders: list[Path]) -> None:
        if not graders:
            return
        cells, differing = self.raw_cells(graders)
        for number, row in enumerate(rows):
            key = str(row.get("intent") or number)
            for system in [*self.names, HUMAN]:
                for grader, grade in cells.get((key, system), {}).items():
                    self.add_grade(
                        str(number), system, grader, grade, f"{grader}.{self.dataset}.json, {key!r:.60}"
                    )
        if differing:
            self.package.material.notes.append(
                f"Rows of the same intent were merged. Where a grader graded both and differently ({differing} times), "
                "the first grade stands."
            )

    def compare_raw(self, rows: list[dict[str, Any]], graders: list[Path]) -> None:
        """Say how far the graders' own files agree with the merged file, which is the one that is taken."""
        if not graders:
            return
        cells, differing = self.raw_cells(graders)
        intents = {str(number): str(row.get("intent") or number) for number, row in enumerate(rows)}
        names = {REFERENCE: HUMAN}
        same = other = missing = 0
        for grade in self.package.grades:
            raw = cells.get((intents[grade.problem], names.get(grade.system, grade.system)), {}).get(
                grade.annotator
            )
            same, other, missing = (
                same + (raw == grade.grade),
                other + (raw not in (None, grade.grade)),
                missing + (raw is None),
            )
        self.package.material.remarks.append(
            f"The graders' own files: {same} grades are the same as in the merged file, {other} differ and "
            f"{missing} are not there. They differ where rows of one intent were merged ({differing} pairs have "
            "two grades); the merged file was taken."
        )

    def note_references(self) -> None:
        counts: dict[str, int] = {}
        for snippet in self.package.material.snippets:
            if snippet.is_reference:
                counts[snippet.problem] = counts.get(snippet.problem, 0) + 1
        several = [key for key, count in counts.items() if count > 1]
        graded = {grade.problem for grade in self.package.grades if grade.system == REFERENCE}
        if graded & set(several):
            self.package.material.notes.append(
                f"{len(several)} problems have several references, and the package keeps one grade for all of them: "
                "it cannot be told which reference was graded. The grades stand at the first "
                f"(problems {', '.join(several)})."
            )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {value!r:.60}.")
    if unfit(value):
        raise ValueError(f"a text {unfit(value)}")
    return value.replace("\r\n", "\n")
