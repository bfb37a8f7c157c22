"""`referee calibrate`: finds the table, grades what the camera sees of it, and stores it in the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardware.ports import Camera, HardwareMissing
from models.light import compare, measure_light
from referee.app.calibrating_seats import even_seats, reached, refuse_near_seats, say
from referee.app.calibrating_still import average, same_scene, still
from referee.app.calibration_fields import fields_of
from referee.app.calibration_report import print_json, print_words
from referee.app.finding import Found, find_table
from referee.app.grading import Measured, grade, measured
from referee.app.problems import UserError
from referee.app.recognising import load_eye, read_image
from referee.app.settings import CameraSettings, Settings, load

if TYPE_CHECKING:
    from models.eye import Eye


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    images: Sequence[str] = ()
    settings: Path | None = None
    by: str = "auto"
    """``auto``, ``sheet`` or ``cards``."""
    card_size: str | None = None
    seats: int | None = None
    reach: bool = False
    draw: Path | None = None
    simulated: bool = False
    as_json: bool = False


def calibrate(options: Options) -> int:
    """Find the table, tell how well it is seen, draw and store it; exit status 1 if something is poor.

    Raises:
        UserError: something that is to be mended first; says what to do.
    """
    settings = load(options.settings) if options.settings is not None else None
    seats = even_seats(settings, options.seats)
    _refuse_contradictions(options, settings)

    def eye() -> Eye:
        return load_eye(None if settings is None else settings.deck)

    if options.images:
        image, m = _from_pictures(options, eye)
    else:
        image, m, seats = _from_camera(options, settings, seats, eye)
    return _close(options, settings, image, m, seats)


def _refuse_contradictions(options: Options, settings: Settings | None) -> None:
    if options.images and (options.reach or options.simulated):
        raise UserError(
            "IMAGE files are looked at alone: leave them out for --reach and --simulated, which need a camera"
        )
    if options.reach and settings is None and options.seats is None:
        raise UserError("--reach needs to know the seats: name the table's --settings FILE, or --seats N")


# Where pictures come from


def _from_pictures(options: Options, eye: Callable[[], Eye]) -> tuple[Any, Measured]:
    images = [read_image(name) for name in options.images]
    for name, image in zip(options.images, images, strict=True):
        if image.shape != images[0].shape:
            raise UserError(
                f"{name} is {image.shape[1]}×{image.shape[0]} px and {options.images[0]} is "
                f"{images[0].shape[1]}×{images[0].shape[0]}: one camera's pictures, of one size, are needed"
            )
    found = find_table(images, options.by, eye, options.card_size)
    return images[0], _measured(found, same_scene(images))


def _from_camera(
    options: Options, settings: Settings | None, seats: dict[str, float], eye: Callable[[], Eye]
) -> tuple[Any, Measured, dict[str, float]]:
    """The still table's mean picture, what was measured of it, and the seats, by reach if that was asked for."""
    camera = _open(options, settings, seats)
    try:
        frames = camera.frames()
        say("looking at the table: keep hands off it")
        still_frames = still(frames)
        image = average(still_frames)
        m = _measured(find_table([image], options.by, eye, options.card_size), still_frames)
        return image, m, reached(frames, list(seats), m) if options.reach else seats
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None
    finally:
        camera.close()


def _open(options: Options, settings: Settings | None, seats: Mapping[str, float]) -> Camera:
    if options.simulated:
        from referee.app.practice import practice_camera

        return practice_camera(options.by, reaches=list(seats.values()) if options.reach else ())
    if settings is None:
        raise UserError(
            "name what to look at: --settings FILE (its camera), IMAGE files, or --simulated; "
            "`referee run --example > table.toml` begins the settings"
        )
    from referee.app.parts import open_camera_of

    try:
        return open_camera_of(settings.camera)
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None


def _measured(found: Found, still_frames: Sequence[Any]) -> Measured:
    light = measure_light(still_frames[0], found.outlines)
    return measured(found, compare(still_frames), light)


# What comes of it


def _close(
    options: Options, settings: Settings | None, image: Any, m: Measured, seats: Mapping[str, float]
) -> int:  # fmt: skip
    """Draw, store and tell what was measured; the exit status."""
    refuse_near_seats(seats)
    camera = _exposed(options, settings)
    items = grade(m, camera)
    target = _draw(options, image, m, seats)
    kept = None
    if options.settings is not None:
        from referee.app.editing import store

        kept = store(options.settings, fields_of(m), list(seats.values()))
    if options.as_json:
        print_json(items, m, seats, camera)
    else:
        print_words(items, seats)
        if target is not None:
            print(f"drawn: {target}")
        if kept is not None:
            print(f"stored in {options.settings}; the file as it was is {kept} (referee calibrate --undo puts it back)")
        else:
            print("nothing was stored: name the table's --settings FILE to keep this")
    return int(any(item.grade == "poor" for item in items))


def _draw(options: Options, image: Any, m: Measured, seats: Mapping[str, float]) -> Path | None:
    """The picture with what was found in it, beside the settings unless asked for elsewhere; where it was put."""
    target = options.draw
    if target is None and options.settings is not None:
        target = options.settings.with_suffix(".calibration.jpg")
    if target is not None:
        from referee.app.calibration_picture import drawn, write_picture

        write_picture(target, drawn(image, m, seats))
    return target


def _exposed(options: Options, settings: Settings | None) -> CameraSettings | None:
    """How the pictures were exposed, where the settings tell: they rule the Pi's camera alone."""
    if options.simulated:
        return CameraSettings("simulated", 960, 720, 15.0, 4000, 4.0)
    if settings is None or settings.camera.source != "picamera":
        return None
    return settings.camera
