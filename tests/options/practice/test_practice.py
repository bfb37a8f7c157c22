"""Practice for one: the piles, the order, the judging, and a whole lesson with simulated pads."""

from __future__ import annotations

import os
import pty
import random
from collections.abc import Mapping, Sequence

import pytest

from hardware.simulated.devices.simulated_pads import SimulatedPads
from hardware.sound.volume import Volume
from referee.errors import UserError
from referee.options.practice.lesson import (
    AFTER_PILE,
    BEFORE_PILE,
    KNOWN_BOX,
    NO_PATTERN,
    Lesson,
    Prompt,
    PromptKind,
    Repetition,
    Try,
    deal,
    held,
    report,
    taught,
)
from referee.options.practice.trainer import (
    KEY_ERROR,
    KeySlaps,
    PadSlaps,
    TimedSlap,
    draw_prompts,
    light_prompts,
    play_lesson,
    speak_prompts,
)
from referee.rules.house import HouseRules, read_house_rules
from referee.rules.presets import PRESETS
from referee.units import MS

PACE = 1000 * MS
CLASSIC = read_house_rules("classic")


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_pile_makes_its_pattern_with_the_last_card_and_nothing_before(preset: str) -> None:
    rules, chance = read_house_rules(preset), random.Random(5)
    for row in (*taught(rules)[0], NO_PATTERN):
        for _ in range(5):
            pile = deal(row, rules, chance)
            assert pile is not None
            assert len(set(pile)) == len(pile), "one pack"
            assert all(held(pile[:many], rules) == () for many in range(len(pile)))
            assert (row in held(pile, rules)) if row else held(pile, rules) == ()


def test_what_always_comes_after_another_pattern_is_said_and_not_dealt() -> None:
    rules = read_house_rules({"base": "classic", "on": ["P3b", "P15"]})
    can, cannot = taught(rules)
    assert can == ("P1", "P2")
    assert set(cannot) == {"P3b", "P15"}, "7 K K 7 holds a double; a count match needs a challenge"


def test_own_patterns_are_practised_too() -> None:
    rules = read_house_rules(
        {"base": "classic", "on": ["P19"], "set": {"P19": {"ace on king": "rank(1) = A and rank(2) = K"}}}
    )
    assert "P19:ace on king" in taught(rules)[0]
    lesson = _lesson(rules, steps=False)
    assert "ace on king" in lesson._says(("P19:ace on king",))


def test_what_was_missed_comes_back_sooner_than_what_is_known() -> None:
    order = Repetition(["P1", "P2"], random.Random(3), known=("P1", "P2"))
    seen = {"P1": 0, "P2": 0}
    for _ in range(200):
        row, _ = order.next()
        if row:
            seen[row] += 1
        order.result(row, row != "P2")
    assert seen["P2"] > 2 * seen["P1"]
    assert order.box("P2") == 0


def test_patterns_are_introduced_one_after_another_when_the_last_is_known() -> None:
    order = Repetition(["P1", "P2", "P6"], random.Random(2))
    assert order.next() == ("P1", True)
    order.result("P1", False)
    for _ in range(30):
        row, new = order.next()
        assert not new, "P1 is not known yet"
        order.result(row, row == NO_PATTERN)
    while order.box("P1") < KNOWN_BOX:
        row, _ = order.next()
        order.result(row, True)
    assert order.next() == ("P2", True)


def test_who_slaps_at_nothing_gets_more_of_nothing() -> None:
    def empties(rash: bool) -> int:
        order = Repetition(["P1"], random.Random(4), known=("P1",))
        many = 0
        for _ in range(300):
            row, _ = order.next()
            many += row == NO_PATTERN
            order.result(row, row != NO_PATTERN or not rash)
        return many

    assert empties(rash=True) > 1.5 * empties(rash=False)


