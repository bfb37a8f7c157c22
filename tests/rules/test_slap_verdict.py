"""The verdict on a hand against a pile: outcome, reason, rows and cards."""

from __future__ import annotations

from typing import Any

import pytest

from referee.rules.house import read_house_rules
from referee.rules.phase import Challenge, Claim, DeadHeat, LastChance, Over, Phase, Turn, War
from referee.rules.position import Laid, Lock, Position
from referee.rules.slap_verdict import OUTCOME_WORTH, Verdict, barred, hovers, judge_near_limits, judge_slap

MS = 1_000_000
LATER = 100_000 * MS


def table(cards: str = "", on: str = "", off: str = "", values: dict[str, Any] | None = None, **more: Any) -> Position:
    """Return three seats of `classic` and a pile: card n by seat n at n seconds; (7h) is burned, [7h] is dead."""
    rules = read_house_rules({"base": "classic", "on": on.split(), "off": off.split(), "set": values or {}})
    pile = tuple(
        Laid(face.strip("()[]"), f"c{n}", n * 1000 * MS, (n - 1) % 3 + 1, _state(face))
        for n, face in enumerate(cards.split(), start=1)
    )
    made = Position(
        rules, ("Ana", "Ben", "Cho"), (5, 5, 5), ((), (), ()), pile=pile, laid=len(pile), phase=Turn(1),
        locks=(None,) * 3, strikes=(0,) * 3, debts=(0,) * 3, presses=((),) * 3,
        latest=pile[-1].ref if pile else "",
    )  # fmt: skip
    return made.replace(**more)


def _state(face: str) -> Any:
    return {"(": "burned", "[": "dead"}.get(face[0], "played")


PAIR = "7h 7c"
WON = Verdict("won", "", ("M1", "P1"), ("P1",), ("c1", "c2"), ("7h", "7c"))
LATE = Verdict("void", "late", ("N1",))
NOTHING = Verdict("false", "no_pattern", ("F1",))
QUEEN = Challenge(1, 2, "Qh", "c1", 2)
WON_BY_CHALLENGE = Claim(3, "challenge", "c2", 3)
BEATEN = Verdict("void", "late", ("N11",), because=("c2",))


@pytest.mark.parametrize(
    ("position", "verdict"),
    [
        (table(PAIR), WON),
        (table("2s 7h 7c"), WON._replace(because=("c2", "c3"))),
        (table("7h 2c 7d"), Verdict("won", "", ("M1", "P2"), ("P2",), ("c1", "c2", "c3"), ("7h", "2c", "7d"))),
        (table("7h 8c"), Verdict("false", "no_pattern", ("F1",), because=("c2",))),
        (table("7h [7c]"), Verdict("false", "dead_card", ("F8",), because=("c2",))),
        (table("7h [7c]", off="F8"), Verdict("false", "no_pattern", ("F1",), because=("c2",))),
        (table("7h [9c] 7d"), WON._replace(because=("c1", "c3"), cards=("7h", "7d"))),
        (table(""), Verdict("void", "empty_pile", ("N10",))),
        (table("", off="N10"), Verdict("void", "empty_pile", ("M1",))),
        (table("", values={"N10": "false"}), Verdict("false", "too_soon", ("N10",))),
        (table("", values={"N10": "false"}, laid=4), Verdict("void", "empty_pile", ("M1",))),
        (table("(7h)"), Verdict("void", "empty_pile", ("M1",))),
        (table(PAIR, phase=Claim(3, "slap", "s1", 3)), LATE),
        (table(PAIR, phase=DeadHeat((1, 3))), LATE),
        (table(PAIR, phase=War((1, 3))), LATE),
        (table(PAIR, values={"N1": "false"}, phase=DeadHeat((1, 3))), LATE._replace(outcome="false")),
        (table(PAIR, off="N1", phase=DeadHeat((1, 3))), LATE),
        (table(PAIR, phase=WON_BY_CHALLENGE), WON),
        (table(PAIR, off="C9", phase=WON_BY_CHALLENGE), BEATEN),
        (table(PAIR, values={"N11": "challenger"}, phase=WON_BY_CHALLENGE), BEATEN),
        (
            table("7h 8c", on="N6", phase=Claim(2, "challenge", "c2", 2)),
            Verdict("won", "", ("N6",), ("N6",), ("c2",), ("8c",)),
        ),
        (
            table("7h 8c", on="N6", phase=Claim(3, "challenge", "c2", 3)),
            Verdict("false", "no_pattern", ("F1",), because=("c2",)),
        ),
        (table("7h 7c 2d", off="M8"), WON),
        (table("7h 7c 2d"), Verdict("false", "no_pattern", ("F1",), because=("c3",))),
        (table("7h 7c 2d 3s", off="M8"), Verdict("false", "no_pattern", ("F1",), because=("c4",))),
        (table("(??) 2c 7h", on="P5b"), Verdict("question", "bottom_card", ("P5b",), because=("c3",))),
        (table("??").replace(pile=(Laid("??", "c1", 0, 1, "played", False, 0, False),)), NOTHING),
        (table(PAIR, hovering=frozenset({(2, 1)})), Verdict("false", "hovering", ("M5",))),
        (table(PAIR, hovering=frozenset({(2, 0), (3, 2)})), WON),
    ],
)  # fmt: skip
def test_what_a_hand_of_the_second_seat_is_worth(position: Position, verdict: Verdict) -> None:
    assert judge_slap(position, 2, LATER) == verdict


