"""The pages of a class: the room's page, with dot plot and medians, and the phones' page. Drawing only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.control.page_address import PageAddress
from referee.options.classroom.class_lesson import ReactionLesson
from referee.options.classroom.pupils import Pupils
from referee.options.classroom.reaction_class import RoundPhase
from referee.options.classroom.reaction_trials import (
    EITHER,
    LEFT,
    RIGHT,
    HandComparison,
    Trial,
    TrialEnd,
    TrialSummary,
    compare_hands,
    summarise_trials,
)
from referee.record.statistics import PlayerSummary
from referee.sentence import to_json
from referee.text.answers import in_language
from referee.text.catalogue import Texts, with_nbsp
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.figures import draw_reactions
from referee.web.layout import face, page, page_texts
from referee.web.markup import Child, Markup, button_link, data_table, join, panel, svg, tag

STIMULUS_CARD: Final = "Ah"
_PLOT_WIDTH: Final = 900
_PLOT_HEIGHT: Final = 380.0
_LANES: Final = (16.0, 78.0)
"""The lowest and the highest row height of the plot, px."""
_ACTS: Final = ("begin", "stop", "next", "forget")
_STYLES: Final = ("class.css",)


def draw_room(request: Request, lesson: ReactionLesson, address: PageAddress, keys: Sequence[dict[str, object]],
              *, teaches: bool) -> HTMLResponse:  # fmt: skip
    """Draw the room's page; ``teaches``: the viewer may begin and stop; ``keys`` are the pads of this browser."""
    texts = page_texts(request)
    pads, note = None, "class.each_phone" if lesson.kind == "phone" else "class.all_see"
    if teaches and keys:
        pads = tag("div", tag("div", "", id="pads", data_keys=json.dumps(keys)), class_="strip")
    content = [
        said_to_scripts(texts, "class.", "pad.", "control."),
        tag("h1", texts("class.title"), class_="unseen"),
        tag("div", "", id="stage", class_="panel", role="status", aria_live="polite"),
        tag("div", face(STIMULUS_CARD, texts), id="card", aria_hidden="true") if lesson.kind == "screen" else None,
        tag("div", "", id="results"),
        tag("aside", invite_phones(address, note, texts), _buttons(lesson, texts) if teaches else None,
            answer_line(), pads, tag("p", _what_is_kept(lesson, texts), class_="note")),
    ]  # fmt: skip
    scripts = ["forms.js", "regions.js", *(["pad.js"] if pads else []), "class.js"]
    return page(request, texts("class.title"), content, scripts=scripts, pages=(), styles=_STYLES, body="class")


def draw_phone(request: Request) -> HTMLResponse:
    """Draw the page of a phone that shows the stimulus itself."""
    texts = page_texts(request)
    content = [
        said_to_scripts(texts, "class.", "pad.", "control."),
        tag("h1", texts("class.title"), class_="unseen"),
        answer_line(),
        tag("button", tag("b", ""), tag("span", ""), face(STIMULUS_CARD, texts), type="button", class_="pad",
            id="trial", disabled=True),
    ]  # fmt: skip
    return page(
        request, texts("class.title"), content, scripts=("forms.js", "trial.js"), pages=(), styles=_STYLES,
        body="padpage class",
    )  # fmt: skip


def draw_notice(request: Request, key: str, status: int) -> HTMLResponse:
    """Draw a page with a single message."""
    texts = page_texts(request)
    words = tag("section", tag("p", texts(key)), class_="panel empty")
    return page(request, texts("class.title"), words, pages=(), status=status)


def invite_phones(address: PageAddress, note: str, texts: Texts) -> Child:
    """Draw the code for phones to scan, and below it a text (``note`` is its key), or why phones cannot join."""
    if not address.room:
        return tag("p", in_language(to_json(address.why), texts)["words"], class_="note")
    image = tag("img", src="/join.svg", alt=texts("class.scan"), width=220, height=220)
    caption = tag("figcaption", texts("class.scan"), " ", tag("b", f"{address.room}join"))
    return tag("figure", image, caption, class_="panel scan"), tag("p", texts(note), class_="note")


def _buttons(lesson: ReactionLesson, texts: Texts) -> Markup:
    acts = _ACTS if lesson.rounds is not None else ("forget",)
    buttons = [tag("button", texts(f"class.{act}"), type="button", class_="button", data_act=act) for act in acts]
    return tag("div", buttons, button_link(texts("class.csv"), "/trials.csv"), class_="buttons")


def _what_is_kept(lesson: ReactionLesson, texts: Texts) -> str:
    return texts("class.nothing_kept") if lesson.csv is None else texts("class.kept", file=lesson.csv.name)


def draw_stage(lesson: ReactionLesson, texts: Texts) -> Markup:
    """Draw the state of the lesson, in words for all."""
    there = texts.count("class.here", len(lesson.room.pupils))
    lines: list[Child] = [tag("p", there, class_="note")]
    if lesson.trouble:
        lines.append(tag("p", texts("class.not_written", why=lesson.trouble), class_="bad"))
    rounds = lesson.rounds
    if rounds is None:
        return join((tag("p", texts("class.own_pace", each=lesson.room.each), class_="headline"), lines))
    if rounds.phase is RoundPhase.IDLE:
        said = texts("class.unseen" if rounds.unseen else "class.touch_once")
    else:
        further = rounds.number > lesson.room.each
        said = texts("class.further_round" if further else "class.round", n=rounds.number, each=lesson.room.each)
        said += f" · {texts(f'class.hand_{rounds.hand}')}" if rounds.hand else ""
        lines.append(tag("p", texts(f"class.wait_{lesson.kind}"), class_="note"))
    return join((tag("p", said, class_="headline"), lines))


