"""Joining and mixing: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.mixing import (
    FLOOR,
    GAP,
    LATE,
    LOUDNESS,
    PAUSE,
    PEAK,
    RATE,
    Mixer,
    Samples,
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
        assert rms(prepared(tone(0.5, level), RATE)) == pytest.approx(LOUDNESS, rel=0.1)
    spiky = tone(0.5, 0.02)
    spiky[4_000] = 1.0
    assert float(np.abs(prepared(spiky, RATE)).max()) <= PEAK + 1e-6


def test_silence_at_the_ends_is_trimmed() -> None:
    quiet = np.zeros(RATE, np.float32)
    clip = prepared(np.concatenate([quiet, tone(0.5), quiet]), RATE)
    assert clip.size / RATE == pytest.approx(0.52, abs=0.01)
    assert prepared(quiet, RATE).size == 0


def test_joins_do_not_click() -> None:
    clip = prepared(tone(0.2), RATE)
    joined = join([clip, clip])
    assert joined.size == 2 * clip.size + int(GAP * RATE)
    assert float(np.abs(np.diff(joined)).max()) <= float(np.abs(np.diff(clip)).max()) + 1e-6
    assert abs(float(clip[0])) < 0.001
    assert join([]).size == 0


def test_another_rate_keeps_length_and_pitch() -> None:
    there = resample(tone(0.5, rate=22_050), 22_050)
    assert there.size == pytest.approx(0.5 * RATE, abs=1)
    assert rms(there - tone(0.5)[: there.size]) < 0.02


def test_nothing_is_digitally_silent() -> None:
    heard = Mixer().read(RATE)
    assert rms(heard) == pytest.approx(FLOOR, rel=0.05)
    assert np.count_nonzero(heard) > 0.99 * heard.size


def test_reading_in_pieces_gives_the_same_sound() -> None:
    one, other = Mixer(), Mixer()
    for mixer in (one, other):
        mixer.say(tone(0.3))
        mixer.say(tone(0.2))
    pieces = [other.read(count) for count in (1, 7_999, 160, 7_840)]
    assert np.array_equal(one.read(RATE), np.concatenate(pieces))


def test_a_phrase_follows_the_one_before() -> None:
    mixer = Mixer()
    mixer.read(100)
    assert mixer.say(tone(0.5)) == 100
    assert mixer.say(tone(0.5)) == 100 + int(0.5 * RATE) + int(PAUSE * RATE)


def test_a_late_count_is_dropped() -> None:
    mixer = Mixer()
    mixer.say(tone(LATE + 0.1))
    assert mixer.say(tone(0.5), name="two chances left") is None
    assert mixer.dropped == ["two chances left"]


def test_a_verdict_interrupts_a_count_without_a_click() -> None:
    mixer = Mixer()
    mixer.say(tone(0.7), name="count")
    mixer.say(tone(0.3), name="waiting")
    before = mixer.read(RATE // 2)
    start = mixer.say(tone(0.4), urgent=True, name="verdict")
    assert start is not None
    assert start - mixer.position <= int(0.011 * RATE) + int(PAUSE * RATE)
    assert (mixer.cut, mixer.dropped) == (["count"], ["waiting"])
    heard = np.concatenate([before, mixer.read(RATE)])
    assert float(np.abs(np.diff(heard)).max()) < 0.05


def test_verdicts_are_spoken_to_their_end_but_old_news_is_not() -> None:
    mixer = Mixer()
    for number in range(6):
        mixer.say(tone(2.0), urgent=True, name=number)
        mixer.read(RATE // 10)
    assert mixer.cut == []
    assert mixer.dropped == [1, 2, 3], "the first had begun, the latest are the news"
