"""Rulings made heard and seen: what is handed to the speaker and to the lights."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from referee.adjudication.rulings import Ruling
from referee.app.notices import Notice
from referee.app.phrases.language import NoWords
from referee.app.voice import announce, speak, tell

if TYPE_CHECKING:
    from hardware.ports import Lights, Speaker

GLOW: Final = 0.2
"""Level of the light of the seat that is to play."""
OFF: Final = (0.0, 0.0, 0.0)
COLOURS: Final = {
    "slap_won": (0.0, 1.0, 0.0),
    "slap_false": (1.0, 0.0, 0.0),
    "dead_card": (1.0, 0.0, 0.0),
    "dead_heat": (1.0, 0.5, 0.0),
    "question": (1.0, 0.5, 0.0),
    "won": (1.0, 1.0, 1.0),
    "drawn": (1.0, 1.0, 1.0),
    "lost": (1.0, 1.0, 1.0),
}
"""What the table's light shows of a ruling, until the next lead or turn."""


class Voice:
    """Speaks the rulings, and what the appliance itself has to say."""

    def __init__(self, speaker: Speaker, language: str = "en") -> None:
        self._speaker, self._language = speaker, language
        self._touched = False

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Say what came together, joined where people would join it."""
        for phrase in announce(rulings, self._language):
            speak(self._speaker, phrase)

    def tell(self, notice: Notice) -> None:
        """Say a notice, where there are words for it."""
        with suppress(NoWords):
            speak(self._speaker, tell(notice.what, notice.t, self._language, **notice.fields))

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Pads that are down: the first hand is heard at once, where that is wanted."""
        if touched and not self._touched:
            self._speaker.cue("slap")
        self._touched = bool(touched)


class Lamps:
    """Shows on the lights whose turn it is, who slapped first, and how it was ruled."""

    def __init__(self, lights: Lights, seats: int) -> None:
        self._lights = lights
        self._levels = dict.fromkeys(range(1, seats + 1), 0.0)
        self._turn: int | None = None
        self._winner: int | None = None
        self._first: int | None = None

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Pads that are down, the first hand first: its light goes on at once, whatever it will be worth."""
        self._first = touched[0] if touched else None
        self._show()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Show the last of these rulings that has a colour."""
        for ruling in rulings:
            self._heed(ruling)
        self._show()

    def _heed(self, ruling: Ruling) -> None:
        if ruling.kind in ("lead", "turn"):
            self._turn = ruling["seat"]
            self._lights.table(*OFF)
        elif ruling.kind == "slap_won":
            self._winner = ruling["seat"]
        elif ruling.kind == "pile":
            self._winner = None
        if ruling.kind in COLOURS:
            self._lights.table(*COLOURS[ruling.kind])

    def _show(self) -> None:
        for seat, level in self._levels.items():
            wanted = 1.0 if seat in (self._first, self._winner) else GLOW if seat == self._turn else 0.0
            if wanted != level:
                self._levels[seat] = wanted
                self._lights.seat(seat, wanted)
