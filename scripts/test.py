"""Every check and test: python -m scripts.test [arguments of pytest] (or `make test`)

Style and types; the tests of analysis and metrics, and beside them all others on SQLite, the browser's among them; the
tests of the web app again on PostgreSQL with Redis. With arguments for pytest the style checks are left out. The last
line is pytest's own.
"""

from __future__ import annotations

import sys

from scripts.lint import lint
from scripts.run import NO_TESTS, beside, run, with_services

PURE = ("tests/analysis", "tests/metrics")
"""They need neither database nor browser, and run beside the others."""


def main(arguments: list[str]) -> int:
    with with_services() as environment:
        failed = [] if arguments else lint()
        if arguments:
            sqlite = run("tests on SQLite", ["-m", "pytest", *arguments], environment)
        else:
            with beside("tests of the packages alone", ["-m", "pytest", *PURE], environment) as pure:
                others = [f"--ignore={folder}" for folder in PURE]
                sqlite = run("tests on SQLite", ["-m", "pytest", *others], environment)
            if pure != [0]:
                failed.append("tests of the packages alone")
        if sqlite not in (0, NO_TESTS):
            failed.append("tests on SQLite")
        if failed:
            print(f"\n== FAILED so far: {', '.join(failed)}", flush=True)
        postgres = run(
            "tests on PostgreSQL with Redis",
            ["-m", "pytest", "-m", "web", *arguments],
            environment | {"CODEJURY_TEST_ON": "postgresql"},
        )
        if postgres == NO_TESTS and arguments and sqlite == 0:
            postgres = 0  # the chosen tests are none of the web app's
    return 1 if failed or sqlite or postgres else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
