"""Where the seats are: by the settings, spread evenly, or by where each player's hand comes from.

The still table, of which a calibration is measured: pictures in which nothing moves, and their mean.

The simulated table as `referee calibrate --simulated` sees it: the sheet or four cards, and players who reach.

`referee calibrate`: finds the table, grades what the camera sees of it, and stores it in the settings.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hardware.ports import Camera, Frame, HardwareMissing
from hardware.simulated.pictures.overhead import Overhead, OverheadFrames, Top
from models.table_view.light import compare, measure_light
from models.table_view.reach import Reaching
from models.watch.arm_entries import apart
from referee.errors import UserError
from referee.settings.model import NEAREST_SEATS, CameraSettings, Settings, load
from referee.setup.calibration.find_table import SCALE, Found, find_table, page
from referee.setup.calibration.report import Measured, fields_of, grade, measured, print_json, print_words
from referee.vision.photos import load_eye, read_image

if TYPE_CHECKING:
    from models.eye.eye import Eye

REACH_PATIENCE: Final = 60_000_000_000
"""How long a player may take to reach over the table, ns."""
_HINTS: Final = {
    "two": "  more than one arm: one player at a time, please",
    "dark": "  the picture is dark: switch on the light",
    "blocked": "  something stands before the camera",
}


def even_seats(settings: Settings | None, count: int | None) -> dict[str, float]:
    """Seats' bearings by name: as the settings have them, or ``count`` of them evenly from the first one's."""
    named = [] if settings is None else [(seat.name, seat.bearing) for seat in settings.seats]
    if count is None:
        return dict(named)
    if settings is not None and len(named) != count:
        raise UserError(
            f"--seats {count}: the settings name {len(named)} seats; add or take out sections [[seat]] first"
        )
    names = [name for name, _ in named] or [f"Seat {number}" for number in range(1, count + 1)]
    first = named[0][1] if named else 270.0
    return {name: (first - 360 * k / count) % 360 for k, name in enumerate(names)}


def reached(frames: Iterator[Frame], names: Sequence[str], m: Measured) -> dict[str, float]:
    """Each seat's bearing by where its player's hand comes from, asked one after another.

    Args:
        frames: the first shows the table without a hand.
        names: the seats, in the order in which they are asked.
        m: where the playing area is.

    Raises:
        UserError: nobody reached in time, or two reached from one side.
    """
    x, y = m.found.table.view.to_px(m.found.area.mean(axis=0, keepdims=True))[0]
    reaching = Reaching((float(x), float(y)))
    told: dict[str, float] = {}
    waiting = list(names)
    asked: int | None = None
    state = ""
    _ask(waiting[0])
    for frame in frames:
        asked = frame.t if asked is None else asked
        bearing = reaching.feed(frame.image, frame.t)
        if reaching.state != state:
            state = reaching.state
            if state in _HINTS:
                say(_HINTS[state])
        if bearing is not None:
            name = waiting.pop(0)
            _refuse_near(told, name, bearing)
            told[name] = bearing
            asked = frame.t
            say(f"  {name} reaches from {bearing:.0f}°; take the hand back")
            if not waiting:
                return told
            _ask(waiting[0])
        elif frame.t - asked > REACH_PATIENCE:
            break
    raise UserError(
        f"no hand of {waiting[0]} came over the middle of the table: reach in from the picture's edge, hold the hand "
        "over the middle for a second, one player at a time; then start again"
    )


def _ask(name: str) -> None:
    say(f"{name}: reach one hand over the middle of the table and hold it there")


def say(words: str) -> None:
    """Tell the people at the table something; standard output is for what was measured."""
    print(words, file=sys.stderr, flush=True)


def _refuse_near(told: Mapping[str, float], name: str, bearing: float) -> None:
    for other, there in told.items():
        if apart(there, bearing) < NEAREST_SEATS:
            raise UserError(
                f"{other} and {name} both reach from about {bearing:.0f}° ({apart(there, bearing):.0f}° apart): sit at "
                f"least {NEAREST_SEATS:g}° from each other, or reach straight from your own seat; then start again"
            )


def refuse_near_seats(seats: Mapping[str, float]) -> None:
    """Raise `UserError` if two seats cannot be told apart."""
    for one, other in combinations(seats, 2):
        _refuse_near({one: seats[one]}, other, seats[other])


SECOND: Final = 1_000_000_000
SETTLING: Final = 12
"""Frames that a camera may need until its locked settings show; a change took 11."""
STILL: Final = 12
"""Frames of the still table that are compared."""
MOVING: Final = 0.03
"""Share of the picture in which something may move."""
PATIENCE: Final = 20 * SECOND
"""How long the table may be restless, ns."""


def still(frames: Iterator[Frame]) -> list[Any]:
    """The first `STILL` pictures in a row in which nothing moves.

    Raises:
        UserError: something does all the time, or there are too few frames.
    """
    kept: list[Any] = []
    began: int | None = None
    for count, frame in enumerate(frames):
        began = frame.t if began is None else began
        if count < SETTLING:
            continue
        if kept and compare([kept[-1], frame.image]).moving > MOVING:
            kept.clear()
        kept.append(frame.image)
        if len(kept) == STILL:
            return kept
        if frame.t - began > PATIENCE:
            raise UserError(
                "something moves in the picture all the time: take hands off the table, fix the camera's arm"
            )
    if len(kept) < 2:
        raise UserError("the camera's pictures ended too soon: some seconds of the still table are needed")
    return kept


def average(images: Sequence[Any]) -> Any:
    """The pictures' mean: noise that would move corners is evened out."""
    return np.rint(np.mean(np.stack(images), axis=0, dtype=np.float32)).astype(np.uint8)


