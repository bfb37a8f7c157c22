"""Optional companions of a table's games, as a list of `TableService`.

The record, the names in it, the page, pictures of slaps, orders and a broker are each one; a service that is switched
off is not in the list. `referee.table.session` opens those that the settings name, the command line adds others
(`referee.options.broker.service`), and `referee.table.assembly` joins them to each game. All methods run on the loop's
thread; a service that raises is reported as a failed part, and the game goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardware.clock import Clock
from referee.control.facts import Facts

if TYPE_CHECKING:
    from hardware.ports import Edge, Speaker
    from referee.announce.sinks import Notice
    from referee.engine.rulings import Ruling
    from referee.record.journal import GameWriter
    from referee.record.store import Record
    from referee.settings.model import Settings
    from referee.table.game import Conductor
    from referee.table.timeline import Timeline


@dataclass(frozen=True, slots=True)
class GameContext:
    """The current game, as services see it."""

    conductor: Conductor
    settings: Settings
    """The table's, with the people of this game."""
    timeline: Timeline
    clock: Clock
    keeper: GameWriter | None
    """Writes the game into the record; None if it is not recorded."""
    record: Record | None
    speaker: Speaker | None

    def now(self) -> int:
        """Return the present instant on the game's timeline, ns."""
        return self.timeline.now(self.clock())

    def number(self) -> int | None:
        """Return the game's number in the record, once it has one."""
        return None if self.keeper is None else self.keeper.game

    def facts(self) -> Facts:
        """Return the game as commands see it."""
        game = self.conductor
        return Facts(game.observations, game.rulings, game.view, self.now(), game.watermark, self.number())


class TableService:
    """Base class of services: accompanies one game after another, and each method is a no-op by default."""

    name = ""
    """The part that is reported if it fails."""
    needs_record = True
    """Whether it is useless for a game that is not recorded."""
    stays = False
    """Whether people stay at the table when the game is over, since they can begin another one here."""

    hides = False
    """Whether nothing of the game may be shown or said while it is played; such a game is over once it is left."""

    @property
    def standing(self) -> str:
        """Lines shown on the terminal as long as they are true; empty: none."""
        return ""

    @property
    def fills_screen(self) -> bool:
        """Whether the scoreboard alone is to fill the terminal."""
        return False

    @property
    def leaves(self) -> bool:
        """Whether to leave the table before the game is over."""
        return False

    def prepare(self, settings: Settings) -> Settings:
        """Return the settings for the game that is about to be opened."""
        return settings

    def prepare_record(self, settings: Settings) -> None:
        """Prepare the record: the devices are open, and the record is next; raises `RecordError`."""

    def begin_game(self, game: GameContext) -> None:
        """Follow this game from now on."""

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Take rulings as soon as they are decided."""

    def take_notice(self, notice: Notice) -> None:
        """Take the appliance's own notices."""

    def take_edge(self, edge: Edge) -> None:
        """Take a raw edge of a pad, on the game's timeline."""

    def beat(self, now: int) -> None:
        """Called in each turn of the loop, ``now`` on the game's timeline, ns; must never wait."""

    def note_over(self) -> None:
        """The game is over, and its last words were heard."""

    def note_reopened(self) -> None:
        """The game is not over after all: something was corrected."""

    def end_game(self) -> None:
        """The game is left for good."""


Hook = Callable[["Settings", "Record", ExitStack], TableService | None]
"""Opens a service that the command line adds, with the record before the first game; None: the service is off."""
