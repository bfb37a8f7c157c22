"""Write the networks as ONNX: uint8 N×H×W×3 pictures in, float32 out, batch norm folded away."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

from models.training.nets import INPUTS, NETS


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


def main() -> None:
    """Export all three from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    args = parser.parse_args()
    args.weights.mkdir(parents=True, exist_ok=True)
    for name in NETS:
        path = args.weights / f"{name}.onnx"
        export(name, args.out / f"{name}.pt", path)
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
