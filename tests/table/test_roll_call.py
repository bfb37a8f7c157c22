"""The slap roll-call before a game."""

from __future__ import annotations

from random import Random

from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.simulated.devices.simulated_pads import SimulatedPads
from hardware.simulated.table.players import press
from referee.engine.observations import Slap
from referee.table.roll_call import CALL_PATIENCE, REMIND_EVERY, Call, CallWords, RollCall

MS = 1_000_000
SECOND = 1_000 * MS
NAMES = ("Ana", "Ben", "Cho", "Dora")


def calls(said: list[CallWords]) -> list[tuple[Call, tuple[int, ...]]]:
    return [(words.call, words.seats) for words in said]


def test_everybody_is_asked_and_it_ends_when_all_were_heard() -> None:
    call = RollCall(NAMES, 5 * SECOND)
    assert calls([call.opening]) == [(Call.ASKED, (1, 2, 3, 4))]
    for seat in (3, 1, 4):
        assert calls(call.hear(seat, 6 * SECOND + seat)) == [(Call.HEARD, (seat,))]
        assert seat not in call.waiting
    assert list(call.waiting) == [2]
    assert calls(call.hear(2, 8 * SECOND)) == [(Call.HEARD, (2,)), (Call.DONE, (1, 2, 3, 4))]
    assert call.over
    assert [*call.waiting, *call.silent] == []
    assert call.advance(60 * SECOND) == []


def test_nobody_is_sent_to_look_for_a_light_that_is_not_there() -> None:
    assert "your own light" in RollCall(NAMES, 0).opening.words
    assert "light" not in RollCall(NAMES, 0, is_lit=False).opening.words


def test_a_second_slap_says_nothing() -> None:
    call = RollCall(NAMES, 0)
    assert len(call.hear(1, SECOND)) == 1
    assert call.hear(1, SECOND + 200 * MS) == []


def test_the_silent_are_asked_by_name_once_and_named_in_the_end() -> None:
    call = RollCall(NAMES, 0)
    for seat in (1, 3):
        call.hear(seat, SECOND)
    assert call.advance(SECOND + REMIND_EVERY - 1) == []
    (again,) = call.advance(SECOND + REMIND_EVERY)
    assert (again.call, again.seats, again.words) == (Call.AGAIN, (2, 4), "Ben and Dora: slap your pad.")
    assert call.advance(SECOND + REMIND_EVERY + 1) == []
    call.hear(4, 12 * SECOND)
    (end,) = call.advance(CALL_PATIENCE)
    assert (end.call, end.seats) == (Call.SILENT, (2,))
    assert end.words.startswith("Ben: your pad was not heard.")
    assert (call.over, call.silent, call.waiting) == (True, (2,), ())


def test_those_who_are_left_after_somebody_was_heard_are_asked_again() -> None:
    call = RollCall(NAMES, 0, patience=60 * SECOND)
    assert calls(call.advance(REMIND_EVERY)) == [(Call.AGAIN, (1, 2, 3, 4))]
    call.hear(1, REMIND_EVERY + SECOND)
    assert call.advance(REMIND_EVERY + 2 * SECOND) == []
    assert calls(call.advance(2 * REMIND_EVERY + SECOND)) == [(Call.AGAIN, (2, 3, 4))]


def test_a_late_slap_changes_nothing_that_was_said() -> None:
    call = RollCall(NAMES, 0)
    call.advance(CALL_PATIENCE)
    assert call.hear(1, CALL_PATIENCE + 1) == []
    assert call.silent == (1, 2, 3, 4)


def test_pads_that_are_down_already_are_named_first() -> None:
    assert "Cho: take everything off your pad first." in RollCall(NAMES, 0, held=(3,)).opening.words


def test_a_cut_wire_is_found_at_the_simulated_table() -> None:
    """Three pads of four are slapped, one of them also gets a spark: too short to be taken for its hand."""
    pads, heard, chance = SimulatedPads(4), PadFilter(4), Random(1)
    call = RollCall(NAMES, 0)
    said: list[CallWords] = []
    edges: list[Edge] = []
    pads.pads.start(edges.append)
    contacts = [touch for seat in (1, 2, 4) for touch in press(seat, seat * SECOND, 90 * MS, chance)]
    contacts += [type(contacts[0])(5 * SECOND, 3, True), type(contacts[0])(5 * SECOND + MS // 2, 3, False)]
    for contact in contacts:
        pads.advance(contact.seat, contact.pressed, contact.t)
    pads.run_to(CALL_PATIENCE)
    for edge in edges:
        heard.feed(edge)
    for slap in heard.advance(CALL_PATIENCE):
        if isinstance(slap, Slap):
            said += call.hear(slap.seat, slap.t)
    said += call.advance(CALL_PATIENCE)
    assert calls(said) == [(Call.HEARD, (1,)), (Call.HEARD, (2,)), (Call.HEARD, (4,)), (Call.SILENT, (3,))]
