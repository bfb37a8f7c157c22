"""Settings: the example holds, and each mistake is named by its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.app.problems import UserError
from referee.app.settings import SettingsError, example, load, parse

SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


def test_the_example_is_what_holds_without_it() -> None:
    shown = parse(example())
    short = parse("".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho", "Dan")))
    assert shown == short


def test_house_rules_may_be_a_section() -> None:
    settings = parse('[rules]\nbase = "classic"\nset = { F1 = 2 }\n' + SEATS)
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
        (SEATS + "pad = 4\n", "pin 4 is given to the pad of seat 1 and to the pad of seat 2"),
        (SEATS + "bearing = 260\n", "seats 1 and 2 stand 10 degrees apart"),
        ("dealer = 3\n" + SEATS, "dealer must be a whole number from 1 to 2, not 3"),
        ('rules = "clasic"\n' + SEATS, "rules: "),
        (SEATS + "[camera]\nfps = 0\n", "camera.fps must be a number from 5 to 120 frames a second, not 0"),
        (SEATS + "[camera]\nfsp = 30\n", "camera.fsp is no setting (did you mean fps?)"),
        (SEATS + '[camera]\nwidth = "wide"\n', "camera.width must be a whole number"),
        (SEATS + "[pads]\nt_error_us = 100\n", "pads.t_error_us must be a whole number from 1500"),
        (SEATS + "[lights]\ntable = [1, 2]\n", "lights.table must be three BCM pins"),
        (SEATS + "[camera]\ngain = 0.5\n", "camera.gain must be a number from 1 to 16"),
        (SEATS + "[voice]\nenabled = 1\n", "voice.enabled must be true or false"),
        ("camera = 3\n" + SEATS, "camera must be a section"),
        ("colour = 3\n" + SEATS, "colour is no setting"),
        ("[camera\n", "not TOML"),
    ],
)
def test_a_mistake_is_named_by_its_key(text: str, words: str) -> None:
    with pytest.raises(SettingsError) as told:
        parse(text)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load(tmp_path / "none.toml")
    path = tmp_path / "table.toml"
    path.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"table\.toml: x is no setting"):
        load(path)
