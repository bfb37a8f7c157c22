"""A log as it comes in: the requirements on its table, when rulings are sure, and which lines come too late."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from io import BytesIO
from itertools import permutations
from typing import Any

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import encode_observation, from_fields, to_fields
from referee.engine.observations import MAX_ERROR, OBSERVATION_KINDS, Card, LogError, Observation, Other, Slap
from referee.engine.replay import outline_log, replay_log
from referee.engine.rulings import RULING_ORDER as LIFE_ORDER
from referee.engine.rulings import Ruling, base_id, cause_of, encode_ruling, end_of, place_of, printing_order
from tests.play import MS, brief, log, rule
from tests.support.log_format import RULINGS

TABLE: dict[str, Any] = {"kind": "table", "t": 0, "id": "table", "seats": ["Ana", "Ben", "Cho"], "dealer": 3}


def line(kind: str, ms: float, name: str = "", **fields: Any) -> Observation:
    return from_fields({"kind": kind, "t": round(ms * MS), "id": name or f"{kind}{ms}", **fields}, 1)


def told(referee: Adjudicator, *lines: Observation) -> list[str]:
    """Return ids of the rulings that became final with these lines."""
    return [ruling.id for line in lines for ruling in referee.observe(line)]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dealer": 4}, '"dealer" must be a seat from 1 to 3'),
        ({"counts": [5, 5]}, '"counts" must hold one number for each of the 3 seats'),
        ({"counts": [5, 5, 5, 5]}, '"counts" must hold one number for each of the 3 seats'),
        ({"counts": [0, 0, 0]}, '"counts" leaves no seat with cards to lead'),
        ({"rules": "clasic"}, 'did you mean "classic"'),
        ({"rules": {"on": ["S4d"], "set": {"S4d": [4]}}}, "row S4d"),
        ({"rules": {"on": ["S4d"], "set": {"S4d": [1, 2, 3]}}}, "row S4d"),
        ({"rules": {"on": ["S4d"], "set": {"S4d": [1]}}, "seats": ["Ana", "Ben"], "dealer": 1}, "row S4d"),
    ],
)
def test_a_table_that_cannot_be_played_at_is_refused(fields: dict[str, Any], words: str) -> None:
    """The log can then begin with a better one."""
    referee = Adjudicator()
    with pytest.raises(LogError, match=words):
        referee.observe(from_fields({**TABLE, **fields}, 1))
    referee.observe(from_fields(TABLE, 1))
    assert "lead@table" in {ruling.id for ruling in referee.finish()}


@pytest.mark.parametrize("counts", [[0, 0, 1], [None, 0, 0], [1, None, 5]])
def test_one_seat_with_cards_can_lead(counts: list[int | None]) -> None:
    """An uncounted stack holds some."""
    referee = Adjudicator()
    referee.observe(from_fields({**TABLE, "counts": counts}, 1))
    assert [ruling["seat"] for ruling in referee.finish() if ruling.kind == "lead"] == [3 if counts[0] == 0 else 1]


def test_a_log_has_one_table_and_it_comes_first() -> None:
    with pytest.raises(LogError, match="the first line of a log is its table, not a card"):
        Adjudicator().observe(line("card", 1, card="7h"))
    with pytest.raises(LogError, match="the first line of a log is its table, not a line"):
        Adjudicator().observe(Other(t=0, id="o1", name="odd"))
    referee = Adjudicator()
    referee.observe(from_fields(TABLE, 1))
    with pytest.raises(LogError, match="a second table"):
        referee.observe(from_fields(TABLE, 1))
    with pytest.raises(LogError, match="this card came before its table"):
        referee.observe(line("card", -1, card="7h"))
    assert told(referee, line("slap", -1, seat=2)) == [], "a pad may be pressed while the table is laid"
    referee.finish()
    assert referee.finish() == []
    with pytest.raises(LogError, match="this log has ended"):
        referee.observe(line("card", 1, card="7h"))


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("card", {"card": "7h"}),
        ("taken", {}),
        ("count", {"cards": 3}),
        ("foul", {"foul": "peek"}),
        ("say", {"rank": "7"}),
    ],
)
def test_a_seat_that_the_table_has_not_is_refused_where_nobody_may_join(kind: str, fields: dict[str, Any]) -> None:
    """A pad may be pressed by a bystander; any other line needs a player, whose joining may be reported later (M11)."""
    referee = Adjudicator()
    referee.observe(from_fields(TABLE, 1))
    with pytest.raises(LogError, match='"seat" must be 1 to 3: this table has 3 seats'):
        referee.observe(line(kind, 1, seat=4, **fields))
    referee.observe(line("slap", 2, seat=4))
    referee.observe(line("lift", 3, seat=4))
    open_to_all = Adjudicator()
    open_to_all.observe(from_fields({**TABLE, "rules": {"on": ["M11"]}}, 1))
    open_to_all.observe(line(kind, 5, seat=4, **fields))
    open_to_all.observe(line("join", 4, seat=4))


def test_a_stored_log_may_tell_of_a_seat_before_it_joins_but_it_must_join() -> None:
    """Law 2 for ``join``: it may be reported after its seat's lines; the first line of an unknown seat is named."""
    lines = [from_fields({**TABLE, "rules": {"on": ["M11"]}}, 1), line("count", 5, seat=5, cards=3)]
    outline_log(enumerate([*lines, line("join", 4, seat=5)], start=1))
    for strangers in ([], [line("join", 4, seat=4)], [line("lift", 4, seat=5), line("slap", 4, seat=5)]):
        with pytest.raises(LogError, match='line 2: "seat" must be 1 to 3: this table has 3 seats'):
            outline_log(enumerate([*lines, *strangers], start=1))


