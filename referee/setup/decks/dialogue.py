"""The dialogue about a deck under the camera: frames and typed words in, looks and messages out.

Time is data, so the same frames always give the same dialogue. `referee.setup.decks.enrol` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.decks.lookout import NoLook
from models.eye.classes import CARD_CLASSES, CardError, check
from referee.units import MS

if TYPE_CHECKING:
    from models.decks.lookout import Lookout
    from models.decks.looks import CardLook

_STILL: Final = 250 * MS
"""Time without movement before a look at a card, ns."""
_PATIENCE: Final = 1500 * MS
"""Time for which a still card may remain unfound before a message, ns."""
_LOOKS: Final = 2
"""Number of looks at a card, each in a separate frame."""
_WIDTH: Final = 192
"""Width of the small picture for detecting movement, px; a larger one locates the change."""
_FINE: Final = 640
_STEP: Final = 14
_SUITS: Final = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}
_RANKS: Final = {
    "A": "ace", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king",
}  # fmt: skip
ORDER: Final = tuple(rank + suit for suit in _SUITS for rank in _RANKS)
"""The default order of a deck."""
_HELP: Final[dict[str, str]] = {
    "none": "more light, the whole card in the picture, 80 px high at least; if that does not help, this deck's index "
    "cannot be found: type skip",
    "blurred": "hold still, or move the camera until the card is sharp",
    "count": "or lay one card at a time",
}
_Grey = NDArray[np.int16]


def card_in_words(card: str) -> str:
    """Return a card's spoken name: ``seven of hearts``."""
    if card[0] == "X":
        return "red joker" if card == "Xr" else "black joker"
    return f"{_RANKS[card[0]]} of {_SUITS[card[1]]}"


def cards_in_words(cards: Sequence[str]) -> str:
    """Return several cards' names."""
    return ", ".join(card_in_words(card) for card in cards)


def named_cards(text: str) -> list[str]:
    """Parse a list of cards such as ``As Ks 10d``; raises `CardError`."""
    names = [check(n[:-1].upper() + n[-1].lower()) for n in text.replace(",", " ").replace("10", "T").split()]
    for n in names:
        if names.count(n) > 1:
            raise CardError(f"{n} is named twice")
    if not names:
        raise CardError(f'name cards, as in "As Ks Td"; there are {" ".join(CARD_CLASSES[:3])} ... Xr Xb')
    return names


@dataclass(frozen=True, slots=True)
class DeckNotice:
    """A message to the person who lays the cards: its kind, its cards, and its text."""

    kind: str
    cards: tuple[str, ...]
    text: str


