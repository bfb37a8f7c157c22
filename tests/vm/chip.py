"""GPIO chips that the kernel simulates (gpio-sim), made through configfs. Runs inside the virtual machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_CONFIG: Final = Path("/sys/kernel/config/gpio-sim")


class SimulatedChip:
    """One chip; its lines are pulled as pads pull them: closed is to ground."""

    def __init__(self, name: str, label: str, lines: int = 54) -> None:
        """Make the chip: ``name`` in configfs, ``label`` for the kernel."""
        self._folder = _CONFIG / name
        bank = self._folder / "bank0"
        bank.mkdir(parents=True)
        (bank / "num_lines").write_text(str(lines))
        (bank / "label").write_text(label)
        (self._folder / "live").write_text("1")
        chip = (bank / "chip_name").read_text().strip()
        self.path = Path("/dev", chip)
        self._lines = Path("/sys/devices/platform", (self._folder / "dev_name").read_text().strip(), chip)

    def pull(self, pin: int) -> int:
        """Return a descriptor to write `CLOSED` or `OPEN` to."""
        return os.open(self._lines / f"sim_gpio{pin}" / "pull", os.O_WRONLY)

    def level(self, pin: int) -> bool:
        """Whether the line is high, as a light on it would be lit."""
        return (self._lines / f"sim_gpio{pin}" / "value").read_text().strip() == "1"

    def unplug(self) -> None:
        """Remove the chip."""
        (self._folder / "live").write_text("0")


CLOSED: Final = b"pull-down"
OPEN: Final = b"pull-up"
