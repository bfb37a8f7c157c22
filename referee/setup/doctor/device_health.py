"""The doctor's checks of devices: the header and the owners of its lines, lights, force, camera, sound card, voices."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.pads.pinout import HEADER_LABELS, I2S_PINS
from referee.sentence import Sentence
from referee.setup.check import Check
from referee.setup.doctor.probe import OURS, Machine, one_line, pip_install
from referee.setup.pin_owners import SERIAL_PINS, SPI_HEADER_PINS, pin_owners, used_pins
from referee.text.catalogue import LANGUAGES
from referee.vision.cameras import usb_cameras

if TYPE_CHECKING:
    from referee.settings.model import Settings, VoiceSettings

_OUR_CONSUMER: Final = "table referee"
"""Prefix of the consumer names with which our own programs hold lines for pads and lights."""
_MATCH: Final = Sentence(
    "both from apt, of one release: sudo apt full-upgrade, sudo apt install --reinstall python3-picamera2 "
    "python3-libcamera, and no picamera2 from pip (pip uninstall picamera2); then make install"
)
"""Remedy for a picamera2 that is installed but fails to load or answer, with any exception."""
_NUMPY: Final = Sentence("its parts were built for another numpy: pip install 'numpy<2' opencv-python==4.11.0.86")
_BYSTANDERS: Final = ("wireplumber", "pipewire")
"""Sound servers and desktops that look at media devices without using the camera."""
_SPOKEN_BY: Final = {"flite": ("en",), "espeak-ng": tuple(LANGUAGES)}
"""Languages of each synthesiser."""


# The header


def check_header(machine: Machine, settings: Settings | None) -> Iterator[Check]:
    """Check chip, lines, lights and SPI of a table with wired parts."""
    if settings is not None and not settings.lights.enabled and not pad_pins(settings) and not settings.lights.strip:
        return
    yield check_library(machine, "gpiod", Sentence("pads with the kernel's times"), pip_install("gpiod"))
    chip, finding = check_chip(machine)
    yield finding
    if chip:
        yield check_lines(machine, chip, used_pins(settings))
    if settings is not None and settings.lights.strip:
        mend = Sentence('see docs/senses.md; or no strip: lights.strip = ""')
        yield check_device(machine, Sentence("strip of lights"), settings.lights.strip, mend, "gpio")
    if settings is not None and settings.pads.force:
        # The MCP3008 that measures force is on this bus.
        mend = Sentence("sudo raspi-config nonint do_spi 0, then reboot")
        yield check_device(machine, Sentence("SPI (force)"), "/dev/spidev0.0", mend, "spi")


def check_library(machine: Machine, name: str, what_for: str, mend: str) -> Check:
    """Check that a library for a device is installed."""
    part = Sentence("{name} ({what})", name=name, what=what_for)
    try:
        machine.bring(name)
    except ModuleNotFoundError:
        return Check(part, "missing", Sentence("not installed"), mend)
    except (ImportError, OSError) as error:
        return Check(part, "broken", one_line(error), mend)
    return Check(part, "fine", Sentence("here"))


def not_allowed(device: str) -> str:
    """Return the words for a device that this user may not open."""
    return Sentence("{device}: not allowed to open", device=device)


def check_device(machine: Machine, part: str, device: str, mend: str, group: str) -> Check:
    """Check that a device exists, and that members of a group may open it."""
    if not machine.at(device).exists():
        return Check(part, "missing", Sentence("there is no {device}", device=device), mend)
    if not machine.may_open(device):
        return Check(part, "broken", not_allowed(device), machine.join_group(group))
    return Check(part, "fine", device)


def check_chip(machine: Machine) -> tuple[str, Check]:
    """Return the chip of the header, found by its label, and its finding; an empty name if none is usable."""
    part = Sentence("GPIO header")
    chips = machine.devices("gpiochip*")
    if not chips:
        words = Sentence("no /dev/gpiochip*: this machine has no pins for pads")
        return "", Check(part, "missing", words, Sentence("run on a Raspberry Pi; the simulated table needs none"))
    if not any(machine.may_open(chip) for chip in chips):
        return "", Check(part, "broken", not_allowed(chips[0]), machine.join_group("gpio"))
    labels: dict[str, str] = {}
    for chip in chips:
        try:
            with _open_chip(machine, chip) as opened:
                labels[chip] = str(opened.get_info().label)
        except ImportError:
            return "", Check(
                part, "broken", Sentence("{names}, which nothing can read here", names=", ".join(chips)), "make install"
            )
        except OSError as error:
            labels[chip] = f"unreadable: {one_line(error)}"
    found = next((chip for wanted in HEADER_LABELS for chip, label in labels.items() if label == wanted), "")
    if not found:
        names = ", ".join(f"{chip} {label}" for chip, label in labels.items())
        return "", Check(
            part, "missing", Sentence("{names}: none is a Pi's header", names=names), Sentence("run on a Raspberry Pi")
        )
    return found, Check(part, "fine", f"{found} ({labels[found]})")


def _open_chip(machine: Machine, place: str) -> Any:
    return machine.bring("gpiod").Chip(str(machine.at(place)))


def pad_pins(settings: Settings) -> list[int]:
    """Return the pins of pads that are wired to the header."""
    return [pin for seat in settings.seats if (pin := seat.pad_pin) is not None]


def check_lines(machine: Machine, chip: str, uses: dict[int, str]) -> Check:
    """Check whether another program or function has a line that we need, and name it."""
    part = Sentence("GPIO lines")
    taken, ours = {pin: owner for pin, owner in pin_owners(machine.root).items() if pin in uses}, 0
    try:
        with _open_chip(machine, chip) as opened:
            for pin in sorted(uses):
                info = opened.get_line_info(pin)
                if info.used and str(info.consumer).startswith(_OUR_CONSUMER):
                    ours += 1
                elif info.used:
                    taken[pin] = str(info.consumer) or Sentence("another driver")
    except (OSError, ImportError) as error:
        return Check(part, "broken", one_line(error), Sentence("reboot; see dmesg"))
    if not taken:
        free = Sentence("{count} lines are ours to use", count=len(uses))
        held = Sentence("{words}, {count} held by the referee that runs", words=free, count=ours) if ours else free
        return Check(part, "fine", held)
    if taken.keys() & set(SERIAL_PINS):
        mend = Sentence("switch the serial console off: sudo raspi-config nonint do_serial_cons 1, then reboot")
    elif taken.keys() <= set(I2S_PINS):
        mend = Sentence(
            "choose other pins (referee setup --step pins), or take the sound card out of config.txt, then reboot"
        )
    elif taken.keys() & set(SPI_HEADER_PINS):
        mend = Sentence(
            "choose other pins (referee setup --step pins), or: sudo raspi-config nonint do_spi 1, then reboot"
        )
    else:
        mend = Sentence("stop that program (gpioinfo lists them), or choose other pins: referee setup --step pins")
    held_by = [Sentence("pin {pin} ({use}) is held by {who}", pin=p, use=uses[p], who=who) for p, who in taken.items()]
    return Check(part, "broken", Sentence("{lines}", lines=held_by), mend)


# The camera


def check_camera(machine: Machine, settings: Settings | None) -> Iterator[Check]:
    """Check the Pi's camera and others, and whether another program holds the wanted one."""
    camera = Sentence("camera")
    library, own = _check_picamera2(machine)
    # A table with a webcam does without the library.
    if library.state == "fine" or settings is None or settings.camera.source == "picamera":
        yield library
    others = usb_cameras(machine.root)
    names = [Sentence("the Pi's own ({name})", name=model) for model in own] + [
        f"{other.source} ({other.name})" for other in others
    ]
    wanted = settings.camera.source if settings is not None else ("picamera" if own else "usb")
    if not names:
        yield Check(
            camera,
            "missing",
            Sentence("no camera answers"),
            Sentence("plug in a USB camera, or the Pi's camera cable (rpicam-hello --list-cameras)"),
        )
    elif (wanted == "picamera" and not own) or (
        wanted.startswith("usb:") and wanted not in [other.source for other in others]
    ):
        yield Check(
            camera,
            "missing",
            Sentence("the settings name {wanted}; here is {names}", wanted=wanted, names=names),
            "referee setup --step camera",
        )
    else:
        yield _check_holders(machine, wanted, names)


