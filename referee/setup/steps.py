"""Two steps of the walk: who sits where, and which wires go where.

Two steps of the walk that put swapped wires right: every seat slaps its pad, and every light blinks.

Two steps of the walk: what sees, and what speaks.

The steps of the walk in their order, and its last two: house rules, and the doctor's look.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.errors import UserError
from referee.rules.presets import PRESETS
from referee.settings.file import SettingsText
from referee.settings.house_rules import SUFFIX
from referee.settings.model import FEWEST_SEATS, LAST_PIN, MOST_SEATS, NEAREST_SEATS, SPI_PINS
from referee.setup.walk import Ask, Check, Choice, Do, Refused, Request, Run, Step, Tell, choose, whole_number, yes_no
from referee.text.catalogue import LANGUAGES

LONGEST_NAME: Final = 24


# Seats


def seats_step(draft: SettingsText) -> Run:
    """How many, who, and where they stand."""
    there = draft.settings.seats
    count = yield Ask(
        "seats.count",
        f"How many seats has the table ({FEWEST_SEATS} to {MOST_SEATS})?",
        str(len(there)),
        whole_number(FEWEST_SEATS, MOST_SEATS),
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
    return draft.with_seats(
        [
            {"name": name, "pad": pad, "light": light, "bearing": round(bearing, 1)}
            for name, bearing, (pad, light) in zip(names, bearings or even, pins, strict=True)
        ]
    )


def _free_pins(draft: SettingsText, count: int) -> list[tuple[int, int]]:
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
        if any(abs((a - b + 180) % 360 - 180) < NEAREST_SEATS for a, b in combinations(bearings, 2)):
            raise Refused(f"seats must stand at least {NEAREST_SEATS:g}° apart")
        return bearings

    return check


# Pins


def pins_step(draft: SettingsText) -> Run:
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
    return draft.changed(off).with_seats(rows).changed({"lights.enabled": lights, "pads.force": force})


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


COLOURS: Final = ("red", "green", "blue")


def pads_step(draft: SettingsText) -> Run:
    """Each seat slaps; the line that answers is its pad's."""
    settings = draft.settings
    if not (yield yes_no("pads.roll_call", "Are the pads connected? Then every seat slaps its own, once", True)):
        return draft
    names = [seat.name for seat in settings.seats]
    listened = _listened(draft)
    told: dict[int, int] = {}
    for seat, name in enumerate(names, start=1):
        pin: int | None = None
        while pin is None:
            pin = yield Do(
                "slap", {"seat": seat, "pins": listened, "active_high": settings.pads.active_high},
                f"{name}: slap your pad now",
            )  # fmt: skip
            words = f"Nothing was felt from {name}'s pad."
            if pin in told.values():
                first = names[next(s for s, p in told.items() if p == pin) - 1]
                words, pin = f"That was {first}'s pad (pin {pin}), which has answered already.", None
            if pin is None:
                yield Tell(words)
                again = (Choice("retry"), Choice("silent", "leave it, and go on: see `referee calibrate pads`"))
                if (yield choose(f"pads.silent.{seat}", f"Shall {name} slap again?", "silent", again)) == "silent":
                    break
        if pin is not None:
            told[seat] = pin
    pads = assigned([seat.pad for seat in settings.seats], told, listened)
    yield Tell(moved_words(names, [seat.pad for seat in settings.seats], pads, told))
    draft = draft.with_seats([{"pad": pin} for pin in pads])
    return (yield from _measured(draft)) if told else draft


def _measured(draft: SettingsText) -> Run:
    """How each pad bounces, and what its neighbours hear of it."""
    words = "Measure how each pad bounces and what its neighbours hear? Each seat slaps eight times more"
    if not (yield yes_no("pads.measure", words, draft.settings.pads_measured is None)):
        return draft
    text, told = yield Do("measure", {"text": draft.text}, "measuring the pads")
    yield Tell(told)
    return draft if text is None else SettingsText(text, draft.folder)


def _listened(draft: SettingsText) -> tuple[int, ...]:
    """The lines on which a pad may be: the settings', and the picture's others unless a light is there."""
    settings = draft.settings
    lamps = {seat.light for seat in settings.seats} | set(settings.lights.table) if settings.lights.enabled else set()
    return tuple(dict.fromkeys([*(seat.pad for seat in settings.seats), *(p for p in PAD_PINS if p not in lamps)]))


