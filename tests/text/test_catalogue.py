"""Every language has every text, with the same fields in it, and numbers in its own writing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Formatter

import pytest

from referee.engine.rulings import LIFE, Ruling
from referee.rules.rows import ROWS
from referee.text.catalogue import LANGUAGES, chosen, table, texts
from referee.text.ruling_lines import _ASKS, _PATTERNS, _REASONS, RulingWords
from tests.web.table import DEMO

OTHERS = tuple(language for language in LANGUAGES if language != "en")
CORE = Path(__file__).parents[2] / "referee"
PAGE = CORE / "web"


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_all_keys_and_no_other(language: str) -> None:
    """But for what English has elsewhere: rules in the rule book, answers in the code."""
    assert {key for key in table(language) if not key.startswith(("rule.", "answer.", "kind."))} == set(table("en"))


@pytest.mark.parametrize("language", OTHERS)
def test_rules_are_told_in_every_language(language: str) -> None:
    """English has them from the rule book."""
    own = {key.removeprefix("rule.") for key in table(language) if key.startswith("rule.")}
    assert own <= set(ROWS)
    assert own == {key.removeprefix("rule.") for key in table("de") if key.startswith("rule.")}
    shown = {row for _, text in _demo() if "ruling" in (ruling := json.loads(text)) for row in ruling["rule"]}
    assert shown and shown <= own


def _demo() -> list[tuple[int, str]]:
    return list(enumerate(DEMO.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("language", OTHERS)
def test_the_fields_of_a_text_are_the_same(language: str) -> None:
    english = table("en")
    differing = {
        key for key, text in table(language).items() if key in english and fields(text) != fields(english[key])
    }
    assert differing == set()


@pytest.mark.parametrize("language", OTHERS)
def test_texts_are_translated(language: str) -> None:
    same = {key for key, text in table(language).items() if text == table("en").get(key) and len(text) > 18}
    assert same == set()


def test_every_text_that_the_code_asks_for_is_there() -> None:
    asked = set()
    for file in PAGE.glob("*.py"):
        asked.update(re.findall(r'texts\("([a-z_]+\.[A-Za-z0-9_.]+)"', file.read_text(encoding="utf-8")))
    assert len(asked) > 60
    assert asked - set(table("en")) == set()


@pytest.mark.parametrize("group, names", [("pattern", _PATTERNS), ("reason", _REASONS), ("ask", _ASKS)])
def test_names_that_rulings_use_have_words(group: str, names: dict[str, str]) -> None:
    assert {name for name in names if f"{group}.{name}" not in table("en")} == set()


def test_whatever_the_core_reminds_of_or_asks_has_words() -> None:
    """Read from the core's code: a new reminder or question without words fails here."""
    core = [file.read_text(encoding="utf-8") for part in ("rules", "engine") for file in CORE.glob(f"{part}/*.py")]
    code = "\n".join(core)
    reminders = set(re.findall(r'what="([a-z_]+)"', code)) | set(re.findall(r'\("[A-Z]\d+", "([a-z_]+)"\),', code))
    questions = set(re.findall(r'"?ask"?(?:=|: )"([a-z_]+)"', code))
    assert len(reminders) > 8 and len(questions) > 8
    assert {name for name in reminders if f"remind.{name}" not in table("en")} == set()
    assert {name for name in questions if f"ask.{name}" not in table("en")} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_ruling_becomes_a_sentence(language: str) -> None:
    given = {
        "seat": 1, "to": 2, "seats": [1, 2], "card": "Th", "count": 2, "left": 2, "chances": 3, "challenged": 2,
        "strikes": 1, "until": "pile", "reason": "late", "foul": "peek", "by": [2], "against": 1, "upheld": True,
        "ask": "who_was_first", "what": "rings", "cards": 12, "margin": 3_009_724, "error": 3_000_000,
        "patterns": ["P1", "P19:twins"], "decided_by": "time",
    }  # fmt: skip
    words = RulingWords(("Ana", "Ben"), texts(language))
    for kind in LIFE:
        own = {**given, "cards": ["7h", "7c"]} if kind in ("question", "slap_won") else given
        said = words(Ruling(kind, f"{kind}@x", 0, (), (), own))
        assert "{" not in said, said
        assert said != kind.replace("_", " "), f"{kind} has no words"


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert texts("en").ms(3_009_724) == "3.010 ms"
    assert texts("de").ms(-3_009_724) == "−3,010 ms"
    assert texts("fr").count("cards", 0) == "0 carte"
    assert texts("es").count("cards", 0) == "0 cartas"


@pytest.mark.parametrize(
    "asked, kept, accepted, expected",
    [
        ("de", "fr", "es", "de"),
        ("xx", "fr", "es", "fr"),
        (None, None, "pt, es;q=0.8, de;q=0.9", "de"),
        (None, None, "da;q=nonsense, ;;;", "en"),
        (None, "../../etc", "", "en"),
    ],
)
def test_which_language_is_spoken(asked: str | None, kept: str | None, accepted: str, expected: str) -> None:
    assert chosen(asked, kept, accepted) == expected


def test_a_kind_of_ruling_from_elsewhere_is_shown_and_never_filled_in() -> None:
    kind = "{name:>999999999}"
    words = RulingWords(("Ana", "Ben"), texts("en"))
    assert words(Ruling(kind, "x", 0, (), ())) == kind
