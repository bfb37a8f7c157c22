"""The conductor with a scripted watcher and raw edges: order, log, replay, failing parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO, StringIO
from typing import Any

import numpy as np
import pytest

from hardware.ports import Edge, Frame, HardwareMissing
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from referee.announce.sinks import RulingListener
from referee.announce.terminal import Display
from referee.announce.voice import Voice
from referee.engine.observations import Card, LogError, Observation, Table
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling, encode_ruling
from referee.table.game import Conductor
from referee.table.pause import CAMERA
from referee.text.ruling_lines import RulingWords
from referee.vision.sight import Looker
from tests.support.scripted_watcher import ScriptedWatcher
from tests.support.text_journal import TextJournal

MS = 1_000_000
NO_IMAGE = np.zeros((1, 1, 3), np.uint8)
TABLE = Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules="classic")
PAIR = (
    Card(t=1000 * MS, card="7h", seat=1),
    Card(t=2000 * MS, card="7c", seat=2, known_at=2400 * MS),
)
SLAPS = (
    Edge(seat=3, t=2_241_300_000, pressed=True, t_error=20_000),
    Edge(seat=1, t=2_255_800_000, pressed=True, t_error=20_000),
    Edge(seat=3, t=2_400_000_000, pressed=False),
    Edge(seat=1, t=2_410_000_000, pressed=False),
)


class Watched(Conductor):
    """A conductor whose frames are looked at here."""

    def __init__(self, log: StringIO | None, outlets: dict[str, RulingListener]) -> None:
        super().__init__(TABLE, outlets=outlets, journal=TextJournal(log) if log is not None else None)
        self.looker = Looker(ScriptedWatcher(PAIR, delay=100 * MS))

    def on_frame(self, frame: Frame) -> None:
        self.on_sight(self.looker.look(frame, self.foresight))

    def finish(self, rest: Sequence[Observation] = ()) -> None:
        super().finish((*self.looker.finish(), *rest))


def play(conductor: Watched, edges: tuple[Edge, ...] = SLAPS, until: int = 4000 * MS, *, since: int = 0) -> None:
    """Play frames each 50 ms and the edges, in the order of time; an edge is reported 20 ms late."""
    waiting = list(edges)
    for index, t in enumerate(range(since, until, 50 * MS), start=since // (50 * MS)):
        conductor.on_frame(Frame(NO_IMAGE, t, 2 * MS, index))
        while waiting and waiting[0].t + 20 * MS <= t:
            conductor.on_edge(waiting.pop(0))
        conductor.advance(t, t - 20 * MS)


def conducted(log: StringIO | None = None, **outlets: RulingListener) -> Watched:
    return Watched(log, outlets)


def lines(log: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_frames_and_edges_become_rulings() -> None:
    conductor = conducted()
    play(conductor)
    conductor.finish()
    won = next(ruling for ruling in conductor.rulings if ruling.kind == "slap_won")
    assert (won["seat"], won["patterns"], won["margin"], won["error"]) == (3, ["P1"], 14_500_000, 40_000)


def _won(lines: str) -> list[str]:
    return [line.split("  ")[-1] for line in lines.splitlines() if "wins the slap" in line]


def test_terminal_and_voice_say_nothing_of_other_hands_before_one_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Then they tell the margin once; later hands do not change it."""
    speaker = RecordingSpeaker(lambda: 0)
    late = (
        Edge(seat=1, t=2_341_300_000, pressed=True, t_error=20_000),
        Edge(seat=2, t=2_391_300_000, pressed=True, t_error=20_000),
    )
    display = Display(TABLE.seats, live=False)
    early = Watched(None, {"display": display, "voice": Voice(speaker)})
    early.looker = Looker(ScriptedWatcher((PAIR[0], replace(PAIR[1], known_at=2050 * MS)), delay=0))
    play(early, (SLAPS[0],), until=2_350 * MS)
    assert _won(capsys.readouterr().out) == ["Cho wins the slap, double"]
    assert [phrase.text for phrase in speaker.said if "seat three" in phrase.text] == ["seat three wins the slap"]
    play(early, late, until=2_800 * MS, since=2_350 * MS)
    early.finish()
    final = next(ruling for ruling in early.rulings if ruling.kind == "slap_won")
    assert final["margin"] == 100 * MS and len(final["runners_up"]) == 2
    assert _won(capsys.readouterr().out) == [RulingWords(TABLE.seats)(final)]
    said = [phrase.text for phrase in speaker.said if "milliseconds" in phrase.text]
    assert said == ["seat three by one hundred milliseconds"]


