"""Programs under their tests: verdicts that cannot be had by the usual tricks, and batches."""

from __future__ import annotations

import threading

import pytest

from metrics.correctness import pass_ratio
from metrics.execution import (
    Check,
    IOTest,
    compiles,
    run_all,
    run_test,
    same_output,
    split_check,
    without_messages,
)
from metrics.sandbox import Limits

QUICK = Limits(seconds=60, cpu_seconds=2)
TEST = "def check(f):\n    assert f(1) == 2\n    assert f(5) == 6\n"
WRONG = "def f(x):\n    return 0\n"

# name, program, status, what `why` begins with; each under TEST with the entry point f
VERDICTS = [
    ("right", "def f(x):\n    return x + 1", "passed", ""),
    ("wrong", WRONG, "failed", "AssertionError"),
    ("asserts itself", "def f(x):\n    assert x > 3, 'too small'", "failed", "AssertionError: too small"),
    ("asserts at once", "assert 1 == 2", "failed", "AssertionError"),
    ("raises", "def f(x):\n    return y", "error", "NameError: name 'y' is not defined"),
    ("raises at once", "import numpy_is_not_here", "error", "ModuleNotFoundError"),
    ("another name", "def g(x):\n    return x + 1", "error", "NameError: name 'f'"),
    ("no program", "def f(x:\n", "error", "SyntaxError"),
    (
        "endless",
        "def f(x):\n    while True:\n        pass",
        "killed",
        "It was killed, as is what uses 2 seconds",
    ),
    ("reads stdin", "def f(x):\n    return input()", "error", "EOFError"),
    ("NUL", "\0", "error", ""),
    ("surrogate", "x = '\udcff'", "error", "UnicodeEncodeError"),
    ("nesting", "x = " + "(" * 20_000 + ")" * 20_000, "error", ""),
    ("recursion", "def f(x):\n    return f(x)", "error", "RecursionError"),
    ("main guard", WRONG + "if __name__ == '__main__':\n    exit()", "failed", "AssertionError"),
    ("long text", "raise ValueError('é' * 10 ** 6)", "error", "ValueError: \\xe9\\xe9"),
    ("lines in text", "raise ValueError('a\\nb')", "error", "ValueError: a\\nb"),
    (
        "no text",
        "class E(Exception):\n    def __str__(self):\n        raise self\nraise E",
        "error",
        "E: (its",
    ),
]
FORGERIES = [
    ("prints a verdict", WRONG + "print('test passed ')\nprint('ready')", "failed"),
    ("exit", WRONG + "import sys\nsys.exit(0)", "error"),
    ("exit in the function", "def f(x):\n    raise SystemExit(0)", "error"),
    ("_exit", WRONG + "import os\nos._exit(0)", "error"),
    ("_exit in the function", "import os\ndef f(x):\n    os._exit(0)", "error"),
    ("KeyboardInterrupt", "def f(x):\n    raise KeyboardInterrupt", "error"),
    ("GeneratorExit", "def f(x):\n    raise GeneratorExit", "error"),
    ("own check", WRONG + "def check(f):\n    pass", "failed"),
    ("own eval", WRONG + "import builtins\nbuiltins.exec = builtins.compile = lambda *a, **k: ''", "failed"),
    ("own builtins", WRONG + "__builtins__ = {'AssertionError': ValueError}", "failed"),
    ("own AssertionError", WRONG + "import builtins\nbuiltins.AssertionError = KeyError", "failed"),
    ("own _exit", WRONG + "import os\nos._exit = os.write = lambda *a: None", "failed"),
    ("atexit", WRONG + "import atexit\natexit.register(lambda: print('test passed'))", "failed"),
    (
        "writes to every file",
        WRONG + "import os\nfor n in range(3, 64):\n    try: os.write(n, b'0' * 32 + b'test passed ')\n"
        "    except OSError: pass",
        "error",
    ),
    (
        "closes every file",
        WRONG + "import os\nos.closerange(3, 64)",
        "error",
    ),
    (
        "trace function",
        WRONG + "import sys\ndef jump(frame, event, arg):\n    if event == 'line' and frame.f_lineno == 2:\n"
        "        frame.f_lineno = 3\n    return jump\nsys.settrace(jump)",
        "failed",
    ),
    ("swallows the test", WRONG + 'x = """', "error"),
    ("returns from outside", "return", "error"),
    ("own stdout", WRONG + "import sys\nsys.stdout = None", "failed"),
    (
        "reads the job again",
        WRONG + "import os\nfor n in range(3, 64):\n    try: os.write(n, os.read(n, 999))\n"
        "    except OSError: pass",
        "failed",
    ),
]


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("program", "status", "why"), [row[1:] for row in VERDICTS], ids=[row[0] for row in VERDICTS]
)
def test_a_program_under_a_check(program: str, status: str, why: str) -> None:
    result = run_test(Check(program, TEST, "f"), limits=QUICK)
    assert result.status == status, result
    assert result.why.startswith(why)
    assert len(result.why) < 2000
    assert result.passed == (status == "passed")
    assert result.executable == (status in ("passed", "failed"))


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("program", "status"), [row[1:] for row in FORGERIES], ids=[row[0] for row in FORGERIES]
)
def test_a_verdict_is_not_forged(program: str, status: str) -> None:
    assert run_test(Check(program, TEST, "f"), limits=QUICK).status == status


