"""kill -9 on the whole worker in the middle of a job: started again, it finishes, every score once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2  # type: ignore[import-untyped]
import pytest

import metrics
from tests.environment import ROOT
from tests.serving import manage, shell, wait_until

pytestmark = pytest.mark.proof
PROBLEMS, SYSTEMS, KILLS = 180, ("a", "b", "c"), 3
LINE = "    total_{0} = sum(value * {0} for value in values if value > {0})  # problem {1}, {2}"

MAKE_STUDY = f"""
from annotator.studies.models import Problem, Snippet, System
from tests.factories import make_study
study = make_study("kill", problems={PROBLEMS}, systems={SYSTEMS!r}, references=2)
for snippet in Snippet.objects.select_related("system", "problem"):
    name = snippet.system.name + str(snippet.sample)
    lines = [{LINE!r}.format(number, snippet.problem.key, name) for number in range(40)]
    Snippet.objects.filter(pk=snippet.pk).update(code="\\n".join(["def work(values):", *lines]))
"""
START_JOB = """
from annotator.results import actions
from annotator.studies.models import Study
actions.start_job(Study.objects.get(), "metrics")
"""


class Deployment:
    """One database, one broker, and a worker that can be killed with all its processes."""

    def __init__(self, environment: dict[str, str], database: str) -> None:
        self.environment, self.database = environment, database
        self.worker: subprocess.Popen[bytes] | None = None

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        connect: Any = psycopg2.connect if self.database.startswith("postgres") else sqlite3.connect
        with closing(connect(self.database)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def parts(self) -> dict[str, int]:
        return dict(self.query("SELECT state, count(*) FROM results_jobpart GROUP BY state"))

    def start_worker(self) -> None:
        options = ["--quiet", "worker", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
        self.worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "annotator.celery", *options],
            cwd=ROOT,
            env=self.environment,
            start_new_session=True,
        )

    def kill_worker(self) -> None:
        if self.worker is not None:
            os.killpg(self.worker.pid, signal.SIGKILL)
            self.worker.wait()
            self.worker = None


@pytest.fixture
def deployment(own_environment: dict[str, str], tmp_path: Path) -> Iterator[Deployment]:
    often = {"JOB_LEASE_SECONDS": "3", "JOB_SWEEP_SECONDS": "1", "WORKER_CONCURRENCY": "2"}
    database = own_environment.get("DATABASE_URL", str(tmp_path / "var" / "codejury.sqlite3"))
    made = Deployment(own_environment | often, database)
    yield made
    made.kill_worker()


def test_kill_9_in_the_middle_of_a_job(deployment: Deployment) -> None:
    manage(deployment.environment, "migrate", "--verbosity", "0")
    shell(deployment.environment, MAKE_STUDY)
    shell(deployment.environment, START_JOB)
    count = sum(deployment.parts().values())
    assert count >= 2 * KILLS

    for number in range(1, KILLS + 1):
        deployment.start_worker()
        wait_until(
            lambda number=number: (
                deployment.parts().get("done", 0) >= number and "running" in deployment.parts()
            ),
            f"part {number} done and another one running",
        )
        deployment.kill_worker()
        assert deployment.parts().get("done", 0) < count, "the job was over before the worker was killed"

    deployment.start_worker()
    wait_until(lambda: deployment.parts() == {"done": count}, "all parts done")
    assert deployment.query("SELECT state, error FROM results_job") == [("done", "")]
    [(again,)] = deployment.query("SELECT count(*) FROM results_jobpart WHERE attempts > 1")
    assert again >= 1, "no part was in work when the worker was killed"

    scores = deployment.query(
        "SELECT s.snippet_id, s.metric, s.score, n.code, n.problem_id "
        "FROM results_metricscore s JOIN studies_snippet n ON n.id = s.snippet_id"
    )
    assert len(scores) == PROBLEMS * len(SYSTEMS) * len(metrics.defaults())
    assert len({score[:2] for score in scores}) == len(scores)
    references: dict[int, list[str]] = {}
    for problem, code in deployment.query(
        "SELECT n.problem_id, n.code FROM studies_snippet n JOIN studies_system y ON y.id = n.system_id "
        "WHERE y.kind = 'reference' ORDER BY n.sample"
    ):
        references.setdefault(problem, []).append(code)
    for _, metric, score, code, problem in scores[::17]:
        assert score == metrics.get(metric).segment(code, references[problem])
