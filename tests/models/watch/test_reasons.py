"""Why the watcher reports a card or a take, and why not: what it records, and that recording changes nothing."""

from __future__ import annotations

from dataclasses import replace

from models.watch.reasons import Evidence, Occasion, Reason, Shown
from referee.engine.observations import Card, Placed, Taken
from referee.units import MS
from tests.models.watch.painted import SPACING, Painted
from tests.models.watch.test_bare_table import BARE, LAID, PRINTED
from tests.models.watch.test_continuity import NINE, after_gap
from tests.models.watch.test_watcher import KING, SEVEN, TWO, Stream, settled
from tests.models.watch.test_watcher_memory import KNOWN, QUEEN
from tests.models.watch.test_watcher_memory import laid as laid_with_memory


def why(stream: Stream, name: str) -> Evidence:
    """Return the last reason that concerns a card."""
    return [evidence for evidence in stream.why if evidence.name == name][-1]


def play(stream: Stream) -> Stream:
    """Lay three cards, slide one under the pile, hover, and take the pile."""
    stream.show(frames=4)
    stream.lay([], SEVEN, 270)
    stream.lay([SEVEN], KING, 180)
    burned = Painted("9d", 480, 330, 0)
    for y in (260, 170, 80):
        stream.show([burned.moved(0, -y), SEVEN, KING], (90, 480, 330 - y - 40))
    stream.show([burned, SEVEN, KING], (90, 480, 290), frames=3)
    stream.show([burned, SEVEN, KING], (90, 480, 120))
    stream.show([burned, SEVEN, KING], frames=12)
    unread = replace(TWO, says="??", confidence=0.2)
    stream.lay([burned, SEVEN, KING], unread, 0)
    stream.show([burned, SEVEN, KING, unread], frames=15)
    for gone in (0, 60, 160, 280):
        stream.show([card.moved(0, -gone) for card in (burned, SEVEN, KING, unread)], (90, 485, 300 - gone))
    stream.show([], (90, 485, 0))
    stream.show([], frames=6)
    return stream


def test_recording_its_reasons_changes_nothing_that_the_watcher_says() -> None:
    explained, plain = play(Stream()), play(Stream(explain=False))
    assert explained.seen == plain.seen
    assert [type(line) for line in plain.seen] == [Card, Card, Placed, Card, Taken]
    assert explained.watcher.watermark == plain.watcher.watermark
    assert plain.why == []


def test_each_report_has_its_reason() -> None:
    stream = play(Stream())
    told = [(evidence.reason, evidence.naming) for evidence in stream.why if evidence.observation is not None]
    assert told == [
        (Reason.NO_PILE, Reason.BEYOND_DOUBT),
        (Reason.RESTS_ON_PILE, Reason.BEYOND_DOUBT),
        (Reason.SLID_UNDER, None),
        (Reason.RESTS_ON_PILE, Reason.UNREAD),
        (Reason.PLACE_BARE, None),
    ]


def test_a_card_comes_with_its_looks_and_with_the_frames_that_bound_its_span() -> None:
    stream = settled()
    shown = stream.lay([SEVEN, KING], TWO, 90)
    evidence, card = why(stream, "2c"), stream.cards[-1]
    assert evidence.observation == card and evidence.t == card.known_at
    first, *_, last = evidence.frames
    assert (first.t, first.shown) == (shown - SPACING, Shown.NONE)
    assert last.t == shown and last.shown in (Shown.PAPER, Shown.READ, Shown.ALIKE)
    assert card.t - card.t_error < evidence.low == first.t
    assert 0 <= card.t + card.t_error - last.end <= 1 and evidence.high == last.end
    assert len(evidence.looks) >= 2 and {look.name for look in evidence.looks} == {"2c"}
    assert all(look.occasion is not None and look.confidence > 0.9 for look in evidence.looks)
    assert evidence.bearing is not None and abs(evidence.bearing - 90) < 8


def test_a_face_seen_as_white_paper_says_so() -> None:
    stream = settled()
    shown = stream.lay([SEVEN, KING], TWO, 90, first_read=False)
    evidence = why(stream, "2c")
    assert evidence.white == shown
    assert evidence.looks[0].occasion in (Occasion.WHITE, Occasion.HAND_LEFT, Occasion.MOVEMENT)


def test_deck_memory_leaves_the_eyes_own_reading_on_record() -> None:
    evidence = laid_with_memory(QUEEN, KNOWN).why[-1]
    assert isinstance(evidence.observation, Card) and evidence.observation.card == "Qc"
    assert (evidence.name, evidence.naming) == ("Qs", Reason.MEMORY)
    assert evidence.confidence < 0.9


def test_a_print_on_the_cloth_is_dropped_once_and_not_at_each_look() -> None:
    stream = Stream(bare=BARE)
    stream.show(PRINTED, frames=6)
    stream.lay(list(PRINTED), LAID, 270)
    printed = [evidence.name for evidence in stream.why if evidence.reason == Reason.PRINTED]
    assert sorted(printed) == ["Ac", "Ad", "As"]


def test_a_misreading_of_the_card_that_lies_there_shows_nothing_new() -> None:
    stream = settled()
    stream.show([SEVEN, KING, replace(TWO, says="Jd", confidence=0.4)], (270, 480, 560), frames=3)
    stream.show([SEVEN, KING], frames=10)
    assert why(stream, "Jd").reason == Reason.DOUBTFUL


def test_a_card_read_on_its_way_and_carried_off_never_came_to_rest() -> None:
    stream = settled()
    passing = replace(Painted("5s", 760, 160, 15), confidence=0.7)
    for x in (0, -60, -110, -60, 0):
        stream.show([SEVEN, KING, passing.moved(x, -x)], (45, passing.x + x + 60, passing.y - x - 60))
    stream.show([SEVEN, KING], frames=20)
    assert stream.names == ["7h", "Ks"]
    assert why(stream, "5s").reason in (Reason.NEVER_AT_REST, Reason.NEVER_SURE, Reason.CARRIED_OFF)
    assert why(stream, "5s").looks


def test_a_place_that_looks_bare_for_a_moment_is_no_take() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=6)
    bare = stream.t
    stream.show([], (0, 790, 360))
    stream.show([SEVEN, KING], frames=20)
    assert not [line for line in stream.seen if isinstance(line, Taken)]
    (evidence,) = [evidence for evidence in stream.why if evidence.reason == Reason.CARDS_AGAIN]
    assert (evidence.since, evidence.t) == (bare, bare + SPACING)


def test_of_cards_that_came_in_a_gap_those_below_are_dropped_with_that_reason() -> None:
    stream, _ = after_gap(900 * MS)
    stream.show([SEVEN, KING, NINE, TWO], frames=30)
    assert stream.names == ["7h", "Ks", "2c"]
    dropped = [evidence.reason for evidence in stream.why if evidence.name == NINE.card]
    assert dropped == [Reason.UNSEEN_IN_GAP]
