"""`referee practise`: connects a lesson to a screen, a voice, a light, and the player's hand.

A `SlapSource` reads a table's pads, or the space bar as a stand-in; each source states the accuracy of its instants.
"""

from __future__ import annotations

import argparse
import os
import queue
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, Self

from hardware.clock import Clock, monotonic
from referee.errors import UserError
from referee.options.practice.lesson import Lesson, Prompt, PromptKind, report
from referee.rules.house import read_house_rules
from referee.settings.house_rules import resolve_rules
from referee.text.ruling_lines import pretty
from referee.text.terminal_language import translate
from referee.units import MS

if TYPE_CHECKING:
    from hardware.ports import Edge, Lights, Pads, Speaker
    from referee.settings.model import Settings

KEY_ERROR: Final = 30 * MS
"""Error of the instant of a key, ns: keyboards report a press 11 to 73 ms late, by an amount that depends on the model
("Measuring keyboard response delays by comparing keyboard and joystick inputs", Behavior Research Methods, Instruments,
& Computers 34 (2002), doi 10.3758/BF03195452).
"""
_SCREEN_ERROR: Final = 25 * MS
"""Error of the instant at which a card appears on a screen, ns: up to one picture of 17 ms, and the panel's delay."""
_PAD_TIMING: Final = (
    "The pad tells its instant to some {pad:.1f} ms. The screen shows a card up to 50 ms after the referee drew it, "
    "and that is in every time alike: compare your times with each other, not with those of real cards."
)
_KEY_TIMING: Final = (
    "A keyboard tells of a press some 10 to 70 ms late, by its model, and the screen shows a card up to 50 ms late; "
    "both make every time too long, by an amount that no repeating averages away. Compare your times on this machine "
    "with each other only; a pad knows its instant twenty times as well."
)
_QUIT: Final = frozenset(b"q\x03\x04\x1b")
_SLAP: Final = b" "


@dataclass(frozen=True, slots=True)
class TimedSlap:
    """One slap, ± ``t_error``, ns."""

    t: int
    t_error: int


class SlapSource(Protocol):
    """A source of hands."""

    timing: str
    """The accuracy of its instants, in words."""

    def wait(self, until: int) -> Sequence[TimedSlap] | None:
        """Return the hands so far, as soon as there is one, or none at ``until`` (ns); `None`: the player leaves."""
        ...


