"""The report on a folder of photographs: one self-contained HTML file, plain enough to print.

It contains photographs, so it is written where the user chooses (under ``out/``) and is not part of the project.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from models.evaluation.photo_match import (
    DISPUTE_KINDS,
    LABEL_MARGIN,
    Box,
    DisputedLabel,
    Failure,
    JudgedPhoto,
    box_corners,
    by_folder,
    failures,
    tally_table,
    without_disputed,
)
from models.evaluation.reliability import reliability_table, save_chart, summary
from models.eye.annotate import draw_polygon, draw_readings
from models.eye.eye import CardSeen

_WORST: Final = 10
_SIDE: Final = 800
"""Longer side of a picture in the report, px."""
_LABEL_COLOUR: Final = (200, 90, 20)
_KINDS: Final = {
    "wrong": "read as another card",
    "false": "read surely where there is none",
    "unread": "found but not read",
    "missed": "not found",
    "misplaced": "read rightly, corners off",
}
_STYLE: Final = """body{font:15px/1.45 Georgia,serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
h1,h2{font-weight:600}table{border-collapse:collapse;margin:1em 0}td,th{padding:.25em .8em;border-bottom:1px solid #ccc;
text-align:right}td:first-child,th:first-child{text-align:left}figure{margin:1.2em 0;break-inside:avoid}
img{max-width:100%;border:1px solid #ccc}figure img{max-height:34em}figcaption{margin-top:.3em}code{font-size:90%}
@media print{body{margin:0;max-width:none}h2{break-after:avoid}}"""


def write_report(folder: Path, photos: Path, judged: Sequence[JudgedPhoto], disputed: Sequence[DisputedLabel]) -> Path:
    """Write `report.html` into a folder, creating it if needed; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    by_photo = {photo.photo: photo for photo in judged}
    known = [d for d in disputed if d.photo in by_photo]
    cleared = [without_disputed(photo, known) for photo in judged]
    scored = [reading for photo in judged for reading in photo.scored]
    found = sorted((f for photo in cleared for f in failures(photo)), key=lambda f: -f.weight)
    counts = [(sum(f.kind == kind for f in found), text) for kind, text in _KINDS.items()]
    chart = BytesIO()
    save_chart(scored, f"Reliability on {len(judged)} photographs, strict", chart)
    parts = [
        f"<h1>The eye on {len(judged)} photographs</h1>",
        f"<p>{html.escape(str(photos))}. A labelled card is right if a reading of its name has the centre of its "
        "corners inside the label's box with 15 % margin; readings said with 0.9 or more that meet no label are "
        "false.</p>",
        "<h2>Strict, as the contract scores</h2>",
        _table(tally_table(by_folder(judged))),
        "<h2>Disputed labels apart</h2>",
        _table(tally_table(by_folder(cleared))),
        f"<h2>The worst {min(_WORST, len(found))} of {len(found)} failures</h2>",
        f"<p>{'; '.join(f'{n} {text}' for n, text in counts if n)}. Disputed labels are further down. "
        "Blue, dashed: the label's box.</p>",
        *(_failure(photos, by_photo[f.photo], f) for f in found[:_WORST]),
        "<h2>Whether confidence means what it says</h2>",
        f"<p>{html.escape(summary(scored)).replace(chr(10), '<br>')}</p>",
        f"<p>{_image(chart.getvalue(), 'png')}</p>",
        _table(reliability_table(scored)),
        f"<h2>Disputed labels ({len(known)})</h2>",
        "<p>Labels that the photograph itself shows no right answer can meet "
        "(<code>models/evaluation/disputes.csv</code>). Blue, dashed: the label's box and, thin, its margin; cross: "
        "where the whole card's centre lies.</p>",
        *(_dispute(photos, by_photo[d.photo], d) for d in known),
    ]
    path = folder / "report.html"
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>The eye on photographs</title>"
        f"<style>{_STYLE}</style><body>{''.join(parts)}</body></html>"
    )
    path.write_text(page, encoding="utf-8")
    return path


def _failure(photos: Path, judged: JudgedPhoto, failure: Failure) -> str:
    box = failure.label.box if failure.label else None
    picture = _shown(photos, judged, box, failure.reading, None)
    return _figure(picture, failure.photo, f"<b>{failure.kind}</b>. {html.escape(failure.sentence)}")


def _dispute(photos: Path, judged: JudgedPhoto, dispute: DisputedLabel) -> str:
    same = next((r for r in _readings(judged) if r.card == dispute.card), None)
    picture = _shown(photos, judged, dispute.box, same, dispute.centre)
    caption = f"<b>{dispute.card}</b>: {DISPUTE_KINDS[dispute.kind]}. {html.escape(dispute.reason)}"
    return _figure(picture, dispute.photo, caption)


def _readings(judged: JudgedPhoto) -> list[CardSeen]:
    """Return all readings of a photograph, surest first."""
    return sorted([r for _, r in judged.met if r is not None] + judged.over, key=lambda r: -r.confidence)


def _shown(
    photos: Path, judged: JudgedPhoto, box: Box | None, reading: CardSeen | None, centre: tuple[float, float] | None
) -> str:
    """Return the part of a photograph that a failure concerns, with the label's box and the readings there."""
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
    k = _SIDE / max(part.shape[:2])
    part = cv2.resize(part, None, fx=k, fy=k, interpolation=cv2.INTER_CUBIC if k > 1 else cv2.INTER_AREA)
    corner = np.array([x0, y0], np.float64)
    if box:
        outlines = [(box_corners(box), 2)]
        if centre:
            margin = LABEL_MARGIN * np.array([box[2] - box[0], box[3] - box[1]])
            outlines.append((box_corners(box) + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * margin, 1))
        for corners, width in outlines:
            draw_polygon(part, (corners - corner) * k, _LABEL_COLOUR, (6, 4), width, 2.0)
    size = np.array(part.shape[1::-1])
    near = [
        replace(r, corners=(r.corners - corner) * k, indices=(r.indices - corner) * k)
        for r in _readings(judged)
        if r is reading or bool(((r.indices - corner) * k >= 0).all() and ((r.indices - corner) * k < size).all())
    ]
    if centre:
        at = tuple(np.round((np.array(centre) - corner) * k).astype(int).tolist())
        cv2.drawMarker(part, at, (255, 255, 255), cv2.MARKER_CROSS, 30, 7)
        cv2.drawMarker(part, at, _LABEL_COLOUR, cv2.MARKER_CROSS, 28, 3)
    picture = draw_readings(np.asarray(part, np.uint8), near, _SIDE)
    return _image(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 82])[1].tobytes(), "jpeg")


def _image(data: bytes, kind: str) -> str:
    """Return an HTML image with embedded data."""
    return f'<img alt="" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'


def _figure(picture: str, photo: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption><code>{html.escape(photo)}</code> {caption}</figcaption></figure>"


def _table(markdown: str) -> str:
    """Return a Markdown table as HTML."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()]
    body = [rows[0], *rows[2:]]
    cells = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for row, tag in zip(body, ["th"] + ["td"] * (len(body) - 1), strict=True)
    ]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
