"""Commands that put another verdict in a ruling's place (K6)."""

from __future__ import annotations

from typing import Any, Final

from referee.adjudication.observations import Correct, Slap
from referee.app.amended import Amended
from referee.app.commands import Command
from referee.app.outcomes import Accepted, Facts, Namer, No, a_seat
from referee.app.sentences import Sentence

WITHIN: Final = 10_000_000_000
"""How far from the slap that was ruled first another seat's hand may be to be put in its place, ns."""


def overrule(command: Command, facts: Facts, log: Amended, name: Namer) -> Accepted:
    ruling, kind, seat = _verdict_on(command.get("ruling"), facts, log)
    verdict, other = command.get("verdict"), command.get("seat")
    if verdict is not None and other is not None:
        raise No("say another verdict or another seat, not both")
    fields: dict[str, Any] = {"void": True}
    if kind == "dead_card" or verdict == "in_turn":
        if kind != "dead_card" or verdict != "in_turn":
            raise No("a dead card can only be said to have been in turn, and nothing else can")
        words = Sentence("the card was in turn after all; what follows is ruled again")
    elif verdict is not None:
        if verdict == kind:
            raise No("that is what was ruled")
        fields = {"extra": {"ruling": verdict}}
        words = _as(verdict, seat)
    else:
        if kind != "slap_won":
            raise No("only where a slap won can another seat's hand be said to have been first")
        _had_a_hand_near(ruling, a_seat(other, facts, log), log)
        if other == seat:
            raise No("that is what was ruled")
        fields = {"extra": {"seat": other}}
        words = Sentence("{seat} was first; what follows is ruled again", seat=other)
    by = Correct(t=facts.t, id=name("correct"), line=ruling, **fields)
    return Accepted(words, (by,))


_VERDICTS: Final = ("slap_won", "slap_false", "slap_void")


def _as(verdict: str, seat: int) -> Sentence:
    """What another verdict on a slap comes to."""
    if verdict == "slap_won":
        return Sentence("{seat}: the slap was good; what follows is ruled again", seat=seat)
    if verdict == "slap_false":
        return Sentence("{seat}: the slap was false; what follows is ruled again", seat=seat)
    return Sentence("{seat}: the slap is void; what follows is ruled again", seat=seat)


def _verdict_on(name: str, facts: Facts, log: Amended) -> tuple[str, str, int]:
    """Id, kind and seat of a ruling that may be overruled."""
    ruling = log.ruling(name)
    if ruling is not None:
        if ruling.kind not in (*_VERDICTS, "dead_card"):
            raise No("that ruling follows from what was seen: correct the card, the seat or the hand that it rests on")
        return ruling.id, ruling.kind, int(ruling["seat"])
    # A slap that won is ruled in full once its pile is picked up; until then it is named by its hand.
    kind, _, cause = name.partition("~")[0].partition("@")
    slap = log.now(cause) if kind == "slap_won" and log.known(cause) else None
    if isinstance(slap, Slap) and facts.view.owner == slap.seat:
        return name, kind, slap.seat
    raise No('there is no ruling "{name}" in force', name=name)


def _had_a_hand_near(ruling: str, seat: int, log: Amended) -> None:
    cause = log.now(ruling.partition("~")[0].partition("@")[2])
    slaps = (line for line in log.all_now() if isinstance(line, Slap) and line.seat == seat)
    if cause is None or not any(abs(slap.t - cause.t) <= WITHIN for slap in slaps):
        raise No("{seat} did not slap then", seat=seat)
