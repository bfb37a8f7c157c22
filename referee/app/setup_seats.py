"""Two steps of the walk: who sits where, and which wires go where."""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations
from typing import Any, Final

from hardware.gpio import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.app.settings import FEWEST, MOST, NEAREST, SPI_PINS
from referee.app.settings_checks import LAST_PIN
from referee.app.setup import Ask, Check, Choice, Refused, Request, Run, choose, whole_number, yes_no
from referee.app.setup_draft import Draft

LONGEST_NAME: Final = 24


# Seats


def seats_step(draft: Draft) -> Run:
    """How many, who, and where they stand."""
    there = draft.settings.seats
    count = yield Ask(
        "seats.count",
        f"How many seats has the table ({FEWEST} to {MOST})?",
        str(len(there)),
        whole_number(FEWEST, MOST),
    )
    names: list[str] = []
    for n in range(1, count + 1):
        known = not draft.is_new and n <= len(there)
        words = "Who sits at seat 1?" if n == 1 else f"Seat {n}, the next one clockwise as seen from above?"
        name = yield Ask(f"seats.name.{n}", words, there[n - 1].name if known else f"Seat {n}", _new_name(names))
        names.append(name)
    even = [(270 - 360 * k / count) % 360 for k in range(count)]
    stand = [seat.bearing for seat in there]
    kept = not draft.is_new and len(stand) == count and stand != even
    bearings = yield Ask(
        "seats.standing",
        "Do the seats stand evenly round the table, seat 1 at the bottom of the camera's picture?\n"
        "Else type each one's bearing: degrees counter-clockwise from the picture's right, so 270 is its bottom,\n"
        "180 its left. (It can also be measured later: referee calibrate --reach.)",
        " ".join(f"{bearing:g}" for bearing in stand) if kept else "evenly",
        _standing(count),
    )
    pins = _free_pins(draft, count)
    return draft.seated(
        [
            {"name": name, "pad": pad, "light": light, "bearing": round(bearing, 1)}
            for name, bearing, (pad, light) in zip(names, bearings or even, pins, strict=True)
        ]
    )


def _free_pins(draft: Draft, count: int) -> list[tuple[int, int]]:
    """Each seat's pins: those that it has, and for further seats the picture's, where they are free."""
    settings = draft.settings
    pins = [(seat.pad, seat.light) for seat in settings.seats[:count]]
    used = {pin for pair in pins for pin in pair} | set(settings.lights.table)
    pool = [pin for pin in (*PAD_PINS, *SEAT_LIGHT_PINS, *range(2, LAST_PIN + 1)) if pin not in used]
    for n in range(len(pins), count):
        pair = []
        for wish in (PAD_PINS[n], SEAT_LIGHT_PINS[n]):
            pair.append(wish if wish in pool else pool[0])
            pool.remove(pair[-1])
        pins.append((pair[0], pair[1]))
    return pins


def _new_name(taken: list[str]) -> Check:
    others = [name.casefold() for name in taken]

    def check(text: str) -> str:
        if not text.isprintable() or len(text) > LONGEST_NAME:
            raise Refused(f"a name of at most {LONGEST_NAME} letters")
        if text.casefold() in others:
            raise Refused(f"somebody is called {text} already: another name, such as {text} 2")
        return text

    return check


def _standing(count: int) -> Check:
    def check(text: str) -> list[float] | None:
        if text.casefold() in ("evenly", "even", "yes", "y"):
            return None
        try:
            bearings = [float(word) % 360 for word in text.replace(",", " ").split()]
        except ValueError:
            bearings = []
        if len(bearings) != count:
            raise Refused(f"evenly, or {count} numbers of degrees")
        if any(abs((a - b + 180) % 360 - 180) < NEAREST for a, b in combinations(bearings, 2)):
            raise Refused(f"seats must stand at least {NEAREST:g}° apart")
        return bearings

    return check


# Pins


