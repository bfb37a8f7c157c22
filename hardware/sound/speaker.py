"""The best voice available on this machine, if none was chosen: spoken, written into a file, or silent.

For `referee demo` and for learning decks; `referee.setup.wired_devices` creates a table's own voice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardware.clock import Clock, monotonic
from hardware.ports import HardwareMissing, Speaker
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.clips import Clips, Progress, find_synthesiser, open_wav, pcm
from hardware.sound.mixer import Mixer
from hardware.sound.splice import CUES, RATE
from hardware.sound.stream_speaker import PhraseBank, StreamSpeaker
from hardware.sound.volume import Volume, VolumeControl
from referee.units import SECOND

_log = logging.getLogger(__name__)


class WavSpeaker:
    """Writes its speech into a WAV file, each phrase at its instant; implements `hardware.ports.Speaker`.

    At a simulated table it uses the game's clock, so the file lasts as long as the game, however fast it was played.
    """

    def __init__(self, bank: PhraseBank, file: Path, clock: Clock = monotonic, start: int | None = None) -> None:
        """Begin the file.

        Args:
            bank: source of phrases.
            file: path of the output.
            clock: returns the present instant, ns.
            start: the instant of the file's first sample, ns; None: now.

        Raises:
            HardwareMissing: the file cannot be written.
        """
        self._bank = bank
        self._clock = clock
        self._start = clock() if start is None else start
        self._volume = VolumeControl()
        self._mixer = Mixer(self._volume)
        try:
            self._out = file.open("wb")
        except OSError as error:
            raise HardwareMissing("cannot write the sound to {file}: {why}", file=file, why=error.strerror) from error
        self._wav = open_wav(self._out)
        self._closed = False

    @property
    def dropped(self) -> int:
        """Number of recent phrases dropped for being late."""
        return len(self._mixer.dropped)

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """Place a phrase at the present instant, or after the previous one; ``urgent`` interrupts others."""
        try:
            samples = self._bank.phrase(clips)
        except HardwareMissing as error:
            _log.warning("not said: %s (%s)", " ".join(clips), error)
            return
        self._write_until(self._clock())
        self._mixer.say(samples, urgent=urgent, name=" ".join(clips), topic=topic, patience=patience)

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """See `hardware.ports.Speaker`."""
        return self._bank.learn(names)

    def cue(self, name: str) -> None:
        """Place a short sound at the present instant."""
        if name in CUES:
            self._write_until(self._clock())
            self._mixer.cue(CUES[name])

    def set_volume(self, volume: Volume) -> None:
        """Set the volume from the present instant on; quiet hours follow the machine's clock, not the game's."""
        self._write_until(self._clock())
        self._volume.volume = volume

    def close(self) -> None:
        """Write everything up to now and the waiting phrases, and finish the file."""
        if self._closed:
            return
        self._closed = True
        self._write_until(self._clock())
        self._write(self._mixer.waiting + RATE // 4)
        self._wav.close()
        self._out.close()

    def _write_until(self, t: int) -> None:
        self._write((t - self._start) * RATE // SECOND - self._mixer.position)

    def _write(self, count: int) -> None:
        while count > 0:
            some = min(count, 10 * RATE)
            self._wav.writeframes(pcm(self._mixer.read(some)))
            count -= some


@dataclass(frozen=True, slots=True)
class OpenedVoice:
    """A speaker, and its description in words."""

    speaker: Speaker
    words: str
    audible: bool


def open_speaker(
    vocabulary: Iterable[str],
    *,
    audio: Path | None = None,
    clock: Clock = monotonic,
    start: int | None = None,
    progress: Progress | None = None,
    language: str = "en",
) -> OpenedVoice:
    """Open the best voice on this machine, with its clips rendered; silence with clear words if there is none.

    Args:
        vocabulary: every clip that may be requested.
        audio: write a WAV file instead of playing.
        clock: returns the present instant, ns, for the file's timeline and the silent record.
        start: the instant of the file's first sample, ns; None: now.
        progress: called while clips are rendered.
        language: of the clips.

    Raises:
        HardwareMissing: ``audio`` was requested and cannot be written, or there is no voice to write.
    """
    try:
        clips = Clips(find_synthesiser(language))
        if audio is not None:
            clips.render(vocabulary, progress)
            return OpenedVoice(WavSpeaker(clips, audio, clock, start), f"{clips.voice}, into {audio}", audible=True)
        speaker = StreamSpeaker(clips)
        if speaker.trouble:
            speaker.close()
            raise HardwareMissing(speaker.trouble)
        # Render only once the card is known to work, since it takes a while.
        clips.render(vocabulary, progress)
        return OpenedVoice(speaker, f"{clips.voice}, through the sound card", audible=True)
    except HardwareMissing as error:
        if audio is not None:
            raise
        return OpenedVoice(RecordingSpeaker(clock, keep=1000), str(error), audible=False)
