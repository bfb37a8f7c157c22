"""Indices to cards: pairing, conflict, heaps and their tops."""

from dataclasses import replace

import numpy as np
import pytest

from models.eye import card_join, card_name, heaps
from models.eye.classes import CARD_CLASSES, RANK_CLASSES, SUIT_CLASSES
from models.eye.finder import Spot
from models.eye.geometry import quad_of
from models.eye.reader import CardReading, Reading, log_softmax, mean_reading

W = card_name.EvidenceWeights()


def reading(card: str, surely: float = 8.0, index: float = 6.0) -> Reading:
    rank, suit = np.zeros(len(RANK_CLASSES)), np.zeros(len(SUIT_CLASSES))
    rank[RANK_CLASSES.index(card[0])] = surely
    suit[SUIT_CLASSES.index(card[1])] = surely
    return Reading(log_softmax(rank), log_softmax(suit), index)


def spots(x: float, y: float, angle: float = 0.0, height: float = 140.0, which: str = "ab") -> list[Spot]:
    """Return the two indices of a card of that height at x, y, turned by degrees; `a` upper left, `b` its opposite."""
    a = np.radians(angle)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    up, right = turn @ np.array([0, -height / 2]), turn @ np.array([height / 2 * 0.714, 0])
    centre = np.array([x, y], float)
    out = []
    for name in which:
        sign = 1.0 if name == "a" else -1.0
        place = centre + sign * (0.78 * up - 0.8 * right)
        out.append(Spot(place, sign * up * 0.22, centre.copy(), sign * up, sign * right, 0.9))
    return out


def whole(candidate: card_join.Candidate, card: str, bare: float) -> CardReading:
    r = reading(card)
    return CardReading(r.rank, r.suit, bare, quad_of(*candidate.frame))


def test_opposite_indices_are_one_card() -> None:
    found = card_join.candidates(spots(200, 200, 30), [reading("7h"), reading("7h")], W.index)
    assert len(found) == 1
    assert np.allclose(found[0].centre, [200, 200])
    assert card_name.judged(found[0], W)[0] == "7h"


@pytest.mark.parametrize("aslant", [0.45, 0.6, 1.0])
def test_a_card_seen_aslant_is_one_and_keeps_its_turn(aslant: float) -> None:
    """The finder takes each index's card for as long as seen from above; the other index's place shows its tilt."""
    flat = np.array([1.0, aslant])
    seen_so = [replace(s, centre=s.centre * flat, up=s.up * (aslant**0.5)) for s in spots(200, 200)]
    told = [
        replace(s, card_centre=s.centre + (t.card_centre - t.centre))
        for s, t in zip(seen_so, spots(200, 200), strict=True)
    ]
    (card,) = card_join.candidates(told, [reading("2h"), reading("2h")], W.index)
    assert np.allclose(card.centre, [200, 200 * aslant])
    assert abs(float(card.up[0])) < 0.05 * abs(float(card.up[1]))
    assert 2 * abs(float(card.up[1])) == pytest.approx(140 * aslant, rel=0.05)


def test_two_cards_of_one_heap_stay_two() -> None:
    lower, upper = spots(200, 200, 0, which="a"), spots(212, 193, 48)
    found = card_join.candidates([*lower, *upper], [reading("9c"), reading("Kd"), reading("Kd")], W.index)
    assert sorted(card_name.judged(c, W)[0] for c in found) == ["9c", "Kd"]


@pytest.mark.parametrize(("beside", "cards"), [("6d", ["6d", "7h"]), ("7h", ["7h"])])
def test_a_corner_that_has_an_index_takes_no_other_cards(beside: str, cards: list[str]) -> None:
    own, other = spots(200, 200), spots(216, 204, height=120, which="b")
    found = card_join.candidates([*own, *other], [reading("7h"), reading("7h"), reading(beside, index=5.0)], W.index)
    assert sorted(card_name.judged(c, W)[0] for c in found) == cards


def test_a_neighbours_clear_index_does_not_part_a_cards_two_ends() -> None:
    below, own = spots(192, 195, height=160, which="a"), spots(200, 200)
    found = card_join.candidates([*below, *own], [reading("7c", index=9.0), reading("8d"), reading("8d")], W.index)
    assert sorted((card_name.judged(c, W)[0], len(c.spots)) for c in found) == [("7c", 1), ("8d", 2)]


def test_like_cards_far_apart_stay_two() -> None:
    found = card_join.candidates([*spots(200, 200), *spots(420, 200)], [reading("7h")] * 4, W.index)
    assert len(found) == 2


def test_readings_in_conflict_lower_the_confidence() -> None:
    agreed = card_join.candidates(spots(200, 200), [reading("7h"), reading("7h")], W.index)[0]
    torn = card_join.candidates(spots(200, 200), [reading("7h"), reading("2h")], W.index)
    assert len(torn) == 1
    assert card_name.judged(torn[0], W)[1] < 0.6 < 0.95 < card_name.judged(agreed, W)[1]


