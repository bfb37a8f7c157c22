"""The page of `referee review`: strips of frames in which people mark the first one that shows each hand.

A separate small server, for this machine only: it has one dispute and no record. Any user of this machine may mark; the
guard rejects requests of other pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.control.commands import CommandError, CommandFields, check_fields
from referee.control.socket import NOT_JSON
from referee.engine.observations import Taken
from referee.engine.rulings import Ruling
from referee.options.video_review.dispute import Dispute, DisputeError, HandInstant, Marks, SlapMoment
from referee.options.video_review.footage import picture_path
from referee.rules.cards import JOKERS, PACK
from referee.sentence import to_json
from referee.text.answers import in_language
from referee.text.catalogue import Texts, with_nbsp
from referee.text.ruling_lines import RulingWords, pretty
from referee.units import MS, SECOND
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.layout import card, download, page, page_texts, seat_dot, send_static
from referee.web.markup import PALETTES, Child, Markup, Polygon, button_link, svg, tag
from referee.web.photo_finish.glance_svg import draw_shared, draw_strip
from referee.web.photo_finish.moment import Finish, finish
from referee.web.security.guard import Guard
from referee.web.security.hosts import Hosts
from referee.web.security.limits import USUAL_LIMITS
from referee.web.security.sessions import Sessions
from referee.web.serving import make_get_routes

Act = Callable[[Mapping[str, Any]], None]
"""Carries out a posted command, whose fields are already checked."""
_TOP_CARDS: Final = 6
"""Maximum number of cards shown of a moment's pile."""
_BESIDE: Final = 120 * MS
"""Time drawn before the first and after the last hand of a moment."""
_WAVE: Final = 70
"""Height of the waveform, px; `_WAVE_AT` is its middle."""
_WAVE_AT: Final = 190
_API: Final = "/api/review/"
_STATIC: Final = Path(__file__).with_name("static")
_LIMITS: Final = replace(USUAL_LIMITS, reads=10_000, changes=200)
"""Strips are many small pictures."""


class MomentFields(CommandFields):
    """A moment without a slap."""

    moment: str = Field(description="the id of a moment's card")


class LineFields(CommandFields):
    """A card or a take that did not happen."""

    line: str = Field(description="the id of a card or a take")


class NamedFields(MomentFields):
    """The correct card of a misread one."""

    card: str = Field(description="a card such as 7h")


class AddedFields(CommandFields):
    """A missed card that shows its face in a frame for the first time."""

    frame: int = Field(description="the place of a frame in the video")
    card: str = Field(description="a card such as 7h")


class HandFields(MomentFields):
    """A hand that appears in a frame for the first time."""

    seat: int = Field(description="the number of a seat")
    frame: int = Field(description="the place of a frame in the video")


@dataclass
class OpenDispute:
    """The dispute on the page."""

    dispute: Dispute
    pictures: Path
    """Folder of the frames' pictures."""
    log: Path
    """Path of the saved log."""
    saved: Marks = field(default_factory=Marks)
    """The marks in the saved log."""

    def save(self) -> None:
        """Write the log; raises `OSError`."""
        self.log.write_text(self.dispute.write_log(), encoding="utf-8")
        self.saved = self.dispute.marks


def build_dispute(opened: OpenDispute) -> Guard:
    """Build the page's application."""
    posted: dict[str, tuple[type[CommandFields], Act]] = {
        "mark": (HandFields, lambda fields: opened.dispute.mark(**fields)),
        "nobody": (MomentFields, lambda fields: opened.dispute.note_unslapped(**fields)),
        "name": (NamedFields, lambda fields: opened.dispute.name_card(**fields)),
        "add": (AddedFields, lambda fields: opened.dispute.add_card(**fields)),
        "strike": (LineFields, lambda fields: opened.dispute.strike_out(**fields)),
        "undo": (CommandFields, lambda _: opened.dispute.undo()),
        "save": (CommandFields, lambda _: opened.save()),
    }
    shown = {
        "/": partial(_show_dispute, opened), "/frames/{frame:int}.jpg": partial(_send_frame, opened),
        "/finish/{moment}.svg": partial(_send_finish, opened),
        "/static/{name}": partial(send_static, folders=[_STATIC]),
    }  # fmt: skip
    routes = [
        *make_get_routes(shown),
        *(Route(f"{_API}{name}", partial(_post, opened, *how), methods=["POST"]) for name, how in posted.items()),
    ]
    changes = [f"{_API}{name}" for name in posted]
    hosts = Hosts(frozenset(("localhost",)))
    return Guard(Starlette(routes=routes), Sessions(), hosts=hosts, limits=_LIMITS, open_changes=changes)


