"""A backup: one archive with everything of a table, a manifest, and a checksum of each part.

A zip file, so that any computer can open it. ``manifest.json`` names every other member with its size and SHA-256; an
archive with a member that is not named, or without one that is, is no backup.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from referee.errors import UserError
from referee.record.database import RecordError, connect, record_errors
from referee.record.merge import copy_database
from referee.record.pictures import FRAMES_FILE
from referee.record.schema import PICTURE_SCHEMA, RECORD_SCHEMA

_FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
RECORD: Final = "record.db"
_SETTINGS: Final = "table.toml"
_DECK: Final = re.compile(r"decks/[a-z0-9][a-z0-9_-]{0,39}\.(npz|png)")
_HOUSE: Final = re.compile(r"rules/(?!\.)[\w.-]{1,80}\.toml")
"""A house-rules file beside the settings, which name it."""
_CERTIFICATE: Final = re.compile(r"certificates/(?!\.)[\w.-]{1,80}\.(json|html)")
"""A certificate of the table, kept in this folder beside the record."""
_LARGEST_PART: Final = 64 << 30
"""Largest size of a member, bytes: more than any card of such a machine holds."""
_CHUNK: Final = 1 << 20


class BackupError(OSError, UserError):
    """An archive cannot be written, or is no complete backup; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Part:
    """One member of an archive."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of an archive."""

    made: str
    """Wall-clock time, ISO 8601."""
    games: int
    parts: tuple[Part, ...]

    def json(self) -> str:
        """Return the manifest as it is in the archive."""
        parts = [{"name": part.name, "size": part.size, "sha256": part.sha256} for part in self.parts]
        said = {"format": _FORMAT, "made": self.made, "games": self.games, "parts": parts}
        return json.dumps(said, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class Places:
    """The locations of a table's parts."""

    record: Path
    settings: Path | None
    decks: Path

    @property
    def frames(self) -> Path:
        """The file of pictures, beside the record."""
        return self.record.with_name(FRAMES_FILE)

    def of(self, name: str) -> Path | None:
        """Return where a member of an archive belongs; None for settings and their rules if no settings are named."""
        if name == RECORD:
            return self.record
        if name == FRAMES_FILE:
            return self.frames
        folder, _, inner = name.rpartition("/")
        if folder == "decks":
            return self.decks / inner
        if folder == "certificates":
            return self.record.with_name(folder) / inner
        if self.settings is None:
            return None
        return self.settings if name == _SETTINGS else self.settings.parent / inner

    @property
    def house(self) -> str:
        """The house-rules file that the settings name; empty if they name none, or cannot be read."""
        if self.settings is None:
            return ""
        try:
            said = tomllib.loads(self.settings.read_text(encoding="utf-8")).get("rules")
        except (OSError, ValueError):
            return ""
        return said if isinstance(said, str) and said.endswith(".toml") else ""


def back_up(places: Places, to: Path, made: str, *, pictures: bool = False) -> Manifest:
    """Write an archive; a game may go on meanwhile, and is included up to some single instant.

    Nothing is at ``to`` before all of it is written, synced to the disk and read back.

    Raises:
        BackupError: there is no record, or the archive cannot be written.
        RecordError: the record cannot be read.
    """
    if not places.record.exists():
        raise BackupError(f"there is no record {places.record}: name it with --record FILE")
    part = to.with_name(f".{to.name}.part")
    try:
        with tempfile.TemporaryDirectory(dir=to.parent, prefix=".backup-") as folder:
            files = _gathered(places, Path(folder), pictures)
            with record_errors(places.record), closing(connect(files[RECORD], "ro")) as db:
                games = int(db.execute("SELECT count(*) FROM game").fetchone()[0])
            with part.open("wb") as out:
                manifest = _written(out, files, made, games)
                out.flush()
                os.fsync(out.fileno())
        with open_backup(part):
            pass
        part.replace(to)
        sync_folder(to.parent)
    except RecordError:
        raise
    except OSError as error:
        raise BackupError(f"{to} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _gathered(places: Places, folder: Path, pictures: bool) -> dict[str, Path]:
    """Return every file of the archive by its name there; databases as copies of one instant."""
    files = {RECORD: copy_database(places.record, folder / RECORD, RECORD_SCHEMA)}
    if pictures and places.frames.exists():
        files[FRAMES_FILE] = copy_database(places.frames, folder / FRAMES_FILE, PICTURE_SCHEMA)
    if places.settings is not None and places.settings.exists():
        files[_SETTINGS] = places.settings
        house = places.settings.parent / places.house
        if _HOUSE.fullmatch(f"rules/{places.house}") and house.is_file():
            files[f"rules/{places.house}"] = house
    for folder, kind in ((places.decks, _DECK), (places.record.with_name("certificates"), _CERTIFICATE)):
        for file in sorted(folder.glob("*")):
            if kind.fullmatch(f"{folder.name}/{file.name}") and file.is_file():
                files[f"{folder.name}/{file.name}"] = file
    return files


def _written(out: IO[bytes], files: dict[str, Path], made: str, games: int) -> Manifest:
    parts = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, file in files.items():
            seen, size = hashlib.sha256(), 0
            with file.open("rb") as source, archive.open(name, "w", force_zip64=True) as member:
                while chunk := source.read(_CHUNK):
                    seen.update(chunk)
                    size += len(chunk)
                    member.write(chunk)
            parts.append(Part(name, size, seen.hexdigest()))
        manifest = Manifest(made, games, tuple(parts))
        archive.writestr(MANIFEST, manifest.json())
    return manifest


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def open_backup(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """Open a complete backup: every member is there, no other is, and each has its checksum.

    Raises:
        BackupError: it is truncated, was changed, is no backup, or was made by a newer program.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise BackupError(f"there is no file {path}") from None
    except _TORN as error:
        raise _torn(path, error) from error
    with archive:
        try:
            manifest = _manifest(archive, path)
            for part in manifest.parts:
                _check(archive, part, path)
        except _TORN as error:
            raise _torn(path, error) from error
        yield archive, manifest


_TORN: Final = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, ValueError, LookupError, TypeError, RecursionError,
    # An unknown compression method, or a member marked as encrypted.
    NotImplementedError, RuntimeError,
)  # fmt: skip


def _torn(path: Path, bad: Exception) -> BackupError:
    return BackupError(f"{path} is torn or no backup, and nothing was changed ({type(bad).__name__}: {bad})")


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    info = archive.getinfo(MANIFEST)
    if info.file_size > _CHUNK:
        raise BackupError(f"{path} is no backup: its manifest is too long")
    said = json.loads(archive.read(info))
    if not isinstance(said, dict) or type(said.get("format")) is not int:
        raise BackupError(f"{path} is no backup of a table")
    if said["format"] > _FORMAT:
        raise BackupError(f"{path} was made by a newer program; update this one")
    parts = tuple(_part(raw, path) for raw in said["parts"])
    there = sorted(info.filename for info in archive.infolist() if info.filename != MANIFEST)
    if there != sorted(part.name for part in parts) or RECORD not in there:
        raise BackupError(f"{path} does not hold what its manifest says, and nothing was changed")
    return Manifest(str(said["made"]), int(said["games"]), parts)


def _part(raw: Any, path: Path) -> Part:
    part = Part(str(raw["name"]), int(raw["size"]), str(raw["sha256"]))
    kinds = (_DECK, _HOUSE, _CERTIFICATE)
    if part.name not in (RECORD, FRAMES_FILE, _SETTINGS) and not any(kind.fullmatch(part.name) for kind in kinds):
        raise BackupError(f"{path} holds {part.name!r}, which is no part of a backup")
    if not 0 <= part.size <= _LARGEST_PART:
        raise BackupError(f"{path}: {part.name} is said to hold {part.size} bytes")
    return part


def _check(archive: zipfile.ZipFile, part: Part, path: Path) -> None:
    """Check a member's size and checksum; stops one byte after the stated size, so a small file cannot expand
    endlessly."""
    seen, left = hashlib.sha256(), part.size + 1
    with archive.open(part.name) as member:
        while left > 0 and (chunk := member.read(min(_CHUNK, left))):
            seen.update(chunk)
            left -= len(chunk)
    if left != 1 or seen.hexdigest() != part.sha256:
        raise BackupError(f"{path}: {part.name} is not what was saved, and nothing was changed")
