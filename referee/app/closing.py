"""The table that closes a demo: what the players really did against what the referee saw and ruled."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from referee.app.scoring import TARGET_RIGHT, Summary
from referee.app.scoring_cards import SURE

LISTED = 12
"""How many faults of a kind are told one by one."""


def rows(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """What, what really happened, what the referee made of it."""
    cards, rulings = summary.cards, summary.rulings
    share = f" ({cards.right / cards.laid:.1%})" if cards.laid else ""
    yield "cards laid", str(cards.laid), f"{cards.right} read right{share}"
    yield "  read wrong", "0", f"{cards.wrong}, with confidence {SURE} or more: {cards.wrong_sure}"
    yield "  left unread (??)", "0", str(cards.unread)
    yield "  not seen", "0", str(cards.missed)
    yield "  seen where none was laid", "0", str(cards.ghosts)
    yield "  seat named right", str(cards.laid), str(cards.seat_right)
    yield "slaps", str(summary.slaps), f"{summary.slaps_felt} felt"
    yield "piles taken", str(summary.taken), f"{summary.taken_seen} seen"
    equal = f"{rulings.equal} equal, {len(rulings.differing)} differing"
    yield "rulings", str(rulings.true), equal + (f", {rulings.in_doubt} in doubt" if rulings.in_doubt else "")
    yield "  beyond the stated error", "0", f"{rulings.off_time} instants"
    yield "  on slaps too close to call", str(rulings.left_out), "left out"
    yield "questions and dead heats", f"{rulings.called} called for", f"{rulings.uncalled} not called for"


def faults(summary: Summary) -> Iterator[str]:
    """Everything that was not as it should be, in words."""
    for title, told in (
        ("cards", summary.cards.faults),
        ("rulings", summary.rulings.differing),
        ("not called for", summary.rulings.asked),
        ("parts that failed", [f"{part}: {words}" for part, words in summary.troubles.items()]),
    ):
        for line in told[:LISTED]:
            yield f"{title}: {line}"
        if len(told) > LISTED:
            yield f"{title}: and {len(told) - LISTED} more"


def _head(summary: Summary) -> str:
    end = "to its end" if summary.finished else f"{summary.cards.laid} cards of a game"
    return (
        f"{summary.rules}, {summary.seats} seats, seed {summary.seed}, {end}: {summary.played_s:g} s at the table, "
        f"{summary.took_s:g} s here, {summary.frames} frames ({summary.fps:g}/s)"
        + (f", at most {summary.lag_ms:g} ms behind" if summary.lag_ms else "")
    )


def _verdict(summary: Summary) -> str:
    missed = summary.missed_targets()
    if missed:
        return "Missed: " + "; ".join(missed) + "."
    return (
        f"All targets met: {TARGET_RIGHT:.1%} or more read right, none wrong with confidence, every ruling the truth's."
    )


def show(summary: Summary) -> None:
    """Print the closing table, as a drawn table where standard output is a terminal."""
    if sys.stdout.isatty():
        _drawn(summary)
    else:
        print(_head(summary))
        for what, truth, seen in rows(summary):
            print(f"{what:30} {truth:>14}   {seen}")
    for line in faults(summary):
        print(line)
    print(_verdict(summary))


def _drawn(summary: Summary) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=_head(summary), title_justify="left")
    table.add_column("")
    table.add_column("the players", justify="right")
    table.add_column("the referee")
    for row in rows(summary):
        table.add_row(*row)
    Console().print(table)
