"""Gaps in the frames: whether what lies there after one is what lay there before it.

Between two frames that are farther apart than the quickest two cards (`models.watch.pace.QUICKEST_LAY_NS`) more may
have come than the one that is seen on top, and the pile may have been taken. So after such a gap the watcher looks: the
same card on top, or the same picture on both sides, and nothing has happened. Else a `Gap` is told before what is seen,
and of the cards that came in it only the one on top, for nobody can say what lies right under that.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.eye.classes import SURE_READING, UNREAD
from models.eye.geometry import distance
from models.watch.faces import looks_as_known
from models.watch.gaze import Found
from models.watch.measure import NEARLY_ALL, OVER
from models.watch.motion import Glance
from models.watch.pace import LET_GO_NS, PATIENCE_NS, SWEEP_NS
from models.watch.stream import LONG_AGO, SeenFrame, Stream
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
        """Where the latest gap was told: the card that it left on top; empty where there was none."""
        self._top: Track | None = None
        """The card that lay on top before the gap, or was on its way there."""

    def begin(self) -> None:
        """A gap begins with the frame that comes now: remember what lay on top."""
        self._shown = None
        since = self._stream.gap_since
        cards = [*self._pile.laid, *(track for track in self._pile.open if not track.scrap())]
        before = [track for track in cards if track.sightings and track.sightings[0].t <= since]
        self._top = max(before, key=lambda track: track.high, default=None)

    def must_look(self, now: SeenFrame) -> bool:
        """Whether a look is due, since nothing is known of the pile before one."""
        if not self._stream.gap_open or now.t - self._looked < LET_GO_NS:
            return False
        self._looked = now.t
        return True

    def judge(
        self, now: SeenFrame, glance: Glance, found: Sequence[Found] | None, told: list[Observation]
    ) -> list[Observation]:
        """What is told of the newest frame, with the gap before it where there was one.

        Args:
            now: the newest frame.
            glance: what it shows at a glance.
            found: what was read in it; None where it was not read.
            told: what the watcher has to tell.
        """
        stream = self._stream
        if not stream.gap_open:
            return [one for one in told if not self._came_unseen(one)]
        # What was under way before the gap and is seen no more was not surely slid under the pile; nor is anybody to
        # blame for what came in it.
        told = [one for one in told if not isinstance(one, Placed | Foul)]
        if any(isinstance(one, Taken) for one in told):
            return self._close(told, [])
        news = [one for one in told if isinstance(one, Card) and one.t + one.t_error >= stream.gap_until]
        top = next((card for card in reversed(news) if self._lies_on_top(card)), None)
        # Of several that came unseen only the one on top has a place that is sure.
        told = [one for one in told if one is top or one not in news or one.t - one.t_error >= stream.gap_until]
        if top is not None:
            return self._close(told, [top.card])
        late = now.t - stream.gap_until > SWEEP_NS
        if not self._pile.laid and (late or self._top is not None) and self._is_empty(now, glance, found):
            # A pile may have lain here and been taken since, under the hands that hid it.
            half = min((now.t - stream.gap_since) // 2, MAX_ERROR + 1)
            gone = Taken(t=now.t - half, id=f"gt{self._gaps + 1}", t_error=half - 1)
            return self._close([*told, gone], [])
        if not news and self._is_same(now, glance, found):
            if self._top is None and stream.gap_until - stream.gap_since > PASSING_NS:
                # A whole pile may have come and gone.
                return self._close(told, [])
            self._forget()
        elif now.t - stream.gap_until > 2 * PATIENCE_NS:
            # What lies there is hidden for too long, and must be asked.
            return self._close(told, [UNREAD])
        return told

    def _is_empty(self, now: SeenFrame, glance: Glance, found: Sequence[Found] | None) -> bool:
        """Whether the newest frame shows no card, and nothing that may hide one."""
        return glance.calm and not now.blind and not found and not now.suspects and not now.still

    def _lies_on_top(self, card: Card) -> bool:
        """Whether a card that was just told was seen to lie on all others."""
        return any(track.name == card.card and track.last.top for track in self._fresh())

    def _came_unseen(self, told: Observation) -> bool:
        """Whether this is a card that came in a gap that was told, under the one on top: its place is not sure."""
        until = self._stream.gap_until
        if (
            not isinstance(told, Card)
            or self._shown is None
            or not told.t - told.t_error < until <= told.t + told.t_error
        ):
            return False
        fresh = self._fresh()
        # Nothing was laid since on the card that the gap left on top, so what shows beside it came before it.
        is_top_still = any(track.name == self._shown and track.last.top for track in fresh)
        return any(
            track.name == told.card and not track.last.top and (is_top_still or not track.travelled())
            for track in fresh
        )

    def _fresh(self) -> list[Track]:
        """The cards, told or under way, that were first seen after the gap."""
        until = self._stream.gap_until
        return [track for track in (*self._pile.laid, *self._pile.open) if track.sightings[0].t >= until]

    def _is_same(self, now: SeenFrame, glance: Glance, found: Sequence[Found] | None) -> bool:
        """Whether the newest frame shows that nothing came and nothing went."""
        before, top = self._stream.before, self._top
        first = now.t == self._stream.gap_until
        if now.blind:
            return False
        if first and before is not None and before.glance.calm and glance.calm:
            return top is None or looks_as_known(top.quad, now, self._stream, NEARLY_ALL)
        if not all(track.travelled() for track in self._fresh()):
            return False
        if top is None:
            return self._is_empty(now, glance, found)
        if glance.calm and looks_as_known(top.quad, now, self._stream, NEARLY_ALL):
            return True
        near = OVER * self._pile.card_height
        return any(
            s.card == top.belief()[0] != UNREAD
            and s.top
            and s.confidence >= SURE_READING
            and (glance.calm or len(s.indices) > 1)
            and distance(quad, top.quad) < near
            for s, quad in found or ()
        )

    def _close(self, told: list[Observation], lying: Sequence[str]) -> list[Observation]:
        """Something came or went: tell the gap before all else."""
        self._gaps += 1
        stream = self._stream
        t = max(stream.gap_since, stream.watermark) + 1
        gap = Gap(t=t, id=f"g{self._gaps}", until=max(stream.gap_until, t + 1), lying=tuple(lying))
        self._forget()
        self._shown = lying[-1] if lying else ""
        # What else came unseen lies under the card on top, and will not be told after it.
        self._pile.open = [
            track
            for track in self._pile.open
            if track.travelled() or not stream.spans_gap(track.low, track.sightings[0].t)
        ]
        return [gap, *told]

    def _forget(self) -> None:
        """The gap is over: what was on its way before it and was not seen since is followed no longer."""
        stream = self._stream
        stream.gap_open = False
        self._pile.open = [track for track in self._pile.open if track.last.t > stream.gap_since]
        self._looked = LONG_AGO
