"""Commands against the adjudicator: a corrected log is ruled as if it had been right, and no command raises."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.control.commands import COMMAND_FIELDS, Command, parse_command
from referee.control.corrections import _HANDLERS, meet_command
from referee.control.facts import Accepted, Refused
from referee.control.offers import FOULS, WILD_RANKS
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher, make_handler
from referee.engine.adjudicator import LIVE_LOOKAHEAD
from referee.engine.log import decode_line, encode_observation
from referee.engine.observations import Answer, Card, Leave, Lift, Observation, Pause, Resume, Slap, Taken, Tick
from referee.rules.cards import RANKS
from tests.oracle.games import play
from tests.play import log
from tests.web.tables import SECOND, Table

APPLIANCE = Path(__file__).parents[1] / "web" / "appliance.jsonl"
"""The reports of camera and pads on forty cards: `referee demo --no-pace --seed 4 --max-cards 40 --log FILE`, rulings
and idle ticks left out. People's answers are left out below, because they answer questions about these very cards.
"""
CARDS = [rank + suit for rank in "A23456789TJQK" for suit in "shdc"]


@cache
def appliance() -> tuple[Observation, ...]:
    text = APPLIANCE.read_text(encoding="utf-8")
    lines = (decode_line(line, number) for number, line in enumerate(text.splitlines(), start=1))
    return tuple(line for line in lines if not isinstance(line, Answer))


@cache
def generated(seed: int) -> tuple[Observation, ...]:
    return tuple(line for line in play(seed, 40).observations if not isinstance(line, Tick | Pause | Resume))


def _desk(table: Table) -> CommandDispatcher:
    """Return the dispatcher that receives the page's commands."""
    return CommandDispatcher(Pairing(), make_handler(table.facts, table.name, lambda *_: None, lambda _: ""))


REPORTED = {"base": "classic", "on": ["F5", "F9", "F10", "S6", "S7", "S8", "N14", "M11", "E8", "P14"]}
"""House rules under which everything may be reported."""


def reported(seed: int) -> tuple[Observation, ...]:
    """Return the lines of a generated game, under its own rules or, for every other seed, under these.

    No player leaves: people report that, and could take it back.
    """
    first, *rest = (line for line in generated(seed) if not isinstance(line, Leave))
    return (replace(first, rules=REPORTED), *rest) if seed % 2 else (first, *rest)  # type: ignore[call-arg]


def damaged(lines: tuple[Observation, ...], rng: random.Random) -> tuple[list[Observation], int, dict[str, Any]] | None:
    """Return the same lines with one wrong, its place, and a person's correction of it; None where none is possible."""
    what = rng.choice(("card", "unread", "seat", "hand"))
    kind: type[Card | Slap] = Slap if what == "hand" else Card
    places = [n for n, line in enumerate(lines) if isinstance(line, kind) and getattr(line, "seat", None) is not None]
    if not places:
        return None
    at = rng.choice(places)
    line: Any = lines[at]
    seats = len(lines[0].seats)  # type: ignore[attr-defined]
    if what in ("card", "unread"):
        wrong = "??" if what == "unread" else rng.choice([card for card in CARDS if card != line.card])
        told, right = replace(line, card=wrong), {"card": line.card}
    else:
        told, right = replace(line, seat=line.seat % seats + 1), {"seat": line.seat}
    return [*lines[:at], told, *lines[at + 1 :]], at, right


def ended(table: Table, at: int) -> list[str]:
    table.settle(at)
    return table.finish().standing()


