"""Pairing: a code of six digits that only people at the table see or hear. Pure; time is data.

The number of attempts that one code allows bounds guessing: `Terms.together` in a million. No single address can use
them up, and one address's wait after a wrong guess never delays another that has not tried this code yet. Many
addresses together can use a code up; the next one then has two more digits and allows a hundred times as many attempts,
and so on: no easier to guess, and too long to be used up. So no device in the network can lock out the table's own
people.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from referee.sentence import Sentence
from referee.units import SECOND

_DIGITS: Final = 6
_MORE: Final = 2
"""Digits added to the next code after one was used up."""
MOST_DIGITS: Final = 10
"""Most digits of a code: a million attempts in two minutes are more than the page answers."""
_REMEMBERED: Final = 4096
"""Number of addresses whose attempts a code remembers."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Lifetime and limits of a code; times in ns."""

    life: int = 120 * SECOND
    again: int = 30 * SECOND
    """A code with more time left than this is shown again on request: a person may be typing it."""
    each: int = 3
    """Wrong attempts that one address has for one code."""
    together: int = 100
    """Wrong attempts in all that a code of six digits allows."""
    first_wait: int = SECOND
    """Wait after a wrong code; doubles with each further one."""
    longest_wait: int = 15 * SECOND
    forgotten: int = 600 * SECOND
    """Time without a wrong code after which all limits are reset."""


_USUAL: Final = Terms()


def random_code(digits: int = _DIGITS) -> str:
    """Return this many unpredictable digits."""
    return f"{secrets.randbelow(10**digits):0{digits}d}"


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to an attempt; ``wait`` is the time until another attempt is accepted (ns)."""

    accepted: bool
    words: str
    wait: int = 0


@dataclass(slots=True)
class _Shown:
    code: str = field(repr=False)
    until: int
    stands: int
    """Wrong attempts left."""
    wrong: OrderedDict[str, int] = field(default_factory=OrderedDict)


class Pairing:
    """One code at a time. It lives in the process that controls the table's pads and voice.

    Args:
        terms: lifetime and limits of a code.
        code: makes a code of the given number of digits.
    """

    def __init__(self, terms: Terms = _USUAL, code: Callable[[int], str] = random_code) -> None:
        self._terms, self._make = terms, code
        self._digits = _DIGITS
        self._shown: _Shown | None = None
        self._failures = 0
        self._failed_at = 0
        self._waits: OrderedDict[str, int] = OrderedDict()
        """By address that was wrong lately: the end of its wait."""

    def show(self, now: int) -> str:
        """Return the code for people at the table; it must be shown or spoken only there."""
        self._forget(now)
        shown = self._live(now)
        if shown is None or shown.until - now < self._terms.again or shown.wrong:
            stands = self._terms.together * 10 ** (self._digits - _DIGITS)
            shown = _Shown(self._make(self._digits), now + self._terms.life, stands)
            self._shown = shown
        return shown.code

    def shown(self, now: int) -> str:
        """Return the code that is valid at ``now`` (ns); empty if there is none."""
        shown = self._live(now)
        return shown.code if shown is not None else ""

    def attempt(self, code: str, who: str, now: int) -> Answered:
        """Check a typed code.

        Args:
            code: as it was typed.
            who: the address that it came from.
            now: the present instant, ns.
        """
        self._forget(now)
        shown = self._live(now)
        if shown is None:
            words = Sentence("no code is being shown; ask for one at the table: two taps on a pad, then hold it")
            return Answered(False, words)
        tried = shown.wrong.get(who, 0)
        # An address that has not tried this code yet never waits for the mistakes of others.
        wait = self._waits.get(who, now) - now if tried else 0
        if wait > 0:
            words = Sentence("that code was wrong; wait {wait} s before the next try", wait=-(-wait // SECOND))
            return Answered(False, words, wait)
        if tried >= self._terms.each:
            return Answered(False, Sentence("too many wrong codes from here; ask for another one at the table"))
        if hmac.compare_digest(code.encode(errors="replace"), shown.code.encode()):
            self._shown = None
            self._waits.pop(who, None)
            return Answered(True, Sentence("paired"))
        return self._wrong(shown, who, now)

    def _wrong(self, shown: _Shown, who: str, now: int) -> Answered:
        terms = self._terms
        shown.stands -= 1
        shown.wrong[who] = shown.wrong.pop(who, 0) + 1
        while len(shown.wrong) > _REMEMBERED:
            shown.wrong.popitem(last=False)
        # Doubles with each failure; the inner `min` bounds the shift, not the wait.
        wait = min(terms.first_wait << min(self._failures, 10), terms.longest_wait)
        self._failures += 1
        self._failed_at = now
        self._waits.pop(who, None)
        self._waits[who] = now + wait
        while len(self._waits) > terms.together:
            self._waits.popitem(last=False)
        if shown.stands <= 0:
            self._shown = None
            self._digits = min(self._digits + _MORE, MOST_DIGITS)
            return Answered(False, Sentence("that code has had too many wrong tries; ask for another at the table"))
        words = Sentence("that is not the code; wait {wait} s before the next try", wait=-(-wait // SECOND))
        return Answered(False, words, wait)

    def _forget(self, now: int) -> None:
        """Reset the limits after a while without a wrong code."""
        if self._failures and now - self._failed_at >= self._terms.forgotten:
            self._failures, self._digits = 0, _DIGITS
            self._waits.clear()

    def _live(self, now: int) -> _Shown | None:
        if self._shown is not None and now >= self._shown.until:
            self._shown = None
        return self._shown
