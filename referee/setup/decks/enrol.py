"""Laying a deck under the camera: frames and typed words in, looks and what to say out. Time is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import CARDS, CardError, check
from models.lookout import Lookout, NoLook

if TYPE_CHECKING:
    from models.looks import Look

MS: Final = 1_000_000
STILL: Final = 250 * MS
"""How long nothing moves before a card is looked at, ns."""
PATIENCE: Final = 1500 * MS
"""How long a card lies still without being found before that is told, ns."""
LOOKS: Final = 2
"""Looks at a card that lies, each in a frame of its own."""
_WIDTH: Final = 192
"""Of the small picture in which movement is looked for, px; what has changed is found in a larger one."""
_FINE: Final = 640
_STEP: Final = 14
_SUITS: Final = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}
_RANKS: Final = {
    "A": "ace", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king",
}  # fmt: skip
ORDER: Final = tuple(rank + suit for suit in "shdc" for rank in "A23456789TJQK")
"""The order in which a deck is laid unless another is asked for."""

_HELP: Final[dict[str, str]] = {
    "none": "more light, the whole card in the picture, 80 px high at least; if that does not help, this deck's index "
    "cannot be found: type skip",
    "blurred": "hold still, or move the camera until the card is sharp",
    "count": "or lay one card at a time",
}


def in_words(card: str) -> str:
    """A card's name as it is said: ``seven of hearts``."""
    if card[0] == "X":
        return "red joker" if card == "Xr" else "black joker"
    return f"{_RANKS[card[0]]} of {_SUITS[card[1]]}"


@dataclass(frozen=True, slots=True)
class Word:
    """Something to tell the person who lays: what kind of news, the cards it is about, and the line."""

    kind: str
    cards: tuple[str, ...]
    text: str


