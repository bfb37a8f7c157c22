"""Opens a table's devices as its settings say, and goes on without those that are missing.

Each kind of device has its own opener (`Openers`); the simulated table replaces the openers and nothing else. The
camera is opened in the eye's process, which keeps trying, so it may be missing now and appear later. Any other missing
device is reported, and the game goes on without it. Only a table with neither camera nor pads is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from hardware.clock import Clock, monotonic
from hardware.pads.force import ForceSampler, open_force
from hardware.ports import HardwareMissing, Lights, Speaker, TimedPads
from referee.sentence import Sentence, words_of
from referee.setup.wired_devices import Tell, open_lights, open_pads, open_voice
from referee.table.loop import Alarm, NoPads
from referee.table.slap_pictures import PictureSource
from referee.vision.cameras import open_camera_of, work_of
from referee.vision.eye_client import SightProcess
from referee.vision.sight import Sights

if TYPE_CHECKING:
    from referee.settings.model import Settings

_Part = TypeVar("_Part")


class Mailbox:
    """Messages that parts send from their own threads; holds them until a receiver is set, then forwards each."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str]] = []
        self._take: Callable[[str, str], None] | None = None
        self._lock = threading.Lock()

    def about(self, part: str) -> Tell:
        """Return the function through which this part sends its messages; ``""`` means that it works again."""

        def put(words: str) -> None:
            with self._lock:
                if self._take is None:
                    self._waiting.append((part, words))
                else:
                    self._take(part, words)

        return put

    def hand_to(self, take: Callable[[str, str], None]) -> None:
        """Send all waiting and all future messages to ``take``, which must not block."""
        with self._lock:
            self._take = take
            for part, words in self._waiting:
                take(part, words)
            self._waiting.clear()


@dataclass(frozen=True, slots=True)
class Openers:
    """Opens each kind of device; each function raises `HardwareMissing` or `OSError` if the device is unavailable."""

    pads: Callable[[Settings], TimedPads] = open_pads
    eye: Callable[[Settings], Sights] = lambda settings: SightProcess(work_of(settings))
    lights: Callable[[Settings, dict[str, str]], Lights | None] = open_lights
    voice: Callable[[Settings, Tell], Speaker] = lambda settings, tell: open_voice(settings.voice, on_trouble=tell)
    clock: Clock = monotonic
    """Returns the present instant, ns."""
    make_alarm: Callable[[], Alarm] = Alarm
    """Makes the alarm that a game's loop sleeps on."""
    is_real_time: bool = True
    """Whether hands wait for their lights; false where time is data."""


@dataclass(slots=True)
class OpenParts:
    """The open devices of a table."""

    sights: Sights
    pads: TimedPads
    wired: Settings
    """The settings with every seat whose pad and light are open; some seats may be free."""
    lights: Lights | None = None
    speaker: Speaker | None = None
    forces: ForceSampler | None = None
    missing: dict[str, str] = field(default_factory=dict)
    """Missing parts: by part, the problem and its remedy."""
    pictures: PictureSource | None = None
    """Source of the pictures around a slap; None if pictures are switched off."""
    mail: Mailbox = field(default_factory=Mailbox)
    """Messages of the parts that supervise themselves."""
    openers: Openers = Openers()
    """The openers of these devices."""

    def close(self) -> None:
        """Close every device."""
        for part in (self.sights, self.pads, self.lights, self.speaker, self.forces):
            if part is not None:
                part.close()


def open_parts(settings: Settings, openers: Openers) -> OpenParts:
    """Open everything that the settings name.

    Raises:
        HardwareMissing: there is neither a camera nor a pad; the message says what to do about each.
    """
    missing: dict[str, str] = {}
    pads = _try("pads", lambda: openers.pads(settings), missing)
    if pads is None:
        try:
            # Open it once, to see whether this is a table at all.
            open_camera_of(settings.camera).close()
        except HardwareMissing as error:
            raise HardwareMissing("{one}; and {other}", one=error, other=missing["pads"]) from None
        missing["pads"] = Sentence(
            "{what}; cards, turns and challenges are refereed, slaps are not", what=missing["pads"]
        )
    eye = openers.eye(settings)
    parts = OpenParts(eye, pads or NoPads(), settings, missing=missing, openers=openers)
    if settings.record.pictures and settings.record.file and isinstance(eye, SightProcess):
        parts.pictures = eye
    if settings.pads.force and pads is not None:
        parts.forces = _try("force", lambda: open_force(range(1, len(settings.seats) + 1)), missing)
    parts.lights = openers.lights(settings, missing)
    if settings.voice.enabled:
        parts.speaker = _try("voice", lambda: openers.voice(settings, parts.mail.about("voice")), missing)
    return parts


def _try(name: str, make: Callable[[], _Part], missing: dict[str, str]) -> _Part | None:
    try:
        return make()
    except (HardwareMissing, OSError) as error:
        missing[name] = words_of(error)
        return None
