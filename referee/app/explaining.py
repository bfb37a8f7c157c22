"""`referee explain`: why the referee ruled as it did, in plain words or as JSON."""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Final

from referee.adjudication.explanation import Considered, Explanation, Moment, Record, notation
from referee.adjudication.observations import Table
from referee.adjudication.rulings import Ruling
from referee.app.log_reading import observations, opened
from referee.app.outlining import outline
from referee.app.problems import UserError
from referee.app.replaying import ruled
from referee.app.wording import Wording, milliseconds
from referee.rules.catalogue import ROWS

_SEAT: Final = re.compile(r"\bseat (\d)\b")


def explain(log: str, ruling: str | None = None, *, as_json: bool = False) -> int:
    """Print why one ruling of a log, or each in force, came out as it did; returns the exit status.

    Args:
        log: the log's file, or ``-``.
        ruling: the id of one ruling, superseded ones included; None for all in force.
        as_json: one JSON object a line instead of words.

    Raises:
        UserError: the log cannot be read, or has no such ruling.
    """
    with opened(log) as stream:
        start = stream.tell()
        outlined = outline(observations(stream))
        stream.seek(start)
        record = Record(outlined.table)
        made = list(ruled(stream, outlined, everything=True, witness=record))
    by = {old: newer.id for newer in made for old in newer.supersedes}
    write = _as_json if as_json else words(outlined.table, by)
    for one in _chosen(made, ruling, by):
        sys.stdout.write(write(record.explain(one)) + "\n")
    return 0


def _chosen(made: list[Ruling], name: str | None, replaced: dict[str, str]) -> list[Ruling]:
    if name is None:
        return [ruling for ruling in made if ruling.id not in replaced]
    found = [ruling for ruling in made if ruling.id == name]
    if found:
        return found
    near = difflib.get_close_matches(name[:80], [ruling.id for ruling in made], n=1)
    hint = f" (did you mean {near[0]}?)" if near else "; `referee replay` prints the ids"
    raise UserError(f'this log leads to no ruling "{name}"{hint}')


def _as_json(explanation: Explanation) -> str:
    return json.dumps(explanation.fields(), ensure_ascii=False, separators=(",", ":"))


def words(table: Table, replaced_by: dict[str, str]) -> Callable[[Explanation], str]:
    """Explanations in plain words, with the players' names."""
    say = Wording(table.seats)

    def named(text: str) -> str:
        return _SEAT.sub(lambda found: say.name(int(found.group(1))), text)

    def write(explanation: Explanation) -> str:
        lines = [*_paragraph(explanation, table, say), *_history(explanation.ruling, replaced_by)]
        return named("\n".join(lines)) + "\n"

    return write


def _paragraph(explanation: Explanation, table: Table, say: Wording) -> Iterator[str]:
    ruling = explanation.ruling
    yield f"{ruling.id}: {say(ruling)}"
    yield f"  when: {(ruling.t - table.t) / 1e9:.3f} s after the first line"
    yield f"  the pile then: {notation(explanation.pile) or 'no card'}{_legend(explanation)}"
    for row, title in explanation.rules:
        yield f"  rule {row}: {title}"
    if explanation.moments:
        yield "  around it:"
        for moment in explanation.moments:
            yield f"    {_moment(moment, say)}{'  <- rests on this' if moment.id in ruling.because else ''}"
    if explanation.considered:
        yield "  also considered:"
        for considered in explanation.considered:
            yield f"    {_considered(considered)}"


def _legend(explanation: Explanation) -> str:
    states = {laid.state for laid in explanation.pile}
    marks = {"burned": "[burned]", "dead": "(dead)"}
    shown = [marks[state] for state in ("burned", "dead") if state in states]
    return f"   {' '.join(shown)}" if shown else ""


def _moment(moment: Moment, say: Wording) -> str:
    error = f" ± {milliseconds(moment.error)}" if moment.error else ""
    who = f" {say.name(moment.seat)}" if moment.seat is not None else ""
    card = f" {moment.card}" if moment.card else ""
    return f"{moment.offset / 1e6:+9.1f} ms{error}  {moment.kind}{who}{card} ({moment.id})"


def _considered(considered: Considered) -> str:
    row, _, own = considered.row.partition(":")
    name = own or (ROWS[row].name if row in ROWS else "")
    return f"{'yes' if considered.held else 'no '} {row} {name}: {considered.why}"


def _history(ruling: Ruling, replaced_by: dict[str, str]) -> Iterator[str]:
    if ruling.supersedes:
        yield f"  it replaces {', '.join(ruling.supersedes)}"
    if ruling.id in replaced_by:
        yield f"  it no longer holds: {replaced_by[ruling.id]} replaced it"
    if ruling.doubt:
        yield "  it was in doubt: the errors leave open which came first (K9)"
