"""The two laws of the log, and the laws of every moment, over generated games.

1. Replaying a log gives the same rulings, byte for byte.
2. So does every order of arrival in which each tick still comes after all lines that it covers.

``LAW_EXAMPLES`` raises the number of games for each law.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from referee.engine.adjudicator import Adjudicator
from referee.engine.event_queue import JudgedMoment
from referee.engine.log import decode_line, encode_observation
from referee.engine.observations import Card, Foul, Observation, Slap, Table, Tick
from referee.engine.rulings import Ruling, encode_ruling
from referee.units import MS
from tests.engine.laws import LAWS
from tests.engine.moments import TableLaws
from tests.engine.shrinking import as_scenario, shrunk
from tests.oracle.games import APART, Game
from tests.play import log
from tests.support.strategies import arrivals, games
from tests.support.wild_games import wild_game

EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "20"))
lawful = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 20, suppress_health_check=list(HealthCheck),
    print_blob=False, phases=(Phase.explicit, Phase.reuse, Phase.generate),
)  # fmt: skip


def rulings_of(observations: Iterable[Observation], *, history: bool = True, stream: bool = True) -> list[Ruling]:
    adjudicator = Adjudicator(history=history, stream=stream)
    rulings = [ruling for line in observations for ruling in adjudicator.observe(line)]
    return rulings + adjudicator.finish()


def replayed(observations: Iterable[Observation], *, history: bool = True, stream: bool = True) -> bytes:
    """Return the replay's output for these observations."""
    rulings = rulings_of(observations, history=history, stream=stream)
    return "\n".join(encode_ruling(ruling) for ruling in rulings).encode()


def exported(observations: Sequence[Observation]) -> list[Observation]:
    """Return the same log after a trip through its file."""
    return [
        decode_line(encode_observation(observation), number) for number, observation in enumerate(observations, start=1)
    ]


@lawful
@given(games())
def test_a_replay_gives_the_same_bytes(game: Game) -> None:
    first = replayed(game.observations)
    assert replayed(game.observations) == first
    assert exported(game.observations) == list(game.observations)
    assert replayed(exported(game.observations)) == first


