"""The table from a sheet or four cards, compared with a simulated camera whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from hardware.simulated.decks.packs import PrintedDeck
from hardware.simulated.pictures.overhead import Overhead
from models.table_view.corner_cards import CARD_SIZES, fit_cards, overlapping, sharpened, upright
from models.table_view.lens import FEWEST_VIEWS, Lens, measure_lens
from models.table_view.sheet import CORNERS, SheetSeen, board_picture, find_sheet, mirrored_sheet
from models.table_view.table_map import NoTable, TableFound, card_heights, fit_table, seen_area
from referee.setup.calibration.simulated_camera import CORNER_CARD_NAMES
from tests.support.overhead import Floats, true_card_height, with_cards, with_sheet, worst_mm, worst_px

BENT = Overhead(k1=-0.12, height=660.0)


def _by_sheet(camera: Overhead) -> TableFound:
    seen = find_sheet(camera.picture(with_sheet()))
    assert seen is not None
    return fit_table(seen.mm, seen.px, camera.size)


def _card_corners(camera: Overhead, family: str, off: float = 0.0) -> list[Floats]:
    """Return the cards' true corners, moved by up to ``off`` px as in an eye's readings."""
    width, height = PrintedDeck(family, 1.0).size
    face = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2
    chance = np.random.default_rng(4)
    quads = []
    for _, x, y, turn in CORNER_CARD_NAMES:
        c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        quad = camera.to_px(face @ np.array([[c, s], [-s, c]]) + (x, y))
        quads.append(quad + chance.uniform(-off, off, quad.shape))
    return quads


@pytest.mark.parametrize(
    "camera",
    [
        Overhead(),
        Overhead(tilt=8.0, towards=250.0, turn=5.0),
        Overhead(tilt=22.0, towards=30.0, height=760.0, turn=-12.0),
        Overhead(size=(1280, 720), focal=0.8, tilt=12.0, height=520.0, noise=4.0),
        Overhead(height=1100.0, blur=1.0),
    ],
)
def test_a_sheet_tells_the_table(camera: Overhead) -> None:
    found = _by_sheet(camera)
    assert worst_px(found, camera) < 0.8
    assert worst_mm(found, camera) < 0.6
    assert found.tilt == pytest.approx(camera.tilt, abs=max(0.7, 3 * found.tilt_error))
    if camera.tilt > 5:
        assert abs((found.towards - camera.towards + 180) % 360 - 180) < 6
    assert found.view.card_height() == pytest.approx(true_card_height(camera), rel=0.01)


def test_the_table_begins_in_the_middle_of_the_picture_and_runs_to_its_right() -> None:
    """However the sheet was laid down."""
    view = _by_sheet(Overhead(tilt=8.0, turn=30.0)).view
    middle, right, down = view.to_px(np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]))
    assert middle == pytest.approx([479.5, 359.5], abs=1e-6)
    assert right[1] == pytest.approx(middle[1], abs=0.1)
    assert right[0] > middle[0]
    assert down[1] > middle[1]


def test_the_area_is_what_the_picture_shows() -> None:
    view = _by_sheet(Overhead(tilt=15.0, towards=270.0)).view
    area = seen_area(view)
    px = view.to_px(area)
    assert (px > 0).all()
    assert (px < (960, 720)).all()
    # It cannot grow in any direction.
    grown = view.to_px(area * 1.05)
    assert (grown < 0).any() or (grown > (960, 720)).any()
    middle, least, most = card_heights(view, area)
    assert least < middle < most


def test_half_a_sheet_tells_fewer_corners() -> None:
    seen = find_sheet(Overhead(aim=(-230.0, 60.0)).picture(with_sheet()))
    assert seen is not None
    assert 0 < len(seen.ids) < CORNERS
    assert not seen.whole


def test_a_mirrored_sheet_is_known_as_such() -> None:
    picture = Overhead(mirrored=True).picture(with_sheet())
    assert find_sheet(picture) is None
    assert mirrored_sheet(picture)
    assert not mirrored_sheet(Overhead().picture(with_sheet()))


def test_the_sheets_squares_are_thirty_millimetres() -> None:
    seen = find_sheet(cv2.copyMakeBorder(board_picture(10), 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=255))
    assert seen is not None
    assert seen.whole
    # Whole numbers are the middles of pixels, so the board's edge lies half a pixel before its first.
    assert (seen.px + 0.5 - 60) / 10 == pytest.approx(seen.mm, abs=0.01)


@pytest.mark.parametrize(
    ("camera", "family"),
    [
        (Overhead(), "harbour"),
        (Overhead(tilt=10.0, towards=250.0, height=680.0, turn=5.0), "harbour"),
        (Overhead(tilt=10.0, towards=120.0, height=680.0, blur=1.2), "meadow"),
    ],
)
def test_four_cards_tell_the_table(camera: Overhead, family: str) -> None:
    """Their corners by the eye are pixels off; their edges are not."""
    grey = cv2.cvtColor(camera.picture(with_cards(family=family)), cv2.COLOR_BGR2GRAY)
    rough = _card_corners(camera, family, off=4.0)
    quads = [sharpened(grey, upright(quad)) for quad in rough]
    found = fit_cards(quads, camera.size, PrintedDeck(family, 1.0).size)
    assert worst_mm(found.table, camera) < 2.0
    assert worst_px(found.table, camera) < 3.0
    assert found.table.tilt == pytest.approx(camera.tilt, abs=max(1.5, 3 * found.table.tilt_error))
    assert found.table.view.card_height() == pytest.approx(true_card_height(camera), rel=0.015)
    unsharpened = fit_cards([upright(quad) for quad in rough], camera.size, PrintedDeck(family, 1.0).size)
    assert found.table.error_px < 0.5 * unsharpened.table.error_px


def test_the_wrong_size_of_card_does_not_fit() -> None:
    quads = [upright(quad) for quad in _card_corners(Overhead(tilt=6.0), "meadow")]
    right, wrong = (fit_cards(quads, (960, 720), CARD_SIZES[name]).table.error_px for name in ("bridge", "poker"))
    assert right < 0.1
    assert wrong > 1.0


def test_the_area_of_four_cards_is_the_rectangle_round_them() -> None:
    camera = Overhead()
    found = fit_cards(
        [upright(quad) for quad in _card_corners(camera, "harbour")], camera.size, PrintedDeck("harbour", 1).size
    )
    px = found.table.view.to_px(found.area)
    hull = cv2.convexHull(px.astype(np.float32))
    for quad in found.quads:
        for corner in quad:
            assert cv2.pointPolygonTest(hull, (float(corner[0]), float(corner[1])), True) > -1.0


def _moved(card: Floats, x: float, y: float) -> Floats:
    return card + np.array([x, y], np.float64)


def test_cards_that_lie_over_each_other_are_told() -> None:
    card = np.array([[0, 0], [63, 0], [63, 88], [0, 88]], np.float64)
    assert overlapping([card, _moved(card, 80, 0), _moved(card, 300, 0)]) == []
    assert overlapping([card, _moved(card, 200, 0), _moved(card, 30, 40)]) == [(0, 2)]


def test_three_cards_or_points_in_a_row_are_no_table() -> None:
    card = np.array([[0, 0], [63, 0], [63, 88], [0, 88]], np.float64)
    with pytest.raises(NoTable):
        fit_cards([card, _moved(card, 200, 0), _moved(card, 0, 200)], (960, 720))
    row = np.c_[np.arange(8) * 30.0, np.zeros(8)]
    with pytest.raises(NoTable):
        fit_table(np.zeros((6, 2)), row[:6], (960, 720))


# The lens


def _views(camera: Overhead, count: int) -> list[SheetSeen]:
    """Return the sheet on the table, then tilted in several ways: to the lens the same as a camera that tilts."""
    held = [
        replace(camera, tilt=24.0, towards=40.0 + 60 * k, turn=25.0 * k, aim=(30.0 * (k % 3 - 1), 20.0 * (k % 2)))
        for k in range(count - 1)
    ]
    seen = [find_sheet(view.picture(with_sheet())) for view in (camera, *held)]
    return [view for view in seen if view is not None]


def test_several_views_tell_the_lens_and_it_straightens_the_table() -> None:
    views = _views(BENT, 7)
    assert len(views) == 7
    told = measure_lens(views, BENT.size)
    assert told.lens is not None, told.why_not
    assert told.lens.bend[0] == pytest.approx(BENT.k1, abs=0.03)
    flat = views[0]
    without, with_lens = fit_table(flat.mm, flat.px, BENT.size), fit_table(flat.mm, flat.px, BENT.size, told.lens)
    assert worst_px(without, BENT) > 5
    # OpenCV 4.11 is less accurate than 5.
    assert worst_px(with_lens, BENT) < 2.5


def test_few_views_and_a_straight_lens_are_kept_out_and_say_why() -> None:
    few = measure_lens(_views(BENT, 1), BENT.size)
    assert few.lens is None
    assert "too few views of the sheet (1)" in few.why_not
    straight = measure_lens(_views(replace(BENT, k1=0.0), 6), BENT.size)
    assert straight.lens is None
    assert "nothing to correct" in straight.why_not
    alike = [find_sheet(BENT.picture(with_sheet(), index)) for index in range(FEWEST_VIEWS)]
    flat = measure_lens([view for view in alike if view is not None], BENT.size)
    assert flat.lens is None
    assert "too alike" in flat.why_not


def test_a_lens_bends_and_straightens_back() -> None:
    lens = Lens(1000.0, 1005.0, 470.0, 350.0, (-0.2, 0.05, 0.001, -0.002, 0.0))
    px = np.array([[100.0, 80.0], [480.0, 360.0], [900.0, 700.0]])
    assert lens.bent(lens.straightened(px)) == pytest.approx(px, abs=0.05)
    assert np.abs(lens.straightened(px) - px).max() > 5
