"""The perfboard of four seats: which part is soldered into which hole, and the bare wires on the solder side.

A board is 24 by 18 holes (5 by 7 cm, holes 2.54 mm apart): columns 1 to 24 from the left, rows A to R from above, seen
from the component side. No two bare wires cross, so the board needs no insulated wire. Eight seats take two such
boards. `nets` follows wires and legs; a test uses it to show that the plan is the circuit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hardware.pads.pinout import pin_number
from referee.setup.blueprint import EDGE, FAINT, INK, PAPER, SMALL, STROKES, THIN, WIRE, Blueprint
from referee.setup.pad_circuit import (
    CAPACITOR,
    CHIP_GROUND,
    CHIP_SUPPLY,
    DIVIDER_OHMS,
    FILTER,
    GATES,
    GUARD_OHMS,
    SPARE_GATES,
    SUPPLY_OHMS,
    gate_of,
    ohm_words,
)
from referee.setup.wiring import SEAT_OHMS, PinMap

COLUMNS: Final = 24
ROWS: Final = 18
PITCH_MM: Final = 2.54
SEATS: Final = len(GATES)
Hole = tuple[int, int]
"""Column and row, counted from 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component with legs in holes."""

    name: str
    """Such as "pad 1, 1 kΩ"; unique on a board."""
    kind: str
    """chip, resistor, capacitor, filter (a small capacitor), plug (to a seat) or pin (to the Pi)."""
    legs: tuple[tuple[str, Hole], ...]
    """Hole of each leg, by the leg's name."""
    ohms: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """All parts and wires of a board, for seats ``first`` to ``first + 3``."""

    first: int
    parts: tuple[Part, ...]
    wires: tuple[tuple[Hole, ...], ...]
    """Bare wires on the solder side, from bend to bend; each touches every hole that it passes."""


# A seat's positions: the legs of its gate, the columns of its plug and of its light's resistor, and the hole for
# the pad's wire from the Pi.
# Below the chip, rows count downwards from it; above, upwards.
_LEFT: Final = 9
"""Column of legs 1 and 14."""
_LOW, _HIGH = 11, 8
"""Rows of legs 1 to 7, and 8 to 14."""
_PLACES: Final = ((6, 4), (20, 22), (6, 4), (20, 22))
"""By seat: columns of its plug and of its light's resistor."""


def leg_hole(leg: int) -> Hole:
    """Return the hole of a leg of the chip: 1 to 7 from the left below, 8 to 14 from the right above."""
    return (_LEFT + leg - 1, _LOW) if leg <= 7 else (_LEFT + 14 - leg, _HIGH)


