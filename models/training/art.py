"""Deck art by other artists, rendered from where it is installed; none of it is copied into the project.

The model card lists sources and licences. Each deck gives faces (BGR, `FACE_W`×`FACE_H`) with the place of the index,
measured once by eye: the box over rank and suit, as fractions of the card.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from models.eye.geometry import Image

FACE_W, FACE_H = 240, 336
Box = tuple[float, float, float, float]  # x0, y0, x1, y1 as fractions of the card

_AISLERIOT = Path("/usr/share/aisleriot/cards")
_KDE_STANDARD = Path("/usr/share/carddecks/svg-standard/standard.svgz")

#: Index boxes (upper left corner), and the ranks that carry an index.
_SHEETS: dict[str, tuple[Box, str]] = {
    "ornamental": ((0.04, 0.045, 0.24, 0.43), "A23456789TJQK"),
    "dondorf": ((0.03, 0.02, 0.17, 0.25), "A23456789TJQK"),
    "ancient_french": ((0.03, 0.035, 0.16, 0.23), "A23456789TJQK"),
    "atlasnye": ((0.04, 0.045, 0.16, 0.235), "A23456789TJQK"),
    "berlin": ((0.04, 0.045, 0.16, 0.245), "A23456789TJQK"),
    "guyenne-classic": ((0.04, 0.025, 0.18, 0.25), "A23456789T"),
    "lattmann": ((0.035, 0.04, 0.155, 0.24), "A23456789TJQK"),
}
_GERMAN, _FRENCH = {"Q": "D", "J": "B"}, {"A": "1", "K": "R", "Q": "D", "J": "V"}
#: Printed letters that differ from the international ones.
_LETTERS = {"ancient_french": _FRENCH, "berlin": _GERMAN, "lattmann": _GERMAN}
_SHEET_RANKS, _SHEET_SUITS = "A23456789TJQK", "cdhs"


@dataclass(slots=True)
class ArtDeck:
    """Faces by card, the index box, the number of corners with an index, and court pictures to paste elsewhere."""

    name: str
    faces: dict[str, Image]
    index: Box
    corners: int
    courts: list[Image]
    letters: dict[str, str] = field(default_factory=dict)
    """The printed letter of each rank where it differs from the international one."""


def flatten(bgra: Image) -> Image:
    """Lay a transparent picture on white; the scene cuts the rounded corners."""
    if bgra.ndim == 2:
        return np.asarray(cv2.cvtColor(bgra, cv2.COLOR_GRAY2BGR), np.uint8)
    if bgra.shape[2] == 3:
        return np.asarray(bgra, np.uint8)
    alpha = bgra[..., 3:].astype(np.float32) / 255
    return (bgra[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)


def rasterise(svg: bytes, scratch: Path, *options: str) -> Image:
    """Render an SVG with rsvg-convert (apt librsvg2-bin)."""
    source, target = scratch / "art.svg", scratch / "art.png"
    source.write_bytes(svg)
    subprocess.run(["rsvg-convert", *options, str(source), "-o", str(target)], check=True, capture_output=True)
    image = cv2.imread(str(target), cv2.IMREAD_UNCHANGED)
    return flatten(np.asarray(image, np.uint8))


def _face(image: Image) -> Image:
    return np.asarray(cv2.resize(image, (FACE_W, FACE_H), interpolation=cv2.INTER_AREA), np.uint8)


def _courts(faces: dict[str, Image]) -> list[Image]:
    return [_court(faces[rank + suit]) for rank in "JQK" for suit in "cdhs"]


def _court(face: Image) -> Image:
    h, w = face.shape[:2]
    return np.ascontiguousarray(face[int(h * 0.1) : int(h * 0.9), int(w * 0.19) : int(w * 0.81)])


def sheet_deck(name: str, scratch: Path) -> ArtDeck:
    """Return a gnome-cards-data sheet: 13 columns ace to king, rows clubs, diamonds, hearts, spades, more."""
    box, ranks = _SHEETS[name]
    sheet = rasterise(gzip.decompress((_AISLERIOT / f"{name}.svgz").read_bytes()), scratch, "-w", str(13 * FACE_W))
    height = sheet.shape[0] / 5
    faces: dict[str, Image] = {}
    courts: list[Image] = []
    for row, suit in enumerate(_SHEET_SUITS):
        for column, rank in enumerate(_SHEET_RANKS):
            cell = sheet[round(row * height) : round((row + 1) * height), column * FACE_W : (column + 1) * FACE_W]
            # Stay slightly inside the cell: the black outline of some sheets does not belong to the card.
            face = _face(np.ascontiguousarray(cell[3:-3, 3:-3]))
            if rank in ranks:
                faces[rank + suit] = face
            if rank in "JQK":
                courts.append(_court(face))
    return ArtDeck(name, faces, box, 4 if name == "dondorf" else 2, courts, _LETTERS.get(name, {}))


def knoll_deck(folder: Path, scratch: Path) -> ArtDeck:
    """Return Byron Knoll's deck from the folder of SVGs named like 10C.svg."""
    faces: dict[str, Image] = {}
    for path in sorted(folder.glob("*.svg")):
        if path.stem.startswith("Joker"):
            continue
        card = path.stem[:-1].replace("10", "T") + path.stem[-1].lower()
        faces[card] = _face(rasterise(path.read_bytes(), scratch, "-h", str(FACE_H)))
    return ArtDeck("knoll", faces, (0.02, 0.01, 0.19, 0.25), 2, _courts(faces))


