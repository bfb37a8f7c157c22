"""How well the eye reads a folder of photographs with a `labels.csv`: the table of `make eval-photos`.

A labelled card is right if a reading of the same rank and suit has the centre of its corners inside the label's box
with 15 % margin; each reading serves one label; readings with confidence of 0.9 or more that match no label are false.
A label without a box is met by its card anywhere in the photograph.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.eye import CardSeen, Eye

SURE = 0.9
MARGIN = 0.15


@dataclass(frozen=True, slots=True)
class Label:
    """One line of labels.csv: a card and its box x0, y0, x1, y1 (None where the file has none)."""

    card: str
    box: tuple[float, float, float, float] | None


@dataclass(slots=True)
class Tally:
    """Counts over a folder of photographs."""

    photos: int = 0
    cards: int = 0
    right: int = 0
    right_sure: int = 0
    false_sure: int = 0
    readings: int = 0
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Add another's counts."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


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


def _inside(box: tuple[float, float, float, float] | None, x: float, y: float) -> bool:
    if box is None:
        return True
    mx, my = (box[2] - box[0]) * MARGIN, (box[3] - box[1]) * MARGIN
    return box[0] - mx <= x <= box[2] + mx and box[1] - my <= y <= box[3] + my


def score(labels: Sequence[Label], seen: Iterable[CardSeen]) -> Tally:
    """Score the readings of one photograph; surer readings are matched first, boxes before labels without one."""
    left = sorted(seen, key=lambda s: -s.confidence)
    tally = Tally(photos=1, cards=len(labels), readings=len(left))
    for label in sorted(labels, key=lambda one: one.box is None):
        for reading in left:
            x, y = (float(v) for v in reading.corners.mean(0))
            if reading.card == label.card and _inside(label.box, x, y):
                tally.right += 1
                tally.right_sure += reading.confidence >= SURE
                left.remove(reading)
                break
    tally.false_sure = sum(s.confidence >= SURE for s in left)
    return tally


def evaluate(eye: Eye, folder: Path, every: int = 1) -> dict[str, Tally]:
    """Tallies by sub-folder over every `every`-th labelled photograph; raises `LabelsError`."""
    import cv2

    tallies: dict[str, Tally] = {}
    for photo, labels in sorted(read_labels(folder).items())[::every]:
        image = cv2.imread(str(folder / photo))
        if image is None:
            raise LabelsError(f"{folder / photo} is named in labels.csv but cannot be read as a picture")
        start = time.perf_counter()
        seen = eye.recognise(image)
        one = score(labels, seen)
        one.seconds = time.perf_counter() - start
        tallies.setdefault(str(Path(photo).parent), Tally()).add(one)
    return tallies


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def table(tallies: dict[str, Tally]) -> str:
    """The figures as a Markdown table, with the mean over the folders."""
    lines = [
        "| folder | photos | cards | right % | right, said ≥ 0.9 % | false, said ≥ 0.9 | % | ms |",
        "| --- " * 8 + "|",
    ]
    for name, t in tallies.items():
        lines.append(
            f"| {name} | {t.photos} | {t.cards} | {_percent(t.right, t.cards)} | {_percent(t.right_sure, t.cards)} "
            f"| {t.false_sure} | {_percent(t.false_sure, t.cards)} | {1000 * t.seconds / max(1, t.photos):.0f} |"
        )
    n = max(1, len(tallies))
    means = [
        sum(100 * getattr(t, name) / max(1, t.cards) for t in tallies.values()) / n
        for name in ("right", "right_sure", "false_sure")
    ]
    whole = Tally()
    for t in tallies.values():
        whole.add(t)
    lines.append(
        f"| mean of folders | {whole.photos} | {whole.cards} | {means[0]:.1f} | {means[1]:.1f} "
        f"| {whole.false_sure} | {means[2]:.1f} | {1000 * whole.seconds / max(1, whole.photos):.0f} |"
    )
    return "\n".join(lines)


def main() -> int:
    """Print the table; 2 with one clear line for a folder that cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m models.evaluate", description="Score the eye on a folder with a labels.csv."
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/photos"))
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--every", type=int, default=1, help="only every N-th photograph")
    args = parser.parse_args()
    try:
        print(table(evaluate(Eye.load(args.weights), args.folder, args.every)))
    except (LabelsError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
