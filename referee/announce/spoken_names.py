"""The players' names that can be called aloud; the other players are called by their seats.

A voice can say a name written in Latin letters, and a name helps only if it is unique at the table. The speaker decides
whether its voice can really say it (`hardware.ports.Speaker.learn`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from hardware.sound.clips import plain_letters

_MOST_LETTERS: Final = 24
"""Letters in a name; a longer one would hold up the game."""
_WITHIN: Final = " '’.-"
"""Characters allowed between the letters of a name."""


def names_to_call(names: Sequence[str]) -> dict[int, str]:
    """Return the names that can be called, by seat (from 1 on), as people wrote them.

    A name is left out if it holds anything but Latin letters (``Seat 3``), is too long, or is spelled like another: two
    players of the same name are both called by their seats.
    """
    plain = {seat: plain_letters(name).strip() for seat, name in enumerate(names, start=1)}
    often = Counter(plain.values())
    return {seat: names[seat - 1].strip() for seat, text in plain.items() if often[text] == 1 and _can_be_said(text)}


def _can_be_said(text: str) -> bool:
    letters = [letter for letter in text if letter not in _WITHIN]
    return 1 < len(letters) <= _MOST_LETTERS and all("a" <= letter <= "z" for letter in letters)
