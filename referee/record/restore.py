"""Restores a backup: checks everything before it touches anything, and keeps the present files beside the new ones."""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from referee.record.backup import RECORD, BackupError, Manifest, Places, open_backup, sync_folder
from referee.record.database import RecordError, connect
from referee.record.merge import Comparison, copied_record, copy_database, merge_record
from referee.record.pictures import FRAMES_FILE, PictureStore
from referee.record.schema import PICTURE_SCHEMA, RECORD_SCHEMA
from referee.record.store import Record
from referee.sentence import Sentence

_DATABASES: Final = {RECORD: RECORD_SCHEMA, FRAMES_FILE: PICTURE_SCHEMA}


@dataclass(frozen=True, slots=True)
class FilePlacement:
    """One file to put in place."""

    name: str
    """Name in the archive."""
    to: Path
    beside: Path | None
    """Where the present file is kept; None if there is none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a restore."""

    manifest: Manifest
    steps: tuple[FilePlacement, ...]
    left_out: tuple[str, ...]
    """Members without a known place."""
    same: tuple[FilePlacement, ...] = ()
    """Members that would change nothing."""
    found: Comparison | None = None
    """The backup's games against those that are there; None: there is no sound record."""

    @property
    def words(self) -> list[Sentence]:
        """The plan in words, line by line."""
        made, many = self.manifest.made, self.manifest.games
        said = [Sentence("the backup of {made} is whole; its games: {many}", made=made, many=many)]
        if self.found is not None:
            new, more = len(self.found.missing), len(self.found.longer)
            words = Sentence("games that are there already: {there}; added: {new}", there=many - new - more, new=new)
            said.append(words)
            if more:
                said.append(Sentence("games that are longer in the backup, and completed: {more}", more=more))
            said += self.found.forgotten_words
        for step in self.steps:
            words = Sentence("{name} goes to {to}", name=step.name, to=step.to)
            if step.beside is not None:
                words = Sentence(
                    "{name} goes to {to}; what is there now is kept as {kept}",
                    name=step.name, to=step.to, kept=step.beside.name,
                )  # fmt: skip
            said.append(words)
        said += [Sentence("{name}: {to} has all of it already", name=step.name, to=step.to) for step in self.same]
        left_out = "{name} is left out: name its place with --settings FILE"
        return said + [Sentence(left_out, name=name) for name in self.left_out]


def plan_restore(file: Path, places: Places, stamp: str) -> Plan:
    """Check an archive, and return what restoring it would do; changes nothing.

    Args:
        file: the archive.
        places: where its parts belong.
        stamp: goes into the names under which the present files are kept.

    Raises:
        BackupError: it is truncated, no backup, or of a newer program.
    """
    with unpacked_backup(file, None) as (manifest, folder):
        return _plan(manifest, folder, places, stamp)


def restore(file: Path, places: Places, stamp: str) -> Plan:
    """Restore an archive. A power cut at any instant leaves each file either unchanged or restored.

    A sound record keeps its games, and receives those that it lacks. People who were forgotten at this table since
    then stay forgotten.

    Raises:
        BackupError: the archive is damaged, or the record is in use; nothing was changed then.
    """
    places.record.parent.mkdir(parents=True, exist_ok=True)
    # Unpack beside the record, so that putting a file in place is a rename.
    with unpacked_backup(file, places.record.parent) as (manifest, folder):
        plan = _plan(manifest, folder, places, stamp)
        taken = [step.beside for step in plan.steps if step.beside is not None and step.beside.exists()]
        if taken:
            raise BackupError(f"{taken[0]} is there already; wait a second, or move it away")
        for name in _DATABASES:
            place = places.of(name)
            if any(step.name == name for step in plan.steps) and place is not None and place.exists():
                _let_go(place)
        _put_all(folder, plan.steps)
    return plan


def _put_all(folder: Path, steps: tuple[FilePlacement, ...]) -> None:
    """Put every file in place; if one cannot be, take back those that were."""
    begun: list[FilePlacement] = []
    try:
        for step in steps:
            begun.append(step)
            _put(folder / step.name, step)
    except OSError as error:
        for step in reversed(begun):
            if step.beside is None:
                with contextlib.suppress(OSError):
                    step.to.unlink()
            elif step.beside.exists():
                step.beside.replace(step.to)
                # If both names are of one file, the rename leaves both.
                step.beside.unlink(missing_ok=True)
        why = f"{error.filename or 'a file'} cannot be written ({error.strerror})"
        raise BackupError(f"{why}; everything is as it was before") from error


def _plan(manifest: Manifest, folder: Path, places: Places, stamp: str) -> Plan:
    """Return the steps; the unpacked record receives the games that are there, if these can be read."""
    found, unchanged = None, set[str]()
    if _is_sound(places.record):
        found, unchanged = _merge_unpacked(folder, places, stamp)
    else:
        _forget_again(places.record, folder / RECORD)
    steps, same, left_out = list[FilePlacement](), list[FilePlacement](), list[str]()
    for part in manifest.parts:
        to = places.of(part.name)
        if to is None:
            left_out.append(part.name)
            continue
        step = FilePlacement(part.name, to, to.with_name(f"{to.name}.before-{stamp}") if to.exists() else None)
        known = part.name in unchanged
        if part.name not in _DATABASES:
            known = to.exists() and filecmp.cmp(to, folder / part.name, shallow=False)
        (same if known else steps).append(step)
    return Plan(manifest, tuple(steps), tuple(left_out), tuple(same), found)


def _is_sound(record: Path) -> bool:
    """Return whether a record is there and can be read; a damaged one is replaced by the backup's."""
    with contextlib.suppress(RecordError), Record(record, read_only=True) as present:
        return present.is_begun and not present.check_file()
    return False


