"""A running lesson: devices, clock and file around the pure trials of `referee.options.classroom`.

The page's process (`referee.options.classroom.class_site`) calls `ReactionLesson.look` dozens of times a second.
"""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from hardware.pads.page_pads import SAMPLING
from hardware.ports import Edge, TimedPads
from referee.control.commands import CommandFields
from referee.errors import UserError
from referee.options.classroom.pupils import MOST_PUPILS
from referee.options.classroom.reaction_class import ReactionClass, RoundPhase, SharedRounds
from referee.options.classroom.reaction_trials import Timed, draw_wait, judge_trial, time_by_page, write_trials_csv
from referee.options.classroom.stimuli import Stimulus
from referee.units import MS

FIRST_KEY: Final = MOST_PUPILS + 1
"""The first seat of keys in the room's browser, after those of phones ..."""
SCREEN: Final = 100
"""... and the seat by which the room's page reports that it shows the card."""
_LONGEST_FRAME: Final = 200 * MS
"""A picture that took longer to draw makes the trial useless."""
_NS: Final = 2**53


class PhoneTrial(BaseModel):
    """A trial that a pupil's own phone has shown and felt, by its own clock, ns."""

    model_config = ConfigDict(extra="forbid", strict=True)
    pupil: int = Field(ge=1)
    number: int = Field(ge=1)
    kind: str = Field(pattern="^(touch|key)$")
    sampling: int = Field(ge=0, le=50 * MS)
    ready: Annotated[int, Field(ge=-_NS, le=_NS)]
    shown: Annotated[list[Annotated[int, Field(ge=-_NS, le=_NS)]], Field(min_length=2, max_length=2)] | None
    touched: Annotated[int, Field(ge=-_NS, le=_NS)] | None


class PhoneReport(CommandFields):
    """Report of a phone that shows the stimulus itself, and request for its next trial."""

    code: str = Field(min_length=8, max_length=40, description="the code of the phone's place in the class")
    next: bool = Field(False, description="true where another pupil has taken the phone")
    trial: PhoneTrial | None = Field(None, description="a trial that was made: its instants, ns")


