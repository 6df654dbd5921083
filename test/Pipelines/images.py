"""Steps of vision-language models against those of their text alone, and forward passes.

Qwen2.5-VL 7B has the text of Qwen2.5 7B. A step that goes on with requests is that of the text, to
the byte; one that begins them executes the tower besides, as the forward pass of training does.

Usage: images.py
"""

import comparing
import traces
from comparing import compile_one, equal

WHOLE, TEXT = "qwen2.5-vl-7b", "qwen2.5-7b"


def selected(model, sequences, tokens):
    """Operations that a step leaves out of the forward pass: the loss, and logits of all but the
    last tokens (sizes of both models: 3584 x 152064)."""
    training = compile_one(model, "--batch", sequences, "--seq", tokens)
    prefill = compile_one(model, "--mode", "prefill", "--batch", sequences, "--seq", tokens)
    phases = "matrix_operations_by_phase"
    return training[phases]["fwd"] - prefill[phases]["fwd"]


def main():
    for flags in (
        ("--batch", "8", "--kv-len", "4000", "--tp", "2"),
        ("--batch", "8", "--kv-len", "1", "--tp", "4", "--dp", "2", "--kv-block-size", "16"),
        ("--batch", "4", "--kv-len", "100", "--pp", "2", "--steps", "1"),
        # 28 layers, beside which the tower would have 32.
        ("--batch", "7", "--kv-len", "100", "--pp", "7", "--micro-batch", "1"),
        ("--batch", "4", "--kv-len", "100", "--pp", "3", "--layers-per-stage", "5,20,3"),
        ("--batch", "2", "--kv-len", "600", "--steps", "9"),
        ("--batch", "1", "--requests", "3*(1,700,1),2*(5,900,5)"),
    ):
        mode = () if "--requests" in flags else ("--mode", "decode")
        found, want = (
            [
                {key: value for key, value in entry.items() if key != "graph"}
                for entry in traces.compile_json(model, "--dry-run", *mode, *flags)["classes"]
            ]
            for model in (WHOLE, TEXT)
        )
        equal(f"decoding with {' '.join(flags)}", found, want)
    # Stages that end inside of a period of layers do what one device does, together.
    step = ("gemma-3-27b", "--dry-run", "--batch", "64", "--kv-len", "4095")
    (one,) = traces.compile_json(*step)["classes"]
    for flags in (("--pp", "2"), ("--pp", "31"), ("--pp", "3", "--layers-per-stage", "7,52,3")):
        stages = traces.compile_json(*step, *flags)["classes"]
        count = lambda entries, get: sum(get(entry) * entry["ranks"] for entry in entries)
        for what, get in (
            ("products", lambda entry: entry["matrix_operations_by_phase"]["fwd"]),
            ("caches", lambda entry: entry["memory"]["persistent_bytes"]["kv_cache"]),
        ):
            equal(f"{what} of stages with {' '.join(flags)}", count(stages, get), get(one))
    # The tower does the same work in a step as in training.
    for sequences, tokens in (("2", "1000"), ("1", "4096")):
        size = ("--batch", sequences, "--seq", tokens)
        phases = "matrix_operations_by_phase"
        tower = {
            mode: compile_one(WHOLE, "--mode", mode, *size)[phases]["fwd"]
            - compile_one(TEXT, "--mode", mode, *size)[phases]["fwd"]
            for mode in ("prefill", "train")
        }
        equal(f"products of the tower with {tokens} tokens", tower["prefill"], tower["train"])
        rows = int(sequences) * (int(tokens) - 1)
        equal("logits left out", selected(WHOLE, sequences, tokens), 2 * rows * 3584 * 152064)
    # The first of two chunks has the images; both together are the prompt.
    one = compile_one(WHOLE, "--mode", "prefill", "--batch", "2", "--seq", "2000")
    two = compile_one(WHOLE, "--mode", "prefill", "--batch", "2", "--seq", "2000", "--chunk", "1000")
    phases = "matrix_operations_by_phase"
    more = 2 * 2 * 3584 * 152064  # The first chunk makes logits, too.
    equal("products of two chunks", two[phases]["fwd"] - more, one[phases]["fwd"])
    # What sees whole sequences executes the forward pass. ViT-L/16 has 61.5547 GMAC by
    # torchvision's table.
    for model, flags in (
        ("vit-l-16", ("--batch", "1")),
        ("clip-vit-b-32", ("--batch", "4", "--dp", "2")),
        ("resnet-50", ("--batch", "2")),
        ("dit-xl-2", ("--batch", "4", "--dp", "4")),
        ("sd3.5-medium", ("--batch", "2", "--tp", "2")),
        ("flux.1-dev", ("--batch", "1", "--tp", "4")),
    ):
        steps = [compile_one(model, "--mode", mode, *flags)[phases] for mode in ("prefill", "train")]
        equal(f"forward pass of {model}", steps[0]["fwd"], steps[1]["fwd"])
    vision = compile_one("vit-l-16", "--mode", "prefill", "--batch", "1")[phases]["fwd"]
    equal("ViT-L/16", vision, 123_109_425_152)


main()
comparing.finish()
