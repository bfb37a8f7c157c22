"""Hands that stay over the pile: a hand already there when a card turns may not slap it (M5).

Only what is beyond doubt is told: the hand must have been over the pile for a while before the face came up and still
be there then, it must not have laid the card, and it must not be the next one's, who waits there with a card.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from models.watch.stream import MS

OVER_PILE: Final = 0.85
"""Share of the way from the picture's edge to the pile's middle, known cards left out, that an arm must cover."""
STAYED_NS: Final = 350 * MS
"""A hand that has been over the pile for so long lays nothing and takes nothing: it hovers."""
LAPSE_NS: Final = 150 * MS
"""For so long an arm may go unseen and be the same stay."""
KEPT_NS: Final = 1_000 * MS
"""How long a stay is remembered: a card is told some frames after it came up."""
SAME_ARM: Final = 15.0
"""Degrees within which two looks show one arm."""


@dataclass(slots=True)
class _Stay:
    bearing: float
    since: int
    last: int


class Hovering:
    """Remembers which arms stay over the pile, and whose turn follows whose."""

    def __init__(self) -> None:
        self._stays: list[_Stay] = []
        self._next: dict[int, set[int]] = {}
        self._before: int | None = None

    def note(self, t: int, arms: Iterable[tuple[float, float]]) -> None:
        """The arms of the newest frame: bearing and the share of the way to the pile that they cover."""
        self._stays = [stay for stay in self._stays if stay.last >= t - KEPT_NS]
        for bearing, share in arms:
            if share < OVER_PILE:
                continue
            fresh = (s for s in self._stays if s.last >= t - LAPSE_NS)
            stay = next((s for s in fresh if abs((s.bearing - bearing + 180) % 360 - 180) < SAME_ARM), None)
            if stay is None:
                self._stays.append(_Stay(bearing, t, t))
            else:
                stay.last = t

    def stayed(self, bearing: float, t: int) -> bool:
        """Whether the arm of a bearing has been over the pile for long by an instant, ns, and still was."""
        return any(
            abs((s.bearing - bearing + 180) % 360 - 180) < SAME_ARM and s.since <= t - STAYED_NS and s.last >= t
            for s in self._stays
        )

    def at(self, t: int) -> list[float]:
        """The bearings of arms that hovered when a face came up at an instant, ns."""
        return [stay.bearing for stay in self._stays if stay.since <= t - STAYED_NS and stay.last >= t]

    def laid(self, seat: int | None) -> None:
        """A card was laid by a seat: who follows whom."""
        if seat is not None and self._before is not None:
            self._next.setdefault(self._before, set()).add(seat)
        self._before = seat

    def waits(self, seat: int, after: int) -> bool:
        """Whether a seat's hand may rightly wait over the pile for its turn after another's card."""
        known = self._next.get(after)
        return known is None or seat in known
