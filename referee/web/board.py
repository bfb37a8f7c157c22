"""The state of one game on the scoreboard, built from the lines of the record, and the corrections that it offers.

Pure. `referee.web.scoreboard.Follower` feeds it, in the page's process; the main process accepts what it offers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from referee.control.offers import Offers, likely_cards, read_offers
from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.amended_log import UNUSED, AmendedLog
from referee.engine.log import find_replacements
from referee.engine.observations import Card, Correct, LogError, Observation, Slap, Table, Taken, Tick
from referee.engine.overrule import Overrulable, allows_corrections, find_overrulable
from referee.engine.rulings import SHOWN_BY_POSITION, SLAP_KINDS, Ruling, cause_of, end_of
from referee.engine.view import View
from referee.record.stored_lines import LineReader
from referee.rules.house import RulesError
from referee.web.layout import address
from referee.web.photo_finish.moment import Finish, finish

RULINGS_SHOWN: Final = 14
"""Number of rulings in the list."""
_REMEMBERED: Final = 500
"""Number of lines remembered; a slap is over within a few."""
_CORRECTABLE: Final = 12
"""Number of cards offered for correction."""
Sighting = Card | Slap | Taken
"""Something that people may touch and correct: a card, a hand, or a pick-up."""


class Board:
    """The present state of one game, or of none. Has no clock, no file and no language."""

    def __init__(self, game: int | None = None, names: Sequence[str] = (), *, live: bool = False) -> None:
        """Begin with no lines.

        Args:
            game: its number in the record.
            names: the players, from the first seat on.
            live: the game is on: its lines are judged as they come, so that a ruling is here as early as in the main
                process. Otherwise the reader of the record sets ``view``.
        """
        self.game, self.names, self.live = game, tuple(names), live
        self.began = 0
        """The instant of the first line, ns."""
        self.line = 0
        """Number of the last line that was added."""
        self.view = View()
        self.correctable = True
        """Whether the house rules let people correct the referee (K6)."""
        self.rulings: list[Ruling] = []
        """The rulings in the log."""
        self.replaced_by: dict[str, str] = {}
        self._early: dict[str, Ruling] = {}
        """Rulings that are decided, but not in the log yet."""
        self._places: dict[str, int] = {}
        self._lines: deque[Observation] = deque(maxlen=_REMEMBERED)
        self._kept: list[Observation] = []
        """Lines of a long game that must not be forgotten: its table, and corrections."""
        self.pictured = ""
        """The id of the latest decided slap whose pictures are kept; empty: none."""
        self._finishes: dict[str, Finish | None] = {}
        """Cache of the last photo-finish asked for, valid until a line is added."""
        self._unused: list[Ruling] = []
        """Questions about lines that could not be used."""
        self._adjudicator = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD) if live else None
        self._reader = LineReader()
        self.set_state({})

    def add_lines(self, rows: Sequence[tuple[int, str]]) -> None:
        """Add the next lines of the record; unreadable ones are left out."""
        self._finishes = {}
        observations, rulings = self._reader.read(rows, ticks=self._adjudicator is not None)
        if rows:
            self.line = rows[-1][0]
        self.add_rulings(rulings)
        for _, seen in observations:
            if isinstance(seen, Table):
                self.names, self.began, self.correctable = seen.seats, seen.t, allows_corrections(seen)
            if not isinstance(seen, Tick):
                (self._kept if isinstance(seen, Table | Correct) else self._lines).append(seen)
        if self._adjudicator is not None:
            for number, seen in observations:
                try:
                    self._adjudicator.observe(seen)
                except LogError as error:
                    # A line that cannot be judged is left out; the log still holds its rulings.
                    self._reader.leave_out(number, error)
            self.view = self._adjudicator.view
            self.names = self.view.names or self.names
            early = self._adjudicator.take_early()
            self.replaced_by.update(find_replacements(early))
            won = self._adjudicator.won_so_far
            for ruling in (*early, *([won] if won is not None else [])):
                if ruling.id not in self._places:
                    self._early[ruling.id] = ruling

    def add_rulings(self, rulings: Iterable[Ruling]) -> None:
        """Add rulings of the log; each replaces an early one with the same id."""
        self._finishes = {}
        for ruling in rulings:
            self._early.pop(ruling.id, None)
            if ruling.kind == "question" and ruling["ask"] in UNUSED:
                self._unused.append(ruling)
            if ruling.id in self._places:
                self.rulings[self._places[ruling.id]] = ruling
            else:
                self._places[ruling.id] = len(self.rulings)
                self.rulings.append(ruling)
            self.replaced_by.update(find_replacements((ruling,)))

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take the main process' answer about the table itself; see `referee.table.page_link.PageLink`."""
        self.troubles: dict[str, Mapping[str, Any]] = {
            part: said if isinstance(said, Mapping) else {"words": str(said)}
            for part, said in state.get("troubles", {}).items()
        }
        """Problems by part, in the form of `referee.sentence.to_json`."""
        self.captions: tuple[tuple[int, str, bool], ...] = tuple(
            (n, text, v) for n, text, v in state.get("captions", ())
        )
        self.language: str | None = state.get("language")
        self.about: Mapping[str, Any] | None = state.get("about")
        self.paused = bool(state.get("paused", False))

    def listed(self) -> list[Ruling]:
        """Return the latest rulings worth a line, newest first."""
        latest = chain(reversed(self._early.values()), reversed(self.rulings))
        return list(islice((ruling for ruling in latest if ruling.kind not in SHOWN_BY_POSITION), RULINGS_SHOWN))

    def questions(self) -> list[Ruling]:
        """Return the open questions, oldest first."""
        found = (self._places.get(name) for name in self.view.questions)
        return sorted((self.rulings[at] for at in found if at is not None), key=lambda verdict: verdict.t)

    def touchable(self) -> list[str]:
        """Return, for each card of the pile, the line that people may correct by touching it; empty if they may not."""
        seen = {line.id for line in self._lines if isinstance(line, Card)} if self.live and self.correctable else set()
        return [line if line in seen else "" for line in self.view.laid_by]

    def sighting(self, name: str) -> Sighting | None:
        """Return a remembered card, hand or pick-up with its corrections; None if it is gone."""
        log = self._log()
        line = log.now(name) if log.known(name) else None
        return line if isinstance(line, Sighting) else None

    def likely(self, card: Card) -> tuple[str, ...]:
        """Return the other cards that this may be, likeliest first."""
        asked = (ruling.get("cards", ()) for ruling in self.rulings if card.id in ruling.get("about", ()))
        places = self._adjudicator.places if self._adjudicator is not None else None
        return likely_cards(card, places, chain.from_iterable(asked))

    def line_before(self, seen: Sighting) -> str | None:
        """Return the line after which something was missed right before this one; None if unknown.

        For a hand, earlier hands on the same card do not count: the missed thing is what they slapped.
        """
        kinds = (Card, Taken, Table) if isinstance(seen, Slap) else (Card, Slap, Taken, Table)
        before = [line for line in self._lines_now() if isinstance(line, kinds) and line.t < seen.t]
        return before[-1].id if before else None

    def seat_before(self, seen: Sighting) -> int:
        """Return the likeliest seat of a card missed right before this: the one after the last that laid."""
        before = [line for line in self._lines_now() if isinstance(line, Card) and line.t < seen.t]
        last = before[-1].seat if before else None
        following = 1 if last is None else last % max(1, len(self.names)) + 1
        return last if last is not None and isinstance(seen, Card) and seen.seat == following else following

    def card_before(self, hand: Slap) -> Card | None:
        """Return the card on top when a hand came down; None if none is remembered."""
        before = [line for line in self._lines_now() if isinstance(line, Card) and line.t <= hand.t]
        return before[-1] if before else None

    def card_after(self, seen: Card) -> Card | None:
        """Return the next card; None if none is remembered."""
        return next((line for line in self._lines_now() if isinstance(line, Card) and line.t > seen.t), None)

    def last_said(self) -> str | None:
        """Return the id of the line that undo would take back; None if nothing is left."""
        said = self._log().last_act if self.correctable else []
        return said[0].id if said else None

    @property
    def playing(self) -> bool:
        """Whether a game is on."""
        return self.live and self.game is not None and not self.view.game_over

    @property
    def end(self) -> Ruling | None:
        """The ruling that ended the game; None if it is not over."""
        return end_of((*self.rulings, *self._early.values())) if self.view.game_over else None

    def _log(self) -> AmendedLog:
        """Return the latest lines with people's corrections."""
        lines = sorted((*self._lines, *self._kept), key=lambda line: line.t)
        return AmendedLog(lines, self._unused)

    def _lines_now(self) -> list[Observation]:
        """Return the latest lines with their corrections applied, in order of time."""
        return self._log().all_now()

    def offers(self) -> Offers | None:
        """Return the reports that people may make; None without a game, or if its house rules cannot be read."""
        log = self._log()
        if log.table is None or not self.live:
            return None
        try:
            rules = log.table.house
        except RulesError:
            return None
        pads = self.about.get("pads", 0) if self.about is not None else 0
        return read_offers(rules, self.view, log.all_now(), pads)

    def cards(self) -> list[Card]:
        """Return the latest cards, newest first, for people to correct."""
        found = [line for line in self._lines_now() if isinstance(line, Card)]
        return sorted(found, key=lambda card: card.t, reverse=True)[:_CORRECTABLE]

    def hands(self) -> list[Slap]:
        """Return all remembered hands with their corrections, newest first."""
        found = [line for line in self._lines_now() if isinstance(line, Slap)]
        return sorted(found, key=lambda hand: hand.t, reverse=True)

    def early(self) -> list[Ruling]:
        """Return the rulings that are decided, but not in the log yet."""
        return list(self._early.values())

    def has_logged(self, name: str) -> bool:
        """Return whether a ruling of this id is in the log."""
        return name in self._places

    def ruling(self, name: str) -> Ruling | None:
        """Return a ruling of this game by its id."""
        return self.rulings[self._places[name]] if name in self._places else self._early.get(name)

    def standing(self) -> list[Ruling]:
        """Return the latest rulings in force, including those that are not in the log yet."""
        return [ruling for ruling in [*self.rulings[-200:], *self._early.values()] if ruling.id not in self.replaced_by]

    def last_slap(self) -> Ruling | None:
        """Return the latest ruling on a hand that is worth a photo-finish: void hands, such as late ones, come last."""
        slaps = [ruling for ruling in self.standing() if ruling.kind in SLAP_KINDS]
        return max(slaps, key=lambda verdict: (verdict.kind != "slap_void", verdict.t), default=None)

    def last_decided(self) -> Ruling | None:
        """Return the latest slap that was won, or dead heat that nothing has settled yet."""
        decided = [ruling for ruling in self.standing() if ruling.kind in ("slap_won", "dead_heat")]
        return max(decided, key=lambda verdict: (verdict.t, verdict.kind == "slap_won"), default=None)

    def last_finish(self) -> Finish | None:
        """Return the photo-finish of the last slap, as far as its lines are remembered."""
        ruling = self.last_slap()
        return None if ruling is None else self.finish_of(cause_of(ruling))

    def finish_of(self, slap: str) -> Finish | None:
        """Return the photo-finish of a hand; None if its lines are no longer remembered."""
        if slap not in self._finishes:
            rulings = [*self.rulings[-200:], *self._early.values()]
            self._finishes = {slap: finish(self._lines_now(), rulings, slap, self.replaced_by, len(self.names))}
        return self._finishes[slap]


