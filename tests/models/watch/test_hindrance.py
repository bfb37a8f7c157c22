"""A hindered view: in the dark, behind a cover, after a knock, in another light; and hands that only hover."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from models.eye.geometry import Quad
from models.watch.arms import Hovering
from models.watch.fouls import TurnOrder
from models.watch.motion import Glance, Motion
from models.watch.shift import ShiftTracker
from models.watch.stream import BLIND_NS, Stream
from models.watch.tracks import Pile, Track
from models.watch.watcher import Watcher
from referee.engine.observations import Card, Taken
from referee.units import MS
from tests.models.watch.painted import SPACING, Painted, ToldEye, picture
from tests.models.watch.test_watcher import KING, SEVEN, TWO, settled

Picture = NDArray[np.uint8]


def test_a_card_laid_in_the_dark_is_read_in_the_light_and_its_instant_is_as_unsure_as_the_dark_was_long() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=4)
    last_light = stream.t - SPACING
    stream.eye.cards = []
    dark = 14
    for _ in range(dark):
        assert stream.watcher.feed(picture([SEVEN, KING]) // 20, stream.t, 4_000_000) == []
        assert stream.watcher.watermark <= last_light
        stream.t += SPACING
    assert stream.watcher.trouble == "dark"
    stream.show([SEVEN, KING, TWO], frames=12)
    assert stream.names == ["7h", "Ks", "2c"]
    card = stream.cards[-1]
    assert card.seat is None
    assert card.t - card.t_error <= last_light + 20 * MS and card.t + card.t_error >= last_light + dark * SPACING
    stream.show([SEVEN, KING, TWO], frames=40)
    assert stream.watcher.trouble == ""


def test_a_long_dark_does_not_hold_the_table_up_for_ever() -> None:
    stream = settled()
    for _ in range(60):
        stream.watcher.feed(picture([SEVEN, KING]) // 20, stream.t, 4_000_000)
        stream.t += SPACING
    assert stream.watcher.watermark >= stream.t - SPACING - BLIND_NS - MS
    stream.show([SEVEN, KING, TWO], frames=12)
    assert stream.cards[-1].card == "2c" and stream.cards[-1].t_error <= 1_000 * MS


def test_a_pile_taken_in_the_dark_is_told_without_a_seat() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=3)
    for _ in range(12):
        stream.watcher.feed(picture([]) // 20, stream.t, 4_000_000)
        stream.t += SPACING
    stream.show([], frames=6)
    (taken,) = [line for line in stream.seen if isinstance(line, Taken)]
    assert taken.seat is None and taken.t_error >= 5 * SPACING


def test_what_stands_before_the_lens_is_no_table_however_long_and_the_cards_are_known_after_it() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=4)
    cover = np.full((720, 960, 3), (150, 90, 70), np.uint8)
    stream.eye.cards = []
    for _ in range(40):
        assert stream.watcher.feed(cover, stream.t, 4_000_000) == []
        stream.t += SPACING
    assert stream.watcher.trouble == "blocked" and stream.watcher.state == "blocked"
    stream.show([SEVEN, KING], frames=8)
    assert stream.watcher.state == "quiet" and stream.watcher.pile == ("7h", "Ks")
    stream.lay([SEVEN, KING], TWO, 0)
    assert stream.names == ["7h", "Ks", "2c"] and stream.cards[-1].seat == 4
    assert not [line for line in stream.seen if isinstance(line, Taken)]


def test_a_lamp_of_another_colour_is_no_cover_and_the_pile_may_be_taken_in_its_light() -> None:
    stream = settled()
    for k in range(30):
        gains = 1 + min(1.0, k / 4) * (np.array([0.6, 0.8, 1.05]) - 1)
        lit = np.clip(picture([SEVEN, KING], noise=1 + k % 5) * gains, 0, 255).astype(np.uint8)
        stream.eye.cards = [SEVEN, KING]
        assert stream.watcher.feed(lit, stream.t, 4_000_000) == []
        assert stream.watcher.state in ("quiet", "moving")
        stream.t += SPACING
    for k in range(8):
        stream.eye.cards = []
        lit = np.clip(picture([], noise=1 + k % 5) * np.array([0.6, 0.8, 1.05]), 0, 255).astype(np.uint8)
        stream.seen += stream.watcher.feed(lit, stream.t, 4_000_000)
        stream.t += SPACING
    assert sum(isinstance(line, Taken) for line in stream.seen) == 1


def sunlit(shown: Picture, left: float, slope: float) -> Picture:
    """Return a picture with a share of its light left, and with a slope towards its right side."""
    across = left * (1 + slope * np.linspace(-1, 1, shown.shape[1])[None, :, None])
    return np.clip(shown * across, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("left", "frames"), [(0.5, 40), (0.6, 25), (1.3, 30)])
def test_a_cloud_before_the_sun_is_no_cover_and_the_pile_may_be_taken_meanwhile(left: float, frames: int) -> None:
    stream = settled()
    for k in range(frames):
        cards = [SEVEN, KING] if k < 0.7 * frames else []
        share = k / frames
        stream.eye.cards = cards
        lit = sunlit(picture(cards, noise=1 + k % 5), 1 + share * (left - 1), share * 0.3)
        stream.seen += stream.watcher.feed(lit, stream.t, 4_000_000)
        assert stream.watcher.state in ("quiet", "moving") and stream.watcher.trouble == ""
        stream.t += SPACING
    assert sum(isinstance(line, Taken) for line in stream.seen) == 1 and len(stream.cards) == 2


def stepped(shown: Picture, levels: tuple[float, float, float]) -> Picture:
    return np.asarray(cv2.add(shown, (*levels, 0.0)), np.uint8)


@pytest.mark.parametrize("levels", [(60, 0, 0), (0, 0, -50), (45, 45, 45), (14, 14, 14)])
@pytest.mark.parametrize("frames", [1, 8])
def test_a_camera_that_changes_its_balance_before_any_card_is_known_is_not_blocked(
    levels: tuple[float, float, float], frames: int
) -> None:
    motion = Motion()
    tinted = [np.clip(grained(noise=k) * np.array([0.1, 0.15, 1.7]), 0, 255).astype(np.uint8) for k in range(8)]
    for k in range(40):
        shown = tinted[k % 8]
        share = min(1.0, max(0, k - 9) / frames)
        step = (levels[0] * share, levels[1] * share, levels[2] * share)
        glance = motion.look(stepped(shown, step), k * SPACING, None)
        assert glance.state == "clear"
    assert cv2.countNonZero(glance.foreign) < 0.02 * glance.foreign.size and not glance.reaches


@pytest.mark.parametrize("colour", [(250, 248, 252), (30, 28, 26), (20, 230, 240)])
def test_a_cover_before_any_card_is_known_is_no_other_balance(colour: tuple[int, int, int]) -> None:
    motion = Motion()
    for k in range(10):
        motion.look(grained(noise=k % 8), k * SPACING, None)
    sensor = np.random.default_rng(5)
    for k in range(10, 40):
        cover = np.full((720, 960, 3), colour, np.float32) + sensor.normal(0, 2, (720, 960, 1))
        glance = motion.look(np.clip(cover, 0, 255).astype(np.uint8), k * SPACING, None)
        assert glance.state == "blocked"


def test_a_plain_table_in_another_balance_is_known_once_it_has_lain_still() -> None:
    motion = Motion()
    states = []
    for k in range(45):
        shown = picture([], noise=1 + k % 5)
        glance = motion.look(stepped(shown, (0, 0, 55)) if k >= 10 else shown, k * SPACING, None)
        states.append(glance.state)
    # It cannot be told from a cover any sooner.
    assert states.count("blocked") <= 20 and states[-5:] == ["clear"] * 5


WARMER = np.array([0.84, 1.0, 1.16])
"""Gains of blue, green and red after a step of a camera's white balance."""


