"""Honest hands on phones in bad networks: `make honest-phones`.

Evenings of four phones each, with time as data: phones like `referee/web/static/pad.js`
(`hardware.simulated.devices.simulated_phone`), the reports, the filter and the conductor of the product. Every phone's
clock stands up to 3 s off and drifts by up to 50 millionths; ways take 5 to 80 ms, and one way may take longer than the
other; one message in a hundred is lost and sent again; browsers are busy now and then. Each phone has outages of 1 and
of 3 s, and sleeps once. Hands come to piles, some within 150 ms of each other.

A hand in an outage or in sleep cannot be reported in time: such hands are counted apart, from a tenth of a second
before (a report may still be on its way) to half a second after an outage, and to three seconds after sleep.
"""

from __future__ import annotations

import argparse
import random
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from hardware.pads.clock_exchange import STEADY
from hardware.pads.page_pads import TouchReports
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.simulated.devices.simulated_phone import PhoneNetwork, SimulatedPhone, Spell
from referee.announce.sinks import Notice
from referee.engine.observations import Table
from referee.table.game import Conductor
from referee.units import MS, SECOND, US
from referee.vision.sight import Sight

SEEDS: Final = (20261127, 20261128, 20261129, 20261130)
"""Seeds unused before the protocol was settled; 1 to 9 are for development."""
SEATS: Final = 4
WAYS: Final = (5, 80)
"""Shortest and longest one-way delay, ms."""
_STEP: Final = 10 * MS
"""Interval at which the promise is requested."""
_BEHIND: Final = 400 * MS
"""Lag of the camera."""
_LOOKS: Final = (16_700 * US, 16_700 * US, 8_300 * US, 4_200 * US)
_BEGIN: Final = 10 * SECOND
_EVENING: Final = 300 * SECOND


