"""The wizard's step for the camera: choice of camera, picture size, table, mains, and speed of the eye."""

from __future__ import annotations

from typing import Final

from models.table_view.mains import steady_rate
from referee.sentence import Sentence
from referee.settings.file import SettingsText
from referee.setup.wizard import DeviceCall, Remark, Run, choose, yes_no

_SIZES: Final = {
    "picamera": {
        "1536x864": Sentence("Camera Module 3: fast; sees 51×28 cm from a height of 60 cm"),
        "2304x1296": Sentence("Camera Module 3: 1.5 times as wide, slower to read"),
        "1456x1088": "Global Shutter",
    },
    "usb": {"1280x720": "", "1920x1080": Sentence("finer, slower to read")},
}
"""Picture sizes by kind of camera, the usual one first."""
_LATER: Final = {"retry": "", "later": Sentence("go on without")}


def camera_step(draft: SettingsText) -> Run:
    """Choose the camera, check its picture, and find the table in it."""
    while not (found := dict((yield DeviceCall("cameras", {}, Sentence("looking for cameras"))))):
        yield Remark(
            Sentence(
                "No camera answers. The Pi's: is its cable in, blue side to the USB sockets? Another: is it plugged in?"
            )
        )
        if (yield choose("camera.none", Sentence("Look again?"), "later", _LATER)) == "later":
            return draft
    source = next(iter(found))
    if len(found) > 1:
        kept = draft.settings.camera.source
        source = yield choose("camera.source", Sentence("Which camera?"), kept if kept in found else source, found)
    else:
        yield Remark(Sentence("The camera is {camera}.", camera=found[source]))
    sizes, camera = dict(_SIZES["picamera" if source == "picamera" else "usb"]), draft.settings.camera
    now = f"{camera.width}x{camera.height}"
    if not any(now in usual for usual in _SIZES.values()):
        sizes[now] = Sentence("as the settings have it")
    # With a larger picture the camera may hang lower.
    words = Sentence("How large is its picture (docs/build.md says what it sees from which height)?")
    default = now if now in sizes else next(iter(sizes))
    width, height = (yield choose("camera.size", words, default, sizes)).split("x")
    draft = draft.changed({"camera.source": source, "camera.width": int(width), "camera.height": int(height)})
    seen = False
    while not seen:
        text, words = yield DeviceCall(
            "picture", {"text": draft.text}, Sentence("taking a picture: keep hands off the table")
        )
        yield Remark(words)
        if text is not None:
            draft = SettingsText(text, draft.folder)
            words = Sentence("Does the picture show the whole table, sharp and upright over it?")
            seen = (
                yield choose("camera.seen", words, "yes", {"yes": "", "retry": Sentence("another picture")})
            ) == "yes"
        elif (yield choose("camera.failed", Sentence("Try again?"), "later", _LATER)) == "later":
            return draft
    draft = yield from _calibrate(draft)
    draft = yield from _ask_mains(draft)
    draft = yield from _measure_eye(draft)
    return (yield from _look_at_bare_table(draft))


def _calibrate(draft: SettingsText) -> Run:
    default = "sheet" if draft.settings.calibration is None else "later"
    while True:
        by = yield choose(
            "camera.calibrate", Sentence("Find the table in the picture now (referee calibrate)?"), default,
            {"sheet": Sentence("the printed sheet lies on the table: referee calibrate --sheet sheet.pdf"),
             "cards": Sentence("four cards lie in the corners of the playing area"),
             "later": Sentence("not now")},
        )  # fmt: skip
        if by == "later":
            return draft
        calibration = {"text": draft.text, "by": by}
        text, words = yield DeviceCall("calibrate", calibration, Sentence("looking at the table: keep hands off it"))
        yield Remark(words)
        if text is not None:
            return SettingsText(text, draft.folder)
        default = "later"


def _ask_mains(draft: SettingsText) -> Run:
    """Ask for the mains frequency if no flicker revealed it: lamps may be lit later."""
    if draft.settings.camera.mains_hz is not None:
        return draft
    told = yield choose(
        "camera.mains", Sentence("Which mains do the lamps hang on?"), "unknown",
        {"50": Sentence("Hz: Europe, Africa, most of Asia and South America, Australia"),
         "60": Sentence("Hz: North America, Brazil, Korea, Taiwan, western Japan, the Philippines"), "unknown": ""},
    )  # fmt: skip
    if told == "unknown":
        return draft
    return draft.changed({"camera.mains_hz": int(told), "camera.fps": steady_rate(int(told))})


def _measure_eye(draft: SettingsText) -> Run:
    """Find the best number of threads for the eye, and measure how many cards a second it then follows."""
    text, words = yield DeviceCall(
        "eye", {"text": draft.text}, Sentence("measuring how many cards a second the eye follows")
    )
    yield Remark(words)
    return draft if text is None else SettingsText(text, draft.folder)


def _look_at_bare_table(draft: SettingsText) -> Run:
    """Photograph a cloth with printed faces, as for blackjack, so that they do not count as cards."""
    words = Sentence(
        "Are faces of cards printed on the table's cloth? Then take every card and the sheet off it, and answer yes."
    )
    while (yield yes_no("camera.bare", words, default=False)):
        text, told = yield DeviceCall(
            "bare", {"text": draft.text}, Sentence("looking at the bare table: keep hands off it")
        )
        yield Remark(told)
        if text is not None:
            return SettingsText(text, draft.folder)
        words = Sentence("Look at the bare table again?")
    return draft
