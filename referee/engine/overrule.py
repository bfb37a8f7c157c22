"""Verdicts that people have overruled: the fold asks for their word as it asks for answers (K6).

People overrule a verdict on a slap (K6): the slap is void, false, or the one that was first, whatever was seen.

What they say is kept beside the answers, by the slap (`overruled`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from referee.engine.amendments import AmendmentError, base_id
from referee.engine.observations import Correct, Observation, Slap
from referee.engine.rulings import Ruling
from referee.rules.slap_verdict import Verdict


def key(slap: str) -> str:
    """Under which name people's word on a slap is kept."""
    return f"overrule@{slap}"


def overruled(judged: Verdict, slap: str, said: Mapping[str, Any]) -> Verdict:
    """The verdict on a slap, or what people put in its place."""
    outcome = said.get(key(slap))
    if outcome is None or outcome == judged.outcome:
        return judged
    reason = "" if outcome == "won" else "overruled"
    return Verdict(outcome, reason, ("K6",), because=judged.because)


_VERDICTS: Final = {"slap_won": "won", "slap_void": "void", "slap_false": "false"}
SAME_PILE_NS: Final = 10_000_000_000
"""How far apart hands on one pile may come down, ns; a seat's hand is looked for no further away."""


def overruling(ruling: Ruling, by: Correct, lines: Iterable[Observation], in_force: Sequence[Ruling]) -> dict[str, str]:
    """What people's word on a ruling says of each slap, by `key`.

    ``void`` makes a slap that won or was false void; ``ruling`` gives it another verdict; ``seat`` on a slap that won
    names who was first.

    Raises:
        AmendmentError: the ruling is no verdict on a slap, or the word says nothing about it.
    """
    cause = base_id(ruling.id).partition("@")[2]
    slaps = [line for line in lines if isinstance(line, Slap)]
    slap = next((slap for slap in slaps if slap.id == cause), None)
    if slap is None or ruling.kind not in _VERDICTS:
        raise AmendmentError(None, f'"{ruling.id}" is no verdict on a slap; correct a line that it rests on')
    if by.void and ruling.kind != "slap_void":
        return {key(slap.id): "void"}
    outcome = _VERDICTS.get(str(by.extra.get("ruling", "")))
    if outcome == "won":
        return _award(slap, slaps, in_force)
    if outcome is not None:
        return {key(slap.id): outcome}
    if ruling.kind == "slap_won" and "seat" in by.extra:
        return _award(_hand_of(by.extra["seat"], slap, slaps), slaps, in_force)
    raise AmendmentError(None, f'the correction of "{ruling.id}" must say "void", "seat" or "ruling"')


def _hand_of(seat: Any, near: Slap, slaps: Iterable[Slap]) -> Slap:
    """A seat's hand on the same pile: the nearest one."""
    own = [slap for slap in slaps if slap.seat == seat and abs(slap.t - near.t) <= SAME_PILE_NS]
    if not own:
        raise AmendmentError(None, f'seat {seat} did not slap near "{near.id}"')
    return min(own, key=lambda slap: (abs(slap.t - near.t), slap.t))


def _award(slap: Slap, slaps: Iterable[Slap], in_force: Iterable[Ruling]) -> dict[str, str]:
    """This slap wins its pile: the hands that were ruled before it on that pile are void."""
    since = slap.t
    for ruling in sorted(in_force, key=lambda ruling: ruling.t):
        if ruling.t > slap.t:
            break
        if ruling.kind == "slap_won":
            since = ruling.t
        elif ruling.kind == "pile":
            since = slap.t
    others = (other for other in slaps if other.seat != slap.seat and since <= other.t <= slap.t)
    return {**{key(other.id): "void" for other in others}, key(slap.id): "won"}
