"""The referee on scripted pulses: through the pads' shell, the filter of their edges, and the ruling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hardware.pads.crosstalk import Crosstalk
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Card, Lift, Observation, Slap, Table
from referee.engine.rulings import Ruling
from referee.units import MS
from tools.measure.pulse_trials import BOUNCE, ERROR, GAPS, SEATS, Part, Trial, echo

TIE = 3 * MS
"""Edges nearer than this are a dead heat, whichever came first: both pads' stated errors together."""
NAMED = 6 * MS
"""Hands further apart than this must be named: their pads' errors cannot leave the order open."""
SHARE = 0.999
NAMES = tuple(f"seat {seat}" for seat in range(1, SEATS + 1))


def crosstalk() -> Crosstalk:
    """Return what `referee calibrate pads` would have measured at the table of the section ``crosstalk``."""
    seats = range(1, SEATS + 1)
    rows = tuple(tuple(echo(a, b) for b in seats) for a in seats)
    return Crosstalk(rows, (ERROR,) * SEATS, (BOUNCE + 500_000,) * SEATS)


def simulated_edges(trials: Iterable[Trial]) -> Iterator[tuple[Trial, list[Edge]]]:
    """Play the pulses on simulated lines: yield each trial with the edges from the real shell."""
    pads = SimulatedPads(SEATS, t_error=ERROR)
    heard: list[Edge] = []
    pads.pads.start(heard.append)
    for trial in trials:
        for pulse in trial.pulses:
            pads.advance(pulse.seat, pulse.pressed, pulse.t)
        pads.run_to(trial.end)
        yield trial, list(heard)
        heard.clear()
    pads.close()


@dataclass(slots=True)
class Row:
    """One line of the table: required and measured."""

    section: str
    gap: int
    tolerance: int = 0
    """Allowed distance of a stamp from the first scripted edge, ns."""
    pairs: int = 0
    right: int = 0
    """The first hand was named."""
    heats: int = 0
    wrong: int = 0
    """The second hand was named, or one of two that came at once, or another seat."""
    lost: int = 0
    """Hands without a slap."""
    extra: int = 0
    """Slaps without a hand."""
    misstated: int = 0
    """Slaps whose hand came outside their stated span."""
    close: int = 0
    """Pairs whose edges were less than `TIE` apart."""
    close_named: int = 0
    shift: int = 0
    """Largest distance of a hand's stamp from its pad's first edge, ns."""
    widest: int = 0
    """Widest stated error of a slap, ns."""

    @property
    def required(self) -> str:
        """Return the requirements of this line in words."""
        words = ["no wrong order", "no hand lost"]
        if self.section != "crosstalk":
            words.append("stamp = first edge")
            if self.gap >= NAMED:
                words.append("named")
        if self.section == "pins" and self.gap < TIE:
            words.append("dead heat")
        return ", ".join(words)

    @property
    def misses(self) -> list[str]:
        """Return the requirements that this line misses."""
        found = {
            "wrong orders": self.wrong, "hands lost": self.lost, "invented slaps": self.extra,
            "hands outside the stated error": self.misstated,
        }  # fmt: skip
        if self.section != "crosstalk":
            found["edges under 3 ms apart, yet named"] = self.close_named
            found["ns between first edge and stamp"] = self.shift if self.shift > self.tolerance else 0
            if self.gap >= NAMED and self.right < SHARE * self.pairs:
                found["not named"] = self.pairs - self.right
        if self.section == "pins" and self.gap < TIE:
            found["no dead heat"] = self.pairs - self.heats
        return [f"{count} {what}" for what, count in found.items() if count]


@dataclass(slots=True)
class Measured:
    """The whole table."""

    rows: dict[tuple[str, int], Row] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    """The first few, each in words."""

    @property
    def misses(self) -> list[str]:
        """Return all missed requirements."""
        return [f"{row.section}, {row.gap / MS:g} ms: {miss}" for row in self.rows.values() for miss in row.misses]


