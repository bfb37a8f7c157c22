"""How quickly hands act at a table: the few time spans on which the watcher relies.

They belong to people, not to the camera: measured by eye on hands that lay up to four cards a second, and equal to
those that drive the second world's hands (`tools/second_world/gestures.py`).
"""

from __future__ import annotations

from typing import Final

from referee.units import MS, SECOND

TURNED_NS: Final = 60 * MS
"""Time after which a face that shows is no longer too steep to read."""
LET_GO_NS: Final = 130 * MS
"""Time between a card's reveal and its release: meanwhile the arm that brought it is in sight, and any other card
revealed is in the same hand."""
LAID_NS: Final = 200 * MS
"""Time from the first sight of a face until its card lies; no other card can lie there sooner."""
QUICKEST_LAY_NS: Final = 300 * MS
"""Shortest time from one player's card to the next player's (four cards a second, plus a little for the turn to pass):
a shorter gap in sight hides at most one card, and that card is on top."""
HAND_NS: Final = 400 * MS
"""Longest time that a hand stays over the pile to lay, slap or slide a card under it."""
SWEEP_NS: Final = 700 * MS
"""Time from a hand's coming down on a pile until the pile is out of sight."""
PATIENCE_NS: Final = SECOND
"""Longest time that an undecided matter may hold up others; an object still for this long stays."""
LONG_AGO: Final = -(2**62)
"""An instant before every frame, ns."""
