"""The sandbox: what it refuses, where it is missing, which Python and which user it runs with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metrics.execution import IOTest, run_all
from metrics.sandbox import Limits, SandboxMissing, TooLong, find_interpreter, run, why_missing
from tests.environment import ROOT


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("text", ["", "é\n\U0001f600", "x" * 900_000, "\udcff", "\0"])
def test_any_text_arrives_as_input(text: str) -> None:
    program = "import sys\nprint(len(sys.stdin.buffer.read()))"
    assert run(program, stdin=text).stdout == f"{len(text.encode('utf-8', 'surrogatepass'))}\n"


@pytest.mark.usefixtures("sandbox")
def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(TooLong, match="at most 10 are run"):
        run("x" * 11, limits=Limits(source_characters=10))
    with pytest.raises(ValueError, match="must be a name"):
        run("", test="", entry_point="f) or (1")


@pytest.mark.usefixtures("sandbox")
def test_too_little_time_to_start_is_a_timeout() -> None:
    outcome = run("print(1)", limits=Limits(seconds=1e-6))
    assert outcome.status == "timeout"
    assert outcome.why == "It took longer than 1e-06 seconds."


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"memory": -1}, {"seconds": float("inf")}])
def test_limits_are_numbers_above_0(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a number above 0"):
        Limits(**limits)


@pytest.mark.usefixtures("sandbox")
def test_no_open_file_is_left_behind() -> None:
    run("print(1)")
    before = len(list(Path("/proc/self/fd").iterdir()))
    run_all([IOTest("while True:\n    print(1)", "", "")] * 3 + [IOTest("print(1)", "2", "1")] * 3, jobs=2)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.fixture
def forgotten() -> Iterator[None]:
    """What was found out about the sandbox is forgotten before and after."""
    why_missing.cache_clear()
    yield
    why_missing.cache_clear()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the ordinary user whom bubblewrap runs as can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="codejury-tests-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def refused() -> str:
    """The sentence with which everything that would run a program refuses."""
    with pytest.raises(SandboxMissing) as single:
        run("print(1)")
    with pytest.raises(SandboxMissing) as batch:
        run_all([IOTest("print(1)", "", "1")])
    assert str(single.value) == str(batch.value) == why_missing()
    return why_missing()


@pytest.mark.usefixtures("forgotten")
def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "bwrap is not installed here" in refused()
    assert "apt-get install bubblewrap" in refused()


@pytest.mark.usefixtures("forgotten")
def test_elsewhere_than_on_linux_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in refused()


@pytest.mark.usefixtures("forgotten", "sandbox")
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions to create"),
        ("exit 1", "no reason is known"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "is not locked in"),
    ],
)
def test_where_bubblewrap_does_not_work_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, open_folder: Path, source: str, reason: str
) -> None:
    fake = open_folder / "bwrap"
    fake.write_text(f"#!/bin/sh\n{source}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{open_folder}:{os.environ['PATH']}")
    why_missing.cache_clear()
    assert reason in refused()


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("path", ["/nonexistent/bin/python3", "/usr/bin/nonexistent", "/usr/bin/true"])
def test_an_interpreter_that_does_not_run_is_a_sentence(path: str) -> None:
    with pytest.raises(SandboxMissing) as refusal:
        run("print(1)", interpreter=Path(path))
    assert re.match(r"The sandbox does not start here \(.+\)\. It needs", str(refusal.value))


@pytest.mark.usefixtures("sandbox")
def test_another_interpreter_can_be_chosen(open_folder: Path) -> None:
    # A prefix outside /usr: it is bound read-only, nothing beside it is seen.
    prefix = open_folder / "prefix"
    (prefix / "bin").mkdir(parents=True)
    system = Path("/usr/bin/python3").resolve()
    if not system.exists():
        pytest.skip("there is no Python in /usr/bin to copy")
    shutil.copy(system, prefix / "bin" / "python3")
    (prefix / "lib").symlink_to("/usr/lib")
    (open_folder / "beside").touch()
    program = (
        "import os, sys\nprint(sys.executable, os.listdir(sys.argv[0] and os.path.dirname(sys.prefix)))\n"
        "try:\n    open(sys.prefix + '/x', 'w')\nexcept OSError as error:\n    print(error.strerror)"
    )
    outcome = run(program, interpreter=prefix / "bin" / "python3")
    assert outcome.stdout == f"{prefix}/bin/python3 ['prefix']\nRead-only file system\n", outcome.stderr


@pytest.mark.usefixtures("sandbox")
@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
def test_an_ordinary_user_has_the_same_sandbox(open_folder: Path) -> None:
    for name in ("sandbox.py", "sandbox_stub.py"):
        shutil.copy(ROOT / "metrics" / name, open_folder)
    forks = "import os, time\ntry:\n    while True:\n        os.fork() or time.sleep(60)\nexcept OSError:\n    print(1)"
    source = (
        "import os, sandbox\nprint(os.geteuid(), repr(sandbox.why_missing()), sandbox.run('print(42)').stdout)\n"
        f'print(sandbox.run({forks!r}).status, sandbox.run(\'open("/usr/x", "w")\').status)\n'
    )
    done = subprocess.run(
        [find_interpreter(), "-c", source],
        cwd=open_folder,
        user=65534,
        group=65534,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "65534 '' 42\n\ndone error\n", done.stderr
