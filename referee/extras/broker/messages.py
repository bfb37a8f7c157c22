"""What a table says on a broker: payloads with stable fields, described in `docs/hall.md`. Pure; time is data."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.adjudication.rulings import Ruling, encode_ruling
from referee.adjudication.view import View
from referee.app.mqtt.topics import VERSION
from referee.app.wording import Wording

WORDS: Final = 240
"""Characters of a sentence: Home Assistant takes no state longer than 255."""
QUESTIONS: Final = 64
"""Questions remembered; few are ever open."""
UNTOLD: Final = frozenset(("turn", "lead", "chance"))
"""Rulings that the position shows better than a sentence; they are told, but are not the last ruling."""


class Telling:
    """One table's present, as it is told.

    Args:
        session: a name for this run of the program, so that whoever listens knows when the numbers begin anew.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._number = 0
        self._game: int | None = None
        self._names: tuple[str, ...] = ()
        self._last: dict[str, Any] | None = None
        self._asked: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def begin(self, game: int, names: Sequence[str]) -> None:
        """Another game is on."""
        self._game, self._names, self._last = game, tuple(names), None
        self._asked.clear()

    def ruling(self, ruling: Ruling) -> dict[str, Any]:
        """The next ruling; ``n`` counts without a gap, so that who listens knows what was missed."""
        self._number += 1
        fields = json.loads(encode_ruling(ruling))
        words = Wording(self._names)(ruling)[:WORDS]
        if ruling.kind == "question":
            asked = {"id": ruling.id, "ask": ruling.get("ask"), "cards": list(ruling.get("cards", ())), "words": words}
            self._asked[ruling.id] = asked
            while len(self._asked) > QUESTIONS:
                self._asked.popitem(last=False)
        told = {"n": self._number, "words": words, "ruling": fields}
        if ruling.kind not in UNTOLD:
            self._last = told
        return {"version": VERSION, "session": self._session, "game": self._game, **told}

    def state(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The whole present."""
        names = view.names or self._names
        call = Wording(names).name
        return {
            "version": VERSION,
            "session": self._session,
            "n": self._number,
            "game": self._game,
            "on": self._game is not None and not view.game_over,
            "paused": paused,
            "seats": [
                {
                    "name": name,
                    "cards": view.counts[place] if place < len(view.counts) else None,
                    "locked_out": place + 1 in view.locked_out,
                }
                for place, name in enumerate(names)
            ],
            "pile": {"cards": len(view.pile), "top": view.pile[-1] if view.pile else None},
            "turn": view.turn,
            "turn_name": None if view.turn is None else call(view.turn),
            "challenge": None
            if view.challenge is None
            else {
                "challenger": view.challenge.challenger,
                "challenged": view.challenge.challenged,
                "left": view.challenge.left,
            },
            "owner": view.owner,
            "winner": view.winner,
            "winner_name": None if view.winner is None else call(view.winner),
            "questions": [self._asked[id_] for id_ in view.questions if id_ in self._asked],
            "troubles": {part: words[:WORDS] for part, words in (troubles or {}).items()},
            "last": self._last,
        }


def encoded(payload: Mapping[str, Any]) -> bytes:
    """A payload as it goes on the wire."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
