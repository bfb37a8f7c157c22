"""The votes of a class on slaps whose verdicts are not shown yet. Pure: time is data, ns.

The first vote on a slap starts its time. The verdict is shown at the end of that time, soon after every phone has
voted, or when the teacher shows it, whichever is first; from then on the votes stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from referee.units import SECOND

SECOND_THOUGHTS: Final = 3 * SECOND
"""Time in which votes can still be changed after every phone has voted, and further phones can join."""


class VoteProblem(Enum):
    """Why a vote is not taken; the values are keys of its text."""

    NOT_ASKED = "vote.not_asked"
    """Another slap is asked now, or none."""
    SHOWN = "vote.too_late"
    NO_CHOICE = "vote.no_choice"
    """There is no such answer to this question."""


@dataclass(slots=True)
class Ballot:
    """The votes on one slap."""

    question: str
    """The slap's id."""
    choices: Sequence[str]
    votes: dict[str, str] = field(default_factory=dict)
    """Choice by device."""
    shown: bool = False
    """Whether the verdict is shown."""
    began: int = 0
    """Instant of the first vote, or at which a question with votes was asked again."""
    changed: int = 0
    """Instant of the last vote."""

    def count(self) -> dict[str, int]:
        """Return the number of votes for each choice."""
        counted = Counter(self.votes.values())
        return {choice: counted[choice] for choice in self.choices}


class SlapVotes:
    """Asks about one slap at a time, and keeps the votes on all of them.

    Args:
        length: time from the first vote on a slap to its verdict.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._ballots: dict[str, Ballot] = {}
        self.asked: Ballot | None = None
        """The votes on the slap that is asked now."""

    def ask(self, question: str, choices: Sequence[str], now: int) -> None:
        """Ask about a slap; one that was asked before keeps its votes, and its verdict if that was shown."""
        if self.asked is not None and self.asked.question == question:
            return
        self.asked = self._ballots.setdefault(question, Ballot(question, choices))
        self.asked.began = self.asked.changed = now

    def stop(self) -> None:
        """Ask about no slap."""
        self.asked = None

    def vote(self, device: str, question: str, choice: str, now: int) -> VoteProblem | None:
        """Take or change a device's vote; return why it is not taken, or None."""
        asked = self.asked
        if asked is None or asked.question != question:
            return VoteProblem.NOT_ASKED
        if asked.shown:
            return VoteProblem.SHOWN
        if choice not in asked.choices:
            return VoteProblem.NO_CHOICE
        if not asked.votes:
            asked.began = now
        asked.votes[device], asked.changed = choice, now
        return None

    def votes_of(self, device: str) -> dict[str, str]:
        """Return a device's votes, by slap."""
        return {name: ballot.votes[device] for name, ballot in self._ballots.items() if device in ballot.votes}

    def due(self, devices: Collection[str]) -> int | None:
        """Return the instant at which the verdict is to be shown; `None`: no vote was cast, or it is shown already.

        Args:
            devices: those that have joined.
        """
        asked = self.asked
        if asked is None or asked.shown or not asked.votes:
            return None
        end = asked.began + self._length
        return min(end, asked.changed + SECOND_THOUGHTS) if asked.votes.keys() >= set(devices) else end

    def advance(self, now: int, devices: Collection[str]) -> bool:
        """Show the verdict if it is due; return whether that is new."""
        due = self.due(devices)
        return due is not None and due <= now and self.show()

    def show(self) -> bool:
        """Show the verdict; return whether that is new."""
        if self.asked is None or self.asked.shown:
            return False
        self.asked.shown = True
        return True
