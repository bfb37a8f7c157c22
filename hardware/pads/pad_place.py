"""Names the place of a seat's pad that is not on a pin: a keyboard's key, a board's contact, a phone. Pure.

In the settings it is one text, as in ``key:a``, ``key:leftshift@Logitech K120``, ``serial:2@/dev/ttyACM0``, ``phone``
or ``browser:a``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

PLACE_KINDS: Final = {
    "key": "a key of a keyboard, a button of a gamepad, and whatever else is one to the machine",
    "serial": "a contact of a microcontroller that stamps its edges itself",
    "phone": "a phone, whose page has one large button",
    "browser": "a letter or digit of the keyboard, in a page that is open on this machine",
}
"""Kinds of pads other than pins."""
MOST_PHONES: Final = 4
"""Most phones that may be accepted as one seat's pad."""
PLACE_PATTERN: Final = r"^(phone|browser:[A-Za-z0-9]|(key|serial):[^@\s]+(@.*\S)?)$"


@dataclass(frozen=True, slots=True)
class PadPlace:
    """One pad's place; its text form is stored in the settings."""

    kind: str
    """One of `PLACE_KINDS`."""
    which: str
    """The key's name, or the contact's number; empty for a phone, which is identified by its seat's code."""
    device: str = ""
    """Its device; empty for any device."""

    def __str__(self) -> str:
        which = f":{self.which}" if self.which else ""
        return f"{self.kind}{which}" + (f"@{self.device}" if self.device else "")

    def overlaps(self, other: PadPlace) -> bool:
        """Whether one press may belong to both places."""
        same = (self.kind, self.which) == (other.kind, other.which) and self.which != ""
        return same and (self.device == other.device or not (self.device and other.device))


def parse_place(text: str) -> PadPlace:
    """Read a pad's place.

    Raises:
        ValueError: the text is invalid.
    """
    if not re.match(PLACE_PATTERN, text):
        raise ValueError(f"{text!r} is no place of a pad, such as key:a or serial:2@/dev/ttyACM0")
    kind, _, rest = text.partition(":")
    which, _, device = rest.partition("@")
    return PadPlace(kind, which.casefold(), device)
