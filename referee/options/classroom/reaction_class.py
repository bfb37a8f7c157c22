"""A class at reaction trials: who takes part, at which device, and one stimulus that all see or hear. Pure.

Pupils are numbers, given out by the first touch; a device is a phone, a key or a pad, by any word. `ReactionClass`
keeps the trials for as long as the lesson lasts. `SharedRounds` runs those of one stimulus for everybody: its caller
tells every hand, shows the stimulus when `SharedRounds.advance` says so, and tells with `SharedRounds.show` when that
truly was. Phones that show the stimulus themselves have no rounds: each reports its own trials.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from enum import Enum
from typing import Final

from referee.options.classroom.reaction_trials import (
    EITHER,
    WINDOW,
    Timed,
    Trial,
    TrialEnd,
    ask_hand,
    draw_wait,
    judge_trial,
)
from referee.units import SECOND

MOST_PUPILS: Final = 60
"""Of one lesson."""
SHOW_PATIENCE: Final = 3 * SECOND
"""After so long without word that the stimulus was shown, it was not, ns."""
_HEAR_PATIENCE: Final = 3 * SECOND
"""So long after a trial's end is waited for devices that have not reported up to there, ns."""


class ReactionClass:
    """Pupils by their numbers, and every trial that was made.

    Args:
        each: trials of one pupil.
        hands: whether a hand is asked for, left or right.
    """

    def __init__(self, each: int, *, hands: bool = False) -> None:
        self.each, self._hands = each, hands
        self.trials: list[Trial] = []
        self.pupils: dict[str, int] = {}
        """By device, who is at it."""
        self._last = 0

    def admit(self, device: str) -> int | None:
        """The pupil at a device, with a new number if nobody is; None where the class is full."""
        if device not in self.pupils:
            if len(self.measured) >= MOST_PUPILS:
                return None
            self._last += 1
            self.pupils[device] = self._last
        return self.pupils[device]

    def relieve(self, *devices: str) -> None:
        """Other pupils come to these devices, or to all of them."""
        for device in devices or tuple(self.pupils):
            self.pupils.pop(device, None)

    def forget(self) -> None:
        """Let all trials and pupils go; numbers go on, so that none means two pupils in what was written down."""
        self.trials.clear()
        self.pupils.clear()

    def of(self, pupil: int) -> list[Trial]:
        """A pupil's trials."""
        return [one for one in self.trials if one.pupil == pupil]

    @property
    def measured(self) -> tuple[int, ...]:
        """The pupils who have made a trial or are at a device now, by their numbers."""
        return tuple(sorted({one.pupil for one in self.trials} | set(self.pupils.values())))

    def next_number(self, pupil: int) -> int | None:
        """The number of a pupil's next trial; None where all are made."""
        number = len(self.of(pupil)) + 1
        return number if number <= self.each else None

    def hand(self, number: int, *, mirrored: bool = False) -> str:
        """The hand that is asked for in a trial."""
        return ask_hand(number, self.each, mirrored=mirrored) if self._hands else EITHER


class RoundPhase(Enum):
    """Where the rounds stand."""

    IDLE = "idle"
    """Pupils come to their devices; nothing is measured."""
    WAITING = "waiting"
    """Ready, and the stimulus is still to come."""
    SHOWING = "showing"
    """It was asked for, and nobody has told yet when it came."""
    OPEN = "open"
    BETWEEN = "between"


class SharedRounds:
    """One stimulus for everybody, again and again.

    Args:
        room: the class.
        shortest: the shortest wait before a stimulus, and the rest after a round, ns.
        chance: settles the waits.
    """

    def __init__(self, room: ReactionClass, shortest: int, chance: random.Random) -> None:
        self._room, self._shortest, self._chance = room, shortest, chance
        self.phase = RoundPhase.IDLE
        self.number = 0
        """Of the round, from 1 on."""
        self.unseen = False
        """Whether the last stimulus was shown by nobody, so that the rounds stopped."""
        self._ready = self._due = 0
        self._stimulus: Timed | None = None
        self._first: dict[str, Timed] = {}
        """By device, the first hand since all were ready."""

    @property
    def hand(self) -> str:
        """The hand that this round asks for."""
        return self._room.hand(self.number) if self.number else EITHER

    @property
    def _taking_part(self) -> dict[str, int]:
        return {device: one for device, one in self._room.pupils.items() if self._room.next_number(one) is not None}

    def begin(self, t: int) -> bool:
        """Begin the rounds at ``t`` (ns); returns whether anybody is there for them."""
        if self.phase is not RoundPhase.IDLE or not self._taking_part:
            return False
        self.number, self.unseen = 0, False
        self._ready_at(t)
        return True

    def stop(self) -> None:
        """Let the present round go, and begin no other."""
        self.phase, self.number = RoundPhase.IDLE, 0

    def press(self, device: str, hand: Timed) -> None:
        """A hand came down; between rounds of a lesson it says nothing, before them that somebody is there."""
        if self.phase is RoundPhase.IDLE:
            self._room.admit(device)
        elif self.phase is not RoundPhase.BETWEEN and hand.t >= self._ready:
            self._first.setdefault(device, hand)

    def show(self, stimulus: Timed) -> None:
        """The stimulus came at this instant."""
        if self.phase is RoundPhase.SHOWING:
            self.phase, self._stimulus = RoundPhase.OPEN, stimulus

    def advance(self, now: int, told: int, silent: Collection[str] = ()) -> bool:
        """Go on; returns whether the stimulus is to be shown now.

        Args:
            now: the present instant, ns.
            told: every hand up to then was told, ns.
            silent: devices of which nothing is heard.
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
            if self._taking_part:
                self._ready_at(now)
            else:
                self.stop()
        return False

    def _ready_at(self, t: int) -> None:
        self.phase, self._ready = RoundPhase.WAITING, t
        self._due = t + draw_wait(self._chance.random(), self._shortest)
        self.number += 1
        self._first.clear()
        self._stimulus = None

    def _judge(self, stimulus: Timed, silent: Collection[str]) -> None:
        wait = stimulus.t - self._ready
        for device, pupil in sorted(self._taking_part.items(), key=lambda one: one[1]):
            number = self._room.next_number(pupil) or 0
            hand = self._first.get(device)
            if hand is None and device in silent:
                made = Trial(pupil, number, self.hand, wait, TrialEnd.UNHEARD)
            else:
                made = judge_trial(pupil, number, self.hand, wait, stimulus, hand)
            self._room.trials.append(made)
