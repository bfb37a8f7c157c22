"""The second world: hands and cards that move like people's, a reliable truth, a judge that counts.

No Blender is needed: two short rendered sequences are stored here (`make second-world`), the rest is arithmetic.
"""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from itertools import cycle, pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from models.eye.eye import Eye
from referee.engine.observations import Card, Observation, Taken
from referee.units import MS, SECOND
from tools.second_world.gestures import Handling, draw_lay, draw_sweep
from tools.second_world.hand_model import INDEX_TIP, POSES, Points, Skin, bones, pinch_point, sleeve
from tools.second_world.judge import SequenceError, SequenceTruth, fed, hold_against, judge, lamp, table
from tools.second_world.judging_rooms import (
    SETTINGS,
    Setting,
    draw_setting,
    draw_unruly,
    judging_room,
    rooms,
    score_of,
)
from tools.second_world.other_cameras import OTHER_CAMERAS
from tools.second_world.room import SKINS, Light, Person, Room
from tools.second_world.sequence import Score, Sequence, compose
from tools.second_world.things import Arm, ArmMesh, CardSheet
from tools.second_world.truth import Eyewitness, events

SHEET = CardSheet.cut(63.0, 88.0)
SEQUENCES = Path(__file__).with_name("sequences")
LIGHT = Light(0.8, 1.0, 0.0, 0.0, 45.0, 0.0, 1.0, (0.0, 0.0, 1000.0), 100.0, 0.0)


