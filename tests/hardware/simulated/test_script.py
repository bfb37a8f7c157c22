"""A simulated game is a possible one: nothing lost, no hand in two places, and the same every time."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from statistics import mean, stdev

import pytest

from hardware.simulated.decks.packs import all_cards
from hardware.simulated.table.acts import SWEEP_NS, Burn, Lay, Take
from hardware.simulated.table.course import HEAT_NS
from hardware.simulated.table.players import MEAN_MS, SPREAD_MS, Habits, press, seat_people
from hardware.simulated.table.script import Script, play_game
from hardware.simulated.table.slapping_hands import GUARD_NS
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Card, Placed, Slap, Table, Taken
from referee.engine.rulings import Ruling
from referee.rules.presets import PRESETS
from referee.units import MS

CLUMSY = Habits(wrong_slap=0.06, early_slap=0.03, out_of_turn=0.02, long_hold=0.2)


def rulings(script: Script) -> list[Ruling]:
    core = Adjudicator()
    out = [ruling for observation in script.truth for ruling in core.observe(observation)]
    return out + core.finish()


@pytest.fixture(scope="module")
def games() -> list[Script]:
    return [
        play_game(seed, seats, max_cards=180, habits=CLUMSY) for seed, seats in ((1, 4), (2, 2), (3, 3), (4, 6), (5, 8))
    ]


def test_the_same_seed_gives_the_same_game() -> None:
    assert play_game(7, 4, max_cards=50) == play_game(7, 4, max_cards=50)
    assert play_game(7, 4, max_cards=50).truth != play_game(8, 4, max_cards=50).truth


def test_no_card_is_lost_or_doubled(games: list[Script]) -> None:
    for script in games:
        held = Counter(card for stack in script.stacks for card in stack) + Counter(script.pile)
        assert held == Counter(all_cards())


def test_the_pile_on_the_table_is_the_pile_of_the_script(games: list[Script]) -> None:
    for script in games:
        pile: list[str] = []
        for act in script.acts:
            if isinstance(act, Lay):
                pile.append(act.card)
            elif isinstance(act, Burn):
                pile = [*pile, *act.cards] if act.top else [*reversed(act.cards), *pile]
            elif isinstance(act, Take):
                assert pile, "no player takes an empty pile"
                pile = []
        assert tuple(pile) == script.pile


def test_truth_and_acts_tell_the_same(games: list[Script]) -> None:
    for script in games:
        assert isinstance(script.truth[0], Table)
        assert [o.t for o in script.truth] == sorted(o.t for o in script.truth)
        laid = [(a.t, a.seat, a.card) for a in script.acts if isinstance(a, Lay)]
        assert laid == [(o.t, o.seat, o.card) for o in script.truth if isinstance(o, Card)]
        taken = [(a.t, a.seat) for a in script.acts if isinstance(a, Take)]
        assert taken == [(o.t, o.seat) for o in script.truth if isinstance(o, Taken)]
        burned = [(a.t, a.seat, a.cards if a.top else a.cards[::-1]) for a in script.acts if isinstance(a, Burn)]
        assert burned == [(o.t, o.seat, o.cards) for o in script.truth if isinstance(o, Placed)]


def test_players_do_what_the_referee_rules(games: list[Script]) -> None:
    for script in games:
        said = rulings(script)
        burns = Counter((r["seat"], r["count"]) for r in said if r.kind == "burn")
        placed = Counter((o.seat, o.count) for o in script.truth if isinstance(o, Placed))
        assert not placed - burns, "no player burns unasked"
        assert (burns - placed).total() <= 1, "one burn may still be due when the script stops"
        assert script.finished == any(r.kind in ("won", "lost", "drawn") for r in said)
        assert not [r for r in said if r.kind == "question"], "ideal sensors leave no question"


def test_games_hold_what_they_should_show(games: list[Script]) -> None:
    kinds = Counter(r.kind for script in games for r in rulings(script))
    for kind in ("slap_won", "slap_false", "burn", "dead_card", "challenge_won", "out", "slapped_in"):
        assert kinds[kind], kind


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize("seats", [2, 5])
def test_every_preset_plays(preset: str, seats: int) -> None:
    script = play_game(1, seats, rules=preset, max_cards=60)
    held = Counter(card for stack in script.stacks for card in stack) + Counter(script.pile)
    assert held == Counter(all_cards())
    assert script.finished or script.laid == 60
    asked = [r["ask"] for r in rulings(script) if r.kind == "question"]
    assert set(asked) <= {"bottom_card", "wild_rank"}, "only unseen things are asked about"


def test_a_cut_pack_plays_too() -> None:
    script = play_game(1, 3, rules={"base": "classic", "on": ["S4c"]}, max_cards=60)
    assert script.laid == 60
    short = [play_game(seed, 4, rules={"base": "classic", "on": ["S4c"]}, max_cards=200) for seed in (1, 2, 3)]
    assert all(script.laid < 200 and not script.finished for script in short), "a player ran out unseen"


def test_jokers_and_more_packs_are_on_the_table() -> None:
    script = play_game(1, 4, rules={"base": "wikipedia-2025", "set": {"S3": 2, "S2": 2}}, max_cards=80)
    held = Counter(card for stack in script.stacks for card in stack) + Counter(script.pile)
    assert held == Counter(all_cards(packs=2, jokers=2))


def test_every_contact_is_released(games: list[Script]) -> None:
    for script in games:
        level = dict.fromkeys(range(1, script.seats + 1), False)
        for contact in script.contacts:
            assert contact.pressed != level[contact.seat], "a switch closes only when open"
            level[contact.seat] = contact.pressed
        assert not any(level.values())
        assert script.contacts[-1].t < script.duration


def test_a_hand_on_a_pad_bounces_for_six_milliseconds_at_most() -> None:
    chance = Random(1)
    bounced = 0
    for _ in range(200):
        contacts = list(press(1, 10 * MS, 150 * MS, chance))
        assert contacts[0].t == 10 * MS
        assert [c.pressed for c in contacts] == [k % 2 == 0 for k in range(len(contacts))]
        assert [c.t for c in contacts] == sorted({c.t for c in contacts})
        for contact in contacts:
            assert contact.t - 10 * MS <= 6 * MS or 0 <= contact.t - 160 * MS <= 6 * MS
        bounced += len(contacts) > 2
    assert 60 < bounced < 200


def test_slaps_keep_clear_of_reveals_and_heats_are_listed(games: list[Script]) -> None:
    for script in games:
        reveals = [a.t for a in script.acts if isinstance(a, Lay)]
        for slap in (o for o in script.truth if isinstance(o, Slap)):
            assert min(abs(slap.t - t) for t in reveals) >= GUARD_NS
        near = {r.t for r in rulings(script) if r.kind == "slap_won" and (r["margin"] or HEAT_NS) < HEAT_NS}
        assert {c.t for c in script.called if c.kind == "dead_heat"} == near


def test_close_calls_come_only_when_asked_for() -> None:
    script = play_game(3, 4, max_cards=60, habits=Habits(close_call=0.2))
    doubts = [c for c in script.called if c.kind == "doubt"]
    assert doubts


def test_cards_follow_each_other_at_the_asked_pace() -> None:
    for pace in (2.0, 4.0):
        script = play_game(2, 4, max_cards=100, cards_per_second=pace)
        laid = [a.t for a in script.acts if isinstance(a, Lay)]
        gaps = [b - a for a, b in pairwise(laid)]
        assert min(gaps) >= 1e9 / pace
        assert sorted(gaps)[len(gaps) // 4] < 1.25e9 / pace


def test_a_winner_takes_the_pile_in_good_time(games: list[Script]) -> None:
    for script in games:
        won = [r.t for r in rulings(script) if r.kind == "slap_won"]
        for act in script.acts:
            if isinstance(act, Take):
                before = [t for t in won if t < act.t]
                laid = max(a.t for a in script.acts if isinstance(a, Lay) and a.t < act.t)
                if before and before[-1] > laid:
                    assert 0.55e9 < act.t - before[-1] < 4e9
                assert act.t - SWEEP_NS // 2 > laid + 120 * MS


def test_reactions_are_those_of_people() -> None:
    chance = Random(5)
    people = [person for _ in range(150) for person in seat_people(("A", "B", "C", "D"), chance)]
    means = [person.mean_ms for person in people]
    assert abs(mean(means) - MEAN_MS) < 10
    assert abs(stdev(means) - SPREAD_MS) < 10
    times = [person.reaction(chance) / MS for person in people for _ in range(20)]
    assert abs(mean(times) - MEAN_MS) < 12
    middle = sorted(times)[len(times) // 2]
    assert middle < mean(times), "slow reactions make the longer tail"


def test_players_answer_from_what_happened() -> None:
    script = next(s for s in (play_game(k, 6, max_cards=120) for k in range(1, 40)) if s.called)
    heat = script.called[0]
    assert script.answer("who_was_first", heat.t) == heat.seats[0]
    card = next(o for o in script.truth if isinstance(o, Card))
    assert script.answer("unreadable_card", card.t) == card.card
    assert script.answer("who_played", card.t) == card.seat
    assert script.answer("mend_pile", card.t) is None


@pytest.mark.parametrize("seats", [0, 1, 9])
def test_a_table_has_two_to_eight_seats(seats: int) -> None:
    with pytest.raises(ValueError, match="2 to 8 seats"):
        play_game(1, seats)
