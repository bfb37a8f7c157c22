"""The settings of a real table: one TOML file, checked key by key before any device is switched on.

The models below are the only definition of each key's values and defaults; a field's description completes the error
message for a wrong value. `example.toml` explains the keys to people, and a test compares it with the models.
"""

from __future__ import annotations

import difflib
import tomllib
from ipaddress import ip_address
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from hardware.pads.pad_place import MOST_PHONES, PLACE_PATTERN, PadPlace, parse_place
from hardware.pads.pinout import I2S_PINS, PAD_PINS, SEAT_LIGHT_PINS
from hardware.sound.sound_cards import is_on_header
from referee.errors import UserError
from referee.rules.house import RulesError, in_direction, read_house_rules
from referee.sentence import Sentence
from referee.settings import value_kinds as kinds
from referee.settings.house_rules import SUFFIX, resolve_rules
from referee.settings.places import RECORD, record_at
from referee.text.catalogue import LANGUAGES

LAST_PIN: Final = 27
FEWEST_SEATS, MOST_SEATS = 2, 8
SPI_PINS: Final = (8, 9, 10, 11)
"""BCM numbers of chip select 0, MISO, MOSI and the clock."""
NEAREST_SEATS: Final = 20.0
"""Minimum angle between seats, degrees; the direction of a hand cannot tell closer seats apart."""


class SettingsError(UserError):
    """A wrong key; the message names it and says what it should be."""


class Section(BaseModel):
    """A section of the file. `parse_settings` turns a mistake in it into a `SettingsError`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


_Pin = Annotated[
    int, Field(ge=0, le=LAST_PIN, description=Sentence("a whole number from 0 to {most} (a BCM pin)", most=LAST_PIN))
]
_Pad = Annotated[
    _Pin | Annotated[str, StringConstraints(pattern=PLACE_PATTERN)],
    Field(
        description=Sentence(
            'a whole number from 0 to {most} (a BCM pin), or a place such as "key:a", "serial:2", "phone" or '
            '"browser:a"', most=LAST_PIN,
        )
    ),
]  # fmt: skip
_Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), Field(description=Sentence("a name in quotes"))
]  # fmt: skip
_Address = Annotated[str, AfterValidator(lambda text: str(ip_address(text)))]
_Above0 = Annotated[float, Field(gt=0)]
_Microseconds = Annotated[int, Field(ge=0, le=100_000)]
_BySeat = Annotated[tuple[_Microseconds, ...], Field(min_length=1)]
_Three = tuple[float, float, float]
_Point = tuple[float, float]


class SeatSettings(Section):
    """One seat: its name, its pad and light, and its bearing in the picture (degrees, see `Card.bearing`)."""

    name: _Name
    said: str = kinds.text()
    """Spelling of the name for the voice; empty: as written."""
    pad: _Pad
    """Pin (BCM), or a place of another kind: see `hardware.pads.pad_place`."""
    light: _Pin
    bearing: float = kinds.number(..., -360, 360, "degrees")

    @property
    def pad_pin(self) -> int | None:
        """Pin (BCM) of a pad that is wired to the header."""
        return self.pad if isinstance(self.pad, int) else None

    @property
    def pad_place(self) -> PadPlace | None:
        """Place of a pad that is not wired to the header."""
        return parse_place(self.pad) if isinstance(self.pad, str) else None


class CameraSettings(Section):
    """The source of frames."""

    source: str = Field(
        default="picamera", min_length=1,
        description=Sentence(
            '"picamera", "usb:0", a stream\'s http:// or rtsp:// address, or a video file or folder of frames'
        ),
    )  # fmt: skip
    width: int = kinds.whole(1536, 320, 4608, "pixels")
    height: int = kinds.whole(864, 240, 2592, "pixels")
    fps: float = kinds.number(30.0, 5, 120, "frames a second")
    mains_hz: Literal[50, 60] | None = Field(default=None, description=Sentence("50 or 60"))
    """Frequency of the lamps' mains; None: unknown."""
    exposure_us: int = kinds.whole(4000, 50, 30_000, "microseconds")
    gain: float = kinds.number(4.0, 1, 16)
    colour_gains: tuple[_Above0, _Above0] | None = Field(
        default=None, description=Sentence("a list of 2 numbers above 0, red and blue, as in [1.9, 1.6]")
    )
    """None: the camera finds them before the game, and they are then fixed."""
    lens_position: float | None = kinds.number(None, 0, 32, "dioptres")
    """None: the lens is not adjusted."""
    delay_ms: float | None = kinds.number(None, 0, 5000, "milliseconds")
    """Delay of a network camera's pictures; None: not measured."""
    bare_table: str = kinds.text()
    """Path of a picture of the table without cards; empty: none was taken."""


