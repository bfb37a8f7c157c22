"""Loudness by ITU-R BS.1770, for one channel: pure, arrays in and numbers out.

*Momentary* loudness covers 400 ms, K-weighted: a shelf for the head, a high-pass for the ear's insensitivity to low
tones. A shorter sound is measured over its own length. (Padded with silence to 400 ms, a short word would count as soft
and would be made louder than the words beside it.)
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Biquad = tuple[NDArray[np.float64], NDArray[np.float64]]

MOMENT: Final = 0.4
"""Length of the window of momentary loudness, s (EBU Tech 3341)."""
SILENT_LOUDNESS: Final = -120.0
"""Loudness of silence, LUFS, in place of minus infinity."""
_OFFSET: Final = -0.691
"""Calibrates a full-scale sine of 997 Hz in one channel to -3.01 (BS.1770-4, annex 1)."""
_TAIL: Final = 0.2
"""Decay time of the filters' response, s."""
_OVERSAMPLED: Final = 4


def shelf(rate: int) -> Biquad:
    """Return stage 1 of the K-weighting at any rate: +4 dB above 1.7 kHz.

    It is the analogue filter behind the coefficients that BS.1770-4 prints for 48 kHz, converted to ``rate`` by the
    bilinear transform.
    """
    k = np.tan(np.pi * 1681.974450955533 / rate)
    gain, q = 10 ** (3.999843853973347 / 20), 0.7071752369554196
    middle = gain**0.4996667741545416
    b = np.array([gain + middle * k / q + k * k, 2 * (k * k - gain), gain - middle * k / q + k * k])
    a = np.array([1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k])
    return b / a[0], a / a[0]


def high_pass(rate: int) -> Biquad:
    """Return stage 2 of the K-weighting at any rate: 38 Hz. Its numerator is not scaled, as in the recommendation."""
    k, q = np.tan(np.pi * 38.13547087602444 / rate), 0.5003270373238773
    a = np.array([1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k])
    return np.array([1.0, -2.0, 1.0]), a / a[0]


def k_weighted(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Return the K-weighted sound; the number of samples stays the same."""
    # A power of two makes the transform fastest.
    count = 1 << (samples.size + int(_TAIL * rate)).bit_length()
    turns = np.exp(-2j * np.pi * np.fft.rfftfreq(count))
    spectrum = np.fft.rfft(samples.astype(np.float64), count)
    for b, a in (shelf(rate), high_pass(rate)):
        spectrum *= (b[0] + turns * (b[1] + turns * b[2])) / (a[0] + turns * (a[1] + turns * a[2]))
    return np.fft.irfft(spectrum, count)[: samples.size]


def momentary(samples: Samples, rate: int) -> float:
    """Return the greatest momentary loudness, LUFS; for a sound shorter than `MOMENT`, that of the whole sound."""
    if samples.size == 0:
        return SILENT_LOUDNESS
    power = np.concatenate([[0.0], np.cumsum(k_weighted(samples, rate) ** 2)])
    window = min(samples.size, int(MOMENT * rate))
    return _lufs(float(np.max(power[window:] - power[:-window])) / window)


BLOCK: Final = 0.01
"""Length of the blocks of `block_energies`, s."""


def block_energies(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Return the K-weighted energy of each `BLOCK`: the input of `momentary_of` for joined sounds."""
    length = round(BLOCK * rate)
    squares = k_weighted(samples, rate) ** 2
    blocks: NDArray[np.float64] = np.pad(squares, (0, -squares.size % length)).reshape(-1, length).sum(axis=1)
    return blocks


def momentary_of(energies: NDArray[np.float64], rate: int) -> float:
    """Return the greatest momentary loudness, LUFS, of a sound with these energies; accurate to about 0.1 LU."""
    if energies.size == 0:
        return SILENT_LOUDNESS
    window = min(energies.size, round(MOMENT / BLOCK))
    sums = np.concatenate([[0.0], np.cumsum(energies)])
    return _lufs(float(np.max(sums[window:] - sums[:-window])) / (window * round(BLOCK * rate)))


def true_peak(samples: Samples) -> float:
    """Return the greatest value including those between samples, 1 being full scale (four times oversampled)."""
    if samples.size == 0:
        return 0.0
    padded = np.concatenate([np.zeros(64, np.float32), samples, np.zeros(64, np.float32)])
    fine = np.fft.irfft(np.fft.rfft(padded), _OVERSAMPLED * padded.size) * _OVERSAMPLED
    return float(np.max(np.abs(fine)))


def _lufs(power: float) -> float:
    return max(SILENT_LOUDNESS, _OFFSET + 10 * np.log10(power)) if power > 0 else SILENT_LOUDNESS
