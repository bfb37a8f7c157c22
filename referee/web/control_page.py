"""The control page: pairing, and the actions of a paired device. Its scripts build the controls.

Routes of the page's process; also the parts by which other pages let paired devices keep and remove games.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from hardware.clock import wall_now
from referee.control.corrections import SEAT_QUESTIONS, takes_count
from referee.control.seat_codes import read_seat_codes
from referee.engine.observations import Card, Slap, Taken
from referee.engine.rulings import Ruling
from referee.record.backup import BackupError, Places, back_up
from referee.rules.house import read_house_rules
from referee.rules.presets import PRESETS
from referee.settings.places import find_settings
from referee.text.catalogue import Texts, table
from referee.text.ruling_lines import RulingWords, pretty
from referee.units import MS
from referee.vision.learned_decks import folder as folder_of_decks
from referee.web.board import Board, Sighting, disputes, find_touched
from referee.web.board_view import shown_at
from referee.web.layout import download, page, page_texts
from referee.web.markup import Markup, tag
from referee.web.site import Site

_HANDS_OFFERED: Final = 8
"""Number of hands offered for correction."""
PICTURES_NEAR: Final = 400 * MS
"""Greatest distance of a picture from the touched thing, ns: pictures are kept that far around a slap."""


async def show_control(site: Site, request: Request) -> HTMLResponse:
    """The control page; every action on it is a request, which the guard allows or refuses."""
    texts = page_texts(request)
    holder = tag(
        "div",
        tag("noscript", tag("p", texts("word.loading"))),
        said_to_scripts(
            texts,
            *(
                "control.",
                "ask.",
                "card.",
                "mend.",
                "foul.",
                "word.",
                "preset.",
                "value.S5.",
                "games.own_rules",
                "pad.pads",
            ),
        ),
        id="control",
        class_="forms",
        data_language=texts.language,
        data_presets=" ".join(PRESETS),
        data_counter=" ".join(name for name in PRESETS if read_house_rules(name).word("S5") == "counter-clockwise"),
        data_controlled=site.controlled,
    )
    title = texts("control.title")
    what = tag("p", texts("control.what"), " ", tag("a", texts("table.link"), href="/table"), class_="crumb")
    scripts = ("forms.js", "faces.js", "corrections.js", "reports.js", "new_game.js", "appliance.js", "control.js")
    content = (tag("h1", title), what, answer_line(), holder)
    return page(request, title, *content, scripts=scripts, styles=("mend.css",), here="/control")


def answer_line() -> Markup:
    """Return the element in which scripts report the result of a request."""
    return tag("p", "", id="answer", role="status", aria_live="polite", class_="note")


def said_to_scripts(texts: Texts, *beginnings: str) -> Markup:
    """Return the texts that a page's scripts use, by their keys."""
    words = {key: text for key, text in table(texts.language).items() if key.startswith(beginnings)}
    return tag("template", "", id="words", data_words=json.dumps(words, ensure_ascii=False))


