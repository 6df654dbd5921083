"""Compares what stg-compile makes of the ResNet models with closed forms.

The closed forms are computed here from the table of He et al., arXiv:1512.03385, without a
look at models/resnet.mlir; the stride of a stage is that of its convolution over 3 x 3
positions, as in torchvision. Published: torchvision's numbers of parameters and of
multiplications of an image of 224 x 224 pixels.
"""

import json
import subprocess

# Layers of the stages, parameters, and 10^9 multiplications, cut off in the last digit.
MODELS = {
    "resnet-50": ((3, 4, 6, 3), 25_557_032, 4.08),
    "resnet-101": ((3, 4, 23, 3), 44_549_160, 7.80),
    "resnet-152": ((3, 8, 36, 3), 60_192_808, 11.51),
}
CLASSES = 1000
GRADIENT = 4  # bytes


class Counts:
    """What the layers add up to, for one image, and for a channel where a batch is normalized."""

    def __init__(self):
        self.parameters = self.products = self.first = 0
        self.normalized = self.channels = self.rectified = self.added = self.joined = self.pooled = 0

    def convolve(self, side, inputs, outputs, window):
        """A convolution whose result has so many rows, with its normalization."""
        weights = window * window * inputs * outputs
        self.parameters += weights + 2 * outputs
        self.products += 2 * side * side * weights
        self.normalized += side * side * outputs
        self.channels += outputs


def count(layers):
    total = Counts()
    total.convolve(112, 3, 64, 7)
    total.first = total.products
    total.rectified += 112 * 112 * 64
    total.pooled += 56 * 56 * 64
    inputs = 64
    for stage, number in enumerate(layers):
        side, width = 56 >> stage, 64 << stage
        for layer in range(number):
            before = side * 2 if stage and not layer else side
            total.convolve(before, inputs, width, 1)
            total.convolve(side, width, width, 3)
            total.convolve(side, width, 4 * width, 1)
            if not layer:
                total.convolve(side, inputs, 4 * width, 1)
            total.rectified += before * before * width + side * side * width + side * side * 4 * width
            total.added += side * side * 4 * width
            # What a layer reads is read twice, so its gradient has two parts.
            total.joined += before * before * inputs
            inputs = 4 * width
    total.parameters += inputs * CLASSES + CLASSES
    total.products += 2 * inputs * CLASSES
    return total


def compile(name, *flags):
    run = subprocess.run(["stg-compile", name, *flags, "--dry-run", "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def operations(total, batch):
    """Of both passes, by phase: as the conventions count normalizations, windows and losses."""
    loss = {"fwd": 5 * CLASSES + 3, "bwd": CLASSES + 1}
    averaged = 7 * 7 * 2048
    each = {
        "fwd": total.products + 7 * total.normalized + total.rectified + 9 * total.pooled + total.added
               + averaged + 2048 + CLASSES + loss["fwd"],
        # Nothing needs the gradient of an image.
        "bwd": 2 * total.products - total.first + 15 * total.normalized + total.rectified
               + 9 * total.pooled + total.joined + CLASSES + loss["bwd"],
    }
    once = {"fwd": 4 * total.channels, "bwd": 6 * total.channels}
    return {phase: each[phase] * batch + once[phase] for phase in each}


def expect(what, have, want):
    if have != want:
        raise SystemExit(f"{what}: {have}, expected {want}")


def main():
    for name, (layers, parameters, published) in MODELS.items():
        total = count(layers)
        expect(f"{name}: closed form of parameters", total.parameters, parameters)
        # torchvision counts multiplications of convolutions and of the classification.
        expect(f"{name}: published multiplications", total.products // 2 // 10**7, int(published * 100 + 0.5))
        made = compile(name, "--batch=6")
        only, = made["classes"]
        expect(f"{name}: parameters", made["parameters"], parameters)
        products = {"fwd": 6 * total.products, "bwd": 6 * (2 * total.products - total.first)}
        expect(f"{name}: products", only["matrix_operations_by_phase"], products)
        have = {phase: only["operations_by_phase"][phase] for phase in products}
        expect(f"{name}: operations", have, operations(total, 6))
        for zero in range(4):
            divided = compile(name, "--batch=6", "--dp=2", f"--zero={zero}")
            part, = divided["classes"]
            expect(f"{name}: products of a rank", part["matrix_operations_by_phase"],
                   {phase: value // 2 for phase, value in products.items()})
            if zero == 0:
                expect(f"{name}: collectives", [(c["kind"], c["phase"], c["bytes"]) for c in part["collectives"]],
                       [("all_reduce", "grad_sync", GRADIENT * parameters)])


main()
