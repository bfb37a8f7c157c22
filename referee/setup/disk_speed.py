"""Speed of the disk: the time of each synced write of the record's own writer."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from hardware.clock import Clock, monotonic
from referee.errors import UserError
from referee.record.store import Record
from referee.units import MS

_LINE: Final = '{"kind":"tick","t":0}'
"""About as long as a line of a log."""


def time_synced_writes(folder: Path, count: int, clock: Clock = monotonic) -> list[float]:
    """Write lines as a game does, each on the disk before the next; return the time of each, ms.

    Raises:
        UserError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix="disk-", suffix=".db") as file:
            return _time_writes(Path(file.name), count, clock)
    except OSError as error:
        raise UserError("{folder} cannot be written ({why})", folder=folder, why=error.strerror or error) from None


def _time_writes(path: Path, count: int, clock: Clock) -> list[float]:
    out = []
    with Record(path) as record:
        writer = record.begin("measured")
        writer.write('{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"rules":"classic"}')
        writer.commit()
        for _ in range(count):
            begin = clock()
            writer.write(_LINE)
            writer.commit()
            out.append((clock() - begin) / MS)
    for beside in (f"{path}-wal", f"{path}-shm"):
        Path(beside).unlink(missing_ok=True)
    return out
