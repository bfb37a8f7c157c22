"""`referee enrol`: teach a deck to the eye, from pictures of its cards or from cards laid under a camera."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2

from hardware.camera.camera import open_camera
from hardware.ports import Camera, HardwareMissing, Speaker
from hardware.sound.speaker import open_speaker
from models.decks.deck_file import LearnedDeck, fingerprint
from models.decks.enrolment import Confusion, Knowledge, TooFewLooks
from models.decks.lookout import Lookout, NoLook
from models.decks.looks import CardLook
from models.eye.classes import CardError
from models.eye.networks import WEIGHTS, WeightsBroken, WeightsMissing
from referee.errors import UserError
from referee.settings.model import load_settings
from referee.setup.calibration.report import write_picture
from referee.setup.decks.contact_sheet import draw_contact_sheet
from referee.setup.decks.dialogue import ORDER, DeckDialogue, DeckNotice, card_in_words, named_cards
from referee.text.ruling_lines import pretty
from referee.text.terminal_language import translate
from referee.vision import learned_decks
from referee.vision.cameras import open_camera_of
from referee.vision.photos import read_image

_SPOKEN: Final = {
    "none": "no index found", "blurred": "blurred", "twice": "laid twice", "other": "wrong card", "ask": "which card",
    "count": "spread the cards",
}  # fmt: skip
"""Spoken words for each kind of message, besides the cards to lay."""


@dataclass(frozen=True, slots=True)
class EnrolmentOptions:
    """Options of `referee enrol`."""

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
    def is_recorded(self) -> bool:
        """Whether the camera is a recording, which takes no typed answers."""
        return self.settings is None and Path(self.source).exists()


def list_decks() -> int:
    """Print the learned decks."""
    known = learned_decks.names()
    if not known:
        print(translate("no deck was learned yet: `referee enrol --deck NAME` learns one"))
    for name in known:
        try:
            deck = learned_decks.read(name)
            confused = len(deck.knowledge.confusions)
            words = translate("{name}: {cards}", name=name, cards=len(deck.knowledge.laid))
            print(words + (translate(", still confused: {many}", many=confused) if confused else ""))
        except UserError as error:
            print(translate("{name}: {why}", name=name, why=error))
    return 0


def forget_deck(name: str) -> int:
    """Remove a learned deck."""
    learned_decks.forget(name)
    print(translate("forgot {name}", name=name))
    return 0


def enrol(options: EnrolmentOptions) -> int:
    """Learn a deck; return the exit status: 0, or 1 if cards are still confused.

    Raises:
        UserError: there is no camera, a picture does not show the named cards, or the deck cannot be saved.
    """
    path = learned_decks.path_of(options.deck)
    if path.exists() and not options.more:
        raise UserError(
            "there is a deck {deck} already: --more adds looks to it, `referee enrol --forget "
            "{deck}` removes it, --deck names another",
            deck=options.deck,
        )
    if options.ask and options.is_recorded:
        raise UserError("--ask needs a camera: a recording does not stop for an answer; name its cards with --cards")
    before = learned_decks.read(options.deck) if options.more else None
    cv2.setNumThreads(1)
    try:
        lookout = Lookout.load()
    except (WeightsMissing, WeightsBroken) as error:
        raise UserError("the eye cannot see: {why}", why=error) from error
    looks = (_look_at_images if options.images else _look_through_camera)(lookout, options)
    if not looks:
        raise UserError("no card was taken, so nothing was learned")
    if before is not None:
        # Confused cards that were laid again keep only their new looks.
        doubtful = {c.card for c in before.knowledge.confusions} & {look.card for look in looks}
        looks = [*(look for look in before.looks if look.card not in doubtful), *looks]
    return _learn(lookout, options, looks)


def _order(cards: str | None) -> list[str]:
    if cards is None:
        return list(ORDER)
    try:
        return named_cards(cards)
    except CardError as error:
        raise UserError("--cards: {why}", why=error) from error


# Looks


def _look_at_images(lookout: Lookout, options: EnrolmentOptions) -> list[CardLook]:
    """Look at one card in each image, or with one image at all its cards from left to right; `;` separates images of
    several cards.
    """
    if options.cards is None:
        raise UserError('name what the pictures show: --cards "As Ks Qs"; for several cards in each, "As Ks; Qs Js"')
    names = _order(options.cards.replace(";", " "))
    if ";" in options.cards:
        groups = [_order(part) for part in options.cards.split(";") if part.strip()]
    else:
        groups = [[name] for name in names] if len(names) == len(options.images) else [names]
    if len(groups) != len(options.images):
        raise UserError(
            '{many} images and {len} cards: name one card an image, or part them with ; as in --cards "As Ks; Qs Js"',
            many=len(options.images),
            len=sum(map(len, groups)),
        )
    looks = []
    for image, cards in zip(options.images, groups, strict=True):
        try:
            looks += lookout.look(read_image(image), cards)
        except NoLook as error:
            raise UserError(
                "{image} ({count}): {why}; take the picture anew, in more light",
                image=image,
                count=" ".join(cards),
                why=error,
            ) from error
        print(f"{image}: {' '.join(cards)}")
    return looks


def _look_through_camera(lookout: Lookout, options: EnrolmentOptions) -> list[CardLook]:
    """Return every look at cards laid one by one, until all are laid or the person stops."""
    dialogue = DeckDialogue(lookout, _order(options.cards), ask=options.ask, at_once=options.at_once)
    with ExitStack() as stack:
        try:
            if options.settings is not None:
                camera = open_camera_of(load_settings(options.settings).camera)
            else:
                camera = open_camera(options.source, fps=options.fps)
        except HardwareMissing as error:
            raise UserError("{why}; pictures of the cards will do too (see referee enrol --help)", why=error) from error
        stack.callback(camera.close)
        speaker = None
        if not options.quiet:
            voice = open_speaker([*map(card_in_words, (*ORDER, "Xr", "Xb")), *_SPOKEN.values()])
            speaker = voice.speaker if voice.audible else None
        if speaker is not None:
            stack.callback(speaker.close)
        print(
            translate(
                "Clear the place under the camera. Lay each card face up on the last one, or instead "
                "of it, and take the hand away."
            )
        )
        print(translate("Type undo, skip or done at any time, and Enter."))
        typed: queue.SimpleQueue[str] = queue.SimpleQueue()

        def read_keyboard() -> None:
            for line in sys.stdin:
                typed.put(line)

        if not options.is_recorded:
            threading.Thread(target=read_keyboard, name="typed", daemon=True).start()
        try:
            _hold_dialogue(dialogue, camera, typed, speaker)
        except HardwareMissing as error:
            raise UserError(str(error)) from None
        except KeyboardInterrupt:
            print(translate("stopped; the cards laid so far are learned"))
    return [look for looks in dialogue.looks.values() for look in looks]


def _hold_dialogue(
    dialogue: DeckDialogue, camera: Camera, typed: queue.SimpleQueue[str], speaker: Speaker | None
) -> None:
    def tell(notices: Iterable[DeckNotice]) -> None:
        for notice in notices:
            print(notice.text)
            if speaker is not None and notice.kind == "lay":
                speaker.say([card_in_words(card) for card in notice.cards])
            elif speaker is not None and notice.kind in _SPOKEN:
                speaker.say([_SPOKEN[notice.kind]], urgent=True)

    tell([dialogue.prompt()])
    for frame in camera.frames():
        tell(dialogue.feed(frame.image, frame.t))
        while not typed.empty():
            tell(dialogue.type_line(typed.get()))
        if dialogue.is_done:
            return
    print(translate("the pictures have ended; laid: {cards}", cards=len(dialogue.looks)))


# Results


def _learn(lookout: Lookout, options: EnrolmentOptions, looks: Sequence[CardLook]) -> int:
    """Learn the deck, save it, and print which cards are still confused."""
    began, deck = time.process_time(), options.deck
    known = _learn_cards(lookout, looks)
    path = learned_decks.store(LearnedDeck(deck, tuple(looks), known, fingerprint(WEIGHTS)))
    drawn = _write_sheet(options.sheet or path.with_suffix(".png"), deck, looks, known)
    seconds = time.process_time() - began
    print(
        translate(
            "learned: {cards}, from {looks} looks, in {seconds} s of computing",
            cards=len(known.laid),
            looks=len(looks),
            seconds=f"{seconds:.0f}",
        )
    )
    _tell_missing(known)
    tell_confusions(deck, known.confusions)
    print(translate("kept in {path}; {drawn}", path=path, drawn=drawn))
    print(
        translate(
            'use it: referee recognise --deck {deck} IMAGE; for a table: deck = "{deck}" in its settings', deck=deck
        )
    )
    return 1 if known.confusions else 0


def _learn_cards(lookout: Lookout, looks: Sequence[CardLook]) -> Knowledge:
    """Learn the cards, and print each step; raises `UserError`."""
    try:
        return lookout.learn(looks, lambda step: print(f"  {translate(step)} ..."))
    except TooFewLooks as error:
        raise UserError("nothing was learned: {why}", why=error) from error
    except WeightsBroken as error:
        raise UserError("the eye cannot learn: {why}", why=error) from error


def _write_sheet(sheet: Path, deck: str, looks: Sequence[CardLook], known: Knowledge) -> str:
    """Write the contact sheet; return a sentence that says where it is, or that it could not be written."""
    title = f"{deck}: {len(known.laid)} cards, {len(looks)} looks"
    try:
        write_picture(sheet, draw_contact_sheet(looks, known, title))
    except UserError:
        return translate("{sheet} cannot be written", sheet=sheet)
    return translate("pictures of each card: {sheet}", sheet=sheet)


def _tell_missing(known: Knowledge) -> None:
    """Print how many cards were not laid, if any."""
    missing = len([card for card in ORDER if card not in known.laid])
    if missing:
        print(
            translate(
                "Not laid: {cards}. They are read as any deck's, never with 0.9 or more, and a new letter that looks "
                "like one of them stays in doubt; --more adds them",
                cards=missing,
            )
        )


def tell_confusions(deck: str, confusions: Sequence[Confusion]) -> None:
    """Print which cards are still confused, and how to lay them again."""
    if confusions:
        print(translate("still confused, and never said with 0.9 or more:"))
        for confused in confusions:
            print(
                translate(
                    "  {one} with {other} ({share} of its copies)",
                    one=pretty(confused.card),
                    other=pretty(confused.other),
                    share=f"{confused.share:.0%}",
                )
            )
        again = " ".join(confused.card for confused in confusions)
        print(
            translate(
                'lay them once more: referee enrol --deck {deck} --more --cards "{again}"', deck=deck, again=again
            )
        )
    else:
        print(translate("no card is confused with another, each being left out in turn"))
