"""`referee review`: read people's own footage, and serve the page on which they mark hands.

The command line calls it; the result is a table log.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from referee.control.page_address import address_of, listen_at, open_browser
from referee.engine.observations import MAX_SEATS
from referee.errors import UserError
from referee.options.video_review.dispute import Dispute
from referee.options.video_review.dispute_page import OpenDispute, build_dispute, describe_moment
from referee.options.video_review.footage import cut_pictures, length_of, watch_footage
from referee.options.video_review.footage_log import footage_table
from referee.options.video_review.sound import Sound, listen, read_sound
from referee.settings.house_rules import resolve_rules
from referee.settings.model import load_settings
from referee.text.escapes import escape_controls
from referee.text.ruling_lines import RulingWords, ruling_writer
from referee.text.terminal_language import here, translate
from referee.units import SECOND
from referee.vision.photos import load_eye
from referee.vision.videos import bearings_of, watcher_of
from referee.web.serving import SiteServer

HERE: Final = "127.0.0.1"
"""This machine only, to keep people's footage private."""


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """Options of `referee review`; None: not given."""

    video: Path
    seats: str | None = None
    """Names with commas, or their number."""
    rules: str | None = None
    dealer: int | None = None
    settings: Path | None = None
    deck: str | None = None
    log: Path | None = None
    browser: bool = True
    port: int = 0


@dataclass(frozen=True, slots=True)
class FilmedTable:
    """The players round the pile in a video, their seats, and their rules."""

    names: tuple[str, ...]
    rules: Any
    bearings: Mapping[int, float] | None
    deck: str | None
    bare: str = ""


def filmed_table(options: ReviewOptions) -> FilmedTable:
    """Return the filmed table from options and settings; raises `UserError`."""
    rules = None if options.rules is None else resolve_rules(options.rules)
    names = None if options.seats is None else seat_names(options.seats)
    bearings = bearings_of(None if names is None else len(names), options.settings)
    if options.settings is not None:
        settings = load_settings(options.settings)
        named = tuple(seat.name for seat in settings.seats)
        deck, bare = options.deck or settings.deck, settings.camera.bare_table
        return FilmedTable(named, rules or settings.rules, bearings, deck, bare)
    if names is None:
        raise UserError("review needs the players: --seats Ana,Ben,Cho, or a table's --settings FILE")
    return FilmedTable(names, rules or "classic", bearings, options.deck)


def seat_names(said: str) -> tuple[str, ...]:
    """Return players' names, written with commas; a number stands for that many seats. Raises `UserError`."""
    names = tuple(name.strip() for name in said.split(","))
    if len(names) == 1 and said.strip().isdecimal():
        names = tuple(f"Seat {n}" for n in range(1, min(int(said), MAX_SEATS + 1) + 1))
    if not 2 <= len(names) <= MAX_SEATS or not all(names) or len(set(names)) < len(names):
        raise UserError(
            "--seats: 2 to {max_seats} different names with commas, as in Ana,Ben,Cho; or how many", max_seats=MAX_SEATS
        )
    return names


def review(options: ReviewOptions) -> int:
    """Read the footage, and serve the page until stopped; return the exit status.

    Raises:
        UserError: the video, the rules or the seats cannot be used, or a file is in the way of the log.
    """
    log = options.log or Path(f"{options.video.stem or options.video.name}.jsonl")
    if log.exists():
        raise UserError("{log} is there already; remove it, or name another file: --log FILE", log=log)
    filmed = filmed_table(options)
    if options.dealer is not None and options.dealer > len(filmed.names):
        words = "--dealer {n}: seats count from 1 to {many}, as they are named: {names}"
        raise UserError(words, n=options.dealer, many=len(filmed.names), names=", ".join(filmed.names))
    footage = watch_footage(
        options.video,
        load_eye(filmed.deck, one_deck=True),
        lambda eye: watcher_of(eye, filmed.bearings, filmed.bare),
        partial(_tell_progress, length_of(options.video)),
    )
    table = footage_table(filmed.names, filmed.rules, footage.seen, options.dealer)
    dispute = Dispute(table, footage.seen, footage.frames, _sound_of(options.video))
    if not dispute.moments:
        raise UserError(
            "{video}: no card was seen in it; docs/settle-a-video.md says how to film a pile", video=options.video
        )
    print("\n".join(map(escape_controls, list_moments(dispute))), file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="referee-review-") as folder:
        wanted = {frame for moment in dispute.moments for frame in moment.frames}
        cut_pictures(options.video, wanted, footage.place, Path(folder))
        opened = OpenDispute(dispute, Path(folder), log)
        asyncio.run(_serve(opened, options))
        _close(opened)
    return 0


def _sound_of(video: Path) -> Sound | None:
    """Return a video's sound; None, and a line that says why, if it has none that can be read."""
    if not video.is_file():
        return None
    try:
        samples = read_sound(video)
    except UserError as error:
        print(error, file=sys.stderr)
        return None
    if samples is None:
        print(translate("{video} has no sound: only the frame of each hand is known", video=video), file=sys.stderr)
        return None
    return listen(samples)


def list_moments(dispute: Dispute) -> Iterator[str]:
    """Yield how many cards were seen, and each of them with its moment in the video and what may be slapped there."""
    slappable = sum(moment.slappable for moment in dispute.moments)
    yield translate("{cards} seen; moments that may be slapped: {many}", cards=len(dispute.moments), many=slappable)
    words = RulingWords(dispute.table.seats, here())
    for moment in dispute.moments:
        yield f"  {describe_moment(moment, words)}"


def _close(opened: OpenDispute) -> None:
    """Save unsaved marks, and print their rulings."""
    dispute = opened.dispute
    if dispute.marks != opened.saved:
        try:
            opened.save()
        except OSError as error:
            raise UserError(
                "{log} cannot be written: {why}; the marks are lost", log=opened.log, why=error.strerror
            ) from None
        print(translate("the marks are saved as {log}", log=opened.log), file=sys.stderr)
    rulings, write = dispute.rule(), ruling_writer(dispute.table, here())
    told = [write(verdict) for moment in dispute.moments for verdict in dispute.verdicts(rulings, moment.card.id)]
    if told:
        print("\n".join(map(escape_controls, [*told, translate("these rulings rest on frames that people marked")])))


def _tell_progress(length: int, read: int, seen: int) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    print(
        translate(
            "read so far: {read} s of {length} s, observations: {seen}",
            read=read // SECOND,
            length=length // SECOND if length else "?",
            seen=seen,
        ),
        end=end,
        file=sys.stderr,
        flush=True,
    )


async def _serve(opened: OpenDispute, options: ReviewOptions) -> None:
    listening = listen_at(HERE, options.port)
    address = address_of(listening).here
    print(address)
    print(translate("mark the hands there; Ctrl-C ends"), flush=True)
    if options.browser:
        open_browser(address)
    await SiteServer(build_dispute(opened)).listen(listening, quiet=True)
