"""Lines of a log by which a game says that people refereed it, and holds their verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from referee.engine.observations import Observation, Other

SHADOW: Final = "shadow"
"""The kind of the line by which a game says that it is shadowed."""
MARK: Final = "mark"
"""The kind of a line that holds a verdict of people."""
GOOD: Final = "good"
FALSE: Final = "false"
VERDICTS: Final = (GOOD, FALSE)


def is_shadowed(lines: Iterable[Observation]) -> bool:
    """Tell whether a game says that it is shadowed."""
    return any(isinstance(line, Other) and line.name == SHADOW for line in lines)
