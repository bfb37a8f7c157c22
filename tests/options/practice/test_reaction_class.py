"""A class at reaction trials: the participants, and one stimulus for all, in event time."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from referee.options.classroom.pupils import MOST_PUPILS
from referee.options.classroom.reaction_class import (
    MOST_TRIES,
    SHOW_PATIENCE,
    ReactionClass,
    RoundPhase,
    SharedRounds,
)
from referee.options.classroom.reaction_trials import LEFT, RIGHT, Timed, TrialEnd
from referee.text.catalogue import LANGUAGES, texts
from referee.units import MS, SECOND

STEP = 10 * MS


def seat(room: ReactionClass, *devices: str) -> SharedRounds:
    """Return rounds that these devices have joined."""
    rounds = SharedRounds(room, SECOND, random.Random(3))
    for device in devices:
        rounds.press(device, Timed(0, 0))
    return rounds


def play_round(rounds: SharedRounds, now: int, hands: dict[str, int], silent: tuple[str, ...] = ()) -> int:
    """Play one round in which hands come this long after the stimulus, ns; return the instant after it."""
    number = rounds.number
    while not rounds.advance(now, now):
        now += STEP
    shown = now + 7 * MS
    coming = sorted((shown + after, device) for device, after in hands.items())
    rounds.show(Timed(shown, 2 * MS))
    while rounds.phase is RoundPhase.OPEN:
        now += STEP
        while coming and coming[0][0] <= now:
            t, device = coming.pop(0)
            rounds.press(device, Timed(t, MS))
        rounds.advance(now, now, silent)
    assert rounds.number in (number, number + 1)
    return now


def test_pupils_are_numbered_by_their_first_touch_and_measured_by_the_stimulus_for_all() -> None:
    room = ReactionClass(2)
    rounds = seat(room, "b", "a", "b")
    assert room.pupils == {"b": 1, "a": 2}
    assert rounds.begin(0) and not rounds.begin(0)
    now = play_round(rounds, 0, {"a": 250 * MS, "b": 300 * MS})
    rounds.press("c", Timed(now, 0))
    play_round(rounds, now, {"a": 40 * MS})
    told = [(trial.pupil, trial.number, trial.end, trial.reaction) for trial in room.trials]
    assert told == [
        (1, 1, TrialEnd.REACTION, 300 * MS), (2, 1, TrialEnd.REACTION, 250 * MS),
        (1, 2, TrialEnd.MISSED, None), (2, 2, TrialEnd.FALSE_START, 40 * MS),
    ]  # fmt: skip
    assert (room.next_number(1), room.next_number(2)) == (None, 2)
    assert all(trial.error == 3 * MS for trial in room.trials if trial.reaction is not None)
    assert all(trial.wait >= SECOND for trial in room.trials)


def test_the_rounds_end_by_themselves_and_the_next_pupils_take_the_same_pads() -> None:
    room = ReactionClass(1, hands=True)
    rounds = seat(room, "pad 1")
    rounds.begin(0)
    now = play_round(rounds, 0, {"pad 1": 200 * MS})
    rounds.advance(now + SECOND, now + SECOND)
    assert rounds.phase is RoundPhase.IDLE and not rounds.begin(now), "everybody has made theirs"
    room.relieve()
    rounds.press("pad 1", Timed(now, 0))
    assert room.pupils == {"pad 1": 2} and rounds.begin(now + SECOND)
    assert rounds.hand == LEFT


def test_who_was_early_has_a_further_round_with_the_hand_that_is_owed() -> None:
    room = ReactionClass(4, hands=True)
    rounds = seat(room, "a", "b")
    rounds.begin(0)
    now = play_round(rounds, 0, {"a": 40 * MS, "b": 250 * MS})
    for _ in range(3):
        now = play_round(rounds, now, {"a": 250 * MS, "b": 250 * MS})
    assert (room.next_number(1), room.next_number(2)) == (4, None)
    now = play_round(rounds, now, {"a": 30 * MS})
    assert (rounds.number, rounds.hand) == (5, LEFT)
    now = play_round(rounds, now, {"a": 250 * MS, "b": 250 * MS})
    rounds.advance(now + SECOND, now + SECOND)
    assert rounds.phase is RoundPhase.IDLE
    told = [(trial.number, trial.hand, trial.end) for trial in room.of(1)]
    false, reaction = TrialEnd.FALSE_START, TrialEnd.REACTION
    assert told == [
        (1, LEFT, false), (1, RIGHT, reaction), (2, RIGHT, reaction), (3, LEFT, reaction), (4, LEFT, false),
        (4, LEFT, reaction),
    ]  # fmt: skip
    assert len(room.of(2)) == 4, "no further round was theirs"


def test_a_hand_before_the_stimulus_is_a_false_start_and_one_before_the_round_is_nothing() -> None:
    room = ReactionClass(4)
    rounds = seat(room, "a", "b")
    rounds.begin(10 * SECOND)
    rounds.press("a", Timed(9 * SECOND, 0))
    rounds.press("b", Timed(10 * SECOND + 5, 0))
    play_round(rounds, 10 * SECOND + STEP, {"a": 200 * MS})
    assert [trial.end for trial in room.trials] == [TrialEnd.REACTION, TrialEnd.FALSE_START]


def test_a_stimulus_that_nobody_shows_measures_nobody() -> None:
    room = ReactionClass(3)
    rounds = seat(room, "a")
    rounds.begin(0)
    now = 0
    while not rounds.advance(now, now):
        now += STEP
    rounds.press("a", Timed(now + 200 * MS, 0))
    rounds.advance(now + SHOW_PATIENCE, now)
    assert (rounds.phase, rounds.unseen, room.trials) == (RoundPhase.IDLE, True, [])
    rounds.show(Timed(now, 0))
    assert rounds.phase is RoundPhase.IDLE, "word of it that comes now is too late"


def test_whose_device_is_silent_has_not_missed_anything() -> None:
    room = ReactionClass(3)
    rounds = seat(room, "a", "b")
    rounds.begin(0)
    play_round(rounds, 0, {"a": 200 * MS}, silent=("b",))
    assert [trial.end for trial in room.trials] == [TrialEnd.REACTION, TrialEnd.UNHEARD]


def test_a_late_report_is_waited_for_before_a_miss_is_told() -> None:
    room = ReactionClass(3)
    rounds = seat(room, "a", "b")
    rounds.begin(0)
    now = 0
    while not rounds.advance(now, now):
        now += STEP
    rounds.show(Timed(now, 0))
    later = now + 3 * SECOND
    rounds.advance(later, now + SECOND)
    assert rounds.phase is RoundPhase.OPEN, "reported up to a second after it only"
    rounds.press("a", Timed(now + 400 * MS, 0))
    rounds.advance(later, now + 2 * SECOND)
    assert [trial.reaction for trial in room.trials] == [400 * MS, None]


def test_a_class_has_an_end_and_is_forgotten_whole() -> None:
    room = ReactionClass(1)
    numbers = [room.admit(str(n)) for n in range(MOST_PUPILS + 1)]
    assert numbers == [*range(1, MOST_PUPILS + 1), None]
    room.forget()
    assert (room.admit("x"), room.trials, room.members) == (MOST_PUPILS + 1, [], (MOST_PUPILS + 1,))


def test_each_phone_has_a_nickname_of_its_own_in_any_mix_of_languages() -> None:
    room = ReactionClass(1)
    lists = [texts(language)("nickname.animals").split() for language in LANGUAGES]
    for n in range(MOST_PUPILS):
        room.offer_nicknames(str(n), lists[n * n % len(lists)])
        room.admit(str(n))
    given = [room.nicknames[pupil] for pupil in room.pupils.values()]
    assert len({name.casefold() for name in given}) == MOST_PUPILS
    assert all(name in lists[n * n % len(lists)] for n, name in enumerate(given))
    before = room.nicknames[1]
    room.relieve("0")
    assert room.admit("0") == MOST_PUPILS + 1 and room.nicknames[MOST_PUPILS + 1] == before, "it was free again"
    room.forget()
    assert room.admit("key") is not None and not room.nicknames


@given(st.integers(0, 1000), st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True), st.integers(1, 8))
def test_everybody_makes_as_many_trials_whatever_hands_do(seed: int, devices: list[str], each: int) -> None:
    chance = random.Random(seed)
    room = ReactionClass(each, hands=True)
    rounds = seat(room, *devices)
    now = 0
    rounds.begin(now)
    while rounds.phase is not RoundPhase.IDLE:
        if rounds.phase is not RoundPhase.WAITING:
            now += STEP
            rounds.advance(now, now)
            continue
        hands = {device: chance.randint(0, 2000) * MS for device in devices if chance.random() < 0.8}
        now = play_round(rounds, now, hands)
    for pupil in range(1, len(devices) + 1):
        tries = [[trial for trial in room.of(pupil) if trial.number == number] for number in range(1, each + 1)]
        assert sum(map(len, tries)) == len(room.of(pupil)), "no other number"
        for same in tries:
            assert all(trial.end is TrialEnd.FALSE_START for trial in same[:-1])
            assert same[-1].end is not TrialEnd.FALSE_START or len(same) == MOST_TRIES
        assert {trial.hand for trial in room.of(pupil)} <= {LEFT, RIGHT}
