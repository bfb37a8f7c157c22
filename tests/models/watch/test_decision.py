"""The fate of an unread card: asked about, unless it was only another look at a read one."""

from __future__ import annotations

import re
from random import Random
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
    (1000, 35, True),
    (1000, 50, False),
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


def followed(looks: str) -> tuple[Track, Pile, SeenFrame]:
    """Return a card under way after looks of 30 ms each, a pile with one card, and the newest frame.

    ``o`` over the pile, ``u`` under it, ``b`` beside it, ``-`` not found, ``.`` 100 ms without a look; a capital:
    uncovered; ``'``: it has moved before; ``*``: seen whole beyond doubt.
    """
    pile = Pile(card_height=140.0)
    pile.lay(card(0), "5c")
    slid, dx, t = card(1000, 30), 30, 1000
    for place, marks in re.findall(r"([a-zA-Z.-])(['*]*)", looks):
        t += 100 if place == "." else 30
        dx += 60 * marks.count("'")
        slid.missed = place == "-"
        if place not in "-.":
            clear: dict[str, Any] = {"plain": True, "double": True} if "*" in marks else {}
            on, under, top = place in "oO", place in "uU", place.isupper()
            quad = CARD + np.array([dx, 0], np.float32)
            slid.add(
                Sighting(t // 10, t * MS, "Jc", 0.95, quad, top=top, on_pile=on, under=under, bare=float(top), **clear)
            )
    pile.open.append(slid)
    return (
        slid,
        pile,
        SeenFrame(t // 10, t * MS, t * MS, None, None, Glance(t * MS, *(np.zeros((4, 4), np.uint8),) * 4)),
    )


LAID = {
    # Over the pile: often enough, or at rest.
    "bo": False, "o'.o'": False, "o'..o'": True,
    "o": False, "oo": True, "o'o'": False, "o'o'o'": True, "oO": True, "O": False, "O'o'": False,
    # Over it and under it by turns, as a hand hides the ends of both.
    "uO'o'o'": True, "uu'O'o'o'": True, "u'O'u'O'o'": False, "u'O'u'O'o'o'": True, "uuO": False,
    "u'o'u'O'O'O'O'": True, "u'O'O'O'O'u'O'": True, "uO": False,
    # Beside it.
    "B*B*B*": True, "B*B*": False, "b*b*b*": False, "B*B'*B*": False, "B*B*B": False,
    "BBB": False, "BBBB": True, "bbbb": False,
    # Not found any more.
    "o'o'-": False, "B*-": False,
    # Seen whole over the pile.
    "o*": False, "o*o": True, "o*o'": False, "o*o'*": True,
}  # fmt: skip


@pytest.mark.parametrize(("looks", "laid"), LAID.items())
def test_looks_enough_to_be_laid_are_neither_fewer_nor_more(looks: str, laid: bool) -> None:
    assert decision.is_laid(*followed(looks), over=False) == laid


def named(*confidences: float, **what: Any) -> bool:
    """Return whether a card is named at once after looks of these confidences; ``moving``: it moves between them."""
    seen = card(1000)
    step = 60 if what.pop("moving", False) else 0
    for k, confidence in enumerate(confidences):
        quad = CARD + np.array([step * k, 0], np.float32)
        seen.add(Sighting(k, k * 100 * MS, "Jc", confidence, quad, top=True, on_pile=True, under=False, **what))
    return decision.named_at_once(seen)


def test_a_name_needs_two_sure_looks_at_rest_and_three_in_motion() -> None:
    assert not named(0.999)
    assert named(0.999, 0.999) and not named(0.999, 0.999, moving=True)
    assert not named(0.915, 0.915, 0.915), "the third adds a quarter of its weight"
    assert named(0.999, 0.999, 0.999, moving=True) and named(0.999, 0.999, moving=True, double=True)
    assert not named(0.945, 0.945) and named(0.949, 0.949), "their weight together"
    assert not named(0.93, 0.93, 0.89) and named(0.93, 0.93, 0.93), "a third look counts only if it is sure"


def test_one_look_in_motion_by_two_indices_does_not_make_two_enough() -> None:
    seen = card(1000)
    for k, double in enumerate((True, False)):
        quad = CARD + np.array([60 * k, 0], np.float32)
        seen.add(Sighting(k, k, "Jc", 0.999, quad, top=True, on_pile=True, under=False, double=double))
    assert not decision.named_at_once(seen)


def test_an_eye_that_slips_names_three_cards_of_four_at_once_and_none_wrongly() -> None:
    """Every seventh look finds no card, or another, as in a stretch with `tests.models.eye.truth`."""
    needed = []
    for seed in range(400):
        chance = Random(seed)
        seen = card(1000)
        for k in range(20):
            roll = chance.random()
            if roll < 0.075:
                continue
            slips = roll < 0.15
            name = chance.choice("23456789TQKA") + chance.choice("shd") if slips else "Jc"
            sure = chance.uniform(0.4, 0.93) if slips else 0.97
            quad = CARD + np.array([60 * max(0, 3 - k), 0], np.float32)
            seen.add(Sighting(k, k * 67 * MS, name, sure, quad, top=True, on_pile=True, under=False))
            if decision.named_at_once(seen):
                assert seen.belief()[0] == "Jc", seed
                needed.append(k + 1)
                break
    assert 285 <= len(needed) <= 300, "the others are named later, when no more will be seen of them"
    assert max(needed) <= 5
