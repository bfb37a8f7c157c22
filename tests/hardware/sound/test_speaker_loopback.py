"""The real stream on a machine without a card: ALSA writes the sound into a file, or into a pipe at its pace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.sound.splice import FLOOR, RATE
from tests.support.patience import PATIENCE

SYSTEM = Path("/usr/share/alsa/alsa.conf")
CONFIG = f"""
<{SYSTEM}>
pcm.!default {{ type plug slave.pcm capture }}
pcm.capture {{ type file slave.pcm null file "FILE" format raw }}
ctl.!default {{ type hw card 0 }}
"""
BANK = """
import sys, time
from pathlib import Path
import numpy as np
from hardware.sound.stream_speaker import StreamSpeaker

class Bank:
    def phrase(self, texts):
        return (0.2 * np.sin(np.arange(8000) / 5)).astype(np.float32)

told = []
"""
PLAIN = """
speaker = StreamSpeaker(Bank(), on_trouble=told.append)
speaker.say(["a tone"])
speaker.drain(20)
speaker.close()
assert told == [], told
"""
ABSENT = """
import os
config = Path(os.environ["ALSA_CONFIG_PATH"])
ready = config.read_text()
config.write_text("</usr/share/alsa/alsa.conf>\\npcm.!default { type hw card 7 }")
speaker = StreamSpeaker(Bank(), on_trouble=told.append, watched=False)
assert "no sound card answers" in speaker.trouble, speaker.trouble
speaker.say(["an unheard phrase"])
config.write_text(ready)
speaker.look(time.monotonic() + 60)
assert told[1:] == [""], told
speaker.say(["a tone"])
speaker.drain(20)
# The card goes away under an open stream.
speaker.say(["a tone"], urgent=True)
speaker._stream.abort()
speaker.look(time.monotonic() + 60)
assert told[2:] == ["no sound: the sound card has stopped; see its plug", ""], told
speaker.say(["a tone"], urgent=True)
speaker.drain(20)
speaker.close()
"""
QUICK = """
from tests.support.sound_card import Card
card = Card(Path(sys.argv[1]))
speaker = StreamSpeaker(Bank(), on_trouble=told.append)
time.sleep(0.5)
said = []
for turn in range(8):
    said.append(time.monotonic_ns())
    speaker.say(["a tone"], urgent=True)
    speaker.drain(20)
    time.sleep(0.1)
speaker.close()
time.sleep(0.2)
onsets = card.onsets
card.close()
assert len(onsets) == len(said), (onsets, said)
print(*sorted((heard - at) / 1e6 for at, heard in zip(said, onsets)))
"""


def run(program: str, tmp_path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    if not SYSTEM.exists():
        pytest.skip("no sound library: ALSA is not installed (apt install libportaudio2)")
    config = tmp_path / "asound.conf"
    config.write_text(CONFIG.replace("FILE", str(tmp_path / "played.raw")))
    done = subprocess.run(
        [sys.executable, "-c", BANK + program, *args], cwd=Path(__file__).parents[3],
        env={**os.environ, "ALSA_CONFIG_PATH": str(config)}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    if "libportaudio2" in done.stderr:
        pytest.skip("no sound library: libportaudio2 is not installed (apt install libportaudio2)")
    assert done.returncode == 0, done.stderr
    return done


def tones(heard: Any) -> list[tuple[int, int]]:
    """Return where sound begins and ends, with a tenth of a second of quiet between."""
    loud = np.flatnonzero(np.abs(heard) > 0.05)
    edges = np.flatnonzero(np.diff(loud) > RATE // 10)
    return list(zip(loud[np.r_[0, edges + 1]], loud[np.r_[edges, -1]], strict=True))


def test_what_is_said_reaches_the_card(tmp_path: Path) -> None:
    run(PLAIN, tmp_path)
    heard = np.fromfile(tmp_path / "played.raw", "<f4")
    ((first, last),) = tones(heard)
    assert last - first == pytest.approx(0.5 * RATE, abs=20), "nothing lost, nothing twice"
    spoken = heard[first - 2 : first + 7_000]
    assert float(np.sqrt(np.mean(spoken**2))) == pytest.approx(0.2 / 2**0.5, rel=0.02)
    # The stream was open before and after: its quiet is a floor, not zeros.
    around = np.concatenate([heard[: first - 10], heard[last + 10 :]])
    assert np.count_nonzero(around) > 0
    assert float(np.abs(around).max()) < 10 * FLOOR


def test_a_card_that_is_absent_and_then_goes_away_is_found_again(tmp_path: Path) -> None:
    run(ABSENT, tmp_path)
    heard = np.fromfile(tmp_path / "played.raw", "<f4")
    *_, (first, last) = tones(heard)
    assert last - first == pytest.approx(0.5 * RATE, abs=20), "what is said after it came back is whole"


def test_the_first_sample_comes_at_once(tmp_path: Path) -> None:
    """In the best of eight tries, because other processes may delay any of them; `make latency` measures fully."""
    waited = [float(ms) for ms in run(QUICK, tmp_path, str(tmp_path)).stdout.split()]
    assert 0 < waited[0] < 40, waited
