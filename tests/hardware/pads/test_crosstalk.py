"""A hand on one pad that another hears: told apart from a second hand, which must never be lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from random import Random

import pytest

from hardware.pads.crosstalk import LONGEST, Crosstalk, landing
from hardware.pads.debounce import ClosedSpan
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.engine.observations import Observation, Other, Slap

MS = 1_000_000
US = 1_000
ERROR = 1_500 * US
BOUNCE = 6 * MS


def coupled(length: int, seats: int = 2) -> Crosstalk:
    """Let every pad hear every other's hand for this long (ns)."""
    rows = tuple(tuple(0 if a == b else length for b in range(seats)) for a in range(seats))
    return Crosstalk(rows, (ERROR,) * seats, (BOUNCE,) * seats)


def contact(seat: int, *instants: int) -> list[Edge]:
    """Return alternate closings and openings at these instants (µs from a second on)."""
    return [
        Edge(seat, 1_000 * MS + t * US, pressed=place % 2 == 0, t_error=ERROR if place % 2 == 0 else 0)
        for place, t in enumerate(instants)
    ]


def play(crosstalk: Crosstalk | None, *contacts: Iterable[Edge], seats: int = 2) -> list[Observation]:
    pads = PadFilter(seats, crosstalk=crosstalk)
    seen: list[Observation] = []
    for edge in sorted(itertools.chain(*contacts), key=lambda found: found.t):
        mark = pads.watermark
        made = pads.advance(edge.t - 1) + pads.feed(edge)
        assert all(line.t > mark for line in made), "behind what was promised"
        seen += made
    return seen + pads.advance(3_000 * MS)


