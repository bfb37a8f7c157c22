"""Commands that people type at the running program: `contest 3 by 1 2`, `foul 2 peek`, `missed card 7c 2`. Pure.

Called in the main process (`referee.table.keys`). Any other line is an answer to a question
(`referee.table.loop.Answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.control.commands import Command, CommandError, parse_command

TYPED: Final[Mapping[str, str]] = {
    "contest": "contest SEAT by SEAT ...",
    "foul": "foul SEAT peek|hover|snap|out_of_turn|double_draw|ring",
    "call": "call SEAT RANK",
    "wild": "wild RANK",
    "join": "join SEAT",
    "leave": "leave SEAT",
    "count": "count SEAT CARDS",
    "missed": "missed card CARD SEAT [after LINE], missed slap SEAT [on LINE]",
    "take": "take LINE",
    "pause": "pause",
    "resume": "resume",
    "undo": "undo",
}
"""The usage of each word."""


CODE: Final = "code"
"""Asks for a code to pair a device; a word of the pads, too."""
QUIT: Final = "quit"
"""Leaves the table."""


def is_typed_command(line: str) -> bool:
    """Return whether a line is a command of `TYPED` or for the program itself, not an answer to a question."""
    return bool(line.strip()) and line.split(maxsplit=1)[0].casefold() in (*TYPED, CODE, QUIT)


def read_typed(line: str) -> Command:
    """Return the command in a line (`is_typed_command`).

    Raises:
        CommandError: it does not follow its usage in `TYPED`, or a field is out of bounds.
    """
    word, *rest = line.split()
    word = word.casefold()
    try:
        said = _READ[word](rest)
    except ValueError:
        raise CommandError("type: {usage}", usage=TYPED[word]) from None
    return parse_command(said)


def _contest(rest: Sequence[str]) -> dict[str, Any]:
    against, by, *seats = rest
    if by != "by":
        raise ValueError(by)
    return {"do": "contest", "against": int(against), "by": [int(seat) for seat in seats]}


def _missed(rest: Sequence[str]) -> dict[str, Any]:
    what, *more = rest
    if what == "card":
        card, seat, *after = more
        return {"do": "missed_card", "card": _card(card), "seat": int(seat), **_named("after", after)}
    if what == "slap":
        seat, *on = more
        return {"do": "missed_slap", "seat": int(seat), **_named("on", on)}
    raise ValueError(what)


def _named(word: str, rest: Sequence[str]) -> dict[str, str]:
    if not rest:
        return {}
    said, line = rest
    if said != word:
        raise ValueError(said)
    return {word: line}


def _card(text: str) -> str:
    """Return ``7h`` or ``10H`` in the log's notation."""
    return _rank(text[:-1]) + text[-1:].lower()


def _rank(text: str) -> str:
    return text.upper().replace("10", "T")


def _fields(do: str, *fields: tuple[str, Callable[[str], Any]]) -> Callable[[Sequence[str]], dict[str, Any]]:
    """Return a reader for a command whose fields are typed in this order."""

    def read(rest: Sequence[str]) -> dict[str, Any]:
        return {"do": do, **{name: made(text) for (name, made), text in zip(fields, rest, strict=True)}}

    return read


_SEAT: Final = ("seat", int)
_READ: Final[Mapping[str, Callable[[Sequence[str]], dict[str, Any]]]] = {
    "contest": _contest,
    "foul": _fields("foul", _SEAT, ("foul", str)),
    "call": _fields("say", _SEAT, ("rank", _rank)),
    "wild": _fields("draw", ("rank", _rank)),
    "join": _fields("join", _SEAT),
    "leave": _fields("leave", _SEAT),
    "count": _fields("count", _SEAT, ("cards", int)),
    "missed": _missed,
    "take": _fields("take_up", ("line", str)),
    "pause": _fields("pause"),
    "resume": _fields("resume"),
    "undo": _fields("undo"),
}
