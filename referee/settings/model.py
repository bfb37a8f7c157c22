"""What each key of a table's settings may hold: checks that return the value, or say what it should have been.

The settings of a real table: one TOML file, checked key by key before anything is switched on.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from referee.errors import UserError
from referee.rules.house import RulesError, house_rules
from referee.settings.house_rules import SUFFIX, rules_from
from referee.text.catalogue import LANGUAGES

LAST_PIN: Final = 27
TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""Of the voice."""


class Bad(Exception):  # noqa: N818 - never leaves the settings
    """What a value should have been."""


Check = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its check, and what holds without it (None in a section that must name it)."""

    check: Check
    default: Any


def whole(low: int, high: int, unit: str = "") -> Check:
    """A whole number within these bounds."""

    def check(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise Bad(f"a whole number from {low} to {high}{unit and ' ' + unit}")
        return value

    return check


def _number(low: float, high: float, unit: str = "") -> Check:
    def check(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise Bad(f"a number from {low:g} to {high:g}{unit and ' ' + unit}")
        return float(value)

    return check


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Bad("true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Bad('a text in quotes, such as "USB Audio"')
    return value


def a_name(value: Any) -> str:
    """A text that is not blank, without the blanks around it."""
    if not isinstance(value, str) or not value.strip():
        raise Bad("a name in quotes")
    return value.strip()


def _source(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Bad('"picamera", "usb:0", or the path of a video file or a folder of frames')
    return value


_pin = whole(0, LAST_PIN, "(a BCM pin)")


def _three_pins(value: Any) -> tuple[int, int, int]:
    if not isinstance(value, list) or len(value) != 3:
        raise Bad("three BCM pins, as in [27, 14, 15]")
    red, green, blue = (_pin(item) for item in value)
    return red, green, blue


def _one_of(*words: str) -> Check:
    def check(value: Any) -> str:
        if value not in words:
            raise Bad(" or ".join(f'"{word}"' for word in words))
        return str(value)

    return check


def _numbers(*counts: int) -> Check:
    def check(value: Any) -> tuple[float, ...]:
        right = isinstance(value, list) and len(value) in counts
        if not right or any(type(v) not in (int, float) or not math.isfinite(v) for v in value):
            raise Bad(f"a list of {' or '.join(map(str, counts))} numbers")
        return tuple(float(v) for v in value)

    return check


def _rows(count: int, length: int) -> Check:
    def check(value: Any) -> tuple[tuple[float, ...], ...]:
        try:
            if isinstance(value, list) and len(value) == count:
                return tuple(_numbers(length)(row) for row in value)
        except Bad:
            pass
        raise Bad(f"{count} lists of {length} numbers each, as `referee calibrate` writes them")

    return check


def _homography(value: Any) -> tuple[tuple[float, ...], ...]:
    (a, b, c), (d, e, f), (g, h, i) = _rows(3, 3)(value)
    if abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)) < 1e-12:
        raise Bad("a matrix that can be inverted, as `referee calibrate` writes it")
    return (a, b, c), (d, e, f), (g, h, i)


def _or_none(check: Check) -> Check:
    """The same check, for a key whose absence means something of its own."""
    return lambda value: None if value is None else check(value)


def _two_numbers(value: Any) -> tuple[float, float]:
    red, blue = _numbers(2)(value)
    if min(red, blue) <= 0:
        raise Bad("two numbers above 0, red and blue, as in [1.9, 1.6]")
    return red, blue


def _topic_name(value: Any) -> str:
    if not isinstance(value, str) or not TOPIC_NAME.fullmatch(value):
        raise Bad("1 to 40 letters, digits, - and _")
    return value


def _time_of_day(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d|", value):
        raise Bad('a time of day such as "22:00", or "" for never')
    return value


def _microseconds(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise Bad("a list of whole microseconds, one for each seat")
    return tuple(whole(0, 100_000, "microseconds")(item) for item in value)


def _microsecond_rows(value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list) or any(not isinstance(r, list) or len(r) != len(value) for r in value):
        raise Bad("as many lists as seats, each of as many whole microseconds")
    return tuple(_microseconds(row) for row in value)


SECTIONS: Final[Mapping[str, Mapping[str, Key]]] = {
    "camera": {
        "source": Key(_source, "picamera"),
        "width": Key(whole(320, 4608, "pixels"), 1536),
        "height": Key(whole(240, 2592, "pixels"), 864),
        "fps": Key(_number(5, 120, "frames a second"), 30.0),
        "exposure_us": Key(whole(50, 30_000, "microseconds"), 4000),
        "gain": Key(_number(1, 16), 4.0),
        "colour_gains": Key(_or_none(_two_numbers), None),
        "lens_position": Key(_or_none(_number(0, 32, "dioptres")), None),
    },
    "pads": {
        "t_error_us": Key(whole(1500, 10_000, "microseconds"), 1500),
        "active_high": Key(_flag, False),
        "force": Key(_flag, False),
        "roll_call": Key(_flag, True),
    },
    "lights": {
        "enabled": Key(_flag, True),
        "table": Key(_three_pins, (27, 14, 15)),
        "strip": Key(_text, ""),
        "strip_length": Key(whole(1, 1000, "lights"), 64),
    },
    "voice": {
        "enabled": Key(_flag, True),
        "device": Key(_text, ""),
        "language": Key(_one_of(*LANGUAGES), "en"),
        "volume": Key(whole(0, 100), 80),
        "quiet_from": Key(_time_of_day, ""),
        "quiet_to": Key(_time_of_day, ""),
        "quiet_volume": Key(whole(0, 100), 30),
        "slap_sound": Key(_flag, True),
        "piper": Key(_text, ""),
    },
    "record": {
        "file": Key(_text, "games/record.db"),
        "pictures": Key(_flag, False),
        "pictures_cap_mb": Key(whole(1, 1_000_000, "MiB"), 512),
    },
    "page": {
        "enabled": Key(_flag, True),
        "host": Key(_text, "0.0.0.0"),
        "port": Key(whole(0, 65_535), 8080),
    },
    "mqtt": {
        "enabled": Key(_flag, False),
        "host": Key(_text, "localhost"),
        "port": Key(whole(1, 65_535), 1883),
        "user": Key(_text, ""),
        "password_file": Key(_text, ""),
        "tls": Key(_flag, False),
        "table": Key(_topic_name, "table"),
        "prefix": Key(_topic_name, "referee"),
    },
    "log": {"folder": Key(_text, "")},
}
CALIBRATION: Final[Mapping[str, Key]] = {
    "source": Key(_one_of("sheet", "cards"), None),
    "width": Key(whole(1, 100_000, "pixels"), None),
    "height": Key(whole(1, 100_000, "pixels"), None),
    "homography": Key(_homography, None),
    "area": Key(_rows(4, 2), None),
    "card_height_px": Key(_number(1, 10_000, "pixels"), None),
    "tilt_deg": Key(_number(0, 90, "degrees"), 0.0),
    "error_px": Key(_number(0, 1000, "pixels"), 0.0),
    "edge_px": Key(_number(0, 1000, "pixels"), 0.0),
    "lens": Key(_numbers(0, 9), ()),
}
PADS_MEASURED: Final[Mapping[str, Key]] = {
    "t_error_us": Key(_microseconds, None),
    "bounce_us": Key(_microseconds, None),
    "crosstalk_us": Key(_microsecond_rows, None),
}
SEAT: Final[Mapping[str, Check]] = {
    "name": a_name, "pad": _pin, "light": _pin, "bearing": _number(-360, 360, "degrees"),
}  # fmt: skip
TOP: Final = ("rules", "dealer", "deck", "seat", *SECTIONS, "pads_measured", "calibration")


FEWEST, MOST = 2, 8
SPI_PINS: Final = (8, 9, 10, 11)
"""BCM numbers of chip select 0, MISO, MOSI and the clock."""
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
    colour_gains: tuple[float, float] | None = None
    """Red and blue; None: the camera finds them before the game, and they are held."""
    lens_position: float | None = None
    """Dioptres; None leaves the lens alone."""


@dataclass(frozen=True, slots=True)
class PadSettings:
    """How the pads are wired and how well they tell their instant."""

    t_error_us: int
    active_high: bool
    force: bool
    """Whether an MCP3008 on the header's SPI measures how hard each pad is hit: channel 0 for seat 1."""
    roll_call: bool
    """Whether every seat slaps its pad before the game, so that a silent one is found."""