def _check_picamera2(machine: Machine) -> tuple[Check, list[str]]:
    """Return the finding of the Pi's camera library, and the cameras that it sees."""
    part = Sentence("{name} ({what})", name="picamera2", what=Sentence("the Pi's camera"))
    mend = Sentence("on a Pi: sudo apt install --no-install-recommends python3-picamera2, then make install")
    try:
        told = machine.bring("picamera2").Picamera2.global_camera_info()
    except ModuleNotFoundError as error:
        if error.name == "picamera2":
            return Check(part, "missing", Sentence("not installed"), mend), []
        return Check(part, "broken", Sentence("here, but {name} is not", name=error.name), _MATCH), []
    except Exception as error:  # mismatched C code can raise any exception
        words = one_line(error)
        return Check(part, "broken", words, _NUMPY if "numpy" in words else _MATCH), []
    own = [str(info.get("Model", "camera")) for info in told if "usb" not in str(info.get("Id", "")).lower()]
    seen = Sentence("here, sees {names}", names=", ".join(own)) if own else Sentence("here, sees no camera")
    return Check(part, "fine", seen), own


def _check_holders(machine: Machine, wanted: str, names: list[str]) -> Check:
    """Check that the wanted camera is free; our own service may hold it."""
    part, words = Sentence("camera"), Sentence("{names}", names=names)
    if wanted == "picamera":
        devices = machine.devices("media*")
    else:
        numbers = [wanted.removeprefix("usb:")] if ":" in wanted else [names[0].split(":")[1].split()[0]]
        devices = [f"/dev/video{number}" for number in numbers if number.isdecimal()]
        locked = [device for device in devices if machine.at(device).exists() and not machine.may_open(device)]
        if locked:
            return Check(part, "broken", not_allowed(locked[0]), machine.join_group("video"))
    holders = {who for device in devices for who in machine.holders(device) if not who.startswith(_BYSTANDERS)}
    foreign = sorted(who for who in holders if not who.startswith(OURS))
    if foreign:
        mend = Sentence(
            "stop it: kill {numbers}", numbers=" ".join(who.rpartition(" ")[2].rstrip(")") for who in foreign)
        )
        return Check(part, "broken", Sentence("{words}; held by {names}", words=words, names=", ".join(foreign)), mend)
    return Check(part, "fine", Sentence("{words}; held by the referee that runs", words=words) if holders else words)


