"""`referee calibrate --bare`: a picture of the table without a card, by which faces printed on its cloth are known."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hardware.ports import HardwareMissing
from models.eye.classes import UNREAD
from referee.errors import UserError
from referee.settings.file import read_settings, save_with_backup
from referee.settings.model import load_settings
from referee.setup.calibration import say
from referee.setup.calibration.calibrate import mean_picture, still_frames
from referee.setup.calibration.report import write_picture
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye


def keep_bare_table(path: Path) -> int:
    """Look at the bare table with its settings' camera, and keep the picture beside the settings file ``path``.

    Raises:
        UserError: there is no camera, or no still table; says what to do.
    """
    settings = load_settings(path)
    try:
        with closing(open_camera_of(settings.camera)) as camera:
            say("looking at the bare table: no card on it, and hands off")
            image = mean_picture(still_frames(camera.frames()))
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None
    target = path.with_suffix(".bare.png")
    write_picture(target, image)
    save_with_backup(path, read_settings(path).changed({"camera.bare_table": str(target.resolve())}).text)
    seen = [one.card for one in load_eye(settings.deck).recognise(image) if one.card != UNREAD]
    if seen:
        print(f"printed on the table, and no cards from now on: {', '.join(sorted(seen))}")
        print("if one of these is a card that lies there, take it away and do this again")
    else:
        print("nothing on the table reads as a card")
    print(f"kept in {target}; do this again when the cloth, the camera or its height is another")
    return 0
