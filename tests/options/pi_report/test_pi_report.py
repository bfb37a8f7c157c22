"""The report of a machine: whole on any machine, without its secrets; frames, eye and a loop of wire by stand-ins."""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hardware.camera.pi_camera import PiCamera, PiCameraSettings
from hardware.clock import monotonic
from hardware.lights import leds
from hardware.pads import gpiod_lines
from hardware.pin_factory import Dimmer, GpiodFactory
from hardware.ports import Camera, HardwareMissing
from hardware.simulated.devices.camera_faults import Faults
from hardware.simulated.devices.simulated_picamera import CameraRoom, SimulatedPicamera2
from referee.cli import main
from referee.options.pi_report import measurements
from referee.options.pi_report.report import PARTS, Part, look_at, write_report
from referee.options.pi_report.scrub import Scrubber, find_secrets
from referee.options.pi_report.subject import Subject
from referee.record.people import People
from referee.record.store import Record
from referee.settings.model import CameraSettings, load_settings, parse_settings
from referee.setup.eye_speed import EyeSpeed
from referee.text.terminal_language import speaking
from tests.support.fake_header import FakeHeader, FakeRequest
from tests.support.machines import GIGABYTE, Rig, disk
from tests.support.patience import PATIENCE
from tests.support.pi_room import Hours

MODEL = "Raspberry Pi 5 Model B Rev 1.0"


def eyes(size: tuple[int, int], fps: float, threads: Sequence[int]) -> list[EyeSpeed]:
    """Return an eye that each thread makes quicker."""
    return [EyeSpeed(size, fps, count, 60.0 / count, 2.0) for count in threads]


def no_camera(_settings: CameraSettings) -> Camera:
    raise HardwareMissing("no camera answers on the ribbon cable")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "root")


