"""Laws of a log's printed rulings, printed as a whole or by a live table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from referee.engine.log import find_replacements
from referee.engine.rulings import Ruling, base_id, cause_of
from tests.engine.moments import Broken


def printed_amiss(replayed: Sequence[Ruling]) -> Iterator[Broken]:
    """Yield breaches of ``referee replay --all``: replaced rulings are printed, and causes precede effects."""
    names = {ruling.id for ruling in replayed}
    for ruling in replayed:
        for gone in set(ruling.supersedes) - names:
            yield Broken("what is replaced was printed", "K6", f"{ruling.id} replaces {gone}")
    replaced = find_replacements(replayed)
    yield from _effects_first([ruling for ruling in replayed if ruling.id not in replaced])


def replaced_amiss(batches: Iterable[Sequence[Ruling]]) -> Iterator[Broken]:
    """Yield breaches of a live table, by batches: a ruling is replaced only after it was printed, and only once."""
    printed: set[str] = set()
    gone: set[str] = set()
    for batch in batches:
        for name in (ruling.id for ruling in batch):
            if name in printed:
                yield Broken("what is replaced was printed", "K5", f"{name} is printed twice")
            printed.add(name)
        for ruling in batch:
            for old in set(ruling.supersedes) - printed:
                yield Broken("what is replaced was printed", "K6", f"{ruling.id} replaces {old}, not printed by then")
            for old in gone & set(ruling.supersedes):
                yield Broken("what is replaced is replaced once", "K6", f"{ruling.id} replaces {old} again")
            gone.update(ruling.supersedes)


_WINS = ("slap_won", "challenge_won")


def _effects_first(rulings: Sequence[Ruling]) -> Iterator[Broken]:
    """Yield effects that are printed before their causes (K5)."""
    places = {base_id(ruling): place for place, ruling in enumerate(rulings)}
    won: dict[str, int] = {}
    heats: list[tuple[int, Ruling]] = []
    over: Ruling | None = None
    for place, ruling in enumerate(rulings):
        name, cause = ruling.kind, cause_of(ruling)
        before: list[str] = []
        if name == "pile" and len(ruling.because) > 1:
            before = [f"{win}@{ruling.because[1]}" for win in _WINS]
            if any(earlier in places for earlier in before) and not any(
                places.get(earlier, place) < place for earlier in before
            ):
                yield Broken("causes print before effects", "C8 M1", f"{ruling.id} before what won it: {before}")
            won[ruling.because[1]] = won.get(ruling.because[1], 0) + 1
            if won[ruling.because[1]] > 1 and "M3" not in ruling.rule:
                yield Broken("a pile is won once", "C8", f"{ruling.id}: the pile of {ruling.because[1]} again")
        elif name == "slapped_in" and len(ruling.because) > 1:
            before = [f"slap_won@{ruling.because[1]}"]
        elif name in ("chance", "challenge_off", "challenge_moves") and len(ruling.because) > 1:
            before = [f"challenge@{ruling.because[1]}"]
        elif name in ("burn", "strike", "locked_out", "give"):
            before = [f"slap_false@{cause}"]
        elif name == "lead":
            before = [f"pile@{cause}"]
        for predecessor in before:
            at = places.get(predecessor, -1)
            if name != "pile" and at > place and rulings[at].t == ruling.t:
                yield Broken("causes print before effects", "K5", f"{ruling.id} before {predecessor}")
        if name == "dead_heat":
            heats.append((place, ruling))
        if name == "slap_won" and len(ruling.because) > 1:
            late = [
                later for later in rulings[place:] if later.kind == "dead_heat" and ruling.because[0] in later.because
            ]
            if late and late[0].t == ruling.t:
                yield Broken("causes print before effects", "K3", f"{ruling.id} before {late[0].id}")
        told = name in ("slap_void", "question", "remind", "corrected")
        # The card that ends a game may lead first.
        led = over is not None and name in ("lead", "turn") and cause == cause_of(over)
        if over is not None and not told and not led:
            yield Broken("a game ends once", "E5a", f"{ruling.id} after {over.id}")
        if name in ("won", "lost", "drawn"):
            over = ruling