class ReactionLesson:
    """One lesson.

    Args:
        room: the class.
        rounds: rounds of a stimulus for all; None: each phone shows its own.
        stimulus: what all react to; None likewise.
        kind: of the stimulus, one of `referee.options.classroom.stimuli.STIMULI`.
        pads: sources of hands, by the prefix of their device names.
        shortest: the shortest wait before a stimulus, ns.
        csv: file to which each trial is written at once; None: no file.

    Raises:
        UserError: the file exists already, or cannot be written.
    """

    def __init__(
        self, room: ReactionClass, rounds: SharedRounds | None, stimulus: Stimulus | None, kind: str, *,
        pads: Mapping[str, TimedPads], shortest: int, chance: Any, csv: Path | None = None,
    ) -> None:  # fmt: skip
        self.room, self.rounds, self.kind, self.csv = room, rounds, kind, csv
        self.changes = 0
        """Counts changes that viewers must see."""
        self.trouble = ""
        """Why trials can no longer be written; empty if they can."""
        self._stimulus, self._pads, self._shortest, self._chance = stimulus, dict(pads), shortest, chance
        self._heard: queue.SimpleQueue[tuple[str, Edge]] = queue.SimpleQueue()
        self._written = 0
        self._reported: dict[int, Mapping[str, Any]] = {}
        """The last report of each pupil's phone: one that comes twice counts once."""
        self._seen: tuple[Any, ...] = ()
        if csv is not None:
            try:
                with csv.open("x", encoding="utf-8") as file:
                    file.write(write_trials_csv((), kind))
            except FileExistsError:
                raise UserError(
                    "{csv} is there already; remove it, or name another file: --csv FILE", csv=csv
                ) from None
            except OSError as error:
                raise UserError(
                    "{csv} cannot be written: {why}; name another file: --csv FILE", csv=csv, why=error.strerror
                ) from None

    def start(self) -> None:
        """Start to listen for hands."""
        for name, pads in self._pads.items():
            pads.start(partial(self.hear, name))

    def hear(self, name: str, edge: Edge) -> None:
        """Queue a hand at one of the devices of this name; from any thread."""
        self._heard.put((name, edge))

    @property
    def silent(self) -> set[str]:
        """Devices that have gone silent."""
        return {f"{name} {seat}" for name, pads in self._pads.items() for seat in getattr(pads, "silent", {})}

    def look(self, now: int) -> None:
        """Process what was heard until ``now`` (ns), and advance the rounds."""
        if self.rounds is not None:
            told = min((pads.watermark(now) for pads in self._pads.values()), default=now)
            self._take_hands(self.rounds)
            before = self.rounds.phase
            if self.rounds.advance(now, told, self.silent) and self._stimulus is not None:
                came = self._stimulus.show()
                if came is not None:
                    self.rounds.show(came)
            elif before is not self.rounds.phase and before in (RoundPhase.OPEN, RoundPhase.SHOWING):
                self._hide()
        self.note_changes()

    def _take_hands(self, rounds: SharedRounds) -> None:
        with suppress(queue.Empty):
            while True:
                name, edge = self._heard.get_nowait()
                if not edge.pressed:
                    continue
                if name == "page" and edge.seat == SCREEN:
                    rounds.show(Timed(edge.t, edge.t_error))
                else:
                    rounds.press(f"{name} {edge.seat}", Timed(edge.t, edge.t_error))

    def _hide(self) -> None:
        if self._stimulus is not None:
            self._stimulus.hide()

    def act(self, do: str, now: int) -> bool:
        """Carry out the teacher's command: ``begin``, ``stop``, ``next`` pupils or ``forget`` all; return whether it
        could be.
        """
        if self.rounds is not None and do != "begin":
            self.rounds.stop()
            self._hide()
        if do == "begin":
            return self.rounds is not None and self.rounds.begin(now)
        if do == "next":
            self.room.relieve()
        elif do == "forget":
            self.room.forget()
            self._written = 0
        return True

    def take_report(self, device: str, said: Mapping[str, Any]) -> dict[str, Any] | None:
        """Take a phone's own trial (`PhoneReport`), and return its next task; `None`: the class is full."""
        if said.get("next"):
            self.room.relieve(device)
        pupil = self.room.admit(device)
        if pupil is None:
            return None
        trial = said.get("trial")
        if trial is not None and trial != self._reported.get(pupil):
            self._reported[pupil] = trial
            if (trial["pupil"], trial["number"]) == (pupil, self.room.next_number(pupil)):
                self._take_trial(pupil, trial)
                self.note_changes()
        number = self.room.next_number(pupil)
        return {
            "pupil": pupil, "number": number, "each": self.room.each,
            "hand": self.room.hand(number, mirrored=pupil % 2 == 0) if number is not None else "",
            "wait": draw_wait(self._chance.random(), self._shortest), "rest": self._shortest,
        }  # fmt: skip

    def _take_trial(self, pupil: int, trial: Mapping[str, Any]) -> None:
        number, shown, touched = trial["number"], trial["shown"], trial["touched"]
        hand = self.room.hand(number, mirrored=pupil % 2 == 0)
        stimulus = pressed = None
        if shown is not None and not 0 <= shown[1] - shown[0] <= _LONGEST_FRAME:
            # The phone stalled while it drew; the trial is requested again.
            return
        sampling = trial["sampling"] or SAMPLING[trial["kind"]]
        if shown is not None:
            began, ended = shown
            stimulus, hand_at = time_by_page(began, ended, ended if touched is None else touched, sampling)
            pressed = hand_at if touched is not None else None
        elif touched is not None:
            pressed = Timed(touched - sampling, sampling)
        end = stimulus.t if stimulus is not None else pressed.t if pressed is not None else trial["ready"]
        wait = max(0, end - trial["ready"])
        self.room.trials.append(judge_trial(pupil, number, hand, wait, stimulus, pressed))

    def note_changes(self) -> None:
        """Write new trials, and count changes that viewers must see."""
        self._write(self.room.trials[self._written :])
        rounds = self.rounds
        stands = () if rounds is None else (rounds.phase, rounds.number, rounds.unseen)
        seen = (len(self.room.trials), tuple(self.room.pupils), self.trouble, stands)
        if seen != self._seen:
            self._seen = seen
            self.changes += 1

    def _write(self, trials: Sequence[Any]) -> None:
        if self.csv is None or not trials:
            return
        try:
            with self.csv.open("a", encoding="utf-8") as file:
                file.write(write_trials_csv(trials, self.kind, head=False))
        except OSError as error:
            self.trouble = str(error.strerror)
        else:
            self.trouble = ""
            self._written += len(trials)

    def close(self) -> None:
        """Close all devices."""
        for pads in self._pads.values():
            pads.close()
        if self._stimulus is not None:
            self._stimulus.close()
