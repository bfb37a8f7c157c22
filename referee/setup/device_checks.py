"""The voice, tried for a moment.

What the walk does with devices, each a short thing: wait for a slap, blink a light, take a picture, speak.

Nothing here raises for a device that is not there: it comes back in words, and the walk goes on.

The simulated table under the walk: two of its pads are wired the wrong way round; its players slap when asked.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hardware.pads.pinout import PAD_PINS
from hardware.ports import Edge, HardwareMissing
from referee.errors import UserError
from referee.settings.file import SettingsText

if TYPE_CHECKING:
    from hardware.sound.clips import Renders
    from referee.settings.model import Settings, VoiceSettings

TRIAL: Final = {"en": "one, two, three", "de": "eins, zwei, drei", "es": "uno, dos, tres", "fr": "un, deux, trois"}


def try_voice(settings: VoiceSettings, sound: Any = None) -> str:
    """Count to three at the settings' volume, whatever the hour; words if nothing could be heard.

    Args:
        settings: the voice.
        sound: stands for the sounddevice module.

    Raises:
        HardwareMissing: no synthesiser, or no PortAudio.
    """
    from hardware.sound.clips import Clips
    from hardware.sound.stream_speaker import StreamSpeaker
    from hardware.sound.volume import Volume, VolumeControl

    level = VolumeControl(Volume(settings.volume))
    clips = Clips(_synthesiser(settings))
    clips.render([TRIAL[settings.language]])
    speaker = StreamSpeaker(clips, device=settings.device or None, sound=sound, volume=level, watched=False)
    try:
        if speaker.trouble:
            return f"Nothing can be heard: {speaker.trouble}."
        speaker.say([TRIAL[settings.language]])
        speaker.drain()
        return ""
    finally:
        speaker.close()


def _synthesiser(settings: VoiceSettings) -> Renders:
    if settings.piper:
        from hardware.sound.piper import open_piper

        return open_piper(Path(settings.piper).expanduser(), settings.language)
    from hardware.sound.clips import find_synthesiser

    return find_synthesiser(settings.language)


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
        from referee.settings.model import parse

        return parse(text, self.path.parent)

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | None:
        """See `Bench`."""
        from hardware.pads.pads import GpioPads

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
        from referee.setup.calibration.pad_check import calibrate_pads

        return self.stored(
            text,
            lambda: calibrate_pads(self.path, simulated=self.simulated),
            "A pad was not heard: the list says which, and why.",
        )

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """See `Bench`."""
        from hardware.lights.leds import GpioLights

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
        from referee.vision.cameras import cameras

        return [(found.source, found.name) for found in cameras()]

    def picture(self, text: str) -> tuple[bool, str]:
        """See `Bench`."""
        from referee.vision.cameras import open_camera_of

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
        from referee.setup.calibration.report import write_picture

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
        from referee.setup.calibration.calibrate import Options, calibrate

        asked = Options(settings=self.path, by=by, simulated=self.simulated)
        poor = "Something is poor: mend what the list says, then referee calibrate again."
        return self.stored(text, lambda: calibrate(asked), poor)

    def stored(self, text: str, run: Callable[[], int], poor: str) -> tuple[str | None, str]:
        """Measure into the file at `path`, which holds ``text`` first; ``poor`` is what an exit status but 0 means."""
        from referee.settings.file import replace_file

        replace_file(self.path, text.encode("utf-8"))
        try:
            status = run()
        except UserError as bad:
            return None, f"That did not succeed: {bad}"
        return self.path.read_text(encoding="utf-8"), poor if status else "All is well."

    def speak(self, text: str) -> str:
        """See `Bench`."""

        try:
            return try_voice(self.settings(text).voice)
        except HardwareMissing as bad:
            return f"The voice cannot be heard yet: {bad}."

    def decks(self) -> list[str]:
        """See `Bench`."""
        from referee.vision.learned_decks import names

        return names()

    def doctor(self, text: str) -> tuple[str, bool]:
        """See `Bench`."""
        from referee.settings.file import replace_file
        from referee.setup.doctor import findings, short_report

        replace_file(self.path, text.encode("utf-8"))
        return short_report(list(findings(settings=self.path)))

    def close(self) -> None:
        """See `Bench`."""
        with contextlib.suppress(HardwareMissing):
            self.dark()


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
        from hardware.simulated.devices.simulated_pads import SimulatedPads

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
        """See `referee.setup.device_checks.Bench`."""
        self.lit = pin
        return f"(Simulated: the light on pin {pin} blinks.) "

    def dark(self) -> None:
        """See `referee.setup.device_checks.Bench`."""
        self.lit = None

    def cameras(self) -> list[tuple[str, str]]:
        """See `referee.setup.device_checks.Bench`."""
        return [("picamera", "the simulated one, which the settings take for the Pi's own")]

    def picture(self, text: str) -> tuple[bool, str]:
        """See `referee.setup.device_checks.Bench`."""
        from referee.setup.calibration.calibrate import practice_camera

        return self.written(next(practice_camera("sheet").frames()).image)

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """See `referee.setup.device_checks.Bench`."""
        size = {"camera.width": PICTURE[0], "camera.height": PICTURE[1]}
        return super().calibrate(SettingsText(text, self.path.parent).changed(size).text, by)

    def speak(self, text: str) -> str:
        """See `referee.setup.device_checks.Bench`."""
        return f"(Simulated: a voice speaks at volume {self.settings(text).voice.volume}.)"