@pytest.mark.parametrize("rules", ["classic", {"on": ["M11"]}])
def test_a_join_is_judged_alike_wherever_it_stands_in_the_file(rules: Any) -> None:
    """Law 2; without M11 there is no joining, and the question about the card is asked in every order."""
    table = from_fields({**TABLE, "rules": rules}, 1)
    lines = [
        line("card", 1, "c1", card="9h", seat=1),
        line("join", 2, seat=5),
        line("card", 3, "c2", card="9d", seat=5),
    ]
    made = {
        "\n".join(encode_ruling(ruling) for ruling in replay_log(BytesIO(encoded.encode())))
        for order in permutations(lines)
        for encoded in ["\n".join(map(encode_observation, (table, *order)))]
    }
    assert len(made) == 1


def test_a_table_that_is_later_than_its_cards_is_refused() -> None:
    """The line of the table is named, and the card's; other lines may be older, and a card of the same instant."""
    table = from_fields({**TABLE, "t": 10 * MS}, 1)
    early = [line("tick", 1), line("slap", 9, seat=1), line("card", 10, card="7h")]
    outline_log(enumerate([table, *early], start=1))
    with pytest.raises(LogError, match=r'^line 1: this "table" .* is later than the card of line 5'):
        outline_log(enumerate([table, *early, line("card", 9.9, card="8h")], start=1))


def test_a_ruling_is_sure_once_every_sensor_has_told_that_far() -> None:
    """One sensor's tick covers its own lines only; the slower one decides."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    both = from_fields({**TABLE, "sensors": ["camera", "pads"]}, 1)
    assert told(referee, both, line("card", 1000, "c1", card="7h", seat=1)) == []
    assert told(referee, line("tick", 2000, sensor="camera")) == []
    assert referee.watermark < 0
    assert told(referee, line("tick", 500, sensor="pads")) == ["lead@table", "turn@table"]
    assert referee.watermark == 500 * MS
    assert told(referee, line("tick", 1009, sensor="pads")) == []
    assert told(referee, line("tick", 1010, sensor="pads")) == ["turn@c1"]
    assert told(referee, line("tick", 900, sensor="pads")) == []
    assert referee.watermark == 1010 * MS


def test_a_tick_of_no_sensor_is_of_all() -> None:
    referee = Adjudicator(lookahead_ns=10 * MS)
    assert told(referee, from_fields(TABLE, 1), line("card", 1000, "c1", card="7h", seat=1)) == []
    assert told(referee, line("tick", 1500, sensor="camera")) == []
    assert told(referee, line("tick", 1010)) == ["lead@table", "turn@table", "turn@c1"]


def test_unless_said_otherwise_the_largest_error_is_waited_for_twice() -> None:
    """K9: a line may be as far off as another's error allows, in either direction."""
    referee = Adjudicator()
    told(referee, from_fields(TABLE, 1), line("card", 1000, "c1", card="7h", seat=1))
    judged_at = 1000 * MS + 2 * MAX_ERROR
    assert "turn@c1" not in {ruling.id for ruling in referee.promise(judged_at - 1)}
    assert "turn@c1" in {ruling.id for ruling in referee.promise(judged_at)}