@dataclass(frozen=True, slots=True)
class PhoneHand:
    """A hand on a phone, and its report."""

    seat: int
    t: int
    pile: int
    cut_off: str
    """Why it could not be reported in time: ``outage``, ``sleep``, or empty."""
    edge: Edge | None

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies in the stated span."""
        return self.edge is not None and abs(self.edge.t - self.t) <= self.edge.t_error


@dataclass(slots=True)
class HonestEvening:
    """The results of one evening."""

    hands: list[PhoneHand] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    """Notices about phones with their counts: sentences, without the seat."""
    out_of_the_blue: Counter[str] = field(default_factory=Counter)
    """The same, of phones that were neither cut off nor asleep within the last five seconds."""
    late_told: int = 0
    """Late hands whose seat was named."""
    widest_wait: int = 0
    """Largest lag of the promise, ns."""


def play_evening(seed: int, ways: tuple[int, int] = WAYS) -> HonestEvening:
    """Play one evening; ``ways``: the shortest and the longest delay from a phone to the table or back, ms."""
    rng = random.Random(seed)
    phones = [_make_phone(rng, seat, ways) for seat in range(1, SEATS + 1)]
    spells = {phone.seat: [("outage", outage) for outage in phone.network.outages] for phone in phones}
    for phone in phones:
        spells[phone.seat] += [("sleep", spell) for spell in phone.asleep]
    touched = list(_touch(rng))
    told = HonestEvening()
    edges = _run(phones, touched, spells, told)
    for seat, t, pile in touched:
        why = next((why for why, spell in spells[seat] if _is_cut_off(why, spell, t)), "")
        told.hands.append(PhoneHand(seat, t, pile, why, _edge_of(edges[seat], t)))
    return told


def _make_phone(rng: random.Random, seat: int, ways: tuple[int, int]) -> SimulatedPhone:
    shortest, longest = (way * MS for way in ways)
    quickest = rng.choice((1, 1, 2, 4)) * shortest
    up, down = (rng.choice((quickest + longest // 8, quickest + 3 * longest // 8, longest)) for _ in range(2))
    up, down = max(up, quickest), max(down, quickest)
    outages = [_somewhere(rng, SECOND), _somewhere(rng, 3 * SECOND)]
    network = PhoneNetwork(rng, (quickest, up), (quickest, down), 0.01, outages)
    busy = [Spell(t, t + rng.randint(10, 60) * MS) for t in range(_BEGIN, _EVENING, rng.randint(5, 15) * SECOND)]
    return SimulatedPhone(
        seat, rng, network, rng.randint(-3 * SECOND, 3 * SECOND), rng.uniform(-50, 50), rng.choice(_LOOKS),
        rng.random() < 0.7, busy, [_somewhere(rng, rng.randint(10, 30) * SECOND)],
    )  # fmt: skip


def _somewhere(rng: random.Random, length: int) -> Spell:
    begin = rng.randint(_BEGIN, _EVENING - length)
    return Spell(begin, begin + length)


def _touch(rng: random.Random) -> Iterator[tuple[int, int, int]]:
    """Yield hands as (seat, instant, pile)."""
    t, pile = 2 * _BEGIN, 0
    while (t := t + rng.randint(1500, 3000) * MS) < _EVENING - 2 * SECOND:
        pile += 1
        for seat in rng.sample(range(1, SEATS + 1), rng.randint(1, SEATS)):
            yield seat, t + rng.randint(0, 150 * MS), pile


def _is_cut_off(why: str, spell: Spell, t: int) -> bool:
    after = SECOND // 2 if why == "outage" else STEADY + SECOND
    return spell.begin - 100 * MS <= t <= spell.end + after


def _edge_of(presses: Sequence[Edge], t: int) -> Edge | None:
    """Return the reported press of a hand: the first that may have been it; each finger is there for 80 ms."""
    near = presses[bisect_right(presses, t - SECOND // 2, key=lambda edge: edge.t) :][:6]
    fits = [edge for edge in near if edge.t - edge.t_error - SECOND // 2 <= t <= edge.t + edge.t_error]
    return min(fits, key=lambda edge: abs(edge.t - t), default=None)


def _run(
    phones: Sequence[SimulatedPhone], touched: Sequence[tuple[int, int, int]],
    spells: dict[int, list[tuple[str, Spell]]], told: HonestEvening,
) -> dict[int, list[Edge]]:  # fmt: skip
    reports = TouchReports(range(1, SEATS + 1))
    notices: list[Notice] = []
    names = tuple(f"Player {seat}" for seat in range(1, SEATS + 1))
    table = Conductor(
        Table(t=0, id="table", seats=names, dealer=1), tellers={"count": notices.append}, pads=PadFilter(SEATS)
    )
    edges: dict[int, list[Edge]] = {seat: [] for seat in range(1, SEATS + 1)}
    silent: dict[int, str] = {}

    def take(new: Sequence[Edge]) -> None:
        for edge in new:
            table.on_edge(edge)
            if edge.pressed:
                edges[edge.seat].append(edge)

    def answer(at: int, body: dict[str, Any]) -> tuple[int, int]:
        take(reports.feed({**body, "at": at}))
        return at, max((touch[0] for touches in body["hands"].values() for touch in touches), default=0)

    for seat, t, _pile in touched:
        phones[seat - 1].touch(t, pressed=True)
        phones[seat - 1].touch(t + 80 * MS, pressed=False)
    for phone in phones:
        phone.begin(SECOND + phone.seat * 7 * MS)
    for now in range(0, _EVENING, _STEP):
        for phone in phones:
            phone.run(now, answer)
        take(reports.advance(now))
        promised = reports.watermark(now)
        told.widest_wait = max(told.widest_wait, now - promised)
        if now % (200 * MS) == 0:
            table.on_sight(Sight(now - _BEHIND, MS, (), now - _BEHIND))
        table.advance(now, promised)
        for seat, words in reports.silent.items():
            if silent.get(seat) != words:
                sentence = words.replace(f"seat {seat}", "a seat")
                told.said[sentence] += 1
                if not any(spell.begin <= now <= spell.end + 5 * SECOND for _, spell in spells[seat]):
                    told.out_of_the_blue[sentence] += 1
        silent = reports.silent
    told.late_told = sum(notice.what == "hand_late" for notice in notices)
    return edges


def show(evenings: Sequence[HonestEvening]) -> bool:
    """Print the results; return whether all requirements were met."""
    hands = [hand for evening in evenings for hand in evening.hands]
    usual = [hand for hand in hands if not hand.cut_off]
    told = [hand for hand in usual if hand.edge is not None]
    late = [hand for hand in told if hand.edge is not None and hand.edge.late]
    judged = [hand for hand in told if hand.edge is not None and not hand.edge.late]
    inside = sum(hand.is_inside for hand in judged)
    errors = sorted(hand.edge.t_error for hand in judged if hand.edge is not None)
    all_late = sum(hand.edge is not None and hand.edge.late for hand in hands)
    named = sum(evening.late_told for evening in evenings)
    missing = len(usual) - len(told)
    print(
        f"{len(hands)} hands on {SEATS * len(evenings)} phones, {len(usual)} of them neither in an outage nor in sleep"
    )
    print(f"  truth inside the stated error: {inside} of {len(judged)} ({100 * inside / len(judged):.2f} %)")
    print(f"  refused as late: {len(late)} ({100 * len(late) / len(usual):.2f} %); never heard of: {missing}")
    median, high = (errors[len(errors) * share // 100] / MS for share in (50, 95))
    print(f"  stated error: median {median:.1f} ms, p95 {high:.1f} ms")
    decided, wrong, pairs = map(sum, zip(*(_count_pairs(evening.hands) for evening in evenings), strict=True))
    print(f"  pairs on one pile: {pairs}, decided {decided}, decided wrongly {wrong}")
    for why in ("outage", "sleep"):
        of = [hand for hand in hands if hand.cut_off == why]
        lates = sum(hand.edge is not None and hand.edge.late for hand in of)
        unfelt = sum(hand.edge is None for hand in of)
        print(f"in {why}: {len(of)} hands, in time {len(of) - lates - unfelt}, late {lates}, not felt {unfelt}")
    print(f"late hands: {all_late}, whose seat was named: {named}")
    print(f"the promise was behind by {max(evening.widest_wait for evening in evenings) / MS:.0f} ms at most")
    said, blue = Counter[str](), Counter[str]()
    for evening in evenings:
        said += evening.said
        blue += evening.out_of_the_blue
    print("told of phones, and of those that were neither cut off nor asleep within 5 s:")
    for words, times in said.most_common():
        print(f"  {times:4} {blue[words]:4}  {words}")
    fits = inside >= 0.995 * len(judged) and len(late) + missing <= 0.005 * len(usual)
    return fits and wrong == 0 and named >= all_late


def _count_pairs(hands: Sequence[PhoneHand]) -> tuple[int, int, int]:
    """Count pairs of judged hands on one pile that errors tell apart, those of them in the wrong order, and all."""
    piles: dict[int, list[PhoneHand]] = {}
    for hand in hands:
        if hand.edge is not None and not hand.edge.late and not hand.cut_off:
            piles.setdefault(hand.pile, []).append(hand)
    decided = wrong = pairs = 0
    for of_pile in piles.values():
        for one, other in combinations(of_pile, 2):
            assert one.edge is not None and other.edge is not None
            pairs += 1
            if abs(one.edge.t - other.edge.t) > one.edge.t_error + other.edge.t_error:
                decided += 1
                wrong += (one.edge.t < other.edge.t) != (one.t < other.t)
    return decided, wrong, pairs


def play_evenings(seeds: Sequence[int], hands: int, ways: tuple[int, int]) -> list[HonestEvening]:
    """Play evenings until enough hands came."""
    evenings: list[HonestEvening] = []
    while sum(len(evening.hands) for evening in evenings) < hands:
        number = len(evenings)
        evenings.append(play_evening(seeds[number % len(seeds)] * 1000 + number // len(seeds), ways))
    return evenings


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and print; return 1 where a requirement was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hands", type=int, default=5000, help="how many hands at least")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="of the evenings")
    parser.add_argument("--ways", type=int, nargs=2, default=WAYS, help="the shortest and the longest way, ms")
    options = parser.parse_args(arguments)
    shortest, longest = options.ways
    return 0 if show(play_evenings(options.seeds, options.hands, (shortest, longest))) else 1


if __name__ == "__main__":
    sys.exit(main())
