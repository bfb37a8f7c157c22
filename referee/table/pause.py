"""The time in which nobody looks at the table: from the pause until what lies there is known again. Pure.

Why the table stands still: people paused it, or nobody sees it. It goes on only when neither holds any more.

The log has one switch (`pause` and `resume`), which two hands reach for. So whoever stops the table writes a `pause`
of its own, and only the last one to let go writes the `resume`; the other one writes `released`, a line that changes
nothing for whoever replays the log. The appliance's lines say why in ``because``; those of people are as they were.
Who holds the table is read from the log, corrections and all, and so outlasts a power cut.

What happens while nobody sees the table: the game is paused, hands are named, and then it is looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from referee.announce.sinks import Notice
from referee.control.corrections import UNSEEN
from referee.engine.amended_log import BECAUSE, PEOPLE, RELEASED, PauseState, as_released, read_pause
from referee.engine.gap import First, FirstLook, PauseHands, PileFinding, reconcile
from referee.engine.observations import LogError, Observation, Pause, Resume, Slap
from referee.engine.rulings import Ruling
from referee.engine.view import View
from referee.vision.sight import HIDDEN, Sight

CLEAR_FRAMES: Final = 3
"""So many frames in a row show the table again before the game goes on: a lamp flickers when it is put on."""


@dataclass(frozen=True, slots=True)
class Back:
    """The camera is back, and it is known what lies there."""

    t: int
    """The instant from which slaps count again, ns."""
    before: tuple[Observation, ...]
    """What came during the gap, to be put on record before that instant."""
    after: tuple[Observation, ...]
    """What came since the first frame."""
    finding: PileFinding | None
    """None where the same watcher went on, so that there was nothing to find out."""


class Absence:
    """Why the game is paused, whose hands came meanwhile, and the first look afterwards."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self._hands: PauseHands | None = None
        self._look: FirstLook | None = None
        self._clear = 0
        self._since = 0

    @property
    def paused(self) -> bool:
        """Whether the game is paused."""
        return bool(self._reasons)

    @property
    def looking(self) -> bool:
        """Whether the camera is back and has not told yet what lies there."""
        return self._look is not None

    def begin(self, reason: str, t: int) -> Pause | None:
        """From ``t`` (ns) on nobody looks, for this reason; None if the game is paused already."""
        paused = self.paused
        self._reasons.add(reason)
        self._clear = 0
        if paused:
            return None
        self._since = t
        self._hands = PauseHands(t)
        return Pause(t=t)

    def end(self, reason: str, t: int) -> Resume | None:
        """This reason is gone; None if there is another, or there was none."""
        if reason not in self._reasons:
            return None
        self._reasons.discard(reason)
        if self._reasons:
            return None
        return Resume(t=max(t, self._since + 1))

    def sees(self, reason: str, clear: bool) -> bool:
        """One more frame; returns whether so many in a row were clear that this reason is gone."""
        if reason not in self._reasons:
            return False
        self._clear = self._clear + 1 if clear else 0
        return self._clear >= CLEAR_FRAMES

    def add(self, slap: Slap) -> None:
        """A hand."""
        if self._hands is not None and self.paused:
            self._hands.add(slap)

    def hands_told(self, t: int) -> list[First]:
        """The pads have reported up to ``t`` (ns): who was first, of hands that are not judged."""
        return [] if self._hands is None else self._hands.told(t)

    def forget_look(self) -> None:
        """The camera is gone again before it had told what lies there."""
        self._look = None

    def look_again(self, sight: Sight, believed: Sequence[str], told: int, judged: int) -> Back | None:
        """The camera is back; None until its first frame has been understood.

        Args:
            sight: the next of it.
            believed: the pile before the gap.
            told: everything up to here (ns) was promised to have been told.
            judged: ``believed`` is how it lay at this instant, ns: a card told just before the gap may still wait.
        """
        if self._look is None and not sight.first:
            return Back(sight.t + sight.exposure, (), sight.seen, None)
        if self._look is None or sight.first:
            self._look = FirstLook()
        if sight.state in HIDDEN:
            return None
        top, hidden = believed[-1] if believed else "", sight.state == "hand"
        complete = self._look.add(sight.t, sight.seen, sight.watermark, hidden=hidden, top=top)
        if not complete or judged < (self._look.since or 0) - 1:
            return None
        look, self._look = self._look, None
        finding = reconcile(believed, look.lying)
        base = max(told, self._since)
        until = max(sight.t, base + finding.span)
        later = tuple(replace(seen, t=max(seen.t, until + n)) for n, seen in enumerate(look.later))
        return Back(until, tuple(finding.observations(base, until)), later, finding)


