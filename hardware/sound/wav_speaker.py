"""A speaker that writes what it says into a WAV file, each phrase at its instant."""

from __future__ import annotations

import logging
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hardware.clock import Clock, monotonic
from hardware.ports import HardwareMissing
from hardware.sound.beeps import CUES
from hardware.sound.clips import pcm
from hardware.sound.mixer import Mixer
from hardware.sound.splice import RATE
from hardware.sound.stream_speaker import Bank
from hardware.sound.volume import Volume, VolumeControl

_SECOND: Final = 1_000_000_000
_log = logging.getLogger(__name__)


class WavSpeaker:
    """Implements `hardware.ports.Speaker`.

    At a simulated table the clock is the game's, so the file lasts as long as the game, however fast it was played.
    """

    def __init__(
        self, bank: Bank, file: Path, clock: Clock = monotonic, start: int | None = None, *, cues: bool = True
    ) -> None:
        """Begin the file.

        Args:
            bank: where phrases come from.
            file: what to write.
            clock: answers the present instant, ns.
            start: the instant of the file's first sample, ns; None is now.
            cues: whether sounds that are no speech are written.

        Raises:
            HardwareMissing: the file cannot be written.
        """
        self._bank = bank
        self._clock = clock
        self._start = clock() if start is None else start
        self._cues = CUES if cues else {}
        self._volume = VolumeControl()
        self._mixer = Mixer(self._volume)
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
        """How many of the last phrases came too late to be begun."""
        return len(self._mixer.dropped)

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """Lay a phrase at the present instant, or after the one before; ``urgent`` interrupts what is not."""
        try:
            samples = self._bank.phrase(clips)
        except HardwareMissing as missing:
            _log.warning("not said: %s (%s)", " ".join(clips), missing)
            return
        self._write_until(self._clock())
        self._mixer.say(samples, urgent=urgent, name=" ".join(clips), topic=topic, patience=patience)

    def cue(self, name: str) -> None:
        """Lay a short sound at the present instant."""
        if name in self._cues:
            self._write_until(self._clock())
            self._mixer.cue(self._cues[name])

    def set_volume(self, volume: Volume) -> None:
        """From the present instant on this loud; quiet hours are those of the machine, not of the game."""
        self._write_until(self._clock())
        self._volume.volume = volume

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
        due = (t - self._start) * RATE // _SECOND
        self._write(due - self._mixer.position)

    def _write(self, count: int) -> None:
        while count > 0:
            some = min(count, 10 * RATE)
            self._wav.writeframes(pcm(self._mixer.read(some)))
            count -= some
