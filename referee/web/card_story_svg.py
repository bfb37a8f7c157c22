"""The story of one reported card as a drawing: pictures, lanes over one time axis, and the reasons in words. Pure."""

from __future__ import annotations

import math
import textwrap
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from models.eye.classes import SURE_READING, UNREAD
from models.watch.reasons import Evidence, Look, Shown
from referee.errors import UserError
from referee.text.catalogue import Texts
from referee.text.ruling_lines import pretty
from referee.units import MS
from referee.vision.card_story import CardStory, read_as
from referee.vision.reason_lines import reason_lines
from referee.web.markup import PALETTES, Drawing, Line, Photo, Polygon, Polyline, Rect, Shape, Text, svg
from referee.web.photo_finish.finish_svg import NARROW, Axis, card_face

_MARGIN: Final = 16
_LEFT: Final = 128.0
"""Left end of the time axis."""
_RIGHT: Final = NARROW - 34.0
_SIZE: Final = 19
_SMALL: Final = 17
_GAP: Final = 10
_PHOTOS: Final = 5
"""Pictures side by side."""
_LANE: Final = 40
_CHART: Final = 84
"""Height of a chart of confidence."""
_RIVALS: Final = 2
"""Most names that are drawn beside the card's."""
_LETTERS: Final = 74
"""Letters in a line of reasons."""


def draw_story(story: CardStory, texts: Texts) -> Drawing:
    """Draw the story of one card, legible on a phone."""
    lines, sheet = list(reason_lines(story.evidence, texts)), _Sheet(story, texts)
    shapes = (Rect(0, 0, NARROW, sheet.height, "panel"), *sheet.lanes, *sheet.shapes)
    return Drawing(NARROW, round(sheet.height), shapes, lines[0], "\n".join(lines))


def story_svg(story: CardStory, texts: Texts) -> str:
    """Return the drawing of a card's story as a file's text."""
    return svg(draw_story(story, texts), PALETTES["light"]) + "\n"


def write_story(story: CardStory, folder: Path, texts: Texts) -> None:
    """Write the drawing of a card's story into a folder, under the card's id.

    Raises:
        UserError: it cannot be written.
    """
    file = folder / f"{story.card.id}.svg"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(story_svg(story, texts), encoding="utf-8")
    except OSError as error:
        raise UserError("{path} cannot be written: {why}", path=file, why=error.strerror) from None


