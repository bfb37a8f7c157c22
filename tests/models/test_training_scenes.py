"""The networks' training data: scenes whose truth holds, from a small library drawn here."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.simulated.decks.families import FAMILIES
from models.training.art import FACE_H, FACE_W
from models.training.confidence_fit import regress
from models.training.library import META, Library, with_alpha
from models.training.samples import shard
from models.training.scenes import SIZE, Painter

FONT = str(FAMILIES["carnival"].font_file)


@pytest.fixture(scope="module")
def library() -> Library:
    """Two decks of four white faces and a back, on grey."""
    face = with_alpha(np.full((FACE_H, FACE_W, 3), 240, np.uint8), 0.05)
    meta = np.zeros(10, META)
    meta["card"] = [0, 1, 2, 3, -1] * 2
    meta["deck"] = np.repeat([10, 11], 5)
    meta["rank"], meta["suit"] = (0.05, 0.05, 0.2, 0.15), (0.05, 0.15, 0.2, 0.25)
    faces = np.stack([face] * len(meta))
    by_deck = {deck: np.flatnonzero(meta["deck"] == deck) for deck in (10, 11)}
    return Library(faces, faces[:, ::2, ::2].copy(), meta, np.full((1, 640, 640, 3), 90, np.uint8), by_deck)


def test_printed_boxes_are_shown_without_a_card(library: Library) -> None:
    scene = Painter(library).print_alone((1, 2), [FONT])
    assert not scene.indices and not scene.cards
    assert scene.image.shape == (SIZE, SIZE, 3) and scene.image.std() > 5


def test_a_card_without_an_index_covers_what_it_lies_on(library: Library) -> None:
    """It is the last of its heap, has no index in the truth, and the cards below it lose as much as it hides."""
    heaps = (Painter(library, odd_tops=1.0).scene((3, i)) for i in range(12))
    odd = [(scene, k) for scene in heaps for k, card in enumerate(scene.cards) if card.card < 0]
    assert odd
    assert not any(index.card == k for scene, k in odd for index in scene.indices)
    assert any(card.covered > 0.3 for scene, _ in odd for card in scene.cards)


def test_a_seed_draws_one_scene_and_another_with_odd_tops(library: Library) -> None:
    same, again, odd = (Painter(library, odd_tops=share).scene((4, 1)).image for share in (0.0, 0.0, 1.0))
    assert np.array_equal(same, again)
    assert not np.array_equal(same, odd)


def test_covered_heaps_are_drawn_for_the_card_network_alone(library: Library) -> None:
    """The card without an index is in no question itself."""
    crops = shard(Painter(library, odd_tops=0.8), 5, 0, 6, crops_alone=True)
    assert set(crops) == {"crops", "crop_values"} and (crops["crop_values"][:, 0] >= 0).all()
    assert set(shard(Painter(library), 5, 0, 6, crops_alone=False)) > set(crops)


def test_a_regression_tells_how_often_a_logit_is_right() -> None:
    """Logits that are twice too large and one too high are brought back to their true worth."""
    rng = np.random.default_rng(1)
    true = rng.normal(0, 2, 20_000)
    right = (rng.random(len(true)) < 1 / (1 + np.exp(-true))).astype(float)
    slope, offset = regress(np.column_stack([2 * true + 1, np.ones(len(true))]), right, np.array([1.0, 0.0]))
    assert slope == pytest.approx(0.5, abs=0.02)
    assert offset == pytest.approx(-0.5, abs=0.1)
