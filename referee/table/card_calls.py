"""Calls each card as it lands, for people who do not see the table: which it is, who is next, how many lie there."""

from __future__ import annotations

from collections.abc import Callable

from referee.announce.sinks import Notice
from referee.rules.cards import UNREADABLE
from referee.table.services import GameContext, TableService


class CardCalls(TableService):
    """Calls the uppermost card of the pile as soon as it is known, if people have asked for it.

    An unread card is not called, since the referee asks about it; the next player is left out if unknown. A call
    neither waits for a verdict nor delays one (`referee.announce.voice`).
    """

    name = "card calls"
    needs_record = False

    def __init__(self, wanted: Callable[[], bool]) -> None:
        """``wanted``: whether people want cards called at present."""
        self._wanted = wanted
        self._game: GameContext | None = None
        self._called = ""
        """Observation id of the last card called."""

    def begin_game(self, game: GameContext) -> None:
        """Call this game's cards from now on, but not those that lie there already."""
        self._game, lying = game, game.conductor.view.laid_by
        self._called = lying[-1] if lying else ""

    def beat(self, now: int) -> None:
        """Call the newest card if one has come; of several, only the uppermost."""
        if self._game is None:
            return
        conductor = self._game.conductor
        view = conductor.view
        if not view.laid_by or view.laid_by[-1] == self._called:
            return
        self._called, card = view.laid_by[-1], view.pile[-1]
        if card == UNREADABLE or not self._wanted():
            return
        words, said = f"{card}, {len(view.pile)} on the pile", {"card": card, "number": len(view.pile)}
        if view.turn is None:
            conductor.tell(Notice("card_lands_alone", now, words, said))
        else:
            words = f"{words}; next: {view.names[view.turn - 1]}"
            conductor.tell(Notice("card_lands", now, words, {**said, "seat": view.turn}))
