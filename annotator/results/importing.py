"""Strings the apps' importers together: from a path to a study with its material and its grades, all or nothing."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from analysis.columns import plain_cell
from annotator.errors import BadInput
from annotator.grading.importer import COLUMNS, AddedGrades, GradeData, add_grades, read_grade_rows
from annotator.studies import actions
from annotator.studies.access import get_study_by_slug
from annotator.studies.importer import Material, material_of, unused
from annotator.studies.models import Study
from annotator.studies.package import PackageGrade, data_folder, read_package
from annotator.studies.protocol_reader import load_protocol
from annotator.studies.tabular import Row, read_rows

PROTOCOLS = {"hs": "hearthstone"}
"""Data set of the package -> its protocol; all others, and files of snippets, follow DEFAULT_PROTOCOL."""
DEFAULT_PROTOCOL = "helpfulness"


@dataclass(frozen=True)
class Options:
    """What the researcher asked for; None = the default, or for a known study what it has."""

    dataset: str | None = None
    slug: str | None = None
    title: str | None = None
    protocol: str | None = None
    policy: str | None = None
    target: int | None = None
    seed: int | None = None
    set: Mapping[str, Any] | None = None
    open: bool = False


@dataclass
class Imported:
    """What an import did. `grades` is None where the files hold none."""

    study: Study
    added: actions.Added
    grades: AddedGrades | None = None
    remarks: list[str] = field(default_factory=list)
    is_new: bool = False


def import_path(path: Path, options: Options) -> Imported:
    """Import a package, a file of snippets or a file of grades. Raises CodejuryError; then nothing is stored."""
    if options.slug is not None:
        actions.check_slug(options.slug)
    if is_folder(path):
        return _import_package(path, options)
    if options.dataset:
        raise BadInput("--dataset chooses a data set of a replication package, and PATH is a file.")
    rows = read_rows(path)
    columns = {column for row in rows for column in row.cells}
    if {"annotator", "grade"} <= columns and "code" not in columns:
        return _import_grades(rows, path, options)
    material = material_of(rows, path)
    slug = options.slug or default_slug(path.name.split(".")[0])
    with transaction.atomic():
        done = _import_material(slug, material, options, DEFAULT_PROTOCOL, title=options.title or "")
        if options.open and done.study.state == Study.State.DRAFT:
            actions.open_study(done.study)
    return done


def is_folder(path: Path) -> bool:
    """Whether the path is a folder. Raises BadInput if nothing is there or it cannot be looked at."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise BadInput(f"There is no file or folder {path}.") from None
    except OSError as error:
        raise BadInput(f"Cannot read {path}: {error.strerror}.") from error


def default_slug(name: str) -> str:
    """A slug from the name of a file. Raises BadInput if nothing of it can stand in a link."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:60].strip("-")
    if not slug:
        raise BadInput(f"No link can be made of the name {name!r}. Choose one with --slug.")
    return slug


def _import_package(path: Path, options: Options) -> Imported:
    if data_folder(path) is None and (path / "manage.py").exists():
        raise BadInput(f"{path} is this project, not a package. Give the folder of the data.")
    package = read_package(path, options.dataset)
    slug = options.slug or default_slug(package.dataset)
    protocol = PROTOCOLS.get(package.dataset, DEFAULT_PROTOCOL)
    with transaction.atomic():
        done = _import_material(slug, package.material, options, protocol, title=options.title or "")
        done.grades = add_grades(done.study, _package_grades(package.grades, done.study))
        if options.open and done.study.state != Study.State.OPEN:
            actions.open_study(done.study)
        elif done.is_new:
            actions.close_study(done.study)
    return done


def _package_grades(grades: Iterable[PackageGrade], study: Study) -> list[GradeData]:
    question = study.read_protocol().scaled[0].key
    return [
        GradeData(
            each.problem, each.system, each.sample, each.annotator, question, float(each.grade), each.place
        )
        for each in grades
    ]


def _import_material(
    slug: str, material: Material, options: Options, protocol: str, *, title: str
) -> Imported:
    """A new study with the material; or, for a known slug, what is new of it."""
    study = Study.objects.filter(slug=slug).first()
    is_new = study is None
    if study is None:
        study = actions.create_study(
            slug,
            title,
            options.protocol or protocol,
            policy=options.policy,
            target=options.target,
            seed=options.seed,
            settings=options.set,
        )
    else:
        check_same(study, options)
    added = actions.add_material(study, material)
    return Imported(study, added, remarks=list(material.remarks), is_new=is_new)


def check_same(study: Study, options: Options) -> None:
    """Raises BadInput if the options ask a known study to become another."""
    wanted: dict[str, tuple[object, object]] = {
        "title": (options.title or None, study.title),
        "protocol": (options.protocol and load_protocol(options.protocol)["name"], study.protocol_name),
        "policy": (options.policy, study.policy),
        "target": (options.target, study.target),
        "seed": (options.seed, study.seed),
        **{f"set {key}": (value, study.protocol.get(key)) for key, value in (options.set or {}).items()},
    }
    differing = [
        f"--{name} {asked} (it has {has})"
        for name, (asked, has) in wanted.items()
        if asked not in (None, has)
    ]
    if differing:
        raise BadInput(
            f"The study {study.slug!r} is there already, and {', '.join(differing)} would change it. "
            "Leave that out, or make another study with --slug."
        )


def _import_grades(rows: list[Row], path: Path, options: Options) -> Imported:
    if not options.slug:
        raise BadInput(f"{path.name} holds grades: say of which study with --slug.")
    study = get_study_by_slug(options.slug)
    check_same(study, options)
    if path.name.removesuffix(".gz").endswith(".csv"):
        # Our own exports guard cells against spreadsheets: undo it.
        rows = [Row(row.place, {name: _plain(cell) for name, cell in row.cells.items()}) for row in rows]
    grades = read_grade_rows(rows, path.name, study.read_protocol())
    unknown = [
        name for name in dict.fromkeys(name for row in rows for name in row.cells) if name not in COLUMNS
    ]
    with transaction.atomic():
        done = Imported(study, actions.Added(0, 0, 0, 0), add_grades(study, grades))
        done.remarks += [unused(unknown)] if unknown else []
        if len(grades) < len(rows):
            done.remarks.append(
                f"{len(rows) - len(grades)} rows were left out: the file marks them as surplus, excluded, incomplete, "
                "or a check."
            )
        if options.open and study.state != Study.State.OPEN:
            actions.open_study(study)
    return done


def _plain(cell: object) -> object:
    return plain_cell(cell) if isinstance(cell, str) else cell
