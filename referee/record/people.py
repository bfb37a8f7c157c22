"""The people of a record: tables in the record's file, beside those of `referee.record.store.Record`.

A person is one name that was asked once and answered. People who agreed are tied to the seats of the games that they
played; of those who declined only the answer is kept, so that they are not asked again. Games that are removed take
their ties along.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.record.database import Database, RecordError
from referee.record.redaction import seat_name
from referee.record.retention import MOST, RetentionPeriods
from referee.record.schema import PEOPLE_TABLES, RECORD_SCHEMA
from referee.text.catalogue import texts

CONSENT_VERSION: Final = 2
"""Version of the text, kept with each answer: it shows what a person agreed to."""
_LONGEST_NAME: Final = 40
"""Longest name, characters."""


class PeopleError(ValueError):
    """A request cannot be carried out; the message says why."""


def consent_question(name: str, keeping: RetentionPeriods, language: str = "en") -> str:
    """Return the question to a person before any of their data outlives a game, with the periods of this table.

    Raises `KeyError` for another language.
    """
    text = texts(language)
    return text(
        "consent.question",
        name=name,
        pictures=text("consent.pictures", days=keeping.pictures),
        figures=text("consent.figures", days=keeping.figures),
        games=text("consent.games", days=keeping.games),
    )


def tidy_name(name: str) -> str:
    """Return a name in the form in which it is shown; raises `PeopleError` for an impossible one."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    if not 1 <= len(shown) <= _LONGEST_NAME or not shown.isprintable():
        raise PeopleError(f"a name has 1 to {_LONGEST_NAME} letters, on one line")
    return shown


def name_key(name: str) -> str:
    """Return the key that all spellings of a name share: case, width and spaces do not matter."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


_TABLES_VERSION: Final = 1
"""Version of these tables; the record has its own."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person who was asked."""

    id: str
    """Random; the only thing that is kept of a forgotten person."""
    name: str
    agreed: bool
    asked: str
    """Wall-clock time of the answer, ISO 8601."""
    consent: int
    """Version of the text that was answered."""


