"""The cost of a slow eye: `make slow-eye`.

The same simulated games are refereed with an eye that takes a fixed time for each look, as a Raspberry Pi's does, and
frames go on coming meanwhile. Without pace the clock is data: a frame costs its looks and a glance, in proportion, and
the same game results on any machine. With ``--pace`` the processes of `referee run` play it in real time, and each
frame takes as long as it would there. A ruling counts as differing if the quickest eye's game has none like it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from itertools import pairwise
from typing import Any, Final

import cv2

from hardware.ports import Frame
from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.table.script import Script, play_game
from models.watch.watcher import Watcher
from referee.demo.demo_table import DemoTable, PacedTable, SteppedTable
from referee.demo.rendered_camera import CameraView, RenderedCamera
from referee.demo.score import DemoSummary, decisive, in_force
from referee.demo.simulated_game import DemoOptions, play_at, settings_for
from referee.engine.observations import Card, Observation
from referee.units import MS, SECOND
from referee.vision.process import Backlog
from referee.vision.sight import Blind, Looker, News, Recall, Sight
from referee.vision.videos import seat_bearings

SEEDS: Final = (7301, 7302, 7303)
"""Games that were unseen when this was first measured."""
FPS: Final = 15.0
PACES: Final = (2.0, 4.0)
"""Cards a second, at the quickest."""
LOOKS_MS: Final = (16, 40, 80, 150)
ROOM: Final = 256 * 2**20
"""Buffer of waiting frames, bytes: as on a machine with a gigabyte to spare."""
_QUIET: Final = 1.4 / 26
"""Cost of a quiet frame, in looks ..."""
_STIRRING: Final = 5.5 / 26
"""... and of one with movement: both measured by `python -m tools.measure.pace`."""


def cost(looks: int, state: str, ms: float) -> int:
    """Return the time of a frame for an eye with this time per look, ns."""
    return round((looks + (_QUIET if state == "quiet" else _STIRRING)) * ms * MS)


class CountedEye:
    """An eye (`models.watch.gaze.CardEye`) whose looks are counted."""

    def __init__(self, eye: Any) -> None:
        self._eye = eye
        self.looks = 0

    def recognise(self, image: Any) -> Any:
        """See `models.eye.eye.Eye`."""
        self.looks += 1
        return self._eye.recognise(image)

    def read_at(self, image: Any, region: Any, card_height: float | None = None) -> Any:
        """See `models.eye.eye.Eye`."""
        self.looks += 1
        return self._eye.read_at(image, region, card_height)


class SlowWatcher(Watcher):
    """The shipped watcher on a machine with slow looks."""

    def __init__(self, seats: int, ms: float) -> None:
        from referee.vision.photos import load_eye

        cv2.setNumThreads(1)
        self._counted, self._ms = CountedEye(load_eye(None)), ms
        super().__init__(self._counted, seat_bearings=seat_bearings(seats))

    def feed(self, image: Any, t: int, t_error: int = 0) -> list[Observation]:
        """See `Watcher`."""
        begin, before = time.monotonic(), self._counted.looks
        seen = super().feed(image, t, t_error)
        took = cost(self._counted.looks - before, self.state, self._ms) / SECOND
        time.sleep(max(0.0, begin + took - time.monotonic()))
        return seen


class SlowedTable(SteppedTable):
    """A simulated table (time as data) whose eye takes time: frames that come meanwhile wait, as in `referee run`."""

    def __init__(self, script: Script, frames: Iterator[Frame], ms: float) -> None:
        from referee.vision.photos import load_eye

        self._eye = CountedEye(load_eye(None))
        self._watcher = partial(Watcher, self._eye, seat_bearings=seat_bearings(script.seats))
        super().__init__(script, frames, self._watcher())
        self._ms, self._next = ms, next(frames, None)
        self._waiting, self._waits = Backlog(ROOM), False
        self._sight: Sight | None = None
        """The result of the current look ..."""
        self._free_at = 0
        """... and its end, ns."""
        self.looked_at: list[int] = []
        """The instant of each look's frame, ns."""

    def step(self) -> None:
        """Advance to the next event: the next frame's end, or the end of the current look."""
        frame = self._next
        if self._sight is not None and (frame is None or self._free_at <= frame.t + frame.exposure):
            self._play_to(self._free_at)
        elif frame is not None:
            self._waiting.put(frame)
            self._waits = True
            self._next = next(self._frames, None)
            self._play_to(frame.t + frame.exposure)
        elif not self._waits:
            super().step()

    def _play_to(self, now: int) -> None:
        self.now = max(self.now, now)
        self.pads.play_to(self.now)

    def news(self, recall: Recall) -> Iterator[News]:
        """Yield the finished look, if there is one; then begin the next."""
        if self._sight is not None and self._free_at <= self.now:
            sight, self._sight = self._sight, None
            self.count.add(self.now - sight.t - sight.exposure)
            yield sight
        if self._sight is not None:
            return
        frame = self._waiting.next(0)
        self._waits = frame is not None
        if frame is not None:
            if self._waiting.after_gap:
                yield Blind("pictures were passed over", self._looker.finish(), self._looker.watermark)
                self._looker = Looker(self._watcher())
            before = self._eye.looks
            self._sight = self._looker.look(frame, recall(), behind=self._waiting.is_behind)
            looks = self._eye.looks - before
            self.looked_at += [frame.t] * looks
            self._free_at = self.now + cost(looks, self._sight.state, self._ms)


