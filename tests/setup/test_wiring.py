"""The wiring picture is drawn from the pin map, and says the same as the map, in words and without colour."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from gpiozero.pins.pi import PiBoardInfo
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS, pin_number
from referee.errors import UserError
from referee.settings.model import load_settings
from referee.setup.blueprint import STROKES
from referee.setup.pad_circuit import gate_of
from referee.setup.wiring import SPI, PinMap, draw_wiring, header_pins, pin_map_of, wiring_svg

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).parents[2]
PI_5 = 0xD04170
PI_4 = 0xC03112
INVERTERS = {1: 2, 3: 4, 5: 6, 9: 8, 11: 10, 13: 12}
"""A 74HC14's outputs by their inputs (data sheet)."""


def drawn(text: str) -> dict[str, tuple[str, str, float]]:
    """Return for each labelled part: its pin (BCM), the kind of its wire, and the x of its label."""
    out = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        if group.get("data-kind") in STROKES:
            (label,) = [t for t in group.iter(f"{SVG}text") if t.get("font-size") == "15"]
            out[str(label.text)] = (str(group.get("data-bcm")), str(group.get("data-kind")), float(str(label.get("x"))))
    return out


def expected(pins: PinMap) -> dict[str, tuple[str, str]]:
    """Return the map's statement."""
    parts = {f"pad {n}": (str(pin), "pad") for n, pin in enumerate(pins.pads, start=1)}
    parts |= {f"light {n}": (str(pin), "light") for n, pin in enumerate(pins.lights, start=1)}
    for colour, pin in zip(("red", "green", "blue"), pins.table or (), strict=False):
        parts[f"table light, {colour}"] = (str(pin), "colour")
    return parts | ({f"MCP3008 {name}": (str(pin), "force") for pin, name in SPI.items()} if pins.force else {})


@pytest.mark.parametrize("revision", [PI_4, PI_5])
def test_the_header_is_the_boards(revision: int) -> None:
    """By gpiozero's own table of the boards."""
    board = {int(n): pin for n, pin in PiBoardInfo.from_revision(revision).headers["J8"].pins.items()}
    words = {"3V3": "3.3 V", "5V": "5 V", "GND": "ground"}
    ours = {pin.number: words.get(pin.label, pin.label) if pin.bcm is None else f"GPIO{pin.bcm}"
            for pin in header_pins(PinMap())}  # fmt: skip
    assert ours == {number: words.get(pin.name, pin.name) for number, pin in board.items()}


@settings(deadline=None, max_examples=30)
@given(st.permutations([pin for pin in range(28) if pin not in SPI]), st.integers(2, 8), st.booleans(), st.booleans())
def test_the_picture_agrees_with_any_pin_map(order: list[int], seats: int, lit: bool, force: bool) -> None:
    pins = PinMap(
        tuple(order[:seats]), tuple(order[8 : 8 + seats]) if lit else (),
        (order[16], order[17], order[18]) if lit else None, force=force,
    )  # fmt: skip
    seen = drawn(wiring_svg(pins))
    assert {label: (pin, kind) for label, (pin, kind, _) in seen.items()} == expected(pins)
    odd = {str(pin.bcm) for pin in header_pins(pins) if pin.number % 2}
    assert all((x < 490) == (pin in odd) for pin, _, x in seen.values()), "each on its row's side of the header"


def test_the_default_is_the_map_that_the_referee_takes() -> None:
    seen = drawn(wiring_svg(PinMap()))
    assert [seen[f"pad {n}"][0] for n in range(1, 9)] == [str(pin) for pin in PAD_PINS]
    assert [seen[f"light {n}"][0] for n in range(1, 9)] == [str(pin) for pin in SEAT_LIGHT_PINS]
    assert [seen[f"table light, {c}"][0] for c in ("red", "green", "blue")] == [str(pin) for pin in TABLE_LIGHT_PINS]