@pytest.mark.usefixtures("sandbox")
def test_a_check_believes_an_object_that_equals_everything() -> None:
    # The limit of tests in the program's own interpreter, as the module's docstring says.
    program = "class Yes:\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return Yes()"
    assert run_test(Check(program, TEST, "f")).passed


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("program", "expected", "status"),
    [
        ("print(int(input()) * 2)", "42\n", "passed"),
        ("print('42 ')\nprint()", "42", "passed"),
        ("print('42')\nexit()", "42", "passed"),
        ("if __name__ == '__main__':\n    print(42)", "42", "passed"),
        ("import sys\nprint(*sys.argv[1:], 42, sep='')", "42", "passed"),
        ("print(43)", "42", "failed"),
        ("", "42", "failed"),
        ("", "", "passed"),
        ("print(42)\n1 / 0", "42", "error"),
        ("print(42)\nimport sys\nsys.exit(3)", "42", "error"),
        ("while True:\n    pass", "42", "killed"),
        ("print('x' * 10 ** 7)", "42", "flood"),
        ("import os\nos.write(3, b'42')", "42", "error"),
    ],
)
def test_a_program_with_input_and_output(program: str, expected: str, status: str) -> None:
    assert run_test(IOTest(program, "21\n", expected), limits=QUICK).status == status


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a \r\nb\n\n", "a\nb", True),
        ("", "\n", True),
        (" a", "a", False),
        ("a\n\nb", "a\nb", False),
        ("a  b", "a b", False),
        ("1.0", "1", False),
        ("A", "a", False),
    ],
)
def test_outputs_are_compared_line_by_line(printed: str, expected: str, same: bool) -> None:
    assert same_output(printed, expected) == same


@pytest.mark.usefixtures("sandbox")
def test_a_check_is_split_by_assertion() -> None:
    test = (
        "import math\ndef check(f):\n    base = 1\n    assert f(base) == 2, 'first'\n    base = 2\n"
        "    for x in range(3):\n        assert f(x) == x + 1\n    assert f(base) == math.pi\n    f(0)\n"
    )
    parts = split_check(Check("def f(x):\n    return x + 1", test, "f"))
    assert [part.test.count("assert") for part in parts] == [1, 1, 1]
    assert "base = 2" not in parts[0].test
    assert "base = 2" in parts[2].test
    results = run_all(parts)
    assert [result.status for result in results] == ["passed", "passed", "failed"]
    assert pass_ratio([result.passed for result in results]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "test", ["", "def check(f):\n    f(1)", "def other(f):\n    assert f", "def check(", "\0"]
)
def test_a_test_without_assertions_cannot_be_split(test: str) -> None:
    with pytest.raises(ValueError, match=r"^The test"):
        split_check(Check("", test, "f"))


def test_a_message_does_not_hide_a_failed_assertion() -> None:
    test = "def check(f):\n    assert f(1) == 2, len(f(1))"
    assert without_messages(test) == "def check(f):\n    assert f(1) == 2"
    assert without_messages("def check(") == "def check("


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1", True),
        ("", True),
        ("import nothing_of_that_name\n1 / 0", True),
        ("'\\d'\nx = 1 is 1", True),
        ("x =", False),
        ("print 1", False),
        ("return 1", False),
        ("if True:\n  x = 1\n y = 2", False),
        ("if True:\n\tx = 1\n        y = 2", False),
        ("x = 1\0", False),
        ("'\udcff'", False),
        ("(" * 20_000 + ")" * 20_000, False),
        ("[" * 20_000, False),
        ("-" * 20_000 + "1", False),
        ("x = " + "+".join(["a"] * 25_000), False),
        ("x" + ".b" * 20_000, False),
        ("x = '" + "a" * 100_000 + "'", True),
        ("x = [" + "1, " * 30_000 + "]", True),
        ("[0 " + "for[]in[]" * 13_000 + "]", True),
        ("[0 " + "for[]in[]" * 100_000 + "]", False),
        ("#" * 120_000, True),
        ("#" * 120_001, False),
    ],
)
def test_compiling(source: str, expected: bool) -> None:
    assert compiles(source) == expected


@pytest.mark.usefixtures("sandbox")
def test_a_batch_keeps_its_order_and_one_bad_program_harms_no_other() -> None:
    bad = ["import os\nos.kill(-1, 9)", "while True:\n    print('x' * 999)", "x" * 1_000_001, "\0"]
    tasks = []
    for number in range(12):
        tasks.append(IOTest(f"import time\ntime.sleep({number % 3} / 20)\nprint({number})", "", str(number)))
        tasks.append(IOTest(bad[number % 4], "", "something"))
    calls: list[tuple[int, int]] = []
    threads = set()

    def progress(done: int, total: int) -> None:
        calls.append((done, total))
        threads.add(threading.current_thread())

    results = run_all(tasks, jobs=4, progress=progress)
    assert all(result.passed for result in results[::2])
    assert not any(result.passed for result in results[1::2])
    assert calls == [(done, 24) for done in range(1, 25)]
    assert threads == {threading.current_thread()}
    assert results[5].outcome is None
    assert results[5].why == "The program has 1,000,001 characters; at most 1,000,000 are run."
    assert run_all([]) == []


@pytest.mark.usefixtures("sandbox")
def test_a_batch_needs_a_job() -> None:
    with pytest.raises(ValueError, match="At least one"):
        run_all([], jobs=0)
