"""The first frame that shows a face: the span in which a card came up.

The camera sees only frames, so a face that is missing in one frame and shown by the next came up between the two.
Frames in between that show something white the eye could not read widen the span.
"""

from __future__ import annotations

from models.eye.geometry import Quad, distance
from models.watch.known_cards import Pile
from models.watch.likeness import lay_alike
from models.watch.stream import LOOK_BACK, Moment, Stream, Suspect


def reveal(quad: Quad, now: Moment, stream: Stream, pile: Pile) -> tuple[int, int]:
    """The span, ns, in which a face, first read in the newest frame, must have come up."""
    moments = stream.moments
    if now.index == 0:
        return now.t, now.t
    place, first, perhaps, gaps = quad, len(moments) - 1, len(moments) - 1, 0
    for back in range(len(moments) - 2, max(-1, len(moments) - 2 - LOOK_BACK), -1):
        if moments[back].blind:
            break
        reach = (1.1 + 0.6 * gaps) * pile.card_height
        near = [s for s in moments[back].suspects if distance(s.place, place) < reach]
        if near:
            place, perhaps = _nearest(near, place).place, back
            if any(s.sure for s in near):
                first = back
        elif lay_alike(quad, moments[back].half, now.half):
            first = perhaps = back
        else:
            gaps += 1
            if gaps > 1:
                break
    low = max(stream.came_after(perhaps), stream.soonest)
    return low, max(low, moments[first].end)


def _nearest(suspects: list[Suspect], place: Quad) -> Suspect:
    return min(suspects, key=lambda s: distance(s.place, place))


def unread_reveal(now: Moment, stream: Stream, pile: Pile) -> tuple[int, int]:
    """The span, ns, for a card that nobody could read until the hand was gone: when white was seen to come."""
    if now.index == 0:
        return now.t, now.t
    low, high = stream.soonest, now.end
    k = first_unexplained(stream, pile)
    if k is not None:
        low, high = max(low, stream.came_after(k)), stream.moments[k].end
    return low, max(low, high)


def first_unexplained(stream: Stream, pile: Pile) -> int | None:
    """The place among the moments of the first white paper that may yet turn out to be a card."""
    moments, latest = stream.moments, pile.latest
    for k in range(max(1, len(moments) - 2 * LOOK_BACK), len(moments)):
        if moments[k].t > latest and any(s.sure for s in moments[k].suspects):
            return k
    return None
