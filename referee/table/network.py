"""Says at the table that its own wireless network is open, because the one that it was to join does not answer.

The appliance's image opens it (`tools.image.fallback`), and tells that by a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.sentence import Sentence
from referee.table.services import GameContext, TableService
from referee.units import SECOND

if TYPE_CHECKING:
    from referee.table.game import Conductor

FALLBACK: Final = Path("/run/table-referee-fallback")
"""Holds a folder for each wireless device, with the file ``open`` while that device's own network is open."""
NETWORK: Final = "network"
_OPENED: Final = Sentence(
    "the wireless network that the memory card names cannot be joined, so the table has opened its own; "
    "the table's screen shows its name and password"
)


class OwnNetwork(TableService):
    """Reports the table's own network as a trouble for as long as it takes another one's place."""

    name = NETWORK
    needs_record = False

    def __init__(self, folder: Path = FALLBACK) -> None:
        self._folder = folder
        self._conductor: Conductor | None = None
        self._looked = 0

    def begin_game(self, game: GameContext) -> None:
        """Report it in this game from now on."""
        self._conductor, self._looked = game.conductor, 0

    def beat(self, now: int) -> None:
        """Look for the file once a second."""
        if now - self._looked < SECOND or self._conductor is None:
            return
        self._looked = now
        if any(self._folder.glob("*/open")):
            self._conductor.trouble(NETWORK, _OPENED)
        else:
            self._conductor.mended(NETWORK)
