"""`referee replay`: a log in, its rulings out.

A log without ticks says nothing of how far it has been told, yet the end of a file is known in advance: a first pass
checks every line and keeps, for each, the least ``t`` of all lines after it (8 bytes a line). The second pass hands
that to the adjudicator as a promise with every line, so a long game is ruled as it is read and never held as a whole.
The first lines are kept as they were read: most logs hold no more, and need not be read twice.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO, Final

from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.loop import Witness
from referee.adjudication.observations import LogError, Table
from referee.adjudication.rulings import Ruling, encode_ruling
from referee.app.log_reading import observations, opened
from referee.app.outlining import LAST, Outline, outline
from referee.app.problems import UserError
from referee.app.wording import Wording

AT_ONCE: Final = 64
"""Lines that are judged together."""
_INSTANT: Final = re.compile(r"(-?\d{1,18}(?:\.\d{1,18})?)(s|ms)?", re.ASCII)
_UNITS: Final = {"s": 1e9, "ms": 1e6}


def _ruled(stream: BinaryIO, outlined: Outline, witness: Witness | None = None) -> Iterator[Ruling]:
    """Every ruling, in the order in which the adjudicator is sure of it."""
    # Where rulings may be replaced, the new ones are sorted in among the old: all come at the end.
    adjudicator = Adjudicator(history=outlined.amended, stream=outlined.settled, early=False, witness=witness)
    first = outlined.first
    rest = observations(stream, first[-1][0]) if len(outlined.least_after) > len(first) else ()
    for place, (number, seen) in zip(range(len(outlined.least_after)), chain(first, rest), strict=False):
        judge = outlined.amended or place % AT_ONCE == AT_ONCE - 1
        least = outlined.least_after[place] if judge else LAST
        try:
            yield from adjudicator.observe(seen, None if least == LAST else least - 1, judge=judge)
        except LogError as bad:
            raise LogError(number if bad.line is None else bad.line, bad.problem) from None
    yield from adjudicator.finish()


def rulings(stream: BinaryIO, *, everything: bool = False) -> Iterator[Ruling]:
    """The rulings of a log, by ``t``; superseded ones only if ``everything``.

    Args:
        stream: the log; must be seekable, and may be read twice.
        everything: keep rulings that later ones replace.

    Raises:
        LogError: the log cannot be read; names the line.
    """
    start = stream.tell()
    outlined = outline(observations(stream))
    stream.seek(start)
    yield from ruled(stream, outlined, everything=everything)


def ruled(
    stream: BinaryIO, outlined: Outline, *, everything: bool = False, witness: Witness | None = None
) -> Iterator[Ruling]:
    """The rulings of a log whose outline is known, by ``t``; see `rulings`."""
    if outlined.settled:
        yield from _ruled(stream, outlined, witness)
        return
    made = list(_ruled(stream, outlined, witness))
    if not everything:
        replaced = {old for ruling in made for old in ruling.supersedes}
        made = [ruling for ruling in made if ruling.id not in replaced]
    yield from made


def _until(rulings_: Iterable[Ruling], last: str, outlined: Outline) -> Iterator[Ruling]:
    """Rulings up to an instant, to that of a line, or to a ruling.

    Raises:
        UserError: there is no such instant, line or ruling.
    """
    instant = _instant(last, outlined)
    if instant is None and "@" not in last:
        raise UserError(
            f'--until: "{last}" is no instant (ns, or 2.5s, 250ms from the first line) and no id of this log'
        )
    for ruling in rulings_:
        if instant is not None and ruling.t > instant:
            return
        yield ruling
        if ruling.id == last:
            return
    if instant is None:
        raise UserError(f'--until: this log leads to no ruling "{last}"')


def _instant(text: str, outlined: Outline) -> int | None:
    if outlined.found is not None:
        return outlined.found
    said = _INSTANT.fullmatch(text)
    if said is None:
        return None
    if said.group(2) is None:
        return int(said.group(1)) if said.group(1).lstrip("-").isdigit() else None
    return outlined.table.t + round(float(said.group(1)) * _UNITS[said.group(2)])


def replay(name: str, *, everything: bool = False, until: str = "", as_text: bool = False) -> int:
    """Print a log's rulings, as JSON Lines or in words; returns the exit status.

    Args:
        name: the log's file, or ``-``.
        everything: superseded rulings too.
        until: stop after this instant, line or ruling.
        as_text: a line a ruling for people to read.

    Raises:
        UserError: the log cannot be read; one line that names the log's line.
    """
    with opened(name) as stream:
        start = stream.tell()
        outlined = outline(observations(stream), until)
        stream.seek(start)
        made = ruled(stream, outlined, everything=everything)
        write = in_words(outlined.table) if as_text else encode_ruling
        for ruling in _until(made, until, outlined) if until else made:
            sys.stdout.write(write(ruling) + "\n")
    return 0


def in_words(table: Table) -> Callable[[Ruling], str]:
    """One line of writing for a ruling: seconds since the log's first line, what was ruled, and the rows."""
    say = Wording(table.seats)

    def line(ruling: Ruling) -> str:
        return f"{(ruling.t - table.t) / 1e9:9.3f} s  {say(ruling)}  [{' '.join(ruling.rule)}]  {ruling.id}"

    return line
