"""The page of a finished game: the winner, each player's cards over time, a few moments, and a rematch."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.engine.observations import Other, Slap
from referee.engine.rulings import end_of
from referee.record.pictures import AFTER, BEFORE
from referee.record.seals import show_seal
from referee.record.statistics import HandFigure, make_figures
from referee.text.catalogue import Texts, with_nbsp
from referee.text.ruling_lines import RulingWords
from referee.web.board_view import ruling_address
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.games_cache import GameCache, LoadedGame, LoggedGame
from referee.web.layout import address, page, page_texts, seat_dot
from referee.web.markup import Child, Drawing, Line, Markup, Polyline, Shape, Text, button_link, seat_role, svg, tag
from referee.web.photo_finish.finish_svg import Axis, shortened
from referee.web.site import Site

_POINTS: Final = 160
"""Most instants on the curve."""
_SIZE: Final = (640, 540)
_BROKEN_SHOWN: Final = 5


class CardCounts(NamedTuple):
    """Each seat's number of cards at an instant (ns); None if unknown."""

    t: int
    counts: tuple[int | None, ...]
    place: int
    """Index of the game's step at that instant."""


class GameMoment(NamedTuple):
    """A moment of a game that is worth telling again."""

    what: str
    """Its text: ``end.WHAT``."""
    said: str
    seat: int | None
    href: str
    slap: Slap | None = None
    """The hand that it is about."""


def count_cards(folded: LoadedGame) -> list[CardCounts]:
    """Return the cards of each seat through a game, at a limited number of instants."""
    last = len(folded.steps) - 1
    places = sorted({round(place * last / _POINTS) for place in range(_POINTS + 1)}) if last >= 0 else []
    found = [CardCounts(folded.steps[place].observation.t, folded.view(place).counts, place) for place in places]
    return [counts for counts in found if counts.counts]


def find_moments(folded: LoadedGame, words: RulingWords) -> list[GameMoment]:
    """Return at most five moments: closest finish, quickest hand, largest pile, the winner's low, the end."""
    texts, game = words.texts, folded.info.id
    in_force = [ruling for ruling in folded.rulings if ruling.id not in folded.replaced_by]
    hands = make_figures(folded, game)
    moments = [*_of_hands(folded, hands, words)]
    piles = [ruling for ruling in in_force if ruling.kind == "pile" and ruling.get("count")]
    if piles:
        most = max(piles, key=lambda pile: int(pile["count"]))
        moments.append(GameMoment("largest", words(most), most["seat"], ruling_address(game, most)))
    winner = next((ruling["seat"] for ruling in in_force if ruling.kind == "won"), None)
    if winner is not None:
        known = [(card.counts[winner - 1], card) for card in count_cards(folded) if len(card.counts) >= winner]
        low = min(
            ((count, entry) for count, entry in known if count is not None), key=lambda pair: pair[0], default=None
        )
        if low is not None:
            held = f"{texts.count('cards', low[0])}, {texts.seconds(low[1].t - folded.table.t)}"
            said = f"{words.name(winner)}{texts('word.colon')}{held}"
            # The address counts only lines that the referee knows.
            at = sum(not isinstance(step.observation, Other) for step in folded.steps[: low[1].place])
            href = address(f"/games/{game}/replay", {"at": at})
            moments.append(GameMoment("lowest", said, winner, href))
    if piles:
        last = max(piles, key=lambda pile: pile.t)
        moments.append(GameMoment("last", words(last), last["seat"], ruling_address(game, last)))
    return moments


def _of_hands(folded: LoadedGame, hands: Sequence[HandFigure], words: RulingWords) -> Iterator[GameMoment]:
    texts = words.texts
    gaps = [hand for hand in hands if hand.margin is not None and hand.margin_error is not None]
    if gaps:
        nearest = min(gaps, key=lambda gap: gap.margin or 0)
        said = words(folded.by_id[nearest.ruling])
        yield GameMoment("nearest", said, nearest.seat, _finish(folded, nearest), _hand(folded, nearest))
    timed = [hand for hand in hands if hand.outcome == "won" and hand.counts]
    if timed:
        quick = min(timed, key=lambda hand: hand.since or 0)
        time = texts.measured(quick.since or 0, quick.error)
        said = texts("end.after_card", name=words.name(quick.seat), time=time)
        yield GameMoment("quickest", said, quick.seat, _finish(folded, quick), _hand(folded, quick))


