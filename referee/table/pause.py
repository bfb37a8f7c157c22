"""Decides when a table is paused and when it resumes: by people, or because the camera does not see it. Pure.

`referee.table.game.Conductor` calls it in the referee's own process, and carries out the returned `Steps`.

The log has a single switch (`pause` and `resume`) with two users. So each one that stops the table writes its own
`pause`, and only the last one to let go writes the `resume`; the other one writes `released`, a line that a replay
ignores. The appliance's lines give the reason in ``because``; those of people are unchanged. Whether people hold the
table is read from the log, corrections included, and so survives a power cut.

While the camera does not see the table, hands are named, not judged. Once it is back, the pile is compared with what
was believed, and then the game goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.announce.sinks import Notice
from referee.control.corrections import UNSEEN
from referee.engine.amended_log import BECAUSE, PEOPLE, RELEASED, PauseState, as_released
from referee.engine.gap import FirstLook, PauseHands, reconcile_pile
from referee.engine.observations import MAX_ERROR, Card, LogError, Observation, Pause, Resume, Slap, Taken
from referee.rules.cards import UNREADABLE
from referee.sentence import Sentence
from referee.units import SECOND
from referee.vision.sight import HIDDEN, Sight

CAMERA: Final = "camera"
VIEW: Final = "view"
EYE: Final = "eye"
_BEHIND: Final = Sentence("the eye is seconds behind the table, so verdicts come late; lay cards more slowly")
VIEW_TROUBLES: Final = {
    "dark": Sentence(
        "it is too dark to see the table; switch on a lamp, and the referee then reads the cards laid meanwhile"
    ),
    "blocked": Sentence(
        "something blocks the camera's view; take it away, and the referee then reads the cards laid meanwhile"
    ),
    "moved": Sentence("the camera was moved; the cards are followed, but see that the whole table is still in view"),
    "slow": Sentence(
        "the camera sends so few pictures that cards may pass unseen; give it more light, or set more a second"
    ),
}
"""Message for each kind of trouble that a watcher has with its view."""
_CLEAR_FRAMES: Final = 3
"""Number of clear frames in a row before the game resumes: a lamp flickers when it is put on."""


@dataclass(frozen=True, slots=True)
class LogNote:
    """A line to log on which the referee does not rule."""

    name: str
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PartTrouble:
    """A part failed, or works again (no words)."""

    part: str
    words: str = ""
    what: str | None = None
    """The notice to give; None: the usual one of the part."""


Steps = list[Observation | LogNote | Notice | PartTrouble]
"""Actions to carry out in this order: log a line, log a note, announce a notice, report a part."""


def _not_before(seen: Observation, t: int) -> Observation:
    """Move an observation from before the instant ``t`` (ns), at which the game resumes, to that instant."""
    if seen.t >= t:
        return seen
    if isinstance(seen, Card | Taken):
        return replace(seen, t=t, t_error=min(MAX_ERROR, seen.t_error + t - seen.t))
    return replace(seen, t=t)


class GamePause:
    """Pauses and resumes one game, for the camera and for people.

    ``camera_watermark`` is, in every method, the instant up to which the camera has reported everything, ns.
    """

    def __init__(self) -> None:
        self.packs = 1
        """Number of packs that are played with."""
        self._by_people = self._is_told = False
        self.reasons: set[str] = set()
        """Why the table is unseen: the camera is gone, or its view shows nothing."""
        self._last_pause = self._last_resume = -(2**63)
        self._since = self._clear = 0
        self.hands: PauseHands | None = None
        """Hands that came while the table was unseen; None until that first happens."""
        self._look: FirstLook | None = None
        self._looked_over = -(2**63)
        """Instant of the first frame that showed the table after the last gap, ns ..."""
        self._free_from = -(2**63)
        """... and the first instant that the lines of that gap leave free, ns."""
        self._under: frozenset[str] = frozenset()
        """Cards that a new watcher may see for the first time when the pile is moved: they lay in it before."""
        self._is_broken_off = False
        """Whether the gap is that of a game which was broken off."""
        self.is_opening = False
        """Whether it lies between a new game's beginning and the camera's first frame."""
        self._was_slapped = False
        """Whether a hand came in that time."""
        self.is_lost = False
        """Whether the camera is gone, or has not reported yet what lies there."""

    @property
    def holds(self) -> bool:
        """Whether slaps are void, for whatever reason."""
        return self._by_people or bool(self.reasons)

    @property
    def is_looking(self) -> bool:
        """Whether the camera is back but has not reported yet what lies there."""
        return self._look is not None

    def remember(self, state: PauseState) -> None:
        """Take over the state of a broken-off game: a pause by people persists."""
        self._by_people = state.by_people
        self._last_pause, self._last_resume = state.last_pause, state.last_resume

    # The camera

    def lose_camera(self, words: str, camera_watermark: int, told: Sequence[Observation] = ()) -> Steps:
        """Note that the camera is gone (again); ``told``: all observations so far."""
        self._look, self.is_lost, self.is_opening = None, True, False
        self._under = frozenset()
        steps = [PartTrouble(CAMERA, words), *self._hold(CAMERA, camera_watermark)]
        self._add_hands(told)
        return steps

    def break_off(self, camera_watermark: int) -> Steps:
        """Pause until it is known what lies there: the whole table was gone, as in a power cut."""
        self.is_lost = self._is_broken_off = True
        return self._hold(CAMERA, camera_watermark)

    def begin_unseen(self, began: int, *, slapped: bool) -> None:
        """Note that a new camera's first frame came long after the game began (ns): cards may have come meanwhile.

        Nothing is announced, and an empty table is taken for untouched unless a hand came (``slapped``): the player who
        leads is called only once the camera has reported.
        """
        self.is_lost = self.is_opening = True
        self._was_slapped = slapped
        self._since = began + 1

    def look_again(self, sight: Sight, pile: Sequence[str], camera_watermark: int, judged: int) -> Steps | None:
        """Take one more frame of the camera that is back; None until it is known what lies there.

        Args:
            sight: the next sight.
            pile: as it was believed to lie before the gap.
            camera_watermark: see the class.
            judged: instant at which ``pile`` lay so, ns: a card reported just before the gap may still wait.
        """
        steps: Steps = []
        after: Sequence[Observation] = sight.seen
        until = sight.t + sight.exposure
        if self._look is not None or sight.first:
            if self._look is None or sight.first:
                self._look = FirstLook()
            if sight.state in HIDDEN:
                return None
            is_hidden = sight.state == "hand"
            is_complete = self._look.add(
                sight.t, sight.seen, sight.watermark, hidden=is_hidden, top=pile[-1] if pile else ""
            )
            if not is_complete or (judged < (self._look.since or 0) - 1 and not self.is_opening):
                return None
            look, self._look = self._look, None
            # People who go on with a broken-off game vouch for what lies there.
            slapped = self.hands is not None and self.hands.any_came
            finding = reconcile_pile(pile, look.lying, slapped=slapped, vouched=self._is_broken_off)
            # The game resumes with the first frame that shows the table: later observations happened in it.
            base = self._since if self.is_opening else max(camera_watermark, self._since)
            seen = look.since or sight.t
            self._looked_over = seen
            if self.packs == 1 and finding.verdict == "same":
                self._under = frozenset(finding.believed) - {UNREADABLE}
            until = max(seen, base + max(finding.span, 1))
            self._free_from = until
            after = self.news_of(look.later)
            extra = {"verdict": finding.verdict, "believed": list(finding.believed), "lying": list(finding.lying)}
            is_untouched = self._is_broken_off or (self.is_opening and not self._was_slapped)
            is_vouched = is_untouched and finding.verdict == "same"
            was_seen, self._is_broken_off, self.is_opening = not self.is_opening, False, False
            steps += [
                *([] if is_vouched else finding.observations(base, until, seen, self._since, opening=not was_seen)),
                *[PartTrouble(CAMERA)] * was_seen,
                *[LogNote("reconciled", extra)] * (was_seen or finding.asks),
            ]
            if finding.asks and was_seen:
                words = "check the pile: it is not as it was before the camera was gone"
                steps.append(Notice("check_pile", until, words, extra))
        else:
            # The same watcher went on: there is nothing to find out.
            steps.append(PartTrouble(CAMERA))
        self.is_lost = False
        self.reasons.discard(VIEW)
        return [*steps, *self._release(CAMERA, until, camera_watermark), *after]

    def news_of(self, seen: Iterable[Observation]) -> list[Observation]:
        """Return a watcher's observations, without cards that lay in its first frame and were named only now: covered
        cards are no news. Until that pile goes, neither are its cards if no arm brought them: the hand that takes it
        bares them, and a pack has each card once. The lines that a gap led to stay before all that came after it.
        """
        return [self._after_gap(line) for line in seen if self._is_news(line)]

    def _after_gap(self, line: Observation) -> Observation:
        moved = _not_before(line, self._free_from)
        if moved is not line:
            self._free_from += 1
        return moved

    def _is_news(self, line: Observation) -> bool:
        if isinstance(line, Taken):
            self._under = frozenset()
        return not isinstance(line, Card) or (
            line.t > self._looked_over and (line.seat is not None or line.card not in self._under)
        )

    def heed_view(self, sight: Sight, camera_watermark: int) -> Steps:
        """Report any hindrance of the camera's view; pause while the view shows nothing of the table."""
        words = VIEW_TROUBLES.get(sight.trouble, "")
        steps: Steps = [PartTrouble(VIEW, words, f"view_{sight.trouble}" if words else None)]
        if sight.trouble in HIDDEN and sight.state in HIDDEN:
            return [*steps, *self._hold(VIEW, camera_watermark)]
        if VIEW in self.reasons:
            self._clear = 0 if sight.state in HIDDEN else self._clear + 1
            if self._clear >= _CLEAR_FRAMES:
                steps += self._release(VIEW, sight.t + sight.exposure, camera_watermark)
        return steps

    def heed_pace(self, sight: Sight) -> Steps:
        """Report that the eye cannot keep up, for as long as it is seconds behind."""
        return [PartTrouble(EYE, _BEHIND if sight.behind else "", "eye_behind" if sight.behind else None)]

    # Hands

    def _add_hands(self, told: Sequence[Observation]) -> None:
        """Add hands reported before the camera was noticed missing: they came in the pause, too."""
        for seen in reversed(told):
            if self.hands is None or seen.t < self.hands.since - SECOND:
                return
            if isinstance(seen, Slap):
                self.hands.add(seen)

    def name_hands(self, t: int) -> Steps:
        """Name the first of the unjudged hands; the pads have reported everything up to ``t`` (ns)."""
        if self._look is not None and self._look.since is not None:
            # Later hands may have fallen after the game resumed.
            t = min(t, self._look.since)
        steps: Steps = []
        for first in self.hands.told(t) if self.hands is not None else ():
            seats = [slap.seat for slap in first.slaps]
            fields = {
                "seat": seats[0], "margin": first.margin, "seats": seats, "error": first.error, "sure": first.sure,
            }  # fmt: skip
            steps.append(LogNote("first_hand", {**fields, "slaps": [slap.id for slap in first.slaps]}))
            steps.append(Notice("first_hand", first.t, first.words, fields))
        return steps

    # People

    def admit(self, line: Observation) -> Observation:
        """Return the form in which a line that people say goes on the log.

        Raises:
            LogError: it would resume the game while the camera does not see the table.
        """
        if not isinstance(line, Resume) or not self.reasons:
            return line
        if not self._by_people:
            raise LogError(None, UNSEEN)
        return as_released(line)

    def settle(self, t: int, camera_watermark: int, state: PauseState) -> Steps:
        """Pause or resume after people have said something, or taken something back.

        Args:
            t: the instant at which they said it, ns.
            camera_watermark: see the class.
            state: the pause according to the log.
        """
        had_paused = self._by_people
        self.remember(state)
        t = max(t, camera_watermark + 1)
        steps: Steps = []
        if self.holds and not state.is_stopped:
            steps.append(self._pause(PEOPLE if self._by_people else CAMERA, t))
        elif state.is_stopped and not self.holds:
            steps.append(self._resume(PEOPLE, t))
        steps += self._tell(PEOPLE, t)
        if had_paused and not self._by_people and self.reasons:
            steps.append(Notice("waits_for_camera", t, UNSEEN, {BECAUSE: CAMERA}))
        return steps

    # The switch

    def _hold(self, reason: str, camera_watermark: int) -> Steps:
        """Note that the table is unseen from now on, for this reason."""
        was_seen = not self.reasons
        self.reasons.add(reason)
        self._clear = 0
        if not was_seen:
            return []
        self._since = camera_watermark + 1
        self.hands = PauseHands(self._since)
        # A separate line even if people paused before: theirs may be taken back, and this one must then still hold.
        return [self._pause(reason, self._since), *self._tell(reason, self._since)]

    def _release(self, reason: str, t: int, camera_watermark: int) -> Steps:
        """Remove a reason from ``t`` (ns) on; removing the last one resumes the game."""
        if reason not in self.reasons:
            return []
        self.reasons.discard(reason)
        if self.reasons:
            return []
        t = max(t, camera_watermark + 1, self._since + 1)
        if self.hands is not None:
            self.hands.forget(t)
        if self._by_people:
            words = "the game stays paused until you let it go on"
            return [LogNote(RELEASED, {BECAUSE: reason}), Notice("still_paused", t, words, {BECAUSE: PEOPLE})]
        return [self._resume(reason, t), *self._tell(reason, t)]

    def _pause(self, because: str, t: int) -> Pause:
        t = max(t, self._last_resume + 1)
        self._last_pause = max(self._last_pause, t)
        return Pause(t=t, extra={BECAUSE: because})

    def _resume(self, because: str, t: int) -> Resume:
        t = max(t, self._last_pause + 1)
        self._last_resume = max(self._last_resume, t)
        return Resume(t=t, extra={BECAUSE: because})

    def _tell(self, because: str, t: int) -> Steps:
        """Announce that the game is paused or goes on, if that has changed."""
        if self.holds == self._is_told:
            return []
        self._is_told = self.holds
        if self.holds:
            return [Notice("paused", t, "the game is paused: slaps do not count", {BECAUSE: because})]
        return [Notice("resumed", t, "the game goes on", {BECAUSE: because})]