class Writing(Protocol):
    """What a conductor does for it."""

    observations: list[Observation]
    rulings: list[Ruling]

    def vouched(self) -> int:
        """Up to where the camera has told everything, ns."""
        ...

    def put(self, seen: Observation) -> None:
        """Put an observation on record, with an id if it has none."""
        ...

    def note(self, name: str, extra: Mapping[str, Any]) -> None:
        """Put something on the log that is not ruled on."""
        ...

    def tell(self, notice: Notice) -> None:
        """Tell it at the table."""
        ...


class Standstill:
    """Stops the table of one game and lets it go on, for the camera and for people."""

    def __init__(self, desk: Writing) -> None:
        self._desk = desk
        self._people = self._camera = self._told = False

    @property
    def holds(self) -> bool:
        """Whether slaps are void, whoever wants them to be."""
        return self._people or self._camera

    def remember(self) -> None:
        """A game that was broken off: what people had paused is paused still."""
        self._people = self._read().by_people

    def stop(self, because: str, t: int) -> None:
        """Nobody sees the table from ``t`` (ns) on."""
        self._camera = True
        # A line of its own even where people paused before: theirs may be taken back, and this one then still holds.
        self._pause(because, t)
        self._tell(because, t)

    def go_on(self, because: str, t: int) -> None:
        """The table is seen again from ``t`` (ns) on."""
        self._camera = False
        if self._people:
            self._desk.note(RELEASED, {BECAUSE: because})
            words = "the game stays paused until you let it go on"
            self._desk.tell(Notice("still_paused", t, words, {BECAUSE: PEOPLE}))
            return
        self._resume(because, t)
        self._tell(because, t)

    def heard(self, line: Observation) -> Observation:
        """What a line that people say is to be on the log.

        Raises:
            LogError: it would let the table go on, at which nobody looks.
        """
        if not isinstance(line, Resume) or not self._camera:
            return line
        if not self._people:
            raise LogError(None, UNSEEN)
        return as_released(line)

    def settle(self, t: int) -> None:
        """People have said something, or taken something back: have the table stand still or go on as that leaves it.

        Args:
            t: the instant at which they said it, ns.
        """
        before, now = self._people, self._read()
        self._people = now.by_people
        t = max(t, self._desk.vouched() + 1)
        if self.holds and not now.is_stopped:
            self._pause(PEOPLE if self._people else "camera", t)
        elif now.is_stopped and not self.holds:
            self._resume(PEOPLE, t)
        self._tell(PEOPLE, t)
        if before and not self._people and self._camera:
            self._desk.tell(Notice("waits_for_camera", t, UNSEEN, {BECAUSE: "camera"}))

    def _read(self) -> PauseState:
        return read_pause(self._desk.observations, self._desk.rulings)

    def _pause(self, because: str, t: int) -> None:
        self._desk.put(Pause(t=max(t, self._read().last_resume + 1), extra={BECAUSE: because}))

    def _resume(self, because: str, t: int) -> None:
        self._desk.put(Resume(t=max(t, self._read().last_pause + 1), extra={BECAUSE: because}))

    def _tell(self, because: str, t: int) -> None:
        """Say that the table stands still, or goes on, where that has changed."""
        if self.holds == self._told:
            return
        self._told = self.holds
        if self.holds:
            self._desk.tell(Notice("paused", t, "the game is paused: slaps do not count", {BECAUSE: because}))
        else:
            self._desk.tell(Notice("resumed", t, "the game goes on", {BECAUSE: because}))


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