def board_of(first: int = 1) -> Board:
    """Return the board for four seats."""
    parts = [Part("74HC14", "chip", tuple((str(leg), leg_hole(leg)) for leg in range(1, 15)))]
    supply, bar = leg_hole(CHIP_SUPPLY), 10
    parts.append(Part(CAPACITOR, "capacitor", (("a", (supply[0] - 1, _HIGH)), ("b", (supply[0] - 1, bar)))))
    wires: list[tuple[Hole, ...]] = [
        # 3.3 V runs round the left side, with a branch to leg 14; ground round the right, with a bar under the chip.
        ((21, 1), (1, 1), (1, ROWS), (21, ROWS)),
        (supply, (supply[0] - 1, _HIGH), (supply[0] - 1, 9), (1, 9)),
        ((6, 2), (COLUMNS, 2), (COLUMNS, ROWS - 1), (6, ROWS - 1)),
        ((supply[0] - 1, bar), (COLUMNS, bar)),
        (leg_hole(CHIP_GROUND), (leg_hole(CHIP_GROUND)[0], bar)),
        *((leg_hole(taken), (leg_hole(taken)[0], bar)) for taken, _ in SPARE_GATES),
    ]
    for place, (taken, given) in enumerate(GATES):
        seat, (plug, light) = first + place, _PLACES[place]
        below = taken <= 7

        def at(column: int, step: int, below: bool = below) -> Hole:
            return (column, _LOW + step if below else _HIGH - step)

        entry, leaving = leg_hole(taken)[0], leg_hole(given)[0]
        # Towards the light's resistor stands that of the plug's 3.3 V; towards the chip, the filter.
        outwards = 1 if light > plug else -1
        feed, filtering = plug + outwards, plug - 2 * outwards
        for name, ohms, column, step in (
            ("pad", DIVIDER_OHMS, entry, 2), ("pad", GUARD_OHMS, leaving, 1), ("light", SEAT_OHMS, light, 1),
            ("pad", SUPPLY_OHMS, feed, 3),
        ):  # fmt: skip
            legs = (("a", at(column, step)), ("b", at(column, step + 4)))
            parts.append(Part(f"{name} {seat}, {ohm_words(ohms)}", "resistor", legs, ohms))
        parts += [
            Part(f"seat {seat}", "plug", (
                ("3.3 V", at(plug, 3)), ("pad", at(plug, 4)), ("light", at(plug, 5)), ("ground", at(plug, 6)),
            )),
            Part(f"pad {seat}, {FILTER}", "filter", (("a", at(filtering, 4)), ("b", at(filtering, 6)))),
            Part(f"pad {seat}", "pin", (("pad", at(leaving + 1, 5)),)),
            Part(f"light {seat}", "pin", (("light", at(light, 0)),)),
        ]  # fmt: skip
        wires += [
            (at(entry, 0), at(entry, 2), at(filtering, 2), at(filtering, 4), at(plug, 4)),
            (at(feed, 3), at(plug, 3)),
            (at(leaving, 0), at(leaving, 1)),
            (at(leaving, 5), at(leaving + 1, 5)),
            (at(light, 0), at(light, 1)),
            (at(light, 5), at(plug, 5)),
        ]
    for name, column in (("3.3 V", 1), ("ground", COLUMNS)):
        parts += [Part(f"{name}, {which}", "pin", ((name, (column, row)),)) for which, row in (("in", 6), ("on", 13))]
    return Board(first, tuple(parts), tuple(wires))


def holes_of(wire: tuple[Hole, ...]) -> Iterator[Hole]:
    """Yield every hole that a wire touches; its segments are horizontal or vertical."""
    yield wire[0]
    for (x1, y1), (x2, y2) in pairwise(wire):
        dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
        for step in range(1, max(abs(x2 - x1), abs(y2 - y1)) + 1):
            yield x1 + dx * step, y1 + dy * step


def nets(board: Board) -> list[set[tuple[str, str]]]:
    """Return the sets of (part, leg) that wires join. Unwired legs form sets of one."""
    groups: list[set[Hole]] = [{hole} for part in board.parts for _, hole in part.legs]
    for wire in board.wires:
        touched = set(holes_of(wire))
        joined = [group for group in groups if group & touched]
        groups = [group for group in groups if not group & touched] + [touched.union(*joined)]
    return [
        net for group in groups
        if (net := {(part.name, leg) for part in board.parts for leg, hole in part.legs if hole in group})
    ]  # fmt: skip


def hole_name(hole: Hole) -> str:
    """Name a hole by row and column, such as H9."""
    return f"{chr(ord('A') + hole[1] - 1)}{hole[0]}"


