"""A dispute: the slappable moments, the meaning of a marked frame, and the result of the marks."""

from __future__ import annotations

from io import BytesIO

import pytest

from referee.engine.log import read_observations
from referee.engine.observations import Card, Foul, Observation, Slap, Taken
from referee.engine.rulings import Ruling
from referee.options.video_review.dispute import Dispute, DisputeError
from referee.options.video_review.footage_log import FrameSpan, footage_table
from referee.units import MS

NAMES = ("Ana", "Ben", "Cho")
FRAME = 40 * MS


def frames(count: int = 400) -> list[FrameSpan]:
    return [FrameSpan(n * FRAME, FRAME) for n in range(count)]


def cards(*names: str, gap: int = 1_000 * MS, start: int = 500 * MS) -> list[Observation]:
    """Return cards that follow each other, with unknown players."""
    return [Card(t=start + n * gap, id=f"c{n + 1}", card=name, t_error=FRAME) for n, name in enumerate(names)]


def dispute(seen: list[Observation], rules: str = "classic", dealer: int | None = None) -> Dispute:
    return Dispute(footage_table(NAMES, rules, seen, dealer), seen, frames())


def kinds(rulings: list[Ruling]) -> list[tuple[str, object]]:
    return [(ruling.kind, ruling.get("seat")) for ruling in rulings]


def test_moments_are_the_cards_and_tell_what_may_be_slapped() -> None:
    told = dispute(cards("7h", "7c", "9d", "7s", "2h"))
    assert [(moment.card.card, moment.patterns) for moment in told.moments] == [
        ("7h", ()), ("7c", ("P1",)), ("9d", ()), ("7s", ("P2",)), ("2h", ()),
    ]  # fmt: skip
    assert told.moments[3].pile == ("7h", "7c", "9d", "7s")


def test_a_moment_may_hang_on_a_card_that_nobody_read() -> None:
    told = dispute(cards("7h", "??"))
    assert [moment.slappable for moment in told.moments] == [False, True]
    assert told.moments[1].unread


def test_house_rules_say_what_may_be_slapped() -> None:
    seen = cards("Kh", "Qc")
    assert [m.patterns for m in dispute(seen).moments] == [(), ()]
    assert [m.patterns for m in dispute(seen, "short").moments] == [(), ("P6",)]


def test_a_moment_shows_the_frames_from_before_its_card_until_after_the_next() -> None:
    first, second, third = dispute(cards("7h", "7c", "9d")).moments
    # The card came up between 1460 and 1540 ms; frame 37 begins at 1480 ms.
    assert second.frames[0] == 35
    assert second.frames[-1] == 65
    assert first.frames[-1] < second.frames[-1] < third.frames[-1]


def test_a_hand_fell_between_the_last_frame_without_it_and_the_first_with_it() -> None:
    told = dispute(cards("7h", "7c"))
    told.mark("c2", 1, 45)
    slap = next(line for line in told.lines() if isinstance(line, Slap))
    # Frame 44 was exposed from 1760 ms on, frame 45 until 1840 ms.
    assert (slap.t, slap.t_error) == (1_800 * MS, 40 * MS)
    assert slap.extra == {"by": "people", "frame": 45}


def test_uneven_frames_and_their_clock_make_the_error() -> None:
    spans = [FrameSpan(t * MS, 10 * MS, 2 * MS) for t in (0, 100, 150, 290, 300)]
    told = Dispute(footage_table(NAMES, "classic"), [Card(t=50 * MS, id="c1", card="7h")], spans)
    assert told.instant(3) == (225 * MS, 77 * MS)


@pytest.mark.parametrize("places", [(0, 10), (-1, 10), (400, 10)])
def test_a_hand_that_lies_there_from_the_first_frame_tells_nothing(places: tuple[int, int]) -> None:
    told = dispute(cards("7h", "7c"))
    with pytest.raises(DisputeError):
        told.instant(places[0])


def test_frames_that_are_missing_say_nothing_of_an_instant() -> None:
    spans = [FrameSpan(0, FRAME), FrameSpan(2_500 * MS, FRAME)]
    told = Dispute(footage_table(NAMES, "classic"), cards("7h"), spans)
    with pytest.raises(DisputeError, match="missing"):
        told.instant(1)


@pytest.mark.parametrize(("moment", "seat", "frame"), [("c9", 1, 45), ("c2", 4, 45), ("c2", 1, 390)])
def test_a_mark_of_nothing_that_is_there_is_refused(moment: str, seat: int, frame: int) -> None:
    told = dispute(cards("7h", "7c"))
    with pytest.raises(DisputeError):
        told.mark(moment, seat, frame)
    assert told.marks.hands == {}


