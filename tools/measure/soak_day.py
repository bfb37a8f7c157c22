"""The figures of a simulated day, game by game; a file keeps them, so that the day can be resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tools.measure.soak_memory import FLAT, rise

RECORD_CAP: Final = 64 << 20
FRAMES_CAP: Final = 16 << 20
SLACK: Final = 1.1
"""A database may exceed its contents by this factor: pages that are half full,"""
JOURNAL: Final = 6 << 20
"""and its journal, bytes."""

Check = tuple[str, str, str, bool | None]
"""Name, required, measured, and whether it is met; None: not known yet."""


@dataclass(frozen=True)
class Game:
    """The figures of one game."""

    cards: int
    lines: int
    removed: int
    """Old games that were removed to make room."""
    given_up: int
    """Old pictures that were removed to make room."""
    record: int
    frames: int
    """Sizes of the two files when it was over, bytes."""
    memory: dict[str, int]
    """By process, bytes."""


@dataclass
class Day:
    """All games so far. A segment is the part played by one call: its processes are new."""

    path: Path
    segments: list[list[Game]] = field(default_factory=list)
    seconds: float = 0.0

    @classmethod
    def kept(cls, path: Path) -> Day:
        """Read a file; an empty day where there is none."""
        day = cls(path)
        for line in path.read_text().splitlines() if path.exists() else ():
            said = json.loads(line)
            segment, seconds = said.pop("segment"), said.pop("seconds")
            while len(day.segments) <= segment:
                day.segments.append([])
            day.segments[segment].append(Game(**said))
            day.seconds += seconds
        return day

    def begin_segment(self) -> None:
        """Begin a segment: new processes play from here."""
        if not self.segments or self.segments[-1]:
            self.segments.append([])

    def add(self, game: Game, seconds: float) -> None:
        """Add a finished game; it is in the file before the next begins."""
        self.segments[-1].append(game)
        self.seconds += seconds
        line = {"segment": len(self.segments) - 1, "seconds": round(seconds, 2), **asdict(game)}
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")

    @property
    def all(self) -> list[Game]:
        """Every game."""
        return [game for segment in self.segments for game in segment]

    @property
    def last(self) -> Game:
        """The latest."""
        return self.all[-1]

    @property
    def games(self) -> int:
        """How many."""
        return len(self.all)

    @property
    def cards(self) -> int:
        """Laid so far."""
        return sum(game.cards for game in self.all)

    @property
    def lines(self) -> int:
        """Written so far."""
        return sum(game.lines for game in self.all)

    def rises(self, process: str) -> list[float]:
        """Return a process's rise in each segment that is long enough to tell, as a share."""
        found = [rise([game.memory[process] for game in segment]) for segment in self.segments]
        return [figure for figure in found if figure is not None]

    def checks(self, cards: int) -> list[Check]:
        """Return the day's lines of the table."""
        out: list[Check] = [
            ("cards of the day", f"{cards:,}", f"{self.cards:,}", True if self.cards >= cards else None),
            *(self._flat(process) for process in ("referee", "page")),
        ]
        removed, given_up = sum(game.removed for game in self.all), sum(game.given_up for game in self.all)
        record, frames = (max((getattr(g, name) for g in self.all), default=0) for name in ("record", "frames"))
        out.append(_under("record stays under", RECORD_CAP, record, f"{removed} old games removed"))
        out.append(_under("pictures stay under", FRAMES_CAP, frames, f"{given_up} old ones given up"))
        return out

    def _flat(self, process: str) -> Check:
        rises = self.rises(process)
        last = f", {self.last.memory[process] / 1e6:.0f} MB at the end" if self.games else ""
        said = f"{max(rises):+.1%}{last}" if rises else f"too few games to tell{last}"
        more = f" (the worst of {len(rises)} calls)" if len(rises) > 1 else ""
        return flat(f"the day: memory of the {process} rises", said + more, max(rises, default=None))


def flat(what: str, said: str, found: float | None) -> Check:
    """Whether memory is flat."""
    return what, f"{FLAT:.0%} at most", said, None if found is None else found <= FLAT


def _under(what: str, cap: int, size: int, how: str) -> Check:
    allowed = cap * SLACK + JOURNAL
    return what, f"{allowed / 1e6:.0f} MB", f"{size / 1e6:.0f} MB ({how})", size <= allowed