@dataclass(frozen=True, slots=True)
class PadsMeasured:
    """What `referee calibrate pads` measured, each list by seat."""

    t_error_us: tuple[int, ...]
    bounce_us: tuple[int, ...]
    crosstalk_us: tuple[tuple[int, ...], ...]
    """The longest contact that a hand on the row's pad makes at the column's."""


@dataclass(frozen=True, slots=True)
class LightSettings:
    """The table's light, and whether there are lights at all."""

    enabled: bool
    table: tuple[int, int, int]
    strip: str
    """Device of a strip of lights; empty where there is none."""
    strip_length: int


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """The speaker."""

    enabled: bool
    device: str
    language: str
    volume: int
    """0 to 100."""
    quiet_from: str
    """Hour and minute from which `quiet_volume` holds; empty: never."""
    quiet_to: str
    quiet_volume: int
    slap_sound: bool
    piper: str
    """Path of a Piper voice; empty for the voices of the system."""


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """Where games are recorded."""

    file: str
    """Empty where none is."""
    pictures: bool
    """Whether pictures round slaps are kept beside it."""
    pictures_cap_mb: int
    """Most MiB of them; the oldest are given up for new ones."""


@dataclass(frozen=True, slots=True)
class PageSettings:
    """The page in the room's browsers."""

    enabled: bool
    host: str
    """Address to listen at; ``0.0.0.0`` for everybody in the network."""
    port: int


