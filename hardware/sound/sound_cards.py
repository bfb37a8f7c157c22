"""Sound cards by their names: which exist, which is most likely audible, and which use the header's pins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from referee.sentence import Sentence

# On a Pi, parts of the HDMI outputs are called "i2s-hifi", too.
_HDMI: Final = re.compile(r"hdmi", re.IGNORECASE)
_HEADER: Final = re.compile(r"hifiberry|max98357|googlevoicehat|i2s|snd_rpi_(?!.*hdmi)", re.IGNORECASE)
_PI_HDMI: Final = re.compile(r"vc4-?hdmi", re.IGNORECASE)
_USB: Final = re.compile(r"usb", re.IGNORECASE)
_PLACE: Final = re.compile(r"\s*\((?:hw|plughw):\d+,\d+\)$")
"""ALSA's card numbers, which depend on the order of plugging in."""
_WORDS: Final = {
    "usb": Sentence("on USB"),
    "header": Sentence("on the header (I2S)"),
    "other": "",
    "hdmi": Sentence("a screen's, on HDMI"),
}
"""Kinds, the most reliably audible first: a screen may have no loudspeaker."""
_SYSTEM: Final = frozenset(("default", "sysdefault", "pulse", "pipewire", "dmix", "jack"))
"""ALSA's names for virtual cards."""


@dataclass(frozen=True, slots=True)
class SoundCard:
    """A card that plays sound."""

    name: str
    """Its name in the settings: unique to this card, whatever its number."""
    kind: str
    """``usb``, ``header`` (on I2S), ``hdmi`` or ``other``."""

    @property
    def words(self) -> str:
        """Its kind, in words for people."""
        return _WORDS[self.kind]


def is_on_header(name: str) -> bool:
    """Whether a card of this name is wired to the header, where it takes pins 18 to 21 (BCM)."""
    return bool(_HEADER.search(name)) and not _HDMI.search(name)


def opened_by(sound: Any, device: Any) -> tuple[Any, str]:
    """Return the device by which a card can be opened, and the card's number for ALSA's variable ``ALSA_CARD`` or "".

    A Raspberry Pi's HDMI takes no plain samples (only IEC 958 frames). ALSA's device `default` of that card converts
    them; PortAudio's own device of the card does not, and cannot be opened.

    Args:
        sound: the sounddevice module, or a stand-in.
        device: a card's name or number; None: the system's choice.
    """
    if device in (None, ""):
        return device, ""
    try:
        name = str(sound.query_devices(device, kind="output")["name"])
    except (ValueError, sound.PortAudioError):
        return device, ""
    number = re.search(r"\((?:plug)?hw:(\d+),\d+\)$", name)
    return ("default", number[1]) if number and _PI_HDMI.search(name) else (device, "")


def sound_cards(sound: Any) -> list[SoundCard]:
    """Return the cards that play, the most reliably audible first: USB, the header's, others, HDMI.

    Args:
        sound: the sounddevice module, or a stand-in.
    """
    full = [str(device["name"]) for device in sound.query_devices() if device["max_output_channels"] > 0]
    full = [name for name in full if name.partition(":")[0].lower() not in _SYSTEM]
    short = [_PLACE.sub("", name) for name in full]
    out = []
    for name, brief in zip(full, short, strict=True):
        alike = [other for other in short if brief.casefold() in other.casefold()]
        kind = "hdmi" if _HDMI.search(name) else "header" if is_on_header(name) else "usb" if _USB.search(name) else ""
        out.append(SoundCard(brief if len(alike) == 1 else name, kind or "other"))
    return sorted(out, key=lambda card: list(_WORDS).index(card.kind))
