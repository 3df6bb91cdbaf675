"""`manage.py change_protocol S FILE.toml`: another wording, under a new version."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotator.errors import BadInput
from annotator.results.console import StudyCommand
from annotator.studies import actions
from annotator.studies.access import get_study_by_slug
from annotator.studies.protocol_reader import protocol_text


class Command(StudyCommand):
    help = (
        "Gives the study S the protocol of FILE (a .toml file, or the name of a shipped one) under a new version, "
        "which grades from then on name. Once a study was open its policy, target, items, questions and scales stay. "
        "With --print: writes the protocol that the study has, to be changed in a file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", metavar="FILE", nargs="?")
        parser.add_argument("--print", action="store_true", help="write the present protocol")

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        if options["print"]:
            self.stdout.write(study.protocol_source)
            return
        if not options["file"]:
            raise CommandError("Give the FILE with the new protocol, or --print.")
        name, source = protocol_text(options["file"])
        try:
            actions.change_protocol(study, source, name)
        except BadInput as error:
            raise CommandError("\n".join([str(error), *error.lines])) from None
        self.stdout.write(
            f"{study.slug} follows version {study.protocol_version} of its protocol from now on."
        )