@dataclass(frozen=True, slots=True)
class MqttSettings:
    """The broker that this table tells its games to."""

    enabled: bool
    host: str
    port: int
    user: str
    password_file: str
    tls: bool
    table: str
    """What this table is called there."""
    prefix: str
    """Of every topic."""


@dataclass(frozen=True, slots=True)
class CalibrationSettings:
    """What `referee calibrate` measured."""

    source: str
    """``sheet`` or ``cards``."""
    width: int
    height: int
    """Of the picture, px."""
    homography: tuple[tuple[float, ...], ...]
    """3 x 3, from (x, y, 1) mm on the table to px; see `models.table_view.table_map.TableView`."""
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
    record: RecordSettings
    page: PageSettings
    mqtt: MqttSettings
    log_folder: Path | None
    calibration: CalibrationSettings | None = None
    pads_measured: PadsMeasured | None = None
    deck: str | None = None
    """A learned deck's name (`referee enrol`); None reads ordinary decks."""


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
        if key not in TOP:
            raise SettingsError(f"{key} is no setting{_nearest(key, TOP)}")
    seats = _seats(raw.get("seat"))
    parts = {name: _section(name, raw.get(name, {}), keys) for name, keys in SECTIONS.items()}
    games = parts["log"]["folder"]
    settings = Settings(
        rules=_rules(raw.get("rules", "classic"), folder),
        dealer=_checked("dealer", whole(1, len(seats)), raw.get("dealer", 1)),
        seats=seats,
        camera=CameraSettings(**parts["camera"]),
        pads=PadSettings(**parts["pads"]),
        lights=LightSettings(**parts["lights"]),
        voice=VoiceSettings(**parts["voice"]),
        record=RecordSettings(**parts["record"]),
        page=PageSettings(**parts["page"]),
        mqtt=MqttSettings(**parts["mqtt"]),
        log_folder=Path(games).expanduser() if games else None,
        deck=_checked("deck", a_name, raw["deck"]) if "deck" in raw else None,
        calibration=_calibration(raw.get("calibration")),
        pads_measured=_pads_measured(raw.get("pads_measured"), len(seats)),
    )
    _refuse_half_quiet(settings.voice)
    _refuse_shared_pins(settings)
    _refuse_near_seats(settings)
    return settings


