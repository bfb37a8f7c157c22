"""Near misses: how a pattern was missed, and what the newest card covered, to explain a false slap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from referee.rules.cards import rank, suit, value
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules
from referee.rules.matches import find_patterns, own_patterns
from referee.rules.patterns import PATTERNS, pattern_depth
from referee.rules.position import Position
from referee.rules.slap_verdict import newest_reveal
from referee.units import MS

Miss = tuple[str, dict[str, Any]]
"""``what`` and ``fields`` as in `Considered`."""
_Tell = Callable[[PileView, HouseRules], Miss]


class Considered(NamedTuple):
    """An alternative that was considered: its row, whether it held, and the reason.

    ``what`` names a text of the catalogue, ``why.WHAT``, and ``fields`` its arguments. A field's name gives its type:
    ``seat`` and ``seats`` are seat numbers, ``card`` and ``cards`` are cards, ``ms`` is ns.
    """

    row: str
    held: bool
    what: str
    fields: Mapping[str, Any]


def find_miss(row: str, look: PileView, rules: HouseRules) -> Miss:
    """Return how an active pattern that does not hold for this pile was missed."""
    if not look.top:
        return "no_card_counts", {}
    if rules.has("P13b") and look.top[0][0] == "X":
        return "joker_never", {}
    depth = 1 if row in ("P5b", "P5c") and rules.has("P5b") and look.under else pattern_depth(row, rules)
    if len(look.top) < depth:
        there = len(look.top)
        return ("needs_more", {"count": depth, "there": there}) if there > 1 else ("one_is_there", {"count": depth})
    tell = _MISSES.get(row)
    return tell(look, rules) if tell is not None else ("fails", {})


def _ranks(place: int) -> _Tell:
    def tell(look: PileView, _: HouseRules) -> Miss:
        one, other = look.top[place], look.top[0]
        if rank(one) and rank(one) == rank(other):
            return "wrong_between", {"card": one, "other": other, "cards": list(reversed(look.top[1:place]))}
        return "other_ranks", {"card": one, "other": other}

    return tell


def _pair(place: int, ranks: str) -> _Tell:
    def tell(look: PileView, rules: HouseRules) -> Miss:
        one, other = look.top[place], look.top[0]
        if {rank(one), rank(other)} == set(ranks) and suit(one) != suit(other):
            return "not_one_suit", {"card": one, "other": other}
        return "no_pair", {"card": one, "other": other, "rank": ranks[0], "second": ranks[1]}

    return tell


def _sum(place: int) -> _Tell:
    def tell(look: PileView, rules: HouseRules) -> Miss:
        one, other = look.top[place], look.top[0]
        if not value(one) or not value(other):
            return "no_sum", {"card": one, "other": other}
        if 1 in (value(one), value(other)) and not rules.ace_is_one:
            return "ace_is_no_one", {}
        return "other_sum", {"card": one, "other": other, "sum": value(one) + value(other)}

    return tell


def _top(what: str) -> _Tell:
    return lambda look, _: (f"no_{what}", {"card": look.top[0]})


def _together(row: str, what: str) -> _Tell:
    return lambda look, rules: (what, {"cards": list(reversed(look.top[: pattern_depth(row, rules)]))})


def _bottom(what: str) -> _Tell:
    def tell(look: PileView, rules: HouseRules) -> Miss:
        other = look.first if what == "first" else look.bottom
        if rank(other) and rank(other) == rank(look.top[0]):
            return f"other_{rules.word('P5c')}", {"card": look.top[0], "other": other}
        return f"not_{what}", {"card": look.top[0], "other": other}

    return tell


_FIRST: Final = _bottom("first")
_LOWEST: Final = _bottom("bottom")
_MISSES: Final[Mapping[str, _Tell]] = {
    "P1": _ranks(1),
    "P2": _ranks(2),
    "P3a": _ranks(3),
    "P3b": _ranks(3),
    "P4a": _together("P4a", "not_in_order"),
    "P4b": _together("P4b", "not_in_order"),
    "P5a": _FIRST,
    "P5b": _LOWEST,
    "P5c": lambda look, rules: _LOWEST(look, rules) if rules.has("P5b") else _FIRST(look, rules),
    "P6": _pair(1, "KQ"),
    "P7": _pair(2, "KQ"),
    "P8": _sum(1),
    "P9": _sum(2),
    "P10a": _together("P10a", "not_of_one_suit"),
    "P10b": _together("P10b", "not_of_one_colour"),
    "P11": _pair(1, "69"),
    "P12": lambda look, _: ("no_jack_ten", {"card": look.top[0], "other": look.top[1]}),
    "P13a": _top("joker"),
    "C3b": _top("red_joker"),
    "P14": lambda look, _: (
        ("not_wild", {"card": look.top[0], "rank": look.wild}) if look.wild else ("no_wild_yet", {"card": look.top[0]})
    ),
    "P15": lambda look, _: ("paid_as", {"card": look.top[0], "nth": look.paid}) if look.paid else ("not_paid", {}),
    "P16": lambda look, rules: (
        ("ends_game", {}) if rules.three_end_game else _together("P16", "not_of_one_rank")(look, rules)
    ),
    "P17": _top("ten"),
    "P18": _top("jack"),
    "N4": lambda look, _: ("no_courts", {"card": look.top[1], "other": look.top[0]}),
    "N14": lambda look, _: (
        ("not_called", {"card": look.top[0], "rank": look.said})
        if look.said
        else ("nothing_called", {"card": look.top[0]})
    ),
}


def missed_patterns(position: Position) -> Iterator[Considered]:
    """Yield each active pattern, and how it was missed."""
    look, rules = position.look(), position.rules
    held = set(find_patterns(look, rules)[0])
    for row in PATTERNS:
        if row in rules.on:
            miss = ("holds", {}) if row in held else find_miss(row, look, rules)
            yield Considered(row, row in held, *miss)
    for name, own in own_patterns(rules) if rules.has("P19") else ():
        row = f"P19:{name}"
        if row in held:
            yield Considered(row, True, "holds", {})
        elif len(look.top) < own.depth:
            yield Considered(row, False, "looks_at", {"count": own.depth, "there": len(look.top)})
        else:
            yield Considered(row, False, "condition", {})


def judge_cover(position: Position, t: int, error: int) -> Iterator[Considered]:
    """Yield whether a slap at ``t`` (ns) may have been meant for the pile that the newest card covered (M9).

    ``error`` is the error of the time from that card to the slap, ns.
    """
    newest = newest_reveal(position)
    if not position.rules.has("M9") or newest is None:
        return
    since, limit = t - newest.t - position.still, position.rules.number("M9")
    covered = find_patterns(position.without(newest).look(), position.rules)[0]
    near = since < limit * MS
    if near or covered:
        what = f"{'soon' if near else 'long'}_after_{'cover' if covered else 'no_cover'}"
        if since < 0:
            # Doubt put the card first, whatever the timestamps say (K9).
            what = "counts_as_cover" if covered else "counts_as_before"
        fields = {"card": newest.card, "ms": since, "ms_error": error, "limit": limit, "patterns": list(covered)}
        yield Considered("M9", near and bool(covered), what, fields)
