"""What really happened against what was seen and ruled: the figures that close a demo."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from referee.adjudication.observations import Observation, Slap
from referee.app.scoring_cards import SURE, CardScore
from referee.app.scoring_rulings import RulingScore

TARGET_RIGHT: Final = 0.995
CARDS_PER_UNCALLED: Final = 400


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that closes a demo."""

    seed: int
    seats: int
    rules: str
    finished: bool
    cards: CardScore
    slaps: int
    slaps_felt: int
    taken: int
    taken_seen: int
    rulings: RulingScore
    played_s: float
    took_s: float
    frames: int
    fps: float
    """Frames looked at for each second of the machine's time."""
    lag_ms: float = 0.0
    """The furthest that the referee fell behind a table in real time, ms."""
    troubles: dict[str, str] = field(default_factory=dict)

    def missed_targets(self) -> list[str]:
        """Each target that was missed, in words."""
        out = []
        cards, rulings = self.cards, self.rulings
        if cards.laid and cards.right < TARGET_RIGHT * cards.laid:
            out.append(f"{cards.right} of {cards.laid} cards read right, less than {TARGET_RIGHT:.1%}")
        if cards.wrong_sure:
            out.append(f"{cards.wrong_sure} cards read wrong with confidence {SURE} or more")
        if rulings.uncalled > max(1, cards.laid // CARDS_PER_UNCALLED):
            out.append(f"{rulings.uncalled} questions or dead heats that the script did not call for")
        if rulings.differing:
            out.append(f"{len(rulings.differing)} rulings differ from the truth's")
        return out

    def as_fields(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "missed_targets": self.missed_targets()}


def count(kind: type[Observation], observations: Iterable[Observation]) -> int:
    """How many observations are of a kind."""
    return sum(isinstance(observation, kind) for observation in observations)


def slaps_of(observations: Iterable[Observation]) -> int:
    """How many slaps there were."""
    return count(Slap, observations)
