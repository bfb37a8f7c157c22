"""The consequences of a gap in the camera's sight: pure, without a camera."""

from __future__ import annotations

import os
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.announce.sinks import Notice
from referee.engine.adjudicator import Adjudicator
from referee.engine.fold import open_table
from referee.engine.gap import (
    GAP_BETWEEN_CARDS,
    SAME_CARD_WINDOW,
    FirstLook,
    PauseHands,
    ask_once,
    judge_gap,
    reconcile_pile,
)
from referee.engine.log import encode_observation
from referee.engine.observations import (
    MAX_ERROR,
    Card,
    Count,
    Foul,
    Gap,
    Observation,
    Pause,
    Resume,
    Slap,
    Table,
    Taken,
)
from referee.engine.position_changes import CHANGES
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling
from referee.engine.state import State
from referee.record.journal import FileJournal, LogWriter
from referee.rules.card_play import DRAWN_AT_ONCE_NS
from referee.rules.phase import Claim, DeadHeat, Over, Phase, Turn
from referee.rules.position import Drift, Laid, Position
from referee.rules.step import Step
from referee.table.pause import GamePause, LogNote, Steps
from referee.vision.sight import Looker, Sight
from referee.vision.videos import new_watcher, seat_bearings

WEIGHTS = Path(__file__).parents[2] / "models" / "weights"
MS = 1_000_000
SECOND = 1000 * MS
SIGHTED = 1000 * SECOND
"""An instant up to which everything is judged."""


@pytest.mark.parametrize(
    ("believed", "lying", "verdict", "came"),
    [
        ((), (), "same", ""),
        (("7h", "7c"), ("7c",), "same", ""),
        (("7h", "7c"), ("7h", "7c"), "same", ""),
        (("7h", "??"), ("Kd",), "same", ""),
        (("7h", "7c"), (), "gone", ""),
        (("7h", "7c"), ("7c", "Kd"), "more", "Kd"),
        (("7h", "7c"), ("Kd",), "more", "Kd"),
        (("7h", "7c"), ("2c", "Kd"), "more", "Kd"),
        (("7h", "7c"), ("7h",), "more", "??"),
        (("7h", "7c"), ("??",), "more", "??"),
        ((), ("Kd",), "more", "Kd"),
    ],
)
def test_what_became_of_the_pile(believed: tuple[str, ...], lying: tuple[str, ...], verdict: str, came: str) -> None:
    finding = reconcile_pile(believed, lying)
    assert (finding.verdict, finding.came, finding.asks) == (verdict, came, verdict != "same")


@pytest.mark.parametrize(
    ("lying", "verdict"),
    [
        (("??",), "same"),
        (("7c", "??"), "same"),
        (("9c",), "more"),
        (("??", "9c"), "more"),
        (("7h",), "more"),
        ((), "gone"),
    ],
)  # fmt: skip
def test_people_vouch_for_a_card_that_cannot_be_read_and_for_no_other(lying: tuple[str, ...], verdict: str) -> None:
    assert reconcile_pile(("7h", "7c"), lying, vouched=True).verdict == verdict


def test_what_came_is_put_behind_the_gap_between_pause_and_resume() -> None:
    finding = reconcile_pile(("7h",), ("2c", "7c"))
    with pytest.raises(ValueError, match=rf"the gap must be {finding.span} ns long, not {finding.span - 1}"):
        finding.observations(5 * SECOND, 5 * SECOND + finding.span - 1, 0)
    gap, card = finding.observations(5 * SECOND, 6 * SECOND, 6 * SECOND - 5)
    assert isinstance(gap, Gap) and isinstance(card, Card)
    assert (gap.t, gap.until, gap.lying) == (5 * SECOND + 1, 6 * SECOND - 5, ("7c",))
    assert (card.card, card.seat, dict(card.extra)) == ("7c", None, {"gap": True})
    assert (card.t - card.t_error, card.t + card.t_error) == (5 * SECOND + 1, 6 * SECOND - 1)
    assert GAP_BETWEEN_CARDS == DRAWN_AT_ONCE_NS + 1 <= card.t - gap.t + 1, "no second card drawn at once (F9)"
    gap, taken = reconcile_pile(("7h",), ()).observations(5 * SECOND, 9 * SECOND, 8 * SECOND)
    assert isinstance(gap, Gap) and isinstance(taken, Taken)
    assert (gap.lying, taken.seat, taken.t_error, dict(taken.extra)) == ((), None, MAX_ERROR, {"gap": True})
    gap, _ = reconcile_pile(("7h",), ()).observations(5 * SECOND, 9 * SECOND, 5 * SECOND)
    assert isinstance(gap, Gap) and gap.until == gap.t + 1, "the table was seen at the gap's first instant again"


