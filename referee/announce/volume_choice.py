"""The voice settings chosen at the table: volume, quiet hours, and whether it calls cards.

The choice is stored beside the record, since the table does not write to the settings file.

It holds until the settings file changes in the same fields: the later change counts.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hardware.sound.volume import Volume
from referee.settings.model import VoiceSettings

VOICE_FILE: Final = "voice.json"
"""File beside the record."""
VOICE_FIELDS: Final = ("volume", "quiet_volume", "quiet_from", "quiet_to", "cards")


@dataclass(frozen=True, slots=True)
class VoiceChoice:
    """The chosen voice settings, and the file's settings that they replace."""

    path: Path

    def applied_to(self, settings: VoiceSettings) -> VoiceSettings:
        """Return the settings as chosen; unchanged if nothing was chosen or the file has changed since."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            same = kept["instead_of"] == chosen_fields(settings)
            chosen = {field: kept["chosen"][field] for field in VOICE_FIELDS}
            return VoiceSettings.model_validate(settings.model_dump() | chosen) if same else settings
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return settings

    def keep(self, settings: VoiceSettings, chosen: VoiceSettings) -> None:
        """Store the choice atomically.

        Args:
            settings: as the file has them.
            chosen: the settings to use instead.

        Raises:
            OSError: the file cannot be written.
        """
        beside = self.path.with_suffix(".new")
        try:
            with beside.open("w", encoding="utf-8") as out:
                json.dump({"instead_of": chosen_fields(settings), "chosen": chosen_fields(chosen)}, out)
                out.flush()
                os.fsync(out.fileno())
            beside.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise


def volume_in(settings: VoiceSettings) -> Volume:
    """Return the volume and the quiet hours of these settings; raises `VolumeError`."""
    return Volume(settings.volume, settings.quiet_from, settings.quiet_to, settings.quiet_volume)


def chosen_fields(settings: VoiceSettings) -> dict[str, Any]:
    """Return the fields that can be chosen."""
    return {field: getattr(settings, field) for field in VOICE_FIELDS}
