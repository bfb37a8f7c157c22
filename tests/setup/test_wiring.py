"""The wiring picture is drawn from the pin map, and says what the map says, in words and without colour."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from gpiozero.pins.pi import PiBoardInfo
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.errors import UserError
from referee.settings.model import load_settings
from referee.setup.wiring import SPI, STROKES, PinMap, draw_wiring, header_pins, pin_map_of, wiring_svg

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).parents[2]
PI_5 = 0xD04170
PI_4 = 0xC03112


def drawn(text: str) -> dict[str, tuple[str, str, float]]:
    """Of each labelled part: its pin (BCM), the kind of its wire, and the x of its label."""
    out = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        if group.get("data-kind") in STROKES:
            (label,) = [t for t in group.iter(f"{SVG}text") if t.get("font-size") == "15"]
            out[str(label.text)] = (str(group.get("data-bcm")), str(group.get("data-kind")), float(str(label.get("x"))))
    return out


def expected(pins: PinMap) -> dict[str, tuple[str, str]]:
    """What the map says."""
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


def test_the_guides_picture_is_the_default() -> None:
    assert (ROOT / "docs" / "wiring.svg").read_text(encoding="utf-8") == wiring_svg(PinMap())


def test_it_can_be_read_without_colour() -> None:
    """No two kinds of wire have the same stroke, and every wired pin says in words what it is."""
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
    assert "2 pads, 0 lights" in capsys.readouterr().out
    for wrong in (tmp_path / "w.png", tmp_path / "none" / "w.svg"):
        with pytest.raises(UserError, match="--out"):
            draw_wiring(wrong, None, 8)
