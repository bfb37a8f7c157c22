"""The laws of the log, each with games to try it on and a check of one game, which is empty where the law holds.

``make laws N=20000 SEED=7`` tries many games; a game that breaks a law is reduced to the few lines that still break it,
and printed as a scenario.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from multiprocessing import Pool
from typing import Any, Final, NamedTuple

from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.amended_log import UNUSED
from referee.engine.amendments import apply_correction
from referee.engine.log import encode_observation, find_replacements, from_fields
from referee.engine.observations import (
    MAX_ERROR,
    Answer,
    Card,
    Correct,
    Join,
    Leave,
    Lift,
    LogError,
    Observation,
    Slap,
    Table,
    Tick,
)
from referee.engine.overrule import VERDICTS_INSTEAD
from referee.engine.replay import replay_log
from referee.engine.rulings import SLAP_KINDS, Key, Ruling, encode_ruling, place_of, unamended
from referee.rules.cards import JOKERS, PACK
from referee.rules.house import read_house_rules
from referee.rules.rows import PATTERN_ROWS, RIVALS, SUIT_ROWS
from tests.engine.limits import near_a_limit, ruled_on_a_wrong_side
from tests.engine.moments import TableLaws
from tests.engine.printed import printed_amiss, replaced_amiss
from tests.engine.settling import settle_all
from tests.engine.shrinking import as_scenario, shrunk
from tests.rules.plain_table import NAMES
from tests.support.explained import explained_game
from tests.support.log_format import problems
from tests.support.strategies import told_late, with_ticks
from tests.support.wild_games import WildGame, wild_game


def replayed(lines: Sequence[Observation]) -> list[Ruling]:
    """Return the output of ``referee replay --all`` for a log.

    Raises:
        AssertionError: one of the rulings does not have the log's format.
    """
    raw = "\n".join(map(encode_observation, lines)).encode()
    rulings = list(replay_log(BytesIO(raw), everything=True))
    assert not (wrong := problems(rulings, lines)), wrong
    return rulings


def lived_through(lines: Iterable[Observation], lookahead: int) -> list[Ruling]:
    """Return a live referee's rulings on a log by its ticks alone, in the order in which they become sure.

    The cards of a seat may be told before it joins (reading 23), also where only a correction lets bystanders join.
    """
    referee = Adjudicator(lookahead_ns=lookahead, all_join=True)
    return [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()


def printed(rulings: Iterable[Ruling]) -> list[str]:
    """Return rulings as lines of the log."""
    return [encode_ruling(ruling) for ruling in rulings]


def in_force(rulings: Sequence[Ruling]) -> list[Ruling]:
    """Return the rulings that are not replaced by another."""
    replaced = find_replacements(rulings)
    return [ruling for ruling in rulings if ruling.id not in replaced]


def earliest(line: Observation) -> int:
    """Return the earliest possible instant (ns) of a line."""
    return line.t - int(getattr(line, "t_error", 0))


def live_lookahead(lines: Iterable[Observation]) -> int:
    """Return how far past a line a live table must know everything, ns."""
    return max((getattr(line, "t_error", 0) for line in lines), default=0) or LIVE_LOOKAHEAD


def lived(rng: random.Random, lines: Sequence[Observation]) -> list[Observation]:
    """Return a log as a live table writes it: delayed, with a tick behind each line that covers all it can."""
    table, *rest = lines
    lag = rng.choice((0, 20, 300)) * 1_000_000
    known = sorted(rest, key=lambda line: line.t + rng.randint(0, lag))
    told: list[Observation] = [table]
    horizon = max((line.t for line in known), default=0)
    for number, line in reversed(list(enumerate(known))):
        told[1:1] = [line, Tick(t=horizon, id=f"tick{number}")]
        horizon = min(horizon, earliest(line) - 1)
    return told


def differences(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the lines that only one of two replays prints."""
    if list(one) == list(other):
        return []
    ours, theirs = set(one), set(other)
    apart = [f"- {line}" for line in one if line not in theirs] + [f"+ {line}" for line in other if line not in ours]
    return apart or ["the same rulings in another order"]