async def _send_frame(opened: OpenDispute, request: Request) -> Response:
    """Send the picture of one frame."""
    try:
        data = picture_path(opened.pictures, request.path_params["frame"]).read_bytes()
    except FileNotFoundError:
        raise HTTPException(404) from None
    return Response(data, media_type="image/jpeg")


async def _send_finish(opened: OpenDispute, request: Request) -> Response:
    """Send one picture of a moment's result, to share."""
    texts, dispute, name = page_texts(request), opened.dispute, request.path_params["moment"]
    moment = next((moment for moment in dispute.moments if moment.card.id == name), None)
    hands = sorted((frame, seat) for (marked, seat), frame in dispute.marks.hands.items() if marked == name)
    words = RulingWords(dispute.table.seats, texts)
    seen = _finish_of(dispute, f"slap-{name}-{hands[0][1]}", dispute.rule()) if hands else None
    if moment is None or seen is None:
        raise HTTPException(404)
    drawing = draw_shared(seen, words, describe_moment(moment, words))
    return download(svg(drawing, PALETTES["light"]), f"{opened.log.stem}-{name}.svg", "image/svg+xml")


async def _post(opened: OpenDispute, kind: type[CommandFields], act: Act, request: Request) -> JSONResponse:
    """Carry out a posted command, and answer with everything that may have changed."""
    texts = page_texts(request)
    try:
        act(check_fields(kind, json.loads(await request.body())))
    except CommandError as error:
        return JSONResponse({"accepted": False, **in_language(to_json(error.sentence), texts)}, 400)
    except DisputeError:
        return JSONResponse({"accepted": False, "words": texts("review.refused")}, 400)
    except OSError as error:
        words = texts("review.not_saved", file=opened.log.name, why=str(error.strerror))
        return JSONResponse({"accepted": False, "words": words}, 503)
    except (ValueError, RecursionError):
        return JSONResponse({"accepted": False, **in_language(to_json(NOT_JSON), texts)}, 400)
    words = texts("review.saved", file=opened.log.name) if request.url.path == f"{_API}save" else ""
    return JSONResponse({"accepted": True, "words": words, **_changed(opened.dispute, texts)})


def _changed(dispute: Dispute, texts: Texts) -> dict[str, Any]:
    """Return the effect of the marks: the regions of the page that show it, and the marks for the strips."""
    rulings, instants, words = dispute.rule(), dispute.hand_instants(), RulingWords(dispute.table.seats, texts)
    return {
        "regions": {
            f"ruled-{moment.card.id}": "".join(_ruled(dispute, moment, rulings, instants, words))
            for moment in dispute.moments
        },
        # If these change, the page must be reloaded.
        "moments": [f"{moment.card.id} {moment.card.card}" for moment in dispute.moments],
        "marks": [
            {"moment": moment, "seat": seat, "frame": frame, "name": words.name(seat)}
            for (moment, seat), frame in dispute.marks.hands.items()
        ],
    }


