"""Winning a pile and picking it up (C5, C8, M1)."""

from __future__ import annotations

from referee.rules.ending import after_pile
from referee.rules.position import Claim
from referee.rules.step import Step


def claim_by_slap(step: Step, seat: int, ref: str) -> None:
    """The pile is this seat's at once, by the slap ``ref``, and it leads the next one (M1)."""
    step.set(claim=Claim(seat, "slap", ref), challenge=None, turn=seat, last_chance=None, tied=())


def claim_by_challenge(step: Step, seat: int, *rule: str) -> None:
    """The chances are used up: the challenger takes the pile unless somebody slaps first (C5, C9)."""
    step.set(claim=Claim(seat, "challenge", step.ref), challenge=None, turn=seat)
    step.rule("challenge_won", *rule, seat=seat)


def pick_up(step: Step) -> None:
    """The pile goes face down under its winner's own cards, order unchanged (C8)."""
    claim = step.position.claim
    if claim is None:
        return
    count = len(step.position.pile)
    step.set(pile=(), claim=None, challenge=None, turn=claim.seat, unread=frozenset())
    step.add_cards(claim.seat, count)
    step.rule("pile", "C8", because=(claim.ref,), seat=claim.seat, count=count)
    after_pile(step, claim.seat, by_slap=claim.by == "slap")
    if not step.position.over:
        step.rule("lead", "M1" if claim.by == "slap" else "C5", seat=claim.seat)
