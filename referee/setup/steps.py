"""Two steps of the walk that put swapped wires right: every seat slaps its pad, and every light blinks."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from hardware.gpio import PAD_PINS
from referee.app.setup import Ask, Check, Choice, Do, Request, Run, Tell, choose, yes_no
from referee.app.setup_draft import Draft

COLOURS: Final = ("red", "green", "blue")


def pads_step(draft: Draft) -> Run:
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
    draft = draft.seated([{"pad": pin} for pin in pads])
    return (yield from _measured(draft)) if told else draft


def _measured(draft: Draft) -> Run:
    """How each pad bounces, and what its neighbours hear of it."""
    words = "Measure how each pad bounces and what its neighbours hear? Each seat slaps eight times more"
    if not (yield yes_no("pads.measure", words, draft.settings.pads_measured is None)):
        return draft
    text, told = yield Do("measure", {"text": draft.text}, "measuring the pads")
    yield Tell(told)
    return draft if text is None else Draft(text, draft.folder)


def _listened(draft: Draft) -> tuple[int, ...]:
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


def lights_step(draft: Draft) -> Run:
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
    draft = draft.changed({"lights.enabled": False}).seated([{"light": pin} for pin in lamps])
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


def _table_light(draft: Draft) -> Generator[Request, Any, list[int]]:
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
