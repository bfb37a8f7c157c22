"""The commands that play, referee, replay and explain games, and the one for practice.

Each function that runs a command imports what it needs when it is called.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.cli.parser import Commands, command, number, parse_int, rate
from referee.errors import UserError
from referee.settings.places import SHOWN_FOLDER, find_settings, record_at

if TYPE_CHECKING:
    from referee.options.what_if.moves import Move


def add_demo(commands: Commands) -> None:
    parser = command(
        commands, "demo", "a simulated table plays a whole game through the real parts",
        "A simulated table plays one game. Its camera renders frames and its pads close contacts; the referee knows\n"
        "only what the camera and the pads report. The page shows the game live, a sound card speaks the rulings,\n"
        "and a closing table compares what the players really did with what the referee saw and ruled.\n"
        "Exit status 1 if the referee missed its targets.\n\n"
        "examples:\n  referee demo --seats 3\n  referee demo --no-pace --seed 5 --log game.jsonl --audio game.wav\n"
        "  referee demo --lesson --seed 4                         a class is asked who was first",
        run_demo,
    )  # fmt: skip
    add = parser.add_argument
    add("--seats", type=parse_int(2, 8, "seats"), default=4, metavar="N", help="players, 2 to 8 (default: 4)")
    add("--rules", default="classic", metavar="RULES",
        help="a preset of the rules, or a house-rules file (*.toml) (default: classic)")  # fmt: skip
    add("--seed", type=parse_int(0, 2**31 - 1, "seed"), default=1, metavar="N",
        help="which game; the same seed plays the same game (default: 1)")  # fmt: skip
    add("--no-page", action="store_true",
        help="serve no page beside the game (there is none without pace, or with --log)")  # fmt: skip
    add("--host", metavar="ADDRESS",
        help="where the page is served; 0.0.0.0 lets phones open it, too (default: this machine alone; with --lesson "
        "0.0.0.0, so that phones can vote)")  # fmt: skip
    add("--port", type=parse_int(0, 65535, "port"), default=8080, metavar="N",
        help="of the page; where it is taken, one of the next (default: 8080)")  # fmt: skip
    add("--record", type=Path, nargs="?", const=record_at(), metavar="FILE",
        help="record and keep the game here, or without FILE in your own record (default: it is not kept)")  # fmt: skip
    add("--no-pace", action="store_true", help="as fast as this machine can, instead of in real time")
    add("--max-cards", type=parse_int(1, 100_000, "cards"), default=400, metavar="N",
        help="stop after this many cards if the game has not ended (default: 400)")  # fmt: skip
    add("--fps", type=rate, default=15.0, metavar="N", help="frames a second of the simulated camera (default: 15)")
    add("--log", type=Path, metavar="FILE", help="write the game's log (JSON Lines), for `referee replay`")
    add("--audio", type=Path, metavar="FILE.wav", help="write what the speaker said (WAV)")
    add("--frames", type=Path, metavar="DIR", help="write every frame (numbered JPEG), for `referee watch`")
    add("--summary", type=Path, metavar="FILE", help="write the closing figures (one JSON object)")
    add("--shadow", action="store_true",
        help="the players referee and mark their verdicts, the referee is silent; then both are compared")  # fmt: skip
    add("--wrong", type=parse_int(0, 1000, "wrong verdicts"), default=3, metavar="N",
        help="with --shadow: so many of the players' verdicts are wrong (default: 3)")  # fmt: skip
    add("--lesson", action="store_true",
        help="a game for a class, at once and without devices: its page stops at each slap and asks who was first, "
        "and phones vote; with --no-page the terminal asks")  # fmt: skip
    add("--vote-time", type=number(float, 3, 600, "seconds must be a number"), default=30.0, metavar="S",
        help="with --lesson: the answer comes so long after the first vote, if not sooner (default: 30)")  # fmt: skip


def run_demo(args: argparse.Namespace) -> int:
    from referee.demo.simulated_game import DemoOptions, demo

    if args.lesson:
        return _hold_lesson(args)
    return demo(
        DemoOptions(
            seats=args.seats, rules=args.rules, seed=args.seed, pace=not args.no_pace, max_cards=args.max_cards,
            fps=args.fps, page=not args.no_pace and not args.no_page and args.log is None,
            host=args.host or "127.0.0.1", port=args.port, record=args.record,
            log=args.log, audio=args.audio, frames=args.frames, summary=args.summary,
            shadow=args.shadow, wrong=args.wrong,
        )
    )  # fmt: skip


def _hold_lesson(args: argparse.Namespace) -> int:
    from referee.demo.demo_lesson import hold_in_terminal, hold_on_page, lesson_lines, write_lesson
    from referee.demo.simulated_game import DemoOptions, script_of, view_of
    from referee.units import SECOND

    for option in ("shadow", "audio", "frames", "summary"):
        if getattr(args, option):
            raise UserError(
                "the game of --lesson has no sound, camera or score: leave {option} out", option=f"--{option}"
            )
    options = DemoOptions(
        seats=args.seats, rules=args.rules, seed=args.seed, max_cards=args.max_cards, fps=args.fps
    )  # fmt: skip
    script = script_of(options)
    lines = lesson_lines(script, args.fps)
    if args.log is not None:
        try:
            args.log.write_text("\n".join(write_lesson(lines)) + "\n", encoding="utf-8")
        except OSError as error:
            raise UserError("--log: {log} cannot be written: {why}", log=args.log, why=error.strerror) from None
    if args.no_page:
        return hold_in_terminal(lines, sys.stdin)
    host, vote_time = args.host or "0.0.0.0", round(args.vote_time * SECOND)
    return hold_on_page(lines, args.record, host, args.port, vote_time, view_of(options, script))


def add_run(commands: Commands) -> None:
    parser = command(
        commands, "run", "referee a real table with camera, pads, lights and speaker",
        "Referee a real table. One settings file (TOML) names its seats, pins, camera, voice and rules.\n"
        "The referee names each device that is missing. It needs a camera, and goes on without lights or a speaker.\n\n"
        "While it runs, you can type an answer to its question, or a command: pause, resume, undo, count, contest,\n"
        "foul, call, wild, join, leave, missed or take. A command word alone shows its usage; docs/control.md\n"
        "explains them all.\n\n"
        "examples:\n  referee run --example > table.toml\n  referee run --settings table.toml --log game.jsonl",
        run_table,
    )  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE", help="the table's settings (TOML)")
    parser.add_argument("--example", action="store_true", help="print a commented settings file and stop")
    parser.add_argument("--new", action="store_true",
                        help="begin a new game, though the last one was broken off (default: it goes on)")  # fmt: skip
    parser.add_argument("--log", type=Path, metavar="FILE",
                        help="write the game's log here (default: as the settings say)")  # fmt: skip
    parser.add_argument("--shadow", action="store_true",
                        help="be silent while people referee a new game and mark their verdicts (+ the slap was good, "
                        "- it was false); then: referee shadow")  # fmt: skip


def run_table(args: argparse.Namespace) -> int:
    from referee.settings.model import example_settings

    if args.example:
        sys.stdout.write(example_settings())
        return 0
    if args.settings is None:
        found = find_settings()
        if found.exists():
            argument = shlex.quote(str(found))
            raise UserError("run needs --settings FILE; here are some: `referee run --settings {path}`", path=argument)
        raise UserError(
            "run needs --settings FILE: `referee play` sets up a table in a browser, "
            "`referee run --example > table.toml` begins a file"
        )
    from referee.options.broker.service import open_broker
    from referee.options.shadow.shadow_watch import open_shadow
    from referee.settings.model import load_settings
    from referee.table.session import run

    if args.shadow and not load_settings(args.settings).record.file:
        raise UserError("shadow mode compares what is recorded: set file in [record] of the settings")
    # In shadow mode the referee is silent, so a broker must publish nothing.
    hooks = [open_shadow] if args.shadow else [open_broker]
    return run(args.settings, log=args.log, new=args.new or args.shadow, hooks=hooks)


def add_play(commands: Commands) -> None:
    parser = command(
        commands, "play", "play tonight, with what lies at home: set up in a browser, then refereed",
        "Opens a page that asks what a game needs, a question at a time: who plays, what you slap (your phones, or\n"
        "keys of this computer), which camera looks down at the pile and whether it sees well, which rules; then\n"
        "each player slaps once, and the game begins at the same address. All is remembered: the next time it begins\n"
        "with the test slap, and every step can be gone back to. `referee setup` asks in the terminal, for a table\n"
        "with pads on a Raspberry Pi.\n\n"
        "examples:\n  referee play\n  referee play --settings club.toml --port 8000",
        run_play,
    )  # fmt: skip
    add = parser.add_argument
    add("--settings", type=Path, metavar="FILE",
        help=f"the table's settings (default: your own, in {SHOWN_FOLDER})")  # fmt: skip
    add("--host", default="0.0.0.0", metavar="ADDRESS",
        help="where the page is served (default: 0.0.0.0, so that phones can slap)")  # fmt: skip
    add("--port", type=parse_int(0, 65535, "port"), default=8080, metavar="N",
        help="of the page; where it is taken, one of the next (default: 8080)")  # fmt: skip
    add("--no-browser", action="store_true", help="print the address, and open no browser")
    add("--only-ask", action="store_true",
        help="keep the answers and stop before the game, for a service to referee; status 1: left early")  # fmt: skip


def run_play(args: argparse.Namespace) -> int:
    from referee.settings.places import own_settings
    from referee.setup.wizard_site import hold_evening, leave_earlier_record
    from referee.table.session import find_left_games, run

    path = args.settings or own_settings()
    if path.exists():
        leave_earlier_record(path)
    # Check before people answer any question; the record is free again while they do.
    games = find_left_games(path) if path.exists() else None
    evening = hold_evening(
        path, host=args.host, port=args.port, browse=not args.no_browser, for_service=args.only_ask, games=games
    )
    if args.only_ask:
        return 0 if evening else 1
    return run(path) if evening else 0


def add_replay(commands: Commands) -> None:
    parser = command(
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


def _replay(args: argparse.Namespace) -> int:
    from referee.cli.logs import replay

    return replay(args.log, everything=args.all, until=args.until, as_text=args.format == "text")


def add_explain(commands: Commands) -> None:
    parser = command(
        commands, "explain", "why the referee ruled as it did",
        "For one ruling of a log, or for all: what was ruled, the pile then, the instants around it, the rule, and\n"
        "what else was considered and why not. RULING is a ruling's id as `referee replay` prints it.\n\n"
        "With --what-if a hand (or a card) comes some milliseconds sooner or later: the verdict as it was, as it\n"
        "would have been, and the first ruling after it that would be another. LINE is the id of its line in the\n"
        "log, which stays as it is.\n\n"
        "examples:\n  referee explain game.jsonl slap_false@s17\n  referee explain game.jsonl --json\n"
        "  referee explain game.jsonl --what-if s12=-5ms          5 ms sooner\n"
        "  referee explain game.jsonl --what-if s12=-5ms,0.5ms    and known to half a millisecond",
        _explain,
    )  # fmt: skip
    parser.add_argument("log", metavar="LOG", help="a log (JSON Lines, UTF-8); - reads standard input")
    parser.add_argument("ruling", metavar="RULING", nargs="?", help="the id of one ruling (default: all)")
    parser.add_argument("--json", action="store_true", help="the same facts as JSON, one object a line")
    parser.add_argument("--what-if", type=_move, metavar="LINE=TIME[,ERROR]",
                        help="a hand or a card so much later (s12=5ms) or sooner (s12=-5ms), at most 50 ms; ERROR: how "
                        "well its instant is known then (default: as it was)")  # fmt: skip


_MOVE: Final = re.compile(r"(.+)=([+-]?\d{1,4}(?:\.\d{1,6})?)ms(?:,(\d{1,4}(?:\.\d{1,6})?)ms)?", re.ASCII)


def _move(text: str) -> Move:
    from referee.options.what_if.moves import Move
    from referee.units import MS

    said = _MOVE.fullmatch(text)
    if said is None:
        raise argparse.ArgumentTypeError(
            f"a line and by how much it is moved, as in s12=-5ms or s12=5ms,0.5ms; not {text!r}"
        )
    return Move(said[1], round(float(said[2]) * MS), None if said[3] is None else round(float(said[3]) * MS))


def _explain(args: argparse.Namespace) -> int:
    from referee.cli.logs import explain

    if args.what_if is not None and args.ruling is not None:
        raise UserError("--what-if explains the verdict on its own line; leave {name} out", name=args.ruling)
    return explain(args.log, args.ruling, as_json=args.json, what_if=args.what_if)


def add_review(commands: Commands) -> None:
    parser = command(
        commands, "review", "settle a dispute from people's own video: who slapped first",
        "Settle a dispute from a video of the pile, taken from above by any camera that stands still. Cards and takes\n"
        "are found in it. A page then shows the frames round each moment at which the house rules let people slap:\n"
        "there you mark the first frame in which each hand lies, and the ruling names the winner, or a dead heat.\n"
        "A mark is known to about one frame, and no better: at 30 frames a second hands less than two frames\n"
        "(67 ms) apart are a dead heat, unless the video's sound tells them apart (read by PyAV: pip install av).\n"
        "The ruling rests on marks by people, and the log says so.\n\n"
        "Without --dealer the video may begin in the middle of a game: then it is unknown how many cards each player\n"
        "holds or whose turn it is, and hands are ruled by the cards that were seen.\n\n"
        "examples:\n  referee review dispute.mp4 --seats Ana,Ben,Cho\n"
        "  referee review dispute.mp4 --seats Ana,Ben,Cho --rules house.toml --log dispute.jsonl\n"
        "  referee review game.mp4 --settings table.toml --dealer 2      a whole game, from its deal\n"
        "  referee explain dispute.jsonl                                 why it was ruled so",
        _review,
    )  # fmt: skip
    add = parser.add_argument
    add("video", metavar="VIDEO", type=Path, help="a video file, or a folder of numbered frames")
    add("--seats", metavar="NAMES",
        help="the players with commas, clockwise, from the one at the picture's bottom; or how many")  # fmt: skip
    add("--rules", metavar="RULES", help="a preset, or a house-rules file (*.toml) (default: the table's, or classic)")
    add("--dealer", type=parse_int(1, 8, "seat"), metavar="SEAT",
        help="the video shows a whole game from its deal on, dealt by this seat (1: the first of --seats)")  # fmt: skip
    add("--settings", type=Path, metavar="FILE", help="a table's settings: its names, seats' places, rules and deck")
    add("--deck", metavar="NAME", help="read the deck that was learned under this name (default: any ordinary deck)")
    add(
        "--log",
        type=Path,
        metavar="FILE",
        help="where the page saves the log (default: VIDEO's name with .jsonl, here)",
    )
    add("--no-browser", action="store_true", help="open no browser; print the page's address alone")
    add("--port", type=parse_int(0, 65535, "port"), default=0, metavar="N", help="of the page (default: any free one)")


def _review(args: argparse.Namespace) -> int:
    from referee.options.video_review.dispute_server import ReviewOptions, review

    return review(
        ReviewOptions(
            video=args.video, seats=args.seats, rules=args.rules, dealer=args.dealer, settings=args.settings,
            deck=args.deck, log=args.log, browser=not args.no_browser, port=args.port,
        )
    )  # fmt: skip


def add_rules(commands: Commands) -> None:
    parser = command(
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


def _rules(args: argparse.Namespace) -> int:
    from referee.cli.logs import rules

    return rules(args.what, rows=args.rows)


def add_practise(commands: Commands) -> None:
    parser = command(
        commands, "practise", "practise alone: slap on the patterns of the house rules, and only then",
        "Piles are dealt card by card. Slap the pad (or the space bar) when the newest card makes a pattern of the\n"
        "house rules. Patterns are taught one after another; what was missed comes back soon; at the end it says how\n"
        "quick you were, how sure that is, and what to practise. Nothing is kept.\n\n"
        "examples:\n  referee practise\n  referee practise house.toml --pace 1\n"
        "  referee practise --settings table.toml --seat 2      at a table's pad, with its voice and light",
        _practise,
    )  # fmt: skip
    add = parser.add_argument
    add("rules", nargs="?", metavar="RULES", help="a preset, or a house-rules file (default: the table's, or classic)")
    add("--settings", type=Path, metavar="FILE", help="a table's settings: its pads, voice and light are used")
    add("--seat", type=parse_int(1, 8, "seat"), metavar="N", help="only this seat's pad (default: any)")
    add("--piles", type=parse_int(1, 1000, "piles"), default=40, metavar="N", help="how many piles (default: 40)")
    add("--pace", type=number(float, 0.3, 10, "a number of seconds"), default=1.5, metavar="S",
        help="seconds from card to card (default: 1.5)")  # fmt: skip
    add("--all", action="store_true", help="all patterns from the start, without teaching them one by one")
    add("--seed", type=parse_int(0, 2**31 - 1, "seed"), metavar="N", help="which piles (default: others each time)")


def _practise(args: argparse.Namespace) -> int:
    from referee.options.practice.trainer import practise

    return practise(args)
