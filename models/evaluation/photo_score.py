"""How well the eye reads a folder of photographs with a `labels.csv`: `make eval-photos`.

A labelled card is right if a reading of the same rank and suit has the centre of its corners inside the label's box
with 15 % margin; each reading serves one label; readings with confidence of 0.9 or more that match no label are false.
A label without a box is met by its card anywhere in the photograph. That is the strict table; the other leaves out the
labels of `disputes.csv`, and one reading of the disputed card with each.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.evaluation.disputes import Dispute, disputes
from models.evaluation.reliability import SURE, Said, words
from models.eye.eye import CardSeen, Eye
from models.eye.geometry import Image

MARGIN = 0.15
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Label:
    """One line of labels.csv: a card and its box x0, y0, x1, y1 (None where the file has none)."""

    card: str
    box: Box | None


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


@dataclass(slots=True, eq=False)
class Judged:
    """One photograph: its labels with the reading that meets each (or None), and the readings that meet none."""

    photo: str
    met: list[tuple[Label, CardSeen | None]]
    over: list[CardSeen]
    seconds: float = 0.0

    @property
    def tally(self) -> Tally:
        """The photograph's counts."""
        hits = [reading for _, reading in self.met if reading is not None]
        return Tally(
            photos=1,
            cards=len(self.met),
            right=len(hits),
            right_sure=sum(r.confidence >= SURE for r in hits),
            false_sure=sum(r.confidence >= SURE for r in self.over),
            readings=len(hits) + len(self.over),
            seconds=self.seconds,
        )

    @property
    def said(self) -> list[Said]:
        """Each reading that gave a name, with whether it met a label."""
        hits = [Said(r.confidence, True) for _, r in self.met if r is not None]
        return hits + [Said(r.confidence, False) for r in self.over if r.card != "??"]


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


def inside(box: Box | None, x: float, y: float) -> bool:
    """Whether a point lies in a label's box with its margin."""
    if box is None:
        return True
    mx, my = (box[2] - box[0]) * MARGIN, (box[3] - box[1]) * MARGIN
    return box[0] - mx <= x <= box[2] + mx and box[1] - my <= y <= box[3] + my


def match(photo: str, labels: Sequence[Label], seen: Iterable[CardSeen]) -> Judged:
    """Give readings to labels; surer readings are matched first, boxes before labels without one."""
    left = sorted(seen, key=lambda s: -s.confidence)
    met: list[tuple[Label, CardSeen | None]] = []
    for label in sorted(labels, key=lambda one: one.box is None):
        hit = None
        for k, reading in enumerate(left):
            x, y = (float(v) for v in reading.corners.mean(0))
            if reading.card == label.card and inside(label.box, x, y):
                hit = left.pop(k)
                break
        met.append((label, hit))
    return Judged(photo, met, left)


def score(labels: Sequence[Label], seen: Iterable[CardSeen]) -> Tally:
    """Score the readings of one photograph."""
    return match("", labels, seen).tally


def apart(judged: Judged, disputed: Sequence[Dispute]) -> Judged:
    """The same photograph without its disputed labels: each takes the reading that met it along, or one of its name."""
    met, over = [], list(judged.over)
    for label, hit in judged.met:
        if not any(d.photo == judged.photo and d.card == label.card and d.box == label.box for d in disputed):
            met.append((label, hit))
        elif hit is None:
            same = next((k for k, reading in enumerate(over) if reading.card == label.card), None)
            if same is not None:
                over.pop(same)
    return Judged(judged.photo, met, over, judged.seconds)


def photographs(folder: Path, every: int = 1) -> Iterator[tuple[str, list[Label], Image]]:
    """Every `every`-th labelled photograph with its labels; raises `LabelsError`."""
    import cv2

    for photo, labels in sorted(read_labels(folder).items())[::every]:
        image = cv2.imread(str(folder / photo))
        if image is None:
            raise LabelsError(f"{folder / photo} is named in labels.csv but cannot be read as a picture")
        yield photo, labels, image


def judge(eye: Eye, folder: Path, every: int = 1) -> Iterator[Judged]:
    """Read and match every `every`-th labelled photograph; raises `LabelsError`."""
    for photo, labels, image in photographs(folder, every):
        # CPU time: other programs may be running, and the eye runs in one thread.
        start = time.process_time()
        one = match(photo, labels, eye.recognise(image))
        one.seconds = time.process_time() - start
        yield one


def by_folder(judged: Iterable[Judged]) -> dict[str, Tally]:
    """Tallies by sub-folder."""
    tallies: dict[str, Tally] = {}
    for one in judged:
        tallies.setdefault(str(Path(one.photo).parent), Tally()).add(one.tally)
    return tallies


def evaluate(eye: Eye, folder: Path, every: int = 1) -> dict[str, Tally]:
    """Strict tallies by sub-folder; raises `LabelsError`."""
    return by_folder(judge(eye, folder, every))


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def table(tallies: dict[str, Tally]) -> str:
    """The figures as a Markdown table, with the mean over the folders."""
    lines = [
        "| folder | photos | cards | right % | right, said ≥ 0.9 % | false, said ≥ 0.9 | % | CPU ms |",
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
    """Print the tables and write the report; 2 with one clear line for a folder that cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m models.evaluation.photo_score", description="Score the eye on a folder with a labels.csv."
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/photos"))
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--every", type=int, default=1, help="only every N-th photograph")
    parser.add_argument("--report", type=Path, default=None, help="folder for report.html, which shows the failures")
    args = parser.parse_args()
    try:
        judged = list(judge(Eye.load(args.weights), args.folder, args.every))
    except (LabelsError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    known = disputes()
    cleared = [apart(one, known) for one in judged]
    print("Strict, as the contract scores:\n" + table(by_folder(judged)))
    print("\nDisputed labels apart (models/evaluation/disputes.csv):\n" + table(by_folder(cleared)))
    print("\n" + words([said for one in judged for said in one.said]))
    if args.report:
        from models.evaluation.photo_report import write

        print(f"\nthe failures, one by one: {write(args.report, args.folder, judged, known)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
