"""A lesson at simulated devices: the light for all at the pads, a phone's own trials, and the results."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from hardware.pads.page_pads import SAMPLING
from hardware.ports import Edge
from hardware.simulated.devices.simulated_lights import SimulatedLights
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.cli import main
from referee.control.page_address import PageAddress
from referee.control.seat_codes import make_seat_codes
from referee.errors import UserError
from referee.options.classroom.class_lesson import FIRST_KEY, SCREEN, ReactionLesson
from referee.options.classroom.class_pages import draw_results, draw_stage, name_pupil
from referee.options.classroom.class_server import ClassOptions, hold_class, opens_no_pads
from referee.options.classroom.class_site import TRIAL, ClassSite
from referee.options.classroom.pupils import MOST_PUPILS, PHONES
from referee.options.classroom.reaction_class import MOST_TRIES, ReactionClass, RoundPhase, SharedRounds
from referee.options.classroom.reaction_trials import TrialEnd, write_trials_csv
from referee.options.classroom.stimuli import LightStimulus, ShownByPage, SoundStimulus, open_stimulus
from referee.settings.model import load_settings
from referee.text.catalogue import LANGUAGES, texts
from referee.units import MS, SECOND
from referee.web.api import Control
from referee.web.security.guard import OPEN_CHANGES, Guard
from tests.web.browser import HOST, HOSTS, OWN, Reply, request


def own_pace(csv: Path | None = None, each: int = 3) -> ReactionLesson:
    return ReactionLesson(
        ReactionClass(each), None, None, "phone", pads={}, shortest=SECOND, chance=random.Random(1), csv=csv
    )


def trial(told: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a reaction of 250 ms as a phone reports it: the picture took 16 ms, the stamp is as late as a screen's."""
    made = {
        "pupil": told["pupil"], "number": told["number"], "kind": "touch", "sampling": 0, "ready": 0,
        "shown": [SECOND, SECOND + 16 * MS], "touched": SECOND + 8 * MS + 250 * MS + SAMPLING["touch"],
    }  # fmt: skip
    return {"trial": made | more}


def test_the_tables_light_is_answered_at_its_pads() -> None:
    simulated = SimulatedPads(2, t_error=MS)
    lights = SimulatedLights(2, clock=lambda: simulated.now)
    room = ReactionClass(2)
    rounds = SharedRounds(room, SECOND, random.Random(4))
    lesson = ReactionLesson(
        room, rounds, LightStimulus(lights, clock=lambda: simulated.now), "light",
        pads={"pad": simulated.pads}, shortest=SECOND, chance=random.Random(4),
    )  # fmt: skip
    lesson.start()

    def go_to(t: int, *levels: tuple[int, bool]) -> None:
        for seat in (1, 2):
            simulated.advance(seat, dict(levels).get(seat, False), t)
        lesson.look(t)

    go_to(10 * MS, (1, True), (2, True))
    go_to(200 * MS)
    go_to(300 * MS)
    assert room.pupils == {"pad 1": 1, "pad 2": 2}
    assert lesson.act("begin", 300 * MS) and not lesson.act("begin", 300 * MS)
    now = 300 * MS
    while not lights.levels["red"]:
        now += 10 * MS
        go_to(now)
    lit = now
    go_to(lit + 230 * MS, (1, True))
    go_to(lit + 400 * MS)
    go_to(lit + 3 * SECOND)
    assert not lights.levels["red"]
    first, second = room.trials
    assert (first.end, second.end) == (TrialEnd.REACTION, TrialEnd.MISSED)
    assert first.reaction is not None and abs(first.reaction - 230 * MS) <= first.error <= 4 * MS
    assert lesson.act("next", now) and rounds.phase is RoundPhase.IDLE and not room.pupils
    lesson.close()


class Card:
    """A sound card that plays after 20 ms, and may be gone."""

    latency, trouble = 20 * MS, ""

    def __init__(self) -> None:
        self.played: list[str] = []

    def cue(self, name: str) -> None:
        self.played.append(name)

    def close(self) -> None:
        self.played.append("closed")


