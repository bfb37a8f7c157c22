"""The `referee play` wizard: the few questions between a laptop on a table and the first card.

Steps like those of `referee.setup.steps`, for a table without soldered parts: players, pads, camera and its view,
rules, and one slap by each player. All else keeps the defaults of a new table.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hardware.camera.network import masked
from hardware.camera.spec import NETWORK
from hardware.pads.pinout import PAD_PINS
from referee.rules.house import read_house_rules
from referee.sentence import Sentence
from referee.settings.file import SettingsText
from referee.settings.model import FEWEST_SEATS, MOST_SEATS
from referee.setup.left_game import LeftGame, describe_table, left_game_step
from referee.setup.pads_step import Pad, hear_pad, pads_step, press_together
from referee.setup.rules_step import rules_step
from referee.setup.steps import check_names, lights_step, voice_step
from referee.setup.wizard import (
    BadAnswer,
    DeviceCall,
    Question,
    Remark,
    Request,
    Run,
    WizardStep,
    choose,
    whole_number,
    yes_no,
)
from referee.text.terminal_language import translate

USUAL_KEYS: Final = ("a", "l", "t", "b", "q", "p", "z", "m")
"""Keys that are far apart on a keyboard, in the order of their seats."""
_PHONE: Final = "phone"
_STREAM: Final = "stream"
_UNKNOWN: Final = "unknown"
_LONGEST_DELAY: Final = 5000
_CAMERA: Final = Sentence("The camera")


def people_step(draft: SettingsText) -> Run:
    """Ask who plays, with all names at once."""
    there = [seat.name for seat in draft.settings.seats]
    default = [translate("Player {n}", n=n) for n in range(1, len(there) + 1)] if draft.is_new else there
    words = Sentence("Who plays? Enter the names clockwise, as seen from above.")
    names = yield Question("seats.names", words, ", ".join(default), _parse_names, kind="names")
    return draft.changed({"lights.enabled": False}).with_seats([{"name": name} for name in names])


def _parse_names(text: str) -> list[str]:
    """Parse names with commas, or one on each line."""
    names: list[str] = []
    for name in filter(None, (part.strip() for part in text.split("\n" if "\n" in text else ","))):
        names.append(check_names(names)(name))
    if not FEWEST_SEATS <= len(names) <= MOST_SEATS:
        raise BadAnswer(Sentence("{low} to {high} players can play", low=FEWEST_SEATS, high=MOST_SEATS))
    return names


def hands_step(draft: SettingsText) -> Run:
    """Ask what each player slaps."""
    kinds: Mapping[str, str] = yield DeviceCall("pad_kinds", {}, Sentence("looking for phones, keys and pads"))
    names = [seat.name for seat in draft.settings.seats]
    choices = dict(kinds) | {"each": Sentence("Choose for each player by name")}
    kind = yield choose("hands.kind", Sentence("What do the players slap?"), next(iter(choices)), choices)
    picked = dict.fromkeys(range(len(names)), kind)
    if kind == "each":
        for n, name in enumerate(names):
            picked[n] = yield choose(
                f"hands.kind.{n + 1}", Sentence("What does {name} slap?", name=name), next(iter(kinds)), kinds
            )
    places: list[Pad] = []
    for n, name in enumerate(names):
        place: Pad = draft.settings.seats[n].pad
        if picked[n] == _PHONE:
            place = _PHONE
        elif picked[n] in ("key", "browser"):
            words, usual = Sentence("Which key is {name}'s?", name=name), USUAL_KEYS[n]
            place = f"{picked[n]}:{(yield Question(f'hands.key.{n + 1}', words, usual, _key(places)))}"
        elif picked[n] == "board":
            heard = yield from hear_pad(names, n + 1, dict(enumerate(places, 1)), PAD_PINS, active_high=False)
            place = place if heard is None else heard
        places.append(place)
    return draft.with_seats([{"pad": place} for place in places])


def _key(taken: Sequence[Pad]) -> Callable[[str], str]:
    """Return a check for a letter or digit that is not yet taken."""

    def check(text: str) -> str:
        key = text.casefold()
        if len(key) != 1 or not key.isalnum() or not key.isascii():
            raise BadAnswer(Sentence("one letter or digit, as it stands on an English keyboard"))
        if any(str(place).endswith(f":{key}") for place in taken):
            raise BadAnswer(Sentence("Another player has that key"))
        return key

    return check


def wires_step(draft: SettingsText) -> Run:
    """Set up wired parts, if any: the hand finds each pad, the blinking each light."""
    if all(seat.pad_pin is None for seat in draft.settings.seats):
        return draft
    draft = yield from pads_step(draft)
    lit = yield yes_no("pins.has_lights", Sentence("Are there lights?"), draft.settings.lights.enabled)
    draft = draft.changed({"lights.enabled": lit})
    return (yield from lights_step(draft)) if lit else draft


def look_step(draft: SettingsText) -> Run:
    """Choose a camera, check that it reads cards well, and ask who sits where in its picture."""
    while True:
        found = dict((yield DeviceCall("cameras", {}, Sentence("looking for cameras"))))
        kept = draft.settings.camera.source
        choices = found | {_STREAM: Sentence("a phone as camera or another one in the network, or a recording")}
        default = kept if kept in found else next(iter(choices))
        source = yield choose("camera.source", Sentence("Which camera looks down at the pile?"), default, choices)
        if source == _STREAM:
            words = Sentence(
                "The stream's address, as the phone's app shows it (http://… or rtsp://…), or a video file:"
            )
            kept = kept if kept not in ("picamera", *found) and not kept.startswith("usb:") else ""
            source = yield Question("camera.address", words, kept, _stream)
        values: dict[str, str | float | None] = {"camera.source": source, "camera.delay_ms": None}
        if source != "picamera":
            values |= {"camera.width": 1280, "camera.height": 720}
        if "://" in source:
            values["camera.delay_ms"] = yield from _ask_delay()
        draft = draft.changed(values)
        if not (yield from _try_camera(draft, source)):
            continue
        words = Sentence(
            "Lay some cards face up in the middle. Are their names right, and is the list of faults empty?"
        )
        choices = {"yes": Sentence("Yes, that is right"), "other": Sentence("Another camera")}
        while (seen := (yield choose("camera.live", words, "yes", choices))) == "yes":
            if (yield DeviceCall("has_looked", {})):
                break
            yield Remark(Sentence("This camera has shown no picture yet. Wait for one, or choose another camera."))
        if seen == "yes":
            break
        yield DeviceCall("look_away", {})
    seats = draft.settings.seats
    names = {str(n): seat.name for n, seat in enumerate(seats, start=1)}
    bottom = int((yield choose("camera.bottom", Sentence("Who sits at the bottom edge of the picture?"), "1", names)))
    return draft.with_seats([{"bearing": round((270 - 360 * (n - bottom) / len(seats)) % 360, 1)}
                             for n in range(1, len(seats) + 1)])  # fmt: skip


def _try_camera(draft: SettingsText, source: str) -> Generator[Request, Any, bool]:
    """Open the camera until it shows a picture; return false if people give it up."""
    while trouble := (
        yield DeviceCall("look", {"text": draft.text}, Sentence("waiting for the camera's first picture"))
    ):
        yield Remark(Sentence("No picture came: {why}", why=trouble))
        yield DeviceCall("look_away", {})
        choices = {"retry": Sentence("Try this camera again"), "other": Sentence("Another camera or address")}
        words = Sentence("{camera} shows no picture. What next?", camera=masked(source))
        if (yield choose("camera.failed", words, "retry", choices)) == "other":
            return False
    return True


def _ask_delay() -> Generator[Request, Any, float | None]:
    """Ask how late a network camera's pictures come; None: not known."""
    choices = {
        _UNKNOWN: Sentence(
            "I do not know\nEach card's instant is known to 0.3 s only: close slaps are dead heats more often."
        ),
        "known": Sentence("I have measured it\nThe page about seeing says how."),
    }
    words = Sentence("A camera in the network shows everything a little late. How late are its pictures?")
    if (yield choose("camera.delay", words, _UNKNOWN, choices)) == _UNKNOWN:
        return None
    words = Sentence("How late are they, in milliseconds?")
    check = whole_number(0, _LONGEST_DELAY)
    return float((yield Question("camera.delay_ms", words, "300", check)))


