"""Sounds for the trials of `referee review`: slaps, cards and takes in a room, with talk and music behind them.

Slaps are bursts of noise with a thump below, filtered by the echo of a room of its own; cards and takes rustle. Talk is
spoken by flite, music is a rhythm of chords with a hi-hat. Levels are those of the loudest ten milliseconds.
"""

from __future__ import annotations

import io
import subprocess
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from referee.options.video_review.sound import RATE
from referee.units import SECOND

_TALK: Final = (
    "That was mine, I was there before you. No, look at the pad, you were late again! "
    "Two kings in a row, that is a double. Whose turn is it? Put it down, quickly, quickly. "
    "I have got six cards left. Stop pushing the pile. Take them, take them, it is your pile."
)


@dataclass(frozen=True)
class Room:
    """The sound of one evening."""

    seed: int
    range_db: float = 0.0
    """Slaps are up to this much weaker than the loudest one, dB."""
    noise: str = ""
    """The background: talk, music or nothing."""
    noise_db: float = -20.0
    """Its level against a slap of full height, dB."""
    offset: float = 0.0
    """How much later the sound is than the picture, s."""
    drift: float = 0.0
    """How much slower the sound's clock runs, as a share."""


def render(room: Room, length: int, slaps: Sequence[int], rustles: Sequence[int]) -> Any:
    """Return the sound of a film: its length, the instants of slaps, and of cards and takes, all ns."""
    rng = np.random.default_rng(room.seed)
    sound = np.zeros(int((length / SECOND + 2) * RATE * (1 + abs(room.drift))) + RATE, np.float64)
    for t in slaps:
        _add(sound, room, t, _slap(rng) * 10 ** (-rng.uniform(0, room.range_db) / 20), rng)
    for t in rustles:
        _add(sound, room, t, _rustle(rng), rng)
    sound = _in_room(sound, rng)
    if room.noise:
        behind = _talk(rng, len(sound)) if room.noise == "talk" else _music(rng, len(sound))
        sound += behind / _height(behind) * 10 ** (room.noise_db / 20)
    return (sound + rng.normal(0, 10 ** (-55 / 20), len(sound))).astype(np.float32)


def write_sound(file: Path, samples: Any) -> None:
    """Write a sound as phones do: AAC of 96 kbit/s, the loudest sample at half the scale."""
    import av

    with av.open(str(file), "w") as written:
        stream = written.add_stream("aac", rate=RATE, layout="mono")
        stream.bit_rate = 96_000
        half = np.asarray(samples, np.float32)[None, :] / (2 * float(np.abs(samples).max()))
        frame = av.AudioFrame.from_ndarray(half, format="fltp", layout="mono")
        frame.sample_rate = RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            written.mux(packet)


def _add(sound: Any, room: Room, t: int, burst: Any, rng: np.random.Generator) -> None:
    # Players sit 0.3 to 0.9 m from the microphone, so their sounds arrive 1.8 ms apart at most.
    way = rng.uniform(0.0009, 0.0027)
    begin = round(((t / SECOND + way) * (1 + room.drift) + room.offset) * RATE)
    if begin >= 0 and begin + len(burst) < len(sound):
        sound[begin : begin + len(burst)] += burst


def _slap(rng: np.random.Generator) -> Any:
    """A hand on cards on a table: a crack of 6 to 15 ms, and the table's thump."""
    n = int(0.12 * RATE)
    time = np.arange(n) / RATE
    crack = rng.normal(0, 1, n) * np.exp(-time / rng.uniform(0.004, 0.012)) * (1 - np.exp(-time / 0.0003))
    body = np.convolve(rng.normal(0, 1, n), np.ones(24) / 24, "same") * np.exp(-time / 0.02)
    thump = np.sin(2 * np.pi * rng.uniform(90, 220) * time) * np.exp(-time / 0.03)
    burst = crack + body + 0.8 * thump
    return burst / _height(burst)


def _rustle(rng: np.random.Generator) -> Any:
    """A card that slides or flips: noise that swells and fades within 60 to 200 ms, 14 to 30 dB below a slap."""
    n = int(rng.uniform(0.06, 0.2) * RATE)
    swell = np.hanning(n) * (1 + 0.5 * np.sin(np.linspace(0, rng.uniform(10, 40), n)))
    burst = rng.normal(0, 1, n) * swell
    return burst / _height(burst) * 10 ** (-rng.uniform(14, 30) / 20)


def _in_room(sound: Any, rng: np.random.Generator) -> Any:
    """Add early reflections and a tail of 0.25 to 0.6 s."""
    n = int(0.5 * RATE)
    time = np.arange(n) / RATE
    echo = rng.normal(0, 1, n) * np.exp(-6.9 * time / rng.uniform(0.25, 0.6))
    echo[: int(0.004 * RATE)] = 0
    echo *= 10 ** (-rng.uniform(6, 14) / 20) / np.sqrt((echo**2).sum())
    echo[0] = 1
    for _ in range(6):
        echo[int(rng.uniform(0.003, 0.03) * RATE)] += rng.choice((-1, 1)) * 10 ** (-rng.uniform(8, 18) / 20)
    size = 1 << (len(sound) + n - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(echo, size), size)[: len(sound)]


def _talk(rng: np.random.Generator, n: int) -> Any:
    said = _spoken()
    return np.resize(np.roll(said, int(rng.integers(len(said)))), n)


@cache
def _spoken() -> Any:
    done = subprocess.run(["flite", "-t", _TALK, "-o", "/dev/stdout"], capture_output=True, check=True)
    with wave.open(io.BytesIO(done.stdout)) as file:
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    said = np.frombuffer(data, np.int16).astype(np.float64)
    return np.interp(np.arange(0, len(said), rate / RATE), np.arange(len(said)), said)


def _music(rng: np.random.Generator, n: int) -> Any:
    time = np.arange(n) / RATE
    music = np.zeros(n)
    beat = int(60 / rng.uniform(80, 130) / 2 * RATE)
    for place, begin in enumerate(range(0, n - beat, beat)):
        part = time[:beat]
        for tone in rng.choice((110, 138.6, 164.8, 220, 277.2, 329.6), 3, replace=False):
            music[begin : begin + beat] += 0.3 * (2 * ((tone * part) % 1) - 1) * np.exp(-part / 0.4)
        drum = rng.normal(0, 1, beat) * np.exp(-part / (0.015 if place % 2 else 0.05)) * (0.3 if place % 2 else 0.6)
        music[begin : begin + beat] += np.diff(drum, prepend=0)
    return music


def _height(sound: Any) -> float:
    """Return the level of the loudest ten milliseconds."""
    n = len(sound) // 480 * 480
    return float(np.sqrt((sound[:n].reshape(-1, 480) ** 2).mean(axis=1).max()) + 1e-12)
