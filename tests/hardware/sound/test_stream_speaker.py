"""The open stream: a card that is absent, goes away in the middle of a phrase, and comes back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hardware.ports import HardwareMissing
from hardware.sound.splice import FLOOR, RATE, Samples
from hardware.sound.stream_speaker import RETRY, STALLED, StreamSpeaker
from hardware.sound.volume import Volume, VolumeControl


class Beeps:
    """A bank of one second of tone, whatever the words."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        if "unknown" in texts:
            raise HardwareMissing("no such clip")
        return (0.2 * np.sin(np.arange(RATE) / 5)).astype(np.float32)

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset(names) - {"unknown"}


class Sound:
    """Stands for the sounddevice module: a card that takes some rates, and can be pulled out."""

    class PortAudioError(Exception):
        """As sounddevice's."""

    def __init__(self, rates: tuple[int, ...] = (RATE,)) -> None:
        self.rates = rates
        self.opened: list[Any] = []
        self.restarts = 0

    def OutputStream(self, **settings: Any) -> Any:  # noqa: N802 - sounddevice's name
        if settings["samplerate"] not in self.rates:
            raise self.PortAudioError("Error querying device -1")
        self.opened.append(Stream(settings))
        return self.opened[-1]

    def _terminate(self) -> None:
        assert all(stream.closed for stream in self.opened), "a PortAudio that ends under an open stream crashes"
        self.restarts += 1

    def _initialize(self) -> None:
        pass


