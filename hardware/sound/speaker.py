"""The best voice that this machine can give: a synthesiser, its clips, and something to play them on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hardware.clock import Clock, monotonic
from hardware.ports import HardwareMissing, Speaker
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.clips import Clips, Progress, find_synthesiser
from hardware.sound.stream_speaker import StreamSpeaker, import_sounddevice
from hardware.sound.wav_speaker import WavSpeaker

__all__ = ["OpenedVoice", "StreamSpeaker", "WavSpeaker", "import_sounddevice", "open_speaker"]


@dataclass(frozen=True, slots=True)
class OpenedVoice:
    """A speaker, and in words what it is."""

    speaker: Speaker
    words: str
    audible: bool


def open_speaker(
    vocabulary: Iterable[str],
    *,
    language: str = "en",
    audio: Path | None = None,
    clock: Clock = monotonic,
    start: int | None = None,
    progress: Progress | None = None,
) -> OpenedVoice:
    """The best voice that this machine can give, its clips rendered; silence with clear words if it can give
    none.

    Args:
        vocabulary: every clip that may be asked for.
        language: of the vocabulary.
        audio: write a WAV file instead of playing.
        clock: answers the present instant, ns: of the file's time line, and of the silent record.
        start: the instant of the file's first sample, ns; None is now.
        progress: told while clips are rendered.

    Raises:
        HardwareMissing: ``audio`` was asked for and cannot be written, or there is no voice to write.
    """
    try:
        clips = Clips(find_synthesiser(language))
        clips.render(vocabulary, progress)
        if audio is not None:
            return OpenedVoice(WavSpeaker(clips, audio, clock, start), f"{clips.voice}, into {audio}", audible=True)
        speaker = StreamSpeaker(clips)
        if speaker.trouble:
            speaker.close()
            raise HardwareMissing(speaker.trouble)
        return OpenedVoice(speaker, f"{clips.voice}, through the sound card", audible=True)
    except HardwareMissing as missing:
        if audio is not None:
            raise
        return OpenedVoice(RecordingSpeaker(clock, keep=1000), str(missing), audible=False)
