"""`referee page`: serve the scoreboard, photo-finishes and recorded games."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.app.command import Commands, command, whole


def _page(args: argparse.Namespace) -> int:
    import asyncio

    from referee.app.page.serving import Options, serve

    options = Options(
        args.record, host=args.host, port=args.port, pictures=args.pictures, listen=args.listen, runtime=args.runtime,
        names=tuple(args.name), secure=args.https,
    )  # fmt: skip
    return asyncio.run(serve(options, lambda address: print(address, flush=True)))


def add_page(commands: Commands) -> None:
    """The command `page`."""
    parser = command(
        commands, "page", "the scoreboard, photo-finishes and recorded games, in a browser",
        "Serve the page of a record: the scoreboard of the game that is on, the photo-finish of every slap, games to\n"
        "step through with the reasons of every ruling, and figures for a class. Everybody may watch; to change\n"
        "anything a device must be paired at the table. The address is printed once it can be reached.\n\n"
        "examples:\n  referee page --record games.sqlite\n"
        "  referee page --record games.sqlite --host 0.0.0.0 --port 80",
        _page,
    )  # fmt: skip
    add = parser.add_argument
    add("--record", type=Path, required=True, metavar="FILE", help="the record of games (SQLite)")
    add("--host", default="127.0.0.1", metavar="ADDRESS",
        help="where to listen; 0.0.0.0 for everybody in the room (default: this machine alone)")  # fmt: skip
    add("--port", type=whole(0, 65535, "port"), default=8080, metavar="N", help="0 for any free one (default: 8080)")
    add("--name", action="append", default=[], metavar="NAME",
        help="a further name under which the page is called; may be given again")  # fmt: skip
    add("--pictures", type=Path, metavar="FILE", help="the file of frames, to show pictures round slaps")
    add("--listen", type=Path, metavar="SOCKET", help="where the referee tells what is new")
    add(
        "--https",
        action="store_true",
        help="a proxy in front serves the page by https, and nobody reaches it otherwise",
    )
    add("--runtime", type=Path, metavar="DIR", help="folder for pairing and control; without it people only watch")
