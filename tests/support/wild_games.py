"""Generated logs of whole games with everything that happens at a real table, and all that people say of it.

Play is plausible: players who lay or slap know what a referee of their own believes by then. Added to a plain table
(`tests.rules.plain_table`) are: instants with errors, dead heats, slaps near a reveal or a pick-up,
unread cards, War, people who join, leave, count, pause, answer, correct, overrule and take all that back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields
from referee.engine.observations import Card, LogError, Observation, Slap
from referee.engine.rulings import Ruling
from referee.rules.cards import JOKERS, PACK
from referee.rules.house import RulesError, read_house_rules
from referee.rules.rows import RIVALS, ROWS
from referee.units import MS
from tests.rules.plain_table import NAMES, random_rules
from tests.rules.plain_table import VALUES as _PLAIN_VALUES

_RANKS: Final = "A23456789TJQK"
_VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "E7": ({"minutes": 1}, {"piles": 2}, {"piles": 30}),
    "E8": ("pile", "others"),
    "F9": ("dead", "burn"),
    "F12": (1, 3),
    "K9": ("slapper", "question"),
    "M4": ("ace", "jack"),
    "M6": (400, "all", "convicted", [200, "convicted"]),
    "P16b": ("laid", "slapped"),
    "S4d": ([1], [2]),
}
"""Values that a plain table cannot play by."""
_MEETING: Final = (
    "E8", "M11", "F5", "F9", "F10", "M4", "M14", "M13", "N2", "N7", "E2", "E3", "E5b", "E6", "E7", "F6d", "F6e", "F6f",
    "F3", "N8", "N9", "F12", "C7", "C10", "P16", "M6", "M15", "N12", "N13", "N6",
)  # fmt: skip
"""Rows that change the players, the holdings or the right to slap: a crowded game has many of them at once."""
_CROWDED_VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    **_PLAIN_VALUES,
    **_VALUES,
    "F1": (0, 1, 2, 5, 52),
    "F6a": (1, 2, 3),
    "F6e": (1, 2, 3),
    "F9": ("dead", "burn"),
    "N8": (1, 2, 5),
    "N13": (1, 2, 6),
    "E2": (1, 3, 10),
    "E7": ({"minutes": 1}, {"piles": 1}, {"piles": 2}, {"piles": 5}),
    "C1": ({"A": 4, "K": 3, "Q": 2, "J": 1}, {"A": 1, "K": 1, "Q": 1, "J": 1}, {"A": 13, "K": 2, "Q": 2, "J": 2}),
    "P10b": (2, 4),
    "P4b": (3, {"n": 3, "ace": "both", "wrap": True}, "low"),
    "P5c": ("suit", "colour"),
    "S2": (1, 2, 3, 5, 8),
    "S3": (0, 2, 3, 32),
}


def wild_rules(rng: random.Random) -> dict[str, Any]:
    """Return house rules with any row on or off, as a log's first line."""
    while True:
        said = random_rules(rng, frozenset(ROWS), most=16)
        for row in rng.sample(sorted(_VALUES), k=rng.randint(0, 3)):
            said["set"][row] = rng.choice(_VALUES[row])
        if rng.random() < 0.4:
            # Hands nearer than this lead to a question, or to War.
            said["off"] += [row for row in ("M2", "M3") if row not in (*said["on"], *said["off"])]
            said["on"] += [row for row in ("M4",) if row not in said["on"] and rng.random() < 0.5]
        try:
            read_house_rules(said)
        except RulesError:
            continue
        return said


def crowded_rules(rng: random.Random) -> dict[str, Any]:
    """Return house rules whose rows often meet: leaving with War, debts with shares, locks with contests."""
    while True:
        said = random_rules(rng, frozenset(ROWS), most=8)
        for row in rng.sample(_MEETING, k=rng.randint(2, 12)):
            if row not in (*said["on"], *said["off"]) and not any(row in RIVALS.get(other, ()) for other in said["on"]):
                said["on"].append(row)
        said["set"] = {row: rng.choice(values) for row, values in _CROWDED_VALUES.items() if rng.random() < 0.3}
        if rng.random() < 0.4:
            said["off"] += [row for row in ("M2", "M3") if row not in (*said["on"], *said["off"])]
        try:
            read_house_rules(said)
        except RulesError:
            continue
        return said


