"""The real stream on a machine without a card: ALSA writes what is played into a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hardware.mixing import FLOOR, RATE

SYSTEM = Path("/usr/share/alsa/alsa.conf")
CONFIG = f"""
<{SYSTEM}>
pcm.!default {{ type plug slave.pcm capture }}
pcm.capture {{ type file slave.pcm null file "FILE" format raw }}
ctl.!default {{ type hw card 0 }}
"""
PROGRAM = """
import numpy as np
from hardware.speaker import StreamSpeaker

class Bank:
    def phrase(self, texts):
        return (0.2 * np.sin(np.arange(8000) / 5)).astype(np.float32)

speaker = StreamSpeaker(Bank())
speaker.say(["a tone"])
speaker.drain(20)
speaker.close()
"""


def test_what_is_said_reaches_the_card(tmp_path: Path) -> None:
    if not SYSTEM.exists():
        pytest.skip("no sound library: ALSA is not installed (apt install libportaudio2)")
    played = tmp_path / "played.raw"
    config = tmp_path / "asound.conf"
    config.write_text(CONFIG.replace("FILE", str(played)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "ALSA_CONFIG_PATH": str(config)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if "libportaudio2" in done.stderr:
        pytest.skip("no sound library: libportaudio2 is not installed (apt install libportaudio2)")
    assert done.returncode == 0, done.stderr
    heard = np.fromfile(played, "<f4")
    loud = np.flatnonzero(np.abs(heard) > 0.05)
    spoken = heard[loud[0] - 2 : loud[0] + 7_000]
    assert loud[-1] - loud[0] == pytest.approx(0.5 * RATE, abs=20), "nothing lost, nothing twice"
    assert float(np.sqrt(np.mean(spoken**2))) == pytest.approx(0.2 / 2**0.5, rel=0.02)
    # The stream was open before and after: its quiet is a floor, not zeros.
    around = np.concatenate([heard[: loud[0] - 10], heard[loud[-1] + 10 :]])
    assert np.count_nonzero(around) > 0
    assert float(np.abs(around).max()) < 10 * FLOOR
