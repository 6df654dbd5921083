"""Operations of published models, most of images, sound and diffusion: what their papers and the
libraries that run them say, as multiply-adds, and closed forms.

Usage: tower_operations.py
"""

import json
import tempfile
from pathlib import Path

import traces


def forward(model, *flags):
    return traces.products(traces.compile_json(model, "--batch=1", *flags, "--dry-run"))["fwd"]


def of_layers(S, h, size, V, layers):
    """Query heads, key heads and the width of each layer, none of which need be there; the head."""
    return 2 * S * h * V + sum(text(h, width, 1, heads, keys, size, 0, S) for heads, keys, width in layers)


OPENELM = [(12, 3, 768), (12, 3, 1024), (12, 3, 1280), (12, 3, 1536), (12, 3, 1792), (16, 4, 2048), (16, 4, 2560), (16, 4, 2816),
           (16, 4, 3072), (16, 4, 3328), (16, 4, 3584), (16, 4, 3840), (20, 5, 4352), (20, 5, 4608), (20, 5, 4864), (20, 5, 5120)]


def searched_layers(name, heads, h):
    """Of the library's file; two thirds of a factor times the hidden size are a width, in steps of 256."""
    path = Path(__file__).parent.parent.parent / "models" / "configs" / f"{name}.json"
    for block in json.loads(path.read_text())["block_configs"]:
        group, factor = block["attention"].get("n_heads_in_group"), block["ffn"].get("ffn_mult", 0)
        yield heads if group else 0, heads // group if group else 0, -(-int(2 * factor * h / 3) // 256) * 256


