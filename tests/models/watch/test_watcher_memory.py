"""The watcher with deck memory: an unsure eye is helped, a sure one is not overruled."""

from __future__ import annotations

from dataclasses import replace

from models.eye.classes import SURE_READING
from referee.engine.foresight import Foresight
from tests.models.watch.painted import Painted
from tests.models.watch.test_watcher import KING, SEVEN, Stream, settled

QUEEN = Painted("Qc", 480, 360, 30, says="Qs", confidence=0.6, candidates=(("Qs", 0.6), ("Qc", 0.38)))
KNOWN = Foresight(stacks=((), (), ("Qc", "4d"), ()), placed=("7h", "Ks", "Qc", "4d"))
FROM_THREE = 90.0


def laid(card: Painted, foresight: Foresight | None) -> Stream:
    """Let seat 3 lay a card on the seven and the king."""
    stream = settled()
    stream.watcher.recall(foresight)
    stream.lay([SEVEN, KING], card, FROM_THREE)
    stream.show([SEVEN, KING, card], frames=12)
    return stream


def test_what_the_eye_alone_cannot_tell_stays_unread() -> None:
    card = laid(QUEEN, None).cards[-1]
    assert card.card == "??" and card.confidence is not None and card.confidence < SURE_READING
    assert [name for name, _ in card.candidates][:2] == ["Qs", "Qc"]


def test_memory_settles_what_the_eye_leaves_open() -> None:
    card = laid(QUEEN, KNOWN).cards[-1]
    assert (card.card, card.seat) == ("Qc", 3)
    assert card.confidence is not None and card.confidence >= SURE_READING
    assert [name for name, _ in card.candidates][:2] == ["Qs", "Qc"]


def test_memory_of_where_the_other_lies_settles_it_too() -> None:
    elsewhere = Foresight(stacks=((), (), (), ()), placed=("7h", "Ks", "Qs"))
    assert laid(QUEEN, elsewhere).names[-1] == "Qc"


def test_a_sure_eye_is_believed_and_the_contradiction_is_on_record() -> None:
    card = laid(replace(QUEEN, says="Td", confidence=0.97, candidates=(("Td", 0.97),)), KNOWN).cards[-1]
    assert card.card == "Td" and card.confidence is not None and card.confidence >= 0.97
    assert [name for name, _ in card.candidates] == ["Td", "Qc"]


def test_a_reading_that_agrees_is_told_as_ever_and_surer() -> None:
    alone = laid(replace(QUEEN, says=None, confidence=0.93, candidates=()), None).cards[-1]
    helped = laid(replace(QUEEN, says=None, confidence=0.93, candidates=()), KNOWN).cards[-1]
    assert (helped.card, helped.t, helped.candidates) == (alone.card, alone.t, ())
    assert helped.confidence is not None and alone.confidence is not None
    assert helped.confidence > alone.confidence


def test_a_card_just_told_is_not_expected_once_more() -> None:
    """The prediction is not renewed: the queen was laid, so the next of that hand is the four."""
    stream = laid(QUEEN, KNOWN)
    four = Painted("4d", 500, 340, -35, says="4h", confidence=0.55, candidates=(("4h", 0.55), ("4d", 0.42)))
    stream.lay([SEVEN, KING, QUEEN], four, FROM_THREE)
    stream.show([SEVEN, KING, QUEEN, four], frames=12)
    assert stream.names[-2:] == ["Qc", "4d"]


def test_memory_says_nothing_after_a_card_of_an_unknown_hand() -> None:
    stream = settled()
    stream.watcher.recall(KNOWN)
    fallen = Painted("Jh", 440, 380, 70)
    stream.show([SEVEN, KING, fallen], frames=8)
    assert stream.cards[-1].card == "Jh" and stream.cards[-1].seat is None
    stream.lay([SEVEN, KING, fallen], QUEEN, FROM_THREE)
    stream.show([SEVEN, KING, fallen, QUEEN], frames=12)
    assert stream.names[-1] == "??"
