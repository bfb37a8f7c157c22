"""What `referee calibrate pads` asks and finds, as a pure conversation: edges and time in, words out.

Each seat in turn slaps its pad some times, the others keeping their hands off; then, if there is a board, each two
neighbours' pads are hit by one blow. `PadCheck.result` is what is stored.

`referee calibrate pads`: the conversation of `padcheck` held at real or simulated pads, told, and stored.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from hardware.clock import monotonic
from hardware.pads.measurement import Blow, NotOneBlow, blow, difference, errors, is_hand_like, touches
from hardware.pads.pads import GpioPads
from hardware.ports import Edge, HardwareMissing
from hardware.simulated.devices.pad_hands import Nature, SimulatedHands, example
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.errors import UserError
from referee.settings.file import read_settings, save_with_backup
from referee.settings.model import Settings, load
from referee.units import MS, SECOND, US

_QUIET: Final = 300 * MS
"""A blow is over when nothing moved for so long, ns."""
PATIENCE: Final = 30 * SECOND
"""How long a blow is waited for that is as it was asked for, ns."""
_MARGIN: Final = 1.25
"""What a few blows show is not the worst there is: what is stored is so much more."""
_ROUND: Final = 100 * US
"""Stored values are rounded up to this, ns."""
_WIDEST: Final = 10 * MS
"""No pad may state more (`referee.settings.model`), ns."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Whose pads are to be hit by one blow."""

    seats: tuple[int, ...]


@dataclass(slots=True)
class Found:
    """What was measured so far."""

    blows: dict[int, list[Blow]] = field(default_factory=dict)
    differences: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    silent: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Result:
    """What is stored, each list by seat; µs."""

    t_error_us: tuple[int, ...]
    bounce_us: tuple[int, ...]
    crosstalk_us: tuple[tuple[int, ...], ...]


