"""The shipped eye's own doubts, and deck memory's help with them over a game (more of it: `make prior-check`)."""

from __future__ import annotations

import pytest

from models.eye import card_join, card_name
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import Eye
from tests.models.eye.test_heaps import reading, spots
from tools.measure.prior_check import Bank, read, score

CARDS = 160


@pytest.fixture(scope="module")
def blurred() -> Bank:
    return read(Eye.load(), ["harbour"], seed=3, ways=["blurred"], hard=(0.9, 1.0))


def test_memory_names_more_cards_for_sure_and_none_of_them_wrongly(blurred: Bank) -> None:
    """A retrained eye may see more or less of these; memory's contribution is right all the same."""
    told = score(blurred, seed=1, cards=CARDS)
    assert told.known > CARDS // 2
    assert told.helped >= told.alone + (told.cards - told.alone) // 4
    assert told.resolved_wrong <= 1 and told.helped_wrong <= told.alone_wrong + 1


def test_where_memory_is_wrong_the_eye_is_not_talked_out_of_what_it_sees(blurred: Bank) -> None:
    told = score(blurred, seed=1, cards=CARDS, wrong=True)
    assert told.cards > CARDS // 4
    assert told.resolved_wrong <= told.cards // 20
    assert told.against >= 0.9 * told.alone


def test_what_else_a_card_may_be_is_told_with_the_confidence_of_the_reading() -> None:
    weights = card_name.EvidenceWeights()
    for surely in (0.4, 2.0, 8.0):
        (card,) = card_join.candidates(spots(200, 200), [reading("Qs", surely), reading("Qs", surely)], weights.index)
        name, confidence = card_name.judged(card, weights)
        told = card_name.alternatives(card, weights)
        assert told[0][1] == pytest.approx(confidence)
        assert name in (told[0][0], UNREAD)
        assert sum(p for _, p in told) <= 1 + 1e-9
        assert [p for _, p in told[1:]] == sorted((p for _, p in told[1:]), reverse=True)


def test_a_torn_reading_names_both_cards() -> None:
    torn = [reading("Qs", 3.0), reading("Qc", 3.0)]
    (card,) = card_join.candidates(spots(200, 200), torn, card_name.EvidenceWeights().index)
    told = dict(card_name.alternatives(card, card_name.EvidenceWeights()))
    assert {"Qs", "Qc"} <= set(told) and max(told.values()) < SURE_READING
