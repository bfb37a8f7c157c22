"""The second law for whole logs, answers and corrections included: a replay prints the same bytes in every order.

``GAMES`` raises how many games are tried.
"""

from __future__ import annotations

import os
import random
from io import BytesIO
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from referee.engine.log import encode_observation, from_fields
from referee.engine.observations import Observation, Tick
from referee.engine.replay import replay_log
from referee.engine.rulings import encode_ruling
from tests.rules.plain_table import play_randomly
from tests.support.log_format import problems
from tests.support.strategies import told_late, with_ticks

GAMES = int(os.environ.get("GAMES", "100"))


def _amendment(rng: random.Random, about: str, lines: list[Observation], seats: int) -> dict[str, Any]:
    correct = {"kind": "correct", "line": about}
    return rng.choice(
        [
            {**correct, "void": True},
            {**correct, "seat": rng.randint(1, seats)},
            {**correct, "card": rng.choice(("7h", "Ks", "??", "Ad"))},
            {**correct, "fields": {"t": rng.randint(lines[0].t, lines[-1].t)}},
            {**correct, "ruling": rng.choice(("slap_won", "slap_void", "slap_false"))},
            {**correct, "line": f"z{rng.randint(0, 3)}", "void": True},
            {"kind": "answer", "to": about, "value": rng.choice((1, 2, "7h", "slap"))},
        ]
    )


def amended_game(seed: int) -> list[Observation]:
    """The log of a random game under random rules, without ticks, with what people said of its lines and rulings."""
    rng = random.Random(seed)
    game = play_randomly(seed, rng.randint(10, 50))
    lines = [line for line in game.lines if not isinstance(line, Tick)]
    ids = [line.id for line in lines] + [ruling.id for ruling in game.rulings]
    said = [
        from_fields(
            {
                **_amendment(rng, rng.choice(ids), lines, len(game.stacks)),
                "id": f"z{number}",
                "t": rng.randint(lines[0].t, lines[-1].t + 10**9),
            },
            1,
        )
        for number in range(rng.randint(1, 4))
    ]
    return [lines[0], *sorted([*lines[1:], *said], key=lambda line: line.t)]


def replayed(lines: list[Observation]) -> str:
    """What a replay prints, and what it prints when asked for everything."""
    raw = "\n".join(encode_observation(line) for line in lines).encode()
    printed = [ruling for all_ in (False, True) for ruling in replay_log(BytesIO(raw), everything=all_)]
    assert not (wrong := problems(printed, lines)), wrong
    return "\n".join(map(encode_ruling, printed))


@settings(
    max_examples=max(GAMES // 2, 10), deadline=None, derandomize=GAMES <= 100, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.reuse, Phase.generate),
)  # fmt: skip
@given(st.integers(0, 2**32))
def test_a_log_with_corrections_replays_the_same_in_any_order(seed: int) -> None:
    table, *lines = amended_game(seed)
    rng = random.Random(seed)
    shuffled = with_ticks(rng, told_late(rng, lines), sensors=False)
    assert replayed([table, *shuffled]).splitlines() == replayed([table, *lines]).splitlines()
