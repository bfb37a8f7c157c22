"""Loudness: our meter against the standard's own figures and against another meter, and every clip by that one."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from hardware.sound.clips import Clips, find_synthesiser
from hardware.sound.loudness import MOMENT, SILENT_LOUDNESS, Samples, high_pass, k_weighted, momentary, shelf, true_peak
from hardware.sound.splice import LOUDNESS, RATE
from referee.announce.voice import spelling, vocabulary
from referee.text.catalogue import LANGUAGES
from tests.hardware.sound.spoken import phrases_of_a_game, told

SPREAD: Final = 1.5
"""LU between the loudest and the softest clip, or sentence, at most."""
HOP: Final = 0.05


def independent(samples: Samples, rate: int = RATE) -> float:
    """Return the greatest momentary loudness by pyloudnorm, LUFS: each window measured as a separate sound.

    A sound shorter than 400 ms is one window, as long as itself.
    """
    length = min(MOMENT, samples.size / rate)
    # It imports SciPy, which takes a second.
    import pyloudnorm

    meter = pyloudnorm.Meter(rate, block_size=length)
    window = round(length * rate)
    starts = range(0, max(1, samples.size - window + 1), max(1, round(HOP * rate)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(max(meter.integrated_loudness(samples[at : at + window].astype(np.float64)) for at in starts))


def sine(pitch: float, seconds: float, rate: int, level: float = 1.0) -> Samples:
    return (level * np.sin(2 * np.pi * pitch * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def test_the_filters_are_those_of_the_standard() -> None:
    """Coefficients as BS.1770-4 prints them for 48 kHz."""
    b, a = shelf(48_000)
    assert b == pytest.approx([1.53512485958697, -2.69169618940638, 1.19839281085285], abs=1e-8)
    assert a == pytest.approx([1.0, -1.69065929318241, 0.73248077421585], abs=1e-8)
    b, a = high_pass(48_000)
    assert list(b) == [1.0, -2.0, 1.0]
    assert a == pytest.approx([1.0, -1.99004745483398, 0.99007225036621], abs=1e-8)


def test_a_full_scale_sine_measures_as_the_standard_says() -> None:
    assert momentary(sine(997, 1.0, 48_000), 48_000) == pytest.approx(-3.01, abs=0.02)
    assert momentary(sine(997, 1.0, 48_000, 0.1), 48_000) == pytest.approx(-23.01, abs=0.02)
    assert momentary(np.zeros(48_000, np.float32), 48_000) == SILENT_LOUDNESS
    assert momentary(np.zeros(0, np.float32), 48_000) == SILENT_LOUDNESS


def test_low_tones_count_less_and_high_ones_more() -> None:
    low, middle, high = (momentary(sine(pitch, 1.0, RATE), RATE) for pitch in (40, 1_000, 6_000))
    assert low < middle - 5
    assert high == pytest.approx(middle + 3.4, abs=0.4)


def test_the_filter_by_the_spectrum_is_the_recursive_filter() -> None:
    noise = np.random.default_rng(3).standard_normal(4_000).astype(np.float32)
    wanted = noise.astype(np.float64)
    for b, a in (shelf(RATE), high_pass(RATE)):
        out = np.zeros_like(wanted)
        for n in range(wanted.size):
            out[n] = sum(b[k] * wanted[n - k] for k in range(3) if n >= k)
            out[n] -= sum(a[k] * out[n - k] for k in (1, 2) if n >= k)
        wanted = out
    assert np.allclose(k_weighted(noise, RATE), wanted, atol=1e-6)


def test_a_true_peak_lies_between_samples() -> None:
    between = np.sin(np.pi / 4 + np.pi / 2 * np.arange(1_600)).astype(np.float32)
    assert float(np.abs(between).max()) == pytest.approx(0.707, abs=0.001)
    assert true_peak(between) == pytest.approx(1.0, abs=0.05)


def test_the_greatest_moment_counts() -> None:
    soft = sine(1_000, 2.0, RATE, 0.05)
    soft[RATE : RATE + 6_400] *= 4
    assert momentary(soft, RATE) == pytest.approx(momentary(sine(1_000, 1.0, RATE, 0.2), RATE), abs=0.1)


@pytest.fixture(scope="module", params=list(LANGUAGES))
def bank(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Clips]]:
    language = str(request.param)
    if shutil.which("flite" if language == "en" else "espeak-ng") is None:
        pytest.skip("no speech synthesiser: flite and espeak-ng are not installed")
    yield (
        language,
        Clips(find_synthesiser(language), Path(tmp_path_factory.getbasetemp()) / "clips", spelling(language)),
    )


def test_all_clips_are_as_loud_and_none_clips(bank: tuple[str, Clips]) -> None:
    language, clips = bank
    words = vocabulary(language)[:: 12 if language == "en" else 24]
    levels = {text: independent(clips.clip(text)) for text in words}
    assert max(levels.values()) - min(levels.values()) <= SPREAD, sorted(levels, key=lambda text: levels[text])[:5]
    assert max(levels.values()) == pytest.approx(LOUDNESS, abs=0.7)
    assert max(true_peak(clips.clip(text)) for text in words) < 1.0


def test_clips_last_as_long_as_speech(bank: tuple[str, Clips]) -> None:
    """Nothing silent, nothing cut short, nothing drawled: 30 to 250 ms a letter, where there are four or more."""
    language, clips = bank
    for text in vocabulary(language)[:: 4 if language == "en" else 12]:
        seconds = clips.clip(text).size / RATE
        assert 0.1 < seconds < 4.5, text
        assert 0.03 < seconds / max(4, len(text)) < 0.25, (text, seconds)


def test_sentences_are_as_loud_as_their_clips(bank: tuple[str, Clips]) -> None:
    language, clips = bank
    said = [*phrases_of_a_game(language)[::12], *told(3, language)]
    levels = [independent(clips.phrase(phrase.clips)) for phrase in said]
    assert max(levels) - min(levels) <= SPREAD


def test_joins_do_not_click(bank: tuple[str, Clips]) -> None:
    """A join makes no step: none there is greater than at the clips' own ends, or than a fifth of their greatest."""
    language, clips = bank
    for first, second in zip(vocabulary(language)[::40], vocabulary(language)[1::40], strict=False):
        one, two = clips.clip(first), clips.clip(second)
        within, own = (
            max(float(np.abs(np.diff(x)).max()) for x in pair) for pair in ((one, two), (one[-80:], two[:80]))
        )
        for mark in ("", ",", "-"):
            joined = clips.phrase([first + mark, second])
            seam = joined[one.size - 80 : joined.size - two.size + 80]
            assert float(np.abs(np.diff(seam)).max()) <= max(own, 0.2 * within)
