"""Every sentence of the code is in every language: read from the code, so that a new one fails here."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from referee.engine.observations import Observation
from referee.text.answers import OTHERS
from referee.text.catalogue import table
from tools import language_check
from tools.language_check import check, templates

APP = Path(__file__).parents[2] / "referee"
TEMPLATE = {"Sentence": 0, "Denied": 0, "CommandError": 0, "Refusal": 1}
"""Functions that take a template, and the argument that it is."""
SENTENCE = {"Accepted": 0, "Refused": 0, "Answered": 1, "ControlError": 0}
"""Functions that take a finished sentence."""
AT_HOME = {
    "Denied": "control/facts", "CommandError": "control/commands", "Refusal": "web/security/guard",
    "Accepted": "control/facts", "Refused": "control/facts", "Answered": "control/pairing_code",
    "ControlError": "control/socket", "Sentence": "sentence",
}  # fmt: skip
FREE = {("control/socket", "ControlError"), ("table/page_link", "ControlError")}
"""Functions whose words go to a terminal."""


class Call:
    """One call in the code, of a function that speaks."""

    def __init__(self, file: str, name: str, node: ast.Call) -> None:
        self.file, self.name, self.node = file, name, node
        self.place = f"{file}.py:{node.lineno}"

    def said(self, at: int) -> list[ast.expr]:
        """Return the argument, or both of its possible values."""
        given = self.node.args[at]
        return [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]

    @property
    def given(self) -> set[str | None]:
        return {keyword.arg for keyword in self.node.keywords}


@cache
def calls() -> Sequence[Call]:
    return [call for path in APP.rglob("*.py") for call in _calls_in(path)]


def _calls_in(path: Path) -> Iterator[Call]:
    file = str(path.relative_to(APP).with_suffix(""))
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    known = {name for name, home in AT_HOME.items() if home == file}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("referee."):
            module = (node.module or "").removeprefix("referee.").replace(".", "/")
            known |= {alias.name for alias in node.names if AT_HOME.get(alias.name) == module}
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or file == "sentence":
            continue
        if node.func.id in known and node.args:
            yield Call(file, node.func.id, node)


def fields(template: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_the_code_is_found() -> None:
    """Else all later tests would prove nothing."""
    assert len(templates()) > 600
    assert {call.name for call in calls()} == {*TEMPLATE, *SENTENCE}


def test_whatever_is_answered_is_a_sentence_that_can_be_looked_up() -> None:
    """An unchanged template, or a sentence made of one; a composed text is neither."""
    made_up = [
        call.place
        for call in calls()
        if (call.file, call.name) not in FREE
        for given in call.said(TEMPLATE.get(call.name, SENTENCE.get(call.name, 0)))
        if not (_is_template(given) if call.name in TEMPLATE else _may_be_a_sentence(given))
    ]
    # `Refusal` makes its sentence from its arguments.
    assert [place for place in made_up if not place.startswith("web/security/guard")] == []


def _is_template(given: ast.expr) -> bool:
    """Whether it is a template or the name of one; `tools.language_check` looks up its values."""
    return isinstance(given, ast.Constant | ast.Name)


def _may_be_a_sentence(given: ast.expr) -> bool:
    return isinstance(given, ast.Name | ast.Attribute | ast.Call)


def test_orders_are_refused_in_sentences() -> None:
    """Their return value says why not."""
    tree = ast.parse((APP / "table" / "orders.py").read_text(encoding="utf-8"))
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    texts = [node for node in returned if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value]
    made_up = [node for node in returned if isinstance(node, ast.JoinedStr | ast.BinOp)]
    assert [node.lineno for node in (*texts, *made_up)] == []
    assert len(returned) > 20


def test_a_sentence_is_given_its_fields() -> None:
    wrong = [
        call.place
        for call in calls()
        for given in (call.said(TEMPLATE[call.name]) if call.name in TEMPLATE else ())
        if isinstance(given, ast.Constant) and None not in call.given and call.given != fields(str(given.value))
    ]
    assert wrong == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_is_whole(language: str) -> None:
    """It has every text and sentence and no other, each with the same fields and in every plural form."""
    assert check(language) == []


def test_what_is_wrong_with_a_language_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {
        "answer.no game is being played": "no game is being played",
        "answer.the game is over {seat}": "aus",
        "answer.the card is the {card}; the referee rules again on everything after it": "die Karte",
    }
    monkeypatch.setattr(language_check, "table", lambda language: there)
    wrong = list(language_check.check_texts("de"))
    assert "still English: no game is being played" in wrong
    assert "nothing says this any more: the game is over {seat}" in wrong
    template = "the card is the {card}; the referee rules again on everything after it"
    other = f"other fields than the English text (card): {template}"
    assert other in wrong
    assert any(line.startswith("missing: the game is over") for line in wrong)


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_kind_of_line(language: str) -> None:
    kinds = {key.removeprefix("kind.") for key in table(language) if key.startswith("kind.")}
    assert kinds == {kind.kind for kind in Observation.__subclasses__() if kind.kind} | {"note"}
