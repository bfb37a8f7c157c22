"""The settings of a real table: one TOML file, checked key by key before anything is switched on."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from referee.app.housefile import SUFFIX, rules_from
from referee.app.problems import UserError
from referee.rules.house import RulesError, house_rules

FEWEST, MOST = 2, 8
LAST_PIN: Final = 27
NEAREST: Final = 20.0
"""Degrees; seats that stand closer cannot be told apart by where a hand comes from."""


class SettingsError(UserError):
    """A key that is wrong; names it and says what it should be."""


@dataclass(frozen=True, slots=True)
class SeatSettings:
    """One seat: its name, its pins (BCM), and where it stands in the picture (degrees, see `Card.bearing`)."""

    name: str
    pad: int
    light: int
    bearing: float


@dataclass(frozen=True, slots=True)
class CameraSettings:
    """Where frames come from."""

    source: str
    width: int
    height: int
    fps: float
    exposure_us: int
    gain: float


@dataclass(frozen=True, slots=True)
class PadSettings:
    """How the pads are wired and how well they tell their instant."""

    t_error_us: int
    active_high: bool


@dataclass(frozen=True, slots=True)
class LightSettings:
    """The table's light, and whether there are lights at all."""

    enabled: bool
    table: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """The speaker."""

    enabled: bool
    device: str


@dataclass(frozen=True, slots=True)
class CalibrationSettings:
    """What `referee calibrate` measured."""

    source: str
    """``sheet`` or ``cards``."""
    width: int
    height: int
    """Of the picture, px."""
    homography: tuple[tuple[float, ...], ...]
    """3 x 3, from (x, y, 1) mm on the table to px; see `models.table.TableView`."""
    area: tuple[tuple[float, ...], ...]
    """Four corners of the playing area, mm."""
    card_height_px: float
    """In the middle of the playing area."""
    tilt_deg: float
    error_px: float
    edge_px: float
    """Over how many pixels an edge spreads."""
    lens: tuple[float, ...]
    """fx, fy, cx, cy (px), k1, k2, p1, p2, k3; empty where the lens was not measured."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a real table needs to know."""

    rules: Any
    dealer: int
    seats: tuple[SeatSettings, ...]
    camera: CameraSettings
    pads: PadSettings
    lights: LightSettings
    voice: VoiceSettings
    log_folder: Path | None
    calibration: CalibrationSettings | None = None
    deck: str | None = None
    """A learned deck's name (`referee enrol`); None reads ordinary decks."""


class _Bad(Exception):  # noqa: N818 - never leaves this module
    """What a value should have been."""


Check = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Key:
    check: Check
    default: Any


