"""The contact sheet of a learned deck: the pictures of each card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from models.decks.enrolment import Knowledge
    from models.decks.looks import CardLook

Picture = NDArray[np.uint8]
_PAPER: Final = (236, 240, 242)
_INK: Final = (40, 36, 34)
_WARNING: Final = (40, 60, 215)
_CELL: Final = (146, 146)
_INDEX: Final = (45, 60)
_WHOLE: Final = (84, 116)
_RANKS: Final = "A23456789TJQK"


def draw_contact_sheet(looks: Sequence[CardLook], known: Knowledge, title: str) -> Picture:
    """Draw a row for each suit, jokers beneath: each card's indices and the whole card, B,G,R.

    A card that is still confused is framed and named with its double; one that was not laid leaves an empty cell.
    """
    rows = ["s", "h", "d", "c"] + (["r", "b"] if any(look.card[0] == "X" for look in looks) else [])
    width, height = _CELL
    sheet = np.full((40 + height * len(rows), 8 + width * len(_RANKS), 3), _PAPER, np.uint8)
    cv2.putText(sheet, title, (12, 27), cv2.FONT_HERSHEY_SIMPLEX, 0.7, _INK, 1, cv2.LINE_AA)
    confused = {c.card: c.other for c in known.confusions}
    for row, suit in enumerate(rows):
        for column, rank in enumerate(_RANKS if suit in "shdc" else "X"):
            card = rank + suit
            cell = sheet[40 + row * height : 40 + (row + 1) * height, 8 + column * width : 8 + (column + 1) * width]
            seen, other = [look for look in looks if look.card == card], confused.get(card)
            ink = _WARNING if other or not seen else _INK
            words = card + (f" ? {other}" if other else "" if seen else ": not laid")
            cv2.putText(cell, words, (2, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.42, ink, 1, cv2.LINE_AA)
            if not seen:
                continue
            patches = [patch for look in seen for patch in look.indices]
            # The first and the last: the same corner twice would add nothing.
            for k, patch in enumerate((patches[0], patches[-1])[: len(patches)]):
                small = cv2.resize(patch, _INDEX, interpolation=cv2.INTER_AREA)
                cell[17 + k * 60 : 17 + k * 60 + _INDEX[1], 2 : 2 + _INDEX[0]] = small
            whole = seen[-1].whole
            if whole is not None:
                cell[17 : 17 + _WHOLE[1], 52 : 52 + _WHOLE[0]] = cv2.resize(whole, _WHOLE, interpolation=cv2.INTER_AREA)
            if other:
                cv2.rectangle(cell, (0, 0), (width - 6, height - 3), _WARNING, 1)
    return sheet
