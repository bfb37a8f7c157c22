"""The wizard's step for the pads: each seat slaps or presses its own, and the one that responds is assigned to it.

This corrects swapped wires, and people need not know the name of a key. Called by `referee.setup.steps`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, cast

from hardware.pads.pad_place import parse_place
from hardware.pads.pinout import PAD_PINS
from referee.sentence import Sentence, joined
from referee.settings.file import SettingsText
from referee.setup.wizard import DeviceCall, Remark, Request, Run, choose, yes_no

Pad = int | str
"""A pin (BCM), or a pad's place (`hardware.pads.pad_place`)."""
_ON_KEYBOARDS: Final = ("key", "browser")
_PAD_MOVED: Final = "{name}'s pad is on {pin}, not {old}: put right."
_LIGHT_MOVED: Final = "{name}'s light is on {pin}, not {old}: put right."
_FEWEST_GHOSTS: Final = 3
"""Number of keys from which on a keyboard may miss some that are down together; it always distinguishes two."""
_P = TypeVar("_P", bound=Pad)


def pads_step(draft: SettingsText) -> Run:
    """Let each seat slap its pad or press its key, and assign the one that responds."""
    settings = draft.settings
    if not (
        yield yes_no("pads.roll_call", Sentence("Are the pads connected? Then every seat slaps its own, once"), True)
    ):
        return draft
    names, pins = [seat.name for seat in settings.seats], [seat.pad for seat in settings.seats]
    wired = [pin for seat in settings.seats if (pin := seat.pad_pin) is not None]
    lamps = {*(seat.light for seat in settings.seats), *settings.lights.table} if settings.lights.enabled else set()
    # A pad may also be on one of the wiring picture's lines, unless a light is there.
    listened = tuple(dict.fromkeys([*wired, *(pin for pin in PAD_PINS if pin not in lamps)]))
    told: dict[int, Pad] = {}
    for seat in range(1, len(names) + 1):
        pad = yield from hear_pad(names, seat, told, listened, active_high=settings.pads.active_high)
        if pad is not None:
            told[seat] = pad
    pads = assign_pins(pins, told, listened)
    same = Sentence("Every pad that answered is where the settings have it.") if told else ""
    silent = [name for seat, name in enumerate(names, start=1) if seat not in told]
    absent = Sentence("Silent: {names}.", names=", ".join(silent)) if silent else ""
    yield Remark(describe_moves("pad", names, pins, pads, same, absent))
    draft = draft.with_seats([{"pad": pin} for pin in pads])
    yield from press_together(draft)
    words = Sentence("Measure how each pad bounces and what its neighbours hear? Each seat slaps eight times more")
    if not told or not (yield yes_no("pads.measure", words, draft.settings.pads_measured is None)):
        return draft
    text, words = yield DeviceCall("measure", {"text": draft.text}, Sentence("measuring the pads"))
    yield Remark(words)
    return draft if text is None else SettingsText(text, draft.folder)


def hear_pad(
    names: Sequence[str], seat: int, told: Mapping[int, Pad], listened: Sequence[int], *, active_high: bool
) -> Generator[Request, Any, Pad | None]:
    """Let a seat slap until a pad answers that is no other seat's; return it, or `None` if people leave it.

    Args:
        names: of all seats.
        seat: the one that slaps.
        told: pads that answered before, by seat.
        listened: possible pins of a pad on the header.
        active_high: whether such a pad drives its line high.
    """
    name = names[seat - 1]
    while True:
        slap = {"seat": seat, "pins": tuple(listened), "active_high": active_high}
        pad = yield DeviceCall("slap", slap, Sentence("{name}: slap your pad or press your key now", name=name))
        if pad is not None and pad not in told.values():
            return cast(Pad, pad)
        words = Sentence("{name}'s pad did not answer.", name=name)
        if pad is not None:
            first = names[next(s for s, p in told.items() if p == pad) - 1]
            words = Sentence(
                "That was {name}'s pad ({pad}), which has answered already.", name=first, pad=_pad_words(pad)
            )
        yield Remark(words)
        again = {"retry": "", "silent": Sentence("leave it, and go on: see `referee calibrate pads`")}
        question = choose(f"pads.silent.{seat}", Sentence("Shall {name} slap again?", name=name), "silent", again)
        if (yield question) == "silent":
            return None


def press_together(draft: SettingsText) -> Generator[Request, Any, None]:
    """Let seats that share a keyboard hold their keys down together: many keyboards miss three or more."""
    sharing: dict[tuple[str, str], dict[str, str]] = {}
    for seat in draft.settings.seats:
        if (place := seat.pad_place) is not None and place.kind in _ON_KEYBOARDS:
            sharing.setdefault((place.kind, place.device), {})[str(place)] = seat.name
    for (_, device), seats in sharing.items():
        if len(seats) < _FEWEST_GHOSTS:
            continue
        words = Sentence("{names}: press your keys together, and hold", names=", ".join(seats.values()))
        heard = yield DeviceCall("hold_keys", {"places": tuple(seats), "text": draft.text}, words)
        lost = [name for place, name in seats.items() if place not in heard]
        keys = ", ".join(parse_place(place).which for place in seats)
        keyboard = device or Sentence("This keyboard")
        if lost:
            words = Sentence(
                "{keyboard} cannot hear these keys together: {keys}. Not heard: {names}. Choose keys that lie in other "
                "rows and columns (shift, ctrl and alt mostly go with all others), or a second keyboard.",
                keyboard=keyboard, keys=keys, names=", ".join(lost),
            )  # fmt: skip
            yield Remark(words)
        else:
            yield Remark(Sentence("{keyboard} hears these keys together: {keys}.", keyboard=keyboard, keys=keys))


def _pad_words(pad: Pad) -> str:
    return Sentence("pin {n}", n=pad) if isinstance(pad, int) else pad


def assign_pins(before: Sequence[_P], told: Mapping[int, _P], listened: Sequence[_P]) -> list[_P]:
    """Return each seat's pin or place: the one that responded; for a silent seat its old one, or a free one.

    Args:
        before: each seat's until now, seat 1 first.
        told: those that responded, by seat.
        listened: every possible line of a pad; at least as many as seats.
    """
    kept: dict[int, _P] = {
        seat: pin for seat, pin in enumerate(before, start=1) if seat not in told and pin not in told.values()
    }
    kept |= told
    # First try a line that another seat has left: the silent pad is most likely there.
    free = iter([pin for pin in dict.fromkeys((*before, *listened)) if pin not in kept.values()])
    seats = range(1, len(before) + 1)
    return [kept[seat] if seat in kept else next(free) for seat in seats]


def describe_moves(
    thing: Literal["pad", "light"],
    names: Sequence[str],
    before: Sequence[Pad],
    after: Sequence[Pad],
    same: str,
    absent: str,
) -> str:
    """Return the corrected pins, each in a sentence.

    ``same`` is the text if there were none, ``absent`` names what did not respond.
    """
    moved = _LIGHT_MOVED if thing == "light" else _PAD_MOVED
    told: list[str] = [
        Sentence(moved, name=name, pin=_pad_words(new), old=_pad_words(old))
        for name, old, new in zip(names, before, after, strict=True)
        if old != new
    ]
    return joined([part for part in (*(told or [same]), absent) if part])
