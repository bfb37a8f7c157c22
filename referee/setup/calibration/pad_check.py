"""`referee calibrate pads`: measure the pads' bounce, crosstalk, and timing differences.

`PadCheck` is the dialogue, pure: edges and time in, words out. Each seat in turn slaps its pad several times, while the
others keep their hands off; then, if there is a board, one blow hits the pads of each two neighbours. `calibrate_pads`
runs it with real or simulated pads, prints the result and stores it in the settings.
"""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from hardware.clock import monotonic
from hardware.pads.crosstalk import LONGEST
from hardware.pads.measurement import Blow, NotOneBlow, blow, difference, errors, touches
from hardware.ports import Edge, HardwareMissing, TimedPads
from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.file import read_settings, save_with_backup
from referee.settings.model import PadsMeasured, Settings, load_settings
from referee.setup.calibration import tell
from referee.setup.wired_devices import open_pads
from referee.text.terminal_language import here, translate
from referee.units import MS, SECOND, US

if TYPE_CHECKING:
    from hardware.simulated.devices.pad_hands import Nature

_QUIET: Final = 300 * MS
"""Time without movement after which a blow is over, ns."""
HAND_PATIENCE: Final = 30 * SECOND
"""Time limit for a blow as requested, ns."""
MARGIN: Final = 1.25
"""Safety factor of stored values: a few blows do not show the worst case."""
_ROUND: Final = 100 * US
"""Rounding unit of stored values, ns; they are rounded up."""
_WIDEST: Final = 10 * MS
"""Largest error that a pad may state (`referee.settings.model`), ns."""
_NAMES: Final = ("Ana", "Ben", "Cho", "Dora", "Emil", "Fay", "Gus", "Hana")
_BETWEEN: Final = 700 * MS
"""Pause of simulated hands between blows, ns."""
_TURN: Final = 0.05
"""Seconds between two checks of the time."""


