"""The pulse table as a picture: for each distance between two hands, how many were named, tied and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from referee.units import MS
from tools.measure.pulse_scores import NAMED, TIE, Row

_COLOURS: Final = {"right": "green", "heats": "orange", "wrong": "red"}
_MEANING: Final = {"right": "first hand named", "heats": "dead heat", "wrong": "wrong order"}
_TITLES: Final = {
    "pins": "Pulses at the pins",
    "hands": "Hands, each pad's answer off by up to ± 1.5 ms",
    "crosstalk": "Hands that other pads hear for up to 6 ms",
    "chatter": "Hands while another pad's cable is broken",
}


def draw(path: Path, rows: Sequence[Row]) -> None:
    """Draw one panel a section, one bar a distance; lines mark where edges, and hands, must be named."""
    from matplotlib.figure import Figure  # for development only

    sections = list(dict.fromkeys(row.section for row in rows))
    figure = Figure(figsize=(10, 2.4 * len(sections)), layout="constrained")
    for place, section in enumerate(sections):
        mine = [row for row in rows if row.section == section]
        axes = figure.add_subplot(len(sections), 1, place + 1)
        axes.set(title=f"{_TITLES[section]} ({sum(row.pairs for row in mine)} pairs)", ylabel="%")
        names, floor = [f"{row.gap / MS:g} ms" for row in mine], [0.0] * len(mine)
        for kind, colour in _COLOURS.items():
            shares = [100 * getattr(row, kind) / row.pairs for row in mine]
            axes.bar(names, shares, bottom=floor, color=colour, label=_MEANING[kind])
            floor = [low + share for low, share in zip(floor, shares, strict=True)]
        for limit, style in ((TIE, "dotted"), (NAMED, "dashed")):
            named = f"{'edges' if limit == TIE else 'hands'} from here on: named"
            axes.axvline(sum(row.gap < limit for row in mine) - 0.5, color="black", linestyle=style, label=named)
        if place == 0:
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)
