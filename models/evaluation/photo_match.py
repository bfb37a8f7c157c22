"""Compares readings with labelled photographs: matches, failures and counts.

A labelled card is right if a reading of the same rank and suit has the centre of its corners inside the label's box
with 15 % margin; each reading serves one label; readings with confidence of 0.9 or more that match no label are false.
A label without a box is met by its card anywhere in the photograph.

`disputes.csv` lists labels that are demonstrably wrong, for figures with and without them. A label is disputed only if
the photograph itself shows that no right answer could meet it: another card lies there, or the box holds only the
visible part of a card whose centre lies outside the box and its margin. The eye's readings play no part.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from models.evaluation.reliability import ScoredReading
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import CardSeen
from models.eye.geometry import Points, overlap

LABEL_MARGIN: Final = 0.15
Box = tuple[float, float, float, float]
_DISPUTES: Final = Path(__file__).parent / "disputes.csv"
DISPUTE_KINDS: Final = {
    "covered": "the box holds what shows of a card that is partly covered; the whole card's centre lies outside",
    "cut": "the box holds what shows of a card that the picture's edge cuts off; the whole card's centre lies outside",
    "card": "another card than the label's lies there",
}
_RANK_NAMES: Final = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUIT_NAMES: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


@dataclass(frozen=True, slots=True)
class Label:
    """One line of labels.csv: a card and its box x0, y0, x1, y1 (None if the file has none)."""

    card: str
    box: Box | None


@dataclass(frozen=True, slots=True)
class DisputedLabel:
    """A disputed label: the photograph, the label's card and box (px), and the reason."""

    photo: str
    card: str
    box: Box
    kind: str
    """One of `DISPUTE_KINDS`."""
    centre: tuple[float, float] | None
    """Centre of the whole card, px; None if the label names another card."""
    reason: str


@dataclass(slots=True)
class PhotoTally:
    """Counts over a folder of photographs."""

    photos: int = 0
    cards: int = 0
    right: int = 0
    right_sure: int = 0
    false_sure: int = 0
    seconds: float = 0.0

    def add(self, other: PhotoTally) -> None:
        """Add another's counts."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True, eq=False)
class JudgedPhoto:
    """One photograph: its labels with the reading that meets each (or None), and the readings that meet no label."""

    photo: str
    met: list[tuple[Label, CardSeen | None]]
    over: list[CardSeen]
    seconds: float = 0.0

    @property
    def tally(self) -> PhotoTally:
        """The photograph's counts."""
        hits = [reading for _, reading in self.met if reading is not None]
        return PhotoTally(
            photos=1,
            cards=len(self.met),
            right=len(hits),
            right_sure=sum(r.confidence >= SURE_READING for r in hits),
            false_sure=sum(r.confidence >= SURE_READING for r in self.over),
            seconds=self.seconds,
        )

    @property
    def scored(self) -> list[ScoredReading]:
        """Each reading that gave a name, with whether it met a label."""
        hits = [ScoredReading(r.confidence, True) for _, r in self.met if r is not None]
        return hits + [ScoredReading(r.confidence, False) for r in self.over if r.card != UNREAD]


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """A label that no reading met, or a sure reading that met no label; ``weight`` orders them, the worst highest."""

    photo: str
    label: Label | None
    reading: CardSeen | None
    kind: str
    """``wrong``, ``false``, ``unread``, ``missed`` or ``misplaced``."""
    sentence: str
    weight: float


class LabelsError(ValueError):
    """The folder holds no usable labels.csv; the message says what is missing."""


def read_labels(folder: Path) -> dict[str, list[Label]]:
    """Labels by photograph (path relative to the folder); raises `LabelsError`."""
    path = folder / "labels.csv"
    if not path.is_file():
        raise LabelsError(f"no {path}: give a folder with photographs and a labels.csv (photo,card,x0,y0,x1,y1)")
    out: dict[str, list[Label]] = {}
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                box = [row[k] for k in ("x0", "y0", "x1", "y1")]
                place = tuple(float(v) for v in box) if all(box) else None
                out.setdefault(row["photo"], []).append(Label(row["card"], place))  # type: ignore[arg-type]
            except (KeyError, TypeError, ValueError) as error:
                raise LabelsError(f"{path} line {number}: {error}; a line is photo,card,x0,y0,x1,y1") from error
    return out


def read_disputes(path: Path = _DISPUTES) -> list[DisputedLabel]:
    """Return all disputed labels; raises `ValueError` that names an invalid line."""
    out = []
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                x0, y0, x1, y1 = (float(row[k]) for k in ("x0", "y0", "x1", "y1"))
                centre = (float(row["centre_x"]), float(row["centre_y"])) if row["centre_x"] else None
                if row["kind"] not in DISPUTE_KINDS:
                    raise ValueError(f"kind {row['kind']!r} is none of {', '.join(DISPUTE_KINDS)}")
                box = (x0, y0, x1, y1)
                out.append(DisputedLabel(row["photo"], row["card"], box, row["kind"], centre, row["reason"]))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path} line {number}: {error}") from error
    return out


def is_inside(box: Box | None, x: float, y: float) -> bool:
    """Whether a point lies in a label's box with its margin."""
    return box is None or distance_beyond(box, x, y) == 0.0


def distance_beyond(box: Box, x: float, y: float) -> float:
    """Return the distance of a point from a box and its margin, px; 0 inside."""
    mx, my = (box[2] - box[0]) * LABEL_MARGIN, (box[3] - box[1]) * LABEL_MARGIN
    dx = max(box[0] - mx - x, 0.0, x - (box[2] + mx))
    dy = max(box[1] - my - y, 0.0, y - (box[3] + my))
    return float(np.hypot(dx, dy))


