"""Clips made even, joined without clicks, and laid on one line of time: pure, arrays in and arrays out.

Sound is mono, float32, -1 to 1. Nothing is ever digitally silent: a low noise floor lies under everything, as
in any room, since listeners (people half, recognisers wholly) take exact zeros for a fault.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE: Final = 16_000
"""Samples a second, everywhere."""
LOUDNESS: Final = 0.1
"""Root mean square of the spoken part of a clip (-20 dB of full scale)."""
PEAK: Final = 0.95
FLOOR: Final = 0.0005
"""Root mean square of the noise floor (-66 dB of full scale)."""
FADE: Final = 0.005
"""Length of the fade at both ends of a clip, s."""
GAP: Final = 0.03
"""Pause between two clips, s."""
PAUSE: Final = 0.15
"""Pause between two phrases, s."""
QUIET: Final = 0.02
"""Share of a clip's peak below which its ends are no speech."""
LATE: Final = 0.8
"""A phrase that is not urgent is dropped if it would start later than this, s: its count is no longer true.
"""
LATE_URGENT: Final = 5.0
"""Older verdicts that still wait are dropped for a new one, so that nobody hears news of two piles ago; s."""


def resample(samples: Samples, rate: int, wanted: int = RATE) -> Samples:
    """The same sound at another rate, by linear interpolation after a box filter against aliases."""
    if rate == wanted or samples.size == 0:
        return samples
    width = max(1, round(rate / wanted))
    smooth = np.convolve(samples, np.full(width, 1 / width), mode="same")
    count = round(samples.size * wanted / rate)
    at = np.arange(count) * (rate / wanted)
    out: Samples = np.interp(at, np.arange(samples.size), smooth).astype(np.float32)
    return out


def trimmed(samples: Samples, margin: float = 0.01) -> Samples:
    """The clip without the silence at its ends, but for ``margin`` s."""
    loud = np.flatnonzero(np.abs(samples) > QUIET * np.max(np.abs(samples), initial=0.0))
    if loud.size == 0:
        return samples[:0]
    keep = int(margin * RATE)
    start, stop = max(0, int(loud[0]) - keep), int(loud[-1]) + 1 + keep
    return samples[start:stop]


def evened(samples: Samples) -> Samples:
    """The clip at `LOUDNESS`, measured where it speaks, so that no word stands out; peaks stay below `PEAK`."""
    peak = float(np.max(np.abs(samples), initial=0.0))
    if peak == 0:
        return samples
    spoken = samples[np.abs(samples) > QUIET * peak].astype(np.float64)
    gain = LOUDNESS / float(np.sqrt(np.mean(spoken**2)))
    return (samples * min(gain, PEAK / peak)).astype(np.float32)


def faded(samples: Samples) -> Samples:
    """The clip rising from and falling to nothing, so that no join clicks."""
    count = min(int(FADE * RATE), samples.size // 2)
    if count == 0:
        return np.zeros_like(samples)
    ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(count) + 0.5) / count)).astype(np.float32)
    out = samples.copy()
    out[:count] *= ramp
    out[-count:] *= ramp[::-1]
    return out


def prepared(samples: Samples, rate: int) -> Samples:
    """A synthesiser's output made into a clip: at `RATE`, trimmed, even, faded."""
    return faded(evened(trimmed(resample(samples, rate))))


def join(clips: Sequence[Samples], gap: float = GAP) -> Samples:
    """Clips one after the other with ``gap`` s between them."""
    if not clips:
        return np.zeros(0, np.float32)
    pause = np.zeros(int(gap * RATE), np.float32)
    parts: list[Samples] = []
    for clip in clips:
        parts += [clip, pause]
    return np.concatenate(parts[:-1])


def noise_floor(seed: int = 1) -> Samples:
    """Four seconds of quiet noise, to be repeated; the same at each call."""
    chance = np.random.default_rng(seed)
    return (FLOOR * chance.standard_normal(4 * RATE)).astype(np.float32)


@dataclass(slots=True, eq=False)
class _Saying:
    samples: Samples
    urgent: bool
    name: object
    at: int = 0
    """How much of it has been read."""


class Mixer:
    """Phrases on a line of time that is counted in samples: `say` puts one on it, `read` takes the next
    samples.

    A phrase follows what is being said. An urgent one cuts off what is not urgent, and drops what waits and
    is not.
    """

    def __init__(self) -> None:
        self._queue: deque[_Saying] = deque()
        self._noise = noise_floor()
        self._position = 0
        self.dropped: list[object] = []
        """Names of phrases that were never begun."""
        self.cut: list[object] = []
        """Names of phrases that were cut off."""

    @property
    def position(self) -> int:
        """How many samples have been read."""
        return self._position

    @property
    def waiting(self) -> int:
        """How many samples of speech are still to be read."""
        pause = int(PAUSE * RATE)
        return sum(one.samples.size - one.at + pause for one in self._queue)

    def say(self, samples: Samples, *, urgent: bool = False, name: object = None) -> int | None:
        """Put a phrase on the line.

        Args:
            samples: the phrase.
            urgent: it interrupts what is not urgent.
            name: what `dropped` and `cut` call it.

        Returns:
            The position (in samples) at which it starts if nothing interrupts; None if it was dropped for
            being late.
        """
        if urgent:
            self._make_way()
        elif self.waiting > LATE * RATE:
            self.dropped.append(name)
            return None
        start = self._position + self.waiting
        self._queue.append(_Saying(samples, urgent, name))
        return start

    def read(self, count: int) -> Samples:
        """The next ``count`` samples, noise floor included."""
        at = (self._position + np.arange(count)) % self._noise.size
        out = self._noise[at]
        filled = 0
        while filled < count and self._queue:
            filled += self._pour(out[filled:])
        self._position += count
        return out

    def _pour(self, out: Samples) -> int:
        """Add the first phrase to ``out`` as far as either reaches; then its pause counts as part of it."""
        saying = self._queue[0]
        whole = saying.samples.size + int(PAUSE * RATE)
        count = min(out.size, whole - saying.at)
        spoken = saying.samples[saying.at : saying.at + count]
        out[: spoken.size] += spoken
        saying.at += count
        if saying.at >= whole:
            self._queue.popleft()
        return count

    def _make_way(self) -> None:
        kept: deque[_Saying] = deque()
        for one in self._queue:
            if one.urgent:
                kept.append(one)
            elif one.at == 0:
                self.dropped.append(one.name)
            elif one.at < one.samples.size:
                self.cut.append(one.name)
                kept.append(self._tail(one))
            else:
                kept.append(one)
        self._queue = kept
        self._drop_stale()

    @staticmethod
    def _tail(one: _Saying) -> _Saying:
        """What has been said, and the few milliseconds in which it falls silent."""
        count = min(int(2 * FADE * RATE), one.samples.size - one.at)
        samples = one.samples[: one.at + count].copy()
        samples[one.at :] *= np.linspace(1, 0, count, dtype=np.float32)
        return _Saying(samples, urgent=True, name=one.name, at=one.at)

    def _drop_stale(self) -> None:
        while self.waiting > LATE_URGENT * RATE:
            unbegun = next((one for one in self._queue if one.at == 0), None)
            if unbegun is None:
                return
            self.dropped.append(unbegun.name)
            self._queue.remove(unbegun)
