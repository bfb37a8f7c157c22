"""Gaps in the frames: is the pile after a gap the one that lay there before it?

Between two frames farther apart than the quickest two cards (`models.watch.pace.QUICKEST_LAY_NS`), more cards may have
come than the one seen on top, and the pile may have been taken. So the watcher looks after such a gap. If it finds the
same card on top, or the same picture on both sides, nothing has happened. Otherwise it reports a `Gap` before the new
observations, and of the cards that came in the gap only the top one, since the cards right under it are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.eye.classes import SURE_READING, UNREAD
from models.eye.geometry import distance
from models.watch.faces import looks_as_known
from models.watch.gaze import Found
from models.watch.measure import NEARLY_ALL, OVER
from models.watch.pace import LET_GO_NS, LONG_AGO, PATIENCE_NS, SWEEP_NS
from models.watch.reasons import Reason
from models.watch.stream import MARGIN_NS, SeenFrame, Stream
from models.watch.tracks import Pile, Track
from referee.engine.gap import PASSING_NS
from referee.engine.observations import MAX_ERROR, Card, Foul, Gap, Observation, Placed, Taken


class Continuity:
    """Finds out what became of the pile in a gap, while one is open."""

    def __init__(self, stream: Stream, pile: Pile) -> None:
        self._stream, self._pile = stream, pile
        self._looked = LONG_AGO
        self._gaps = 0
        self._shown: str | None = None
        """The card on top after the latest reported gap; empty if there was none, None if no gap was reported."""
        self._top: Track | None = None
        """The card that lay on top before the gap, or was on its way there."""

    def begin(self) -> None:
        """Begin a gap at the current frame: remember the top card before it."""
        self._shown = None
        since = self._stream.gap_since
        cards = [*self._pile.laid, *(track for track in self._pile.open if not track.scrap())]
        before = [track for track in cards if track.sightings and track.earliest.t <= since]
        self._top = max(before, key=lambda track: track.high, default=None)

    def must_look(self, now: SeenFrame) -> bool:
        """Return whether a look is due: without one the state of the pile is unknown."""
        if not self._stream.gap_open or now.t - self._looked < LET_GO_NS:
            return False
        self._looked = now.t
        return True

    def judge(self, now: SeenFrame, found: Sequence[Found] | None, told: list[Observation]) -> list[Observation]:
        """Return the observations to report for the newest frame, preceded by the gap if there was one.
        Args:
            now: the newest frame.
            found: the readings of it; None if it was not read.
            told: the watcher's pending observations.
        """
        stream = self._stream
        if not stream.gap_open:
            return [line for line in told if not self._came_unseen(line)]
        # A card that was under way before the gap and has disappeared need not have been slid under the pile, and no
        # player can be blamed for what came in the gap.
        told = [line for line in told if not isinstance(line, Placed | Foul)]
        if any(isinstance(line, Taken) for line in told):
            return self._close(told, [])
        news = [line for line in told if isinstance(line, Card) and self._may_follow_gap(line)]
        top = next((card for card in reversed(news) if self._lies_on_top(card)), None)
        # Of several cards that came unseen, only the top one has a certain place.
        told = [line for line in told if line is top or line not in news or line.t - line.t_error >= stream.gap_until]
        if top is not None:
            return self._close(told, [top.card])
        late = now.t - stream.gap_until > SWEEP_NS
        if not self._pile.laid and (late or self._top is not None) and self._is_empty(now, found):
            # A pile may have lain here and been taken since, under the hands that hid it.
            half = min((now.t - stream.gap_since) // 2, MAX_ERROR + 1)
            gone = Taken(t=now.t - half, id=f"gt{self._gaps + 1}", t_error=half - 1)
            return self._close([*told, gone], [])
        if not news and self._is_same(now, found):
            if self._top is None and stream.gap_until - stream.gap_since > PASSING_NS:
                # A whole pile may have come and gone.
                return self._close(told, [])
            self._forget()
        elif now.t - stream.gap_until > 2 * PATIENCE_NS:
            # The pile has been hidden for too long; players must be asked.
            return self._close(told, [UNREAD])
        return told

    def _is_empty(self, now: SeenFrame, found: Sequence[Found] | None) -> bool:
        """Return whether the newest frame shows no card, and nothing that may hide one."""
        return now.glance.calm and not now.blind and not found and not now.suspects and not now.still

    def _lies_on_top(self, card: Card) -> bool:
        """Return whether a card just reported was seen on top of all others."""
        return any(track.name == card.card and track.last.top for track in self._fresh())

    def _came_unseen(self, told: Observation) -> bool:
        """Return whether a card came under the top one in a reported gap: its place is uncertain."""
        until = self._stream.gap_until
        if (
            not isinstance(told, Card)
            or self._shown is None
            or not told.t - told.t_error < until
            or not self._may_follow_gap(told)
        ):
            return False
        fresh = self._fresh()
        # No card was laid on the top card that the gap left, so a card showing beside it came earlier.
        is_top_still = any(track.name == self._shown and track.last.top for track in fresh)
        return any(
            track.name == told.card and not track.last.top and (is_top_still or not track.travelled())
            for track in fresh
        )

    def _may_follow_gap(self, card: Card) -> bool:
        """Return whether a card may have come up as late as in the first frame after the gap."""
        # Of two cards drawn at once, the lower one's span ends an instant before that frame.
        return card.t + card.t_error >= self._stream.gap_until - MARGIN_NS

    def _fresh(self) -> list[Track]:
        """Return the cards, reported or under way, first seen after the gap."""
        until = self._stream.gap_until
        return [track for track in self._pile.cards if track.earliest.t >= until]

    def _is_same(self, now: SeenFrame, found: Sequence[Found] | None) -> bool:
        """Return whether the newest frame shows that nothing came and nothing went."""
        before, top = self._stream.before, self._top
        first = now.t == self._stream.gap_until
        if now.blind:
            return False
        if first and before is not None and before.glance.calm and now.glance.calm:
            return top is None or looks_as_known(top.quad, now, self._stream, NEARLY_ALL)
        if not all(track.travelled() for track in self._fresh()):
            return False
        if top is None:
            return self._is_empty(now, found)
        if now.glance.calm and looks_as_known(top.quad, now, self._stream, NEARLY_ALL):
            return True
        near = OVER * self._pile.card_height
        return any(
            s.card == top.belief()[0] != UNREAD
            and s.top
            and s.confidence >= SURE_READING
            and (now.glance.calm or len(s.indices) > 1)
            and distance(quad, top.quad) < near
            for s, quad in found or ()
        )

    def _close(self, told: list[Observation], lying: Sequence[str]) -> list[Observation]:
        """Report the gap before everything else, because something came or went."""
        self._gaps += 1
        stream = self._stream
        t = max(stream.gap_since, stream.watermark) + 1
        gap = Gap(t=t, id=f"g{self._gaps}", until=max(stream.gap_until, t + 1), lying=tuple(lying))
        self._forget()
        self._shown = lying[-1] if lying else ""
        # Other cards that came unseen lie under the top one; drop them.
        self._pile.keep_open(
            lambda track: track.travelled() or not stream.spans_gap(track.low, track.earliest.t),
            Reason.UNSEEN_IN_GAP,
        )
        return [gap, *told]

    def _forget(self) -> None:
        """End the gap: stop following cards that were under way before it and have not been seen since."""
        stream = self._stream
        stream.close_gap()
        self._pile.keep_open(lambda track: track.last.t > stream.gap_since, Reason.LOST_IN_GAP)
        self._looked = LONG_AGO
