"""Clips, the speakers, and the errors for missing parts."""

from __future__ import annotations

import sys
import wave
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.ports import HardwareMissing
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.clips import ESPEAK, FLITE, Clips, Synthesiser, cache_folder, find_synthesiser, read_wav, write_wav
from hardware.sound.speaker import WavSpeaker, open_speaker
from hardware.sound.splice import RATE, Samples
from hardware.sound.stream_speaker import import_sounddevice
from hardware.sound.volume import Volume

SECOND = 1_000_000_000
BEEP = """
import sys, wave, math, struct
with wave.open(sys.argv[2], "wb") as out:
    out.setnchannels(1); out.setsampwidth(2); out.setframerate(16000)
    count = 100 * len(sys.argv[1]) + 1600
    out.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / 5))) for i in range(count)))
"""
BEEPER = Synthesiser("beeper", (sys.executable, "-c", BEEP, "{text}", "{file}"))
BROKEN = Synthesiser("broken", (sys.executable, "-c", "raise SystemExit(1)"))


class Beeps:
    """A bank of one second of tone, whatever the words."""

    def phrase(self, texts: Iterable[str]) -> Samples:
        if "unknown" in texts:
            raise HardwareMissing("no such clip")
        return (0.2 * np.sin(np.arange(RATE) / 5)).astype(np.float32)

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset(names) - {"unknown"}


