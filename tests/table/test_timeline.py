"""A game that was broken off: the contents of its lines, and where its time line goes on."""

from __future__ import annotations

import pytest

from hardware.ports import Edge
from referee.engine.observations import Card, Gap, LogError
from referee.table.timeline import RESUME_GAP, Timeline, past_of
from referee.vision.sight import Blind, Sight

TABLE = '{"kind":"table","t":5,"id":"table","seats":["Ana","Ben"],"dealer":1,"rules":"classic"}'


def test_the_past_is_read_with_its_rulings_and_its_last_instant() -> None:
    past = past_of(
        [
            TABLE,
            '{"kind":"card","t":90,"id":"c1","card":"7h","seat":2}',
            '{"ruling":"turn","id":"turn@c1","t":90,"seat":1,"because":["c1"],"rule":[]}',
            '{"kind":"tick","t":80,"sensor":"pads"}',
            '{"kind":"resumed","t":85,"id":"x1"}',
        ]
    )
    assert (past.table.seats, past.last, past.times, past.prefix) == (("Ana", "Ben"), 90, 1, "2/")
    assert past.rulings == {"turn@c1"}
    assert [seen.t for seen in past.told] == [90, 80, 85]


@pytest.mark.parametrize("lines", [[], ['{"kind":"tick","t":1}']])
def test_a_game_without_a_table_cannot_go_on(lines: list[str]) -> None:
    with pytest.raises(LogError, match="first line"):
        past_of(lines)


def test_time_goes_on_after_the_last_instant_and_never_back() -> None:
    assert Timeline.after(last=1000, now=1001 + RESUME_GAP).ahead == 0
    moved = Timeline.after(last=90 * RESUME_GAP, now=3)
    assert moved.now(3) == 91 * RESUME_GAP
    assert moved.edge(Edge(1, 4, pressed=True)).t == 91 * RESUME_GAP + 1
    sight = Sight(3, 10, (Card(t=4, card="7h", seat=1, known_at=9), Gap(t=5, until=8), Gap(t=6, until=8, since=1)), 2)
    there = moved.news(sight)
    assert isinstance(there, Sight)
    card, *gaps = there.seen
    assert isinstance(card, Card)
    ahead = moved.ahead
    assert gaps == [Gap(t=5 + ahead, until=8 + ahead), Gap(t=6 + ahead, until=8 + ahead, since=1 + ahead)]
    assert (there.t, there.exposure, there.watermark, card.t, card.known_at) == (
        3 + ahead, 10, 2 + ahead, 4 + ahead, 9 + ahead,
    )  # fmt: skip
    assert moved.news(Blind("gone")) == Blind("gone")
