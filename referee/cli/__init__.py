"""The command line: every command of `referee`, and the handling of mistakes and interruptions.

Nothing heavy is imported here: each command imports what it needs when it runs, so that `referee --help` and
`referee replay` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Final

from referee.cli import play, records, serve, setup
from referee.cli.lasting_output import lasting_output, open_standard_files
from referee.cli.parser import MISTAKE, Commands, Parser
from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.places import install_command
from referee.text.escapes import escape_controls
from referee.text.terminal_language import find_language, speaking, translate

# As shells report them: 128 plus the signal's number (SIGINT 2, SIGPIPE 13).
_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141

_ABOUT = """\
The Table Referee watches a game of Egyptian Ratscrew: a camera sees the cards, pads feel the slaps,
and the referee rules aloud who was first, who was wrong and whose turn it is, with its reasons.
Every game is one log of what was sensed and what was ruled, and the same log always gives the same rulings.
"""

_EXAMPLES = """\
examples:
  referee demo                        watch a simulated table play a whole game, and see how well it was refereed
  referee demo --no-pace --seed 7     another game, as fast as this machine can
  referee doctor                      what this machine has, and what to install
  referee play                        play tonight: everything is asked in a browser
  referee run --example > table.toml  begin the settings of a real table; then: referee run --settings table.toml
  referee calibrate --simulated       how a table is found under the camera, and what its picture is worth
  referee replay game.jsonl           the rulings of a recorded game
  referee recognise photo.jpg         the cards in a photograph

`referee COMMAND --help` explains each command. Exit status: 0 well, 1 a demo that missed its targets or a part
that is broken, 2 a mistake in what was given (one line on standard error says what to mend).
"""


_COMMANDS: Final[Mapping[str, Sequence[Callable[[Commands], object]]]] = {
    "play": (play.add_play, play.add_demo, play.add_run, play.add_rules, serve.add_page, serve.add_hall),
    "settle a dispute": (play.add_replay, play.add_explain, play.add_review, records.add_shadow),
    "learn": (play.add_practise, serve.add_class),
    "keep": (records.add_games, records.add_people, records.add_league, records.add_backup, records.add_restore),
    "look after the table": (
        setup.add_doctor, setup.add_setup, setup.add_calibrate, setup.add_enrol, setup.add_certify, setup.add_wiring,
        setup.add_recognise, setup.add_watch, setup.add_pi_report,
    ),
}  # fmt: skip
"""Functions that add the commands, by purpose, in the order in which help lists them."""
_LASTING: Final = (play.run_play, play.run_demo, play.run_table, serve.run_page, serve.run_hall, serve.run_class)
"""Commands that survive the loss of their output: a game, and the pages that show it."""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("table-referee")
        except PackageNotFoundError:
            number = f"unknown (not installed; run `{install_command()}`)"
        print(f"referee {number}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = Parser(
        prog="referee", usage="%(prog)s [--help] [--version] COMMAND ...", description=_ABOUT, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = top.add_subparsers(
        prog="referee", help=argparse.SUPPRESS, metavar="COMMAND", required=True, parser_class=Parser
    )
    lists = []
    for purpose, adders in _COMMANDS.items():
        known = len(commands.choices)
        for add in adders:
            add(commands)
        listed = list(commands.choices.items())[known:]
        lists += [f"\n{purpose}:", *(_list_command(name, parser.line) for name, parser in listed if parser.line)]
    top.epilog = "\n".join((*lists, "", _EXAMPLES))
    return top


def _list_command(name: str, line: str) -> str:
    """Return a command's line in the list of commands, wrapped."""
    return textwrap.fill(line, 110, initial_indent=f"  {name:<12}", subsequent_indent=" " * 14)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status (see the epilog of `--help`)."""
    open_standard_files()
    # A lone surrogate in a log's JSON cannot be encoded; its backslash escape is the same JSON.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # The referee reports damaged pictures itself.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    try:
        args = build_parser().parse_args(argv)
        with speaking(find_language(args.language, getattr(args, "settings", None), os.environ)):
            return _run(args)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Redirect standard output to the null device, so that the interpreter's last flush does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED


def _run(args: argparse.Namespace) -> int:
    try:
        with lasting_output() if args.run in _LASTING else nullcontext():
            status: int = args.run(args)
            sys.stdout.flush()
        return status
    except UserError as error:
        print(f"referee: {escape_controls(' '.join(translate(error).split()))}", file=sys.stderr)
        return MISTAKE
    except ImportError as error:
        part = error.name or " ".join(str(error).split())
        command = install_command()
        words = Sentence("this needs {part}: run `{command}` (see `referee doctor`)", part=part, command=command)
        print(f"referee: {translate(words)}", file=sys.stderr)
        return MISTAKE
