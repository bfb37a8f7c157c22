"""Reference output: each ruling of stored games with its whole explanation, as once reviewed.

Rules and laws are proved elsewhere; this notices every other change in the words for people. The games are wild ones
(`tests.support.wild_games`), chosen so that nearly every branch of engine and rules is taken. After an intended change,
review the difference that the failing test shows, then ``python -m tests.engine.test_told_games --write``.
"""

from __future__ import annotations

import json
import lzma
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from referee.engine.log import encode_observation, from_fields
from referee.text.explanation_lines import explanation_fields
from tests.support.explained import explained_game
from tests.support.wild_games import wild_game

TOLD: Final = Path(__file__).with_name("told_games.jsonl.xz")
"""A line a game: its seed, its lines, and each ruling explained."""
SEEDS: Final = (
    4, 8, 14, 20, 21, 28, 39, 45, 49, 63, 67, 68, 77, 85, 100, 121, 154, 168, 175, 205, 213, 238, 270, 302, 303, 308,
    356, 370, 389,
)  # fmt: skip


def told(lines: list[str]) -> list[str]:
    """Return each ruling of a log's lines with its explanation, as JSON."""
    read = [from_fields(json.loads(line), number) for number, line in enumerate(lines, start=1)]
    return [json.dumps(explanation_fields(said), separators=(",", ":")) for said, _ in explained_game(read)]


@cache
def stored() -> dict[int, tuple[list[str], list[str]]]:
    """Return lines and explanations by seed."""
    rows = map(json.loads, lzma.decompress(TOLD.read_bytes()).splitlines())
    return {row["seed"]: (row["lines"], row["told"]) for row in rows}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_game_is_told_as_it_was(seed: int) -> None:
    lines, before = stored()[seed]
    now = told(lines)
    assert [pair for pair in zip(before, now, strict=False) if pair[0] != pair[1]][:1] == []
    assert len(now) == len(before)


def write() -> None:
    """Store the present output."""
    rows = []
    for seed in SEEDS:
        lines = [encode_observation(line) for line in wild_game(seed)]
        rows.append(json.dumps({"seed": seed, "lines": lines, "told": told(lines)}))
    TOLD.write_bytes(lzma.compress("\n".join(rows).encode(), preset=9))
    print(f"{TOLD}: {len(rows)} games, {TOLD.stat().st_size >> 10} KiB")


if __name__ == "__main__" and "--write" in sys.argv:
    write()