def test_hands_in_the_gap_of_an_empty_table_say_that_a_whole_pile_passed() -> None:
    assert reconcile_pile((), (), slapped=True).verdict == "gone"
    assert reconcile_pile(("7h",), ("7h",), slapped=True).verdict == "same"
    gap, taken = reconcile_pile((), (), slapped=True).observations(5 * SECOND, 9 * SECOND, 8 * SECOND, 3 * SECOND)
    assert isinstance(gap, Gap) and isinstance(taken, Taken)
    assert (gap.since, gap.lying) == (3 * SECOND, ())


def test_of_what_nobody_can_read_only_the_gap_is_told_and_of_the_same_pile_nothing() -> None:
    (gap,) = reconcile_pile(("7h",), ("??",)).observations(5 * SECOND, 9 * SECOND, 8 * SECOND)
    assert isinstance(gap, Gap) and gap.lying == ("??",)
    assert reconcile_pile(("7h",), ("7h",)).observations(5 * SECOND, 9 * SECOND, 8 * SECOND) == []


def test_a_card_that_nobody_could_read_may_be_read_now_and_no_more_than_one() -> None:
    assert reconcile_pile(("7h", "??"), ("7h", "Kd")).verdict == "same"
    assert reconcile_pile(("7h", "??"), ("Kd", "2c")).verdict == "more"
    assert reconcile_pile(("??", "7h"), ("Kd",)).verdict == "more", "it was not the top one"
    assert reconcile_pile(("7h", "??"), ("??",)).verdict == "more"


def test_a_first_look_is_patient_to_the_nanosecond_and_waits_for_the_promise() -> None:
    look = FirstLook(patience=SECOND)
    assert not look.add(SECOND, [], SECOND, hidden=True)
    assert not look.add(2 * SECOND, [], SECOND, hidden=True)
    assert look.add(2 * SECOND + 1, [], SECOND, hidden=True)
    other = FirstLook()
    assert not other.add(SECOND, [], SECOND - 1, hidden=False)
    assert other.add(SECOND, [], SECOND, hidden=False)
    assert FirstLook().patience == 5 * SECOND


def test_what_a_first_look_takes_for_lying_there_are_cards_of_the_pile_alone() -> None:
    look = FirstLook()
    at_seat, taken = Card(t=SECOND, card="7h", zone="seat"), Taken(t=SECOND)
    look.add(SECOND, [at_seat, taken, Card(t=SECOND, card="7c"), Card(t=SECOND + 1, card="7d")], SECOND, hidden=False)
    assert look.lying == ["7c"]
    assert look.later == [at_seat, taken, Card(t=SECOND + 1, card="7d")]


def test_cards_that_lie_there_at_the_first_frame_are_nobodys_double_draw() -> None:
    """The watcher takes them for cards that came together; cards after the first frame are judged as usual."""
    look = FirstLook()
    at_once, hover = Foul(t=SECOND + 1, seat=1, foul="double_draw"), Foul(t=SECOND + 1, seat=1, foul="hover")
    look.add(SECOND, [Card(t=SECOND, card="7c"), Card(t=SECOND, card="9c"), at_once, hover], SECOND - 1, hidden=False)
    assert (look.lying, look.later) == (["7c", "9c"], [hover])
    two = [Card(t=2 * SECOND, card="Kd", seat=2), Card(t=2 * SECOND, card="Kc", seat=2)]
    later = replace(at_once, t=2 * SECOND + 1, seat=2)
    look.add(2 * SECOND, [*two, later], SECOND, hidden=False)
    assert look.later == [hover, *two, later]


