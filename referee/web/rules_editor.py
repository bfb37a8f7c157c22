"""The editor of house rules: a preset to begin with, every rule in words and as a form, the same as text, and a check.

Its script does the rest. Anyone on the network may view and use it; the text is checked by a request that only paired
devices may make (`referee.web.api`). Nothing here touches a game.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.rules.frozen import thaw
from referee.rules.house import HouseRules, Run, read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import FOREHEADS, MOST_AGREED, RIVALS, ROWS, Row
from referee.settings.house_rules import HouseFileError, Mistake, parse_house_rules
from referee.text.catalogue import Texts
from referee.text.rules import row_words, rows_by_group, sentence
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.layout import page, page_texts
from referee.web.markup import Child, Markup, panel, tag
from referee.web.site import Site

_LONGEST_LINE: Final = 1000
"""Longest line, characters; keys nested deeper than fit there cost time without being house rules."""
_MOST_MISTAKES: Final = 50
"""Most mistakes reported at once."""


def house_check(text: str) -> dict[str, Any]:
    """Check a house-rules text.

    Args:
        text: TOML, of a length that the caller has bounded.

    Returns:
        ``accepted``, ``words``, and ``mistakes`` by line and column; without mistakes also ``title``, ``rules`` (as in
        a log's first line), ``notes``, and ``rows``: the rules that are on, each with its sentence.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > _LONGEST_LINE:
            words = f"more than {_LONGEST_LINE} characters; break the line"
            mistake = {"line": number, "column": _LONGEST_LINE, "words": words}
            return {"accepted": False, "words": "one mistake", "mistakes": [mistake]}
    try:
        house = parse_house_rules(text.replace("\r\n", "\n"))
    except HouseFileError as error:
        many = "one mistake" if len(error.mistakes) == 1 else f"{len(error.mistakes)} mistakes"
        return {"accepted": False, "words": many, "mistakes": _mistakes(error.mistakes[:_MOST_MISTAKES])}
    rows = [
        {"group": title, "row": row, "name": ROWS[row].name, "words": sentence(row, house.rules)}
        for title, ids in rows_by_group().items()
        for row in ids
        if row in house.rules.on
    ]
    found = {"title": house.title, "rules": house.record, "notes": _mistakes(house.notes), "rows": rows}
    return {"accepted": True, "words": "no mistakes", "mistakes": [], **found}


def _mistakes(mistakes: Iterable[Mistake]) -> list[dict[str, Any]]:
    out = []
    for mistake in mistakes:
        line, column = (mistake.place.line, mistake.place.column) if mistake.place is not None else (None, None)
        out.append({"line": line, "column": column, "words": mistake.problem})
    return out


_QUOTE: Final = '"'
_NUMBER: Final = re.compile(r"a whole number from (\d+) to (\d+)(?: \((.*)\))?")
_KINDS: Final[Mapping[str, str]] = {
    "S4d": "seats", "C1": "chances", "P4a": "run", "P4b": "run", "P14": "rank", "P19": "patterns",
    "M6": "forehead", "E7": "agreed_end", "N12": "anticipation",
}  # fmt: skip
"""Rules whose value is neither a number nor one of several words."""


def kind_of(row: str) -> str:
    """Return the kind of field for a rule's value; empty if it has none."""
    entry = ROWS[row]
    if entry.check is None:
        return ""
    if row in _KINDS:
        return _KINDS[row]
    return "number" if _NUMBER.fullmatch(entry.allowed) else "choice"


def choices_of(entry: Row) -> tuple[Any, ...]:
    """Return the allowed values of a rule whose value is one of several words."""
    found = ast.literal_eval(f"({entry.allowed.removeprefix('one of ')},)")
    assert isinstance(found, tuple)
    return found


def row_fields(rules: HouseRules, texts: Texts) -> list[Markup]:
    """Return all rules in groups, set as in these house rules; on a phone the script closes the groups."""
    groups = []
    for title, rows in rows_by_group(texts).items():
        count = texts("rules.on_of", on=sum(map(rules.has, rows)), all=len(rows))
        head = tag("summary", title, " ", tag("small", count))
        items = tag("ul", [_row(row, rules, texts) for row in rows])
        groups.append(tag("details", head, items, class_="rulegroup panel", open=True))
    return groups


def _row(row: str, rules: HouseRules, texts: Texts) -> Markup:
    on, kind = rules.has(row), kind_of(row)
    box = tag("input", type="checkbox", data_switch=row, checked=on)
    words = tag("span", tag("span", row_words(row, texts), class_="says"), " ", tag("b", row))
    switch = tag("label", box, words, class_="switch")
    value = None
    if kind:
        fields = _value_fields(row, kind, rules, texts)
        value = tag("div", fields, class_="value", data_value=row, data_kind=kind, hidden=not on and row != "S2")
    return tag("li", switch, value, id=row, data_row=row)


def _labelled(row: str, texts: Texts, label: str, control: Markup, after: str = "") -> Markup:
    """Return a field, labelled with its rule for screen readers."""
    return tag("label", tag("span", f"{row_words(row, texts)} {label}", class_="unseen"), control, after)


def _number(value: Any, low: int, high: int, part: str) -> Markup:
    return tag("input", type="number", min=low, max=high, step=1, value=value, required=True, data_part=part)


def _select(named: str, choices: tuple[Any, ...], value: Any, part: str, texts: Texts) -> Markup:
    options = []
    for choice in choices:
        said = json.dumps(choice)
        words = texts(f"value.{named}.{said.strip(_QUOTE)}")
        options.append(tag("option", words, value=said, selected=choice == value))
    return tag("select", options, data_part=part)


def _value_fields(row: str, kind: str, rules: HouseRules, texts: Texts) -> list[Child]:
    """Return the fields that set a rule's value of this kind."""
    value = rules.value(row)
    match kind:
        case "number":
            found = _NUMBER.fullmatch(ROWS[row].allowed)
            assert found is not None
            unit = texts(f"unit.{found[3].replace(' ', '_')}") if found[3] else ""
            return [_labelled(row, texts, unit, _number(value, int(found[1]), int(found[2]), "n"), f" {unit}")]
        case "chances":
            ranks = {"A": "ace", "K": "king", "Q": "queen", "J": "jack"}
            return [
                tag("label", texts(f"card.{name}"), " ", _number(value[rank], 1, 13, rank), class_="short")
                for rank, name in ranks.items()
            ]
        case "run":
            return _run_fields(row, rules.run(row), texts)
        case "seats":
            seats = ", ".join(map(str, value))
            field = tag("input", value=seats, pattern=r"\s*[1-8](\s*,\s*[1-8])*\s*", data_part="seats",
                        placeholder="2, 3", inputmode="numeric")  # fmt: skip
            return [tag("label", texts("unit.seats"), " ", field)]
        case "rank":
            options = [tag("option", texts("value.P14.drawn"), value="null")] + [
                tag("option", rank.replace("T", "10"), value=json.dumps(rank), selected=rank == value)
                for rank in "23456789T"
            ]
            return [_labelled(row, texts, "", tag("select", options, data_part="n"))]
        case "patterns":
            return _patterns_fields(value, texts)
        case "anticipation":
            limit = rules.anticipation
            return [
                _labelled(row, texts, "ms", _number(limit.ms, 1, 1000, "ms"), " ms"),
                _labelled(row, texts, "", _select(row, ("void", "false"), limit.outcome, "is", texts)),
            ]
        case "forehead":
            forehead, unit = rules.forehead, texts("unit.ms_after_the_reveal")
            return [
                _labelled(row, texts, unit, _number(forehead.ms, 1, 2000, "ms"), f" {unit}"),
                _labelled(row, texts, "", _select(row, FOREHEADS, forehead.who, "who", texts)),
            ]
        case "agreed_end":
            ((unit, number),) = value.items()
            return [
                _labelled(row, texts, "", _number(number, 1, max(MOST_AGREED.values()), "n")),
                _labelled(row, texts, "", _select(row, tuple(MOST_AGREED), unit, "unit", texts)),
            ]
    return [_labelled(row, texts, "", _select(row, choices_of(ROWS[row]), value, "n", texts))]


def _run_fields(row: str, run: Run, texts: Texts) -> list[Child]:
    length = _number(run.n, 3, 13, "n")
    ace = _select("run", ("both", "low", "high"), run.ace, "ace", texts)
    wrap = tag("input", type="checkbox", data_part="wrap", checked=run.wrap)
    return [
        _labelled(row, texts, "", length, f" {texts('unit.cards')}"), _labelled(row, texts, texts("card.ace"), ace),
        tag("label", wrap, " ", texts("value.run.wrap"), class_="switch"),
    ]  # fmt: skip


def _patterns_fields(value: Any, texts: Texts) -> list[Child]:
    lines = [_pattern_line(name, text, texts) for name, text in value.items()]
    add = tag("button", texts("rules.pattern_add"), type="button", class_="button", id="add-pattern")
    blank = tag("template", _pattern_line("", "", texts), id="pattern-line")
    return [tag("div", lines, id="patterns"), blank, add, tag("p", texts("rules.pattern_help"), class_="note")]


def _pattern_line(name: str, text: str, texts: Texts) -> Markup:
    """Return the line of one custom pattern: its name, and its definition."""
    own = tag("input", value=name, maxlength=40, data_part="name")
    what = tag(
        "input", value=text, maxlength=400, data_part="text", placeholder="rank(1) = rank(2)", spellcheck="false"
    )
    remove = tag("button", texts("rules.pattern_remove"), type="button", class_="button remove-pattern")
    labels = (
        tag("label", texts("rules.pattern_name"), own),
        tag("label", texts("rules.pattern_text"), what, class_="wide"),
    )
    return tag("div", labels, remove, class_="row pattern")


def catalogue() -> dict[str, Any]:
    """Return the script's data about rules: the presets, which rules exclude each other, and default values."""
    presets = {
        name: {
            "on": sorted(read_house_rules(name).on, key=list(ROWS).index),
            "set": thaw(preset.values),
            "options": preset.options,
        }
        for name, preset in PRESETS.items()
    }
    return {
        "presets": presets,
        "rivals": {row: sorted(rivals) for row, rivals in RIVALS.items()},
        "defaults": {row: thaw(entry.default) for row, entry in ROWS.items() if entry.check is not None},
        "names": {row: entry.name for row, entry in ROWS.items()},
    }


async def show_rules(site: Site, request: Request) -> HTMLResponse:
    """The editor, filled in with a preset."""
    texts, asked = page_texts(request), request.query_params.get("preset", "")
    preset = asked if asked in PRESETS else "classic"
    find = tag("label", texts("rules.find"), tag("input", type="search", id="find"), id="finding", hidden=True)
    none = tag("p", texts("rules.none_found"), id="none-found", role="status", class_="none", hidden=True)
    form = tag("div", find, none, row_fields(read_house_rules(preset), texts), id="form")
    area = tag(
        "textarea", "", id="toml", rows=24, spellcheck="false", autocapitalize="off", autocomplete="off", wrap="off",
        maxlength=8192, aria_label=texts("rules.text_label"), aria_describedby="mistakes",
    )  # fmt: skip
    gutter = tag("div", "1", id="gutter", aria_hidden="true")
    note = tag("p", texts("rules.comments"), class_="note")
    text = tag("div", tag("div", gutter, area, class_="code"), note, id="text", hidden=True)
    holder = tag(
        "div",
        said_to_scripts(texts, "rules.", "control.", "value.", "unit.", "preset.", "word."),
        tag("div", _head(preset, texts), _unusual(texts), form, text, class_="editor-main"),
        _found(texts),
        id="editor",
        class_="forms editor",
        data_catalogue=json.dumps(catalogue()),
        data_controlled=site.controlled,
        data_language=texts.language,
        data_asked=asked in PRESETS,
    )
    title = texts("rules.title")
    content = (tag("h1", title), tag("p", texts("rules.what"), class_="crumb"), answer_line(), holder)
    scripts = ("forms.js", "houserules.js", "rulefields.js", "rules.js")
    return page(request, title, *content, scripts=scripts, here="/rules")


def _head(preset: str, texts: Texts) -> Markup:
    options = [
        tag("option", f"{texts(f'preset.{name}')} ({name})", value=name, selected=name == preset) for name in PRESETS
    ]
    modes = [
        tag("button", texts(f"rules.{mode}"), type="button", class_="button", id=f"as-{mode}", aria_controls=mode,
            aria_pressed="true" if mode == "form" else "false")
        for mode in ("form", "text")
    ]  # fmt: skip
    return tag(
        "fieldset",
        tag("legend", texts("rules.begin_with")),
        tag("label", texts("rules.base"), tag("select", options, id="base")),
        tag("label", texts("rules.house_title"), tag("input", id="title", maxlength=80)),
        tag("div", modes, class_="row modes", role="group", aria_label=texts("rules.mode")),
        class_="head",
    )


def _unusual(texts: Texts) -> Markup:
    """Return the part for the differences from the usual preset, whatever these rules began with."""
    summary = tag("summary", texts("rules.unusual"), texts("word.colon"), tag("output", "", id="unusual-count"))
    return tag("details", summary, tag("div", "", id="unusual", class_="differing"), class_="panel")


def _found(texts: Texts) -> Markup:
    """Return the check's result, the differences from the preset, and the actions."""
    file = tag("input", type="file", accept=".toml,text/plain", id="file", class_="unseen")
    check = tag("div", tag("p", "", id="state", role="status"), tag("ul", "", id="mistakes"))
    buttons = tag(
        "div",
        tag("button", texts("rules.begin"), type="button", class_="button strong", id="begin", disabled=True),
        tag("button", texts("rules.download"), type="button", class_="button", id="download"),
        tag("label", texts("rules.open"), file, class_="button"),
        class_="row",
    )
    return tag(
        "aside",
        panel(texts("rules.check"), check, buttons, class_="panel check"),
        panel(texts("rules.differs"), tag("div", "", id="differs", class_="differing")),
        aria_label=texts("rules.check"),
        class_="found",
    )
