"""`referee enrol`: teach the eye a deck, from a camera or from pictures."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from referee.app import decks
from referee.app.problems import UserError

if TYPE_CHECKING:
    from hardware.ports import Camera, Speaker
    from models.deckfile import Deck
    from models.lookout import Lookout
    from models.looks import Look
    from referee.app.laying import Laying, Word

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


def listed() -> int:
    """Print the decks that were learned."""
    known = decks.names()
    if not known:
        print("no deck was learned yet: `referee enrol --deck NAME` learns one")
    for name in known:
        try:
            deck = decks.read(name)
            confused = len(deck.knowledge.confusions)
            print(f"{name}: {len(deck.knowledge.laid)} cards" + (f", {confused} still confused" if confused else ""))
        except UserError as bad:
            print(f"{name}: {bad}")
    return 0


def forgotten(name: str) -> int:
    """Remove a learned deck."""
    decks.forget(name)
    print(f"forgot {name}")
    return 0


def enrol(options: Options, say: Say = print) -> int:
    """Learn a deck; returns the exit status: 0, or 1 if cards are still confused.

    Raises:
        UserError: there is no camera, a picture shows not what was named, or the deck cannot be kept.
    """
    path = decks.path_of(options.deck)
    if path.exists() and not options.more:
        raise UserError(
            f"there is a deck {options.deck} already: --more adds looks to it, `referee enrol --forget {options.deck}` "
            "removes it, --deck names another"
        )
    if options.ask and options.recorded:
        raise UserError("--ask needs a camera: nobody can answer while a recording runs; name its cards with --cards")
    before = decks.read(options.deck) if options.more else None
    lookout = _lookout()
    fresh = _from_images(lookout, options, say) if options.images else _from_camera(lookout, options, say)
    if not fresh:
        raise UserError("no card was taken, so nothing was learned")
    return _keep(lookout, options, [*_still_good(before, fresh), *fresh], say)


def _still_good(before: Deck | None, fresh: Sequence[Look]) -> list[Look]:
    """The looks of before, but for those of cards that were confused and have been laid anew."""
    if before is None:
        return []
    doubtful = {c.card for c in before.knowledge.confusions} & {look.card for look in fresh}
    return [look for look in before.looks if look.card not in doubtful]


def _lookout() -> Lookout:
    try:
        from models.lookout import Lookout
        from models.networks import WeightsBroken, WeightsMissing
    except ImportError as bad:
        raise UserError(f"the eye needs {bad.name}: run `make install` (see `referee doctor`)") from bad
    import cv2

    cv2.setNumThreads(1)
    try:
        return Lookout.load()
    except (WeightsMissing, WeightsBroken) as bad:
        raise UserError(f"the eye cannot see: {bad}") from bad


def _keep(lookout: Lookout, options: Options, looks: Sequence[Look], say: Say) -> int:
    import cv2

    from models.deckfile import Deck, fingerprint
    from models.enrolment import TooFewLooks
    from models.networks import WEIGHTS, WeightsBroken
    from referee.app.decksheet import contact_sheet
    from referee.app.laying import ORDER, in_words

    began = time.process_time()
    try:
        known = lookout.learn(looks, lambda step: say(f"  {step} ..."))
    except TooFewLooks as few:
        raise UserError(f"nothing was learned: {few}") from few
    except WeightsBroken as bad:
        raise UserError(f"the eye cannot learn: {bad}") from bad
    path = decks.store(Deck(options.deck, tuple(looks), known, fingerprint(WEIGHTS)))
    sheet = options.sheet or path.with_suffix(".png")
    title = f"{options.deck}: {len(known.laid)} cards, {len(looks)} looks"
    try:
        written = cv2.imwrite(str(sheet), contact_sheet(looks, known, title))
    except cv2.error:
        written = False
    say(f"learned {len(known.laid)} cards from {len(looks)} looks in {time.process_time() - began:.0f} s of computing")
    missing = len([c for c in ORDER if c not in known.laid])
    if missing:
        say(
            f"{missing} cards were not laid: they are read as any deck's, never with 0.9 or more, and a new letter "
            "that looks like one of them stays in doubt; --more adds them"
        )
    if known.confusions:
        say("still confused, and never said with 0.9 or more:")
        for c in known.confusions:
            say(f"  the {in_words(c.card)} with the {in_words(c.other)} ({c.share:.0%} of its copies)")
        again = " ".join(c.card for c in known.confusions)
        say(f'lay them once more: referee enrol --deck {options.deck} --more --cards "{again}"')
    else:
        say("no card is confused with another, each being left out in turn")
    say(f"kept in {path}" + (f"; what was seen of each card: {sheet}" if written else f"; {sheet} cannot be written"))
    say(f'use it: referee recognise --deck {options.deck} IMAGE; for a table: deck = "{options.deck}" in its settings')
    return 1 if known.confusions else 0


def _order(options: Options) -> list[str]:
    from models.cards import CardError
    from referee.app.laying import ORDER, named_cards

    if options.cards is None:
        return list(ORDER)
    try:
        return named_cards(options.cards)
    except CardError as bad:
        raise UserError(f"--cards: {bad}") from bad


def _from_images(lookout: Lookout, options: Options, say: Say) -> list[Look]:
    """One card to an image, or with one image all cards in it from left to right; `;` parts images of several."""
    from models.lookout import NoLook
    from referee.app.recognising import read_image

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
    from hardware.camera import open_camera
    from hardware.ports import HardwareMissing
    from referee.app.parts import open_camera_of

    try:
        if options.settings is not None:
            from referee.app.settings import load

            return open_camera_of(load(options.settings).camera)
        return open_camera(options.source, fps=options.fps)
    except HardwareMissing as missing:
        raise UserError(f"{missing}; pictures of the cards will do too (see referee enrol --help)") from missing


def _voice(options: Options) -> Speaker | None:
    from hardware.speaker import open_speaker
    from referee.app.laying import ORDER, in_words

    if options.quiet:
        return None
    voice = open_speaker([*(in_words(c) for c in ORDER), "red joker", "black joker", *_SPOKEN.values()])
    return voice.speaker if voice.audible else None


_SPOKEN: Final = {
    "none": "no index found", "blurred": "blurred", "twice": "laid twice", "other": "wrong card", "ask": "which card",
    "count": "spread the cards",
}  # fmt: skip


def _from_camera(lookout: Lookout, options: Options, say: Say) -> list[Look]:
    from hardware.ports import HardwareMissing
    from referee.app.laying import Laying

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
    from referee.app.laying import in_words

    for word in words:
        say(word.text)
        if speaker is None:
            continue
        if word.kind == "lay":
            speaker.say([in_words(c) for c in word.cards])
        elif word.kind in _SPOKEN:
            speaker.say([_SPOKEN[word.kind]], urgent=True)
