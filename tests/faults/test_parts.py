"""Pads, sound, lights and the log."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hardware.pads.debounce import STUCK
from hardware.pads.slaps import PadFilter
from hardware.ports import HardwareMissing
from hardware.sound.stream_speaker import RETRY, STALLED, StreamSpeaker
from referee.announce.sinks import Notice
from referee.engine.rulings import Ruling
from referee.settings.model import parse_settings
from referee.table import devices
from referee.table.loop import Alarm, NoPads
from referee.table.roll_call import hold_roll_call
from tests.faults.conftest import Row
from tests.faults.rig import NAMES, SEATS, Rig
from tests.hardware.sound.test_stream_speaker import Beeps, Sound

SETTINGS = parse_settings(
    '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n[lights]\nenabled = false\n[voice]\nenabled = false\n'
)


def closes(rig: Rig, row: Row) -> None:
    """The last column: the log gives the same rulings again."""
    assert rig.replays()
    row.shows("on the log", "and replays")


# Pads


@pytest.mark.slow
def test_pad_stuck(rig: Rig, row: Row) -> None:
    """A pad is stuck, and let go again"""
    rig.see()
    rig.press(1)
    rig.until(lambda: "pad_stuck" in rig.told(), f"for {STUCK} ns")
    assert any("stuck" in said for said in rig.said())
    row.shows("told")
    rig.pair()
    assert rig.rulings("slap_won")[-1]["seat"] == 3
    row.shows("goes on")
    rig.lift(1)
    rig.until(lambda: "pad_works" in rig.told())
    assert "pad 1" not in rig.conductor.troubles
    row.shows("recovers")
    assert rig.lines("pad_stuck")
    closes(rig, row)


def test_pad_chatters(rig: Rig, row: Row) -> None:
    """A pad chatters without end"""
    rig.see()
    for _ in range(400):
        rig.press(1)
        rig.run(4)
        rig.lift(1)
        rig.run(4)
        if "pad_chatters" in rig.told():
            break
    assert "pad_chatters" in rig.told()
    row.shows("told")
    rig.pair()
    row.shows("goes on")
    assert rig.lines("pad_chatter")
    closes(rig, row)


def test_pad_silent(rig: Rig, row: Row) -> None:
    """A pad is silent: the roll-call finds it"""
    told: list[Notice] = []
    burning: list[tuple[int, ...]] = []
    alarm = Alarm()

    def show(waiting: tuple[int, ...]) -> None:
        """Show whose light burns slaps: all except two."""
        burning.append(waiting)
        for seat in set(waiting) - {2}:
            rig.press(seat)

    def stopped() -> bool:
        """Stop: a moment later the hands are up again."""
        for seat in (1, 3):
            held.append(seat)
            if len(held) > 8:
                rig.lift(seat)
        return False

    held: list[int] = []
    silent = hold_roll_call(
        NAMES, rig.pads, PadFilter(SEATS, start=rig.request.now - 1), [told.append], show,
        alarm=alarm, stopped=stopped, patience=2_000_000_000,
    )  # fmt: skip
    assert silent == (2,)
    assert burning[0] == (1, 2, 3)
    assert (2,) in burning
    assert burning[-1] == ()
    assert [notice.fields["seat"] for notice in told if notice.what == "not_heard"] == [2]
    assert any("Check its cable" in notice.words for notice in told)
    row.shows("told")
    rig.conductor.trouble("pad 2", "Ben's pad was not heard in the roll-call; see to its cable")
    rig.begin()
    rig.see()
    rig.pair()
    row.shows("goes on")
    assert any("roll-call" in line for line in rig.lines("trouble"))
    closes(rig, row)


def test_chip_busy(tmp_path: Path, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pads' pins are held by another program"""

    def refuse(*_: object) -> Any:
        raise HardwareMissing("another referee holds seat 1's pad (pin 4): end that one first")

    monkeypatch.setattr("hardware.pads.pads.open_gpiod", refuse)
    monkeypatch.setattr(devices, "open_camera_of", lambda _: Nothing())
    opened = devices.open_parts(SETTINGS, devices.Openers())
    assert isinstance(opened.pads, NoPads)
    assert "end that one first" in opened.missing["pads"]
    assert "slaps are not" in opened.missing["pads"]
    rig = Rig(tmp_path, pads=False)
    try:
        rig.conductor.trouble("pads", opened.missing["pads"])
        assert "pads_gone" in rig.told()
        assert any("the pads are gone" in said for said in rig.said())
        row.shows("told")
        rig.see()
        rig.lay("Kd", 1)
        rig.until(lambda: rig.rulings("challenge"), "for the challenge")
        rig.lay("2d", 2)
        rig.until(lambda: rig.rulings("chance"), "for its chances")
        row.shows("goes on", "cards and challenges")
        closes(rig, row)
    finally:
        rig.close()


class Nothing:
    """A camera that opens, and does nothing else."""

    def close(self) -> None: ...


def test_neither_camera_nor_pads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Any:
        raise HardwareMissing("no such thing here")

    monkeypatch.setattr("hardware.pads.pads.open_gpiod", refuse)
    monkeypatch.setattr(devices, "open_camera_of", refuse)
    with pytest.raises(HardwareMissing, match="no such thing here; and no such thing here"):
        devices.open_parts(SETTINGS, devices.Openers())


