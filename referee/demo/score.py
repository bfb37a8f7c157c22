"""The score of a demo: the truth against observations and rulings, and the closing table.

Cards laid are compared with cards seen, aligned in order within a window of time. Rulings are compared with those of
the same core when it receives the exact truth: by kind, seat and decisive fields, and by their instants, which may
differ by the stated errors of the observations behind them and one frame more; those beyond the errors are counted.
Ids, margins and errors are not compared, because they depend on how well a sensor sees. Slaps that the players' script
made too close to call are left out and counted.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from hardware.pads.pads import LEAST_ERROR
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Card, Observation, Slap, Taken, Tick
from referee.engine.rulings import Ruling
from referee.sentence import Sentence
from referee.table.services import GameContext, TableService
from referee.text.escapes import escape_controls
from referee.text.terminal_language import here, translate
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from referee.demo.demo_table import DemoTable
    from referee.table.game import Conductor

_WINDOW: Final = 1_500 * MS
"""Maximum time between a card laid and the same card seen, ns."""
_SURE: Final = 0.9
_FRAME: Final = 67 * MS


@dataclass(frozen=True, slots=True)
class CardScore:
    """Result of reading the cards that were laid."""

    laid: int
    right: int
    wrong: int
    wrong_sure: int
    """Cards read wrong, or seen where none was laid, with confidence 0.9 or more."""
    unread: int
    missed: int
    ghosts: int
    """Cards seen where none was laid."""
    seat_right: int
    """Right cards whose seat was right."""
    wholly: int = 0
    """Right plays in every respect: the card, its place in the order, its seat, and who took its pile."""
    in_frame: int = 0
    """Right cards whose reveal is within one frame of the truth."""
    as_stated: int = 0
    """Right cards whose reveal is within the stated error."""
    quickest_ms: float = 0.0
    """Shortest time between two cards laid, ms."""
    faults: tuple[str, ...] = ()
    """Each misread card, in words."""


def align(laid: Sequence[Card], seen: Sequence[Card]) -> list[tuple[Card | None, Card | None]]:
    """Pair cards laid with cards seen, both in order of time; `None`: a card without a counterpart.

    ``best[row][column]`` is the least cost of pairing that many cards of each, and the last step to it: a card of each
    (1, 1), one that was only laid (1, 0), or one that was only seen (0, 1).
    """
    # Two gaps (6) cost more than a misread pair (4) or an unread one (3), so near cards are paired.
    gap, far = 3, 10**6
    best = [[(gap * column, 0, 1) for column in range(len(seen) + 1)]]
    for row, card in enumerate(laid, start=1):
        above, line = best[-1], [(gap * row, 1, 0)]
        for column, other in enumerate(seen, start=1):
            cost = 0 if card.card == other.card else 3 if other.card == "??" else 4
            both = above[column - 1][0] + (cost if abs(card.t - other.t) <= _WINDOW else far)
            steps = (both, 1, 1), (above[column][0] + gap, 1, 0), (line[column - 1][0] + gap, 0, 1)
            line.append(min(steps, key=itemgetter(0)))
        best.append(line)
    pairs: list[tuple[Card | None, Card | None]] = []
    row, column = len(laid), len(seen)
    while row or column:
        _, down, right = best[row][column]
        pairs.append((laid[row - 1] if down else None, seen[column - 1] if right else None))
        row, column = row - down, column - right
    return pairs[::-1]


def _fault(laid: Card | None, seen: Card | None) -> str:
    """Describe the fault of one card in words; at least one of the two is given."""
    if seen is None:
        return "" if laid is None else f"{laid.t / 1e9:.2f} s: {laid.card} of seat {laid.seat} was not seen"
    sure = "no confidence given" if seen.confidence is None else f"confidence {seen.confidence:.2f}"
    if laid is None:
        return f"{seen.t / 1e9:.2f} s: nothing was laid, {seen.card} was seen ({sure})"
    return f"{laid.t / 1e9:.2f} s: {laid.card} of seat {laid.seat} was read {seen.card} ({sure})"


def score_cards(truth: Sequence[Observation], seen: Sequence[Observation]) -> CardScore:
    """Count how the cards laid on the pile were read."""
    laid = sorted((o for o in truth if isinstance(o, Card)), key=lambda card: card.t)
    read = sorted((o for o in seen if isinstance(o, Card)), key=lambda card: card.t)
    takers, seen_takers = _takers(truth), _takers(seen)
    pairs = align(laid, read)
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    right = [(one, other) for one, other in both if one.card == other.card]
    wrong = [other for one, other in both if other.card not in ("??", one.card)]
    ghosts = [other for one, other in pairs if one is None and other is not None]
    return CardScore(
        laid=len(laid),
        right=len(right),
        wrong=len(wrong),
        wrong_sure=sum(
            card.card != "??" and (card.confidence is None or card.confidence >= _SURE) for card in (*wrong, *ghosts)
        ),
        unread=sum(other.card == "??" for _, other in both),
        missed=sum(other is None for _, other in pairs),
        ghosts=len(ghosts),
        seat_right=sum(one.seat == other.seat for one, other in right),
        wholly=sum(one.seat == other.seat and takers(one) == seen_takers(other) for one, other in right),
        in_frame=sum(abs(one.t - other.t) <= _FRAME for one, other in right),
        as_stated=sum(abs(one.t - other.t) <= other.t_error for one, other in right),
        quickest_ms=min((round((b.t - a.t) / MS, 1) for a, b in pairwise(laid)), default=0.0),
        faults=tuple(
            _fault(one, other) for one, other in pairs if one is None or other is None or one.card != other.card
        ),
    )


def _takers(told: Iterable[Observation]) -> Callable[[Card], int | None]:
    """Return a function from a card to the seat that took its pile; 0: the pile was not taken."""
    taken = sorted((o for o in told if isinstance(o, Taken)), key=lambda take: take.t)
    return lambda card: next((take.seat for take in taken if take.t > card.t), 0)


_TAKEN_SLACK: Final = 1_000 * MS
"""A take is not an instant: the sweep lasts half a second, and an observer may report any part of it, ns."""
_HEAT_SPAN: Final = 10 * MS
"""Maximum distance of slaps from a called-for dead heat, ns."""
_SLAP_KINDS: Final = frozenset(("slap_won", "slap_false", "slap_void", "dead_heat"))
_ASKING: Final = frozenset(("question", "dead_heat"))
_NOT_DECISIVE: Final = frozenset(("margin", "error", "decided_by", "about"))


def true_rulings(truth: Iterable[Observation], end: int) -> list[Ruling]:
    """Return the core's rulings on ideal observations up to ``end`` (ns)."""
    adjudicator = Adjudicator()
    made: list[Ruling] = []
    for seen in truth:
        made += adjudicator.observe(seen)
    made += adjudicator.observe(Tick(t=end))
    return made + adjudicator.finish()


