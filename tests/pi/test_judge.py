"""The judge of `make pi-test`, on a simulated request: it passes the product's shell and catches broken drivers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import LEAST_ERROR, POLL, GpioPads
from hardware.pads.pinout import SEAT_LIGHT_PINS
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.simulated.devices.simulated_pads import SimulatedLineRequest
from referee.engine.observations import Slap
from tests.pi.faults import FAULTS
from tests.pi.judge import LATE, LIGHT, SHARED, STAMP, Verdict, judge
from tests.pi.plan import MS, PINS, SEATS, US, Round, contacts_of, make_rounds
from tests.pi.report import Report, ToldEdge, read_report
from tools.pi.board import GO_PIN, Contact, Output, Run, Service, read_log

AHEAD = 5_000 * MS
"""How far the simulated guest's clock is ahead of the emulator's, ns."""
BEGAN = 1_000 * MS


def simulated(
    rounds: list[Round], fault: Callable[[Any], Any] = FAULTS["none"], light_after: int = 100 * US
) -> tuple[Run, Report]:
    """Play rounds to the product's shell, whose thread runs each half millisecond; times are data."""
    request = SimulatedLineRequest(PINS.values(), start=AHEAD + BEGAN)
    lines = GpiodLines(fault(request), clock=lambda: request.now)
    pads = GpioPads(PINS, lines=lines, clock=lambda: request.now, poller=False)
    report, filter_ = Report(), PadFilter(len(PINS), start=AHEAD)
    outputs: list[Output] = [Output(BEGAN - number * MS, GO_PIN, level) for number in (2, 1, 0) for level in (True,)]
    began = min(output.t for output in outputs)
    report.signals = [(output.t + AHEAD - 5 * US, output.t + AHEAD + 5 * US) for output in outputs]

    def take(edge: Edge) -> None:
        report.edges.append(ToldEdge(edge.seat, edge.t, edge.pressed, edge.t_error, request.now))
        outputs.append(Output(edge.t - AHEAD + light_after, SEAT_LIGHT_PINS[edge.seat - 1], edge.pressed))
        filter_.feed(edge)

    pads.start(take)
    made = [Contact(contact.t + began, contact.pin, contact.closed) for contact in contacts_of(rounds)]
    looked = request.now
    for contact in made:
        while looked + POLL < contact.t + AHEAD:
            looked += POLL
            request.now = looked
            pads.poll(looked)
        request.now = contact.t + AHEAD
        request.drive(contact.pin, contact.closed)
    for _ in range(100):
        looked += 5 * MS
        request.now = looked
        pads.poll(looked)
        observations = filter_.advance(pads.watermark(looked))
        report.slaps += [(slap.seat, slap.t) for slap in observations if isinstance(slap, Slap)]
    report.lost = pads.lost
    services = tuple(Service(contact.t, contact.pin) for contact in made if contact.closed)
    return Run((report.to_line(),), tuple(made), tuple(outputs), 0.0, services), report


@pytest.mark.parametrize("seed", range(3))
def test_the_products_own_shell_passes(seed: int) -> None:
    rounds = make_rounds(seed, 2)
    run, report = simulated(rounds)
    verdict = judge(rounds, run, report)
    assert verdict.faults == []
    assert verdict.presses == sum(contact.closed for contact in contacts_of(rounds))
    assert (verdict.lost, verdict.wrong) == (0, 0)
    assert verdict.pairs + verdict.near == sum(len(one_round.hands) == 2 for one_round in rounds)
    assert max(verdict.stamps) <= 5 * US


@pytest.mark.parametrize(
    ("fault", "words"),
    [("order", "slapped in this order"), ("loses", "was lost"), ("late", "0.70 ms after its interrupt")],
)
def test_a_broken_driver_is_caught(fault: str, words: str) -> None:
    rounds = make_rounds(11, 2)
    verdict = judge(rounds, *simulated(rounds, FAULTS[fault]))
    assert any(words in told for told in verdict.faults)


def swap(gap: int, apart: int, by_interrupt: bool = True) -> Verdict:
    """Return the verdict on a pair with swapped stamps, ``apart`` (ns) from each other, like its interrupts or not."""
    rounds = [next(pair for pair in make_rounds(18, 1) if pair.kind == f"pair {gap // US} µs apart")]
    run, report = simulated(rounds)
    first, second = (seat for seat, _ in rounds[0].hands)
    at = {edge.seat: edge.t for edge in report.edges if edge.pressed}
    swapped = {first: at[second] + apart, second: at[second]}
    edges = [replace(edge, t=swapped[edge.seat]) if edge.pressed else edge for edge in report.edges]
    slaps = sorted((seat, swapped[seat]) for seat in swapped)
    if by_interrupt:
        pins = {PINS[seat]: t - AHEAD for seat, t in swapped.items()}
        run = replace(run, services=tuple(replace(it, t=pins[it.pin]) for it in run.services))
    return judge(rounds, run, replace(report, edges=edges, slaps=slaps))


def test_a_swap_within_an_interrupt_is_counted_apart() -> None:
    verdict = swap(20 * US, 5 * US)
    assert (verdict.swapped, verdict.near, verdict.pairs, verdict.wrong) == (1, 1, 0, 0)
    assert not any("slapped in this order" in fault for fault in verdict.faults)


def test_a_swap_within_a_late_interrupt_is_no_fault_of_the_product() -> None:
    verdict = swap(2 * SHARED, 5 * US)
    assert (verdict.swapped, verdict.pairs, verdict.wrong, verdict.faults) == (1, 1, 0, [])