def _whole(low: int, high: int, unit: str = "") -> Check:
    def check(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise _Bad(f"a whole number from {low} to {high}{unit and ' ' + unit}")
        return value

    return check


def _number(low: float, high: float, unit: str = "") -> Check:
    def check(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise _Bad(f"a number from {low:g} to {high:g}{unit and ' ' + unit}")
        return float(value)

    return check


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Bad("true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Bad('a text in quotes, such as "USB Audio"')
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Bad("a name in quotes")
    return value.strip()


def _source(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _Bad('"picamera", "usb:0", or the path of a video file or a folder of frames')
    return value


_pin = _whole(0, LAST_PIN, "(a BCM pin)")


def _three_pins(value: Any) -> tuple[int, int, int]:
    if not isinstance(value, list) or len(value) != 3:
        raise _Bad("three BCM pins, as in [27, 14, 15]")
    red, green, blue = (_pin(item) for item in value)
    return red, green, blue


def _one_of(*words: str) -> Check:
    def check(value: Any) -> str:
        if value not in words:
            raise _Bad(" or ".join(f'"{word}"' for word in words))
        return str(value)

    return check


def _numbers(*counts: int) -> Check:
    def check(value: Any) -> tuple[float, ...]:
        right = isinstance(value, list) and len(value) in counts
        if not right or any(type(v) not in (int, float) or not math.isfinite(v) for v in value):
            raise _Bad(f"a list of {' or '.join(map(str, counts))} numbers")
        return tuple(float(v) for v in value)

    return check


def _rows(count: int, length: int) -> Check:
    def check(value: Any) -> tuple[tuple[float, ...], ...]:
        try:
            if isinstance(value, list) and len(value) == count:
                return tuple(_numbers(length)(row) for row in value)
        except _Bad:
            pass
        raise _Bad(f"{count} lists of {length} numbers each, as `referee calibrate` writes them")

    return check


def _homography(value: Any) -> tuple[tuple[float, ...], ...]:
    (a, b, c), (d, e, f), (g, h, i) = _rows(3, 3)(value)
    if abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)) < 1e-12:
        raise _Bad("a matrix that can be inverted, as `referee calibrate` writes it")
    return (a, b, c), (d, e, f), (g, h, i)


_SECTIONS: Final[Mapping[str, Mapping[str, _Key]]] = {
    "camera": {
        "source": _Key(_source, "picamera"),
        "width": _Key(_whole(320, 4608, "pixels"), 1536),
        "height": _Key(_whole(240, 2592, "pixels"), 864),
        "fps": _Key(_number(5, 120, "frames a second"), 30.0),
        "exposure_us": _Key(_whole(50, 30_000, "microseconds"), 4000),
        "gain": _Key(_number(1, 16), 4.0),
    },
    "pads": {
        "t_error_us": _Key(_whole(1500, 10_000, "microseconds"), 1500),
        "active_high": _Key(_flag, False),
    },
    "lights": {
        "enabled": _Key(_flag, True),
        "table": _Key(_three_pins, (27, 14, 15)),
    },
    "voice": {
        "enabled": _Key(_flag, True),
        "device": _Key(_text, ""),
    },
    "log": {"folder": _Key(_text, "games")},
}
_CALIBRATION: Final[Mapping[str, _Key]] = {
    "source": _Key(_one_of("sheet", "cards"), None),
    "width": _Key(_whole(1, 100_000, "pixels"), None),
    "height": _Key(_whole(1, 100_000, "pixels"), None),
    "homography": _Key(_homography, None),
    "area": _Key(_rows(4, 2), None),
    "card_height_px": _Key(_number(1, 10_000, "pixels"), None),
    "tilt_deg": _Key(_number(0, 90, "degrees"), 0.0),
    "error_px": _Key(_number(0, 1000, "pixels"), 0.0),
    "edge_px": _Key(_number(0, 1000, "pixels"), 0.0),
    "lens": _Key(_numbers(0, 9), ()),
}
_SEAT: Final[Mapping[str, Check]] = {
    "name": _name, "pad": _pin, "light": _pin, "bearing": _number(-360, 360, "degrees"),
}  # fmt: skip
_TOP: Final = ("rules", "dealer", "deck", "seat", *_SECTIONS, "calibration")


def example() -> str:
    """A commented settings file that holds every key."""
    return (Path(__file__).parent / "example.toml").read_text(encoding="utf-8")


def load(path: Path) -> Settings:
    """Read and check a settings file.

    Raises:
        UserError: there is no such file, or it is no TOML.
        SettingsError: a key is unknown, missing or out of bounds; names it and says what it should be.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; `referee run --example > {path}` begins one") from None
    except (OSError, UnicodeDecodeError) as bad:
        raise UserError(f"{path} cannot be read: {bad}") from None
    try:
        return parse(text, path.parent)
    except SettingsError as bad:
        raise SettingsError(f"{path}: {bad}") from None


def parse(text: str, folder: Path | None = None) -> Settings:
    """Check settings given as TOML text; a house-rules file is looked for in ``folder``.

    Raises:
        SettingsError: see `load`.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise SettingsError(f"not TOML: {bad}") from None
    for key in raw:
        if key not in _TOP:
            raise SettingsError(f"{key} is no setting{_nearest(key, _TOP)}")
    seats = _seats(raw.get("seat"))
    parts = {name: _section(name, raw.get(name, {}), keys) for name, keys in _SECTIONS.items()}
    games = parts["log"]["folder"]
    settings = Settings(
        rules=_rules(raw.get("rules", "classic"), folder),
        dealer=_checked("dealer", _whole(1, len(seats)), raw.get("dealer", 1)),
        seats=seats,
        camera=CameraSettings(**parts["camera"]),
        pads=PadSettings(**parts["pads"]),
        lights=LightSettings(**parts["lights"]),
        voice=VoiceSettings(**parts["voice"]),
        log_folder=Path(games).expanduser() if games else None,
        deck=_checked("deck", _name, raw["deck"]) if "deck" in raw else None,
        calibration=_calibration(raw.get("calibration")),
    )
    _refuse_shared_pins(settings)
    _refuse_near_seats(settings)
    return settings


def _nearest(word: str, known: Any) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else f"; there are {', '.join(known)}"


def _checked(key: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except _Bad as should:
        raise SettingsError(f"{key} must be {should}, not {value!r}") from None


def _section(name: str, raw: Any, keys: Mapping[str, _Key]) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise SettingsError(f"{name} must be a section, [{name}], not {raw!r}")
    for key in raw:
        if key not in keys:
            raise SettingsError(f"{name}.{key} is no setting{_nearest(key, keys)}")
    return {
        key: _checked(f"{name}.{key}", entry.check, raw[key]) if key in raw else entry.default
        for key, entry in keys.items()
    }


def _calibration(raw: Any) -> CalibrationSettings | None:
    if raw is None:
        return None
    fields = _section("calibration", raw, _CALIBRATION)
    for key, value in fields.items():
        if value is None:
            raise SettingsError(f"calibration.{key} is missing; run referee calibrate again, or take the section out")
    return CalibrationSettings(**fields)


def _rules(said: Any, folder: Path | None) -> Any:
    if isinstance(said, str) and said.endswith(SUFFIX):
        return rules_from(said, folder)
    try:
        house_rules(said)
    except RulesError as bad:
        raise SettingsError(f"rules: {bad}") from None
    return said


def _seats(raw: Any) -> tuple[SeatSettings, ...]:
    if not isinstance(raw, list) or not FEWEST <= len(raw) <= MOST:
        raise SettingsError(f"there must be {FEWEST} to {MOST} seats, each a section [[seat]] with a name")
    from hardware.gpio import PAD_PINS, SEAT_LIGHT_PINS

    made = []
    for number, fields in enumerate(raw, start=1):
        where = f"seat {number}"
        if not isinstance(fields, dict):
            raise SettingsError(f"{where} must be a section, [[seat]]")
        for key in fields:
            if key not in _SEAT:
                raise SettingsError(f"{where}: {key} is no setting{_nearest(key, _SEAT)}")
        if "name" not in fields:
            raise SettingsError(f"{where} has no name")
        values = {
            "pad": PAD_PINS[number - 1],
            "light": SEAT_LIGHT_PINS[number - 1],
            "bearing": (270 - 360 * (number - 1) / len(raw)) % 360,
            **{key: _checked(f"{where}: {key}", _SEAT[key], value) for key, value in fields.items()},
        }
        made.append(SeatSettings(**values))
    return tuple(made)


def _refuse_shared_pins(settings: Settings) -> None:
    uses: list[tuple[int, str]] = [(seat.pad, f"the pad of seat {n}") for n, seat in enumerate(settings.seats, 1)]
    if settings.lights.enabled:
        uses += [(seat.light, f"the light of seat {n}") for n, seat in enumerate(settings.seats, 1)]
        uses += [(pin, "the table's light") for pin in settings.lights.table]
    taken: dict[int, str] = {}
    for pin, use in uses:
        if pin in taken:
            raise SettingsError(f"pin {pin} is given to {taken[pin]} and to {use}; give each its own")
        taken[pin] = use


def _refuse_near_seats(settings: Settings) -> None:
    for (a, one), (b, other) in combinations(enumerate(settings.seats, 1), 2):
        apart = abs((one.bearing - other.bearing + 180) % 360 - 180)
        if apart < NEAREST:
            raise SettingsError(
                f"seats {a} and {b} stand {apart:g} degrees apart; bearings must differ by at least {NEAREST:g}"
            )
