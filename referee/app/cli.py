"""The command line: `referee demo`, `run`, `calibrate`, `replay`, `recognise`, `watch`, `doctor`.

Nothing heavy is imported here: each command brings what it needs when it is called, so that `referee --help` and
`referee replay` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from referee.app.problems import UserError

MISTAKE: Final = 2
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

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
  referee run --example > table.toml  begin the settings of a real table; then: referee run --settings table.toml
  referee calibrate --simulated       how a table is found under the camera, and what its picture is worth
  referee replay game.jsonl           the rulings of a recorded game
  referee recognise photo.jpg         the cards in a photograph

`referee COMMAND --help` explains each command. Exit status: 0 well, 1 a demo that missed its targets or a part
that is broken, 2 a mistake in what was given (one line on standard error says what to mend).
"""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISTAKE, f"{self.prog}: {message} (try: {self.prog} --help)\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("table-referee")
        except PackageNotFoundError:
            number = "unknown (not installed; run `make install`)"
        print(f"referee {number}")
        parser.exit()


def _whole(low: int, high: int, what: str) -> Callable[[str], int]:
    def check(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{what} must be a whole number from {low} to {high}, not {text!r}")
        return number

    return check


def _rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 1 <= number <= 240:
        raise argparse.ArgumentTypeError(f"frames a second must be a number from 1 to 240, not {text!r}")
    return number


Commands = argparse._SubParsersAction  # the class has no public name


def _command(
    commands: Commands[_Parser], name: str, line: str, about: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=line,
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    return parser


def _demo(args: argparse.Namespace) -> int:
    from referee.app.demo import Options, demo

    return demo(
        Options(
            seats=args.seats, rules=args.rules, seed=args.seed, pace=not args.no_pace, max_cards=args.max_cards,
            fps=args.fps, log=args.log, audio=args.audio, frames=args.frames, summary=args.summary,
        )
    )  # fmt: skip


def _run(args: argparse.Namespace) -> int:
    from referee.app.settings import example

    if args.example:
        sys.stdout.write(example())
        return 0
    if args.settings is None:
        raise UserError("run needs --settings FILE; `referee run --example > table.toml` begins one")
    from referee.app.running import run

    return run(args.settings, log=args.log)


def _replay(args: argparse.Namespace) -> int:
    from referee.app.replaying import replay

    return replay(args.log, everything=args.all, until=args.until, as_text=args.format == "text")


def _rules(args: argparse.Namespace) -> int:
    from referee.app.rulebook import rules

    return rules(args.what, rows=args.rows)


def _explain(args: argparse.Namespace) -> int:
    from referee.app.explaining import explain

    return explain(args.log, args.ruling, as_json=args.json)


def _recognise(args: argparse.Namespace) -> int:
    from referee.app.recognising import recognise

    return recognise(args.images, draw=args.draw, deck=args.deck)


def _watch(args: argparse.Namespace) -> int:
    from referee.app.watch import watch

    return watch(args.source, fps=args.fps, seats=args.seats, deck=args.deck, settings=args.settings)


def _enrol(args: argparse.Namespace) -> int:
    from referee.app.enrolling import Options, enrol, forgotten, listed

    if args.list:
        return listed()
    if args.forget is not None:
        return forgotten(args.forget)
    return enrol(
        Options(
            deck=args.deck, images=tuple(args.images), cards=args.cards, source=args.source, settings=args.settings,
            fps=args.fps, ask=args.ask, at_once=args.at_once, more=args.more, quiet=args.quiet, sheet=args.sheet,
        )
    )  # fmt: skip


def _doctor(args: argparse.Namespace) -> int:
    from referee.app.doctor import doctor

    return doctor(as_json=args.json)


def _calibrate(args: argparse.Namespace) -> int:
    if args.sheet is not None:
        from referee.app.sheets import write_sheet

        write_sheet(args.sheet, args.paper)
        print(f"{args.sheet}: print it at 100 %, and check the line of 150 mm with a ruler")
        return 0
    if args.undo:
        if args.settings is None:
            raise UserError("--undo needs --settings FILE")
        from referee.app.editing import undo

        undo(args.settings)
        print(f"{args.settings} is as it was before the last calibration")
        return 0
    from referee.app.calibrating import Options, calibrate

    return calibrate(
        Options(
            images=args.images, settings=args.settings, by=args.by, card_size=args.cards, seats=args.seats,
            reach=args.reach, draw=args.draw, simulated=args.simulated, as_json=args.json,
        )
    )  # fmt: skip


def _add_demo(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "demo", "a simulated table plays a whole game through the real parts",
        "A simulated table plays one game. Its camera renders frames and its pads close contacts; the referee knows\n"
        "nothing of the players but what camera and pads tell. The game is shown live, spoken if there is a sound\n"
        "card, and closed with a table of what the players really did against what was seen and ruled.\n"
        "Exit status 1 if the referee missed its targets.\n\n"
        "examples:\n  referee demo --seats 3\n  referee demo --no-pace --seed 5 --log game.jsonl --audio game.wav",
        _demo,
    )  # fmt: skip
    add = parser.add_argument
    add("--seats", type=_whole(2, 8, "seats"), default=4, metavar="N", help="players, 2 to 8 (default: 4)")
    add("--rules", default="classic", metavar="RULES",
        help="a preset of the rules, or a house-rules file (*.toml) (default: classic)")  # fmt: skip
    add("--seed", type=_whole(0, 2**31 - 1, "seed"), default=1, metavar="N",
        help="which game; the same seed plays the same game (default: 1)")  # fmt: skip
    add("--no-pace", action="store_true", help="as fast as this machine can, instead of in real time")
    add("--max-cards", type=_whole(1, 100_000, "cards"), default=400, metavar="N",
        help="stop after this many cards if the game has not ended (default: 400)")  # fmt: skip
    add(
        "--fps",
        type=_rate,
        default=15.0,
        metavar="N",
        help="frames a second of the simulated camera (default: 15)",
    )
    add("--log", type=Path, metavar="FILE", help="write the game's log (JSON Lines), for `referee replay`")
    add("--audio", type=Path, metavar="FILE.wav", help="write what the speaker said (WAV)")
    add("--frames", type=Path, metavar="DIR", help="write every frame (numbered JPEG), for `referee watch`")
    add("--summary", type=Path, metavar="FILE", help="write the closing figures (one JSON object)")


def _add_run(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "run", "referee a real table with camera, pads, lights and speaker",
        "Referee a real table. One settings file (TOML) names its seats, pins, camera, voice and rules.\n"
        "What is missing is said in words, and what can go on goes on: without a camera there is no referee,\n"
        "without lights or a speaker there is.\n\n"
        "examples:\n  referee run --example > table.toml\n  referee run --settings table.toml --log game.jsonl",
        _run,
    )  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE", help="the table's settings (TOML)")
    parser.add_argument("--example", action="store_true", help="print a commented settings file and stop")
    parser.add_argument("--log", type=Path, metavar="FILE",
                        help="write the game's log here (default: as the settings say)")  # fmt: skip


def _add_replay(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "replay", "the rulings of a recorded game, as JSON Lines",
        "Read a table log and print the rulings that it leads to, ordered by the instant they refer to.\n"
        "Rulings that the log already holds are not read: the referee decides again, and decides the same.\n"
        "A log that cannot be read gives exit status 2 and one line that names the log's line.\n\n"
        "examples:\n  referee replay game.jsonl\n  grep -v tick game.jsonl | referee replay - --all",
        _replay,
    )  # fmt: skip
    parser.add_argument("log", metavar="LOG", help="a log (JSON Lines, UTF-8); - reads standard input")
    parser.add_argument("--all", action="store_true", help="print superseded rulings too")
    parser.add_argument("--until", metavar="T|ID", default="",
                        help="stop after an instant (ns, or 2.5s, 250ms from the first line), a line's id or a "
                        "ruling's id")  # fmt: skip
    parser.add_argument("--format", choices=("json", "text"), default="json",
                        help="json: JSON Lines; text: a line a ruling for people to read (default: json)")  # fmt: skip


def _add_rules(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "rules", "presets and rows of the rules, and whether a house-rules file is right",
        "Without WHAT: the presets. With a preset or a house-rules file: what it switches on, in plain words.\n"
        "`check FILE` lists every mistake with its line and column (exit status 2 if there is one), and `example`\n"
        "prints a commented file to begin with.\n\n"
        "examples:\n  referee rules classic\n  referee rules example > house.toml\n  referee rules check house.toml\n"
        "  referee demo --rules house.toml",
        _rules,
    )  # fmt: skip
    parser.add_argument("what", metavar="WHAT", nargs="*",
                        help="a preset, a house-rules file (*.toml), `check FILE`, or `example`")  # fmt: skip
    parser.add_argument("--rows", action="store_true", help="print every row of the rules, with its values")


def _add_explain(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "explain", "why the referee ruled as it did",
        "For one ruling of a log, or for all: what was ruled, the pile then, the instants around it, the rule, and\n"
        "what else was considered and why not. RULING is a ruling's id as `referee replay` prints it.\n\n"
        "examples:\n  referee explain game.jsonl slap_false@s17\n  referee explain game.jsonl --json",
        _explain,
    )  # fmt: skip
    parser.add_argument("log", metavar="LOG", help="a log (JSON Lines, UTF-8); - reads standard input")
    parser.add_argument("ruling", metavar="RULING", nargs="?", help="the id of one ruling (default: all)")
    parser.add_argument("--json", action="store_true", help="the same facts as JSON, one object a line")


def _add_deck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deck", default=None, metavar="NAME",
                        help="read the deck that was learned under this name (default: any ordinary deck)")  # fmt: skip


def _add_enrol(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "enrol", "teach the eye an unusual deck, in three minutes",
        "Some decks have other letters (D B for Q J, V D R, 1 for the ace), other signs, four colours, huge indices.\n"
        "Lay such a deck once under the camera, card by card in the order that is told: ace to king of spades, then\n"
        "hearts, diamonds, clubs. Each card goes face up on the last one, or takes its place; when the hand is gone\n"
        "it is looked at, and the next is asked for. A card that is not found, blurred, or looks like one that was\n"
        "laid already is told at once. While you lay, type undo (forget the last card), skip, keep or done.\n"
        "At the end the referee says which cards it still confuses, and keeps the deck and a picture of what it saw.\n"
        "Cards that were not laid, or are still confused, are never said with a confidence of 0.9 or more.\n"
        "Ordinary decks are read as before wherever no --deck is named.\n\n"
        "examples:\n"
        "  referee enrol --deck old-tarot                       lay all 52 under the USB camera\n"
        "  referee enrol --deck skat --settings table.toml      under the table's own camera\n"
        "  referee enrol --deck skat --ask                      in any order: name each card after it is seen\n"
        "  referee enrol --deck skat --at-once 4                four at a time, fanned, left to right\n"
        '  referee enrol --deck skat a.jpg b.jpg --cards "As Ks"           from pictures, one card each\n'
        '  referee enrol --deck skat row1.jpg row2.jpg --cards "As Ks; Qs Js"\n'
        '  referee enrol --deck skat --more --cards "Qs Js"     look at these two once more\n'
        "  referee recognise --deck old-tarot photo.jpg         and read with it; likewise: referee watch",
        _enrol,
    )  # fmt: skip
    add = parser.add_argument
    add("images", metavar="IMAGE", nargs="*", help="pictures of the cards that --cards names, instead of a camera")
    add("--deck", default="deck", metavar="NAME", help="what to call the deck (default: deck)")
    add("--cards", metavar="LIST", help='which cards are laid, in order, as in "As Ks 10d" (default: all 52)')
    add("--source", default="usb:0", metavar="CAMERA",
        help="usb:N, picamera, a video file, or a folder of frames (default: usb:0)")  # fmt: skip
    add("--settings", type=Path, metavar="FILE", help="use the camera that a table's settings name")
    add("--fps", type=_rate, default=None, metavar="N", help="frames a second of a folder of frames")
    add("--ask", action="store_true", help="lay in any order, and type each card's name after it was seen")
    add("--at-once", type=_whole(1, 13, "cards"), default=1, metavar="N",
        help="lay N cards at a time, side by side or fanned, read from left to right")  # fmt: skip
    add("--more", action="store_true", help="add looks to a deck that was learned before")
    add("--quiet", action="store_true", help="say nothing aloud")
    add(
        "--sheet",
        type=Path,
        metavar="FILE.png",
        help="where to draw what was seen of each card (default: with the deck)",
    )
    add("--list", action="store_true", help="name the decks that were learned, and stop")
    add("--forget", metavar="NAME", help="remove a learned deck, and stop")


def _add_recognise(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "recognise", "the cards in photographs, one JSON object for each",
        "Find and read the cards in each image. Prints one JSON object a line:\n"
        '  {"image": ..., "cards": [{"card": "7h", "confidence": 0.99, "corners": [[x, y], ...], "top": true}],\n'
        '   "ms": ...}\n'
        "in pixels of the image; a card that is seen but cannot be read is \"??\".\n\n"
        "examples:\n  referee recognise table.jpg\n  referee recognise table.jpg --draw seen.jpg\n"
        "  referee recognise *.jpg --draw seen",
        _recognise,
    )  # fmt: skip
    parser.add_argument("images", metavar="IMAGE", nargs="+", help="image files (JPEG, PNG, ...)")
    _add_deck(parser)
    parser.add_argument("--draw", type=Path, metavar="OUT",
                        help="also draw what was read: a .jpg file for one IMAGE, a folder for several")  # fmt: skip


def _add_watch(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "watch", "the cards laid in a video or a folder of frames, as JSON Lines",
        "Print each observation (card, taken, ...) as it becomes known. Times are nanoseconds from the first frame.\n"
        "Without --seats the seat is null and `bearing` tells the side that the hand came from, in degrees\n"
        "counter-clockwise from the picture's right.\n\n"
        "examples:\n  referee watch game.mp4\n  referee demo --no-pace --frames frames/ && referee watch frames/",
        _watch,
    )  # fmt: skip
    parser.add_argument("source", metavar="SOURCE", type=Path, help="a video file, or a folder of numbered frames")
    _add_deck(parser)
    parser.add_argument("--fps", type=_rate, default=None, metavar="N",
                        help="frames a second, where SOURCE does not say (default: 15)")  # fmt: skip
    parser.add_argument("--seats", type=_whole(2, 8, "seats"), default=None, metavar="N",
                        help="name seats: N evenly round the picture, seat 1 at its bottom, clockwise")  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE",
                        help="name seats by the bearings of a table's settings (see `referee calibrate`)")  # fmt: skip


