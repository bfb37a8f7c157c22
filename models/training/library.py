"""The library of faces: every deck, art or generated, rendered once and kept on disk under out/."""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.classes import CARD_CLASSES
from models.eye.geometry import Image
from models.eye.letters import GLYPHS
from models.training import art, backgrounds, fonts, generated_decks, wear
from models.training.art import FACE_H, FACE_W

_FACE_SHAPE = (FACE_H, FACE_W, 4)
#: One row per face: card (its class, -1 for a back), letter (of `GLYPHS`), deck, split (0 train, 1 held out), corners,
#: rank box, suit box.
META = np.dtype(
    [(name, "i2") for name in ("card", "letter", "deck")]
    + [(name, "i1") for name in ("split", "corners")]
    + [(name, "f4", 4) for name in ("rank", "suit")]
)


@dataclass(frozen=True, slots=True)
class Library:
    """Faces as BGRA with rounded corners, the same at half size, their metadata rows, and backgrounds."""

    faces: Image
    halves: Image
    meta: NDArray[np.void]
    backgrounds: Image
    by_deck: dict[int, NDArray[np.intp]]

    @staticmethod
    def open(folder: Path, split: int) -> Library:
        """Map the library made by `build`, restricted to decks of `split`. The files are read on demand."""
        meta = np.load(folder / "meta.npy")
        chosen = np.flatnonzero(meta["split"] == split)
        by_deck = {int(d): chosen[meta["deck"][chosen] == d] for d in np.unique(meta["deck"][chosen])}
        load = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("faces", "halves", "backgrounds")}
        return Library(load["faces"], load["halves"], meta, load["backgrounds"], by_deck)


def with_alpha(face: Image, radius: float) -> Image:
    """Return BGRA with the corners rounded by `radius` (a fraction of the width) and a soft edge."""
    mask = np.zeros((FACE_H * 2, FACE_W * 2), np.uint8)
    r = round(radius * FACE_W * 2)
    cv2.rectangle(mask, (r, 2), (FACE_W * 2 - r - 1, FACE_H * 2 - 3), 255, -1)
    cv2.rectangle(mask, (2, r), (FACE_W * 2 - 3, FACE_H * 2 - r - 1), 255, -1)
    for x in (r + 2, FACE_W * 2 - r - 3):
        for y in (r + 2, FACE_H * 2 - r - 3):
            cv2.circle(mask, (x, y), r, 255, -1, cv2.LINE_AA)
    alpha = cv2.resize(mask, (FACE_W, FACE_H), interpolation=cv2.INTER_AREA)
    return np.dstack([face, alpha]).astype(np.uint8)


class _Writer:
    """Writes faces, from a given row on, into the files created by `_begin`."""

    def __init__(self, folder: Path, row: int) -> None:
        self.faces, self.halves, self.meta = (
            np.lib.format.open_memmap(folder / f"{name}.npy", "r+") for name in ("faces", "halves", "meta")
        )
        self.row = row

    def add(self, face: Image, radius: float, values: tuple[object, ...]) -> None:
        whole = with_alpha(face, radius)
        self.faces[self.row] = whole
        self.halves[self.row] = cv2.resize(whole, (FACE_W // 2, FACE_H // 2), interpolation=cv2.INTER_AREA)
        self.meta[self.row] = values
        self.row += 1


def _begin(folder: Path, rows: int) -> None:
    half = (FACE_H // 2, FACE_W // 2, 4)
    np.lib.format.open_memmap(folder / "faces.npy", "w+", np.uint8, (rows, *_FACE_SHAPE))
    np.lib.format.open_memmap(folder / "halves.npy", "w+", np.uint8, (rows, *half))
    np.lib.format.open_memmap(folder / "meta.npy", "w+", META, (rows,))


#: Faces and back of a generated deck.
_ROWS_A_DECK = len(CARD_CLASSES) + generated_decks.MORE + 1


@dataclass(frozen=True, slots=True)
class _Generated:
    """Shared sources and destination of all generated decks."""

    folder: Path
    fonts: tuple[list[fonts.Font], list[fonts.Font]]
    courts: list[Image]
    training: int
    """Number of training decks; the later ones are held out."""
    art_decks: int
    first_row: int

    def draw_some(self, numbers: range) -> None:
        """Draw the generated decks of these numbers into their rows."""
        # A forked process lacks its parent's threads.
        cv2.setNumThreads(1)
        for n in numbers:
            self.draw(n)

    def draw(self, n: int) -> None:
        """Draw generated deck ``n`` into its rows."""
        out = _Writer(self.folder, self.first_row + n * _ROWS_A_DECK)
        split = int(n >= self.training)
        radius = float(np.random.default_rng((77, n)).uniform(0.025, 0.075))
        # Held-out decks use no pasted courts, only abstract ones and letters.
        faces, back = generated_decks.deck(1000 + n, self.fonts[split], [] if split else self.courts)
        number = self.art_decks + n
        for card, face in faces:
            names = (CARD_CLASSES.index(card), GLYPHS.index(face.letter), number)
            out.add(face.image, radius, (*names, split, face.corners, face.rank_box, face.suit_box))
        out.add(back, radius, (-1, -1, number, split, 0, (0.0,) * 4, (0.0,) * 4))


def build(folder: Path, art_decks: list[art.ArtDeck], generated: int, held_out: int, processes: int) -> None:
    """Render art decks, `generated` training decks and `held_out` decks in held-out fonts into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    usable = fonts.installed()
    known, unknown = [f for f in usable if not f.held_out], [f for f in usable if f.held_out]
    art_rows = 2 * sum(len(d.faces) for d in art_decks)
    _begin(folder, art_rows + (generated + held_out) * _ROWS_A_DECK)
    out = _Writer(folder, 0)
    for number, deck in enumerate(art_decks):
        x0, y0, x1, y1 = deck.index
        middle = y0 + (y1 - y0) * 0.58
        rank_box, suit_box = (x0, y0, x1, middle), (x0, middle, x1, y1)
        used = np.random.default_rng((78, number))
        for card, image in deck.faces.items():
            letter = GLYPHS.index(deck.letters.get(card[0], "10" if card[0] == "T" else card[0]))
            values = (CARD_CLASSES.index(card), letter, number, 0, deck.corners, rank_box, suit_box)
            out.add(image, 0.05, values)
            out.add(wear.worn(image, used, 0.8), 0.05, values)
    courts = [court for deck in art_decks for court in deck.courts]
    decks = _Generated(folder, (known, unknown), courts, generated, len(art_decks), art_rows)
    words = [f.path for f in known]
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(decks.draw_some, [range(i, generated + held_out, processes) for i in range(processes)]))
        drawn = list(pool.map(partial(backgrounds.draw, words=words), range(300)))
    # Written last: this file marks a finished run.
    np.save(folder / "backgrounds.npy", np.stack(drawn))


def main() -> None:
    """Build the library (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decks", type=Path, default=Path("../shared/decks"), help="folder that holds knoll/")
    parser.add_argument(
        "--letele", type=Path, default=Path("out/eye/letele/package"), help="unpacked @letele/playing-cards"
    )
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--generated", type=int, default=500)
    parser.add_argument("--held-out", type=int, default=24)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    found = art.load_all(args.decks, args.letele, args.out / "scratch")
    build(args.out / "library", found, args.generated, args.held_out, args.processes)
    made = args.generated + args.held_out
    print(f"library of {len(found)} art decks and {made} generated ones in {args.out / 'library'}")


if __name__ == "__main__":
    main()
