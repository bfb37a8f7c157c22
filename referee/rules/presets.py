"""The presets: house rules by their written source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Preset:
    """Rows that a source names, rows that it goes without, and the values that it sets."""

    rows: frozenset[str]
    without: frozenset[str] = frozenset()
    values: Mapping[str, Any] = field(default_factory=dict)


def _preset(rows: str) -> Preset:
    return Preset(frozenset(rows.split()))


PRESETS: Final[Mapping[str, Preset]] = {
    "classic": _preset("P1 P2 C1 C6a S4a F1 F6a F7 F8 M2 M9 M10 M12 E2 E5a"),
}
"""By name; the rows that are always on need not stand here."""
