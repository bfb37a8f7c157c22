"""Calibrating the camera and the pads: find, measure, grade, store."""

from __future__ import annotations

import sys

from referee.text.terminal_language import say


def tell(words: str, /, **fields: object) -> None:
    """Tell the people at the table something, as `say` has it; standard output is for what was measured."""
    print(say(words, **fields), file=sys.stderr, flush=True)
