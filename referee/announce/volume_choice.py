"""How loud the voice is and whether it calls cards, as chosen at the table.

It is kept beside the record, for the settings file is not the table's.

What was chosen holds until somebody changes the settings file in the same matter: the later word counts.
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
"""Beside the record."""
VOICE_FIELDS: Final = ("volume", "quiet_volume", "quiet_from", "quiet_to", "cards")


@dataclass(frozen=True, slots=True)
class VoiceChoice:
    """What was said about the voice, and the settings in whose place it holds."""

    path: Path

    def applied_to(self, settings: VoiceSettings) -> VoiceSettings:
        """The settings as chosen; as they are where nothing was, or the file says otherwise by now."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            same = kept["instead_of"] == chosen_fields(settings)
            chosen = {field: kept["chosen"][field] for field in VOICE_FIELDS}
            return VoiceSettings.model_validate(settings.model_dump() | chosen) if same else settings
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return settings

    def keep(self, settings: VoiceSettings, chosen: VoiceSettings) -> None:
        """Choose; all at once or not at all.

        Args:
            settings: as the file has them.
            chosen: as they are to be.

        Raises:
            OSError: it cannot be written.
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
    """The volume and the quiet hours of these settings; raises `VolumeError`."""
    return Volume(settings.volume, settings.quiet_from, settings.quiet_to, settings.quiet_volume)


def chosen_fields(settings: VoiceSettings) -> dict[str, Any]:
    """What may be chosen, as it is set."""
    return {field: getattr(settings, field) for field in VOICE_FIELDS}
