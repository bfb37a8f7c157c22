"""`referee enrol`: teach the eye a deck, from a camera or from pictures."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from referee.app import decks
from referee.app.enrolling_looks import Options, Say, looks_from_camera, looks_of_images
from referee.app.problems import UserError

if TYPE_CHECKING:
    from models.deckfile import Deck
    from models.enrolment import Knowledge
    from models.lookout import Lookout
    from models.looks import Look


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
    fresh = looks_of_images(lookout, options, say) if options.images else looks_from_camera(lookout, options, say)
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
    from models.deckfile import Deck, fingerprint
    from models.networks import WEIGHTS
    from referee.app.laying import ORDER

    began = time.process_time()
    known = _learned(lookout, looks, say)
    path = decks.store(Deck(options.deck, tuple(looks), known, fingerprint(WEIGHTS)))
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


def _learned(lookout: Lookout, looks: Sequence[Look], say: Say) -> Knowledge:
    from models.enrolment import TooFewLooks
    from models.networks import WeightsBroken

    try:
        return lookout.learn(looks, lambda step: say(f"  {step} ..."))
    except TooFewLooks as few:
        raise UserError(f"nothing was learned: {few}") from few
    except WeightsBroken as bad:
        raise UserError(f"the eye cannot learn: {bad}") from bad


def _draw_sheet(sheet: Path, deck: str, looks: Sequence[Look], known: Knowledge) -> bool:
    """What was seen of each card, as a picture; whether it could be written."""
    import cv2

    from referee.app.decksheet import contact_sheet

    title = f"{deck}: {len(known.laid)} cards, {len(looks)} looks"
    try:
        return bool(cv2.imwrite(str(sheet), contact_sheet(looks, known, title)))
    except cv2.error:
        return False


def _tell_confusions(known: Knowledge, deck: str, say: Say) -> None:
    from referee.app.laying import in_words

    if not known.confusions:
        say("no card is confused with another, each being left out in turn")
        return
    say("still confused, and never said with 0.9 or more:")
    for c in known.confusions:
        say(f"  the {in_words(c.card)} with the {in_words(c.other)} ({c.share:.0%} of its copies)")
    again = " ".join(c.card for c in known.confusions)
    say(f'lay them once more: referee enrol --deck {deck} --more --cards "{again}"')
