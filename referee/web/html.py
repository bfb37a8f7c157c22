"""HTML and SVG as Python calls: everything that is not markup already is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, TypeAlias

_VOID: Final = frozenset(("meta", "link", "input", "img", "br", "hr"))


class Markup(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()

    def __add__(self, other: str) -> Markup:
        """Markup after markup; what is none is escaped."""
        return Markup(super().__add__(join(other)))


Child: TypeAlias = "str | int | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """One element. An attribute ``aria_label`` is written ``aria-label``, ``class_`` is ``class``; None is left out."""
    head = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{head}>")
    return Markup(f"<{head}>{join(children)}</{name}>")


def panel(title: str, *children: Child, class_: str = "panel") -> Markup:
    """A section with a heading."""
    return tag("section", tag("h2", title), children, class_=class_)


def button_link(text: str, href: str, *, strong: bool = False, **attributes: Attribute) -> Markup:
    """A link that looks like a button."""
    return tag("a", text, href=href, class_="button strong" if strong else "button", **attributes)


def data_table(
    heads: Sequence[Child], rows: Sequence[Markup], label: str, *, class_: str | None = None, around: str = "scroll"
) -> Markup:
    """A table that scrolls sideways where the screen is narrow, also by keyboard.

    Args:
        heads: of the columns; none for a table without a head.
        rows: each a ``tr``.
        label: says what it holds to those who do not see it.
        class_: of the table.
        around: classes of what scrolls.
    """
    head = tag("thead", tag("tr", [tag("th", one, scope="col") if one else tag("td", "") for one in heads]))
    table = tag("table", head if heads else None, tag("tbody", rows), class_=class_)
    return tag("div", table, class_=around, tabindex=0, role="region", aria_label=label)


def join(children: Child) -> Markup:
    """Children one after another."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(children))
    if isinstance(children, int):
        return Markup(children)
    return Markup("".join(join(child) for child in children))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
