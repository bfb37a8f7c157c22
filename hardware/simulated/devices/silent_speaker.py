"""A speaker that makes no sound and remembers what it was told to say, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardware.clock import Clock, monotonic
from hardware.sound.volume import Volume


@dataclass(frozen=True, slots=True)
class SpokenPhrase:
    """One phrase, as it was handed over."""

    t: int
    """By the speaker's clock, ns."""
    clips: tuple[str, ...]
    urgent: bool
    topic: str = ""

    @property
    def text(self) -> str:
        """The phrase in writing, marks included."""
        return " ".join(self.clips).replace("- ", "")


class RecordingSpeaker:
    """Implements `hardware.ports.Speaker` without sound: at the simulated table, and where no voice is
    installed.
    """

    def __init__(self, clock: Clock = monotonic, keep: int | None = None, learns: bool = False) -> None:
        """``clock`` answers the present instant, ns; ``keep``: remember only so many of the last phrases and cues;
        ``learns``: it can say any name.
        """
        self._clock, self._learns = clock, learns
        self._keep = keep
        self.said: list[SpokenPhrase] = []
        self.cues: list[tuple[int, str]] = []
        """Instants (ns) and names of the cues."""
        self.volume = Volume()
        """As it was set last."""
        self.closed = False

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """Remember a phrase."""
        self.said.append(SpokenPhrase(self._clock(), tuple(clips), urgent, topic))
        if self._keep is not None:
            del self.said[: max(0, len(self.said) - self._keep)]

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Only what ``learns`` allows: most of its phrases are held against those of every table."""
        return frozenset(names) if self._learns else frozenset()

    def cue(self, name: str) -> None:
        """Remember a cue."""
        self.cues.append((self._clock(), name))
        if self._keep is not None:
            del self.cues[: max(0, len(self.cues) - self._keep)]

    def set_volume(self, volume: Volume) -> None:
        """As the port says."""
        self.volume = volume

    def close(self) -> None:
        """Say no more."""
        self.closed = True
