"""Looks at the machine for its report: board, software, pins, chips, sound, power. Nothing is changed or claimed.

Each look returns plain tables and lists for `report.json`; it raises `NotHere` for what this machine has not.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any, Final

from hardware.pads.pinout import HEADER
from hardware.ports import HardwareMissing
from hardware.sound.sound_cards import opened_by, sound_cards
from referee.options.pi_report.subject import NotHere, Subject
from referee.setup.doctor.device_health import check_chip
from referee.setup.doctor.machine import check_heat, check_power
from referee.setup.doctor.probe import Machine, one_line
from referee.setup.pin_owners import free_pins, pin_owners, refuse_pins

_KERNEL_WORDS: Final = re.compile(
    r"(?:console|isolcpus|clocksource|cma|threadirqs|preempt|nohz_full|rcu_nocbs)(?:=\S+)?"
)
"""Words of the kernel's command line that matter here; others hold addresses of this very board."""
_BOOT_LINES: Final = re.compile(
    r"(?:dtparam|dtoverlay|gpu_mem|arm_\w+|over_voltage\w*|force_turbo|camera_auto_detect|display_auto_detect|enable_uart"
    r"|usb_max_current_enable|auto_initramfs|disable_fw_kms_setup|arm_boost|max_framebuffers)=.*|\[[\w= ]+\]"
)
_BESIDE: Final = ("picamera2", "simplejpeg", "lgpio", "av", "piper-tts", "evdev")
"""Packages that the referee uses where they are installed, besides those that it needs."""
_SYSTEM_PACKAGES: Final = (
    "python3-picamera2", "python3-libcamera", "libcamera0*", "libcamera-ipa", "rpicam-apps*", "raspi-utils*",
    "raspi-firmware", "libgpiod*", "libportaudio2", "espeak-ng", "flite", "python3-numpy", "python3-opencv",
)  # fmt: skip
_HWMON: Final = re.compile(r"(?:temp|in|fan|curr|power)\d+_(?:input|crit|lcrit_alarm|crit_alarm)")


def look_at_board(subject: Subject) -> dict[str, Any]:
    """Return the board, its memory and clock, the system, and what of the boot files matters."""
    machine = subject.machine
    cpu, memory = machine.read("/proc/cpuinfo"), machine.read("/proc/meminfo")
    os_release = dict(re.findall(r'^(\w+)="?(.*?)"?$', machine.read("/etc/os-release"), flags=re.MULTILINE))
    revision = re.search(r"^Revision\s*:\s*(\w+)", cpu, flags=re.MULTILINE)
    boot = next(filter(None, map(machine.read, ("/boot/firmware/config.txt", "/boot/config.txt"))), "")
    return {
        "model": machine.read("/proc/device-tree/model") or platform.machine(),
        "revision": revision[1] if revision else "", "cores": os.cpu_count(), "architecture": platform.machine(),
        "memory_mb": _kilobytes(memory, "MemTotal"), "contiguous_mb": _kilobytes(memory, "CmaTotal"),
        "contiguous_free_mb": _kilobytes(memory, "CmaFree"), "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "system": os_release.get("PRETTY_NAME", ""), "image": machine.read("/etc/rpi-issue").partition("\n")[0],
        "kernel": machine.read("/proc/sys/kernel/osrelease"), "kernel_build": machine.read("/proc/sys/kernel/version"),
        "clock": machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "kernel_words": [word for word in machine.read("/proc/cmdline").split() if _KERNEL_WORDS.fullmatch(word)],
        "boot_settings": [line for line in map(str.strip, boot.splitlines()) if _BOOT_LINES.fullmatch(line)],
    }  # fmt: skip