def press(t: int, seat: int, error: int = 1) -> Slap:
    return Slap(t=t, id=f"s{t}-{seat}", seat=seat, t_error=error)


def test_hands_of_a_pause_are_told_by_card_and_the_first_is_named() -> None:
    hands = PauseHands(since=100)
    for slap in (press(99, 1), press(500, 2, 3), press(100, 1, 2), press(100 + SAME_CARD_WINDOW, 3)):
        hands.add(slap)
    hands.add(press(101 + SAME_CARD_WINDOW, 4))
    hands.add(press(200, 1))
    assert hands.told(99 + SAME_CARD_WINDOW) == [], "further hands may still be reported"
    (first,) = hands.told(100 + SAME_CARD_WINDOW)
    assert [(slap.seat, slap.t) for slap in first.slaps] == [(1, 100), (2, 500), (3, 100 + SAME_CARD_WINDOW)]
    assert (first.t, first.margin, first.error, first.sure) == (100, 400, 5, True)
    assert first.words == "first hand: seat 1, by less than 1 ms, not judged"
    (later,) = hands.told(101 + 2 * SAME_CARD_WINDOW)
    assert (later.t, later.margin, later.error, later.sure) == (101 + SAME_CARD_WINDOW, None, 0, True)
    assert later.words == "first hand: seat 4, not judged"
    assert hands.told(10 * SECOND) == []


