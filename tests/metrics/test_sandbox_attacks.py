"""Programs that attack: what each reaches, that nothing is left of it, and that the next program runs."""

from __future__ import annotations

import ast
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metrics.sandbox import Limits, Outcome, run
from tests.environment import ROOT

pytestmark = pytest.mark.usefixtures("sandbox")

SHORT = Limits(seconds=3)
LONG = Limits(seconds=60, cpu_seconds=60)

ENVIRONMENT = {"LC_CTYPE", "PATH", "PWD", "PYTHONHASHSEED", "PYTHONSAFEPATH", "PYTHONUTF8"}
"""LC_CTYPE is set by Python itself."""

FORK_BOMB = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.1)
"""
FORK_COUNT = """
import os, time
count = 0
try:
    while count < 500:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
except OSError as error:
    print(count < 16, error.errno)
"""
THREADS = """
import threading, time
count = 0
try:
    while count < 500:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        count += 1
except RuntimeError:
    print(count < 16)
"""
DISK = """
import os
total, number = 0, 0
while total < 1 << 28:
    number += 1
    try:
        with open(f"/tmp/{number}", "wb") as file:
            total += file.write(b"x" * (1 << 19))
    except OSError as error:
        print(error.errno, total <= 4 << 20)
        break
"""
WRITES = """
for folder in ("/", "/usr", "/usr/bin", "/lib", "/dev", "/dev/shm", "/proc"):
    try:
        open(folder + "/written", "w").write("x")
        print(folder, "was written to")
    except OSError:
        pass
