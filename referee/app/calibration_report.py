"""What a calibration is worth, printed: in words and colours for people, or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from referee.app.calibration_fields import fields_of
from referee.app.grading import Item, Measured, advice
from referee.app.settings import CameraSettings

_COLOURS: Final = {"fine": "green", "acceptable": "yellow", "poor": "red"}


def print_words(items: Sequence[Item], seats: Mapping[str, float]) -> None:
    """A line for each thing measured, and where the seats are."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for item in items:
        words = item.words + (f"\n→ {item.todo}" if item.todo else "")
        table.add_row(f"[{_COLOURS[item.grade]}]{item.grade}[/]", item.name, words)
    if seats:
        table.add_row("", "seats", ", ".join(f"{name} {bearing:.0f}°" for name, bearing in seats.items()))
    Console(highlight=False).print(table)


def print_json(items: Sequence[Item], m: Measured, seats: Mapping[str, float], camera: CameraSettings | None) -> None:
    """All that was measured, as one JSON object."""
    out: dict[str, Any] = {
        "items": [asdict(item) for item in items],
        "calibration": fields_of(m),
        "seats": {name: round(bearing, 1) for name, bearing in seats.items()},
        "noise": None if math.isnan(m.still.noise) else round(m.still.noise, 2),
        "flicker": None if math.isnan(m.still.flicker) else round(m.still.flicker, 4),
        "white": round(m.light.white, 1),
    }
    if camera is not None:
        out["exposure"] = asdict(advice(m, camera))
    print(json.dumps(out, ensure_ascii=False))
