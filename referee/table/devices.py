"""A real table's devices, opened as its settings say: with what is there.

The camera is opened in the process that looks, which goes on trying; so it may be missing now and be there later.
Whatever else is missing is told, and the game goes on without it. Only a table that neither sees nor feels is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hardware.force import open_force
from hardware.lights import GpioLights
from hardware.pads import GpioPads
from hardware.ports import Camera, HardwareMissing, Lights, Speaker
from hardware.strip import BothLights, StripLights
from referee.app.loop import Forces, NoPads, TimedPads
from referee.app.picturing import PictureSource
from referee.app.sight import Sights
from referee.app.sight_process import SightProcess
from referee.app.table_camera import camera_values, open_table_camera, work_of
from referee.app.voice_parts import open_voice

if TYPE_CHECKING:
    from referee.app.settings import CameraSettings, Settings

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


def open_camera_of(settings: CameraSettings) -> Camera:
    """The camera that the settings name, in this process; raises `HardwareMissing`."""
    return open_table_camera(**camera_values(settings))


def open_pads(settings: Settings) -> TimedPads:
    pins = {number: seat.pad for number, seat in enumerate(settings.seats, start=1)}
    measured = settings.pads_measured
    least = settings.pads.t_error_us
    errors = measured.t_error_us if measured is not None else (least,) * len(pins)
    t_error = {seat: max(least, error) * 1000 for seat, error in enumerate(errors, start=1)}
    return GpioPads(pins, t_error=t_error, active_high=settings.pads.active_high)


def _pin_lights(settings: Settings) -> Lights:
    lamps = {number: seat.light for number, seat in enumerate(settings.seats, start=1)}
    return GpioLights(lamps, settings.lights.table)


def _strip(settings: Settings) -> Lights:
    return StripLights(Path(settings.lights.strip), settings.lights.strip_length, len(settings.seats))


def open_lights(settings: Settings, missing: dict[str, str]) -> Lights | None:
    """Lights on pins, a strip, or both."""
    pins = _tried("lights", lambda: _pin_lights(settings), missing) if settings.lights.enabled else None
    strip = _tried("strip", lambda: _strip(settings), missing) if settings.lights.strip else None
    return BothLights(pins, strip) if pins is not None and strip is not None else pins or strip


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
