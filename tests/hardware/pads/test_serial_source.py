"""Pads on a board that stamps for itself, over a pseudo-terminal: the sketch, the shell and everything between."""

from __future__ import annotations

import random
import select
from collections.abc import Iterator
from contextlib import closing

import pytest

from hardware.pads.clock_exchange import WAITED_FOR
from hardware.pads.pad_place import parse_place
from hardware.pads.plugged_pads import PluggedPads
from hardware.pads.serial_link import SerialPorts
from hardware.pads.serial_source import SILENT_AFTER, SerialLink, SerialSource
from hardware.ports import Edge, Lost
from referee.units import MS, SECOND
from tests.support.pad_boards import STEP, BoardOnLine, damage_lines


class _Ports(SerialPorts):
    """This machine's lines; the test may name the one that is opened by another name."""

    def __init__(self, board: BoardOnLine) -> None:
        super().__init__()
        self.board: BoardOnLine | None = board

    def open(self, device: str) -> SerialLink | None:
        return super().open(self.board.path) if self.board is not None else None


class Desk:
    """A board, the pads that hear it, and the world's clock, which the test moves."""

    def __init__(
        self, board: BoardOnLine, seats: dict[int, str] | None = None, rng: random.Random | None = None
    ) -> None:
        self.board = board
        self.rng = rng or random.Random(1)
        self.ports = _Ports(board)
        places = {seat: parse_place(text) for seat, text in (seats or {1: "serial:1", 2: "serial:2"}).items()}
        self.source = SerialSource(places, self.ports, t_errors=dict.fromkeys(places, 0), clock=lambda: self.now)
        self.pads = PluggedPads(self.source, clock=lambda: self.now, poller=False)
        self.edges: list[Edge] = []
        self.lost: list[Lost] = []
        self.late = 0
        """Edges reported after a promise that had passed them."""
        self._promise = 0
        self.pads.start(self._hear, self.lost.append)

    @property
    def now(self) -> int:
        return self.board.now

    def _hear(self, edge: Edge) -> None:
        self.edges.append(edge)
        self.late += edge.t <= self._promise

    def run_to(self, t: int) -> None:
        """Run both sides in turn, each when it has time, up to ``t`` (ns)."""
        while self.now < t:
            self.board.now = min(t, self.now + self.rng.randint(STEP // 8, STEP))
            self.board.turn()
            self.board.now = min(t, self.now + self.rng.randint(STEP // 8, STEP))
            if self.source.filenos():
                select.select(self.source.filenos(), [], [], 0)
            self._promise = max(self._promise, self.pads.watermark(self.now))

    def hit(self, pad: int, lasts: int = 60 * MS) -> int:
        """Bring a hand down on a pad now; return the instant."""
        at = self.now
        self.board.press(pad, True)
        self.run_to(at + lasts)
        self.board.press(pad, False)
        self.run_to(at + 2 * lasts)
        return at


@pytest.fixture
def desk() -> Iterator[Desk]:
    board = BoardOnLine()
    board.boot()
    made = Desk(board)
    with closing(made.pads):
        made.run_to(100 * MS)
        yield made


def test_a_hand_is_told_when_it_was_and_when_it_left(desk: Desk) -> None:
    at = desk.hit(2)
    down, up = desk.edges
    assert (down.seat, down.pressed, up.pressed) == (2, True, False)
    assert abs(down.t - at) <= down.t_error < 6 * MS
    assert abs(up.t - at - 60 * MS) <= up.t_error
    assert not desk.source.silent


def test_the_first_hand_lights_its_lamp_until_all_have_left(desk: Desk) -> None:
    """Also if the first pad bounces, before the second one comes and while both lie there."""
    board = desk.board
    board.press(2, True)
    assert board.lit == {2}, "in the interrupt, before any turn"
    board.press(2, False)
    desk.run_to(desk.now + 20 * MS)
    board.press(1, True)
    board.press(2, True)
    desk.run_to(desk.now + 200 * MS)
    board.press(2, False)
    desk.run_to(desk.now + 200 * MS)
    assert board.lit == {2}, "one hand still lies there"
    board.press(1, False)
    desk.run_to(desk.now + 40 * MS)
    assert board.lit == {2}
    desk.run_to(desk.now + 40 * MS)
    assert board.lit == set()
    board.press(1, True)
    assert board.lit == {1}, "the next first hand"


def test_a_hand_that_comes_as_the_lamp_goes_out_is_the_next_first(desk: Desk) -> None:
    board = desk.board
    desk.hit(2, 30 * MS)
    board.now += 100 * MS
    # The interrupt comes after the edges were read, and before interrupts are off.
    board.board.disable_irq = lambda: board.press(1, True)
    board.board.turn()
    board.board.disable_irq = lambda: None
    assert board.board.head > board.board.told
    assert board.lit == {2}, "it did not go out under the hand"
    desk.run_to(desk.now + 200 * MS)
    board.press(1, False)
    desk.run_to(desk.now + 100 * MS)
    board.press(1, True)
    assert board.lit == {1}


def test_no_line_changes_a_lamp(desk: Desk) -> None:
    """Hands alone do: the lamp shows which contact closed first, and the ruling is the referee's."""
    board = desk.board
    board.press(1, True)
    board.board.turn(b'{"light":3}\n{"light":0}\n["ask"]\n7\n{"dark":0}\n')
    assert board.lit == {1}
    board.press(2, True)
    assert board.lit == {1}, "no second hand becomes the first"


def test_a_torn_edge_is_told_as_lost_and_the_pad_goes_on(desk: Desk) -> None:
    desk.board.board.send = lambda told: None
    at = desk.now
    desk.board.press(1, True)
    desk.board.turn()
    del desk.board.board.send
    desk.run_to(at + 50 * MS)
    (lost,) = desk.lost
    assert lost.count == 1
    assert lost.after <= at <= lost.before
    (found,) = desk.edges
    assert found.pressed
    assert abs(found.t - at) <= found.t_error
    assert desk.pads.held() == (1,)


def test_a_board_that_says_nothing_is_told_and_not_waited_for(desk: Desk) -> None:
    desk.board.now += SILENT_AFTER + 100 * MS
    desk.pads.poll()
    assert "says nothing" in desk.pads.silent[1]
    assert desk.pads.watermark(desk.now) == desk.now
    desk.run_to(desk.now + 200 * MS)
    assert not desk.pads.silent
    assert desk.pads.watermark(desk.now) > desk.now - 60 * MS


def test_unplugged_and_plugged_in_again(desk: Desk) -> None:
    desk.board.press(1, True)
    desk.run_to(desk.now + 100 * MS)
    desk.board.unplug()
    desk.ports.board = None
    desk.board.now += 100 * MS
    desk.pads.poll()
    assert [edge.pressed for edge in desk.edges] == [True, False]
    assert "is not plugged in" in desk.pads.silent[2]
    other = BoardOnLine()
    other.now = desk.now
    other.boot(ticks=5_000)
    desk.board = desk.ports.board = other
    desk.board.now += SECOND
    desk.run_to(desk.now + 200 * MS)
    assert not desk.pads.silent
    at = desk.hit(2)
    assert abs(desk.edges[-2].t - at) <= desk.edges[-2].t_error


def test_a_pad_that_the_board_does_not_have_is_told() -> None:
    board = BoardOnLine(pads=2)
    board.boot()
    desk = Desk(board, {1: "serial:1", 2: "serial:9"})
    with closing(desk.pads):
        desk.run_to(100 * MS)
        assert set(desk.pads.silent) == {2}
        assert "no pad 9" in desk.pads.silent[2]


def test_what_was_held_before_is_no_press_and_its_release_is_one() -> None:
    board = BoardOnLine()
    board.boot()
    board.press(1, True)
    board.turn()
    board.now = SECOND
    desk = Desk(board)
    with closing(desk.pads):
        desk.run_to(SECOND + 100 * MS)
        assert (desk.edges, desk.pads.held()) == ([], (1,))
        board.press(1, False)
        desk.run_to(SECOND + 200 * MS)
        assert [edge.pressed for edge in desk.edges] == [False]


def test_a_line_that_never_ends_is_junk(desk: Desk) -> None:
    for _ in range(4):
        desk.board.say(b"x" * 300)
        desk.pads.poll()
    desk.board.say(b"\n")
    desk.run_to(desk.now + 50 * MS)
    assert desk.source.junk >= 1
    at = desk.hit(1)
    assert abs(desk.edges[0].t - at) <= desk.edges[0].t_error


# A board that lies


def stamp_early(desk: Desk, by_us: int) -> None:
    """Stamp edges too early from now on."""
    board, note = desk.board.board, desk.board.board.note

    def lie(pad: int, closed: int) -> None:
        at = board.head % len(board.stamps)
        note(pad, closed)
        board.stamps[at] -= by_us

    board.note = lie


@pytest.mark.parametrize("early_us", [5_000, 25_000, 100_000, 300_000])
def test_no_stamp_makes_a_hand_surely_earlier_than_it_was_heard_of(desk: Desk, early_us: int) -> None:
    desk.run_to(SECOND)
    stamp_early(desk, early_us)
    for _ in range(20):
        at = desk.hit(1)
        pressed = desk.edges[-2]
        assert pressed.late or pressed.t + pressed.t_error >= at
        assert pressed.late or early_us < 25_000


def test_a_board_that_answers_as_of_long_ago_is_waited_for_no_longer_and_told(desk: Desk) -> None:
    board, answer = desk.board.board, desk.board.board.answer

    def lag(number: int) -> None:
        shows = board.ticks_us
        board.now -= 600_000
        board.ticks_us = lambda: board.last
        answer(number)
        board.ticks_us = shows
        board.now += 600_000

    desk.run_to(SECOND)
    board.answer = lag
    desk.run_to(4 * SECOND)
    assert desk.pads.watermark(desk.now) >= desk.now - WAITED_FOR
    desk.hit(2)
    assert all(edge.late for edge in desk.edges if edge.pressed)
    assert "count as late" in desk.pads.silent[2]


def test_a_board_that_feels_and_does_not_answer_is_waited_for_no_longer(desk: Desk) -> None:
    desk.board.board.answer = lambda number: None
    for _ in range(20):
        at = desk.hit(1)
        assert desk.pads.watermark(desk.now) >= desk.now - WAITED_FOR
        assert abs(desk.edges[-2].t - at) <= desk.edges[-2].t_error


def test_a_boards_clock_that_jumps_is_told_and_its_hands_are_late_until_it_goes_evenly(desk: Desk) -> None:
    desk.board.skip(50 * MS)
    desk.run_to(desk.now + 100 * MS)
    desk.hit(1)
    assert desk.edges[0].late
    assert "has jumped" in desk.pads.silent[1]
    desk.run_to(desk.now + 3 * SECOND)
    at = desk.hit(1)
    assert not desk.edges[-2].late and abs(desk.edges[-2].t - at) <= desk.edges[-2].t_error
    assert not desk.pads.silent


def test_a_boards_pad_has_a_number() -> None:
    board = BoardOnLine()
    with pytest.raises(ValueError, match="numbers"):
        SerialSource({1: parse_place("serial:a")}, _Ports(board), t_errors={1: 0}, clock=lambda: 0)


@pytest.mark.parametrize("drift_ppm", [-60.0, 60.0])
def test_a_thousand_pairs_with_torn_lines_and_a_board_that_restarts(drift_ppm: float) -> None:
    """No order wrong outside the stated error, every error holds, and every missing hand was reported as lost."""
    rng = random.Random(round(drift_ppm))
    # Its ticks wrap in the middle of it.
    board = BoardOnLine(drift_ppm=drift_ppm, damage=damage_lines(rng, 0.01))
    board.boot(ticks=(1 << 30) - 30_000_000)
    desk = Desk(board, rng=rng)
    pairs: list[tuple[int, int]] = []
    with closing(desk.pads):
        desk.run_to(SECOND)
        for number in range(1000):
            if number == 500:
                # It was away for as long as a board takes to begin.
                board.now += 300 * MS
                board.boot(ticks=300_000)
                desk.run_to(board.now + 100 * MS)
            began = desk.now
            first = rng.choice((1, 2))
            apart = rng.randint(0, 20 * MS)
            script = [(0, first, True), (apart, 3 - first, True), (35 * MS, first, False), (60 * MS, 3 - first, False)]
            for after, pad, closed in script:
                desk.run_to(began + after)
                board.press(pad, closed)
            pairs.append((began, began + apart) if first == 1 else (began + apart, began))
            desk.run_to(began + 80 * MS)
        desk.run_to(desk.now + 200 * MS)
        assert desk.source.junk > 20
    assert desk.late == 0
    presses = {seat: [edge for edge in desk.edges if edge.seat == seat and edge.pressed] for seat in (1, 2)}
    decided = missing = wrong = 0
    errors = []
    for pair in pairs:
        told = []
        for seat, at in enumerate(pair, start=1):
            near = [edge for edge in presses[seat] if abs(edge.t - at) <= 30 * MS]
            if near:
                (edge,) = near
                assert abs(edge.t - at) <= edge.t_error
                told.append(edge)
                errors.append(edge.t_error)
            else:
                missing += 1
                assert any(lost.after <= at <= lost.before for lost in desk.lost)
        if len(told) == 2 and abs(told[0].t - told[1].t) > told[0].t_error + told[1].t_error:
            decided += 1
            wrong += (told[0].t < told[1].t) != (pair[0] < pair[1])
    assert wrong == 0
    assert not any(edge.late for edge in desk.edges)
    # A hand is stated up to our hearing of it, and either side comes round each 0.5 to 4 ms here.
    assert decided > 650
    assert sorted(errors)[len(errors) // 2] < 3 * MS
    assert len(desk.lost) > 10
    assert missing < 100
