"""Brings the games of another record into this one: each game once, recognised by its seal.

A game is the same if its lines lead to the same seal (`referee.record.seals`). One that is the beginning of another is
that game, too, and is completed. Where names were changed, the seals are new: there the cards and slaps are compared.
"""

from __future__ import annotations

import shlex
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from referee.record.database import Database, RecordError, record_errors
from referee.record.erasure import forget
from referee.record.people import People
from referee.record.pictures import FRAMES_FILE, PictureStore
from referee.record.schema import PICTURE_SCHEMA, RECORD_SCHEMA, Schema
from referee.record.seals import FIRST_SEAL, seal_line
from referee.record.store import GameInfo, Record
from referee.sentence import Sentence

_SENSED: Final = tuple(f'{{"kind":{gap}"{kind}"' for kind in ("card", "slap") for gap in ("", " "))
"""Beginnings of the lines of cards and slaps, which hold no names."""


class Twin(NamedTuple):
    """A recorded game that is the same as another one."""

    game: int
    lines: int
    """Number of its lines; the other may hold more or fewer."""
    renamed: bool
    """Whether names were changed in one of them since."""


class KnownGames:
    """The games of a record, to find one again."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._lengths = {info.id: record.last_line(info.id) for info in record.games()}
        self._ends = {record.seal(game): game for game in sorted(self._lengths, reverse=True)}
        self._sensed: dict[int, str] = {}

    def find(self, texts: Sequence[str], *, resealed: bool = False) -> Twin | None:
        """Return the recorded game that has these lines, begins with them, or is their beginning; None if none is.

        ``resealed``: whether names were changed in these lines. Raises `RecordError`.
        """
        seals = list(accumulate(texts, seal_line, initial=FIRST_SEAL))[1:]
        if seals and (same := self._ends.get(seals[-1])) is not None:
            return Twin(same, self._lengths[same], renamed=False)
        first = next((place for place, text in enumerate(texts, start=1) if text.startswith(_SENSED)), None)
        if first is None:
            return None
        for game, length in self._lengths.items():
            # Two games may begin with the same table, but not with the same card at the same instant.
            shared = min(length, len(texts))
            if shared >= first and self._record.seal(game, shared) == seals[shared - 1]:
                return Twin(game, length, renamed=False)
        sensed = _hash_sensed(texts)
        for game, length in self._lengths.items():
            if (resealed or self._record.is_resealed(game)) and self._sensed_of(game) == sensed:
                return Twin(game, length, renamed=True)
        return None

    def _sensed_of(self, game: int) -> str:
        if game not in self._sensed:
            self._sensed[game] = _hash_sensed(text for _, text in self._record.lines(game))
        return self._sensed[game]


def _hash_sensed(texts: Iterable[str]) -> str:
    return sha256("\n".join(text for text in texts if text.startswith(_SENSED)).encode(errors="replace")).hexdigest()


def find_left_behind(record: Path, earlier: Iterable[Path]) -> Iterator[Sentence]:
    """Yield a sentence for each record of an earlier version that holds games which this record lacks."""
    for place in earlier:
        # A damaged record is named, too: importing it reports the damage.
        missing = True
        with suppress(RecordError), Record(place, read_only=True) as old:
            missing = bool(old.is_begun and old.games())
            if missing and record.exists():
                with Record(record, read_only=True) as new:
                    removed = {began for _, _, began, _ in new.removed()}
                    missing = any(old.game(game).began not in removed for game in _compare(new, old).missing)
        if missing:
            yield Sentence(
                "games of an earlier version lie in {old}: `referee games --import {argument}` brings them into "
                "{record}, where every command looks now; they stay there as well",
                old=place, argument=shlex.quote(str(place)), record=record,
            )  # fmt: skip


@dataclass(slots=True)
class Comparison:
    """Games of another record, by their numbers there, against those of this one."""

    missing: list[int] = field(default_factory=list)
    """Not recorded here."""
    twins: dict[int, Twin] = field(default_factory=dict)
    """Recorded here, too."""
    longer: dict[int, Twin] = field(default_factory=dict)
    """Recorded here, but only their beginnings."""
    changes: int = 0
    """Number of the record's rows that were added or changed; 0 before a merge."""
    forgotten: int = 0
    """Number of people whom this record forgets because they were forgotten there."""
    pictures: int = 0
    """Number of pictures that were added."""

    @property
    def forgotten_words(self) -> list[Sentence]:
        """The number of these people in a sentence; empty if there are none."""
        words = Sentence("people who were forgotten there, and now here as well: {many}", many=self.forgotten)
        return [words] if self.forgotten else []