@pytest.mark.parametrize(
    ("position", "verdict"),
    [
        (table(PAIR, phase=Over(1)), ("not_playing", "E1")),
        (table(PAIR, absent=frozenset({2})), ("not_playing", "M11")),
        (table(PAIR, on="E8", absent=frozenset({2})), ("not_playing", "E8")),
        (table(PAIR, paused_at=5), ("paused", "K6")),
        (table(PAIR, closed=True), ("paused", "P16b")),
        (table(PAIR, held=frozenset({2})), ("held", "M5")),
        (table(PAIR, off="M5", held=frozenset({2})), None),
        (table(PAIR, held=frozenset({1, 3})), None),
        (table(PAIR, locks=(None, Lock("cards", "N8", 2), None)), ("locked_out", "N8")),
        (table(PAIR, locks=(Lock("game", "F6c"), None, Lock("pile", "F6b"))), None),
        (table(PAIR, off="M7", phase=QUEEN), ("not_playing", "M7")),
        (table(PAIR, phase=QUEEN), None),
        (table(PAIR, off="M7"), None),
        (table("7h 7c 2d", counts=(5, 0, 5)), None),
        (table("7h 7c 2d", off="M10", counts=(5, 0, 5)), ("not_playing", "M10")),
        (table("7h 7c", off="M10", counts=(5, 0, 5), emptied=2), None),
        (table("7h 7c 2d", counts=(5, 0, 0)), ("not_playing", "M12")),
        (table("7h 7c 2d", off="M12", counts=(5, 0, 0)), None),
        (table("7h 7c 2d", counts=(5, 0, 0), phase=LastChance(1, 2)), None),
        (table("7h 7c", counts=(5, 0, 0), emptied=2), None),
        (table("7h 7c 2d", counts=(5, 0, 0), unsure=frozenset({2})), None),
    ],
)
def test_why_a_hand_of_the_second_seat_does_not_count_at_all(
    position: Position, verdict: tuple[str, str] | None
) -> None:
    wanted = None if verdict is None else Verdict("void", verdict[0], (verdict[1],))
    assert barred(position, 2, LATER) == wanted


def test_a_seat_that_there_is_not_and_a_game_without_slaps() -> None:
    assert barred(table(PAIR), 4, LATER) == barred(table(PAIR, off="M1"), 2, LATER)
    assert barred(table(PAIR), 4, LATER) == Verdict("void", "not_playing", ("E1",))
    assert barred(table(PAIR), 3, LATER) is None


def test_the_player_of_the_latest_card_is_still_in() -> None:
    """M12: until the next card."""
    assert table("7h 7c", counts=(5, 0, 5), emptied=2).just_emptied(2)
    assert not table("7h 7c", counts=(5, 0, 5), emptied=3).just_emptied(2)
    assert not table("7h 7c", counts=(5, 1, 5), emptied=2).just_emptied(2)
    assert not table("", counts=(5, 0, 5), emptied=2).just_emptied(2), "the pile was taken"


