"""What people say afterwards: answers and corrections change the record, and all that follows is ruled again (K6).

Nothing is patched. The fold runs again from a kept state before the changed line, with the line as it should have been
and the answers that are known by now; rulings that come out as before stand, the others are replaced.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from referee.engine.log import from_fields, to_fields
from referee.engine.observations import Answer, Correct, LogError, Observation
from referee.engine.rulings import PlacedRuling, Ruling, base_id, cause_of, ruling_fields


class AmendmentError(LogError):
    """A correction that names no line, or makes none; says what it should have been."""


def apply_correction(observation: Observation, by: Correct) -> Observation | None:
    """The line as it should have been; None where it is to be left out.

    The fields that replace the line's stand in the correction; those that are its own too (``t``) in its ``fields``.

    Raises:
        AmendmentError: the fields do not fit the line that they correct.
    """
    if by.void:
        return None
    said = dict(by.extra)
    beside = said.pop("fields", {})
    fields = {**to_fields(observation), **said, **(beside if isinstance(beside, Mapping) else {})}
    fields["id"] = observation.id
    try:
        return from_fields(fields, 0)
    except LogError as bad:
        raise AmendmentError(None, f'the correction of "{by.line}" does not fit it: {bad.problem}') from None


def as_in_turn(ruling: Ruling, by: Correct) -> Correct:
    """A dead card was in turn after all: the seat whose turn it was laid it, or the report of it never was."""
    cause, *reported = ruling.because
    return replace(by, line=cause, void=bool(reported), extra={} if reported else {"seat": None})


def _content(ruling: Ruling) -> str:
    """What a ruling says, whatever it is called."""
    fields = ruling_fields(replace(ruling, supersedes=()))
    del fields["id"]
    return json.dumps(fields, sort_keys=True)


def compare_rulings(
    old: Sequence[PlacedRuling], new: Iterable[PlacedRuling], amendment: Answer | Correct, gone: Container[str] = ()
) -> tuple[list[PlacedRuling], list[PlacedRuling]]:
    """Compare what was ruled with what is ruled now.

    Args:
        old: rulings in force since the changed line.
        new: rulings of the fold that ran again.
        amendment: what people said.
        gone: ids of rulings that were replaced before; they are not given again.

    Returns:
        All rulings in force now (the old one where nothing changed), and those of them that are new, with the ids of
        the rulings that they replace. What fell away without a successor is replaced by the first new ruling, or by
        one that says so.
    """
    left = {base_id(placed.ruling.id): placed for placed in old}
    in_force: list[PlacedRuling] = []
    changed: list[PlacedRuling] = []
    for placed in new:
        before = left.pop(placed.ruling.id, None)
        if before is not None and _content(before.ruling) == _content(placed.ruling):
            in_force.append(replace(placed, ruling=before.ruling))
            continue
        ruling = placed.ruling
        if before is not None:
            ruling = replace(ruling, id=f"{ruling.id}~{amendment.id}", supersedes=(before.ruling.id,))
        elif ruling.id in gone:
            ruling = replace(ruling, id=f"{ruling.id}~{amendment.id}")
        named = replace(placed, ruling=ruling)
        in_force.append(named)
        changed.append(named)
    if left:
        _replace_orphans(list(left.values()), in_force, changed, amendment)
    return in_force, changed


def _replace_orphans(
    orphans: Sequence[PlacedRuling],
    in_force: list[PlacedRuling],
    changed: list[PlacedRuling],
    amendment: Answer | Correct,
) -> None:
    """Rulings that fell away are named by a new one of the same cause, or else by the first new one."""
    if not changed:
        names = tuple(placed.ruling.id for placed in orphans)
        first = orphans[0]
        told = Ruling("corrected", f"corrected@{amendment.id}", first.ruling.t, (amendment.id,), ("K6",), {}, names)
        changed.append(replace(first, ruling=told))
        return
    causes = [cause_of(placed.ruling.id) for placed in changed]
    for orphan in orphans:
        cause = cause_of(orphan.ruling.id)
        at = causes.index(cause) if cause in causes else 0
        heir = changed[at]
        said = replace(heir, ruling=replace(heir.ruling, supersedes=(*heir.ruling.supersedes, orphan.ruling.id)))
        in_force[in_force.index(heir)] = said
        changed[at] = said
