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
import unicodedata
import wave
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hardware.ports import HardwareMissing
from hardware.sound.loudness import BLOCK, block_energies, momentary_of
from hardware.sound.splice import LOUDNESS, PAUSE_MARKS, RATE, Samples, gap_after, join, prepared

_RECIPE: Final = "3"
"""Changes whenever clips must be rendered anew: part of the cache folder's name."""
_PATIENCE: Final = 20.0
_UNEVEN: Final = 3.0
"""A clip on disk that is so much softer or louder than it should be is torn, LU (pointed ones are softer by less)."""

_SHORTEST: Final = 0.15
"""A name takes so long to say, s; less is a letter lost ..."""
_LONGEST: Final = 2.0
"""... and more is a name spelled out."""

Progress = Callable[[int, int], None]
"""Told how many clips are done, of how many."""


#: Letters that come apart into no Latin letter and a mark, as they are written where there is no such letter.
_LATIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


def plain_letters(text: str) -> str:
    """The text in lower case and letters a to z where they can be had: ``Łukasz`` is ``lukasz``, ``Мария`` stays."""
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_LATIN))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


class Renders(Protocol):
    """Something that speaks: a `Synthesiser`, or a Piper voice."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def key(self) -> str:
        """Changes with everything that makes it sound otherwise."""
        ...

    def render(self, text: str) -> Samples:
        """A clip at `RATE`, trimmed, even and faded; raises `HardwareMissing`."""
        ...


@dataclass(frozen=True, slots=True)
class Synthesiser:
    """A program that turns text into a WAV file."""

    name: str
    command: tuple[str, ...]
    """Arguments; ``{text}`` and ``{file}`` stand for the text and the file to write."""
    remedy: str = "apt install --reinstall flite espeak-ng"
    """What to do where it fails."""
    on_stdin: bool = False
    """Whether it reads the text there."""
    plain: bool = False
    """Whether it knows the letters a to z alone."""

    @property
    def key(self) -> str:
        """The command."""
        return " ".join(self.command)

    def render(self, text: str) -> Samples:
        """Speak ``text``; a clip at `RATE`, trimmed, even and faded.

        Raises:
            HardwareMissing: the program failed, or wrote nothing that can be heard.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "clip.wav"
            written = plain_letters(text) if self.plain else text
            command = [part.format(text=written, file=file) for part in self.command]
            given = (written + "\n").encode() if self.on_stdin else None
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE, input=given)
                samples, rate = read_wav(file)
            except (OSError, subprocess.SubprocessError, wave.Error, EOFError) as failed:
                raise HardwareMissing(
                    "{name} could not speak {text} ({why}); {remedy}",
                    name=self.name,
                    text=repr(text),
                    why=failed,
                    remedy=self.remedy,
                ) from failed
        return heard(prepared(samples, rate), f"{self.name} spoke {text!r} as silence; {self.remedy}")


def heard(clip: Samples, otherwise: str) -> Samples:
    """The clip, if there is anything in it; raises `HardwareMissing` with the words of ``otherwise``."""
    if clip.size == 0:
        raise HardwareMissing(otherwise)
    return clip


FLITE: Final = Synthesiser(
    "flite", ("flite", "-voice", "rms", "--setf", "duration_stretch=0.9", "-t", "{text}", "-o", "{file}"), plain=True
)
"""English only; more easily understood than espeak-ng, which blurs six and eight."""


def espeak(voice: str) -> Synthesiser:
    """espeak-ng with one of its voices; a little slower than its normal, for a table is noisy."""
    return Synthesiser("espeak-ng", ("espeak-ng", "-v", voice, "-s", "150", "-w", "{file}", "{text}"))


ESPEAK: Final = espeak("en-us")
VOICES: Final = {"en": (FLITE, ESPEAK), "es": (espeak("es"),), "de": (espeak("de"),), "fr": (espeak("fr-fr"),)}
"""The system's voices by language, the best first."""


def find_synthesiser(language: str = "en", which: Callable[[str], str | None] = shutil.which) -> Synthesiser:
    """The best installed synthesiser for a language.

    Raises:
        HardwareMissing: none is installed.
    """
    for one in VOICES[language]:
        if which(one.command[0]):
            return one
    program = VOICES[language][0].command[0]
    raise HardwareMissing(
        "no speech synthesiser is installed, so the referee is silent: apt install {program}", program=program
    )


