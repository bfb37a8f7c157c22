"""A position that comes back: the game would never end (reading 12)."""

from __future__ import annotations

from referee.rules.position import Memory, Position
from referee.rules.step import Step


def watch_for_repetition(step: Step) -> None:
    """Compare the position at a lead with a kept one; `repeated` is ruled once (Brent's algorithm).

    Only a position in which every card is known can be told to be the same.
    """
    position = step.position
    memory = position.memory
    stacks = zip(position.counts, position.known, strict=True)
    if memory.said or not all(count == len(known) and "" not in known for count, known in stacks):
        return
    now = signature(position)
    if memory.kept and memory.kept == now:
        step.rule("repeated", "K2", cards=position.laid - memory.cards)
        step.set(memory=memory._replace(said=True))
    elif not memory.kept or memory.since + 1 >= memory.power:
        power = memory.power * 2 if memory.kept else 1
        step.set(memory=Memory(now, power, 0, position.laid))
    else:
        step.set(memory=memory._replace(since=memory.since + 1))


def signature(position: Position) -> tuple[object, ...]:
    """All of a position at a lead that the active rules can tell apart."""
    alike = position.rules.alike
    return (
        tuple("".join([alike[card] for card in stack]) for stack in position.known),
        position.turn,
        position.strikes,
        position.debts,
        position.locks,
        position.false_run,
        position.over,
    )
