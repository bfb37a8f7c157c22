"""Scoring photographs: strict, with disputes apart, and each failure in a sentence."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from models.evaluation.photo_match import (
    DISPUTE_KINDS,
    DisputedLabel,
    Label,
    by_folder,
    distance_beyond,
    failures,
    is_inside,
    match,
    read_disputes,
    tally_table,
    without_disputed,
)
from models.evaluation.photo_report import write_report
from models.eye.eye import CardSeen

BOX = (100.0, 100.0, 160.0, 300.0)


def seen(card: str, confidence: float, x: float, y: float) -> CardSeen:
    corners = np.array([[x - 70, y - 100], [x + 70, y - 100], [x + 70, y + 100], [x - 70, y + 100]], np.float64)
    return CardSeen(card, confidence, corners, True, 0.9, np.array([[x - 50, y - 80]]))


def dispute(card: str = "7h") -> DisputedLabel:
    return DisputedLabel("a/1.jpg", card, BOX, "covered", (190.0, 200.0), "only a strip shows")


def test_a_disputed_label_goes_with_the_reading_of_its_card() -> None:
    labels = [Label("7h", BOX), Label("Qs", (400, 100, 540, 300))]
    judged = match("a/1.jpg", labels, [seen("7h", 0.99, 190, 200), seen("Qs", 0.95, 470, 200)])
    strict, cleared = judged.tally, without_disputed(judged, [dispute()]).tally
    assert (strict.cards, strict.right, strict.false_sure) == (2, 1, 1)
    assert (cleared.cards, cleared.right, cleared.false_sure) == (1, 1, 0)


def test_a_dispute_excuses_no_other_card_and_no_second_reading() -> None:
    judged = match(
        "a/1.jpg", [Label("7h", BOX)], [seen(c, 0.99, x, 200) for c, x in (("7h", 190), ("7h", 400), ("9h", 130))]
    )
    assert without_disputed(judged, [dispute()]).tally.false_sure == 2
    assert without_disputed(judged, [dispute("8h")]).tally == judged.tally


@pytest.mark.parametrize(
    ("readings", "kind", "words"),
    [
        ([], "missed", "not found"),
        ([("??", 0.2, 130.0)], "unread", "0.20"),
        ([("9h", 0.95, 130.0)], "wrong", "9 of hearts"),
        ([("7h", 0.95, 190.0)], "misplaced", "21 px"),
    ],
)
def test_each_failure_has_its_kind_and_a_sentence(
    readings: list[tuple[str, float, float]], kind: str, words: str
) -> None:
    (found,) = failures(match("a/1.jpg", [Label("7h", BOX)], [seen(c, p, x, 200) for c, p, x in readings]))
    assert found.kind == kind
    assert words in found.sentence


def test_a_sure_reading_of_nothing_is_false_and_an_unsure_one_is_none() -> None:
    found = failures(match("a/1.jpg", [], [seen("7h", 0.95, 500, 200), seen("8h", 0.6, 900, 200)]))
    assert [f.kind for f in found] == ["false"]


def test_how_far_beyond_a_box_counts_from_its_margin() -> None:
    assert distance_beyond(BOX, 168.9, 200.0) == 0.0
    assert distance_beyond(BOX, 179.0, 200.0) == pytest.approx(10.0)


def test_every_dispute_can_be_shown() -> None:
    """The whole card's centre lies outside the box and its margin, or the label names another card."""
    known = read_disputes()
    assert len({(d.photo, d.card, d.box) for d in known}) == len(known)
    for label in known:
        assert label.kind in DISPUTE_KINDS
        assert len(label.reason) > 40
        assert label.kind == "card" or (label.centre is not None and not is_inside(label.box, *label.centre))


def test_a_line_that_is_no_dispute_is_named(tmp_path: Path) -> None:
    path = tmp_path / "disputes.csv"
    path.write_text("photo,card,x0,y0,x1,y1,kind,centre_x,centre_y,reason\na.jpg,7h,1,2,3,4,odd,,,none\n")
    with pytest.raises(ValueError, match=r"line 2: kind 'odd' is none of covered, cut, card"):
        read_disputes(path)


def test_the_report_holds_its_pictures_and_names_each_failure(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    (photos / "a").mkdir(parents=True)
    cv2.imwrite(str(photos / "a" / "1.jpg"), np.full((400, 600, 3), 120, np.uint8))
    labels = [Label("7h", BOX), Label("Qs", (400, 100, 540, 300))]
    judged = match("a/1.jpg", labels, [seen("7h", 0.99, 190, 200), seen("Kc", 0.97, 470, 200)])
    page = write_report(tmp_path / "out", photos, [judged], [dispute()]).read_text()
    assert "The queen of spades is read as the king of clubs, with 0.970." in page
    assert "only a strip shows" in page
    assert page.count("<img") == page.count('src="data:image/') == 3
    assert "http" not in page


def test_the_table_has_a_line_for_each_folder_and_the_mean() -> None:
    judged = [
        match(f"{f}/1.jpg", [Label("7h", BOX)], [seen("7h", 0.99, 130, 200)][:n]) for f, n in (("a", 1), ("b", 0))
    ]
    lines = tally_table(by_folder(judged)).splitlines()
    assert lines[2].startswith("| a | 1 | 1 | 100.0 | 100.0 |")
    assert lines[4].startswith("| mean of folders | 2 | 2 | 50.0 | 50.0 |")
