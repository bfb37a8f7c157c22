"""Where things stand in a TOML text, for mistakes that are found after it was read.

`tomllib` tells the place of what is not TOML, and nothing of what is. This reads a valid text once more, only for the
places of its keys and of the items of its lists.

House rules as a file: a preset changed, in TOML, with ids or friendly names; every mistake told with its place.

What a file says is turned into what a log's first line says: a base, rows on and off by id, and values.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from referee.errors import UserError
from referee.rules.house import HouseRules, RulesError, checked_value, contradictions, house_rules, nearest, row_named
from referee.rules.notation import NotationError, compile_pattern
from referee.rules.presets import PRESETS
from referee.rules.rows import ROWS

KeyPath = tuple[str | int, ...]
"""Keys from the outermost on; a number for the item of a list."""

_TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r]+|\#[^\n]*)|(?P<line>\n)"
    r'|(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r'|(?P<mark>[\[\]{},=])|(?P<bare>[^\s\[\]{},="\'#]+)',
    re.DOTALL,
)


class Place(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


class _Token(NamedTuple):
    kind: str
    text: str
    place: Place


def _tokens(text: str) -> Iterator[_Token]:
    line, begins = 1, 0
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        if kind != "space":
            yield _Token(kind, found.group(), Place(line, found.start() - begins + 1))
        breaks = found.group().count("\n")
        if breaks:
            line += breaks
            begins = found.start() + found.group().rindex("\n") + 1
    yield _Token("end", "", Place(line, len(text) - begins + 1))


def find_places(text: str) -> dict[KeyPath, Place]:
    """The place of each key and of each item of a list, by its path; of a text that is valid TOML."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0
        self.found: dict[KeyPath, Place] = {}

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def read(self) -> dict[KeyPath, Place]:
        section: KeyPath = ()
        while self.token.kind != "end":
            if self.token.kind == "line":
                self.take()
            elif self.token.text == "[":
                section = self.header()
            else:
                self.pair(section)
        return self.found

    def header(self) -> KeyPath:
        first = self.token.place
        path: KeyPath = ()
        while self.token.kind not in ("line", "end"):
            token = self.take()
            if token.kind in ("bare", "text"):
                path += _keys(token)
        self.found.setdefault(path, first)
        return path

    def pair(self, outer: KeyPath) -> None:
        """A key, its sign and its value."""
        path = outer
        while self.token.kind not in ("line", "end"):
            token = self.take()
            if token.kind in ("bare", "text"):
                path += _keys(token)
                self.found.setdefault(path, token.place)
            elif token.text == "=":
                self.value(path)
                return

    def value(self, path: KeyPath) -> None:
        token = self.take()
        if token.text == "[":
            self.items(path)
        elif token.text == "{":
            while self.token.text not in ("}", "") or self.token.kind == "text":
                if self.token.text == "," or self.token.kind == "line":
                    self.take()
                else:
                    self.pair(path)
            self.take()
        else:
            self.found[*path, "="] = token.place

    def items(self, path: KeyPath) -> None:
        number = 0
        while self.token.kind == "text" or self.token.text not in ("]", ""):
            if self.token.text == "," or self.token.kind == "line":
                self.take()
                continue
            self.found[*path, number] = self.token.place
            self.value((*path, number))
            number += 1
        self.take()


def _keys(token: _Token) -> KeyPath:
    if token.kind == "text":
        return (token.text[1:-1],)
    return tuple(part for part in token.text.split(".") if part)


SUFFIX: Final = ".toml"
LARGEST: Final = 1 << 20
"""Bytes; a larger file holds no house rules."""
_KEYS: Final = ("title", "base", "on", "off", "set", "patterns")
_AT: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at a place of a file, and what to write instead."""

    place: Place | None
    problem: str

    def told(self, file: str) -> str:
        """One line: file, line and column where they are known, and what is wrong."""
        where = f":{self.place.line}:{self.place.column}" if self.place is not None else ""
        return f"{file}{where}: {self.problem}"


class HouseFileError(UserError):
    """A house-rules file that cannot be used; the text tells its first mistake, ``mistakes`` holds all."""

    def __init__(self, file: str, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        more = len(mistakes) - 1
        rest = f" (and {more} more: `referee rules check {file}` lists them)" if more else ""
        super().__init__(mistakes[0].told(file) + rest)


@dataclass(frozen=True, slots=True)
class HouseFile:
    """A checked file."""

    title: str
    said: dict[str, Any]
    """What a log's first line says for it."""
    rules: HouseRules
    notes: tuple[Mistake, ...]
    """What is no mistake and yet does nothing."""


