"""Phrase clips: rendered once by a speech synthesiser, kept in the user's cache, returned as arrays.

Rendering takes the installed synthesiser about a twentieth of a second per clip, too long during a game; so the
vocabulary is rendered ahead, at installation or first use.
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
"""Version of the rendering, part of the cache folder's name: changed whenever clips must be rendered again."""
_PATIENCE: Final = 20.0
_UNEVEN: Final = 3.0
"""Deviation, LU, from the required loudness at which a clip on disk counts as torn (pointed clips are softer by
less)."""

_SHORTEST: Final = 0.15
"""Shortest name, s; less is a lost letter ..."""
_LONGEST: Final = 2.0
"""... and the longest; more is a name spelled out."""

Progress = Callable[[int, int], None]
"""Called with the number of finished clips and the total."""


#: Replacements for letters that do not decompose into a Latin letter and a mark.
_LATIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


def plain_letters(text: str) -> str:
    """Return the text in lower case, with letters a to z where possible: ``Łukasz`` is ``lukasz``, ``Мария`` stays."""
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_LATIN))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


class Renders(Protocol):
    """A speech renderer: a `Synthesiser`, or a Piper voice."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def key(self) -> str:
        """A text that changes with everything that affects its sound."""
        ...

    def render(self, text: str) -> Samples:
        """Return a clip at `RATE`, trimmed, evened and faded; raises `HardwareMissing`."""
        ...


@dataclass(frozen=True, slots=True)
class Synthesiser:
    """A program that turns text into a WAV file."""

    name: str
    command: tuple[str, ...]
    """Arguments; ``{text}`` and ``{file}`` stand for the text and the file to write."""
    remedy: str = "apt install --reinstall flite espeak-ng"
    """Advice for a failure."""
    on_stdin: bool = False
    """Whether it reads the text from standard input."""
    plain: bool = False
    """Whether it knows only the letters a to z."""

    @property
    def key(self) -> str:
        """The command."""
        return " ".join(self.command)

    def render(self, text: str) -> Samples:
        """Speak ``text``; return a clip at `RATE`, trimmed, evened and faded.

        Raises:
            HardwareMissing: the program failed, or wrote nothing audible.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "clip.wav"
            written = plain_letters(text) if self.plain else text
            command = [part.format(text=written, file=file) for part in self.command]
            given = (written + "\n").encode() if self.on_stdin else None
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE, input=given)
                samples, rate = read_wav(file)
            except (OSError, subprocess.SubprocessError, wave.Error, EOFError) as error:
                raise HardwareMissing(
                    "{name} could not speak {text} ({why}); {remedy}",
                    name=self.name,
                    text=repr(text),
                    why=error,
                    remedy=self.remedy,
                ) from error
        return heard(prepared(samples, rate), f"{self.name} spoke {text!r} as silence; {self.remedy}")


def heard(clip: Samples, otherwise: str) -> Samples:
    """Return the clip if it is not empty; raise `HardwareMissing` with the words of ``otherwise`` if it is."""
    if clip.size == 0:
        raise HardwareMissing(otherwise)
    return clip


FLITE: Final = Synthesiser(
    "flite", ("flite", "-voice", "rms", "--setf", "duration_stretch=0.9", "-t", "{text}", "-o", "{file}"), plain=True
)
"""English only; easier to understand than espeak-ng, which blurs six and eight."""


def espeak(voice: str) -> Synthesiser:
    """Return espeak-ng with one of its voices, slightly slower than normal, since a table is noisy."""
    return Synthesiser("espeak-ng", ("espeak-ng", "-v", voice, "-s", "150", "-w", "{file}", "{text}"))


ESPEAK: Final = espeak("en-us")
VOICES: Final = {"en": (FLITE, ESPEAK), "es": (espeak("es"),), "de": (espeak("de"),), "fr": (espeak("fr-fr"),)}
"""The system's voices by language, the best first."""


