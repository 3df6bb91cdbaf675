"""Images of problems: only real ones, only from beside the file, stored under their hash."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from annotator.errors import BadInput
from annotator.studies import images

PNG = b"\x89PNG\r\n\x1a\n" + b"rest of the picture"
KINDS = {
    "png": PNG,
    "jpg": b"\xff\xd8\xff\xe0 picture",
    "gif": b"GIF89a picture",
    "webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one image, and with what must not be taken for one."""
    inside = tmp_path / "import"
    (inside / "cards").mkdir(parents=True)
    (inside / "cards" / "1.png").write_bytes(PNG)
    (inside / "same.png").symlink_to("cards/1.png")
    (inside / "text.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (inside / "empty.png").touch()
    (inside / "folder.png").mkdir()
    (inside / "loop.png").symlink_to("loop.png")
    (inside / "device.png").symlink_to("/dev/zero")
    os.mkfifo(inside / "pipe.png")
    with (inside / "large.png").open("wb") as file:
        file.write(PNG)
        file.truncate(images.MAX_IMAGE + 1)
    (tmp_path / "secret.png").write_bytes(PNG)
    (inside / "out.png").symlink_to("../secret.png")
    (inside / "outside").symlink_to("..")
    return inside


@pytest.mark.parametrize("name", ["cards/1.png", "./cards/../cards/1.png", "same.png"])
def test_an_image_beside_the_file_is_found(folder: Path, name: str) -> None:
    assert images.checked_image(folder, name) == (folder / "cards" / "1.png").resolve()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../secret.png", "outside"),
        ("cards/../../secret.png", "outside"),
        ("{folder}/../secret.png", "outside"),
        ("/etc/passwd", "outside"),
        ("out.png", "outside"),
        ("outside/secret.png", "outside"),
        ("device.png", "outside"),
        ("missing.png", "there is no image"),
        ("cards/1.png/2.png", "there is no image"),
        ("cards/1.png\0", "there is no image"),
        ("x" * 5000, "there is no image"),
        ("folder.png", "there is no image"),
        ("loop.png", "there is no image"),
        ("pipe.png", "there is no image"),
        (".", "there is no image"),
        ("text.png", "is not a PNG, JPEG, GIF or WebP image"),
        ("empty.png", "is not a PNG, JPEG, GIF or WebP image"),
        ("large.png", "larger than 10 MB"),
    ],
)
def test_anything_else_is_refused(folder: Path, name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        images.checked_image(folder, name.format(folder=folder))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("kind", "content"), KINDS.items())
def test_an_image_is_stored_once_under_its_hash(
    tmp_path: Path, settings: Any, kind: str, content: bytes
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    for name in ("archmage.png", "other.png"):
        (tmp_path / name).write_bytes(content)
        assert images.store_image(tmp_path / name) == f"{hashlib.sha256(content).hexdigest()}.{kind}"
    stored = list((tmp_path / "media" / "images").iterdir())
    assert [path.read_bytes() for path in stored] == [content]
    assert stored[0].stat().st_mode & 0o777 == 0o644


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, settings: Any) -> None:
    (tmp_path / "1.png").write_bytes(PNG)
    settings.MEDIA_ROOT = tmp_path / "1.png"
    with pytest.raises(BadInput, match=r"Cannot store the image 1\.png"):
        images.store_image(tmp_path / "1.png")
