"""The camera, and the process that looks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.announce.sinks import Notice
from referee.engine.gap import SAME_CARD_WINDOW
from referee.vision.process import NO_FRAME
from tests.faults.conftest import Row
from tests.faults.rig import Rig
from tests.faults.told import kill

TRIES = 5
"""Number of retries for hands that a busy machine spread out."""


@pytest.fixture
def sightless(tmp_path: Path) -> Iterator[Rig]:
    """A table without a camera."""
    made = Rig(tmp_path, camera="gone")
    yield made
    made.close()


def named_hand(rig: Rig) -> Notice:
    """Let two and three slap; return the seat named as the first."""
    before = rig.told().count("first_hand")
    rig.slap(2, 3)
    rig.until(lambda: rig.told().count("first_hand") > before, "for the first hand")
    return [notice for notice in rig.notices if notice.what == "first_hand"][-1]


def first_hand(rig: Rig) -> None:
    """Let two and three slap while the table is unseen: named, and not judged."""
    notice = named_hand(rig)
    for _ in range(TRIES):
        if notice.fields["margin"] is not None:
            break
        # A busy machine delayed the second finger until it belonged to no first one.
        rig.run(2 * SAME_CARD_WINDOW / 1e6)
        notice = named_hand(rig)
    assert notice.fields["seat"] == 2
    assert 10e6 < notice.fields["margin"] < 200e6
    assert "not judged" in notice.words
    assert any("first hand" in said and "not judged" in said for said in rig.said())
    assert rig.lines("first_hand")


def wins_again(rig: Rig, row: Row) -> None:
    """Let three win the pair on the table, and check that the log replays."""
    rig.slap(3)
    rig.until(lambda: rig.rulings("slap_won"), "for a verdict")
    row.shows("recovers")
    assert rig.replays()
    row.shows("on the log", "and replays")


def paused_between(rig: Rig) -> tuple[int, int]:
    """Return the instants of the log's last pause and resume."""
    pause, resume = (json.loads(rig.lines(kind)[-1])["t"] for kind in ("pause", "resume"))
    assert pause < resume
    return pause, resume


def nobody_is_wronged(rig: Rig, since: int, until: int) -> None:
    """Check that slaps in the pause were ruled void, or not at all."""
    rig.until(lambda: rig.conductor.watermark > until, "for all to be ruled")
    slaps = {line["id"] for line in map(json.loads, rig.lines("slap")) if since <= line["t"] < until}
    assert slaps
    ruled = [ruling for ruling in rig.conductor.rulings if slaps & set(ruling.because)]
    assert {ruling.kind for ruling in ruled} == {"slap_void"}
    assert {ruling["reason"] for ruling in ruled} == {"paused"}


def test_absent(sightless: Rig, row: Row) -> None:
    """Camera absent at the start"""
    rig = sightless
    rig.until(lambda: "camera_gone" in rig.told(), "for the camera's absence")
    assert "plug one in" in rig.conductor.troubles["camera"]
    assert "the camera is gone" in rig.said()
    row.shows("told")
    first_hand(rig)
    row.shows("goes on", "first hand named")
    rig.camera.set("")
    rig.until(lambda: not rig.conductor.paused, "for the game to go on")
    assert "camera_back" in rig.told()
    nobody_is_wronged(rig, *paused_between(rig))
    rig.pair()
    assert "camera" not in rig.conductor.troubles
    row.shows("recovers")
    assert rig.replays()
    assert rig.lines("trouble")
    row.shows("on the log", "and replays")


@pytest.mark.parametrize("how", ["gone", "hung"])
def test_unplugged(rig: Rig, row: Row, how: str) -> None:
    """Camera unplugged, or hung, in mid-game"""
    row.fault = {"gone": "Camera unplugged in mid-game", "hung": "Camera hung (no frames, no failure)"}[how]
    rig.see()
    rig.lay("7h", 1)
    rig.lay("7c", 2)
    camera_watermark = rig.conductor.watermark
    rig.camera.set(how)
    rig.until(lambda: "camera_gone" in rig.told(), "for the loss")
    assert "paused" in rig.told()
    assert rig.conductor.troubles["camera"]
    row.shows("told")
    first_hand(rig)
    row.shows("goes on", "first hand named")
    rig.eye.lay_out("7h", "7c")
    rig.camera.set("")
    rig.until(lambda: not rig.conductor.paused, "for the game to go on")
    pause, resume = paused_between(rig)
    assert pause >= camera_watermark
    assert resume - pause < 60_000_000_000
    if how == "hung":
        assert resume - pause > NO_FRAME // 2, "from the last frame on, not from when it was noticed"
    assert rig.conductor.view.pile == ("7h", "7c"), "what lay there is no news"
    assert '"verdict":"same"' in rig.lines("reconciled")[-1]
    nobody_is_wronged(rig, pause, resume)
    wins_again(rig, row)


