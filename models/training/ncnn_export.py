"""Writes the networks as NCNN's: uint8 pictures in, float32 out, batch norm folded in (`models.eye.networks`).

The surface network gets six channels, with the bare table after the picture; its output is each place's score of each
`Surface`.

The classifiers have a second output, `FEATURES`: that of the convolutions, before the two linear layers. From it a deck
that the weights were not trained on can be learned (`models.decks.enrolment`); the hidden layer's 128 numbers separated
unfamiliar signs less well. pnnx, a tool of NCNN's, converts an ONNX file of PyTorch's.
"""

from __future__ import annotations

import argparse
import subprocess
import zipfile
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import onnx
import pnnx
import torch
from torch import Tensor, nn

from models.eye.letters import GLYPHS
from models.eye.networks import FEATURES, INPUT, SUFFIX, Parts
from models.training.nets import INPUTS, NETS

_MADE: Final = (1980, 1, 1, 0, 0, 0)
"""Date within a file of weights: the same numbers are the same file."""


class _Ready(nn.Module):  # type: ignore[misc]
    """Takes pictures as cameras give them, so that callers need not scale them."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x.permute(0, 3, 1, 2).to(torch.float32) / 255)
        return out


def export(name: str, checkpoint: Path, target: Path) -> None:
    """Export the averaged weights of a checkpoint."""
    net = NETS[name]()
    net.load_state_dict(torch.load(checkpoint, weights_only=True, map_location="cpu")["average"])
    is_classifier = name not in ("finder", "surfaces")
    with TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.onnx")
        shape = (1, *INPUTS[name])
        torch.onnx.export(
            _Ready(net).eval(),
            (torch.zeros(*shape, dtype=torch.uint8),),
            str(file),
            opset_version=17,
            dynamo=False,
        )
        if is_classifier:
            _add_features(file)
        write_parts(convert(file, shape, GLYPHS if is_classifier else ()), target)


def _add_features(path: Path) -> None:
    """Give a classifier's file a second output, the input of its first linear layer."""
    model = onnx.load(str(path))
    first = next(node for node in model.graph.node if node.op_type == "Gemm")
    seen = first.input[0]
    width = next(w.dims for w in model.graph.initializer if w.name == first.input[1])[1]
    for node in model.graph.node:
        node.input[:] = [FEATURES if name == seen else name for name in node.input]
        node.output[:] = [FEATURES if name == seen else name for name in node.output]
    model.graph.output.append(onnx.helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, ["n", int(width)]))
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def convert(file: Path, shape: tuple[int, ...], glyphs: tuple[str, ...]) -> Parts:
    """Convert an ONNX file beside which pnnx may write; ``shape`` is that of its pictures (1, H, W, C)."""
    size = ",".join(map(str, shape))
    subprocess.run(
        [pnnx.EXEC_PATH, file.name, f"inputshape=[{size}]u8", "fp16=0"],
        cwd=file.parent, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    magic, counts, _, *layers = file.with_suffix(".ncnn.param").read_text().splitlines()
    # NCNN has no bytes, so the layers that turn bytes into floats go: the one after them takes the input.
    kept = [layer.split() for layer in layers if not layer.startswith(("Permute", "Tensor.to"))]
    kept[0][4] = INPUT
    dropped = len(layers) - len(kept)
    number, blobs = (int(word) - dropped for word in counts.split())
    blobs += _free_sizes(kept)
    lines = [magic, f"{number} {blobs}", f"Input {INPUT} 0 1 {INPUT}", *map(" ".join, kept)]
    return Parts("\n".join(lines) + "\n", file.with_suffix(".ncnn.bin").read_bytes(), " ".join(glyphs))


def _free_sizes(layers: list[list[str]]) -> int:
    """Let layers that enlarge to a fixed size take that of the map to which the result is added, in place.

    A layer is its kind, name, numbers of inputs and outputs, their names and its parameters. A map that one more layer
    uses needs one more output of the `Split` that copies it. Returns the number of these.
    """
    added = 0
    for layer, after in pairwise(layers):
        if layer[0] == "Interp" and not any(word.startswith("1=") for word in layer[6:]):
            given, made = layer[4:6]
            (like,) = (name for name in after[4:6] if name != made)
            split = next(other for other in layers if other[0] == "Split" and like in other[5:])
            split[3] = str(int(split[3]) + 1)
            split.append(f"{like}_size")
            # 5: the second input gives the size.
            layer[2:] = ["2", "1", given, f"{like}_size", made, "0=1", "5=1"]
            added += 1
    return added


def write_parts(parts: Parts, target: Path) -> None:
    """Write a file of weights; see `models.eye.networks.read_parts`."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts._asdict().items():
            file.writestr(zipfile.ZipInfo(name, _MADE), content, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Export the networks (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--only", nargs="+", choices=sorted(NETS), default=list(NETS), help="these networks alone")
    args = parser.parse_args()
    args.weights.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        path = args.weights / f"{name}{SUFFIX}"
        export(name, args.out / f"{name}.pt", path)
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
