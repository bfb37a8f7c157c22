"""The circuits' sums: voltages, crosstalk, delays and currents, each at the worst corner of its parts' tolerances.

`python -m tools.build_guide.circuit` prints the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from referee.setup.pad_circuit import DIVIDER_OHMS, FILTER_FARAD, SUPPLY_OHMS
from referee.setup.wiring import SEAT_OHMS
from tools.build_guide.plans import PLYWOOD, resting_newtons
from tools.build_guide.sums import FALLING, FSR_OHM_NEWTON, RISING, newtons, switching


@dataclass(frozen=True, slots=True)
class Span:
    """A part's value: least, usual, most."""

    least: float
    usual: float
    most: float

    @classmethod
    def around(cls, value: float, tolerance: float) -> Span:
        """Return a value with its tolerance as a share."""
        return cls(value * (1 - tolerance), value, value * (1 + tolerance))

    def times(self, factor: float) -> Span:
        """Return it in another unit."""
        return Span(*(factor * value for value in self.ends()))

    def ends(self) -> tuple[float, float, float]:
        """Return all three."""
        return self.least, self.usual, self.most


def worst(result: Callable[..., float], *parts: Span) -> Span:
    """Return a result's span over every corner of its parts.

    Every result here is monotonic in each of its parts, so the extremes lie at corners.
    """
    corners = [result(*values) for values in product(*(part.ends() for part in parts))]
    return Span(min(corners), result(*(part.usual for part in parts)), max(corners))


SUPPLY: Final = Span.around(3.3, 0.05)
PULL: Final = Span.around(DIVIDER_OHMS, 0.05)
FEED: Final = Span.around(SUPPLY_OHMS, 0.05)
FILTER: Final = Span.around(FILTER_FARAD, 0.20)
ACROSS: Final = Span(50e-12, 100e-12, 200e-12)
"""Between the light's and the pad's wire where they lie side by side: 2 m of cable of 25 to 100 pF a metre, F."""
TO_GROUND: Final = Span(50e-12, 100e-12, 200e-12)
"""Between the pad's wire and ground, F."""
GUARDED: Final = (0.2, 0.1)
"""Share of `ACROSS` that is left with one ground wire between the two, and with two; assumed."""
RESTING_OHM: Final = Span.around(FSR_OHM_NEWTON / resting_newtons(PLYWOOD), 0.25)
"""The FSR under its plate: makers state its resistance to a quarter."""
HIT_NEWTONS: Final = 10.0
"""The softest slap; most are tens of newtons."""
PRESSED_OHM: Final = Span(200, 500, 1_000)
"""Under such a slap, and under harder ones."""


def pad_level(supply: float, feed: float, fsr: float, pull: float) -> float:
    """Return the voltage at the gate's input."""
    return supply * pull / (feed + fsr + pull)


def lift(supply: float, across: float, to_ground: float, filtering: float) -> float:
    """Return the step at the pad's wire as the light's wire steps by the whole supply: charge is shared at once."""
    return supply * across / (across + to_ground + filtering)


def lift_time(fsr: float, pull: float, across: float, to_ground: float, filtering: float) -> float:
    """Return the time constant with which that step decays, s."""
    return fsr * pull / (fsr + pull) * (across + to_ground + filtering)


def press_delay(share: float, feed: float, fsr: float, pull: float, loaded: float) -> float:
    """Return the time from the contact to the gate's switching at this share of the supply, s."""
    final = pad_level(1.0, feed, fsr, pull)
    ohms = (feed + fsr) * pull / (feed + fsr + pull)
    return ohms * loaded * math.log(final / (final - share))


def release_delay(share: float, feed: float, fsr: float, pull: float, loaded: float) -> float:
    """Return the time in which the gate's input falls from its pressed level to this share, s; the FSR is open."""
    return pull * loaded * math.log(pad_level(1.0, feed, fsr, pull) / share)


def light_current(supply: float, forward: float, ohms: float) -> float:
    """Return the current of a lit LED, A."""
    return (supply - forward) / ohms


@dataclass(frozen=True, slots=True)
class Margin:
    """A value of the circuit beside its limit."""

    name: str
    value: Span
    limit: float
    unit: str
    is_least: bool = False
    """Whether the limit is the least that is wanted."""

    @property
    def reserve(self) -> float:
        """Return the distance from the worst value to the limit; negative: it fails."""
        return self.value.least - self.limit if self.is_least else self.limit - self.value.most