def assigned(before: Sequence[int], told: Mapping[int, int], listened: Sequence[int]) -> list[int]:
    """Each seat's pin: the one that answered for it; for a silent seat its old one, or one that is free.

    Args:
        before: each seat's pin until now, seat 1 first.
        told: the pins that answered, by seat.
        listened: every line on which a pad may be; as many as seats at least.
    """
    kept = {
        seat: pin for seat, pin in enumerate(before, start=1) if seat not in told and pin not in told.values()
    } | dict(told)
    # A line that another seat has left comes first: the silent pad is the likeliest there.
    free = iter([pin for pin in dict.fromkeys((*before, *listened)) if pin not in kept.values()])
    return [kept[seat] if seat in kept else next(free) for seat in range(1, len(before) + 1)]


def moved_words(names: Sequence[str], before: Sequence[int], after: Sequence[int], told: Mapping[int, int]) -> str:
    """What the roll-call changed, in words."""
    moved = [
        f"{name}'s pad is on pin {new}, not {old}: put right"
        for name, old, new in zip(names, before, after, strict=True)
        if old != new
    ]
    silent = [name for seat, name in enumerate(names, start=1) if seat not in told]
    words = moved or ["every pad that answered is where the settings have it"] if told else []
    return _sentence(words + ([f"silent: {', '.join(silent)}"] if silent else []))


def _sentence(parts: Sequence[str]) -> str:
    words = "; ".join(parts) + "."
    return words[:1].upper() + words[1:]


def lights_step(draft: SettingsText) -> Run:
    """Each light blinks, and people say whose it is; the table's light shows its colours one after another."""
    settings = draft.settings
    if not settings.lights.enabled:
        yield Tell("No lights are wired: nothing to look at.")
        return draft
    names = [seat.name for seat in settings.seats]
    pins = [seat.light for seat in settings.seats]
    told: dict[int, int] = {}
    for seat, (name, pin) in enumerate(zip(names, pins, strict=True), start=1):
        words = yield Do("blink", {"pin": pin, "pins": (*pins, *settings.lights.table)}, f"light {seat} blinks")
        left = [Choice(str(s), n) for s, n in enumerate(names, start=1) if s not in told]
        default = str(seat) if seat not in told else left[0].value
        ask = choose(f"lights.seat.{seat}", f"{words}Whose light blinks? {name}'s is meant.", default,
                     [*left, Choice("none", "none does")])  # fmt: skip
        whose = yield Ask(ask.id, ask.words, ask.default, _seat_or_name(names, ask), ask.choices)
        if whose != "none":
            told[int(whose)] = pin
    lamps = assigned(pins, told, pins)
    yield Tell(_lights_words(names, pins, lamps, told))
    table = yield from _table_light(draft)
    yield Do("dark", {})
    # Between two states a pin might stand twice.
    draft = draft.changed({"lights.enabled": False}).with_seats([{"light": pin} for pin in lamps])
    return draft.changed({"lights.table": table, "lights.enabled": True})


def _seat_or_name(names: Sequence[str], ask: Ask) -> Check:
    def check(text: str) -> str:
        same = [str(seat) for seat, name in enumerate(names, start=1) if name.casefold() == text.casefold()]
        # A number is a seat's, not a place in the list of those that are left.
        listed = [choice.value for choice in ask.choices]
        return str(ask.check(same[0] if same else text if text in listed or not text.isdecimal() else "?"))

    return check


def _lights_words(names: Sequence[str], before: Sequence[int], after: Sequence[int], told: Mapping[int, int]) -> str:
    moved = [
        f"{name}'s light is on pin {new}, not {old}: put right"
        for name, old, new in zip(names, before, after, strict=True)
        if old != new
    ]
    dark = [name for seat, name in enumerate(names, start=1) if seat not in told]
    words = moved or ["the lights are where the settings have them"]
    return _sentence(words + ([f"dark: {', '.join(dark)} (see docs/build.md)"] if dark else []))


