"""What goes to a viewer: of every table the facts that changed since the viewer was told last. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from referee.adjudication.rulings import Ruling
from referee.app.hall.parsing import sentence
from referee.app.hall.tables import Hall, Table
from referee.app.page.rulingwords import RulingWords
from referee.app.page.texts import Texts


def difference(hall: Hall, since: int, texts: Texts, now: int, only: str | None = None) -> str:
    """An event's data as JSON; empty where nothing has changed.

    Args:
        hall: every table.
        since: the change that the viewer was told last; 0 tells everything.
        texts: the viewer's language.
        now: the present instant, ns; ``quiet`` of a silent table is told on the same line of time.
        only: one table, with its recent rulings; None tells of all without them.
    """
    tables = hall.tables.values() if only is None else [t for t in hall.tables.values() if t.name == only]
    told = {table.name: _facts(table, since, texts, only is not None) for table in tables if table.changed > since}
    gone = [name for name, at in hall.gone.items() if at > since and only in (None, name)] if since else []
    if since and not told and not gone:
        return ""
    event = {"now": now // 1_000_000, "whole": since == 0, "broker": hall.connected, "tables": told, "gone": gone}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _facts(table: Table, since: int, texts: Texts, large: bool) -> dict[str, Any]:
    words = RulingWords(table.state.names if table.state else (), texts)
    return {
        key: _SPOKEN[key](fact, words) if key in _SPOKEN else fact
        for key, (at, fact) in table.facts.items()
        if at > since and (large or key != "recent")
    }


def _said(ruling: Ruling | None, words: RulingWords) -> dict[str, str] | None:
    return None if ruling is None else {"kind": ruling.kind, "words": sentence(ruling, words)}


_SPOKEN: dict[str, Callable[[Any, RulingWords], Any]] = {
    "said": _said,
    "asks": lambda asks, words: [sentence(ask, words) for ask in asks],
    "recent": lambda recent, words: [{"n": n, **(_said(ruling, words) or {})} for n, ruling in recent],
}
"""Facts that are put into words only when they are told, in the language of whoever is told."""
