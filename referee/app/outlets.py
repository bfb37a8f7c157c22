"""Rulings and notices made heard; what is seen of them is in `lamps` and `display`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from referee.adjudication.rulings import Ruling
from referee.app.lamp_patterns import GLOW
from referee.app.lamps import Lamps
from referee.app.notices import Notice
from referee.app.phrases.language import NoWords
from referee.app.voice import announce, speak, tell

if TYPE_CHECKING:
    from hardware.ports import Speaker
__all__ = ["GLOW", "Lamps", "Pulse", "Voice"]


class Pulse:
    """Gives a speaker's signs of life: that its card asks for sound, or that it is known to be gone and looked for."""

    def __init__(self, speaker: Speaker, beat: Callable[[], None]) -> None:
        self._speaker, self._beat = speaker, beat
        self._signs = -1

    @staticmethod
    def has(speaker: Speaker) -> bool:
        """Whether this speaker gives any."""
        return hasattr(speaker, "signs")

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Called with every turn of the loop."""
        signs: int = getattr(self._speaker, "signs", self._signs)
        gone: str | None = getattr(self._speaker, "trouble", None)
        if signs != self._signs or gone:
            self._signs = signs
            self._beat()


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
