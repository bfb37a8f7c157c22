"""Seats that may not slap for a while (F6b to F6f, N8): locked, counted down, released."""

from __future__ import annotations

from referee.rules.position import Lock, Until
from referee.rules.step import Step


def lock(step: Step, seat: int, until: Until, row: str, left: int = 0) -> None:
    """Lock a seat out; when everybody is barred for a number of cards, all are released (N8)."""
    _store(step, seat, Lock(until, left))
    said = "pile" if until == "slap" else until
    step.rule("locked_out", row, seat=seat, until=said)
    locks = step.position.locks
    if until == "cards" and all(entry is not None and entry.until == "cards" for entry in locks):
        step.set(locks=(None,) * len(locks))


def pile_was_won(step: Step) -> None:
    """A pile was won: false slaps count from one again (F2), and locks end or shorten (F6b, F6e, F6f)."""
    locks = step.position.locks
    if any(locks):
        step.set(locks=tuple(_after_pile(entry) for entry in locks))
    if step.position.false_run or step.position.penalised:
        step.set(false_run=0, penalised=frozenset())


def card_was_laid(step: Step) -> None:
    """One card less to wait (N8)."""
    locks = step.position.locks
    if step.position.rules.has("N8") and any(entry is not None and entry.until == "cards" for entry in locks):
        step.set(locks=tuple(_after_card(entry) for entry in locks))


def somebody_slapped(step: Step, seat: int) -> None:
    """A burned hand comes free when another hand slaps (F6f)."""
    locks = step.position.locks
    if any(entry is not None and entry.until == "slap" for entry in locks):
        step.set(
            locks=tuple(
                None if entry is not None and entry.until == "slap" and other != seat else entry
                for other, entry in enumerate(locks, start=1)
            )
        )


def _after_pile(entry: Lock | None) -> Lock | None:
    if entry is None or entry.until in ("pile", "slap"):
        return None
    if entry.until == "rounds":
        return Lock("rounds", entry.left - 1) if entry.left > 1 else None
    return entry


def _after_card(entry: Lock | None) -> Lock | None:
    if entry is None or entry.until != "cards":
        return entry
    return Lock("cards", entry.left - 1) if entry.left > 1 else None


def _store(step: Step, seat: int, entry: Lock) -> None:
    locks = list(step.position.locks)
    locks[seat - 1] = entry
    step.set(locks=tuple(locks))
