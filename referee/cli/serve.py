"""`referee hall`: every table of a broker on one page."""

from __future__ import annotations

import argparse

from referee.app.command import Commands, command, whole
from referee.app.mqtt.topics import NAME

PLAIN, TLS = 1883, 8883
"""The usual ports."""


def _address(text: str) -> tuple[str, int | None]:
    """``HOST``, ``HOST:PORT`` or ``[IPv6]:PORT``."""
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
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} must be 1 to 40 letters, digits, - and _")
    return text


def _hall(args: argparse.Namespace) -> int:
    import asyncio

    from referee.app.hall.serving import Options, serve
    from referee.app.mqtt.client import Broker
    from referee.app.problems import UserError

    host, port = args.broker
    broker = Broker(host, port or (TLS if args.tls else PLAIN), args.user, args.password_file, args.tls)
    try:
        broker.password()
    except (OSError, UnicodeDecodeError) as bad:
        raise UserError(f"the password cannot be read ({bad}); see --password-file") from None
    options = Options(broker, args.prefix, args.host, args.port, tuple(args.name))
    return asyncio.run(serve(options, lambda address: print(address, flush=True)))


def add_hall(commands: Commands) -> None:
    """The command `hall`."""
    parser = command(
        commands, "hall", "every table of a club or a classroom, in a browser",
        "Serve one page for all the tables that tell their games to a broker (MQTT; the section [mqtt] of a table's\n"
        "settings): who plays, who is asked something, which table needs help, and the day's league. Nothing can be\n"
        "changed from it. docs/hall.md says how a broker is set up.\n\n"
        "examples:\n  referee hall --broker 192.168.1.5\n"
        "  referee hall --broker club.example:8883 --tls --user hall --password-file hall.pw --host 0.0.0.0 --port 80",
        _hall,
    )  # fmt: skip
    add = parser.add_argument
    add("--broker", type=_address, required=True, metavar="HOST[:PORT]", help=f"port: {PLAIN}, with --tls {TLS}")
    add("--user", default="", metavar="NAME", help="who we are to the broker")
    add("--password-file", default="", metavar="FILE", help="its first line is the password")
    add("--tls", action="store_true", help="speak to the broker by TLS")
    add("--prefix", type=_prefix, default="referee", metavar="NAME", help="of the topics (default: referee)")
    add("--host", default="127.0.0.1", metavar="ADDRESS",
        help="where to listen; 0.0.0.0 for everybody in the network (default: this machine alone)")  # fmt: skip
    add("--port", type=whole(0, 65535, "port"), default=8090, metavar="N", help="0 for any free one (default: 8090)")
    add("--name", action="append", default=[], metavar="NAME",
        help="a further name under which the page is called; may be given again")  # fmt: skip
