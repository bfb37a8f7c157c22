"""A simulated evening in shadow mode: players referee, and the report lists exactly their errors."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hardware.pads.pads import LEAST_ERROR
from hardware.simulated.table.script import Script
from referee.demo.demo_marks import MarkingPlayers, true_slaps
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.log import read_observations
from referee.engine.observations import Slap
from referee.engine.replay import ReplayedGame
from referee.errors import UserError
from referee.options.shadow.comparison import try_case
from referee.options.shadow.shadowed_games import ShadowedGame, find_shadowed, shadow_case, shadow_report
from referee.record.store import Record
from referee.share import wilson
from referee.table.game import Conductor
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames
from tests.support.stepped_demo import play

FPS = 15.0
WRONG = 12


def with_a_dead_heat(script: Script) -> tuple[Script, int]:
    """Return the same evening with two hands of one slap a microsecond apart; and which slap that is."""
    hands = {line.id: line for line in script.truth if isinstance(line, Slap)}
    places = [place for place, slap in enumerate(true_slaps(script)) if len(slap.hands) == 2 and slap.verdict]
    place = places[len(places) // 2]
    first, second = (hands[name] for name in true_slaps(script)[place].hands)
    early = second.t - first.t - 1_000
    truth = [
        replace(line, t=line.t - early * (line is second), t_error=LEAST_ERROR) if line in (first, second) else line
        for line in script.truth
    ]
    contacts = [
        replace(contact, t=contact.t - early)
        if (contact.seat, contact.t, contact.pressed) == (second.seat, second.t, True)
        else contact
        for contact in script.contacts
    ]
    return (
        replace(
            script,
            truth=tuple(sorted(truth, key=lambda line: line.t)),
            contacts=tuple(sorted(contacts, key=lambda contact: contact.t)),
        ),
        place,
    )


@cache
def evening() -> tuple[Script, int, Conductor, Path]:
    options = DemoOptions(seed=14, pace=False, live=False, max_cards=300, shadow=True, wrong=WRONG)
    script, heat = with_a_dead_heat(script_of(options))
    eye = ScriptedWatcher(as_seen(script.truth, round(1e9 / FPS)), delay=250_000_000)
    record = Path(KEPT.name) / "record.db"
    _, conductor = play(options, script, eye, frames=blank_frames(FPS, script.duration), record=record)
    return script, heat, conductor, record


KEPT = TemporaryDirectory(prefix="shadow-")


def compared() -> ShadowedGame:
    with Record(evening()[3], read_only=True) as record:
        return find_shadowed(record, None)[0]


def test_the_report_finds_exactly_the_verdicts_that_were_wrong() -> None:
    script, heat, _, _ = evening()
    slaps = true_slaps(script)
    wrong = MarkingPlayers.choose(slaps, WRONG, script.seed)
    found = compared().compared
    assert len(found.differing) == WRONG
    assert [slap.slap.t // 1000 for slap in found.differing] == [slaps[place].t // 1000 for place in sorted(wrong)]
    assert [slap.slap.why for slap in found.undecided] == ["dead_heat"]
    assert found.undecided[0].slap.t // 1000 == slaps[heat].t // 1000
    assert len(found.agreed) == len(slaps) - WRONG - 1
    assert (found.unmarked, found.stray, found.replaced) == ((), (), ())
    low, high = found.interval
    assert low < len(found.agreed) / found.counted < high
    assert (low, high) == wilson(len(slaps) - WRONG - 1, len(slaps) - 1)


def test_the_report_says_so_in_words() -> None:
    with Record(evening()[3], read_only=True) as record:
        told = list(shadow_report(record))
    assert told[1].startswith("19 of 31 slaps were ruled alike: 61.3 %")
    assert sum("people said" in line and "the referee ruled" in line for line in told) == WRONG
    assert any("1 slap that the referee itself could not decide" in line for line in told)
    assert any("too close to call" in line for line in told)


@pytest.mark.parametrize("language", ["en", "de", "es", "fr"])
def test_the_report_is_told_in_every_language(language: str) -> None:
    with Record(evening()[3], read_only=True) as record:
        assert len(list(shadow_report(record, language=language))) > WRONG


@pytest.mark.parametrize("shadow", [True, False])
def test_nothing_is_said_or_shown_while_it_is_played(
    shadow: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = DemoOptions(seed=14, pace=False, live=False, max_cards=30, shadow=shadow)
    script = script_of(options)
    eye = ScriptedWatcher(as_seen(script.truth, round(1e9 / FPS)), delay=250_000_000)
    _, conductor = play(options, script, eye, frames=blank_frames(FPS, script.duration), record=tmp_path / "record.db")
    won = [ruling for ruling in conductor.rulings if ruling.kind == "slap_won"]
    assert won and ("wins the slap" in capsys.readouterr().out) is not shadow


@pytest.mark.parametrize("by_people", [True, False])
def test_a_difference_becomes_a_case_of_which_the_referees_verdict_comes(by_people: bool) -> None:
    with Record(evening()[3], read_only=True) as record:
        lines = list(shadow_case(record, None, 3, by_people=by_people))
    assert "Ana" not in "".join(lines)
    expected, ruled = try_case(ReplayedGame(list(read_observations(BytesIO("".join(lines).encode())))))
    assert (expected == ruled) is not by_people


def test_a_case_that_there_is_not_is_refused_in_words() -> None:
    with Record(evening()[3], read_only=True) as record, pytest.raises(UserError, match="has 12 differences"):
        list(shadow_case(record, None, 13))
