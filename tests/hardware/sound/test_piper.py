"""An owner's Piper voice: run by the package or by the program, and the error where neither works."""

from __future__ import annotations

import json
import os
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.ports import HardwareMissing
from hardware.sound.clips import Clips
from hardware.sound.piper import open_piper
from hardware.sound.splice import RATE

RATE_OF_PIPER = 22_050
PROGRAM = f"""#!{sys.executable}
import math, struct, sys, wave
text = sys.stdin.read().strip()
assert sys.argv[1] == "--model" and sys.argv[3] == "--output_file", sys.argv
if text == "break": raise SystemExit("no such phoneme")
with wave.open(sys.argv[4], "wb") as out:
    out.setnchannels(1); out.setsampwidth(2); out.setframerate(22050)
    out.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / 9))) for i in range(900 * len(text))))
"""


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    file = tmp_path / "de_DE-somebody.onnx"
    file.write_bytes(b"weights")
    described(file, {"language": {"code": "de_DE"}})
    return file


def described(voice: Path, about: object) -> None:
    voice.with_name(voice.name + ".json").write_text(about if isinstance(about, str) else json.dumps(about))


class Package:
    """Stands for the ``piper`` package, of either generation."""

    def __init__(self, method: str, *, broken: bool = False) -> None:
        self.loaded: list[str] = []
        self._method, self._broken = method, broken

    @property
    def PiperVoice(self) -> Any:  # noqa: N802 - the package's name
        return self

    def load(self, path: str) -> Any:
        self.loaded.append(path)
        if self._broken:
            raise ValueError("protobuf parsing failed")
        return type("Loaded", (), {self._method: staticmethod(self._speak)})()

    @staticmethod
    def _speak(text: str, out: wave.Wave_write) -> None:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE_OF_PIPER)
        tone = 9_000 * np.sin(np.arange(900 * len(text)) / 9)
        out.writeframes(tone.astype("<i2").tobytes())


@pytest.mark.parametrize("method", ["synthesize", "synthesize_wav"])
def test_the_package_speaks_and_loads_its_voice_once(voice: Path, tmp_path: Path, method: str) -> None:
    package = Package(method)
    clips = Clips(open_piper(voice, "de", module=package), tmp_path / "cache")
    assert package.loaded == [], "not before there is something to say"
    assert clips.render(["Platz eins", "Platz zwei"]) == 2
    assert package.loaded == [str(voice)]
    assert clips.clip("Platz eins").size / RATE == pytest.approx(9_000 / RATE_OF_PIPER, abs=0.03)


def test_the_program_speaks_where_there_is_no_package(
    voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "piper"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("hardware.sound.piper.find_spec", lambda name: None)
    speaks = open_piper(voice, "de")
    assert speaks.render("Platz eins").size > 0
    with pytest.raises(HardwareMissing, match=r"piper could not speak 'break'.*copy both its files anew"):
        speaks.render("break")


def test_another_voice_under_the_same_name_is_rendered_anew(voice: Path, tmp_path: Path) -> None:
    Clips(open_piper(voice, "de", module=Package("synthesize")), tmp_path / "cache").render(["Platz eins"])
    voice.write_bytes(b"other weights")
    again = Clips(open_piper(voice, "de", module=Package("synthesize")), tmp_path / "cache")
    assert again.missing(["Platz eins"]) == ["Platz eins"]


def test_a_broken_voice_is_named(voice: Path) -> None:
    with pytest.raises(HardwareMissing, match=r"somebody\.onnx could not speak 'Platz eins' \(protobuf.*copy both"):
        open_piper(voice, "de", module=Package("synthesize", broken=True)).render("Platz eins")


def test_what_is_missing_is_named(voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HardwareMissing, match=r"none\.onnx is not there; copy the \.onnx and the"):
        open_piper(tmp_path / "none.onnx", "de")
    with pytest.raises(HardwareMissing, match="speaks 'de', not 'fr'"):
        open_piper(voice, "fr", module=Package("synthesize"))
    monkeypatch.setattr("hardware.sound.piper.find_spec", lambda name: None)
    with pytest.raises(HardwareMissing, match=r"nothing can run the Piper voice.*pip install piper-tts"):
        open_piper(voice, "de", which=lambda name: None)
    described(voice, "{ torn")
    with pytest.raises(HardwareMissing, match="cannot be read"):
        open_piper(voice, "de", module=Package("synthesize"))
    described(voice, {"espeak": {"voice": "fr-fr"}})
    open_piper(voice, "fr", module=Package("synthesize"))
    voice.with_name(voice.name + ".json").unlink()
    with pytest.raises(HardwareMissing, match=r"onnx\.json is not there"):
        open_piper(voice, "de")
