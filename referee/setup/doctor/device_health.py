"""The doctor's looks at devices: the header and who holds its lines, lights, force, camera, sound card, voices."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.pads.pinout import HEADER_LABELS
from referee.setup.doctor.probe import OURS, Finding, Machine, join_group, one_line
from referee.setup.wiring import PinMap, pin_map_of
from referee.text.catalogue import LANGUAGES
from referee.vision.cameras import usb_cameras

if TYPE_CHECKING:
    from referee.settings.model import Settings, VoiceSettings

_OUR_CONSUMERS: Final = ("table referee", "lg")
"""How the names begin under which our own programs hold lines: the pads' and the lights'."""
_SERIAL: Final = {14, 15}
_SPI: Final = {7, 8, 9, 10, 11}
_MATCH: Final = (
    "both from apt, of one release: sudo apt full-upgrade, sudo apt install --reinstall python3-picamera2 "
    "python3-libcamera, and no picamera2 from pip (pip uninstall picamera2); then make install"
)
"""What mends a picamera2 that is here and cannot be loaded or asked, whatever it raises."""
_NUMPY: Final = "its parts were built for another numpy: pip install 'numpy<2' opencv-python==4.11.0.86"
_BYSTANDERS: Final = ("wireplumber", "pipewire")
"""A sound server and a desktop look at media devices without using the camera."""
_SPOKEN_BY: Final = {"flite": ("en",), "espeak-ng": tuple(LANGUAGES)}
"""Languages that each synthesiser speaks."""


# The header


def check_header(machine: Machine, settings: Settings | None) -> Iterator[Finding]:
    """Chip, lines, lights, SPI, for a table that has something wired to it."""
    if settings is not None and not settings.lights.enabled and not pad_pins(settings) and not settings.lights.strip:
        return
    yield check_library(machine, "gpiod", "pads with the kernel's times", "make install   (or: pip install gpiod)")
    chip, finding = check_chip(machine)
    yield finding
    if chip:
        yield check_lines(machine, chip, used_pins(settings))
    mend = "pip install lgpio   (Python 3.13: sudo apt install python3-lgpio, then make install)"
    yield check_library(machine, "lgpio", "lights", mend)
    if settings is not None and settings.lights.strip:
        mend = 'see docs/build.md; or no strip: lights.strip = ""'
        yield check_device(machine, "strip of lights", settings.lights.strip, mend, "gpio")
    if settings is not None and settings.pads.force:
        # The MCP3008 that measures force hangs on it.
        mend = "sudo raspi-config nonint do_spi 0, then reboot"
        yield check_device(machine, "SPI (force)", "/dev/spidev0.0", mend, "spi")


def check_library(machine: Machine, name: str, what_for: str, mend: str) -> Finding:
    """Whether a library is here that a device needs."""
    part = f"{name} ({what_for})"
    try:
        machine.bring(name)
    except ModuleNotFoundError:
        return Finding(part, "missing", "not installed", mend)
    except (ImportError, OSError) as bad:
        return Finding(part, "broken", one_line(bad), mend)
    return Finding(part, "fine", "here")


def check_device(machine: Machine, part: str, device: str, mend: str, group: str) -> Finding:
    """Whether a device is there, and may be opened by whoever is in a group."""
    if not machine.at(device).exists():
        return Finding(part, "missing", f"there is no {device}", mend)
    if not machine.may_open(device):
        return Finding(part, "broken", f"{device}: not allowed to open", join_group(group))
    return Finding(part, "fine", device)


def check_chip(machine: Machine) -> tuple[str, Finding]:
    """The chip that the header hangs on, found by its label, and how it stands; empty where there is none to use."""
    part = "GPIO header"
    chips = machine.devices("gpiochip*")
    if not chips:
        words = "no /dev/gpiochip*: this machine has no pins for pads"
        return "", Finding(part, "missing", words, "run on a Raspberry Pi; the simulated table needs none")
    if not any(machine.may_open(chip) for chip in chips):
        return "", Finding(part, "broken", f"{chips[0]}: not allowed to open", join_group("gpio"))
    labels: dict[str, str] = {}
    for chip in chips:
        try:
            with _open_chip(machine, chip) as opened:
                labels[chip] = str(opened.get_info().label)
        except ImportError:
            return "", Finding(part, "broken", f"{', '.join(chips)}, which nothing can read here", "make install")
        except OSError as bad:
            labels[chip] = f"unreadable: {one_line(bad)}"
    found = next((chip for wanted in HEADER_LABELS for chip, label in labels.items() if label == wanted), "")
    if not found:
        words = ", ".join(f"{chip} {label}" for chip, label in labels.items())
        return "", Finding(part, "missing", f"{words}: none is a Pi's header", "run on a Raspberry Pi")
    return found, Finding(part, "fine", f"{found} ({labels[found]})")


def _open_chip(machine: Machine, place: str) -> Any:
    return machine.bring("gpiod").Chip(str(machine.at(place)))


def pad_pins(settings: Settings) -> list[int]:
    """The pins of pads that are wired to the header."""
    return [pin for seat in settings.seats if (pin := seat.pad_pin) is not None]


def used_pins(settings: Settings | None) -> dict[int, str]:
    """What hangs on which pin, as the settings or else the wiring picture have it."""
    pins = PinMap() if settings is None else pin_map_of(settings)
    uses = {pin: f"the pad of seat {n}" for n, pin in enumerate(pins.pads, start=1) if pin is not None}
    uses |= {pin: f"the light of seat {n}" for n, pin in enumerate(pins.lights, start=1)}
    return uses | dict.fromkeys(pins.table or (), "the table's light")


def check_lines(machine: Machine, chip: str, uses: dict[int, str]) -> Finding:
    """Whether somebody else holds a line that we need, and who."""
    part = "GPIO lines"
    taken, ours = {}, 0
    try:
        with _open_chip(machine, chip) as opened:
            for pin in sorted(uses):
                info = opened.get_line_info(pin)
                if info.used and str(info.consumer).startswith(_OUR_CONSUMERS):
                    ours += 1
                elif info.used:
                    taken[pin] = str(info.consumer) or "another driver"
    except (OSError, ImportError) as bad:
        return Finding(part, "broken", one_line(bad), "reboot; see dmesg")
    if not taken:
        held = f", {ours} held by the referee that runs" if ours else ""
        return Finding(part, "fine", f"{len(uses)} lines are ours to use{held}")
    if _SERIAL & taken.keys():
        mend = "switch the serial console off: sudo raspi-config nonint do_serial_cons 1, then reboot"
    elif _SPI & taken.keys():
        mend = "choose other pins (referee setup --step pins), or: sudo raspi-config nonint do_spi 1, then reboot"
    else:
        mend = "stop that program (gpioinfo lists them), or choose other pins: referee setup --step pins"
    return Finding(part, "broken", ", ".join(f"pin {p} ({uses[p]}) is held by {who}" for p, who in taken.items()), mend)


# The camera


def check_camera(machine: Machine, settings: Settings | None) -> Iterator[Finding]:
    """The Pi's and the others, and whether another program holds the one that is wanted."""
    library, own = _check_picamera2(machine)
    yield library
    others = usb_cameras(machine.root)
    names = [f"the Pi's own ({model})" for model in own] + [f"{one.source} ({one.name})" for one in others]
    wanted = settings.camera.source if settings is not None else ("picamera" if own else "usb")
    if not names:
        yield Finding("camera", "missing", "no camera answers",
                      "plug in a USB camera, or the Pi's camera cable (rpicam-hello --list-cameras)")  # fmt: skip
    elif (wanted == "picamera" and not own) or (
        wanted.startswith("usb:") and wanted not in [one.source for one in others]
    ):
        yield Finding("camera", "missing", f"the settings name {wanted}; here is {', '.join(names)}",
                      "referee setup --step camera")  # fmt: skip
    else:
        yield _check_holders(machine, wanted, names)