@dataclass(slots=True)
class Played:
    """One game with one eye."""

    summary: DemoSummary
    rulings: Counter[str]
    """Rulings with their counts."""
    looks: list[int] = field(default_factory=list)
    """For each card the looks from its reveal to the next one's; empty where they were taken in another process."""


def play(seed: int, pace: float, ms: float, cards: int, *, real_time: bool) -> Played:
    """Have one game refereed."""
    script = play_game(seed, 4, "classic", cards, pace)
    families = sorted(FAMILIES)
    view = CameraView(script, FPS, families[seed % len(families)])
    with ExitStack() as stack:
        table: DemoTable
        if real_time:
            table = PacedTable(script, view, stack, make_watcher=partial(SlowWatcher, script.seats, ms), live=True)
        else:
            camera = RenderedCamera(view)
            stack.callback(camera.close)
            table = SlowedTable(script, camera.frames(), ms)
        options = DemoOptions(seed=seed, pace=real_time, live=False)
        with redirect_stdout(StringIO()):
            summary, conductor = play_at(table, options, settings_for(script))
    rulings = Counter(decisive(ruling) for ruling in in_force(conductor.rulings))
    return Played(summary, rulings, _looks_a_card(script, table))


def _looks_a_card(script: Script, table: DemoTable) -> list[int]:
    if not isinstance(table, SlowedTable):
        return []
    came = [*sorted(seen.t for seen in script.truth if isinstance(seen, Card)), script.duration + SECOND]
    return [sum(a <= t < b for t in table.looked_at) for a, b in pairwise(came)]


HEADINGS: Final = (
    "cards/s", "ms a look", "seed", "cards read", "wrong ≥ 0.9", "not seen", "rulings not as the truth's",
    "not as the quickest eye's", "asked uncalled", "looks a card", "most behind, s",
)  # fmt: skip


def row(pace: float, ms: float, seed: int, one: Played, quickest: Played) -> str:
    """One game as a line of the table."""
    cards, rulings = one.summary.cards, one.summary.rulings
    differ = sum(((one.rulings - quickest.rulings) + (quickest.rulings - one.rulings)).values())
    looks = f"{statistics.median(one.looks):g}" if one.looks else ""
    cells = (
        f"{pace:g}", f"{ms:g}", seed, f"{cards.right} of {cards.laid}", cards.wrong_sure, cards.missed,
        len(rulings.differing), differ, rulings.uncalled, looks, f"{one.summary.lag_ms / 1000:.2f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and print the table line by line."""
    parser = argparse.ArgumentParser(prog="slow_eye", description=__doc__)
    parser.add_argument("--pace", action="store_true", help="real processes in real time (a game takes its own time)")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="the games")
    parser.add_argument("--cards", type=int, default=50, help="cards laid in each game, at most")
    parser.add_argument("--ms", type=float, nargs="+", default=LOOKS_MS, help="what a look costs; the first is held up")
    parser.add_argument("--a-second", type=float, nargs="+", default=PACES, help="cards a second, at the quickest")
    args = parser.parse_args(arguments)
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + " ---: |" * len(HEADINGS), flush=True)
    for pace in args.a_second:
        for seed in args.seeds:
            quickest: Played | None = None
            for ms in args.ms:
                one = play(seed, pace, ms, args.cards, real_time=args.pace)
                quickest = quickest or one
                print(row(pace, ms, seed, one, quickest), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