def test_a_slap_that_won_is_final_when_its_pile_is_gone() -> None:
    """Later hands still count for its margin; no ruling is given before it."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    lines = log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2400 slap 1\n2900 tick")
    assert told(referee, *lines) == ["lead@table", "turn@table", "turn@c1", "turn@c2"]
    assert told(referee, *log("3000 taken 3\n3020 tick")[1:]) == ["slap_won@s1", "slap_void@s2", "pile@t1", "lead@t1"]


def test_late_evidence_is_told_at_once_and_judged_never() -> None:
    """K1: at the very instant up to which all was reported, it is late; a nanosecond after that it is not."""
    for ms, late in ((2000, True), (2000.000001, False)):
        referee = Adjudicator(lookahead_ns=10 * MS)
        told(referee, *log("1000 1:7h\n2000 tick"))
        made = told(referee, line("card", ms, "late", card="7c", seat=2))
        assert made == (["question@late"] if late else [])
        assert ("turn@late" in {ruling.id for ruling in referee.finish()}) is not late


def test_a_hand_that_lifts_is_never_asked_about_however_late_it_comes() -> None:
    """K1: what came late is asked about where it can change a ruling; it takes effect once it has come."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    told(referee, *log("1000 1:7h\n1100 slap 3\n2000 tick"))
    assert told(referee, line("lift", 1500, "up", seat=3), Other(t=1500 * MS, id="note", name="pad_stuck")) == []
    assert not [ruling for ruling in referee.finish() if ruling.kind == "question"]


def test_a_hand_whose_device_cannot_be_believed_is_late_however_soon_it_comes() -> None:
    """It is asked about, never judged, and judged once people take it up."""
    text = "1000 1:7h\n2000 2:7c\n2400 slap 1"
    hand = line("slap", 2300, "doubted", seat=3, late=True)
    assert from_fields(to_fields(hand), 1) == hand
    *lines, slap = log(text)
    for order in ([hand, slap], [slap, hand]):
        referee = Adjudicator(lookahead_ns=10 * MS)
        told(referee, *lines, *order)
        assert "doubted" not in {
            name for ruling in referee.take_early() for name in ruling.because if ruling.kind != "question"
        }
        rulings = {ruling.id: ruling for ruling in (*referee.observe(line("tick", 3000)), *referee.finish())}
        assert rulings["slap_won@s1"]["seat"] == 1 and rulings["question@doubted"].t == 2300 * MS
    taken = Adjudicator(lookahead_ns=10 * MS)
    told(taken, *lines, hand, slap, line("tick", 3000), line("correct", 3100, "up", line="doubted", take=True))
    assert [ruling["seat"] for ruling in taken.finish() if ruling.kind == "slap_won"] == [3]


def test_what_people_say_late_counts_from_then_on() -> None:
    """An answer or a correction is never too late: it stands after all earlier reports."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    lines = log("1000 1:7h\n2000 2:8c\n2300 slap 3\n3000 tick")
    assert "slap_false@s1" in told(referee, *lines)
    told(referee, line("correct", 500, "x1", line="c2", card="7c"))
    final = referee.finish()
    assert "slap_won@s1" in {ruling.id for ruling in final}
    assert "slap_false@s1" in {name for ruling in final for name in ruling.supersedes}


def test_without_history_nothing_can_be_amended() -> None:
    referee = Adjudicator(history=False)
    referee.observe(from_fields(TABLE, 1))
    for amendment in (line("answer", 5, to="question@s1", value=1), line("correct", 5, line="c1", void=True)):
        with pytest.raises(LogError, match="needs the history that was switched off"):
            referee.observe(amendment)


def _early(referee: Adjudicator, lines: Iterable[Observation]) -> list[Ruling]:
    for observation in lines:
        referee.observe(observation)
    return referee.take_early()


def test_lights_and_voice_hear_of_each_ruling_once_and_of_a_margin_when_it_is_known() -> None:
    """As soon as it is decided, in the order of deciding."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    first = _early(referee, log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2500 tick"))
    assert [ruling.id for ruling in first][-3:] == ["turn@c1", "turn@c2", "slap_won@s1"]
    assert referee.won_so_far == first[-1]
    second = _early(referee, [line("slap", 2600, "s2", seat=1), line("tick", 2700)])
    assert [ruling.id for ruling in second] == ["slap_void@s2", "slap_won@s1"]
    third = _early(referee, [line("slap", 2710, "s3", seat=2), line("tick", 2800)])
    assert [ruling.id for ruling in third] == ["slap_void@s3"]
    so_far = referee.won_so_far
    assert so_far is not None and [runner["seat"] for runner in so_far["runners_up"]] == [1, 2]
    then = _early(referee, [line("taken", 3000, "t1", seat=3), line("tick", 3500)])
    assert [ruling.id for ruling in then] == ["pile@t1", "lead@t1"]
    won = [ruling for ruling in (*first, *second) if ruling.kind == "slap_won"]
    assert [(ruling.window, ruling["margin"]) for ruling in won] == [("open", None), ("closed", 300 * MS)]
    assert _early(referee, [line("tick", 3600)]) == []


