"""A class at reaction trials: its trials, and the rounds of a shared stimulus. Pure.

`ReactionClass` keeps the trials for the length of the lesson. `SharedRounds` runs trials with one stimulus for all: its
caller reports every hand, shows the stimulus when `SharedRounds.advance` says so, and reports with `SharedRounds.show`
when that really happened. Phones that show the stimulus themselves have no rounds: each reports its own trials.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from enum import Enum
from typing import Final

from referee.options.classroom.pupils import Pupils
from referee.options.classroom.reaction_trials import (
    EITHER,
    LEFT,
    RIGHT,
    WINDOW,
    Timed,
    Trial,
    TrialEnd,
    ask_hand,
    draw_wait,
    judge_trial,
)
from referee.units import SECOND

MOST_TRIES: Final = 5
"""Tries at one trial: after so many false starts the next trial follows, so that every lesson ends."""
SHOW_PATIENCE: Final = 3 * SECOND
"""Time after which a stimulus without confirmation counts as not shown, ns."""
_HEAR_PATIENCE: Final = 3 * SECOND
"""Extra wait after a trial's end for devices that have not reported up to there, ns."""


class ReactionClass(Pupils):
    """The pupils, and all their trials.

    Args:
        each: trials of one pupil.
        hands: whether a hand is asked for, left or right.
    """

    def __init__(self, each: int, *, hands: bool = False) -> None:
        super().__init__()
        self.each, self._hands = each, hands
        self.trials: list[Trial] = []

    def forget(self) -> None:
        """Delete all trials and pupils; numbers continue, so that each stays unique in the written file."""
        self.trials.clear()
        self.pupils.clear()
        self.nicknames.clear()

    def of(self, pupil: int) -> list[Trial]:
        """Return a pupil's trials."""
        return [trial for trial in self.trials if trial.pupil == pupil]

    @property
    def members(self) -> tuple[int, ...]:
        """The pupils who have made a trial or are at a device now, by number."""
        return tuple(sorted({trial.pupil for trial in self.trials} | set(self.pupils.values())))

    def next_number(self, pupil: int) -> int | None:
        """Return the number of a pupil's next trial, the same again after a false start; `None`: all are made."""
        made = self.of(pupil)
        if not made:
            return 1
        last = made[-1]
        tries = sum(trial.number == last.number for trial in made)
        number = last.number if last.end is TrialEnd.FALSE_START and tries < MOST_TRIES else last.number + 1
        return number if number <= self.each else None

    def hand(self, number: int, *, mirrored: bool = False) -> str:
        """Return the hand that a trial asks for."""
        return ask_hand(number, self.each, mirrored=mirrored) if self._hands else EITHER

    def owed_hand(self, pupil: int) -> str:
        """Return the hand with which a pupil has made fewer trials, false starts apart."""
        if not self._hands:
            return EITHER
        made = [trial.hand for trial in self.of(pupil) if trial.end is not TrialEnd.FALSE_START]
        return LEFT if made.count(LEFT) < made.count(RIGHT) else RIGHT


class RoundPhase(Enum):
    """State of the rounds."""

    IDLE = "idle"
    """Pupils come to their devices; nothing is measured."""
    WAITING = "waiting"
    """Pupils are ready, and the stimulus is still to come."""
    SHOWING = "showing"
    """The stimulus was requested, but its instant has not been reported."""
    OPEN = "open"
    BETWEEN = "between"


