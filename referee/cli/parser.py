"""Building blocks of every command's parser: one-line complaints, bounded numbers, help that keeps its lines."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from referee.text.catalogue import LANGUAGES
from referee.text.escapes import escape_controls

N = TypeVar("N", bound=float)
_NO_SUCH: Final = re.compile(r"argument COMMAND: invalid choice: '(.*)' \(choose from (.*)\)")
"""The message of argparse for an unknown command: with a list of all commands."""
MISTAKE: Final = 2
"""Exit status for a mistake in the input."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line.

    ``branches``: parsers by the first word that selects them, for a command with subcommands. ``line``: the command's
    line in the list of commands; empty: it is not listed.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.branches: dict[str, Parser] = {}
        self.line = ""

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """See `argparse.ArgumentParser`."""
        words = None if args is None else list(args)
        if words and words[0] in self.branches:
            return self.branches[words[0]].parse_known_args(words[1:], namespace)
        found, unknown = super().parse_known_args(words, namespace)
        if unknown and " " in self.prog:
            # The command itself complains, since it knows its options; the top parser would name no command.
            self._reject(unknown[0])
        return found, unknown

    def _reject(self, word: str) -> NoReturn:
        """Complain about a word that this command does not take, and name the option that was probably meant."""
        name = word.partition("=")[0]
        if not name.startswith("-"):
            self.error(f"there is one word too many: {word!r}")
        options = [option for action in self._actions for option in action.option_strings]
        near = get_close_matches(name, options, n=1)
        self.error(f"there is no option {name}" + (f"; did you mean {near[0]}?" if near else ""))

    def error(self, message: str) -> NoReturn:
        if mistyped := _NO_SUCH.search(message):
            known = [word.strip("' ") for word in mistyped[2].split(",")]
            near = get_close_matches(mistyped[1], known, n=1)
            message = f"there is no command {mistyped[1]!r}" + (f"; did you mean {near[0]}?" if near else "")
        self.exit(MISTAKE, f"{self.prog}: {escape_controls(message)} (try: {self.prog} --help)\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # the class has no public name, and no brackets when it runs


def number(kind: Callable[[str], N], low: N, high: N, what: str) -> Callable[[str], N]:
    """Return a type for `add_argument`: a number within bounds; ``what`` begins the complaint."""

    def check(text: str) -> N:
        try:
            if low <= (found := kind(text)) <= high:
                return found
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"{what} from {low} to {high}, not {text!r}")

    return check


def parse_int(low: int, high: int, what: str) -> Callable[[str], int]:
    """Return a type for `add_argument`: an integer within bounds; ``what`` names it in the complaint."""
    return number(int, low, high, f"{what} must be a whole number")


rate: Callable[[str], float] = number(float, 1, 240, "frames a second must be a number")
"""A type for `add_argument`: a frame rate."""


def command(
    commands: Commands, name: str, line: str, about: str, run: Callable[[argparse.Namespace], int], **options: Any
) -> Parser:
    """Add a command: ``line`` goes into the list, ``about`` into its own help; ``run`` returns the exit status.

    A command with an empty ``line`` is not listed. ``options`` are passed to the parser. Every command accepts
    ``--language``.
    """
    parser: Parser = commands.add_parser(
        name, description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options
    )
    parser.line = line
    parser.set_defaults(run=run)
    parser.add_argument("--language", choices=tuple(LANGUAGES),
                        help="of what is printed (default: the table's, else the system's)")  # fmt: skip
    return parser
