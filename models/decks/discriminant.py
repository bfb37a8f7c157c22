"""Small linear classifiers over a network's features, fitted in closed form or by a few Newton steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Floats

Ints = NDArray[np.int64]
#: Share by which the shared covariance is shrunk towards a multiple of the identity: features outnumber looks.
_SHRINK = 0.3


@dataclass(frozen=True, slots=True)
class LinearMap:
    """An affine map from features (N, F) to scores of classes (N, C)."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    def __call__(self, features: NDArray[np.float32]) -> Floats:
        return np.asarray(features.astype(np.float64) @ self.weight.astype(np.float64) + self.bias)


def class_means(features: NDArray[np.float32], labels: Ints, classes: int, shrink: float = _SHRINK) -> LinearMap:
    """Fit a linear discriminant analysis: the nearest class mean in the metric of the shared within-class covariance.

    Fisher (1936), with the covariance shrunk as in Friedman (1989), solved in the space of the looks where these are
    fewer than the features. A class without looks gets weight 0 and the least bias.
    """
    centre, spread = features.mean(0, dtype=np.float64), features.std(0, dtype=np.float64)
    scale = 1 / (spread + 0.1 * float(features.std()) + 1e-9)
    x = (features.astype(np.float64) - centre) * scale
    means = np.zeros((classes, x.shape[1]))
    within = x.copy()
    for k in np.unique(labels):
        mine = labels == k
        means[k] = x[mine].mean(0)
        within[mine] -= means[k]
    n, width = within.shape
    ridge = shrink / (1 - shrink) * float((within**2).sum()) / (n * width) + 1e-9
    if n < width:
        # Woodbury identity: solve an n x n system instead of a width x width one.
        gram = within @ within.T / n + ridge * np.eye(n)
        inverse = (means.T - within.T @ np.linalg.solve(gram, within @ means.T) / n) / ridge
    else:
        inverse = np.linalg.solve(within.T @ within / n + ridge * np.eye(width), means.T)
    # The matrix inverted is (1 - shrink) · covariance; the temperature fitted later absorbs the factor.
    bias = -0.5 * np.einsum("cf,fc->c", means, inverse)
    weight = inverse * scale[:, None]
    bias = bias - centre @ weight
    bias[np.setdiff1d(np.arange(classes), labels)] = -1e6
    return LinearMap(weight.astype(np.float32), bias.astype(np.float32))


def logistic(x: Floats, positive: NDArray[np.bool_], ridge: float = 0.02, steps: int = 30) -> Floats:
    """Return weights (F + 1, the last the offset) of a ridge logistic regression; both classes weigh the same.

    Args:
        x: (N, F), of order one.
        positive: (N,), with both kinds among them.
        ridge: penalty on the squared weights, except the offset.
        steps: steps of Newton's method.
    """
    design = np.column_stack([x, np.ones(len(x))])
    share = np.where(positive, 0.5 / max(1, int(positive.sum())), 0.5 / max(1, int((~positive).sum())))
    penalty = np.diag([ridge] * x.shape[1] + [1e-6])
    w = np.zeros(design.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(design @ w, -30, 30)))
        slope = design.T @ (share * (p - positive)) + penalty @ w
        curve = (design * (share * p * (1 - p))[:, None]).T @ design + penalty
        w -= np.linalg.solve(curve, slope)
    return w
