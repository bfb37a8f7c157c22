"""Scores of the watcher on the second world's sequences: `make second-world`.

A sequence is a folder of frames with a ``truth.jsonl`` (`tools.second_world.film` makes them,
`tools.second_world.truth` has the format). Its frames are fed to a new watcher as a camera would, with the noise of a
sensor and, if asked, a lamp's ripple; the watcher's observations are compared with the truth.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from hardware.simulated.pictures.ambient import Lamp, SensorNoise
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import Eye
from models.eye.geometry import Image
from models.watch.arms import apart
from models.watch.bare_table import BareTable
from models.watch.gaze import CardEye
from models.watch.watcher import Watcher
from referee.engine.observations import Card, Observation, Taken
from referee.units import MS
from tools.measure.spans import Span
from tools.second_world.other_cameras import OTHER_CAMERAS, Camera

_NOISE: Final = 2.0
"""Sensor noise in a lit room, grey levels."""
_SAME_NS: Final = 1_500 * MS
"""A card reported within this time of its own instant is that card, early or late."""
_TAKEN_LATE_NS: Final = 300 * MS
"""Latest report of a take after the last card has left the picture."""
_NEAR: Final = 30.0
"""Degrees within which a bearing is right."""
_DRIFT_HZ: Final = 0.02
"""Mains are never exactly at their frequency: bands that should stand still creep."""


class SequenceError(ValueError):
    """A folder that is no sequence; the message says why."""


def lamp(text: str) -> Lamp:
    """Parse a lamp on the mains: ``50:0.2`` is 50 Hz and a swing of 20 %; raises `argparse.ArgumentTypeError`."""
    try:
        mains, swing = (float(part) for part in text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not HERTZ:SWING, as 50:0.2") from None
    return Lamp(mains + _DRIFT_HZ, swing)


@dataclass(slots=True)
class SequenceTruth:
    """The contents of a sequence's truth file."""

    head: dict[str, Any]
    plays: list[dict[str, Any]]
    takes: list[dict[str, Any]]
    frames: list[dict[str, Any]]

    @staticmethod
    def read(folder: Path) -> SequenceTruth:
        """Read ``truth.jsonl``; raises `SequenceError`."""
        try:
            lines = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError) as error:
            raise SequenceError(f"{folder}: its truth.jsonl cannot be read ({error}): `make second-world`") from None
        kinds: dict[str, list[dict[str, Any]]] = {kind: [] for kind in ("sequence", "play", "take", "frame")}
        for line in lines:
            kinds[line["kind"]].append(line)
        if not kinds["sequence"] or not kinds["frame"]:
            raise SequenceError(f"{folder / 'truth.jsonl'} names no frames: remove the folder and make it anew")
        return SequenceTruth(kinds["sequence"][0], kinds["play"], kinds["take"], kinds["frame"])


@dataclass(slots=True)
class SequenceScore:
    """Counts of one sequence, or of several together."""

    name: str
    frames: int = 0
    plays: int = 0
    read: int = 0
    sure: int = 0
    """Read and said with `SURE_READING` or more."""
    wrong_sure: int = 0
    """Another card reported in a card's place, sure."""
    asked: int = 0
    """Reported as unread, or less than sure: people are asked."""
    invented: int = 0
    """Named cards that were reported and never laid."""
    inside: int = 0
    """Reveals whose stated span meets the face's way up, from a sliver to half of it."""
    spans: list[Span] = field(default_factory=list)
    """The stated span of each reveal beside the instant at which a quarter of the face showed."""
    bearings: int = 0
    near: int = 0
    """Bearings within `_NEAR` of the seat's."""
    seats: int = 0
    """Cards whose seat is reported, and is right."""
    takes: int = 0
    taken: int = 0
    takers: int = 0
    """Takes whose seat is right."""
    invented_takes: int = 0
    other: int = 0
    """Reported fouls and cards slid under; none happens in these sequences."""
    look_ms: float = 0.0
    """Processor time of a frame."""

    def add(self, one: SequenceScore) -> None:
        """Add the counts of another sequence."""
        self.look_ms = (self.look_ms * self.frames + one.look_ms * one.frames) / max(1, self.frames + one.frames)
        for name in (each.name for each in fields(self)):
            if name not in ("name", "look_ms"):
                setattr(self, name, getattr(self, name) + getattr(one, name))