def match(photo: str, labels: Sequence[Label], seen: Iterable[CardSeen]) -> JudgedPhoto:
    """Match readings to labels, surer readings first, labels with a box before those without."""
    left = sorted(seen, key=lambda s: -s.confidence)
    met: list[tuple[Label, CardSeen | None]] = []
    for label in sorted(labels, key=lambda labelled: labelled.box is None):
        hits = (k for k, r in enumerate(left) if r.card == label.card and is_inside(label.box, *_centre(r)))
        hit = next(hits, None)
        met.append((label, None if hit is None else left.pop(hit)))
    return JudgedPhoto(photo, met, left)


def _centre(reading: CardSeen) -> tuple[float, float]:
    x, y = reading.corners.mean(0)
    return float(x), float(y)


def without_disputed(judged: JudgedPhoto, disputed: Sequence[DisputedLabel]) -> JudgedPhoto:
    """Return the photograph without its disputed labels, each with the reading that met it or one of its name."""
    met, over = [], list(judged.over)
    for label, hit in judged.met:
        if not any(d.photo == judged.photo and d.card == label.card and d.box == label.box for d in disputed):
            met.append((label, hit))
        elif hit is None:
            same = next((k for k, reading in enumerate(over) if reading.card == label.card), None)
            if same is not None:
                over.pop(same)
    return JudgedPhoto(judged.photo, met, over, judged.seconds)


# Failures


def _card_text(card: str) -> str:
    """Return a card in words: "7 of hearts"."""
    return f"{_RANK_NAMES.get(card[0], card[0])} of {_SUIT_NAMES[card[1]]}" if card[1] in _SUIT_NAMES else "joker"


def failures(judged: JudgedPhoto) -> list[Failure]:
    """Return the failures on one photograph, worst first."""
    left = list(judged.over)
    out = []
    for label, hit in judged.met:
        if hit is None:
            one = _missed(judged.photo, label, left)
            left = [r for r in left if r is not one.reading]
            out.append(one)
    for reading in left:
        if reading.confidence >= SURE_READING:
            sentence = f"The {_card_text(reading.card)} is read with {reading.confidence:.3f} where no label names it."
            out.append(Failure(judged.photo, None, reading, "false", sentence, 4 + reading.confidence))
    return sorted(out, key=lambda f: -f.weight)


def _missed(photo: str, label: Label, left: Sequence[CardSeen]) -> Failure:
    """Return why a label was not met: its card is read elsewhere, another is read in its place, or none is."""
    name = _card_text(label.card)
    same = [r for r in left if r.card == label.card]
    if same and label.box is not None:
        reading = max(same, key=lambda r: r.confidence)
        out = distance_beyond(label.box, *_centre(reading))
        sentence = (
            f"The {name} is read rightly with {reading.confidence:.3f}, but the centre of its corners lies "
            f"{out:.0f} px outside the label's box and margin."
        )
        return Failure(photo, label, reading, "misplaced", sentence, 1 + min(1.0, out / 100))
    share, other = max(((_share_in(label.box, r), r) for r in left), key=lambda item: item[0], default=(0.0, None))
    if other is None or share < 0.25:
        return Failure(photo, label, None, "missed", f"The {name} is not found.", 2.0)
    if other.card == UNREAD:
        sentence = f"The {name} is found but not read: the best guess was believed with {other.confidence:.2f} only."
        return Failure(photo, label, other, "unread", sentence, 2.0)
    sentence = f"The {name} is read as the {_card_text(other.card)}, with {other.confidence:.3f}."
    weight = (5 if other.confidence >= SURE_READING else 3) + other.confidence
    return Failure(photo, label, other, "wrong", sentence, weight)


def _share_in(box: Box | None, reading: CardSeen) -> float:
    """Return the overlap of box and reading as a share of the smaller; an index in the box counts as whole."""
    if box is None:
        return 0.0
    if any(is_inside(box, float(x), float(y)) for x, y in reading.indices) and is_inside(box, *_centre(reading)):
        return 1.0
    return overlap(reading.corners, box_corners(box))


def box_corners(box: Box) -> Points:
    """The corners of a box, (4, 2), clockwise from the upper left."""
    x0, y0, x1, y1 = box
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)


# Counts


def by_folder(judged: Iterable[JudgedPhoto]) -> dict[str, PhotoTally]:
    """Return the tallies by sub-folder."""
    tallies: dict[str, PhotoTally] = {}
    for photo in judged:
        tallies.setdefault(str(Path(photo.photo).parent), PhotoTally()).add(photo.tally)
    return tallies


def tally_table(tallies: dict[str, PhotoTally]) -> str:
    """Return the figures as a Markdown table, with the mean over the folders."""
    lines = [
        "| folder | photos | cards | right % | right, said ≥ 0.9 % | false, said ≥ 0.9 | % | CPU ms |",
        "| --- " * 8 + "|",
    ]
    whole, shares = PhotoTally(), []
    for name, t in tallies.items():
        whole.add(t)
        shares.append([100 * part / max(1, t.cards) for part in (t.right, t.right_sure, t.false_sure)])
        lines.append(_tally_row(name, t, shares[-1] if t.cards else None))
    lines.append(_tally_row("mean of folders", whole, np.mean(shares, 0).tolist() if shares else [0.0] * 3))
    return "\n".join(lines)


def _tally_row(name: str, t: PhotoTally, shares: Sequence[float] | None) -> str:
    right, sure, false = ("–",) * 3 if shares is None else (f"{share:.1f}" for share in shares)
    milliseconds = 1000 * t.seconds / max(1, t.photos)
    return f"| {name} | {t.photos} | {t.cards} | {right} | {sure} | {t.false_sure} | {false} | {milliseconds:.0f} |"
