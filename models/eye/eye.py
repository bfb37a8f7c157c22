"""The eye: a picture in, the cards that lie in it out.

eye = Eye.load()
for card in eye.recognise(cv2.imread("table.jpg")):
    print(card.card, card.confidence, card.top)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from models.eye import card_join, card_name, cover, heaps
from models.eye.classes import UNREAD
from models.eye.finder import Finder
from models.eye.geometry import Image, axes_of, overlap, pyramid
from models.eye.grey import is_grey
from models.eye.letters import Letters
from models.eye.networks import WEIGHTS, WeightsBroken, WeightsMissing, calibration, open_networks
from models.eye.reader import CardReader, Reader, mean_names, mean_reading
from referee.errors import UserError

if TYPE_CHECKING:
    from models.decks.enrolment import Knowledge

__all__ = ["ImageError", "CardSeen", "Eye", "WeightsBroken", "WeightsMissing"]

LEAST_SIDE: Final = 16
"""Least width and height of a picture, px."""
MOST_PIXELS: Final = 64_000_000
"""Largest picture, px: beyond any phone camera's default, and within a small computer's memory."""
#: Most whole cards read in one picture, the surest first: two packs with jokers.
_MOST_CARDS = 110
#: In a learned deck, upper limit of the index logit for a covered card with one index in sight: the card above may hide
#: part of the index, and no look has shown what is left then.
_PEEPING_INDEX = 2.5
#: Share of overlap from which unread tops are one card.
_ONE_PLACE = 0.5
#: Turns, degrees, and sizes of the views in which an index is read again: about the error of the finder.
_VIEWS = ((4.0, 1.08), (-4.0, 0.93))


class ImageError(UserError, ValueError):
    """The array is no picture that the eye can read; the message says what is required."""


@dataclass(frozen=True, slots=True)
class CardSeen:
    """One card: its name (or `??`) and confidence, its corners, and whether it lies on top of its heap.

    ``corners`` (4, 2) in px run clockwise from an index's top left, hidden parts included. ``bare`` is the probability
    that nothing lies on it, ``indices`` (k, 2) the middles in px of the indices seen, ``candidates`` its possible names
    with their probabilities, the likeliest first. In a ``grey`` picture, one without colour, its suit is guessed by the
    shape alone, and its name is never sure.
    """

    card: str
    confidence: float
    corners: NDArray[np.float64]
    top: bool
    bare: float
    indices: NDArray[np.float64]
    candidates: tuple[tuple[str, float], ...] = ()
    grey: bool = False

    @property
    def rank_confidence(self) -> float:
        """Probability that the card has the rank of its name, in any suit."""
        return max(self.confidence, min(1.0, sum(p for name, p in self.candidates if name[0] == self.card[0])))


class Eye:
    """Finds and reads cards in B,G,R pictures."""

    def __init__(
        self,
        finder: Finder,
        reader: Reader,
        cards: CardReader,
        weights: card_name.EvidenceWeights,
        cap: Callable[[str, float], float] | None = None,
        one_deck: bool = False,
    ) -> None:
        """``cap`` returns the highest confidence in a card with a given best index logit (None: no limit)."""
        self._finder, self._reader, self._cards, self._weights, self._cap = finder, reader, cards, weights, cap
        self._one_deck, self._letters = one_deck, Letters()

    @classmethod
    def load(
        cls, weights: Path | None = None, threads: int = 1, deck: Knowledge | None = None, one_deck: bool = False
    ) -> Eye:
        """Return the eye with the weights in a folder (None: the package), for any deck or for a learned one.

        With ``one_deck`` all pictures show the same cards, as in a game: the letters seen in one help to read the next.
        Otherwise the language is inferred from each picture alone.

        Raises:
            WeightsMissing, WeightsBroken: see `networks`.
        """
        folder = WEIGHTS if weights is None else Path(weights)
        finder, reader, card = open_networks(folder, threads)
        fitted = card_name.EvidenceWeights.of(calibration(folder))
        cap = None if deck is None else deck.cap
        return cls(Finder(finder), Reader(reader, deck), CardReader(card, deck, fitted.bare), fitted, cap, one_deck)

    @property
    def language(self) -> str | None:
        """Language of the indices in the last picture, or in all of one deck; None if the letters do not show it."""
        return self._letters.language

    def recognise(self, image: NDArray[np.uint8]) -> list[CardSeen]:
        """Return every card seen, surest first; raises `ImageError`."""
        _check_picture(image)
        return self._judged(image, self.candidates(image), is_grey(image))

    def _judged(self, image: Image, found: list[card_join.Candidate], grey: bool) -> list[CardSeen]:
        upper = heaps.uppermost(found)
        tops = {i for i, _ in upper if heaps.is_bare(found[i])}
        peeping = set(range(len(found))) - {i for i, _ in upper}
        seen = _unread_tops(image, found, upper, grey)
        for i, c in enumerate(found):
            names = card_name.alternatives(c, self._weights, grey)
            best, confidence = names[0]
            name = best if confidence >= self._weights.unread else UNREAD
            if self._cap is not None:
                # Limit the confidence to what a learned deck allows, for the card and for its alternatives.
                index = max(reading.index for reading in c.readings)
                if len(c.readings) == 1 and i in peeping:
                    index = min(index, _PEEPING_INDEX)
                confidence = min(confidence, self._cap(name, index))
                names = tuple((card, min(share, self._cap(card, index))) for card, share in names)
            seen.append(CardSeen(name, confidence, c.quad, i in tops, heaps.bareness(c), heaps.indices(c), names, grey))
        return sorted(seen, key=lambda s: -s.confidence)

    def read_at(
        self, image: NDArray[np.uint8], region: tuple[float, float, float, float], card_height: float | None = None
    ) -> list[CardSeen]:
        """Like `recognise` within x0, y0, x1, y1 (px, clipped to the picture); corners are px of the full picture.

        A smaller region costs less and is examined in finer detail. If the cards' height is known (px in the picture),
        only the matching level of detail is examined, which costs less still.
        """
        _check_picture(image)
        h, w = image.shape[:2]
        x0, y0 = max(0, int(np.floor(region[0]))), max(0, int(np.floor(region[1])))
        x1, y1 = min(w, int(np.ceil(region[2]))), min(h, int(np.ceil(region[3])))
        if x1 - x0 < 8 or y1 - y0 < 8:
            return []
        corner = np.array([x0, y0], np.float64)
        part = np.ascontiguousarray(image[y0:y1, x0:x1])
        _check_picture(part)
        seen = self._judged(part, self.candidates(part, card_height), is_grey(image))
        return [replace(s, corners=s.corners + corner, indices=s.indices + corner) for s in seen]

    def candidates(self, image: Image, card_height: float | None = None) -> list[card_join.Candidate]:
        """Return the unnamed cards, as input to `recognise` and to the calibration's fit."""
        levels = pyramid(image)
        spots = self._finder.find(image, card_height)
        if not self._one_deck:
            self._letters = Letters()
        readings = self._reader.read(levels, spots, self._letters)
        found = card_join.candidates(spots, readings, self._weights.index)[:_MOST_CARDS]
        wholes = self._cards.read(levels, [c.frame for c in found], self._letters)
        for card, whole in zip(found, wholes, strict=True):
            card.whole, card.bare = whole, whole.bare
            heaps.settle(card)
        if card_height is None:
            # A stream looks at a place repeatedly: there a faint first sight of a card shows when it came.
            found = [card for card in found if card_name.is_likely(card, self._weights)]
            # In a live game only the uppermost card matters; elsewhere whole cards help to locate the corners of
            # covered ones.
            changed = heaps.borrow_corners(found)
            again = self._cards.read(levels, [axes_of(card.quad) for card in changed], self._letters)
            for card, whole in zip(changed, again, strict=True):
                card.quad = heaps.nearer(whole.quad, card.quad)
        found = heaps.without_doubles(found, self._weights)
        # Do this after merging: glare on a card's own index does not show a card below it.
        heaps.correct_bareness(found, self._weights)
        open_cards = [c for c in found if heaps.is_doubtful(c) or card_name.is_open(c, self._weights)]
        self._look_again(levels, open_cards, in_stream=card_height is not None)
        # Cards that the additional looks named alike may be one card after all.
        return heaps.without_doubles(found, self._weights) if open_cards else found

    def _look_again(self, levels: Sequence[Image], cards: Sequence[card_join.Candidate], in_stream: bool) -> None:
        """Look twice more at cards whose name or bareness one look leaves open.

        Each look shows the whole card upright and turned by half, and its indices slightly turned, larger and smaller:
        an effect that misleads one look seldom misleads the next. In a stream, where more frames follow, only what is
        open is looked at: the indices of an uncertain name, the whole of a card that is not plainly covered.
        """
        unnamed = [card for card in cards if not in_stream or card_name.is_open(card, self._weights)]
        shown = [card for card in cards if not (in_stream and heaps.is_plainly_covered(card))]
        frames = [axes_of(card.quad) for card in shown]
        upright = self._cards.read(levels, frames, self._letters)
        over = [(centre, -up, -right) for centre, up, right in frames]
        turned = self._cards.read(levels, over, self._letters)
        views = [spot.seen_otherwise(*view) for card in unnamed for spot in card.spots for view in _VIEWS]
        again = iter(self._reader.read(levels, views, self._letters))
        for card in unnamed:
            card.readings = [mean_reading([reading, *islice(again, len(_VIEWS))]) for reading in card.readings]
        for card, *others in zip(shown, upright, turned, strict=True):
            if heaps.is_doubtful(card):
                card.bare = float(np.mean([card.bare, *(other.bare for other in others)]))
            if card.whole is not None:
                card.whole = mean_names([card.whole, *others])


