"""The doctor's checks of the table's settings and of the machine: disk, clock, service, power."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.errors import UserError
from referee.sentence import Sentence, words_of
from referee.setup.check import Check, State
from referee.setup.doctor.probe import SERVICE, UNIT, Machine, one_line
from referee.units import SECOND

if TYPE_CHECKING:
    from referee.settings.model import Settings

_LEAST_FREE: Final = 200_000_000
"""Bytes: a game's log takes one or two million, and a full disk can stop the whole system."""
_FINE_CLOCKS: Final = ("arch_sys_counter", "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen")
BROKER: Final = f"/etc/systemd/system/{SERVICE}.service.d/broker.conf"
_JOURNAL: Final = f"journalctl -u {SERVICE} -n 50"
_HOTTEST: Final = 80.0
"""°C: from here on a Pi slows down."""
_THROTTLED: Final = {
    0: Sentence("the voltage is too low now"),
    1: Sentence("its clock is capped now"),
    2: Sentence("it is throttled now"),
    3: Sentence("it is near its heat limit"),
    16: Sentence("the voltage was too low"),
    17: Sentence("its clock was capped"),
    18: Sentence("it was throttled"),
    19: Sentence("it was near its heat limit"),
}
"""Bits of ``vcgencmd get_throttled``: Raspberry Pi documentation, vcgencmd."""
_LOW_VOLTAGE: Final = frozenset((0, 16))


# The table's settings


def check_table(path: Path) -> tuple[Settings | None, list[Check]]:
    """Return the settings, if readable, and the findings of the file and its measurements."""
    from referee.settings.model import load_settings

    part = Sentence("settings")
    if not path.exists():
        return None, [Check(part, "missing", Sentence("no {path} here", path=path), f"referee setup --settings {path}")]
    try:
        settings = load_settings(path)
    except UserError as error:
        mend = Sentence(
            "mend that line; or begin anew: mv {path} {path}.old, referee setup --settings {path}", path=path
        )
        return None, [Check(part, "broken", words_of(error), mend)]
    names = ", ".join(seat.name for seat in settings.seats)
    about = Check(part, "fine", f"{path}: {names}")
    return settings, [
        about, check_calibration(settings, path), *check_frame_rate(settings, path), *check_colours(path),
        *check_bare_table(settings, path), check_pads_measured(settings, path), check_certificate(settings, path),
    ]  # fmt: skip


def check_calibration(settings: Settings, path: Path) -> Check:
    """Check that the table was found under the camera, with the present camera settings."""
    part, mend = Sentence("calibration"), f"referee calibrate --settings {path}"
    stored, camera = settings.calibration, settings.camera
    if stored is None:
        return Check(part, "missing", Sentence("the camera has not looked for the table yet"), mend)
    # Any camera except the Pi's chooses its picture size itself.
    if camera.source == "picamera" and (stored.width, stored.height) != (camera.width, camera.height):
        words = Sentence(
            "was made with {old} px; the camera is set to {new}",
            old=f"{stored.width}×{stored.height}",
            new=f"{camera.width}×{camera.height}",
        )
        return Check(part, "broken", words, mend)
    words = Sentence(
        "by {source}: cards {height} px tall, tilt {tilt}°",
        source=stored.source,
        height=f"{stored.card_height_px:.0f}",
        tilt=f"{stored.tilt_deg:.0f}",
    )
    return Check(part, "fine", words)


