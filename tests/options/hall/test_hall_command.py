"""`referee hall`: its arguments, and its error messages."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from referee.cli.parser import Parser
from referee.cli.serve import _address, add_hall
from referee.errors import UserError


@pytest.mark.parametrize(
    "text, expected",
    [
        ("192.168.1.5", ("192.168.1.5", None)),
        ("club.example:8883", ("club.example", 8883)),
        ("[fe80::1]:1883", ("fe80::1", 1883)),
        ("[::1]", ("::1", None)),
        ("::1", ("::1", None)),
    ],
)
def test_addresses(text: str, expected: tuple[str, int | None]) -> None:
    assert _address(text) == expected


@pytest.mark.parametrize("text", ["", ":1883", "host:port", "host:0", "host:65536", "host:-1", "[::1]:x"])
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="HOST:PORT"):
        _address(text)


def test_a_password_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    top = Parser(prog="referee")
    add_hall(top.add_subparsers(required=True, parser_class=Parser))
    args = top.parse_args(["hall", "--broker", "localhost", "--password-file", str(tmp_path / "nothing")])
    with pytest.raises(UserError, match="--password-file"):
        args.run(args)


def test_a_prefix_that_a_topic_cannot_hold_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    top = Parser(prog="referee")
    add_hall(top.add_subparsers(required=True, parser_class=Parser))
    with pytest.raises(SystemExit):
        top.parse_args(["hall", "--broker", "localhost", "--prefix", "a/#"])
    assert "1 to 40" in capsys.readouterr().err
