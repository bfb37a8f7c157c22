"""Thresholds for how much is little, part or most: the watcher's few levels, lengths and shares, beside its `pace`.

No result hinges on the exact figures. Similar quantities share one constant, so that fewer can be set wrongly.
"""

from __future__ import annotations

from typing import Final

CHANGED: Final = 12
"""Difference in grey levels at which a reduced pixel counts as changed; a sensor's noise is less."""
DARK: Final = 24
"""Mean grey level below which nothing can be seen."""
SPECK: Final = 4
"""Number of reduced pixels, in a row or in all, that may be present or missing by chance."""

FEW: Final = 3
"""Number of frames, looks or cards that counts as a few."""

SLIGHT: Final = 0.1
"""Negligible share: of a card's height, a finger's breadth; of the paper's brightness, a faint shade."""
INDEX: Final = 0.25
"""Share of a card's width and height that its index takes up; a card showing no more has no more precise place."""
STRIDE: Final = 1.1
"""Greatest distance, in card heights, that a card moves between two frames."""

LITTLE: Final = 0.03
"""Share that counts as none: of an arm that stirs, of the light that a lamp or a shadow changes."""
OVER: Final = 0.12
"""Share of a card that must overlap others for it to lie on them; of a resting arm, that another hand may cover."""
PART: Final = 0.25
"""Share of the picture, a row or an arm that is more than a few small things on it."""
HALF: Final = 0.5
"""Share or probability above which a statement is more likely true than not."""
MOST: Final = 0.7
"""Share above which a statement largely holds: two looks are alike, two outlines coincide."""
NEARLY_ALL: Final = 0.85
"""Share of a place, a way or a likeness that counts as all of it."""
LEARNED: Final = 0.2
"""Weight of the newest example in a running mean."""
DIMMEST: Final = 0.4
"""Least share of its light that a table keeps when a lamp changes."""
