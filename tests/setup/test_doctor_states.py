"""Every state of every part that the doctor looks at, each on a machine that was put together for it."""

from __future__ import annotations

import grp
import os
import pwd
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from referee.record.certificates import (
    FOLDER,
    Certificate,
    machine_mark,
    program_version,
    save_certificate,
    settings_mark,
)
from referee.settings.model import Settings, load_settings, parse_settings
from referee.setup.check import Check
from referee.setup.doctor import device_health, examine, probe, report_lines, short_report
from referee.setup.doctor import machine as health
from referee.setup.doctor.pad_health import check_plugged_pads
from referee.setup.doctor.probe import UNIT, is_allowed
from referee.setup.pin_owners import owned_here, pin_owners, refuse_pins, used_pins
from referee.text.terminal_language import speaking
from referee.vision.cameras import CameraFound, cameras
from tests.support.machines import GIGABYTE, Rig, disk

SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def settings(text: str = "") -> Settings:
    """Return a table of two with these settings."""
    return parse_settings(text + SEATS)


def told(finding: Check) -> tuple[str, str, str]:
    """Return state, words and remedy; every fault has a remedy."""
    assert finding.state == "fine" or finding.mend
    return finding.state, finding.words, finding.mend


# The header


def test_a_machine_without_pins(rig: Rig) -> None:
    state, words, _ = told(device_health.check_chip(rig.machine)[1])
    assert (state, "no /dev/gpiochip" in words) == ("missing", True)


def test_the_header_is_found_by_label_whatever_its_number(rig: Rig) -> None:
    rig.chip("gpiochip0", "gpio-brcmstb@107d508500")
    rig.chip("gpiochip4", "pinctrl-rp1")
    chip, finding = device_health.check_chip(rig.machine)
    assert (chip, finding.state) == ("/dev/gpiochip4", "fine")


def test_chips_of_another_machine(rig: Rig) -> None:
    rig.chip("gpiochip0", "INT34C5:00")
    chip, finding = device_health.check_chip(rig.machine)
    assert (chip, finding.state) == ("", "missing")
    assert "INT34C5" in finding.words


def test_a_chip_that_may_not_be_opened(rig: Rig) -> None:
    rig.chip("gpiochip0", "pinctrl-bcm2711")
    rig.locked.add("gpiochip0")
    state, _, mend = told(device_health.check_chip(rig.machine)[1])
    assert (state, mend) == ("broken", "sudo usermod -aG gpio $USER, then log in again")


def test_the_services_user_joins_the_group(rig: Rig) -> None:
    """Root looks in its place, and may open everything itself."""
    rig.chip("gpiochip0", "pinctrl-bcm2711")
    rig.locked.add("gpiochip0")
    machine = replace(rig.machine, user="table-referee")
    assert told(device_health.check_chip(machine)[1])[2].startswith("sudo usermod -aG gpio table-referee, then ")


@pytest.mark.parametrize(
    ("mode", "user", "groups", "allowed"),
    [
        (0o660, "owner", (), True), (0o060, "owner", ("own",), False), (0o660, "other", ("own",), True),
        (0o660, "other", ("another",), False), (0o606, "other", ("own",), False), (0o666, "other", (), True),
        (0o640, "other", ("own",), False),
    ],
)  # fmt: skip
def test_a_device_is_open_to_its_owner_its_group_or_all(
    tmp_path: Path, mode: int, user: str, groups: tuple[str, ...], allowed: bool
) -> None:
    device = tmp_path / "gpiochip0"
    device.touch()
    device.chmod(mode)
    found = device.stat()
    numbers = {found.st_gid + (name == "another") for name in groups}
    assert is_allowed(device, found.st_uid + (user == "other"), numbers) is allowed
    assert not is_allowed(tmp_path / "spidev0.0", found.st_uid, numbers)


def test_root_looks_as_the_services_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With that user's groups, and those that the unit adds."""
    unit, device = tmp_path / "unit", tmp_path / "gpiochip0"
    device.touch()
    device.chmod(0o660)
    own = device.stat()
    monkeypatch.setattr(probe, "UNIT", str(unit))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "getgrouplist", lambda _name, group: [group])
    monkeypatch.setattr(pwd, "getpwnam", lambda _name: SimpleNamespace(pw_uid=own.st_uid + 1, pw_gid=own.st_gid + 1))
    monkeypatch.setattr(grp, "getgrnam", lambda name: SimpleNamespace(gr_gid=own.st_gid + (name != "gpio")))
    assert probe.this_machine().user == "", "no service is installed"
    for groups, allowed in (("video", False), ("video gpio", True)):
        unit.write_text(f"[Service]\nSupplementaryGroups={groups}\n")
        machine = probe.this_machine()
        assert (machine.user, machine.may_open(str(device))) == ("table-referee", allowed)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert probe.this_machine().user == ""


