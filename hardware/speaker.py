"""The speaker: clips joined and played through one stream that stays open, or written to a WAV file.

A stream that is opened anew for each phrase costs tens of milliseconds and clicks; this one plays the noise
floor while nothing is said. sounddevice is imported late: without libportaudio2 its import fails, without a
card its use does.
"""

from __future__ import annotations

import logging
import threading
import time
import wave
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from hardware.clips import Clips, Progress, find_synthesiser, pcm
from hardware.clock import Clock, monotonic
from hardware.mixing import RATE, Mixer, Samples, resample
from hardware.ports import HardwareMissing, Speaker
from hardware.simulated.speaker import RecordingSpeaker

_RETRY: Final = 5.0
"""After a sound card went away, try it again at most this often, s."""
_NO_MUSIC_LIBRARY: Final = "no sound: libportaudio2 is missing; apt install libportaudio2"
_NO_CARD: Final = "no sound: no sound card answers; plug one in, or write a file with --audio FILE.wav"

_log = logging.getLogger(__name__)


class Bank(Protocol):
    """Where phrases come from: `hardware.clips.Clips`."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        """Clips joined; raises `HardwareMissing`."""
        ...


class StreamSpeaker:
    """Plays through the sound card; implements `hardware.ports.Speaker`."""

    def __init__(self, bank: Bank, *, device: Any = None, sound: Any = None) -> None:
        """Open the stream.

        Args:
            bank: where phrases come from.
            device: sounddevice's name or number of the card; None is the system's choice.
            sound: stands for the sounddevice module.

        Raises:
            HardwareMissing: no PortAudio, or no card.
        """
        self._bank = bank
        self._device = device
        self._sound = import_sounddevice() if sound is None else sound
        self._mixer = Mixer()
        self._lock = threading.Lock()
        self._tried = 0.0
        self._stream: Any = None
        self._rate = RATE
        self._left_over: Samples = Mixer().read(0)
        self._open()

    def say(self, clips: Sequence[str], *, urgent: bool = False) -> None:
        """Speak after what is being said; ``urgent`` interrupts it. Never waits for the sound, and never
        raises.
        """
        try:
            samples = self._bank.phrase(clips)
        except HardwareMissing as missing:
            _log.warning("not said: %s (%s)", " ".join(clips), missing)
            return
        with self._lock:
            self._mixer.say(samples, urgent=urgent, name=" ".join(clips))
        if not self._stream.active:
            self._reopen()

    def close(self) -> None:
        """Stop at once."""
        self._stream.abort(ignore_errors=True)
        self._stream.close(ignore_errors=True)

    def drain(self, patience: float = 10.0) -> None:
        """Wait until everything has been said, at most ``patience`` s."""
        until = time.monotonic() + patience
        while self._mixer.waiting and self._stream.active and time.monotonic() < until:
            time.sleep(0.02)

    def _open(self) -> None:
        for rate in (RATE, 3 * RATE):
            try:
                self._rate = rate
                self._stream = self._sound.OutputStream(
                    samplerate=rate, channels=1, dtype="float32", latency="low", device=self._device,
                    callback=self._fill,
                )  # fmt: skip
                self._stream.start()
            except self._sound.PortAudioError as refused:
                failed = refused
            else:
                return
        raise HardwareMissing(f"{_NO_CARD} ({failed})") from failed

    def _reopen(self) -> None:
        """A card that was pulled out and put back is found only by a PortAudio that starts anew."""
        now = time.monotonic()
        if now - self._tried < _RETRY:
            return
        self._tried = now
        try:
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)
            self._sound._terminate()
            self._sound._initialize()
            self._open()
        except (HardwareMissing, self._sound.PortAudioError) as still:
            _log.warning("the sound card is gone; trying again with the next words (%s)", still)

    def _fill(self, out: Any, frames: int, _time: Any, _status: Any) -> None:
        """PortAudio's callback: an exception would end the stream, so there is nothing here that can raise."""
        step = self._rate // RATE
        with self._lock:
            samples = self._mixer.read(-(-frames // step))
        out[:, 0] = resample(samples, RATE, self._rate)[:frames]


class WavSpeaker:
    """Writes what is said to a WAV file, each phrase at its instant by ``clock``; implements
    `hardware.ports.Speaker`.

    At a simulated table the clock is the game's, so the file lasts as long as the game, however fast it was
    played.
    """

    def __init__(self, bank: Bank, file: Path, clock: Clock = monotonic, start: int | None = None) -> None:
        """Begin the file.

        Args:
            bank: where phrases come from.
            file: what to write.
            clock: answers the present instant, ns.
            start: the instant of the file's first sample, ns; None is now.

        Raises:
            HardwareMissing: the file cannot be written.
        """
        self._bank = bank
        self._clock = clock
        self._start = clock() if start is None else start
        self._mixer = Mixer()
        try:
            self._out = file.open("wb")
        except OSError as refused:
            raise HardwareMissing(f"cannot write the sound to {file}: {refused.strerror}") from refused
        self._wav = wave.open(self._out, "wb")  # noqa: SIM115 - closed in close()
        self._wav.setnchannels(1)
        self._wav.setsampwidth(2)
        self._wav.setframerate(RATE)
        self._closed = False

    @property
    def dropped(self) -> int:
        """How many phrases came too late to be begun."""
        return len(self._mixer.dropped)

    def say(self, clips: Sequence[str], *, urgent: bool = False) -> None:
        """Lay a phrase at the present instant, or after the one before; ``urgent`` interrupts what is not."""
        self._write_until(self._clock())
        self._mixer.say(self._bank.phrase(clips), urgent=urgent, name=" ".join(clips))

    def close(self) -> None:
        """Let time come up to now, speak what waits, and finish the file."""
        if self._closed:
            return
        self._closed = True
        self._write_until(self._clock())
        self._write(self._mixer.waiting + RATE // 4)
        self._wav.close()
        self._out.close()

    def _write_until(self, t: int) -> None:
        due = (t - self._start) * RATE // 1_000_000_000
        self._write(due - self._mixer.position)

    def _write(self, count: int) -> None:
        while count > 0:
            some = min(count, 10 * RATE)
            self._wav.writeframes(pcm(self._mixer.read(some)))
            count -= some


def import_sounddevice() -> Any:
    """The sounddevice module.

    Raises:
        HardwareMissing: it, or the library that it stands on, is not installed.
    """
    try:
        import sounddevice
    except OSError as missing:
        raise HardwareMissing(_NO_MUSIC_LIBRARY) from missing
    except ImportError as missing:
        raise HardwareMissing("no sound: sounddevice is missing; pip install sounddevice") from missing
    return sounddevice


@dataclass(frozen=True, slots=True)
class Voice:
    """A speaker, and in words what it is."""

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
) -> Voice:
    """The best voice that this machine can give, its clips rendered; silence with clear words if it can give
    none.

    Args:
        vocabulary: every clip that may be asked for.
        audio: write a WAV file instead of playing.
        clock: answers the present instant, ns: of the file's time line, and of the silent record.
        start: the instant of the file's first sample, ns; None is now.
        progress: told while clips are rendered.

    Raises:
        HardwareMissing: ``audio`` was asked for and cannot be written, or there is no voice to write.
    """
    try:
        clips = Clips(find_synthesiser())
        clips.render(vocabulary, progress)
        if audio is not None:
            return Voice(WavSpeaker(clips, audio, clock, start), f"{clips.voice}, into {audio}", audible=True)
        return Voice(StreamSpeaker(clips), f"{clips.voice}, through the sound card", audible=True)
    except HardwareMissing as missing:
        if audio is not None:
            raise
        return Voice(RecordingSpeaker(clock, keep=1000), str(missing), audible=False)
