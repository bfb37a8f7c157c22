"""`make pi-test` in short: the product's pads and lights on an emulated Raspberry Pi's own pins."""

from __future__ import annotations

import pytest

from tests.pi.__main__ import play
from tools.pi.setup import CannotSetUpError, set_up

VERSION = "3.13"


@pytest.mark.slow
def test_pads_and_lights_on_the_pins_of_a_raspberry_pi() -> None:
    try:
        set_up([VERSION])
    except CannotSetUpError as error:
        pytest.skip(f"no emulated Raspberry Pi: {error}")
    verdict, _, report = play(seeds=[20], pairs=1, board="raspi4b", version=VERSION)
    assert report.board.startswith("pinctrl-bcm2711")
    assert verdict.faults == [], str(verdict)
    assert verdict.pairs > 0 and verdict.lights