def test_a_sound_comes_within_what_the_card_says_of_its_delay() -> None:
    card = Card()
    came = SoundStimulus(card, clock=lambda: SECOND).show()
    assert came is not None and card.played == ["slap"]
    assert came.t - came.t_error <= SECOND + card.latency <= came.t + came.t_error
    card.trouble = "no sound"
    assert SoundStimulus(card, clock=lambda: SECOND).show() is None, "it was not heard"


def test_a_light_needs_a_table_and_a_card_on_the_screen_needs_nothing() -> None:
    with pytest.raises(UserError, match="--settings table"):
        open_stimulus("light", None)
    assert isinstance(open_stimulus("screen", None), ShownByPage)


def test_a_screen_that_told_when_it_showed_the_card_is_believed() -> None:
    room = ReactionClass(1)
    rounds = SharedRounds(room, SECOND, random.Random(2))
    lesson = ReactionLesson(
        room, rounds, ShownByPage(), "screen", pads={}, shortest=SECOND, chance=random.Random(2)
    )  # fmt: skip
    hear = lesson.hear
    hear("page", Edge(FIRST_KEY, 5, pressed=True, t_error=8 * MS))
    lesson.look(10)
    assert lesson.act("begin", 10)
    lesson.look(5 * SECOND)
    assert rounds.phase is RoundPhase.SHOWING
    hear("page", Edge(SCREEN, 5 * SECOND, pressed=True, t_error=9 * MS))
    hear("page", Edge(SCREEN, 5 * SECOND + 1, pressed=False, t_error=9 * MS))
    hear("page", Edge(FIRST_KEY, 5 * SECOND + 300 * MS, pressed=True, t_error=8 * MS))
    lesson.look(6 * SECOND)
    assert [(trial.reaction, trial.error) for trial in room.trials] == [(300 * MS, 17 * MS)]


def test_a_phones_trial_is_taken_once_and_written_at_once(tmp_path: Path) -> None:
    lesson = own_pace(tmp_path / "class.csv")
    told = lesson.take_report("page 1", {})
    assert told is not None and (told["pupil"], told["number"], told["each"]) == (1, 1, 3)
    again = [lesson.take_report("page 1", trial(told)) for _ in range(2)]
    assert [answer["number"] for answer in again if answer] == [2, 2], "a report that comes twice counts once"
    assert [(trial.reaction, trial.end) for trial in lesson.room.trials] == [(250 * MS, TrialEnd.REACTION)]
    written = (tmp_path / "class.csv").read_text(encoding="utf-8").splitlines()
    assert written[1:] == ["1,1,,phone,1008,reaction,250,28"]
    handed_on = lesson.take_report("page 1", {"next": True} | trial(told))
    assert handed_on is not None and (handed_on["pupil"], handed_on["number"]) == (2, 1)


def test_a_phone_that_stumbled_over_its_picture_measures_nothing() -> None:
    lesson = own_pace()
    told = lesson.take_report("page 1", {})
    assert told is not None
    after = lesson.take_report("page 1", trial(told, shown=[SECOND, 2 * SECOND]))
    assert after is not None and after["number"] == 1 and lesson.room.trials == []
    after = lesson.take_report("page 1", trial(told, touched=None))
    assert after is not None and after["number"] == 2
    assert [trial.end for trial in lesson.room.trials] == [TrialEnd.MISSED]