class Stream:
    """Stands for an open stream, whose callback is called by `pull`."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.callback = settings["callback"]
        self.active = False
        self.closed = False

    def start(self) -> None:
        self.active = True

    def abort(self, ignore_errors: bool = True) -> None:
        self.active = False

    def close(self, ignore_errors: bool = True) -> None:
        self.closed = True

    def pull(self, frames: int, *, dry: bool = False) -> Samples:
        out = np.zeros((frames, 1), np.float32)
        self.callback(out, frames, None, SimpleNamespace(output_underflow=dry))
        return out[:, 0]


@pytest.fixture
def told() -> list[str]:
    return []


def opened(sound: Sound, told: list[str], **how: Any) -> tuple[StreamSpeaker, float]:
    """Return a speaker whose stream is inspected by hand, and the instant it was opened, s."""
    speaker = StreamSpeaker(Beeps(), sound=sound, on_trouble=told.append, watched=False, **how)
    return speaker, speaker._seen[1]


def is_loud(samples: Samples) -> bool:
    return float(np.abs(samples).max()) > 0.1


def test_one_stream_stays_open_and_is_never_silent(told: list[str]) -> None:
    sound = Sound()
    speaker, _ = opened(sound, told)
    (stream,) = sound.opened
    assert np.count_nonzero(stream.pull(512)) > 500
    speaker.say(["seat one"])
    speaker.say(["unknown"])
    assert np.abs(stream.pull(512)).mean() > 0.05, "the next block already speaks"
    speaker.close()
    assert len(sound.opened) == 1
    assert told == []


def test_it_is_counted_how_often_the_card_ran_dry(told: list[str]) -> None:
    sound = Sound()
    speaker, _ = opened(sound, told)
    for dry in (False, True, False, True):
        sound.opened[0].pull(512, dry=dry)
    speaker.close()
    assert speaker.dry == 2


def test_a_card_that_wants_48_khz_gets_it_without_a_seam(told: list[str]) -> None:
    sound = Sound((48_000,))
    speaker, _ = opened(sound, told)
    speaker.say(["seat one"])
    heard = np.concatenate([sound.opened[0].pull(frames) for frames in (1_000, 511, 64, 2_000, 1)])
    assert heard.size == 3_576
    wanted = 0.2 * np.sin(np.arange(heard.size) / 15)
    late = min(range(60), key=lambda late: float(np.abs(heard[late:][200:] - wanted[: heard.size - late][200:]).max()))
    assert late < 48, "a millisecond"
    assert np.abs(heard[late:][200:] - wanted[: heard.size - late][200:]).max() < 10 * FLOOR


@pytest.mark.parametrize("dies", ["ends", "stalls"])
def test_a_card_that_goes_in_the_middle_of_a_phrase_says_it_again_when_it_is_back(told: list[str], dies: str) -> None:
    sound = Sound()
    speaker, now = opened(sound, told)
    speaker.say(["seat one"], urgent=True)
    assert is_loud(sound.opened[0].pull(RATE // 2))
    before = speaker.signs
    speaker.look(now)
    assert speaker.signs == before + 1
    sound.rates = ()
    if dies == "ends":
        sound.opened[0].active = False
    speaker.look(now + STALLED + 0.01)
    assert told == ["no sound: the sound card has stopped; see its plug"]
    speaker.look(now + STALLED + 0.3)
    assert sound.restarts == 1, "not tried again in every turn"
    sound.rates = (RATE,)
    speaker.look(now + STALLED + RETRY + 0.02)
    assert told[1:] == [""]
    again = sound.opened[-1].pull(2 * RATE)
    assert np.flatnonzero(np.abs(again) > 0.1)[-1] == pytest.approx(RATE, abs=50), "the whole phrase"


def test_what_waited_too_long_for_the_card_is_never_said(told: list[str]) -> None:
    sound = Sound()
    speaker, now = opened(sound, told)
    sound.rates, sound.opened[0].active = (), False
    speaker.look(now)
    speaker.say(["seat one"], urgent=True)
    speaker.cue("slap")
    sound.rates = (RATE,)
    speaker.look(now + 30)
    assert not is_loud(sound.opened[-1].pull(2 * RATE))


def test_a_card_that_is_absent_at_the_start_is_found_later(told: list[str]) -> None:
    sound = Sound(())
    speaker, now = opened(sound, told)
    assert "no sound card answers" in speaker.trouble
    speaker.say(["seat one"])
    sound.rates = (RATE,)
    speaker.look(now + RETRY)
    assert (told[-1], speaker.trouble) == ("", "")
    speaker.say(["seat one"], urgent=True)
    assert is_loud(sound.opened[-1].pull(RATE))
    speaker.close()


def test_cues_can_be_switched_off(told: list[str]) -> None:
    for cues in (True, False):
        sound = Sound()
        speaker, _ = opened(sound, told, cues=cues)
        speaker.cue("slap")
        speaker.cue("no such sound")
        assert is_loud(sound.opened[0].pull(512)) is cues


def test_the_next_sound_is_as_loud_as_was_said_last(told: list[str]) -> None:
    """In mid-phrase, and faded: a step would click."""
    hour = time(12)
    sound = Sound()
    speaker, _ = opened(sound, told, volume=VolumeControl(wall=lambda: hour))
    stream = sound.opened[0]
    speaker.say(["seat one"])
    assert loudest(stream) == pytest.approx(0.2, abs=0.01)
    speaker.set_volume(Volume(50))
    fading = stream.pull(1_000)
    assert float(np.abs(fading[:100]).max()) > 0.15
    assert loudest(stream) == pytest.approx(0.05, abs=0.01)
    speaker.set_volume(Volume(50, "22:00", "07:00", 0))
    assert loudest(stream) == pytest.approx(0.05, abs=0.01)
    hour = time(23)
    stream.pull(100)
    assert loudest(stream) < 10 * FLOOR


def loudest(stream: Any) -> float:
    return float(np.abs(stream.pull(1_000)).max())


class HdmiSound(Sound):
    """A Raspberry Pi's screen with loudspeakers, and a loudspeaker on USB."""

    names = ("USB Audio Device: - (hw:0,0)", "vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:2,0)")

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[object, str | None]] = []

    def query_devices(self, device: str, kind: str) -> dict[str, object]:
        assert kind == "output"
        found = [name for name in self.names if device in name]
        if not found:
            raise ValueError(f"No output device matching {device!r}")
        return {"name": found[0]}

    def OutputStream(self, **settings: Any) -> Any:  # noqa: N802 - sounddevice's name
        self.asked.append((settings["device"], os.environ.get("ALSA_CARD")))
        return super().OutputStream(**settings)


@pytest.mark.parametrize(
    ("device", "opened", "card"),
    [
        ("vc4-hdmi-0: MAI PCM i2s-hifi-0", "default", "2"),
        ("USB Audio Device: -", "USB Audio Device: -", "before"),
        ("unplugged", "unplugged", "before"),
        (None, None, "before"),
    ],
)
def test_a_pis_hdmi_is_opened_as_the_default_of_its_card(
    monkeypatch: pytest.MonkeyPatch, device: str | None, opened: str | None, card: str
) -> None:
    monkeypatch.setenv("ALSA_CARD", "before")
    sound = HdmiSound()
    StreamSpeaker(Beeps(), device=device, sound=sound).close()
    assert sound.asked == [(opened, card)]
    assert os.environ["ALSA_CARD"] == "before"