def _stream(text: str) -> str:
    """Check the address of a stream, or the path of an existing file or folder."""
    scheme, colon, rest = text.partition("://")
    if colon:
        if scheme not in NETWORK or not rest:
            raise BadAnswer(Sentence("an address begins with http://, https:// or rtsp://"))
        return text
    path = Path(text).expanduser()
    if not text or not path.exists():
        raise BadAnswer(Sentence("there is no such file; an address begins with http:// or rtsp://"))
    return str(path.resolve())


def pictures_step(draft: SettingsText) -> Run:
    """Ask, evening by evening, whether the pictures around each slap are kept."""
    days = yield DeviceCall("picture_days", {"text": draft.text})
    words = Sentence(
        "Keep the pictures of each slap, so that it can be replayed? They show the table with its cards and your "
        "hands, stay on this machine, and are removed after {days} days, unless you keep the game.",
        days=days,
    )
    keep = yield yes_no("pictures.keep", words, draft.settings.record.pictures)
    return draft.changed({"record.pictures": keep})


def slaps_step(draft: SettingsText) -> Run:
    """Wait until each player has slapped once."""
    names = [seat.name for seat in draft.settings.seats]
    while True:
        words = Sentence("Join with your phones; then each of you slaps once.")
        heard = yield DeviceCall("slaps", {"text": draft.text}, words)
        silent = [name for n, name in enumerate(names, start=1) if n not in heard]
        errors = ", ".join(f"{names[seat - 1]} ±{error:.0f} ms" for seat, error in sorted(heard.items()))
        if errors:
            yield Remark(
                Sentence(
                    "Largest error: {errors}. Hands that come closer together than this are a dead heat.", errors=errors
                )
            )
        if not silent:
            yield from press_together(draft)
            return draft
        yield Remark(Sentence("The referee heard no slap from {names}.", names=", ".join(silent)))
        again = {"retry": Sentence("all players slap once more"), "on": Sentence("play as it is")}
        if (yield choose("slaps.again", Sentence("Slap again?"), "retry", again)) == "on":
            return draft