PAPER: Quad = SEVEN.quad.astype(np.float32)


def balanced_card(k: int, balance: NDArray[np.float64], *, card: bool) -> Picture:
    """Return a grained cloth, perhaps with a card's white paper, in a camera's white balance."""
    shown = grained(noise=k % 8).copy()
    if card:
        cv2.fillConvexPoly(shown, PAPER.astype(np.int32), (205, 205, 205))
    return np.clip(shown * balance, 0, 255).astype(np.uint8)


def test_the_papers_colour_returns_with_a_cameras_balance() -> None:
    motion = Motion()
    for k in range(45):
        shown = balanced_card(k, WARMER if 20 <= k < 40 else np.ones(3), card=k >= 2)
        glance = motion.look(shown, k * SPACING, motion.mask([PAPER], (180, 240)) if k >= 3 else None)
        if k == 3:
            motion.learn_paper(glance.small, PAPER)
        if k in (20, 40):
            assert cv2.countNonZero(glance.moving) < 0.01 * glance.moving.size
            assert (motion.paper[2] - motion.paper[0] > 50) == (k == 20)
    assert np.abs(motion.paper - 205).max() < 8


def test_a_pile_may_be_taken_while_the_camera_changes_its_balance_on_a_table_with_grain() -> None:
    motion = Motion()
    for k in range(40):
        shown = balanced_card(k, WARMER if k >= 20 else np.ones(3), card=2 <= k < 20)
        glance = motion.look(shown, k * SPACING, motion.mask([PAPER], (180, 240)) if k >= 3 else None)
        assert glance.state == "clear"
    assert motion.bareness(motion.mask([PAPER], (180, 240)), glance) > 0.9


