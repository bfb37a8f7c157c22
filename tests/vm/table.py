"""Required and measured figures, as a table; and scenarios in separate processes."""

from __future__ import annotations

import logging
import multiprocessing
import textwrap
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

DEADLINE: Final = 240.0
"""Seconds after which a scenario counts as hung."""
SAID: Final = 70
"""Width of the last column."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    required: str
    measured: str
    ok: bool = True


def apart(scenario: Callable[..., Sequence[Row]], *given: Any) -> list[Row]:
    """Run a scenario in a forked process: threads and pins end with it."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    # No daemon: it has its own children, the hands.
    process = fork.Process(target=_tell, args=(there, scenario, given), daemon=False)
    began = time.monotonic()
    process.start()
    there.close()
    name = scenario.__name__.replace("_", " ")
    if not here.poll(DEADLINE):
        process.kill()
        rows = [Row(name, "an end", f"none within {DEADLINE:.0f} s", ok=False)]
    else:
        try:
            rows = list(here.recv())
        except EOFError:
            rows = [Row(name, "an end", "its process died", ok=False)]
    process.join(timeout=10)
    print(f"vm: {name}: {time.monotonic() - began:.1f} s", flush=True)
    return rows


def _tell(there: Connection, scenario: Callable[..., Sequence[Row]], given: tuple[Any, ...]) -> None:
    # Faults are provoked here on purpose, and their log lines are checked where it matters.
    logging.disable(logging.CRITICAL)
    try:
        rows = list(scenario(*given))
    except Exception as error:
        traceback.print_exc()
        rows = [
            Row(
                scenario.__name__.replace("_", " "), "no fault of its own", f"{type(error).__name__}: {error}", ok=False
            )
        ]
    there.send(rows)
    there.close()


def printed(rows: Sequence[Row]) -> str:
    """Return the table as text; long descriptions go on below."""
    head = Row("what", "required", "measured")
    wide = [max(len(getattr(row, name)) for row in (head, *rows)) for name in ("what", "required")]
    indent = " " * (sum(wide) + 4)
    lines = []
    for row in (head, *rows):
        first, *more = textwrap.wrap(row.measured, SAID) or [""]
        lines.append(f"{row.what.ljust(wide[0])}  {row.required.ljust(wide[1])}  {first}{'' if row.ok else '  MISSED'}")
        lines += [indent + line for line in more]
    return "\n".join(lines)
