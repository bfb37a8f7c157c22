"""Laying a deck under the camera: frames and typed words in, looks and what to say out. Time is data.

Where the looks at a deck come from: pictures of its cards, or cards that are laid one by one under a camera.

`referee enrol`: teach the eye a deck, from a camera or from pictures.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import cv2
import numpy as np
from numpy.typing import NDArray

from models.decks.lookout import Lookout, NoLook
from models.eye.classes import CARD_CLASSES, CardError, check
from referee.errors import UserError
from referee.vision import learned_decks

if TYPE_CHECKING:
    from hardware.ports import Camera, Speaker
    from models.decks.deck_file import LearnedDeck
    from models.decks.enrolment import Knowledge
    from models.decks.lookout import Lookout
    from models.decks.looks import CardLook

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
        self.looks: dict[str, list[CardLook]] = {}
        self._history: list[tuple[str, ...]] = []
        self._skipped: list[str] = []
        self._empty: NDArray[np.int16] | None = None
        self._before: NDArray[np.int16] | None = None
        self._fine: NDArray[np.int16] | None = None
        self._last: NDArray[np.int16] | None = None
        self._still_since: int | None = None
        self._gathered: list[list[CardLook]] = []
        self._pending: list[list[CardLook]] | None = None
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

    def _judged(self, gathered: list[list[CardLook]]) -> list[Word]:
        if self._ask:
            self._pending = gathered
            return [Word("ask", (), "which card is it? (as in 7h, Td, Ks)")]
        for k, look in enumerate(gathered[-1]):
            doubt = self._doubt(look)
            if doubt is not None:
                self._pending = gathered
                return [Word(doubt[0], (gathered[-1][k].card,), doubt[1])]
        return self._accept(gathered)

    def _doubt(self, look: CardLook) -> tuple[str, str] | None:
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

    def _accept(self, gathered: list[list[CardLook]]) -> list[Word]:
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
        raise CardError(f'name cards, as in "As Ks Td"; there are {" ".join(CARD_CLASSES[:3])} ... Xr Xb')
    return out


Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What `referee enrol` was asked."""

    deck: str = "deck"
    images: tuple[str, ...] = ()
    cards: str | None = None
    source: str = "usb:0"
    settings: Path | None = None
    fps: float | None = None
    ask: bool = False
    at_once: int = 1
    more: bool = False
    quiet: bool = False
    sheet: Path | None = None

    @property
    def recorded(self) -> bool:
        """Whether the camera is a recording, which nobody can answer."""
        return self.settings is None and Path(self.source).exists()


def looks_of_images(lookout: Lookout, options: Options, say: Say) -> list[CardLook]:
    """One card to an image, or with one image all cards in it from left to right; `;` parts images of several."""
    from models.decks.lookout import NoLook
    from referee.vision.photos import read_image

    if options.cards is None:
        raise UserError('name what the pictures show: --cards "As Ks Qs"; for several cards in each, "As Ks; Qs Js"')
    _order(Options(cards=options.cards.replace(";", " ")))
    if ";" in options.cards:
        groups = [_order(Options(cards=part)) for part in options.cards.split(";") if part.strip()]
    else:
        names = _order(options)
        groups = [[n] for n in names] if len(names) == len(options.images) else [names]
    if len(groups) != len(options.images):
        raise UserError(
            f"{len(options.images)} images and {sum(map(len, groups))} cards: name one card an image, or part them "
            'with ; as in --cards "As Ks; Qs Js"'
        )
    looks = []
    for name, cards in zip(options.images, groups, strict=True):
        try:
            looks += lookout.look(read_image(name), cards)
        except NoLook as no:
            raise UserError(f"{name} ({' '.join(cards)}): {no}; take the picture anew, in more light") from no
        say(f"{name}: {' '.join(cards)}")
    return looks


