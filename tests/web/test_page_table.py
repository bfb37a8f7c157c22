"""The page of how a table is set up, from its settings to the drawing."""

from __future__ import annotations

import time
import urllib.request

import numpy as np
import pytest

from referee.record.certificates import Certificate, CertificateLine, beside_record, save_certificate
from referee.settings.model import Settings, parse_settings
from referee.table.seats import table_facts
from referee.text.catalogue import texts
from referee.web.markup import svg
from referee.web.table_page import PICTURE_WIDTH, SEAT_ROOM, drawing
from tests.support.overhead import stored_view
from tests.support.patience import PATIENCE
from tests.web.listening import listening
from tests.web.served import House, Served

SEATS = "".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho <b>"))
CALIBRATED = (
    f'{SEATS}[calibration]\nsource = "sheet"\nwidth = 1280\nheight = 960\n'
    "homography = [[1.5, 0.02, 640.0], [0.01, -1.5, 480.0], [0.00001, 0.0001, 1.0]]\n"
    "area = [[-250.0, 200.0], [250.0, 200.0], [250.0, -200.0], [-250.0, -200.0]]\n"
    "card_height_px = 133.4\ntilt_deg = 4.2\nerror_px = 0.31\nedge_px = 1.8\n"
)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return parse_settings(CALIBRATED)


def test_the_area_lies_where_the_calibration_puts_it(settings: Settings) -> None:
    assert settings.calibration is not None
    found = table_facts(settings)["calibration"]
    expected = stored_view(settings.calibration).to_px(np.array(settings.calibration.area))
    assert np.allclose(found["area"], expected, atol=0.06)
    high = np.linalg.norm(np.subtract(found["card"][0], found["card"][3]))
    assert high == pytest.approx(88.9 * 1.5, rel=0.05), "a card's true size"


def test_seats_stand_round_the_picture(settings: Settings) -> None:
    facts = table_facts(settings)
    scene = drawing(facts["seats"], facts["calibration"], texts("en"))
    assert (scene.width, scene.height) == (
        round(PICTURE_WIDTH + 2 * SEAT_ROOM),
        round(PICTURE_WIDTH * 3 / 4 + SEAT_ROOM),
    )
    drawn = svg(scene)
    assert "Ana" in drawn
    assert "<b>" not in drawn


def test_a_table_that_was_not_calibrated_shows_its_seats() -> None:
    facts = table_facts(parse_settings(SEATS))
    assert facts["calibration"] is None
    assert "Ben" in svg(drawing(facts["seats"], None, texts("de")))


def test_the_page_shows_what_the_referee_tells_of_the_table(settings: Settings, house: House) -> None:
    with listening(house), house.serve_controlled() as served:
        assert "The table shows here" in _get(served, "/table")
        for _ in range(PATIENCE * 10):
            house.link.tell(troubles={"strip": "is missing"}, about=table_facts(settings))
            shown = _get(served, "/table")
            if "133 px" in shown:
                break
            # The page answers twenty requests a second.
            time.sleep(0.1)
        assert "133 px" in shown
        assert "is missing" in shown
        assert "4,2°" in _get(served, "/table?lang=de")
        assert "Not certified" in shown


def test_the_page_shows_the_latest_certificate(settings: Settings, house: House) -> None:
    with house.serve() as served:
        assert "this table has not been measured yet" in _get(served, "/certificate")
        line = CertificateLine("bounce", False, {"limit": 6.4}, {"worst": 7.9, "who": "Cho <b>"})
        poor = Certificate("2026-03-01T18:40:00+01:00", "m", "1", "s", (line,), seats=("Ana", "Ben", "Cho <b>"))
        save_certificate(beside_record(house.record.path), poor, "page")
        shown = _get(served, "/certificate?lang=de")
        assert "Nicht zertifiziert" in shown and "7,9 ms (Cho &lt;b&gt;)" in shown
        assert "Das Feld von Cho &lt;b&gt; prellt zu lange." in shown


def _get(served: Served, path: str) -> str:
    with urllib.request.urlopen(served.address + path, timeout=PATIENCE) as answer:
        text: str = answer.read().decode()
        return text
