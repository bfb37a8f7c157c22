"""Inside the virtual machine: `python -m tests.vm [smoke|full]`; exit status 1 if a requirement is missed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from tests.vm import faults, input_devices, order
from tests.vm.chip import SimulatedChip
from tests.vm.rig import MS
from tests.vm.table import Row, apart, printed

HEADER = "pinctrl-bcm2711"


def scenarios(chip: SimulatedChip, full: bool) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return the scenarios with their repetitions."""
    gaps = (1 * MS, 2 * MS, 3 * MS, 5 * MS) if full else (1 * MS,)
    chosen: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (order.pairs, (chip, gaps, None if full else 28)),
        (order.eight, (chip, 50 if full else 8)),
        (order.bounce, (chip, 30 if full else 6)),
        (order.neighbour, (chip, 30 if full else 6)),
        (order.blips, (chip, 40 if full else 6)),
        (order.pulses, (chip, 20 if full else 3)),
        (input_devices.keys, (None, 500 if full else 30)),
        (faults.busy, (chip,)),
        (faults.raising, (chip,)),
    ]
    if full:
        # The cameras need numpy, which takes the emulated processor ten seconds to import.
        from tests.vm import camera, remote_camera

        more = (faults.forbidden, faults.flooded, faults.closing, faults.beside_lights)
        chosen += [(scenario, (chip,)) for scenario in more]
        # Last, because without a chip nothing else can be tested.
        chosen += [(camera.usb_camera, (None,)), (remote_camera.remote_usb, (None,)), (faults.unplugged, (chip,))]
    return chosen


def main(kind: str) -> int:
    """Play everything; return the exit status."""
    began = time.monotonic()
    if kind not in ("smoke", "full"):
        print(f"smoke or full, not {kind!r}")
        return 2
    rows: list[Row] = apart(faults.no_header, None) if kind == "full" else []
    chip = SimulatedChip("header", HEADER)
    for scenario, given in scenarios(chip, kind == "full"):
        rows += apart(scenario, *given)
    print(printed(rows))
    missed = sum(not row.ok for row in rows)
    print(f"vm: {len(rows)} requirements, {missed} missed, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "full"))