def _wild(seed: int, crowded: bool) -> list[Observation]:
    return wild_game(seed, crowded=crowded)


def order_of_arrival(lines: Sequence[Observation], seed: int) -> list[str]:
    """Law 2: any order of arrival and any ticks that keep their promise give the same rulings, byte for byte."""
    rng = random.Random(seed)
    table, *rest = lines
    once = replayed([table, *rest])
    final = sorted(printed(in_force(once)))
    for _ in range(3):
        shuffled = with_ticks(rng, told_late(rng, rest), sensors=False)
        if apart := differences(printed(once), printed(replayed([table, *shuffled]))):
            return ["shuffled:", *apart]
        made = lived_through([table, *shuffled], 2 * MAX_ERROR)
        if apart := differences(final, sorted(printed(in_force(made)))):
            return ["by its ticks:", *apart]
    referee = Adjudicator(lookahead_ns=live_lookahead(rest), all_join=True)
    batches = [referee.observe(line) for line in lived(rng, [table, *rest])] + [referee.finish()]
    apart = differences(final, sorted(printed(in_force([ruling for batch in batches for ruling in batch]))))
    if apart:
        return ["live:", *apart]
    return [f"{broken.law} ({broken.rows}): {broken.words}" for broken in replaced_amiss(batches)]


def answered_game(seed: int, crowded: bool) -> list[Observation]:
    """Return a log as a live table writes it, in which people answer questions while play goes on."""
    game = WildGame(seed, amended=False, strange=False, crowded=crowded)
    game.play(game.rng.randint(20, 60))
    rng = random.Random(seed)
    table, *rest = game.lines
    coming = lived(rng, [table, *sorted(rest, key=lambda line: line.t)])
    referee = Adjudicator(lookahead_ns=live_lookahead(rest))
    log: list[Observation] = []
    asked: dict[str, Ruling] = {}
    for line in coming:
        log.append(line)
        referee.observe(line)
        asked |= {ruling.id: ruling for ruling in referee.take_early() if ruling.kind == "question"}
        waiting = [asked[name] for name in referee.view.questions if name in asked]
        waiting = [question for question in waiting if question["ask"] not in UNUSED]
        if not waiting or rng.random() > 0.3:
            continue
        question = rng.choice(waiting)
        t = rng.choice(
            (line.t + 1, referee.watermark, referee.watermark + 1, referee.watermark - rng.randint(0, 10**9))
        )
        answer = Answer(t=t, id=f"answer{len(log)}", to=question.id, value=game.answer_to(question))
        if _names_no_player(question, answer.value, referee):
            continue
        log.append(answer)
        referee.observe(answer)
    return log


def answers_lost(log: Sequence[Observation], _: int) -> list[str]:
    """An answer given while play goes on is never lost, be its instant behind the watermark or not."""
    referee = Adjudicator(lookahead_ns=live_lookahead(log[1:]))
    assert isinstance(log[0], Table)
    may_leave = log[0].house.has("E8")
    made: list[Ruling] = []
    given: dict[str, str] = {}
    effective: dict[str, Key] = {}
    for line in log:
        if isinstance(line, Answer) and line.id.startswith("answer"):
            view = referee.view
            if line.to not in view.questions:
                return []
            # An answer behind the watermark takes effect at the first instant that is still open.
            at = max(line.t, referee.watermark + 1)
            # Who leaves at that instant, or in a game that an answer opens again, is no absentee yet (E8).
            absent = view.absent | {
                observation.seat
                for observation in log
                if isinstance(observation, Leave) and may_leave and observation.t <= at
            }
            if type(line.value) is not int or (1 <= line.value <= len(view.names) and line.value not in absent):
                # Another seat is no answer, nor is 0, and is refused.
                given[line.id] = line.to
                effective[line.id] = place_of(replace(line, t=at))
        made += referee.observe(line)
    made += referee.finish()
    lost = [r for r in made if r.kind == "question" and r["ask"] == "mend_amendment" and r.because[0] in given]
    if lost:
        return [f"lost: {given[lost[0].because[0]]}", encode_ruling(lost[0])]
    # The last answer in time holds, whenever it was reported.
    answers = sorted(
        (observation for observation in log if isinstance(observation, Answer) and observation.id in given),
        key=lambda a: effective[a.id],
    )
    if unheard := _unheard(made, {given[answer.id]: answer.value for answer in answers}):
        return [f"unheard: {unheard}"]
    return differences(sorted(printed(in_force(replayed(log)))), sorted(printed(in_force(made))))


