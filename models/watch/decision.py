"""Decides the fate of a card under way: reported as laid, slid under the pile, or dropped.

Where deck memory knows which cards can come (`Decisions.recall`), it helps to name a card that the eye alone cannot
name (`models.watch.prior`). The eye alone decides whether and when a card was laid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from models.eye.classes import SURE_READING, UNREAD
from models.eye.geometry import area, centre_of, distance, grown, holds, iou, shared_area
from models.watch.arms import Arms, brought_from
from models.watch.measure import FEW, HALF, INDEX, OVER, SLIGHT
from models.watch.motion import Motion
from models.watch.pace import HAND_NS, LAID_NS, LET_GO_NS, PATIENCE_NS
from models.watch.prior import NamedCard, Prior, Trust, judge
from models.watch.reasons import Reason, first_that_holds
from models.watch.stream import MARGIN_NS, SeenFrame, Stream
from models.watch.tracks import PLAIN_CONFIDENCE, Pile, Track
from referee.engine.foresight import Foresight
from referee.engine.observations import MAX_ERROR, Card, Observation, Placed

_PROOF: Final = 4.4
"""Total vote weight that names a card at once: more than one look can give (4.2); chosen by hand."""
_NEAR_PILE: Final = 1.7
"""Greatest distance from the pile, in card heights, of a card that was slid under it; chosen by hand."""
_NEAR_ENOUGH: Final = 0.4
"""Least overlap of an unreadable look and a card that came up just then, for the look to show it; chosen by hand."""

Rule = tuple[Reason | None, object]
"""A reason and whether it holds; the first of several that holds decides. None: undecided."""


class Decisions:
    """Settles the cards under way as soon as they are certain."""

    def __init__(self, motion: Motion, stream: Stream, pile: Pile, arms: Arms) -> None:
        self._motion, self._stream, self._pile, self._arms = motion, stream, pile, arms
        self._placed = 0
        self._foresight: Foresight | None = None
        self._trust = Trust()

    def recall(self, foresight: Foresight | None) -> None:
        """Set which cards can come after all those reported so far; None if unknown."""
        self._foresight = foresight

    def decide(self, now: SeenFrame, *, taken: bool = False) -> list[Observation]:
        """Return what the newest frame settles; ``taken``: it shows the pile gone with all its cards."""
        return [seen for track in self._by_reveal() for seen in self._settle(track, now, taken=taken)]

    def finish(self, now: SeenFrame) -> list[Observation]:
        """Return the observations that can still be made, at the end of the stream, of the cards under way."""
        return [seen for track in list(self._pile.open) for seen in self._settle(track, now, final=True)]

    def decide_before_gap(self, last: SeenFrame) -> list[Observation]:
        """Return the observations that the last frame before a gap settles, without waiting for more looks."""
        out: list[Observation] = []
        for track in self._by_reveal():
            sure = track.is_sure() and track.belief()[0] not in self._pile.names
            laid = why_laid(track, self._pile, last, over=False) if sure else None
            if laid is not None:
                told = judge(*track.belief(), track.looks(), self._prior(track))
                out += self._report(track, told, Reason.NO_BETTER_LOOK, laid, last)
        return out

    def _by_reveal(self) -> list[Track]:
        """Return the cards under way in the order of reveals."""
        # Only the first frame shows several cards at once: then what lies below another came first.
        return sorted(self._pile.open, key=lambda track: (track.high, track.last.top))

    def tell_unread(self, track: Track, now: SeenFrame) -> list[Observation]:
        """Report a card that lies face up on the pile and shows nothing to read."""
        # The eye's doubtful readings of this card so far are not other cards.
        scraps = (other for other in self._pile.open if iou(other.quad, track.quad) > SLIGHT)
        for other in [other for other in scraps if not other.is_sure()]:
            self._pile.drop(other, Reason.UNREAD_LIES_THERE)
        self._pile.follow(track)
        self._arms.note_hands()
        out = self._report(track, NamedCard(UNREAD, 0.0), Reason.UNREAD, Reason.NOTHING_TO_READ, now)
        self._stream.know_cards(now.half, [track.quad])
        return out

    def _settle(self, track: Track, now: SeenFrame, *, taken: bool = False, final: bool = False) -> list[Observation]:
        """Report, drop or keep a card under way."""
        name, sure = track.belief()
        # A card that was slid under the pile and lies there in sight is looked at no more.
        gone = track.missed or track.came_under()
        lost = now.t - track.last.t
        # A hand may hide the card or have slid it under the pile: wait for it to leave, unless a later card lies there.
        # Then look for the card once more before giving it up. A hand that has gone with the pile reveals no more.
        hidden = not taken and (bool(now.glance.reaches) or not (now.looked or now.plain))
        waits = hidden and not _is_followed(track, self._pile) and lost < PATIENCE_NS
        slid = not now.glance.reaches and _lies_under_top(track, self._pile)
        over = final or slid or (gone and lost > HAND_NS and not waits)
        if self._pile.packs == 1 and name in self._pile.names and name != UNREAD:
            if over:
                self._pile.drop(track, Reason.SAME_CARD)
            return []
        laid = why_laid(track, self._pile, now, over)
        if laid is not None:
            told = self._reading_to_tell(track, now, over)
            if told is not None:
                return self._report(track, *told, laid, now)
        if over:
            return self._vanished(track, name, sure)
        if track.age(now.t) > 2 * PATIENCE_NS:
            self._pile.drop(track, Reason.UNDECIDED)
        return []

    def _reading_to_tell(self, track: Track, now: SeenFrame, over: bool) -> tuple[NamedCard, Reason] | None:
        """Return the reading to report now for a card that was laid, and why; ``??`` if it will stay unread; None to
        wait.
        """
        name, sure = track.belief()
        prior = self._prior(track)
        reading = judge(name, sure, track.looks(), prior)
        reason = first_that_holds(self._naming_rules(track, now, over, prior, reading))
        if reason is None:
            return None
        return (NamedCard(UNREAD, sure, reading.candidates) if reason is Reason.UNREAD else reading), reason

    def _naming_rules(
        self, track: Track, now: SeenFrame, over: bool, prior: Prior | None, reading: NamedCard
    ) -> Iterator[Rule]:
        (name, sure), age = track.belief(), track.age(now.t)
        # A name that memory rules out deserves another look, unless a later card would be reported first.
        expected = prior is None or prior.allows(name) or _is_followed(track, self._pile)
        yield Reason.BEYOND_DOUBT, named_at_once(track) and expected
        known = sure >= SURE_READING and track.more_than_a_glimpse(name)
        # The next card is about to be reported, and this one could not be reported after it.
        later = (other for other in self._pile.open if other.high > track.high)
        yield Reason.NEXT_WAITS, known and any(other.name is None and named_at_once(other) for other in later)
        yield None, not (over or age >= PATIENCE_NS or (track.still >= FEW and age > HAND_NS))
        yield Reason.NO_BETTER_LOOK, known
        yield Reason.MEMORY, sure < SURE_READING <= reading.confidence and track.likely(reading.card) >= 2
        # Seen well enough to be a card at all?
        tops = sum(s.top for s in track.sightings)
        bare = any(s.top and s.bare >= HALF for s in track.sightings)
        over_pile = track.rest is not None and track.seen_on_pile() > max(1, track.seen_under())
        yield Reason.UNREAD, tops >= FEW and bare and over_pile and not _another_look(track, self._pile)

    def _prior(self, track: Track) -> Prior | None:
        """Return deck memory's prior for a card; None while an earlier card may be unreported."""
        others = (other for other in self._pile.open if other is not track and other.high <= track.high)
        if self._foresight is None or any(other.seen_on_pile() for other in others):
            return None
        return Prior.of(self._foresight, self._arms.seat(brought_from(track)), self._trust.slip)

    def _vanished(self, track: Track, name: str, sure: float) -> list[Observation]:
        """Settle a card that disappeared without being seen on the pile: it was slid under it, or carried off."""
        reason = first_that_holds(self._why_not_placed(track, name, sure))
        if reason is not None:
            self._pile.drop(track, reason)
            return []
        self._pile.burn(track, name)
        self._placed += 1
        t = max(track.last.t, self._stream.watermark + 1)
        cards = () if track.suit_open else (name,)
        placed = Placed(t=t, id=f"p{self._placed}", seat=self._arms.seat(brought_from(track)), cards=cards)
        self._pile.reasons.note_card(track, Reason.SLID_UNDER, observation=placed)
        return [placed]

    def _why_not_placed(self, track: Track, name: str, sure: float) -> Iterator[Rule]:
        """Yield the rules by which a card that disappeared was not slid under the pile."""
        if sure < SURE_READING:
            yield Reason.COVERED_TOO_SOON, _is_followed(track, self._pile) and track.seen_on_pile()
            yield Reason.NEVER_AT_REST, track.rest is None
            yield Reason.NEVER_SURE, True
        yield Reason.ONE_LOOK, track.reads(name) < 2
        yield Reason.NEVER_AT_REST, not self._pile.laid
        came = max(distance(track.earliest.quad, s.quad) for s in track.sightings)
        yield Reason.NEVER_MOVED, came < INDEX * self._pile.card_height
        if not track.last.under and track.seen_under() <= max(1, track.seen_on_pile()):
            off = np.subtract(centre_of(track.quad), self._pile.middle(self._stream.shape))
            yield Reason.CARRIED_OFF, np.hypot(*off) > _NEAR_PILE * self._pile.card_height
            yield Reason.NOT_SLID_UNDER, not _bared(track, self._pile)

    def _report(self, track: Track, told: NamedCard, naming: Reason, laid: Reason, now: SeenFrame) -> list[Observation]:
        """Report that a card was laid, unless it was reported already; ``naming`` and ``laid`` are the reasons."""
        name = told.card
        if track.suit_open and name != UNREAD:
            # The track follows the suit that the shape suggests; memory may know better, else players are asked.
            told = judge(UNREAD, 0.0, track.looks(), self._prior(track))
            naming = Reason.NO_COLOUR if told.card == UNREAD else Reason.MEMORY
        upper = upper_of(track, self._pile)
        again = self._same_again(track, name) if upper is None else None
        if again is not None:
            self._pile.drop(track, Reason.READ_TWO_WAYS, again.belief()[0])
            return []
        if upper is not None:
            track.precede(upper)
            if not self._stream.spans_gap(track.low, track.earliest.t):
                # Two cards first seen together after a gap need not have come together.
                self._pile.note_pair(track, upper)
        self._pile.lay(track, name)
        if track.still and not now.glance.reaches:
            self._motion.learn_paper(now.glance.small, track.quad)
        low, high = track.low, track.high
        if low != high:
            low = max(low, self._stream.soonest)
            high = max(low, high)
        # A face may have shown for a while before a frame could tell it from an edge, but not come after one showed it.
        begin = low if track.earliest.index == 0 else low - MARGIN_NS
        t = (begin + high) // 2 - (upper is not None)
        error = 0 if track.earliest.index == 0 else (high - begin + 1) // 2
        angle = brought_from(track)
        if self._stream.spans_gap(low, track.earliest.t):
            error = min(error, MAX_ERROR)
            if not track.travelled():
                # The player who was there at the end of the gap need not have laid it.
                angle = None
        seat = self._arms.seat(angle)
        gone = track.high + MARGIN_NS < self._stream.soonest
        if gone and any(other.high > track.high for other in self._pile.laid if other is not track):
            # It came up so long ago that later cards have been reported and it can no longer go before them. Its name
            # is certain but its place among the others is not, so players are asked.
            told, naming = NamedCard(UNREAD, 0.0, told.candidates), Reason.PLACE_UNSURE
        if self._foresight is not None:
            self._trust.note(told, Prior.of(self._foresight, seat))
            self._foresight = self._foresight.after(seat, told.card)
        card = Card(
            t=t, id=f"c{self._pile.told}", card=told.card, seat=seat, t_error=error,
            confidence=round(told.confidence, 3), known_at=now.t,
            bearing=None if angle is None else float(round(angle) % 360), candidates=told.candidates,
        )  # fmt: skip
        self._pile.reasons.note_card(track, laid, naming=naming, observation=card, bearing=angle)
        return [card]

    def _same_again(self, track: Track, name: str) -> Track | None:
        """Return a better-seen card that came up at the same place within a frame or two: one card, read two ways.

        A card that lay on top when the other showed below it, or has since lain there, is another card.
        """
        if track.doubles(name):
            return None
        close = 2 * max(1, self._stream.spacing) + MARGIN_NS
        alike = (
            other
            for other in [*self._pile.laid[-FEW:], *self._pile.open]
            if other is not track
            and not other.came_under()
            and not (_seen_above(track, other) or any(s.top and s.index >= other.last.index for s in track.sightings))
            and abs(other.high - track.high) < close
            and track.low - close < other.earliest.t < track.earliest.t + LAID_NS
            and iou(other.quad, track.quad) > HALF
            and len(other.sightings) > track.reads(name) < FEW
        )
        return next(alike, None)


