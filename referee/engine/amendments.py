"""What people say afterwards: answers and corrections change the record, and all that follows is ruled again (K6).

Nothing is patched. The fold runs again from a kept state before the changed line, with the line as it should have been
and the answers that are known by now; rulings that come out as before stand, the others are replaced.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from referee.engine.log import from_fields, to_fields
from referee.engine.observations import Answer, Correct, LogError, Observation
from referee.engine.rulings import PlacedRuling, Ruling, base_id, cause_of, ruling_fields, unamended


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
    fields = ruling_fields(unamended(ruling))
    del fields["id"]
    return json.dumps(fields, sort_keys=True)


def compare_rulings(
    before: Sequence[PlacedRuling],
    old: Sequence[PlacedRuling],
    new: Sequence[PlacedRuling],
    amendment: Answer | Correct,
    gone: Container[str] = (),
) -> tuple[list[PlacedRuling], list[PlacedRuling]]:
    """Compare what was ruled with what is ruled now.

    Args:
        before: rulings in force that lie before the changed line.
        old: rulings in force since the changed line.
        new: rulings of the fold that ran again.
        amendment: what people said.
        gone: ids of rulings that were replaced before; they are not given again.

    Returns:
        All rulings since that line in force now (the old one where nothing changed), and those of them that are new,
        with the ids of the rulings that they replace. What fell away without a successor is replaced by the first new
        ruling, or by one that says so. What was undone, and is so no longer, is given again.
    """
    left = {base_id(placed.ruling): placed for placed in old}
    names = {base_id(placed.ruling): placed.ruling.id for placed in before}
    undone_before = {name for placed in old if placed.ruling.undoes for name in placed.ruling.supersedes}
    undone = {name for placed in new for name in placed.ruling.undoes}
    in_force: list[PlacedRuling] = []
    changed: list[PlacedRuling] = []
    for placed in new:
        ruling = placed.ruling
        first = ruling.id
        replaced = left.pop(first, None)
        undoes = name_undone(ruling, names)
        if replaced is not None:
            stands = replaced.ruling.id not in undone_before or first in undone
            if (
                stands
                and _content(replaced.ruling) == _content(ruling)
                and set(undoes) <= {*replaced.ruling.supersedes}
            ):
                in_force.append(replace(placed, ruling=replaced.ruling))
                names[first] = replaced.ruling.id
                continue
            undoes = (replaced.ruling.id, *(name for name in undoes if name != replaced.ruling.id))
        name = f"{first}~{amendment.id}" if replaced is not None or first in gone else first
        named = replace(placed, ruling=_brought_by(replace(ruling, id=name, supersedes=undoes), amendment))
        names[first] = name
        in_force.append(named)
        changed.append(named)
    if left:
        _replace_orphans(list(left.values()), in_force, changed, amendment)
    return in_force, changed


def name_undone(ruling: Ruling, names: Mapping[str, str]) -> tuple[str, ...]:
    """What a ruling undoes (F9, E8), by the ids that these rulings have now; ``names`` gives them by the first ones."""
    return tuple(names[name] for name in ruling.undoes if name in names)


def _brought_by(ruling: Ruling, amendment: Answer | Correct) -> Ruling:
    """The ruling as what people said brought it; a correction is announced as one where it changed something."""
    is_correction = isinstance(amendment, Correct) and bool(ruling.supersedes)
    return replace(ruling, amended_by=amendment.id, is_correction=is_correction)


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
        changed.append(replace(first, ruling=_brought_by(told, amendment)))
        return
    causes = [cause_of(placed.ruling) for placed in changed]
    for orphan in orphans:
        cause = cause_of(orphan.ruling)
        at = causes.index(cause) if cause in causes else 0
        heir = changed[at]
        more = replace(heir.ruling, supersedes=(*heir.ruling.supersedes, orphan.ruling.id))
        said = replace(heir, ruling=_brought_by(more, amendment))
        in_force[in_force.index(heir)] = said
        changed[at] = said
