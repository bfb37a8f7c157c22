"""The steps of the wizard in order, each a generator of its questions and actions (see `referee.setup.wizard`).

Seats and wires come first, then the correction of swapped wires (every seat slaps its pad, every light blinks), then
camera and voice, house rules, and the doctor's check.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Any, Final

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.sentence import Sentence, joined
from referee.settings.file import SettingsText
from referee.settings.model import FEWEST_SEATS, LAST_PIN, MOST_SEATS, NEAREST_SEATS, SPI_PINS, SettingsError
from referee.setup.camera_step import camera_step
from referee.setup.pads_step import Pad, assign_pins, describe_moves, pads_step
from referee.setup.pin_owners import free_pins
from referee.setup.rules_step import rules_step
from referee.setup.wizard import (
    BadAnswer,
    DeviceCall,
    Parse,
    Question,
    Remark,
    Request,
    Run,
    WizardStep,
    choose,
    whole_number,
    yes_no,
)  # fmt: skip
from referee.text.catalogue import LANGUAGES
from referee.text.terminal_language import translate

_LONGEST_NAME: Final = 24
_COLOURS: Final = {"red": Sentence("red"), "green": Sentence("green"), "blue": Sentence("blue")}


# Seats


def seats_step(draft: SettingsText) -> Run:
    """Ask for the number of seats, the names, and the positions."""
    there = draft.settings.seats
    words = Sentence("How many seats has the table ({low} to {high})?", low=FEWEST_SEATS, high=MOST_SEATS)
    count = yield Question("seats.count", words, str(len(there)), whole_number(FEWEST_SEATS, MOST_SEATS))
    names: list[str] = []
    for n in range(1, count + 1):
        known = not draft.is_new and n <= len(there)
        words = (
            Sentence("Who sits at seat 1?")
            if n == 1
            else Sentence("Seat {n}, the next one clockwise as seen from above?", n=n)
        )
        default = there[n - 1].name if known else translate("Seat {n}", n=n)
        names.append((yield Question(f"seats.name.{n}", words, default, check_names(names))))
    even = [(270 - 360 * k / count) % 360 for k in range(count)]
    stand = [seat.bearing for seat in there]
    kept = not draft.is_new and len(stand) == count and stand != even
    bearings = yield Question(
        "seats.standing",
        Sentence(
            "Do the seats stand evenly round the table, seat 1 at the bottom of the camera's "
            "picture?\nElse type each one's bearing: degrees counter-clockwise from the picture's "
            "right, so 270 is its bottom,\n180 its left. (It can also be measured later: referee "
            "calibrate --reach.)"
        ),
        " ".join(f"{bearing:g}" for bearing in stand) if kept else "evenly",
        _bearings(count),
    )
    return draft.with_seats(
        [
            {"name": name, "pad": pad, "light": light, "bearing": round(bearing, 1)}
            for name, bearing, (pad, light) in zip(names, bearings or even, _free_pins(draft, count), strict=True)
        ]
    )


def check_names(others: Sequence[str]) -> Parse:
    """Return a check for a name that none of the others has."""

    def check(text: str) -> str:
        if not text.isprintable() or len(text) > _LONGEST_NAME:
            raise BadAnswer(Sentence("a name of at most {most} letters", most=_LONGEST_NAME))
        if text.casefold() in [name.casefold() for name in others]:
            raise BadAnswer(Sentence("another player has the name {name}: choose another, such as {name} 2", name=text))
        return text

    return check


def _bearings(count: int) -> Parse:
    """Return a check for this number of bearings; its value is None if the seats are spaced evenly."""

    def check(text: str) -> list[float] | None:
        if text.casefold() in ("evenly", "even", "yes", "y"):
            return None
        try:
            bearings = [float(word) % 360 for word in text.replace(",", " ").split()]
        except ValueError:
            bearings = []
        if len(bearings) != count:
            raise BadAnswer("evenly, or {count} numbers of degrees", count=count)
        if any(abs((a - b + 180) % 360 - 180) < NEAREST_SEATS for a, b in combinations(bearings, 2)):
            raise BadAnswer("seats must stand at least {least}° apart", least=f"{NEAREST_SEATS:g}")
        return bearings

    return check


def _free_pins(draft: SettingsText, count: int) -> list[tuple[Pad, int]]:
    """Return each seat's pad and light: its present ones, and for further seats the wiring picture's, if free."""
    settings = draft.settings
    pins: list[tuple[Pad, int]] = [(seat.pad, seat.light) for seat in settings.seats[:count]]
    used = {pin for pair in pins for pin in pair} | set(settings.lights.table)
    pool = [pin for pin in (*PAD_PINS, *SEAT_LIGHT_PINS, *range(2, LAST_PIN + 1)) if pin not in used]

    def take(wish: int) -> int:
        pin = wish if wish in pool else pool[0]
        pool.remove(pin)
        return pin

    return pins + [(take(PAD_PINS[n]), take(SEAT_LIGHT_PINS[n])) for n in range(len(pins), count)]


# Wires


def pins_step(draft: SettingsText) -> Run:
    """Ask which wires go where."""
    settings = draft.settings
    count, table = len(settings.seats), list(settings.lights.table)
    words = Sentence("Does an MCP3008 on SPI measure how hard the pads are hit?")
    force = yield yes_no("pins.force", words, settings.pads.force)
    owners: dict[int, str] = yield DeviceCall("pin_owners", {}, Sentence("looking at the header"))
    barred = {**owners, **dict.fromkeys(SPI_PINS if force else (), "SPI")}
    wired_seats = [n for n, seat in enumerate(settings.seats) if seat.pad_pin is not None]
    pads = [pin for seat in settings.seats if (pin := seat.pad_pin) is not None]
    lamps = [seat.light for seat in settings.seats]
    drawn = [[PAD_PINS[n] for n in wired_seats], list(SEAT_LIGHT_PINS[:count]), list(TABLE_LIGHT_PINS)]
    offered = _clear_of(barred, drawn)
    for owner in dict.fromkeys(barred.values()):
        theirs = [pin for pin, name in barred.items() if name == owner and pin in chain(pads, lamps, table, *drawn)]
        if theirs:
            yield Remark(Sentence("Pins that are not free: {pins} ({owner}).", pins=_listed(theirs), owner=owner))
    choices = _wiring_choices([pads, lamps, table], drawn, offered, barred)
    is_wired = bool(wired_seats) or settings.lights.enabled
    usual = next(iter(choices)) if is_wired and next(iter(choices)) != "other" else "none"
    wired = yield choose("pins.wiring", Sentence("How is the header wired?"), usual, choices)
    if wired == "none":
        return draft.changed({"lights.enabled": False, "pads.force": False})
    if wired in ("picture", "free") and offered is not None:
        pads, lamps, table = offered
    elif wired == "other":
        pads, lamps, table = yield from _typed_pins(pads, lamps, table, barred)
    high = yield choose(
        "pins.pads_pull", Sentence("What does a pad do when it is hit?"),
        "high" if settings.pads.active_high else "ground",
        {"ground": Sentence("it closes its line to ground: a switch, or a Schmitt trigger as the guide has it"),
         "high": Sentence("it drives its line to 3.3 V")},
    )  # fmt: skip
    lights = yield yes_no("pins.has_lights", Sentence("Are there lights?"), settings.lights.enabled)
    rows = [{"light": light} for light in lamps]
    for n, pad in zip(wired_seats, pads, strict=True):
        rows[n]["pad"] = pad
    # Off between the two states, in which a pin might be assigned twice.
    off = {"lights.enabled": False, "pads.force": False, "lights.table": table, "pads.active_high": high == "high"}
    return draft.changed(off).with_seats(rows).changed({"lights.enabled": lights, "pads.force": force})


def _wiring_choices(
    kept: Sequence[Sequence[int | None]], drawn: list[list[int]], offered: list[list[int]] | None,
    barred: Collection[int],
) -> dict[str, Sentence]:  # fmt: skip
    """Return the ways of wiring that can be chosen, the likeliest first.

    Args:
        kept: pins of the pads, of the seats' lights and of the table's light, as the settings have them.
        drawn: the same as the wiring picture has them.
        offered: ``drawn`` on pins that are free; None: there are too few.
        barred: pins that are not free.
    """
    choices = {
        "picture": Sentence("as the wiring picture draws it (referee wiring --out wiring.svg)"),
        "other": Sentence("I type the pins"),
        "none": Sentence("nothing is wired: keys, buttons or a board are the pads, and there are no lights"),
    }
    if offered != drawn:
        del choices["picture"]
    if offered is not None and offered != drawn:
        pins = [_listed(group) for group in offered]
        choices = {"free": Sentence(
            "on free pins: pads {pads}, lights {lamps}, the table's light {table}",
            pads=pins[0], lamps=pins[1], table=pins[2],
        ), **choices}  # fmt: skip
    if kept != drawn and not {*chain(*kept)} & set(barred):
        choices = {
            "kept": Sentence(
                "as the settings have it: pads {pads}, lights {lamps}", pads=_listed(kept[0]), lamps=_listed(kept[1])
            ),
            **choices,
        }
    return choices


def _clear_of(barred: Collection[int], groups: Sequence[list[int]]) -> list[list[int]] | None:
    """Return the groups with a free pin for each barred one; `None`: the header has too few."""
    free = iter(free_pins(barred, [*chain(*groups)]))
    moved = {pin: next(free, None) for pin in chain(*groups) if pin in barred}
    out = [[pin for wish in group if (pin := moved.get(wish, wish)) is not None] for group in groups]
    return None if None in moved.values() else out


def _typed_pins(
    pads: list[int], lamps: list[int], table: list[int], barred: Mapping[int, str]
) -> Generator[Request, Any, list[list[int]]]:
    """Ask for the pins of pads, seats' lights and table light; the default is the old pins that fit, and free ones."""
    taken: list[int] = []
    out = []
    for key, words, pins in (
        ("pins.pads", Sentence("Pins of the pads (BCM numbers), seat 1 first:"), pads),
        ("pins.lights", Sentence("Pins of the seats' lights, seat 1 first (any free ones if there are none):"), lamps),
        ("pins.table", Sentence("Pins of the table's light: red, green, blue:"), table),
    ):
        fitting = [pin for pin in pins if pin not in (*taken, *barred)]
        default = _listed([*fitting, *free_pins(barred, (*fitting, *taken))][: len(pins)])
        out.append((yield Question(key, words, default, _pins(len(pins), tuple(taken), barred))))
        taken += out[-1]
    return out


