"""The hard set: the watcher's results in situations in which something goes wrong, as a table in Markdown.

``python -m tools.hard_set [--seeds N] [--frames DIR] [SITUATION …]`` films each situation of
`tests.support.situations` with several seeds, runs the shipped eye and watcher on it, and compares the observations
with the truth. It ends with status 1 if a wrong card was named with confidence, or anything was invented.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import cv2

from hardware.simulated.table.acts import SETTLE_NS, Lay
from models.eye.classes import UNREAD
from referee.demo.score import CardScore, score_cards
from referee.engine.observations import Card, Foul, Observation, Placed, Taken
from referee.vision.videos import new_watcher
from tests.support.situations import SITUATIONS, situation
from tests.support.spoilt import Situation, SpoiltTable

if TYPE_CHECKING:
    from models.watch.watcher import Watcher

MS: Final = 1_000_000
SLACK: Final = {Taken: 1_200 * MS, Placed: 1_500 * MS, Foul: 500 * MS}
"""Largest time between a true event and a matching observation, ns."""
_LONG: Final = 2_000 * MS
"""A view blocked for longer keeps people waiting, ns."""
HEADINGS: Final = (
    "situation", "sequences", "cards laid", "read right", "seat right", "reveal as stated", "left open or asked",
    "wrong ≥ 0.9", "invented", "other events wanted/seen", "blocked > 2 s",
)  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """The observations of one sequence, beside the truth."""

    name: str
    seed: int
    cards: CardScore
    in_time: int
    """Right cards whose reveal lies within the stated span."""
    wanted: int
    """Piles taken, cards slid under, fouls and camera troubles that happened ..."""
    seen: int
    """... and those of them that were reported."""
    invented: int
    """Reports of events that did not happen."""
    blocked: int = 0
    """Longest time for which a clear view was reported as blocked."""
    faults: list[str] = field(default_factory=list)

    @property
    def left_open(self) -> int:
        """Return the number of cards laid and not named: unread, unseen, or named without confidence."""
        return self.cards.unread + self.cards.missed + max(0, self.cards.wrong - self.cards.wrong_sure)

    @property
    def good(self) -> bool:
        """Whether nothing wrong was said with confidence, and nothing invented."""
        return not self.cards.wrong_sure and not self.invented


def watched(table: SpoiltTable, watcher: Watcher) -> tuple[list[Observation], set[str], int]:
    """Return a watcher's observations of a sequence, its camera troubles, and its longest blocked time, ns."""
    seen: list[Observation] = []
    troubles: set[str] = set()
    longest, since = 0, None
    for frame in table.frames():
        seen += watcher.feed(frame.image, frame.t, frame.exposure)
        troubles.add(watcher.trouble)
        if watcher.state != "blocked":
            since = None
            continue
        since = frame.t if since is None else since
        longest = max(longest, frame.t - since)
    return seen + list(watcher.finish()), troubles - {""}, longest


def compare(shown: Situation, seen: Sequence[Observation], troubles: set[str], blocked: int = 0) -> Outcome:
    """Compare the observations of a sequence with the truth."""
    truth = shown.script.truth
    # Cards on the first picture are rightly reported with it, as far as they show.
    lying = {act.card for act in shown.script.acts if isinstance(act, Lay) and act.t < 0}
    seen = [line for line in seen if not (isinstance(line, Card) and line.t <= 0 and line.card in lying)]
    cards = score_cards(truth, seen)
    # Reported as unread after its place in the order was past: that card was left open, and none invented.
    unread = sum(isinstance(line, Card) and line.card == UNREAD for line in seen) - cards.unread
    invented = cards.ghosts - min(unread, cards.missed)
    outcome = Outcome(shown.name, shown.script.seed, cards, _in_time(truth, seen), 0, 0, invented)
    outcome.faults += cards.faults
    if shown.trouble != "blocked":
        outcome.blocked = blocked
    for kind, slack in SLACK.items():
        happened = [line for line in truth if isinstance(line, kind)]
        told = [line for line in seen if isinstance(line, kind)]
        found, extra = _paired(happened, told, slack)
        outcome.wanted += sum(map(_weight, happened))
        outcome.seen += sum(min(_weight(line), _weight_told(line, told, slack)) for line in found)
        outcome.invented += len(extra)
        outcome.faults += [f"{_words(line)} was not seen" for line in happened if line not in found]
        outcome.faults += [f"{_words(line)} was invented" for line in extra]
    for joker in truth:
        if isinstance(joker, Card) and joker.card == UNREAD:
            why = _not_in_time(joker, truth, seen)
            outcome.wanted += 1
            outcome.seen += not why
            outcome.faults += [f"{_words(joker)} {why}"] if why else []
    if shown.trouble:
        outcome.wanted += 1
        outcome.seen += shown.trouble in troubles
        if shown.trouble not in troubles:
            outcome.faults.append(f"that the view was {shown.trouble} was not told")
    for trouble in sorted(troubles - {shown.trouble}):
        outcome.invented += 1
        outcome.faults.append(f"trouble: {trouble}, and there was none")
    return outcome


def _words(one: Observation) -> str:
    fields = (getattr(one, name, None) for name in ("foul", "cards", "seat"))
    return " ".join([f"{one.t / 1e9:.2f} s: {one.kind}", *(str(value) for value in fields if value)])


def _weight(one: Observation) -> int:
    """Return the number of events in an observation: each card slid under counts."""
    return one.count if isinstance(one, Placed) else 1


