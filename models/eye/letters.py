"""The letters of the world: which letter each language prints for a rank, and which language a deck uses.

A network reads the printed letter (`GLYPHS`); its meaning depends on the language. Nearly every letter means one rank
wherever it is printed: D is the queen, B the jack, R and H are kings. V is an exception: the queen (vrouw) in Dutch,
the jack (valet) in French; so is T, the ten in English and the ace (туз) in Russian. So the language is inferred, by
Bayes' rule, from all the letters seen. Ambiguities remain: a V alone is equally likely to be a queen or a jack.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.eye.classes import RANK_CLASSES

Logs = NDArray[np.float64]

GLYPHS: Final = (*RANK_CLASSES[:9], "10", *RANK_CLASSES[10:], *("1", "E", "T", "R", "H"), *("D", "Д", "V", "C"),
                 *("B", "F", "S", "Kn"))  # fmt: skip
"""The glyphs that may be printed for a rank, in the order of the classifiers' outputs; ``X`` stands for a joker's word.
The first are those of `RANK_CLASSES`. Letters that look alike are one, as the Russian В and B."""

#: The letters for ace, king, queen, jack and ten in each language, the usual way first; the other numbers are the same
#: in all. A pack keeps to one way.
_COURTS: Final = {
    "English": ("A", "K", "Q", "J", "10 T"),
    "German": ("A", "K", "D", "B", "10"),
    "French": ("1 A", "R", "D", "V", "10"),
    "Dutch": ("A", "H K", "V", "B", "10"),
    "Italian": ("A 1", "R", "D C", "F", "10"),
    "Spanish": ("1 A", "R", "C D", "S", "10"),
    "Scandinavian": ("E A", "K", "D", "Kn J", "10"),
    "Russian": ("T", "K", "Д", "B", "10"),
}
LANGUAGES: Final = tuple(_COURTS)
_LETTERED: Final = "AKQJT"
_MIXED: Final = 0.01
"""Prior probability that cards of several languages lie together, so that no letter predicts another ..."""
_ENGLISH: Final = 0.8
"""... and that a deck is English; the other languages share the rest equally. The letters seen soon outweigh this."""
_DOUBT: Final = 0.05
"""Likelihood factor for a pack that lacks a letter seen: even a sure reading may be wrong."""
_USUAL: Final = 0.8
"""Prior probability of the usual way where a language's makers choose from two ..."""
_TEN: Final = 0.95
"""... and that an English pack prints 10 rather than a T."""
_SHARE: Final = 0.5
"""Exponent for the language's evidence: two readings (indices and picture) name a card, both use the language, and each
takes half so that it is not counted twice."""
_CLEAR_INDEX: Final = 2.0
"""Index logit from which a letter counts as seen."""
_TOLD: Final = 0.95
"""Probability from which the language is reported."""
NEVER: Final = -60.0
"""Logarithm of the probability of an impossible event."""


def prints(language: str, rank: str) -> tuple[str, ...]:
    """Return a language's glyphs for a rank: one, or two that its makers choose from, the usual one first."""
    return tuple(_COURTS[language][_LETTERED.index(rank)].split()) if rank in _LETTERED else (rank,)


@dataclass(frozen=True)
class _Packs:
    """The possible packs, one row each: a language's pack in one of its ways; the last row is a mixture of all."""

    chances: Logs
    """(P,), prior probabilities."""
    meanings: Logs
    """(P, ranks, glyphs): 1 if the pack prints the rank so, or shares for a glyph that may be one of two."""
    likelihood: Logs
    """(P, glyphs): likelihood of each seen letter in the pack."""
    language: NDArray[np.bool_]
    """(languages, P): whether a pack belongs to a language."""


def _packs() -> _Packs:
    meanings, chances, owners = [], [], []
    for number, language in enumerate(LANGUAGES):
        ways = [prints(language, rank) for rank in RANK_CLASSES]
        for way in product(*ways):
            row = np.zeros((len(RANK_CLASSES), len(GLYPHS)))
            row[range(len(way)), [GLYPHS.index(letter) for letter in way]] = 1.0
            chosen = [
                (_TEN if "T" in some else _USUAL, letter == some[0])
                for letter, some in zip(way, ways, strict=True)
                if some[1:]
            ]
            usual = [share if is_first else 1 - share for share, is_first in chosen]
            prior = _ENGLISH if language == "English" else (1 - _ENGLISH - _MIXED) / (len(LANGUAGES) - 1)
            meanings.append(row)
            chances.append(prior * float(np.prod(usual)))
            owners.append(number)
    table, prior_of = np.array(meanings), np.array(chances)
    of = np.array(owners) == np.arange(len(LANGUAGES))[:, None]
    likelihood = np.maximum(table.max(1), _DOUBT)
    # Among cards of all languages a letter is as likely as the languages that print it; two meanings count equally.
    among = np.array([np.average(likelihood[mine], axis=0, weights=prior_of[mine]) for mine in of]).mean(0)
    mixed = table.max(0) / np.maximum(table.max(0).sum(0), 1.0)
    return _Packs(
        np.append(prior_of, _MIXED),
        np.concatenate([table, mixed[None]]),
        np.vstack([likelihood, among]),
        np.column_stack([of, np.zeros(len(LANGUAGES), bool)]),
    )


_PACKS: Final = _packs()
_COUNTED: Final = [i for i, rank in enumerate(RANK_CLASSES) if rank not in "KQJ"]
"""Positions, in `RANK_CLASSES` and `GLYPHS` alike, of the ranks that are not courts."""


class Letters:
    """Estimates a deck's language from the indices read so far.

    Only the surest sighting of each letter and suit counts: a card read a hundred times is no more evidence than one
    read once.
    """

    def __init__(self) -> None:
        self._surest = np.zeros((len(GLYPHS), 4))

    def see(self, glyphs: Logs, suits: Logs, index: NDArray[np.float64]) -> None:
        """Record readings: log-probabilities (N, glyphs), (N, suits), and index logits, (N,)."""
        for row in np.flatnonzero(index > _CLEAR_INDEX):
            glyph, suit = int(glyphs[row].argmax()), int(suits[row, :4].argmax())
            sure = float(np.exp(glyphs[row, glyph] + suits[row, suit]))
            self._surest[glyph, suit] = max(self._surest[glyph, suit], sure)

    @property
    def chances(self) -> Logs:
        """Probabilities of the possible packs."""
        logs = np.log(_PACKS.chances) + np.log(1 - (1 - _PACKS.likelihood[..., None]) * self._surest).sum((1, 2))
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    def ranks(self, glyphs: Logs, by_pips: bool = False) -> Logs:
        """Return log-probabilities of `RANK_CLASSES` (N, 14) from those of `GLYPHS`.

        ``by_pips``: for whole cards, where pips identify an ace and the numbers, whatever letter is printed.
        """
        meant = np.tensordot(self.chances, _PACKS.meanings, 1)
        if by_pips:
            meant[:, _COUNTED] = np.eye(len(RANK_CLASSES))[:, _COUNTED]
        shares = meant**_SHARE
        # Combine a letter's meaning with how likely the letter is to occur: an 8 is not read as B among Q and J.
        found = np.exp(glyphs) @ (shares / shares.sum(0) * meant.sum(0)).T
        return np.asarray(np.log(np.maximum(found / found.sum(-1, keepdims=True), np.exp(NEVER))))

    @property
    def language(self) -> str | None:
        """The language, if the letters show it."""
        chances = _PACKS.language @ self.chances
        best = int(chances.argmax())
        return LANGUAGES[best] if chances[best] >= _TOLD else None
