"""Deck memory beside the eye's readings: neither ever overrides the other silently."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.eye.classes import CARD_CLASSES, SURE_READING
from models.watch.prior import (
    LEAST_SLIP,
    MOST_CONFIDENCE,
    Candidates,
    NamedCard,
    Prior,
    Trust,
    judge,
    seen,
    spread,
    weighed,
)
from referee.engine.foresight import Foresight

QUEENS: Candidates = (("Qs", 0.6), ("Qc", 0.38))
CERTAIN = Foresight(stacks=((), ("Qc", "4d")), placed=("Qc", "4d", "7h"))
EXCLUDED = Foresight(stacks=((), ()), placed=("Qs", "7h"))

names = st.sampled_from(CARD_CLASSES)
slips = st.floats(LEAST_SLIP, 1.0)
priors = st.one_of(
    st.builds(lambda card: Prior(np.array([known == card for known in CARD_CLASSES])), names),
    st.builds(
        lambda gone, slip: Prior(np.array([known not in gone for known in CARD_CLASSES]), slip), st.sets(names), slips
    ),
)


@st.composite
def looks(draw: st.DrawFn) -> Candidates:
    """Return one frame's reading of a card."""
    some = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    left, shares = 1.0, []
    for _ in some:
        shares.append(draw(st.floats(0.0, left)))
        left -= shares[-1]
    return tuple(sorted(zip(some, shares, strict=True), key=lambda pair: -pair[1]))


def prior(foresight: Foresight, seat: int | None = 2) -> Prior:
    return Prior.of(foresight, seat)


@given(priors)
def test_the_prior_is_a_distribution_with_a_floor(one: Prior) -> None:
    chances = one.chances
    assert chances.shape == (len(CARD_CLASSES),) and chances.sum() == pytest.approx(1.0)
    assert chances.min() > 0 and chances.max() / chances.min() < 500


@given(priors, names, st.floats(0.999, 1.0), names)
def test_a_reading_of_999_in_1000_is_never_reversed(one: Prior, name: str, p: float, other: str) -> None:
    chances = np.full(len(CARD_CLASSES), 0.0)
    chances[CARD_CLASSES.index(other)] += 1 - p
    chances[CARD_CLASSES.index(name)] += p
    after = weighed(np.maximum(chances, 1e-12), one)
    assert CARD_CLASSES[int(after.argmax())] == name
    assert after.sum() == pytest.approx(1.0)


@settings(max_examples=300)
@given(priors, names, st.floats(SURE_READING, 1.0), st.lists(looks(), max_size=4))
def test_what_the_eye_is_sure_of_is_told_as_it_was_seen(
    one: Prior, name: str, sure: float, all_looks: list[Candidates]
) -> None:
    told = judge(name, sure, all_looks, one)
    assert told.card == name and told.confidence >= sure
    assert (told.confidence == sure) or one.allows(name)
    assert bool(told.candidates) != one.allows(name), "a contradiction names both"


@settings(max_examples=300)
@given(priors, names, st.floats(0.0, SURE_READING, exclude_max=True), st.lists(looks(), min_size=1, max_size=4))
def test_memory_only_chooses_what_the_eye_holds_likely(
    one: Prior, name: str, sure: float, all_looks: list[Candidates]
) -> None:
    told = judge(name, sure, all_looks, one)
    if told.confidence < SURE_READING:
        assert (told.card, told.confidence) == (name, sure)
        return
    assert one.allows(told.card) and told.confidence <= MOST_CONFIDENCE
    assert seen(all_looks)[CARD_CLASSES.index(told.card)] >= LEAST_SLIP
    assert told.card in dict(told.candidates)


@given(st.lists(looks(), max_size=6))
def test_what_was_seen_is_a_distribution(all_looks: list[Candidates]) -> None:
    chances = seen(all_looks)
    assert chances.sum() == pytest.approx(1.0) and chances.min() > 0


@given(looks())
def test_a_look_keeps_what_it_named_in_order_and_leaves_nothing_impossible(look: Candidates) -> None:
    chances = spread(look)
    assert chances.sum() == pytest.approx(1.0) and chances.min() > 0
    named = [float(chances[CARD_CLASSES.index(name)]) for name, _ in look]
    assert all(one >= next_ - 1e-12 for one, next_ in pairwise(named))


@pytest.mark.parametrize("foresight", [CERTAIN, EXCLUDED])
def test_an_unsure_reading_is_settled_by_memory(foresight: Foresight) -> None:
    told = judge("Qs", 0.6, [QUEENS, QUEENS], prior(foresight))
    assert told.card == "Qc" and SURE_READING <= told.confidence < 1
    assert [name for name, _ in told.candidates][:2] == ["Qs", "Qc"], "the log keeps what the eye alone made of it"