def pins_step(draft: Draft) -> Run:
    """Which wires go where."""
    settings = draft.settings
    count, table = len(settings.seats), list(settings.lights.table)
    words = "Does an MCP3008 on SPI measure how hard the pads are hit?"
    force = yield yes_no("pins.force", words, settings.pads.force)
    barred = list(SPI_PINS) if force else []
    pads, lamps = [seat.pad for seat in settings.seats], [seat.light for seat in settings.seats]
    drawn = (list(PAD_PINS[:count]), list(SEAT_LIGHT_PINS[:count]), list(TABLE_LIGHT_PINS))
    choices = [
        Choice("picture", "as the wiring picture draws it (referee wiring --out wiring.svg)"),
        Choice("other", "I type the pins"),
    ]
    if (pads, lamps, table) != drawn and not {*pads, *lamps, *table} & set(barred):
        kept = f"as the settings have it: pads {_listed(pads)}, lights {_listed(lamps)}"
        choices.insert(0, Choice("kept", kept))
    wired = yield choose("pins.wiring", "How is the header wired?", choices[0].value, choices)
    if wired == "picture":
        pads, lamps, table = drawn
    elif wired == "other":
        pads, lamps, table = yield from _typed_pins(pads, lamps, table, barred)
    high = yield choose(
        "pins.pads_pull", "What does a pad do when it is hit?", "high" if settings.pads.active_high else "ground",
        (Choice("ground", "it closes its line to ground: a switch, or a Schmitt trigger as the guide has it"),
         Choice("high", "it drives its line to 3.3 V")),
    )  # fmt: skip
    lights = yield yes_no("pins.has_lights", "Are there lights?", settings.lights.enabled)
    rows = [{"pad": pad, "light": light} for pad, light in zip(pads, lamps, strict=True)]
    # Off for the moment between two states, in which a pin might stand twice.
    off = {"lights.enabled": False, "pads.force": False, "lights.table": table, "pads.active_high": high == "high"}
    return draft.changed(off).seated(rows).changed({"lights.enabled": lights, "pads.force": force})


def _typed_pins(
    pads: list[int], lamps: list[int], table: list[int], barred: list[int]
) -> Generator[Request, Any, tuple[list[int], list[int], list[int]]]:
    """Pads, seats' lights and table light, each asked with what fits of the old as its default."""
    taken, out = list(barred), []
    for key, words, pins in (
        ("pins.pads", "Pins of the pads (BCM numbers), seat 1 first:", pads),
        ("pins.lights", "Pins of the seats' lights, seat 1 first (any free ones if there are none):", lamps),
        ("pins.table", "Pins of the table's light: red, green, blue:", table),
    ):
        fitting = _filled([pin for pin in pins if pin not in taken], len(pins), taken)
        typed = yield Ask(key, words, _listed(fitting), _pins(len(pins), taken))
        taken = [*taken, *typed]
        out.append(typed)
    return out[0], out[1], out[2]


def _listed(pins: list[int]) -> str:
    return " ".join(str(pin) for pin in pins)


def _filled(pins: list[int], count: int, taken: list[int]) -> list[int]:
    """As many pins, made up from free ones."""
    free = [pin for pin in (*SEAT_LIGHT_PINS, *TABLE_LIGHT_PINS, *PAD_PINS) if pin not in (*pins, *taken)]
    return [*pins, *free][:count]


def _pins(count: int, taken: list[int]) -> Check:
    def check(text: str) -> list[int]:
        words = text.replace(",", " ").split()
        pins = [int(word) for word in words if word.isdecimal() and int(word) <= LAST_PIN]
        if len(pins) != len(words) or len(pins) != count:
            raise Refused(f"{count} pins from 0 to {LAST_PIN}, as in {' '.join(str(pin) for pin in PAD_PINS[:count])}")
        if len(set(pins)) != count or set(pins) & set(taken):
            raise Refused("each pin once: two wires cannot share one")
        return pins

    return check
