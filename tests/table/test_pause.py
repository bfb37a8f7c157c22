"""People pause the game, and the camera does: it goes on only when neither of them holds it any more."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hardware.ports import Edge
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from referee.announce.sinks import Notice
from referee.announce.voice import Voice
from referee.control.commands import Command
from referee.control.corrections import UNSEEN
from referee.control.facts import Accepted, Facts, Outcome
from referee.control.socket import make_handler
from referee.engine.amended_log import AmendedLog
from referee.engine.observations import Correct, LogError, Pause, Resume, Table
from referee.engine.replay import replay_log
from referee.engine.rulings import encode_ruling
from referee.table.game import Conductor
from referee.table.pause import CAMERA
from referee.table.timeline import past_of
from referee.vision.sight import Sight

MS = 1_000_000
SECOND = 1000 * MS
TABLE = Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules="classic")


class Lines:
    """A log in memory; implements `referee.record.journal.Journal`."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def write(self, line: str, sensor: str | None = None) -> None:
        self.all.append(line)

    def commit(self) -> None: ...


class Bench:
    """A table whose camera, people and power are controlled by the test."""

    def __init__(self, table: Table = TABLE) -> None:
        self.log = Lines()
        self.now = SECOND
        self.told: list[str] = []
        self.speaker = RecordingSpeaker(lambda: self.now)
        self._voice = Voice(self.speaker)
        self.conductor = Conductor(table, journal=self.log, tellers={"test": self._tell})
        self._obey = make_handler(self._facts, self._name, self._said, lambda _: "no")
        self.see()

    def _tell(self, notice: Notice) -> None:
        self.told.append(notice.what)
        self._voice.tell(notice)

    def _facts(self) -> Facts:
        game = self.conductor
        return Facts(game.observations, game.rulings, game.view, self.now, game.watermark)

    def _name(self, kind: str) -> str:
        return self.conductor.new_id(kind)

    def _said(self, *lines: Any) -> None:
        self.conductor.said(*lines)

    def later(self) -> int:
        self.now += SECOND
        return self.now

    def advance(self) -> None:
        self.conductor.advance(self.now, self.now - 5 * MS)

    def see(self, state: str = "quiet", *, first: bool = False, behind: bool = False) -> None:
        """Look at one frame, 30 ms old."""
        t = self.later() - 30 * MS
        trouble = state if state == "dark" else ""
        self.conductor.on_sight(Sight(t, 2 * MS, (), t, trouble=trouble, state=state, behind=behind, first=first))
        self.advance()

    def lose(self) -> None:
        self.later()
        self.conductor.lose(CAMERA, "no frame for 2 s")
        self.advance()

    def find(self) -> None:
        """Bring the camera back, with the cards on the table."""
        self.see(first=True)
        for _ in range(3):
            self.see()

    def command(self, do: str, **fields: str) -> Outcome:
        self.later()
        done = self._obey(Command(do, fields))
        self.advance()
        return done

    def do(self, what: str) -> None:
        """Apply an act of the camera or the people."""
        if what in ("lose", "find"):
            getattr(self, what)()
        else:
            self.command(what)

    def slap(self) -> None:
        t = self.later()
        self.conductor.on_edge(Edge(1, t, pressed=True))
        self.conductor.on_edge(Edge(1, t + 80 * MS, pressed=False))
        self.advance()

    def cut(self) -> None:
        """Cut the power and restore it."""
        past = past_of(self.log.all)
        self.now = max(self.now, past.last) + SECOND
        self.conductor = Conductor(past.table, journal=self.log, tellers={"test": self._tell}, past=past)
        self.conductor.begin_again(self.now)
        self.advance()

    def still(self) -> bool:
        """Whether the table stands still."""
        return self.conductor.paused

    def written(self, *kinds: str) -> list[str]:
        """Return the lines of these kinds, each with its cause."""
        found = (json.loads(line) for line in self.log.all)
        return [" ".join(filter(None, (f["kind"], f.get("because")))) for f in found if f.get("kind") in kinds]

    def stops(self) -> list[str]:
        return self.written("pause", "resume", "released")


def stands(log: list[str], t: int) -> bool:
    """Whether slaps at ``t`` are void, for a reader who knows only the log's format."""
    lines = [line for line in map(json.loads, log) if "kind" in line]
    void = {line["line"] for line in lines if line["kind"] == "correct"}
    turned = [line for line in lines if line["kind"] in ("pause", "resume") and line["id"] not in void]
    last = [line["kind"] for line in sorted(turned, key=lambda line: line["t"]) if line["t"] <= t]
    return last[-1:] == ["pause"]


def the_log_agrees(bench: Bench) -> None:
    """Check that a replay gives the same rulings, and that a hand is void for a pause exactly where the log says so."""
    bench.conductor.finish()
    again = list(replay_log(BytesIO("\n".join(bench.log.all).encode())))
    replaced = {name for ruling in bench.conductor.rulings for name in ruling.supersedes}
    ours = sorted(encode_ruling(ruling) for ruling in bench.conductor.rulings if ruling.id not in replaced)
    assert sorted(map(encode_ruling, again)) == ours
    for ruling in again:
        if ruling.kind.startswith("slap_"):
            assert (ruling.get("reason") == "paused") == stands(bench.log.all, ruling.t), ruling