def test_without_memory_it_stays_unsure() -> None:
    told = judge("Qs", 0.6, [QUEENS, QUEENS], None)
    assert (told.card, told.confidence) == ("Qs", 0.6)
    assert dict(told.candidates)["Qc"] > 0.2


def test_agreement_makes_surer_and_never_less_sure() -> None:
    assert judge("Qc", 0.93, [(("Qc", 0.93), ("Qs", 0.06))], prior(CERTAIN)).confidence > 0.99
    assert judge("Qc", 0.9999, [(("Qc", 0.9999),)], prior(CERTAIN)).confidence == 0.9999
    assert judge("Qc", 0.93, [(("Qc", 0.93), ("Qs", 0.06))], prior(EXCLUDED)).confidence > 0.97
    free = judge("Qc", 0.93, [(("Qc", 0.93), ("Kc", 0.06))], prior(EXCLUDED))
    assert free.confidence == pytest.approx(0.93, abs=0.005), "what memory excludes was no rival"


def test_a_sure_reading_against_memory_is_told_with_what_memory_expects() -> None:
    told = judge("Kd", 0.95, [(("Kd", 0.95),)] * 3, prior(CERTAIN))
    assert (told.card, told.confidence) == ("Kd", 0.95)
    assert [name for name, _ in told.candidates] == ["Kd", "Qc"]


def test_memory_alone_names_no_card() -> None:
    assert judge("??", 0.0, [], prior(CERTAIN)).confidence < SURE_READING
    faint = judge("??", 0.2, [(("9d", 0.2), ("9h", 0.15))] * 3, prior(CERTAIN))
    assert faint.card == "??", "the eye has nothing that would speak for the queen"


def test_memory_that_rules_out_everything_says_nothing() -> None:
    nothing = Prior(np.zeros(len(CARD_CLASSES), bool))
    assert nothing.allows("Qs") and np.ptp(nothing.chances) == 0
    assert judge("Qs", 0.95, [QUEENS], nothing).candidates == ()


def test_where_the_seat_is_not_known_only_what_nobody_can_lay_is_excluded() -> None:
    assert prior(CERTAIN, None).allows("Qc") and prior(CERTAIN, None).allows("9c")
    assert not prior(CERTAIN, None).allows("4d") and not prior(CERTAIN, None).allows("7h")
    assert not prior(CERTAIN, 1).allows("Qc"), "it lies in another's stack"


def test_an_exclusion_says_less_than_a_certainty() -> None:
    certain, thirty = Prior(np.arange(54) < 1).chances, Prior(np.arange(54) < 30).chances
    assert certain[0] > 0.9 and 450 < certain[0] / certain[-1] < 500
    assert thirty[0] / thirty[-1] == pytest.approx(50)


def test_memory_that_was_often_wrong_of_late_is_trusted_less() -> None:
    trust = Trust()
    expected = prior(CERTAIN)
    for _ in range(30):
        trust.note(NamedCard("Qc", 0.99), expected)
    assert trust.slip == LEAST_SLIP, "never less than that"
    before = judge("Qs", 0.6, [QUEENS], prior(CERTAIN)).confidence
    for _ in range(10):
        trust.note(NamedCard("Kd", 0.99, (("Kd", 0.99), ("Qc", 0.01))), expected)
    assert trust.slip > 0.3
    assert judge("Qs", 0.6, [QUEENS], Prior.of(CERTAIN, 2, trust.slip)).confidence < before
    for _ in range(30):
        trust.note(NamedCard("Qc", 0.99), expected)
    assert trust.slip == LEAST_SLIP, "that was long ago"


def test_what_memory_chose_itself_is_no_proof_of_it() -> None:
    trust = Trust()
    for _ in range(10):
        trust.note(NamedCard("Kd", 0.99, (("Kd", 0.99),)), prior(CERTAIN))
    wrong = trust.slip
    trust.note(judge("Qs", 0.6, [QUEENS], prior(CERTAIN)), prior(CERTAIN))
    trust.note(NamedCard("??", 0.4), prior(CERTAIN))
    trust.note(NamedCard("Kd", 0.99), None)
    assert trust.slip == wrong


def test_clear_looks_outweigh_blurred_ones() -> None:
    blurred: Candidates = (("Qs", 0.5), ("Qc", 0.45))
    clear: Candidates = (("Qc", 0.95), ("Qs", 0.03))
    for order in ([blurred, blurred, clear], [clear, blurred, blurred]):
        chances = seen(order)
        assert CARD_CLASSES[int(chances.argmax())] == "Qc" and chances.max() > SURE_READING
