"""The stimuli at the appliance: a light, a sound, or a card on the room's page.

Each reports its instant and error. A delay that it cannot know, such as an amplifier's or a screen's, is explained in
words beside the times.
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
"""The stimuli: a card on each phone, a card on the room's screen, the table's light, the loudspeaker."""
_LIGHT_PERIOD: Final = SECOND // FREQUENCY
"""Period of the light's dimming; it begins to shine within one period, ns."""


class Stimulus(Protocol):
    """A stimulus that all see or hear at once."""

    def show(self) -> Timed | None:
        """Show it now; return its instant. `None`: it is reported later."""
        ...

    def hide(self) -> None:
        """Stop showing it."""
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
        """Switch the light off and close it."""
        self._lights.close()


class SoundStimulus:
    """The short sound of a slap, from the machine's own loudspeaker."""

    def __init__(self, speaker: Any, clock: Clock = monotonic) -> None:
        """``speaker`` is a `hardware.sound.stream_speaker.StreamSpeaker`, or plays cues with a latency as it does."""
        self._speaker, self._clock = speaker, clock

    def show(self) -> Timed | None:
        """See `Stimulus`; `None`: there is no sound at present."""
        before = self._clock()
        self._speaker.cue("slap")
        if self._speaker.trouble:
            return None
        # The system's latency is an upper bound only, so the sound starts at some point up to it.
        return _between(before, self._clock() + 2 * self._speaker.latency)

    def hide(self) -> None:
        """No-op: a sound ends on its own."""

    def close(self) -> None:
        """Close the speaker."""
        self._speaker.close()


class ShownByPage:
    """A card on the room's page, which reports its drawing as a pad reports hands."""

    def show(self) -> None:
        """See `Stimulus`: the page learns of it from the phase of the round."""

    def hide(self) -> None:
        """See `Stimulus`."""

    def close(self) -> None:
        """No-op."""


class _NoPhrases:
    """A bank for a speaker that never speaks."""

    def phrase(self, texts: Iterable[str]) -> Any:
        raise HardwareMissing("no phrase is there for {texts}", texts=" ".join(texts))

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset()


def open_stimulus(kind: str, settings: Settings | None) -> Stimulus:
    """Open the stimulus for all.

    Args:
        kind: one of `STIMULI` except ``phone``.
        settings: the table's; a light is on one of its pins.

    Raises:
        UserError: it is not available; says what to do.
    """
    try:
        if kind == "sound":
            return SoundStimulus(StreamSpeaker(_NoPhrases()))
        if kind == "light":
            if settings is None or not settings.lights.enabled:
                raise UserError("a light needs a table's settings in which lights are enabled: --settings table.toml")
            return LightStimulus(GpioLights({}, settings.lights.table))
    except (HardwareMissing, OSError) as error:
        raise UserError("{why}; a card needs nothing: --stimulus screen or phone", why=error) from None
    return ShownByPage()


def _between(first: int, last: int) -> Timed:
    """Return the interval between two instants, ns, as its middle and error."""
    half = (last - first + 1) // 2
    return Timed(first + half, half)
