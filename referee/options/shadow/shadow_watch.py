"""Shadow mode at the table: the referee watches, rules only for the record, and neither speaks nor shows anything.

It asks no questions. People settle a dead heat among themselves: if one of its hands then takes the pile, that is their
answer, so that the referee knows who holds which cards, and can go on judging reliably.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from referee.engine.observations import Other, Slap, Taken
from referee.engine.rulings import Ruling
from referee.engine.shadow_marks import MARK, SHADOW
from referee.record.store import Record
from referee.settings.model import Settings
from referee.table.services import GameContext, TableService
from referee.text.catalogue import Texts

_QUIET: Final = {"enabled": False}


class ShadowWatch(TableService):
    """Silences a game, logs that it is shadowed, and shows how many verdicts people have marked."""

    name = "shadow"
    hides = True
    stays = True
    """People, not the referee, say when their game is over."""

    def __init__(self) -> None:
        self._game: GameContext | None = None
        self._open: list[Ruling] = []
        """Dead heats that people have not settled yet."""

    def prepare(self, settings: Settings) -> Settings:
        """Switch off voice and lights, and the roll-call that needs them."""
        return settings.model_copy(
            update={
                "voice": settings.voice.model_copy(update=_QUIET),
                "lights": settings.lights.model_copy(update=_QUIET),
                "pads": settings.pads.model_copy(update={"roll_call": False}),
            }
        )

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._game, self._open = game, []
        game.conductor.note(SHADOW, {})

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Watch how people settle each dead heat."""
        self._open += [ruling for ruling in rulings if ruling.kind == "question" and ruling["ask"] == "who_was_first"]

    def beat(self, now: int) -> None:
        """See `TableService`."""
        if self._game is None or not self._open:
            return
        conductor, asked = self._game.conductor, self._open[0]
        seen = conductor.observations
        taken = next((line for line in seen if isinstance(line, Taken) and line.t > asked.t), None)
        if taken is None or taken.t > conductor.watermark:
            return
        del self._open[0]
        tied = {line.seat for line in seen if isinstance(line, Slap) and line.id in asked["about"]}
        if taken.seat is not None and taken.seat in tied and asked.id in conductor.view.questions:
            conductor.answer(asked.id, taken.seat, now)

    @property
    def standing(self) -> str:
        """The two keys, and the number of verdicts, as feedback for the person who marks them."""
        if self._game is None:
            return ""
        marks = sum(isinstance(line, Other) and line.name == MARK for line in self._game.conductor.observations)
        return Texts(self._game.settings.voice.language).count("shadow.standing", marks)


def open_shadow(_settings: Settings, _record: Record, _stack: ExitStack) -> ShadowWatch:
    """Open shadow mode (a `referee.table.services.Hook`)."""
    return ShadowWatch()
