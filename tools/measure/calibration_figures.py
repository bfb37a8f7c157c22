"""Accuracy of found tables and of readings (docs/figures.md): `make calibration-figures`.

Measured are the distance of the found table from the truth, over random simulated cameras, and the size, sharpness and
stillness down to which cards are read.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.pictures.overhead import Overhead, Top
from models.eye.eye import Eye
from models.table_view.sheet import find_sheet
from models.table_view.table_map import TableFound, fit_table
from referee.errors import UserError
from referee.setup.calibration.find_table import find_by_cards
from tests.support.overhead import Bytes, true_card_height, with_cards, with_sheet, worst_mm, worst_px

CARDS = ("7h", "Kc", "2d", "Ts", "Ah", "Js", "9c", "Qd", "5s", "3h", "8d", "6c")


def cameras(count: int) -> Iterator[Overhead]:
    """Yield plausible cameras: up to 20 degrees off upright, 560 to 900 mm high, somewhat soft and noisy."""
    chance = np.random.default_rng(7)
    for seed in range(count):
        yield Overhead(
            tilt=chance.uniform(0, 20), towards=chance.uniform(0, 360), turn=chance.uniform(-20, 20),
            height=chance.uniform(640, 900), focal=chance.uniform(0.95, 1.25), blur=chance.uniform(0.5, 1.5),
            noise=chance.uniform(1, 4), light=chance.uniform(0.5, 1.2), seed=seed,
        )  # fmt: skip


def found_tables(eye: Eye, count: int) -> None:
    """Print the distances of found tables from the truth."""
    print("| by | found | error, px: median, worst | mm: median, worst | tilt, °: median, worst | card height: worst |")
    print("| --- | --- | --- | --- | --- | --- |")
    tops = {
        "sheet": with_sheet(),
        "cards of 57×89 mm": with_cards(family="meadow"),
        "cards of 63×88 mm": with_cards(family="harbour"),
    }
    for by, top in tops.items():
        rows = []
        for camera in cameras(count):
            found = _found(by, camera, top, eye)
            if found is not None:
                tall = abs(found.view.card_height() / true_card_height(camera) - 1)
                rows.append((worst_px(found, camera), worst_mm(found, camera), abs(found.tilt - camera.tilt), tall))
        px, mm, tilt, tall = np.array(rows).T
        print(
            f"| {by} | {len(rows)} of {count} | {np.median(px):.2f}, {px.max():.2f} | {np.median(mm):.2f}, "
            f"{mm.max():.2f} | {np.median(tilt):.2f}, {tilt.max():.2f} | {100 * tall.max():.1f} % |"
        )


def _found(by: str, camera: Overhead, top: Top, eye: Eye) -> TableFound | None:
    image = camera.picture(top)
    if by == "sheet":
        seen = find_sheet(image)
        return None if seen is None else fit_table(seen.mm, seen.px, camera.size)
    try:
        return find_by_cards(image, eye).table
    except UserError:
        return None


def _laid(family: str) -> Top:
    top = Top(seed=3)
    for k, card in enumerate(CARDS):
        top.lay_card(card, -225 + 150 * (k % 4), -130 + 130 * (k // 4), k * 37, family)
    return top


def _smeared(camera: Overhead, top: Top, mm: float) -> Bytes:
    """Return a picture in which everything moves by a distance in mm during the exposure."""
    length = mm * camera.focal * camera.size[0] / camera.height
    kernel = np.zeros((61, 61), np.float32)
    for share in np.linspace(-0.5, 0.5, 240):
        kernel[round(30 + share * length * math.sin(0.5)), round(30 + share * length * math.cos(0.5))] += 1 / 240
    return camera.developed(np.asarray(cv2.filter2D(camera.exposed(top), -1, kernel), np.float32))


def read_cards(eye: Eye) -> None:
    """Print how many of the cards are read, and how many with confidence."""
    tops = [_laid(family) for family in sorted(FAMILIES)[:4]]

    def line(words: str, pictures: list[NDArray[np.uint8]]) -> None:
        read = [{seen.card: seen.confidence for seen in eye.recognise(picture)} for picture in pictures]
        right = sum(card in names for names in read for card in CARDS)
        sure = sum(names.get(card, 0) >= 0.9 for names in read for card in CARDS)
        print(f"| {words} | {right} of {len(CARDS) * len(read)} | {sure} |")

    print("| cards | read | surely |\n| --- | --- | --- |")
    for height in (620, 1000, 1200, 1600, 1900):
        camera = Overhead(height=height)
        line(f"{true_card_height(camera):.0f} px tall", [camera.picture(top) for top in tops])
    for blur in (1.0, 1.5, 2.0, 2.5):
        camera = Overhead(height=940, blur=blur)
        share = 2.563 * math.hypot(blur, 0.4) / true_card_height(camera)
        line(f"edges over {100 * share:.1f} % of their height", [camera.picture(top) for top in tops])
    for mm in (3.0, 4.0, 6.0, 8.0):
        line(f"smeared by {mm:.0f} mm", [_smeared(Overhead(height=940), top, mm) for top in tops])
    for noise in (6.0, 12.0, 25.0):
        line(f"noise of {noise:.0f} grey levels", [Overhead(height=940, noise=noise).picture(top) for top in tops])


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--cameras", type=int, default=40)
    parser.add_argument("--tables-only", action="store_true")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    eye = Eye.load()
    found_tables(eye, options.cameras)
    if not options.tables_only:
        print()
        read_cards(eye)


if __name__ == "__main__":
    main()