class KeySlaps:
    """The space bar of a terminal; q leaves."""

    timing = _KEY_TIMING

    def __init__(self, clock: Clock = monotonic, file: int | None = None) -> None:
        """Raises `UserError` if there is no terminal."""
        self._file = sys.stdin.fileno() if file is None else file
        self._clock = clock
        if not os.isatty(self._file):
            raise UserError("practice needs a terminal for its keys, or a table's pads: --settings table.toml")

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._file)
        tty.setcbreak(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def wait(self, until: int) -> Sequence[TimedSlap] | None:
        """See `SlapSource`."""
        ready, _, _ = select.select([self._file], [], [], max(0, until - self._clock()) / 1e9)
        if not ready:
            return ()
        t = self._clock()
        typed = os.read(self._file, 64)
        if not typed or _QUIT & set(typed):
            return None
        return (TimedSlap(t, KEY_ERROR),) if _SLAP in typed or b"\n" in typed else ()


class PadSlaps:
    """The pads of a table: any of them, or one seat's."""

    def __init__(self, pads: Pads, t_error: int, seat: int | None = None, clock: Clock = monotonic) -> None:
        """``t_error``: bound of a pad's error, ns."""
        self.timing = _PAD_TIMING.format(pad=t_error / MS)
        self._seat, self._clock = seat, clock
        self._came: queue.SimpleQueue[TimedSlap] = queue.SimpleQueue()
        pads.start(self._edge)

    def _edge(self, edge: Edge) -> None:
        if edge.pressed and (self._seat is None or edge.seat == self._seat):
            self._came.put(TimedSlap(edge.t, edge.t_error))

    def wait(self, until: int) -> Sequence[TimedSlap] | None:
        """See `SlapSource`."""
        try:
            return (self._came.get(timeout=max(0, until - self._clock()) / 1e9),)
        except queue.Empty:
            return ()


_LOOK: Final = 500 * MS
"""Longest wait at a time while nothing is due, ns."""
Show = Callable[[Prompt], None]
_SAID: Final = {
    PromptKind.FALSE: "tell.practise_false",
    PromptKind.MISSED: "tell.practise_missed",
    PromptKind.SOON: "tell.practise_too_soon",
}
_COLOURS: Final = {
    **dict.fromkeys((PromptKind.RIGHT, PromptKind.LEFT), (0.0, 0.6, 0.0)),
    **dict.fromkeys((PromptKind.FALSE, PromptKind.MISSED, PromptKind.SOON), (0.6, 0.0, 0.0)),
    PromptKind.PILE: (0.0, 0.0, 0.0),
}


def play_lesson(lesson: Lesson, hands: SlapSource, shows: Sequence[Show], clock: Clock = monotonic) -> None:
    """Run a lesson to its end, or until the player leaves. The first of ``shows`` draws the cards."""

    def show(prompts: Sequence[Prompt]) -> None:
        for prompt in prompts:
            for place, show_prompt in enumerate(shows):
                show_prompt(prompt)
                if place == 0 and prompt.kind is PromptKind.CARD:
                    lesson.shown(clock())

    show(lesson.start(clock()))
    while not lesson.over:
        came = hands.wait(min(lesson.due, clock() + _LOOK))
        if came is None:
            return
        for hand in came:
            show(lesson.hand(hand.t, hand.t_error))
        show(lesson.advance(clock()))


def draw_prompts(out: Callable[[str], object] = sys.stdout.write) -> Show:
    """Return a `Show` that prints prompts as text: cards of a pile stand side by side."""

    def show(prompt: Prompt) -> None:
        if prompt.kind is PromptKind.CARD:
            out(f"  {pretty(prompt.card)}")
        elif prompt.kind is PromptKind.PILE:
            out("\n")
        elif prompt.words:
            out(f"\n{prompt.words}\n")
        sys.stdout.flush()

    return show


def speak_prompts(speaker: Speaker, language: str) -> Show:
    """Return a `Show` that says a right slap's pattern, and mistakes."""
    from referee.announce.phrases import words_in

    words = words_in(language)

    def show(prompt: Prompt) -> None:
        if prompt.kind is PromptKind.CARD:
            speaker.say(words.card(prompt.card), urgent=True)
        key = _SAID.get(prompt.kind, f"pattern.{prompt.rows[0].partition(':')[0]}" if prompt.rows else "")
        if prompt.kind is not PromptKind.CARD and words.has(key):
            speaker.say(words.say(key), urgent=True)

    return show


def light_prompts(lights: Lights) -> Show:
    """Return a `Show` for the table's light: green for right, red for wrong."""

    def show(prompt: Prompt) -> None:
        if prompt.kind in _COLOURS:
            lights.table(*_COLOURS[prompt.kind])

    return show


def practise(args: argparse.Namespace) -> int:
    """Run the command with its options (`referee.cli.play`). Raises `UserError`."""
    seed = args.seed if args.seed is not None else time.time_ns() % 2**31
    settings = None
    if args.settings is not None:
        from referee.settings.model import load_settings

        settings = load_settings(args.settings)
    played = settings.rules if settings is not None else "classic"
    rules = read_house_rules(played if args.rules is None else resolve_rules(args.rules))
    lesson = Lesson(
        rules, seed, deals=args.piles, pace=round(args.pace * 1e9), shown_error=_SCREEN_ERROR, steps=not args.all
    )
    with ExitStack() as stack:
        shows = [draw_prompts()]
        hands = _hands(settings, args, stack, shows)
        print(
            translate(
                "Patterns to practise: {many}. Slap (the pad, or the space bar) when the newest card "
                "makes one that you were taught, and only then; q leaves.",
                many=len(lesson.patterns),
            )
        )
        try:
            play_lesson(lesson, hands, shows)
        finally:
            print()
        print("\n".join(report(lesson, rules, hands.timing)))
    return 0


def _hands(settings: Settings | None, args: argparse.Namespace, stack: ExitStack, shows: list[Show]) -> SlapSource:
    if settings is None:
        return stack.enter_context(KeySlaps())
    from hardware.ports import HardwareMissing
    from referee.setup.wired_devices import open_lights, open_pads, open_voice

    try:
        pads = open_pads(settings)
    except (HardwareMissing, OSError) as error:
        raise UserError("{why}; without --settings the keyboard is used", why=error) from None
    stack.callback(pads.close)
    try:
        amiss: dict[str, str] = {}
        lights = open_lights(settings, amiss)
        for words in amiss.values():
            print(translate("{words}; practice goes on without it", words=words), file=sys.stderr)
        if lights is not None:
            stack.callback(lights.close)
            shows.append(light_prompts(lights))
        if settings.voice.enabled:
            speaker = open_voice(settings.voice, on_trouble=lambda words: None)
            stack.callback(speaker.close)
            shows.append(speak_prompts(speaker, settings.voice.language))
    except (HardwareMissing, OSError) as error:
        print(translate("{why}; practice goes on without it", why=error), file=sys.stderr)
    return PadSlaps(pads, settings.pads.t_error_us * 1000, args.seat)
