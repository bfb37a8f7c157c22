"""The wizard's short actions with this machine's devices: wait for a slap, blink a light, take a picture.

The wizard's `DeviceCall` names a method of `Bench`, in the terminal as in the browser. A missing device is reported in
words, and the wizard goes on; if a step is impossible without it, `UserError` ends the step.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.camera.pi_camera import PiCamera
from hardware.clock import monotonic
from hardware.lights.leds import GpioLights
from hardware.pads.pinout import PAD_PINS
from hardware.pads.serial_link import usb_ports
from hardware.ports import Edge, HardwareMissing
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.errors import UserError
from referee.record.database import RecordError
from referee.record.people import People
from referee.record.retention import RetentionPeriods
from referee.sentence import Sentence, joined, words_of
from referee.settings.file import SettingsText, replace_file
from referee.settings.house_rules import SUFFIX
from referee.settings.model import Settings, VoiceSettings, parse_settings
from referee.setup.doctor import examine, short_report
from referee.setup.left_game import LeftGame, LeftGames
from referee.setup.pad_listening import keys_held_together, wait_for_hit
from referee.setup.pin_owners import owned_here
from referee.setup.wired_devices import open_pads
from referee.units import MS
from referee.vision import learned_decks
from referee.vision.cameras import cameras, open_camera_of

if TYPE_CHECKING:
    from referee.setup.camera_preview import CameraPreview, PreviewFrame

_SLAP_PATIENCE: Final = 20.0
"""Time limit for a slap, s."""
_LONGEST_FILE_NAME: Final = 40
_SLAPS_PATIENCE: Final = 90.0
"""Time limit for the slaps of all seats, s: phones must be unlocked and find their network."""
_FIRST_PICTURE: Final = 30_000_000_000
"""Time limit for the camera's first picture, ns: the eye is loaded meanwhile."""
_HOLDING: Final = 30.0
"""Time limit for keys of a page that are pressed together, s."""
_MODEL: Final = Path("/proc/device-tree/model")
_BLINK: Final = 0.35
"""Half a blink's period, s."""


