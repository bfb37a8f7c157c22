"""The phrase tables: complete in every language, their grammar of numbers, and the way from a rule to its words."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hardware.sound.splice import PAUSE_MARKS
from referee.announce import sinks
from referee.announce.phrases import Language, NoWords, parts, places, words_in
from referee.announce.sinks import ANOTHER_GAME, BACK_NOTICES, GONE_NOTICES, PAD_NOTICES, QUESTION_AGAIN
from referee.control import spoken_choices
from referee.rules.cards import RANKS, SUITS
from referee.rules.presets import PRESETS
from referee.rules.rows import ROWS
from referee.table.orders import SPOKEN
from referee.table.page_link import PAIRING_CODE_NOTICE
from referee.table.pause import VIEW_TROUBLES
from referee.text.catalogue import LANGUAGES
from tests.support.phrase_rows import SPOKEN_BY

ENGLISH = words_in("en")
ALL = pytest.mark.parametrize("language", [words_in(code) for code in LANGUAGES], ids=lambda words: words.code)


def counted(code: str, value: int, noun: str) -> str:
    return " ".join(words_in(code).counted(value, noun)).replace("- ", "")


def number(code: str, value: int) -> str:
    return " ".join(words_in(code).number(value)).replace("- ", "")


@ALL
def test_every_language_has_every_phrase_with_the_same_places(language: Language) -> None:
    assert list(language.phrases) == list(ENGLISH.phrases)
    for key, template in language.phrases.items():
        assert sorted(places(template)) == sorted(places(ENGLISH.phrases[key])), key


@ALL
def test_templates_are_well_made(language: Language) -> None:
    for key, template in language.phrases.items():
        assert template == " | ".join(parts(template)), f"{key}: blanks"
        for part in parts(template):
            assert re.fullmatch(r"\{\w+\}[,.:;?!]?|[^{}|]+", part), f"{key}: {part!r} is neither a clip nor a place"
            assert not part.endswith(" ") and "  " not in part
        assert template[-1] not in ",;-", f"{key} ends in the middle"
        assert not template.endswith("."), f"{key}: the full stop comes by itself"


@ALL
def test_no_two_phrases_sound_alike_where_they_mean_otherwise(language: Language) -> None:
    alike = {("locked_out", "slap_void.locked_out"), ("pattern.P5a", "pattern.P5b")}
    seen: dict[str, str] = {}
    for key, template in language.phrases.items():
        bare = re.sub(r"[^\w{}]+", " ", template)
        if bare in seen:
            pair = tuple(sorted((seen[bare], key)))
            assert pair in alike or "penalty" in key, f"{key} and {seen[bare]} are the same words"
        seen[bare] = key


@ALL
def test_every_number_has_its_own_words(language: Language) -> None:
    words = set(language.vocabulary())
    assert list(language.nouns) == list(ENGLISH.nouns)
    # All hundreds are made alike, as the bare numbers show.
    few = [*range(201), *range(210, 1000, 13)]
    for noun in (None, *ENGLISH.nouns):
        numbers = range(1000) if noun is None else few
        said = [language.number(n) if noun is None else language.counted(n, noun) for n in numbers]
        assert len(set(said)) == len(numbers)
        assert {clip.rstrip(PAUSE_MARKS) for clips in said for clip in clips} <= words
    for value in (-1, 1000):
        with pytest.raises(NoWords):
            language.number(value)


@ALL
def test_every_card_and_seat_has_its_own_words(language: Language) -> None:
    cards = [language.card(rank + suit) for rank in RANKS for suit in SUITS] + [language.card(x) for x in ("Xr", "Xb")]
    assert len(set(cards)) == 54
    assert len({language.seat(place) for place in range(1, 9)}) == 8
    with pytest.raises(NoWords, match="seats are 1 to 8"):
        language.seat(0)


@ALL
def test_what_is_spelled_otherwise_for_a_synthesiser_is_said(language: Language) -> None:
    words = {word for clip in language.vocabulary() for word in re.findall(r"\w+", clip)}
    assert set(language.spelling) <= words


@ALL
def test_every_preset_has_a_name(language: Language) -> None:
    assert {f"rules.{name}" for name in PRESETS} < set(language.phrases)


@ALL
def test_nothing_that_is_said_outside_words_is_left_in_writing(language: Language) -> None:
    for template in language.phrases.values():
        clips = tuple(part for part in parts(template) if not part.startswith("{"))
        text = language.written(clips)
        assert text[-1] in ".?!"
        assert not clips or text.lstrip("¿¡")[:1].isupper()
        assert not re.search(r"[|{}]|- ", text)


SPANISH = {
    (1, "ms"): "un milisegundo", (1, "card"): "una carta", (2, "card"): "dos cartas",
    (16, "ms"): "dieciséis milisegundos", (21, "ms"): "veintiún milisegundos", (21, "card"): "veintiuna cartas",
    (22, "card"): "veintidós cartas", (23, "ms"): "veintitrés milisegundos", (26, "ms"): "veintiséis milisegundos",
    (31, "ms"): "treinta y un milisegundos", (31, "card"): "treinta y una cartas", (100, "card"): "cien cartas",
    (101, "ms"): "ciento un milisegundos", (121, "card"): "ciento veintiuna cartas",
    (200, "card"): "doscientas cartas", (200, "ms"): "doscientos milisegundos",
    (501, "card"): "quinientas una cartas", (777, "ms"): "setecientos setenta y siete milisegundos",
    (900, "card"): "novecientas cartas", (1, "chance"): "una oportunidad", (4, "chance"): "cuatro oportunidades",
    (0, "card"): "cero cartas",
}  # fmt: skip
GERMAN = {
    (1, "card"): "eine Karte", (2, "card"): "zwei Karten", (1, "ms"): "eine Millisekunde",
    (14, "ms"): "vierzehn Millisekunden", (16, "ms"): "sechzehn Millisekunden", (17, "ms"): "siebzehn Millisekunden",
    (21, "card"): "einundzwanzig Karten", (24, "ms"): "vierundzwanzig Millisekunden",
    (30, "ms"): "dreißig Millisekunden", (66, "ms"): "sechsundsechzig Millisekunden",
    (77, "ms"): "siebenundsiebzig Millisekunden", (100, "ms"): "einhundert Millisekunden",
    (101, "ms"): "einhunderteins Millisekunden", (312, "ms"): "dreihundertzwölf Millisekunden",
    (999, "ms"): "neunhundertneunundneunzig Millisekunden", (1, "chance"): "eine Chance",
    (3, "chance"): "drei Chancen",
}  # fmt: skip
FRENCH = {
    (0, "card"): "zéro carte", (1, "card"): "une carte", (2, "card"): "deux cartes", (1, "ms"): "une milliseconde",
    (21, "card"): "vingt-et-une cartes", (22, "ms"): "vingt-deux millisecondes",
    (31, "ms"): "trente-et-une millisecondes", (70, "ms"): "soixante-dix millisecondes",
    (71, "ms"): "soixante-et-onze millisecondes", (72, "ms"): "soixante-douze millisecondes",
    (80, "card"): "quatre-vingts cartes", (81, "card"): "quatre-vingt-une cartes",
    (90, "ms"): "quatre-vingt-dix millisecondes", (91, "ms"): "quatre-vingt-onze millisecondes",
    (97, "ms"): "quatre-vingt-dix-sept millisecondes", (100, "ms"): "cent millisecondes",
    (101, "card"): "cent une cartes", (200, "ms"): "deux cents millisecondes",
    (201, "ms"): "deux cent une millisecondes", (280, "ms"): "deux cent quatre-vingts millisecondes",
    (999, "ms"): "neuf cent quatre-vingt-dix-neuf millisecondes", (4, "chance"): "quatre tentatives",
}  # fmt: skip
ENGLISH_COUNTS = {
    (1, "card"): "one card", (2, "card"): "two cards", (14, "ms"): "fourteen milliseconds",
    (0, "chance"): "zero chances", (340, "ms"): "three hundred and forty milliseconds",
    (500, "ms"): "five hundred milliseconds",
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "value", "noun", "said"),
    [
        (code, *key, said)
        for code, table in (("en", ENGLISH_COUNTS), ("es", SPANISH), ("de", GERMAN), ("fr", FRENCH))
        for key, said in table.items()
    ],
)
def test_counts_agree_with_what_is_counted(code: str, value: int, noun: str, said: str) -> None:
    assert counted(code, value, noun) == said


BARE = [
    ("es", 1, "uno"), ("es", 21, "veintiuno"), ("es", 100, "cien"), ("es", 115, "ciento quince"), ("de", 1, "eins"),
    ("de", 21, "einundzwanzig"), ("de", 201, "zweihunderteins"), ("fr", 1, "un"), ("fr", 80, "quatre-vingts"),
    ("fr", 81, "quatre-vingt-un"), ("fr", 300, "trois cents"), ("fr", 380, "trois cent quatre-vingts"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "value", "said"), BARE)
def test_numbers_by_themselves(code: str, value: int, said: str) -> None:
    assert number(code, value) == said


@pytest.mark.parametrize(
    ("code", "card", "said"),
    [
        ("en", "As", "the ace of spades"), ("es", "Qc", "la reina de tréboles"), ("de", "Th", "Herz Zehn"),
        ("fr", "Ah", "l'as de cœur"), ("fr", "Qd", "la dame de carreau"), ("de", "Xb", "der schwarze Joker"),
    ],
)  # fmt: skip
def test_cards_are_named_as_players_name_them(code: str, card: str, said: str) -> None:
    assert " ".join(words_in(code).card(card)) == said


def test_writing_follows_each_language() -> None:
    french, spanish, german = words_in("fr"), words_in("es"), words_in("de")
    assert french.written(("correction:", "qui a tapé en premier?")) == "Correction\u202f: qui a tapé en premier\u202f?"
    assert spanish.written(("¿quién llegó antes?",)) == "¿Quién llegó antes?"
    assert german.written(("einhundert-", "vierzehn", "Karten,")) == "Einhundertvierzehn Karten."
    assert ENGLISH.written(("false slap.", "burn", "one", "card")) == "False slap. Burn one card."


def test_every_row_that_adds_words_leads_to_them() -> None:
    assert set(SPOKEN_BY) < set(ROWS)
    for row, keys in SPOKEN_BY.items():
        assert keys and set(keys) <= set(ENGLISH.phrases), row


def test_every_phrase_of_the_rules_is_brought_about_by_a_row() -> None:
    led_to = {key for keys in SPOKEN_BY.values() for key in keys}
    alone = r"and$|question$|locked_out$|repeated$|foul$|correction$|slap_void\.overruled$"
    free = re.compile(rf"(tell|rules)\.|{alone}|.*\.margin$")
    assert {key for key in ENGLISH.phrases if key not in led_to and not free.match(key)} == set()


TABLES = {
    "key": {*GONE_NOTICES.values(), *(f"view_{trouble}" for trouble in VIEW_TROUBLES), "eye_behind"},
    "BACK_NOTICES.get(part, '')": set(BACK_NOTICES.values()),
    "PAD_NOTICES[seen.name]": set(PAD_NOTICES.values()),
    "PAIRING_CODE_NOTICE": {PAIRING_CODE_NOTICE},
    "ANOTHER_GAME": {ANOTHER_GAME},
    "SPOKEN[said.do]": set(SPOKEN.values()),
    "QUESTION_AGAIN": {QUESTION_AGAIN},
    "spoken": {
        "done",
        "refused",
        "another",
        *(f"offer_{verdict}" for verdict in ("slap_won", "slap_false", "slap_void")),
        *re.findall(r'"((?:card_lands|asked|offer|nothing|still)_\w+)"', inspect.getsource(spoken_choices)),
    },
    "what": {"roll_call", "roll_call_done", "not_heard"},
}
"""Possible values of notices that are not named where they are given."""


def noticed() -> set[str]:
    """Return every notice that the program gives."""
    found: set[str] = set()
    for file in Path(sinks.__file__).parents[1].rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)) if "announce.sinks" in text else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Notice":
                what = call.args[0]
                found |= {str(what.value)} if isinstance(what, ast.Constant) else TABLES[ast.unparse(what)]
    return found - {""}


@ALL
def test_whatever_the_appliance_tells_has_words(language: Language) -> None:
    assert {"check_pile", "taken_up", "paused", "first_hand", "pads_gone"} <= noticed()
    assert {what for what in noticed() if not language.has(f"tell.{what}")} == set()


PHONEMES = [
    ("de", "vierundzwanzig", r"fi.*Un[td].*tsvants"),
    ("de", "sechzehn", r"zE[CX]tse:?n"),
    ("de", "Chancen", r"SA~s"),
    ("de", "Sändwitsch", r"zEnt?d?vItS"),
    ("es", "veintiún", r"b[eE]Intjun"),
    ("es", "dieciséis", r"dj[eE]Tis[eE][iI]s"),
    ("es", "doscientas cartas", r"dosTj[eE]ntas"),
    ("fr", "six cartes", r"sika"),
    ("fr", "dix millisecondes", r"dimili"),
    ("fr", "quatre-vingt-onze", r"katr?[@2]?vE~[tO]+"),
    ("fr", "vingt-et-une cartes", r"vE~.*teyn"),
]
"""As espeak-ng 1.51 and later write them: *six* and *dix* lose their end before *cartes*, *un* becomes *une*."""


@pytest.mark.skipif(
    shutil.which("espeak-ng") is None,
    reason="no speech synthesiser: espeak-ng is not installed (apt install espeak-ng)",
)
@pytest.mark.parametrize(("code", "text", "wanted"), PHONEMES)
def test_numbers_are_pronounced_as_they_should_be(code: str, text: str, wanted: str) -> None:
    """There is no recogniser of these languages here, so the test compares the synthesiser's phonemes."""
    command = ["espeak-ng", "-v", {"fr": "fr-fr"}.get(code, code), "-q", "-x", text]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    sounds = re.sub(r"[^A-Za-z~@:]", "", said)
    assert re.match(wanted, sounds), sounds
