"""Heaps under a card that shows no index, one card in half a glare, and a whole deal."""

import numpy as np
import pytest

from hardware.simulated.decks.families import FAMILIES
from models.eye.eye import Eye
from models.eye.geometry import pyramid
from models.eye.networks import WEIGHTS, Network
from models.eye.reader import CardReader
from tools.measure.heaps_check import covered, deals, four_indices, plain, twins


def test_the_card_below_a_foreign_joker_or_back_is_never_the_top() -> None:
    figures = covered(Eye.load(), 26)
    assert figures.heaps == 26
    assert figures.below_on_top == 0
    assert figures.top_told >= 13  # an unread card; otherwise no top is reported


def test_an_ordinary_card_on_top_is_told() -> None:
    figures = plain(Eye.load(), 2 * len(FAMILIES))
    assert figures.below_on_top == 0
    assert figures.top_told >= figures.heaps - 1


def test_a_card_in_half_a_glare_is_one_card() -> None:
    read, twice, _ = twins(Eye.load(), 24)
    assert read >= 20
    assert twice == 0


def test_a_card_with_four_indices_is_one_card() -> None:
    cards, read, twice = four_indices(Eye.load(), 12, in_heaps=False)
    assert (cards, read, twice) == (12, 12, 0)


def test_a_whole_deal_is_read() -> None:
    cards, right, wrong, doubled, _ = deals(Eye.load(), 1)
    assert cards == 52
    assert right > 45
    assert wrong == doubled == 0


def test_what_the_network_says_of_a_bare_card_is_corrected_as_it_was_fitted() -> None:
    network, levels = Network(WEIGHTS / "card.ncnn"), pyramid(np.full((200, 200, 3), 120, np.uint8))
    frame = (np.array([100.0, 100.0]), np.array([0.0, -60.0]), np.array([43.0, 0.0]))
    (plainly,), (corrected,) = (CardReader(network, bare=bare).read(levels, [frame]) for bare in ((1, 0), (0.5, -1)))
    assert corrected.bare == pytest.approx(0.5 * plainly.bare - 1)
