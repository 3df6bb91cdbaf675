#!/usr/bin/env python
"""Command line of the app: `python manage.py help` lists the commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db.utils import DatabaseError
    except ImportError as error:
        sys.exit(
            f"Django is not installed in this Python ({error}). Run `make setup` and use .venv/bin/python."
        )
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except BrokenPipeError:
        # Whoever read the output, `head` say, has gone: no more is written, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except DatabaseError as error:
        if "--traceback" in sys.argv:
            raise
        reason = " ".join(str(error).split())
        missing = "no such table" in reason or "does not exist" in reason
        hint = (
            "Make its tables: manage.py migrate." if missing else "Run it again with --traceback for details."
        )
        sys.exit(f"The database did not do it: {reason}. {hint}")


if __name__ == "__main__":
    main()
