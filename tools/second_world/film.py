"""The judging sequences, rendered frame by frame into a folder; a run can be resumed: `make second-world`.

Only the part of a frame in which something moved since the frame before, or its shadow did, is rendered; a frame
without movement equals the one before. The frames are without noise: the judge adds the sensor's and the mains' ripple.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from referee.units import SECOND
from tools.second_world.hand_model import Points, turn
from tools.second_world.judging_rooms import SETTINGS, Setting, draw_setting, draw_unruly, judging_room, rooms, score_of
from tools.second_world.room import Light, Picture
from tools.second_world.sequence import Sequence, compose
from tools.second_world.set_up import BuiltRoom
from tools.second_world.truth import Eyewitness, events, frame_cards

SIZE: Final = (640, 480)
_MARGIN_PX: Final = 24
"""Distance from a thing's outline within which its reflected light and soft shadow are rendered anew."""
_QUALITY: Final = 80
_SEAM_PX: Final = 8
_STILL_MM: Final = 0.02
"""A thing that moves less in a frame counts as still."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Positions of everything that moves at one instant: arms (skin and sleeve) and cards, by name; None: not there."""

    arms: dict[int, tuple[Points, Points | None] | None]
    cards: dict[int, Points | None]

    def parts(self) -> Iterator[tuple[str, Points]]:
        """Yield every thing that is there."""
        for seat, arm in self.arms.items():
            for k, part in enumerate(arm or ()):
                if part is not None:
                    yield f"arm {seat} {k}", part
        for number, card in self.cards.items():
            if card is not None:
                yield f"card {number}", card


def pose_at(played: Sequence, built: BuiltRoom, t: float) -> Pose:
    """Return all positions at an instant, s."""
    return Pose(
        {seat: played.arm(seat, mesh, t) for seat, mesh in built.arms.items()},
        {number: played.card(number, built.sheet, t) for number in range(len(played.lays))},
    )


def _shadows(points: Points, light: Light) -> Iterator[Points]:
    """Yield the points at which a thing's points throw their shadows on the table."""
    high = np.maximum(points[:, 2:], 0.0)
    if light.sun > 0:
        way = turn(2, light.sun_bearing)[:, 0] / np.tan(np.radians(light.sun_height))
        yield points - high * (way + np.array([0, 0, 1.0]))
    if light.lamp > 0:
        lamp = np.array(light.lamp_place)
        for aside in ((-0.5, 0), (0.5, 0), (0, -0.5), (0, 0.5)):
            place = lamp + np.array([*aside, 0]) * light.lamp_size
            yield points + (points - place) * (high / np.maximum(place[2] - high, 1.0))


def changed_part(built: BuiltRoom, poses: list[Pose]) -> tuple[int, int, int, int] | None:
    """Return the rectangle in which two neighbouring frames can differ; None where they cannot."""
    held = [dict(pose.parts()) for pose in poses]
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for name in set().union(*held):
        there = [pose.get(name) for pose in held]
        first = there[0]
        if first is not None and all(p is not None and np.abs(p - first).max() < _STILL_MM for p in there):
            continue
        for points in (p for p in there if p is not None):
            for outline in (points, *_shadows(points, built.room.light)):
                pixels, _ = built.view.project(outline)
                # Points far outside tell nothing about the inside.
                near = pixels[((pixels > -60) & (pixels < [SIZE[0] + 60, SIZE[1] + 60])).all(axis=1)]
                if len(near):
                    low, high = np.minimum(low, near.min(axis=0)), np.maximum(high, near.max(axis=0))
    left, top = (max(0, int(v) - _MARGIN_PX) for v in np.minimum(low, 1e6))
    right, bottom = (min(n, int(v) + _MARGIN_PX) for n, v in zip(SIZE, np.maximum(high, -1e6), strict=True))
    return (left, top, right, bottom) if right - left > 8 and bottom - top > 8 else None


