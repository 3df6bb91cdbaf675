"""Images of problems: checked by content, stored under the hash of it."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from django.conf import settings

MAX_IMAGE = 10_000_000
KINDS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


def checked_image(folder: Path, name: str) -> Path:
    """The image file `name` inside `folder`. Raises ValueError if it is elsewhere, missing or no image."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"the image {name!r} lies outside the folder of the file.")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError):
        raise ValueError(f"there is no image {name!r} beside the file.") from None
    if size > MAX_IMAGE:
        raise ValueError(f"the image {name!r} is larger than {MAX_IMAGE // 1_000_000} MB.")
    if not kind_of(start):
        raise ValueError(f"{name!r} is not a PNG, JPEG, GIF or WebP image.")
    return path


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
    """Copy the image into MEDIA_ROOT and return its name there; an image that is there stays."""
    folder = settings.MEDIA_ROOT / "images"
    place = folder / image_name(path)
    if not place.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(path.read_bytes())
        Path(file.name).chmod(0o644)
        Path(file.name).replace(place)
    return place.name