def slaps(seen: list[Observation]) -> list[tuple[int, int, int]]:
    """Return seat, instant and error, µs."""
    return [(line.seat, (line.t - 1_000 * MS) // US, line.t_error // US) for line in seen if isinstance(line, Slap)]


def echoes(seen: list[Observation]) -> list[tuple[int, int]]:
    return [
        (line.extra["seat"], line.extra["of"])
        for line in seen
        if isinstance(line, Other) and line.name == "pad_crosstalk"
    ]


@pytest.mark.parametrize("begins", [-2_900, -1_000, 0, 400, 2_900])
def test_the_echo_of_a_hand_is_no_hand_and_is_on_the_log(begins: int) -> None:
    seen = play(coupled(4 * MS), contact(1, 0, 80_000), contact(2, begins, begins + 3_500))
    assert echoes(seen) == [(2, 1)]
    assert slaps(seen) == [(1, 0, 1_500)]


def test_without_a_measured_matrix_nothing_is_taken_for_an_echo() -> None:
    for matrix in (None, coupled(0)):
        seen = play(matrix, contact(1, 0, 80_000), contact(2, 400, 3_900))
        assert slaps(seen) == [(1, 0, 1_500), (2, 400, 1_500)]
        assert echoes(seen) == []


def test_a_contact_too_far_from_the_hand_or_too_long_is_a_hand() -> None:
    far = play(coupled(4 * MS), contact(1, 0, 80_000), contact(2, 3_100, 6_000))
    long = play(coupled(4 * MS), contact(1, 0, 80_000), contact(2, 400, 5_000))
    assert [seat for seat, _, _ in slaps(far)] == [seat for seat, _, _ in slaps(long)] == [1, 2]
    assert echoes(far) == echoes(long) == []


def test_whatever_was_measured_a_hands_length_is_no_echo() -> None:
    seen = play(coupled(60 * MS), contact(1, 0, 80_000), contact(2, 400, 400 + LONGEST // US + 1))
    assert [seat for seat, _, _ in slaps(seen)] == [1, 2]


def test_two_short_touches_that_could_each_be_the_others_echo_are_both_kept() -> None:
    seen = play(coupled(5 * MS), contact(1, 0, 4_000), contact(2, 300, 3_300))
    assert [seat for seat, _, _ in slaps(seen)] == [1, 2]


@pytest.mark.parametrize("later", [0, 1_000, 3_000, 6_000, 8_000, 12_000, 15_000, 20_000])
@pytest.mark.parametrize("echo", [0, 1_000, 3_900])
def test_a_second_hand_is_kept_and_came_when_it_is_said_to_have_come(later: int, echo: int) -> None:
    """The second pad hears the first hand at once, and then its own, ``later`` µs after."""
    closed = sorted([(200, 200 + echo)] * (echo > 0) + [(later, later + 90_000)])
    merged: list[list[int]] = []
    for start, end in closed:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    seen = play(coupled(4 * MS), contact(1, 0, 80_000), contact(2, *itertools.chain(*merged)))
    ((_, at, error),) = [slap for slap in slaps(seen) if slap[0] == 2]
    assert abs(at - later) <= error


def test_a_hand_long_after_the_echo_is_known_to_the_full() -> None:
    seen = play(coupled(4 * MS), contact(1, 0, 80_000), contact(2, 200, 3_000, 15_000, 90_000))
    assert slaps(seen) == [(1, 0, 1_500), (2, 15_000, 1_500)]


def test_random_second_hands_are_never_lost_and_never_stated_wrongly() -> None:
    """Echo, bounce and both pads' errors at random; the hidden instant lies within the slap's stated span."""
    chance = Random(4)
    for _ in range(400):
        echo = chance.randrange(0, 4_000)
        late = [chance.randrange(-1_500, 1_500) for _ in range(3)]
        truth = chance.randrange(0, 20_000)
        first, own = late[0], truth + late[1]
        runs = [(late[2], late[2] + echo)]
        at = own
        while chance.random() < 0.5 and at - own < 4_000:
            runs.append((at, at + chance.randrange(200, 900)))
            at = runs[-1][1] + chance.randrange(200, 900)
        runs.append((at, at + 80_000))
        merged = _union(runs)
        seen = play(coupled(4 * MS), contact(1, first, 80_000), contact(2, *itertools.chain(*merged)))
        found = [slap for slap in slaps(seen) if slap[0] == 2]
        assert len(found) == 1, (echo, late, truth)
        assert abs(found[0][1] - truth) <= found[0][2] + 1, (echo, late, truth, found)
        assert next(slap for slap in slaps(seen) if slap[0] == 1)[0] == 1


def _union(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in sorted(run for run in runs if run[1] > run[0]):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def test_the_order_in_which_pads_are_heard_changes_nothing() -> None:
    contacts = [contact(1, 0, 400, 900, 80_000), contact(2, 700, 3_000), contact(3, -400, 2_000, 7_000, 60_000)]
    wanted = play(coupled(4 * MS, 3), *contacts, seats=3)
    for order in itertools.permutations(contacts):
        pads = PadFilter(3, crosstalk=coupled(4 * MS, 3))
        for edge in itertools.chain(*order):
            assert pads.feed(edge) == []
        assert pads.advance(3_000 * MS) == sorted(wanted, key=lambda found: (found.t, found.id))


def test_a_contact_hit_as_hard_as_the_hand_is_no_echo() -> None:
    def weighed(force: float) -> list[Observation]:
        pads = PadFilter(2, crosstalk=coupled(4 * MS), force=True)
        for edge in (*contact(1, 0, 80_000), *contact(2, 400, 3_000)):
            pads.feed(edge)
        pads.weigh(1, 1_000 * MS, 0.8)
        pads.weigh(2, 1_000 * MS + 400 * US, force)
        return pads.advance(3_000 * MS)

    assert sorted((line.seat, line.force) for line in weighed(0.7) if isinstance(line, Slap)) == [(1, 0.8), (2, 0.7)]
    assert [line.seat for line in weighed(0.1) if isinstance(line, Slap)] == [1]


def test_what_was_measured_must_be_of_one_table() -> None:
    with pytest.raises(ValueError, match="2 rows of 2"):
        Crosstalk(((0, 1), (1, 0)), (ERROR,), (BOUNCE, BOUNCE))
    with pytest.raises(ValueError, match="not of 3 seats"):
        PadFilter(3, crosstalk=coupled(MS))
    with pytest.raises(ValueError, match="not of 3 seats"):
        PadFilter(3, t_errors=(ERROR, ERROR))


def test_a_pad_that_is_worse_than_stated_says_so_and_never_a_better_one() -> None:
    pads = PadFilter(2, t_errors=(2 * MS, MS))
    for seat in (1, 2):
        pads.feed(Edge(seat, 10 * MS, pressed=True, t_error=ERROR))
    assert [(line.seat, line.t_error) for line in pads.advance(50 * MS) if isinstance(line, Slap)] == [
        (1, 2 * MS),
        (2, ERROR),
    ]


def test_when_a_hand_can_have_come() -> None:
    def runs(*closed: tuple[int, int]) -> list[ClosedSpan]:
        return [*(ClosedSpan(start, end, end) for start, end in closed[:-1]), ClosedSpan(closed[-1][0])]

    assert landing(runs((0, 90)), over=4, bounce=6) == (0, 4)
    assert landing(runs((0, 3), (15, 90)), over=4, bounce=6) == (15, 15)
    assert landing(runs((0, 3), (5, 90)), over=4, bounce=6) == (0, 5)
    assert landing(runs((0, 3), (8, 90)), over=4, bounce=6) == (2, 8)
    assert landing(runs((0, 4), (5, 90)), over=4, bounce=6) == (0, 5), "the echo may have lasted to its very end"
    assert landing([ClosedSpan(0, 3, 5), ClosedSpan(7)], over=4, bounce=2) == (5, 7), (
        "it was seen to open between two looks"
    )


def test_how_often_it_is_looked_changes_nothing() -> None:
    """The same edges, taken at once, one by one, and with the time advanced every half millisecond."""
    chance = Random(8)
    for _ in range(60):
        contacts = []
        for seat in range(1, 5):
            at, instants = chance.randrange(0, 12_000), []
            for _ in range(2 * chance.randrange(1, 5)):
                instants.append(at)
                at += chance.choice((300, 900, 3_000, 7_000, 40_000))
            contacts.append(contact(seat, *instants))
        edges = sorted(itertools.chain(*contacts), key=lambda found: found.t)
        at_once = PadFilter(4, crosstalk=coupled(4 * MS, 4))
        often = PadFilter(4, crosstalk=coupled(4 * MS, 4))
        for edge in edges:
            at_once.feed(edge)
        wanted = at_once.advance(3_000 * MS)
        seen: list[Observation] = []
        waiting = list(edges)
        for t in range(999 * MS, 1_400 * MS, MS // 2):
            while waiting and waiting[0].t <= t:
                often.feed(waiting.pop(0))
            mark = often.watermark
            made = often.advance(t)
            assert all(line.t > mark for line in made)
            seen += made
        seen += often.advance(3_000 * MS)
        assert sorted(seen, key=lambda found: (found.t, found.id)) == wanted
