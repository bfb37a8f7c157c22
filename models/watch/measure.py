"""How much is little, a part, most: the few levels, lengths and shares that the watcher goes by, beside its `pace`.

None is as sharp as its number. What is alike at a table goes by one number, so that there is less to have set wrongly;
docs/vision.md says where each serves.
"""

from __future__ import annotations

from typing import Final

CHANGED: Final = 12
"""Grey levels by which a reduced pixel is another than it was; a sensor's noise is less."""
DARK: Final = 24
"""Mean grey level under which nothing can be seen."""
SPECK: Final = 4
"""Reduced pixels that are there, or are missing, by chance: in a row or in all."""

FEW: Final = 3
"""Frames, looks or cards that are a few."""

SLIGHT: Final = 0.1
"""Share that makes no difference: of a card's height, a finger's breadth; of paper's light, a faint shade."""
INDEX: Final = 0.25
"""Share of a card's width and height that its index takes up; a card of which no more is seen has no surer place."""
STRIDE: Final = 1.1
"""Card heights that a card on its way moves from one frame to the next, at most."""

LITTLE: Final = 0.03
"""Share that is as good as none: of an arm that stirs, of the light that a lamp or a shadow changes."""
OVER: Final = 0.12
"""Share of a card that must lie over others for it to lie on them; of an arm at rest, that another's hand may cover."""
PART: Final = 0.25
"""Share of the picture, of a row or of an arm that is more than some things upon it."""
HALF: Final = 0.5
"""Share or probability from which on something is rather so than not."""
MOST: Final = 0.7
"""Share from which on something is so by and large: two looks are alike, two outlines one."""
NEARLY_ALL: Final = 0.85
"""Share of a place, of a way or of a likeness that is as good as all of it."""
DIMMEST: Final = 0.4
"""Share of its light that a table keeps at least when a lamp changes."""