def _table_light(draft: SettingsText) -> Generator[Request, Any, list[int]]:
    """The pins of red, green and blue, as people see them."""
    pins = draft.settings.lights.table
    others = tuple(seat.light for seat in draft.settings.seats)
    seen: dict[str, int] = {}
    for meant, pin in zip(COLOURS, pins, strict=True):
        words = yield Do("blink", {"pin": pin, "pins": (*others, *pins)}, f"the table's light blinks {meant}")
        left = [colour for colour in COLOURS if colour not in seen]
        told = yield choose(
            f"lights.table.{meant}", f"{words}Which colour does the table's light blink?",
            meant if meant in left else left[0], [Choice(colour) for colour in (*left, "none")],
        )  # fmt: skip
        if told != "none":
            seen[told] = pin
    spare = [pin for pin in pins if pin not in seen.values()]
    return [seen[colour] if colour in seen else spare.pop(0) for colour in COLOURS]


# Camera


def camera_step(draft: SettingsText) -> Run:
    """Which camera, what it sees, and where the table is in it."""
    found = yield Do("cameras", {}, "looking for cameras")
    while not found:
        yield Tell(
            "No camera answers. The Pi's: is its cable in, blue side to the USB sockets? Another: is it plugged in?"
        )
        if (yield choose("camera.none", "Look again?", "later", _LATER)) == "later":
            return draft
        found = yield Do("cameras", {}, "looking for cameras")
    sources = [source for source, _ in found]
    source = sources[0]
    if len(found) > 1:
        kept = draft.settings.camera.source
        source = yield choose("camera.source", "Which camera?", kept if kept in sources else source,
                              [Choice(one, words) for one, words in found])  # fmt: skip
    else:
        yield Tell(f"The camera is {found[0][1]}.")
    draft = yield from _size(draft.changed({"camera.source": source}))
    while True:
        taken, words = yield Do("picture", {"text": draft.text}, "taking a picture")
        yield Tell(words)
        if not taken:
            if (yield choose("camera.failed", "Try again?", "later", _LATER)) == "later":
                return draft
            continue
        seen = yield choose("camera.seen", "Does the picture show the whole table, sharp and upright over it?", "yes",
                            (Choice("yes"), Choice("retry", "another picture")))  # fmt: skip
        if seen == "yes":
            break
    return (yield from _calibration(draft))


SIZES: Final = {
    "picamera": {
        "1536x864": "Camera Module 3: fast; sees 51×28 cm from a height of 60 cm",
        "2304x1296": "Camera Module 3: half as much again, slower to read",
        "1456x1088": "Global Shutter",
    },
    "usb": {"1280x720": "", "1920x1080": "finer, slower to read"},
}
"""Pictures that cameras give, by the kind of camera, the usual one first."""


def _size(draft: SettingsText) -> Run:
    """How large the picture is: for a larger one the camera may hang lower."""
    camera = draft.settings.camera
    kind = "picamera" if camera.source == "picamera" else "usb"
    now = f"{camera.width}x{camera.height}"
    listed = dict(SIZES[kind])
    if now not in {size for sizes in SIZES.values() for size in sizes}:
        listed[now] = "as the settings have it"
    default = now if now in listed else next(iter(listed))
    words = "How large is its picture (docs/build.md says what it sees from which height)?"
    size = yield choose("camera.size", words, default, [Choice(*item) for item in listed.items()])
    width, height = size.split("x")
    return draft.changed({"camera.width": int(width), "camera.height": int(height)})


_LATER: Final = (Choice("retry"), Choice("later", "go on without"))


def _calibration(draft: SettingsText) -> Run:
    default = "sheet" if draft.settings.calibration is None else "later"
    while True:
        by = yield choose(
            "camera.calibrate", "Find the table in the picture now (referee calibrate)?", default,
            (Choice("sheet", "the printed sheet lies on the table: referee calibrate --sheet sheet.pdf"),
             Choice("cards", "four cards lie in the corners of the playing area"),
             Choice("later", "not now")),
        )  # fmt: skip
        if by == "later":
            return draft
        text, words = yield Do("calibrate", {"text": draft.text, "by": by}, "looking at the table: keep hands off it")
        yield Tell(words)
        if text is not None:
            return SettingsText(text, draft.folder)
        default = "later"


# Voice


