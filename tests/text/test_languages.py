"""Every language is consistent: no English in the others, one word for a thing, and right numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.announce.phrases import Language
from referee.announce.voice import vocabulary
from referee.cli import main
from referee.engine.rulings import RULING_ORDER
from referee.errors import UserError
from referee.settings.house_rules import parse_house_rules
from referee.setup.console import listed_answers, run_wizard
from referee.text.answers import OTHERS
from referee.text.catalogue import table, texts
from referee.text.terminal_language import speaking, translate
from tests.setup.test_wizard import FakeBench
from tools.languages import CODES, ROWS, glossary, glossary_page, page, played, spoken, written

_WORDS = """
about address after again against already always and another answer answers any are asked asks because been
before between both burned burns can cannot card cards challenge choose close closed correction could
dealer deals dealt deck did does each earlier early else empty every everybody everything expected first's
foul fouls from game games had hand's hands has have house hovering how instead into is key keys laid last
late later lays left light lights list lists look looking looks loses lost may mean might missing must
names never next nobody nor not nothing number numbers once only open opened other our pack peeking people
player players rank ranks read reads record recorded reminder right rightly row rows rule rules ruling
rulings said says seat seats see seen sees settings shall shared should shown shows shuffle shuffled slap
slapped slapping slaps some somebody something soon sooner sound still suit suits taken takes that the
their there these they this those tie took turn turns twice until value values verdict voice we were what
when where which while who whole whose why win wins with within without won would write writes written
wrong wrongly yet you your yours
"""
ENGLISH = frozenset(_WORDS.split())
"""Words that no other of the languages has; what is written alike in one of them is left out."""
ALIKE = {"de": {"still"}, "es": {"has", "once"}, "fr": {"suit", "verdict", "correction"}}
"""Words of a language that look English."""
CODE = re.compile(
    "|".join(
        (
            r"`[^`]*`", r"\{\w*\}", r"https?://\S*", r"--stimulus \w+, light \w+ \w+",
            r"--[\w-]+( [A-Z]+\b| [\w-]+\.\w+| seen)?",
            r"\breferee( [a-z-]+)+", r"\b(sudo|apt|pip|make|npm) [\w$. -]+", r'"[^"\s]*"', r"\[\[?[\w.]*\]\]?",
            r"\b[\w-]*[./_=<>][\w./_=<>*-]*", r"\b(rank|suit|colour)\(\w\)",
            r"\b(calibrate pads|deck =|pad =|touch \w+ key)",
            r"\((seats, dealer, rules)\)", r"\band, or, not\b", r"\b(true|false|first|bottom|dealer|counts|file)\b",
            r"\b(yes|no|none|evenly|back|again|skip|stop|undo|done|old-tarot)\b", r"\b[A-Z]\d+[a-e]?\b",
            r"[„«] ?\w+ ?[“»]", "name, said, pad, light, bearing|suck-the-well|beggar-my-neighbour",
            "The Psychological Record|World Athletics",
            "Table Referee|Camera Module|Global Shutter|Raspberry Pi|USB Audio|Schmitt.Trigger|Home Assistant",
            "Egyptian Ratscrew|Slapjack|Beggar-My-Neighbou?r|Suck the Well",
        )
    )
)  # fmt: skip
"""Not for people, or a name: it is the same in every language."""
HOUSE = """
base = "klassic"
on = ["doubel", "P2", "P1"]
off = ["P1"]
[set]
burn = "many"
double = 3
[patterns]
twins = "rank(1) ="
pair = "rank(1) ~ rank(2)"
"""
BAD_SETTINGS = (
    '[[seat]]\nname = "Ana"\npad = 99\n[[seat]]\nname = "Ben"\n',
    '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\ncolour = 3\n',
    '[[seat]]\nname = "Ana"\n',
    'dealer = 9\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n',
    '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n[voice]\nlanguage = "it"\n',
    '[[seat]]\nname = "Ana"\npad = 5\n[[seat]]\nname = "Ben"\npad = 5\n',
)


def english_in(text: str, language: str) -> set[str]:
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+(?:['’]s\b)?", CODE.sub(" ", text))}
    return words & (ENGLISH - ALIKE[language])


def read_texts(language: str) -> Iterator[tuple[str, str]]:
    """Yield every text that people read or hear in a language, by its kind."""
    yield from table(language).items()
    yield from ((f"aloud: {clip}", clip) for clip in vocabulary(language))


def test_english_is_found() -> None:
    assert english_in("Cho gewinnt den slap, no `the` --with FILE", "de") == {"slap"}
    assert english_in("il n'a pas the card", "fr") == {"the", "card"}


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_of_another_language_holds_an_english_word(language: str) -> None:
    found = {what: words for what, text in read_texts(language) if (words := english_in(text, language))}
    assert found == {}


@pytest.mark.parametrize("language", OTHERS)
def test_no_ruling_of_another_language_holds_an_english_word(language: str) -> None:
    found = {
        line
        for ruling, names, _ in played()
        for line in (written(ruling, names, language), spoken(ruling, names, language))
        if english_in(line, language)
    }
    assert found == set()


@pytest.mark.parametrize("language", OTHERS)
def test_no_mistake_in_the_rules_or_settings_is_told_in_english(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = tmp_path / "house.toml"
    house.write_text(HOUSE)
    assert main(["rules", "check", str(house), str(tmp_path / "none.toml"), "--language", language]) == 2
    for number, settings in enumerate(BAD_SETTINGS):
        path = tmp_path / f"{number}.toml"
        path.write_text(settings)
        assert main(["run", "--settings", str(path), "--language", language]) == 2
    log = tmp_path / "game.jsonl"
    for lines in ("", "{", '{"kind":"card"}\n', '{"kind":"table","t":0,"id":"t","seats":["A","B"],"dealer":9}\n'):
        log.write_text(lines)
        assert main(["replay", str(log), "--language", language]) == 2
    told = capsys.readouterr().err.replace(str(tmp_path), "")
    assert len(told.splitlines()) >= 10 + len(BAD_SETTINGS)
    assert {line: words for line in told.splitlines() if (words := english_in(line, language))} == {}


class SilentBench(FakeBench):
    """Has no texts; the devices' words are in the tables."""

    def measure(self, text: str) -> tuple[str | None, str]:
        return None, ""

    def cameras(self) -> list[tuple[str, str]]:
        return [(source, "") for source in self.found]

    def picture(self, text: str) -> tuple[str | None, str]:
        return text, ""

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        return None, ""

    def eye(self, text: str) -> tuple[str | None, str]:
        return text, ""

    def doctor(self, text: str) -> tuple[str, bool]:
        return "", True