def _names_no_player(question: Ruling, value: Any, referee: Adjudicator) -> bool:
    """Whether an answer names an unoccupied seat, or one outside the question: it is refused."""
    if question["ask"] not in ("who_was_first", "who_played", "mend_pile") or type(value) is not int:
        return False
    view = referee.view
    return not 1 <= value <= len(view.names) or value in view.absent


def _unheard(made: Sequence[Ruling], said: Mapping[str, Any]) -> list[str]:
    """Return standing dead heats whose named hand did not win."""
    stand = in_force(made)
    seats = {cause: ruling["seat"] for ruling in stand if ruling.kind == "slap_won" for cause in ruling.because}
    heats = {ruling.because[0]: ruling["seats"] for ruling in stand if ruling.kind == "dead_heat"}
    named = {
        question.id: (said[question.id], heats.get(question.because[0], []), seats.get(question.because[0]))
        for question in stand
        if question.get("ask") == "who_was_first" and "M2" in question.rule and question.id in said
    }
    return [name for name, (seat, tied, winner) in named.items() if seat in tied and seat != winner]


_LONG_AFTER: Final = 2**60


def _said(rulings: Iterable[Ruling]) -> list[str]:
    """Return the contents of rulings, without traces of amendments in their names."""
    kept = (ruling for ruling in rulings if ruling.kind not in ("corrected", "question"))
    return sorted(printed(unamended(ruling) for ruling in kept))


def _ruled(lines: Sequence[Observation]) -> list[Ruling]:
    """Return the rulings in force of a log that ends long after all amendments."""
    return in_force(replayed([*lines, Tick(t=_LONG_AFTER, id="end")]))


def _mended(rulings: Iterable[Ruling]) -> bool:
    """Whether an observed action no longer fits the present rulings, and stands as it happened (reading 13)."""
    return any(ruling.get("ask") in ("mend_pile", "mend_amendment") for ruling in rulings)


def _plain_game(seed: int, crowded: bool) -> WildGame:
    game = WildGame(seed, amended=False, strange=False, crowded=crowded)
    game.play(game.rng.randint(10, 50))
    if len(game.lines) == 1:
        # A correction needs something to correct.
        game.tell("lift", seat=1)
    return game


def corrected_game(seed: int, crowded: bool) -> list[Observation]:
    """A log with one correction, or the answer to one unread card: its last line, ``word``."""
    game = _plain_game(seed, crowded)
    _, *rest = game.lines
    line = game.rng.choice(rest)
    unread = [card for card in rest if isinstance(card, Card) and card.card == "??"]
    word: Answer | Correct
    if unread and game.rng.random() < 0.5:
        line = game.rng.choice(unread)
        word = Answer(t=0, id="word", to=f"question@{line.id}", value=game.rng.choice(PACK))
    else:
        said = from_fields({"kind": "correct", "t": 0, "id": "word", "line": line.id, **game.changed(line)}, 1)
        assert isinstance(said, Correct)
        word = said
    word = replace(word, t=game.rng.choice((game.t + 1, line.t + game.rng.randint(0, 3_000_000_000))))
    return [*game.lines, word]


