"""`referee calibrate`: find the table under the camera, grade the view, and store it in the settings.

Pictures come from files, from the table's camera or from a simulated one; the seats' bearings come from the settings,
are spread evenly, or follow the hand of each player who reaches over the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hardware.camera.pi_camera import PiCamera
from hardware.ports import Camera, Frame, HardwareMissing
from models.table_view.light import compare
from models.table_view.mains import Mains
from models.table_view.reach import Reaching
from models.watch.arms import apart
from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.file import read_settings, save_with_backup
from referee.settings.model import NEAREST_SEATS, CameraSettings, Settings, load_settings
from referee.setup.calibration import report, tell
from referee.setup.calibration.adjustment import adjust_camera, changes, hold_exposure, mains_of, with_mains
from referee.setup.calibration.find_table import find_table
from referee.setup.calibration.report import Measured
from referee.setup.calibration.simulated_camera import simulated_camera
from referee.text.terminal_language import translate
from referee.units import MINUTE, SECOND
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye, read_image

if TYPE_CHECKING:
    from models.eye.eye import Eye

_REACH_PATIENCE: Final = MINUTE
"""Time limit for a player to reach over the table, ns."""
_HINTS: Final = {
    "two": Sentence("  more than one arm: one player at a time, please"),
    "dark": Sentence("  the picture is dark: switch on the light"),
    "blocked": Sentence("  something stands before the camera"),
}
_SETTLING: Final = 12
"""Frames that a camera may need until its locked settings take effect; a change took 11."""
_STILL: Final = 12
"""Number of frames of the still table that are compared."""
_MOVING: Final = 0.03
"""Share of the picture that may move."""
STILL_PATIENCE: Final = 20 * SECOND
"""Time limit for a restless table, ns."""


@dataclass(frozen=True, slots=True)
class CalibrationOptions:
    """Options of `referee calibrate`."""

    images: Sequence[str] = ()
    settings: Path | None = None
    by: str = "auto"
    """``auto``, ``sheet`` or ``cards``."""
    card_size: str | None = None
    seats: int | None = None
    reach: bool = False
    draw: Path | None = None
    simulated: bool = False
    as_set: bool = False
    """Keep focus, exposure and white balance as in the settings."""
    as_json: bool = False


def calibrate(options: CalibrationOptions) -> int:
    """Find the table, report how well it is seen, draw and store it; exit status 1 if a grade is poor.

    Raises:
        UserError: a problem to solve first; says what to do.
    """
    settings = load_settings(options.settings) if options.settings is not None else None
    seats = _even_seats(settings, options.seats)
    if options.images and (options.reach or options.simulated):
        raise UserError(
            "IMAGE files are looked at alone: leave them out for --reach and --simulated, which need a camera"
        )
    if options.reach and settings is None and options.seats is None:
        raise UserError("--reach needs to know the seats: name the table's --settings FILE, or --seats N")
    eye = partial(load_eye, None if settings is None else settings.deck)
    camera: CameraSettings | None = None
    if options.images:
        image, m = _look_at_pictures(options, eye)
        if settings is not None and settings.camera.source == "picamera":
            # Only the Pi's camera takes its exposure from the settings.
            camera = settings.camera
    else:
        image, m, seats, camera = _look_through_camera(options, settings, seats, eye)
    for one, other in combinations(seats, 2):
        _refuse_near({one: seats[one]}, other, seats[other])
    return _conclude(options, settings, image, m, seats, camera)


def _even_seats(settings: Settings | None, count: int | None) -> dict[str, float]:
    """Return the seats' bearings by name: as in the settings, or ``count`` of them spaced evenly from the first
    one's.
    """
    named = [] if settings is None else [(seat.name, seat.bearing) for seat in settings.seats]
    if count is None:
        return dict(named)
    if settings is not None and len(named) != count:
        raise UserError(
            "--seats {count}: the settings name {many} seats; add or take out sections [[seat]] first",
            count=count,
            many=len(named),
        )
    names = [name for name, _ in named] or [f"Seat {number}" for number in range(1, count + 1)]
    first = named[0][1] if named else 270.0
    return {name: (first - 360 * k / count) % 360 for k, name in enumerate(names)}


# Sources of pictures


def _look_at_pictures(options: CalibrationOptions, eye: Callable[[], Eye]) -> tuple[Any, Measured]:
    """Return the first picture, and the measurements of all pictures with the same view."""
    images = [read_image(name) for name in options.images]
    first = images[0]
    for name, image in zip(options.images, images, strict=True):
        if image.shape != first.shape:
            raise UserError(
                "{name} is {shape}×{shape2} px and {images} is {shape3}×{shape4}: one camera's "
                "pictures, of one size, are needed",
                name=name,
                shape=image.shape[1],
                shape2=image.shape[0],
                images=options.images[0],
                shape3=first.shape[1],
                shape4=first.shape[0],
            )
    found = find_table(images, options.by, eye, options.card_size)
    # Pictures of the same view differ only by noise and light.
    same = [image for image in images if image is first or compare([first, image]).moving <= _MOVING]
    return first, report.measure(found, same)


def _look_through_camera(
    options: CalibrationOptions, settings: Settings | None, seats: dict[str, float], eye: Callable[[], Eye]
) -> tuple[Any, Measured, dict[str, float], CameraSettings]:
    """Return the still table's mean picture, its measurements, the seats, by reach if requested, and the camera's new
    settings.
    """
    kept = CameraSettings(source="simulated", width=960, height=720, fps=15.0)
    try:
        if options.simulated:
            source: Camera = simulated_camera(options.by, list(seats.values()) if options.reach else ())
        elif settings is not None:
            kept = settings.camera
            source = open_camera_of(kept)
        else:
            raise UserError(
                "name what to look at: --settings FILE (its camera), IMAGE files, or --simulated; "
                "`referee run --example > table.toml` begins the settings"
            )
        with closing(source) as camera:
            pi = camera if isinstance(camera, PiCamera) and not options.as_set else None
            mains = None
            if pi is not None:
                kept, mains = adjust_camera(pi, kept)
            frames = camera.frames()
            tell("looking at the table: keep hands off it")
            image, m = _look_at_table(options, frames, eye, mains)
            if pi is not None and (best := report.advised_exposure(m, kept)).differs(kept.exposure_us, kept.gain):
                kept = hold_exposure(pi, kept, best)
                image, m = _look_at_table(options, frames, eye, mains)
            elif not options.simulated and m.mains.hz is not None:
                kept = with_mains(kept, m.mains)
            return image, m, _measure_reach(frames, list(seats), m) if options.reach else seats, kept
    except HardwareMissing as error:
        raise UserError(str(error)) from None


def _look_at_table(
    options: CalibrationOptions, frames: Iterator[Frame], eye: Callable[[], Eye], mains: Mains | None
) -> tuple[Any, Measured]:
    """Return the still table's mean picture, and its measurements; ``mains`` if already measured."""
    still = still_frames(frames)
    images = [frame.image for frame in still]
    image = mean_picture(still)
    found = find_table([image], options.by, eye, options.card_size)
    return image, report.measure(found, images, mains_of(still) if mains is None else mains)


