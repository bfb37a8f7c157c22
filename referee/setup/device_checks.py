"""What the walk does with devices, each a short thing: wait for a slap, blink a light, take a picture, speak.

Nothing here raises for a device that is not there: it comes back in words, and the walk goes on.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hardware.ports import Edge, HardwareMissing
from referee.app.problems import UserError

if TYPE_CHECKING:
    from referee.app.settings import Settings

SLAP_PATIENCE: Final = 20.0
"""How long a slap is waited for, s."""
BLINK: Final = 0.35
"""Half a blink's period, s."""


class Bench(Protocol):
    """The devices, as the walk's `Do` names them."""

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | None:
        """The pin of the pad that is hit first within some seconds; ``seat`` is the one that was asked."""
        ...

    def measure(self, text: str) -> tuple[str | None, str]:
        """The settings with the pads measured (None: they were not), and what happened, in words."""
        ...

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """Blink the light on ``pin`` and none else of ``pins``, until told otherwise; words if it cannot be done."""
        ...

    def dark(self) -> None:
        """Every light off."""
        ...

    def cameras(self) -> list[tuple[str, str]]:
        """Each camera's source, as settings name it, and what it calls itself."""
        ...

    def picture(self, text: str) -> tuple[bool, str]:
        """Write what the camera of these settings sees into a file; whether that went well, and words."""
        ...

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """The settings with the table found (None: it was not), and what happened, in words."""
        ...

    def speak(self, text: str) -> str:
        """Say something as these settings say; words if that cannot be done."""
        ...

    def decks(self) -> list[str]:
        """The decks that were learned."""
        ...

    def doctor(self, text: str) -> tuple[str, bool]:
        """What the doctor says, and whether everything is well."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class TableBench:
    """The devices of this machine; ``path`` is the settings file, beside which pictures are written."""

    simulated = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lamp: Any = None
        self._blinking: threading.Event | None = None
        self._blinker: threading.Thread | None = None

    def settings(self, text: str) -> Settings:
        """The settings that a text holds."""
        from referee.app.settings import parse

        return parse(text, self.path.parent)

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | None:
        """See `Bench`."""
        from hardware.pads import GpioPads

        try:
            pads = GpioPads(dict(enumerate(pins)), active_high=active_high)
        except HardwareMissing as bad:
            raise UserError(f"{bad}; or answer `skip` to leave the pads out") from None
        hits: queue.Queue[Edge] = queue.Queue()
        try:
            pads.start(lambda edge: hits.put(edge) if edge.pressed else None)
            return pins[hits.get(timeout=SLAP_PATIENCE).seat]
        except queue.Empty:
            return None
        finally:
            pads.close()

    def measure(self, text: str) -> tuple[str | None, str]:
        """See `Bench`."""
        from referee.app.calibrating_pads import calibrate_pads

        asked = Namespace(settings=self.path, simulated=self.simulated, seats=None, blows=8, board=False, json=False)
        return self.stored(text, lambda: calibrate_pads(asked), "A pad was not heard: the list says which, and why.")

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """See `Bench`."""
        from hardware.lights import GpioLights

        self.dark()
        try:
            self._lamp = GpioLights(dict.fromkeys([pin], pin), None)
        except HardwareMissing as bad:
            return f"It cannot be lit: {bad}. "
        self._blinking = threading.Event()
        self._blinker = threading.Thread(target=self._blink, args=(self._lamp, pin, self._blinking), daemon=True)
        self._blinker.start()
        return ""

    @staticmethod
    def _blink(lamp: Any, pin: int, ended: threading.Event) -> None:
        level = 0.0
        while not ended.wait(BLINK):
            level = 1.0 - level
            lamp.seat(pin, level)

    def dark(self) -> None:
        """See `Bench`."""
        if self._blinking is not None and self._blinker is not None:
            self._blinking.set()
            self._blinker.join(timeout=2 * BLINK)
        if self._lamp is not None:
            self._lamp.close()
        self._lamp = self._blinking = self._blinker = None

    def cameras(self) -> list[tuple[str, str]]:
        """See `Bench`."""
        from referee.app.cameras import cameras

        return [(found.source, found.name) for found in cameras()]

    def picture(self, text: str) -> tuple[bool, str]:
        """See `Bench`."""
        from referee.app.parts import open_camera_of

        try:
            camera = open_camera_of(self.settings(text).camera)
            try:
                return self.written(next(frame for count, frame in enumerate(camera.frames()) if count >= 12).image)
            finally:
                camera.close()
        except (HardwareMissing, StopIteration) as bad:
            return False, f"There was no picture: {bad or 'the camera sent too few'}."

    def written(self, image: Any) -> tuple[bool, str]:
        """Write a picture beside the settings; says where, and what it is like."""
        from referee.app.calibration_picture import write_picture

        target = self.path.with_suffix(".picture.jpg")
        try:
            write_picture(target, image)
        except UserError as bad:
            return False, f"There is a picture, but {bad}."
        rows, columns = image.shape[:2]
        bright = f"mean brightness {image.mean():.0f} of 255"
        return True, f"Look at {target}: it is what the camera sees ({columns}×{rows} px, {bright})."

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """See `Bench`."""
        from referee.app.calibrating import Options, calibrate

        asked = Options(settings=self.path, by=by, simulated=self.simulated)
        poor = "Something is poor: mend what the list says, then referee calibrate again."
        return self.stored(text, lambda: calibrate(asked), poor)

    def stored(self, text: str, run: Callable[[], int], poor: str) -> tuple[str | None, str]:
        """Measure into the file at `path`, which holds ``text`` first; ``poor`` is what an exit status but 0 means."""
        from referee.app.editing import replace_file

        replace_file(self.path, text.encode("utf-8"))
        try:
            status = run()
        except UserError as bad:
            return None, f"That did not succeed: {bad}"
        return self.path.read_text(encoding="utf-8"), poor if status else "All is well."

    def speak(self, text: str) -> str:
        """See `Bench`."""
        from referee.app.setup_voice import try_voice

        try:
            return try_voice(self.settings(text).voice)
        except HardwareMissing as bad:
            return f"The voice cannot be heard yet: {bad}."

    def decks(self) -> list[str]:
        """See `Bench`."""
        from referee.app.decks import names

        return names()

    def doctor(self, text: str) -> tuple[str, bool]:
        """See `Bench`."""
        from referee.app.doctor import findings, short_report
        from referee.app.editing import replace_file

        replace_file(self.path, text.encode("utf-8"))
        return short_report(list(findings(settings=self.path)))

    def close(self) -> None:
        """See `Bench`."""
        with contextlib.suppress(HardwareMissing):
            self.dark()