def fed(
    folder: Path, truth: SequenceTruth, *, flicker: Lamp | None = None, noise: float = _NOISE, every: int = 1,
    camera: Callable[[], Camera] | None = None,
) -> Iterator[tuple[Image, int, int]]:  # fmt: skip
    """Yield each frame as a camera gives it, its instant, and the uncertainty of any one row, ns.

    Args:
        folder: the sequence's.
        truth: of the sequence.
        flicker: the lamp that lights it, if it flickers; its swing is the part that remains after an exposure.
        noise: of the sensor, grey levels.
        every: use only each n-th frame: a slower camera.
        camera: makes another one (`tools.second_world.other_cameras`).

    Raises:
        SequenceError: a frame is missing.
    """
    width, height = truth.head["size"]
    exposure, readout = truth.head["exposure"], truth.head["readout"]
    other = camera and camera()
    sensor = SensorNoise(width, height, noise, 9)
    for k, frame in enumerate(truth.frames[::every]):
        image = cv2.imread(str(folder / frame["file"]))
        if image is None:
            raise SequenceError(f"{folder / frame['file']} is not there yet: `make second-world` goes on with it")
        picture = np.asarray(image, np.uint8)
        if flicker is not None:
            picture = replace(flicker, readout=readout).shine(picture, frame["t"], 0)
        sensor.add_to(picture, k)
        yield picture if other is None else other(picture, frame["t"]), frame["t"], exposure + readout


def _is_sure(card: Card) -> bool:
    return card.card != UNREAD and (card.confidence or 0.0) >= SURE_READING


def _score_cards(score: SequenceScore, plays: Sequence[dict[str, Any]], seen: Sequence[Card]) -> None:
    left, missed = list(seen), []
    for play in plays:
        close = [card for card in left if abs(card.t - play["quarter"]) < _SAME_NS]
        named = [card for card in close if card.card == play["card"]]
        if named:
            card = min(named, key=lambda reading: abs(reading.t - play["quarter"]))
            left.remove(card)
            _score_read(score, play, card)
        else:
            missed.append(play)
    for play in missed:
        close = [card for card in left if abs(card.t - play["quarter"]) < _SAME_NS / 3]
        if close:
            card = min(close, key=lambda reading: abs(reading.t - play["quarter"]))
            left.remove(card)
            score.wrong_sure += _is_sure(card)
    score.asked = sum(not _is_sure(card) for card in seen)
    score.invented += sum(card.card != UNREAD for card in left)


def _score_read(score: SequenceScore, play: dict[str, Any], card: Card) -> None:
    score.read += 1
    score.sure += _is_sure(card)
    score.spans.append(Span(play["quarter"], card.t, card.t_error))
    score.inside += card.t - card.t_error <= play["half"] and card.t + card.t_error >= play["sliver"]
    score.seats += card.seat == play["seat"]
    if card.bearing is not None:
        score.bearings += 1
        score.near += apart(card.bearing, play["bearing"]) <= _NEAR


def _score_takes(score: SequenceScore, takes: Sequence[dict[str, Any]], seen: Sequence[Taken]) -> None:
    left = list(seen)
    for take in takes:
        close = [
            taken
            for taken in left
            if taken.t + taken.t_error >= take["moved"] and taken.t - taken.t_error <= take["gone"] + _TAKEN_LATE_NS
        ]
        if close:
            left.remove(close[0])
            score.taken += 1
            score.takers += close[0].seat == take["seat"]
    score.invented_takes += len(left)


def hold_against(truth: SequenceTruth, seen: Sequence[Observation]) -> SequenceScore:
    """Compare a watcher's observations with the truth."""
    score = SequenceScore(truth.head["name"], plays=len(truth.plays), takes=len(truth.takes))
    cards, takes = ([line for line in seen if isinstance(line, kind)] for kind in (Card, Taken))
    _score_cards(score, truth.plays, [card for card in cards if isinstance(card, Card)])
    _score_takes(score, truth.takes, [take for take in takes if isinstance(take, Taken)])
    score.other = sum(not isinstance(line, Card | Taken) for line in seen)
    return score