@pytest.mark.parametrize(
    ("rules", "seat", "since", "verdict"),
    [
        ({"on": "M6"}, 1, 399.999999, ("void", "M6")),
        ({"on": "M6"}, 1, 400, None),
        ({"on": "M6", "values": {"M6": "convicted"}}, 1, 399, None),
        ({"on": "M6", "values": {"M6": "convicted"}, "convicted": frozenset({1})}, 1, 399, ("void", "M6")),
        ({"on": "M6", "values": {"M6": [500, "convicted"]}, "convicted": frozenset({3})}, 1, 399, None),
        ({"on": "M15"}, 2, 299.999999, ("void", "M15")),
        ({"on": "M15"}, 2, 300, None),
        ({"on": "M15"}, 1, 299, None),
        ({"on": "N12"}, 1, 99.999999, ("void", "N12")),
        ({"on": "N12"}, 1, 100, None),
        ({"on": "N12", "values": {"N12": [200, "false"]}}, 1, 199, ("false", "N12")),
        ({"on": "M6", "still": 50 * MS}, 1, 449.999999, ("void", "M6")),
        ({"on": "M6", "still": 50 * MS}, 1, 450, None),
    ],
)
def test_faster_after_the_reveal_than_the_rules_allow(
    rules: dict[str, Any], seat: int, since: float, verdict: tuple[str, str] | None
) -> None:
    """To the nanosecond; a pause since the reveal does not count."""
    position = table(PAIR, off="M9", **rules)
    judged = judge_slap(position, seat, 2000 * MS + round(since * MS))
    if verdict is None:
        assert judged.outcome == "won"
    else:
        assert judged == Verdict(verdict[0], "too_soon", (verdict[1],), because=("c2",))  # type: ignore[arg-type]


@pytest.mark.parametrize(("since", "covered"), [(0, True), (149.999999, True), (150, False)])
def test_a_hand_that_can_only_have_meant_the_covered_card_is_void(since: float, covered: bool) -> None:
    """M9."""
    at = 3000 * MS + round(since * MS)
    void = Verdict("void", "covered", ("M9",), because=("c3",))
    false = Verdict("false", "no_pattern", ("F1",), because=("c3",))
    assert judge_slap(table("7h 7c 2d"), 2, at) == (void if covered else false)
    assert judge_slap(table("7h 7c [2d]"), 2, at) == (
        void if covered else Verdict("false", "dead_card", ("F8",), because=("c3",))
    )
    assert judge_slap(table("7h 7c 2d", off="M9"), 2, at) == false
    assert judge_slap(table("7h 8c 2d"), 2, at) == false, "nothing was covered"
    assert judge_slap(table("7h [7c] 2d"), 2, at) == false, "a dead card was"
    assert judge_slap(table("7h 7c 2d", on="N12"), 2, at) == (void if covered else false), (
        "and it is not too soon (N12)"
    )
    assert judge_slap(table("7h 7c 2d", still=10 * MS), 2, at + 10 * MS) == (void if covered else false)
    dead = Verdict("false", "dead_card", ("F8",), because=("c3",))
    under = judge_slap(table("(??) 7h 7c 2d", on="P5b"), 2, at + 1000 * MS)
    unseen_card = Verdict("question", "bottom_card", ("P5b",), because=("c4",))
    assert under == unseen_card, "whether a pattern was covered or not"
    over_dead = judge_slap(table("(??) 7h [9d]", on="P5b"), 2, at)
    question = Verdict("question", "bottom_card", ("P5b", "M9"), because=("c3",))
    assert over_dead == (question if covered else dead), "what it covered may have been a pattern"
    unseen = judge_slap(table("(??) 2c 7h 9d", on="P5b"), 2, at + 1000 * MS)
    wanted = Verdict("question", "bottom_card", ("P5b",), because=("c4",))
    assert unseen == wanted


def test_what_was_burned_since_the_cover_did_not_lie_under_what_was_covered() -> None:
    """M9 with P5b: the lowest card was another one then."""
    covered = table("7h 2c 7d 9s", on="P5b", off="P1 P2")
    for burned_at, outcome in ((4010, "void"), (3990, "false")):
        late = Laid("Kd", "b1", burned_at * MS, 1, "burned")
        judged = judge_slap(covered.replace(pile=(late, *covered.pile)), 2, 4100 * MS)
        assert judged.outcome == outcome