class DeckDialogue:
    """The dialogue about one deck, laid card by card or a few at once."""

    def __init__(self, lookout: Lookout, order: Sequence[str], *, ask: bool = False, at_once: int = 1) -> None:
        """``order``: the cards to lay; ``ask``: any order, each named after it was seen; ``at_once``: cards laid
        together.
        """
        self._lookout, self._order, self._ask, self._at_once = lookout, list(order), ask, at_once
        self.looks: dict[str, list[CardLook]] = {}
        self._history: list[tuple[str, ...]] = []
        self._skipped: list[str] = []
        self._empty: _Grey | None = None
        """The place without a card."""
        self._before: tuple[_Grey, _Grey] | None = None
        """The place after the last card was taken, small and larger."""
        self._last: _Grey | None = None
        self._still_since: int | None = None
        self._gathered: list[list[CardLook]] = []
        self._pending: list[list[CardLook]] | None = None
        """Looks at cards that are doubtful or not yet named."""
        self._last_complaint: str | None = None
        self._taken = False
        self._ended = False

    @property
    def wanted(self) -> tuple[str, ...]:
        """The cards to lay next; empty when all were laid."""
        left = [c for c in self._order if c not in self.looks and c not in self._skipped]
        return tuple(left[: self._at_once])

    @property
    def is_done(self) -> bool:
        """Whether all were laid, or the person has finished early."""
        return self._ended or (not self.wanted and self._pending is None)

    def prompt(self) -> DeckNotice:
        """Return the request for the next card."""
        count = f"[{len(self.looks)} of {len(self._order)}]"
        if self._ask:
            return DeckNotice("lay", (), f"{count} lay the next card")
        ordered = ", left to right" if self._at_once > 1 else ""
        return DeckNotice("lay", self.wanted, f"{count} lay the {cards_in_words(self.wanted)}{ordered}")

    def feed(self, image: NDArray[np.uint8], t: int) -> list[DeckNotice]:
        """Take one frame, begun at ``t`` ns; return the messages."""
        if self.is_done:
            return []
        now = _grey(image, _WIDTH)
        moved = self._last is None or _difference(now, self._last) > 0.002
        self._last = now
        if moved:
            self._still_since, self._gathered, self._last_complaint, self._taken = None, [], None, False
            return []
        self._still_since = t if self._still_since is None else self._still_since
        rest = t - self._still_since
        if rest < _STILL or self._taken or (self._ask and self._pending is not None):
            return []
        if self._empty is None:
            self._empty = now
        # The place is empty: the next card is compared with it as it looks now.
        if self._before is None or _difference(now, self._empty) < 0.004:
            self._before = now, _grey(image, _FINE)
            return []
        if _difference(now, self._before[0]) < 0.002:
            return []
        return self._look(image, now, rest)

    def _look(self, image: NDArray[np.uint8], now: _Grey, rest: int) -> list[DeckNotice]:
        """Look at cards that have been still for ``rest`` ns, and take them after enough looks."""
        self._pending = None  # a doubtful card was replaced
        cards = ("",) * self._at_once if self._ask else self.wanted
        fine, changed = _grey(image, _FINE), None
        if self._before is not None and self._before[1].shape == fine.shape:
            change = (np.abs(fine - self._before[1]) > _STEP).astype(np.uint8)
            changed = cv2.resize(change, (image.shape[1], image.shape[0]), interpolation=cv2.INTER_NEAREST) > 0
        try:
            self._gathered.append(self._lookout.look(image, cards, changed))
        except NoLook as error:
            self._gathered = []
            if rest < _PATIENCE or self._last_complaint == error.kind:
                return []
            self._last_complaint = error.kind
            return [DeckNotice(error.kind, self.wanted, f"{error}: {_HELP[error.kind]}")]
        if len(self._gathered) < _LOOKS:
            return []
        self._taken = True
        self._before = now, fine
        gathered, self._gathered = self._gathered, []
        if self._ask:
            doubt: DeckNotice | None = DeckNotice("ask", (), "which card is it? (as in 7h, Td, Ks)")
        else:
            doubt = next((doubt for look in gathered[-1] if (doubt := self._doubt(look)) is not None), None)
        if doubt is None:
            return self._accept(gathered)
        self._pending = gathered
        return [doubt]

    def _doubt(self, look: CardLook) -> DeckNotice | None:
        """Return a doubt that this is the requested card."""
        name = card_in_words(look.card)
        wrong = self._lookout.contradicts(look)
        if wrong is not None:
            words = f"this looks like a {_RANKS[wrong]}, not like the {name}: lay the right card, or type keep if it is"
            return DeckNotice("other", (look.card,), words)
        twin = self._lookout.known_as(look)
        if twin is not None:
            words = f"this looks like the {card_in_words(twin)}, which was laid already"
            return DeckNotice("twice", (look.card,), f"{words}: lay the {name}, or type keep if it is")
        return None

    def _accept(self, gathered: list[list[CardLook]]) -> list[DeckNotice]:
        cards = tuple(look.card for look in gathered[-1])
        for looks in gathered:
            for look in looks:
                self.looks.setdefault(look.card, []).append(look)
        for look in gathered[-1]:
            self._lookout.note(look.card, look)
        self._history.append(cards)
        taken = DeckNotice("took", cards, f"took the {cards_in_words(cards)}")
        return [taken] if self.is_done else [taken, self.prompt()]

    def type_line(self, line: str) -> list[DeckNotice]:
        """Take a typed line: undo, keep, skip, done, or the name of the card in question."""
        typed = line.strip()
        match typed.lower():
            case "u" | "undo":
                self._pending = None
                if not self._history:
                    return [DeckNotice("what", (), "nothing was taken yet")]
                cards = self._history.pop()
                for card in cards:
                    self.looks.pop(card, None)
                    self._lookout.forget(card)
                return [DeckNotice("undone", cards, f"forgot the {cards_in_words(cards)}"), self.prompt()]
            case "done" | "q" | "quit":
                self._ended, self._pending = True, None
                return []
            case "s" | "skip":
                self._skipped += self.wanted if not self._ask else ()
                self._pending = None
                return [] if self.is_done else [self.prompt()]
            case "k" | "keep" if self._pending is not None and not self._ask:
                gathered, self._pending = self._pending, None
                return self._accept(gathered)
        if self._pending is None:
            return [DeckNotice("what", (), "type undo, skip or done")] if typed else []
        if not self._ask:
            return [DeckNotice("what", (), "type keep, undo, skip or done, or lay the right card")]
        return self._name_pending(self._pending, typed)

    def _name_pending(self, gathered: list[list[CardLook]], typed: str) -> list[DeckNotice]:
        names = [n[:-1].upper() + n[-1].lower() for n in typed.replace("10", "T").split()]
        try:
            if len(names) != self._at_once:
                raise CardError(f"name {self._at_once} card{'s' if self._at_once > 1 else ''}, left to right")
            names = [check(n) for n in names]
        except CardError as error:
            return [DeckNotice("what", (), str(error))]
        known = tuple(n for n in names if n in self.looks)
        if known:
            words = f"the {card_in_words(known[0])} was laid already: name another, or type skip"
            return [DeckNotice("twice", known, words)]
        self._pending = None
        return self._accept(
            [[replace(look, card=n) for look, n in zip(looks, names, strict=True)] for looks in gathered]
        )


def _grey(image: NDArray[np.uint8], width: int) -> _Grey:
    """Return the picture in grey, at most ``width`` wide, smoothed against noise."""
    width = min(width, image.shape[1])
    size = (width, max(1, round(width * image.shape[0] / image.shape[1])))
    grey = cv2.cvtColor(cv2.resize(image, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.GaussianBlur(grey, (3, 3), 0), np.int16)


def _difference(a: _Grey, b: _Grey) -> float:
    """Return the share of pixels that differ clearly."""
    return float((np.abs(a - b) > _STEP).mean())
