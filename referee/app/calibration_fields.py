"""The section ``[calibration]`` of the settings: what it holds of what was measured, and the table as it tells it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from models.lens import Lens
from models.table import TableView
from referee.app.grading import Measured
from referee.app.settings import CalibrationSettings


def fields_of(m: Measured) -> dict[str, Any]:
    """What the section ``[calibration]`` holds."""
    view, table = m.found.table.view, m.found.table
    fields: dict[str, Any] = {
        "source": m.found.source,
        "width": view.size[0],
        "height": view.size[1],
        "card_height_px": round(m.heights[0], 1),
        "tilt_deg": round(table.tilt, 1),
        "error_px": round(table.error_px, 3),
        "edge_px": round(m.edge_px, 2) if not math.isnan(m.edge_px) else 0.0,
        "homography": [[float(f"{v:.9g}") for v in row] for row in view.homography.tolist()],
        "area": [[round(v, 1) for v in row] for row in m.found.area.tolist()],
    }
    if view.lens is not None:
        lens = view.lens
        fields["lens"] = [float(f"{v:.7g}") for v in (lens.fx, lens.fy, lens.cx, lens.cy, *lens.bend)]
    return fields


def view_of(stored: CalibrationSettings) -> TableView:
    """The table as a settings file tells it."""
    lens: Lens | None = None
    if stored.lens:
        fx, fy, cx, cy, k1, k2, p1, p2, k3 = stored.lens
        lens = Lens(fx, fy, cx, cy, (k1, k2, p1, p2, k3))
    return TableView(np.array(stored.homography), (stored.width, stored.height), lens)