def corrected(lines: Sequence[Observation], _: int) -> list[str]:
    """A correction gives the same result as a log that was right from the beginning."""
    table, *rest, word = lines
    if not isinstance(word, Answer | Correct):
        return []
    about = word.to.partition("@")[2] if isinstance(word, Answer) else word.line
    line = next((other for other in rest if other.id == about), None)
    if line is None:
        return []
    right: Observation | None
    if isinstance(word, Correct):
        right = apply_correction(line, word)
    else:
        assert isinstance(line, Card)
        right = replace(line, card=word.value)
    now = _ruled([table, *sorted([*rest, word], key=lambda observation: observation.t)])
    if right is not None and right.t < table.t <= word.t:
        return [] if _mended(now) else ["a line is put before its table"]
    told = [other for other in rest if other is not line] + ([] if right is None else [right])
    try:
        meant = _ruled([table, *sorted(told, key=lambda observation: observation.t)])
    except LogError:
        # Without its join, a log that names the seat is refused (M11).
        return [] if isinstance(line, Join) else ["a log that was right is refused"]
    if _mended(now) or _mended(meant):
        return []
    return differences(_said(meant), _said(now))


def late_game(seed: int, crowded: bool) -> list[Observation]:
    """A log with one line that comes too late, and is taken up by its last line."""
    game = _plain_game(seed, crowded)
    table, *rest = game.lines
    rest.sort(key=lambda observation: observation.t)
    # A lift is never late evidence: it counts from when it came (reading 20).
    line = game.rng.choice([each for each in rest if not isinstance(each, Lift)] or rest)
    # A hand may come down behind the game's last instant.
    reported = max(game.t, *(other.t for other in rest)) + 1
    others = [table, *(other for other in rest if other is not line), Tick(t=reported, id="tick")]
    if isinstance(line, Slap):
        # A line that its device reported late is late in any log.
        line = replace(line, late=False)
    return [*others, line, Correct(t=reported + 1, id="word", line=line.id, take=True)]


def taken_up(lines: Sequence[Observation], _: int) -> list[str]:
    """Late evidence judges nothing; taken up, it gives the result of a log that was reported in time (reading 20)."""
    *others, line, word = lines
    if not (isinstance(word, Correct) and word.take and word.line == line.id and isinstance(others[-1], Tick)):
        return []
    # Without its join, a log that names the seat is refused (M11).
    if not isinstance(line, Join) and (apart := differences(_said(_ruled(others)), _said(_ruled([*others, line])))):
        return ["late:", *apart]
    table, *rest = others[:-1]
    now, meant = _ruled(lines), _ruled([table, *sorted([*rest, line], key=lambda observation: observation.t)])
    if _mended(now) or _mended(meant):
        return []
    return differences(_said(meant), _said(now))


def undone_game(seed: int, crowded: bool) -> list[Observation]:
    """A log in which people say up to three things, and take each of them back."""
    game = _plain_game(seed, crowded)
    table, *rest = game.lines
    before = _ruled([table, *sorted(rest, key=lambda observation: observation.t)])
    rng = game.rng
    words: list[Observation] = []
    for number in range(rng.randint(1, 3)):
        verdicts = [ruling for ruling in before if ruling.kind in VERDICTS_INSTEAD]
        questions = [ruling for ruling in before if ruling.kind == "question" and ruling["ask"] not in UNUSED]
        fields: dict[str, Any]
        if verdicts and rng.random() < 0.4:
            verdict = rng.choice(verdicts)
            fields = {"kind": "correct", "line": verdict.id, "void": True}
            if verdict.kind != "dead_card":
                fields = {"kind": "correct", "line": verdict.id, "ruling": rng.choice(SLAP_KINDS)}
        elif questions and rng.random() < 0.5:
            question = rng.choice(questions)
            fields = {"kind": "answer", "to": question.id, "value": game.answer_to(question)}
        else:
            line = rng.choice(rest)
            fields = {"kind": "correct", "line": line.id, **game.changed(line)}
        words.append(from_fields({"t": game.t + 10 + number, "id": f"word{number}", **fields}, 1))
    said = list(words)
    rng.shuffle(said)
    back = [
        Correct(t=game.t + 20 + n, id=f"back{n}", line=correction.id, void=True) for n, correction in enumerate(said)
    ]
    return [table, *sorted(rest, key=lambda observation: observation.t), *words, *back]


