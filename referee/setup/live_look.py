"""What a camera sees now, with the cards that are read drawn in, and in words what to mend: for whoever sets it up.

A thread looks as often as it can; whoever shows the picture asks for the newest. Used by the walk in a browser.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hardware.ports import Camera
from models.eye.annotate import draw_readings
from models.eye.classes import UNREAD
from models.eye.geometry import height_of
from models.eye.grey import is_grey
from models.table_view.edges import spreads
from models.table_view.light import measure_light
from referee.sentence import Sentence, words_of
from referee.setup.calibration.report import COLOUR_CAMERA, NO_COLOUR, Item, grade_brightness, grade_edges, grade_size
from referee.text.ruling_lines import pretty

if TYPE_CHECKING:
    from models.eye.eye import CardSeen
    from models.watch.gaze import CardEye

_LEANING: Final = 1.07
"""By so much opposite sides of a card, or its own shape, are off in the median where the camera leans by 30°."""
_SHAPES: Final = (88.9 / 63.5, 89.0 / 57.0)
"""Height by width of poker's and of bridge's cards."""
_SIDE: Final = 960
"""Of the picture that is shown, px."""
_WAIT: Final = 0.2
"""Seconds between two looks, so that the machine can do something else."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the table."""

    jpeg: bytes
    """The picture as it is shown; empty where there is none."""
    cards: tuple[str, ...]
    """What was read, surest first."""
    items: tuple[Item, ...]
    """What is fine and what to mend."""
    trouble: str = ""
    """Why there is no picture."""


def judge_picture(image: Any, seen: Sequence[CardSeen]) -> list[Item]:
    """What is to be said of a picture (H x W x 3) and the cards that were read in it."""
    import cv2

    if not seen:
        return [Item("cards", "poor", Sentence("no card is seen"),
                     Sentence("lay some cards face up in the middle, one beside the other"))]  # fmt: skip
    quads = [np.asarray(one.corners, np.float64) for one in seen]
    names = [one.card for one in seen if one.card != UNREAD]
    unread = len(seen) - len(names)
    listed = ", ".join(map(pretty, names))
    read = Item("cards", "fine", Sentence("read: {listed}", listed=listed))
    if unread:
        words = Sentence("read: {listed}; {number} not read", listed=listed, number=unread)
        if not names:
            words = Sentence("none of the cards can be read")
        todo = Sentence("see that the whole card is seen, flat, and without shine")
        read = Item("cards", "acceptable", words, todo)
    heights = [height_of(np.asarray(quad, np.float32)) for quad in quads]
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    items = [read, grade_size(float(np.median(heights)), min(heights), max(heights)),
             grade_brightness(measure_light(image, quads))]  # fmt: skip
    sides = [(quad[k], quad[(k + 1) % 4]) for quad in quads for k in range(4)]
    widths = spreads(grey, sides, max(6.0, min(heights) / 12))
    if len(widths):
        items.append(grade_edges(float(np.median(widths)), min(heights)))
    lean = float(np.median([_leaning(quad) for quad in quads]))
    if is_grey(image):
        items.append(Item("colours", "poor", NO_COLOUR, COLOUR_CAMERA))
    if lean > _LEANING:
        items.append(Item("tilt", "acceptable", Sentence("the camera leans: cards look like wedges, or short"),
                          Sentence("hang it more nearly over the middle, and let it look straight down")))  # fmt: skip
    return items


def _leaning(quad: Any) -> float:
    """By how much a card's outline is off a card's, as a ratio of lengths; 1 seen from straight above."""
    a, b, c, d = (float(np.hypot(*(quad[k] - quad[(k + 1) % 4]))) for k in range(4))
    longs, shorts = sorted(((a, c), (b, d)), key=sum, reverse=True)
    wedge = max(max(pair) / max(min(pair), 1e-6) for pair in (longs, shorts))
    shape = sum(longs) / max(sum(shorts), 1e-6)
    low, high = _SHAPES
    return max(wedge, low / shape, shape / high)


class LiveLook:
    """A camera that is being looked through, until it is closed."""

    def __init__(self, open_camera: Callable[[], Camera], load_eye: Callable[[], CardEye]) -> None:
        """Begin to look; both are called on the thread that looks, and may raise what they raise."""
        self._open, self._load = open_camera, load_eye
        self._over = threading.Event()
        self._newest = Look(b"", (), (), Sentence("the camera is being opened"))
        self._thread = threading.Thread(target=self._watch, name="live look", daemon=True)
        self._thread.start()

    @property
    def newest(self) -> Look:
        """The newest look."""
        return self._newest

    def close(self) -> None:
        """Look no more, and let go of the camera."""
        self._over.set()
        self._thread.join(10.0)

    def _watch(self) -> None:
        try:
            eye, camera = self._load(), self._open()
        except Exception as bad:  # whatever a camera's library throws: the walk goes on
            self._newest = Look(b"", (), (), words_of(bad))
            return
        try:
            for frame in camera.frames():
                if self._over.is_set():
                    return
                self._newest = look_at(frame.image, eye)
                self._over.wait(_WAIT)
            self._newest = Look(self._newest.jpeg, (), (), Sentence("the recording is over"))
        except Exception as bad:
            self._newest = Look(b"", (), (), words_of(bad) or type(bad).__name__)
        finally:
            camera.close()


def look_at(image: Any, eye: CardEye) -> Look:
    """One look at a picture (H x W x 3)."""
    import cv2

    seen = eye.recognise(image)
    done, jpeg = cv2.imencode(".jpg", draw_readings(image, seen, _SIDE), [cv2.IMWRITE_JPEG_QUALITY, 80])
    return Look(jpeg.tobytes() if done else b"", tuple(one.card for one in seen), tuple(judge_picture(image, seen)))
