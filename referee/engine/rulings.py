"""Rulings, the referee's decisions, and their lines in the log.

Ids are made of kind and cause; rulings have a defined printing order.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from json.encoder import encode_basestring as _text
from typing import Any, Final, Literal

from referee.engine.observations import Observation
from referee.rules.cards import UNREADABLE
from referee.rules.frozen import record
from referee.rules.step import Draft

Key = tuple[int, int, int, int, str, int]
"""A place in event time; the last number counts observations judged later though earlier in time (K9)."""
_ENCODE: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode

SLAP_KINDS: Final = ("slap_won", "slap_false", "slap_void")
"""Kinds of rulings on a hand."""
RULING_ORDER: Final = {
    kind: place
    for place, kinds in enumerate(
        (
            ("dead_heat",),
            SLAP_KINDS,
            ("burn", "strike", "give", "locked_out"),
            ("dead_card", "foul", "contested"),
            ("challenge", "chance", "challenge_moves", "challenge_off", "challenge_won"),
            ("out",),
            ("pile",),
            ("slapped_in",),
            ("won", "lost", "drawn", "repeated"),
            ("lead",),
            ("turn",),
            ("question",),
            ("remind", "corrected"),
        )
    )
    for kind in kinds
}
"""Rank of a kind among the rulings of one cause: the order in which they happen at a table."""


@record(frozen=True, slots=True)
class Ruling:
    """One decision: its kind and instant, and the observations and rows that it rests on."""

    kind: str
    id: str
    t: int
    """The instant that it refers to, ns."""
    because: tuple[str, ...]
    """Ids of the observations that it rests on."""
    rule: tuple[str, ...]
    """Ids of the rows that it rests on."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    supersedes: tuple[str, ...] = ()
    doubt: bool = False
    amended_by: str = ""
    """Id of the answer or correction that caused it; empty if none."""
    is_correction: bool = False
    """Whether a correction caused it; it is then announced as one."""
    undoes: tuple[str, ...] = field(default=(), compare=False)
    """Rulings that it undoes, by their ids before amendments rename them (F9, E8); not printed."""
    place: Key | None = field(default=None, compare=False)
    """Printing place, if not that of the line that ended its judging; not printed itself."""
    window: Literal["", "open", "closed"] = field(default="", compare=False)
    """State of a won slap announced before its pile goes. ``open``: no other hand is known, but one may still come.
    ``closed``: it is announced again, now with the next hand, or because none can come any more. Not printed.
    """

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or ``default`` if this ruling does not have it."""
        return self.fields.get(name, default)


def ruling_fields(ruling: Ruling) -> dict[str, Any]:
    """Return the JSON object of a ruling."""
    out: dict[str, Any] = {"ruling": ruling.kind, "id": ruling.id, "t": ruling.t}
    out.update(ruling.fields)
    out["because"] = list(ruling.because)
    out["rule"] = list(ruling.rule)
    if ruling.supersedes:
        out["supersedes"] = list(ruling.supersedes)
    if ruling.doubt:
        out["doubt"] = True
    if ruling.amended_by:
        out["amended_by"] = ruling.amended_by
    if ruling.is_correction:
        out["correction"] = True
    return out


def encode_ruling(ruling: Ruling) -> str:
    """Return one line of the log, without its line break: `ruling_fields` as JSON.

    Written by hand, because the standard encoder is set up anew with each call, which costs as much as the encoding.
    """
    line = f'{{"ruling":"{ruling.kind}","id":{_text(ruling.id)},"t":{ruling.t}'
    for name, value in ruling.fields.items():
        line += f',"{name}":{value}' if type(value) is int else f',"{name}":{_ENCODE(value)}'
    line += f',"because":[{",".join(map(_text, ruling.because))}],"rule":{_rows(ruling.rule)}'
    if ruling.supersedes:
        line += f',"supersedes":[{",".join(map(_text, ruling.supersedes))}]'
    if ruling.doubt:
        line += ',"doubt":true'
    if ruling.amended_by:
        line += f',"amended_by":{_text(ruling.amended_by)}'
    if ruling.is_correction:
        line += ',"correction":true'
    return line + "}"


@lru_cache(maxsize=1024)
def _rows(rule: tuple[str, ...]) -> str:
    """Return the encoded rows, cached: few combinations occur, each of them often."""
    return _ENCODE(rule)


KIND_PLACES: Final = {
    kind: place
    for place, kind in enumerate(
        (
            "table", "day", "draw", "count", "join", "leave", "resume", "pause", "say", "gap", "card", "slap",
            "lift", "placed", "foul", "contest", "taken", "answer", "correct", "tick",
        )
    )
}  # fmt: skip
"""Order at one instant: settings first, a card before slaps, people's statements last."""

AFTER_ALL_KINDS: Final = len(KIND_PLACES)
_LAST: Final = len(RULING_ORDER)


def place_of(observation: Observation) -> Key:
    """Return an observation's place in event time: by instant, kind, seat and id."""
    seat = getattr(observation, "seat", None) or 0
    name = observation.id
    return observation.t, KIND_PLACES.get(observation.kind, AFTER_ALL_KINDS), seat, len(name), name, 0


def base_id(ruling: Ruling) -> str:
    """Return the id that a ruling had before amendments renamed it: for ``pile@t1/2~x9`` it is ``pile@t1/2``.

    Line ids may be any text, so the cause is taken from the ruling, not parsed from the id.
    """
    start = f"{ruling.kind}@{cause_of(ruling)}"
    return start + ruling.id[len(start) :].partition("~")[0] if ruling.id.startswith(start) else ruling.id


