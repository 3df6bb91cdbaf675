"""The slow proofs: python -m scripts.proof [arguments of pytest] (or `make proof`)

Published studies on the public data (where ../shared is there), crashes by kill -9, load. PostgreSQL waits
for the disk here, as in production. The last line is pytest's own.
"""

from __future__ import annotations

import sys

from scripts.run import run, with_services

if __name__ == "__main__":
    with with_services(durable=True) as environment:
        status = run("proofs", ["-m", "pytest", "-m", "proof", "--durations=10", *sys.argv[1:]], environment)
    sys.exit(status)
