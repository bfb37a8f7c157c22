"""The core against the plain oracle, on random games of every preset.

``ORACLE_GAMES`` raises the number of each; ``ORACLE_SEED`` is the first seed. ``make oracle`` plays thousands.
"""

from __future__ import annotations

import ast
import os
from functools import cache
from pathlib import Path

import pytest

from tests.oracle.comparison import FIELDS, difference, from_oracle
from tests.oracle.games import Game, play
from tests.oracle.plain_referee import PRESETS

GAMES = int(os.environ.get("ORACLE_GAMES", "30"))
FIRST = int(os.environ.get("ORACLE_SEED", "0"))
BLOCK = 10
ORACLE = Path(__file__).parents[1] / "oracle"


@cache
def game(seed: int, preset: str) -> Game:
    return play(seed, preset=preset)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("block", range((GAMES + BLOCK - 1) // BLOCK))
def test_core_rules_as_the_oracle_does(block: int, preset: str) -> None:
    for seed in range(FIRST + block * BLOCK, FIRST + min((block + 1) * BLOCK, GAMES)):
        found = difference(game(seed, preset))
        assert not found, found.story


def test_a_doubtful_hand_is_put_behind_a_card_alone() -> None:
    """K9: the hands between it and the card keep their places before the card."""
    assert difference(game(468, "slapjack")) is None


@pytest.mark.parametrize("name", ["plain_referee", "plain_patterns"])
def test_the_oracle_knows_nothing_of_the_core(name: str) -> None:
    """Two readings of the rules: an oracle that borrowed from the core would share its errors."""
    tree = ast.parse((ORACLE / f"{name}.py").read_text(encoding="utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not [module for module in modules if module.startswith(("referee", "hardware", "models"))]


def unseen(wanted: set[str], preset: str, games: int = 40) -> set[str]:
    """Return which of these events are in none of a preset's first games; play no more of them than it takes."""
    left = set(wanted)
    for seed in range(games):
        if not left:
            break
        for row in from_oracle(game(seed, preset))[0]:
            left.discard(row["kind"])
            left -= {f"{row['kind']} {row[name]}" for name in ("reason", "ask") if name in row}
            left -= {"doubt"} if row.get("doubt") else set()
            left -= {row["decided_by"], *row["patterns"]} if "decided_by" in row else set()
    return left


def test_games_show_what_is_to_be_compared() -> None:
    """Rare events do occur in the games; else agreement would mean little."""
    wanted = {*FIELDS, "doubt", "force", "time"} - {"drawn", "lost", "give", "contested"}
    wanted |= {f"slap_void {reason}" for reason in ("late", "covered", "held", "locked_out", "empty_pile")}
    wanted |= {"slap_void not_playing", "slap_void paused", "slap_false no_pattern", "slap_false dead_card"}
    assert not unseen(wanted, "classic", 60)


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("wikipedia-2025", "P1 P2 P3a P4b P5a P6 P8 P10a P11 P13a P17 give contested"),
        ("wikipedia-2020", "P1 P2 P3a P4a P5a P6 give contested"),
        ("wikipedia-2009", "P1 P2 P4a P5b P6 P7 P8 P9 P12 P14 split"),
        ("wikibooks", "P1 P2 P3b P4a P6 P8 P10a slapped_in won"),
        ("short", "P1 P2 P4b P5b P6 won locked_out"),
        ("classroom", "P1 P2 won"),
        ("beggar-my-neighbour", "lost"),
        ("suck-the-well", "lost"),
        ("slapjack", "P18 won drawn"),
    ],
)
def test_games_show_what_is_particular_to_a_preset(preset: str, words: str) -> None:
    assert not unseen(set(words.split()), preset)


def test_players_leave_for_whom_the_game_waits() -> None:
    """E8: in turn, as payer of a challenge, as challenger; and their cards go both ways."""
    seen: set[str] = set()
    for played in (game(seed, "classic") for seed in range(60)):
        left = {line["t"] for line in played.lines if line["kind"] == "leave"}
        seen |= {row["kind"] for row in from_oracle(played)[0] if row["t"] in left}
    assert seen >= {"out", "burn", "give", "turn", "challenge_moves"}
