"""Seals: a checksum of each line of a log, chained to the one before, which reveals a changed line. Pure.

The seal of a line is the beginning of the SHA-256 of the seal before it, a line break, and the line. So the last seal
vouches for the whole game, and each earlier one for the game up to there: a noted seal can be compared with the log.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import BinaryIO, Final, NamedTuple

from referee.engine.log import number_lines

SEAL_DIGITS: Final = 16
FIRST_SEAL: Final = ""
"""The seal before a log's first line."""
_FIELD: Final = re.compile(r',"seal":"([0-9a-f]{16})"\}$')

SealedLine = tuple[int, str, str | None]
"""Number and text of a line, and its seal; None if it was written by a program without seals."""


def seal_line(before: str, text: str) -> str:
    """Return the seal of a line, from the seal of the line before it."""
    return sha256(f"{before}\n{text}".encode(errors="replace")).hexdigest()[:SEAL_DIGITS]


def seal_lines(texts: Iterable[str], before: str = FIRST_SEAL) -> str:
    """Return the seal of the last of these consecutive lines."""
    for text in texts:
        before = seal_line(before, text)
    return before


def show_seal(seal: str) -> str:
    """Return a seal as people read it aloud: in groups of four."""
    return " ".join(seal[at : at + 4] for at in range(0, len(seal), 4))


def attach_seal(text: str, seal: str | None) -> str:
    """Return a line of the public format with its seal as the last field; unchanged if it cannot take one."""
    if seal is None or not text.endswith("}") or '"seal"' in text:
        return text
    return f'{text[:-1]},"seal":"{seal}"}}'


def detach_seal(text: str) -> tuple[str, str | None]:
    """Return a line without the seal that `attach_seal` added, and that seal; None if it has none."""
    found = _FIELD.search(text)
    return (text, None) if found is None else (f"{text[: found.start()]}}}", found[1])


class BrokenSeal(NamedTuple):
    """A place at which a log differs from what was sealed."""

    number: int
    """Number of the line."""
    words: str
    """The fault, with the expected and the present seal."""


def find_broken_seals(lines: Iterable[SealedLine], *, end: str | None = None) -> Iterator[BrokenSeal]:
    """Yield every line that was changed, is missing, or is out of place; nothing for lines without seals.

    Args:
        lines: in their order.
        end: the seal with which the game ended; None if unknown.
    """
    last, stored, made, sealed = 0, FIRST_SEAL, FIRST_SEAL, False
    for number, text, seal in lines:
        fits, alike, gap = seal_line(stored, text), seal_line(made, text), number - last - 1
        is_whole = seal in (fits, alike) or (seal is None and not sealed)
        if gap > 0:
            yield BrokenSeal(last + 1, f"{_count(gap)} missing, so that line {number} cannot be checked")
        elif seal is None and sealed:
            yield BrokenSeal(number, f"has no seal, and the lines before it have; {fits} was expected")
        elif not is_whole:
            yield BrokenSeal(number, f"is not the line that was sealed: its seal is {seal}, and this line makes {fits}")
        # Either the line was changed, and its seal holds, or the other way round: the next line shows which.
        last, stored = number, seal or fits
        made = stored if gap > 0 or is_whole else fits
        sealed = sealed or seal is not None
    if end is not None and end not in (stored, made):
        yield BrokenSeal(last + 1, f"or lines after it, are missing: the game ended with the seal {end}, not {stored}")


def find_broken_log(stream: BinaryIO) -> Iterator[BrokenSeal]:
    """Yield where a log differs from what was sealed when it was exported; nothing for one without seals.

    Raises:
        LogError: a line is too long, or not UTF-8.
    """
    places = array("q")

    def sealed() -> Iterator[SealedLine]:
        for number, text in number_lines(stream):
            places.append(number)
            yield len(places), *detach_seal(text.rstrip("\r\n"))

    for broken in find_broken_seals(sealed()):
        yield broken._replace(number=places[broken.number - 1])


def renew_seals(lines: Iterable[tuple[str, str, str | None]]) -> Iterator[str | None]:
    """Yield the new seals of lines of which some were rewritten without a name.

    A seal that was invalid before stays invalid.

    Args:
        lines: each before and after, and its present seal.
    """
    old = new = FIRST_SEAL
    for was, text, seal in lines:
        held = seal in (None, fits := seal_line(old, was))
        old = seal or fits
        new = seal_line(new, text) if held else old
        yield None if seal is None else new


def _count(lines: int) -> str:
    return "is" if lines == 1 else f"and {lines - 1} after it are"
