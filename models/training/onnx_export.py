"""Write the networks as ONNX, and read them back: uint8 N×H×W×3 pictures in, float32 out, batch norm folded away.

The classifiers have a second output, `features`: what the convolutions see, before the two linear layers. From it a
deck that the weights were not trained on can be learned (`models.decks.enrolment`); the hidden layer's 128 numbers told
signs apart less well that training never showed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.eye.classes import RANK_CLASSES
from models.eye.letters import GLYPHS
from models.eye.networks import FEATURES, GLYPHS_KEY, Network
from models.training.nets import INPUTS, NETS

#: Logit with which a glyph begins that the weights so far do not know.
_UNLIKELY = -4.0


class _Ready(nn.Module):  # type: ignore[misc]
    """Takes the pictures as cameras give them, so that nothing about their scaling is left to the caller."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x.permute(0, 3, 1, 2).to(torch.float32) / 255)
        return out


def export(name: str, checkpoint: Path, target: Path) -> None:
    """Export the averaged weights of a checkpoint."""
    net = NETS[name]()
    net.load_state_dict(torch.load(checkpoint, weights_only=True)["average"])
    h, w = INPUTS[name]
    axes = {0: "n", 1: "h", 2: "w"} if name == "finder" else {0: "n"}
    out_axes = {0: "n", 2: "h4", 3: "w4"} if name == "finder" else {0: "n"}
    torch.onnx.export(
        _Ready(net).eval(),
        (torch.zeros(2, h, w, 3, dtype=torch.uint8),),
        str(target),
        input_names=["pictures"],
        output_names=["out"],
        dynamic_axes={"pictures": axes, "out": out_axes},
        opset_version=17,
        dynamo=False,
    )
    if name != "finder":
        _add_features(target)


def _add_features(path: Path) -> None:
    """Give a classifier's file its second output, the input of its first linear layer, and the names of its first."""
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


@torch.no_grad()  # type: ignore[untyped-decorator]
def restore(name: str, path: Path, sample: NDArray[np.uint8]) -> nn.Module:
    """A classifier as its file has it, ready to go on learning; glyphs that the file does not know begin unlikely.

    The file has the batch norms folded into the convolutions. Each gets back the mean and spread that its convolution
    has on ``sample`` (N, H, W, 3), and what undoes them: the answers stay the same, and batches of like pictures learn.
    """
    graph = onnx.load(str(path)).graph
    stored = {w.name: torch.from_numpy(onnx.numpy_helper.to_array(w).copy()) for w in graph.initializer}
    folded = [[stored[i] for i in node.input[1:]] for node in graph.node if node.op_type in ("Conv", "Gemm")]
    net = NETS[name]().eval()
    convs = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    hidden, last = (m for m in net.modules() if isinstance(m, nn.Linear))
    for conv, norm, (weight, bias) in zip(convs, norms, folded[:-2], strict=True):
        conv.weight.copy_(weight)
        norm.bias.copy_(bias)
        norm.running_var.fill_(1 - norm.eps)
    hidden.weight.copy_(folded[-2][0])
    hidden.bias.copy_(folded[-2][1])
    told = Network(path).glyphs
    rows = [GLYPHS.index("10" if glyph == "T" and told == RANK_CLASSES else glyph) for glyph in told]
    rows += range(len(GLYPHS), last.out_features)
    last.weight.zero_()
    last.bias.fill_(_UNLIKELY)
    last.weight[rows], last.bias[rows] = folded[-1]
    seen: dict[nn.Module, Tensor] = {}
    for conv in convs:
        conv.register_forward_hook(lambda module, _, out: seen.update({module: out}))
    net(torch.from_numpy(sample).permute(0, 3, 1, 2).float() / 255)
    for conv, norm in zip(convs, norms, strict=True):
        conv._forward_hooks.clear()
        spread, mean = torch.var_mean(seen[conv], (0, 2, 3))
        norm.weight.copy_((spread + norm.eps).sqrt())
        norm.bias += mean
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(spread)
    return net


def main() -> None:
    """Export all three from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--only", choices=sorted(NETS), help="this network alone")
    args = parser.parse_args()
    args.weights.mkdir(parents=True, exist_ok=True)
    for name in [args.only] if args.only else list(NETS):
        path = args.weights / f"{name}.onnx"
        export(name, args.out / f"{name}.pt", path)
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