def _nearest(word: str, known: Any) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else f"; there are {', '.join(known)}"


def _checked(key: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except Bad as should:
        raise SettingsError(f"{key} must be {should}, not {value!r}") from None


def _section(name: str, raw: Any, keys: Mapping[str, Key]) -> dict[str, Any]:
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
    return CalibrationSettings(**_measured("calibration", raw, CALIBRATION, "referee calibrate"))


def _pads_measured(raw: Any, seats: int) -> PadsMeasured | None:
    if raw is None:
        return None
    command = "referee calibrate pads"
    fields = _measured("pads_measured", raw, PADS_MEASURED, command)
    for key, value in fields.items():
        if len(value) != seats:
            raise SettingsError(
                f"pads_measured.{key} is for {len(value)} seats, but there are {seats}; run {command} again"
            )
    return PadsMeasured(**fields)


def _measured(name: str, raw: Any, keys: Mapping[str, Key], command: str) -> dict[str, Any]:
    """A section that a command wrote, and so has all its keys or none."""
    fields = _section(name, raw, keys)
    for key, value in fields.items():
        if value is None:
            raise SettingsError(f"{name}.{key} is missing; run {command} again, or take the section out")
    return fields


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
    from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS

    made = []
    for number, fields in enumerate(raw, start=1):
        where = f"seat {number}"
        if not isinstance(fields, dict):
            raise SettingsError(f"{where} must be a section, [[seat]]")
        for key in fields:
            if key not in SEAT:
                raise SettingsError(f"{where}: {key} is no setting{_nearest(key, SEAT)}")
        if "name" not in fields:
            raise SettingsError(f"{where} has no name")
        values = {
            "pad": PAD_PINS[number - 1],
            "light": SEAT_LIGHT_PINS[number - 1],
            "bearing": (270 - 360 * (number - 1) / len(raw)) % 360,
            **{key: _checked(f"{where}: {key}", SEAT[key], value) for key, value in fields.items()},
        }
        made.append(SeatSettings(**values))
    return tuple(made)


def _refuse_shared_pins(settings: Settings) -> None:
    uses: list[tuple[int, str]] = [(seat.pad, f"the pad of seat {n}") for n, seat in enumerate(settings.seats, 1)]
    if settings.lights.enabled:
        uses += [(seat.light, f"the light of seat {n}") for n, seat in enumerate(settings.seats, 1)]
        uses += [(pin, "the table's light") for pin in settings.lights.table]
    if settings.pads.force:
        uses += [(pin, "the force chip (SPI)") for pin in SPI_PINS]
    taken: dict[int, str] = {}
    for pin, use in uses:
        if pin in taken:
            raise SettingsError(f"pin {pin} is given to {taken[pin]} and to {use}; give each its own")
        taken[pin] = use


def _refuse_half_quiet(voice: VoiceSettings) -> None:
    for given, lacking in (("quiet_from", "quiet_to"), ("quiet_to", "quiet_from")):
        if getattr(voice, given) and not getattr(voice, lacking):
            raise SettingsError(f"voice.{lacking} is missing: voice.{given} is set, so name both, or neither")


def _refuse_near_seats(settings: Settings) -> None:
    for (a, one), (b, other) in combinations(enumerate(settings.seats, 1), 2):
        apart = abs((one.bearing - other.bearing + 180) % 360 - 180)
        if apart < NEAREST:
            raise SettingsError(
                f"seats {a} and {b} stand {apart:g} degrees apart; bearings must differ by at least {NEAREST:g}"
            )
