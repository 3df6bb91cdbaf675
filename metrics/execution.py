"""Generated programs under their tests: does it compile, does it run, which tests does it pass.

>>> from metrics.execution import humaneval, run_all
>>> task = humaneval("def inc(x):\\n", "    return x + 1", "def check(f):\\n    assert f(1) == 2", "inc")
>>> [result.passed for result in run_all([task])]
[True]

How far a verdict can be trusted: the output that an `IOTest` wants never enters the sandbox, so that only a
program that prints it passes. A `Check` runs in the same interpreter as the program, as HumanEval's do, and a
program written to deceive can always win there: it may return an object that equals everything, or look for the
secret that the verdict bears. What it cannot do is pass by printing, by leaving early (`sys.exit`, `os._exit`), by
defining `check` itself, by a trace function, or by changing builtins before the test is read.
"""

from __future__ import annotations

import ast
import functools
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metrics.sandbox import DEFAULT, Limits, Outcome, SandboxMissing, run, why_missing

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, UnicodeError)
"""What Python's parser may raise, by the text: all of it means that the text is no program."""
COMPILED_CHARACTERS = 120_000
"""Python 3.11 to 3.13 crash on a comprehension with 50,000 loops (450,000 characters), and take time that grows
with the square of the length for a call with thousands of named arguments."""


@dataclass(frozen=True)
class Check:
    """A program, and a test that asserts: its source runs after the program, then `check(entry_point)`."""

    program: str
    test: str
    entry_point: str = ""
    """"" where the test's source calls what it tests itself."""


@dataclass(frozen=True)
class IOTest:
    """A program that reads stdin, and what it must print."""

    program: str
    stdin: str
    expected: str


@dataclass(frozen=True)
class Result:
    """How a program did under one test.

    status: "passed"; "failed" (an assertion failed, or it printed something else); "error" (any other exception, a
    wrong exit code, or no verdict: it left before its test was over); "timeout", "killed" and "flood" as in
    `metrics.sandbox.Outcome`.
    """

    status: Literal["passed", "failed", "error", "timeout", "killed", "flood"]
    why: str
    """"" if passed; else one sentence, or the exception as "NameError: name 'x' is not defined"."""
    outcome: Outcome | None
    """None if the program was refused unrun."""

    @property
    def passed(self) -> bool:
        """Whether it did what the test wants: PASS (Chen et al. 2021, arXiv 2107.03374)."""
        return self.status == "passed"

    @property
    def executable(self) -> bool:
        """Whether it ran under its test to the end, or to a failed assertion (CodeScore, arXiv 2301.09043)."""
        return self.status in ("passed", "failed")


def humaneval(prompt: str, completion: str, test: str, entry_point: str) -> Check:
    """The check of a completion in the form of HumanEval (Chen et al. 2021, arXiv 2107.03374).

    The completion follows the prompt as it is: a first line that lost its indentation must get it back before.
    What the test's assertions would say is left out: it may call the program again and raise, and a failed
    assertion would look like an error.
    """
    return Check(prompt + completion + "\n", without_messages(test), entry_point)


@functools.lru_cache(maxsize=1024)
def without_messages(test: str) -> str:
    """The source of a test with bare assertions; a test that cannot be read stays as it is."""
    try:
        tree = ast.parse(test)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                node.msg = None
        return ast.unparse(tree)
    except UNPARSABLE:
        return test


def compiles(source: str) -> bool:
    """Whether Python can compile the text: it is never run, so that no sandbox is needed.

    This is weaker than `Result.executable`. Empty text compiles. What Python's parser gives up on (nesting,
    endless expressions, NUL, lone surrogates) does not, nor does a text of more than 120,000 characters.
    """
    if len(source) > COMPILED_CHARACTERS:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "program.py", "exec", dont_inherit=True)
    except UNPARSABLE:
        return False
    return True


def split_check(check: Check) -> list[Check]:
    """One check for each assertion of the test's function `check`, after the same set-up.

    Each keeps what stands before its assertion except the other assertions. A loop or another block with
    assertions in it is one test. Raises ValueError if the test cannot be read, or asserts nothing.
    """
    try:
        tree = ast.parse(check.test)
    except UNPARSABLE as error:
        raise ValueError(f"The test cannot be read: {error}") from None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if not functions:
        raise ValueError("The test has no function `check` to split.")
    function = functions[-1]
    whole = function.body
    parts = []
    for place, statement in enumerate(whole):
        if asserts(statement):
            function.body = [*(node for node in whole[:place] if not asserts(node)), statement]
            parts.append(Check(check.program, ast.unparse(tree), check.entry_point))
    if not parts:
        raise ValueError("The test's function `check` asserts nothing.")
    return parts


def asserts(statement: ast.stmt) -> bool:
    """Whether a statement is an assertion or holds one; a function only holds it."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement))


def same_output(printed: str, expected: str) -> bool:
    """Whether two outputs have equal lines, whitespace at the end of a line and empty lines at the end aside."""
    left, right = ([line.rstrip() for line in text.rstrip().splitlines()] for text in (printed, expected))
    return left == right


def run_test(task: Check | IOTest, *, limits: Limits = DEFAULT, interpreter: Path | None = None) -> Result:
    """Runs a program under one test, in a sandbox of its own.

    A program that is longer than the limits allow is an error, unrun. Raises SandboxMissing.
    """
    try:
        if isinstance(task, IOTest):
            outcome = run(task.program, stdin=task.stdin, limits=limits, interpreter=interpreter)
            return _by_output(outcome, task.expected)
        return _by_verdict(
            run(
                task.program,
                test=task.test,
                entry_point=task.entry_point,
                limits=limits,
                interpreter=interpreter,
            )
        )
    except ValueError as error:
        return Result("error", str(error), None)


def _by_output(outcome: Outcome, expected: str) -> Result:
    if outcome.status != "done":
        return Result(outcome.status, outcome.why, outcome)
    if same_output(outcome.stdout, expected):
        return Result("passed", "", outcome)
    return Result("failed", "It printed something else.", outcome)


def _by_verdict(outcome: Outcome) -> Result:
    step, _, rest = outcome.verdict.partition(" ")
    status, _, why = rest.partition(" ")
    if step == "test" and status == "passed":
        return Result("passed", "", outcome)
    if status == "failed":
        return Result("failed", why, outcome)
    if status == "error":
        return Result("error", why, outcome)
    if outcome.status == "done":
        return Result("error", "It ended before its test was over.", outcome)
    return Result(outcome.status, outcome.why, outcome)


def run_all(
    tasks: Sequence[Check | IOTest],
    *,
    jobs: int | None = None,
    limits: Limits = DEFAULT,
    interpreter: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Result]:
    """The results of many tests, in their order; each runs in a sandbox of its own, so none affects another.

    jobs: how many run at once (by default one for each processor). progress: told how many are done, and of how
    many, after each. Raises SandboxMissing before anything runs.
    """
    missing = why_missing(interpreter)
    if missing:
        raise SandboxMissing(missing)
    if jobs is not None and jobs < 1:
        raise ValueError(f"At least one program must run at a time, not {jobs}.")
    # Threads: each only waits for its sandbox. A sandbox dies with the thread that started it.
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        futures: list[Future[Result]] = [
            pool.submit(run_test, task, limits=limits, interpreter=interpreter) for task in tasks
        ]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(done, len(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]