class SharedRounds:
    """Repeated rounds of one stimulus for all, and then further ones for those who owe trials after false starts.

    Args:
        room: the class.
        shortest: the shortest wait before a stimulus, and the rest after a round, ns.
        chance: random source of the waits.
    """

    def __init__(self, room: ReactionClass, shortest: int, chance: random.Random) -> None:
        self._room, self._shortest, self._chance = room, shortest, chance
        self.phase = RoundPhase.IDLE
        self.number = 0
        """Number of the round, from 1 on; above `ReactionClass.each`, a further one."""
        self.hand = EITHER
        """The hand that this round asks for."""
        self.unseen = False
        """Whether the rounds stopped because the last stimulus was never shown."""
        self._ready = self._due = 0
        self._stimulus: Timed | None = None
        self._first: dict[str, Timed] = {}
        """The first hand of each device since all were ready."""
        self._taking_part: dict[str, int] = {}
        """Pupil by device, in this round."""

    @property
    def _owing(self) -> dict[str, int]:
        """Pupil by device: those who have trials to make."""
        return {
            device: pupil for device, pupil in self._room.pupils.items() if self._room.next_number(pupil) is not None
        }

    def begin(self, t: int) -> bool:
        """Begin the rounds at ``t`` (ns); return whether there are pupils for them."""
        if self.phase is not RoundPhase.IDLE or not self._owing:
            return False
        self.number, self.unseen = 0, False
        self._ready_at(t)
        return True

    def stop(self) -> None:
        """Abort the current round and start no other."""
        self.phase, self.number, self.hand = RoundPhase.IDLE, 0, EITHER

    def press(self, device: str, hand: Timed) -> None:
        """Take a hand; between rounds it is ignored, and before the first it admits the pupil."""
        if self.phase is RoundPhase.IDLE:
            self._room.admit(device)
        elif self.phase is not RoundPhase.BETWEEN and hand.t >= self._ready:
            self._first.setdefault(device, hand)

    def show(self, stimulus: Timed) -> None:
        """Record the instant of the stimulus."""
        if self.phase is RoundPhase.SHOWING:
            self.phase, self._stimulus = RoundPhase.OPEN, stimulus

    def advance(self, now: int, told: int, silent: Collection[str] = ()) -> bool:
        """Advance; return whether to show the stimulus now.

        Args:
            now: the present instant, ns.
            told: instant up to which every hand was reported, ns.
            silent: devices that have gone silent.
        """
        if self.phase is RoundPhase.WAITING and now >= self._due:
            self.phase, self._due = RoundPhase.SHOWING, now + SHOW_PATIENCE
            return True
        if self.phase is RoundPhase.SHOWING and now >= self._due:
            self.stop()
            self.unseen = True
        elif self.phase is RoundPhase.OPEN and self._stimulus is not None:
            end = self._stimulus.t + WINDOW
            if told >= end or now >= end + _HEAR_PATIENCE or self._first.keys() >= self._taking_part.keys():
                self._judge(self._stimulus, silent)
                self.phase, self._due = RoundPhase.BETWEEN, now + self._shortest
        elif self.phase is RoundPhase.BETWEEN and now >= self._due:
            if self._owing:
                self._ready_at(now)
            else:
                self.stop()
        return False

    def _ready_at(self, t: int) -> None:
        self.phase, self._ready = RoundPhase.WAITING, t
        self._due = t + draw_wait(self._chance.random(), self._shortest)
        self.number += 1
        self._taking_part = self._owing
        if self.number <= self._room.each:
            self.hand = self._room.hand(self.number)
        else:
            # Only those who owe this hand, so that each pupil makes as many trials with either.
            self.hand = self._room.owed_hand(min(self._taking_part.values()))
            self._taking_part = {
                device: pupil for device, pupil in self._taking_part.items()
                if self._room.owed_hand(pupil) == self.hand
            }  # fmt: skip
        self._first.clear()
        self._stimulus = None

    def _judge(self, stimulus: Timed, silent: Collection[str]) -> None:
        wait = stimulus.t - self._ready
        for device, pupil in sorted(self._taking_part.items(), key=lambda item: item[1]):
            number = self._room.next_number(pupil) or 0
            hand = self._first.get(device)
            if hand is None and device in silent:
                made = Trial(pupil, number, self.hand, wait, TrialEnd.UNHEARD)
            else:
                made = judge_trial(pupil, number, self.hand, wait, stimulus, hand)
            self._room.trials.append(made)
