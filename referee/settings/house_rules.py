"""House-rules files: a changed preset in TOML, with ids or friendly names; every mistake is reported with its place.

A file is converted to the form of a log's first line: a base, rows on and off by id, and values. `tomllib` gives the
place of a syntax error, but no places for valid TOML: so valid text is scanned once more, only for the places of its
keys and of the items of its lists (`find_places`).
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from referee.errors import UserError
from referee.rules.house import (
    HouseRules,
    RulesError,
    checked_value,
    contradictions,
    read_house_rules,
    row_named,
    suggest_nearest,
)
from referee.rules.notation import NotationError, compile_pattern
from referee.rules.presets import PRESETS
from referee.rules.rows import ROWS
from referee.sentence import Sentence, words_of

SUFFIX: Final = ".toml"
_LARGEST: Final = 1 << 20
"""Maximum size of a file, bytes."""
_KEYS: Final = ("title", "base", "on", "off", "set", "patterns")
_AT: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r]+|\#[^\n]*)|(?P<line>\n)"
    r'|(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r'|(?P<mark>[\[\]{},=])|(?P<bare>[^\s\[\]{},="\'#]+)',
    re.DOTALL,
)
KeyPath = tuple[str | int, ...]
"""Keys, outermost first; a number stands for the item of a list."""


class Place(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


def find_places(text: str) -> dict[KeyPath, Place]:
    """Return the places in valid TOML by path: of each key, each value (its key's path and ``=``) and each list
    item.
    """
    found: dict[KeyPath, Place] = {}
    section: KeyPath = ()
    path, header = section, Place(1, 1)
    open_: list[tuple[KeyPath, Iterator[int] | None]] = []
    """Open lists (with the numbers of their items) and inline tables, the innermost last."""
    # The parser's state: key, section (a header's name), value, or next (a comma or an end).
    expected = "key"
    for kind, token, place in _tokens(text):
        if kind == "line":
            if not open_:
                expected, path = "key", section
        elif expected in ("key", "section") and kind != "mark":
            path += (token[1:-1],) if kind == "text" else tuple(part for part in token.split(".") if part)
            if expected == "key":
                found.setdefault(path, place)
        elif expected == "section" and token == "]":
            found.setdefault(path, header)
            section = path
        elif expected == "key" and token == "[":
            expected, path, header = "section", (), place
        elif expected == "key" and token == "=":
            expected = "value"
        elif token in ("]", "}"):
            open_.pop()
            expected = "next"
        elif expected == "next" and token == ",":
            path, numbers = open_[-1]
            expected = "value" if numbers is not None else "key"
        elif expected == "value":
            if open_ and (numbers := open_[-1][1]) is not None:
                path = (*open_[-1][0], next(numbers))
                found[path] = place
            if token in ("[", "{"):
                open_.append((path, itertools.count() if token == "[" else None))
                expected = "value" if token == "[" else "key"
            else:
                found[*path, "="] = place
                expected = "next"
    return found


def _tokens(text: str) -> Iterator[tuple[str, str, Place]]:
    line, begins = 1, 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup != "space":
            yield match.lastgroup or "", token, Place(line, match.start() - begins + 1)
        if breaks := token.count("\n"):
            line += breaks
            begins = match.start() + token.rindex("\n") + 1


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake at a place of a file, and what to write instead."""

    place: Place | None
    problem: str

    def as_line(self, file: str) -> str:
        """Return one line: file, line and column where known, and the problem."""
        where = f":{self.place.line}:{self.place.column}" if self.place is not None else ""
        return Sentence("{where}: {problem}", where=f"{file}{where}", problem=self.problem)


class HouseFileError(UserError):
    """A house-rules file with mistakes; the text is the first of them, ``mistakes`` holds all."""

    def __init__(self, file: str, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        more = len(mistakes) - 1
        first = mistakes[0].as_line(file)
        if more:
            words = "{first} (and {more} more: `referee rules check {file}` lists them)"
            super().__init__(Sentence(words, first=first, more=more, file=file))
        else:
            super().__init__(first)


@dataclass(frozen=True, slots=True)
class HouseFile:
    """A checked file."""

    title: str
    record: dict[str, Any]
    """The rules in the form of a log's first line."""
    rules: HouseRules
    notes: tuple[Mistake, ...]
    """Settings that are valid but have no effect."""


def example_house_rules() -> str:
    """Return a commented house-rules file to start from."""
    return (Path(__file__).parent / "house.toml").read_text(encoding="utf-8")


def resolve_rules(word: str, folder: Path | None = None) -> Any:
    """Return house rules in the form of a log's first line; they are named as a preset, or a file that ends in
    ``.toml``.

    Args:
        word: the preset or file.
        folder: base of a relative path; the current folder by default.

    Raises:
        UserError: there is no such preset, or the file cannot be used.
    """
    if word.endswith(SUFFIX):
        return load_house_rules(folder / word if folder is not None else Path(word)).record
    if word not in PRESETS:
        known = ", ".join(PRESETS)
        raise UserError(
            'there are no rules "{word}"{hint}; name a preset ({known}) or a house-rules file (*.toml)',
            word=word,
            hint=suggest_nearest(word[:40], PRESETS),
            known=known,
        )
    return word


def load_house_rules(path: Path) -> HouseFile:
    """Read and check a house-rules file.

    Raises:
        HouseFileError: the file has mistakes.
        UserError: there is no such file, or it cannot be read.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UserError(
            "{path}: there is no such file; `referee rules example > {path}` begins one", path=path
        ) from None
    except IsADirectoryError:
        raise UserError("{path} is a folder; house rules are one TOML file", path=path) from None
    except OSError as error:
        raise UserError("{path} cannot be read: {why}", path=path, why=error.strerror) from None
    return parse_bytes(raw, str(path))


def parse_bytes(raw: bytes, file: str = "house rules") -> HouseFile:
    """Check house rules given as the bytes of a file.

    Raises:
        HouseFileError: see `load_house_rules`.
    """
    if len(raw) > _LARGEST:
        raise HouseFileError(
            file, (Mistake(None, Sentence("more than {most} bytes are no house rules", most=_LARGEST)),)
        )
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise HouseFileError(file, (Mistake(Place(line, 1), Sentence("not UTF-8; save the file as UTF-8")),)) from None
    return parse_house_rules(text, file)


def parse_house_rules(text: str, file: str = "house rules") -> HouseFile:
    """Check house rules given as TOML text.

    Raises:
        HouseFileError: see `load_house_rules`.
    """
    try:
        raw = tomllib.loads(text)
    except RecursionError:
        raise HouseFileError(file, (Mistake(None, Sentence("nested too deep to be house rules")),)) from None
    except ValueError as error:
        raise HouseFileError(file, (_not_toml(str(error), text),)) from None
    check = _Check(raw, find_places(text))
    record = check.read()
    if check.mistakes:
        raise HouseFileError(file, tuple(sorted(check.mistakes, key=lambda mistake: mistake.place or Place(0, 0))))
    return HouseFile(raw.get("title", "house rules"), record, read_house_rules(record), tuple(check.notes))


def _not_toml(problem: str, text: str) -> Mistake:
    found = _AT.search(problem)
    words = _AT.sub("", problem)
    if words == "Invalid value":
        words = Sentence('no TOML value; names and ids stand in quotes, as in on = ["double"]')
    if found is None:
        return Mistake(None, Sentence("not TOML: {words}", words=words))
    if found.group(1) is None:
        return Mistake(
            Place(text.count("\n") + 1, 1), Sentence("not TOML: {words}, at the end of the file", words=words)
        )
    return Mistake(Place(int(found.group(1)), int(found.group(2))), Sentence("not TOML: {words}", words=words))


class _Check:
    """A pass over a file's keys that collects every mistake."""

    def __init__(self, raw: Mapping[str, Any], places: Mapping[KeyPath, Place]) -> None:
        self.raw, self.places = raw, places
        self.mistakes: list[Mistake] = []
        self.notes: list[Mistake] = []
        self.rows: dict[str, KeyPath] = {}
        """Path of each row's last switch."""

    def read(self) -> dict[str, Any]:
        """Return the file's rules by ids; complete only if there is no mistake."""
        for key in self.raw:
            if key not in _KEYS:
                hint = suggest_nearest(key, _KEYS) or _row_hint(key)
                self.wrong(
                    (key,),
                    Sentence(
                        'house rules have no "{key}"{hint}; they have {keys}', key=key, hint=hint, keys=", ".join(_KEYS)
                    ),
                )
        if not isinstance(self.raw.get("title", ""), str):
            self.wrong(("title",), Sentence("the title is a text in quotes"))
        base = self.raw.get("base", "classic")
        if not isinstance(base, str) or base not in PRESETS:
            shown = str(base)[:40]
            self.wrong(
                ("base",),
                Sentence(
                    'there is no preset "{name}"{hint}; the presets are {known}',
                    name=shown,
                    hint=suggest_nearest(shown, PRESETS),
                    known=", ".join(PRESETS),
                ),
            )
        on, off = self.switches("on"), self.switches("off")
        for problem in contradictions(on, off):
            named = [row for row in self.rows if re.search(rf"\b{row}\b", problem)]
            self.wrong(self.rows[named[-1]] if named else ("on",), problem)
        values, patterns = self.values(), self.patterns()
        if patterns:
            values["P19"] = {**values.get("P19", {}), **patterns}
            if "P19" not in off and "P19" not in on:
                on.append("P19")
        record = {"base": base, "on": on, "off": off, "set": values}
        if not self.mistakes:
            self.note_idle(record)
        return record

    def wrong(self, path: KeyPath, problem: str) -> None:
        """Record a mistake at a key or an item."""
        self.mistakes.append(Mistake(self.place(path), problem))

    def place(self, path: KeyPath) -> Place | None:
        """Return the place of the innermost known part of a path."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path)

    def switches(self, key: str) -> list[str]:
        words = self.raw.get(key, [])
        if not isinstance(words, list):
            self.wrong((key,), Sentence('"{key}" is a list of rows, as in {key} = ["double", "P2"]', key=key))
            return []
        rows: list[str] = []
        for number, word in enumerate(words):
            try:
                rows.append(row_named(word))
                self.rows[rows[-1]] = (key, number)
            except RulesError as error:
                self.wrong((key, number), words_of(error))
        return rows

    def values(self) -> dict[str, Any]:
        given = self.raw.get("set", {})
        if not isinstance(given, Mapping):
            self.wrong(("set",), Sentence("[set] gives rows their values, as in burn = 2"))
            return {}
        values: dict[str, Any] = {}
        for word, value in given.items():
            try:
                row = row_named(word)
                if row in values:
                    self.wrong(("set", word), Sentence("row {row} is set twice; keep one of them", row=row))
                values[row] = checked_value(row, value)
            except RulesError as error:
                self.wrong(("set", word), words_of(error))
        return values

    def patterns(self) -> dict[str, str]:
        given = self.raw.get("patterns", {})
        if not isinstance(given, Mapping):
            self.wrong(("patterns",), Sentence('[patterns] names patterns, as in twins = "rank(1) = rank(2)"'))
            return {}
        for name, text in given.items():
            try:
                compile_pattern(text)
            except NotationError as error:
                begins = self.places.get(("patterns", name, "="))
                if begins is None or not isinstance(text, str):
                    self.wrong(("patterns", name), Sentence('pattern "{name}": {why}', name=name, why=error.problem))
                else:
                    # Point at the character inside the pattern.
                    shown = text if len(text) <= 80 else text[:80] + "…"
                    place = Place(begins.line, begins.column + 1 + error.at)
                    self.mistakes.append(
                        Mistake(
                            place,
                            Sentence(
                                'pattern "{name}": {why}; it says "{shown}"', name=name, why=error.problem, shown=shown
                            ),
                        )
                    )
            if not name.strip():
                self.wrong(("patterns", name), Sentence("a pattern needs a name"))
        return dict(given)

    def note_idle(self, record: Mapping[str, Any]) -> None:
        """Note the values of rows that are off, since they have no effect."""
        rules = read_house_rules(record)
        for word in self.raw.get("set", {}):
            row = row_named(word)
            if not rules.has(row) and row != "S2":
                problem = Sentence(
                    'row {row} is off, so its value does nothing; on = ["{name}"] would switch it on',
                    row=row,
                    name=ROWS[row].name,
                )
                self.notes.append(Mistake(self.place(("set", word)), problem))


def _row_hint(key: str) -> str:
    try:
        return Sentence(
            ' ({row} is a row: write on = ["{key}"], or its value under [set])', row=row_named(key), key=key
        )
    except RulesError:
        return ""
