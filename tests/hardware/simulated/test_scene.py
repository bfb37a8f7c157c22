"""The simulated camera's pictures: faces from their instant on, hands from their seats, the same noise each time."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pytest

from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.scene import Scene
from hardware.simulated.table.acts import FLIP_NS, SETTLE_NS, Act, Burn, CardPose, Lay, Take, bearing, towards
from hardware.simulated.table.interruption import stand_still
from hardware.simulated.table.paths import Player
from hardware.simulated.table.players import seat_people
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable, write_notes
from referee.units import MS

SIZE = (480, 360)
FACE, GAP = 2_000 * MS, 260 * MS


def lay(t: int, seat: int, card: str, seats: int = 4, turn: float = 0.0) -> Lay:
    return Lay(t, seat, card, CardPose(0, 0, (270 - bearing(seat, seats) + turn) % 360))


def whites(image: Bytes) -> int:
    """Return the number of pixels that look like a card's paper."""
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    return int(((hsv[..., 2] > 190) & (hsv[..., 1] < 40)).sum())


def changed(scene: Scene, t: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.intp]], ...]:
    """Return pixels that differ from the bare table."""
    difference = cv2.absdiff(scene.picture(t), scene.picture(0)).max(axis=2)
    return np.nonzero(difference > 12)


@pytest.mark.parametrize("seat", [1, 2, 3, 4])
def test_no_face_before_its_instant_and_a_face_after_it(seat: int) -> None:
    quiet = Scene([lay(FACE, seat, "2s")], 4, size=SIZE, noise=0, family="meadow")
    whole = whites(quiet.picture(FACE + SETTLE_NS + 400 * MS))
    for before in (1, 5 * MS, 20 * MS, 60 * MS, 100 * MS, 150 * MS):
        assert whites(quiet.picture(FACE - before)) < 0.12 * whole, "the back is red; paper shows only at its edge"
    assert whites(quiet.picture(FACE + 20 * MS)) > 0.25 * whole
    assert whites(quiet.picture(FACE + FLIP_NS)) > 0.6 * whole


def test_a_card_at_rest_does_not_move_and_the_hand_goes() -> None:
    scene = Scene([lay(FACE, 2, "9d")], 4, size=SIZE, noise=0)
    still = scene.picture(FACE + SETTLE_NS + 500 * MS)
    card = np.s_[150:210, 210:270]
    clear = scene.picture(FACE + SETTLE_NS + 130 * MS)
    assert np.array_equal(clear[card], still[card])
    assert np.array_equal(scene.picture(FACE + 900 * MS), still)


def test_between_quick_cards_each_face_lies_open_for_two_frames() -> None:
    acts: list[Act] = [lay(FACE + k * GAP, k % 4 + 1, card) for k, card in enumerate(("2s", "5h", "9c", "Kd", "7s"))]
    scene = Scene(acts, 4, size=SIZE, noise=0)
    for act in acts[:-1]:
        assert isinstance(act, Lay)
        alone = Scene([a for a in acts if a.t <= act.t], 4, size=SIZE, noise=0).picture(act.t + 800 * MS)
        upper = cv2.warpAffine(np.full((20, 12), 255, np.uint8), scene.flat(act.pose)[:2], SIZE) > 0
        open_ms = [
            ms
            for ms in range(0, 300, 10)
            if np.abs(scene.picture(act.t + ms * MS)[upper].astype(int) - alone[upper]).mean() < 6
        ]
        assert len(open_ms) >= 14, "140 ms: two frames at 15 a second, nearly three at 20"


@pytest.mark.parametrize("seats", [2, 3, 5, 8])
def test_a_hand_comes_from_its_seats_side(seats: int) -> None:
    for seat in {1, 2, seats}:
        scene = Scene([lay(FACE, seat, "4c", seats)], seats, size=SIZE, noise=0)
        rows, columns = changed(scene, FACE - 110 * MS)
        assert len(rows) > 50
        x, y = float(np.mean(columns)) - SIZE[0] / 2, float(np.mean(rows)) - SIZE[1] / 2
        out = towards(bearing(seat, seats))
        assert (x * out[0] + y * out[1]) / math.hypot(x, y) > math.cos(math.radians(25))


def test_seats_go_clockwise_from_the_bottom() -> None:
    assert [bearing(seat, 4) for seat in (1, 2, 3, 4)] == [270, 180, 90, 0]
    assert towards(270) == pytest.approx((0, 1))