@pytest.mark.parametrize("seed", range(40))
def test_what_is_put_right_at_any_moment_is_ruled_as_if_it_had_been_told_right(seed: int) -> None:
    """A card, an unread card, a card's seat, a hand's seat; corrected at once, or any number of lines later."""
    rng = random.Random(seed)
    lines = generated(seed)
    made = damaged(lines, rng)
    if made is None:
        return
    wrong, at, right = made
    end = max(line.t for line in lines) + 60 * SECOND
    # Not between two lines of one instant, because a command then belongs to that instant.
    cuts = [n for n in range(at + 1, len(wrong)) if wrong[n - 1].t < wrong[n].t and wrong[n].t > wrong[at].t]
    cut = rng.choice(cuts) if cuts else len(wrong)
    table = Table(wrong[:cut])
    done = table.command("correct", line=lines[at].id, **right)
    assert isinstance(done, Accepted), done
    for line in wrong[cut:]:
        table.observe(line)
    stands = ended(table, end)
    if not table.asked("mend_pile"):  # reading 13: a pick-up or a lead that was seen stands as it happened
        assert stands == ended(Table(lines), end)
    assert not table.misfits()


def test_the_damage_of_that_test_does_change_rulings() -> None:
    """Else it would prove nothing."""
    changed = 0
    for seed in range(60):
        made = damaged(generated(seed), random.Random(seed))
        end = max(line.t for line in generated(seed)) + 60 * SECOND
        changed += made is not None and ended(Table(made[0]), end) != ended(Table(generated(seed)), end)
    assert changed > 30


@pytest.mark.parametrize("seed", range(12))
def test_an_appliances_log_is_put_right_and_undone(seed: int) -> None:
    """With its sensors' own promises: the correction gives the right rulings, undo the earlier ones."""
    rng = random.Random(seed)
    lines = appliance()
    end = max(line.t for line in lines) + 60 * SECOND
    made = damaged(lines, rng)
    assert made is not None
    wrong, at, right = made
    misread, table = Table(wrong, LIVE_LOOKAHEAD), Table(wrong, LIVE_LOOKAHEAD)
    assert isinstance(table.command("correct", line=lines[at].id, **right), Accepted)
    if rng.random() < 0.5:
        assert ended(table, end) == ended(Table(lines, LIVE_LOOKAHEAD), end)
        return
    assert isinstance(table.command("undo"), Accepted)
    assert ended(table, end) == ended(misread, end)


@pytest.mark.parametrize("seed", range(24))
def test_undo_of_any_word_restores_the_rulings(seed: int) -> None:
    """Void, overrule, answer, pause, count, correct: three of them, all taken back."""
    rng = random.Random(seed)
    lines = reported(seed)
    end = max(line.t for line in lines) + 60 * SECOND
    table, plain = Table(lines), Table(lines)
    table.settle()
    plain.settle()
    said = 0
    while said < 3:
        do, fields = sensible(rng, table)
        said += isinstance(table.command(do, **fields), Accepted)
        table.settle()
    for _ in range(said):
        assert isinstance(table.command("undo"), Accepted)
        table.settle()
    assert isinstance(table.command("undo"), Refused)
    assert ended(table, end + 60 * SECOND) == ended(plain, end + 60 * SECOND)
    assert not table.misfits()


def sensible(rng: random.Random, table: Table) -> tuple[str, dict[str, Any]]:
    """Return a command that people might give at this table."""
    lines = table.observations[1:]
    kind = rng.choice(
        (
            "correct", "correct", "seat", "void", "overrule", "overrule", "answer", "pause", "resume", "count", "foul",
            "contest", "say", "draw", "join", "leave", "missed_card", "missed_card", "missed_slap", "missed_slap",
        )
    )  # fmt: skip
    line = rng.choice([line for line in lines if isinstance(line, Card | Slap | Lift | Taken)])
    seat = rng.randint(1, len(table.view.names))
    if kind == "correct":
        return "correct", {
            "line": rng.choice([line.id for line in lines if isinstance(line, Card)]),
            "card": rng.choice(CARDS),
        }
    if kind == "seat":
        return "correct", {"line": line.id, "seat": seat}
    if kind == "void":
        return "void", {"line": line.id}
    if kind == "overrule":
        rulings = [ruling.id for ruling in table.in_force() if ruling.kind.startswith(("slap_", "dead_"))] or ["none@1"]
        how = rng.choice(({"seat": seat}, {"verdict": rng.choice(("slap_won", "slap_false", "slap_void", "in_turn"))}))
        return "overrule", {"ruling": rng.choice(rulings), **how}
    if kind == "answer":
        question = rng.choice(table.view.questions or ("question@none",))
        return "answer", {"question": question, "value": rng.choice((seat, rng.choice(CARDS), "slap"))}
    fields: dict[str, dict[str, Any]] = {
        "count": {"seat": seat, "cards": rng.randint(0, 52)},
        "foul": {"seat": seat, "foul": rng.choice(tuple(FOULS))},
        "contest": {"by": [seat], "against": seat % len(table.view.names) + 1},
        "say": {"seat": seat, "rank": rng.choice(RANKS)},
        "draw": {"rank": rng.choice(WILD_RANKS)},
        "join": {"seat": len(table.view.names) + 1},
        "leave": {"seat": seat},
        "missed_card": {"seat": seat, "card": rng.choice(CARDS), "after": line.id},
        "missed_slap": {"seat": seat, **({"on": line.id} if rng.random() < 0.8 else {})},
    }
    return kind, fields.get(kind, {})


