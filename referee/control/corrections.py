"""Turns a command into lines of the table log, an order, or a refusal in words. Pure: the game goes in as data.

Called in the main process for commands from the page (`referee.control.socket`) and from the pads. Nothing is changed
here. An accepted command becomes observations that are written like any other, so a corrected game replays as it was
corrected; a command that does not concern the log (a new game, the volume) becomes an order for the main process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.control.commands import Command
from referee.control.facts import Accepted, Denied, Facts, Namer, Outcome, Refused
from referee.control.offers import WILD_RANKS
from referee.control.reports import Reports
from referee.engine.amended_log import AMENDING, LATE, SAID, as_released, is_said
from referee.engine.gap import is_answer
from referee.engine.history import IGNORED
from referee.engine.observations import (
    Answer,
    Card,
    Count,
    Foul,
    Join,
    Leave,
    Lift,
    Observation,
    Pause,
    Placed,
    Resume,
    Say,
    Slap,
    Taken,
)
from referee.engine.overrule import find_overrulable
from referee.engine.rulings import Ruling, base_id, cause_of
from referee.rules.cards import UNREADABLE, is_card
from referee.rules.house import RulesError, read_house_rules
from referee.sentence import Sentence

UNSEEN: Final = Sentence("the camera does not see the table yet; the game goes on by itself when it does")
SEAT_QUESTIONS: Final = frozenset(("who_was_first", "who_played", "mend_pile"))
"""Questions whose answer is a seat."""
CARD_QUESTIONS: Final = frozenset(("unreadable_card", "bottom_card", "impossible_card", "order_changed"))
"""Questions whose answer is a card."""
_NOT_ANSWERED: Final = {
    "recount": Sentence("count the cards and say how many there are"),
    "mend_amendment": Sentence("it only says that a correction did not fit; say another one"),
    "nothing_to_contest": Sentence("it only says that there was nothing to contest"),
}
_COUNTED: Final = frozenset(("E7", "P16"))
"""Rules whose recount may be settled by naming the seat that holds the most."""
_SEATED: Final = (Card, Slap, Lift, Taken, Placed, Foul, Say, Count, Leave)
_SEEN: Final = (*_SEATED, Join, *SAID)


def takes_count(question: Ruling) -> bool:
    """Return whether naming the seat that holds the most may answer a question for counts (E7, P16)."""
    return question["ask"] == "recount" and not _COUNTED.isdisjoint(question.rule)


def meet_command(command: Command, facts: Facts | None, name: Namer) -> Outcome:
    """Return the outcome of a command. Never raises.

    Args:
        command: checked by `parse_command`.
        facts: the current game, or the last one; None if there is none.
        name: makes ids.
    """
    try:
        return _HANDLERS[command.do](CommandHandler(command, facts, name))
    except Denied as error:
        return Refused(error.sentence)
    except RulesError as error:
        return Refused(str(error))


class CommandHandler(Reports):
    """Handler of each command: reports and corrections of a game, and orders to the main process."""

    def _find_line(self, id_: str) -> Observation:
        """Return a line that people may correct, in its present form."""
        if not self._log.known(id_):
            raise Denied('there is no line "{line}" in this game that was judged', line=id_)
        line = self._log.now(id_)
        if line is None:
            raise Denied('"{line}" was struck out; undo that first', line=id_)
        if isinstance(line, AMENDING):
            raise Denied('"{line}" is something that people said: take it back with undo', line=id_)
        if isinstance(line, SAID) and not is_said(line):
            raise Denied('"{line}" is a {kind} of the referee itself and cannot be corrected', line=id_, kind=line.kind)
        if not isinstance(line, _SEEN):
            raise Denied('"{line}" is a {kind}, and is not corrected here', line=id_, kind=line.kind or "note")
        return line

    def correct(self) -> Accepted:
        """Correct a misread card, or a line's seat."""
        self._refuse_without_corrections()
        line = self._find_line(self._get("line"))
        card, seat = self._get("card"), self._get("seat")
        if card is not None and not isinstance(line, Card):
            raise Denied('"{line}" is a {kind}, not a card', line=line.id, kind=line.kind)
        if seat is not None and not isinstance(line, _SEATED):
            raise Denied('"{line}" is a {kind}, which has no seat', line=line.id, kind=line.kind)
        given: dict[str, Any] = {} if seat is None else {"seat": self._checked_seat(seat)}
        if card is not None:
            given["card"] = card
        words = _as_correction(line, given)
        if isinstance(line, Card) and (answers := self._other_answers(line, given)):
            return Accepted(words, answers)
        if all(getattr(line, field) == value for field, value in given.items()):
            raise Denied('"{line}" says that already', line=line.id)
        if card is not None and isinstance(line, Card) and line.candidates:
            # A person has looked, so the eye's alternatives no longer count.
            given["candidates"] = []
        return Accepted(words, (self._correction(line.id, extra=given),))

    def _other_answers(self, card: Card, given: Mapping[str, Any]) -> tuple[Answer, ...]:
        """Return new answers for a card that an earlier answer settled, since an answer outranks the line."""
        said: list[Answer] = []
        for field, value in given.items():
            kept = self._standing_answer(card, str if field == "card" else int)
            if kept is None:
                continue
            if kept.value == value:
                raise Denied('"{line}" says that already', line=card.id)
            said.append(self._answer_to(kept.to, value))
        if said and len(said) < len(given):
            raise Denied("correct the card first, then the seat")
        return tuple(said)

    def _standing_answer(self, card: Card, kind: type) -> Answer | None:
        """Return people's answer to a card's own question: the card (a string), or its seat (an int)."""
        found = (self._log.answer(f"question@{card.id}{number}") for number in ("", "/2", "/3"))
        return next((answer for answer in found if answer is not None and type(answer.value) is kind), None)

    def void(self) -> Accepted:
        """Strike out a line: it did not happen."""
        self._refuse_without_corrections()
        line = self._find_line(self._get("line"))
        words = Sentence("struck out: {kind}; the referee rules again on everything after it", kind=line.kind)
        return Accepted(words, (self._correction(line.id, void=True),))

    def overrule(self) -> Accepted:
        """Replace a ruling's verdict, or put another seat's hand before the winner's (K6)."""
        self._refuse_without_corrections()
        ruling = self._find_verdict(self._get("ruling"))
        slaps = [line for line in self._log.all_now() if isinstance(line, Slap)]
        on_record = ruling.id in self._log.rulings
        instead = find_overrulable(ruling, slaps, owner=self._facts.view.owner, is_on_record=on_record)
        if instead is None and on_record:
            raise Denied(
                "that ruling follows from what the camera saw: correct the card, the seat or the hand that it rests on"
            )
        if instead is None:
            raise Denied('there is no ruling "{name}" in force', name=ruling.id)
        seat, verdict, other = ruling["seat"], self._get("verdict"), self._get("seat")
        if verdict is not None and other is not None:
            raise Denied("say another verdict or another seat, not both")
        if ruling.kind == "dead_card" or verdict == "in_turn":
            if verdict not in instead.verdicts:
                raise Denied("you can only say of a dead card that it was in turn, and of no other ruling")
            words = Sentence("the card was in turn after all; the referee rules again on everything after it")
            return Accepted(words, (self._correction(base_id(ruling), void=True),))
        if verdict is not None:
            if verdict == ruling.kind:
                raise Denied("the referee ruled that already")
            if verdict not in instead.verdicts:
                raise Denied("no pile lay there that could be won")
            return Accepted(_as_verdict(verdict, seat), (self._correction(base_id(ruling), extra={"ruling": verdict}),))
        if ruling.kind != "slap_won":
            raise Denied("another hand can be called first only where a slap won")
        if self._checked_seat(other) == seat:
            raise Denied("the referee ruled that already")
        if other not in instead.seats:
            raise Denied("{seat} did not slap then", seat=other)
        words = Sentence("{seat} was first; the referee rules again on everything after it", seat=other)
        return Accepted(words, (self._correction(base_id(ruling), extra={"seat": other}),))

    def answer(self) -> Accepted:
        """Answer the referee's question: with a seat, a card, or which came first."""
        question, value, view = self._log.first_name(self._get("question")), self._get("value"), self._facts.view
        open_ = next(
            (open_question for open_question in view.questions if self._log.first_name(open_question) == question), None
        )
        if open_ is None:
            raise Denied("that question is not open; it may have been answered already (undo takes an answer back)")
        ruling = self._log.ruling(open_)
        if ruling is None:
            raise Denied("that question is not on record yet; try again in a moment")
        ask = str(ruling["ask"])
        if ask in _NOT_ANSWERED and not takes_count(ruling):
            raise Denied("that takes no answer: {why}", why=_NOT_ANSWERED[ask])
        about = [self._log.now(line) for line in ruling.get("about", ()) if self._log.known(line)]
        if ask in SEAT_QUESTIONS or ask == "recount":
            if type(value) is not int or not 1 <= value <= len(view.names):
                raise Denied("answer with a seat, 1 to {most}", most=len(view.names))
            slapped = sorted({hand.seat for hand in about if isinstance(hand, Slap | Taken) and hand.seat})
            if value in view.absent:
                raise Denied("{seat} has left already", seat=value)
            if ask == "who_was_first" and slapped and value not in slapped:
                raise Denied("answer with one of the seats that slapped: {seats}", seats=slapped)
        elif ask in CARD_QUESTIONS:
            if not (isinstance(value, str) and is_card(value) and value != UNREADABLE):
                raise Denied("answer with a card, such as 7h")
            cause = cause_of(ruling)
            if ask == "unreadable_card" and self._log.known(cause) and isinstance(self._log.now(cause), Slap):
                return Accepted(_as_answer(value), (self._correct_unread_card(about, value),))
        elif ask == "unseen_gap":
            if not is_answer(
                value,
                range(1, len(view.names) + 1),
                gone="cards" not in ruling.fields,
                passed="passed" in ruling.fields,
            ):
                raise Denied("answer with the cards that came between, such as 7h, or with the seat that took the pile")
        elif ask == "wild_rank":
            if not (isinstance(value, str) and len(value) == 1 and value in WILD_RANKS):
                raise Denied("answer with a number rank, 2 to 9 or T")
        elif ask == "slap_or_limit":
            if value not in ("before", "after"):
                raise Denied("answer before or after: on which side of the limit it was")
        elif ask == LATE:
            if value != IGNORED:
                raise Denied("answer ignore, which leaves it out; or take it up")
        elif value not in ("slap", "card"):
            raise Denied("answer slap or card: which came first")
        return Accepted(_as_answer(value), (self._answer_to(open_, value),))

    def _correct_unread_card(self, about: Sequence[Observation | None], value: str) -> Observation:
        """Turn the answer to a slap's question into a correction of the unread card that it depends on."""
        unread = [card for card in about if isinstance(card, Card) and card.card == UNREADABLE]
        cards = [card for card in unread if self._standing_answer(card, str) is None]
        if len(cards) != 1:
            raise Denied("this question concerns several cards; answer the question of each card")
        return self._correction(cards[0].id, extra={"card": value})

    def pause(self) -> Accepted:
        """Pause the table."""
        self._refuse_after_the_end()
        if self._log.pause.by_people:
            raise Denied("the table is paused already")
        pause = Pause(t=self._facts.t, id=self._name("pause"))
        return Accepted(Sentence("paused; slaps do not count until the game goes on"), (pause,))

    def resume(self) -> Accepted:
        """Resume the table, unless the camera holds it as well."""
        self._refuse_after_the_end()
        state = self._log.pause
        if not state.by_people:
            raise Denied(UNSEEN if state.by_camera else "the table is not paused")
        resume = Resume(t=self._facts.t, id=self._name("resume"))
        if state.by_camera:
            return Accepted(UNSEEN, (as_released(resume),))
        return Accepted(Sentence("the table goes on"), (resume,))

    def undo(self) -> Accepted:
        """Take back the last thing that people said."""
        self._refuse_without_corrections()
        acts = self._log.last_act
        if not acts:
            raise Denied("there is nothing left to take back")
        ids = [act.id for act in acts]
        if self._get("of") not in (None, *ids):
            raise Denied("the table has had another correction since; look again")
        words = Sentence("taken back: {kind}; the referee rules again on everything after it", kind=acts[0].kind)
        return Accepted(words, tuple(self._correction(id_, void=True) for id_ in ids))

    def count(self) -> Accepted:
        """Record the count of one stack."""
        self._refuse_count_after_the_end()
        seat, cards = self._checked_seat(self._get("seat")), self._get("cards")
        return Accepted(Sentence("{seat} holds {cards}", seat=seat, cards=cards), self._count_lines({seat: cards}))

    def recount(self) -> Accepted:
        """Record the counts of all stacks."""
        self._refuse_count_after_the_end()
        said: list[int | None] = self._get("cards")
        if len(said) != self._seats:
            raise Denied("{counts} counts for {places} seats", counts=len(said), places=self._seats)
        counted = {seat: cards for seat, cards in enumerate(said, start=1) if cards is not None}
        if not counted:
            raise Denied("no stack was counted")
        return Accepted(Sentence("stacks counted: {counts}", counts=len(counted)), self._count_lines(counted))

    def _refuse_count_after_the_end(self) -> None:
        """Refuse counts after the end of a game, unless they say who has won it (E7, P16)."""
        asked = (self._log.ruling(name) for name in self._facts.view.questions)
        if not any(ruling is not None and takes_count(ruling) for ruling in asked):
            self._refuse_after_the_end()

    def _count_lines(self, counted: Mapping[int, int]) -> tuple[Count, ...]:
        """Return the lines of these counts by seat; refuse more cards than the game has."""
        if (table := self._log.table) is not None:
            rules = table.house
            packs = table.packs if table.packs is not None else rules.number("S2")
            jokers = table.jokers if table.jokers is not None else rules.number("S3") if rules.has("S3") else 0
            cards, there_are = sum(counted.values()), 52 * packs + jokers
            if cards > there_are:
                raise Denied("that is {cards}; this game has {all}", cards=cards, all=there_are)
        return tuple(
            Count(t=self._facts.t, id=self._name("count"), seat=seat, cards=cards) for seat, cards in counted.items()
        )

    # Orders to the main process

    def begin(self) -> Accepted:
        """Order a new game."""
        names = [" ".join(name.split()) for name in self._get("seats")]
        if not all(names):
            raise Denied("every seat needs a name")
        if len({name.casefold() for name in names}) < len(names):
            raise Denied("two seats have the same name; the voice could not tell them apart")
        dealer = self._get("dealer", 1)
        if dealer > len(names):
            raise Denied("there is no seat {number} to deal; {many} play", number=dealer, many=len(names))
        read_house_rules(self._get("rules"))
        return self._begin_game(names, self._get("rules"), dealer)

    def rematch(self) -> Accepted:
        """Order a new game with the same players and rules; the next seat deals."""
        table = self._known.log.table if self._known is not None else None
        if table is None:
            raise Denied("there is no earlier game to play again")
        return self._begin_game(list(table.seats), table.rules, table.dealer % len(table.seats) + 1)

    def _begin_game(self, names: list[str], rules: Any, dealer: int) -> Accepted:
        if self._is_playing and not self._get("abandon"):
            raise Denied("a game is being played; confirm that the referee is to break it off")
        order = Command("begin", {"seats": names, "rules": rules, "dealer": dealer})
        return Accepted(Sentence("a new game for {names}", names=names), order=order)

    def keep(self) -> Accepted:
        """Order that a game is never removed to make room, or may be again."""
        game = self._get("game")
        if self._get("keep"):
            return Accepted(Sentence("game {game} is kept for good", game=game), order=self._command)
        return Accepted(Sentence("game {game} may make room for others again", game=game), order=self._command)

    def remove(self) -> Accepted:
        """Order the removal of a game from the record."""
        game = self._get("game")
        if self._is_playing and self._facts.game == game:
            raise Denied("that game is being played")
        return Accepted(Sentence("game {game} is removed", game=game), order=self._command)

    def power_off(self) -> Accepted:
        """Order the machine switched off."""
        return Accepted(Sentence("the referee finishes the record and switches off"), order=self._command)

    def seat_code(self) -> Accepted:
        """Order a new code for a seat."""
        words = Sentence("{seat}'s code is replaced; scan the new one at the table", seat=self._get("seat"))
        return Accepted(words, order=self._command)

    def settings(self) -> Accepted:
        """Order a change of the voice's settings."""
        if ("quiet_from" in self._command.fields) != ("quiet_to" in self._command.fields):
            raise Denied("give both the start and the end of the quiet hours")
        if bool(self._get("quiet_from")) != bool(self._get("quiet_to")):
            raise Denied("give both the start and the end of the quiet hours, or leave both empty")
        return Accepted(Sentence("set"), order=self._command)


