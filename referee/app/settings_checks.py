"""What each key of a table's settings may hold: checks that return the value, or say what it should have been."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

LAST_PIN: Final = 27
TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
LANGUAGES: Final = ("en", "es", "de", "fr")
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
