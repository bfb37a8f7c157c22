"""The rulings of the table log in its published format: the fields of each kind, and their values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from referee.rules.cards import is_card
from referee.rules.rows import ROWS

_Holds = Callable[[Any], bool]


def _whole(least: int) -> _Holds:
    return lambda value: type(value) is int and value >= least


def _one_of(words: str) -> _Holds:
    return lambda value: value in words.split()


def _none_or(holds: _Holds) -> _Holds:
    return lambda value: value is None or holds(value)


def _many(holds: _Holds, least: int = 0) -> _Holds:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(holds, value))


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _runner(value: Any) -> bool:
    return set(value) == {"seat", "margin"} and _seat(value["seat"]) and _none_or(_whole(0))(value["margin"])


def _pattern(value: Any) -> bool:
    return value.startswith("P19:") or value in ROWS


_seat: Final = _whole(1)
_PLACE: Final = _one_of("bottom top")

RULINGS: Final[Mapping[str, Mapping[str, _Holds]]] = {
    "lead": {"seat": _seat},
    "turn": {"seat": _seat},
    "challenge": {"seat": _seat, "challenged": _none_or(_seat), "card": is_card, "chances": _whole(1)},
    "chance": {"seat": _seat, "left": _whole(1)},
    "challenge_moves": {"seat": _seat, "left": _whole(1)},
    "challenge_off": {"seat": _seat},
    "challenge_won": {"seat": _seat},
    "slap_won": {
        "seat": _seat,
        "patterns": _many(_pattern),
        "cards": _many(is_card),
        "margin": _none_or(_whole(0)),
        "error": _none_or(_whole(0)),
        "runners_up": _many(_runner),
        "decided_by": _one_of("time force split war people doubt left"),
    },
    "slap_false": {"seat": _seat, "reason": _one_of("no_pattern dead_card too_soon hovering late overruled")},
    "slap_void": {
        "seat": _seat,
        "reason": _one_of("late covered held locked_out empty_pile not_playing too_soon mashing paused overruled"),
    },
    "dead_heat": {"seats": _many(_seat, 2), "margin": _whole(0), "error": _whole(0)},
    "burn": {"seat": _seat, "count": _whole(1), "where": _PLACE},
    "give": {"seat": _seat, "to": _seat, "count": _whole(1)},
    "strike": {"seat": _seat, "strikes": _whole(1)},
    "locked_out": {"seat": _seat, "until": _one_of("pile rounds cards game")},
    "dead_card": {"seat": _seat, "card": is_card, "reason": _one_of("out_of_turn double_draw")},
    "foul": {"seat": _seat, "foul": _text},
    "pile": {"seat": _seat, "count": _whole(0)},
    "out": {"seat": _seat},
    "slapped_in": {"seat": _seat},
    "contested": {"against": _seat, "by": _many(_seat), "upheld": lambda value: type(value) is bool},
    "question": {
        "ask": _one_of(
            "who_was_first unreadable_card impossible_card order_changed who_played bottom_card mend_pile recount "
            "slap_or_card slap_or_limit late_evidence mend_amendment nothing_to_contest wild_rank unseen_gap"
        ),
        "about": _many(_text, 1),
        "cards": _many(is_card, 1),
        "lasted": _whole(1),
        "passed": lambda value: value is True,
    },
    "remind": {
        "what": _one_of(
            "rings forehead other_hand slap_your_pad turn_away open_palm last_chance heckle closed open passed_pile"
        )
    },
    "repeated": {"cards": _whole(1)},
    "won": {"seat": _seat},
    "lost": {"seat": _seat},
    "drawn": {},
    "corrected": {},
}


def problems(rulings: Iterable[Ruling], log: Iterable[Observation]) -> list[str]:
    """Return the deviations of these rulings from the format; empty where there are none."""
    known, rulings = {line.id for line in log}, list(rulings)
    wrong = [f"{ruling.id}: {problem}" for ruling in rulings for problem in _problems(ruling, known)]
    twice = [name for name, times in Counter(ruling.id for ruling in rulings).items() if times > 1]
    return wrong + [f"{name}: there are two rulings of this name" for name in twice]


def _without(ruling: Ruling) -> set[str]:
    """Return fields of its kind that it lacks: only a doubt about a card lists candidates."""
    doubts = ruling.get("ask") in ("impossible_card", "order_changed")
    return set() if ruling.kind != "question" else {"lasted", "passed"} if doubts else {"cards", "lasted", "passed"}


def _perhaps(ruling: Ruling) -> set[str]:
    """Return fields that it may have: an unread card's candidates are named where the eye had any."""
    if ruling.get("ask") == "unseen_gap":
        return {"cards", "lasted", "passed"}
    return {"cards"} if ruling.get("ask") == "unreadable_card" else set()


def _problems(ruling: Ruling, known: set[str]) -> Iterable[str]:
    wanted = RULINGS.get(ruling.kind)
    if wanted is None:
        yield f"there is no ruling {ruling.kind}"
        return
    wanted_fields = set(wanted) - _without(ruling)
    if set(ruling.fields) - _perhaps(ruling) != wanted_fields:
        yield f"its fields are {sorted(ruling.fields)}, not {sorted(wanted_fields)}"
    yield from (f"{name} is {value!r}" for name, value in ruling.fields.items() if not wanted[name](value))
    if not ruling.rule or not set(ruling.rule) <= set(ROWS):
        yield f"its rows are {ruling.rule}"
    if not ruling.because or not set(ruling.because) <= known:
        yield f"it rests on {ruling.because}"
    if len(set(ruling.because)) < len(ruling.because) or len(set(ruling.rule)) < len(ruling.rule):
        yield f"it says something twice: {ruling.because}, {ruling.rule}"
    if not re.fullmatch(rf"{ruling.kind}@{re.escape(ruling.because[0])}(/\d+)?(~.+)?", ruling.id):
        yield f"its name is not made of its kind and its cause, {ruling.because[0]}"
