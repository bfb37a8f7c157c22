"""The phrases of `classic` for every seat, made by the voice from rulings: what a listener must understand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from referee.adjudication.rulings import Ruling
from referee.app.voice import MOST_SEATS, Phrase, announce, pad_stuck

_MS: Final = 1_000_000


def _ruled(kind: str, *, supersedes: tuple[str, ...] = (), **fields: Any) -> Ruling:
    return Ruling(kind, f"{kind}@1", 0, ("1",), (), fields, supersedes)


def _of_seat(seat: int, chance: np.random.Generator) -> Iterator[list[Ruling]]:
    """Rulings about one seat, those that come together in one list; numbers are drawn."""
    others = [1 + (seat - 1 + step) % MOST_SEATS for step in (1, 4)]
    false = _ruled("slap_false", seat=seat, reason="no_pattern")
    few, many = int(chance.integers(3, 100)) * _MS, int(chance.integers(100, 1_000)) * _MS
    for margin in (None, few, many, _MS // 2, 2_000 * _MS):
        yield [_ruled("slap_won", seat=seat, margin=margin)]
    yield [_ruled("slap_won", seat=seat, margin=int(chance.integers(2, 1_000)) * _MS, supersedes=("x",))]
    yield [false, _ruled("burn", seat=seat, count=1)]
    yield [_ruled("slap_false", seat=seat, reason="dead_card"), _ruled("burn", seat=seat, count=1)]
    yield [false, _ruled("strike", seat=seat, strikes=1 + seat % 2)]
    yield [false, _ruled("strike", seat=seat, strikes=3), _ruled("locked_out", seat=seat, until="game")]
    yield [_ruled("slap_void", seat=seat, reason="locked_out")]
    yield [_ruled("challenge", seat=others[0], challenged=seat, chances=int(chance.integers(1, 5)))]
    yield [_ruled("challenge_moves", seat=seat, left=int(chance.integers(1, 5)))]
    yield [_ruled("challenge_won", seat=seat)]
    yield [_ruled("pile", seat=seat, count=int(chance.integers(2, 53)))]
    yield [_ruled("dead_card", seat=seat, reason="out_of_turn")]
    yield [_ruled("dead_heat", seats=[seat, others[0]])]
    yield [_ruled("dead_heat", seats=[seat, *others])]
    yield [_ruled("out", seat=seat)]
    yield [_ruled("slapped_in", seat=seat)]
    yield [_ruled("won", seat=seat)]


def _of_nobody() -> Iterator[list[Ruling]]:
    for left in (3, 2, 1):
        yield [_ruled("chance", seat=1, left=left)]
    for ask in ("who_was_first", "unreadable_card", "who_played", "impossible_card"):
        yield [_ruled("question", ask=ask)]
    for what in ("slap_your_pad", "rings"):
        yield [_ruled("remind", what=what)]


def phrases_of_classic(seed: int = 1, each: int = 1) -> list[Phrase]:
    """Every template of `classic` for every one of eight seats; or each ``each``-th of those that name a seat."""
    chance = np.random.default_rng(seed)
    nobody = [phrase for rulings in _of_nobody() for phrase in announce(rulings)]
    said: list[Phrase] = []
    for seat in range(1, MOST_SEATS + 1):
        said += [phrase for rulings in _of_seat(seat, chance) for phrase in announce(rulings)]
        said.append(pad_stuck(seat, 0))
    return nobody + said[::each]
