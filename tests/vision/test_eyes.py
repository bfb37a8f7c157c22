"""`recognise`, `watch` and the demo with the real eye, on pictures of the simulated table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.cli import main
from referee.demo.simulated_game import DemoOptions, script_of

WEIGHTS = Path(__file__).parents[2] / "models" / "weights"
needs_weights = pytest.mark.skipif(not (WEIGHTS / "finder.onnx").exists(), reason="the eye's weights are not here")
pytestmark = needs_weights


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One card at rest, and its name."""
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
    assert set(line) == {"image", "cards", "letters", "ms"}
    assert line["image"] == str(path)
    cards = line["cards"]
    assert isinstance(cards, list)
    assert [seen["card"] for seen in cards] == [card]
    assert set(cards[0]) == {"card", "confidence", "corners", "top"}
    assert len(cards[0]["corners"]) == 4
    assert cards[0]["top"] is True
    assert drawn.stat().st_size > 1000


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
