"""A table's messages to a broker: topics, payloads, and discovery for Home Assistant. Pure; time is data.

Under ``PREFIX/TABLE/``: ``available`` (``online`` or ``offline``, retained, the last will), ``state`` (the whole
position, retained), ``ruling`` (each as it is decided), ``day`` (the totals of the day's games, retained). The payloads
have stable fields, described in `docs/club.md`; Home Assistant reads its MQTT discovery
(https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery), one retained message for each sensor.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from referee.engine.rulings import SHOWN_BY_POSITION, Ruling, encode_ruling
from referee.engine.view import View
from referee.text.ruling_lines import RulingWords

VERSION: Final = 1
"""Version of the payloads: new fields keep it; a field that changes its meaning raises it."""
ONLINE: Final = b"online"
OFFLINE: Final = b"offline"
LEAVES: Final = ("available", "state", "ruling", "day")
TABLE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
"""Valid names of tables and prefixes: they have no special meaning in a topic filter, a browser or a template."""
LONGEST_PAYLOAD: Final = 32 * 1024
"""Longest payload accepted from a broker, bytes; a table's own payloads have two or three thousand at most."""
LONGEST_TOLD: Final = 240
"""Longest sentence, characters: Home Assistant takes no state longer than 255."""
_QUESTIONS: Final = 64
"""Maximum number of questions remembered; few are ever open."""
_DISCOVERY: Final = "homeassistant"
"""Home Assistant's default discovery prefix."""
_SENSORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "pile": {
        "name": "Pile", "icon": "mdi:cards", "unit_of_measurement": "cards", "state_class": "measurement",
        "value_template": "{{ value_json.pile.cards }}",
    },
    "turn": {
        "name": "Turn", "icon": "mdi:account-arrow-right",
        "value_template": "{{ value_json.turn_name or 'no player' }}",
    },
    "last_ruling": {
        "name": "Last ruling", "icon": "mdi:gavel",
        "value_template": "{{ value_json.last.words if value_json.last else 'none' }}",
    },
    "winner": {
        "name": "Winner", "icon": "mdi:trophy",
        "value_template": "{{ value_json.winner_name or 'no winner yet' }}",
    },
}  # fmt: skip
_GAME_ON: Final[Mapping[str, Any]] = {
    "name": "Game", "device_class": "running", "value_template": "{{ 'ON' if value_json.on else 'OFF' }}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one table."""

    prefix: str
    table: str

    def __post_init__(self) -> None:
        """Raises `ValueError` for a name that a topic cannot hold."""
        for name in (self.prefix, self.table):
            if not TABLE_NAME.fullmatch(name):
                raise ValueError(f"{name!r}: a name in a topic has 1 to 40 letters, digits, - and _")

    def of(self, leaf: str) -> str:
        """Return the topic of one of `LEAVES`."""
        return f"{self.prefix}/{self.table}/{leaf}"


def filters(prefix: str) -> list[str]:
    """Return the subscriptions for every table."""
    return [f"{prefix}/+/{leaf}" for leaf in LEAVES]


def parsed(topic: str) -> tuple[str, str] | None:
    """Return table and leaf of a topic; `None`: not one of ours."""
    parts = topic.split("/")
    if len(parts) != 3 or parts[2] not in LEAVES or not TABLE_NAME.fullmatch(parts[1]):
        return None
    return parts[1], parts[2]


class Telling:
    """The state of one table, as published.

    Args:
        session: a name for this run of the program, so that a subscriber notices when the numbers restart.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._number = 0
        self._game: int | None = None
        self._names: tuple[str, ...] = ()
        self._last: dict[str, Any] | None = None
        self._asked: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def begin(self, game: int, names: Sequence[str]) -> None:
        """Start another game."""
        self._game, self._names, self._last = game, tuple(names), None
        self._asked.clear()

    def ruling(self, ruling: Ruling) -> dict[str, Any]:
        """Return the payload of the next ruling; ``n`` counts without gaps, so that a subscriber notices a missed
        one.
        """
        self._number += 1
        fields = json.loads(encode_ruling(ruling))
        if ruling.window == "open":
            # No margin yet does not mean that no other hand came.
            fields["window"] = ruling.window
        words = RulingWords(self._names)(ruling)[:LONGEST_TOLD]
        if ruling.kind == "question":
            asked = {"id": ruling.id, "ask": ruling.get("ask"), "cards": list(ruling.get("cards", ())), "words": words}
            self._asked[ruling.id] = asked
            while len(self._asked) > _QUESTIONS:
                self._asked.popitem(last=False)
        told = {"n": self._number, "words": words, "ruling": fields}
        # A ruling that the position shows is published, but is not the last ruling.
        if ruling.kind not in SHOWN_BY_POSITION:
            self._last = told
        return {"version": VERSION, "session": self._session, "game": self._game, **told}

    def state(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the payload of the whole state."""
        names = view.names or self._names
        call = RulingWords(names).name
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
            "challenge": None if view.challenge is None else asdict(view.challenge),
            "owner": view.owner,
            "winner": view.winner,
            "winner_name": None if view.winner is None else call(view.winner),
            "questions": [self._asked[id_] for id_ in view.questions if id_ in self._asked],
            "troubles": {part: words[:LONGEST_TOLD] for part, words in (troubles or {}).items()},
            "last": self._last,
        }


def wall_time() -> str:
    """Return the local time, ISO 8601. A label, since the machine's clock may be wrong; its date is the day of the
    league.
    """
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def encoded(payload: Mapping[str, Any]) -> bytes:
    """Return a payload as bytes."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def announcements(topics: Topics) -> dict[str, dict[str, Any]]:
    """Return the retained messages, by topic, that make Home Assistant show four sensors and a binary sensor."""
    own = f"{topics.prefix}_{topics.table}"
    device = {"identifiers": [f"{own}_table"], "name": f"Card table {topics.table}", "model": "Table Referee"}
    common = {
        "state_topic": topics.of("state"),
        "availability_topic": topics.of("available"),
        "payload_available": "online",
        "payload_not_available": "offline",
        "device": device,
    }
    sensors = {f"sensor/{own}_{name}": {**fields, "unique_id": f"{own}_{name}"} for name, fields in _SENSORS.items()}
    sensors[f"binary_sensor/{own}_game"] = {**_GAME_ON, "unique_id": f"{own}_game"}
    return {f"{_DISCOVERY}/{place}/config": {**common, **fields} for place, fields in sensors.items()}