class _Sheet:
    """The drawing, from top to bottom; ``height`` is how far it has come, and ``lanes`` lie under ``shapes``."""

    def __init__(self, story: CardStory, texts: Texts) -> None:
        self._story, self._texts = story, texts
        self._axis = Axis(story.start, story.end, _LEFT, _RIGHT)
        self.lanes: list[Shape] = []
        self.shapes: list[Shape] = []
        rivals: dict[str, list[Evidence]] = {}
        for rival in story.rivals:
            rivals.setdefault(read_as(rival), []).append(rival)
        self._rivals = dict(sorted(rivals.items(), key=lambda one: -sum(len(r.looks) for r in one[1]))[:_RIVALS])
        self.height = 56.0
        self.shapes.append(Text(_MARGIN, 36, next(reason_lines(story.evidence, texts)), "ink", 25, weight=700))
        self._draw_photos()
        top = self.height
        self._draw_table()
        self._draw_reveal()
        self._draw_readings(story.card.card, [story.evidence])
        for name, dropped in self._rivals.items():
            self._draw_readings(name, dropped)
        self._draw_wait()
        self._draw_marks(top)
        self._draw_axis()
        self._write_reasons()

    def _photo_caption(self, t: int) -> str:
        """Return the name that the eye read in a frame, or whether the frame shows a face."""
        looks = [look.name for look in self._story.evidence.looks if look.t == t]
        shown = [frame.shown for frame in self._story.evidence.frames if frame.t == t]
        return _name(looks[0]) if looks else self._texts(f"watch.drawn.{_face(shown[0])}") if shown else ""

    def _draw_photos(self) -> None:
        """Draw the pictures side by side, and from each a line to its instant on the axis."""
        photos = self._story.photos
        side = (NARROW - 2 * _MARGIN - (_PHOTOS - 1) * _GAP) / _PHOTOS
        left, top = (NARROW - len(photos) * (side + _GAP) + _GAP) / 2, self.height
        for place, photo in enumerate(photos):
            x = left + place * (side + _GAP)
            middle, foot = x + side / 2, top + side + 30
            self.shapes.append(Photo(x, top, side, "data:image/webp;base64," + b64encode(photo.webp).decode()))
            for look, corners in photo.outlines:
                inside = [(min(max(u, 0), 1), min(max(v, 0), 1)) for u, v in (*corners, corners[0])]
                outline = tuple((x + u * side, top + v * side) for u, v in inside)
                self.shapes.append(Polyline(outline, _role(look), 4))
            self.shapes.append(Text(middle, top + side + 22, self._photo_caption(photo.t), "ink", _SIZE, "middle"))
            self.shapes.append(
                Polyline(((middle, foot), (middle, foot + 8), (self._axis.x(photo.t), foot + 44)), "rule2", 1.5)
            )
        self.height = top + side + 74

    def _draw_lane(self, height: float) -> float:
        """Draw an empty lane below the last one, and return its upper edge."""
        top = self.height + 8
        self.lanes.append(Rect(_LEFT, top, _RIGHT - _LEFT, height, "lane"))
        self.height = top + height
        return top

    def _draw_named_lane(self, key: str) -> float:
        """Draw an empty lane with its name, and return its middle."""
        middle = self._draw_lane(_LANE) + _LANE / 2
        self.shapes.append(Text(_MARGIN, middle + 7, self._texts(f"watch.drawn.{key}"), "ink", _SIZE, weight=700))
        return middle

    def _draw_table(self) -> None:
        """Draw when a hand was over the table or something moved, and from where the card's arm came."""
        y = self._draw_named_lane("table")
        for span in self._story.states:
            if span.state == "quiet":
                continue
            left, right = self._axis.inside(span.start), self._axis.inside(span.end)
            role, alpha = {"hand": ("warn", 0.35), "moving": ("soft", 0.2)}.get(span.state, ("ink", 0.5))
            self.lanes.append(Rect(left, y - _LANE / 2, right - left, _LANE, role, alpha))
            words = self._texts(f"watch.drawn.{span.state}")
            if len(words) * _SMALL * 0.6 < right - left:
                self.shapes.append(Text(left + 8, y + 6, words, "ink", _SMALL))
        evidence = self._story.evidence
        if evidence.arm is not None and evidence.bearing is not None:
            self.shapes += _arrow(self._axis.inside(evidence.arm), y, evidence.bearing)

    def _draw_reveal(self) -> None:
        """Draw the span of the reveal, the face in each of its frames, and the truth where it is known."""
        card, y = self._story.card, self._draw_named_lane("face")
        low, high = (self._axis.inside(card.t + side * card.t_error) for side in (-1, 1))
        self.lanes.append(Rect(low, y - _LANE / 2, high - low, _LANE, "accent", 0.3))
        for frame in self._story.evidence.frames:
            self.shapes += _frame_mark(self._axis.inside(frame.t), y, _face(frame.shown))
        words = self._texts.measured(card.t, card.t_error, unit="s")
        self.shapes.append(Text(high + 16, y + 7, words, "accent", _SIZE, weight=700))
        if self._story.truth is not None:
            x = self._axis.inside(self._story.truth)
            self.shapes.append(Text(low - 14, y + 7, self._texts("watch.drawn.truth"), "finish", _SIZE, "end", 700))
            self.shapes.append(Line(x, y - _LANE / 2, x, y + _LANE / 2, "finish", 3))
            self.shapes.append(Polygon(((x - 8, y), (x, y - 10), (x + 8, y), (x, y + 10)), "finish"))

    def _draw_readings(self, name: str, candidates: Sequence[Evidence]) -> None:
        """Draw each reading of a card by its confidence, above or below the bound, and where it was dropped."""
        top = self._draw_lane(_CHART)

        def at(confidence: float) -> float:
            return top + _CHART - 10 - confidence * (_CHART - 24)

        bound, number = at(SURE_READING), self._texts.number
        self.shapes += card_face(name, _MARGIN + 6, top + 14, 38)
        self.shapes.append(Text(_RIGHT - 6, bound - 5, self._texts("watch.drawn.sure"), "soft", _SMALL - 2, "end"))
        self.shapes.append(Line(_LEFT, bound, _RIGHT, bound, "soft", 1.5, 6))
        for confidence, words in ((SURE_READING, number(SURE_READING, 1)), (0.0, "0")):
            self.shapes.append(Text(_LEFT - 6, at(confidence) + 6, words, "soft", _SMALL, "end"))
        free = 0.0
        for evidence in candidates:
            looks = evidence.looks or (Look(evidence.t, name, evidence.confidence, "beside", at_rest=False),)
            points = [(self._axis.inside(look.t), at(look.confidence)) for look in looks]
            self.shapes.append(Polyline(tuple(points), "rule2", 2))
            for look, (x, y) in zip(looks, points, strict=True):
                self.shapes += _dot(x, y, look)
                words = f"{_name(look.name)} {number(look.confidence, 2)}"
                if x - len(words) * 4.5 > free:
                    below = look.confidence > 0.4
                    self.shapes.append(Text(x, y + 28 if below else y - 14, words, "ink", _SMALL, "middle"))
                    free = x + len(words) * 4.5
            if evidence.observation is None:
                self._draw_drop(evidence, points[-1], top + _CHART / 2)

    def _draw_drop(self, evidence: Evidence, last: tuple[float, float], y: float) -> None:
        """Draw where a candidate was dropped; at the edge, if that was later."""
        x = self._axis.inside(evidence.t)
        if evidence.t > self._story.end:
            words = f"{self._texts.number(evidence.t / 1e9, 1)} s"
            self.shapes.append(Text(x - 4, y + 34, words, "bad", _SMALL, "end"))
            x -= 16
        if x > last[0] + 12:
            self.shapes.append(Line(*last, x, last[1], "rule2", 2, 4))
        for sign in (1, -1):
            self.shapes.append(Line(x - 9, last[1] - 9 * sign, x + 9, last[1] + 9 * sign, "bad", 4))

    def _draw_wait(self) -> None:
        """Draw the time whose slaps could not be ruled on before the card was reported."""
        y = self._draw_named_lane("wait")
        since, t = self._story.promised, self._story.evidence.t
        left, right = self._axis.inside(since), self._axis.inside(t)
        self.lanes.append(Rect(left, y - _LANE / 2, right - left, _LANE, "soft", 0.2))
        words = f"{self._texts.number((t - since) / 1e9, 2)} s"
        self.shapes.append(Text((left + right) / 2, y + 7, words, "ink", _SIZE, "middle"))
        self.shapes.append(Text(right + 12, y + 7, self._texts("watch.drawn.told"), "good", _SIZE, weight=700))

    def _draw_marks(self, top: float) -> None:
        """Draw the span and the report through all lanes."""
        card, told = self._story.card, self._axis.inside(self._story.evidence.t)
        low, high = (self._axis.inside(card.t + side * card.t_error) for side in (-1, 1))
        self.lanes.append(Rect(low, top, high - low, self.height - top, "accent", 0.12))
        self.lanes.append(Line(told, top, told, self.height, "good", 3))

    def _draw_axis(self) -> None:
        ticks, digits = self._axis.ticks(5)
        y = self.height + 8
        self.shapes.append(Line(_LEFT, y, _RIGHT, y, "rule2", 1.5))
        for t in ticks:
            x = self._axis.x(t)
            words = self._texts.number(t / 1e9, 1 if t % (100 * MS) == 0 else 2 + digits)
            self.shapes.append(Line(x, y, x, y + 7, "rule2", 1.5))
            self.shapes.append(Text(x, y + 26, f"{words} s", "soft", _SMALL, "middle"))
        self.height = y + 34

    def _write_reasons(self) -> None:
        """Write why the card was reported, and why each rival was not."""
        texts, told = self._texts, self._story.evidence
        lines = [(_name(told.name), "good", "why", told.reason)]
        if told.naming is not None:
            lines.append(("", "good", "name", told.naming))
        for name, rivals in self._rivals.items():
            reasons = dict.fromkeys(rival.reason for rival in rivals)
            lines += [(_name(name), "bad", "why", reason) for reason in reasons]
        for name, role, key, reason in lines:
            words = texts(f"watch.{key}", reason=texts(f"watch.reason.{reason}"))
            for place, line in enumerate(textwrap.wrap(words, _LETTERS)):
                self.height += 25
                self.shapes.append(Text(_MARGIN + 50, self.height, line, "ink", 18))
                if not place:
                    self.shapes.append(Text(_MARGIN, self.height, name, role, _SIZE, weight=700))
        self.height += 18


