"""What a terminal would obey and a spreadsheet would run, written so that it can be seen instead.

Names, ids and texts of a log come from anywhere. Whatever of them goes to a terminal goes through `escape_controls`,
and whatever goes into a table for a spreadsheet through `quote_formula`.
"""

from __future__ import annotations

import re
from typing import Final

_OBEYED: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (C0, DEL, C1), line separators, and what turns the direction of writing."""


def escape_controls(text: str, *, lines: bool = False) -> str:
    """The text with each of those characters as ``\\u009b``; in JSON that is the same character still.

    Args:
        text: from anywhere.
        lines: whether line breaks are the text's own, and stay, as CSV has them too.
    """
    if text.isprintable():
        # Nearly every line; and none of those characters is printable.
        return text
    if lines:
        return "\n".join(
            escape_controls(line.removesuffix("\r")) + "\r" * line.endswith("\r") for line in text.split("\n")
        )
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_FORMULA: Final = re.compile(r"[\s]*[=+\-@]|[\t\r]")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def quote_formula(cell: object) -> object:
    """A cell of a table as no spreadsheet takes it for a formula: with an apostrophe before it, which is not shown."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