def upper_of(track: Track, pile: Pile) -> Track | None:
    """Return the card that was drawn together with this one and came to lie on it, if two were drawn.

    Such cards turn over in one hand and come to rest together, the lower one fanned out a little; a card slid under the
    pile comes to rest below a card that was there before. Both must have been seen to move: a card that only comes to
    light when a pile is touched lay there before.
    """
    if not track.travelled() or not track.is_sure() or track.seen_under() == 0:
        return None
    return next(
        (
            other
            for other in [*pile.open, *pile.laid[-FEW:]]
            if other is not track
            and abs(other.high - track.high) <= LET_GO_NS
            and abs(other.first - track.first) <= 1
            and (other.plainly_laid() or other.name is not None)
            and not other.seen_under()
            and shared_area(other.quad, track.quad) >= OVER * area(track.quad)
        ),
        None,
    )


def named_at_once(track: Track) -> bool:
    """Whether a card's name is so certain that no further look is needed."""
    name, sure = track.belief()
    # In motion a suit is easily mistaken, even twice alike; at rest, or by two indices each, two looks are enough.
    enough = 2 if track.still or track.doubles(name) >= 2 else FEW
    return sure >= PLAIN_CONFIDENCE and track.weights()[name] >= _PROOF and track.reads(name) >= enough