async def send_recent(site: Site, request: Request) -> JSONResponse:
    """The questions and corrections that are possible now; nothing that the scoreboard does not show anyway."""
    board, texts = site.hub.board, page_texts(request)
    words = RulingWords(board.names, texts)

    def clock(line: Ruling | Slap) -> str:
        return texts.seconds(line.t - board.began)

    asked = board.questions()
    # One at a time, the oldest first.
    questions = [await _question(site, board, question, words) for question in asked[:1]]
    cards: list[dict[str, Any]] = [
        {"id": card.id, "card": card.card, "seat": card.seat, "words": f"{pretty(card.card)} · {words.name(card.seat)}"}
        for card in board.cards()
    ]
    hands: list[dict[str, Any]] = [
        {"id": hand.id, "seat": hand.seat, "words": texts("control.hand", name=words.name(hand.seat), time=clock(hand))}
        for hand in board.hands()[:_HANDS_OFFERED]
    ]
    times = {line.id: line.t for line in (*board.cards(), *board.hands())}
    moments = [event["id"] for event in sorted((*cards, *hands), key=lambda entry: times[entry["id"]], reverse=True)]
    offers = board.offers()
    rulings = [
        {"id": ruling.id, "words": f"{clock(ruling)} · {words(ruling)}", **instead._asdict()}
        for ruling, instead in disputes(board, request.query_params.get("ruling", ""))
    ]
    return JSONResponse(
        {
            "game": board.game, "playing": board.playing, "paused": board.paused, "correctable": board.correctable,
            "about": board.about, "seats": [words.name(seat) for seat in range(1, len(board.names) + 1)],
            "questions": questions, "undo": board.last_said(), "cards": cards, "hands": hands, "moments": moments,
            "rulings": rulings, "offers": None if offers is None else asdict(offers), "phones": _phones(site, words),
        }
    )  # fmt: skip


def _phones(site: Site, words: RulingWords) -> list[dict[str, Any]]:
    """Return the seats whose pads are phones, and how many phones each may have; their codes are not included."""
    codes = [] if site.folder is None else read_seat_codes(site.folder)
    return [
        {"seat": code.seat, "name": code.name or words.name(code.seat), "phones": code.phones}
        for code in codes
        if not code.key
    ]


async def _question(site: Site, board: Board, one: Ruling, words: RulingWords) -> dict[str, Any]:
    """Return a question with help for its answer: the options, the cards that it is about, and a picture."""
    about = [line for name in one.get("about", ()) if (line := board.sighting(name)) is not None]
    cards = [line for line in about if isinstance(line, Card)]
    slapped = sorted({line.seat for line in about if isinstance(line, Slap | Taken) and line.seat})
    everybody = [seat for seat in range(1, len(board.names) + 1) if seat not in board.view.absent]
    seats = [seat for seat in slapped if seat in everybody] if one.get("ask") == "who_was_first" else []
    named = list(one.get("cards", ())) or [card for line in cards[:1] for card in board.likely(line)]
    laid = [{"card": line.card, "words": _when(board, line, words)} for line in cards]
    if one.get("ask") == "unseen_gap":
        # Its cards are no options: they lie there now.
        seen = words.texts.seconds(one.t + one.get("lasted", 0) - board.began)
        named, laid = [], [{"card": card, "words": seen} for card in named]
    return {
        "id": one.id, "ask": one.get("ask"), "words": words(one), "cards": named, "about": list(one.get("about", ())),
        "by_seat": one.get("ask") in SEAT_QUESTIONS or takes_count(one),
        "seats": [{"seat": seat, "name": words.name(seat)} for seat in seats or everybody],
        "laid": laid, "passed": bool(one.get("passed")),
        "picture": await _picture(site, board, about[0]) if about else None,
    }  # fmt: skip


def _when(board: Board, seen: Sighting, words: RulingWords) -> str:
    return f"{words.name(seen.seat)} · {words.texts.seconds(seen.t - board.began)}"


async def _picture(site: Site, board: Board, seen: Sighting) -> str | None:
    """Return the address of the kept picture that shows a thing best; None if there is none.

    A card is shown as late as possible, since the hand that brought it hides it at first; all else at its own instant.
    """
    if board.game is None:
        return None
    start, stop = seen.t - PICTURES_NEAR, seen.t + PICTURES_NEAR
    if isinstance(seen, Card):
        after = board.card_after(seen)
        start, stop = seen.t, stop if after is None else min(stop, after.t - 1)
    found = await site.run_in_worker(site.shelf.picture_instants, board.game, start, stop)
    if not found:
        return None
    t = found[-1] if isinstance(seen, Card) else min(found, key=lambda at: abs(at - seen.t))
    return f"/games/{board.game}/pictures/{t}.jpg"


