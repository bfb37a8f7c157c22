"""A table's devices, opened as its settings say: with what is there.

Each kind of device is opened by a function of its own (`Openers`); the simulated table brings its own functions, and
all else is the same. The camera is opened in the process that looks, which goes on trying; so it may be missing now and
be there later. Whatever else is missing is told, and the game goes on without it. Only a table that neither sees nor
feels is refused.
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
from referee.vision.client import SightProcess
from referee.vision.sight import Sights

if TYPE_CHECKING:
    from referee.settings.model import Settings

_Part = TypeVar("_Part")


class Mailbox:
    """Words that parts say on threads of their own, kept until somebody takes them, and handed on from then."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str]] = []
        self._take: Callable[[str, str], None] | None = None
        self._lock = threading.Lock()

    def about(self, part: str) -> Tell:
        """What this part says its words to; nothing (``""``) means that it works again."""

        def put(words: str) -> None:
            with self._lock:
                if self._take is None:
                    self._waiting.append((part, words))
                else:
                    self._take(part, words)

        return put

    def hand_to(self, take: Callable[[str, str], None]) -> None:
        """Hand all words to somebody, who never waits: those that were said, and all to come."""
        with self._lock:
            self._take = take
            for part, words in self._waiting:
                take(part, words)
            self._waiting.clear()


@dataclass(frozen=True, slots=True)
class Openers:
    """How each kind of device is opened; each function raises `HardwareMissing` or `OSError` where it cannot be had."""

    pads: Callable[[Settings], TimedPads] = open_pads
    eye: Callable[[Settings], Sights] = lambda settings: SightProcess(work_of(settings))
    lights: Callable[[Settings, dict[str, str]], Lights | None] = open_lights
    voice: Callable[[Settings, Tell], Speaker] = lambda settings, tell: open_voice(settings.voice, on_trouble=tell)
    clock: Clock = monotonic
    """Answers the table's present instant, ns."""
    make_alarm: Callable[[], Alarm] = Alarm
    """Makes what the loop of a game sleeps on."""
    is_real_time: bool = True
    """Whether hands wait for their lights; where time is data nobody does."""


@dataclass(slots=True)
class OpenParts:
    """Devices that are open."""

    sights: Sights
    pads: TimedPads
    wired: Settings
    """The settings with every seat whose pad and light are open: some may be free."""
    lights: Lights | None = None
    speaker: Speaker | None = None
    forces: ForceSampler | None = None
    missing: dict[str, str] = field(default_factory=dict)
    """By part: what is not there, and what to do about it."""
    pictures: PictureSource | None = None
    """Whom to ask for pictures round a slap; None where they are switched off."""
    mail: Mailbox = field(default_factory=Mailbox)
    """What parts that look after themselves have to say."""
    openers: Openers = Openers()
    """How they were opened."""

    def close(self) -> None:
        """Switch everything off."""
        for part in (self.sights, self.pads, self.lights, self.speaker, self.forces):
            if part is not None:
                part.close()


def open_parts(settings: Settings, openers: Openers) -> OpenParts:
    """Open everything that the settings name.

    Raises:
        HardwareMissing: neither camera nor pads are here; says of each what to do.
    """
    missing: dict[str, str] = {}
    pads = _try("pads", lambda: openers.pads(settings), missing)
    if pads is None:
        try:
            # Once, to see whether this is a table at all.
            open_camera_of(settings.camera).close()
        except HardwareMissing as bad:
            raise HardwareMissing("{one}; and {other}", one=bad, other=missing["pads"]) from None
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
    except (HardwareMissing, OSError) as bad:
        missing[name] = words_of(bad)
        return None
