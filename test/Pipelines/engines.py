"""Compares what engines of inference do with closed forms.

What follows from the sizes of the models is computed here in other terms than the compiler does it.

Usage: engines.py {uneven|padded|weights|scales}...
"""

import sys
from collections import namedtuple

import traces

# Attention, then experts: width, number of them, how many a token uses.
Model = namedtuple("Model", "name L h a g d V fe E k")
MIXTRAL = Model("mixtral-8x7b", 32, 4096, 32, 8, 128, 32000, 14336, 8, 2)
QWEN = Model("qwen3-30b-a3b", 48, 2048, 32, 4, 128, 151936, 768, 128, 8)
FAILED = False


def equal(what, found, want):
    """Reports a difference."""
    global FAILED
    if found != want:
        FAILED = True
        print(f"{what}: found {found}, expected {want}")


def ceildiv(a, b):
    return -(-a // b)


def compile_step(model, *flags):
    """The summary of one class of ranks."""
    summary = traces.compile_json(model, "--dry-run", *flags)
    (entry,) = summary["classes"]
    return entry


def products(entry):
    return sum(entry["matrix_operations_by_phase"].values())


def step_products(m, tokens, keys, rows):
    """Of a decoding step of one rank: tokens of its own, and rows that its experts get."""
    attention = 2 * tokens * m.h * (2 * m.a + 2 * m.g) * m.d + 4 * tokens * keys * m.a * m.d
    return m.L * (attention + 2 * tokens * m.h * m.E + 6 * rows * m.h * m.fe) + 2 * tokens * m.h * m.V


def exchanges(entry):
    return [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_to_all"]


def uneven():
    """Experts get as many rows as tokens choose, whatever the batch."""
    for m in (MIXTRAL, QWEN):
        for batch in (1, 2, 3, 5, 7, 16):
            entry = compile_step(m.name, "--mode=decode", f"--batch={batch}", "--kv-len=99")
            equal(f"{m.name}, {batch}", products(entry), step_products(m, batch, 100, batch * m.k))
        for ranks in (2, 4, 8):
            for own in (1, 3):
                flags = [f"--batch={own * ranks}", "--kv-len=99", f"--dp={ranks}", f"--ep={ranks}"]
                entry = compile_step(m.name, *flags)
                what = f"{m.name}, {own} of each of {ranks}"
                equal(what, products(entry), step_products(m, own, 100, own * m.k))
                equal(f"{what}: rows", exchanges(entry), [(2 * m.L, 2 * m.L * own * m.k * m.h * 2)])
        # Over tp experts are cut, and all ranks have all rows.
        halves = products(compile_step(m.name, "--batch=3", "--kv-len=99", "--tp=2"))
        router = m.L * 2 * 3 * m.h * m.E
        equal(f"{m.name}, tp", 2 * halves - router, step_products(m, 3, 100, 3 * m.k))
    for batch in range(1, 17):
        compile_step("deepseek-v3", "--mode=decode", f"--batch={batch}", "--kv-len=99")
    for ranks in (2, 16, 64):
        compile_step("deepseek-v3", "--mode=decode", f"--batch={3 * ranks}", "--kv-len=99", f"--dp={ranks}", f"--ep={ranks}")


def padded():
    """Or the buffer of each expert has whole rows, those of each rank by itself."""
    for m in (MIXTRAL, QWEN):
        for batch in (1, 3, 16):
            entry = compile_step(m.name, f"--batch={batch}", "--kv-len=99", "--expert-rows=padded")
            rows = m.E * ceildiv(batch * m.k, m.E)
            equal(f"{m.name}, {batch}", products(entry), step_products(m, batch, 100, rows))
        entry = compile_step(m.name, "--batch=12", "--kv-len=99", "--dp=4", "--ep=4", "--expert-rows=padded")
        # A rank dispatches so many rows for all experts, and gets as many for its own.
        rows = m.E * ceildiv(3 * m.k, m.E)
        equal(f"{m.name}, ep", products(entry), step_products(m, 3, 100, rows))
        equal(f"{m.name}, ep: rows", exchanges(entry), [(2 * m.L, 2 * m.L * rows * m.h * 2)])
    # A capacity is one of whole rows: 5/4 of 6 rows are 8 for 8 experts.
    entry = compile_step("mixtral-8x7b", "--batch=3", "--kv-len=99", "--set=CN=5", "--set=CD=4")
    equal("capacity", products(entry), step_products(MIXTRAL, 3, 100, 8))


# Bits of an element; bytes of a scale; elements along what is summed over and along outputs.
FORMATS = {
    "fp8": (8, 4, None, 1),
    "fp8-block": (8, 4, 128, 128),
    "mxfp8": (8, 1, 32, 1),
    "int8": (8, 4, None, 1),
    "int4": (4, 2, 128, 1),
    "mxfp4": (4, 1, 32, 1),
    "nvfp4": (4, 1, 16, 1),
}


def stored(name, k, n):
    """Bytes of a matrix that sums over k and has n outputs."""
    bits, scale, along, across = FORMATS[name]
    return k * n * bits // 8 + ceildiv(k, along or k) * ceildiv(n, across) * scale


def weights():
    """Matrices of layers with their scales; all others have two bytes for each element."""
    L, h, a, g, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256
    for name in FORMATS:
        for t in (1, 2, 8):
            flags = ["--batch=4", "--kv-len=99", f"--tp={t}"]
            entry = compile_step("llama3-8b", *flags, f"--weight-dtype={name}")
            # Gate and up are two matrices; heads and their sizes are one dimension.
            layer = stored(name, h, (a + 2 * g) * d // t) + stored(name, a * d // t, h)
            layer += 2 * stored(name, h, f // t) + stored(name, f // t, h)
            rest = 2 * (2 * V * h // t + h + 2 * L * h)
            equal(f"{name}, tp {t}", entry["memory"]["persistent_bytes"]["parameter"], L * layer + rest)
            plain = compile_step("llama3-8b", *flags)
            equal(f"{name}, tp {t}: products", products(entry), products(plain))
            elements = h * (a + 2 * g) * d // t + a * d * h // t + 3 * h * f // t
            # Each element of a weight is multiplied by its scale, and weights are read as they are stored.
            equal(f"{name}, tp {t}: dequantization", entry["operations"] - plain["operations"], L * elements)
            less = plain["memory_traffic_bytes"] - entry["memory_traffic_bytes"]
            equal(f"{name}, tp {t}: traffic", less, L * (2 * elements - layer))
    # Experts of DeepSeek-V3: 44,040,192 bytes, and a scale for 128 x 128 of them.
    one = 3 * stored("fp8-block", 7168, 2048)
    equal("expert", one, 44040192 + 4 * 44040192 // 16384)
    entry = compile_step("deepseek-v3", "--batch=64", "--kv-len=99", "--dp=64", "--ep=64", "--weight-dtype=fp8-block")
    other = compile_step("deepseek-v3", "--batch=64", "--kv-len=99", "--dp=32", "--ep=32", "--weight-dtype=fp8-block")
    # Half as many ranks have twice as many experts each, and their corrections of the router.
    more = other["memory"]["persistent_bytes"]["parameter"] - entry["memory"]["persistent_bytes"]["parameter"]
    equal("experts of a rank", more, 58 * 4 * (one + 2))
    # Of 128 experts the 24 that have a row are read, multiplied and nothing else.
    m, flags = QWEN, ["--batch=3", "--kv-len=99"]
    plain = compile_step(m.name, *flags)
    entry = compile_step(m.name, *flags, "--weight-dtype=mxfp4")
    elements = m.h * (m.a + 2 * m.g) * m.d + m.a * m.d * m.h + 24 * 3 * m.h * m.fe
    equal("rows", entry["operations"] - plain["operations"], m.L * elements)
    # Kept as they are: the router by default, or what is named.
    kept = compile_step(m.name, *flags, "--weight-dtype=mxfp4", "--weight-keep=router,qkv_proj,o_proj")
    equal("kept", entry["operations"] - kept["operations"], m.L * (elements - 24 * 3 * m.h * m.fe))


def scales():
    """A cache of 8 bits has a scale of four bytes for so many elements of a row."""
    for block in (32, 128):
        entry = compile_step("llama3-8b", "--batch=4", "--kv-len=99", "--kv-dtype=f8E4M3FN", f"--kv-scale-block={block}")
        want = 4 * 100 * 32 * 2 * 8 * (128 + 4 * 128 // block)
        equal(f"heads, {block}", entry["memory"]["persistent_bytes"]["kv_cache"], want)
    entry = compile_step("deepseek-v3", "--batch=1", "--kv-len=99", "--kv-dtype=f8E4M3FN", "--kv-scale-block=128")
    # Of latents 512 elements with four scales, of positions 64 with one.
    equal("latents", entry["memory"]["persistent_bytes"]["kv_cache"], 100 * 61 * (512 + 16 + 64 + 4))


for argument in sys.argv[1:]:
    globals()[argument]()
sys.exit(FAILED)
