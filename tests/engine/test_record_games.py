"""Published record games of Beggar-My-Neighbour, and the deal that never ends, through a replay."""

from __future__ import annotations

from io import BytesIO

import pytest

from referee.engine.replay import replay_log
from tests.support.record_games import ENDLESS, MANN_WU, NESSLER, PAULHUS, Deal, log


@pytest.mark.parametrize("deal", [PAULHUS, MANN_WU, NESSLER])
def test_a_record_game_takes_as_many_tricks_and_cards_as_published(deal: Deal) -> None:
    """A card is each card laid, a trick each pick-up, the last one included."""
    lines = list(log(deal.hands))
    made = list(replay_log(BytesIO("\n".join(lines).encode())))
    assert len(lines) - 1 == deal.cards
    assert sum(ruling.kind == "pile" for ruling in made) == deal.tricks
    assert [ruling.kind for ruling in made if ruling.kind in ("lost", "won", "drawn", "repeated")] == ["lost"]
    assert made[-1].because[0] == str(len(lines))


def test_the_deal_that_never_ends_is_noticed() -> None:
    """The position comes back every 62 tricks and 440 cards."""
    made = list(replay_log(BytesIO("\n".join(log(ENDLESS, 2500)).encode())))
    again = [ruling for ruling in made if ruling.kind == "repeated"]
    assert [ruling["cards"] for ruling in again] == [440]
    assert not any(ruling.kind == "lost" for ruling in made)
