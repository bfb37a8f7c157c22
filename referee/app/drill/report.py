"""What a lesson comes to: reaction times with their error, and what to practise. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from referee.app.drill.lesson import MS, Kind, Lesson, Try, sentence_of
from referee.app.drill.repetition import EMPTY, KNOWN
from referee.app.people.rating import Median, median
from referee.rules.house import HouseRules


def report(lesson: Lesson, rules: HouseRules, timing: str) -> list[str]:
    """Lines for the end of a lesson.

    Args:
        lesson: one that is over, or was broken off.
        rules: its house rules.
        timing: what the times are worth, in words.
    """
    tries = lesson.tries
    if not tries:
        return ["Nothing was dealt."]
    times = [float(one.since) for one in tries if one.since is not None]
    lines = [
        f"{len(tries)} piles: {_many(tries, Kind.RIGHT)} slapped right, {_many(tries, Kind.MISSED)} missed, "
        f"{_many(tries, Kind.FALSE)} slapped falsely, {_many(tries, Kind.SOON)} too soon to have seen the card."
    ]
    over_all = median(times)
    if over_all is not None:
        lines.append(f"Reaction time: {told(over_all)}.")
        lines.append(timing)
    lines += ["", *(_row(row, tries, rules) for row in lesson.order.introduced)]
    weak = [row for row in lesson.order.introduced if lesson.order.box(row) < KNOWN]
    slow = [row for row in lesson.order.introduced if row not in weak and _slower(row, tries)]
    lines.append("")
    if any(one.kind is Kind.FALSE for one in tries):
        lines.append("Practise: leave alone what is nothing; wait until you have seen it.")
    lines += [f"Practise: {row}, {sentence_of(row, rules)}" for row in weak]
    lines += [f"Slower than the others: {row}, {sentence_of(row, rules)}" for row in slow]
    waiting = [row for row in lesson.patterns if row not in lesson.order.introduced]
    if waiting:
        lines.append(f"Still to come: {', '.join(waiting)}.")
    if lesson.not_taught:
        lines.append(f"Not practised, since a pile alone does not show it or another pattern always comes first: "
                     f"{', '.join(lesson.not_taught)}.")  # fmt: skip
    if lines[-1] == "":
        lines.append("Nothing was missed twice: play.")
    return lines


def told(found: Median) -> str:
    """A median with what it rests on."""
    limits = (
        f" (the true median lies within {found.low / MS:.0f} to {found.high / MS:.0f} ms in 95 of 100 such lessons)"
        if found.low is not None and found.high is not None
        else " (too few for limits)"
    )
    times = "1 time" if found.count == 1 else f"{found.count} times"
    return f"{found.value / MS:.0f} ms in the median of {times}{limits}"


def _row(row: str, tries: Sequence[Try], rules: HouseRules) -> str:
    of = [one for one in tries if one.row == row]
    found = median([float(one.since) for one in of if one.since is not None])
    time = "" if found is None else f", {found.value / MS:.0f} ms (n = {found.count})"
    return f"{row:5} {_many(of, Kind.RIGHT)} of {len(of)} right{time}"


def _slower(row: str, tries: Sequence[Try]) -> bool:
    """Whether a pattern's median lies above that of the rest for sure: their limits do not meet."""
    own = median([float(one.since) for one in tries if one.since is not None and one.row == row])
    rest = median([float(one.since) for one in tries if one.since is not None and one.row not in (row, EMPTY)])
    if own is None or rest is None or own.low is None or rest.high is None:
        return False
    return own.low > rest.high


def _many(tries: Sequence[Try], kind: Kind) -> int:
    return sum(one.kind is kind for one in tries)
