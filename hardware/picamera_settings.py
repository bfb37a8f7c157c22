"""How the Pi's camera looks at the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Settings:
    """How the camera looks at the table."""

    size: tuple[int, int] = (1536, 864)
    """Width and height, px: Camera Module 3's fastest mode."""
    fps: float = 30.0
    exposure_us: int = 4_000
    """A card that moves at 2 m/s is smeared by 2 mm a millisecond: cards are read at rest, so 4 ms will do.
    """
    gain: float = 4.0
    colour_gains: tuple[float, float] | None = None
    """Red and blue; None lets the camera find them before the game and locks what it found."""
    lens_position: float | None = None
    """Dioptres; None leaves the lens alone (a camera without autofocus)."""
    settle_frames: int = 30
    """Frames to wait for a locked setting to show; a change took 11."""
    patience: float = 1.0
    """A frame that takes longer than this has failed, s."""

    def changed(self, **look: Any) -> Settings:
        """These settings with other fields, of which None changes nothing and a list will do for a tuple.

        Raises:
            TypeError: there is no such field.
        """
        given: dict[str, Any] = {name: tuple(told) if isinstance(told, list) else told for name, told in look.items()}
        return replace(self, **{name: value for name, value in given.items() if value is not None})
