"""`manage.py import_study PATH`: a study from its files."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import OperationalError, ProgrammingError
from django.db.models import Count

from annotator.errors import BadInput, CodejuryError
from annotator.grading.models import Annotator, Grade
from annotator.results.console import table_lines
from annotator.results.importing import Imported, Options, import_path
from annotator.studies.models import Snippet, Study, System
from annotator.studies.protocols import protocol_names

MAX_LINES = 200
MAX_WIDTH = 400
HELP = """Imports a study from PATH, which is one of

  a file with one snippet a line (.csv, .jsonl, .json, each also .gz). Columns: problem, system, code; besides
  intent, reference or references (a list), language, sample, image (a path beside the file), image_alt, stratum,
  context, tests, scores (an object, metric to score; or columns score:METRIC), gold or gold_low and gold_high (the
  right answer of an attention check). Rows of the system "reference" are references too. Texts are kept to the
  letter, but for line ends: CR LF becomes LF;

  a replication package with the folder data/to-grade/DATASET (choose with --dataset conala or --dataset hs),
  with the grades of all its graders;

  a file of existing grades (columns problem, system, annotator, grade; besides sample, question, seconds,
  submitted_at, simulated) for the study that --slug names. Rows that an export marks as outside the counts
  (surplus, excluded, not complete, a check) are left out and counted in a note.

Every bad line is reported with its place, and then nothing is imported. The same file again changes nothing.
A study of snippets begins as a draft, one of a package is closed; --open opens it.

Example: manage.py import_study snippets.csv --slug mine --open"""


class Formatter(DjangoHelpFormatter):
    """Keeps the paragraphs of the help."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in text.splitlines())


def setting(text: str) -> tuple[str, Any]:
    """KEY=VALUE, the value as it would stand in the protocol's file; what is no number or truth value is a text."""
    key, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[a-z_]+", key):
        raise ArgumentTypeError(f"takes KEY=VALUE, not {text!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


class Command(BaseCommand):
    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, **(kwargs | {"formatter_class": Formatter}))

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="PATH", type=Path)
        parser.add_argument("--dataset", help="of a replication package: conala or hs")
        parser.add_argument(
            "--slug", help="name of the study in its links: /join/SLUG/ (default: from the file)"
        )
        parser.add_argument("--title", help="what annotators read at the top (default: the protocol's)")
        parser.add_argument(
            "--protocol",
            help=f"one of {', '.join(protocol_names())}, or a .toml file (default: helpfulness, for hs hearthstone)",
        )
        parser.add_argument(
            "--policy", help=f"one of {', '.join(Study.Policy.values)} (default: the protocol's)"
        )
        parser.add_argument(
            "--target", type=int, help="grades wanted for each item (default: the protocol's)"
        )
        parser.add_argument("--seed", type=int, help="of every order and draw (default: a random one, kept)")
        parser.add_argument(
            "--set",
            metavar="KEY=VALUE",
            action="append",
            type=setting,
            help="another key of the protocol, e.g. tasks_per_person=12 or deadline=2026-12-31",
        )
        parser.add_argument("--open", action="store_true", help="take grades at once")

    def handle(self, *args: Any, **options: Any) -> None:
        options["set"] = dict(options["set"] or ())
        chosen = Options(**{name: options[name] for name in Options.__dataclass_fields__})
        try:
            done = import_path(options["path"], chosen)
        except BadInput as error:
            lines = [
                line if len(line) <= MAX_WIDTH else line[:MAX_WIDTH] + " ..."
                for line in error.lines[:MAX_LINES]
            ]
            if len(error.lines) > MAX_LINES:
                lines.append(f"... and {len(error.lines) - MAX_LINES} more.")
            raise CommandError("\n".join([str(error), *lines])) from None
        except CodejuryError as error:
            raise CommandError(str(error)) from None
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(
                f"The database cannot be used ({error}). Has it its tables? Run manage.py first_run."
            ) from None
        self.print_done(done)

    def print_done(self, done: Imported) -> None:
        study = done.study
        added = done.added
        if done.grades is None or added.snippets or added.problems:
            self.stdout.write(
                f"{study.slug}: {added.problems} new problems, {added.systems} new systems, "
                f"{added.snippets} new snippets, {added.items} new items."
            )
        if done.grades is not None:
            self.stdout.write(
                f"{study.slug}: {done.grades.grades} new grades by {done.grades.annotators} new annotators; "
                f"{done.grades.known} were there already."
            )
        self.stdout.write("\n".join(table_lines(["The study now has", ""], counts(study))))
        for sentence in [*study.notes.splitlines(), *done.remarks]:
            self.stdout.write(f"Note: {sentence}")
        self.stdout.write(
            f"It is {study.get_state_display().lower()}. Join: /join/{study.slug}/  Results: /results/{study.slug}/"
        )


def counts(study: Study) -> list[tuple[str, str]]:
    """What a study holds, as rows of name and number."""
    kinds = dict(study.systems.values_list("kind").annotate(number=Count("id")))
    snippets = Snippet.objects.filter(problem__study=study)
    grades = Grade.objects.filter(assignment__annotator__study=study, complete=True)
    kind = "assignment__item__snippet__system__kind"
    rows = {
        "problems": study.problems.count(),
        "systems": kinds.get(System.Kind.GENERATED, 0),
        "snippets of systems": snippets.filter(system__kind=System.Kind.GENERATED).count(),
        "reference snippets": snippets.filter(system__kind=System.Kind.REFERENCE).count(),
        "items to grade": study.item_count,
        "annotators": Annotator.objects.filter(study=study).count(),
        "grades of system snippets": grades.filter(**{kind: System.Kind.GENERATED}).count(),
        "grades of reference snippets": grades.filter(**{kind: System.Kind.REFERENCE}).count(),
    }
    return [(name, f"{number:,}") for name, number in rows.items()]
