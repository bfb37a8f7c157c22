"""A sound card that is not there, which asks for samples at a card's pace and drops them; and words that are tones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from hardware.sound.splice import RATE, Samples

_BLOCK: Final = 256
_WELL: Final = SimpleNamespace(output_underflow=False)
"""What PortAudio tells of a block that came in time."""
_WORD: Final = 0.04
"""Seconds of a phrase."""


class SimulatedSound:
    """Stands for the sounddevice module under `hardware.sound.stream_speaker.StreamSpeaker`."""

    class PortAudioError(Exception):
        """As sounddevice's; it is never raised."""

    def __init__(self, latency: float = 0.01) -> None:
        """``latency``: what the card says of how long a sample waits in it, s."""
        self._latency = latency

    def OutputStream(self, *, samplerate: int, callback: Callable[..., None], **_: Any) -> PacedStream:  # noqa: N802
        """An open stream, as sounddevice calls it."""
        return PacedStream(samplerate, callback, self._latency)

    def _terminate(self) -> None: ...

    def _initialize(self) -> None: ...


class PacedStream:
    """A stream that asks for a block whenever one has been played."""

    def __init__(self, rate: int, callback: Callable[..., None], latency: float) -> None:
        self._every, self._callback, self.latency = _BLOCK / rate, callback, latency
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulated sound card", daemon=True)

    @property
    def active(self) -> bool:
        """Whether it plays."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def _run(self) -> None:
        out = np.zeros((_BLOCK, 1), np.float32)
        while not self._ended.wait(self._every):
            self._callback(out, _BLOCK, None, _WELL)

    def abort(self, *, ignore_errors: bool = True) -> None:
        """Stop."""
        self._ended.set()

    def close(self, *, ignore_errors: bool = True) -> None:
        """Let go."""
        self._ended.set()


class Tones:
    """A bank of phrases without words; stands for `hardware.sound.clips.Clips`."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        """A short tone, whatever the words."""
        return (0.2 * np.sin(np.arange(round(_WORD * RATE)) / 3)).astype(np.float32)

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """It can say any name."""
        return frozenset(names)
