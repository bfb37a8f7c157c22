"""`make review-check`: `referee review` settles three rendered disputes whose truth is known.

People slap the pile itself, as they do where nobody has pads. Each video is read by the real command; its page is told
the first frame in which each hand lies, and strikes out cards that nobody laid: not by people, but by the truth that it
was rendered from. Required: every hand fell within the error that its line states, the ruling is right, and
`referee replay` rules the saved log.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from referee.units import MS
from tests.support.dispute_client import ROOT, ReviewedVideo, first_frame
from tests.support.filmed_disputes import FilmedDispute, film_heat, film_middle, film_winner

FPS: Final = 30.0


def settle(filmed: FilmedDispute, log: Path) -> int:
    """Mark every hand of a video, and save the log; gives how many cards were struck out."""
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
    """The rulings of a log, by the real command."""
    done = subprocess.run(
        [sys.executable, "-m", "referee", "replay", str(log)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def brief(ruling: dict[str, Any]) -> str:
    """A ruling on hands in two words."""
    return f"{ruling['ruling']} {' '.join(map(str, ruling.get('seats', [ruling.get('seat')])))}"


def check(filmed: FilmedDispute, folder: Path) -> bool:
    """Settle one dispute and print the figures; whether all is as required."""
    log = folder / f"{filmed.file.stem}.jsonl"
    struck = settle(filmed, log)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    told = {line["seat"]: line for line in lines if line["kind"] == "slap"}
    within = all(abs(told[slap.seat]["t"] - slap.t) <= told[slap.seat]["t_error"] for slap in filmed.slaps)
    by_people = all(line["by"] == "people" for line in told.values())
    ruled = [
        brief(one) for one in replayed(log) if one["ruling"] in ("slap_won", "slap_false", "slap_void", "dead_heat")
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


def main() -> int:
    """Render, settle, compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settled = [check(film(folder, FPS), folder) for film in (film_winner, film_heat, film_middle)]
    return 0 if all(settled) else 1


if __name__ == "__main__":
    sys.exit(main())