def _listed(pins: Sequence[int | None]) -> str:
    return " ".join(str(pin) for pin in pins)


def _pins(count: int, taken: Sequence[int], barred: Mapping[int, str]) -> Parse:
    def check(text: str) -> list[int]:
        words = text.replace(",", " ").split()
        pins = [int(word) for word in words if word.isdecimal() and int(word) <= LAST_PIN]
        if len(pins) != len(words) or len(pins) != count:
            raise BadAnswer(
                "{count} pins from 0 to {most}, as in {example}",
                count=count,
                most=LAST_PIN,
                example=_listed(PAD_PINS[:count]),
            )
        if len(set(pins)) != count or set(pins) & set(taken):
            raise BadAnswer("each pin once: two wires cannot share one")
        if owned := [pin for pin in pins if pin in barred]:
            raise BadAnswer(
                "pin {pin} is not free ({owner}); free are {free}",
                pin=owned[0], owner=barred[owned[0]], free=_listed(free_pins(barred, (*pins, *taken))),
            )  # fmt: skip
        return pins

    return check


# Swapped wires


def lights_step(draft: SettingsText) -> Run:
    """Let each light blink, and ask whose it is; then the table's light shows its colours in turn."""
    settings = draft.settings
    if not settings.lights.enabled:
        yield Remark(Sentence("No lights are wired: nothing to look at."))
        return draft
    names, pins = [seat.name for seat in settings.seats], [seat.light for seat in settings.seats]
    told: dict[int, int] = {}
    for seat, (name, pin) in enumerate(zip(names, pins, strict=True), start=1):
        blink = {"pin": pin, "pins": (*pins, *settings.lights.table)}
        words = yield DeviceCall("blink", blink, Sentence("light {number} blinks", number=seat))
        left = {str(s): n for s, n in enumerate(names, start=1) if s not in told}
        default = str(seat) if seat not in told else next(iter(left))
        asked = _after(words, Sentence("Whose light blinks? It should be {name}'s.", name=name))
        listed = choose(f"lights.seat.{seat}", asked, default, {**left, "none": Sentence("none does")})
        whose = yield replace(listed, check=_seat_or_name(names, listed))
        if whose != "none":
            told[int(whose)] = pin
    lamps = assign_pins(pins, told, pins)
    dark = ", ".join(name for seat, name in enumerate(names, start=1) if seat not in told)
    absent = Sentence("Dark: {names} (see docs/build.md).", names=dark) if dark else ""
    same = Sentence("The lights are where the settings have them.")
    yield Remark(describe_moves("light", names, pins, lamps, same, absent))
    table = yield from _table_light(draft)
    yield DeviceCall("dark", {})
    # Off, since a pin might be assigned twice between the two states.
    draft = draft.changed({"lights.enabled": False}).with_seats([{"light": pin} for pin in lamps])
    return draft.changed({"lights.table": table, "lights.enabled": True})