@pytest.mark.parametrize("seed", range(24))
def test_what_is_accepted_fits_and_can_be_written_down(seed: int) -> None:
    """Twenty commands in the middle of a game and between its lines: none of them surprises the adjudicator."""
    rng = random.Random(seed)
    lines = sorted(reported(seed), key=lambda line: line.t)
    begun = rng.randint(2, len(lines) - 1)
    # As at a live table: rulings are handed out before people can comment on them.
    table = Table(lines[:begun], LIVE_LOOKAHEAD)
    table.settle(table.now)
    rest = [line for line in lines[begun:] if line.t > table.now + LIVE_LOOKAHEAD]
    accepted = 0
    for _ in range(20):
        do, fields = sensible(rng, table) if rng.random() < 0.8 else ("undo", {})
        done = table.command(do, **fields)
        if isinstance(done, Accepted):
            accepted += 1
            for said in done.observations:
                again = decode_line(encode_observation(said), 1)
                assert encode_observation(again) == encode_observation(said)
        for _ in range(rng.randint(0, 3)):
            # A line at an instant already promised would be late evidence, which is tested elsewhere.
            rest = [line for line in rest if line.t > table.now]
            for line in rest[:1]:
                table.observe(line)
        table.settle(table.now)
    assert accepted
    assert not table.misfits(), table.observations
    replayed = Table((decode_line(encode_observation(line), 1) for line in table.log), LIVE_LOOKAHEAD)
    end = table.now + 60 * SECOND
    assert ended(replayed, end) == ended(table, end)


def test_a_pause_voids_slaps_and_can_be_undone() -> None:
    """Between pause and resume no hand counts; without the pause they count again."""
    table = Table(log("1000 1:7h\n2000 2:7c\n"))
    assert isinstance(table.command("pause"), Accepted)
    assert isinstance(table.command("pause"), Refused)
    table.observe(Slap(t=3 * SECOND, id="s1", seat=3))
    table.settle()
    assert [(ruling.kind, ruling.get("reason")) for ruling in table.in_force() if ruling.kind.startswith("slap")] == [
        ("slap_void", "paused")
    ]
    assert isinstance(table.command("undo"), Accepted)
    table.settle()
    assert isinstance(table.command("resume"), Refused)
    table.finish()
    assert "slap_won" in [ruling.kind for ruling in table.in_force()]


def test_the_table_goes_on_after_resume() -> None:
    """A hand after it counts."""
    table = Table(log("1000 1:7h\n2000 2:7c\n"))
    table.command("pause")
    table.settle()
    assert isinstance(table.command("resume"), Accepted)
    table.observe(Slap(t=table.now + SECOND, id="s1", seat=3))
    table.settle()
    assert "slap_won" in [ruling.kind for ruling in table.finish().in_force()]