def test_a_cloud_leaves_no_shadow_of_itself_in_the_table() -> None:
    motion = Motion()
    for k in range(45):
        shown = sunlit(grained(noise=k % 8), 1 - 0.4 * min(1, k / 30), 0.3 * min(1, k / 30))
        glance = motion.look(shown, k * SPACING, None)
        assert cv2.countNonZero(glance.foreign) < 0.02 * glance.foreign.size


@pytest.mark.parametrize("creep", [4, 8])
def test_what_creeps_over_the_table_is_not_learned_as_it_creeps(creep: int) -> None:
    motion, shown = Motion(), grained()
    for k in range(15):
        motion.look(grained(noise=k % 8), k * SPACING, None)
    darker = shown.copy()
    for k in range(15, 27):
        # By less in a frame than the threshold of movement.
        darker[200:400, 300:700] = np.maximum(shown[200:400, 300:700].astype(int) - creep * (k - 14), 20)
        glance = motion.look(darker, k * SPACING, None)
    foreign = cv2.resize(glance.foreign, (960, 720))
    assert (foreign[220:380, 320:680] > 0).mean() > 0.9
    for k in range(27, 60):
        glance = motion.look(darker, k * SPACING, None)
    assert cv2.countNonZero(glance.foreign) < 0.01 * glance.foreign.size


# A knock


@lru_cache(maxsize=32)
def grained(dx: float = 0, dy: float = 0, turn: float = 0, noise: int = 0) -> Picture:
    """Return a cloth with a grain, seen by a camera that was knocked; sensor noise on top."""
    chance = np.random.default_rng(7)
    cloth = 90 + cv2.resize(chance.normal(0, 7, (180, 240)).astype(np.float32), (960, 720))
    matrix = cv2.getRotationMatrix2D((480, 360), turn, 1.0)
    matrix[:, 2] += (dx, dy)
    cloth = cv2.warpAffine(cloth, matrix, (960, 720), borderMode=cv2.BORDER_REFLECT)
    grain = np.random.default_rng(noise).normal(0, 2, (720, 960, 1))
    return np.clip(np.repeat(cloth[..., None], 3, 2) + grain, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("dx", "dy", "turn"), [(6, 0, 0), (-30, 45, 0), (20, -12, 3), (0, 0, 0)])
