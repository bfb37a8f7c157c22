"""The truth of a sequence: the contents of each frame, when each face came up and came to rest, when each pile was
taken.

A face's visible share is the area of paper that is turned to the camera, in the picture and not under a hand,
against its whole area at rest. `Revealed` gives three instants of its reveal: a sliver, a quarter, half.

A sequence's ``truth.jsonl`` has one object a line. Instants are nanoseconds, bearings degrees counter-clockwise from
the picture's right, corners pixels:

- ``sequence``: ``fps``, ``size``, ``exposure`` of a row, ``readout`` from the first row to the last, ``seats`` with
  their bearings, ``rests`` (arms that lie there or wait, since when), the ``setting``.
- ``play``: ``card``, ``seat``, ``bearing``; when a ``sliver`` (4 %), a ``quarter`` and ``half`` of the face could be
  seen; when the card came to ``rest``, and its ``corners`` there.
- ``take``: ``seat``, ``bearing``; when the pile was ``moved``, when ``half`` of its cards had left by half a card's
  width, when the last was ``gone``.
- ``frame``: ``file``, ``t`` (the first row's exposure begins), the ``cards`` with their corners and the share of each
  face ``shown`` in the middle of the exposure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from referee.units import SECOND
from tools.second_world.hand_model import Points
from tools.second_world.sequence import Sequence
from tools.second_world.things import ArmMesh, CardSheet, View

_STEP_S: Final = 0.004
_CELL_PX: Final = 5
"""Size of a cell that keeps its highest point; an arm's points are nearer to each other."""
_UNDER_MM: Final = 5.0
"""A hand's skin at least this high above the paper hides it."""
_SLIVER, _QUARTER, _HALF = 0.04, 0.25, 0.5


@dataclass(frozen=True, slots=True)
class Revealed:
    """When a sliver, a quarter and half of a face could be seen, and when the card came to rest, s."""

    sliver: float
    quarter: float
    half: float
    rested: float


class Eyewitness:
    """An observer that sees what a camera with endless speed would see.

    Args:
        played: the events.
        view: the camera.
        sheet: the cards' sheet.
        arms: the arms' meshes, by seat.
    """

    def __init__(self, played: Sequence, view: View, sheet: CardSheet, arms: dict[int, ArmMesh]) -> None:
        self._played, self._view, self._sheet, self._arms = played, view, sheet, arms
        self._quads = np.array(sheet.faces)

    def heights(self, t: float) -> NDArray[np.float64]:
        """Return the height of the arms over each cell of the picture, mm; far below the table where there is none."""
        view = self._view
        out = np.full((view.height // _CELL_PX + 1, view.width // _CELL_PX + 1), -1e3)
        for seat, mesh in self._arms.items():
            for part in self._played.arm(seat, mesh, t) or ():
                if part is None:
                    continue
                pixels, _ = view.project(part)
                inside = ((pixels >= 0) & (pixels < [view.width, view.height])).all(axis=1)
                cells = (pixels[inside] / _CELL_PX).astype(int)
                np.maximum.at(out, (cells[:, 1], cells[:, 0]), part[inside, 2])
        return out

    def shown(self, number: int, t: float, heights: NDArray[np.float64] | None = None) -> float:
        """Return the visible share of a card's face at an instant, whose ``heights`` may be known."""
        points = self._played.card(number, self._sheet, t)
        if points is None:
            return 0.0
        corners = points[self._quads]
        middles = corners.mean(axis=1)
        normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        away = self._view.place - middles
        far = np.linalg.norm(away, axis=1)
        # Its apparent area, against its area when it lies flat.
        area = np.einsum("ij,ij->i", normals, away) / far / 2
        pixels, _ = self._view.project(middles)
        inside = ((pixels >= 0) & (pixels < [self._view.width, self._view.height])).all(axis=1)
        cells = (np.clip(pixels, 0, [self._view.width - 1, self._view.height - 1]) / _CELL_PX).astype(int)
        hidden = (self.heights(t) if heights is None else heights)[cells[:, 1], cells[:, 0]] > middles[:, 2] + _UNDER_MM
        seen = np.where(inside & ~hidden, np.maximum(area, 0.0), 0.0).sum()
        return float(seen / (self._sheet.size[0] * self._sheet.size[1]))

    def reveal(self, number: int) -> Revealed:
        """Return when a card's face came up."""
        lay = self._played.lays[number]
        times = np.arange(max(lay.track.begin, lay.turned.begin - 0.02), lay.rested + 0.6, _STEP_S)
        shares = np.array([self.shown(number, t) for t in times])

        def first(least: float) -> float:
            reached = np.flatnonzero(shares >= least)
            return float(times[reached[0]]) if len(reached) else float(times[-1])

        return Revealed(first(_SLIVER), first(_QUARTER), first(_HALF), lay.rested)

    def left(self, sweep_number: int) -> tuple[float, float]:
        """Return when half of a taken pile had left its place, and when its last card was out of the picture, s."""
        sweep = self._played.sweeps[sweep_number]
        numbers = [k for k in range(len(self._played.lays)) if self._played.pile_of(k) is sweep]
        half, gone = sweep.track.end, sweep.track.end
        for t in np.arange(sweep.moved, sweep.track.end, _STEP_S):
            cards = [self._played.card(k, self._sheet, t) for k in numbers]
            before = [self._played.card(k, self._sheet, sweep.moved) for k in numbers]
            steps = [
                float(np.linalg.norm((now - was).mean(axis=0)[:2]))
                for now, was in zip(cards, before, strict=True)
                if now is not None and was is not None
            ]
            if half == sweep.track.end and steps and float(np.median(steps)) > self._sheet.size[0] / 2:
                half = float(t)
            pixels = [self._view.project(card)[0] for card in cards if card is not None]
            if not any(((p >= 0) & (p < [self._view.width, self._view.height])).all(axis=1).any() for p in pixels):
                gone = float(t)
                break
        return half, gone


def _ns(seconds: float) -> int:
    return round(seconds * SECOND)


def _flat(points: Points) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]


def events(played: Sequence, witness: Eyewitness, view: View, sheet: CardSheet) -> Iterable[dict[str, Any]]:
    """Yield the plays and takes, as lines of the truth's file."""
    for k, lay in enumerate(played.lays):
        seen = witness.reveal(k)
        corners = lay.corners(sheet, lay.rested)
        seat = played.seats[k]
        yield {
            "kind": "play", "card": lay.card, "seat": seat, "bearing": round(lay.arm.bearing, 1),
            "sliver": _ns(seen.sliver), "quarter": _ns(seen.quarter), "half": _ns(seen.half), "rest": _ns(seen.rested),
            "corners": _flat(view.project(corners)[0]),
        }  # fmt: skip
    for k, sweep in enumerate(played.sweeps):
        if sweep.takes:
            half, gone = witness.left(k)
            yield {
                "kind": "take", "seat": played.seats[1000 + k], "bearing": round(sweep.arm.bearing, 1),
                "moved": _ns(sweep.moved), "half": _ns(half), "gone": _ns(gone),
            }  # fmt: skip


def frame_cards(played: Sequence, witness: Eyewitness, view: View, sheet: CardSheet, t: float) -> list[dict[str, Any]]:
    """Return each card in a frame: its corners in the picture and the visible share of its face."""
    heights, out = witness.heights(t), []
    for k, lay in enumerate(played.lays):
        corners = played.card(k, sheet, t, corners=True)
        if corners is not None:
            shown = round(witness.shown(k, t, heights), 2)
            out.append({"card": lay.card, "corners": _flat(view.project(corners)[0]), "shown": shown})
    return out
