"""Awkward cards: bent ones, two that come on one hand, one that is pushed to its place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np

from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.layers import stamp
from hardware.simulated.pictures.scene import Scene
from hardware.simulated.table.acts import HOLD_NS, Act, CardPose, Cover, Lay
from hardware.simulated.table.paths import HandPlace, Player, Visit, forward, smooth

SHEEN = 0.3
"""Brightness change of paper tilted to the lamp or away from it, per radian."""

MIDDLE = CardPose(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Pair(Lay):
    """Two cards drawn at once: they turn and come to lie together, ``card`` on top of ``under``."""

    under: str = ""
    beneath: CardPose = MIDDLE
    """Resting place of the lower card."""

    @property
    def lower(self) -> Lay:
        """Return the lower card as one that is laid alone."""
        return Lay(self.t, self.seat, self.under, self.beneath, self.sideways)


@dataclass(frozen=True, slots=True)
class Touch(Cover):
    """A hand comes to a place on the table and stays there a while: hovering, or with a finger on a card."""

    at: tuple[float, float] = (0.0, 0.0)
    """Position of the longest finger's tip."""
    flat: bool = False
    """Spread, as over a pile before a slap."""


@dataclass(frozen=True, slots=True)
class Push(Cover):
    """Fingertips push a card that lies on the table to another place, from ``t`` to ``until``."""

    card: str = ""
    start: CardPose = MIDDLE
    end: CardPose = MIDDLE

    def moved(self, t: int) -> tuple[float, float]:
        """Return how far card and hand have come by ``t``, mm."""
        share = smooth((t - self.t) / (self.until - self.t))
        return (self.end.x - self.start.x) * share, (self.end.y - self.start.y) * share


class AwkwardPlayer(Player):
    """A hand that does `Touch` and `Push` besides the usual acts."""

    def _visit(self, act: Act) -> Visit:
        visit = super()._visit(act)
        if isinstance(act, Touch):
            return replace(visit, at=act.at)
        if isinstance(act, Push):
            reach, (x, y) = self.card[1] / 2 - 14, visit.inward
            return replace(visit, leave=act.until + HOLD_NS, at=(act.start.x - x * reach, act.start.y - y * reach))
        return visit

    def _place(self, visit: Visit, back: float, t: int) -> HandPlace:
        place, act = super()._place(visit, back, t), visit.act
        if isinstance(act, Touch) and not act.flat:
            return replace(place, pose="pinch")
        if isinstance(act, Push):
            x, y = act.moved(t)
            return replace(place, tip=(place.tip[0] + x, place.tip[1] + y), pose="pinch")
        return place


class AwkwardScene(Scene):
    """A scene in which `Pair`, `Touch` and `Push` happen, and cards may be bent."""

    reach_mm = 190.0
    player_class = AwkwardPlayer
    bent: Mapping[str, float] = {}
    """Bend of cards: half the angle of the arc, radians; negative: from one short edge to the other."""

    def lit(self, card: str, pose: CardPose) -> Bytes:
        """Return a card's picture under the light at its place, bent where it is."""
        picture = super().lit(card, pose)
        angle = self.bent.get(card)
        return picture if angle is None else _bent(picture, angle)

    def warm(self) -> None:
        """Draw every card and hand that will be seen."""
        super().warm()
        for act in self.acts:
            if isinstance(act, Pair):
                self.deck.picture(act.under)

    def _timeline(self) -> list[tuple[int, Act]]:
        # A pushed card leaves its place when the push starts, and is at rest again when it has come.
        pushed = [(t, a) for a in self.acts if isinstance(a, Push) for t in (a.t, a.until)]
        return sorted([*super()._timeline(), *pushed], key=lambda change: change[0])

    def _apply(self, act: Act) -> None:
        if isinstance(act, Pair):
            self.pile.add(act.under, act.beneath)
        if not isinstance(act, Push):
            super()._apply(act)
            return
        lying = list(self.pile.cards)
        if (act.card, act.start) in lying:
            lying.remove((act.card, act.start))
            self.pile.clear()
        else:
            lying = [(act.card, act.end)]
        for card, pose in lying:
            self.pile.add(card, pose)

    def _draw_place(self, frame: Bytes, place: HandPlace, t: int) -> None:
        act = place.act
        if isinstance(act, Push) and act.t <= t < act.until:
            x, y = act.moved(t)
            here = CardPose(act.start.x + x, act.start.y + y, act.start.turn)
            stamp(frame, self.lit(act.card, here), self.flat(here))
        super()._draw_place(frame, place, t)

    def _carried(self, frame: Bytes, lay: Lay, place: HandPlace, t: int, motion: tuple[float, float]) -> None:
        cards = [(lay, place)]
        if isinstance(lay, Pair):
            upper, lower = self._held_at(lay), self._held_at(lay.lower)
            tip = (place.tip[0] + lower[0] - upper[0], place.tip[1] + lower[1] - upper[1])
            cards.insert(0, (lay.lower, replace(place, tip=tip)))
            if t < lay.t:
                cards.reverse()
        for card, where in cards:
            super()._carried(frame, card, where, t, motion)

    def _held_at(self, lay: Lay) -> tuple[float, float]:
        """Return where fingertips hold a card at rest, mm."""
        length = self.deck.size[0] if lay.sideways else self.deck.size[1]
        x, y = forward(lay)
        return lay.pose.x - x * (length / 2 - 8), lay.pose.y - y * (length / 2 - 8)


def _bent(picture: Bytes, angle: float) -> Bytes:
    """Return a card's picture (BGRA, premultiplied) seen from above when it is bent into a part of a cylinder."""
    along = 0 if angle < 0 else 1
    a = abs(angle)
    size = picture.shape[along]
    seen = np.linspace(-1, 1, size, dtype=np.float32)
    # From above, a point at angle p from the middle of the arc shows at sin(p) of the radius.
    p = np.arcsin(np.clip(seen * a, -0.999, 0.999))
    source = ((p / a + 1) * (size - 1) / 2).astype(np.float32)
    source[np.abs(seen) * a > math.sin(a)] = -9
    shade = (1 + SHEEN * p).astype(np.float32)
    columns, rows = np.meshgrid(np.arange(picture.shape[1]), np.arange(picture.shape[0]))
    xs, ys = columns.astype(np.float32), rows.astype(np.float32)
    if along:
        xs = np.broadcast_to(source[None, :], xs.shape).copy()
        gain = shade[None, :, None]
    else:
        ys = np.broadcast_to(source[:, None], ys.shape).copy()
        gain = shade[:, None, None]
    warped = cv2.remap(picture, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    out = warped.copy()
    out[..., :3] = np.minimum(np.clip(warped[..., :3] * gain, 0, 255), warped[..., 3:])
    return np.asarray(out, np.uint8)
