"""Decks generated from a seed: index font and place, pips, layouts, courts, stock, border.

A deck is drawn at twice `FACE_W`×`FACE_H` and reduced. Features that vary between real decks are varied; shared ones
(the layout of pips, the index in opposite corners, rank over suit) are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from models.eye.classes import CARD_CLASSES
from models.eye.geometry import Image
from models.eye.letters import LANGUAGES, prints
from models.training import pip_shapes, wear
from models.training.art import FACE_H, FACE_W, Box
from models.training.fonts import Font, Ink, glyph, listed

W, H = 2 * FACE_W, 2 * FACE_H
#: Fonts with good suit glyphs: real printers' pips in addition to the parametric shapes.
_SUIT_FONTS = listed("""DejaVuSans.ttf, DejaVuSans-Bold.ttf, FreeSerif.ttf, FreeSans.ttf, FreeMonoBold.ttf,
DejaVuSerif.ttf, LinLibertine_R.otf, STIX-Regular.otf, Junicode.ttf, NotoSansSymbols2-Regular.ttf""")

#: Share of the generated suits with international letters.
_ENGLISH = 0.7
#: Cards of each suit that are drawn once more, each with a random letter of another language: a letter printed by one
#: language in eight would otherwise be too rare.
_AGAIN = "AKQJJ"
MORE = 4 * len(_AGAIN)

#: A font that has the stars of jokers.
_STARS = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

_L, _C, _R = 0.0, 0.5, 1.0
#: Pip places (x in columns, y from 0 top row to 1 bottom row) of the number cards.
_LAYOUTS: dict[str, list[tuple[float, float]]] = {
    "A": [(_C, 0.5)],
    "2": [(_C, 0), (_C, 1)],
    "3": [(_C, 0), (_C, 0.5), (_C, 1)],
    "4": [(_L, 0), (_R, 0), (_L, 1), (_R, 1)],
    "5": [(_L, 0), (_R, 0), (_C, 0.5), (_L, 1), (_R, 1)],
    "6": [(_L, 0), (_R, 0), (_L, 0.5), (_R, 0.5), (_L, 1), (_R, 1)],
    "7": [(_L, 0), (_R, 0), (_C, 0.25), (_L, 0.5), (_R, 0.5), (_L, 1), (_R, 1)],
    "8": [(_L, 0), (_R, 0), (_C, 0.25), (_L, 0.5), (_R, 0.5), (_C, 0.75), (_L, 1), (_R, 1)],
    "9": [(x, y / 3) for y in range(4) for x in (_L, _R)] + [(_C, 0.5)],
    "T": [(x, y / 3) for y in range(4) for x in (_L, _R)] + [(_C, 1 / 6), (_C, 5 / 6)],
}


@dataclass(slots=True)
class Faces:
    """One card for the scenes: its picture and its index boxes (upper corners, upright)."""

    image: Image
    rank_box: Box
    suit_box: Box
    corners: int  # 2 or 4 corners carry the index
    letter: str  # of `letters.GLYPHS`, what the index says


def _stock(rng: np.random.Generator) -> tuple[int, int, int]:
    if rng.random() < 0.06:  # coloured paper
        return tuple(int(v) for v in rng.uniform(150, 250, 3))  # type: ignore[return-value]
    white = rng.uniform(232, 255)
    warm = rng.choice([0.0, rng.uniform(0, 26)], p=[0.6, 0.4])
    return int(white - warm), int(white - warm * 0.3), int(white)


def _colours(rng: np.random.Generator, dark: bool) -> dict[str, tuple[int, int, int]]:
    v = int(rng.uniform(0, 45))
    black = (v + int(rng.uniform(0, 12)), v, v)
    red = (int(rng.uniform(0, 60)), int(rng.uniform(0, 50)), int(rng.uniform(165, 250)))
    if dark:
        black, red = (235, 235, 235), (60, 60, 250)
    four = rng.random() < 0.14
    green = (int(rng.uniform(10, 60)), int(rng.uniform(95, 150)), int(rng.uniform(0, 40)))
    blue = (int(rng.uniform(160, 235)), int(rng.uniform(40, 110)), int(rng.uniform(0, 40)))
    return {"s": black, "h": red, "c": green if four else black, "d": blue if four else red, "b": black, "r": red}


class DeckStyle:
    """The properties shared by all cards of a deck, drawn once from the seed.

    Args:
        seed: the deck's number.
        fonts: the index fonts to choose from.
        courts: pictures that may be pasted.
    """

    def __init__(self, seed: int, fonts: list[Font], courts: list[Image]) -> None:
        self.rng = rng = np.random.default_rng(seed)
        dark = rng.random() < 0.025
        jumbo = rng.random() < 0.22
        # Heights are shares of the card's height; widths and horizontal places are shares of its width.
        self.rank_h = float(rng.uniform(0.13, 0.2) if jumbo else rng.uniform(0.075, 0.13))
        self.font = fonts[int(rng.integers(len(fonts)))]
        self.words = [f.path for f in fonts]
        self.colours = _colours(rng, dark)
        self.stock = (30, 26, 24) if dark else _stock(rng)
        self.suit_h = self.rank_h * float(rng.uniform(0.5, 0.95))
        self.gap = float(rng.uniform(0.006, 0.025))
        self.margin_x = float(rng.uniform(0.035, 0.075))
        self.margin_y = float(rng.uniform(0.022, 0.06))
        self.squeeze = float(rng.uniform(0.62, 1.0))
        self.corners = 4 if rng.random() < 0.15 else 2
        self.pip_h = float(rng.uniform(0.1, 0.19))
        self.columns = float(rng.uniform(0.36, 0.5))
        self.rows = float(rng.uniform(0.5, 0.68))
        self.layout = str(rng.choice(["pips", "one", "none"], p=[0.9, 0.07, 0.03]))
        self.border = float(rng.choice([0, rng.uniform(0.004, 0.02)], p=[0.82, 0.18]))
        self.frame = bool(rng.random() < 0.75)
        self.courts = courts
        self.court_style = str(rng.choice(["paste", "abstract", "letter"], p=[0.6, 0.32, 0.08]))
        self.wear = float(rng.beta(0.6, 1.2))
        #: Seed of the printer's variant of the letters, shared by all cards; None for the font's own letters.
        self.ink = int(rng.integers(1 << 30)) if rng.random() < 0.3 else None
        self.joker = str(rng.choice(["JOKER", "JOKER", "JOKER", "★", "JOLLY", "✶"]))
        from_glyphs = _SUIT_FONTS[int(rng.integers(len(_SUIT_FONTS)))] if rng.random() < 0.4 else None
        self.pips = {suit: pip_shapes.draw(suit, rng, from_glyphs) for suit in "cdhs"}
        if rng.random() < 0.12:
            variant = int(rng.integers(1 << 30))
            self.pips = {suit: wear.inked(mask, np.random.default_rng(variant)) for suit, mask in self.pips.items()}
        self.languages = [name for name in LANGUAGES if name != "English" and (name != "Russian" or self.font.cyrillic)]
        #: All letters that other languages print for a rank.
        self.foreign = {
            rank: sorted({letter for name in self.languages for letter in prints(name, rank)} - {rank})
            for rank in "AKQJ"
        }
        self.letters = {suit: self._letters() for suit in "cdhs"}

    def _letters(self) -> dict[str, str]:
        """Draw a suit's letter for each rank. The networks read one card at a time, so each suit has its own language:
        that shows more letters in each font."""
        language = "English" if self.rng.random() < _ENGLISH else str(self.rng.choice(self.languages))
        letters = {rank: str(self.rng.choice(prints(language, rank))) for rank in "AKQJ"}
        return letters | {"T": "T" if language == "English" and self.rng.random() < 0.06 else "10"}


def stamp(
    image: Image, mask: Ink, box: tuple[float, float, float, float], colour: tuple[int, int, int], turn: bool = False
) -> None:
    """Print `mask` in `colour` into the pixel box (x0, y0, x1, y1), optionally turned by 180°; clipped to the image."""
    x0, y0, x1, y1 = (round(v) for v in box)
    w, h = max(2, x1 - x0), max(2, y1 - y0)
    ink = cv2.resize(mask, (w, h), interpolation=cv2.INTER_AREA if h < mask.shape[0] else cv2.INTER_LINEAR)
    if turn:
        ink = np.ascontiguousarray(ink[::-1, ::-1])
    cx0, cy0, cx1, cy1 = max(0, x0), max(0, y0), min(image.shape[1], x0 + w), min(image.shape[0], y0 + h)
    if cx1 <= cx0 or cy1 <= cy0:
        return
    part = ink[cy0 - y0 : cy1 - y0, cx0 - x0 : cx1 - x0, None].astype(np.uint16)
    region = image[cy0:cy1, cx0:cx1]
    region[:] = ((region * (255 - part) + np.array(colour, np.uint16) * part) // 255).astype(np.uint8)


def _flip(box: Box) -> Box:
    return 1 - box[2], 1 - box[3], 1 - box[0], 1 - box[1]


def _px(box: Box) -> tuple[float, float, float, float]:
    return box[0] * W, box[1] * H, box[2] * W, box[3] * H


def _pip(image: Image, st: DeckStyle, suit: str, x: float, y: float, h: float, turn: bool) -> None:
    mask = st.pips[suit]
    half_w = h / 2 * H * mask.shape[1] / mask.shape[0]
    stamp(image, mask, (x * W - half_w, (y - h / 2) * H, x * W + half_w, (y + h / 2) * H), st.colours[suit], turn)


def _words(image: Image, st: DeckStyle, y: float, lines: int, h: float) -> None:
    """Print the maker's text, which is no index."""
    for i in range(lines):
        text = "".join(st.rng.choice(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789&"), int(st.rng.integers(5, 18))))
        mask = glyph(st.words[int(st.rng.integers(len(st.words)))], text, 60)
        if mask is not None:
            half = min(0.32, h * H * mask.shape[1] / mask.shape[0] / W / 2)
            top = y + i * h * 1.4
            stamp(image, mask, _px((0.5 - half, top, 0.5 + half, top + h)), st.colours["s"])


def _abstract(st: DeckStyle, w: int, h: int) -> Image:
    """Draw a court of shapes: one half drawn, the other turned, as on real courts."""
    rng = st.rng
    palette = [tuple(int(v) for v in rng.integers(0, 256, 3)) for _ in range(5)]
    palette += [(0, 0, 0), (40, 40, 210), (30, 200, 240), (255, 255, 255)]
    half = np.full((h // 2, w, 3), palette[-1] if rng.random() < 0.5 else palette[0], np.uint8)
    for _ in range(int(rng.integers(6, 26))):
        colour = palette[int(rng.integers(len(palette)))]
        p = [int(rng.integers(0, w)), int(rng.integers(0, h // 2))]
        kind = rng.integers(4)
        if kind == 0:
            cv2.circle(half, p, int(rng.integers(4, w // 3)), colour, int(rng.choice([-1, 2, 4])), cv2.LINE_AA)
        elif kind == 1:
            cv2.fillPoly(half, [rng.integers(-20, w, (4, 2)).astype(np.int32)], colour, cv2.LINE_AA)
        elif kind == 2:
            q = [int(rng.integers(0, w)), int(rng.integers(0, h // 2))]
            cv2.line(half, p, q, colour, int(rng.integers(1, 9)), cv2.LINE_AA)
        else:
            for k in range(0, w, int(rng.integers(6, 24))):
                cv2.line(half, (k, p[1]), (k + int(rng.integers(-9, 9)), p[1] + 22), colour, 2, cv2.LINE_AA)
    return np.vstack([half, half[::-1, ::-1]])


def _court(image: Image, st: DeckStyle, rank: str, suit: str) -> None:
    x0 = st.margin_x + st.rank_h * 0.75 * float(st.rng.uniform(0.9, 1.1))
    x0, y0 = min(0.27, x0), float(st.rng.uniform(0.06, 0.12))
    w, h = round((1 - 2 * x0) * W), round((1 - 2 * y0) * H) // 2 * 2
    left, top = round(x0 * W), round(y0 * H)
    area = image[top : top + h, left : left + w]
    if st.court_style == "paste" and st.courts:
        picture = st.courts[int(st.rng.integers(len(st.courts)))]
        picture = np.asarray(cv2.resize(picture, area.shape[1::-1], interpolation=cv2.INTER_AREA), np.uint8)
        area[:] = np.minimum(picture, np.array(st.stock, np.uint8)) if st.stock[0] > 60 else picture
    elif st.court_style == "abstract":
        area[:] = _abstract(st, w, h)[: area.shape[0], : area.shape[1]]
    else:
        mask = glyph(st.font.path, st.letters[suit][rank])
        if mask is not None:
            stamp(image, mask, _px((0.33, 0.33, 0.67, 0.67)), st.colours[suit])
    if st.frame:
        ink = st.colours[suit] if st.rng.random() < 0.5 else (90, 30, 20)
        cv2.rectangle(image, (left, top), (left + w, top + h), ink, 2)
    if st.rng.random() < 0.8:
        size = st.pip_h * 0.9
        x, y = x0 + size * 0.72, y0 + size * 0.62
        _pip(image, st, suit, x, y, size, False)
        _pip(image, st, suit, 1 - x, 1 - y, size, True)


def _body(image: Image, st: DeckStyle, rank: str, suit: str) -> None:
    if rank == "X":
        w, h = int(W * 0.56), int(H * 0.7) // 2 * 2
        image[(H - h) // 2 : (H - h) // 2 + h, (W - w) // 2 : (W - w) // 2 + w] = _abstract(st, w, h)
        return
    if rank in "JQK":
        _court(image, st, rank, suit)
        return
    if rank == "A" and suit == "s" and st.rng.random() < 0.75:
        _pip(image, st, suit, 0.5, 0.5, float(st.rng.uniform(0.25, 0.5)), False)
        for place, lines, height in (((0.7, 0.78), 4, (0.012, 0.025)), ((0.12, 0.2), 2, (0.02, 0.05))):
            y = float(st.rng.uniform(*place))
            _words(image, st, y, int(st.rng.integers(0, lines)), float(st.rng.uniform(*height)))
        return
    if st.layout == "none":
        return
    if st.layout == "one" or rank == "A":
        _pip(image, st, suit, 0.5, 0.5, float(st.rng.uniform(0.15, 0.4)), False)
        return
    # The outer columns stay clear of the index, as in print.
    room = 0.5 - (st.margin_x + st.rank_h * 0.95) - st.pip_h * 0.62 if st.columns > 0.2 else 0.2
    for column, row in _LAYOUTS[rank]:
        x = 0.5 + (column - 0.5) * min(st.columns, max(0.3, 2 * room))
        y = 0.5 + (row - 0.5) * st.rows
        _pip(image, st, suit, x, y, st.pip_h, row > 0.5)


def _joker_index(image: Image, st: DeckStyle, suit: str) -> tuple[Box, Box]:
    """Print the word JOKER down the corner: its upper part stands for the rank, its lower part for the suit."""
    text = st.joker if glyph(st.font.path, st.joker[0]) is not None or len(st.joker) > 1 else "JOKER"
    letters = list(text) if len(text) > 1 else [text, *"JOKER"]
    letter_h = st.rank_h * 2.1 / len(letters)
    half = letter_h * 0.42 * H / W
    cx = st.margin_x + half
    for i, letter in enumerate(letters):
        mask = glyph(st.font.path, letter) if letter.isascii() else glyph(_STARS, letter)
        if mask is None:
            continue
        wide = min(half, letter_h / 2 * mask.shape[1] / mask.shape[0] * H / W)
        box = (cx - wide, st.margin_y + i * letter_h * 1.12, cx + wide, st.margin_y + i * letter_h * 1.12 + letter_h)
        stamp(image, mask, _px(box), st.colours[suit])
        stamp(image, mask, _px(_flip(box)), st.colours[suit], True)
    mid = st.margin_y + letter_h * 0.64 * len(letters)
    low = st.margin_y + letter_h * 1.1 * len(letters)
    return (cx - half, st.margin_y, cx + half, mid), (cx - half, mid, cx + half, low)


def _index(image: Image, st: DeckStyle, rank: str, suit: str) -> tuple[Box, Box]:
    """Print the index in its corners; return rank and suit box of the upper left one."""
    text = st.letters[suit].get(rank, rank)
    mask = glyph(st.font.path, text)
    assert mask is not None, f"{st.font.path} cannot print {text}"
    if st.ink is not None:
        mask = wear.inked(mask, np.random.default_rng(st.ink))
    wide = st.rank_h * H / W * mask.shape[1] / mask.shape[0] * st.squeeze
    room = st.rank_h * 0.8 * H / W
    wide = min(wide, room * (1.1 if len(text) > 1 else 1.0))
    pip = st.pips[suit]
    pip_w = st.suit_h * H / W * pip.shape[1] / pip.shape[0]
    cx = st.margin_x + room * 0.45
    rank_box = (cx - wide / 2, st.margin_y, cx + wide / 2, st.margin_y + st.rank_h)
    top = rank_box[3] + st.gap
    suit_box = (cx - pip_w / 2, top, cx + pip_w / 2, top + st.suit_h)
    colour = st.colours[suit]
    for box, ink in ((rank_box, mask), (suit_box, pip)):
        stamp(image, ink, _px(box), colour)
        stamp(image, ink, _px(_flip(box)), colour, True)
        if st.corners == 4:
            right = (1 - box[2], box[1], 1 - box[0], box[3])
            stamp(image, ink, _px(right), colour)
            stamp(image, ink, _px(_flip(right)), colour, True)
    return rank_box, suit_box


def face(st: DeckStyle, card: str) -> Faces:
    """Draw one card of the deck."""
    image = np.full((H, W, 3), st.stock, np.uint8)
    rank, suit = card[0], card[1]
    _body(image, st, rank, suit)
    corners = st.corners
    if rank == "X":
        boxes, corners = _joker_index(image, st, suit), 2
    else:
        boxes = _index(image, st, rank, suit)
    if st.border:
        cv2.rectangle(image, (2, 2), (W - 3, H - 3), st.colours[suit], max(1, round(st.border * W)))
    small = cv2.resize(image, (FACE_W, FACE_H), interpolation=cv2.INTER_AREA)
    worn = wear.worn(np.asarray(small, np.uint8), st.rng, st.wear)
    return Faces(worn, boxes[0], boxes[1], corners, "X" if rank == "X" else st.letters[suit].get(rank, rank))


def back(st: DeckStyle) -> Image:
    """Draw a card's back: a repeated pattern within a margin."""
    rng = st.rng
    image = np.full((H, W, 3), st.stock, np.uint8)
    tile = _abstract(st, int(rng.integers(16, 70)) * 2, int(rng.integers(16, 70)) * 2)
    m = int(rng.integers(0, 40))
    reps = (H // tile.shape[0] + 1, W // tile.shape[1] + 1, 1)
    image[m : H - m, m : W - m] = np.tile(tile, reps)[: H - 2 * m, : W - 2 * m]
    return np.asarray(cv2.resize(image, (FACE_W, FACE_H), interpolation=cv2.INTER_AREA), np.uint8)


def deck(seed: int, fonts: list[Font], courts: list[Image]) -> tuple[list[tuple[str, Faces]], Image]:
    """Return all 54 cards of deck `seed`, with `MORE` aces and courts with other letters, and its back."""
    st = DeckStyle(seed, fonts, courts)
    faces = [(card, face(st, card)) for card in CARD_CLASSES]
    for suit in "cdhs":
        for rank in _AGAIN:
            st.letters[suit][rank] = str(st.rng.choice(st.foreign[rank]))
            faces.append((rank + suit, face(st, rank + suit)))
    return faces, back(st)
