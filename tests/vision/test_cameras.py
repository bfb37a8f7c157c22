"""Cameras, decks and photographs as their owners name them: their lookup, and the error where they are missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
import pytest

from hardware.ports import Frame, HardwareMissing
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from models.decks.deck_file import DeckBroken
from models.eye import eye
from models.eye.networks import open_networks
from referee.errors import UserError
from referee.settings.model import parse_settings
from referee.vision import learned_decks
from referee.vision.cameras import (
    CameraFound,
    Played,
    camera_spec,
    cameras,
    open_camera_of,
    open_recording,
    open_remote,
    pi_cameras,
    usb_cameras,
    work_of,
)
from referee.vision.photos import load_eye, read_image, recognise, usual_threads

SEATS = '[[seat]]\nname = "Ana"\nbearing = 10\n[[seat]]\nname = "Ben"\nbearing = 190\n'
MS = 1_000_000
SECOND = 1_000 * MS


def machine(root: Path, *devices: tuple[str, str, str]) -> Path:
    """Return a machine with these video devices: number, name and index; an empty index is a missing file."""
    (root / "dev").mkdir()
    for number, name, index in devices:
        (root / "dev" / f"video{number}").touch()
        folder = root / "sys" / "class" / "video4linux" / f"video{number}"
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        if index:
            (folder / "index").write_text(f"{index}\n")
    return root


def test_of_a_machines_video_devices_those_are_cameras_that_give_pictures(tmp_path: Path) -> None:
    root = machine(
        tmp_path, ("10", "bcm2835-codec-decode", "0"), ("2", "HD Webcam: Front", "0"), ("3", "HD Webcam: Front", "1"),
        ("0", "", ""), ("x", "Odd one", "0"), ("19", "pispbe-input", "0"),
    )  # fmt: skip
    assert usb_cameras(root) == [
        CameraFound("usb:0", "video0"), CameraFound("usb:2", "HD Webcam: Front"), CameraFound("usb:99", "Odd one"),
    ]  # fmt: skip


def test_the_pis_own_camera_stands_first(tmp_path: Path) -> None:
    root = machine(tmp_path, ("0", "Webcam", "0"))
    found = cameras(root, lambda: ["imx708", "imx219"])
    assert found == [CameraFound("picamera", "the Pi's own (imx708)"), CameraFound("usb:0", "Webcam")]


WRECKS = [
    ImportError("libcamera.so.0.3: cannot open shared object file"),
    OSError("libcamera is of another version"),
    SystemError("initialization of _libcamera raised unreported exception"),
    RuntimeError("camera manager already gone"),
    ValueError("numpy.dtype size changed"),
    KeyError(),
]
"""Known and possible errors from the import of picamera2."""


@pytest.mark.parametrize("bad", WRECKS, ids=lambda bad: type(bad).__name__)
def test_a_library_that_does_not_work_is_named_after_the_cameras_that_do(tmp_path: Path, bad: Exception) -> None:
    root = machine(tmp_path, ("0", "Webcam", "0"))

    def fails() -> list[str]:
        raise bad

    usb, own = cameras(root, fails)
    assert usb == CameraFound("usb:0", "Webcam")
    assert own.source == "picamera" and "does not work yet" in own.name and "referee doctor" in own.name
    assert " ".join(str(bad).split()) in own.name


def test_libcamera_names_usb_cameras_too_and_they_are_not_the_pis_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Picamera2:
        @staticmethod
        def global_camera_info() -> list[dict[str, Any]]:
            return [
                {"Model": "imx708", "Id": "/base/soc/i2c0mux/imx708@1a"},
                {"Model": "Webcam", "Id": "/base/soc/USB@7e98/1.2"},
                {"Id": "/base/soc/i2c0mux/other"},
            ]

    module = ModuleType("picamera2")
    module.Picamera2 = Picamera2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    assert pi_cameras() == ["imx708", "camera"]
    monkeypatch.delitem(sys.modules, "picamera2")
    monkeypatch.setattr(sys, "path", [])
    assert pi_cameras() == [], "without libcamera there is none"


def test_a_library_that_is_there_and_lacks_another_is_no_missing_camera(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "picamera2.py").write_text("import libcamera_of_nowhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "picamera2", raising=False)
    with pytest.raises(ModuleNotFoundError, match="libcamera_of_nowhere"):
        pi_cameras()


class Recording:
    """Three frames of a recording that began long ago."""

    def __init__(self) -> None:
        self.closed = False

    def frames(self) -> Iterator[Frame]:
        for n in range(3):
            yield Frame(np.zeros((2, 2, 3), np.uint8), n * MS, 0, n)

    def close(self) -> None:
        self.closed = True


def test_a_recording_is_shown_as_if_it_happened_now() -> None:
    recording = Recording()
    played = Played(recording)
    frames = list(played.frames())
    assert [frame.t - frames[0].t for frame in frames] == [0, MS, 2 * MS]
    assert frames[0].t > 0
    played.close()
    assert recording.closed


@pytest.mark.parametrize(("source", "live"), [("picamera", True), ("usb:1", True), ("games/one.mp4", False)])
def test_what_ends_may_come_back_where_it_is_a_camera(source: str, live: bool) -> None:
    settings = parse_settings(f'[camera]\nsource = "{source}"\n{SEATS}')
    work = work_of(settings)
    assert work.live is live
    assert work.camera.func is (open_remote if live else open_recording)  # type: ignore[attr-defined]
    assert work.camera.args == (camera_spec(settings.camera),)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("chosen", "threads"), [("", usual_threads()), ("[eye]\nthreads = 3\n", 3)])
def test_the_eye_has_the_threads_that_were_measured(chosen: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    def noted(folder: Path, number: int) -> Any:
        given.append(number)
        return open_networks(folder, number)

    monkeypatch.setattr(eye, "open_networks", noted)
    work_of(parse_settings(chosen + SEATS)).watcher()
    assert given == [threads]


def test_the_eye_reads_the_same_with_any_number_of_threads() -> None:
    image = SimulatedTable(play_game(1, 4, max_cards=6), size=(640, 480)).render(6 * SECOND).image
    one, other = (load_eye(threads=threads).recognise(image) for threads in (1, 2))
    assert [(seen.card, seen.confidence, seen.corners.tolist()) for seen in one] == [
        (seen.card, seen.confidence, seen.corners.tolist()) for seen in other
    ]
    assert any(seen.confidence > 0.9 for seen in one)


def test_a_camera_that_is_not_there_is_told_by_its_name(tmp_path: Path) -> None:
    camera = parse_settings(f'[camera]\nsource = "{tmp_path / "none.mp4"}"\n{SEATS}').camera
    with pytest.raises(HardwareMissing, match="none"):
        open_camera_of(camera)
    with pytest.raises(HardwareMissing, match="none"):
        open_recording(camera_spec(camera), print)


# Decks


@pytest.fixture
def decks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "table-referee" / "decks"
    folder.mkdir(parents=True)
    return folder


def test_a_deck_that_was_not_learned_is_told_with_those_that_were(decks: Path) -> None:
    with pytest.raises(UserError, match="no deck skat: none was learned yet; `referee enrol --deck skat` learns one"):
        learned_decks.read("skat")
    (decks / "tarot.npz").write_bytes(b"torn")
    (decks / "Not a deck.npz").write_bytes(b"")
    with pytest.raises(UserError, match="no deck skat: there are tarot"):
        learned_decks.read("skat")
    assert learned_decks.names() == ["tarot"]


def test_a_deck_whose_file_is_torn_is_told_with_how_to_forget_it(decks: Path) -> None:
    (decks / "tarot.npz").write_bytes(b"torn")
    with pytest.raises(UserError, match=r"the deck tarot: .*`referee enrol --forget tarot`") as refusal:
        learned_decks.knowledge("tarot")
    assert isinstance(refusal.value.__cause__, DeckBroken)


@pytest.mark.parametrize("name", ["", "Skat", "a/b", "..", "a" * 41, "-skat"])
def test_a_name_that_could_be_no_files_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="cannot be a deck's name"):
        learned_decks.path_of(name)


def test_a_deck_is_forgotten_once(decks: Path) -> None:
    (decks / "tarot.npz").write_bytes(b"torn")
    (decks / "tarot.png").write_bytes(b"picture")
    learned_decks.forget("tarot")
    assert list(decks.iterdir()) == []
    with pytest.raises(UserError, match="no deck tarot; `referee enrol --list`"):
        learned_decks.forget("tarot")
    (decks / "folder.npz").mkdir()
    with pytest.raises(UserError, match=r"folder.npz cannot be removed: "):
        learned_decks.forget("folder")


# Photographs


def test_what_is_no_image_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "text.jpg").write_text("no picture")
    for name, words in (
        (str(tmp_path / "none.jpg"), "there is no such file"),
        (str(tmp_path), r"is a folder; name the images in it, as in .*/\*.jpg"),
        (str(tmp_path / "text.jpg"), "is no image that can be read"),
    ):
        with pytest.raises(UserError, match=words):
            read_image(name)


def test_an_image_that_cannot_be_read_is_told_and_the_next_one_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), np.full((240, 320, 3), 60, np.uint8))
    assert recognise([str(tmp_path / "none.jpg"), str(bare)]) == 2
    said = capsys.readouterr()
    assert said.err == f"referee: {tmp_path / 'none.jpg'}: there is no such file\n"
    assert '"cards": []' in said.out


def test_a_drawing_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), np.full((240, 320, 3), 60, np.uint8))
    for target in (tmp_path / "none" / "seen.jpg", tmp_path / "seen.nothing"):
        with pytest.raises(UserError, match="cannot be written; name a"):
            recognise([str(bare)], draw=target)
    assert recognise([str(bare)], draw=tmp_path / "seen.jpg") == 0
    assert (tmp_path / "seen.jpg").exists()


def test_an_eye_for_a_deck_that_is_not_there_is_none(decks: Path) -> None:
    assert not list(decks.iterdir())
    with pytest.raises(UserError, match="no deck skat"):
        load_eye("skat")