def undone(lines: Sequence[Observation], _: int) -> list[str]:
    """Amendments that were taken back leave no trace."""
    back = [line for line in lines if isinstance(line, Correct) and line.id.startswith("back")]
    words = [line for line in lines if line.id.startswith("word")]
    if {correct.line for correct in back} != {word.id for word in words}:
        return []
    plain = [line for line in lines if line not in back and line not in words]
    before, after = _ruled(plain), _ruled(lines)
    if any(ruling.get("ask") == "mend_amendment" for ruling in after):
        return []
    return differences(_said(before), _said(after))


def unread_pile(seed: int, _: bool) -> list[Observation]:
    """Return a log whose pile has unread cards, and then a slap."""
    rng = random.Random(seed)
    quiet = rng.random() < 0.7
    patterns = sorted(PATTERN_ROWS - {"P16b", "P13a", "P13b", "P13c", "C3b", "P5b", "N15", "N14", "P15"})
    said: dict[str, Any] = {
        "base": "slapjack" if quiet else "classic",
        "on": rng.sample(patterns, k=rng.randint(1, 4)),
        "off": ["P18"] if rng.random() < 0.7 else [],
        "set": {
            "P16": "slap",
            "P14": rng.choice("23456789T"),
            "P10a": rng.choice((2, 3)),
            "P19": {"x": "rank(1) = rank(3)"},
        },
    }
    said["off"] = [row for row in said["off"] if row not in said["on"]]
    if rng.random() < 0.3:
        said["on"].append(rng.choice(("P13a", "P13b", "P13c", "P5b")))
        said["on"] = [row for row in said["on"] if row not in RIVALS.get(said["on"][-1], ())]
    if rng.random() < 0.3:
        said["set"]["S3"] = rng.choice((1, 2, 3))
    jokers = said["set"].get("S3", 0)
    deck = [*PACK, *(JOKERS[n % 2] for n in range(jokers))]
    seats = rng.choice((2, 2, 3, 4))
    if rng.random() < 0.5:
        rng.shuffle(deck)
    else:
        ranks = rng.sample("A23456789TJQK", k=4)
        deck.sort(key=lambda card: (card[0] not in ranks, rng.random()))
    long = quiet and rng.random() < 0.5
    laid = len(deck) - rng.randint(2 * seats, 2 * seats + 3) if long else rng.randint(1, 9)
    unread = min(laid, rng.choice((1, 1, 1, 2, 2, 3)))
    hidden = range(laid - unread, laid) if not quiet or rng.random() < 0.4 else rng.sample(range(laid), k=unread)
    table = {"kind": "table", "t": 0, "id": "table", "seats": list(NAMES[:seats]), "dealer": seats, "rules": said}
    lines = [from_fields(table, 1)]
    guide = Adjudicator(lookahead_ns=0)
    guide.observe(lines[0])
    guide.promise(0)
    for place in range(laid):
        t = (place + 1) * 1_000_000_000
        card = "??" if place in hidden else deck[place]
        line = Card(t=t, id=f"c{place}", card=card, seat=guide.view.turn)
        if guide.view.turn is None:
            break
        lines.append(line)
        guide.observe(line)
        guide.promise(t)
    lines.append(Slap(t=lines[-1].t + 400_000_000, id="s", seat=rng.randint(1, seats), t_error=0))
    return lines