def _kilobytes(memory: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s*(\d+) kB", memory, flags=re.MULTILINE)
    return int(found[1]) // 1024 if found else None


def look_at_software(subject: Subject) -> dict[str, Any]:
    """Return Python, the packages that the referee uses, and the system's packages for camera, pins and sound."""
    listed = subject.machine.run(["dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\n", *_SYSTEM_PACKAGES])
    return {
        "python": platform.python_version(),
        "packages": [{"name": name, "version": version, "from": origin} for name, version, origin in packages()],
        "system_packages": [
            {"name": words[0], "version": words[1]}
            for words in map(str.split, (listed or "").splitlines()) if words[-1:] == ["installed"]
        ],
    }  # fmt: skip


def packages() -> Iterator[tuple[str, str, str]]:
    """Yield name, version and origin of the packages that the referee uses and that are installed."""
    try:
        needed = [
            re.split(r"[^\w.-]", text)[0] for text in metadata.requires("table-referee") or () if "extra" not in text
        ]
    except metadata.PackageNotFoundError:
        needed = []
    for name in dict.fromkeys((*needed, *_BESIDE)):
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        place = str(found.locate_file(""))
        yield name, found.version, "the system" if place.startswith("/usr/lib") else "this environment"


def look_at_pins(subject: Subject) -> dict[str, Any]:
    """Return what owns pins of the header, which of them the table would be refused, and each line's holder."""
    machine = subject.machine
    owners = pin_owners(machine.root)
    refused = {} if subject.settings is None else refuse_pins(owners, subject.settings)
    mux = machine.run(["pinctrl", "get", "0-27"])
    return {
        "owned": [{"pin": pin, "owner": str(owner)} for pin, owner in sorted(owners.items())],
        "free": free_pins(owners, ()), "refused_to_the_table": [str(words) for words in refused.values()],
        "multiplexer": (mux or "").splitlines() or "not here: pinctrl (sudo apt install raspi-utils)",
        "lines": list(_lines(machine)) or str(check_chip(machine)[1].words),
    }  # fmt: skip


def _lines(machine: Machine) -> Iterator[dict[str, Any]]:
    """Yield the header's lines as libgpiod describes them; none if there is no header."""
    chip, _ = check_chip(machine)
    if not chip:
        return
    with machine.bring("gpiod").Chip(str(machine.at(chip))) as opened:
        for pin in sorted(pin for pin in HEADER if isinstance(pin, int)):
            info = opened.get_line_info(pin)
            yield {"pin": pin, "name": str(getattr(info, "name", "") or ""), "used": bool(info.used),
                   "holder": str(info.consumer or "")}  # fmt: skip


def look_at_chips(subject: Subject) -> dict[str, Any]:
    """Return libgpiod's version and every chip with its label and number of lines."""
    machine = subject.machine
    gpiod = machine.bring("gpiod")
    found = []
    for device in machine.devices("gpiochip*"):
        try:
            with gpiod.Chip(str(machine.at(device))) as chip:
                info = chip.get_info()
                found.append({"chip": device, "label": str(info.label), "lines": getattr(info, "num_lines", None)})
        except OSError as error:
            found.append({"chip": device, "label": f"not readable: {one_line(error)}", "lines": None})
    if not found:
        raise NotHere("no /dev/gpiochip*")
    return {"gpiod": getattr(gpiod, "__version__", ""), "libgpiod": getattr(gpiod, "api_version", ""), "chips": found}


def look_at_sound(subject: Subject) -> dict[str, Any]:
    """Return the kernel's cards, those that can play, and the one that the referee would use."""
    machine = subject.machine
    cards = machine.read("/proc/asound/cards")
    if not cards or "no soundcards" in cards:
        raise NotHere("no sound card")
    kernel = [" ".join(line.split()) for line in cards.splitlines()]
    wanted = subject.settings.voice.device if subject.settings is not None else ""
    try:
        sound = machine.bring("sounddevice")
    except (ImportError, OSError) as error:
        return {"kernel": kernel, "players": [], "wanted": wanted, "chosen": f"none: {one_line(error)}"}
    players = [{"name": card.name, "kind": card.kind} for card in sound_cards(sound)]
    device, number = opened_by(sound, wanted or None)
    try:
        chosen = dict(sound.query_devices(device, kind="output"))
    except (sound.PortAudioError, ValueError) as error:
        return {"kernel": kernel, "players": players, "wanted": wanted, "chosen": f"none: {one_line(error)}"}
    return {
        "kernel": kernel, "players": players, "wanted": wanted, "chosen": str(chosen["name"]), "card": number,
        "rate_hz": chosen.get("default_samplerate"), "low_latency_s": chosen.get("default_low_output_latency"),
    }  # fmt: skip


def look_at_power(subject: Subject) -> dict[str, Any]:
    """Return what firmware and kernel say of voltage, throttling, heat and clock."""
    machine = subject.machine
    checks = {"power": check_power(machine), "heat": check_heat(machine)}
    throttled = machine.run(["vcgencmd", "get_throttled"])
    clocks = []
    for policy in _names(machine, "/sys/devices/system/cpu/cpufreq"):
        folder = f"/sys/devices/system/cpu/cpufreq/{policy}"
        clocks.append({
            "cores": machine.read(f"{folder}/related_cpus"), "governor": machine.read(f"{folder}/scaling_governor"),
            "now_khz": machine.read(f"{folder}/scaling_cur_freq"),
            "most_khz": machine.read(f"{folder}/cpuinfo_max_freq"),
        })  # fmt: skip
    return {
        **{name: f"{check.state}: {check.words}" for name, check in checks.items()},
        "throttled": (throttled or "").strip() or "not here: vcgencmd",
        "sensors": [
            {"sensor": machine.read(f"/sys/class/hwmon/{folder}/name"), "what": file,
             "value": machine.read(f"/sys/class/hwmon/{folder}/{file}")}
            for folder in _names(machine, "/sys/class/hwmon") for file in _names(machine, f"/sys/class/hwmon/{folder}")
            if _HWMON.fullmatch(file)
        ],
        "clocks": clocks,
    }  # fmt: skip


def _names(machine: Machine, folder: str) -> list[str]:
    place = machine.at(folder)
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def look_at_sensor(subject: Subject) -> dict[str, Any]:
    """Return the Pi camera's modes, controls and properties, as picamera2 lists them."""
    from hardware.camera.pi_driver import open_driver

    machine = subject.machine
    try:
        listed = machine.bring("picamera2").Picamera2.global_camera_info()
        driver = open_driver(lambda: machine.bring("picamera2").Picamera2)
    except ModuleNotFoundError as error:
        raise NotHere(f"the module {error.name} is not installed") from error
    except HardwareMissing as error:
        raise NotHere(error.sentence) from error
    try:
        return {
            "cameras": [{"model": str(info.get("Model")), "place": str(info.get("Id"))} for info in listed],
            "modes": _plain(getattr(driver, "sensor_modes", [])),
            "controls": [
                {"name": str(name), "least": _plain(limits[0]), "most": _plain(limits[1]), "usual": _plain(limits[2])}
                for name, limits in sorted(driver.camera_controls.items())
            ],
            "properties": [
                {"name": str(name), "value": _plain(value)} for name, value in sorted(driver.camera_properties.items())
            ],
        }  # fmt: skip
    finally:
        driver.close()


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: libcamera's own types become words."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return str(value)
