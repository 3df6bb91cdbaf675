"""Images of problems: checked by content, stored under the hash of it."""

from __future__ import annotations

import hashlib
import stat
import tempfile
from pathlib import Path

from django.conf import settings

from annotator.errors import BadInput

MAX_IMAGE = 10_000_000
KINDS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


def checked_image(folder: Path, name: str) -> Path:
    """The image file `name` inside `folder`. Raises ValueError if it is elsewhere, missing or no image."""
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve())
        found = path.stat() if inside else None
        # Asked before it is opened: a pipe would wait for ever.
        if found and not stat.S_ISREG(found.st_mode):
            raise OSError
        start = read_start(path) if found else b""
    except (OSError, ValueError, RuntimeError):
        raise ValueError(f"there is no image {name!r:.200} beside the file that can be read.") from None
    if found is None:
        raise ValueError(f"the image {name!r} lies outside the folder of the file.")
    if found.st_size > MAX_IMAGE:
        raise ValueError(f"the image {name!r} is larger than {MAX_IMAGE // 1_000_000} MB.")
    if not kind_of(start):
        raise ValueError(f"{name!r} is not a PNG, JPEG, GIF or WebP image.")
    return path


def read_start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def kind_of(start: bytes) -> str:
    """`png`, `jpg`, `gif` or `webp` by the first 16 bytes; "" for anything else."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    return next((kind for magic, kind in KINDS if start.startswith(magic)), "")


def image_name(path: Path) -> str:
    """The name under which the image is stored: tells nothing of where it came from."""
    content = path.read_bytes()
    return f"{hashlib.sha256(content).hexdigest()}.{kind_of(content[:16])}"


def store_image(path: Path) -> str:
    """Copy the image into MEDIA_ROOT and return its name there; an image that is there stays.

    Raises BadInput if it cannot be written.
    """
    folder = settings.MEDIA_ROOT / "images"
    place = folder / image_name(path)
    if place.is_file():
        return place.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(path.read_bytes())
        Path(file.name).chmod(0o644)
        Path(file.name).replace(place)
    except OSError as error:
        raise BadInput(f"Cannot store the image {path.name} in {folder}: {error.strerror}.") from error
    return place.name