def test_counted_stacks_are_what_the_table_believes() -> None:
    """One, or all; an uncounted player keeps the believed number."""
    table = Table(log("1000 1:7h\n"))
    table.settle()
    assert table.view.counts == (17, 17, 17)
    assert isinstance(table.command("count", seat=2, cards=15), Accepted)
    table.settle()
    assert table.view.counts == (17, 15, 17)
    assert isinstance(table.command("recount", cards=[10, None, 20]), Accepted)
    table.settle()
    assert table.view.counts == (10, 15, 20)
    assert isinstance(table.command("undo", of="count-2"), Accepted)
    table.settle()
    assert table.view.counts == (17, 15, 17)
    elsewhere = table.command("undo", of="count-2")
    assert isinstance(elsewhere, Refused)
    assert "since" in elsewhere.words
    assert isinstance(table.command("undo", of="count-1"), Accepted)
    table.settle()
    assert table.view.counts == (17, 17, 17)


UNREAD = "1000 1:7h\n2000 2:??\n2500 slap 3\n"


def test_an_answer_that_fits_is_taken_and_undone() -> None:
    """The unread card is named, the slap on it is judged; without the answer it waits again."""
    table = Table(log(UNREAD))
    table.settle()
    asked = table.view.questions
    assert asked
    own = next(name for name in asked if "c2" in name)
    assert isinstance(table.command("answer", question=own, value=3), Refused)
    assert isinstance(table.command("answer", question=own, value="7c"), Accepted)
    table.settle()
    assert own not in table.view.questions
    assert isinstance(table.command("answer", question=own, value="7d"), Refused)
    assert table.view.owner == 3
    table.command("undo")
    table.settle()
    assert table.view.owner is None


def test_a_slaps_question_about_an_unread_card_names_the_card() -> None:
    """Answered at the slap's question, it is stored with the card."""
    table = Table(log(UNREAD))
    table.settle()
    slap = next(name for name in table.view.questions if "s1" in name)
    assert isinstance(table.command("answer", question=slap, value="7c"), Accepted)
    table.settle()
    assert table.view.owner == 3


def test_a_card_that_was_answered_is_corrected_by_another_answer() -> None:
    """An answer overrides its line, so the line's correction must not be lost behind it."""
    table = Table(log(UNREAD))
    table.settle()
    own = next(name for name in table.view.questions if "c2" in name)
    table.command("answer", question=own, value="8c")
    table.settle()
    assert table.view.owner is None
    assert isinstance(table.command("correct", line="c2", card="8c"), Refused)
    assert isinstance(table.command("correct", line="c2", card="7c"), Accepted)
    table.settle()
    assert table.view.owner == 3


def test_a_seat_that_was_answered_is_corrected_by_another_answer() -> None:
    """The same for the seat that laid a card."""
    table = Table(log("1000 1:??\n2000 3:8c\n"))
    table.settle()
    asked = next(ruling for ruling in table.in_force() if ruling.get("ask") == "who_played")
    assert isinstance(table.command("answer", question=asked.id, value=3), Accepted)
    table.settle()
    again = table.command("correct", line="c2", seat=2)
    assert isinstance(again, Accepted)
    assert [line.kind for line in again.observations] == ["answer"]
    end = table.now + SECOND
    right = Table(log("1000 1:??\n2000 3:8c\n"))
    right.settle()
    right.command("answer", question=asked.id, value=2)
    assert ended(table, end) == ended(right, end)


