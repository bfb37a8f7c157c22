"""The build guide's drawings: every pin, resistor and measure in them is the pin map's, the text's or the code's."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Final

import pytest

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS, pin_number
from referee.setup.blueprint import Blueprint
from referee.setup.pad_circuit import DIVIDER_OHMS, GUARD_OHMS, SUPPLY_OHMS, gate_of, ohm_words
from referee.setup.wiring import SEAT_OHMS, TABLE_OHMS, PinMap, wiring_svg
from tools.build_guide import board, buttons, circuit, parts, plans, sums
from tools.build_guide.__main__ import DRAWINGS

SVG: Final = "{http://www.w3.org/2000/svg}"
GUIDE: Final = (Path(__file__).parents[2] / "docs" / "build.md").read_text(encoding="utf-8")
PICTURES: Final = {name: draw() for name, draw in DRAWINGS.items()} | {
    "switches": wiring_svg(PinMap(made_of="switch")), "force": wiring_svg(PinMap(force=True)),
}  # fmt: skip
OURS: Final = {*PAD_PINS, *SEAT_LIGHT_PINS, *TABLE_LIGHT_PINS}
INPUTS: Final = ("1", "3", "5", "9", "11", "13")
"""Of a 74HC14 (data sheet)."""


def writing(picture: str) -> list[ET.Element]:
    return list(ET.fromstring(picture).iter(f"{SVG}text"))


def box_of(text: ET.Element) -> tuple[float, float, float, float]:
    """Return the approximate rectangle of a text: left, top, right, bottom.

    Letters are taken as 0.55 of their size wide.
    """
    x, y, size = (float(str(text.get(key))) for key in ("x", "y", "font-size"))
    length = 0.55 * size * len(str(text.text))
    start = {"start": 0.0, "middle": length / 2, "end": length}[str(text.get("text-anchor"))]
    if text.get("transform"):
        return x - 0.75 * size, y - length + start, x + 0.2 * size, y + start
    return x - start, y - 0.75 * size, x - start + length, y + 0.2 * size


def colliding(picture: str) -> list[tuple[str, str]]:
    """Return texts that overlap."""
    boxes = [(str(text.text), box_of(text)) for text in writing(picture) if text.text]
    return [
        (one, other) for (one, a), (other, b) in combinations(boxes, 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_no_words_lie_on_others_or_leave_the_sheet(name: str) -> None:
    picture = PICTURES[name]
    width, height = map(float, str(ET.fromstring(picture).get("viewBox")).split()[2:])
    assert colliding(picture) == []
    outside = [
        text.text for text in writing(picture)
        if not ((box := box_of(text))[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height)
    ]  # fmt: skip
    assert outside == []


def test_words_on_words_would_be_noticed() -> None:
    sheet = Blueprint(300, 200, "title")
    sheet.text(20, 100, "one here")
    sheet.text(60, 104, "two there")
    assert colliding(sheet.svg()) == [("one here", "two there")]


@pytest.mark.parametrize("name", PICTURES)
def test_it_is_read_on_a_dark_page_and_in_few_sizes(name: str) -> None:
    root = ET.fromstring(PICTURES[name])
    paper = next(element for element in root if element.tag == f"{SVG}rect")
    assert (paper.get("fill"), paper.get("x"), paper.get("y")) == ("#ffffff", "0", "0")
    assert [paper.get("width"), paper.get("height")] == str(root.get("viewBox")).split()[2:]
    assert {text.get("font-size") for text in writing(PICTURES[name])} <= {"12", "14", "15", "16", "20"}


@pytest.mark.parametrize("name", PICTURES)
def test_every_pin_and_resistor_is_the_pin_maps_and_the_texts(name: str) -> None:
    words = " | ".join(str(text.text) for text in writing(PICTURES[name]))
    for bcm, pin in re.findall(r"GPIO (\d+) \((?:pin )?(\d+)\)", words):
        assert pin_number(int(bcm)) == int(pin)
        assert int(bcm) in OURS
    ohms = {DIVIDER_OHMS, GUARD_OHMS, SEAT_OHMS, SUPPLY_OHMS, *TABLE_OHMS.values()}
    drawn = set(re.findall(r"[\d.]+ k?Ω", words))
    assert drawn <= {ohm_words(ohm) for ohm in ohms} | {"8 Ω"}, "and the loudspeaker's"
    assert all(word in GUIDE for word in drawn)
    assert all(capacity in GUIDE for capacity in re.findall(r"\d+ nF", words))


# The board.


@pytest.mark.parametrize("first", [1, 5])
def test_the_boards_wires_make_the_circuit(first: int) -> None:
    """The wires are followed from hole to hole, and compared with the circuit written down by hand."""
    joined = {frozenset(net) for net in board.nets(board.board_of(first)) if len(net) > 1}
    supply, ground = {("74HC14", "14"), ("100 nF", "a")}, {("74HC14", "7"), ("100 nF", "b")}
    for name, net in (("3.3 V", supply), ("ground", ground)):
        net |= {(f"{name}, {which}", name) for which in ("in", "on")}
        net |= {
            (f"pad {seat}, 100 Ω", "b") if name == "3.3 V" else (f"seat {seat}", name)
            for seat in range(first, first + 4)
        }
    used, expected = set(), set()
    for seat in range(first, first + 4):
        gate, pull, guard, lamp = gate_of(seat), f"pad {seat}, 4.7 kΩ", f"pad {seat}, 1 kΩ", f"light {seat}, 330 Ω"
        used.add(str(gate.input))
        ground |= {(pull, "b"), (f"pad {seat}, 1 nF", "b")}
        expected |= {
            frozenset(
                {
                    (f"seat {seat}", "pad"),
                    ("74HC14", str(gate.input)),
                    (pull, "a"),
                    (f"pad {seat}, 1 nF", "a"),
                }
            ),
            frozenset({(f"seat {seat}", "3.3 V"), (f"pad {seat}, 100 Ω", "a")}),
            frozenset({("74HC14", str(gate.output)), (guard, "a")}),
            frozenset({(guard, "b"), (f"pad {seat}", "pad")}),
            frozenset({(f"light {seat}", "light"), (lamp, "a")}),
            frozenset({(lamp, "b"), (f"seat {seat}", "light")}),
        }
    ground |= {("74HC14", leg) for leg in INPUTS if leg not in used}
    assert joined == expected | {frozenset(supply), frozenset(ground)}


def test_a_wire_that_is_missing_would_be_noticed() -> None:
    whole = board.board_of()
    for left_out in range(len(whole.wires)):
        wires = tuple(wire for place, wire in enumerate(whole.wires) if place != left_out)
        assert len(board.nets(board.Board(1, whole.parts, wires))) > len(board.nets(whole))


def test_the_boards_holes_are_there_and_bear_one_leg_each() -> None:
    made = board.board_of()
    legs = [hole for part in made.parts for _, hole in part.legs]
    assert len(legs) == len(set(legs))
    touched = [hole for wire in made.wires for hole in board.holes_of(wire)]
    assert all(1 <= column <= board.COLUMNS and 1 <= row <= board.ROWS for column, row in [*legs, *touched])
    for wire in made.wires:
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(wire)), "level or upright"
    for part in made.parts:
        if part.kind == "resistor":
            (x1, y1), (x2, y2) = (hole for _, hole in part.legs)
            assert (x1, abs(y1 - y2)) == (x2, 4), "a resistor is 6.3 mm long and wants 10 mm"
    for part in made.parts:
        if part.kind == "filter":
            under = {(column, row) for column, row in legs if (column, row) not in [hole for _, hole in part.legs]}
            (column, top), (_, low) = sorted(hole for _, hole in part.legs)
            assert not under & {(column, row) for row in range(top, low + 1)}, "nothing stands under a capacitor"


def test_a_chip_has_its_legs_where_a_case_has_them() -> None:
    """Two rows of seven, 7.62 mm apart; numbered against the clock from the notch, seen from above."""
    holes = [board.leg_hole(leg) for leg in range(1, 15)]
    (left, low), (_, high) = holes[0], holes[13]
    assert (low - high) * board.PITCH_MM == pytest.approx(7.62)
    assert holes == [(left + n, low) for n in range(7)] + [(left + 6 - n, high) for n in range(7)]


@pytest.mark.parametrize("seats", [4, 8])
def test_the_plan_names_the_pin_of_every_pad_and_light(seats: int) -> None:
    found = {}
    for group in ET.fromstring(board.board_svg(PinMap(), seats)).iter(f"{SVG}g"):
        name = str(group.get("data-part"))
        if re.fullmatch(r"(pad|light) \d", name):
            own, gpio = (str(text.text) for text in group.iter(f"{SVG}text"))
            assert own == name
            found[name] = int(re.findall(r"GPIO (\d+)", gpio)[0])
    expected = {f"pad {n}": bcm for n, bcm in enumerate(PAD_PINS[:seats], start=1)}
    assert found == expected | {f"light {n}": bcm for n, bcm in enumerate(SEAT_LIGHT_PINS[:seats], start=1)}


# The buttons on a Pico.


def test_the_picos_pins_are_those_of_its_data_sheet() -> None:
    """GPIO by pin, copied from the board's drawing; all others are ground, supply or control."""
    sheet = {
        1: 0, 2: 1, 4: 2, 5: 3, 6: 4, 7: 5, 9: 6, 10: 7, 11: 8, 12: 9, 14: 10, 15: 11, 16: 12, 17: 13, 19: 14, 20: 15,
        21: 16, 22: 17,
    }  # fmt: skip
    assert {pin: gpio for pin in range(1, 23) for gpio in range(18) if buttons.pico_pin(gpio) == pin} == sheet
    assert set(buttons.GROUNDS) < {3, 8, 13, 18, 23, 28, 38}
    assert len(buttons.pin_uses()) == len({*buttons.PADS, *buttons.LAMPS}) + len(buttons.GROUNDS)
    drawn = {}
    for group in ET.fromstring(PICTURES["build-buttons.svg"]).iter(f"{SVG}g"):
        if group.get("data-kind") in ("pad", "light"):
            words = str(next(group.iter(f"{SVG}text")).text)
            drawn[words.partition(": ")[2]] = sheet[int(str(group.get("data-pin")))]
    expected = {f"pad {seat}": gpio for seat, gpio in enumerate(buttons.PADS, start=1)}
    assert drawn == expected | {f"light {seat}": gpio for seat, gpio in enumerate(buttons.LAMPS, start=1)}


