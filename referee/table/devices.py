"""What the settings tell of a table's pads, as the filter of their edges takes it.

The voice as the settings want it: language, synthesiser, volume, quiet hours.

A real table's devices, opened as its settings say: with what is there.

The camera is opened in the process that looks, which goes on trying; so it may be missing now and be there later.
Whatever else is missing is told, and the game goes on without it. Only a table that neither sees nor feels is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hardware.lights.leds import GpioLights
from hardware.lights.strip import BothLights, StripLights
from hardware.pads.crosstalk import Crosstalk
from hardware.pads.force import open_force
from hardware.pads.pads import GpioPads
from hardware.pads.slaps import PadFilter
from hardware.ports import Camera, HardwareMissing, Lights, Speaker
from hardware.sound.clips import Clips, Progress, Renders, find_synthesiser
from hardware.sound.piper import open_piper
from hardware.sound.stream_speaker import StreamSpeaker
from hardware.sound.volume import VolumeControl, local_hour
from referee.announce.voice import spelling, vocabulary
from referee.announce.volume_choice import volume_in
from referee.table.loop import Forces, NoPads, TimedPads
from referee.table.slap_pictures import PictureSource
from referee.vision.cameras import camera_values, open_table_camera, work_of
from referee.vision.client import SightProcess
from referee.vision.sight import Sights

if TYPE_CHECKING:
    from referee.settings.model import CameraSettings, Settings, VoiceSettings

US = 1000


def pad_filter(settings: Settings, start: int, *, force: bool = False, prefix: str = "") -> PadFilter:
    """The filter for this table's pads, with everything that was measured at them.

    Args:
        settings: those of the table.
        start: an instant before any edge, ns.
        force: whether a force sampler is there and will tell.
        prefix: stands before each id.

    Raises:
        ValueError: the pads were measured at a table with other seats (the settings refuse that, too).
    """
    seats = len(settings.seats)
    measured = settings.pads_measured
    if measured is None:
        return PadFilter(seats, start, force=force, prefix=prefix)
    errors = tuple(max(settings.pads.t_error_us, error) * US for error in measured.t_error_us)
    return PadFilter(
        seats,
        start,
        t_errors=errors,
        crosstalk=Crosstalk(
            tuple(tuple(length * US for length in row) for row in measured.crosstalk_us),
            errors,
            tuple(bounce * US for bounce in measured.bounce_us),
        ),
        force=force,
        prefix=prefix,
    )


Tell = Callable[[str], None]


def _silently(_words: str) -> None:
    return


def rendered(settings: VoiceSettings, on_trouble: Tell = _silently, progress: Progress | None = None) -> Clips:
    """Every clip of the language that the settings choose, rendered or from the cache.

    The owner's Piper voice goes first. Where it cannot speak, ``on_trouble`` is told, and the system's voice speaks.

    Raises:
        HardwareMissing: no synthesiser is installed, or the only one fails.
    """
    if settings.piper:
        try:
            speaks = open_piper(Path(settings.piper).expanduser(), settings.language)
            return _clips(speaks, settings.language, progress)
        except HardwareMissing as missing:
            on_trouble(f"{missing}; the system's voice speaks instead")
    return _clips(find_synthesiser(settings.language), settings.language, progress)


def _clips(synthesiser: Renders, language: str, progress: Progress | None) -> Clips:
    clips = Clips(synthesiser, spelling=spelling(language))
    clips.render(vocabulary(language), progress)
    return clips


def volume_of(settings: VoiceSettings, wall: Callable[[], time]) -> VolumeControl:
    """Answers by what speech is to be multiplied now."""
    return VolumeControl(volume_in(settings), wall)


def open_voice(
    settings: VoiceSettings,
    *,
    wall: Callable[[], time] = local_hour,
    on_trouble: Tell = _silently,
    progress: Progress | None = None,
    sound: Any = None,
) -> StreamSpeaker:
    """The voice of a real table.

    Args:
        settings: the table ``[voice]``.
        wall: answers the hour of the wall's clock.
        on_trouble: told in words what is wrong, and nothing (``""``) once the sound is back; also from another thread.
        progress: told while clips are rendered.
        sound: stands for the sounddevice module.

    Raises:
        HardwareMissing: no synthesiser or no PortAudio is installed. A sound card that is not there is looked for.
    """
    clips = rendered(settings, on_trouble, progress)
    return StreamSpeaker(
        clips, device=settings.device or None, sound=sound, volume=volume_of(settings, wall),
        cues=settings.slap_sound, on_trouble=on_trouble,
    )  # fmt: skip


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
