"""What layers with scans keep of each request in steps of inference: states in fp32, the tokens before a convolution, and caches
of a window."""

import traces


def kept(model, batch, tokens):
    (rank,) = traces.compile_json(model, f"--batch={batch}", f"--kv-len={tokens}", "--dry-run")["classes"]
    return rank["memory"]["persistent_bytes"]["kv_cache"]


def rwkv(layers, width):
    """The token before each of two parts of a layer, and three numbers of a channel."""
    return layers * (2 * width * 2 + 3 * width * 4)


def rwkv7(layers, width, size):
    """The token before each of two parts of a layer, and of each head a square of numbers."""
    return layers * (2 * width * 2 + width * size * 4)


def xlstm(layers, heads, keys, values):
    """Of each key its values and what they are divided by, and of each head the largest exponent."""
    return layers * heads * (keys * (values + 1) + 1) * 4


def zamba(layers, places, width, channels, state, tokens):
    """Three tokens before a convolution and a state of each channel; keys and values of the shared layer in each of its places."""
    return layers * channels * (3 * 2 + state * 4) + places * 2 * 2 * width * 2 * tokens


def recurrent_gemma(layers, width, size, tokens):
    """One key and one value head of a third of the layers; three tokens before a convolution and a state of the others."""
    attention = layers // 3
    return attention * 2 * size * 2 * tokens + (layers - attention) * (3 * width * 2 + width * 4)


def main():
    # However many tokens came before.
    for tokens in (10, 1000):
        for batch in (1, 8):
            assert kept("rwkv-4-169m", batch, tokens) == batch * rwkv(12, 768)
    assert kept("rwkv-4-7b", 1, 1000) == rwkv(32, 4096)
    for tokens in (10, 1000):
        assert kept("rwkv-7-1.5b", 8, tokens) == 8 * rwkv7(24, 2048, 64)
        assert kept("xlstm-7b", 2, tokens) == 2 * xlstm(32, 8, 256, 512)
    assert kept("zamba-7b", 2, 100) == 2 * zamba(76, 13, 3712, 7424, 16, 101)
    assert kept("recurrentgemma-2b", 8, 100) == 8 * recurrent_gemma(26, 2560, 256, 101)
    # No more than the window.
    for tokens in (4000, 6000):
        found = kept("recurrentgemma-2b", 1, tokens)
        assert found == recurrent_gemma(26, 2560, 256, 2048), found
    print("states are those of closed forms")


if __name__ == "__main__":
    main()
