"""The order of speech: interruptions, dropped phrases, and phrases on top of everything."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.sound.loudness import true_peak
from hardware.sound.mixer import Mixer
from hardware.sound.splice import CUES, FLOOR, LATE, PAUSE, RATE, Samples


def tone(seconds: float, level: float = 0.3) -> Samples:
    t = np.arange(int(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * 220 * t)).astype(np.float32)


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
    assert list(mixer.dropped) == ["two chances left"]


def test_a_verdict_interrupts_a_count_without_a_click() -> None:
    mixer = Mixer()
    mixer.say(tone(0.7), name="count")
    mixer.say(tone(0.3), name="waiting")
    before = mixer.read(RATE // 2)
    start = mixer.say(tone(0.4), urgent=True, name="verdict")
    assert start is not None
    assert start - mixer.position <= int(0.05 * RATE), "a breath, and the verdict"
    assert (list(mixer.cut), list(mixer.dropped)) == (["count"], ["waiting"])
    heard = np.concatenate([before, mixer.read(RATE)])
    assert float(np.abs(np.diff(heard)).max()) < 0.05


def test_verdicts_are_spoken_to_their_end_but_old_news_is_not() -> None:
    mixer = Mixer()
    for number in range(6):
        mixer.say(tone(2.0), urgent=True, name=number)
        mixer.read(RATE // 10)
    assert not mixer.cut
    assert list(mixer.dropped) == [1, 2, 3], "the first had begun, the latest are the news"


def test_what_ceased_to_be_true_while_it_waited_is_not_spoken() -> None:
    mixer = Mixer()
    mixer.say(tone(2.0), urgent=True, name="verdict")
    mixer.say(tone(0.5), name="camera gone", topic="camera", patience=10)
    mixer.say(tone(0.5), name="camera back", topic="camera", patience=10)
    assert list(mixer.dropped) == ["camera gone"]
    mixer.read(RATE // 2)
    mixer.say(tone(2.0), urgent=True, name="another", topic="camera")
    assert list(mixer.dropped) == ["camera gone", "camera back"]


def test_what_is_being_said_is_not_cut_off_by_its_topic() -> None:
    mixer = Mixer()
    mixer.say(tone(1.0), name="three left", topic="challenge", patience=5)
    mixer.read(100)
    assert mixer.say(tone(1.0), name="two left", topic="challenge", patience=5) == 100 + int((1 + PAUSE) * RATE) - 100
    assert not mixer.dropped
    assert not mixer.cut


def test_news_that_was_held_up_beyond_its_patience_is_never_begun() -> None:
    mixer = Mixer()
    mixer.say(tone(1.0), name="first", patience=1)
    mixer.say(tone(0.5), name="count", patience=2)
    mixer.lost(3.0)
    heard = mixer.read(2 * RATE)
    assert list(mixer.dropped) == ["first", "count"]
    assert float(np.abs(heard).max()) < 10 * FLOOR


def test_what_was_cut_off_by_a_lost_card_begins_anew() -> None:
    mixer = Mixer()
    mixer.say(tone(1.0), urgent=True, name="verdict")
    mixer.read(RATE // 2)
    mixer.lost(1.0)
    heard = np.abs(mixer.read(2 * RATE)) > 0.1
    assert np.flatnonzero(heard)[-1] == pytest.approx(RATE, abs=50), "the whole second of it"


def test_a_cue_lies_over_speech_at_once_and_cuts_nothing() -> None:
    plain, cued = Mixer(), Mixer()
    for mixer in (plain, cued):
        mixer.say(tone(1.0))
        mixer.read(1_000)
    cued.cue(CUES["slap"])
    pieces = np.concatenate([cued.read(500), cued.read(3_500)])
    difference = pieces - plain.read(4_000)
    assert np.allclose(difference[: CUES["slap"].size], CUES["slap"], atol=1e-6)
    assert not difference[CUES["slap"].size :].any()


def test_the_cue_is_short_and_unlike_speech() -> None:
    slap = CUES["slap"]
    assert slap.size < 0.1 * RATE
    assert true_peak(slap) < 0.25
    loudest = int(np.argmax(np.abs(slap)))
    assert loudest < 0.01 * RATE, "it is there at once"
    spectrum = np.abs(np.fft.rfft(slap))
    assert spectrum[: int(1000 * slap.size / RATE)].sum() < 0.1 * spectrum.sum(), "above the voice's own tone"


def test_the_volume_is_faded_and_full_scale_is_never_passed() -> None:
    level = 1.0
    mixer = Mixer(lambda: level)
    mixer.say(tone(3.0, 0.9))
    loud = mixer.read(RATE)
    level = 0.1
    falling, soft = mixer.read(RATE // 10), mixer.read(RATE)
    assert float(np.abs(soft).max()) == pytest.approx(0.09, abs=0.005)
    whole = np.concatenate([loud, falling, soft])
    assert float(np.abs(np.diff(whole)).max()) <= float(np.abs(np.diff(loud)).max()) + 0.01, "no click"
    full = Mixer()
    full.say(tone(1.0, 1.0))
    full.cue(CUES["slap"])
    assert float(np.abs(full.read(RATE)).max()) <= 1.0
