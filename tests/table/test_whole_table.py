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

    def __init__(self, service: Service) -> None:
        self._service = service
        self.began: int | None = None
        """When the first frame was asked for, ns: a busy machine takes its time until then."""
        self._closed = False

    def frames(self) -> Iterator[Frame]:
        began = self.began = time.monotonic_ns()
        index = 0
        while not self._closed:
            while time.monotonic_ns() < began + index * 20 * MS:
                time.sleep(0.002)
            yield Frame(np.zeros((1, 1, 3), np.uint8), began + index * 20 * MS, 2 * MS, index)
            index += 1
            if index >= 1500 and self._service.is_ready:
                self._service.ask_to_stop()
                return

    def close(self) -> None:
        self._closed = True

    def watch(self) -> ScriptedWatcher:
        """Return the watcher of two cards that come after the first frame."""
        assert self.began is not None, "a watcher is made for a frame"
        cards = (
            Card(t=self.began + 600 * MS, card="7h", seat=1),
            Card(t=self.began + 750 * MS, card="7c", seat=2),
        )
        return ScriptedWatcher(cards, delay=60 * MS)


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
    """Pads of which one is pressed, some time after a camera's first frame."""

    def __init__(self, camera: Camera, after: int) -> None:
        self._camera, self._after, self.closed = camera, after, False
        self._pressed = False

    trouble = ""

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        self._hear = on_edge

    def watermark(self, now: int) -> int:
        began = self._camera.began
        if began is not None and now > began + self._after and not self._pressed:
            self._pressed = True
            self._hear(Edge(2, began + self._after, True, 20_000))
            self._hear(Edge(2, began + self._after + 40 * MS, False))
        return now - 5 * MS

    def close(self) -> None:
        self.closed = True


def test_a_game_from_the_settings_to_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent: list[str] = []
    service = Service(sent.append, Watchdog({"engine": 10**10, "pads": 10**10}, 0, time.monotonic_ns()))
    camera = Camera(service)
    parts = OpenParts(
        LocalSights(camera, camera.watch), OnePress(camera, 900 * MS),
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
