"""The simulated table joined to the referee: with a perfect eye here, with the real one where it takes longer."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from io import BytesIO, StringIO

import pytest

from hardware.ports import Edge
from hardware.simulated.table.script import Script
from referee.demo.demo_table import ScriptedPads
from referee.demo.score import DemoSummary, faults, in_force, on_script_time, rows, score_cards
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.observations import Card, Gap, Observation, Taken
from referee.engine.replay import replay_log
from referee.engine.rulings import encode_ruling
from referee.table.game import Conductor
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames
from tests.support.stepped_demo import play
from tests.support.text_journal import TextJournal
from tools.demo_figures import table

FPS = 15.0
FRAME = round(1e9 / FPS)


def played(
    options: DemoOptions, seen: list[Observation] | None = None, log: StringIO | None = None
) -> tuple[DemoSummary, Conductor, Script]:
    """Play without drawing, through the real pads, with a perfect eye or the given one."""
    script = script_of(options)
    eye = ScriptedWatcher(as_seen(script.truth, FRAME) if seen is None else seen, delay=250_000_000)
    journal = TextJournal(log) if log is not None else None
    summary, conductor = play(options, script, eye, frames=blank_frames(FPS, script.duration), journal=journal)
    return summary, conductor, script


@cache
def four_played() -> tuple[DemoSummary, Conductor, Script, str]:
    """Return one game of four, and its log."""
    log = StringIO()
    return *played(short(), log=log), log.getvalue()


def short(**changes: object) -> DemoOptions:
    return replace(DemoOptions(seed=6, pace=False, live=False, max_cards=120), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_with_a_perfect_eye_every_ruling_is_the_truths(seats: int) -> None:
    summary, _, script = four_played()[:3] if seats == 4 else played(short(seats=seats))
    assert summary.cards.right == summary.cards.laid == script.laid > 60
    assert summary.slaps_felt == summary.slaps > 0
    assert summary.rulings.differing == ()
    assert summary.rulings.equal > 100
    assert summary.missed_targets() == []


def test_a_line_on_the_scripts_time_has_each_of_its_instants_there() -> None:
    gap = Gap(t=50, id="g1", until=80, since=30)
    assert on_script_time(gap, 20) == Gap(t=30, id="g1", until=60, since=10)
    card = Card(t=50, id="c1", card="7h", known_at=70)
    assert on_script_time(card, 20) == Card(t=30, id="c1", card="7h", known_at=50)
    assert on_script_time(replace(card, known_at=None), 20).known_at is None


def test_the_log_gives_the_same_rulings_again() -> None:
    _, conductor, _, text = four_played()
    again = [encode_ruling(ruling) for ruling in replay_log(BytesIO(text.encode()), everything=True)]
    written = [line for line in text.splitlines() if line.startswith('{"ruling"')]
    assert sorted(again) == sorted(written)
    last = [encode_ruling(ruling) for ruling in replay_log(BytesIO(text.encode()))]
    assert sorted(last) == sorted(encode_ruling(ruling) for ruling in in_force(conductor.rulings))


def test_the_referee_is_told_nothing_of_the_players() -> None:
    _, conductor, script, _ = four_played()
    told = [(o.kind, o.t) for o in conductor.observations if isinstance(o, Card)]
    assert told != [(o.kind, o.t) for o in script.truth if isinstance(o, Card)]
    assert not any(o in conductor.observations for o in script.truth if isinstance(o, Card | Taken))


def test_a_misread_card_is_counted_and_its_rulings_differ() -> None:
    script = script_of(short())
    seen = as_seen(script.truth, FRAME)
    place = next(n for n, o in enumerate(seen) if isinstance(o, Card) and o.card[0] == "K")
    card = seen[place]
    assert isinstance(card, Card)
    seen[place] = replace(card, card="2" + card.card[1], confidence=0.95)
    summary, _, _ = played(short(), seen)
    assert (summary.cards.wrong, summary.cards.wrong_sure, summary.cards.right) == (1, 1, script.laid - 1)
    assert summary.rulings.differing
    assert len(summary.missed_targets()) >= 2
    assert any(card.card in line for line in faults(summary))


def test_an_unread_card_is_asked_about_and_the_players_answer() -> None:
    script = script_of(short())
    seen = as_seen(script.truth, FRAME)
    place = next(n for n, o in enumerate(seen) if isinstance(o, Card) and o.card[0] == "K")
    card = seen[place]
    assert isinstance(card, Card)
    seen[place] = replace(card, card="??", confidence=0.3)
    summary, conductor, _ = played(short(), seen)
    assert summary.cards.unread == 1
    assert summary.rulings.uncalled >= 1
    assert any(o.kind == "answer" for o in conductor.observations)
    assert summary.rulings.differing == ()


def test_a_lost_card_and_a_ghost_do_not_shift_the_others() -> None:
    cards = [Card(t=n * 500_000_000, card=card, seat=1) for n, card in enumerate(["2h", "3h", "4h", "5h"])]
    ghost = Card(t=1_700_000_000, card="Ks", seat=1, confidence=0.99)
    score = score_cards(cards, [cards[0], cards[2], cards[3], ghost])
    assert (score.laid, score.right, score.missed, score.ghosts, score.wrong) == (4, 3, 1, 1, 0)
    assert score.wrong_sure == 1


def test_figures_of_many_games_are_one_table() -> None:
    summary = four_played()[0]
    fields = json.loads(json.dumps(summary.as_fields()))
    lines = list(table([fields, fields]))
    assert lines[2].count("|") == lines[0].count("|")
    assert "2 games, 240 cards: 100.00% read right" in lines[-1]
    assert len(list(rows(summary))) > 8


def test_hands_come_down_at_their_instants_however_late_the_machine_asks() -> None:
    script, edges = script_of(short()), list[Edge]()
    pads = ScriptedPads(script, 5_000_000_000)
    pads.start(edges.append)
    assert not pads.due, "the players wait"
    pads.began = 6_000_000_000
    first = script.contacts[0]
    due = 6_000_000_000 + first.t
    assert pads.due == due
    assert pads.watermark(due - 1) < due
    assert edges == []
    late = due + 300_000_000
    assert pads.watermark(late) <= late
    assert (edges[0].seat, edges[0].t, edges[0].pressed) == (first.seat, 6_000_000_000 + first.t, True)
    assert [edge.t for edge in edges if edge.pressed] == [
        6_000_000_000 + contact.t
        for contact in script.contacts
        if contact.pressed and contact.t <= first.t + 300_000_000
    ]
    pads.close()