print("tried")
"""
ORPHAN = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("left")
"""
DAEMON = """
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3, 64):
            try:
                os.close(number)
            except OSError:
                pass
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        while True:
            time.sleep(1)
    os._exit(0)
print("left")
"""
KILL_ALL = """
import os, signal
for number in (1, os.getppid(), -1):
    try:
        os.kill(number, signal.SIGKILL)
    except OSError:
        pass
print("alone")
"""
SYMLINKS = """
import os
for number, target in enumerate(("/etc/shadow", "/proc/1/root/etc/shadow", "../../etc/shadow", "/root")):
    os.symlink(target, f"/tmp/{number}")
    try:
        os.stat(f"/tmp/{number}")
        print(target, "was reached")
    except OSError:
        pass
try:
    os.symlink("/tmp", "/usr/lib/link")
    print("a link was made in /usr")
except OSError:
    print("tried")
"""
STUBBORN = """
import signal
for number in (signal.SIGTERM, signal.SIGXCPU, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
while True:
    pass
"""
RAISE_LIMITS = """
import resource
for kind in ("AS", "CPU", "NPROC", "FSIZE", "NOFILE", "CORE"):
    try:
        resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (1 << 40, 1 << 40))
        print(kind, "was raised")
    except (OSError, ValueError):
        pass
print("tried")
"""
PRIVILEGES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(os.getuid() == 0, libc.unshare(0x10000000), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
print(libc.chroot(b"/tmp"), os.system("su -c id 2>/dev/null") == 0)
"""
C_CRASH = """
import ctypes
ctypes.string_at(0)
"""
RECURSION = "def f():\n    return f()\nf()"
C_RECURSION = """
import sys
sys.setrecursionlimit(10 ** 9)
class A:
    def __getattr__(self, name):
        return getattr(self, name + "x")
A().x
"""

# name, program, limits, status, stdout, in stderr
ATTACKS: list[tuple[str, str, Limits, str, str, str]] = [
    ("fork bomb", FORK_BOMB, SHORT, "timeout", "", ""),
    ("forks counted", FORK_COUNT, LONG, "done", "True 11\n", ""),
    ("threads counted", THREADS, LONG, "done", "True\n", ""),
    ("memory", "x = bytearray(1 << 40)", LONG, "error", "", "MemoryError"),
    (
        "memory bit by bit",
        "x = []\nwhile True:\n    x.append(bytes(1 << 20))",
        LONG,
        "error",
        "",
        "MemoryError",
    ),
    ("disk", DISK, replace(LONG, folder_bytes=4 << 20), "done", "28 True\n", ""),
    ("one big file", "open('/tmp/x', 'wb').write(bytes(1 << 21))", LONG, "error", "", "File too large"),
    ("stdout", "while True:\n    print('x' * 10000)", LONG, "flood", "x", ""),
    ("stderr", "import sys\nwhile True:\n    sys.stderr.write('y' * 10000)", LONG, "flood", "", "yyy"),
    ("writing elsewhere", WRITES, LONG, "done", "tried\n", ""),
    ("orphan", ORPHAN, LONG, "done", "left\n", ""),
    ("daemon", DAEMON, LONG, "done", "left\n", ""),
    ("killing the parents", KILL_ALL, LONG, "done", "alone\n", ""),
    ("killing itself", "import os\nos.kill(os.getpid(), 9)", LONG, "killed", "", ""),
    ("symlinks", SYMLINKS, LONG, "done", "tried\n", ""),
    ("sleep", "import time\ntime.sleep(3600)", replace(LONG, seconds=1), "timeout", "", ""),
    ("deaf to signals", STUBBORN, replace(LONG, cpu_seconds=1), "killed", "", ""),
    ("raising its limits", RAISE_LIMITS, LONG, "done", "tried\n", ""),
    ("privileges", PRIVILEGES, LONG, "done", "False -1 -1\n-1 False\n", ""),
    ("recursion", RECURSION, LONG, "error", "", "RecursionError"),
    ("crash in C", C_CRASH, LONG, "killed", "", ""),
    ("huge exception", "raise ValueError('z' * 10 ** 7)", LONG, "flood", "", "zzz"),
    ("bytes that are no text", "import os\nos.write(1, b'a\\xff\\xfeb')", LONG, "done", "a\ufffd\ufffdb", ""),
    ("NUL in the source", "print(1)\0", LONG, "error", "", "null bytes"),
    ("surrogate in the source", "print('\udcff')", LONG, "error", "", "UnicodeEncodeError"),
    ("deep nesting", "(" * 20_000 + ")" * 20_000, LONG, "error", "", "Error"),
    ("endless sum", "x = " + "+".join(["1"] * 25_000), LONG, "error", "", "Error"),
    ("long line", "x = '" + "a" * 100_000 + "'\nprint(len(x))", LONG, "done", "100000\n", ""),
    ("bad indentation", "if True:\n  x = 1\n y = 2", LONG, "error", "", "IndentationError"),
    ("nothing", "", LONG, "done", "", ""),
    ("stdin that never ends", "import sys\nprint(len(sys.stdin.read()))", LONG, "done", "0\n", ""),
]


def marked(limits: Limits) -> tuple[Limits, str]:
    """The limits with a number that no other sandbox has, and how it shows in the list of processes."""
    size = limits.file_bytes + secrets.randbelow(1 << 18)
    return replace(limits, file_bytes=size), f"--fsize={size}"


def alive(mark: str) -> list[int]:
    """The sandboxes with this mark: their first process ends last, and everything inside with it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def attack(program: str, limits: Limits = LONG) -> Outcome:
    """Runs it, and asserts that nothing is left and that an ordinary program runs afterwards."""
    limits, mark = marked(limits)
    outcome = run(program, limits=limits)
    assert wait_for(lambda: not alive(mark))
    assert run("print(sum(range(5)))").stdout == "10\n"
    return outcome


@pytest.mark.parametrize(
    ("program", "limits", "status", "stdout", "stderr"),
    [row[1:] for row in ATTACKS],
    ids=[row[0] for row in ATTACKS],
)
def test_an_attack_is_contained(program: str, limits: Limits, status: str, stdout: str, stderr: str) -> None:
    outcome = attack(program, limits)
    assert outcome.status == status, outcome
    assert outcome.stdout[: len(stdout) or 200] == stdout
    assert stderr in outcome.stderr
    assert bool(outcome.why) == (status != "done")
    for text in (outcome.stdout, outcome.stderr):
        assert len(text) <= limits.output_bytes


def test_recursion_in_c_ends_in_a_crash_or_an_error() -> None:
    # Since Python 3.12 the interpreter itself stops it.
    assert attack(C_RECURSION).status in ("killed", "error")


def test_an_orphan_is_seen_while_it_lives() -> None:
    # The check of what is left would find something: it does while a program runs.
    limits, mark = marked(LONG)
    source = (
        "from metrics.sandbox import Limits, run\n"
        f"run('import time; time.sleep(600)', limits=Limits(seconds=600, file_bytes={limits.file_bytes}))"
    )
    process = subprocess.Popen([sys.executable, "-c", source], cwd=ROOT)
    try:
        assert wait_for(lambda: len(alive(mark)) >= 2)
    finally:
        process.kill()
        process.wait()
    assert wait_for(lambda: not alive(mark))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_survives_the_process_that_runs_a_batch(number: signal.Signals) -> None:
    limits, mark = marked(LONG)
    source = (
        "from metrics.execution import IOTest, run_all\nfrom metrics.sandbox import Limits\n"
        f"program = {DAEMON + 'time.sleep(600)'!r}\n"
        f"limits = Limits(seconds=600, file_bytes={limits.file_bytes})\n"
        "print(run_all([IOTest(program, '', '')] * 4, jobs=2, limits=limits))"
    )
    process = subprocess.Popen([sys.executable, "-c", source], cwd=ROOT)
    try:
        assert wait_for(lambda: len(alive(mark)) >= 4), (process.poll(), alive(mark))
    finally:
        process.send_signal(number)
        process.wait()
    assert wait_for(lambda: not alive(mark))


def test_the_network_is_out_of_reach() -> None:
    name = "codejury-" + secrets.token_hex(8)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as local,
    ):
        udp.bind(("127.0.0.1", 0))
        local.bind("\0" + name)
        local.listen()
        for listener in (tcp, udp, local):
            listener.setblocking(False)
        outcome = attack(
            "import socket\n"
            "def reach(family, kind, address):\n"
            "    try:\n"
            "        with socket.socket(family, kind) as s:\n"
            "            s.settimeout(2)\n"
            "            s.connect(address)\n"
            "            s.send(b'x')\n"
            "    except OSError:\n"
            "        pass\n"
            f"reach(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', {tcp.getsockname()[1]}))\n"
            f"reach(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', {udp.getsockname()[1]}))\n"
            f"reach(socket.AF_UNIX, socket.SOCK_STREAM, '\\0{name}')\n"
            "print([name for _, name in socket.if_nameindex()])\n"
        )
        assert outcome.stdout == "['lo']\n"
        for listener in (tcp, local):
            with pytest.raises(BlockingIOError):
                listener.accept()
        with pytest.raises(BlockingIOError):
            udp.recv(1)
        # The same from here arrives, so that the listeners do listen.
        with socket.socket(socket.AF_UNIX) as friend:
            friend.connect("\0" + name)
            local.accept()[0].close()