def _unread_tops(
    image: Image, found: Sequence[card_join.Candidate], upper: Sequence[tuple[int, list[int]]], grey: bool
) -> list[CardSeen]:
    """Return the tops of heaps under a card without a visible index; ``upper``: see `heaps.uppermost`."""
    unread: list[CardSeen] = []
    for i, heap in upper:
        if heaps.is_bare(found[i]) is False:
            quad = cover.outline(image, [found[j] for j in heap], found[i])
            # One card may lie on two heaps that do not touch.
            if not any(overlap(quad, other.corners) > _ONE_PLACE for other in unread):
                unread.append(CardSeen(UNREAD, 0.0, quad, True, 1.0, np.zeros((0, 2)), grey=grey))
    return unread


def _check_picture(image: Image) -> None:
    """Raise `ImageError` unless the array is uint8, (height, width, 3), with sides and size within `LEAST_SIDE` and
    `MOST_PIXELS`.
    """
    if not isinstance(image, np.ndarray):
        raise ImageError(
            f"the eye reads numpy arrays, this is a {type(image).__name__} "
            "(cv2.imread gives None for a file it cannot read)"
        )
    if image.dtype != np.uint8:
        raise ImageError(f"the eye reads uint8 pictures of 0 to 255, this one is {image.dtype}: scale and convert it")
    if image.ndim != 3 or image.shape[2] != 3:
        raise ImageError(
            f"the eye reads colour pictures (height, width, 3) in B,G,R order, this one has the shape {image.shape}"
        )
    height, width = image.shape[:2]
    if min(height, width) < LEAST_SIDE:
        raise ImageError(
            f"the picture of {width}×{height} px is empty or too small for a card: "
            f"it needs {LEAST_SIDE} px a side at least"
        )
    if height * width > MOST_PIXELS:
        raise ImageError(
            f"the picture of {width}×{height} px is too large: "
            f"make it smaller, to {MOST_PIXELS / 1e6:.0f} million pixels at most"
        )
