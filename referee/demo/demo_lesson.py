"""`referee demo --lesson`: a simulated game for a class, on a page that stops at its slaps or in the terminal.

The game is not played live. Its lines are those of ideal pads and an ideal camera, with the errors that real ones
state; the players answer the referee's questions truthfully.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Final

from hardware.clock import wall_now
from hardware.pads.pads import LEAST_ERROR
from hardware.simulated.table.script import Script
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.control.page_address import address_of, listen_at
from referee.demo.rendered_camera import CameraView
from referee.engine.explanation import notation
from referee.engine.log import encode_observation
from referee.engine.observations import Answer, Card, Observation, Slap
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import encode_ruling
from referee.options.classroom.class_server import CLASS_LIMITS
from referee.options.classroom.vote_site import VoteSite
from referee.options.what_if import what_if_page
from referee.record.database import RecordError
from referee.record.pictures import AFTER, BEFORE, FRAMES_FILE, Picture, PictureStore
from referee.record.store import Record
from referee.text.escapes import escape_controls
from referee.text.ruling_lines import RulingWords
from referee.text.terminal_language import here, translate
from referee.units import SECOND
from referee.vision.picture_buffer import jpeg, shrunk
from referee.web.photo_finish.moment import headline, tell_why
from referee.web.photo_finish.questions import answer_of, find_questions
from referee.web.server import serve

_ANSWER_AFTER: Final = SECOND
"""Time that the players take to answer a question, ns."""
_MOST_ASKED: Final = 50
"""Maximum number of answers in a game."""
_END: Final = "q"


def lesson_lines(script: Script, fps: float) -> list[Observation]:
    """Return the lines of a script's game, each with its sensor's error, and the players' answers.

    Args:
        script: the game.
        fps: frame rate of its camera.
    """
    lines = [_stated(line, round(SECOND / fps / 2)) for line in script.truth]
    for _ in range(_MOST_ASKED):
        told = {line.to for line in lines if isinstance(line, Answer)}
        answer = next((answer for answer in _answers(script, lines) if answer.to not in told), None)
        if answer is None:
            break
        lines.append(replace(answer, id=f"answer{len(told) + 1}"))
    return sorted(lines, key=lambda line: line.t)


def _stated(line: Observation, picture: int) -> Observation:
    if isinstance(line, Slap):
        return replace(line, t_error=LEAST_ERROR)
    return replace(line, t_error=picture) if isinstance(line, Card) else line


def _answers(script: Script, lines: Sequence[Observation]) -> Iterable[Answer]:
    """Yield the players' answer to each question that these lines lead to."""
    game = _ruled(lines)
    for ruling in game.rulings:
        if ruling.kind == "question" and ruling.id not in game.replaced_by:
            value = script.answer(ruling["ask"], ruling.t, ruling.get("seats") or range(1, script.seats + 1))
            if value is not None:
                yield Answer(t=ruling.t + _ANSWER_AFTER, to=ruling.id, value=value)


def _ruled(lines: Sequence[Observation]) -> ReplayedGame:
    return ReplayedGame(list(enumerate(lines, start=1)))


def write_lesson(lines: Sequence[Observation]) -> list[str]:
    """Return the log of a lesson's game, rulings included, line by line."""
    return [*map(encode_observation, lines), *map(encode_ruling, _ruled(lines).rulings)]


@contextmanager
def report_record_error() -> Iterator[None]:
    """Print what kept pictures from being written; the lesson goes on without them."""
    try:
        yield
    except RecordError as error:
        print(error, file=sys.stderr)


def keep_pictures(view: CameraView, lines: Sequence[Observation], game: int, store: Path, is_over: Event) -> None:
    """Keep the pictures of each slap that the class is asked about, as the simulated camera takes them.

    Args:
        view: what the camera sees.
        lines: of the game.
        game: its number in the record.
        store: file of the pictures; if it cannot be written, a line says so, and the lesson goes on without.
        is_over: set once no more are needed.
    """
    played = _ruled(lines)
    table = SimulatedTable(view.script, view.fps, view.size, view.family)
    with report_record_error(), PictureStore(store) as pictures:
        for question in find_questions(played).values():
            zero, step = answer_of(played, question).zero, SECOND / view.fps
            kept = []
            for index in range(max(0, round((zero - BEFORE) / step)), round((zero + AFTER) / step) + 1):
                if is_over.is_set():
                    return
                frame = table.render(table.frame_time(index))
                data = jpeg(shrunk(frame.image))
                if data is not None:
                    kept.append(Picture(frame.t, frame.exposure, data))
            pictures.add(game, kept)


def hold_on_page(
    lines: Sequence[Observation], record: Path | None, host: str, port: int, vote_time: int, view: CameraView
) -> int:
    """Serve the lesson until stopped, with the votes of phones that join; return the exit status.

    Args:
        lines: of the game.
        record: file to keep the game in; None: a temporary one.
        host: address of the page.
        port: of the page; if it is taken, one of the next.
        vote_time: time from the first vote on a slap to its answer, ns.
        view: the camera's, for the pictures of the slaps; they come while the page is already served.

    Raises:
        UserError: the page cannot be served.
        RecordError: the record cannot be written.
    """
    with TemporaryDirectory(prefix="referee-lesson-") as folder:
        file = record or Path(folder) / "record.db"
        with Record(file) as games:
            began = wall_now()
            game = games.add_game(began, list(enumerate(write_lesson(lines), start=1)))
            games.end(game, began)
        listening = listen_at(host, port, any_near=True)
        address = address_of(listening)
        print(f"{address.here}games/{game}/replay?lesson=1")
        said = translate("for phones: {room}", room=f"{address.room}join")
        print(said if address.room else translate(address.why_and_how), flush=True)
        store, is_over = file.with_name(FRAMES_FILE), Event()
        # The page opens the file for reading alone, so it must be there.
        with report_record_error(), PictureStore(store):
            pass
        drawing = Thread(target=keep_pictures, args=(view, lines, game, store, is_over), daemon=True)
        drawing.start()
        served = serve(
            file, listening, pictures=store, listen=None, runtime=None, names=(), secure=False, quiet=True,
            options=(what_if_page.PAGE, VoteSite(game, vote_time).option()), limits=CLASS_LIMITS,
        )  # fmt: skip
        try:
            return asyncio.run(served)
        finally:
            is_over.set()
            drawing.join()


def hold_in_terminal(lines: Sequence[Observation], typed: Iterable[str], show: Callable[[str], None] = print) -> int:
    """Ask at each slap, and answer when a line is typed; return the exit status.

    Args:
        lines: of the game.
        typed: the lines that people type.
        show: prints a line of text.
    """
    game, texts, answers = _ruled(lines), here(), iter(typed)
    words = RulingWords(game.table.seats, texts)
    for question in find_questions(game).values():
        seen = answer_of(game, question)
        ruled = seen.ruling or seen.heat
        if ruled is None:
            continue
        pile = texts("lesson.pile", pile=notation(game.explain(ruled).pile))
        show("")
        show(escape_controls(f"{texts.seconds(seen.zero - game.table.t)}  {pile}"))
        show(f"{texts(question.text)}  ({texts('lesson.hidden')})")
        if next(answers, _END).strip().lower() == _END:
            return 0
        head = headline(seen, words)
        for told in filter(None, (f"{head.text} {head.under}".strip(), tell_why(seen, words))):
            show(escape_controls(f"  {told}"))
    show("")
    show(texts("lesson.done"))
    return 0
