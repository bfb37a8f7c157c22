"""Verdicts that people have overruled: the fold asks for their word as it asks for answers (K6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.rules.slapping import Verdict


def key(slap: str) -> str:
    """Under which name people's word on a slap is kept."""
    return f"overrule@{slap}"


def overruled(judged: Verdict, slap: str, said: Mapping[str, Any]) -> Verdict:
    """The verdict on a slap, or what people put in its place."""
    outcome = said.get(key(slap))
    if outcome is None or outcome == judged.outcome:
        return judged
    reason = "" if outcome == "won" else "overruled"
    return Verdict(outcome, reason, ("K6",), because=judged.because)
