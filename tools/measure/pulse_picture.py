"""The pulse table as a picture: of each distance between two hands, how many were named, tied and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from referee.units import MS
from tools.measure.pulse_scores import NAMED, TIE, Row

WIDTH: Final = 1000
PANEL: Final = 230
LEFT: Final = 150
BAR: Final = 44
STEP: Final = 66
TALL: Final = 150
SHORT: Final = 6
"""A panel of so few bars has no room for words below."""
COLOURS: Final = {"right": (46, 125, 50), "heats": (249, 168, 37), "wrong": (198, 40, 40)}
WORDS: Final = {"right": "first hand named", "heats": "dead heat", "wrong": "wrong order"}
TITLES: Final = {
    "pins": "Pulses at the pins",
    "hands": "Hands, each pad's answer off by up to ± 1.5 ms",
    "crosstalk": "Hands that other pads hear for up to 6 ms",
    "chatter": "Hands while another pad's cable is broken",
}


def draw(path: Path, rows: Sequence[Row]) -> None:
    """One panel a section, one bar a distance."""
    import font_roboto
    from PIL import Image, ImageDraw, ImageFont

    sections = list(dict.fromkeys(row.section for row in rows))
    image = Image.new("RGB", (WIDTH, 60 + PANEL * len(sections)), "white")
    pen = ImageDraw.Draw(image)
    plain, bold = (ImageFont.truetype(face, size) for face, size in
                   ((font_roboto.Roboto, 14), (font_roboto.RobotoMedium, 17)))  # fmt: skip
    for place, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + place * 200
        pen.rectangle((x, 18, x + 16, 34), fill=colour)
        pen.text((x + 24, 18), WORDS[name], fill="black", font=plain)
    for place, section in enumerate(sections):
        top = 60 + place * PANEL
        bottom = top + 30 + TALL
        mine = [row for row in rows if row.section == section]
        pen.text((LEFT, top), f"{TITLES[section]} ({sum(row.pairs for row in mine)} pairs)", fill="black", font=bold)
        for share in (0, 50, 100):
            y = bottom - TALL * share // 100
            pen.line((LEFT - 6, y, LEFT + STEP * len(mine), y), fill=(220, 220, 220))
            pen.text((LEFT - 14, y), f"{share} %", fill="black", font=plain, anchor="rm")
        for number, row in enumerate(mine):
            left = LEFT + 8 + number * STEP
            level = float(bottom)
            for name, colour in COLOURS.items():
                height = TALL * getattr(row, name) / row.pairs
                if height:
                    pen.rectangle((left, level - height, left + BAR, level), fill=colour)
                level -= height
            pen.text((left + BAR // 2, bottom + 6), f"{row.gap / MS:g} ms", fill="black", font=plain, anchor="mt")
        for limit, words in ((TIE, "edges from here on: named"), (NAMED, "hands from here on: named")):
            before = sum(row.gap < limit for row in mine)
            x = LEFT - 3 + before * STEP
            pen.line((x, top + 26, x, bottom + 22), fill=(60, 60, 60), width=2)
            if len(mine) > SHORT:
                pen.text((x + 4, bottom + 24), words, fill=(60, 60, 60), font=plain)
    image.save(path)
