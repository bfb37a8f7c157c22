"""Questions to a class about a game: at which slaps, who was first, or whether the slap counts. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from referee.engine.observations import Slap
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import SLAP_KINDS, cause_of
from referee.units import SECOND
from referee.web.photo_finish.moment import Finish, finish

_LETTERS: Final = "ABCDEFGH"
HEAT: Final = "heat"
NOT_A_SLAP: Final = "none"
"""The answers beside the letters of the lanes: no hand was first; the slap does not count."""


class ClassQuestion(NamedTuple):
    """A moment at which hands came down, and the question about it."""

    slap: str
    """The hand whose photo-finish is the answer: the one that won, or else the first."""
    text: str
    """Key of the text: who was first, or does the slap count."""


def find_questions(game: ReplayedGame) -> dict[str, ClassQuestion]:
    """Return the questions by the id of their moment's first hand, in order of time.

    A single hand is asked about whether it won or not, so that the question does not give the answer away.
    """
    ruled = {cause_of(slap): slap.kind for slap in game.slaps()}
    moments: list[list[Slap]] = []
    for hand in sorted((line for line in game.lines() if isinstance(line, Slap)), key=lambda slap: slap.t):
        if not moments or hand.t - moments[-1][-1].t > SECOND:
            moments.append([])
        moments[-1].append(hand)
    found = {}
    for hands in moments:
        kinds = [ruled.get(hand.id) for hand in hands]
        if not any(kind in SLAP_KINDS for kind in kinds):
            continue
        several = len({hand.seat for hand in hands}) > 1
        first = next((hand for hand, kind in zip(hands, kinds, strict=True) if kind == "slap_won"), hands[0])
        found[hands[0].id] = ClassQuestion(first.id, "lesson.who" if several else "lesson.counts")
    return found


def answer_of(game: ReplayedGame, question: ClassQuestion) -> Finish:
    """Return the photo-finish that answers a question."""
    found = finish(game.lines(), game.rulings, question.slap, game.replaced_by, len(game.table.seats))
    assert found is not None
    return found


def name_lanes(seen: Finish) -> dict[str, int]:
    """Return the seats whose hands came down by a letter that says neither who they are nor who was first."""
    return dict(zip(_LETTERS, sorted({hand.seat for hand in seen.hands}), strict=False))


def list_choices(seen: Finish) -> tuple[str, ...]:
    """Return the possible answers: the letter of each lane, `HEAT` if there are several, and `NOT_A_SLAP`."""
    lanes = tuple(name_lanes(seen))
    return (*lanes, HEAT, NOT_A_SLAP) if len(lanes) > 1 else (*lanes, NOT_A_SLAP)


def right_choice(seen: Finish) -> str | None:
    """Return the answer that the ruling gives; None if there is no ruling yet."""
    if seen.heat is not None:
        return HEAT
    if seen.ruling is None:
        return None
    if seen.ruling.kind != "slap_won":
        return NOT_A_SLAP
    return next((letter for letter, seat in name_lanes(seen).items() if seat == seen.ruling["seat"]), None)
