"""The report of `make cheats` as one page: a table of all cases, and one pile of each drawn along its time."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from referee.units import MS
from tools.measure.cheats_table import NAMES

if TYPE_CHECKING:
    from tools.measure.cheats import Pile, Played

_STYLE: Final = """
:root { --ink: #1d2430; --quiet: #667085; --line: #d9dee7; --paper: #ffffff; --good: #1a7f4b; --bad: #b42318;
  --hand: #1d4ed8; --liar: #c2410c; color-scheme: light }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2.5rem auto;
  max-width: 84rem; padding: 0 1.5rem }
h1 { font-size: 1.6rem; margin: 0 0 .4rem } h2 { font-size: 1.15rem; margin: 2.4rem 0 .4rem }
p { max-width: 60rem; margin: .3rem 0 1rem } .quiet { color: var(--quiet) }
table { border-collapse: collapse; width: 100%; font-size: 14px }
th { text-align: right; font-weight: 600; color: var(--quiet); vertical-align: bottom; padding: .4rem .5rem;
  border-bottom: 2px solid var(--line) }
td { text-align: right; padding: .4rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left }
td { white-space: nowrap } th { min-width: 3.2rem } td:first-child { font-weight: 600 }
td:last-child { white-space: normal; min-width: 27rem; font-size: 13px }
.good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 }
svg { width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: var(--ink) }
svg .quiet { fill: var(--quiet) } svg .small { font-size: 11px }
"""
_WIDTH, _LEFT, _ROW, _TOP = 1100, 90, 46, 40


def draw_report(pairs: Sequence[tuple[Played, Played]], command: str) -> str:
    """Return the page; ``pairs`` are honest games, each with the case that was played beside it."""
    rows = "".join(_row(usual, evening) for usual, evening in pairs)
    piles = sum(len(evening.piles) for _, evening in pairs)
    wronged = sum(evening.wronged for _, evening in pairs)
    drawn = "".join(_drawn(evening) for _, evening in pairs)
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Phones that lie</title>
<style>{_STYLE}</style>
<h1>Phones that lie</h1>
<p>The whole program refereed four phones over http; {NAMES[-1]}'s lied in one way at a time. {_won(wronged, piles)}
A pile counts as won unjustly where {NAMES[-1]} won it for sure though another hand truly fell first by more than the
ruling's stated error. Delay: the longest wait for a verdict, less the longest in an honest game that was played at the
same time on the same machine.</p>
<table><thead><tr><th>way of lying<th>piles<th>{NAMES[-1]} truly first<th>won unjustly<th>people asked<th>named late
<th>verdict after, median<th>longest wait<th>honest beside it<th>delay<th>told in words</tr></thead>
<tbody>{rows}</tbody></table>
<p class="quiet">Measured by <code>{escape(command)}</code>; load of the machine {_load(pairs)}; piles played again
because this machine was too busy: {sum(evening.repeated for _, evening in pairs)}.</p>
{drawn}</html>
"""


def _won(wronged: int, piles: int) -> str:
    if wronged:
        return f"{wronged} of {piles} piles were won unjustly."
    return f"None of {piles} piles was won unjustly (at most {300 / max(1, piles):.1f} % with 95 % confidence)."


def _load(pairs: Sequence[tuple[Played, Played]]) -> str:
    loads = [evening.load for _, evening in pairs]
    return f"{min(loads):.0f} to {max(loads):.0f}" if loads else "-"


def _row(usual: Played, one: Played) -> str:
    told = one.words
    cells = [
        escape(one.lie.name), str(len(one.piles)), str(one.liar_first), _marked(str(one.wronged), one.wronged == 0),
        str(one.asked), str(one.late), f"{one.waits[len(one.waits) // 2] / MS:.0f} ms", f"{one.waits[-1] / MS:.0f} ms",
        f"{usual.waits[-1] / MS:.0f} ms", _marked(f"{one.delay(usual) / MS:.0f} ms", one.delay(usual) <= 500 * MS),
        escape(told) if told else _marked("nothing", False),
    ]  # fmt: skip
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells) + "</tr>"


def _marked(words: str, is_good: bool) -> str:
    return f'<span class="{"good" if is_good else "bad"}">{words}</span>'