RULINGS_OFFERED: Final = 12
"""Number of rulings offered for overruling."""


class DisputedRuling(NamedTuple):
    """A ruling that may be overruled, and its alternatives."""

    ruling: Ruling
    instead: Overrulable


def disputes(board: Board, asked: str = "") -> list[DisputedRuling]:
    """Return the latest ones, newest first; includes ``asked``, however old, if it may be overruled."""
    hands = board.hands()
    latest = (_dispute(board, ruling, hands) for ruling in chain(reversed(board.early()), reversed(board.rulings)))
    shown = list(islice((dispute for dispute in latest if dispute is not None), RULINGS_OFFERED))
    old = board.ruling(asked)
    if old is not None and old not in [dispute.ruling for dispute in shown]:
        shown += filter(None, [_dispute(board, old, hands)])
    return shown


def _dispute(board: Board, ruling: Ruling, hands: Sequence[Slap]) -> DisputedRuling | None:
    if not board.correctable or ruling.id in board.replaced_by:
        return None
    instead = find_overrulable(ruling, hands, owner=board.view.owner, is_on_record=board.has_logged(ruling.id))
    return None if instead is None else DisputedRuling(ruling, instead)


class Touched(NamedTuple):
    """A thing or ruling that people have touched on the board, and the ruling that they may change."""

    seen: Sighting | None
    dispute: DisputedRuling | None
    rests: tuple[Sighting, ...]
    """The other lines that the ruling rests on, in order of time."""


