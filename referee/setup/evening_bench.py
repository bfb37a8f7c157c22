"""The device actions of the `referee play` wizard: it finds pads, looks, and listens for slaps."""

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
from referee.setup.left_game import LeftGame, LeftGames
from referee.setup.live_look import LiveLook, Look
from referee.setup.wired_devices import open_pads
from referee.units import MS
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye

_MODEL: Final = Path("/proc/device-tree/model")
_PATIENCE: Final = 90.0
"""Time limit for slaps, s: phones must be unlocked and find their network."""
_FIRST_PICTURE: Final = 30_000_000_000
"""Time limit for the camera's first picture, ns: the eye is loaded meanwhile."""
_HOLDING: Final = 30.0
"""Time limit for keys that are pressed together, s."""


class EveningBench(Bench):
    """The devices of a machine without soldered parts."""

    def __init__(self, path: Path, games: LeftGames | None = None) -> None:
        """``games``: the record; None: no game was broken off."""
        super().__init__(path)
        self._look: LiveLook | None = None
        self._games = games
        self.resumes = True
        """Whether people go on with a broken-off game, if there is one."""

    def find_left_game(self, text: str) -> LeftGame | None:
        """See `Bench`."""
        return None if self._games is None else self._games.find(text)

    def choose_game(self, resume: bool) -> None:
        """Note whether people go on with the broken-off game."""
        self.resumes = resume

    def resumed_game(self, text: str) -> LeftGame | None:
        """See `Bench`."""
        return self.find_left_game(text) if self.resumes else None

    @property
    def look_now(self) -> Look | None:
        """The current look of the camera; `None`: it is closed."""
        return None if self._look is None else self._look.newest

    def pad_kinds(self) -> dict[str, str]:
        """Return the available kinds of pads with their descriptions, the usual one first."""
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

    def has_looked(self) -> bool:
        """See `Bench`."""
        look = self.look_now
        return look is not None and bool(look.jpeg)

    def look(self, text: str) -> str:
        """Open the camera of these settings and keep looking; return why no picture came, or an empty text."""
        self.look_away()
        self.left.clear()
        settings = self.settings(text)
        self._look = LiveLook(lambda: open_camera_of(settings.camera), lambda: load_eye(settings.deck))
        until = monotonic() + _FIRST_PICTURE
        while not self._look.has_settled.wait(0.1) and not self.left.is_set() and monotonic() < until:
            pass
        newest = self._look.newest
        return "" if newest.jpeg else newest.trouble

    def look_away(self) -> None:
        """Close the camera."""
        if self._look is not None:
            self._look.close()
            self._look = None

    def slaps(self, text: str) -> dict[int, float]:
        """Wait for a slap of every seat; return the seats heard, each with the error of its hand (ms).

        Raises:
            UserError: the pads are not available.
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
        """See `Bench`; the page hears keys of the browser, as it does slaps."""
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
        """Pass edges to ``hear`` until it returns true, a person leaves, or the time is up."""
        enough = threading.Event()
        self.heard = set()
        self.left.clear()
        try:
            with closing(open_pads(settings)) as pads:
                pads.start(lambda edge: enough.set() if hear(edge) else None)
                until = monotonic() + int(patience * 1e9)
                while not enough.wait(0.1) and not self.left.is_set() and monotonic() < until:
                    pads.watermark(monotonic())
        except HardwareMissing as error:
            raise UserError(str(error)) from None

    def close(self) -> None:
        """Release all devices."""
        self.look_away()
        super().close()
