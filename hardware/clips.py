"""Phrase clips: rendered once by a speech synthesiser, kept in the user's cache, handed out as arrays.

Rendering takes the installed synthesiser about a twentieth of a second a clip, too long to wait for while
hands lie on the pads; so a vocabulary is rendered ahead, at installation or first use.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from hardware.mixing import RATE, Samples, join, prepared
from hardware.ports import HardwareMissing

RECIPE: Final = "1"
"""Changes whenever clips must be rendered anew: part of the cache folder's name."""
_PATIENCE: Final = 20.0

Progress = Callable[[int, int], None]
"""Told how many clips are done, of how many."""


@dataclass(frozen=True, slots=True)
class Synthesiser:
    """A program that turns text into a WAV file."""

    name: str
    command: tuple[str, ...]
    """Arguments; ``{text}`` and ``{file}`` stand for the text and the file to write."""

    def render(self, text: str) -> Samples:
        """Speak ``text``; a clip at `RATE`, trimmed, even and faded.

        Raises:
            HardwareMissing: the program failed, or wrote nothing that can be heard.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "clip.wav"
            command = [part.format(text=text, file=file) for part in self.command]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
                samples, rate = read_wav(file)
            except (OSError, subprocess.SubprocessError, wave.Error, EOFError) as failed:
                raise HardwareMissing(
                    f"{self.name} could not speak {text!r} ({failed}); reinstall it: apt install --reinstall flite"
                ) from failed
        clip = prepared(samples, rate)
        if clip.size == 0:
            raise HardwareMissing(f"{self.name} spoke {text!r} as silence; apt install --reinstall flite")
        return clip


FLITE: Final = Synthesiser(
    "flite", ("flite", "-voice", "rms", "--setf", "duration_stretch=0.9", "-t", "{text}", "-o", "{file}")
)
ESPEAK: Final = Synthesiser("espeak-ng", ("espeak-ng", "-v", "en-us", "-s", "150", "-w", "{file}", "{text}"))
"""flite's voice ``rms`` is the more easily understood; espeak-ng blurs six and eight."""


def find_synthesiser(which: Callable[[str], str | None] = shutil.which) -> Synthesiser:
    """The best installed synthesiser.

    Raises:
        HardwareMissing: none is installed.
    """
    for one in (FLITE, ESPEAK):
        if which(one.command[0]):
            return one
    raise HardwareMissing("no speech synthesiser is installed, so the referee is silent: apt install flite")


def cache_folder() -> Path:
    """Where clips are kept: under ``XDG_CACHE_HOME``, or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "table-referee" / "clips"


class Clips:
    """A voice's clips by the text that they speak, rendered when first asked for."""

    def __init__(self, synthesiser: Synthesiser, folder: Path | None = None) -> None:
        """``folder``: where to keep them; None is the user's cache."""
        self._synthesiser = synthesiser
        key = hashlib.sha256(" ".join((RECIPE, *synthesiser.command)).encode()).hexdigest()[:8]
        self._folder = (cache_folder() if folder is None else folder) / f"{synthesiser.name}-{key}"
        self._loaded: dict[str, Samples] = {}

    @property
    def voice(self) -> str:
        """Name of the synthesiser."""
        return self._synthesiser.name

    def clip(self, text: str) -> Samples:
        """The clip of ``text``, from memory, the cache or the synthesiser.

        Raises:
            HardwareMissing: it is in none of them.
        """
        if text not in self._loaded:
            self._loaded[text] = self._from_disk(text)
        return self._loaded[text]

    def phrase(self, texts: Iterable[str]) -> Samples:
        """Clips joined.

        Raises:
            HardwareMissing: one of them cannot be had.
        """
        return join([self.clip(text) for text in texts])

    def missing(self, vocabulary: Iterable[str]) -> list[str]:
        """The texts that are still to be rendered."""
        return [text for text in vocabulary if text not in self._loaded and not self._file(text).exists()]

    def render(self, vocabulary: Iterable[str], progress: Progress | None = None) -> int:
        """Have every clip of ``vocabulary`` ready in memory; returns how many had to be rendered.

        Raises:
            HardwareMissing: the synthesiser failed.
        """
        words = list(dict.fromkeys(vocabulary))
        absent = self.missing(words)
        for done, text in enumerate(absent, start=1):
            self.clip(text)
            if progress is not None:
                progress(done, len(absent))
        for text in words:
            self.clip(text)
        return len(absent)

    def _from_disk(self, text: str) -> Samples:
        file = self._file(text)
        try:
            samples, rate = read_wav(file)
        except (OSError, wave.Error, EOFError):
            # Never rendered, or torn by a power cut: rendering it mends both.
            samples, rate = np.zeros(0, np.float32), 0
        if rate == RATE and samples.size:
            return samples
        samples = self._synthesiser.render(text)
        self._keep(file, samples)
        return samples

    def _keep(self, file: Path, samples: Samples) -> None:
        """Write a clip beside its place and move it there, so that no half of one is ever read."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_suffix(f".{os.getpid()}.part")
            write_wav(beside, samples)
            beside.replace(file)
        except OSError:
            # A full or read-only disk costs the next start some seconds, and this game nothing.
            return

    def _file(self, text: str) -> Path:
        return self._folder / (re.sub(r"[^a-z0-9]+", "-", text.lower()) + ".wav")


def read_wav(file: Path) -> tuple[Samples, int]:
    """The first channel of a 16-bit WAV file, and its rate.

    Raises:
        OSError, EOFError, wave.Error: no such file, or none that can be read.
    """
    with wave.open(str(file), "rb") as wav:
        if wav.getsampwidth() != 2:
            raise wave.Error("only 16-bit samples can be read")
        raw = wav.readframes(wav.getnframes())
        channels, rate = wav.getnchannels(), wav.getframerate()
    samples: Samples = (np.frombuffer(raw, "<i2")[::channels] / 32768).astype(np.float32)
    return samples, rate


def pcm(samples: Samples) -> bytes:
    """16-bit little-endian samples, as WAV files hold them."""
    return np.clip(np.round(samples * 32767), -32768, 32767).astype("<i2").tobytes()


def write_wav(file: Path, samples: Samples, rate: int = RATE) -> None:
    """Write one channel of 16-bit sound.

    Raises:
        OSError: the file cannot be written.
    """
    with file.open("wb") as out, wave.open(out, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate)
        wav.writeframes(pcm(samples))