def find_touched(board: Board, name: str) -> Touched | None:
    """Return what the id of a line or ruling in force stands for; None if it is gone, or may not be corrected."""
    if not board.correctable or name in board.replaced_by:
        return None
    ruling, hands = board.ruling(name), board.hands()
    cause = name if ruling is None else cause_of(ruling)
    seen = board.sighting(cause)
    if seen is None and ruling is None:
        return None
    same = [standing for standing in board.standing() if cause_of(standing) == cause]
    found = (_dispute(board, candidate, hands) for candidate in ([ruling] if ruling is not None else []) + same)
    dispute = next((candidate for candidate in found if candidate is not None), None)
    names = {
        line
        for disputed in (ruling, dispute.ruling if dispute else None)
        if disputed is not None
        for line in disputed.because
    }
    rests = [line for ref in names - {cause} if (line := board.sighting(ref)) is not None]
    if isinstance(seen, Slap) and (top := board.card_before(seen)) is not None and top not in rests:
        rests.append(top)
    return Touched(seen, dispute, tuple(sorted(rests, key=lambda line: (line.t, line.id))))


def disputed_at(board: Board, game: int | None, ruling: Ruling) -> str:
    """Return the address where people may dispute a ruling of a game; empty if they may not, or no longer."""
    if game is None or game != board.game or _dispute(board, ruling, ()) is None:
        return ""
    return address("/control", {"ruling": ruling.id})
