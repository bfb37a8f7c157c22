"""An owner's Piper voice: a neural voice from a file, through the ``piper`` package or the ``piper`` program.

Neither includes a voice. A voice consists of two files, ``NAME.onnx`` and ``NAME.onnx.json``; the second gives its
language.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import wave
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hardware.ports import HardwareMissing
from hardware.sound.clips import Renders, Synthesiser, heard, read_wav
from hardware.sound.splice import Samples, prepared


def open_piper(
    voice: Path, language: str, *, which: Callable[[str], str | None] = shutil.which, module: Any = None
) -> Renders:
    """Open the owner's voice.

    Args:
        voice: path of the ``.onnx`` file.
        language: required language (``de``).
        which: finds programs.
        module: stands for the ``piper`` package; None: look for it.

    Raises:
        HardwareMissing: there is no such voice, it speaks another language, or nothing can run it.
    """
    about = voice.with_name(voice.name + ".json")
    for file in (voice, about):
        if not file.is_file():
            raise HardwareMissing(
                "the Piper voice {file} is not there; copy the .onnx and the .onnx.json, see voice.piper", file=file
            )
    try:
        said = json.loads(about.read_text(encoding="utf-8"))
        spoken = str(said["language"]["code"] if "language" in said else said["espeak"]["voice"])[:2].lower()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HardwareMissing(
            "the Piper voice's description {about} cannot be read ({why}); copy it anew", about=about, why=repr(error)
        ) from error
    if spoken != language:
        raise HardwareMissing(
            "the Piper voice {voice} speaks {spoken}, not {language}; see voice.language",
            voice=voice,
            spoken=repr(spoken),
            language=repr(language),
        )
    if module is None and find_spec("piper") is not None:
        try:
            module = import_module("piper")
        except (ImportError, OSError) as error:
            raise HardwareMissing(
                "the package piper cannot be used ({why}); pip install --force-reinstall piper-tts", why=error
            ) from error
    if module is not None:
        return PiperVoice(voice, module)
    if which("piper"):
        return Synthesiser(
            "piper", ("piper", "--model", str(voice), "--output_file", "{file}"), on_stdin=True,
            remedy=f"the voice {voice} may be broken: copy both its files anew",
        )  # fmt: skip
    raise HardwareMissing(
        "nothing can run the Piper voice {voice}: {executable} -m pip install piper-tts",
        voice=voice,
        executable=sys.executable,
    )


class PiperVoice:
    """A voice run by the ``piper`` package, loaded once, for the first clip."""

    name = "piper"

    def __init__(self, voice: Path, module: Any) -> None:
        self._path = voice
        self._module = module
        self._voice: Any = None

    @property
    def key(self) -> str:
        """The file with its current size and time: another voice under the same name has another key."""
        try:
            about = self._path.stat()
        except OSError:
            return str(self._path)
        return f"piper {self._path} {about.st_size} {about.st_mtime_ns}"

    def render(self, text: str) -> Samples:
        """Speak ``text``; return a clip at `RATE`, trimmed, evened and faded; raises `HardwareMissing`."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "clip.wav"
            try:
                if self._voice is None:
                    self._voice = self._module.PiperVoice.load(str(self._path))
                with wave.open(str(file), "wb") as out:
                    # `synthesize` wrote a file until version 1.2; since then `synthesize_wav` does.
                    speak = getattr(self._voice, "synthesize_wav", None) or self._voice.synthesize
                    speak(text, out)
                samples, rate = read_wav(file)
            except Exception as error:  # the libraries may raise anything
                raise HardwareMissing(
                    "the Piper voice {path} could not speak {text} ({why}); copy both its files anew",
                    path=self._path,
                    text=repr(text),
                    why=error,
                ) from error
        return heard(prepared(samples, rate), f"the Piper voice {self._path} spoke {text!r} as silence; copy it anew")
