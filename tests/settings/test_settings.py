"""Settings: the example holds, and each mistake is named by its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardware.pads.pad_place import PadPlace
from hardware.pads.pinout import PAD_PINS
from referee.errors import UserError
from referee.settings.model import SettingsError, example_settings, load_settings, parse_settings

SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


def test_the_example_is_what_holds_without_it() -> None:
    shown = parse_settings(example_settings())
    short = parse_settings("".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho", "Dan")))
    assert shown == short


def test_house_rules_may_be_a_section() -> None:
    settings = parse_settings('[rules]\nbase = "classic"\nset = { F1 = 2 }\n' + SEATS)
    assert settings.rules == {"base": "classic", "set": {"F1": 2}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "2 to 8 seats"),
        ('[[seat]]\nname = "Ana"\n', "2 to 8 seats"),
        ('[[seat]]\nname = "Ana"\n' * 9, "2 to 8 seats"),
        ("[[seat]]\n[[seat]]\n", "seat 1 has no name"),
        ("[[seat]]\nname = 1\n[[seat]]\n", "seat 1: name must be a name"),
        (SEATS + "pads = 4\n", "did you mean pad?"),
        (SEATS + "pad = 28\n", "seat 2: pad must be a whole number from 0 to 27"),
        (SEATS + 'pad = "key"\n', 'or a place such as "key:a"'),
        (SEATS + 'pad = "mouth:a"\n', 'or a place such as "key:a"'),
        (
            '[[seat]]\nname = "A"\npad = "key:a"\n[[seat]]\nname = "B"\npad = "key:A@Keys"\n',
            "key:a is the pad of seat 1, and key:a@Keys that of seat 2; give each its own",
        ),
        (SEATS + "pad = 4\n", "pin 4 is given to the pad of seat 1 and to the pad of seat 2"),
        (SEATS + "bearing = 260\n", "seats 1 and 2 stand 10 degrees apart"),
        ("dealer = 3\n" + SEATS, "dealer must be a whole number from 1 to 2, not 3"),
        ('rules = "clasic"\n' + SEATS, "rules: "),
        (SEATS + "[record]\npictures = 1\n", "record.pictures must be true or false"),
        (
            SEATS + "[record]\npictures_cap_mb = 0\n",
            "record.pictures_cap_mb must be a whole number from 1 to 1000000 MiB",
        ),
        (SEATS + "[camera]\nfps = 0\n", "camera.fps must be a number from 5 to 120 frames a second, not 0"),
        (SEATS + "[camera]\nfsp = 30\n", "camera.fsp is no setting (did you mean fps?)"),
        (SEATS + '[camera]\nwidth = "wide"\n', "camera.width must be a whole number"),
        (SEATS + "[pads]\nt_error_us = 100\n", "pads.t_error_us must be a whole number from 1500"),
        (SEATS + "[lights]\ntable = [1, 2]\n", "lights.table must be three BCM pins"),
        (SEATS + "[camera]\ngain = 0.5\n", "camera.gain must be a number from 1 to 16"),
        (SEATS + "[voice]\nenabled = 1\n", "voice.enabled must be true or false"),
        (SEATS + "[camera]\ncolour_gains = [1.9]\n", "camera.colour_gains must be a list of 2 numbers"),
        (SEATS + "[camera]\ncolour_gains = [1.9, 0]\n", "camera.colour_gains must be a list of 2 numbers above 0"),
        (SEATS + "[voice]\nlanguage = 'it'\n", 'voice.language must be "en" or "es" or "de" or "fr"'),
        (SEATS + "[voice]\nquiet_from = '24:00'\n", "voice.quiet_from must be a time of day"),
        (SEATS + "[voice]\nquiet_from = '22:00'\n", "voice.quiet_to is missing"),
        (SEATS + "pad = 9\n[pads]\nforce = true\n", "pin 9 is given to the pad of seat 2 and to the force chip"),
        (SEATS + "[pads_measured]\nt_error_us = [1500, 1500]\n", "pads_measured.bounce_us is missing"),
        (
            SEATS + "[pads_measured]\nt_error_us = [1500]\nbounce_us = [0]\ncrosstalk_us = [[0]]\n",
            "pads_measured.t_error_us is for 1 seats, but there are 2; run referee calibrate pads again",
        ),
        (
            SEATS + "[pads_measured]\nt_error_us = [1, 1]\nbounce_us = [0, 0]\ncrosstalk_us = [[0], [0]]\n",
            "pads_measured.crosstalk_us must be as many lists as seats",
        ),
        ("camera = 3\n" + SEATS, "camera must be a section"),
        ("colour = 3\n" + SEATS, "colour is no setting"),
        ("[camera\n", "not TOML"),
    ],
)
def test_a_mistake_is_named_by_its_key(text: str, words: str) -> None:
    with pytest.raises(SettingsError) as told:
        parse_settings(text)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_seats_pad_is_a_pin_or_a_place() -> None:
    seats = parse_settings(
        '[[seat]]\nname = "Ana"\npad = "key:a@One"\n[[seat]]\nname = "Ben"\npad = "key:a@Two"\n[[seat]]\nname = "Cho"\n'
    ).seats
    assert [(seat.pad_pin, seat.pad_place) for seat in seats] == [
        (None, PadPlace("key", "a", "One")), (None, PadPlace("key", "a", "Two")), (PAD_PINS[2], None),
    ]  # fmt: skip


def test_measured_pads_are_kept_by_seat() -> None:
    text = "[pads_measured]\nt_error_us = [1500, 1700]\nbounce_us = [900, 2100]\ncrosstalk_us = [[0, 400], [0, 0]]\n"
    measured = parse_settings(SEATS + text).pads_measured
    assert measured is not None
    assert measured.t_error_us == (1500, 1700)
    assert measured.crosstalk_us == ((0, 400), (0, 0))


def test_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_settings(tmp_path / "none.toml")
    path = tmp_path / "table.toml"
    path.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"table\.toml: x is no setting"):
        load_settings(path)
