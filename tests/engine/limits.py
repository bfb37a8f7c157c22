"""Hands and cards near each time limit, with errors of 0 to 100 ms, and the side of it on which they surely lie (K9).

Each generated log is a small table with one limit in force and one line near it. The check computes the sides
independently: the earliest and the latest distance that the stated errors allow. Where all of that lies on one side,
the ruling must equal that of the same log with a hand well on that side; where it does not and the sides differ, the
ruling must be doubtful, or a question if K9 says so. The answer to a card's question must give that side's ruling.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import find_replacements, from_fields
from referee.engine.observations import Answer, Card, Observation, Slap, Table
from referee.engine.rulings import Ruling
from referee.rules.house import read_house_rules
from referee.units import MINUTE, MS

_S: Final = 1000 * MS
_REVEAL: Final = 10 * _S
"""The instant of the card or other event from which the limit counts, ns."""
_DRAWN_AT_ONCE: Final = 100 * MS


class Limit(NamedTuple):
    """Rules with one limit, the lines before the near one, and the limit's distance from its origin."""

    rules: dict[str, Any]
    cards: tuple[str, ...]
    """The seats lay them in turn, a second apart; the last is revealed at the limit's origin."""
    ns: int


def _limit(row: str, rng: random.Random) -> Limit:
    ms = rng.choice((50, 150, 400, 700))
    double, single = ("7h", "7c"), ("7h", "8c")
    if row == "M6":
        return Limit({"base": "classic", "on": ["M6"], "set": {"M6": ms}}, rng.choice((double, single)), ms * MS)
    if row == "M15":
        return Limit({"base": "classic", "on": ["M15"], "set": {"M15": ms}}, rng.choice((double, single)), ms * MS)
    if row == "N12":
        value = [ms, rng.choice(("void", "false"))]
        return Limit({"base": "classic", "on": ["N12"], "set": {"N12": value}}, rng.choice((double, single)), ms * MS)
    if row == "M9":
        # A double that the last card covers: void before the limit, false after it.
        return Limit({"base": "classic", "set": {"M9": ms}}, (*double, "2d"), ms * MS)
    if row == "E2":
        return Limit({"base": "classic", "set": {"E2": 1}}, (), 2 * _S)
    if row == "E7":
        return Limit({"base": "classic", "on": ["E7"], "set": {"E7": {"minutes": 1}}}, double, MINUTE)
    if row == "F9":
        # In turn, as one of a king's chances, or out of turn.
        cards = rng.choice((("Kh", "5c"), single))
        costs = rng.choice(("dead", "burn"))
        return Limit({"base": "classic", "on": ["F9"], "set": {"F9": costs}}, cards, _DRAWN_AT_ONCE)
    return Limit({"base": "classic", "on": ["N13"], "set": {"N13": rng.choice((1, 2, 4))}}, double, _S)


ROWS_WITH_A_LIMIT: Final = ("M6", "M9", "M15", "N12", "N13", "E2", "E7", "F9")


