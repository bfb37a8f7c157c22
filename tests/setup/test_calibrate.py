"""`referee calibrate`: its results, its words for each trouble, and its changes to a settings file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from hardware.simulated.devices.simulated_picamera import CameraRoom
from hardware.simulated.pictures.ambient import Lamp
from hardware.simulated.pictures.overhead import Overhead, OverheadFrames
from models.table_view.light import WHITE_LEVEL
from models.table_view.mains import Mains
from models.watch.arms import apart
from referee.cli import main
from referee.engine.observations import Card
from referee.errors import UserError
from referee.settings.file import SettingsText, backup_of, read_settings
from referee.settings.model import CameraSettings, SettingsError, example_settings, load_settings, parse_settings
from referee.setup.calibration import adjustment, bare_look, calibrate
from referee.setup.calibration.find_table import PAPERS, SCALE, board_origin, draw_page
from referee.setup.calibration.simulated_camera import CORNER_CARD_NAMES
from referee.setup.doctor.machine import check_bare_table, check_calibration
from referee.table.session import out_of_date
from referee.units import SECOND
from referee.vision.videos import bearings_of, new_watcher
from tests.support.overhead import bare, stored_view, true_card_height, with_cards, with_sheet
from tests.support.pi_room import pi_camera

CAMERA = Overhead(tilt=6.0, turn=3.0)
MINE = """\
# Our table in the kitchen.
dealer = 2   # Ben

[camera]
source = "usb:1"  # the white one

[[seat]]
name = "Ana"
bearing = 265.5   # measured by eye

[[seat]]
name = "Ben"     # left-handed
bearing = 90
# the end
"""


@pytest.fixture
def picture(tmp_path: Path) -> str:
    """A picture of the sheet on the table."""
    return write(tmp_path / "table.png", CAMERA.picture(with_sheet()))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A settings file with its owner's comments."""
    path = tmp_path / "table.toml"
    path.write_text(MINE, encoding="utf-8")
    return path