def example_house_rules() -> str:
    """A commented house-rules file to begin with."""
    return (Path(__file__).parent / "house.toml").read_text(encoding="utf-8")


def resolve_rules(word: str, folder: Path | None = None) -> Any:
    """House rules as people name them: a preset, or a file that ends in ``.toml``; as a log's first line says them.

    Args:
        word: the preset or file.
        folder: where a file is looked for that is not named from the root; the current one by default.

    Raises:
        UserError: there is no such preset, or the file cannot be used.
    """
    if word.endswith(SUFFIX):
        return load_house_rules(folder / word if folder is not None else Path(word)).said
    if word not in PRESETS:
        known = ", ".join(PRESETS)
        raise UserError(
            f'there are no rules "{word}"{nearest(word[:40], PRESETS)}; '
            f"name a preset ({known}) or a house-rules file (*.toml)"
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
        raise UserError(f"{path}: there is no such file; `referee rules example > {path}` begins one") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder; house rules are one TOML file") from None
    except OSError as bad:
        raise UserError(f"{path} cannot be read: {bad.strerror}") from None
    return parse_bytes(raw, str(path))


def parse_bytes(raw: bytes, file: str = "house rules") -> HouseFile:
    """Check house rules given as the bytes of a file.

    Raises:
        HouseFileError: see `load_house_rules`.
    """
    if len(raw) > LARGEST:
        raise HouseFileError(file, (Mistake(None, f"more than {LARGEST} bytes are no house rules"),))
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as bad:
        line = raw[: bad.start].count(b"\n") + 1
        raise HouseFileError(file, (Mistake(Place(line, 1), "not UTF-8; save the file as UTF-8"),)) from None
    return parse_house_rules(text, file)


def parse_house_rules(text: str, file: str = "house rules") -> HouseFile:
    """Check house rules given as TOML text.

    Raises:
        HouseFileError: see `load_house_rules`.
    """
    try:
        raw = tomllib.loads(text)
    except RecursionError:
        raise HouseFileError(file, (Mistake(None, "nested too deep to be house rules"),)) from None
    except ValueError as bad:
        raise HouseFileError(file, (_not_toml(str(bad), text),)) from None
    check = _Check(raw, find_places(text))
    said = check.all()
    if check.mistakes:
        raise HouseFileError(file, tuple(sorted(check.mistakes, key=lambda mistake: mistake.place or Place(0, 0))))
    title = raw.get("title", "house rules")
    return HouseFile(title, said, house_rules(said), tuple(check.notes))


def _not_toml(problem: str, text: str) -> Mistake:
    found = _AT.search(problem)
    words = _AT.sub("", problem)
    if words == "Invalid value":
        words = 'no TOML value; names and ids stand in quotes, as in on = ["double"]'
    if found is None:
        return Mistake(None, f"not TOML: {words}")
    if found.group(1) is None:
        return Mistake(Place(text.count("\n") + 1, 1), f"not TOML: {words}, at the end of the file")
    return Mistake(Place(int(found.group(1)), int(found.group(2))), f"not TOML: {words}")


class _Check:
    """One pass over a file's keys that gathers every mistake."""

    def __init__(self, raw: Mapping[str, Any], places_: Mapping[KeyPath, Place]) -> None:
        self.raw = raw
        self.places = places_
        self.mistakes: list[Mistake] = []
        self.notes: list[Mistake] = []
        self.rows: dict[str, list[KeyPath]] = {}

    def all(self) -> dict[str, Any]:
        """What the file says by ids; complete only where there is no mistake."""
        for key in self.raw:
            if key not in _KEYS:
                hint = nearest(key, _KEYS) or self._row_hint(key)
                self.wrong((key,), f'house rules have no "{key}"{hint}; they have {", ".join(_KEYS)}')
        title = self.raw.get("title", "")
        if not isinstance(title, str):
            self.wrong(("title",), "the title is a text in quotes")
        base = self.base()
        on, off = self.switches("on"), self.switches("off")
        self.refuse_contradictions(on, off)
        values = self.values()
        own = self.patterns()
        if own:
            values["P19"] = {**values.get("P19", {}), **own}
            if "P19" not in off and "P19" not in on:
                on.append("P19")
        self.note_idle(base, on, off, values)
        return {"base": base, "on": on, "off": off, "set": values}

    def wrong(self, path: KeyPath, problem: str) -> None:
        """Note a mistake at a key or an item."""
        self.mistakes.append(Mistake(self.place(path), problem))

    def place(self, path: KeyPath) -> Place | None:
        """The place of the innermost part of a path that is known."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path)

    def attempt(self, path: KeyPath, read: Callable[[], Any]) -> Any:
        """What ``read`` gives; None, and a mistake, where the rules refuse it."""
        try:
            return read()
        except RulesError as bad:
            self.wrong(path, str(bad))
            return None

    @staticmethod
    def _row_hint(key: str) -> str:
        try:
            return f' ({row_named(key)} is a row: write on = ["{key}"], or its value under [set])'
        except RulesError:
            return ""

    def base(self) -> str:
        name = self.raw.get("base", "classic")
        if not isinstance(name, str) or name not in PRESETS:
            hint = nearest(str(name)[:40], PRESETS)
            self.wrong(("base",), f'there is no preset "{str(name)[:40]}"{hint}; there are {", ".join(PRESETS)}')
            return "classic"
        return name

    def switches(self, key: str) -> list[str]:
        said = self.raw.get(key, [])
        if not isinstance(said, list):
            self.wrong((key,), f'"{key}" is a list of rows, as in {key} = ["double", "P2"]')
            return []
        rows: list[str] = []
        for number, word in enumerate(said):
            row = self.attempt((key, number), partial(row_named, word))
            if row is not None:
                rows.append(row)
                self.rows.setdefault(row, []).append((key, number))
        return rows

    def refuse_contradictions(self, on: list[str], off: list[str]) -> None:
        for problem in contradictions(on, off):
            named = [row for row in self.rows if re.search(rf"\b{row}\b", problem)]
            self.wrong(self.rows[named[-1]][-1] if named else ("on",), problem)

    def values(self) -> dict[str, Any]:
        said = self.raw.get("set", {})
        if not isinstance(said, Mapping):
            self.wrong(("set",), "[set] gives rows their values, as in burn = 2")
            return {}
        values: dict[str, Any] = {}
        for word, value in said.items():
            row = self.attempt(("set", word), partial(row_named, word))
            if row is None:
                continue
            if row in values:
                self.wrong(("set", word), f"row {row} is set twice; keep one of them")
            checked = self.attempt(("set", word), partial(checked_value, row, value))
            if checked is not None:
                values[row] = checked
        return values

    def patterns(self) -> dict[str, str]:
        said = self.raw.get("patterns", {})
        if not isinstance(said, Mapping):
            self.wrong(("patterns",), '[patterns] names patterns, as in twins = "rank(1) = rank(2)"')
            return {}
        own: dict[str, str] = {}
        for name, text in said.items():
            try:
                compile_pattern(text)
            except NotationError as bad:
                self.wrong_pattern(name, text, bad)
            else:
                own[name] = text
            if not name.strip():
                self.wrong(("patterns", name), "a pattern needs a name")
        return own

    def wrong_pattern(self, name: str, text: Any, bad: NotationError) -> None:
        """A mistake in a pattern, at its own character where that can be counted."""
        begins = self.places.get(("patterns", name, "="))
        if begins is None or not isinstance(text, str):
            self.wrong(("patterns", name), f'pattern "{name}": {bad.problem}')
            return
        shown = text if len(text) <= 80 else text[:80] + "…"
        place = Place(begins.line, begins.column + 1 + bad.at)
        self.mistakes.append(Mistake(place, f'pattern "{name}": {bad.problem}; it says "{shown}"'))

    def note_idle(self, base: str, on: list[str], off: list[str], values: Mapping[str, Any]) -> None:
        """Values of rows that are off do nothing."""
        if self.mistakes:
            return
        rules = house_rules({"base": base, "on": on, "off": off, "set": values})
        for word in self.raw.get("set", {}):
            row = row_named(word)
            if row in values and not rules.has(row) and row != "S2":
                problem = f'row {row} is off, so its value does nothing; on = ["{ROWS[row].name}"] would switch it on'
                self.notes.append(Mistake(self.place(("set", word)), problem))