class Bench:
    """The devices of this machine."""

    simulated = False

    def __init__(self, path: Path, games: LeftGames | None = None, *, in_browser: bool = False) -> None:
        """Open nothing yet.

        Args:
            path: the settings file, beside which pictures are written.
            games: the record; None: no game was broken off.
            in_browser: people answer on a page, whose keys are pads, too.
        """
        self.path = path
        self._games, self._in_browser = games, in_browser
        self._look: CameraPreview | None = None
        self.resumes = True
        """Whether people go on with a broken-off game, if there is one."""
        self._lit = contextlib.ExitStack()
        """Ends the blinking of a light."""
        self.heard: set[int] = set()
        """Seats heard so far."""
        self.left = threading.Event()
        """Set to end the current wait."""

    def leave(self) -> None:
        """Stop waiting for people's hands."""
        self.left.set()

    def settings(self, text: str) -> Settings:
        """Parse settings."""
        return parse_settings(text, self.path.parent)

    def find_left_game(self, text: str) -> LeftGame | None:
        """Return the broken-off game that these settings can resume; None if there is none."""
        return None if self._games is None else self._games.find(text)

    def choose_game(self, resume: bool) -> None:
        """Note whether people go on with the broken-off game."""
        self.resumes = resume

    def picture_days(self, text: str) -> int:
        """Return for how many days these settings' table keeps pictures."""
        record = self.settings(text).record_file
        if record is not None and record.exists():
            with contextlib.suppress(RecordError), contextlib.closing(People(record, read_only=True)) as people:
                return people.keeping.pictures
        return RetentionPeriods().pictures

    def resumed_game(self, text: str) -> LeftGame | None:
        """Return the broken-off game if people chose to go on with it and these settings still allow that."""
        return self.find_left_game(text) if self.resumes else None

    @property
    def look_now(self) -> PreviewFrame | None:
        """The current look of the camera; `None`: it is closed."""
        return None if self._look is None else self._look.newest

    def has_looked(self) -> bool:
        """Return whether the camera has shown a picture."""
        look = self.look_now
        return look is not None and bool(look.jpeg)

    def look(self, text: str) -> str:
        """Open the camera of these settings and keep looking; return why no picture came, or an empty text."""
        from referee.setup.camera_preview import CameraPreview
        from referee.vision.photos import load_eye

        self.look_away()
        self.left.clear()
        settings = self.settings(text)
        self._look = CameraPreview(lambda: open_camera_of(settings.camera), lambda: load_eye(settings.deck))
        until = monotonic() + _FIRST_PICTURE
        while not self._look.has_settled.wait(0.1) and not self.left.is_set() and monotonic() < until:
            pass
        newest = self._look.newest
        return "" if newest.jpeg else newest.trouble

    def look_away(self) -> None:
        """Close the camera."""
        look, self._look = self._look, None
        if look is not None:
            look.close()

    def pad_kinds(self) -> dict[str, str]:
        """Return the available kinds of pads with their descriptions, the usual one first."""
        kinds: dict[str, str] = {
            "phone": Sentence("each player's own phone, in the network of this computer"),
            "browser": Sentence("keys of this computer's keyboard, with this page in front"),
        }
        if self._is_pi():
            kinds = {"wired": Sentence("pads on this Raspberry Pi's header"), **kinds}
        if usb_ports():
            kinds = {"board": Sentence("buttons on a pad board on USB; each player presses theirs"), **kinds}
        return kinds

    @staticmethod
    def _is_pi() -> bool:
        try:
            return b"Raspberry Pi" in _MODEL.read_bytes()
        except OSError:
            return False

    def pin_owners(self) -> dict[int, str]:
        """Return the header's pins that belong to another function of this machine, and its name."""
        return owned_here()

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | str | None:
        """Return the pin of the first pad hit within some seconds, or the place of the first key pressed.

        Args:
            seat: the requested seat.
            pins: possible pins of a pad.
            active_high: as the settings have it.

        Raises:
            UserError: this machine has neither such pins nor keys.
        """
        owners = self.pin_owners()
        return wait_for_hit([pin for pin in pins if pin not in owners], active_high, _SLAP_PATIENCE)

    def hold_keys(self, places: Sequence[str], text: str) -> tuple[str, ...]:
        """Return the keys that were down together, at the moment when most of them were.

        ``text``: the settings, for keys that are not on this machine's input devices.
        """
        if not self._in_browser:
            return keys_held_together(places, _SLAP_PATIENCE)
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

        self._listen(settings, hear, _SLAPS_PATIENCE)
        return heard

    def _listen(self, settings: Settings, hear: Callable[[Edge], bool], patience: float) -> None:
        """Pass edges to ``hear`` until it returns true, a person leaves, or the time is up."""
        enough = threading.Event()
        self.heard = set()
        self.left.clear()
        try:
            with contextlib.closing(open_pads(settings)) as pads:
                pads.start(lambda edge: enough.set() if hear(edge) else None)
                until = monotonic() + int(patience * 1e9)
                while not enough.wait(0.1) and not self.left.is_set() and monotonic() < until:
                    pads.watermark(monotonic())
        except HardwareMissing as error:
            raise UserError(str(error)) from None

    def measure(self, text: str) -> tuple[str | None, str]:
        """Measure the pads; return the new settings (None: not measured), and the outcome in words."""
        from referee.setup.calibration.pad_check import calibrate_pads

        poor = Sentence("A pad was not heard: the list says which, and why.")
        return self._measure(text, lambda: calibrate_pads(self.path, simulated=self.simulated), poor)

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """Find the table; return the new settings (None: not found), and the outcome in words."""
        from referee.setup.calibration.calibrate import CalibrationOptions, calibrate

        asked = CalibrationOptions(settings=self.path, by=by, simulated=self.simulated)
        poor = Sentence("Something is poor: mend what the list says, then referee calibrate again.")
        return self._measure(text, lambda: calibrate(asked), poor)

    def bare(self, text: str) -> tuple[str | None, str]:
        """Photograph the bare table; return the new settings (None: no picture), and the outcome in words."""
        from referee.setup.calibration.bare_look import keep_bare_table

        return self._measure(text, lambda: keep_bare_table(self.path), "")

    def _measure(self, text: str, run: Callable[[], int], poor: str) -> tuple[str | None, str]:
        """Measure into the file at `path`, which first gets ``text``; ``poor`` explains a nonzero exit status."""
        replace_file(self.path, text.encode("utf-8"))
        try:
            status = run()
        except UserError as error:
            return None, Sentence("That did not succeed: {why}", why=error)
        return self.path.read_text(encoding="utf-8"), poor if status else Sentence("All is well.")

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """Blink only the light on ``pin`` among ``pins``, until the next call of `dark`; return words if this fails."""
        self.dark()
        try:
            lamp = GpioLights({pin: pin}, None)
        except HardwareMissing as error:
            return Sentence("It cannot be lit: {why}.", why=error)
        dark = threading.Event()

        def blink() -> None:
            level = 0.0
            while not dark.wait(_BLINK):
                level = 1.0 - level
                lamp.seat(pin, level)

        blinker = threading.Thread(target=blink, daemon=True)
        blinker.start()
        self._lit.callback(lamp.close)
        self._lit.callback(blinker.join, 2 * _BLINK)
        self._lit.callback(dark.set)
        return ""

    def dark(self) -> None:
        """Switch all lights off."""
        self._lit.close()

    def cameras(self) -> list[tuple[str, str]]:
        """Return each camera's source, as settings name it, and the name that it reports."""
        return [(found.source, found.name) for found in cameras()]

    def picture(self, text: str) -> tuple[str | None, str]:
        """Save a picture of the camera with these settings; return the settings with the adjusted focus, light and
        mains (None: no picture), and words.
        """
        from referee.setup.calibration.adjustment import adjust_camera, changes

        settings = self.settings(text).camera
        try:
            with contextlib.closing(open_camera_of(settings)) as camera:
                if isinstance(camera, PiCamera):
                    found = changes(settings, adjust_camera(camera, settings)[0])
                    text = SettingsText(text, self.path.parent).changed(found).text
                image = next(frame for count, frame in enumerate(camera.frames()) if count >= 12).image
                taken, words = self.write(image)
                return text if taken else None, words
        except (HardwareMissing, StopIteration) as error:
            return None, Sentence(
                "There was no picture: {why}.", why=words_of(error) or Sentence("the camera sent too few")
            )

    def write(self, image: Any) -> tuple[bool, str]:
        """Write a picture beside the settings; return whether that succeeded, and its path and brightness in words."""
        from models.eye.grey import is_grey
        from referee.setup.calibration.report import COLOUR_CAMERA, NO_COLOUR, write_picture

        target = self.path.with_suffix(".picture.jpg")
        try:
            write_picture(target, image)
        except UserError as error:
            return False, Sentence("There is a picture, but {why}.", why=error)
        rows, columns = image.shape[:2]
        words: str = Sentence(
            "Look at {target}: it is what the camera sees ({columns}×{rows} px, mean brightness {mean} of 255).",
            target=target, columns=columns, rows=rows, mean=f"{image.mean():.0f}",
        )  # fmt: skip
        if is_grey(image):
            words = joined([words, Sentence("Warning: {what}; {todo}.", what=NO_COLOUR, todo=COLOUR_CAMERA)])
        return True, words

    def eye(self, text: str) -> tuple[str | None, str]:
        """Measure the eye; return the settings with the fastest number of threads (None: no eye), and its cards per
        second in words.
        """
        from referee.setup.eye_speed import ADVICE, measure_eye, quickest, thread_counts

        camera = self.settings(text).camera
        try:
            best = quickest(measure_eye((camera.width, camera.height), camera.fps, thread_counts()))
        except UserError as error:
            return None, Sentence("That did not succeed: {why}", why=error)
        words: str = Sentence("The eye takes {words}.", words=best.words)
        if not best.suffices:
            words = joined([words, Sentence("That is little: {advice}.", advice=ADVICE)])
        return SettingsText(text, self.path.parent).changed({"eye.threads": best.threads}).text, words

    def sounds(self) -> list[tuple[str, str]]:
        """Return each sound card's name, as settings have it, and its description; the most reliable ones first."""
        from hardware.sound.sound_cards import sound_cards
        from hardware.sound.stream_speaker import import_sounddevice

        try:
            return [(card.name, card.words) for card in sound_cards(import_sounddevice())]
        except HardwareMissing:
            return []

    def speak(self, text: str) -> str:
        """Speak with these settings; return words if that fails."""
        try:
            return try_voice(self.settings(text).voice)
        except HardwareMissing as error:
            return Sentence("The voice cannot be heard yet: {why}.", why=error)

    def decks(self) -> list[str]:
        """Return the learned decks."""
        return learned_decks.names()

    def keep_rules(self, title: str, text: str) -> str:
        """Keep a file of house rules beside the settings, under its title; return the file's name."""
        name = "-".join(re.findall(r"\w+", title.casefold()))[:_LONGEST_FILE_NAME] or "rules"
        file = f"house-{name}{SUFFIX}"
        replace_file(self.path.with_name(file), text.encode("utf-8"))
        return file

    def doctor(self, text: str) -> tuple[str, bool]:
        """Return the doctor's report, and whether everything is well."""
        replace_file(self.path, text.encode("utf-8"))
        return short_report(list(examine(settings=self.path)))

    def close(self) -> None:
        """Release all devices."""
        self.look_away()
        with contextlib.suppress(HardwareMissing):
            self.dark()