def _verdict(lines: Iterable[Observation]) -> str:
    """Return the outcome of a log's slap: the kind of its ruling, or of the question about it."""
    referee = Adjudicator(early=False)
    made = [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()
    found = [
        ruling.get("ask", ruling.kind)
        for ruling in in_force(made)
        if ruling.because[0] == "s" and ruling.kind in _OF_A_SLAP
    ]
    return str(found[-1]) if found else "nothing"


_OF_A_SLAP: Final = (*SLAP_KINDS, "question")
_MOST_POSSIBILITIES: Final = 400


def unread_verdict(lines: Sequence[Observation], _: int) -> list[str]:
    """A slap on unread cards is ruled where all their readings agree, and else asked about (reading 10)."""
    unread = {place: line for place, line in enumerate(lines) if isinstance(line, Card) and line.card == "??"}
    seen = Counter(line.card for line in lines if isinstance(line, Card))
    assert isinstance(lines[0], Table)
    rules = read_house_rules(lines[0].rules)
    jokers = rules.number("S3") if rules.has("S3") else 0
    deck = [*PACK, *(JOKERS[n % 2] for n in range(jokers))]
    left = list((Counter(deck) - seen).elements())
    signs = {card: card[0] if SUIT_ROWS.isdisjoint(rules.on) and card[0] != "X" else card for card in left}
    chosen = {tuple(signs[card] for card in cards): cards for cards in _draws(left, len(unread), signs)}
    if len(chosen) > _MOST_POSSIBILITIES:
        return []
    outcomes: dict[str, tuple[str, ...]] = {}
    for cards in chosen.values():
        named = list(lines)
        for (place, line), card in zip(unread.items(), cards, strict=True):
            named[place] = replace(line, card=card)
        outcomes.setdefault(_verdict(named), cards)
    ruled = _verdict(lines)
    wanted = next(iter(outcomes)) if len(outcomes) == 1 else "unreadable_card"
    if ruled == wanted:
        return []
    return [f"{ruled}, not {wanted}: {outcomes}"]


def _draws(left: Sequence[str], count: int, signs: Mapping[str, str]) -> Iterable[tuple[str, ...]]:
    """Yield every way to draw cards from the rest, as far as the rules distinguish them."""
    if not count:
        yield ()
        return
    for sign in dict.fromkeys(signs[card] for card in left):
        card = next(card for card in left if signs[card] == sign)
        rest = list(left)
        rest.remove(card)
        yield from ((card, *others) for others in _draws(rest, count - 1, signs))


def explanations_contradicted(lines: Sequence[Observation], _: int) -> list[str]:
    """A ruling is explained by its own facts, and its explanation does not contradict it (K5)."""
    explained = explained_game(list(lines))
    return [f"{said.ruling.id}: {fault}" for said, wrong in explained for fault in wrong]


def table_laws(lines: Sequence[Observation], _: int) -> list[str]:
    """Hold every moment of every game (`tests.engine.moments`), and its printed output, against the laws."""
    laws = TableLaws()
    referee = Adjudicator(witness=laws, stream=False)
    for line in lines:
        referee.observe(line)
    referee.finish()
    broken = [*laws.broken, *printed_amiss(replayed(lines))]
    return [f"{broken_law.law} ({broken_law.rows}): {broken_law.words}" for broken_law in broken]


def questions_stay(lines: Sequence[Observation], seed: int) -> list[str]:
    """Every question can be answered at the page, and then goes; no answer brings endless new questions (K6)."""
    return settle_all(lines, random.Random(seed))


class Law(NamedTuple):
    """A law of the log: the rows that state it, games to try it on, and its check, which receives the game's number."""

    rows: str
    make: Callable[[int, bool], list[Observation]]
    check: Callable[[Sequence[Observation], int], list[str]]

    def __call__(self, seed: int, *, crowded: bool = True) -> list[str]:
        """Return the breaches in one game."""
        return self.check(self.make(seed, crowded), seed)


def _plain(seed: int, crowded: bool) -> list[Observation]:
    return wild_game(seed, amended=False, strange=False, crowded=crowded)


LAWS: Final[Mapping[str, Law]] = {
    "table": Law("E1 E8 M11 C1 C6a F6a N8 S2 K2", _wild, table_laws),
    "plain": Law("E1 E8 M11 C1 C6a F6a N8 S2 K2", _plain, table_laws),
    "limits": Law("K9 M6 M9 M15 N12 N13 E2 E7 F9", near_a_limit, ruled_on_a_wrong_side),
    "questions": Law("K6", _plain, questions_stay),
    "order": Law("K1", _wild, order_of_arrival),
    "answers": Law("K6", answered_game, answers_lost),
    "corrected": Law("K6", corrected_game, corrected),
    "taken": Law("K1", late_game, taken_up),
    "undone": Law("K6", undone_game, undone),
    "unread": Law("K2 P5b", unread_pile, unread_verdict),
    "explained": Law("K5", _wild, explanations_contradicted),
}
_IN_TURN: Final = ("order", "answers", "corrected", "taken", "undone", "unread", "explained", "questions", "limits")
"""Laws that take longer: each game of `make laws` is tried by one of them, and by the laws of the table."""


_NO_CRASH: Final = "no crash"
"""The law that every game can be made and judged, whatever else is tried on it."""


def _try(case: tuple[str, int]) -> tuple[str, int, list[str]]:
    law, game = case
    return law, game, _check(LAWS[law], lambda: LAWS[law].make(game, True), game)


def _check(law: Law, make: Callable[[], Sequence[Observation]], game: int) -> list[str]:
    try:
        return law.check(make(), game)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return [f"{_NO_CRASH}, but {type(error).__name__} is raised in {place.name}: {error}"]


def sort_of(wrong: Sequence[str]) -> str:
    """Return the common part of similar failures: the words before the first colon, without instants and names."""
    said = wrong[0].split(":")[0] if wrong[0].endswith(":") is False else " ".join(wrong[:2])
    return re.sub(r"[0-9]+", "N", said)[:100]


def main(arguments: Sequence[str] | None = None) -> int:
    """Try laws on many games; return 1 where one is broken."""
    parser = argparse.ArgumentParser(prog="make laws", description=__doc__)
    parser.add_argument("laws", nargs="*", metavar="LAW", help=f"of {', '.join(LAWS)}; none: all of them in turn")
    parser.add_argument("--games", type=int, default=2000, help="how many games (2000)")
    parser.add_argument("--seed", type=int, default=1, help="other games for another seed (1)")
    parser.add_argument("--game", type=int, help="one game, by the number under which it was reported")
    parser.add_argument("--whole", action="store_true", help="do not cut down what breaks a law")
    parser.add_argument("--each", type=int, default=1, help="how many games of each kind of failure are cut down (1)")
    parser.add_argument("--processes", type=int, help="how many at once (one for each core)")
    said = parser.parse_args(arguments)
    if unknown := set(said.laws) - set(LAWS):
        parser.error(f"there is no law {', '.join(sorted(unknown))}")
    first = said.seed * 1_000_000
    games = range(first, first + said.games) if said.game is None else [said.game]
    cases = [
        (law, game)
        for game in games
        for law in said.laws or ("plain" if game % 2 else "table", _IN_TURN[game % len(_IN_TURN)])
    ]
    began, kinds, broken = time.monotonic(), Counter[str](), set[int]()
    with Pool(said.processes) as pool:
        for tried, (law, game, wrong) in enumerate(pool.imap_unordered(_try, cases, chunksize=4), start=1):
            if wrong:
                broken.add(game)
                kind = f"{law}: {sort_of(wrong)}"
                print(f"broken: game {game}, {kind}", flush=True)
                kinds[kind] += 1
                if kinds[kind] <= said.each:
                    print(_reported(law, game, wrong, whole=said.whole), flush=True)
            if tried % 500 == 0 or tried == len(cases):
                seconds = time.monotonic() - began
                print(f"{tried} of {len(cases)} trials, {len(broken)} games broken, {seconds:.0f} s", flush=True)
    for kind, times in kinds.most_common():
        print(f"{times:6} {kind}")
    print(f"{len(games)} games, {len(broken)} broken")
    return min(1, len(broken))


def _reported(name: str, game: int, wrong: Sequence[str], *, whole: bool) -> str:
    """Return a failure for debugging: law, rows, symptom, and the shortest log that still shows it."""
    law = LAWS[name]
    head = f"\n{name} (rows {law.rows}): game {game} breaks it"
    try:
        lines = law.make(game, True)
    except Exception:
        # There is no log to cut down.
        return "\n".join([head, *(f"  {fault}" for fault in wrong), ""])
    if not whole:
        kind = sort_of(wrong)
        lines = shrunk(lines, lambda some: bool(found := _check(law, lambda: some, game)) and sort_of(found) == kind)
        wrong = _check(law, lambda: lines, game)
    return "\n".join([head, *(f"  {fault[:300]}" for fault in wrong[:4]), as_scenario(lines), ""])


if __name__ == "__main__":
    sys.exit(main())