def test_hands_no_further_apart_than_their_errors_are_told_as_one() -> None:
    near = PauseHands(since=0)
    near.add(press(3, 2, 1))
    near.add(press(0, 1, 2))
    (at_once,) = near.told(SECOND)
    assert not at_once.sure
    assert at_once.words == "seats 1 and 2 at once, not judged"
    apart = PauseHands(since=0)
    apart.add(press(5 * MS // 2 + 4, 2, 1))
    apart.add(press(0, 1, 2))
    apart.add(press(5 * MS, 3, 5 * MS))
    (told,) = apart.told(SECOND)
    assert told.sure and told.error == 3
    assert told.words == "first hand: seat 1, by 3 ms, not judged"


def test_of_hands_at_one_instant_the_lower_seat_is_named_first() -> None:
    hands = PauseHands(since=0)
    hands.add(press(7, 3))
    hands.add(press(7, 2))
    assert [slap.seat for slap in hands.told(SECOND)[0].slaps] == [2, 3]


def judged(*lines: Observation) -> list[tuple[str, object]]:
    """Return the rulings that rest on the slap ``s``."""
    table = Table(t=0, id="t", seats=("Ana", "Ben", "Cho"), dealer=3)
    log = "\n".join(encode_observation(line) for line in (table, *lines))
    made = replay_log(BytesIO(log.encode()))
    return [(ruling.kind, ruling.get("ask") or ruling.get("reason")) for ruling in made if "s" in ruling.because]


@pytest.mark.parametrize("top", ["7c", "8c"])
def test_no_verdict_rests_on_what_nobody_saw(top: str) -> None:
    before = Card(t=1 * SECOND, id="c1", card="7h", seat=1)
    found = reconcile_pile(("7h",), (top,)).observations(2 * SECOND, 5 * SECOND, 5 * SECOND)
    came = [replace(card, id=f"g{n}") for n, card in enumerate(found)]
    slap = Slap(t=6 * SECOND, id="s", seat=3, t_error=20_000)
    kinds = judged(before, Pause(t=2 * SECOND, id="p"), *came, Resume(t=5 * SECOND, id="r"), slap)
    assert kinds
    assert {kind for kind, _ in kinds} == {"question"}


def test_a_first_look_waits_until_all_that_lies_there_was_told() -> None:
    look = FirstLook()
    assert not look.add(SECOND, [Card(t=SECOND, card="7h")], SECOND - 1, hidden=False)
    assert not look.add(2 * SECOND, [Card(t=SECOND, card="7c")], SECOND, hidden=True)
    assert look.add(3 * SECOND, [Card(t=2 * SECOND, card="Kd")], 2 * SECOND, hidden=False)
    assert look.lying == ["7h", "7c"]
    assert [line.t for line in look.later] == [2 * SECOND]


def test_once_the_top_card_is_seen_a_hand_hides_nothing_that_matters() -> None:
    look = FirstLook()
    assert not look.add(SECOND, [Card(t=SECOND, card="7h")], SECOND, hidden=True, top="7c")
    assert look.add(2 * SECOND, [Card(t=SECOND, card="7c")], SECOND, hidden=True, top="7c")


def test_a_hand_that_never_leaves_is_waited_for_no_longer_than_patience() -> None:
    look = FirstLook(patience=SECOND)
    assert not look.add(SECOND, [], SECOND, hidden=True)
    assert look.add(2 * SECOND + 1, [], SECOND, hidden=True)


def lines_of(steps: Steps | None) -> list[Observation]:
    """Return lines for the log."""
    assert steps is not None
    return [step for step in steps if isinstance(step, Observation)]


def verdict_of(steps: Steps | None) -> str:
    """Return the state in which the pile was found."""
    assert steps is not None
    (note,) = (step for step in steps if isinstance(step, LogNote))
    return str(note.extra["verdict"])


def test_the_dark_is_waited_for_as_long_as_it_takes() -> None:
    pause = GamePause()
    assert [(line.kind, line.t) for line in lines_of(pause.lose_camera("gone", SECOND - 1))] == [("pause", SECOND)]
    dark = Sight(2 * SECOND, MS, (), 2 * SECOND, trouble="dark", state="dark")
    assert lines_of(pause.heed_view(dark, 2 * SECOND)) == [], "it is paused already"
    for n in range(100):
        sight = Sight(3 * SECOND + n * SECOND, MS, (), 3 * SECOND, state="dark", first=n == 0)
        assert pause.look_again(sight, ("7h",), SECOND, SIGHTED) is None
    assert pause.holds and pause.is_lost and pause.is_looking
    back = pause.look_again(Sight(104 * SECOND, MS, (), 104 * SECOND), ("7h",), SECOND, SIGHTED)
    assert verdict_of(back)
    assert lines_of(back)[-1].kind == "resume"
    assert not pause.holds


def test_a_pile_is_held_against_what_is_judged_up_to_the_gaps_end() -> None:
    pause = GamePause()
    pause.lose_camera("gone", SECOND - 1)
    sight = Sight(3 * SECOND, MS, (Card(t=3 * SECOND, card="7c"),), 3 * SECOND, first=True)
    assert pause.look_again(sight, (), SECOND, 2 * SECOND) is None, "a card of just before may still wait"
    back = pause.look_again(Sight(4 * SECOND, MS, (), 4 * SECOND), ("7c",), SECOND, 3 * SECOND - 1)
    assert verdict_of(back) == "same"


@pytest.mark.parametrize("packs", [1, 2])
def test_a_card_that_a_hand_bares_in_a_pile_that_was_found_again_is_no_news(packs: int) -> None:
    pause = GamePause()
    pause.packs = packs
    pause.lose_camera("gone", SECOND - 1)
    first = Sight(5 * SECOND, MS, (Card(t=5 * SECOND, card="7c"),), 6 * SECOND, first=True)
    assert verdict_of(pause.look_again(first, ("9d", "7c"), SECOND, 6 * SECOND)) == "same"
    bared = Card(t=7 * SECOND, card="9d")
    unread, laid = Card(t=7 * SECOND, card="??"), Card(t=8 * SECOND, card="9d", seat=2)
    taken, new = Taken(t=9 * SECOND, seat=1), Card(t=10 * SECOND, card="9d")
    news = pause.news_of((bared, unread, laid, taken, new))
    assert news == [*([bared] if packs == 2 else []), unread, laid, taken, new]


def test_a_take_right_after_a_gap_stays_behind_the_card_that_lay_there() -> None:
    pause = GamePause()
    pause.lose_camera("gone", SECOND - 1)
    first = Sight(5 * SECOND, MS, (Card(t=5 * SECOND, card="9d"),), 6 * SECOND, first=True)
    *_, lying, resume = lines_of(pause.look_again(first, ("7c",), 5 * SECOND - 1, 6 * SECOND))
    taken = Taken(t=5 * SECOND + 50 * MS, t_error=60 * MS, seat=2)
    led = Card(t=5 * SECOND + 90 * MS, seat=2, card="Kd")
    assert taken.t < led.t < lying.t < resume.t
    moved, after, last = pause.news_of((taken, led, replace(led, t=9 * SECOND)))
    assert (moved.t, after.t, last.t) == (resume.t, resume.t + 1, 9 * SECOND)
    assert isinstance(moved, Taken) and moved.t - moved.t_error == taken.t - taken.t_error


def test_the_game_goes_on_with_the_first_frame_back_though_the_look_took_longer() -> None:
    """Later observations keep their own instants, and later hands are judged, and not named."""
    pause = GamePause()
    pause.lose_camera("gone", SECOND - 1)
    camera_watermark, since = 4 * SECOND, 5 * SECOND
    later = Card(t=since + 400 * MS, t_error=45 * MS, card="Kd", seat=2)
    first = Sight(since, MS, (Card(t=since, card="7h"),), since - 1, first=True, state="hand")
    assert pause.look_again(first, (), camera_watermark, SIGHTED) is None
    assert pause.hands is not None
    pause.hands.add(hand(2, 4 * SECOND))
    pause.hands.add(hand(3, since + 500 * MS))
    told = [step for step in pause.name_hands(7 * SECOND) if isinstance(step, LogNote)]
    assert [note.extra["seat"] for note in told] == [2]
    back = pause.look_again(Sight(7 * SECOND, MS, (later,), 7 * SECOND), (), camera_watermark, SIGHTED)
    gap, card, resume, after = lines_of(back)
    assert isinstance(gap, Gap) and (gap.since, gap.lying) == (SECOND, ("7h",))
    assert isinstance(card, Card) and card.extra == {"gap": True}
    assert camera_watermark < gap.t < card.t < resume.t == since
    assert after == later
    assert pause.name_hands(9 * SECOND) == []


def test_a_hand_is_named_once_however_often_the_camera_fails_to_come_back() -> None:
    pause, fell = GamePause(), hand(2, 2 * SECOND)
    pause.lose_camera("gone", SECOND - 1)
    assert pause.hands is not None
    pause.hands.add(fell)
    named = [step for step in pause.name_hands(3 * SECOND) if isinstance(step, Notice)]
    for _ in range(3):
        pause.lose_camera("still gone", SECOND - 1, [fell])
        named += [step for step in pause.name_hands(4 * SECOND) if isinstance(step, Notice)]
    assert [notice.what for notice in named] == ["first_hand"]


def test_a_pause_in_which_nothing_changed_ends_with_the_first_frame_back() -> None:
    pause = GamePause()
    pause.lose_camera("gone", SECOND - 1)
    first = Sight(5 * SECOND, MS, (), 5 * SECOND - 1, first=True, state="hand")
    assert pause.look_again(first, (), 5 * SECOND - 1, SIGHTED) is None
    there = Sight(7 * SECOND, MS, (Card(t=5 * SECOND, card="7h"),), 7 * SECOND)
    back = lines_of(pause.look_again(there, ("7h",), 5 * SECOND - 1, SIGHTED))
    assert [(line.kind, line.t) for line in back] == [("resume", 5 * SECOND)]


@pytest.mark.parametrize(("lost", "kinds"), [(SECOND, ["gap", "resume"]), (4 * SECOND + 2, ["resume"])])
def test_an_empty_table_on_both_sides_of_a_long_pause_proves_nothing(lost: int, kinds: list[str]) -> None:
    pause = GamePause()
    pause.lose_camera("gone", lost - 1)
    back = lines_of(pause.look_again(Sight(5 * SECOND, MS, (), 5 * SECOND, first=True), (), 5 * SECOND - 1, SIGHTED))
    assert [line.kind for line in back] == kinds
    assert all(line.lying == () and line.since == lost for line in back if isinstance(line, Gap))


def test_after_an_empty_table_no_count_is_known_until_it_is_counted() -> None:
    referee = Adjudicator(stream=False)
    referee.observe(Table(t=0, id="t", seats=("Ana", "Ben"), dealer=2))
    referee.observe(Gap(t=SECOND, id="g", until=3 * SECOND, lying=()))
    referee.observe(Count(t=4 * SECOND, id="n", seat=1, cards=20))
    referee.finish()
    assert referee.view.counts == (20, None)


@pytest.mark.parametrize(("counted", "drifts"), [((), True), ((1,), True), ((1, 2), False)])
def test_once_every_stack_is_counted_an_unseen_pile_leaves_nothing_in_doubt(
    counted: tuple[int, ...], drifts: bool
) -> None:
    drift = Drift("g", 2 * SECOND, 3 * SECOND, asked=False, leaves="counts")
    table = Table(t=0, id="t", seats=("Ana", "Ben"), dealer=2)
    position = open_table(table)[0].position.replace(drift=drift, unsure=frozenset((1, 2)))
    step = Step(position, 5 * SECOND, "n")
    for seat in counted:
        CHANGES[Count](step, Count(t=5 * SECOND, id="n", seat=seat, cards=26))
    assert (step.position.drift is not None) is drifts


def believed(phase: Phase, rules: object = "classic", **more: object) -> Position:
    """Return the table before a gap: two sevens lie there, the second of them Ben's."""
    opened = open_table(Table(t=0, id="t", seats=("Ana", "Ben", "Cho"), dealer=3, rules=rules))[0].position
    pile = (Laid("7h", "c1", SECOND, 1, "played"), Laid("7c", "c2", 2 * SECOND, 2, "played"))
    return opened.replace(phase=phase, pile=pile, laid=2, latest="c2", **more)


def after_gap(position: Position, lying: tuple[str, ...], said: object = None, lasted: int = 4 * SECOND) -> Step:
    step = Step(position, 4 * SECOND, "g")
    judge_gap(step, Gap(t=4 * SECOND, id="g", until=4 * SECOND + lasted, lying=lying), {"question@g": said})
    return step


def test_cards_that_people_name_came_one_by_one_in_the_first_half_of_the_gap() -> None:
    after = after_gap(believed(Turn(3)), ("9s",), "2d 4d 6d").position
    assert [(laid.card, laid.t, laid.seat) for laid in after.pile[2:]] == [
        ("2d", 4 * SECOND + SECOND // 2, 3), ("4d", 5 * SECOND, 1), ("6d", 5 * SECOND + SECOND // 2, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("phase", "in_limbo", "cards", "kinds"),
    [
        (Turn(3), 0, ["7h", "7c", "??"], ["question"]),
        (Claim(3, "slap", "s1", 3), 0, ["??"], ["question", "pile", "lead"]),
        (DeadHeat((1, 3)), 2, ["??"], ["question"]),
    ],
)
def test_any_number_of_cards_may_have_come_in_a_gap(
    phase: Phase, in_limbo: int, cards: list[str], kinds: list[str]
) -> None:
    """A pile that a hand has won, or may have won, was taken before them."""
    before = believed(phase, paid=2, said="7", calling="9", known=(("2h",), (), ()))
    step = after_gap(before, ("9s",))
    after = step.position
    assert ([laid.card for laid in after.pile], after.in_limbo) == (cards, in_limbo)
    assert [draft.kind for draft in step.drafts] == kinds
    assert (after.phase, after.paid, after.said, after.calling) == (Turn(None), 0, "", "")
    assert (set(after.unread), set(after.gaps), set(after.unsure)) == ({"g"}, {"g"}, {1, 2, 3})
    assert not any(after.known)
    assert after.drift == Drift("g", 4 * SECOND, 8 * SECOND, asked=True)
    assert after.pile[-1].seat == (phase.turn or 1)


def test_a_gap_after_the_end_says_nothing_and_a_pile_of_a_gap_may_be_the_last() -> None:
    for position in (believed(Over(1)), believed(Turn(3), closed=True)):
        assert after_gap(position, ("9s",)).drafts == []
    last = {"base": "classic", "on": ["E7"], "set": {"E7": {"piles": 1}}}
    for phase in (DeadHeat((1, 3)), Claim(3, "slap", "s1", 3)):
        after = after_gap(believed(phase, rules=last), ("9s",)).position
        assert (after.over, after.pile) == (True, ())


@pytest.mark.parametrize(
    ("claim", "said", "row", "counts"),
    [
        (Claim(3, "slap", "s1", 3), 3, "C8", (0, 0, 2)),
        (Claim(3, "slap", "s1", 3), 1, "K6", (2, 0, 0)),
        (Claim(3, "challenge", "c2", 3, (3, 1)), 1, "M3", (1, 0, 1)),
        (Claim(3, "unread", "c2", 3), 3, "K6", (0, 0, 2)),
    ],
)
def test_a_pile_that_people_say_was_taken_in_a_gap_goes_to_its_winner_or_to_another(
    claim: Claim, said: int, row: str, counts: tuple[int, ...]
) -> None:
    step = after_gap(believed(claim, counts=(0, 0, 0)), (), said)
    assert next(draft.rule[0] for draft in step.drafts if draft.kind == "pile") == row
    assert step.position.counts == counts
    assert set(step.position.unsure) >= {seat for seat, held in enumerate(counts, start=1) if held}


@pytest.mark.parametrize(("lying", "lasted", "asked"), [((), 2, False), ((), 3, True), (("9s",), 2, True)])
def test_a_pile_that_a_slap_has_won_may_be_taken_in_two_seconds(
    lying: tuple[str, ...], lasted: int, asked: bool
) -> None:
    step = after_gap(believed(Claim(3, "slap", "s1", 3)), lying, lasted=lasted * SECOND)
    assert any(draft.kind == "question" for draft in step.drafts) is asked


COVERED = {"who_played": "F7", "mend_pile": "K6", "impossible_card": "K2", "order_changed": "K7", "recount": "K2"}


@pytest.mark.parametrize("ask", sorted(COVERED))
def test_a_question_that_a_gap_may_answer_is_asked_as_the_gaps_own_and_once(ask: str) -> None:
    drift = Drift("g", 4 * SECOND, 8 * SECOND, asked=False)
    state = State(believed(Turn(3), drift=drift))
    card = Card(t=9 * SECOND, id="c9", card="9s", seat=1)
    turn = Ruling("turn", "turn@c9", card.t, ("c9",), ("S5",), {"seat": 2})
    question = Ruling("question", "question@c9", card.t, ("c9",), (COVERED[ask],), {"ask": ask, "about": ["c9"]})
    after, rulings = ask_once(state, [turn, question], card, drift)
    (own,) = [ruling for ruling in rulings if ruling.kind == "question"]
    assert (own.id, own["ask"], own["about"], own["lasted"]) == ("question@g", "unseen_gap", ["g"], 4 * SECOND)
    assert rulings[0] is turn and after.position.drift is not None and after.position.drift.asked
    assert ask_once(after, [turn, question], card, after.position.drift) == (after, [turn])
    other = replace(question, rule=("E8",))
    assert ask_once(state, [turn, other], card, drift) == (state, [turn, other]), "the gap answers no such question"


def hand(seat: int, t: int) -> Slap:
    return Slap(t=t, id=f"s{seat}", seat=seat, t_error=2 * MS)


def test_the_first_hand_of_a_pause_is_named_with_its_margin() -> None:
    hands = PauseHands(SECOND)
    for slap in (
        hand(3, 2 * SECOND + 14 * MS),
        hand(2, 2 * SECOND),
        hand(1, SECOND - 1),
        hand(2, 2 * SECOND + 90 * MS),
    ):
        hands.add(slap)
    assert hands.told(2 * SECOND + SAME_CARD_WINDOW - 1) == []
    (first,) = hands.told(2 * SECOND + SAME_CARD_WINDOW)
    assert ([slap.seat for slap in first.slaps], first.margin, first.sure) == ([2, 3], 14 * MS, True)
    assert first.words == "first hand: seat 2, by 14 ms, not judged"
    assert hands.told(9 * SECOND) == []


def test_hands_nearer_than_their_errors_are_told_as_such() -> None:
    hands = PauseHands(0)
    hands.add(hand(1, SECOND))
    hands.add(hand(2, SECOND + 3 * MS))
    (first,) = hands.told(2 * SECOND)
    assert not first.sure
    assert first.words == "seats 1 and 2 at once, not judged"


def test_a_line_that_was_torn_by_a_full_disk_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = FileJournal(tmp_path / "log.jsonl")
    keeper, whole, room = LogWriter(journal), os.write, [10]

    def write(fd: int, data: bytes) -> int:
        """Write to a disk with a number of bytes left."""
        if room[0] == 0:
            raise OSError(28, "No space left on device")
        done = whole(fd, data[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr("referee.record.journal.os.write", write)
    keeper.write('{"kind":"pause","t":1}')
    keeper.write('{"kind":"resume","t":2}')
    assert "No space left" in (keeper.save() or "")
    room[0] = 10_000
    assert keeper.save() == ""
    assert keeper.save() is None
    journal.close()
    assert journal.path.read_text() == '{"kind":"pause","t":1}\n{"kind":"resume","t":2}\n'


@pytest.mark.skipif(not (WEIGHTS / "finder.ncnn").exists(), reason="the eye's weights are not here")
@pytest.mark.parametrize(("seed", "after"), [(4, 8), (9, 8)])
def test_the_real_eye_finds_the_pile_as_it_was_though_hands_go_on(seed: int, after: int) -> None:
    """A new watcher in mid-game: the cards on the table are not reported, and the next ones are."""
    script = play_game(seed=seed, seats=4, max_cards=16)
    table = SimulatedTable(script, fps=15.0, size=(960, 720))
    laid = [seen for seen in script.truth if isinstance(seen, Card)]
    taken = [seen.t for seen in script.truth if isinstance(seen, Taken) and seen.t < laid[after - 1].t]
    pile = [card.card for card in laid[:after] if card.t > max(taken, default=-1)]
    looker, pause, steps = Looker(new_watcher(seat_bearings(4))), GamePause(), None
    pause.lose_camera("gone", 0)
    told: list[Observation] = []
    first = int((laid[after - 1].t + 250 * MS) * 15 / SECOND)
    for number in range(first, min(first + 30, table.frame_count)):
        frame = table.render(table.frame_time(number))
        sight = looker.look(frame, None)
        if steps is None:
            steps = pause.look_again(sight, pile, frame.t - SECOND // 2, frame.t)
            told += lines_of(steps) if steps is not None else []
        else:
            told += sight.seen
    assert verdict_of(steps) == "same"
    assert [seen.card for seen in told if isinstance(seen, Card)][:1] == [laid[after].card]
