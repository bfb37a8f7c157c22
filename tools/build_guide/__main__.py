"""`make build-guide`: draw docs/*.svg of the build guide, and put the tables into docs/build.md.

In the guide a table stands between ``<!-- name -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from hardware.pads.pinout import PAD_PINS
from referee.setup.pad_circuit import circuit_svg
from referee.setup.wiring import PinMap, wiring_svg
from tools.build_guide import board, buttons, parts, plans, sums

DOCS: Final = Path(__file__).parents[2] / "docs"
DRAWINGS: Final[dict[str, Callable[[], str]]] = {
    "wiring.svg": lambda: wiring_svg(PinMap()),
    "build-buttons.svg": buttons.buttons_svg,
    "build-circuit.svg": lambda: circuit_svg(dict(enumerate(PAD_PINS, start=1))),
    "build-board-4.svg": lambda: board.board_svg(PinMap(), 4),
    "build-board-8.svg": lambda: board.board_svg(PinMap(), 8),
    "build-pad.svg": plans.pad_svg,
    "build-arm.svg": plans.arm_svg,
    "build-box.svg": plans.box_svg,
}
TABLES: Final[dict[str, Callable[[], Iterable[str]]]] = {
    "buttons": lambda: parts.parts_table("button_part"),
    "parts": parts.parts_table,
    "holes": board.soldering_table,
    "heights": sums.heights_table,
}
_TABLE: Final = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->\n", re.DOTALL)


def with_tables(guide: str) -> str:
    """Return the guide's text with current tables.

    Raises:
        KeyError: the guide asks for an unknown table.
    """
    return _TABLE.sub(lambda found: "\n".join([f"<!-- {found[1]} -->", *TABLES[found[1]](), "<!-- end -->", ""]), guide)


def main() -> None:
    """Write everything that differs, and print its name."""
    guide = DOCS / "build.md"
    made = {DOCS / name: draw() for name, draw in DRAWINGS.items()}
    made[guide] = with_tables(guide.read_text(encoding="utf-8"))
    for file, text in made.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"{file.relative_to(DOCS.parent)}: written")


if __name__ == "__main__":
    main()