def soldering_table() -> Iterator[str]:
    """Markdown: every part of a board by its holes, in soldering order (lowest parts first)."""
    board = board_of()
    yield "| what | holes |"
    yield "| --- | --- |"
    for wire in board.wires:
        # A wire that only reaches the next hole is a drop of solder.
        if len(set(holes_of(wire))) > 2:
            yield f"| bare wire | {', '.join(hole_name(hole) for hole in wire)} |"
    drops = [wire for wire in board.wires if len(set(holes_of(wire))) == 2]
    yield f"| a drop of solder from hole to hole | {', '.join('–'.join(map(hole_name, wire)) for wire in drops)} |"
    for ohms in (DIVIDER_OHMS, GUARD_OHMS, SEAT_OHMS, SUPPLY_OHMS):
        taken = [part for part in board.parts if part.ohms == ohms]
        yield f"| {len(taken)} resistors of {ohm_words(ohms)} | {', '.join(_from_to(part) for part in taken)} |"
    ends = f"{hole_name(leg_hole(1))}, {hole_name(leg_hole(14))}"
    yield f"| socket of the 74HC14, its notch to the left: leg 1, leg 14 | {ends} |"
    (capacitor,) = [part for part in board.parts if part.kind == "capacitor"]
    yield f"| {CAPACITOR} | {_from_to(capacitor)} |"
    filters = [part for part in board.parts if part.kind == "filter"]
    yield f"| {len(filters)} capacitors of {FILTER} | {', '.join(_from_to(part) for part in filters)} |"
    for part in board.parts:
        if part.kind == "plug":
            names = ", ".join(f"{leg} {hole_name(hole)}" for leg, hole in part.legs)
            yield f"| four pins, {part.name} | {names} |"
    pins = [f"{part.name} {hole_name(part.legs[0][1])}" for part in board.parts if part.kind == "pin"]
    yield f"| single pins for wires from the Pi | {'; '.join(pins)} |"


def _from_to(part: Part) -> str:
    return "–".join(hole_name(hole) for _, hole in part.legs)


_STEP: Final = 36
_EDGE: Final = 60
_TOP: Final = 130
BOARD_HEIGHT: Final = _TOP + ROWS * _STEP + 20


def board_svg(pins: PinMap, seats: int) -> str:
    """Draw the plan of one board, or of two one below the other, as SVG."""
    firsts = range(1, seats + 1, SEATS)
    width = 2 * _EDGE + (COLUMNS - 1) * _STEP + 40
    sheet = Blueprint(
        width, len(firsts) * BOARD_HEIGHT + 96, f"The perfboard for {seats} seats, seen from the side of the parts",
        f"{COLUMNS} × {ROWS} holes, {PITCH_MM} mm apart; bare wires (grey) lie below, on the solder side",
    )  # fmt: skip
    for place, first in enumerate(firsts):
        _draw_board(sheet, place * BOARD_HEIGHT, board_of(first), pins)
    y = len(firsts) * BOARD_HEIGHT + 30
    words = [
        "Four black squares in a frame: a seat’s plug. Coloured squares: pins for wires to the Pi, by GPIO and pin.",
        "3.3 V and ground come in at F and go on at M: "
        + ("a wire each from M of board A to F of board B." if len(firsts) > 1 else "to a second board, if any."),
    ]  # fmt: skip
    for row, line in enumerate(words):
        sheet.text(_EDGE, y + 22 * row, line, size=SMALL)
    return sheet.svg()


def _draw_board(sheet: Blueprint, top: float, board: Board, pins: PinMap) -> None:
    def at(hole: Hole) -> tuple[float, float]:
        return _EDGE + 20 + (hole[0] - 1) * _STEP, top + _TOP + (hole[1] - 1) * _STEP

    (left, high), (right, low) = at((1, 1)), at((COLUMNS, ROWS))
    sheet.rect(left - 26, high - 26, right - left + 52, low - high + 52, "#f7f3e8", radius=6)
    sheet.text((left + right) / 2, high - 46, f"board {gate_of(board.first).chip}", "middle")
    for column in range(1, COLUMNS + 1):
        sheet.text(at((column, 1))[0], high - 32, str(column), "middle", SMALL, FAINT)
    for row in range(1, ROWS + 1):
        sheet.text(left - 32, at((1, row))[1] + 4, hole_name((1, row))[0], "end", SMALL, FAINT)
        for column in range(1, COLUMNS + 1):
            sheet.circle(*at((column, row)), 3, PAPER, "#b9b09a", THIN)
    for wire in board.wires:
        sheet.line(*(at(hole) for hole in wire), stroke="#9a9a9a", width=6)
        for hole in holes_of(wire):
            sheet.circle(*at(hole), 3, PAPER, "#9a9a9a", THIN)
    for part in board.parts:
        _draw_part(sheet, part, [at(hole) for _, hole in part.legs], top, pins)


