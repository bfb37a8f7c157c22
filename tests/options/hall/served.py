"""The hall as a separate process."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.support.patience import PATIENCE
from tests.web.served import Served


class ServedHall(Served):
    """A hall's process; its address is known once it can be reached."""

    def __init__(self, broker: int, *options: str) -> None:
        self._start("hall", "--broker", f"127.0.0.1:{broker}", "--port", "0", *options)

    def health(self) -> dict[str, Any]:
        """Return its own health report."""
        with urllib.request.urlopen(f"{self.address}/healthz", timeout=PATIENCE) as answer:
            found: dict[str, Any] = json.load(answer)
        return found
