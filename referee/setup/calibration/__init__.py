"""Calibrating the camera and the pads: find, measure, grade, store."""

from __future__ import annotations

import sys

from referee.text.terminal_language import translate


def tell(words: str, /, **fields: object) -> None:
    """Print a message for the people at the table on standard error; standard output is for measurements."""
    print(translate(words, **fields), file=sys.stderr, flush=True)
