"""`referee page` and `referee hall` alone: ``python -m tests.web.launch page --record FILE …``."""

from __future__ import annotations

import sys

from referee.cli.parser import Parser
from referee.cli.serve import add_hall, add_page


def main() -> int:
    """Run one of the two commands."""
    top = Parser(prog="referee")
    commands = top.add_subparsers(required=True, parser_class=Parser)
    add_page(commands)
    add_hall(commands)
    args = top.parse_args()
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
