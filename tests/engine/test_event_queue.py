"""The queue of observations against a plain sorted list."""

from __future__ import annotations

import bisect
import random
import time

import pytest

from referee.engine.event_queue import EventQueue
from referee.engine.observations import Card, Observation, Slap
from referee.engine.rulings import place_of


def lines(rng: random.Random, count: int) -> list[Observation]:
    """Cards and slaps, many at the same instant, mostly told in order."""
    out: list[Observation] = []
    for number in range(count):
        t = 10 * number + rng.choice((0, 0, 0, -15, -400))
        if rng.random() < 0.3:
            out.append(Slap(t=t, id=f"s{number}", seat=rng.randint(1, 4), t_error=rng.choice((0, 5, 30))))
        else:
            out.append(Card(t=t, id=f"c{number}", card="7h", seat=rng.randint(1, 4)))
    return out


@pytest.mark.parametrize("how", ["as it happened", "backwards", "shuffled"])
@pytest.mark.parametrize("taken", [0.1, 0.5, 0.9, 1.0])
def test_lines_are_given_as_a_sorted_list_gives_them(how: str, taken: float) -> None:
    rng = random.Random(f"{how}{taken}")
    told = lines(rng, 2000)
    if how == "backwards":
        told.reverse()
    elif how == "shuffled":
        rng.shuffle(told)
    waiting, plain = EventQueue(), list[Observation]()
    widest = 0
    for line in told:
        waiting.add(line)
        bisect.insort(plain, line, key=place_of)
        widest = max(widest, getattr(line, "t_error", 0))
        while plain and rng.random() < taken / 2:
            assert waiting.head() is plain[0]
            at = rng.choice((0, 0, 0, min(2, len(plain) - 1)))
            one = plain.pop(at)
            key = waiting.take(one)
            assert key == place_of(one)
            assert isinstance(one, Card | Slap)
            # A hand's heat may hold hands at such a distance, and cards near those.
            reach = one.t + one.t_error + (3 if isinstance(one, Slap) else 1) * widest
            assert list(waiting.near(one)) == [other for other in plain if other.t <= reach]
    assert waiting.all() == tuple(plain)
    while plain:
        assert waiting.head() is plain[0]
        waiting.take(plain.pop(0))
    assert waiting.head() is None


def test_cards_told_in_any_order_cost_some_ten_times_as_much() -> None:
    """A file may have any order: a line finds its place by bisection, not by a walk through five thousand."""
    cards = [Card(t=t, id=f"c{t}", card="7h", seat=1) for t in range(5_000)]
    shuffled = random.Random(1).sample(cards, len(cards))

    def seconds(told: list[Card]) -> float:
        queue = EventQueue()
        began = time.process_time()
        for card in told:
            queue.add(card)
        return time.process_time() - began

    # The quickest of three each: other programs run as well. A walk, or a sort for each line, costs far more.
    limit = 40 * min(seconds(cards) for _ in range(3))
    assert all(min(seconds(told) for _ in range(3)) < limit for told in (shuffled, cards[::-1]))
