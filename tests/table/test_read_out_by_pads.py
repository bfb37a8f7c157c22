"""Without a screen, people can hear a question again, name a card, correct a card or a slap, and choose the rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hardware.ports import Edge
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from referee.announce.phrases import places, words_in
from referee.announce.voice import tell
from referee.control.spoken_choices import PATIENCE, list_choices
from referee.engine.observations import Answer, Card, Correct, Gap, Slap, Taken
from referee.rules.cards import PACK
from referee.table.asking_again import ASKED_AGAIN, AskingAgain
from referee.table.orders import Orders
from referee.table.page_link import PageLink
from referee.text.catalogue import LANGUAGES
from referee.units import MS, SECOND
from tests.announce.test_voice import ruled
from tests.table.test_keys_and_days import SETTINGS, Bench


class Room(Bench):
    """A table whose people use their pads and their ears alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__("E8")
        self.orders = Orders(SETTINGS)
        self.link = PageLink(folder, orders=self.orders)
        self.link.begin_game(self.game)
        self.orders.begin_game(self.game)
        self.go()

    def hear_from(self, speaker: RecordingSpeaker) -> None:
        self.game = replace(self.game, speaker=speaker)
        self.orders.begin_game(self.game)

    def go(self, *seen: Any) -> None:
        super().go(*seen)
        self.link.beat(self.now)

    def hands(self, *presses: tuple[int, int], seat: int = 1) -> str:
        """Press a pad, each time from and to (ms); return the words spoken about it."""
        start, before = self.now, len(self.told)
        for since, to in presses:
            self.link.take_edge(Edge(seat, start + since * MS, True))
            self.link.take_edge(Edge(seat, start + to * MS, False))
        for _ in range(5):
            self.go()
        return " / ".join(tell(notice.what, **notice.fields).text for notice in self.told[before:] if notice.what)

    def hold(self) -> str:
        return self.hands((0, 2500))

    def tap(self) -> str:
        return self.hands((0, 150))

    def yes(self) -> str:
        return self.hands((0, 150), (400, 550))

    def no(self) -> str:
        return self.hands((0, 150), (400, 550), (800, 950))

    def card_now(self, line: str) -> str:
        found = self.game.facts().log.now(line)
        assert isinstance(found, Card)
        return found.card


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path / "runtime")
    with closing(made.link):
        yield made


def test_a_tap_in_a_pause_tells_where_the_game_stands(room: Room) -> None:
    assert room.tap() == "", "while the game goes on a tap is a slap and nothing else"
    assert room.hold() == "The game is paused."
    assert room.tap() == "Next seat one, no card lies there."
    room.hold()
    room.lay("7h", 1)
    room.hold()
    assert room.tap() == "The seven of hearts, next seat two, one."


def test_a_card_that_was_misread_is_put_right_without_a_screen(room: Room) -> None:
    room.lay("8c", 1)
    room.hold()
    room.tap()
    assert room.tap() == "Is it the eight of spades?"
    assert room.no() == "Is it the eight of hearts?"
    room.yes()
    assert room.card_now("c1") == "8h"
    assert [line.card for line in room.conductor.observations if isinstance(line, Card)] == ["8c"]
    assert sum(isinstance(line, Correct) for line in room.conductor.observations) == 1
    assert room.tap() == "The eight of hearts, next seat two, one.", "after that a tap begins anew"


def test_a_foul_is_reported_without_a_screen(room: Room) -> None:
    """The eight's player was unseen; it was seat three's, out of turn (F7)."""
    room.lay("7h", 1)
    room.lay("8c", None)
    room.hold()
    while room.tap() != "Report a foul?":
        pass
    said = [room.yes()]
    while said[-1] != "A card out of turn?":
        said.append(room.no())
    assert room.yes() == "Is it seat one?"
    room.no()
    assert room.no() == "Is it seat three?"
    room.yes()
    assert [ruling["seat"] for ruling in room.conductor.rulings if ruling.kind == "dead_card"] == [3]
    assert room.conductor.view.turn == 2


def test_any_card_can_be_named_by_its_rank_and_suit(room: Room) -> None:
    room.lay("??", 1)
    room.hold()
    assert room.tap() == "Once more. Which card is this?"
    assert room.tap() == "Some other card: the ace?"
    for _ in range(4):
        said = room.tap()
    assert said == "Some other card: the five?"
    assert room.yes() == "Is it the five of spades?"
    assert room.tap() == "Is it the five of hearts?"
    assert room.yes() == "Done."
    answers = [line for line in room.conductor.observations if isinstance(line, Answer)]
    assert [(answer.to, answer.value) for answer in answers] == [("question@c1", "5h")]
    assert room.conductor.view.questions == ()