async def _show_dispute(opened: OpenDispute, request: Request) -> Response:
    """Show the page."""
    texts, dispute = page_texts(request), opened.dispute
    changed = _changed(dispute, texts)
    words = RulingWords(dispute.table.seats, texts)
    draw = partial(_moment, words=words, seats=len(dispute.table.seats), regions=changed["regions"])
    told_first = [moment for moment in dispute.moments if moment.slappable]
    others = [moment for moment in dispute.moments if not moment.slappable]
    buttons = [
        tag("button", texts(f"review.{name}"), type="button", id=name, class_=f"button {kind}".strip())
        for name, kind in (("undo", ""), ("save", "strong"))
    ]
    content: Sequence[Child] = (
        tag("h1", texts("review.title")),
        tag("p", texts("review.what"), class_="note"),
        tag("div", tag("div", buttons, class_="buttons"), answer_line(), class_="panel controls"),
        said_to_scripts(texts, "control.unanswered"),
        tag("h2", texts("review.moments")),
        list(map(draw, told_first)) or tag("p", texts("review.none"), class_="panel none"),
        tag("h2", texts("review.others")) if others else None,
        [tag("details", tag("summary", describe_moment(moment, words)), draw(moment)) for moment in others],
        tag("h2", texts("review.takes")) if dispute.takes else None,
        tag("ul", [_take(take, texts) for take in dispute.takes], class_="rows"),
    )
    shown = {name: json.dumps(changed[name], separators=(",", ":")) for name in ("marks", "moments")}
    holder = tag(
        "div", content, id="dispute", class_="forms dispute", data_marks=shown["marks"], data_moments=shown["moments"]
    )
    scripts = ("regions.js", "forms.js", "dispute.js")
    return page(request, texts("review.title"), holder, scripts=scripts, pages=(), styles=("dispute.css",))


