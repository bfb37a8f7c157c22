"""Learns an unusual deck from looks at its cards, and applies that knowledge to a network's features.

Ranks and suits are learned separately, since each rank shows in four suits and each suit in thirteen ranks. The
confidence is calibrated by leaving cards out: each card's rank is read from the other suits, its suit from the other
ranks, on copies that are worse than the looks. The ordinary reading is blended in as far as it helped there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.decks.discriminant import Ints, LinearMap, class_means, logistic
from models.decks.looks import CardLook, off_index, varied
from models.eye.classes import CARD_CLASSES
from models.eye.geometry import CROP_H, CROP_W, PATCH_H, PATCH_W, Floats, Image
from models.eye.networks import Network
from models.eye.reader import (
    N_RANKS,
    N_SUITS,
    RANK_OF_CARD,
    SUIT_OF_CARD,
    ClassScores,
    card_logs,
    log_softmax,
    sigmoid,
)

#: Number of worse copies of each patch, and how much worse they are; they calibrate the confidence.
_TESTS, _HARD = 4, 1.5
#: Number of copies of each patch to learn from; more of the whole card, since there are fewer.
_COPIES, _WHOLE_COPIES = 6, 8
_FOLDS = 4
#: Highest confidence for a card that was not laid, or is still confused with another.
CAP = 0.89
#: An index that may be half covered limits the confidence to its logit of being whole, less this.
_DOUBTFUL_INDEX = 0.8
#: Share of misread left-out copies from which a card counts as confused.
_CONFUSED = 0.34
_TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0)
_BLENDS = (0.0, 0.25, 0.5, 1.0)
_DOUBTS = (0.01, 0.03, 0.1, 0.2)

Progress = Callable[[str], None]
"""Callback that receives a description of the current step."""


class TooFewLooks(ValueError):  # noqa: N818 - a state of the looks
    """The cards laid do not suffice to teach a deck; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Factor:
    """Knowledge of the ranks, or of the suits, in one network's features."""

    lines: LinearMap
    known: NDArray[np.bool_]
    """(C,), whether each class was laid."""
    temperature: float = 8.0
    ordinary: float = 0.0
    """Weight of the ordinary reading's log-probabilities."""
    doubt: float = 0.1
    """Share that is always spread evenly over the classes."""
    elsewhere: bool = True
    """Whether the ordinary reading is believed about classes that were not laid; otherwise only its surplus over a half
    counts."""

    def logs(self, features: NDArray[np.float32], ordinary: Floats) -> Floats:
        """Return log-probabilities (N, C); ``ordinary``: the network's own, of the same shape."""
        scores = self.lines(features) / self.temperature + self.ordinary * ordinary
        p = np.zeros_like(ordinary)
        among = np.exp(log_softmax(scores[:, self.known]))
        p[:, self.known] = (1 - self.doubt) * among + self.doubt / max(1, int(self.known.sum()))
        others = np.where(self.known, 0.0, np.exp(ordinary))
        share = others.sum(1, keepdims=True)
        if not self.elsewhere:
            others = others * np.maximum(2 * share - 1, 0) / np.maximum(share, 1e-9)
        p = p * (1 - others.sum(1, keepdims=True)) + others
        return np.asarray(np.log(np.maximum(p, 1e-9)))


@dataclass(frozen=True, slots=True)
class IndexTest:
    """Tests whether a patch is an upright index of this deck, from the deck's own lines and the ordinary logit."""

    lines: LinearMap
    weights: Floats
    """Weights of the lines' score and of the ordinary logit, and the offset."""
    stretch: float = 1.0
    """Factor that brings a sure index to the ordinary logit's level."""

    def __call__(self, features: NDArray[np.float32], ordinary: Floats) -> Floats:
        """Return logits (N,) from features (N, F) and ordinary logits (N,)."""
        score = self.lines(features)[:, 1] - self.lines(features)[:, 0]
        logit = np.column_stack([_soft(score), _soft(ordinary), np.ones(len(score))]) @ self.weights
        return np.asarray(np.clip(np.where(logit > 0, logit * self.stretch, logit), -14, 14))


def _soft(x: Floats) -> Floats:
    """Return scores compressed to order one, so that extreme values add no certainty."""
    return np.asarray(np.tanh(x / 12) * 3)