@settings(deadline=None, max_examples=30)
@given(st.permutations([pin for pin in range(28) if pin not in SPI]), st.integers(1, 8), st.sets(st.integers(0, 7)))
def test_every_leg_of_the_chips_is_wired_as_the_data_sheet_says(order: list[int], seats: int, none: set[int]) -> None:
    pads = tuple(None if seat in none else order[seat] for seat in range(seats))
    text = wiring_svg(PinMap(pads, (), None))
    legs: dict[str, str] = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        if leg := group.get("data-leg"):
            printed, legs[leg] = (str(element.text) for element in group.iter(f"{SVG}text"))
            assert leg[1:] == printed
    wired = {seat: bcm for seat, bcm in enumerate(pads, start=1) if bcm is not None}
    assert len(legs) == 14 * len({(seat - 1) // 4 for seat in wired})
    found = {}
    for leg, words in legs.items():
        chip, number = leg[0], int(leg[1:])
        if number in (7, 14):
            assert words == {7: "ground", 14: "3.3 V"}[number]
        elif number in INVERTERS:
            out = legs[f"{chip}{INVERTERS[number]}"]
            if words == "ground":
                assert out == "free", "a gate that nothing uses rests"
            else:
                found[int(words.removeprefix("from pad "))] = int(out.removeprefix("1 kΩ to GPIO "))
    assert found == wired
    assert {f"A{n}" for n in (1, 2)} == {gate_of(1).chip + str(n) for n in (gate_of(1).input, gate_of(1).output)}


def test_a_pads_wire_passes_its_gate_the_right_way_round() -> None:
    """From the pin: 1 kΩ, the gate's output, the gate's input."""
    for group in ET.fromstring(wiring_svg(PinMap())).iter(f"{SVG}g"):
        if group.get("data-kind") != "pad":
            continue
        words = [(abs(float(str(t.get("x"))) - 490), str(t.text)) for t in group.iter(f"{SVG}text")]
        number, _, resistor, out, into, label = (word for _, word in sorted(words))
        gate = gate_of(int(label.removeprefix("pad ")))
        assert pin_number(int(str(group.get("data-bcm")))) == int(number)
        assert (resistor, out, into) == ("1 kΩ", f"{gate.chip}{gate.output}", f"{gate.chip}{gate.input}")
        assert INVERTERS[gate.input] == gate.output


def test_switches_take_no_gate() -> None:
    text = wiring_svg(PinMap(made_of="switch"))
    assert "74HC14" not in text
    assert "kΩ" not in text
    assert drawn(text).keys() == expected(PinMap()).keys()


def test_it_can_be_read_without_colour() -> None:
    """No two kinds of wire have the same stroke, and every wired pin is named in words."""
    assert len({dashes for _, dashes in STROKES.values()}) == len(STROKES)
    made = header_pins(PinMap(force=True))
    assert all(pin.label for pin in made if pin.kind in STROKES)
    assert all(pin.ohms > 0 for pin in made if pin.kind in ("light", "colour"))


def test_the_command_draws_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.toml"
    table.write_text(
        '[lights]\nenabled = false\n[[seat]]\nname = "<Ana> & co of ours"\npad = 21\n[[seat]]\nname = "Ben"\n'
    )
    out = tmp_path / "w.svg"
    assert draw_wiring(out, table, 8) == 0
    assert pin_map_of(load_settings(table)).lights == ()
    assert drawn(out.read_text())["pad 1 <Ana> & c…"][:2] == ("21", "pad")
    assert "pads: 2, lights: 0" in capsys.readouterr().out
    assert "74HC14" in out.read_text()
    assert draw_wiring(out, table, 8, "switch") == 0
    assert "74HC14" not in out.read_text()
    table.write_text(table.read_text() + "\n[pads]\nactive_high = true\n")
    assert draw_wiring(out, table, 8) == 0
    assert "a contact to 3.3 V" in out.read_text()
    with pytest.raises(UserError, match=r"pads\.active_high=false"):
        draw_wiring(out, table, 8, "fsr")
    seats = "".join(f'[[seat]]\nname = "{name}"\npad = "phone"\n' for name in ("Ana", "Ben"))
    table.write_text(f"[lights]\nenabled = false\n{seats}")
    with pytest.raises(UserError, match="nothing is wired"):
        draw_wiring(out, table, 8)
    for wrong in (tmp_path / "w.png", tmp_path / "none" / "w.svg"):
        with pytest.raises(UserError, match="--out"):
            draw_wiring(wrong, None, 8)
