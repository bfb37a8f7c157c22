"""The commands that serve pages for browsers: `page` for one table, `hall` for a broker's, `class` for a lesson."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.cli.parser import Commands, command, number, parse_int
from referee.cli.records import require_record
from referee.errors import UserError
from referee.settings.places import SHOWN_FOLDER, record_at

if TYPE_CHECKING:
    from referee.web.site import PageOption

_PORT: Final = 1883
_TLS_PORT: Final = 8883
_MOST_KEYS: Final = 6
"""Most keys: more hands have no room at one keyboard."""


def add_page(commands: Commands) -> None:
    parser = command(
        commands, "page", "the scoreboard, photo-finishes and recorded games, in a browser",
        "Serve the page of a record: the scoreboard of the game that is on, the photo-finish of every slap, games to\n"
        "step through with the reasons of every ruling, and figures for a class. Anyone may watch; to change\n"
        "anything a device must be paired at the table. The address is printed once it can be reached.\n\n"
        "examples:\n  referee page\n"
        "  referee page --record old/record.db --host 0.0.0.0 --port 80",
        run_page,
    )  # fmt: skip
    add = parser.add_argument
    add("--record", type=Path, metavar="FILE",
        help=f"the record of games (default: that of --settings, else your own, in {SHOWN_FOLDER})")  # fmt: skip
    add("--host", default="127.0.0.1", metavar="ADDRESS",
        help="where to listen; 0.0.0.0 for all devices in the room (default: this machine alone)")  # fmt: skip
    add(
        "--port", type=parse_int(0, 65535, "port"), default=8080, metavar="N", help="0 for any free one (default: 8080)"
    )
    # The referee that starts a page opens the listening socket, and passes its descriptor.
    add("--handed", type=parse_int(0, 2**31 - 1, "file descriptor"), help=argparse.SUPPRESS)
    add("--name", action="append", default=[], metavar="NAME",
        help="a further name under which the page is called; may be given again")  # fmt: skip
    add("--pictures", type=Path, metavar="FILE",
        help="the file of frames, to show pictures round slaps (default: that beside the record)")  # fmt: skip
    add("--listen", type=Path, metavar="SOCKET", help="where the referee tells what is new")
    add("--https", action="store_true",
        help="a proxy in front serves the page by https, and it is the only way in")  # fmt: skip
    add("--proxy", action="append", default=[], type=_ip, metavar="ADDRESS",
        help="the proxy's address, for --https: its X-Forwarded-For says who asks; may be given again")  # fmt: skip
    add("--only-paired", action="store_true", help="show the page to paired devices only; needs --runtime")
    add("--no-replays", action="store_true", help="do not play decided slaps again by themselves on the scoreboard")
    add("--settings", type=Path, metavar="FILE",
        help="a table's settings: its record, and of [page] https, proxies, only_paired and replays")  # fmt: skip
    add("--runtime", type=Path, metavar="DIR", help="folder for pairing and control; without it people only watch")


def page_options() -> list[PageOption]:
    """Return the optional pages, which an evening does without, for the table's page."""
    from referee.certification import certificate_page
    from referee.options.shadow import shadow_page
    from referee.options.what_if import what_if_page

    return [what_if_page.PAGE, certificate_page.PAGE, shadow_page.PAGE]


def run_page(args: argparse.Namespace) -> int:
    import asyncio
    import socket

    from referee.control.page_address import listen_at
    from referee.record.pictures import FRAMES_FILE
    from referee.web.server import serve

    secure, proxies, only_paired, record = args.https, args.proxy, args.only_paired, args.record
    replays = not args.no_replays
    if args.settings is not None:
        from referee.settings.model import load_settings

        settings = load_settings(args.settings)
        record = record or settings.record_file
        secure, only_paired = secure or settings.page.https, only_paired or settings.page.only_paired
        proxies, replays = [*proxies, *settings.page.proxies], replays and settings.page.replays
    record = record or record_at()
    # A referee that is starting makes its record in a moment; without one, a missing file is a typing mistake.
    if args.runtime is None:
        require_record(record)
    if proxies and not secure:
        raise UserError("--proxy needs --https: without it a client that bypasses the proxy could claim any address")
    if only_paired and args.runtime is None:
        raise UserError(
            "--only-paired needs --runtime: without it no device can pair, so the page would admit no device"
        )
    listening = listen_at(args.host, args.port) if args.handed is None else socket.socket(fileno=args.handed)
    pictures = args.pictures or record.with_name(FRAMES_FILE)
    page = serve(
        record, listening, pictures=pictures, listen=args.listen, runtime=args.runtime, names=args.name,
        secure=secure, proxies=proxies, only_paired=only_paired, settings=args.settings,
        options=page_options(), replays=replays, quiet=args.handed is not None,
    )  # fmt: skip
    return asyncio.run(page)


