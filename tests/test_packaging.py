"""The files that build and start Codejury elsewhere, checked as far as that goes without a container engine.

tests/proof/test_production.py runs the commands named here against a real PostgreSQL and Redis.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.environment import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
SECRETS = ("SECRET_KEY", "POSTGRES_PASSWORD")


def instructions(text: str) -> list[tuple[str, str]]:
    """(INSTRUCTION, rest) of a Dockerfile, continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = [line.partition(" ") for line in joined.splitlines()]
    return [(name.upper(), rest.strip()) for name, _, rest in pairs]


def shell_scripts() -> Iterator[Path]:
    for folder in (".ci", "scripts"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.is_file() and path.read_bytes().startswith(b"#!") and b"sh" in path.read_bytes()[:30]:
                yield path


def values_of(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for value in node.values():
            yield from values_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from values_of(value)
    else:
        yield str(node)


def tracked_files() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return done.stdout.splitlines()


@pytest.mark.parametrize("path", list(shell_scripts()), ids=lambda path: path.name)
def test_shell_scripts_parse(path: Path) -> None:
    done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_scripts_are_looked_at() -> None:
    assert {path.name for path in shell_scripts()} >= {"run", "setup"}


def test_the_base_image_is_pinned_to_a_version() -> None:
    (base,) = [rest for name, rest in instructions(DOCKERFILE) if name == "FROM"]
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base)


def test_the_image_runs_as_nobody_special() -> None:
    order = instructions(DOCKERFILE)
    users = [(place, rest) for place, (name, rest) in enumerate(order) if name == "USER"]
    assert users
    place, user = users[-1]
    assert int(user.split(":")[0]) >= 1000
    assert all(name not in ("RUN", "COPY", "ADD") for name, _ in order[place:])


def test_the_image_holds_no_secret() -> None:
    for name, rest in instructions(DOCKERFILE):
        assert name != "ARG"
        assert not any(secret in rest for secret in SECRETS)
    assert "collectstatic" in DOCKERFILE


def test_what_the_image_copies_exists_and_reaches_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    for name, rest in instructions(DOCKERFILE):
        if name == "COPY":
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in ignored, source


def test_every_package_that_the_app_imports_is_in_the_image() -> None:
    copied = {
        source for name, rest in instructions(DOCKERFILE) if name == "COPY" for source in rest.split()[:-1]
    }
    assert copied >= {"annotator", "metrics", "analysis", "templates", "static", "manage.py"}


def test_the_services_of_a_deployment() -> None:
    assert set(SERVICES) == {"migrate", "web", "worker", "postgres", "redis"}
    assert set(COMPOSE["volumes"]) == {"postgres", "data"}
    mounted = {mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])}
    assert mounted == set(COMPOSE["volumes"])


def test_every_lasting_service_has_a_health_check() -> None:
    assert "HEALTHCHECK" in dict(instructions(DOCKERFILE))  # web takes the image's
    for name in ("worker", "postgres", "redis"):
        assert SERVICES[name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")


def test_nothing_starts_before_the_tables_are_there() -> None:
    for name in ("web", "worker"):
        assert SERVICES[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert SERVICES["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert SERVICES["migrate"]["restart"] == "no"


def test_secrets_are_required_from_outside() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    for secret in SECRETS:
        uses = re.findall(r"\$\{" + secret + r"([^}]*)\}", text)
        assert uses
        assert all(use.startswith(":?") and len(use) > 10 for use in uses), secret
    for line in (ROOT / ".env.example").read_text().splitlines():
        if line.startswith(SECRETS):
            assert line.endswith("="), "the example must not bring a secret"


def test_every_variable_of_the_example_is_used_and_the_other_way_round() -> None:
    used = {name for value in values_of(COMPOSE) for name in re.findall(r"(?<!\$)\$\{([A-Z_]+)", value)}
    named = {
        line.split("=")[0]
        for line in (ROOT / ".env.example").read_text().splitlines()
        if line and not line.startswith("#")
    }
    assert named == used - {"LOG_LEVEL"}


def test_only_the_web_server_listens_outside_and_only_on_this_machine() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert SERVICES["web"]["ports"] == ["${LISTEN:-127.0.0.1}:${PORT:-8000}:8000"]


def test_images_are_pinned() -> None:
    for name in ("postgres", "redis"):
        assert re.search(r":\d+(\.\d+)*-\w+$", SERVICES[name]["image"])


def test_the_containers_have_few_rights() -> None:
    for name in ("migrate", "web", "worker"):
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert "privileged" not in service


def test_requirements_are_pinned_exactly() -> None:
    constraints = {
        line.split("==")[0].lower().replace("_", "-"): line.split("==")[1]
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    for path in sorted(ROOT.glob("requirements*.txt")):
        for line in path.read_text().splitlines():
            line = line.partition("#")[0].strip()
            if line and not line.startswith("-"):
                name, version = line.split("==")
                assert constraints.get(name.lower().replace("_", "-"), version) == version, (
                    f"{path.name}: {line}"
                )


@pytest.mark.parametrize(
    "pattern", ["*.sqlite3*", ".env", ".env.*", "*.pem", "*secret-key*", "*.pyc", "var/*"]
)
def test_nothing_private_or_made_is_committed(pattern: str) -> None:
    assert [name for name in tracked_files() if fnmatch(name, pattern) and name != ".env.example"] == []


def test_no_file_is_too_long() -> None:
    """Source files stay under 400 lines, so that each can be read in one go."""
    long = {
        name: lines
        for name in tracked_files()
        if name.endswith((".py", ".js")) and "/vendor/" not in name and (ROOT / name).is_file()
        if (lines := len((ROOT / name).read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}