_HANDLERS: Final[Mapping[str, Callable[[CommandHandler], Accepted]]] = {
    "correct": CommandHandler.correct,
    "void": CommandHandler.void,
    "overrule": CommandHandler.overrule,
    "answer": CommandHandler.answer,
    "pause": CommandHandler.pause,
    "resume": CommandHandler.resume,
    "undo": CommandHandler.undo,
    "count": CommandHandler.count,
    "recount": CommandHandler.recount,
    "contest": CommandHandler.contest,
    "foul": CommandHandler.foul,
    "say": CommandHandler.say,
    "draw": CommandHandler.draw,
    "join": CommandHandler.join,
    "leave": CommandHandler.leave,
    "missed_card": CommandHandler.missed_card,
    "missed_slap": CommandHandler.missed_slap,
    "mark": CommandHandler.mark,
    "take_up": CommandHandler.take_up,
    "begin": CommandHandler.begin,
    "rematch": CommandHandler.rematch,
    "keep": CommandHandler.keep,
    "remove": CommandHandler.remove,
    "power_off": CommandHandler.power_off,
    "seat_code": CommandHandler.seat_code,
    "settings": CommandHandler.settings,
}
"""The handler of each of `referee.control.commands.COMMAND_FIELDS`."""


def _as_correction(line: Observation, given: Mapping[str, Any]) -> Sentence:
    card, seat = given.get("card"), given.get("seat")
    if card is None:
        return Sentence(
            "the {kind} is {seat}'s; the referee rules again on everything after it", kind=line.kind, seat=given["seat"]
        )
    if seat is None:
        return Sentence("the card is the {card}; the referee rules again on everything after it", card=card)
    return Sentence(
        "the card is the {card} and {seat}'s; the referee rules again on everything after it", card=card, seat=seat
    )


def _as_verdict(verdict: str, seat: int) -> Sentence:
    if verdict == "slap_won":
        return Sentence("{seat}: the slap was good; the referee rules again on everything after it", seat=seat)
    if verdict == "slap_false":
        return Sentence("{seat}: the slap was false; the referee rules again on everything after it", seat=seat)
    return Sentence("{seat}: the slap is void; the referee rules again on everything after it", seat=seat)


def _as_answer(value: object) -> Sentence:
    if isinstance(value, int):
        return Sentence("answered: {seat}", seat=value)
    if value == "slap":
        return Sentence("answered: the slap came first")
    if value == "card":
        return Sentence("answered: the card came first")
    if value == IGNORED:
        return Sentence("answered: it is left out")
    if value == "nothing":
        return Sentence("answered: nothing else was laid")
    if value == "unknown":
        return Sentence("answered: the players do not know")
    if len(cards := str(value).split()) > 1:
        return Sentence("answered: {cards}", cards=cards)
    if len(str(value)) == 1:
        return Sentence("the wild rank is {rank}", rank=str(value))
    return Sentence("answered: {card}", card=str(value))