def recurrence(S, h, blocks, width):
    """Three matrices, and two of each block."""
    return 2 * S * (3 * h * width + 2 * width * width // blocks)


def general_rule(S, keys, values, chunk=64):
    """Of a head: four products of all pairs of a chunk's keys, and one that solves for what is found; as many pairs of values; states."""
    pairs = chunk * (10 * keys + 8 * values) * S + S // chunk * (chunk * (chunk - 1) * (2 * chunk - 1) // 3)
    return pairs + 8 * S * keys * values


def forward_defaults(family):
    """Of what a family's class says where a file says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps({"model_type": family}))
        return forward(str(path))


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


def moonshine(h, f, L, heads, padded, V, T, S):
    """Three convolutions; heads of which attention sees zeros, too, and a gated network in the decoder alone."""
    convolutions = 2 * (6 * T + 7) * 127 * h + 2 * (2 * T + 1) * 7 * h * 2 * h + 2 * T * 3 * 2 * h * h
    encoder = 8 * T * h**2 + 4 * T**2 * heads * padded + 4 * T * h * f
    decoder = 12 * S * h**2 + 4 * T * h**2 + 4 * heads * padded * (S * (S + 1) // 2 + S * T) + 6 * S * h * f
    return convolutions + L * (encoder + decoder) + 2 * S * h * V


def layers(L, T, h, f):
    """Attention that sees all tokens, and a network of two matrices."""
    return L * (8 * T * h**2 + 4 * T**2 * h + 4 * T * h * f)


def two_tokens(h, L, T, pixels, classes):
    """DeiT and the Audio Spectrogram Transformer: patches, and what two of T tokens are read for."""
    return 2 * (T - 2) * pixels * h + layers(L, T, h, 4 * h) + classes


def text(h, f, L, heads, keys, size, V, S):
    """A gated network, grouped heads, each token sees those before it; the head."""
    layer = 2 * S * h * (2 * heads + 2 * keys) * size + 4 * heads * size * S * (S + 1) // 2 + 6 * S * h * f
    return L * layer + 2 * S * h * V


def experts(S, h, f, X, chosen):
    """A router, and so many gated networks for each token."""
    return 2 * S * h * X + chosen * 6 * S * h * f


def lightning(S, h, heads, size, chunk=256):
    """Queries, keys, values, gate and output; in chunks of tokens scores, what they weigh, and states."""
    wide = heads * size
    return 2 * S * h * 5 * wide + S // chunk * (4 * chunk**2 * wide + 4 * chunk * wide * size)


def solve(chunk):
    return chunk * (chunk - 1) * (2 * chunk - 1) // 3


def delta(S, h, heads, key, value, chunk=64, key_heads=None):
    """Keys twice and values twice, the gates; the delta rule of a chunk; the output."""
    projections = 2 * S * h * (2 * (key_heads or heads) * key + heads * (2 * value + 2)) + 2 * S * heads * value * h
    rule = chunk**2 * (6 * key + 4 * value) + 6 * chunk * key * value + solve(chunk)
    return projections + S // chunk * heads * rule


def channel_delta(S, h, heads, size, chunk=64):
    """Queries, keys and values, what they forget and a gate, both in two steps; the delta rule of a chunk."""
    products = 4 * h * heads * size + 2 * (h * size + size * heads * size) + h * heads
    return 2 * S * products + S // chunk * heads * (10 * chunk**2 * size + 6 * chunk * size**2 + solve(chunk))


def latent(S, h, heads, rank, n=128, r=64, v=128, queries=None):
    """DeepSeek's attention, without a latent of queries or with one."""
    products = h * queries + queries * heads * (n + r) if queries else h * heads * (n + r)
    products += h * (rank + r) + rank * heads * (n + v) + heads * v * h
    return 2 * S * products + 2 * heads * (n + r + v) * S * (S + 1) // 2


def two_stacks(T, S, h, heads, keys, size, V, encoder_layers, decoder_layers):
    """Attention of an encoder, and both attentions of a decoder; the head. No networks."""
    wide, narrow = heads * size, keys * size
    projections = 4 * h * (wide + narrow)
    encoder = T * projections + 4 * T**2 * wide
    decoder = S * projections + 2 * wide * S * (S + 1) + 4 * S * h * wide + 4 * T * h * narrow + 4 * S * T * wide
    return encoder_layers * encoder + decoder_layers * decoder + 2 * S * h * V


def glm_tower(w, depth, h, f, patches=1024, merged=256):
    """A gated network as wide as the text; a convolution, a matrix and a gated network behind it."""
    layer = 8 * patches * w**2 + 4 * patches**2 * w + 6 * patches * w * h
    return 2 * patches * 1176 * w + depth * layer + 2 * merged * (4 * w * h + h**2 + 3 * h * f)


def qwen3_tower(h, w, wf, depth, mergers, patches=1024, merged=256):
    """A tower, and mergers of two matrices."""
    tower = 2 * patches * 3 * 2 * 256 * w + layers(depth, patches, w, wf)
    return tower + mergers * 2 * merged * (16 * w**2 + 4 * w * h)


def qwen3_vl(h, f, L, heads, keys, V, w, wf, depth, S=4096):
    """Four mergers, three of which give what is added behind layers of the text."""
    return qwen3_tower(h, w, wf, depth, 4) + text(h, f, L, heads, keys, 128, V, S)


def qwen3_5(h, f, L, heads, keys, delta_heads, V, S=4096):
    """One merger; attention, with a gate, in each fourth layer."""
    layer = delta(S, h, delta_heads, 128, 128, key_heads=16) + 6 * S * h * f
    attention = text(h, f, L // 4, heads, keys, 256, V, S) + L // 4 * 2 * S * h * heads * 256
    return qwen3_tower(h, 1152, 4304, 27, 1) + attention + 3 * L // 4 * layer


def whisper_before(h, L, frames, mels):
    """Two convolutions and an encoder."""
    return 2 * 2 * frames * 3 * mels * h + 2 * frames * 3 * h * h + layers(L, frames, h, 4 * h)


def chunked(h, L, frames, chunk, f):
    """Layers whose tokens see those of their own chunk, the last of which may be shorter."""
    whole, rest = divmod(frames, chunk)
    return layers(L, frames, h, f) - L * 4 * h * (frames**2 - whole * chunk**2 - rest**2)


def qwen2_5_tower(h, f, depth, full, D, patches=1024, window=64):
    """Windows in all but some layers, gated networks; four patches are joined and projected."""
    local = 2 * patches * (4 * h**2 + 3 * h * f) + 4 * patches * window * h
    return 2 * patches * 1176 * h + depth * local + full * 4 * patches * (patches - window) * h + 2 * patches // 4 * (16 * h**2 + 4 * h * D)


def sound_chunks(h, channels, chunks, mels, frames):
    """Three convolutions of three by three, and a matrix of what is left of the frequencies."""
    rows, columns = (-(-mels // 2), -(-mels // 4), -(-mels // 8)), (-(-frames // 2), -(-frames // 4), -(-frames // 8))
    sizes = [y * x for y, x in zip(rows, columns)]
    convolutions = 2 * 9 * channels * (sizes[0] + channels * (sizes[1] + sizes[2]))
    return chunks * (convolutions + 2 * columns[2] * rows[2] * channels * h)


def two_streams(h, L, S, T, channels, width):
    """Qwen-Image: each token has all of a layer, and sees all others of both streams; twelve vectors
    of a sample in each layer; time, patches, text and the output."""
    layer = 24 * (S + T) * h**2 + 4 * (S + T)**2 * h + 2 * 12 * h**2
    return L * layer + 2 * S * channels * h * 2 + 2 * T * width * h + 2 * (256 * h + h * h) + 4 * h**2


def one_modulation(h, f, L, S, T, inputs, outputs, width, sizes=0):
    """PixArt and Wan: attention to all tokens and to a text, six vectors of a sample made once."""
    layer = 8 * S * h**2 + 4 * S**2 * h + 4 * S * h**2 + 4 * T * h**2 + 4 * S * T * h + 4 * S * h * f
    ends = 2 * S * (inputs + outputs) * h + 2 * T * (width * h + h * h) + 2 * (256 * h + h * h) + 12 * h**2
    return L * layer + ends + sizes


def one_stream(h, L, S, T, channels, width, wide):
    """CogVideoX: all tokens share the matrices of a layer, and see each other; two times six vectors
    of a sample, which are made of `wide` numbers."""
    layer = 24 * (S + T) * h**2 + 4 * (S + T)**2 * h + 2 * 12 * wide * h
    return L * layer + 2 * S * channels * h * 2 + 2 * T * width * h + 2 * (h * wide + wide**2) + 4 * wide * h


def two_streams_then_one(h, L, singles, refiners, S, T, channels, width, pooled):
    """HunyuanVideo: layers of two streams and of one, behind layers of the text, which two gates of a sample let through."""
    single = 24 * (S + T) * h**2 + 4 * (S + T)**2 * h + 2 * 3 * h**2
    refiner = 24 * T * h**2 + 4 * T**2 * h + 2 * 2 * h**2
    conditions = 2 * (256 * h + h * h) * 2 + 2 * (width * h + h * h) + 2 * (pooled * h + h * h)
    return two_streams(h, L, S, T, channels, width) + singles * single + refiners * refiner + conditions


def gated_streams(h, f, N, vectors):
    """A layer of N tokens with a gated network, and so many vectors of a sample."""
    return N * (8 * h**2 + 6 * h * f) + 4 * N**2 * h + 2 * vectors * h**2


def shared_vectors(h, f, L, S, T, channels, width):
    """FLUX.2: layers of two streams and of one cost the same, and fifteen vectors are made once."""
    ends = 2 * S * channels * h * 2 + 2 * T * width * h + 2 * 2 * (256 * h + h * h) + 4 * h**2
    return L * gated_streams(h, f, S + T, 0) + 2 * 15 * h**2 + ends


def scaled_layers(h, f, keys, L, refiners, S, T, channels, width, wide, steps):
    """Lumina 2 and Z-Image: layers of a text, of an image, and of both; four vectors, made of `wide` numbers."""
    def layer(N):
        return N * (4 * h**2 + 4 * h * keys + 6 * h * f) + 4 * N**2 * h

    layers = L * layer(S + T) + refiners * (layer(S) + layer(T)) + (L + refiners) * 2 * 4 * wide * h
    return layers + 2 * S * channels * h + 2 * T * width * h + steps + 2 * wide * h + 2 * (S + T) * h * channels


def asymmetric(h, f, w, wf, L, S, T, channels, width):
    """Mochi: a text of its own width, nothing of which is made in the last layer; a row of it that reads T + 1 rows."""
    layer = S * (8 * h**2 + 6 * h * f) + 4 * (S + T)**2 * h + 2 * 4 * h**2 + T * 6 * w * h
    more = T * (2 * w * h + 6 * w * wf) + 2 * 4 * h * w
    pool = 2 * (T + 1) * 2 * width**2 + 2 * width**2 + 4 * (T + 1) * width + 2 * width * h
    ends = 2 * S * channels * h * 2 + 2 * T * width * w + pool + 2 * (256 * h + h * h) + 4 * h**2 + 2 * S * 3 * h // 2
    return L * layer + (L - 1) * more + 2 * h * w + ends


def sums(h, f, L, S, T, channels, width, size, wide):
    """Sana: keys times values and one, and queries times their sums; wide heads read the text; 3 x 3 positions of each channel."""
    layer = S * (8 * h**2 + 2 * 2 * (size + 1) * h + 4 * h * wide + 6 * h * f + 2 * 9 * 2 * f) + T * 4 * h * wide + 4 * S * T * wide
    ends = 2 * S * channels * h * 2 + 2 * T * (width * h + h * h) + 2 * (256 * h + h * h) + 12 * h**2
    return L * layer + ends


def low_rank(h, f, L, S, T, read, given, width, rank):
    """Cosmos: three times three vectors of a low rank in each layer."""
    layer = 8 * S * h**2 + 4 * S**2 * h + 4 * S * h**2 + 4 * T * width * h + 4 * S * T * h + 4 * S * h * f + 3 * 2 * 4 * rank * h
    return L * layer + 2 * S * (read + given) * h + 2 * 4 * h**2 + 2 * 3 * rank * h


def prompted_wan(h, f, L, S, T, I, inputs, outputs, width, known):
    """Wan with the tokens of an image, which have keys and values of their own."""
    more = L * (4 * I * h**2 + 4 * S * I * h) + 2 * I * (known**2 + known * h)
    return one_modulation(h, f, L, S, T, inputs, outputs, width) + more


def hinted(h, f, L, hints, S, T, channels, width, given):
    """Wan VACE: as many layers more as have hints, each with a matrix behind, and another one before the first."""
    plain = one_modulation(h, f, L, S, T, channels, channels, width)
    layer = (one_modulation(h, f, L + 1, S, T, channels, channels, width) - plain) * hints
    return plain + layer + (hints + 1) * 2 * S * h**2 + 2 * S * given * h


def sound_tokens(h, L, S, T, channels, read, heads, keys, width, pooled):
    """Stable Audio: one token more; both streams of channels twice; gated networks; a text with fewer heads."""
    N, size = S + 1, h // heads
    layer = N * (8 * h**2 + 24 * h**2) + 4 * N**2 * h + N * 4 * h**2 + T * 4 * read * keys * size + 4 * N * T * h
    conditions = 2 * 128 + 2 * (256 * h + h * h) + 2 * (pooled * h + h * h) + 2 * T * (width * read + read**2)
    return L * layer + conditions + 2 * S * 2 * channels**2 + 2 * (S + N) * channels * h


def own_texts(h, f, shared, X, A, L, singles, S, T, own, channels, width, pooled):
    """HiDream: so many tokens of a text of its own in each layer; experts of the image, and of all tokens of one stream."""
    def attention(N):
        return N * 8 * h**2 + 4 * N**2 * h + 2 * 6 * h**2

    def networks(N):
        return N * (6 * h * f * A + 6 * h * shared + 2 * h * X)

    N = S + T + own
    joint = attention(N) + 2 * 6 * h**2 + networks(S) + (T + own) * 6 * h * f
    texts = (L + singles) * 2 * own * width * h + 2 * (T - own) * width * h
    ends = 2 * S * channels * h * 2 + 2 * (256 * h + h * h) + 2 * (pooled * h + h * h) + 4 * h**2
    return L * joint + singles * (attention(N) + networks(N)) + texts + ends


def samples(L, S, h, f, C=512, window=128, groups=16):
    """Seven convolutions, each of all channels but the first, a matrix, a frame for those that are
    hidden, a convolution of groups over frames, which gives one frame more, and layers."""
    frames, windows = [64 * S + 15, 32 * S + 7, 16 * S + 3, 8 * S + 1, 4 * S, 2 * S, S], [10, 3, 3, 3, 3, 2, 2]
    convolutions = sum(2 * n * w * (C if i else 1) * C for i, (n, w) in enumerate(zip(frames, windows)))
    return convolutions + 2 * S * C * h + 2 * S * h + 2 * (S + 1) * window * h // groups * h + layers(L, S, h, f)


def blocks_and_globals(T, h, f, L, size, all_tokens):
    """Layers of blocks of tokens, every second one of one block more, and of tokens that see all."""
    def layer(t):
        return 8 * (t + all_tokens) * h**2 + 4 * t * (size + all_tokens) * h + 4 * all_tokens * (all_tokens + t) * h + 4 * (T + all_tokens) * h * f
    return L // 2 * (layer(T) + layer(T + size))


def reading(S, T, h, f, L, V):
    """A decoder of a width that reads T rows, its networks and its head."""
    return L * (12 * S * h**2 + 2 * h * S * (S + 1) + 4 * T * h**2 + 4 * S * T * h + 4 * S * h * f) + 2 * S * h * V


def asking(Q, K, h, f, heads):
    """Queries that score contents, two rows for each key, and two kinds of keys."""
    return 4 * (Q + K) * h**2 + 4 * K * h**2 + 4 * Q * K * h + 4 * Q * h + 4 * Q * K * heads + 4 * Q * K * h + 4 * Q * h * f


def by_places(S, C=64):
    """Convolutions over 10, 3 or 2 places, each but the first followed by one of a single place."""
    frames, windows = [64 * S + 15, *(n for n in (32 * S + 7, 16 * S + 3, 8 * S + 1, 4 * S, 2 * S, S) for _ in range(2))], [10, 3, 1, 3, 1, 3, 1, 3, 1, 2, 1, 2, 1]
    widths = [1, C] + 4 * [2 * C] + 4 * [4 * C] + 4 * [8 * C]
    return sum(2 * n * w * before * after for n, w, before, after in zip(frames, windows, widths, widths[1:]))


def squeezed(S, h):
    """A convolution of 16 groups over 128 frames of every second one, one more than there are, a matrix twice as wide, and hidden frames."""
    return 2 * (S // 2 + 1) * 128 * h // 16 * h + 2 * S // 2 * h * 2 * h + 2 * S * h


def disentangled(L, S, h, f, rows):
    """Rows of relative positions become heads of queries and of keys, and keys and queries score them."""
    return layers(L, S, h, f) + L * (4 * rows * h**2 + 4 * S * rows * h)


def conformer(L, S, h, f, window, C=512):
    """Convolutions over samples, and layers of two networks, a gated convolution of each channel, and
    as many fixed rows as there are distances, which a matrix makes heads of."""
    rows, unread = 2 * S - 1, 2 * (S + 1) * 128 * h // 16 * h
    layer = 8 * S * h**2 + 4 * S**2 * h + 8 * S * h * f + 6 * S * h**2 + 2 * S * window * h + 2 * rows * h**2 + 2 * S * rows * h
    return samples(0, S, h, f, C) - unread + L * layer


def eighths(h, L, f, eights, more):
    """Conformer's layers and what scores of positions and convolutions of channels add, a network, and a layer of a token for each eighth and one more."""
    S, T = 8 * eights, eights + 1
    layer = 14 * S * h**2 + 4 * S**2 * h + 8 * S * h * f + more
    return 2 * S * 160 * h + L * layer + 4 * S * h * f + 2 * 2 * T * 8 * h * 2 * h + layers(1, T, h, f)


def read_by(T, S, h, f, V, L):
    """A decoder of S tokens that reads T; the head."""
    return two_stacks(T, S, h, 1, 1, h, V, 0, L) + L * 4 * S * h * f


def halved(S, h, mels, C):
    """Three convolutions over frequencies and frames, of which one becomes of two: two of single channels, each with a matrix; what is left becomes a frame."""
    half, quarter, eighth = mels // 2, mels // 4, mels // 8
    return 8 * S * half * 9 * C + 4 * S * quarter * C * (9 + C) + 2 * S * eighth * C * (9 + C) + 2 * S * eighth * C * h


def fast_conformer(L, S, h, f, window):
    """As wav2vec 2.0 with Conformer's layers has it."""
    rows = 2 * S - 1
    return L * (8 * S * h**2 + 4 * S**2 * h + 8 * S * h * f + 6 * S * h**2 + 2 * S * window * h + 2 * rows * h**2 + 2 * S * rows * h)


def separable_conformer(L, S, h, f):
    """Gated networks, and a matrix more behind a convolution over the frames before, which is no product; nor is a bias by position."""
    return L * (16 * S * h**2 + 4 * S**2 * h + 12 * S * h * f)


def sam(h, f, side, window, whole, L, out):
    """Attention in windows that zeros fill up, or of the whole map, with scores of rows and columns; a matrix and a convolution."""
    def attention(maps, n):
        return maps * n * n * (8 * h**2 + 4 * n * n * h + 4 * n * h)
    S, filled = side * side, -(-side // window)
    return 2 * S * 768 * h + whole * attention(1, side) + (L - whole) * attention(filled**2, window) + L * 4 * S * h * f + 2 * S * (h + 9 * out) * out


def prompted(D, part, tokens, positions, f, L, masks, quality):
    """In each layer attention of tokens, two attentions of a part of the width, between tokens and positions, and a network; one of them
    more; two transposed convolutions, a network of three matrices for each mask and for their qualities, and masks of sixteen times as
    many positions."""
    def between(queries, keys):
        return 2 * D * part * (2 * queries + 2 * keys) + 4 * queries * keys * part
    layer = layers(1, tokens, D, f) + between(tokens, positions) + between(positions, tokens)
    larger = 2 * positions * D * D + 2 * 4 * positions * D // 4 * D // 2
    networks = masks * 2 * (2 * D * D + D * D // 8) + 2 * (D * quality + quality**2 + quality * masks)
    return L * layer + between(tokens, positions) + larger + networks + 2 * masks * D // 8 * 16 * positions


def hiera(C, depths, side=56, classes=1000):
    """Attention of units of 64, then 16 positions, then of all; of each square one query in the first layer of a stage, whose matrices read
    four positions."""
    n, total = side * side, 2 * side * side * 147 * C
    for stage, (depth, first, rest) in enumerate(zip(depths, (0, 64, 16, n // 16), (64, 16, n // 16, n // 64))):
        if stage:
            total += 16 * n * C * C + 4 * n // 4 * first * 2 * C + n // 4 * 18 * (2 * C) ** 2
            n, C, depth = n // 4, 2 * C, depth - 1
        total += depth * (24 * n * C * C + 4 * n * rest * C)
    return total + 2 * C * classes


def davit(widths, depths, groups, side, window):
    """In each layer four convolutions of each channel, two networks, and attention in windows and of the channels of each group."""
    total, before, size, step = 0, 3, 7, 4
    side *= 32
    for h, depth, number in zip(widths, depths, groups):
        side //= step
        n = side * side
        total += 2 * n * size**2 * before * h + depth * (4 * 18 * n * h + 48 * n * h**2 + 4 * n * window**2 * h + 4 * n * h * h // number)
        before, size, step = h, 3, 2
    return total


def pooled(S, h, f):
    """A row that a learned query picks."""
    return 2 * 2 * h**2 + 4 * S * h**2 + 4 * S * h + 4 * h * f


def windows(width, depths, heads, side, window, hidden=0, classes=1000, sides=None):
    """Patches of 4 x 4 pixels; in each stage, whose positions are a quarter of those before and twice as
    wide, attention in windows and a network; `hidden` is the width of one that makes a bias of two numbers."""
    rows, columns = sides or (side, side)
    total = 2 * rows * columns * 48 * width + 2 * 8 * width * classes
    for stage, depth in enumerate(depths):
        D, T, W = width << stage, (rows >> stage) * (columns >> stage), min(window, rows >> stage)
        bias = (2 * W - 1)**2 * 2 * hidden * (2 + heads[stage])
        total += depth * (24 * T * D**2 + 4 * T * W**2 * D + bias) + (2 * T // 4 * 4 * D * 2 * D if stage < 3 else 0)
    return total


def reduced(widths, depths, squares=(8, 4, 2, 1), windows=(7, 3, 3, 3), side=128, classes=1000, ratios=(4, 4, 4, 4)):
    """In each stage patches that overlap, keys and values of a smaller map, and nine products of each
    channel between two matrices, so many times as wide."""
    total, before = 2 * widths[3] * classes, 3
    for stage, D in enumerate(widths):
        T, R = (side >> stage)**2, (side >> stage)**2 // squares[stage]**2
        attention = 4 * T * D**2 + 4 * R * D**2 + 4 * T * R * D + (2 * T * D**2 if squares[stage] > 1 else 0)
        total += 2 * T * windows[stage]**2 * before * D + depths[stage] * (attention + ratios[stage] * (4 * T * D**2 + 2 * T * 9 * D))
        before = D
    return total


def of_neighbours(widths, depths):
    """Patches that overlap, and two matrices of each position in each layer."""
    total, before = 2 * widths[3] * 1000, 3
    for stage, (D, depth) in enumerate(zip(widths, depths)):
        total += 2 * (56 >> stage)**2 * ((49 if stage == 0 else 9) * before * D + depth * 8 * D**2)
        before = D
    return total


def in_groups(widths, depths, own, weighs):
    """Two matrices of each position, and nine products of each channel of a group between them; two of all positions
    together."""
    total, before, side = 2 * 112**2 * 27 * 32 + 2 * widths[3] * 1000, 32, 112
    for D, depth in zip(widths, depths):
        for place in range(depth):
            many, side = side**2, side // 2 if place == 0 else side
            total += 2 * many * before * D + 2 * side**2 * (9 * own * D + D * D) + (4 * D * (before // 4) if weighs else 0)
            total += 2 * side**2 * before * D if place == 0 else 0
            before = D
    return total


def maps_of_tower(P, D, narrow, M, N, few=32, image=518):
    """Four maps of a tower of P x P patches: squares of four by four and of two by two, the patches, and every
    second one; convolutions that join them, from the coarsest on, and three for a number of each pixel."""
    sides = (4 * P, 2 * P, P, (P + 1) // 2)
    total = 2 * P**2 * D * sum(narrow) + 2 * P**2 * (16 * narrow[0]**2 + 4 * narrow[1]**2) + 18 * sides[3]**2 * narrow[3]**2
    total += sum(18 * side**2 * width * M for side, width in zip(sides, narrow))
    for place, side in enumerate(sides):
        # A residual layer of the finer map, one of both, and a matrix of what is next.
        total += (2 if place == 3 else 4) * 18 * side**2 * M**2 + 2 * (8 * P if place == 0 else sides[place - 1])**2 * M**2
    return total + N * (18 * (8 * P)**2 * M * M // 2 + 18 * image**2 * M // 2 * few + 2 * image**2 * few)


def unet(side, widths, depths, downs, ups, W, pooled=0, many=2, T=77):
    """Residual layers of two convolutions and a matrix of a vector, transformers of what sees a text, and what
    makes maps half as large and twice as large."""
    E, N = 4 * widths[0], len(widths)

    def residual(level, C, D):
        n = (side >> level)**2
        return 18 * n * (C * D + D * D) + 2 * E * D + (2 * n * C * D if C != D else 0)

    def transformer(level, D, L):
        n = (side >> level)**2
        layer = 8 * n * D**2 + 4 * n**2 * D + 4 * n * D**2 + 4 * T * W * D + 4 * n * T * D + 24 * n * D**2
        return 4 * n * D**2 + L * layer

    total = 18 * side**2 * 2 * 4 * widths[0] + 2 * (widths[0] * E + E * E) + (2 * (pooled * E + E * E) if pooled else 0)
    before, skipped = widths[0], [widths[0]]
    for level, D in enumerate(widths):
        for _ in range(many):
            total += residual(level, before, D) + (transformer(level, D, depths[level]) if downs[level] else 0)
            before = D
            skipped.append(D)
        if level < N - 1:
            total += 18 * (side >> level + 1)**2 * D * D
            skipped.append(D)
    total += 2 * residual(N - 1, before, before) + transformer(N - 1, before, depths[-1])
    for level, D in reversed(list(enumerate(widths))):
        for _ in range(many + 1):
            total += residual(level, before + skipped.pop(), D) + (transformer(level, D, depths[level]) if ups[level] else 0)
            before = D
        total += 18 * (side >> level - 1)**2 * D * D if level else 0
    return total


def autoencoder(side, widths, many, latents, has_matrices):
    """Residual layers of two convolutions down to a small map and up again, attention of one head in the middle of each."""
    def residual(level, C, D):
        return 18 * (side >> level)**2 * (C * D + D * D) + (2 * (side >> level)**2 * C * D if C != D else 0)

    def one_way(levels, depth):
        total, before = 0, widths[levels[0]]
        for level in levels:
            total += residual(level, before, widths[level]) + (depth - 1) * residual(level, widths[level], widths[level])
            before = widths[level]
        return total

    N = len(widths)
    D, n = widths[-1], (side >> N - 1)**2
    total = one_way(range(N), many) + one_way(range(N)[::-1], many + 1) + 2 * (2 * residual(N - 1, D, D) + 8 * n * D**2 + 4 * n**2 * D)
    total += sum(18 * (side >> level + 1)**2 * widths[level]**2 + 18 * (side >> level)**2 * widths[level + 1]**2 for level in range(N - 1))
    total += 2 * 18 * side**2 * 3 * widths[0] + 18 * n * D * 2 * latents + 18 * n * latents * D
    return total + (2 * n * (4 + 1) * latents**2 if has_matrices else 0)


def depthwise(widths, depths, image=224, classes=1000):
    """Squares of 4 x 4 pixels; in each stage 49 products of a channel and two matrices; squares of 2 x 2."""
    total, side = 2 * (image // 4)**2 * 48 * widths[0] + 2 * widths[3] * classes, image // 4
    for stage, (C, depth) in enumerate(zip(widths, depths)):
        if stage:
            side //= 2
            total += 2 * side**2 * 4 * widths[stage - 1] * C
        total += depth * 2 * side**2 * (49 * C + 8 * C * C)
    return total


def residual(rows, columns, depths, is_plain):
    """A last map of so many positions: squares of 7 x 7 pixels, and in each stage two convolutions of
    3 x 3, or one between two of one position, and what is added where the channels change."""
    total, before = 2 * rows * columns * 256 * 49 * 3 * 64, 64
    for stage, depth in enumerate(depths):
        C, T = 64 << stage, rows * columns << 2 * (3 - stage)
        width = C if is_plain else 4 * C
        for block in range(depth):
            first = 4 * T if stage and not block else T
            kernels = 9 * C * (before + C) if is_plain else 9 * C * C + C * width
            total += 2 * T * kernels + (0 if is_plain else 2 * first * before * C) + (2 * T * before * width if before != width else 0)
            before = width
    return total


def finding(T, queries, channels, classes, h=256, f=2048, L=6):
    """A map in the width of the layers, an encoder, queries that read it, and what each of them finds."""
    encoder = layers(L, T, h, f)
    decoder = layers(L, queries, h, f) + L * 4 * h * (queries * h + T * h + queries * T)
    return 2 * T * channels * h + encoder + decoder + 2 * queries * (h * classes + 2 * h**2 + 4 * h)


def objects_of_texts(h, L, T, patch, texts, tokens=16, width=512):
    """Texts, an image, and of each patch a box, whether there is an object, and how it fits the texts."""
    read = texts * (layers(12, tokens, width, 4 * width) - 12 * 2 * width * tokens * (tokens - 1) + 2 * width**2)
    seen = 2 * (T - 1) * 3 * patch**2 * h + layers(L, T, h, 4 * h) + 2 * h * width
    return read + seen + 2 * (T - 1) * (4 * h**2 + 5 * h + h * width + 2 * h + texts * width)


def divided(h, L, frames, patches, classes):
    """Each patch sees itself in all frames, which a matrix takes on, and then its frame with a token."""
    T, seen = frames * patches, frames * (patches + 1)
    over_time, over_space = 10 * T * h**2 + 4 * T * frames * h, 8 * seen * h**2 + 4 * seen * (patches + 1) * h
    return 2 * T * 768 * h + L * (over_time + over_space + 16 * (T + 1) * h**2) + 2 * h * classes


def of_channels(stages, widen=1, first=0, last=0, side=112, classes=1001):
    """Nine products of each channel before a matrix, behind another where `widen` says how many times as wide; stages
    of a width, so many blocks and the step of their first one."""
    C = first or 32
    total = 2 * side**2 * (27 * 32 + (9 * 32 + 32 * first if first else 0))
    for width, depth, step in stages:
        for block in range(depth):
            inner = widen * C
            total += 2 * side**2 * C * inner if widen > 1 else 0
            side //= 1 if block else step
            total += 2 * side**2 * (9 * inner + inner * width)
            C = width
    return total + 2 * side**2 * C * last + 2 * (last or C) * classes


def tiled(D, F, L, crossed, heads, keys, V, S=4096, w=1280, patches=1600, tiles=4):
    """Tiles of patches and a token, filled up to a multiple of 8, which all see each other; what six
    layers give is projected; some layers of the text attend to it, and to no text."""
    filled, kept, E = tiles * 1608, tiles * 1601, D // heads
    tower = 2 * tiles * patches * 588 * w + layers(40, filled, w, 4 * w) + 2 * kept * 6 * w * D
    narrow = keys * E
    own = 4 * S * D * (D + narrow) + 4 * D * S * (S + 1) // 2
    other = 4 * S * D * D + 4 * kept * D * narrow + 4 * S * kept * D
    return tower + (L - crossed) * own + crossed * other + L * 6 * S * D * F + 2 * S * D * V


def selected(S, h, heads, q, count=2048, index_heads=64, n=128, r=64, v=128, rank=512, size=128):
    """Latent attention to so many keys at most, and what selects them: of all pairs the products, the
    ReLU, the weight and the sum of each head, and a comparison."""
    products = h * q + q * heads * (n + r) + h * (rank + r) + rank * heads * (n + v) + heads * v * h
    index = q * index_heads * size + h * size + h * index_heads
    seen = count * (count + 1) // 2 + (S - count) * count
    scores = S * (S + 1) // 2 * (index_heads * (2 * size + 3) + 1)
    return 2 * S * (products + index) + 2 * heads * (n + r + v) * seen + scores


def of_blocks(S, h, heads, q, f, X, V, kinds, groups, count, size=512, rank=1024, index_heads=64, index_size=128, window=128,
              streams=4, chosen=7):
    """Queries of a latent, keys that are values, an output in groups, and what blocks of tokens are made of. Pairs are
    counted one query after the other: of the window, and of the blocks that end there or before."""
    total = 2 * S * h * V + 2 * S * streams * h * (streams + 1)
    for kind in kinds:
        products = h * q + q * heads * size + h * size + heads * size * rank + groups * rank * h
        pairs = sum(min(t, window) for t in range(1, S + 1))
        if kind == 4:
            products += 4 * h * size + 4 * h * index_size + q * index_heads * index_size + h * index_heads
            pairs += sum(min(t // 4, count) for t in range(1, S + 1))
            total += sum(t // 4 for t in range(1, S + 1)) * (index_heads * (2 * index_size + 3) + 1)
        elif kind:
            products += 2 * h * size
            pairs += sum(t // kind for t in range(1, S + 1))
        # What reads the streams, the sum of them, and what mixes them.
        connection = streams * h * (streams**2 + 2 * streams) + streams * h + streams**2 * h
        total += 2 * S * (products + 2 * connection) + 4 * heads * size * pairs + experts(S, h, f, X, chosen)
    return total


def narrow_values(S, h, heads, keys, size, values, window=None):
    """Heads of values of a size of their own; each token sees those before it, or so many of them."""
    seen = S * (S + 1) // 2 if window is None else window * (window + 1) // 2 + (S - window) * window
    return 2 * S * h * (heads * size + keys * (size + values) + heads * values) + 2 * heads * (size + values) * seen


def check_unread(h=3072, S=4096, T=512, channels=64):
    """What the last layer of Qwen-Image gives of the text nobody reads: it is executed, but nothing
    goes back through the output of attention and the network that make it."""
    products = traces.products(traces.compile_json("qwen-image", "--batch=1", "--dry-run"))
    data = 2 * S * channels * h + 2 * 256 * h
    unread = 2 * T * h**2 + 16 * T * h**2
    expected = 2 * products["fwd"] - data - 2 * unread
    assert products["bwd"] == expected, f"qwen-image: {products}, expected {expected} backward"


def gemma4_tower(h, w, heads, size, f, depth, patches=2520, merged=280):
    """Patches of 16 x 16 pixels, heads of a size of their own, a gated network, and one matrix for what nine patches become."""
    layer = 8 * patches * w * heads * size + 4 * patches**2 * heads * size + 6 * patches * w * f
    return 2 * patches * 768 * w + depth * layer + 2 * merged * w * h


def gemma4(h, f, kinds, heads, keys, globals, window, V=262144, S=4096, own=None, wide=1, width=0, chosen=None):
    """Each layer is local, with heads of 256, or global, with heads of 512 and `globals`: its key/value heads, and how many
    projections these have. Layers from `own` on have queries alone, and a network `wide` times as wide; `width` is that of
    a table of each layer; `chosen` is what a token's experts execute, beside the network."""
    total = 2 * S * h * V
    for layer, kind in enumerate(kinds):
        size, (count, projections), seen = (256, (keys, 2), window) if kind == "l" else (512, globals, S)
        pairs = seen * (seen + 1) // 2 + (S - seen) * seen
        is_sharing = own is not None and layer >= own
        total += 2 * S * h * size * (2 * heads + (0 if is_sharing else projections * count)) + 4 * heads * size * pairs
        total += 6 * S * h * f * (wide if is_sharing else 1) + 3 * 2 * S * h * width + (chosen or 0)
    return total


def video_with_text(D, S, T, layers, patch, words):
    """Layers of S patches that see each other and a text; a time step, six vectors of it, patches and the output."""
    layer = 28 * D * D * S + 4 * S * S * D + 4 * S * T * D + 4 * D * D * T
    return layers * layer + 2 * S * D * sum(patch) + 2 * T * (words * D + D * D) + 2 * (256 * D + 7 * D * D)


def frames_and_places(D, NF, NP, T, layers, patch, words):
    """The same for each frame, and layers without a text for each place."""
    S = NF * NP
    layer = 52 * D * D * S + 4 * S * (NP + NF) * D + 4 * S * T * D + 4 * D * D * T * NF
    return layers * layer + 2 * S * D * sum(patch) + 2 * T * (words * D + D * D) + 2 * (256 * D + 7 * D * D)


def sums_of_video(D, F, E, S, T, layers, patch, words):
    """Sums over all tokens and what they are divided by, a text, a network with windows of each channel, and of three frames."""
    layer = 8 * D * D * S + 4 * S * D * E + 2 * S * D + 4 * D * D * S + 4 * D * D * T + 4 * S * T * D + 6 * S * D * F + 36 * F * S + 6 * D * D * S
    return layers * layer + 2 * S * D * sum(patch) + 2 * T * (words * D + D * D) + 2 * (256 * D + 7 * D * D)


def one_sequence(D, F, S, N, layers, elements):
    """Llama's layers that see all, two networks of a time step, and two vectors for N patches."""
    return layers * (8 * D * D * S + 4 * S * S * D + 6 * D * F * S) + 4 * N * D * elements + 4 * (256 * D + D * D) + 4 * D * D


def text_before_video(D, F, W, S, T, texts, layers, patch, words, whole):
    """Layers of a text, and of a video that reads it, with six and nine vectors that a row of W makes."""
    own = texts * (8 * D * D * T + 4 * T * T * D + 4 * D * F * T + 12 * W * D)
    read = layers * (12 * D * D * S + 4 * D * D * T + 4 * S * S * D + 4 * S * T * D + 4 * D * F * S + 18 * W * D)
    return own + read + 2 * S * D * sum(patch) + 2 * T * words * D + 2 * (D * W + W * W + whole * W) + 4 * W * D


def streams_of_shared_norms(D, W, S, T, layers, elements, words):
    """All tokens see each other, behind twelve vectors that a row of W makes."""
    N = S + T
    return layers * (24 * D * D * N + 4 * N * N * D + 24 * W * D) + 4 * S * D * elements + 2 * T * words * D + 2 * (D * W + W * W) + 4 * W * D


def skipped_layers(D, F, C, L, P, S, T, TL, layers, told):
    """Layers that read texts of the width C, a matrix of two streams in the second half but one, and a text of the width L that is pooled."""
    layer = 12 * D * D * S + 4 * C * D * T + 4 * S * S * D + 4 * S * T * D + 4 * D * F * S + 2 * D * D
    pooled = 2 * L * L + 4 * L * L * (TL + 1) + 4 * (TL + 1) * L + 2 * L * P
    row = 2 * ((P + told) * 4 * D + 4 * D * D) + 2 * (256 * D + D * D)
    return layers * layer + (layers // 2 - 1) * 4 * D * D * S + 2 * S * D * 48 + 2 * TL * (L * 4 * L + 4 * L * C) + pooled + row + 4 * D * D


def focal(D, depths, windows, side=56, classes=1000):
    """Three matrices around windows of each channel, and a network."""
    total, before = 0, 3 * 16
    for depth in depths:
        S = side * side
        layer = 2 * S * D * (2 * D + windows + 1) + 4 * S * D * D + sum(2 * S * D * (3 + 2 * k)**2 for k in range(windows)) + 16 * S * D * D
        total += 2 * S * before * D + depth * layer
        before, D, side = 4 * D, 2 * D, side // 2
    return total + D * classes


def convolved(widths, depths, side=56, classes=1000):
    """Windows of each channel for queries, keys and values, a quarter as many of these; a token more in the last stage."""
    total, before = 0, 49 * 3
    for stage, (D, depth) in enumerate(zip(widths, depths)):
        S, last = side * side, stage == len(widths) - 1
        N, T = S + last, S // 4 + last
        total += 2 * S * before * D + depth * (18 * D * S + 9 * D * S + 4 * D * D * (N + T) + 4 * N * T * D + 16 * N * D * D)
        before, side = 9 * D, side // 2
    return total + 2 * widths[-1] * classes


def main():
    third = 1152 // 3
    expected = {
        "deit-b-16": two_tokens(768, 12, 198, 768, 2 * 2 * 768 * 1000),
        "beit-b-16": vit(768, 12, 197, 1000, 16),
        "ast-audioset-10-10": two_tokens(768, 12, 1214, 256, 2 * 768 * 527),
        # A pooler that nobody reads; the decoder's keys and values of the image have its width.
        "trocr-base": 2 * 576 * 768 * 768 + layers(12, 577, 768, 3072) + 2 * 768**2
        + 12 * (12 * 512 * 1024**2 + 4 * 577 * 768 * 1024 + 4 * 1024 * (512 * 513 // 2 + 512 * 577) + 4 * 512 * 1024 * 4096) + 2 * 512 * 1024 * 50265,
        # A text of 40 tokens, and 12 x 12 patches.
        "vilt-b-32-vqa": 2 * 144 * 3072 * 768 + layers(12, 185, 768, 3072) + 2 * 768 * (768 + 2 * 768) + 2 * 2 * 768 * 3129,
        # Six of sixteen layers have attention, the others a convolution, which is no product.
        "lfm2-vl-450m": 2 * 1024 * 768 * 768 + layers(12, 1024, 768, 3072) + 2 * 256 * (3072 * 2560 + 2560 * 1024)
        + text(1024, 0, 6, 16, 8, 64, 65536, 4096) + 16 * 6 * 4096 * 1024 * 4608 + 10 * 8 * 4096 * 1024**2,
        # Each of 2048 frames sees those before it, and 512 tokens of a text.
        "musicgen-small-decoder": 24 * (12 * 2048 * 1024**2 + 4 * 512 * 1024**2 + 4 * 1024 * (2048 * 2049 // 2 + 2048 * 512)
                                        + 4 * 2048 * 1024 * 4096) + 4 * 2 * 2048 * 1024 * 2048,
        # Six of twelve layers of the queries read the tower.
        "blip2-opt-2.7b": 2 * 256 * 588 * 1408 + layers(39, 257, 1408, 6144) + layers(12, 32, 768, 3072)
        + 6 * (4 * 32 * 768**2 + 4 * 257 * 1408 * 768 + 4 * 32 * 257 * 768) + 2 * 32 * 768 * 2560
        + text(2560, 0, 32, 32, 32, 80, 50304, 2048) + 32 * 4 * 2048 * 2560 * 10240,
        # The image sees itself.
        "git-base": 2 * 196 * 768 * 768 + layers(12, 197, 768, 3072) + 2 * 197 * 768 * 768 + text(768, 0, 6, 12, 12, 64, 30522, 1221)
        + 6 * (4 * 1221 * 768 * 3072 + 4 * 768 * 197 * 196 // 2),
        "blip-image-captioning-base": 2 * 576 * 768 * 768 + layers(12, 577, 768, 3072) + text(768, 0, 12, 12, 12, 64, 30524, 512)
        + 12 * (4 * 512 * 768 * 3072 + 4 * 512 * 768**2 + 4 * 577 * 768**2 + 4 * 512 * 577 * 768) + 2 * 512 * 768**2,
        # Of 32 queries and 32 tokens of an instruction.
        "instructblip-vicuna-7b": 2 * 256 * 588 * 1408 + layers(39, 257, 1408, 6144) + layers(12, 64, 768, 3072)
        + 6 * (4 * 32 * 768**2 + 4 * 257 * 1408 * 768 + 4 * 32 * 257 * 768) + 2 * 32 * 768 * 4096 + text(4096, 11008, 32, 32, 32, 128, 32001, 2048),
        "parakeet-ctc-1.1b": halved(256, 1024, 80, 256) + fast_conformer(42, 256, 1024, 4096, 9) + 2 * 256 * 1024 * 1025,
        # Five tiles, one of whose layers nobody reads, and a query, whose answer nobody reads; 1329 of their tokens are projected.
        "phi-4-multimodal": 5 * (2 * 1024 * 588 * 1152 + layers(27, 1024, 1152, 4304) + pooled(1024, 1152, 4304)) + 2 * 1329 * (1152 * 3072 + 3072**2)
        + halved(256, 1024, 80, 1024) + separable_conformer(24, 256, 1024, 1536) + 2 * 256 * (1024 * 3072 + 3072**2)
        + text(3072, 8192, 32, 24, 8, 128, 200064, 4096),
        "got-ocr-2.0": sam(768, 3072, 64, 14, 4, 12, 256) + 2 * 9 * (1024 * 256 * 512 + 256 * 512 * 1024) + 2 * 256 * 1024**2
        + text(1024, 2816, 24, 16, 16, 64, 151860, 4096),
        "deepseek-ocr": sam(768, 3072, 64, 14, 4, 12, 256) + 2 * 9 * (1024 * 256 * 512 + 256 * 512 * 1024) + layers(24, 257, 1024, 4096) + 2 * 256 * 2048 * 1280
        + text(1280, 0, 12, 10, 10, 128, 129280, 4096) + 6 * 4096 * 1280 * 6848 + 11 * experts(4096, 1280, 896, 64, 8),
        "florence-2-base": davit([128, 256, 512, 1024], [1, 1, 9, 1], [4, 8, 16, 32], 24, 12) + 2 * 577 * 1024 * 768
        + two_stacks(1024, 1024, 768, 12, 12, 64, 51289, 6, 6) + 6 * 4 * 1024 * 768 * (3072 + 3072),
        # Six of 64 experts of the text, and of images; two of all tokens.
        "ernie-4.5-vl-28b-a3b": 2 * 1024 * 588 * 1280 + layers(32, 1024, 1280, 5120) + 2 * 256 * (5 * 5120**2 + 5120 * 2560)
        + text(2560, 0, 28, 20, 4, 128, 103424, 4096) + 6 * 4096 * 2560 * 12288
        + 27 * (2 * 4096 * 2560 * 64 + 6 * 6 * 2560 * (3840 * 1536 + 256 * 512) + 6 * 4096 * 2560 * 3072),
        # A part of an image of 32 x 32 patches, of which all four projections of attention are read by 64 queries.
        "minicpm-v-2.6": 2 * 1024 * 588 * 1152 + layers(27, 1024, 1152, 4304) + 2 * 1024 * 1152 * 3584 + 4 * 1024 * 3584**2
        + 6 * 64 * 3584**2 + 4 * 64 * 1024 * 3584 + text(3584, 18944, 28, 28, 4, 128, 151666, 4096),
        "paddleocr-vl-0.9b": 2 * 1024 * 588 * 1152 + layers(27, 1024, 1152, 4304) + 2 * 256 * 4608 * (4608 + 1024)
        + text(1024, 3072, 18, 16, 2, 128, 103424, 4096),
        # Five tiles of 27 x 27 patches, filled up to 28 x 28; latent attention, or none.
        "deepseek-vl2-tiny": 5 * (2 * 729 * 588 * 1152 + layers(27, 729, 1152, 4304) + 2 * 196 * (4608 * 1280 + 1280**2))
        + text(1280, 0, 12, 10, 10, 128, 129280, 4096) + 6 * 4096 * 1280 * 6848 + 11 * experts(4096, 1280, 896, 64, 8),
        "deepseek-vl2-small": 5 * (2 * 729 * 588 * 1152 + layers(27, 729, 1152, 4304) + 2 * 196 * (4608 * 2048 + 2048**2))
        + 27 * latent(4096, 2048, 16, 512) + 6 * 4096 * 2048 * 10944 + 26 * experts(4096, 2048, 1408, 64, 8) + 2 * 4096 * 2048 * 102400,
        # 256 queries read 4900 patches, and of both four matrices make others; two of 66 experts are of all tokens.
        "aria-25b": 2 * 4900 * 588 * 1152 + layers(27, 4900, 1152, 4304) + 8 * (256 + 4900) * 1152**2
        + 4 * 256 * 4900 * 1152 + 2 * 256 * (1152 * 2560 + 2560**2)
        + text(2560, 0, 28, 20, 20, 128, 100352, 4096) + 28 * experts(4096, 2560, 1664, 64, 8),
        # One layer that nobody reads; two numbers of each patch; a query and four keys of each of 144 squares.
        "molmo-7b-d": 2 * 576 * 588 * 1024 + layers(23, 577, 1024, 4096) + 2 * 576 * 2 * 2048 + 144 * (4 * 2048 * 1024 - 2 * 1024**2)
        + 4 * 576 * 2048 * 1024 + 4 * 576 * 1024 + 2 * 144 * 18944 * (2 * 1024 + 3584) + text(3584, 18944, 28, 28, 4, 128, 152064, 4096),
        # Not gated.
        "fuyu-8b": 2 * 100 * 2700 * 4096 + text(4096, 0, 36, 64, 64, 64, 262144, 4096) + 36 * 4 * 4096 * 4096 * 16384,
        "moonshine-tiny": moonshine(288, 1152, 6, 8, 40, 32768, 768, 194),
        "moonshine-base": moonshine(416, 1664, 8, 8, 56, 32768, 768, 194),
        # All patches are projected, and a quarter of them, or of a tenth of each frame's, seen; all or the others are made.
        "vit-mae-base": 2 * 196 * 768 * 768 + layers(12, 50, 768, 3072) + 2 * 50 * 768 * 512 + layers(8, 197, 512, 2048) + 2 * 197 * 512 * 768,
        "videomae-base": 2 * 1568 * 1536 * 768 + layers(12, 160, 768, 3072) + 2 * 160 * 768 * 384 + layers(4, 1568, 384, 1536)
        + 2 * 1408 * 384 * 1536,
        "vivit-b-16x2-kinetics": 2 * 3136 * 1536 * 768 + layers(12, 3137, 768, 3072) + 2 * 768 * 400,
        "yolos-tiny": 2 * 50 * 83 * 768 * 192 + layers(12, 4251, 192, 768) + 2 * 100 * 192 * (4 * 192 + 92 + 4),
        "qwen3-vl-2b": qwen3_vl(2048, 6144, 28, 16, 8, 151936, 1024, 4096, 24),
        "qwen3-vl-8b": qwen3_vl(4096, 12288, 36, 32, 8, 151936, 1152, 4304, 27),
        "internvl3-8b": 2 * 1024 * 588 * 1024 + layers(24, 1025, 1024, 4096) + 2 * 256 * (4096 * 3584 + 3584**2)
        + text(3584, 18944, 28, 28, 4, 128, 151674, 4096),
        "smolvlm-256m": 2 * 1024 * 768 * 768 + layers(12, 1024, 768, 3072) + 2 * 64 * 16 * 768 * 576
        + text(576, 1536, 30, 9, 3, 64, 49280, 4096),
        # The image and the prompt see each other.
        "paligemma-3b-224": 2 * 256 * 588 * 1152 + layers(27, 256, 1152, 4304) + 2 * 256 * 1152 * 2048
        + text(2048, 16384, 18, 8, 1, 256, 257216, 4096) + 18 * 4 * 2048 * 256 * 255 // 2,
        # In place of the head a matrix of 128 columns.
        "colpali-3b": 2 * 1024 * 588 * 1152 + layers(27, 1024, 1152, 4304) + 2 * 1024 * 1152 * 2048
        + text(2048, 16384, 18, 8, 1, 256, 128, 4096) + 18 * 4 * 2048 * 1024 * 1023 // 2,
        "colqwen2-2b": 2 * 1024 * 1176 * 1280 + layers(32, 1024, 1280, 5120) + 2 * 256 * (5120**2 + 5120 * 1536)
        + text(1536, 8960, 28, 12, 2, 128, 128, 4096),
        "qwen2-audio-7b": whisper_before(1280, 32, 1500, 128) + 2 * 750 * 1280 * 4096
        + text(4096, 11008, 32, 32, 32, 128, 156032, 4096),
        "voxtral-mini-3b": whisper_before(1280, 32, 1500, 128) + 2 * 375 * (5120 * 3072 + 3072**2)
        + text(3072, 8192, 30, 32, 8, 128, 131072, 4096),
        # Five tiles, one of whose layers nobody reads.
        "llava-v1.6-mistral-7b": 5 * (2 * 576 * 588 * 1024 + layers(24, 577, 1024, 4096) + 2 * 576 * (1024 * 4096 + 4096**2))
        + text(4096, 14336, 32, 32, 8, 128, 32064, 4096),
        "llava-onevision-7b": 5 * (2 * 729 * 588 * 1152 + layers(26, 729, 1152, 4304) + 2 * 729 * (1152 * 3584 + 3584**2))
        + text(3584, 18944, 28, 28, 4, 128, 152064, 4096),
        # Of windows of 4096 tokens none is shorter than the sequence.
        "aya-vision-8b": 2 * 676 * 588 * 1152 + layers(27, 676, 1152, 4304) + 2 * 169 * (4608 * 28672 + 14336 * 4096)
        + text(4096, 14336, 32, 32, 8, 128, 256000, 4096),
        "dinov3-vitl16": 2 * 196 * 768 * 1024 + 2 * 196 * 1024 + layers(24, 201, 1024, 4096),
        # A matrix before the head.
        "esm2-650m": layers(33, 1024, 1280, 5120) + 2 * 1024 * 1280 * (1280 + 33),
        # Not gated; gated; four of 16 experts.
        "apertus-8b": text(4096, 0, 32, 32, 8, 128, 131072, 4096) + 32 * 4 * 4096 * 4096 * 21504,
        "bitnet-b1.58-2b": text(2560, 6912, 30, 20, 5, 128, 128256, 4096),
        "dbrx-132b": text(6144, 0, 40, 48, 8, 128, 100352, 4096) + 40 * experts(4096, 6144, 10752, 16, 4),
        "minimax-text-01": text(6144, 0, 10, 64, 8, 128, 200064, 4096) + 70 * lightning(4096, 6144, 64, 128)
        + 80 * experts(4096, 6144, 9216, 32, 2),
        "olmo-hybrid-7b": text(3840, 11008, 8, 30, 30, 128, 100352, 4096) + 24 * (delta(4096, 3840, 30, 96, 192) + 6 * 4096 * 3840 * 11008),
        # Each token goes through one expert, or two, in some layers.
        "switch-base-8": two_stacks(512, 512, 768, 12, 12, 64, 32128, 12, 12) + 512 * 768 * (24 * 4 * 3072 + 12 * 2 * 8),
        "nllb-moe-54b": two_stacks(1024, 1024, 2048, 16, 16, 128, 256206, 24, 24)
        + 1024 * 2048 * (60 * 4 * 8192 + 12 * 2 * 128),
        # Windows of 4096 tokens, and as many on both sides in the encoder, see all.
        "t5gemma-2b-2b": two_stacks(4096, 4096, 2304, 8, 4, 256, 256000, 26, 26) + 52 * 6 * 4096 * 2304 * 9216,
        "glm-4.1v-9b": glm_tower(1536, 24, 4096, 13696) + text(4096, 13696, 40, 32, 2, 128, 151552, 4096),
        "glm-4.5v": glm_tower(1536, 24, 4096, 10944) + text(4096, 0, 46, 96, 8, 128, 151552, 4096)
        + 6 * 4096 * 4096 * 10944 + 45 * experts(4096, 4096, 1408, 128, 9),
        "kimi-vl-a3b": 2 * 1024 * 588 * 1152 + layers(27, 1024, 1152, 4304) + 2 * 256 * 4608 * (4608 + 2048)
        + 27 * latent(4096, 2048, 16, 512) + 6 * 4096 * 2048 * 11264 + 26 * experts(4096, 2048, 1408, 64, 8)
        + 2 * 4096 * 2048 * 163840,
        "convnext-tiny": depthwise([96, 192, 384, 768], [3, 3, 9, 3]),
        "convnextv2-base": depthwise([128, 256, 512, 1024], [3, 3, 27, 3]),
        "wav2vec2-base": samples(12, 768, 768, 3072),
        # Scores of 640 vectors, which are 128 wide; two matrices to what is compared, and cosines with 101 of them.
        "wav2vec2-base-pretraining": samples(12, 768, 768, 3072) + 2 * 768 * (512 * 640 + 640 * 128 + 256 * 256 + 768 * 256 + 101 * 256),
        "xlsr-53-pretraining": samples(24, 768, 1024, 4096) + 2 * 768 * (512 * 640 + 640 * 384 + 768 * 768 + 1024 * 768 + 101 * 768),
        "llama3.2-11b-vision": tiled(4096, 14336, 40, 8, 32, 8, 128256),
        "deepseek-v3.2": 61 * selected(4096, 7168, 128, 1536) + 3 * 6 * 4096 * 7168 * 18432
        + 58 * experts(4096, 7168, 2048, 256, 9) + 2 * 4096 * 7168 * 129280,
        "deepseek-v4-flash": of_blocks(4096, 4096, 64, 1024, 2048, 256, 129280, [0, 0, *(20 * [4, 128]), 4], 8, 512),
        "deepseek-v4-pro": of_blocks(4096, 7168, 128, 1536, 3072, 384, 129280, [128, 128, *(29 * [4, 128]), 4], 16, 1024),
        "glm-5": 78 * selected(4096, 6144, 64, 2048, index_heads=32, n=192, v=256) + 3 * 6 * 4096 * 6144 * 12288
        + 75 * experts(4096, 6144, 2048, 256, 9) + 2 * 4096 * 6144 * 154880,
        "gemma-4-31b": gemma4_tower(5376, 1152, 16, 72, 4304, 27) + gemma4(5376, 21504, 10 * "lllllg", 32, 16, (4, 1), 1024),
        "gemma-4-26b-a4b": gemma4_tower(2816, 1152, 16, 72, 4304, 27)
        + gemma4(2816, 2112, 5 * "lllllg", 16, 8, (2, 1), 1024, chosen=experts(4096, 2816, 704, 128, 8)),
        "gemma-4-e2b": gemma4_tower(1536, 768, 12, 64, 3072, 16)
        + gemma4(1536, 6144, 7 * "llllg", 8, 1, (1, 2), 512, own=15, wide=2, width=256),
        "gemma-4-e4b": gemma4_tower(2560, 768, 12, 64, 3072, 16)
        + gemma4(2560, 10240, 7 * "lllllg", 8, 2, (2, 2), 512, own=24, width=256),
        "qwen3.5-9b": qwen3_5(4096, 12288, 32, 16, 4, 32, 248320),
        "qwen3.5-27b": qwen3_5(5120, 17408, 64, 24, 4, 48, 248320),
        # Of 3840 tokens, so that all experts get as many.
        "kimi-k2.5": 2 * 1024 * 588 * 1152 + layers(27, 1024, 1152, 4304) + 2 * 256 * 4608 * (4608 + 7168)
        + 61 * latent(3840, 7168, 64, 512, queries=1536) + 6 * 3840 * 7168 * 18432 + 60 * experts(3840, 7168, 2048, 384, 9)
        + 2 * 3840 * 7168 * 163840,
        "kimi-linear-48b-a3b": 20 * channel_delta(4096, 2304, 32, 128) + 7 * latent(4096, 2304, 32, 512)
        + 6 * 4096 * 2304 * 9216 + 26 * experts(4096, 2304, 1024, 256, 9) + 2 * 4096 * 2304 * 163840,
        # Of 12 choices of a token eight are experts; the sum of the weights of the others.
        "longcat-flash-560b": 28 * (2 * latent(4096, 6144, 64, 512, queries=1536) + 2 * 6 * 4096 * 6144 * 12288
                                    + 2 * 4096 * 6144 * 768 + 8 * 6 * 4096 * 6144 * 2048 + 2 * 4096 * 4)
        + 2 * 4096 * 6144 * 131072,
        "mistral-small-4-text": 36 * (latent(4096, 4096, 32, 256, n=64, queries=1024) + experts(4096, 4096, 2048, 128, 5))
        + 2 * 4096 * 4096 * 131072,
        "mimo-v2-flash": 9 * narrow_values(4096, 4096, 64, 4, 192, 128) + 39 * narrow_values(4096, 4096, 64, 8, 192, 128, 128)
        + 6 * 4096 * 4096 * 16384 + 47 * experts(4096, 4096, 2048, 256, 8) + 2 * 4096 * 4096 * 152576,
        # As many tokens as 192 experts share evenly.
        "hy3-preview": text(4096, 0, 80, 64, 8, 128, 120832, 4032) + 6 * 4032 * 4096 * 13312 + 79 * experts(4032, 4096, 1536, 192, 9),
        # As many tokens as 192 experts share evenly.
        "a.x-k1": 61 * latent(4032, 7168, 64, 512, queries=1536) + 6 * 4032 * 7168 * 18432 + 60 * experts(4032, 7168, 2048, 192, 9)
        + 2 * 4032 * 7168 * 163840,
        "chameleon-7b": text(4096, 11008, 32, 32, 32, 128, 65536, 4096),
        "chameleon-30b": text(8192, 22016, 48, 64, 8, 128, 65536, 4096),
        "rembert": layers(32, 512, 1152, 4608) + 2 * 512 * (256 * 1152 + 1152 * 1664 + 1664 * 250300),
        "deberta-base": disentangled(12, 512, 768, 3072, 1024),
        "deberta-v3-base": disentangled(12, 512, 768, 3072, 512),
        # A convolution over three tokens beside the first layer.
        "deberta-v2-xlarge": disentangled(24, 512, 1536, 6144, 512) + 2 * 512 * 3 * 1536**2,
        "swin-tiny": windows(96, [2, 2, 6, 2], [3, 6, 12, 24], 56, 7),
        "swin-base": windows(128, [2, 2, 18, 2], [4, 8, 16, 32], 56, 7),
        "swinv2-tiny-window8": windows(96, [2, 2, 6, 2], [3, 6, 12, 24], 64, 8, 512),
        # A window as large as the last stage.
        "swinv2-base-window16": windows(128, [2, 2, 18, 2], [4, 8, 16, 32], 64, 16, 512),
        "wavlm-base": samples(12, 768, 768, 3072) + 12 * 2 * 768 * 768 * 8,
        "wav2vec2-conformer-large": conformer(24, 768, 1024, 4096, 31),
        "segformer-mit-b0": reduced([32, 64, 160, 256], [2, 2, 2, 2]),
        "segformer-mit-b2": reduced([64, 128, 320, 512], [3, 4, 6, 3]),
        "stable-diffusion-vae": autoencoder(512, (128, 256, 512, 512), 2, 4, True),
        "flux-vae": autoencoder(1024, (128, 256, 512, 512), 2, 16, False),
        "poolformer-s12": of_neighbours((64, 128, 320, 512), (2, 2, 6, 2)),
        "poolformer-m48": of_neighbours((96, 192, 384, 768), (8, 8, 24, 8)),
        "regnet-x-040": in_groups((80, 240, 560, 1360), (2, 5, 14, 2), 40, False),
        "regnet-y-040": in_groups((128, 192, 512, 1088), (2, 6, 12, 2), 64, True),
        # Four maps in the width of the head, their join, and a class of each position of the largest one.
        "segformer-b0-ade-512": reduced([32, 64, 160, 256], [2, 2, 2, 2], classes=0) + 2 * 256 * (128**2 * 32 + 64**2 * 64 + 32**2 * 160 + 16**2 * 256)
        + 2 * 128**2 * (4 * 256**2 + 256 * 150),
        "depth-anything-small": 2 * 1369 * 588 * 384 + layers(12, 1370, 384, 1536) + maps_of_tower(37, 384, (48, 96, 192, 384), 64, 1),
        # The first token is read with each patch.
        "dpt-large": 2 * 576 * 768 * 1024 + layers(24, 577, 1024, 4096) + 4 * 2 * 576 * 2048 * 1024 + maps_of_tower(24, 1024, (256, 512, 1024, 1024), 256, 1, image=384),
        # Two heads of a convolution and a matrix of classes.
        "dpt-large-ade": 2 * 900 * 768 * 1024 + layers(24, 901, 1024, 4096) + 4 * 2 * 900 * 2048 * 1024 + maps_of_tower(30, 1024, (256, 512, 1024, 1024), 256, 0)
        + 2 * 240**2 * (18 * 256**2 + 2 * 256 * 150),
        "stable-diffusion-1.5": unet(64, (320, 640, 1280, 1280), (1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 1, 0), 768),
        "stable-diffusion-2.1": unet(96, (320, 640, 1280, 1280), (1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 1, 0), 1024),
        "stable-diffusion-xl": unet(128, (320, 640, 1280), (0, 2, 10), (0, 1, 1), (0, 1, 1), 2048, pooled=2816),
        "donut-swin-base": windows(128, [2, 2, 14, 2], [4, 8, 16, 32], 0, 10, classes=0, sides=(640, 480)),
        # A text of 64 tokens, whose first one is projected; a learned query of 256 patches.
        "siglip2-b-16-naflex": layers(12, 64, 768, 3072) + 2 * 768**2 + 2 * 256 * 768 * 768 + layers(12, 256, 768, 3072)
        + pooled(256, 768, 3072) + 2 * 768,
        # A matrix for the frame of those that are hidden, and a convolution of each channel, which is no product.
        "w2v-bert-2.0": 2 * 768 * 160 * 1024 + 2 * 768 * 1024
        + 24 * (14 * 768 * 1024**2 + 6 * 768**2 * 1024 + 8 * 768 * 1024 * 4096),
        # A text of 512 tokens, 14 x 14 patches and a token.
        "layoutlmv3-base": 2 * 196 * 768 * 768 + layers(12, 709, 768, 3072),
        "layoutlm-base": layers(12, 512, 768, 3072) + 2 * 768**2 + 2 * 512 * 768 * (768 + 30522),
        "roformer-chinese-base": layers(12, 1536, 768, 3072) + 2 * 1536 * 768 * (768 + 50000),
        "ernie-m-base": layers(12, 512, 768, 3072) + 2 * 768**2,
        "gpt-neox-japanese-2.7b": text(2560, 0, 32, 32, 32, 80, 32000, 2048) + 32 * 16 * 2048 * 2560**2,
        "ctrl": text(1280, 0, 48, 16, 16, 80, 246534, 4096) + 48 * 4 * 4096 * 1280 * 8192,
        "nanochat-d32": text(2048, 0, 32, 16, 16, 128, 65536, 2048) + 32 * 4 * 2048 * 2048 * 8192,
        "grok-1-314b": text(6144, 0, 64, 48, 8, 128, 131072, 4096) + 64 * experts(4096, 6144, 32768, 8, 2),
        "dream-v0-7b": text(3584, 18944, 28, 28, 4, 128, 152064, 4096) + 28 * 4 * 3584 * 4096 * 4095 // 2,
        "llada-8b": text(4096, 12288, 32, 32, 32, 128, 126464, 4096) + 32 * 4 * 4096 * 4096 * 4095 // 2,
        "snowflake-arctic-480b": text(7168, 7168, 35, 56, 8, 128, 32000, 4096) + 35 * experts(4096, 7168, 4864, 128, 2),
        "markuplm-base": layers(12, 512, 768, 3072) + 2 * 512 * (1600 + 768) * 3072 + 2 * 768**2,
        "openelm-270m": of_layers(2048, 1280, 64, 32000, OPENELM),
        "llama3.3-nemotron-super-49b": of_layers(4096, 8192, 128, 128256, searched_layers("llama3.3-nemotron-super-49b", 64, 8192)),
        "llama3.1-nemotron-ultra-253b": of_layers(4096, 16384, 128, 128256, searched_layers("llama3.1-nemotron-ultra-253b", 128, 16384)),
        "rwkv-4-169m": 12 * 2 * 1024 * 13 * 768**2 + 2 * 1024 * 768 * 50277,
        # Pairs of narrow matrices, what a token's own value weighs, and chunks of 64 tokens; the first layer moves no values.
        "rwkv-7-0.1b": 12 * (2 * 4096 * (12 * 768**2 + 2 * 768 * (64 + 64 + 128 + 32) + 768) + 12 * general_rule(4096, 64, 64))
        - 4 * 4096 * 768 * 32 + 2 * 4096 * 768 * 65536,
        # Keys of 256, values of 512 and what these are divided by.
        "xlstm-7b": 32 * (2 * 4096 * 4096 * (2 * 2048 + 3 * 4096 + 2 * 8 + 3 * 10944) + 8 * (2 * 64 * 4096 * 769 + 4 * 4096 * 256 * 513))
        + 2 * 4096 * 4096 * 50304,
        # One layer in thirteen places, each with a matrix; how much heads write, and what, is made of each head by itself.
        "zamba-7b": 76 * 2 * 4096 * 7424 * (3 * 3712 + 2 * 232 + 2 * 16) + 2 * 4096 * 3712 * 32000
        + 13 * (2 * 4096 * 3712 * (2 * 3 * 7424 + 7424 + 3 * 14848 + 3712) + 2 * 7424 * 4096 * 4097),
        "dots-ocr-3b": 2 * 1024 * 588 * 1536 + 42 * (8 * 1024 * 1536**2 + 4 * 1024**2 * 1536 + 6 * 1024 * 1536 * 4224) + 2 * 256 * (6144**2 + 6144 * 1536)
        + text(1536, 8960, 28, 12, 2, 128, 151936, 4096),
        # Five tiles of 576 patches behind a class token, of which the last layer is read by nobody; 757 tokens of an image.
        "phi-3.5-vision": 5 * (2 * 576 * 588 * 1024 + layers(24, 577, 1024, 4096)) + 2 * 757 * (4096 * 3072 + 3072**2)
        + text(3072, 8192, 32, 32, 32, 96, 32064, 4096),
        # Thirty chunks of thirteen tokens, eight of which see each other.
        "qwen3-asr-1.7b": sound_chunks(1024, 480, 30, 128, 100) + chunked(1024, 24, 390, 104, 4096) + 2 * 390 * 1024 * (1024 + 2048)
        + text(2048, 6144, 28, 16, 8, 128, 151936, 4096),
        # Sixteen rows of sixteen tokens, each with one that ends it.
        "hunyuan-ocr-1b": 2 * 1024 * 768 * 1152 + layers(27, 1024, 1152, 4304) + 2 * 256 * (4 * 1152 * 2304 + 2304 * 4608) + 2 * 272 * 4608 * 1024
        + text(1024, 3584, 24, 16, 8, 128, 120818, 4096),
        "recurrentgemma-2b": 18 * recurrence(4096, 2560, 10, 2560) + 8 * narrow_values(4096, 2560, 10, 1, 256, 256, 2048)
        + 26 * 6 * 4096 * 2560 * 7680 + 2 * 4096 * 2560 * 256000,
        # Two experts of attention, whose routers, keys and values are in both.
        "jetmoe-8b": 24 * (experts(4096, 2048, 5632, 8, 2) + 2 * 4096 * 2048 * 8 + 2 * 4096 * 2048 * (2 * 2 * 2048 + 2 * 2048)
                           + 4 * 2 * 2048 * 4096 * 4097 // 2) + 2 * 4096 * 2048 * 32000,
        "internvl2.5-8b": 2 * 1024 * 588 * 1024 + layers(24, 1025, 1024, 4096) + 2 * 256 * (4096 * 4096 + 4096**2)
        + text(4096, 14336, 32, 32, 8, 128, 92553, 4096),
        "qwen2.5-omni-7b": qwen2_5_tower(1280, 3420, 32, 4, 3584) + 2 * 2 * 1500 * 3 * 128 * 1280 + 2 * 1500 * 3 * 1280**2
        + chunked(1280, 32, 1500, 100, 5120) + 2 * 750 * 1280 * 3584 + text(3584, 18944, 28, 28, 4, 128, 152064, 4096),
        # Thirty chunks of thirteen tokens, eight of which see each other.
        "qwen3-omni-30b-a3b": qwen3_tower(2048, 1152, 4304, 27, 4) + sound_chunks(1280, 480, 30, 128, 100) + chunked(1280, 32, 390, 104, 5120)
        + 2 * 390 * 1280 * (1280 + 2048) + text(2048, 0, 48, 32, 4, 128, 152064, 4096) + 48 * experts(4096, 2048, 768, 128, 8),
        "youtu-llm-2b": 32 * latent(4096, 2048, 16, 512, queries=1536) + 32 * 6 * 4096 * 2048 * 6144 + 2 * 4096 * 2048 * 128256,
        "mellum2-12b-a2.5b": 7 * narrow_values(4096, 2304, 32, 4, 128, 128) + 21 * narrow_values(4096, 2304, 32, 4, 128, 128, 1024)
        + 28 * experts(4096, 2304, 896, 64, 8) + 2 * 4096 * 2304 * 98304,
        # Queries and gates are made of the latent as it is and of what its norm gives; gates of a rank of 16 behind the norms.
        "a.x-k2-light": 48 * (selected(4096, 2048, 32, 384, index_heads=16, n=64, r=32, v=64, rank=128) + 2 * 4096 * 384 * 32 * (2 * 160 - 96))
        + 95 * 2 * 4096 * 2 * 2048 * 16 + 6 * 4096 * 2048 * 5120 + 47 * experts(4096, 2048, 512, 128, 9) + 2 * 4096 * 2048 * 163840,
        # Windows of 1024 patches in 37 layers of the tower.
        "muse-glimmer-30b": 2 * 4096 * 1176 * 1536 + layers(50, 4096, 1536, 8960) - 37 * 4 * 1536 * 4096 * 3072
        + 2 * 1024 * 4096 * (6144 + 4096 + 6656) + 13 * narrow_values(4096, 6656, 32, 2, 128, 128)
        + 39 * narrow_values(4096, 6656, 32, 2, 128, 128, 2048) + 52 * 2 * 4096 * 6656 * (4096 + 3 * 19968) + 2 * 4096 * 6656 * 202048,
        # Squares have 16 elements.
        "clap-htsat-unfused": layers(12, 512, 768, 3072) + 2 * 768**2 + 2 * 2 * (768 * 512 + 512**2) + 2 * 2 * 512
        + windows(96, [2, 2, 6, 2], [4, 8, 16, 32], 64, 8, classes=0) - 2 * 64**2 * 32 * 96,
        "owlv2-base-patch16": objects_of_texts(768, 12, 3601, 16, 4),
        "timesformer-base-k400": divided(768, 12, 8, 196, 400),
        "pvt-v2-b0": reduced([32, 64, 160, 256], [2, 2, 2, 2], side=56, ratios=(8, 8, 4, 4)),
        "pvt-v2-b2": reduced([64, 128, 320, 512], [3, 4, 6, 3], side=56, ratios=(8, 8, 4, 4)),
        "dinov3-convnext-tiny": depthwise([96, 192, 384, 768], [3, 3, 9, 3], classes=0),
        "detr-resnet-50": residual(25, 34, [3, 4, 6, 3], is_plain=False) + finding(850, 100, 2048, 92),
        "table-transformer-detection": residual(25, 34, [2, 2, 2, 2], is_plain=True) + finding(850, 15, 512, 3),
        # Rows of 1024 distances become heads of keys; scores of these, and of two segments.
        "xlnet-base-cased": layers(12, 512, 768, 3072) + 12 * (2 * 1024 * 768**2 + 2 * 512 * 1024 * 768 + 2 * 512 * 2 * 768 + 2 * 512**2 * 2 * 12)
        + 2 * 512 * 768 * 32000,
        # A stream of a quarter of the width.
        # As many rows as distances, which a matrix makes heads of, in the first; of 1016 frames 128 tokens, whose convolutions have two halves.
        "seamless-m4t-large-speech-to-text": eighths(1024, 24, 4096, 127, 2 * 2031 * 1024 * (1024 + 1016) + 2 * 1016 * 31 * 1024) + read_by(128, 1024, 1024, 8192, 256102, 24),
        "seamless-m4t-v2-large-speech-to-text": eighths(1024, 24, 4096, 127, 2 * 1016**2 * 1024) + read_by(128, 4096, 1024, 8192, 256102, 24),
        "seamless-m4t-medium-text-to-text": two_stacks(1024, 1024, 1024, 16, 16, 64, 256206, 12, 12) + 24 * 4 * 1024 * 1024 * 4096,
        # Of 1,792 frames 32 codes each.
        "csm-1b": text(2048, 8192, 16, 32, 8, 64, 2051, 2048) + 1792 * (text(1024, 8192, 4, 8, 2, 128, 0, 32) + 2 * 32 * 2048 * 1024 + 2 * 31 * 1024 * 2051),
        "bigbird-pegasus-large": two_stacks(704, 704, 1024, 16, 16, 64, 96103, 16, 16) + 32 * 4 * 704 * 1024 * 4096,
        # Five layers read each other by one attention, and each themselves; 36 regions, of which 2048 features are said.
        "lxmert-base-uncased": layers(14, 512, 768, 3072) + layers(10, 36, 768, 3072) + 5 * (8 * 548 * 768**2 + 8 * 512 * 36 * 768) + 2 * 36 * 2052 * 768 + 2 * 768**2
        + 2 * 512 * 768 * (768 + 30522) + 2 * 36 * 768 * (768 + 1600 + 400 + 2048) + 2 * (768 * 1536 + 1536 * 9500) + 2 * 768 * 2,
        "clip-bert": layers(12, 512, 768, 3072) + 2 * 768**2 + 2 * 49 * 3072 * 768 + layers(12, 50, 768, 3072) + 2 * 2 * 768 * 512 + 2 * 512,
        # Half as many heads; windows of nine tokens, a matrix of which makes the weights of six heads.
        "conv-bert-base": 12 * (2 * 512 * 768 * (5 * 384 + 768 + 9) + 2 * 512 * 384 * (54 + 9) + 4 * 512**2 * 384 + 4 * 512 * 768 * 3072),
        # A layer of blocks of 128 characters and one of all, twelve of a fourth as many tokens.
        "canine-s": layers(12, 512, 768, 3072) + layers(2, 2048, 768, 3072) - 4 * 2048 * (2048 - 128) * 768 + 2 * 512 * 3072 * 768 + 2 * 2049 * 4 * 1536 * 768 + 2 * 768**2,
        # Steps of 22 numbers, two heads; three numbers of each step that is predicted.
        "time-series-transformer-tourism": 2 * (48 + 24) * 22 * 32 + two_stacks(48, 24, 32, 2, 2, 16, 3, 4, 4) + 4 * 4 * (48 + 24) * 32 * 32,
        # Seven channels of 42 patches, all of which are read.
        "patchtst-etth1": 7 * (2 * 42 * 12 * 128 + layers(3, 42, 128, 512) + 2 * 42 * 128 * 96),
        # What values say of each token, of one head.
        "doge-20m": text(256, 512, 8, 2, 1, 128, 32768, 2048) + 8 * 2 * 2048 * 128,
        "moshi-7b-text": text(4096, 11264, 32, 32, 32, 128, 32000, 3000),
        # The shared expert is as wide as each of six.
        "sarvam-30b": text(4096, 0, 19, 64, 4, 64, 262144, 4096) + 6 * 4096 * 4096 * 8192 + 18 * experts(4096, 4096, 1024, 128, 7),
        # Queries of 192, of 128 and 64, and a latent of 512 beside a key of 64.
        "sarvam-105b": 32 * (2 * 4096 * 4096 * (64 * 192 + 576 + 64 * 128) + 2 * 4096 * 512 * 64 * 256 + 64 * 4096 * 4097 * (192 + 128)) + 6 * 4096 * 4096 * 16384
        + 31 * experts(4096, 4096, 2048, 128, 9) + 2 * 4096 * 4096 * 262144,
        # One head of keys and values, and queries through 2048.
        "step3-316b": 61 * (2 * 4096 * 7168 * (2048 + 512 + 64 * 256) + 2 * 4096 * 2048 * 64 * 256 + 2 * 64 * 256 * 4096 * 4097) + 5 * 6 * 4096 * 7168 * 18432
        + 56 * experts(4096, 7168, 5120, 48, 4) + 2 * 4096 * 7168 * 128815,
        "pegasus-x-base": blocks_and_globals(4096, 768, 3072, 12, 512, 32) + reading(4096, 4096, 768, 3072, 12, 96103),
        # No frame is hidden; of 768 frames 96, by convolutions that see three.
        "xls-r-300m-to-text": samples(24, 768, 1024, 4096) - 2 * 768 * 1024 + 2 * (384 + 192 + 96) * 3 * 1024 * 2048 + reading(1024, 96, 1024, 4096, 12, 250054),
        "funnel-small": 6 * asking(512, 512, 768, 3072, 12) + asking(256, 512, 768, 3072, 12) + 3 * asking(256, 256, 768, 3072, 12) + asking(128, 256, 768, 3072, 12)
        + 3 * asking(128, 128, 768, 3072, 12),
        # Eight frames of 50 tokens, each behind one more in attention, of what the frames say; a layer of frames; one text for one video.
        "xclip-base-patch32": 12 * (8 * 77 * 512**2 + 2 * 512 * 77 * 78 + 4 * 77 * 512 * 2048) + 2 * 512**2 + 2 * 8 * 49 * 3072 * 768
        + 12 * 8 * (8 * 51 * 768**2 + 4 * 51**2 * 768 + 4 * 50 * 768 * 3072 + 10 * 768**2 + 4 * 8 * 768) + 2 * 8 * 50 * 768 * 512 + layers(1, 8, 512, 2048)
        + 2 * (4 * 50 * 512**2 + 4 * 49 * 512 + 4 * 512 * 2048) + 2 * 512,
        # A fourth of a row of each pair of tokens becomes a head, which queries score.
        "bros-base-uncased": layers(12, 512, 768, 3072) + 2 * 768**2 + 2 * 512**2 * 192 * 64 + 12 * 2 * 512**2 * 768,
        "nystromformer-512": layers(12, 510, 768, 3072) + 12 * 2 * 510 * 768 * 65 + 2 * 510 * 768 * (768 + 30000),
        # Layers of 384 pairs of 768 frames.
        "sew-tiny": by_places(768) + squeezed(768, 512) + layers(12, 384, 512, 2048),
        "sew-d-tiny": by_places(768) + 2 * 768 * 512 * 384 + squeezed(768, 384) + disentangled(12, 384, 384, 1536, 512) + 2 * 768 * 384 * 32,
        "chronos-t5-tiny": two_stacks(512, 512, 256, 4, 4, 64, 4096, 4, 4) + 8 * 4 * 512 * 256 * 1024,
        # 128 patches of 16 numbers and a token behind them; one token of the decoder.
        "chronos-bolt-base": two_stacks(129, 1, 768, 12, 12, 64, 0, 12, 12) + 12 * 4 * 130 * 768 * 3072 + 2 * 128 * (32 * 3072 + 3072 * 768 + 32 * 768) + 2 * (768 * 3072 + 3072 * 576 + 768 * 576),
        # All of 64 patches say what is behind them, and the last one is read.
        "timesfm-2.0-500m": 50 * (8 * 64 * 1280**2 + 2 * 1280 * 64 * 65 + 4 * 64 * 1280**2) + 2 * 64 * (64 * 1280 + 1280**2 + 64 * 1280) + 2 * 64 * 3 * 1280**2,
        # Two matrices before each frame's, a voice beside it, and five convolutions over five of twice as many frames.
        "speecht5-tts": layers(12, 450, 768, 3072) + 12 * 2 * 450**2 * 768 + read_by(450, 1876, 768, 3072, 0, 6)
        + 2 * 1876 * (80 * 256 + 256**2 + 256 * 768 + 1280 * 768 + 768 * 162) + 2 * 3752 * 5 * (2 * 80 * 256 + 3 * 256**2),
        "dia-1.6b": 12 * (8 * 1024 * 1024 * 2048 + 4 * 1024**2 * 2048 + 6 * 1024 * 1024 * 4096) + text(2048, 8192, 18, 16, 4, 128, 9 * 1028, 3072)
        + 18 * (4 * 3072 * 2048**2 + 4 * 1024 * 1024 * 2048 + 4 * 3072 * 1024 * 2048),
        # Of 750 tokens each sees 375.
        "stt-2.6b-en": 48 * (8 * 750 * 2048**2 + 4 * 2048 * (375 * 376 // 2 + 375 * 375) + 6 * 750 * 2048 * 5632) + 2 * 750 * 2048 * 4001,
        "musicgen-small": layers(12, 512, 768, 3072) + 2 * 512 * 768 * 1024 + 24 * (12 * 2048 * 1024**2 + 4 * 512 * 1024**2 + 4 * 1024 * (2048 * 2049 // 2 + 2048 * 512)
                                                                                 + 4 * 2048 * 1024 * 4096) + 4 * 2 * 2048 * 1024 * 2048,
        # 235 tokens of a melody and 512 of a text are before 1301 frames.
        "musicgen-melody": layers(12, 512, 768, 3072) + 2 * 512 * 768 * 1536 + 2 * 235 * 12 * 1536 + text(1536, 0, 48, 24, 24, 64, 4 * 2048, 2048) + 48 * 4 * 2048 * 1536 * 6144,
        # Of each of 3000 tokens eight codes, each of which has matrices of its own.
        "moshi-7b": text(4096, 11264, 32, 32, 32, 128, 32000, 3000) + 3000 * (text(1024, 2816, 6, 16, 16, 64, 2048, 8) + 2 * 8 * 4096 * 1024),
        "speecht5-asr": samples(12, 768, 768, 3072) + 12 * 2 * 768**2 * 768 + read_by(768, 450, 768, 3072, 81, 6),
        # Five tiles; windows of 8 x 8 patches that 4 x 4 queries read, eight times. The head of the tower is not read.
        "granite-vision-4.1-4b": 5 * (2 * 576 * 768 * 1152 + layers(27, 576, 1152, 4304) + pooled(576, 1152, 4304)
                                      + 8 * (9 * (layers(1, 16, 1152, 3072) + 4 * (16 + 64) * 1152**2 + 4 * 16 * 64 * 1152) + 2 * 144 * 1152 * 2560))
        + text(2560, 8192, 40, 40, 8, 64, 100353, 4096),
        # Blocks of 128 tokens see 384, and with sums of 16 tokens 256 of these.
        "long-t5-local-base": 12 * (8 * 4096 * 768**2 + 4 * 4096 * 384 * 768) + two_stacks(4096, 4096, 768, 12, 12, 64, 32128, 0, 12) + 24 * 6 * 4096 * 768 * 2048,
        "long-t5-tglobal-base": 12 * (8 * 4096 * 768**2 + 4 * 4096 * (384 + 256) * 768 + 2 * 4096 * 256 * 768 + 4 * 256 * 768**2)
        + two_stacks(4096, 4096, 768, 12, 12, 64, 32128, 0, 12) + 24 * 6 * 4096 * 768 * 2048,
        # The predictor reads all places and predicts all of them; what says a class reads all with one query, behind three layers.
        "vjepa2-vitl-fpc64-256": 2 * 8192 * 1536 * 1024 + layers(24, 8192, 1024, 4096) + 2 * 2 * 8192 * 1024 * 384 + layers(12, 16384, 384, 1536),
        "vjepa2-vitl-fpc16-256-ssv2": 2 * 2048 * 1536 * 1024 + layers(27, 2048, 1024, 4096) + 2 * 2 * 2048 * 1024**2 + 4 * 2048 * 1024
        + (2 + 16) * 1024**2 + 2 * 1024 * 174,
        "mlcd-vit-bigg-patch14-336": 2 * 576 * 588 * 1664 + layers(48, 577, 1664, 8192),
        "pix2struct-base": 2 * 2048 * 768 * 768 + 12 * (8 * 2048 * 768**2 + 4 * 2048**2 * 768 + 6 * 2048 * 768 * 2048)
        + two_stacks(2048, 512, 768, 12, 12, 64, 50244, 0, 12) + 12 * 6 * 512 * 768 * 2048,
        "splinter-base-qass": layers(12, 512, 768, 3072) + 2 * (2 * 514 * 768**2 + 2 * 512 * 768),
        # Queries read patches and themselves.
        "kosmos-2.5": 2 * 4096 * 768 * 1536 + 18 * (8 * 4096 * 1536**2 + 4 * 4096**2 * 1536 + 6 * 4096 * 1536 * 3968) + 2 * 4096 * 1536**2
        + 2 * 1536**2 * (2 * 2048 + 2 * 6144) + 4 * 2048 * 6144 * 1536 + text(1536, 0, 24, 16, 16, 96, 108481, 4096) + 24 * 4 * 4096 * 1536 * 6144,
        "ibert-roberta-base": layers(12, 512, 768, 3072) + 2 * 512 * 768**2 + 2 * 512 * 768 * 50265,
        "ibert-roberta-large": layers(24, 512, 1024, 4096) + 2 * 512 * 1024**2 + 2 * 512 * 1024 * 50265,
        # A question of as many tokens as an answer reads the image, and is read.
        "blip-vqa-base": 2 * 576 * 768 * 768 + layers(12, 577, 768, 3072) + layers(12, 512, 768, 3072) + 12 * (4 * 512 * 768**2 + 4 * 577 * 768**2 + 4 * 512 * 577 * 768)
        + text(768, 0, 12, 12, 12, 64, 30524, 512) + 12 * (4 * 512 * 768 * 3072 + 8 * 512 * 768**2 + 4 * 512 * 512 * 768) + 2 * 512 * 768**2,
        "vit-gpt2": 2 * 196 * 768 * 768 + layers(12, 197, 768, 3072) + 2 * 768**2 + text(768, 0, 12, 12, 12, 64, 50257, 1024)
        + 12 * (4 * 1024 * 768 * 3072 + 4 * 1024 * 768**2 + 4 * 197 * 768**2 + 4 * 1024 * 197 * 768),
        "trocr-small": 2 * 576 * 768 * 384 + layers(12, 578, 384, 1536) + 2 * 384**2
        + 6 * (12 * 512 * 256**2 + 4 * 578 * 384 * 256 + 4 * 256 * (512 * 513 // 2 + 512 * 578) + 4 * 512 * 256 * 1024) + 2 * 512 * 256 * 64044,
        "donut-base": windows(128, [2, 2, 14, 2], [4, 8, 16, 32], 0, 10, classes=0, sides=(640, 480)) + text(1024, 0, 4, 16, 16, 64, 57525, 1536)
        + 4 * (4 * 1536 * 1024 * 4096 + 4 * 1536 * 1024**2 + 4 * 4800 * 1024**2 + 4 * 1536 * 4800 * 1024),
        "bert2bert": layers(12, 512, 768, 3072) + 2 * 768**2 + two_stacks(512, 512, 768, 12, 12, 64, 30522, 0, 12) + 12 * 4 * 512 * 768 * 3072 + 2 * 512 * 768**2,
        # Three tokens of each of 20 steps.
        "decision-transformer-gym-hopper": 2 * 20 * 128 * (1 + 11 + 3) * 2 + text(128, 0, 3, 1, 1, 128, 0, 60) + 3 * 4 * 60 * 128 * 512,
        "hiera-tiny-224": hiera(96, (1, 2, 7, 2)),
        "hiera-base-224": hiera(96, (2, 3, 16, 3)),
        "tapas-base": layers(12, 1024, 768, 3072) + 2 * 768**2,
        # Words and entities have two rows of queries each, and both have a loss.
        "luke-base": layers(12, 544, 768, 3072) + 12 * 2 * 544 * 768**2 + 2 * 32 * 256 * 768 + 2 * 768**2 + 2 * 512 * 768 * (768 + 50267) + 2 * 32 * 256 * (768 + 500000),
        "clipseg-rd64-refined": 2 * 196 * 768 * 768 + layers(12, 197, 768, 3072) + 2 * 768 * 512 + text(512, 0, 12, 8, 8, 64, 0, 77) + 12 * 4 * 77 * 512 * 2048 + 2 * 512**2
        + 3 * 2 * 197 * 768 * 64 + 4 * 512 * 64 + layers(3, 197, 64, 2048) + 2 * 196 * (9 * 64 * 64 + 64 * 16 * 32 + 16 * 32 * 16),
        # Queries read the tower's tokens and themselves.
        "kosmos-2": 2 * 256 * 588 * 1024 + layers(24, 257, 1024, 4096) + 2 * 257 * 1024 * 2048 + 2 * 2048**2 * (2 * 64 + 2 * 321) + 4 * 64 * 321 * 2048
        + text(2048, 0, 24, 32, 32, 64, 65037, 2048) + 24 * 4 * 2048 * 2048 * 8192,
        "aimv2-large-patch14-224": 2 * 256 * 588 * 1024 + 24 * (8 * 256 * 1024**2 + 4 * 256**2 * 1024 + 6 * 256 * 1024 * 2816),
        "sam-vit-base": sam(768, 3072, 64, 14, 4, 12, 256) + prompted(256, 128, 7, 4096, 2048, 2, 4, 256),
        "lilt-roberta-en-base": layers(12, 512, 768, 3072) + layers(12, 512, 192, 768) + 2 * 512 * 768 * 192 + 2 * 768**2,
        "bigbird-roberta-base": layers(12, 704, 768, 3072) + 2 * 768**2 + 2 * 704 * 768 * (768 + 50358) + 2 * 768 * 2,
        "mobilenet-v1-1.0": of_channels([(64, 1, 1), (128, 1, 2), (128, 1, 1), (256, 1, 2), (256, 1, 1), (512, 6, 2), (1024, 2, 2)]),
        "mobilenet-v2-1.0": of_channels([(24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)], 6, 16, 1280),
        "dpr-question-encoder": layers(12, 512, 768, 3072),
        "bert-for-seq-generation-l-24": layers(24, 512, 1024, 4096),
        "efficient-mlm-m0.40": layers(24, 512, 1024, 4096) + 2 * 512 * 1024 * (1024 + 50265),
        "roc-bert-base-zh": layers(12, 512, 768, 3072) + 2 * 512 * 2048 * 768 + 2 * 768**2 + 2 * 512 * 768 * (768 + 21128),
        "flaubert-base-cased": layers(12, 512, 768, 3072) + 2 * 512 * 768 * 68729,
        "xlm-mlm-en-2048": layers(12, 512, 2048, 8192) + 2 * 512 * 2048 * 30145,
        "wmt19-en-ru": two_stacks(1024, 1024, 1024, 16, 16, 64, 31232, 6, 6) + 6 * 4 * 1024 * 1024 * (8192 + 4096),
        "mvp-large": two_stacks(1024, 1024, 1024, 16, 16, 64, 50267, 12, 12) + 24 * 4 * 1024 * 1024 * 4096,
        "qwen-image": two_streams(3072, 60, 4096, 512, 64, 3584),
        "wan2.1-t2v-1.3b": one_modulation(1536, 8960, 30, 32760, 512, 64, 64, 4096),
        "allegro": video_with_text(2304, 79200, 512, 32, (16, 16), 4096),
        "latte-1": frames_and_places(1152, 16, 1024, 120, 28, (16, 32), 4096),
        "sana-video-2b": sums_of_video(2240, 6720, 112, 32760, 300, 20, (64, 64), 2304),
        "omnigen-v1": one_sequence(3072, 8192, 4352, 4096, 32, 16),
        "kandinsky-5-lite-t2v": text_before_video(1792, 7168, 512, 47616, 512, 2, 32, (132, 64), 3584, 768),
        "easyanimate-v5.1-12b": streams_of_shared_norms(3072, 512, 17550, 256, 48, 64, 3584),
        "hunyuan-dit-v1.1": skipped_layers(1408, 6144, 1024, 2048, 1024, 4096, 333, 256, 40, 6 * 256 + 1408),
        "hunyuan-dit-v1.2": skipped_layers(1408, 6144, 1024, 2048, 1024, 4096, 333, 256, 40, 0),
        "focalnet-tiny": focal(96, [2, 2, 6, 2], 2),
        "focalnet-tiny-lrf": focal(96, [2, 2, 6, 2], 3),
        "cvt-13": convolved([64, 192, 384], [1, 2, 10]),
        "cogvideox-2b": one_stream(1920, 30, 13 * 30 * 45, 226, 64, 4096, 512),
        # Six sizes of an image, of 256 features each, beside the time step.
        "cogview3-plus-3b": one_stream(2560, 30, 4096, 224, 64, 4096, 512) + 2 * (1536 * 512 + 512**2),
        "cogview4-6b": one_stream(4096, 28, 4096, 1024, 64, 4096, 512) + 2 * (1536 * 512 + 512**2),
        "hunyuanvideo": two_streams_then_one(3072, 20, 40, 2, 118800, 256, 64, 4096, 768),
        # A text of 1000 tokens, 256 letters and 729 tokens of an image.
        "hunyuanvideo-1.5": two_streams(2048, 54, 111600, 1985, 65, 0) - 2 * 111600 * (65 - 32) * 2048 + 2 * 1000 * 3584 * 2048
        + 2 * (24 * 1000 * 2048**2 + 4 * 1000**2 * 2048 + 4 * 2048**2) + 2 * (256 * 2048 + 2048**2) + 2 * (3584 * 2048 + 2048**2)
        + 2 * 256 * (1472 * 2048 + 2 * 2048**2) + 2 * 729 * (1152**2 + 1152 * 2048),
        "ltx-video-2b": one_modulation(2048, 8192, 28, 7392, 128, 128, 128, 4096),
        "flux.2-dev": shared_vectors(6144, 18432, 8 + 48, 4096, 512, 128, 15360),
        "lumina-image-2.0": scaled_layers(2304, 9216, 768, 26, 2, 4096, 256, 64, 2304, 1024, 2 * (256 * 1024 + 1024**2)),
        "z-image": scaled_layers(3840, 10240, 3840, 30, 2, 4096, 512, 64, 2560, 256, 2 * (256 * 1024 + 1024 * 256)),
        # Eight tokens of the text are learned.
        "auraflow": 4 * gated_streams(3072, 8192, 1024 + 264, 12) + 32 * gated_streams(3072, 8192, 1024 + 264, 6)
        + 2 * 1024 * 16 * 3072 * 2 + 2 * 256 * 2048 * 3072 + 2 * (256 * 3072 + 3072**2) + 4 * 3072**2,
        "mochi-1-preview": asymmetric(3072, 8192, 1536, 4096, 48, 44520, 256, 48, 4096),
        "sana-1.6b": sums(2240, 5600, 20, 1024, 300, 32, 2304, 32, 2240),
        "cosmos-1.0-7b": low_rank(4096, 16384, 28, 56320, 512, 17 * 4, 64, 1024, 256),
        "wan2.1-i2v-14b": prompted_wan(5120, 13824, 40, 32760, 512, 257, 36 * 4, 64, 4096, 1280),
        "wan2.1-vace-1.3b": hinted(1536, 8960, 30, 15, 32760, 512, 64, 4096, 96 * 4),
        "stable-audio-open-1.0": sound_tokens(1536, 24, 1024, 130, 64, 768, 24, 12, 768, 1536),
        "hidream-i1": own_texts(2560, 6912, 3584, 4, 2, 16, 32, 4096, 256, 128, 64, 4096, 2048),
        "ovis-image-7b": 6 * gated_streams(3072, 12288, 4096 + 256, 12) + 27 * gated_streams(3072, 12288, 4096 + 256, 3)
        + 2 * 4096 * 64 * 3072 * 2 + 2 * 256 * 2048 * 3072 + 2 * (256 * 3072 + 3072**2) + 4 * 3072**2,
        # Each token sees itself and those before.
        "kandinsky-2.2-prior": 20 * (24 * 81 * 2048**2 + 2 * 81 * 82 * 2048) + 2 * 2 * 2048**2 + 2 * (77 + 1 + 1 + 1) * 1280 * 2048,
        # 344 vectors, each by one network.
        "chroma1-hd": (19 + 38) * (24 * 4608 * 3072**2 + 4 * 4608**2 * 3072) + 2 * 4096 * 64 * 3072 * 2 + 2 * 512 * 4096 * 3072
        + 2 * 344 * (64 * 5120 + 10 * 5120**2 + 5120 * 3072),
        "pixart-alpha-xl-2-512": one_modulation(1152, 4608, 28, 1024, 120, 16, 32, 4096),
        "pixart-alpha-xl-2-1024": one_modulation(1152, 4608, 28, 4096, 120, 16, 32, 4096, 2 * 3 * (256 * third + third**2)),
        "vit-b-16": vit(768, 12, 197, 1000, 16),
        "vit-l-16": vit(1024, 24, 197, 1000, 16),
        "vit-h-14": vit(1280, 32, 257, 1000, 14),
        "dit-xl-2": dit(1152, 28, 256, 4),
        "whisper-large-v3": whisper(1280, 32, 51866, 128, 1500, 448),
    }
    published = {"vit-b-16": "17.564", "vit-l-16": "61.555", "vit-h-14": "167.295", "dit-xl-2": "118.6", "convnext-tiny": "4.5", "swin-tiny": "4.5", "swin-base": "15.4",
                 "convnextv2-base": "15.4", "pvt-v2-b2": "4.0", "mobilenet-v1-1.0": "0.569", "mobilenet-v2-1.0": "0.30", "focalnet-tiny": "4.4", "focalnet-tiny-lrf": "4.5",
                 "regnet-x-040": "4.0", "regnet-y-040": "4.0", "poolformer-s12": "1.8"}
    for model, operations in expected.items():
        found = forward(model)
        assert found == operations, f"{model}: {found}, expected {operations}"
        if model in published:
            digits = len(published[model].split(".")[1])
            listed = f"{found / 2e9:.{digits}f}"
            assert listed == published[model], f"{model}: {listed} GMAC, published {published[model]}"
    defaults = {
        # A window of all tokens, and no shared expert.
        "cohere2_moe": text(8192, 0, 40, 64, 64, 128, 256000, 4096) + 40 * experts(4096, 8192, 22528, 8, 2),
        "granite_swa": 6 * narrow_values(4096, 2560, 20, 4, 128, 128) + 18 * narrow_values(4096, 2560, 20, 4, 128, 128, 128)
        + 24 * 6 * 4096 * 2560 * 8192 + 2 * 4096 * 2560 * 100352,
        "granitemoe_swa": 8 * narrow_values(2048, 4096, 32, 32, 128, 128) + 24 * narrow_values(2048, 4096, 32, 32, 128, 128, 128)
        + 32 * experts(2048, 4096, 11008, 8, 2) + 2 * 2048 * 4096 * 32000,
        "jais2": text(3328, 0, 32, 26, 26, 128, 150272, 4096) + 32 * 4 * 4096 * 3328 * 26624,
        # A gate of each head.
        "laguna": text(2048, 0, 40, 48, 8, 128, 100352, 4096) + 40 * 2 * 4096 * 2048 * 48 + 6 * 4096 * 2048 * 8192
        + 39 * experts(4096, 2048, 512, 256, 9),
        # As many tokens as 288 experts share evenly, and a gate of each head.
        "step3p5": text(4096, 0, 45, 64, 8, 128, 128815, 4032) + 45 * 2 * 4032 * 4096 * 64 + 3 * 6 * 4032 * 4096 * 11264
        + 42 * experts(4032, 4096, 1280, 288, 9),
        # Two shared experts, which have no router.
        "aria_text": text(4096, 0, 32, 32, 32, 128, 32000, 2048) + 32 * (experts(2048, 4096, 4096, 8, 2) + 6 * 2048 * 4096 * 2 * 4096),
        # Values of a pair of heads.
        "diffllama": text(2048, 8192, 16, 32, 32, 64, 32000, 2048) + 16 * 2 * 32 * 64 * 2048 * 2049 // 2,
    }
    for family, operations in defaults.items():
        found = forward_defaults(family)
        assert found == operations, f"{family}: {found}, expected {operations}"
    check_unread()
    print(f"{len(expected) + len(defaults)} models")


if __name__ == "__main__":
    main()
