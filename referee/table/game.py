"""The conductor: feeds the sensors' observations to the referee, and its rulings to voice, lights and display.

It owns no thread and no clock: the loop (`referee.table.loop`) hands it sights, edges and the present instant, in one
thread. It writes the table log as it goes: observations in the order in which they became known, ticks by which each
sensor promises that it has reported everything up to an instant, and the rulings. Replaying that log gives the same
rulings.

Losing the camera pauses the game from the last instant that the camera vouched for. Meanwhile hands are named but not
judged, and once the camera is back the pile is compared with what was believed. People may pause the game as well
(`Conductor.said`); it resumes when neither holds it (`referee.table.pause`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hardware.pads.slaps import PadFilter
from referee.announce.sinks import (
    BACK_NOTICES,
    GONE_NOTICES,
    PAD_NOTICES,
    Notice,
    NoticeListener,
    RulingListener,
    Sinks,
    late_hand,
)
from referee.control.offers import WILD_RANKS
from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.amended_log import BY_PEOPLE, LATE, UNUSED, is_said, read_pause
from referee.engine.foresight import Foresight
from referee.engine.gap import PASSING_NS
from referee.engine.log import encode_observation
from referee.engine.observations import (
    Answer,
    Card,
    Correct,
    Draw,
    Join,
    Leave,
    LogError,
    Observation,
    Other,
    Slap,
    Table,
    Tick,
)
from referee.engine.rulings import Ruling, base_id, cause_of, encode_ruling, first_name
from referee.engine.view import View
from referee.record.journal import DISK, Committed, Journal, JournalThread, LogWriter
from referee.record.stored_lines import OddLine
from referee.sentence import Sentence
from referee.table.pause import CAMERA, EYE, VIEW, GamePause, LogNote, PartTrouble, Steps
from referee.table.timeline import RESUMED, ResumedGame
from referee.units import MS
from referee.vision.sight import HIDDEN, Blind, Sight

if TYPE_CHECKING:
    from hardware.ports import Edge

PADS: Final = "pads"
_SENSORS: Final = (CAMERA, PADS)
_BEHIND: Final = 500 * MS
"""Lag of the referee behind the pads while the camera is gone, ns: its first frame back comes later than that."""
_LETTERS: Final = {
    "card": "c", "taken": "t", "placed": "p", "answer": "a", "trouble": "x", "pause": "q", "resume": "r",
    "correct": "z", "count": "n", "missed": "m", "contest": "k", "foul": "o", "say": "v", "draw": "w", "leave": "b",
}  # fmt: skip
"""Id letters for kinds whose first letter is taken: pads give ids with f, l, p and s of their own."""


class Conductor:
    """Joins the sensors to the adjudicator and its rulings to the outlets.

    Args:
        table: its seats and rules; ``sensors`` is set here.
        outlets: by name; each receives the rulings as soon as they are decided. A failing outlet is logged, and the
            game goes on.
        tellers: by name; each receives the appliance's own notices.
        journal: takes the table log; None: no log is written. `on_committed` must be called with each event of a
            `JournalThread`: rulings are announced only then.
        pads: the filter of the pads' edges; None: a filter with default calibration.
        past: a broken-off game to resume. Its lines are taken as told: none is announced, shown or written again. The
            game is paused until the camera has seen what lies there now (`begin_again`).

    Raises:
        LogError: the table cannot be played (an unknown preset, for example).
    """

    def __init__(
        self, table: Table, *, outlets: Mapping[str, RulingListener] | None = None,
        tellers: Mapping[str, NoticeListener] | None = None, journal: Journal | JournalThread | None = None,
        pads: PadFilter | None = None, past: ResumedGame | None = None,
    ) -> None:  # fmt: skip
        self._prefix, start = ("", table.t) if past is None else (past.prefix, past.last)
        self._adjudicator = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
        self._sinks, self._log = Sinks(outlets or {}, tellers or {}), LogWriter(journal)
        self.pads = pads or PadFilter(len(table.seats), start=start, prefix=self._prefix)
        """Turns the pads' edges into slaps."""
        self._pause = GamePause()
        self._lost: set[str] = set()
        self._untold: deque[list[Ruling] | Notice] = deque()
        """Decided rulings, announced once they are on the disk, and the notices that come after them."""
        self._covered = 0
        """Number of these that the commit under way covers."""
        self._saves_again = False
        """Whether the commit under way is to be followed by another one at once."""
        self._tellable: deque[list[Ruling] | Notice] = deque()
        """Rulings and notices that may be announced now."""
        self._given_ids: Counter[str] = Counter()
        self._began = self._now = table.t
        self._heard_from = start
        """Instant from which the pads are heard, ns: earlier hands belong to no game."""
        self._reported_until: dict[str, int] = {}
        """Instant up to which each sensor has reported everything, ns."""
        self._is_refused = self._is_ended = False
        self._may_join = False
        """Whether a bystander may slap in from a free pad (M11)."""
        self._joined: dict[int, int] = {}
        """Seats that joined so, and the instant, ns."""
        self._taken_up: set[str] = set()
        """Ids of late lines that the people who told them took up themselves."""
        self._shown_from: int | None = None
        """Instant of the last thing that people said, ns, until every sensor has reported as much."""
        self.seats = len(table.seats)
        """Number of players at the beginning."""
        self.cards = 0
        """Number of cards seen coming face up so far."""
        self.troubles: dict[str, str] = {}
        """Last message of each part that has failed and not recovered."""
        self.rulings: list[Ruling] = []
        """Every final ruling so far, in the order of the log."""
        self.observations: list[Observation] = []
        """Observations and statements so far, without ticks."""
        self.left_out: list[OddLine] = list(past.odd) if past is not None else []
        """Lines of a past game that cannot be used."""
        if past is None:
            self._observe(replace(table, sensors=_SENSORS))
        else:
            self._remember(past)
        self._may_join = table.house.has("M11")
        self._pause.packs = table.packs or table.house.number("S2")

    def _remember(self, past: ResumedGame) -> None:
        """Feed a past game's observations to the adjudicator without announcing them."""
        for seen in (past.table, *past.told):
            try:
                made = self._adjudicator.observe(seen)
            except LogError as error:
                # A line that does not fit must not keep people from their game.
                self.left_out.append(OddLine(0, error.problem))
                continue
            for ruling in made:
                self.rulings.append(ruling)
                if ruling.id not in past.rulings:
                    self._log.write(encode_ruling(ruling))
            if isinstance(seen, Tick):
                self._reported_until[seen.sensor or ""] = seen.t
            else:
                self.observations.append(seen)
                self.cards += isinstance(seen, Card)
        self._adjudicator.take_early()
        self._now = past.last
        self._pause.remember(read_pause(self.observations, self.rulings))

    def begin_again(self, now: int, began: str = "") -> None:
        """Resume a game that was broken off.

        Args:
            now: the present instant on its timeline, ns.
            began: wall-clock time of its beginning (ISO 8601), for the terminal; empty if unknown.
        """
        self._now = max(self._now, now)
        self._heard_from = now
        self.note(RESUMED, {})
        of = f" of {began[:16].replace('T', ' ')}" if began else ""
        self.tell(Notice("taken_up", self._now, f"the game{of} was broken off; it goes on where it stood"))
        self._do(self._pause.break_off(self.camera_watermark()))
        self._commit()

    # State

    @property
    def view(self) -> View:
        """The position as believed up to the watermark."""
        return self._adjudicator.view

    @property
    def watermark(self) -> int:
        """Instant up to which every sensor has reported everything, ns."""
        return self._adjudicator.watermark

    @property
    def foresight(self) -> Foresight | None:
        """The cards that can come next, by deck memory; None if it cannot say.

        While the camera is lost it cannot: cards that a new look finds were laid before, so they are not the next ones.
        """
        return None if self._pause.is_lost else self._adjudicator.foresight

    @property
    def is_saving(self) -> bool:
        """Whether the disk is taking the log at present: what was ruled is announced afterwards."""
        return self._log.is_saving

    @property
    def paused(self) -> bool:
        """Whether slaps are void: people paused the game, or the camera does not see the table."""
        return self._pause.holds

    def camera_watermark(self) -> int:
        """Return the instant up to which the camera has reported everything, ns."""
        return max(self._began, self._reported_until.get(CAMERA, self._began), self.watermark)

    # Sensors

    def on_sight(self, sight: Sight) -> None:
        """Take the observations of one frame; sights come in order of ``t``. `advance` then announces the rulings."""
        self._now = max(self._now, sight.t + sight.exposure)
        is_late = CAMERA not in self._reported_until and sight.t - self._began > PASSING_NS
        if sight.first and is_late and not self._pause.is_lost and sight.state not in HIDDEN:
            self._pause.begin_unseen(self._began, slapped=any(isinstance(seen, Slap) for seen in self.observations))
        if not self._pause.is_lost:
            for seen in self._pause.news_of(sight.seen):
                self.put(seen)
        else:
            if sight.first and not self._pause.is_opening:
                # Nothing from before the gap is still to come: judge now everything that waits for it.
                self._tick(CAMERA, sight.t - 1)
            steps = self._pause.look_again(sight, self.view.pile, self.camera_watermark(), self.watermark)
            if steps is None:
                return
            self._do(steps)
        if sight.trouble or self._pause.reasons or VIEW in self.troubles:
            self._do(self._pause.heed_view(sight, self.camera_watermark()))
        if sight.behind or EYE in self.troubles:
            self._do(self._pause.heed_pace(sight))
        self._tick(CAMERA, sight.watermark)

    def on_blind(self, blind: Blind) -> None:
        """Note the end of the frames, after taking the watcher's last events."""
        if not self._pause.is_lost:
            for seen in self._pause.news_of(blind.seen):
                self.put(seen)
            if blind.watermark is not None:
                self._tick(CAMERA, blind.watermark)
        self.lose(CAMERA, blind.words)

    def on_edge(self, edge: Edge) -> None:
        """Take one raw edge of a pad; it may come later than frames of its instant.

        Every edge goes on the log as the pad reported it, bounce included; no ruling rests on that line. `advance`
        saves the log, not this method: the hand's light would have to wait for the disk.
        """
        extra: dict[str, Any] = {"seat": edge.seat, "pressed": edge.pressed, **({"late": True} if edge.late else {})}
        if edge.t_error:
            extra["t_error"] = edge.t_error
        self._log.write(encode_observation(Other(t=edge.t, id=self.new_id("edge"), name="edge", extra=extra)))
        for seen in self.pads.feed(edge):
            self._felt(seen)

    def advance(self, now: int, told: int) -> None:
        """Move on to ``now`` (ns); every edge up to ``told`` has been handed over."""
        self._now = max(self._now, now)
        for seen in self.pads.advance(told):
            self._felt(seen)
        self._tick(PADS, self.pads.watermark)
        if self._pause.is_lost and not self._pause.is_looking:
            self._tick(CAMERA, told - _BEHIND)
        if PADS in self._lost:
            self._tick(PADS, told)
        if self._pause.hands is not None:
            self._do(self._pause.name_hands(told))
        if self._is_refused:
            # The adjudicator could not use something that people said.
            self._is_refused = False
            self._settle(self._now)
        shown = self._shown_from is not None and self.watermark >= self._shown_from
        if shown:
            # Lines by people hold from here on: readers of the log must see them at once, even without a ruling.
            self._shown_from = None
        self._commit(None if shown else self._now, announcing=shown)

    def _felt(self, seen: Observation) -> None:
        if seen.t <= self._heard_from:
            # A hand before the game: its edge is on the log, and there is nothing to rule or to ask.
            return
        if isinstance(seen, Slap) and seen.seat > self.seats and self._is_bystander(seen):
            # M11: a bystander who slaps at a free pad joins, and that slap counts.
            self._joined[seen.seat] = seen.t
            join = Join(t=seen.t, id=self.new_id("join"), seat=seen.seat, extra=BY_PEOPLE)
            self._observe(join)
            self._tell_said(join)
        self._observe(seen)
        if isinstance(seen, Slap):
            if seen.late:
                self.tell(late_hand(seen))
            elif self._pause.hands is not None and self._pause.reasons:
                self._pause.hands.add(seen)
        elif isinstance(seen, Other) and seen.name in PAD_NOTICES:
            seat, words = int(seen.extra["seat"]), seen.extra.get("words", seen.name)
            if seen.name == "pad_freed":
                self.troubles.pop(f"pad {seat}", None)
            else:
                self.troubles[f"pad {seat}"] = words
            self.tell(Notice(PAD_NOTICES[seen.name], seen.t, words, {"seat": seat}))

    def _is_bystander(self, slap: Slap) -> bool:
        """Whether this is a hand on a free pad at which no player has joined, or whose join was taken back."""
        view = self.view
        if not self._may_join or slap.late or self.paused or view.game_over:
            return False
        if slap.seat in self._joined and self.watermark < self._joined[slap.seat]:
            return False
        has_left = any(isinstance(line, Leave) and line.seat == slap.seat for line in self.observations)
        return slap.seat > len(view.names) or (slap.seat in view.absent and not has_left)

    def lose(self, sensor: str, words: str) -> None:
        """Log that a sensor is gone, and stop waiting for it. Losing the camera pauses the game."""
        if sensor == CAMERA:
            self._do(self._pause.lose_camera(words, self.camera_watermark(), self.observations))
        else:
            self._lost.add(sensor)
            self.trouble(sensor, words)
        self._commit()

    # People

    def answer(self, question: str, value: Any, now: int) -> None:
        """Take people's answer to a question of the referee.

        Raises:
            LogError: there was no such question, or this is no answer to it.
        """
        self._now = max(self._now, now)
        self._observe(Answer(t=self._now, id=self.new_id("answer"), to=question, value=value))
        self._commit()

    def said(self, *lines: Observation) -> None:
        """Take lines that people said at once, each with its id: a correction, an answer, a pause.

        Raises:
            LogError: a line does not fit this game, or would resume it while the camera sees nothing; nothing has
                changed.
        """
        # A late line that is taken up in the same breath raises no question.
        self._taken_up.update(line.line for line in lines if isinstance(line, Correct) and line.take)
        for line in lines:
            admitted = self._pause.admit(line)
            self._now = max(self._now, line.t)
            self._observe(admitted)
            if isinstance(admitted, Correct) or is_said(admitted):
                self._settle(line.t)
            self._tell_said(admitted)
            self._shown_from = max(self._shown_from or 0, admitted.t)
        self._commit()

    def _tell_said(self, line: Observation) -> None:
        """Announce the facts for which there is no ruling: a player joins (M11), and the wild rank (P14)."""
        if isinstance(line, Join):
            self.tell(Notice("joined", line.t, f"seat {line.seat} joins the game", {"seat": line.seat}))
        rank = line.rank if isinstance(line, Draw) else None
        drawn = {base_id(ruling) for ruling in self.rulings if ruling.get("ask") == "wild_rank"}
        if isinstance(line, Answer) and first_name(line.to, drawn) in drawn:
            rank = line.value
        if isinstance(rank, str) and rank in tuple(WILD_RANKS):
            number = 10 if rank == "T" else int(rank)
            self.tell(Notice("wild_rank", line.t, f"the wild rank is {number}", {"number": number}))

    def _settle(self, t: int) -> None:
        """Pause or resume according to what people have said by ``t`` (ns)."""
        self._do(self._pause.settle(t, self.camera_watermark(), read_pause(self.observations, self.rulings)))

    # Log and listeners

    def new_id(self, kind: str) -> str:
        """Return a new id for a line of a kind, unique in this game: c1, c2 ... for cards."""
        letter = _LETTERS.get(kind, kind[:1])
        self._given_ids[letter] += 1
        return f"{self._prefix}{letter}{self._given_ids[letter]}"

    def put(self, seen: Observation) -> None:
        """Take an observation, and give it an id if it has none."""
        self._observe(seen if seen.id else replace(seen, id=self.new_id(seen.kind)))

    def note(self, name: str, extra: Mapping[str, Any]) -> None:
        """Log something on which the referee does not rule."""
        t = max(self._now, self.watermark + 1)
        self._observe(Other(t=t, id=self.new_id("trouble"), name=name, extra=extra))

    def tell(self, notice: Notice) -> None:
        """Announce a notice, after the rulings decided before it."""
        if self._untold or self._tellable or self._log.is_saving:
            self._untold.append(notice)
            self._commit()
        else:
            self._heed(self._sinks.hand_out(notice))

    def trouble(self, part: str, words: str, what: str | None = None) -> None:
        """Log and announce that a part failed; the game goes on.

        Args:
            part: such as ``camera`` or ``voice``.
            words: what is wrong, and what to do about it.
            what: the notice to give; None: the usual one of the part.
        """
        before = self.troubles.get(part)
        if before == words:
            return
        self.troubles[part] = words
        self.note("trouble", {"part": part, "words": words})
        key = what or (GONE_NOTICES.get(part, "") if before is None else "")
        self.tell(Notice(key, self._now, Sentence("{part}: {words}", part=part, words=words), {"part": part}))

    def mended(self, part: str) -> None:
        """Log and announce that a failed part works again."""
        if self.troubles.pop(part, None) is None:
            return
        self.note("mended", {"part": part})
        self.tell(Notice(BACK_NOTICES.get(part, ""), self._now, Sentence("{part}: works again", part=part)))

    def _do(self, steps: Steps) -> None:
        """Carry out the steps that the pause returned."""
        for step in steps:
            if isinstance(step, Observation):
                self.put(step)
            elif isinstance(step, LogNote):
                self.note(step.name, step.extra)
            elif isinstance(step, Notice):
                self.tell(step)
            elif isinstance(step, PartTrouble):
                self._heed([(step.part, step.words)], step.what)

    def _heed(self, parts: Sequence[tuple[str, str]], what: str | None = None) -> None:
        """Report parts that failed, or that work again (no words)."""
        for part, words in parts:
            if words:
                self.trouble(part, words, what)
            else:
                self.mended(part)

    def _tick(self, sensor: str, t: int) -> None:
        """Record that a sensor has reported everything up to ``t`` (ns)."""
        if t > self._reported_until.get(sensor, -1):
            self._reported_until[sensor] = t
            self._observe(Tick(t=t, sensor=sensor))

    def _observe(self, seen: Observation) -> None:
        """Have one line judged, write it and the rulings that became final, and queue what was decided early."""
        final = self._adjudicator.observe(seen)
        if isinstance(seen, Tick):
            self._log.write(encode_observation(seen), seen.sensor or "")
        else:
            self._log.write(encode_observation(seen))
            self.observations.append(seen)
            self.cards += isinstance(seen, Card)
        self._take_rulings(final)

    def _take_rulings(self, final: Sequence[Ruling]) -> None:
        for ruling in final:
            self.rulings.append(ruling)
            self._log.write(encode_ruling(ruling))
            self._is_refused |= ruling.kind == "question" and ruling["ask"] in UNUSED
        early = self._adjudicator.take_early()
        if early:
            # A win that still waits for its runners-up comes after them: announce in order of time.
            news = (decided for decided in early if not (self._taken_up and self._is_settled(decided)))
            self._untold.append(sorted(news, key=lambda ruling: ruling.t))

    def _is_settled(self, ruling: Ruling) -> bool:
        """Whether this is only a question about a late line that people have taken up themselves."""
        return ruling.kind == "question" and ruling["ask"] == LATE and cause_of(ruling) in self._taken_up

    def _commit(self, now: int | None = None, *, announcing: bool = False) -> None:
        """Save the log, and then announce what waited for it: at once, or when the disk's thread is done.

        Commit once per turn; each fsync may be slow.

        Args:
            now: the present instant, ns: lines that are not announced may wait a little. None: save everything now.
            announcing: save the sensors' watermarks, too, even if no ruling is announced.
        """
        if self._log.is_saving:
            self._saves_again |= now is None
            return
        self._covered = len(self._untold)
        words = self._log.save(announcing=announcing or self._covered > 0, now=now)
        if not self._log.is_saving:
            self._announce(words)

    def on_committed(self, event: Committed) -> None:
        """Announce what waited for the commit that the disk's thread has done.

        Raises:
            Exception: the journal raised it, and it is no fault of the disk; nothing is announced.
        """
        self._announce(self._log.note_committed(event))
        if event.trouble is not None:
            self._heed([(DISK, event.trouble)])
        if self._saves_again:
            self._saves_again = False
            self._commit(announcing=True)

    def _announce(self, words: str | None) -> None:
        """Announce what the last commit covered; ``words``: as `LogWriter.save` returns them."""
        self._tellable.extend(self._untold.popleft() for _ in range(self._covered))
        self._covered = 0
        # A failing outlet is reported in the middle of this: its notice is announced after what waits here.
        while self._tellable:
            if news := self._tellable.popleft():
                self._heed(self._sinks.hand_out(news))
        if words is not None:
            self._heed([("log", words)])

    def finish(self, rest: Sequence[Observation] = ()) -> None:
        """Rule what is still open: the game is over, or the table is switched off.

        Args:
            rest: the last observations of a watcher in another process.
        """
        if self._is_ended:
            return
        self._is_ended = True
        if not self._pause.is_lost:
            for seen in self._pause.news_of(rest):
                self.put(seen)
        self._take_rulings(self._adjudicator.finish())
        self._commit()
