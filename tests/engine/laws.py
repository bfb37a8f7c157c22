"""The laws of the log, each as a check of one generated game: what it gives is empty where the law holds.

``python -m tests.engine.laws LAW:GAMES[:FIRST] ...`` tries many games and shows how far it is (`make laws`).
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from multiprocessing import Pool
from typing import Any, Final

from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.amended_log import UNUSED
from referee.engine.amendments import apply_correction
from referee.engine.event_queue import JudgedMoment
from referee.engine.log import encode_observation, find_replacements, from_fields
from referee.engine.observations import MAX_ERROR, Answer, Card, Correct, Observation, Slap, Table, Tick
from referee.engine.overrule import VERDICTS_INSTEAD
from referee.engine.replay import replay_log
from referee.engine.rulings import SLAP_KINDS, Ruling, base_id, encode_ruling
from referee.rules.cards import JOKERS, PACK
from referee.rules.house import read_house_rules
from referee.rules.rows import PATTERN_ROWS, RIVALS, SUIT_ROWS
from tests.rules.plain_table import NAMES
from tests.support.explained import explained_game
from tests.support.log_format import problems
from tests.support.strategies import told_late, with_ticks
from tests.support.wild_games import WildGame, wild_game


def replayed(lines: Sequence[Observation]) -> list[Ruling]:
    """What ``referee replay --all`` prints of a log.

    Raises:
        AssertionError: one of them is not as the log's format has it.
    """
    raw = "\n".join(map(encode_observation, lines)).encode()
    rulings = list(replay_log(BytesIO(raw), everything=True))
    assert not (wrong := problems(rulings, lines)), wrong
    return rulings


def lived_through(lines: Iterable[Observation], lookahead: int) -> list[Ruling]:
    """What a live referee rules of a log by its ticks alone, in the order in which it is sure."""
    referee = Adjudicator(lookahead_ns=lookahead)
    return [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()


def printed(rulings: Iterable[Ruling]) -> list[str]:
    """Rulings as lines of the log."""
    return [encode_ruling(ruling) for ruling in rulings]


def in_force(rulings: Sequence[Ruling]) -> list[Ruling]:
    """Rulings that none of the others replaces."""
    replaced = find_replacements(rulings)
    return [ruling for ruling in rulings if ruling.id not in replaced]


def earliest(line: Observation) -> int:
    """The first instant (ns) at which it may have happened."""
    return line.t - int(getattr(line, "t_error", 0))


def live_lookahead(lines: Iterable[Observation]) -> int:
    """How far past a line a live table must know everything, ns."""
    return max((getattr(line, "t_error", 0) for line in lines), default=0) or LIVE_LOOKAHEAD


def lived(rng: random.Random, lines: Sequence[Observation]) -> list[Observation]:
    """A log as a live table writes it: told late by some lag, a tick behind each line that promises what it can."""
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
    """What only one of two replays prints."""
    if list(one) == list(other):
        return []
    ours, theirs = set(one), set(other)
    apart = [f"- {line}" for line in one if line not in theirs] + [f"+ {line}" for line in other if line not in ours]
    return apart or ["the same rulings in another order"]


def order_of_arrival(seed: int) -> list[str]:
    """Law 2: any order of arrival and any ticks that keep their promise give the same rulings, byte for byte."""
    rng = random.Random(seed)
    table, *rest = wild_game(seed)
    once = replayed([table, *rest])
    final = sorted(printed(in_force(once)))
    for _ in range(3):
        shuffled = with_ticks(rng, told_late(rng, rest), sensors=False)
        if apart := differences(printed(once), printed(replayed([table, *shuffled]))):
            return ["shuffled:", *apart]
        made = lived_through([table, *shuffled], 2 * MAX_ERROR)
        if apart := differences(final, sorted(printed(in_force(made)))):
            return ["by its ticks:", *apart]
    made = lived_through(lived(rng, [table, *rest]), live_lookahead(rest))
    apart = differences(final, sorted(printed(in_force(made))))
    return ["live:", *apart] if apart else []


def answers_lost(seed: int) -> list[str]:
    """An answer given while play goes on is never lost, be its instant behind the watermark or not."""
    game = WildGame(seed, amended=False, strange=False)
    game.play(game.rng.randint(20, 60))
    rng = random.Random(seed)
    table, *rest = game.lines
    coming = lived(rng, [table, *sorted(rest, key=lambda line: line.t)])
    referee = Adjudicator(lookahead_ns=live_lookahead(rest))
    log: list[Observation] = []
    made: list[Ruling] = []
    given: dict[str, str] = {}
    asked: dict[str, Ruling] = {}
    for line in coming:
        log.append(line)
        made += referee.observe(line)
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
        given[answer.id] = question.id
        log.append(answer)
        made += referee.observe(answer)
    made += referee.finish()
    lost = [r for r in made if r.kind == "question" and r["ask"] == "mend_amendment" and r.because[0] in given]
    if lost:
        return [f"lost: {given[lost[0].because[0]]}", encode_ruling(lost[0]), *map(encode_observation, log)]
    # Of several answers to one question the last in time holds, whenever it was heard of.
    answers = sorted((one for one in log if isinstance(one, Answer) and one.id in given), key=lambda one: one.t)
    if unheard := _unheard(made, {given[one.id]: one.value for one in answers}):
        return [f"unheard: {unheard}", *map(encode_observation, log)]
    return differences(sorted(printed(in_force(replayed(log)))), sorted(printed(in_force(made))))


def _unheard(made: Sequence[Ruling], said: Mapping[str, Any]) -> list[str]:
    """Dead heats that stand, and of which people named a hand that then did not win."""
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
    """What rulings say, whatever people have said of them and they are called since."""
    kept = (ruling for ruling in rulings if ruling.kind not in ("corrected", "question"))
    return sorted(printed(replace(one, id=base_id(one.id), supersedes=()) for one in kept))


def _ruled(lines: Sequence[Observation]) -> list[Ruling]:
    """The rulings in force of a log that ends long after all that people said of it."""
    return in_force(replayed([*lines, Tick(t=_LONG_AFTER, id="end")]))


def _mended(rulings: Iterable[Ruling]) -> bool:
    """Whether something that was seen no longer fits what is ruled now, and stands as it happened (reading 13)."""
    return any(ruling.get("ask") in ("mend_pile", "mend_amendment") for ruling in rulings)


def _plain_game(seed: int) -> WildGame:
    game = WildGame(seed, amended=False, strange=False)
    game.play(game.rng.randint(10, 50))
    return game


def corrected(seed: int) -> list[str]:
    """A correction gives what the log gives that was told right at once."""
    game = _plain_game(seed)
    table, *rest = game.lines
    line = game.rng.choice(rest)
    unread = [one for one in rest if isinstance(one, Card) and one.card == "??"]
    right: Observation | None
    word: Answer | Correct
    if unread and game.rng.random() < 0.5:
        card = game.rng.choice(unread)
        line, right = card, replace(card, card=game.rng.choice(PACK))
        word = Answer(t=0, id="word", to=f"question@{card.id}", value=right.card)
    else:
        said = from_fields({"kind": "correct", "t": 0, "id": "word", "line": line.id, **game.changed(line)}, 1)
        assert isinstance(said, Correct)
        word, right = said, apply_correction(line, said)
    word = replace(word, t=game.rng.choice((game.t + 1, line.t + game.rng.randint(0, 3_000_000_000))))
    now = _ruled([table, *sorted([*rest, word], key=lambda one: one.t)])
    if right is not None and right.t < table.t:
        return [] if _mended(now) else ["a line is put before its table"]
    told = [one for one in rest if one is not line] + ([] if right is None else [right])
    meant = _ruled([table, *sorted(told, key=lambda one: one.t)])
    if _mended(now) or _mended(meant):
        return []
    apart = differences(_said(meant), _said(now))
    return [*apart, *map(encode_observation, (table, *rest, word))] if apart else []


def taken_up(seed: int) -> list[str]:
    """Late evidence judges nothing; taken up, it gives what the log gives that was told in time (reading 20)."""
    game = _plain_game(seed)
    table, *rest = game.lines
    rest.sort(key=lambda one: one.t)
    line = game.rng.choice(rest)
    others = [table, *(one for one in rest if one is not line), Tick(t=game.t + 1, id="tick")]
    if apart := differences(_said(_ruled(others)), _said(_ruled([*others, line]))):
        return ["late:", *apart, *map(encode_observation, (*others, line))]
    log = [*others, line, Correct(t=game.t + 2, id="word", line=line.id, take=True)]
    now, meant = _ruled(log), _ruled([table, *rest])
    if _mended(now) or _mended(meant):
        return []
    apart = differences(_said(meant), _said(now))
    return [*apart, *map(encode_observation, log)] if apart else []


def undone(seed: int) -> list[str]:
    """Whatever people said and then took back leaves no trace."""
    game = _plain_game(seed)
    table, *rest = game.lines
    before = _ruled([table, *sorted(rest, key=lambda one: one.t)])
    rng = game.rng
    words: list[Observation] = []
    for number in range(rng.randint(1, 3)):
        verdicts = [one for one in before if one.kind in VERDICTS_INSTEAD]
        questions = [one for one in before if one.kind == "question" and one["ask"] not in UNUSED]
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
    back = [Correct(t=game.t + 20 + n, id=f"back{n}", line=one.id, void=True) for n, one in enumerate(said)]
    after = _ruled([table, *sorted(rest, key=lambda one: one.t), *words, *back])
    if any(ruling.get("ask") == "mend_amendment" for ruling in after):
        return []
    apart = differences(_said(before), _said(after))
    return [*apart, *map(encode_observation, (table, *rest, *words, *back))] if apart else []


class _Scales:
    """Weighs the cards before each line is judged: what the stacks hold, what lies there, and what nobody can place."""

    def __init__(self, table: Table) -> None:
        self.wrong: list[str] = []
        self._whole: int | None = None
        self._dealt_whole = table.counts is None

    def __call__(self, moment: JudgedMoment) -> None:
        position = moment.state.position
        held = [count for count in position.counts if count is not None]
        stacks = zip(position.counts, position.known, strict=True)
        if any(count is not None and count < len(known) for count, known in stacks):
            self._complain(moment, "more is known of a stack than it holds")
        if min(held, default=0) < 0 or position.in_limbo < 0:
            self._complain(moment, "fewer than no cards")
        if len(held) < position.seats:
            return
        cards = sum(held) + len(position.pile) + position.in_limbo
        if self._whole is None:
            self._whole = position.packs * 52 + position.jokers if self._dealt_whole else cards
        if cards != self._whole:
            self._complain(moment, f"{cards} cards, not {self._whole}")

    def replace(self, names: Iterable[str]) -> None:
        """What is ruled again is weighed again."""

    def _complain(self, moment: JudgedMoment, words: str) -> None:
        position = moment.state.position
        places = f"{position.counts}, {len(position.pile)} lie there, {position.in_limbo} in limbo"
        self.wrong.append(f"before {moment.observation.id}: {words}: {places}")


def cards_leaked(seed: int) -> list[str]:
    """No card is lost or doubled wherever all counts are known."""
    lines = wild_game(seed, amended=seed % 2 == 1, strange=False)
    table = lines[0]
    assert isinstance(table, Table)
    # Who counts a stack anew, or plays by other rules, may say that there are other cards.
    told = {table.id, *(line.id for line in lines if line.kind == "count")}
    if len(told) > 1 or any(getattr(line, "line", "") in told for line in lines):
        return []
    scales = _Scales(table)
    referee = Adjudicator(witness=scales)
    made = [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()
    if any(ruling.get("ask") == "recount" for ruling in made):
        # A card came from a stack that held none.
        return [one for one in scales.wrong if "cards, not" not in one][:1]
    return scales.wrong[:1]


def unread_pile(seed: int) -> tuple[list[Observation], list[str]]:
    """A log whose pile has cards that nobody could read, and then a slap; with it, the cards that can be there."""
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
    return lines, deck


def _verdict(lines: Iterable[Observation]) -> str:
    """What the slap of a log comes to: the kind of its ruling, or what is asked about it."""
    referee = Adjudicator(early=False)
    made = [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()
    found = [one.get("ask", one.kind) for one in in_force(made) if one.because[0] == "s" and one.kind in _OF_A_SLAP]
    return str(found[-1]) if found else "nothing"


_OF_A_SLAP: Final = (*SLAP_KINDS, "question")
_MOST_POSSIBILITIES: Final = 400


def unread_verdict(seed: int) -> list[str]:
    """A slap on unread cards is ruled where all that they can be says the same, and else asked about (reading 10)."""
    lines, deck = unread_pile(seed)
    unread = {place: line for place, line in enumerate(lines) if isinstance(line, Card) and line.card == "??"}
    seen = Counter(line.card for line in lines if isinstance(line, Card))
    left = list((Counter(deck) - seen).elements())
    assert isinstance(lines[0], Table)
    rules = read_house_rules(lines[0].rules)
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
    return [f"{ruled}, not {wanted}: {outcomes}", *map(encode_observation, lines)]


def _draws(left: Sequence[str], count: int, signs: Mapping[str, str]) -> Iterable[tuple[str, ...]]:
    """Every way to draw cards from those that are left, as far as the rules can tell ways apart."""
    if not count:
        yield ()
        return
    for sign in dict.fromkeys(signs[card] for card in left):
        card = next(card for card in left if signs[card] == sign)
        rest = list(left)
        rest.remove(card)
        yield from ((card, *others) for others in _draws(rest, count - 1, signs))


def explanations_contradicted(seed: int) -> list[str]:
    """A ruling is explained by what it was made of, and its explanation says nothing against it (K5)."""
    explained = explained_game(wild_game(seed))
    return [f"{said.ruling.id}: {one}" for said, wrong in explained for one in wrong]


LAWS: Final[dict[str, Callable[[int], list[str]]]] = {
    "order": order_of_arrival,
    "answers": answers_lost,
    "corrected": corrected,
    "taken": taken_up,
    "undone": undone,
    "cards": cards_leaked,
    "unread": unread_verdict,
    "explained": explanations_contradicted,
}


def _try(case: tuple[str, int]) -> tuple[int, list[str]]:
    law, seed = case
    try:
        return seed, LAWS[law](seed)
    except Exception as bad:
        return seed, [f"raised: {bad!r}"]


def main(law: str, games: int, first: int = 0) -> int:
    """Try one law on many games; gives how many break it."""
    began, broken = time.monotonic(), 0
    with Pool() as pool:
        cases = ((law, seed) for seed in range(first, first + games))
        for tried, (seed, wrong) in enumerate(pool.imap_unordered(_try, cases, chunksize=4), start=1):
            if wrong:
                broken += 1
                print(f"{law}: game {seed} breaks it: {' | '.join(wrong[:3])[:400]}", flush=True)
            if tried % 250 == 0 or tried == games:
                seconds = time.monotonic() - began
                print(f"{law}: {tried} of {games} games, {broken} broken, {seconds:.0f} s", flush=True)
    return broken


if __name__ == "__main__":
    wanted = [part.split(":") for part in sys.argv[1:]]
    sys.exit(min(1, sum([main(law, *map(int, numbers)) for law, *numbers in wanted])))
