"""The spoken text of each ruling, in English; `test_phrases` compares the other languages with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.splice import PAUSE_MARKS
from referee.announce.phrases import words_in
from referee.announce.voice import (
    Phrase,
    Priority,
    announce,
    margin,
    phrase,
    speak,
    tell,
    vocabulary,
)
from referee.engine.rulings import RULING_ORDER, Ruling
from referee.text.catalogue import LANGUAGES, texts
from referee.text.ruling_lines import RulingWords

MS = 1_000_000


def ruled(kind: str, *, supersedes: tuple[str, ...] = (), doubt: bool = False, **fields: Any) -> Ruling:
    correction = bool(supersedes)
    return Ruling(kind, f"{kind}@1", 1_000, ("1",), ("M1",), fields, supersedes, doubt, is_correction=correction)


def left(kind: str, **fields: Any) -> Ruling:
    """Return a ruling on a player who leaves in the middle of the game (E8)."""
    return replace(ruled(kind, **fields), rule=("E8",))


SAID = [
    (ruled("slap_won", seat=3, margin=14_500_000), "Seat three wins the slap by fifteen milliseconds."),
    (ruled("slap_won", seat=3, margin=1 * MS), "Seat three wins the slap by one millisecond."),
    (ruled("slap_won", seat=3, margin=400_000), "Seat three wins the slap by less than one millisecond."),
    (ruled("slap_won", seat=3, margin=1_000 * MS), "Seat three wins the slap by more than one second."),
    (ruled("slap_won", seat=3, margin=None), "Seat three wins the slap."),
    (ruled("slap_won", seat=3, margin=9 * MS, patterns=["P1", "P6"]), "Seat three wins the slap by nine milliseconds."),
    (
        ruled("slap_won", seat=3, margin=9 * MS, patterns=["P2"]),
        "Seat three wins the slap, sandwich, by nine milliseconds.",
    ),
    (ruled("slap_won", seat=3, margin=None, patterns=["P19:mine"]), "Seat three wins the slap, house pattern."),
    (
        ruled("slap_won", seat=3, margin=9, decided_by="force"),
        "Seat three wins the slap by the harder hand.",
    ),
    (ruled("slap_won", seat=3, margin=9, decided_by="split"), "Still a tie: the pile is shuffled and shared."),
    (ruled("slap_won", seat=3, margin=9, decided_by="war"), "Seat three wins the war."),
    (ruled("slap_won", seat=3, margin=9, decided_by="people"), "Seat three wins the slap, the players said so."),
    (ruled("slap_won", seat=3, doubt=True), "Seat three wins the slap. In doubt, so for the slapper."),
    (ruled("slap_false", seat=2, reason="no_pattern"), "Seat two, false slap."),
    (ruled("slap_false", seat=2, reason="dead_card"), "Seat two, false slap on a dead card."),
    (ruled("slap_void", seat=2, reason="locked_out"), "Seat two is locked out."),
    (ruled("slap_void", seat=2, reason="held"), "Seat two, your hand was down already."),
    (ruled("slap_void", seat=2, reason="late"), None),
    (ruled("slap_void", seat=2, reason="late", supersedes=("x",)), "Correction: the ruling is taken back."),
    (ruled("burn", seat=2, count=1, where="bottom"), "Seat two burns one card."),
    (ruled("burn", seat=2, count=2, where="top"), "Seat two burns two cards on top of the pile."),
    (ruled("challenge", seat=1, challenged=2, card="Ah", chances=4), "Seat two has four chances."),
    (ruled("challenge", seat=1, challenged=None, card="Ah", chances=4), None),
    (ruled("chance", seat=2, left=3), "Three chances left."),
    (ruled("chance", seat=2, left=1), "One chance left."),
    (ruled("challenge_moves", seat=3, left=2), "Seat three goes on with two chances."),
    (ruled("challenge_won", seat=1), "Seat one takes the pile."),
    (ruled("challenge_off"), "The challenge is off."),
    (ruled("pile", seat=1, count=27), "Seat one picks up twenty seven cards."),
    (ruled("pile", seat=1, count=1_234), "Seat one picks up the pile."),
    (ruled("dead_heat", seats=[1, 4], margin=1, error=2), "Tie between seat one and seat four."),
    (ruled("dead_heat", seats=[1, 2, 4]), "Tie between seat one, seat two and seat four."),
    (ruled("question", ask="who_was_first", about=["s1"]), "Who was first?"),
    (ruled("question", ask="something_new", about=[]), "Please look at the screen."),
    (
        ruled("question", ask="impossible_card", cards=["7h", "Ks"]),
        "This card cannot be here: the seven of hearts or the king of spades?",
    ),
    (ruled("question", ask="impossible_card", cards=["7h"]), "This card cannot be here: which card is it?"),
    (ruled("question", ask="unreadable_card", cards=["??", "Ks"]), "Which card is this?"),
    (
        ruled("question", ask="unseen_gap", about=["g1"], lasted=1_800 * MS, cards=["??", "Ks", "7s"]),
        "For a moment I did not see the table: the seven of spades is on top, what lies under it?",
    ),
    (
        ruled("question", ask="unseen_gap", about=["g1"], lasted=1_800 * MS, cards=["7s", "??"]),
        "For a moment I did not see the table: a card that I cannot read is on top, what lies under it?",
    ),
    (
        ruled("question", ask="unseen_gap", about=["g1"], lasted=1_800 * MS),
        "For a moment I did not see the table, and the pile is gone: who took it?",
    ),
    (
        ruled("question", ask="unseen_gap", about=["g1"], lasted=3_000 * MS, passed=True),
        "For a moment I did not see the table: a pile may have come and gone, who took it?",
    ),
    (
        ruled("question", ask="unseen_gap", about=["g1", "s4"]),
        "That slap waits: I did not see what lay there.",
    ),
    (
        Ruling("question", "question@c2/4", 0, ("c2",), ("K9", "F9"), {"ask": "slap_or_limit", "about": ["c2", "c1"]}),
        "Was that two cards at once?",
    ),
    (ruled("out", seat=4), "Seat four is out."),
    (left("out", seat=4), "Seat four leaves the game."),
    (left("burn", seat=4, count=12, where="bottom"), "Twelve cards go under the pile."),
    (left("give", seat=4, to=1, count=6), "Seat four gives six cards to seat one."),
    (ruled("question", ask="wild_rank", about=["table"]), "Draw the wild rank: a number from two to ten."),
    (ruled("foul", seat=1, foul="ring"), "Seat one, foul, a ring or a watch."),
    (ruled("slapped_in", seat=4), "Seat four is back in the game."),
    (ruled("won", seat=8), "Seat eight wins the game."),
    (ruled("lost", seat=2), "Seat two loses the game."),
    (ruled("drawn"), "The game is a draw."),
    (ruled("dead_card", seat=2, card="7h", reason="out_of_turn"), "Seat two played out of turn, dead card."),
    (ruled("dead_card", seat=2, card="7h", reason="double_draw"), "Seat two drew two cards, dead card."),
    (ruled("strike", seat=2, strikes=2), "Seat two, strike two."),
    (ruled("locked_out", seat=2, until="game"), "Seat two, no more slaps this game."),
    (ruled("locked_out", seat=2, until="pile"), "Seat two, no slaps until the pile is won."),
    (ruled("remind", what="slap_your_pad"), "Slap your pad and not the pile."),
    (ruled("remind", what="closed"), "Three sixes: the table is closed until tomorrow."),
    (ruled("remind", what="something_new"), None),
    (ruled("give", seat=1, to=2, count=1), "Seat one gives one card to seat two."),
    (ruled("foul", seat=1, foul="peek"), "Seat one, foul, peeking."),
    (ruled("foul", seat=1, foul="elbow"), "Seat one, foul."),
    (ruled("contested", against=1, by=[2], upheld=True), "The contest fails, seat one was right."),
    (ruled("contested", against=1, by=[2], upheld=False), "The contest is right, seat one was wrong."),
    (ruled("repeated", cards=12), "This position has come up before."),
    (ruled("corrected"), "The correction is noted."),
    (ruled("lead", seat=1), None),
    (ruled("turn", seat=1, supersedes=("x",)), None),
]


def unmarked(said: Phrase) -> set[str]:
    return {clip.rstrip(PAUSE_MARKS) for clip in said.clips}


@pytest.mark.parametrize(("ruling", "said"), SAID, ids=[f"{ruling.kind}-{said}" for ruling, said in SAID])
def test_a_ruling_is_said_as_people_say_it(ruling: Ruling, said: str | None) -> None:
    found = phrase(ruling)
    assert (None if found is None else found.text) == said
    assert found is None or unmarked(found) <= set(vocabulary())


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_is_said_in_english_is_said_in_every_language(language: str) -> None:
    for ruling, said in SAID:
        found = phrase(ruling, language)
        assert (found is None) == (said is None), ruling
        assert found is None or unmarked(found) <= set(vocabulary(language))


def test_every_kind_of_ruling_is_tried() -> None:
    assert {ruling.kind for ruling, _ in SAID} == set(RULING_ORDER)


def test_a_penalty_follows_its_false_slap_in_one_breath() -> None:
    rulings = [
        ruled("slap_false", seat=2, reason="no_pattern"),
        ruled("burn", seat=2, count=1),
        ruled("slap_false", seat=3, reason="no_pattern"),
        ruled("strike", seat=3, strikes=3),
        ruled("locked_out", seat=3, until="game"),
        ruled("slap_false", seat=1, reason="no_pattern"),
        ruled("give", seat=1, to=3, count=1),
        ruled("out", seat=2),
        ruled("turn", seat=1),
    ]
    assert [spoken.text for spoken in announce(rulings)] == [
        "Seat two, false slap. Burn one card.",
        "Seat three, false slap. Strike three. No more slaps this game.",
        "Seat one, false slap. Give one card to seat three.",
        "Seat two is out.",
    ]
    assert announce(rulings, "de")[0].text == "Platz zwei: falsch geschlagen. Eine Karte unter den Stapel."


def test_verdicts_interrupt_and_counts_do_not() -> None:
    won, count = phrase(ruled("slap_won", seat=1)), phrase(ruled("chance", left=2))
    assert won is not None
    assert count is not None
    assert (won.urgent, won.priority, count.urgent) == (True, Priority.VERDICT, False)
    assert won.patience > count.patience
    assert count.topic == "challenge", "the next count makes this one untrue"


def test_a_changed_ruling_is_spoken_as_a_correction() -> None:
    changed = phrase(ruled("slap_won", seat=1, supersedes=("slap_won@s1",)))
    assert changed is not None
    assert (changed.text, changed.urgent) == ("Correction: seat one wins the slap.", True)
    count = phrase(ruled("chance", left=2, supersedes=("chance@c1",)))
    assert count is not None
    assert count.urgent


@settings(deadline=None)
@given(st.integers(0, 999), st.sampled_from(list(LANGUAGES)))
def test_every_number_has_words_that_are_rendered(value: int, language: str) -> None:
    assert {clip.rstrip(PAUSE_MARKS) for clip in words_in(language).number(value)} <= set(vocabulary(language))


def test_numbers_sound_right_and_differ() -> None:
    number = words_in("en").number
    assert " ".join(number(0)) == "zero"
    assert " ".join(number(120)) == "one hundred and twenty"
    assert " ".join(number(999)) == "nine hundred and ninety nine"
    assert len({number(value) for value in range(1000)}) == 1000
    with pytest.raises(ValueError, match="only 0 to 999"):
        number(1000)
    with pytest.raises(ValueError, match="seats are 1 to 8"):
        words_in("en").seat(9)
    with pytest.raises(ValueError, match="speaks en, es, de, fr"):
        words_in("it")


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(0, 10**9), st.sampled_from(list(LANGUAGES)))
def test_every_margin_can_be_said(ns: int, error: int, language: str) -> None:
    assert {clip.rstrip(PAUSE_MARKS) for clip in margin(words_in(language), ns, error)} <= set(vocabulary(language))


def test_the_appliance_speaks_for_itself() -> None:
    assert tell("roll_call", seat=3).text == "Seat three, slap your pad."
    assert tell("not_heard", seat=4).text == "Seat four was not heard: its pad may be unplugged."
    said = tell("first_hand", seat=2, margin=14 * MS)
    assert said.text == "First hand: seat two, by fourteen milliseconds, not judged: the camera is gone."
    assert tell("first_hand", seat=2, margin=None).text == "First hand: seat two, not judged: the camera is gone."
    assert tell("game_start", rules="classic").text == "The game begins with classic rules."
    assert tell("game_start", rules=None).text == "The game begins with your own house rules."
    assert tell("wild_rank", number=7).text == "The wild rank is seven."
    assert tell("pair_code", digits="402915").text == "The code is: four, zero, two, nine, one, five."
    assert tell("paused", 5, "fr").text == "La partie est en pause."
    assert (tell("camera_gone").topic, tell("camera_back").topic) == ("camera", "camera")
    assert (tell("paused").topic, tell("resumed").topic) == ("pause", "pause")
    assert tell("roll_call", seat=3).topic == ""
    with pytest.raises(ValueError, match=r"no phrase 'tell\.nonsense'"):
        tell("nonsense")
    with pytest.raises(ValueError, match="needs 'seat'"):
        tell("roll_call")


def test_a_stuck_pad_is_announced() -> None:
    assert tell("pad_stuck", 5, seat=2).text == "Seat two, your pad is stuck."
    assert unmarked(tell("pad_stuck", 5, seat=2)) <= set(vocabulary())


def test_the_speaker_is_told_what_it_must_know() -> None:
    speaker = RecordingSpeaker(lambda: 7)
    speak(speaker, tell("camera_gone", 3, "es"))
    (said,) = speaker.said
    assert (said.text, said.urgent, said.topic) == ("la cámara no responde", True, "camera")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("how", ["force", "split", "people", "doubt"])
def test_what_decided_is_heard_in_the_words_in_which_it_is_read(how: str, language: str) -> None:
    """Voice, captions, terminal and page say it alike; a margin that decided nothing is left out."""
    by = "time" if how == "doubt" else how
    ruling = ruled("slap_won", seat=3, decided_by=by, margin=None, doubt=how == "doubt", patterns=["P1"])
    said = phrase(ruling, language)
    assert said is not None
    wording = texts(language)(f"decided.{how}").replace("’", "'")
    assert wording.lower() in said.text.lower()
    assert wording in RulingWords(("Ana", "Ben", "Cho"), texts(language))(ruling).replace("’", "'")
