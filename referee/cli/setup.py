"""The commands that look (`recognise`, `watch`), and those for setting up and maintaining a table.

Each function that runs a command imports what it needs when it is called.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from referee.cli.parser import Commands, Parser, command, number, parse_int, rate
from referee.errors import UserError
from referee.text.terminal_language import translate

STEP_NAMES: Final = ("seats", "pins", "pads", "lights", "camera", "voice", "rules", "check")
"""The steps of the wizard that sets up a table (`referee.setup.steps`)."""


def add_recognise(commands: Commands) -> None:
    parser = command(
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


def _recognise(args: argparse.Namespace) -> int:
    from referee.vision.photos import recognise

    return recognise(args.images, draw=args.draw, deck=args.deck)


def add_watch(commands: Commands) -> None:
    parser = command(
        commands, "watch", "the cards laid in a video or a folder of frames, as JSON Lines",
        "Print each observation (card, taken, ...) as it becomes known. Times are nanoseconds from the first frame.\n"
        "Without --seats the seat is null and `bearing` tells the side that the hand came from, in degrees\n"
        "counter-clockwise from the picture's right.\n\n"
        "With --explain it says in words why it reports each card and take, and why not: the looks at a card, the\n"
        "frames between which its face came up, and each candidate that it dropped, with the reason.\n\n"
        "examples:\n  referee watch game.mp4\n  referee demo --no-pace --frames frames/ && referee watch frames/\n"
        "  referee watch --explain game.mp4\n"
        "  referee watch --explain --draw cards/ game.mp4         and a drawing of each card",
        _watch,
    )  # fmt: skip
    parser.add_argument("source", metavar="SOURCE", type=Path, help="a video file, or a folder of numbered frames")
    _add_deck(parser)
    parser.add_argument("--fps", type=rate, default=None, metavar="N",
                        help="frames a second, where SOURCE does not say (default: 15)")  # fmt: skip
    parser.add_argument("--seats", type=parse_int(2, 8, "seats"), default=None, metavar="N",
                        help="name seats: N evenly round the picture, seat 1 at its bottom, clockwise")  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE",
                        help="name seats by the bearings of a table's settings (see `referee calibrate`)")  # fmt: skip
    parser.add_argument("--bare", type=number(float, 0, 600, "seconds must be a number"), default=0, metavar="S",
                        help="the first S seconds show the table before the game: faces printed on it, or lying there, "
                        "are no cards")  # fmt: skip
    parser.add_argument("--explain", action="store_true",
                        help="print why, in words, instead of JSON Lines: the evidence for each card and take, and for "
                        "each candidate that was dropped")  # fmt: skip
    parser.add_argument("--draw", type=Path, metavar="FOLDER",
                        help="also draw each card's evidence over time, one SVG file for each")  # fmt: skip


def _watch(args: argparse.Namespace) -> int:
    from referee.text.terminal_language import here
    from referee.vision.videos import watch
    from referee.web.card_story_svg import write_story

    return watch(
        args.source, fps=args.fps, seats=args.seats, deck=args.deck, settings=args.settings, bare=args.bare,
        explain=args.explain,
        draw=None if args.draw is None else lambda story: write_story(story, args.draw, here()),
    )  # fmt: skip


def _add_deck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deck", default=None, metavar="NAME",
                        help="read the deck that was learned under this name (default: any ordinary deck)")  # fmt: skip


def add_enrol(commands: Commands) -> None:
    parser = command(
        commands, "enrol", "teach the eye an unusual deck, in three minutes",
        "Some decks have other letters (D B for Q J, V D R, 1 for the ace), other signs, four colours, huge indices.\n"
        "Lay such a deck once under the camera, card by card in the order that is shown: ace to king of spades, then\n"
        "hearts, diamonds, clubs. Each card goes face up on the last one, or takes its place; when the hand is gone\n"
        "the referee reads it and asks for the next. It reports at once a card that it does not find, that is\n"
        "blurred, or like an earlier one. While you lay, type undo (forget the last card), skip, keep or done.\n"
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
    add("--fps", type=rate, default=None, metavar="N", help="frames a second of a folder of frames")
    add("--ask", action="store_true", help="lay in any order, and type each card's name after it was seen")
    add("--at-once", type=parse_int(1, 13, "cards"), default=1, metavar="N",
        help="lay N cards at a time, side by side or fanned, read from left to right")  # fmt: skip
    add("--more", action="store_true", help="add looks to a deck that was learned before")
    add("--quiet", action="store_true", help="say nothing aloud")
    add("--sheet", type=Path, metavar="FILE.png",
        help="where to draw what was seen of each card (default: with the deck)")  # fmt: skip
    add("--list", action="store_true", help="name the decks that were learned, and stop")
    add("--forget", metavar="NAME", help="remove a learned deck, and stop")


def _enrol(args: argparse.Namespace) -> int:
    from referee.setup.decks.enrol import EnrolmentOptions, enrol, forget_deck, list_decks

    if args.list:
        return list_decks()
    if args.forget is not None:
        return forget_deck(args.forget)
    return enrol(
        EnrolmentOptions(
            deck=args.deck, images=tuple(args.images), cards=args.cards, source=args.source, settings=args.settings,
            fps=args.fps, ask=args.ask, at_once=args.at_once, more=args.more, quiet=args.quiet, sheet=args.sheet,
        )
    )  # fmt: skip


def add_calibrate(commands: Commands) -> None:
    parser = command(
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
        "The pads have a measurement of their own: referee calibrate pads --help\n\n"
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
    seats.add_argument("--seats", type=parse_int(2, 8, "seats"), default=None, metavar="N",
                       help="seats stand evenly round the table, from the first one's bearing on")  # fmt: skip
    seats.add_argument("--reach", action="store_true",
                       help="measure each seat: its player reaches over the table when asked")  # fmt: skip
    add("--draw", type=Path, metavar="OUT.jpg",
        help="where the picture of what was found goes (default: beside the settings, *.calibration.jpg)")  # fmt: skip
    add("--simulated", action="store_true", help="look at a simulated table instead (with --by cards: at its cards)")
    add("--as-set", action="store_true",
        help="leave the Pi camera's focus, exposure and white balance as the settings have them")  # fmt: skip
    add("--bare", action="store_true",
        help="keep a picture of the bare table, so that faces printed on its cloth are no cards, and stop")  # fmt: skip
    add("--json", action="store_true", help="print one JSON object instead of words")
    add("--sheet", type=Path, metavar="FILE", help="write the sheet to print (*.pdf or *.png) and stop")
    add("--paper", choices=("a4", "letter"), default="a4", help="the sheet's paper (default: a4)")
    add("--undo", action="store_true", help="put --settings FILE back as it was before, and stop")
    parser.branches["pads"] = _add_calibrate_pads(commands)


def _calibrate(args: argparse.Namespace) -> int:
    if args.sheet is not None:
        from referee.setup.calibration.find_table import write_sheet

        write_sheet(args.sheet, args.paper)
        print(translate("{sheet}: print it at 100 %, and check the line of 150 mm with a ruler", sheet=args.sheet))
        return 0
    if args.undo:
        if args.settings is None:
            raise UserError("--undo needs --settings FILE")
        from referee.settings.file import undo_change

        undo_change(args.settings)
        print(translate("{settings} is as it was before the last calibration", settings=args.settings))
        return 0
    if args.bare:
        if args.settings is None:
            raise UserError("--bare needs --settings FILE: the table's camera, and where the picture is kept")
        from referee.setup.calibration.bare_look import keep_bare_table

        return keep_bare_table(args.settings)
    from referee.setup.calibration.calibrate import CalibrationOptions, calibrate

    return calibrate(
        CalibrationOptions(
            images=args.images, settings=args.settings, by=args.by, card_size=args.cards, seats=args.seats,
            reach=args.reach, draw=args.draw, simulated=args.simulated, as_set=args.as_set, as_json=args.json,
        )
    )  # fmt: skip


def _add_calibrate_pads(commands: Commands) -> Parser:
    """Add `calibrate pads`, which is also understood as one word, `calibrate-pads`."""
    parser = command(
        commands, "calibrate-pads", "",
        "Asks each seat to slap its pad a few times while the others keep their hands off, and measures how long its\n"
        "contact bounces and how long other pads hear it. With --board each two neighbours' pads are hit by one blow,\n"
        "through a stiff board that lies over both: that tells how far their answers differ, and so the error that\n"
        "each states. The measurement goes into the settings, [pads_measured]; nothing else there changes.\n"
        "Exit status 1 if a pad was not heard.\n\n"
        "examples:\n  referee calibrate pads --simulated --board\n"
        "  referee calibrate pads --settings table.toml --board",
        _calibrate_pads, prog="referee calibrate pads",
    )  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE", help="the table's settings (TOML)")
    parser.add_argument("--simulated", action="store_true", help="pads and hands of the simulated table")
    parser.add_argument("--seats", type=parse_int(2, 8, "seats"), metavar="N", help="simulated seats (default: 4)")
    parser.add_argument("--blows", type=parse_int(2, 50, "blows"), default=8, metavar="N",
                        help="how often each pad is hit (default: 8)")  # fmt: skip
    parser.add_argument("--board", action="store_true", help="a board is here: hit two pads by one blow as well")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    return parser


def _calibrate_pads(args: argparse.Namespace) -> int:
    from referee.setup.calibration.pad_check import calibrate_pads

    return calibrate_pads(
        args.settings, simulated=args.simulated, seats=args.seats, blows=args.blows, board=args.board, as_json=args.json
    )


def add_setup(commands: Commands) -> None:
    parser = command(
        commands, "setup", "set up a real table, question by question",
        "A walk through everything that a table needs: seats, wires, a slap roll-call that puts swapped pads right,\n"
        "lights, camera, voice, house rules, and the doctor's first look. Enter takes the answer in brackets; back,\n"
        "again, skip and stop are always possible. Each finished step is in the settings file at once; everything\n"
        "else there stays. After stop, the next call goes on there.\n\n"
        "steps: " + ", ".join(STEP_NAMES) + "\n\n"
        "examples:\n  referee setup\n  referee setup --step pads          one step alone\n"
        "  referee setup --simulated --settings try.toml --answers answers.txt\n"
        "  referee setup --set camera.exposure_us=1500 --set camera.gain=9     these values, and no questions",
        _setup,
    )  # fmt: skip
    add = parser.add_argument
    add("--settings", type=Path, default=Path("table.toml"), metavar="FILE",
        help="the settings to write (default: table.toml)")  # fmt: skip
    add("--step", choices=STEP_NAMES, metavar="STEP", help="walk this step alone")
    add("--set", action="append", metavar="KEY=VALUE", dest="values",
        help="set one value, such as voice.device=USB, and ask nothing; may be repeated")  # fmt: skip
    add("--restart", action="store_true", help="from the first step, even if an earlier walk was stopped")
    add("--answers", metavar="FILE", help="one answer a line instead of the keyboard (- is standard input); "
        "after the last one every default is taken")  # fmt: skip
    add("--simulated", action="store_true", help="walk at the simulated table: its pads slap by themselves")


def _setup(args: argparse.Namespace) -> int:
    if args.values:
        from referee.settings.file import set_values

        return set_values(args.settings, args.values)
    from referee.setup.console import set_up

    return set_up(args.settings, step=args.step, restart=args.restart, answers=args.answers, simulated=args.simulated)


def add_certify(commands: Commands) -> None:
    parser = command(
        commands, "certify", "measure the table before a session, and keep one page of it",
        "Measures pads, camera, lights, voice, clock and disk against their requirements, in one to two minutes\n"
        "before a session; also the camera's delay against the pads, by a seat's light that it sees go on, and\n"
        "the seal of the last game. Each failure names its remedy. The certificate is kept beside the games (a\n"
        "browser prints it). Until one has passed for this machine and these settings, the referee says so.\n"
        "Lay the calibration sheet or four cards on the table, and put one seat's light where the camera sees it.\n"
        "Exit status 1 if something failed.\n\n"
        "examples:\n  referee certify --settings table.toml\n  referee certify --simulated --out certificate.html",
        _certify,
    )  # fmt: skip
    parser.add_argument("--settings", type=Path, metavar="FILE", help="the table's settings (TOML)")
    parser.add_argument("--simulated", action="store_true", help="certify the simulated table on this machine")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="write a copy of the page there")


def _certify(args: argparse.Namespace) -> int:
    from referee.certification.certify import certify

    return certify(args.settings, simulated=args.simulated, out=args.out, language=args.language)


def add_wiring(commands: Commands) -> None:
    parser = command(
        commands, "wiring", "draw which wire goes to which pin of the header",
        "Draw the 40-pin header with every pad, light and resistor on it (SVG; a browser shows and prints it), as the\n"
        "settings have it, or for the pin map that the referee takes without any; with it the circuit of the pads.\n\n"
        "examples:\n  referee wiring --out wiring.svg\n  referee wiring --settings table.toml --out wiring.svg",
        _wiring,
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.svg", help="where to draw it")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--settings", type=Path, metavar="FILE", help="draw this table (default: the default pin map)")
    which.add_argument("--seats", type=parse_int(2, 8, "seats"), default=8, metavar="N",
                       help="seats of the default pin map (default: 8)")  # fmt: skip
    parser.add_argument("--pads", choices=("fsr", "switch"),
                        help="pads of pressure sensors behind 74HC14 gates, or of switches (default: fsr, but switch "
                             "where the settings have pads that close to 3.3 V)")  # fmt: skip


def _wiring(args: argparse.Namespace) -> int:
    from referee.setup.wiring import draw_wiring

    return draw_wiring(args.out, args.settings, args.seats, args.pads)


def add_doctor(commands: Commands) -> None:
    parser = command(
        commands, "doctor", "what hardware and libraries are here, and what to install",
        "Look at every part that the referee can use and say whether it is fine, missing or broken, and the command\n"
        "that installs it. Exit status 1 only if something is broken that even the simulated table needs.\n\n"
        "examples:\n  referee doctor\n  referee doctor --json",
        _doctor,
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--settings", type=Path, metavar="FILE",
                        help="the table's settings (default: table.toml here, else the appliance's)")  # fmt: skip


def _doctor(args: argparse.Namespace) -> int:
    from referee.setup.doctor import doctor

    return doctor(as_json=args.json, settings=args.settings)


def add_pi_report(commands: Commands) -> None:
    parser = command(
        commands, "pi-report", "what this Raspberry Pi is and how fast, in one file to send to the maintainers",
        "The referee was written without a Raspberry Pi. This command looks at one for two minutes and writes what it\n"
        "finds into one zip: the doctor's findings, the owners of the header's pins, the camera's modes, controls,\n"
        "clock and frame intervals, the eye's speed with 1 to 4 threads, sound cards, throttling, and synced writes\n"
        "of the disk. It runs on any Linux machine, too: what is not here is listed with the reason.\n"
        "No names of people, host, users or networks, no addresses, no serial numbers and no pictures are in it;\n"
        "report.md in the zip is the whole of it, to read before you send it.\n\n"
        "A loop of wire measures how fast a hand is handled: join an output and a pad's pin through 1 kΩ, and name\n"
        "both (--loop 19 4). The command prints which pins of the header these are, and waits.\n\n"
        "examples:\n  referee pi-report\n  referee pi-report --loop 19 4 --out my-pi-5.zip\n"
        "  referee pi-report --settings table.toml --pictures",
        _pi_report,
    )  # fmt: skip
    add = parser.add_argument
    add("--settings", type=Path, metavar="FILE", help="the table's settings (default: as for referee doctor)")
    add("--out", type=Path, default=Path("pi-report.zip"), metavar="FILE.zip",
        help="where to write it (default: pi-report.zip)")  # fmt: skip
    add("--loop", type=parse_int(2, 27, "a pin"), nargs=2, metavar=("OUTPUT", "PAD"),
        help="BCM numbers of the output and the pad's pin that a wire with 1 kΩ joins")  # fmt: skip
    add("--pictures", action="store_true", help="put one picture of the camera into the zip (default: none)")


def _pi_report(args: argparse.Namespace) -> int:
    from referee.options.pi_report.report import pi_report

    return pi_report(args.out, args.settings, args.loop, pictures=args.pictures)
