"""What the appliance itself has to say: that a part failed or is back, that the game is paused, who was first then.

A ruling is about the game; a notice is about the table. Both go to whoever speaks, shows or lights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell at the table."""

    what: str
    """Such as ``camera_gone``: `referee.app.voice.tell` has its words in every language. Empty: nothing is said."""
    t: int
    """The instant that it speaks of, ns."""
    words: str
    """In English, for screen and log: what is amiss, and what to do."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What its words need: ``seat``, ``margin`` (ns) ..."""


ANOTHER: Final = "another"
"""The game is over, and the next one waits for somebody's word."""
GONE: Final[Mapping[str, str]] = {
    "camera": "camera_gone", "pads": "pads_gone", "lights": "lights_gone", "log": "log_gone",
}  # fmt: skip
"""What is said when a part fails; of a voice that failed nothing can be said."""
BACK: Final[Mapping[str, str]] = {
    "camera": "camera_back", "pads": "pads_back", "lights": "lights_back", "voice": "sound_back", "view": "view_clear",
    "log": "log_back",
}  # fmt: skip
"""What is said when it is back."""
PAD: Final[Mapping[str, str]] = {"pad_stuck": "pad_stuck", "pad_chatter": "pad_chatters", "pad_freed": "pad_works"}
"""What is said of each thing that the filter of the pads' edges finds."""