class Player:
    """Plays a lesson in event time: slaps ``after`` ns when a pattern lies there, or as ``blunder`` says."""

    timing = "as a test has them"

    def __init__(self, lesson: Lesson, rules: HouseRules, *, after: int = 300 * MS, blind: str = "",
                 rash: bool = False) -> None:  # fmt: skip
        self.now = 0
        self.lesson, self.rules, self.after, self.blind, self.rash = lesson, rules, after, blind, rash
        self.pile: list[str] = []
        self.prompts: list[Prompt] = []
        self._slap_at: int | None = None

    def clock(self) -> int:
        return self.now

    def see(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)
        if prompt.kind is PromptKind.LESSON:
            self._slap_at = self.now + 1000 * MS
        elif prompt.kind is PromptKind.PILE:
            self.pile, self._slap_at = [], None
        elif prompt.kind is PromptKind.CARD:
            self.pile.append(prompt.card)
            rows = held(self.pile, self.rules)
            if (rows and self.blind not in rows) or (self.rash and len(self.pile) == 2):
                self._slap_at = self.now + self.after

    def wait(self, until: int) -> Sequence[TimedSlap] | None:
        if self._slap_at is not None and self._slap_at <= until:
            self.now, self._slap_at = max(self.now, self._slap_at), None
            return (TimedSlap(self.now, 1_500_000),)
        self.now = max(self.now, until)
        return ()


def _lesson(rules: HouseRules = CLASSIC, *, deals: int = 40, steps: bool = True) -> Lesson:
    return Lesson(rules, 7, deals=deals, pace=PACE, shown_error=10 * MS, steps=steps)


def _played(lesson: Lesson, player: Player) -> list[Try]:
    play_lesson(lesson, player, [player.see], player.clock)
    return lesson.tries


def test_a_perfect_player_is_told_so_with_the_very_times() -> None:
    lesson = _lesson(read_house_rules("wikipedia-2009"), deals=60)
    tries = _played(lesson, Player(lesson, read_house_rules("wikipedia-2009"), after=312 * MS))
    assert {trial.kind for trial in tries} == {PromptKind.RIGHT, PromptKind.LEFT}
    assert {(trial.since, trial.error) for trial in tries if trial.kind is PromptKind.RIGHT} == {(312 * MS, 11_500_000)}
    assert len(lesson.order.introduced) > 3
    assert "312 ms in the median" in "\n".join(report(lesson, CLASSIC, "how sure"))


def test_the_same_seed_and_hands_give_the_same_lesson() -> None:
    players = []
    for _ in range(2):
        lesson = _lesson()
        player = Player(lesson, CLASSIC)
        _played(lesson, player)
        players.append(player.prompts)
    assert players[0] == players[1]


def test_what_is_missed_is_explained_comes_back_and_is_to_be_practised() -> None:
    lesson = _lesson(steps=False)
    player = Player(lesson, CLASSIC, blind="P2")
    tries = _played(lesson, player)
    missed = [prompt for prompt in player.prompts if prompt.kind is PromptKind.MISSED]
    assert missed
    assert all("P2: Sandwich" in prompt.words for prompt in missed)
    many = {row: sum(trial.row == row for trial in tries) for row in ("P1", "P2")}
    assert many["P2"] > many["P1"]
    assert any(line.startswith("Practise: P2") for line in report(lesson, CLASSIC, "")), report(lesson, CLASSIC, "")


def test_a_rash_hand_is_false_and_told_why() -> None:
    lesson = _lesson(deals=20, steps=False)
    player = Player(lesson, CLASSIC, rash=True)
    tries = _played(lesson, player)
    assert sum(trial.kind is PromptKind.FALSE for trial in tries) > 10
    why = [prompt.words for prompt in player.prompts if prompt.kind is PromptKind.FALSE]
    assert all("makes nothing here" in words for words in why)
    assert any("leave alone" in line for line in report(lesson, CLASSIC, ""))


def test_a_hand_that_is_too_soon_to_have_seen_is_no_reaction() -> None:
    lesson = _lesson(deals=12, steps=False)
    tries = _played(lesson, Player(lesson, CLASSIC, after=60 * MS))
    assert {trial.kind for trial in tries if trial.row} == {PromptKind.SOON}
    assert all(trial.since is None for trial in tries)


def test_it_is_timed_from_when_the_card_was_shown_and_judged_by_what_lay_there() -> None:
    lesson = _lesson(deals=30, steps=False)
    prompts, t = lesson.start(0), 0
    while not any(
        prompt.kind is PromptKind.CARD and held(lesson._cards[: len(lesson._reveals)], CLASSIC) for prompt in prompts
    ):
        t = lesson.due
        prompts = lesson.advance(t)
        if prompts and prompts[0].kind is PromptKind.CARD:
            lesson.shown(t + 40 * MS)
    assert lesson.hand(t + 39 * MS)[0].kind is PromptKind.FALSE, "one card earlier nothing lay there"


