"""Rulings in voice, lights and text."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO, StringIO

import pytest

from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.devices.simulated_lights import SimulatedLights
from referee.announce.light_show import GLOW, Lamps
from referee.announce.sinks import Notice
from referee.announce.terminal import Display, Screen, card_lines
from referee.announce.voice import Voice, tell
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling
from referee.engine.view import ChallengeView, View
from referee.sentence import Sentence
from referee.text.ruling_lines import RulingWords, pretty
from referee.text.terminal_language import speaking

NAMES = ("Ana", "Ben", "Cho")
LOG = b"""\
{"kind":"table","t":0,"seats":["Ana","Ben","Cho"],"dealer":3}
{"kind":"card","t":1000000000,"card":"7h","seat":1}
{"kind":"card","t":2000000000,"card":"7c","seat":2}
{"kind":"slap","t":2241300000,"seat":3,"t_error":20000}
{"kind":"slap","t":2255800000,"seat":1,"t_error":20000}
{"kind":"taken","t":3000000000,"seat":3}
{"kind":"card","t":4000000000,"card":"Kd","seat":3}
{"kind":"card","t":4500000000,"card":"??","seat":1}
{"kind":"slap","t":4800000000,"seat":2}
"""


def made() -> list[Ruling]:
    return list(replay_log(BytesIO(LOG)))


def test_the_speaker_is_told_the_verdict_first() -> None:
    speaker = RecordingSpeaker(lambda: 0)
    Voice(speaker)(made())
    said = [phrase.text for phrase in speaker.said]
    assert "seat three wins the slap by fifteen milliseconds" in said
    assert any(text.startswith("seat one has three chances") for text in said)
    assert next(phrase for phrase in speaker.said if "wins" in phrase.text).urgent


def test_the_first_hands_light_goes_on_before_any_ruling() -> None:
    lights = SimulatedLights(3, lambda: 0)
    lamps = Lamps(lights, 3)
    lamps.touch((3, 1))
    assert (lights.levels["seat 3"], lights.levels["seat 1"]) == (1.0, 0.0)
    lamps.touch(())
    assert lights.levels["seat 3"] == 0.0
    lights.close()


def test_lights_show_the_winner_until_the_pile_is_taken_and_then_the_turn() -> None:
    lights = SimulatedLights(3, lambda: 0)
    lamps = Lamps(lights, 3)
    all_made = made()
    until = next(n for n, ruling in enumerate(all_made) if ruling.kind == "pile")
    lamps(all_made[:until])
    assert (lights.levels["seat 3"], lights.levels["green"]) == (1.0, 1.0)
    lamps(all_made[until : until + 2])
    assert (lights.levels["seat 3"], lights.levels["green"]) == (GLOW, 0.0)
    lights.close()


def test_every_ruling_has_words() -> None:
    words = [RulingWords(NAMES)(ruling) for ruling in made()]
    assert "Cho wins the slap, double, by 14.50 ± 0.04 ms" in words
    assert "Ana has 3 chances against K♦" in words
    assert "Which card is this?" in words
    assert not any("\n" in line for line in words)


def test_a_challenge_that_nobody_can_pay_has_words_and_is_not_spoken() -> None:
    fields = {"seat": 1, "challenged": None, "card": "Qs", "chances": 2}
    ruling = Ruling("challenge", "challenge@c1", 1, ("c1",), ("C1",), fields)
    speaker = RecordingSpeaker(lambda: 0)
    Voice(speaker)([ruling])
    assert speaker.said == []
    assert "no player has a card to pay" in RulingWords(NAMES)(ruling)


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(NAMES, live=False) as display:
        display(made())
        display.draw(View())
    out = capsys.readouterr().out
    assert "2.2 s  Cho wins the slap" in out
    display.began = 2_000_000_000
    display(made())
    assert "0.2 s  Cho wins the slap" in capsys.readouterr().out, "from the game's beginning"
    assert "'s turn" not in out


class Window(StringIO):
    """A terminal, until it is closed."""

    is_open = True

    def isatty(self) -> bool:
        return self.is_open


def test_a_terminal_whose_window_was_closed_is_drawn_on_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    window = Window()
    monkeypatch.setattr("sys.stdout", window)
    monkeypatch.setenv("TERM", "xterm")
    # rich keeps one console for the process: an earlier test may have drawn on it.
    monkeypatch.setattr("rich._console", None)
    with Display(NAMES, live=True) as display:
        before = len(window.getvalue())
        display.draw(View(names=NAMES))
        assert "Cho" in window.getvalue()[before:]
        window.is_open = False
        display.draw(View(names=NAMES))
        before = len(window.getvalue())
        display.draw(View(names=NAMES))
        assert len(window.getvalue()) == before
        display(made())
        assert "Cho wins the slap" in window.getvalue()[before:], "a line is cheap, and goes where it can"


def test_the_screen_asks_one_question_during_a_challenge_too() -> None:
    display = Display(NAMES, live=False)
    asked = [
        Ruling("question", f"question@c{n}", n, (f"c{n}",), ("K2",), {"ask": "unreadable_card", "about": [f"c{n}"]})
        for n in (4, 5)
    ]
    display(asked)
    view = View(
        names=NAMES,
        counts=(10, 9, 8),
        challenge=ChallengeView(1, 2, 3),
        questions=tuple(question.id for question in asked),
    )
    state = str(display._state(view))
    assert state.splitlines() == ["Ben has 3 chances left against Ana", "Which card is this? (1 more after this one)"]


def test_the_screen_shows_pile_counts_turn_challenge_rulings_and_questions(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    view = View(
        names=NAMES, counts=(10, None, 0), pile=("7h", "Td", "??"), turn=2, challenge=ChallengeView(1, 2, 3),
        locked_out=frozenset({3}),
    )  # fmt: skip
    display = Display(NAMES, live=False)
    display(made())
    display.gauge.notes = ("voice: no sound card",)
    display.gauge.standing = ("page: http://localhost:8080/",)
    capsys.readouterr()
    Console(width=110).print(display.render(view))
    out = capsys.readouterr().out
    for words in (
        "Ben",
        "10",
        "may not slap",
        "♦",
        "page: http://localhost:8080/",
        "Ben has 3 chances left against Ana",
        "wins the slap",
        "14.50 ± 0.04 ms",
        "no sound card",
    ):
        assert words in out


def test_a_margin_takes_the_place_of_alone_and_a_question_is_asked_in_its_words() -> None:
    from rich.console import Console

    display = Display(NAMES, live=False)
    fields = {"seat": 3, "patterns": ["P1"], "margin": None, "error": None, "runners_up": []}
    alone = Ruling("slap_won", "slap_won@s1", 5, ("s1",), ("M1",), fields)
    beaten = replace(alone, fields=fields | {"margin": 14_000_000, "error": 0})
    asked = Ruling("question", "question@c3", 9, ("c3",), ("K2",), {"ask": "unreadable_card", "about": ["c3"]})
    display([alone, asked])
    display([beaten])
    with (console := Console(width=110)).capture() as drawn:
        console.print(display.render(View(names=NAMES, counts=(1, 2, 3), questions=("question@c3",))))
    assert "alone" not in drawn.get()
    assert drawn.get().count("wins the slap") == 1
    assert drawn.get().count(RulingWords(NAMES)(asked)) == 2, "in the list, and in its own place"


def test_names_reach_the_terminal_as_they_are_written_and_never_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    """No escape sequence, no bidirectional override, no markup; drawn or line by line."""
    from rich.console import Console

    names = ("A\x1b[31mna", "[/] B\x9ben", "C\u202eho")
    display = Display(names, live=False)
    display(made())
    display.gauge.title, display.gauge.notes = "x\x1b]0;y\x07", ("no\u2066voice",)
    lines = capsys.readouterr().out
    Console(width=110).print(display.render(View(names=names, counts=(1, 2, 3), turn=1)))
    drawn = capsys.readouterr().out
    assert not any(letter in lines + drawn for letter in "\x07\x1b\x9b\u202e\u2066")
    assert "C\\u202eho wins the slap" in lines and "C\\u202eho wins the slap" in drawn
    assert "[/] B\\u009ben" in drawn and "x\\u001b]0;y" in drawn and "no\\u2066voice" in drawn


def test_cards_in_writing() -> None:
    assert [pretty(card) for card in ("Th", "As", "Xr", "??")] == ["10♥", "A♠", "joker ★", "?"]
    for card in ("Th", "As", "Xr", "??"):
        assert {len(line) for line in card_lines(card)} == {7}


def test_what_the_appliance_says_is_printed_in_the_terminals_language(capsys: pytest.CaptureFixture[str]) -> None:
    with speaking("de"):
        screen = Screen(Display(NAMES, live=False), live=False)
        screen.tell(Notice("roll_call", 0, "Each player: slap your pad once.", {"seat": 2}))
        screen.tell(Notice("", 0, Sentence("{part}: works again", part="camera")))
        screen.tell(Notice("", 0, "as it is"))
        screen.close()
    lines = [line.split(maxsplit=2)[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == [tell("roll_call", 0, "de", names={2: "Ben"}, seat=2).text, "camera: geht wieder", "as it is"]
