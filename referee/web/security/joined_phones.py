"""Assigns phones to seats: the first phone that reports with a code becomes its pad, and a further one is refused.

Called in the page's process for each report. A phone is known by a random name that all its pages report, so a reloaded
page counts as the same phone. The names are kept in the folder of this boot, for the next start of the page.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from referee.control.seat_codes import SeatCode

_NAME: Final = "phones.json"


class JoinedPhones:
    """The phones of the valid codes."""

    def __init__(self, folder: Path) -> None:
        """``folder``: of this boot; phones from an earlier start of the page are taken over."""
        self._path = folder / _NAME
        self._joined: dict[str, list[str]] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
            said = json.loads(self._path.read_bytes())
            self._joined = {str(code): [str(phone) for phone in phones] for code, phones in said.items()}

    def find_full(self, codes: Sequence[SeatCode], phone: str) -> SeatCode | None:
        """Join a phone to the seats of these codes, or to none if one of them has all its phones already.

        Keys of this machine's browser are no phones: they work in each of its windows.

        Args:
            codes: those that the phone has reported with.
            phone: its random name.

        Returns:
            The code that has all its phones already; None if the phone has joined all of them.
        """
        new = [code for code in codes if not code.key and phone not in self._joined.get(code.code, ())]
        full = next((code for code in new if len(self._joined.get(code.code, ())) >= code.phones), None)
        if new and full is None:
            for code in new:
                self._joined.setdefault(code.code, []).append(phone)
            self._write()
        return full

    def find_joined(self, codes: Sequence[SeatCode], phone: str) -> SeatCode | None:
        """Return the first of these codes with which a phone has joined."""
        return next((code for code in codes if phone in self._joined.get(code.code, ())), None)

    def keep(self, codes: Sequence[SeatCode]) -> None:
        """Forget the phones of all other codes, which have ended."""
        held = {code.code for code in codes}
        if gone := self._joined.keys() - held:
            for code in gone:
                del self._joined[code]
            self._write()

    def _write(self) -> None:
        """Write atomically; if it cannot be written, any phone may be the first after a restart of the page."""
        beside = self._path.with_name(f".{_NAME}")
        with suppress(OSError):
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
                json.dump(self._joined, out)
            beside.replace(self._path)