def test_a_second_index_adds_confidence() -> None:
    one = card_join.candidates(spots(200, 200, which="a"), [reading("7h", 3.0)], W.index)[0]
    two = card_join.candidates(spots(200, 200), [reading("7h", 3.0)] * 2, W.index)[0]
    assert card_name.judged(two, W)[1] > card_name.judged(one, W)[1]


def test_what_cannot_be_told_is_seen_but_not_read() -> None:
    blurred = card_join.candidates(spots(200, 200, which="a"), [reading("7h", 0.4)], W.index)[0]
    assert card_name.judged(blurred, W)[0] == "??"


def test_what_is_no_index_is_no_card() -> None:
    assert card_join.candidates(spots(200, 200), [reading("7h", index=-3.0)] * 2, W.index) == []
    assert card_join.candidates([], [], W.index) == []


def test_evidence_is_a_distribution() -> None:
    card = card_join.candidates(spots(200, 200), [reading("7h", 2.0), reading("8h", 2.0)], W.index)[0]
    logs = card_name.evidence(card, W)
    assert logs.shape == (len(CARD_CLASSES),)
    assert np.exp(logs).sum() == pytest.approx(1.0)


def test_the_uncovered_card_is_the_top_of_its_heap_and_a_lone_card_of_its_own() -> None:
    cards = card_join.candidates(
        [*spots(200, 200, which="a"), *spots(215, 190, 50), *spots(600, 200)],
        [reading("9c"), reading("Kd"), reading("Kd"), reading("2s"), reading("2s")],
        W.index,
    )
    for card in cards:
        name = card_name.judged(card, W)[0]
        card.whole = whole(card, name, -2.0 if name == "9c" else 2.0)
        card.bare = card.whole.bare
        heaps.settle(card)
    tops = {card_name.judged(cards[i], W)[0] for i, _ in heaps.uppermost(cards)}
    assert tops == {"Kd", "2s"}


def test_corners_run_clockwise_from_an_index() -> None:
    card = card_join.candidates(spots(200, 200, 75, which="b"), [reading("7h")], W.index)[0]
    heaps.settle(card)
    a, b, c = card.quad[0], card.quad[1], card.quad[2]
    assert (b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0] > 0
    nearest = int(np.argmin(np.linalg.norm(card.quad - card.spots[0].centre, axis=1)))
    assert nearest == 0


def settled(*cards: card_join.Candidate) -> list[card_join.Candidate]:
    for card in cards:
        heaps.settle(card)
    return list(cards)


def candidate(found: list[Spot], *names: str) -> card_join.Candidate:
    first = found[0]
    readings = [reading(name) for name in names]
    return card_join.Candidate(found, readings, first.card_centre, first.card_up, first.card_right)


def test_two_indices_within_both_outlines_are_of_one_card_whatever_they_say() -> None:
    one = heaps.without_doubles(
        settled(candidate(spots(200, 200, which="a"), "7h"), candidate(spots(204, 199, which="b"), "2h")), W
    )
    assert len(one) == 1
    assert len(one[0].spots) == 2
    assert card_name.judged(one[0], W)[1] < 0.6


def test_two_half_turned_cards_that_all_but_coincide_are_one_whatever_they_say() -> None:
    clear, pale = candidate(spots(200, 200, which="a"), "7h"), candidate(spots(206, 200, 0, 146, which="b"), "2h")
    (one,) = heaps.without_doubles(settled(clear, pale), W)
    assert card_name.judged(one, W)[0] == "7h"
    fanned = candidate(spots(212, 200, which="b"), "2h")
    assert len(heaps.without_doubles(settled(candidate(spots(200, 200, which="a"), "7h"), fanned), W)) == 2


def test_one_clear_index_does_not_outdo_two_ends_that_agree() -> None:
    below, upper = candidate(spots(206, 200, 0, 146, which="b"), "4h"), candidate(spots(200, 200), "6d", "6d")
    found = heaps.without_doubles(settled(below, upper), W)
    assert card_name.judged(found[0], W)[0] == "6d"


def test_a_card_whose_index_shows_beside_the_upper_one_stays_another() -> None:
    below, upper = candidate(spots(176, 172, which="a"), "7h"), candidate(spots(200, 200), "2h", "2h")
    assert len(heaps.without_doubles(settled(upper, below), W)) == 2


def test_an_index_that_looks_out_beside_the_upper_cards_own_is_none_of_that_card() -> None:
    upper, below = candidate(spots(200, 200), "Qc", "Qc"), candidate(spots(202, 207, which="b"), "8c")
    queen = heaps.without_doubles(settled(upper, below), W)[0]
    assert len(queen.spots) == 2
    name, confidence = card_name.judged(queen, W)
    assert name == "Qc"
    assert confidence > 0.9


def half_washed_out(as_a_whole: str) -> list[card_join.Candidate]:
    """Return a 7h with one index in glare, by which it is measured too small; and the whole card's reading."""
    clear, pale = candidate(spots(200, 200, which="a"), "7h"), candidate(spots(204, 205, 0, 114, which="b"), "2h")
    pale.readings = [reading("2h", 1.0, 3.0)]
    pale.whole, clear.whole = whole(pale, as_a_whole, -1.0), whole(clear, "7h", 3.0)
    pale.bare, clear.bare = pale.whole.bare, clear.whole.bare
    return settled(clear, pale)


