"""Playing cards as HTML: a rank in writing, a suit drawn, a name for those who hear the page."""

from __future__ import annotations

from collections.abc import Iterable

from referee.app.page.markup import Markup, tag
from referee.app.page.suits import path
from referee.app.page.texts import Texts

_WORDS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack"}
_SUITS = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}


def spoken(card: str, texts: Texts) -> str:
    """A card in words: ``ten of hearts``."""
    if card == "??":
        return texts("card.unread")
    rank, suit = card[0], card[1]
    if rank == "X":
        return texts("control.joker_red" if suit == "r" else "control.joker_black")
    said = texts(f"card.{_WORDS[rank]}") if rank in _WORDS else rank.replace("T", "10")
    return texts("card.of", rank=said, suit=texts(f"control.{_SUITS[suit]}"))


def card(name: str, texts: Texts, *, key: str | None = None, class_: str = "") -> Markup:
    """A card face."""
    if name == "??":
        return tag(
            "span", tag("span", "?", class_="rank"), class_=f"card back {class_}".strip(), role="img",
            aria_label=spoken(name, texts), data_key=key,
        )  # fmt: skip
    rank = {"T": "10", "X": ""}.get(name[0], name[0])
    colour = "red" if name[1] in "hdr" else "black"
    drawn = tag(
        "svg", tag("path", d=path(name[1])), viewBox="0 0 100 100", aria_hidden="true", class_="suit", focusable="false"
    )
    return tag(
        "span", tag("span", rank, class_="rank", aria_hidden="true"), drawn, role="img",
        aria_label=spoken(name, texts), class_=f"card {colour} {class_}".strip(), data_key=key,
    )  # fmt: skip


def row(names: Iterable[str], texts: Texts) -> Markup:
    """Cards side by side."""
    return tag("span", [card(name, texts) for name in names], class_="cards")