def test_a_card_that_spoke_against_memory_is_settled_by_its_correction() -> None:
    """The eye's other candidates are no longer asked about."""
    lines = log("1000 1:7h\n2000 2:7c\n")
    doubtful = replace(lines[2], card="??", candidates=(("7c", 0.6), ("8c", 0.4)))  # type: ignore[call-arg]
    table = Table([*lines[:2], doubtful])
    table.settle()
    assert isinstance(table.command("correct", line="c2", card="7c"), Accepted)
    end = table.now + SECOND
    assert ended(table, end) == ended(Table(lines), end)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"do": "correct", "line": "c9", "card": "7c"}, "no line"),
        ({"do": "correct", "line": "c2", "card": "8c"}, "says that already"),
        ({"do": "correct", "line": "c2", "seat": 7}, "no seat 7"),
        ({"do": "correct", "line": "s1", "card": "7c"}, "not a card"),
        ({"do": "correct", "line": "c2", "seat": True}, '"seat" must be'),
        ({"do": "answer", "question": "question@c1", "value": True}, '"value" must be'),
        ({"do": "keep", "game": 1, "keep": 1}, '"keep" must be'),
        ({"do": "correct", "line": "table", "seat": 1}, "not corrected here"),
        ({"do": "correct", "line": "c2"}, "say card or seat"),
        ({"do": "correct", "line": "c2", "card": "??"}, '"card" must be'),
        ({"do": "void", "line": "table"}, "not corrected here"),
        ({"do": "overrule", "ruling": "lead@table", "verdict": "slap_won"}, "follows from what the camera saw"),
        ({"do": "overrule", "ruling": "slap_false@s1", "verdict": "slap_false"}, "the referee ruled that already"),
        ({"do": "overrule", "ruling": "slap_false@s1", "seat": 2}, "only where a slap won"),
        ({"do": "overrule", "ruling": "slap_false@s1", "verdict": "in_turn"}, "dead card"),
        ({"do": "answer", "question": "question@c1", "value": 1}, "not open"),
        ({"do": "resume"}, "not paused"),
        ({"do": "undo"}, "nothing"),
        ({"do": "count", "seat": 1, "cards": 60}, "52"),
        ({"do": "recount", "cards": [1, 2]}, "2 counts for 3 seats"),
        ({"do": "recount", "cards": [None, None, None]}, "no stack"),
        ({"do": "recount", "cards": [50, 2, 1]}, "53 cards"),
        ({"do": "begin", "seats": ["A", "B"], "rules": "classic"}, "being played"),
        ({"do": "begin", "seats": ["A", "a"], "rules": "classic"}, "same name"),
        ({"do": "begin", "seats": ["A", " "], "rules": "classic"}, "needs a name"),
        ({"do": "begin", "seats": ["A", "B"], "rules": "clasic"}, "did you mean"),
        ({"do": "begin", "seats": ["A", "B"], "rules": {"on": ["C3a", "C3b"]}}, "C3a"),
        ({"do": "begin", "seats": ["A", "B"], "rules": "classic", "dealer": 3}, "no seat 3"),
        ({"do": "begin", "seats": ["A", "B"], "rules": {"on": ["x" * 9000]}}, '"rules" must be'),
        ({"do": "rematch"}, "being played"),
        ({"do": "remove", "game": 7, "confirm": True}, "being played"),
        ({"do": "power_off", "confirm": False}, '"confirm" must be true'),
        ({"do": "settings"}, "say volume"),
        ({"do": "settings", "quiet_from": "22:00"}, "both"),
        ({"do": "settings", "quiet_from": "22:00", "quiet_to": ""}, "both"),
        ({"do": "settings", "volume": 101}, '"volume"'),
        ({"do": "fly"}, "no such command"),
        ([], "JSON object"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(command: Any, words: str) -> None:
    table = Table(log("1000 1:7h\n2000 2:8c\n2300 slap 3\n"))
    table.settle()
    refused = _desk(table)(command)
    assert not refused["accepted"] and words in refused["words"]


def test_what_is_no_matter_of_the_log_comes_back_as_an_order() -> None:
    """A new game returns its players, a rematch its dealer."""
    table = Table(log("1000 1:7h\n"))
    begun = table.command("begin", seats=[" Ana ", "Ben  Bo"], rules="classic", abandon=True)
    assert isinstance(begun, Accepted)
    assert begun.order is not None
    assert begun.order.record() == {"do": "begin", "seats": ["Ana", "Ben Bo"], "rules": "classic", "dealer": 1}
    again = table.command("rematch", abandon=True)
    assert isinstance(again, Accepted)
    assert again.order is not None
    assert (again.order.do, again.order.get("dealer")) == ("begin", 1)
    for order in (
        {"do": "keep", "game": 7, "keep": True},
        {"do": "settings", "volume": 30},
        {"do": "power_off", "confirm": True},
    ):
        done = meet_command(parse_command(order), table.facts(), table.name)
        assert isinstance(done, Accepted)
        assert not done.observations
        assert done.order is not None
        assert done.order.record() == order


def test_corrections_that_the_house_rules_switch_off_are_refused() -> None:
    """K6 off."""
    table = Table(log("1000 1:7h\n", rules={"base": "classic", "off": ["K6"]}))
    table.settle()
    refused = table.command("correct", line="c1", card="8h")
    assert isinstance(refused, Refused)
    assert "do not allow corrections" in refused.words


def test_without_a_game_only_orders_are_taken() -> None:
    """A rematch has nothing to repeat."""
    for do in ("pause", "undo", "rematch"):
        assert isinstance(meet_command(parse_command({"do": do}), None, str), Refused)
    begin = parse_command({"do": "begin", "seats": ["A", "B"], "rules": "classic"})
    assert isinstance(meet_command(begin, None, str), Accepted)


def test_a_line_that_came_too_late_to_be_judged_cannot_be_corrected() -> None:
    """No ruling rests on it."""
    table = Table(log("1000 1:7h\n"))
    table.settle()
    table.observe(Card(t=2 * SECOND, id="late", card="8c", seat=2))
    refused = table.command("correct", line="late", card="7c")
    assert isinstance(refused, Refused)


def test_a_game_is_joined_to_commands() -> None:
    """Lines are observed, orders carried out or refused; a log that has ended takes no more."""
    table, orders = Table(log("1000 1:7h\n")), []

    def order(command: Command) -> str:
        orders.append(command.do)
        return "there is no such game" if command.do == "keep" else ""

    obey = make_handler(table.facts, table.name, table.observe, order)
    assert isinstance(obey(parse_command({"do": "pause"})), Accepted)
    assert isinstance(table.observations[-1], Pause)
    assert isinstance(obey(parse_command({"do": "settings", "volume": 5})), Accepted)
    refused = obey(parse_command({"do": "keep", "game": 3, "keep": True}))
    assert isinstance(refused, Refused)
    assert refused.words == "there is no such game"
    assert orders == ["settings", "keep"]
    table.finish()
    ended = obey(parse_command({"do": "undo"}))
    assert isinstance(ended, Refused)
    assert "ended" in ended.words


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(CARDS),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=8,
)
FIELDS = sorted({name for kind in COMMAND_FIELDS.values() for name in kind.model_fields})


@st.composite
def anything(draw: st.DrawFn) -> Any:
    """Return a command's shape with arbitrary values, valid and invalid."""
    known = draw(st.booleans())
    do = draw(st.sampled_from(sorted(COMMAND_FIELDS)))
    names = list(COMMAND_FIELDS[do].model_fields) if known else FIELDS
    values = JSON | st.sampled_from(
        ("c1", "c2", "s1", "slap_false@s1", "question@c2", "table", "classic", 1, 2, 3, True)
    )
    fields = draw(st.dictionaries(st.sampled_from(names), values, max_size=4)) if names else {}
    return {"do": do, **fields}


@pytest.fixture(scope="module")
def busy() -> Table:
    table = Table(log("1000 1:7h\n2000 2:??\n2300 slap 3\n3000 1:8c\n3300 slap 2\n"))
    table.settle()
    return table


@given(asked=anything() | JSON)
@settings(max_examples=150, deadline=None)
def test_no_command_ever_raises(busy: Table, asked: Any) -> None:
    """Every command is accepted or refused, in words."""
    assert _desk(busy)(asked)["words"]


def test_every_command_has_its_handler() -> None:
    assert list(_HANDLERS) == list(COMMAND_FIELDS)