def test_at_tables_that_play_it_is_named() -> None:
    lesson = _lesson(steps=False)
    assert "P6" in lesson._why_not(("2s", "Kh", "Qd"))


def test_a_hand_between_piles_says_nothing() -> None:
    lesson = _lesson(steps=False)
    lesson.start(0)
    assert lesson.hand(BEFORE_PILE // 2) == []
    assert lesson.due == BEFORE_PILE
    assert AFTER_PILE > 0


def test_rules_without_patterns_end_at_once() -> None:
    lesson = _lesson(read_house_rules("beggar-my-neighbour"))
    assert lesson.start(0)[0].kind is PromptKind.OVER
    assert lesson.over
    assert report(lesson, CLASSIC, "") == ["Nothing was dealt."]


class PadPlayer(Player):
    """The same at simulated pads: the hand closes a contact, and the real pad shell reports it."""

    def __init__(self, lesson: Lesson, rules: HouseRules) -> None:
        super().__init__(lesson, rules, after=280 * MS)
        self.table = SimulatedPads(2)
        self.hands = PadSlaps(self.table.pads, 1_500_000, seat=2, clock=lambda: 2**62)
        self.timing = self.hands.timing

    def wait(self, until: int) -> Sequence[TimedSlap] | None:
        for hand in super().wait(until) or ():
            # Another person leans on the other pad: only seat 2 practises.
            for seat in (1, 2):
                self.table.advance(seat, True, hand.t)
            self.table.run_to(hand.t + 80 * MS)
            for seat in (1, 2):
                self.table.advance(seat, False, hand.t + 80 * MS)
            self.table.run_to(hand.t + 200 * MS)
            self.now = hand.t + 200 * MS
        return self.hands.wait(0)


def test_a_lesson_at_simulated_pads() -> None:
    lesson = _lesson(deals=30)
    player = PadPlayer(lesson, CLASSIC)
    tries = _played(lesson, player)
    player.table.close()
    assert {trial.kind for trial in tries} == {PromptKind.RIGHT, PromptKind.LEFT}
    assert {trial.since for trial in tries if trial.kind is PromptKind.RIGHT} == {280 * MS}
    assert "1.5 ms" in player.timing


def test_the_space_bar_of_a_terminal() -> None:
    here, there = pty.openpty()
    try:
        with KeySlaps(clock=lambda: 5, file=there) as keys:
            assert keys.wait(0) == ()
            os.write(here, b" ")
            assert keys.wait(10**9) == (TimedSlap(5, KEY_ERROR),)
            os.write(here, b"x")
            assert keys.wait(10**9) == ()
            os.write(here, b"q")
            assert keys.wait(10**9) is None
    finally:
        os.close(here)
        os.close(there)


def test_without_a_terminal_it_says_what_to_do() -> None:
    read, write = os.pipe()
    with pytest.raises(UserError, match="--settings"):
        KeySlaps(file=read)
    os.close(read)
    os.close(write)


class Spoken:
    """Remembers the spoken phrases, and the table's light."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.colours: list[tuple[float, float, float]] = []

    def say(self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None,
            topic: str = "") -> None:  # fmt: skip
        self.said.append(" ".join(clips))

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset()

    def cue(self, name: str) -> None: ...

    def set_volume(self, volume: Volume) -> None: ...

    def seat(self, seat: int, level: float) -> None: ...

    def table(self, red: float, green: float, blue: float) -> None:
        self.colours.append((red, green, blue))

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("language", "missed"), [("en", "missed"), ("de", "verpasst"), ("es", "se te ha pasado"), ("fr", "manqué")]
)
def test_voice_and_light_follow(language: str, missed: str) -> None:
    lesson, spoken, lines = _lesson(steps=False), Spoken(), list[str]()
    player = Player(lesson, CLASSIC, blind="P2")
    shows = [player.see, speak_prompts(spoken, language), light_prompts(spoken), draw_prompts(lines.append)]
    play_lesson(lesson, player, shows, player.clock)
    assert missed in spoken.said
    assert {(0.0, 0.6, 0.0), (0.6, 0.0, 0.0), (0.0, 0.0, 0.0)} == set(spoken.colours)
    assert any("Missed. P2: Sandwich" in line for line in lines)
