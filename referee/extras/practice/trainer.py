"""`referee practise`: a lesson joined to a screen, a voice, a light and a hand."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from hardware.clock import Clock, monotonic
from referee.app.drill.hands import SCREEN_ERROR, Hands, Keyboard, PadHands
from referee.app.drill.lesson import MS, Kind, Lesson, Prompt
from referee.app.drill.report import report
from referee.app.housefile import rules_from
from referee.app.problems import UserError
from referee.app.wording import pretty
from referee.rules.house import HouseRules, house_rules

if TYPE_CHECKING:
    from hardware.ports import Lights, Speaker
    from referee.app.settings import Settings

LOOK: Final = 500 * MS
"""How long is waited at a time where nothing is due, ns."""
Show = Callable[[Prompt], None]
_SAID: Final = {
    Kind.FALSE: "tell.practise_false",
    Kind.MISSED: "tell.practise_missed",
    Kind.SOON: "tell.practise_too_soon",
}
_GREEN, _RED, _OFF = (0.0, 0.6, 0.0), (0.6, 0.0, 0.0), (0.0, 0.0, 0.0)
_COLOURS: Final = {
    Kind.RIGHT: _GREEN, Kind.LEFT: _GREEN, Kind.FALSE: _RED, Kind.MISSED: _RED, Kind.SOON: _RED, Kind.PILE: _OFF,
}  # fmt: skip


def play(lesson: Lesson, hands: Hands, shows: Sequence[Show], clock: Clock = monotonic) -> None:
    """Run a lesson to its end, or until the player leaves. The first of ``shows`` draws the cards."""

    def show(prompts: Sequence[Prompt]) -> None:
        for prompt in prompts:
            for place, one in enumerate(shows):
                one(prompt)
                if place == 0 and prompt.kind is Kind.CARD:
                    lesson.shown(clock())

    show(lesson.start(clock()))
    while not lesson.over:
        came = hands.wait(min(lesson.due, clock() + LOOK))
        if came is None:
            return
        for hand in came:
            show(lesson.hand(hand.t, hand.t_error))
        show(lesson.advance(clock()))


def screen(out: Callable[[str], object] = sys.stdout.write) -> Show:
    """Prompts as lines of text: cards of a pile stand side by side."""

    def show(prompt: Prompt) -> None:
        if prompt.kind is Kind.CARD:
            out(f"  {pretty(prompt.card)}")
        elif prompt.kind is Kind.PILE:
            out("\n")
        elif prompt.words:
            out(f"\n{prompt.words}\n")
        sys.stdout.flush()

    return show


def voice(speaker: Speaker, language: str) -> Show:
    """Says a right slap's pattern, and what went wrong."""
    from referee.app.phrases.languages import words_in

    words = words_in(language)

    def show(prompt: Prompt) -> None:
        if prompt.kind is Kind.CARD:
            speaker.say(words.card(prompt.card), urgent=True)
        key = _SAID.get(prompt.kind, f"pattern.{prompt.rows[0].partition(':')[0]}" if prompt.rows else "")
        if prompt.kind is not Kind.CARD and words.has(key):
            speaker.say(words.say(key), urgent=True)

    return show


def lamps(lights: Lights) -> Show:
    """The table's light: green for right, red for wrong."""

    def show(prompt: Prompt) -> None:
        if prompt.kind in _COLOURS:
            lights.table(*_COLOURS[prompt.kind])

    return show


def practise(args: argparse.Namespace) -> int:
    """The command, by its options (`referee.app.drill.command`). Raises `UserError`."""
    seed = args.seed if args.seed is not None else time.time_ns() % 2**31
    settings = _settings(args)
    rules = house_rules(_rules(args, settings))
    lesson = Lesson(
        rules, seed, deals=args.piles, pace=round(args.pace * 1e9), shown_error=SCREEN_ERROR, steps=not args.all
    )
    with ExitStack() as stack:
        shows = [screen()]
        hands = _hands(settings, args, stack, shows)
        print(_opening(rules, lesson))
        try:
            play(lesson, hands, shows)
        finally:
            print()
        print("\n".join(report(lesson, rules, hands.timing)))
    return 0


def _opening(rules: HouseRules, lesson: Lesson) -> str:
    return (
        f"{len(lesson.patterns)} patterns to practise. Slap (the pad, or the space bar) when the newest card makes one "
        "that you were taught, and only then; q leaves."
    )


def _settings(args: argparse.Namespace) -> Settings | None:
    if args.settings is None:
        return None
    from referee.app.settings import load

    return load(args.settings)


def _rules(args: argparse.Namespace, settings: Settings | None) -> object:
    if args.rules is not None:
        return rules_from(args.rules)
    return settings.rules if settings is not None else "classic"


def _hands(settings: Settings | None, args: argparse.Namespace, stack: ExitStack, shows: list[Show]) -> Hands:
    if settings is None:
        return stack.enter_context(Keyboard())
    from hardware.ports import HardwareMissing
    from referee.app.parts import open_lights, open_pads
    from referee.app.voice_parts import open_voice

    try:
        pads = open_pads(settings)
    except (HardwareMissing, OSError) as bad:
        raise UserError(f"{bad}; without --settings the keyboard is used") from None
    stack.callback(pads.close)
    try:
        amiss: dict[str, str] = {}
        lights = open_lights(settings, amiss)
        for words in amiss.values():
            print(f"{words}; practice goes on without it", file=sys.stderr)
        if lights is not None:
            stack.callback(lights.close)
            shows.append(lamps(lights))
        if settings.voice.enabled:
            speaker = open_voice(settings.voice, on_trouble=lambda words: None)
            stack.callback(speaker.close)
            shows.append(voice(speaker, settings.voice.language))
    except (HardwareMissing, OSError) as bad:
        print(f"{bad}; practice goes on without it", file=sys.stderr)
    return PadHands(pads, settings.pads.t_error_us * 1000, args.seat)
