"""The models and plans at scale that more than one benchmark uses."""

# The first and the last of the 64 virtual stages have one layer of the 126, the others two.
LLAMA_405B_STAGES = ",".join(["1", *["2"] * 62, "1"])


def llama_70b(dp):
    """4 stages, 1F1B, 8 micro-batches of one sequence."""
    return ["llama3-70b", "--tp=8", "--pp=4", f"--dp={dp}", f"--batch={8 * dp}", "--micro-batch=1"]


def llama_405b(dp):
    """16 stages, interleaved, 32 micro-batches of one sequence."""
    return [
        "llama3.1-405b", "--tp=8", "--cp=2", "--pp=16", "--virtual-stages=4",
        f"--layers-per-stage={LLAMA_405B_STAGES}", f"--dp={dp}", f"--batch={32 * dp}", "--micro-batch=1",
    ]


def palm_540b(dp):
    """All 118 layers on each device, ZeRO 3, 4 micro-batches of one sequence."""
    return [
        "palm-540b", "--tp=8", "--sequence-parallel", f"--dp={dp}", "--zero=3",
        f"--batch={4 * dp}", "--micro-batch=1",
    ]
