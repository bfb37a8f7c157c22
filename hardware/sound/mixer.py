"""Places phrases on one timeline: which one plays when, which is cut off, and which is too late.

Pure: time is counted in samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from hardware.sound.splice import BREATH, FADE, LATE, LATE_URGENT, PAUSE, RATE, Samples, noise_floor

_TURN: Final = 0.02
"""Fade time of a volume change, s; less in a shorter block."""
_KEPT: Final = 100
"""Number of dropped and of cut phrases whose names are remembered."""


@dataclass(slots=True, eq=False)
class _Saying:
    samples: Samples
    urgent: bool
    name: object
    topic: str
    until: int
    """Latest position at which it may begin."""
    pause: int = round(PAUSE * RATE)
    """Number of samples of quiet after it."""
    at: int = 0
    """Number of samples already read."""

    @property
    def whole(self) -> int:
        return self.samples.size + self.pause


class Mixer:
    """Phrases on a timeline: `say` adds one, `read` takes the next samples.

    A phrase follows the current one. An urgent one cuts off the current phrase and drops waiting ones if they are not
    urgent. A phrase that has waited too long, or was superseded by news on its topic, is never begun. Cues play at
    once, over everything.
    """

    def __init__(self, volume: Callable[[], float] = lambda: 1.0) -> None:
        """``volume`` returns the factor for speech and cues, 0 to 1; changes are faded."""
        self._queue: deque[_Saying] = deque()
        self._cues: list[Samples] = []
        self._noise = noise_floor()
        self.position = 0
        """Number of samples read."""
        self.begun = 0
        """Number of phrases begun."""
        self._volume = volume
        self._gain = volume()
        self.dropped: deque[object] = deque(maxlen=_KEPT)
        """Names of phrases that were never begun, the latest last."""
        self.cut: deque[object] = deque(maxlen=_KEPT)
        """Names of phrases that were cut off."""

    @property
    def waiting(self) -> int:
        """Number of samples of speech still to be read."""
        return sum(saying.whole - saying.at for saying in self._queue)

    def say(
        self,
        samples: Samples,
        *,
        urgent: bool = False,
        name: object = None,
        topic: str = "",
        patience: float | None = None,
    ) -> int | None:
        """Add a phrase to the timeline.

        Args:
            samples: the phrase.
            urgent: whether it interrupts phrases that are not urgent.
            name: its name in `dropped` and `cut`.
            topic: waiting phrases of the same topic are dropped; none if empty.
            patience: longest wait for its turn, s; `LATE` or `LATE_URGENT` if not given.

        Returns:
            The position (in samples) at which it starts if nothing interrupts; None if it was dropped for being late.
        """
        patience = (LATE_URGENT if urgent else LATE) if patience is None else patience
        if topic:
            self._drop(lambda queued: queued.topic == topic)
        if urgent:
            self._make_way()
        elif self.waiting > patience * RATE:
            self.dropped.append(name)
            return None
        start = self.position + self.waiting
        self._queue.append(_Saying(samples, urgent, name, topic, self.position + round(patience * RATE)))
        return start

    def cue(self, samples: Samples) -> None:
        """Play a sound over the current speech, from the next sample on."""
        self._cues.append(samples)

    def read(self, count: int) -> Samples:
        """Return the next ``count`` samples, noise floor included; never beyond full scale."""
        sound = np.zeros(count, np.float32)
        filled = 0
        while filled < count and self._queue:
            first = self._queue[0]
            if not first.at and self.position + filled > first.until:
                self.dropped.append(first.name)
                self._queue.popleft()
                continue
            self.begun += first.at == 0
            # Up to the end of the block or of the phrase, including its pause.
            length = min(count - filled, first.whole - first.at)
            spoken = first.samples[first.at : first.at + length]
            sound[filled : filled + spoken.size] += spoken
            first.at += length
            filled += length
            if first.at >= first.whole:
                self._queue.popleft()
        rest = []
        for cue in self._cues:
            reach = min(count, cue.size)
            sound[:reach] += cue[:reach]
            if reach < cue.size:
                rest.append(cue[reach:])
        self._cues = rest
        # Fade a volume change, since a step would click.
        gain, self._gain = self._gain, self._volume()
        fade = min(count, round(_TURN * RATE)) if gain != self._gain else 0
        sound[:fade] *= np.linspace(gain, self._gain, fade, dtype=np.float32)
        sound[fade:] *= self._gain
        at = (self.position + np.arange(count)) % self._noise.size
        self.position += count
        sound += self._noise[at]
        np.clip(sound, -1.0, 1.0, out=sound)
        return sound

    def lost(self, seconds: float) -> None:
        """Skip a time in which no output was heard: the interrupted phrase starts again if still timely, and outdated
        ones are dropped.
        """
        self.position += round(seconds * RATE)
        self._cues.clear()
        for saying in list(self._queue):
            if saying.at >= saying.samples.size:
                self._queue.remove(saying)
            saying.at = 0

    def _make_way(self) -> None:
        self._drop(lambda queued: not queued.urgent)
        for place, sound in enumerate(self._queue):
            if sound.urgent:
                continue
            if sound.at < sound.samples.size:
                # Keep the part already played, and a few milliseconds of fade-out.
                self.cut.append(sound.name)
                count = min(round(FADE * RATE), sound.samples.size - sound.at)
                tail = sound.samples[: sound.at + count].copy()
                tail[sound.at :] *= np.linspace(1, 0, count, dtype=np.float32)
                breath = round(BREATH * RATE)
                self._queue[place] = _Saying(tail, True, sound.name, sound.topic, sound.until, breath, sound.at)
            else:
                sound.pause = min(sound.pause, max(sound.at - sound.samples.size, round(BREATH * RATE)))
        # Drop verdicts that would be heard too late, the oldest first.
        while self.waiting > LATE_URGENT * RATE:
            unbegun = next((saying for saying in self._queue if saying.at == 0), None)
            if unbegun is None:
                return
            self._drop(lambda queued, oldest=unbegun: queued is oldest)  # type: ignore[misc]

    def _drop(self, wanted: Callable[[_Saying], bool]) -> None:
        """Drop selected phrases that have not begun."""
        self.dropped.extend(saying.name for saying in self._queue if saying.at == 0 and wanted(saying))
        self._queue = deque(saying for saying in self._queue if saying.at or not wanted(saying))
