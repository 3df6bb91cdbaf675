"""Runs generated Python programs where they can do no harm: bubblewrap, or not at all.

A program sees /usr, /lib and its interpreter read-only, an empty /tmp, and nothing else: no network, no other
process, no environment, no file of this project. It runs as an ordinary user without any privilege and cannot
get one. Each run has limits (`Limits`), and nothing of it is left when `run` returns, or when the process that
called `run` is killed.

What the limits leave open: memory is limited by process, so that a program that forks may use `memory` times
`processes`, and shared memory of System V is not counted; let workers run in a container with a memory limit of
its own.
"""

from __future__ import annotations

import functools
import math
import os
import re
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Literal

Status = Literal["done", "error", "killed", "timeout", "flood"]
CHUNK = 1 << 16
READY = b"ready\n"
CHANNEL_BYTES = 4096
NOBODY = "65534"
STUB = Path(__file__).with_name("sandbox_stub.py").read_text(encoding="utf-8")
PROBE = """
import os
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
print([path for path in ("/etc", "/sys", "/var") if os.path.exists(path)], max(pids) < 10)
"""
PACKAGE = "Debian, Ubuntu: apt-get install bubblewrap (0.8 or newer)."


class SandboxMissing(RuntimeError):
    """Programs cannot be run safely here, so they are not run; the text says what to do."""


class TooLong(ValueError):
    """A program or an input is longer than the limits allow."""


@dataclass(frozen=True)
class Limits:
    """What one program may use. Each limit holds for every process of the program, unless it says otherwise."""

    seconds: float = 10.0
    """By the clock, for the whole run."""
    cpu_seconds: int = 5
    memory: int = 512 << 20
    """Bytes of address space."""
    processes: int = 16
    """Processes and threads together, for the whole run."""
    file_bytes: int = 1 << 20
    folder_bytes: int = 64 << 20
    """All files in /tmp together: the only place that can be written to."""
    open_files: int = 64
    output_bytes: int = 1_000_000
    """Of stdout, and of stderr; a program that writes more is killed."""
    source_characters: int = 1_000_000
    """Of the program, and of its input; longer ones are refused."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"The limit {name} must be a number above 0, not {value}.")


DEFAULT = Limits()


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    status: "done" (exit code 0), "error" (another exit code), "killed" (by a signal: a crash, or a limit),
    "timeout" (by the clock), "flood" (too much output).
    """

    status: Status
    exit_code: int
    stdout: str
    """UTF-8; what is not becomes the replacement character. At most `output_bytes`, the rest is dropped."""
    stderr: str
    seconds: float
    why: str
    """One sentence; "" if the status is "done"."""
    verdict: str = ""
    """What the check reported: see `metrics.execution`. "" if nothing, or nothing that can be believed, came."""


def find_interpreter() -> Path:
    """The system's Python, which ordinary users can read; else the one that runs this."""
    system = Path("/usr/bin/python3")
    return system.resolve() if os.access(system, os.X_OK) else Path(sys.executable).resolve()


def prefix_of(interpreter: Path) -> Path | None:
    """The folder that must be seen inside for an interpreter outside /usr."""
    return None if interpreter.is_relative_to("/usr") else interpreter.parent.parent


