"""The simulated table under the walk: two of its pads are wired the wrong way round; its players slap when asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hardware.gpio import PAD_PINS
from hardware.ports import Edge
from referee.app.setup_bench import TableBench
from referee.app.setup_draft import Draft

SWAPPED: Final = {1: PAD_PINS[1], 2: PAD_PINS[0]}
"""Which pin a seat's pad is soldered to, where it is not the picture's."""
PICTURE: Final = (960, 720)
"""Size of the simulated camera's picture, px."""
MS: Final = 1_000_000


class SimulatedBench(TableBench):
    """Pads, lights and a camera that are simulated; nothing is heard."""

    simulated = True

    def __init__(self, path: Path, soldered: Mapping[int, int] = SWAPPED, silent: Sequence[int] = ()) -> None:
        """``soldered``: the pin of a seat's pad where it is another than the picture's; ``silent``: cut wires."""
        super().__init__(path)
        self._soldered = {**dict(enumerate(PAD_PINS, start=1)), **soldered}
        self._silent = tuple(silent)
        self.lit: int | None = None
        """The pin of the light that blinks."""

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | None:
        """The asked seat's player slaps, and the real pad shell hears it."""
        from hardware.simulated.pads import SimulatedPads

        if seat in self._silent or self._soldered[seat] not in pins:
            return None
        table = SimulatedPads(len(PAD_PINS))
        hits: list[Edge] = []
        try:
            table.pads.start(hits.append)
            hand = PAD_PINS.index(self._soldered[seat]) + 1
            table.advance(hand, True, 10 * MS)
            table.advance(hand, False, 90 * MS)
            table.run_to(120 * MS)
        finally:
            table.close()
        return next((PAD_PINS[edge.seat - 1] for edge in hits if edge.pressed), None)

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """See `referee.app.setup_bench.Bench`."""
        self.lit = pin
        return f"(Simulated: the light on pin {pin} blinks.) "

    def dark(self) -> None:
        """See `referee.app.setup_bench.Bench`."""
        self.lit = None

    def cameras(self) -> list[tuple[str, str]]:
        """See `referee.app.setup_bench.Bench`."""
        return [("picamera", "the simulated one, which the settings take for the Pi's own")]

    def picture(self, text: str) -> tuple[bool, str]:
        """See `referee.app.setup_bench.Bench`."""
        from referee.app.practice import practice_camera

        return self.written(next(practice_camera("sheet").frames()).image)

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """See `referee.app.setup_bench.Bench`."""
        size = {"camera.width": PICTURE[0], "camera.height": PICTURE[1]}
        return super().calibrate(Draft(text, self.path.parent).changed(size).text, by)

    def speak(self, text: str) -> str:
        """See `referee.app.setup_bench.Bench`."""
        return f"(Simulated: a voice speaks at volume {self.settings(text).voice.volume}.)"
