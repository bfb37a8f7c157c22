"""A demo that is stopped or corrected: its players stand still, and go on from the referee's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from hardware.simulated.table.acts import Lay
from hardware.simulated.table.script import Script
from referee.control.commands import Command
from referee.control.facts import Accepted
from referee.control.socket import make_handler
from referee.demo.demo_table import SteppedTable
from referee.demo.score import DemoSummary, in_force
from referee.demo.simulated_game import DemoOptions, play_at, script_of, settings_for
from referee.engine.observations import Card, Pause, Resume, Slap
from referee.rules.presets import PRESETS
from referee.table.game import Conductor
from referee.table.services import GameContext, TableService
from referee.units import MS, SECOND
from tests.support.scripted_watcher import FollowingWatcher

FPS = 15.0
CARDS = 90
Said = Callable[[Conductor], dict[str, Any] | None]


class Visitor(TableService):
    """Gives commands at the table in order, each as soon as it is possible."""

    name = "visitor"
    needs_record = False

    def __init__(self, *words: Said) -> None:
        self._words = list(words)
        self._game: GameContext | None = None
        self.said: list[int] = []
        """When each command was given, ns."""

    def begin_game(self, game: GameContext) -> None:
        self._game = game

    def beat(self, now: int) -> None:
        assert self._game is not None
        game = self._game.conductor
        if not self._words or (asked := self._words[0](game)) is None:
            return
        obey = make_handler(self._game.facts, game.new_id, game.said, lambda _: "no orders here")
        done = obey(Command(asked.pop("do"), asked))
        if isinstance(done, Accepted):
            self._words.pop(0)
            self.said.append(now)

    @property
    def is_done(self) -> bool:
        return not self._words


def after_cards(count: int, **asked: Any) -> Said:
    """Give this command after a number of cards."""
    return lambda game: dict(asked) if game.cards >= count else None


def after_pause(wait: int, **asked: Any) -> Said:
    """Give this command when the game has been paused for ``wait`` ns."""

    def said(game: Conductor) -> dict[str, Any] | None:
        pause = max((line.t for line in game.observations if isinstance(line, Pause)), default=None)
        return dict(asked) if pause is not None and game.watermark > pause + wait else None

    return said


def watched(
    *words: Said, rules: str = "classic", seed: int = 6, seats: int = 4
) -> tuple[DemoSummary, Conductor, Script, Visitor]:
    """Play a game with a perfect eye and a visitor with these commands."""
    options = DemoOptions(seed=seed, seats=seats, rules=rules, pace=False, live=False, max_cards=CARDS)
    script = script_of(options)
    eye, visitor = FollowingWatcher(script, FPS, delay=250 * MS), Visitor(*words)
    settings = settings_for(script)
    settings = settings.model_copy(update={"lights": settings.lights.model_copy(update={"enabled": False})})
    table = SteppedTable(script, eye.frames(), eye, eye.show)
    summary, conductor = play_at(table, options, settings, services=[visitor])
    assert visitor.is_done, "nothing was said"
    return summary, conductor, table.script, visitor


def kinds_after(conductor: Conductor, t: int) -> Counter[str]:
    """Return the rulings after an instant, by kind."""
    return Counter(ruling.kind for ruling in in_force(conductor.rulings) if ruling.t > t)


def is_played_in_turn(conductor: Conductor, t: int) -> bool:
    """Whether hardly a card was laid out of turn once people had heard the notice: they err, but seldom."""
    t += SECOND
    laid = sum(isinstance(line, Card) and line.t > t for line in conductor.observations)
    assert laid > 10, "the game does not go on"
    return kinds_after(conductor, t)["dead_card"] <= max(1, laid // 30)


def gaps(script: Script) -> list[int]:
    """Return the times between cards, ns."""
    laid = [act.t for act in script.acts if isinstance(act, Lay)]
    return [b - a for a, b in pairwise(laid)]


@pytest.mark.parametrize("cards", [3, 17, 40])
def test_the_players_stop_at_pause_and_go_on_at_resume(cards: int) -> None:
    summary, conductor, script, visitor = watched(after_cards(cards, do="pause"), after_pause(60 * SECOND, do="resume"))
    paused, resumed = visitor.said
    assert resumed - paused > 60 * SECOND
    within = [
        line for line in conductor.observations
        if isinstance(line, Card | Slap) and paused + SECOND < line.t < resumed
    ]  # fmt: skip
    assert within == [], "a player moved while the game was paused"
    assert max(gaps(script)) > 60 * SECOND and sorted(gaps(script))[-2] < 8 * SECOND
    assert summary.cards.right == summary.cards.laid == script.laid > cards + 20
    assert is_played_in_turn(conductor, resumed)
    assert summary.interrupted_s == pytest.approx(paused / SECOND, abs=0.1)


def test_a_game_that_nobody_stops_is_the_seeds_own() -> None:
    summary, _, script, _ = watched()
    assert script == script_of(DemoOptions(seed=6, max_cards=CARDS))
    assert summary.interrupted_s is None and summary.rulings.equal > 50


def last_card(game: Conductor) -> str:
    """Return the id of the top card."""
    return next(line.id for line in reversed(game.observations) if isinstance(line, Card))


def corrected_to(card: str, after: int) -> Said:
    """Correct the top card to another one."""
    return lambda game: {"do": "correct", "line": last_card(game), "card": card} if game.cards >= after else None


@pytest.mark.parametrize("seed", [6, 7, 8])
def test_a_corrected_card_makes_a_challenge_and_the_players_meet_it(seed: int) -> None:
    _, conductor, script, visitor = watched(corrected_to("Ks", 20), seed=seed)
    assert is_played_in_turn(conductor, visitor.said[0])
    assert script.interrupted is not None


def overruled(game: Conductor) -> dict[str, Any] | None:
    """Overrule the first slap that won as false."""
    won = next((ruling for ruling in in_force(game.rulings) if ruling.kind == "slap_won"), None)
    return None if won is None else {"do": "overrule", "ruling": won.id, "verdict": "slap_false"}


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 6, 9])
def test_after_an_overruled_slap_the_players_hold_what_the_referee_says(seed: int) -> None:
    _, conductor, script, visitor = watched(overruled, seed=seed)
    assert is_played_in_turn(conductor, visitor.said[0])
    held = [len(stack) for stack in script.stacks]
    view = conductor.view
    assert sum(held) + len(script.pile) == 52
    assert (list(view.counts), len(view.pile)) == (held, len(script.pile))


@pytest.mark.parametrize("seed", [2, 6])
def test_what_is_said_and_taken_back_leaves_a_game_that_goes_on(seed: int) -> None:
    undo: Said = lambda _game: {"do": "undo"}  # noqa: E731
    _, conductor, _, visitor = watched(corrected_to("As", 25), undo, after_cards(45, do="pause"), undo, seed=seed)
    assert is_played_in_turn(conductor, visitor.said[1])
    assert sum(isinstance(line, Pause) for line in conductor.observations) >= 1
    assert len(visitor.said) == 4 and not conductor.paused
    assert sum(isinstance(line, Resume) for line in conductor.observations) <= 1


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_every_preset_is_played_on_after_a_word(rules: str) -> None:
    _, conductor, script, visitor = watched(corrected_to("9s", 15), rules=rules, seed=4)
    laid = sum(isinstance(line, Card) and line.t > visitor.said[0] for line in conductor.observations)
    assert laid > 10 or conductor.view.game_over
    assert conductor.troubles == {}
    assert script.laid > 20


def test_a_pause_before_the_first_card_keeps_it_from_being_laid() -> None:
    _, conductor, script, visitor = watched(after_cards(0, do="pause"), after_pause(20 * SECOND, do="resume"))
    first = min(act.t for act in script.acts if isinstance(act, Lay))
    assert first > visitor.said[1] and is_played_in_turn(conductor, visitor.said[1])


class Leaver(TableService):
    """Leaves the table after a number of cards."""

    name = "leaver"
    needs_record = False

    def __init__(self, cards: int) -> None:
        self._cards = cards

    def begin_game(self, game: GameContext) -> None:
        self._game = game.conductor

    @property
    def leaves(self) -> bool:
        return self._game.cards >= self._cards


@pytest.mark.parametrize("paused", [False, True])
def test_of_a_game_that_is_left_only_what_was_played_is_scored(paused: bool) -> None:
    options = DemoOptions(seed=6, pace=False, live=False, max_cards=CARDS)
    script = script_of(options)
    eye = FollowingWatcher(script, FPS, delay=250 * MS)
    table = SteppedTable(script, eye.frames(), eye, eye.show)
    words = [after_cards(10, do="pause")] if paused else []
    settings = settings_for(script)
    settings = settings.model_copy(update={"lights": settings.lights.model_copy(update={"enabled": False})})
    leaver = Leaver(12 if paused else 30)
    summary, conductor = play_at(table, options, settings, services=[Visitor(*words), leaver])
    assert summary.cards.right == summary.cards.laid == conductor.cards
    assert summary.cards.missed == summary.cards.ghosts == 0
    assert summary.played_s < 40 and summary.interrupted_s is not None
    assert summary.missed_targets() == []
