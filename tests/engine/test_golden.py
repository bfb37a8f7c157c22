"""Rows of the rules, each with small logs and their expected rulings, written by hand.

Each row has its positive and its negative case. Expected rulings are one line each: the instant in ms, the kind, the
seat, and the deciding fields. ``lead`` and ``turn`` are compared where they are the subject.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.log import decode_line
from referee.engine.rulings import Ruling

ORDINARY = frozenset(("lead", "turn", "remind"))


def table(counts: Sequence[int] | None = None, *, seats: int = 3, **more: Any) -> str:
    """Return the first line; the last seat deals, so seat 1 leads."""
    number = len(counts) if counts else seats
    line: dict[str, Any] = {"kind": "table", "t": 0, "seats": [*"ABCDEFGH"][:number], "dealer": number}
    if counts:
        line["counts"] = list(counts)
    return json.dumps({**line, "rules": "classic", **more})


def card(ms: float, seat: int | None, name: str, **more: Any) -> str:
    return json.dumps({"kind": "card", "t": round(ms * 1e6), "card": name, "seat": seat, **more})


def slap(ms: float, seat: int, **more: Any) -> str:
    return json.dumps({"kind": "slap", "t": round(ms * 1e6), "seat": seat, "t_error": 20_000, **more})


def lift(ms: float, seat: int) -> str:
    return json.dumps({"kind": "lift", "t": round(ms * 1e6), "seat": seat})


def taken(ms: float, seat: int | None = None) -> str:
    return json.dumps({"kind": "taken", "t": round(ms * 1e6), "seat": seat})


def tick(ms: float) -> str:
    return json.dumps({"kind": "tick", "t": round(ms * 1e6)})


def cards(*laid: str) -> list[str]:
    """Return cards a second apart from 1 s on: ``1:7h`` is laid by seat 1."""
    return [card(1000 * n, int(one[0]), one[2:]) for n, one in enumerate(laid, start=1)]


def rulings(*lines: str) -> list[Ruling]:
    adjudicator = Adjudicator()
    out: list[Ruling] = []
    for number, line in enumerate(lines, start=1):
        out += adjudicator.observe(decode_line(line, number))
    return out + adjudicator.finish()


def told(*lines: str, only: Sequence[str] = ()) -> list[str]:
    """Return the rulings in words; ``only`` these kinds, or all except the ordinary ones."""
    return [
        _words(ruling)
        for ruling in rulings(*lines)
        if (ruling.kind in only if only else ruling.kind not in ORDINARY)
    ]  # fmt: skip


def but_piles(*lines: str) -> list[str]:
    """Return the same without pick-ups, for logs that end before one is seen."""
    return [line for line in told(*lines) if " pile " not in line]


def _words(one: Ruling) -> str:
    named = {
        "challenge": ("challenged", "card", "chances"), "chance": ("left",), "challenge_moves": ("left",),
        "slap_won": ("patterns", "decided_by", "margin", "error"), "slap_false": ("reason",),
        "slap_void": ("reason",), "dead_heat": ("seats", "margin", "error"), "burn": ("count", "where"),
        "strike": ("strikes",), "locked_out": ("until",), "dead_card": ("card", "reason"), "pile": ("count",),
        "question": ("ask",),
    }  # fmt: skip
    words = [f"{one.t / 1e6:g}", one.kind]
    if one.get("seat") is not None:
        words.append(str(one["seat"]))
    for name in named.get(one.kind, ()):
        item = one.get(name)
        words.append("+".join(str(part) for part in item) if isinstance(item, list | tuple) else str(item))
    return " ".join(words) + (" doubt" if one.doubt else "")


def view_after(*lines: str) -> Any:
    adjudicator = Adjudicator()
    for number, line in enumerate(lines, start=1):
        adjudicator.observe(decode_line(line, number))
    adjudicator.finish()
    return adjudicator.view


# -- S: setting up -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", range(2, 9))
def test_s1_two_to_eight_seats_play_in_order(seats: int) -> None:
    laid = [card(1000 * n, n, f"{'23456789'[n - 1]}h") for n in range(1, seats + 1)]
    turns = [ruling["seat"] for ruling in rulings(table(seats=seats), *laid) if ruling.kind == "turn"]
    assert turns == [*range(1, seats + 1), 1]


@pytest.mark.parametrize("seats", [1, 9])
def test_s1_fewer_or_more_seats_are_refused(seats: int) -> None:
    line = json.dumps({"kind": "table", "t": 0, "seats": [*"ABCDEFGHI"][:seats], "dealer": 1})
    with pytest.raises(ValueError, match="line 1"):
        rulings(line)


def test_s2_several_packs() -> None:
    assert view_after(table(seats=4, packs=2)).counts == (26, 26, 26, 26)
    assert view_after(table(seats=4)).counts == (13, 13, 13, 13)


@pytest.mark.parametrize(
    ("seats", "dealer", "counts"),
    [
        (3, 3, (18, 17, 17)),
        (3, 1, (17, 18, 17)),
        (5, 4, (11, 10, 10, 10, 11)),
        (8, 8, (7, 7, 7, 7, 6, 6, 6, 6)),
        (4, 2, (13, 13, 13, 13)),
    ],
)
def test_s4a_extras_go_to_the_seats_after_the_dealer(seats: int, dealer: int, counts: tuple[int, ...]) -> None:
    assert view_after(table(seats=seats, dealer=dealer)).counts == counts


def test_s4a_counter_clockwise_extras_go_the_other_way() -> None:
    assert view_after(table(seats=5, dealer=2, direction="counter-clockwise")).counts == (11, 10, 10, 10, 11)


def test_s5_the_seat_after_the_dealer_leads_and_play_goes_clockwise() -> None:
    log = [table(seats=4, dealer=2), card(1000, 3, "2h"), card(2000, 4, "5c")]
    assert told(*log, only=("lead", "turn")) == ["0 lead 3", "0 turn 3", "1000 turn 4", "2000 turn 1"]


def test_s5_counter_clockwise() -> None:
    log = [table(seats=4, dealer=2, direction="counter-clockwise"), card(1000, 1, "2h"), card(2000, 4, "5c")]
    assert told(*log, only=("lead", "turn")) == ["0 lead 1", "0 turn 1", "1000 turn 4", "2000 turn 3"]


# -- C: challenges -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("face", "chances"), [("Ah", 4), ("Kh", 3), ("Qh", 2), ("Jh", 1)])
def test_c1_c5_chances_are_counted_and_the_challenger_wins(face: str, chances: int) -> None:
    paid = ["2:2c", "2:4d", "2:6c", "2:8d"][:chances]
    log = [table(), *cards("1:" + face, *paid), taken(9000, 1), card(9500, 1, "3h")]
    assert told(*log) == [
        f"1000 challenge 1 2 {face} {chances}",
        *(f"{1000 + 1000 * n} chance 2 {chances - n}" for n in range(1, chances)),
        f"{1000 + 1000 * chances} challenge_won 1",
        f"9000 pile 1 {chances + 1}",
    ]
    leads = told(*log, only=("lead",))
    assert leads == ["0 lead 1", "9000 lead 1"]


def test_c1_a_number_card_challenges_nobody() -> None:
    assert told(table(), *cards("1:Th", "2:9c", "3:2d")) == []


def test_c4_a_face_card_cancels_and_challenges_the_next() -> None:
    assert but_piles(table(), *cards("1:Ah", "2:2c", "2:Jd", "3:5s")) == [
        "1000 challenge 1 2 Ah 4",
        "2000 chance 2 3",
        "3000 challenge 2 3 Jd 1",
        "4000 challenge_won 2",
    ]


def test_c5_the_challengers_next_card_picks_the_pile_up() -> None:
    log = [table(), *cards("1:Jh", "2:2c", "1:5d")]
    assert told(*log) == ["1000 challenge 1 2 Jh 1", "2000 challenge_won 1", "3000 pile 1 2"]
    assert view_after(*log).counts == (18, 16, 17)


def test_c6a_the_next_seat_with_cards_pays_what_is_left() -> None:
    log = [table([6, 1, 6]), *cards("1:Kh", "2:2c", "3:4d", "3:6d")]
    assert sorted(but_piles(*log)) == sorted([
        "1000 challenge 1 2 Kh 3",
        "2000 chance 2 2",
        "2000 challenge_moves 3 2",
        "3000 chance 3 1",
        "3000 out 2",
        "4000 challenge_won 1",
    ])  # fmt: skip


def test_c6a_the_last_chance_paid_with_the_last_card_moves_nothing() -> None:
    log = [table([6, 1, 6]), *cards("1:Jh", "2:2c")]
    assert sorted(but_piles(*log)) == ["1000 challenge 1 2 Jh 1", "2000 challenge_won 1"]


def test_c6a_never_asks_the_challenger() -> None:
    log = [table([6, 1, 1]), *cards("1:Kh", "2:2c", "3:4d")]
    assert sorted(but_piles(*log)) == sorted([
        "1000 challenge 1 2 Kh 3",
        "2000 chance 2 2",
        "2000 challenge_moves 3 2",
        "3000 chance 3 1",
        "3000 out 2",
        "3000 challenge_won 1",
    ])  # fmt: skip


def test_c8_the_stack_comes_back_in_order() -> None:
    """Seat 2 has one card; it wins a pile, and lays its cards again oldest first."""
    log = [table([9, 1, 9]), *cards("1:3h", "2:Jd", "3:5s"), taken(5000, 2), card(6000, 2, "3h"), card(7000, 3, "2c")]
    assert "5000 pile 2 3" in told(*log)
    assert "question" not in " ".join(told(*log))
    assert view_after(*log).counts == (8, 2, 7)


def test_c8_another_order_is_no_matter_of_play() -> None:
    """A stack that changed on the way may be questioned, but the card counts as laid."""
    log = [table([9, 1, 9]), *cards("1:3h", "2:Jd", "3:5s"), taken(5000, 2), card(6000, 2, "5s"), card(7000, 3, "2c")]
    assert [line for line in told(*log) if "question" not in line][-1] == "5000 pile 2 3"
    assert view_after(*log).counts == (8, 2, 7)


# -- P: patterns ---------------------------------------------------------------------------------------------


def test_p1_double() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3)]
    assert told(*log) == ["2300 slap_won 3 P1 time None None", "2300 pile 3 2"]


def test_p1_needs_neighbours_of_one_rank() -> None:
    log = [table(), *cards("1:7h", "2:8h"), slap(2300, 3)]
    assert told(*log) == ["2300 slap_false 3 no_pattern", "2300 burn 3 1 bottom"]


def test_p2_sandwich() -> None:
    log = [table(), *cards("1:7h", "2:4c", "3:7d"), slap(3300, 3)]
    assert told(*log)[0] == "3300 slap_won 3 P2 time None None"


def test_p2_is_not_met_by_four_cards() -> None:
    log = [table(), *cards("1:7h", "2:4c", "3:5d", "1:7d"), slap(4300, 3)]
    assert told(*log)[0] == "4300 slap_false 3 no_pattern"


def test_p2_the_middle_must_differ() -> None:
    log = [table(packs=2), *cards("1:7h", "2:7c", "3:7d"), slap(3300, 3)]
    assert told(*log)[0] == "3300 slap_won 3 P1 time None None"


def test_p2_switched_off() -> None:
    log = [table(rules={"base": "classic", "off": ["P2"]}), *cards("1:7h", "2:4c", "3:7d"), slap(3300, 3)]
    assert told(*log)[0] == "3300 slap_false 3 no_pattern"


def test_patterns_do_not_reach_into_the_last_pile() -> None:
    log = [table(), *cards("1:Jh", "2:7c"), taken(2500, 1), card(3000, 1, "7d"), slap(3300, 2)]
    assert "3300 slap_false 2 no_pattern" in told(*log)


# -- M: slapping ---------------------------------------------------------------------------------------------


def test_m1_the_first_hand_takes_the_pile_and_leads() -> None:
    log = [
        table(), card(1000, 1, "7h"), slap(2241.3, 3), card(2000, 2, "7c", known_at=2_300_000_000), slap(2255.8, 1),
        taken(2900, 3), tick(3000),
    ]  # fmt: skip
    assert told(*log) == [
        "2241.3 slap_won 3 P1 time 14500000 40000",
        "2255.8 slap_void 1 late",
        "2900 pile 3 2",
    ]
    assert told(*log, only=("lead", "turn")) == ["0 lead 1", "0 turn 1", "1000 turn 2", "2000 turn 3", "2900 lead 3"]
    won = next(ruling for ruling in rulings(*log) if ruling.kind == "slap_won")
    assert [dict(one) for one in won["runners_up"]] == [{"seat": 1, "margin": 14_500_000}]
    assert {"3", "4"} <= set(won.because)
    assert "P1" in won.rule


def test_m1_exactly_as_far_as_the_errors_is_not_a_dead_heat() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3), slap(2300.04, 1)]
    assert told(*log)[0] == "2300 slap_won 3 P1 time 40000 40000"


def test_m2_force_decides_a_dead_heat() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3, force=0.3), slap(2300.039999, 1, force=0.8)]
    assert told(*log) == [
        "2300 dead_heat 3+1 39999 40000",
        "2300 slap_void 3 late",
        "2300.04 slap_won 1 P1 force None None",
        "2300.04 pile 1 2",
    ]


@pytest.mark.parametrize(
    "forces", [(0.5, 0.55), (0.55, 0.5), (0.5, None), (None, None)], ids=["near", "near too", "one unknown", "unknown"]
)
def test_m2_without_a_clear_lead_people_are_asked(forces: tuple[float | None, float | None]) -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3, force=forces[0]), slap(2300.01, 1, force=forces[1])]
    assert told(*log) == ["2300 dead_heat 3+1 10000 40000", "2300 question who_was_first"]


def test_m2_in_the_heat_are_all_hands_within_that_of_the_first() -> None:
    log = [
        table(seats=4), *cards("1:7h", "2:7c"),
        slap(2300, 3, force=0.3), slap(2300.03, 1, force=0.5), slap(2300.06, 2, force=0.9),
    ]  # fmt: skip
    assert told(*log)[:1] == ["2300 dead_heat 3+1 30000 40000"]
    assert "2300.03 slap_won 1 P1 force None None" in told(*log)
    assert "2300.06 slap_void 2 late" in told(*log)


def test_m2_a_hand_that_is_held_is_in_no_heat() -> None:
    log = [
        table(), card(1000, 1, "7h"), slap(1300, 1), card(2000, 2, "7c"), slap(2300, 3), slap(2300.01, 1),
    ]  # fmt: skip
    assert told(*log)[2:5] == ["2300 slap_won 3 P1 time None None", "2300.01 slap_void 1 held", "2300.01 pile 3 3"]


def test_m5_a_pad_held_down_does_not_slap() -> None:
    log = [table(), card(1000, 1, "7h"), slap(1300, 3), card(2000, 2, "7c"), slap(2300, 3)]
    assert told(*log) == ["1300 slap_false 3 no_pattern", "1300 burn 3 1 bottom", "2300 slap_void 3 held"]


def test_m5_lifted_before_it_slaps_again() -> None:
    log = [table(), card(1000, 1, "7h"), slap(1300, 3), lift(1400, 3), card(2000, 2, "7c"), slap(2300, 3)]
    assert told(*log)[2] == "2300 slap_won 3 P1 time None None"


def test_m7_slap_in_the_middle_of_a_challenge() -> None:
    log = [table(), *cards("1:Ah", "2:5c", "2:5d"), slap(3300, 1), taken(3900, 1), card(4500, 1, "9h")]
    assert told(*log)[-2:] == ["3300 slap_won 1 P1 time None None", "3900 pile 1 3"]
    assert told(*log, only=("turn",))[-2:] == ["3300 turn 1", "4500 turn 2"]


def test_m8_a_covered_pattern_is_lost() -> None:
    log = [table(), *cards("1:7h", "2:7c", "3:9d"), slap(3152, 1)]
    assert told(*log) == ["3152 slap_false 1 no_pattern", "3152 burn 1 1 bottom"]


def test_m9_a_slap_just_after_the_cover_is_void() -> None:
    log = [table(), *cards("1:7h", "2:7c", "3:9d"), slap(3148, 1)]
    assert told(*log) == ["3148 slap_void 1 covered"]


def test_m9_only_where_something_was_covered() -> None:
    log = [table(), *cards("1:7h", "2:8c", "3:9d"), slap(3100, 1)]
    assert told(*log)[0] == "3100 slap_false 1 no_pattern"


def test_m9_a_new_pattern_counts() -> None:
    log = [table(), *cards("1:7h", "2:7c", "3:7d"), slap(3100, 1)]
    assert told(*log)[0] == "3100 slap_won 1 P1 time None None"


def test_m9_set_to_other_times_and_off() -> None:
    log = [*cards("1:7h", "2:7c", "3:9d"), slap(3100, 1)]
    assert told(table(rules={"base": "classic", "set": {"M9": 50}}), *log)[0] == "3100 slap_false 1 no_pattern"
    assert told(table(rules={"base": "classic", "off": ["M9"]}), *log)[0] == "3100 slap_false 1 no_pattern"


def test_m10_a_seat_without_cards_slaps_in() -> None:
    log = [table([5, 0, 5]), *cards("1:7h", "3:7c"), slap(2300, 2), taken(2900, 2)]
    assert told(*log) == ["2300 slap_won 2 P1 time None None", "2300 slapped_in 2", "2900 pile 2 2"]
    assert told(*log, only=("turn",))[-1] == "2300 turn 2"


def test_m10_off_it_may_not() -> None:
    rules = {"base": "classic", "off": ["M10", "F6a"]}
    log = [table([5, 0, 5], rules=rules), *cards("1:7h", "3:7c"), slap(2300, 2)]
    assert told(*log) == ["2300 slap_void 2 not_playing"]


def test_m12_not_while_one_seat_alone_holds_cards() -> None:
    log = [table([3, 1, 0]), *cards("1:7h", "2:7c"), slap(2300, 3)]
    assert told(*log) == ["2300 slap_void 3 not_playing"]


# -- F: faults -----------------------------------------------------------------------------------------------


def test_f1_a_false_slap_burns_one_card_at_the_bottom() -> None:
    log = [table(), *cards("1:7h", "2:8c"), slap(2300, 3), card(3000, 3, "8d"), slap(3300, 1), taken(3900, 1)]
    assert told(*log) == [
        "2300 slap_false 3 no_pattern",
        "2300 burn 3 1 bottom",
        "3300 slap_won 1 P1 time None None",
        "3900 pile 1 4",
    ]
    assert view_after(*log).counts == (21, 16, 15)


def test_f1_set_to_two_and_fewer_are_left() -> None:
    rules = {"base": "classic", "set": {"F1": 2}}
    assert told(table(rules=rules), *cards("1:7h"), slap(1300, 3))[1] == "1300 burn 3 2 bottom"
    few = told(table([3, 3, 1], rules=rules), *cards("1:7h"), slap(1300, 3))
    assert few == ["1300 slap_false 3 no_pattern", "1300 burn 3 1 bottom", "1300 out 3"]


def test_f1_false_slaps_are_each_judged_by_themselves() -> None:
    log = [table(), *cards("1:7h", "2:8c"), slap(2300, 3), slap(2300.001, 1)]
    assert [line for line in told(*log) if "burn" in line] == ["2300 burn 3 1 bottom", "2300 burn 1 1 bottom"]


def test_f1_a_burn_that_empties_the_payer_moves_the_challenge() -> None:
    log = [table([6, 1, 6]), *cards("1:Kh"), slap(1300, 2)]
    assert sorted(but_piles(*log)) == sorted([
        "1000 challenge 1 2 Kh 3",
        "1300 slap_false 2 no_pattern",
        "1300 burn 2 1 bottom",
        "1300 out 2",
        "1300 challenge_moves 3 3",
    ])  # fmt: skip


def test_f1_a_burn_that_empties_the_only_payer_wins_the_challenge() -> None:
    log = [table([6, 1]), *cards("1:Kh"), slap(1300, 2)]
    assert sorted(but_piles(*log)[-2:]) == ["1300 challenge_won 1", "1300 out 2"]


def test_f6a_three_strikes_lock_out() -> None:
    hands = [line for n in range(4) for line in (slap(2300 + 200 * n, 2), lift(2400 + 200 * n, 2))]
    assert told(table([5, 0, 5]), *cards("1:7h", "3:8c"), *hands) == [
        "2300 slap_false 2 no_pattern",
        "2300 strike 2 1",
        "2500 slap_false 2 no_pattern",
        "2500 strike 2 2",
        "2700 slap_false 2 no_pattern",
        "2700 strike 2 3",
        "2700 locked_out 2 game",
        "2900 slap_void 2 locked_out",
    ]


def test_f6a_no_strike_while_there_are_cards_to_burn() -> None:
    assert "strike" not in " ".join(told(table([5, 1, 5]), *cards("1:7h"), slap(1300, 2)))


def test_f7_a_card_out_of_turn_is_dead() -> None:
    """An ace out of turn challenges no player, and the turn stands."""
    log = [table(), *cards("1:7h", "3:Ac", "2:9c", "3:4d")]
    assert told(*log) == ["2000 dead_card 3 Ac out_of_turn"]
    assert told(*log, only=("turn",)) == ["0 turn 1", "1000 turn 2", "3000 turn 3", "4000 turn 1"]


def test_f7_a_dead_card_completes_no_pattern_and_positions_pass_over_it() -> None:
    log = [table(), *cards("1:7h", "3:7c", "2:7d"), slap(3300, 1)]
    assert told(*log)[1] == "3300 slap_won 1 P1 time None None"
    log = [table(), *cards("1:7h", "3:9c", "2:8d", "3:9d"), slap(4300, 1)]
    assert told(*log)[1] == "4300 slap_false 1 no_pattern"


def test_f7_a_dead_card_pays_no_chance_and_leaves_with_the_pile() -> None:
    log = [table(), *cards("1:Qh", "3:2c", "2:5d", "2:9s"), taken(5000)]
    assert told(*log) == [
        "1000 challenge 1 2 Qh 2",
        "2000 dead_card 3 2c out_of_turn",
        "3000 chance 2 1",
        "4000 challenge_won 1",
        "5000 pile 1 4",
    ]


def test_f7_a_card_from_the_wrong_seat_picks_no_pile_up() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3), card(3000, 1, "9h"), card(4000, 3, "8h")]
    assert told(*log) == ["2300 slap_won 3 P1 time None None", "3000 dead_card 1 9h out_of_turn", "4000 pile 3 3"]


def test_f7_a_card_of_an_unknown_seat_is_laid_in_turn() -> None:
    log = [table(), card(1000, 1, "7h"), card(2000, None, "7c")]
    assert told(*log, only=("turn", "dead_card")) == ["0 turn 1", "1000 turn 2", "2000 turn 3"]


def test_f8_a_slap_over_a_dead_card_is_false() -> None:
    log = [table(), *cards("1:7h", "2:7c", "1:9d"), slap(3300, 2)]
    assert told(*log)[1:] == ["3300 slap_false 2 dead_card", "3300 burn 2 1 bottom"]


def test_f8_until_it_is_covered() -> None:
    log = [table(), *cards("1:7h", "2:8c", "1:9d", "3:8d"), slap(4300, 2)]
    assert told(*log)[1] == "4300 slap_won 2 P1 time None None"


# -- E: the end ----------------------------------------------------------------------------------------------


def test_e1_out_and_passed_over() -> None:
    log = [table([1, 5, 5]), *cards("1:7h", "2:8c", "3:9d", "2:4c")]
    assert told(*log) == ["2000 out 1"]
    assert told(*log, only=("turn",)) == ["0 turn 1", "1000 turn 2", "2000 turn 3", "3000 turn 2", "4000 turn 3"]


def test_e1_a_challenger_without_cards_still_wins_its_pile() -> None:
    log = [table([1, 5, 5]), *cards("1:Jh", "2:8c"), taken(3000), card(4000, 1, "Jh")]
    assert sorted(told(*log)[:3]) == ["1000 challenge 1 2 Jh 1", "2000 challenge_won 1", "2000 out 1"]
    assert told(*log)[3] == "3000 pile 1 2"


def test_e4_all_cards_in_the_pile_is_a_draw() -> None:
    log = [table([1, 1]), *cards("1:7h", "2:8c")]
    assert told(*log) == ["2000 out 1", "2000 drawn"]


def test_e4_not_while_a_challenge_is_won() -> None:
    log = [table([1, 1]), *cards("1:Jh", "2:8c"), taken(2500)]
    assert "drawn" not in " ".join(told(*log))


E2_START = (*cards("1:4h", "2:Jc", "1:8d"), taken(4000, 2))
"""With one card at seat 1 beyond those it lays, seat 2 would not hold all; with none, it does."""


def test_e2_three_more_cards_then_won_at_two_seconds() -> None:
    log = [table([2, 5]), *E2_START, card(5000, 2, "2c"), card(6000, 2, "Ad"), card(7000, 2, "5c"), tick(9100)]
    out = told(*log)
    assert "4000 pile 2 3" in out
    assert out[-1] == "9000 won 2"
    assert [line for line in out if line >= "4000 pile" and ("cha" in line or "out" in line)] == []


def test_e2_won_at_taken() -> None:
    log = [table([2, 5]), *E2_START, card(5000, 2, "2c"), card(6000, 2, "6d"), card(7000, 2, "5c"), taken(7600, 2)]
    assert "7600 won 2" in told(*log)
    assert view_after(*log).winner == 2


def test_e2_a_valid_slap_lets_the_game_go_on() -> None:
    log = [
        table([2, 5]), *E2_START, card(5000, 2, "2c"), card(6000, 2, "2d"), slap(6300, 1), taken(6900, 1),
        card(7500, 1, "2c"), tick(12000),
    ]  # fmt: skip
    assert told(*log)[-3:] == ["6300 slap_won 1 P1 time None None", "6300 slapped_in 1", "6900 pile 1 2"]
    assert told(*log, only=("turn",))[-2:] == ["6300 turn 1", "7500 turn 2"]


def test_e2_not_before_one_holds_everything() -> None:
    log = [table([3, 5]), *E2_START, card(5000, 2, "2c"), card(6000, 1, "6d")]
    assert told(*log, only=("dead_card", "won", "remind")) == []


def test_e2_off_the_pile_wins_at_once() -> None:
    assert told(table([2, 5], rules={"base": "classic", "off": ["E2"]}), *E2_START)[-1] == "4000 won 2"


def test_e5a_a_slap_that_collects_everything_wins() -> None:
    log = [table([1, 3]), *cards("1:7h", "2:7c"), slap(2300, 2), taken(2900, 2)]
    assert told(*log) == ["2000 out 1", "2300 slap_won 2 P1 time None None", "2900 pile 2 2", "2900 won 2"]


def test_e5a_not_while_another_holds_a_card() -> None:
    log = [table([2, 3]), *cards("1:7h", "2:7c"), slap(2300, 2), taken(2900, 2)]
    assert "won 2" not in told(*log)[-1]


# -- K, N: event time, margins, doubt, lateness --------------------------------------------------------------


def test_k1_the_news_may_come_in_any_order() -> None:
    lines = [
        '{"kind":"card","t":1000000000,"id":"a","card":"7h","seat":1}',
        '{"kind":"card","t":2000000000,"id":"b","card":"7c","seat":2,"known_at":2900000000}',
        '{"kind":"slap","t":2300000000,"id":"c","seat":3}',
        '{"kind":"card","t":3000000000,"id":"d","card":"9c","seat":3}',
    ]
    first = table(id="table")
    there, back = rulings(first, *lines), rulings(first, *reversed(lines))
    assert there == back
    assert [ruling.kind for ruling in there].count("slap_won") == 1


def test_k1_a_slap_at_a_cards_own_instant_comes_after_it() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2000, 3, t_error=0)]
    assert told(*log)[0] == "2000 slap_won 3 P1 time None None"
    log = [table(), *cards("1:7h", "2:7c", "3:9d"), slap(3000, 1, t_error=0)]
    assert told(*log)[0] == "3000 slap_void 1 covered"


def test_k3_margin_and_error_are_of_the_next_hand_that_counted() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3), slap(2400, 2, t_error=1_500_000), slap(2500, 1)]
    won = next(ruling for ruling in rulings(*log) if ruling.kind == "slap_won")
    assert (won["margin"], won["error"]) == (100_000_000, 1_520_000)
    assert [(one["seat"], one["margin"]) for one in won["runners_up"]] == [(2, 100_000_000), (1, 200_000_000)]


def test_k9_in_doubt_the_reading_better_for_the_slapper() -> None:
    log = [table(), *cards("1:7h", "2:7c", "3:9d"), slap(3005, 1, t_error=1_500_000)]
    late = [log[0], *log[1:3], card(3000, 3, "9d", t_error=8_000_000), log[4]]
    assert told(*log)[0] == "3005 slap_void 1 covered"
    assert "3005 slap_won 1 P1 time None None doubt" in told(*late)


def test_k9_a_hand_just_before_the_reveal_that_completes_a_pattern() -> None:
    log = [table(), card(1000, 1, "7h"), card(2000, 2, "7c", t_error=8_000_000), slap(1995, 3)]
    assert "1995 slap_won 3 P1 time None None doubt" in told(*log)
    log = [table(), card(1000, 1, "7h"), card(2000, 2, "7c", t_error=2_000_000), slap(1995, 3)]
    assert told(*log)[0] == "1995 slap_false 3 no_pattern"


def test_k9_a_card_too_late_for_the_first_hand_makes_another_of_its_heat_doubtful() -> None:
    """The hand's worth depends on whether the stronger hand met the card, so its ruling waits until that is known."""
    log = [table(), *cards("1:7h", "2:7c")]
    log += [slap(2300, 1, t_error=5_000_000, force=0.1), slap(2309, 3, t_error=5_000_000, force=0.5)]
    log += [card(2313, 3, "9d", t_error=2_000_000)]
    assert "2309 slap_won 3 P1 force None None doubt" in told(*log)
    live = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
    made = [ruling for n, line in enumerate(log[:-1], 1) for ruling in live.observe(decode_line(line, n))]
    made += live.promise(2_313_000_000)
    assert not any(ruling.kind == "dead_heat" for ruling in made)
    made += [*live.observe(decode_line(log[-1], len(log))), *live.finish()]
    assert [_words(ruling) for ruling in made] == [_words(ruling) for ruling in rulings(*log)]