def test_the_earlier_hand_wins_where_two_frames_lie_between() -> None:
    told = dispute(cards("7h", "7c"))
    told.mark("c2", 2, 47)
    told.mark("c2", 1, 45)
    won, late = told.verdicts(told.rule(), "c2")
    assert (won.kind, won["seat"], won["patterns"]) == ("slap_won", 1, ["P1"])
    assert (won["margin"], won["error"]) == (80 * MS, 80 * MS)
    assert (late.kind, late["seat"]) == ("slap_void", 2)


def test_neighbouring_frames_are_a_dead_heat() -> None:
    told = dispute(cards("7h", "7c"))
    told.mark("c2", 2, 46)
    told.mark("c2", 1, 45)
    heat, *rest = told.verdicts(told.rule(), "c2")
    assert (heat.kind, tuple(heat["seats"])) == ("dead_heat", (1, 2))
    assert (heat["margin"], heat["error"]) == (40 * MS, 80 * MS)
    assert [ruling.kind for ruling in rest] == ["question"]


def test_a_hand_on_nothing_is_false() -> None:
    told = dispute(cards("7h", "7c", "9d"))
    told.mark("c3", 3, 75)
    assert kinds(told.verdicts(told.rule(), "c3")) == [("slap_false", 3)]


def test_a_hand_may_fall_again_at_the_next_moment() -> None:
    told = dispute(cards("7h", "9c", "Td", "9h"))
    told.mark("c3", 1, 75)
    told.mark("c4", 1, 100)
    assert kinds(told.verdicts(told.rule(), "c4")) == [("slap_won", 1)]


def test_footage_that_begins_in_the_middle_holds_no_card_to_be_out_of_turn() -> None:
    """The turn is unknown."""
    seats = (3, 3, 2, 1)
    seen: list[Observation] = [
        Card(t=n * 1_000 * MS, id=f"c{n}", card=card, seat=seat)
        for n, (card, seat) in enumerate(zip(("4h", "7h", "9c", "7d"), seats, strict=True), start=1)
    ]
    seen.append(Taken(t=5_000 * MS, id="t1", seat=2))
    seen += [Card(t=6_000 * MS, id="c5", card="5c", seat=1), Card(t=7_000 * MS, id="c6", card="5d", seat=1)]
    told = dispute(seen)
    assert [moment.patterns for moment in told.moments] == [(), (), (), ("P2",), (), ("P1",)]
    told.mark("c4", 2, 115)
    told.mark("c6", 1, 185)
    rulings = told.rule()
    assert "dead_card" not in {ruling.kind for ruling in rulings}
    assert kinds(told.verdicts(rulings, "c4")) == [("slap_won", 2)]
    assert kinds(told.verdicts(rulings, "c6")) == [("slap_won", 1)]


def test_the_player_of_the_first_card_is_taken_to_be_in_turn() -> None:
    seen: list[Observation] = [
        Card(t=0, id="c1", card="4h"),
        Card(t=1_000 * MS, id="c2", card="7h", seat=1),
        Card(t=2_000 * MS, id="c3", card="9c", seat=2),
    ]
    told = dispute(seen)
    assert told.table.dealer == 2
    assert [line.seat for line in told.lines() if isinstance(line, Card)] == [None, 1, 2]


def test_players_who_quarrel_lay_no_card_out_of_turn() -> None:
    """Seat 1 was first, seat 2 took the pile all the same, and led; later events are ruled by its cards."""
    seen = cards("7h", "7c")
    seen += [
        Taken(t=3_000 * MS, id="t1", seat=2),
        Card(t=4_000 * MS, id="c3", card="Td", seat=2),
        Card(t=5_000 * MS, id="c4", card="Ts", seat=3),
    ]
    told = dispute(seen)
    told.mark("c2", 2, 48)
    told.mark("c2", 1, 44)
    told.mark("c4", 3, 135)
    rulings = told.rule()
    assert "dead_card" not in {ruling.kind for ruling in rulings}
    assert kinds(told.verdicts(rulings, "c2")) == [("slap_won", 1), ("slap_void", 2)]
    assert kinds(told.verdicts(rulings, "c4")) == [("slap_won", 3)]


