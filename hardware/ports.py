"""The ports that every device, real or simulated, stands behind.

A shell is thin: it turns a device into these few types and nothing else. All instants are integer nanoseconds on
the machine's monotonic clock (``CLOCK_MONOTONIC``); a simulated device keeps a clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hardware.sound.volume import Volume
from referee.sentence import Spoken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Image: TypeAlias = "NDArray[np.uint8]"


class HardwareMissing(Spoken, RuntimeError):  # noqa: N818 - it names a state of the table, not of the program
    """A device or library is not there; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of one pad, as the kernel stamped it (or, for a release, as polling found it)."""

    seat: int
    """1 to N."""
    t: int
    """Instant of the edge, ns."""
    pressed: bool
    t_error: int = 0
    """Half-width of what is known about ``t``, ns."""
    force: float | None = None
    """0 to 1 where the pad measures it."""
    late: bool = False
    """Of a press: its device told it too late, or what it says of its own clock cannot be believed. It is evidence for
    people, and nothing is judged by it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: a span of time, not an instant."""

    image: Image
    """H × W × 3, uint8, in OpenCV's order (blue, green, red)."""
    t: int
    """Start of the exposure, ns."""
    exposure: int
    """Length of the exposure, ns."""
    index: int
    """Counts from 0 in the order in which the camera delivered."""
    t_error: int = 0
    """Half-width of what is known about ``t`` for any one row, ns: rows read out one after another, clocks that stand
    apart, a stamp that is only the frame's arrival. 0 where nothing is known."""
    clock_error: int = 0
    """Half-width of what is not known of how late the camera's pictures come at all, ns: it is much the same for frame
    after frame, so that it moves instants and not their order. 0 for a camera on a cable."""


class Camera(Protocol):
    """A source of frames in the order of their ``t``."""

    def frames(self) -> Iterator[Frame]:
        """Yield frames until the source ends; raises `HardwareMissing` where it cannot go on."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Lost:
    """Presses that the kernel stamped and nobody will hear of: its queue overflowed."""

    count: int
    after: int
    """None of them was before this instant, ns."""
    before: int
    """Nor any after this one, ns."""


class Pads(Protocol):
    """The seats' pads."""

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        """Report every edge, and edges that were lost; a handler that raises stops no other pad."""
        ...

    def close(self) -> None: ...


class TimedPads(Pads, Protocol):
    """Pads that promise how far they have told."""

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) has been reported."""
        ...


class Speaker(Protocol):
    """A voice made of clips rendered ahead."""

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """Speak these clips, joined, after what is being said. Never waits for the sound, and never raises.

        Args:
            clips: names of clips; a mark at the end of a name (``,`` or ``.``) is a pause.
            urgent: it interrupts what is not urgent.
            patience: how long it may wait for its turn until it is dropped, s; the speaker's own choice if not given.
            topic: phrases of the same topic that still wait are dropped, for this one makes them untrue.
        """
        ...

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Get ready to say these names, too, each as it is written beside it; returns those that can be said.

        Takes a tenth of a second each, and never raises.
        """
        ...

    def cue(self, name: str) -> None:
        """Play a short sound at once, over speech and without cutting it (``slap``). Never waits, and never raises."""
        ...

    def set_volume(self, volume: Volume) -> None:
        """From now on this loud, from any thread; what is being said fades to it. Never waits."""
        ...

    def close(self) -> None: ...


class Lights(Protocol):
    """One light a seat, and one in colour for the table."""

    def seat(self, seat: int, level: float) -> None:
        """Set one seat's light, 0 (off) to 1."""
        ...

    def table(self, red: float, green: float, blue: float) -> None:
        """Set the table's light, each part 0 to 1."""
        ...

    def close(self) -> None: ...
