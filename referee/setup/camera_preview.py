"""The camera's current picture with the cards that were read, and its faults in words, for setting up the camera.

A thread looks as often as it can; the viewer asks for the newest look. Used by the wizard in a browser.
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
from referee.setup.calibration.report import COLOUR_CAMERA, NO_COLOUR, grade_brightness, grade_edges, grade_size
from referee.setup.check import Check
from referee.text.ruling_lines import pretty

if TYPE_CHECKING:
    from models.eye.eye import CardSeen
    from models.watch.gaze import CardEye

_LEANING: Final = 1.07
"""Median ratio by which opposite sides of a card, or its shape, deviate when the camera tilts by 30°."""
_SHAPES: Final = (88.9 / 63.5, 89.0 / 57.0)
"""Height by width of poker and bridge cards."""
_SIDE: Final = 960
"""Width of the displayed picture, px."""
_WAIT: Final = 0.2
"""Seconds between two pictures, to leave time for other work."""


@dataclass(frozen=True, slots=True)
class PreviewFrame:
    """One picture of the table, with what was read in it."""

    jpeg: bytes
    """The displayed picture; empty if there is none."""
    cards: tuple[str, ...]
    """The cards read, surest first."""
    items: tuple[Check, ...]
    """Grades and remedies."""
    trouble: str = ""
    """Why there is no picture."""


def judge_picture(image: Any, seen: Sequence[CardSeen]) -> list[Check]:
    """Grade a picture (H x W x 3) and the cards read in it."""
    import cv2

    if not seen:
        return [Check("cards", "poor", Sentence("no card is seen"),
                     Sentence("lay some cards face up in the middle, one beside the other"))]  # fmt: skip
    quads = [np.asarray(card.corners, np.float64) for card in seen]
    names = [card.card for card in seen if card.card != UNREAD]
    unread = len(seen) - len(names)
    listed = ", ".join(map(pretty, names))
    read = Check("cards", "fine", Sentence("read: {listed}", listed=listed))
    if unread:
        words = Sentence("read: {listed}; {number} not read", listed=listed, number=unread)
        if not names:
            words = Sentence("none of the cards can be read")
        todo = Sentence("see that the whole card is seen, flat, and without shine")
        read = Check("cards", "acceptable", words, todo)
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
        items.append(Check("colours", "poor", NO_COLOUR, COLOUR_CAMERA))
    if lean > _LEANING:
        items.append(Check("tilt", "acceptable", Sentence("the camera leans: cards look like wedges, or short"),
                          Sentence("hang it more nearly over the middle, and let it look straight down")))  # fmt: skip
    return items


def _leaning(quad: Any) -> float:
    """Return the deviation of a card's outline from a card's shape, as a ratio of lengths; 1 from straight above."""
    a, b, c, d = (float(np.hypot(*(quad[k] - quad[(k + 1) % 4]))) for k in range(4))
    longs, shorts = sorted(((a, c), (b, d)), key=sum, reverse=True)
    wedge = max(max(pair) / max(min(pair), 1e-6) for pair in (longs, shorts))
    shape = sum(longs) / max(sum(shorts), 1e-6)
    low, high = _SHAPES
    return max(wedge, low / shape, shape / high)


class CameraPreview:
    """A camera in use, until it is closed."""

    def __init__(self, open_camera: Callable[[], Camera], load_eye: Callable[[], CardEye]) -> None:
        """Begin to look; both callbacks run on the looking thread, and may raise."""
        self._open, self._load = open_camera, load_eye
        self._over = threading.Event()
        self.has_settled = threading.Event()
        """Set once there is a picture, or once it is known that none will come."""
        self._newest = PreviewFrame(b"", (), (), Sentence("the camera is being opened"))
        self._thread = threading.Thread(target=self._watch, name="live look", daemon=True)
        self._thread.start()

    @property
    def newest(self) -> PreviewFrame:
        """The newest look."""
        return self._newest

    def close(self) -> None:
        """Stop, and close the camera."""
        self._over.set()
        self._thread.join(10.0)

    def _watch(self) -> None:
        try:
            eye, camera = self._load(), self._open()
        except Exception as error:  # whatever a camera's library raises: the wizard goes on
            self._newest = PreviewFrame(b"", (), (), words_of(error))
            self.has_settled.set()
            return
        try:
            for frame in camera.frames():
                if self._over.is_set():
                    return
                self._newest = make_preview_frame(frame.image, eye)
                self.has_settled.set()
                self._over.wait(_WAIT)
            self._newest = PreviewFrame(self._newest.jpeg, (), (), Sentence("the recording is over"))
        except Exception as error:
            self._newest = PreviewFrame(b"", (), (), words_of(error) or type(error).__name__)
        finally:
            self.has_settled.set()
            camera.close()


def make_preview_frame(image: Any, eye: CardEye) -> PreviewFrame:
    """Read the cards in a picture (H x W x 3) and judge it."""
    import cv2

    seen = eye.recognise(image)
    done, jpeg = cv2.imencode(".jpg", draw_readings(image, seen, _SIDE), [cv2.IMWRITE_JPEG_QUALITY, 80])
    cards = tuple(card.card for card in seen)
    return PreviewFrame(jpeg.tobytes() if done else b"", cards, tuple(judge_picture(image, seen)))
