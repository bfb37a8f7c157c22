"""Before the first card: the slap roll-call at a real table, said, shown, and waited for no longer than it takes."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from hardware.clock import Clock, monotonic
from hardware.ports import Edge
from hardware.slaps import PadFilter
from referee.adjudication.observations import Slap
from referee.app.alarm import Alarm
from referee.app.handing import Teller
from referee.app.notices import Notice
from referee.app.rollcall import PATIENCE, Call, RollCall, Said

_News = TypeVar("_News")
_log = logging.getLogger(__name__)
PACE = 0.05
"""Seconds from one look at the pads to the next, at most."""


class HeldPads(Protocol):
    """Pads that also tell which of them are down."""

    def start(self, on_edge: Callable[[Edge], None]) -> None: ...

    def watermark(self, now: int) -> int: ...

    def held(self) -> tuple[int, ...]: ...


def hold_roll_call(
    names: Sequence[str],
    pads: HeldPads,
    filter_: PadFilter,
    tellers: Sequence[Teller],
    show: Callable[[tuple[int, ...]], None],
    *,
    alarm: Alarm,
    clock: Clock = monotonic,
    stopped: Callable[[], bool] = lambda: False,
    patience: int = PATIENCE,
) -> tuple[int, ...]:
    """Have every seat slap once; returns the seats that were not heard.

    Args:
        names: of the seats, seat 1 first.
        pads: theirs.
        filter_: makes slaps of their edges; one of its own, since this is not yet the game.
        tellers: who says it, and shows it in words.
        show: is given the seats whose lights shall burn, whenever they change.
        alarm: is rung by the pads.
        clock: answers the present instant, ns.
        stopped: whether the whole table is to be switched off.
        patience: how long it lasts at most, ns.
    """
    slaps = _heard(pads, filter_, alarm)
    call = RollCall(names, clock(), held=pads.held(), patience=patience)
    _say(call.opening, tellers)
    shown: tuple[int, ...] | None = None
    while not call.over and not stopped():
        if shown != call.waiting:
            shown = call.waiting
            _safely(show, shown)
        alarm.wait(PACE)
        told = pads.watermark(clock())
        said = [one for slap in slaps(told) for one in call.hear(slap.seat, slap.t)]
        for one in (*said, *call.advance(told)):
            _say(one, tellers)
    _safely(show, ())
    return call.silent


def _heard(pads: HeldPads, filter_: PadFilter, alarm: Alarm) -> Callable[[int], list[Slap]]:
    """Start the pads; what it gives tells their slaps up to the instant by which they have told all."""
    edges: deque[Edge] = deque()

    def hear(edge: Edge) -> None:
        edges.append(edge)
        alarm.ring()

    def slaps(told: int) -> list[Slap]:
        while edges:
            filter_.feed(edges.popleft())
        return [seen for seen in filter_.advance(told) if isinstance(seen, Slap)]

    pads.start(hear)
    return slaps


_WHAT = {Call.ASKED: "roll_call", Call.AGAIN: "roll_call", Call.DONE: "roll_call_done", Call.SILENT: "not_heard"}


def _say(said: Said, tellers: Sequence[Teller]) -> None:
    """In words on the screen once, and aloud for each seat that it is about."""
    what = _WHAT.get(said.call, "")
    aloud = said.seats if what in ("roll_call", "not_heard") else (None,)
    for number, seat in enumerate(aloud):
        words = said.words if number == 0 else ""
        for teller in tellers:
            _safely(teller, Notice(what, said.t, words, {} if seat is None else {"seat": seat}))


def _safely(do: Callable[[_News], None], news: _News) -> None:
    """A light or a voice that fails here is told when the game begins, and fails again."""
    try:
        do(news)
    except Exception:  # whatever a device's library throws
        _log.exception("the roll-call goes on without it")
