"""The main process' side of control: what comes over the socket goes to pairing, or to whoever knows the game.

desk = Desk(Pairing(), obey)        # obey: Command -> Outcome, by `commands_in.outcome` and what it orders
inlet = Inlet(folder, desk)         # and inlet.turn() once in each turn of the loop
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hardware.clock import Clock, monotonic
from referee.adjudication.observations import LogError, Observation
from referee.app.commands import PAIRING, Command, CommandError, checked, parse
from referee.app.commands_in import outcome
from referee.app.outcomes import Accepted, Facts, Outcome, Refused
from referee.app.page.pairing import SECOND, Pairing
from referee.app.sentences import told

Obey = Callable[[Command], Outcome]
"""Does what a command says, or refuses it."""
_ADDRESS: Final = 64
"""Characters of an address."""


def obeying(
    facts: Callable[[], Facts | None],
    name: Callable[[str], str],
    observe: Callable[[Observation], None],
    order: Callable[[Command], str],
) -> Obey:
    """Join commands to a game.

    Args:
        facts: the game as it stands; None where there is none.
        name: gives a new line of a kind its id.
        observe: puts a line into the log and has it judged; raises `LogError` where the log has ended.
        order: does what is no matter of the log; gives words where it cannot be done, else nothing.
    """

    def obey(command: Command) -> Outcome:
        done = outcome(command, facts(), name)
        if isinstance(done, Refused):
            return done
        if done.order is not None:
            words = order(done.order)
            return Refused(words) if words else done
        try:
            for line in done.observations:
                observe(line)
        except LogError as bad:
            return Refused(bad.problem)
        return done

    return obey


class Desk:
    """Takes one record after the other; see `referee.app.page.bridge.Inlet`."""

    def __init__(self, pairing: Pairing, obey: Obey, clock: Clock = monotonic) -> None:
        self.pairing = pairing
        self._obey, self._clock = obey, clock

    def __call__(self, asked: Any) -> Mapping[str, Any]:
        """Answer one record: ``accepted``, `told` words, and ``wait`` (s) where another try must wait."""
        try:
            if isinstance(asked, Mapping) and asked.get("do") == "pair":
                return self._pair(asked)
            done = self._obey(parse(asked))
        except CommandError as bad:
            return {"accepted": False, **told(bad.sentence)}
        return {"accepted": isinstance(done, Accepted), **told(done.words)}

    def _pair(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        code = checked(PAIRING, {"code": asked.get("code")})["code"]
        done = self.pairing.attempt(code, str(asked.get("from", ""))[:_ADDRESS], self._clock())
        if not done.wait:
            return {"accepted": done.accepted, **told(done.words)}
        return {"accepted": False, **told(done.words), "wait": -(-done.wait // SECOND), "status": 429}
