"""The result of a check of one part of a table: by the doctor, by calibration, or at a live look.

A certificate's lines (`referee.record.certificates`) are kept for years and shown in any language, so they hold figures
instead of words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

State = Literal["fine", "acceptable", "poor", "missing", "broken"]
COLOURS: Final = {"fine": "green", "acceptable": "yellow", "poor": "red", "missing": "yellow", "broken": "red"}
"""Colours of the states on a terminal."""


@dataclass(frozen=True, slots=True)
class Check:
    """A part, or a measurement of it: its state, in words, and a remedy if it is not fine."""

    part: str
    state: State
    words: str
    mend: str = ""
    needed: bool = False
    """Whether even the simulated table needs it."""
    group: str = ""
