"""Overruling of verdicts by people (K6): a slap is void, false or first, whatever the sensors saw.

Commands and the page ask which verdicts may replace a ruling (`find_overrulable`). The chosen verdict is kept with the
answers, by slap, where the fold looks it up (`apply_overrule`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from referee.engine.amendments import AmendmentError
from referee.engine.observations import Correct, Observation, Slap, Table
from referee.engine.rulings import Ruling, cause_of
from referee.rules.house import RulesError
from referee.rules.slap_verdict import Verdict

VERDICTS_INSTEAD: Final[Mapping[str, tuple[str, ...]]] = {
    "slap_won": ("slap_false", "slap_void"),
    "slap_false": ("slap_won", "slap_void"),
    "slap_void": ("slap_won", "slap_false"),
    "dead_card": ("in_turn",),
}
"""By kind of ruling, the verdicts that people may choose instead."""
OVERRULED: Final = "overrule@"
"""Prefix of the key, followed by a slap's id, that stores people's verdict on that slap."""
_SAME_PILE_NS: Final = 10_000_000_000
"""Maximum time between hands on one pile, ns; limits the search for a seat's hand."""


class Overrulable(NamedTuple):
    """The verdicts by which people may replace a ruling."""

    verdicts: tuple[str, ...]
    seats: tuple[int, ...]
    """Seats whose hand may be named first instead, because it came down near the one that won."""


def find_overrulable(
    ruling: Ruling, slaps: Iterable[Slap], *, owner: int | None, is_on_record: bool
) -> Overrulable | None:
    """Return the verdicts by which people may now replace a ruling; None if they may not.

    Args:
        ruling: a ruling in force.
        slaps: the hands of the game as they now stand.
        owner: the seat that has won the pile and not yet picked it up. Its slap is on record only after the pick-up.
        is_on_record: whether the ruling is in the log.
    """
    if ruling.kind not in VERDICTS_INSTEAD:
        return None
    if not is_on_record and (ruling.kind != "slap_won" or ruling["seat"] != owner):
        return None
    seats: set[int] = set()
    if ruling.kind == "slap_won":
        hands, cause = list(slaps), cause_of(ruling)
        won = [slap for slap in hands if slap.id == cause]
        seats = {slap.seat for slap in hands if won and abs(slap.t - won[0].t) <= _SAME_PILE_NS}
    # An empty pile cannot be won.
    never = {"slap_won"} if ruling.get("reason") == "empty_pile" else set()
    verdicts = tuple(verdict for verdict in VERDICTS_INSTEAD[ruling.kind] if verdict not in never)
    return Overrulable(verdicts, tuple(sorted(seats - {ruling["seat"]})))


def allows_corrections(table: Table) -> bool:
    """Whether the house rules let people correct the referee (K6); unreadable rules do not forbid it."""
    try:
        return table.house.has("K6")
    except RulesError:
        return True


def apply_overrule(judged: Verdict, outcome: Any) -> Verdict:
    """Return the verdict on a slap, or people's verdict in its place."""
    if outcome == judged.outcome:
        # People said that this hand was first, not only that it is good: by the timestamps another came before it.
        return judged._replace(rule=(*judged.rule, "K6")) if outcome == "won" else judged
    reason = "" if outcome == "won" else "overruled"
    return Verdict(outcome, reason, ("K6",), because=judged.because)


def is_overruled(ruling: Ruling) -> bool:
    """Whether people put this verdict in place of another (K6)."""
    return "K6" in ruling.rule and (ruling.kind == "slap_won" or ruling.get("reason") == "overruled")


_VERDICTS: Final = {"slap_won": "won", "slap_void": "void", "slap_false": "false"}


def read_overrule(
    ruling: Ruling, by: Correct, lines: Iterable[Observation], in_force: Sequence[Ruling]
) -> dict[str, str]:
    """Return the verdict on each slap that a correction of a ruling implies, by `OVERRULED` and the slap's id.

    ``void`` makes a won or false slap void; ``ruling`` gives it another verdict; ``seat`` on a won slap names the seat
    that was first.

    Raises:
        AmendmentError: the ruling is not a verdict on a slap, or the correction says nothing about it.
    """
    cause = cause_of(ruling)
    slaps = [line for line in lines if isinstance(line, Slap)]
    slap = next((slap for slap in slaps if slap.id == cause), None)
    if slap is None or ruling.kind not in _VERDICTS:
        raise AmendmentError(None, f'"{ruling.id}" is no verdict on a slap; correct a line that it rests on')
    if by.void and ruling.kind != "slap_void":
        return {OVERRULED + slap.id: "void"}
    outcome = _VERDICTS.get(str(by.extra.get("ruling", "")))
    if outcome == "won":
        return _award(slap, slaps, in_force)
    if outcome is not None:
        return {OVERRULED + slap.id: outcome}
    if ruling.kind == "slap_won" and "seat" in by.extra:
        return _award(_hand_of(by.extra["seat"], slap, slaps), slaps, in_force)
    raise AmendmentError(None, f'the correction of "{ruling.id}" must say "void", "seat" or "ruling"')


def _hand_of(seat: Any, near: Slap, slaps: Iterable[Slap]) -> Slap:
    """Return a seat's nearest hand on the same pile."""
    own = [slap for slap in slaps if slap.seat == seat and abs(slap.t - near.t) <= _SAME_PILE_NS]
    if not own:
        raise AmendmentError(None, f'seat {seat} did not slap near "{near.id}"')
    return min(own, key=lambda slap: (abs(slap.t - near.t), slap.t))


def _award(slap: Slap, slaps: Iterable[Slap], in_force: Iterable[Ruling]) -> dict[str, str]:
    """Let this slap win its pile: hands ruled before it on that pile become void."""
    since = slap.t
    for ruling in sorted(in_force, key=lambda ruling: ruling.t):
        if ruling.t > slap.t or ruling.because[0] == slap.id:
            break
        if ruling.kind == "slap_won":
            since = ruling.t
        elif ruling.kind == "pile":
            since = slap.t
    others = (other for other in slaps if other.id != slap.id and since <= other.t <= slap.t)
    return {**{OVERRULED + other.id: "void" for other in others}, OVERRULED + slap.id: "won"}
