"""The documents match the program: their examples are run, their forms are read."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.engine.log import decode_line
from referee.engine.observations import Answer, Correct
from referee.engine.replay import replay_log
from referee.engine.rulings import RULING_ORDER, ruling_fields
from referee.settings.house_rules import parse_house_rules
from referee.settings.model import SeatSettings, Settings, SettingsError, parse_settings
from referee.text.catalogue import table
from tests.support.documents import (
    PAGES,
    anchors_of,
    bare_commands,
    commands_of,
    indented,
    links_of,
    mentions_of,
    what_is_wrong,
)
from tools.reference import page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CORE = [*(ROOT / "referee" / "rules").glob("*.py"), *(ROOT / "referee" / "engine").glob("*.py")]
FORMAT = (DOCS / "log.md").read_text(encoding="utf-8")
CORRECTIONS = FORMAT.partition("\n## Answers and corrections\n")[2].partition("\n## ")[0]
TROUBLES = (DOCS / "troubles.md").read_text(encoding="utf-8")
TABLE = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
GAME = [
    TABLE,
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"8c","seat":2}',
    '{"kind":"slap","t":2300000000,"id":"s1","seat":3}',
]
TWO = '\n[[seat]]\nname = "Ana"\npad = 4\n\n[[seat]]\nname = "Ben"\npad = 5\n'
DOUBLE = [*GAME[:2], GAME[2].replace("8c", "7c"), GAME[3]]


def _ruled(lines: list[str]) -> list[dict[str, Any]]:
    return [ruling_fields(ruling) for ruling in replay_log(BytesIO("\n".join(lines).encode()))]


def _forms(title: str) -> list[str]:
    """Return the lines that a section shows."""
    section = CORRECTIONS.split(f"### {title}\n")[1].split("\n### ")[0]
    return [line.strip() for line in section.splitlines() if line.startswith("    {")]


@pytest.mark.parametrize(
    ("log", "shown"), re.findall(r"```jsonl\n(.+?)```.*?```json\n(.+?)```", FORMAT, flags=re.DOTALL)
)
def test_the_examples_of_the_log_are_ruled_as_they_are_shown(log: str, shown: str) -> None:
    made = [ruling for ruling in _ruled(log.splitlines()) if ruling["ruling"] not in ("lead", "turn", "pile")]
    assert made == [json.loads(line) for line in shown.splitlines()]


def test_every_example_of_the_log_is_replayed_and_every_ruling_listed() -> None:
    assert len(re.findall(r"```jsonl\n", FORMAT)) == len(re.findall(r"```json\n", FORMAT)) == 4
    listed = re.findall(r"^\| `(\w+)` \|", FORMAT.split("## Rulings")[1], re.MULTILINE)
    assert sorted(listed) == sorted(RULING_ORDER)
    (order,) = re.findall(r"the table's life: (.+?)\.\n", FORMAT, re.DOTALL)
    places = [[RULING_ORDER[kind] for kind in re.findall(r"`(\w+)`", group)] for group in re.split(r",\s+", order)]
    assert places == [[place] * len(group) for place, group in enumerate(places)]
    assert sum(map(len, places)) == len(RULING_ORDER)


@pytest.mark.parametrize("form", _forms("Corrections of a line"))
def test_every_form_of_correcting_a_line_is_taken(form: str) -> None:
    """None of them leads to a question, and each changes the rulings."""
    made = _ruled([*GAME, form])
    assert [ruling for ruling in made if ruling.get("ask") == "mend_amendment"] == []
    assert any("supersedes" in ruling for ruling in made)


@pytest.mark.parametrize("form", _forms("Corrections of a ruling"))
def test_every_form_of_correcting_a_ruling_is_taken(form: str) -> None:
    """A false slap made void or good, another hand first, a dead card that was in turn: the ruling is replaced."""
    line = json.loads(form)["line"]
    game = list(GAME)
    if line == "slap_won@s1":
        game = [*DOUBLE, '{"kind":"slap","t":2400000000,"id":"s2","seat":1}']
    if line == "dead_card@c2":
        game[2] = game[2].replace('"seat":2', '"seat":3')
    assert line in {ruling["id"] for ruling in _ruled(game)}
    made = _ruled([*game, form])
    assert [ruling for ruling in made if ruling.get("ask") == "mend_amendment"] == []
    assert line not in {ruling["id"] for ruling in made if not ruling.get("supersedes")}


def test_an_answer_and_taking_it_back_are_read_as_shown() -> None:
    """And a correction is taken back."""
    (answer,) = _forms("Answers")
    (undo,) = _forms("Taking it back")
    assert isinstance(decode_line(answer, 1), Answer)
    assert isinstance(decode_line(undo, 1), Correct)
    heat = [*DOUBLE, '{"kind":"slap","t":2300000001,"id":"s2","seat":1}']
    said = answer.replace('"to"', '"id":"x1","to"')
    assert [ruling["seat"] for ruling in _ruled([*heat, said]) if ruling["ruling"] == "slap_won"] == [3]
    assert [ruling for ruling in _ruled([*heat, said, undo]) if ruling["ruling"] == "slap_won"] == []


def test_what_came_late_is_taken_up_as_shown() -> None:
    form = _forms("What came late")[0]
    late = [*DOUBLE[:-1], '{"kind":"tick","t":2500000000}', DOUBLE[-1]]
    assert [ruling for ruling in _ruled(late) if ruling["ruling"] == "slap_won"] == []
    assert [ruling["seat"] for ruling in _ruled([*late, form]) if ruling["ruling"] == "slap_won"] == [3]


def test_what_people_enter_themselves_is_taken_up_as_shown() -> None:
    """A card that no sensor reported lies between the two cards of the game."""
    _, *entered = _forms("What came late")
    made = _ruled([*GAME, '{"kind":"tick","t":2500000000}', *entered])
    assert [ruling["seat"] for ruling in made if ruling["id"] == "turn@m1"] == [3]
    assert [ruling["id"] for ruling in made if ruling["ruling"] == "dead_card"] == ["dead_card@c2"]


def test_every_question_is_in_the_table_of_answers() -> None:
    """So a person who is asked finds the answer's form."""
    core = "".join(path.read_text(encoding="utf-8") for path in CORE)
    asked = re.findall(r'ask="(\w+)"|"ask": "(\w+)"|Verdict\("question", "(\w+)"', core)
    listed = set(re.findall(r"`(\w+)`", "".join(row for row in CORRECTIONS.splitlines() if row.startswith("| `"))))
    assert len(asked) > 8
    assert {word for words in asked for word in words if word} <= listed


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "timing.md", "vision.md", "log.md"])
def test_the_files_that_a_page_names_are_there(page: str) -> None:
    """A path counts from the root, or from any folder that is evident on the page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+?/|[\w./-]+\.(?:py|toml|mk|md|csv|json))`", text))
    folders = [ROOT / name for name in ("appliance", "docs", "hardware", "models", "referee", "tests", "tools")]
    there = [f"/{path.relative_to(ROOT)}" for top in folders for path in (top, *top.rglob("*"))]
    there += [f"/{path.name}" for path in ROOT.iterdir()]
    missing = [name for name in named if not any(path.endswith("/" + name.rstrip("/")) for path in there)]
    assert sorted(missing) == []


def test_the_reference_lists_every_command_and_key_as_they_are() -> None:
    shown = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert shown == page(), "out of date: run make reference"
    sections = {name: getattr(field.annotation, "model_fields", ()) for name, field in Settings.model_fields.items()}
    written = {"seats": SeatSettings.model_fields, "pads_measured": ("",), "calibration": ("",)}
    keys = [key for name, held in (sections | written).items() for key in held or (name,) if key]
    assert sorted(re.findall(r"^\| `(\w+)` \|", shown, re.MULTILINE)) == sorted(keys)
    assert len(re.findall(r"^\| `referee \w+` \| \w", shown, re.MULTILINE)) > 20


def _numbers() -> list[tuple[str, bool]]:
    """Return the watcher's tuning constants and whether each has a docstring; derived numbers do not count."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "models" / "watch").glob("*.py")))
    found = re.findall(r'^(_?[A-Z][A-Z_]+): Final = ([(\d].*|SECOND)\n(""")?', text, re.MULTILINE)
    return [
        (name, bool(words)) for name, value, words in found if not re.search(r"\b(?!MS\b|SECOND\b)_?[A-Z]{3,}", value)
    ]


