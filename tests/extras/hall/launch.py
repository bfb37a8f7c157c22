"""`referee hall` by itself: ``python -m tests.extras.hall.launch hall --broker HOST:PORT …``."""

from __future__ import annotations

import sys

from referee.cli.parser import Parser
from referee.cli.serve import add_hall


def main() -> int:
    """Run the one command."""
    top = Parser(prog="referee")
    add_hall(top.add_subparsers(required=True, parser_class=Parser))
    args = top.parse_args()
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