def test_a_chip_that_nothing_can_read(rig: Rig) -> None:
    rig.chip("gpiochip0", "pinctrl-bcm2711")
    del rig.modules["gpiod"]
    assert told(device_health.check_chip(rig.machine)[1])[0] == "broken"


@pytest.mark.parametrize(
    ("held", "state", "words", "mend"),
    [
        ({}, "fine", "7 lines", ""),
        ({4: "table referee pads", 19: "table referee gpiozero"}, "fine", "2 held by the referee", ""),
        ({5: "w1_gpio"}, "broken", "pin 5 (the pad of seat 2) is held by w1_gpio", "stop that program"),
        ({14: "serial0"}, "broken", "the table's light", "do_serial_cons"),
        ({17: "somebody"}, "fine", "7 lines", ""),
    ],
)
def test_who_holds_our_lines(rig: Rig, held: dict[int, str], state: str, words: str, mend: str) -> None:
    """A line that no part of this table uses may be held by any program."""
    rig.chip("gpiochip0", "pinctrl-bcm2711", held)
    finding = device_health.check_lines(rig.machine, "/dev/gpiochip0", used_pins(settings()))
    assert (finding.state, words in finding.words, mend in finding.mend) == (state, True, True)


MUX = """Pinmux settings per pin
Format: pin (name): mux_owner gpio_owner (strict) hog?
pin 4 (gpio4): (MUX UNCLAIMED) pinctrl-bcm2711:516
pin 14 (gpio14): fe215040.serial (GPIO UNCLAIMED) function alt5 group gpio14
pin 19 (gpio19): (MUX UNCLAIMED) (GPIO UNCLAIMED)
pin 46 (gpio46): fe202000.mmc (GPIO UNCLAIMED) function alt0 group gpio46
"""


@pytest.mark.parametrize(
    ("files", "pins", "owner"),
    [
        ({}, set(), ""),
        ({"/sys/kernel/debug/pinctrl/fe200000.gpio-pinctrl-bcm2711/pinmux-pins": MUX}, {14}, "fe215040.serial"),
        ({"/proc/cmdline": "console=tty0 console=serial0,115200 root=/dev/sda2"}, {14, 15}, "the serial console"),
        ({"/proc/cmdline": "console=tty0 console=ttyAMA10,115200"}, set(), ""),
        ({"/proc/device-tree/soc/i2s@7e203000/status": "okay\0"}, {18, 19, 20, 21}, "I2S"),
        ({"/proc/device-tree/soc/i2s@7e203000/status": "disabled\0"}, set(), ""),
        (
            {"/proc/device-tree/aliases/spi0": "/soc/spi@7e204000\0",
             "/proc/device-tree/soc/spi@7e204000/status": "okay\0"},
            {7, 8, 9, 10, 11}, "SPI",
        ),
        (
            {"/proc/device-tree/aliases/spi0": "/soc/spi@7e204000\0",
             "/proc/device-tree/soc/spi@7e204000/status": "disabled\0"},
            set(), "",
        ),
    ],
)  # fmt: skip
def test_pins_of_other_functions_are_named_though_the_driver_calls_them_free(
    rig: Rig, files: dict[str, str], pins: set[int], owner: str
) -> None:
    rig.chip("gpiochip0", "pinctrl-bcm2711")
    for place, text in files.items():
        rig.file(place, text)
    assert pin_owners(rig.root) == dict.fromkeys(pins, owner)
    finding = device_health.check_lines(rig.machine, "/dev/gpiochip0", dict.fromkeys(range(4, 28), "a light"))
    assert finding.state == ("broken" if pins else "fine")
    for pin in pins:
        assert f"pin {pin} (a light) is held by {owner}" in finding.words
    assert finding.mend or not pins


def cells(*numbers: int) -> bytes:
    """Return numbers as the device tree holds them."""
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def tree(rig: Rig, node: str, **properties: bytes) -> None:
    """Add a node of the device tree; underscores in names stand for hyphens."""
    folder = rig.root / "proc/device-tree" / node
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in properties.items():
        (folder / name.replace("_", "-")).write_bytes(value)


