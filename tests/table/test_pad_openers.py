"""The pads that a table's settings open, and the reports about pads that cannot be opened."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from hardware.pads.pads import GpioPads
from hardware.pads.plugged_pads import MixedPads
from hardware.ports import HardwareMissing
from referee.control.seat_codes import read_seat_codes
from referee.settings.model import Settings, parse_settings
from referee.setup import wired_devices
from referee.setup.wired_devices import open_pads

pytest.importorskip("evdev")
NOWHERE = "no such keyboard"


def seats(*pads: str) -> Settings:
    return parse_settings("".join(f'[[seat]]\nname = "S{n}"\npad = {pad}\n' for n, pad in enumerate(pads)))


def refuse_pins(*_: object, **__: object) -> GpioPads:
    raise HardwareMissing("no header here")


def test_a_kind_that_is_not_here_silences_its_own_seats_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wired_devices, "GpioPads", refuse_pins)
    with closing(open_pads(seats("4", f'"key:a@{NOWHERE}"', "5"))) as pads:
        assert isinstance(pads, MixedPads)
        assert pads.silent[1] == pads.silent[3] == "no header here"
        assert f"{NOWHERE} is not plugged in" in pads.silent[2] or "may not be opened" in pads.silent[2]
        assert pads.trouble == ""


def test_where_no_kind_is_here_all_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wired_devices, "GpioPads", refuse_pins)
    with pytest.raises(HardwareMissing, match="no key called 'anykey'") as told:
        open_pads(seats("4", '"key:anykey"'))
    assert "no header here" in str(told.value)
    with pytest.raises(HardwareMissing, match="a board's pads have numbers"):
        open_pads(seats('"serial:a"', '"serial:2"'))


def test_phones_are_known_by_who_sits_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "run"))
    table = parse_settings(
        '[[seat]]\nname = "Ana"\npad = "phone"\n[[seat]]\nname = "Ben"\npad = "browser:l"\n[pads]\nphones = 2\n'
    )
    with closing(open_pads(table)):
        codes = read_seat_codes(tmp_path / "run")
    assert [(code.seat, code.key, code.name, code.phones) for code in codes] == [
        (1, "", "Ana", 2),
        (2, "KeyL", "Ben", 2),
    ]
