"""How long a test waits for a condition: so long that only a broken program reaches it, on the busiest machine too."""

from __future__ import annotations

from typing import Final

PATIENCE: Final = 300
"""Seconds."""
PATIENCE_MS: Final = PATIENCE * 1000