def mean_picture(still: Sequence[Frame]) -> Any:
    """Return the mean of pictures of a still table (H x W x 3), which averages out noise that would move corners."""
    images = np.stack([frame.image for frame in still])
    return np.rint(np.mean(images, axis=0, dtype=np.float32)).astype(np.uint8)


def still_frames(frames: Iterator[Frame]) -> list[Frame]:
    """Return the first `_STILL` consecutive pictures in which nothing moves.

    Raises:
        UserError: something moves all the time, or there are too few frames.
    """
    kept: list[Frame] = []
    began: int | None = None
    for count, frame in enumerate(frames):
        began = frame.t if began is None else began
        if count < _SETTLING:
            continue
        if kept and compare([kept[-1].image, frame.image]).moving > _MOVING:
            kept.clear()
        kept.append(frame)
        if len(kept) == _STILL:
            return kept
        if frame.t - began > STILL_PATIENCE:
            raise UserError(
                "something moves in the picture all the time: take hands off the table, fix the camera's arm"
            )
    if len(kept) < 2:
        raise UserError("the camera's pictures ended too soon: some seconds of the still table are needed")
    return kept


# Seats by reach


def _measure_reach(frames: Iterator[Frame], names: Sequence[str], m: Measured) -> dict[str, float]:
    """Return each seat's bearing, from the direction of its player's hand; the players reach one after another.

    Args:
        frames: the first shows the table without a hand.
        names: the seats, in the order in which they are asked.
        m: gives the playing area.

    Raises:
        UserError: a player did not reach in time, or two reached from one side.
    """
    x, y = m.found.table.view.to_px(m.found.area.mean(axis=0, keepdims=True))[0]
    reaching = Reaching((float(x), float(y)))
    told: dict[str, float] = {}
    state = ""
    for name in names:
        tell("{name}: reach one hand over the middle of the table and hold it there", name=name)
        asked: int | None = None
        for frame in frames:
            asked = frame.t if asked is None else asked
            bearing = reaching.feed(frame.image, frame.t)
            if reaching.state != state:
                state = reaching.state
                if state in _HINTS:
                    tell(_HINTS[state])
            if bearing is not None:
                _refuse_near(told, name, bearing)
                told[name] = bearing
                tell("  {name} reaches from {bearing}°; take the hand back", name=name, bearing=f"{bearing:.0f}")
                break
            if frame.t - asked > _REACH_PATIENCE:
                break
        if name not in told:
            raise UserError(
                "no hand of {name} came over the middle of the table: reach in from the picture's "
                "edge, hold the hand over the middle for a second, one player at a time; then start "
                "again",
                name=name,
            )
    return told