def _chance(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def _room(seed: int) -> Room:
    """Four people at a grey table."""
    people = {seat: Person(Arm((270.0 - 90 * (seat - 1)) % 360), SKINS[0], None, 0.0, 0.0) for seat in range(1, 5)}
    cloth = np.full((4, 4, 3), 90, np.uint8)
    cards = ["7h", "Ks", "2c", "9d"]
    return Room(
        seed, cloth, 0.0, LIGHT, (900.0, 2.0, -1.0, 1.0, 512.0), people, (63.0, 88.0), lambda card: cloth, cards
    )


def _arm_mesh() -> ArmMesh:
    """Return an arm of dots: accurate enough for occlusion."""
    dots: list[Points] = []
    for bone in bones(POSES["rest"]):
        for share in np.linspace(0, 1, 60):
            middle = bone.start + share * (bone.end - bone.start)
            radius = bone.radii[0] + share * (bone.radii[1] - bone.radii[0])
            turned = np.arange(16) * np.pi / 8
            ring = np.stack([np.zeros(16), np.cos(turned), np.sin(turned)], axis=1) * radius
            dots.append(middle + ring @ bone.frame.T)
    return ArmMesh(Skin.fit(np.concatenate(dots), []))


@pytest.mark.parametrize("name", sorted(POSES))
def test_a_bent_hand_keeps_its_bones(name: str) -> None:
    """Joints turn; nothing is stretched, and fingers stay in front of the wrist."""
    for still, bent in zip(bones(POSES["rest"]), bones(POSES[name]), strict=True):
        assert np.linalg.norm(bent.end - bent.start) == pytest.approx(np.linalg.norm(still.end - still.start))
    assert bones(POSES[name])[INDEX_TIP].end[0] > 90


def test_a_left_hand_mirrors_a_right_one() -> None:
    at = np.array([10.0, 20.0, 5.0])
    tips = []
    for side in (1, -1):
        arm = Arm(90.0, side, aside=0.0)
        tip = np.array([bones(POSES["flat"])[INDEX_TIP].end])
        tips.append(arm.reach(tip, POSES["flat"], at, arm.frame(at, 5.0, 20.0))[0] - at)
    way = Arm(90.0, 1, 0.0).heading(at)
    along = np.array([np.cos(np.radians(way)), np.sin(np.radians(way))])
    across = np.array([-along[1], along[0]])
    assert tips[0][:2] @ along == pytest.approx(tips[1][:2] @ along)
    assert tips[0][:2] @ across == pytest.approx(-(tips[1][:2] @ across))


def test_an_arm_reaches_in_from_its_seat() -> None:
    """The held thing is in its place, and the forearm leaves the table on its owner's side."""
    for bearing in (0.0, 72.0, 200.0, 315.0):
        arm = Arm(bearing)
        at = np.array([5.0, -8.0, 4.0])
        elbow = np.array([bones(POSES["pinch"])[0].end])
        held = arm.reach(np.array([pinch_point(POSES["pinch"])]), POSES["pinch"], at, arm.frame(at, 8.0, 0.0))[0]
        there = arm.reach(elbow, POSES["pinch"], at, arm.frame(at, 8.0, 0.0))[0]
        assert held == pytest.approx(at)
        seen = np.degrees(np.arctan2(there[1], there[0]))
        assert abs((seen - bearing + 180) % 360 - 180) < 20


def test_a_sleeve_is_wider_than_its_arm() -> None:
    points, faces = sleeve(40.0, 9.0, _chance())
    wide = np.linalg.norm(points[:, 1:], axis=1)
    arm = 27.0 + 19.0 * -points[:, 0] / 480.0
    assert (wide > arm - 1).all()
    assert max(max(face) for face in faces) < len(points)


@pytest.mark.parametrize("manner", ["flip", "late", "slide"])
def test_a_laid_card_comes_to_rest_and_moves_as_people_move_it(manner: str) -> None:
    for seed in range(6):
        lay = draw_lay(Arm(200.0), "7h", 1.0, 0.5, manner, _chance(seed))
        times = np.arange(lay.track.begin, lay.rested + 0.2, 0.002)
        middles = np.array([lay.pose_card(SHEET, t).mean(axis=0) for t in times])
        speeds = np.linalg.norm(np.diff(middles, axis=0), axis=1) / 0.002
        assert speeds.max() < 4_000, "mm/s"
        assert speeds[times[:-1] > lay.rested + 0.01].max() == pytest.approx(0.0, abs=1e-6)
        # It lies flat on the pile, near the table's middle, its face up.
        assert np.abs(lay.corners(SHEET, lay.rested)[:, 2] - 0.5).max() < 0.3
        assert np.linalg.norm(middles[-1][:2]) < 50
        right, up = (lay.corners(SHEET, lay.rested)[k] - lay.corners(SHEET, lay.rested)[j] for k, j in ((1, 0), (0, 3)))
        assert np.cross(right, up)[2] > 0


@pytest.mark.parametrize("manner", ["flip", "slide"])
def test_a_tossed_card_goes_on_and_turns_when_it_is_let_go(manner: str) -> None:
    handling = Handling(toss=100.0, spin=40.0)
    ways, turns = [], []
    for seed in range(12):
        lay = draw_lay(Arm(200.0), "7h", 1.0, 0.5, manner, _chance(seed), handling)
        let_go, rest = (lay.corners(SHEET, t) for t in (lay.landed, lay.rested))
        ways.append(np.linalg.norm(rest.mean(axis=0) - let_go.mean(axis=0)))
        (a, b), (c, d) = (np.subtract(*at[[1, 0], :2]) for at in (let_go, rest))
        turns.append(abs(np.degrees(np.arctan2(a * d - b * c, a * c + b * d))))
        assert np.linalg.norm(rest.mean(axis=0)[:2]) < 60, "it comes to rest on the pile"
    assert max(ways) > 80 and min(ways) < 50 and max(turns) > 25


def test_a_hand_that_waits_is_held_over_the_table_and_slaps_meet_on_each_other() -> None:
    lines = (("wait:4", 0.0), ("lay:1:flip", 0.9), ("slap:2", 1.0), ("slap:3", 0.2), ("take:2", 1.5))
    played = compose(_room(5), Score(lines))
    rest = played.rests[4]
    assert rest.at(rest.begin + 1.0).at[2] > 50
    first, second, _ = played.sweeps
    assert second.track.grips[2].at[2] > first.track.grips[2].at[2] + 5


def test_a_taken_pile_leaves_with_the_hand_on_its_owners_side() -> None:
    sweep = draw_sweep(Arm(90.0), 1.0, 2.0, True, _chance())
    lay = draw_lay(Arm(0.0), "7h", 0.0, 0.5, "flip", _chance())
    points = lay.pose_card(SHEET, lay.rested)
    assert sweep.carried(points, 0, sweep.moved) == pytest.approx(points)
    gone = sweep.carried(points, 0, sweep.track.end).mean(axis=0)
    assert gone[1] > 380 and abs(gone[0]) < 120
    slap = draw_sweep(Arm(90.0), 1.0, 2.0, False, _chance())
    assert slap.carried(points, 0, slap.track.end) == pytest.approx(points)


@pytest.fixture(scope="module")
def played() -> tuple[Sequence, Eyewitness]:
    room = _room(3)
    lines = (("lay:1:flip", 0.0), ("lay:2:late", 0.8), ("lay:3:slide", 0.8), ("take:4", 0.9))
    sequence = compose(room, Score(lines))
    view = room.view(640, 480)
    return sequence, Eyewitness(sequence, view, SHEET, {seat: _arm_mesh() for seat in room.people})


def test_a_face_shows_once_it_is_turned_and_a_hand_hides_it(played: tuple[Sequence, Eyewitness]) -> None:
    sequence, witness = played
    for number, lay in enumerate(sequence.lays):
        seen = witness.reveal(number)
        assert seen.sliver <= seen.quarter <= seen.half <= seen.rested + 0.6
        if lay.turned.roll:
            assert witness.shown(number, lay.turned.begin) == 0.0, "its back is up"
            assert lay.turned.begin < seen.sliver <= lay.turned.end + 0.1
        assert witness.shown(number, lay.track.end + 0.02) > 0.95, "it lies open, and the hand is away"
        assert witness.shown(number, lay.landed) < 0.95, "fingers lie on it"


def test_the_truth_tells_plays_and_takes_in_nanoseconds(played: tuple[Sequence, Eyewitness]) -> None:
    sequence, witness = played
    told = list(events(sequence, witness, sequence.room.view(640, 480), SHEET))
    assert [(event["kind"], event["seat"]) for event in told] == [("play", 1), ("play", 2), ("play", 3), ("take", 4)]
    assert [event["card"] for event in told[:3]] == ["7h", "Ks", "2c"]
    for act in told[:3]:
        corners = np.array(act["corners"])
        assert 80 < np.linalg.norm(corners[0] - corners[3]) < 140, "a card's height, px"
        assert act["sliver"] <= act["quarter"] <= act["half"]
    assert told[3]["moved"] < told[3]["half"] < told[3]["gone"]


def test_rooms_for_judging_are_none_for_training() -> None:
    """The drawing code does not even load the training code, and no cloth or pack of cards is like another's."""
    code = "import sys, tools.second_world.judging_rooms; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not [name for name in done.stdout.split() if name.startswith("models.training")]
    assert len({setting.name for setting in SETTINGS}) == len({setting.seed for setting in SETTINGS}) == len(SETTINGS)
    assert len(SETTINGS) >= 12
    assert sum(line[0].startswith("lay") for setting in SETTINGS for line in score_of(setting).lines) >= 60


def test_a_judging_room_is_the_same_each_time() -> None:
    one, other = judging_room(SETTINGS[1]), judging_room(SETTINGS[1])
    assert np.array_equal(one.cloth, other.cloth)
    assert one.people == other.people and one.light == other.light and one.cards == other.cards


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("draw", [draw_setting, draw_unruly])
def test_in_a_room_that_nobody_arranged_no_arm_is_in_two_places(draw: Callable[[int], Setting], number: int) -> None:
    setting = draw(number)
    assert setting == draw(number) != draw(number + 1)
    sequence = compose(judging_room(setting), score_of(setting))
    assert len(sequence.lays) >= 2 and sequence.sweeps
    tracks = [(sequence.seats[k], lay.track) for k, lay in enumerate(sequence.lays)]
    tracks += [(sequence.seats[1000 + k], sweep.track) for k, sweep in enumerate(sequence.sweeps)]
    for seat in sequence.room.people:
        own = sorted((track.begin, track.end) for of, track in tracks if of == seat)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(own))