def test_clips_are_rendered_once_and_kept(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    words = ["seat one", "seat two"]
    assert Clips(BEEPER, tmp_path).render(words, lambda done, count: told.append((done, count))) == 2
    assert told == [(1, 2), (2, 2)]
    again = Clips(BEEPER, tmp_path)
    assert again.missing([*words, "seat three"]) == ["seat three"]
    assert again.render(words) == 0
    assert again.phrase(words).size > again.clip("seat one").size


def test_names_are_learned_in_memory_alone_and_only_where_they_sound_like_names(tmp_path: Path) -> None:
    clips = Clips(BEEPER, tmp_path)
    assert clips.learn({"Annabelle": "Annabelle", "x": "x" * 400}) == {"Annabelle"}
    assert clips.phrase(["Annabelle", "seat one"]).size > clips.clip("Annabelle").size
    assert [file.stem for file in tmp_path.rglob("*.wav")] == [file.stem for file in tmp_path.rglob("seat-one*.wav")]
    spelled = Clips(BEEPER, tmp_path)
    assert spelled.learn({"Siobhan": "shivawn maybe"}) == {"Siobhan"}
    assert spelled.clip("Siobhan").size > Clips(BEEPER, tmp_path / "other").clip("Siobhan").size
    assert Clips(BROKEN, tmp_path).learn({"Annabelle": "Annabelle"}) == frozenset()


@pytest.mark.parametrize("left", [0, 30, 900, "zeros"])
def test_a_torn_clip_is_rendered_anew(tmp_path: Path, left: int | str) -> None:
    """A power cut leaves an empty file, half of one, or one whose end was never written."""
    whole = Clips(BEEPER, tmp_path).clip("seat one")
    (file,) = tmp_path.rglob("*.wav")
    written = file.read_bytes()
    file.write_bytes(written[:44] + bytes(len(written) - 44) if isinstance(left, str) else written[:left])
    assert np.array_equal(Clips(BEEPER, tmp_path).clip("seat one"), whole)
    assert file.read_bytes() == written


def test_words_that_a_synthesiser_says_wrongly_are_spelled_for_it(tmp_path: Path) -> None:
    plain, spelled = Clips(BEEPER, tmp_path), Clips(BEEPER, tmp_path, {"Mac": "Mäcccck"})
    assert spelled.clip("Big Mac").size == plain.clip("Big Mäcccck").size > plain.clip("Big Mac").size
    assert np.allclose(spelled.clip("Machen"), plain.clip("Machen"), atol=1e-3), "whole words only"
    assert spelled.clip("Machen").size == plain.clip("Machen").size


def test_clips_of_another_voice_or_with_other_accents_are_other_clips(tmp_path: Path) -> None:
    one = Clips(BEEPER, tmp_path)
    one.render(["qué", "que", "Que"])
    other = Clips(Synthesiser("beeper", (*BEEPER.command, "--faster")), tmp_path)
    assert other.missing(["que"]) == ["que"]
    assert len(list(tmp_path.rglob("*.wav"))) == 3


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert Clips(BEEPER, blocked).clip("seat one").size > 0


def test_a_synthesiser_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(HardwareMissing, match="broken could not speak 'seat one'"):
        Clips(BROKEN, tmp_path).clip("seat one")


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "table-referee" / "clips"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache" / "table-referee" / "clips"


def test_the_best_installed_voice_is_taken() -> None:
    assert find_synthesiser(which=lambda name: name) is FLITE
    assert find_synthesiser(which=lambda name: name if name == "espeak-ng" else None) is ESPEAK
    assert "de" in find_synthesiser("de", lambda name: name).command
    with pytest.raises(HardwareMissing, match="apt install flite"):
        find_synthesiser(which=lambda name: None)
    with pytest.raises(HardwareMissing, match="apt install espeak-ng"):
        find_synthesiser("fr", lambda name: None)


def test_a_file_lasts_as_long_as_the_game_and_phrases_lie_at_their_instants(tmp_path: Path) -> None:
    now = 0
    file = tmp_path / "game.wav"
    speaker = WavSpeaker(Beeps(), file, clock=lambda: now)
    now = 3 * SECOND
    speaker.say(["seat one"])
    now = 10 * SECOND
    speaker.say(["seat two"], urgent=True)
    speaker.say(["seat three"])
    speaker.say(["seat four"])
    speaker.close()
    speaker.close()
    samples, rate = read_wav(file)
    assert rate == RATE
    loud = [bool(np.abs(samples[second * RATE : (second + 1) * RATE]).mean() > 0.05) for second in range(11)]
    assert [second for second, is_loud in enumerate(loud) if is_loud] == [3, 10]
    assert speaker.dropped == 2, "counts that would start a second late"
    assert np.count_nonzero(samples[:RATE]) > 0.9 * RATE, "no digital silence"


def test_a_file_is_as_loud_from_then_on_as_was_said(tmp_path: Path) -> None:
    now = 0
    file = tmp_path / "game.wav"
    speaker = WavSpeaker(Beeps(), file, clock=lambda: now)
    speaker.say(["seat one"])
    now = 5 * SECOND
    speaker.set_volume(Volume(50))
    speaker.say(["seat one"])
    now = 8 * SECOND
    speaker.close()
    samples, _ = read_wav(file)
    before, after = (float(np.abs(samples[at * RATE + 2000 : at * RATE + RATE - 2000]).max()) for at in (0, 5))
    assert after == pytest.approx(before / 4, rel=0.1)


def test_a_cue_and_an_unknown_phrase_in_a_file(tmp_path: Path) -> None:
    now = 0
    speaker = WavSpeaker(Beeps(), tmp_path / "game.wav", clock=lambda: now)
    now = SECOND
    speaker.cue("slap")
    speaker.say(["unknown"])
    now = 2 * SECOND
    speaker.close()
    samples, _ = read_wav(tmp_path / "game.wav")
    loud = np.flatnonzero(np.abs(samples) > 0.05)
    assert RATE <= loud[0] < 1.01 * RATE
    assert loud[-1] < 1.1 * RATE


def test_a_backlog_of_verdicts_stays_near_the_present(tmp_path: Path) -> None:
    now = 0
    speaker = WavSpeaker(Beeps(), tmp_path / "game.wav", clock=lambda: now)
    for step in range(40):
        now = step * SECOND // 2
        speaker.say(["seat one"], urgent=True)
    speaker.close()
    with wave.open(str(tmp_path / "game.wav")) as out:
        assert out.getnframes() / RATE < 20 + 7


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(HardwareMissing, match="cannot write the sound to"):
        WavSpeaker(Beeps(), tmp_path / "none" / "game.wav")


def test_without_portaudio_the_words_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(HardwareMissing, match="pip install sounddevice"):
        import_sounddevice()

    class NoLibrary:
        def find_spec(self, name: str, *_: Any) -> Any:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")
            return None

    monkeypatch.delitem(sys.modules, "sounddevice")
    monkeypatch.setattr(sys, "meta_path", [NoLibrary(), *sys.meta_path])
    with pytest.raises(HardwareMissing, match="apt install libportaudio2"):
        import_sounddevice()


def test_without_a_synthesiser_the_referee_is_silent_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    voice = open_speaker(["seat one"])
    assert not voice.audible
    assert "apt install flite" in voice.words
    voice.speaker.say(["seat one"])
    with pytest.raises(HardwareMissing, match="apt install flite"):
        open_speaker(["seat one"], audio=tmp_path / "game.wav")


def test_the_recorder_remembers_what_was_said_and_when() -> None:
    now = 5
    speaker = RecordingSpeaker(lambda: now, keep=2)
    speaker.say(["never", "mind"])
    speaker.say(["seat two", "wins the slap"], urgent=True)
    now = 9
    speaker.cue("slap")
    speaker.say(["three", "chances", "left"])
    speaker.close()
    assert speaker.cues == [(9, "slap")]
    assert [(phrase.t, phrase.text, phrase.urgent) for phrase in speaker.said] == [
        (5, "seat two wins the slap", True),
        (9, "three chances left", False),
    ]
    assert speaker.closed


def test_wav_files_keep_what_they_hold(tmp_path: Path) -> None:
    samples = np.linspace(-1, 1, 101, dtype=np.float32)
    write_wav(tmp_path / "a.wav", samples)
    back, rate = read_wav(tmp_path / "a.wav")
    assert rate == RATE
    assert float(np.abs(back - samples).max()) < 1e-4
