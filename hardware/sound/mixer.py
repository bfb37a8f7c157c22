"""Phrases laid on one line of time: who speaks when, who is cut off, what is too late.

Pure: its time is counted in samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from hardware.sound.splice import BREATH, FADE, LATE, LATE_URGENT, PAUSE, RATE, Samples, noise_floor

_TURN: Final = 0.02
"""How long a change of the volume is faded in, s; less in a shorter block."""
_KEPT: Final = 100
"""How many names of dropped and of cut phrases are remembered."""


@dataclass(slots=True, eq=False)
class _Saying:
    samples: Samples
    urgent: bool
    name: object
    topic: str
    until: int
    """It may not begin later than at this position."""
    pause: int = round(PAUSE * RATE)
    """Samples of quiet that follow it."""
    at: int = 0
    """How much of it has been read."""

    @property
    def whole(self) -> int:
        return self.samples.size + self.pause


class Mixer:
    """Phrases on a line of time: `say` puts one on it, `read` takes the next samples.

    A phrase follows what is being said. An urgent one cuts off what is not urgent, and drops what waits and is not.
    What has waited longer than it stays true, or was overtaken by news of its topic, is never begun. Cues lie over
    everything, at once.
    """

    def __init__(self, volume: Callable[[], float] = lambda: 1.0) -> None:
        """``volume`` answers the factor for speech and cues, 0 to 1; changes are faded in."""
        self._queue: deque[_Saying] = deque()
        self._cues: list[Samples] = []
        self._noise = noise_floor()
        self.position = 0
        """How many samples have been read."""
        self.begun = 0
        """How many phrases have begun to be read."""
        self._volume = volume
        self._gain = volume()
        self.dropped: deque[object] = deque(maxlen=_KEPT)
        """Names of phrases that were never begun, the latest last."""
        self.cut: deque[object] = deque(maxlen=_KEPT)
        """Names of phrases that were cut off."""

    @property
    def waiting(self) -> int:
        """How many samples of speech are still to be read."""
        return sum(one.whole - one.at for one in self._queue)

    def say(
        self,
        samples: Samples,
        *,
        urgent: bool = False,
        name: object = None,
        topic: str = "",
        patience: float | None = None,
    ) -> int | None:
        """Put a phrase on the line.

        Args:
            samples: the phrase.
            urgent: it interrupts what is not urgent.
            name: what `dropped` and `cut` call it.
            topic: what it makes untrue: phrases of the same topic that wait are dropped; none if empty.
            patience: how long it may wait for its turn, s; `LATE` or `LATE_URGENT` if not given.

        Returns:
            The position (in samples) at which it starts if nothing interrupts; None if it was dropped for being late.
        """
        patience = (LATE_URGENT if urgent else LATE) if patience is None else patience
        if topic:
            self._drop(lambda one: one.topic == topic)
        if urgent:
            self._make_way()
        elif self.waiting > patience * RATE:
            self.dropped.append(name)
            return None
        start = self.position + self.waiting
        self._queue.append(_Saying(samples, urgent, name, topic, self.position + round(patience * RATE)))
        return start

    def cue(self, samples: Samples) -> None:
        """Lay a sound over whatever is being said, from the next sample on."""
        self._cues.append(samples)

    def read(self, count: int) -> Samples:
        """The next ``count`` samples, noise floor included; never beyond full scale."""
        sound = np.zeros(count, np.float32)
        filled = 0
        while filled < count and self._queue:
            first = self._queue[0]
            if not first.at and self.position + filled > first.until:
                self.dropped.append(first.name)
                self._queue.popleft()
                continue
            self.begun += first.at == 0
            # As far as either reaches; its pause counts as part of it.
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
        # A change of the volume is faded in, for a step would click.
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
        """So much time went by in which nothing that was read was heard: what was being said begins anew if it is still
        true, and what is not true any more is dropped.
        """
        self.position += round(seconds * RATE)
        self._cues.clear()
        for one in list(self._queue):
            if one.at >= one.samples.size:
                self._queue.remove(one)
            one.at = 0

    def _make_way(self) -> None:
        self._drop(lambda one: not one.urgent)
        for place, one in enumerate(self._queue):
            if one.urgent:
                continue
            if one.at < one.samples.size:
                # What has been said, and the few milliseconds in which it falls silent.
                self.cut.append(one.name)
                count = min(round(FADE * RATE), one.samples.size - one.at)
                tail = one.samples[: one.at + count].copy()
                tail[one.at :] *= np.linspace(1, 0, count, dtype=np.float32)
                breath = round(BREATH * RATE)
                self._queue[place] = _Saying(tail, True, one.name, one.topic, one.until, breath, one.at)
            else:
                one.pause = min(one.pause, max(one.at - one.samples.size, round(BREATH * RATE)))
        # Verdicts that would be heard after they are worth hearing make way too, the oldest first.
        while self.waiting > LATE_URGENT * RATE:
            unbegun = next((one for one in self._queue if one.at == 0), None)
            if unbegun is None:
                return
            self._drop(lambda one, oldest=unbegun: one is oldest)  # type: ignore[misc]

    def _drop(self, wanted: Callable[[_Saying], bool]) -> None:
        """Drop what has not begun and is wanted gone."""
        self.dropped.extend(one.name for one in self._queue if one.at == 0 and wanted(one))
        self._queue = deque(one for one in self._queue if one.at or not wanted(one))
