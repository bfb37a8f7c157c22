"""Calibrating the camera and the pads: find, measure, grade, store."""

from __future__ import annotations

import sys


def say(words: str) -> None:
    """Tell the people at the table something; standard output is for what was measured."""
    print(words, file=sys.stderr, flush=True)