def test_every_card_is_within_reach(room: Room) -> None:
    room.lay("??", 1)
    room.hold()
    room.tap()
    named = set()
    for _ in range(13):
        room.tap()
        room.yes()
        first = room.told[-1].fields["card"]
        while room.told[-1].fields["card"] not in named:
            named.add(room.told[-1].fields["card"])
            room.tap()
        assert room.told[-1].fields["card"] == first, "after the last suit comes the first again"
        # After silence a player begins anew, and goes on to the next rank.
        room.now += PATIENCE
        room.tap()
        for _ in range(len(named) // 4):
            room.tap()
    assert named == set(PACK)


def test_the_latest_verdict_is_put_right_without_a_screen(room: Room) -> None:
    room.lay("7h", 1)
    room.lay("8c", 2)
    room.go(Slap(t=room.now + SECOND - 3 * MS, id="s1", seat=3))
    room.go()
    assert [ruling.kind for ruling in room.ruled if ruling.kind.startswith("slap")] == ["slap_false"]
    room.hold()
    assert "the eight of clubs" in room.tap().lower()
    assert room.tap() == "Was the slap good? Seat three."
    assert room.tap() == "Strike out the slap? Seat three."
    room.yes()
    assert [ruling.kind for ruling in room.ruled if ruling.kind.startswith("slap")][-1] == "slap_void"


def test_who_was_first_is_asked_again_and_named_by_anybody(room: Room) -> None:
    room.lay("7h", 1)
    room.lay("7c", 2)
    t = room.now + SECOND - 3 * MS
    room.go(Slap(t=t, id="s1", seat=3), Slap(t=t, id="s2", seat=2))
    room.go()
    assert room.conductor.view.questions
    room.link._desk({"do": "pause"})
    room.go()
    assert room.tap() == "Once more. Who was first?"
    assert room.tap() == "Is it seat two?"
    assert room.tap() == "Is it seat three?"
    assert room.tap() == "Once more. Who was first?", "seat one did not slap"
    # Yes to the question itself keeps its meaning: the own pad, and Ana's did not slap.
    assert room.yes() == "That cannot be done."
    assert room.tap() == "Is it seat two?"
    assert room.yes().endswith("Done.")
    room.link._desk({"do": "resume"})
    room.go(Taken(t=room.now + SECOND - MS, seat=2))
    room.go()
    assert [ruling["seat"] for ruling in room.ruled if ruling.kind == "slap_won"] == [2]


def test_a_question_about_a_card_says_which(room: Room) -> None:
    room.lay("9c", 3)
    room.link._desk({"do": "pause"})
    facts = room.game.facts()
    asked = ruled("question", ask="who_played", about=["c1"])
    view = replace(facts.view, questions=(asked.id,))
    first, *seats = list_choices(replace(facts, view=view, rulings=(*facts.rulings, asked)), None, None)
    said = tell(first.what, **first.fields)
    assert said.text == "Once more. Who played this card? The nine of clubs."
    assert [seat.fields["seat"] for seat in seats] == [1, 2, 3]
    # The holder of the most cards may be named where the house rules let that settle a game; a count takes no tap.
    for rule, there in (("E7", 3), ("K2", 0)):
        counting = replace(ruled("question", ask="recount", about=["c1"]), rule=(rule,))
        _, *seats = list_choices(replace(facts, view=view, rulings=(*facts.rulings, counting)), None, None)
        assert len(seats) == there


def _blind(room: Room, *lying: str) -> None:
    """Hide the table for most of the last second, and then show these cards."""
    room.lay("7h", 1)
    since, until = room.now + 100 * MS, room.now + 900 * MS
    came = [Card(t=since + 400 * MS, t_error=400 * MS, card=card) for card in lying]
    gone = [] if lying else [Taken(t=since + 400 * MS, t_error=400 * MS)]
    room.go(Gap(t=since, until=until, lying=lying), *came, *gone)
    room.go()


def test_what_passed_in_a_gap_is_said_without_a_screen(room: Room) -> None:
    _blind(room, "7s")
    assert room.conductor.view.questions == ("question@g1",)
    room.hold()
    asked = "For a moment I did not see the table: the seven of spades is on top, what lies under it?"
    said = [room.tap() for _ in range(7)]
    assert said == [
        f"Once more. {asked}", "Was no other card laid?", "Did seat one take the pile?", "Did seat two take the pile?",
        "Did seat three take the pile?", "Do none of you know?", "Some other card: the ace?",
    ]  # fmt: skip
    room.tap()
    room.yes()
    room.tap()
    room.yes()
    assert [(line.to, line.value) for line in room.conductor.observations if isinstance(line, Answer)] == [
        ("question@g1", "2h")
    ]
    assert room.conductor.view.pile == ("7h", "2h", "7s")


def test_a_pile_that_went_in_a_gap_is_claimed_by_a_held_pad(room: Room) -> None:
    _blind(room)
    assert room.hands((0, 2500), seat=3) != "The game is paused.", "as with any pile without an owner, a hold says mine"
    assert [line.value for line in room.conductor.observations if isinstance(line, Answer)] == [3]
    assert room.conductor.view.questions == ()


def test_a_question_that_the_game_waits_for_is_said_again_twice(room: Room) -> None:
    again = AskingAgain()
    again.begin_game(room.game)
    room.lay("7h", 1)
    room.lay("7c", 2)
    t = room.now + SECOND - 3 * MS
    room.go(Slap(t=t, id="s1", seat=3), Slap(t=t, id="s2", seat=2))
    said: list[int] = []
    for second in range(100):
        room.go()
        before = len(room.told)
        again.beat(room.now)
        said += [second for notice in room.told[before:] if notice.what == "asked_again"]
    assert len(said) == 2 and said[1] - said[0] == ASKED_AGAIN[1] // SECOND
    # While the game is paused a tap repeats the question.
    again.begin_game(room.game)
    room.link._desk({"do": "pause"})
    before = len(room.told)
    for _ in range(100):
        room.go()
        again.beat(room.now)
    assert [notice.what for notice in room.told[before:]] == []


def test_what_was_read_out_long_ago_is_not_said_by_yes(room: Room) -> None:
    room.lay("8c", 1)
    room.hold()
    room.tap()
    room.tap()
    room.now += PATIENCE
    assert room.yes() == ""
    assert room.card_now("c1") == "8c"


def test_hands_while_the_camera_is_gone_have_nothing_read_out(room: Room) -> None:
    room.lay("8c", 1)
    room.conductor.lose("camera", "unplugged")
    room.link.beat(room.now)
    before = len(room.told)
    for edge in (Edge(1, room.now + 100 * MS, True), Edge(1, room.now + 250 * MS, False)):
        room.link.take_edge(edge)
    room.link.beat(room.now + 5 * SECOND)
    assert [notice.what for notice in room.told[before:]] == []


def end_game(room: Room) -> None:
    """Let only Ana stay."""
    for seat in (2, 3):
        room.link._desk({"do": "leave", "seat": seat})
        room.go()
    room.go()
    assert room.conductor.view.game_over


def test_after_a_game_taps_go_through_what_may_come_next(room: Room) -> None:
    end_game(room)
    assert room.tap() == "Tap a pad twice for another game."
    assert room.tap() == "A new game? Classic rules."
    assert room.tap() == "A new game? The Wikipedia rules of twenty twenty five."
    room.yes()
    assert room.orders.next is not None and room.orders.next.rules == "wikipedia-2025"
    assert room.orders.next.names == ("Ana", "Ben", "Cho")


def test_a_refusal_is_heard(room: Room) -> None:
    """There is no statement yet to take back."""
    room.link.take_edge(Edge(2, room.now + 100 * MS, True))
    room.link.take_edge(Edge(2, room.now + 2600 * MS, False))
    assert room.hold() == "That cannot be done."


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_read_out_has_its_words_in_every_language(language: str, room: Room) -> None:
    room.lay("??", 1)
    room.hold()
    room.tap()
    fields: dict[str, Any] = {"seat": 2, "card": "7h", "rank": "7", "number": 3, "rules": "short"} | dict(
        room.told[-1].fields
    )
    words = words_in(language)
    for key in (key for key in words.phrases if key.startswith(("tell.offer_", "tell.asked_", "tell.nothing_"))):
        said = tell(
            key.removeprefix("tell."), 0, language, **{place: fields[place] for place in places(words.phrases[key])}
        )
        assert said.text and said.topic == "choice"


def test_the_voice_is_chosen_where_there_is_one(room: Room) -> None:
    room.hear_from(RecordingSpeaker())
    room.hold()
    assert room.tap() == "Next seat one, no card lies there."
    assert room.tap() == "Call each card?"
    assert room.yes() == "Done."
    assert room.orders.voice.cards
    room.hold()
    end_game(room)
    room.tap()
    assert room.tap() == "Louder?"
    assert room.yes() == "Done."
    assert room.orders.voice.volume == SETTINGS.voice.volume + 15
    for said in ("Tap a pad twice for another game.", "Louder?", "Softer?", "No longer call the cards?"):
        assert room.tap() == said
