"""The players called by name, and the words for it."""

from __future__ import annotations

import pytest

from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.clips import plain_letters
from referee.announce.phrases import words_in
from referee.announce.sinks import Notice
from referee.announce.spoken_names import names_to_call
from referee.announce.voice import Voice, announce, margin
from referee.engine.rulings import Ruling
from referee.text.catalogue import LANGUAGES
from referee.units import MS

WON = Ruling("slap_won", "slap_won@1", 1, ("1",), ("P1",), {"seat": 3, "margin": 7 * MS, "error": 3 * MS}, (), False)
GIVES = Ruling("give", "give@1", 1, ("1",), ("F2",), {"seat": 1, "to": 2, "count": 1}, (), False)


@pytest.mark.parametrize(
    ("names", "called"),
    [
        (["Ann", "Ben", "Cho"], {1: "Ann", 2: "Ben", 3: "Cho"}),
        (["Seat 1", "Player 2", "Łukasz"], {3: "Łukasz"}),
        (["José", "jose", "Zoë"], {3: "Zoë"}),
        (["Мария", "李", "Anne-Marie O’Neill"], {3: "Anne-Marie O’Neill"}),
        (["", "J", "x" * 25, "\x1b[31mEve"], {}),
    ],
)
def test_names_in_latin_letters_that_nobody_shares_are_called(names: list[str], called: dict[int, str]) -> None:
    assert names_to_call(names) == called


@pytest.mark.parametrize(
    ("name", "letters"), [("Łukasz", "lukasz"), ("Strauß", "strauss"), ("Zoë", "zoe"), ("Åse", "ase")]
)
def test_letters_of_other_alphabets_are_written_as_near_as_can_be(name: str, letters: str) -> None:
    assert plain_letters(name) == letters


def test_the_voice_says_names_that_its_speaker_has_learned_and_seats_else() -> None:
    able, unable = RecordingSpeaker(lambda: 0, learns=True), RecordingSpeaker(lambda: 0)
    for speaker in (able, unable):
        voice = Voice(speaker, "en", ["Ann", "Seat 2", "Cho"])
        voice([WON])
        voice.tell(Notice("joined", 0, "", {"seat": 2}))
    assert [phrase.text for phrase in able.said] == [
        "Cho wins the slap by seven milliseconds, give or take three", "seat two joins the game",
    ]  # fmt: skip
    assert able.said[0].text.replace("Cho", "seat three") == unable.said[0].text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Ann gives one card to Ben."), ("de", "Ann gibt eine Karte an Ben."),
        ("es", "Ann da una carta a Ben."), ("fr", "Ann donne une carte à Ben."),
    ],
)  # fmt: skip
def test_a_name_needs_no_article(language: str, said: str) -> None:
    (phrase,) = announce([GIVES], language, {1: "Ann", 2: "Ben"})
    assert phrase.text == said


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_margin_tells_how_sure_it_is_where_that_is_a_millisecond_or_more(language: str) -> None:
    words = words_in(language)
    assert words.number(3)[0] in margin(words, 45 * MS, 3 * MS)
    assert margin(words, 45 * MS, MS // 4) == margin(words, 45 * MS, 0)
