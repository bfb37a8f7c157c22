"""The speaker: clips joined and played through one stream that stays open.

Opening a stream for each phrase takes tens of milliseconds and clicks; this one plays the noise floor between phrases.
sounddevice is imported late: without libportaudio2 its import fails, without a card its use does.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

from hardware.clock import monotonic
from hardware.ports import HardwareMissing
from hardware.sound.mixer import Mixer
from hardware.sound.sound_cards import opened_by
from hardware.sound.splice import CUES, FINER, RATE, Samples, Upsampler
from hardware.sound.volume import Volume, VolumeControl
from referee.sentence import Sentence, words_of
from referee.units import SECOND

_LOOK: Final = 0.25
"""Interval between checks of the stream, s."""
STALLED: Final = 1.0
"""Time without a request for samples, s, after which a card counts as gone."""
RETRY: Final = 2.0
"""Interval between attempts to reopen a missing card, s."""
_NO_LIBRARY: Final = "no sound: libportaudio2 is missing; apt install libportaudio2"
_NO_CARD: Final = Sentence("no sound: no sound card answers; plug in a loudspeaker, and the referee speaks again")

_STOPPED: Final = Sentence("no sound: the sound card has stopped; see its plug")

_log = logging.getLogger(__name__)


class PhraseBank(Protocol):
    """Source of phrases: `hardware.sound.clips.Clips`."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        """Return clips joined; raises `HardwareMissing`."""
        ...

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """See `hardware.ports.Speaker`."""
        ...


class StreamSpeaker:
    """Plays through the sound card; implements `hardware.ports.Speaker`.

    A card that is missing or goes away is sought until it is back. An interrupted phrase is then repeated, if it is
    still timely.
    """

    def __init__(
        self,
        bank: PhraseBank,
        *,
        device: Any = None,
        sound: Any = None,
        volume: VolumeControl | None = None,
        cues: bool = True,
        on_trouble: Callable[[str], None] | None = None,
        watched: bool = True,
    ) -> None:
        """Open the stream, or begin to look for a card.

        Args:
            bank: source of phrases.
            device: sounddevice's name or number of the card; None: the system's choice.
            sound: stands for the sounddevice module.
            volume: volume of speech and cues, queried for every block; full if not given.
            cues: whether non-speech sounds are played.
            on_trouble: called with each problem, and with ``""`` once it is solved; mostly in another thread.
            watched: whether a thread checks the stream; otherwise the owner calls `look`.

        Raises:
            HardwareMissing: PortAudio is missing.
        """
        self._bank = bank
        self._device = device
        self._sound = import_sounddevice() if sound is None else sound
        self._cues = CUES if cues else {}
        self._volume = volume or VolumeControl()
        self._mixer = Mixer(self._volume)
        self._lock = threading.Lock()
        self._on_trouble = on_trouble
        self._stream: Any = None
        self._finer: Upsampler | None = None
        self._blocks = 0
        """Number of blocks requested by the card."""
        self.dry = 0
        """Number of buffer underflows reported by PortAudio: each was an audible gap."""
        self.begun_at = 0
        """The instant, ns, at which the card last got the start of a phrase; it is heard `latency` later. 0: never
        yet."""
        self._looks = 0
        self._seen = (0, time.monotonic())
        self._lost_at = self._tried_at = self._seen[1]
        self.trouble = ""
        """Why there is no sound; empty while the stream runs."""
        self._closed = threading.Event()
        try:
            self._open().start()
        except (HardwareMissing, self._sound.PortAudioError) as error:
            self._end_stream()
            self._tell(words_of(error) if isinstance(error, HardwareMissing) else _NO_CARD)
        if watched:
            threading.Thread(target=self._watch, name="sound card", daemon=True).start()

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """See `hardware.ports.Speaker`."""
        try:
            samples = self._bank.phrase(clips)
        except Exception as error:  # a phrase that cannot be said must not end a game
            _log.warning("not said: %s (%s)", " ".join(clips), error)
            return
        with self._lock:
            self._mixer.say(samples, urgent=urgent, name=" ".join(clips), topic=topic, patience=patience)

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """See `hardware.ports.Speaker`."""
        return self._bank.learn(names)

    def cue(self, name: str) -> None:
        """See `hardware.ports.Speaker`; silent if cues are switched off or there is no sound card."""
        if name in self._cues and not self.trouble:
            with self._lock:
                self._mixer.cue(self._cues[name])

    @property
    def latency(self) -> int:
        """Delay until a sample is heard, by the system, ns; 0 without a card."""
        stream = self._stream
        return 0 if stream is None else round(float(stream.latency) * SECOND)

    def set_volume(self, volume: Volume) -> None:
        """See `hardware.ports.Speaker`."""
        self._volume.volume = volume

    def close(self) -> None:
        """Stop at once."""
        self._closed.set()
        self._end_stream()

    def drain(self, patience: float = 10.0) -> None:
        """Wait until everything has been spoken, at most ``patience`` s."""
        until = time.monotonic() + patience
        while self._mixer.waiting and not self.trouble and time.monotonic() < until:
            time.sleep(0.02)

    @property
    def signs(self) -> int:
        """Sign of life for a watchdog: grows with each block requested by the card, and with each check."""
        return self._blocks + self._looks

    def look(self, now: float) -> None:
        """Check that the card still requests samples, and try to reopen it if not; ``now`` in s, monotonic."""
        self._looks += 1
        if not self.trouble:
            if self._blocks != self._seen[0]:
                self._seen = (self._blocks, now)
            try:
                active = bool(self._stream.active)
            except self._sound.PortAudioError:
                active = False
            if active and now - self._seen[1] < STALLED:
                return
            self._lost_at, self._tried_at = self._seen[1], now - RETRY
            self._tell(_STOPPED)
        if now - self._tried_at < RETRY:
            return
        self._tried_at = now
        # Only a restarted PortAudio finds a card that was unplugged and plugged in again.
        self._end_stream()
        try:
            self._sound._terminate()
            self._sound._initialize()
            self._open()
        except (HardwareMissing, self._sound.PortAudioError) as error:
            _log.info("still no sound card (%s)", error)
            return
        with self._lock:
            self._mixer.lost(now - self._lost_at)
        self._seen = (self._blocks, now)
        self._stream.start()
        self._tell("")

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            try:
                self.look(time.monotonic())
            except Exception:  # retry whatever a driver raises
                _log.exception("the sound card could not be looked at")

    def _open(self) -> Any:
        missing = HardwareMissing(_NO_CARD)
        for rate in (RATE, FINER * RATE):
            device, card = opened_by(self._sound, self._device)
            try:
                with _alsa_card(card):
                    self._stream = self._sound.OutputStream(
                        samplerate=rate, channels=1, dtype="float32", latency="low", device=device,
                        callback=self._fill,
                    )  # fmt: skip
            except self._sound.PortAudioError as error:
                missing.__cause__ = error
            # sounddevice raises ValueError for an unknown device name.
            except ValueError as error:
                missing = HardwareMissing("{problem} ({why})", problem=_NO_CARD, why=error)
            else:
                self._finer = Upsampler() if rate != RATE else None
                return self._stream
        raise missing

    def _end_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort(ignore_errors=True)
            stream.close(ignore_errors=True)

    def _tell(self, words: str) -> None:
        if words != self.trouble:
            self.trouble = words
            if self._on_trouble is not None:
                self._on_trouble(words)

    def _fill(self, out: Any, frames: int, _time: Any, status: Any) -> None:
        """Fill a block as PortAudio's callback. An exception would end the stream, so nothing here may raise."""
        self._blocks += 1
        self.dry += bool(status.output_underflow)
        wanted = frames if self._finer is None else self._finer.wanted(frames)
        with self._lock:
            before = self._mixer.begun
            samples = self._mixer.read(wanted)
            if self._mixer.begun != before:
                self.begun_at = monotonic()
        out[:, 0] = samples if self._finer is None else self._finer(samples, frames)


@contextmanager
def _alsa_card(number: str) -> Iterator[None]:
    """Let ALSA's device `default` be this card's meanwhile; with an empty number, leave it as it is."""
    if not number:
        yield
        return
    before = os.environ.get("ALSA_CARD")
    os.environ["ALSA_CARD"] = number
    try:
        yield
    finally:
        del os.environ["ALSA_CARD"]
        if before is not None:
            os.environ["ALSA_CARD"] = before


def import_sounddevice() -> Any:
    """Return the sounddevice module.

    Raises:
        HardwareMissing: it, or its library, is not installed.
    """
    try:
        import sounddevice
    except OSError as error:
        raise HardwareMissing(_NO_LIBRARY) from error
    except ImportError as error:
        raise HardwareMissing("no sound: sounddevice is missing; pip install sounddevice") from error
    return sounddevice
