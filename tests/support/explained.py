"""Explanations of whole games, and their contradictions to the rulings that they explain (K5, K6)."""

from __future__ import annotations

from collections.abc import Iterator

from referee.engine.explanation import Explanation, WitnessedLog
from referee.engine.observations import Observation
from referee.engine.overrule import is_overruled
from referee.engine.replay import adjudicator_for, judge_log, outline_log
from referee.engine.rulings import SLAP_KINDS, Ruling, unamended
from referee.rules.patterns import PATTERNS

_BEFORE_IT = {"M1", "M2", "M3", "M4", "K3", "N1", "N11"}
"""Rows that say why a hand was late; by N1 also that the pile's owner is still open."""


def explained_game(lines: list[Observation]) -> Iterator[tuple[Explanation, list[str]]]:
    """Yield every ruling of a game, including replaced ones; and the contradictions in their explanations."""
    numbered = list(enumerate(lines, start=1))
    outlined = outline_log(numbered)
    record = WitnessedLog(outlined.table)
    made = list(judge_log(adjudicator_for(outlined, record), numbered, outlined))
    for ruling in made:
        said = record.explain(ruling)
        yield said, [*contradictions(said), *_made_otherwise(record, ruling)]


def contradictions(said: Explanation) -> Iterator[str]:
    """Yield an explanation's contradictions to its ruling."""
    ruling, rows = said.ruling, {considered.row: considered for considered in said.considered}
    held = {considered.row for considered in said.considered if considered.held}
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
    if reason == "covered" and not held & {"M9", "K9"}:
        yield "nothing was covered"
    if ruling.kind == "slap_false" and reason == "dead_card":
        on_top = [laid.state for laid in said.pile if laid.state != "burned"]
        if on_top[-1:] != ["dead"]:
            yield "no dead card lies on top"
    if ruling.kind == "slap_void" and reason == "late" and not rows.keys() & _BEFORE_IT:
        yield "no hand was before it"
    if ruling.kind == "slap_void" and reason == "held" and "M5" not in rows:
        yield "it is unknown since when it was held"
    by_people = len(ruling.because) > 1
    if (
        ruling.kind == "dead_card"
        and ruling["reason"] == "out_of_turn"
        and said.turn == ruling["seat"]
        and not by_people
    ):
        yield "it was in turn"
    lies = {laid.ref for laid in said.pile}
    if ruling.kind in ("challenge", "chance", "dead_card") and not lies & set(ruling.because):
        yield "its card does not lie there"
    if ruling.doubt and ruling.kind in SLAP_KINDS and "K9" not in held:
        yield "no doubt is stated"
    told = [
        considered
        for considered in said.considered
        if not considered.what.startswith(("counts_as", "down_already", "either_order"))
    ]
    if any(considered.fields.get("ms", 0) < 0 for considered in told):
        yield "something came a negative time before"


def _made_otherwise(record: WitnessedLog, ruling: Ruling) -> Iterator[str]:
    """Whether it is explained by a time at which something else was ruled."""
    made = record.as_made(ruling)
    if made is not None and unamended(ruling) != unamended(made):
        yield f"it was {made} then"
