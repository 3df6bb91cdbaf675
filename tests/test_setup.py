"""`make setup` where something is missing, and the tests' servers when the tests are killed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import services
from tests.environment import NEEDS, ROOT

OLD = '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n'
BARE = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; *version_info\\[*) echo 3.11;; esac\nexit 0\n'


def fake_python(folder: Path, source: str) -> Path:
    path = folder / "python3"
    path.write_text(source)
    path.chmod(0o755)
    return path


def set_up(folder: Path, python: Path) -> subprocess.CompletedProcess[str]:
    """Runs scripts/setup in a project folder of its own, with nothing but basic tools on PATH."""
    project = folder / "a project"
    (project / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup", project / "scripts")
    tools = folder / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "rm"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    return subprocess.run(
        ["sh", "scripts/setup", "requirements.txt"],
        cwd=project,
        env={"PATH": str(tools), "PYTHON": str(python)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_old_python_is_a_sentence(tmp_path: Path) -> None:
    done = set_up(tmp_path, fake_python(tmp_path, OLD))
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "is Python 3.9.2" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_python_is_a_sentence(tmp_path: Path) -> None:
    done = set_up(tmp_path, tmp_path / "nothing")
    assert done.returncode != 0
    assert "is not installed" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_python_without_venv_is_a_sentence(tmp_path: Path) -> None:
    done = set_up(tmp_path, fake_python(tmp_path, BARE))
    assert done.returncode != 0
    assert "apt-get install python3-venv" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_make_alone_prints_the_targets() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for target in ("setup", "run", "test", "proof", "bench", "lint", "format", "clean"):
        assert f"  make {target} " in done.stdout


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that the user of PostgreSQL can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="codejury-tests-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def port_answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("service", ["redis", "postgres"])
def test_a_server_ends_with_the_process_that_started_it(service: str, open_folder: Path) -> None:
    missing = services.find_redis() is None if service == "redis" else services.find_postgres() is None
    if missing:
        pytest.skip(f"{NEEDS}{service}: `make test` gets it")
    source = (
        f"import time\nfrom scripts import services\nwith services.{service}() as url:\n"
        "    print(url, flush=True)\n    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", source],
        cwd=ROOT,
        env=dict(os.environ) | {"TMPDIR": str(open_folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    port = int(process.stdout.readline().rsplit(":", 1)[1].split("/")[0])
    assert port_answers(port)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while port_answers(port) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not port_answers(port)
