"""Which card a reading belongs to: one that is known, one under way, or a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from models.eye.geometry import Quad, distance, iou
from models.watch.card_place import sighting
from models.watch.faces import first_unexplained, reveal, unread_reveal
from models.watch.gaze import LIKELY, Found
from models.watch.known_cards import Pile
from models.watch.likeness import shown_before
from models.watch.motion import Glance, Motion
from models.watch.pixels import Bytes
from models.watch.stream import MS, Moment, Stream
from models.watch.tracks import LATELY, SURE, UNREAD, Seen, Sighting, Track, double, plain

MOVED_NS: Final = 600 * MS
"""Where nothing has moved for so long, no card has come."""
FIRST_LOOK: Final = 0.8
"""Share of its height by which a card on its way moves in a frame or two at most."""
NUDGED: Final = 0.15
"""Share of its height by which a known card may have been pushed between two frames."""
UNSURE: Final = 0.2
"""Share of its height by which the place of a scrap is unsure."""


@dataclass(slots=True, eq=False)
class _Round:
    """The readings of one frame while they are given to cards."""

    now: Moment
    names: set[str]
    """The names read in this frame."""
    given: dict[int, tuple[Track, Seen, Quad]] = field(default_factory=dict)
    """The open cards that have a reading of this frame, by identity."""


class Attribution:
    """Gives readings to cards, and opens a card for those that show a new one."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile) -> None:
        self._motion = motion
        self._stream = stream
        self._pile = pile
        self._settled: Bytes | None = None
        """The half picture of the last frame without a hand in it."""

    def attribute(self, found: Sequence[Found], now: Moment) -> list[Track]:
        """Give each reading of the newest frame to the card it belongs to; tells which open cards were seen."""
        frame = _Round(now, {s.card for s, _ in found})
        for s, quad in found:
            self._give(s, quad, frame)
        for track, s, quad in frame.given.values():
            track.add(sighting(s, quad, track, now, self._pile))
            track.note_indices(s)
        return [track for track, _, _ in frame.given.values()]

    def settle(self, now: Moment, glance: Glance) -> None:
        """Remember how the pile looks while no hand is over it and no card is being laid."""
        if not glance.reaches and not glance.changed and not any(t.seen_on_pile() for t in self._pile.open):
            self._settled = now.half

    def _give(self, s: Seen, quad: Quad, frame: _Round) -> None:
        """Give one reading to the card it belongs to."""
        known = self._known(s, quad)
        if known is not None:
            self._update_known(known, s, quad, frame.now)
        elif s.card in self._pile.burned:
            self._pile.burned[s.card] = quad
        else:
            dropped: list[Track] = []
            track = self._open_track(s, quad, frame, dropped)
            if track is not None:
                self._revise(track, s, quad, frame.now)
            elif self._may_be_new(s, quad, frame.now):
                track = self._opened(s, quad, frame.now, dropped)
            else:
                return
            frame.given[id(track)] = (track, s, quad)

    # Known cards

    def _known(self, s: Seen, quad: Quad) -> Track | None:
        """The reported card that this reading shows again, if it is one."""
        if s.card != UNREAD:
            for track in reversed(self._pile.laid):
                if track.name == s.card and (self._pile.packs == 1 or self._same_place(track, quad)):
                    return track
        if s.card != UNREAD and any(self._under_way(track, s) for track in self._pile.open):
            return None  # seen on its way here: it has come to lie just where another lies
        for track in reversed(self._pile.laid):
            alike = iou(track.quad, quad)
            if alike > 0.88 or (s.card == UNREAD and alike > (0.75 if s.top else 0.4)):
                return track
        return None

    def _under_way(self, track: Track, s: Seen) -> bool:
        """Whether a card under way was read so; a look that was held for a scrap counts if this one is beyond doubt."""
        if s.card in track.weights():
            return True
        clear = double(s) and s.top and s.confidence >= SURE
        return clear and any(seen.name == s.card for seen in track.sightings)

    def _same_place(self, track: Track, quad: Quad) -> bool:
        """Whether a card may have been nudged from its place to this one since it was seen last."""
        near = distance(track.quad, quad) < NUDGED * self._pile.card_height
        return iou(track.quad, quad) > 0.5 or (near and track.last.index >= self._stream.index - 2)

    def _update_known(self, track: Track, s: Seen, quad: Quad, now: Moment) -> None:
        if s.card != track.name or s.confidence < 0.5:
            return
        before = track.rest
        seen = Sighting(now.index, now.t, s.card, s.confidence, quad, s.top, on_pile=False, under=False, plain=plain(s))
        track.add(seen)
        track.note_indices(s)
        del track.sightings[:-4]
        if track.rest is not before:
            self._pile.shifted()

    # Cards under way

    def _open_track(self, s: Seen, quad: Quad, frame: _Round, dropped: list[Track]) -> Track | None:
        """The card under way that this reading shows, if any; what it proves to be a scrap joins ``dropped``."""
        free = [track for track in self._pile.open if id(track) not in frame.given and track.sightings]
        for track in free:
            if s.card == UNREAD or not track.may_still_be(s.card, frame.now.index):
                continue
            if not self._is_another(track, s, quad, frame.now):
                return track
            self._pile.open.remove(track)
            dropped.append(track)
        free = [track for track in free if track not in dropped]
        for track in free:
            if self._first_look(track, frame) and self._close(track, quad):
                return track
        return _most_overlapping(free, s, quad, frame.now)

    def _first_look(self, track: Track, frame: _Round) -> bool:
        """Whether a card was seen only once and just now, in motion: it may have been misread then.

        Two cards never follow each other by one frame.
        """
        once = len(track.sightings) == 1 and track.first >= frame.now.index - 1
        # What lay under the pile where a known index shows was no card on its way.
        scrap = track.last.under and track.last.scrap
        return once and not scrap and track.last.name not in frame.names

    def _is_another(self, track: Track, s: Seen, quad: Quad, now: Moment) -> bool:
        """Whether a reading of an open card's name shows another card, and what was open was a scrap misread so."""
        if track.fleeting(now.index) and track.first < now.index - 2:
            return True
        if not track.scrap() or track.travelled():
            return False
        if track.belief()[1] < SURE:
            # One index under the pile, and now two of a card in full: those are two cards.
            return self._apart(track, quad) or (double(s) and track.came_under() and track.may_be_scrap())
        return track.first < now.index - 2 and s.confidence >= SURE and (s.top or self._apart(track, quad))

    def _apart(self, track: Track, quad: Quad) -> bool:
        """Whether a reading lies farther from a scrap's place than that place is unsure."""
        return distance(track.quad, quad) > UNSURE * self._pile.card_height

    def _close(self, track: Track, quad: Quad) -> bool:
        """Whether a card on its way may have come from the one place to the other within a frame or two."""
        return distance(track.quad, quad) < FIRST_LOOK * self._pile.card_height

    def _revise(self, track: Track, s: Seen, quad: Quad, now: Moment) -> None:
        """Put off the instant by which a card under way came up, where this reading says that it may be later."""
        early_scrap = track.came_under() and len(track.sightings) <= 2
        # What was read so before may have been a scrap; then this came up only now.
        came_now = early_scrap and (plain(s) or self._apart(track, quad))
        # Perhaps a first look, misread; perhaps another card: then it came up only now. Both are possible.
        if came_now or s.card not in (UNREAD, *track.weights()):
            track.high = max(track.high, reveal(quad, now, self._stream, self._pile)[1])

    # New cards

    def _opened(self, s: Seen, quad: Quad, now: Moment, dropped: Sequence[Track]) -> Track:
        """A new card under way."""
        track = Track(quad, now.index)
        if s.card == UNREAD:
            track.low, track.high = unread_reveal(now, self._stream, self._pile)
        else:
            track.low, track.high = reveal(quad, now, self._stream, self._pile)
        track.low = min([track.low, *self._first_looks(track, dropped)])
        self._pile.open.append(track)
        return track

    def _first_looks(self, track: Track, dropped: Sequence[Track]) -> list[int]:
        """Since when a card of another name was seen coming up just there: it may have been this one, misread."""
        return [
            other.low
            for other in [*self._pile.open, *dropped]
            if other.first >= track.first - 2
            and (other in dropped or not other.scrap())
            and self._close(other, track.quad)
        ]

    def _may_be_new(self, s: Seen, quad: Quad, now: Moment) -> bool:
        """Whether something has moved where this reading lies, lately enough to have brought a card."""
        if s.card != UNREAD and s.confidence < LIKELY:
            return False
        if now.index == 0:
            return True
        if s.card == UNREAD and first_unexplained(self._stream, self._pile) is None:
            return False
        if s.card != UNREAD and shown_before(quad, self._settled, now.half, self._pile.rests):
            return False
        inside = self._motion.mask([quad], self._motion.moved_at.shape) > 0
        if not inside.any():
            return False
        moved_at = self._motion.moved_at[inside]
        return bool((moved_at >= now.t - MOVED_NS).mean() > 0.3)


def _most_overlapping(free: Sequence[Track], s: Seen, quad: Quad, now: Moment) -> Track | None:
    """The card that lies most where this reading does, if it lies there for the most part.

    A scrap that shows from under the pile is no card on its way, whatever is laid over it later.
    """
    lasting = [track for track in free if not track.fleeting(now.index) and not track.scrap()]
    if s.card != UNREAD:
        lasting = [track for track in lasting if track.first >= now.index - LATELY]
    best = max(lasting, key=lambda track: iou(track.quad, quad), default=None)
    if best is None:
        return None
    named = best.belief()[0]
    return best if iou(best.quad, quad) > (0.3 if UNREAD in (s.card, named) else 0.6) else None