def test_a_sweep_leaves_a_bare_table() -> None:
    acts: list[Act] = [lay(FACE, 1, "4c"), lay(FACE + GAP, 2, "4d"), Take(FACE + 2_000 * MS, 3)]
    scene = Scene(acts, 4, size=SIZE, noise=0)
    assert whites(scene.picture(FACE + 1_000 * MS)) > 500
    assert whites(scene.picture(FACE + 2_000 * MS)) > 100, "half-way the pile is still on its way out"
    assert np.array_equal(scene.picture(FACE + 3_000 * MS), scene.picture(0))


def test_burned_cards_go_under_the_pile() -> None:
    acts: list[Act] = [
        lay(FACE, 1, "4c"),
        Burn(FACE + 1_500 * MS, 2, ("Kd",), (CardPose(3, 4, 80),)),
        lay(FACE + 4_000 * MS, 1, "9s"),
    ]
    scene = Scene(acts, 4, size=SIZE, noise=0)
    before, after = scene.picture(FACE + 800 * MS), scene.picture(FACE + 3_000 * MS)
    top = cv2.warpAffine(scene.deck.picture("4c")[..., 3], scene.flat(CardPose(0, 0, 0))[:2], SIZE)
    inside = cv2.erode(top, np.ones((5, 5), np.uint8)) > 250
    assert np.abs(before[inside].astype(int) - after[inside]).max() <= 2
    assert not np.array_equal(before, after)


def test_pictures_do_not_depend_on_what_was_asked_before() -> None:
    script = play_game(4, 3, max_cards=25)
    one, two = SimulatedTable(script, size=SIZE), SimulatedTable(script, size=SIZE)
    instants = [script.duration * k // 16 for k in range(16)]
    forward = [one.render(t).image for t in instants]
    backward = [two.render(t).image for t in reversed(instants)][::-1]
    assert all(np.array_equal(a, b) for a, b in zip(forward, backward, strict=True))


def test_another_seed_is_another_table() -> None:
    script = play_game(4, 3, max_cards=3)
    assert not np.array_equal(
        SimulatedTable(script, size=SIZE).render(0).image, SimulatedTable(script, size=SIZE, seed=5).render(0).image
    )


def test_a_hand_moves_without_leaps() -> None:
    script = play_game(6, 4, max_cards=80)
    for person in seat_people(tuple(p.name for p in script.people), Random(1)):
        acts = [a for a in script.acts if a.seat == person.seat]
        player = Player(person.seat, 4, acts, (63, 88), (564, 423), 0.0, 70.0)
        last = None
        for t in range(0, min(script.duration, 20_000 * MS), 4 * MS):
            place = player.at(t)
            if place is not None and last is not None:
                assert math.dist(place.tip, last.tip) < 22, "5.5 m/s at most"
            last = place


def test_the_camera_port_gives_frames_in_order_and_ends() -> None:
    table = SimulatedTable(play_game(1, 2, max_cards=4), fps=20, size=(240, 180))
    frames = list(table.frames())
    assert len(frames) == table.frame_count
    assert [f.index for f in frames] == list(range(len(frames)))
    assert frames[1].t == 50 * MS
    assert frames[0].image.shape == (180, 240, 3)
    table.close()
    assert not list(table.frames())


def test_notes_beside_frames_carry_the_truth(tmp_path: Path) -> None:
    write_notes(tmp_path, SimulatedTable(play_game(2, 4, max_cards=3), size=(240, 180)))
    notes = json.loads((tmp_path / "frames.json").read_text(encoding="utf-8"))
    assert notes["fps"] == 15
    assert len(notes["cards"]) == 3


def test_a_frame_is_cheap() -> None:
    table = SimulatedTable(play_game(2, 4, max_cards=6))
    table.warm()
    began = time.thread_time()
    count = sum(1 for _ in table.frames())
    spent = (time.thread_time() - began) / count
    assert spent < 0.060, f"{1000 * spent:.1f} ms a frame"


def test_another_script_is_seen_from_its_instant_on() -> None:
    script = play_game(1, 2, max_cards=16)
    at = 1_200_000_000
    still = stand_still(script, at)
    table = SimulatedTable(script, fps=10, size=(240, 180))
    drawn = table.frames()
    ahead = [next(drawn) for _ in range(32)]
    table.follow(still, at)
    after = [next(drawn) for _ in range(5)]
    fresh = SimulatedTable(still, fps=10, size=(240, 180))
    index = int(at / 1e8) + 1
    assert [frame.index for frame in after] == list(range(index, index + 5))
    for frame in (*ahead[:index], *after):
        assert np.array_equal(frame.image, fresh.render(frame.t).image)
    moved = [frame for frame in ahead[index:] if not np.array_equal(frame.image, fresh.render(frame.t).image)]
    assert moved, "the players would have gone on"
