"""The slap roll-call: before a game each player slaps once, since a cut wire cannot be seen.

`RollCall` is pure, in event time; `hold_roll_call` speaks, shows and waits at a real table, before the first card, in
the referee's own process. All seats are asked at once, and each seat's light burns until its pad is heard. So people
see not only that their pad works but that it is theirs: if another light goes out, two pads are swapped. Silent seats
are asked again by name, and reported at the end; the game goes on without them.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from hardware.clock import Clock, monotonic
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.announce.sinks import Notice, NoticeListener
from referee.engine.observations import Slap
from referee.table.loop import Alarm, SharedPads
from referee.units import SECOND

CALL_PATIENCE: Final = 20 * SECOND
"""Longest duration of the roll-call, ns."""
REMIND_EVERY: Final = 8 * SECOND
"""Time without a new pad until the silent seats are asked by name, ns; never twice for the same seats."""


class Call(Enum):
    """Kinds of announcement of the roll-call."""

    ASKED = "asked"
    """All players: slap your pad once."""
    HEARD = "heard"
    """One more pad was heard."""
    AGAIN = "again"
    """These seats were not heard yet; they are asked by name."""
    DONE = "done"
    """Every pad was heard."""
    SILENT = "silent"
    """Time is over, and these seats were not heard."""


@dataclass(frozen=True, slots=True)
class CallWords:
    """One announcement, spoken and shown at ``t`` (ns)."""

    call: Call
    t: int
    seats: tuple[int, ...]
    """Seats that it is about."""
    words: str


class RollCall:
    """Takes slaps and the time; returns announcements. `waiting` are the seats whose lights burn.

    Args:
        names: of the seats, seat 1 first.
        start: instant of its beginning, ns.
        held: seats whose pads are down from the start: named at once, since a hand or a glass lies on them.
        is_lit: whether each seat has a light, which burns until its pad is heard.
        patience: longest duration, ns.
    """

    def __init__(
        self, names: Sequence[str], start: int, *, held: Sequence[int] = (), is_lit: bool = True,
        patience: int = CALL_PATIENCE,
    ) -> None:  # fmt: skip
        self._names = tuple(names)
        self._end = start + patience
        self._last = start
        self._silent = list(range(1, len(self._names) + 1))
        self._asked: tuple[int, ...] = ()
        self.over = False
        """Whether it has ended, complete or not."""
        words = "Each player: slap your pad or press your key once"
        words += ", and check that your own light goes out." if is_lit else ", and check that the referee names you."
        if held:
            words += f" {self._listed(held)}: take everything off your pad first."
        self.opening: CallWords = CallWords(Call.ASKED, start, tuple(self._silent), words)
        """The first announcement."""

    @property
    def waiting(self) -> tuple[int, ...]:
        """Seats not heard yet: their lights burn, all others are dark."""
        return tuple(self._silent) if not self.over else ()

    @property
    def silent(self) -> tuple[int, ...]:
        """Seats not heard so far, also after the end."""
        return tuple(self._silent)

    def hear(self, seat: int, t: int) -> list[CallWords]:
        """Take a slap of ``seat`` at ``t`` (ns); a repeated one, or one after the end, returns nothing."""
        if self.over or seat not in self._silent:
            return []
        self._silent.remove(seat)
        self._last = max(self._last, t)
        heard = CallWords(Call.HEARD, t, (seat,), f"{self._names[seat - 1]}.")
        if self._silent:
            return [heard]
        self.over = True
        return [heard, CallWords(Call.DONE, t, tuple(range(1, len(self._names) + 1)), "All pads are heard.")]

    def advance(self, t: int) -> list[CallWords]:
        """Move on to ``t`` (ns); every slap up to then has been reported."""
        if self.over:
            return []
        silent = tuple(self._silent)
        if t >= self._end:
            self.over = True
            words = (
                f"{self._listed(silent)}: your pad was not heard. Check its cable; the game goes on, and a "
                "slap that is heard counts."
            )
            return [CallWords(Call.SILENT, self._end, silent, words)]
        if t >= self._last + REMIND_EVERY and silent != self._asked:
            self._asked = silent
            return [CallWords(Call.AGAIN, t, silent, f"{self._listed(silent)}: slap your pad.")]
        return []

    def _listed(self, seats: Sequence[int]) -> str:
        names = [self._names[seat - 1] for seat in seats]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_log = logging.getLogger(__name__)
_PACE: Final = 0.05
"""Longest interval between two looks at the pads, s."""


def hold_roll_call(
    names: Sequence[str],
    pads: SharedPads,
    filter_: PadFilter,
    tellers: Sequence[NoticeListener],
    show: Callable[[tuple[int, ...]], None],
    *,
    alarm: Alarm,
    clock: Clock = monotonic,
    stopped: Callable[[], bool] = lambda: False,
    is_lit: bool = True,
    patience: int = CALL_PATIENCE,
) -> tuple[int, ...]:
    """Have every seat slap once; returns the seats that were not heard.

    Args:
        names: of the seats, seat 1 first.
        pads: of the seats, and perhaps free ones.
        filter_: makes slaps of their edges; separate from the game's, which has not begun.
        tellers: say the announcements, and show them in words.
        show: is given the seats whose lights shall burn, whenever they change.
        alarm: is rung by the pads.
        clock: returns the present instant, ns.
        stopped: whether the whole table is to be switched off.
        is_lit: whether the seats have lights.
        patience: longest duration, ns.
    """
    edges: deque[Edge] = deque()

    def hear(edge: Edge) -> None:
        edges.append(edge)
        alarm.ring()

    pads.start(hear)
    held = [seat for seat in pads.held() if seat <= len(names)]
    call = RollCall(names, clock(), held=held, is_lit=is_lit, patience=patience)
    _say(call.opening, tellers)
    shown: tuple[int, ...] | None = None
    while not call.over and not stopped():
        if shown != call.waiting:
            shown = call.waiting
            _safely(show, shown)
        alarm.wait(_PACE)
        told = pads.watermark(clock())
        while edges:
            filter_.feed(edges.popleft())
        slaps = [seen for seen in filter_.advance(told) if isinstance(seen, Slap)]
        for sentence in (*(words for slap in slaps for words in call.hear(slap.seat, slap.t)), *call.advance(told)):
            _say(sentence, tellers)
    _safely(show, ())
    return call.silent


_WHAT = {Call.ASKED: "roll_call", Call.AGAIN: "roll_call", Call.DONE: "roll_call_done", Call.SILENT: "not_heard"}


def _say(said: CallWords, tellers: Sequence[NoticeListener]) -> None:
    """Show the words on the screen once, and speak them for each seat that they are about."""
    what = _WHAT.get(said.call, "")
    aloud = said.seats if what in ("roll_call", "not_heard") else (None,)
    for number, seat in enumerate(aloud):
        words = said.words if number == 0 else ""
        for teller in tellers:
            _safely(teller, Notice(what, said.t, words, {} if seat is None else {"seat": seat}))


def _safely(do: Callable[[Any], None], news: Any) -> None:
    """Call a light or voice; its failure is reported when the game begins and it fails again."""
    try:
        do(news)
    except Exception:  # whatever a device's library throws
        _log.exception("the roll-call goes on without it")
