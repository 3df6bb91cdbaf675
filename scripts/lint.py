"""Style, types and migrations: python -m scripts.lint (or `make lint`)"""

from __future__ import annotations

import sys

from scripts.run import run
from scripts.services import ROOT

STEPS = {
    "style": ["-m", "ruff", "check", "."],
    "format": ["-m", "ruff", "format", "--check", "."],
    "types": ["-m", "mypy"],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    "settings": ["manage.py", "check"],
}


def lint() -> list[str]:
    """Runs every step and returns the names of those that failed."""
    environment = {"VAR_DIR": str(ROOT / ".cache" / "lint")}
    return [title for title, command in STEPS.items() if run(title, command, environment)]


if __name__ == "__main__":
    failed = lint()
    sys.exit(f"Failed: {', '.join(failed)}" if failed else 0)