class WildGame:
    """One game in the making; ``lines`` is its log, mostly in the order of event time.

    Args:
        seed: the same seed gives the same game.
        amended: whether people answer, correct and overrule.
        strange: whether there are impossible cards, wrong counts, and lines that fit nothing.
        crowded: whether many rows meet that change who plays, and players do more than lay and slap.
    """

    def __init__(self, seed: int, *, amended: bool = True, strange: bool = True, crowded: bool = False) -> None:
        self.rng = rng = random.Random(seed)
        self.t = 0
        self.lines: list[Observation] = []
        self.asked: dict[str, Ruling] = {}
        """Every question so far, by its id."""
        self.rulings: list[Ruling] = []
        self._guide = Adjudicator(lookahead_ns=0)
        self._amended, self._strange = amended, strange
        self._moves = _MOVES
        said = crowded_rules(rng) if crowded else wild_rules(rng)
        rules = read_house_rules(said)
        seats = rng.choice((2, 2, 3, 3, 4, 5, 6, 7, 8))
        self._slap_errors = rng.choice(((1_500_000,), (0,), (0, 20_000), (5 * MS, 10 * MS), (20_000, 1_500_000)))
        self._card_errors = rng.choice(
            ((0,), (0,), (0,), (2 * MS,), (2 * MS,), (0, 8 * MS), (8 * MS, 300 * MS), (1000 * MS, 0))
        )
        self._unread = rng.choice((0.0, 0.02, 0.05, 0.2))
        self._quick = rng.random() < 0.3
        ranks = rng.sample(_RANKS, k=rng.choice((3, 4, 6, 13)))
        jokers = int(rules.value("S3")) if rules.has("S3") else 0
        self._deck = [card for card in PACK if card[0] in ranks] + list(JOKERS[: min(jokers, 2)])
        table: dict[str, Any] = {"seats": list(NAMES[:seats]), "dealer": rng.randint(1, seats), "rules": said}
        if rng.random() < 0.7:
            table["counts"] = [rng.randint(0 if n else 1, 6) for n in range(seats)]
            if rng.random() < 0.1:
                table["counts"][rng.randrange(seats)] = None
        if rng.random() < 0.1:
            table["direction"] = rng.choice(("clockwise", "counter-clockwise"))
        if rng.random() < 0.1:
            table["packs"] = rng.randint(1, 3)
        if crowded:
            self._crowd(table)
        if not self.tell("table", **table):
            table["rules"] = "classic"
            table.pop("counts", None)
            self.tell("table", **table)
        self._hear()

    def _crowd(self, table: dict[str, Any]) -> None:
        """Make few cards in many hands, up to eight packs, and a few moves that come again and again."""
        rng = self.rng
        seats = len(table["seats"])
        how = rng.random()
        table.pop("counts", None)
        if how < 0.75:
            few = rng.choice((1, 2, 3, 6))
            table["counts"] = [rng.randint(0 if n else 1, few) for n in range(seats)]
            rng.shuffle(table["counts"])
        elif how < 0.85:
            table["counts"] = [rng.choice((None, None, 2)) for _ in range(seats)]
        if rng.random() < 0.3:
            table["packs"] = rng.randint(1, 8)
        often = rng.sample(range(len(_CROWDED_MOVES)), k=3)
        self._moves = tuple(
            (weight * 3 if place in often and weight < 50 else weight, move)
            for place, (weight, move) in enumerate(_CROWDED_MOVES)
        )

    # Reports

    def tell(self, kind: str, at: int | None = None, **fields: Any) -> Observation | None:
        """Add a line at ``at`` (ns; None: now); return None where it fits no log."""
        t = self.t if at is None else at
        name = f"{kind[0]}{len(self.lines)}"
        line = from_fields({"kind": kind, "t": t, "id": name, **fields}, 1)
        try:
            self._guide.observe(line)
        except LogError:
            return None
        self.lines.append(line)
        return line

    def _wait(self, *gaps: int) -> None:
        self.t += self.rng.choice(gaps) * MS + self.rng.randint(0, MS)

    def _hear(self) -> None:
        """Judge everything up to now, as far as the players can tell."""
        self.t = max(self.t, self.lines[-1].t)
        self._guide.promise(self.t)
        for ruling in self._guide.take_early():
            if ruling.window == "closed":
                continue
            self.rulings.append(ruling)
            if ruling.kind == "question":
                self.asked[ruling.id] = ruling

    @property
    def _seats(self) -> int:
        return len(self._guide.view.names) or 2

    def _seat(self) -> int:
        return self.rng.randint(1, self._seats)

    def _card_of(self, seat: int) -> str:
        rng, foresight = self.rng, self._guide.foresight
        if rng.random() < self._unread:
            return "??"
        if self._strange and rng.random() < 0.01:
            return rng.choice(PACK)
        if foresight is None:
            return rng.choice(self._deck)
        expected = foresight.expected(seat)
        if expected is not None:
            return expected
        for _ in range(8):
            card = rng.choice(self._deck)
            if foresight.may_come(card, seat):
                return card
        return next((card for card in PACK if foresight.may_come(card, seat)), "??")

    # Events

    def step(self) -> None:
        """Play one event: mostly a card, often a hand."""
        rng = self.rng
        self._wait(*((0, 20, 60, 150) if self._quick else (0, 40, 150, 400, 900, 2500)))
        chances = [move for move in self._moves if self._amended or move[1] not in _SAID]
        move = rng.choices([choice for _, choice in chances], [weight for weight, _ in chances])[0]
        move(self)
        self._hear()

    def play(self, steps: int) -> None:
        """Play a number of events; a game that is over goes on for a few."""
        after = self.rng.randint(0, 5)
        for _ in range(steps):
            after -= self._guide.view.game_over
            if after < 0:
                break
            self.step()

    def lay(self) -> None:
        """Let the player on turn lay a card; seldom another one."""
        rng, view = self.rng, self._guide.view
        seat = view.turn
        holders = [n for n, count in enumerate(view.counts, start=1) if count != 0]
        if not holders and view.owner is None and rng.random() < 0.9:
            return
        if seat is None or rng.random() < 0.05:
            seat = rng.choice(holders or [self._seat()])
        fields: dict[str, Any] = {}
        card = self._card_of(seat)
        if card == "??" and rng.random() < 0.3:
            fields["candidates"] = [[rng.choice(self._deck), 0.6], [rng.choice(PACK), 0.3]]
        if error := rng.choice(self._card_errors):
            fields["t_error"] = error
        if rng.random() < 0.015:
            fields |= {"t_error": 1000 * MS, "by": "people"}
        if view.turn is None and rng.random() < 0.5:
            fields["zone"] = "seat"
        self.tell("card", card=card, seat=None if rng.random() < 0.06 else seat, **fields)
        if rng.random() < 0.12:
            self.slap(near=self.t)

    def slap(self, near: int | None = None) -> None:
        """Bring hands down, one or nearly at once; near an instant where one is given."""
        rng = self.rng
        if near is None:
            ranks = [card[0] for card in self._guide.view.pile[-3:]]
            tempting = bool(ranks) and ranks[-1] in ranks[:-1]
            if not tempting and rng.random() < (0.7 if ranks else 0.9):
                self.lay()
                return
            self._wait(20, 160, 250, 500)
            near = self.t
        else:
            near += rng.choice((-1, 0, 1, -9 * MS, 9 * MS, -200 * MS, 200 * MS, rng.randint(-3 * MS, 3 * MS)))
        hands = rng.choice((1, 1, 2, 2, 3))
        told = rng.random() < 0.5
        for _ in range(hands):
            error = rng.choice(self._slap_errors)
            fields: dict[str, Any] = {"t_error": error}
            if told:
                fields["force"] = round(rng.random(), 1)
            if rng.random() < 0.015:
                fields |= {"t_error": 1000 * MS, "by": "people"}
            seat = self._seat()
            self.tell("slap", at=near, seat=seat, **fields)
            if rng.random() < 0.9:
                self.tell("lift", at=near + rng.randint(1, 200 * MS), seat=seat)
            near += rng.choice((0, 1, error, error, 2 * error, 2 * error + 1, rng.randint(0, 30 * MS)))

    def take(self) -> None:
        """Let the pile's owner take it, or another player."""
        rng, view = self.rng, self._guide.view
        seat = view.owner
        if seat is None and rng.random() < 0.75:
            self.lay()
            return
        if rng.random() < 0.15:
            seat = self._seat()
        self.tell("taken", seat=None if rng.random() < 0.25 else seat)
        if rng.random() < 0.15:
            self.slap(near=self.t)

    def report(self) -> None:
        """Report a foul, a contest, cards that were placed, a call, a drawn rank."""
        rng, seat = self.rng, self._seat()
        what = rng.randint(0, 4)
        if what == 0:
            fouls = ("peek", "hover", "snap", "rings", "slapped_pile", *2 * ("double_draw", "out_of_turn"))
            self.tell("foul", seat=seat, foul=rng.choice(fouls))
        elif what == 1:
            about: dict[str, Any] = (
                {"ruling": rng.choice(self.rulings).id} if self.rulings and rng.random() < 0.4 else {}
            )
            self.tell("contest", by=[self._seat() for _ in range(rng.randint(1, 2))], against=seat, **about)
        elif what == 2:
            cards: dict[str, Any] = {"cards": [rng.choice(self._deck)]} if rng.random() < 0.6 else {}
            self.tell("placed", seat=seat, count=1, where=rng.choice(("bottom", "top")), **cards)
        elif what == 3:
            self.tell("say", seat=seat, rank=rng.choice(_RANKS))
        else:
            self.tell("draw", rank=rng.choice(_RANKS))

    def come_or_go(self) -> None:
        """Let a player join or leave, count a stack, stop the table; or begin a day."""
        rng = self.rng
        what = rng.choice(("join", "leave", "count", "pause", "resume", "resume", "day"))
        if what == "join":
            seat = min(8, self._seats + rng.choice((1, 1, 2)))
            before = self.t - rng.choice((0, 0, 500 * MS))
            self.tell("join", at=before, seat=seat)
        elif what == "leave":
            self.tell("leave", seat=self._seat())
        elif what == "count":
            seat = self._seat()
            # A table that was corrected to a later instant is not open yet.
            held = counts[seat - 1] if (counts := self._guide.view.counts) else None
            if held is None or self._strange:
                held = rng.randint(0, 8)
            self.tell("count", seat=seat, cards=held)
        elif what == "day":
            self.tell("day", date=rng.choice(("2026-11-22", "2026-11-23")))
        else:
            self.tell(what)

    def race(self) -> None:
        """Bring down a hand at a limit after the newest card, a few presses at once, or a hand that takes too."""
        rng = self.rng
        newest = next((line for line in reversed(self.lines) if line.kind in ("card", "taken")), None)
        what = rng.random()
        if newest is None or what < 0.25:
            seat = self._seat()
            for _ in range(rng.randint(2, 4)):
                self._wait(20, 60, 150)
                self.tell("slap", seat=seat, t_error=rng.choice(self._slap_errors))
                self.tell("lift", at=self.t + 1, seat=seat)
        elif what < 0.6:
            limit = rng.choice((100, 150, 200, 300, 400, 2000)) * MS + rng.choice((-1, 0, 1, -2 * MS, 2 * MS))
            self.t = max(self.t, newest.t + limit)
            self.slap(near=newest.t + limit)
        elif what < 0.8:
            error = rng.choice(self._slap_errors)
            seat = self._seat()
            self.slap(near=self.t)
            self.tell("taken", at=self.t + rng.choice((0, 1, error, 20 * MS)), seat=seat, t_error=error)
        else:
            self.lay()
            self.tell("card", at=self.t + rng.choice((40, 99, 100, 101)) * MS, card=self._card_of(1), seat=self._last())

    def _last(self) -> int:
        """Return the seat that laid last."""
        cards = [line for line in self.lines if isinstance(line, Card) and line.seat is not None]
        return (cards[-1].seat or 1) if cards else self._seat()

    def go(self) -> None:
        """Let a player leave, or join: mostly one that the game waits for."""
        rng, view = self.rng, self._guide.view
        waited = [seat for seat in (view.turn, view.owner, self._last()) if seat is not None]
        if rng.random() < 0.6:
            self.tell("leave", seat=rng.choice(waited) if rng.random() < 0.6 else self._seat())
        else:
            seats = sorted(view.absent) or [min(8, self._seats + rng.choice((1, 2)))]
            self.tell("join", seat=rng.choice(seats))

    def contest(self) -> None:
        """Let players contest an action, perhaps again and again."""
        rng = self.rng
        acts = [ruling for ruling in self.rulings if ruling.kind in ("slap_won", "slap_false", "challenge_won", "pile")]
        against = acts[-1]["seat"] if acts and rng.random() < 0.8 else self._seat()
        about: dict[str, Any] = {"ruling": rng.choice(acts[-4:]).id} if acts and rng.random() < 0.3 else {}
        for _ in range(rng.choice((1, 1, 2))):
            self.tell("contest", by=[self._seat() for _ in range(rng.randint(1, 3))], against=against, **about)

    def too_late(self) -> None:
        """Report a hand too late; people may take it up."""
        line = self.tell("slap", at=self.t - self.rng.randint(0, 900) * MS, seat=self._seat(), late=True)
        if line is not None and self._amended and self.rng.random() < 0.5:
            self.tell("correct", line=line.id, take=True)

    # Amendments

    def answer(self) -> None:
        """Answer a question, a waiting one or an earlier one."""
        rng = self.rng
        waiting = [self.asked[name] for name in self._guide.view.questions if name in self.asked]
        asked = waiting if waiting and rng.random() < 0.85 else list(self.asked.values())
        if not asked:
            self.lay()
            return
        question = rng.choice(asked)
        self.tell("answer", to=question.id, value=self.answer_to(question))

    def answer_to(self, question: Ruling) -> Any:
        """Return a possible answer; seldom one that settles nothing."""
        rng = self.rng
        if rng.random() < 0.05:
            return rng.choice((None, "slap", 9, [], "17", True))
        ask = question["ask"]
        if ask in ("unreadable_card", "bottom_card", "impossible_card", "order_changed"):
            named = question.get("cards")
            return rng.choice(named if named and rng.random() < 0.5 else self._deck)
        if ask == "who_was_first":
            hands = [line.seat for line in self.lines if isinstance(line, Slap) and line.id in question["about"]]
            return rng.choice(hands or [self._seat()])
        if ask == "slap_or_card":
            return rng.choice(("slap", "card"))
        if ask == "slap_or_limit":
            return rng.choice(("before", "after"))
        if ask == "wild_rank":
            return rng.choice("23456789T")
        if ask == "recount" and rng.random() < 0.5:
            return rng.randint(0, 9)
        return self._seat()

    def correct(self) -> None:
        """Correct a line, overrule a verdict, or take one of these back."""
        rng = self.rng
        said = [line for line in self.lines if line.kind in ("answer", "correct")]
        verdicts = [
            ruling.id for ruling in self.rulings if ruling.kind in ("slap_won", "slap_false", "slap_void", "dead_card")
        ]
        how = rng.random()
        if said and how < 0.2:
            self.tell("correct", line=rng.choice(said).id, void=True)
            return
        if verdicts and how < 0.45:
            word: dict[str, Any] = rng.choice(
                (
                    {"void": True},
                    {"ruling": rng.choice(("slap_won", "slap_void", "slap_false"))},
                    {"seat": self._seat()},
                )
            )
            self.tell("correct", line=rng.choice(verdicts[-4:]), **word)
            return
        line = rng.choice(self.lines[-12:] if rng.random() < 0.8 else self.lines)
        self.tell("correct", line=line.id, **self.changed(line))

    def changed(self, line: Observation) -> dict[str, Any]:
        """Return a correction of a wrong line."""
        rng = self.rng
        if rng.random() < 0.15:
            return {"void": True}
        if rng.random() < 0.4:
            return {"fields": {"t": line.t + rng.choice((-3000, -400, -1, 1, 30, 700, 4000)) * MS}}
        if line.kind == "card":
            return rng.choice(({"card": rng.choice(self._deck)}, {"card": "??"}, {"seat": self._seat()}))
        if line.kind == "table" and rng.random() < 0.3:
            return rng.choice(({"rules": wild_rules(rng)}, {"dealer": self._seat()}))
        if line.kind in ("slap", "taken", "foul", "lift", "count", "placed", "join", "leave"):
            return {"seat": self._seat()}
        return {"void": True}


_Move = Callable[[WildGame], None]
_MOVES: Final[tuple[tuple[int, _Move], ...]] = (
    (55, WildGame.lay),
    (16, WildGame.slap),
    (12, WildGame.take),
    (4, WildGame.report),
    (3, WildGame.come_or_go),
    (6, WildGame.answer),
    (4, WildGame.correct),
)
_CROWDED_MOVES: Final[tuple[tuple[int, _Move], ...]] = (
    *_MOVES,
    (5, WildGame.race),
    (3, WildGame.go),
    (3, WildGame.contest),
    (1, WildGame.too_late),
)
_SAID: Final = (WildGame.answer, WildGame.correct)


def wild_game(seed: int, *, amended: bool = True, strange: bool = True, crowded: bool = False) -> list[Observation]:
    """Return the log of a generated game, its table first, all else by instant; without ticks."""
    game = WildGame(seed, amended=amended, strange=strange, crowded=crowded)
    game.play(game.rng.randint(10, 70))
    table, *rest = game.lines
    return [table, *sorted(rest, key=lambda line: line.t)]
