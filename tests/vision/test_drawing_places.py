"""Where `recognise --draw` puts its drawings."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import UserError
from referee.vision.photos import drawing_places


def test_one_image_is_drawn_on_the_file_that_is_named(tmp_path: Path) -> None:
    assert drawing_places(["a/one.jpg"], tmp_path / "seen.png") == [tmp_path / "seen.png"]


def test_several_images_are_drawn_in_a_folder_that_is_made(tmp_path: Path) -> None:
    assert drawing_places(["a/one.png", "a/two.jpg"], tmp_path / "seen") == [
        tmp_path / "seen" / "one.jpg",
        tmp_path / "seen" / "two.jpg",
    ]
    assert (tmp_path / "seen").is_dir()
    assert drawing_places(["a/one.png"], tmp_path / "seen") == [tmp_path / "seen" / "one.jpg"]


def test_images_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    assert [p.name for p in drawing_places(["a/1.jpg", "b/1.jpg", "b/2.jpg"], tmp_path)] == [
        "a-1.jpg", "b-1.jpg", "2.jpg",
    ]  # fmt: skip


def test_what_cannot_be_drawn_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name a folder"):
        drawing_places(["a/1.jpg", "a/2.jpg"], tmp_path / "seen.jpg")
    with pytest.raises(UserError, match="name each of them once"):
        drawing_places(["a/1.jpg", "a/1.png"], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be made"):
        drawing_places(["a/1.jpg", "a/2.jpg"], tmp_path / "file" / "seen")
