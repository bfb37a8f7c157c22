"""The pupils of a class: their numbers, nicknames and devices, and the places of their phones. Pure.

Pupils are numbers, given out at the first touch, and those at phones have a nickname, too; a device is a phone, a key
or a pad, under any name. No name is ever asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

MOST_PUPILS: Final = 60
"""In one lesson."""
PHONES: Final = range(1, MOST_PUPILS + 1)
"""The seats of pupils' own phones."""


class Pupils:
    """The pupils by number, and their devices."""

    def __init__(self) -> None:
        self.pupils: dict[str, int] = {}
        """Pupil by device."""
        self.nicknames: dict[int, str] = {}
        """By pupil; a pupil at a key or a pad has none."""
        self._choices: dict[str, Sequence[str]] = {}
        """Nicknames in the language of each phone."""
        self._last = 0

    @property
    def members(self) -> tuple[int, ...]:
        """The pupils who are in the class, by number."""
        return tuple(sorted(self.pupils.values()))

    def offer_nicknames(self, device: str, choices: Sequence[str]) -> None:
        """Let the next pupils at a device have one of these nicknames; `MOST_PUPILS` of them always suffice."""
        self._choices[device] = choices

    def admit(self, device: str) -> int | None:
        """Return the pupil at a device, or a new one if it has none; `None`: the class is full."""
        if device not in self.pupils:
            if len(self.members) >= MOST_PUPILS:
                return None
            self._last += 1
            self._name(self._last, self._choices.get(device, ()))
            self.pupils[device] = self._last
        return self.pupils[device]

    def _name(self, pupil: int, choices: Sequence[str]) -> None:
        """Give a pupil a nickname that no other has in this lesson, in any language."""
        taken = {self.nicknames[other].casefold() for other in self.members if other in self.nicknames}
        start = (pupil - 1) % len(choices) if choices else 0
        free = (name for name in (*choices[start:], *choices[:start]) if name.casefold() not in taken)
        if (name := next(free, None)) is not None:
            self.nicknames[pupil] = name

    def relieve(self, *devices: str) -> None:
        """Free these devices, or all, for other pupils."""
        for device in devices or tuple(self.pupils):
            self.pupils.pop(device, None)


class PhonePlaces:
    """The places for phones in a class; a phone keeps its own by its code, however often it is loaded.

    Args:
        room: the class.
        codes: seat of each place, one of `PHONES`, by its code.
    """

    def __init__(self, room: Pupils, codes: Mapping[str, int]) -> None:
        self._room, self._codes = room, codes
        self._handed: list[str] = []
        """Codes in the order in which they were given out."""

    def hand_out(self, nicknames: Sequence[str]) -> str | None:
        """Return the code of a place; if all are given out, an unused one is given out again; `None`: none is free."""
        free = [code for code, seat in self._codes.items() if _device(seat) not in self._room.pupils]
        if not free:
            return None
        code = min(free, key=lambda code: self._handed.index(code) if code in self._handed else -1)
        if code in self._handed:
            self._handed.remove(code)
        self._handed.append(code)
        self._room.offer_nicknames(_device(self._codes[code]), nicknames)
        return code

    def find_device(self, code: str) -> str | None:
        """Return the device at the place of a code; `None`: there is no such place."""
        return None if code not in self._codes else _device(self._codes[code])


def _device(seat: int) -> str:
    return f"page {seat}"
