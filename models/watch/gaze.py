"""Where and when the eye reads: only round the pile, and only what a glance shows to be fresh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import cv2
import numpy as np

from models.eye.classes import UNREAD
from models.eye.eye import CardSeen
from models.eye.geometry import PixelBox, Quad, area, bounds, convex_quad, height_of
from models.watch.bare_table import BareTable
from models.watch.motion import GRAIN, Bytes, Glance, Motion, difference
from models.watch.stream import Stream
from models.watch.tracks import Pile, plain

_FRESH: Final = 14
"""Grey levels by which a reduced pixel must differ from the frame read last."""
_STILL_READS: Final = 3
"""So often is a picture that does not change read again while a card is under way."""
_SIZE_KNOWN: Final = 3
"""Once so many cards have told their size, looking for that size alone is enough."""
LEAST_BEGINNING: Final = 0.5
"""Least confidence of a reading that may begin a card."""

Found = tuple[CardSeen, Quad]
"""A reading and the corners of its card."""


class CardEye(Protocol):
    """An eye: finds and reads cards in one picture; `models.eye.eye.Eye`, and those of the tests."""

    def recognise(self, image: Bytes) -> Sequence[CardSeen]: ...

    def read_at(self, image: Bytes, region: PixelBox, card_height: float | None = None) -> Sequence[CardSeen]: ...


class Gaze:
    """Has an eye read what is worth reading."""

    def __init__(self, eye: CardEye, motion: Motion, stream: Stream, pile: Pile, bare: BareTable | None = None) -> None:
        self._eye, self._bare = eye, bare
        self._motion, self._stream, self._pile = motion, stream, pile
        self._last: Bytes | None = None
        """The reduced picture of the frame read last ..."""
        self._clear = False
        """... and whether nothing moved or reached into it."""
        self._still_reads = 0
        self.seen: list[Quad] = []
        """Where cards showed in the frame read last."""

    def read(self, image: Bytes, glance: Glance) -> list[Found]:
        """What the eye reads in the newest frame; nothing where it need not look."""
        region = self._region()
        if not self._worth_reading(glance, region):
            return []
        rows, columns = self._stream.shape
        whole = region == (0, 0, columns, rows)
        known = self._pile.card_height if self._pile.told >= _SIZE_KNOWN else None
        seen = self._eye.recognise(image) if whole and not known else self._eye.read_at(image, region, known)
        self._last = glance.small
        self._clear = not glance.reaches and not glance.changed
        found = self._sifted(seen if self._bare is None else self._bare.without_prints(image, seen))
        if not self._pile.card_height and found:
            self._pile.card_height = float(np.median([height_of(quad) for _, quad in found]))
        # White paper under a reading too weak to be a card's beginning may still be one.
        self.seen = [quad for s, quad in found if s.confidence >= LEAST_BEGINNING]
        return found

    def _region(self) -> PixelBox:
        """The part of the picture worth reading."""
        rows, columns = self._stream.shape
        quads = [track.quad for track in self._pile.laid[-6:]] + [track.quad for track in self._pile.open]
        if not self._pile.card_height or not quads:
            return 0, 0, columns, rows
        if self._stream.before is not None:
            quads += [suspect.place for suspect in self._stream.before.suspects]
        return bounds(quads, 0.75 * self._pile.card_height, columns, rows)

    def _worth_reading(self, glance: Glance, region: PixelBox) -> bool:
        if self._last is None:
            return True
        f = self._motion.factor
        spot = np.s_[region[1] // f : region[3] // f + 1, region[0] // f : region[2] // f + 1]
        if cv2.countNonZero(difference(glance.small[spot], self._last[spot], _FRESH)) > GRAIN:
            self._still_reads = 0
            return True
        clear = not glance.reaches and not glance.changed
        if (self._pile.open and self._still_reads < _STILL_READS) or (clear and not self._clear):
            self._still_reads += 1
            return True
        return False

    def _sifted(self, seen: Sequence[CardSeen]) -> list[Found]:
        """The readings worth a thought, surest first.

        Between fingers an eye finds scraps of cards; a card that it cannot name counts only where nothing hides it.
        Of one pack's card seen twice, the weaker is another corner of the same.
        """
        found = [(s, convex_quad(s.corners)) for s in seen if s.card != UNREAD or self._clear]
        found = [(s, quad) for s, quad in found if area(quad) > 100]
        found.sort(key=lambda item: (item[0].card == UNREAD, not plain(item[0]), -item[0].confidence))
        if self._pile.packs > 1:
            return found
        names: set[str] = set()
        once = []
        for s, quad in found:
            if s.card == UNREAD or s.card not in names:
                once.append((s, quad))
            names.add(s.card)
        return once
