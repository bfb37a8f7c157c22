"""Repeats an open question aloud, so that a player who missed it needs no screen to know it."""

from __future__ import annotations

from typing import Final

from referee.announce.sinks import QUESTION_AGAIN, Notice
from referee.announce.voice import tell
from referee.control.pad_words import first_for_pads
from referee.table.services import GameContext, TableService
from referee.units import SECOND

ASKED_AGAIN: Final = (20 * SECOND, 40 * SECOND)
"""Time until an open question is repeated, and from then until the last repetition, ns."""


class AskingAgain(TableService):
    """Repeats a question while it is open and the game goes on.

    Only questions that a pad can answer are repeated: a hold means yes then, so no pad can ask to hear it. While the
    game is paused, a tap asks for it (`referee.control.spoken_choices`).
    """

    name = "asking again"
    needs_record = False

    def __init__(self) -> None:
        self._game: GameContext | None = None
        self._open: tuple[str, ...] = ()
        self._left: list[int] = []
        self._due = 0

    def begin_game(self, game: GameContext) -> None:
        """Follow this game from now on."""
        self._game, self._open, self._left = game, (), []

    def beat(self, now: int) -> None:
        """Repeat the question if it is due."""
        if self._game is None:
            return
        conductor = self._game.conductor
        questions = () if conductor.paused else conductor.view.questions
        if questions != self._open:
            self._open, self._left = questions, list(ASKED_AGAIN)
            self._due = now + ASKED_AGAIN[0]
        if not questions or not self._left or now < self._due:
            return
        self._left.pop(0)
        self._due = now + (self._left[0] if self._left else 0)
        asked = first_for_pads(conductor.view, conductor.rulings)
        if asked is not None:
            said = tell(QUESTION_AGAIN, now, question=asked).text
            conductor.tell(Notice(QUESTION_AGAIN, now, said, {"question": asked}))