def check_frame_rate(settings: Settings, path: Path) -> Iterator[Check]:
    """Check that frames are frequent enough, and free of flicker on these mains; yield nothing for a recording."""
    part, camera, hz = Sentence("frame rate"), settings.camera, settings.camera.mains_hz
    try:
        from models.table_view.mains import is_even, is_steady, steady_rate
        from models.watch.pace import LET_GO_NS
        from referee.vision.cameras import is_live
    except (ImportError, OSError):
        return
    if not is_live(camera):
        return
    words = Sentence("{fps} a second", fps=f"{camera.fps:g}")
    faster = f"referee setup --settings {path} --set camera.fps={steady_rate(hz):g}"
    if SECOND / camera.fps > LET_GO_NS:
        slow = Sentence(
            "{words}; a quick hand lays a card between two pictures, so the camera misses whose card it was",
            words=words,
        )
        yield Check(part, "broken", slow, faster)
    elif hz is None and settings.calibration is None:
        mend: str = Sentence("referee calibrate --settings {path}   (or camera.mains_hz = 50 or 60)", path=path)
        yield Check(part, "missing", Sentence("{words}; on which mains the lamps hang is not known", words=words), mend)
    elif hz is None:
        yield Check(part, "fine", Sentence("{words}; no lamp's flicker was seen", words=words))
    elif is_steady(camera.fps, hz):
        yield Check(part, "fine", Sentence("{words}, at which lamps on {hz} Hz stand still", words=words, hz=hz))
    elif camera.source == "picamera" and is_even(camera.exposure_us, hz):
        yield Check(
            part, "fine", Sentence("{words}, each exposed for whole swings of lamps on {hz} Hz", words=words, hz=hz)
        )
    else:
        poor = Sentence(
            "{words}; lamps on {hz} Hz flicker at that, and their bands move through the picture", words=words, hz=hz
        )
        yield Check(part, "broken", poor, faster)


def check_colours(path: Path) -> Iterator[Check]:
    """Check that the picture from the setup beside ``path`` has colours; yield nothing if there is no picture."""
    picture = path.with_suffix(".picture.jpg")
    if not picture.exists():
        return
    try:
        from models.eye.grey import is_grey
        from referee.setup.calibration.report import COLOUR_CAMERA, NO_COLOUR
        from referee.vision.photos import read_image

        grey = is_grey(read_image(str(picture)))
    except (ImportError, OSError, UserError):
        return
    if grey:
        mend = Sentence("{what}; then referee setup --settings {path} --step camera", what=COLOUR_CAMERA, path=path)
        yield Check(Sentence("colours"), "broken", NO_COLOUR, mend)


def check_bare_table(settings: Settings, path: Path) -> Iterator[Check]:
    """Check that the stored picture of the bare table, if any, still matches the camera's view."""
    part = Sentence("bare table")
    if not settings.camera.bare_table:
        return
    try:
        from referee.setup.calibration.bare_look import find_staleness
    except (ImportError, OSError):
        return
    if words := find_staleness(settings):
        yield Check(
            part,
            "broken",
            words,
            Sentence("clear the table, then referee calibrate --bare --settings {path}", path=path),
        )
    else:
        yield Check(part, "fine", Sentence("its prints are known"))


def check_pads_measured(settings: Settings, path: Path) -> Check:
    """Check that each pad's bounce and crosstalk were measured."""
    part = Sentence("pads measured")
    if settings.pads_measured is None:
        words = Sentence("each pad's spread and what it does to its neighbours are guesses")
        return Check(part, "missing", words, f"referee calibrate pads --settings {path}")
    worst = max(settings.pads_measured.t_error_us) / 1000
    return Check(part, "fine", Sentence("stamps known to {time} ms", time=f"{worst:.1f}"))


def check_certificate(settings: Settings, path: Path) -> Check:
    """Check that the requirements were measured on this machine, with these settings, and met."""
    from referee.record.certificates import find_standing
    from referee.text.terminal_language import here

    part, standing = Sentence("certificate"), find_standing(settings)
    words = standing.words(here())
    if standing.is_certified:
        return Check(part, "fine", words)
    state: State = "broken" if standing.word == "failed" else "missing"
    return Check(part, state, words, f"referee certify --settings {path}")


# The machine


def check_machine(machine: Machine, settings: Settings | None) -> Iterator[Check]:
    """Check disk, clock, service, the eye's speed, power."""
    yield check_disk(machine, games_folder(settings) if settings is not None else None)
    yield check_clock(machine)
    yield check_service(machine)
    yield from check_eye(machine, settings)
    if settings is not None and settings.mqtt.enabled:
        yield check_broker(machine)
    if "Raspberry Pi" in machine.read("/proc/device-tree/model"):
        yield check_power(machine)
        yield check_heat(machine)


