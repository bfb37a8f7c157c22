"""The ports that all devices implement, real or simulated.

A shell is thin: it only turns a device into these few types. All instants are integer nanoseconds on the machine's
monotonic clock (``CLOCK_MONOTONIC``); a simulated device keeps its own clock.
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
    """A device or library is missing; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of one pad, as stamped by the kernel (or, for a release, as found by polling)."""

    seat: int
    """1 to N."""
    t: int
    """Instant of the edge, ns."""
    pressed: bool
    t_error: int = 0
    """Half-width of the uncertainty of ``t``, ns."""
    force: float | None = None
    """0 to 1 if the pad measures it."""
    late: bool = False
    """Whether a press was reported too late, or its device's clock is not credible. It is evidence for people; nothing
    is judged by it."""


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
    """Half-width of the uncertainty of ``t`` for any one row, ns: from row-by-row readout, clock offsets, or a stamp
    that is only the frame's arrival. 0 if unknown."""
    clock_error: int = 0
    """Half-width of the uncertainty of the camera's overall delay, ns: it is nearly constant, so it shifts instants but
    keeps their order. 0 for a camera on a cable that stamps its pictures."""


class Camera(Protocol):
    """A source of frames in order of their ``t``."""

    def frames(self) -> Iterator[Frame]:
        """Yield frames until the source ends; raises `HardwareMissing` if it cannot continue."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Lost:
    """Presses that the kernel stamped and then dropped, because its queue overflowed."""

    count: int
    after: int
    """No lost press was before this instant, ns."""
    before: int
    """No lost press was after this instant, ns."""


class Pads(Protocol):
    """The seats' pads."""

    def start(self, on_edge: Callable[[Edge], None], on_lost: Callable[[Lost], None] | None = None) -> None:
        """Report every edge, and edges that were lost; a handler that raises does not stop other pads."""
        ...

    def close(self) -> None: ...


class TimedPads(Pads, Protocol):
    """Pads that guarantee up to which instant they have reported."""

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) has been reported."""
        ...


class Speaker(Protocol):
    """A voice that plays clips rendered in advance."""

    def say(
        self, clips: Sequence[str], *, urgent: bool = False, patience: float | None = None, topic: str = ""
    ) -> None:
        """Speak these clips, joined, after the current phrase. Never blocks and never raises.

        Args:
            clips: names of clips; a mark at the end of a name (``,`` or ``.``) is a pause.
            urgent: whether it interrupts a phrase that is not urgent.
            patience: longest wait in the queue before it is dropped, s; None: the speaker's default.
            topic: drop waiting phrases of the same topic, which this one makes untrue.
        """
        ...

    def learn(self, names: Mapping[str, str]) -> frozenset[str]:
        """Prepare these names, too, each with its pronunciation; return those that can be spoken.

        Takes a tenth of a second each, and never raises.
        """
        ...

    def cue(self, name: str) -> None:
        """Play a short sound at once, over speech and without cutting it (``slap``). Never blocks, and never raises."""
        ...

    def set_volume(self, volume: Volume) -> None:
        """Set the volume, from any thread; the current phrase fades to it. Never blocks."""
        ...

    def close(self) -> None: ...


class Lights(Protocol):
    """One light per seat, and a coloured one for the table."""

    def seat(self, seat: int, level: float) -> None:
        """Set one seat's light, 0 (off) to 1."""
        ...

    def table(self, red: float, green: float, blue: float) -> None:
        """Set the table's light, each part 0 to 1."""
        ...

    def close(self) -> None: ...
