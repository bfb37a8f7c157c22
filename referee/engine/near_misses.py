"""By what a pattern was missed, in words: for people who ask why their slap was false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from referee.rules.cards import rank, suit, value
from referee.rules.conditions import PileView
from referee.rules.house import HouseRules

_Miss = Callable[[PileView, HouseRules], str]


def why_not(row: str, look: PileView, rules: HouseRules) -> str:
    """Why a pattern that is switched on does not hold for this pile."""
    if not look.top:
        return "no card counts"
    if rules.has("P13b") and look.top[0][0] == "X":
        return "a joker may never be slapped (P13b)"
    depth = 1 if row in ("P5b", "P5c") and rules.has("P5b") and look.under else _depth(row, rules)
    if len(look.top) < depth:
        there = "only one is" if len(look.top) == 1 else f"only {len(look.top)} are"
        return f"it needs {depth} cards, and {there} there"
    tell = _MISSES.get(row)
    return tell(look, rules) if tell is not None else "it does not hold"


def _depth(row: str, rules: HouseRules) -> int:
    if row in ("P4a", "P4b"):
        return rules.run(row).n
    if row in ("P10a", "P10b"):
        return rules.number(row)
    return _DEPTHS.get(row, 1)


_DEPTHS: Final[Mapping[str, int]] = {
    "P1": 2, "P2": 3, "P3a": 4, "P3b": 4, "P5a": 2, "P5b": 2, "P5c": 2, "P6": 2, "P7": 3, "P8": 2, "P9": 3, "P11": 2,
    "P12": 2, "P16": 3, "N4": 2,
}  # fmt: skip


def _ranks(place: int) -> _Miss:
    def tell(look: PileView, _: HouseRules) -> str:
        one, other = look.top[place], look.top[0]
        if rank(one) and rank(one) == rank(other):
            between = " ".join(reversed(look.top[1:place]))
            return f"{one} and {other} share a rank, but {between} between them does not fit"
        return f"{one} and {other} do not share a rank"

    return tell


def _pair(place: int, ranks: str) -> _Miss:
    def tell(look: PileView, rules: HouseRules) -> str:
        one, other = look.top[place], look.top[0]
        if {rank(one), rank(other)} == set(ranks) and suit(one) != suit(other):
            return f"{one} and {other} are not of one suit (N4)"
        return f"{one} and {other} are no {ranks[0]} and {ranks[1]}"

    return tell


def _sum(place: int) -> _Miss:
    def tell(look: PileView, rules: HouseRules) -> str:
        one, other = look.top[place], look.top[0]
        if not value(one) or not value(other):
            return f"{one} and {other} have no sum"
        if 1 in (value(one), value(other)) and not rules.ace_is_one:
            return "the ace counts no one here"
        return f"{one} and {other} make {value(one) + value(other)}, not 10"

    return tell


def _top(what: str) -> _Miss:
    return lambda look, _: f"{look.top[0]} is {what}"


def _together(row: str, words: str) -> _Miss:
    return lambda look, rules: f"{' '.join(reversed(look.top[: _depth(row, rules)]))} {words}"


def _bottom(what: str, name: str) -> _Miss:
    def tell(look: PileView, rules: HouseRules) -> str:
        other = look.first if what == "first" else look.bottom
        if rank(other) and rank(other) == rank(look.top[0]):
            return f"{look.top[0]} and {other} share a rank but not the {rules.word('P5c')} (P5c)"
        return f"{look.top[0]} has not the rank of {other}, the {name}"

    return tell


_FIRST: Final = _bottom("first", "first card played")
_LOWEST: Final = _bottom("bottom", "lowest card")
_MISSES: Final[Mapping[str, _Miss]] = {
    "P1": _ranks(1),
    "P2": _ranks(2),
    "P3a": _ranks(3),
    "P3b": _ranks(3),
    "P4a": _together("P4a", "are not in order"),
    "P4b": _together("P4b", "are not in order"),
    "P5a": _FIRST,
    "P5b": _LOWEST,
    "P5c": lambda look, rules: _LOWEST(look, rules) if rules.has("P5b") else _FIRST(look, rules),
    "P6": _pair(1, "KQ"),
    "P7": _pair(2, "KQ"),
    "P8": _sum(1),
    "P9": _sum(2),
    "P10a": _together("P10a", "are not of one suit"),
    "P10b": _together("P10b", "are not of one colour"),
    "P11": _pair(1, "69"),
    "P12": lambda look, _: f"{look.top[0]} on {look.top[1]} is no ten on a jack",
    "P13a": _top("no joker"),
    "C3b": _top("not the red joker"),
    "P14": lambda look, _: f"{look.top[0]} is not of the wild rank, {look.wild or 'which is not drawn yet'}",
    "P15": lambda look, _: f"{look.top[0]} is card {look.paid} paid" if look.paid else "it was not paid to a challenge",
    "P16": _together("P16", "do not share a rank"),
    "P17": _top("no ten"),
    "P18": _top("no jack"),
    "N4": lambda look, _: f"{look.top[1]} and {look.top[0]} are no king or queen with a jack",
    "N14": lambda look, _: f"{look.top[0]} is not what was called: {look.said or 'nothing'}",
}
