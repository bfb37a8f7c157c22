"""The settings of a real table: one TOML file, checked key by key before anything is switched on."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from referee.app.housefile import SUFFIX, rules_from
from referee.app.problems import UserError
from referee.app.settings_checks import CALIBRATION, PADS_MEASURED, SEAT, SECTIONS, TOP, Bad, Check, Key, a_name, whole
from referee.rules.house import RulesError, house_rules

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
    from hardware.gpio import PAD_PINS, SEAT_LIGHT_PINS

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
