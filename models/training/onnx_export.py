"""Writes the networks as ONNX: uint8 N×H×W×3 pictures in, float32 out, batch norm folded in.

The surface network gets six channels, with the bare table after the picture, and returns each place's likeliest
`Surface`.

The classifiers have a second output, `features`: that of the convolutions, before the two linear layers. From it a deck
that the weights were not trained on can be learned (`models.decks.enrolment`); the hidden layer's 128 numbers separated
unfamiliar signs less well.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from models.eye.letters import GLYPHS
from models.eye.networks import FEATURES, GLYPHS_KEY
from models.training.nets import INPUTS, NETS


class _Ready(nn.Module):  # type: ignore[misc]
    """Takes pictures as cameras give them, so that callers need not scale them."""

    def __init__(self, net: nn.Module, likeliest: bool) -> None:
        super().__init__()
        self.net, self.likeliest = net, likeliest

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x.permute(0, 3, 1, 2).to(torch.float32) / 255)
        return out.argmax(1).to(torch.float32) if self.likeliest else out


def export(name: str, checkpoint: Path, target: Path) -> None:
    """Export the averaged weights of a checkpoint."""
    net = NETS[name]()
    net.load_state_dict(torch.load(checkpoint, weights_only=True, map_location="cpu")["average"])
    any_size = name in ("finder", "surfaces")
    axes = {0: "n", 1: "h", 2: "w"} if any_size else {0: "n"}
    out_axes = {"finder": {0: "n", 2: "h4", 3: "w4"}, "surfaces": {0: "n", 1: "h2", 2: "w2"}}.get(name, {0: "n"})
    torch.onnx.export(
        _Ready(net, likeliest=name == "surfaces").eval(),
        (torch.zeros(2, *INPUTS[name], dtype=torch.uint8),),
        str(target),
        input_names=["pictures"],
        output_names=["out"],
        dynamic_axes={"pictures": axes, "out": out_axes},
        opset_version=17,
        dynamo=False,
    )
    if not any_size:
        _add_features(target)


def _add_features(path: Path) -> None:
    """Give a classifier's file a second output, the input of its first linear layer, and the names of its glyphs."""
    model = onnx.load(str(path))
    first = next(node for node in model.graph.node if node.op_type == "Gemm")
    seen = first.input[0]
    width = next(w.dims for w in model.graph.initializer if w.name == first.input[1])[1]
    for node in model.graph.node:
        node.input[:] = [FEATURES if name == seen else name for name in node.input]
        node.output[:] = [FEATURES if name == seen else name for name in node.output]
    model.graph.output.append(onnx.helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, ["n", int(width)]))
    onnx.helper.set_model_props(model, {GLYPHS_KEY: " ".join(GLYPHS)})
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def main() -> None:
    """Export the networks (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--only", nargs="+", choices=sorted(NETS), default=list(NETS), help="these networks alone")
    args = parser.parse_args()
    args.weights.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        path = args.weights / f"{name}.onnx"
        export(name, args.out / f"{name}.pt", path)
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