@dataclass(frozen=True, slots=True)
class Confusion:
    """A card that is still mistaken for another, with the share of its copies."""

    card: str
    other: str
    share: float


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A learned deck, for the weights it was learned with."""

    rank: Factor
    suit: Factor
    index: IndexTest
    whole_rank: Factor
    whole_suit: Factor
    laid: tuple[str, ...]
    confusions: tuple[Confusion, ...]

    def cap(self, card: str, index: float = np.inf) -> float:
        """Return the highest confidence allowed for a card whose best index has this logit of being whole."""
        confused = {c.card for c in self.confusions} | {c.other for c in self.confusions}
        whole = 1.0 if index > 30 else sigmoid(index - _DOUBTFUL_INDEX)
        return min(whole, CAP if card not in self.laid or card in confused else 1.0)


@dataclass(frozen=True, slots=True)
class Batch:
    """Features, ordinary log-probabilities of rank and suit, and the cards they belong to."""

    features: NDArray[np.float32]
    ordinary: tuple[Floats, Floats]
    index: Floats
    cards: Ints
    labels: tuple[Ints, Ints]

    @staticmethod
    def read(patches: Image, cards: Sequence[str], network: Network) -> Batch:
        """Show patches, or whole cards, of the named cards to a network."""
        out, features = network.with_features(patches)
        scores = ClassScores.of(out)
        numbers = np.array([CARD_CLASSES.index(c) for c in cards], np.int64)
        labels = (RANK_OF_CARD[numbers], SUIT_OF_CARD[numbers])
        by_pips = patches.shape[1:3] == (CROP_H, CROP_W)
        return Batch(features, (scores.ranks(by_pips=by_pips), scores.suit), scores.rest[:, 0], numbers, labels)

    def where(self, kept: NDArray[np.bool_]) -> Batch:
        """Return a selection of the rows."""
        ranks, suits = self.ordinary
        return Batch(
            self.features[kept], (ranks[kept], suits[kept]), self.index[kept], self.cards[kept],
            (self.labels[0][kept], self.labels[1][kept]),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Samples:
    """Copies to learn from, and worse copies to test on."""

    learn: Batch
    test: Batch

    @staticmethod
    def of(
        patches: Sequence[tuple[Image, str]],
        network: Network,
        size: tuple[int, int],
        copies: int,
        rng: np.random.Generator,
    ) -> Samples:
        """Make ``copies`` copies of each patch, ``size`` (width, height) px, and show them to the network."""
        stack, names = np.stack([p for p, _ in patches]), [c for _, c in patches]
        near = Batch.read(varied(stack, size, copies, rng), [c for c in names for _ in range(copies)], network)
        far = varied(stack, size, _TESTS, rng, _HARD)
        return Samples(near, Batch.read(far, [c for c in names for _ in range(_TESTS)], network))

    def where(self, kept: NDArray[np.bool_]) -> Samples:
        """Return the copies of a selection of the patches, (N,)."""
        copies = len(self.learn.cards) // len(kept)
        return Samples(self.learn.where(np.repeat(kept, copies)), self.test.where(np.repeat(kept, _TESTS)))


def learn(looks: Sequence[CardLook], reader: Network, card: Network, report: Progress = lambda _: None) -> Knowledge:
    """Learn a deck from looks; the same looks and weights give the same knowledge.

    Args:
        looks: one or more of every card.
        reader, card: the networks whose features are used.
        report: receives a description of each step.

    Raises:
        TooFewLooks: fewer than two ranks or suits were laid.
    """
    laid = tuple(c for c in CARD_CLASSES if any(look.card == c for look in looks))
    if len({c[0] for c in laid}) < 2 or len({c[1] for c in laid}) < 2:
        raise TooFewLooks("lay cards of two ranks and two suits at least; a whole deck teaches best")
    rng = np.random.default_rng(0)
    report("reading the indices")
    index = Samples.of(
        [(p, look.card) for look in looks for p in look.indices], reader, (PATCH_W, PATCH_H), _COPIES, rng
    )
    report("learning ranks and suits")
    rank, rank_out = _factor(index, 0)
    suit, suit_out = _factor(index, 1)
    fit = _fit(index, rank_out, suit_out)
    if not fit.all():
        report("leaving out what shows a neighbour's index")
        index = index.where(fit)
        rank, rank_out = _factor(index, 0)
        suit, suit_out = _factor(index, 1)
    report("learning what is no index")
    test = _index_test(looks, index, reader, rng)
    report("learning pips and courts")
    wholes = [(look.whole, look.card) for look in looks if look.whole is not None]
    whole = Samples.of(wholes, card, (CROP_W, CROP_H), _WHOLE_COPIES, rng)
    whole_rank, _ = _factor(whole, 0)
    whole_suit, _ = _factor(whole, 1)
    return Knowledge(rank, suit, test, whole_rank, whole_suit, laid, _confusions(index, rank_out, suit_out))


def _fit(index: Samples, rank: Floats, suit: Floats) -> NDArray[np.bool_]:
    """Return whether to learn from each patch: not if it is read as another card while the card's others are not.

    In a heap a neighbour's index may have been cut instead of the card's own.
    """
    told = ~(np.isnan(rank[:, 0]) | np.isnan(suit[:, 0]))
    right = np.where(told, _likeliest(rank, suit) == index.test.cards, True).reshape(-1, _TESTS).mean(1)
    cards = index.test.cards[::_TESTS]
    good = {int(k) for k in cards[right >= 0.75]}
    return np.array([share > 0.5 or int(k) not in good for share, k in zip(right, cards, strict=True)])


def _likeliest(rank: Floats, suit: Floats) -> Ints:
    """Return the likeliest of `CARD_CLASSES` by log-probabilities of rank and suit (NaN: any)."""
    return np.asarray(np.nan_to_num(card_logs(rank, suit), nan=-99.0).argmax(1), np.int64)


def _fold(batch: Batch) -> Ints:
    """Return each card's left-out fold: one suit of each rank at a time, every fourth rank of each suit."""
    return np.asarray((batch.labels[0] + batch.labels[1]) % _FOLDS, np.int64)


