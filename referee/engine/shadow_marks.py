"""Log lines that mark a game as refereed by people, and hold their verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from referee.engine.observations import Observation, Other

SHADOW: Final = "shadow"
"""Kind of the line that marks a game as shadowed."""
MARK: Final = "mark"
"""Kind of a line that holds a verdict by people."""
GOOD: Final = "good"
FALSE: Final = "false"
VERDICTS: Final = (GOOD, FALSE)


def is_shadowed(lines: Iterable[Observation]) -> bool:
    """Whether a game is marked as shadowed."""
    return any(isinstance(line, Other) and line.name == SHADOW for line in lines)
