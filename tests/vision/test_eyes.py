"""`recognise`, `watch` and the demo with the real eye, on pictures of the simulated table."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.ports import Frame
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from models.eye import eye
from referee.cli import main
from referee.demo.simulated_game import DemoOptions, script_of
from referee.errors import UserError
from referee.units import SECOND
from referee.vision.photos import read_image, read_photo
from referee.vision.videos import _skip_bare_table

WEIGHTS = Path(__file__).parents[2] / "models" / "weights"
needs_weights = pytest.mark.skipif(not (WEIGHTS / "finder.ncnn").exists(), reason="the eye's weights are not here")
pytestmark = needs_weights


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return one card at rest, and its name."""
    import cv2

    script = play_game(seed=3, seats=4, max_cards=1)
    frame = SimulatedTable(script).render(script.truth[1].t + 900_000_000)
    path = tmp_path_factory.mktemp("picture") / "one.png"
    cv2.imwrite(str(path), frame.image)
    return path, getattr(script.truth[1], "card", "")


def test_recognise_prints_one_object_an_image(
    picture: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, card = picture
    drawn = tmp_path / "seen.jpg"
    assert main(["recognise", str(path), "--draw", str(drawn)]) == 0
    (line,) = printed(capsys)
    assert set(line) == {"image", "cards", "letters", "grey", "ms"}
    assert line["grey"] is False
    assert line["image"] == str(path)
    cards = line["cards"]
    assert isinstance(cards, list)
    assert [seen["card"] for seen in cards] == [card]
    assert set(cards[0]) == {"card", "confidence", "corners", "top"}
    assert len(cards[0]["corners"]) == 4
    assert cards[0]["top"] is True
    assert drawn.stat().st_size > 1000


def test_recognise_says_of_a_picture_that_it_is_without_colour(
    picture: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import cv2

    path, card = picture
    grey = tmp_path / "grey.png"
    cv2.imwrite(str(grey), cv2.imread(str(path), cv2.IMREAD_GRAYSCALE))
    assert main(["recognise", str(grey)]) == 0
    told = capsys.readouterr()
    line = json.loads(told.out)
    assert line["grey"] is True
    assert [seen["card"][0] for seen in line["cards"]] == [card[0]]
    assert all(seen["confidence"] < 0.9 for seen in line["cards"])
    assert told.err == f"referee: {grey} is without colour: suits are guessed by their shapes, none is sure\n"


def test_recognise_goes_on_past_an_image_that_cannot_be_read(
    picture: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = tmp_path / "torn.jpg"
    torn.write_bytes(b"no image")
    assert main(["recognise", str(tmp_path / "none.jpg"), str(torn), str(picture[0])]) == 2
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 1
    assert [name in line for name, line in zip(("none.jpg", "torn.jpg"), told.err.splitlines(), strict=True)] == [
        True
    ] * 2


@pytest.mark.slow
def test_a_short_demo_its_log_and_its_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, frames, summary = tmp_path / "game.jsonl", tmp_path / "frames", tmp_path / "summary.json"
    status = main(
        ["demo", "--no-pace", "--seed", "4", "--max-cards", "24", "--log", str(log), "--frames", str(frames),
         "--summary", str(summary)]
    )  # fmt: skip
    capsys.readouterr()
    figures = json.loads(summary.read_text(encoding="utf-8"))
    assert status == int(bool(figures["missed_targets"]))
    assert figures["cards"]["laid"] == script_of(DemoOptions(seed=4, max_cards=24)).laid == 24

    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert main(["replay", str(log), "--all"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert sorted(again) == sorted(
        json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in lines if "ruling" in line
    )

    assert main(["watch", str(frames), "--seats", "4"]) == 0
    watched = [line["card"] for line in printed(capsys) if line["kind"] == "card"]
    told = [line["card"] for line in lines if line.get("kind") == "card"]
    assert watched == told


# Pictures of odd sizes


def claimed(kind: str, width: int, height: int) -> bytes:
    """Return a small grey picture whose header claims another size: unpacking it would take that much memory."""
    import cv2

    data = bytearray(cv2.imencode(f".{kind}", np.full((64, 64, 3), 90, np.uint8))[1].tobytes())
    if kind == "png":
        data[16:24] = struct.pack(">II", width, height)
        data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    else:
        frame = data.index(b"\xff\xc0")
        data[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(data)


@pytest.mark.parametrize(
    ("kind", "size", "words"),
    [
        ("png", (5, 5), "5×5 px: too small for a card, which takes 16 px a side at least"),
        ("jpg", (2000, 5), "2000×5 px: too small"),
        (
            "png",
            (20_000, 20_000),
            "20000×20000 px: too large; make it smaller, to 64 million pixels at most, or save it as",
        ),
        ("jpg", (65_500, 65_500), "65500×65500 px: too large; make it smaller, to 64 million pixels at most"),
    ],
)
def test_pictures_of_odd_sizes_are_refused_in_words_and_the_next_is_read(
    kind: str, size: tuple[int, int], words: str, picture: tuple[Path, str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    odd = tmp_path / f"odd.{kind}"
    odd.write_bytes(claimed(kind, *size))
    assert main(["recognise", str(odd), str(picture[0])]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert len(told.out.splitlines()) == 1


def test_a_folder_of_frames_too_small_for_a_card_is_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import cv2

    cv2.imwrite(str(tmp_path / "f1.png"), np.full((8, 8, 3), 90, np.uint8))
    assert main(["watch", str(tmp_path)]) == 2
    assert "8×8 px is empty or too small for a card" in capsys.readouterr().err


def test_a_huge_jpeg_is_made_smaller_as_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.jpg"
    huge.write_bytes(claimed("jpg", 20_000, 20_000))
    image, shrunk = read_photo(str(huge))
    assert (image.shape, shrunk) == ((5000, 5000, 3), 4)
    with pytest.raises(UserError, match="too large to be measured in"):
        read_image(str(huge))


def test_corners_are_those_of_the_picture_as_it_is_stored(
    picture: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import cv2

    image = cv2.resize(cv2.imread(str(picture[0])), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    large = tmp_path / "large.jpg"
    cv2.imwrite(str(large), image)
    assert main(["recognise", str(large)]) == 0
    whole: Any = printed(capsys)[0]
    monkeypatch.setattr(eye, "MOST_PIXELS", image.shape[0] * image.shape[1] // 2)
    assert main(["recognise", str(large)]) == 0
    reduced: Any = printed(capsys)[0]
    assert whole["cards"][0]["card"] == reduced["cards"][0]["card"] == picture[1]
    assert np.abs(np.subtract(whole["cards"][0]["corners"], reduced["cards"][0]["corners"])).max() < 8


def test_the_first_seconds_of_a_video_may_show_the_bare_table() -> None:
    shown = [
        Frame(np.full((4, 4, 3), level, np.uint8), n * SECOND // 2, 0, n) for n, level in enumerate((10, 20, 90, 95))
    ]
    table, rest = _skip_bare_table(iter(shown), SECOND)
    assert table.tolist() == np.full((4, 4, 3), 15).tolist()
    assert [frame.index for frame in rest] == [2, 3]


def test_a_video_that_is_all_bare_table_shows_no_card() -> None:
    table, rest = _skip_bare_table(iter([Frame(np.zeros((4, 4, 3), np.uint8), 0, 0, 0)]), SECOND)
    assert table.shape == (4, 4, 3) and list(rest) == []