def test_the_table_without_solder_takes_as_long_as_its_steps() -> None:
    part = GUIDE.partition("## The table without solder")[2].partition("\n## ")[0]
    minutes = [int(found) for found in re.findall(r"^\d\. \*\*.+?\*\* \((\d+) min\)", part, flags=re.MULTILINE)]
    assert f"{sum(minutes)} minutes" in part
    assert f"about {parts.cost(4, 'button_part'):.0f} €" in part
    shared = ("Raspberry Pi 5", "its own supply", "SD card", "an arm", "a lamp", "a USB loudspeaker")
    listed = [part for part in parts.entries("part") if part.name.startswith(shared)]
    assert len(listed) == len(shared)
    (webcam,) = re.findall(r"webcam with fixed focus \((\d+) €\)", GUIDE)
    assert f"{sum(part.euros for part in listed) + int(webcam):.0f} € more" in part


# The circuits' margins.


def test_every_margin_holds_and_the_filter_is_needed() -> None:
    reserves = {margin.name: margin.reserve for margin in circuit.margins()}
    failing = [name for name, reserve in reserves.items() if reserve <= 0]
    assert failing == ["the same without 1 nF, the wires side by side"]
    named = re.findall(r"with at least (\d+) % of its limit in reserve", " ".join(GUIDE.split()))
    least = min(m.reserve / m.limit for m in circuit.margins() if m.name not in failing)
    assert [int(share) for share in named] == [int(100 * least)]


