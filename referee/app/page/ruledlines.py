"""Lines of a log as they stand in the record: rulings and observations told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from referee.adjudication.codec import from_fields, parse_object
from referee.adjudication.observations import Observation
from referee.adjudication.rulings import Ruling

_OWN: Final = frozenset(("ruling", "id", "t", "because", "rule", "supersedes", "doubt"))


def ruling_of(raw: Mapping[str, Any]) -> Ruling:
    """A ruling from its JSON object; raises `KeyError` or `TypeError` for one that is none."""
    fields = {key: value for key, value in raw.items() if key not in _OWN}
    return Ruling(
        str(raw["ruling"]), str(raw["id"]), int(raw["t"]), tuple(raw.get("because", ())), tuple(raw.get("rule", ())),
        fields, tuple(raw.get("supersedes", ())), bool(raw.get("doubt", False)),
    )  # fmt: skip


def split(
    rows: Iterable[tuple[int, str]], *, ticks: bool = False
) -> tuple[list[tuple[int, Observation]], list[Ruling]]:
    """Observations with the numbers of their lines, and rulings, each in the order of the log.

    Args:
        rows: numbers and texts of lines.
        ticks: keep ticks as well; most lines of a live log are.

    Raises:
        LogError: a line cannot be read; names it.
    """
    observations: list[tuple[int, Observation]] = []
    rulings: list[Ruling] = []
    for number, text in rows:
        if not ticks and text.startswith('{"kind":"tick"'):
            continue
        raw = parse_object(text, number)
        if "ruling" in raw and "kind" not in raw:
            rulings.append(ruling_of(raw))
        elif ticks or raw.get("kind") != "tick":
            observations.append((number, from_fields(raw, number)))
    return observations, rulings


def replaced(rulings: Iterable[Ruling]) -> dict[str, str]:
    """For each ruling that was replaced, the id of the one that replaced it."""
    return {old: ruling.id for ruling in rulings for old in ruling.supersedes}