def near_a_limit(seed: int, _: bool = True) -> list[Observation]:
    """Return a log whose line ``near`` lies near a time limit; the seed chooses the limit."""
    rng = random.Random(seed)
    row = ROWS_WITH_A_LIMIT[seed % len(ROWS_WITH_A_LIMIT)]
    limit = _limit(row, rng)
    exact = rng.random() < 0.15
    # The order of two cards is no time limit: near F9's they stay apart.
    widest = 45 * MS if row == "F9" else 100 * MS
    own, its = (0, 0) if exact else (rng.randint(0, widest), rng.randint(0, widest))
    if rng.random() < 0.2:
        own = 0
    elif rng.random() < 0.2:
        its = 0
    rules = dict(limit.rules)
    if rng.random() < 0.3:
        rules["set"] = {**rules["set"], "K9": "question"}
    apart = rng.choice(
        (0, 1, -1, own + its, -own - its, own + its - 1, 1 - own - its, rng.randint(-250 * MS, 250 * MS))
    )
    if row == "F9":
        apart = max(apart, own + its + 1 - limit.ns)
    seats, counts = (3, None) if row != "E2" else (2, [6, 1])
    table: dict[str, Any] = {"kind": "table", "t": 0, "seats": ["Ana", "Ben", "Cho"][:seats], "dealer": seats}
    said: list[dict[str, Any]] = [{**table, "id": "table", "rules": rules, **({"counts": counts} if counts else {})}]
    if row == "E7":
        # The clock began with the table; the double lies there since a second before its end.
        said += _laid(limit.cards, MINUTE - _S, its)
        said.append(_slap(3, MINUTE + apart, own))
    elif row == "E2":
        # Ben's last card is a king's chance, so Ana holds everything, and turns one more.
        said += _laid(("Jh", "5c"), _REVEAL - 2 * _S, 0)
        said.append({"kind": "taken", "t": _REVEAL - _S, "id": "taken", "seat": 1})
        # Jh and 5c lie at the bottom of her stack; a double with an uncovered card is impossible: a joker may be
        # slapped.
        said.append({"kind": "card", "t": _REVEAL, "id": "last", "card": "Th", "seat": 1, "t_error": its})
        rules["on"] = ["P17"]
        said.append(_slap(2, _REVEAL + limit.ns + apart, own))
    elif row == "F9":
        said += _laid(limit.cards, _REVEAL, its)
        said.append(
            {"kind": "card", "t": _REVEAL + limit.ns + apart, "id": "near", "card": "2s", "seat": 2, "t_error": own}
        )
    elif row == "N13":
        # The last press beyond the allowed number lies about a second behind the first; a double comes between.
        last = _REVEAL + limit.ns + apart
        for number in range(rules["set"]["N13"]):
            at = last - 700 * MS + number * 20 * MS if number else _REVEAL
            said.append({"kind": "slap", "t": at, "id": f"press{number}", "seat": 1, "t_error": 0 if number else its})
            said.append({"kind": "lift", "t": at + 1, "id": f"lift{number}", "seat": 1})
        for place, card in enumerate(limit.cards):
            said.append(
                {
                    "kind": "card",
                    "t": last - (450 - 150 * place) * MS,
                    "id": f"c{place}",
                    "card": card,
                    "seat": place + 1,
                }
            )
        said.append(_slap(1, last, own))
    else:
        seat = 2 if row == "M15" or rng.random() < 0.3 else 1
        said += _laid(limit.cards, _REVEAL, its)
        said.append(
            _slap((len(limit.cards) - 1) % seats + 1 if row == "M15" else seat, _REVEAL + limit.ns + apart, own)
        )
    return [from_fields(fields, number) for number, fields in enumerate(said, start=1)]


def _laid(cards: Sequence[str], last: int, error: int) -> list[dict[str, Any]]:
    out = []
    for place, card in enumerate(cards):
        t = last - (len(cards) - 1 - place) * _S
        name = f"c{place}" if place < len(cards) - 1 else "last"
        out.append({"kind": "card", "t": t, "id": name, "card": card, "seat": place % 3 + 1, "t_error": error})
    for fields in out[:-1]:
        fields["t_error"] = 0
    return out


def _slap(seat: int, t: int, error: int) -> dict[str, Any]:
    return {"kind": "slap", "t": t, "id": "near", "seat": seat, "t_error": error}


