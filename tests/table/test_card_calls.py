"""Cards called as they land, for people who do not see the table."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from referee.announce.voice import tell
from referee.engine.observations import Card
from referee.settings.model import parse_settings
from referee.table.card_calls import CardCalls
from referee.table.session import open_services
from tests.table.test_keys_and_days import Bench

CALLS = {"card_lands", "card_lands_alone"}


class Calling(Bench):
    """A game whose cards are called."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = True
        self.calls = CardCalls(lambda: self.wanted)
        self.calls.begin_game(self.game)

    def go(self, *seen: object) -> None:
        super().go(*seen)
        self.calls.beat(self.now)

    @property
    def called(self) -> list[tuple[object, ...]]:
        calls = [notice for notice in self.told if notice.what in CALLS]
        return [tuple(notice.fields.get(name) for name in ("card", "seat", "number")) for notice in calls]


def test_each_card_is_called_once_with_who_is_next_and_how_many_lie_there() -> None:
    bench = Calling()
    bench.lay("7h", 1)
    bench.go()
    bench.lay("Kc", 2)
    bench.go()
    assert bench.called == [("7h", 2, 1), ("Kc", 3, 2)]


def test_an_unread_card_is_asked_about_and_not_called() -> None:
    bench = Calling()
    bench.lay("??", 1)
    bench.lay("4d", 2)
    bench.go()
    assert bench.called == [("4d", 3, 2)]


def test_calls_can_be_switched_on_and_off_while_people_play() -> None:
    bench = Calling()
    bench.wanted = False
    bench.lay("7h", 1)
    bench.go()
    bench.wanted = True
    bench.lay("Kc", 2)
    bench.go()
    assert bench.called == [("Kc", 3, 2)], "what lay there before is not called afterwards"


def test_who_is_next_is_left_out_where_nobody_knows() -> None:
    said = tell("card_lands_alone", card="Xr", number=2)
    assert said.text == "The red joker, two."


def test_what_lay_there_when_the_calls_began_is_not_called() -> None:
    bench = Bench()
    bench.lay("7h", 1)
    calls = CardCalls(lambda: True)
    calls.begin_game(bench.game)
    calls.beat(bench.now)
    assert not {notice.what for notice in bench.told} & CALLS


def test_of_cards_that_come_together_the_uppermost_is_called() -> None:
    bench = Calling()
    t = bench.now
    bench.go(Card(t=t + 1, card="7h", seat=1), Card(t=t + 2, card="9c", seat=2))
    assert bench.called == [("9c", 3, 2)]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "The seven of hearts, next Ben, twelve."),
        ("de", "Herz Sieben, dann Ben, zwölf."),
        ("es", "El siete de corazones, sigue Ben, doce."),
        ("fr", "Le sept de cœur, ensuite Ben, douze."),
    ],
)
def test_a_call_is_short_in_each_language(language: str, words: str) -> None:
    said = tell("card_lands", 0, language, names={2: "Ben"}, card="7h", seat=2, number=12)
    assert (said.text, said.urgent) == (words, False)


def test_a_verdict_cuts_a_call_off_and_never_waits_for_it() -> None:
    call, verdict = tell("card_lands", card="7h", seat=2, number=12), tell("roll_call", seat=3)
    assert call.priority < verdict.priority and call.patience < 1


@pytest.mark.parametrize("wanted", [True, False])
def test_the_settings_say_whether_cards_are_called(wanted: bool) -> None:
    voice = f"[voice]\ncards = {str(wanted).lower()}\n"
    with ExitStack() as stack:
        settings = parse_settings(f'[record]\nfile = ""\n{voice}[[seat]]\nname = "A"\n[[seat]]\nname = "B"\n')
        orders, services = open_services(settings, (), stack, {})
        assert any(isinstance(service, CardCalls) for service in services)
        assert orders.voice.cards == wanted
