"""Regression cases from real games: each slap's log yields the verdict that its last line names."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from referee.engine.log import read_observations
from referee.engine.replay import ReplayedGame
from referee.options.shadow.comparison import try_case
from tests.rules.scenes import FOLDER

CASES = sorted((FOLDER / "cases").glob("*.jsonl"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_the_verdict_of_a_case_comes(path: Path) -> None:
    with path.open("rb") as stream:
        expected, ruled = try_case(ReplayedGame(list(read_observations(stream))))
    assert ruled == expected


def test_there_are_cases() -> None:
    assert CASES


def test_a_log_that_expects_nothing_is_no_case() -> None:
    table = b'{"kind":"table","t":0,"seats":["A","B"],"dealer":1,"rules":"classic"}\n'
    with pytest.raises(ValueError, match="no regression case"):
        try_case(ReplayedGame(list(read_observations(BytesIO(table)))))
