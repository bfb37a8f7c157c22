"""The voice, tried for a moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hardware.clips import Renders
    from referee.app.settings import VoiceSettings

TRIAL: Final = {"en": "one, two, three", "de": "eins, zwei, drei", "es": "uno, dos, tres", "fr": "un, deux, trois"}


def try_voice(settings: VoiceSettings, sound: Any = None) -> str:
    """Count to three at the settings' volume, whatever the hour; words if nothing could be heard.

    Args:
        settings: the voice.
        sound: stands for the sounddevice module.

    Raises:
        HardwareMissing: no synthesiser, or no PortAudio.
    """
    from hardware.clips import Clips
    from hardware.stream_speaker import StreamSpeaker
    from hardware.volume import Volume
    from hardware.volume_control import VolumeControl

    level = VolumeControl(Volume(settings.volume))
    clips = Clips(_synthesiser(settings))
    clips.render([TRIAL[settings.language]])
    speaker = StreamSpeaker(clips, device=settings.device or None, sound=sound, volume=level, watched=False)
    try:
        if speaker.trouble:
            return f"Nothing can be heard: {speaker.trouble}."
        speaker.say([TRIAL[settings.language]])
        speaker.drain()
        return ""
    finally:
        speaker.close()


def _synthesiser(settings: VoiceSettings) -> Renders:
    if settings.piper:
        from hardware.piper import open_piper

        return open_piper(Path(settings.piper).expanduser(), settings.language)
    from hardware.clips import find_synthesiser

    return find_synthesiser(settings.language)
