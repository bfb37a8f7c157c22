"""Sound as arrays: clips evened and joined without clicks, other rates, and non-speech sounds. Pure.

Sound is mono, float32, -1 to 1. It is never digitally silent: a low noise floor lies under everything, as in any room,
since listeners (speech recognisers above all) take exact zeros for a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from hardware.sound.loudness import Samples as Samples
from hardware.sound.loudness import momentary, true_peak

RATE: Final = 16_000
"""Samples per second, everywhere."""
LOUDNESS: Final = -20.0
"""Greatest momentary loudness of every clip, LUFS: the loudest that the most pointed clip allows without clipping."""
PEAK: Final = 0.94
"""Greatest true peak of a clip."""
FLOOR: Final = 0.0005
"""Root mean square of the noise floor (-66 dB of full scale)."""
FADE: Final = 0.005
"""Length of the fade at both ends of a clip, and of interrupted speech, s."""
CLIP_GAP: Final = 0.03
"""Pause between two clips, s."""
PAUSE_MARKS: Final = ",.:;?!-"
"""Marks at the end of a clip's name that are not spoken."""
GAPS: Final = {"-": 0.0, ",": 0.12, ":": 0.18, ";": 0.18, ".": 0.25, "?": 0.25, "!": 0.25}
"""Pause after a clip whose name ends in a mark, s."""
PAUSE: Final = 0.15
"""Pause between two phrases, s."""
BREATH: Final = 0.04
"""Pause between interrupted speech and the interrupting phrase, s."""
MARGIN: Final = 0.02
"""Silence kept at a clip's ends, s."""
_QUIET: Final = 0.005
"""Share of a clip's peak below which its ends are not speech. With 0.02 the hiss of *sixty* and *fifty* was cut."""
LATE: Final = 0.8
"""Delay, s, after which a phrase that is not urgent is dropped, unless it states its own."""
LATE_URGENT: Final = 5.0
"""The same for verdicts, s: a verdict from two piles ago is stale."""
FINER: Final = 3
"""Factor of `Upsampler`: some cards know only 48 kHz."""
_REACH: Final = 12
"""Number of samples on each side that shape a new one."""
_CUE_LEVEL: Final = 0.2
"""Peak of a cue; together with speech it stays near full scale."""


def resample(samples: Samples, rate: int) -> Samples:
    """Return the same sound at `RATE`, by its spectrum: nothing above half the lower rate is left to alias."""
    if rate == RATE or samples.size == 0:
        return samples
    # Pad both ends with silence, since a spectrum wraps the end round to the beginning.
    edge = rate // 50
    padded = np.pad(samples.astype(np.float64), edge)
    count = round(padded.size * RATE / rate)
    out = np.fft.irfft(np.fft.rfft(padded)[: count // 2 + 1], count) * (count / padded.size)
    start, length = round(edge * RATE / rate), round(samples.size * RATE / rate)
    return out[start : start + length].astype(np.float32)


def trimmed(samples: Samples) -> Samples:
    """Return the clip without the silence at its ends, except `MARGIN` s."""
    loud = np.flatnonzero(np.abs(samples) > _QUIET * np.max(np.abs(samples), initial=0.0))
    if loud.size == 0:
        return samples[:0]
    keep = int(MARGIN * RATE)
    start, stop = max(0, int(loud[0]) - keep), int(loud[-1]) + 1 + keep
    return samples[start:stop]


def evened(samples: Samples) -> Samples:
    """Return the clip at `LOUDNESS`, so that no word stands out; its true peak stays at or below `PEAK`."""
    peak = true_peak(samples)
    if peak == 0:
        return samples
    gain = 10 ** ((LOUDNESS - momentary(samples, RATE)) / 20)
    return (samples * min(gain, PEAK / peak)).astype(np.float32)


def faded(samples: Samples) -> Samples:
    """Return the clip faded in and out, so that no join clicks."""
    count = min(int(FADE * RATE), samples.size // 2)
    if count == 0:
        return np.zeros_like(samples)
    ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(count) + 0.5) / count)).astype(np.float32)
    out = samples.copy()
    out[:count] *= ramp
    out[-count:] *= ramp[::-1]
    return out


def prepared(samples: Samples, rate: int) -> Samples:
    """Turn a synthesiser's output into a clip: at `RATE`, trimmed, faded, evened."""
    return evened(faded(trimmed(resample(samples, rate))))


def gap_after(name: str) -> float:
    """Return the pause after a clip of this name, s: a mark at its end is a pause."""
    return GAPS.get(name[-1:], CLIP_GAP)


def join(clips: Sequence[Samples], gaps: Sequence[float] | None = None) -> Samples:
    """Return clips one after the other.

    Args:
        clips: the clips.
        gaps: the pause after each, s (the last one is left out); `CLIP_GAP` if not given.
    """
    if not clips:
        return np.zeros(0, np.float32)
    parts: list[Samples] = []
    for place, clip in enumerate(clips):
        parts += [clip, np.zeros(round((CLIP_GAP if gaps is None else gaps[place]) * RATE), np.float32)]
    return np.concatenate(parts[:-1])


def noise_floor() -> Samples:
    """Return four seconds of quiet noise, to be repeated; identical at each call."""
    chance = np.random.default_rng(1)
    return (FLOOR * chance.standard_normal(4 * RATE)).astype(np.float32)


class Upsampler:
    """Triples the sample rate, block after block without a seam; delayed by `_REACH` samples."""

    def __init__(self) -> None:
        # A windowed sinc: passes the band of the slower rate, and stops its mirror images.
        at = np.arange(-_REACH * FINER, _REACH * FINER + 1) / FINER
        self._kernel = (np.sinc(at) * np.hanning(at.size + 2)[1:-1]).astype(np.float32)
        self._past = np.zeros(2 * _REACH, np.float32)
        self._over: Samples = np.zeros(0, np.float32)

    def wanted(self, count: int) -> int:
        """Return the number of slower-rate samples needed for the next ``count`` faster ones."""
        return max(0, -(-(count - self._over.size) // FINER))

    def __call__(self, samples: Samples, count: int) -> Samples:
        """Return the next ``count`` samples at the faster rate, from as many new ones as `wanted` returned."""
        block = np.concatenate([self._past, samples])
        self._past = block[block.size - 2 * _REACH :]
        sparse = np.zeros(block.size * FINER, np.float32)
        sparse[::FINER] = block
        fine = np.convolve(sparse, self._kernel, mode="valid")[: samples.size * FINER]
        ready = np.concatenate([self._over, fine])
        self._over = ready[count:]
        return ready[:count].astype(np.float32)


def _pluck(pitches: tuple[float, ...], seconds: float) -> Samples:
    """Return decaying partials, as of struck wood: nothing in speech begins so steeply."""
    t = np.arange(round(seconds * RATE)) / RATE
    tone = sum(np.sin(2 * np.pi * pitch * t) / (place + 1) for place, pitch in enumerate(pitches))
    struck = tone * np.exp(-t * 6 / seconds)
    return faded((_CUE_LEVEL * struck / np.max(np.abs(struck))).astype(np.float32))


CUES: Final = {"slap": _pluck((1320.0, 3410.0, 5830.0), 0.07)}
"""By name. ``slap``: a pad was touched, whatever the touch turns out to be worth."""
