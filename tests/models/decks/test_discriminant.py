"""The classifiers of a learned deck."""

from __future__ import annotations

import numpy as np

from models.decks.discriminant import class_means, logistic


def clouds(n: int, width: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return three clouds of points, stretched the same way."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    stretch = np.geomspace(0.3, 3, width)
    x = rng.normal(0, 1, (n, width)) * stretch
    x[:, :3] += 2.5 * np.eye(3)[labels]
    return x.astype(np.float32), labels


def test_classes_are_told_apart_on_points_not_seen() -> None:
    x, labels = clouds(300, 12)
    lines = class_means(x, labels, 4)
    fresh, truth = clouds(300, 12, seed=2)
    assert (lines(fresh).argmax(1) == truth).mean() > 0.95
    assert (lines(fresh)[:, 3] < -1e5).all()  # a class without looks is never the answer


def test_few_looks_and_many_give_the_same_lines() -> None:
    """The solution in the space of the looks is the one in the space of the features."""
    x, labels = clouds(60, 61)
    few = class_means(x, labels, 3)
    many = class_means(np.concatenate([x, x]), np.concatenate([labels, labels]), 3)
    assert np.allclose(few(x), many(x), atol=0.02 * np.abs(few(x)).max())


def test_logistic_weighs_both_classes_alike() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(1, 0.5, (20, 1)), rng.normal(-1, 0.5, (400, 1))])
    w = logistic(x, np.arange(420) < 20)
    assert w[0] > 0
    assert abs(w[1] / w[0]) < 0.2
