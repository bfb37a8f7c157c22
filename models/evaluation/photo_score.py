"""How well the eye reads a folder of photographs with a `labels.csv`: `make eval-photos`.

Two tables are printed, one strict and one without the labels of `disputes.csv` and one reading of the disputed card
with each (`models.evaluation.photo_match` has the rules), then how far a confidence can be relied on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import cv2

from models.evaluation.photo_match import (
    JudgedPhoto,
    LabelsError,
    by_folder,
    match,
    read_disputes,
    read_labels,
    tally_table,
    without_disputed,
)
from models.evaluation.photo_report import write_report
from models.evaluation.reliability import summary
from models.eye.eye import Eye


def judge(eye: Eye, folder: Path, every: int = 1) -> Iterator[JudgedPhoto]:
    """Read and match every `every`-th labelled photograph; raises `LabelsError`."""
    for photo, labels in sorted(read_labels(folder).items())[::every]:
        image = cv2.imread(str(folder / photo))
        if image is None:
            raise LabelsError(f"{folder / photo} is named in labels.csv but cannot be read as a picture")
        # CPU time: other programs may be running, and the eye runs in one thread.
        start = time.process_time()
        one = match(photo, labels, eye.recognise(image))
        one.seconds = time.process_time() - start
        yield one


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
    known = read_disputes()
    cleared = [without_disputed(one, known) for one in judged]
    print("Strict, as the contract scores:\n" + tally_table(by_folder(judged)))
    print("\nDisputed labels apart (models/evaluation/disputes.csv):\n" + tally_table(by_folder(cleared)))
    print("\n" + summary([reading for one in judged for reading in one.scored]))
    if args.report:
        print(f"\nthe failures, one by one: {write_report(args.report, args.folder, judged, known)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