def kde_deck(scratch: Path) -> ArtDeck:
    """Return KDE's standard deck: one SVG whose groups are named like queen_spade."""
    svg = gzip.decompress(_KDE_STANDARD.read_bytes())
    words = {"A": "1", "J": "jack", "Q": "queen", "K": "king", "T": "10"}
    faces = {
        rank + suit[0]: _face(rasterise(svg, scratch, "-i", f"{words.get(rank, rank)}_{suit}", "-h", str(FACE_H)))
        for rank in _SHEET_RANKS
        for suit in ("club", "diamond", "heart", "spade")
    }
    # The ace of spades uses parts of another group and renders blank on its own.
    faces = {card: face for card, face in faces.items() if face[80:260, 60:180].std() > 3}
    return ArtDeck("kde-standard", faces, (0.03, 0.03, 0.17, 0.285), 2, _courts(faces))


# The package is React source; a stub of createElement turns each component back into the SVG it was made from.
_NODE = """
const fs=require('fs');
let src=fs.readFileSync(process.argv[1],'utf8').replace(/^import .*$/gm,'');
const names=[...src.matchAll(/(\\w+) as (\\w+)/g)].map(m=>[m[2],m[1]]);
src=src.replace(/export \\{[\\s\\S]*\\};/,'');
const keep=new Set(['viewBox','preserveAspectRatio','patternUnits']);
const attr=k=>k==='xlinkHref'?'xlink:href':k==='xmlnsXlink'?'xmlns:xlink':
  keep.has(k)?k:k.replace(/[A-Z]/g,c=>'-'+c.toLowerCase());
const el=(t,p,...c)=>'<'+t+Object.entries(p||{}).filter(([k,v])=>v!=null&&k!=='className')
  .map(([k,v])=>' '+attr(k)+'="'+v+'"').join('')+'>'+c.flat().filter(x=>x).join('')+'</'+t+'>';
const out=new Function('_extends','React',src+';return {'+names.map(([a,b])=>a+':'+b+'({})').join(',')+'}')
  (Object.assign,{createElement:el});
process.stdout.write(JSON.stringify(out));
"""


def kennard_deck(package: Path, scratch: Path) -> ArtDeck:
    """Return Adrian Kennard's deck from an unpacked npm package @letele/playing-cards 0.1.0; needs node."""
    command = ["node", "-e", _NODE, str(package / "dist" / "index.esm.js")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    faces: dict[str, Image] = {}
    for name, svg in json.loads(done.stdout).items():
        if name[0] in "CDHS":
            card = name[1:].upper().replace("10", "T") + name[0].lower()
            faces[card] = _face(rasterise(svg.encode(), scratch, "-h", str(FACE_H)))
    return ArtDeck("kennard", faces, (0.03, 0.03, 0.17, 0.255), 2, _courts(faces))


def load_all(decks: Path, letele: Path, scratch: Path) -> list[ArtDeck]:
    """Return every deck found; report each missing deck on standard output."""
    scratch.mkdir(parents=True, exist_ok=True)
    found = []
    if (decks / "knoll").is_dir():
        found.append(knoll_deck(decks / "knoll", scratch))
    else:
        print(f"no {decks / 'knoll'}: training goes on without that deck (--decks DIR)")
    if (letele / "dist").is_dir():
        found.append(kennard_deck(letele, scratch))
    else:
        print(f"no {letele}: run `npm pack @letele/playing-cards@0.1.0` and unpack it there; going on without")
    if _KDE_STANDARD.exists():
        found.append(kde_deck(scratch))
    found += [sheet_deck(name, scratch) for name in _SHEETS if (_AISLERIOT / f"{name}.svgz").exists()]
    return found