def test_footage_from_the_deal_on_knows_whose_turn_it_is() -> None:
    seen: list[Observation] = [
        Card(t=1_000 * MS, id="c1", card="7h", seat=1),
        Card(t=2_000 * MS, id="c2", card="7d", seat=3),
    ]
    told = dispute(seen, dealer=3)
    assert [moment.patterns for moment in told.moments] == [(), ()]
    assert "dead_card" in {ruling.kind for ruling in told.rule()}


def test_marks_can_be_taken_back_one_by_one() -> None:
    told = dispute(cards("7h", "7c"))
    told.mark("c2", 1, 45)
    told.mark("c2", 1, 46)
    told.note_unslapped("c2")
    assert told.marks.hands == {}
    told.undo()
    assert told.marks.hands == {("c2", 1): 46}
    told.undo()
    assert told.marks.hands == {("c2", 1): 45}
    told.undo()
    told.undo()
    assert told.marks.hands == {}


def test_the_log_says_that_people_told_and_is_read_again() -> None:
    told = dispute(cards("7h", "7c", "9d", "7s"))
    told.mark("c2", 1, 45)
    told.note_unslapped("c4")
    lines = [line for _, line in read_observations(BytesIO(told.write_log().encode()))]
    assert [line.kind or line.name for line in lines if line.extra.get("by") == "people"] == [  # type: ignore[attr-defined]
        "slap", "unslapped",
    ]  # fmt: skip
    assert len({line.id for line in lines}) == len(lines)


def test_what_else_was_seen_is_no_evidence_of_cards() -> None:
    """A hand that rests over the pile is a way to slap without pads."""
    seen = [*cards("7h", "7c"), Foul(t=1_700 * MS, id="f1", seat=1, foul="hover")]
    told = dispute(seen)
    told.mark("c2", 1, 45)
    assert kinds(told.verdicts(told.rule(), "c2")) == [("slap_won", 1)]


def test_a_card_that_was_none_is_struck_out() -> None:
    """A hand that comes down may show an old card's corner, which the eye takes for a new one."""
    told = dispute(cards("8h", "3d", "5s", "8s"))
    assert [moment.patterns for moment in told.moments] == [(), (), (), ()]
    told.mark("c3", 1, 70)
    told.strike_out("c3")
    assert [(moment.card.id, moment.patterns) for moment in told.moments] == [("c1", ()), ("c2", ()), ("c4", ("P2",))]
    assert told.marks.hands == {}
    told.mark("c4", 3, 95)
    assert kinds(told.verdicts(told.rule(), "c4")) == [("slap_won", 3)]
    told.undo()
    told.undo()
    assert len(told.moments) == 4
    assert told.marks.hands == {("c3", 1): 70}


def test_a_misread_card_is_named() -> None:
    told = dispute(cards("8h", "3d"))
    told.name_card("c2", "8d")
    assert told.moments[1].patterns == ("P1",)
    told.mark("c2", 2, 45)
    assert kinds(told.verdicts(told.rule(), "c2")) == [("slap_won", 2)]


def test_a_card_that_nobody_had_seen_is_added_in_its_frame() -> None:
    told = dispute(cards("8h", "9d", gap=2_000 * MS))
    told.add_card(30, "8c")
    assert [(moment.card.id, moment.patterns) for moment in told.moments] == [
        ("c1", ()),
        ("added-30", ("P1",)),
        ("c2", ()),
    ]
    card = told.moments[1].card
    assert (card.t, card.t_error, card.extra["by"]) == (1_200 * MS, 40 * MS, "people")


def test_a_take_that_never_was_is_struck_out() -> None:
    seen = [*cards("8h", "8d"), Taken(t=1_200 * MS, id="t1", seat=None)]
    told = dispute(seen)
    assert [moment.patterns for moment in told.moments] == [(), ()]
    assert [take.id for take in told.takes] == ["t1"]
    told.strike_out("t1")
    assert [moment.patterns for moment in told.moments] == [(), ("P1",)]
    assert told.takes == []


@pytest.mark.parametrize(
    ("do", "what"),
    [
        ("name_card", ("c9", "8d")), ("name_card", ("c1", "??")), ("strike_out", ("table",)), ("strike_out", ("c3",)),
        ("add_card", (0, "8c")), ("add_card", (30, "11h")), ("note_unslapped", ("c9",)),
    ],
)  # fmt: skip
def test_corrections_of_nothing_that_is_there_are_refused(do: str, what: tuple[object, ...]) -> None:
    told = dispute(cards("8h", "8d"))
    before = told.marks
    with pytest.raises(DisputeError):
        getattr(told, do)(*what)
    assert told.marks == before