def test_k9_no_doubt_where_both_readings_agree() -> None:
    log = [table(), card(1000, 1, "7h"), card(2000, 2, "8c", t_error=8_000_000), slap(1995, 3)]
    assert told(*log)[0] == "1995 slap_false 3 no_pattern"


def test_n1_late_is_void_until_the_pile_is_picked_up() -> None:
    log = [table(), *cards("1:7h", "2:7c"), slap(2300, 3), slap(2700, 1), taken(2900), slap(3100, 2)]
    assert told(*log)[1:] == ["2700 slap_void 1 late", "2900 pile 3 2", "3100 slap_void 2 empty_pile"]


def test_n10_before_the_first_card_a_slap_is_void() -> None:
    assert told(table(), slap(500, 2)) == ["500 slap_void 2 empty_pile"]


def test_n11_a_slap_on_the_last_chance_beats_the_challenger() -> None:
    log = [table(), *cards("1:8h", "2:Jc", "3:8d"), slap(3300, 3), taken(4000, 3)]
    assert told(*log)[1:] == ["3000 challenge_won 2", "3300 slap_won 3 P2 time None None", "4000 pile 3 3"]


def test_n11_a_false_one_burns_and_the_challenge_stands() -> None:
    log = [table(), *cards("1:8h", "2:Jc", "3:9d"), slap(3300, 3), taken(4000, 2)]
    assert told(*log)[1:] == [
        "3000 challenge_won 2",
        "3300 slap_false 3 no_pattern",
        "3300 burn 3 1 bottom",
        "4000 pile 2 4",
    ]


def test_n11_not_after_it_was_picked_up() -> None:
    log = [table(), *cards("1:8h", "2:Jc", "3:8d"), taken(3200, 2), slap(3300, 3)]
    assert told(*log)[1:] == ["3000 challenge_won 2", "3200 pile 2 3", "3300 slap_void 3 empty_pile"]


# -- house rules ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        "clasic", {"base": "nothing"}, {"base": "classic", "on": ["P99"]}, {"base": "classic", "set": {"F1": -1}},
        {"base": "classic", "off": "P2"}, {"base": "classic", "set": {"M9": "soon"}}, 7,
    ],
)  # fmt: skip
def test_house_rules_that_cannot_be_are_refused(rules: Any) -> None:
    with pytest.raises(ValueError, match=r"line 1|rules|P99|F1|M9|clasic|nothing|off"):
        rulings(table(rules=rules))


def test_house_rules_are_a_preset_changed() -> None:
    rules = {"base": "classic", "on": ["P1"], "off": ["M9"], "set": {"F1": 3}}
    assert told(table(rules=rules), *cards("1:7h"), slap(1300, 3))[1] == "1300 burn 3 3 bottom"
