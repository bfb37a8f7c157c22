"""A learned deck as one file: the looks it was learned from, and the knowledge derived for the current weights.

The looks are kept so that a single card can be laid again and so that new weights can learn the deck from them.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.decks.discriminant import LinearMap
from models.decks.enrolment import Confusion, Factor, IndexTest, Knowledge
from models.decks.looks import LOOK_H, LOOK_W, CardLook
from models.eye.classes import CARD_CLASSES
from models.eye.geometry import Image

_FORMAT: Final = 1
_QUALITY: Final = 92
_NUMBERS: Final = ("temperature", "ordinary", "doubt", "elsewhere")
_FACTORS: Final = ("rank", "suit", "whole_rank", "whole_suit")


class DeckBroken(ValueError):  # noqa: N818 - the state of a file, not a fault of the program
    """A deck's file is damaged or no deck; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LearnedDeck:
    """A deck by its looks, with its knowledge and the fingerprint of the weights it was learned with."""

    name: str
    looks: tuple[CardLook, ...]
    knowledge: Knowledge
    weights: str


def fingerprint(folder: Path) -> str:
    """Return the fingerprint of the weights: knowledge fits only the networks that it was learned with."""
    digest = hashlib.sha256()
    for name in ("reader.ncnn", "card.ncnn"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]


def save(deck: LearnedDeck, path: Path) -> None:
    """Write the file under a temporary name and rename it, so that no partial file is ever read; raises `OSError`."""
    looks, pictures = [], []
    for look in deck.looks:
        shown = [*look.indices, *look.others, *([] if look.whole is None else [look.whole])]
        looks.append({
            "card": look.card, "indices": len(look.indices), "others": len(look.others),
            "whole": int(look.whole is not None), "sharpness": look.sharpness,
        })  # fmt: skip
        pictures += [bytes(cv2.imencode(".jpg", p, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1]) for p in shown]
    meta = {
        "format": _FORMAT, "name": deck.name, "weights": deck.weights, "laid": deck.knowledge.laid,
        "confusions": [asdict(c) for c in deck.knowledge.confusions],
        "looks": looks,
        **{name: {key: getattr(getattr(deck.knowledge, name), key) for key in _NUMBERS} for name in _FACTORS},
    }  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {"meta": np.frombuffer(json.dumps(meta).encode(), np.uint8)}
    arrays["sizes"] = np.array([len(p) for p in pictures], np.int64)
    arrays["pictures"] = np.frombuffer(b"".join(pictures), np.uint8)
    for name in _FACTORS:
        factor: Factor = getattr(deck.knowledge, name)
        arrays |= {
            f"{name}.weight": factor.lines.weight,
            f"{name}.bias": factor.lines.bias,
            f"{name}.known": factor.known,
        }
    test = deck.knowledge.index
    arrays |= {"index.weight": test.lines.weight, "index.bias": test.lines.bias}
    arrays["index.weights"] = np.append(test.weights, test.stretch)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def load(path: Path) -> LearnedDeck:
    """Read a deck's file.

    Raises:
        FileNotFoundError: there is no such file.
        DeckBroken: it cannot be read; the message says what to do.
    """
    try:
        raw = path.read_bytes()
        with np.load(BytesIO(raw), allow_pickle=False) as arrays:
            return _deck({name: arrays[name] for name in arrays.files})
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, LookupError, TypeError, zipfile.BadZipFile, zlib.error, cv2.error) as error:
        raise DeckBroken(f"{path} is torn or no deck ({error}): remove it and lay the deck again") from error


def _deck(arrays: Mapping[str, NDArray[Any]]) -> LearnedDeck:
    meta = json.loads(arrays["meta"].tobytes())
    if meta["format"] != _FORMAT:
        raise ValueError(f"its format is {meta['format']}, not {_FORMAT}")
    if not set(meta["laid"]) <= set(CARD_CLASSES):
        raise ValueError("it names cards that do not exist")
    factors = {name: _factor(name, arrays, meta[name]) for name in _FACTORS}
    weights = arrays["index.weights"].astype(np.float64)
    test = IndexTest(LinearMap(arrays["index.weight"], arrays["index.bias"]), weights[:3], float(weights[3]))
    confusions = tuple(Confusion(**c) for c in meta["confusions"])
    knowledge = Knowledge(index=test, laid=tuple(meta["laid"]), confusions=confusions, **factors)
    ends = np.cumsum(arrays["sizes"])
    pictures = (_picture(arrays["pictures"][e - s : e]) for s, e in zip(arrays["sizes"], ends, strict=True))
    looks = tuple(_unpacked(fields, pictures) for fields in meta["looks"])
    return LearnedDeck(str(meta["name"]), looks, knowledge, str(meta["weights"]))


def _factor(name: str, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]) -> Factor:
    lines = LinearMap(arrays[f"{name}.weight"], arrays[f"{name}.bias"])
    return Factor(
        lines, arrays[f"{name}.known"], float(numbers["temperature"]), float(numbers["ordinary"]),
        float(numbers["doubt"]), bool(numbers["elsewhere"]),
    )  # fmt: skip


def _unpacked(fields: Mapping[str, Any], pictures: Iterator[Image]) -> CardLook:
    indices, others, whole = ([next(pictures) for _ in range(fields[key])] for key in ("indices", "others", "whole"))
    empty = np.zeros((0, LOOK_H, LOOK_W, 3), np.uint8)
    return CardLook(
        fields["card"], np.stack(indices), np.stack(others) if others else empty, whole[0] if whole else None,
        float(fields["sharpness"]),
    )  # fmt: skip


def _picture(packed: NDArray[np.uint8]) -> Image:
    picture = cv2.imdecode(packed, cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("a picture in it cannot be read")
    return np.asarray(picture, np.uint8)