def test_files_and_processes_of_the_machine_are_out_of_sight(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    paths = ["/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/sys", str(ROOT), str(secret)]
    outcome = attack(
        f"import os\nprint([path for path in {paths!r} if os.path.lexists(path)])\n"
        "print(sorted(os.listdir('/')), os.listdir('/tmp'))\n"
        "print(len([name for name in os.listdir('/proc') if name.isdigit()]))\n"
    )
    seen, folders, processes = outcome.stdout.splitlines()
    assert seen == "[]"
    assert folders.endswith("'tmp', 'usr'] []")
    assert int(processes) <= 3


def test_the_environment_and_open_files_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEJURY_CANARY", "canary")
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    try:
        outcome = attack(
            "import os\nprint(sorted(os.environ))\n"
            "environments = b''\n"
            "for name in os.listdir('/proc'):\n"
            "    try:\n"
            "        environments += open(f'/proc/{name}/environ', 'rb').read()\n"
            "    except OSError:\n"
            "        pass\n"
            "print(b'canary' in environments)\n"
            "print([n for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}')])\n"
        )
    finally:
        os.close(reader)
        os.close(writer)
    lines = outcome.stdout.splitlines()
    assert set(ast.literal_eval(lines[0])) <= ENVIRONMENT
    assert lines[1:] == ["False", "[]"]


def test_sets_have_the_same_order_each_time() -> None:
    assert len({run("print({str(n) for n in range(50)})").stdout for _ in range(3)}) == 1
