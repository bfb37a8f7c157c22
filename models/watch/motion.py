"""Motion on the table: cheap change detection on a reduced picture.

`Motion.look` halves a frame until it is small and finds the differences from the previous frame (*moving*) and from the
bare table (*foreign*: cards, hands, shadows). A small network marks the arms among them (`models.watch.surfaces`); the
point where an arm crosses the picture's edge gives its bearing. The bare table's picture is learned: anything that lies
still for a second, and is neither a known card nor an arm, becomes part of the table. Changes of light are followed
(`models.watch.daylight`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Quad
from models.watch.daylight import (
    balanced,
    fit_balance,
    fit_bands,
    fit_daylight,
    gains,
    rebalanced,
    relit,
    usual_table,
    white_in,
)
from models.watch.grain import grain_of, likeness
from models.watch.masks import Mask, both, box_of, difference, narrowed, opened, widened
from models.watch.measure import (
    CHANGED,
    DARK,
    DIMMEST,
    FEW,
    HALF,
    LEARNED,
    LITTLE,
    MOST,
    NEARLY_ALL,
    OVER,
    PART,
    SLIGHT,
    SPECK,
)
from models.watch.pace import LAID_NS, LONG_AGO, PATIENCE_NS, TURNED_NS
from models.watch.reaches import Reach, sort_edge
from models.watch.surfaces import Kinds, Surface, surface_network, tell_surfaces
from referee.units import SECOND

Bytes = NDArray[np.uint8]

ROWS: Final = 160
"""Least number of rows of the reduced picture; it has less than twice as many."""
CARD_RIM: Final = SPECK
"""Distance from a card, in reduced pixels, that its edge and its shadow reach."""
_FOREIGN: Final = 9
"""Difference in grey levels between a foreign reduced pixel and the bare table. A dark hand over a dark cloth differs
no more; noise is less than half."""
_STUCK_NS: Final = 6 * SECOND
"""Time that an object filling the whole picture must lie still to become part of the table ..."""
_RESTING_NS: Final = 120 * SECOND
"""... and the same for an arm over the picture's edge."""
_LEAST_PAPER: Final = 20
"""Least number of reduced pixels of a card whose paper's colour is learned; chosen by hand."""
_BRIGHTEST: Final = 90
"""Percentile of a card's pixels above which they are paper, however much of it a hand hides."""
PAPER_STEP: Final = 2
"""Frame pixels per pixel of the picture searched for white paper."""


def _blurred(picture: Bytes) -> Bytes:
    """Return the picture without sensor noise."""
    return np.asarray(cv2.blur(picture, (SPECK + 1, SPECK + 1)), np.uint8)


def _covers(small: Bytes, table: Bytes, cards: Mask) -> bool:
    """Whether cards are out of sight: a cover before the lens resembles a plain table everywhere."""
    if not cards.any():
        return False
    return bool((difference(small, table, CHANGED)[cards > 0] > 0).mean() < PART)


@dataclass(slots=True, eq=False)
class Glance:
    """A frame at a glance: its quick analysis."""

    t: int
    small: Bytes
    moving: Mask
    foreign: Mask
    kinds: Kinds
    """The surface that each pixel shows, where examined; a pixel that is not foreign shows the table."""
    reaches: list[Reach] = field(default_factory=list)
    resting: list[Reach] = field(default_factory=list)
    """Arms that have not moved for a second: they bring and take nothing, and belong to the table for now."""
    state: str = "clear"
    """``clear``, ``dark`` or ``blocked``."""

    @property
    def calm(self) -> bool:
        """Whether nothing moved or reached in."""
        return not self.reaches and not self.changed

    @property
    def changed(self) -> bool:
        """Whether anything moved since the previous frame."""
        return cv2.countNonZero(self.moving) > SPECK


