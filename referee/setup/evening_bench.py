"""What the walk of `referee play` does with devices: finds what can be slapped, looks, and hears slaps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from hardware.clock import monotonic
from hardware.ports import Edge, HardwareMissing
from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.model import Settings
from referee.setup.device_checks import Bench
from referee.setup.live_look import LiveLook, Look
from referee.setup.wired_devices import open_pads
from referee.units import MS
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye

_MODEL: Final = Path("/proc/device-tree/model")
_PATIENCE: Final = 90.0
"""How long slaps are waited for, s: phones are unlocked and find their network."""
_HOLDING: Final = 30.0
"""How long keys that are pressed together are waited for, s."""


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
        kinds: dict[str, str] = {
            "phone": Sentence("everybody's own phone, in the network of this computer"),
            "browser": Sentence("keys of this computer's keyboard, with this page in front"),
        }
        if self._is_pi():
            kinds = {"wired": Sentence("pads on this Raspberry Pi's header"), **kinds}
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

        def hear(edge: Edge) -> bool:
            if edge.pressed:
                heard[edge.seat] = max(heard.get(edge.seat, 0.0), edge.t_error / MS)
                self.heard = set(heard)
            return len(heard) == len(settings.seats)

        self._listen(settings, hear, _PATIENCE)
        return heard

    def hold_keys(self, places: Sequence[str], text: str) -> tuple[str, ...]:
        """See `Bench`; keys of the browser are heard by the page, as slaps are."""
        settings = self.settings(text)
        keys = {n: str(seat.pad) for n, seat in enumerate(settings.seats, start=1) if str(seat.pad) in places}
        down, best = set[int](), set[int]()

        def hear(edge: Edge) -> bool:
            nonlocal best
            (down.add if edge.pressed else down.discard)(edge.seat)
            best = max(best, down & keys.keys(), key=len)
            self.heard = set(best)
            return len(best) == len(keys)

        self._listen(settings, hear, _HOLDING)
        return tuple(place for seat, place in keys.items() if seat in best)

    def _listen(self, settings: Settings, hear: Callable[[Edge], bool], patience: float) -> None:
        """Hear edges until ``hear`` has had enough, somebody leaves, or so many seconds are over."""
        enough = threading.Event()
        self.heard = set()
        self.left.clear()
        try:
            with closing(open_pads(settings)) as pads:
                pads.start(lambda edge: enough.set() if hear(edge) else None)
                until = monotonic() + int(patience * 1e9)
                while not enough.wait(0.1) and not self.left.is_set() and monotonic() < until:
                    pads.watermark(monotonic())
        except HardwareMissing as bad:
            raise UserError(str(bad)) from None

    def close(self) -> None:
        """Let go of everything."""
        self.look_away()
        super().close()