class SimulatedBench(Bench):
    """The devices of the simulated table, with two pads swapped; its voice is silent."""

    simulated = True

    def pin_owners(self) -> dict[int, str]:
        """Return none: every pin is free."""
        return {}

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | None:
        """Let the requested seat's player slap; the real pads' driver hears it."""
        hand = {1: 2, 2: 1}.get(seat, seat)
        if PAD_PINS[hand - 1] not in pins:
            return None
        hits: list[Edge] = []
        with contextlib.closing(SimulatedPads(len(PAD_PINS))) as table:
            table.pads.start(hits.append)
            table.advance(hand, True, 10 * MS)
            table.advance(hand, False, 90 * MS)
            table.run_to(120 * MS)
        return next((PAD_PINS[edge.seat - 1] for edge in hits if edge.pressed), None)

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        """Say which light would blink."""
        return Sentence("(Simulated: the light on pin {pin} blinks.)", pin=pin)

    def dark(self) -> None:
        """No-op."""

    def cameras(self) -> list[tuple[str, str]]:
        """Return the simulated camera."""
        return [("picamera", Sentence("simulated, in place of the Pi's own"))]

    def picture(self, text: str) -> tuple[str | None, str]:
        """Save the simulated camera's picture."""
        from referee.setup.calibration.simulated_camera import simulated_camera

        taken, words = self.write(next(simulated_camera("sheet").frames()).image)
        return text if taken else None, words

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        """Find the simulated table, at its camera's picture size."""
        size = {"camera.width": 960, "camera.height": 720}
        return super().calibrate(SettingsText(text, self.path.parent).changed(size).text, by)

    def sounds(self) -> list[tuple[str, str]]:
        """Return a single simulated card: there is no choice."""
        return [("Simulated", "")]

    def speak(self, text: str) -> str:
        """Say at which volume a voice would speak."""
        return Sentence("(Simulated: a voice speaks at volume {volume}.)", volume=self.settings(text).voice.volume)


def try_voice(settings: VoiceSettings, sound: Any = None) -> str:
    """Count to three at the settings' volume, regardless of quiet hours; return words if it was not audible.

    Args:
        settings: the voice.
        sound: replaces the sounddevice module.

    Raises:
        HardwareMissing: no synthesiser, or no PortAudio.
    """
    from hardware.sound.clips import Clips, find_synthesiser
    from hardware.sound.piper import open_piper
    from hardware.sound.stream_speaker import StreamSpeaker
    from hardware.sound.volume import Volume, VolumeControl
    from referee.announce.phrases import words_in

    piper = Path(settings.piper).expanduser() if settings.piper else None
    clips = Clips(open_piper(piper, settings.language) if piper is not None else find_synthesiser(settings.language))
    numerals = words_in(settings.language)
    words = [", ".join(clip for number in (1, 2, 3) for clip in numerals.number(number))]
    clips.render(words)
    level = VolumeControl(Volume(settings.volume))
    speaker = StreamSpeaker(clips, device=settings.device or None, sound=sound, volume=level, watched=False)
    with contextlib.closing(speaker):
        if speaker.trouble:
            return Sentence("Nothing can be heard: {why}.", why=speaker.trouble)
        speaker.say(words)
        speaker.drain()
    return ""
