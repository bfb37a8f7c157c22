"""Who was first: pairs, eight at once, chatter and short pulses, from the kernel to the slap."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from hardware.lines_gpiod import DELIVERY
from referee.adjudication.observations import Slap
from tests.vm.chip import SimulatedChip
from tests.vm.hands import Done, Move
from tests.vm.rig import MS, PINS, Recorded, Rig, Story
from tests.vm.table import Row

SEATS = tuple(PINS)
BETWEEN = 110 * MS
"""From one round to the next: the filter's masks are over by then, and no pad closes tens of times a second."""
HOLD = 15 * MS
SHORT = 3 * MS // 2
WIDTHS = (0, MS // 10, MS // 2, MS, 3 * MS, 10 * MS)


@dataclass(frozen=True, slots=True)
class Round:
    """Moves that belong together, and the seats whose hands they are, in their true order."""

    moves: tuple[Move, ...]
    hands: tuple[int, ...]


def pair_rounds(gaps: Sequence[int], rng: random.Random) -> list[Round]:
    """Every ordered pair of seats at each of the gaps (ns, counted from the end of one write to the next's begin)."""
    pairs = [(a, b, gap) for gap in gaps for a, b in itertools.permutations(SEATS, 2)]
    rng.shuffle(pairs)
    return [
        Round((Move(a, True, BETWEEN), Move(b, True, gap), Move(a, False, HOLD), Move(b, False)), (a, b))
        for a, b, gap in pairs
    ]


def eight_rounds(count: int, rng: random.Random) -> list[Round]:
    """All eight pads, each write right after the one before, in random order."""
    rounds = []
    for _ in range(count):
        order = tuple(rng.sample(SEATS, len(SEATS)))
        close = [Move(seat, True) for seat in order]
        close[0] = Move(order[0], True, BETWEEN)
        opened = [Move(seat, False, HOLD if place == 0 else 0) for place, seat in enumerate(order)]
        rounds.append(Round((*close, *opened), order))
    return rounds


def bounce_rounds(count: int, rng: random.Random) -> list[Round]:
    """The earlier hand bounces for 4 ms; the later one, 1 ms after it, closes clean."""
    rounds = []
    for _ in range(count):
        a, b = rng.sample(SEATS, 2)
        moves = (
            Move(a, True, BETWEEN), Move(a, False, 4 * MS // 10), Move(a, True, 4 * MS // 10), Move(b, True, MS // 5),
            Move(a, False, MS // 2), Move(a, True, 4 * MS // 10), Move(a, False, MS), Move(a, True, MS),
            Move(a, False, HOLD), Move(b, False),
        )  # fmt: skip
        rounds.append(Round(moves, (a, b)))
    return rounds


def neighbour_rounds(count: int, rng: random.Random) -> list[Round]:
    """A pad with nobody's hand on it chatters as soon as the first hand is down, and again after the second."""
    rounds = []
    for _ in range(count):
        a, b, c = rng.sample(SEATS, 3)
        blip = (Move(c, True, MS // 10), Move(c, False, MS // 10))
        moves = (Move(a, True, BETWEEN), *blip, Move(b, True, MS), *blip, Move(a, False, HOLD), Move(b, False))
        rounds.append(Round(moves, (a, b)))
    return rounds


def slaps_of(story: Story, made: Sequence[Done], which: int, size: Sequence[int]) -> list[Slap]:
    """The slaps of one round, by their instants."""
    begin = sum(size[:which])
    first, last = made[begin].before, made[begin + size[which] - 1].after
    return sorted((slap for slap in story.slaps if first <= slap.t <= last), key=lambda slap: slap.t)


def wrong_hands(story: Story, rounds: Sequence[Round]) -> tuple[int, int]:
    """How many rounds have not these hands in this order, counting each by its first slap; and how many not even the
    right first hand.
    """
    sizes = [len(one.moves) for one in rounds]
    wrong = first = 0
    for which, one in enumerate(rounds):
        # A machine that is held up draws a bounce out until its end is a slap of its own.
        seats = tuple(dict.fromkeys(slap.seat for slap in slaps_of(story, story.moves, which, sizes)))
        wrong += seats != one.hands
        first += seats[:1] != one.hands[:1]
    return wrong, first


def play(rig: Rig, rounds: Sequence[Round]) -> Story:
    """Play all rounds in one go."""
    rig.start()
    story = rig.play([move for one in rounds for move in one.moves])
    rig.close()
    return story


def shift(rig: Rig, story: Story) -> tuple[int, int]:
    """The greatest difference between a slap's stamp and the kernel's own of that press, ns; and how many were held
    against each other.
    """
    request = getattr(rig.lines, "request", None)
    assert isinstance(request, Recorded)
    by_seat = {seat: [t for given, t in request.given if given == pin] for seat, pin in PINS.items()}
    nearest = [min((abs(slap.t - t) for t in by_seat[slap.seat]), default=1 << 62) for slap in story.slaps]
    return max(nearest, default=1 << 62), len(nearest)


def lateness(story: Story) -> str:
    """From the stamp to our handler, in words."""
    return _spread(sorted(one.at - one.edge.t for one in story.presses()))


def _spread(lengths: Sequence[int]) -> str:
    middle, most = statistics.median(lengths), lengths[int(0.99 * len(lengths))]
    return f"median {middle / MS:.1f} ms, 99 % {most / MS:.1f}, worst {lengths[-1] / MS:.1f}"


def queueing(story: Story) -> list[int]:
    """At most so long each press took from its stamp into the kernel's queue, ns, in order.

    The kernel's thread runs on the hands' processor and before them: the queueing is done when the write returns.
    """
    closed = [move for move in story.moves if move.closed]
    return sorted(
        move.after - one.edge.t
        for one in story.presses()
        for move in closed
        if move.seat == one.edge.seat and move.before <= one.edge.t <= move.after
    )


def promises(story: Story) -> Row:
    """Whether the watermark kept its word, wherever the kernel queued in time: a virtual processor may be stopped."""
    stood = [move for move in story.moves if move.closed and move.after - move.before > DELIVERY]
    broken = [
        edge
        for edge in story.belated
        if not any(edge.seat == move.seat and move.before <= edge.t <= move.after for move in stood)
    ]
    words = f"{len(broken)} of {len(story.heard)}"
    if len(broken) < len(story.belated):
        words += f" ({len(story.belated) - len(broken)} while the processor was stopped)"
    return Row("edges told after a watermark that had passed them", "0", words, not broken)


def pairs(chip: SimulatedChip, gaps: Sequence[int], count: int | None = None) -> list[Row]:
    """Pairs at these gaps (ns); ``count`` of them drawn by chance, or all."""
    rig = Rig(chip)
    rounds = pair_rounds(gaps, random.Random(1))[:count]
    story = play(rig, rounds)
    wrong, _ = wrong_hands(story, rounds)
    off, compared = shift(rig, story)
    stamps = [slap.t for slap in story.slaps]
    brackets = [move for move in story.moves if move.closed]
    outside = sum(not any(move.before <= t for move in brackets) for t in stamps)
    what = f"pairs {'/'.join(str(gap // MS) for gap in gaps)} ms apart: wrong or missing"
    return [
        Row(what, "0", f"{wrong} of {len(rounds)}", wrong == 0),
        Row("a slap's stamp against the kernel's", "0 ns", f"{off} ns in {compared}", off == 0 and outside == 0),
        promises(story),
        Row("from the stamp into the kernel's queue, at most", "-", _spread(queueing(story))),
        Row("from the stamp to the handler", "-", lateness(story)),
    ]


def eight(chip: SimulatedChip, count: int) -> list[Row]:
    """Eight pads back to back."""
    rounds = eight_rounds(count, random.Random(2))
    story = play(Rig(chip), rounds)
    wrong, _ = wrong_hands(story, rounds)
    lost = sum(one.count for one in story.lost)
    return [
        Row("eight pads back to back: wrong order", "0", f"{wrong} of {count}", wrong == 0),
        Row("eight pads: edges lost", "0", str(lost), lost == 0),
        promises(story),
    ]


def bounce(chip: SimulatedChip, count: int) -> list[Row]:
    """A bouncing hand before a clean one."""
    rounds = bounce_rounds(count, random.Random(3))
    story = play(Rig(chip), rounds)
    wrong, first = wrong_hands(story, rounds)
    return [
        Row("bouncing hand before a clean one: wrong first hand", "0", f"{first} of {count}", first == 0),
        Row("- other hands than these two", "0", f"{wrong} of {count}", wrong == 0),
    ]


def neighbour(chip: SimulatedChip, count: int) -> list[Row]:
    """A pad that chatters beside two hands."""
    rounds = neighbour_rounds(count, random.Random(4))
    story = play(Rig(chip), rounds)
    _, first = wrong_hands(story, rounds)
    return [Row("chattering neighbour: wrong first hand", "0", f"{first} of {count}", first == 0)]


def blips(chip: SimulatedChip, count: int) -> list[Row]:
    """Contacts much shorter than a hand's. One that Python heard of late may have been longer for all it knows."""
    rng = random.Random(6)
    rig = Rig(chip)
    rig.start()
    seats = [rng.choice(SEATS) for _ in range(count)]
    story = rig.play([move for seat in seats for move in (Move(seat, True, BETWEEN), Move(seat, False, MS // 10))])
    rig.close()
    in_time, late = [0, 0], [0, 0]
    for closed, opened in itertools.pairwise(story.moves):
        # What was to be short may have been long on a machine that was held up.
        if not closed.closed or opened.after - closed.before > SHORT:
            continue
        told = next(one.edge for one in story.heard if one.edge.t > closed.before and not one.edge.pressed)
        kind = in_time if told.t_error <= MS // 2 else late
        kind[0] += any(closed.before <= slap.t <= opened.after for slap in story.slaps)
        kind[1] += 1
    return [
        Row("contacts under 1.5 ms taken for hands", "0", f"{in_time[0]} of {in_time[1]}", in_time[0] == 0),
        Row("- heard of so late that they may have been long", "-", f"{late[0]} of {late[1]}"),
    ]


def pulses(chip: SimulatedChip, count: int) -> list[Row]:
    """Short contacts, each of which must be told."""
    rng = random.Random(5)
    rows: list[Row] = []
    rig = Rig(chip)
    rig.start()
    for width in WIDTHS:
        seats = [rng.choice(SEATS) for _ in range(count)]
        begun, heard = len(rig.story.moves), len(rig.story.presses())
        rig.play([move for seat in seats for move in (Move(seat, True, BETWEEN), Move(seat, False, width))])
        made = rig.story.moves[begun:]
        lasted = statistics.median(made[k + 1].after - made[k].before for k in range(0, len(made), 2)) / MS
        told = [one.edge.seat for one in rig.story.presses()[heard:]]
        rows.append(
            Row(
                f"pulses of at most {lasted:.1f} ms: told",
                f"{count} of {count}",
                f"{len(told)} of {count}",
                told == seats,
            )
        )
    rig.close()
    merged = rig.pads.merged
    return [*rows, Row("edges that the kernel merged", "-", str(merged))]