async def send_touched(site: Site, request: Request) -> JSONResponse:
    """The corrections of a card, a hand or a ruling that was touched on the board; only for paired devices."""
    if request.scope.get("referee.device") is None:
        return JSONResponse({"paired": False}, 401)
    board, words = site.hub.board, RulingWords(site.hub.board.names, page_texts(request))
    name = request.query_params.get("of", "")
    touched = find_touched(board, name)
    if touched is None:
        return JSONResponse({"gone": True}, 404)
    seen, dispute = touched.seen, touched.dispute
    ruling = dispute.ruling if dispute is not None else board.ruling(name)
    shown: dict[str, Any] = {
        "of": name, "ruling": None if dispute is None else dispute.ruling.id,
        "words": "" if ruling is None else words(ruling),
        "why": None if ruling is None or board.game is None else shown_at(board.game, ruling),
        "verdicts": [] if dispute is None else dispute.instead.verdicts,
        "firsts": [] if dispute is None else dispute.instead.seats,
        "rests": [
            {"of": rest.id, "card": getattr(rest, "card", None), "words": _when(board, rest, words)}
            for rest in touched.rests
        ],
        "seats": [words.name(seat) for seat in range(1, len(board.names) + 1)],
        "kind": "ruling" if seen is None else seen.kind, "picture": None,
    }  # fmt: skip
    if seen is not None:
        shown |= {
            "line": seen.id, "seat": seen.seat, "seen": _when(board, seen, words),
            "after": board.line_before(seen), "missed_seat": board.seat_before(seen),
            "picture": await _picture(site, board, seen),
        }  # fmt: skip
    if isinstance(seen, Card):
        shown |= {"card": seen.card, "likely": board.likely(seen), "on": seen.id}
    elif isinstance(seen, Slap):
        top = board.card_before(seen)
        shown |= {"on": None if top is None else top.id}
    return JSONResponse(shown)


_LARGEST_DOWNLOAD: Final = 64 << 20
"""Largest record that the page copies for a download, bytes: on the appliance such a copy lies in memory."""


async def send_backup(site: Site, request: Request) -> Response:
    """Games, people, settings and learned decks as one file, for `referee restore`; only for paired devices."""
    texts = page_texts(request)
    if request.scope.get("referee.device") is None:
        return PlainTextResponse(texts("control.not_paired"), 401)
    record = site.shelf.path
    if record.exists() and record.stat().st_size > _LARGEST_DOWNLOAD:
        return PlainTextResponse(texts("control.backup_large", file=str(record)), 422)
    places = Places(record, site.settings or find_settings(), folder_of_decks())
    try:
        archive = await site.run_exclusively(_read_backup, places)
    except BackupError as error:
        return PlainTextResponse(str(error), 503)
    return download(archive, f"table-referee-{wall_now()[:10]}.zip", "application/zip")


def _read_backup(places: Places) -> bytes:
    with TemporaryDirectory(prefix="referee-backup-") as folder:
        file = Path(folder) / "table.zip"
        back_up(places, file, wall_now())
        return file.read_bytes()


def keeping(site: Site, texts: Texts) -> tuple[list[Markup], tuple[str, ...]]:
    """Return the elements and scripts for keeping and removing games; empty if no device can pair."""
    if not site.controlled:
        return [], ()
    board = site.hub.board
    on = tag("template", "", id="on", data_game=board.game if board.playing else None)
    scripts = ("forms.js", "kept_games.js")
    return [answer_line(), said_to_scripts(texts, "control.", "games."), on], scripts


def mending(texts: Texts) -> tuple[Markup, tuple[str, ...]]:
    """Return the elements and scripts for correcting the board by touch; the scripts go behind the board's own."""
    words = said_to_scripts(texts, "control.", "card.", "mend.", "word.", "board.wrong", "board.no_rulings", "pad.")
    return tag("section", answer_line(), words, id="mended"), ("forms.js", "faces.js", "corrections.js", "mend.js")