@pytest.fixture
def subject(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """A machine on which nothing is, with a few writes to its disk."""
    monkeypatch.setattr(measurements, "_WRITES", 3)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Subject(rig.machine, tmp_path / "table.toml", open_camera=no_camera, measure_eye=eyes)


def report_of(subject: Subject, folder: Path, environment: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """Return the files of the report's zip."""
    out = folder / "pi-report.zip"
    write_report(out, subject, environment or {})
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def parts_of(files: Mapping[str, bytes]) -> dict[str, Any]:
    told = json.loads(files["report.json"])
    assert (told["report"], told["version"]) == ("table-referee pi-report", 1)
    return dict(told["parts"])


def test_on_a_machine_without_anything_each_part_has_its_reason(
    subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = report_of(subject, tmp_path)
    assert set(files) == {"report.json", "report.md"}
    parts = parts_of(files)
    assert list(parts) == [part.name for part in PARTS]
    absent = {name: part["absent"] for name, part in parts.items() if "absent" in part}
    assert absent == {
        "chips": "no /dev/gpiochip*", "sensor": "the module picamera2 is not installed", "frames": "no camera answers",
        "sound": "no sound card", "loop": "not asked for: --loop OUTPUT PAD",
    }  # fmt: skip
    assert all(part["about"] and part["seconds"] >= 0 for part in parts.values())
    assert [line["threads"] for line in parts["eye"]["found"]["threads"]] == [1, 2, 3, 4]
    assert parts["disk"]["found"]["synced_write_ms"]["count"] == 3
    assert capsys.readouterr().out.count(f"of {len(PARTS)}: ") == len(PARTS)
    text = files["report.md"].decode()
    assert all(f"## {name}" in text for name in parts)
    assert "Not here: no sound card" in text


@pytest.mark.parametrize(
    "fault", [RuntimeError("of another release"), KeyError("Model"), HardwareMissing("no {words}")]
)
def test_no_part_ends_the_report(subject: Subject, fault: Exception) -> None:
    def fail(_subject: Subject) -> None:
        raise fault

    found = look_at(Part("sensor", "the camera", fail), subject)
    assert str(fault.args[0]) in found["absent"]


def test_a_part_that_hangs_is_left_behind(subject: Subject) -> None:
    hang = threading.Event()
    try:
        found = look_at(Part("sensor", "the camera", lambda _subject: hang.wait(), limit=0.01), subject)
    finally:
        hang.set()
    assert found["absent"] == "no answer within 0.01 s"


def test_the_report_is_english_whatever_the_terminal_speaks(subject: Subject) -> None:
    subject.path.write_text('[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
    with speaking("de"):
        words = {check["part"]: check["words"] for check in measurements.ask_doctor(subject)}
    assert words["certificate"].startswith("Not certified")


# A Raspberry Pi


class Sound(SimpleNamespace):
    """PortAudio with two cards, of which the second is the system's choice."""

    PortAudioError = OSError
    cards = ("vc4-hdmi-0: MAI PCM (hw:0,0)", "USB Audio Device: - (hw:1,0)")

    def query_devices(self, device: object = None, kind: str = "") -> Any:
        all_of_them = [{"name": name, "max_output_channels": 2, "default_samplerate": 48000.0} for name in self.cards]
        return all_of_them[1] if kind else all_of_them


def test_a_raspberry_pi_is_described(rig: Rig, subject: Subject, tmp_path: Path) -> None:
    rig.file("/proc/device-tree/model", f"{MODEL}\0")
    rig.file("/proc/cpuinfo", "processor : 0\nRevision\t: d04170\nSerial\t\t: 10000000c0ffee42\n")
    rig.file(
        "/proc/cmdline", "reboot=w smsc95xx.macaddr=2C:CF:67:01:02:03 console=ttyAMA0,115200 root=PARTUUID=1-2 cma=512M"
    )
    rig.file(
        "/boot/firmware/config.txt", "# mine\ndtparam=audio=on\n[all]\ndtoverlay=hifiberry-dac\nhdmi_edid_file=1\n"
    )
    rig.chip("gpiochip0", "pinctrl-rp1", {4: "w1"})
    rig.file(
        "/proc/asound/cards", " 0 [vc4hdmi0 ]: vc4-hdmi - vc4-hdmi-0\n 1 [Device ]: USB-Audio - USB Audio Device\n"
    )
    rig.modules["sounddevice"] = Sound()
    rig.answers |= {"vcgencmd": "throttled=0x50005\n", "pinctrl": "14: a4 pn | hi // GPIO14 = TXD0\n"}
    rig.file("/sys/class/hwmon/hwmon1/name", "rpi_volt")
    rig.file("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1")
    parts = {name: part.get("found") for name, part in parts_of(report_of(subject, tmp_path)).items()}
    assert parts["board"]["model"] == MODEL
    assert parts["board"]["revision"] == "d04170"
    assert parts["board"]["kernel_words"] == ["console=ttyAMA0,115200", "cma=512M"], "no address of the board"
    assert parts["board"]["boot_settings"] == ["dtparam=audio=on", "[all]", "dtoverlay=hifiberry-dac"]
    assert parts["pins"]["owned"] == [
        {"pin": 14, "owner": "the serial console"},
        {"pin": 15, "owner": "the serial console"},
    ]
    assert parts["pins"]["multiplexer"] == ["14: a4 pn | hi // GPIO14 = TXD0"]
    assert {"pin": 4, "name": "", "used": True, "holder": "w1"} in parts["pins"]["lines"]
    assert parts["chips"]["chips"] == [{"chip": "/dev/gpiochip0", "label": "pinctrl-rp1", "lines": None}]
    assert parts["sound"]["chosen"] == "USB Audio Device: - (hw:1,0)"
    assert [card["kind"] for card in parts["sound"]["players"]] == ["usb", "hdmi"]
    assert parts["power"]["throttled"] == "throttled=0x50005"
    assert "the voltage is too low now" in parts["power"]["power"]
    assert parts["power"]["sensors"] == [{"sensor": "rpi_volt", "what": "in0_lcrit_alarm", "value": "1"}]
    assert {check["part"]: check["state"] for check in parts["doctor"]}["power"] == "broken"


def test_the_sensor_is_listed_as_picamera2_has_it(rig: Rig, subject: Subject, tmp_path: Path) -> None:
    class Driver:
        closed = 0

        def __init__(self) -> None:
            self.sensor_modes = [{"format": object, "size": (2304, 1296), "fps": 56.03}]
            self.camera_controls = {"ExposureTime": (26, 112015443, 20000), "AwbEnable": (False, True, None)}
            self.camera_properties = {"Model": "imx708", "Rotation": 180}

        @staticmethod
        def global_camera_info() -> list[dict[str, Any]]:
            return [{"Model": "imx708", "Id": "/base/axi/i2c@88000/imx708@1a", "Num": 0}]

        def close(self) -> None:
            Driver.closed += 1

    rig.modules["picamera2"] = SimpleNamespace(Picamera2=Driver)
    found = parts_of(report_of(subject, tmp_path))["sensor"]["found"]
    assert found["modes"][0]["size"] == [2304, 1296]
    assert {"name": "ExposureTime", "least": 26, "most": 112015443, "usual": 20000} in found["controls"]
    assert found["cameras"][0]["model"] == "imx708"
    assert Driver.closed == 1


def with_camera(subject: Subject, faults: str = "", boot_ahead: int = 0) -> Subject:
    """Return the subject with the Pi's camera in a simulated room, whose clock advances by itself."""
    hours = Hours(boot_ahead)

    def open_camera(settings: CameraSettings) -> Camera:
        driver = SimulatedPicamera2(
            Faults(faults), room=CameraRoom(), clock=hours.mono, boot=hours.boot, pause=hours.pause
        )
        look = PiCameraSettings(size=(320, 240), fps=settings.fps)
        return PiCamera(look, driver=driver, mono=hours.mono, boot=hours.boot)

    table = '[camera]\nfps = 25\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    return replace(subject, settings=parse_settings(table), open_camera=open_camera, clock=hours.mono)


def test_ten_seconds_of_frames_are_measured_by_their_stamps(subject: Subject) -> None:
    found = measurements.measure_frames(with_camera(subject, boot_ahead=7_000_000_000))
    assert 245 <= found["frames"] <= 252
    assert found["interval_ms"]["median"] == pytest.approx(40, abs=0.5)
    assert found["gaps"] == 0
    assert sum(row["frames"] for row in found["histogram"]) == found["frames"] - 1
    assert found["report"]["clock"] in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC")
    assert found["report"]["boot_ahead"] == pytest.approx(7_000_000_000, abs=1000)
    assert {lock["control"] for lock in found["report"]["locks"]} >= {"ExposureTime", "AnalogueGain"}


@pytest.mark.parametrize("pictures", [False, True])
def test_a_picture_is_in_the_report_only_where_it_was_asked_for(
    subject: Subject, tmp_path: Path, pictures: bool
) -> None:
    files = report_of(replace(with_camera(subject), pictures=pictures), tmp_path)
    assert ("picture.jpg" in files) == pictures


# The loop


class WiredHeader(FakeHeader):
    """A header whose output 19 is wired to a pin, under the machine's own clock."""

    def __init__(self, wired_to: int | None) -> None:
        super().__init__()
        self._wired_to = wired_to

    @property
    def now(self) -> int:
        return monotonic()

    @now.setter
    def now(self, _t: int) -> None: ...

    def request_lines(self, path: str, **how: Any) -> FakeRequest:  # type: ignore[override]
        request, set_value = super().request_lines(path, **how), FakeRequest.set_value

        def set_and_drive(pin: int, value: Any) -> None:
            set_value(request, pin, value)
            if pin == 19 and self._wired_to is not None:
                self.drive(self._wired_to, bool(value.value))

        request.set_value = set_and_drive  # type: ignore[method-assign]
        return request


@pytest.fixture
def looped(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> Subject:
    monkeypatch.setattr(measurements, "TOGGLES", 6)
    monkeypatch.setattr(measurements, "_HEARD", PATIENCE)
    return replace(subject, loop=(19, 4), pause=lambda _seconds: None)


def wire(monkeypatch: pytest.MonkeyPatch, wired_to: int | None) -> GpiodFactory:
    header = WiredHeader(wired_to)
    factory = GpiodFactory(Path("/dev/gpiochip0"), request_lines=header.request_lines, dimmer=Dimmer(own_thread=False))
    for module in (gpiod_lines, leds):
        monkeypatch.setattr(module, "open_factory", lambda: factory)
    return factory


def test_a_loop_of_wire_measures_handler_and_light(looped: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(wire(monkeypatch, 4)):
        found = measurements.measure_loop(looped)
    assert (found["switched"], found["not_heard"], found["lost"]) == (6, 0, 0)
    for name in ("write_to_stamp_ms", "stamp_to_handler_ms", "stamp_to_light_ms"):
        assert found[name]["count"] == 6
        assert found[name]["least"] >= 0
    assert found["stamp_to_handler_ms"]["median"] <= found["stamp_to_light_ms"]["median"]


def test_a_wire_that_is_missing_is_told(looped: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "_HEARD", 0.01)
    with closing(wire(monkeypatch, None)):
        assert "no edge came" in look_at(Part("loop", "", measurements.measure_loop), looped)["absent"]


def test_a_loop_takes_no_pin_that_another_function_owns(rig: Rig, looped: Subject) -> None:
    rig.file("/proc/device-tree/model", MODEL)
    rig.file("/proc/device-tree/soc/i2s@7e203000/status", "okay\0")
    found = look_at(Part("loop", "", measurements.measure_loop), looped)
    assert "pin 19 is not free (I2S); free are 4 5" in found["absent"]


def test_a_loop_without_a_header_has_its_reason(looped: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_here() -> Any:
        raise HardwareMissing("no GPIO chip here")

    monkeypatch.setattr(leds, "open_factory", none_here)
    assert look_at(Part("loop", "", measurements.measure_loop), looped)["absent"] == "no GPIO chip here"


def test_the_command_refuses_a_loop_on_one_pin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pi-report", "--loop", "4", "4"]) == 2
    assert "--loop needs two pins" in capsys.readouterr().err


# Secrets

NAMES = ("Wilhelmine", "Jürgen", "Oskarsson", "Ludmilla")
SECRETS = (
    *NAMES, "kellerkneipe", "wbraun", "Braunschweiger", "FritzNetz-4711", "GastNetz", "2c:cf:67:01:02:03",
    "2C:CF:67:01:02:03", "2c-cf-67-0a-0b-0c", "2ccf67010203", "192.168.178.31", "fe80::2ecf:67ff:fe01:203",
    "2001:db8::17", "10000000c0ffee42", "c0ffee42", "A1B2C3D4E5F6", "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "broker-im-keller", "E660583883724B31", "mqtt-wbraun", "vereinsheim", "stammtisch",
    "braunhaus",
)  # fmt: skip
WELL_KNOWN = "4.11.0.86"
"""A version of a package, which is no address."""


def test_no_secret_of_a_machine_full_of_them_leaves_it(rig: Rig, subject: Subject, tmp_path: Path) -> None:
    home = rig.root / "srv" / "wbraun"
    folder = home / "vereinsheim Wilhelmine"
    folder.mkdir(parents=True)
    path = folder / "stammtisch.toml"
    path.write_text(
        f'''rules = "classic"
[camera]
source = "usb:/dev/v4l/by-id/usb-046d_C525_A1B2C3D4E5F6-video-index0"
[record]
file = "{folder}/record.db"
[voice]
device = "Wilhelmines Box"
[mqtt]
enabled = true
host = "broker-im-keller"
user = "mqtt-wbraun"
[[seat]]
name = "Wilhelmine"
pad = "serial:1@/dev/serial/by-id/usb-Board_E660583883724B31-if00"
[[seat]]
name = "Jürgen Oskarsson"
pad = 16
''',
        encoding="utf-8",
    )
    Record(folder / "record.db").close()
    with closing(People(folder / "record.db")) as people:
        people.answer("Ludmilla", True, "2026-11-01T18:00:00+01:00")
    rig.file("/proc/device-tree/model", f"{MODEL}\0")
    rig.file("/proc/device-tree/serial-number", "10000000c0ffee42\0")
    rig.file("/proc/cpuinfo", "Revision\t: d04170\nSerial\t\t: 10000000c0ffee42\n")
    rig.file("/proc/cmdline", "smsc95xx.macaddr=2C:CF:67:01:02:03 console=serial0,115200 ip=192.168.178.31 vc=c0ffee42")
    rig.file("/etc/hostname", "kellerkneipe\n")
    rig.file("/proc/sys/kernel/hostname", "kellerkneipe\n")
    rig.file("/etc/hosts", "127.0.1.1 kellerkneipe.fritz.box kellerkneipe\n")
    rig.file(
        "/etc/passwd", f"root:x:0:0:root:/root:/bin/sh\nwbraun:x:1000:1000:Wilhelmine Braunschweiger,,:{home}:/bin/sh\n"
    )
    rig.file("/etc/machine-id", "0a1b2c3d4e5f60718293a4b5c6d7e8f9\n")
    rig.file("/etc/wpa_supplicant/wpa_supplicant.conf", 'network={\n  ssid="FritzNetz-4711"\n  psk="geheim"\n}\n')
    rig.file(
        "/etc/NetworkManager/system-connections/a.nmconnection", "[connection]\nid=GastNetz\n[wifi]\nssid=GastNetz\n"
    )
    rig.file("/sys/class/net/wlan0/address", "2c:cf:67:01:02:03\n")
    rig.file("/sys/bus/usb/devices/1-1/serial", "A1B2C3D4E5F6\n")
    rig.file("/boot/firmware/config.txt", "dtparam=eth=2C:CF:67:01:02:03\ndtoverlay=of-wbraun,name=FritzNetz-4711\n")
    rig.file("/proc/sys/kernel/version", "#1 SMP wbraun@kellerkneipe 10000000c0ffee42")
    rig.file("/etc/rpi-issue", "Image of Ludmilla's, 192.168.178.31, 2001:db8::17, /home/ludmilla9/x")
    rig.file(
        "/proc/mounts",
        "/dev/mmcblk0p2 / ext4 rw,uuid=0a1b2c3d4e5f60718293a4b5c6d7e8f9 0 0\n"
        f"server:/x {folder} nfs addr=192.168.178.31 0 0\n",
    )
    rig.webcam(0, "Wilhelmine’s HD Webcam")
    rig.chip("gpiochip0", "pinctrl-rp1", {5: "wbraun's lamp", 6: "lamp 2c-cf-67-0a-0b-0c"})
    rig.file(
        "/proc/asound/cards",
        " 1 [Box]: USB-Audio - Ludmilla's Box\n                 at usb-0000:01:00.0-1.2, A1B2C3D4E5F6\n",
    )
    sound = Sound()
    sound.cards = ("Wilhelmines Box: 2CCF67010203 (hw:1,0)", "bluez 2C:CF:67:01:02:03 of Jürgen")
    rig.modules["sounddevice"] = sound
    rig.holds(4321, "wbraun-motion", "/dev/video0", "/usr/bin/motion")
    said = "Jürgen leads; told to broker-im-keller; /srv/braunhaus/games; http://kellerkneipe.local:8000, http://[fe80::2ecf:67ff:fe01:203]/"
    rig.answers |= {
        "systemctl": "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nWatchdogUSec=5s\n"
        f"StatusText={said}\n",
        "iwgetid": "FritzNetz-4711\n", "pinctrl": "4: ip pu | hi // GPIO4 = Oskarsson\n",
        "vcgencmd": "throttled=0x0 of 10000000c0ffee42\n",
        "dpkg-query": "python3-picamera2 0.3.27+wbraun install ok installed\n",
    }  # fmt: skip

    # The doctor names the folder.
    rig.room = disk(GIGABYTE, read_only=True)

    def no_camera_of(settings: CameraSettings) -> Camera:
        raise HardwareMissing("the camera {source} of Wilhelmine Braunschweiger fails", source=settings.source)

    environment = {"HOME": "/srv/braunhaus", "USER": "wbraun", "SUDO_USER": "wbraun", "HOSTNAME": "kellerkneipe"}
    whole = replace(subject, machine=rig.machine, path=path, settings=load_settings(path), open_camera=no_camera_of)
    files = report_of(whole, tmp_path, environment)
    parts = parts_of(files)
    assert "is not free" in parts["pins"]["found"]["refused_to_the_table"][0]
    for name, content in files.items():
        text = content.decode().casefold()
        for secret in SECRETS:
            assert secret.casefold() not in text, f"{secret} is in {name}"
        assert str(home).casefold() not in text
        assert "ludmilla9" not in text
    told = files["report.json"].decode()
    assert MODEL in told, "what tells nothing of people stays"
    assert "usb-0000:01:00.0-1.2" in told
    assert "<name>" in told and "<host>" in told and "<serial>" in told and "<network>" in told


def test_names_are_found_in_settings_with_a_mistake(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text("[[seat]]\nname = \"Wilhelmine\"\nsaid = 'Minna' # so\npad = what\n")
    assert {"Wilhelmine", "Minna"} <= find_secrets(rig.machine, {}, None, path).keys()


def test_ordinary_words_are_no_secrets(rig: Rig, tmp_path: Path) -> None:
    """The usual user is called pi, a player may be called Fine, and a version is no address."""
    path = tmp_path / "table.toml"
    path.write_text('[[seat]]\nname = "Fine"\n')
    rig.file("/etc/hostname", "raspberrypi\n")
    scrubber = Scrubber(find_secrets(rig.machine, {"USER": "pi"}, None, path), [WELL_KNOWN])
    assert scrubber.clean(f"{MODEL} on raspberrypi, opencv {WELL_KNOWN}, 12:30:45") == (
        f"{MODEL} on raspberrypi, opencv {WELL_KNOWN}, 12:30:45"
    )
    assert scrubber.clean("opencv 4.11.0.87") == "opencv <address>"
    assert scrubber.clean_all({"state": "fine", "words": ["Fine's turn", "refined", 3]}) == {
        "state": "fine", "words": ["<name> turn", "refined", 3],
    }  # fmt: skip


def test_a_file_that_cannot_be_written_is_told(subject: Subject, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be written"):
        report_of(subject, tmp_path / "nowhere")
