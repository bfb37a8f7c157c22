"""Decides where the eye reads: only round the pile, only frames worth it, and skipped frames again where needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, Protocol

import numpy as np

from models.eye.classes import CARD_CLASSES, SURE_READING, UNREAD
from models.eye.eye import CardSeen
from models.eye.geometry import PixelBox, Quad, area, bounds, centre_of, convex_quad, holds, iou, shared_area
from models.watch.bare_table import BareTable
from models.watch.faces import WhitePatches, first_signs, first_suspected, first_unexplained, is_near, white_at_pile
from models.watch.measure import FEW, HALF, INDEX, OVER, SLIGHT, SPECK
from models.watch.motion import Bytes, Motion
from models.watch.occasion import Occasions
from models.watch.reasons import Occasion, Reason
from models.watch.stream import SeenFrame, Stream
from models.watch.tracks import Pile, plain

# Where the eye reads, chosen by hand:
_LATEST: Final = 6
"""Number of latest cards, ..."""
_AROUND: Final = 0.75
"""... and how far around them, in card heights."""
_LEAST_AREA: Final = 100
"""Least area, px, of a reading's card."""

Found = tuple[CardSeen, Quad]
"""A reading and the corners of its card."""
Look = tuple[SeenFrame, list[Found]]
"""A frame and its readings."""


class CardEye(Protocol):
    """An eye, which finds and reads cards in one picture: `models.eye.eye.Eye`, or a fake in tests."""

    def recognise(self, image: Bytes) -> Sequence[CardSeen]: ...

    def read_at(self, image: Bytes, region: PixelBox, card_height: float | None = None) -> Sequence[CardSeen]: ...


