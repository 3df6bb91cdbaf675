"""`manage.py serve`: clear sentences for what cannot work. The running server is tested in tests/proof."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from annotator.management.commands.serve import Child


def test_a_port_in_use_is_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            CommandError,
            match=rf"Cannot listen on 127.0.0.1:{port} .* --port {port + 1} \(make run PORT={port + 1}\)",
        ):
            call_command("serve", port=port)


def test_a_port_out_of_range_is_a_sentence() -> None:
    with pytest.raises(CommandError, match="from 1 to 65535"):
        call_command("serve", port=70000)


def test_the_command_line_prints_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", "0"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "--port must be from 1 to 65535" in done.stderr
    assert "Traceback" not in done.stderr


WRONG_ENVIRONMENTS = [
    ({"PORT": "x"}, "PORT must be a whole number"),
    ({"VAR_DIR": "/dev/null/x", "DATABASE_URL": "", "SECRET_KEY": ""}, "Cannot make the folder /dev/null/x"),
    ({"DATABASE_URL": "sqlite:////dev/null"}, "The database did not do it"),
    ({"LOG_LEVEL": "loud"}, "LOG_LEVEL must be one of"),
]


@pytest.mark.parametrize(("environment", "sentence"), WRONG_ENVIRONMENTS)
def test_a_wrong_environment_is_one_sentence(environment: dict[str, str], sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "verify_study", "none"],
        cwd=settings.BASE_DIR,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert sentence in done.stderr


def test_a_child_that_dies_young_waits_longer_each_time() -> None:
    child = Child("x", [sys.executable, "-c", ""])
    waits = []
    for _ in range(8):
        child.start()
        assert child.process is not None
        child.process.wait()
        child.plan_restart()
        waits.append(child.wait)
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    gone = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert gone.returncode != 0
    assert "Traceback" not in gone.stderr