def in_force(rulings: Iterable[Ruling]) -> list[Ruling]:
    """Return the rulings that no later one replaced, ordered by ``t``."""
    made = list(rulings)
    replaced = {old for ruling in made for old in ruling.supersedes}
    return sorted((ruling for ruling in made if ruling.id not in replaced), key=lambda ruling: ruling.t)


def decisive(ruling: Ruling) -> str:
    """Return the content that two rulings must share to be the same decision."""
    fields: dict[str, Any] = {name: value for name, value in ruling.fields.items() if name not in _NOT_DECISIVE}
    if "runners_up" in fields:
        fields["runners_up"] = [hand["seat"] for hand in fields["runners_up"]]
    return json.dumps([ruling.kind, fields], sort_keys=True, default=list)


@dataclass(frozen=True, slots=True)
class RulingScore:
    """Comparison of the rulings with those based on the truth."""

    true: int
    equal: int
    in_doubt: int
    """Equal rulings that were decided in doubt."""
    off_time: int
    """Equal rulings whose instant is further from the truth than the sensors state."""
    left_out: int
    """Rulings about slaps that the script made too close to call."""
    differing: tuple[str, ...]
    """Each ruling that only one side has, in words."""
    called: int
    """Questions and dead heats that the script called for."""
    uncalled: int
    """Questions and dead heats that it did not call for."""
    asked: tuple[str, ...]
    """The uncalled ones, in words."""


def stated_errors(seen: Iterable[Observation]) -> Callable[[Ruling], int]:
    """Return a function from a ruling to the error of its instant, ns, as its observations state it."""
    known = {observation.id: observation for observation in seen}
    last = max((observation.t for observation in known.values()), default=0)

    def error(ruling: Ruling) -> int:
        if ruling.t > last:
            # This ruling depends on the end of the log, at any time.
            return 2**62
        at = [known[name] for name in ruling.because if name in known and known[name].t == ruling.t]
        slack = _TAKEN_SLACK if any(isinstance(o, Taken) for o in at) or not at else 2 * MS
        return max((getattr(observation, "t_error", 0) for observation in at), default=0) + slack

    return error


