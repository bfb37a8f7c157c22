"""Where the looks at a deck come from: pictures of its cards, or cards that are laid one by one under a camera."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from referee.app.problems import UserError

if TYPE_CHECKING:
    from hardware.ports import Camera, Speaker
    from models.lookout import Lookout
    from models.looks import Look
    from referee.app.laying import Laying, Word

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What `referee enrol` was asked."""

    deck: str = "deck"
    images: tuple[str, ...] = ()
    cards: str | None = None
    source: str = "usb:0"
    settings: Path | None = None
    fps: float | None = None
    ask: bool = False
    at_once: int = 1
    more: bool = False
    quiet: bool = False
    sheet: Path | None = None

    @property
    def recorded(self) -> bool:
        """Whether the camera is a recording, which nobody can answer."""
        return self.settings is None and Path(self.source).exists()


def looks_of_images(lookout: Lookout, options: Options, say: Say) -> list[Look]:
    """One card to an image, or with one image all cards in it from left to right; `;` parts images of several."""
    from models.lookout import NoLook
    from referee.app.recognising import read_image

    if options.cards is None:
        raise UserError('name what the pictures show: --cards "As Ks Qs"; for several cards in each, "As Ks; Qs Js"')
    _order(Options(cards=options.cards.replace(";", " ")))
    if ";" in options.cards:
        groups = [_order(Options(cards=part)) for part in options.cards.split(";") if part.strip()]
    else:
        names = _order(options)
        groups = [[n] for n in names] if len(names) == len(options.images) else [names]
    if len(groups) != len(options.images):
        raise UserError(
            f"{len(options.images)} images and {sum(map(len, groups))} cards: name one card an image, or part them "
            'with ; as in --cards "As Ks; Qs Js"'
        )
    looks = []
    for name, cards in zip(options.images, groups, strict=True):
        try:
            looks += lookout.look(read_image(name), cards)
        except NoLook as no:
            raise UserError(f"{name} ({' '.join(cards)}): {no}; take the picture anew, in more light") from no
        say(f"{name}: {' '.join(cards)}")
    return looks


def looks_from_camera(lookout: Lookout, options: Options, say: Say) -> list[Look]:
    """Every look at cards that are laid one by one, until all are or somebody stops."""
    from hardware.ports import HardwareMissing
    from referee.app.laying import Laying

    laying = Laying(lookout, _order(options), ask=options.ask, at_once=options.at_once)
    with ExitStack() as stack:
        camera = _camera(options)
        stack.callback(camera.close)
        speaker = _voice(options)
        if speaker is not None:
            stack.callback(speaker.close)
        say(
            "Clear the place under the camera. Lay each card face up on the last one, or instead of it, and take "
            "the hand away."
        )
        say("Type undo, skip or done at any time, and Enter.")
        try:
            _lay(laying, camera, _Typed(None if options.recorded else sys.stdin), speaker, say)
        except HardwareMissing as missing:
            raise UserError(str(missing)) from None
        except KeyboardInterrupt:
            say("stopped; what was laid is learned")
    return [look for looks in laying.looks.values() for look in looks]


def _order(options: Options) -> list[str]:
    from models.cards import CardError
    from referee.app.laying import ORDER, named_cards

    if options.cards is None:
        return list(ORDER)
    try:
        return named_cards(options.cards)
    except CardError as bad:
        raise UserError(f"--cards: {bad}") from bad


class _Typed:
    """Lines that somebody types, read on a thread of its own."""

    def __init__(self, stream: TextIO | None) -> None:
        self.lines: deque[str] = deque()
        if stream is not None:
            threading.Thread(target=self._read, args=(stream,), name="typed", daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self.lines.append(line)


def _camera(options: Options) -> Camera:
    from hardware.camera import open_camera
    from hardware.ports import HardwareMissing
    from referee.app.parts import open_camera_of

    try:
        if options.settings is not None:
            from referee.app.settings import load

            return open_camera_of(load(options.settings).camera)
        return open_camera(options.source, fps=options.fps)
    except HardwareMissing as missing:
        raise UserError(f"{missing}; pictures of the cards will do too (see referee enrol --help)") from missing


def _voice(options: Options) -> Speaker | None:
    from hardware.speaker import open_speaker
    from referee.app.laying import ORDER, in_words

    if options.quiet:
        return None
    voice = open_speaker([*(in_words(c) for c in ORDER), "red joker", "black joker", *_SPOKEN.values()])
    return voice.speaker if voice.audible else None


_SPOKEN: Final = {
    "none": "no index found", "blurred": "blurred", "twice": "laid twice", "other": "wrong card", "ask": "which card",
    "count": "spread the cards",
}  # fmt: skip


def _lay(laying: Laying, camera: Camera, typed: _Typed, speaker: Speaker | None, say: Say) -> None:
    _tell([laying.prompt()], speaker, say)
    for frame in camera.frames():
        _tell(laying.feed(frame.image, frame.t), speaker, say)
        while typed.lines:
            _tell(laying.typed(typed.lines.popleft()), speaker, say)
        if laying.done:
            return
    say(f"the pictures have ended; {len(laying.looks)} cards were laid")


def _tell(words: Sequence[Word], speaker: Speaker | None, say: Say) -> None:
    from referee.app.laying import in_words

    for word in words:
        say(word.text)
        if speaker is None:
            continue
        if word.kind == "lay":
            speaker.say([in_words(c) for c in word.cards])
        elif word.kind in _SPOKEN:
            speaker.say([_SPOKEN[word.kind]], urgent=True)
