"""The doctor on the header: its chip, who holds its lines, what lights and force need.

The doctor on what sees and speaks: camera, sound card, voices.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.pads.pinout import HEADER_LABELS, PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.setup.doctor.probe import OURS, Finding, Machine, join_group, short
from referee.text.catalogue import LANGUAGES
from referee.vision.cameras import usb_cameras

if TYPE_CHECKING:
    from referee.settings.model import Settings, VoiceSettings

OUR_CONSUMERS: Final = ("table referee", "lg")
"""How the names begin under which our own programs hold lines: the pads' and the lights'."""
SERIAL: Final = (14, 15)
SPI: Final = (7, 8, 9, 10, 11)
SPIDEV: Final = "/dev/spidev0.0"


def header(machine: Machine, settings: Settings | None) -> Iterator[Finding]:
    """Chip, lines, lights, SPI."""
    yield _library(machine, "gpiod", "gpiod (pads with the kernel's times)", "make install   (or: pip install gpiod)")
    chip, finding = header_chip(machine)
    yield finding
    if chip:
        yield lines(machine, chip, used_pins(settings))
    yield _library(
        machine, "lgpio", "lgpio (lights)",
        "pip install lgpio   (Python 3.13: sudo apt install python3-lgpio, then make install)",
    )  # fmt: skip
    if settings is not None and settings.lights.strip:
        yield _strip(machine, settings.lights.strip)
    if settings is not None and settings.pads.force:
        yield spi(machine)


def _library(machine: Machine, name: str, part: str, mend: str) -> Finding:
    try:
        machine.bring(name)
    except ModuleNotFoundError:
        return Finding(part, "missing", "not installed", mend)
    except (ImportError, OSError) as bad:
        return Finding(part, "broken", short(bad), mend)
    return Finding(part, "fine", "here")


def header_chip(machine: Machine) -> tuple[str, Finding]:
    """The chip that the header hangs on, found by its label, and how it stands; empty where there is none to use."""
    part = "GPIO header"
    chips = machine.devices("gpiochip*")
    if not chips:
        words = "no /dev/gpiochip*: this machine has no pins for pads"
        return "", Finding(part, "missing", words, "run on a Raspberry Pi; the simulated table needs none")
    locked = [chip for chip in chips if not machine.may_open(chip)]
    if len(locked) == len(chips):
        return "", Finding(part, "broken", f"{locked[0]}: not allowed to open", join_group("gpio"))
    labels: dict[str, str] = {}
    for chip in chips:
        try:
            with _chip(machine, chip) as opened:
                labels[chip] = str(opened.get_info().label)
        except ImportError:
            return "", Finding(part, "broken", f"{', '.join(chips)}, which nothing can read here", "make install")
        except OSError as bad:
            labels[chip] = f"unreadable: {short(bad)}"
    words = ", ".join(f"{chip} {label}" for chip, label in labels.items())
    found = next((chip for wanted in HEADER_LABELS for chip, label in labels.items() if label == wanted), "")
    if not found:
        return "", Finding(part, "missing", f"{words}: none is a Pi's header", "run on a Raspberry Pi")
    return found, Finding(part, "fine", f"{found} ({labels[found]})")


def _chip(machine: Machine, place: str) -> Any:
    return machine.bring("gpiod").Chip(str(machine.at(place)))


def used_pins(settings: Settings | None) -> dict[int, str]:
    """What hangs on which pin, as the settings or else the wiring picture have it."""
    if settings is None:
        uses = {pin: f"the pad of seat {n}" for n, pin in enumerate(PAD_PINS, start=1)}
        uses |= {pin: f"the light of seat {n}" for n, pin in enumerate(SEAT_LIGHT_PINS, start=1)}
        return uses | dict.fromkeys(TABLE_LIGHT_PINS, "the table's light")
    uses = {seat.pad: f"the pad of seat {n}" for n, seat in enumerate(settings.seats, start=1)}
    if settings.lights.enabled:
        uses |= {seat.light: f"the light of seat {n}" for n, seat in enumerate(settings.seats, start=1)}
        uses |= dict.fromkeys(settings.lights.table, "the table's light")
    return uses


def lines(machine: Machine, chip: str, uses: dict[int, str]) -> Finding:
    """Whether somebody else holds a line that we need, and who."""
    part = "GPIO lines"
    taken, ours = {}, 0
    try:
        with _chip(machine, chip) as opened:
            for pin in sorted(uses):
                info = opened.get_line_info(pin)
                if info.used and str(info.consumer).startswith(OUR_CONSUMERS):
                    ours += 1
                elif info.used:
                    taken[pin] = str(info.consumer) or "another driver"
    except (OSError, ImportError) as bad:
        return Finding(part, "broken", short(bad), "reboot; see dmesg")
    if taken:
        words = ", ".join(f"pin {pin} ({uses[pin]}) is held by {who}" for pin, who in taken.items())
        return Finding(part, "broken", words, _free(set(taken)))
    held = f", {ours} held by the referee that runs" if ours else ""
    return Finding(part, "fine", f"{len(uses)} lines are ours to use{held}")


def _free(pins: set[int]) -> str:
    if pins & set(SERIAL):
        return "switch the serial console off: sudo raspi-config nonint do_serial_cons 1, then reboot"
    if pins & set(SPI):
        return "choose other pins (referee setup --step pins), or: sudo raspi-config nonint do_spi 1, then reboot"
    return "stop that program (gpioinfo lists them), or choose other pins: referee setup --step pins"


def _strip(machine: Machine, device: str) -> Finding:
    part = "strip of lights"
    if not machine.at(device).exists():
        mend = 'see docs/build.md; or no strip: lights.strip = ""'
        return Finding(part, "missing", f"there is no {device}", mend)
    if not machine.may_open(device):
        return Finding(part, "broken", f"{device}: not allowed to open", join_group("gpio"))
    return Finding(part, "fine", device)


def spi(machine: Machine) -> Finding:
    """What the MCP3008 that measures force hangs on."""
    part = "SPI (force)"
    if not machine.at(SPIDEV).exists():
        return Finding(part, "missing", f"no {SPIDEV}", "sudo raspi-config nonint do_spi 0, then reboot")
    if not machine.may_open(SPIDEV):
        return Finding(part, "broken", f"{SPIDEV}: not allowed to open", join_group("spi"))
    return Finding(part, "fine", SPIDEV)


MISMATCH: Final = ("libcamera", "undefined symbol", "pykms", "_libcamera")
"""Words of an import that failed because picamera2 and libcamera are not of one release."""
MATCH: Final = (
    "both from apt, of one release: sudo apt full-upgrade, sudo apt install --reinstall python3-picamera2 "
    "python3-libcamera, and no picamera2 from pip (pip uninstall picamera2); then make install"
)
_SPOKEN_BY: Final = {"flite": ("en",), "espeak-ng": tuple(LANGUAGES)}
"""Languages that each synthesiser speaks."""

LOOKERS: Final = ("wireplumber", "pipewire")
"""A sound server and a desktop look at media devices without using the camera."""

Which = Callable[[str], str | None]


# The camera


def camera(machine: Machine, settings: Settings | None) -> Iterator[Finding]:
    """The Pi's and the others, and whether another program holds the one that is wanted."""
    library, own = picamera2(machine)
    yield library
    others = usb_cameras(machine.root)
    names = [f"the Pi's own ({model})" for model in own] + [f"{one.source} ({one.name})" for one in others]
    wanted = settings.camera.source if settings is not None else ("picamera" if own else "usb")
    part = "camera"
    if not names:
        yield Finding(part, "missing", "no camera answers",
                      "plug in a USB camera, or the Pi's camera cable (rpicam-hello --list-cameras)")  # fmt: skip
        return
    absent = (wanted == "picamera" and not own) or (
        wanted.startswith("usb:") and wanted not in [one.source for one in others]
    )
    if absent:
        yield Finding(part, "missing", f"the settings name {wanted}; here is {', '.join(names)}",
                      "referee setup --step camera")  # fmt: skip
        return
    yield held(machine, wanted, names)


