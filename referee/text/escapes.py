"""Escapes text that a terminal would obey or a spreadsheet would run, so that it is visible instead.

Names, ids and texts of a log come from anywhere. Terminal output goes through `escape_controls`, and table cells for a
spreadsheet through `quote_formula`.
"""

from __future__ import annotations

import re
from typing import Final

_OBEYED: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (C0, DEL, C1), line separators, and marks that change the direction of writing."""


def escape_controls(text: str, *, lines: bool = False) -> str:
    """Return the text with each of those characters as ``\\u009b``; in JSON that is still the same character.

    Args:
        text: from anywhere.
        lines: whether to keep line breaks, as CSV does.
    """
    if text.isprintable():
        # Fast path: nearly every line, and none of those characters is printable.
        return text
    if lines:
        return "\n".join(
            # A carriage return at the end of a line belongs to the line break.
            escape_controls(line.removesuffix("\r")) + "\r" * line.endswith("\r")
            for line in text.split("\n")
        )
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_FORMULA: Final = re.compile(r"[\s]*[=+\-@]|[\t\r]")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def quote_formula(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: with an apostrophe before it, which is not displayed."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
