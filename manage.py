#!/usr/bin/env python
"""Command line of the app: `python manage.py help` lists the commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as error:
        sys.exit(
            f"Django is not installed in this Python ({error}). Run `make setup` and use .venv/bin/python."
        )
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
