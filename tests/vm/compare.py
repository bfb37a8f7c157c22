"""The two sources of edges side by side under the same pad shell, for docs/timing.md: `make vm-compare`."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from hardware.ports import Edge
from tests.vm.chip import SimulatedChip
from tests.vm.faults import pretend_to_be_a_pi
from tests.vm.hands import Move
from tests.vm.rig import MS, PINS, SOURCES, Rig, Story
from tests.vm.rounds import BETWEEN, HOLD, SEATS, Round, eight_rounds, pair_rounds
from tests.vm.table import Row, apart
from tests.vm.told import lateness

IDLE: Final = 4.0
BLIPS: Final = 60


def arrivals_wrong(story: Story, rounds: Sequence[Round]) -> tuple[int, int]:
    """Return the rounds with presses in the wrong order by stamp, and those with a wrong order of arrival."""
    by_stamp = by_arrival = 0
    begin = 0
    for one in rounds:
        made = story.moves[begin : begin + len(one.moves)]
        begin += len(one.moves)
        heard = [press for press in story.presses() if made[0].before <= press.edge.t <= made[-1].after]
        by_arrival += tuple(press.edge.seat for press in heard) != one.hands
        by_stamp += tuple(press.edge.seat for press in sorted(heard, key=lambda press: press.edge.t)) != one.hands
    return by_stamp, by_arrival


def orders(chip: SimulatedChip, source: str) -> list[Row]:
    """Measure pairs and eights: the order of stamps, the order of arrival, the delay."""
    rows = []
    rig = Rig(chip, SOURCES[source])
    rig.start()
    pairs = pair_rounds((1 * MS,), random.Random(1))
    story = rig.play([move for pair in pairs for move in pair.moves])
    stamp, arrival = arrivals_wrong(story, pairs)
    rows.append(Row("pairs 1 ms apart: wrong by stamp", source, f"{stamp} of {len(pairs)}"))
    rows.append(Row("pairs 1 ms apart: wrong by arrival", source, f"{arrival} of {len(pairs)}"))
    rows.append(Row("from the stamp to the handler", source, lateness(story)))
    rows.append(Row("releases within what they say", source, releases(story)))
    rig.close()
    return rows


def eights(chip: SimulatedChip, source: str) -> list[Row]:
    """Press eight pads back to back."""
    rig = Rig(chip, SOURCES[source])
    rig.start()
    rounds = eight_rounds(30, random.Random(2))
    story = rig.play([move for one in rounds for move in one.moves])
    stamp, arrival = arrivals_wrong(story, rounds)
    rig.close()
    return [
        Row("eight back to back: wrong by stamp", source, f"{stamp} of {len(rounds)}"),
        Row("eight back to back: wrong by arrival", source, f"{arrival} of {len(rounds)}"),
    ]


def releases(story: Story) -> str:
    """Measure how many true openings lie within the reported release, and the error of releases."""
    told = [heard.edge for heard in story.heard if not heard.edge.pressed]
    opened = [move for move in story.moves if not move.closed]
    within = sum(
        any(edge.seat == move.seat and edge.t - edge.t_error <= move.after and move.before <= edge.t + edge.t_error
            for edge in told)
        for move in opened
    )  # fmt: skip
    errors = statistics.median(edge.t_error for edge in told) / MS
    return f"{within} of {len(opened)}, known to {errors:.1f} ms in the median"


def loaded(chip: SimulatedChip, source: str) -> list[Row]:
    """Measure the same delay while a thread of ours computes without end."""
    rig = Rig(chip, SOURCES[source])
    rig.start()
    stop = threading.Event()

    def compute() -> None:
        count = 0
        while not stop.is_set():
            count += 1

    threading.Thread(target=compute, daemon=True).start()
    rounds = pair_rounds((1 * MS,), random.Random(3))[:28]
    story = rig.play([move for one in rounds for move in one.moves])
    stop.set()
    stamp, _ = arrivals_wrong(story, rounds)
    rig.close()
    return [
        Row("beside a busy thread: wrong by stamp", source, f"{stamp} of {len(rounds)}"),
        Row("beside a busy thread: stamp to handler", source, lateness(story)),
    ]


def idle(chip: SimulatedChip, source: str) -> list[Row]:
    """Measure processor time while every pad rests, and while one is held down."""
    rig = Rig(chip, SOURCES[source])
    rig.start()
    time.sleep(0.5)
    rest = _share(IDLE)
    rig.hands.begin([Move(SEATS[0], True), Move(SEATS[0], False, round((IDLE + 1) * 1e9))])
    time.sleep(0.5)
    held = _share(2.0)
    rig.close()
    return [
        Row("processor, all pads at rest", source, f"{rest:.1f} %"),
        Row("processor, one pad held down", source, f"{held:.1f} %"),
    ]


def _share(seconds: float) -> float:
    used, began = time.process_time(), time.monotonic()
    time.sleep(seconds)
    return 100 * (time.process_time() - used) / (time.monotonic() - began)


def chatter(chip: SimulatedChip, source: str) -> list[Row]:
    """Let every pad chatter at once, at full speed: what is reported, and whether the rest is noticed."""
    rig = Rig(chip, SOURCES[source])
    rig.start()
    order = [seat for _ in range(BLIPS) for seat in SEATS]
    rig.play([move for seat in order for move in (Move(seat, True), Move(seat, False))])
    told = len(rig.story.presses())
    noticed = sum(lost.count for lost in rig.story.lost) + rig.pads.merged
    tapped = [
        Move(SEATS[k % 8], closed, 0 if not closed else BETWEEN // 4) for k in range(40) for closed in (True, False)
    ]
    rig.play(tapped)
    single = len(rig.story.presses()) - told
    rig.close()
    return [
        Row("eight pads chattering: told", source, f"{told} of {len(order)}"),
        Row("- and noticed as missing", source, f"{noticed} of {len(order) - told}"),
        Row("single short contacts: told", source, f"{single} of 40"),
    ]


def raising(chip: SimulatedChip, source: str) -> list[Row]:
    """Let one seat's handler raise: under our shell, and, for gpiozero, in an unguarded callback."""
    rig = Rig(chip, SOURCES[source])

    def handler(edge: Edge) -> None:
        if edge.seat == SEATS[0]:
            raise ValueError("a fault in the handler")

    rig.start(handler)
    moves = [move for seat in SEATS for move in (Move(seat, True, BETWEEN // 2), Move(seat, False, HOLD))]
    told = len(rig.play(moves).presses())
    rig.close()
    return [Row("a handler that raises: presses told", source, f"{told} of {len(SEATS)}")]


def unguarded(chip: SimulatedChip, source: str) -> list[Row]:
    """Run gpiozero alone, without our guard around the callback."""
    if "gpiozero" not in source:
        return [Row("- without our guard, other pads", source, "the thread is ours")]
    import lgpio

    from hardware.pads.pinout import open_factory
    from tests.vm.hands import Hands

    heard: list[int] = []
    pins = {seat: open_factory().pin(pin) for seat, pin in PINS.items()}
    kept: list[Callable[..., None]] = []

    def fails(_ticks: float, _state: Any) -> None:
        raise ValueError("a fault in the callback")

    for seat, pin in pins.items():
        pin.function, pin.pull, pin.edges = "input", "up", "falling"

        def note(_ticks: float, _state: Any, seat: int = seat) -> None:
            heard.append(seat)

        kept.append(fails if seat == SEATS[0] else note)
        pin.when_changed = kept[-1]
    threading.excepthook = lambda died: None
    hands = Hands(chip, PINS)
    hands.begin([move for seat in SEATS for move in (Move(seat, True, BETWEEN), Move(seat, False, HOLD))])
    while hands.done() is None:
        time.sleep(0.05)
    time.sleep(0.3)
    hands.end()
    alive = "alive" if lgpio._notify_thread.is_alive() else "dead"
    return [Row("- without our guard, other pads", source, f"{len(heard)} of {len(SEATS) - 1}, its thread {alive}")]


def side_by_side(chip: SimulatedChip) -> str:
    """Return every figure of both sources, as a Markdown table."""
    pretend_to_be_a_pi()
    found: dict[str, dict[str, str]] = {}
    for scenario in (orders, eights, loaded, idle, chatter, raising, unguarded):
        for source in SOURCES:
            for row in apart(scenario, chip, source):
                found.setdefault(row.what, {})[source] = row.measured
    lines = [f"| | {' | '.join(SOURCES)} |", "| --- |" + " --- |" * len(SOURCES)]
    lines += [f"| {what} | {' | '.join(said.get(source, '') for source in SOURCES)} |" for what, said in found.items()]
    return "\n".join(lines)