def test_the_device_tree_names_the_very_pins_of_a_pi_4(rig: Rig) -> None:
    """As Raspberry Pi's own tree has them: its firmware gives pins to the serial port where `enable_uart` is set."""
    tree(rig, "soc/gpio@7e200000", compatible=b"brcm,bcm2711-gpio\0", phandle=cells(7))
    for handle, name, pins in ((8, "uart1_pins", ()), (9, "spi0_pins", (9, 10, 11)), (10, "spi0_cs_pins", (8, 7)),
                               (11, "i2s", (18, 19, 20, 21)), (12, "audio_pins", (40, 41))):  # fmt: skip
        tree(rig, f"soc/gpio@7e200000/{name}", phandle=cells(handle))
        (rig.root / "proc/device-tree/soc/gpio@7e200000" / name / "brcm,pins").write_bytes(cells(*pins))
    tree(rig, "soc/serial@7e215040", status=b"okay\0", pinctrl_0=cells(8))
    tree(rig, "soc/spi@7e204000", status=b"okay\0", pinctrl_0=cells(9, 10))
    tree(rig, "soc/i2s@7e203000", status=b"disabled\0", pinctrl_0=cells(11))
    tree(rig, "soc/audio", status=b"okay\0", pinctrl_0=cells(12))
    assert pin_owners(rig.root) == dict.fromkeys((7, 8, 9, 10, 11), "SPI")
    group = rig.root / "proc/device-tree/soc/gpio@7e200000/uart1_pins/brcm,pins"
    group.write_bytes(cells(14, 15))
    tree(rig, "soc/i2s@7e203000", status=b"okay\0")
    assert pin_owners(rig.root) == {
        **dict.fromkeys((7, 8, 9, 10, 11), "SPI"), **dict.fromkeys((14, 15), "a serial port (UART)"),
        **dict.fromkeys((18, 19, 20, 21), "I2S"),
    }  # fmt: skip


def test_the_device_tree_of_a_pi_5_has_pins_by_name_and_other_controllers(rig: Rig) -> None:
    tree(rig, "axi/pcie@1/rp1/gpio@d0000", compatible=b"raspberrypi,rp1-gpio\0", phandle=cells(3))
    tree(rig, "axi/pcie@1/rp1/gpio@d0000/rp1_uart0_14_15", phandle=cells(4))
    tree(rig, "axi/pcie@1/rp1/gpio@d0000/rp1_uart0_14_15/pin_txd", pins=b"gpio14\0", function=b"uart0\0")
    tree(rig, "axi/pcie@1/rp1/gpio@d0000/rp1_uart0_14_15/pin_rxd", pins=b"gpio15\0", function=b"uart0\0")
    tree(rig, "soc/gpio@7d510700", compatible=b"brcm,brcmstb-gpio\0")
    tree(rig, "soc/gpio@7d510700/sd_pins", phandle=cells(5), pins=b"gpio5\0gpio6\0")
    tree(rig, "axi/pcie@1/rp1/serial@30000", status=b"okay\0", pinctrl_0=cells(4))
    tree(rig, "soc/mmc@fff000", status=b"okay\0", pinctrl_0=cells(5))
    assert pin_owners(rig.root) == dict.fromkeys((14, 15), "a serial port (UART)")


def test_a_sound_card_on_the_header_owns_its_pins_by_name(rig: Rig) -> None:
    rig.file("/proc/asound/cards", " 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0\n                      vc4-hdmi-0\n")
    assert pin_owners(rig.root) == {}
    rig.file(
        "/proc/asound/cards",
        " 1 [sndrpihifiberry]: RPi-simple - snd_rpi_hifiberry_dac\n                      snd_rpi_hifiberry_dac\n",
    )
    owner = "the sound card RPi-simple - snd_rpi_hifiberry_dac"
    assert pin_owners(rig.root) == dict.fromkeys((18, 19, 20, 21), owner)


