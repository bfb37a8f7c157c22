"""`referee recognise`: the cards in photographs, one JSON object for each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.app.problems import UserError

if TYPE_CHECKING:
    from models.eye import CardSeen, Eye

MISTAKE = 2


def load_eye() -> Eye:
    """The eye with the weights that ship with the package.

    Raises:
        UserError: they, or what runs them, are not here; says what to do.
    """
    try:
        from models.eye import Eye, WeightsBroken, WeightsMissing
    except ImportError as bad:
        raise UserError(f"the eye needs {bad.name}: run `make install` (see `referee doctor`)") from bad
    try:
        return Eye.load()
    except (WeightsMissing, WeightsBroken) as bad:
        raise UserError(f"the eye cannot see: {bad}") from bad


def card_fields(seen: CardSeen) -> dict[str, Any]:
    """One reading as `recognise` prints it."""
    return {
        "card": seen.card,
        "confidence": round(float(seen.confidence), 4),
        "corners": [[round(float(x), 1), round(float(y), 1)] for x, y in seen.corners],
        "top": bool(seen.top),
    }


def read_image(name: str) -> Any:
    """The picture as OpenCV reads it (blue, green, red).

    Raises:
        UserError: there is no such file, or it is no image.
    """
    import cv2

    path = Path(name)
    if not path.exists():
        raise UserError(f"{name}: there is no such file")
    if path.is_dir():
        raise UserError(f"{name} is a folder; name the images in it, as in {name.rstrip('/')}/*.jpg")
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as bad:
        raise UserError(f"{name} cannot be read: {bad.strerror}") from None
    try:
        image = cv2.imread(str(path))
    except cv2.error:
        image = None
    if image is None:
        raise UserError(f"{name} is no image that can be read (JPEG, PNG, WebP, BMP or TIFF)")
    return image


def _drawn(image: Any, cards: Sequence[CardSeen]) -> Any:
    import cv2
    import numpy as np

    out = image.copy()
    scale = max(image.shape[:2]) / 1000
    for seen in cards:
        sure = seen.confidence >= 0.9
        colour = (60, 180, 60) if sure else (30, 140, 240)
        outline = np.round(np.asarray(seen.corners)).astype(np.int32)
        cv2.polylines(out, [outline], isClosed=True, color=colour, thickness=max(1, round(2 * scale)))
        words = f"{seen.card} {seen.confidence:.2f}" + (" top" if seen.top else "")
        x, y = (int(v) for v in outline.mean(axis=0))
        for ink, width in (((0, 0, 0), 4), ((255, 255, 255), 1)):
            cv2.putText(out, words, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.7 * scale, ink, max(1, round(width * scale)))
    return out


def _draw(image: Any, cards: Sequence[CardSeen], target: Path) -> None:
    import cv2

    try:
        written = cv2.imwrite(str(target), _drawn(image, cards))
    except cv2.error:
        written = False
    if not written:
        raise UserError(f"--draw: {target} cannot be written; name a .jpg or .png file in a folder that exists")


def recognise(images: Sequence[str], *, draw: Path | None = None) -> int:
    """Print the cards of each image; returns 2 if any image could not be read (one line names each).

    Raises:
        UserError: nothing can be read at all, or the drawing cannot be written.
    """
    if draw is not None and len(images) != 1:
        raise UserError("--draw draws on one IMAGE; name one")
    eye: Eye | None = None
    status = 0
    for name in images:
        try:
            image = read_image(name)
        except UserError as bad:
            print(f"referee: {bad}", file=sys.stderr)
            status = MISTAKE
            continue
        eye = eye or load_eye()
        began = time.perf_counter()
        cards = eye.recognise(image)
        took = (time.perf_counter() - began) * 1000
        line = {"image": name, "cards": [card_fields(seen) for seen in cards], "ms": round(took, 1)}
        print(json.dumps(line, ensure_ascii=False), flush=True)
        if draw is not None:
            _draw(image, cards, draw)
    return status
