"""`referee doctor`: what is here, what is missing, and the command that installs it.

A part is *needed* if even the simulated table cannot do without it; only a needed part that is not fine makes the
exit status 1. Every look is short, opens nothing for longer than it must, and never raises.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal

State = Literal["fine", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: how it stands, in words, and what to do where it is not fine."""

    part: str
    state: State
    words: str
    mend: str = ""
    needed: bool = False


OUR_PACKAGES: Final = ("referee", "hardware", "models")
LIBRARIES: Final = {
    "numpy": "numpy", "cv2": "opencv-python", "onnxruntime": "onnxruntime", "gpiozero": "gpiozero",
    "PIL": "pillow", "rich": "rich",
}  # fmt: skip
SYSTEM_LIBRARIES: Final = {"cv2": "sudo apt install libgl1 libglib2.0-0"}


def _python() -> Finding:
    # Whatever is older cannot even read these files.
    return Finding("Python", "fine", ".".join(str(part) for part in sys.version_info[:3]), needed=True)


def _version(module: Any, distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return str(getattr(module, "__version__", "here"))


def library(name: str, distribution: str) -> Finding:
    """How one Python library stands: it is imported to know."""
    mend = f"make install   (or: pip install {distribution})"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        return Finding(distribution, "missing", f"the module {name} is not installed", mend, needed=True)
    except (ImportError, OSError, AttributeError) as bad:
        return Finding(distribution, "broken", _short(bad), SYSTEM_LIBRARIES.get(name, mend), needed=True)
    return Finding(distribution, "fine", _version(module, distribution), needed=True)


def _short(bad: BaseException) -> str:
    text = " ".join(str(bad).split())
    return text[:140] or type(bad).__name__


def ours_alone(name: str, app: Path) -> Finding:
    """Whether the package that answers to one of our general names is ours.

    Args:
        name: one of `OUR_PACKAGES`.
        app: the folder in which our packages lie side by side.
    """
    part = f"package name {name}"
    mend = "use an environment of its own: make install"
    try:
        module = importlib.import_module(name)
    except ImportError as bad:
        return Finding(part, "broken", _short(bad), mend, needed=True)
    where = [Path(place).resolve() for place in module.__path__]
    if where != [(app / name).resolve()]:
        return Finding(part, "broken", f"answered by {where[0] if where else 'nothing'}", mend, needed=True)
    owners = sorted({owner for owner in metadata.packages_distributions().get(name, ()) if owner != "table-referee"})
    if owners:
        return Finding(
            part, "broken", f"also brought by {', '.join(owners)}", f"pip uninstall {owners[0]}", needed=True
        )
    return Finding(part, "fine", "ours alone", needed=True)


def _names() -> Iterator[Finding]:
    app = Path(__file__).resolve().parents[2]
    for name in OUR_PACKAGES:
        yield ours_alone(name, app)


def _weights() -> Finding:
    mend = "fetch the whole repository again (git checkout models/weights), or: make train"
    try:
        models = importlib.import_module("models")
    except ImportError as bad:
        return Finding("weights of the eye", "broken", _short(bad), mend, needed=True)
    files = sorted((Path(models.__path__[0]) / "weights").glob("*.onnx"))
    if not files:
        return Finding("weights of the eye", "missing", "no .onnx file in models/weights", mend, needed=True)
    size = sum(file.stat().st_size for file in files) / 1e6
    try:
        from models.eye import Eye

        Eye.load()
    except (ImportError, OSError, RuntimeError, ValueError) as bad:
        return Finding("weights of the eye", "broken", _short(bad), mend, needed=True)
    return Finding("weights of the eye", "fine", f"{len(files)} files, {size:.1f} MB", needed=True)


def _picamera2() -> Finding:
    mend = "on a Pi: sudo apt install --no-install-recommends python3-picamera2, then make install"
    try:
        # Through importlib: picamera2 is imported by name in one file only.
        importlib.import_module("picamera2")
    except ModuleNotFoundError as bad:
        words = "not installed" if bad.name == "picamera2" else f"here, but {bad.name} is not"
        return Finding("picamera2 (the Pi's camera)", "missing", words, mend)
    except (ImportError, OSError, RuntimeError) as bad:
        return Finding("picamera2 (the Pi's camera)", "broken", _short(bad), mend)
    return Finding("picamera2 (the Pi's camera)", "fine", "here")


def _camera_name(device: Path) -> str:
    try:
        name = Path("/sys/class/video4linux", device.name, "name").read_text(encoding="utf-8", errors="replace")
    except OSError:
        name = ""
    return f"{device} ({name.strip()})" if name.strip() else str(device)


def _cameras() -> Finding:
    devices = sorted(Path("/dev").glob("video*"))
    if not devices:
        return Finding("camera devices", "missing", "no /dev/video*", "plug in a USB camera, or the Pi's camera cable")
    more = f" and {len(devices) - 3} more" if len(devices) > 3 else ""
    return Finding("camera devices", "fine", ", ".join(_camera_name(device) for device in devices[:3]) + more)


def _chip_label(chip: Path) -> str:
    """The kernel's label of a GPIO chip."""
    try:
        import lgpio

        handle = lgpio.gpiochip_open(int(chip.name.removeprefix("gpiochip")))
        try:
            return str(lgpio.gpio_get_chip_info(handle)[3])
        finally:
            lgpio.gpiochip_close(handle)
    except Exception:  # lgpio has an error class of its own, and is perhaps not here
        return ""


def _gpio() -> Finding:
    from hardware.gpio import HEADER_LABELS

    chips = sorted(Path("/dev").glob("gpiochip*"))
    if not chips:
        return Finding("GPIO chips", "missing", "no /dev/gpiochip*: this machine has no pins for pads",
                       "run on a Raspberry Pi; the simulated table needs none")  # fmt: skip
    labels = {chip.name: _chip_label(chip) for chip in chips}
    words = ", ".join(f"{name} {label or 'unlabelled'}" for name, label in labels.items())
    if any(label in HEADER_LABELS for label in labels.values()):
        return Finding("GPIO chips", "fine", words)
    try:
        with chips[0].open("rb"):
            pass
    except PermissionError:
        return Finding(
            "GPIO chips",
            "broken",
            f"{words}: not allowed to open",
            "sudo usermod -aG gpio $USER, log in again",
        )
    except OSError as bad:
        return Finding("GPIO chips", "broken", _short(bad), "reboot; see dmesg")
    return Finding("GPIO chips", "missing", f"{words}: none is a Pi's header", "run on a Raspberry Pi")


def _lgpio() -> Finding:
    mend = "pip install lgpio   (Python 3.13: sudo apt install python3-lgpio, then make install)"
    try:
        importlib.import_module("lgpio")
    except ModuleNotFoundError:
        return Finding("lgpio (pads with the kernel's times)", "missing", "not installed", mend)
    except (ImportError, OSError) as bad:
        return Finding("lgpio (pads with the kernel's times)", "broken", _short(bad), mend)
    return Finding("lgpio (pads with the kernel's times)", "fine", "here")


def _sound() -> Finding:
    try:
        sounddevice = importlib.import_module("sounddevice")
    except ModuleNotFoundError:
        return Finding("sound", "missing", "sounddevice is not installed", "make install")
    except OSError as bad:
        return Finding("sound", "missing", _short(bad), "sudo apt install libportaudio2")
    try:
        device = sounddevice.query_devices(kind="output")
    except (sounddevice.PortAudioError, ValueError) as bad:
        return Finding(
            "sound",
            "missing",
            f"no sound card ({_short(bad)})",
            "plug one in; the demo can write --audio FILE.wav",
        )
    return Finding("sound", "fine", str(device["name"]))


def _voices() -> Finding:
    found = [name for name in ("flite", "espeak-ng") if shutil.which(name)]
    if found:
        return Finding("voice", "fine", ", ".join(found))
    return Finding("voice", "missing", "neither flite nor espeak-ng", "sudo apt install flite espeak-ng")


def _alsa() -> Finding:
    cards = Path("/proc/asound/cards")
    try:
        text = cards.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return Finding("ALSA", "missing", "the kernel has no sound", "a machine with a sound card")
    if not text or "no soundcards" in text:
        return Finding("ALSA", "missing", "no sound card", "plug in a USB sound card or speaker")
    return Finding("ALSA", "fine", text.splitlines()[0].strip())


def _calibration(path: Path = Path("table.toml")) -> Finding:
    """Whether the settings in this folder hold a calibration."""
    from referee.app.problems import UserError
    from referee.app.settings import load

    part, mend = f"calibration ({path})", f"referee calibrate --settings {path}"
    if not path.exists():
        return Finding(part, "missing", "no such file in this folder", f"referee run --example > {path}, then: {mend}")
    try:
        stored = load(path).calibration
    except UserError as bad:
        return Finding(part, "broken", _short(bad), "mend that line")
    if stored is None:
        return Finding(part, "missing", "the camera has not looked for the table yet", mend)
    words = f"by {stored.source}: cards {stored.card_height_px:.0f} px tall, tilt {stored.tilt_deg:.0f}°"
    return Finding(part, "fine", words)


def findings() -> Iterator[Finding]:
    """Every part, those that the simulated table needs first."""
    yield _python()
    yield from _names()
    for name, distribution in LIBRARIES.items():
        yield library(name, distribution)
    looks: tuple[Callable[[], Finding], ...] = (
        _weights, _picamera2, _cameras, _gpio, _lgpio, _voices, _sound, _alsa, _calibration,
    )  # fmt: skip
    for look in looks:
        yield look()


def _table(found: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table

    colours = {"fine": "green", "missing": "yellow", "broken": "red"}
    table = Table(title="Table Referee: what is here", title_justify="left")
    for heading in ("part", "state", "what is here", "what to do"):
        table.add_column(heading, overflow="fold")
    for finding in found:
        colour = "red" if finding.needed and finding.state != "fine" else colours[finding.state]
        words = finding.state + (" (needed)" if finding.needed and finding.state != "fine" else "")
        table.add_row(finding.part, f"[{colour}]{words}[/]", finding.words, finding.mend)
    Console().print(table)


def verdict(found: list[Finding]) -> int:
    """Exit status: 1 if a part that even the simulated table needs is not fine."""
    return int(any(finding.needed and finding.state != "fine" for finding in found))


def _closing(found: list[Finding]) -> str:
    if verdict(found):
        return "Something that even the simulated table needs is not fine: see the lines marked needed."
    absent = [finding.part for finding in found if finding.state != "fine"]
    if absent:
        return "The simulated table runs here (referee demo). A real table also needs: " + ", ".join(absent) + "."
    return "Everything is here for a real table: referee run --settings FILE."


def doctor(*, as_json: bool = False) -> int:
    """Print how every part stands; returns the exit status."""
    found = list(findings())
    if as_json:
        json.dump([asdict(finding) for finding in found], sys.stdout, indent=2)
        sys.stdout.write("\n")
        return verdict(found)
    try:
        _table(found)
    except ImportError:
        for finding in found:
            print(f"{finding.state:8} {finding.part}: {finding.words} {finding.mend}")
    print(_closing(found))
    return verdict(found)
