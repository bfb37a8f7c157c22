"""The fate of an unread card: asked about, unless it was only another look at a read one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.eye.geometry import Quad
from models.watch import decision
from models.watch.motion import Glance
from models.watch.stream import SeenFrame
from models.watch.tracks import Pile, Sighting, Track
from referee.units import MS

CARD: Quad = np.array([[0, 0], [100, 0], [100, 140], [0, 140]], np.float32)


def card(came: int, dx: float = 0.0) -> Track:
    """Return a card that came up within a frame's time of an instant, ms."""
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


@pytest.mark.parametrize(("looks_under", "laid"), [(1, True), (2, False)])
def test_what_seemed_to_lie_on_the_pile_in_the_hand_is_not_laid_once_it_lies_under_its_whole_top(
    looks_under: int, laid: bool
) -> None:
    top, burned = card(0), card(1000, 30)
    pile = Pile(card_height=140.0)
    pile.lay(top, "Th")
    whole: dict[str, Any] = {"plain": True, "double": True}
    burned.add(Sighting(30, 1000 * MS, "Jc", 0.999, burned.quad, top=False, on_pile=True, under=False, **whole))
    for k in range(looks_under):
        t = (1400 + 100 * k) * MS
        burned.add(Sighting(40 + k, t, "Jc", 0.999, burned.quad, top=False, on_pile=False, under=True))
        top.add(Sighting(40 + k, t, "Th", 0.999, top.quad, top=True, on_pile=False, under=False, **whole))
    pile.open.append(burned)
    assert decision._laid_after_all(burned, pile) == laid


@pytest.mark.parametrize(("looks", "waits"), [
    ([("under", {}), ("on", {}), ("on", {})], True),
    ([("under", {}), ("on", {}), ("on", {"top": True})], False),
    ([("under", {}), ("on", {"double": True})], False),
    ([("under", {}), ("on", {"bare": 0.9})], False),
    ([("on", {}), ("on", {})], False),
])  # fmt: skip
def test_a_card_seen_under_the_pile_waits_until_it_shows_clearly_on_it(
    looks: list[tuple[str, dict[str, Any]]], waits: bool
) -> None:
    slid = card(1000, 30)
    for k, (where, clear) in enumerate(looks):
        given = {"top": False, "bare": 0.01} | clear
        t = (1100 + 100 * k) * MS
        slid.add(Sighting(30 + k, t, "Jc", 0.999, slid.quad, on_pile=where == "on", under=where == "under", **given))
    assert decision._waits_below(slid) == waits


def test_a_hand_that_hides_the_top_card_does_not_make_a_card_slid_under_it_a_laid_one() -> None:
    top, slid = card(0), card(1000, 30)
    pile = Pile(card_height=140.0)
    pile.lay(top, "5c")
    slid.add(Sighting(30, 1000 * MS, "Jc", 0.99, slid.quad, top=False, on_pile=False, under=True, bare=0.01))
    for k in (1, 2):
        t = (1000 + 100 * k) * MS
        slid.add(Sighting(30 + k, t, "Jc", 0.999, slid.quad, top=False, on_pile=True, under=False, bare=0.01))
    pile.open.append(slid)
    now = SeenFrame(32, 1200 * MS, 1200 * MS, None, None, Glance(1200 * MS, *(np.zeros((4, 4), np.uint8),) * 4))
    assert slid.still and not decision.is_laid(slid, pile, now, over=False)


@pytest.mark.parametrize("below", [True, False])
def test_what_lay_on_top_while_another_showed_below_is_not_that_card(below: bool) -> None:
    lower, upper = card(1000), card(1100, 10)
    upper.add(Sighting(34, 1133 * MS, "??", 0.2, upper.quad, top=True, on_pile=True, under=False))
    lower.add(Sighting(34, 1133 * MS, "4h", 0.95, lower.quad, top=not below, on_pile=True, under=False))
    pile = Pile()
    pile.lay(lower, "4h")
    assert decision._seen_above(upper, lower) == below
    assert decision._another_look(upper, pile) != below
