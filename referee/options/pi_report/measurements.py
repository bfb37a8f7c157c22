"""Measurements for the report: the camera's frames, the eye, the disk, and a loop of wire from an output to a pad."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import median
from typing import Any, Final

from hardware.lights.leds import GpioLights
from hardware.pads.pads import GpioPads
from hardware.pads.pinout import pin_number
from hardware.ports import Camera, Edge, HardwareMissing
from hardware.priority import be_urgent
from referee.errors import UserError
from referee.options.pi_report.subject import NotHere, Subject
from referee.sentence import Sentence
from referee.settings.model import CameraSettings, EyeSettings
from referee.settings.places import record_at
from referee.setup.disk_speed import time_synced_writes
from referee.setup.doctor import examine
from referee.setup.doctor.machine import games_folder
from referee.setup.doctor.probe import SERVICE
from referee.setup.eye_speed import EyeSpeed
from referee.setup.pin_owners import free_pins, owned_here
from referee.share import percentile
from referee.text.terminal_language import speaking
from referee.units import MS, SECOND
from referee.vision.cameras import is_live
from referee.vision.photos import usual_threads

FRAMES_FOR: Final = 10 * SECOND
"""Length of the look at the camera's frames, ns."""
_SILENCE: Final = 20 * SECOND
"""Time after which a camera that sends nothing is closed, ns."""
_WRITES: Final = 200
TOGGLES: Final = 200
"""Number of times that the loop's output is switched."""
_GAP: Final = 1.5
"""Intervals from which on a frame was missed, in usual ones."""
_HEARD: Final = 1.0
"""Time limit for an edge, s."""
_REST: Final = 0.03
"""Least pause between two edges of the loop, s."""
_GOLDEN: Final = 0.618034
"""Golden ratio: its multiples spread the pauses evenly over a scheduler's or a timer's beat."""


# The camera


def measure_frames(subject: Subject) -> dict[str, Any]:
    """Return the intervals of the camera's stamps for ten seconds, how old frames are on arrival, and the camera's own
    report: the clock on which the sensor counts (clock, boot_ahead), and whether each setting holds (locks)."""
    settings = subject.camera
    if not is_live(settings):
        raise NotHere("the settings' camera is a recording")
    try:
        camera = subject.open_camera(settings)
    except (HardwareMissing, ImportError) as error:
        raise NotHere(getattr(error, "sentence", str(error))) from error
    # A camera that falls silent would be waited for without end.
    limit = threading.Timer((FRAMES_FOR + _SILENCE) / SECOND, camera.close)
    limit.daemon = True
    limit.start()
    with ExitStack() as stack:
        stack.enter_context(closing(camera))
        stack.callback(limit.cancel)
        stamps, ages, exposures, errors = _watch(subject, camera)
        report = getattr(camera, "report", None)
        report = report() if callable(report) else report
        order = getattr(camera, "order", None)
    if len(stamps) < 3:
        raise NotHere(f"the camera sent {len(stamps)} frames")
    intervals = [(after - before) / MS for before, after in pairwise(stamps)]
    usual = median(intervals)
    return {
        "source": settings.source.partition(":")[0], "asked_px": [settings.width, settings.height],
        "asked_fps": settings.fps, "frames": len(stamps), "interval_ms": _spread(intervals),
        "gaps": sum(interval > _GAP * usual for interval in intervals), "not_delivered": getattr(order, "dropped", 0),
        "age_on_arrival_ms": _spread(ages), "exposure_ms": _spread(exposures), "stated_error_ms": _spread(errors),
        "histogram": _histogram(intervals), "report": {} if report is None else _told(report),
    }  # fmt: skip