def _after(words: str, question: str) -> str:
    """Return a question, preceded by the device's message, if any."""
    return joined([words, question]) if words else question


def _seat_or_name(names: Sequence[str], listed: Question) -> Parse:
    def check(text: str) -> str:
        same = [str(seat) for seat, name in enumerate(names, start=1) if name.casefold() == text.casefold()]
        # A number means a seat, not a place in the list of remaining ones.
        known = text in listed.choices or not text.isdecimal()
        return str(listed.check(same[0] if same else text if known else "?"))

    return check


def _table_light(draft: SettingsText) -> Generator[Request, Any, list[int]]:
    """Return the pins of red, green and blue, as people see them."""
    pins = draft.settings.lights.table
    others = tuple(seat.light for seat in draft.settings.seats)
    seen: dict[str, int] = {}
    for meant, pin in zip(_COLOURS, pins, strict=True):
        blink = {"pin": pin, "pins": (*others, *pins)}
        words = yield DeviceCall("blink", blink, Sentence("the table's light blinks {colour}", colour=_COLOURS[meant]))
        left = [colour for colour in _COLOURS if colour not in seen]
        told = yield choose(
            f"lights.table.{meant}", _after(words, Sentence("Which colour does the table's light blink?")),
            meant if meant in left else left[0], {**{name: _COLOURS[name] for name in left}, "none": ""},
        )  # fmt: skip
        if told != "none":
            seen[told] = pin
    spare = [pin for pin in pins if pin not in seen.values()]
    return [seen[colour] if colour in seen else spare.pop(0) for colour in _COLOURS]