def is_laid(track: Track, pile: Pile, now: SeenFrame, over: bool) -> bool:
    """Whether a card has been laid on the pile (`why_laid`)."""
    return why_laid(track, pile, now, over) is not None


def why_laid(track: Track, pile: Pile, now: SeenFrame, over: bool) -> Reason | None:
    """Return why a card counts as laid on the pile; None if it may have been slid under it or carried past.

    ``over``: no more will be seen of it.
    """
    return first_that_holds(_laid_rules(track, pile, now, over))


def _laid_rules(track: Track, pile: Pile, now: SeenFrame, over: bool) -> Iterator[Rule]:
    on, under, age = track.seen_on_pile(), track.seen_under(), track.age(now.t)
    yield Reason.FIRST_PICTURE, track.earliest.index == 0
    if not pile.laid:
        # A reading just after a pile was taken may be a misread card of that pile: the card must come to rest.
        carried = track.earliest.t < pile.left + HAND_NS
        yield Reason.NO_PILE, track.still or (len(track.sightings) >= FEW and not carried)
        yield Reason.BENEATH, _lies_beneath(track, pile)
        return
    yield Reason.WHOLE_ON_PILE, track.plainly_laid()
    yield Reason.TWO_AT_ONCE, upper_of(track, pile)
    yield None, track.came_under() or (not over and _waits_below(track) and age < PATIENCE_NS)
    yield Reason.RESTS_ON_PILE, track.still and track.last.on_pile and on > under and (track.last.top or on > 1)
    yield Reason.STAYS_ON_PILE, on >= FEW and (on > 2 * under or all(s.on_pile for s in track.sightings[-FEW:]))
    if on == under == 0 and track.still >= 2:
        # Whole and still beside the pile: it was laid there, even if it leaves later. So was a card that remains there.
        plainly = [s for s in track.sightings if s.plain]
        yield Reason.BESIDE_PILE, len(plainly) >= FEW and any(s.top for s in plainly)
        yield Reason.BESIDE_PILE, not track.missed and age >= PATIENCE_NS and track.is_sure()
    stays = next((now.t - s.t for s in track.sightings if s.on_pile), 0)
    if any(s.double and s.on_pile for s in track.sightings):
        stays = age
    if over or (not track.missed and stays > LAID_NS):
        yield Reason.NOT_BARED, _laid_after_all(track, pile)
        return
    yield Reason.FOLLOWED, on > 0 and under == 0 and pile.latest > track.high
    yield Reason.LIES_ON_TOP, under == 0 and track.still >= FEW and track.last.top


