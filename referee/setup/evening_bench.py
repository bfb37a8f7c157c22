"""What the walk of `referee play` does with devices: finds what can be slapped, looks, and hears slaps."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Final

from hardware.clock import monotonic
from hardware.ports import Edge, HardwareMissing
from referee.errors import UserError
from referee.setup.device_checks import Bench
from referee.setup.live_look import LiveLook, Look
from referee.units import MS
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye
from referee.wired_devices import open_pads

_MODEL: Final = Path("/proc/device-tree/model")
_PATIENCE: Final = 90.0
"""How long slaps are waited for, s: phones are unlocked and find their network."""


class EveningBench(Bench):
    """The devices of a machine that nobody has soldered anything to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._look: LiveLook | None = None

    @property
    def look_now(self) -> Look | None:
        """What the camera sees; None while nobody looks."""
        return None if self._look is None else self._look.newest

    def pad_kinds(self) -> dict[str, str]:
        """What can be slapped here, each with what it means, the usual one first."""
        kinds = {
            "phone": "everybody's own phone, in the network of this computer",
            "browser": "keys of this computer's keyboard, with this page in front",
        }
        if self._is_pi():
            kinds = {"wired": "pads on this Raspberry Pi's header", **kinds}
        return kinds

    @staticmethod
    def _is_pi() -> bool:
        try:
            return b"Raspberry Pi" in _MODEL.read_bytes()
        except OSError:
            return False

    def look(self, text: str) -> None:
        """Look through the camera of these settings from now on."""
        self.look_away()
        settings = self.settings(text)
        self._look = LiveLook(lambda: open_camera_of(settings.camera), lambda: load_eye(settings.deck))

    def look_away(self) -> None:
        """Let go of the camera."""
        if self._look is not None:
            self._look.close()
            self._look = None

    def slaps(self, text: str) -> dict[int, float]:
        """Hear a slap of every seat, for so long as that takes; gives the seats that were heard, each with the error
        (ms) to which its hand was known.

        Raises:
            UserError: the pads cannot be had.
        """
        settings = self.settings(text)
        heard: dict[int, float] = {}
        all_heard = threading.Event()

        def hear(edge: Edge) -> None:
            if edge.pressed:
                heard[edge.seat] = max(heard.get(edge.seat, 0.0), edge.t_error / MS)
                self.heard = set(heard)
                if len(heard) == len(settings.seats):
                    all_heard.set()

        self.heard = set()
        self.left.clear()
        try:
            with closing(open_pads(settings)) as pads:
                pads.start(hear)
                until = monotonic() + int(_PATIENCE * 1e9)
                while not all_heard.wait(0.1) and not self.left.is_set() and monotonic() < until:
                    pads.watermark(monotonic())
        except HardwareMissing as bad:
            raise UserError(str(bad)) from None
        return heard

    def close(self) -> None:
        """Let go of everything."""
        self.look_away()
        super().close()
