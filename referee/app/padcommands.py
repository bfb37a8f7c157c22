"""What a word of the pads asks of the table: a command, or nothing where it does not fit the moment. Pure."""

from __future__ import annotations

from typing import Any, Final

from referee.adjudication.observations import Correct, Pause, Resume, Slap
from referee.adjudication.rulings import Ruling
from referee.adjudication.view import View
from referee.app.amended import Amended
from referee.app.answering import SEATS
from referee.app.outcomes import Facts
from referee.app.padwords import Mode, Word

NOTHING: Final = frozenset(("empty_pile", "not_playing", "paused", "locked_out"))
"""Reasons for which a press was no slap: only then can it have been the beginning of a word."""
PAUSING: Final = (Pause, Resume, Correct)
"""Lines after which a game may be paused that was not, or the other way round."""
_CONTRADICTIONS: Final = frozenset(("impossible_card", "order_changed"))


def mode_of(facts: Facts | None) -> Mode:
    """What the table is doing; looks at the whole log."""
    return Mode.IDLE if facts is None else mode_in(facts.view, paused=is_paused(facts))


def is_paused(facts: Facts) -> bool:
    """Whether the game is paused; looks at the whole log, and changes only with a line of `PAUSING`."""
    return Amended(facts.observations, facts.rulings).paused


def mode_in(view: View, *, paused: bool) -> Mode:
    """What the table is doing, where it is known whether it is paused."""
    if view.game_over:
        return Mode.IDLE
    if paused:
        return Mode.PAUSED
    return Mode.ASKING if view.questions else Mode.PLAY


def command_of(word: Word, facts: Facts) -> dict[str, Any] | None:
    """The record of the command that a word asks for; None for none.

    A request for a pairing code ("code") is no matter of the game, and is not answered here.
    """
    log = Amended(facts.observations, facts.rulings)
    if _was_a_slap(word, log, facts):
        return None
    if word.word in ("pause", "resume", "undo"):
        return {"do": word.word}
    if word.word not in ("yes", "no"):
        return None
    answer = _answer(word, log, facts)
    if answer is None and word.word == "yes" and facts.view.game_over:
        return {"do": "rematch"}
    return answer


def _was_a_slap(word: Word, log: Amended, facts: Facts) -> bool:
    """Whether a press of that pad meanwhile counted for anything, or is not judged yet."""
    presses = [
        line.id
        for line in facts.observations
        if isinstance(line, Slap) and line.seat == word.seat and word.since <= line.t <= word.t
    ]
    # While a pile waits for people to say whose it is, every hand on it is late.
    nothing = NOTHING | {"late"} if _open(log, facts) else NOTHING
    return any(not _void(log.ruling(f"slap_void@{name}"), nothing) for name in presses)


def _void(ruling: Ruling | None, nothing: frozenset[str]) -> bool:
    return ruling is not None and ruling["reason"] in nothing


def _open(log: Amended, facts: Facts) -> list[Ruling]:
    """Questions that wait for an answer, the oldest first."""
    found = [log.ruling(name) for name in facts.view.questions]
    return sorted((one for one in found if one is not None), key=lambda one: (one.t, one.id))


def _answer(word: Word, log: Amended, facts: Facts) -> dict[str, Any] | None:
    """Of the oldest question that one pad can answer: whose pad it was, or yes and no."""
    for question in _open(log, facts):
        ask, yes = question["ask"], word.word == "yes"
        if ask in SEATS and yes:
            return {"do": "answer", "question": question.id, "value": word.seat}
        if ask == "slap_or_card":
            return {"do": "answer", "question": question.id, "value": "slap" if yes else "card"}
        if ask in _CONTRADICTIONS and len(question.get("cards", ())) == 2:
            # First what was seen, then what deck memory expects: "is it what I saw?"
            return {"do": "answer", "question": question.id, "value": question["cards"][0 if yes else 1]}
    return None
