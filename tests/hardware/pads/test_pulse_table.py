"""The pulse table in small, that it can fail, and its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hardware.pads.pinout import PAD_PINS
from hardware.ports import Edge
from referee.units import MS
from tests.support.pulse_file import EdgeWriter, aligned, read_edges, write_pulses
from tools.measure.pulse_scores import NAMED, TIE, Measured, measure, parts, simulated_edges
from tools.measure.pulse_table import RECORDED, main
from tools.measure.pulse_trials import BOUNCE, ERROR, Part, Trial, script

SMALL: tuple[Part, ...] = (
    ("pins", (0, 2 * MS, 3 * MS, 6 * MS), 1), ("hands", (2 * MS, 4 * MS, 6 * MS, 10 * MS), 3),
    ("crosstalk", (0, 4 * MS, 10 * MS), 1), ("chatter", (6 * MS,), 1),
)  # fmt: skip
HANDS: tuple[Part, ...] = (("hands", (2 * MS, 4 * MS, 6 * MS), 1),)


def spoilt(trials: Sequence[Part], spoil: Callable[[list[Edge]], list[Edge]]) -> Measured:
    return measure((trial, spoil(edges)) for trial, edges in simulated_edges(script(1, trials)))


def words(measured: Measured) -> str:
    return "; ".join(measured.misses)


def test_nothing_that_is_required_is_missed() -> None:
    measured = measure(simulated_edges(script(2, SMALL)))
    assert measured.misses == []
    rows = measured.rows.values()
    assert all(row.right == row.pairs for row in rows if row.gap >= NAMED and row.section in ("pins", "hands"))
    assert all(row.heats == row.pairs for row in rows if row.gap < TIE and row.section == "pins")
    assert sum(row.close for row in rows) > 100
    assert 0 < measured.rows["hands", 4 * MS].heats < measured.rows["hands", 4 * MS].pairs, "some hands are too close"


def test_every_pair_of_seats_is_played_in_both_orders_and_bounces_for_up_to_6_ms() -> None:
    trials = list(script(1, HANDS))
    assert len({(trial.gap, trial.hands[0].seat, trial.hands[1].seat) for trial in trials}) == 3 * 56
    longest = 0
    for trial in script(1, (("hands", (6 * MS,), 4),)):
        first = trial.hands[0]
        presses = [
            pulse.t
            for pulse in trial.pulses
            if pulse.seat == first.seat and pulse.pressed and pulse.t <= first.edge + BOUNCE
        ]
        longest = max(longest, presses[-1] - first.edge)
    assert longest == BOUNCE


def test_the_hidden_instants_are_hidden_and_within_the_stated_error() -> None:
    late = [hand.edge - hand.t for trial in script(1, (("hands", (6 * MS,), 4),)) for hand in trial.hands]
    assert max(late) == ERROR - 1
    assert min(late) == 1 - ERROR


def test_a_driver_that_debounces_is_found_out() -> None:
    """A debounced line stamps the last edge, so that the cleaner contact beats the earlier hand."""

    def debounced(edges: list[Edge]) -> list[Edge]:
        out: list[Edge] = []
        for edge in edges:
            burst = [e.t for e in edges if e.seat == edge.seat and e.pressed and edge.t <= e.t <= edge.t + 7 * MS]
            if edge.pressed and not any(
                e.seat == edge.seat and e.pressed and edge.t - 7 * MS <= e.t < edge.t for e in edges
            ):
                out.append(replace(edge, t=burst[-1]))
            elif not edge.pressed and not burst:
                out.append(edge)
        return out

    measured = spoilt((("hands", (2 * MS, 4 * MS, 6 * MS), 2),), debounced)
    assert "wrong orders" in words(measured)
    assert "ns between first edge and stamp" in words(measured)


def test_a_pad_that_is_worse_than_it_states_is_found_out() -> None:
    measured = spoilt(HANDS, lambda edges: [replace(e, t=e.t + 4 * MS) if e.seat == 2 else e for e in edges])
    assert "hands outside the stated error" in words(measured)
    assert "wrong orders" in words(measured)
    assert "not named" in words(measured)


def test_a_dead_pad_is_found_out() -> None:
    assert "hands lost" in words(spoilt(HANDS, lambda edges: [e for e in edges if e.seat != 5]))


def test_a_pad_that_claims_too_much_is_found_out() -> None:
    measured = spoilt(HANDS, lambda edges: [replace(e, t_error=e.t_error // 3) for e in edges])
    assert "edges under 3 ms apart, yet named" in words(measured)


def test_recorded_edges_on_another_clock_measure_the_same(tmp_path: Path) -> None:
    """Played by a clock 40 ppm fast with another origin, stamped up to 20 µs late."""
    plan: tuple[Part, ...] = (("pins", (2 * MS, 6 * MS), 2), ("hands", (6 * MS,), 1))
    writer = EdgeWriter(tmp_path / "edges.csv")
    for number, (_, edges) in enumerate(simulated_edges(script(3, plan))):
        for edge in edges:
            late = 7_000 * number % 20_000
            writer.tell(replace(edge, t=98_765_432_109 + edge.t + edge.t // 25_000 + late))
    writer.close()
    measured = measure(aligned(script(3, plan), read_edges(tmp_path / "edges.csv")), RECORDED)
    assert measured.misses == []
    assert sum(row.pairs for row in measured.rows.values()) == 5 * 56
    assert 0 < max(row.shift for row in measured.rows.values()) < RECORDED


def test_edges_of_another_script_are_no_pass(tmp_path: Path) -> None:
    writer = EdgeWriter(tmp_path / "edges.csv")
    for _, edges in simulated_edges(script(4, HANDS)):
        for edge in edges:
            writer.tell(edge)
    writer.close()
    assert measure(aligned(script(3, HANDS), read_edges(tmp_path / "edges.csv")), RECORDED).misses
    (tmp_path / "none.csv").write_text("t_ns,pin,level\n", encoding="utf-8")
    assert "hands lost" in words(measure(aligned(script(3, HANDS), read_edges(tmp_path / "none.csv")), RECORDED))


def test_the_exported_pulses_name_pin_instant_and_level(tmp_path: Path) -> None:
    trials: list[Trial] = list(script(1, HANDS))[:3]
    count = write_pulses(tmp_path / "pulses.csv", trials)
    lines = (tmp_path / "pulses.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "t_ns,pin,level"
    assert len(lines) == count + 1
    first = trials[0].pulses[0]
    assert lines[1] == f"{first.t},{PAD_PINS[first.seat - 1]},0"
    instants = [int(line.split(",")[0]) for line in lines[1:]]
    assert instants == sorted(instants)


def test_a_line_that_is_no_edge_is_named(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("t_ns,pin,level\n1,99,0\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2"):
        read_edges(tmp_path / "edges.csv")


def test_the_command_writes_table_and_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.measure.pulse_table.parts", lambda _pairs, _others: HANDS)
    assert main(["--out", str(tmp_path)]) == 0
    assert len((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()) == 4
    assert (tmp_path / "table.png").stat().st_size > 5_000
    recorded = tmp_path / "edges.csv"
    recorded.write_text("t_ns,pin,level\n", encoding="utf-8")
    assert main(["--out", str(tmp_path), "--edges", str(recorded)]) == 1


def test_the_whole_table_holds_as_many_pairs_as_asked() -> None:
    far = [(len(gaps), count) for section, gaps, count in parts(10_000, 1) if section == "hands" and min(gaps) >= NAMED]
    assert sum(gaps * count * 56 for gaps, count in far) >= 10_000
