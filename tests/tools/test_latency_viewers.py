"""The statistics of `make latency VIEWERS=40`."""

from __future__ import annotations

import numpy as np

from tools.measure.latency_viewers import Block, Difference, difference, report


def blocks(later: float, seed: int = 1, slow: float = 0.0) -> list[Block]:
    """Return eight blocks of 60 lights; those with viewers later, ms, on a machine that slows from block to block."""
    chance, out = np.random.default_rng(seed), []
    for number in range(8):
        block = Block(watched=number % 2 == 1, began=0)
        drawn = 0.5 + 0.1 * chance.random(60) + slow * number + later * block.watched
        block.out.light = block.out.decided = block.out.verdict = block.out.control = [float(value) for value in drawn]
        out.append(block)
    return out


def test_what_is_the_same_is_unmoved() -> None:
    lines, good = report(blocks(0.0), with_sound=False)
    assert good
    assert not any("MOVED" in line or "unclear" in line for line in lines)


def test_what_comes_later_by_less_than_matters_is_unmoved() -> None:
    """However certain the delay is."""
    found = difference([b.out.light for b in blocks(0.2)[::2]], [b.out.light for b in blocks(0.2)[1::2]], 0.99)
    assert found.low > 0
    assert found.low < found.by < found.high
    assert found.verdict(matters=0.5) == "unmoved"
    assert found.verdict(matters=0.05) == "MOVED"


def test_what_is_moved_for_certain_is_told_though_every_target_is_kept() -> None:
    lines, good = report(blocks(2.0), with_sound=False)
    assert not good
    assert any("p99 later by +2.0" in line and line.endswith("MOVED") for line in lines)


def test_a_target_that_is_missed_with_viewers_is_told_though_nothing_moved() -> None:
    late = blocks(0.0)
    for block in late:
        block.out.light = [value + 10 for value in block.out.light]
    lines, good = report(late, with_sound=False)
    assert not good
    assert any("MISSED" in line for line in lines)


def test_blocks_in_turns_cancel_a_machine_that_slows_down() -> None:
    """Half a step is all that is left of it, not the whole way from the first block to the last."""
    drifting = blocks(0.0, slow=0.02)
    found = difference([b.out.light for b in drifting[::2]], [b.out.light for b in drifting[1::2]], 0.5)
    assert abs(found.by) < 0.05


def test_too_few_slaps_are_unclear() -> None:
    assert Difference(0.99, 0.6, 0.1, 3.0).verdict(matters=0.5) == "unclear"