class Film:
    """One sequence, rendered and stored."""

    def __init__(self, setting: Setting, folder: Path, samples: int) -> None:
        self._setting, self._folder = setting, folder
        folder.mkdir(parents=True, exist_ok=True)
        room = judging_room(setting)
        self._played = compose(room, score_of(setting))
        self._built = BuiltRoom(room, SIZE, samples)
        for number, lay in enumerate(self._played.lays):
            self._built.add_card(f"card {number}", lay.card, number)
        self._exposure, self._readout = setting.exposure_ms / 1000, setting.readout_ms / 1000
        self.frames = int(self._played.length * setting.fps)

    def _span(self, k: int) -> tuple[Pose, Pose]:
        """Return all positions as frame k's first row opens and as its last row closes."""
        t = k / self._setting.fps
        opened = pose_at(self._played, self._built, t)
        return opened, pose_at(self._played, self._built, t + self._exposure + self._readout)

    def write_truth(self) -> None:
        """Write the events and the contents of each frame, one JSON line each; exit if the folder belongs to another
        sequence.
        """
        setting, built = self._setting, self._built
        target, made_for = self._folder / "truth.jsonl", asdict(setting)
        if target.exists():
            head = json.loads(target.read_text(encoding="utf-8").splitlines()[0])
            if head["setting"] != json.loads(json.dumps(made_for)):
                raise SystemExit(f"{self._folder} was rendered for another setting: remove it, and begin anew")
            return
        witness = Eyewitness(self._played, built.view, built.sheet, built.arms)
        head = {
            "kind": "sequence", "name": setting.name, "fps": setting.fps, "size": list(SIZE), "setting": made_for,
            "exposure": round(self._exposure * SECOND), "readout": round(self._readout * SECOND),
            "seats": {str(seat): round(person.arm.bearing, 1) for seat, person in built.room.people.items()},
            "rests": {str(seat): round(track.begin * SECOND) for seat, track in self._played.rests.items()},
        }  # fmt: skip
        lines: list[dict[str, Any]] = [head, *events(self._played, witness, built.view, built.sheet)]
        before: tuple[Pose, Pose] | None = None
        file = ""
        for k in range(self.frames):
            span = self._span(k)
            if before is None or changed_part(built, [*before, *span]) is not None:
                file = _file(k)
            before = span
            t = k / setting.fps
            middle = t + (self._exposure + self._readout) / 2
            cards = frame_cards(self._played, witness, built.view, built.sheet, middle)
            lines.append({"kind": "frame", "file": file, "t": round(t * SECOND), "cards": cards})
        whole = "".join(json.dumps(line) + "\n" for line in lines)
        target.with_suffix(".part").write_text(whole, encoding="utf-8")
        target.with_suffix(".part").rename(target)

    def _show(self, opened: Pose, closed: Pose) -> None:
        for seat, arm in opened.arms.items():
            self._built.move_arm(seat, arm, closed.arms[seat] if arm is not None else None)
        for number, card in opened.cards.items():
            if card is None:
                self._built.studio.hide(f"card {number}")
            else:
                self._built.studio.move(f"card {number}", card, closed.cards[number])

    def render(self) -> Iterator[tuple[int, float]]:
        """Render the missing frames; yield each one's number and the seconds that it took."""
        before: tuple[Pose, Pose] | None = None
        picture: Picture | None = None
        for k in range(self.frames):
            target = self._folder / _file(k)
            begin = time.monotonic()
            span = self._span(k)
            part = (0, 0, *SIZE) if before is None else changed_part(self._built, [*before, *span])
            if target.exists():
                picture = np.asarray(cv2.imread(str(target)), np.uint8)
            elif part is not None:
                picture = self._next(picture, part, span)
                half_done = self._folder / ".part.webp"
                cv2.imwrite(str(half_done), picture, [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
                half_done.rename(target)
                yield k, time.monotonic() - begin
            before = span

    def _next(self, picture: Picture | None, part: tuple[int, int, int, int], span: tuple[Pose, Pose]) -> Picture:
        """Return the next frame: the one before, with the changed part rendered anew."""
        scratch = self._folder / ".scratch.png"
        row_share = self._exposure / (self._exposure + self._readout)
        self._show(*span)
        if picture is None:
            return self._built.studio.picture(scratch, row_share)
        left, top, right, bottom = part
        fresh = self._built.studio.picture(scratch, row_share, part)
        fresh = np.asarray(cv2.resize(fresh, (right - left, bottom - top), interpolation=cv2.INTER_NEAREST), np.uint8)
        # Blend softly, except at the picture's own edges.
        inner = np.zeros((SIZE[1] + 2, SIZE[0] + 2), np.uint8)
        inner[top + (top > 0) : bottom + 2 - (bottom < SIZE[1]), left + (left > 0) : right + 2 - (right < SIZE[0])] = (
            255
        )
        far = cv2.distanceTransform(inner, cv2.DIST_L1, 3)[1:-1, 1:-1]
        share = np.minimum(1.0, far / _SEAM_PX)[top:bottom, left:right, None]
        out = picture.copy()
        old = picture[top:bottom, left:right]
        out[top:bottom, left:right] = np.rint(fresh * share + old * (1 - share)).astype(np.uint8)
        return out


def _file(frame: int) -> str:
    return f"{frame:04d}.webp"


def main() -> None:
    """Render the sequences; existing frames are kept."""
    parser = argparse.ArgumentParser(prog="python -m tools.second_world.film", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/second-world"))
    parser.add_argument("--only", default="", help="names of sequences, with commas; else all of them")
    parser.add_argument(
        "--first", type=int, default=0, help="where in the list to begin, for two processes side by side"
    )
    parser.add_argument("--step", type=int, default=1, help="every so manieth of the list")
    parser.add_argument(
        "--drawn",
        type=rooms,
        default=range(0),
        help="so many rooms drawn by chance, or these: 200-219; else those listed",
    )
    parser.add_argument(
        "--unruly",
        action="store_true",
        help="rooms of careless people: cards tossed, askew and apart, hands slow, in the way, slapping together",
    )
    parser.add_argument("--samples", type=int, default=4, help="light paths a pixel")
    args = parser.parse_args()
    draw = draw_unruly if args.unruly else draw_setting
    settings = [draw(number) for number in args.drawn] or SETTINGS
    wanted = [s for s in settings if not args.only or s.name in args.only.split(",")][args.first :: args.step]
    for setting in wanted:
        begin = time.monotonic()
        film = Film(setting, args.out / setting.name, args.samples)
        film.write_truth()
        for made, (k, took) in enumerate(film.render(), start=1):
            each = (time.monotonic() - begin) / made
            left = film.frames - k - 1
            print(f"{setting.name} {k:04d} {took:.1f} s; {left} left, about {left * each / 60:.0f} min", flush=True)


if __name__ == "__main__":
    main()