def describe_moment(moment: SlapMoment, words: RulingWords) -> str:
    """Return a moment's instant in the video, its card, and what may be slapped there."""
    texts = words.texts
    what = words.patterns(moment.patterns)
    if not moment.patterns:
        what = texts("review.unread" if moment.unread else "review.no_pattern")
    minutes, seconds = divmod(moment.card.t // SECOND, 60)
    named = {"card": pretty(moment.card.card), "at": f"{minutes}:{seconds:02}"}
    if len(moment.pile) < 2:
        return f"{texts('review.moment', **named)} · {what}"
    return f"{texts('review.moment_on', under=pretty(moment.pile[-2]), **named)} · {what}"


def _moment(moment: SlapMoment, words: RulingWords, seats: int, regions: dict[str, str]) -> Markup:
    """Draw one moment: its pile, the seats to mark, the frames, and the ruling."""
    texts, name = words.texts, moment.card.id
    choices = [
        tag("label", tag("input", type="radio", name=f"seat-{name}", value=seat, checked=seat == 1), seat_dot(seat),
            words.name(seat))
        for seat in range(1, seats + 1)
    ]  # fmt: skip
    strip = [
        tag(
            "button", tag("img", src=f"/frames/{frame}.jpg", alt="", loading="lazy"), tag("span", "", class_="marks"),
            type="button", data_frame=frame, aria_label=texts("review.frame", n=frame),
        )
        for frame in moment.frames
    ]  # fmt: skip
    side = tag(
        "div",
        tag("div", [card(lying, texts) for lying in moment.pile[-_TOP_CARDS:]], class_="cards"),
        tag("fieldset", tag("legend", texts("review.whose")), tag("div", choices, class_="row")),
        tag("button", texts("review.nobody"), type="button", class_="button", data_act="nobody"),
        tag("div", Markup(regions[f"ruled-{name}"]), id=f"ruled-{name}", class_="ruled", aria_live="polite"),
        _mending(texts),
    )
    large = tag("img", src=f"/frames/{moment.frames[0]}.jpg", alt=texts("review.large"), class_="large", loading="lazy")
    return tag(
        "section",
        tag("h3", describe_moment(moment, words)),
        tag("div", large, side, class_="look"),
        tag("div", strip, class_="strip", role="group", aria_label=texts("review.strip")),
        class_="panel",
        data_moment=name,
    )


def _mending(texts: Texts) -> Markup:
    """Draw the corrections of cards: a misread one, one that was not laid, one that was missed."""
    faces = [tag("option", pretty(face), value=face) for face in (*PACK, *JOKERS)]
    acts = [
        tag("button", texts(f"review.{act}"), type="button", class_="button", data_act=act)
        for act in ("name", "add", "strike")
    ]
    which = tag("label", texts("review.which"), tag("select", faces, name="card"))
    return tag("details", tag("summary", texts("review.mend")), which, tag("div", acts, class_="buttons"))


def _take(take: Taken, texts: Texts) -> Markup:
    button = tag("button", texts("review.strike_take"), type="button", class_="button", data_strike=take.id)
    return tag("li", texts.seconds(take.t), " ", button)


def _ruled(
    dispute: Dispute, moment: SlapMoment, rulings: Sequence[Ruling], instants: Mapping[tuple[str, int], HandInstant],
    words: RulingWords,
) -> Iterator[str]:  # fmt: skip
    """Yield a moment's marks, and their rulings."""
    texts, name = words.texts, moment.card.id
    marks = sorted((frame, seat) for (marked, seat), frame in dispute.marks.hands.items() if marked == name)
    verdicts = dispute.verdicts(rulings, name)
    for ruling in verdicts:
        yield tag(
            "p", tag("span", with_nbsp(words(ruling)), class_="text"), class_=f"k-{ruling.kind}", data_id=ruling.id
        )
    if marks:
        lines = []
        for _, seat in marks:
            hand = instants[name, seat]
            said = f"{words.name(seat)} · {texts.measured(hand.t, hand.t_error, unit='s')}"
            lines.append(
                tag("li", seat_dot(seat), with_nbsp(said), f" · {texts('review.heard')}" if hand.by_sound else "")
            )
        yield tag("p", texts("review.rests"), class_="note")
        yield tag("ul", lines, class_="rows")
        heard = sum(instants[name, seat].by_sound for _, seat in marks)
        yield tag("p", _about_sound(dispute, heard, len(marks), texts), class_="note")
        yield _finish(dispute, f"slap-{name}-{marks[0][1]}", rulings, words)
        yield tag("p", button_link(texts("finish.share"), f"/finish/{name}.svg", download=True), class_="buttons")
    elif name in dispute.marks.unslapped:
        yield tag("p", texts("review.unslapped"), class_="note")


def _about_sound(dispute: Dispute, heard: int, marked: int, texts: Texts) -> str:
    """Return what the sound says of the marked hands of a moment, or why it says nothing."""
    if dispute.sound is None:
        return texts("review.no_sound")
    if dispute.fit_sound() is None:
        return texts("review.sound_unknown")
    return texts("review.sound_all" if heard == marked else "review.sound_part" if heard else "review.sound_none")


def _finish_of(dispute: Dispute, slap: str, rulings: Sequence[Ruling]) -> Finish | None:
    return finish(dispute.lines(), rulings, slap, seats=len(dispute.table.seats))


def _finish(dispute: Dispute, slap: str, rulings: Sequence[Ruling], words: RulingWords) -> Markup:
    """Draw the hands of a moment on a time axis, and under it the sound's waveform where its clock is known."""
    seen = _finish_of(dispute, slap, rulings)
    if seen is None:
        return Markup("")
    last = max(hand.t for hand in seen.hands) - seen.zero
    drawing, axis = draw_strip(seen, words, -_BESIDE, last + _BESIDE)
    fit = dispute.fit_sound()
    if dispute.sound is None or fit is None:
        return tag("figure", svg(drawing))
    peaks = []
    for place in range(int(axis.left), int(axis.right) + 1):
        t = seen.zero + axis.start + (place - axis.left) / (axis.right - axis.left) * (axis.stop - axis.start)
        at = fit.sound_instant(round(t)) // MS
        loud = dispute.sound.loudness[at] if 0 <= at < len(dispute.sound.loudness) else 0
        peaks.append((float(place), loud / 255 * _WAVE / 2))
    outline = [(x, _WAVE_AT - y) for x, y in peaks] + [(x, _WAVE_AT + y) for x, y in reversed(peaks)]
    shapes = (*drawing.shapes, Polygon(tuple(outline), "soft", 0.8))
    height = _WAVE_AT + _WAVE // 2 + 10
    return tag("figure", svg(replace(drawing, shapes=shapes, height=height)))
