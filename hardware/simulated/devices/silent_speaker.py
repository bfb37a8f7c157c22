"""A speaker that makes no sound and records its phrases with their instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardware.clock import Clock, monotonic
from hardware.sound.volume import Volume


@dataclass(frozen=True, slots=True)
class SpokenPhrase:
    """One recorded phrase."""

    t: int
    """Instant on the speaker's clock, ns."""
    clips: tuple[str, ...]
    urgent: bool
    topic: str = ""

    @property
    def text(self) -> str:
        """The phrase in writing, marks included."""
        return " ".join(self.clips).replace("- ", "")


class RecordingSpeaker:
    """Implements `hardware.ports.Speaker` without sound: at the simulated table, and if no voice is installed."""

    def __init__(self, clock: Clock = monotonic, keep: int | None = None, learns: bool = False) -> None:
        """``clock`` returns the present instant, ns; ``keep``: record only this many of the last phrases and cues;
        ``learns``: it can speak any name.
        """
        self._clock, self._learns = clock, learns
        self._keep = keep
        self.said: list[SpokenPhrase] = []
        self.cues: list[tuple[int, str]] = []
        """Instants (ns) and names of the cues."""
        self.volume = Volume()
        """The volume set last."""
        self.closed = False

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """Record a phrase."""
        self.said.append(SpokenPhrase(self._clock(), tuple(clips), urgent, topic))
        if self._keep is not None:
            del self.said[: max(0, len(self.said) - self._keep)]

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Return all names if ``learns``, else none: most of its phrases are compared across tables."""
        return frozenset(names) if self._learns else frozenset()

    def cue(self, name: str) -> None:
        """Record a cue."""
        self.cues.append((self._clock(), name))
        if self._keep is not None:
            del self.cues[: max(0, len(self.cues) - self._keep)]

    def set_volume(self, volume: Volume) -> None:
        """See `hardware.ports.Speaker`."""
        self.volume = volume

    def close(self) -> None:
        """Mark the speaker as closed."""
        self.closed = True
