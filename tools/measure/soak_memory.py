"""The memory of processes, and whether it rises: the kernel's figures, and medians of thirds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

FLAT: Final = 0.05
"""Allowed rise of memory, as a share."""
SETTLING: Final = 0.1
"""Share of the samples, from the first on, in which a process is still settling."""
FEWEST: Final = 12
"""Samples below which no result is given."""


def held(pid: int | str = "self") -> int:
    """Return the bytes of a process, resident or swapped out.

    Not its proportional share (PSS): that falls when a stranger maps the same libraries.
    """
    found = 0
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(("VmRSS:", "VmSwap:")):
            found += int(line.split()[1]) * 1024
    if not found:
        raise ProcessLookupError(f"process {pid} holds nothing: it has ended")
    return found


def rise(samples: Sequence[int]) -> float | None:
    """Return by how much the last third exceeds the first, once settled, as a share; None: too few samples."""
    if len(samples) < FEWEST:
        return None
    settled = samples[int(len(samples) * SETTLING) :]
    third = len(settled) // 3
    return median(settled[-third:]) / median(settled[:third]) - 1


def children(pid: int) -> dict[int, str]:
    """Return a process's own children, each with its command line."""
    found = {}
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            try:
                found[int(child)] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                # It has just ended.
                continue
    return found
