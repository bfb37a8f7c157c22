"""Storage of learned decks, by name."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.errors import UserError
from referee.settings.places import data_folder

if TYPE_CHECKING:
    from models.decks.deck_file import LearnedDeck
    from models.decks.enrolment import Knowledge

_SUFFIX: Final = ".npz"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def folder() -> Path:
    """Return the folder of learned decks."""
    return data_folder() / "decks"


def path_of(name: str) -> Path:
    """Return the path of the deck's file, which may not exist; raises `UserError` for an invalid name."""
    if not _NAME.fullmatch(name):
        raise UserError(
            "{name} cannot be a deck's name: write small letters, digits, - and _, as in old-tarot", name=repr(name)
        )
    return folder() / f"{name}{_SUFFIX}"


def names() -> list[str]:
    """Return the names of the learned decks."""
    return sorted(file.stem for file in folder().glob(f"*{_SUFFIX}") if _NAME.fullmatch(file.stem))


def read(name: str) -> LearnedDeck:
    """Read a learned deck; raises `UserError` if it does not exist or its file is damaged."""
    from models.decks.deck_file import DeckBroken, load

    try:
        return load(path_of(name))
    except FileNotFoundError:
        known = ", ".join(names())
        there = f"there are {known}" if known else "none was learned yet"
        raise UserError(
            "no deck {name}: {there}; `referee enrol --deck {name}` learns one", name=name, there=there
        ) from None
    except DeckBroken as error:
        raise UserError("the deck {name}: {why} (`referee enrol --forget {name}`)", name=name, why=error) from error


def knowledge(name: str) -> Knowledge:
    """Return the knowledge of a deck, learned again from its looks if the weights have changed since.

    Raises:
        UserError: there is no such deck, its file is damaged, or the weights cannot learn.
    """
    from models.decks.deck_file import fingerprint
    from models.decks.lookout import Lookout
    from models.eye.networks import WEIGHTS, WeightsBroken, WeightsMissing

    deck = read(name)
    try:
        weights = fingerprint(WEIGHTS)
        if deck.weights == weights:
            return deck.knowledge
        learned = Lookout.load().learn(deck.looks)
    except (WeightsMissing, WeightsBroken) as error:
        raise UserError("the eye cannot see: {why}", why=error) from error
    except OSError as error:
        raise UserError("the eye cannot see: {why}; see `referee doctor`", why=error) from error
    # If the folder is not writable, only the next start is slower by some seconds.
    with contextlib.suppress(UserError):
        store(replace(deck, knowledge=learned, weights=weights))
    return learned


def store(deck: LearnedDeck) -> Path:
    """Save a deck under its name; raises `UserError` if it cannot be written."""
    from models.decks.deck_file import save

    path = path_of(deck.name)
    try:
        save(deck, path)
    except OSError as error:
        raise UserError(
            "{path} cannot be written: {why}; XDG_DATA_HOME names another place", path=path, why=error.strerror
        ) from error
    return path


def forget(name: str) -> None:
    """Remove a deck and its picture; raises `UserError` if it does not exist."""
    path = path_of(name)
    try:
        path.unlink()
    except FileNotFoundError:
        raise UserError("no deck {name}; `referee enrol --list` tells those that there are", name=name) from None
    except OSError as error:
        raise UserError("{path} cannot be removed: {why}", path=path, why=error.strerror) from error
    path.with_suffix(".png").unlink(missing_ok=True)
