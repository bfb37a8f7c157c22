"""`referee page` and `referee hall` alone: a process that has imported them and forks a copy for each one started.

The imports take longer than many a test. ``python -m tests.web.launch DESCRIPTOR``; see `tests.web.served.Starter`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import NoReturn

# Imported here so that no copy has to.
import referee.web.server  # noqa: F401
from referee.cli.parser import Parser
from referee.cli.serve import add_hall, add_page, page_options


def run(words: Sequence[str]) -> int:
    """Run one of the two commands."""
    top = Parser(prog="referee")
    commands = top.add_subparsers(required=True, parser_class=Parser)
    add_page(commands)
    add_hall(commands)
    args = top.parse_args(words)
    status: int = args.run(args)
    return status


def become(words: Sequence[str], environment: Mapping[str, str], output: int) -> NoReturn:
    """Turn a forked copy into that command, which writes to this descriptor; never returns."""
    status = 1
    try:
        os.dup2(output, 1)
        os.environ.clear()
        os.environ.update(environment)
        status = run(words)
        sys.stdout.flush()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def main() -> None:
    """Answer requests until the other end closes: a start with the new process' id, a wait with its exit status."""
    page_options()
    line = socket.socket(fileno=int(sys.argv[1]))
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, 1 << 20, 1)
        if not message:
            return
        request = json.loads(message)
        if "wait" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                line.close()
                become(request["start"], request["environment"], descriptors[0])
            os.close(descriptors[0])
        line.send(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
