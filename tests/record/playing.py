"""Short whole games for a record, by their players."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from referee.record.store import Record

S = 1_000_000_000


def game_lines(names: Sequence[str], *, winner: int = 1, reaction: int = 250_000_000) -> list[str]:
    """Return a game of `classic` in which ``winner`` slaps a double and so holds every card;
    ``reaction`` in ns after the reveal.
    """
    seats = len(names)
    loser = winner % seats + 1
    # Only the winner and the next player hold cards; the next one lays the last of them, and loses the slap.
    counts = [{winner: 2, loser: 1}.get(seat, 0) for seat in range(1, seats + 1)]
    dealer = (winner - 2) % seats + 1
    lines = [
        {"kind": "table", "t": 0, "id": "table", "seats": list(names), "dealer": dealer, "rules": "classic",
         "counts": counts},
        {"kind": "card", "t": S, "id": "c1", "card": "7h", "seat": winner},
        {"kind": "card", "t": 2 * S, "id": "c2", "card": "7c", "seat": loser},
        {"kind": "slap", "t": 2 * S + reaction, "id": "s1", "seat": winner, "t_error": 20_000},
        {"kind": "slap", "t": 2 * S + reaction + 50_000_000, "id": "s2", "seat": loser, "t_error": 20_000},
        {"kind": "taken", "t": 4 * S, "id": "p1", "seat": winner},
        {"kind": "tick", "t": 60 * S, "id": "end"},
    ]  # fmt: skip
    return [json.dumps(line, ensure_ascii=False) for line in lines]


def add_game(path: Path, names: Sequence[str], began: str, *, winner: int = 1, reaction: int = 250_000_000) -> int:
    """Play one into a record; return its number."""
    with Record(path) as record:
        rows = list(enumerate(game_lines(names, winner=winner, reaction=reaction), start=1))
        game = record.add_game(began, rows)
        record.end(game, began)
    return game
