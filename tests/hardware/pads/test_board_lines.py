"""The lines of a pad board, as the guide shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hardware.pads.board_lines import BoardAnswer, BoardEdge, BoardHello, BoardReader, encode_greeting, encode_question

GUIDE = (Path(__file__).parents[3] / "docs" / "timing.md").read_text(encoding="utf-8")


def test_the_guides_lines_are_what_is_said() -> None:
    shown = [line.encode() for line in re.findall(r"^\| \w+ \| `(\{.*?\})`", GUIDE, re.MULTILINE)]
    told = BoardReader().feed(b"\n".join(line for line in shown if b"sum" in line) + b"\n")
    assert told == [
        BoardHello(8, 50, 0), BoardEdge(2, 8_123_456, True, 1), BoardAnswer(41, 8_140_011, 1, frozenset({2})),
    ]  # fmt: skip
    assert {encode_greeting().strip(), encode_question(41).strip()} <= set(shown)


def summed(body: str) -> bytes:
    return f'{body},"sum":{sum(body.encode()) & 0xFFFF}}}\n'.encode()


@pytest.mark.parametrize(
    "line",
    [
        b"MicroPython v1.24 on 2024-10-25\n",
        b'{"pad": 2, "us": 8123456, "edge": "down", "n": 1}\n',
        summed('{"pad": 2, "us": 8123456, "edge": "down", "n": 1')[:-2] + b"7}\n",
        summed('{"pad": 2, "us": 8123456, "edge": "side", "n": 1'),
        summed('{"pad": 2, "us": -1, "edge": "down", "n": 1'),
        summed('{"pad": true, "us": 1, "edge": "down", "n": 1'),
        summed('{"pad": 2, "us": 1.5, "edge": "down", "n": 1'),
        summed('{"hello": "pads", "version": 2, "pads": 8, "error_us": 50, "n": 0'),
        summed('{"hello": "pads", "version": 1, "pads": 8, "error_us": 20000, "n": 0'),
        summed('{"answer": 1, "us": 1, "n": 1, "down": [99]'),
        summed("[1"),
        summed('"hello'),
        b"\xff\xfe\n",
    ],
)
def test_what_is_no_line_of_a_board_is_counted_and_passed_over(line: bytes) -> None:
    reader = BoardReader()
    assert reader.feed(line) == []
    assert reader.junk == 1
    assert reader.feed(summed('{"pad": 2, "us": 5, "edge": "up", "n": 3')) == [BoardEdge(2, 5, False, 3)]


def test_a_line_may_come_in_any_pieces() -> None:
    reader, told = BoardReader(), []
    for byte in summed('{"pad": 2, "us": 5, "edge": "up", "n": 3'):
        told += reader.feed(bytes([byte]))
    assert told == [BoardEdge(2, 5, False, 3)]
    assert reader.junk == 0