def heats(truth: Iterable[Observation], apart: int) -> list[int]:
    """Return the instants of hands no further apart than the pads can resolve (ns): a tie for any referee."""
    slaps = sorted((seen for seen in truth if isinstance(seen, Slap)), key=lambda slap: slap.t)
    return [one.t for one, two in pairwise(slaps) if two.t - one.t <= apart and one.seat != two.seat]


def score_rulings(
    ruled: Sequence[Ruling], seen: Sequence[Observation], truth: Sequence[Observation], called: Sequence[int], end: int
) -> RulingScore:
    """Compare the rulings with those that the truth leads to.

    Args:
        ruled: every ruling of the game.
        seen: the sensors' observations.
        truth: the observations of ideal sensors, the table first.
        called: instants (ns) that the players' script made too close to call.
        end: end of the script, ns.
    """
    errors = stated_errors(seen)
    wanted, left_out_wanted = comparable(true_rulings(truth, end), called)
    made, left_out = comparable(ruled, called)
    equal, lacking, surplus = match_rulings(wanted, made, errors)
    asked = asked_once(ruled)
    uncalled = [ruling for ruling in asked if not is_called(ruling, called)]
    return RulingScore(
        true=len(wanted),
        equal=len(equal),
        in_doubt=sum(ruling.doubt for _, ruling in equal),
        off_time=sum(abs(ruling.t - true.t) > errors(ruling) for true, ruling in equal),
        left_out=max(left_out, left_out_wanted),
        differing=tuple(
            f"{ruling.t / 1e9:.3f} s: {side} {decisive(ruling)}"
            for ruling, side in sorted(
                [(r, "should be") for r in lacking] + [(r, "was ruled") for r in surplus], key=lambda pair: pair[0].t
            )
        ),
        called=len(asked) - len(uncalled),
        uncalled=len(uncalled),
        asked=tuple(f"{ruling.t / 1e9:.3f} s: {ruling.kind} {dict(ruling.fields)}" for ruling in uncalled),
    )


def is_called(ruling: Ruling, called: Sequence[int]) -> bool:
    return any(abs(ruling.t - t) <= _HEAT_SPAN for t in called)


def comparable(rulings: Iterable[Ruling], called: Sequence[int]) -> tuple[list[Ruling], int]:
    """Return the rulings in force except questions and slaps too close to call, and the number of those slaps."""
    standing = in_force(rulings)
    kept = [r for r in standing if not (r.kind in _SLAP_KINDS and is_called(r, called))]
    return [r for r in kept if r.kind not in _ASKING], len(standing) - len(kept)


def asked_once(rulings: Iterable[Ruling]) -> list[Ruling]:
    """Return questions and dead heats; a dead heat and the question that it leads to count as one."""
    once: dict[tuple[int, str], Ruling] = {}
    for ruling in rulings:
        if ruling.kind in _ASKING:
            about = "first" if ruling.kind == "dead_heat" or ruling.get("ask") == "who_was_first" else ruling["ask"]
            once.setdefault((ruling.t, about), ruling)
    return list(once.values())


def match_rulings(
    wanted: Sequence[Ruling], made: Sequence[Ruling], errors: Callable[[Ruling], int]
) -> tuple[list[tuple[Ruling, Ruling]], list[Ruling], list[Ruling]]:
    """Return the equal rulings (wanted, made), the missing ones, and the surplus ones."""
    waiting: dict[str, list[Ruling]] = defaultdict(list)
    for ruling in made:
        waiting[decisive(ruling)].append(ruling)
    equal: list[tuple[Ruling, Ruling]] = []
    lacking: list[Ruling] = []
    for ruling in wanted:
        like = waiting[decisive(ruling)]
        near = min(like, key=lambda other: abs(other.t - ruling.t), default=None)
        if near is None or abs(near.t - ruling.t) > errors(near) + _FRAME:
            lacking.append(ruling)
            continue
        like.remove(near)
        equal.append((ruling, near))
    return equal, lacking, [ruling for like in waiting.values() for ruling in like]


_TARGET_RIGHT: Final = 0.995
_CARDS_PER_UNCALLED: Final = 400


