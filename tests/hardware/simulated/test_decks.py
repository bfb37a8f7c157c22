"""The simulated table's own packs: complete, all different, and legible in size and colour."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import PACK_RANKS, PACK_SUITS, PrintedDeck, all_cards

FAMILY = sorted(FAMILIES)


def test_there_are_families_of_real_proportions() -> None:
    assert len(FAMILIES) >= 3
    for family in FAMILIES.values():
        assert family.size in ((63, 88), (57, 89)), "poker or bridge size, mm"
    assert len({family.font for family in FAMILIES.values()}) == len(FAMILIES)


def test_a_pack_is_complete() -> None:
    assert len(set(all_cards())) == 52
    assert len(all_cards(packs=2, jokers=3)) == 107
    assert all_cards(jokers=3)[-3:] == ["Xr", "Xb", "Xr"]
    assert FAMILIES["harbour"].text("T") == "10"


@pytest.mark.parametrize("family", FAMILY)
def test_cards_differ_from_each_other_and_from_the_back(family: str) -> None:
    deck = PrintedDeck(family, 1.2)
    names = [*("As", "Ah", "7d", "8d", "Tc", "Ts", "Jh", "Qh", "Kh", "Ks", "Xr", "Xb"), "back"]
    for one, two in combinations(names, 2):
        difference = np.abs(deck.picture(one).astype(int) - deck.picture(two))[..., :3].mean()
        assert difference > 1.0, (one, two)


@pytest.mark.parametrize("family", FAMILY)
def test_red_suits_are_red_and_black_ones_are_not(family: str) -> None:
    deck = PrintedDeck(family, 1.5)
    for suit in PACK_SUITS:
        ink = deck.picture("2" + suit)[..., :3].astype(int)
        reddish = int(((ink[..., 2] - ink[..., 0]) > 80).sum())
        assert (reddish > 100) == (suit in "hd")


@pytest.mark.parametrize("family", FAMILY)
@pytest.mark.parametrize("rank", ["A", "5", "T", "Q"])
def test_an_index_stands_at_two_opposite_corners(family: str, rank: str) -> None:
    picture = PrintedDeck(family, 3.0).picture(rank + "s")
    height, width = picture.shape[:2]
    corner = picture[int(0.03 * height) : int(0.24 * height), int(0.02 * width) : int(0.18 * width), :3]
    opposite = picture[::-1, ::-1][int(0.03 * height) : int(0.24 * height), int(0.02 * width) : int(0.18 * width), :3]
    assert 0.05 < (corner.max(axis=2) < 110).mean() < 0.7
    assert np.abs(corner.astype(int) - opposite).mean() < 12
    other = picture[:, ::-1][int(0.03 * height) : int(0.24 * height), int(0.03 * width) : int(0.08 * width), :3]
    assert (other.max(axis=2) < 110).mean() < 0.02


def test_pictures_are_premultiplied_with_round_corners() -> None:
    picture = PrintedDeck("harbour", 2.0).picture("5c")
    assert picture[0, 0, 3] == 0
    assert (picture[..., :3].max(axis=2) <= picture[..., 3]).all()


def test_the_same_seed_prints_the_same_pack() -> None:
    for card in (PACK_RANKS[3] + "h", "back"):
        assert np.array_equal(
            PrintedDeck("archive", 1.5, 4).picture(card), PrintedDeck("archive", 1.5, 4).picture(card)
        )


def test_an_unknown_family_says_which_there_are() -> None:
    with pytest.raises(ValueError, match="choose one of harbour"):
        PrintedDeck("casino")
