"""A simulated sound card, which requests samples at a real card's pace and drops them; and tones in place of words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from hardware.sound.splice import RATE, Samples

_BLOCK: Final = 256
_WELL: Final = SimpleNamespace(output_underflow=False)
"""PortAudio's status of a block that came in time."""
_WORD: Final = 0.04
"""Length of a phrase, s."""


class SimulatedSound:
    """Stands for the sounddevice module under `hardware.sound.stream_speaker.StreamSpeaker`."""

    class PortAudioError(Exception):
        """As sounddevice's; never raised."""

    def __init__(self, latency: float = 0.01) -> None:
        """``latency``: the card's stated delay of a sample, s."""
        self._latency = latency

    def OutputStream(self, *, samplerate: int, callback: Callable[..., None], **_: Any) -> PacedStream:  # noqa: N802
        """Return an open stream, with sounddevice's name for it."""
        return PacedStream(samplerate, callback, self._latency)

    def _terminate(self) -> None: ...

    def _initialize(self) -> None: ...


class PacedStream:
    """A stream that requests a block whenever one has been played."""

    def __init__(self, rate: int, callback: Callable[..., None], latency: float) -> None:
        self._every, self._callback, self.latency = _BLOCK / rate, callback, latency
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulated sound card", daemon=True)

    @property
    def active(self) -> bool:
        """Whether it is playing."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start requesting blocks."""
        self._thread.start()

    def _run(self) -> None:
        out = np.zeros((_BLOCK, 1), np.float32)
        while not self._ended.wait(self._every):
            self._callback(out, _BLOCK, None, _WELL)

    def abort(self, *, ignore_errors: bool = True) -> None:
        """Stop."""
        self._ended.set()

    def close(self, *, ignore_errors: bool = True) -> None:
        """Release the stream."""
        self._ended.set()


class Tones:
    """A bank of phrases as tones; stands for `hardware.sound.clips.Clips`."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        """Return a short tone for any words."""
        return (0.2 * np.sin(np.arange(round(_WORD * RATE)) / 3)).astype(np.float32)

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Return all names: it can speak any."""
        return frozenset(names)
