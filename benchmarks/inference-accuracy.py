#!/usr/bin/env python3
"""Compares stg-estimate with measured steps of inference.

    inference-accuracy.py [--tool PATH] [--only REGEX] [--jobs N] [--csv FILE]

No constant was fitted on these runs. A decoding step has the mean context of its run, the prompt
and half of what is generated. A server with C requests at a time gets a new one whenever one is
through, so while a request generates N tokens the prompts of C - 1 others are read, each in a step
beside the tokens of all others: a token takes D + (C - 1) / N (M - D) with D for a step of tokens
alone and M for one with a prompt. Sources: ai-dynamo/aiconfigurator 095f58a, silicon_sample.csv
(time per output token of Llama 3.1 70B in FP8 and gpt-oss 120B in MXFP4 with vLLM and of 8B in bf16
with TensorRT-LLM, H100); arXiv:2211.05102 (PaLM 540B on 64 TPU v4); LLMServe/DistServe (what was
fitted to prompts and tokens of OPT 13B, A100);
mutinifni/splitwise-sim, data/perf_model.csv (prompts of Llama 2 70B with vLLM of 2023, A100; its
decoding waited for launches); arXiv:2411.01783 (prefill of Llama 3.1 405B, one sequence of 128,000
tokens, H100-96GB, FP8 in feed-forward only); AMD's page of performance results (vLLM 0.10.2 on eight
MI300X, seconds of 128 tokens of a prompt and 2,048 that are generated); lmsys.org/blog/2025-05-05-large-scale-ep
(DeepSeek-V3 with SGLang and DeepEP, prompts on 32 H100 and tokens on 72; sizes of steps are those of
the commands in sgl-project/sglang#6017, from memory).
"""
import argparse
import concurrent.futures
import json
import re
import subprocess
import sys

from accuracy import show

H100, A100, TITAN, TPU, AMD = "h100-80gb-dgx", "a100-80gb-dgx", "h100-96gb", "tpu-v4", "mi300x"
MXFP4 = ["--weight-dtype=mxfp4"]
FP8 = ["--fp8", "--weight-dtype=fp8"]

# By input and output tokens and ranks of tensor parallelism, ms per token at these batches.
DECODE = [
    ("llama3-70b", FP8, [4, 8, 16, 32, 64], {
        (1024, 1024): {2: [17.407, 18.221, 19.740, 23.538, 28.769],
                       4: [11.776, 12.110, 13.192, 16.492, 19.515],
                       8: [9.114, 9.356, 11.392, 12.637, 15.455]},
        # The first layout waits for caches from 32 requests on.
        (8192, 1024): {2: [20.616, 25.014, 34.625],
                       4: [13.274, 15.766, 21.064, 32.824, 53.495],
                       8: [10.218, 11.588, 15.853, 21.612, 34.483]}}),
    ("llama3-8b", [], [8, 16, 32, 64], {
        (1024, 512): {1: [7.417, 8.354, 9.877, 13.102], 2: [4.827, 5.582, 6.648, 8.604],
                      4: [3.294, 4.039, 5.131, 7.103], 8: [2.731, 3.315, 4.380, 6.626]},
        (4096, 512): {1: [9.647, 12.402, 18.154, 30.089], 2: [6.002, 8.105, 11.240, 17.777],
                      4: [3.980, 5.369, 7.447, 11.246], 8: [2.996, 4.060, 5.643, 8.530]}}),
    ("gpt-oss-120b", MXFP4, [4, 8, 16, 32, 64], {
        # The table itself says that 15.9 ms with 4 ranks and 32 requests are none of this series.
        (1024, 1024): {2: [5.029, 6.246, 8.175, 10.939, 14.832],
                       4: [4.016, 4.730, 5.827, None, 9.704],
                       8: [3.638, 3.993, 4.765, 5.772, 11.425]}}),
]

# Tokens of a row, or of its context, and rows. Milliseconds of a prompt, by ranks: a constant, per
# token and per square of a prompt's tokens; of a token for fewer than 95 rows and for more: a
# constant, per token of all contexts, per row.
OPT = {1: ((18.1025, 0.101912, 7.12226e-6), (19.9347, 0.000626936, 0.038507),
           (7.16619, 0.0005798, 0.158311)),
       2: ((14.743, 0.0685772, 2.44957e-6), (13.2948, 0.000341092, 0.0629639),
           (10.6387, 0.000311834, 0.0856291)),
       4: ((12.0623, 0.0380814, 5.22625e-7), (10.2562, 0.000187867, 0.0326927),
           (10.4835, 0.000171209, 0.0456665))}