class EyeSettings(Section):
    """The eye, which reads the cards."""

    threads: int | None = kinds.whole(None, 1, 64, "threads")
    """Threads of the eye's networks; None: not measured, see `referee.vision.photos.usual_threads`."""


class PadSettings(Section):
    """The wiring of the pads, and their timing error."""

    t_error_us: int = kinds.whole(1500, 1500, 10_000, "microseconds")
    active_high: bool = kinds.flag(False)
    force: bool = kinds.flag(False)
    """Whether an MCP3008 on the header's SPI measures the force on each pad: channel 0 for seat 1."""
    grab_keys: bool = kinds.flag(False)
    """Whether the referee takes exclusive hold of a keyboard that a seat names."""
    roll_call: bool = kinds.flag(True)
    """Whether every seat slaps its pad before the game, to find silent ones."""
    phones: int = kinds.whole(1, 1, MOST_PHONES)
    """Maximum number of phones that are one seat's pad at the same time."""


class LightSettings(Section):
    """The table's light, and whether there are lights at all."""

    enabled: bool = kinds.flag(True)
    table: tuple[_Pin, _Pin, _Pin] = Field(
        default=(27, 14, 15), description=Sentence("three BCM pins, as in [27, 14, 15]")
    )
    strip: str = kinds.text()
    """Device of a light strip; empty: none."""
    strip_length: int = kinds.whole(64, 1, 1000, "lights")


class VoiceSettings(Section):
    """The speaker."""

    enabled: bool = kinds.flag(True)
    device: str = kinds.text()
    language: str = kinds.one_of("en", LANGUAGES)
    volume: int = kinds.whole(80, 0, 100)
    quiet_from: str = kinds.time_of_day()
    """Start of the time of `quiet_volume`."""
    quiet_to: str = kinds.time_of_day()
    quiet_volume: int = kinds.whole(30, 0, 100)
    slap_sound: bool = kinds.flag(True)
    cards: bool = kinds.flag(False)
    """Whether each card is called as it lands, for people who cannot see."""
    piper: str = kinds.text()
    """Path of a Piper voice; empty: the system's voices."""


class RecordSettings(Section):
    """The record of games."""

    file: str = kinds.text(RECORD)
    """A relative path lies in the folder of data (`referee.settings.places`); empty: no record."""
    pictures: bool = kinds.flag(False)
    """Whether to keep pictures around slaps beside it."""
    pictures_cap_mb: int = kinds.whole(512, 1, 1_000_000, "MiB")
    """Maximum size of them; new ones replace the oldest."""


class PageSettings(Section):
    """The page for browsers in the room."""

    enabled: bool = kinds.flag(True)
    host: str = kinds.text("0.0.0.0")
    port: int = kinds.whole(8080, 0, 65_535)
    only_paired: bool = kinds.flag(False)
    """Whether only paired devices may view."""
    replays: bool = kinds.flag(True)
    """Whether the scoreboard plays each decided slap again, if pictures are kept."""
    https: bool = kinds.flag(False)
    """Whether the page is reachable only through a proxy that serves it by https."""
    proxies: Annotated[
        tuple[_Address, ...], Field(description=Sentence('a list of IP addresses, such as ["127.0.0.1"]'))
    ] = ()
    """Addresses of such proxies, whose ``X-Forwarded-For`` is trusted."""

    @model_validator(mode="after")
    def _proxies_serve_by_https(self) -> Self:
        if self.proxies and not self.https:
            raise ValueError(
                "page.proxies needs https = true: without it a client that bypasses the proxy could claim any address"
            )
        return self