def draw_results(lesson: ReactionLesson, texts: Texts) -> Markup:
    """Draw the dot plot, the medians, and their errors."""
    room = lesson.room
    made = {pupil: summarise_trials(room.of(pupil)) for pupil in room.members}
    made = {pupil: one for pupil, one in made.items() if one.count}
    if not made:
        return tag("p", texts("class.none"), class_="panel empty")
    everybody = summarise_trials(room.trials)
    names = {name_pupil(room, pupil, texts): (pupil, one) for pupil, one in made.items()}
    if len(made) > 1:
        names = {texts("class.everybody"): (0, everybody)} | names
    lane = min(max(_PLOT_HEIGHT / len(names), _LANES[0]), _LANES[1])
    dots = [PlayerSummary(name, pupil, one.times, 0, 0, 0, {}) for name, (pupil, one) in names.items()]
    drawing = draw_reactions(dots, everybody.error, texts, _PLOT_WIDTH, lane)
    plot = tag("section", svg(drawing, class_="chart"), class_="panel")
    asks = any(trial.hand != EITHER for trial in room.trials)
    rows = [_row(texts("class.everybody"), everybody, "" if asks else None, texts, class_="all")]
    for pupil, reaction in made.items():
        hands = _hands_in_words(compare_hands(room.of(pupil)), texts) if asks else None
        # The number beside a nickname is that of the written file.
        name = (
            f"{name_pupil(room, pupil, texts)} ({pupil})" if pupil in room.nicknames else name_pupil(room, pupil, texts)
        )
        rows.append(_row(name, reaction, hands, texts))
    columns = ("who", "trials", "median", "chance", "false_starts", "missed", *(("hands",) if asks else ()))
    table = data_table([texts(f"class.{name}") for name in columns], rows, texts("class.medians"))
    return join((plot, panel(texts("class.medians"), table), _instrument(lesson, everybody, texts, asks=asks)))


def name_pupil(room: Pupils, pupil: int, texts: Texts) -> str:
    """Return a pupil's nickname, or the number in words if there is none."""
    return room.nicknames.get(pupil) or texts("class.pupil", n=pupil)


def draw_trial(trial: Trial, following: int | None, texts: Texts) -> str:
    """Return a trial's result, for its pupil; ``following``: the number of the next one, the same if it is repeated."""
    if trial.end is TrialEnd.REACTION and trial.reaction is not None:
        return with_nbsp(texts.ms(trial.reaction, trial.error))
    if trial.number == following:
        return texts("class.once_more")
    return texts(f"class.end_{trial.end.value}")


def draw_median(trials: Sequence[Trial], texts: Texts) -> str:
    """Return a pupil's median, for that pupil."""
    return _median_of(summarise_trials(trials), texts)


def _median_of(one: TrialSummary, texts: Texts) -> str:
    return "–" if one.median is None else with_nbsp(texts.measured(round(one.median.value), one.error))


def _row(name: str, one: TrialSummary, hands: str | None, texts: Texts, *, class_: str | None = None) -> Markup:
    found, chance = one.median, "–"
    # The times of several pupils are not one sample, so they have no limits of chance.
    if class_ is None and found is not None and found.low is not None and found.high is not None:
        low, high = (texts.ms(round(time), one.error) for time in (found.low, found.high))
        chance = with_nbsp(texts("figures.range", low=low, high=high))
    cells: list[Child] = [one.count, tag("b", _median_of(one, texts)), chance, one.false_starts, one.missed]
    if hands is not None:
        cells.append(with_nbsp(hands))
    return tag("tr", tag("th", name, scope="row"), [tag("td", cell) for cell in cells], class_=class_)


def _hands_in_words(hands: HandComparison | None, texts: Texts) -> str:
    """Return which hand is faster, and by how much, or that it is uncertain; a dash if there are too few times."""
    if hands is None:
        return "–"
    if not hands.is_sure:
        return texts("class.hands_alike")
    quicker = LEFT if hands.high < 0 else RIGHT
    low, high = (texts.ms(time, hands.error) for time in sorted((abs(hands.low), abs(hands.high))))
    return texts(f"class.{quicker}_quicker", by=texts("figures.range", low=low, high=high))


def _instrument(lesson: ReactionLesson, everybody: TrialSummary, texts: Texts, *, asks: bool) -> Markup:
    said = (
        texts("class.known", error=texts.ms(everybody.error, everybody.error)) if everybody.times else "",
        texts(f"class.unknown_{lesson.kind}"),
        texts("class.chance_what"),
        texts("class.hands_what") if asks else "",
    )
    return panel(texts("class.how_far_off"), [tag("p", with_nbsp(words)) for words in said if words])