def check_eye(machine: Machine, settings: Settings | None) -> Iterator[Check]:
    """Check how many cards a second the eye follows; yield nothing if it cannot be loaded, which is a finding of the
    software.
    """
    part = Sentence("eye")
    try:
        from referee.settings.model import CameraSettings, EyeSettings
        from referee.setup.eye_speed import ADVICE

        camera, eye = (CameraSettings(), EyeSettings()) if settings is None else (settings.camera, settings.eye)
        speed = machine.eye_speed(camera, eye)
    except (UserError, ImportError, OSError):
        return
    yield Check(part, "fine", speed.words) if speed.suffices else Check(part, "broken", speed.words, ADVICE)


def games_folder(settings: Settings) -> Path | None:
    """Return the folder of the games: of the record, or else of the logs."""
    return settings.record_file.parent if settings.record_file is not None else settings.log_folder


def check_broker(machine: Machine) -> Check:
    """Check that the service, which is cut off from the network by default, may reach its broker."""
    part = Sentence("broker")
    if machine.read(UNIT) and not machine.read(BROKER):
        return Check(
            part,
            "broken",
            Sentence("the service may not reach the broker"),
            Sentence("make install-appliance, once more"),
        )
    return Check(
        part, "fine", Sentence("the service may reach the broker") if machine.read(UNIT) else Sentence("asked for")
    )


def check_disk(machine: Machine, folder: Path | None) -> Check:
    """Check that games can be written."""
    part, place = Sentence("disk"), folder or Path()
    there = next(path for path in (place, *place.absolute().parents) if path.exists())
    try:
        told = machine.statvfs(there)
    except OSError as error:
        return Check(part, "broken", one_line(error), Sentence("look at the SD card: dmesg, fsck"))
    if told.f_flag & os.ST_RDONLY:
        return Check(
            part,
            "broken",
            Sentence("{folder} can only be read", folder=there),
            Sentence("sudo mount -o remount,rw /; if it happens again the card is worn: replace it"),
        )
    free = told.f_bavail * told.f_frsize
    if free < _LEAST_FREE:
        return Check(
            part,
            "broken",
            Sentence("{size} MB free at {folder}", size=f"{free / 1e6:.0f}", folder=there),
            Sentence("delete old games, or: sudo apt clean, sudo journalctl --vacuum-size=50M"),
        )
    return Check(part, "fine", Sentence("{size} GB free", size=f"{free / 1e9:.1f}"))


def check_clock(machine: Machine) -> Check:
    """Check the source of monotonic time, and whether the date is set."""
    part = Sentence("clock")
    source = machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source and source not in _FINE_CLOCKS:
        return Check(
            part,
            "broken",
            Sentence("the kernel counts time by {source}, which is coarse or slow", source=source),
            Sentence("remove clocksource= from /boot/firmware/cmdline.txt, and reboot"),
        )
    synchronised = (machine.run(["timedatectl", "show", "-p", "NTPSynchronized", "--value"]) or "").strip()
    words = source or Sentence("the kernel does not name its clock source")
    if synchronised == "no":
        return Check(
            part,
            "fine",
            Sentence("{words}; the date is not set, so games are dated wrongly (and ruled rightly)", words=words),
        )
    return Check(part, "fine", words)