OPT_PROMPTS = [(512, 1), (1024, 1), (2048, 1), (512, 4), (512, 8)]
OPT_TOKENS = [(512, 8), (512, 32), (512, 64), (512, 128), (1024, 128)]

# Rows, flags, seconds of a step, of PaLM 540B with 2,048 tokens of context and up to 64 generated.
PALM = [(64, ["--mode=decode", "--kv-len=2080", "--weight-dtype=int8"], 0.0285),
        (64, ["--mode=decode", "--kv-len=2080"], 0.0369),
        (1, ["--mode=prefill", "--seq=2048", "--weight-dtype=int8"], 0.29)]

# Sequences and tokens of a prompt, ms with tensor parallelism over 8 and over 2 ranks.
PREFILL = [
    (1, 512, 94.31, 196.86), (1, 1024, 154.46, 377.06), (1, 2048, 274.22, 688.05),
    (1, 4096, 661.22, 1485.4), (1, 8192, 1549.8, 2990.2), (8, 512, None, 1596.8),
    (16, 512, 2084.4, 3238.9), (32, 512, 3524.5, 6632.6), (64, 512, 7554.0, None),
]

# Ranks of context parallelism, seconds.
LONG = [(1, 42.010), (2, 21.042), (4, 10.950)]

# Tokens of a prompt, and tokens per second that a node of 8 reads of them, on four nodes of H100 with
# DeepSeek-V3. Each rank has 16,384 tokens in a step, in two parts by turns; experts are loaded as
# prompts do it, which estimates do not know.
EXPERT_PROMPTS = [(1024, 57674), (2048, 54543), (4096, 50302)]
STEP_TOKENS = 16384
# Requests of a rank, tokens of a prompt and of an answer, and new tokens per second of a node, on nine
# nodes, likewise.
EXPERT_TOKENS = [(256, 2000, 100, 22282)]

# Requests, seconds of 2,048 tokens of each.
MI300X = [(1, 15.882), (2, 17.934), (4, 18.487)]


