"""How quickly hands do things at a table: the few spans of time that everything in the watcher goes by.

They are people's, not the camera's: measured by eye on hands that lay up to four cards a second, and the same as the
second world's hands are made by (`tools/second_world/gestures.py`).
"""

from __future__ import annotations

from typing import Final

from referee.units import MS, SECOND

TURNED_NS: Final = 60 * MS
"""A face that has shown for so long is no longer too steep to be read."""
LET_GO_NS: Final = 130 * MS
"""From a card's face coming up to its being let go: meanwhile the arm that brought it is in sight, and what else comes
up is in the same hand."""
LAID_NS: Final = 200 * MS
"""From the first sight of a face until its card lies; no other card comes to lie there sooner."""
QUICKEST_LAY_NS: Final = 300 * MS
"""From one player's card to the next one's at the quickest (four cards a second, and a little for the turn to pass):
in a shorter stretch without sight at most one card comes, and that one lies on top."""
HAND_NS: Final = 400 * MS
"""How long a hand stays over the pile that lays, slaps or slides something under it; a longer stay is none of these."""
SWEEP_NS: Final = 700 * MS
"""From a hand's coming down on a pile to the pile's being out of sight."""
PATIENCE_NS: Final = SECOND
"""Longest that anything undecided may hold others up; what has been still for so long stays."""
