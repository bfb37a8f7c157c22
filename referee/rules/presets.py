"""The presets: house rules, each from a written source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from referee.rules.frozen import freeze


@dataclass(frozen=True, slots=True)
class Preset:
    """The rows that a source switches on besides those always on, and the values that it sets."""

    title: str
    rows: frozenset[str]
    values: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """Rows that suit the preset; off unless a table switches them on."""

    def __post_init__(self) -> None:
        """Freeze the values: all games share a preset."""
        object.__setattr__(self, "values", freeze(self.values))


def _preset(title: str, rows: str, *, options: str = "", **values: Any) -> Preset:
    return Preset(title, frozenset(rows.split()), values, tuple(options.split()))


_CLASSIC: Final = "S4a C1 C6a F1 F6a F7 F8 M2 M9 M10 M12 E2 E5a"

_PRESETS: Final = {
    "classic": _preset("the rules that most people play", f"P1 P2 {_CLASSIC}"),
    "wikipedia-2025": _preset(
        "the Wikipedia article of 2025", f"P1 P2 P3a P4b P5a P6 P8 P10a P11 P13a P17 F5 {_CLASSIC}", P8=False
    ),
    "wikipedia-2020": _preset("the Wikipedia article of 2020", f"P1 P2 P3a P4a P5a P6 P13c F5 {_CLASSIC}"),
    "wikipedia-2009": _preset(
        "the Wikipedia article of about 2009",
        "P1 P2 P4a P5b P6 P7 P8 P9 P12 P14 C1 C6a F1 F6a M2 M3 M9 M10 S4b E3 E4 E5a",
        M4="jack",
    ),
    "wikibooks": _preset("the Wikibooks page", "P1 P2 P3b P4a P6 P8 P10a S4a C1 C6a F1 M2 M9 M10 M11 C9 E5a"),
    "short": _preset("a short description in twelve steps", "P1 P2 P4b P5b P6 S4a C1 C6a C7 F1 F6c M2 M10 E5b", F1=2),
    "classroom": _preset("for a class: no player is knocked out", "P1 P2 S4a C1 C6a F1 M2 M9 M10 E5a", options="E7"),
    "beggar-my-neighbour": _preset("no slaps; a player who runs out of cards loses", "S4a C1 C6b E6"),
    "suck-the-well": _preset("Beggar-My-Neighbour the other way round", "S4a C1 C6b E6", S5="counter-clockwise"),
    "slapjack": _preset("slap every jack", "S4a P18 F1 M10 E5a", options="F12"),
}
PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(_PRESETS)
"""Presets by name; rows that are always on need not be listed."""