def measure(played: Iterable[tuple[Trial, Sequence[Edge]]], tolerance: int = 0) -> Measured:
    """Filter each trial's edges, rule, and compare with the truth.

    Args:
        played: trials, each with its edges.
        tolerance: allowed distance of a stamp from the first scripted edge, ns.
    """
    out = Measured()
    filters: dict[str, PadFilter] = {}
    for trial, edges in played:
        if trial.section not in filters:
            matrix = crosstalk() if trial.section == "crosstalk" else None
            filters[trial.section] = PadFilter(SEATS, trial.start, crosstalk=matrix)
        pads = filters[trial.section]
        for edge in edges:
            pads.feed(edge)
        seen = pads.advance(trial.end - 1)
        row = out.rows.setdefault((trial.section, trial.gap), Row(trial.section, trial.gap, tolerance))
        before = (row.wrong, row.lost, row.extra, row.misstated)
        _judge(row, trial, seen)
        if (row.wrong, row.lost, row.extra, row.misstated) != before and len(out.failures) < 20:
            out.failures.append(f"{trial.section} {trial.gap / MS:g} ms: {trial.hands}: {seen}")
    return out


def _judge(row: Row, trial: Trial, seen: Sequence[Observation]) -> None:
    row.pairs += 1
    first, second = trial.hands
    slaps = [line for line in seen if isinstance(line, Slap)]
    # Edges of a chattering pad before it is benched do not concern these two hands.
    mine = {slap.seat: slap for slap in reversed(slaps) if slap.seat in (first.seat, second.seat)}
    row.lost += 2 - len(mine)
    row.extra += len(slaps) - len(mine) if row.section != "chatter" else 0
    for hand in trial.hands:
        slap = mine.get(hand.seat)
        if slap is not None:
            row.misstated += abs(slap.t - hand.t) > slap.t_error + row.tolerance
            row.shift = max(row.shift, abs(slap.t - hand.edge))
            row.widest = max(row.widest, slap.t_error)
    verdict = ruled(trial, [line for line in seen if getattr(line, "seat", None) in (first.seat, second.seat)])
    named = verdict is not None and verdict.kind == "slap_won"
    close = abs(first.edge - second.edge) < TIE
    row.close += close
    row.close_named += close and named
    if verdict is None:
        return
    if not named:
        row.heats += set(verdict["seats"]) == {first.seat, second.seat}
    elif verdict["seat"] == first.seat and trial.gap:
        row.right += 1
    else:
        row.wrong += 1


def ruled(trial: Trial, seen: Iterable[Observation]) -> Ruling | None:
    """Return the ruling on a double that lay there when the hands came: the winner, or the dead heat."""
    referee = Adjudicator(history=False, early=False)
    begins = trial.hands[0].t - 250 * MS
    referee.observe(Table(t=begins, id="table", seats=NAMES, dealer=SEATS))
    referee.observe(Card(t=begins + 10 * MS, id="c1", card="7h", seat=1))
    referee.observe(Card(t=begins + 20 * MS, id="c2", card="7c", seat=2))
    for line in seen:
        if isinstance(line, Slap | Lift):
            referee.observe(line)
    made = referee.finish()
    return next((ruling for ruling in made if ruling.kind in ("slap_won", "dead_heat")), None)


def parts(pairs: int, others: int) -> list[Part]:
    """Return the parts of a whole table.

    Args:
        pairs: minimum number of pairs of hands `NAMED` or further apart; a third as many are nearer.
        others: number of trials of each order of each pair in the other sections.
    """
    far = [gap for gap in GAPS if gap >= NAMED]
    near = [gap for gap in GAPS if gap < NAMED]
    count = -(-pairs // (len(far) * SEATS * (SEATS - 1)))
    return [
        ("pins", GAPS, others), ("hands", near, -(-count // 3)), ("hands", far, count), ("crosstalk", GAPS, others),
        ("chatter", GAPS[::3], others),
    ]  # fmt: skip


def total(rows: Iterable[Row]) -> Row:
    """Add up the lines of one section."""
    out: Row | None = None
    for row in rows:
        if out is None:
            out = Row(row.section, row.gap)
        for name in ("pairs", "right", "heats", "wrong", "lost", "extra", "misstated", "close", "close_named"):
            setattr(out, name, getattr(out, name) + getattr(row, name))
        out.shift, out.widest = max(out.shift, row.shift), max(out.widest, row.widest)
    if out is None:
        raise ValueError("no lines to add up")
    return out