def check_service(machine: Machine) -> Check:
    """Check that the referee starts with the machine, and whether it was restarted."""
    part = Sentence("service")
    wanted = "LoadState,ActiveState,SubState,UnitFileState,Result,NRestarts,StatusText,WatchdogUSec"
    told = machine.run(["systemctl", "show", SERVICE, "-p", wanted])
    fields = dict(line.split("=", 1) for line in (told or "").splitlines() if "=" in line)
    if not fields:
        return Check(
            part, "missing", Sentence("systemd does not run here"), Sentence("on the Pi: make install-appliance")
        )
    if fields.get("LoadState") != "loaded":
        words: str = Sentence("not installed: the referee does not start with the machine")
        return Check(part, "missing", words, "make install-appliance")
    state, restarts = fields.get("ActiveState", ""), fields.get("NRestarts", "0")
    again = int(restarts) if restarts.isdecimal() else 0
    if fields.get("Result") == "watchdog":
        return Check(part, "broken", _counted(Sentence("the watchdog had to end it"), again), _JOURNAL)
    if state == "failed" or fields.get("SubState") == "auto-restart":
        return Check(
            part,
            "broken",
            _counted(Sentence("it does not stay up ({why})", why=fields.get("Result", "?")), again),
            _JOURNAL,
        )
    if fields.get("UnitFileState") not in ("enabled", "enabled-runtime"):
        words = Sentence("installed, and does not start with the machine")
        return Check(part, "missing", words, f"sudo systemctl enable --now {SERVICE}")
    if state != "active":
        return Check(
            part,
            "missing",
            Sentence("installed, {state}", state=state or Sentence("not running")),
            f"sudo systemctl start {SERVICE}",
        )
    if fields.get("WatchdogUSec", "0") in ("0", "infinity"):
        return Check(
            part, "broken", Sentence("runs without its watchdog"), Sentence("make install-appliance, then restart it")
        )
    said = fields.get("StatusText", "")
    words = _counted(Sentence("runs, watched"), again)
    return Check(part, "fine", Sentence("{words}: {said}", words=words, said=said) if said else words)


def _counted(words: str, times: int) -> str:
    """Return the words with the number of restarts, if any."""
    return Sentence("{words}, started anew {times} times", words=words, times=times) if times else words


def _voltage_alarm(machine: Machine) -> str:
    """Return what the kernel's own watch of the voltage says (hwmon): 1: too low, 0: enough; empty: it has none."""
    for named in sorted(machine.at("/sys/class/hwmon").glob("hwmon*/name")):
        if machine.read(f"/{named.relative_to(machine.root)}") == "rpi_volt":
            return machine.read(f"/{named.parent.relative_to(machine.root)}/in0_lcrit_alarm")
    return ""


def check_power(machine: Machine) -> Check:
    """Check the power supply."""
    part = Sentence("power")
    mend = Sentence("a supply of 5 V and 3 A (Pi 5: 5 A) with a short cable; nothing hungry on its USB")
    told = machine.run(["vcgencmd", "get_throttled"])
    if told is None:
        alarm = _voltage_alarm(machine)
        if alarm == "1":
            return Check(part, "broken", _THROTTLED[0], mend)
        if alarm:
            return Check(part, "fine", Sentence("enough now"))
        return Check(part, "missing", Sentence("vcgencmd is not here to ask"), "sudo apt install raspi-utils")
    text = told.strip().partition("=")[2]
    try:
        bits = int(text, 16)
    except ValueError:
        return Check(
            part, "broken", Sentence("vcgencmd says {said}", said=repr(told.strip()[:60])), machine.join_group("video")
        )
    words: list[str] = [said for bit, said in _THROTTLED.items() if bits >> bit & 1]
    if any(bits >> bit & 1 for bit in _LOW_VOLTAGE):
        return Check(part, "broken", Sentence("{words}", words=words), mend)
    if words:
        return Check(
            part, "broken", Sentence("{words}", words=words), Sentence("a heat sink or a fan; air round the board")
        )
    return Check(part, "fine", Sentence("enough, since it was switched on"))


def check_heat(machine: Machine) -> Check:
    """Check the temperature of the processor."""
    part, text = Sentence("heat"), machine.read("/sys/class/thermal/thermal_zone0/temp")
    if not text.isdecimal():
        return Check(part, "fine", Sentence("unknown"))
    degrees = int(text) / 1000
    if degrees >= _HOTTEST:
        return Check(part, "broken", f"{degrees:.0f} °C", Sentence("a heat sink or a fan; air round the board"))
    return Check(part, "fine", f"{degrees:.0f} °C")