# Voice


def voice_step(draft: SettingsText) -> Run:
    """Ask for the language, the volume, and the quiet hours."""
    voice = draft.settings.voice
    if not (yield yes_no("voice.enabled", Sentence("Shall the referee speak?"), voice.enabled)):
        return draft.changed({"voice.enabled": False})
    language = yield choose("voice.language", Sentence("In which language?"), voice.language, LANGUAGES)
    draft = draft.changed({"voice.enabled": True, "voice.language": language})
    left = dict((yield DeviceCall("sounds", {}, Sentence("looking for sound cards"))))
    if not left:
        yield Remark(
            Sentence("No sound card answers. Plug in a loudspeaker on USB: the referee finds it once it is there.")
        )
    if (kept := draft.settings.voice.device) in left:
        left = {kept: left[kept], **left}
    while True:
        if len(left) > 1:
            draft = yield from _choose_card(draft, left)
        heard: int | str | None = "again"
        while heard is not None and heard != "no":
            volume = draft.settings.voice.volume
            words = yield DeviceCall(
                "speak", {"text": draft.text}, Sentence("speaking at volume {volume}", volume=volume)
            )
            if words:
                yield Remark(words)
            words = Sentence("Volume {volume}: was it heard well? yes, or another volume (0 to 100):", volume=volume)
            if len(left) > 1:
                words = Sentence(
                    "Volume {volume}: was it heard well? yes, no (another sound card), or another volume (0 to 100):",
                    volume=volume,
                )
            heard = yield Question("voice.heard", words, "yes", _heard if len(left) > 1 else _volume)
            if isinstance(heard, int):
                draft = draft.changed({"voice.volume": heard})
        if heard is None:
            break
        # Offer the next one first; after the last the list starts over.
        tried = draft.settings.voice.device
        left = {**{name: kind for name, kind in left.items() if name != tried}, tried: left.get(tried, "")}
    hours = f"{voice.quiet_from}-{voice.quiet_to}" if voice.quiet_from and voice.quiet_to else "none"
    quiet = yield Question("voice.quiet", Sentence("Quiet hours, such as 22:00-07:00, or none:"), hours, _hours)
    if quiet is None:
        return draft.changed({"voice.quiet_from": "", "voice.quiet_to": ""})
    words = Sentence("Volume in quiet hours (0 is silence):")
    soft = yield Question("voice.quiet_volume", words, str(voice.quiet_volume), whole_number(0, 100))
    return draft.changed({"voice.quiet_from": quiet[0], "voice.quiet_to": quiet[1], "voice.quiet_volume": soft})


