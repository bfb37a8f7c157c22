"""`make review-check`: `referee review` settles three rendered disputes whose truth is known.

People slap the pile itself, as they do where nobody has pads. Each video is read by the real command, and its page is
told the first frame in which each hand lies: not by people, but by the truth that it was rendered from. Required: the
ruling is right, and every hand fell within the error that its line states; the log is taken by `referee replay`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2

from hardware.simulated.table.acts import Cover
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.engine.observations import Slap
from referee.units import MS, SECOND
from tests.support.story import Story

FPS: Final = 30.0
SIZE: Final = (960, 720)
_STAYS: Final = 450 * MS


@dataclass(frozen=True)
class RenderedDispute:
    """A video, and what really happened in it."""

    file: Path
    slaps: tuple[Slap, ...]
    """Each hand when it came down, by the video's time."""
    ruled: tuple[str, ...]
    """What is to be ruled of these hands: a word, and the seat."""


def slap(story: Story, after: int, *seats_and_delays: tuple[int, int]) -> list[Slap]:
    """Hands come down on the pile so many ns after the latest card came up."""
    latest = story.acts[-1].t
    made = [Slap(t=latest + after + delay, seat=seat, t_error=0) for seat, delay in seats_and_delays]
    story.acts += [Cover(one.t, one.t + _STAYS, one.seat) for one in made]
    story.wait(after + max(delay for _, delay in seats_and_delays) + _STAYS + 500 * MS)
    return made


def stacked(name: str, seed: int, cards: str) -> Story:
    """A stretch of play in which these cards come first."""
    story = Story(name, seed)
    story.cards += reversed(cards.split())
    return story


def render(story: Story, file: Path, begin: int = 0) -> None:
    """Write the video, from an instant (ns) on."""
    situation = story.told()
    table = SimulatedTable(situation.script, FPS, SIZE, situation.family)
    table.warm()
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"mp4v"), FPS, SIZE)
    for frame in table.frames():
        if frame.t >= begin:
            writer.write(frame.image)
    writer.release()


def winner(folder: Path) -> RenderedDispute:
    """Two hands on a double, a good tenth of a second apart."""
    story = stacked("winner", 1, "4h Td 9s 9c 2d")
    story.lay(4, gap=900 * MS)
    hands = slap(story, 420 * MS, (2, 0), (4, 117 * MS))
    story.take()
    story.lay(1)
    file = folder / "winner.mp4"
    render(story, file)
    return RenderedDispute(file, tuple(hands), ("slap_won 2", "slap_void 4"))