def same_scene(images: Sequence[Any]) -> list[Any]:
    """The pictures that show what the first does, so that they differ by noise and light alone."""
    return [image for image in images if image is images[0] or compare([images[0], image]).moving <= MOVING]


CARDS: Final = (("7h", -190.0, -118.0, 12.0), ("Kc", 192.0, -122.0, -8.0), ("2d", 182.0, 122.0, 95.0),
                ("Ts", -186.0, 118.0, 181.0))  # fmt: skip
"""Four cards: where their middles lie, mm, and how they are turned, degrees."""
SHEET: Final = (18.0, -8.0, 7.0)
FPS: Final = 15.0


def top_with(by: str, seed: int = 1) -> Top:
    """A table top on which the sheet (``sheet``) or four cards (``cards``) lie."""
    top = Top(seed=seed)
    if by == "cards":
        for card, x, y, turn in CARDS:
            top.lay_card(card, x, y, turn)
    else:
        top.lay_paper(np.asarray(page("a4"), np.uint8), SCALE, *SHEET)
    return top


def practice_camera(by: str, *, reaches: Sequence[float] = (), seed: int = 1) -> OverheadFrames:
    """A camera that leans a little over such a table.

    Args:
        by: ``cards``, or anything else for the sheet.
        reaches: bearings, degrees, from which hands reach over the middle, one after another.
        seed: cloth, light, arms and noise.
    """
    camera = Overhead(tilt=6.0, towards=270.0, turn=1.5, height=640.0, seed=seed)
    return OverheadFrames(camera, top_with(by, seed), reaches=reaches, fps=FPS)


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
        return practice_camera(options.by, reaches=list(seats.values()) if options.reach else ())
    if settings is None:
        raise UserError(
            "name what to look at: --settings FILE (its camera), IMAGE files, or --simulated; "
            "`referee run --example > table.toml` begins the settings"
        )
    from referee.vision.cameras import open_camera_of

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
    if options.settings is not None and settings is not None:
        from referee.settings.file import read_settings, save_with_backup

        text = read_settings(options.settings).with_measured("calibration", fields_of(m), "referee calibrate")
        bearings = [{"bearing": round(seats[seat.name], 1)} for seat in settings.seats]
        kept = save_with_backup(options.settings, text.with_seats(bearings).text)
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
        from referee.setup.calibration.report import drawn, write_picture

        write_picture(target, drawn(image, m, seats))
    return target


def _exposed(options: Options, settings: Settings | None) -> CameraSettings | None:
    """How the pictures were exposed, where the settings tell: they rule the Pi's camera alone."""
    if options.simulated:
        return CameraSettings(source="simulated", width=960, height=720, fps=15.0)
    if settings is None or settings.camera.source != "picamera":
        return None
    return settings.camera
