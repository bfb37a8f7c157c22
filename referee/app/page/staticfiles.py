"""Scripts, styles and fonts: a fixed list of files, each with a mark by which browsers keep it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from referee.app.page.palette import stylesheet

_FOLDER: Final = Path(__file__).parent / "static"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
}  # fmt: skip
_FONTS: Final = ("Roboto-Regular.ttf", "Roboto-Medium.ttf", "Roboto-Bold.ttf", "Roboto-Black.ttf")


async def static(request: Request) -> Response:
    """One file."""
    name = request.path_params["name"]
    try:
        data, mark = content(name)
    except KeyError:
        raise HTTPException(404) from None
    headers = {"Cache-Control": "no-cache", "ETag": mark}
    if name in _FONTS:
        headers["Cache-Control"] = "max-age=2592000"
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_KINDS[Path(name).suffix], headers=headers)


@cache
def content(name: str) -> tuple[bytes, str]:
    """A file's bytes and its mark; raises `KeyError` for one that there is not."""
    if name == "palette.css":
        data = stylesheet().encode()
    elif name in _FONTS:
        data = (files("font_roboto") / "files" / name).read_bytes()
    elif name in _names():
        data = (_FOLDER / name).read_bytes()
    else:
        raise KeyError(name)
    return data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'


@cache
def _names() -> frozenset[str]:
    return frozenset(file.name for file in _FOLDER.iterdir() if file.suffix in _KINDS)