def _watch(subject: Subject, camera: Camera) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return stamps (ns), ages on arrival, exposures and stated errors (ms) of the frames of some seconds."""
    until = subject.clock() + FRAMES_FOR
    stamps, ages, exposures, errors = [], [], [], []
    for frame in camera.frames():
        now = subject.clock()
        stamps.append(frame.t)
        ages.append((now - frame.t - frame.exposure) / MS)
        exposures.append(frame.exposure / MS)
        errors.append(frame.t_error / MS)
        if subject.pictures:
            subject.picture = frame.image
        if now >= until:
            break
    return stamps, ages, exposures, errors


def _told(report: Any) -> dict[str, Any]:
    """Return a camera's report, with its locks in a list: their names are libcamera's."""
    told: dict[str, Any] = report.to_json()
    locks = [{"control": name, **lock} for name, lock in told.pop("locks").items()]
    return {**told, "source": "", "locks": locks}


def _spread(values: Sequence[float]) -> dict[str, float]:
    """Return count, least, median, 95 of 100 and most of some values."""
    if not values:
        return {"count": 0}
    shares = {"least": 0.0, "median": 0.5, "p95": 0.95, "most": 1.0}
    return {"count": len(values), **{name: round(percentile(values, share), 3) for name, share in shares.items()}}


def _histogram(values: Sequence[float]) -> list[dict[str, int]]:
    """Return how many values there are in each whole millisecond that has any."""
    counts = Counter(int(value) for value in values)
    return [{"from_ms": step, "frames": counts[step]} for step in sorted(counts)]


# The eye, the disk


def measure_eyes(subject: Subject) -> dict[str, Any]:
    """Return the eye's speed on frames of the simulated table, with one thread up to four."""
    settings = subject.settings
    camera = CameraSettings() if settings is None else settings.camera
    subject.speeds = subject.measure_eye((camera.width, camera.height), camera.fps, (1, 2, 3, 4))
    return {
        "picture_px": [camera.width, camera.height], "fps": camera.fps,
        "threads": [
            {"threads": speed.threads, "look_ms": round(speed.look_ms, 2), "quiet_ms": round(speed.quiet_ms, 2),
             "cards_a_second": round(speed.cards_a_second, 2)}
            for speed in subject.speeds
        ],
    }  # fmt: skip


def ask_doctor(subject: Subject) -> list[dict[str, Any]]:
    """Return what `referee doctor` finds."""

    # The eye is not measured again.
    def known_speed(camera: CameraSettings, eye: EyeSettings) -> EyeSpeed:
        speeds = {speed.threads: speed for speed in subject.speeds}
        return speeds.get(eye.threads or usual_threads()) or subject.machine.eye_speed(camera, eye)

    machine = replace(subject.machine, eye_speed=known_speed)
    with speaking("en"):
        return [
            {"group": str(check.group), "part": str(check.part), "state": check.state, "words": str(check.words),
             "mend": str(check.mend)}
            for check in examine(machine, subject.path)
        ]  # fmt: skip


def measure_disk(subject: Subject) -> dict[str, Any]:
    """Return how long each synced write of a game takes, in the folder of the games."""
    folder = (None if subject.settings is None else games_folder(subject.settings)) or record_at().parent
    writes = time_synced_writes(folder, _WRITES, subject.clock)
    return {"synced_write_ms": _spread(writes), **_filesystem(subject, folder.resolve())}


def _filesystem(subject: Subject, folder: Path) -> dict[str, str]:
    """Return the kind of the folder's file system and its options, from the kernel's list of mounts."""
    best: tuple[int, str, str] = (-1, "", "")
    for line in subject.machine.read("/proc/mounts").splitlines():
        device, place, kind, options = (*line.split(), "", "", "", "")[:4]
        if place and folder.is_relative_to(place) and len(place) > best[0]:
            device = "SD card" if "mmcblk" in device else "NVMe" if "nvme" in device else "other"
            best = (len(place), f"{kind} on {device}", options)
    return {"file_system": best[1], "options": best[2]}


# A loop of wire


