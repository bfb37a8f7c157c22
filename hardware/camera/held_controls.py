"""Checks that locked controls stay locked: compares requested values with each frame's metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hardware.camera.spec import CameraLock

_SLIPPED: Final = 15
"""Number of consecutive deviating frames after which a lock counts as lost: a change took 11 to show."""

# Tolerances of a frame's value: (relative part, absolute part). Exposures come in whole rows, gains in the sensor's
# steps.
_TOLERANCES: Final = {
    "ExposureTime": (0.02, 40.0),
    "AnalogueGain": (0.05, 0.05),
    "ColourGains": (0.02, 0.02),
    "LensPosition": (0.02, 0.05),
    "FrameDuration": (0.02, 0.0),
}
_WORDS: Final = {
    "ExposureTime": "the exposure (µs)",
    "AnalogueGain": "the gain",
    "ColourGains": "the white balance",
    "LensPosition": "the focus (dioptres)",
    "FrameDuration": "the time between frames (µs)",
}


class Locks:
    """The locks of one camera."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[float, ...]] = {}
        self._given: dict[str, tuple[float, ...]] = {}
        self._since: dict[str, int] = {}
        self._wrong: dict[str, int] = {}
        self._held: set[str] = set()

    def ask(self, name: str, *values: float) -> None:
        """Lock a control at these values; its metadata has the same name."""
        self._asked[name] = values
        self._since[name] = self._wrong[name] = 0
        self._held.discard(name)

    def look(self, metadata: Mapping[str, Any]) -> list[str]:
        """Read one frame's metadata; return names of locks that have just been lost."""
        slipped = []
        for name, asked in self._asked.items():
            told = metadata.get(name)
            if told is None:
                continue
            given = tuple(float(value) for value in (told if isinstance(told, tuple | list) else (told,)))
            self._given[name] = given
            part, besides = _TOLERANCES[name]
            if len(asked) == len(given) and all(
                abs(one - other) <= part * abs(one) + besides for one, other in zip(asked, given, strict=True)
            ):
                self._wrong[name] = 0
                self._held.add(name)
                continue
            self._since[name] += name not in self._held
            self._wrong[name] += 1
            if self._wrong[name] == _SLIPPED:
                slipped.append(name)
        return slipped

    @property
    def settled(self) -> bool:
        """Whether the last frame showed all requested values, as far as it reports them."""
        return all(not wrong for wrong in self._wrong.values())

    @property
    def all(self) -> dict[str, CameraLock]:
        """Each lock as shown by the last frame."""
        return {
            name: CameraLock(
                asked, self._given.get(name), name in self._given and not self._wrong[name], self._since[name]
            )
            for name, asked in self._asked.items()
        }  # fmt: skip

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages about controls that do not hold, and about controls that no frame reports."""
        out = []
        for name, lock in self.all.items():
            if lock.given is None:
                out.append(f"the camera does not tell {_WORDS[name]}: whether {_say(lock.asked)} holds is not known")
            elif not lock.held:
                out.append(f"{_WORDS[name]} does not hold: {_say(lock.asked)} was asked for, {_say(lock.given)} given")
        return tuple(out)


def _say(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)
