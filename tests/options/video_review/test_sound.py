"""The ear: onsets in a sound, the sound's clock against the video's, and the hands that it tells apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from referee.engine.observations import Card, Observation, Slap
from referee.errors import UserError
from referee.options.video_review.dispute import Dispute
from referee.options.video_review.footage_log import FrameSpan, footage_table
from referee.options.video_review.hearing import SOUND_ERROR, HandSpan, fit_sound, hear_hands
from referee.options.video_review.sound import RATE, Onset, Sound, find_onsets, listen, read_sound
from referee.units import MS, SECOND
from tools.measure.video_sound import Room, render, write_sound

FRAME = SECOND // 30
LENGTH = 60 * SECOND
OFFSET = 83 * MS


def span(t: int, key: object = None) -> HandSpan:
    """Return the interval between the two frames around an instant."""
    return HandSpan(t if key is None else key, t // FRAME * FRAME, (t // FRAME + 1) * FRAME)


def lone_hands(count: int = 24) -> list[int]:
    """Return hands that fall alone, each elsewhere within its frame."""
    return [2 * SECOND + n * 2 * SECOND + n * 7 * MS for n in range(count)]


def onsets_of(hands: list[int], offset: int = OFFSET, level: float = 0.0) -> list[Onset]:
    return [Onset(t + offset, level) for t in sorted(hands)]


@pytest.mark.parametrize("noise", ["", "talk", "music"])
def test_every_slap_of_a_noisy_evening_is_found(noise: str) -> None:
    hands = lone_hands(12)
    found = find_onsets(render(Room(5, 6, noise, -20), LENGTH // 2, hands, []))
    # Sound travels 0.3 to 0.9 m to the microphone. A drum may fall on a slap.
    missed = [hand for hand in hands if not any(0 <= onset.t - hand <= 4 * MS for onset in found)]
    assert len(missed) <= (noise == "music")


def test_two_slaps_twelve_milliseconds_apart_are_two_onsets() -> None:
    hands = [2 * SECOND, 2 * SECOND + 12 * MS]
    found = [onset.t for onset in find_onsets(render(Room(6), 4 * SECOND, hands, []))]
    assert [any(0 <= t - hand <= 4 * MS for t in found) for hand in hands] == [True, True]


def test_an_echo_is_no_onset() -> None:
    time = np.arange(RATE // 20) / RATE
    slap = np.random.default_rng(1).normal(0, 1, len(time)) * np.exp(-time / 0.006)
    sound = np.random.default_rng(2).normal(0, 1e-3, 4 * RATE)
    for at, height in ((2.0, 1.0), (2.022, 0.45)):
        begin = round(at * RATE)
        sound[begin : begin + len(slap)] += height * slap
    assert len(find_onsets(sound)) == 1


@pytest.mark.parametrize("drift", [-1e-4, 0, 1e-4])
def test_hands_that_fell_alone_show_how_late_the_sound_is(drift: float) -> None:
    hands = lone_hands()
    fit = fit_sound([Onset(round(t * (1 + drift)) + OFFSET, 0.0) for t in hands], [span(t) for t in hands])
    assert fit is not None
    for t in hands:
        sound = round(t * (1 + drift)) + OFFSET
        assert abs(fit.instant(sound) - t) <= fit.error(sound) < 12 * MS


def test_few_hands_and_foreign_sounds_show_no_clock() -> None:
    hands = lone_hands()
    assert fit_sound(onsets_of(hands[:3]), [span(t) for t in hands[:3]]) is None
    other = np.random.default_rng(3).integers(2 * SECOND, 50 * SECOND, 40).tolist()
    assert fit_sound(onsets_of(other), [span(t) for t in hands]) is None
    assert fit_sound([], [span(t) for t in hands]) is None


def heard(late: list[int], silent: int = 0, more: tuple[int, ...] = ()) -> dict[Any, int]:
    """Return the instants of heard hands after a lone one, ns after it; the last ``silent`` hands make no sound."""
    alone, base = lone_hands(), 55 * SECOND
    group = [base + t for t in late]
    loud = [*alone, *group[: len(group) - silent], *(base + t for t in more)]
    spans = [*(span(t) for t in alone), *(span(t, ("late", n)) for n, t in enumerate(group))]
    onsets = onsets_of(loud)
    fit = fit_sound(onsets, spans)
    assert fit is not None
    found = hear_hands(onsets, fit, spans)
    return {key[1]: hand.t - base for key, hand in found.items() if isinstance(key, tuple)}


def test_hands_in_neighbouring_frames_are_told_apart() -> None:
    # 55 s is the beginning of a frame.
    told = heard([20 * MS, 45 * MS])
    assert abs(told[1] - told[0] - 25 * MS) <= 2 * SOUND_ERROR


def test_hands_in_one_frame_are_not_told_apart_for_either_order_fits() -> None:
    assert heard([8 * MS, 26 * MS]) == {}


def test_a_silent_hand_or_a_sound_too_many_tells_nothing() -> None:
    assert heard([20 * MS, 45 * MS], silent=1) == {}
    assert heard([20 * MS, 45 * MS], more=(33 * MS,)) == {}


def game(hands: list[tuple[int, int]], sound: Sound | None) -> tuple[Dispute, list[Slap]]:
    """Return a dispute with a double every two seconds, hands marked on each (seat and instant), and its slaps."""
    seen: list[Observation] = [
        Card(t=n * 2 * SECOND + 1_500 * MS, id=f"c{n + 1}", card=f"{'23456789TJQKA'[n // 2 % 13]}{'hc'[n % 2]}")
        for n in range(29)
    ]
    frames = [FrameSpan(n * FRAME, 0) for n in range(LENGTH // FRAME)]
    told = Dispute(footage_table(("Ana", "Ben"), "classic", seen), seen, frames, sound)
    for seat, t in hands:
        frame = t // FRAME + 1
        moment = next(m for m in reversed(told.moments) if m.card.t <= t)
        told.mark(moment.card.id, seat, frame)
    return told, [line for line in told.lines() if isinstance(line, Slap)]


def test_a_dead_heat_by_frames_is_settled_by_sound_and_stays_one_without() -> None:
    alone = [(1, t) for t in lone_hands()]
    # The last double comes up at 55.5 s.
    pair = [(1, 56 * SECOND + 20 * MS), (2, 56 * SECOND + 45 * MS)]
    hands = [*alone, *pair]
    sound = Sound(tuple(onsets_of([t for _, t in hands])), ())
    for heard_sound, error in ((None, FRAME // 2), (sound, SOUND_ERROR)):
        told, slaps = game(hands, heard_sound)
        last = slaps[-2:]
        assert [slap.t_error <= error + 1 for slap in last] == [True, True]
        assert [slap.extra.get("by_sound", False) for slap in last] == [heard_sound is not None] * 2
        by_kind = {ruling.kind for ruling in told.rule() if "c28" in str(ruling.id)}
        assert ("dead_heat" in by_kind) == (heard_sound is None), by_kind


def test_cards_beside_heard_hands_are_known_less_well_by_the_error_of_the_sounds_clock() -> None:
    alone = [(1, t) for t in lone_hands()]
    told, _ = game(alone, Sound(tuple(onsets_of([t for _, t in alone])), ()))
    clock = max(hand.clock_error for hand in told.hand_instants().values())
    assert 0 < clock < 12 * MS
    assert max(line.t_error for line in told.lines() if isinstance(line, Card)) == clock


def test_the_sound_of_a_video_is_read(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="PyAV reads the sound of videos; it is not installed")
    hands = [SECOND, 2 * SECOND]
    file = tmp_path / "film.mkv"
    write_sound(file, render(Room(7), 3 * SECOND, hands, []))
    found = listen(read_sound(file)).onsets
    # The encoder delays all of it alike.
    first, second = (min((onset.t - hand for onset in found), key=abs) for hand in hands)
    assert abs(first - second) <= 2 * SOUND_ERROR
    assert 0 <= first <= 60 * MS


def test_without_the_library_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UserError, match="install PyAV"):
        read_sound(tmp_path / "film.mp4")