HOLDS = list(itertools.permutations(("pause", "lose")))
ENDS = list(itertools.permutations(("resume", "find")))


@pytest.mark.parametrize(("begin", "end"), list(itertools.product(HOLDS, ENDS)))
def test_the_table_goes_on_when_both_are_over(begin: tuple[str, ...], end: tuple[str, ...]) -> None:
    bench = Bench()
    for what in (*begin, end[0]):
        bench.do(what)
        assert bench.still()
        bench.slap()
    assert bench.told.count("paused") == 1
    assert "resumed" not in bench.told
    bench.do(end[1])
    assert not bench.still()
    assert bench.told[-1] == "resumed"
    assert [line.split()[0] for line in bench.stops()] == ["pause", "pause", "released", "resume"]
    bench.slap()
    the_log_agrees(bench)


def test_people_who_pause_alone_write_what_they_always_wrote() -> None:
    bench = Bench()
    bench.command("pause")
    assert bench.still()
    bench.command("resume")
    assert not bench.still()
    assert bench.stops() == ["pause", "resume"]
    assert bench.told == ["paused", "resumed"]


def test_people_who_wait_for_the_camera_are_told_so() -> None:
    bench = Bench()
    bench.lose()
    assert bench.command("resume").words == UNSEEN
    assert bench.stops() == ["pause camera"]
    bench.command("pause")
    assert bench.command("pause").words == "the table is paused already"
    done = bench.command("resume")
    assert isinstance(done, Accepted)
    assert done.words == UNSEEN
    assert bench.told[-1] == "waits_for_camera"
    bench.find()
    assert bench.stops() == ["pause camera", "pause", "released", "resume camera"]


def test_a_camera_that_is_back_says_that_the_pause_is_peoples() -> None:
    bench = Bench()
    bench.lose()
    bench.command("pause")
    bench.find()
    assert bench.still()
    assert bench.told[-2:] == ["camera_back", "still_paused"]
    assert bench.stops() == ["pause camera", "pause", "released camera"]


@pytest.mark.parametrize("cut", [1, 2])
def test_peoples_pause_outlasts_a_power_cut(cut: int) -> None:
    bench = Bench()
    bench.command("pause")
    for _ in range(cut):
        bench.cut()
    assert bench.told[-2:] == ["taken_up", "paused"]
    assert "the game was broken off: it goes on where it stood" in [said.text for said in bench.speaker.said]
    bench.find()
    assert bench.still()
    assert isinstance(bench.command("resume"), Accepted)
    assert not bench.still()
    the_log_agrees(bench)


def test_a_game_that_nobody_paused_goes_on_after_a_power_cut() -> None:
    """Even if its camera was gone when the power failed."""
    bench = Bench()
    bench.lose()
    bench.cut()
    assert bench.still()
    bench.find()
    assert not bench.still()


def test_a_wish_to_go_on_outlasts_a_power_cut() -> None:
    bench = Bench()
    bench.command("pause")
    bench.lose()
    bench.command("resume")
    bench.cut()
    bench.find()
    assert not bench.still()


def test_a_pause_that_is_taken_back_while_the_camera_is_gone() -> None:
    bench = Bench()
    bench.command("pause")
    bench.lose()
    bench.command("undo")
    assert bench.still()
    assert not isinstance(bench.command("undo"), Accepted), "the camera's pause is nothing that people said"
    bench.slap()
    bench.find()
    assert not bench.still()
    the_log_agrees(bench)


def test_a_wish_to_go_on_is_taken_back_after_the_camera_is_back() -> None:
    bench = Bench()
    bench.command("pause")
    bench.lose()
    bench.command("resume")
    bench.find()
    assert not bench.still()
    bench.command("undo")
    assert bench.still()
    bench.command("undo")
    assert not bench.still()
    the_log_agrees(bench)


def test_a_resume_that_is_taken_back_is_a_pause_again() -> None:
    bench = Bench()
    bench.command("pause")
    bench.command("resume")
    bench.lose()
    bench.command("undo")
    bench.find()
    assert bench.still()


def test_the_cameras_pause_is_no_line_to_correct() -> None:
    bench = Bench()
    bench.lose()
    line = next(line for line in bench.conductor.observations if isinstance(line, Pause))
    done = bench.command("void", line=line.id)
    assert "itself" in done.words
    # A writer that writes it all the same stops the table all the same.
    bench.conductor.said(Correct(t=bench.later(), id="z", line=line.id, void=True))
    assert bench.still()
    assert stands(bench.log.all, bench.now + 1)
    bench.find()
    assert not bench.still()
    the_log_agrees(bench)


def test_a_resume_that_nobody_asked_about_is_refused_while_nobody_looks() -> None:
    bench = Bench()
    bench.lose()
    with pytest.raises(LogError, match="the camera does not see the table yet"):
        bench.conductor.said(Resume(t=bench.later(), id="r"))
    assert "resume" not in bench.stops()