def get_runs():
    """(group, id, flags, flags of a step with a prompt, such prompts for each token, measured
    seconds)"""
    for model, flags, batches, lengths in DECODE:
        for (prompt, generated), layouts in lengths.items():
            for tp, times in layouts.items():
                for batch, milliseconds in zip(batches, times):
                    if milliseconds is None:
                        continue
                    own = [model, f"--tp={tp}", f"--machine={H100}"] + flags
                    context = prompt + generated // 2
                    yield (f"decode {model}", f"{model}-tp{tp}-{prompt}-{batch}",
                           own + ["--mode=decode", f"--batch={batch}", f"--kv-len={context}"],
                           own + [f"--requests=({prompt},0),{batch - 1}*(1,{context})"],
                           (batch - 1) / generated, milliseconds / 1e3)
    for batch, prompt, eight, two in PREFILL:
        for tp, milliseconds in ((8, eight), (2, two)):
            if milliseconds:
                yield ("prefill llama2-70b", f"llama2-70b-tp{tp}-{batch}x{prompt}",
                       ["llama2-70b", "--mode=prefill", f"--tp={tp}", f"--batch={batch}",
                        f"--seq={prompt}", f"--machine={A100}"], None, 0, milliseconds / 1e3)
    for tp, (prompts, few, many) in OPT.items():
        own = ["opt-13b", f"--tp={tp}", f"--machine={A100}"]
        for seq, batch in OPT_PROMPTS:
            milliseconds = prompts[0] + prompts[1] * batch * seq + prompts[2] * batch * seq ** 2
            yield ("prefill opt-13b", f"opt-13b-tp{tp}-{batch}x{seq}",
                   own + ["--mode=prefill", f"--batch={batch}", f"--seq={seq}"], None, 0,
                   milliseconds / 1e3)
        for context, batch in OPT_TOKENS:
            fit = few if batch < 95 else many
            yield ("decode opt-13b", f"opt-13b-tp{tp}-{batch}-{context}",
                   own + ["--mode=decode", f"--batch={batch}", f"--kv-len={context - 1}"], None, 0,
                   (fit[0] + fit[1] * batch * context + fit[2] * batch) / 1e3)
    for batch, flags, seconds in PALM:
        degrees = "rows=4,columns=16" + (",same_attention=true" if batch == 1 else "")
        yield ("palm-540b on 64 TPU v4", f"palm-540b-{batch}{flags[0][7:]}{'-int8' * len(flags[2:])}",
               ["palm-540b", "--preset=tensor-2d", f"--degrees={degrees}", f"--batch={batch}",
                f"--machine={TPU}"] + flags, None, 0, seconds)
    for batch, seconds in MI300X:
        yield ("decode llama3.1-70b on 8 MI300X", f"llama3.1-70b-mi300x-{batch}",
               ["llama3.1-70b", "--mode=decode", "--tp=8", f"--batch={batch}", "--kv-len=1152", "--kv-dtype=f8E4M3FN",
                f"--machine={AMD}"] + FP8, None, 0, seconds / 2048)
    for prompt, rate in EXPERT_PROMPTS:
        yield ("prefill deepseek-v3 on 32 H100", f"deepseek-v3-ep32-{prompt}",
               ["deepseek-v3", "--mode=prefill", "--dp=32", "--ep=32", f"--seq={prompt}",
                f"--batch={32 * STEP_TOKENS // prompt}", "--overlapped-batches=2", "--redundant-experts=32",
                "--preset=deepep-normal", f"--machine={H100}", "--fp8", "--weight-dtype=fp8-block"],
               None, 0, 8 * STEP_TOKENS / rate)
    for batch, prompt, answer, rate in EXPERT_TOKENS:
        yield ("decode deepseek-v3 on 72 H100", f"deepseek-v3-ep72-{batch}x{prompt}",
               ["deepseek-v3", "--mode=decode", "--dp=72", "--ep=72", f"--kv-len={prompt + answer // 2}",
                f"--batch={72 * batch}", "--overlapped-batches=2", "--redundant-experts=32", "--preset=deepep",
                f"--machine={H100}", "--fp8", "--weight-dtype=fp8-block"], None, 0, 8 * batch / rate)
    for cp, seconds in LONG:
        yield ("prefill llama3.1-405b", f"llama3.1-405b-tp8-cp{cp}",
               ["llama3.1-405b", "--mode=prefill", "--tp=8", f"--cp={cp}", "--cp-comm-type=p2p",
                "--batch=1", "--seq=128000", f"--machine={TITAN}",
                "--weight-keep=qkv_proj,o_proj"] + FP8, None, 0, seconds)


def estimate_step(tool, flags):
    flags = [flag for flag in flags if "cp-comm-type" not in flag or "--cp=1" not in flags]
    if not any(flag.startswith("--preset") for flag in flags):
        flags = flags + ["--preset=inference-engine"]
    process = subprocess.run([tool] + flags + ["--json"],
                             capture_output=True, text=True)
    if process.returncode:
        raise ValueError(process.stderr.strip().splitlines()[0])
    return json.loads(process.stdout)["step_seconds"]


def estimate(tool, run):
    _, _, flags, prompt, share, _ = run
    try:
        seconds = estimate_step(tool, flags)
        if prompt:
            seconds += share * (estimate_step(tool, prompt) - seconds)
        return seconds
    except ValueError as error:
        return str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv")
    options = parser.parse_args()
    runs = [run for run in get_runs() if re.search(options.only, run[1])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda run: estimate(options.tool, run), runs))
    groups, machines, lines = {}, {}, []
    for (group, name, flags, _, _, measured), ours in zip(runs, results):
        if isinstance(ours, str):
            print(f"{name}: {ours}", file=sys.stderr)
            continue
        groups.setdefault(group, []).append((measured, ours))
        machine = next(flag for flag in flags if flag.startswith("--machine="))
        machines.setdefault(machine[len("--machine="):], []).append((measured, ours))
        lines.append(f"{name},{measured:.6g},{ours:.6g},{ours / measured - 1:+.4f}")
    for group, pairs in groups.items():
        show(group, pairs)
    for machine, pairs in machines.items():
        show(f"all on {machine}", pairs)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8") as file:
            file.write("id,measured,estimated,error\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
