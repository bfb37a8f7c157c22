"""`referee calibrate`: finds the table, grades what the camera sees of it, and stores it in the settings."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hardware.ports import Camera, Frame, HardwareMissing
from models.light import compare, measure_light
from models.motion import apart
from models.reaching import Reaching
from models.table import TableView
from referee.app.finding import Found, find_table
from referee.app.grading import Item, Measured, advice, grade, measured
from referee.app.problems import UserError
from referee.app.recognising import load_eye, read_image
from referee.app.settings import NEAREST, CalibrationSettings, CameraSettings, Settings, load

if TYPE_CHECKING:
    from models.eye import Eye
    from models.lens import Lens

SECOND: Final = 1_000_000_000
SETTLING: Final = 12
"""Frames that a camera may need until its locked settings show; a change took 11."""
STILL: Final = 12
"""Frames of the still table that are compared."""
MOVING: Final = 0.03
"""Share of the picture in which something may move."""
PATIENCE: Final = 20 * SECOND
"""How long the table may be restless, ns."""
REACH_PATIENCE: Final = 60 * SECOND
"""How long a player may take to reach over the table, ns."""
COLOURS: Final = {"fine": "green", "acceptable": "yellow", "poor": "red"}


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
    seats = _even_seats(settings, options.seats)
    if options.images and (options.reach or options.simulated):
        raise UserError(
            "IMAGE files are looked at alone: leave them out for --reach and --simulated, which need a camera"
        )
    if options.reach and settings is None and options.seats is None:
        raise UserError("--reach needs to know the seats: name the table's --settings FILE, or --seats N")

    def eye() -> Eye:
        return load_eye(None if settings is None else settings.deck)

    if options.images:
        image, found, still_frames = _from_pictures(options, eye)
        return _close(options, settings, image, _measured(image, found, still_frames), seats)
    camera = _open(options, settings, seats)
    try:
        frames = camera.frames()
        _say("looking at the table: keep hands off it")
        still_frames = still(frames)
        image = average(still_frames)
        m = _measured(image, find_table([image], options.by, eye, options.card_size), still_frames)
        if options.reach:
            seats = reached(frames, list(seats), m)
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None
    finally:
        camera.close()
    return _close(options, settings, image, m, seats)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


# Where pictures come from


def _from_pictures(options: Options, eye: Callable[[], Eye]) -> tuple[Any, Found, list[Any]]:
    images = [read_image(name) for name in options.images]
    for name, image in zip(options.images, images, strict=True):
        if image.shape != images[0].shape:
            raise UserError(
                f"{name} is {image.shape[1]}×{image.shape[0]} px and {options.images[0]} is "
                f"{images[0].shape[1]}×{images[0].shape[0]}: one camera's pictures, of one size, are needed"
            )
    found = find_table(images, options.by, eye, options.card_size)
    return images[0], found, _same_scene(images)


def _same_scene(images: Sequence[Any]) -> list[Any]:
    """The pictures that show what the first does, so that they differ by noise and light alone."""
    return [image for image in images if image is images[0] or compare([images[0], image]).moving <= MOVING]


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


def _measured(image: Any, found: Found, still_frames: Sequence[Any]) -> Measured:
    light = measure_light(still_frames[0], found.outlines)
    return measured(found, compare(still_frames), light)


# Seats


def _even_seats(settings: Settings | None, count: int | None) -> dict[str, float]:
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
    _say(f"{waiting[0]}: reach one hand over the middle of the table and hold it there")
    for frame in frames:
        asked = frame.t if asked is None else asked
        bearing = reaching.feed(frame.image, frame.t)
        if reaching.state != state:
            state = reaching.state
            _hint(state)
        if bearing is not None:
            name = waiting.pop(0)
            _refuse_near(told, name, bearing)
            told[name] = bearing
            asked = frame.t
            _say(f"  {name} reaches from {bearing:.0f}°; take the hand back")
            if not waiting:
                return told
            _say(f"{waiting[0]}: reach one hand over the middle of the table and hold it there")
        elif frame.t - asked > REACH_PATIENCE:
            break
    raise UserError(
        f"no hand of {waiting[0]} came over the middle of the table: reach in from the picture's edge, hold the hand "
        "over the middle for a second, one player at a time; then start again"
    )


def _hint(state: str) -> None:
    words = {
        "two": "  more than one arm: one player at a time, please",
        "dark": "  the picture is dark: switch on the light",
        "blocked": "  something stands before the camera",
    }
    if state in words:
        _say(words[state])


def _refuse_near(told: Mapping[str, float], name: str, bearing: float) -> None:
    for other, there in told.items():
        if apart(there, bearing) < NEAREST:
            raise UserError(
                f"{other} and {name} both reach from about {bearing:.0f}° ({apart(there, bearing):.0f}° apart): sit at "
                f"least {NEAREST:g}° from each other, or reach straight from your own seat; then start again"
            )


def refuse_near_seats(seats: Mapping[str, float]) -> None:
    """Raise `UserError` if two seats cannot be told apart."""
    for one, other in combinations(seats, 2):
        _refuse_near({one: seats[one]}, other, seats[other])


# What comes of it


def fields_of(m: Measured) -> dict[str, Any]:
    """What the section ``[calibration]`` holds."""
    view, table = m.found.table.view, m.found.table
    fields: dict[str, Any] = {
        "source": m.found.source,
        "width": view.size[0],
        "height": view.size[1],
        "card_height_px": round(m.heights[0], 1),
        "tilt_deg": round(table.tilt, 1),
        "error_px": round(table.error_px, 3),
        "edge_px": round(m.edge_px, 2) if not math.isnan(m.edge_px) else 0.0,
        "homography": [[float(f"{v:.9g}") for v in row] for row in view.homography.tolist()],
        "area": [[round(v, 1) for v in row] for row in m.found.area.tolist()],
    }
    if view.lens is not None:
        lens = view.lens
        fields["lens"] = [float(f"{v:.7g}") for v in (lens.fx, lens.fy, lens.cx, lens.cy, *lens.bend)]
    return fields


def view_of(stored: CalibrationSettings) -> TableView:
    """The table as a settings file tells it."""
    from models.lens import Lens

    lens: Lens | None = None
    if stored.lens:
        fx, fy, cx, cy, k1, k2, p1, p2, k3 = stored.lens
        lens = Lens(fx, fy, cx, cy, (k1, k2, p1, p2, k3))
    return TableView(np.array(stored.homography), (stored.width, stored.height), lens)


def _close(
    options: Options, settings: Settings | None, image: Any, m: Measured, seats: Mapping[str, float]
) -> int:  # fmt: skip
    refuse_near_seats(seats)
    camera = _exposed(options, settings)
    items = grade(m, camera)
    target = options.draw
    if target is None and options.settings is not None:
        target = options.settings.with_suffix(".calibration.jpg")
    if target is not None:
        from referee.app.calibration_picture import drawn, write_picture

        write_picture(target, drawn(image, m, seats))
    kept = None
    if options.settings is not None:
        from referee.app.editing import store

        kept = store(options.settings, fields_of(m), list(seats.values()))
    if options.as_json:
        _print_json(items, m, seats, camera)
    else:
        _print(items, seats)
        if target is not None:
            print(f"drawn: {target}")
        if kept is not None:
            print(f"stored in {options.settings}; the file as it was is {kept} (referee calibrate --undo puts it back)")
        else:
            print("nothing was stored: name the table's --settings FILE to keep this")
    return int(any(item.grade == "poor" for item in items))


def _exposed(options: Options, settings: Settings | None) -> CameraSettings | None:
    """How the pictures were exposed, where the settings tell: they rule the Pi's camera alone."""
    if options.simulated:
        return CameraSettings("simulated", 960, 720, 15.0, 4000, 4.0)
    if settings is None or settings.camera.source != "picamera":
        return None
    return settings.camera


def _print(items: Sequence[Item], seats: Mapping[str, float]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for item in items:
        words = item.words + (f"\n→ {item.todo}" if item.todo else "")
        table.add_row(f"[{COLOURS[item.grade]}]{item.grade}[/]", item.name, words)
    if seats:
        table.add_row("", "seats", ", ".join(f"{name} {bearing:.0f}°" for name, bearing in seats.items()))
    Console(highlight=False).print(table)


def _print_json(items: Sequence[Item], m: Measured, seats: Mapping[str, float], camera: CameraSettings | None) -> None:
    out: dict[str, Any] = {
        "items": [asdict(item) for item in items],
        "calibration": fields_of(m),
        "seats": {name: round(bearing, 1) for name, bearing in seats.items()},
        "noise": None if math.isnan(m.still.noise) else round(m.still.noise, 2),
        "flicker": None if math.isnan(m.still.flicker) else round(m.still.flicker, 4),
        "white": round(m.light.white, 1),
    }
    if camera is not None:
        out["exposure"] = asdict(advice(m, camera))
    print(json.dumps(out, ensure_ascii=False))