def looks_from_camera(lookout: Lookout, options: Options, say: Say) -> list[CardLook]:
    """Every look at cards that are laid one by one, until all are or somebody stops."""
    from hardware.ports import HardwareMissing

    laying = Laying(lookout, _order(options), ask=options.ask, at_once=options.at_once)
    with ExitStack() as stack:
        camera = _camera(options)
        stack.callback(camera.close)
        speaker = _voice(options)
        if speaker is not None:
            stack.callback(speaker.close)
        say(
            "Clear the place under the camera. Lay each card face up on the last one, or instead of it, and take "
            "the hand away."
        )
        say("Type undo, skip or done at any time, and Enter.")
        try:
            _lay(laying, camera, _Typed(None if options.recorded else sys.stdin), speaker, say)
        except HardwareMissing as missing:
            raise UserError(str(missing)) from None
        except KeyboardInterrupt:
            say("stopped; what was laid is learned")
    return [look for looks in laying.looks.values() for look in looks]


def _order(options: Options) -> list[str]:
    from models.eye.classes import CardError

    if options.cards is None:
        return list(ORDER)
    try:
        return named_cards(options.cards)
    except CardError as bad:
        raise UserError(f"--cards: {bad}") from bad


class _Typed:
    """Lines that somebody types, read on a thread of its own."""

    def __init__(self, stream: TextIO | None) -> None:
        self.lines: deque[str] = deque()
        if stream is not None:
            threading.Thread(target=self._read, args=(stream,), name="typed", daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self.lines.append(line)


def _camera(options: Options) -> Camera:
    from hardware.camera.camera import open_camera
    from hardware.ports import HardwareMissing
    from referee.vision.cameras import open_camera_of

    try:
        if options.settings is not None:
            from referee.settings.model import load_settings

            return open_camera_of(load_settings(options.settings).camera)
        return open_camera(options.source, fps=options.fps)
    except HardwareMissing as missing:
        raise UserError(f"{missing}; pictures of the cards will do too (see referee enrol --help)") from missing


def _voice(options: Options) -> Speaker | None:
    from hardware.sound.speaker import open_speaker

    if options.quiet:
        return None
    voice = open_speaker([*(in_words(c) for c in ORDER), "red joker", "black joker", *_SPOKEN.values()])
    return voice.speaker if voice.audible else None


_SPOKEN: Final = {
    "none": "no index found", "blurred": "blurred", "twice": "laid twice", "other": "wrong card", "ask": "which card",
    "count": "spread the cards",
}  # fmt: skip


def _lay(laying: Laying, camera: Camera, typed: _Typed, speaker: Speaker | None, say: Say) -> None:
    _tell([laying.prompt()], speaker, say)
    for frame in camera.frames():
        _tell(laying.feed(frame.image, frame.t), speaker, say)
        while typed.lines:
            _tell(laying.typed(typed.lines.popleft()), speaker, say)
        if laying.done:
            return
    say(f"the pictures have ended; {len(laying.looks)} cards were laid")


def _tell(words: Sequence[Word], speaker: Speaker | None, say: Say) -> None:

    for word in words:
        say(word.text)
        if speaker is None:
            continue
        if word.kind == "lay":
            speaker.say([in_words(c) for c in word.cards])
        elif word.kind in _SPOKEN:
            speaker.say([_SPOKEN[word.kind]], urgent=True)


def listed() -> int:
    """Print the decks that were learned."""
    known = learned_decks.names()
    if not known:
        print("no deck was learned yet: `referee enrol --deck NAME` learns one")
    for name in known:
        try:
            deck = learned_decks.read(name)
            confused = len(deck.knowledge.confusions)
            print(f"{name}: {len(deck.knowledge.laid)} cards" + (f", {confused} still confused" if confused else ""))
        except UserError as bad:
            print(f"{name}: {bad}")
    return 0


def forgotten(name: str) -> int:
    """Remove a learned deck."""
    learned_decks.forget(name)
    print(f"forgot {name}")
    return 0


def enrol(options: Options, say: Say = print) -> int:
    """Learn a deck; returns the exit status: 0, or 1 if cards are still confused.

    Raises:
        UserError: there is no camera, a picture shows not what was named, or the deck cannot be kept.
    """
    path = learned_decks.path_of(options.deck)
    if path.exists() and not options.more:
        raise UserError(
            f"there is a deck {options.deck} already: --more adds looks to it, `referee enrol --forget {options.deck}` "
            "removes it, --deck names another"
        )
    if options.ask and options.recorded:
        raise UserError("--ask needs a camera: nobody can answer while a recording runs; name its cards with --cards")
    before = learned_decks.read(options.deck) if options.more else None
    lookout = _lookout()
    fresh = looks_of_images(lookout, options, say) if options.images else looks_from_camera(lookout, options, say)
    if not fresh:
        raise UserError("no card was taken, so nothing was learned")
    return _keep(lookout, options, [*_still_good(before, fresh), *fresh], say)


def _still_good(before: LearnedDeck | None, fresh: Sequence[CardLook]) -> list[CardLook]:
    """The looks of before, but for those of cards that were confused and have been laid anew."""
    if before is None:
        return []
    doubtful = {c.card for c in before.knowledge.confusions} & {look.card for look in fresh}
    return [look for look in before.looks if look.card not in doubtful]


def _lookout() -> Lookout:
    try:
        from models.decks.lookout import Lookout
        from models.eye.networks import WeightsBroken, WeightsMissing
    except ImportError as bad:
        raise UserError(f"the eye needs {bad.name}: run `make install` (see `referee doctor`)") from bad
    import cv2

    cv2.setNumThreads(1)
    try:
        return Lookout.load()
    except (WeightsMissing, WeightsBroken) as bad:
        raise UserError(f"the eye cannot see: {bad}") from bad


def _keep(lookout: Lookout, options: Options, looks: Sequence[CardLook], say: Say) -> int:
    from models.decks.deck_file import LearnedDeck, fingerprint
    from models.eye.networks import WEIGHTS

    began = time.process_time()
    known = _learned(lookout, looks, say)
    path = learned_decks.store(LearnedDeck(options.deck, tuple(looks), known, fingerprint(WEIGHTS)))
    sheet = options.sheet or path.with_suffix(".png")
    written = _draw_sheet(sheet, options.deck, looks, known)
    say(f"learned {len(known.laid)} cards from {len(looks)} looks in {time.process_time() - began:.0f} s of computing")
    missing = len([c for c in ORDER if c not in known.laid])
    if missing:
        say(
            f"{missing} cards were not laid: they are read as any deck's, never with 0.9 or more, and a new letter "
            "that looks like one of them stays in doubt; --more adds them"
        )
    _tell_confusions(known, options.deck, say)
    say(f"kept in {path}" + (f"; what was seen of each card: {sheet}" if written else f"; {sheet} cannot be written"))
    say(f'use it: referee recognise --deck {options.deck} IMAGE; for a table: deck = "{options.deck}" in its settings')
    return 1 if known.confusions else 0


def _learned(lookout: Lookout, looks: Sequence[CardLook], say: Say) -> Knowledge:
    from models.decks.enrolment import TooFewLooks
    from models.eye.networks import WeightsBroken

    try:
        return lookout.learn(looks, lambda step: say(f"  {step} ..."))
    except TooFewLooks as few:
        raise UserError(f"nothing was learned: {few}") from few
    except WeightsBroken as bad:
        raise UserError(f"the eye cannot learn: {bad}") from bad


def _draw_sheet(sheet: Path, deck: str, looks: Sequence[CardLook], known: Knowledge) -> bool:
    """What was seen of each card, as a picture; whether it could be written."""
    import cv2

    from referee.setup.decks.contact_sheet import contact_sheet

    title = f"{deck}: {len(known.laid)} cards, {len(looks)} looks"
    try:
        return bool(cv2.imwrite(str(sheet), contact_sheet(looks, known, title)))
    except cv2.error:
        return False


def _tell_confusions(known: Knowledge, deck: str, say: Say) -> None:

    if not known.confusions:
        say("no card is confused with another, each being left out in turn")
        return
    say("still confused, and never said with 0.9 or more:")
    for c in known.confusions:
        say(f"  the {in_words(c.card)} with the {in_words(c.other)} ({c.share:.0%} of its copies)")
    again = " ".join(c.card for c in known.confusions)
    say(f'lay them once more: referee enrol --deck {deck} --more --cards "{again}"')
