"""Where the cards of a simulated game are: in whose stack, in the pile, and the acts that brought them there."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random

from hardware.simulated.table.acts import Act, Burn, Lay, Start, Take
from hardware.simulated.table.players import PlayerProfile


class Holdings:
    """Every stack, next card first; the pile, lowest first; and what hands did with them."""

    def __init__(self, people: tuple[PlayerProfile, ...], chance: Random) -> None:
        self.stacks: list[deque[str]] = []
        self.pile: list[str] = []
        self.acts: list[Act] = []
        self._people, self._chance = people, chance

    def has_cards(self, seat: int) -> bool:
        """Whether this seat has a card to lay."""
        return bool(self.stacks[seat - 1])

    def deal(self, cards: Sequence[str], counts: Sequence[int | None]) -> None:
        """Deal each seat so many; where a pack is cut and not dealt, a roughly equal share, and the rest to the last.

        What is over starts the pile, face down.
        """
        share = len(cards) / len(counts)
        over = list(cards)
        for count in counts:
            size = int(share * self._chance.uniform(0.8, 1.0)) if count is None else count
            self.stacks.append(deque(over[:size]))
            del over[:size]
        if None in counts:
            self.stacks[-1].extend(over)
        elif over:
            self.pile = over
            poses = tuple(self._people[0].tucked(len(self._people), self._chance) for _ in over)
            self.acts.append(Start(0, tuple(over), poses))

    def lay(self, t: int, seat: int) -> str:
        """The next card of a seat goes on the pile; gives which it is."""
        person = self._people[seat - 1]
        card = self.stacks[seat - 1].popleft()
        self.acts.append(Lay(t, seat, card, person.pose(len(self._people), self._chance), person.sideways))
        self.pile.append(card)
        return card

    def take(self, t: int, seat: int) -> None:
        """The pile goes under a seat's stack."""
        self.acts.append(Take(t, seat))
        self.stacks[seat - 1].extend(self.pile)
        self.pile.clear()

    def burn(self, t: int, seat: int, count: int, top: bool) -> tuple[str, ...]:
        """Penalty cards go under the pile or on it, fewer where the stack is short; gives them, lowest first."""
        stack = self.stacks[seat - 1]
        cards = tuple(stack.popleft() for _ in range(min(count, len(stack))))
        if not cards:
            return ()
        poses = tuple(self._people[seat - 1].tucked(len(self._people), self._chance) for _ in cards)
        self.acts.append(Burn(t, seat, cards, poses, top))
        lowest_first = cards if top else cards[::-1]
        self.pile = [*self.pile, *lowest_first] if top else [*lowest_first, *self.pile]
        return lowest_first
