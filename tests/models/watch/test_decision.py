"""What becomes of a card that was not read: asked about, unless it was only another look at one that was."""

from __future__ import annotations

import numpy as np
import pytest

from models.eye.geometry import Quad
from models.watch import decision
from models.watch.tracks import Pile, Track
from referee.units import MS

CARD: Quad = np.array([[0, 0], [100, 0], [100, 140], [0, 140]], np.float32)


def card(came: int, dx: float = 0.0) -> Track:
    """A card that came up within a frame's time of an instant, ms."""
    quad = CARD + np.array([dx, 0], np.float32)
    return Track(quad, 0, low=(came - 33) * MS, high=(came + 33) * MS, rest=quad)


@pytest.mark.parametrize(("came", "dx", "same"), [
    (1000, 10, True),
    (1200, 10, True),
    (800, 10, True),
    (1000, 80, False),
    (1400, 10, False),
    (600, 10, False),
])  # fmt: skip
def test_an_unread_card_is_another_look_only_at_one_that_came_just_then_and_there(
    came: int, dx: float, same: bool
) -> None:
    pile = Pile()
    pile.lay(card(came, dx), "7h")
    assert decision._another_look(card(1000), pile) == same
