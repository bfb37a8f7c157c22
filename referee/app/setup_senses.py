"""Two steps of the walk: what sees, and what speaks."""

from __future__ import annotations

import re
from typing import Final

from referee.app.settings_checks import LANGUAGES
from referee.app.setup import Ask, Choice, Do, Refused, Run, Tell, choose, whole_number, yes_no
from referee.app.setup_draft import Draft

TONGUES: Final = {"en": "English", "es": "español", "de": "Deutsch", "fr": "français"}


# Camera


def camera_step(draft: Draft) -> Run:
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


def _size(draft: Draft) -> Run:
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


def _calibration(draft: Draft) -> Run:
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
            return Draft(text, draft.folder)
        default = "later"


# Voice


def voice_step(draft: Draft) -> Run:
    """The language, how loud, and when it is quiet."""
    voice = draft.settings.voice
    if not (yield yes_no("voice.enabled", "Shall the referee speak?", voice.enabled)):
        return draft.changed({"voice.enabled": False})
    language = yield choose("voice.language", "In which language?", voice.language,
                            [Choice(code, TONGUES[code]) for code in LANGUAGES])  # fmt: skip
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
