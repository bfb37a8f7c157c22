"""Why the watcher reported a card or a take, asked about it, or reported nothing: its reasons as data.

The watcher records them only if asked (`models.watch.watcher.Watcher`), and decides the same either way. A reason is
one stable word; `referee.vision.reason_lines` has the sentences for people.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from referee.engine.observations import Observation


class Reason(StrEnum):
    """Why a card counts as laid, why it has its name, why a candidate was dropped, why a pile counts as taken."""

    # A card counts as laid.
    FIRST_PICTURE = "first_picture"
    """It lay there in the first picture."""
    NO_PILE = "no_pile"
    """It came to rest, or was seen three times, where no pile lay."""
    BENEATH = "beneath"
    """A later card already lies on it."""
    WHOLE_ON_PILE = "whole_on_pile"
    """It was seen whole over the pile, twice or at rest."""
    TWO_AT_ONCE = "two_at_once"
    """It was drawn together with the card that lies on it."""
    RESTS_ON_PILE = "rests_on_pile"
    """It lies still over the pile, and on top of it."""
    STAYS_ON_PILE = "stays_on_pile"
    """Three looks or more found it over the pile."""
    BESIDE_PILE = "beside_pile"
    """It lies still beside the pile."""
    NOT_BARED = "not_bared"
    """It was seen over the pile, and nothing that it would hide has been seen since."""
    FOLLOWED = "followed"
    """It was seen over the pile, and a later card has come up."""
    LIES_ON_TOP = "lies_on_top"
    """It lies still with nothing on it, and was never seen under the pile."""
    NOTHING_TO_READ = "nothing_to_read"
    """The newest card's place is still and shows neither that card nor the table."""

    # A card has its name.
    BEYOND_DOUBT = "beyond_doubt"
    """Its looks agree so clearly that no further one is needed."""
    NEXT_WAITS = "next_waits"
    """Its name is sure, and the next card is about to be reported."""
    NO_BETTER_LOOK = "no_better_look"
    """Its name is sure, and it has been looked at for long enough."""
    MEMORY = "memory"
    """The eye was unsure, and deck memory leaves one of its names."""
    UNREAD = "unread"
    """It lies in full view, and no name was ever sure."""
    NO_COLOUR = "no_colour"
    """Every look was without colour, so its suit is a guess."""
    PLACE_UNSURE = "place_unsure"
    """Later cards were reported before it, so its place among them is uncertain."""

    # A candidate was dropped.
    SAME_CARD = "same_card"
    """A card of this name lies in the pile: it is that card, read again."""
    READ_TWO_WAYS = "read_two_ways"
    """A card that was seen better came up in the same place: one card, read two ways."""
    MISREAD = "misread"
    """A later reading of this name in another place shows that the first one was a misread scrap."""
    UNREAD_LIES_THERE = "unread_lies_there"
    """It was a doubtful reading of the unreadable card that lies there."""
    COVERED_TOO_SOON = "covered_too_soon"
    """The next card covered it before it was read with certainty."""
    NEVER_AT_REST = "never_at_rest"
    """It was never read with certainty, and never came to rest."""
    NEVER_SURE = "never_sure"
    """It was never read with certainty."""
    ONE_LOOK = "one_look"
    """Only one look read it."""
    NEVER_MOVED = "never_moved"
    """It never moved: a corner of an older card, read as another."""
    CARRIED_OFF = "carried_off"
    """It was last seen far from the pile."""
    NOT_SLID_UNDER = "not_slid_under"
    """It disappeared at the pile, and nothing shows that it went under it."""
    UNDECIDED = "undecided"
    """For too long it was neither seen on the pile nor gone."""
    WENT_WITH_PILE = "went_with_pile"
    """It was seen before the pile was taken, and went with it."""
    LOST_IN_GAP = "lost_in_gap"
    """It was seen before a gap in the pictures, and not since."""
    UNSEEN_IN_GAP = "unseen_in_gap"
    """It may have come in a gap in the pictures, where only the top card's place is certain."""

    # A reading began no card.
    PRINTED = "printed"
    """It is printed on the cloth."""
    DOUBTFUL = "doubtful"
    """It was too doubtful to begin a card."""
    SHOWED_BEFORE = "showed_before"
    """It showed there before the hand came: an old card's corner."""
    NOTHING_CAME = "nothing_came"
    """Nothing white came, and the place looks as before."""
    NOTHING_MOVED = "nothing_moved"
    """Nothing has moved there."""

    # The pile.
    PLACE_BARE = "place_bare"
    """Its place shows the bare table."""
    LEFT_UNSEEN = "left_unseen"
    """It was there before the camera saw nothing for a while, and gone after."""
    CARDS_AGAIN = "cards_again"
    """Its place looked bare, and then showed cards or hands again."""
    BARE_UNMOVED = "bare_unmoved"
    """Its place looked bare, but nothing had moved there: a cover, or other light."""

    # The rest.
    SLID_UNDER = "slid_under"
    """A card was brought to the pile, and disappeared under it."""
    SEEN = "seen"
    """The observation has no further reasons."""