def add_hall(commands: Commands) -> None:
    parser = command(
        commands, "hall", "every table of a club or a classroom, in a browser",
        "Serve one page for all the tables that tell their games to a broker (MQTT; the section [mqtt] of a table's\n"
        "settings): who plays, who is asked something, which table needs help, and the day's league. Nothing can be\n"
        "changed from it. docs/club.md says how a broker is set up.\n\n"
        "examples:\n  referee hall --broker 192.168.1.5\n"
        "  referee hall --broker club.example:8883 --tls --user hall --password-file hall.pw --host 0.0.0.0 --port 80",
        run_hall,
    )  # fmt: skip
    add = parser.add_argument
    add("--broker", type=_address, required=True, metavar="HOST[:PORT]", help=f"port: {_PORT}, with --tls {_TLS_PORT}")
    add("--user", default="", metavar="NAME", help="who we are to the broker")
    add("--password-file", default="", metavar="FILE", help="its first line is the password")
    add("--tls", action="store_true", help="speak to the broker by TLS")
    add("--prefix", type=_prefix, default="referee", metavar="NAME", help="of the topics (default: referee)")
    add("--host", default="127.0.0.1", metavar="ADDRESS",
        help="where to listen; 0.0.0.0 for all devices in the network (default: this machine alone)")  # fmt: skip
    add(
        "--port", type=parse_int(0, 65535, "port"), default=8090, metavar="N", help="0 for any free one (default: 8090)"
    )
    add("--name", action="append", default=[], metavar="NAME",
        help="a further name under which the page is called; may be given again")  # fmt: skip


def _ip(text: str) -> str:
    import ipaddress

    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be an IP address, as in 127.0.0.1") from None


def _address(text: str) -> tuple[str, int | None]:
    """Parse ``HOST``, ``HOST:PORT`` or ``[IPv6]:PORT``."""
    host, port = text, ""
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if not host or (port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536)):
        raise argparse.ArgumentTypeError(f"{text!r} must be HOST or HOST:PORT, as in 192.168.1.5:1883")
    return host, int(port) if port else None


def _prefix(text: str) -> str:
    from referee.options.broker.messages import TABLE_NAME

    if not TABLE_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} must be 1 to 40 letters, digits, - and _")
    return text


def run_hall(args: argparse.Namespace) -> int:
    import asyncio

    from referee.options.broker.connection import Broker
    from referee.options.hall.app import serve

    host, port = args.broker
    broker = Broker(host, port or (_TLS_PORT if args.tls else _PORT), args.user, args.password_file, args.tls)
    try:
        broker.password()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("the password cannot be read ({why}); see --password-file", why=error) from None
    return asyncio.run(serve(broker, args.prefix, args.host, args.port, args.name))


def add_class(commands: Commands) -> None:
    parser = command(
        commands, "class", "reaction times of a class: a light, a sound or a card, answered by phones, keys or pads",
        "A lesson in measuring: each pupil reacts to the same kind of stimulus some twenty times, and the room's page\n"
        "shows each time as a dot, the medians, and how far off all of it may be. No name is asked for, and\n"
        "nothing is kept unless --csv says where. docs/lesson.md has the lesson plan and a worksheet.\n\n"
        "what they react to (--stimulus):\n"
        "  phone   a card on each pupil's own phone, each at their own pace; for thirty at once\n"
        "  screen  a card on the room's screen, for all at once\n"
        "  light   the table's light, timed by this machine; needs --settings\n"
        "  sound   this machine's loudspeaker\n"
        "what they answer with: phones that scanned the room's code, --keys of this keyboard, and the pads of\n"
        "--settings. The room's page shows how exact each is: a pad about 1.5 ms, a key 8 ms, a phone 17 ms and\n"
        "what its way through the network leaves open.\n\n"
        "examples:\n  referee class\n  referee class --hands --csv 7b.csv           left hand against right, and kept\n"
        "  referee class --stimulus screen --keys fj    two pupils at this keyboard at once\n"
        "  referee class --stimulus light --settings table.toml",
        run_class,
    )  # fmt: skip
    add = parser.add_argument
    add("--stimulus", choices=("phone", "screen", "light", "sound"), default="phone", help="(default: phone)")
    add("--trials", type=parse_int(1, 200, "trials"), default=20, metavar="N", help="of each pupil (default: 20)")
    add("--hands", action="store_true", help="ask for the left hand or the right, in turns that favour neither")
    add("--keys", type=_keys, default=(), metavar="KEYS", help="letters or digits, one a pupil at this keyboard")
    add("--settings", type=Path, metavar="FILE", help="a table's settings: its pads and its light are used")
    add("--csv", type=Path, metavar="FILE", help="write each trial to this new file as soon as it is made")
    add("--wait", type=number(float, 0.05, 10, "seconds must be a number"), default=1.0, metavar="S",
        help="shortest wait before a stimulus; the longest is four times that (default: 1)")  # fmt: skip
    add("--seed", type=parse_int(0, 2**31 - 1, "seed"), metavar="N", help="the same waits again (default: others)")
    add("--host", default="0.0.0.0", metavar="ADDRESS",
        help="where to listen; 127.0.0.1 for this machine alone (default: 0.0.0.0, for the room)")  # fmt: skip
    add("--port", type=parse_int(0, 65535, "port"), default=8095, metavar="N",
        help="or the next free one; 0 for any (default: 8095)")  # fmt: skip
    add("--no-browser", action="store_true", help="open no browser; print the page's address alone")


def _keys(text: str) -> tuple[str, ...]:
    keys = tuple(text.lower())
    if not 1 <= len(keys) <= _MOST_KEYS or len(set(keys)) < len(keys) or not (text.isascii() and text.isalnum()):
        raise argparse.ArgumentTypeError(f"{text!r} must be 1 to {_MOST_KEYS} different letters or digits, as in fj")
    return keys


def run_class(args: argparse.Namespace) -> int:
    from referee.options.classroom.class_server import ClassOptions, hold_class

    return hold_class(
        ClassOptions(
            stimulus=args.stimulus, trials=args.trials, hands=args.hands, keys=args.keys, settings=args.settings,
            csv=args.csv, wait=round(args.wait * 1e9), seed=args.seed, host=args.host, port=args.port,
            browser=not args.no_browser,
        )
    )  # fmt: skip
