"""HTML and SVG as Python calls: everything that is not markup already is escaped."""

from __future__ import annotations

from collections.abc import Iterable
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