NOT_COMPARED: Final = RulingScore(0, 0, 0, 0, 0, (), 0, 0, ())
"""For a game in which people had a say in the rulings."""


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """The closing figures of a demo."""

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
    """Frames looked at for each second of machine time."""
    lag_ms: float = 0.0
    """Furthest that the referee fell behind a table in real time, ms."""
    troubles: dict[str, str] = field(default_factory=dict)
    interrupted_s: float | None = None
    """Time when a person first intervened in the game, s; the truth has no rulings after that. `None`: no
    intervention.
    """

    def missed_targets(self) -> list[str]:
        """Return each missed target, in words."""
        out: list[str] = []
        cards, rulings = self.cards, self.rulings
        if cards.laid and cards.right < _TARGET_RIGHT * cards.laid:
            least = f"{_TARGET_RIGHT:.1%}"
            out.append(Sentence("{right} of {count} cards read right, less than {least}",
                                right=cards.right, count=cards.laid, least=least))  # fmt: skip
        if cards.wrong_sure:
            out.append(Sentence("cards read wrong with confidence {sure} or more: {many}",
                                sure=str(_SURE), many=cards.wrong_sure))  # fmt: skip
        if rulings.uncalled > max(1, cards.laid // _CARDS_PER_UNCALLED):
            out.append(Sentence("questions or dead heats that the script did not call for: {many}",
                                many=rulings.uncalled))  # fmt: skip
        if rulings.differing:
            out.append(Sentence("rulings that differ from the truth's: {many}", many=len(rulings.differing)))
        return out

    def as_fields(self) -> dict[str, Any]:
        """Return the summary for JSON."""
        return {**asdict(self), "missed_targets": self.missed_targets()}


class Score(TableService):
    """Keeps the game of a demo, to compare observations and rulings with the truth."""

    name = "score"
    needs_record = False

    def __init__(self, table: DemoTable) -> None:
        self._table = table
        self._conductor: Conductor | None = None
        self._vouched = 0

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._conductor = game.conductor

    def beat(self, now: int) -> None:
        """Save the camera's watermark: once a game is left, everything counts as reported."""
        if self._conductor is not None:
            self._vouched = self._conductor.camera_watermark()

    def summary(self, seed: int, rules: str) -> DemoSummary:
        """Return the score of the game."""
        assert self._conductor is not None
        script, count_, began = self._table.script, self._table.count, self._table.pads.began or 0
        seen = [on_script_time(line, began) for line in self._conductor.observations]
        ruled = [on_script_time(ruling, began) for ruling in self._conductor.rulings]
        truth, end, interrupted = script.truth, script.duration, script.interrupted
        if not self._table.is_over(self._vouched):
            # The game was left early: do not count what would have come later.
            end = max(0, min(end, self._vouched - began))
            truth, seen = tuple(o for o in truth if o.t <= end), [o for o in seen if o.t <= end]
            interrupted = end if interrupted is None else interrupted
        true_kinds, seen_kinds = Counter(map(type, truth)), Counter(map(type, seen))
        too_close = [*(moment.t for moment in script.called), *heats(truth, 2 * LEAST_ERROR)]
        return DemoSummary(
            seed=seed,
            seats=script.seats,
            rules=rules,
            finished=script.finished,
            cards=score_cards(truth, seen),
            slaps=true_kinds[Slap],
            slaps_felt=seen_kinds[Slap],
            taken=true_kinds[Taken],
            taken_seen=seen_kinds[Taken],
            rulings=NOT_COMPARED if interrupted is not None else score_rulings(ruled, seen, truth, too_close, end),
            played_s=round(end / SECOND, 1),
            took_s=round(count_.took, 1),
            frames=count_.frames,
            fps=round(count_.frames / count_.took if count_.took > 0 else 0.0, 1),
            lag_ms=round(count_.lag / MS, 1),
            troubles=dict(self._conductor.troubles),
            interrupted_s=None if interrupted is None else round(interrupted / SECOND, 1),
        )  # fmt: skip


_INSTANTS: Final = ("known_at", "until", "since")
"""Fields besides ``t`` that may hold an instant."""


def on_script_time(line: Any, by: int) -> Any:
    """Return a line of the log in script time."""
    if by == 0:
        return line
    named = ((name, getattr(line, name, None)) for name in _INSTANTS)
    return replace(
        line, t=max(0, line.t - by), **{name: instant - by for name, instant in named if instant is not None}
    )


_LISTED = 12
"""Maximum number of faults of one kind to list."""


def rows(summary: DemoSummary) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the truth and the referee's result of each row."""
    cards, rulings, texts = summary.cards, summary.rulings, here()
    share = f" ({texts.number(100 * cards.right / cards.laid, 1)} %)" if cards.laid else ""
    wrong = translate(
        "{wrong}, with confidence {sure} or more: {many}", wrong=cards.wrong, sure=_sure(), many=cards.wrong_sure
    )
    yield translate("cards laid"), str(cards.laid), translate("read right: {right}", right=cards.right) + share
    yield "  " + translate("read wrong"), "0", wrong
    yield "  " + translate("left unread (??)"), "0", str(cards.unread)
    yield "  " + translate("not seen"), "0", str(cards.missed)
    yield "  " + translate("seen where none was laid"), "0", str(cards.ghosts)
    yield "  " + translate("seat named right"), str(cards.laid), str(cards.seat_right)
    yield translate("slaps"), str(summary.slaps), translate("felt: {felt}", felt=summary.slaps_felt)
    yield translate("piles taken"), str(summary.taken), translate("seen: {seen}", seen=summary.taken_seen)
    if summary.interrupted_s is not None:
        from_ = texts.number(summary.interrupted_s, 1)
        yield translate("rulings"), "", translate("not compared: people had a say from {seconds} s on", seconds=from_)
        return
    equal = translate("equal: {equal}, differing: {differing}", equal=rulings.equal, differing=len(rulings.differing))
    doubt = ", " + translate("in doubt: {doubt}", doubt=rulings.in_doubt) if rulings.in_doubt else ""
    yield translate("rulings"), str(rulings.true), equal + doubt
    yield "  " + translate("beyond the stated error"), "0", str(rulings.off_time)
    yield "  " + translate("on slaps too close to call"), str(rulings.left_out), translate("left out")
    uncalled = translate("not called for: {uncalled}", uncalled=rulings.uncalled)
    yield translate("questions and dead heats"), translate("called for: {called}", called=rulings.called), uncalled


def _sure() -> str:
    return here().number(_SURE, 2)


def faults(summary: DemoSummary) -> Iterator[str]:
    """Yield every deviation, in words."""
    for title, told in (
        (translate("cards"), summary.cards.faults),
        (translate("rulings"), summary.rulings.differing),
        (translate("not called for"), summary.rulings.asked),
        (translate("parts that failed"), [f"{part}: {translate(words)}" for part, words in summary.troubles.items()]),
    ):
        for line in told[:_LISTED]:
            yield f"{title}: {line}"
        if len(told) > _LISTED:
            yield f"{title}: {translate('and {more} more', more=len(told) - _LISTED)}"


def show(summary: DemoSummary) -> None:
    """Print the closing table, as a drawn table if standard output is a terminal."""
    texts = here()
    behind = translate("at most {lag} ms behind", lag=texts.number(summary.lag_ms, 1)) if summary.lag_ms else ""
    head = escape_controls(", ".join(filter(None, (
        summary.rules, translate("seats: {many}", many=summary.seats), translate("seed {seed}", seed=summary.seed),
        translate("to its end") if summary.finished else translate("{cards} of a game", cards=summary.cards.laid),
        translate("{played} s at the table, {took} s here", played=texts.number(summary.played_s, 1),
            took=texts.number(summary.took_s, 1)),
        translate("frames: {frames} ({fps}/s)", frames=summary.frames, fps=texts.number(summary.fps, 1)), behind,
    ))))  # fmt: skip
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table("", title=Text(head), title_justify="left")
        table.add_column(translate("the players"), justify="right")
        table.add_column(translate("the referee"))
        for row in rows(summary):
            table.add_row(*row)
        Console().print(table)
    else:
        print(head)
        lines = list(rows(summary))
        wide = max(30, *(len(what) for what, _, _ in lines))
        for what, truth, seen in lines:
            print(f"{what:{wide}} {truth:>14}   {seen}")
    for line in faults(summary):
        print(line)
    if missed := summary.missed_targets():
        print(translate("Missed: {missed}.", missed="; ".join(map(translate, missed))))
    else:
        met = translate("All targets met: {least} % or more read right, none wrong with confidence, {rulings}.",
                  least=texts.number(100 * _TARGET_RIGHT, 1), rulings=Sentence("every ruling the truth's")
                  if summary.interrupted_s is None else Sentence("rulings not compared"))  # fmt: skip
        print(met)
