"""Events by the game's own clock, and lines at the very instant of one (E2, E7, reading 17)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.engine.log import from_fields
from tests.play import brief, log, rule

LAST_CARDS = """
    1000 1:Jh
    2000 2:5c
    3000 taken 1
    4000 1:9h
    5000 1:2h
    6000 1:2d
"""
"""Ana holds everything and has turned her three cards; two twos lie there until 8 s."""
COUNTS: dict[str, Any] = {"counts": [5, 1, 0]}


@pytest.mark.parametrize(
    ("slap", "comes_in"), [("7999.999999", True), ("8000", True), ("8000.000001", False), ("9000", False)]
)
def test_a_hand_at_the_very_instant_at_which_the_last_chance_ends_comes_in(slap: str, comes_in: bool) -> None:
    rulings = rule(log(f"{LAST_CARDS}\n{slap} slap 3 ±0\n9500 tick", **COUNTS))
    ended = [ruling.t for ruling in rulings if ruling.kind == "won"]
    assert ended == ([] if comes_in else [8_000_000_000])
    assert brief(rulings, "slap_won", "slap_void") == [
        "slap_won@s1 seat=3 decided_by=time" if comes_in else "slap_void@s1 seat=3 reason=not_playing"
    ]


@pytest.mark.parametrize(("tick", "ended"), [("7999.999999", False), ("8000", True)])
def test_nothing_is_ruled_for_an_instant_that_no_line_and_no_tick_has_reached(tick: str, ended: bool) -> None:
    rulings = rule(log(f"{LAST_CARDS}\n{tick} tick", **COUNTS))
    assert [ruling.t for ruling in rulings if ruling.kind == "won"] == ([8_000_000_000] if ended else [])


@pytest.mark.parametrize(("pause", "resume", "ends"), [(7000, 9500, 10_500), (6000, 6500, 8500), (7999, 8000, 8001)])
def test_the_clock_stands_still_while_the_table_is_paused(pause: int, resume: int, ends: int) -> None:
    for tick, ended in ((ends - 1, False), (ends, True)):
        rulings = rule(log(f"{LAST_CARDS}\n{pause} pause\n{resume} resume\n{tick} tick", **COUNTS))
        assert [ruling.t for ruling in rulings if ruling.kind == "won"] == ([ends * 1_000_000] if ended else [])


@pytest.mark.parametrize(("tick", "ended"), [(59_999, False), (60_000, True)])
def test_an_agreed_time_is_over_to_the_nanosecond(tick: int, ended: bool) -> None:
    """E7: the minutes count from the opening of the table; the seat with the most cards wins."""
    rules = {"base": "classic", "on": ["E7"], "set": {"E7": {"minutes": 1}}}
    game = f"1000 1:7h\n2000 2:9c\n{tick} tick"
    rulings = rule(log(game, rules=rules, counts=[20, 20, 12]))
    assert [(ruling.t, ruling.rule) for ruling in rulings if ruling.kind == "drawn"] == (
        [(60_000_000_000, ("E7",))] if ended else []
    )
    other = rule(log(game, rules=rules, counts=[21, 20, 11]))
    assert [(ruling.kind, ruling["seat"]) for ruling in other if ruling.kind in ("won", "drawn")] == (
        [("won", 1)] if ended else []
    )


@pytest.mark.parametrize("opened", [-(2**63), 0, 2**63 - 4_000_000_000])
def test_a_game_is_judged_wherever_it_lies_on_the_line_of_time(opened: int) -> None:
    """Instants have sixty-four bits, and every one of them can be a line's."""
    fields = {"seats": ["Ana", "Ben", "Cho"], "dealer": 3}
    lines = [
        from_fields(line, number)
        for number, line in enumerate(
            (
                {"kind": "table", "t": opened, **fields},
                {"kind": "card", "t": opened + 1_000_000_000, "card": "7h", "seat": 1},
                {"kind": "card", "t": opened + 2_000_000_000, "card": "7c", "seat": 2},
                {"kind": "slap", "t": opened + 3_999_999_999, "seat": 3},
            ),
            start=1,
        )
    ]
    assert brief(rule(lines), "slap_won", "question") == ["slap_won@4 seat=3 decided_by=time"]


@pytest.mark.parametrize(
    ("cards", "slap", "wanted"),
    [
        ("7h 8c 9d", 60_000.5, "slap_void@s1 seat=1 reason=not_playing"),
        ("2d 7h 7c", 60_000.5, "slap_won@s1 seat=1 decided_by=time"),
        ("2d 7h 7c", 60_001.5, "slap_void@s1 seat=1 reason=not_playing"),
        ("7h 7c 9d", 60_000.5, "slap_void@s1 seat=1 reason=not_playing"),
    ],
)
def test_a_hand_that_may_have_come_before_the_agreed_end_is_judged_so_where_that_is_better(
    cards: str, slap: float, wanted: str
) -> None:
    """E7, K9: false or no better than late, it came too late."""
    rules = {"base": "classic", "on": ["E7"], "set": {"E7": {"minutes": 1}}}
    first, second, third = cards.split()
    game = f"59000 1:{first}\n59500 2:{second}\n59900 3:{third}\n{slap} slap 1 ±1.5\n70000 tick"
    made = rule(log(game, rules=rules, counts=[20, 20, 12]))
    assert brief(made, "slap_won", "slap_void", "slap_false") == [wanted]