def test_the_circuits_values_are_those_of_a_simulation_step_by_step() -> None:
    """The gate's input is integrated over 0.2 ns steps, from Ohm and Kirchhoff alone."""
    supply, feed, fsr, pull, farad, step = 3.3, 100.0, 800.0, 4_700.0, 1.4e-9, 2e-10

    def integrate(volts: float, ohms: float | None, until: Callable[[float], bool]) -> tuple[float, float]:
        t = 0.0
        while not until(volts) and t < 100e-6:
            into = (supply - volts) / ohms if ohms is not None else 0.0
            volts += (into - volts / pull) / farad * step
            t += step
        return t, volts

    t, _ = integrate(0.0, feed + fsr, lambda volts: volts >= 0.7 * supply)
    assert circuit.press_delay(0.7, feed, fsr, pull, farad) == pytest.approx(t, rel=1e-3)
    _, level = integrate(0.0, feed + fsr, lambda volts: False)
    assert circuit.pad_level(supply, feed, fsr, pull) == pytest.approx(level, rel=1e-6)
    t, _ = integrate(level, None, lambda volts: volts <= 0.2 * supply)
    assert circuit.release_delay(0.2, feed, fsr, pull, farad) == pytest.approx(t, rel=1e-3)


def test_a_lights_step_lifts_the_pad_as_charge_is_kept() -> None:
    """The charge that leaves the capacitor across is that which the others take."""
    supply, across, ground, filtering = 3.3, 40e-12, 100e-12, 1e-9
    volts = circuit.lift(supply, across, ground, filtering)
    assert (supply - volts) * across == pytest.approx(volts * (ground + filtering))


def test_a_span_takes_the_worst_corner() -> None:
    one, other = circuit.Span(1, 2, 3), circuit.Span(10, 20, 40)
    assert circuit.worst(lambda a, b: b / a, one, other) == circuit.Span(10 / 3, 10, 40)


