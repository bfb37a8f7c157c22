"""Seats that may not slap for a while (F6b to F6f, N8): lock, count down, release."""

from __future__ import annotations

from referee.rules.position import Lock, Until
from referee.rules.step import Step


def lock(step: Step, seat: int, until: Until, row: str, left: int = 0) -> None:
    """Lock a seat out."""
    locks = list(step.position.locks)
    locks[seat - 1] = Lock(until, row, left)
    step.set(locks=tuple(locks))
    step.rule("locked_out", row, seat=seat, until="pile" if until == "slap" else until)
    release_all_barred(step)


def release_all_barred(step: Step) -> None:
    """Release all seats barred for cards once every seat that could otherwise slap is locked out (N8).

    That can also happen without a false slap: the only free seat leaves or runs out of cards.
    """
    position = step.position
    barred = [entry is not None and entry.until == "cards" for entry in position.locks]
    if not any(barred):
        return
    # A seat locked out by another row could not slap anyway.
    if all(position.locks[seat - 1] is not None for seat in position.players() if position.may_slap(seat)):
        locks = (None if released else entry for released, entry in zip(barred, position.locks, strict=True))
        step.set(locks=tuple(locks))


def pile_was_won(step: Step) -> None:
    """Handle a won pile: false slaps count from one again (F2), and locks end or shorten (F6b, F6e, F6f)."""
    locks = step.position.locks
    if any(locks):
        kept = (None if entry is None or entry.until in ("pile", "slap") else entry for entry in locks)
        step.set(locks=tuple(_one_less(entry, "rounds") for entry in kept))
    if step.position.false_run:
        step.set(false_run=0)


def card_was_laid(step: Step) -> None:
    """Count down locks by one card (N8); a card laid during a pause does not count."""
    position = step.position
    if position.paused:
        return
    if any(entry is not None and entry.until == "cards" for entry in position.locks):
        step.set(locks=tuple(_one_less(entry, "cards") for entry in position.locks))


def somebody_slapped(step: Step, seat: int) -> None:
    """Release burned hands when another hand slaps (F6f)."""
    locks = step.position.locks
    if any(entry is not None and entry.until == "slap" for entry in locks):
        step.set(
            locks=tuple(
                None if entry is not None and entry.until == "slap" and other != seat else entry
                for other, entry in enumerate(locks, start=1)
            )
        )


def _one_less(entry: Lock | None, until: Until) -> Lock | None:
    """Return the lock one step closer to its end if it counts this unit; None once it ends."""
    if entry is None or entry.until != until:
        return entry
    return entry._replace(left=entry.left - 1) if entry.left > 1 else None
