"""The project's pages: their commands, links and headings, and whether the program understands a command."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from referee.cli import build_parser

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted(
    [
        ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("models/*.md"),
        *ROOT.glob("tests/**/README.md"),
    ]
)  # fmt: skip
MAKEFILES: Final = [ROOT / "Makefile", *ROOT.glob("tools/**/*.mk"), *ROOT.glob("appliance/*.mk")]
TARGETS: Final = {
    name
    for file in MAKEFILES
    for name in re.findall(r"^([a-z][a-z0-9-]*):(?!=)", file.read_text("utf-8"), re.MULTILINE)
}
_FENCE: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_RUNS_ON: Final = {"referee", "make", "python", "python3", "pytest"}
_PLACES: Final = {"N": "1", "COMMAND": "play"}
_BEFORE: Final = {"sudo", "env", "exec"}


def prose(text: str) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", text)


def indented(text: str) -> Iterator[str]:
    """Yield the lines of blocks that are indented by four spaces, after an empty line."""
    inside, before = False, ""
    for line in prose(text).splitlines():
        inside = line.startswith("    ") and (inside or not before.strip())
        if inside:
            yield line.strip()
        before = line


def commands_of(text: str) -> list[str]:
    """Return every line of a page's blocks that is a complete command of the program, make, Python or pytest."""
    lines = [line.strip() for _, block in _FENCE.findall(text) for line in block.splitlines()]
    return [line for line in [*lines, *indented(text)] if bare_commands(line)]


def mentions_of(text: str) -> list[str]:
    """Return every such command between backquotes: its arguments may be missing, and it may hold N or COMMAND."""
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(text))]
    return [span for span in spans if bare_commands(span)]


def bare_commands(line: str) -> list[list[str]]:
    """Return the words of each known command in a line: without redirections, comments, and `sudo`."""
    try:
        words = list(_lexer(line))
    except ValueError:
        return []
    found: list[list[str]] = [[]]
    takes_file = False
    for word in words:
        if word and set(word) <= set("();<>|&"):
            takes_file = "<" in word or ">" in word
            if not takes_file:
                found.append([])
        elif takes_file:
            takes_file = False
        else:
            found[-1].append(word)
    return [words for words in map(_ours, found) if words]


def _lexer(line: str) -> shlex.shlex:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return lexer


def _ours(words: list[str]) -> list[str]:
    while words and (words[0] in _BEFORE or re.match(r"[A-Z_]+=", words[0])):
        words = words[1:]
    if not words:
        return []
    name = words[0].rpartition("/")[2]
    return [name, *words[1:]] if name in _RUNS_ON and len(words) > 1 else []


def what_is_wrong(words: list[str], *, mentioned: bool = False) -> str:
    """Return why a command would not run: an unknown subcommand, option, target, module or test; else ""."""
    if words[0] == "referee":
        return _refused([_PLACES.get(word, word) if mentioned else word for word in words[1:]], mentioned)
    if words[0] == "make":
        wanted = [word for word in words[1:] if "=" not in word]
        return ", ".join(f"there is no target {word}" for word in wanted if word not in TARGETS)
    if words[0].startswith("python"):
        if words[1] != "-m":
            return ""
        if words[2] != "pytest":
            return "" if importlib.util.find_spec(words[2]) else f"there is no module {words[2]}"
        words = words[2:]
    paths = [word.partition("::")[0] for word in words[1:] if word.startswith("tests")]
    return ", ".join(f"there is no {path}" for path in paths if not (ROOT / path).exists())


def _refused(words: list[str], mentioned: bool) -> str:
    """Return the command line's refusal of these words.

    A mention's options must exist; its required arguments may be missing.
    """
    code, said = _parsed(words)
    if mentioned and ("arguments are required" in said or "expected one argument" in said):
        known = _parsed([*words[:1], "--help"])[1]
        return ", ".join(f"there is no {word}" for word in words if word.startswith("--") and word not in known)
    return said.strip() if code else ""


def _parsed(words: list[str]) -> tuple[object, str]:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            _parser().parse_args(words)
    except SystemExit as error:
        return error.code, said.getvalue()
    return 0, ""


@functools.cache
def _parser() -> argparse.ArgumentParser:
    return build_parser()


def links_of(text: str) -> list[str]:
    """Return the targets of a page's links and pictures, except other sites."""
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose(text)))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors_of(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower().strip()).replace(" ", "-") for title in titles}
