"""Answers to commands in the client's language, from a sentence in the code to the page's own answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.control.commands import Command
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher, make_handler
from referee.sentence import Sentence, from_json, to_json
from referee.text.answers import in_language
from referee.text.catalogue import texts
from referee.web.security.sessions import csrf_of
from tests.play import log
from tests.web.browser import House, Reply
from tests.web.tables import Table


def test_a_sentence_is_its_english_text_and_keeps_what_it_was_made_of() -> None:
    """Without the players' names; over the socket it is JSON."""
    said = Sentence("{seat} holds {cards}", seat=2, cards=1)
    assert said == str(said) == "seat 2 holds 1 card"
    assert Sentence(said) is said
    assert Sentence("answer with one of the seats that slapped: {seats}", seats=[1, 3]).endswith("seat 1, seat 3")
    assert to_json(said) == {"words": said, "said": "{seat} holds {cards}", "fields": {"seat": 2, "cards": 1}}
    assert to_json("as it came") == {"words": "as it came"}
    nested = to_json(Sentence('"{key}" must be {what}', key="seat", what=Sentence("a seat")))
    assert nested["words"] == '"seat" must be a seat'
    assert nested["fields"]["what"] == {"words": "a seat", "said": "a seat", "fields": {}}
    with pytest.raises(KeyError):
        Sentence("{seat} was first")


NAMES = ("Ana", "Ben {0}")


@pytest.mark.parametrize(
    ("said", "language", "words"),
    [
        (Sentence("{seat} holds {cards}", seat=1, cards=1), "de", "Ana hält 1 Karte"),
        (Sentence("{seat} holds {cards}", seat=2, cards=5), "fr", "Ben {0} a 5 cartes"),
        (Sentence("{seat} holds {cards}", seat=3, cards=5), "es", "asiento 3 tiene 5 cartas"),
        (Sentence("{seat} holds {cards}", seat=1, cards=5), "en", "Ana holds 5 cards"),
        (Sentence("answered: {card}", card="Th"), "en", "answered: 10♥"),
        (Sentence("answered: {cards}", cards=["Th", "7c"]), "de", "beantwortet: 10♥, 7♣"),
        (Sentence("answered: {card}", card="??"), "de", "beantwortet: ?"),
        (Sentence("answered: {card}", card="<b>"), "de", "beantwortet: <b>"),
        (Sentence('"{line}" is a {kind}, not a card', line="s1", kind="slap"), "de", "„s1“ ist keine Karte (Schlag)"),
        (Sentence("say {either}", either=("card", "seat")), "fr", "il manque : card ou seat"),
        (Sentence("answer with one of the seats that slapped: {seats}", seats=(1, 2)), "es",
         "responde con alguien que dio una palmada: Ana, Ben {0}"),
        (Sentence("that takes no answer: {why}", why=Sentence("count the cards and say how many there are")), "de",
         "darauf gibt es keine Antwort: zähle die Karten und sage, wie viele es sind"),
    ],
)  # fmt: skip
def test_a_sentence_in_a_language(said: Sentence, language: str, words: str) -> None:
    """Cards as the page writes them, people by their names; typed text stays unchanged."""
    over_the_socket = json.loads(json.dumps(to_json(said)))
    assert in_language(over_the_socket, texts(language), NAMES) == {"words": words, "lang": language}


@pytest.mark.parametrize(
    "answer",
    [
        {"words": "done"},
        {"words": "done", "said": "an unknown sentence", "fields": {}},
        {"words": "done", "said": "{seat} was first; the referee rules again on everything after it", "fields": {}},
        {"words": "done", "said": "answered: {seat}", "fields": {"seat": {"words": "x", "said": "unheard of"}}},
        {"words": "done", "said": ["set"], "fields": {}},
        {"words": "done", "said": "set", "fields": 5},
    ],
)
@pytest.mark.parametrize("language", ("en", "de"))
def test_what_nobody_has_put_into_a_language_stays_as_it_came(answer: dict[str, object], language: str) -> None:
    assert in_language(answer, texts(language), NAMES) == {"words": "done"}


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A paired page of a game in which Ana has laid a card, and a real main process that corrects it."""
    game = Table(log("1000 1:7h\n2000 2:8c\n2300 slap 3\n"))
    game.settle()

    def order(command: Command) -> str:
        return f"not now ({command.do})"

    desk = CommandDispatcher(Pairing(), make_handler(game.facts, game.name, game.observe, order))

    async def ask(record: Mapping[str, object]) -> dict[str, object]:
        return dict(json.loads(json.dumps(dict(desk(dict(record))))))

    return House(tmp_path, ask=ask, names=lambda: ("Ana", "Ben", "Cho"))


def asked(house: House, do: str, fields: dict[str, object], *headers: tuple[str, str], query: bytes = b"") -> Reply:
    token = house.control.sessions.begin("phone", house.clock[0])
    paired = [("cookie", f"referee={token}"), ("x-csrf-token", csrf_of(token))]
    return house.post(f"/api/control/{do}", fields, [*paired, *headers], query=query)


def test_a_refusal_in_german(house: House) -> None:
    """As the browser prefers."""
    reply = asked(house, "correct", {"line": "c1", "card": "7h"}, ("accept-language", "de-AT,de;q=0.9,en;q=0.5"))
    assert reply.status == 409
    assert reply.said == {"accepted": False, "words": "bei „c1“ steht das schon so", "lang": "de"}


def test_a_yes_in_french(house: House) -> None:
    """As the address asks; people by their names, cards as the page writes them."""
    reply = asked(house, "correct", {"line": "c1", "card": "Th", "seat": 2}, query=b"lang=fr")
    words = "la carte est 10♥, à Ben ; l'arbitre décide de nouveau toute la suite"
    assert (reply.status, reply.said) == (200, {"accepted": True, "words": words, "lang": "fr"})


def test_an_answer_without_a_translation_is_in_english(house: House) -> None:
    """It does not claim to be in another language."""
    for headers in ([("accept-language", "de")], []):
        reply = asked(house, "keep", {"game": 1, "keep": True}, *headers)
        assert (reply.status, reply.said) == (409, {"accepted": False, "words": "not now (keep)"})


def test_what_the_page_itself_refuses_is_in_the_language_too(house: House) -> None:
    """Fields and codes that do not fit, and requests that the guard stops."""
    german = ("accept-language", "de")
    wrong = asked(house, "count", {"seat": 0, "cards": 3}, german)
    assert (wrong.status, wrong.said["words"]) == (400, "was „seat“ sein muss: ein Platz")
    code = house.post("/api/pair", {"code": "123456"}, [german])
    assert code.said["words"].startswith("es wird gerade kein Code gezeigt")
    unpaired = house.post("/api/control/pause", {}, [("accept-language", "es")])
    assert (unpaired.status, unpaired.said["lang"]) == (401, "es")
    assert unpaired.said["words"].startswith("este dispositivo no está vinculado")
    read = house.get("/a//b", [german])
    assert read.body.decode() == "diese Adresse gibt es nicht\n"


def test_a_sentence_comes_through_another_process_as_it_was() -> None:
    inner = Sentence("the camera failed: {why}", why="no {light}")
    for words in (inner, Sentence("{what}; starting it anew", what=inner), Sentence("{what}", what=[1, 2]), "as it is"):
        again = from_json(json.loads(json.dumps(to_json(words))))
        assert again == words and to_json(again) == to_json(words)
