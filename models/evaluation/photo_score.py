"""Scores the eye on a folder of photographs with a `labels.csv`: `make eval-photos`.

It prints two tables, one strict and one without the labels of `disputes.csv` and one reading of the disputed card for
each (`models.evaluation.photo_match` has the rules), then the reliability of the confidence. ``--grey`` reads the
photographs as from a monochrome camera, when no suit may be named with confidence.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

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
from models.eye.geometry import Image


def without_colour(image: Image, number: int) -> Image:
    """Return the picture as from one of three monochrome cameras: plain, as a JPEG, or tinted and as a JPEG."""
    grey = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    if number % 3 == 0:
        return np.asarray(grey, np.uint8)
    tinted = grey * ((1.0, 1.0, 1.0), (1.03, 0.97, 1.0))[number % 3 - 1]
    _, data = cv2.imencode(".jpg", np.clip(tinted + 0.5, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def judge(eye: Eye, folder: Path, every: int = 1, grey: bool = False) -> Iterator[JudgedPhoto]:
    """Read and match every `every`-th labelled photograph, with colour or ``grey``; raises `LabelsError`."""
    for number, (photo, labels) in enumerate(sorted(read_labels(folder).items())[::every]):
        image = cv2.imread(str(folder / photo))
        if image is None:
            raise LabelsError(f"{folder / photo} is named in labels.csv but cannot be read as a picture")
        if grey:
            image = without_colour(np.asarray(image, np.uint8), number)
        # CPU time, since other programs may be running and the eye uses one thread.
        start = time.process_time()
        one = match(photo, labels, eye.recognise(image))
        one.seconds = time.process_time() - start
        yield one


def main() -> int:
    """Print the tables and write the report; return 2 after one clear line if the folder cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m models.evaluation.photo_score", description="Score the eye on a folder with a labels.csv."
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/photos"))
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--every", type=int, default=1, help="only every N-th photograph")
    parser.add_argument("--grey", action="store_true", help="as a monochrome camera gives them")
    parser.add_argument("--report", type=Path, default=None, help="folder for report.html, which shows the failures")
    args = parser.parse_args()
    try:
        judged = list(judge(Eye.load(args.weights), args.folder, args.every, args.grey))
    except (LabelsError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    if args.grey:
        seen = [[*photo.over, *(reading for _, reading in photo.met if reading is not None)] for photo in judged]
        told = sum(all(reading.grey for reading in each) for each in seen if each)
        print(f"Told to be without colour: {told} of {sum(map(bool, seen))} photographs in which cards are seen.\n")
    known = read_disputes()
    cleared = [without_disputed(photo, known) for photo in judged]
    print("Strict, as the contract scores:\n" + tally_table(by_folder(judged)))
    print("\nDisputed labels apart (models/evaluation/disputes.csv):\n" + tally_table(by_folder(cleared)))
    print("\n" + summary([reading for photo in judged for reading in photo.scored]))
    if args.report:
        print(f"\nthe failures, one by one: {write_report(args.report, args.folder, judged, known)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
