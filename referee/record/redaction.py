"""Removes a name from a game's lines. Pure: text in, text out.

The lines of the record are append-only, and this is the one exception. Adding a line cannot remove a name, which would
still stand in the first; nor was it ever evidence: no ruling rests on it. So the line that names the seats is rewritten
with the seat's own name in its place, and says so itself (``"nameless": [2]``); everything else of the game stays the
same byte for byte.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_NAMELESS: Final = "nameless"
"""Field of a ``table`` line: the seats whose players' names were removed."""
_FIXED: Final = frozenset(
    (
        "kind", "ruling", "id", "t", "seats", "because", "rule", "supersedes", "card", "cards", "seat", "rules",
        "sensor", "sensors", "where", "foul", "ask", "what", "to", "line", "reason", "patterns", "decided_by", "until",
        "about", "zone", "direction", "date", "rank", "amended_by",
    )
)  # fmt: skip
"""Fields whose values come from the log format's own vocabulary, which contains no names, and the seats themselves."""


def seat_name(seat: int) -> str:
    """Return the name of a player without a name."""
    return f"Seat {seat}"


def print_line(raw: dict[str, Any]) -> str:
    """Return a line in the codec's notation."""
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))


def rename_seats(text: str, names: dict[int, str], *, nameless: bool) -> tuple[str, tuple[str, ...]]:
    """Return a ``table`` line with other names.

    Args:
        text: the line.
        names: new names by seat.
        nameless: whether these seats are marked as having lost their names.

    Returns:
        The new line, and its seats.
    """
    raw = json.loads(text)
    seats = [names.get(seat, name) for seat, name in enumerate(raw["seats"], start=1)]
    raw["seats"] = seats
    if nameless:
        raw[_NAMELESS] = sorted({*raw.get(_NAMELESS, ()), *names})
    return print_line(raw), tuple(seats)


def take_out_name(text: str, name: str, instead: str) -> str:
    """Return a line with a name replaced wherever free text holds it as a word; the same object if it does not.

    A line that is no JSON object is returned unchanged: `has_name` finds it.
    """
    if not has_name(text, name):
        return text
    try:
        raw = json.loads(text)
    except ValueError:
        return text
    if not isinstance(raw, dict):
        return text
    word = _word(name)
    cleaned = {key: value if key in _FIXED else _cleaned(value, word, instead) for key, value in raw.items()}
    return print_line(cleaned) if cleaned != raw else text


def has_name(text: str, name: str) -> bool:
    """Return whether a line holds a name as a word, in plain text or with JSON's escapes."""
    escaped = json.dumps(name)[1:-1]
    return bool(_word(name).search(text)) or (escaped != name and escaped.casefold() in text.casefold())


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _cleaned(value: Any, word: re.Pattern[str], instead: str) -> Any:
    if isinstance(value, str):
        return word.sub(lambda _: instead, value)
    if isinstance(value, list):
        return [_cleaned(part, word, instead) for part in value]
    if isinstance(value, dict):
        return {key: _cleaned(part, word, instead) for key, part in value.items()}
    return value
