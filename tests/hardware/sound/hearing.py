"""The intelligibility of speech, measured: for the tests, and for `make voice-check`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from hardware.sound.clips import Clips
from hardware.sound.loudness import Samples
from referee.announce.voice import Phrase
from tests.hardware.sound.listener import Listener, bare, in_the_room, shuffled


@dataclass(frozen=True, slots=True)
class Heard:
    """The recognition of some phrases."""

    count: int
    wrong: tuple[tuple[str, str], ...]
    """Spoken and heard text, where they differ."""

    @property
    def share(self) -> float:
        """Return the share of phrases understood, every word of each."""
        return 1 - len(self.wrong) / self.count


@cache
def _listener() -> Listener:
    return Listener()


def _hear(samples: Samples) -> str:
    return _listener().hear(samples)


def understood(phrases: Sequence[Phrase], sounds: Sequence[Samples]) -> Heard:
    """Recognise each in a noisy room, on all cores."""
    rooms = [in_the_room(sound, seed=place) for place, sound in enumerate(sounds)]
    # Built before the processes are forked, so that each has it.
    _listener()
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        heard = list(pool.map(_hear, rooms, chunksize=4))
    said = [bare(phrase.text) for phrase in phrases]
    return Heard(len(said), tuple(pair for pair in zip(said, heard, strict=True) if pair[0] != pair[1]))


def spoken(bank: Clips, phrases: Sequence[Phrase]) -> list[Samples]:
    """Return the sound of each phrase."""
    return [bank.phrase(phrase.clips) for phrase in phrases]


def spoilt(sounds: Sequence[Samples], way: str) -> list[Samples]:
    """Return the same sounds ``reversed``, or ``shuffled`` in pieces: unintelligible."""
    chance = np.random.default_rng(5)
    return [sound[::-1].copy() if way == "reversed" else shuffled(sound, chance) for sound in sounds]