def _finish(folded: LoadedGame, hand: HandFigure) -> str:
    return address(f"/games/{folded.info.id}/finish", {"slap": hand.slap})


def _hand(folded: LoadedGame, hand: HandFigure) -> Slap | None:
    line = folded.line(hand.slap)
    return line if isinstance(line, Slap) else None


def draw_counts(counts: Sequence[CardCounts], words: RulingWords) -> Drawing:
    """Draw a line for each seat: its cards over the game's time, with its name at the end."""
    texts, (width, height) = words.texts, _SIZE
    start, stop = counts[0].t, max(counts[-1].t, counts[0].t + 1)
    axis, bottom, top = Axis(start, stop, 64, width - 190), height - 62.0, 30.0
    most = max([count for entry in counts for count in entry.counts if count is not None] or [1])

    def y(count: int) -> float:
        return bottom - (bottom - top) * count / most

    shapes: list[Shape] = []
    for count in sorted({0, most // 2, most}):
        shapes.append(Line(axis.left, y(count), axis.right, y(count), "rule2", 1.5))
        shapes.append(Text(axis.left - 10, y(count) + 13, str(count), "ink", 40, "end"))
    ends = []
    for seat in range(1, len(counts[-1].counts) + 1):
        known = [(count.t, count.counts[seat - 1]) for count in counts if len(count.counts) >= seat]
        points = tuple((axis.x(t), y(count)) for t, count in known if count is not None)
        if points:
            shapes.append(Polyline(points, seat_role(seat), 6.0))
            ends.append((points[-1][1], seat))
    # Names that would overlap move apart; the lowest one stays.
    line, free = 46.0, bottom + 6.0
    for at, seat in sorted(ends, reverse=True):
        free = min(at, free)
        shapes.append(Text(axis.right + 12, free + 13, shortened(words.name(seat), 8), seat_role(seat), 40, weight=700))
        free -= line
    clock = texts.seconds(stop - start)
    shapes.append(Text(axis.right, height - 14, clock, "ink", 40, "end"))
    final = ", ".join(
        f"{words.name(seat)}{texts('word.colon')}{texts.count('cards', count)}"
        for seat, count in enumerate(counts[-1].counts, start=1)
        if count is not None
    )
    return Drawing(width, height, tuple(shapes), texts("end.curve"), final)


def _headline(folded: LoadedGame, words: RulingWords) -> tuple[str, int | None]:
    """Return how the game ended, and the seat whose colour that has."""
    end = end_of(folded.rulings)
    if end is None:
        return words.texts("games.unfinished"), None
    seat = end.get("seat")
    return words.outcome(end), seat if isinstance(seat, int) else None


def _moment(moment: GameMoment, texts: Texts, pictured: Container[str]) -> Markup:
    """Return a moment; ``pictured``: the hands that can be played again."""
    dot = seat_dot(moment.seat) if moment.seat else ""
    said = tag("a", with_nbsp(moment.said), href=moment.href)
    again = None
    if moment.slap is not None and moment.slap.id in pictured:
        label = texts("instant_replay.again")
        again = tag("a", "▶", href=f"{moment.href}#replay", class_="button small", title=label, aria_label=label)
    return tag("li", tag("h3", texts(f"end.{moment.what}")), tag("p", dot, said, " ", again))


def _find_pictured(shelf: GameCache, folded: LoadedGame, moments: Sequence[GameMoment]) -> tuple[str, ...]:
    """Return the ids of the moments' hands of which there are pictures."""
    hands = [moment.slap for moment in moments if moment.slap is not None]
    return tuple(
        hand.id for hand in hands if shelf.picture_instants(folded.info.id, hand.t - BEFORE, hand.t + AFTER)
    )  # fmt: skip


def _summary(shelf: GameCache, folded: LoadedGame, words: RulingWords, head: str) -> list[Markup]:
    """Return how a game ended, each player's cards over time, and its moments; ``head`` is the heading's element."""
    texts, counts = words.texts, count_cards(folded)
    text, seat = _headline(folded, words)
    curve = svg(draw_counts(counts, words), class_="curve") if counts else None
    found = find_moments(folded, words)
    pictured = _find_pictured(shelf, folded, found)
    moments = [_moment(moment, texts, pictured) for moment in found]
    figure = tag("figure", tag("figcaption", texts("end.curve")), curve, class_="panel")
    title = tag("h2", texts.count("end.moments", len(moments)))
    listed = tag("section", title, tag("ul", moments), class_="panel moments") if moments else None
    outcome = tag(head, text, class_=f"ink-seat{(seat - 1) % 8 + 1}" if seat else None)
    return [outcome, tag("div", figure, listed, class_="ended")]


def show_summary(shelf: GameCache, folded: LoadedGame, texts: Texts) -> Markup:
    """Return the summary of a game for above its rulings, drawn once."""
    words = RulingWords(folded.table.seats, texts)
    pictures = len(shelf.picture_instants(folded.info.id, 0, 2**62))
    drawn = shelf.drawn(
        folded, ("summary", texts.language, pictures), lambda: tag("div", _summary(shelf, folded, words, "p"))
    )  # fmt: skip
    return Markup(drawn)


def record_notes(folded: LoadedGame | LoggedGame, texts: Texts) -> list[Markup]:
    """Return notes on the game's seal, the lines that differ from what was sealed, and the unreadable ones."""
    seals, notes = folded.seals, []
    if seals.broken:
        places = _places([seal.number for seal in seals.broken])
        notes.append(tag("p", texts.count("games.seal_broken", len(seals.broken), lines=places), class_="note bad"))
    elif seals.last:
        anew = f" {texts('games.sealed_anew')}" if seals.resealed else ""
        said = tag("p", texts("games.seal", seal=show_seal(seals.last)), anew)
        notes.append(tag("details", tag("summary", texts("finish.details")), said, class_="note seal"))
    if folded.odd:
        places = _places([line.number for line in folded.odd])
        notes.append(tag("p", texts.count("games.odd", len(folded.odd), lines=places), class_="note bad"))
    return notes


def _places(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_BROKEN_SHOWN])
    return f"{shown} …" if len(numbers) > _BROKEN_SHOWN else shown


async def show_end(site: Site, request: Request) -> HTMLResponse:
    """The page of a finished game; when the next one begins, its script returns to the board."""
    texts, folded = page_texts(request), await site.folded(request)
    projector = request.query_params.get("from") == "projector"

    def write() -> list[Child]:
        words, game = RulingWords(folded.table.seats, texts), folded.info.id
        links: list[Child] = [
            tag("button", texts("control.rematch"), type="button", id="rematch", class_="button strong", hidden=True),
            button_link(texts("games.replay"), f"/games/{game}/replay"),
            button_link(texts("games.rulings"), f"/games/{game}"),
            button_link(texts("nav.board"), "/projector" if projector else "/"),
            tag("p", texts("end.another"), id="another", hidden=True),
        ]
        seal = record_notes(folded, texts)
        return [*_summary(site.shelf, folded, words, "h1"), seal, tag("div", links, class_="buttons")]

    content = await site.run_in_worker(write)
    said = [answer_line(), said_to_scripts(texts, "control.")]
    holder = tag(
        "div",
        content,
        said,
        id="end",
        data_game=folded.info.id,
        data_back="/projector" if projector else "/",
        data_events=address("/events", {"lang": texts.language}),
    )
    title = texts("games.game", game=folded.info.id)
    return page(
        request, title, holder, scripts=("forms.js", "end.js"), body="projector end" if projector else "end",
        here="/games",
    )  # fmt: skip
