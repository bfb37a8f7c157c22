"""Gain in sure names by deck memory, and its errors: `make prior-check`.

The readings are the shipped eye's own, of cards of the simulated decks that are blurred, small, grainy or half covered;
the games are whole games of Egyptian Ratscrew. Each card of a game is looked at a few times, always with the damage
of one of its pictures, and named by the eye alone and with memory. A second table is of stacks that were
shuffled, so that memory is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import PrintedDeck, all_cards
from hardware.simulated.table.script import play_game
from models.eye.classes import SURE_READING
from models.eye.eye import CardSeen, Eye
from models.watch.prior import NamedCard, Prior, judge
from models.watch.tracks import Sighting, Track
from referee.engine.adjudicator import Adjudicator
from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Tick

Picture = NDArray[np.uint8]
Bank = Mapping[str, Sequence[Sequence[CardSeen]]]
"""By card, the eye's readings for each kind of damage: some looks that differ in turn and noise."""

SIDE: Final = 256
CLOTH: Final = (52, 74, 40)
LOOKS: Final = 3
WAYS: Final = ("blurred", "moved", "small", "grainy", "covered", "dim")


def picture(deck: PrintedDeck, card: str, way: str, hard: float, chance: np.random.Generator) -> Picture:
    """Return a picture of a card alone on the cloth, damaged: ``hard`` from 0 to 1."""
    face = deck.picture(card)
    height, width = face.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), float(chance.uniform(-40, 40)), 1.0)
    turn[:, 2] += (SIDE / 2 - width / 2 + chance.uniform(-8, 8), SIDE / 2 - height / 2 + chance.uniform(-8, 8))
    placed = cv2.warpAffine(face, turn, (SIDE, SIDE), flags=cv2.INTER_AREA).astype(np.float32)
    alpha = placed[..., 3:] / 255
    image = placed[..., :3] + np.array(CLOTH, np.float32) * (1 - alpha)
    grain = 2.0
    if way == "blurred":
        image = cv2.GaussianBlur(image, (0, 0), 1.5 + 3.0 * hard)
    elif way == "moved":
        image = _smeared(image, 5 + 13 * hard, float(chance.uniform(0, np.pi)))
    elif way == "small":
        small = cv2.resize(image, None, fx=0.45 - 0.25 * hard, fy=0.45 - 0.25 * hard, interpolation=cv2.INTER_AREA)
        image = cv2.resize(small, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    elif way == "grainy":
        grain = 40 + 60 * hard
    elif way == "covered":
        image = _covered(cv2.GaussianBlur(image, (0, 0), 0.7 + 1.2 * hard), turn, width, height, chance)
    else:
        image, grain = image * (0.16 - 0.11 * hard), 6.0
    return np.asarray(np.clip(image + chance.normal(0, grain, image.shape), 0, 255), np.uint8)


def _smeared(image: NDArray[np.float32], length: float, angle: float) -> NDArray[np.float32]:
    size = 2 * int(length) + 1
    kernel = np.zeros((size, size), np.float32)
    middle = size // 2
    reach = np.array([np.cos(angle), np.sin(angle)]) * length / 2
    begin, end = ((round(middle + s * reach[0]), round(middle + s * reach[1])) for s in (-1, 1))
    cv2.line(kernel, begin, end, 1.0)
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.float32)


def _covered(
    image: NDArray[np.float32], turn: NDArray[np.float64], width: int, height: int, chance: np.random.Generator
) -> NDArray[np.float32]:
    """Put a finger over the suit of one index, and one over the other index."""
    for x, y in ((0.09 * width, (0.19 + chance.uniform(-0.02, 0.02)) * height), (0.91 * width, 0.86 * height)):
        at = turn @ (x, y, 1)
        size = 0.085 * width if y < height / 2 else 0.25 * width
        cv2.circle(image, (int(at[0]), int(at[1])), int(size), (120, 160, 205), -1, cv2.LINE_AA)
    return image


def read(
    eye: Eye, families: Sequence[str], seed: int, ways: Sequence[str] = WAYS, hard: tuple[float, float] = (0.0, 1.0)
) -> Bank:
    """Read every card with every damage; its strength lies in a span of 0 to 1."""
    bank: dict[str, list[list[CardSeen]]] = {}
    for number, card in enumerate(all_cards()):
        print(f"\rreading {card}: {number + 1} of 52", end="", file=sys.stderr, flush=True)
        for way in ways:
            chance = np.random.default_rng([seed, number, WAYS.index(way)])
            deck = PrintedDeck(families[int(chance.integers(len(families)))], 1.7)
            how = float(chance.uniform(*hard))
            shots = (eye.recognise(picture(deck, card, way, how, chance)) for _ in range(LOOKS))
            bank.setdefault(card, []).append(
                [max(seen, key=lambda reading: reading.confidence) for seen in shots if seen]
            )
    print(file=sys.stderr)
    return bank


