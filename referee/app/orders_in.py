"""Commands that are no matter of a log: a new game, the record, the voice, the power. They come back as orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from referee.app.amended import Amended
from referee.app.commands import Command
from referee.app.outcomes import Accepted, Facts, No
from referee.app.sentences import Sentence
from referee.rules.house import house_rules


def _begin(command: Command, facts: Facts | None) -> Accepted:
    names = [" ".join(name.split()) for name in command.get("seats")]
    if not all(names):
        raise No("every seat needs a name")
    if len({name.casefold() for name in names}) < len(names):
        raise No("two seats have the same name; the voice could not tell them apart")
    dealer = command.get("dealer", 1)
    if dealer > len(names):
        raise No("there is no seat {number} to deal; {many} play", number=dealer, many=len(names))
    house_rules(command.get("rules"))
    return _new_game(names, command.get("rules"), dealer, command, facts)


def _rematch(command: Command, facts: Facts | None) -> Accepted:
    table = Amended(facts.observations, facts.rulings).table if facts is not None else None
    if table is None:
        raise No("no game was played yet that could be played again")
    dealer = table.dealer % len(table.seats) + 1
    return _new_game(list(table.seats), table.rules, dealer, command, facts)


def _new_game(names: list[str], rules: Any, dealer: int, command: Command, facts: Facts | None) -> Accepted:
    if facts is not None and not facts.view.game_over and not command.get("abandon"):
        raise No("a game is being played; say that it is to be broken off")
    said = {"seats": names, "rules": rules, "dealer": dealer}
    return Accepted(Sentence("a new game for {names}", names=names), order=Command("begin", said))


def _keep(command: Command, _: Facts | None) -> Accepted:
    game = command.get("game")
    if command.get("keep"):
        return Accepted(Sentence("game {game} is kept for good", game=game), order=command)
    return Accepted(Sentence("game {game} may make room for others again", game=game), order=command)


def _remove(command: Command, facts: Facts | None) -> Accepted:
    game = command.get("game")
    if facts is not None and facts.game == game and not facts.view.game_over:
        raise No("that game is being played")
    return Accepted(Sentence("game {game} is removed", game=game), order=command)


def _power_off(command: Command, _: Facts | None) -> Accepted:
    return Accepted(Sentence("finishing, and switching off"), order=command)


def _settings(command: Command, _: Facts | None) -> Accepted:
    if ("quiet_from" in command.fields) != ("quiet_to" in command.fields):
        raise No("say from when and to when it is to be quiet, both")
    if bool(command.get("quiet_from")) != bool(command.get("quiet_to")):
        raise No("say from when and to when it is to be quiet, or nothing for both")
    return Accepted(Sentence("set"), order=command)


ORDERS: Final[Mapping[str, Callable[[Command, Facts | None], Accepted]]] = {
    "begin": _begin,
    "rematch": _rematch,
    "keep": _keep,
    "remove": _remove,
    "power_off": _power_off,
    "settings": _settings,
}
