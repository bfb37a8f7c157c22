"""What a demo was asked for: the game, and what its camera looks at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardware.simulated.families import FAMILIES
from hardware.simulated.script import Script, play_game
from referee.app.housefile import rules_from
from referee.app.rendering import View

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Options:
    """What `referee demo` was asked for."""

    seats: int = 4
    rules: Any = "classic"
    seed: int = 1
    pace: bool = True
    max_cards: int = 400
    fps: float = 15.0
    log: Path | None = None
    audio: Path | None = None
    frames: Path | None = None
    summary: Path | None = None
    page: bool = False
    """Serve the page beside the game."""
    live: bool | None = None
    """Draw on the terminal; None: if standard output is one."""


def family_of(seed: int) -> str:
    """The deck that a seed plays with."""
    names = sorted(FAMILIES)
    return names[seed % len(names)]


def script_of(options: Options) -> Script:
    """The game that the options ask for.

    Raises:
        UserError: there are no such rules, or their file has mistakes.
    """
    said = rules_from(options.rules) if isinstance(options.rules, str) else options.rules
    return play_game(options.seed, options.seats, said, options.max_cards)


def view_of(options: Options, script: Script) -> View:
    """What the simulated camera looks at."""
    return View(script, options.fps, family_of(options.seed), frames=options.frames)