def test_a_table_on_owned_pins_is_told_the_owner_and_a_free_pin(rig: Rig) -> None:
    """No other machine than a Raspberry Pi has these pins, whatever its kernel's command line says."""
    rig.file("/proc/cmdline", "console=serial0,115200")
    rig.file("/proc/device-tree/model", "Another Board\0")
    players = "".join(f'[[seat]]\nname = "S{pad}"\npad = {pad}\n' for pad in (14, 16))
    wanted = parse_settings(f"{players}[lights]\nenabled = false\n")
    assert owned_here(rig.root) == {}
    rig.file("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
    assert refuse_pins(owned_here(rig.root), wanted) == {
        14: "pin 14 (the pad of seat 1) is not free (the serial console) and is not taken; pin 4 is: move the wire "
        "there, then referee setup --step pins"
    }
    crowded = dict.fromkeys(range(2, 28), "another")
    assert refuse_pins(crowded, wanted)[16].endswith("switch that off, or do without this part")


def test_spi_is_looked_at_where_force_is_wanted(rig: Rig) -> None:
    wanted = settings("[pads]\nforce = true\n")
    assert "SPI (force)" not in [finding.part for finding in device_health.check_header(rig.machine, settings())]
    assert "SPI (force)" in [finding.part for finding in device_health.check_header(rig.machine, wanted)]

    def spi() -> tuple[str, str, str]:
        return told(next(f for f in device_health.check_header(rig.machine, wanted) if f.part == "SPI (force)"))

    assert spi()[0] == "missing"
    rig.file("/dev/spidev0.0")
    assert spi()[0] == "fine"
    rig.locked.add("spidev0.0")
    assert spi()[0] == "broken"


def test_a_strip_of_lights(rig: Rig) -> None:
    wanted = settings('[lights]\nstrip = "/dev/leds0"\n')

    def strip() -> Check:
        return next(f for f in device_health.check_header(rig.machine, wanted) if f.part == "strip of lights")

    assert told(strip())[0] == "missing"
    rig.file("/dev/leds0")
    assert told(strip())[0] == "fine"
    rig.locked.add("leds0")
    assert told(strip())[0] == "broken"


@pytest.mark.parametrize(
    ("made", "state"),
    [
        (SimpleNamespace(), "fine"),
        (ModuleNotFoundError("no", name="gpiod"), "missing"),
        (OSError("libgpiod"), "broken"),
    ],
)
def test_a_library_of_the_header(rig: Rig, made: Any, state: str) -> None:
    rig.modules["gpiod"] = made
    (finding,) = [f for f in device_health.check_header(rig.machine, None) if f.part.startswith("gpiod")]
    assert told(finding)[0] == state


# The camera


def picamera2(*models: str, bus: str = "/base/soc/i2c0mux") -> SimpleNamespace:
    """Provide the library, with these cameras."""
    info = [{"Model": model, "Id": bus} for model in models]
    return SimpleNamespace(Picamera2=SimpleNamespace(global_camera_info=lambda: info))


def seen(rig: Rig, wanted: Settings | None = None) -> dict[str, Check]:
    """Return both findings by their parts."""
    return {finding.part.split()[0]: finding for finding in device_health.check_camera(rig.machine, wanted)}


def test_no_camera_at_all(rig: Rig) -> None:
    assert {part: told(finding)[0] for part, finding in seen(rig).items()} == {
        "picamera2": "missing", "camera": "missing",
    }  # fmt: skip


def test_a_table_with_a_webcam_needs_no_library_of_the_pis_camera(rig: Rig) -> None:
    rig.webcam(0, "HD Webcam")
    found = seen(rig, settings('[camera]\nsource = "usb:0"\n'))
    assert {part: finding.state for part, finding in found.items()} == {"camera": "fine"}


def test_the_pis_own_camera(rig: Rig) -> None:
    rig.modules["picamera2"] = picamera2("imx708")
    found = seen(rig, settings())
    assert (found["picamera2"].state, found["camera"].state) == ("fine", "fine")
    assert "imx708" in found["camera"].words


@pytest.mark.parametrize(
    "bad",
    [
        ImportError("libcamera.so.0.3: cannot open shared object file"),
        ImportError("/usr/lib/_libcamera.so: undefined symbol: _ZN9libcamera6Camera"),
        ModuleNotFoundError("No module named 'libcamera'", name="libcamera"),
        OSError("libcamera-base.so.0.3: wrong ELF class"),
        SystemError("initialization of _libcamera raised unreported exception"),
        RuntimeError("another release's"),
        KeyError(),
    ],
)
def test_picamera2_and_libcamera_of_two_releases(rig: Rig, bad: Exception) -> None:
    rig.modules["picamera2"] = bad
    state, words, mend = told(seen(rig)["picamera2"])
    assert (state, "of one release" in mend) == ("broken", True)
    assert words


def test_a_picamera2_for_another_numpy(rig: Rig) -> None:
    rig.modules["picamera2"] = ValueError("numpy.dtype size changed, may indicate binary incompatibility")
    state, _, mend = told(seen(rig)["picamera2"])
    assert (state, "numpy<2" in mend) == ("broken", True)


def test_a_usb_camera_is_the_first_of_its_devices_and_no_codec(rig: Rig) -> None:
    rig.webcam(10, "bcm2835-codec-decode")
    rig.webcam(20, "pispbe-input")
    rig.webcam(2, "HD Webcam")
    rig.webcam(3, "HD Webcam", index=1)
    assert cameras(rig.root, own=list) == [CameraFound("usb:2", "HD Webcam")]
    assert cameras(rig.root, own=lambda: ["imx708"])[0].source == "picamera"
    assert seen(rig, settings('[camera]\nsource = "usb:2"\n'))["camera"].state == "fine"


def test_the_settings_name_a_camera_that_is_not_here(rig: Rig) -> None:
    rig.webcam(2, "HD Webcam")
    for source in ("picamera", "usb:0"):
        finding = seen(rig, settings(f'[camera]\nsource = "{source}"\n'))["camera"]
        assert told(finding) == ("missing", f"the settings name {source}; here is usb:2 (HD Webcam)",
                                 "referee setup --step camera")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "program", "state"),
    [
        ("motion", "/usr/bin/motion", "broken"),
        ("referee", "/bin/sh", "fine"),
        ("python3", f"{sys.prefix}/bin/python3", "fine"),
        ("wireplumber", "/usr/bin/wireplumber", "fine"),
    ],
)
def test_who_holds_the_camera(rig: Rig, name: str, program: str, state: str) -> None:
    rig.webcam(0, "HD Webcam")
    rig.file("/dev/media0")
    rig.modules["picamera2"] = picamera2("imx708")
    for device, source in (("/dev/video0", "usb:0"), ("/dev/media0", "picamera")):
        rig.holds(4321 + len(source), name, device, program)
        finding = seen(rig, settings(f'[camera]\nsource = "{source}"\n'))["camera"]
        assert finding.state == state
        assert ("kill 43" in finding.mend) == (state == "broken")


