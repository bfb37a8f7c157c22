"""The cards that each player holds at the simulated table, and the hands' acts with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random

from hardware.simulated.table.acts import Act, Burn, HandOver, Lay, Start, Take
from hardware.simulated.table.players import PlayerProfile


class Holdings:
    """Every stack, next card first; the pile, lowest first; and the hands' acts with them."""

    def __init__(self, people: tuple[PlayerProfile, ...], chance: Random) -> None:
        self.stacks: list[deque[str]] = []
        self.pile: list[str] = []
        self.acts: list[Act] = []
        self._people, self._chance = people, chance

    @classmethod
    def after(
        cls, people: tuple[PlayerProfile, ...], chance: Random, dealt: Sequence[Sequence[str]], acts: Sequence[Act]
    ) -> Holdings:
        """Return the holdings after all these acts; ``dealt``: the stacks before the first of them."""
        held = cls(people, chance)
        held.stacks = [deque(stack) for stack in dealt]
        for act in acts:
            if isinstance(act, Start):
                held.pile = list(act.cards)
            elif isinstance(act, Lay):
                held.pile.append(held.stacks[act.seat - 1].popleft())
            elif isinstance(act, Take):
                held._collect(act.seat)
            elif isinstance(act, Burn):
                for _ in act.cards:
                    held.stacks[act.seat - 1].popleft()
                held._slip_in(act.cards, act.top)
            elif isinstance(act, HandOver):
                held._pass_on(act)
        held.acts = list(acts)
        return held

    def has_cards(self, seat: int) -> bool:
        """Whether this seat has a card to lay."""
        return bool(self.stacks[seat - 1])

    def deal(self, cards: Sequence[str], counts: Sequence[int | None]) -> None:
        """Deal each seat its count; for a cut pack (None) a roughly equal share each, and the rest to the last.

        Cards left over from a dealt pack start the pile, face down.
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
        """Lay a seat's next card on the pile; return it."""
        person = self._people[seat - 1]
        card = self.stacks[seat - 1].popleft()
        self.acts.append(Lay(t, seat, card, person.pose(len(self._people), self._chance), person.sideways))
        self.pile.append(card)
        return card

    def take(self, t: int, seat: int) -> None:
        """Put the pile under a seat's stack."""
        self.acts.append(Take(t, seat))
        self._collect(seat)

    def _collect(self, seat: int) -> None:
        self.stacks[seat - 1].extend(self.pile)
        self.pile.clear()

    def burn(self, t: int, seat: int, count: int, top: bool) -> tuple[str, ...]:
        """Put penalty cards under the pile or on it, fewer if the stack is short; return them, lowest first."""
        stack = self.stacks[seat - 1]
        cards = tuple(stack.popleft() for _ in range(min(count, len(stack))))
        if not cards:
            return ()
        poses = tuple(self._people[seat - 1].tucked(len(self._people), self._chance) for _ in cards)
        self.acts.append(Burn(t, seat, cards, poses, top))
        return self._slip_in(cards, top)

    def _slip_in(self, cards: tuple[str, ...], top: bool) -> tuple[str, ...]:
        lowest_first = cards if top else cards[::-1]
        self.pile = [*self.pile, *lowest_first] if top else [*lowest_first, *self.pile]
        return lowest_first

    def agree(self, t: int, counts: Sequence[int | None], pile: int) -> None:
        """Move cards until every stack is as large as the referee says, for instance after a pile went to another seat.

        A stack that is too large gives its lowest cards, in order; so does a pile that holds more than ``pile``.
        """
        for seat, count in enumerate(counts, start=1):
            for giver in (*range(1, len(counts) + 1), 0):
                lacking = 0 if count is None else count - len(self.stacks[seat - 1])
                said = counts[giver - 1] if giver else pile
                spare = 0 if said is None else len(self.stacks[giver - 1] if giver else self.pile) - said
                if giver != seat and min(lacking, spare) > 0:
                    given = HandOver(t, giver, seat, min(lacking, spare))
                    self.acts.append(given)
                    self._pass_on(given)

    def _pass_on(self, given: HandOver) -> None:
        to = self.stacks[given.to - 1]
        if given.seat:
            stack = self.stacks[given.seat - 1]
            to.extend(reversed([stack.pop() for _ in range(given.count)]))
        else:
            to.extend(self.pile[: given.count])
            del self.pile[: given.count]
