"""The effect of a lamp's flicker on the watcher, by the camera's frame rate, as a table in Markdown.

``python -m tools.measure.flicker_figures [--games N] [--ripple SHARE …]`` runs the shipped eye and watcher on
simulated games under lamps on 50 and 60 Hz mains: at the frame rate of those mains, at which their bands stand still,
at the other one, and without any flicker.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import cv2

from hardware.simulated.pictures.ambient import Lamp
from hardware.simulated.table.script import Script, play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.demo.score import CardScore, score_cards
from referee.engine.observations import Taken
from referee.vision.videos import new_watcher


@dataclass(frozen=True, slots=True)
class Flickered:
    """The watcher's results in one game."""

    cards: CardScore
    takes: int
    takes_right: int
    """Takes reported with the right seat, within 1.2 s."""


def watched(script: Script, fps: float, lamp: Lamp | None) -> Flickered:
    """Watch a whole game with the shipped eye."""
    table = SimulatedTable(script, fps, lamp=lamp)
    watcher = new_watcher(dict(enumerate(table.seat_bearings, start=1)))
    seen = [line for frame in table.frames() for line in watcher.feed(frame.image, frame.t, frame.exposure)]
    seen += watcher.finish()
    taken = [line for line in script.truth if isinstance(line, Taken)]
    told = [line for line in seen if isinstance(line, Taken)]
    near = [any(a.seat == b.seat and abs(a.t - b.t) <= 1_200_000_000 for b in told) for a in taken]
    return Flickered(score_cards(script.truth, seen), len(taken), sum(near))


def _rows(games: int, cards: int, ripples: list[float]) -> Iterator[str]:
    yield "| mains | frames/s | ripple | cards read | seats right | as stated | invented | takes right |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    lamps: list[tuple[Lamp | None, float]] = [(None, 25), (None, 30)]
    lamps += [(Lamp(hz, ripple), fps) for ripple in ripples for hz in (50, 60) for fps in (25, 30)]
    for lamp, fps in lamps:
        seen = [watched(play_game(seed=seed, seats=4, max_cards=cards), fps, lamp) for seed in range(1, games + 1)]
        laid = sum(flickered.cards.laid for flickered in seen)
        told = [
            sum(getattr(flickered.cards, name) for flickered in seen) for name in ("right", "seat_right", "as_stated")
        ]
        which = ("none", "") if lamp is None else (f"{lamp.mains_hz:g} Hz", f"{100 * lamp.ripple:.0f} %")
        yield (
            f"| {which[0]} | {fps:g} | {which[1]} | "
            + " | ".join(f"{count} of {laid}" for count in told)
            + f" | {sum(flickered.cards.ghosts for flickered in seen)}"
            + f" | {sum(flickered.takes_right for flickered in seen)} of {sum(flickered.takes for flickered in seen)} |"
        )


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=3, help="simulated games for each row (default 3)")
    parser.add_argument("--cards", type=int, default=14, help="cards that are laid in each game (default 14)")
    parser.add_argument("--ripple", type=float, nargs="+", default=[0.08, 0.15, 0.26],
                        help="shares by which lamps rise and fall; 0.26 leaves 20 %% in 4 ms at 50 Hz")  # fmt: skip
    args = parser.parse_args()
    cv2.setNumThreads(1)
    for row in _rows(args.games, args.cards, args.ripple):
        print(row, flush=True)


if __name__ == "__main__":
    main()
