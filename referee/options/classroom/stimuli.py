"""What a class reacts to at the appliance: a light, a sound, or a card that the room's page shows.

Each says when it came and how well that is known. What it cannot know, it leaves to the words beside the times: an
amplifier's delay, or a screen's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from hardware.clock import Clock, monotonic
from hardware.lights.leds import FREQUENCY, GpioLights
from hardware.ports import HardwareMissing, Lights
from hardware.sound.stream_speaker import StreamSpeaker
from referee.errors import UserError
from referee.options.classroom.reaction_trials import Timed
from referee.settings.model import Settings
from referee.units import SECOND

STIMULI: Final = ("phone", "screen", "light", "sound")
"""What there is to react to: a card on each phone, a card on the room's screen, the table's light, the loudspeaker."""
_LIGHT_PERIOD: Final = SECOND // FREQUENCY
"""A light is switched on and off so often; it begins to shine within one period, ns."""


class Stimulus(Protocol):
    """Something that all see or hear at once."""

    def show(self) -> Timed | None:
        """Show it now; gives when that was, or None where somebody else tells later."""
        ...

    def hide(self) -> None:
        """Show it no longer."""
        ...

    def close(self) -> None: ...


class LightStimulus:
    """The table's light, white."""

    def __init__(self, lights: Lights, clock: Clock = monotonic) -> None:
        self._lights, self._clock = lights, clock

    def show(self) -> Timed:
        """See `Stimulus`."""
        before = self._clock()
        self._lights.table(1.0, 1.0, 1.0)
        return _between(before, self._clock() + _LIGHT_PERIOD)

    def hide(self) -> None:
        """See `Stimulus`."""
        self._lights.table(0.0, 0.0, 0.0)

    def close(self) -> None:
        """Dark."""
        self._lights.close()


class SoundStimulus:
    """The short sound of a slap, from the machine's own loudspeaker."""

    def __init__(self, speaker: Any, clock: Clock = monotonic) -> None:
        """``speaker`` is a `hardware.sound.stream_speaker.StreamSpeaker`, or plays cues with a latency as one does."""
        self._speaker, self._clock = speaker, clock

    def show(self) -> Timed | None:
        """See `Stimulus`; None where there is no sound at present."""
        before = self._clock()
        self._speaker.cue("slap")
        if self._speaker.trouble:
            return None
        # The system says how long a sample waits until it is heard; that it comes so late at most is all it promises.
        return _between(before, self._clock() + 2 * self._speaker.latency)

    def hide(self) -> None:
        """A sound is over by itself."""

    def close(self) -> None:
        """Silent."""
        self._speaker.close()


class ShownByPage:
    """A card on the room's page, which tells when it was drawn as a pad tells of hands."""

    def show(self) -> None:
        """See `Stimulus`: the page is told with the phase of the round."""

    def hide(self) -> None:
        """See `Stimulus`."""

    def close(self) -> None:
        """Nothing is held."""


class _NoPhrases:
    """A bank for a speaker that never speaks."""

    def phrase(self, texts: Iterable[str]) -> Any:
        raise HardwareMissing("no phrase is there for {texts}", texts=" ".join(texts))

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset()


def open_stimulus(kind: str, settings: Settings | None) -> Stimulus:
    """What all react to.

    Args:
        kind: one of `STIMULI`, but for ``phone``.
        settings: the table's; a light is on one of its pins.

    Raises:
        UserError: it cannot be had; says what to do.
    """
    try:
        if kind == "sound":
            return SoundStimulus(StreamSpeaker(_NoPhrases()))
        if kind == "light":
            if settings is None or not settings.lights.enabled:
                raise UserError("a light needs a table's settings in which lights are enabled: --settings table.toml")
            return LightStimulus(GpioLights({}, settings.lights.table))
    except (HardwareMissing, OSError) as bad:
        raise UserError("{why}; a card needs nothing: --stimulus screen or phone", why=bad) from None
    return ShownByPage()


def _between(first: int, last: int) -> Timed:
    """It came between these two instants, ns."""
    half = (last - first + 1) // 2
    return Timed(first + half, half)
