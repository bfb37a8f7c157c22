"""Power cuts and kills of a running demo: no announced ruling is lost, and the game goes on where it stood."""

from __future__ import annotations

import pytest

from tests.powercut.cuts import kills, power_cuts
from tests.powercut.mount import NoFuse

EACH = 20


def test_power_cuts_lose_nothing_that_was_announced() -> None:
    try:
        tally = power_cuts(EACH)
    except NoFuse as error:
        pytest.skip(f"no filesystem that forgets: {error}")
    assert (tally.cuts, tally.well) == (EACH, True), tally.words
    assert tally.announced > EACH
    assert len(tally.where) > 3, "the cuts fell in many places"


def test_kills_lose_nothing_that_was_announced() -> None:
    tally = kills(EACH)
    assert (tally.cuts, tally.well) == (EACH, True), tally.words
    assert tally.announced > EACH


def test_the_cuts_find_out_who_announces_before_committing() -> None:
    assert kills(EACH, careless=True).lost > 0
