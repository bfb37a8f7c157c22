"""What the referee decided: rulings, and their line in the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from json.encoder import encode_basestring as _text
from typing import Any, Final

from referee.rules.records import record

_ENCODE: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode

LIFE: Final = {
    kind: place
    for place, kinds in enumerate(
        (
            ("dead_heat",),
            ("slap_won", "slap_false", "slap_void"),
            ("burn", "strike", "give", "locked_out"),
            ("dead_card", "foul", "contested"),
            ("challenge", "chance", "challenge_moves", "challenge_off", "challenge_won"),
            ("out",),
            ("pile",),
            ("slapped_in",),
            ("won", "lost", "drawn", "repeated"),
            ("lead",),
            ("turn",),
            ("question",),
            ("remind", "corrected"),
        )
    )
    for kind in kinds
}
"""Where a kind stands among the rulings of one cause: the order in which a table lives through them."""


@record(frozen=True, slots=True)
class Ruling:
    """One decision: what, about which instant, resting on which observations and rows of the rules."""

    kind: str
    id: str
    t: int
    """The instant that it refers to, ns."""
    because: tuple[str, ...]
    """Ids of the observations that it rests on."""
    rule: tuple[str, ...]
    """Ids of rows of the rules."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    supersedes: tuple[str, ...] = ()
    doubt: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or ``default`` where this ruling has none of that name."""
        return self.fields.get(name, default)


def ruling_fields(ruling: Ruling) -> dict[str, Any]:
    """The JSON object of a ruling."""
    out: dict[str, Any] = {"ruling": ruling.kind, "id": ruling.id, "t": ruling.t}
    out.update(ruling.fields)
    out["because"] = list(ruling.because)
    out["rule"] = list(ruling.rule)
    if ruling.supersedes:
        out["supersedes"] = list(ruling.supersedes)
    if ruling.doubt:
        out["doubt"] = True
    return out


def encode_ruling(ruling: Ruling) -> str:
    """One line of the log, without its line break: `ruling_fields` as JSON.

    Written out, for the encoder of the standard library is set up anew with each call, which costs as much as its work.
    """
    line = f'{{"ruling":"{ruling.kind}","id":{_text(ruling.id)},"t":{ruling.t}'
    for name, value in ruling.fields.items():
        line += f',"{name}":{value}' if type(value) is int else f',"{name}":{_ENCODE(value)}'
    line += f',"because":[{",".join(map(_text, ruling.because))}],"rule":{_rows(ruling.rule)}'
    if ruling.supersedes:
        line += f',"supersedes":[{",".join(map(_text, ruling.supersedes))}]'
    return line + (',"doubt":true}' if ruling.doubt else "}")


@lru_cache(maxsize=1024)
def _rows(rule: tuple[str, ...]) -> str:
    """Few combinations of rows are ever ruled by, and each of them often."""
    return _ENCODE(rule)