class People(Database):
    """The people of one record. Uses its own connection and short transactions, so that a game can go on beside it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the tables in an existing record, and create them if they are missing.

        Raises:
            RecordError: the file is missing, cannot be read or written, or was made by a newer program.
        """
        super().__init__(path, "ro" if read_only else "rw", RECORD_SCHEMA)
        with self._errors():
            self._db.execute("PRAGMA foreign_keys=ON")
            # Deleted data is overwritten at once, not merely marked as free.
            self._db.execute("PRAGMA secure_delete=ON")
            if not read_only:
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.executescript(PEOPLE_TABLES)
                self._db.execute("INSERT OR IGNORE INTO people_meta VALUES ('version', ?)", (str(_TABLES_VERSION),))
            self.there = bool(self._db.execute("SELECT 1 FROM sqlite_schema WHERE name='people_meta'").fetchone())
        version = self.meta("version") or ""
        if version.isdecimal() and int(version) > _TABLES_VERSION:
            raise RecordError("the people in {path} were written by a newer program; update this one", path=self.path)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none in a record without tables of people. Raises `RecordError`."""
        if not self.there:
            return []
        with self._errors():
            return self._db.execute(query, values).fetchall()

    def meta(self, key: str) -> str | None:
        """Return one of the tables' own notes."""
        found = self.rows("SELECT value FROM people_meta WHERE key=?", key)
        return None if not found else str(found[0][0])

    def note(self, key: str, value: str) -> None:
        """Write one of the notes."""
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO people_meta VALUES (?, ?)", (key, value))

    @property
    def keeping(self) -> RetentionPeriods:
        """The retention periods of this table."""
        said = self.meta("keeping")
        if said is None:
            return RetentionPeriods()
        try:
            return RetentionPeriods(**json.loads(said))
        except (TypeError, ValueError):
            # Damage must not cost a game: until the periods are set anew, nothing is overdue.
            return RetentionPeriods(MOST, MOST, MOST)

    def keep_for(self, keeping: RetentionPeriods) -> None:
        """Set the retention periods."""
        days = {"pictures": keeping.pictures, "figures": keeping.figures, "games": keeping.games}
        self.note("keeping", json.dumps(days))

    def people(self) -> list[Person]:
        """Return all people who were asked, by name."""
        return [_person(row) for row in self.rows(f"{_PERSON} ORDER BY name COLLATE NOCASE")]

    def find(self, name: str) -> Person | None:
        """Return the person with this name, in any spelling."""
        found = self.rows(f"{_PERSON} JOIN spelling ON spelling.person = id WHERE spelling.key=?", name_key(name))
        return _person(found[0]) if found else None

    def named(self, name: str) -> Person:
        """Return the same as `find`; raises `PeopleError` if there is no such person."""
        found = self.find(name)
        if found is None:
            raise PeopleError(f'the record has no player "{name}"; `referee people` lists those who were asked')
        return found

    def answer(self, name: str, agreed: bool, at: str) -> Person:
        """Store a person's answer to `consent.question`; a later answer replaces an earlier one.

        A person who agreed and now declines must be forgotten first (`erasure.forget`), so that no name stays behind.

        Raises:
            PeopleError: no such name, or a person of whom data is kept declines.
        """
        shown, before = tidy_name(name), self.find(name)
        if before is not None and before.agreed and not agreed:
            raise PeopleError(f"{before.name} agreed before, and is remembered: forget them instead")
        who = before.id if before is not None else secrets.token_hex(8)
        with self.writing() as db:
            db.execute(
                "INSERT INTO person VALUES (?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET"
                " agreed=excluded.agreed, asked=excluded.asked, consent=excluded.consent",
                (who, shown, int(agreed), at, CONSENT_VERSION),
            )
            db.execute("INSERT OR IGNORE INTO spelling VALUES (?, ?)", (name_key(shown), who))
        return self.named(name)

    def remember(self, name: str, at: str) -> Person:
        """Note that a person agreed; games that bear the name already become theirs as well. Raises `PeopleError`."""
        person = self.answer(name, True, at)
        for game, seats in self.rows("SELECT id, seats FROM game"):
            if name_key(name) in map(name_key, json.loads(seats)):
                self.tie(game)
        return person

    def to_ask(self, names: Iterable[str]) -> list[str]:
        """Return the names that were never asked."""
        return [name for name in names if self.find(name) is None]

    def seats(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names allowed in a new game's first line: of people who agreed; others become their seat's
        name."""
        out = []
        for seat, name in enumerate(names, start=1):
            person = self.find(name)
            out.append(person.name if person is not None and person.agreed else seat_name(seat))
        return tuple(out)

    def tie(self, game: int) -> list[int]:
        """Tie a game's seats to the people whose names they bear; returns the seats of people who did not agree.

        A name at two seats of one game is tied to the first.
        """
        loose = []
        with self.writing() as db:
            found = db.execute("SELECT seats FROM game WHERE id=?", (game,)).fetchone()
            for seat, name in enumerate(json.loads(found[0]) if found else (), start=1):
                person = self.find(name)
                if person is not None and person.agreed:
                    db.execute("INSERT OR IGNORE INTO played VALUES (?, ?, ?)", (game, seat, person.id))
                elif name != seat_name(seat):
                    loose.append(seat)
        return loose

    def games_of(self, person: Person) -> list[tuple[int, int]]:
        """Return game and seat of every game that a person is tied to."""
        return [(game, seat) for game, seat in self.rows(
            "SELECT game, seat FROM played WHERE person=? ORDER BY game", person.id)]  # fmt: skip

    def ties(self) -> dict[tuple[int, int], str]:
        """Return the id of the person at each seat, by game and seat."""
        return {(game, seat): who for game, seat, who in self.rows("SELECT game, seat, person FROM played")}

    def spellings(self, person: Person) -> list[str]:
        """Return the keys of all spellings of a person's name."""
        return [key for (key,) in self.rows("SELECT key FROM spelling WHERE person=? ORDER BY key", person.id)]

    def rename(self, person: Person, name: str) -> Person:
        """Change a person's name; the old spelling still finds them.

        Lines of games stay unchanged (`erasure.rename_everywhere` writes the new name there too).

        Raises:
            PeopleError: another person has that name.
        """
        shown, other = tidy_name(name), self.find(name)
        if other is not None and other.id != person.id:
            raise PeopleError(f"{other.name} is called so already; to make them one person, merge them")
        with self.writing() as db:
            db.execute("UPDATE person SET name=? WHERE id=?", (shown, person.id))
            db.execute("INSERT OR IGNORE INTO spelling VALUES (?, ?)", (name_key(shown), person.id))
        return self.named(shown)

    def merge(self, keep: Person, other: Person) -> None:
        """Merge two people who are one: everything of the second becomes the first's.

        Raises:
            PeopleError: they are the same, answered differently, or played in one game, so they are two people.
        """
        if keep.id == other.id:
            raise PeopleError(f"{keep.name} and {other.name} are one person already")
        if keep.agreed != other.agreed:
            raise PeopleError(f"{keep.name} and {other.name} answered differently; ask again, then merge")
        both = {game for game, _ in self.games_of(keep)} & {game for game, _ in self.games_of(other)}
        if both:
            raise PeopleError(f"both played in game {min(both)}, so they are two people")
        with self.writing() as db:
            db.execute("UPDATE played SET person=? WHERE person=?", (keep.id, other.id))
            db.execute("UPDATE spelling SET person=? WHERE person=?", (keep.id, other.id))
            db.execute("DELETE FROM person WHERE id=?", (other.id,))


_PERSON: Final = "SELECT id, name, agreed, asked, consent FROM person"


def _person(row: tuple[Any, ...]) -> Person:
    return Person(row[0], row[1], bool(row[2]), row[3], row[4])