@pytest.mark.parametrize(("gap", "apart", "by_interrupt"), [(20 * US, SHARED, True), (20 * US, 5 * US, False)])
def test_no_interrupt_excuses_another_swap(gap: int, apart: int, by_interrupt: bool) -> None:
    verdict = swap(gap, apart, by_interrupt)
    assert verdict.swapped == 0
    assert any("slapped in this order" in fault for fault in verdict.faults)


def serve_late(by: int, stamped_after: int = 0) -> Verdict:
    """Return the verdict on a blip whose interrupt came late by so many ns, and was stamped so long after that."""
    rounds = [next(one_round for one_round in make_rounds(19, 1) if one_round.kind == "chatter")]
    run, report = simulated(rounds)
    seat = next(edge.seat for edge in report.edges if edge.seat not in dict(rounds[0].hands))
    press, release = [place for place, edge in enumerate(report.edges) if edge.seat == seat][-2:]
    edge, opened = report.edges[press], report.edges[release]
    stamp, polled = edge.t + by + stamped_after, max(opened.t + opened.t_error, edge.t + by + stamped_after)
    report.edges[press] = replace(edge, t=stamp)
    report.edges[release] = replace(opened, t=(stamp + polled) // 2, t_error=(polled - stamp + 1) // 2)
    services = [
        replace(it, t=it.t + by) if (it.t, it.pin) == (edge.t - AHEAD, PINS[seat]) else it for it in run.services
    ]
    return judge(rounds, replace(run, services=tuple(services)), report)


def test_a_late_interrupt_is_no_fault_of_the_product() -> None:
    verdict = serve_late(LATE + 50 * US)
    assert (verdict.lost, verdict.faults) == (0, [])
    assert "no fault: 1 interrupts were served 0.20 to 0.20 ms" in str(verdict)


@pytest.mark.parametrize(
    ("by", "stamped_after", "words"),
    [(0, STAMP + 10 * US, "0.03 ms after its interrupt"), (LEAST_ERROR + 100 * US, 0, "was stamped 1.60 ms late")],
)
def test_no_interrupt_excuses_a_late_stamp(by: int, stamped_after: int, words: str) -> None:
    assert any(words in fault for fault in serve_late(by, stamped_after).faults)


def merge(lateness: int) -> Verdict:
    """Return the verdict on a bounce whose first press the kernel merged into the next, with so much more error, ns."""
    rounds = [next(one_round for one_round in make_rounds(21, 1) if one_round.kind == "bounce")]
    run, report = simulated(rounds)
    first = rounds[0].hands[0][0]
    lost, opened, press = [edge for edge in report.edges if edge.seat == first][:3]
    late = replace(press, t_error=press.t_error + lateness)
    edges = [late if edge == press else edge for edge in report.edges if edge not in (lost, opened)]
    return judge(rounds, run, replace(report, edges=edges))


def test_a_press_merged_into_the_next_is_lost_unless_the_next_ones_error_covers_it() -> None:
    assert (merge(0).lost, merge(0).merged) == (1, 0)
    verdict = merge(2 * MS)
    assert (verdict.lost, verdict.merged, verdict.wrong) == (0, 1, 0)
    assert not any("press" in fault or "this order" in fault for fault in verdict.faults)


def test_what_the_faults_are_counted_as() -> None:
    rounds = make_rounds(12, 2)
    by_pin = judge(rounds, *simulated(rounds, FAULTS["order"]))
    assert by_pin.wrong > 0
    assert judge(rounds, *simulated(rounds, FAULTS["loses"])).lost > 0


def test_a_late_light_is_caught() -> None:
    rounds = make_rounds(13, 1)
    verdict = judge(rounds, *simulated(rounds, light_after=LIGHT + MS // 10))
    assert len(verdict.faults) == sum(one_round.ordered for one_round in rounds)
    assert all("the light of seat" in told for told in verdict.faults)


def test_a_release_outside_its_error_is_caught() -> None:
    rounds = make_rounds(14, 1)
    run, report = simulated(rounds)
    place = next(place for place, edge in enumerate(report.edges) if not edge.pressed)
    edge = report.edges[place]
    report.edges[place] = ToldEdge(edge.seat, edge.t + 2 * edge.t_error + 50 * US, False, edge.t_error, edge.at)
    verdict = judge(rounds, run, report)
    assert any("did not open" in told for told in verdict.faults)
    assert any("was not told within its error" in told for told in verdict.faults)


def test_an_invented_press_and_an_invented_slap_are_caught() -> None:
    rounds = make_rounds(15, 1)
    run, report = simulated(rounds)
    seat, t = next(
        (seat, t) for seat in SEATS for _, t in report.slaps if not any(own == seat for own, _ in report.slaps[:3])
    )
    report.slaps.append((seat, t + 100))
    report.edges.append(ToldEdge(seat, t + 60 * MS, True, 1, t))
    verdict = judge(rounds, run, report)
    assert any("the slaps say" in told for told in verdict.faults)
    assert any("where its contact did not close" in told for told in verdict.faults)


def test_a_plan_that_broke_off_is_caught() -> None:
    rounds = make_rounds(16, 1)
    run, report = simulated(rounds)
    cut = Run(run.lines, run.contacts[:-1], run.outputs, run.seconds)
    assert "the plan was not played to its end" in judge(rounds, cut, report).faults


def test_a_report_comes_back_from_its_line() -> None:
    run, report = simulated(make_rounds(17, 1))
    assert read_report(("noise", *run.lines)) == report


def test_a_seed_makes_the_same_plan_again() -> None:
    assert make_rounds(5, 2) == make_rounds(5, 2) != make_rounds(6, 2)


def test_a_line_within_which_the_power_was_cut_is_none() -> None:
    read = read_log("5 contact 4 1\n6 served 4 1\n7 output 19 1\n9 output 19 0")
    assert read == ([Contact(5, 4, True)], [Output(7, 19, True)], [Service(6, 4)])
