"""A drawing as PNG, drawn at twice its size and brought down, for smooth edges."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

from PIL import Image, ImageColor, ImageDraw, ImageFont

from referee.app.page.scene import Line, Palette, Polygon, Rect, Scene, Text

OVER = 2


def png(scene: Scene, palette: Palette) -> bytes:
    """The same shapes as `referee.app.page.scene.svg` draws, as a PNG of the drawing's size."""
    image = Image.new("RGB", (scene.width * OVER, scene.height * OVER), palette["ground"])
    draw = ImageDraw.Draw(image)
    for shape in scene.shapes:
        if isinstance(shape, Rect):
            _rect(image, draw, shape, palette)
        elif isinstance(shape, Line):
            _line(draw, shape, palette)
        elif isinstance(shape, Polygon):
            draw.polygon([(x * OVER, y * OVER) for x, y in shape.points], fill=palette[shape.role])
        else:
            _text(draw, shape, palette)
    out = BytesIO()
    image.reduce(OVER).save(out, "PNG")
    return out.getvalue()


def _rect(image: Image.Image, draw: ImageDraw.ImageDraw, rect: Rect, palette: Palette) -> None:
    box = [round(v * OVER) for v in (rect.x, rect.y, rect.x + rect.width, rect.y + rect.height)]
    box = [min(max(0, v), image.size[place % 2]) for place, v in enumerate(box)]
    width, height = box[2] - box[0], box[3] - box[1]
    if width <= 0 or height <= 0:
        return
    if rect.alpha >= 1:
        inner = (box[0], box[1], box[2] - 1, box[3] - 1)
        draw.rounded_rectangle(inner, rect.radius * OVER, fill=palette[rect.role])
        return
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, width - 1, height - 1), rect.radius * OVER, round(255 * rect.alpha))
    image.paste(Image.new("RGB", (width, height), palette[rect.role]), (box[0], box[1]), mask)


def _line(draw: ImageDraw.ImageDraw, line: Line, palette: Palette) -> None:
    colour = _mixed(palette[line.role], palette["panel"], line.alpha)
    width = max(1, round(line.width * OVER))
    for x1, y1, x2, y2 in _dashes(line):
        draw.line((x1 * OVER, y1 * OVER, x2 * OVER, y2 * OVER), fill=colour, width=width)


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


def _text(draw: ImageDraw.ImageDraw, text: Text, palette: Palette) -> None:
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
    font = _font(text.size * OVER, text.weight)
    draw.text((text.x * OVER, text.y * OVER), text.text, fill=palette[text.role], font=font, anchor=anchor)


@lru_cache(maxsize=32)
def _font(size: float, weight: int) -> ImageFont.FreeTypeFont:
    import font_roboto

    name = font_roboto.RobotoBold if weight >= 600 else font_roboto.Roboto
    # The basic layout never loads the shaping library, and Latin needs none.
    return ImageFont.truetype(name, size, layout_engine=ImageFont.Layout.BASIC)


def _mixed(over: str, under: str, alpha: float) -> tuple[int, ...]:
    a, b = ImageColor.getrgb(over), ImageColor.getrgb(under)
    return tuple(round(x * alpha + y * (1 - alpha)) for x, y in zip(a, b, strict=True))
