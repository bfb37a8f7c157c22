"""Words said by pads: never taken from slaps, and no slap from them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.debounce import STUCK
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.control.facts import Accepted, Facts
from referee.control.pad_words import (
    HOLD,
    MEANING,
    TAP,
    TAP_GAP,
    Gesture,
    Mode,
    PadWords,
    Word,
    command_of,
    read_mode,
)
from referee.engine.observations import Card, Slap
from referee.units import MS
from tests.play import log
from tests.web.tables import SECOND, Table


def edges(*presses: tuple[int, int, int]) -> list[Edge]:
    """Return seat, from and to (ms) of each press."""
    both = [(seat, t * MS, down) for seat, since, to in presses for t, down in ((since, True), (to, False))]
    return [Edge(seat, t, down) for seat, t, down in sorted(both, key=lambda edge: (edge[1], edge[0]))]


def said(mode: Mode, *presses: tuple[int, int, int], seats: int = 4) -> list[str]:
    pads = PadWords(seats, mode)
    words = [word for edge in edges(*presses) for word in pads.feed(edge)]
    words += pads.advance(100 * SECOND)
    return [f"{word.word} {word.seat}" for word in words]


HOLDS = ((1, 0, 2500),)
TOGETHER = ((1, 0, 2500), (2, 300, 2600))
ONE = ((1, 0, 150),)
TWO = ((1, 0, 150), (1, 400, 550))
THREE = (*TWO, (1, 800, 950))
FOUR = (*THREE, (1, 1200, 1350))
KNOCK = (*TWO, (1, 900, 3200))
RAP = (*THREE, (1, 1300, 3600))
SHOWN = {
    Gesture.HOLD: HOLDS, Gesture.TOGETHER: TOGETHER, Gesture.ONE: ONE, Gesture.TWO: TWO, Gesture.THREE: THREE,
    Gesture.FOUR: FOUR, Gesture.KNOCK: KNOCK, Gesture.RAP: RAP,
}  # fmt: skip


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("gesture", Gesture)
def test_each_gesture_says_its_word_in_its_mode_and_nothing_elsewhere(mode: Mode, gesture: Gesture) -> None:
    """The whole table of them."""
    word = MEANING[mode].get(gesture)
    if mode in (Mode.PLAY, Mode.ASKING) and gesture in (Gesture.KNOCK, Gesture.RAP):
        # Earlier taps are ordinary hands there: not alone.
        assert said(mode, *SHOWN[gesture]) == []
    else:
        assert said(mode, *SHOWN[gesture]) == ([f"{word} 1"] if word else [])


@pytest.mark.parametrize(
    "presses",
    [
        ((1, 0, 1900),),
        ((1, 0, 3000),),
        ((1, 0, 9000),),
        ((1, 0, 2500), (2, 100, 300)),
        ((2, 0, 200), (1, 500, 3000)),
        ((1, 0, 2500), (2, 1200, 1400)),
        ((1, 0, 2500), (2, 2400, 5900)),
        ((1, 0, 2500), (2, 0, 400), (3, 10, 300)),
        ((1, 0, 100), (1, 200, 300), (1, 400, 500)),
    ],
)
def test_while_the_game_goes_on_only_a_lonely_hold_is_a_word(presses: tuple[tuple[int, int, int], ...]) -> None:
    """Too short, stuck, in a crowd, a row of slaps: no word."""
    assert said(Mode.PLAY, *presses) == []
    assert said(Mode.ASKING, *presses) == []


@pytest.mark.parametrize(
    "presses",
    [
        ((1, 0, 150), (2, 100, 250), (1, 400, 550)),
        ((1, 0, 600),),
        ((1, 0, 150), (1, 400, 1400)),
        ((1, 0, 100), (1, 200, 300), (1, 400, 500), (1, 600, 700), (1, 800, 900)),
    ],
)
def test_what_is_no_row_of_taps_says_nothing(presses: tuple[tuple[int, int, int], ...]) -> None:
    """On two pads at once, too long, the second too long, five."""
    assert said(Mode.IDLE, *presses) == []
    assert said(Mode.PAUSED, *presses) == []


def test_taps_that_lie_apart_are_one_each() -> None:
    assert said(Mode.PAUSED, (1, 0, 150), (1, 1000, 1150), (2, 2500, 2650)) == ["next 1", "next 1", "next 2"]


def test_a_bouncing_pad_is_one_press() -> None:
    """Contacts that open for milliseconds stay down."""
    assert said(Mode.PAUSED, (1, 0, 3), (1, 6, 2490), (1, 2495, 2500)) == ["resume 1"]
    assert said(Mode.IDLE, (1, 0, 3), (1, 5, 150), (1, 400, 404), (1, 408, 550)) == ["yes 1"]


def test_a_stuck_pad_elsewhere_silences_nobody() -> None:
    """It has been down for minutes."""
    pads = PadWords(3, Mode.PLAY)
    pads.feed(Edge(3, 0, True))
    words = [word for edge in edges((1, 60_000, 62_500)) for word in pads.feed(edge)] + pads.advance(70 * SECOND)
    assert [word.word for word in words] == ["pause"]


def test_a_gesture_across_a_change_says_nothing() -> None:
    """Begun while the game went on, ended when it was paused: it would mean the opposite."""
    pads = PadWords(2, Mode.PLAY)
    pads.feed(Edge(1, 0, True))
    pads.change(Mode.PAUSED)
    assert pads.feed(Edge(1, 2500 * MS, False)) + pads.advance(10 * SECOND) == []
    assert [w.word for e in edges((1, 20_000, 22_500)) for w in pads.feed(e)] + [
        w.word for w in pads.advance(30 * SECOND)
    ] == ["resume"]


def test_an_edge_of_no_seat_says_nothing() -> None:
    """A wire too many."""
    assert PadWords(2).feed(Edge(7, 0, True)) == []


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_hands_that_play_never_say_a_word(seed: int) -> None:
    """Slaps as people make them: up to 1.9 s on the pad, alone and in crowds, for two minutes."""
    rng = random.Random(seed)
    presses = []
    for seat in range(1, 5):
        t = rng.randint(0, 2000)
        while t < 120_000:
            down = rng.choice((rng.randint(3, 200), rng.randint(100, 1900)))
            presses.append((seat, t, t + down))
            t += down + rng.choice((rng.randint(25, 300), rng.randint(200, 6000)))
    assert said(Mode.PLAY, *presses) == []
    assert said(Mode.ASKING, *presses) == []


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 20_000), st.booleans()), max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_edges_in_any_mode_never_raise(raw: list[tuple[int, int, bool]]) -> None:
    """Presses without releases, releases without presses; and each word belongs to its mode."""
    for mode in Mode:
        pads = PadWords(3, mode)
        words = [
            word
            for seat, t, down in sorted(raw, key=lambda edge: edge[1])
            for word in pads.feed(Edge(seat, t * MS, down))
        ]
        words += pads.advance(60 * SECOND)
        assert {word.word for word in words} <= set(MEANING[mode].values())
        assert all(word.since <= word.t for word in words)


def test_bounds_leave_room_between_a_tap_a_slap_and_a_hold() -> None:
    """A hold can be released before the pad counts as stuck."""
    assert TAP < HOLD < STUCK
    assert STUCK - HOLD >= TAP_GAP


def held_during(text: str, since: int, seat: int = 3) -> tuple[Table, Word]:
    """A table at which one pad is held for 2.5 s; the press goes the way of every edge and to the pad words."""
    table, pads, words = Table(log(text), 10_000_000), PadWords(3, Mode.PLAY), []
    filtered = PadFilter(3)
    for edge in edges((seat, since, since + 2500)):
        for line in filtered.feed(edge):
            table.observe(replace(line, id=f"own-{line.id}"))
        words += pads.feed(edge)
    for line in filtered.advance((since + 4000) * MS):
        table.observe(line)
    words += pads.advance((since + 4000) * MS)
    table.settle((since + 4000) * MS)
    assert len(words) == 1
    return table, words[0]


def test_a_hold_whose_press_was_judged_as_a_slap_is_no_word() -> None:
    """It won the pile, or was false; the hand just stayed there."""
    for text, verdict in (("1000 1:7h\n2000 2:7c\n", "slap_won"), ("1000 1:7h\n2000 2:8c\n", "slap_false")):
        table, word = held_during(text, 3000)
        table.finish()
        assert verdict in [ruling.kind for ruling in table.in_force()]
        assert command_of(word, table.facts()) is None


def test_a_hold_on_the_empty_pile_pauses() -> None:
    """There is no card, so the press had no meaning."""
    table, word = held_during("", 3000)
    assert any(isinstance(line, Slap) for line in table.observations)
    assert command_of(word, table.facts()) == {"do": "pause"}


def mode_of(facts: Facts) -> Mode:
    return read_mode(facts.view, facts.rulings, paused=facts.log.pause.is_stopped)


def test_what_the_table_is_doing() -> None:
    """A question while the game goes on, a pause over both, and no mode after the end."""
    table = Table(log("1000 1:7h\n2000 2:7c\n"))
    table.settle()
    assert mode_of(table.facts()) is Mode.PLAY
    table.observe(Slap(t=table.now + SECOND, id="s1", seat=3))
    table.observe(Slap(t=table.now, id="s2", seat=1))
    table.settle()
    assert mode_of(table.facts()) is Mode.ASKING
    table.command("pause")
    assert mode_of(table.facts()) is Mode.PAUSED
    over = replace(table.facts(), view=replace(table.view, game_over=True))
    assert mode_of(over) is Mode.IDLE


def test_two_taps_after_the_end_ask_for_another_game() -> None:
    """Their presses are judged like all others, without a result."""
    table = Table(log("1000 1:Kh\n2000 2:5c\n", seats=2, rules="beggar-my-neighbour", counts=[2, 1]), 10_000_000)
    table.settle(4000 * MS)
    assert mode_of(table.facts()) is Mode.IDLE
    pads, filtered, words = PadWords(2, Mode.IDLE), PadFilter(2), []
    for edge in edges((2, 5000, 5150), (2, 5400, 5550)):
        for line in filtered.feed(edge):
            table.observe(replace(line, id=f"own-{line.id}"))
        words += pads.feed(edge)
    words += pads.advance(7000 * MS)
    table.settle(7000 * MS)
    assert [command_of(word, table.facts()) for word in words] == [{"do": "rematch"}]
    assert command_of(replace(words[0], word="no"), table.facts()) is None


def test_pads_answer_what_a_pad_can_answer() -> None:
    """The first hand is named by its own pad."""
    table = Table(log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2300 slap 1\n2400 lift 3\n2400 lift 1\n"))
    table.settle()
    assert len(table.view.questions) == 1
    asked = table.view.questions[0]
    word = Word("yes", 3, 50 * SECOND, 53 * SECOND)
    assert command_of(word, table.facts()) == {"do": "answer", "question": asked, "value": 3}
    assert command_of(replace(word, word="no"), table.facts()) is None
    table.command("answer", question=asked, value=3)
    table.settle()
    assert command_of(word, table.facts()) is None


def test_pads_say_whether_the_eye_or_memory_was_right() -> None:
    """Yes: the card as seen; no: memory's prediction."""
    text = "1000 1:7h\n2000 2:7c\n2300 slap 3\n2400 lift 3\n3500 taken 3\n4000 3:9c\n5000 1:2c\n6000 2:3c\n7000 3:Th\n"
    table = Table(log(text, counts=[3, 3, 1]))
    table.settle()
    (asked,) = (ruling for ruling in table.in_force() if ruling.kind == "question")
    assert asked["cards"] == ["Th", "7h"]
    for word, card in (("yes", "Th"), ("no", "7h")):
        done = command_of(Word(word, 1, 60 * SECOND, 61 * SECOND), table.facts())
        assert done == {"do": "answer", "question": asked.id, "value": card}


