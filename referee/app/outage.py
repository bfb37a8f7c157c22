"""What happens while nobody sees the table: the game is paused, hands are named, and then it is looked at again."""

from __future__ import annotations

from typing import Final, Protocol

from referee.adjudication.observations import Slap
from referee.adjudication.view import View
from referee.app.absence import Absence
from referee.app.notices import Notice
from referee.app.paused import First
from referee.app.sight import HIDDEN, Sight
from referee.app.standstill import Standstill, Writing

CAMERA: Final = "camera"
VIEW: Final = {
    "dark": "it is too dark to see the table; put the lamp on, and cards laid meanwhile are read then",
    "blocked": "something is before the camera; take it away, and cards laid meanwhile are read then",
    "moved": "the camera was moved; the cards are followed, but see that the whole table is still in view",
}
"""What is said of each trouble that a watcher has with its view."""


class Desk(Writing, Protocol):
    """What a conductor does for whoever helps it."""

    @property
    def view(self) -> View: ...

    @property
    def watermark(self) -> int:
        """Up to where the view is judged, ns."""
        ...

    def vouch(self, t: int) -> None:
        """The camera has told everything up to ``t`` (ns)."""
        ...

    def trouble(self, part: str, words: str, what: str | None = None) -> None:
        """A part failed."""
        ...

    def mended(self, part: str) -> None:
        """It works again."""
        ...


class Outage:
    """The camera's absences of one game."""

    def __init__(self, desk: Desk, still: Standstill) -> None:
        """``still``: stops the table, and lets it go on."""
        self._desk, self._still = desk, still
        self._absence = Absence()
        self.lost = False
        """Whether the camera is gone, or has not told yet what lies there."""

    @property
    def looking(self) -> bool:
        """Whether the camera is back and has not told yet what lies there."""
        return self._absence.looking

    def begin(self, words: str) -> None:
        """The camera is gone (again): put it on record, and pause."""
        self._absence.forget_look()
        self.lost = True
        self._desk.trouble(CAMERA, words)
        self._pause(CAMERA)

    def broken_off(self) -> None:
        """The whole table was gone, as in a power cut: pause until it is known what lies there."""
        self.lost = True
        self._pause(CAMERA)

    def end(self, t: int) -> None:
        """The camera sees again from ``t`` (ns) on, with nothing to find out."""
        self.lost = False
        self._desk.mended(CAMERA)
        self._resume(CAMERA, t)

    def heed_view(self, sight: Sight) -> None:
        """Say what hinders the camera's view as long as it does; pause while it shows nothing of the table."""
        words = VIEW.get(sight.trouble)
        if words is not None:
            self._desk.trouble("view", words, f"view_{sight.trouble}")
        else:
            self._desk.mended("view")
        if sight.trouble in HIDDEN and sight.state in HIDDEN:
            self._pause("view")
        elif self._absence.sees("view", sight.state not in HIDDEN):
            self._resume("view", sight.t + sight.exposure)

    def look_again(self, sight: Sight) -> bool:
        """One more frame since the camera is back; returns whether it is known now what lies there."""
        if sight.first:
            # Of what came before the gap nothing is still to be told: whatever waits for that is judged now.
            self._desk.vouch(sight.t - 1)
        desk = self._desk
        back = self._absence.look_again(sight, desk.view.pile, desk.vouched(), desk.watermark)
        if back is None:
            return False
        for seen in back.before:
            self._desk.put(seen)
        self.lost = False
        self._desk.mended(CAMERA)
        if back.finding is not None:
            finding = back.finding
            extra = {"verdict": finding.verdict, "believed": list(finding.believed), "lying": list(finding.lying)}
            self._desk.note("reconciled", extra)
            if finding.asks:
                words = "check the pile: it is not as it was before the camera was gone"
                self._desk.tell(Notice("check_pile", back.t, words, extra))
        self._absence.end("view", back.t)
        self._resume(CAMERA, back.t)
        for seen in back.after:
            self._desk.put(seen)
        return True

    def add(self, slap: Slap) -> None:
        """A hand."""
        self._absence.add(slap)

    def told(self, t: int) -> None:
        """The pads have told everything up to ``t`` (ns): name the first hands of a pause."""
        for first in self._absence.hands_told(t):
            self._tell_first(first)

    def _tell_first(self, first: First) -> None:
        seats = [slap.seat for slap in first.slaps]
        fields = {"seat": seats[0], "margin": first.margin, "seats": seats, "error": first.error, "sure": first.sure}
        self._desk.note("first_hand", {**fields, "slaps": [slap.id for slap in first.slaps]})
        self._desk.tell(Notice("first_hand", first.t, first.words, fields))

    def _pause(self, reason: str) -> None:
        pause = self._absence.begin(reason, self._desk.vouched() + 1)
        if pause is not None:
            self._still.stop(reason, pause.t)

    def _resume(self, reason: str, t: int) -> None:
        resume = self._absence.end(reason, max(t, self._desk.vouched() + 1))
        if resume is not None:
            self._still.go_on(reason, resume.t)
