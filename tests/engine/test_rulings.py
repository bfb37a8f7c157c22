"""A hand-written encoder of a ruling's line; it must equal the output of the standard library's."""

from __future__ import annotations

import json

import pytest

from referee.engine.rulings import Ruling, encode_ruling, gap_form, in_doubt_of_gap, rests_on_gap, ruling_fields
from tests.oracle.games import play
from tests.play import rule

AWKWARD = (
    Ruling("turn", 'turn@"\\\n\u2028é\ud800', -5, ('"', "\x00\x7f", "😀"), ()),
    Ruling("remind", "remind@1", 0, ("1",), ("S7", "K6"), {"what": 'r"ings\n', "on": True, "off": False, "none": None}),
    Ruling("question", "q@1", 2**63, ("1",), ("K6",), {"ask": "mend_pile", "about": ["1", ["2"], {"é": 0.25}]}),
    Ruling("won", "won@2", 1, ("2",), ("E5a",), {"seat": 10**30}, supersedes=("won@1", 'a"b'), doubt=True),
    Ruling("drawn", "drawn@2", 1, ("2",), ("E4",), doubt=True),
)


def by_the_library(ruling: Ruling) -> str:
    return json.dumps(ruling_fields(ruling), separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("ruling", AWKWARD, ids=lambda ruling: ruling.kind)
def test_a_ruling_with_awkward_texts_is_one_line_of_json(ruling: Ruling) -> None:
    assert encode_ruling(ruling) == by_the_library(ruling)
    assert "\n" not in encode_ruling(ruling)


def test_rulings_of_games_are_written_as_the_library_writes_them() -> None:
    kinds = set()
    for seed in range(20):
        for ruling in rule(list(play(seed).observations)):
            assert encode_ruling(ruling) == by_the_library(ruling)
            kinds.add(ruling.kind)
    assert kinds >= {"slap_won", "dead_heat", "burn", "pile", "question"}


def test_a_doubt_because_of_a_gap_is_told_from_one_of_two_close_instants() -> None:
    sure = Ruling("question", "question@c1", 0, ("c1",), ("K2",), {"ask": "unreadable_card"})
    close = Ruling("slap_won", "slap_won@s1", 0, ("s1",), ("M1", "K9"), doubt=True)
    assert not rests_on_gap(sure) and not rests_on_gap(close)
    assert rests_on_gap(in_doubt_of_gap(sure)) and rests_on_gap(in_doubt_of_gap(close))


@pytest.mark.parametrize(
    ("fields", "form"),
    [
        ({"about": ["g1", "s1"]}, "hand"),
        ({"about": ["g1"], "passed": True}, "passed"),
        ({"about": ["g1"]}, "gone"),
        ({"about": ["g1"], "cards": ["7h", "??"]}, "unread"),
        ({"about": ["g1"], "cards": ["7h", "9c"]}, "cards"),
        ({"about": ["g1"], "cards": ["??", "9c"]}, ""),
        ({"about": ["g1"], "cards": ["9c"]}, ""),
    ],
)
def test_a_question_about_a_gap_has_a_form(fields: dict[str, object], form: str) -> None:
    assert gap_form(Ruling("question", "question@g1", 1, ("g1",), ("K2",), {"ask": "unseen_gap", **fields})) == form
