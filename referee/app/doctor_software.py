"""The doctor on what the simulated table needs too: Python, libraries, the three package names, the eye's weights."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from referee.app.doctor_machine import Finding, short

OUR_PACKAGES: Final = ("referee", "hardware", "models")
LIBRARIES: Final = {
    "numpy": "numpy", "cv2": "opencv-python", "onnxruntime": "onnxruntime", "gpiozero": "gpiozero",
    "PIL": "pillow", "rich": "rich", "tomlkit": "tomlkit",
}  # fmt: skip
SYSTEM_LIBRARIES: Final = {"cv2": "sudo apt install libgl1 libglib2.0-0"}


def software() -> Iterator[Finding]:
    """Every part."""
    # Whatever is older cannot even read these files.
    yield Finding("Python", "fine", ".".join(str(part) for part in sys.version_info[:3]), needed=True)
    app = Path(__file__).resolve().parents[2]
    for name in OUR_PACKAGES:
        yield ours_alone(name, app)
    for name, distribution in LIBRARIES.items():
        yield library(name, distribution)
    yield _weights()


def _version(module: Any, distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return str(getattr(module, "__version__", "here"))


def library(name: str, distribution: str) -> Finding:
    """How one Python library stands: it is imported to know."""
    mend = f"make install   (or: pip install {distribution})"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        return Finding(distribution, "missing", f"the module {name} is not installed", mend, needed=True)
    except (ImportError, OSError, AttributeError) as bad:
        return Finding(distribution, "broken", short(bad), SYSTEM_LIBRARIES.get(name, mend), needed=True)
    return Finding(distribution, "fine", _version(module, distribution), needed=True)


def ours_alone(name: str, app: Path) -> Finding:
    """Whether the package that answers to one of our general names is ours.

    Args:
        name: one of `OUR_PACKAGES`.
        app: the folder in which our packages lie side by side.
    """
    part = f"package name {name}"
    mend = "use an environment of its own: make install"
    try:
        module = importlib.import_module(name)
    except ImportError as bad:
        return Finding(part, "broken", short(bad), mend, needed=True)
    where = [Path(place).resolve() for place in module.__path__]
    if where != [(app / name).resolve()]:
        return Finding(part, "broken", f"answered by {where[0] if where else 'nothing'}", mend, needed=True)
    owners = sorted({owner for owner in metadata.packages_distributions().get(name, ()) if owner != "table-referee"})
    if owners:
        return Finding(
            part, "broken", f"also brought by {', '.join(owners)}", f"pip uninstall {owners[0]}", needed=True
        )
    return Finding(part, "fine", "ours alone", needed=True)


def _weights() -> Finding:
    mend = "fetch the whole repository again (git checkout models/weights), or: make train"
    try:
        models = importlib.import_module("models")
    except ImportError as bad:
        return Finding("weights of the eye", "broken", short(bad), mend, needed=True)
    files = sorted((Path(models.__path__[0]) / "weights").glob("*.onnx"))
    if not files:
        return Finding("weights of the eye", "missing", "no .onnx file in models/weights", mend, needed=True)
    size = sum(file.stat().st_size for file in files) / 1e6
    try:
        from models.eye import Eye

        Eye.load()
    except (ImportError, OSError, RuntimeError, ValueError) as bad:
        return Finding("weights of the eye", "broken", short(bad), mend, needed=True)
    return Finding("weights of the eye", "fine", f"{len(files)} files, {size:.1f} MB", needed=True)