def voice_step(draft: SettingsText) -> Run:
    """The language, how loud, and when it is quiet."""
    voice = draft.settings.voice
    if not (yield yes_no("voice.enabled", "Shall the referee speak?", voice.enabled)):
        return draft.changed({"voice.enabled": False})
    language = yield choose("voice.language", "In which language?", voice.language,
                            [Choice(code, name) for code, name in LANGUAGES.items()])  # fmt: skip
    draft = draft.changed({"voice.enabled": True, "voice.language": language})
    while True:
        volume = draft.settings.voice.volume
        words = yield Do("speak", {"text": draft.text}, f"speaking at volume {volume}")
        if words:
            yield Tell(words)
        heard = yield Ask("voice.heard", f"Volume {volume}: was it heard well? Or another volume (0 to 100):", "yes",
                          _heard)  # fmt: skip
        if heard is None:
            break
        draft = draft.changed({"voice.volume": heard})
    hours = f"{voice.quiet_from}-{voice.quiet_to}" if voice.quiet_from and voice.quiet_to else "none"
    quiet = yield Ask("voice.quiet", "Quiet hours, such as 22:00-07:00, or none:", hours, _hours)
    if quiet is None:
        return draft.changed({"voice.quiet_from": "", "voice.quiet_to": ""})
    soft = yield Ask("voice.quiet_volume", "Volume in quiet hours (0 is silence):", str(voice.quiet_volume),
                     whole_number(0, 100))  # fmt: skip
    return draft.changed({"voice.quiet_from": quiet[0], "voice.quiet_to": quiet[1], "voice.quiet_volume": soft})


def _heard(text: str) -> int | None:
    if text.casefold() in ("yes", "y"):
        return None
    if not text.isdecimal() or int(text) > 100:
        raise Refused("yes, or a volume from 0 to 100")
    return int(text)


def _hours(text: str) -> tuple[str, str] | None:
    if text.casefold() in ("none", "no", "never"):
        return None
    found = re.fullmatch(r"(\d?\d):(\d\d) *(?:-|–|to) *(\d?\d):(\d\d)", text)
    numbers = [int(word) for word in found.groups()] if found else [24]
    if max(numbers[::2]) > 23 or max(numbers[1::2], default=0) > 59:
        raise Refused("none, or two times of day: 22:00-07:00")
    return f"{numbers[0]:02}:{numbers[1]:02}", f"{numbers[2]:02}:{numbers[3]:02}"


def rules_step(draft: SettingsText) -> Run:
    """A preset, a file, or what is there; and the deck."""
    now: Any = draft.settings.rules
    own = not isinstance(now, str)
    choices = [Choice(name, preset.title) for name, preset in PRESETS.items()]
    if own:
        choices.append(Choice("kept", "the house rules that the settings have"))
    listed = choose("rules.preset", f"Which rules? Or a file of your own (*{SUFFIX}, see `referee rules example`)",
                    "kept" if own else now, choices)  # fmt: skip

    def check(text: str) -> str:
        if not text.endswith(SUFFIX):
            return str(listed.check(text))
        try:
            draft.changed({"rules": text})
        except UserError as bad:
            raise Refused(str(bad)) from None
        return text

    said = yield Ask(listed.id, listed.words, listed.default, check, listed.choices)
    draft = draft if said == "kept" else draft.changed({"rules": said})
    return (yield from _deck(draft))


ORDINARY: Final = "ordinary"


def _deck(draft: SettingsText) -> Run:
    """Which deck is played with, where unusual ones were learned."""
    learned, now = (yield Do("decks", {})), draft.settings.deck
    if not learned and now is None:
        return draft
    names = [*dict.fromkeys([*learned, *([now] if now else [])])]
    choices = [Choice(ORDINARY, "any usual deck"), *(Choice(name, "learned with referee enrol") for name in names)]
    deck = yield choose("rules.deck", "Which deck is played with?", now or ORDINARY, choices)
    return draft.changed({"deck": None if deck == ORDINARY else deck})


def check_step(draft: SettingsText) -> Run:
    """The doctor looks at everything."""
    while True:
        words, well = yield Do("doctor", {"text": draft.text}, "looking at every part")
        yield Tell(words)
        again = (Choice("retry", "I have mended something"), Choice("done", "go on with what there is"))
        if well or (yield choose("check.again", "Look again?", "done", again)) == "done":
            return draft


STEPS: Final = (
    Step("seats", "Seats", seats_step),
    Step("pins", "Wires", pins_step),
    Step("pads", "Slap roll-call", pads_step),
    Step("lights", "Lights", lights_step),
    Step("camera", "Camera", camera_step),
    Step("voice", "Voice", voice_step),
    Step("rules", "House rules", rules_step),
    Step("check", "First check", check_step),
)
