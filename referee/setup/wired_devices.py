"""Pads, lights and voice of a table, opened according to its settings: one function for each kind.

The appliance, setup, calibration and practice open them here; each function raises `HardwareMissing` if a device is not
available, and says what to do about it. `referee.vision.cameras` opens the camera, since another process uses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import time
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.clock import monotonic
from hardware.lights.leds import GpioLights
from hardware.lights.strip import BothLights, StripLights
from hardware.pads.crosstalk import Crosstalk
from hardware.pads.key_source import KeySource
from hardware.pads.pad_place import PadPlace
from hardware.pads.pads import GpioPads
from hardware.pads.page_pads import PageSource
from hardware.pads.plugged_pads import MixedPads, PluggedPads
from hardware.pads.serial_link import SerialPorts
from hardware.pads.serial_source import SerialSource
from hardware.pads.slaps import PadFilter
from hardware.ports import HardwareMissing, Lights, TimedPads
from hardware.sound.clips import Clips, Progress, find_synthesiser
from hardware.sound.piper import open_piper
from hardware.sound.stream_speaker import StreamSpeaker
from hardware.sound.volume import VolumeControl, local_hour
from referee.announce.voice import spelling, vocabulary
from referee.announce.volume_choice import volume_in
from referee.control.seat_codes import HANDS_SOCKET, browser_key, make_seat_codes
from referee.control.socket import ControlError, let_in, private_folder, runtime_folder
from referee.sentence import Sentence, words_of
from referee.setup.pin_owners import owned_here, refuse_pins
from referee.units import US

if TYPE_CHECKING:
    from referee.settings.model import Settings, VoiceSettings

Tell = Callable[[str], None]


def pad_errors(settings: Settings) -> tuple[int, ...]:
    """Return the error of an edge's instant, ns, by seat: as measured, but at least the configured one."""
    measured, least = settings.pads_measured, settings.pads.t_error_us
    each = measured.t_error_us if measured is not None else (least,) * len(settings.seats)
    return tuple(max(least, error) * US for error in each)


def pad_filter(settings: Settings, start: int, *, force: bool = False, prefix: str = "") -> PadFilter:
    """Return the filter for this table's pads, with all their measurements.

    Args:
        settings: those of the table.
        start: an instant before any edge, ns.
        force: whether there is a force sampler.
        prefix: of each id.

    Raises:
        ValueError: the pads were measured at a table with other seats (the settings reject that, too).
    """
    seats, measured = len(settings.seats), settings.pads_measured
    if measured is None:
        return PadFilter(seats, start, force=force, prefix=prefix)
    errors = pad_errors(settings)
    crosstalk = Crosstalk(
        tuple(tuple(length * US for length in row) for row in measured.crosstalk_us),
        errors,
        tuple(bounce * US for bounce in measured.bounce_us),
    )
    return PadFilter(seats, start, t_errors=errors, crosstalk=crosstalk, force=force, prefix=prefix)


def open_pads(settings: Settings, root: Path = Path("/")) -> TimedPads:
    """Open the seats' pads of all kinds, each with its own error.

    An unavailable kind is reported for its seats (`MixedPads.silent`), and the others are opened; so is a pin that
    belongs to another function of the processor, which is not taken from it.

    Raises:
        HardwareMissing: no kind is available; says for each what to do.
    """
    errors = dict(enumerate(pad_errors(settings), start=1))
    refused = refuse_pins(owned_here(root), settings)
    wired = {seat: pin for seat, player in enumerate(settings.seats, start=1) if (pin := player.pad_pin) is not None}
    pins = {seat: pin for seat, pin in wired.items() if pin not in refused}
    absent = {seat: refused[pin] for seat, pin in wired.items() if pin in refused}
    kinds: dict[tuple[int, ...], Callable[[], TimedPads]] = {}
    if pins:
        kinds[tuple(pins)] = lambda: GpioPads(
            pins, t_error={seat: errors[seat] for seat in pins}, active_high=settings.pads.active_high
        )
    for names, open_kind in _PLUGGED.items():
        places = {
            seat: place
            for seat, player in enumerate(settings.seats, start=1)
            if (place := player.pad_place) is not None and place.kind in names
        }
        if places:
            kinds[tuple(places)] = partial(open_kind, places, errors, settings)
    opened: list[TimedPads] = []
    for seats, open_kind_now in kinds.items():
        try:
            opened.append(open_kind_now())
        except (HardwareMissing, OSError) as error:
            absent |= dict.fromkeys(seats, words_of(error))
    if not opened:
        raise HardwareMissing(_in_a_row(list(dict.fromkeys(absent.values()))))
    return MixedPads(opened, absent) if absent or len(kinds) > 1 else opened[0]


def _in_a_row(reasons: Sequence[str]) -> str:
    return reduce(lambda first, after: Sentence("{first}; {after}", first=first, after=after), reasons)