CONTESTED = "1000 1:7h\n2000 2:8c\n2300 slap 3\n"


def test_four_taps_contest_the_latest_slap_or_take() -> None:
    """F5: the tapping player contests; not their own, and not where contests are off."""
    table = Table(log(CONTESTED, rules={"base": "classic", "on": ["F5"]}))
    table.settle()
    word = Word("contest", 1, 50 * SECOND, 53 * SECOND)
    asked = command_of(word, table.facts())
    assert asked == {"do": "contest", "by": [1], "against": 3}
    assert isinstance(table.command(**asked), Accepted)
    assert command_of(replace(word, seat=3), table.facts()) is None
    plain = Table(log(CONTESTED))
    plain.settle()
    assert command_of(word, plain.facts()) is None


def test_four_taps_contest_a_slap_whose_pile_still_lies_there() -> None:
    table = Table(log("1000 1:7h\n2000 2:7c\n2300 slap 3\n", rules={"base": "classic", "on": ["F5"]}))
    table.settle()
    assert command_of(Word("contest", 1, 50 * SECOND, 53 * SECOND), table.facts()) == {
        "do": "contest", "by": [1], "against": 3,
    }  # fmt: skip


def test_late_evidence_may_wait_and_is_taken_up_while_the_table_is_paused() -> None:
    """It prevents no pause; then yes takes it up."""
    table = Table(log("1000 1:7h\n2300 slap 3\n"))
    table.settle()
    table.observe(Card(t=2 * SECOND, id="late", card="7c", seat=2))
    table.settle()
    assert table.view.questions == ("question@late",)
    assert mode_of(table.facts()) is Mode.PLAY
    word = Word("yes", 1, 50 * SECOND, 53 * SECOND)
    asked = command_of(word, table.facts())
    assert asked == {"do": "take_up", "line": "late"}
    assert command_of(replace(word, word="no"), table.facts()) == {
        "do": "answer", "question": "question@late", "value": "ignore",
    }  # fmt: skip
    assert isinstance(table.command(**asked), Accepted)