class PadCheck:
    """The conversation.

    Args:
        names: of the seats, seat 1 first.
        start: the instant at which it begins, ns.
        blows: how many are asked of each pad, and of each pair.
        board: whether each two neighbours' pads are hit together.
        stated: half-width that every pad states at least, ns.
    """

    def __init__(
        self, names: Sequence[str], start: int, *, blows: int = 8, board: bool = False, stated: int = 1_500_000
    ) -> None:
        self._names = tuple(names)
        self._blows = blows
        self._stated = stated
        seats = range(1, len(names) + 1)
        self._asks = [Ask((seat,)) for seat in seats]
        if board:
            pairs = {tuple(sorted((seat, seat % len(names) + 1))) for seat in seats}
            self._asks += [Ask(pair) for pair in sorted(pairs)]
        self._count = 0
        self._since = start
        self._edges: list[Edge] = []
        self.found = Found()
        self.opening = self._ask()
        """What is said first."""

    @property
    def asking(self) -> Ask | None:
        """Whose pads are to be hit now; None at the end."""
        return self._asks[0] if self._asks else None

    def feed(self, edge: Edge) -> None:
        """A raw edge of any pad."""
        self._edges.append(edge)

    def advance(self, t: int) -> list[str]:
        """It is ``t`` (ns), and all edges up to then were fed: what there is to say."""
        ask = self.asking
        if ask is None:
            return []
        if t >= self._since + PATIENCE:
            self._edges.clear()
            return self._give_up(ask, t)
        if not self._edges:
            return []
        last = max(self._edges, key=lambda edge: edge.t)
        down = {edge.seat: edge.pressed for edge in sorted(self._edges, key=lambda edge: edge.t)}
        if t < last.t + _QUIET or any(down.values()):
            return []
        edges, self._edges = self._edges, []
        try:
            self._note(ask, edges)
        except NotOneBlow as wrong:
            return [self._complaint(ask, wrong)]
        self._count, self._since = self._count + 1, t
        return self._next(t) if self._count >= self._blows else [f"  {self._count} of {self._blows}"]

    def _note(self, ask: Ask, edges: Sequence[Edge]) -> None:
        found = touches(edges)
        if len(ask.seats) == 1:
            (seat,) = ask.seats
            one_blow = blow(seat, found)
            self.found.blows.setdefault(seat, []).append(one_blow)
        else:
            one, other = ask.seats
            late = difference(one, other, found)
            self.found.differences.setdefault((one, other), []).append(late)

    def _give_up(self, ask: Ask, t: int) -> list[str]:
        self.found.silent += [seat for seat in ask.seats if len(ask.seats) == 1]
        return [f"  nothing was heard of {self._who(ask.seats)}; see to the cable", *self._next(t)]

    def _next(self, t: int) -> list[str]:
        self._asks.pop(0)
        while self._asks and any(seat in self.found.silent for seat in self._asks[0].seats):
            self._asks.pop(0)
        self._count, self._since = 0, t
        return [self._ask()] if self._asks else []

    def _ask(self) -> str:
        ask = self._asks[0]
        if len(ask.seats) == 1:
            return (
                f"{self._who(ask.seats)}: slap your pad {self._blows} times, as in a game, about once a second; "
                "everybody else keeps hands off the table"
            )
        return (
            f"{self._who(ask.seats)}: lay a stiff board over both pads, and hit its middle {self._blows} times, "
            "about once a second"
        )

    def _complaint(self, ask: Ask, wrong: NotOneBlow) -> str:
        who = self._who(wrong.seats)
        return (
            "  "
            + {
                "others": f"{who}: hands off, please; that blow is not counted",
                "twice": "two slaps on one another's heels: about once a second, please",
                "silent": f"that was no slap of {who}; again, please",
                "apart": "both pads must be hit by one blow, in the board's middle; again, please",
            }[wrong.what]
        )

    def _who(self, seats: Sequence[int]) -> str:
        return " and ".join(self._names[seat - 1] for seat in seats)

    # What came of it

    def result(self) -> Result:
        """What is to be stored; of seats that were not heard the values that a pad has unmeasured."""
        seats = range(1, len(self._names) + 1)
        apart = {pair: _stored(max(map(abs, late))) for pair, late in self.found.differences.items()}
        known = errors(self._stated, apart, len(self._names))
        return Result(
            tuple(min(_WIDEST, _up(error)) // US for error in known),
            tuple(_stored(self.bounce(seat)) // US for seat in seats),
            tuple(tuple(_stored(self.echo(a, b)) // US for b in seats) for a in seats),
        )

    def bounce(self, seat: int) -> int:
        """The longest that was seen, ns."""
        return max((one.bounce for one in self.found.blows.get(seat, ())), default=0)

    def echo(self, a: int, b: int) -> int:
        """The longest contact that a hand on ``a`` was seen to make at ``b``, ns."""
        return max((one.echoes[b][0] for one in self.found.blows.get(a, ()) if b in one.echoes), default=0)

    def late(self, a: int, b: int) -> int:
        """How far from a hand on ``a`` the pad ``b`` began to hear it at most, ns."""
        return max((abs(one.echoes[b][1]) for one in self.found.blows.get(a, ()) if b in one.echoes), default=0)

    def words(self) -> list[str]:
        """The result, a line a seat, and what to mend."""
        result, seats = self.result(), range(1, len(self._names) + 1)
        lines, mend = [], []
        for seat in seats:
            name = self._names[seat - 1]
            if seat in self.found.silent:
                lines.append(f"{name}: was not heard; nothing was measured")
                continue
            heard = [f"{self._names[a - 1]}'s hand for {self.echo(a, seat) / MS:.1f} ms" for a in seats
                     if self.echo(a, seat)]  # fmt: skip
            error = result.t_error_us[seat - 1] / 1000
            measured = any(seat in pair for pair in self.found.differences)
            lines.append(
                f"{name}: bounces for {self.bounce(seat) / MS:.1f} ms, "
                + (f"hears {', '.join(heard)}; " if heard else "hears nobody else; ")
                + f"stated error ± {error:.1f} ms"
                + ("" if measured else " (not measured: one pad alone cannot tell; try --board)")
            )
            mend += [self._mend(a, seat, result) for a in seats if self.echo(a, seat)]
        return lines + [line for line in mend if line]

    def _mend(self, a: int, b: int, result: Result) -> str:
        one, other = self._names[a - 1], self._names[b - 1]
        if is_hand_like(_stored(self.echo(a, b))):
            return (
                f"→ {other}'s pad hears {one}'s hand for about as long as a hand stays: nothing can tell the two "
                "apart. Put foam under the pads, or the pads further apart"
            )
        if self.late(a, b) >= (result.t_error_us[a - 1] + result.t_error_us[b - 1]) * US:
            return (
                f"→ {other}'s pad hears {one}'s hand up to {self.late(a, b) / MS:.1f} ms away from it, more than both "
                "errors: that cannot be told from a second hand, and counts as one. Put foam under the pads"
            )
        return ""


def _up(ns: int) -> int:
    return -(-ns // _ROUND) * _ROUND


def _stored(ns: int) -> int:
    return _up(round(ns * _MARGIN)) if ns else 0


_NAMES: Final = ("Ana", "Ben", "Cho", "Dora", "Emil", "Fay", "Gus", "Hana")
_TURN: Final = 0.05
"""Seconds between looks at the time."""
_BETWEEN: Final = 700 * MS
"""How long simulated hands wait between blows, ns."""


def check_simulated_pads(
    check: PadCheck, nature: Nature, *, seed: int = 1, say: Callable[[str], None] | None = None
) -> None:
    """Hold the conversation with simulated pads and hands."""
    pads = SimulatedPads(len(nature.bounce), t_error=1_500_000)
    pads.pads.start(check.feed)
    hands = SimulatedHands(nature, seed)
    while check.asking is not None:
        for contact in hands.hit(check.asking.seats, pads.now + 20 * MS):
            pads.advance(contact.seat, contact.pressed, contact.t)
        # A seat with a cut wire is waited for in vain.
        pads.run_to(pads.now + _BETWEEN)
        for words in check.advance(pads.now):
            if say is not None:
                say(words)
    pads.close()


def _listen(check: PadCheck, settings: Settings) -> None:
    pins = {number: seat.pad for number, seat in enumerate(settings.seats, start=1)}
    try:
        pads = GpioPads(pins, active_high=settings.pads.active_high)
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None
    edges: queue.SimpleQueue[Edge] = queue.SimpleQueue()
    pause = threading.Event()
    pads.start(edges.put)
    try:
        while check.asking is not None:
            pause.wait(_TURN)
            told = pads.watermark(monotonic())
            while not edges.empty():
                check.feed(edges.get())
            for words in check.advance(told):
                _say(words)
            if pads.trouble:
                raise UserError(pads.trouble)
    finally:
        pads.close()


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def store(path: Path, result: Result) -> Path:
    """Write what was measured into a settings file; gives where its old state is kept.

    Raises:
        UserError: it cannot be read or written, or is no settings file.
    """
    text = read_settings(path).with_measured("pads_measured", asdict(result), "referee calibrate pads")
    return save_with_backup(path, text.text)


def calibrate_pads(
    path: Path | None,
    *,
    simulated: bool = False,
    seats: int | None = None,
    blows: int = 8,
    board: bool = False,
    as_json: bool = False,
) -> int:
    """Measure the pads, tell what was found and store it; exit status 1 if one was not heard.

    Args:
        path: the table's settings; None only at the simulated table.
        simulated: pads and hands of the simulated table.
        seats: how many the simulated table has where there are no settings.
        blows: how often each pad is hit.
        board: a board is here, so each two neighbours' pads are hit by one blow as well.
        as_json: print one JSON object instead of words.

    Raises:
        UserError: no settings, no pads, or a file that cannot be written.
    """
    settings = load(path) if path is not None else None
    if settings is None and not simulated:
        raise UserError("calibrate pads needs --settings FILE (its seats and pins), or --simulated")
    if settings is not None and seats is not None and seats != len(settings.seats):
        raise UserError(f"--seats {seats}: the settings name {len(settings.seats)} seats; leave --seats out")
    names = _NAMES[: seats or 4] if settings is None else tuple(seat.name for seat in settings.seats)
    stated = 1_500_000 if settings is None else settings.pads.t_error_us * US
    check = PadCheck(names, 0 if simulated else monotonic(), blows=blows, board=board, stated=stated)
    _say(check.opening)
    if simulated:
        check_simulated_pads(check, example(len(names)), say=_say)
    elif settings is not None:
        _listen(check, settings)
    silent = check.found.silent
    kept = store(path, check.result()) if path is not None and not silent else None
    if as_json:
        print(json.dumps({"pads_measured": asdict(check.result()), "silent": silent}))
        return int(bool(silent))
    print("\n".join(check.words()))
    if kept is not None:
        print(f"stored in {path}; the file as it was is {kept} (referee calibrate --undo puts it back)")
    elif silent:
        print("nothing was stored: mend the pads that were not heard, and begin again")
    else:
        print("nothing was stored: name the table's --settings FILE to keep this")
    return int(bool(silent))