def _factor(samples: Samples, which: int) -> tuple[Factor, Floats]:
    """Learn rank (0) or suit (1); also return the test copies' log-probabilities when left out (NaN: not available)."""
    near, far, classes = samples.learn, samples.test, (N_RANKS, N_SUITS)[which]
    known = np.isin(np.arange(classes), near.labels[which])
    scores = np.full((len(far.cards), classes), np.nan)
    fold, far_fold = _fold(near), _fold(far)
    for k in range(_FOLDS):
        kept, asked = fold != k, far_fold == k
        taught = np.unique(near.labels[which][kept])
        asked &= np.isin(far.labels[which], taught)
        if asked.any() and len(taught) > 1:
            lines = class_means(near.features[kept], near.labels[which][kept], classes)
            scores[asked] = lines(far.features[asked])
    factor = _calibrated(Factor(class_means(near.features, near.labels[which], classes), known), scores, far, which)
    logs = np.full_like(scores, np.nan)
    fine = ~np.isnan(scores[:, 0])
    if fine.any():
        logs[fine] = _logs(factor, scores[fine], far.ordinary[which][fine])
    return factor, logs


def _logs(factor: Factor, scores: Floats, ordinary: Floats) -> Floats:
    """Return `Factor.logs` for scores from other maps."""
    identity = LinearMap(np.eye(scores.shape[1], dtype=np.float32), np.zeros(scores.shape[1], np.float32))
    return replace(factor, lines=identity).logs(np.maximum(scores, -1e5).astype(np.float32), ordinary)


def _calibrated(factor: Factor, scores: Floats, far: Batch, which: int) -> Factor:
    """Return the factor with the temperature, blend and doubt that make the left-out cards' own classes likeliest."""
    fine = ~np.isnan(scores[:, 0])
    labels, ordinary = far.labels[which], far.ordinary[which]
    strayed = float(np.where(factor.known, 0.0, np.exp(ordinary)).sum(1).mean())
    # For a deck laid in part, the ordinary eye names the rest, even if it errs about the cards laid.
    whole = bool(factor.known[: (N_RANKS - 1, N_SUITS - 2)[which]].all())
    factor = replace(factor, elsewhere=strayed < 0.02 or not whole)
    if int(fine.sum()) < 20:
        return factor
    best, least = factor, np.inf
    rows, truth = np.arange(int(fine.sum())), labels[fine]
    for temperature in _TEMPERATURES:
        for blend in _BLENDS:
            for doubt in _DOUBTS:
                tried = replace(factor, temperature=temperature, ordinary=blend, doubt=doubt)
                loss = -float(_logs(tried, scores[fine], ordinary[fine])[rows, truth].mean())
                if loss < least - 1e-6:
                    best, least = tried, loss
    return best


def _index_test(looks: Sequence[CardLook], index: Samples, reader: Network, rng: np.random.Generator) -> IndexTest:
    """Fit on one half of the cards and weigh against the ordinary logit on the other, in both directions."""
    wrong = [(patch, look.card) for look in looks for patch in off_index(look, rng)]
    none = Batch.read(np.stack([p for p, _ in wrong]), [c for _, c in wrong], reader)
    near = index.learn
    features = np.concatenate([near.features, none.features])
    label = np.concatenate([np.ones(len(near.cards), np.int64), np.zeros(len(none.cards), np.int64)])
    half = np.concatenate([_fold(near), _fold(none)]) % 2
    ordinary = np.concatenate([near.index, none.index])
    score = np.zeros(len(label))
    for k in (0, 1):
        if len(np.unique(label[half != k])) == 2:
            lines = class_means(features[half != k], label[half != k], 2)
            out = lines(features[half == k])
            score[half == k] = out[:, 1] - out[:, 0]
    weights = np.maximum(logistic(np.column_stack([_soft(score), _soft(ordinary)]), label == 1), [0, 0, -np.inf])
    logit = np.column_stack([_soft(score), _soft(ordinary), np.ones(len(score))]) @ weights
    quarter = float(np.percentile(logit[label == 1], 25))
    return IndexTest(class_means(features, label, 2), weights, float(np.clip(8.0 / max(quarter, 0.5), 1.0, 6.0)))


def _confusions(index: Samples, rank: Floats, suit: Floats) -> tuple[Confusion, ...]:
    """Return cards whose left-out copies are too often read as another card; most confused first."""
    fine = ~(np.isnan(rank[:, 0]) | np.isnan(suit[:, 0]))
    read = _likeliest(rank, suit)[fine]
    truth = index.test.cards[fine]
    found = []
    for k in np.unique(truth):
        names, counts = np.unique(read[truth == k], return_counts=True)
        wrong = counts * (names != k)
        if wrong.sum() > _CONFUSED * counts.sum():
            other = CARD_CLASSES[names[wrong.argmax()]]
            found.append(Confusion(CARD_CLASSES[k], other, float(wrong.sum() / counts.sum())))
    return tuple(sorted(found, key=lambda c: -c.share))
