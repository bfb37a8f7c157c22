"""People's marks find their slaps, by their instants alone; an unmatched mark is reported."""

from __future__ import annotations

from referee.engine.observations import Other, Slap
from referee.engine.rulings import Ruling
from referee.engine.shadow_marks import FALSE, GOOD
from referee.options.shadow.comparison import REACH, Comparison, JudgedSlap, Mark, compare, find_marks, judge_slaps
from referee.units import MS, SECOND


def slap(seconds: float, verdict: str = GOOD, *more: float) -> JudgedSlap:
    """Return a slap of one hand and of more after it, s."""
    instants = [round(second * SECOND) for second in (seconds, *more)]
    hands = tuple(f"s{t}" for t in instants)
    return JudgedSlap(hands, instants[0], instants[-1], None, verdict, "" if verdict else "dead_heat")


def mark(seconds: float, verdict: str = GOOD) -> Mark:
    return Mark(f"m{seconds}", round(seconds * SECOND), verdict)


def places(found: Comparison) -> dict[str, list[float]]:
    """Return the instants of the contents of each place, s."""
    return {
        "agreed": [compared.slap.t / SECOND for compared in found.agreed],
        "differing": [compared.slap.t / SECOND for compared in found.differing],
        "undecided": [compared.slap.t / SECOND for compared in found.undecided],
        "unmarked": [unmarked.t / SECOND for unmarked in found.unmarked],
        "stray": [given.t / SECOND for given in found.stray],
        "replaced": [given.t / SECOND for given in found.replaced],
    }


def filled(found: Comparison) -> dict[str, list[float]]:
    return {place: ones for place, ones in places(found).items() if ones}


def test_a_mark_belongs_to_the_latest_slap_before_it() -> None:
    found = compare([slap(1), slap(5, FALSE), slap(9)], [mark(3), mark(6), mark(12, FALSE)])
    assert filled(found) == {"agreed": [1], "differing": [5, 9]}


def test_a_mark_before_every_slap_or_long_after_one_is_stray() -> None:
    late = (1.5 * SECOND + REACH) / SECOND
    found = compare([slap(1, GOOD, 1.5)], [mark(0.5), mark(late + 0.001)])
    assert filled(found) == {"unmarked": [1], "stray": [0.5, late + 0.001]}
    assert filled(compare([slap(1, GOOD, 1.5)], [mark(late)])) == {"agreed": [1]}


def test_a_second_mark_replaces_the_first() -> None:
    found = compare([slap(1)], [mark(2, FALSE), mark(3)])
    assert filled(found) == {"agreed": [1], "replaced": [2]}


def test_what_the_referee_could_not_know_counts_for_nobody() -> None:
    found = compare([slap(1, ""), slap(4)], [mark(2, FALSE), mark(5)])
    assert filled(found) == {"undecided": [1], "agreed": [4]}
    assert found.counted == 1


def ruled(kind: str, hand: str, **fields: object) -> Ruling:
    return Ruling(kind, f"{kind}@{hand}", 0, (hand,), ("P1",), fields)


def hand(name: str, ms: int, seat: int = 1) -> Slap:
    return Slap(t=ms * MS, id=name, seat=seat)


def test_hands_within_a_second_are_one_slap_and_the_win_decides() -> None:
    lines = [hand("s1", 1000), hand("s2", 1900, 2), hand("s3", 2800, 3), hand("s4", 3900)]
    found = judge_slaps(lines, [ruled("slap_false", "s1"), ruled("slap_won", "s2"), ruled("slap_false", "s4")])
    assert [(decision.hands, decision.verdict) for decision in found] == [(("s1", "s2", "s3"), GOOD), (("s4",), FALSE)]


def test_dead_heats_doubt_questions_and_void_hands_are_undecided() -> None:
    lines = [hand(f"s{n}", 5000 * n) for n in range(1, 6)]
    doubtful = Ruling("slap_won", "slap_won@s2", 0, ("s2",), ("K9",), {}, doubt=True)
    rulings = [
        ruled("dead_heat", "s1"), ruled("slap_won", "s1"), doubtful,
        ruled("question", "s3", ask="unreadable_card", about=["s3"]), ruled("slap_void", "s4"),
        ruled("slap_false", "s5"), ruled("question", "c1", ask="who_played", about=["c1"]),
    ]  # fmt: skip
    found = [(slap.verdict, slap.why) for slap in judge_slaps(lines, rulings)]
    assert found == [("", "dead_heat"), ("", "doubt"), ("", "question"), ("", "void"), (FALSE, "")]


def test_only_known_verdicts_are_marks() -> None:
    def line(t: int, **extra: object) -> Other:
        return Other(t=t, id=f"m{t}", name="mark", extra=extra)

    told = [line(3, verdict=FALSE), line(1, verdict=GOOD), line(2, verdict="maybe"), line(4)]
    assert [(mark.t, mark.verdict) for mark in find_marks(told)] == [(1, GOOD), (3, FALSE)]