def _merge_unpacked(folder: Path, places: Places, stamp: str) -> tuple[Comparison, set[str]]:
    """Let the unpacked databases be those that are there, with what the backup adds; return also the unchanged ones.

    Raises `RecordError`.
    """
    sound = _can_read_pictures(places.frames)
    at = datetime.strptime(stamp, "%Y%m%dT%H%M%S").astimezone().isoformat(timespec="seconds")
    with copied_record(places.record, folder, pictures=sound) as present:
        found = merge_record(present, folder / RECORD, at)
        unchanged = {name for name, new in ((RECORD, found.changes), (FRAMES_FILE, found.pictures)) if not new}
        if not sound:
            unchanged.discard(FRAMES_FILE)
        for name, merged in ((RECORD, present), (FRAMES_FILE, present.with_name(FRAMES_FILE))):
            if (folder / name).exists():
                # As a single file, without a write-ahead log.
                copy_database(merged, folder / f"{name}.merged", _DATABASES[name]).replace(folder / name)
    return found, unchanged


def _can_read_pictures(frames: Path) -> bool:
    with contextlib.suppress(RecordError), closing(PictureStore(frames, read_only=True)) as store:
        return store.count() >= 0
    return False


@contextmanager
def unpacked_backup(file: Path, folder: Path | None) -> Iterator[tuple[Manifest, Path]]:
    """Unpack a complete archive into a temporary folder, and check its databases; raises `BackupError`.

    Args:
        file: the archive.
        folder: holds the temporary one; None: the system's.
    """
    try:
        with (
            open_backup(file) as (archive, manifest),
            tempfile.TemporaryDirectory(dir=folder, prefix=".restore-") as beside,
        ):
            for part in manifest.parts:
                to = Path(beside) / part.name
                to.parent.mkdir(exist_ok=True)
                with archive.open(part.name) as member, to.open("wb") as out:
                    shutil.copyfileobj(member, out, 1 << 20)
                    out.flush()
                    os.fsync(out.fileno())
            for part in manifest.parts:
                if part.name in _DATABASES:
                    _look_through(Path(beside) / part.name, part.name, file)
            yield manifest, Path(beside)
    except BackupError:
        raise
    except OSError as error:
        raise BackupError(f"{file} cannot be restored: {error.strerror or error}") from error


def _look_through(path: Path, name: str, file: Path) -> None:
    """Check that a database is sound, not of a newer program, and holds nothing but a table's own data."""
    schema = _DATABASES[name]
    try:
        with closing(connect(path, "rw")) as db:
            found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
            stranger = schema.find_stranger(db)
    except sqlite3.DatabaseError as error:
        raise BackupError(f"{file}: its {name} is no data base ({error}), and nothing was changed") from error
    if found != "ok":
        raise BackupError(f"{file}: its {name} is damaged ({found}), and nothing was changed")
    if version > schema.version:
        raise BackupError(f"{file} was made by a newer program (version {version}); update this one")
    if name == RECORD and version < 1:
        raise BackupError(f"{file}: its {name} is no record of games, and nothing was changed")
    if stranger:
        raise BackupError(
            Sentence(
                "{file}: its {name} holds something that no Table Referee made ({what}), and nothing was changed: "
                "take another backup",
                file=file,
                name=name,
                what=stranger,
            )
        )


def _let_go(path: Path) -> None:
    """Write a database's log back and remove it: it must not be taken for the log of the restored file.

    SQLite does so only if no other process has the file open, which is exactly what must be known here.
    """
    db = connect(path, "rw", patience=0.2)
    try:
        mode = db.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise BackupError(f"{path} is in use: stop the referee and its page first; nothing was changed") from error
    except sqlite3.DatabaseError:
        # It is damaged, perhaps the reason for the restore: keep it beside, unchanged.
        mode = "delete"
    finally:
        db.close()
    if mode != "delete":
        raise BackupError(f"{path} is in use: stop the referee and its page first; nothing was changed")


def _forget_again(present: Path, coming: Path) -> None:
    """Forget the people who were forgotten at this table in the restored record, too, before it is put in place."""
    from referee.record.erasure import forget
    from referee.record.people import People

    gone: dict[str, str] = {}
    if present.exists():
        # If the record cannot be read, there are none.
        with closing(connect(present, "ro")) as db, contextlib.suppress(sqlite3.DatabaseError):
            gone = dict(db.execute("SELECT person, at FROM forgotten").fetchall())
    if not gone:
        return
    with People(coming) as people:
        for person in people.people():
            if person.id in gone:
                forget(people, person, gone[person.id])
        with people.writing() as db:
            db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", list(gone.items()))


def _put(source: Path, step: FilePlacement) -> None:
    step.to.parent.mkdir(parents=True, exist_ok=True)
    if step.beside is not None:
        # A second name for the present file; its first name is then moved to the new one at once.
        try:
            os.link(step.to, step.beside)
        except OSError:
            near = step.to.with_name(f".{step.to.name}.old")
            shutil.copy2(step.to, near)
            near.replace(step.beside)
    if step.beside is not None:
        shutil.copymode(step.to, source)
    try:
        source.replace(step.to)
    except OSError:
        # Another file system, as /etc and /var can be.
        near = step.to.with_name(f".{step.to.name}.new")
        shutil.copy2(source, near)
        near.replace(step.to)
    for left in ("-wal", "-shm"):
        if step.name in _DATABASES:
            step.to.with_name(step.to.name + left).unlink(missing_ok=True)
    sync_folder(step.to.parent)
