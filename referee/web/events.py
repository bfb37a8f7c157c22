"""The viewers of the scoreboard: each receives changes as server-sent events.

Nothing is queued. A viewer remembers the state that it was sent, and gets the regions that differ from the present one:
so a slow viewer skips states, a late one gets everything, and no viewer can fill the memory.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

from referee.text.catalogue import texts
from referee.web.board import Board
from referee.web.board_view import REGIONS, regions
from referee.web.markup import Markup
from referee.web.serving import EventStreams

_QUIET: Final = 15.0
"""Seconds after which a silent stream sends a sign of life."""
_Regions = Mapping[str, Markup]
_NOTHING: Final[_Regions] = {}


class Hub(EventStreams):
    """One board and all its viewers. Lives in one event loop."""

    def __init__(self, board: Board, *, controlled: bool = False) -> None:
        """``controlled``: there is a control page, on which people may say that a ruling is wrong."""
        super().__init__()
        self.board, self._controlled = board, controlled
        self._present: dict[str, dict[str, Markup]] = {}
        self._encoded: dict[tuple[str, int], bytes] = {}

    def show(self, board: Board) -> None:
        """Show another board from now on."""
        self.board = board
        self.wake()

    def wake(self, names: Iterable[str] = REGIONS) -> None:
        """Send the changes of the board in these regions."""
        stale = frozenset(names)
        self._present = {
            language: {name: html for name, html in present.items() if name not in stale}
            for language, present in self._present.items()
        }
        self._encoded.clear()
        self.wake_streams()

    def present(self, language: str) -> _Regions:
        """Return the regions as they are now."""
        present = self._present.setdefault(language, {})
        missing = [name for name in REGIONS if name not in present]
        if missing:
            present |= regions(self.board, texts(language), controlled=self._controlled, names=missing)
        return present

    def stream(self, language: str, quiet: float = _QUIET) -> AsyncIterator[bytes]:
        """Return the events for one viewer: the whole state, then its changes."""
        sent = _NOTHING

        def draw() -> bytes:
            nonlocal sent
            before, sent = sent, self.present(language)
            return self._event(language, before, sent)

        return self.follow(draw, quiet)

    def _event(self, language: str, sent: _Regions, present: _Regions) -> bytes:
        """Return the differing regions, encoded once for all viewers that were sent the same."""
        key = (language, id(sent))
        if key not in self._encoded:
            differing = {name: html for name, html in present.items() if sent.get(name) != html}
            text = json.dumps(differing, ensure_ascii=False, separators=(",", ":"))
            self._encoded[key] = f"event: regions\ndata: {text}\n\n".encode() if differing else b""
        return self._encoded[key]
