"""The doctor on what sees and speaks: camera, sound card, voices."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from referee.app.cameras import usb_cameras
from referee.app.doctor_machine import OURS, Finding, Machine, join_group, short

if TYPE_CHECKING:
    from referee.app.settings import Settings, VoiceSettings

MISMATCH: Final = ("libcamera", "undefined symbol", "pykms", "_libcamera")
"""Words of an import that failed because picamera2 and libcamera are not of one release."""
MATCH: Final = (
    "both from apt, of one release: sudo apt full-upgrade, sudo apt install --reinstall python3-picamera2 "
    "python3-libcamera, and no picamera2 from pip (pip uninstall picamera2); then make install"
)
TONGUES: Final = {"flite": ("en",), "espeak-ng": ("en", "es", "de", "fr")}
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
    here = [name for name in TONGUES if which(name)]
    able = [name for name in here if language in TONGUES[name]]
    if able:
        return Finding(part, "fine", f"{', '.join(able)} ({language})")
    if here:
        return Finding(part, "missing", f"{', '.join(here)} cannot speak {language!r}", "sudo apt install espeak-ng")
    return Finding(part, "missing", "neither flite nor espeak-ng", "sudo apt install flite espeak-ng")
