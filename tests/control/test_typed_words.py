"""Typed text is the command that the page would send."""

from __future__ import annotations

from typing import Any

import pytest

from referee.cli import main
from referee.control.commands import CommandError, parse_command
from referee.control.typed_words import TYPED, is_typed_command, read_typed

TYPED_SO: dict[str, dict[str, Any]] = {
    "contest 3 by 1 2": {"do": "contest", "against": 3, "by": [1, 2]},
    "foul 3 out_of_turn": {"do": "foul", "seat": 3, "foul": "out_of_turn"},
    "foul 2 double_draw": {"do": "foul", "seat": 2, "foul": "double_draw"},
    "call 1 10": {"do": "say", "seat": 1, "rank": "T"},
    "Call 1 k": {"do": "say", "seat": 1, "rank": "K"},
    "wild 7": {"do": "draw", "rank": "7"},
    "join 4": {"do": "join", "seat": 4},
    "leave 4": {"do": "leave", "seat": 4},
    "count 2 14": {"do": "count", "seat": 2, "cards": 14},
    "missed card 10H 2": {"do": "missed_card", "card": "Th", "seat": 2},
    "missed card xr 2 after s1": {"do": "missed_card", "card": "Xr", "seat": 2, "after": "s1"},
    "missed slap 3": {"do": "missed_slap", "seat": 3},
    "missed slap 3 on c2": {"do": "missed_slap", "seat": 3, "on": "c2"},
    "take c9": {"do": "take_up", "line": "c9"},
    "pause": {"do": "pause"},
    "resume": {"do": "resume"},
    "undo": {"do": "undo"},
}


@pytest.mark.parametrize("line", TYPED_SO)
def test_a_line_is_the_command_that_it_names(line: str) -> None:
    assert is_typed_command(line)
    assert read_typed(line) == parse_command(TYPED_SO[line])


def test_every_word_is_shown_here() -> None:
    assert {line.split()[0].casefold() for line in TYPED_SO} == set(TYPED)


@pytest.mark.parametrize(
    "line", ["contest 3", "contest 3 1", "foul 2", "join x", "pause 1", "missed 7h", "missed slap"]
)
def test_what_does_not_go_on_so_is_told_how_it_goes(line: str) -> None:
    with pytest.raises(CommandError, match="type: " + line.split()[0]):
        read_typed(line)


@pytest.mark.parametrize("line", ["", "  ", "3", "7h", "slap", "card", "T"])
def test_answers_are_no_commands(line: str) -> None:
    assert not is_typed_command(line)


def test_the_commands_help_names_every_word(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    said = capsys.readouterr().out
    assert {word for word in TYPED if word not in said} == set()