def picamera2(machine: Machine) -> tuple[Finding, list[str]]:
    """How the Pi's camera library stands, and the cameras that it sees."""
    part = "picamera2 (the Pi's camera)"
    mend = "on a Pi: sudo apt install --no-install-recommends python3-picamera2, then make install"
    try:
        module = machine.bring("picamera2")
        told = module.Picamera2.global_camera_info()
    except ModuleNotFoundError as bad:
        if bad.name == "picamera2":
            return Finding(part, "missing", "not installed", mend), []
        return Finding(part, "broken", f"here, but {bad.name} is not", MATCH), []
    except (ImportError, OSError, RuntimeError, AttributeError) as bad:
        words = short(bad)
        return Finding(part, "broken", words, MATCH if any(word in words for word in MISMATCH) else mend), []
    own = [str(info.get("Model", "camera")) for info in told if "usb" not in str(info.get("Id", "")).lower()]
    return Finding(part, "fine", f"here, sees {', '.join(own)}" if own else "here, sees no camera"), own


def held(machine: Machine, wanted: str, names: list[str]) -> Finding:
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
    holders = {who for device in devices for who in machine.holders(device) if not who.startswith(LOOKERS)}
    foreign = sorted(who for who in holders if not who.startswith(OURS))
    if foreign:
        mend = "stop it: kill " + " ".join(who.rpartition(" ")[2].rstrip(")") for who in foreign)
        return Finding(part, "broken", f"{words}; held by {', '.join(foreign)}", mend)
    return Finding(part, "fine", words + ("; held by the referee that runs" if holders else ""))


# Sound


def sound(machine: Machine, settings: Settings | None, which: Which = shutil.which) -> Iterator[Finding]:
    """The card, by the kernel and by PortAudio, and the voices."""
    yield alsa(machine)
    yield portaudio(machine, settings.voice.device if settings is not None else "")
    yield voices(machine, settings.voice if settings is not None else None, which)


def alsa(machine: Machine) -> Finding:
    """The kernel's sound cards."""
    part = "ALSA"
    if not machine.at("/proc/asound/cards").exists():
        return Finding(part, "missing", "the kernel has no sound", "a machine with a sound card")
    text = machine.read("/proc/asound/cards")
    if not text or "no soundcards" in text:
        return Finding(part, "missing", "no sound card", "plug in a USB sound card or speaker")
    return Finding(part, "fine", text.splitlines()[0].strip())


def portaudio(machine: Machine, device: str) -> Finding:
    """Whether what the settings want to play through is there."""
    part = "sound"
    try:
        sounddevice: Any = machine.bring("sounddevice")
    except ModuleNotFoundError:
        return Finding(part, "missing", "sounddevice is not installed", "make install")
    except OSError as bad:
        return Finding(part, "missing", short(bad), "sudo apt install libportaudio2")
    try:
        found = sounddevice.query_devices(device or None, kind="output")
    except (sounddevice.PortAudioError, ValueError) as bad:
        if device:
            return Finding(part, "missing", f"no sound card called {device!r} ({short(bad)})",
                           'plug it in, or let the system choose: voice.device = ""')  # fmt: skip
        return Finding(part, "missing", f"no sound card ({short(bad)})",
                       "plug one in; the demo can write --audio FILE.wav")  # fmt: skip
    return Finding(part, "fine", str(found["name"]))


def voices(machine: Machine, voice: VoiceSettings | None, which: Which) -> Finding:
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