def _check_picamera2(machine: Machine) -> tuple[Finding, list[str]]:
    """How the Pi's camera library stands, and the cameras that it sees."""
    part = "picamera2 (the Pi's camera)"
    mend = "on a Pi: sudo apt install --no-install-recommends python3-picamera2, then make install"
    try:
        told = machine.bring("picamera2").Picamera2.global_camera_info()
    except ModuleNotFoundError as bad:
        if bad.name == "picamera2":
            return Finding(part, "missing", "not installed", mend), []
        return Finding(part, "broken", f"here, but {bad.name} is not", _MATCH), []
    except Exception as bad:  # C code of another release raises whatever it likes
        words = one_line(bad)
        return Finding(part, "broken", words, _NUMPY if "numpy" in words else _MATCH), []
    own = [str(info.get("Model", "camera")) for info in told if "usb" not in str(info.get("Id", "")).lower()]
    return Finding(part, "fine", f"here, sees {', '.join(own)}" if own else "here, sees no camera"), own


def _check_holders(machine: Machine, wanted: str, names: list[str]) -> Finding:
    """Whether the wanted camera is free; one that our own service holds is fine."""
    part, words = "camera", ", ".join(names)
    if wanted == "picamera":
        devices = machine.devices("media*")
    else:
        numbers = [wanted.removeprefix("usb:")] if ":" in wanted else [names[0].split(":")[1].split()[0]]
        devices = [f"/dev/video{number}" for number in numbers if number.isdecimal()]
        locked = [device for device in devices if machine.at(device).exists() and not machine.may_open(device)]
        if locked:
            return Finding(part, "broken", f"{locked[0]}: not allowed to open", join_group("video"))
    holders = {who for device in devices for who in machine.holders(device) if not who.startswith(_BYSTANDERS)}
    foreign = sorted(who for who in holders if not who.startswith(OURS))
    if foreign:
        mend = "stop it: kill " + " ".join(who.rpartition(" ")[2].rstrip(")") for who in foreign)
        return Finding(part, "broken", f"{words}; held by {', '.join(foreign)}", mend)
    return Finding(part, "fine", words + ("; held by the referee that runs" if holders else ""))


