"""The codes by which pages are the pads of seats: a phone that has scanned one slaps for that seat, and nothing else.

The referee's process writes them into its folder of this boot; the page's process reads them there. They last as long
as the machine is on, so that a phone which was joined stays joined when the referee is started again.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

CODES_NAME: Final = "seats.json"
HANDS_SOCKET: Final = "hands.sock"
"""Where the page's process hands on what was touched."""


@dataclass(frozen=True, slots=True)
class SeatCode:
    """What makes a page a seat's pad."""

    seat: int
    code: str
    key: str = ""
    """The key that is pressed for it in a browser, by its place on an English keyboard (`KeyA`); empty for a phone."""


def browser_key(key: str) -> str:
    """What a browser calls a letter's or digit's key; empty for none."""
    if not key:
        return ""
    return f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"


def make_seat_codes(folder: Path, keys: Mapping[int, str]) -> list[SeatCode]:
    """The codes of seats whose pads are pages, kept in a folder that nobody else can enter.

    Args:
        folder: of this boot.
        keys: by seat, the key that is pressed for it in a browser; empty for a phone.

    Raises:
        OSError: they cannot be written.
    """
    known = {one.seat: one.code for one in read_seat_codes(folder)}
    made = [SeatCode(seat, known.get(seat) or secrets.token_urlsafe(9), key) for seat, key in sorted(keys.items())]
    beside = folder / f".{CODES_NAME}"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump([asdict(one) for one in made], out)
    beside.replace(folder / CODES_NAME)
    return made


def read_seat_codes(folder: Path) -> list[SeatCode]:
    """The codes that hold now; none where no pad is a page."""
    try:
        return [SeatCode(**one) for one in json.loads((folder / CODES_NAME).read_bytes())]
    except (OSError, ValueError, TypeError):
        return []
