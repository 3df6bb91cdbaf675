"""Who may import whom. `violations(root)` says what breaks the rules; planted violations prove it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environment import ROOT

PACKAGES = ("metrics", "analysis", "annotator")
FORBIDDEN = {
    "metrics": ("django", "rest_framework", "celery", "annotator", "analysis"),
    "analysis": ("django", "rest_framework", "celery", "annotator", "metrics"),
    "annotator.demo": ("django", "rest_framework", "celery", "annotator", "metrics", "analysis"),
    "annotator.grading.assignment": ("django", "metrics", "analysis"),
    "annotator.grading.steps": ("django", "metrics", "analysis"),
    "annotator.studies.draws": ("django", "metrics", "analysis"),
}
APPS = ("studies", "grading", "results", "api")
"""Each app may import itself and those before it."""
SCIENCE = ("metrics", "analysis")
SCIENCE_USERS = ("annotator.results", "annotator.checks")
INSIDE_AN_APP = ("models", "access", "actions", "views")
"""Each module may import those before it, never those behind."""


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def import_nodes(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import of a file, also inside functions: those hide circles."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not is_type_checking(child):
            yield from import_nodes(child)


def imports_of(path: Path, root: Path, modules: set[str]) -> set[str]:
    """Full names of what a file imports; `from package import module` counts as the module."""
    name = module_name(path, root)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in import_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
            continue
        base = node.module or ""
        if node.level:
            parents = package.split(".")
            base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
        for alias in node.names:
            full = f"{base}.{alias.name}"
            found.add(full if full in modules else base)
    return found - {name}


def read_graph(root: Path) -> dict[str, set[str]]:
    files = {
        module_name(path, root): path
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
        if "migrations" not in path.parts
    }
    return {name: imports_of(path, root, set(files)) for name, path in files.items()}


def rank(module: str) -> tuple[str, int] | None:
    """(app, place) of the modules whose order inside an app is fixed."""
    parts = module.split(".")
    if len(parts) >= 3 and parts[0] == "annotator" and parts[1] in APPS and parts[2] in INSIDE_AN_APP:
        return parts[1], INSIDE_AN_APP.index(parts[2])
    return None


def app_of(module: str) -> int | None:
    parts = module.split(".")
    return APPS.index(parts[1]) if len(parts) >= 2 and parts[0] == "annotator" and parts[1] in APPS else None


def breaks_a_rule(module: str, imported: str) -> str | None:
    for package, banned in FORBIDDEN.items():
        if within(module, package) and not within(imported, package):
            for name in banned:
                if within(imported, name):
                    return f"{package} is pure"
    uses_science = within(module, "annotator") and any(within(imported, package) for package in SCIENCE)
    if uses_science and not any(within(module, user) for user in SCIENCE_USERS):
        return "only annotator.results and annotator.checks may use the science packages"
    mine, theirs = app_of(module), app_of(imported)
    if mine is not None and theirs is not None and theirs > mine:
        return "studies <- grading <- results <- api"
    here, there = rank(module), rank(imported)
    if here and there and here[0] == there[0] and there[1] > here[1]:
        return "models <- access <- actions <- views"
    return None


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Every import circle that a walk in depth meets, as the modules along it."""
    found: list[list[str]] = []
    done: set[str] = set()

    def walk(module: str, trail: list[str]) -> None:
        if module in trail:
            found.append([*trail[trail.index(module) :], module])
        elif module not in done:
            for imported in sorted(graph[module] & graph.keys()):
                walk(imported, [*trail, module])
            done.add(module)

    for module in sorted(graph):
        walk(module, [])
    return found


def violations(root: Path) -> list[str]:
    graph = read_graph(root)
    found = [
        f"{module} imports {imported}: {rule}"
        for module, imports in sorted(graph.items())
        for imported in sorted(imports)
        if (rule := breaks_a_rule(module, imported))
    ]
    return found + ["import circle: " + " -> ".join(circle) for circle in circles(graph)]


def test_every_import_obeys_the_rules() -> None:
    assert violations(ROOT) == []


def test_the_rules_look_at_the_code() -> None:
    graph = read_graph(ROOT)
    for module in ("metrics.registry", "analysis.columns", "annotator.grading.actions", "annotator.settings"):
        assert module in graph
    assert "annotator.studies.models" in graph["annotator.grading.models"]


PLANTED = [
    ("metrics/a.py", "import django.db", "metrics is pure"),
    ("metrics/a.py", "def f():\n    from analysis import columns", "metrics is pure"),
    ("analysis/a.py", "from metrics import get", "analysis is pure"),
    ("analysis/sub/a.py", "from annotator.errors import BadInput", "analysis is pure"),
    ("annotator/demo/a.py", "from annotator.studies import models", "annotator.demo is pure"),
    ("annotator/grading/assignment.py", "from django.db import models", "assignment is pure"),
    ("annotator/grading/views.py", "import metrics", "only annotator.results"),
    ("annotator/middleware.py", "from analysis.report import build", "only annotator.results"),
    ("annotator/studies/a.py", "from annotator.grading.models import Grade", "studies <- grading"),
    ("annotator/studies/a.py", "from ..results import records", "studies <- grading"),
    ("annotator/results/a.py", "from annotator.api import views", "studies <- grading"),
    ("annotator/grading/models.py", "from annotator.grading import access", "models <- access"),
    ("annotator/grading/access.py", "from .actions import submit", "models <- access"),
    (
        "annotator/grading/actions.py",
        "if 1:\n    from . import views",
        "models <- access",
    ),
]


def plant(root: Path, files: dict[str, str]) -> None:
    for name in ("access", "actions", "views", "models"):
        files.setdefault(f"annotator/grading/{name}.py", "")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(("path", "source", "rule"), PLANTED)
def test_a_planted_violation_is_found(tmp_path: Path, path: str, source: str, rule: str) -> None:
    plant(tmp_path, {})
    assert violations(tmp_path) == []
    plant(tmp_path, {path: source, "annotator/results/records.py": "", "annotator/api/views.py": ""})
    found = violations(tmp_path)
    assert len(found) == 1
    assert rule in found[0]


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "metrics/__init__.py": "",
            "metrics/a.py": "from metrics import b",
            "metrics/b.py": "def late():\n    import metrics.c",
            "metrics/c.py": "from . import a",
        },
    )
    assert violations(tmp_path) == ["import circle: metrics.a -> metrics.b -> metrics.c -> metrics.a"]


def test_imports_for_types_alone_make_no_circle(tmp_path: Path) -> None:
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from metrics import a"
    plant(tmp_path, {"metrics/a.py": "from metrics import b", "metrics/b.py": typed})
    assert violations(tmp_path) == []