class MqttSettings(Section):
    """The broker to which this table publishes its games."""

    enabled: bool = kinds.flag(False)
    host: str = kinds.text("localhost")
    port: int = kinds.whole(1883, 1, 65_535)
    user: str = kinds.text()
    password_file: str = kinds.text()
    tls: bool = kinds.flag(False)
    table: str = kinds.topic_name("table")
    """This table's name there."""
    prefix: str = kinds.topic_name("referee")
    """Prefix of every topic."""


class LogSettings(Section):
    """Logs besides the record."""

    folder: str = kinds.text()


def _square(rows: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    if any(len(row) != len(rows) for row in rows):
        raise ValueError("there are more or fewer lists than their values")
    return rows


class PadsMeasured(Section):
    """Measurements of `referee calibrate pads`, each list by seat."""

    t_error_us: _BySeat = Field(description=Sentence("a list of whole microseconds, one for each seat"))
    bounce_us: _BySeat = Field(description=Sentence("a list of whole microseconds, one for each seat"))
    crosstalk_us: Annotated[tuple[_BySeat, ...], AfterValidator(_square)] = Field(
        description=Sentence("as many lists as seats, each of as many whole microseconds from 0 to 100000")
    )
    """The longest contact that a hand on the row's pad causes at the column's."""


def _invertible(rows: tuple[_Three, _Three, _Three]) -> tuple[_Three, _Three, _Three]:
    (a, b, c), (d, e, f), (g, h, i) = rows
    if abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)) < 1e-12:
        raise ValueError("it cannot be inverted")
    return rows


def _whole_lens(values: tuple[float, ...]) -> tuple[float, ...]:
    if len(values) not in (0, 9):
        raise ValueError("there are 9 of them")
    return values


class CalibrationSettings(Section):
    """Measurements of `referee calibrate`."""

    source: str = kinds.one_of(..., ("sheet", "cards"))
    width: int = kinds.whole(..., 1, 100_000, "pixels")
    height: int = kinds.whole(..., 1, 100_000, "pixels")
    """Size of the picture, px."""
    homography: Annotated[tuple[_Three, _Three, _Three], AfterValidator(_invertible)] = Field(
        description=Sentence("3 lists of 3 numbers each that can be inverted, as `referee calibrate` writes them")
    )
    """3 x 3, from (x, y, 1) mm on the table to px; see `models.table_view.table_map.TableView`."""
    area: tuple[_Point, _Point, _Point, _Point] = Field(
        description=Sentence("4 lists of 2 numbers each, as `referee calibrate` writes them")
    )
    """Four corners of the playing area, mm."""
    card_height_px: float = kinds.number(..., 1, 10_000, "pixels")
    """In the middle of the playing area."""
    tilt_deg: float = kinds.number(0.0, 0, 90, "degrees")
    error_px: float = kinds.number(0.0, 0, 1000, "pixels")
    edge_px: float = kinds.number(0.0, 0, 1000, "pixels")
    """Width of an edge, px."""
    lens: Annotated[tuple[float, ...], AfterValidator(_whole_lens)] = Field(
        default=(), description=Sentence("a list of 0 or 9 numbers")
    )
    """fx, fy, cx, cy (px), k1, k2, p1, p2, k3; empty: the lens was not measured."""


_WRITTEN_BY: Final = {"calibration": "referee calibrate", "pads_measured": "referee calibrate pads"}
"""Sections that a command writes, as a whole or not at all."""


