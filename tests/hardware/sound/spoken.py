"""Everything that the referee says in English, made by the voice from rulings: the test material of the listener."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from referee.announce.phrases import MOST_SEATS, words_in
from referee.announce.voice import Phrase, announce, tell
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling
from referee.rules.cards import RANKS
from referee.rules.presets import PRESETS

_MS: Final = 1_000_000
GAME: Final = Path(__file__).parent / "demo-game.jsonl"
"""The reports of one game of four players at the simulated table: `referee demo --no-pace --seed 3 --log FILE`,
without the ticks.
"""
_DECK: Final = [rank + suit for suit in "shdc" for rank in "A23456789TJQK"] + ["Xr", "Xb"]


def _ruled(kind: str, *, supersedes: tuple[str, ...] = (), doubt: bool = False, **fields: Any) -> Ruling:
    return Ruling(kind, f"{kind}@1", 0, ("1",), (), fields, supersedes, doubt, is_correction=bool(supersedes))


def _left(kind: str, **fields: Any) -> Ruling:
    """Return a ruling on a player who leaves in the middle of the game (E8)."""
    return Ruling(kind, f"{kind}@1", 0, ("1",), ("E8",), fields)


def _forms(prefix: str) -> list[str]:
    """Return the last parts of all keys with a prefix: all reasons of a void slap, for example."""
    keys = [key.removeprefix(f"{prefix}.") for key in words_in("en").phrases if key.startswith(f"{prefix}.")]
    return [key for key in keys if "." not in key]


def of_seat(seat: int, chance: np.random.Generator) -> Iterator[list[Ruling]]:
    """Yield rulings about one seat, joint ones in one list; numbers are drawn."""
    one, two = (1 + (seat - 1 + step) % MOST_SEATS for step in (1, 4))

    def ms(low: int, high: int) -> int:
        return int(chance.integers(low, high)) * _MS

    for margin in (None, 1 * _MS, ms(3, 100), ms(100, 1_000), _MS // 4, 2_000 * _MS):
        yield [_ruled("slap_won", seat=seat, margin=margin)]
    yield [_ruled("slap_won", seat=seat, margin=ms(10, 100), error=ms(1, 10))]
    for row in _forms("pattern"):
        yield [_ruled("slap_won", seat=seat, patterns=[row], margin=None if chance.random() < 0.5 else ms(2, 100))]
    for how in ("force", "war", "people"):
        yield [_ruled("slap_won", seat=seat, decided_by=how)]
    yield [_ruled("slap_won", seat=seat, margin=ms(2, 1_000), supersedes=("x",))]
    doubtful = _ruled("slap_won", seat=seat, margin=ms(2, 100), doubt=True)
    yield [doubtful]
    yield [replace(doubtful, rule=("K2",))]
    for reason in ("no_pattern", *_forms("slap_false")):
        false = _ruled("slap_false", seat=seat, reason=reason)
        yield [false, _ruled("burn", seat=seat, count=int(chance.integers(1, 4)), where="bottom")]
    false = _ruled("slap_false", seat=seat, reason="no_pattern")
    yield [false]
    yield [false, _ruled("burn", seat=seat, count=2, where="top")]
    yield [false, _ruled("strike", seat=seat, strikes=1 + seat % 2)]
    yield [false, _ruled("strike", seat=seat, strikes=3), _ruled("locked_out", seat=seat, until="game")]
    for until in (*_forms("locked_out"), ""):
        yield [_ruled("locked_out", seat=seat, until=until)]
    for until in _forms("locked_out"):
        yield [false, _ruled("locked_out", seat=seat, until=until)]
    for reason in _forms("slap_void"):
        yield [_ruled("slap_void", seat=seat, reason=reason)]
    for where in ("bottom", "top"):
        yield [_ruled("burn", seat=seat, count=int(chance.integers(1, 10)), where=where)]
    yield [_ruled("strike", seat=seat, strikes=2)]
    yield [_ruled("give", seat=seat, to=one, count=1)]
    yield [_ruled("challenge", seat=one, challenged=seat, chances=int(chance.integers(1, 5)))]
    yield [_ruled("challenge_moves", seat=seat, left=int(chance.integers(1, 5)))]
    yield [_ruled("challenge_won", seat=seat)]
    yield [_ruled("pile", seat=seat, count=int(chance.integers(2, 53)))]
    yield [_ruled("pile", seat=seat, count=1_000)]
    for reason in _forms("dead_card"):
        yield [_ruled("dead_card", seat=seat, reason=reason)]
    for foul in ("", *_forms("foul")):
        yield [_ruled("foul", seat=seat, foul=foul)]
    for upheld in (True, False):
        yield [_ruled("contested", against=seat, upheld=upheld)]
    yield [_ruled("dead_heat", seats=[seat, one])]
    yield [_ruled("dead_heat", seats=[seat, one, two])]
    for kind in ("out", "slapped_in", "won", "lost"):
        yield [_ruled(kind, seat=seat)]
    yield [false, _ruled("give", seat=seat, to=one, count=1)]
    yield [_left("out", seat=seat)]
    yield [_left("burn", seat=seat, count=2 * seat, where="bottom")]


def _of_nobody(chance: np.random.Generator) -> Iterator[list[Ruling]]:
    yield [_ruled("slap_won", seat=1, decided_by="split")]
    for left in range(1, 14):
        yield [_ruled("chance", seat=1, left=left)]
    for ask in (*_forms("question"), ""):
        yield [_ruled("question", ask=ask)]
    for ask in ("impossible_card", "order_changed", "unreadable_card"):
        first, second = chance.permutation(_DECK)[:2]
        yield [_ruled("question", ask=ask, cards=[str(first), str(second)])]
    yield [Ruling("question", "question@1/4", 0, ("1",), ("K9", "F9"), {"ask": "slap_or_limit"})]
    yield [_ruled("question", ask="unseen_gap", cards=["9c"], about=["g1"])]
    yield [_ruled("question", ask="unseen_gap", cards=["??"], about=["g1"])]
    yield [_ruled("question", ask="unseen_gap", about=["g1"], passed=True)]
    yield [_ruled("question", ask="unseen_gap", about=["g1", "s1"])]
    for what in _forms("remind"):
        yield [_ruled("remind", what=what)]
    for kind in ("challenge_off", "drawn", "repeated", "corrected"):
        yield [_ruled(kind)]
    yield [_ruled("slap_void", reason="late", seat=1, supersedes=("x",))]


def _of_numbers(chance: np.random.Generator) -> Iterator[list[Ruling]]:
    """Yield every number that is one clip, and every card, once."""
    for value in range(2, 100):
        seat = 1 + value % MOST_SEATS
        yield [_ruled("slap_won", seat=seat, margin=value * _MS)]
        yield [_ruled("pile", seat=seat, count=value)]
    for hundreds in range(100, 1_000, 100):
        for rest in (0, int(chance.integers(1, 100))):
            yield [_ruled("slap_won", seat=1 + hundreds // 100 % MOST_SEATS, margin=(hundreds + rest) * _MS)]
    for first, second in zip(_DECK, np.roll(_DECK, 17), strict=True):
        yield [_ruled("question", ask="impossible_card", cards=[first, str(second)])]


def told(seat: int, language: str = "en") -> Iterator[Phrase]:
    """Yield the appliance's notices to or about one seat."""
    for what in ("roll_call", "not_heard", "pad_stuck", "pad_benched", "pad_chatters", "pad_works", "first_hand"):
        yield tell(what, 0, language, seat=seat)
    offers = ("offer_seat", "offer_took", "offer_first", "offer_slap_won", "offer_slap_false", "offer_slap_void")
    for what in ("nothing_lies", *offers):
        yield tell(what, 0, language, seat=seat)
    yield tell("joined", 0, language, seat=seat)
    yield tell("hand_late", 0, language, seat=seat)
    yield tell("first_hand", 0, language, seat=seat, margin=(3 * seat + 2) * _MS)


