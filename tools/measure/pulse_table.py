"""`make pulse-table`: scripted pulses on eight pads, the requirement of each, and the referee's result.

In the manner of the machine that tests fencing apparatus. The pulses go through the pads' real shell, the filter of
their edges and the ruling of a slap; the table is printed and written to ``out/pulse-table``, as CSV and as a picture.
Exit status 1 if a requirement was missed.

``--export FILE`` writes the pulses for another machine to play into a real Raspberry Pi; there ``--record FILE`` writes
the output of its pads' shell, and ``--edges FILE`` measures that instead of the simulation (docs/timing.md).
"""

from __future__ import annotations

import argparse
import csv
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from referee.units import MS
from tests.support.pulse_file import EdgeWriter, aligned, read_edges, write_pulses
from tools.measure.pulse_scores import NAMED, Measured, Row, measure, parts, simulated_edges, total
from tools.measure.pulse_trials import script

RECORDED: Final = 100_000
"""Allowed distance of a recorded stamp from the script, ns: nearer edges come in the order of their pins."""
HEADINGS: Final = {
    "section": "section", "gap": "apart, ms", "required": "required", "pairs": "pairs", "right": "first named",
    "heats": "dead heat", "wrong": "wrong order", "lost": "hands lost", "extra": "invented slaps",
    "misstated": "outside error", "shift": "shift, ns", "widest": "widest ±, ms",
}  # fmt: skip


def cells(row: Row) -> list[str]:
    """Return a line of the table for printing."""
    values = {name: getattr(row, name) for name in HEADINGS}
    values["gap"] = f"{row.gap / MS:g}"
    values["widest"] = f"{row.widest / MS:.2f}"
    return [str(value) for value in values.values()]


def show(measured: Measured) -> None:
    """Print the table and the missed requirements."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, heading in HEADINGS.items():
        table.add_column(heading, justify="left" if name in ("section", "required") else "right", no_wrap=True)
    for row in measured.rows.values():
        table.add_row(*cells(row), style="red" if row.misses else "")
    Console(highlight=False, width=200).print(table)
    far = [row for row in measured.rows.values() if row.section == "hands" and row.gap >= NAMED]
    if far:
        sum_ = total(far)
        print(
            f"\nhands {NAMED / MS:g} ms apart or more: {sum_.pairs} pairs, {sum_.right} first hands named "
            f"({100 * sum_.right / sum_.pairs:.2f} %), {sum_.wrong} wrong orders"
        )
    everything = list(measured.rows.values())
    print(
        f"all: {sum(row.pairs for row in everything)} pairs, {sum(row.wrong for row in everything)} wrong orders, "
        f"{sum(row.lost for row in everything)} hands lost; of {sum(row.close for row in everything)} pairs of edges "
        f"under 3 ms apart {sum(row.close_named for row in everything)} named"
    )
    for miss in measured.misses:
        print(f"MISSED: {miss}")
    for failure in measured.failures[:3]:
        print(f"  {failure}")


def write(folder: Path, measured: Measured) -> None:
    """Write the table as CSV and as a picture."""
    from tools.measure.pulse_picture import draw

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow([*HEADINGS.values(), "missed"])
        for row in measured.rows.values():
            out.writerow([*cells(row), "; ".join(row.misses)])
    draw(folder / "table.png", list(measured.rows.values()))


def record(path: Path) -> None:
    """Record the pads of this machine, until interrupted.

    Raises:
        HardwareMissing: this machine has no pads.
    """
    from hardware.pads.pads import GpioPads
    from hardware.pads.pinout import PAD_PINS

    pads = GpioPads(dict(enumerate(PAD_PINS, start=1)))
    writer = EdgeWriter(path)
    pads.start(writer.tell)
    print("recording; Ctrl-C ends", file=sys.stderr)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        pads.close()
        writer.close()
    print(f"{writer.count} edges in {path}, {pads.lost} lost", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the table; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.measure.pulse_table", description=(__doc__ or "").split("\n\n")[1]
    )
    add = parser.add_argument
    add("--pairs", type=int, default=10_000, metavar="N", help="pairs of hands 6 ms apart or more (default: 10,000)")
    add("--others", type=int, default=2, metavar="N", help="of each order of each pair in the other sections (2)")
    add("--seed", type=int, default=1, metavar="N")
    add("--out", type=Path, default=Path("out/pulse-table"), metavar="DIR")
    add("--export", type=Path, metavar="FILE", help="write the pulses (CSV) and stop")
    add("--record", type=Path, metavar="FILE", help="write the edges of this machine's pads (CSV) until interrupted")
    add("--edges", type=Path, metavar="FILE", help="measure these recorded edges instead of the simulation")
    options = parser.parse_args(arguments)
    if options.record is not None:
        record(options.record)
        return 0
    trials = script(options.seed, parts(options.pairs, options.others))
    if options.export is not None:
        print(f"{write_pulses(options.export, trials)} pulses in {options.export}")
        return 0
    if options.edges is not None:
        measured = measure(aligned(trials, read_edges(options.edges)), RECORDED)
    else:
        measured = measure(simulated_edges(trials))
    show(measured)
    write(options.out, measured)
    print(f"written: {options.out}/table.csv, {options.out}/table.png")
    return 1 if measured.misses else 0


if __name__ == "__main__":
    raise SystemExit(main())