def test_pile_gone(rig: Rig, row: Row) -> None:
    """Camera unplugged, the pile taken meanwhile"""
    rig.see()
    rig.lay("7h", 1)
    rig.lay("8c", 2)
    rig.camera.set("gone")
    rig.until(lambda: rig.conductor.paused)
    rig.eye.lay_out()
    rig.camera.set("")
    rig.until(lambda: rig.rulings("question"), "for the question")
    rig.until(lambda: rig.conductor.view.pile == (), "for the pile to be gone")
    (question,) = rig.rulings("question")
    assert question["ask"] == "unseen_gap", "one question, and not another one for whose pile it is"
    assert "check_pile" in rig.told()
    assert any("the pile is gone" in said for said in rig.said())
    assert any("please check the pile" in said for said in rig.said())
    row.shows("told", "and asked")
    rig.until(lambda: not rig.conductor.paused)
    rig.pair()
    row.shows("goes on")
    row.shows("recovers")
    assert rig.replays()
    row.shows("on the log", "and replays")


def test_cards_laid_unseen(rig: Rig, row: Row) -> None:
    """Camera unplugged, cards laid meanwhile"""
    rig.see()
    rig.lay("7h", 1)
    rig.camera.set("gone")
    rig.until(lambda: rig.conductor.paused)
    rig.eye.lay_out("7h", "7c")
    rig.camera.set("")
    rig.until(lambda: not rig.conductor.paused)
    rig.until(lambda: len(rig.conductor.view.pile) == 3)
    assert rig.conductor.view.pile == ("7h", "??", "7c"), "the cards between are unseen"
    rig.slap(3)
    rig.until(lambda: len(rig.rulings("question")) > 0 and rig.conductor.watermark > rig.conductor.observations[-1].t)
    assert not rig.rulings("slap_won")
    assert not rig.rulings("slap_false")
    row.shows("told", "and asked")
    row.shows("goes on")
    assert rig.replays()
    row.shows("on the log", "and replays")


def test_dark(rig: Rig, row: Row) -> None:
    """The lamp goes out"""
    rig.see()
    rig.lay("7h", 1)
    rig.eye.hide("dark")
    rig.until(lambda: "view_dark" in rig.told())
    assert "switch on a lamp" in rig.conductor.troubles["view"]
    assert any("too dark" in said for said in rig.said())
    row.shows("told")
    first_hand(rig)
    row.shows("goes on", "first hand named")
    rig.eye.hide("")
    rig.until(lambda: not rig.conductor.paused)
    nobody_is_wronged(rig, *paused_between(rig))
    rig.lay("7c", 2)
    wins_again(rig, row)


def test_killed(rig: Rig, row: Row) -> None:
    """The process that looks is killed"""
    rig.see()
    rig.lay("7h", 1)
    rig.lay("7c", 2)
    rig.eye.lay_out("7h", "7c")
    kill(rig.sights.pid)
    rig.until(lambda: rig.conductor.paused)
    assert "started again" in rig.conductor.troubles["camera"]
    row.shows("told")
    first_hand(rig)
    row.shows("goes on", "first hand named")
    rig.until(lambda: not rig.conductor.paused)
    assert rig.sights.restarts == 1
    nobody_is_wronged(rig, *paused_between(rig))
    assert rig.conductor.view.pile == ("7h", "7c")
    wins_again(rig, row)


@pytest.mark.slow
def test_looking_hangs(rig: Rig, row: Row) -> None:
    """The process that looks hangs"""
    rig.see()
    rig.lay("7h", 1)
    rig.eye.lay_out("7h")
    rig.eye.hang(600)
    rig.until(lambda: rig.conductor.paused)
    assert "does not answer" in rig.conductor.troubles["camera"]
    row.shows("told")
    first_hand(rig)
    row.shows("goes on", "first hand named")
    rig.until(lambda: not rig.conductor.paused)
    rig.lay("7c", 2)
    wins_again(rig, row)
