"""The editor of house rules: a preset to begin with, every row in words, and the same as text.

Its script does the rest. Whoever is in the network may look at it and write; the text is checked by a request that only
paired devices may make.
"""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.app.page.controlpage import answer_line, said_to_scripts
from referee.app.page.markup import Markup, tag
from referee.app.page.rowforms import row_fields
from referee.app.page.shell import page, spoken
from referee.app.page.site import Site
from referee.app.page.texts import Texts
from referee.rules.catalogue import RIVALS, ROWS
from referee.rules.house import house_rules
from referee.rules.presets import PRESETS

SCRIPTS: Final = ("words.js", "make.js", "asking.js", "houserules.js", "rulefields.js", "rules.js")
WORDS: Final = ("rules.", "control.", "value.", "unit.", "preset.", "word.")
"""Beginnings of the keys of what its scripts say."""


def catalogue() -> dict[str, Any]:
    """What the script must know of the rows: the presets, which rows exclude each other, and values that none sets."""
    return {
        "presets": {
            name: {"on": sorted(house_rules(name).on, key=list(ROWS).index), "set": dict(preset.values)}
            for name, preset in PRESETS.items()
        },
        "rivals": {row: sorted(rivals) for row, rivals in RIVALS.items()},
        "defaults": {row: entry.default for row, entry in ROWS.items() if entry.check is not None},
        "names": {row: entry.name for row, entry in ROWS.items()},
    }


async def rules(site: Site, request: Request) -> HTMLResponse:
    """The editor, filled in with a preset."""
    texts = spoken(request)
    asked = request.query_params.get("preset", "")
    preset = asked if asked in PRESETS else "classic"
    holder = tag(
        "div",
        said_to_scripts(texts, *WORDS),
        tag("div", _head(preset, texts), _rows(preset, texts), _text(texts), class_="editor-main"),
        _found(texts),
        id="editor",
        class_="forms editor",
        data_catalogue=json.dumps(catalogue()),
        data_controlled=site.controlled,
        data_language=texts.language,
        data_asked=asked in PRESETS,
    )
    return page(
        request,
        texts("rules.title"),
        tag("h1", texts("rules.title")),
        tag("p", texts("rules.what"), class_="crumb"),
        answer_line(),
        holder,
        scripts=SCRIPTS,
        here="/rules",
    )


def _head(preset: str, texts: Texts) -> Markup:
    options = [
        tag("option", f"{name}: {texts(f'preset.{name}')}", value=name, selected=name == preset) for name in PRESETS
    ]
    modes = [
        tag("button", texts(f"rules.{mode}"), type="button", class_="button", id=f"as-{mode}", aria_controls=f"{mode}",
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


def _rows(preset: str, texts: Texts) -> Markup:
    return tag("div", row_fields(house_rules(preset), texts), id="form")


def _text(texts: Texts) -> Markup:
    area = tag(
        "textarea", "", id="toml", rows=24, spellcheck="false", autocapitalize="off", autocomplete="off", wrap="off",
        maxlength=8192, aria_label=texts("rules.text_label"), aria_describedby="mistakes",
    )  # fmt: skip
    gutter = tag("div", "1", id="gutter", aria_hidden="true")
    note = tag("p", texts("rules.comments"), class_="note")
    return tag("div", tag("div", gutter, area, class_="code"), note, id="text", hidden=True)


def _found(texts: Texts) -> Markup:
    """What the check says, what differs, and what can be done with it."""
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
        tag("section", tag("h2", texts("rules.check")), check, buttons, class_="panel check"),
        tag("section", tag("h2", texts("rules.differs")), tag("div", "", id="differs"), class_="panel"),
        aria_label=texts("rules.check"),
        class_="found",
    )
