"""The pads' lines by libgpiod: which chip is the header, and the error where there is none. Edges: tests/vm."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpiod
import pytest

from hardware.pads.gpiod_lines import open_gpiod
from hardware.pads.pinout import header_path, open_factory
from hardware.ports import HardwareMissing


class LabelledChip:
    """A chip whose device file holds its label; an empty one may not be opened."""

    def __init__(self, path: str) -> None:
        self._label = Path(path).read_text()
        if not self._label:
            raise PermissionError

    def __enter__(self) -> LabelledChip:
        return self

    def __exit__(self, *_: Any) -> None: ...

    def get_info(self) -> SimpleNamespace:
        return SimpleNamespace(label=self._label)


def devices(folder: Path, monkeypatch: pytest.MonkeyPatch, labels: list[str]) -> Path:
    monkeypatch.setattr(gpiod, "Chip", LabelledChip)
    for number, label in enumerate(labels):
        (folder / f"gpiochip{number}").write_text(label)
    return folder


@pytest.mark.parametrize(
    ("labels", "number"),
    [
        (["pinctrl-bcm2711", "raspberrypi-exp-gpio"], 0),
        (["gpio-brcmstb", "", "pinctrl-rp1"], 2),
    ],
)
def test_the_header_is_found_by_its_label(
    labels: list[str], number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert header_path(devices(tmp_path, monkeypatch, labels)).name == f"gpiochip{number}"


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([], "no GPIO chip.*referee demo"),
        (["gpio-relays"], "gpiochip0 is 'gpio-relays'.*referee demo"),
        (["gpio-relays", ""], "gpiochip1 may not be opened.*group gpio"),
    ],
)
def test_without_a_header_the_words_say_what_to_do(
    labels: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HardwareMissing, match=words):
        header_path(devices(tmp_path, monkeypatch, labels))


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpiod", None)
    monkeypatch.delitem(sys.modules, "hardware.pin_factory", raising=False)
    open_factory.cache_clear()
    with pytest.raises(HardwareMissing, match="pip install gpiod"):
        open_gpiod({1: 4}, active_high=False)