def _name(name: str) -> str:
    return "?" if name == UNREAD else pretty(name)


def _role(look: Look) -> str:
    return "good" if look.confidence >= SURE_READING else "warn"


def _face(shown: Shown) -> str:
    """Return whether a frame shows the face: ``none``, ``perhaps`` or ``seen``."""
    if shown == Shown.NONE:
        return "none"
    return "seen" if shown in (Shown.READ, Shown.ALIKE, Shown.PAPER) else "perhaps"


def _frame_mark(x: float, y: float, face: str) -> Iterator[Shape]:
    """Yield a small card: empty, half or whole."""
    yield Rect(x - 8, y - 12, 16, 24, "ink", radius=3)
    if face != "seen":
        yield Rect(x - 6, y - 10, 12, 20, "panel", radius=2)
    if face == "perhaps":
        yield Polygon(((x - 6, y + 10), (x + 6, y + 10), (x + 6, y - 10)), "ink", 0.6)


def _dot(x: float, y: float, look: Look) -> Iterator[Shape]:
    """Yield a disc for a sure reading, else a ring."""
    yield Rect(x - 8, y - 8, 16, 16, _role(look), radius=8)
    if look.confidence < SURE_READING:
        yield Rect(x - 5, y - 5, 10, 10, "panel", radius=5)


def _arrow(x: float, y: float, bearing: float) -> Iterator[Shape]:
    """Yield an arrow in the direction in which an arm reached that came from a bearing (degrees)."""
    u, v = -math.cos(math.radians(bearing)), math.sin(math.radians(bearing))
    tip = (x + 13 * u, y + 13 * v)
    yield Line(x - 13 * u, y - 13 * v, x + 5 * u, y + 5 * v, "ink", 5)
    yield Polygon((tip, (x + 2 * u - 8 * v, y + 2 * v + 8 * u), (x + 2 * u + 8 * v, y + 2 * v - 8 * u)), "ink")
