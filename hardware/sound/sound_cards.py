"""Sound cards by their names: which there are, which is meant to be heard, and which take pins of the header."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from referee.sentence import Sentence

# A Pi calls the parts of its HDMI outputs "i2s-hifi", too.
_HDMI: Final = re.compile(r"hdmi", re.IGNORECASE)
_HEADER: Final = re.compile(r"hifiberry|max98357|googlevoicehat|i2s|snd_rpi_(?!.*hdmi)", re.IGNORECASE)
_USB: Final = re.compile(r"usb", re.IGNORECASE)
_PLACE: Final = re.compile(r"\s*\((?:hw|plughw):\d+,\d+\)$")
"""What ALSA's numbers are, which change with what is plugged in first."""
_WORDS: Final = {
    "usb": Sentence("on USB"),
    "header": Sentence("on the header (I2S)"),
    "other": "",
    "hdmi": Sentence("a screen's, on HDMI"),
}
"""Kinds, those first that are most surely heard: a screen may have no loudspeaker."""
_SYSTEM: Final = frozenset(("default", "sysdefault", "pulse", "pipewire", "dmix", "jack"))
"""Names of ALSA's that stand for another card."""


@dataclass(frozen=True, slots=True)
class SoundCard:
    """A card that plays."""

    name: str
    """What the settings call it: it finds this card and no other, whatever its number."""
    kind: str
    """``usb``, ``header`` (on I2S), ``hdmi`` or ``other``."""

    @property
    def words(self) -> str:
        """What it is, for people."""
        return _WORDS[self.kind]


def is_on_header(name: str) -> bool:
    """Whether a card of this name is wired to the header, whose pins 18 to 21 (BCM) it takes."""
    return bool(_HEADER.search(name)) and not _HDMI.search(name)


def sound_cards(sound: Any) -> list[SoundCard]:
    """The cards that play, those first that are most surely heard: USB, the header's, others, HDMI.

    Args:
        sound: the sounddevice module, or what stands for it.
    """
    full = [str(one["name"]) for one in sound.query_devices() if one["max_output_channels"] > 0]
    full = [name for name in full if name.partition(":")[0].lower() not in _SYSTEM]
    short = [_PLACE.sub("", name) for name in full]
    out = []
    for name, brief in zip(full, short, strict=True):
        alike = [other for other in short if brief.casefold() in other.casefold()]
        kind = "hdmi" if _HDMI.search(name) else "header" if is_on_header(name) else "usb" if _USB.search(name) else ""
        out.append(SoundCard(brief if len(alike) == 1 else name, kind or "other"))
    return sorted(out, key=lambda card: list(_WORDS).index(card.kind))
