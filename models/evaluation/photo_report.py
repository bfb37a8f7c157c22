"""The report on a folder of photographs: one HTML file with its pictures inside, plain enough to print.

It shows photographs, so it is written where the user says (under ``out/``) and is no part of the project.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from models.evaluation import charts
from models.evaluation.disputes import KINDS, Dispute
from models.evaluation.failures import Failure, failures
from models.evaluation.photo_score import MARGIN, Box, Judged, apart, by_folder, table
from models.evaluation.reliability import table as bins_table
from models.evaluation.reliability import words
from models.eye.annotate import draw_dashed, draw_readings
from models.eye.eye import CardSeen
from models.eye.geometry import Image

WORST = 10
SIDE = 800
"""Longer side of a picture in the report, px."""
LABEL = (200, 90, 20)
STYLE = """body{font:15px/1.45 Georgia,serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
h1,h2{font-weight:600}table{border-collapse:collapse;margin:1em 0}td,th{padding:.25em .8em;border-bottom:1px solid #ccc;
text-align:right}td:first-child,th:first-child{text-align:left}figure{margin:1.2em 0;break-inside:avoid}
img{max-width:100%;border:1px solid #ccc}figure img{max-height:34em}figcaption{margin-top:.3em}code{font-size:90%}
@media print{body{margin:0;max-width:none}h2{break-after:avoid}}"""


def write(folder: Path, photos: Path, judged: Sequence[Judged], disputed: Sequence[Dispute]) -> Path:
    """Write `report.html` into a folder, which is made if need be; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    known = [d for d in disputed if any(d.photo == one.photo for one in judged)]
    cleared = [apart(one, known) for one in judged]
    said = [s for one in judged for s in one.said]
    mine = sorted((f for one in cleared for f in failures(one)), key=lambda f: -f.weight)
    by_photo = {one.photo: one for one in judged}
    parts = [
        f"<h1>The eye on {len(judged)} photographs</h1>",
        f"<p>{html.escape(str(photos))}. A labelled card is right if a reading of its name has the centre of its "
        "corners inside the label's box with 15 % margin; readings said with 0.9 or more that meet no label are "
        "false.</p>",
        "<h2>Strict, as the contract scores</h2>",
        _table(table(by_folder(judged))),
        "<h2>Disputed labels apart</h2>",
        _table(table(by_folder(cleared))),
        f"<h2>The worst {min(WORST, len(mine))} of {len(mine)} failures</h2>",
        f"<p>{_kinds(mine)} Disputed labels are further down. Blue, dashed: the label's box.</p>",
        *(_failure(photos, by_photo[f.photo], f) for f in mine[:WORST]),
        "<h2>Whether confidence means what it says</h2>",
        f"<p>{html.escape(words(said)).replace(chr(10), '<br>')}</p>",
        f"<p>{_image(charts.reliability(said, f'Reliability on {len(judged)} photographs, strict'), '.png')}</p>",
        _table(bins_table(said)),
        f"<h2>Disputed labels ({len(known)})</h2>",
        "<p>Labels that the photograph itself shows no right answer can meet (<code>models/evaluation/disputes.csv</code>). "
        "Blue, dashed: the label's box and, thin, its margin; cross: where the whole card's centre lies.</p>",
        *(_dispute(photos, by_photo[d.photo], d) for d in known),
    ]
    path = folder / "report.html"
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>The eye on photographs</title>"
        f"<style>{STYLE}</style><body>{''.join(parts)}</body></html>"
    )
    path.write_text(page, encoding="utf-8")
    return path


def _kinds(found: Sequence[Failure]) -> str:
    """How many failures there are of each kind, in words."""
    said = {
        "wrong": "read as another card",
        "false": "read surely where there is none",
        "unread": "found but not read",
        "missed": "not found",
        "misplaced": "read rightly, corners off",
    }
    counts = [(sum(f.kind == kind for f in found), text) for kind, text in said.items()]
    return "; ".join(f"{n} {text}" for n, text in counts if n) + "."


def _failure(photos: Path, judged: Judged, failure: Failure) -> str:
    box = failure.label.box if failure.label else None
    picture = _shown(photos, judged, box, failure.reading, None)
    return _figure(picture, failure.photo, f"<b>{failure.kind}</b>. {html.escape(failure.sentence)}")


def _dispute(photos: Path, judged: Judged, dispute: Dispute) -> str:
    same = [r for r in readings(judged) if r.card == dispute.card]
    picture = _shown(photos, judged, dispute.box, same[0] if same else None, dispute.centre)
    caption = f"<b>{dispute.card}</b>: {KINDS[dispute.kind]}. {html.escape(dispute.reason)}"
    return _figure(picture, dispute.photo, caption)


def readings(judged: Judged) -> list[CardSeen]:
    """All readings of a photograph, surest first."""
    return sorted([r for _, r in judged.met if r is not None] + judged.over, key=lambda r: -r.confidence)


def _shown(
    photos: Path, judged: Judged, box: Box | None, reading: CardSeen | None, centre: tuple[float, float] | None
) -> str:
    """The part of a photograph that a failure is about, with the label's box and what was read there."""
    image = cv2.imread(str(photos / judged.photo))
    assert image is not None  # it has just been evaluated
    points = [np.array([box[:2], box[2:]], np.float64)] if box else []
    points += [reading.corners] if reading is not None else []
    spread = np.concatenate(points or [np.array([[0.0, 0.0], image.shape[1::-1]])])
    low, high = spread.min(0), spread.max(0)
    border = 0.2 * float((high - low).max()) + 10
    h, w = image.shape[:2]
    x0, y0 = np.clip(np.floor(low - border), 0, [w - 16, h - 16]).astype(int).tolist()
    x1, y1 = np.clip(np.ceil(high + border), [x0 + 16, y0 + 16], [w, h]).astype(int).tolist()
    part = image[y0:y1, x0:x1]
    k = SIDE / max(part.shape[:2])
    part = cv2.resize(part, None, fx=k, fy=k, interpolation=cv2.INTER_CUBIC if k > 1 else cv2.INTER_AREA)
    corner = np.array([x0, y0], np.float64)
    if box:
        _box(part, (np.array(box).reshape(2, 2) - corner) * k, 2)
        if centre:
            m = MARGIN * np.array([box[2] - box[0], box[3] - box[1]])
            _box(part, (np.array(box).reshape(2, 2) + np.array([-m, m]) - corner) * k, 1)
    size = np.array(part.shape[1::-1])
    near = [
        replace(r, corners=(r.corners - corner) * k, indices=(r.indices - corner) * k)
        for r in readings(judged)
        if r is reading or bool(((r.indices - corner) * k >= 0).all() and ((r.indices - corner) * k < size).all())
    ]
    if centre:
        at = tuple(np.round((np.array(centre) - corner) * k).astype(int).tolist())
        cv2.drawMarker(part, at, (255, 255, 255), cv2.MARKER_CROSS, 30, 7)
        cv2.drawMarker(part, at, LABEL, cv2.MARKER_CROSS, 28, 3)
    return _image(draw_readings(np.asarray(part, np.uint8), near, SIDE), ".jpg")


def _box(image: Image, corners: np.ndarray, width: int) -> None:
    (x0, y0), (x1, y1) = corners
    outline = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        draw_dashed(image, a, b, LABEL, (6, 4), width, 2.0)


def _image(picture: Image, kind: str) -> str:
    """A picture inside the page."""
    ok, data = cv2.imencode(kind, picture, [cv2.IMWRITE_JPEG_QUALITY, 82] if kind == ".jpg" else [])
    assert ok
    coded = base64.b64encode(data.tobytes()).decode()
    return f'<img alt="" src="data:image/{"jpeg" if kind == ".jpg" else "png"};base64,{coded}">'


def _figure(picture: str, photo: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption><code>{html.escape(photo)}</code> {caption}</figcaption></figure>"


def _table(markdown: str) -> str:
    """A Markdown table as HTML."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()]
    body = [rows[0], *rows[2:]]
    cells = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for row, tag in zip(body, ["th"] + ["td"] * (len(body) - 1), strict=True)
    ]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
