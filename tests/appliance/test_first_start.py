"""An image's first start, without the image: its service asks, and a phone answers until the game may begin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from referee.settings.model import load_settings
from tests.support.patience import PATIENCE
from tools.image.first_start import answer_questions


def test_a_phone_answers_all_that_the_first_start_asks(tmp_path: Path) -> None:
    settings = tmp_path / "settings" / "table.toml"
    environ = {**os.environ, "RUNTIME_DIRECTORY": str(tmp_path / "run"), "PYTHONUNBUFFERED": "1", "LANG": "C.UTF-8"}
    command = [
        sys.executable,
        "-m",
        "referee",
        "play",
        "--only-ask",
        "--no-browser",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        [*command, "--settings", str(settings)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as asks:
        try:
            assert asks.stdout is not None
            # Its page's address, and the code that pairs a device.
            shown = asks.stdout.readline() + asks.stdout.readline()
            found = re.search(r"http://\S+:(\d+)/", shown)
            assert found is not None, shown
            asked = answer_questions(int(found[1]), lambda: shown, PATIENCE)
            assert asks.wait(PATIENCE) == 0, shown
        finally:
            asks.kill()
    steps = {question.partition(".")[0] for question in asked}
    assert steps == {"seats", "hands", "camera", "voice", "rules", "pictures", "slaps", "deal"}
    made = load_settings(settings)
    assert (len(made.seats), made.voice.language, made.page.enabled) == (2, "de", True)
    assert [str(seat.pad) for seat in made.seats] == ["phone", "phone"]