def ruled_on_a_wrong_side(lines: Sequence[Observation], _: int = 0) -> list[str]:
    """Return the error of the ruling on the line ``near``; empty where there is none."""
    found = {line.id: line for line in lines}
    table, near = lines[0], found.get("near")
    since = found.get("press0", found.get("last"))
    assert isinstance(table, Table)
    rules = read_house_rules(table.rules)
    if near is None or since is None:
        return []
    its = int(getattr(since, "t_error", 0))
    if rules.has("E7"):
        since, its = table, 0
    error = int(getattr(near, "t_error", 0)) + its
    distance = near.t - since.t
    instants = {distance}
    if error:
        ends = (distance - error + 1, distance + error - 1)
        marks = {mark + step for limit in _limits_in(rules) for mark in (0, limit) for step in (-1, 0, 1)}
        instants |= {*ends, *(mark for mark in marks if ends[0] <= mark <= ends[1])}
    exact = [replace(line, t_error=0) if isinstance(line, Card | Slap) else line for line in lines]
    sides = {_outcome([_moved(line, since.t + at) for line in exact])[0] for at in instants}
    ruled, sure = _outcome(lines)
    if len(sides) == 1:
        # An instant within a nanosecond of an edge may be in doubt.
        if (ruled not in sides or not sure) and (sure or not _is_edge(distance, error, rules)):
            return [f"surely {sides}, ruled {'' if sure else 'in doubt '}{ruled}", f"{distance} ns, ± {error} ns"]
    elif rules.word("K9") == "question" and ruled != "question":
        return [f"ruled {ruled} unasked, perhaps {sides - {ruled}}", f"{distance} ns, ± {error} ns"]
    elif sure and ruled != "question":
        return [f"ruled surely {ruled}, perhaps {sides - {ruled}}", f"{distance} ns, ± {error} ns"]
    elif isinstance(near, Card) and ruled == "question":
        limit = since.t + _DRAWN_AT_ONCE
        for value, at in (("before", limit - 1), ("after", limit)):
            answer = Answer(t=near.t + _S, id="said", to=f"question@{near.id}/4", value=value)
            meant, said = _outcome([_moved(line, at) for line in exact]), _outcome([*lines, answer])
            if said != meant:
                return [f"people said {value}: ruled {said}, not {meant}", f"{distance} ns, ± {error} ns"]
    elif isinstance(near, Slap) and rules.word("K9") == "slapper" and ruled != max(sides, key=_WORTH.index):
        return [f"ruled {ruled} of {sides}, not the better for the slapper", f"{distance} ns, ± {error} ns"]
    return []


_WORTH: Final = ("nothing", "slap_false", "slap_void", "slap_won")


def _is_edge(distance: int, error: int, rules: Any) -> bool:
    """Whether the errors just touch an instant: then a hand before a card is still in doubt (reading 1)."""
    return any(abs(abs(distance - mark) - error) <= 1 for mark in (0, *_limits_in(rules)))


def _limits_in(rules: Any) -> list[int]:
    """Return the distance of each active limit from its origin, ns."""
    limits = [rules.number(row) * MS for row in ("M9", "M15") if rules.has(row)]
    limits += [rules.forehead.ms * MS] if rules.has("M6") else []
    limits += [rules.anticipation.ms * MS] if rules.has("N12") else []
    limits += [_S] if rules.has("N13") else []
    limits += [2 * _S] if rules.has("E2") else []
    limits += [rules.agreed_end.minutes * MINUTE] if rules.has("E7") else []
    return limits + ([_DRAWN_AT_ONCE] if rules.has("F9") else [])


def _moved(line: Observation, t: int) -> Observation:
    return replace(line, t=t) if line.id == "near" else line


def _outcome(lines: Sequence[Observation]) -> tuple[str, bool]:
    """Return the outcome of the line ``near``, and whether its ruling is sure."""
    referee = Adjudicator(early=False)
    made: list[Ruling] = [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()
    replaced = find_replacements(made)
    own = [ruling for ruling in made if ruling.because[0] == "near" and ruling.id not in replaced]
    if any(ruling.kind == "question" for ruling in own):
        return "question", False
    kinds = _OF_A_CARD if any(isinstance(line, Card) and line.id == "near" for line in lines) else _WORTH[1:]
    told = [ruling for ruling in own if ruling.kind in kinds]
    return " and ".join(sorted({ruling.kind for ruling in told})) or "nothing", not any(ruling.doubt for ruling in told)


_OF_A_CARD: Final = ("dead_card", "burn", "chance", "challenge_won")
