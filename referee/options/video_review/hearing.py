"""The ear of `referee review`: hands whose frames people marked get the instant of the sound that they made.

The offset of sound to picture is estimated from the video itself, never assumed: each marked hand should have an onset
between two frames, so each narrows the offset and the drift. An onset becomes a hand's instant only where a group of
hands has exactly as many onsets and a single order fits. Sound never denies a hand and never makes one. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from referee.options.video_review.sound import ONSET_ERROR, Onset
from referee.units import MS, SECOND

FLIGHT: Final = 3 * MS
"""The time that sound takes for a metre: hands and microphone are not at one place."""
SOUND_ERROR: Final = ONSET_ERROR + FLIGHT
"""Error of each of two onsets' instants against the other, ns."""
LARGEST_OFFSET: Final = 300 * MS
"""Largest difference of sound and picture that is looked for, either way."""
LARGEST_DRIFT: Final = 250e-6
"""Largest difference in speed of the two clocks."""
_LEAST: Final = 4
"""Fewer marked hands show no offset."""
_CANDIDATES: Final = 2
"""Onsets for each hand that are compared with the marks."""
_HEARD: Final = (0.97, 0.85, 0.7)
"""Shares of hands that may be audible; the likeliest of them is taken."""
_SURE: Final = 12.0
"""Least log-likelihood ratio between a fitted offset and sounds that have nothing to do with the hands."""
_LEFT_OUT: Final = 0.002
"""Share of the posterior that the stated range of the offset leaves out."""
ALONE: Final = 100 * MS
"""Hands nearer than this may take each other's onset."""
_AS_LOUD: Final = 3.0
"""A sound is as loud as another if it is at most this much weaker, dB."""
_RARE: Final = 0.03
"""Largest chance that another sound as loud as a hand's falls into its interval."""
_STEP: Final = MS
_COARSE: Final = 4
"""Steps of the offset that the first look takes at a time."""
_COARSE_LOSS: Final = 25.0
"""A coarse cell this much less likely than the best one is not looked at again."""
_FAR: Final = 60 * SECOND
"""Two speeds are alike if they agree after this time."""


class HandSpan(NamedTuple):
    """A marked hand: it came down within an interval of the video's time, ns."""

    key: Hashable
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class SoundFit:
    """The sound's clock against the video's: offsets and drifts that the marked hands allow, each with its weight."""

    likely: tuple[tuple[float, float], ...]
    """Offset (ns, sound minus picture at the video's zero) and speed of the sound's clock, the likeliest first."""

    def thinned(self) -> Iterator[tuple[float, float]]:
        """Yield likely pairs that cover all of them to two steps."""
        seen: set[tuple[int, int]] = set()
        for offset, speed in self.likely:
            cell = round(offset / (2 * _STEP)), round((speed - 1) * _FAR / (2 * _STEP))
            if cell not in seen:
                seen.add(cell)
                yield offset, speed

    def instant(self, sound: int) -> int:
        """Return the video's instant, ns, of an instant of the sound, by the middle of what is likely."""
        low, high = self._span(sound)
        return (low + high) // 2

    def sound_instant(self, t: int) -> int:
        """Return the sound's instant, ns, that most likely belongs to an instant of the video."""
        offset, speed = self.likely[0]
        return round(t * speed + offset)

    def error(self, sound: int) -> int:
        """Return how far `instant` may be off, ns; it is the same for sounds that are near each other."""
        low, high = self._span(sound)
        return (high - low + 1) // 2

    def _span(self, sound: int) -> tuple[int, int]:
        times = [(sound - offset) / speed for offset, speed in self.likely]
        return round(min(times) - _STEP / 2), round(max(times) + _STEP / 2)


def fit_sound(onsets: Sequence[Onset], spans: Sequence[HandSpan]) -> SoundFit | None:
    """Return the sound's clock by the marked hands; None: the sound does not show it."""
    import numpy as np

    if len(spans) < _LEAST or not onsets:
        return None
    # Slaps are among the loudest sounds; fewer onsets make a chance agreement rarer.
    loudest = sorted(onsets, key=lambda onset: onset.level)[-_CANDIDATES * len(spans) :]
    heard = np.array(sorted(onset.t for onset in loudest), float)
    length = max(span.high for span in spans)
    drift_step = 2 * _STEP / length
    coarse = [np.arange(-most, most + step, step) for most, step in
              ((LARGEST_OFFSET, _COARSE * _STEP), (LARGEST_DRIFT, _COARSE * drift_step))]  # fmt: skip
    offsets, drifts = (grid.ravel() for grid in np.meshgrid(*coarse, indexing="ij"))
    worth = _worth(heard, spans, offsets, 1 + drifts, _COARSE * _STEP)
    kept = worth >= worth.max() - _COARSE_LOSS
    # Each coarse cell that may hold the truth is cut into fine ones.
    inner = np.arange(_COARSE) - (_COARSE - 1) / 2
    shifts, tilts = (grid.ravel() for grid in np.meshgrid(inner * _STEP, inner * drift_step, indexing="ij"))
    offsets = (offsets[kept][:, None] + shifts).ravel()
    speeds = (1 + drifts[kept][:, None] + tilts).ravel()
    worth = _worth(heard, spans, offsets, speeds, 0)
    if worth.max() < _SURE:
        return None
    weight = np.exp(worth - worth.max())
    order = np.argsort(weight)[::-1]
    likely = order[: int(np.searchsorted(np.cumsum(weight[order]), (1 - _LEFT_OUT) * weight.sum())) + 1]
    return SoundFit(tuple(zip(offsets[likely].tolist(), speeds[likely].tolist(), strict=True)))