def _compare(into: Record, other: Record) -> Comparison:
    known, found = KnownGames(into), Comparison()
    for info in reversed(other.games()):
        texts = [text for _, text in other.lines(info.id)]
        twin = known.find(texts, resealed=other.is_resealed(info.id))
        if twin is None:
            found.missing.append(info.id)
        elif not twin.renamed and len(texts) > twin.lines:
            found.longer[info.id] = twin
        else:
            found.twins[info.id] = twin
    return found


def compare_records(into: Path, other: Path) -> Comparison:
    """Compare the games of another record with those of this one; raises `RecordError`."""
    with Record(into, read_only=True) as here, Record(other, read_only=True) as there:
        return _compare(here, there)


@contextmanager
def copied_record(source: Path, folder: Path, *, pictures: bool = True) -> Iterator[Path]:
    """Copy a record and its pictures, which others may write meanwhile, into a temporary folder.

    Raises:
        RecordError: it cannot be read, or holds something foreign.
    """
    with record_errors(source), tempfile.TemporaryDirectory(dir=folder, prefix=".merge-") as beside:
        to = copy_database(source, Path(beside) / source.name, RECORD_SCHEMA)
        frames = source.with_name(FRAMES_FILE)
        if pictures and frames.exists():
            copy_database(frames, to.with_name(FRAMES_FILE), PICTURE_SCHEMA)
        yield to


def copy_database(source: Path, to: Path, schema: Schema) -> Path:
    """Copy a database as it is at one instant, while others write: SQLite's own backup.

    A database that a restore would refuse is refused here. Raises `RecordError`.
    """
    with Database(source, "ro", schema) as old:
        old.copy(to)
    return to


def merge_record(into: Path, other: Path, at: str) -> Comparison:
    """Add the games of another record that this one lacks, with their people and pictures; return what was found.

    People who were forgotten in either stay forgotten in both. Answers that people gave here count.

    Args:
        into: this record, which is created if it is missing.
        other: a copy of the other one: it is changed.
        at: wall-clock time, ISO 8601.

    Raises:
        RecordError: one of them cannot be read or written, or a game here was broken off and others would be put
            behind it. Then nothing was changed, except that names of forgotten people were removed.
    """
    # Opening a record for writing brings its tables up to date.
    Record(other).close()
    Record(into).close()
    _forget_those_of(into, other, at)
    forgotten = _forget_those_of(other, into, at)
    found = compare_records(into, other)
    with Record(into, read_only=True) as record, Record(other, read_only=True) as coming:
        left = record.unfinished()
        numbers = _number_games(record, [coming.game(game) for game in found.missing])
    if (
        left is not None
        and left.id < max(numbers.values(), default=0)
        and left.id not in {twin.game for twin in found.longer.values()}
    ):
        raise RecordError(
            "game {game} was broken off: go on with it, or begin another one, before other games come in", game=left.id
        )  # fmt: skip
    with People(into) as people, people.attached(other, "coming"):
        with people.writing() as db:
            before = db.total_changes
            for game in found.missing:
                _add_game(db, game, numbers[game])
                found.twins[game] = Twin(numbers[game], 0, renamed=False)
            for game, twin in found.longer.items():
                _complete_game(db, game, twin)
            _end_broken_off(db, at)
            _add_people(db, found)
            found.forgotten, found.changes = forgotten, forgotten + db.total_changes - before
        for game in found.missing:
            people.tie(found.twins[game].game)
    found.pictures = _add_pictures(into, other, {**found.twins, **found.longer})
    return found


