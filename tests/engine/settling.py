"""People answer every question, by the commands of the page, until none is left."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from referee.control.commands import CommandError, parse_command
from referee.control.corrections import meet_command
from referee.control.facts import Accepted, Facts, Namer, Outcome, Refused
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import MAX_ERROR, Card, Count, LogError, Observation, Slap
from referee.engine.rulings import Ruling, base_id
from referee.rules.cards import PACK

_OF_A_LINE: Final = 5
"""Most questions that a line may raise; more answers than that for each line of a game count as endless asking."""
_TOLD_ONLY: Final = ("late_evidence", "mend_amendment", "nothing_to_contest")


def settle_all(lines: Sequence[Observation], rng: random.Random) -> list[str]:
    """Answer every question of a game at rest; return unanswerable and repeated ones."""
    referee = Adjudicator(lookahead_ns=MAX_ERROR)
    log, made = list(lines), list[Ruling]()
    for line in log:
        made += referee.observe(line)
    now = max(line.t for line in log) + 4 * MAX_ERROR
    made += referee.promise(now)
    asked: list[str] = []
    for number in range(_OF_A_LINE * len(lines)):
        waiting = [
            question
            for question in referee.view.questions
            if (found := _of(made, question)) and found["ask"] not in _TOLD_ONLY
        ]
        if not waiting:
            return []
        question = _of(made, waiting[0])
        assert question is not None
        now = max(now, referee.watermark) + 1
        said = _answer(referee, log, made, question, now, rng, number)
        if isinstance(said, str):
            return [f"{question['ask']} ({' '.join(question.rule)}) cannot be answered: {said}", str(question)]
        for line in said:
            log.append(line)
            try:
                made += referee.observe(line)
            except LogError as error:
                return [f"{question['ask']}: its answer fits no log: {error}", str(question)]
        now += 2 * MAX_ERROR
        made += referee.promise(now)
        if any(_is_same(question, _of(made, name)) for name in referee.view.questions):
            return [f"{question['ask']} ({' '.join(question.rule)}) stays: after {said}", str(question)]
        asked.append(f"{question['ask']} {question.id}")
    return [f"asked without end: {asked[-6:]}"]


def _of(made: Sequence[Ruling], name: str) -> Ruling | None:
    return next((ruling for ruling in reversed(made) if ruling.id == name), None)


def _is_same(question: Ruling, waiting: Ruling | None) -> bool:
    """Whether a question still waits; another about the same line, such as its bottom card, is not the same."""
    return waiting is not None and base_id(waiting) == base_id(question) and waiting["ask"] == question["ask"]


def _answer(
    referee: Adjudicator,
    log: Sequence[Observation],
    made: Sequence[Ruling],
    question: Ruling,
    now: int,
    rng: random.Random,
    number: int,
) -> list[Observation] | str:
    """Return the lines of an answer, or why there is none."""
    facts = Facts(log, made, referee.view, now, referee.watermark)

    def name(kind: str) -> str:
        return f"{kind}{number}{rng.randint(0, 10**9)}"

    why = ""
    for value in _values(question, log, referee, rng):
        if value == "count":
            counts = [count if count is not None else rng.randint(0, 3) for count in referee.view.counts]
            met = _meet({"do": "recount", "cards": counts}, facts, name)
            if not isinstance(met, Accepted):
                return [Count(t=now, id=name("n"), seat=n, cards=c) for n, c in enumerate(counts, start=1)]
        else:
            met = _meet({"do": "answer", "question": question.id, "value": value}, facts, name)
        if isinstance(met, Accepted):
            return list(met.observations)
        why = str(met)
    return why or "no value fits"


def _meet(asked: dict[str, Any], facts: Facts, name: Namer) -> Outcome:
    try:
        return meet_command(parse_command(asked), facts, name)
    except CommandError as error:
        return Refused(error.sentence)


def _values(question: Ruling, log: Sequence[Observation], referee: Adjudicator, rng: random.Random) -> list[Any]:
    ask = question["ask"]
    seats = [seat for seat in range(1, len(referee.view.names) + 1) if seat not in referee.view.absent]
    rng.shuffle(seats)
    if ask in ("unreadable_card", "bottom_card", "impossible_card", "order_changed"):
        named = list(question.get("cards") or ())
        return [card for card in [*named, *rng.sample(PACK, k=4)] if card != "??"]
    if ask == "who_was_first":
        hands = [line.seat for line in log if isinstance(line, Slap) and line.id in question["about"]]
        return [*hands, *seats]
    if ask == "recount":
        return ["count"]
    if ask == "slap_or_card":
        return [rng.choice(("slap", "card"))]
    if ask == "slap_or_limit":
        return [rng.choice(("before", "after"))]
    if ask == "wild_rank":
        return [rng.choice("23456789T")]
    if ask == "unseen_gap":
        return ["unknown", *seats]
    laid = [line.seat for line in log if isinstance(line, Card) and line.id in question["about"]]
    return [*(seat for seat in laid if seat in seats), *seats]