def follow(looks: Sequence[CardSeen]) -> Track:
    """Combine the looks at one card as the watcher would."""
    track = Track(looks[0].corners.astype(np.float32), 0)
    for number, s in enumerate(looks):
        track.add(
            Sighting(
                number, number, s.card, s.confidence, s.corners.astype(np.float32), top=True, on_pile=True,
                under=False, candidates=s.candidates,
            )
        )  # fmt: skip
    return track


@dataclass(slots=True)
class Score:
    """Cards of some games, and how they were named."""

    cards: int = 0
    known: int = 0
    """Cards of which memory was certain."""
    seen: int = 0
    """Cards that the eye saw at all."""
    alone: int = 0
    alone_wrong: int = 0
    helped: int = 0
    helped_wrong: int = 0
    resolved: int = 0
    """Cards named by memory's choice among the eye's likely names."""
    resolved_wrong: int = 0
    against: int = 0
    """Cards reported against memory, for people to decide."""

    def row(self, name: str) -> str:
        return (
            f"{name:<22}{self.cards:>7}{self.known:>8}{self.alone:>10}{self.alone_wrong:>8}{self.helped:>10}"
            f"{self.helped_wrong:>8}{self.resolved:>10}{self.resolved_wrong:>8}{self.against:>10}"
        )


HEAD: Final = (
    f"{'':<22}{'cards':>7}{'known':>8}{'eye >=.9':>10}{'wrong':>8}{'+memory':>10}"
    f"{'wrong':>8}{'resolved':>10}{'wrong':>8}{'against':>10}"
)


def foreseen(seed: int, cards: int) -> Iterator[tuple[Card, Foresight | None]]:
    """Yield every card of a game with its prediction from the true cards before it."""
    referee = Adjudicator(lookahead_ns=0)
    for line in play_game(seed, 4, "classic", cards).truth:
        if isinstance(line, Card):
            referee.observe(Tick(t=line.t - 1))
            yield line, referee.foresight
        referee.observe(line)


def shuffled(foresight: Foresight | None, chance: random.Random) -> Foresight | None:
    """Return the same, as if stacks had been shuffled since they were won: another card is predicted."""
    if foresight is None:
        return None
    stacks = tuple(tuple(chance.sample(stack, len(stack))) for stack in foresight.stacks)
    return replace(foresight, stacks=stacks)


def score(bank: Bank, seed: int, cards: int, *, wrong: bool = False) -> Score:
    """Name every card of a game."""
    out, chance = Score(), random.Random(seed)
    for card, foresight in foreseen(seed, cards):
        if wrong:
            foresight = shuffled(foresight, chance)
            if foresight is None or foresight.expected(card.seat) in (None, card.card):
                continue
        out.cards += 1
        out.known += foresight is not None and foresight.expected(card.seat) is not None
        looks = chance.choice(bank[card.card])[: chance.randint(1, LOOKS)]
        if not looks:
            continue
        out.seen += 1
        track = follow(looks)
        name, sure = track.belief()
        prior = None if foresight is None else Prior.of(foresight, card.seat)
        _count(out, card.card, (name, sure), judge(name, sure, track.looks(), prior), prior)
    return out


def _count(out: Score, truth: str, alone: tuple[str, float], told: NamedCard, prior: Prior | None) -> None:
    name, sure = alone
    out.alone += sure >= SURE_READING
    out.alone_wrong += sure >= SURE_READING and name != truth
    out.helped += told.confidence >= SURE_READING
    out.helped_wrong += told.confidence >= SURE_READING and told.card != truth
    out.resolved += sure < SURE_READING <= told.confidence
    out.resolved_wrong += sure < SURE_READING <= told.confidence and told.card != truth
    out.against += prior is not None and sure >= SURE_READING and not prior.allows(name)


def add(one: Score, other: Score) -> Score:
    """Return the sum of both."""
    return Score(*(getattr(one, name) + getattr(other, name) for name in Score.__slots__))


def main(games: int, cards: int, seed: int) -> int:
    """Print the tables; return 1 if memory, where it was right, named a card wrongly."""
    bank = read(Eye.load(), sorted(FAMILIES), seed)
    right, wrong = Score(), Score()
    print(HEAD)
    for game in range(1, games + 1):
        each = score(bank, game, cards)
        print(each.row(f"game {game}"))
        right = add(right, each)
        wrong = add(wrong, score(bank, game, cards, wrong=True))
    print(right.row("all games"))
    print(wrong.row("memory wrong (shuffled)"))
    return 1 if right.resolved_wrong or right.helped_wrong > right.alone_wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--cards", type=int, default=400, help="of each game")
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    sys.exit(main(said.games, said.cards, said.seed))