def test_a_replay_from_a_state_kept_after_each_line_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers and corrections resume from a kept state; which states are kept changes nothing (K6)."""
    for game in range(EXAMPLES * 2):
        lines = wild_game(game, crowded=True)
        monkeypatch.setattr("referee.engine.history._KEEP_EVERY", len(lines))
        whole = replayed(lines)
        monkeypatch.setattr("referee.engine.history._KEEP_EVERY", 1)
        assert replayed(lines) == whole


@lawful
@given(games())
def test_a_replay_in_one_piece_or_without_history_is_the_same(game: Game) -> None:
    first = replayed(game.observations)
    assert replayed(game.observations, history=False) == first
    assert replayed(game.observations, stream=False) == first


@lawful
@given(arrivals())
def test_any_order_of_arrival_gives_the_same_bytes(logs: tuple[list[Observation], list[Observation]]) -> None:
    happened, known = logs
    assert replayed(known).decode().splitlines() == replayed(happened).decode().splitlines()
    assert replayed(exported(known)) == replayed(happened)


@lawful
@given(games())
def test_rulings_come_in_order_and_have_names_of_their_own(game: Game) -> None:
    rulings = rulings_of(game.observations)
    furthest = rulings[0]
    for ruling in rulings:
        # Only doubt puts a ruling behind another instant (K9).
        assert ruling.t >= furthest.t or ruling.doubt or furthest.doubt
        furthest = max(furthest, ruling, key=lambda candidate: candidate.t)
    names = [ruling.id for ruling in rulings]
    assert len(names) == len(set(names))
    known = {line.id for line in game.observations}
    assert all(ruling.because and set(ruling.because) <= known for ruling in rulings)


@lawful
@given(games())
def test_no_card_is_lost_or_doubled_and_nobody_plays_with_none(game: Game) -> None:
    adjudicator = Adjudicator(lookahead_ns=APART)
    deck = sum(len(stack) for stack in game.deal)
    lines = [line for line in game.observations if not isinstance(line, Tick)]
    for line in lines:
        adjudicator.observe(line)
    for line in lines:
        adjudicator.promise(line.t - 1 + APART)  # so the view is that of the instant before this line
        view = adjudicator.view
        if view.counts:
            if None in view.counts:
                # A dead heat is open: the tied seats' cards are unknown (reading 15).
                assert view.questions
                continue
            assert sum(count or 0 for count in view.counts) + len(view.pile) == deck
            assert all(count is not None and count >= 0 for count in view.counts)
            if view.turn is not None and not view.game_over:
                assert view.counts[view.turn - 1] or view.owner == view.turn
            if view.challenge is not None:
                assert view.challenge.left > 0
                assert view.challenge.challenged != view.challenge.challenger
                assert view.counts[view.challenge.challenged - 1]
            if isinstance(line, Card) and line.seat is not None and not view.game_over:
                assert view.counts[line.seat - 1] or view.owner == line.seat


@lawful
@given(games(cards=150))
def test_a_game_has_one_end(game: Game) -> None:
    adjudicator = Adjudicator()
    rulings = [ruling for line in game.observations for ruling in adjudicator.observe(line)] + adjudicator.finish()
    ends = [ruling for ruling in rulings if ruling.kind in ("won", "drawn")]
    assert len(ends) <= 1
    view = adjudicator.view
    assert view.game_over == bool(ends)
    if ends and ends[0].kind == "won":
        assert view.winner == ends[0]["seat"]
        holders = [seat for seat, count in enumerate(view.counts, start=1) if count]
        assert set(holders) <= {view.winner}
    for ruling in rulings:
        if ends and ruling.t > ends[0].t:
            assert ruling.kind == "slap_void" and ruling["reason"] in ("not_playing", "held", "locked_out"), ruling


SHARE = {"table": 4, "plain": 4, "limits": 8, "questions": 2}
"""Cheap laws are tried on this multiple of games."""


@pytest.mark.parametrize("law", LAWS)
def test_wild_games_keep_the_law(law: str) -> None:
    """Under any house rules, with everything that happens at a table: a few of the games of `make laws`."""
    games = EXAMPLES // 2 * SHARE.get(law, 1)
    broken = {seed: wrong for seed in range(games) if (wrong := LAWS[law](seed))}
    assert not broken


def test_the_laws_of_the_table_notice_what_breaks_them() -> None:
    """The laws are not empty: a seat that left and is due, a challenge of oneself, a card too many."""
    moments: list[JudgedMoment] = []

    class Keep:
        def __call__(self, moment: JudgedMoment) -> None:
            moments.append(moment)

        def replace(self, names: Iterable[str]) -> None: ...

        def undo(self, names: Iterable[str]) -> None: ...

    referee = Adjudicator(witness=Keep())
    for line in log("1000 1:7h\n2000 2:Kc\n3000 3:5d", counts=[3, 3, 3]):
        referee.observe(line)
    referee.finish()
    last = moments[-1]
    position = last.after.position
    assert position.challenge is not None
    wrong = {
        "nothing for who does not play": position.replace(absent=frozenset((3,))),
        "no player pays their own challenge": position.replace(phase=position.challenge._replace(challenged=2)),
        "cards are conserved": position.replace(counts=(3, 2, 2)),
        "who is due holds a card": position.replace(counts=(2, 2, 0)),
    }
    for law, after in wrong.items():
        laws = TableLaws()
        laws(last._replace(after=last.after.at(after)))
        assert law in {broken.law for broken in laws.broken}
    laws = TableLaws()
    laws(last)
    assert not laws.broken


def test_a_game_that_breaks_a_law_is_cut_down_to_what_breaks_it() -> None:
    """From a game with forty cards three lines remain that end in a double, written as a scenario."""
    lines = log("1000 1:7h\n2000 2:7c\n2300 slap 3 ±0.02\n" + "".join(f"{3000 + n} lift 1\n" for n in range(40)))

    def has_a_double(some: Sequence[Observation]) -> bool:
        return any(ruling.kind == "slap_won" for ruling in rulings_of(some))

    few = shrunk(lines, has_a_double)
    assert [line.id for line in few] == ["table", "c1", "c2", "s1"]
    assert as_scenario(few).splitlines()[-3:] == ["  1.0 Ana lays 7h", "  2.0 Ben lays 7c", "  2.3 Cho slaps"]


def test_many_slaps_at_one_instant_cost_no_more_each() -> None:
    """Four times as many take about four times as long, not sixteen."""

    def seconds(count: int) -> float:
        table = Table(t=0, id="table", seats=("Ana", "Ben", "Cho"))
        card = Card(t=MS, id="card", card="7h", seat=2)
        slaps = [Slap(t=1000 * MS, id=f"s{number}", seat=number % 3 + 1) for number in range(count)]
        began = time.process_time()
        rulings_of([table, card, *slaps])
        return time.process_time() - began

    # The quickest of three each: other programs run as well, and a full cache costs a little more.
    limit = 9 * min(seconds(6_000) for _ in range(3))
    assert any(seconds(24_000) < limit for _ in range(3))


@pytest.mark.parametrize("seed", [280, 394])
def test_a_bottom_card_that_people_name_may_leave_a_question(seed: int) -> None:
    """P5b with another unknown card: the verdict depends on it, so the hand is not called false (reading 10)."""
    assert not LAWS["answers"](seed, crowded=False)


def test_a_bottom_card_that_people_name_may_leave_a_dead_heat() -> None:
    """P5b, then M2: the first hand is a separate question with a separate name."""
    assert not LAWS["explained"](1463, crowded=False)


def test_a_card_that_came_from_a_pile_of_unknown_owner_is_taken_from_there_once() -> None:
    """People report a card out of turn (F7) whose player has none by the counts: it is of the pile that went unseen."""
    lines = log("1000 3:Kc\n2000 3:2h\n3000 taken\n4000 ?:Jh", counts=[3, 0, 2])
    lines.append(Foul(t=5000 * MS, id="f1", seat=2, foul="out_of_turn"))
    assert not LAWS["table"].check(lines, 0)


def test_a_line_that_comes_late_lies_before_what_had_been_reported() -> None:
    """In this game a hand comes down 9 ms behind the last card, and all else is reported before it."""
    *others, line, word = LAWS["taken"].make(20_261_128_000_872, True)
    assert line.t < others[-1].t < word.t
    assert not LAWS["taken"](20_261_128_000_872)


def test_a_ruling_is_printed_before_or_with_the_one_that_replaces_it() -> None:
    """In this game the replaced verdict waits for a slap whose pile is not picked up yet (K6, N2)."""
    assert not LAWS["order"](90_211_000_941)


def test_a_ruling_that_was_undone_is_not_replaced_again() -> None:
    """In this game a card is reported, and then named (F7, K6)."""
    assert not LAWS["order"](90_211_002_642)


def test_of_two_answers_that_take_effect_at_one_instant_the_later_line_holds() -> None:
    """In this game the second answer names an instant that has been reported already (K6)."""
    assert not LAWS["answers"](73_311_000_085)


def test_a_ruling_that_was_undone_is_explained_by_the_judging_that_made_it() -> None:
    """In this game a card out of turn is reported (F7), and an answer then judges card and report again (K6)."""
    assert not LAWS["explained"](81_905_000_091)


def test_a_heat_with_a_hand_that_slaps_and_takes_in_one_motion_is_split_at_once() -> None:
    """In this game a take and a slap are nearer than their errors, and each gets its share (M14, K3, M3)."""
    assert not LAWS["plain"](81_905_000_707)


def test_a_late_hand_that_is_taken_up_waits_for_what_may_have_come_before_it() -> None:
    """In this game a card within its error of the hand is reported after the word that takes up the hand (K1, K6)."""
    assert not LAWS["order"](71_203_000_248)


def test_a_pile_may_be_won_while_the_last_other_player_leaves() -> None:
    """In this game that leave gives the pile to the only player left, and no player is there to lose (E6, E8)."""
    assert not LAWS["undone"](97_531_002_400)
