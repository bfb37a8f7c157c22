"""`referee recognise`: the cards in photographs, one JSON object for each photograph."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.places import install_command
from referee.text.escapes import escape_controls
from referee.text.terminal_language import translate

if TYPE_CHECKING:
    from models.eye.eye import CardSeen, Eye

_MISTAKE = 2
_NO_IMAGE = "{} is no image that can be read (JPEG, PNG, WebP, BMP or TIFF)"
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")


def usual_threads() -> int:
    """Return the default number of eye threads where none was measured: half the cores, so that pads and voice have
    theirs.
    """
    return max(1, (os.cpu_count() or 1) // 2)


def load_eye(deck: str | None = None, one_deck: bool = False, threads: int | None = None) -> Eye:
    """Load the eye with the weights that ship with the package, for ordinary decks or a learned one.

    With ``one_deck`` all pictures show the same deck, as at a table: see `models.eye.eye.Eye.load`. The readings do not
    depend on ``threads`` (None: `usual_threads`).

    Raises:
        UserError: the weights, the deck or the runtime are missing; the message says what to do.
    """
    try:
        from models.eye.eye import Eye, WeightsBroken, WeightsMissing
    except ImportError as error:
        words = "the eye needs {name}: run `{command}` (see `referee doctor`)"
        raise UserError(words, name=error.name, command=install_command()) from error
    from referee.vision import learned_decks

    try:
        known = None if deck is None else learned_decks.knowledge(deck)
        return Eye.load(threads=threads or usual_threads(), deck=known, one_deck=one_deck)
    except (WeightsMissing, WeightsBroken) as error:
        raise UserError("the eye cannot see: {why}", why=error) from error


def read_image(name: str) -> Any:
    """Read the picture with OpenCV (blue, green, red).

    Raises:
        UserError: there is no such file, it is not an image, or it is too large.
    """
    image, shrunk = read_photo(name)
    if shrunk > 1:
        raise UserError("{name} is too large to be measured in: make it smaller, to 8000 px a side at most", name=name)
    return image


def read_photo(name: str) -> tuple[Any, int]:
    """Read the picture with OpenCV (blue, green, red), and return the factor by which it was reduced: a very large JPEG
    is reduced while it is decoded, and never occupies memory at full size.

    Raises:
        UserError: there is no such file, it is not an image, or it is too large.
    """
    import cv2

    path = Path(name)
    if not path.exists():
        raise UserError("{name}: there is no such file", name=name)
    if path.is_dir():
        raise UserError(
            "{name} is a folder; name the images in it, as in {what}/*.jpg", name=name, what=name.rstrip("/")
        )
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise UserError("{name} cannot be read: {why}", name=name, why=error.strerror) from None
    shrunk = _shrunk(name, path)
    flags = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4,
             8: cv2.IMREAD_REDUCED_COLOR_8}  # fmt: skip
    try:
        image = cv2.imread(str(path), flags[shrunk])
    except cv2.error:
        image = None
    if image is None:
        raise UserError(_NO_IMAGE.format(name))
    return image, shrunk


def _shrunk(name: str, path: Path) -> int:
    """Return the factor by which to reduce a picture, from its header alone; raises `UserError` if none suffices."""
    from PIL import Image, UnidentifiedImageError

    from models.eye.eye import LEAST_SIDE, MOST_PIXELS

    # Pillow also rejects large pictures, at another limit and without giving their size.
    guard, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with Image.open(path) as header:
            (width, height), is_jpeg = header.size, header.format in ("JPEG", "MPO")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise UserError(_NO_IMAGE.format(name)) from None
    finally:
        Image.MAX_IMAGE_PIXELS = guard
    size = f"{name} is {width}×{height} px"
    if min(width, height) < LEAST_SIDE:
        raise UserError(
            "{size}: too small for a card, which takes {least_side} px a side at least",
            size=size,
            least_side=LEAST_SIDE,
        )
    for shrunk in (1, 2, 4, 8) if is_jpeg else (1,):
        if width * height <= MOST_PIXELS * shrunk**2:
            return shrunk
    words = "" if is_jpeg else ", or save it as a JPEG, which is made smaller while it is read"
    raise UserError(
        "{size}: too large; make it smaller, to {most_pixels} million pixels at most{words}",
        size=size,
        most_pixels=f"{MOST_PIXELS / 1000000.0:.0f}",
        words=words,
    )


def drawing_places(images: Sequence[str], draw: Path) -> list[Path]:
    """Return the path of each image's drawing: `draw` itself for one image, a file in the folder `draw` for several.

    Raises:
        UserError: two images would have the same drawing, or the folder cannot be created.
    """
    if len(images) == 1 and not draw.is_dir():
        return [draw]
    if draw.suffix.lower() in _PICTURES and not draw.is_dir():
        raise UserError(
            "--draw {draw}: there are {many} images; name a folder to draw them in, as in --draw seen",
            draw=draw,
            many=len(images),
        )
    try:
        draw.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError("--draw: the folder {draw} cannot be made: {why}", draw=draw, why=error.strerror) from None
    # Images of the same name in several folders get their folder's name as a prefix.
    plain = [Path(name).stem for name in images]
    doubled = {stem for stem in plain if plain.count(stem) > 1}
    stems = [
        f"{Path(name).parent.name}-{stem}" if stem in doubled else stem
        for name, stem in zip(images, plain, strict=True)
    ]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1})
    if twice:
        raise UserError(
            "--draw: several images would be drawn as {draw}.jpg; name each of them once", draw=draw / twice[0]
        )
    return [draw / f"{stem}.jpg" for stem in stems]


def _draw(image: Any, cards: Sequence[CardSeen], target: Path) -> None:
    import cv2

    from models.eye.annotate import draw_readings

    try:
        written = cv2.imwrite(str(target), draw_readings(image, cards))
    except cv2.error:
        written = False
    if not written:
        raise UserError(
            "--draw: {target} cannot be written; name a .jpg or .png file in a folder that exists", target=target
        )


def recognise(images: Sequence[str], *, draw: Path | None = None, deck: str | None = None) -> int:
    """Print the cards of each image, those of a learned ``deck`` if one is named; return 2 if any image could not be
    read (one line names each). A line on standard error also names each image without colour.

    Raises:
        UserError: no image can be read at all, or the drawing cannot be written.
    """
    from models.eye.grey import is_grey

    places = [None] * len(images) if draw is None else drawing_places(images, draw)
    eye: Eye | None = None
    status = 0
    for name, place in zip(images, places, strict=True):
        try:
            image, shrunk = read_photo(name)
        except UserError as error:
            print(f"referee: {escape_controls(str(error))}", file=sys.stderr)
            status = _MISTAKE
            continue
        eye = eye or load_eye(deck)
        began = time.perf_counter()
        cards = eye.recognise(image)
        took = (time.perf_counter() - began) * 1000
        found = [
            {
                "card": seen.card,
                "confidence": round(float(seen.confidence), 4),
                "corners": [[round(shrunk * float(x), 1), round(shrunk * float(y), 1)] for x, y in seen.corners],
                "top": bool(seen.top),
            }
            for seen in cards
        ]
        grey = is_grey(image)
        line = {"image": name, "cards": found, "letters": eye.language, "grey": grey, "ms": round(took, 1)}
        print(escape_controls(json.dumps(line, ensure_ascii=False)), flush=True)
        if grey:
            words = Sentence("{name} is without colour: suits are guessed by their shapes, none is sure", name=name)
            print(f"referee: {escape_controls(translate(words))}", file=sys.stderr, flush=True)
        if place is not None:
            _draw(image, cards, place)
    return status