def test_a_camera_that_may_not_be_opened(rig: Rig) -> None:
    rig.webcam(0, "HD Webcam")
    rig.locked.add("video0")
    assert told(seen(rig, settings('[camera]\nsource = "usb:0"\n'))["camera"])[2].startswith("sudo usermod -aG video")


# Sound


class NoCardError(Exception):
    """The error of PortAudio."""


def card(*names: str) -> SimpleNamespace:
    """Provide PortAudio with these cards."""

    def query(device: str | None, kind: str) -> dict[str, str]:
        fitting = [name for name in names if device is None or device in name]
        if not fitting:
            raise NoCardError(f"no {kind} device")
        return {"name": fitting[0]}

    return SimpleNamespace(query_devices=query, PortAudioError=NoCardError)


@pytest.mark.parametrize(
    ("made", "device", "state", "mend"),
    [
        (card("USB Audio"), "", "fine", ""),
        (card("USB Audio"), "USB", "fine", ""),
        (card("HDMI"), "USB", "missing", "voice.device"),
        (card(), "", "missing", "plug one in"),
        (OSError("PortAudio library not found"), "", "missing", "libportaudio2"),
        (ModuleNotFoundError("no", name="sounddevice"), "", "missing", "make install"),
    ],
)
def test_the_sound_card(rig: Rig, made: Any, device: str, state: str, mend: str) -> None:
    rig.modules["sounddevice"] = made
    finding = device_health.check_portaudio(rig.machine, device)
    assert (finding.state, mend in finding.mend) == (state, True)


@pytest.mark.parametrize(
    ("text", "state"),
    [(None, "missing"), ("--- no soundcards ---\n", "missing"), (" 0 [Device ]: USB-Audio - USB Audio\n", "fine")],
)
def test_the_kernels_sound(rig: Rig, text: str | None, state: str) -> None:
    if text is not None:
        rig.file("/proc/asound/cards", text)
    assert told(device_health.check_alsa(rig.machine))[0] == state


@pytest.mark.parametrize(
    ("here", "language", "state"),
    [
        ({"flite"}, "en", "fine"),
        ({"flite"}, "de", "missing"),
        ({"flite", "espeak-ng"}, "fr", "fine"),
        (set(), "en", "missing"),
    ],
)
def test_voices_by_language(rig: Rig, here: set[str], language: str, state: str) -> None:
    voice = settings(f'[voice]\nlanguage = "{language}"\n').voice
    finding = device_health.check_voices(rig.machine, voice, lambda name: name if name in here else None)
    assert told(finding)[0] == state


def test_a_voice_of_pipers(rig: Rig) -> None:
    voice = settings('[voice]\npiper = "/srv/anna.onnx"\n').voice
    assert told(device_health.check_voices(rig.machine, voice, lambda _: None))[0] == "missing"
    rig.file("/srv/anna.onnx")
    assert "anna.onnx.json" in device_health.check_voices(rig.machine, voice, lambda _: None).words
    rig.file("/srv/anna.onnx.json")
    assert told(device_health.check_voices(rig.machine, voice, lambda _: None))[0] == "fine"


# Settings and the machine


def test_settings_that_are_missing_wrong_and_right(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    assert told(health.check_table(path)[1][0])[0] == "missing"
    path.write_text("[camera]\nwidht = 3\n" + SEATS)
    known, (finding,) = health.check_table(path)
    assert (known, told(finding)[0]) == (None, "broken")
    assert "widht" in finding.words
    path.write_text(SEATS)
    known, (finding, *measured) = health.check_table(path)
    assert known is not None
    assert told(finding)[0] == "fine"
    assert [check.part for check in measured] == ["calibration", "frame rate", "pads measured", "certificate"]


CALIBRATED = """[calibration]
source = "sheet"
width = 1536
height = 864
homography = [[1.0, 0.0, 700.0], [0.0, 1.0, 400.0], [0.0, 0.0, 1.0]]
area = [[-200.0, -150.0], [200.0, -150.0], [200.0, 150.0], [-200.0, 150.0]]
card_height_px = 140.0
"""


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", "missing"),
        (CALIBRATED, "fine"),
        ("[camera]\nwidth = 2304\nheight = 1296\n" + CALIBRATED, "broken"),
        ('[camera]\nsource = "usb:0"\nwidth = 1280\nheight = 720\n' + CALIBRATED, "fine"),
    ],
)
def test_the_calibration(text: str, state: str) -> None:
    finding = health.check_calibration(settings(text), Path("t.toml"))
    assert told(finding)[0] == state
    assert state == "fine" or finding.mend == "referee calibrate --settings t.toml"


