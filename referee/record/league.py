"""The league: results, slaps, reaction times and ratings of those who agreed, for a season. Pure but for its input."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Final

from referee.app.people.rating import UNKNOWN, Game, Median, Rating, Ratings, median
from referee.app.people.results import Result

LEAST: Final = 10
"""Games that ended, below which nobody is ranked: after so few each, of two players the better stands above the worse
in some four of five cases (`make league-figures`)."""
COLUMNS: Final = (
    "rank", "player", "games", "games_won", "slaps_won", "slaps_late", "slaps_false", "reaction_median_ms",
    "reaction_low_ms", "reaction_high_ms", "reactions", "reaction_error_ms", "rating", "rating_error",
    "like_the_one_above",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One person's season."""

    name: str
    games: int
    """That ended with a winner."""
    others: int
    """Played besides: drawn, broken off, unreadable."""
    won: int
    slaps: Mapping[str, int]
    """Hands by outcome: ``won``, ``late``, ``false``, ``void``."""
    reaction: Median | None
    """Of time from reveal to hand, ns."""
    error: float
    """Median of what each reaction time may be off by for camera and pad, ns."""
    rating: Rating
    rank: int | None
    """None below `LEAST` games."""
    like_above: bool
    """Whether the rating cannot be told from that of the one ranked above."""


def table(results: Iterable[Result], names: Mapping[str, str]) -> list[Row]:
    """Everybody who played, the ranked first, by rating; then the others by name.

    Args:
        results: games, the oldest first.
        names: of the people, by id. Others at a table count as somebody of middling strength.
    """
    games = list(results)
    number = {who: place for place, who in enumerate(names)}
    ratings = Ratings(len(number), [_game(game, number) for game in games if game.winner is not None])
    rows = {who: _row(who, name, games, ratings[number[who]]) for who, name in names.items()}
    ranked = sorted((who for who in rows if rows[who].games >= LEAST), key=lambda who: -rows[who].rating.value)
    out = []
    for place, who in enumerate(ranked, start=1):
        like = place > 1 and not ratings.apart(number[ranked[place - 2]], number[who])
        out.append(replace(rows[who], rank=place, like_above=like))
    few = [row for row in rows.values() if row.games < LEAST and (row.games or row.others)]
    return out + sorted(few, key=lambda row: row.name.casefold())


def _game(game: Result, number: Mapping[str, int]) -> Game:
    who = (game.people.get(seat, "") for seat in range(1, game.seats + 1))
    assert game.winner is not None
    return tuple(number.get(one, UNKNOWN) for one in who), game.winner - 1


def _row(who: str, name: str, games: Sequence[Result], rating: Rating) -> Row:
    seats = [(game, seat) for game in games for seat, one in game.people.items() if one == who]
    ended = [(game, seat) for game, seat in seats if game.winner is not None]
    hands = [hand for game, seat in seats for hand in game.hands if hand.seat == seat]
    slaps = {kind: sum(hand.outcome == kind for hand in hands) for kind in ("won", "late", "false", "void")}
    counted = [hand for hand in hands if hand.counts]
    error = median([float(hand.error) for hand in counted])
    return Row(
        name, len(ended), len(seats) - len(ended), sum(game.winner == seat for game, seat in ended), slaps,
        median([float(hand.since) for hand in counted if hand.since is not None]),
        0.0 if error is None else error.value, rating, None, False,
    )  # fmt: skip


def as_csv(rows: Sequence[Row]) -> str:
    """The table for a spreadsheet; cells that are not known stay empty."""
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in rows:
        low, high = (None, None) if row.reaction is None else (row.reaction.low, row.reaction.high)
        writer.writerow((
            "" if row.rank is None else row.rank, _cell(row.name), row.games, row.won, row.slaps["won"],
            row.slaps["late"], row.slaps["false"], _ms(None if row.reaction is None else row.reaction.value),
            _ms(low), _ms(high), 0 if row.reaction is None else row.reaction.count,
            _ms(row.error if row.reaction is not None else None),
            f"{row.rating.value:.0f}" if row.games else "", f"{row.rating.error:.0f}" if row.games else "",
            "yes" if row.like_above else "",
        ))  # fmt: skip
    return out.getvalue()


def _cell(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in "=+-@" else text


def _ms(ns: float | None) -> str:
    return "" if ns is None else f"{ns / 1e6:.1f}"


def as_text(rows: Sequence[Row]) -> str:
    """The table for a terminal, with what its figures rest on."""
    if not rows:
        return "no game of anybody who agreed to be remembered, in these days (`referee people`)"
    heads = ("", "player", "games", "won", "slaps won", "false", "reaction, ms", "rating")
    body = [_cells(row) for row in rows]
    widths = [max(len(line[place]) for line in (heads, *body)) for place in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
             for line in (heads, *body)]  # fmt: skip
    error = max(row.error for row in rows) / 1e6
    lines += [
        "",
        f"Ranked are those with {LEAST} games or more that somebody won. = stands where a rating cannot be told from",
        "the one above. After ± stand limits of 95 %; for reaction times the median, the limits of the median, and how",
        f"many times there are. What camera and pads may be off by, {error:.1f} ms, comes on top.",
    ]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    rank = "" if row.rank is None else f"{'=' if row.like_above else ''}{row.rank}"
    reaction = ""
    if row.reaction is not None:
        limits = "" if row.reaction.low is None else f" ({_whole(row.reaction.low)} to {_whole(row.reaction.high)})"
        reaction = f"{_whole(row.reaction.value)}{limits}, n = {row.reaction.count}"
    rating = f"{row.rating.value:.0f} ± {row.rating.error:.0f}" if row.games else ""
    return (
        rank, row.name, str(row.games), str(row.won), str(row.slaps["won"]), str(row.slaps["false"]), reaction, rating,
    )  # fmt: skip


def _whole(ns: float | None) -> str:
    return "" if ns is None else f"{ns / 1e6:.0f}"