@pytest.mark.parametrize(("text", "numbers"), [("3", [0, 1, 2]), ("200-202", [200, 201, 202]), ("7-7", [7])])
def test_rooms_are_drawn_by_count_or_from_a_number_on(text: str, numbers: list[int]) -> None:
    assert list(rooms(text)) == numbers


@pytest.mark.parametrize("text", ["", "many", "200-", "-3-5"])
def test_rooms_that_are_no_numbers_are_named(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="FIRST-LAST"):
        rooms(text)


# The judge


def _truth() -> SequenceTruth:
    plays = [
        {"card": card, "seat": 1, "bearing": 270.0, "sliver": t - 10 * MS, "quarter": t, "half": t + 10 * MS}
        for card, t in (("7h", SECOND), ("Ks", 2 * SECOND), ("2c", 3 * SECOND))
    ]
    take = {"seat": 2, "bearing": 90.0, "moved": 4 * SECOND, "half": 4_200 * MS, "gone": 4_500 * MS}
    return SequenceTruth({"name": "made up"}, plays, [take], [])


def test_the_judge_counts_what_is_right() -> None:
    seen: list[Observation] = [
        Card(t=SECOND + 20 * MS, card="7h", t_error=30 * MS, confidence=0.99, seat=1, bearing=260.0),
        Card(t=2 * SECOND + 300 * MS, card="Ks", t_error=30 * MS, confidence=0.8, seat=2, bearing=180.0),
        Card(t=3 * SECOND, card="2c", t_error=10 * MS, confidence=0.95),
        Taken(t=4_300 * MS, seat=2, t_error=150 * MS),
    ]
    score = hold_against(_truth(), seen)
    assert (score.read, score.sure, score.wrong_sure, score.invented) == (3, 2, 0, 0)
    assert (score.inside, score.asked) == (2, 1)
    assert [span.error // MS for span in score.spans] == [20, 300, 0]
    assert [span.holds for span in score.spans] == [True, False, True]
    assert (score.bearings, score.near, score.seats) == (2, 1, 1)
    assert (score.taken, score.takers, score.invented_takes) == (1, 1, 0)


def test_the_judge_counts_what_is_wrong() -> None:
    seen: list[Observation] = [
        Card(t=SECOND, card="7d", t_error=30 * MS, confidence=0.97),
        Card(t=2 * SECOND, card="??", t_error=30 * MS),
        Card(t=3_900 * MS, card="Qd", t_error=30 * MS, confidence=0.5),
        Card(t=5 * SECOND, card="??", t_error=30 * MS),
        Taken(t=SECOND, seat=2, t_error=150 * MS),
    ]
    score = hold_against(_truth(), seen)
    assert (score.read, score.wrong_sure, score.asked, score.invented) == (0, 1, 3, 1)
    assert (score.taken, score.invented_takes) == (0, 1)
    assert "0 of 3" in table([score])


@pytest.mark.parametrize(("mains", "fps", "still"), [("50:0.2", 25, True), ("50:0.2", 30, False), ("60:0.2", 30, True)])
def test_bands_of_a_flickering_lamp_all_but_stand_still_at_their_mains_frame_rate(
    mains: str, fps: int, still: bool, tmp_path: Path
) -> None:
    grey = np.full((48, 64, 3), 120, np.uint8)
    cv2.imwrite(str(tmp_path / "0.webp"), grey)
    frames = [{"file": "0.webp", "t": k * SECOND // fps} for k in range(2)]
    truth = SequenceTruth({"size": [64, 48], "exposure": 5 * MS, "readout": 15 * MS}, [], [], frames)
    one, other = (image.astype(int) for image, _, _ in fed(tmp_path, truth, flicker=lamp(mains), noise=0.0))
    assert np.ptp(one) > 15, "bands are seen"
    assert bool(np.abs(one - other).max() < 3) == still


def test_a_flicker_that_is_none_is_named() -> None:
    with pytest.raises(ArgumentTypeError, match="HERTZ:SWING"):
        lamp("50")


def test_a_folder_without_a_sequence_is_named(tmp_path: Path) -> None:
    with pytest.raises(SequenceError, match=r"truth\.jsonl cannot be read"):
        SequenceTruth.read(tmp_path)


# Two rendered sequences


def _kept() -> list[Path]:
    return sorted(path.parent for path in SEQUENCES.rglob("truth.jsonl"))


def test_two_sequences_lie_here() -> None:
    assert [path.name for path in _kept()] == ["short-lamp", "short-window"]
    for folder in _kept():
        truth = SequenceTruth.read(folder)
        assert {frame["file"] for frame in truth.frames} == {path.name for path in folder.glob("*.webp")}
        frames = list(fed(folder, truth, every=12))
        assert all(image.shape == (480, 640, 3) for image, _, _ in frames)


@pytest.mark.parametrize("folder", _kept(), ids=lambda folder: folder.name)
def test_the_watcher_follows_what_another_renderer_drew(folder: Path) -> None:
    score, _ = judge(Eye.load(), folder, look=True)
    assert (score.read, score.wrong_sure, score.invented) == (score.plays, 0, 0)
    assert (score.near, score.seats) == (score.plays, score.plays)
    assert (score.taken, score.takers, score.invented_takes) == (score.takes, score.takes, 0)


GREY = np.full((48, 64, 3), 100, np.uint8)


def test_a_camera_that_balances_white_anew_jumps_by_10_to_20_percent_and_back() -> None:
    camera = OTHER_CAMERAS["balancing"]()
    blue, green, red = np.array([camera(GREY, t * SECOND).mean(axis=(0, 1)) for t in range(1, 40)]).T
    assert set(green) == {100}
    for colour in (blue, red):
        jumps = np.abs(np.diff(colour))
        assert ((jumps == 0) | ((jumps >= 9) & (jumps <= 20))).all() and (jumps > 0).sum() == 19


def test_a_camera_that_exposes_anew_follows_a_bright_hand_with_a_lag_and_begins_each_sequence_fresh() -> None:
    camera, hand = OTHER_CAMERAS["exposing"](), GREY.copy()
    hand[:, :32] = 250
    for k in range(25):
        assert camera(GREY, k * SECOND // 25).mean() == 100
    seen = [camera(hand, SECOND + k * SECOND // 25) for k in range(50)]
    cloth = [int(image[0, -1, 0]) for image in seen]
    assert cloth[0] == 100 and 60 < cloth[10] < 90 and cloth == sorted(cloth, reverse=True)
    assert np.mean(seen[-1]) == pytest.approx(100, abs=3)
    assert OTHER_CAMERAS["exposing"]()(GREY, 5 * SECOND).mean() == 100


def test_a_camera_that_shakes_moves_each_frame_by_a_pixel_at_most() -> None:
    camera, slope = (
        OTHER_CAMERAS["shaking"](),
        np.tile(np.arange(0, 256, 4).astype(np.uint8)[None, :, None], (48, 1, 3)),
    )
    moves = [(float(camera(slope, t)[24, 32, 0]) - 128) / 4 for t in range(50)]
    assert max(map(abs, moves)) <= 1 and min(moves) < -0.7 and max(moves) > 0.7


# Each camera films one of the two sequences, in turn.
@pytest.mark.parametrize(("camera", "folder"), [*zip(OTHER_CAMERAS, cycle(_kept()), strict=False)])
def test_the_watcher_follows_what_another_camera_would_have_seen(camera: str, folder: Path) -> None:
    score, _ = judge(Eye.load(), folder, look=True, camera=OTHER_CAMERAS[camera])
    assert (score.read, score.wrong_sure, score.invented) == (score.plays, 0, 0)
    assert (score.inside, score.near, score.taken) == (score.plays, score.plays, score.takes)


@pytest.mark.parametrize("folder", _kept(), ids=lambda folder: folder.name)
def test_the_watcher_follows_what_a_camera_sees_in_a_dim_room(folder: Path) -> None:
    score, _ = judge(Eye.load(), folder, look=True, noise=8.0)
    assert (score.read, score.wrong_sure, score.invented) == (score.plays, 0, 0)
    assert (score.inside, score.near, score.taken) == (score.plays, score.plays, score.takes)
