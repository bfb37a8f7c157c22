"""A demo that is recorded and announced until the plug is pulled: the victim's side."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from hardware.simulated.table.script import Script
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.rulings import Ruling
from referee.record.journal import GameWriter
from referee.record.pictures import Picture, PictureStore
from referee.record.store import Record
from referee.table.services import TableService
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames
from tests.support.stepped_demo import play

FPS: Final = 15.0
CARDS: Final = 24
WALL: Final = "2026-01-02T03:04:05+00:00"
PHASES: Final = ("between", "write", "commit", "announce", "pictures")
"""The victim's activities; it stores them in a byte that outlives it."""
JPEG: Final = b"\xff\xd8" + bytes(range(256)) * 40 + b"\xff\xd9"
"""Stands for a picture: as long as a small one, with a recognisable end."""
RECORD, FRAMES = "record.db", "frames.db"


class Marker:
    """A byte of shared memory with the victim's activity."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def now(self, phase: str) -> None:
        """Set the activity."""
        self._memory[0] = PHASES.index(phase)

    @property
    def phase(self) -> str:
        """Return the present or last activity."""
        return PHASES[self._memory[0]]


@dataclass(slots=True)
class MarkedKeeper:
    """A keeper that marks its commits; implements `referee.record.journal.Journal`."""

    keeper: GameWriter
    marker: Marker
    commits: list[int]
    """Number of lines on record after each commit."""
    careless: bool = False
    """Whether rulings are announced before they are committed: the cuts must detect it."""

    def write(self, line: str, sensor: str | None = None) -> None:
        """As the keeper."""
        if sensor is None:
            self.marker.now("write")
        self.keeper.write(line, sensor)
        self.marker.now("between")

    def commit(self) -> None:
        """As the keeper."""
        if self.careless and self.keeper.waiting < 100:
            return
        self.marker.now("commit")
        self.keeper.commit()
        self.commits.append(self.keeper.written)
        self.marker.now("between")


class Announcer(TableService):
    """Stands for the voice: its words go down a pipe, where no power cut can take them back."""

    name = "announcer"
    needs_record = False

    def __init__(self, pipe: int, marker: Marker, frames: PictureStore, keeper: GameWriter) -> None:
        self._pipe, self._marker, self._frames, self._keeper = pipe, marker, frames, keeper

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Announce these, then keep pictures of the slaps among them."""
        self._marker.now("announce")
        os.write(self._pipe, "".join(f"{ruling.id}\n" for ruling in rulings).encode())
        slaps = [ruling for ruling in rulings if ruling.kind.startswith("slap")]
        if slaps and self._keeper.game is not None:
            self._marker.now("pictures")
            for ruling in slaps:
                self._frames.add(self._keeper.game, [Picture(ruling.t + n, 4_000_000, JPEG) for n in range(3)])
        self._marker.now("between")


@cache
def script_for(seed: int) -> Script:
    """Return a short game."""
    return script_of(DemoOptions(seed=seed, seats=4, rules="classic", max_cards=CARDS))


def perform(folder: Path, seed: int, pipe: int, marker: Marker, careless: bool = False) -> list[int]:
    """Play the whole demo, recorded in ``folder``; return how many lines were on record after each commit."""
    script = script_for(seed)
    commits: list[int] = []
    frames = PictureStore(folder / FRAMES)
    with Record(folder / RECORD) as record:
        keeper = record.begin(WALL)
        journal = MarkedKeeper(keeper, marker, commits, careless)
        eye = ScriptedWatcher(as_seen(script.truth, round(1e9 / FPS)), delay=round(1e9 / FPS))
        play(
            DemoOptions(seed=seed, pace=False, max_cards=CARDS, live=False), script, eye,
            services=[Announcer(pipe, marker, frames, keeper)],
            frames=blank_frames(FPS, script.duration), journal=journal,
        )  # fmt: skip
        keeper.end(WALL)
        commits.append(keeper.written)
    frames.close()
    return commits
