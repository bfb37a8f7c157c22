"""The voice as the settings want it: language, synthesiser, volume, quiet hours."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardware.clips import Clips, Progress, Renders, find_synthesiser
from hardware.piper import open_piper
from hardware.ports import HardwareMissing
from hardware.stream_speaker import StreamSpeaker
from hardware.volume_control import VolumeControl, local_hour
from referee.app.voice import spelling, vocabulary
from referee.app.voice_choice import volume_in

if TYPE_CHECKING:
    from referee.app.settings import VoiceSettings

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