def _refuse_near(told: Mapping[str, float], name: str, bearing: float) -> None:
    for other, there in told.items():
        if apart(there, bearing) < NEAREST_SEATS:
            raise UserError(
                "{other} and {name} both reach from about {bearing}° ({there}° apart): sit at least "
                "{nearest_seats}° from each other, or reach straight from your own seat; then start "
                "again",
                other=other,
                name=name,
                bearing=f"{bearing:.0f}",
                there=f"{apart(there, bearing):.0f}",
                nearest_seats=f"{NEAREST_SEATS:g}",
            )


# Results


def _conclude(
    options: CalibrationOptions,
    settings: Settings | None,
    image: Any,
    m: Measured,
    seats: Mapping[str, float],
    camera: CameraSettings | None,
) -> int:
    """Draw, store and print the measurements; return the exit status. ``camera`` gives the exposure of the pictures."""
    # The exposure of a USB camera is unknown.
    exposed = camera if camera is None or not camera.source.startswith("usb") else None
    items = report.grade(m, exposed)
    target, kept = options.draw, None
    if target is None and options.settings is not None:
        target = options.settings.with_suffix(".calibration.jpg")
    if target is not None:
        report.write_picture(target, report.draw_measured(image, m, seats))
    if options.settings is not None and settings is not None:
        text = read_settings(options.settings).with_measured("calibration", report.section_of(m), "referee calibrate")
        bearings = [{"bearing": round(seats[seat.name], 1)} for seat in settings.seats]
        if camera is not None and not options.simulated:
            text = text.changed(changes(settings.camera, camera))
        kept = save_with_backup(options.settings, text.with_seats(bearings).text)
    if options.as_json:
        report.print_json(items, m, seats, exposed)
    else:
        report.print_words(items, seats)
        if target is not None:
            print(translate("drawn: {target}", target=target))
        if kept is not None:
            print(
                translate(
                    "stored in {settings}; the file as it was is {kept} (referee calibrate --undo puts it back)",
                    settings=options.settings,
                    kept=kept,
                )
            )
        else:
            print(translate("nothing was stored: name the table's --settings FILE to keep this"))
    return int(any(item.state == "poor" for item in items))
