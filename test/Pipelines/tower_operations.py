"""Operations of published models of images, sound and diffusion: what their papers and the
libraries that run them say, as multiply-adds, and closed forms.

Usage: tower_operations.py
"""

import traces


def forward(model, *flags):
    return traces.products(traces.compile_json(model, "--batch=1", *flags, "--dry-run"))["fwd"]


def vit(h, L, T, classes, patch):
    """24Th^2 + 4T^2h in each layer, patches, and the classes of one token."""
    return 2 * (T - 1) * 3 * patch**2 * h + L * (24 * T * h**2 + 4 * T**2 * h) + 2 * h * classes


def dit(h, L, N, p):
    """The same in each layer, with six vectors of a sample; time, patches and the output."""
    layer = 24 * N * h**2 + 4 * N**2 * h + 12 * h**2
    ends = 2 * N * 4 * p * h + 2 * N * h * 8 * p + 2 * (256 * h + h * h) + 4 * h**2
    return L * layer + ends


def whisper(h, L, V, mels, frames, tokens):
    """Encoder layers, their keys and values for the decoder once, and what each token costs."""
    encoder = L * (24 * frames * h**2 + 4 * frames**2 * h)
    convolutions = 2 * 2 * frames * 3 * mels * h + 2 * frames * 3 * h * h
    cross = L * 2 * frames * 2 * h * h
    own = L * (24 * tokens * h**2 + 4 * h * tokens * (tokens + 1) // 2)
    attended = L * (4 * tokens * h**2 + 4 * tokens * frames * h)
    assert (encoder, cross) == (2_256_076_800_000, 314_572_800_000)
    return encoder + convolutions + cross + own + attended + 2 * tokens * h * V


def main():
    expected = {
        "vit-b-16": vit(768, 12, 197, 1000, 16),
        "vit-l-16": vit(1024, 24, 197, 1000, 16),
        "vit-h-14": vit(1280, 32, 257, 1000, 14),
        "dit-xl-2": dit(1152, 28, 256, 4),
        "whisper-large-v3": whisper(1280, 32, 51866, 128, 1500, 448),
    }
    published = {"vit-b-16": "17.564", "vit-l-16": "61.555", "vit-h-14": "167.295", "dit-xl-2": "118.6"}
    for model, operations in expected.items():
        found = forward(model)
        assert found == operations, f"{model}: {found}, expected {operations}"
        if model in published:
            digits = len(published[model].split(".")[1])
            listed = f"{found / 2e9:.{digits}f}"
            assert listed == published[model], f"{model}: {listed} GMAC, published {published[model]}"
    print(f"{len(expected)} models")


if __name__ == "__main__":
    main()
