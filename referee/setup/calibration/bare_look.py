"""`referee calibrate --bare`: take a picture of the bare table, to recognise faces printed on its cloth."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError
from PIL.PngImagePlugin import PngInfo

from hardware.ports import HardwareMissing
from models.eye.classes import UNREAD
from referee.errors import UserError
from referee.settings.file import read_settings, save_with_backup
from referee.settings.model import Settings, load_settings
from referee.setup.calibration import tell
from referee.setup.calibration.calibrate import mean_picture, still_frames
from referee.text.terminal_language import translate
from referee.vision.cameras import open_camera_of
from referee.vision.photos import load_eye


def keep_bare_table(path: Path) -> int:
    """Photograph the bare table with its camera, and save the picture beside the settings file ``path``.

    Raises:
        UserError: there is no camera, or no still table; says what to do.
    """
    settings = load_settings(path)
    try:
        with closing(open_camera_of(settings.camera)) as camera:
            tell("looking at the bare table: no card on it, and hands off")
            image = mean_picture(still_frames(camera.frames()))
    except HardwareMissing as error:
        raise UserError(str(error)) from None
    target = path.with_suffix(".bare.png")
    _write(target, image, settings)
    save_with_backup(path, read_settings(path).changed({"camera.bare_table": str(target.resolve())}).text)
    seen = [card.card for card in load_eye(settings.deck).recognise(image) if card.card != UNREAD]
    if seen:
        print(translate("printed on the table, and no cards from now on: {seen}", seen=", ".join(sorted(seen))))
        print(translate("if one of these is a card that lies there, take it away and do this again"))
    else:
        print(translate("nothing on the table reads as a card"))
    print(
        translate("kept in {target}; do this again when the cloth, the camera or its height is another", target=target)
    )
    return 0


def _view(settings: Settings) -> dict[str, str]:
    """Return the identity of the camera's view, as noted in the picture."""
    found = settings.calibration
    return {"camera": settings.camera.source, "table": "" if found is None else json.dumps(found.homography)}


def _write(target: Path, image: Any, settings: Settings) -> None:
    note = PngInfo()
    for key, words in _view(settings).items():
        note.add_text(key, words)
    try:
        Image.fromarray(np.ascontiguousarray(image[..., ::-1])).save(target, pnginfo=note)
    except OSError as error:
        raise UserError("{target} cannot be written: {why}", target=target, why=error.strerror) from None


def find_staleness(settings: Settings) -> str:
    """Return why the stored picture differs from the camera's present view, in words; empty if it does not."""
    path, camera, found = Path(settings.camera.bare_table), settings.camera, settings.calibration
    try:
        with Image.open(path) as picture:
            size, note = picture.size, dict(picture.info)
    except (UnidentifiedImageError, OSError, ValueError):
        return f"{path} is no picture that can be read"
    # Only the Pi's camera obeys the size in the settings; for any other, take the size seen by its calibration.
    wanted = (camera.width, camera.height) if camera.source == "picamera" else None
    wanted = wanted or (size if found is None else (found.width, found.height))
    now = _view(settings)
    if size != wanted:
        return "it is {}×{} px, and the camera gives {}×{}".format(*size, *wanted)
    if note.get("camera") != now["camera"]:
        return f"it is of {note.get('camera', 'a camera that it does not name')}, and the camera is {now['camera']}"
    return "" if note.get("table") == now["table"] else "the table was found anew since it was taken"