def test_a_hand_is_called_alone_once_its_pile_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal says so; the voice, which has said who won the slap, does not."""
    speaker = RecordingSpeaker(lambda: 0)
    alone = Watched(None, {"display": Display(TABLE.seats, live=False), "voice": Voice(speaker)})
    alone.looker = Looker(ScriptedWatcher((PAIR[0], replace(PAIR[1], known_at=2050 * MS)), delay=0))
    play(alone, (SLAPS[0],), until=2_800 * MS)
    assert _won(capsys.readouterr().out) == ["Cho wins the slap, double"]
    alone.finish()
    assert _won(capsys.readouterr().out) == ["Cho wins the slap, double, alone"]
    assert [phrase.text for phrase in speaker.said if "slap" in phrase.text] == ["seat three wins the slap"]


def test_the_log_gives_the_same_rulings_again() -> None:
    log = StringIO()
    conductor = conducted(log)
    play(conductor)
    conductor.finish()
    again = [encode_ruling(ruling) for ruling in replay_log(BytesIO(log.getvalue().encode()))]
    assert again == [encode_ruling(ruling) for ruling in conductor.rulings]
    assert again == [line for line in log.getvalue().splitlines() if line.startswith('{"ruling"')]


def test_the_log_holds_what_was_sensed_in_the_order_of_knowing() -> None:
    log = StringIO()
    conductor = conducted(log)
    play(conductor)
    conductor.finish()
    kinds = [line["kind"] for line in lines(log) if line.get("kind") in ("table", "card", "slap")]
    # Ben's card is read after both slaps were felt, though it lay there before them.
    assert kinds == ["table", "card", "slap", "slap", "card"]
    ids = [line["id"] for line in lines(log) if "kind" in line and line["kind"] != "tick"]
    assert len(ids) == len(set(ids))


def test_a_hand_before_the_game_is_on_the_log_and_nowhere_else() -> None:
    log = StringIO()
    game = conducted(log)
    early = Edge(seat=1, t=-200 * MS, pressed=True, t_error=20_000), Edge(seat=1, t=-100 * MS, pressed=False)
    play(game, (*early, *SLAPS))
    game.finish()
    assert [line["t"] for line in lines(log) if line.get("kind") == "edge"][:2] == [-200 * MS, -100 * MS]
    assert [line["seat"] for line in lines(log) if line.get("kind") == "slap"] == [3, 1]
    assert not [ruling for ruling in game.rulings if ruling.kind == "question"]


def test_no_ruling_before_both_sensors_have_told() -> None:
    conductor = conducted()
    for index, t in enumerate(range(0, 4000 * MS, 50 * MS)):
        conductor.on_frame(Frame(NO_IMAGE, t, 2 * MS, index))
    assert {ruling.t for ruling in conductor.rulings} <= {0}


def test_a_winner_is_handed_out_before_the_pile_is_picked_up() -> None:
    heard: list[Ruling] = []
    conductor = conducted(voice=heard.extend)
    play(conductor, until=2700 * MS)
    assert any(ruling.kind == "slap_won" and ruling["seat"] == 3 for ruling in heard)


def test_a_part_that_fails_is_on_record_and_stops_nothing() -> None:
    heard: list[str] = []

    def broken(_: Sequence[Ruling]) -> None:
        raise HardwareMissing("the sound card is gone; plug it in again")

    log = StringIO()
    conductor = conducted(log, voice=broken, display=lambda made: heard.extend(ruling.kind for ruling in made))
    play(conductor)
    conductor.finish()
    assert "slap_won" in heard
    troubles = [line for line in lines(log) if line.get("kind") == "trouble"]
    assert [line["part"] for line in troubles] == ["voice"]
    assert "sound card is gone" in troubles[0]["words"]
    assert not any(ruling.kind == "question" for ruling in conductor.rulings)


def test_a_log_that_cannot_be_written_stops_nothing() -> None:
    class Full(StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    conductor = conducted(Full())
    play(conductor)
    conductor.finish()
    assert any(ruling.kind == "slap_won" for ruling in conductor.rulings)
    assert "No space left" in conductor.troubles["log"]


def test_without_its_camera_the_table_goes_on() -> None:
    conductor = conducted()
    conductor.lose(CAMERA, "no frame for 2 s")
    conductor.on_edge(SLAPS[0])
    conductor.on_edge(SLAPS[2])
    conductor.advance(5000 * MS, 4900 * MS)
    assert any(ruling.kind.startswith("slap_") for ruling in conductor.rulings)


def test_a_chattering_pad_is_one_slap() -> None:
    chatter = tuple(
        Edge(seat=3, t=2_241_300_000 + at * 100_000, pressed=pressed, t_error=20_000)
        for at, pressed in ((0, True), (8, False), (10, True), (14, False), (16, True), (1500, False))
    )
    log = StringIO()
    conductor = conducted(log)
    play(conductor, chatter)
    slaps = [line for line in lines(log) if line.get("kind") == "slap"]
    assert [slap["t"] for slap in slaps] == [2_241_300_000]


def test_an_unknown_preset_is_refused_at_once() -> None:
    table = Table(t=0, id="table", seats=("Ana", "Ben"), rules="clasic")
    with pytest.raises(LogError, match="clasic"):
        Conductor(table)
