"""Fouls that the camera sees beside a card: a hand that hovers while it turns (M5), two cards drawn at once (F9)."""

from __future__ import annotations

from collections.abc import Sequence

from models.watch.arms import Arms, usual
from models.watch.known_cards import Pile
from models.watch.stream import Stream
from models.watch.tracks import Track
from referee.engine.observations import Card, Foul, Observation


class Fouls:
    """Tells the fouls that go with the cards just told."""

    def __init__(self, stream: Stream, pile: Pile, arms: Arms) -> None:
        self._stream = stream
        self._pile = pile
        self._arms = arms
        self._told = 0

    def beside(self, seen: Sequence[Observation]) -> list[Observation]:
        """The fouls beside the cards among these observations of the newest frame."""
        cards = [one for one in seen if isinstance(one, Card)]
        out: list[Observation] = []
        for card in sorted(cards, key=lambda card: card.t):
            out += self._hovering(card)
            self._arms.hovering.laid(card.seat)
        return out + self._double_draws()

    def _hovering(self, card: Card) -> list[Observation]:
        """Whoever hovered when this card came up; it is told as of just before the card."""
        if card.seat is None:
            return []
        hovering = self._arms.hovering
        seats = {self._arms.seat(bearing) for bearing in hovering.at(card.t)} - {None, card.seat}
        t = max(card.t - card.t_error - 1, self._stream.watermark + 1)
        return [
            self._foul(t, seat, "hover")
            for seat in sorted(seat for seat in seats if seat is not None)
            if not hovering.waits(seat, card.seat)
        ]

    def _double_draws(self) -> list[Observation]:
        out: list[Observation] = []
        for lower, upper in list(self._pile.doubles):
            if lower.name is None or upper.name is None:
                continue
            self._pile.doubles.remove((lower, upper))
            seat = self._arms.seat(usual(lower.bearings + upper.bearings))
            if seat is not None:
                t = max(_told_at(lower), _told_at(upper), self._stream.watermark) + 1
                out.append(self._foul(t, seat, "double_draw"))
        return out

    def _foul(self, t: int, seat: int, name: str) -> Foul:
        self._told += 1
        return Foul(t=t, id=f"f{self._told}", seat=seat, foul=name)


def _told_at(track: Track) -> int:
    return (track.low + track.high) // 2