def test_a_camera_without_colours_is_told_by_the_picture_of_its_set_up(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    assert not [*health.check_colours(path)]
    picture = np.repeat(np.linspace(20, 230, 64, dtype=np.uint8)[None, :, None], 48, axis=0)
    cv2.imwrite(str(tmp_path / "t.picture.jpg"), np.repeat(picture, 3, axis=2))
    (finding,) = health.check_colours(path)
    state, words, mend = told(finding)
    assert (state, finding.needed) == ("broken", False)
    assert "without colour" in words
    assert mend.endswith(f"referee setup --settings {path} --step camera")
    cv2.imwrite(str(tmp_path / "t.picture.jpg"), picture * np.array([1, 0, 1], np.uint8))
    assert not [*health.check_colours(path)]


@pytest.mark.parametrize(
    ("text", "state", "words", "mend"),
    [
        ("", "missing", "not known", "referee calibrate --settings t.toml"),
        (CALIBRATED, "fine", "no lamp's flicker was seen", ""),
        ("[camera]\nfps = 25\nmains_hz = 50\n", "fine", "lamps on 50 Hz stand still", ""),
        ("[camera]\nfps = 7.5\nmains_hz = 50\n", "broken", "between two pictures", "--set camera.fps=25"),
        ("[camera]\nfps = 8\n" + CALIBRATED, "fine", "8 a second", ""),
        ("[camera]\nmains_hz = 60\n", "fine", "30 a second, at which lamps on 60 Hz", ""),
        ("[camera]\nmains_hz = 50\n", "broken", "50 Hz flicker at that", "--settings t.toml --set camera.fps=25"),
        ("[camera]\nfps = 25\nmains_hz = 60\n", "broken", "60 Hz flicker", "--set camera.fps=30"),
        ("[camera]\nmains_hz = 50\nexposure_us = 20000\n", "fine", "exposed for whole swings", ""),
        ('[camera]\nsource = "usb:0"\nmains_hz = 50\nexposure_us = 20000\n', "broken", "50 Hz flicker", "fps=25"),
    ],
)
def test_the_frame_rate_under_the_mains(text: str, state: str, words: str, mend: str) -> None:
    """A USB camera does not report its exposure."""
    (finding,) = health.check_frame_rate(settings(text), Path("t.toml"))
    assert (told(finding)[0], words in finding.words, mend in finding.mend) == (state, True, True)


def test_a_recordings_rate_is_as_it_is() -> None:
    assert not [*health.check_frame_rate(settings('[camera]\nsource = "game.mp4"\nmains_hz = 50\n'), Path("t.toml"))]


MEASURED = "[pads_measured]\nt_error_us = [1500, 2100]\nbounce_us = [0, 9]\ncrosstalk_us = [[0, 1], [2, 0]]\n"


def test_whether_the_pads_were_measured() -> None:
    path = Path("t.toml")
    assert told(health.check_pads_measured(settings(), path))[0] == "missing"
    assert told(health.check_pads_measured(settings(MEASURED), path))[1] == "stamps known to 2.1 ms"


@pytest.mark.parametrize(
    ("room", "state", "words"),
    [
        (disk(8 * GIGABYTE), "fine", "8.0 GB"),
        (disk(50_000_000), "broken", "50 MB"),
        (disk(8 * GIGABYTE, read_only=True), "broken", "only be read"),
    ],
)
def test_the_disk(rig: Rig, room: os.statvfs_result, state: str, words: str) -> None:
    rig.room = room
    finding = health.check_disk(rig.machine, rig.root / "not" / "yet" / "games")
    assert (told(finding)[0], words in finding.words) == (state, True)


def test_the_disk_is_that_of_the_record() -> None:
    assert health.games_folder(settings('[record]\nfile = "/var/lib/x/record.db"\n')) == Path("/var/lib/x")
    assert health.games_folder(settings('[record]\nfile = ""\n[log]\nfolder = "/logs"\n')) == Path("/logs")


def test_a_service_that_is_not_let_through_to_its_broker(rig: Rig) -> None:
    assert told(health.check_broker(rig.machine))[0] == "fine", "in a terminal nothing holds it back"
    rig.file(UNIT, "[Service]\n")
    assert told(health.check_broker(rig.machine))[0] == "broken"
    rig.file(health.BROKER, "[Service]\n")
    assert told(health.check_broker(rig.machine))[0] == "fine"
    on = settings('[mqtt]\nenabled = true\nhost = "broker"\n')
    assert "broker" in [finding.part for finding in health.check_machine(rig.machine, on)]


@pytest.mark.parametrize(
    ("source", "state"), [("arch_sys_counter", "fine"), ("tsc", "fine"), ("jiffies", "broken"), ("", "fine")]
)
def test_the_clock(rig: Rig, source: str, state: str) -> None:
    if source:
        rig.file("/sys/devices/system/clocksource/clocksource0/current_clocksource", f"{source}\n")
    assert told(health.check_clock(rig.machine))[0] == state
    rig.answers["timedatectl"] = "no\n"
    assert ("date is not set" in health.check_clock(rig.machine).words) == (state == "fine")


def unit(**changed: str) -> str:
    """Return the output of `systemctl show` for a service that runs well, with changes."""
    fields = {
        "LoadState": "loaded", "ActiveState": "active", "SubState": "running", "UnitFileState": "enabled",
        "Result": "success", "NRestarts": "0", "StatusText": "Ana, Ben; classic", "WatchdogUSec": "30s",
    } | changed  # fmt: skip
    return "".join(f"{key}={value}\n" for key, value in fields.items())


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        (None, "missing", "systemd does not run"),
        (unit(LoadState="not-found"), "missing", "not installed"),
        (unit(), "fine", "Ana, Ben; classic"),
        (unit(NRestarts="3"), "fine", "anew 3 times"),
        (unit(Result="watchdog", NRestarts="2"), "broken", "watchdog"),
        (unit(ActiveState="failed", Result="exit-code"), "broken", "exit-code"),
        (unit(ActiveState="activating", SubState="auto-restart"), "broken", "does not stay up"),
        (unit(UnitFileState="disabled"), "missing", "does not start with the machine"),
        (unit(ActiveState="inactive"), "missing", "inactive"),
        (unit(WatchdogUSec="0"), "broken", "without its watchdog"),
    ],
)
def test_the_service(rig: Rig, answer: str | None, state: str, words: str) -> None:
    if answer is not None:
        rig.answers["systemctl"] = answer
    finding = health.check_service(rig.machine)
    assert (told(finding)[0], words in finding.words) == (state, True)


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        (None, "missing", "vcgencmd"),
        ("throttled=0x0\n", "fine", "enough"),
        ("throttled=0x50005\n", "broken", "the voltage is too low now, it is throttled now, the voltage was too low"),
        ("throttled=0x80000\n", "broken", "was near its heat limit"),
        ("VCHI initialization failed\n", "broken", "VCHI"),
    ],
)
def test_the_power(rig: Rig, answer: str | None, state: str, words: str) -> None:
    if answer is not None:
        rig.answers["vcgencmd"] = answer
    finding = health.check_power(rig.machine)
    assert (told(finding)[0], words in finding.words) == (state, True)


