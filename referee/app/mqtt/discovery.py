"""Home Assistant finds a table by itself: one retained message for each sensor. Pure.

The format is Home Assistant's MQTT discovery (https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from referee.app.mqtt.topics import Topics

DISCOVERY: Final = "homeassistant"
"""The prefix that Home Assistant listens to unless it was changed there."""
_SENSORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "pile": {
        "name": "Pile", "icon": "mdi:cards", "unit_of_measurement": "cards", "state_class": "measurement",
        "value_template": "{{ value_json.pile.cards }}",
    },
    "turn": {
        "name": "Turn", "icon": "mdi:account-arrow-right",
        "value_template": "{{ value_json.turn_name or 'nobody' }}",
    },
    "last_ruling": {
        "name": "Last ruling", "icon": "mdi:gavel",
        "value_template": "{{ value_json.last.words if value_json.last else 'none' }}",
    },
    "winner": {
        "name": "Winner", "icon": "mdi:trophy",
        "value_template": "{{ value_json.winner_name or 'nobody' }}",
    },
}  # fmt: skip
_GAME_ON: Final[Mapping[str, Any]] = {
    "name": "Game", "device_class": "running", "value_template": "{{ 'ON' if value_json.on else 'OFF' }}",
}  # fmt: skip


def announcements(topics: Topics) -> dict[str, dict[str, Any]]:
    """By topic, what to publish (retained) for Home Assistant to show four sensors and a binary sensor."""
    device = {"identifiers": [_own(topics, "table")], "name": f"Card table {topics.table}", "model": "Table Referee"}
    common = {
        "state_topic": topics.of("state"),
        "availability_topic": topics.of("available"),
        "payload_available": "online",
        "payload_not_available": "offline",
        "device": device,
    }
    kinds = [("sensor", name, fields) for name, fields in _SENSORS.items()]
    kinds.append(("binary_sensor", "game", _GAME_ON))
    return {
        f"{DISCOVERY}/{kind}/{_own(topics, name)}/config": {**common, **fields, "unique_id": _own(topics, name)}
        for kind, name, fields in kinds
    }


def _own(topics: Topics, name: str) -> str:
    return f"{topics.prefix}_{topics.table}_{name}"