class Laying:
    """One deck being laid, card by card or a few at once."""

    def __init__(self, lookout: Lookout, order: Sequence[str], *, ask: bool = False, at_once: int = 1) -> None:
        """``order``: the cards to be laid; ``ask``: any order, each named when it was seen; ``at_once``: how many."""
        self._lookout, self._order, self._ask, self._at_once = lookout, list(order), ask, at_once
        self.looks: dict[str, list[Look]] = {}
        self._history: list[tuple[str, ...]] = []
        self._skipped: list[str] = []
        self._empty: NDArray[np.int16] | None = None
        self._before: NDArray[np.int16] | None = None
        self._fine: NDArray[np.int16] | None = None
        self._last: NDArray[np.int16] | None = None
        self._still_since: int | None = None
        self._gathered: list[list[Look]] = []
        self._pending: list[list[Look]] | None = None
        self._told: str | None = None
        self._taken = False
        self.ended = False

    @property
    def wanted(self) -> tuple[str, ...]:
        """The cards to be laid next; none when all were."""
        left = [c for c in self._order if c not in self.looks and c not in self._skipped]
        return tuple(left[: self._at_once])

    @property
    def done(self) -> bool:
        """Whether all were laid, or the person said that it is enough."""
        return self.ended or (not self.wanted and self._pending is None)

    def prompt(self) -> Word:
        """What to lay now."""
        named = ", ".join(in_words(c) for c in self.wanted)
        count = f"{len(self.looks)} of {len(self._order)}"
        if self._ask:
            return Word("lay", (), f"[{count}] lay the next card")
        return Word("lay", self.wanted, f"[{count}] lay the {named}" + (", left to right" if self._at_once > 1 else ""))

    def feed(self, image: NDArray[np.uint8], t: int) -> list[Word]:
        """Take one frame, begun at ``t`` ns; returns what to tell."""
        if self.done:
            return []
        now = _grey(image, _WIDTH)
        moved = self._last is None or _differs(now, self._last) > 0.002
        self._last = now
        if moved:
            self._still_since, self._gathered, self._told, self._taken = None, [], None, False
            return []
        self._still_since = t if self._still_since is None else self._still_since
        unnamed = self._ask and self._pending is not None
        if t - self._still_since < STILL or self._taken or unnamed:
            return []
        return self._rested(image, now, t - self._still_since)

    def _rested(self, image: NDArray[np.uint8], now: NDArray[np.int16], rest: int) -> list[Word]:
        if self._empty is None or self._before is None:
            self._empty = now
            self._remember(image, now)
            return []
        if _differs(now, self._empty) < 0.004:
            self._remember(image, now)
            return []
        if _differs(now, self._before) < 0.002:
            return []
        self._pending = None  # a card that was in doubt was changed for another
        mask = self._changed(image)
        cards = ("",) * self._at_once if self._ask else self.wanted
        try:
            self._gathered.append(self._lookout.look(image, cards, mask))
        except NoLook as no:
            return self._not_seen(no, rest)
        if len(self._gathered) < LOOKS:
            return []
        self._taken = True
        self._remember(image, now)
        gathered, self._gathered = self._gathered, []
        return self._judged(gathered)

    def _remember(self, image: NDArray[np.uint8], now: NDArray[np.int16]) -> None:
        self._before, self._fine = now, _grey(image, _FINE)

    def _changed(self, image: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
        """Where the picture differs from what was remembered, as large as the picture."""
        now = _grey(image, _FINE)
        if self._fine is None or self._fine.shape != now.shape:
            return None
        change = (np.abs(now - self._fine) > _STEP).astype(np.uint8)
        large = cv2.resize(change, (image.shape[1], image.shape[0]), interpolation=cv2.INTER_NEAREST)
        return np.asarray(large > 0)

    def _not_seen(self, no: NoLook, rest: int) -> list[Word]:
        self._gathered = []
        if rest < PATIENCE or self._told == no.kind:
            return []
        self._told = no.kind
        return [Word(no.kind, self.wanted, f"{no}: {_HELP[no.kind]}")]

    def _judged(self, gathered: list[list[Look]]) -> list[Word]:
        if self._ask:
            self._pending = gathered
            return [Word("ask", (), "which card is it? (as in 7h, Td, Ks)")]
        for k, look in enumerate(gathered[-1]):
            doubt = self._doubt(look)
            if doubt is not None:
                self._pending = gathered
                return [Word(doubt[0], (gathered[-1][k].card,), doubt[1])]
        return self._accept(gathered)

    def _doubt(self, look: Look) -> tuple[str, str] | None:
        wrong = self._lookout.contradicts(look)
        if wrong is not None:
            return "other", (
                f"this looks like a {_RANKS[wrong]}, not like the {in_words(look.card)}: "
                "lay the right card, or type keep if it is"
            )
        twin = self._lookout.known_as(look)
        if twin is not None:
            return "twice", (
                f"this looks like the {in_words(twin)}, which was laid already: lay the {in_words(look.card)}, "
                "or type keep if it is"
            )
        return None

    def _accept(self, gathered: list[list[Look]]) -> list[Word]:
        cards = tuple(look.card for look in gathered[-1])
        for looks in gathered:
            for look in looks:
                self.looks.setdefault(look.card, []).append(look)
        for look in gathered[-1]:
            self._lookout.note(look.card, look)
        self._history.append(cards)
        words = [Word("took", cards, f"took the {', '.join(in_words(c) for c in cards)}")]
        return words if self.done else [*words, self.prompt()]

    def typed(self, line: str) -> list[Word]:
        """Take a typed line: undo, keep, skip, done, or the name of the card that was asked for."""
        said = line.strip()
        verb = said.lower()
        if verb in ("u", "undo"):
            return self._undo()
        if verb in ("done", "q", "quit"):
            self.ended, self._pending = True, None
            return []
        if verb in ("s", "skip"):
            self._skipped += self.wanted if not self._ask else ()
            self._pending = None
            return [] if self.done else [self.prompt()]
        if self._pending is not None:
            return self._answered(said)
        return [Word("what", (), "type undo, skip or done")] if said else []

    def _answered(self, said: str) -> list[Word]:
        gathered = self._pending or []
        if not self._ask:
            if said.lower() not in ("k", "keep"):
                return [Word("what", (), "type keep, undo, skip or done, or lay the right card")]
            self._pending = None
            return self._accept(gathered)
        names = [n[:-1].upper() + n[-1].lower() if n else n for n in said.replace("10", "T").split()]
        try:
            if len(names) != self._at_once:
                raise CardError(f"name {self._at_once} card{'s' if self._at_once > 1 else ''}, left to right")
            names = [check(n) for n in names]
        except CardError as bad:
            return [Word("what", (), str(bad))]
        known = [n for n in names if n in self.looks]
        if known:
            return [
                Word("twice", tuple(known), f"the {in_words(known[0])} was laid already: name another, or type skip")
            ]
        self._pending = None
        named = [[replace(look, card=n) for look, n in zip(looks, names, strict=True)] for looks in gathered]
        return self._accept(named)

    def _undo(self) -> list[Word]:
        self._pending = None
        if not self._history:
            return [Word("what", (), "nothing was taken yet")]
        cards = self._history.pop()
        for card in cards:
            self.looks.pop(card, None)
            self._lookout.forget(card)
        named = ", ".join(in_words(c) for c in cards)
        return [Word("undone", cards, f"forgot the {named}"), self.prompt()]


def _grey(image: NDArray[np.uint8], width: int) -> NDArray[np.int16]:
    """The picture in greys, as wide as told at most, smoothed against noise."""
    width = min(width, image.shape[1])
    size = (width, max(1, round(width * image.shape[0] / image.shape[1])))
    grey = cv2.cvtColor(cv2.resize(image, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.GaussianBlur(grey, (3, 3), 0), np.int16)


def _differs(a: NDArray[np.int16], b: NDArray[np.int16]) -> float:
    """The share of pixels that differ clearly."""
    return float((np.abs(a - b) > _STEP).mean())


def named_cards(text: str) -> list[str]:
    """Cards of a list such as ``As Ks 10d``; raises `CardError`."""
    names = text.replace(",", " ").replace("10", "T").split()
    out = [check(n[:-1].upper() + n[-1].lower()) for n in names]
    for n in out:
        if out.count(n) > 1:
            raise CardError(f"{n} is named twice")
    if not out:
        raise CardError(f'name cards, as in "As Ks Td"; there are {" ".join(CARDS[:3])} ... Xr Xb')
    return out
