"""The longest known games of Beggar-My-Neighbour, and the deal that never ends, through a replay (G2, E6)."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from itertools import groupby

import pytest

from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling
from tests.support.record_games import ENDLESS, LONG, PUBLISHED, Deal, cards, log


def _replayed(deal: str, lines: int | None = None) -> list[Ruling]:
    return list(replay_log(BytesIO("\n".join(log(deal, lines)).encode())))


@pytest.mark.parametrize("deal", PUBLISHED.values(), ids=PUBLISHED)
def test_a_record_game_takes_as_many_tricks_and_cards_as_published(deal: Deal) -> None:
    """Each card laid counts as a card, each pick-up as a trick, the last one included."""
    made = _replayed(deal.hands)
    kinds = Counter(ruling.kind for ruling in made)
    laid = list(cards(deal.hands))
    assert len(laid) == deal.cards
    assert kinds["pile"] == deal.tricks
    assert not {"won", "drawn", "dead_card", "question", "repeated"} & set(kinds)
    (lost,) = (ruling for ruling in made if ruling.kind == "lost")
    assert lost is made[-1]
    assert lost.because[0] == str(len(laid) + 1)


@pytest.mark.parametrize("deal", LONG)
def test_a_long_game_ends_with_its_last_card(deal: str) -> None:
    """A player in turn without a card has lost, and the cards on the table are the other's."""
    made = _replayed(deal)
    laid = list(cards(deal))
    ends = [ruling for ruling in made if ruling.kind in ("lost", "won", "drawn")]
    assert [(end.kind, end.because[0]) for end in ends] == [("lost", str(len(laid) + 1))]
    (last,) = (ruling for ruling in made if ruling.kind == "pile" and ruling.because[0] == str(len(laid) + 1))
    assert last["seat"] != ends[0]["seat"]


def test_the_deal_that_never_ends_is_noticed() -> None:
    """The position comes back every 62 tricks and 440 cards; this is said once, and the game goes on."""
    made = _replayed(ENDLESS, 4400)
    assert [ruling["cards"] for ruling in made if ruling.kind == "repeated"] == [440]
    assert not any(ruling.kind in ("lost", "won", "drawn") for ruling in made)
    laid = [int(ruling.because[0]) for ruling in made if ruling.kind == "pile"]
    tricks = {cycle: len(list(found)) for cycle, found in groupby(laid, lambda line: line // 440)}
    assert tricks[4] == tricks[5] == tricks[6] == 62