def test_chip_vanishes(rig: Rig, row: Row) -> None:
    """The pads' chip goes in mid-game"""
    rig.see()
    rig.pair()
    rig.request.vanish()
    rig.until(lambda: "pads_gone" in rig.told())
    assert "start the referee again" in rig.conductor.troubles["pads"]
    row.shows("told")
    rig.lay("Kd", rig.conductor.view.turn or 1)
    rig.until(lambda: rig.rulings("challenge"), "for the challenge")
    row.shows("goes on", "cards and challenges")
    closes(rig, row)


# Sound


def voice(tmp_path: Path, sound: Sound) -> Rig:
    """A table whose speaker is the real one, on a card that can be pulled out."""
    said: list[str] = []
    speaker = StreamSpeaker(Beeps(), sound=sound, watched=False, on_trouble=said.append)
    rig = Rig(tmp_path, speaker=speaker)
    speaker._on_trouble = lambda words: rig.loop.post("voice", words)
    for words in said:
        rig.loop.post("voice", words)
    return rig


def test_card_absent(tmp_path: Path, row: Row) -> None:
    """Sound card absent at the start"""
    sound = Sound(())
    rig = voice(tmp_path, sound)
    try:
        rig.until(lambda: "voice" in rig.conductor.troubles)
        assert "no sound" in rig.conductor.troubles["voice"]
        row.shows("told", "shown")
        rig.see()
        rig.pair()
        assert any(change.light == "green" for change in rig.lights.changes)
        row.shows("goes on", "lights and screen")
        sound.rates = (16_000,)
        _look_until_open(rig, sound)
        rig.until(lambda: "sound_back" in rig.told())
        assert "voice" not in rig.conductor.troubles
        row.shows("recovers")
        closes(rig, row)
    finally:
        rig.close()


def test_card_gone(tmp_path: Path, row: Row) -> None:
    """Sound card pulled out in the middle of a phrase"""
    sound = Sound()
    rig = voice(tmp_path, sound)
    speaker = rig.speaker
    assert isinstance(speaker, StreamSpeaker)
    try:
        rig.see()
        rig.lay("Kd", 1)
        rig.until(lambda: speaker._mixer.waiting)
        assert abs(sound.opened[-1].pull(4000)).max() > 0.1, "it speaks"
        sound.rates = ()
        sound.opened[-1].active = False
        speaker.look(speaker._seen[1] + STALLED)
        rig.until(lambda: "voice" in rig.conductor.troubles)
        assert "see its plug" in rig.conductor.troubles["voice"]
        row.shows("told", "shown")
        rig.lay("2s", 2)
        rig.lay("2d", 2)
        rig.slap(3)
        rig.until(lambda: rig.rulings("slap_won"), "for a verdict")
        row.shows("goes on", "lights and screen")
        sound.rates = (16_000,)
        _look_until_open(rig, sound)
        rig.until(lambda: "sound_back" in rig.told())
        assert abs(sound.opened[-1].pull(32_000)).max() > 0.1, "it speaks again"
        row.shows("recovers")
        closes(rig, row)
    finally:
        rig.close()


def _look_until_open(rig: Rig, sound: Sound) -> None:
    speaker = rig.speaker
    assert isinstance(speaker, StreamSpeaker)
    before = len(sound.opened)
    speaker.look(speaker._tried_at + RETRY)
    assert len(sound.opened) == before + 1


# Lights and the log


def test_lights_fail(rig: Rig, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lights fail, and work again"""
    rig.see()
    broken = Broken()
    monkeypatch.setattr(rig.lights, "seat", broken.seat)
    monkeypatch.setattr(rig.lights, "table", broken.table)
    rig.lay("7h", 1)
    rig.lay("7c", 2)
    rig.slap(3)
    rig.until(lambda: rig.rulings("slap_won"), "for a verdict")
    assert "lights_gone" in rig.told()
    assert any("the lights are gone" in said for said in rig.said())
    row.shows("told")
    row.shows("goes on", "voice and screen")
    monkeypatch.undo()
    rig.take(3)
    rig.until(lambda: "lights" not in rig.conductor.troubles)
    row.shows("recovers")
    closes(rig, row)


class Broken:
    """Lights whose wire is off."""

    def seat(self, *_: object) -> None:
        raise OSError(5, "Input/output error")

    table = seat
    close = seat


@contextmanager
def full(path: Path) -> Iterator[None]:
    """Forbid files to grow beyond the size of this one: to its writer that is a full disk (EFBIG for ENOSPC)."""
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, kept[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)


def test_disk_full(rig: Rig, row: Row) -> None:
    """The log's disk is full, and has room again"""
    rig.see()
    heard: list[Ruling] = []
    size = len(rig.written())
    # The cards for the other process are written by the same code, and are no log: laid before the disk fills.
    rig.lay("7h", 1)
    rig.lay("7c", 2)
    with full(rig.path):
        rig.slap(3)
        rig.until(lambda: rig.rulings("slap_won"), "for a verdict")
        heard += rig.rulings("slap_won")
        rig.until(lambda: "log" in rig.conductor.troubles)
        assert "make room" in rig.conductor.troubles["log"]
        assert any("log" in said for said in rig.said())
        row.shows("told")
    assert heard
    row.shows("goes on")
    rig.until(lambda: "log" not in rig.conductor.troubles)
    assert len(rig.written()) > size
    assert rig.written().endswith("\n")
    row.shows("recovers", "no line is lost")
    closes(rig, row)
