"""Amendments: answers and corrections by people change the log, and everything after that is ruled again (K6).

Nothing is patched. The fold runs again from a kept state before the changed line, with the corrected line and all
answers known by now; unchanged rulings stand, the others are replaced.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from referee.engine.log import from_fields, to_fields
from referee.engine.observations import Answer, Correct, LogError, Observation
from referee.engine.rulings import PlacedRuling, Ruling, base_id, cause_of, ruling_fields, unamended


class AmendmentError(LogError):
    """A correction that names no line, or results in an invalid one; the message says what it should have been."""


def apply_correction(observation: Observation, by: Correct) -> Observation | None:
    """Return the corrected line; None if it is struck out.

    The replacing fields are those of the correction; fields that the correction has itself (``t``) are in its
    ``fields``.

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
    except LogError as error:
        raise AmendmentError(None, f'the correction of "{by.line}" does not fit it: {error.problem}') from None


def as_in_turn(ruling: Ruling, by: Correct) -> Correct:
    """Return the correction by which a dead card was in turn: the seat to play laid it, or its report is struck out."""
    cause, *reported = ruling.because
    return replace(by, line=cause, void=bool(reported), extra={} if reported else {"seat": None})


def _say_the_same(old: Ruling, new: Ruling) -> bool:
    """Whether two rulings differ in nothing but what amendments add; most are equal, which is quicker to see."""
    return old == new or _content(old) == _content(new)


def _content(ruling: Ruling) -> str:
    """Return a ruling's content, without its id."""
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
    """Compare the old rulings with the new ones.

    Args:
        before: rulings in force that lie before the changed line.
        old: rulings in force since the changed line.
        new: rulings of the repeated fold.
        amendment: the answer or correction.
        gone: ids of rulings that were replaced before; they are not reused, nor replaced again.

    Returns:
        All rulings now in force since that line (the old one if unchanged), and the new ones among them, with the ids
        of the rulings that they replace. Rulings without a successor are replaced by the first new ruling, or by one
        that says so. Rulings that are no longer undone are issued again.
    """
    left = {base_id(placed.ruling): placed for placed in old}
    undone = {name for placed in new for name in placed.ruling.undoes}
    names = {base_id(placed.ruling): placed.ruling.id for placed in before} if undone else {}
    in_force: list[PlacedRuling] = []
    changed: list[PlacedRuling] = []
    for placed in new:
        ruling = placed.ruling
        first = ruling.id
        replaced = left.pop(first, None)
        undoes = name_undone(ruling, names, gone)
        if replaced is not None:
            was_undone = replaced.ruling.id in gone
            if not undoes and (not was_undone or first in undone) and _say_the_same(replaced.ruling, ruling):
                in_force.append(PlacedRuling(placed.key, placed.nth, replaced.ruling))
                names[first] = replaced.ruling.id
                continue
            if not was_undone:
                undoes = (replaced.ruling.id, *undoes)
        name = f"{first}~{amendment.id}" if replaced is not None or first in gone else first
        brought = _brought_by(replace(ruling, id=name, supersedes=undoes), amendment, is_new=replaced is None)
        named = replace(placed, ruling=brought)
        names[first] = name
        in_force.append(named)
        changed.append(named)
    orphans = [placed for placed in left.values() if placed.ruling.id not in gone]
    if orphans:
        _replace_orphans(orphans, in_force, changed, amendment)
    return in_force, changed


def name_undone(ruling: Ruling, names: Mapping[str, str], gone: Container[str]) -> tuple[str, ...]:
    """Return the current ids of the rulings that a ruling undoes (F9, E8), without those replaced before (``gone``).

    ``names`` maps first ids to current ones.
    """
    return tuple(names[name] for name in ruling.undoes if name in names and names[name] not in gone)


def _brought_by(ruling: Ruling, amendment: Answer | Correct, *, is_new: bool = True) -> Ruling:
    """Return the ruling as caused by the amendment; a correction that changed something is announced as one."""
    is_correction = isinstance(amendment, Correct) and (bool(ruling.supersedes) or not is_new)
    return replace(ruling, amended_by=amendment.id, is_correction=is_correction)


def _replace_orphans(
    orphans: Sequence[PlacedRuling],
    in_force: list[PlacedRuling],
    changed: list[PlacedRuling],
    amendment: Answer | Correct,
) -> None:
    """Let rulings without a successor be replaced by a new one of the same cause, or else by the first new one."""
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
