"""The shadowed games of a record: found, compared, reported, and made into regression cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from referee.engine.observations import LogError
from referee.engine.replay import ReplayedGame, TooLong
from referee.engine.shadow_marks import FALSE, GOOD, is_shadowed
from referee.errors import UserError
from referee.options.shadow.comparison import Comparison, case_lines, compare_game
from referee.options.shadow.shadow_lines import agreement_words, shadow_lines
from referee.record.store import GameInfo, Record
from referee.record.stored_lines import LineReader
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords


@dataclass(frozen=True, slots=True)
class ShadowedGame:
    """A shadowed game, ruled again, and its comparison."""

    info: GameInfo
    game: ReplayedGame
    compared: Comparison


def shadowed_games(record: Record) -> Iterator[ShadowedGame]:
    """Yield every shadowed game, the latest first; raises `UserError` if one cannot be ruled again."""
    for info in record.games():
        reader = LineReader()
        lines, logged = reader.read(record.lines(info.id))
        if not is_shadowed(line for _, line in lines):
            continue
        try:
            game = ReplayedGame(lines, logged, leave_out=reader.leave_out)
        except (LogError, TooLong) as error:
            raise UserError("game {id} cannot be compared: {why}", id=info.id, why=error or "it is too long") from None
        yield ShadowedGame(info, game, compare_game(game))


def find_shadowed(record: Record, number: int | None) -> tuple[ShadowedGame, list[ShadowedGame]]:
    """Return one shadowed game, by default the latest, and all of them.

    Raises:
        UserError: there is none, or this game was not shadowed.
    """
    every = list(shadowed_games(record))
    found = [game for game in every if number in (None, game.info.id)]
    if not found:
        which = "no game was shadowed yet" if number is None else f"game {number} was not shadowed"
        raise UserError("{which}: referee run --shadow begins one", which=which)
    return found[0], every


def shadow_report(record: Record, number: int | None = None, language: str = "en") -> Iterator[str]:
    """Yield the comparison of a shadowed game for a terminal, and that of all games if there are more.

    Raises:
        UserError: there is none.
    """
    one, every = find_shadowed(record, number)
    say = texts(language)
    yield f"{say('games.game', game=one.info.id)}: {', '.join(one.info.seats)}"
    yield from shadow_lines(one.game, one.compared, RulingWords(one.game.table.seats, say))
    if len(every) > 1:
        yield agreement_words([each.compared for each in every], say, "shadow.agreement_all")


def shadow_case(record: Record, game: int | None, number: int, *, by_people: bool = True) -> Iterator[str]:
    """Yield the regression case of a difference: the lines of a log.

    Args:
        record: holds the game.
        game: its number; None: the latest shadowed one.
        number: of the difference, from 1.
        by_people: require people's verdict; otherwise the referee's.

    Raises:
        UserError: there is no such difference.
    """
    one, _ = find_shadowed(record, game)
    differing = one.compared.differing
    if not 1 <= number <= len(differing):
        raise UserError(
            "--case: game {id} has {many} differences; `referee shadow` lists them", id=one.info.id, many=len(differing)
        )
    slap, mark = differing[number - 1].slap, differing[number - 1].mark
    other = {GOOD: FALSE, FALSE: GOOD}[mark.verdict]
    yield from case_lines((text for _, text in record.lines(one.info.id)), slap, mark.verdict if by_people else other)
