"""Terminal control characters are written out, and nothing else is changed."""

from __future__ import annotations

import json

import pytest

from referee.text.escapes import escape_controls


@pytest.mark.parametrize("letter", [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202e\u2066\u2069"])
def test_each_is_escaped_and_stays_itself_in_json(letter: str) -> None:
    assert escape_controls(f"a{letter}b") == f"a\\u{ord(letter):04x}b"
    encoded = json.dumps({"name": f"a{letter}b"}, ensure_ascii=False)
    assert json.loads(escape_controls(encoded)) == {"name": f"a{letter}b"}


def test_other_writing_stays() -> None:
    text = "Zoë, Ελένη, 李, محمد, ♥ 10 ± 3\u00a0ms ’"
    assert escape_controls(text) == text


def test_line_breaks_stay_where_they_are_the_texts_own() -> None:
    """Also those of CSV; a carriage return elsewhere would write over the line."""
    assert escape_controls("a\x1b\nb\r\nc\rd\n", lines=True) == "a\\u001b\nb\r\nc\\u000dd\n"