def test_a_pause_makes_slaps_void_until_the_table_goes_on() -> None:
    """Only slaps are void: cards that are laid meanwhile lie there."""
    game = "1000 1:7h\n1500 pause\n2000 2:7c\n2300 slap 3\n2400 lift 3\n"
    assert brief(rule(log(game)), "slap_won", "slap_void") == ["slap_void@s1 seat=3 reason=paused"]
    again = rule(log(game + "2500 resume\n2600 slap 3"))
    assert brief(again, "slap_won", "slap_void") == [
        "slap_void@s1 seat=3 reason=paused",
        "slap_won@s2 seat=3 decided_by=time",
    ]
    assert next(ruling for ruling in again if ruling.kind == "slap_void").rule == ("K6",)


def test_a_bystander_joins_from_any_free_pad() -> None:
    """M11: once, up to eight; the pads between stay unused, and without the row no player joins."""
    rules = {"base": "classic", "on": ["M11"]}
    table = {**TABLE, "rules": rules, "counts": [5, 5, 5]}
    double = [line("card", 1000, "c1", card="7h", seat=1), line("card", 2000, "c2", card="7c", seat=2)]

    def slapped(seat: int, *joins: Observation, said: Any = rules) -> list[str]:
        referee = Adjudicator()
        for observation in (
            from_fields({**table, "rules": said}, 1),
            *joins,
            *double,
            line("slap", 2300, "s1", seat=seat),
        ):
            referee.observe(observation)
        return brief(referee.finish(), "slap_won", "slap_void", "slapped_in")

    won = ["slap_won@s1 seat=4 decided_by=time", "slapped_in@s1 seat=4"]
    assert slapped(4, line("join", 100, seat=4)) == won
    assert slapped(5, line("join", 100, seat=5)) == [text.replace("4", "5") for text in won]
    assert slapped(4, line("join", 100, seat=5)) == ["slap_void@s1 seat=4 reason=not_playing"]
    assert slapped(4, line("join", 100, seat=4), said="classic") == ["slap_void@s1 seat=4 reason=not_playing"]
    assert slapped(4, line("join", 100, seat=4), line("join", 200, "again", seat=4)) == won
    assert slapped(4, line("join", 100, seat=2)) == ["slap_void@s1 seat=4 reason=not_playing"]


RULING_ORDER = (
    "dead_heat", "slap_won slap_false slap_void", "burn strike give locked_out", "dead_card foul contested",
    "challenge chance challenge_moves challenge_off challenge_won", "out", "pile", "slapped_in",
    "won lost drawn repeated", "lead", "turn", "question", "remind corrected",
)  # fmt: skip


def test_at_one_instant_rulings_stand_in_the_order_of_a_tables_life() -> None:
    """In the order of the log's format; a dead heat before the win that settles it."""
    said = {kind: place for place, kinds in enumerate(RULING_ORDER) for kind in kinds.split()}
    assert said == LIFE_ORDER
    assert set(said) == set(RULINGS)


def test_at_one_instant_lines_are_judged_by_their_kind_then_seat_then_id() -> None:
    """Settings first, the table goes on before it stops, a card before slaps; people's words come last."""
    kinds = [
        "table", "day", "draw", "count", "join", "leave", "resume", "pause", "say", "gap", "card", "slap", "lift",
        "placed", "foul", "contest", "taken", "answer", "correct", "tick",
    ]  # fmt: skip
    lines: list[Observation] = [OBSERVATION_KINDS[kind](**_least(kind)) for kind in kinds]
    lines.append(Other(t=5, id="z", name="sneeze"))
    assert _placed(lines) == lines
    assert set(kinds) == set(OBSERVATION_KINDS)
    slaps: list[Observation] = [
        Slap(t=5, id="9", seat=1),
        Slap(t=5, id="10", seat=1),
        Slap(t=5, id="1", seat=2),
        Slap(t=6, id="0", seat=1),
    ]
    assert _placed(slaps) == slaps
    unseen: list[Observation] = [Card(t=5, id="b", card="7h"), Card(t=5, id="a", card="7h", seat=1)]
    assert _placed(unseen) == unseen


