"""`referee page` by itself: ``python -m tests.web.launch page --record FILE …``."""

from __future__ import annotations

import sys

from referee.cli.parser import Parser
from referee.cli.serve import add_page


def main() -> int:
    """Run the one command."""
    top = Parser(prog="referee")
    add_page(top.add_subparsers(required=True, parser_class=Parser))
    args = top.parse_args()
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