# Sound


def check_sound(machine: Machine, settings: Settings | None) -> Iterator[Finding]:
    """The card, by the kernel and by PortAudio, and the voices."""
    yield check_alsa(machine)
    yield check_portaudio(machine, settings.voice.device if settings is not None else "")
    yield check_voices(machine, settings.voice if settings is not None else None)


def check_alsa(machine: Machine) -> Finding:
    """The kernel's sound cards."""
    part = "ALSA"
    if not machine.at("/proc/asound/cards").exists():
        return Finding(part, "missing", "the kernel has no sound", "a machine with a sound card")
    text = machine.read("/proc/asound/cards")
    if not text or "no soundcards" in text:
        return Finding(part, "missing", "no sound card", "plug in a USB sound card or speaker")
    return Finding(part, "fine", text.splitlines()[0].strip())


def check_portaudio(machine: Machine, device: str) -> Finding:
    """Whether what the settings want to play through is there."""
    part = "sound"
    try:
        sounddevice: Any = machine.bring("sounddevice")
    except ModuleNotFoundError:
        return Finding(part, "missing", "sounddevice is not installed", "make install")
    except OSError as bad:
        return Finding(part, "missing", one_line(bad), "sudo apt install libportaudio2")
    try:
        found = sounddevice.query_devices(device or None, kind="output")
    except (sounddevice.PortAudioError, ValueError) as bad:
        if device:
            return Finding(part, "missing", f"no sound card called {device!r} ({one_line(bad)})",
                           'plug it in, or let the system choose: voice.device = ""')  # fmt: skip
        return Finding(part, "missing", f"no sound card ({one_line(bad)})",
                       "plug one in; the demo can write --audio FILE.wav")  # fmt: skip
    return Finding(part, "fine", str(found["name"]))


def check_voices(
    machine: Machine, voice: VoiceSettings | None, which: Callable[[str], str | None] = shutil.which
) -> Finding:
    """Whether somebody here speaks the language that is wanted."""
    part, language = "voice", voice.language if voice is not None else "en"
    if voice is not None and voice.piper:
        absent = [name for name in (voice.piper, f"{voice.piper}.json") if not machine.at(name).exists()]
        if absent:
            return Finding(part, "missing", f"Piper's voice: there is no {absent[0]}",
                           'copy it there, or use the system\'s voice: voice.piper = ""')  # fmt: skip
        return Finding(part, "fine", f"Piper: {Path(voice.piper).name}")
    here = [name for name in _SPOKEN_BY if which(name)]
    able = [name for name in here if language in _SPOKEN_BY[name]]
    if able:
        return Finding(part, "fine", f"{', '.join(able)} ({language})")
    if here:
        return Finding(part, "missing", f"{', '.join(here)} cannot speak {language!r}", "sudo apt install espeak-ng")
    return Finding(part, "missing", "neither flite nor espeak-ng", "sudo apt install flite espeak-ng")