def _placed(lines: list[Observation]) -> list[Observation]:
    """Return lines in event time, reported in reverse order."""
    told = list(reversed(lines))
    return sorted(told, key=place_of)


def _least(kind: str) -> dict[str, Any]:
    """Return the required fields of a line of this kind; its id contradicts its place."""
    fields: dict[str, Any] = {
        "seats": ("Ana", "Ben"), "seat": 1, "cards": 5, "rank": "7", "date": "2026-01-01", "card": "7h", "foul": "peek",
        "by": (1,), "against": 2, "to": "question@c1", "value": 1, "line": "c1",
        "until": 9,
    }  # fmt: skip
    cls = OBSERVATION_KINDS[kind]
    needed = [
        field.name for field in dataclasses.fields(cls) if field.default is field.default_factory is dataclasses.MISSING
    ]
    return {"id": "a", **{name: fields[name] for name in needed if name != "t"}, "t": 5}


def test_what_is_no_ruling_of_ours_is_printed_after_all_that_are() -> None:
    """A kind of a later version."""
    cause = place_of(Slap(t=5, id="s", seat=1))
    kinds = [*LIFE_ORDER, "applause"]
    made = [Ruling(kind, f"{kind}@s", 5, ("s",), ()) for kind in kinds]
    places = [printing_order(ruling, cause)[2] for ruling in made]
    assert places == sorted(places) and places[-1] > places[-2]


def test_a_ruling_is_traced_to_its_line_whatever_ids_there_are() -> None:
    """Whatever its number, and whatever amendments renamed it."""
    for name, cause, base in (
        ("pile@t~1", "t~1", "pile@t~1"),
        ("pile@t/2~x", "t/2~x", "pile@t/2~x"),
        ("pile@t1", "t1", "pile@t1"),
        ("pile@t1/2", "t1", "pile@t1/2"),
        ("pile@t1/2~x9~x10", "t1", "pile@t1/2"),
        ("pile@a/b", "a/b", "pile@a/b"),
        ("pile@a@b", "a@b", "pile@a@b"),
        ("pile@/2", "/2", "pile@/2"),
    ):
        ruling = Ruling("pile", name, 5, (cause,), ())
        assert (cause_of(ruling), base_id(ruling)) == (cause, base)


def test_a_game_has_ended_where_the_last_end_stands() -> None:
    """A correction may take it back, and give another."""
    won = Ruling("won", "won@c9", 9, ("c9",), ("E5a",), {"seat": 1})
    lead = Ruling("lead", "lead@c9", 9, ("c9",), (), {"seat": 1})
    taken_back = Ruling("lead", "lead@c9~x1", 9, ("x1",), (), {"seat": 2}, supersedes=("won@c9",))
    assert end_of([won, lead]) is won
    assert end_of([won, taken_back]) is None
    for kind in ("won", "lost", "drawn"):
        other = Ruling(kind, f"{kind}@d9", 12, ("d9",), ())
        assert end_of([won, other, lead]) is other
    assert end_of([lead]) is None