class PadCheck:
    """The dialogue.

    Args:
        names: of the seats, seat 1 first.
        start: the instant at which it begins, ns.
        blows: number of blows on each pad, and on each pair.
        board: whether the pads of each two neighbours are hit together.
        stated: minimum stated error of a pad, ns.
    """

    def __init__(
        self, names: Sequence[str], start: int, *, blows: int = 8, board: bool = False, stated: int = 1_500_000
    ) -> None:
        self._names = tuple(names)
        self._wanted = blows
        self._stated = stated
        seats = range(1, len(names) + 1)
        pairs = {tuple(sorted((seat, seat % len(names) + 1))) for seat in seats} if board else set()
        self._left: list[tuple[int, ...]] = [*((seat,) for seat in seats), *sorted(pairs)]
        self._count = 0
        self._since = start
        self._edges: list[Edge] = []
        self.blows: dict[int, list[Blow]] = {}
        """The blows of each seat's hand."""
        self.differences: dict[tuple[int, int], list[int]] = {}
        """Delay of the second pad of a pair against the first, for each blow, ns."""
        self.silent: list[int] = []
        """Seats whose pads were silent."""
        self.opening = self._request()
        """The first request."""

    @property
    def asking(self) -> tuple[int, ...]:
        """The seats whose pads one blow is to hit now; empty at the end."""
        return self._left[0] if self._left else ()

    def feed(self, edge: Edge) -> None:
        """Take a raw edge of any pad."""
        self._edges.append(edge)

    def advance(self, t: int) -> list[str]:
        """Advance to ``t`` (ns), up to which all edges were fed; return what to say."""
        seats = self.asking
        if not seats:
            return []
        if t >= self._since + HAND_PATIENCE:
            self._edges.clear()
            self.silent += seats if len(seats) == 1 else ()
            return [Sentence("  {name}'s pad was not heard; check the cable", name=self._who(seats)), *self._next(t)]
        edges = sorted(self._edges, key=lambda edge: edge.t)
        is_down = {edge.seat: edge.pressed for edge in edges}
        # A blow is over once all pads are up and have been quiet for a while.
        if not edges or t < edges[-1].t + _QUIET or any(is_down.values()):
            return []
        contacts = touches(self._edges)
        self._edges.clear()
        try:
            if len(seats) == 1:
                felt = blow(seats[0], contacts)
                self.blows.setdefault(seats[0], []).append(felt)
            else:
                late = difference(seats[0], seats[1], contacts)
                self.differences.setdefault((seats[0], seats[1]), []).append(late)
        except NotOneBlow as error:
            who = self._who(error.seats)
            complaints = {
                "others": Sentence("{name}: hands off, please; that blow is not counted", name=who),
                "twice": Sentence("two slaps too close together: about once a second, please"),
                "silent": Sentence("that was no slap of {name}; again, please", name=who),
                "apart": Sentence("both pads must be hit by one blow, in the board's middle; again, please"),
            }
            return [Sentence("  {words}", words=complaints[error.what])]
        self._count, self._since = self._count + 1, t
        return (
            self._next(t)
            if self._count >= self._wanted
            else [Sentence("  {count} of {all}", count=self._count, all=self._wanted)]
        )

    def _next(self, t: int) -> list[str]:
        self._left.pop(0)
        while any(seat in self.silent for seat in self.asking):
            self._left.pop(0)
        self._count, self._since = 0, t
        return [self._request()] if self._left else []

    def _request(self) -> str:
        who = self._who(self.asking)
        if len(self.asking) == 1:
            return Sentence(
                "{name}: slap your pad {many} times, as in a game, about once a second; all others keep "
                "their hands off the table", name=who, many=self._wanted,
            )  # fmt: skip
        words = "{name}: lay a stiff board over both pads, and hit its middle {many} times, about once a second"
        return Sentence(words, name=who, many=self._wanted)

    def _who(self, seats: Sequence[int]) -> str:
        return here().both(self._names[seat - 1] for seat in seats)

    # Results

    def result(self) -> PadsMeasured:
        """Return the values to store; silent seats get the values of an unmeasured pad."""
        seats = range(1, len(self._names) + 1)
        apart = {pair: _with_margin(max(map(abs, late))) for pair, late in self.differences.items()}
        return PadsMeasured(
            t_error_us=tuple(
                min(_WIDEST, _round_up(error)) // US for error in errors(self._stated, apart, len(self._names))
            ),
            bounce_us=tuple(_with_margin(self.bounce(seat)) // US for seat in seats),
            crosstalk_us=tuple(tuple(_with_margin(self.echo(a, b)) // US for b in seats) for a in seats),
        )

    def bounce(self, seat: int) -> int:
        """Return the longest bounce seen, ns."""
        return max((landing.bounce for landing in self.blows.get(seat, ())), default=0)

    def echo(self, a: int, b: int) -> int:
        """Return the longest contact that a hand on ``a`` caused at ``b``, ns."""
        return max((landing.echoes[b][0] for landing in self.blows.get(a, ()) if b in landing.echoes), default=0)

    def late(self, a: int, b: int) -> int:
        """Return the greatest distance from a hand on ``a`` to the start of its echo at ``b``, ns."""
        return max((abs(landing.echoes[b][1]) for landing in self.blows.get(a, ()) if b in landing.echoes), default=0)

    def words(self) -> list[str]:
        """Return the result, one line for each seat, and the faults."""
        result, seats = self.result(), range(1, len(self._names) + 1)
        lines = []
        for seat in seats:
            name = self._names[seat - 1]
            if seat in self.silent:
                lines.append(translate("{name}: was not heard; nothing was measured", name=name))
                continue
            heard = [
                translate(
                    "{name}'s hand for {time} ms",
                    name=self._names[a - 1],
                    time=here().number(self.echo(a, seat) / MS, 1),
                )
                for a in seats
                if self.echo(a, seat)
            ]
            error = result.t_error_us[seat - 1] / 1000
            measured = any(seat in pair for pair in self.differences)
            number = here().number
            lines.append(
                translate("{name}: bounces for {time} ms", name=name, time=number(self.bounce(seat) / MS, 1)) + ", "
                + (translate("hears {hands}", hands=", ".join(heard)) if heard else translate("hears no other hand"))
                + "; " + translate("stated error ± {error} ms", error=number(error, 1))
                + ("" if measured else f" ({translate('not measured: one pad alone cannot tell; try --board')})")
            )  # fmt: skip
        return lines + self.mend_words()

    def mend_words(self) -> list[str]:
        """Return the faults that no setting can correct: pads that hear each other like hands."""
        result, seats = self.result(), range(1, len(self._names) + 1)
        mend = [self._mend(a, b, result) for b in seats if b not in self.silent for a in seats if self.echo(a, b)]
        return [line for line in mend if line]

    def _mend(self, a: int, b: int, result: PadsMeasured) -> str:
        one, other = self._names[a - 1], self._names[b - 1]
        # An echo this long is indistinguishable from a hand.
        if _with_margin(self.echo(a, b)) > LONGEST:
            return translate(
                "→ {other}'s pad hears {name}'s hand for about as long as a hand stays: nothing can tell the two "
                "apart. Put foam under the pads, or the pads further apart", other=other, name=one,
            )  # fmt: skip
        if self.late(a, b) >= (result.t_error_us[a - 1] + result.t_error_us[b - 1]) * US:
            return translate(
                "→ {other}'s pad hears {name}'s hand up to {time} ms away from it, more than both errors: that cannot "
                "be told from a second hand, and counts as one. Put foam under the pads",
                other=other, name=one, time=here().number(self.late(a, b) / MS, 1),
            )  # fmt: skip
        return ""


def _round_up(ns: int) -> int:
    return -(-ns // _ROUND) * _ROUND


def _with_margin(ns: int) -> int:
    return _round_up(round(ns * MARGIN)) if ns else 0


def _check_real_pads(check: PadCheck, settings: Settings) -> None:
    """Run the dialogue at the table's pads; raises `UserError`."""
    try:
        pads = open_pads(settings)
    except HardwareMissing as error:
        raise UserError(str(error)) from None
    with closing(pads):
        converse_at_pads(check, pads)


class Conversation(Protocol):
    """A dialogue with people at their pads, such as `PadCheck`."""

    @property
    def asking(self) -> tuple[int, ...]:
        """Seats that are asked now; empty at the end."""
        ...

    def feed(self, edge: Edge) -> None: ...

    def advance(self, t: int) -> list[str]: ...


def converse_at_pads(check: Conversation, pads: TimedPads) -> None:
    """Run a dialogue at open pads until it ends; raises `UserError` if they fail."""
    edges: queue.SimpleQueue[Edge] = queue.SimpleQueue()
    pads.start(edges.put)
    while check.asking:
        time.sleep(_TURN)
        told = pads.watermark(monotonic())
        while not edges.empty():
            check.feed(edges.get())
        for words in check.advance(told):
            tell(words)
        if trouble := getattr(pads, "trouble", ""):
            raise UserError(trouble)


def check_simulated_pads(check: PadCheck, nature: Nature, told: Callable[[str], None] = tell) -> None:
    """Run the dialogue of `referee calibrate pads` with simulated pads and hands; ``told`` receives its words."""
    from hardware.simulated.devices.pad_hands import SimulatedHands
    from hardware.simulated.devices.simulated_pads import SimulatedPads

    pads = SimulatedPads(len(nature.bounce), t_error=1_500_000)
    pads.pads.start(check.feed)
    hands = SimulatedHands(nature)
    while check.asking:
        for contact in hands.hit(check.asking, pads.now + 20 * MS):
            pads.advance(contact.seat, contact.pressed, contact.t)
        # A seat with a cut wire runs into the time limit.
        pads.run_to(pads.now + _BETWEEN)
        for words in check.advance(pads.now):
            told(words)
    pads.close()


def calibrate_pads(
    path: Path | None,
    *,
    simulated: bool = False,
    seats: int | None = None,
    blows: int = 8,
    board: bool = False,
    as_json: bool = False,
) -> int:
    """Measure the pads, print and store the result; exit status 1 if one was silent.

    Args:
        path: the table's settings; None only at the simulated table.
        simulated: use the pads and hands of the simulated table.
        seats: number of seats of the simulated table without settings.
        blows: number of blows on each pad.
        board: a board is available, so one blow also hits the pads of each two neighbours.
        as_json: print one JSON object instead of words.

    Raises:
        UserError: no settings, no pads, or a file that cannot be written.
    """
    settings = load_settings(path) if path is not None else None
    if settings is None and not simulated:
        raise UserError("calibrate pads needs --settings FILE (its seats and pins), or --simulated")
    if settings is not None and seats is not None and seats != len(settings.seats):
        raise UserError(
            "--seats {places}: the settings name {many} seats; leave --seats out",
            places=seats,
            many=len(settings.seats),
        )
    names = _NAMES[: seats or 4] if settings is None else tuple(seat.name for seat in settings.seats)
    stated = 1_500_000 if settings is None else settings.pads.t_error_us * US
    check = PadCheck(names, 0 if simulated else monotonic(), blows=blows, board=board, stated=stated)
    tell(check.opening)
    if simulated:
        from hardware.simulated.devices.pad_hands import example

        check_simulated_pads(check, example(len(names)))
    elif settings is not None:
        _check_real_pads(check, settings)
    return _conclude(check, path, as_json)


def _conclude(check: PadCheck, path: Path | None, as_json: bool) -> int:
    """Store and print the measurements; return the exit status."""
    silent = check.silent
    kept = store_measured_pads(path, check.result()) if path is not None and not silent else None
    if as_json:
        print(json.dumps({"pads_measured": check.result().model_dump(), "silent": silent}))
        return int(bool(silent))
    print("\n".join(check.words()))
    if kept is not None:
        print(
            translate(
                "stored in {path}; the file as it was is {kept} (referee calibrate --undo puts it back)",
                path=path,
                kept=kept,
            )
        )
    elif silent:
        print(translate("nothing was stored: mend the pads that were not heard, and begin again"))
    else:
        print(translate("nothing was stored: name the table's --settings FILE to keep this"))
    return int(bool(silent))


def store_measured_pads(path: Path, result: PadsMeasured) -> Path:
    """Write the measurements into a settings file; return the backup's path.

    Raises:
        UserError: it cannot be read or written, or is not a settings file.
    """
    text = read_settings(path).with_measured("pads_measured", result.model_dump(), "referee calibrate pads")
    return save_with_backup(path, text.text)
