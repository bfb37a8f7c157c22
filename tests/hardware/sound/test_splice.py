"""Joining and mixing: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.sound.loudness import momentary, true_peak
from hardware.sound.mixer import Mixer
from hardware.sound.splice import (
    CLIP_GAP,
    FLOOR,
    GAPS,
    LOUDNESS,
    MARGIN,
    PEAK,
    RATE,
    Samples,
    gap_after,
    join,
    prepared,
    resample,
)


def tone(seconds: float, level: float = 0.3, rate: int = RATE) -> Samples:
    t = np.arange(int(seconds * rate)) / rate
    return (level * np.sin(2 * np.pi * 220 * t)).astype(np.float32)


def rms(samples: Samples) -> float:
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2)))


def test_clips_are_evenly_loud_and_never_clipped() -> None:
    for level in (0.01, 0.3, 0.9):
        assert momentary(prepared(tone(0.5, level), RATE), RATE) == pytest.approx(LOUDNESS, abs=0.01)
    spiky = tone(0.5, 0.02)
    spiky[4_000] = 1.0
    assert true_peak(prepared(spiky, RATE)) <= PEAK + 1e-6


def test_silence_at_the_ends_is_trimmed() -> None:
    quiet = np.zeros(RATE, np.float32)
    clip = prepared(np.concatenate([quiet, tone(0.5), quiet]), RATE)
    assert clip.size / RATE == pytest.approx(0.5 + 2 * MARGIN, abs=0.005), "but for what a hiss may need"
    assert prepared(quiet, RATE).size == 0


def test_joins_do_not_click() -> None:
    clip = prepared(tone(0.2), RATE)
    joined = join([clip, clip])
    assert joined.size == 2 * clip.size + int(CLIP_GAP * RATE)
    assert float(np.abs(np.diff(joined)).max()) <= float(np.abs(np.diff(clip)).max()) + 1e-6
    assert abs(float(clip[0])) < 0.001
    assert join([]).size == 0


def test_marks_are_pauses_and_a_hyphen_is_none() -> None:
    clip = prepared(tone(0.2), RATE)
    names = ["seat two,", "einhundert-", "no mark"]
    assert [gap_after(name) for name in names] == [GAPS[","], 0.0, CLIP_GAP]
    joined = join([clip] * 3, [gap_after(name) for name in names])
    assert joined.size == 3 * clip.size + int(GAPS[","] * RATE)


def test_another_rate_brings_no_aliases() -> None:
    t = np.arange(22_050) / 22_050
    hiss = (0.3 * np.sin(2 * np.pi * 9_500 * t)).astype(np.float32)
    assert rms(resample(hiss, 22_050)[100:-100]) < 0.001, "9.5 kHz has no place at 16 kHz"


def test_another_rate_keeps_length_and_pitch() -> None:
    there = resample(tone(0.5, rate=22_050), 22_050)
    assert there.size == pytest.approx(0.5 * RATE, abs=1)
    assert rms(there - tone(0.5)[: there.size]) < 0.02


def test_nothing_is_digitally_silent() -> None:
    heard = Mixer().read(RATE)
    assert rms(heard) == pytest.approx(FLOOR, rel=0.05)
    assert np.count_nonzero(heard) > 0.99 * heard.size
