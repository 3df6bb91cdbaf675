"""`manage.py exclude S RULE`: whose grades analysis leaves out. A look first; --apply, and --undo, change it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis import quality
from annotator.grading import actions
from annotator.grading.models import Exclusion
from annotator.results import research
from annotator.results.console import StudyCommand, table_lines
from annotator.studies.access import get_study_by_slug
from annotator.studies.models import Study


class Command(StudyCommand):
    help = (
        "Shows whom a rule would leave out of the study S, and why; with --apply it does so, which --undo N takes "
        "back. Grades are never deleted. Without a rule: the rules there are, and the exclusions that stand. "
        "Example: manage.py exclude mine published; manage.py exclude mine failed_checks --set failed=2 --apply"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("rule", metavar="RULE", nargs="?", help=", ".join(quality.RULES))
        parser.add_argument(
            "--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the rule"
        )
        parser.add_argument("--apply", action="store_true", help="leave them out from now on")
        parser.add_argument("--reopen", action="store_true", help="with --apply: give their slots to others")
        parser.add_argument("--undo", type=int, metavar="N", help="take the exclusion number N back")

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        if options["undo"] is not None:
            self.undo(study, options["undo"])
        elif options["rule"] is None:
            self.show(study)
        else:
            self.use(study, options)

    def show(self, study: Study) -> None:
        for rule in quality.RULES.values():
            self.stdout.write(f"{rule.name}: {rule.description}")
            for key, parameter in rule.parameters.items():
                self.stdout.write(f"    {key}={parameter.default}  {parameter.text}")
        for exclusion in study.exclusions.all():
            state = f"undone {exclusion.undone_at:%Y-%m-%d %H:%M}" if exclusion.undone_at else "stands"
            self.stdout.write(
                f"Exclusion {exclusion.pk} by {exclusion} of {exclusion.created_at:%Y-%m-%d %H:%M} {state}: "
                f"{', '.join(exclusion.reasons)}"
            )

    def use(self, study: Study, options: dict[str, Any]) -> None:
        parameters = dict(_pair(text) for text in options["set"])
        if not options["apply"]:
            found, exclusion = research.preview_rule(study, options["rule"], parameters), None
        else:
            found, exclusion = research.apply_rule(
                study, options["rule"], parameters, reopen=options["reopen"]
            )
        rows = [tuple(_text(value) for value in row) for row in found.table.itertuples(index=False)]
        self.stdout.write("\n".join(table_lines(list(found.table.columns), rows)))
        for note in found.notes:
            self.stdout.write(f"Note: {note}")
        count = int(found.table["excluded"].sum())
        if exclusion is not None:
            self.stdout.write(
                f"Exclusion {exclusion.pk}: the grades of {count} annotators are left out from now on."
            )
        elif options["apply"]:
            self.stdout.write("The rule leaves nobody out: nothing changed.")
        else:
            self.stdout.write(f"The rule would leave out {count}. Nothing changed: --apply does it.")

    def undo(self, study: Study, number: int) -> None:
        exclusion = Exclusion.objects.filter(study=study, pk=number).first()
        if exclusion is None:
            raise CommandError(
                f"{study.slug} has no exclusion {number}. Without a rule this command lists them."
            )
        surplus = actions.undo_exclusion(exclusion)
        self.stdout.write(
            f"Exclusion {number} is undone; {surplus} grades are surplus now: their slots were given away."
        )


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set takes KEY=VALUE, not {text!r}.")
    return key.strip(), value.strip()


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)