class Settings(Section):
    """The complete settings of a real table."""

    rules: Any = "classic"
    """A preset, or a changed preset in the form of a log's first line."""
    direction: Literal["clockwise", "counter-clockwise"] | None = Field(
        default=None, description=Sentence('"clockwise" or "counter-clockwise"')
    )
    """Direction of play (S5); None: as ``rules`` say."""
    dealer: int = kinds.whole(1, 1, MOST_SEATS)
    deck: _Name | None = Field(default=None, description=Sentence("a name in quotes"))
    """A learned deck's name (`referee enrol`); None: ordinary decks."""
    seats: tuple[SeatSettings, ...] = Field(alias="seat")
    camera: CameraSettings = CameraSettings()
    eye: EyeSettings = EyeSettings()
    pads: PadSettings = PadSettings()
    lights: LightSettings = LightSettings()
    voice: VoiceSettings = VoiceSettings()
    record: RecordSettings = RecordSettings()
    page: PageSettings = PageSettings()
    mqtt: MqttSettings = MqttSettings()
    log: LogSettings = LogSettings()
    pads_measured: PadsMeasured | None = None
    calibration: CalibrationSettings | None = None

    @property
    def played_rules(self) -> Any:
        """``rules`` with the direction that the settings name."""
        return in_direction(self.rules, self.direction)

    @property
    def record_file(self) -> Path | None:
        """The file in which the games of this table are recorded; None: no record."""
        return record_at(self.record.file) if self.record.file else None

    @property
    def log_folder(self) -> Path | None:
        """Folder for a log file of each game, besides the record."""
        return Path(self.log.folder).expanduser() if self.log.folder else None

    @field_validator("seats", mode="before")
    @classmethod
    def _fill_in_seats(cls, raw: Any) -> Any:
        if not isinstance(raw, tuple) or not FEWEST_SEATS <= len(raw) <= MOST_SEATS:
            raise ValueError("there are too few or too many")
        return tuple(
            {"pad": PAD_PINS[n], "light": SEAT_LIGHT_PINS[n], "bearing": (270 - 360 * n / len(raw)) % 360, **seat}
            if isinstance(seat, dict)
            else seat
            for n, seat in enumerate(raw)
        )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        seats = len(self.seats)
        if self.dealer > seats:
            raise SettingsError(
                "dealer must be a whole number from 1 to {places}, not {dealer}", places=seats, dealer=self.dealer
            )
        for key, values in self.pads_measured or ():
            if len(values) != seats:
                raise SettingsError(
                    "pads_measured.{key} is for {many} seats, but there are {places}; run {command} again",
                    key=key, many=len(values), places=seats, command=_WRITTEN_BY["pads_measured"],
                )  # fmt: skip
        for given, lacking in (("quiet_from", "quiet_to"), ("quiet_to", "quiet_from")):
            if getattr(self.voice, given) and not getattr(self.voice, lacking):
                words = "voice.{lacking} is missing: voice.{given} is set, so name both, or neither"
                raise SettingsError(words, lacking=lacking, given=given)
        for (a, one), (b, other) in combinations(enumerate(self.seats, 1), 2):
            apart = abs((one.bearing - other.bearing + 180) % 360 - 180)
            if apart < NEAREST_SEATS:
                raise SettingsError(
                    "seats {a} and {b} stand {apart} degrees apart; bearings must differ by at least {least}",
                    a=a, b=b, apart=f"{apart:g}", least=f"{NEAREST_SEATS:g}",
                )  # fmt: skip
        return self

    @model_validator(mode="after")
    def _refuse_shared_pins(self) -> Self:
        uses = [(seat.pad_pin, Sentence("the pad of seat {n}", n=n)) for n, seat in enumerate(self.seats, 1)]
        if self.lights.enabled:
            uses += [(seat.light, Sentence("the light of seat {n}", n=n)) for n, seat in enumerate(self.seats, 1)]
            uses += [(pin, Sentence("the table's light")) for pin in self.lights.table]
        if self.pads.force:
            uses += [(pin, Sentence("the force chip (SPI)")) for pin in SPI_PINS]
        if self.voice.enabled and is_on_header(self.voice.device):
            uses += [
                (pin, Sentence("the sound card on I2S (voice.device, {device})", device=repr(self.voice.device)))
                for pin in I2S_PINS
            ]
        taken: dict[int, str] = {}
        for pin, use in uses:
            if pin is None:
                continue
            if pin in taken:
                raise SettingsError(
                    "pin {pin} is given to {taken} and to {use}; give each its own", pin=pin, taken=taken[pin], use=use
                )
            taken[pin] = use
        places = [(n, place) for n, seat in enumerate(self.seats, 1) if (place := seat.pad_place) is not None]
        for (a, one), (b, other) in combinations(places, 2):
            if one.overlaps(other):
                raise SettingsError(
                    "{one} is the pad of seat {a}, and {other} that of seat {b}; give each its own",
                    one=one, a=a, other=other, b=b,
                )  # fmt: skip
        return self