def unamended(ruling: Ruling) -> Ruling:
    """Return the ruling as if no amendment had caused it."""
    return replace(ruling, id=base_id(ruling), supersedes=(), amended_by="", is_correction=False)


def before_the_pickup(ruling: Ruling) -> Ruling:
    """Return a ruling as it stands while its pile is still there: a won slap is open if no other hand is known yet."""
    if ruling.kind != "slap_won" or ruling["margin"] is not None or ruling["decided_by"] != "time":
        return ruling
    return replace(ruling, window="open")


def first_name(name: str, known: Container[str]) -> str:
    """Return the known id that a ruling had before amendments renamed it to ``name``."""
    first = name
    while first not in known and "~" in first:
        first = first.rpartition("~")[0]
    return first if first in known else name


def cause_of(ruling: Ruling) -> str:
    """Return the line that caused a ruling: the first that it rests on."""
    return ruling.because[0] if ruling.because else ""


def is_caused_by(name: str, cause: str) -> bool:
    """Whether a ruling's id may belong to a ruling caused by this line."""
    _, _, rest = name.partition("@")
    return rest == cause or rest.startswith((f"{cause}/", f"{cause}~"))


def verdict_on(rulings: Iterable[Ruling], slap: str) -> Ruling | None:
    """Return the ruling on a hand: the won slap that it was compared with, else its own.

    Args:
        rulings: the rulings in force.
        slap: the hand's id.
    """
    own: Ruling | None = None
    for ruling in rulings:
        if ruling.kind == "slap_won" and slap in ruling.because:
            return ruling
        if ruling.kind in SLAP_KINDS and cause_of(ruling) == slap:
            own = ruling
    return own


def gap_form(question: Ruling) -> str:
    """Return the form of a question about a gap (``unseen_gap``).

    ``hand``: it only says that a hand waits for the answer; ``passed``: a pile may have come and gone; ``gone``: the
    pile is gone; ``unread``: the card on top could not be read; ``cards``: more than one card was seen since; else
    empty.
    """
    cards = question.get("cards", ())
    if len(question.get("about", ())) > 1:
        return "hand"
    if question.get("passed"):
        return "passed"
    if not cards:
        return "gone"
    if cards[-1] == UNREADABLE:
        return "unread"
    return "cards" if sum(card != UNREADABLE for card in cards) > 1 else ""


def in_doubt_of_gap(ruling: Ruling) -> Ruling:
    """Return the ruling marked as doubtful because of a gap."""
    return replace(ruling, doubt=True, rule=tuple(dict.fromkeys((*ruling.rule, "K2"))))


def rests_on_gap(ruling: Ruling) -> bool:
    """Whether a ruling is doubtful because of a gap (`in_doubt_of_gap`), and not because of two close instants."""
    return ruling.doubt and "K2" in ruling.rule


GAME_ENDS: Final = frozenset(("won", "lost", "drawn"))
"""Kinds of rulings that end a game: won, lost (Beggar-My-Neighbour) or drawn."""
SHOWN_BY_POSITION: Final = frozenset(("turn", "lead", "chance"))
"""Kinds that the position shows better than a separate line."""


def end_of(rulings: Iterable[Ruling]) -> Ruling | None:
    """Return the ruling that ended the game; None if it goes on, perhaps after a correction."""
    made = list(rulings)
    replaced = {old for ruling in made for old in ruling.supersedes}
    ends = [ruling for ruling in made if ruling.kind in GAME_ENDS and ruling.id not in replaced]
    return ends[-1] if ends else None


def to_rulings(
    drafts: Iterable[Draft], cause: str, t: int, used: Iterable[str] = (), *, doubt: bool = False
) -> list[Ruling]:
    """Turn drafts of one cause into rulings with ids; ``used`` holds the ids that this cause already has."""
    names = set(used)
    rulings = []
    for draft in drafts:
        name = f"{draft.kind}@{cause}"
        if name in names:
            name = _numbered(name, names)
        names.add(name)
        because = tuple(dict.fromkeys((cause, *draft.because))) if draft.because else (cause,)
        rulings.append(Ruling(draft.kind, name, t, because, draft.rule, draft.fields, (), doubt))
    return rulings


def to_ruling(draft: Draft, cause: str, t: int, used: Iterable[str] = (), *, doubt: bool = False) -> Ruling:
    """Turn one draft into a ruling; its id is kind and cause, numbered from the second of that kind on."""
    return to_rulings((draft,), cause, t, used, doubt=doubt)[0]


def _numbered(name: str, used: Container[str]) -> str:
    return next(other for number in itertools.count(2) if (other := f"{name}/{number}") not in used)


def printing_order(ruling: Ruling, cause: Key) -> tuple[int, Key, int]:
    """Return the printing key: instant, place of the cause, then `RULING_ORDER`.

    No ruling is printed before its cause, though its own instant may be earlier (K9).
    """
    t = ruling.t
    return t if t > cause[0] else cause[0], cause, RULING_ORDER.get(ruling.kind, _LAST)


@record(frozen=True, slots=True)
class PlacedRuling:
    """A ruling, its cause's place in event time, and the number of observations judged before that cause."""

    key: Key
    nth: int
    ruling: Ruling
