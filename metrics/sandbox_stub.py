"""The first code inside the sandbox: `python -c THIS JOB_FD CHANNEL_FD`. Never imported, needs Python 3.8.

It says "ready", reads a job and runs it. Without a check the channel is closed and the program runs as a script.
With a check the verdict is written to the channel behind a secret that comes with the job.
"""

from __future__ import annotations

import builtins
import posix  # `os` would be loaded for each program, also for those that do not need it
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types

CHUNK = 1 << 16
SHOWN = 300


def read_job(descriptor: int) -> list[bytes]:
    """The parts of the job: a line with their lengths, then the parts one after the other."""
    data = b""
    while part := posix.read(descriptor, CHUNK):
        data += part
    posix.close(descriptor)
    header, _, rest = data.partition(b"\n")
    parts = []
    for length in map(int, header.split()):
        parts.append(rest[:length])
        rest = rest[length:]
    return parts


def compiled(source: bytes, name: str) -> types.CodeType:
    return compile(source.decode("utf-8", "surrogatepass"), name, "exec", dont_inherit=True)


def run_script(source: bytes) -> None:
    """Runs the program as `python program.py` does; an error ends in a traceback and exit code 1."""
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    exec(compiled(source, "program.py"), vars(module))


def run_check(secret: bytes, source: bytes, test: bytes, entry_point: bytes, channel: int) -> None:
    """Runs the program, then the test's source, then `check(entry_point)`, and writes how that ended.

    What is needed afterwards is taken before the program runs, and what it changed among the builtins is put
    back before the test: a program can still do what it likes with an interpreter that is its own, but not by
    accident, and not by the usual tricks.
    """
    write, leave, out, failed = posix.write, posix._exit, sys.stdout, AssertionError
    kind, describe, settrace, setprofile = type, str, sys.settrace, sys.setprofile
    originals = dict(vars(builtins))
    module = type(sys)("program")
    sys.modules["program"] = module
    names = vars(module)
    step, status, name, text = b"program", b"passed", "", ""
    try:
        exec(compiled(source, "program.py"), names)
        settrace(None)
        setprofile(None)
        vars(builtins).update(originals)
        names["__builtins__"] = builtins
        step = b"test"
        exec(compiled(test, "test.py"), names)
        if entry_point:
            exec(compiled(b"check(" + entry_point + b")", "test.py"), names)
    except BaseException as error:
        settrace(None)
        setprofile(None)
        vars(builtins).update(originals)
        status = b"failed" if isinstance(error, failed) else b"error"
        name = kind(error).__name__
        try:
            text = describe(error)[:SHOWN]
        except BaseException:
            text = "(its text cannot be shown)"
    line = b" ".join([step, status, (name + ": " + text).encode("ascii", "backslashreplace")])
    write(channel, secret + line.replace(b"\n", b"\\n"))
    try:
        out.flush()
    finally:
        leave(0)


def main() -> None:
    job, channel = int(sys.argv[1]), int(sys.argv[2])
    sys.argv[:] = ["program.py"]
    # Only now the job is sent: by now this process dies with the one that waits for it.
    posix.write(channel, b"ready\n")
    secret, source, test, entry_point, checked = read_job(job)
    # Programs call these; the start would be slower with all that `site` does.
    import _sitebuiltins

    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D")
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D")
    builtins.help = _sitebuiltins._Helper()
    if checked:
        run_check(secret, source, test, entry_point, channel)
    posix.close(channel)
    run_script(source)


if __name__ == "__main__":
    main()
