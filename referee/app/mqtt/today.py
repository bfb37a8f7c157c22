"""The day's games that the record already holds, so that a table that was switched off and on forgets nothing."""

from __future__ import annotations

import json
from datetime import datetime

from referee.app.mqtt.tally import Tally
from referee.app.page.ruledlines import ruling_of
from referee.app.record import Record


def tally_of(record: Record, day: str) -> Tally:
    """Everything that was ruled in games that began here on ``day`` (ISO 8601); raises `RecordError`.

    The last of them is left open: what is ruled next counts for it.
    """
    tally = Tally()
    for info in reversed(record.games()):
        if local_day(info.began) != day:
            continue
        tally.begin(day, info.id, info.seats)
        # A line that cannot be read counts for nothing; the record's own page says so.
        tally.take(ruling_of(json.loads(text)) for _, text in record.lines(info.id) if text.startswith('{"ruling"'))
    return tally


def local_day(began: str) -> str:
    """The date here of a wall time in ISO 8601; of one that cannot be read, what stands where the date should be."""
    try:
        return datetime.fromisoformat(began).astimezone().date().isoformat()
    except ValueError:
        return began[:10]