def is_typed_key(key: str) -> bool:
    """Return whether this is a key that people write themselves, such as ``dealer`` or ``voice.volume``."""
    section, _, name = key.rpartition(".")
    if not section:
        return key in ("rules", "direction", "dealer", "deck")
    return bool(name) and section not in _WRITTEN_BY and _section_model(section) is not None


def example_settings() -> str:
    """Return a commented settings file that holds every key."""
    return (Path(__file__).parent / "example.toml").read_text(encoding="utf-8")


def load_settings(path: Path) -> Settings:
    """Read and check a settings file.

    Raises:
        UserError: there is no such file, or it is not TOML.
        SettingsError: a key is unknown, missing or out of bounds; names it and says what it should be.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(
            "{path}: there is no such file; `referee run --example > {path}` begins one", path=path
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("{path} cannot be read: {why}", path=path, why=error) from None
    try:
        return parse_settings(text, path.parent)
    except SettingsError as error:
        raise SettingsError("{path}: {why}", path=path, why=error) from None


def parse_settings(text: str, folder: Path | None = None) -> Settings:
    """Check settings given as TOML text; ``folder`` is the base for a house-rules file.

    Raises:
        SettingsError: see `load_settings`.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError("not TOML: {why}", why=error) from None
    rules = raw.get("rules", "classic")
    if isinstance(rules, str) and rules.endswith(SUFFIX):
        rules = resolve_rules(rules, folder)
    try:
        read_house_rules(rules)
        return Settings.model_validate({key: _with_tuples(value) for key, value in raw.items()} | {"rules": rules})
    except RulesError as error:
        raise SettingsError("rules: {why}", why=error) from None
    except ValidationError as error:
        raise SettingsError(_sentence(error, raw)) from None


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_tuples(item) for key, item in value.items()}
    return tuple(_with_tuples(item) for item in value) if isinstance(value, list) else value


def _section_model(name: str) -> type[Section] | None:
    """Return the model of a section; `None`: there is no such section."""
    field = Settings.model_fields.get(name)
    kinds = (field.annotation, *get_args(field.annotation)) if field is not None else ()
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None)


def _sentence(mistakes: ValidationError, raw: dict[str, Any]) -> str:
    """Return the first mistake in one line that names the key; unknown keys come first, since they may be misspelt."""

    def order(mistake: Any) -> int:
        # 0: unknown keys, 1: wrong values, 2: missing keys.
        if mistake["type"] == "missing" and isinstance(mistake["loc"][-1], str):
            return 2
        return int(mistake["type"] != "extra_forbidden")

    found = min(mistakes.errors(), key=order)
    path, where = found["loc"], ""
    model: type[Section] = Settings
    values: Any = raw
    if path == ("seat",):
        words = "there must be {low} to {high} seats, each a section [[seat]] with a name"
        return Sentence(words, low=FEWEST_SEATS, high=MOST_SEATS)
    if path[0] == "seat":
        model, values, where = SeatSettings, raw["seat"][path[1]], Sentence("{seat}: ", seat=int(path[1]) + 1)
        path = path[2:]
    elif len(path) > 1 and (section := _section_model(str(path[0]))) is not None:
        model, values, where = section, raw[str(path[0])], f"{path[0]}."
        path = path[1:]
    if not path:
        return Sentence("{where}this must be a section, [[seat]]", where=where)
    key = str(path[0])
    known = {field.alias or name: field for name, field in model.model_fields.items()}
    if found["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, known, n=1)
        if near:
            return Sentence("{where}{key} is no setting (did you mean {near}?)", where=where, key=key, near=near[0])
        return Sentence("{where}{key} is no setting; there are {names}", where=where, key=key, names=", ".join(known))
    if key not in values:
        if model is SeatSettings:
            return Sentence("{seat} has no {key}", seat=int(found["loc"][1]) + 1, key=key)
        words = "{where}{key} is missing; run {command} again, or take the section out"
        return Sentence(words, where=where, key=key, command=_WRITTEN_BY[where[:-1]])
    should = known[key].description or Sentence("a section, [{key}]", key=key)
    return Sentence(
        "{where}{key} must be {should}, not {given}", where=where, key=key, should=should, given=repr(values[key])
    )
