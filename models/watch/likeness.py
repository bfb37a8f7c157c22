"""Whether a place in the picture looks as it did in another frame, judged by correlation.

What is printed on them is all that tells one white card from another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.eye.geometry import Quad, centre_of, convex_quad, grown
from models.watch.motion import PAPER_STEP
from models.watch.pixels import Bytes

ALIKE: Final = 0.75
"""Correlation of two looks at the same card at rest, a finger or two over it; other cards correlate less."""
INDEX_WIDE: Final = 0.22
INDEX_TALL: Final = 0.3
"""Part of a card's width and height that its index takes up in the corner."""
INDEX_ALIKE: Final = 0.85
"""Correlation of an index with itself in another frame; other prints correlate less."""


def lay_alike(quad: Quad, then: Bytes | None, now: Bytes | None) -> bool:
    """Whether a card's place looked then as it does now, in half pictures: it lay there already."""
    if then is None or now is None:
        return False
    return _alike(then, now, grown(quad, -5.0), ALIKE)


def shown_before(quad: Quad, then: Bytes | None, now: Bytes | None, known: Sequence[Quad]) -> bool:
    """Whether an index of this card showed in the same place then, on one of the cards known to lie there.

    A hand on the pile hides parts of cards, and what is left of one may pass for another: what showed before the hand
    came is an old card, misread.
    """
    if then is None or now is None:
        return False
    right, down = (quad[1] - quad[0]) * INDEX_WIDE, (quad[3] - quad[0]) * INDEX_TALL
    corners = [quad[0] + np.stack([0 * right, right, right + down, down])]
    corners.append(quad[2] - np.stack([0 * right, right, right + down, down]))
    # Bare cloth looks like itself, too: only where a card lay may an index have shown.
    corners = [c for c in corners if any(cv2.pointPolygonTest(k, centre_of(c), False) >= 0 for k in known)]
    return any(_alike(then, now, grown(convex_quad(c), -3.0), INDEX_ALIKE) for c in corners)


def _alike(then: Bytes, now: Bytes, quad: Quad, least: float) -> bool:
    """Whether two half pictures look alike within a quad (px of the whole picture): their greens correlate."""
    inner = quad / PAPER_STEP
    x0, y0 = np.maximum(inner.min(0).astype(int), 0)
    x1, y1 = inner.max(0).astype(int) + 1
    views = [half[y0:y1, x0:x1, 1] for half in (then, now)]
    if views[0].shape != views[1].shape or min(views[0].shape) < 3:
        return False
    mask = np.zeros(views[0].shape, np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner - (x0, y0)).astype(np.int32), 1)
    inside = mask > 0
    one, two = (view[inside].astype(np.float32) for view in views)
    if len(one) < 50:
        return False
    one -= one.mean()
    two -= two.mean()
    return float((one * two).sum()) > least * float(np.linalg.norm(one) * np.linalg.norm(two)) + 1e-6