class Gaze:
    """Directs an eye to the frames and regions worth reading."""

    def __init__(
        self,
        eye: CardEye,
        motion: Motion,
        stream: Stream,
        pile: Pile,
        paper: WhitePatches,
        bare: BareTable | None = None,
    ) -> None:
        self._eye, self._bare, self._paper = eye, bare, paper
        self._motion, self._stream, self._pile = motion, stream, pile
        self._occasions = Occasions(motion, stream, pile)
        self._known: tuple[SeenFrame, list[Quad], bool] | None = None
        """The last frame that showed the newest known card, the cards' places, and whether one may have been new.

        It applies from the next frame on: a card revealed in this frame is compared with the earlier state.
        """
        self._white: list[Quad] = []
        """Places of white paper at the last look, px."""
        self._unread_aside = False
        """Whether the last look found something unreadable that a hand may have hidden."""
        self._unread_top = False
        """Whether the last look found a top card that it could not read, or hardly."""

    def read_last(self, last: SeenFrame) -> list[Look]:
        """Read the last frame before a gap, if it was not read yet."""
        if last.looked or last.blind or last.image is None:
            return []
        return [(last, self._look(last, self._region(), Occasion.NEEDED))]

    def read(self, now: SeenFrame, leaving: int | None, *, must: bool = False) -> list[Look]:
        """Return the eye's readings, oldest frame first; an empty list if no look is needed.

        ``leaving``: the instant (ns) since which the pile's place is bare, or None. ``must``: look in any case.
        """
        self._recall_known()
        region = self._region()
        occasion = self._occasions.arises(now, region, leaving) or (Occasion.NEEDED if must else None)
        if occasion is None:
            return []
        passed, sized = self._stream.unread()[:-1], self._pile.card_height > 0
        found, self._white = (
            self._look(now, region, occasion),
            [suspect.place for suspect in (*now.suspects, *now.still)],
        )
        # A doubtful reading may be a blur, or a card back, whose colour is not the paper's.
        if not sized and any(now.glance.calm or s.confidence >= HALF for s, _ in found):
            self._learn_size(found, now)
        self._occasions.note_look(now, self._unread_top)
        return sorted([*self._look_back(found, now, passed, region), (now, found)], key=lambda look: look[0].index)

    def _look(self, moment: SeenFrame, region: PixelBox, occasion: Occasion = Occasion.LOOKED_BACK) -> list[Found]:
        """Return the eye's readings of a frame."""
        image = moment.image
        assert image is not None
        rows, columns = self._stream.shape
        # Once a few cards have shown their size, search for that size alone.
        known = self._pile.card_height if self._pile.told >= FEW else None
        if known:
            region = self._without_table(moment, region)
        whole = region == (0, 0, columns, rows) and not known
        seen = self._eye.recognise(image) if whole else self._eye.read_at(image, region, known)
        moment.looked, moment.occasion = True, occasion
        cards = seen if self._bare is None else self._bare.without_prints(image, seen)
        for reading in seen:
            if not any(reading is card for card in cards):
                self._pile.reasons.note_once(Reason.PRINTED, reading.card, confidence=reading.confidence)
        return self._sifted(cards, moment.glance.calm)

    def _learn_size(self, found: list[Found], now: SeenFrame) -> None:
        """Learn a face's size and brightness from the first cards, and judge the earlier frames by them."""
        self._pile.learn_height([quad for _, quad in found])
        self._motion.learn_paper(now.glance.small, max(found, key=lambda pair: pair[0].confidence)[1])
        for moment in self._stream.moments:
            if moment is not now and moment.half is not None:
                self._paper.look(moment)
                moment.bare = not (moment.suspects or moment.still)

    def note_known(self, found: list[Found], now: SeenFrame) -> None:
        """Remember a frame that shows the newest known card, as a reference for other frames.

        Its readings have been assigned by now: a card that earlier frames also showed is known.
        """
        if self._unread_top and first_suspected(self._stream, self._pile) is not None:
            return
        if self._unread_aside and first_unexplained(self._stream, self._pile) is not None:
            return
        aside = any(not any(holds(quad, centre_of(white)) for _, quad in found) for white in self._white)
        tracks = self._pile.cards
        beliefs = [track.belief() for track in tracks]
        names = {name for name, _ in beliefs}
        resting = next((track.belief()[0] for track in reversed(tracks) if track.name or track.still), None)
        # A known card that is hardly read, or hardly bare, is now covered by something.
        clear = [s for s, _ in found if s.confidence >= SURE_READING]
        shows = any((s.card == resting and s.bare >= SLIGHT) or (s.top and s.card in names) for s in clear)
        if resting is not None and not shows:
            return
        quads = [quad for s, quad in found if s.confidence >= SURE_READING]
        # Beside a known card that lies whole on top, a doubtful reading in an old card's place is that card's corner.
        # Otherwise it may be a misread card on its way.
        topped = any(s.top and plain(s) and s.card in names for s, _ in found)
        again = [track for track in tracks if track.name or track.earliest.index < now.index]
        sure = {name for name, confidence in (track.belief() for track in again) if confidence >= SURE_READING}
        old = [track.quad for track in again] if topped else []
        doubtful = ((s, quad) for s, quad in found if s.card not in sure and s.card not in self._pile.burned)
        new = any(s.confidence >= SURE_READING or all(iou(q, quad) <= HALF for q in old) for s, quad in doubtful)
        self._known = now, quads, aside or new

    def _recall_known(self) -> None:
        """Compare frames from now on with the one that showed the known cards."""
        if self._known is None:
            return
        moment, quads, new = self._known
        self._stream.know_cards(moment.half, quads)
        self._known = None
        # White far from the pile that has gone by now was a cuff or the like: a card would show on its way.
        k = first_unexplained(self._stream, self._pile)
        since = [] if k is None else [m for m in islice(self._stream.moments, k, None) if m.index <= moment.index]
        unexplained = any(s.sure and is_near(s, self._stream, self._pile) for m in since for s in m.suspects)
        moment.bare = not (new or unexplained or moment.suspects)

    def _look_back(self, found: list[Found], now: SeenFrame, passed: list[SeenFrame], region: PixelBox) -> list[Look]:
        """Look at skipped frames until the first one that shows a newly found card is known."""
        new = [(s, quad) for s, quad in found if self._is_new(s)]
        # A frame with nothing new round the pile may still show a card on its way there.
        while passed and passed[0].plain and not passed[0].suspects:
            del passed[0]
        if not new:
            # A hand may have covered a card that showed just before.
            white = [moment for moment in passed if white_at_pile(moment, self._stream, self._pile)]
            return [(moment, self._look(moment, region)) for moment in white[-1:]]
        if not passed:
            return []
        if len(new) > 1:
            # White paper does not show which of the cards it was.
            return [(moment, self._look(moment, region)) for moment in passed if not moment.bare]
        (s, quad), start = new[0], passed[0].index
        signs = first_signs(quad, now, self._stream, self._pile)
        low, high = max(0, signs.maybe - start if signs.white else 0), min(len(passed), signs.likely - start)
        if signs.white and self._pile.laid and not self._lies_over(quad):
            # A card slid under the pile shows its face only for a moment.
            return [(moment, self._look(moment, region)) for moment in passed[low : low + 1]]
        looks: list[Look] = []
        while low < high:
            moment = passed[(low + high) // 2]
            looks.append((moment, self._look(moment, region)))
            if any(card.card == s.card for card, _ in looks[-1][1]):
                high = moment.index - start
            else:
                low = moment.index - start + 1
        return looks

    def _lies_over(self, quad: Quad) -> bool:
        """Whether a card lies over cards of the pile."""
        return any(shared_area(quad, rest) > OVER * area(quad) for rest in self._pile.rests)

    def _is_new(self, s: CardSeen) -> bool:
        """Whether a reading shows a card that no earlier look has shown."""
        if s.card == UNREAD or s.confidence < HALF or s.card in self._pile.burned:
            return False
        known = any(track.name == s.card for track in self._pile.laid)
        return not known and not any(track.reads(s.card) for track in self._pile.open)

    def _region(self) -> PixelBox:
        """Return the part of the picture worth reading."""
        rows, columns = self._stream.shape
        quads = self._lately()
        if not self._pile.card_height or not quads:
            return 0, 0, columns, rows
        if self._stream.before is not None:
            quads += [s.place for s in self._stream.before.suspects if is_near(s, self._stream, self._pile)]
        return bounds(quads, _AROUND * self._pile.card_height, columns, rows)

    def _lately(self) -> list[Quad]:
        """Return the places of the cards laid last, and of those not settled."""
        return [track.quad for track in (*self._pile.laid[-_LATEST:], *self._pile.open)]

    def _without_table(self, moment: SeenFrame, region: PixelBox) -> PixelBox:
        """Return the part of a region that holds the cards laid last and all else that is not the table."""
        x0, y0, x1, y1 = region
        f = self._motion.factor
        foreign = moment.glance.foreign[y0 // f : y1 // f + 1, x0 // f : x1 // f + 1] > 0
        columns, rows = (np.flatnonzero(foreign.sum(axis) > SPECK) for axis in (0, 1))
        if not len(rows) or not len(columns):
            return region
        shown = np.array([(columns[0], rows[0]), (columns[-1] + 1, rows[-1] + 1)], np.float32) * f + (x0, y0)
        left, top, right, bottom = bounds([*self._lately(), shown], INDEX * self._pile.card_height, x1, y1)
        return max(x0, left), max(y0, top), right, bottom

    def _sifted(self, seen: Sequence[CardSeen], clear: bool) -> list[Found]:
        """Return the readings worth considering, most certain first.

        Between fingers an eye finds scraps of cards; a card that it cannot name counts only if nothing hides it. Of one
        pack's card seen twice, the weaker reading is another corner of the same card.
        """
        self._unread_aside = not clear and any(s.card == UNREAD for s in seen)
        self._unread_top = any(s.top and s.confidence < HALF for s in seen)
        found = [(_by_rank(s), convex_quad(s.corners)) for s in seen if s.card != UNREAD or clear]
        found = [(s, quad) for s, quad in found if area(quad) > _LEAST_AREA]
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


def _by_rank(s: CardSeen) -> CardSeen:
    """Return a reading without colour with its rank's confidence, and with every suit as a candidate."""
    if not s.grey or s.card == UNREAD:
        return s
    suits = [name for name in CARD_CLASSES if name[0] == s.card[0]]
    # A shape that misleads one look misleads the next: repeated looks must not make a suit likely.
    sure = s.rank_confidence
    return replace(s, confidence=sure, candidates=tuple((name, sure / len(suits)) for name in suits))