def _weight_told(one: Observation, told: Sequence[Observation], slack: int) -> int:
    return sum(_weight(other) for other in told if _same(one, other, slack))


def _same(one: Observation, other: Observation, slack: int) -> bool:
    if abs(one.t - other.t) > slack or getattr(one, "seat", None) != getattr(other, "seat", None):
        return False
    if isinstance(one, Placed) and isinstance(other, Placed):
        return set(other.cards) <= set(one.cards)
    return getattr(one, "foul", None) == getattr(other, "foul", None)


def _paired(
    happened: Sequence[Observation], told: Sequence[Observation], slack: int
) -> tuple[list[Observation], list[Observation]]:
    """Return the events that happened and were reported, and those that were reported and did not happen."""
    found = [line for line in happened if any(_same(line, other, slack) for other in told)]
    return found, [other for other in told if not any(_same(line, other, slack) for line in happened)]


def _in_time(truth: Sequence[Observation], seen: Sequence[Observation]) -> int:
    """Return the number of right cards that came up within the stated error of their instant."""
    laid = {line.card: line for line in truth if isinstance(line, Card)}
    read = [line for line in seen if isinstance(line, Card) and line.card in laid]
    return sum(abs(card.t - laid[card.card].t) <= card.t_error for card in read)


def _not_in_time(joker: Card, truth: Sequence[Observation], seen: Sequence[Observation]) -> str:
    """Return why a card that cannot be read was not reported, with its stated instant, before the next lay on it; or
    "".
    """
    covered = min((line.t + SETTLE_NS for line in truth if isinstance(line, Card) and line.t > joker.t), default=2**62)
    unread = [line for line in seen if isinstance(line, Card) and line.card == UNREAD]
    inside = [card for card in unread if abs(card.t - joker.t) <= card.t_error]
    if not inside:
        near = min(unread, key=lambda card: abs(card.t - joker.t), default=None)
        if near is None:
            return "was not reported"
        return f"was reported as of {near.t / 1e9:.2f} ± {near.t_error / 1e9:.2f} s"
    late = min(card.known_at or 0 for card in inside) - covered
    return f"was reported {late / MS:.0f} ms late" if late > 0 else ""


def play(name: str, seed: int, frames: Path | None = None, printed: bool = False) -> Outcome:
    """Film one sequence, run the watcher, compare; write the moments worth inspecting into a folder.

    On a cloth with ``printed`` faces the watcher first looks at the bare table.
    """
    shown = situation(name, seed)
    printed = printed or shown.printed
    table = SpoiltTable(shown, printed=printed)
    if frames is not None:
        _write(frames, shown, table)
        table = SpoiltTable(shown, printed=printed)
    with TemporaryDirectory() as folder:
        bare = Path(folder, "bare.png") if printed else None
        if bare is not None:
            cv2.imwrite(str(bare), table.scene.bare)
        watcher = new_watcher(dict(enumerate(table.seat_bearings, 1)), bare=str(bare or ""))
    return compare(shown, *watched(table, watcher))


def _write(folder: Path, shown: Situation, table: SpoiltTable) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, t in enumerate(sorted(shown.moments)):
        name = f"{shown.name.replace(' ', '-').replace(chr(39), '')}_{shown.script.seed}_{number}.png"
        index = round(t * table.fps / 1e9)
        if not cv2.imwrite(str(folder / name), table.render(table.frame_time(index)).image):
            raise OSError(f"{folder / name} cannot be written")


def table_of(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the table's lines, one for each situation, and one with the sums."""
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "| :--- | " + " | ".join("---:" for _ in HEADINGS[1:]) + " |"
    for name in dict.fromkeys(outcome.name for outcome in outcomes):
        yield _row(name, [outcome for outcome in outcomes if outcome.name == name])
    yield _row("**all**", outcomes)


def _row(name: str, those: Sequence[Outcome]) -> str:
    cards = [outcome.cards for outcome in those]
    seen = f"{sum(outcome.wanted for outcome in those)}/{sum(outcome.seen for outcome in those)}"
    cells = (
        name, len(those), sum(c.laid for c in cards), sum(c.right for c in cards), sum(c.seat_right for c in cards),
        sum(outcome.in_time for outcome in those), sum(outcome.left_open for outcome in those),
        sum(c.wrong_sure for c in cards), sum(outcome.invented for outcome in those), seen,
        sum(outcome.blocked > _LONG for outcome in those),
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the hard set and print its table; return 1 if anything wrong was said with confidence or invented."""
    parser = argparse.ArgumentParser(prog="python -m tools.hard_set", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="SITUATION", help="only these; all unless given")
    parser.add_argument("--seeds", type=int, default=6, help="sequences of each situation")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--frames", type=Path, help="folder for pictures of each situation's first sequence")
    parser.add_argument("--printed", action="store_true", help="on cloths with four faces printed on them")
    parser.add_argument("--faults", action="store_true", help="also say what was missed, and where")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in SITUATIONS:
            parser.error(f"there is no situation {name!r}; there are: {', '.join(SITUATIONS)}")
    outcomes = []
    for name in options.names or SITUATIONS:
        for seed in range(options.first, options.first + options.seeds):
            outcome = play(name, seed, options.frames if seed == options.first else None, options.printed)
            outcomes.append(outcome)
            if options.faults or not outcome.good:
                for fault in outcome.faults:
                    print(f"{name}, seed {seed}: {fault}", file=sys.stderr, flush=True)
    for line in table_of(outcomes):
        print(line)
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