@pytest.mark.parametrize(
    ("look_ms", "state", "words"),
    [(5.0, "fine", "5 ms a look"), (600.0, "broken", "follows about 0."), (None, None, "")],
)
def test_how_many_cards_a_second_the_eye_follows(
    rig: Rig, look_ms: float | None, state: str | None, words: str
) -> None:
    """With the settings' picture and threads; nothing is reported of an eye that cannot be loaded."""
    rig.look_ms = look_ms
    found = [*health.check_eye(rig.machine, settings("[camera]\nwidth = 640\nheight = 480\n[eye]\nthreads = 3\n"))]
    assert [finding.state for finding in found] == ([state] if state else [])
    for finding in found:
        assert words in finding.words and "640×480 px (threads: 3)" in finding.words
        assert ("lay cards more slowly" in told(finding)[2]) == (state == "broken")


@pytest.mark.parametrize(
    ("name", "alarm", "state", "words"),
    [
        ("rpi_volt", "0", "fine", "enough now"), ("rpi_volt", "1", "broken", "too low now"),
        ("cpu_thermal", "1", "missing", "vcgencmd"),
    ],
)  # fmt: skip
def test_the_kernel_watches_the_voltage_where_vcgencmd_is_not(
    rig: Rig, name: str, alarm: str, state: str, words: str
) -> None:
    rig.file("/sys/class/hwmon/hwmon1/name", f"{name}\n")
    rig.file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", f"{alarm}\n")
    finding = health.check_power(rig.machine)
    assert (told(finding)[0], words in finding.words) == (state, True)


