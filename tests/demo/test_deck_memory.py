"""A simulated game whose eye is unsure or wrong: deck memory helps, contradicts, and is corrected by people.

The readings are made up (`Doubting`), all else is real: the conductor hands over deck memory's predictions before each
frame, `models.watch.prior` weighs them, the core rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import BytesIO, StringIO
from typing import Any

from hardware.simulated.table.script import Script
from models.eye.classes import SURE_READING
from models.watch.prior import Candidates, Prior, judge
from referee.demo.score import DemoSummary
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Observation
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling, encode_ruling
from referee.table.game import Conductor
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames
from tests.support.stepped_demo import play
from tests.support.text_journal import TextJournal

FPS = 15.0
FRAME = round(1e9 / FPS)
OPTIONS = DemoOptions(seed=6, pace=False, live=False, max_cards=260)
OTHER = {"s": "c", "c": "s", "h": "d", "d": "h"}

Eye = Callable[[Card], tuple[str, float, Candidates]]
"""An eye's reading of a card: its belief, its confidence, and each look's candidates."""


def twin(card: str) -> str:
    """Return the card that it is most easily mistaken for: of the same rank and colour."""
    return card[0] + OTHER[card[1]]


def unsure(card: Card) -> tuple[str, float, Candidates]:
    """Read without certainty, and rather wrong than right."""
    return twin(card.card), 0.55, ((twin(card.card), 0.55), (card.card, 0.43))


class Doubting(ScriptedWatcher):
    """A watcher with a scripted eye that uses deck memory."""

    def __init__(self, script: list[Observation], eye: Eye, memory: bool = True) -> None:
        super().__init__(script, delay=250_000_000)
        self._eye, self._memory = eye, memory
        self._foresight: Foresight | None = None
        self.known = 0
        """Number of cards of which memory was certain."""
        self.mistaken = 0
        """Number of cards that it wrongly excluded."""

    def recall(self, foresight: Foresight | None) -> None:
        self._foresight = foresight if self._memory else None

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        return [self._read(seen) if isinstance(seen, Card) else seen for seen in super().feed(image, t, t_error)]

    def _read(self, card: Card) -> Card:
        prior = None
        if self._foresight is not None:
            prior = Prior.of(self._foresight, card.seat)
            self.known += self._foresight.expected(card.seat) is not None
            self.mistaken += not prior.allows(card.card)
        name, sure, look = self._eye(card)
        told = judge(name, sure, [look, look], prior)
        face = told.card if told.confidence >= SURE_READING else "??"
        if self._foresight is not None:
            self._foresight = self._foresight.after(card.seat, face)
        return replace(card, card=face, confidence=told.confidence, candidates=told.candidates)


def played(eye: Eye, memory: bool = True) -> tuple[DemoSummary, Conductor, Script, Doubting, str]:
    script = script_of(OPTIONS)
    watcher = Doubting(as_seen(script.truth, FRAME), eye, memory)
    log = StringIO()
    summary, conductor = play(
        OPTIONS, script, watcher, frames=blank_frames(FPS, script.duration), journal=TextJournal(log)
    )
    return summary, conductor, script, watcher, log.getvalue()


@cache
def all_unsure() -> tuple[DemoSummary, Conductor, Script, Doubting, str]:
    return played(unsure)


def test_memory_is_never_wrong_while_all_goes_as_it_should() -> None:
    summary, _, script, watcher, _ = played(lambda card: (card.card, 0.97, ((card.card, 0.97),)))
    assert watcher.mistaken == 0 and watcher.known > script.laid // 3
    assert summary.cards.right == script.laid and summary.rulings.differing == ()


def test_unsure_readings_are_settled_where_memory_knows_and_never_wrongly() -> None:
    summary, _, script, watcher, _ = all_unsure()
    assert summary.cards.wrong_sure == 0 and summary.cards.wrong == 0
    assert summary.cards.right > script.laid // 4
    assert watcher.mistaken == 0


def test_without_memory_none_of_them_is_read() -> None:
    summary, *_ = played(unsure, memory=False)
    assert summary.cards.right == 0 and summary.cards.unread == summary.cards.laid


def test_the_log_gives_the_same_rulings_again() -> None:
    """Memory acted before the log: the rulings rest on the log alone."""
    _, _, _, _, text = all_unsure()
    again = sorted(encode_ruling(ruling) for ruling in replay_log(BytesIO(text.encode()), everything=True))
    assert again == sorted(line for line in text.splitlines() if line.startswith('{"ruling"'))


def one_wrong(at: Callable[[Card], bool]) -> Eye:
    """Return an eye that reads well, except one card, which it misreads with confidence."""
    done: list[str] = []

    def eye(card: Card) -> tuple[str, float, Candidates]:
        if not done and at(card):
            done.append(card.card)
            return twin(card.card), 0.96, ((twin(card.card), 0.96), (card.card, 0.03))
        return card.card, 0.97, ((card.card, 0.97),)

    return eye


def question(conductor: Conductor) -> Ruling:
    (asked,) = (r for r in conductor.rulings if r.get("ask") in ("impossible_card", "order_changed"))
    return asked


def test_a_sure_misreading_of_a_known_card_is_asked_about_and_the_answer_mends_the_game() -> None:
    script = script_of(OPTIONS)
    # Late in the game most stacks are known.
    late = script.duration * 2 // 3
    summary, conductor, _, watcher, text = played(one_wrong(lambda card: card.t > late))
    assert watcher.known and summary.cards.wrong_sure == 1
    asked = question(conductor)
    wrong = next(o for o in conductor.observations if o.id == asked["about"][0])
    assert isinstance(wrong, Card)
    assert asked["cards"][:2] == [wrong.card, twin(wrong.card)]
    assert any(o.kind == "answer" for o in conductor.observations)
    assert summary.rulings.differing == (), "once people have answered, all is ruled as it was"
    again = sorted(encode_ruling(ruling) for ruling in replay_log(BytesIO(text.encode()), everything=True))
    assert again == sorted(line for line in text.splitlines() if line.startswith('{"ruling"'))
