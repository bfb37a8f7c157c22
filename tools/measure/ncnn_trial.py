"""The eye's networks in NCNN and in ONNX Runtime, as arm64 code: `make ncnn-trial`.

QEMU counts the instructions of one look (`tools.measure.instructions`) on pictures of the sizes that the eye gives its
networks. pnnx, a tool of NCNN's, converts the networks. NCNN's half-precision arithmetic exists from the Pi 5's
processor on.

Exit status 77: a requirement cannot be had on this machine (the last line names it).
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from models.eye.networks import WEIGHTS, Network
from tools.measure.instructions import COUNTER, SHAPES, InstructionClock, emulated, set_up_counter
from tools.pi.setup import CANNOT, FOLDER, PYTHON, CannotSetUpError, add_wheels, run

NCNN: Final = "1.0.20261020"
PNNX: Final = "20261020"
PROCESSORS: Final = ("cortex-a72", "cortex-a76")
MODES: Final = {
    "single precision": (), "bf16 storage": ("use_bf16_storage",), "fp16 storage": ("use_fp16_storage",),
    "fp16 arithmetic": ("use_fp16_storage", "use_fp16_packed", "use_fp16_arithmetic"),
}  # fmt: skip
_FOLDER: Final = FOLDER / "ncnn"
_INPUT: Final = "in0"


def convert(name: str, pnnx: Path) -> None:
    """Write a network as NCNN's files; its picture is given as floats, channels first."""
    folder = _FOLDER / "networks"
    folder.mkdir(exist_ok=True)
    copy = folder / f"{name}.onnx"
    shutil.copy(WEIGHTS / copy.name, copy)
    shape = ",".join(map(str, (*SHAPES[name], 3)))
    run([pnnx, copy, f"inputshape=[{shape}]u8", "fp16=0"], place=folder)
    file = folder / f"{name}.ncnn.param"
    magic, counts, _, *layers = file.read_text().splitlines()
    # NCNN has no bytes, so the layers that turn bytes into floats go: the one after them takes the input.
    kept = [layer.split() for layer in layers if not layer.startswith(("Permute", "Tensor.to"))]
    kept[0][4] = _INPUT
    dropped = len(layers) - len(kept)
    number, blobs = (int(word) - dropped for word in counts.split())
    lines = [magic, f"{number} {blobs}", f"Input {_INPUT} 0 1 {_INPUT}", *map(" ".join, kept)]
    file.write_text("\n".join(lines) + "\n")


def set_up() -> None:
    """Fetch NCNN for the emulated program and its converter for this machine, and convert the networks.

    Raises:
        CannotSetUpError: something cannot be had on this machine.
    """
    set_up_counter()
    add_wheels(_FOLDER, PYTHON, [f"ncnn=={NCNN}"])
    wheels = _FOLDER / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, f"pnnx=={PNNX}"])
    zipfile.ZipFile(next(wheels.glob("pnnx-*.whl"))).extractall(wheels)
    pnnx = wheels / "pnnx" / "pnnx"
    pnnx.chmod(pnnx.stat().st_mode | stat.S_IXUSR)
    for name in SHAPES:
        convert(name, pnnx)


def open_ncnn(name: str, options: Sequence[str]) -> Callable[[Any], Any]:
    """Return a network in NCNN, on one thread, as a function of pictures (N, H, W, 3)."""
    import ncnn  # type: ignore[import-not-found, unused-ignore]

    net = ncnn.Net()
    net.opt.num_threads = 1
    for option in {option for mode in MODES.values() for option in mode}:
        setattr(net.opt, option, option in options)
    net.load_param(str(_FOLDER / "networks" / f"{name}.ncnn.param"))
    net.load_model(str(_FOLDER / "networks" / f"{name}.ncnn.bin"))

    def look(picture: Any) -> Any:
        height, width, _ = picture.shape
        extractor = net.create_extractor()
        extractor.input(_INPUT, ncnn.Mat.from_pixels(picture, ncnn.Mat.PixelType.PIXEL_BGR, width, height))
        return np.array(extractor.extract("out0")[1])

    return lambda pictures: np.stack([look(picture) for picture in pictures])


def count() -> None:
    """Print the instructions, millions, of each network in each way; runs in QEMU."""
    clock = InstructionClock()

    def counted(work: Callable[[Any], Any], pictures: Any) -> tuple[float, Any]:
        begin = clock()
        out = work(pictures)
        return 1000 * (clock() - begin), out

    for name, shape in SHAPES.items():
        pictures = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
        usual, right = counted(Network(WEIGHTS / f"{name}.onnx"), pictures)
        print(f"{name} {shape}: ONNX Runtime {usual:.1f}", flush=True)
        for mode, options in MODES.items():
            took, out = counted(open_ncnn(name, options), pictures)
            off = float(np.abs(out.reshape(right.shape) - right).max())
            print(
                f"  NCNN, {mode}: {took:.1f} ({took / usual:.2f}); an output differs by {off:.5f} at most", flush=True
            )


def main() -> int:
    """Count on both processors."""
    if COUNTER in os.environ:
        count()
        return 0
    try:
        set_up()
    except CannotSetUpError as error:
        print(f"ncnn-trial: cannot be had here: {error}")
        return CANNOT
    for processor in PROCESSORS:
        print(f"{processor}, millions of instructions of a look:")
        print(emulated("tools.measure.ncnn_trial", processor=processor, site=_FOLDER / "opt" / "site"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
