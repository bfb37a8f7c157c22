"""The first hand: pairs, eight at once, chatter and short pulses, from the kernel to the slap."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Sequence

from hardware.pads.debounce import BOUNCE
from tests.vm.chip import SimulatedChip
from tests.vm.hands import Move
from tests.vm.rig import MS, Rig, Story
from tests.vm.rounds import BETWEEN, SEATS, Round, bounce_rounds, eight_rounds, neighbour_rounds, pair_rounds
from tests.vm.table import Row
from tests.vm.told import Count, as_intended, count, lateness, promises, queueing, shift, spread, told_apart

LEAST = 200
"""Minimum number of pairs made as intended."""
TRIES = 4
SHORT = 3 * MS // 2
WIDTHS = (0, MS // 10, MS // 2, MS, 3 * MS, 10 * MS)


def play(rig: Rig, rounds: Sequence[Round], longest: int | None = None) -> tuple[Story, Count]:
    """Play all rounds in one go, and repeat those that the machine drew out."""
    rig.start()
    todo, made = list(rounds), list[Round]()
    for _ in range(TRIES):
        rig.play([move for turn in todo for move in turn.moves])
        made += todo
        last = list(told_apart(rig.story, made))[len(made) - len(todo) :]
        todo = [turn for turn, moves in last if not as_intended(rig.story, moves, longest)]
        if not todo:
            break
    rig.close()
    return rig.story, count(rig.story, made, longest)


def pairs(chip: SimulatedChip, gaps: Sequence[int], most: int | None = None) -> list[Row]:
    """Return pairs at these gaps (ns); at most a number of them drawn by chance, or all."""
    rig = Rig(chip)
    rounds = pair_rounds(gaps, random.Random(1))[:most]
    story, told = play(rig, rounds)
    off, compared = shift(rig, story)
    stamps = [slap.t for slap in story.slaps]
    brackets = [move for move in story.moves if move.closed]
    outside = sum(not any(move.before <= t for move in brackets) for t in stamps)
    least = 0 if most is not None else LEAST
    what = f"pairs {'/'.join(str(gap // MS) for gap in gaps)} ms apart: wrong or missing"
    return [
        Row(what, f"0 of {least}" if least else "0", told.of(told.wrong), told.wrong == 0 and told.played >= least),
        Row("a slap's stamp against the kernel's", "0 ns", f"{off} ns in {compared}", off == 0 and outside == 0),
        promises(story),
        Row("from the stamp into the kernel's queue, at most", "-", spread(queueing(story))),
        Row("from the stamp to the handler", "-", lateness(story)),
    ]


def eight(chip: SimulatedChip, times: int) -> list[Row]:
    """Press eight pads back to back."""
    rounds = eight_rounds(times, random.Random(2))
    story, told = play(Rig(chip), rounds)
    lost = sum(gap.count for gap in story.lost)
    return [
        Row("eight pads back to back: wrong order", "0", told.of(told.wrong), told.wrong == 0),
        Row("eight pads: edges lost", "0", str(lost), lost == 0),
        promises(story),
    ]


def bounce(chip: SimulatedChip, times: int) -> list[Row]:
    """Play a bouncing hand before a clean one."""
    rounds = bounce_rounds(times, random.Random(3))
    _, told = play(Rig(chip), rounds, longest=BOUNCE)
    return [
        Row("bouncing hand before a clean one: wrong first hand", "0", told.of(told.first), told.first == 0),
        Row("- other hands than these two", "0", told.of(told.wrong), told.wrong == 0),
    ]


def neighbour(chip: SimulatedChip, times: int) -> list[Row]:
    """Let a pad chatter beside two hands."""
    rounds = neighbour_rounds(times, random.Random(4))
    _, told = play(Rig(chip), rounds)
    return [Row("chattering neighbour: wrong first hand", "0", told.of(told.first), told.first == 0)]


def blips(chip: SimulatedChip, times: int) -> list[Row]:
    """Play contacts much shorter than a hand's. One that reached Python late may have been longer for all it knows."""
    rng = random.Random(6)
    rig = Rig(chip)
    rig.start()
    seats = [rng.choice(SEATS) for _ in range(times)]
    story = rig.play([move for seat in seats for move in (Move(seat, True, BETWEEN), Move(seat, False, MS // 10))])
    rig.close()
    in_time, late = [0, 0], [0, 0]
    for closed, opened in itertools.pairwise(story.moves):
        # A short contact may have been long on a machine that was held up.
        if not closed.closed or opened.after - closed.before > SHORT:
            continue
        own = [heard.edge for heard in story.heard if heard.edge.seat == closed.seat]
        pressed = next(place for place, edge in enumerate(own) if edge.pressed and edge.t >= closed.before)
        told = own[pressed + 1]
        kind = in_time if told.t_error <= MS else late
        kind[0] += any(closed.before <= slap.t <= opened.after for slap in story.slaps)
        kind[1] += 1
    return [
        Row("contacts under 1.5 ms taken for hands", "0", f"{in_time[0]} of {in_time[1]}", in_time[0] == 0),
        Row("- heard of so late that they may have been long", "-", f"{late[0]} of {late[1]}"),
    ]


def pulses(chip: SimulatedChip, times: int) -> list[Row]:
    """Play short contacts, each of which must be reported."""
    rng = random.Random(5)
    rows: list[Row] = []
    rig = Rig(chip)
    rig.start()
    for width in WIDTHS:
        seats = [rng.choice(SEATS) for _ in range(times)]
        begun, heard = len(rig.story.moves), len(rig.story.presses())
        rig.play([move for seat in seats for move in (Move(seat, True, BETWEEN), Move(seat, False, width))])
        made = rig.story.moves[begun:]
        lasted = statistics.median(made[k + 1].after - made[k].before for k in range(0, len(made), 2)) / MS
        told = [press.edge.seat for press in rig.story.presses()[heard:]]
        rows.append(
            Row(
                f"pulses of at most {lasted:.1f} ms: told",
                f"{times} of {times}",
                f"{len(told)} of {times}",
                told == seats,
            )
        )
    rig.close()
    merged = rig.pads.merged
    return [*rows, Row("edges that the kernel merged", "-", str(merged))]