def _choose_card(draft: SettingsText, cards: dict[str, str]) -> Run:
    """Choose one of several sound cards, the most reliable first; reject one whose pins are in use."""
    while True:
        chosen = yield choose("voice.card", Sentence("Which sound card?"), next(iter(cards)), cards)
        try:
            return draft.changed({"voice.device": chosen})
        except SettingsError as error:
            yield Remark(
                Sentence("{why}. Choose another card, or other pins first: referee setup --step pins.", why=error)
            )
            cards = {**{name: kind for name, kind in cards.items() if name != chosen}, chosen: cards[chosen]}


def _heard(text: str) -> int | str | None:
    """Parse as `_volume`, or "no" if the sound was not audible."""
    return "no" if text.casefold() in ("no", "n") else _volume(text)


def _volume(text: str) -> int | None:
    """Parse another volume; `None`: the present one is good."""
    if text.casefold() in ("yes", "y"):
        return None
    if not text.isdecimal() or int(text) > 100:
        raise BadAnswer("yes, or a volume from 0 to 100")
    return int(text)


def _hours(text: str) -> tuple[str, str] | None:
    if text.casefold() in ("none", "no", "never"):
        return None
    found = re.fullmatch(r"(\d?\d):(\d\d) *(?:-|–|to) *(\d?\d):(\d\d)", text)
    numbers = [int(word) for word in found.groups()] if found else [24]
    if max(numbers[::2]) > 23 or max(numbers[1::2], default=0) > 59:
        raise BadAnswer("none, or two times of day: 22:00-07:00")
    return f"{numbers[0]:02}:{numbers[1]:02}", f"{numbers[2]:02}:{numbers[3]:02}"


# The first check


def check_step(draft: SettingsText) -> Run:
    """Let the doctor check everything."""
    while True:
        words, well = yield DeviceCall("doctor", {"text": draft.text}, Sentence("looking at every part"))
        yield Remark(words)
        again = {"retry": Sentence("I have mended something"), "done": Sentence("go on with what there is")}
        if well or (yield choose("check.again", Sentence("Look again?"), "done", again)) == "done":
            return draft


STEPS: Final = (
    WizardStep("seats", Sentence("Seats"), seats_step),
    WizardStep("pins", Sentence("Wires"), pins_step),
    WizardStep("pads", Sentence("Slap roll-call"), pads_step),
    WizardStep("lights", Sentence("Lights"), lights_step),
    WizardStep("camera", Sentence("Camera"), camera_step),
    WizardStep("voice", Sentence("Voice"), voice_step),
    WizardStep("rules", Sentence("House rules"), partial(rules_step, files=True)),
    WizardStep("check", Sentence("First check"), check_step),
)
