"""A drawing as PNG: drawn at twice its size and brought down, for smooth edges.

In bands, for little memory; and written here, since Pillow's encoder holds every other thread up while it packs.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from typing import Final

from PIL import Image, ImageColor, ImageDraw, ImageFont

from referee.web.svg import Line, Palette, Polygon, Rect, Scene, Shape, Text

OVER: Final = 2
BAND: Final = 64
"""Height of a band in pixels of the drawing."""
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


def png(scene: Scene, palette: Palette) -> bytes:
    """The same shapes as `referee.web.svg.svg` draws, as a PNG of the drawing's size."""
    packer = zlib.compressobj(6)
    packed = bytearray()
    row = scene.width * 3
    for top in range(0, scene.height, BAND):
        band = _Band(scene.width, min(BAND, scene.height - top), top, palette)
        for shape in scene.shapes:
            band.draw(shape)
        pixels = band.image.reduce(OVER).tobytes()
        # Each row begins with its filter: none, which suits flat colours.
        packed += packer.compress(b"".join(b"\0" + pixels[at : at + row] for at in range(0, len(pixels), row)))
    packed += packer.flush()
    head = struct.pack(">IIBBBBB", scene.width, scene.height, 8, 2, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", bytes(packed)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file: PNG specification, 5.3."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class _Band:
    """A strip of the drawing, ``top`` pixels below its upper edge."""

    def __init__(self, width: int, height: int, top: int, palette: Palette) -> None:
        self.image = Image.new("RGB", (width * OVER, height * OVER), palette["ground"])
        self._pen = ImageDraw.Draw(self.image)
        self._top, self._bottom = float(top), float(top + height)
        self._palette = palette

    def draw(self, shape: Shape) -> None:
        """A shape, as far as it lies in this band."""
        if isinstance(shape, Rect):
            if shape.y < self._bottom and shape.y + shape.height > self._top:
                self._rect(shape)
        elif isinstance(shape, Line):
            self._line(shape)
        elif isinstance(shape, Polygon):
            self._pen.polygon([self._at(*point) for point in shape.points], fill=self._palette[shape.role])
        elif shape.y - shape.size < self._bottom and shape.y + shape.size > self._top:
            self._text(shape)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return x * OVER, (y - self._top) * OVER

    def _rect(self, rect: Rect) -> None:
        left, top = (round(v) for v in self._at(rect.x, rect.y))
        right, bottom = (round(v) for v in self._at(rect.x + rect.width, rect.y + rect.height))
        if right <= left or bottom <= top:
            return
        colour = self._palette[rect.role]
        if rect.alpha >= 1:
            self._pen.rounded_rectangle((left, top, right - 1, bottom - 1), rect.radius * OVER, fill=colour)
            return
        top, bottom = max(top, 0), min(bottom, self.image.height)
        if bottom > top:
            mask = Image.new("L", (right - left, bottom - top), round(255 * rect.alpha))
            self.image.paste(ImageColor.getrgb(colour), (left, top, right, bottom), mask)

    def _line(self, line: Line) -> None:
        if max(line.y1, line.y2) + line.width < self._top or min(line.y1, line.y2) - line.width > self._bottom:
            return
        colour = _mixed(self._palette[line.role], self._palette["panel"], line.alpha)
        for x1, y1, x2, y2 in _dashes(line):
            self._pen.line((*self._at(x1, y1), *self._at(x2, y2)), fill=colour, width=max(1, round(line.width * OVER)))

    def _text(self, text: Text) -> None:
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
        font = _font(text.size * OVER, text.weight)
        self._pen.text(self._at(text.x, text.y), text.text, fill=self._palette[text.role], font=font, anchor=anchor)


def _dashes(line: Line) -> list[tuple[float, float, float, float]]:
    whole = (line.x1, line.y1, line.x2, line.y2)
    length = ((line.x2 - line.x1) ** 2 + (line.y2 - line.y1) ** 2) ** 0.5
    if not line.dash or not length:
        return [whole]
    dx, dy = (line.x2 - line.x1) / length, (line.y2 - line.y1) / length
    out, at = [], 0.0
    while at < length:
        end = min(at + line.dash, length)
        out.append((line.x1 + dx * at, line.y1 + dy * at, line.x1 + dx * end, line.y1 + dy * end))
        at += 2 * line.dash
    return out


@lru_cache(maxsize=32)
def _font(size: float, weight: int) -> ImageFont.FreeTypeFont:
    import font_roboto

    name = font_roboto.RobotoBold if weight >= 600 else font_roboto.Roboto
    # The basic layout never loads the shaping library, and Latin needs none.
    return ImageFont.truetype(name, size, layout_engine=ImageFont.Layout.BASIC)


def _mixed(over: str, under: str, alpha: float) -> tuple[int, ...]:
    a, b = ImageColor.getrgb(over), ImageColor.getrgb(under)
    return tuple(round(x * alpha + y * (1 - alpha)) for x, y in zip(a, b, strict=True))
