"""The core against the plain oracle of ``classic``, on games played by chance.

``ORACLE_GAMES`` raises how many; ``ORACLE_SEED`` is the first seed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import encode_observation
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from tests.oracle.classic import Row, expected
from tests.oracle.games import Game, play

GAMES = int(os.environ.get("ORACLE_GAMES", "150"))
FIRST = int(os.environ.get("ORACLE_SEED", "0"))
BLOCK = 10

FIELDS = {
    "lead": ("seat",),
    "turn": ("seat",),
    "challenge": ("seat", "challenged", "card", "chances"),
    "chance": ("seat", "left"),
    "challenge_moves": ("seat", "left"),
    "challenge_won": ("seat",),
    "slap_won": ("seat", "patterns", "cards", "margin", "error", "runners_up", "decided_by", "doubt"),
    "slap_false": ("seat", "reason", "doubt"),
    "slap_void": ("seat", "reason", "doubt"),
    "dead_heat": ("seats", "margin", "error"),
    "burn": ("seat", "count", "where"),
    "strike": ("seat", "strikes"),
    "locked_out": ("seat", "until"),
    "dead_card": ("seat", "card", "reason"),
    "pile": ("seat", "count"),
    "out": ("seat",),
    "slapped_in": ("seat",),
    "question": ("ask", "about"),
    "won": ("seat",),
    "drawn": (),
}
"""What decides, of each kind; reminders are left out, for they rule on nothing."""


@cache
def game(seed: int) -> Game:
    return play(seed)


def plain(value: object) -> object:
    """Lists and plain dicts in place of tuples and mappings."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def reduced(ruling: Ruling) -> Row:
    row: Row = {"kind": ruling.kind, "t": ruling.t}
    for name in FIELDS.get(ruling.kind, ()):
        row[name] = ruling.doubt if name == "doubt" else plain(ruling.get(name))
    return row


def from_core(observations: Sequence[Observation]) -> list[Row]:
    adjudicator = Adjudicator()
    rulings = [ruling for one in observations for ruling in adjudicator.observe(one)]
    rulings += adjudicator.finish()
    assert not any(ruling.supersedes for ruling in rulings), "nothing was corrected, so nothing is replaced"
    return [reduced(ruling) for ruling in rulings if ruling.kind != "remind"]


def from_oracle(played: Game) -> list[Row]:
    rows = expected(played.observations, played.deal)
    return [{name: row[name] for name in ("kind", "t", *FIELDS[row["kind"]])} for row in rows]


def by_instant(rows: Sequence[Row]) -> dict[int, list[str]]:
    """Rulings of each instant, as text; their order within the instant is tested elsewhere."""
    out: dict[int, list[str]] = {}
    for row in rows:
        words = " ".join(f"{name}={value}" for name, value in row.items() if name not in ("kind", "t"))
        out.setdefault(row["t"], []).append(f"{row['kind']} {words}")
    return {t: sorted(lines) for t, lines in sorted(out.items())}


def difference(played: Game) -> str:
    """The first instant at which the two referees disagree, told so that it can be judged; empty if they agree."""
    core, oracle = by_instant(from_core(played.observations)), by_instant(from_oracle(played))
    for t in sorted(core.keys() | oracle.keys()):
        if core.get(t, []) != oracle.get(t, []):
            return _story(played, t, core.get(t, []), oracle.get(t, []))
    return ""


def _story(played: Game, t: int, core: list[str], oracle: list[str]) -> str:
    lines = [one for one in played.observations if one.t <= t]
    near = lines[-14:] + [one for one in played.observations if one.t > t][:3]
    adjudicator = Adjudicator()
    for one in lines:
        if one.t < t:
            adjudicator.observe(one)
    adjudicator.promise(t - 1)
    view = adjudicator.view
    return "\n".join(
        [
            f"game {played.seed}: at {t} the two referees differ; the log there:",
            *("    " + encode_observation(one) for one in (played.table, *near)),
            f"  just before, by the core: pile {view.notation()!r}, counts {view.counts}, turn {view.turn}",
            "  only the core:   " + "\n                   ".join(line for line in core if line not in oracle),
            "  only the oracle: " + "\n                   ".join(line for line in oracle if line not in core),
            "  both:            " + "\n                   ".join(line for line in oracle if line in core),
        ]
    )


@pytest.mark.parametrize("block", range((GAMES + BLOCK - 1) // BLOCK))
def test_core_rules_as_the_oracle_does(block: int) -> None:
    for seed in range(FIRST + block * BLOCK, FIRST + min((block + 1) * BLOCK, GAMES)):
        found = difference(game(seed))
        assert not found, found


def test_games_show_what_is_to_be_compared() -> None:
    """Rare things happen in the games at all; else agreement would mean little."""
    seen: set[str] = set()
    for seed in range(60):
        for row in from_oracle(game(seed)):
            seen.add(row["kind"])
            if "reason" in row:
                seen.add(f"{row['kind']} {row['reason']}")
            if row.get("doubt"):
                seen.add("doubt")
            if "decided_by" in row:
                seen.add(row["decided_by"])
    assert seen >= {*FIELDS, "doubt", "force", "time"} - {"drawn"}
    assert seen >= {f"slap_void {reason}" for reason in ("late", "covered", "held", "locked_out", "empty_pile")}
    assert seen >= {"slap_void not_playing", "slap_false no_pattern", "slap_false dead_card"}
