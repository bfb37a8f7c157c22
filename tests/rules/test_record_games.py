"""The longest games of Beggar-My-Neighbour ever found, and one that never ends, through `referee replay` (G2, E6)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from tests.rules.records import INFINITE, MANN_WU_2007, NESSLER_2022, PAULHUS_1999, cards_of, deal, log_of


def replayed(log: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The rulings that `referee replay` prints for a log."""
    path = folder / "game.jsonl"
    path.write_text(log, encoding="utf-8")
    assert main(["replay", str(path)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("published", "tricks", "cards", "loser"),
    [
        pytest.param(PAULHUS_1999, 670, 4791, 2, id="Paulhus 1999"),
        pytest.param(MANN_WU_2007, 1007, 7157, 1, id="Mann & Wu 2007"),
        pytest.param(NESSLER_2022, 1164, 8344, 1, id="Nessler 2022"),
    ],
)
def test_a_published_record_ends_after_its_published_number_of_tricks_and_cards(
    published: str, tricks: int, cards: int, loser: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A card is each card laid, a trick each pick-up, the last one included."""
    rulings = replayed(log_of(published), tmp_path, capsys)
    kinds = Counter(ruling["ruling"] for ruling in rulings)
    assert sum(1 for _ in cards_of(deal(published))) == cards
    assert kinds["pile"] == tricks
    assert [ruling["seat"] for ruling in rulings if ruling["ruling"] == "lost"] == [loser]
    assert not {"won", "drawn", "dead_card", "question", "repeated"} & set(kinds)


def test_the_infinite_deal_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same position after 62 tricks and 440 cards: said once, and the game goes on."""
    rulings = replayed(log_of(INFINITE, most=4400), tmp_path, capsys)
    assert [ruling["cards"] for ruling in rulings if ruling["ruling"] == "repeated"] == [440]
    piles = [ruling["t"] for ruling in rulings if ruling["ruling"] == "pile"]
    assert not [ruling for ruling in rulings if ruling["ruling"] in ("lost", "won", "drawn")]
    period = 440 * 250_000_000
    settled = [t for t in piles if t > 440 * 250_000_000 * 2]
    assert all(t + period in piles for t in settled if t + period <= piles[-1])
    assert sum(piles[-1] - period < t <= piles[-1] for t in piles) == 62
