"""Whether a demo snippet solves its problem, found out by running it on a few examples."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

# For each problem: (what is given, what must hold afterwards). `found(x)` = some variable, or the value of
# the last expression, equals x. What `given` imports is hidden from the snippet: it needs its own imports.
EXAMPLES: dict[str, list[tuple[str, str]]] = {
    "p01": [("counts = {'a': 2, 'b': 9, 'c': 5}", "found(['b', 'c', 'a'])")],
    # Many names: a set would give them in this order once in 26! runs.
    "p02": [("names = list('qwertyuiopasdfghjklzxcvbnm' * 2)", "found(list('qwertyuiopasdfghjklzxcvbnm'))")],
    "p03": [
        (
            "from pathlib import Path\npath = 'a.txt'\nPath(path).write_text('one \\n\\ntwo\\n')",
            "found(['one ', '', 'two'])",
        )
    ],
    "p04": [("text = '120'", "found(True)"), ("text = '12a'", "found(False)"), ("text = ''", "found(False)")],
    "p05": [
        (
            "defaults = {'a': 1, 'b': 2}\noptions = {'b': 3, 'c': 4}",
            "found({'a': 1, 'b': 3, 'c': 4}) and defaults == {'a': 1, 'b': 2}"
            " and options == {'b': 3, 'c': 4}",
        )
    ],
    "p06": [
        ("items = [1, 2, 3, 4, 5]\nn = 2", "found([[1, 2], [3, 4], [5]])"),
        ("items = [1, 2, 3, 4, 5, 6]\nn = 3", "found([[1, 2, 3], [4, 5, 6]])"),
    ],
    "p07": [
        (
            "from datetime import date\ntoday = date.today()",
            "found(str(today - timedelta(days=1))) or found(str(date.today() - timedelta(days=1)))",
        )
    ],
    "p08": [("text = 'The cat and the dog'", "found({'the': 2, 'cat': 1, 'and': 1, 'dog': 1})")],
    "p09": [("values = [3, 8, 14, 6]", "found(2)")],
    "p10": [
        (
            "people = [{'last_name': last, 'first_name': first} for last, first in"
            " [('Ng', 'Mia'), ('Abe', 'Zoe'), ('Ng', 'Ada')]]",
            "found([{'last_name': last, 'first_name': first} for last, first in"
            " [('Abe', 'Zoe'), ('Ng', 'Ada'), ('Ng', 'Mia')]])",
        )
    ],
    "p11": [("text = '  one\\t two\\n\\nthree   four '", "found('one two three four')")],
    "p12": [
        ("path = 'new/inner'", "Path('new/inner').is_dir()"),
        (
            "from pathlib import Path\npath = 'old/inner'\nPath(path).mkdir(parents=True)",
            "Path('old/inner').is_dir()",
        ),
    ],
    "p13": [("codes = {'red': 1, 'blue': 2}", "found({1: 'red', 2: 'blue'})")],
    "p14": [
        ("", "is_palindrome('A man, a plan, a canal: Panama!')"),
        ("", "is_palindrome('')"),
        ("", "not is_palindrome('abca')"),
    ],
    "p15": [
        ("", "[binary_search([1, 3, 5, 7], wanted) for wanted in (1, 3, 5, 7)] == [0, 1, 2, 3]"),
        ("", "[binary_search([1, 3, 5, 7], wanted) for wanted in (0, 4, 9)] == [-1, -1, -1]"),
        ("", "binary_search([], 1) == -1"),
    ],
    "p16": [
        ("answers = iter([0, 0, 4])\ndef divide(): return 8 / next(answers)", "retry(divide, 3) == 2"),
        ("def divide(): return 8 / 0", "raises(ZeroDivisionError, retry, divide, 3)"),
    ],
    "p17": [
        ("", "[roman(number) for number in (1, 4, 9, 14, 40)] == ['I', 'IV', 'IX', 'XIV', 'XL']"),
        ("", "[roman(number) for number in (90, 1994, 3999)] == ['XC', 'MCMXCIV', 'MMMCMXCIX']"),
    ],
    "p18": [("", "flatten([1, [2, [3, []], 'four'], [[[5]]]]) == [1, 2, 3, 'four', 5]")],
    "p19": [
        ("", "list(windows([1, 2, 3, 4], 2)) == [(1, 2), (2, 3), (3, 4)]"),
        ("", "list(windows([1, 2], 3)) == []"),
    ],
    "p20": [("", "[parse_duration(text) for text in ('1h30m', '45s', '2h0m5s')] == [5400, 45, 7205]")],
    "p21": [
        (
            "from pathlib import Path\npath = 'a.csv'\n"
            "Path(path).write_text('id,name\\n1,\"Ng, Mia\"\\n2,Zoe\\n')",
            "found([{'id': '1', 'name': 'Ng, Mia'}, {'id': '2', 'name': 'Zoe'}])",
        )
    ],
    "p22": [
        (
            "import pandas\nsales = pandas.DataFrame({'category': ['a', 'b', 'a'], 'item': ['x', 'y', 'z'],"
            " 'price': [1.0, 4.0, 2.0]})",
            "found({'a': 1.5, 'b': 4.0})",
        )
    ],
    "p23": [
        (
            "import pandas\n"
            "df = pandas.DataFrame({'email': ['a@b.org', None, 'c@d.org'], 'age': [31, 42, None]})",
            "found({'email': {0: 'a@b.org', 2: 'c@d.org'}, 'age': {0: 31.0, 2: None}})",
        )
    ],
    "p24": [
        (
            "path = 'a.json'\nsettings = {'b': 1, 'a': [2]}",
            "Path('a.json').read_text().strip() == json.dumps({'a': [2], 'b': 1}, indent=2)",
        )
    ],
}


def solves(problem: str, code: str) -> bool:
    """Whether the code passes all examples of the problem; it runs in the current folder."""
    return all(_holds(code, given, then) for given, then in EXAMPLES[problem])


def _holds(code: str, given: str, then: str) -> bool:
    setup: dict[str, Any] = {}
    exec(given, setup)
    names = {name: value for name, value in setup.items() if not _is_imported(name, value)}
    try:
        exec(_keep_last_value(code), names)
    except Exception:  # whatever it is that goes wrong: the snippet does not solve its problem
        return False

    def found(expected: Any) -> bool:
        return any(_plain(value) == expected for value in _values(names))

    tools = {
        "found": found,
        "raises": _raises,
        "Path": Path,
        "json": json,
        "date": date,
        "timedelta": timedelta,
    }
    try:
        return bool(eval(then, {**names, **tools}))
    except Exception:
        return False


def _is_imported(name: str, value: Any) -> bool:
    return name.startswith("__") or isinstance(value, ModuleType | type)


def _keep_last_value(code: str) -> Any:
    """The compiled code, with the value of its last line in `_` if that line is an expression."""
    tree = ast.parse(code)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], last.value), last)
    return compile(ast.fix_missing_locations(tree), "<snippet>", "exec")


def _values(names: dict[str, Any]) -> Iterator[Any]:
    return (value for name, value in names.items() if not name.startswith("__"))


def _plain(value: Any) -> Any:
    """Pandas tables as dictionaries, so that == gives one answer."""
    if type(value).__module__.startswith("pandas"):
        return json.loads(value.to_json(), object_hook=_whole_keys)
    return value


def _whole_keys(table: dict[str, Any]) -> dict[Any, Any]:
    return {int(key) if key.isdigit() else key: value for key, value in table.items()}


def _raises(error: type[Exception], function: Any, *arguments: Any) -> bool:
    try:
        function(*arguments)
    except error:
        return True
    return False
