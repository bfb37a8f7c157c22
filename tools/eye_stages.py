"""The result of each stage of vision for one picture; part of `make pictures`.

`docs/vision-stages.jpg` is the still eye's. Its picture shows a heap whose top can be read and one topped by a joker
without an index; the crops of the second and third row are of the first heap's top. `docs/vision-surfaces.jpg`
shows the surface network's output for a path-traced hand that lays a card. `docs/vision-card.svg` tells how the
watcher came to report one card of a hard situation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import cv2
import numpy as np

from hardware.simulated.pictures.canvas import Bytes
from models.eye import card_join
from models.eye.eye import Eye
from models.eye.finder import STRIDE
from models.eye.geometry import Points, axes_of, cut_card, cut_patch, pyramid
from models.eye.networks import WEIGHTS, open_networks
from models.watch.motion import Motion
from models.watch.surfaces import Surface
from referee.engine.observations import Card
from referee.text.catalogue import texts
from referee.units import SECOND
from referee.vision.card_story import CardStory, StoryTeller
from referee.vision.videos import new_watcher, seat_bearings
from referee.web.card_story_svg import story_svg
from tests.models.evaluation.damaged import two_heaps
from tests.support.situations import situation
from tests.support.spoilt import SpoiltTable
from tools.second_world.judge import SequenceTruth

_ROOT: Final = Path(__file__).parents[1]
TARGET: Final = _ROOT / "docs" / "vision-stages.jpg"
SURFACES: Final = _ROOT / "docs" / "vision-surfaces.jpg"
TOLD_CARD: Final = _ROOT / "docs" / "vision-card.svg"
CARD_STORY: Final = ("a sleeve's shadow", 1)
"""The situation that is drawn, and its seed ..."""
_CARD: Final = "c5"
"""... and the id of the card."""
SEQUENCE: Final = _ROOT / "tests" / "tools" / "sequences" / "short-window"
_AT: Final = 1.62
"""Instant of the sequence that is shown, s."""
SEED: Final = (11, 3)
_INK, _GREEN, _ORANGE, _PAPER = (40, 36, 36), (60, 170, 40), (0, 120, 240), (250, 250, 250)
_WIDE, _TITLE = 560, 34


def heat_map(image: Bytes) -> Bytes:
    """Return the finder's heat over the picture, which is small enough to be searched at full size."""
    rows, columns = (side // 16 * 16 for side in image.shape[:2])
    finder, _, _ = open_networks(WEIGHTS)
    logits = finder(np.ascontiguousarray(image[None, :rows, :columns]))[0, 0]
    heat = (255 / (1 + np.exp(-logits))).astype(np.uint8)
    large = cv2.resize(heat, (columns, rows), interpolation=cv2.INTER_CUBIC)
    assert heat.shape == (rows // STRIDE, columns // STRIDE)
    out = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR) // 2 + 60
    glow = cv2.applyColorMap(large, cv2.COLORMAP_HOT)
    out[:rows, :columns] = np.where(large[..., None] > 40, glow, out[:rows, :columns])
    return np.asarray(out, np.uint8)


def outlined(image: Bytes, quad: Points, colour: tuple[int, int, int], label: str) -> None:
    """Draw a card's outline and a word at its upper left corner, in place."""
    cv2.polylines(image, [np.rint(quad).astype(np.int32)], True, colour, 3, cv2.LINE_AA)
    x, y = np.rint(quad.min(0)).astype(int)
    cv2.putText(image, label, (int(x), int(y) - 8), cv2.FONT_HERSHEY_DUPLEX, 0.6, _INK, 4, cv2.LINE_AA)
    cv2.putText(image, label, (int(x), int(y) - 8), cv2.FONT_HERSHEY_DUPLEX, 0.6, _PAPER, 1, cv2.LINE_AA)


def panel(title: str, parts: list[tuple[Bytes, str]]) -> Bytes:
    """Return pictures side by side on a sheet `_WIDE` px wide, with a title above and a line of words below each."""
    space = _WIDE // len(parts) - 16
    scale = min(min(space / part.shape[1], 360 / part.shape[0]) for part, _ in parts)
    sheet = np.full((_TITLE + 360 + 40, _WIDE, 3), 255, np.uint8)
    cv2.putText(sheet, title, (8, 24), cv2.FONT_HERSHEY_DUPLEX, 0.6, _INK, 1, cv2.LINE_AA)
    for k, (part, words) in enumerate(parts):
        how = cv2.INTER_NEAREST if scale > 1.5 else cv2.INTER_AREA
        shown = cv2.resize(part, None, fx=scale, fy=scale, interpolation=how)
        x = 8 + k * (_WIDE // len(parts))
        sheet[_TITLE : _TITLE + shown.shape[0], x : x + shown.shape[1]] = shown
        cv2.putText(
            sheet, words, (x, _TITLE + shown.shape[0] + 20), cv2.FONT_HERSHEY_DUPLEX, 0.45, _INK, 1, cv2.LINE_AA
        )
    return sheet


def first_top(found: list[card_join.Candidate], name: str, eye: Eye, image: Bytes) -> card_join.Candidate:
    """Return the candidate that was read as this card."""
    seen = next(s for s in eye.recognise(image) if s.card == name)
    return min(found, key=lambda c: float(np.abs(c.quad - seen.corners).max()))


def draw_stages() -> None:
    """Write the picture."""
    eye, scene = Eye.load(), two_heaps("harbour", SEED)
    image = scene.image
    levels, found, seen = pyramid(image), eye.candidates(image), eye.recognise(image)
    named = next(s for s in seen if s.top and s.card != "??")
    card = first_top(found, named.card, eye, image)
    patches = [
        (cut_patch(levels, spot.centre, spot.up), f"an index: logit {reading.index:.1f}")
        for spot, reading in zip(card.spots, card.readings, strict=True)
    ]
    joined, tops = image.copy(), image.copy()
    for spot in card.spots:
        cv2.circle(joined, tuple(np.rint(spot.centre).astype(int).tolist()), 9, _ORANGE, 2, cv2.LINE_AA)
    outlined(joined, card.quad, _GREEN, f"{named.card} {named.confidence:.3f}")
    for top_card in seen:
        outlined(
            tops, top_card.corners, _GREEN if top_card.top else _INK, f"{top_card.card}{' TOP' if top_card.top else ''}"
        )
    crop = cut_card(levels, *axes_of(card.quad))
    panels = [
        panel("1. the picture", [(image, "")]),
        panel("2. the finder's heat: where indices are", [(heat_map(image), "")]),
        panel("3. upright patches, 48 x 64, for the reader", patches),
        panel("4. the card's crop, 64 x 88", [(crop, f"nothing lies on it: {named.bare:.2f}")]),
        panel("5. two indices joined to one card", [(joined, "")]),
        panel("6. the heaps' tops, one of them unread", [(tops, "")]),
    ]
    sheet = np.vstack([np.hstack(panels[k : k + 2]) for k in (0, 2, 4)])
    cv2.imwrite(str(TARGET), sheet, [cv2.IMWRITE_JPEG_QUALITY, 88])


_COLOURS: Final = {
    Surface.TABLE: (210, 210, 210), Surface.ARM: (90, 150, 235), Surface.FACE: (60, 170, 40),
    Surface.BACK: (180, 110, 40), Surface.SHADOW: (120, 120, 120), Surface.OTHER: (60, 60, 200),
}  # fmt: skip


def told_card() -> CardStory:
    """Return the story of the card that `docs/vision-card.svg` shows."""
    shown = situation(*CARD_STORY)
    table, watcher = SpoiltTable(shown), new_watcher(seat_bearings(shown.script.seats), explain=True)
    teller = StoryTeller([(line.t, line.card) for line in shown.script.truth if isinstance(line, Card)])
    for frame in table.frames():
        watcher.feed(frame.image, frame.t, frame.exposure)
        for story in teller.note(frame, watcher):
            if story.card.id == _CARD:
                return story
    raise ValueError(f"{_CARD} was not reported")


def draw_told_card() -> None:
    """Write the drawing of that card."""
    TOLD_CARD.write_text(story_svg(told_card(), texts("en")), encoding="utf-8")


def draw_surfaces() -> None:
    """Write the picture of the surface of each pixel of the table."""
    motion, truth = Motion(), SequenceTruth.read(SEQUENCE)
    for frame in truth.frames:
        image = np.asarray(cv2.imread(str(SEQUENCE / frame["file"])), np.uint8)
        glance = motion.look(image, frame["t"], None)
        if frame["t"] >= _AT * SECOND:
            break
    assert motion.table is not None
    told = np.zeros_like(glance.small)
    for kind, colour in _COLOURS.items():
        told[glance.kinds == kind] = colour
    row = [
        panel("the picture, reduced", [(glance.small, "")]),
        panel("the bare table, as it was learned", [(motion.table, "")]),
        panel("what each pixel shows", [(told, "")]),
    ]
    sheet = np.hstack(row)
    for k, (kind, colour) in enumerate(_COLOURS.items()):
        x, y = 2 * _WIDE + 8 + 92 * k, sheet.shape[0] - 14
        cv2.rectangle(sheet, (x, y - 12), (x + 12, y), colour, cv2.FILLED)
        cv2.putText(sheet, kind.name.lower(), (x + 17, y), cv2.FONT_HERSHEY_DUPLEX, 0.45, _INK, 1, cv2.LINE_AA)
    cv2.imwrite(str(SURFACES), sheet, [cv2.IMWRITE_JPEG_QUALITY, 88])


if __name__ == "__main__":
    draw_stages()
    draw_surfaces()
    draw_told_card()
