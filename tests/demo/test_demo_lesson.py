"""`referee demo --lesson`: a game with questions for a class, asked in the terminal or on its page."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from threading import Event

import pytest

from hardware.pads.pads import LEAST_ERROR
from hardware.simulated.table.script import Script, play_game
from referee.cli import main
from referee.demo.demo_lesson import hold_in_terminal, keep_pictures, lesson_lines
from referee.demo.rendered_camera import CameraView
from referee.engine.observations import Answer, Card, Observation, Slap
from referee.engine.replay import ReplayedGame
from referee.record.pictures import AFTER, BEFORE, FRAMES_FILE, PictureStore
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords
from referee.text.terminal_language import speaking
from referee.web.markup import seat_role, svg
from referee.web.photo_finish.glance_svg import PHONE_WIDTH, draw_unnamed_finish
from referee.web.photo_finish.questions import (
    HEAT,
    NOT_A_SLAP,
    answer_of,
    find_questions,
    list_choices,
    name_lanes,
    right_choice,
)
from tests.play import log
from tests.support.patience import PATIENCE


@pytest.fixture(scope="module")
def script() -> Script:
    """A game with a dead heat among its first slaps."""
    return play_game(4, 4, "classic", 60)


@pytest.fixture(scope="module")
def lines(script: Script) -> list[Observation]:
    return lesson_lines(script, 15.0)


def test_the_pictures_of_each_questions_slap_are_kept(tmp_path: Path) -> None:
    script = play_game(4, 4, "classic", 8)
    lines = lesson_lines(script, 5.0)
    view = CameraView(script, 5.0, "harbour", (96, 72))
    over = Event()
    keep_pictures(view, lines, 3, tmp_path / FRAMES_FILE, over)
    game = ReplayedGame(list(enumerate(lines, start=1)))
    slaps = [answer_of(game, question).zero for question in find_questions(game).values()]
    assert slaps
    with PictureStore(tmp_path / FRAMES_FILE) as kept:
        for zero in slaps:
            assert len(kept.instants(3, zero - BEFORE, zero + AFTER)) >= 4
        count = kept.count()
    over.set()
    keep_pictures(view, lines, 4, tmp_path / FRAMES_FILE, over)
    with PictureStore(tmp_path / FRAMES_FILE) as kept:
        assert kept.count() == count, "no more are drawn once the lesson is over"


def test_every_line_states_an_error_and_the_players_answer(lines: list[Observation]) -> None:
    assert {line.t_error for line in lines if isinstance(line, Slap)} == {LEAST_ERROR}
    assert {line.t_error for line in lines if isinstance(line, Card)} == {33_333_333}
    game = ReplayedGame(list(enumerate(lines, start=1)))
    assert any(ruling.kind == "dead_heat" for ruling in game.rulings)
    asked = {ruling.id for ruling in game.rulings if ruling.kind == "question" and ruling.id not in game.replaced_by}
    assert asked <= {line.to for line in lines if isinstance(line, Answer)}


def test_a_class_is_asked_who_was_first_or_whether_a_single_hand_counts() -> None:
    text = """
        1000 1:7h
        2000 2:7c
        2300 slap 3
        2340 slap 1
        2400 lift 3
        2410 lift 1
        3500 taken 3
        4000 3:9c
        5300 slap 2
        5400 lift 2
        6000 1:9d
        7300 slap 3
        7400 lift 3
        8500 taken 3
        9000 3:4c
        9300 slap 2
        9400 lift 2
    """
    game = ReplayedGame(list(enumerate(log(text), start=1)))
    found = find_questions(game)
    assert {hand: question.text for hand, question in found.items()} == {
        "s1": "lesson.who", "s3": "lesson.counts", "s4": "lesson.counts", "s5": "lesson.counts",
    }  # fmt: skip
    answers = [
        (list_choices(seen), right_choice(seen)) for seen in (answer_of(game, question) for question in found.values())
    ]
    assert answers[0] == (("A", "B", HEAT, NOT_A_SLAP), "B")
    assert answers[1:] == [(("A", NOT_A_SLAP), right) for right in (NOT_A_SLAP, "A", NOT_A_SLAP)]


def test_the_right_answer_is_that_of_the_ruling_and_the_drawn_question_tells_nothing_of_it(
    lines: list[Observation],
) -> None:
    game = ReplayedGame(list(enumerate(lines, start=1)))
    words, right = RulingWords(game.table.seats, texts("en")), set()
    for question in find_questions(game).values():
        seen = answer_of(game, question)
        answer, lanes = right_choice(seen), name_lanes(seen)
        assert answer in list_choices(seen) and set(lanes.values()) == {hand.seat for hand in seen.hands}
        right.add(answer)
        if answer in lanes:
            assert seen.ruling is not None and (seen.ruling.kind, seen.ruling["seat"]) == ("slap_won", lanes[answer])
        drawn = svg(draw_unnamed_finish(seen, words, PHONE_WIDTH))
        told = [*game.table.seats, texts("en")("finish.won"), seat_role(lanes["A"]), "finish", "warn"]
        assert [word for word in told if f">{word}" in drawn or f"-{word}" in drawn] == []
        assert all(f">{letter}</text>" in drawn for letter in lanes)
    assert HEAT in right and len(right) > 2


def test_the_terminal_asks_waits_and_answers(lines: list[Observation]) -> None:
    told: list[str] = []
    assert hold_in_terminal(lines, ["", "", "", "", "q"], told.append) == 0
    questions = [line for line in told if line.startswith("Who was first?")]
    assert len(questions) == 5
    assert sum(line.startswith("  Dead heat") for line in told) == 1
    assert told[-1].startswith("Who was first?"), "who ends is shown no answer"


def test_it_ends_with_its_last_question_or_with_its_input(lines: list[Observation]) -> None:
    told: list[str] = []
    assert hold_in_terminal(lines, [""] * 1000, told.append) == 0
    assert told[-1] == "That was the last question of this game."
    assert hold_in_terminal(lines, [], told.append) == 0


def test_it_asks_in_the_terminals_language(lines: list[Observation]) -> None:
    told: list[str] = []
    with speaking("fr"):
        hold_in_terminal(lines, [""], told.append)
    assert any(line.startswith("Qui a tapé en premier ?") for line in told)


def test_the_command_asks_and_leaves_a_log_to_ask_what_if_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lesson.jsonl"
    monkeypatch.setattr(sys, "stdin", io.StringIO("\nq\n"))
    command = ["demo", "--lesson", "--seed", "4", "--max-cards", "30", "--no-page", "--log", str(file)]
    assert main(command) == 0
    assert "Who was first?" in capsys.readouterr().out
    assert main(["replay", str(file)]) == 0


def test_what_a_lesson_has_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--lesson", "--shadow"]) == 2
    assert "leave --shadow out" in capsys.readouterr().err


def test_its_page_asks(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "referee", "demo", "--lesson", "--seed", "4", "--max-cards", "30", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as served:
        assert served.stdout is not None
        address = served.stdout.readline().strip()
        with urllib.request.urlopen(address) as answer:
            page = answer.read().decode()
        served.send_signal(signal.SIGINT)
        assert served.wait(PATIENCE) == 0
    assert "lesson=1" in address and 'data-questions="' in page