def find_synthesiser(language: str = "en", which: Callable[[str], str | None] = shutil.which) -> Synthesiser:
    """Return the best installed synthesiser for a language.

    Raises:
        HardwareMissing: none is installed.
    """
    for synthesiser in VOICES[language]:
        if which(synthesiser.command[0]):
            return synthesiser
    program = VOICES[language][0].command[0]
    raise HardwareMissing(
        "no speech synthesiser is installed, so the referee is silent: apt install {program}", program=program
    )


def cache_folder() -> Path:
    """Return the folder for clips: under ``XDG_CACHE_HOME``, or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "table-referee" / "clips"


class Clips:
    """A voice's clips by their text, rendered when first requested."""

    def __init__(
        self, synthesiser: Renders, folder: Path | None = None, spelling: Mapping[str, str] | None = None
    ) -> None:
        """``folder``: where to keep them; None: the user's cache. ``spelling``: respellings of words that the
        synthesiser would mispronounce.
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
        """Return the clip of ``text``, from memory, the cache or the synthesiser.

        Raises:
            HardwareMissing: none of them has it.
        """
        if text not in self._loaded:
            self._loaded[text], self._energies[text] = self._from_disk(text)
        return self._loaded[text]

    def phrase(self, texts: Iterable[str]) -> Samples:
        """Return clips joined, together no louder than each alone; a mark at the end of a clip's name is a pause.

        Raises:
            HardwareMissing: one of them is not available.
        """
        names = list(texts)
        gaps = [gap_after(name) for name in names]
        joined = join([self.clip(name.rstrip(PAUSE_MARKS)) for name in names], gaps)
        # Short clips are measured over their own length, so two within 400 ms exceed one.
        parts = [
            part
            for name, gap in zip(names, gaps, strict=True)
            for part in (self._energies[name.rstrip(PAUSE_MARKS)], np.zeros(round(gap / BLOCK)))
        ]
        over = momentary_of(np.concatenate(parts), RATE) - LOUDNESS if parts else 0.0
        return joined * np.float32(10 ** (-over / 20)) if over > 0 else joined

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Render clips of people's names, each by its pronunciation, into memory.

        Returns the names that came out at a plausible length.

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
        """Return the texts that still need rendering."""
        return [text for text in vocabulary if text not in self._loaded and not self._file(text).exists()]

    def render(self, vocabulary: Iterable[str], progress: Progress | None = None) -> int:
        """Load every clip of ``vocabulary`` into memory; return how many had to be rendered.

        Raises:
            HardwareMissing: the synthesiser failed.
        """
        words = list(dict.fromkeys(vocabulary))
        absent = self.missing(words)
        # Programs run in parallel; a voice loaded into this process renders one text at a time.
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
        """Return a clip, rendered if it is missing, and the energies of its blocks."""
        file = self._file(text)
        try:
            samples, rate = read_wav(file)
        except (OSError, wave.Error, EOFError):
            # Missing, or torn by a power cut: rendering fixes both.
            samples, rate = np.zeros(0, np.float32), 0
        energies = block_energies(samples, RATE)
        if rate == RATE and abs(momentary_of(energies, RATE) - LOUDNESS) < _UNEVEN:
            return samples, energies
        samples = self._synthesiser.render(self._spelled(text))
        # Write it under a temporary name and rename it, so that no partial clip is ever read. A full or read-only disk
        # only slows down the next start.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_suffix(f".{os.getpid()}.part")
            write_wav(beside, samples)
            beside.replace(file)
        return samples, block_energies(samples, RATE)

    def _spelled(self, text: str) -> str:
        return re.sub(r"\w+", lambda word: self._spelling.get(word[0], word[0]), text)

    def _file(self, text: str) -> Path:
        # Texts that differ only in accents or capitals are different clips, and so are different spellings.
        sure = hashlib.sha256(self._spelled(text).encode()).hexdigest()[:8]
        return self._folder / f"{re.sub(r'[^a-z0-9]+', '-', text.lower())[:60]}-{sure}.wav"


def read_wav(file: Path) -> tuple[Samples, int]:
    """Return the first channel of a 16-bit WAV file, and its rate.

    Raises:
        OSError, EOFError, wave.Error: the file is missing or unreadable.
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
    """Return 16-bit little-endian samples, as in WAV files."""
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
