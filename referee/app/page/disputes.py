"""Which rulings people may overrule now, and what they may put in their place: what the main process would accept.

Pure; the same conditions as `referee.app.verdicts_in`, asked beforehand so that the page offers nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from referee.adjudication.rulings import Ruling
from referee.app.page.board import Board
from referee.app.page.folding import slap_of
from referee.app.page.shell import address
from referee.app.verdicts_in import WITHIN

OFFERED: Final = 12
"""Rulings in the list."""
VERDICTS: Final = {
    "slap_won": ("slap_false", "slap_void"),
    "slap_false": ("slap_won", "slap_void"),
    "slap_void": ("slap_won", "slap_false"),
    "dead_card": ("in_turn",),
}
"""By kind of ruling, what may be said instead."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A ruling that may be overruled: by another verdict, or by saying that another seat's hand was first."""

    ruling: Ruling
    verdicts: tuple[str, ...]
    seats: tuple[int, ...]


def disputes(board: Board, asked: str = "") -> list[Dispute]:
    """The latest ones, the newest first; ``asked`` is among them however old it is, where it may be overruled."""
    latest = (ruling for ruling in chain(reversed(board.early()), reversed(board.rulings)) if _stands(board, ruling))
    shown = list(islice(latest, OFFERED))
    old = board.ruling(asked)
    if old is not None and old not in shown and _stands(board, old):
        shown.append(old)
    return [Dispute(ruling, VERDICTS[ruling.kind], _others(board, ruling)) for ruling in shown]


def _stands(board: Board, ruling: Ruling) -> bool:
    if not board.correctable or ruling.kind not in VERDICTS or ruling.id in board.replaced_by:
        return False
    # A slap that won is in the log only once its pile is picked up; until then its owner has it.
    owned = ruling.kind == "slap_won" and ruling.get("seat") == board.view.owner
    return owned or board.has_logged(ruling.id)


def _others(board: Board, ruling: Ruling) -> tuple[int, ...]:
    """Seats whose hand came down near the one that won."""
    if ruling.kind != "slap_won":
        return ()
    hands = board.hands()
    won = next((hand for hand in hands if hand.id == slap_of(ruling)), None)
    if won is None:
        return ()
    near = {hand.seat for hand in hands if abs(hand.t - won.t) <= WITHIN}
    return tuple(sorted(near - {ruling.get("seat")}))


def disputed_at(board: Board, game: int | None, ruling: Ruling) -> str:
    """Where people may say that a ruling of a game is wrong; nothing where they may not, or no longer."""
    if game is None or game != board.game or not _stands(board, ruling):
        return ""
    return address("/control", {"ruling": ruling.id})