def _number_games(record: Record, games: Iterable[GameInfo]) -> dict[int, int]:
    """Return a number here for each game of another record: the same if free, or once this game's; else a new one."""
    there, removed = {info.id for info in record.games()}, {(game, began) for _, game, began, _ in record.removed()}
    used, numbers = there | {game for game, _ in removed}, dict[int, int]()
    for info in games:
        free = info.id not in used or ((info.id, info.began) in removed and info.id not in there)
        numbers[info.id] = number = info.id if free else max(used) + 1
        used.add(number)
        there.add(number)
    return numbers


def _forget_those_of(record: Path, other: Path, at: str) -> int:
    """Forget people in another record who are forgotten in this one; return how many there were."""
    with People(record) as people:
        gone = {person for (person,) in people.rows("SELECT person FROM forgotten")}
    with People(other) as people:
        there = [person for person in people.people() if person.id in gone]
        for person in there:
            forget(people, person, at)
    return len(there)


def _add_game(db: sqlite3.Connection, game: int, number: int) -> None:
    db.execute(
        "INSERT INTO game (id, began, ended, seats, rules, keep, end_seal, resealed)"
        " SELECT ?, began, ended, seats, rules, keep, end_seal, resealed FROM coming.game WHERE id=?",
        (number, game),
    )
    db.execute(
        "INSERT INTO line (game, number, text, seal) SELECT ?, number, text, seal FROM coming.line WHERE game=?",
        (number, game),
    )


def _complete_game(db: sqlite3.Connection, game: int, twin: Twin) -> None:
    db.execute(
        "INSERT INTO line (game, number, text, seal)"
        " SELECT ?, number, text, seal FROM coming.line WHERE game=? AND number>?",
        (twin.game, game, twin.lines),
    )
    db.execute(
        "UPDATE game SET (ended, end_seal) = (SELECT ended, end_seal FROM coming.game WHERE id=?) WHERE id=?",
        (game, twin.game),
    )


def _end_broken_off(db: sqlite3.Connection, at: str) -> None:
    """End unfinished games that are no longer the newest: they cannot go on."""
    db.execute(
        "UPDATE game SET ended=?, end_seal=(SELECT seal FROM line WHERE game=id ORDER BY number DESC LIMIT 1)"
        " WHERE ended IS NULL AND id < (SELECT max(id) FROM game)",
        (at,),
    )


def _add_people(db: sqlite3.Connection, found: Comparison) -> None:
    """Add the other record's people who are unknown here, and note who played the added games.

    A person is the same by id, or by a spelling of the name.
    """
    db.execute(
        "INSERT INTO person SELECT * FROM coming.person AS new WHERE id NOT IN (SELECT id FROM person)"
        " AND NOT EXISTS (SELECT 1 FROM coming.spelling AS name WHERE name.person=new.id"
        " AND name.key IN (SELECT key FROM spelling))"
    )
    db.execute(
        "INSERT OR IGNORE INTO spelling SELECT key, person FROM coming.spelling WHERE person IN (SELECT id FROM person)"
    )
    db.execute("INSERT OR IGNORE INTO forgotten SELECT person, at FROM coming.forgotten")
    for game in found.missing:
        db.execute(
            "INSERT OR IGNORE INTO played SELECT ?, seat, who.id FROM coming.played AS tie JOIN person AS who"
            " ON who.agreed AND who.id = coalesce((SELECT id FROM person WHERE id=tie.person),"
            " (SELECT own.person FROM spelling AS own JOIN coming.spelling AS name ON own.key=name.key"
            " WHERE name.person=tie.person LIMIT 1)) WHERE tie.game=?",
            (found.twins[game].game, game),
        )


def _add_pictures(into: Path, other: Path, twins: dict[int, Twin]) -> int:
    """Add the pictures of these games, except of games whose names were changed here: theirs were deleted for good.

    Returns their number.
    """
    frames = other.with_name(FRAMES_FILE)
    if not frames.exists():
        return 0
    with Record(into, read_only=True) as record:
        shown = {game: twin.game for game, twin in twins.items() if not record.is_resealed(twin.game)}
    pictures = PictureStore(into.with_name(FRAMES_FILE))
    with closing(pictures), pictures.attached(frames, "coming"), pictures.writing() as db:
        return sum(
            db.execute(
                "INSERT OR IGNORE INTO frame SELECT ?, t, exposure, jpeg FROM coming.frame WHERE game=?", (number, game)
            ).rowcount
            for game, number in shown.items()
        )