def test_a_false_start_repeats_its_trial_up_to_five_tries_and_each_try_is_written(tmp_path: Path) -> None:
    lesson = own_pace(tmp_path / "class.csv")
    told = lesson.take_report("page 1", {})
    assert told is not None
    early = [trial(told, shown=None, touched=SECOND, ready=n) for n in range(MOST_TRIES)]
    numbers = []
    for report in (early[0], *early):
        told = lesson.take_report("page 1", report)
        assert told is not None
        numbers.append(told["number"])
    assert numbers == [1, 1, 1, 1, 1, 2], "a report that comes twice is one try"
    lesson.take_report("page 1", trial(told))
    written = (tmp_path / "class.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[1:6:4] for line in written] == [["1", "false_start"]] * MOST_TRIES + [["2", "reaction"]]


def test_a_file_that_is_there_is_left_alone_and_one_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    kept = tmp_path / "class.csv"
    lesson = own_pace(kept)
    with pytest.raises(UserError, match="is there already"):
        own_pace(kept)
    with pytest.raises(UserError, match="cannot be written"):
        own_pace(tmp_path / "nowhere" / "class.csv")
    kept.unlink()
    kept.mkdir()
    told = lesson.take_report("page 1", {})
    assert told is not None
    told = lesson.take_report("page 1", trial(told))
    assert told is not None and lesson.trouble
    kept.rmdir()
    lesson.take_report("page 1", trial(told))
    assert not lesson.trouble
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 2, "what could not be written was, once it could"


def test_nothing_is_kept_unless_asked_and_all_is_forgotten_at_once(tmp_path: Path) -> None:
    lesson = own_pace()
    told = lesson.take_report("page 1", {})
    assert told is not None
    lesson.take_report("page 1", trial(told))
    assert lesson.act("forget", 0) and not lesson.room.trials and not lesson.room.pupils
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["phone", "screen", "light", "sound"])
def test_stage_and_results_are_drawn_in_every_language(language: str, kind: str) -> None:
    room = ReactionClass(8, hands=True)
    rounds = None if kind == "phone" else SharedRounds(room, SECOND, random.Random(1))
    lesson = ReactionLesson(room, rounds, None, kind, pads={}, shortest=SECOND, chance=random.Random(1))
    for device in ("page 1", "page 2"):
        told = lesson.take_report(device, {})
        while told is not None and told["number"] is not None:
            told = lesson.take_report(device, trial(told))
    words = texts(language)
    drawn = draw_stage(lesson, words) + draw_results(lesson, words)
    assert words(f"class.unknown_{kind}").replace("'", "&#x27;")[:40] in drawn
    assert "250 ± 30" in drawn.replace("\u00a0", " ") and "250,0" not in drawn and "250.0" not in drawn


class Served:
    """The routes of a class behind the guard, without a socket."""

    def __init__(self, folder: Path) -> None:
        codes = make_seat_codes(folder, dict.fromkeys((*PHONES, SCREEN), ""))
        control = Control(folder)
        self.lesson = own_pace()
        address = PageAddress("http://localhost/", "http://10.0.0.2/", "")
        self.site = ClassSite(self.lesson, control, address, codes)
        self.app = Guard(
            Starlette(routes=self.site.routes()), control.sessions, hosts=HOSTS, open_changes=(*OPEN_CHANGES, TRIAL)
        )

    def get(self, path: str, client: str = "192.168.1.9", language: str = "en") -> Reply:
        head = [("host", HOST), ("accept-language", language)]
        return asyncio.run(request(self.app, "GET", path, head, client=client))

    def post(self, path: str, said: Any) -> Reply:
        body = [json.dumps(said).encode()]
        head = [("host", HOST), ("origin", OWN), ("content-type", "application/json")]
        return asyncio.run(request(self.app, "POST", path, head, body))


