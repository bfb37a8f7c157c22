"""The rows of the rules as a form: a switch for each, and fields for its value. The script of the editor reads them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from referee.app.page.markup import Child, Markup, tag
from referee.app.page.rowwords import group_titles, row_words
from referee.app.page.texts import Texts
from referee.app.rulewords import rows_by_group
from referee.rules.catalogue import ROWS, Row
from referee.rules.house import HouseRules

_NUMBER: Final = re.compile(r"a whole number from (\d+) to (\d+)(?: \((.*)\))?")
_CHOICE: Final = "one of "
_QUOTE: Final = '"'
KINDS: Final[Mapping[str, str]] = {
    "S4d": "seats", "C1": "chances", "P4a": "run", "P4b": "run", "P14": "rank", "P19": "patterns",
    "N12": "anticipation",
}  # fmt: skip
"""Rows whose value is neither a number nor one of several words."""


def kind_of(row: str) -> str:
    """How a row's value is asked for; nothing where it has none."""
    entry = ROWS[row]
    if entry.check is None:
        return ""
    if row in KINDS:
        return KINDS[row]
    return "number" if _NUMBER.fullmatch(entry.allowed) else "choice"


def choices_of(entry: Row) -> tuple[Any, ...]:
    """What a row's value may be, where it is one of several words."""
    found = ast.literal_eval(f"({entry.allowed.removeprefix(_CHOICE)},)")
    assert isinstance(found, tuple)
    return found


def row_fields(rules: HouseRules, texts: Texts) -> list[Markup]:
    """All rows in groups, as these rules have them."""
    titles = group_titles(texts)
    return [
        tag(
            "fieldset",
            tag("legend", titles[title]),
            tag("ul", [_row(row, rules, texts) for row in rows]),
            class_="rulegroup",
        )
        for title, rows in rows_by_group().items()
    ]


def _row(row: str, rules: HouseRules, texts: Texts) -> Markup:
    on = rules.has(row)
    switch = tag(
        "label",
        tag("input", type="checkbox", data_switch=row, checked=on),
        tag("span", tag("span", row_words(row, texts), class_="says"), " ", tag("b", row)),
        class_="switch",
    )
    kind = kind_of(row)
    if not kind:
        return tag("li", switch, data_row=row)
    fields = _FIELDS[kind](row, rules.value(row), texts)
    value = tag("div", fields, class_="value", data_value=row, data_kind=kind, hidden=not on and row != "S2")
    return tag("li", switch, value, data_row=row)


def _labelled(row: str, label: str, control: Markup, after: str = "") -> Markup:
    """A field; who does not see the row beside it is told its id."""
    return tag("label", tag("span", f"{row} {label}", class_="unseen"), control, after)


def _number_field(row: str, value: Any, texts: Texts) -> list[Child]:
    found = _NUMBER.fullmatch(ROWS[row].allowed)
    assert found is not None
    unit = texts(f"unit.{_slug(found[3])}") if found[3] else ""
    field = _number(value, int(found[1]), int(found[2]), "n")
    return [_labelled(row, unit, field, f" {unit}")]


def _number(value: Any, low: int, high: int, part: str) -> Markup:
    return tag("input", type="number", min=low, max=high, step=1, value=value, required=True, data_part=part)


def _slug(words: str) -> str:
    return words.replace(" ", "_")


def _select(named: str, choices: tuple[Any, ...], value: Any, part: str, texts: Texts) -> Markup:
    options = [
        tag(
            "option",
            texts(f"value.{named}.{json.dumps(choice).strip(_QUOTE)}"),
            value=json.dumps(choice),
            selected=choice == value,
        )
        for choice in choices
    ]
    return tag("select", options, data_part=part)


def _choice_field(row: str, value: Any, texts: Texts) -> list[Child]:
    return [_labelled(row, "", _select(row, choices_of(ROWS[row]), value, "n", texts))]


def _chances_fields(row: str, value: Any, texts: Texts) -> list[Child]:
    ranks = {"A": "ace", "K": "king", "Q": "queen", "J": "jack"}
    return [
        tag("label", texts(f"card.{name}"), " ", _number(value[rank], 1, 13, rank), class_="short")
        for rank, name in ranks.items()
    ]


def _run_fields(row: str, value: Any, texts: Texts) -> list[Child]:
    said = {"ace": value} if isinstance(value, str) else value
    length = _number(said.get("n", ROWS[row].default["n"]), 3, 13, "n")
    ace = _select("run", ("both", "low", "high"), said.get("ace", "both"), "ace", texts)
    wrap = tag("input", type="checkbox", data_part="wrap", checked=bool(said.get("wrap", False)))
    return [
        _labelled(row, "", length, f" {texts('unit.cards')}"), _labelled(row, texts("card.ace"), ace),
        tag("label", wrap, " ", texts("value.run.wrap"), class_="switch"),
    ]  # fmt: skip


def _seats_field(row: str, value: Any, texts: Texts) -> list[Child]:
    field = tag("input", value=", ".join(map(str, value)), pattern=r"\s*[1-8](\s*,\s*[1-8])*\s*", data_part="seats",
                placeholder="2, 3", inputmode="numeric")  # fmt: skip
    return [tag("label", texts("unit.seats"), " ", field)]


def _rank_field(row: str, value: Any, texts: Texts) -> list[Child]:
    options = [tag("option", texts("value.P14.drawn"), value="null")] + [
        tag("option", rank.replace("T", "10"), value=json.dumps(rank), selected=rank == value) for rank in "23456789T"
    ]
    return [_labelled(row, "", tag("select", options, data_part="n"))]


def _patterns_fields(row: str, value: Any, texts: Texts) -> list[Child]:
    lines = [pattern_line(name, text, texts) for name, text in value.items()]
    add = tag("button", texts("rules.pattern_add"), type="button", class_="button", id="add-pattern")
    blank = tag("template", pattern_line("", "", texts), id="pattern-line")
    return [tag("div", lines, id="patterns"), blank, add, tag("p", texts("rules.pattern_help"), class_="note")]


def pattern_line(name: str, text: str, texts: Texts) -> Markup:
    """One pattern of the table's own: its name, and what it is."""
    return tag(
        "div",
        tag("label", texts("rules.pattern_name"), tag("input", value=name, maxlength=40, data_part="name")),
        tag("label", texts("rules.pattern_text"), tag("input", value=text, maxlength=400, data_part="text",
            placeholder="rank(1) = rank(2)", spellcheck="false"), class_="wide"),
        tag("button", texts("rules.pattern_remove"), type="button", class_="button remove-pattern"),
        class_="row pattern",
    )  # fmt: skip


def _anticipation_fields(row: str, value: Any, texts: Texts) -> list[Child]:
    return [
        _labelled(row, "ms", _number(value[0], 1, 1000, "ms"), " ms"),
        _labelled(row, "", _select(row, ("void", "false"), value[1], "is", texts)),
    ]


_FIELDS: Final = {
    "number": _number_field,
    "choice": _choice_field,
    "chances": _chances_fields,
    "run": _run_fields,
    "seats": _seats_field,
    "rank": _rank_field,
    "patterns": _patterns_fields,
    "anticipation": _anticipation_fields,
}