def deal_step(draft: SettingsText) -> Run:
    """Ask who deals, and confirm the start; a broken-off game goes on without a deal."""
    left: LeftGame | None = yield DeviceCall("resumed_game", {"text": draft.text})
    if left is not None:
        yield from _warn_of_no_camera(draft)
        yield choose("deal.resume", describe_table(left), "resume", {"resume": Sentence("Go on: the cards lie there")})
        return draft
    names = {str(n): seat.name for n, seat in enumerate(draft.settings.seats, start=1)}
    words = Sentence("Who deals? The next one clockwise leads.")
    if read_house_rules(draft.settings.played_rules).word("S5") == "counter-clockwise":
        words = Sentence("Who deals? The next one counter-clockwise leads.")
    dealer = yield choose("deal.dealer", words, str(draft.settings.dealer), names)
    draft = draft.changed({"dealer": int(dealer)})
    yield from _warn_of_no_camera(draft)
    words = Sentence("Everything is ready. Deal all the cards, face down, and keep your hands off the pile.")
    yield choose("deal.begin", words, "begin", {"begin": Sentence("Begin: the referee watches from now on")})
    return draft


def _warn_of_no_camera(draft: SettingsText) -> Generator[Request, Any, None]:
    """Say what a game is without a camera, if the one of the settings is not plugged into this machine."""
    source = draft.settings.camera.source
    if source != "picamera" and not source.startswith("usb:"):
        return
    if source not in dict((yield DeviceCall("cameras", {}, Sentence("looking for cameras")))):
        yield Remark(
            Sentence(
                "No camera answers, so the referee will see no cards: it names the first hand and judges no slap. To "
                "play with one, go back to “{step}”.",
                step=_CAMERA,
            )
        )


EVENING: Final = (
    WizardStep("seats", Sentence("Who plays"), people_step),
    WizardStep("hands", Sentence("What you slap"), hands_step),
    WizardStep("camera", _CAMERA, look_step),
    WizardStep("rules", Sentence("House rules"), rules_step),
    WizardStep("left_game", Sentence("Last time"), left_game_step),
    WizardStep("pictures", Sentence("Pictures"), pictures_step),
    WizardStep("slaps", Sentence("A test slap"), slaps_step),
    WizardStep("deal", Sentence("Deal"), deal_step),
)
FIRST_START: Final = (
    *EVENING[:2],
    WizardStep("wires", Sentence("Wires"), wires_step),
    EVENING[2],
    WizardStep("voice", Sentence("Voice"), voice_step),
    *EVENING[3:],
)
"""Steps on an appliance, where there is no terminal for the other questions: they add wiring and loudspeaker."""
