"""`make review-check`: `referee review` settles three rendered disputes whose truth is known.

People slap the pile itself, as they do without pads. Each video is read by the real command; its page receives
the first frame in which each hand lies, and strikes out cards that were never laid, both taken from the truth that the
video was rendered from. With ``--game`` a whole game is settled, too, without sound and with rendered sound. Required:
every hand fell within the error that its line states, the ruling is right, and `referee replay` rules the saved log.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from referee.engine.log import read_observations
from referee.engine.observations import Card, Slap, Table, Taken
from referee.engine.rulings import SLAP_KINDS, cause_of
from referee.options.video_review.dispute import Dispute
from referee.options.video_review.footage import watch_footage
from referee.options.video_review.footage_log import footage_table, rule_lines
from referee.options.video_review.sound import Sound, listen, read_sound
from referee.units import MS
from referee.vision.photos import load_eye
from referee.vision.videos import watcher_of
from tests.support.dispute_client import ROOT, ReviewedVideo, first_frame
from tests.support.filmed_disputes import FilmedDispute, film_heat, film_middle, film_winner
from tools.measure.video_sound import Room, render, write_sound

FPS: Final = 30.0
GAME_RULES: Final = "wikipedia-2025"


def settle(filmed: FilmedDispute, log: Path) -> int:
    """Mark every hand of a video, and save the log; return how many cards were struck out."""
    struck = 0
    with ReviewedVideo(filmed.file, log) as page:
        for moment in page.moments():
            if moment.card not in filmed.cards:
                struck += 1
                page.post("strike", line=moment.name)
        for slap in filmed.slaps:
            frame = first_frame(slap, FPS)
            there = [moment for moment in page.moments() if frame in moment.frames]
            # Frames just after a card are shown with the one before, too.
            answer = page.post("mark", moment=there[-1].name, seat=slap.seat, frame=frame)
            assert answer["accepted"], answer
        assert page.post("save")["accepted"]
    return struck


def replayed(log: Path) -> list[dict[str, Any]]:
    """Return the rulings of a log, by the real command."""
    done = subprocess.run(
        [sys.executable, "-m", "referee", "replay", str(log)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def brief(ruling: dict[str, Any]) -> str:
    """Return a ruling on hands in two words."""
    return f"{ruling['ruling']} {' '.join(map(str, ruling.get('seats', [ruling.get('seat')])))}"


def check(filmed: FilmedDispute, folder: Path) -> bool:
    """Settle one dispute and print the figures; return whether all requirements are met."""
    log = folder / f"{filmed.file.stem}.jsonl"
    struck = settle(filmed, log)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    told = {line["seat"]: line for line in lines if line["kind"] == "slap"}
    within = all(abs(told[slap.seat]["t"] - slap.t) <= told[slap.seat]["t_error"] for slap in filmed.slaps)
    by_people = all(line["by"] == "people" for line in told.values())
    ruled = [
        brief(ruling)
        for ruling in replayed(log)
        if ruling["ruling"] in ("slap_won", "slap_false", "slap_void", "dead_heat")
    ]
    right = ruled == list(filmed.ruled)
    print(f"{filmed.file.name}: {len(filmed.slaps)} hands marked, {struck} cards struck out")
    for slap in filmed.slaps:
        line = told[slap.seat]
        off = (line["t"] - slap.t) / MS
        print(
            f"  seat {slap.seat}: truth {slap.t / MS:.1f} ms, off by {off:+.1f}, stated ± {line['t_error'] / MS:.1f} ms"
        )
    print(f"  ruled: {', '.join(ruled)}  (required: {', '.join(filmed.ruled)})")
    good = within and by_people and right
    print(f"  {'well' if good else 'NOT AS REQUIRED'}", flush=True)
    return good


class GameFilm:
    """A simulated game as frames, its observations, and the truth of its hands."""

    def __init__(self, folder: Path) -> None:
        game = ("--no-pace", "--seed", "3", "--rules", GAME_RULES, "--fps", str(FPS), "--max-cards", "90")
        # Its exit status rates the live refereeing, which does not matter here.
        command = [sys.executable, "-m", "referee", "demo", *game, "--frames", str(folder)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False, cwd=ROOT)
        notes = json.loads((folder / "frames.json").read_text(encoding="utf-8"))
        bearings = dict(enumerate(notes["seat_bearings"], start=1))
        self.footage = watch_footage(
            folder, load_eye(one_deck=True), lambda eye: watcher_of(eye, bearings), lambda *_: None
        )
        text = "".join(f"{json.dumps(line)}\n" for line in notes["truth"])
        truth = [line for _, line in read_observations(BytesIO(text.encode()))]
        assert isinstance(truth[0], Table)
        self.table = truth[0]
        self.laid = [line.t for line in truth if isinstance(line, Card | Taken)]
        self.slaps = [line for line in truth if isinstance(line, Slap)]
        self.rulings = {cause_of(ruling): ruling for ruling in rule_lines(truth) if ruling.kind in SLAP_KINDS}

    def settle(
        self, begin: int = 0, dealer: int | None = None, sound: Sound | None = None
    ) -> tuple[Dispute, dict[str, Slap]]:
        """Mark the hands from an instant (ns) on by the truth; return the dispute, and the true hands by id."""
        seen = [line for line in self.footage.seen if line.t >= begin]
        table = footage_table(self.table.seats, self.table.rules, seen, dealer)
        dispute = Dispute(table, seen, self.footage.frames, sound)
        # Before the first take patterns may reach down to unseen cards.
        known = min((line.t for line in seen if isinstance(line, Taken)), default=0) if begin else 0
        marked: dict[str, Slap] = {}
        for slap in (slap for slap in self.slaps if slap.t >= known):
            frame = first_frame(slap, FPS)
            moment = [moment for moment in dispute.moments if frame in moment.frames and moment.card.t <= slap.t][
                -1
            ].card.id
            dispute.mark(moment, slap.seat, frame)
            marked[f"slap-{moment}-{slap.seat}"] = slap
        return dispute, marked

    def compare(self, dispute: Dispute, marked: Mapping[str, Slap]) -> tuple[int, int, int]:
        """Return how many marked hands are ruled as in truth, stand in dead heats, and are ruled otherwise."""
        rulings = dispute.rule()
        made = {cause_of(ruling): ruling for ruling in rulings if ruling.kind in SLAP_KINDS}
        heats = {
            f"{cause_of(ruling).rpartition('-')[0]}-{seat}"
            for ruling in rulings if ruling.kind == "dead_heat" for seat in ruling["seats"]
        }  # fmt: skip
        alike = {
            name for name, slap in marked.items() if name in made
            and (made[name].kind, made[name].get("patterns")) == self._ruled(slap)
        }  # fmt: skip
        return len(alike - heats), len(heats), len(marked.keys() - alike - heats)

    def check(self, title: str, begin: int = 0, dealer: int | None = None) -> bool:
        """Compare the rulings on the marked hands with the truth; print one line."""
        dispute, marked = self.settle(begin, dealer)
        right, heats, wrong = self.compare(dispute, marked)
        print(f"{title}: {len(marked)} hands, {right} as in truth, {heats} in dead heats, {wrong} wrong")
        return wrong == 0

    def check_sound(self, rooms: Sequence[Room], title: str, *, foreign: bool = False) -> bool:
        """Settle the game with the sound of each room; print one line. Foreign: the sound is another evening's."""
        hands = heats = wrong = heard = outside = most = 0
        for room in rooms:
            slaps, laid = [slap.t for slap in self.slaps], self.laid
            length = self.footage.frames[-1].t
            if foreign:
                slaps, laid = ([length - t for t in instants] for instants in (slaps, laid))
            with tempfile.TemporaryDirectory() as folder:
                write_sound(file := Path(folder) / "sound.mkv", render(room, length, slaps, laid))
                sound = listen(read_sound(file))
            dispute, marked = self.settle(dealer=self.table.dealer, sound=sound)
            _, in_heats, otherwise = self.compare(dispute, marked)
            hands, heats, wrong, most = hands + len(marked), heats + in_heats, wrong + otherwise, max(most, in_heats)
            for (moment, seat), hand in dispute.hand_instants().items():
                heard += hand.by_sound
                off = abs(hand.t - marked[f"slap-{moment}-{seat}"].t)
                outside += hand.by_sound and off > hand.t_error + hand.clock_error
        print(
            f"{title}: {len(rooms)} evenings, {hands} hands: {heard} heard, {outside} of them outside their error;"
            f" in dead heats {heats / len(rooms):.1f} an evening (at most {most}); {wrong} ruled wrong",
            flush=True,
        )
        return wrong == 0 and (outside <= 0.01 * heard) and not (foreign and heard)

    def _ruled(self, slap: Slap) -> tuple[str, Any]:
        ruling = self.rulings[slap.id]
        return ruling.kind, ruling.get("patterns")