def test_a_knock_is_told_by_the_grain_of_the_table_and_hidden_cards_are_carried_along(
    dx: float, dy: float, turn: float
) -> None:
    motion, pile = Motion(), Pile()
    card = np.array([[400, 300], [500, 300], [500, 440], [400, 440]], np.float32)
    hidden = Track(card, 0, rest=card)
    pile.laid.append(hidden)
    following = ShiftTracker(motion, pile)
    assert not following.look(motion.look(grained(noise=1), 0, None))
    moving = motion.look(grained(dx / 2, dy / 2, turn / 2, noise=2), SPACING, None)
    moving.moving[:] = 255
    assert not following.look(moving)
    after = motion.look(grained(dx, dy, turn, noise=3), 2 * SPACING, None)
    after.moving[:] = 0
    after.foreign[:] = 0
    after.reaches.clear()
    assert following.look(after) == bool(dx or dy or turn)
    matrix = cv2.getRotationMatrix2D((480, 360), turn, 1.0)
    matrix[:, 2] += (dx, dy)
    there = card @ matrix[:, :2].T + matrix[:, 2]
    assert np.abs(hidden.quad - there).max() < 4


# Hands that hover


def test_only_a_hand_that_was_there_long_before_the_card_hovers() -> None:
    hovering = Hovering()
    for k in range(12):
        arms = [(90.0 + k % 3, 0.95)]
        arms += [(0.0, 0.9)] if k >= 8 else []
        arms += [(180.0, 0.6)]
        hovering.note(k * SPACING, arms)
    assert [round(angle) for angle in hovering.at(11 * SPACING - 1)] == [90]
    assert hovering.stayed(95.0, 11 * SPACING) and not hovering.stayed(0.0, 11 * SPACING)
    assert hovering.at(3 * SPACING) == []


def test_the_next_player_may_wait_over_the_pile_and_none_is_blamed_before_that_is_known() -> None:
    turns = TurnOrder()
    assert turns.may_wait(3, after=1)
    for seat in (1, 2, 3, 4, 1, 2):
        turns.note_card(seat)
    assert turns.may_wait(2, after=1) and not turns.may_wait(3, after=1)
    turns.note_card(None)
    turns.note_card(1)
    # After an unknown hand the predecessor is unknown.
    assert not turns.may_wait(1, after=2)


def test_a_stream_remembers_since_when_it_was_blind_even_through_a_glimpse() -> None:
    stream, blank = Stream(), np.zeros((2, 2), np.uint8)
    for k, clear in enumerate([True, True, False, False, True, False, False, True, True, True, True, True]):
        stream.advance(k * SPACING, (720, 960))
        glance = Glance(k * SPACING, *(blank,) * 4, state="clear" if clear else "blocked")
        stream.keep(blank, k * SPACING, 4_000_000, blank, glance)
        if k == 8:
            assert stream.unveiled and stream.blind_since == 1 * SPACING and stream.blind_until == 7 * SPACING
    assert not stream.unveiled and not stream.blind


def test_a_watcher_says_nothing_of_a_table_that_is_dark_from_the_first_and_learns_it_later() -> None:
    eye = ToldEye()
    watcher = Watcher(eye)
    seen = [line for k in range(5) for line in watcher.feed(picture([]) // 20, k * SPACING)]
    eye.cards = [Painted("7h", 470, 350, 8)]
    for k in range(5, 20):
        seen += watcher.feed(picture(eye.cards, noise=1 + k % 5), k * SPACING)
    assert [line.card for line in seen if isinstance(line, Card)] == ["7h"] and watcher.state == "quiet"