def test_each_phone_gets_a_place_of_its_own_and_pupils_cannot_play_the_teacher(tmp_path: Path) -> None:
    served = Served(tmp_path)
    ways = [served.get("/join").header("location") or "" for _ in range(3)]
    assert len(set(ways)) == 3 and all(way.startswith("/trial#") for way in ways)
    reply = served.post(TRIAL, {"code": ways[0].partition("#")[2]})
    assert reply.status == 200 and (reply.said["pupil"], reply.said["number"]) == (1, 1)
    reply = served.post(TRIAL, {"code": ways[0].partition("#")[2], **trial(reply.said)})
    assert reply.said["said"].replace("\u00a0", " ") == "250 ms"
    early = {"shown": None, "touched": SECOND}
    for ready in range(MOST_TRIES - 1):
        again = served.post(
            TRIAL, {"code": ways[1].partition("#")[2], **trial({"pupil": 2, "number": 1}, ready=ready, **early)}
        )
        assert (again.said["said"], again.said["number"]) == ("A little early: once more", 1)
    assert served.post(TRIAL, {"code": "a stranger"}).status == 409
    assert served.post(TRIAL, {"code": ways[0].partition("#")[2], "name": "Ana"}).status == 400
    assert served.post("/api/class", {"do": "forget"}).status == 401
    assert served.get("/trials.csv").status == 403
    assert served.get("/trials.csv", client="127.0.0.1").body.decode().count("\n") == 2 + (MOST_TRIES - 1)
    assert b"data-act" not in served.get("/").body
    assert b"data-act" in served.get("/", client="127.0.0.1").body
    assert served.get("/join.svg").status == 200 and served.get("/trial").status == 200


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_nickname_is_one_word_that_fits_into_the_plot_and_there_is_one_for_each_pupil(language: str) -> None:
    animals = texts(language)("nickname.animals").split()
    assert len({name.casefold() for name in animals}) == len(animals) >= MOST_PUPILS
    assert [name for name in animals if len(name) > 11 or not name.isalpha()] == []


def test_a_phone_is_given_a_nickname_in_its_language_and_the_file_keeps_the_number(tmp_path: Path) -> None:
    served = Served(tmp_path)
    shown = []
    for language in ("de", "fr"):
        code = (served.get("/join", language=language).header("location") or "").partition("#")[2]
        reply = served.post(TRIAL, {"code": code})
        served.post(TRIAL, {"code": code, **trial(reply.said)})
        shown.append(reply.said["name"])
    served.lesson.take_report("pad 1", {})
    assert [name in texts(of)("nickname.animals").split() for name, of in zip(shown, ("de", "fr"), strict=True)] == [
        True, True,
    ]  # fmt: skip
    drawn = draw_results(served.lesson, texts("en"))
    assert f"{shown[0]} (1)" in drawn and f"{shown[1]} (2)" in drawn and "Pupil 1" not in drawn
    written = write_trials_csv(served.lesson.room.trials, "phone").splitlines()
    assert [line.split(",")[0] for line in written] == ["pupil", "1", "2"]
    assert served.site.names()[:3] == [*shown, "?"]
    assert name_pupil(served.lesson.room, 3, texts("en")) == "Pupil 3", "who is at a pad stays a number"


def test_a_full_class_says_so(tmp_path: Path) -> None:
    served = Served(tmp_path)
    for n in PHONES:
        served.lesson.room.admit(f"page {n}")
    assert served.get("/join").status == 503


@pytest.mark.parametrize(("pads", "said"), [(('"phone"', "17"), "seat 1 has a page"), (('"phone"', '"phone"'), "")])
def test_pads_on_pages_belong_to_the_tables_own_page(tmp_path: Path, pads: tuple[str, str], said: str) -> None:
    file = tmp_path / "table.toml"
    seats = [
        f'[[seat]]\nname = "{n}"\npad = {pad}\nlight = {n + 19}\nbearing = {90 * n}\n' for n, pad in enumerate(pads)
    ]
    file.write_text(f"{''.join(seats)}", encoding="utf-8")
    settings = load_settings(file)
    if said:
        with pytest.raises(UserError, match=said):
            opens_no_pads(settings)
    else:
        assert opens_no_pads(settings)


def test_options_that_do_not_fit_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="--stimulus screen"):
        hold_class(ClassOptions(keys=("f",)))
    with pytest.raises(SystemExit):
        main(["class", "--keys", "ff"])
    assert "different letters or digits" in capsys.readouterr().err
