"""A ruling's explanation as HTML: the rule in words, the pile then, the instants around it, what else was looked at.

Why something did or did not hold is said by the core in English, and marked as such.
"""

from __future__ import annotations

import re
from typing import Final

from referee.adjudication.explanation import Considered, Explanation, Moment
from referee.app.page.cardviews import card
from referee.app.page.folding import Folded
from referee.app.page.markup import Child, Markup, tag
from referee.app.page.rulingwords import RulingWords
from referee.app.rulewords import sentence
from referee.rules.catalogue import ROWS
from referee.rules.house import house_rules

_SEAT: Final = re.compile(r"\bseat (\d)\b")


def explained(explanation: Explanation, folded: Folded, words: RulingWords) -> Markup:
    """The sections of an explanation."""
    texts = words.texts
    parts: list[Child] = [
        tag("section", tag("h2", texts("finish.rule")), rules(explanation, folded, words), class_="panel rules")
    ]
    if explanation.pile:
        cards = [card(laid.card, texts, class_=laid.state) for laid in explanation.pile]
        pile = tag("div", cards, class_="cards wrap")
        parts.append(tag("section", tag("h2", texts("finish.pile_then")), pile, class_="panel"))
    if explanation.considered:
        items = [_considered(one, words) for one in explanation.considered]
        head = tag("h2", texts("finish.considered"))
        parts.append(tag("section", head, tag("ul", items, class_="considered"), class_="panel"))
    if explanation.moments:
        because = frozenset(explanation.ruling.because)
        rows = [_moment(one, one.id in because, words) for one in explanation.moments]
        table = tag("table", tag("tbody", rows))
        scroll = tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=texts("finish.moments"))
        parts.append(tag("section", tag("h2", texts("finish.moments")), scroll, class_="panel"))
    return Markup("".join(str(part) for part in parts))


def rules(explanation: Explanation, folded: Folded, words: RulingWords) -> Markup:
    """Each row that the ruling rests on, in plain words."""
    on = house_rules(folded.table.rules)
    items = []
    for row in explanation.ruling.rule:
        if row not in ROWS:
            continue
        own = words.texts.get(f"rule.{row}", "")
        lang = None if own or words.texts.language == "en" else "en"
        items.append(tag("li", tag("b", row), " ", tag("span", own or sentence(row, on), lang=lang)))
    return tag("ul", items, class_="rows")


def _considered(one: Considered, words: RulingWords) -> Markup:
    texts = words.texts
    row, _, own = one.row.partition(":")
    name = own or texts.get(f"pattern.{row}", "") or (ROWS[row].name if row in ROWS else "")
    which = f"{name} ({row})" if name else row
    if row.startswith("P"):
        which = texts("finish.held" if one.held else "finish.failed", which=which)
    why = _SEAT.sub(lambda found: words.name(int(found.group(1))), one.why)
    return tag(
        "li", tag("b", which), " ", tag("span", why, lang=None if texts.language == "en" else "en"),
        class_="yes" if one.held else "no",
    )  # fmt: skip


def _moment(moment: Moment, rests: bool, words: RulingWords) -> Markup:
    texts = words.texts
    error = f"± {texts.ms(moment.error)}" if moment.error else ""
    what = texts.get(f"moment.{moment.kind}", moment.kind)
    return tag(
        "tr",
        tag("td", texts.ms(moment.offset, 1, sign=True)),
        tag("td", error),
        tag("td", what),
        tag("td", words.name(moment.seat) if moment.seat is not None else ""),
        tag("td", card(moment.card, texts) if moment.card else ""),
        tag("td", tag("code", moment.id)),
        tag("td", texts("finish.rests") if rests else ""),
        class_="rests" if rests else None,
    )