def margins() -> list[Margin]:
    """Return every margin: of the pads with sensors on the header, then of the buttons on a Pico."""
    rise_least, _, rise_most = RISING
    # Thresholds are shares of the same supply, so ratios are compared, told as volts at 3.3 V.
    unit = Span(3.3, 3.3, 3.3)
    bare = Span(0.0, 0.0, 0.0)
    guarded, doubly = (ACROSS.times(share) for share in GUARDED)
    loaded = Span(*(sum(parts) for parts in zip(FILTER.ends(), TO_GROUND.ends(), ACROSS.ends(), strict=True)))
    share = Span(RISING[0], RISING[1], RISING[2])
    fall = Span(FALLING[0], FALLING[1], FALLING[1])
    resting = worst(pad_level, unit, FEED, RESTING_OHM, PULL)
    pressed = worst(pad_level, unit, FEED, PRESSED_OHM, PULL)
    lifted = worst(lift, unit, guarded, TO_GROUND, FILTER)
    lasting = worst(lift_time, RESTING_OHM, PULL, guarded, TO_GROUND, FILTER)
    press = worst(press_delay, share, FEED, PRESSED_OHM, PULL, loaded)
    release = worst(release_delay, fall, FEED, PRESSED_OHM, PULL, loaded)
    unfiltered = worst(lift, unit, ACROSS, TO_GROUND, bare)
    short = worst(lambda supply, feed: 1000 * supply / feed, SUPPLY, FEED)
    light = worst(light_current, SUPPLY, Span(1.8, 2.0, 2.2), Span.around(SEAT_OHMS, 0.05))
    # Eight lights and the three inputs of the ULN2003, each 2.7 kΩ before two junctions.
    driver = worst(light_current, SUPPLY, Span(1.2, 1.35, 1.5), Span.around(2_700, 0.3))
    header = Span(*(1000 * (8 * lit + 3 * drive) for lit, drive in zip(light.ends(), driver.ends(), strict=True)))
    # The button's lamp has the resistor of a 5 V lamp, the Pico's pin about 40 Ω of its own.
    lamp = worst(
        lambda supply, forward, ohms: 1000 * light_current(supply, forward, ohms + 40), SUPPLY, Span(1.8, 2.0, 2.2),
        Span.around(150, 0.1),
    )  # fmt: skip
    dip = worst(
        lambda supply, across, to_ground: supply - lift(supply, across, to_ground, 0.0), unit, doubly, TO_GROUND
    )
    total = Span(*(rest + step for rest, step in zip(resting.ends(), lifted.ends(), strict=True)))
    without = Span(*(rest + step for rest, step in zip(resting.ends(), unfiltered.ends(), strict=True)))
    force = worst(lambda at, pull: newtons(switching(pull, at)), share, PULL)
    return [
        Margin("force of a hit", force, HIT_NEWTONS, "N"),
        Margin("FSR at rest", resting, 3.3 * FALLING[0], "V"),
        Margin("FSR at rest, as a light switches", total, 3.3 * rise_least, "V"),
        Margin("the same without 1 nF, the wires side by side", without, 3.3 * rise_least, "V"),
        Margin("FSR pressed", pressed, 3.3 * rise_most, "V", is_least=True),
        Margin("time constant of the light's step", lasting.times(1e6), 50, "µs"),
        Margin("from the slap to the edge", press.times(1e6), 50, "µs"),
        Margin("from the release to the edge", release.times(1e6), 50, "µs"),
        Margin("a pinched cable takes from 3.3 V", short, 50, "mA"),
        Margin("all outputs of the header", header, 50, "mA"),
        Margin("a button's pad at rest, as its light switches", dip, 2.0, "V", is_least=True),
        Margin("a button's lamp, from its pin", lamp, 12, "mA"),
    ]  # fmt: skip


def margins_table() -> Iterator[str]:
    """Markdown: each value from its least to its most, its limit, and the reserve."""
    yield "| value | at worst | limit | reserve |"
    yield "| --- | --- | --- | --- |"
    for margin in margins():
        digits = 2 if margin.unit == "V" else 1
        least, most, limit, reserve = (
            f"{value:.{digits}f}".replace("-", "−")
            for value in (margin.value.least, margin.value.most, margin.limit, margin.reserve)
        )
        bound = "≥" if margin.is_least else "≤"
        yield f"| {margin.name}, {margin.unit} | {least} to {most} | {bound} {limit} | {reserve} |"


if __name__ == "__main__":
    print(*margins_table(), sep="\n")