@pytest.mark.parametrize("language", OTHERS)
def test_the_set_up_asks_in_the_language(language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = listed_answers(["2", "Ana", "Ben", "1, 2, 3", "", "?", "", "", "", "", "", "", "many"])
    bench = SilentBench(soldered=[5, 4, 6, 12, 13, 16, 17, 22], found=("usb:0", "usb:1"))
    bench.cards = ["USB Audio", "vc4-hdmi"]
    with speaking(language):
        run_wizard(tmp_path / "table.toml", bench, answers)
    told = capsys.readouterr().out.replace(str(tmp_path), "")
    asked = [re.sub(r"^ +\d+\. [\w-]+", "", line) for line in told.splitlines()]
    assert len(asked) > 100
    assert {line: words for line in asked if (words := english_in(line, language))} == {}


@pytest.mark.parametrize("language", OTHERS)
def test_a_mistake_keeps_what_it_is_about(language: str) -> None:
    with pytest.raises(UserError) as raised, speaking(language):
        parse_house_rules('on = ["doubel"]')
    with speaking(language):
        told = translate(raised.value)
    assert "doubel" in told
    assert "double" in told
    assert told != str(raised.value)


@pytest.mark.parametrize("language", CODES)
def test_a_language_uses_its_own_word_and_no_other(language: str) -> None:
    everything = [CODE.sub(" ", text) for _, text in read_texts(language)]
    flags = re.NOFLAG if language == "de" else re.IGNORECASE
    missing, wrong = [], {}
    for term, entry in glossary().items():
        wanted = entry.get("found", {}).get(language, entry[language])
        if not any(re.search(wanted, text, re.IGNORECASE) for text in everything):
            missing.append(term)
        for word in entry.get("never", {}).get(language, ()):
            hits = [text for text in everything if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags)]
            if hits:
                wrong[word] = hits
    assert (missing, wrong) == ([], {})


def test_what_is_said_aloud_is_in_the_glossary() -> None:
    for entry in glossary().values():
        for language, word in entry.get("spoken", {}).items():
            assert any(word in clip for clip in vocabulary(language)), word


@pytest.mark.parametrize(
    ("language", "one", "two", "none"),
    [
        ("en", "1 card", "2 cards", "0 cards"), ("de", "1 Karte", "2 Karten", "0 Karten"),
        ("es", "1 carta", "2 cartas", "0 cartas"), ("fr", "1 carte", "2 cartes", "0 carte"),
    ],
)  # fmt: skip
def test_one_card_and_two_cards(language: str, one: str, two: str, none: str) -> None:
    counted = [texts(language).count("cards", n) for n in (1, 2, 0)]
    assert counted == [one, two, none]


@pytest.mark.parametrize(
    ("language", "one", "chance"),
    [("de", "eine Karte", "eine Chance"), ("es", "una carta", "una oportunidad"), ("fr", "une carte", "une tentative")],
)
def test_one_is_feminine_where_it_must_be(language: str, one: str, chance: str) -> None:
    words = Language(language)
    assert [" ".join(words.counted(1, noun)) for noun in ("card", "chance")] == [one, chance]


def test_the_page_shows_a_hundred_rulings_of_every_kind() -> None:
    shown = page()
    rows = [line for line in shown.splitlines() if line.startswith("| `")]
    kinds = {line.split("`")[1] for line in rows}
    assert f"## {ROWS} rulings" in shown
    assert set(RULING_ORDER) <= kinds
    assert all(line.count(" | ") == len(CODES) for line in rows)


def test_the_glossary_lists_every_word_in_every_language() -> None:
    rows = [line for line in glossary_page().splitlines() if line.startswith("| ")][2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(glossary())
    for row, entry in zip(rows, glossary().values(), strict=True):
        assert all(entry[code] in row for code in CODES)
