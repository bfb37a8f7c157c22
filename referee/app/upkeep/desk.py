"""What `referee backup` and `referee restore` do, by their options."""

from __future__ import annotations

import argparse
from datetime import datetime

from referee.app.decks import folder
from referee.app.games import now
from referee.app.problems import UserError
from referee.app.record import RecordError
from referee.app.upkeep.archive import BackupError, Places, back_up
from referee.app.upkeep.restoring import planned, restore


def _places(args: argparse.Namespace) -> Places:
    return Places(args.record, args.settings, folder())


def backup(args: argparse.Namespace) -> int:
    """Write one. Raises `UserError`."""
    try:
        places = _places(args)
        manifest = back_up(places, args.file, now(), pictures=args.frames)
    except (BackupError, RecordError) as bad:
        raise UserError(str(bad)) from None
    size = args.file.stat().st_size
    print(f"{args.file}: {manifest.games} games, {len(manifest.parts)} parts, {size / 1e6:.1f} MB, read back and whole")
    if places.house and f"rules/{places.house}" not in {part.name for part in manifest.parts}:
        print(f"not in it: the house rules {places.house}, which do not lie beside the settings; copy them yourself")
    return 0


def bring_back(args: argparse.Namespace) -> int:
    """Say what would be done, or do it. Raises `UserError`."""
    stamp = datetime.now().astimezone().strftime("%Y%m%dT%H%M%S")
    try:
        plan = (restore if args.yes else planned)(args.file, _places(args), stamp)
    except (BackupError, RecordError) as bad:
        raise UserError(str(bad)) from None
    print("\n".join(plan.words))
    print("done" if args.yes else "nothing was changed; do it with --yes")
    return 0
