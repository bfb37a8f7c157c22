"""Turns frames with timestamps into observations: cards laid, piles taken, cards slid under.

The watcher checks every frame at a glance (`models.watch.motion`), has the eye read those worth it
(`models.watch.occasion`, `models.watch.gaze`), including skipped ones, and follows each card from the first frame that
shows its face (`models.watch.faces`) until it is named: `models.watch.attribution` assigns readings to cards,
`models.watch.decision` and `models.watch.arms` decide what became of them. A card is reported once it lies on the pile
and its name is sure; an unreadable card is reported as ``??``, never as a guess. The vision process feeds the watcher
(`referee.vision.process`).

Instants: `Card.t` is the middle of a span and `Card.t_error` half its length. The span reaches from the last frame that
certainly shows no face (from the start of its exposure) to the first that certainly does (to the end of its last row's
exposure); `models.watch.faces` determines these frames. A card that lies there in the first frame is reported at that
frame's own instant.

Watermark guarantee: once `Watcher.watermark` is w, no observation reported later has t - t_error <= w.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from models.watch.arms import TAKEN_ERROR_NS, Arms, TakeDetector
from models.watch.attribution import Attribution
from models.watch.bare_table import BareTable
from models.watch.continuity import Continuity
from models.watch.covered import Covered
from models.watch.decision import Decisions
from models.watch.faces import WhitePatches, first_suspected
from models.watch.fouls import Fouls
from models.watch.gaze import CardEye, Found, Gaze, Look
from models.watch.measure import CHANGED, FEW, HALF, MOST
from models.watch.motion import Bytes, Glance, Motion
from models.watch.pace import HAND_NS, LONG_AGO, PATIENCE_NS, SWEEP_NS
from models.watch.reasons import Evidence
from models.watch.shift import ShiftTracker
from models.watch.stream import BLIND_NS, MARGIN_NS, SeenFrame, Stream
from models.watch.tracks import Pile, Reasons, plain
from referee.engine.foresight import Foresight
from referee.engine.observations import Observation


class ViewMonitor:
    """Detects an obstructed camera view that lasts long enough to report."""

    def __init__(self) -> None:
        self._state = "clear"
        self._since = 0
        self._last = ""
        self._last_t = LONG_AGO
        self._t = 0

    @property
    def trouble(self) -> str:
        """``dark``, ``blocked``, ``moved`` or, if all is well, empty."""
        return self._last if self._t - self._last_t < 2 * PATIENCE_NS else ""

    def note(self, now: SeenFrame) -> None:
        """Take in the state of the newest frame."""
        self._t = now.t
        if now.glance.state != self._state:
            self._state, self._since = now.glance.state, now.t
        lasted = now.t - self._since
        if (self._state == "dark" and lasted >= HAND_NS) or (self._state == "blocked" and lasted >= SWEEP_NS):
            self._last, self._last_t = self._state, now.t

    def note_moved(self, now: SeenFrame) -> None:
        """Note that the whole picture has shifted: the camera has moved."""
        self._t = now.t
        self._last, self._last_t = "moved", now.t


class Watcher:
    """Watches one table through one camera; feed it every frame in order of time.

    Args:
        eye: the card reader.
        seat_bearings: each seat's bearing (degrees counter-clockwise from the picture's right), if calibrated.
        packs: packs in play; with one, no card can lie in a pile twice, which separates a nudged card from a new one.
        bare: the bare table, if recorded: faces printed on it are not cards.
        explain: whether to record why each thing is reported or dropped (`Watcher.evidence`).
    """

    def __init__(
        self, eye: CardEye, *, seat_bearings: Mapping[int, float] | None = None, packs: int = 1,
        bare: BareTable | None = None, explain: bool = False,
    ) -> None:  # fmt: skip
        self._motion = motion = Motion()
        self._stream = stream = Stream()
        self._pile = pile = Pile(packs)
        self._arms = Arms(seat_bearings or {}, motion, stream, pile)
        self._view = ViewMonitor()
        self._paper = paper = WhitePatches(motion, stream, pile)
        self._gaze = Gaze(eye, motion, stream, pile, paper, bare)
        self._attribution = Attribution(motion, stream, pile, paper)
        self._decisions = Decisions(motion, stream, pile, self._arms)
        self._covered = Covered(motion, stream, pile)
        self._shifts = ShiftTracker(motion, pile, None if bare is None else lambda: bare.shift)
        self._fouls = Fouls(stream, pile, self._arms)
        self._taking = TakeDetector(motion, stream, pile, self._arms)
        self._continuity = Continuity(stream, pile)
        self._bare = bare
        pile.reasons = Reasons(stream if explain else None)
        self.evidence: list[Evidence] = []
        """The reasons of all that the newest frame decided, those of reports and those of candidates dropped."""

    # The state of the camera's view

    @property
    def watermark(self) -> int:
        """Everything with t - t_error up to this instant, ns, has been reported."""
        return self._stream.watermark

    @property
    def pile(self) -> tuple[str, ...]:
        """The names of the cards laid, oldest first."""
        return self._pile.names

    @property
    def state(self) -> str:
        """``dark``, ``blocked``, ``hand``, ``moving`` or ``quiet``."""
        if not self._stream.moments:
            return "quiet"
        glance = self._stream.moments[-1].glance
        if glance.state != "clear":
            return glance.state
        if glance.reaches:
            return "hand"
        return "moving" if glance.changed else "quiet"

    @property
    def trouble(self) -> str:
        """The obstruction to report: ``dark``, ``blocked``, ``moved`` or ``slow``; empty if there is none."""
        return self._view.trouble or ("slow" if self._stream.slow else "")

    # The stream

    def recall(self, foresight: Foresight | None) -> None:
        """Set deck memory's prediction of the cards to come after all those reported; None if it has none.

        It helps to name cards that the eye cannot (`models.watch.prior`). Without a game there is no prediction.
        """
        self._decisions.recall(foresight)

    def feed(self, image: Bytes, t: int, t_error: int = 0) -> list[Observation]:
        """Take in the next frame and return the new observations.

        Args:
            image: H x W x 3, uint8, blue first.
            t: the start of its exposure, ns.
            t_error: length of the exposure (or another uncertainty of the instant), ns.

        Raises:
            ValueError: the frame is not later than the previous one.
        """
        after_gap = self._stream.advance(t, image.shape[:2])
        before = self._settle_before_gap() if after_gap else []
        glance = self._motion.look(image, t, self._pile.mask(self._motion))
        now = self._stream.keep(image, t, t_error, self._motion.half, glance)
        self._view.note(now)
        told, found = ([], None) if now.blind else self._follow(now)
        told = before + self._continuity.judge(now, found, told)
        self._stream.raise_watermark(min(self._held_back(now)))
        return self._explained(told)

    def _follow(self, now: SeenFrame) -> tuple[list[Observation], list[Found] | None]:
        """Return what a frame that shows the table settles, and the eye's readings of it; None if it was not read.

        These are all steps for such a frame. Each builds on those before it.
        """
        # White paper: a face that comes up?
        self._paper.look(now)
        # Readings, of this frame or of skipped ones, and the cards that they show.
        found = self._read(now)
        # Arms: the one that brought each card under way, ...
        self._arms.note_hands()
        self._attribution.settle(now)
        # The camera knocked: cards keep their places on the table.
        if self._shifts.look(now.glance):
            self._view.note_moved(now)
        # ... and those over the pile.
        self._arms.note_sweep(now.glance)
        # Cards laid, slid under or dropped; among them one that shows nothing to read.
        told = self._decisions.decide(now)
        unread = self._covered.look(now, found)
        if unread is not None:
            told += self._decisions.tell_unread(unread, now)
        # The pile taken, with the cards that it then settles.
        taken = self._taking.watch(now)
        if taken:
            told += self._decisions.decide(now, taken=True)
        told += self._fouls.beside(told)
        if taken:
            told += self._taking.tell_taken()
            self._paper.forget()
        return _by_time(told), found

    def finish(self) -> list[Observation]:
        """Report all open cards at the end of the stream."""
        if not self._stream.moments:
            return self._explained([])
        now = self._stream.moments[-1]
        told = self._decisions.finish(now)
        told += self._fouls.beside(told)
        told += self._taking.tell_taken()
        told = self._continuity.judge(now, None, _by_time(told))
        self._stream.raise_watermark(now.t)
        return self._explained(told)

    def _explained(self, told: list[Observation]) -> list[Observation]:
        """Return the observations in order of time, with their reasons in `evidence` if these are wanted."""
        self.evidence = self._pile.reasons.take_all(told)
        return _by_time(told)

    def _settle_before_gap(self) -> list[Observation]:
        """Read the last frame before a gap and report what it settles."""
        last = self._stream.moments[-1]
        if self._stream.gap_since != last.t:
            return []
        told: list[Observation] = []
        if not last.blind:
            self._attribute(self._gaze.read_last(last))
            told = self._decisions.decide_before_gap(last)
        self._continuity.begin()
        return told

    def _read(self, now: SeenFrame) -> list[Found] | None:
        """Have the eye read what is worth it and assign the readings to cards; return those of this frame."""
        must = self._continuity.must_look(now) or self._covered.look_due
        looks = self._gaze.read(now, self._taking.leaving, must=must)
        self._attribute(looks)
        found = looks[-1][1] if looks else None
        if found is not None:
            self._gaze.note_known(found, now)
            self._paper.note_cards(found, now)
            if not self._pile.told:
                self._forget_first_cards(found, now.glance)
            self._learn_paper(found, now.glance)
        return found

    def _attribute(self, looks: Sequence[Look]) -> None:
        for moment, found in looks:
            self._attribution.attribute(found, moment)

    def _forget_first_cards(self, found: Sequence[Found], glance: Glance) -> None:
        """Guess the table under the cards of the first frames."""
        if found:
            shape = glance.small.shape
            cards = self._motion.mask([quad for _, quad in found], shape, widen=2)
            self._motion.forget_cards(cards, glance, None if self._bare is None else self._bare.reduced(shape))

    def _learn_paper(self, found: Sequence[Found], glance: Glance) -> None:
        """Learn the paper's colour from the top card.

        A camera's change of white balance shows in the paper, if not in the table. A smaller difference is the print's:
        the next cards would be looked for in its colour. While a hand moves, its shadow or a card's slant may darken
        the paper, and only brighter paper is learned.
        """
        top = next((quad for s, quad in found if s.top and plain(s)), None)
        if top is not None:
            self._motion.learn_paper(glance.small, top, HALF, beyond=CHANGED, darker=glance.calm)

    # The watermark

    def _held_back(self, now: SeenFrame) -> Iterator[int]:
        """Yield the instant, ns, below which each undecided matter lets the watermark rise."""
        stream = self._stream
        # A face that comes up within the margin may not show yet.
        yield min(self._may_show_after(now)) - MARGIN_NS - 2
        if stream.blind or stream.unveiled:
            yield max(stream.blind_since - MARGIN_NS - 2, now.t - BLIND_NS)
        if self._taking.leaving is not None:
            yield self._taking.leaving - TAKEN_ERROR_NS - 1
        elif self._pile.laid and now.glance.reaches:
            yield now.t - TAKEN_ERROR_NS - stream.spacing

    def _may_show_after(self, now: SeenFrame) -> Iterator[int]:
        """Yield instants, ns, after which the faces of cards not yet reported may have come up."""
        stream, moments = self._stream, self._stream.moments
        busy = now.t - stream.busy_t < 2 * max(1, stream.spacing)
        back = 1 + (FEW if busy else 1)
        yield moments[max(0, len(moments) - back)].t + 1 if len(moments) > 1 else now.t
        for track in self._pile.open:
            # These cards may still be reported soon; scraps under the pile delay the watermark only briefly.
            age = track.age(now.t)
            beside = not track.seen_under() and track.belief()[1] >= MOST
            open_to_see = beside or track.seen_on_pile() > 0 or any(s.plain for s in track.sightings)
            if age < HAND_NS or (open_to_see and age < PATIENCE_NS):
                yield track.low
        # Frames skipped since the last look may still show a card.
        yield next((m.t for m in reversed(moments) if m.looked or m.plain), moments[0].t)
        suspected = first_suspected(stream, self._pile)
        if suspected is not None:
            yield moments[max(0, stream.place_of(suspected) - 1)].t
        if self._covered.open_since is not None:
            yield self._covered.open_since
        if not self._pile.card_height:
            # The look of a face here is still unknown: any movement may turn out to have shown one.
            yield next((m.t for m in moments if not m.glance.calm and m.t > now.t - PATIENCE_NS), now.t)
        if stream.gap_open:
            yield stream.gap_since


def _by_time(told: Iterable[Observation]) -> list[Observation]:
    return sorted(told, key=lambda seen: seen.t)