def _draw_part(sheet: Blueprint, part: Part, legs: list[tuple[float, float]], top: float, pins: PinMap) -> None:
    (x, y), (end, bottom) = legs[0], legs[-1]
    with sheet.group(data_part=part.name, data_holes=" ".join(hole_name(hole) for _, hole in part.legs)):
        if part.kind == "chip":
            _draw_chip(sheet, legs)
        elif part.kind == "plug":
            sheet.rect(x - 14, min(y, bottom) - 14, 28, abs(bottom - y) + 28, "none")
            # Words stand towards the chip, where the filter leaves room.
            is_left = x < sheet.width / 2
            for (name, _), (px, py) in zip(part.legs, legs, strict=True):
                _draw_square(sheet, px, py, INK)
                sheet.text(px + (18 if is_left else -18), py - 7, name, "start" if is_left else "end", SMALL)
            sheet.text(x + 8, y + (-_STEP if bottom > y else _STEP) + 5, part.name)
        elif part.kind == "pin":
            _draw_pin(sheet, part, x, y, top, pins)
        else:
            for px, py in legs:
                sheet.circle(px, py, 5, INK)
            sheet.line((x, y), (end, bottom), width=EDGE)
            middle = (y + bottom) / 2
            if part.kind == "filter":
                sheet.ellipse(x, middle, 13, 22)
                sheet.text(x + 4.5, middle, FILTER, "middle", SMALL, turn=-90)
            elif part.kind == "capacitor":
                sheet.ellipse(x, middle, 13, 22)
                sheet.text(x - 20, middle + 26, CAPACITOR, "end", SMALL)
            else:
                sheet.rect(x - 11, middle - 40, 22, 80, PAPER, radius=8)
                sheet.text(x + 4.5, middle, ohm_words(part.ohms), "middle", SMALL, turn=-90)


def _draw_chip(sheet: Blueprint, legs: Iterable[tuple[float, float]]) -> None:
    places = list(legs)
    (left, low), (right, high) = places[0], places[7]
    sheet.rect(left - 16, high + 12, right - left + 40, low - high - 24, "none", radius=4)
    middle = (low + high) / 2
    sheet.path(f"M{left - 16:g} {middle - 9:g} a9 9 0 0 1 0 18", PAPER)
    sheet.text((left + right) / 2 - 1.4 * _STEP, high + _STEP + 5, "74HC14", "middle")
    for leg, (x, y) in enumerate(places, start=1):
        sheet.circle(x, y, 6, INK)
        sheet.text(x + 7, y + (-12 if leg <= 7 else 24), str(leg), size=SMALL)


def _draw_pin(sheet: Blueprint, part: Part, x: float, y: float, top: float, pins: PinMap) -> None:
    kind, _, number = part.name.partition(" ")
    if kind in ("pad", "light"):
        bcm = (pins.pads if kind == "pad" else pins.lights)[int(number) - 1]
        assert bcm is not None, "the guide's pads are all on the header"
        _draw_square(sheet, x, y, STROKES[kind][0])
        words = (part.name, f"GPIO {bcm} ({pin_number(bcm)})")
        if kind == "light":
            is_left = x < sheet.width / 2
            sheet.lines(x + (16 if is_left else -16), y - 4, words, "start" if is_left else "end", SMALL)
        else:
            # Between this resistor and the next gate's, towards the chip.
            below = y > top + _TOP + ROWS * _STEP / 2
            sheet.lines(x + 18, y - 40 if below else y + 30, words, "middle", SMALL)
    else:
        _draw_square(sheet, x, y, "#c1121f" if kind == "3.3" else INK)
        if x < sheet.width / 2:
            sheet.text(x + 14, y - 8, part.name, size=SMALL)
        else:
            sheet.text(x - 14, y, part.name, "middle", SMALL, turn=-90)


def _draw_square(sheet: Blueprint, x: float, y: float, fill: str) -> None:
    sheet.rect(x - 7, y - 7, 14, 14, fill, stroke=fill, weight=WIRE - EDGE)
