"""People overrule a verdict (K6): a slap is void, false, or the one that was first, whatever was seen.

What they may say of which ruling (`find_overrulable`) is asked by the commands and by the page that offers them. What
they have said is kept beside the answers, by the slap, and the fold asks for it there (`apply_overrule`).
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
"""By kind of ruling, what people may say instead."""
OVERRULED: Final = "overrule@"
"""With a slap's id behind it, the name under which people's word on that slap is kept."""
_SAME_PILE_NS: Final = 10_000_000_000
"""How far apart hands on one pile may come down, ns; a seat's hand is looked for no further away."""


class Overrulable(NamedTuple):
    """What people may put in a ruling's place."""

    verdicts: tuple[str, ...]
    seats: tuple[int, ...]
    """Seats whose hand may be said to have been first instead: it came down near the one that won."""


def find_overrulable(
    ruling: Ruling, slaps: Iterable[Slap], *, owner: int | None, is_on_record: bool
) -> Overrulable | None:
    """What people may put in a ruling's place now; None where they may not.

    Args:
        ruling: one that no other has replaced.
        slaps: the hands of the game as they stand now.
        owner: the seat that has won the pile and has not picked it up. Its slap is on record only once it has.
        is_on_record: whether the ruling stands in the log.
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
    # Nobody can win what does not lie there.
    never = {"slap_won"} if ruling.get("reason") == "empty_pile" else set()
    verdicts = tuple(verdict for verdict in VERDICTS_INSTEAD[ruling.kind] if verdict not in never)
    return Overrulable(verdicts, tuple(sorted(seats - {ruling["seat"]})))


def allows_corrections(table: Table) -> bool:
    """Whether the house rules let people correct the referee (K6); rules that cannot be read do not forbid it."""
    try:
        return table.house.has("K6")
    except RulesError:
        return True


def apply_overrule(judged: Verdict, outcome: Any) -> Verdict:
    """The verdict on a slap, or what people put in its place."""
    if outcome == judged.outcome:
        # People said that this hand was first, and not only that it is good: the stamps have another before it.
        return judged._replace(rule=(*judged.rule, "K6")) if outcome == "won" else judged
    reason = "" if outcome == "won" else "overruled"
    return Verdict(outcome, reason, ("K6",), because=judged.because)


def is_overruled(ruling: Ruling) -> bool:
    """Whether people put this verdict in another's place (K6)."""
    return "K6" in ruling.rule and (ruling.kind == "slap_won" or ruling.get("reason") == "overruled")


_VERDICTS: Final = {"slap_won": "won", "slap_void": "void", "slap_false": "false"}


def read_overrule(
    ruling: Ruling, by: Correct, lines: Iterable[Observation], in_force: Sequence[Ruling]
) -> dict[str, str]:
    """What people's word on a ruling says of each slap, by `OVERRULED` and its id.

    ``void`` makes a slap that won or was false void; ``ruling`` gives it another verdict; ``seat`` on a slap that won
    names who was first.

    Raises:
        AmendmentError: the ruling is no verdict on a slap, or the word says nothing about it.
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
    """A seat's hand on the same pile: the nearest one."""
    own = [slap for slap in slaps if slap.seat == seat and abs(slap.t - near.t) <= _SAME_PILE_NS]
    if not own:
        raise AmendmentError(None, f'seat {seat} did not slap near "{near.id}"')
    return min(own, key=lambda slap: (abs(slap.t - near.t), slap.t))


def _award(slap: Slap, slaps: Iterable[Slap], in_force: Iterable[Ruling]) -> dict[str, str]:
    """This slap wins its pile: the hands that were ruled before it on that pile are void."""
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
