"""Pictures of the table from straight above, as its camera would take them.

Cards at rest are kept in a separate layer, so that a picture costs only as much as its moving parts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

import cv2
import numpy as np

from hardware.simulated.decks.packs import PrintedDeck
from hardware.simulated.pictures.ambient import SensorNoise, cloth, light
from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.hands import HandPicture, draw_hand, look
from hardware.simulated.pictures.layers import Matrix, moved_by, stamp
from hardware.simulated.pictures.pile_picture import PILE_MM, PileLayer
from hardware.simulated.table.acts import Act, Burn, CardPose, Cover, HandOver, Lay, Start, Take, settled_at
from hardware.simulated.table.paths import HandPlace, Player, swing_angle, swung
from referee.units import MS, SECOND

CARD_SHARE = 150 / 720
"""A card's height as a share of the picture's."""
_LENS_PX = 0.55
"""Softness of the lens, px; motion adds its own blur."""


class Scene:
    """Renders the table for acts on a timeline.

    ``size`` is the picture's width and height in px, ``colour`` the cloth's (blue, green, red), chosen by the seed
    unless given. The same arguments give the same pictures, noise included.
    """

    reach_mm = PILE_MM
    """Half the width of the square for the cards."""
    player_class = Player

    def __init__(
        self,
        acts: Sequence[Act],
        seats: int,
        *,
        size: tuple[int, int] = (960, 720),
        family: str = "harbour",
        seed: int = 0,
        card_share: float = CARD_SHARE,
        exposure_ns: int = 4 * MS,
        noise: float = 2.0,
        colour: tuple[int, int, int] | None = None,
    ) -> None:
        self.width, self.height = size
        self.seed, self.exposure_ns = seed, exposure_ns
        probe = PrintedDeck(family, 1.0, seed)
        self.scale = self.height * card_share / probe.size[1]
        self.deck = PrintedDeck(family, self.scale, seed)
        self.looks = {s: look(seed, s) for s in range(1, seats + 1)}
        self._take_acts(acts)
        self.light = light(self.width, self.height, seed)
        self.card_shadow = self._card_shadow()
        self._hands: dict[tuple[int, str], HandPicture] = {}
        bare = cloth(self.width, self.height, self.scale, seed, colour) * self.light[..., None]
        self.bare: Bytes = np.clip(bare, 0, 255).astype(np.uint8)
        self._noise = SensorNoise(self.width, self.height, noise, seed)
        self.pile = PileLayer(self)
        self._done = 0
        self._base = self.bare
        self._stale = True
        self._gone: PileLayer | None = None
        """The pile being swept away."""

    def _take_acts(self, acts: Sequence[Act]) -> None:
        self.acts = sorted((a for a in acts if not isinstance(a, HandOver)), key=lambda a: a.t)
        self.changes = self._timeline()
        self._instants = [t for t, _ in self.changes]
        self._times = [a.t for a in self.acts]
        frame = (self.width / self.scale, self.height / self.scale)
        self.players: list[Player] = []
        for s in self.looks:
            leans = float(np.random.default_rng((self.seed, 21, s)).uniform(-6, 6))
            side = 80.0 * (-1 if self.looks[s].left_handed else 1)
            mine = [a for a in self.acts if a.seat == s]
            self.players.append(self.player_class(s, len(self.looks), mine, self.deck.size, frame, leans, side))

    def follow(self, acts: Sequence[Act], since: int) -> None:
        """Play other acts from ``since`` (ns) on; up to there they are the same."""
        self._settle(since)
        self._take_acts(acts)

    def _timeline(self) -> list[tuple[int, Act]]:
        """Return the changes to the cards at rest with their instants, in order of time."""
        changes = ((t, a) for a in self.acts if (t := settled_at(a)) is not None)
        return sorted(changes, key=lambda change: change[0])

    def _card_shadow(self) -> tuple[Bytes, int]:
        margin = round(6 * self.scale)
        height, width = self.deck.picture("back").shape[:2]
        solid = np.zeros((height + 2 * margin, width + 2 * margin), np.uint8)
        solid[margin:-margin, margin:-margin] = self.deck.picture("back")[..., 3]
        return cv2.GaussianBlur(solid, (0, 0), 1.1 * self.scale), margin

    def warm(self) -> None:
        """Draw every card and hand in advance, so that no picture has to wait for them."""
        self.deck.picture("back")
        for act in self.acts:
            if isinstance(act, Start):
                continue
            self._hand(act.seat, "flat" if isinstance(act, Take | Cover) else "pinch")
            if isinstance(act, Lay | Burn):
                self._hand(act.seat, "thumb")
            for card in (act.card,) if isinstance(act, Lay) else act.cards if isinstance(act, Burn) else ():
                self.deck.picture(card)

    def px(self, x: float, y: float) -> tuple[float, float]:
        """Convert mm on the table to px in the picture."""
        return x * self.scale + self.width / 2, y * self.scale + self.height / 2

    def brightness(self, x: float, y: float) -> float:
        """Return the light at a place on the table."""
        u, v = self.px(x, y)
        return float(self.light[min(max(int(v), 0), self.height - 1), min(max(int(u), 0), self.width - 1)])

    def flat(self, pose: CardPose) -> Matrix:
        """Return the matrix from a card picture's pixels to the frame's, for a card lying at a pose."""
        height, width = self.deck.picture("back").shape[:2]
        c, s = math.cos(math.radians(pose.turn)), math.sin(math.radians(pose.turn))
        u, v = self.px(pose.x, pose.y)
        centred: Matrix = np.array([[c, -s, u], [s, c, v], [0, 0, 1]]) @ moved_by(-width / 2, -height / 2)
        return centred

    def lit(self, card: str, pose: CardPose) -> Bytes:
        """Return a card's picture in the light at its place."""
        picture = self.deck.picture(card)
        tone = cv2.convertScaleAbs(picture, alpha=0.93 * self.brightness(pose.x, pose.y))
        tone[..., 3] = picture[..., 3]
        return np.asarray(tone, dtype=np.uint8)

    def picture(self, t: int, index: int = 0) -> Bytes:
        """Return the table at ``t``: H x W x 3 uint8, blue first; ``index`` selects the noise."""
        self._settle(t)
        places = [p for player in self.players if (p := player.at(t)) is not None]
        places.sort(key=lambda p: (p.act.t, p.seat))
        tucked = [p for p in places if isinstance(p.act, Burn) and not p.act.top and t < p.act.t]
        swept = next((a for a in self.acts_near(t) if isinstance(a, Take) and a.starts <= t < a.ends), None)
        if tucked or swept:
            frame = self.bare.copy()
            for place in tucked:
                self._carried_flat(frame, place, t)
            self._draw_pile(frame, swept, t)
            frame = cv2.GaussianBlur(frame, (3, 3), _LENS_PX)
        else:
            if self._stale:
                self._base = self.bare.copy()
                self.pile.draw(self._base)
                self._base = cv2.GaussianBlur(self._base, (3, 3), _LENS_PX)
                self._stale = False
            frame = np.array(self._base)
        for place in places:
            self._draw_place(frame, place, t)
        self._noise.add_to(frame, index)
        return frame

    def acts_near(self, t: int) -> Sequence[Act]:
        """Return the acts whose own instants lie within two seconds of ``t``."""
        return self.acts[bisect_right(self._times, t - 2 * SECOND) : bisect_right(self._times, t + 2 * SECOND)]

    def _settle(self, t: int) -> None:
        """Advance or rewind the layer of cards at rest to ``t``."""
        due = bisect_right(self._instants, t)
        if due == self._done:
            return
        start = self._done
        if due < start:
            # Replay from the take before the last one, to know also a pile that may be on its way out.
            takes = [k for k in range(due) if isinstance(self.changes[k][1], Take)]
            start = takes[-2] + 1 if len(takes) > 1 else 0
            self.pile.clear()
            self._gone = None
        for _, act in self.changes[start:due]:
            self._apply(act)
        self._done, self._stale = due, True

    def _apply(self, act: Act) -> None:
        if isinstance(act, Lay):
            self.pile.add(act.card, act.pose)
        elif isinstance(act, Burn) and not act.top:
            self.pile.slip_under(list(zip(act.cards, act.poses, strict=True)))
        elif isinstance(act, Start | Burn):
            for card, pose in zip(act.cards, act.poses, strict=True):
                self.pile.add("back" if isinstance(act, Start) else card, pose)
        elif isinstance(act, Take):
            self._gone, self.pile = self.pile, PileLayer(self)

    def _draw_pile(self, frame: Bytes, swept: Take | None, t: int) -> None:
        self.pile.draw(frame)
        if swept is None or self._gone is None:
            return
        player = self.players[swept.seat - 1]
        visit = next(v for v in player.visits if v.act is swept)
        now, then = (visit.drawn(u) * self.scale for u in (t, t + self.exposure_ns))
        x, y = player.outward
        self._gone.draw(frame, x * now, y * now, (x * (then - now), y * (then - now)))

    def _draw_place(self, frame: Bytes, place: HandPlace, t: int) -> None:
        later = self.players[place.seat - 1].at(t + self.exposure_ns)
        motion = (0.0, 0.0)
        if later is not None:
            motion = ((later.tip[0] - place.tip[0]) * self.scale, (later.tip[1] - place.tip[1]) * self.scale)
        self._draw_hand(frame, place, place.pose, motion)
        act = place.act
        if isinstance(act, Lay) and t < act.rest:
            self._carried(frame, act, place, t, motion)
            if t < act.t:
                return
        if isinstance(act, Burn) and act.top and t < act.t:
            self._carried_flat(frame, place, t)
        if place.pose == "pinch":
            self._draw_hand(frame, place, "thumb", motion)

    def _hand(self, seat: int, pose: str) -> HandPicture:
        if (seat, pose) not in self._hands:
            self._hands[seat, pose] = draw_hand(pose, self.looks[seat], self.scale)
        return self._hands[seat, pose]

    def _draw_hand(self, frame: Bytes, place: HandPlace, pose: str, motion: tuple[float, float]) -> None:
        hand = self._hand(place.seat, pose)
        away = (place.elbow[0] - place.tip[0], place.elbow[1] - place.tip[1])
        turn = math.atan2(-away[0], away[1])
        c, s = math.cos(turn), math.sin(turn)
        u, v = self.px(*place.tip)
        matrix = np.array([[c, -s, u], [s, c, v], [0, 0, 1]]) @ moved_by(-hand.tip[0], -hand.tip[1])
        if pose != "thumb":
            stamp(frame, hand.shadow, moved_by(7 * self.scale, 9 * self.scale) @ matrix, motion)
        stamp(frame, hand.image, matrix, motion)

    def _carried(self, frame: Bytes, lay: Lay, place: HandPlace, t: int, motion: tuple[float, float]) -> None:
        """Draw a card on its way: face down on the hand, swinging over, then face up."""
        angle = swing_angle(lay, t)
        if abs(math.cos(math.radians(angle))) < 0.02:
            return
        corners = np.array([self.px(*corner) for corner in swung(lay, place.tip, angle, self.deck.size)], np.float32)
        picture = self.lit(lay.card if t >= lay.t else "back", CardPose(*place.tip, 0))
        height, width = picture.shape[:2]
        source = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        matrix = np.asarray(cv2.getPerspectiveTransform(source, corners), np.float64)
        shadow, margin = self.card_shadow
        lift = (2.0 + 22.0 * math.sin(math.radians(angle))) * self.scale
        below = moved_by(lift * 0.8, lift) @ matrix @ moved_by(-margin, -margin)
        stamp(frame, cv2.convertScaleAbs(shadow, alpha=0.36), below, motion)
        stamp(frame, picture, matrix, motion)

    def _carried_flat(self, frame: Bytes, place: HandPlace, t: int) -> None:
        """Draw penalty cards, face up, on their way into the pile."""
        act = place.act
        if not isinstance(act, Burn):
            return
        at = next(v for v in self.players[place.seat - 1].visits if v.act is act).at
        for card, pose in reversed(list(zip(act.cards, act.poses, strict=True))):
            here = CardPose(pose.x + place.tip[0] - at[0], pose.y + place.tip[1] - at[1], pose.turn)
            stamp(frame, self.lit(card, here), self.flat(here))