def command(limits: Limits, interpreter: Path) -> list[str]:
    """The sandbox's command, up to and including the interpreter.

    Started by root, bubblewrap would not be bound by the limit on processes, so that root becomes nobody first.
    """
    bwrap, setpriv = (shutil.which(tool) or tool for tool in ("bwrap", "setpriv"))
    ordinary = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    seen = [Path(name) for name in ("/usr", "/lib", "/lib64") if Path(name).exists()]
    prefix = prefix_of(interpreter)
    binds = [
        part
        for path in [*seen, *([prefix] if prefix else [])]
        for part in ("--ro-bind", str(path), str(path))
    ]
    environment = {"PATH": "/usr/bin", "PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1", "PYTHONUTF8": "1"}
    return [
        *(ordinary if os.geteuid() == 0 else []),
        *[bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--die-with-parent"],
        *["--cap-drop", "ALL", "--clearenv"],
        *[part for item in environment.items() for part in ("--setenv", *item)],
        *["--proc", "/proc", "--dev", "/dev", "--size", str(limits.folder_bytes), "--tmpfs", "/tmp"],
        *binds,
        # Both lie in memory without a limit of their own.
        *["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"],
        *["prlimit", f"--as={limits.memory}", f"--cpu={limits.cpu_seconds}", f"--nproc={limits.processes}"],
        *[f"--fsize={limits.file_bytes}", f"--nofile={limits.open_files}", "--core=0", "--"],
        # As -I (the environment above is ours), but with a fixed seed: sets have the same order each time.
        *[str(interpreter), "-s", "-S", "-B"],
    ]


@functools.cache
def why_missing(interpreter: Path | None = None) -> str:
    """What keeps programs from running in the sandbox here, and what to do; "" if they can. Tried once."""
    if sys.platform != "linux":
        return "Generated code runs in bubblewrap, which needs Linux: run it on a Linux machine."
    for tool, where in (
        ("bwrap", PACKAGE),
        ("prlimit", "It comes with util-linux."),
        ("setpriv", "As before."),
    ):
        if shutil.which(tool) is None and (tool != "setpriv" or os.geteuid() == 0):
            return f"Generated code is run in bubblewrap only, and {tool} is not installed here. {where}"
    limits = replace(DEFAULT, seconds=30)
    try:
        outcome = _run(PROBE, limits=limits, interpreter=interpreter or find_interpreter())
    except SandboxMissing as error:
        return str(error)
    if outcome.stdout != "[] True\n":
        said = f"{outcome.why} {outcome.stdout} {outcome.stderr}".strip()[:500]
        return f"What runs in bubblewrap here is not locked in, or does not run: {said}"
    return ""


def run(
    program: str,
    *,
    stdin: str = "",
    test: str | None = None,
    entry_point: str = "",
    limits: Limits = DEFAULT,
    interpreter: Path | None = None,
) -> Outcome:
    """Runs a Python program as a script, or, with a `test`, its check (see `metrics.execution`).

    interpreter: another Python than `find_interpreter()`; its prefix is bound read-only. Raises SandboxMissing
    where there is no sandbox, TooLong for a program or input above the limits, ValueError for an entry point that
    is no name.
    """
    missing = why_missing(interpreter)
    if missing:
        raise SandboxMissing(missing)
    if entry_point and not re.fullmatch(r"[A-Za-z_]\w*", entry_point, re.ASCII):
        raise ValueError(f"The entry point must be a name, not {entry_point!r}.")
    for what, text in (("program", program), ("input", stdin), ("test", test or "")):
        if len(text) > limits.source_characters:
            most = f"{limits.source_characters:,}"
            raise TooLong(f"The {what} has {len(text):,} characters; at most {most} are run.")
    return _run(
        program,
        stdin=stdin,
        test=test,
        entry_point=entry_point,
        limits=limits,
        interpreter=interpreter or find_interpreter(),
    )


def _run(
    program: str,
    *,
    limits: Limits,
    interpreter: Path,
    stdin: str = "",
    test: str | None = None,
    entry_point: str = "",
) -> Outcome:
    secret = secrets.token_hex(16)
    job = pack(secret, program, test or "", entry_point, "" if test is None else "checked")
    started = time.monotonic()
    with _started(command(limits, interpreter)) as conversation:
        conversation.talk(job, text_bytes(stdin), limits, started + limits.seconds)
    seconds = time.monotonic() - started
    if not conversation.channel.startswith(READY) and not conversation.stopped:
        reason = bytes(conversation.stderr).decode(errors="replace").strip()[:300] or "no reason is known"
        raise SandboxMissing(
            f"The sandbox does not start here ({reason}). It needs bubblewrap 0.8 or newer, a Python that every "
            "user can read, and user namespaces: a container must allow them."
        )
    return _outcome(conversation, secret, limits, seconds)


def text_bytes(text: str) -> bytes:
    """UTF-8, with lone surrogates as they are, so that every text can be sent."""
    return text.encode("utf-8", "surrogatepass")


def pack(*texts: str) -> bytes:
    """A line with the lengths, then the texts one after the other."""
    parts = [text_bytes(text) for text in texts]
    return " ".join(str(len(part)) for part in parts).encode() + b"\n" + b"".join(parts)


@dataclass
class Conversation:
    """The pipes to one sandbox, and what came through them."""

    process: subprocess.Popen[bytes]
    job_fd: int
    channel_fd: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    channel: bytearray = field(default_factory=bytearray)
    stopped: Literal["", "timeout", "flood"] = ""

    def talk(self, job: bytes, stdin: bytes, limits: Limits, deadline: float) -> None:
        """Sends the job as soon as the sandbox stands, and reads until it is gone, or kills it."""
        sinks = {
            _number(self.process.stdout): (self.stdout, limits.output_bytes),
            _number(self.process.stderr): (self.stderr, limits.output_bytes),
            self.channel_fd: (self.channel, CHANNEL_BYTES),
        }
        waiting = {self.job_fd: memoryview(job), _number(self.process.stdin): memoryview(stdin)}
        with selectors.DefaultSelector() as selector:
            for descriptor in sinks:
                selector.register(descriptor, selectors.EVENT_READ)
            while sinks and not self.stopped:
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if time.monotonic() >= deadline:
                    self.stopped = "timeout"
                for key, _ in events:
                    if key.fd in sinks:
                        self._read(key.fd, sinks, selector)
                    else:
                        self._write(key.fd, waiting, selector)
                if waiting and self.channel.startswith(READY) and len(selector.get_map()) == len(sinks):
                    for descriptor in waiting:
                        os.set_blocking(descriptor, False)
                        selector.register(descriptor, selectors.EVENT_WRITE)
        self._end(deadline)

    def _read(
        self, number: int, sinks: dict[int, tuple[bytearray, int]], selector: selectors.BaseSelector
    ) -> None:
        kept, most = sinks[number]
        part = os.read(number, CHUNK)
        if not part:
            selector.unregister(number)
            del sinks[number]
            return
        kept += part[: most - len(kept) + 1]
        if len(kept) > most:
            del kept[most:]
            self.stopped = "flood"

    def _write(self, number: int, waiting: dict[int, memoryview], selector: selectors.BaseSelector) -> None:
        try:
            sent = os.write(number, waiting[number][:CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            sent = len(waiting[number])
        waiting[number] = waiting[number][sent:]
        if not waiting[number]:
            selector.unregister(number)
            del waiting[number]
            if number == self.job_fd:
                os.close(number)
                self.job_fd = -1
            else:
                _close(self.process.stdin)

    def _end(self, deadline: float) -> None:
        if not self.stopped:
            try:
                self.process.wait(max(0.01, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.stopped = "timeout"
        if self.stopped:
            self.process.kill()
        self.process.wait()


def _number(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(BrokenPipeError):
            stream.close()


@contextmanager
def _started(sandbox: list[str]) -> Iterator[Conversation]:
    """Starts the sandbox with four pipes; whatever happens, it is gone and they are closed afterwards."""
    job_inside, job_fd = os.pipe()
    channel_fd, channel_inside = os.pipe()
    try:
        process = subprocess.Popen(
            [*sandbox, "-c", STUB, str(job_inside), str(channel_inside)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            pass_fds=(job_inside, channel_inside),
        )
    except OSError as error:
        os.close(job_fd)
        os.close(channel_fd)
        raise SandboxMissing(f"The sandbox cannot be started here: {error}.") from None
    finally:
        os.close(job_inside)
        os.close(channel_inside)
    conversation = Conversation(process, job_fd, channel_fd)
    try:
        yield conversation
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            _close(stream)
        os.close(channel_fd)
        if conversation.job_fd >= 0:
            os.close(conversation.job_fd)


def _outcome(conversation: Conversation, secret: str, limits: Limits, seconds: float) -> Outcome:
    code = conversation.process.returncode
    status: Status
    if conversation.stopped == "timeout":
        status, why = "timeout", f"It took longer than {limits.seconds:g} seconds."
    elif conversation.stopped == "flood":
        status, why = "flood", f"It wrote more than {limits.output_bytes:,} bytes."
    elif code == 0:
        status, why = "done", ""
    elif code < 0 or code > 128:
        number = -code if code < 0 else code - 128
        status, why = "killed", f"It was killed by signal {number} (a crash, or a limit was reached)."
        if number == signal.SIGKILL and seconds >= limits.cpu_seconds:
            why = f"It was killed, as is what uses {limits.cpu_seconds} seconds of processor time."
    else:
        status, why = "error", f"It ended with exit code {code}."
    # What does not begin with the secret, or follows something else, was not written by the stub.
    said = bytes(conversation.channel).removeprefix(READY)
    believed = said.startswith(secret.encode()) and said.count(secret.encode()) == 1
    return Outcome(
        status=status,
        exit_code=code,
        stdout=conversation.stdout.decode("utf-8", "replace"),
        stderr=conversation.stderr.decode("utf-8", "replace"),
        seconds=seconds,
        why=why,
        verdict=said[len(secret) :].decode("ascii", "replace") if believed else "",
    )