def _worth(heard: Any, spans: Sequence[HandSpan], offsets: Any, speeds: Any, more: int) -> Any:
    """Return the log-likelihood ratio against chance of each offset and speed; ``more`` widens the intervals (ns)."""
    import numpy as np

    # A hand's own way to the microphone differs from the mean way by half the flight.
    slack = ONSET_ERROR + FLIGHT / 2 + more
    rate = len(heard) / max(float(heard[-1] - heard[0]), 1.0)
    heard = np.append(heard, np.inf)
    worth = np.zeros((len(_HEARD), len(offsets)))
    for group in _groups(spans, ALONE):
        # Each onset belongs to one hand at most: a hand that was not heard must not borrow its neighbour's.
        used = np.full(len(offsets), -1)
        for span in group:
            place = np.maximum(np.searchsorted(heard, (span.low - slack) * speeds + offsets), used + 1)
            inside = heard[np.minimum(place, len(heard) - 1)] <= (span.high + slack) * speeds + offsets
            used = np.where(inside, place, used)
            by_chance = 1 - np.exp(-rate * (span.high - span.low + 2 * slack))
            for row, share in enumerate(_HEARD):
                hit, missed = np.log((share + (1 - share) * by_chance) / by_chance), np.log(1 - share)
                worth[row] += np.where(inside, hit, missed)
    return worth[int(worth.max(axis=1).argmax())]


class Heard(NamedTuple):
    """A hand whose sound is unmistakable."""

    t: int
    """The video's instant, ns, known against other heard hands of its moment to ± `SOUND_ERROR`."""
    clock_error: int
    """Error of the sound's clock there, ns: the same for all hands of the moment."""


def hear_hands(onsets: Sequence[Onset], fit: SoundFit, spans: Sequence[HandSpan]) -> dict[Hashable, Heard]:
    """Return the hands that have an onset of their own, by key.

    For each likely offset the onsets are given to the hands in every order that their intervals allow. A group of hands
    is heard if it has as many onsets as hands, all offsets leave one order and the same one, and other sounds as loud
    as the softest of them are rare.
    """
    heard: dict[Hashable, Heard] = {}
    groups = list(_groups(spans, 0))
    others = _other_levels(onsets, fit, groups)
    length = max(onsets[-1].t - onsets[0].t, 1) if onsets else 1
    for group in groups:
        ways: set[tuple[Onset, ...]] = set()
        there: set[Onset] = set()
        for offset, speed in fit.thinned():
            near = _between(onsets, group[0].low, group[-1].high, offset, speed)
            there.update(near)
            if len(there) > len(group):
                break
            ways.update(_orders(group, near, offset, speed))
            if len(ways) > 1:
                break
        if len(there) != len(group) or len(ways) != 1:
            continue
        softest = min(onset.level for onset in there)
        as_loud = len(others) - bisect_left(others, softest - _AS_LOUD)
        if as_loud * (group[-1].high - group[0].low) > _RARE * length:
            continue
        for span, onset in zip(group, ways.pop(), strict=True):
            heard[span.key] = Heard(fit.instant(onset.t), fit.error(onset.t))
    return heard


def _other_levels(onsets: Sequence[Onset], fit: SoundFit, groups: Sequence[Sequence[HandSpan]]) -> list[float]:
    """Return the levels of the onsets that belong to no marked hand, in rising order."""
    offset, speed = fit.likely[0]
    of_hands: set[Onset] = set()
    for group in groups:
        of_hands.update(_between(onsets, group[0].low - ALONE, group[-1].high + ALONE, offset, speed))
    return sorted(onset.level for onset in onsets if onset not in of_hands)


def _between(onsets: Sequence[Onset], low: int, high: int, offset: float, speed: float) -> Sequence[Onset]:
    """Return the onsets that may belong to an interval of the video's time."""
    begin = bisect_left(onsets, ((low - SOUND_ERROR) * speed + offset,))
    end = bisect_left(onsets, ((high + SOUND_ERROR) * speed + offset,))
    return onsets[begin:end]


def _groups(spans: Sequence[HandSpan], apart: int) -> Iterator[list[HandSpan]]:
    """Yield hands whose intervals are no further apart than that (ns), by time."""
    group: list[HandSpan] = []
    for span in sorted(spans, key=lambda span: (span.low, span.high)):
        if group and span.low > group[-1].high + apart:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _orders(
    group: Sequence[HandSpan], near: Sequence[Onset], offset: float, speed: float
) -> Iterator[tuple[Onset, ...]]:
    """Yield each way to give every hand an onset of its own inside its interval."""
    if not group:
        yield ()
        return
    span, *others = group
    low, high = ((span.low - SOUND_ERROR) * speed + offset, (span.high + SOUND_ERROR) * speed + offset)
    for place, onset in enumerate(near):
        if low <= onset.t <= high:
            for rest in _orders(others, [*near[:place], *near[place + 1 :]], offset, speed):
                yield (onset, *rest)
