"""Distribution of rulings and notices to the voice, the displays and the lights.

A ruling is about the game; a notice is about the appliance itself: a part failed or is back, the game is paused. An
outlet that fails is reported and does not stop the others. The table's loop calls all of this.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from referee.engine.observations import Slap
from referee.engine.rulings import Ruling
from referee.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Notice:
    """A message of the appliance at the table."""

    what: str
    """Key such as ``camera_gone``: `referee.announce.voice.tell` says it in every language. Empty: nothing is said."""
    t: int
    """The instant that the notice is about, ns."""
    words: str
    """In English, for screen and log: what is wrong, and what to do."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the words: ``seat``, ``margin`` (ns) ..."""


ANOTHER_GAME: Final = "another"
"""The game is over, and the next one starts on request."""
QUESTION_AGAIN: Final = "asked_again"
"""A question is repeated; its field ``question`` is the ruling that asks it."""
GONE_NOTICES: Final[Mapping[str, str]] = {
    "camera": "camera_gone", "pads": "pads_gone", "lights": "lights_gone", "log": "log_gone",
    "rescue": "lines_missing", "network": "network_gone",
}  # fmt: skip
"""Notices for a part that fails; a failed voice has none, since it cannot speak."""
BACK_NOTICES: Final[Mapping[str, str]] = {
    "camera": "camera_back", "pads": "pads_back", "lights": "lights_back", "voice": "sound_back", "view": "view_clear",
    "log": "log_back", "eye": "eye_follows", "network": "network_back",
}  # fmt: skip
"""Notices for a part that is back."""
PAD_NOTICES: Final[Mapping[str, str]] = {
    "pad_stuck": "pad_stuck",
    "pad_chatter": "pad_chatters",
    "pad_freed": "pad_works",
}
"""Notices for each fault that the filter of the pads' edges finds."""


def late_hand(slap: Slap) -> Notice:
    """Return a notice about a hand that was reported too late, or by an unreliable device."""
    words = Sentence(
        "{seat}'s pad reported a hand too late for the referee to judge; accept it if you all agree that it counts",
        seat=slap.seat,
    )
    return Notice("hand_late", slap.t, words, {"seat": slap.seat})


RulingListener = Callable[[Sequence[Ruling]], None]
"""Takes rulings as soon as they are decided, simultaneous ones together: the voice, the lights, the display."""
NoticeListener = Callable[[Notice], None]
"""Takes the notices of the appliance itself."""

_log = logging.getLogger(__name__)


class Sinks:
    """The outlets and tellers of a table, by name.

    Methods return each part that has just failed, with its error, and each that works again, with an empty text.
    """

    def __init__(self, outlets: Mapping[str, RulingListener], tellers: Mapping[str, NoticeListener]) -> None:
        self._outlets, self._tellers = dict(outlets), dict(tellers)
        self._failing: set[str] = set()

    def hand_out(self, news: Sequence[Ruling] | Notice) -> list[tuple[str, str]]:
        """Pass rulings to the outlets, or a notice to the tellers."""
        takers: Mapping[str, Callable[[Any], None]] = self._tellers if isinstance(news, Notice) else self._outlets
        changed: list[tuple[str, str]] = []
        for name, take in takers.items():
            try:
                take(news)
            except Exception as error:  # whatever a device's library raises, the game must go on
                if name not in self._failing:
                    _log.exception("%s failed", name)
                self._failing.add(name)
                changed.append((name, f"{type(error).__name__}: {error}"))
            else:
                if name in self._failing:
                    self._failing.discard(name)
                    changed.append((name, ""))
        return changed
