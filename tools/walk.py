"""`make walk`: the files and functions that one slap runs through, from the pad's edge to the ruling and to the page.

A table is set up with the real loop, pad shell, referee, voice, lights and record; pads, camera and speaker are
simulated, and time is data. Two sevens are laid; then one hand falls, and from its edge on every function of the
product that is entered is noted until the voice has announced the winner. Then the page's reader takes the
record's new lines, and is followed until the regions of its scoreboard are ready to be sent.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

from hardware.ports import Frame
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.announce.light_show import Lamps
from referee.announce.voice import Voice
from referee.engine.observations import Card
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.table.assembly import table_of
from referee.table.game import Conductor
from referee.table.loop import Loop
from referee.units import MS
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.scoreboard import Follower
from referee.web.site import Site
from tests.support.local_sights import LocalSights
from tests.support.scripted_watcher import ScriptedWatcher

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = tuple(str(ROOT / folder) + "/" for folder in ("referee", "hardware", "models"))
SIMULATED: Final = str(ROOT / "hardware" / "simulated") + "/"
"""Simulated hardware is left out of the walk."""


class Steps:
    """The functions entered, in the order of their first call."""

    def __init__(self) -> None:
        self.entered: dict[CodeType, int] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code not in self.entered and _is_ours(code):
            self.entered[code] = len(self.entered)

    @property
    def files(self) -> Counter[str]:
        """Return functions by file, in the order in which the files were reached."""
        return Counter(str(Path(code.co_filename).relative_to(ROOT)) for code in self.entered)


def _is_ours(code: CodeType) -> bool:
    name = code.co_name
    made_by_python = name.startswith("<") or (
        name.startswith("__") and name not in ("__call__", "__enter__", "__exit__")
    )
    return code.co_filename.startswith(PRODUCT) and not code.co_filename.startswith(SIMULATED) and not made_by_python


@contextmanager
def followed(steps: Steps) -> Iterator[None]:
    """Note the functions entered during the block, on all threads."""
    sys.setprofile(steps)
    threading.setprofile(steps)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


class Stage:
    """A table whose time is data: the real loop between simulated pads and a camera whose truth is known."""

    def __init__(self, folder: Path) -> None:
        self.pads = SimulatedPads(2)
        self.speaker = RecordingSpeaker(self._now)
        self.record = Record(folder / "record.db")
        self.game: Conductor
        settings = parse_settings('[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
        voice, lamps = Voice(self.speaker, "en"), Lamps(SimulatedLights(2, self._now), 2)
        self.keeper = self.record.begin("2026-01-01T00:00:00")
        self.game = Conductor(
            table_of(settings, 0), outlets={"voice": voice, "lights": lamps}, journal=self.keeper,
        )  # fmt: skip
        pair = (Card(t=1000 * MS, card="7h", seat=2), Card(t=2000 * MS, card="7c", seat=1))
        self.camera = Frames()
        sights = LocalSights(self.camera, lambda: ScriptedWatcher(pair, delay=100 * MS), clock=lambda: self.pads.now)
        self.loop = Loop(self.game, sights, self.pads.pads, first={"lights": lamps}, clock=lambda: self.pads.now)

    def _now(self) -> int:
        return self.pads.now

    def run_to(self, t: int) -> None:
        """Advance to ``t`` (ns): the camera takes its frames, and the loop turns after each."""
        while self.camera.t < t:
            self.pads.run_to(self.camera.t)
            self.camera.more.release()
            before = self.loop.frames
            while self.loop.frames == before:
                self.loop.turn(seconds=5)

    @property
    def won(self) -> bool:
        """Whether the voice has announced the slap's winner."""
        return any("wins the slap" in said.text for said in self.speaker.said)


class Frames:
    """A camera that gives its next blank frame, 50 ms after the last, on request."""

    def __init__(self) -> None:
        self.t = 0
        self.more = threading.Semaphore(0)

    def frames(self) -> Iterator[Frame]:
        while self.more.acquire():
            yield Frame(np.zeros((1, 1, 3), np.uint8), self.t, 2 * MS, self.t // (50 * MS))
            self.t += 50 * MS

    def close(self) -> None: ...


def walk(folder: Path) -> tuple[Steps, Steps]:
    """Return the walks from the pad's edge to the announced ruling and from the record's lines to the screens."""
    return asyncio.run(_walk(folder))


async def _walk(folder: Path) -> tuple[Steps, Steps]:
    stage, to_voice, to_page = Stage(folder), Steps(), Steps()
    stage.run_to(2250 * MS)
    stage.keeper.commit()
    site = Site(GameCache(stage.record.path), Hub(Board()))
    page = Follower(site)
    await page.wake()
    viewer = site.hub.stream("en")
    await anext(viewer)
    with followed(to_voice):
        stage.pads.advance(1, True, 2250 * MS)
        stage.run_to(2400 * MS)
        stage.pads.advance(1, False, 2400 * MS)
        while not stage.won:
            stage.run_to(stage.camera.t + 50 * MS)
    with followed(to_page):
        await page.wake()
        sent = await anext(viewer)
    assert b"wins the slap" in sent
    site.close()
    stage.record.close()
    return to_voice, to_page


def told(title: str, steps: Steps, known: frozenset[str] = frozenset()) -> str:
    """Return the files in the order in which the walk reaches them, each with its functions."""
    names: dict[str, list[str]] = {}
    for code in steps.entered:
        names.setdefault(str(Path(code.co_filename).relative_to(ROOT)), []).append(code.co_qualname)
    lines = [f"{title}: {len(steps.entered)} functions in {len(names)} files"]
    if known:
        lines[0] += f", {len(names.keys() - known)} of which are not on the way above"
    for file, functions in names.items():
        lines.append(f"  {file}{'  (as above)' if file in known else ''}")
        lines += [f"    {name}" for name in functions] if file not in known else []
    return "\n".join(lines)


def main() -> int:
    """Print both walks."""
    argparse.ArgumentParser(prog="make walk", description=__doc__.split("\n\n")[1]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        to_voice, to_page = walk(Path(folder))
    print(told("From the pad's edge to the announced ruling", to_voice))
    print()
    print(told("From the record to the viewers' screens", to_page, frozenset(to_voice.files)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
