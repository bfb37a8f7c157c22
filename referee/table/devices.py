"""A real table's devices, opened as its settings say: with what is there.

The camera is opened in the process that looks, which goes on trying; so it may be missing now and be there later.
Whatever else is missing is told, and the game goes on without it. Only a table that neither sees nor feels is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from hardware.pads.force import open_force
from hardware.ports import HardwareMissing, Lights, Speaker
from referee.devices import open_lights, open_pads, open_voice
from referee.table.loop import Forces, NoPads, TimedPads
from referee.table.slap_pictures import PictureSource
from referee.vision.cameras import open_camera_of, work_of
from referee.vision.client import SightProcess
from referee.vision.sight import Sights

if TYPE_CHECKING:
    from referee.settings.model import Settings

Part = TypeVar("Part")


class Mailbox:
    """Words that parts say on threads of their own, kept until somebody takes them, and handed on from then."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str]] = []
        self._take: Callable[[str, str], None] | None = None
        self._lock = threading.Lock()

    def about(self, part: str) -> Callable[[str], None]:
        """What this part says its words to; nothing (``""``) means that it works again."""
        return lambda words: self._put(part, words)

    def _put(self, part: str, words: str) -> None:
        with self._lock:
            if self._take is None:
                self._waiting.append((part, words))
            else:
                self._take(part, words)

    def hand_to(self, take: Callable[[str, str], None]) -> None:
        """Hand all words to somebody, who never waits: those that were said, and all to come."""
        with self._lock:
            self._take = take
            for part, words in self._waiting:
                take(part, words)
            self._waiting.clear()


@dataclass(slots=True)
class OpenParts:
    """Devices that are open."""

    sights: Sights
    pads: TimedPads
    lights: Lights | None = None
    speaker: Speaker | None = None
    forces: Forces | None = None
    missing: dict[str, str] = field(default_factory=dict)
    """By part: what is not there, and what to do about it."""
    pictures: PictureSource | None = None
    """Whom to ask for pictures round a slap; None where they are switched off."""
    mail: Mailbox = field(default_factory=lambda: Mailbox())
    """What parts that look after themselves have to say."""

    def close(self) -> None:
        """Switch everything off."""
        for part in (self.sights, self.pads, self.lights, self.speaker, self.forces):
            if part is not None:
                part.close()


def _camera_or_refuse(settings: Settings, pads: str) -> None:
    """There are no pads: open the camera once, to see whether this is a table at all."""
    try:
        open_camera_of(settings.camera).close()
    except HardwareMissing as bad:
        raise HardwareMissing(f"{bad}; and {pads}") from None


def open_parts(settings: Settings) -> OpenParts:
    """Open everything that the settings name.

    Raises:
        HardwareMissing: neither camera nor pads are here; says of each what to do.
    """
    missing: dict[str, str] = {}
    pads = _tried("pads", lambda: open_pads(settings), missing)
    if pads is None:
        _camera_or_refuse(settings, missing["pads"])
        missing["pads"] += "; cards, turns and challenges are refereed, slaps are not"
    work = work_of(settings)
    sights = SightProcess(work)
    parts = OpenParts(sights, pads or NoPads(), missing=missing, pictures=sights if work.pictures else None)
    if settings.pads.force and pads is not None:
        parts.forces = _tried("force", lambda: open_force(range(1, len(settings.seats) + 1)), missing)
    parts.lights = open_lights(settings, missing)
    if settings.voice.enabled:
        parts.speaker = _tried(
            "voice", lambda: open_voice(settings.voice, on_trouble=parts.mail.about("voice")), missing
        )
    return parts


def _tried(name: str, make: Callable[[], Part], missing: dict[str, str]) -> Part | None:
    try:
        return make()
    except (HardwareMissing, OSError) as bad:
        missing[name] = str(bad)
        return None
