"""`referee()` with simulated devices: everything is wired as at a real table, from the settings to the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from hardware.ports import Edge, Frame, Lost
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from referee.engine.observations import Card
from referee.engine.replay import replay_log
from referee.engine.rulings import encode_ruling
from referee.record.journal import FileJournal
from referee.settings.model import parse_settings
from referee.table.assembly import referee_game
from referee.table.devices import OpenParts
from referee.table.systemd import Service, Watchdog
from tests.support.local_sights import LocalSights
from tests.support.scripted_watcher import ScriptedWatcher

MS = 1_000_000
SETTINGS = 'dealer = 2\n[pads]\nroll_call = false\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


class Camera:
    """Blank frames, fifty a second, until it is closed; after half a minute it gives up the game."""

    def __init__(self, give_up: Callable[[], object]) -> None:
        self._give_up = give_up
        self.began = time.monotonic_ns()
        self._closed = False

    def frames(self) -> Iterator[Frame]:
        index = 0
        while not self._closed:
            while time.monotonic_ns() < self.began + index * 20 * MS:
                time.sleep(0.002)
            yield Frame(np.zeros((1, 1, 3), np.uint8), self.began + index * 20 * MS, 2 * MS, index)
            index += 1
            if index == 1500:
                self._give_up()

    def close(self) -> None:
        self._closed = True


class Ending(RecordingSpeaker):
    """Ends the game once it has announced the slap's winner."""

    def __init__(self, stop: Callable[[], object]) -> None:
        super().__init__()
        self._stop = stop

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        super().say(clips, urgent=urgent, patience=patience, topic=topic)
        if "wins the slap" in " ".join(clips):
            self._stop()


class OnePress:
    """Pads of which one is pressed, after a game has gone on for some time."""

    def __init__(self, at: int) -> None:
        self._at, self.closed = at, False
        self._pressed = False

    trouble = ""

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        self._hear = on_edge

    def watermark(self, now: int) -> int:
        if now > self._at and not self._pressed:
            self._pressed = True
            self._hear(Edge(2, self._at, True, 20_000))
            self._hear(Edge(2, self._at + 40 * MS, False))
        return now - 5 * MS

    def close(self) -> None:
        self.closed = True


def test_a_game_from_the_settings_to_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent: list[str] = []
    service = Service(sent.append, Watchdog({"engine": 10**10, "pads": 10**10}, 0, time.monotonic_ns()))
    camera = Camera(service.ask_to_stop)
    cards = (
        Card(t=camera.began + 300 * MS, card="7h", seat=1),
        Card(t=camera.began + 450 * MS, card="7c", seat=2),
    )
    parts = OpenParts(
        LocalSights(camera, lambda: ScriptedWatcher(cards, delay=60 * MS)), OnePress(camera.began + 600 * MS),
        parse_settings(SETTINGS), SimulatedLights(2), Ending(service.ask_to_stop),
        missing={"strip": "there is no strip of lights at /dev/leds0"},
    )  # fmt: skip
    journal = FileJournal(tmp_path / "game.jsonl")
    conductor = referee_game(parse_settings(SETTINGS), parts, journal=journal, live=False, service=service)
    journal.close()
    parts.close()
    won = next(ruling for ruling in conductor.rulings if ruling.kind == "slap_won")
    assert won["seat"] == 2
    speaker, lights = parts.speaker, parts.lights
    assert isinstance(speaker, RecordingSpeaker)
    assert isinstance(lights, SimulatedLights)
    assert any("wins the slap" in said.text for said in speaker.said)
    assert any(change.light == "seat 2" and change.level == 1.0 for change in lights.changes)
    assert {"READY=1" in "".join(sent), "WATCHDOG=1" in sent, "STOPPING=1" in sent} == {True}
    out = capsys.readouterr().out
    assert "strip: there is no strip" in out
    assert "Ben wins the slap" in out
    log = journal.path.read_text()
    again = [encode_ruling(ruling) for ruling in replay_log(BytesIO(log.encode()), everything=True)]
    assert sorted(again) == sorted(line for line in log.splitlines() if line.startswith('{"ruling"'))