def _open_keys(places: Mapping[int, PadPlace], errors: Mapping[int, int], settings: Settings) -> TimedPads:
    """Open keys of input devices; it waits for those that are not plugged in."""
    from hardware.pads.evdev_keys import EvdevDevices

    try:
        source = KeySource(places, EvdevDevices(), t_errors=errors, grab=settings.pads.grab_keys, now=monotonic())
    except ValueError as error:
        raise HardwareMissing(str(error)) from None
    return PluggedPads(source)


def _open_boards(places: Mapping[int, PadPlace], errors: Mapping[int, int], _settings: Settings) -> TimedPads:
    """Open boards that stamp edges themselves; it waits for those that are not plugged in."""
    try:
        return PluggedPads(SerialSource(places, SerialPorts(), t_errors=errors, clock=monotonic))
    except ValueError as error:
        raise HardwareMissing(str(error)) from None


def _open_pages(places: Mapping[int, PadPlace], _errors: Mapping[int, int], settings: Settings) -> TimedPads:
    """Open pads on pages, with codes that the page's process shows."""
    try:
        folder = private_folder(runtime_folder(os.environ))
        keys = {seat: browser_key(place.which) for seat, place in places.items()}
        names = {seat: settings.seats[seat - 1].name for seat in places}
        make_seat_codes(folder, keys, names, phones=settings.pads.phones)
        source = PageSource(places, folder / HANDS_SOCKET)
        # If the page runs as a separate user, it shares the folder.
        let_in(folder / HANDS_SOCKET)
    except (ControlError, OSError) as error:
        raise HardwareMissing("pads on pages cannot be used: {why}", why=error) from None
    return PluggedPads(source)


_PLUGGED: Final = {("key",): _open_keys, ("serial",): _open_boards, ("phone", "browser"): _open_pages}
"""Openers of pads that are not on pins, by the kinds of their places."""


def open_lights(settings: Settings, missing: dict[str, str], root: Path = Path("/")) -> Lights | None:
    """Open lights on pins, a strip, or both; unavailable ones are reported in ``missing``, by part, and so are those
    whose pins belong to another function of the processor, which are not taken from it."""
    pins: Lights | None = None
    strip: Lights | None = None
    try:
        if settings.lights.enabled:
            refused = refuse_pins(owned_here(root), settings)
            lamps = {n: seat.light for n, seat in enumerate(settings.seats, start=1) if seat.light not in refused}
            table = settings.lights.table
            pins = GpioLights(lamps, None if refused.keys() & set(table) else table)
            left = [refused[pin] for pin in (*(seat.light for seat in settings.seats), *table) if pin in refused]
            if left:
                missing["lights"] = _in_a_row(left)
    except (HardwareMissing, OSError) as error:
        missing["lights"] = str(error)
    try:
        if settings.lights.strip:
            strip = StripLights(Path(settings.lights.strip), settings.lights.strip_length, len(settings.seats))
    except (HardwareMissing, OSError) as error:
        missing["strip"] = str(error)
    return BothLights(pins, strip) if pins is not None and strip is not None else pins or strip


def render_clips(settings: VoiceSettings, on_trouble: Tell | None = None, progress: Progress | None = None) -> Clips:
    """Return every clip of the chosen language, rendered or from the cache.

    The owner's Piper voice takes precedence. If it fails, ``on_trouble`` is called, and the system's voice speaks.

    Raises:
        HardwareMissing: no synthesiser is installed, or the only one fails.
    """

    def clips_of(synthesiser: Any) -> Clips:
        clips = Clips(synthesiser, spelling=spelling(settings.language))
        clips.render(vocabulary(settings.language), progress)
        return clips

    if settings.piper:
        try:
            return clips_of(open_piper(Path(settings.piper).expanduser(), settings.language))
        except HardwareMissing as error:
            if on_trouble is not None:
                on_trouble(f"{error}; the system's voice speaks instead")
    return clips_of(find_synthesiser(settings.language))


def open_voice(
    settings: VoiceSettings,
    *,
    wall: Callable[[], time] = local_hour,
    on_trouble: Tell | None = None,
    progress: Progress | None = None,
    sound: Any = None,
) -> StreamSpeaker:
    """Open the voice of a table: its language, synthesiser, volume and quiet hours.

    Args:
        settings: the table ``[voice]``.
        wall: returns the local time of day.
        on_trouble: called with the fault in words, and with an empty text once the sound is back; also from another
            thread.
        progress: called while clips are rendered.
        sound: replaces the sounddevice module.

    Raises:
        HardwareMissing: no synthesiser or no PortAudio is installed. A missing sound card is waited for.
    """
    return StreamSpeaker(
        render_clips(settings, on_trouble, progress), device=settings.device or None, sound=sound,
        volume=VolumeControl(volume_in(settings), wall), cues=settings.slap_sound,
        on_trouble=on_trouble or (lambda _words: None),
    )  # fmt: skip