def test_several_rulings_of_a_kind_and_a_cause_are_numbered() -> None:
    """The second is called the second."""
    split = rule(log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2301 slap 1\n3500 taken 1\n", rules={"on": ["M3"]}))
    assert brief(split, "pile") == ["pile@t1 seat=3 count=1", "pile@t1/2 seat=1 count=1"]
    three = rule(
        log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2301 slap 1\n2302 slap 2\n3500 taken 1\n", rules={"on": ["M3"]})
    )
    assert [ruling.id for ruling in three if ruling.kind == "pile"] == ["pile@t1", "pile@t1/2", "pile@t1/3"]
    assert [ruling["count"] for ruling in three if ruling.kind == "pile"] == [1, 1, 0]


def test_each_question_of_a_card_can_be_answered() -> None:
    """Two unread cards, the second of a seat that has none: how many has it, which card is it, who laid it?"""
    lines = log("1000 1:??\n2000 2:??\n2300 slap 3\n", counts=[5, 0, 5])
    asked = [
        "question@c1 ask=unreadable_card",
        "question@c2 ask=recount",
        "question@c2/2 ask=unreadable_card",
        "question@c2/3 ask=who_played",
    ]
    assert brief(rule(lines), "question")[:4] == asked
    said = [
        line("answer", 5000, "a1", to="question@c2/2", value="7c"),
        line("answer", 5001, "a2", to="question@c2/3", value=3),
        line("answer", 5002, "a3", to="question@c1", value="7d"),
    ]
    answered = rule([*lines, *said])
    assert brief(answered, "slap_won") == ["slap_won@s1 seat=3 decided_by=time"]
    assert "mend_amendment" not in {ruling.get("ask") for ruling in answered}


def test_a_card_that_lay_there_at_the_first_instant_is_laid_on_a_table_that_is_set() -> None:
    """The table's line comes before all others of its instant, in whatever order they arrive."""
    assert [ruling.id for ruling in rule([from_fields(TABLE, 1), line("card", 0, "c1", card="7h", seat=1)])] == [
        "lead@table",
        "turn@table",
        "turn@c1",
    ]


def test_nothing_is_believed_before_the_table_is_set() -> None:
    view = Adjudicator().view
    assert (view.counts, view.turn, view.game_over, view.winner, view.questions) == ((), None, False, None, ())


def test_a_last_chance_is_over_when_its_two_seconds_are() -> None:
    """E2: as soon as all hands of that instant have been reported, and not a nanosecond before."""
    lines = log("1000 1:Jh\n2000 2:5c\n3000 taken 1\n4000 1:3c\n5000 1:Kc\n6000 1:5h\n", seats=2, counts=[5, 1])
    referee = Adjudicator(lookahead_ns=10 * MS)
    told(referee, *lines)
    assert "won@c5" not in told(referee, from_fields({"kind": "tick", "t": 8010 * MS - 1}, 1))
    assert "won@c5" in told(referee, from_fields({"kind": "tick", "t": 8010 * MS}, 1))


def test_instants_may_be_as_uncertain_as_a_log_can_say() -> None:
    """A card a second and nine tenths after a slap, each known to a second: live and replayed it is doubtful."""
    lines = log("1000 1:7h\n2000 slap 3 ±1000\n3900 2:7c ±1000\n")
    referee = Adjudicator()
    live = told(referee, *lines[:3], line("tick", 3800), lines[3], line("tick", 9000))
    live += [ruling.id for ruling in referee.finish()]
    assert "slap_won@s1" in live
    assert sorted(live) == sorted(ruling.id for ruling in rule(lines))


@pytest.mark.parametrize("to", ["slap_won@s1", "turn@c1", "s1", "nothing"])
def test_an_answer_to_what_is_no_question_is_told(to: str) -> None:
    rulings = rule(
        [*log("1000 1:7h\n2000 2:7c\n2300 slap 3\n3000 taken 3"), line("answer", 5000, "a1", to=to, value=1)]
    )
    assert brief(rulings, "question") == ["question@a1 ask=mend_amendment"]


def test_a_log_that_never_began_has_no_rulings() -> None:
    assert Adjudicator().finish() == []


def test_the_view_lists_what_waits_for_an_answer_and_who_may_not_slap() -> None:
    """A question is listed until it is answered."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    rules = {"on": ["F6c"], "off": ["M12"]}
    told(referee, *log("1000 1:7h\n1100 slap 2\n2000 1:??\n2500 tick", rules=rules, counts=[5, 0, 0]))
    assert referee.view.questions == ("question@c2",)
    assert referee.view.locked_out == {2}
    told(referee, line("answer", 3000, "a1", to="question@c2", value="9d"), line("tick", 3500))
    assert not referee.view.questions


def test_after_the_end_nobody_is_reported_any_more() -> None:
    """F10 costs nothing then."""
    game = "1000 1:5h\n2000 2:5c\n2300 slap 1\n3000 taken 1\n"
    lines = [*log(game, seats=2, counts=[5, 1], rules={"on": ["F10"]}), line("foul", 4000, "f1", seat=1, foul="peek")]
    rulings = rule(lines)
    assert rulings[-1].kind == "won"
    assert brief(rulings, "foul", "burn") == []


def test_the_wild_rank_is_open_until_it_was_drawn() -> None:
    """P14."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    for observation in log("100 tick", rules={"on": ["P14"]}):
        referee.observe(observation)
    assert list(referee.view.questions) == ["question@table"]
    for observation in (line("draw", 200, rank="7"), line("tick", 300)):
        referee.observe(observation)
    assert list(referee.view.questions) == []