def _add_calibrate(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "calibrate", "find the table in the camera's picture, and say how well it is seen",
        "Find the table by the printed sheet, or by four cards laid in the corners of the playing area; tell how\n"
        "large, sharp, bright and steady the camera sees cards there, and what to change; draw it; and store it,\n"
        "with the seats' bearings, in the settings. Nothing else in the file changes, and --undo takes it back.\n\n"
        "steps:\n"
        "  1. referee calibrate --sheet sheet.pdf       print it at 100 %; check its line of 150 mm with a ruler\n"
        "  2. lay it flat in the middle of the table    or, without a printer, four cards face up in the corners\n"
        "  3. referee calibrate --settings table.toml   look at table.calibration.jpg; mend what is poor; again\n"
        "  4. referee calibrate --settings table.toml --reach   each player in turn reaches over the table\n\n"
        "With IMAGE files instead of the camera: the first shows the sheet on the table. Pictures of the same view\n"
        "tell noise and flicker; four or more in which the sheet is held tilted, each another way, tell the lens.\n"
        "Exit status: 0 well, 1 something is poor (it is stored all the same), 2 the table was not found.\n\n"
        "examples:\n  referee calibrate --simulated --draw seen.jpg\n"
        "  referee calibrate --settings table.toml --by cards\n"
        "  referee calibrate flat.jpg tilted1.jpg tilted2.jpg tilted3.jpg --settings table.toml --seats 4",
        _calibrate,
    )  # fmt: skip
    add = parser.add_argument
    add("images", metavar="IMAGE", nargs="*", help="pictures of the table instead of the settings' camera")
    add("--settings", type=Path, metavar="FILE",
        help="the table's settings (TOML): its camera, and where this is stored")  # fmt: skip
    add("--by", choices=("auto", "sheet", "cards"), default="auto",
        help="what lies on the table (default: auto, the sheet if it is seen)")  # fmt: skip
    add("--cards", choices=("poker", "bridge"), default=None,
        help="the cards' size, 63.5×88.9 or 57×89 mm (default: the one that fits)")  # fmt: skip
    seats = parser.add_mutually_exclusive_group()
    seats.add_argument("--seats", type=_whole(2, 8, "seats"), default=None, metavar="N",
                       help="seats stand evenly round the table, from the first one's bearing on")  # fmt: skip
    seats.add_argument("--reach", action="store_true",
                       help="measure each seat: its player reaches over the table when asked")  # fmt: skip
    add("--draw", type=Path, metavar="OUT.jpg",
        help="where the picture of what was found goes (default: beside the settings, *.calibration.jpg)")  # fmt: skip
    add("--simulated", action="store_true", help="look at a simulated table instead (with --by cards: at its cards)")
    add("--json", action="store_true", help="print one JSON object instead of words")
    add("--sheet", type=Path, metavar="FILE", help="write the sheet to print (*.pdf or *.png) and stop")
    add("--paper", choices=("a4", "letter"), default="a4", help="the sheet's paper (default: a4)")
    add("--undo", action="store_true", help="put --settings FILE back as it was before, and stop")


def _add_doctor(commands: Commands[_Parser]) -> None:
    parser = _command(
        commands, "doctor", "what hardware and libraries are here, and what to install",
        "Look at every part that the referee can use and say whether it is fine, missing or broken, and the command\n"
        "that installs it. Exit status 1 only if something is broken that even the simulated table needs.\n\n"
        "examples:\n  referee doctor\n  referee doctor --json",
        _doctor,
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="referee", description=_ABOUT, epilog=_EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    for add in (
        _add_demo,
        _add_run,
        _add_replay,
        _add_explain,
        _add_rules,
        _add_recognise,
        _add_watch,
        _add_enrol,
        _add_calibrate,
        _add_doctor,
    ):
        add(commands)
    return top


def _forget_output() -> None:
    """Point standard output nowhere, so that the interpreter's last flush does not complain of a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status (see the epilog of `--help`)."""
    # A lone surrogate in a log's JSON would not encode; its backslash escape is the same JSON.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # Damaged pictures are told in our own words.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    try:
        args = parser().parse_args(argv)
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except UserError as mistake:
        print(f"referee: {' '.join(str(mistake).split())}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return PIPE_CLOSED


if __name__ == "__main__":
    sys.exit(main())
