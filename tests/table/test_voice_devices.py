"""The voice that the settings request."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.ports import HardwareMissing
from hardware.sound.clips import Synthesiser
from hardware.sound.splice import RATE, Samples
from referee.announce.voice import speak, tell, vocabulary
from referee.settings.model import VoiceSettings, parse_settings
from referee.setup import wired_devices as devices
from tests.hardware.sound.test_stream_speaker import Sound
from tools import voice_clips

SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


def settings(text: str = "") -> VoiceSettings:
    return parse_settings(f"[voice]\n{text}\n{SEATS}").voice


class Humming:
    """A synthesiser that hums every text."""

    name = "humming"
    key = "1"

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.spoke: list[str] = []

    def render(self, text: str) -> Samples:
        if self.fails:
            raise HardwareMissing("it lost its voice")
        self.spoke.append(text)
        t = np.arange(RATE // 4) / RATE
        return (0.12 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)


@pytest.fixture
def humming(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Humming:
    """The system's voice of every language, and an empty cache."""
    one = Humming()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(devices, "find_synthesiser", lambda language: one)
    monkeypatch.setattr(voice_clips, "find_synthesiser", lambda language: one)
    return one


def opened(humming: Humming, text: str, hour: time = time(12), told: list[str] | None = None) -> tuple[Any, Any]:
    sound = Sound()
    speaker = devices.open_voice(
        settings(text), wall=lambda: hour, on_trouble=(told if told is not None else []).append, sound=sound
    )
    return speaker, sound.opened[0]


def test_every_clip_of_the_language_is_there_before_the_game(humming: Humming) -> None:
    speaker, stream = opened(humming, 'language = "de"\nvolume = 100')
    assert len(humming.spoke) == len(vocabulary("de"))
    assert "Sändwitsch" in humming.spoke, "as the synthesiser must read it"
    speak(speaker, tell("camera_gone", 0, "de"))
    assert float(np.abs(stream.pull(RATE // 2)).max()) > 0.1
    speaker.close()


@pytest.mark.parametrize(("hour", "share"), [(time(12), 0.64), (time(23), 0.01)])
def test_volume_and_quiet_hours_are_the_walls(humming: Humming, hour: time, share: float) -> None:
    night = 'volume = 80\nquiet_from = "22:00"\nquiet_to = "07:00"\nquiet_volume = 10'
    speaker, stream = opened(humming, night, hour)
    speak(speaker, tell("camera_gone"))
    full = float(np.abs(Humming().render("")).max())
    assert float(np.abs(stream.pull(RATE // 8)).max()) == pytest.approx(share * full, abs=0.005)
    speaker.close()


def test_the_slaps_sound_can_be_switched_off(humming: Humming) -> None:
    for wanted in (True, False):
        speaker, stream = opened(humming, f"slap_sound = {str(wanted).lower()}")
        speaker.cue("slap")
        assert (float(np.abs(stream.pull(512)).max()) > 0.05) is wanted
        speaker.close()


def test_a_piper_voice_that_cannot_speak_is_told_and_replaced(humming: Humming, tmp_path: Path) -> None:
    told: list[str] = []
    speaker, _ = opened(humming, f'piper = "{tmp_path / "none.onnx"}"', told=told)
    assert len(told) == 1
    assert "none.onnx is not there" in told[0]
    assert told[0].endswith("the system's voice speaks instead")
    assert set(humming.spoke) == set(vocabulary())
    speaker.close()


def test_make_voice_renders_once_and_shows_how_far_it_is(
    humming: Humming, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert voice_clips.main(["fr"]) == 0
    first = capsys.readouterr()
    count = len(vocabulary("fr"))
    assert f"{count} of {count} clips" in first.err
    assert f"humming speaks fr: {count} clips, {count} of them new" in first.out
    assert voice_clips.main(["fr"]) == 0
    assert "0 of them new" in capsys.readouterr().out
    assert voice_clips.main(["fr", "--piper", str(tmp_path / "none.onnx")]) == 1
    assert "is not there" in capsys.readouterr().err


def test_a_synthesiser_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(voice_clips, "find_synthesiser", lambda language: Humming(fails=True))
    assert voice_clips.main(["es"]) == 1
    assert "lost its voice" in capsys.readouterr().err


def test_programs_are_told_their_language() -> None:
    from hardware.sound.clips import VOICES

    for language, voices in VOICES.items():
        for voice in voices:
            assert isinstance(voice, Synthesiser)
            assert voice.name == "flite" or any(part.startswith(language) for part in voice.command)