def test_more_presses_in_a_second_than_may_be_bar_the_pad_for_half_a_second() -> None:
    """N13: to the nanosecond."""
    presses = tuple((n * 100 * MS, 0) for n in range(6))
    position = table(PAIR, on="N13", presses=((), presses, ()))
    mashing = Verdict("void", "mashing", ("N13",))
    assert barred(position, 2, 600 * MS) == mashing, "the seventh"
    assert barred(position, 2, 1000 * MS - 1) == mashing
    assert barred(position, 2, 1000 * MS) is None
    assert barred(position, 1, 600 * MS) is None
    assert barred(table(PAIR, presses=((), presses, ())), 2, 600 * MS) is None
    seven = table(PAIR, on="N13", presses=((), (*presses, (600 * MS, 0)), ()))
    assert barred(seven, 2, 1100 * MS - 1) == mashing
    assert barred(seven, 2, 1100 * MS) is None


def test_a_hand_that_hovered_counts_again_after_the_next_card() -> None:
    position = table("7h 8c 9d", hovering=frozenset({(2, 2)}))
    assert hovers(position, 2) and not hovers(position, 1)
    assert not hovers(position.replace(laid=4), 2)
    assert not hovers(table("7h 8c 9d", off="M5", hovering=frozenset({(2, 2)})), 2)


def test_of_two_outcomes_the_better_one_is_known() -> None:
    """K9: for the slapper."""
    assert sorted(OUTCOME_WORTH, key=OUTCOME_WORTH.__getitem__) == ["false", "void", "question", "won"]


def test_every_phase_lets_the_hand_be_judged() -> None:
    """This file covers all of them."""
    phases: tuple[Phase, ...] = (Turn(1), QUEEN, LastChance(1, 2), Claim(1, "unread", "c2", 1))
    for phase in phases:
        assert judge_slap(table(PAIR, phase=phase), 2, LATER).outcome == "won"


def test_a_double_on_a_card_that_may_have_lost_a_challenge_wins_by_every_reading_of_it() -> None:
    """Reading 10: the pile is either the challenger's, and the kings begin the next one, or still contested."""
    position = table("?? Kd Kc", off="C9", phase=Claim(3, "unread", "c1", 3), unread=frozenset({"c1"}))
    won = Verdict("won", "", ("M1", "P1"), ("P1",), ("c2", "c3"), ("Kd", "Kc"))
    assert judge_slap(position, 1, 4000 * MS) == won


def test_an_unread_card_that_may_challenge_bars_hands_where_challenges_may_not_be_slapped() -> None:
    """M7 off, reading 10: the pair may be slapped by those readings alone that challenge no player."""
    asked = Verdict("question", "unreadable_card", ("K2",), because=("c1",))
    for off, verdict in (("M7", asked), ("", WON._replace(because=("c2", "c3"), cards=("7h", "7d")))):
        assert judge_slap(table("?? 7h 7d", off=off, unread=frozenset({"c1"})), 2, LATER) == verdict


def test_a_bar_for_mashing_is_sure_where_the_errors_together_cannot_lift_it() -> None:
    """N13, K9: the first and the last of seven presses within a second, less the errors of both."""
    presses = tuple((n * 100 * MS, 5) for n in range(6))
    position = table(PAIR, on="N13", presses=((), presses, ()))
    second = 1000 * MS
    for t, sure in ((second - 10, True), (second - 9, False), (second + 9, False), (second + 10, True)):
        late = position.replace(presses=((), (*presses[:5], (t - 1, 5)), ()))
        judged, sides = judge_near_limits(late, 2, t, 5)
        assert (judged.reason == "mashing") is (t < second)
        assert (len({side.outcome for side in sides}) < 2) is sure


@pytest.mark.parametrize(("since", "near"), [(158, False), (158.000001, True), (161.999999, True), (162, False)])
def test_a_hand_near_a_limit_is_judged_on_both_sides_of_it(since: float, near: bool) -> None:
    """K9, M9: 150 ms after the cover and 10 ms of a pause, within 2 ms."""
    position = table("7h 7c 2d", still=10 * MS)
    _, sides = judge_near_limits(position, 2, 3000 * MS + round(since * MS), 2 * MS)
    assert [side.outcome for side in sides] == (["void", "false"] if near else [])
