"""Export from the record, and import into it.

A game as a log in the public format, its rulings as a table for a spreadsheet, and all data about one person, for that
person. The command line and the page call it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from referee.engine.log import find_replacements, read_observations
from referee.engine.observations import LogError
from referee.engine.replay import outline_log
from referee.engine.rulings import ruling_fields
from referee.errors import UserError
from referee.record.merge import KnownGames, Twin
from referee.record.people import People, Person
from referee.record.seals import attach_seal, detach_seal, find_broken_log
from referee.record.statistics import list_results
from referee.record.store import Record
from referee.record.stored_lines import LineReader
from referee.text.escapes import quote_formula

_COLUMNS: Final = (
    "ruling", "t_s", "seat", "player", "margin_ms", "error_ms", "patterns", "cards", "reason", "count", "rule",
    "doubt", "id", "replaced",
)  # fmt: skip
"""Columns of the table of rulings: a row for each, instants in seconds from the game's first line."""


def export_game(record: Record, game: int) -> Iterator[str]:
    """Yield a game as the lines of a log file, each with its seal; raises `RecordError` if there is no such game."""
    record.game(game)
    for _, text, seal in record.sealed_lines(game):
        yield attach_seal(text, seal) + "\n"


class ImportedGame(NamedTuple):
    """A log file as a recorded game."""

    game: int
    added: int
    """Number of lines that were added."""
    twin: Twin | None
    """The game that was recorded before; None: it is a new one."""


def import_game(record: Record, file: Path, began: str) -> ImportedGame:
    """Record a log file as a game, rulings included, unless it is recorded already; a longer log completes its game.

    Raises:
        UserError: the file cannot be read, is no table log, or not the one that was sealed; the message names the line.
            Nothing is recorded then.
        RecordError: the record cannot be written.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise UserError("{file} cannot be read: {why}", file=file, why=error.strerror) from None
    try:
        outline_log(read_observations(BytesIO(raw)))
    except LogError as error:
        raise UserError("{file}: {why}", file=file, why=error) from None
    for number, words in find_broken_log(BytesIO(raw)):
        advice = "ask for the log as it was exported, or take the seals out of it"
        raise UserError(
            "{file}, line {number} {words}; nothing was recorded: {advice}",
            file=file,
            number=number,
            words=words,
            advice=advice,
        )
    lines = [line.rstrip("\r") for line in raw.decode("utf-8-sig").split("\n") if line.strip()]
    rows = [(number, detach_seal(line)[0]) for number, line in enumerate(lines, start=1)]
    twin = KnownGames(record).find([text for _, text in rows])
    if twin is None:
        game, added = record.add_game(began, rows), len(rows)
    else:
        game, added = twin.game, 0 if twin.renamed else max(0, len(rows) - twin.lines)
        if added:
            record.reopen(game)
            record.add(game, rows[-added:])
    if added:
        record.end(game, began)
    return ImportedGame(game, added, twin)


def write_rulings_csv(lines: Iterable[str]) -> str:
    """Return the rulings of a game as CSV with `_COLUMNS`; replaced ones are marked."""
    reader = LineReader()
    _, rulings = reader.read(enumerate(lines, start=1), ticks=False)
    first, names = (reader.table.t, reader.table.seats) if reader.table is not None else (0, ())
    replaced = find_replacements(rulings)
    out = StringIO()
    writer = csv.DictWriter(out, _COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for ruling in rulings:
        raw = ruling_fields(ruling)
        seat, cards = ruling.get("seat"), ruling.get("cards")
        row = raw | {
            "t_s": f"{(ruling.t - first) / 1e9:.6f}",
            "seat": "" if seat is None else seat,
            "player": names[seat - 1] if seat is not None and seat <= len(names) else "",
            "margin_ms": _ms(ruling.get("margin")),
            "error_ms": _ms(ruling.get("error")),
            "patterns": " ".join(ruling.get("patterns", ())),
            "cards": " ".join(cards) if isinstance(cards, list) else ruling.get("card", ""),
            "rule": " ".join(ruling.rule),
            "doubt": "yes" if ruling.doubt else "",
            "replaced": "yes" if ruling.id in replaced else "",
        }
        writer.writerow({name: quote_formula(cell) for name, cell in row.items()})
    return out.getvalue()


def _ms(ns: Any) -> str:
    return f"{ns / 1e6:.3f}" if isinstance(ns, int) else ""


def export_person(people: People, person: Person) -> dict[str, Any]:
    """Return a person's data as a JSON object; a game's instants in ns on its own timeline. Raises `RecordError`."""
    played = []
    for result in list_results(people):
        seat = next((seat for seat, who in result.people.items() if who == person.id), None)
        if seat is None:
            continue
        hands = [
            {
                "t": hand.t, "outcome": hand.outcome, "since_reveal": hand.since, "error": hand.error,
                "kind": hand.kind, "reason": hand.reason, "patterns": list(hand.patterns),
            }
            for hand in result.hands if hand.seat == seat
        ]  # fmt: skip
        played.append({
            "game": result.game, "began": result.began, "seat": seat, "won": result.winner == seat,
            "ended": result.finished, "slaps": hands,
        })  # fmt: skip
    return {
        "name": person.name, "spellings": people.spellings(person), "agreed": person.agreed, "asked": person.asked,
        "consent_text": person.consent, "kept": people.keeping.words, "games": played,
    }  # fmt: skip
