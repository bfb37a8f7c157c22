"""Amended games: every ruling is explained by its own facts, without contradictions (K5, K6).

``GAMES`` sets their number: ``GAMES=2000 python -m pytest tests/engine/test_explained_games.py``.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

import pytest

from referee.engine.rulings import SLAP_KINDS
from referee.text.explanation_lines import explanation_lines
from referee.text.ruling_lines import RulingWords
from tests.engine.laws import LAWS
from tests.support.explained import contradictions, explained_game
from tests.support.wild_games import wild_game

GAMES: Final = int(os.environ.get("GAMES", "40"))
BATCH: Final = max(1, GAMES // 8)


@pytest.mark.parametrize("batch", range(0, GAMES, BATCH))
def test_no_explanation_contradicts_its_ruling(batch: int) -> None:
    wrong = {seed: LAWS["explained"](seed, crowded=False) for seed in range(batch, min(batch + BATCH, GAMES))}
    assert not {seed: found for seed, found in wrong.items() if found}


def test_the_check_meets_rulings_of_every_kind_and_words_for_them() -> None:
    """The check is not empty: it meets slaps of each verdict, replaced ones too, with an explanation for each."""
    kinds: set[str] = set()
    replaced = 0
    for seed in range(20):
        lines = wild_game(seed)
        for said, _ in explained_game(lines):
            kinds.add(said.ruling.kind)
            replaced += bool(said.ruling.supersedes)
            assert list(explanation_lines(said, lines[0], RulingWords(lines[0].seats), {}))  # type: ignore[arg-type,attr-defined]
    assert kinds >= {*SLAP_KINDS, "dead_heat", "dead_card", "challenge_won", "question", "pile"}
    assert replaced > 20


def test_a_wrong_explanation_is_noticed() -> None:
    """The pile before the card, instead of with it; patterns that did not hold."""
    for said, _ in explained_game(wild_game(1)):
        if said.ruling.kind == "challenge":
            assert "its card does not lie there" in list(contradictions(replace(said, pile=())))
        if said.ruling.kind == "slap_won" and said.ruling["patterns"]:
            assert list(contradictions(replace(said, considered=())))