# Wood, rubber, arm.


def test_a_pad_lets_go_of_its_own_plate() -> None:
    """Also by the gate that switches last; and a usual larger resistor would not do, as the text says."""
    weight, heavy = plans.resting_newtons(plans.PLYWOOD), plans.resting_newtons(plans.ACRYLIC)
    last = {ohms: sums.newtons(sums.switching(ohms, sums.FALLING[0])) for ohms in (DIVIDER_OHMS, 10_000)}
    assert [ohms for ohms, newtons in last.items() if weight < newtons] == [DIVIDER_OHMS]
    assert heavy > last[DIVIDER_OHMS]
    said = " ".join(GUIDE.split())
    assert f"rest on the sensor with {weight:.1f} N ({heavy:.1f} N with an acrylic plate" in said


def test_the_pads_measures_are_the_texts() -> None:
    text = " ".join(GUIDE.split())
    for layer in plans.LAYERS:
        assert f"{layer.thick:g} mm {layer.name}" in text
    assert f"{plans.DISC_MM[0]:g} mm across and {plans.DISC_MM[1]:g} mm thick" in text
    assert f"a {plans.HOLE_MM:g} mm hole" in text
    # The disc on the sensor is higher than the rubber, and both have room in its hole.
    assert plans.DISC_MM[1] + plans.FSR_MM[1] > plans.RUBBER.thick
    assert max(plans.DISC_MM[0], plans.FSR_MM[0]) < plans.HOLE_MM < plans.RUBBER.across


def test_the_arm_is_drawn_where_the_camera_sees_enough() -> None:
    camera = sums.CAMERAS[0]
    low, high = sums.fitting(camera)
    assert low <= plans.HEIGHT_MM <= high
    across, deep = (side / 10 for side in sums.area_mm(camera, plans.HEIGHT_MM))
    words = [str(text.text) for text in writing(plans.arm_svg())]
    assert f"it sees {across:.0f} × {deep:.0f}" in words
    assert f"the lens hangs {low / 10:g} to {high / 10:g} above the table" in words


def test_everything_has_room_in_the_box() -> None:
    across, deep, _ = plans.BOX_MM
    for place in plans.PLACES:
        assert 0 < place.x < place.x + place.across < across
        assert 0 < place.y < place.y + place.deep < deep
    for one, other in combinations(plans.PLACES, 2):
        apart = one.x + one.across <= other.x or other.x + other.across <= one.x
        assert apart or one.y + one.deep <= other.y or other.y + other.deep <= one.y
    (_, _, *floor), (_, _, *front), (_, _, *side) = plans.cut_list()
    assert floor[0] == front[0] == across + 2 * plans.WALL_MM
    assert (floor[1], side[0]) == (side[0] + 2 * plans.WALL_MM, deep)


# Parts.


@pytest.mark.parametrize(("kind", "digits"), [("part", -1), ("button_part", 0)])
@pytest.mark.parametrize("seats", parts.TABLES)
def test_the_sum_is_that_of_the_rows(seats: int, kind: str, digits: int) -> None:
    """Added up by hand."""
    rows = [[cell.strip() for cell in row.split("|")] for row in parts.parts_table(kind)]
    column = rows[0].index(f"{seats} seats")
    euros = sum(float(row[column]) * float(row[5].split()[0]) for row in rows[2:] if row[column].isdigit())
    (total,) = [row[column] for row in rows if row[1].startswith("**all")]
    assert total == f"**{round(euros, digits):.0f} €**"
    assert parts.cost(seats, kind) == pytest.approx(euros)


@pytest.mark.parametrize("seats", parts.TABLES)
def test_what_is_drawn_is_on_the_list(seats: int) -> None:
    listed = {part.name: part.count(seats) for part in parts.entries("part")}
    boards = [board.board_of(first) for first in range(1, seats + 1, board.SEATS)]
    drawn = [part for board in boards for part in board.parts]
    for words, count in (
        ("74HC14", sum(part.kind == "chip" for part in drawn)),
        ("100 nF", sum(part.kind == "capacitor" for part in drawn)),
        ("1 nF", sum(part.kind == "filter" for part in drawn)),
        ("perfboard", len(boards)),
    ):
        assert [listed[name] for name in listed if re.search(rf"\b{words}", name)] == [count]
    (resistors,) = [name for name in listed if name.startswith("resistors of")]
    for ohms in (DIVIDER_OHMS, GUARD_OHMS, SEAT_OHMS, SUPPLY_OHMS):
        assert ohm_words(ohms) in resistors
        assert listed[resistors] == sum(part.ohms == ohms for part in drawn)
