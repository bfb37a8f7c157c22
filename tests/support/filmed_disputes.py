"""Videos of disputes whose truth is known: people slap the pile itself, as they do without pads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import cv2

from hardware.simulated.table.acts import Cover, Lay
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.engine.observations import Slap
from referee.units import MS
from tests.support.story import Story

SIZE = (960, 720)
_STAYS = 450 * MS
"""How long a hand lies on the pile."""


@dataclass(frozen=True)
class FilmedDispute:
    """A video, and its true events."""

    file: Path
    slaps: tuple[Slap, ...]
    """Each hand when it came down, ns from the video's first frame; without an error."""
    cards: frozenset[str]
    """The cards that were laid."""
    ruled: tuple[str, ...]
    """The expected rulings on the hands, by their time: a kind of ruling, and the seat or seats."""


class FilmedStory(Story):
    """Writes a stretch of play with known cards, in which people slap the pile, and films it."""

    def __init__(self, name: str, seed: int, cards: str) -> None:
        super().__init__(name, seed)
        named = cards.split()
        self.cards = [card for card in self.cards if card not in named] + named[::-1]
        self.slaps: list[Slap] = []
        self.begin = 0
        """When the filming begins, ns."""

    def slap(self, after: int, *hands: tuple[int, int]) -> None:
        """Bring hands down some time after the latest card came up: seats, and how much later (ns)."""
        t = self.acts[-1].t + after
        self.slaps += [Slap(t=t + later, seat=seat, t_error=0) for seat, later in hands]
        self.acts += [Cover(t + later, t + later + _STAYS, seat) for seat, later in hands]
        self.now = t + max(later for _, later in hands) + _STAYS + 500 * MS

    def film(self, file: Path, fps: float, *ruled: str) -> FilmedDispute:
        """Write the video (MP4)."""
        situation = self.told()
        table = SimulatedTable(situation.script, fps, SIZE, situation.family)
        table.warm()
        writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"mp4v"), fps, SIZE)
        first = None
        for frame in table.frames():
            if frame.t >= self.begin:
                first = frame.t if first is None else first
                writer.write(frame.image)
        writer.release()
        assert first is not None
        slaps = tuple(replace(slap, t=slap.t - first) for slap in self.slaps)
        cards = frozenset(act.card for act in self.acts if isinstance(act, Lay))
        return FilmedDispute(file, slaps, cards, ruled)


def film_winner(folder: Path, fps: float = 30.0) -> FilmedDispute:
    """Two hands on a double, a good tenth of a second apart."""
    story = FilmedStory("winner", 1, "4h Td 9s 9c 2d")
    story.lay(4, gap=900 * MS)
    story.slap(420 * MS, (2, 0), (4, 117 * MS))
    story.take()
    story.lay(1)
    return story.film(folder / "winner.mp4", fps, "slap_won 2", "slap_void 4")


def film_heat(folder: Path, fps: float = 30.0) -> FilmedDispute:
    """Two hands on a double nearer than a frame, and a third well after them."""
    story = FilmedStory("heat", 2, "Jd 3c 7h 7s 5d")
    story.lay(4, gap=800 * MS)
    story.slap(390 * MS, (3, 0), (1, 11 * MS), (2, 170 * MS))
    story.take()
    story.lay(1)
    return story.film(folder / "heat.mp4", fps, "dead_heat 3 1", "slap_void 2")


def film_middle(folder: Path, fps: float = 30.0) -> FilmedDispute:
    """Begin the video with cards on the table: a false slap, then a sandwich round the card between."""
    story = FilmedStory("middle", 3, "5c 8h 3d 8s Kd")
    story.lay(2, gap=900 * MS)
    story.begin = story.now - 350 * MS
    story.lay(1)
    story.slap(380 * MS, (4, 0))
    story.lay(1)
    story.slap(450 * MS, (3, 0), (1, 91 * MS))
    story.take()
    story.lay(1)
    return story.film(folder / "middle.mp4", fps, "slap_false 4", "slap_won 3", "slap_void 1")


def film_briefly(folder: Path) -> FilmedDispute:
    """Two cards and two hands in four seconds."""
    story = FilmedStory("brief", 4, "6h 6s")
    story.now = 300 * MS
    story.lay(2, gap=600 * MS)
    story.slap(400 * MS, (2, 0), (4, 200 * MS))
    return story.film(folder / "brief.mp4", 15.0, "slap_won 2", "slap_void 4")
