"""A whole rendered game in real time, wired as `referee run` wires it: ``python -m tools.measure.soak_table --seed 72 …``.

The simulated table's camera is opened by the process that looks, and drawn by one beneath it; the fingers of another
press the pads; record and page are there. Only the players' answers come from the script. How it went is written into
a file as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from hardware.clock import monotonic
from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import LEAST_ERROR, GpioPads
from hardware.pads.pinout import PAD_PINS
from hardware.ports import Camera, Frame
from hardware.priority import be_urgent
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.table.script import Script
from referee.announce.sinks import Outlet
from referee.demo.rendered_camera import RenderedCamera, View
from referee.demo.score import Summary
from referee.demo.simulated_game import Options, Run, script_of, summarise, view_of
from referee.engine.rulings import Ruling
from referee.settings.model import Settings, parse
from referee.table.assembly import referee, table_of
from referee.table.devices import OpenParts
from referee.table.game import Conductor
from referee.table.loop import Answers
from referee.table.services import Kept, open_kept, open_lasting
from referee.table.systemd import open_service
from referee.vision.cameras import table_watcher
from referee.vision.client import SightProcess, Work
from referee.vision.videos import seat_bearings
from tests.support.edge_pipe import PipedRequest

WAKING: Final = 12.0
"""Seconds that the eye is given to load before the first card falls; frames that it misses wait for it."""
LATE: Final = 60.0
"""Seconds after the script's end when a game that is not over is given up."""


@dataclass(frozen=True)
class Shown:
    """Opens the simulated table's camera, whose game begins at ``began``, ns of the machine's clock."""

    view: View
    began: int

    def __call__(self, told: Callable[[str], None]) -> Camera:
        return _Shown(RenderedCamera(self.view), self.began)


class _Shown:
    def __init__(self, camera: RenderedCamera, began: int) -> None:
        self._camera, self._began = camera, began

    def frames(self) -> Iterator[Frame]:
        for frame in self._camera.frames():
            due = self._began + frame.t
            time.sleep(max(0, due + frame.exposure - monotonic()) / 1e9)
            yield replace(frame, t=due)

    def close(self) -> None:
        self._camera.close()


class Fingers(PipedRequest):
    """Pads that are pressed as a script says."""

    def follow(self, script: Script, began: int) -> None:
        """In a process of its own, which ends by itself."""
        child = os.fork()
        if child:
            be_urgent(child)
            return
        try:
            pressed = dict.fromkeys(self.pins, 0)
            for contact in script.contacts:
                time.sleep(max(0, began + contact.t - monotonic()) / 1e9)
                pin = self.pins[contact.seat - 1]
                self._levels[pin] = int(contact.pressed)
                if contact.pressed:
                    pressed[pin] += 1
                    self.tell(pin, sum(pressed.values()), pressed[pin])
        finally:
            os._exit(0)


@dataclass(slots=True)
class _Played(Kept):
    """Record and page, and people who answer what they are asked."""

    people: Outlet | None = None

    @property
    def outlets(self) -> dict[str, Outlet]:
        kept = Kept(self.opened, self.lasting, self.archive)
        return {**kept.outlets, **({"people": self.people} if self.people else {})}

    @property
    def waits(self) -> bool:
        return False


def _people(script: Script, began: int, pipe: int) -> Outlet:
    """They type the truth, as soon as they are asked."""

    def hear(rulings: Sequence[Ruling]) -> None:
        for ruling in rulings:
            value = script.answer(str(ruling["ask"]), ruling.t - began) if ruling.kind == "question" else None
            if value is not None:
                os.write(pipe, f"{value}\n".encode())

    return hear


def _settings(script: Script, folder: Path, port: int) -> Settings:
    seats = "".join(f'[[seat]]\nname = "{name}"\n' for name in script.table.seats)
    return parse(
        f'dealer = {script.table.dealer}\n[pads]\nroll_call = false\n[record]\nfile = "{folder / "record.db"}"\n'
        f'[page]\nhost = "127.0.0.1"\nport = {port}\n{seats}'
    )


def _shifted(line: Any, by: int) -> Any:
    """A line of the log on the script's line of time, which begins with the first card's hand."""
    known = getattr(line, "known_at", None)
    return replace(line, t=max(0, line.t - by), **({"known_at": known - by} if known is not None else {}))


def score(options: Options, script: Script, conductor: Conductor, began: int) -> Summary:
    """Hold the game against the script."""
    there = SimpleNamespace(
        observations=[_shifted(line, began) for line in conductor.observations[1:]],
        rulings=[_shifted(ruling, began) for ruling in conductor.rulings],
        troubles=conductor.troubles,
    )
    return summarise(options, script, cast(Conductor, there), Run())


def play(options: Options, folder: Path, port: int) -> Summary:
    """Play it to its end."""
    script = script_of(options)
    settings = _settings(script, folder, port)
    began = monotonic() + round(WAKING * 1e9)
    fingers = Fingers(PAD_PINS[: script.seats])
    pads = GpioPads(dict(enumerate(PAD_PINS[: script.seats], start=1)), lines=GpiodLines(fingers), t_error=LEAST_ERROR)
    watcher = partial(table_watcher, seat_bearings(script.seats), None)
    sights = SightProcess(Work(Shown(view_of(options, script), began), watcher, live=False))
    parts = OpenParts(sights, pads, SimulatedLights(script.seats), RecordingSpeaker(monotonic, keep=0))
    service = open_service(environ={})
    reading, writing = os.pipe()
    late = threading.Timer(WAKING + script.duration / 1e9 + LATE, service.ask_to_stop)
    late.daemon = True
    with ExitStack() as stack, os.fdopen(reading) as answers:
        lasting = open_lasting(settings, stack, parts.missing)
        kept, settings = open_kept(
            settings, partial(table_of, now=0), stack, parts.missing, lasting=lasting, new=True
        )  # fmt: skip
        played = _Played(kept.opened, lasting, kept.archive, people=_people(script, began, writing))
        typed = Answers()
        typed.listen(answers)
        fingers.follow(script, began)
        late.start()
        conductor = referee(settings, parts, kept=played, answers=typed, live=False, service=service)
        os.close(writing)
        parts.close()
    late.cancel()
    return score(options, script, conductor, began)


def main() -> int:
    """Play, and write down how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cards", type=int, default=400, help="at most")
    parser.add_argument("--folder", type=Path, required=True, help="takes the record, and how it went")
    parser.add_argument("--port", type=int, required=True, help="of the page")
    args = parser.parse_args()
    summary = play(Options(seed=args.seed, pace=True, max_cards=args.cards), args.folder, args.port)
    (args.folder / "summary.json").write_text(json.dumps(summary.as_fields()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