def judge(eye: CardEye, folder: Path, *, look: bool = False, **options: Any) -> tuple[SequenceScore, list[Observation]]:
    """Feed a sequence to a new watcher, after a ``look`` at its bare table if asked.

    ``options`` are `fed`'s. Raises `SequenceError`.
    """
    truth = SequenceTruth.read(folder)
    bearings = {int(seat): angle for seat, angle in truth.head["seats"].items()}
    # Every sequence begins with a bare table.
    bare = BareTable(next(fed(folder, truth, **options))[0]) if look else None
    watcher = Watcher(eye, seat_bearings=bearings, bare=bare)
    seen: list[Observation] = []
    frames, spent = 0, 0.0
    for image, t, t_error in fed(folder, truth, **options):
        begin = time.process_time()
        seen += watcher.feed(image, t, t_error)
        spent += time.process_time() - begin
        frames += 1
    seen += watcher.finish()
    score = hold_against(truth, seen)
    score.frames, score.look_ms = frames, 1000 * spent / max(1, frames)
    return score, seen


_HEAD: Final = (
    "| sequence | frames | cards read | sure | wrong, sure | asked | invented | reveals inside | strictly "
    "| median error, ms | stated, ms | bearings said | within 30° | seats | takes | by whom | takes invented | other "
    "| ms a frame |"
)


def table(scores: Sequence[SequenceScore]) -> str:
    """Return the scores as a table; the last row has the sums."""
    whole = SequenceScore("all")
    for score in scores:
        whole.add(score)
    out = [_HEAD, "| --- |" + " ---: |" * (_HEAD.count("|") - 2)]
    for s in [*scores, whole]:
        errors, stated = [span.error for span in s.spans], [span.t_error for span in s.spans]
        medians = (f"{np.median(each) / MS:.0f}" if each else "–" for each in (errors, stated))
        cells = (
            s.name, s.frames, f"{s.read} of {s.plays}", s.sure, s.wrong_sure, s.asked, s.invented, s.inside,
            sum(span.holds for span in s.spans), *medians, s.bearings, s.near, s.seats, f"{s.taken} of {s.takes}",
            s.takers, s.invented_takes, s.other, f"{s.look_ms:.0f}",
        )  # fmt: skip
        out.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(out)


def main() -> int:
    """Judge every sequence of the folders; return 2 with one clear line where one cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m tools.second_world.judge", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", default=[Path("build/second-world")])
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--flicker", type=lamp, default=None, help="a lamp's ripple: mains, Hz, and swing: 50:0.2")
    parser.add_argument("--bare", action="store_true", help="the watcher has looked at the bare table, as set-up does")
    parser.add_argument("--only-fps", type=int, default=0, help="only sequences of so many frames a second")
    parser.add_argument("--noise", type=float, default=_NOISE, help="grey levels of the sensor's noise")
    parser.add_argument("--every", type=int, default=1, help="only every N-th frame")
    parser.add_argument("--camera", choices=OTHER_CAMERAS, default=None, help="what another camera would have seen")
    parser.add_argument("--json", type=Path, default=None, help="where to write the counts")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    scores = []
    try:
        eye = Eye.load(args.weights)
        for folder in sorted(path.parent for top in args.folders for path in top.rglob("truth.jsonl")):
            if args.only_fps and SequenceTruth.read(folder).head["fps"] != args.only_fps:
                continue
            score, _ = judge(
                eye, folder, look=args.bare, flicker=args.flicker, noise=args.noise, every=args.every,
                camera=OTHER_CAMERAS.get(args.camera),
            )  # fmt: skip
            scores.append(score)
            print(
                f"{score.name}: {score.read} of {score.plays} cards, {score.taken} of {score.takes} takes", flush=True
            )
    except (SequenceError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    if not scores:
        print(
            f"{', '.join(map(str, args.folders))}: no sequence is there: `make second-world` renders them",
            file=sys.stderr,
        )
        return 2
    print(table(scores))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps([asdict(score) for score in scores], indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