def _literals() -> int:
    """Return how many numbers stand in the watcher's functions without a name, but for the smallest and a byte's."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "models" / "watch").glob("*.py")]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    numbers = [node.value for each in functions for node in ast.walk(each) if isinstance(node, ast.Constant)]
    return sum(type(value) in (int, float) and value not in (0, 1, 2, 3, 255) for value in numbers)


def test_the_watcher_takes_few_numbers_for_granted() -> None:
    """A new one must replace another, or be derived from the existing ones; to hide one in a function is no help."""
    assert 30 < len(_numbers()) <= 70
    assert len(_numbers()) + _literals() <= 103


def test_every_number_of_the_watcher_says_what_it_means() -> None:
    assert [name for name, is_explained in _numbers() if not is_explained] == []


# Commands, links and quotations of all pages.


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_understood(page: Path) -> None:
    """Its subcommand, options, target, module or test exist."""
    text = page.read_text(encoding="utf-8")
    wrong = {
        line: found
        for lines, mentioned in ((commands_of(text), False), (mentions_of(text), True))
        for line in lines
        for words in bare_commands(line)
        if (found := what_is_wrong(words, mentioned=mentioned))
    }
    assert wrong == {}


def test_the_pages_have_commands_of_every_kind() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    assert sum(line.startswith("referee") for text in texts for line in commands_of(text)) > 50
    for first in ("referee", "make", "python"):
        assert sum(line.startswith(first) for text in texts for line in mentions_of(text)) > 5, first


@pytest.mark.parametrize(
    "line",
    [
        "referee stup", "referee setup --stop pads", "cat x | referee replay --no-such -", "make no-such",
        "make test no-such", "python -m tools.no_such", "pytest tests/no_such.py",
        ".venv/bin/referee games --export twelve > game.jsonl",
    ],
)  # fmt: skip
def test_a_wrong_command_would_be_noticed(line: str) -> None:
    assert [found for words in bare_commands(line) if (found := what_is_wrong(words))] != []


def test_commands_are_found_in_blocks_and_in_the_text() -> None:
    text = "Run `make\ntest`:\n\n    referee games   # all\n\n```sh\nsudo referee doctor > x && make lint\n```\n"
    found = [words for line in commands_of(text) for words in bare_commands(line)]
    assert sorted(found) == [["make", "lint"], ["referee", "doctor"], ["referee", "games"]]
    assert mentions_of(text) == ["make test"]
    assert what_is_wrong(["referee", "hall"]) != ""
    assert what_is_wrong(["referee", "hall"], mentioned=True) == ""
    assert what_is_wrong(["referee", "hall", "--no-such"], mentioned=True) != ""


@pytest.mark.parametrize("page", [ROOT / "CHANGELOG.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    wrong = []
    for link in links_of(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target.read_text(encoding="utf-8"))):
            wrong.append(link)
    assert wrong == []


def test_links_and_anchors_are_read() -> None:
    text = "# A title: B, c?\n[one](two.md#three) ![picture](four.jpg) [away](https://example.org) `[no](link)`\n"
    assert links_of(text) == ["two.md#three", "four.jpg"]
    assert anchors_of(text) == {"a-title-b-c"}


def test_every_page_that_the_program_names_is_there() -> None:
    named: dict[str, set[str]] = {}
    folders = ("referee", "hardware", "models", "tools", "appliance", "tests")
    for path in [*ROOT.glob("*"), *(path for folder in folders for path in sorted((ROOT / folder).rglob("*")))]:
        if path.suffix in (".py", ".toml", ".mk", ".md", ".js", ".html", "") and path.is_file():
            for name in re.findall(r"\bdocs/[\w-]+\.md\b", path.read_text(encoding="utf-8", errors="replace")):
                named.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert len(named) > 5
    assert {page: files for page, files in named.items() if not (ROOT / page).exists()} == {}


def test_every_page_is_listed() -> None:
    listed = set(links_of((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= listed


def _said() -> list[str]:
    """Return every English sentence of the program: of its pages, its terminal, and its voice."""
    phrases = tomllib.loads((ROOT / "referee" / "announce" / "phrases" / "en.toml").read_text(encoding="utf-8"))
    spoken = [words for part in phrases.values() if isinstance(part, dict) for words in part.values()]
    answers = tomllib.loads((ROOT / "referee" / "text" / "de.toml").read_text(encoding="utf-8"))["answer"]
    return [str(words).replace(" | ", " ") for words in [*spoken, *answers, *table("en").values()]]


@pytest.mark.parametrize(
    "quoted", re.findall(r'"([^"]+)"', "".join(re.findall(r"^\| ([^|]+) \|", TROUBLES, re.MULTILINE)))
)
def test_the_troubles_quote_what_is_said(quoted: str) -> None:
    """Three dots stand for a name, a number or a reason."""
    form = re.compile(".*".join(re.escape(part.strip()) for part in quoted.split("…")))
    assert any(form.search(sentence) for sentence in _said()), quoted


def _settings() -> list[tuple[str, str]]:
    """Return every section of a table's settings on a page, with the page's name."""
    found = []
    for name in PAGES:
        text = name.read_text(encoding="utf-8")
        blocks = [*re.findall(r"```toml\n(.+?)```", text, flags=re.DOTALL), "\n".join(indented(text))]
        sections = "|".join(Settings.model_fields)
        parts = [
            part for block in blocks for part in re.findall(rf"^\[(?:{sections})\]\n(?:\w+ = .*\n?)+", block, re.M)
        ]
        found += [(name.name, part) for part in parts]
    return found


@pytest.mark.parametrize(("name", "shown"), _settings())
def test_the_settings_that_a_page_shows_are_keys_with_such_values(name: str, shown: str) -> None:
    assert parse_settings(shown + TWO), name


def test_settings_are_shown_and_a_wrong_one_would_be_noticed() -> None:
    assert {name for name, _ in _settings()} >= {"club.md", "control.md", "senses.md"}
    with pytest.raises(SettingsError):
        parse_settings("[voice]\nvolum = 80\n" + TWO)


def test_the_house_rules_that_a_page_shows_are_right() -> None:
    (shown,) = re.findall(r"```toml\n(.+?)```", (DOCS / "house-rules.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert parse_house_rules(shown).record