def check_game(folder: Path, evenings: int) -> bool:
    """Check a whole game's hands: from its deal, in the middle, begun at every tenth card, and with sound."""
    game = GameFilm(folder)
    cards = [line.t for line in game.footage.seen if isinstance(line, Card)]
    good = [game.check("from the deal", dealer=game.table.dealer), game.check("turns unknown")]
    good += [game.check(f"from card {place + 1}", cards[place]) for place in range(10, len(cards) - 10, 10)]
    return all(good) and check_sounds(game, evenings)


def check_sounds(game: GameFilm, evenings: int) -> bool:
    """Settle a game with sound: slaps of one or of unlike loudness, talk and music behind, sound early or late."""
    good = []
    for loudness in (0, 12, 24):
        for noise, level in (("", 0), ("talk", -20), ("talk", -10), ("music", -20), ("music", -10)):
            rooms = []
            for seed in range(evenings):
                rng = random.Random(f"{loudness}-{noise}-{level}-{seed}")
                offset, drift = rng.uniform(-0.12, 0.12), rng.choice((-1e-4, 0, 1e-4))
                rooms.append(Room(rng.getrandbits(32), loudness, noise, level, offset, drift))
            behind = f"{noise} {level} dB" if noise else "quiet"
            good.append(game.check_sound(rooms, f"slaps within {loudness} dB, {behind}"))
    foreign = [Room(seed) for seed in range(evenings)]
    good.append(game.check_sound(foreign, "another evening's sound", foreign=True))
    return all(good)


def main() -> int:
    """Render, settle, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", action="store_true", help="a whole game's hands, too")
    parser.add_argument("--evenings", type=int, default=20, help="sounds of each kind that the game is given")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settled = [check(film(folder, FPS), folder) for film in (film_winner, film_heat, film_middle)]
        if said.game:
            settled.append(check_game(folder / "game", said.evenings))
    return 0 if all(settled) else 1


if __name__ == "__main__":
    sys.exit(main())
