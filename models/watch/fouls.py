"""Fouls that the watcher sees beside a card. Only this file of `models` knows anything of the game's rules.

Two acts are logged as fouls: a hand that hovers over the pile while a card turns (M5), and two cards drawn at once
(F9). The rules decide what follows. But one thing must be known before the act can be named: the next player's hand
rightly waits over the pile, so `TurnOrder` learns from the cards whose turn follows whose.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.watch.arms import Arms, usual
from models.watch.stream import Stream
from models.watch.tracks import Pile
from referee.engine.observations import Card, Foul, Observation


class TurnOrder:
    """Learns which seats lay after which: from cards alone, whatever the rules are."""

    def __init__(self) -> None:
        self._next: dict[int, set[int]] = {}
        self._before: int | None = None

    def note_card(self, seat: int | None) -> None:
        """Note that a seat laid a card; None: it is not known which."""
        if seat is not None and self._before is not None:
            self._next.setdefault(self._before, set()).add(seat)
        self._before = seat

    def may_wait(self, seat: int, after: int) -> bool:
        """Return whether a seat's hand may rightly wait over the pile for its turn after another's card (M5)."""
        known = self._next.get(after)
        return known is None or seat in known


class Fouls:
    """Reports hands that hover (M5) and cards drawn at once (F9)."""

    def __init__(self, stream: Stream, pile: Pile, arms: Arms) -> None:
        self._stream, self._pile, self._arms = stream, pile, arms
        self._turns = TurnOrder()
        self._count = 0

    def beside(self, seen: Sequence[Observation]) -> list[Observation]:
        """Return the fouls beside the cards among these observations of the newest frame."""
        out: list[Observation] = []
        for card in sorted((line for line in seen if isinstance(line, Card)), key=lambda card: card.t):
            if card.seat is not None:
                # The foul precedes the card.
                t = max(card.t - card.t_error - 1, self._stream.watermark + 1)
                out += [self._foul(t, seat, "hover") for seat in self._hovering(card, card.seat)]
            self._turns.note_card(card.seat)
        return out + self._double_draws()

    def _hovering(self, card: Card, layer: int) -> list[int]:
        """Return the seats whose hands certainly hovered: over the pile for a while before the reveal and still at it,
        not the layer's, and not the next player's.
        """
        seats = {self._arms.seat(bearing) for bearing in self._arms.hovering.at(card.t)} - {None, layer}
        return sorted(seat for seat in seats if seat is not None and not self._turns.may_wait(seat, layer))

    def _double_draws(self) -> list[Observation]:
        """Return the fouls of cards that came at once and are named by now."""
        out: list[Observation] = []
        for lower, upper in self._pile.take_named_pairs():
            seat = self._arms.seat(usual(lower.bearings + upper.bearings))
            if seat is not None:
                came = [(track.low + track.high) // 2 for track in (lower, upper)]
                out.append(self._foul(max(*came, self._stream.watermark) + 1, seat, "double_draw"))
        return out

    def _foul(self, t: int, seat: int, name: str) -> Foul:
        self._count += 1
        return Foul(t=t, id=f"f{self._count}", seat=seat, foul=name)