def _waits_below(track: Track) -> bool:
    """Whether a card was seen under the pile, and since then never clearly on it: a hand may be hiding what lies on it.

    A hand that slides a card under the pile covers both cards, and neither then shows which is the upper one.
    """
    last = max((k for k, s in enumerate(track.sightings) if s.under), default=None)
    return last is not None and not any(s.top or s.double or s.bare >= HALF for s in track.sightings[last + 1 :])


def _lies_beneath(track: Track, pile: Pile) -> bool:
    """Whether a card that came up later lies on this one."""
    return any(
        other.high > track.high and other.last.top and shared_area(other.quad, track.quad) > OVER * area(track.quad)
        for other in pile.open
    )


def _laid_after_all(track: Track, pile: Pile) -> bool:
    """Whether a card that was seen on the pile only once or twice, some time ago, was laid."""
    if _bared(track, pile):
        return False
    if any(s.double and s.on_pile for s in track.sightings):
        return True
    if track.last.under:
        return False  # it may have seemed to lie on the others while a hand hid them
    on = track.seen_on_pile()
    # A card seen over the pile's edge and then under it was slid there, unless a later card hides it now.
    stays = all(s.on_pile for s in track.sightings[-2:])
    return on > 0 and (on > track.seen_under() or stays or (pile.latest > track.high and track.came_over()))