def write(path: Path, image: Any) -> str:
    assert cv2.imwrite(str(path), image)
    return str(path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the JSON that the command prints."""
    assert main(["calibrate", *words, "--json"]) in (0, 1)
    out: dict[str, Any] = json.loads(capsys.readouterr().out)
    return out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the one line of the command's error."""
    assert main(["calibrate", *words]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    lines = [line for line in out.err.splitlines() if line.startswith("referee: ")]
    assert len(lines) == 1
    return lines[0]


def grades(out: dict[str, Any]) -> dict[str, str]:
    return {item["name"]: item["grade"] for item in out["items"]}


# Results


def test_a_picture_of_the_sheet(picture: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, picture)
    assert out["calibration"]["source"] == "sheet"
    assert out["calibration"]["tilt_deg"] == pytest.approx(6.0, abs=1)
    assert out["calibration"]["card_height_px"] == pytest.approx(true_card_height(CAMERA), rel=0.02)
    assert grades(out)["table"] == grades(out)["card size"] == grades(out)["sharpness"] == "fine"
    # One picture shows neither noise nor flicker, and its exposure is unknown.
    assert out["noise"] is None
    assert "noise" not in grades(out)
    assert "motion blur" not in grades(out)


def test_a_picture_of_four_cards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, write(tmp_path / "cards.png", CAMERA.picture(with_cards())))
    assert out["calibration"]["source"] == "cards"
    assert out["calibration"]["card_height_px"] == pytest.approx(true_card_height(CAMERA), rel=0.02)
    assert "poker" in out["items"][0]["words"]
    xs = [x for x, _ in out["calibration"]["area"]]
    assert max(xs) - min(xs) == pytest.approx(460, abs=40)


def test_the_words_say_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A camera that hangs too high over a table on the slant, and is out of focus."""
    camera = Overhead(height=950.0, tilt=37.0, blur=1.6)
    status = main(["calibrate", write(tmp_path / "far.png", camera.picture(with_sheet())), "--by", "sheet"])
    words = " ".join(capsys.readouterr().out.split())
    assert status == 1
    assert "the picture is soft" in words
    assert "focus by hand or raise the lens position" in words
    assert "hang it more nearly over the middle" in words
    assert "nothing was stored" in words


def test_the_words_are_in_the_terminals_language(picture: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", picture, "--language", "de"]) in (0, 1)
    words = " ".join(capsys.readouterr().out.split())
    assert "Schärfe" in words and "von 30 Ecken" in words and "px hoch" in words
    assert not re.search(r"\b(the|cards|sharp|lens|found by)\b", words)


def test_pictures_of_one_view_tell_noise_and_flicker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    camera, lamp = replace(CAMERA, noise=6.0), Lamp(50, 0.08)
    exposed = camera.exposed(with_sheet())
    shown = [lamp.shine(camera.developed(exposed, k), k * SECOND // 30, 0) for k in range(3)]
    names = [write(tmp_path / f"{k}.png", image) for k, image in enumerate(shown)]
    out = told(capsys, *names)
    assert out["noise"] == pytest.approx(4.0, rel=0.15)
    assert grades(out)["flicker"] != "fine"
    assert grades(out)["noise"] == "fine"


def test_tilted_views_tell_the_lens(tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flat = replace(CAMERA, k1=-0.12, size=(800, 600))
    held = [replace(flat, tilt=25.0, towards=90.0 * k + 30, turn=20.0 * k) for k in range(4)]
    names = [write(tmp_path / f"{k}.png", c.picture(with_sheet())) for k, c in enumerate([flat, *held])]
    out = told(capsys, *names, "--settings", str(table))
    lens = next(item for item in out["items"] if item["name"] == "lens")
    assert "measured from 5 views" in lens["words"]
    stored = load_settings(table).calibration
    assert stored is not None
    assert stored.lens[4] == pytest.approx(-0.12, abs=0.04)
    assert stored_view(stored).card_height() == pytest.approx(out["calibration"]["card_height_px"], rel=0.01)


# Failures


@pytest.mark.parametrize(
    ("name", "camera", "words"),
    [
        ("sheet", Overhead(light=0.004), "too dark"),
        ("sheet", Overhead(mirrored=True), "mirrored"),
        ("sheet", Overhead(blur=7.0), "blurred"),
        ("sheet", Overhead(blur=1.9, height=1000.0, tilt=37.0), "blurred"),
        ("sheet", Overhead(aim=(-270.0, 90.0)), "of the sheet's 30 corners can be seen: move it wholly"),
        ("nothing", Overhead(), "neither a calibration sheet nor a card"),
        ("cards", Overhead(light=0.002), "too dark"),
        ("cards", Overhead(blur=9.0), "blurred"),
    ],
)
def test_each_trouble_is_told_with_what_to_do(
    name: str, camera: Overhead, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    top = with_sheet() if name == "sheet" else bare() if name == "nothing" else with_cards()
    assert words in refused(capsys, write(tmp_path / "x.png", camera.picture(top)))


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        (CORNER_CARD_NAMES[:3], "3 cards are seen"),
        ((*CORNER_CARD_NAMES[:3], ("Ts", -250.0, 118.0, 181.0)), "the card Ts is not whole in the picture"),
        ((*CORNER_CARD_NAMES, ("9s", 0.0, 0.0, 0.0)), "take the others away"),
        ((*CORNER_CARD_NAMES[:3], ("Ts", 160.0, 95.0, 181.0)), "lie over each other"),
        (
            (("7h", -60.0, 0.0, 0.0), ("Kc", 10.0, 5.0, 0.0), ("2d", 80.0, 0.0, 0.0), ("Ts", -130.0, 0.0, 0.0)),
            "in a row",
        ),
    ],
)
def test_cards_that_will_not_do(
    cards: tuple[tuple[str, float, float, float], ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = write(tmp_path / "x.png", Overhead(noise=1.0).picture(with_cards(cards)))
    assert words in refused(capsys, image, "--by", "cards")


def test_pictures_of_two_sizes_or_none_are_refused(
    picture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = write(tmp_path / "small.png", np.zeros((90, 120, 3), np.uint8))
    assert "of one size" in refused(capsys, picture, small)
    assert "there is no such file" in refused(capsys, str(tmp_path / "none.png"))
    assert "name what to look at" in refused(capsys)
    assert "leave them out for --reach" in refused(capsys, picture, "--reach")
    assert "needs to know the seats" in refused(capsys, "--simulated", "--reach")


# Seats


def test_seats_stand_evenly_from_the_first_on(picture: str, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, picture, "--seats", "3")["seats"] == {"Seat 1": 270, "Seat 2": 150, "Seat 3": 30}
    assert told(capsys, picture, "--seats", "2", "--settings", str(table))["seats"] == {"Ana": 265.5, "Ben": 85.5}
    assert [seat.bearing for seat in load_settings(table).seats] == [265.5, 85.5]
    assert "the settings name 2 seats" in refused(capsys, picture, "--seats", "3", "--settings", str(table))


def test_players_reach_over_the_simulated_table(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--simulated", "--settings", str(table), "--reach", "--json"]) == 0
    captured = capsys.readouterr()
    assert "Ana: reach one hand over the middle" in captured.err
    seats = json.loads(captured.out)["seats"]
    assert apart(seats["Ana"], 265.5) < 8
    assert apart(seats["Ben"], 90) < 8
    assert [seat.bearing for seat in load_settings(table).seats] == [seats["Ana"], seats["Ben"]]
    advised = json.loads(captured.out)["exposure"]
    assert advised["exposure_us"] < 4000


def test_two_seats_on_one_side_and_nobody_at_all(table: Path, monkeypatch: pytest.MonkeyPatch,
                                                 capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    def camera_with(*reaches: float) -> None:
        made = OverheadFrames(CAMERA, with_sheet(), reaches=reaches)
        monkeypatch.setattr(calibrate, "open_camera_of", lambda _: made)

    camera_with(200.0, 210.0)
    assert "Ana and Ben both reach from about" in refused(capsys, "--settings", str(table), "--reach")
    camera_with(200.0)
    assert "no hand of Ben came" in refused(capsys, "--settings", str(table), "--reach")
    assert table.read_text(encoding="utf-8") == MINE
    assert not backup_of(table).exists()


# The Pi's camera, fitted to its room


@pytest.mark.parametrize(("hz", "rate"), [(50, 25.0), (60, 30.0), (None, 30.0)])
def test_the_pi_camera_is_fitted_to_its_room_and_that_is_stored(
    hz: int | None, rate: float, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(MINE.replace("usb:1", "picamera"), encoding="utf-8")
    room = CameraRoom(focus=1.6, light=9_000.0, colour_gains=(1.9, 1.6), lamp=None if hz is None else Lamp(hz, 0.15))
    monkeypatch.setattr(calibrate, "open_camera_of", lambda _: pi_camera(room))
    assert main(["calibrate", "--settings", str(table), "--json"]) in (0, 1)
    said = capsys.readouterr()
    kept = load_settings(table).camera
    assert kept.lens_position == pytest.approx(1.6, abs=0.01)
    assert "at 1.6 dioptres (62 cm), and is held there" in said.err
    assert kept.colour_gains == pytest.approx((1.9, 1.6), abs=0.01)
    assert (kept.mains_hz, kept.fps) == (hz, rate)
    assert ("lamps flicker with" in said.err) == (hz is not None)
    told = json.loads(said.out)
    assert told["mains_hz"] == hz
    # Exposed as stored, white paper is bright and quiet.
    assert told["white"] == pytest.approx(WHITE_LEVEL, abs=20)
    assert grades(told)["light"] == grades(told)["noise"] == grades(told)["sharpness"] == "fine"
    assert grades(told)["flicker"] in ("fine", "acceptable")
    assert "# the white one" in table.read_text(encoding="utf-8")


def test_a_frame_rate_at_which_bands_stand_still_is_kept() -> None:
    slow, usual = CameraSettings(fps=20.0), CameraSettings()
    assert adjustment.with_mains(slow, Mains(50, 0.1)).fps == 20.0
    assert adjustment.with_mains(usual, Mains(50, 0.1)).fps == 25.0
    # The earlier result holds where no flicker is seen now.
    known = adjustment.with_mains(CameraSettings(mains_hz=60, fps=25.0), Mains(None, 0.0))
    assert (known.mains_hz, known.fps) == (60, 30.0)


def test_the_bare_table_is_kept_and_its_prints_are_named(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--bare needs --settings" in refused(capsys, "--bare")
    monkeypatch.setattr(bare_look, "open_camera_of", lambda _: OverheadFrames(CAMERA, bare()))
    assert main(["calibrate", "--settings", str(table), "--bare"]) == 0
    assert "nothing on the table reads as a card" in capsys.readouterr().out
    # A cloth with four printed cards.
    monkeypatch.setattr(bare_look, "open_camera_of", lambda _: OverheadFrames(CAMERA, with_cards()))
    assert main(["calibrate", "--settings", str(table), "--bare"]) == 0
    assert "no cards from now on: 2d, 7h, Kc, Ts" in capsys.readouterr().out
    kept = load_settings(table).camera.bare_table
    assert kept == str(table.with_suffix(".bare.png").resolve())
    assert "# Our table in the kitchen." in table.read_text(encoding="utf-8")
    # The watcher with these settings reports none of them, and one without the picture reports all.
    told = []
    for picture in (kept, ""):
        watcher = new_watcher(None, bare=picture)
        seen = [line for k in range(8) for line in watcher.feed(CAMERA.picture(with_cards(), k), k * 66_000_000)]
        told.append({line.card for line in [*seen, *watcher.finish()] if isinstance(line, Card)})
    assert told == [set(), {"2d", "7h", "Kc", "Ts"}]


def test_a_picture_of_the_bare_table_is_stale_where_the_view_is_another(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubt(**changes: Any) -> str:
        changed = {f"camera.{key}": value for key, value in changes.items()}
        now = read_settings(table).changed(changed).settings
        found = [finding for finding in check_bare_table(now, table) if finding.state != "fine"]
        assert all("--bare" in finding.mend for finding in found)
        return found[0].words if found else ""

    assert not [*check_bare_table(load_settings(table), table)], "no picture is needed"
    monkeypatch.setattr(bare_look, "open_camera_of", lambda _: OverheadFrames(CAMERA, bare()))
    monkeypatch.setattr(calibrate, "open_camera_of", lambda _: OverheadFrames(CAMERA, with_sheet()))
    assert main(["calibrate", "--settings", str(table), "--bare"]) == 0
    assert [finding.words for finding in check_bare_table(load_settings(table), table)] == ["its prints are known"]
    assert doubt(source="usb:7") == "it is of usb:1, and the camera is usb:7"
    assert doubt(source="picamera") == "it is 960×720 px, and the camera gives 1536×864"
    kept = Path(load_settings(table).camera.bare_table)
    plain = kept.with_name("plain.png")
    cv2.imwrite(str(plain), cv2.imread(str(kept)))
    assert "a camera that it does not name" in doubt(bare_table=str(plain))
    assert "no picture that can be read" in doubt(bare_table=str(kept.with_name("none.png")))
    assert main(["calibrate", "--settings", str(table), "--by", "sheet"]) in (0, 1)
    assert doubt() == "the table was found anew since it was taken"
    assert main(["calibrate", "--settings", str(table), "--bare"]) == 0
    assert doubt() == ""


def test_a_camera_without_autofocus_says_so_and_one_that_is_left_as_set_says_nothing(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(MINE.replace("usb:1", "picamera"), encoding="utf-8")
    monkeypatch.setattr(calibrate, "open_camera_of", lambda _: pi_camera(CameraRoom(focus=1.0), "fixed"))
    assert main(["calibrate", "--settings", str(table)]) in (0, 1)
    assert "no autofocus: turn its lens by hand" in capsys.readouterr().err
    assert load_settings(table).camera.lens_position is None
    before = load_settings(table).camera
    assert main(["calibrate", "--settings", str(table), "--as-set"]) in (0, 1)
    assert "autofocus" not in capsys.readouterr().err
    assert load_settings(table).camera == before


def test_a_restless_table_is_told(table: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    one, other = (CAMERA.picture(with_sheet(), k, with_sheet().with_hand(200.0 + 90 * k, 1)) for k in (0, 1))

    class Restless(OverheadFrames):
        def frames(self) -> Any:
            for frame in OverheadFrames(Overhead(size=(64, 48)), bare(), still=400).frames():
                yield replace(frame, image=(one, other)[frame.index % 2])

    monkeypatch.setattr(calibrate, "STILL_PATIENCE", 3 * SECOND)
    monkeypatch.setattr(calibrate, "open_camera_of", lambda _: Restless(CAMERA, bare()))
    assert "something moves in the picture all the time" in refused(capsys, "--settings", str(table))


# Stored settings


def test_comments_and_other_keys_survive_and_it_can_be_undone(
    picture: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", picture, "--settings", str(table), "--seats", "2"]) == 0
    assert "stored in" in capsys.readouterr().out
    text = table.read_text(encoding="utf-8")
    for line in MINE.splitlines():
        if "bearing" not in line:
            assert line in text.splitlines()
    assert "# measured by eye" in text
    first = load_settings(table)
    assert first.calibration is not None
    assert (first.calibration.width, first.calibration.height) == (960, 720)
    assert backup_of(table).read_text(encoding="utf-8") == MINE
    assert table.with_suffix(".calibration.jpg").exists()
    # Once more: the section is renewed, not doubled.
    assert main(["calibrate", picture, "--settings", str(table)]) == 0
    assert table.read_text(encoding="utf-8").count("[calibration]") == 1
    assert load_settings(table) == first
    assert main(["calibrate", "--undo", "--settings", str(table)]) == 0
    assert main(["calibrate", "--undo", "--settings", str(table)]) == 0
    assert load_settings(table) == first


def test_undo_without_a_change_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing to undo" in refused(capsys, "--undo", "--settings", str(table))
    assert "--undo needs --settings" in refused(capsys, "--undo")


def test_a_key_in_the_section_that_is_not_measured_any_more_goes() -> None:
    fields: dict[str, Any] = {
        "source": "sheet", "width": 960, "height": 720, "card_height_px": 140.0,
        "homography": [[1.6, 0.0, 480.0], [0.0, 1.6, 360.0], [0.0, 0.0, 1.0]],
        "area": [[-200, -150], [200, -150], [200, 150], [-200, 150]],
        "lens": [900.0, 900.0, 480.0, 360.0, 0.1, 0.0, 0.0, 0.0, 0.0],
    }  # fmt: skip
    first = SettingsText(example_settings()).with_measured("calibration", fields, "referee calibrate")
    del fields["lens"]
    again = first.with_measured("calibration", fields | {"source": "cards"}, "referee calibrate")
    second = again.with_seats([{"bearing": bearing} for bearing in (10, 100, 190, 280)]).text
    settings = parse_settings(second)
    assert settings.calibration is not None
    assert settings.calibration.lens == ()
    assert settings.calibration.source == "cards"
    assert [seat.bearing for seat in settings.seats] == [10, 100, 190, 280]
    # Without the section the file equals the example, except for the bearings.
    assert second.splitlines()[:40] == example_settings().splitlines()[:40]


def test_a_file_that_is_no_settings_is_not_touched(tmp_path: Path, picture: str,
                                                   capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    wrong = tmp_path / "wrong.toml"
    text = MINE.replace("[camera]", "[camera]\nfsp = 3")
    wrong.write_text(text, encoding="utf-8")
    assert "fsp is no setting" in refused(capsys, picture, "--settings", str(wrong))
    assert wrong.read_text(encoding="utf-8") == text
    assert sorted(file.name for file in tmp_path.iterdir()) == ["table.png", "wrong.toml"]


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ('source = "sheet"', "calibration.width is missing; run referee calibrate again"),
        ('source = "photo"', 'calibration.source must be "sheet" or "cards"'),
        ("homography = [[1, 2, 3], [2, 4, 6], [0, 0, 1]]", "3 lists of 3 numbers each that can be inverted"),
        ("homography = [[1, 2], [2, 4]]", "3 lists of 3 numbers"),
        ("area = 3", "4 lists of 2 numbers"),
        ("lens = [1.0]", "a list of 0 or 9 numbers"),
        ("card_heigth_px = 1", "did you mean card_height_px?"),
        ("tilt_deg = 100", "calibration.tilt_deg must be a number from 0 to 90 degrees"),
    ],
)
def test_a_mistake_in_the_section_is_named_by_its_key(section: str, words: str) -> None:
    with pytest.raises(SettingsError) as said:
        parse_settings(MINE + f"[calibration]\n{section}\n")
    assert words in str(said.value)


# Users of the settings


def test_a_calibration_of_another_picture_size_is_told(
    picture: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, picture, "--settings", str(table))
    settings = load_settings(table)
    assert out_of_date(settings) == ""
    pi = settings.model_copy(update={"camera": settings.camera.model_copy(update={"source": "picamera"})})
    assert "calibrated with pictures of 960×720 px" in out_of_date(pi)
    assert (
        out_of_date(pi.model_copy(update={"camera": pi.camera.model_copy(update={"width": 960, "height": 720})})) == ""
    )


def test_watch_takes_the_seats_from_the_settings(table: Path) -> None:
    assert bearings_of(None, table) == {1: 265.5, 2: 90.0}
    assert bearings_of(2, None) == {1: 270.0, 2: 90.0}
    assert bearings_of(None, None) is None
    with pytest.raises(UserError, match="give only one"):
        bearings_of(2, table)


def test_the_doctor_tells_whether_the_table_is_calibrated(
    picture: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_calibration(load_settings(table), table).state == "missing"
    told(capsys, picture, "--settings", str(table))
    finding = check_calibration(load_settings(table), table)
    assert (finding.state, "by sheet: cards" in finding.words) == ("fine", True)


# The picture and the sheet


def test_the_picture_shows_the_grid_where_the_table_is(
    picture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "drawn.png"
    told(capsys, picture, "--draw", str(target), "--seats", "4")
    drawn, plain = cv2.imread(str(target)), cv2.imread(picture)
    assert drawn is not None and plain is not None
    assert drawn.shape == plain.shape
    changed = np.abs(drawn.astype(int) - plain).max(axis=2) > 40
    assert 0.01 < changed.mean() < 0.2
    assert "cannot be written" in refused(capsys, picture, "--draw", str(tmp_path / "no" / "x.png"))


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_the_sheet_has_its_size_on_paper(paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    width, height = PAPERS[paper]
    png, pdf = tmp_path / "sheet.png", tmp_path / "sheet.pdf"
    assert main(["calibrate", "--sheet", str(png), "--paper", paper]) == 0
    assert main(["calibrate", "--sheet", str(pdf), "--paper", paper]) == 0
    with Image.open(png) as sheet:
        assert sheet.size == (round(width * SCALE), round(height * SCALE))
        assert sheet.info["dpi"] == pytest.approx((508, 508), abs=0.02)
    box = [float(word) for word in pdf.read_bytes().split(b"/MediaBox [")[1].split(b"]")[0].split()]
    assert box == pytest.approx([0, 0, width * 72 / 25.4, height * 72 / 25.4], abs=0.05)
    assert "150 mm" in capsys.readouterr().out


def test_the_board_and_the_line_on_the_sheet_have_their_length() -> None:
    sheet = np.asarray(draw_page("a4"))
    x, y = board_origin("a4")
    row = sheet[round((y + 10) * SCALE)] < 128
    # The upper left square is black for thirty millimetres.
    assert list(np.flatnonzero(np.diff(row[: round((x + 31) * SCALE)].astype(int)))) == [
        round(x * SCALE) - 1,
        round((x + 30) * SCALE) - 1,
    ]
    below = sheet[round((y + 210 + 1) * SCALE) : round((y + 210 + 8) * SCALE)] < 128
    longest = below.sum(axis=1).max()
    assert longest == 150 * SCALE


def test_a_sheet_of_another_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ends in .png or .pdf" in refused(capsys, "--sheet", str(tmp_path / "sheet.svg"))
    assert "cannot be written" in refused(capsys, "--sheet", str(tmp_path / "no" / "sheet.png"))