def wiring_words(output: int, pad: int) -> tuple[str, ...]:
    """Return what to do with the wire, line by line."""
    return (
        Sentence("The loop is one wire, with a resistor of 1 kΩ in it, from an output to a pad's pin."),
        Sentence("1. Switch the Raspberry Pi off, and take every other wire off these two pins."),
        Sentence(
            "2. Join pin {first} (GPIO {output}, the output) and pin {second} (GPIO {pad}, the pad) through 1 kΩ.",
            first=pin_number(output), output=output, second=pin_number(pad), pad=pad,
        ),
        Sentence("3. Switch it on, stop a referee that runs (sudo systemctl stop {service}), and begin again.",
                 service=SERVICE),
    )  # fmt: skip


def check_loop(root: Path, output: int, pad: int) -> None:
    """Refuse pins that cannot be joined; raises `UserError`, which names an owner and free pins."""
    if output == pad:
        raise UserError("--loop needs two pins: an output, and a pad's")
    owners = owned_here(root)
    for pin in (output, pad):
        if pin in owners:
            free = " ".join(map(str, free_pins(owners, ())))
            raise UserError("pin {pin} is not free ({owner}); free are {free}", pin=pin, owner=owners[pin], free=free)


def measure_loop(subject: Subject) -> dict[str, Any]:
    """Return the times of an output that is wired to a pad: from the write to the kernel's stamp, and from there to the
    handler and to the light's write.

    The output is a seat's light, as a game opens it, and burns while the pad is open. Switching it off closes the pad,
    whose handler switches it on again: so the light's own write is measured, too.

    Raises:
        UserError: no loop was asked for, a pin is owned or in use, or no edge came.
    """
    if subject.loop is None:
        raise NotHere("not asked for: --loop OUTPUT PAD")
    output, pad = subject.loop
    check_loop(subject.machine.root, output, pad)
    heard: SimpleQueue[tuple[Edge, int, int]] = SimpleQueue()
    with ExitStack() as stack:
        try:
            lights = stack.enter_context(closing(GpioLights({1: output}, None)))
            lights.seat(1, 1.0)
            pads = stack.enter_context(closing(GpioPads({1: pad})))
        except (HardwareMissing, OSError) as error:
            raise NotHere(getattr(error, "sentence", str(error))) from error

        def hear(edge: Edge) -> None:
            now = subject.clock()
            if edge.pressed:
                lights.seat(1, 1.0)
                heard.put((edge, now, subject.clock()))

        pads.start(hear)
        urgency = be_urgent()
        times = list(_toggle(subject, lights, heard))
        lost = pads.lost
    caught = [time for time in times if time is not None]
    if not caught:
        raise NotHere("no edge came: the wire is not where --loop says, or another device holds the pad's pin")
    return {
        "output": output, "pad": pad, "switched": len(times), "not_heard": len(times) - len(caught), "lost": lost,
        "urgency": urgency, "write_to_stamp_ms": _spread([time[0] / MS for time in caught]),
        "stamp_to_handler_ms": _spread([time[1] / MS for time in caught]),
        "stamp_to_light_ms": _spread([time[2] / MS for time in caught]),
    }  # fmt: skip


def _toggle(
    subject: Subject, lights: GpioLights, heard: SimpleQueue[tuple[Edge, int, int]]
) -> Iterator[tuple[int, int, int] | None]:
    """Yield for each switching the times from the write to the stamp, and from there to handler and light, ns; `None`
    where no edge came."""
    for number in range(TOGGLES):
        subject.pause(_REST * (1 + number * _GOLDEN % 1))
        while not heard.empty():
            heard.get_nowait()
        began = subject.clock()
        lights.seat(1, 0.0)
        try:
            edge, handled, lit = heard.get(timeout=_HEARD)
        except Empty:
            lights.seat(1, 1.0)
            yield None
            if number == 0:
                # There is no loop: more would take minutes.
                return
            continue
        yield edge.t - began, handled - edge.t, lit - edge.t
