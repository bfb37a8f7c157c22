"""Every language has every text, with the same fields in it, and numbers in its own writing."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from referee.engine.rulings import RULING_ORDER, Ruling
from referee.rules.patterns import PATTERNS
from referee.rules.rows import ROWS
from referee.text.catalogue import LANGUAGES, chosen, table, texts
from referee.text.ruling_lines import RulingWords

OTHERS = tuple(language for language in LANGUAGES if language != "en")
CORE = Path(__file__).parents[2] / "referee"
PAGE = CORE / "web"


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_all_keys_and_no_other(language: str) -> None:
    """Except rules with their values, in English only, and answers, whose English stands in the code."""

    def keys(of: str) -> set[str]:
        return {key for key in table(of) if not key.startswith(("rule_with_value.", "answer.", "kind."))}

    assert keys(language) == keys("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_are_told_in_every_language(language: str) -> None:
    told = {key.removeprefix("rule.") for key in table(language) if key.startswith("rule.")}
    assert told == set(ROWS)


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


def test_every_pattern_has_a_name() -> None:
    """P5c only makes top-bottom stricter."""
    assert {row for row in PATTERNS if f"pattern.{row}" not in table("en")} == {"P5c"}


def test_whatever_the_core_gives_as_a_reason_reminds_of_or_asks_has_words() -> None:
    """Read from the core's code: a new reason, reminder or question without words fails here."""
    core = [file.read_text(encoding="utf-8") for part in ("rules", "engine") for file in CORE.glob(f"{part}/*.py")]
    code = "\n".join(core)
    reminders = set(re.findall(r'what="([a-z_]+)"', code)) | set(re.findall(r'"[A-Z]\d+[a-z]?": "([a-z_]+)"', code))
    questions = set(re.findall(r'"?ask"?(?:=|: )"([a-z_]+)"', code))
    reasons = set(re.findall(r'Verdict\("(?:void|false)", "([a-z_]+)"|"?reason"?(?:=|: )"([a-z_]+)"', code))
    assert len(reminders) > 8 and len(questions) > 8 and len(reasons) > 8
    assert {name for pair in reasons for name in pair if name and f"reason.{name}" not in table("en")} == set()
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
    for kind in RULING_ORDER:
        own = {**given, "cards": ["7h", "7c"]} if kind in ("question", "slap_won") else given
        said = words(Ruling(kind, f"{kind}@x", 0, (), (), own))
        assert "{" not in said, said
        assert said != kind.replace("_", " "), f"{kind} has no words"


def test_near_the_limit_of_a_double_draw_the_cards_are_asked_about() -> None:
    asked = {"ask": "slap_or_limit", "about": ["c2"]}
    said = [
        RulingWords(("Ana", "Ben"), texts("en"))(Ruling("question", "question@c2/4", 0, ("c2",), rule, asked))
        for rule in (("K9", "F9"), ("K9",))
    ]
    assert said == ["Were these two cards drawn at once?", "On which side of the time limit was the slap?"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cards": ["7s"]}, "I did not see the table for 1.8 s. I see 7♠ on top: what lies under it?"),
        ({"cards": ["??", "7s"]}, "I did not see the table for 1.8 s. I see 7♠ on top: what lies under it?"),
        ({"cards": ["Ks", "7s"]}, "I did not see the table for 1.8 s. I see K♠ and 7♠ on top: what lies under them?"),
        (
            {"cards": ["7s", "??"]},
            "I did not see the table for 1.8 s. A card that I cannot read lies on top: what lies under it?",
        ),
        ({}, "I did not see the table for 1.8 s, and the pile is gone: who took it?"),
        ({"about": ["g1", "s4"]}, "This slap waits: I did not see what lay there"),
    ],
)
def test_what_passed_in_a_gap_is_asked_with_what_is_seen_now(fields: dict[str, object], said: str) -> None:
    asked = {"ask": "unseen_gap", "about": ["g1"], "lasted": 1_800_000_000, **fields}
    question = Ruling("question", "question@g1", 0, (), (), asked)
    assert RulingWords(("Ana", "Ben"), texts("en"))(question) == said
    for language in LANGUAGES:
        assert "{" not in RulingWords(("Ana", "Ben"), texts(language))(question)


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert texts("en").ms(3_009_724, 10_000) == "3.010 ms"
    assert texts("de").ms(-3_009_724, 10_000) == "−3,010 ms"
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
