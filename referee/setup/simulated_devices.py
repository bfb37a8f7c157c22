"""Set-up without a table: a camera over the sheet or four cards, pads that are hit when asked, and the walk's devices.

`referee calibrate --simulated`, `referee calibrate pads --simulated` and `referee setup --simulated` use these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from hardware.pads.pinout import PAD_PINS
from hardware.ports import Edge
from referee.setup.device_checks import Bench
from referee.units import MS

if TYPE_CHECKING:
    from hardware.simulated.devices.pad_hands import Nature
    from hardware.simulated.pictures.overhead import OverheadFrames
    from referee.setup.calibration.pad_check import PadCheck

CARDS: Final = (("7h", -190.0, -118.0, 12.0), ("Kc", 192.0, -122.0, -8.0), ("2d", 182.0, 122.0, 95.0),
                ("Ts", -186.0, 118.0, 181.0))  # fmt: skip
"""Four cards: where their middles lie, mm, and how they are turned, degrees."""
_SHEET: Final = (18.0, -8.0, 7.0)
_SIZE: Final = {"camera.width": 960, "camera.height": 720}
"""Of the simulated camera's picture, px."""
_BETWEEN: Final = 700 * MS
"""How long simulated hands wait between blows, ns."""


def simulated_camera(by: str, reaches: Sequence[float] = ()) -> OverheadFrames:
    """A camera that leans a little over a table on which the sheet or four cards lie.

    Args:
        by: ``cards``, or anything else for the sheet.
        reaches: bearings, degrees, from which hands reach over the middle, one after another.
    """
    import numpy as np

    from hardware.simulated.pictures.overhead import Overhead, OverheadFrames, Top
    from referee.setup.calibration.find_table import SCALE, draw_page

    top = Top(seed=1)
    if by == "cards":
        for card, x, y, turn in CARDS:
            top.lay_card(card, x, y, turn)
    else:
        top.lay_paper(np.asarray(draw_page("a4"), np.uint8), SCALE, *_SHEET)
    camera = Overhead(tilt=6.0, towards=270.0, turn=1.5, height=640.0, seed=1)
    return OverheadFrames(camera, top, reaches=reaches, fps=15.0)


def check_simulated_pads(check: PadCheck, nature: Nature, say: Callable[[str], None] | None = None) -> None:
    """Hold the conversation of `referee calibrate pads` with simulated pads and hands."""
    from hardware.simulated.devices.pad_hands import SimulatedHands
    from hardware.simulated.devices.simulated_pads import SimulatedPads

    pads = SimulatedPads(len(nature.bounce), t_error=1_500_000)
    pads.pads.start(check.feed)
    hands = SimulatedHands(nature)
    while check.asking:
        for contact in hands.hit(check.asking, pads.now + 20 * MS):
            pads.advance(contact.seat, contact.pressed, contact.t)
        # A seat with a cut wire is waited for in vain.
        pads.run_to(pads.now + _BETWEEN)
        for words in check.advance(pads.now):
            if say is not None:
                say(words)
    pads.close()


class SimulatedBench(Bench):
    """The walk's devices at the simulated table, two of whose pads are wired the wrong way round; nothing is heard."""

    simulated = True

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | None:
        """The asked seat's player slaps, and the real pads' driver hears it."""
        from hardware.simulated.devices.simulated_pads import SimulatedPads

        hand = {1: 2, 2: 1}.get(seat, seat)
        if PAD_PINS[hand - 1] not in pins:
            return None
        table = SimulatedPads(len(PAD_PINS))
        hits: list[Edge] = []
        try:
            table.pads.start(hits.append)
            table.advance(hand, True, 10 * MS)
            table.advance(hand, False, 90 * MS)
            table.run_to(120 * MS)
        finally:
            table.close()
        return next((PAD_PINS[edge.seat - 1] for edge in hits if edge.pressed), None)

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """Say which light would blink."""
        return f"(Simulated: the light on pin {pin} blinks.) "

    def dark(self) -> None:
        """Nothing is lit."""

    def cameras(self) -> list[tuple[str, str]]:
        """The one that is simulated."""
        return [("picamera", "the simulated one, which the settings take for the Pi's own")]

    def picture(self, text: str) -> tuple[bool, str]:
        """Write what the simulated camera sees."""
        return self.write(next(simulated_camera("sheet").frames()).image)

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """Find the simulated table, with the picture's size as its camera has it."""
        from referee.settings.file import SettingsText

        return super().calibrate(SettingsText(text, self.path.parent).changed(_SIZE).text, by)

    def speak(self, text: str) -> str:
        """Say at which volume a voice would speak."""
        return f"(Simulated: a voice speaks at volume {self.settings(text).voice.volume}.)"
