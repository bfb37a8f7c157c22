"""The reports compared with the moves."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hardware.pads.gpiod_lines import GPIOD_DELIVERY
from tests.vm.hands import Done
from tests.vm.rig import MS, PINS, Recorded, Rig, Story
from tests.vm.rounds import BETWEEN, Round
from tests.vm.table import Row

LATE = 37 * MS
"""The worst delay of Python measured beside a busy thread, on a machine that had time for it, ns."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rounds played as intended, and the errors in them."""

    played: int
    wrong: int
    """Rounds that have not these hands in this order, counting each by its first slap."""
    first: int
    """Rounds whose first hand is wrong."""
    drawn_out: int
    """Rounds that the machine held up until they differed from the intention; not counted."""

    def of(self, what: int) -> str:
        return f"{what} of {self.played}" + (f" ({self.drawn_out} more drawn out)" if self.drawn_out else "")


def count(story: Story, rounds: Sequence[Round], longest: int | None = None) -> Count:
    """Compare the reports with the moves in the story's rounds; `as_intended` explains ``longest``."""
    played = wrong = first = 0
    for turn, made in told_apart(story, rounds):
        if not as_intended(story, made, longest):
            continue
        slaps = sorted((s for s in story.slaps if made[0].before <= s.t <= made[-1].after), key=lambda slap: slap.t)
        seats = tuple(dict.fromkeys(slap.seat for slap in slaps))
        if seats[:1] != turn.hands[:1] or not set(turn.hands) <= set(seats):
            print(f"vm: {seats}, not {turn.hands}: {_account(story, made)}", flush=True)
        played += 1
        wrong += seats != turn.hands
        first += seats[:1] != turn.hands[:1]
    return Count(played, wrong, first, len(rounds) - played)


def told_apart(story: Story, rounds: Sequence[Round]) -> Iterator[tuple[Round, Sequence[Done]]]:
    """Yield each round with its moves as they were made."""
    begin = 0
    for turn in rounds:
        yield turn, story.moves[begin : begin + len(turn.moves)]
        begin += len(turn.moves)


def as_intended(story: Story, made: Sequence[Done], longest: int | None = None) -> bool:
    """Whether the machine let a round be as intended.

    Args:
        story: all reports.
        made: the round's moves.
        longest: the time from its first move to its last closing, ns, beyond which it is another round: a hand that
            bounces for 20 ms has tapped twice. None: any.
    """
    last = max(move.after for move in made if move.closed)
    return not (longest is not None and last - made[0].before > longest) and not stalled(story, made)


def _account(story: Story, made: Sequence[Done]) -> str:
    """Describe a round's moves and reports, in ms from its begin, for debugging."""
    start, end = made[0].before, made[-1].after

    def at(t: int) -> str:
        return f"{(t - start) / MS:.2f}"

    heard = [report for report in story.heard if start <= report.edge.t <= end + BETWEEN // 2]
    moves = [f"{move.seat}{'v' if move.closed else '^'} {at(move.before)}..{at(move.after)}" for move in made]
    # Seat, pressed or released, the reported instant and its error, and when it was reported.
    edges = [
        f"{edge.seat}{'v' if edge.pressed else '^'} {at(edge.t)} ± {edge.t_error / MS:.1f} {at(report.at)}"
        for report in heard
        for edge in (report.edge,)
    ]
    slaps = [f"{slap.seat} {at(slap.t)}" for slap in story.slaps if start <= slap.t <= end]
    return f"moves {', '.join(moves)}; heard {', '.join(edges)}; slaps {', '.join(slaps)}"


def shift(rig: Rig, story: Story) -> tuple[int, int]:
    """Return the greatest difference between a slap's stamp and the kernel's own of that press, ns; and the number of
    comparisons.
    """
    request = getattr(rig.lines, "request", None)
    assert isinstance(request, Recorded)
    by_seat = {seat: [t for given, t in request.given if given == pin] for seat, pin in PINS.items()}
    nearest = [min((abs(slap.t - t) for t in by_seat[slap.seat]), default=1 << 62) for slap in story.slaps]
    return max(nearest, default=1 << 62), len(nearest)


def lateness(story: Story) -> str:
    """Describe the delay from the stamp to our handler."""
    return spread(sorted(press.at - press.edge.t for press in story.presses()))


def spread(lengths: Sequence[int]) -> str:
    middle, most = statistics.median(lengths), lengths[int(0.99 * len(lengths))]
    return f"median {middle / MS:.1f} ms, 99 % {most / MS:.1f}, worst {lengths[-1] / MS:.1f}"


def queueing(story: Story) -> list[int]:
    """Return upper limits of each press' way from its stamp into the kernel's queue, ns, in order.

    The kernel's thread runs on the hands' processor and before them: the queueing is done when the write returns.
    """
    closed = [move for move in story.moves if move.closed]
    return sorted(
        move.after - press.edge.t
        for press in story.presses()
        for move in closed
        if move.seat == press.edge.seat and move.before <= press.edge.t <= move.after
    )


def stalled(story: Story, made: Sequence[Done]) -> bool:
    """Whether Python received a round, or its predecessor, later than on any machine without overload. A release with
    so large an error may be taken for one of the next contact's chatter.
    """
    heard = [report for report in story.heard if made[0].before - BETWEEN <= report.edge.t <= made[-1].after]
    return any(
        report.at - report.edge.t > LATE if report.edge.pressed else report.edge.t_error > LATE // 2 for report in heard
    )


def stopped(move: Done) -> bool:
    """Whether the host stopped the processor in the midst of a move, possibly between stamp and queue."""
    return move.after - move.before > GPIOD_DELIVERY


def promises(story: Story) -> Row:
    """Whether the watermark kept its promise where the kernel queued in time: a processor may be stopped."""
    stood = [move for move in story.moves if move.closed and stopped(move)]
    broken = [
        edge
        for edge in story.belated
        if not any(edge.seat == move.seat and move.before <= edge.t <= move.after for move in stood)
    ]
    words = f"{len(broken)} of {len(story.heard)}"
    if len(broken) < len(story.belated):
        words += f" ({len(story.belated) - len(broken)} while the processor was stopped)"
    return Row("edges told after a watermark that had passed them", "0", words, not broken)