def test_a_resume_that_comes_from_elsewhere_ends_peoples_own_pause_alone() -> None:
    bench = Bench()
    bench.command("pause")
    bench.lose()
    bench.conductor.said(Resume(t=bench.later(), id="r"))
    assert bench.still()
    assert bench.stops()[-1] == "released"
    bench.find()
    assert not bench.still()


def test_the_table_never_goes_on_at_an_instant_before_people_let_it() -> None:
    """The camera was gone before people went on, and this was noticed only after."""
    bench = Bench()
    bench.command("pause")
    bench.command("resume")
    bench.conductor.lose(CAMERA, "gone for a while")
    assert stands(bench.log.all, bench.now + 1)
    bench.slap()
    bench.find()
    the_log_agrees(bench)


def test_a_correction_that_the_rules_do_not_allow_lets_nothing_go_on() -> None:
    """Its refusal is known only once everything up to it was reported (K6 is off)."""
    bench = Bench(replace(TABLE, rules={"base": "classic", "off": ["K6"]}))
    bench.command("pause")
    line = next(line for line in bench.conductor.observations if isinstance(line, Pause))
    bench.conductor.said(Correct(t=bench.later(), id="z", line=line.id, void=True))
    bench.see()
    bench.see()
    assert bench.still()
    assert bench.told[-1] == "paused"
    assert isinstance(bench.command("resume"), Accepted)
    assert not bench.still()


def test_what_takes_back_can_be_taken_back() -> None:
    lines = [TABLE, Pause(t=1, id="q1"), Correct(t=2, id="z1", line="q1", void=True)]
    assert not AmendedLog(lines, []).pause.is_stopped
    assert AmendedLog([*lines, Correct(t=3, id="z2", line="z1", void=True)], []).pause.is_stopped


class Standing(RuleBasedStateMachine):
    """Acts in any order: still while one of the two holds, live when none does."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.acts: dict[str, bool] = {}
        """People's acts that were not taken back, by their line: paused, or went on."""
        self.gone = self.dark = False

    @property
    def people(self) -> bool:
        return list(self.acts.values())[-1:] == [True]

    @rule(do=st.sampled_from(["pause", "resume"]))
    def people_say(self, do: str) -> None:
        wanted = do == "pause"
        done = self.bench.command(do)
        assert isinstance(done, Accepted) == (wanted != self.people), done
        if isinstance(done, Accepted):
            self.acts[done.observations[0].id] = wanted

    @rule()
    def people_take_it_back(self) -> None:
        done = self.bench.command("undo")
        assert isinstance(done, Accepted) == bool(self.acts), done
        if self.acts:
            self.acts.popitem()

    @precondition(lambda self: self.acts)
    @rule(data=st.data())
    def people_strike_out(self, data: st.DataObject) -> None:
        """Strike out any of their lines; only undo reaches a wish that waits for the camera."""
        line = data.draw(st.sampled_from(list(self.acts)))
        if isinstance(self.bench.command("void", line=line), Accepted):
            del self.acts[line]

    @precondition(lambda self: not self.gone)
    @rule()
    def the_camera_is_lost(self) -> None:
        self.bench.lose()
        self.gone = True

    @precondition(lambda self: self.gone)
    @rule()
    def the_camera_is_back(self) -> None:
        self.bench.find()
        self.gone = self.dark = False

    @precondition(lambda self: not self.gone and not self.dark)
    @rule()
    def the_lamp_goes_out(self) -> None:
        self.bench.see("dark")
        self.dark = True

    @precondition(lambda self: not self.gone and self.dark)
    @rule()
    def the_lamp_is_lit(self) -> None:
        for _ in range(3):
            self.bench.see()
        self.dark = False

    @rule()
    def the_power_fails(self) -> None:
        self.bench.cut()
        self.gone = True

    @rule()
    def a_hand(self) -> None:
        self.bench.slap()

    @precondition(lambda self: not self.gone)
    @rule()
    def a_frame(self) -> None:
        self.bench.see("dark" if self.dark else "quiet")

    @invariant()
    def still_while_one_holds_and_live_when_none_does(self) -> None:
        held = self.people or self.gone or self.dark
        assert self.bench.still() == held
        assert stands(self.bench.log.all, self.bench.now + 1) == held

    @invariant()
    def who_listens_knows(self) -> None:
        told = [what for what in self.bench.told if what in ("paused", "resumed")]
        assert (told[-1:] == ["paused"]) == self.bench.still()

    def teardown(self) -> None:
        the_log_agrees(self.bench)


TestStanding = Standing.TestCase
TestStanding.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_an_eye_that_falls_behind_is_told_once_and_again_when_it_follows() -> None:
    table = Bench()
    table.see(behind=True)
    table.see(behind=True)
    assert table.told.count("eye_behind") == 1
    assert "lay cards more slowly" in table.conductor.troubles["eye"]
    assert not table.conductor.paused, "a late eye misses nothing"
    table.see()
    assert table.told[-1] == "eye_follows" and "eye" not in table.conductor.troubles