def cache_folder() -> Path:
    """Where clips are kept: under ``XDG_CACHE_HOME``, or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "table-referee" / "clips"


class Clips:
    """A voice's clips by the text that they speak, rendered when first asked for."""

    def __init__(
        self, synthesiser: Renders, folder: Path | None = None, spelling: Mapping[str, str] | None = None
    ) -> None:
        """``folder``: where to keep them; None is the user's cache. ``spelling``: words to be written otherwise for the
        synthesiser, lest it say them wrongly.
        """
        self._synthesiser = synthesiser
        self._spelling = dict(spelling or {})
        key = hashlib.sha256(f"{_RECIPE} {LOUDNESS} {synthesiser.key}".encode()).hexdigest()[:8]
        self._folder = (cache_folder() if folder is None else folder) / f"{synthesiser.name}-{key}"
        self._loaded: dict[str, Samples] = {}
        self._energies: dict[str, NDArray[np.float64]] = {}

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
            self._loaded[text], self._energies[text] = self._from_disk(text)
        return self._loaded[text]

    def phrase(self, texts: Iterable[str]) -> Samples:
        """Clips joined, and no louder together than each by itself; a mark at the end of a clip's name is a pause.

        Raises:
            HardwareMissing: one of them cannot be had.
        """
        names = list(texts)
        gaps = [gap_after(name) for name in names]
        joined = join([self.clip(name.rstrip(PAUSE_MARKS)) for name in names], gaps)
        # Short clips are measured over their own length, so that two within 400 ms are more than one.
        parts = [
            part
            for name, gap in zip(names, gaps, strict=True)
            for part in (self._energies[name.rstrip(PAUSE_MARKS)], np.zeros(round(gap / BLOCK)))
        ]
        over = momentary_of(np.concatenate(parts), RATE) - LOUDNESS if parts else 0.0
        return joined * np.float32(10 ** (-over / 20)) if over > 0 else joined

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Have clips of people's names, each spoken as it is written beside it, ready in memory.

        Returns those that came out as a name does.

        They are never written to disk: names of people who have not agreed to be kept would stay there.
        """
        learned = []
        for name, written in names.items():
            if name not in self._loaded:
                try:
                    samples = self._synthesiser.render(self._spelled(written))
                except HardwareMissing:
                    continue
                if not _SHORTEST <= samples.size / RATE <= _LONGEST:
                    continue
                self._loaded[name], self._energies[name] = samples, block_energies(samples, RATE)
            learned.append(name)
        return frozenset(learned)

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
        # Programs speak side by side; a voice that is loaded into this process speaks one text at a time.
        pool = ThreadPoolExecutor(os.cpu_count() if isinstance(self._synthesiser, Synthesiser) else 1)
        try:
            rendered = zip(absent, pool.map(self._from_disk, absent), strict=True)
            for done, (text, (samples, energies)) in enumerate(rendered, start=1):
                self._loaded[text], self._energies[text] = samples, energies
                if progress is not None:
                    progress(done, len(absent))
        finally:
            pool.shutdown(cancel_futures=True)
        for text in words:
            self.clip(text)
        return len(absent)

    def _from_disk(self, text: str) -> tuple[Samples, NDArray[np.float64]]:
        """A clip, rendered if it is not there, and the energies of its blocks."""
        file = self._file(text)
        try:
            samples, rate = read_wav(file)
        except (OSError, wave.Error, EOFError):
            # Never rendered, or torn by a power cut: rendering it mends both.
            samples, rate = np.zeros(0, np.float32), 0
        energies = block_energies(samples, RATE)
        if rate == RATE and abs(momentary_of(energies, RATE) - LOUDNESS) < _UNEVEN:
            return samples, energies
        samples = self._synthesiser.render(self._spelled(text))
        # Written beside its place and moved there, so that no half of a clip is ever read. A full or read-only disk
        # costs the next start some seconds, and this game nothing.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_suffix(f".{os.getpid()}.part")
            write_wav(beside, samples)
            beside.replace(file)
        return samples, block_energies(samples, RATE)

    def _spelled(self, text: str) -> str:
        return re.sub(r"\w+", lambda word: self._spelling.get(word[0], word[0]), text)

    def _file(self, text: str) -> Path:
        # Texts that differ only in accents or capitals are different clips, and so are those of another spelling.
        sure = hashlib.sha256(self._spelled(text).encode()).hexdigest()[:8]
        return self._folder / f"{re.sub(r'[^a-z0-9]+', '-', text.lower())[:60]}-{sure}.wav"


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
        if len(raw) != wav.getnframes() * channels * wav.getsampwidth():
            raise EOFError("the file ends too early")
    samples: Samples = (np.frombuffer(raw, "<i2")[::channels] / 32768).astype(np.float32)
    return samples, rate


def pcm(samples: Samples) -> bytes:
    """16-bit little-endian samples, as WAV files hold them."""
    return np.clip(np.round(samples * 32767), -32768, 32767).astype("<i2").tobytes()


def open_wav(file: BinaryIO) -> wave.Wave_write:
    """Begin a WAV file of one channel of 16-bit sound at `RATE`."""
    wav = wave.open(file, "wb")  # noqa: SIM115 - the caller closes it
    wav.setnchannels(1)
    wav.setsampwidth(2)
    wav.setframerate(RATE)
    return wav


def write_wav(file: Path, samples: Samples) -> None:
    """Write one channel of 16-bit sound at `RATE`.

    Raises:
        OSError: the file cannot be written.
    """
    with file.open("wb") as out, open_wav(out) as wav:
        wav.writeframes(pcm(samples))