def _bared(track: Track, pile: Pile) -> bool:
    """Whether something that the card would hide has been seen since: then it was not laid.

    Either the pile's top card whole and on top, or an index of an older card where this card was last seen.
    """
    top = pile.laid[-1]
    if top.high < track.high and any(s.top and s.plain and s.t > track.last.t for s in top.sightings):
        return True
    if _lies_under_top(track, pile):
        return True
    older = (other for other in pile.laid if other.high < track.high)
    since = (s for other in older for s in other.sightings if s.t > track.last.t and s.confidence >= SURE_READING)
    place = grown(track.quad, -SLIGHT * pile.card_height)
    return not _is_followed(track, pile) and any(holds(place, index) for s in since for index in s.indices)


def _lies_under_top(track: Track, pile: Pile) -> bool:
    """Whether two looks in a row found it under the pile's newest card, with that card whole and on top.

    Then it was slid there, and only seemed to lie on the pile while a hand held it.
    """
    if not pile.laid or len(track.sightings) < 2 or not all(s.under for s in track.sightings[-2:]):
        return False
    top = pile.laid[-1]
    return top.high < track.high and any(s.top and s.plain and s.t >= track.last.t for s in top.sightings)


def _is_followed(track: Track, pile: Pile) -> bool:
    """Whether a card whose name is known has come up after this one."""
    later = (other for other in pile.cards if other.high > track.high)
    return any(other.name is not None or other.is_sure() for other in later)


def _another_look(track: Track, pile: Pile) -> bool:
    """Whether an unreadable card came up just when and where a card was laid: it is that card, unless it lay on it."""
    return any(
        track.low - LAID_NS <= other.high
        and other.low <= track.high + LAID_NS
        and iou(other.rest, track.quad) > _NEAR_ENOUGH
        and not _seen_above(track, other)
        for other in pile.laid[-FEW:]
        if other.rest is not None
    )


def _seen_above(track: Track, other: Track) -> bool:
    """Whether a card lay on top in a frame that showed the other one below it."""
    below = {s.index for s in other.sightings if not s.top}
    return any(s.top and s.index in below for s in track.sightings)
