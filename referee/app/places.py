"""Where things stand in a TOML text, for mistakes that are found after it was read.

`tomllib` tells the place of what is not TOML, and nothing of what is. This reads a valid text once more, only for the
places of its keys and of the items of its lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

Path = tuple[str | int, ...]
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


def places(text: str) -> dict[Path, Place]:
    """The place of each key and of each item of a list, by its path; of a text that is valid TOML."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0
        self.found: dict[Path, Place] = {}

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def read(self) -> dict[Path, Place]:
        section: Path = ()
        while self.token.kind != "end":
            if self.token.kind == "line":
                self.take()
            elif self.token.text == "[":
                section = self.header()
            else:
                self.pair(section)
        return self.found

    def header(self) -> Path:
        first = self.token.place
        path: Path = ()
        while self.token.kind not in ("line", "end"):
            token = self.take()
            if token.kind in ("bare", "text"):
                path += _keys(token)
        self.found.setdefault(path, first)
        return path

    def pair(self, outer: Path) -> None:
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

    def value(self, path: Path) -> None:
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

    def items(self, path: Path) -> None:
        number = 0
        while self.token.kind == "text" or self.token.text not in ("]", ""):
            if self.token.text == "," or self.token.kind == "line":
                self.take()
                continue
            self.found[*path, number] = self.token.place
            self.value((*path, number))
            number += 1
        self.take()


def _keys(token: _Token) -> Path:
    if token.kind == "text":
        return (token.text[1:-1],)
    return tuple(part for part in token.text.split(".") if part)