class Motion:
    """Memory of the reduced pictures; one instance per camera."""

    def __init__(self) -> None:
        self.factor = 1
        self._surfaces = surface_network()
        self.table: Bytes | None = None
        self._earlier: Bytes | None = None
        """The table before it was learned anew: an object then learned may have been taken away again."""
        self._before: Bytes | None = None
        self._as_it_came: Bytes | None = None
        """The previous picture, with the bands of flickering lamps."""
        self._banded: deque[int] = deque(maxlen=FEW)
        """The latest instants at which bands moved, ns."""
        self._relit_at = LONG_AGO
        self._clear: Bytes | None = None
        """The latest picture with an unobstructed view."""
        self.half: Bytes = np.zeros((1, 1, 3), np.uint8)
        """The newest frame at half size."""
        self._learned_at = LONG_AGO
        self._held: NDArray[np.bool_] | None = None
        """Pixels of arms over the picture's edge, with whatever they hold: not part of the table even at rest."""
        self._rested: Mask | None = None
        """The arms at rest in the latest frame."""
        self.moved_at: NDArray[np.int64] = np.zeros((0, 0), np.int64)
        """The instant at which each reduced pixel last changed, ns."""
        self._bare_at: NDArray[np.int64] = np.zeros((0, 0), np.int64)
        """The instant at which each reduced pixel last showed the table, ns."""
        self._last_surfaces: tuple[int, Bytes, Bytes, Kinds] | None = None
        """The surface network's last look: its instant (ns), picture, table and result."""
        self._knows_paper = False
        self._covered: Bytes | None = None
        """The table when the first card of the pile was laid."""
        self._unseen: NDArray[np.bool_] | None = None
        """Pixels where the learned table is not yet confirmed; None if there are none."""
        self.paper = np.array((235.0, 235.0, 235.0))
        """Colour of the cards' paper, learned from cards that were read."""

    def look(self, image: Bytes, t: int, cards: Mask | None) -> Glance:
        """Take in a frame; ``cards``: reduced mask of known cards, which never become part of the table."""
        small, self.factor = image, 1
        while self.factor < PAPER_STEP or small.shape[0] >= 2 * ROWS:
            # Halving is by far the fastest case of INTER_AREA.
            size = (small.shape[1] // 2, small.shape[0] // 2)
            even = small[: 2 * size[1], : 2 * size[0]]
            small = np.asarray(cv2.resize(even, size, interpolation=cv2.INTER_AREA), np.uint8)
            self.factor *= 2
            if self.factor == PAPER_STEP:
                self.half = small
        if self.table is None or self._before is None or self.table.shape != small.shape:
            self.table, self._before, self._last_surfaces, self._rested = small.copy(), small, None, None
            self.moved_at = np.full(small.shape[:2], t, np.int64)
            self._bare_at = self.moved_at.copy()
            self._earlier = self._clear = None
            self._unseen = np.ones(small.shape[:2], np.bool_)
            if float(small.mean()) < DARK:
                self.table = None
                nothing = np.zeros(small.shape[:2], np.uint8)
                return Glance(t, small, nothing, nothing.copy(), nothing.copy(), state="dark")
        cards = np.zeros(small.shape[:2], np.uint8) if cards is None else cards
        small = self._without_bands(small, t)
        table = self.table
        foreign = self._foreign(small)
        glance = Glance(t, small, difference(small, self._before, CHANGED), foreign, np.zeros_like(foreign))
        if self.table is not table:
            self._return_to_light(glance)
        self._before = small
        self._set_state(glance, cards)
        if cv2.countNonZero(glance.foreign) > PART * glance.foreign.size and (
            self._knows_balance(glance, cards) or self._knows_lamp(glance, cards)
        ):
            self._set_state(glance, cards)
        if glance.state == "clear":
            self._clear = small
        if glance.changed:
            self.moved_at[glance.moving > 0] = t
        self._learn(glance, cards)
        if cv2.countNonZero(glance.foreign) > SPECK:
            glance.foreign = opened(glance.foreign, 2)
        self._sort_edge(glance)
        return glance

    def _without_bands(self, small: Bytes, t: int) -> Bytes:
        """Return the picture in the bare table's light, if lamps flicker, and correct `half` likewise."""
        before, self._as_it_came = self._as_it_came, small
        if before is not None and before.shape == small.shape and fit_bands(before, small) is not None:
            self._banded.append(t)
        if len(self._banded) < FEW or t - self._banded[0] > PATIENCE_NS:
            return small
        assert self.table is not None
        bands = fit_bands(self.table, small)
        if bands is None:
            return small
        rows = cv2.resize(bands[..., 0], (1, len(self.half)))[..., None]
        self.half = relit(self.half, 1 / rows)
        return relit(small, 1 / bands)

    def _sort_edge(self, glance: Glance) -> None:
        """Classify the foreign pixels; arms at rest do not count as foreign."""
        self._held = None
        if cv2.countNonZero(glance.foreign) <= SPECK:
            self._rested = None
            return
        glance.kinds = self._tell_kinds(glance.small, glance.t)
        arms = np.where(glance.kinds == Surface.ARM, np.uint8(255), np.uint8(0))
        edge = sort_edge(arms, self.moved_at >= glance.t - PATIENCE_NS, self._rested)
        glance.reaches, glance.resting = edge.arms, edge.resting
        if edge.things is not None:
            # Include shadows and rims: a table learned round a hand would hide the hand.
            _, parts = cv2.connectedComponents(cv2.bitwise_or(glance.foreign, edge.things))
            held = np.isin(parts, np.unique(parts[edge.things > 0]))
            self._held = widened(held.astype(np.uint8), 1) > 0
            glance.foreign[edge.at_rest > 0] = 0
        self._rested = None if edge.things is None else edge.at_rest

    def _tell_kinds(self, small: Bytes, t: int) -> Kinds:
        """Return the surface that each pixel shows, computed at most once per `TURNED_NS` and only after a change."""
        assert self.table is not None
        if self._last_surfaces is not None:
            looked_at, seen, table, kinds = self._last_surfaces
            if t - looked_at < TURNED_NS:
                return kinds
            changes = (difference(small, seen, CHANGED), difference(self.table, table, CHANGED))
            if all(cv2.countNonZero(change) <= SPECK for change in changes):
                return kinds
        kinds = tell_surfaces(self._surfaces, small, self.table)
        self._last_surfaces = t, small, self.table.copy(), kinds
        return kinds

    def _foreign(self, small: Bytes) -> Mask:
        """Return a mask of pixels that match neither the current table nor the earlier one."""
        assert self.table is not None
        foreign = difference(small, self.table, _FOREIGN)
        if self._earlier is None:
            return foreign
        before = difference(small, self._earlier, _FOREIGN)
        if cv2.countNonZero(before) < PART * cv2.countNonZero(foreign):
            # The lamp is back to its earlier state.
            self.table, self._earlier = self._earlier, self.table
        return both(foreign, before)

    def _return_to_light(self, glance: Glance) -> None:
        """Adapt to a lamp or a balance that is back to its earlier state, as the table already is."""
        if self._clear is None:
            return
        lately = fit_balance(self._clear, glance.small, np.ones(glance.small.shape[:2], np.bool_))
        if lately is None:
            return
        glance.moving = difference(glance.small, rebalanced(self._clear, lately), CHANGED)
        if self._knows_paper:
            self.paper = balanced(self.paper, lately)

    def _knows_lamp(self, glance: Glance, cards: Mask) -> bool:
        """Whether only the lamp has changed its colour or strength; if so, adapt the table to the new light."""
        clear, small = self._clear, glance.small
        if clear is None or self.table is None:
            return False
        lamp = gains(clear[::2, ::2], small[::2, ::2])
        if abs(lamp - 1).max() < LITTLE or lamp.min() < DIMMEST or lamp.max() > 1 / DIMMEST:
            return False
        other = difference(small, relit(clear, lamp), CHANGED)
        if cv2.countNonZero(other) > PART * other.size:
            return False
        changed = cards.any() and (other[cards > 0] > 0).mean() > PART
        if changed and _covers(small, relit(self.table, lamp), cards):
            return False
        self._take_light(glance, relit(self.table, lamp), other)
        self.paper = np.minimum(self.paper * lamp, 255.0)
        return True

    def _knows_balance(self, glance: Glance, cards: Mask) -> bool:
        """Whether the camera has changed its white balance or exposure; if so, adapt the table to it.

        All colours have changed, dark and bright ones not necessarily alike, and the table's grain is as before: a
        cover before the lens has no such grain. On a table without grain the cards must still show.
        """
        clear, table, small = self._clear, self.table, glance.small
        if clear is None or table is None or glance.state == "dark":
            return False
        bare = cards == 0
        lately, since = fit_balance(clear, small, np.ones_like(bare)), fit_balance(table, small, bare)
        if lately is None or since is None:
            return False
        other = difference(small, rebalanced(clear, lately), CHANGED)
        if cv2.countNonZero(other) > PART * other.size:
            return False
        anew = rebalanced(table, since)
        changed = np.abs(anew.mean(axis=(0, 1)) - table.mean(axis=(0, 1))).max()
        if changed < _FOREIGN / 2:
            return False
        shows, hidden = self._shows_grain(glance, bare), _covers(small, anew, cards)
        if shows is None:
            shows = self._shows_table(glance) and not hidden
        elif hidden:
            # A cover that has only begun to come hides the grain round the cards, too.
            place = box_of(cards, SPECK * CARD_RIM)
            shows = shows and likeness(*(grain_of(picture[place], bare[place]) for picture in (table, small))) > HALF
        if not shows:
            return False
        self._take_light(glance, anew, other)
        if self._knows_paper:
            self.paper = balanced(self.paper, lately)
        return True

    def _shows_grain(self, glance: Glance, bare: NDArray[np.bool_]) -> bool | None:
        """Whether the table's grain shows, in any colours; None if it has none."""
        assert self.table is not None and self._clear is not None
        known, clear, now = (grain_of(picture, bare) for picture in (self.table, self._clear, glance.small))
        usual = likeness(known, clear)
        return likeness(known, now) >= MOST * usual if usual >= PART else None

    def _shows_table(self, glance: Glance) -> bool:
        """Whether a table without grain shows: only its stillness distinguishes it from a plain cover."""
        still = glance.t - self.moved_at > PATIENCE_NS
        kinds = self._tell_kinds(glance.small, glance.t)
        return bool(still.mean() > 1 - OVER and ((kinds != Surface.ARM) & (kinds != Surface.OTHER)).mean() > 1 - OVER)

    def _take_light(self, glance: Glance, table: Bytes, other: Mask) -> None:
        """Adopt a new picture of the table; only ``other`` has moved."""
        glance.moving = other
        if glance.t - self._relit_at > PATIENCE_NS:
            self._earlier = self.table
        self._relit_at = glance.t
        self.table, self._covered = table, None
        glance.foreign = self._foreign(glance.small)

    def _set_state(self, glance: Glance, cards: Mask) -> None:
        glance.state = "clear"
        if float(glance.small.mean()) < DARK:
            glance.state = "dark"
        elif cv2.countNonZero(glance.foreign) > (1 - PART) * glance.foreign.size and not self._is_relit(glance, cards):
            glance.state = "blocked"

    def _is_relit(self, glance: Glance, cards: Mask) -> bool:
        """Whether known cards still show as cards, and the table round them: then only the light has changed."""
        if not cards.any():
            return False
        kinds = self._tell_kinds(glance.small, glance.t)
        table = (kinds == Surface.TABLE) | (kinds == Surface.SHADOW)
        return bool((kinds[cards > 0] == Surface.FACE).mean() > HALF and table[cards == 0].mean() > HALF)

    def _learn(self, glance: Glance, cards: Mask) -> None:
        assert self.table is not None
        if glance.state == "dark" or glance.t - self._learned_at < LAID_NS:
            return
        self._learned_at = glance.t
        bare = cards == 0
        if self._held is not None and self._held.shape == bare.shape:
            bare &= ~self._held | (glance.t - self.moved_at > _RESTING_NS)
        if glance.state == "clear":
            self._follow_daylight(glance, bare, cards)
        settled = self._settled(glance, bare)
        if settled.any():
            if self._earlier is None:
                self._earlier = self.table.copy()
            self._earlier[settled] = self.table[settled]
            self.table[settled] = glance.small[settled]
        if self._unseen is not None:
            same = bare & (glance.foreign == 0) & (glance.t - self.moved_at > PATIENCE_NS)
            self._unseen &= ~(settled | same)
            if not self._unseen.any():
                self._unseen = None
        self._relight_under(cards, glance)

    def _settled(self, glance: Glance, bare: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the pixels that differ from the bare table and have lain still long enough to become part of it."""
        assert self.table is not None
        # An object before the lens is not part of the table, unless it never goes away.
        still = PATIENCE_NS if glance.state == "clear" else _STUCK_NS
        # Small changes in every frame are movement, too: a creeping shadow, a cover before the lens.
        others = difference(_blurred(glance.small), _blurred(self.table), _FOREIGN // 2) > 0
        self._bare_at[~others] = glance.t
        since = np.where(others, np.maximum(self.moved_at, self._bare_at), self.moved_at)
        foreign = bare & (glance.foreign > 0)
        settled = foreign & (glance.t - since > still)
        if self._last_surfaces is not None and settled.any():
            # Learn a shadow only as a whole: the rest of a shadow that the table has in part would look like an arm.
            *_, kinds = self._last_surfaces
            shadows = foreign & (kinds == Surface.SHADOW)
            _, parts = cv2.connectedComponents(shadows.astype(np.uint8))
            sizes = np.bincount(parts.ravel())
            whole = np.bincount(parts[settled], minlength=len(sizes)) >= (1 - LITTLE) * sizes
            settled &= whole[parts] | ~shadows
        return settled

    def _follow_daylight(self, glance: Glance, bare: NDArray[np.bool_], cards: Mask) -> None:
        """Adapt the table to a slow change of daylight."""
        assert self.table is not None
        daylight = fit_daylight(self.table, glance.small, bare)
        if daylight is None:
            return
        table = relit(self.table, daylight)
        if _covers(glance.small, table, cards):
            return
        self.table = table
        if self._earlier is not None:
            self._earlier = relit(self._earlier, daylight)
        self.paper = np.minimum(self.paper * daylight.mean(axis=(0, 1)), 255.0)
        glance.foreign = self._foreign(glance.small)

    def _relight_under(self, cards: Mask, glance: Glance) -> None:
        """Relight the table hidden under cards by the change of its row, since lamps flicker in bands."""
        assert self.table is not None
        if not cards.any():
            self._covered = None
            return
        if self._covered is None or self._covered.shape != self.table.shape:
            self._covered = self.table.copy()
        rows = np.flatnonzero(cards.any(axis=1))
        there = cards[rows] > 0
        shows = ~there & (glance.foreign[rows] == 0)
        rows, there, shows = (part[shows.mean(axis=1) >= PART] for part in (rows, there, shows))
        before, now = (picture[rows].astype(np.float32) for picture in (self._covered, self.table))
        light = (now * shows[..., None]).sum(1, keepdims=True) / np.maximum(
            (before * shows[..., None]).sum(1, keepdims=True), 1
        )
        self.table[rows] = np.where(there[..., None], np.clip(before * light + 0.5, 0, 255), now).astype(np.uint8)

    def carry(self, matrix: NDArray[np.float64], cards: Mask | None) -> None:
        """Shift the table under the cards with the picture (2 x 3, px of the full frame)."""
        table = self._covered if self._covered is not None else self.table
        if table is None or self.table is None or cards is None:
            return
        shift = matrix.copy()
        shift[:, 2] /= self.factor
        size = (table.shape[1], table.shape[0])
        there = cv2.warpAffine(cards, shift, size) > 0
        self.table[there] = cv2.warpAffine(table, shift, size, borderMode=cv2.BORDER_REPLICATE)[there]
        self._covered = None

    def forget_cards(self, cards: Mask, glance: Glance, look: Bytes | None = None) -> None:
        """Guess the table under cards that the first frames already showed.

        The guess is the table's usual colour, or an earlier view of it (``look``, reduced), in the current light.
        """
        assert self.table is not None
        taken = (cards > 0) & (glance.foreign == 0)
        bare = cards == 0
        if not taken.any() or not bare.any():
            return
        if look is None:
            self.table[taken] = usual_table(glance.small, narrowed(bare.astype(np.uint8), CARD_RIM) > 0)[taken]
        else:
            self.table[taken] = relit(look, gains(look[bare], glance.small[bare]))[taken]
        self._earlier = None
        if self._unseen is None:
            self._unseen = np.zeros(taken.shape, np.bool_)
        self._unseen |= taken

    def lately(self, glance: Glance, since: int) -> Mask:
        """Return the foreign pixels that have moved since an instant; a still object left unread is not a reveal."""
        recent = widened(np.where(self.moved_at >= since, np.uint8(255), np.uint8(0)), 1)
        recent[glance.kinds == Surface.SHADOW] = 0
        return both(glance.foreign, recent)

    def paper_in(self, half: Bytes, foreign: Mask, level: float = NEARLY_ALL) -> Mask:
        """Return the white paper in a half-size frame (`PAPER_STEP`) that is not part of the table.

        It has the cards' brightness and hue, whatever the lamp's; stripes as thin as the border of a card back are left
        out.
        """
        paper = np.zeros(half.shape[:2], np.uint8)
        there = cv2.resize(foreign, half.shape[1::-1], interpolation=cv2.INTER_NEAREST)
        box = box_of(there, 1)
        if box is None:
            return paper
        half, there = half[box], there[box]
        white = white_in(half, self.paper, level)
        paper[box] = opened(both(white, there), 3)
        return paper

    def bareness(self, place: Mask, glance: Glance) -> float:
        """Return the share of a place (reduced mask) that shows bare table, 0 to 1.

        A card over a printed face differs from the print only in pips and edges: there, pixels near those are not bare.
        """
        there = place > 0
        if self.table is None or not there.any():
            return 0.0
        foreign = glance.foreign[there] > 0
        foreign[self._lit_otherwise(there, glance)] = False
        printed = self.table[there].min(axis=1) > MOST * float(self.paper.mean())
        if printed.any():
            foreign |= printed & (cv2.dilate(glance.foreign, np.ones((SPECK,) * 2, np.uint8))[there] > 0)
        return 1.0 - float(foreign.mean())

    def looks_bare(self, place: Mask, glance: Glance) -> bool:
        """Whether a place (reduced mask) that was partly never seen bare shows the table, by the surface network.

        The table round it must look as known: the network takes a covered lens for table, too.
        """
        if self._unseen is None:
            return False
        there, unseen = place > 0, self._unseen & (place > 0)
        if np.count_nonzero(unseen) < PART * np.count_nonzero(there):
            return False
        assert self.table is not None
        kinds, near = glance.kinds, difference(glance.small, self.table, 2 * _FOREIGN) == 0
        table = (glance.foreign == 0) | (unseen & ((kinds == Surface.TABLE) | (kinds == Surface.SHADOW) | near))
        face = ~near & ((kinds == Surface.FACE) | (kinds == Surface.BACK))
        ring = (widened(place, 2 * SPECK) > 0) & ~there & ~self._unseen
        # Where the table has never been confirmed, as at a game's start, nothing round the place vouches for it.
        return bool(
            ring.any()
            and table[there].mean() > MOST
            and face[there].mean() < OVER
            and (glance.foreign[ring] == 0).mean() > MOST
        )

    def _lit_otherwise(self, there: NDArray[np.bool_], glance: Glance) -> NDArray[np.intp]:
        """Return the pixels of a place that show the table in sun or shadow that came while a pile lay there.

        They are recognised by their colour and by the surface network. Pixels hardly brighter are left out, since the
        network takes a cover before the lens for table, too.
        """
        assert self.table is not None
        places, kinds = np.flatnonzero(there), glance.kinds[there]
        told = np.flatnonzero((kinds == Surface.TABLE) | (kinds == Surface.SHADOW))
        now, was = (picture.reshape(-1, 3)[places[told]] + 1.0 for picture in (glance.small, self.table))
        light = now / was
        usual = light.mean(axis=1)
        alike = (np.abs(light - usual[:, None]) < PART * usual[:, None]).all(axis=1)
        return np.asarray(told[alike & ((kinds[told] == Surface.SHADOW) | (usual > 1 + OVER))], np.intp)

    def stirred(self, place: Mask, since: int) -> float:
        """Return the share of a place (reduced mask) that has changed since an instant (ns), 0 to 1."""
        return float(np.count_nonzero(self.moved_at[place > 0] >= since)) / max(1, cv2.countNonZero(place))

    def learn_paper(
        self, small: Bytes, quad: Quad, share: float = LEARNED, *, beyond: float = 0.0, darker: bool = True
    ) -> None:
        """Learn the paper's colour from a card at ``quad`` (px of the full frame), weighted by ``share``.

        Only a colour that differs from the known one by more than ``beyond`` grey levels is learned, and a darker one
        only if ``darker``.
        """
        inside = small[self.mask([quad], small.shape[:2]) > 0].reshape(-1, 3).astype(np.float64)
        if len(inside) < _LEAST_PAPER:
            return
        # Paper is bright in every colour; skin is dark in one. A card may lie almost whole under a hand: its brightest
        # tenth tells what is paper.
        levels = inside.min(axis=1)
        colour = inside[levels >= (1 - SLIGHT) * np.percentile(levels, _BRIGHTEST)].mean(axis=0)
        if not darker and self._knows_paper and colour.mean() < self.paper.mean():
            return
        if colour.mean() > 2 * DARK and np.abs(colour - self.paper).max() > beyond:
            share = share if self._knows_paper else 1.0
            self.paper = (1 - share) * self.paper + share * colour
            self._knows_paper = True

    def mask(self, quads: list[Quad], shape: tuple[int, ...], widen: int = 0) -> Mask:
        """Return a reduced mask of quads given in px of the full frame."""
        mask = np.zeros(shape[:2], np.uint8)
        for quad in quads:
            points = np.rint(quad / self.factor).astype(np.int32)
            cv2.fillConvexPoly(mask, points, 255)
        return widened(mask, widen) if widen else mask
