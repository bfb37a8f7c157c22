"""Generated games that people amended: no explanation contradicts the ruling that it explains (K5, K6).

``GAMES`` says how many games: ``GAMES=2000 python -m pytest tests/engine/test_explained_games.py``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from referee.engine.explanation import Explanation, WitnessedLog
from referee.engine.log import from_fields
from referee.engine.observations import Observation
from referee.engine.overrule import is_overruled
from referee.engine.replay import adjudicator_for, judge_log, outline_log
from referee.engine.rulings import SLAP_KINDS
from referee.rules.patterns import PATTERNS
from referee.text.explanation_lines import explanation_fields
from tests.rules.plain_table import play_randomly

GAMES: Final = int(os.environ.get("GAMES", "40"))
BATCH: Final = max(1, GAMES // 8)


def amended_game(seed: int) -> list[Observation]:
    """A random game, and what people answer and correct at its end."""
    rng = random.Random(seed)
    game = play_randomly(rng.randint(0, 10**6), rng.randint(5, 60))
    lines = list(game.lines)
    ids = [line.id for line in lines]
    questions = [ruling.id for ruling in game.rulings if ruling.kind == "question"]
    verdicts = [ruling.id for ruling in game.rulings if ruling.kind in SLAP_KINDS]
    for number in range(rng.choice((1, 2, 4, 8))):
        about = rng.choice(ids)
        words: list[dict[str, Any]] = [
            {"kind": "correct", "line": about, "void": True},
            {"kind": "correct", "line": about, "seat": rng.randint(1, len(game.stacks))},
            {"kind": "correct", "line": about, "card": rng.choice(("7h", "Jc", "2d", "??"))},
            {"kind": "correct", "line": about, "fields": {"t": rng.randint(0, game.t)}},
            {"kind": "correct", "line": f"z{rng.randint(0, 7)}", "void": True},
        ]
        words += [{"kind": "correct", "line": name, "ruling": rng.choice(SLAP_KINDS)} for name in verdicts]
        said = rng.choice((1, 2, "7h", "slap", "card"))
        words += [{"kind": "answer", "to": name, "value": said} for name in questions]
        fields = {"id": f"z{number}", "t": game.t + number, **rng.choice(words)}
        lines.append(from_fields(fields, 1))
    return lines


def explained_game(lines: list[Observation]) -> Iterator[Explanation]:
    """Every ruling of a game, those that were replaced too."""
    numbered = list(enumerate(lines, start=1))
    outlined = outline_log(numbered)
    record = WitnessedLog(outlined.table)
    made = list(judge_log(adjudicator_for(outlined, record), numbered, outlined))
    for ruling in made:
        yield record.explain(ruling)


def contradictions(said: Explanation) -> Iterator[str]:
    """What an explanation says against its ruling."""
    ruling, rows = said.ruling, {one.row: one for one in said.considered}
    held = {one.row for one in said.considered if one.held}
    patterns = {row for row in rows if row in PATTERNS or row.startswith("P19:")}
    reason = ruling.get("reason")
    if ruling.kind == "slap_won" and not is_overruled(ruling):
        if set(ruling["patterns"]) - held or patterns - held:
            yield "it names patterns that did not hold"
        cards = [laid.card for laid in said.pile]
        if not ruling["cards"] or any(card not in cards for card in ruling["cards"]):
            yield "its cards do not lie there"
    if ruling.kind in SLAP_KINDS and is_overruled(ruling) and "K6" not in held:
        yield "people are not named"
    if reason in ("no_pattern", "covered") and patterns & held:
        yield "a pattern held"
    if reason == "covered" and "M9" not in held:
        yield "nothing was covered"
    if ruling.kind == "slap_false" and reason == "dead_card":
        on_top = [laid.state for laid in said.pile if laid.state != "burned"]
        if on_top[-1:] != ["dead"]:
            yield "no dead card lies on top"
    if ruling.kind == "slap_void" and reason == "late" and not rows.keys() & {"M1", "M2", "M3", "M4", "K3", "N11"}:
        yield "nobody was before it"
    if ruling.kind == "slap_void" and reason == "held" and "M5" not in rows:
        yield "nobody knows since when it was held"
    if ruling.kind == "dead_card" and ruling["reason"] == "out_of_turn" and said.turn == ruling["seat"]:
        yield "it was in turn"
    lies = {laid.ref for laid in said.pile}
    if ruling.kind in ("challenge", "chance", "dead_card") and not lies & set(ruling.because):
        yield "its card does not lie there"
    if ruling.doubt and ruling.kind in SLAP_KINDS and "K9" not in held:
        yield "no doubt is told"
    told = [one for one in said.considered if not one.what.startswith(("counts_as", "down_already"))]
    if any(one.fields.get(name, 0) < 0 for one in told for name in ("ms", "ms_1")):
        yield "something came a negative time before"


@pytest.mark.parametrize("batch", range(0, GAMES, BATCH))
def test_no_explanation_contradicts_its_ruling(batch: int) -> None:
    wrong = [
        (seed, said.ruling.id, problem, explanation_fields(said)["considered"])
        for seed in range(batch, min(batch + BATCH, GAMES))
        for said in explained_game(amended_game(seed))
        for problem in contradictions(said)
    ]
    assert not wrong, wrong[:3]
