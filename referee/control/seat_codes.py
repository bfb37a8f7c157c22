"""Seat codes: a phone that has scanned one becomes the pad of that seat, and gets no other rights.

Codes last for an evening. `begin_evening` ends those of the previous one, `call_in` ends a single one, and both kinds
are remembered, so that a phone with an old code gets the reason. The referee's process writes the codes into
its folder of this boot; the page's process reads them there.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from hardware.clock import boottime
from referee.control.socket import let_in
from referee.sentence import Sentence
from referee.units import SECOND

CODES_NAME: Final = "seats.json"
HANDS_SOCKET: Final = "hands.sock"
"""Socket to which the page's process sends touches."""
EVENING: Final = 6 * 3600 * SECOND
"""Age at which codes belong to another evening when a game begins, however long the program has run, ns."""
_REMEMBERED: Final = 32
"""Number of ended codes that are remembered."""
_EVENING_OVER: Final = Sentence("this code was for another evening; scan the new one at the table")


@dataclass(frozen=True, slots=True)
class SeatCode:
    """The code that makes a page the pad of a seat."""

    seat: int
    code: str
    key: str = ""
    """The key pressed for it in a browser, by its place on an English keyboard (`KeyA`); empty for a phone."""
    name: str = ""
    """The player at the seat; empty if unnamed."""
    phones: int = 1
    """Number of phones that may be its pad at the same time."""


@dataclass(frozen=True, slots=True)
class SeatCodes:
    """Contents of the file: the codes of this evening, and those that have ended."""

    made: int = 0
    """Instant at which they were made or a game last began with them, by `boottime`, ns."""
    handed_on: bool = False
    """Whether the wizard made them before the game: the start that follows belongs to the same evening."""
    codes: tuple[SeatCode, ...] = ()
    ended: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """By code: its player, and whether people called it in."""

    def end(self, called_in: bool, *seats: int) -> SeatCodes:
        """Return a copy in which the codes of these seats have ended (all codes without ``seats``)."""
        gone = [code for code in self.codes if not seats or code.seat in seats]
        ended = {**self.ended, **{code.code: (code.name, called_in) for code in gone}}
        kept = dict(list(ended.items())[-_REMEMBERED:])
        return replace(self, codes=tuple(code for code in self.codes if code not in gone), ended=kept)


def browser_key(key: str) -> str:
    """Return the browser's name for the key of a letter or digit; empty for none."""
    if not key:
        return ""
    return f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"


def begin_evening(folder: Path, *, goes_on: bool, now: int | None = None) -> None:
    """End the codes that the program finds at its start, unless it continues the evening that they were made for.

    Args:
        folder: of this boot.
        goes_on: a game was broken off, by a crash or by people, and can still be resumed.
        now: by `boottime`, ns; None: the present.
    """
    found = _read(folder)
    if not found.codes or (_is_fresh(found, now) and (goes_on or found.handed_on)):
        return
    with suppress(OSError):
        _write(folder, replace(found.end(False), handed_on=False))


def hand_on(folder: Path) -> None:
    """Keep the codes that phones have scanned in the wizard for the game that follows it."""
    with suppress(OSError):
        _write(folder, replace(_read(folder), handed_on=True))


def make_seat_codes(
    folder: Path, keys: Mapping[int, str], names: Mapping[int, str] | None = None, *, phones: int = 1,
    now: int | None = None,
) -> list[SeatCode]:  # fmt: skip
    """Make the codes of seats whose pads are pages, and store them in a private folder.

    A code of this evening is kept: a phone's code belongs to a person and moves to another seat with the person, a
    key's code belongs to its seat. A new player gets a new code.

    Args:
        folder: of this boot.
        keys: by seat, the key that is pressed for it in a browser; empty for a phone.
        names: by seat, the player.
        phones: number of phones that may be one seat's pad, unless people chose another number for that code.
        now: by `boottime`, ns; None: the present.

    Raises:
        OSError: they cannot be written.
    """
    found = _read(folder)
    if not _is_fresh(found, now):
        found = found.end(False)
    named = names or {}
    made: list[SeatCode] = []
    for seat, key in sorted(keys.items()):
        name = named.get(seat, "")
        known = next((code for code in found.codes if _is_same(code, seat, key, name)), None)
        made.append(
            SeatCode(seat, _new_code(), key, name, phones)
            if known is None
            else replace(known, seat=seat, key=key, name=name, phones=max(phones, known.phones))
        )
    kept = {code.code for code in made}
    left = found.end(False, *(code.seat for code in found.codes if code.code not in kept)) if found.codes else found
    _write(folder, SeatCodes(_present(now), False, tuple(made), left.ended))
    return made


def call_in(folder: Path, seat: int, phones: int | None = None) -> str:
    """End a seat's code and make a new one.

    Args:
        folder: of this boot.
        seat: the code's seat.
        phones: number of phones that may be this seat's pad from now on; None: unchanged.

    Returns:
        Why it cannot be done; empty if it is.
    """
    found = _read(folder)
    old = next((code for code in found.codes if code.seat == seat), None)
    if old is None:
        return Sentence("{seat}'s pad is neither a phone nor a browser, so there is no code to replace", seat=seat)
    new = replace(old, code=_new_code(), phones=old.phones if phones is None else phones)
    left = found.end(True, seat)
    try:
        _write(folder, replace(left, codes=tuple(sorted((*left.codes, new), key=lambda code: code.seat))))
    except OSError as error:
        return Sentence("the seats' codes cannot be written ({why})", why=str(error.strerror))
    return ""


def read_seat_codes(folder: Path) -> list[SeatCode]:
    """Return the valid codes; none if no pad is a page."""
    return list(_read(folder).codes)


def why_ended(folder: Path, code: str) -> tuple[str, int | None]:
    """Return the message for a phone whose code has ended, and the seat of its person now, if known."""
    found = _read(folder)
    name, called_in = found.ended.get(code, ("", False))
    if not name:
        return _EVENING_OVER, None
    words = Sentence("{name}: this code was for another evening; scan the new one at the table", name=name)
    if called_in:
        words = Sentence("{name}: this code was replaced; scan the new one at the table", name=name)
    return words, next((code.seat for code in found.codes if code.name == name), None)


def _is_same(one: SeatCode, seat: int, key: str, name: str) -> bool:
    """Return whether a known code is the one for this seat."""
    if bool(one.key) != bool(key):
        return False
    return one.name == name if name and not key else one.seat == seat


def _new_code() -> str:
    return secrets.token_urlsafe(9)


def _present(now: int | None) -> int:
    return boottime() if now is None else now


def _is_fresh(found: SeatCodes, now: int | None) -> bool:
    """Return whether the codes are this evening's; a stamp in the future is from before the machine was switched on."""
    return 0 <= _present(now) - found.made <= EVENING


def _read(folder: Path) -> SeatCodes:
    try:
        said: dict[str, Any] = json.loads((folder / CODES_NAME).read_bytes())
        codes = tuple(SeatCode(**code) for code in said["codes"])
        ended = {str(code): (str(name), bool(called_in)) for code, (name, called_in) in said["ended"].items()}
        return SeatCodes(int(said["made"]), bool(said["handed_on"]), codes, ended)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return SeatCodes()


def _write(folder: Path, made: SeatCodes) -> None:
    # Write beside the file and replace it: readers never see half a file.
    beside = folder / f".{CODES_NAME}"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(asdict(made), out)
    let_in(beside)
    beside.replace(folder / CODES_NAME)