def test_two_sights_of_one_place_with_one_name_are_one_card_though_their_sizes_differ() -> None:
    (one,) = heaps.without_doubles(half_washed_out("7h"), W)
    assert card_name.judged(one, W)[0] == "7h"
    assert heaps.shows_both_ends(one)
    (other,) = heaps.without_doubles(half_washed_out("2h"), W)
    assert card_name.judged(other, W)[0] == "7h"
    assert not heaps.shows_both_ends(other)


@pytest.mark.parametrize(("names", "cards"), [("7h 7h", 1), ("7h 2h", 2)])
@pytest.mark.parametrize("turn", [0, 70])
def test_two_corners_of_a_covered_card_are_one_card_though_each_is_told_on_its_wrong_side(
    names: str, cards: int, turn: int
) -> None:
    """Indices in all four corners: the upper left one is taken for the upper right one of a card beside, and so on."""
    a = np.radians(turn)
    aside = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) @ np.array([80.0, 0.0])
    (left,) = spots(200, 200, turn, which="a")
    left = replace(left, card_centre=left.card_centre - aside)
    (right,) = spots(200 + aside[0], 200 + aside[1], turn, which="a")
    first, second = names.split()
    found = heaps.without_doubles(settled(candidate([left], first), candidate([right], second)), W)
    assert len(found) == cards
    if cards == 1:
        assert np.allclose(found[0].quad.mean(0), [200, 200], atol=0.1)


@pytest.mark.parametrize(("height", "bare", "cards"), [(110, -2.0, 1), (110, 2.0, 2), (136, -2.0, 2)])
def test_a_smaller_card_that_seems_covered_on_a_bare_one_is_its_print(height: float, bare: float, cards: int) -> None:
    clear, pip = candidate(spots(200, 200, which="b"), "6c"), candidate(spots(210, 195, 20, height, which="a"), "7c")
    clear.bare, pip.bare = 2.0, bare
    assert len(heaps.without_doubles(settled(clear, pip), W)) == cards


def test_a_card_told_twice_is_as_a_whole_what_the_fuller_outline_shows() -> None:
    clear, pale = half_washed_out("7h")
    clear.bare, pale.bare = -1.0, 3.0
    fuller = pale.whole
    (one,) = heaps.without_doubles([clear, pale], W)
    assert one.whole is fuller
    assert one.bare == 3.0


@pytest.mark.parametrize(("shown", "bare"), [("3s", False), ("6s", True), ("4d", True)])
def test_a_card_in_whose_outline_another_was_read_whole_is_not_the_bare_one(shown: str, bare: bool) -> None:
    """The network sees the card above in the outline of the one below, and rightly reports it as bare."""
    above, below = candidate(spots(200, 200), "3s", "3s"), candidate(spots(196, 195, which="a"), "6s")
    below.whole = whole(below, shown, 2.0)
    below.bare = 2.0
    heaps.correct_bareness(settled(above, below), W)
    assert (below.bare > 0) is bare
    assert below.whole.bare == below.bare


def test_a_top_shows_both_its_ends_and_nothing_on_it() -> None:
    whole_one, half = candidate(spots(200, 200), "7h", "7h"), candidate(spots(200, 200, which="a"), "7h")
    whole_one.bare = half.bare = 4.0
    assert heaps.is_bare(whole_one) is True
    assert heaps.is_bare(half) is None
    whole_one.bare = half.bare = -2.0
    assert heaps.is_bare(whole_one) is heaps.is_bare(half) is False


def test_what_misleads_one_look_of_three_does_not_name_the_card() -> None:
    misled, *others = reading("2h", 4.0, 3.0), reading("7h", 6.0, 4.0), reading("7h", 6.0, 5.0)
    together = mean_reading([misled, *others])
    card = candidate(spots(200, 200, which="a"), "7h")
    card.readings = [together]
    assert card_name.judged(card, W)[0] == "7h"
    assert float(np.exp(together.rank).sum()) == pytest.approx(1.0)
    assert together.index == pytest.approx(4.0)


def test_a_card_is_looked_at_again_only_where_its_name_is_open() -> None:
    clear, doubtful = candidate(spots(200, 200), "7h", "7h"), candidate(spots(200, 200, which="a"), "7h")
    doubtful.readings = [reading("7h", 1.0, 3.0)]
    assert not card_name.is_open(clear, W)
    assert card_name.is_open(doubtful, W)
    faint = candidate([replace(spot, score=0.3) for spot in spots(200, 200, which="a")], "7h")
    faint.readings = [reading("7h", 1.0, 0.5)]
    assert not card_name.is_open(faint, W)


def test_an_index_seen_otherwise_is_turned_and_sized_in_its_place() -> None:
    (index,) = spots(200, 200, which="a")
    other = index.seen_otherwise(90.0, 2.0)
    assert other.up == pytest.approx(2 * np.array([-index.up[1], index.up[0]]))
    assert other.centre == pytest.approx(index.centre)