def test_power_and_heat_are_a_pis(rig: Rig) -> None:
    def parts() -> set[str]:
        return {finding.part for finding in health.check_machine(rig.machine, None)}

    assert not parts() & {"power", "heat"}
    rig.file("/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    assert parts() >= {"power", "heat"}


@pytest.mark.parametrize(("text", "state"), [("52000\n", "fine"), ("85000\n", "broken"), ("", "fine")])
def test_the_heat(rig: Rig, text: str, state: str) -> None:
    rig.file("/sys/class/thermal/thermal_zone0/temp", text)
    assert told(health.check_heat(rig.machine))[0] == state


# All together


def test_a_whole_table_is_fine(rig: Rig, tmp_path: Path) -> None:
    """Every part from above, in the state in which a table plays."""
    rig.chip("gpiochip0", "pinctrl-rp1")
    rig.file("/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    rig.file("/proc/asound/cards", " 0 [Device ]: USB-Audio - USB Audio\n")
    rig.modules |= {"picamera2": picamera2("imx708"), "sounddevice": card("USB Audio")}
    rig.answers |= {"systemctl": unit(), "vcgencmd": "throttled=0x0\n"}
    path = tmp_path / "table.toml"
    record = f'[record]\nfile = "{tmp_path / "record.db"}"\n'
    path.write_text(CALIBRATED + MEASURED + record + SEATS)
    mark = settings_mark(load_settings(path))
    certificate = Certificate("2026-03-01T18:40:00+01:00", machine_mark(), program_version(), mark, ())
    save_certificate(tmp_path / FOLDER, certificate, "")
    found = [f for f in examine(rig.machine, path) if f.group != "software" and f.part != "voice"]
    assert [finding for finding in found if finding.state != "fine"] == []
    assert {finding.group for finding in found} == {"table", "pads and lights", "camera", "sound", "machine"}
    assert short_report(found) == (f"{len(found)} parts are fine.", True)


def test_the_report_is_grouped_and_short() -> None:
    found = [
        Check("disk", "fine", "8 GB free", group="machine"),
        Check("clock", "fine", "tsc", group="machine"),
        Check("service", "missing", "not installed", "make install-appliance", group="machine"),
        Check("numpy", "missing", "not installed", "make install", needed=True, group="software"),
    ]
    assert list(report_lines(found)) == [
        "Machine",
        "  fine     disk: 8 GB free, clock: tsc",
        "  missing  service: not installed",
        "           → make install-appliance",
        "Software",
        "  missing  numpy (needed): not installed",
        "           → make install",
    ]


def test_the_report_is_in_the_terminals_language(rig: Rig, tmp_path: Path) -> None:
    found = list(examine(rig.machine, tmp_path / "table.toml"))
    english = list(report_lines(found))
    for language in ("de", "es", "fr"):
        with speaking(language):
            told_here = list(report_lines(found))
        same = [here for here, there in zip(told_here, english, strict=True) if here == there]
        # A remedy that is a command is the same in every language.
        assert [line for line in same if not line.lstrip().startswith("→")] == []


def keyboard(rig: Rig, number: int, name: str) -> None:
    rig.file(f"/dev/input/event{number}")
    rig.file(f"/sys/class/input/event{number}/device/name", f"{name}\n")


def test_keys_as_pads(rig: Rig) -> None:
    """Plugged in and readable, not plugged in, and not readable: each says what to do."""
    wanted = parse_settings(SEATS + 'pad = "key:a@Keys"\n')

    def parts() -> dict[str, Check]:
        return {pad.part: pad for pad in check_plugged_pads(rig.machine, wanted)}

    rig.modules["evdev"] = ModuleNotFoundError("no", name="evdev")
    absent = parts()
    assert absent["evdev (keys as pads)"].state == "missing"
    assert "Keys is not plugged in" in absent["pad of seat 2"].words
    rig.modules["evdev"] = SimpleNamespace()
    keyboard(rig, 3, "Other")
    keyboard(rig, 4, "Keys")
    rig.locked.add("event4")
    assert told(parts()["pad of seat 2"]) == (
        "broken", "key:a@Keys: not allowed to read /dev/input/event4",
        "sudo usermod -aG input $USER, then log in again",
    )  # fmt: skip
    rig.locked.clear()
    assert {part.state for part in parts().values()} == {"fine"}


def test_a_table_with_nothing_wired_needs_no_header(rig: Rig) -> None:
    keys = '[[seat]]\nname = "A"\npad = "key:a"\n[[seat]]\nname = "B"\npad = "key:s"\n[lights]\nenabled = false\n'
    assert not list(device_health.check_header(rig.machine, parse_settings(keys)))
    assert list(device_health.check_header(rig.machine, settings()))


def test_a_board_as_pads(rig: Rig) -> None:
    wanted = parse_settings(SEATS + 'pad = "serial:2@/dev/ttyACM0"\n')
    rig.modules["serial"] = SimpleNamespace()

    def pad() -> tuple[str, str, str]:
        (found,) = [finding for finding in check_plugged_pads(rig.machine, wanted) if finding.part == "pad of seat 2"]
        return told(found)

    assert pad()[:2] == ("missing", "serial:2@/dev/ttyACM0: there is no /dev/ttyACM0")
    rig.file("/dev/ttyACM0")
    rig.locked.add("ttyACM0")
    assert (pad()[0], "dialout" in pad()[2]) == ("broken", True)
    rig.locked.clear()
    assert pad()[0] == "fine"
