"""Where the eye reads: only round the pile, only frames that are worth it, and again those that were passed by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

import numpy as np

from models.eye.classes import CARD_CLASSES, SURE_READING, UNREAD
from models.eye.eye import CardSeen
from models.eye.geometry import PixelBox, Quad, area, bounds, centre_of, convex_quad, height_of, holds, shared_area
from models.watch.bare_table import BareTable
from models.watch.faces import Paper, first_signs, first_suspected, first_unexplained, is_near, white_at_pile
from models.watch.measure import FEW, HALF, OVER, SLIGHT
from models.watch.motion import Bytes, Motion
from models.watch.occasion import Occasions
from models.watch.stream import SeenFrame, Stream
from models.watch.tracks import Pile, plain

Found = tuple[CardSeen, Quad]
"""A reading and the corners of its card."""
Look = tuple[SeenFrame, list[Found]]
"""A frame and what was read in it."""


class CardEye(Protocol):
    """An eye: finds and reads cards in one picture; `models.eye.eye.Eye`, and those of the tests."""

    def recognise(self, image: Bytes) -> Sequence[CardSeen]: ...

    def read_at(self, image: Bytes, region: PixelBox, card_height: float | None = None) -> Sequence[CardSeen]: ...


class Gaze:
    """Has an eye read what is worth reading."""

    def __init__(
        self, eye: CardEye, motion: Motion, stream: Stream, pile: Pile, paper: Paper, bare: BareTable | None = None
    ) -> None:
        self._eye, self._bare, self._paper = eye, bare, paper
        self._motion, self._stream, self._pile = motion, stream, pile
        self._occasions = Occasions(motion, stream, pile)
        self._known: tuple[SeenFrame, list[Quad], bool] | None = None
        """The last frame that showed the newest card known, where cards showed, and whether one may have been new.

        It counts from the next frame on, for what comes up in this one is held against what was known before.
        """
        self._white: list[Quad] = []
        """Where white paper showed at the last look, px."""
        self._unread_aside = False
        """The last look found what it could not read, and a hand may have been to blame."""
        self._unread_top = False
        """The last look found a heap on which lies what it could not read, or hardly."""

    def read_last(self, last: SeenFrame) -> list[Look]:
        """What the eye reads in the last frame before a gap, if it has not read it."""
        if last.looked or last.blind or last.image is None:
            return []
        return [(last, self._look(last, self._region()))]

    def read(self, now: SeenFrame, leaving: int | None, *, must: bool = False) -> list[Look]:
        """What the eye reads, the oldest frame first; nothing where it need not look.

        ``leaving`` is the instant, ns, since when the pile's place is bare, if it is; ``must``: it looks in any case.
        """
        self._recall_known()
        region = self._region()
        if not (self._occasions.arises(now, region, leaving) or must):
            return []
        passed, sized = self._stream.unread()[:-1], self._pile.card_height > 0
        found, self._white = self._look(now, region), [one.place for one in (*now.suspects, *now.still)]
        # What is hardly read may be a blur, or a back, whose colour is not the paper's.
        if not sized and any(now.glance.calm or s.confidence >= HALF for s, _ in found):
            self._learn_size(found, now)
        self._occasions.note_look(now, self._unread_top)
        return sorted([*self._look_back(found, now, passed, region), (now, found)], key=lambda look: look[0].index)

    def _look(self, moment: SeenFrame, region: PixelBox) -> list[Found]:
        """What the eye reads in a frame."""
        image = moment.image
        assert image is not None
        rows, columns = self._stream.shape
        # Once a few cards have told their size, looking for that size alone is enough.
        known = self._pile.card_height if self._pile.told >= FEW else None
        whole = region == (0, 0, columns, rows) and not known
        seen = self._eye.recognise(image) if whole else self._eye.read_at(image, region, known)
        moment.looked = True
        return self._sifted(seen if self._bare is None else self._bare.without_prints(image, seen), moment.glance.calm)

    def _learn_size(self, found: list[Found], now: SeenFrame) -> None:
        """The first cards tell how large a face is and how bright: now what came before can be judged as well."""
        self._pile.card_height = float(np.median([height_of(quad) for _, quad in found]))
        self._motion.learn_paper(now.glance.small, max(found, key=lambda one: one[0].confidence)[1])
        for moment in self._stream.moments:
            if moment is not now and moment.half is not None:
                self._paper.look(moment)
                moment.bare = not (moment.suspects or moment.still)

    def note_known(self, found: list[Found], now: SeenFrame) -> None:
        """Remember a frame that shows the newest of the cards known, for others to be held against.

        Its readings have been given to cards by now: one that earlier frames have shown, too, is known.
        """
        if self._unread_top and first_suspected(self._stream, self._pile) is not None:
            return
        if self._unread_aside and first_unexplained(self._stream, self._pile) is not None:
            return
        aside = any(not any(holds(quad, centre_of(white)) for _, quad in found) for white in self._white)
        tracks = [*self._pile.laid, *self._pile.open]
        beliefs = [track.belief() for track in tracks]
        names = {name for name, _ in beliefs}
        resting = next((track.belief()[0] for track in reversed(tracks) if track.name or track.still), None)
        # A known card that is hardly read lies under something by now, and so does one that is read but hardly bare.
        clear = [s for s, _ in found if s.confidence >= SURE_READING]
        shows = any((s.card == resting and s.bare >= SLIGHT) or (s.top and s.card in names) for s in clear)
        if resting is not None and not shows:
            return
        quads = [quad for s, quad in found if s.confidence >= SURE_READING]
        # Beside a known card that lies whole on top of all, what is hardly read is an old one's corner; else it may be
        # a card on its way, and not the one that it was taken for.
        topped = any(s.top and plain(s) and s.card in names for s, _ in found)
        again = (track for track in tracks if track.name or track.sightings[0].index < now.index)
        sure = {name for name, confidence in (track.belief() for track in again) if confidence >= SURE_READING}
        doubtful = [s for s, _ in found if s.card not in sure and s.card not in self._pile.burned]
        self._known = now, quads, aside or any(s.confidence >= SURE_READING or not topped for s in doubtful)

    def _recall_known(self) -> None:
        """From now on hold frames against the one that showed what is known."""
        if self._known is None:
            return
        moment, self._stream.known_quads, new = self._known
        self._stream.known_half, self._known = moment.half, None
        # White far from the pile that is gone by now was a cuff or the like: a card would show on its way.
        k = first_unexplained(self._stream, self._pile)
        since = [] if k is None else [m for m in islice(self._stream.moments, k, None) if m.index <= moment.index]
        unexplained = any(s.sure and is_near(s, self._stream, self._pile) for m in since for s in m.suspects)
        moment.bare = not (new or unexplained or moment.suspects)

    def _look_back(self, found: list[Found], now: SeenFrame, passed: list[SeenFrame], region: PixelBox) -> list[Look]:
        """Looks at frames that were passed by, as far as the first that shows a card which is new now is not known."""
        new = [(s, quad) for s, quad in found if self._is_new(s)]
        # What shows nothing new round the pile may yet show a card on its way there.
        while passed and passed[0].plain and not passed[0].suspects:
            del passed[0]
        if not new:
            # A hand may have come to lie on what showed just before.
            white = [moment for moment in passed if white_at_pile(moment, self._stream, self._pile)]
            return [(moment, self._look(moment, region)) for moment in white[-1:]]
        if not passed:
            return []
        if len(new) > 1:
            # White paper does not tell which of them it was.
            return [(moment, self._look(moment, region)) for moment in passed if not moment.bare]
        (s, quad), start = new[0], passed[0].index
        signs = first_signs(quad, now, self._stream, self._pile)
        low, high = max(0, signs.maybe - start if signs.white else 0), min(len(passed), signs.sure - start)
        if signs.white and self._pile.laid and not self._lies_over(quad):
            # What is slid under the pile shows its face but for a moment.
            return [(moment, self._look(moment, region)) for moment in passed[low : low + 1]]
        looks: list[Look] = []
        while low < high:
            moment = passed[(low + high) // 2]
            looks.append((moment, self._look(moment, region)))
            if any(one.card == s.card for one, _ in looks[-1][1]):
                high = moment.index - start
            else:
                low = moment.index - start + 1
        return looks

    def _lies_over(self, quad: Quad) -> bool:
        """Whether a card lies over cards of the pile."""
        return any(shared_area(quad, rest) > OVER * area(quad) for rest in self._pile.rests)

    def _is_new(self, s: CardSeen) -> bool:
        """Whether a reading shows a card that no look before it has shown."""
        if s.card == UNREAD or s.confidence < HALF or s.card in self._pile.burned:
            return False
        known = any(track.name == s.card for track in self._pile.laid)
        return not known and not any(track.reads(s.card) for track in self._pile.open)

    def _region(self) -> PixelBox:
        """The part of the picture worth reading."""
        rows, columns = self._stream.shape
        quads = [track.quad for track in self._pile.laid[-6:]] + [track.quad for track in self._pile.open]
        if not self._pile.card_height or not quads:
            return 0, 0, columns, rows
        if self._stream.before is not None:
            quads += [s.place for s in self._stream.before.suspects if is_near(s, self._stream, self._pile)]
        return bounds(quads, 0.75 * self._pile.card_height, columns, rows)

    def _sifted(self, seen: Sequence[CardSeen], clear: bool) -> list[Found]:
        """The readings worth a thought, surest first.

        Between fingers an eye finds scraps of cards; a card that it cannot name counts only where nothing hides it.
        Of one pack's card seen twice, the weaker is another corner of the same.
        """
        self._unread_aside = not clear and any(s.card == UNREAD for s in seen)
        self._unread_top = any(s.top and s.confidence < HALF for s in seen)
        found = [(_by_rank(s), convex_quad(s.corners)) for s in seen if s.card != UNREAD or clear]
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


def _by_rank(s: CardSeen) -> CardSeen:
    """A reading without colour is followed as surely as its rank is read, and may be of any suit."""
    if not s.grey or s.card == UNREAD:
        return s
    suits = [name for name in CARD_CLASSES if name[0] == s.card[0]]
    # Shapes that mislead one look mislead the next as well: looks together must not make a suit likely.
    sure = s.rank_confidence
    return replace(s, confidence=sure, candidates=tuple((name, sure / len(suits)) for name in suits))
