"""Holds what the product told against what happened on the pins. Pure.

The emulator logs each contact, and when the guest's interrupt handler served it, immediately before the kernel stamps
it. So a stamp is held against its own interrupt. How long the interrupt waited is the emulated processor's matter: it
is measured, and faults nothing as long as the stamp's stated error covers it.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from hardware.pads.gpiod_lines import GPIOD_DELIVERY
from hardware.pads.pads import LEAST_ERROR
from hardware.pads.pinout import SEAT_LIGHT_PINS
from tests.pi.plan import MS, PINS, SEATS, US, Round
from tests.pi.report import Report, ToldEdge
from tools.pi.board import GO_PIN, Contact, Output, Run

STAMP: Final = 20 * US
"""Longest time from an edge's interrupt to its stamp, ns, beside the comparison of the clocks."""
LATE: Final = 150 * US
"""A stamp further than this from its contact, ns, is counted as late: eight contacts may share an interrupt."""
LIGHT: Final = 1 * MS
"""Longest time from the first hand's contact to its light, ns."""
SHARED: Final = 100 * US
"""Hands nearer than this, ns, may share an interrupt, whose edges the driver serves in the order of the pins."""
_SETTLED: Final = 20 * MS
"""Time open, ns, after which a contact must have been told as released."""


@dataclass(slots=True)
class Verdict:
    """The faults and the figures of a run."""

    faults: list[str] = field(default_factory=list)
    presses: int = 0
    pairs: int = 0
    lost: int = 0
    merged: int = 0
    """Presses without a stamp of their own: the kernel merged them into the pad's next, whose error says so."""
    wrong: int = 0
    near: int = 0
    swapped: int = 0
    """Pairs in the wrong order; pairs nearer than `SHARED`; pairs swapped by the driver within an interrupt."""
    releases: int = 0
    stamps: list[int] = field(default_factory=list)
    """From the interrupt to its stamp, ns."""
    interrupts: list[int] = field(default_factory=list)
    handlers: list[int] = field(default_factory=list)
    lights: list[int] = field(default_factory=list)
    """From the contact to its interrupt, the handler, and, for a first hand, its light, ns."""

    def add(self, other: Verdict) -> None:
        """Add another run's faults and figures."""
        for name in (part.name for part in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        spans = {
            "contact to interrupt": self.interrupts, "interrupt to stamp": self.stamps,
            "contact to handler": self.handlers, "contact to first light": self.lights,
        }  # fmt: skip
        return "\n".join(
            [
                f"{self.presses} presses, {_share(self.lost, self.presses)} lost; {self.releases} releases",
                f"{self.pairs} pairs 0.1 ms apart or more, {_share(self.wrong, self.pairs)} in the wrong order; "
                f"{self.near} nearer pairs; {_share(self.swapped, self.near)} swapped within an interrupt",
                *(f"{name}: {_spread(spans[name])}" for name in spans),
                *self._late(),
                *self.faults,
            ]
        )

    def _late(self) -> Iterator[str]:
        if self.merged:
            yield f"no fault: {self.merged} presses came with the stamp of their pad's next, whose error covers them"
        late = [span for span in self.interrupts if span > LATE]
        if late:
            yield (
                f"no fault: {len(late)} interrupts were served {min(late) / MS:.2f} to {max(late) / MS:.2f} ms after "
                "their contact, since the emulated processor was not free"
            )


def judge(rounds: Sequence[Round], run: Run, report: Report, light: int = LIGHT) -> Verdict:
    """Return the verdict on a run of these rounds; ``light``: longest time from a first hand to its light, ns."""
    verdict = Verdict()
    offset, error = clock_offset(run.outputs, report.signals)
    started = min(output.t for output in run.outputs if output.pin == GO_PIN and output.level)
    edges = [_shifted(edge, -offset) for edge in report.edges]
    if report.lost or report.trouble:
        verdict.faults.append(f"the driver lost {report.lost} edges; {report.trouble or 'no trouble'}")
    if len(run.contacts) != sum(len(one_round.contacts) for one_round in rounds):
        verdict.faults.append("the plan was not played to its end")
    services = {seat: [service.t for service in run.services if service.pin == PINS[seat]] for seat in SEATS}
    for seat in SEATS:
        contacts = [contact for contact in run.contacts if contact.pin == PINS[seat]]
        told = [edge for edge in edges if edge.seat == seat]
        stamped = _judge_presses(
            verdict, seat, contacts, services[seat], [edge for edge in told if edge.pressed], error
        )
        _judge_releases(verdict, seat, contacts, told, stamped, error)
    slaps = sorted((t - offset, seat) for seat, t in report.slaps)
    edges.sort(key=_t)
    lit: defaultdict[int, list[int]] = defaultdict(list)
    for output in run.outputs:
        if output.level:
            lit[output.pin].append(output.t)
    for one_round in rounds:
        begin, end = started + one_round.begin - MS, started + one_round.end + MS
        inside = edges[bisect_left(edges, begin, key=_t) : bisect_right(edges, end, key=_t)]
        slapped = slaps[bisect_left(slaps, (begin, 0)) : bisect_right(slaps, (end, len(SEATS)))]
        served = sorted((_first_from(services[seat], started + at), seat) for seat, at in one_round.hands)
        _judge_round(verdict, one_round, inside, slapped, [seat for _, seat in served])
        _judge_light(verdict, one_round, started, lit, light)
    return verdict


def _first_from(instants: Sequence[int], t: int) -> Sequence[int]:
    place = bisect_left(instants, t)
    return instants[place : place + 1]


def _t(edge: ToldEdge) -> int:
    return edge.t


def clock_offset(outputs: Iterable[Output], signals: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return how far the guest's clock is ahead of the emulator's, and the half-width of the uncertainty; ns."""
    rises = [output.t for output in outputs if output.pin == GO_PIN and output.level]
    least = max(before - rise for rise, (before, _) in zip(rises, signals, strict=True))
    most = min(after - rise for rise, (_, after) in zip(rises, signals, strict=True))
    return (least + most) // 2, abs(most - least) // 2 + 1


def _shifted(edge: ToldEdge, by: int) -> ToldEdge:
    return ToldEdge(edge.seat, edge.t + by, edge.pressed, edge.t_error, edge.at + by)


def _judge_presses(
    verdict: Verdict, seat: int, contacts: Sequence[Contact], services: Sequence[int], told: Sequence[ToldEdge],
    error: int,
) -> dict[int, int]:  # fmt: skip
    """Require one report of each closing, stamped by its interrupt, and within the error that it states.

    Return the instant of the closing that belongs to each stamp.

    Args:
        verdict: is added to.
        seat: the pad.
        contacts: of this pad.
        services: instant of each interrupt of this pad.
        told: presses of this pad.
        error: of the comparison of the clocks, ns.
    """
    closings = [contact.t for contact in contacts if contact.closed]
    verdict.presses += len(closings)
    unclaimed = set(closings)
    stamped: dict[int, int] = {}
    for edge in told:
        place = bisect_right(services, edge.t + error)
        before, served = (services[it] if it >= 0 else 0 for it in (place - 2, place - 1))
        # Of contacts that share an interrupt the first raised it.
        closing = next(iter(closings[bisect_right(closings, before) : bisect_right(closings, served)]), None)
        if closing is None or closing not in unclaimed or edge.t - served > GPIOD_DELIVERY:
            verdict.faults.append(f"seat {seat}: a press at {edge.t}, where its contact did not close")
            continue
        unclaimed.remove(closing)
        stamped[edge.t] = closing
        verdict.interrupts.append(served - closing)
        verdict.stamps.append(edge.t - served)
        verdict.handlers.append(edge.at - closing)
        if edge.t - served > STAMP + error:
            after = f"{(edge.t - served) / MS:.2f} ms after its interrupt"
            verdict.faults.append(f"seat {seat}: the press at {closing} was stamped {after}")
        if edge.t - closing > edge.t_error:
            verdict.faults.append(
                f"seat {seat}: the press at {closing} was stamped {(edge.t - closing) / MS:.2f} ms late, "
                f"and its error says {edge.t_error / MS:g} ms"
            )
    merged = {
        closing for edge in told if edge.t_error > LEAST_ERROR
        for closing in unclaimed if edge.t - edge.t_error - error <= closing < edge.t
    }  # fmt: skip
    verdict.merged += len(merged)
    unclaimed -= merged
    verdict.lost += len(unclaimed)
    verdict.faults += [f"seat {seat}: the press at {closing} was lost" for closing in sorted(unclaimed)]
    return stamped


def _judge_releases(
    verdict: Verdict, seat: int, contacts: Sequence[Contact], told: Sequence[ToldEdge], stamped: Mapping[int, int],
    error: int,
) -> None:  # fmt: skip
    """Require an opening in each reported release, and a report of each lasting opening.

    A release that the product has not narrowed down since its press lies between that press's contact and the poll;
    ``stamped``: the contact of each press's stamp.
    """
    openings = [contact.t for contact in contacts if not contact.closed]
    closings = [contact.t for contact in contacts if contact.closed]
    covered: set[int] = set()
    pressed = 0
    for edge in told:
        if edge.pressed:
            pressed = edge.t
            continue
        begin, end = edge.t - edge.t_error, edge.t + edge.t_error + error
        begin = min(begin, stamped.get(pressed, begin)) if begin <= pressed + 1 else begin
        inside = openings[bisect_left(openings, begin - error) : bisect_right(openings, end)]
        covered.update(inside)
        verdict.releases += 1
        if not inside:
            verdict.faults.append(
                f"seat {seat}: a release at {edge.t} ± {edge.t_error}, where its contact did not open"
            )
    for opening in openings:
        place = bisect_left(closings, opening)
        lasts = place == len(closings) or closings[place] - opening > _SETTLED
        if lasts and opening not in covered:
            verdict.faults.append(f"seat {seat}: the release at {opening} was not told within its error")


def _judge_round(
    verdict: Verdict, one_round: Round, edges: Sequence[ToldEdge], slaps: Sequence[tuple[int, int]],
    served: Sequence[int],
) -> None:  # fmt: skip
    """The hands come in their order, by their first edges and by their slaps, and no other pad slaps.

    Args:
        verdict: is added to.
        one_round: the round.
        edges: told during the round.
        slaps: instant and seat of each slap during the round.
        served: the hands' seats in the order in which their interrupts were served.
    """
    # A press whose error says that the kernel may have merged an earlier one into it claims no place.
    merged = {edge.seat for edge in edges if edge.pressed and edge.t_error > LEAST_ERROR}
    hands = [seat for seat, _ in one_round.hands if seat not in merged]
    by_edge = _first_of_each((edge.t, edge.seat) for edge in edges if edge.pressed and edge.seat in hands)
    # A contact whose release was reported so late may have been a hand's, for all that the filter knows.
    late = {edge.seat for edge in edges if not edge.pressed and edge.t_error > MS}
    by_slap = _first_of_each((t, seat) for t, seat in slaps if seat in hands or seat not in late | merged)
    is_pair = len(hands) == 2
    is_near = is_pair and one_round.hands[1][1] - one_round.hands[0][1] < SHARED
    verdict.pairs += is_pair and not is_near
    verdict.near += is_near
    if is_pair and by_edge == by_slap == served == hands[::-1] and _apart(edges, hands) < SHARED:
        verdict.swapped += 1
        return
    for kind, order in (("edges", by_edge), ("slaps", by_slap)):
        if order != hands if one_round.ordered else sorted(order) != sorted(hands):
            verdict.wrong += kind == "edges" and sorted(order) == sorted(hands)
            verdict.faults.append(f"{one_round.kind}: seats {hands} slapped in this order, the {kind} say {order}")


def _apart(edges: Iterable[ToldEdge], hands: Iterable[int]) -> int:
    """Return the time between the first edges of two hands."""
    one, other = (min(edge.t for edge in edges if edge.pressed and edge.seat == hand) for hand in hands)
    return abs(one - other)


def _first_of_each(stamped: Iterable[tuple[int, int]]) -> list[int]:
    return list(dict.fromkeys(seat for _, seat in sorted(stamped)))


def _judge_light(
    verdict: Verdict, one_round: Round, started: int, lit: Mapping[int, Sequence[int]], limit: int
) -> None:
    """The first hand's light comes soon; ``lit``: the instants at which each pin rose."""
    if not one_round.ordered:
        return
    seat, at = one_round.hands[0]
    contact, pin = started + at, SEAT_LIGHT_PINS[seat - 1]
    after = lit[pin][bisect_left(lit[pin], contact) :][:1]
    if not after or after[0] - contact > limit:
        when = f"{(after[0] - contact) / MS:.2f} ms after its contact" if after else "never"
        verdict.faults.append(f"{one_round.kind}: the light of seat {seat} came {when}")
    verdict.lights += [t - contact for t in after]


def _share(count: int, of: int) -> str:
    """Return a count, and of none the bound of its share: three in ``of``, with 95 % confidence."""
    return str(count) if count or not of else f"0 (under {300 / of:.2g} %)"


def _spread(spans: Sequence[int]) -> str:
    if not spans:
        return "-"
    ordered = sorted(spans)
    most = ordered[int(0.99 * len(ordered))]
    middle = statistics.median(ordered)
    return f"median {middle / MS:.3f} ms, 99 % {most / MS:.3f}, worst {ordered[-1] / MS:.3f} (of {len(ordered)})"
