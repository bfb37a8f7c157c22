"""Figures of several demos as one Markdown table: ``python -m tools.demo_figures FILE…`` reads `--summary` files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HEADINGS = (
    "seed", "cards", "read right", "plays wholly right", "reveal in a frame", "reveal as stated", "`??`", "wrong",
    "sure and wrong", "not seen", "quickest ms", "slaps felt", "piles seen",
    "rulings equal", "uncalled", "table s", "took s", "frames/s",
)  # fmt: skip


def _cells(summary: dict[str, Any]) -> tuple[object, ...]:
    cards, rulings = summary["cards"], summary["rulings"]
    return (
        summary["seed"], cards["laid"], cards["right"], cards["wholly"], cards["in_frame"], cards["as_stated"],
        cards["unread"], cards["wrong"], cards["wrong_sure"], cards["missed"], cards["quickest_ms"],
        f"{summary['slaps_felt']}/{summary['slaps']}", f"{summary['taken_seen']}/{summary['taken']}",
        f"{rulings['equal']}/{rulings['true']}", rulings["uncalled"], summary["played_s"], summary["took_s"],
        summary["fps"],
    )  # fmt: skip


def table(summaries: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Yield the table's lines, the last with the sums."""
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "| " + " | ".join("---:" for _ in HEADINGS) + " |"
    for summary in summaries:
        yield "| " + " | ".join(map(str, _cells(summary))) + " |"
    laid = sum(summary["cards"]["laid"] for summary in summaries)
    right = sum(summary["cards"]["right"] for summary in summaries)
    wholly = sum(summary["cards"]["wholly"] for summary in summaries)
    in_frame = sum(summary["cards"]["in_frame"] for summary in summaries)
    sure = sum(summary["cards"]["wrong_sure"] for summary in summaries)
    uncalled = sum(summary["rulings"]["uncalled"] for summary in summaries)
    equal = sum(summary["rulings"]["equal"] for summary in summaries)
    true = sum(summary["rulings"]["true"] for summary in summaries)
    differing = sum(len(summary["rulings"]["differing"]) for summary in summaries)
    met = sum(not summary["missed_targets"] for summary in summaries)
    yield ""
    yield (
        f"{len(summaries)} games, {laid} cards: {right / max(1, laid):.2%} read right, {sure} wrong with confidence; "
        f"{wholly} of {laid} plays wholly right ({wholly / max(1, laid):.2%}: card, order, seat, pile taken), "
        f"{in_frame} reveals within a frame of the truth ({in_frame / max(1, laid):.2%}); "
        f"{equal} of {true} rulings equal, {differing} differing; {uncalled} questions or dead heats not called for "
        f"({400 * uncalled / max(1, laid):.2f} in 400 cards); all targets met in {met} games."
    )


def main(names: Sequence[str]) -> int:
    """Print the table of the summaries in these files, by seed."""
    summaries = [json.loads(Path(name).read_text(encoding="utf-8")) for name in names]
    for line in table(sorted(summaries, key=lambda summary: int(summary["seed"]))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
