"""What goes along with a table's games without being needed for them, as a list of `TableService`.

The record, the names in it, the page, pictures of slaps, orders and a broker are each one; what is missing is not in
the list. `referee.table.session` opens those that the settings name, the command line adds others
(`referee.options.broker.service`), and `referee.table.assembly` joins them to each game. All of it happens on the
loop's thread; a service that throws is told as a part that failed, and the game goes on.
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
class ServedGame:
    """The game that is on, as services are told of it."""

    conductor: Conductor
    settings: Settings
    """The table's, with who sits there now."""
    timeline: Timeline
    clock: Clock
    keeper: GameWriter | None
    """Writes the game into the record; None where it is not recorded."""
    record: Record | None
    speaker: Speaker | None

    def now(self) -> int:
        """The present instant on the game's line of time, ns."""
        return self.timeline.now(self.clock())

    def number(self) -> int | None:
        """The game's number in the record, once it has one."""
        return None if self.keeper is None else self.keeper.game

    def facts(self) -> Facts:
        """The game as commands meet it."""
        game = self.conductor
        return Facts(game.observations, game.rulings, game.view, self.now(), game.watermark, self.number())


class TableService:
    """Goes along with one game after another and does nothing; a service overrides what concerns it."""

    name = ""
    """The part that is told of where it fails."""
    needs_record = True
    """Whether it is of no use to a game that is not recorded."""
    stays = False
    """Whether people stay at the table when the game is over, since they can begin another one here."""

    hides = False
    """Whether nothing of the game may be shown or said while it is played; one that is left is over."""

    @property
    def standing(self) -> str:
        """Lines that stand on the terminal as long as they are true; empty: none."""
        return ""

    @property
    def fills_screen(self) -> bool:
        """Whether the scoreboard alone is to fill the terminal."""
        return False

    @property
    def leaves(self) -> bool:
        """Whether the table is to be left before the game is over."""
        return False

    def prepare(self, settings: Settings) -> Settings:
        """A game is about to be opened: the settings as they are to be for it."""
        return settings

    def prepare_record(self, settings: Settings) -> None:
        """The devices are open, and the record is about to be; raises `RecordError`."""

    def begin_game(self, game: ServedGame) -> None:
        """This is the game from now on."""

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Take rulings as soon as they are decided."""

    def take_notice(self, notice: Notice) -> None:
        """Take what the appliance itself has to say."""

    def take_edge(self, edge: Edge) -> None:
        """Take a raw edge of a pad, on the game's line of time."""

    def beat(self, now: int) -> None:
        """Once in each turn of the loop, ``now`` on the game's line of time, ns; never waits."""

    def note_over(self) -> None:
        """The game is over, and its last words were heard."""

    def note_reopened(self) -> None:
        """The game is not over after all: something was corrected."""

    def end_game(self) -> None:
        """The game is left, and nobody goes on with it."""


Hook = Callable[["Settings", "Record", ExitStack], TableService | None]
"""Opens a service that the command line adds, with the record as it is before the first game; None: not wanted."""