def _drawn(one: Played) -> str:
    """Return the pile at which the lie would have gained most: the liar's hand fell soon after the first."""
    piles = [pile for pile in one.piles if pile.first.seat != pile.hands[-1].seat]
    if not piles:
        return ""
    pile = next((pile for pile in piles if pile.is_wrong), min(piles, key=lambda pile: pile.hands[-1].t - pile.first.t))
    return f"<h2>{escape(one.lie.name)}</h2><p>{escape(_outcome(pile))}</p>{draw_pile(pile)}"


def _outcome(pile: Pile) -> str:
    first, liar = pile.first, pile.hands[-1]
    fell = (
        f"{NAMES[first.seat - 1]}'s hand fell first, {NAMES[liar.seat - 1]}'s {(liar.t - first.t) / MS:.0f} ms later. "
    )
    return fell + "Ruled: " + ("; ".join(pile.outcomes()) or "nothing") + "."


def draw_pile(pile: Pile) -> str:
    """Draw each hand's true, claimed and arrival times, its stated span, and the ruling."""
    origin, hands = pile.first.t, sorted(pile.hands, key=lambda hand: hand.seat)
    marks = [hand.t for hand in hands] + [hand.claimed for hand in hands if hand.claimed is not None]
    marks += [hand.heard for hand in hands if hand.heard is not None]
    marks += [t for start, end, _ in pile.stated.values() for t in (start, end)]
    if pile.verdict is not None:
        marks.append(pile.verdict[0])
    low, high = min(marks) - 40 * MS, max(marks) + 60 * MS
    height = _TOP + _ROW * len(hands) + 60

    def x(t: int) -> float:
        return _LEFT + (t - low) / (high - low) * (_WIDTH - _LEFT - 20)

    out = []
    step = 100 * MS if high - low < 1500 * MS else 500 * MS
    for t in range(origin - (origin - low) // step * step, high, step):
        words = f"{(t - origin) / MS:.0f} ms"
        out += [
            f'<line x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{_TOP - 8}" y2="{height - 50}" stroke="var(--line)"/>',
            f'<text class="quiet small" x="{x(t):.1f}" y="{_TOP - 14}" text-anchor="middle">{words}</text>',
        ]
    for row, hand in enumerate(hands):
        y, liar = _TOP + _ROW * row + 22, hand.seat == len(NAMES)
        colour = "var(--liar)" if liar else "var(--hand)"
        out.append(f'<text x="0" y="{y + 4}" font-weight="{600 if liar else 400}">{NAMES[hand.seat - 1]}</text>')
        if hand.seat in pile.stated:
            start, end, late = pile.stated[hand.seat]
            out.append(
                f'<rect x="{x(start):.1f}" y="{y - 8}" width="{max(2, x(end) - x(start)):.1f}" height="16" rx="3" '
                f'fill="{colour}" opacity="{0.1 if late else 0.22}"/>'
            )
            if late:
                out.append(f'<text class="quiet small" x="{x(end) + 12:.1f}" y="{y + 16}">late evidence</text>')
        if hand.claimed is not None:
            cx = x(hand.claimed)
            out.append(
                f'<path d="M{cx:.1f} {y - 8}l7 8l-7 8l-7 -8z" fill="var(--paper)" stroke="{colour}" stroke-width="2"/>'
            )
        if hand.heard is not None:
            out.append(f'<path d="M{x(hand.heard):.1f} {y - 7}v14" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<circle cx="{x(hand.t):.1f}" cy="{y}" r="5" fill="{colour}"/>')
    if pile.verdict is not None:
        at = x(pile.verdict[0])
        out.append(
            f'<path d="M{at:.1f} {_TOP - 8}V{height - 50}" stroke="var(--ink)" stroke-dasharray="4 3"/>'
            f'<text x="{at - 6:.1f}" y="{height - 38}" text-anchor="end">{escape(pile.ruled)}</text>'
        )
    key = "●  fell     ◇  said to have fallen     ▮  came to the table     shaded: stated to lie in it     ┆  ruled"
    out.append(f'<text class="quiet" x="{_LEFT}" y="{height - 10}" xml:space="preserve">{key}</text>')
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{"".join(out)}</svg>'