class Occasion(StrEnum):
    """Why the eye looked at a frame."""

    FIRST = "first"
    """It is the first one."""
    HAND_LEFT = "hand_left"
    """A hand left that may have hidden a card."""
    CAME_TO_REST = "came_to_rest"
    """Something came to rest where the pile seemed gone."""
    AGAIN = "again"
    """Nothing changed, but a card under way needed another look."""
    PLACE_BARE = "place_bare"
    """The pile's place had become bare."""
    WHITE = "white"
    """White paper showed that no card explains."""
    MAY_REST = "may_rest"
    """A card under way may have come to rest."""
    CHANGED = "changed"
    """The table at rest looked different."""
    MOVEMENT = "movement"
    """Something had moved for a while without a look."""
    NEEDED = "needed"
    """Only the eye could tell what lay there."""
    LOOKED_BACK = "looked_back"
    """A later look found something, and this frame had been passed over."""


class Shown(StrEnum):
    """What a frame shows of a card's face."""

    NONE = "none"
    """Surely none."""
    PAPER = "paper"
    """White paper: perhaps a face, and a face in the span's last frame."""
    HAND = "hand"
    """A hand that may hide it."""
    NOTHING_SEEN = "nothing_seen"
    """Nothing at all: the camera was blind."""
    UNCERTAIN = "uncertain"
    """Something that may be a steep or blurred face."""
    READ = "read"
    """The face; the eye read it."""
    ALIKE = "alike"
    """The face: the place looks as it did when the card was read."""


_Answer = TypeVar("_Answer")


def first_that_holds(rules: Iterable[tuple[_Answer, object]]) -> _Answer | None:
    """Return the answer of the first rule that holds, a pair of answer and condition; None if none does.

    A decision with many rules is a generator of them, in order, so that none is evaluated after the one that decides.
    """
    return next((reason for reason, holds in rules if holds), None)


@dataclass(frozen=True, slots=True)
class Look:
    """A card in one frame that the eye read."""

    t: int
    name: str
    confidence: float
    where: str
    """``on`` top, ``under`` the pile, or ``beside``: neither was seen."""
    at_rest: bool
    occasion: Occasion | None = None
    """Why the eye looked; None: the frame is too old to know."""
    corners: tuple[tuple[float, float], ...] = ()
    """Of the card in the picture, px."""


@dataclass(frozen=True, slots=True)
class SpanFrame:
    """A frame of the span in which a face came up."""

    t: int
    end: int
    shown: Shown


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why an observation was made, or why none was."""

    reason: Reason
    t: int = 0
    """The instant of the frame that decided it, ns."""
    observation: Observation | None = None
    """None: a candidate was dropped, or a take not reported."""
    naming: Reason | None = None
    """Why a reported card has its name."""
    name: str = ""
    """The eye's own name for the card, without deck memory; empty: not about a card."""
    confidence: float = 0.0
    other: str = ""
    """The name of another card that decided it."""
    looks: tuple[Look, ...] = ()
    white: int | None = None
    """The instant at which white paper first showed on its way, ns."""
    arm: int | None = None
    """The instant at which an arm was first seen to reach to it, ns ..."""
    bearing: float | None = None
    """... and the bearing of the arm that brought the card or took the pile, degrees."""
    low: int = 0
    """A card's face came up, or a pile left, after this instant, ns ..."""
    high: int = 0
    """... and before this one."""
    since: int | None = None
    """The instant since which a pile's place looked bare, ns."""
    frames: tuple[SpanFrame, ...] = ()
    """The frames from the last that surely shows no face to the first that surely does."""