# Sound


def check_sound(machine: Machine, settings: Settings | None) -> Iterator[Check]:
    """Check the sound card, by the kernel and by PortAudio, and the voices."""
    yield check_alsa(machine)
    yield check_portaudio(machine, settings.voice.device if settings is not None else "")
    yield check_voices(machine, settings.voice if settings is not None else None)


def check_alsa(machine: Machine) -> Check:
    """Check the kernel's sound cards."""
    part = "ALSA"
    if not machine.at("/proc/asound/cards").exists():
        return Check(part, "missing", Sentence("the kernel has no sound"), Sentence("a machine with a sound card"))
    text = machine.read("/proc/asound/cards")
    if not text or "no soundcards" in text:
        return Check(part, "missing", Sentence("no sound card"), Sentence("plug in a USB sound card or speaker"))
    return Check(part, "fine", text.splitlines()[0].strip())


def check_portaudio(machine: Machine, device: str) -> Check:
    """Check the sound device that the settings name."""
    part = Sentence("sound")
    try:
        sounddevice: Any = machine.bring("sounddevice")
    except ModuleNotFoundError:
        return Check(
            part, "missing", Sentence("the module {name} is not installed", name="sounddevice"), "make install"
        )
    except OSError as error:
        return Check(part, "missing", one_line(error), "sudo apt install libportaudio2")
    try:
        found = sounddevice.query_devices(device or None, kind="output")
    except (sounddevice.PortAudioError, ValueError) as error:
        if device:
            return Check(
                part,
                "missing",
                Sentence("no sound card called {name} ({why})", name=repr(device), why=one_line(error)),
                Sentence('plug it in, or let the system choose: voice.device = ""'),
            )
        return Check(
            part,
            "missing",
            Sentence("no sound card"),
            Sentence("plug one in; the demo can write --audio FILE.wav"),
        )
    return Check(part, "fine", str(found["name"]))


def check_voices(
    machine: Machine, voice: VoiceSettings | None, which: Callable[[str], str | None] = shutil.which
) -> Check:
    """Check that a synthesiser speaks the wanted language."""
    part, language = Sentence("voice"), voice.language if voice is not None else "en"
    if voice is not None and voice.piper:
        absent = [name for name in (voice.piper, f"{voice.piper}.json") if not machine.at(name).exists()]
        if absent:
            return Check(
                part,
                "missing",
                Sentence("Piper's voice: there is no {file}", file=absent[0]),
                Sentence('copy it there, or use the system\'s voice: voice.piper = ""'),
            )
        return Check(part, "fine", f"Piper: {Path(voice.piper).name}")
    here = [name for name in _SPOKEN_BY if which(name)]
    able = [name for name in here if language in _SPOKEN_BY[name]]
    if able:
        return Check(part, "fine", f"{', '.join(able)} ({language})")
    if here:
        return Check(
            part,
            "missing",
            Sentence("{names} cannot speak {language}", names=", ".join(here), language=repr(language)),
            "sudo apt install espeak-ng",
        )
    return Check(part, "missing", Sentence("neither flite nor espeak-ng"), "sudo apt install flite espeak-ng")