def _told_to_all() -> Iterator[Phrase]:
    for rules in (*PRESETS, None):
        yield tell("game_start", rules=rules)
    for rules in PRESETS:
        yield tell("offer_rules", rules=rules)
    for rank in RANKS:
        yield tell("offer_rank", rank=rank)
    for ask in (*_forms("question"), ""):
        yield tell("asked_again", question=_ruled("question", ask=ask))
    yield tell("asked_about", question=_ruled("question", ask="who_played"), card="9c")
    for number in range(2, 11):
        yield tell("wild_rank", number=number)
    for digits in ("402915", "678310"):
        yield tell("pair_code", digits=digits)
    for lying, card in enumerate(_DECK, start=1):
        yield tell("card_lands", card=card, seat=1 + lying % MOST_SEATS, number=lying)
        yield tell("offer_card", card=card)
    yield tell("card_lands_alone", card="Qh", number=7)
    for key, template in words_in("en").phrases.items():
        if key.startswith("tell.") and "{" not in template:
            yield tell(key.removeprefix("tell."))


@cache
def all_phrases(seed: int = 1) -> Sequence[Phrase]:
    """Return every phrase for each of eight seats, every number that is one clip, every card; each text once."""
    chance = np.random.default_rng(seed)
    rulings_ = [*_of_nobody(chance), *_of_numbers(chance)]
    rulings_ += [made for seat in range(1, MOST_SEATS + 1) for made in of_seat(seat, chance)]
    said = [phrase for together in rulings_ for phrase in announce(together)]
    said += [*_told_to_all(), *(phrase for seat in range(1, MOST_SEATS + 1) for phrase in told(seat))]
    return list({phrase.text: phrase for phrase in said}.values())


def phrases_of_a_game(language: str = "en") -> list[Phrase]:
    """Return every sentence spoken in one whole game, in order."""
    with GAME.open("rb") as log:
        made = list(replay_log(log))
    return [phrase for _, together in groupby(made, lambda ruling: ruling.t) for phrase in announce(together, language)]
