"""The voice, tried for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from referee.app.settings import VoiceSettings

TRIAL: Final = {"en": "One, two, three.", "de": "Eins, zwei, drei.", "es": "Uno, dos, tres.", "fr": "Un, deux, trois."}


def try_voice(settings: VoiceSettings) -> str:
    """Count to three as the settings say; words if there is something to say about it.

    Raises:
        HardwareMissing: no synthesiser, or no sound card.
    """
    from hardware.clips import Clips, find_synthesiser
    from hardware.speaker import StreamSpeaker

    speaker = StreamSpeaker(Clips(find_synthesiser()), device=settings.device or None)
    try:
        speaker.say([TRIAL[settings.language]], urgent=True)
        speaker.drain()
    finally:
        speaker.close()
    return ""
