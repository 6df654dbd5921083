"""Closed forms of the parameters of encoders, encoder-decoders, images and diffusion.

From the descriptions of the models, not from ours: linear layers of given widths, norms,
tables. `count` gives all parameters of a configuration.
"""

import closed_forms


def linear(inputs, outputs, bias=True):
    return inputs * outputs + (outputs if bias else 0)


def norm(width):
    return 2 * width


def block(D, F, qkv_bias=True):
    """A layer of a transformer with biases and two layer norms."""
    return linear(D, 3 * D, qkv_bias) + linear(D, D) + linear(D, F) + linear(F, D) + 2 * norm(D)


def classes(c):
    return c.get("num_labels") or len(c.get("id2label") or {0: 0, 1: 1})


def kind_of(c):
    """What hangs on the trunk: what the name of the class ends with."""
    name = (c.get("architectures") or ["Model"])[0]
    return name[name.find("For" if "For" in name else "Model"):]


def of_tokens(D, c):
    """What says of each token what it is, or whether an answer begins or ends there."""
    return {"ForTokenClassification": linear(D, classes(c)), "ForQuestionAnswering": linear(D, 2)}.get(kind_of(c), 0)


def bert(c):
    D, V = c.get("hidden_size", 768), c.get("vocab_size", 30522)
    tables = V + c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)
    total = tables * D + norm(D)
    total += c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 3072))
    kind = (c.get("architectures") or ["BertModel"])[0]
    if kind not in ("BertForMaskedLM", "BertForCausalLM", "BertForTokenClassification", "BertForQuestionAnswering"):
        total += linear(D, D)
    if kind in ("BertForMaskedLM", "BertForCausalLM", "BertForPreTraining"):
        total += linear(D, D) + norm(D) + V
        total += 0 if c.get("tie_word_embeddings", True) else V * D
    if kind in ("BertForPreTraining", "BertForNextSentencePrediction"):
        total += linear(D, 2)
    if kind in ("BertForSequenceClassification", "BertForTokenClassification"):
        total += linear(D, classes(c))
    return total + (linear(D, 2) if kind == "BertForQuestionAnswering" else 0)


def distilbert(c):
    """BERT without types of tokens, whose pooler classes alone have."""
    c = {"hidden_size": 768, "num_hidden_layers": 6} | c
    kind = kind_of(c)
    pooler = 0 if kind in ("ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering") else 1
    return bert(c | {"type_vocab_size": 0, "architectures": ["Bert" + kind]}) - pooler * linear(c["hidden_size"], c["hidden_size"])


def mobilebert(c):
    """Layers of a width of their own, between matrices from and to the stream."""
    c = {"hidden_size": 512, "num_hidden_layers": 24, "intermediate_size": 512, "vocab_size": 30522, "embedding_size": 128, "intra_bottleneck_size": 128} | c
    D, F, V, E, N = (c[key] for key in ("hidden_size", "intermediate_size", "vocab_size", "embedding_size", "intra_bottleneck_size"))
    total = V * E + (c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)) * D + linear(3 * E, D) + norm(D)
    attention = 2 * (linear(D, N) + norm(N)) + linear(N, 2 * N) + linear(D, N) + linear(N, N) + norm(N)
    networks = c.get("num_feedforward_networks", 4) * (linear(N, F) + linear(F, N) + norm(N))
    total += c["num_hidden_layers"] * (attention + networks + linear(N, D) + norm(D))
    kind = kind_of(c)
    if kind in ("Model", "ForPreTraining", "ForNextSentencePrediction", "ForSequenceClassification") and c.get("classifier_activation", True):
        total += linear(D, D)
    if kind in ("ForMaskedLM", "ForPreTraining"):
        total += linear(D, D) + norm(D) + V + V * (D - E)
    ends = {"ForPreTraining": 2, "ForNextSentencePrediction": 2, "ForSequenceClassification": classes(c), "ForTokenClassification": classes(c), "ForQuestionAnswering": 2}
    return total + (linear(D, ends[kind]) if kind in ends else 0)


def visual_bert(c):
    """BERT with a pooler whatever reads it, and second tables of positions and types."""
    D, kind = c.get("hidden_size", 768), kind_of(c)
    tables = (c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)) * D + linear(c.get("visual_embedding_dim", 512), D)
    labels = linear(D, classes(c)) if kind in ("ForQuestionAnswering", "ForVisualReasoning") else 0
    return bert(c | {"architectures": ["Bert" + (kind if kind == "ForPreTraining" else "Model")]}) + tables + labels


def jina_embeddings(c):
    """XLM-R without a table of positions."""
    c = {"vocab_size": 250002, "hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "type_vocab_size": 1} | c | {"max_position_embeddings": 0}
    return roberta(c)


def resnet(c):
    """Convolutions without biases, each with two numbers of a normalization for each channel."""
    widths, depths, stem = c.get("hidden_sizes", [256, 512, 1024, 2048]), c.get("depths", [3, 4, 6, 3]), c.get("embedding_size", 64)

    def convolution(side, inputs, outputs):
        return side * side * inputs * outputs + norm(outputs)

    total, inputs = convolution(7, c.get("num_channels", 3), stem), stem
    for width, depth in zip(widths, depths):
        for _ in range(depth):
            if c.get("layer_type") == "basic":
                total += convolution(3, inputs, width) + convolution(3, width, width)
            else:
                total += convolution(1, inputs, width // 4) + convolution(3, width // 4, width // 4) + convolution(1, width // 4, width)
            total += convolution(1, inputs, width) if inputs != width else 0
            inputs = width
    return total + (0 if kind_of(c) == "Model" else linear(widths[-1], classes(c)))


def led(c):
    """BART with numbers of positions of each stack, and second projections of queries, keys and values of the encoder."""
    c = {"d_model": 1024, "vocab_size": 50265, "encoder_layers": 12, "decoder_layers": 12, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096} | c
    D, rows = c["d_model"], c.get("max_encoder_position_embeddings", 16384) + c.get("max_decoder_position_embeddings", 1024)
    return sequences(c, 0, True, False) + rows * D + c["encoder_layers"] * linear(D, 3 * D)


def speech_to_text(c):
    """Two convolutions over five frames, of each of which one half of the channels gates the other."""
    c = {"d_model": 256, "vocab_size": 10000, "encoder_layers": 12, "decoder_layers": 6, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048} | c
    D, C = c["d_model"], c.get("conv_channels", 1024)
    return sequences(c, 0, False, True) + linear(5 * c.get("input_feat_per_channel", 80), C) + linear(5 * C // 2, 2 * D)


def squeezebert(c):
    """BERT with a pooler whatever reads it, and matrices of groups of elements."""
    D, F = c.get("hidden_size", 768), c.get("intermediate_size", 3072)
    saved = 3 * (D * D - D * D // c.get("q_groups", 4)) + sum(D * F - D * F // c.get(key, 4) for key in ("intermediate_groups", "output_groups"))
    pooler = 0 if kind_of(c) in ("Model", "ForSequenceClassification") else linear(D, D)
    return bert(c | {"architectures": ["Bert" + kind_of(c)]}) + pooler - c.get("num_hidden_layers", 12) * saved


def longformer(c):
    """RoBERTa, and second projections of queries, keys and values."""
    D = c.get("hidden_size", 768)
    return xlm_roberta(c) + c.get("num_hidden_layers", 12) * linear(D, 3 * D)


def xmod(c):
    """RoBERTa, and of each language two matrices in each layer."""
    D, large = c.get("hidden_size", 768), c.get("pre_norm", False)
    narrow = D // c.get("adapter_reduction_factor", 2)
    layer = len(c.get("languages") or [0]) * (linear(D, narrow) + linear(narrow, D)) + (norm(D) if c.get("adapter_layer_norm") else 0)
    return xlm_roberta(c) + c.get("num_hidden_layers", 12) * layer + (norm(D) if large else 0)


def privacy_filter(c):
    c = {"hidden_size": 640, "intermediate_size": 640, "num_hidden_layers": 8, "num_attention_heads": 14, "num_key_value_heads": 2, "head_dim": 64,
         "vocab_size": 200064, "num_local_experts": 128} | {key: value for key, value in c.items() if value is not None}
    D, F, X, H, K, E = (c[key] for key in ("hidden_size", "intermediate_size", "num_local_experts", "num_attention_heads", "num_key_value_heads", "head_dim"))
    bias = c.get("attention_bias", True)
    layer = 2 * D + linear(D, (H + 2 * K) * E, bias) + linear(H * E, D, bias) + H + linear(D, X) + X * (linear(D, 2 * F) + linear(F, D))
    labels = classes(c) if "num_labels" in c or "id2label" in c else 33
    return c["vocab_size"] * D + c["num_hidden_layers"] * layer + D + (0 if kind_of(c) == "Model" else linear(D, labels))


def imagegpt(c):
    """GPT-2 with norms without a bias, and a row less in the head than in the table."""
    D, L = c.get("n_embd", 512), c.get("n_layer", 24)
    F, V = c.get("n_inner") or 4 * D, c.get("vocab_size", 513)
    layer = linear(D, 3 * D) + linear(D, D) + linear(D, F) + linear(F, D) + 2 * D
    return (V + c.get("n_positions", 1024)) * D + L * layer + D + (V - 1) * D


def chinese_clip(c):
    t, v, P = c.get("text_config") or {}, c.get("vision_config") or {}, c.get("projection_dim", 512)
    text = bert(t) - linear(t.get("hidden_size", 768), t.get("hidden_size", 768))
    return text + clip_vision(v) + (t.get("hidden_size", 768) + v.get("hidden_size", 768)) * P + 1


def altclip(c):
    """The encoder of texts has rows for no token among its positions, and a norm and a matrix behind it."""
    t = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "vocab_size": 250002, "max_position_embeddings": 514, "type_vocab_size": 1,
         "project_dim": 768} | (c.get("text_config") or {})
    D, T, P = t["hidden_size"], t["project_dim"], c.get("projection_dim", 768)
    return chinese_clip(c | {"text_config": t, "projection_dim": P}) + norm(D) + linear(D, T) + (T - D) * P


def roberta(c):
    """BERT with other defaults and names; a classification has a layer in place of the pooler."""
    c = {"vocab_size": 50265} | c
    return bert(c | {"architectures": ["Bert" + kind_of(c)]})


def xlm_roberta(c):
    """RoBERTa, which also CamemBERT is, with BERT's number of words where none is said."""
    return roberta({"vocab_size": 30522} | c)


def patches(c):
    side = c.get("image_size", 224) // c.get("patch_size", 16)
    return side * side, c.get("num_channels", 3) * c.get("patch_size", 16) ** 2


def vit(c):
    D = c.get("hidden_size", 768)
    number, width = patches(c)
    total = linear(width, D) + D + (number + 1) * D + norm(D)
    layer = block(D, c.get("intermediate_size", 3072), c.get("qkv_bias", True))
    total += c.get("num_hidden_layers", 12) * layer
    if (c.get("architectures") or [""])[0] == "ViTForImageClassification":
        return total + linear(D, classes(c))
    return total + linear(D, D)


def dinov2(c):
    """A token for hidden patches, registers without positions, a scale of each part's elements."""
    has_registers = c["model_type"] == "dinov2_with_registers"
    c = {"patch_size": 16 if has_registers else 14} | c
    D, registers = c.get("hidden_size", 768), (c.get("num_register_tokens") or 4) if has_registers else 0
    number, width = patches(c)
    F = (c.get("mlp_ratio") or 4) * D
    layer = block(D, F, c.get("qkv_bias", True)) + 2 * D
    if c.get("use_swiglu_ffn", False):
        narrow = (2 * F // 3 + 7) // 8 * 8
        layer += linear(D, 2 * narrow) + linear(narrow, D) - linear(D, F) - linear(F, D)
    total = linear(width, D) + D + (number + 1) * D + registers * D + norm(D)
    total += c.get("num_hidden_layers", 12) * layer
    if "ForImageClassification" in (c.get("architectures") or [""])[0]:
        return total + linear(2 * D, classes(c))
    return total + (D if c.get("use_mask_token", True) else 0)


def dinov3(c):
    """No table of positions; keys have biases of their own."""
    c = {"hidden_size": 384, "intermediate_size": 1536} | c
    D, F, (_, width) = c["hidden_size"], c["intermediate_size"], patches(c)
    bias, key_bias, mlp_bias = c.get("query_bias", True), c.get("key_bias", False), c.get("mlp_bias", True)
    layer = linear(D, 2 * D, bias) + linear(D, D, key_bias) + linear(D, D, c.get("proj_bias", True)) + 2 * norm(D) + 2 * D
    layer += linear(D, 2 * F if c.get("use_gated_mlp", False) else F, mlp_bias) + linear(F, D, mlp_bias)
    return linear(width, D) + (2 + c["num_register_tokens"]) * D + norm(D) + c.get("num_hidden_layers", 12) * layer


def narrow_bert(c):
    """Tables narrower than the layers."""
    D = c["hidden_size"]
    E = c.get("embedding_size") or 128
    V = c["vocab_size"]
    total = (V + c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)) * E + norm(E)
    total += linear(E, D) if E != D or c["model_type"] == "albert" else 0
    masked = linear(D, E) + norm(E) + V + (0 if c.get("tie_word_embeddings", True) else V * E)
    return total, masked


def albert(c):
    """One layer for each group, whatever the number of layers."""
    c = {"vocab_size": 30000, "embedding_size": 128, "hidden_size": 4096, "intermediate_size": 16384} | c
    D, kind = c["hidden_size"], (c.get("architectures") or ["AlbertModel"])[0]
    total, masked = narrow_bert(c)
    total += c.get("num_hidden_groups", 1) * c.get("inner_group_num", 1) * block(D, c["intermediate_size"])
    total += masked if kind in ("AlbertForMaskedLM", "AlbertForPreTraining") else 0
    total += linear(D, D) if kind not in ("AlbertForMaskedLM", "AlbertForTokenClassification", "AlbertForQuestionAnswering") else 0
    total += of_tokens(D, c)
    total += linear(D, 2) if kind == "AlbertForPreTraining" else 0
    return total + (linear(D, classes(c)) if kind == "AlbertForSequenceClassification" else 0)


def electra(c):
    D, kind = c.get("hidden_size", 256), (c.get("architectures") or ["ElectraModel"])[0]
    given = {key: value for key, value in c.items() if value is not None}
    total, masked = narrow_bert({"vocab_size": 30522, "embedding_size": 128, "hidden_size": D} | given)
    total += c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 1024))
    total += masked if kind == "ElectraForMaskedLM" else 0
    ends = {"ElectraForPreTraining": linear(D, D) + linear(D, 1), "ElectraForSequenceClassification": linear(D, D) + linear(D, classes(c)),
            "ElectraForTokenClassification": linear(D, classes(c)), "ElectraForQuestionAnswering": linear(D, 2)}
    return total + ends.get(kind, 0)


def t5(c):
    if (c.get("architectures") or [""])[0] == "ChronosBoltModelForForecasting":
        return chronos_bolt(c)
    D, E = c.get("d_model", 512), c.get("d_kv", 64) * c.get("num_heads", 8)
    F, V = c.get("d_ff", 2048), c.get("vocab_size", 32128)
    matrices = 3 if c.get("feed_forward_proj", "relu").startswith("gated-") else 2
    attention, network = 4 * D * E + D, matrices * D * F + D
    encoder = c.get("num_layers", 6)
    decoder = c.get("num_decoder_layers") or encoder
    bias = c.get("relative_attention_num_buckets", 32) * c.get("num_heads", 8)
    total = V * D + encoder * (attention + network) + D + bias
    if (c.get("architectures") or [""])[0] in ("T5EncoderModel", "T5ForTokenClassification"):
        return total + of_tokens(D, c)
    total += decoder * (2 * attention + network) + D + bias
    if kind_of(c) == "ForSequenceClassification":
        return total + linear(D, D) + linear(D, classes(c))
    if (c.get("architectures") or [""])[0] in ("T5Model", "T5ForQuestionAnswering"):
        return total + of_tokens(D, c)
    return total + (0 if c.get("tie_word_embeddings", True) else V * D)


def mt5(c):
    """T5 with other defaults."""
    c = {"d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 250112,
         "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False} | c
    kind = (c.get("architectures") or ["MT5ForConditionalGeneration"])[0]
    return t5(c | {"architectures": [kind[1:]]})


def sequences(c, rows, embedding_norm, final_norm):
    """Rows of positions, and norms behind the tables and behind the layers, of an encoder and a decoder."""
    D, V = c["d_model"], c["vocab_size"]
    attention = 4 * linear(D, D) + norm(D)
    total = V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    total += 2 * (rows * D + (norm(D) if embedding_norm else 0) + (norm(D) if final_norm else 0))
    for stack, parts in (("encoder", 1), ("decoder", 2)):
        F = c[f"{stack}_ffn_dim"]
        total += c[f"{stack}_layers"] * (parts * attention + linear(D, F) + linear(F, D) + norm(D))
    if kind_of(c) == "ForSequenceClassification":
        total += linear(D, D) + linear(D, classes(c)) - (0 if c.get("tie_word_embeddings", True) else V * D)
    return total


def bart(c):
    """Positions of two rows more for each stack; mBART has norms behind them; M2M has no tables."""
    kind = c["model_type"]
    c = {"d_model": 1024, "vocab_size": 128112 if kind == "m2m_100" else 50265, "encoder_layers": 12, "decoder_layers": 12,
         "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096} | c
    has_tables = kind != "m2m_100"
    rows = c.get("max_position_embeddings", 1024) + 2 if has_tables else 0
    return sequences(c, rows, has_tables, kind not in ("bart", "plbart"))


def xclip(c):
    """CLIP with messages of frames in each layer of the tower, layers of frames, and layers that say texts again."""
    t = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "vocab_size": 49408, "max_position_embeddings": 77} | (c.get("text_config") or {})
    v = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_channels": 3, "image_size": 224, "patch_size": 32, "num_frames": 8, "mit_intermediate_size": 2048,
         "mit_num_hidden_layers": 1} | (c.get("vision_config") or {})
    T, D, P = t["hidden_size"], v["hidden_size"], c.get("projection_dim", 512)
    patches = (v["image_size"] // v["patch_size"]) ** 2
    texts = (t["vocab_size"] + t["max_position_embeddings"]) * T + t["num_hidden_layers"] * block(T, t["intermediate_size"]) + norm(T) + T * P
    frames = v["num_channels"] * v["patch_size"] ** 2 * D + (patches + 2) * D + 2 * norm(D) + D * P
    frames += v["num_hidden_layers"] * (block(D, v["intermediate_size"]) + 5 * linear(D, D) + norm(D))
    steps = v["num_frames"] * P + v["mit_num_hidden_layers"] * block(P, v["mit_intermediate_size"])
    prompts = norm(D) + D * P + norm(P) + P + c.get("prompt_layers", 2) * (3 * P * P + linear(P, P) + 2 * norm(P) + linear(P, 4 * P) + linear(4 * P, P))
    return texts + frames + steps + prompts + 1


def funnel(c):
    """XLNet's layers with biases of keys and values; those that are repeated have parameters once; a decoder of two layers."""
    c = {"d_model": 768, "n_head": 12, "d_head": 64, "d_inner": 3072, "vocab_size": 30522, "block_sizes": [4, 4, 4], "num_decoder_layers": 2} | c
    D, W, F, V, kind = c["d_model"], c["n_head"] * c["d_head"], c["d_inner"], c["vocab_size"], kind_of(c)
    name = (c.get("architectures") or ["FunnelModel"])[0]
    layer = 2 * D * W + 2 * linear(D, W) + 5 * W + linear(W, D) + linear(D, F) + linear(F, D) + 2 * norm(D)
    layers = sum(c["block_sizes"]) + (0 if name in ("FunnelBaseModel", "FunnelForSequenceClassification") else c["num_decoder_layers"])
    head = {"ForMaskedLM": V + (0 if c.get("tie_word_embeddings", True) else V * D), "ForSequenceClassification": linear(D, D) + linear(D, classes(c))}.get(kind, of_tokens(D, c))
    return V * D + norm(D) + layers * layer + head


def pegasus_x(c):
    """PEGASUS without biases of attention; an encoder's layer has a norm more, of tokens that see all, of which there is a table."""
    c = {"model_type": "m2m_100", "d_model": 1024, "vocab_size": 96103, "encoder_layers": 16, "decoder_layers": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096} | c
    D, layers = c["d_model"], c["encoder_layers"]
    return sequences(c, 0, False, True) + layers * norm(D) + c.get("num_global_tokens", 32) * D - 4 * D * (layers + 2 * c["decoder_layers"])


def speech_encoder_decoder(c):
    """wav2vec 2.0, three convolutions with gates, a matrix where widths differ, and the decoder of mBART."""
    sound, text = c["encoder"], {"d_model": 1024, "decoder_layers": 12, "decoder_ffn_dim": 4096, "vocab_size": 50265, "max_position_embeddings": 1024} | c["decoder"]
    C, D, F = sound.get("hidden_size", 768), text["d_model"], text["decoder_ffn_dim"]
    total = wav2vec2({"architectures": ["Wav2Vec2Model"]} | sound) + (3 * linear(3 * C, 2 * C) if sound.get("add_adapter") else 0)
    total += (linear(C, D) if C != D else 0) + text["vocab_size"] * D * (1 if text.get("tie_word_embeddings", True) else 2)
    return total + (text["max_position_embeddings"] + 2) * D + 2 * norm(D) + text["decoder_layers"] * (8 * linear(D, D) + linear(D, F) + linear(F, D) + 3 * norm(D))


def whisper(c):
    D, M = c.get("d_model", 384), c.get("num_mel_bins", 80)
    attention = 4 * D * D + 3 * D + norm(D)
    if kind_of(c) == "ForAudioClassification":
        narrow = c.get("classifier_proj_size", 256)
        return whisper_encoder({"num_mel_bins": M} | c, D, c.get("encoder_ffn_dim", 1536), c.get("encoder_layers", 4)) + linear(D, narrow) + linear(narrow, classes(c))

    def network(key):
        F = c.get(key, 1536)
        return linear(D, F) + linear(F, D) + norm(D)

    total = linear(3 * M, D) + linear(3 * D, D)
    total += (c.get("max_source_positions", 1500) + c.get("max_target_positions", 448)) * D
    total += c.get("encoder_layers", 4) * (attention + network("encoder_ffn_dim"))
    total += c.get("decoder_layers", 4) * (2 * attention + network("decoder_ffn_dim"))
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    return total + 2 * norm(D) + tables * c.get("vocab_size", 51865) * D


def modernbert(c):
    D, F, V = c.get("hidden_size", 768), c.get("intermediate_size", 1152), c.get("vocab_size", 50368)
    L = c.get("num_hidden_layers", 22)
    width = 2 * D if c.get("norm_bias", False) else D
    bias, mlp_bias = c.get("attention_bias", False), c.get("mlp_bias", False)
    layer = linear(D, 3 * D, bias) + linear(D, D, bias) + width
    layer += linear(D, 2 * F, mlp_bias) + linear(F, D, mlp_bias) + width
    total = V * D + width + L * layer - width + width  # the first layer has one norm
    kind = (c.get("architectures") or ["ModernBertModel"])[0]
    if kind != "ModernBertModel":
        total += linear(D, D, c.get("classifier_bias", False)) + width
    if kind == "ModernBertForMaskedLM":
        total += V if c.get("decoder_bias", True) else 0
        total += 0 if c.get("tie_word_embeddings", True) else V * D
    if kind in ("ModernBertForSequenceClassification", "ModernBertForTokenClassification"):
        total += linear(D, classes(c))
    return total + (linear(D, 2) if kind == "ModernBertForQuestionAnswering" else 0)


def clip(c):
    t, v, P = c.get("text_config") or {}, c.get("vision_config") or {}, c.get("projection_dim", 512)
    D = t.get("hidden_size", 512)
    if kind_of(c) == "ForImageClassification":
        return clip_vision(v) + linear(v.get("hidden_size", 768), classes(c))
    total = (t.get("vocab_size", 49408) + t.get("max_position_embeddings", 77)) * D + norm(D)
    total += t.get("num_hidden_layers", 12) * block(D, t.get("intermediate_size", 2048))
    return total + clip_vision(v) + D * P + v.get("hidden_size", 768) * P + 1


def width(c, heads, size):
    return c.get("num_attention_heads", heads) * c.get("attention_head_dim", size)


def features(inputs, D):
    return linear(inputs, D) + linear(D, D)


def dit(c):
    D, p = width(c, 16, 72), c.get("patch_size", 2) ** 2
    inputs = c.get("in_channels", 4)
    total = linear(inputs * p, D) + features(256, D) + (c.get("num_embeds_ada_norm", 1000) + 1) * D
    layer = linear(D, 3 * D, c.get("attention_bias", True)) + linear(D, D)
    layer += linear(D, 4 * D) + linear(4 * D, D) + linear(D, 6 * D)
    outputs = c.get("out_channels") or inputs
    return total + c.get("num_layers", 28) * layer + linear(D, 2 * D) + linear(D, outputs * p)


def ends(c, D, inputs, p, pooled):
    """Patches, text, time and the output of a model for an image and a text."""
    total = linear(inputs * p, D) + linear(c.get("joint_attention_dim", 4096), D)
    total += features(256, D) + features(c.get("pooled_projection_dim", pooled), D)
    return total + linear(D, 2 * D) + linear(D, (c.get("out_channels") or inputs) * p)


def sd3(c):
    D, E = width(c, 18, 64), c.get("attention_head_dim", 64)
    total = ends(c, D, c.get("in_channels", 16), c.get("patch_size", 2) ** 2, 2048)
    head = 2 * E if c.get("qk_norm") else 0
    network, attention = linear(D, 4 * D) + linear(4 * D, D), linear(D, 3 * D) + linear(D, D)
    stream = attention + head + network + linear(D, 6 * D)
    last = linear(D, 3 * D) + head + linear(D, 2 * D)
    L = c.get("num_layers", 18)
    own = len(c.get("dual_attention_layers") or []) * (attention + head + linear(D, 3 * D))
    return total + (2 * L - 1) * stream + last + own


def flux(c):
    D, E = width(c, 24, 128), c.get("attention_head_dim", 128)
    total = ends(c, D, c.get("in_channels", 64), 1, 768)
    total += features(256, D) if c.get("guidance_embeds") else 0
    double = linear(D, 3 * D) + linear(D, D) + 2 * E + linear(D, 4 * D) + linear(4 * D, D)
    single = linear(D, 3 * D) + 2 * E + linear(D, 4 * D) + linear(5 * D, D) + linear(D, 3 * D)
    total += 2 * c.get("num_layers", 19) * (double + linear(D, 6 * D))
    return total + c.get("num_single_layers", 38) * single


def data2vec_text(c):
    """RoBERTa with BERT's number of words where none is said."""
    return roberta({"vocab_size": 30522} | c | {"architectures": ["Roberta" + kind_of(c)]})


def megatron_bert(c):
    """As many norms as BERT: one behind all layers in place of one behind the embedding."""
    c = {"vocab_size": 29056, "hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096} | c
    return bert(c | {"architectures": ["Bert" + kind_of(c)]})


def xlm_roberta_xl(c):
    c = {"vocab_size": 250880, "hidden_size": 2560, "num_hidden_layers": 36, "intermediate_size": 10240,
         "max_position_embeddings": 514, "type_vocab_size": 1} | c
    return bert(c | {"architectures": ["Bert" + kind_of(c)]})


def esm(c):
    """BERT whose last norm is there always, and that of the embedding if asked for; tables of what it has."""
    D, is_rotary = c.get("hidden_size", 768), c.get("position_embedding_type", "absolute") == "rotary"
    rows = 0 if is_rotary else c.get("max_position_embeddings", 1026)
    total = bert(c | {"architectures": ["Bert" + kind_of(c)], "max_position_embeddings": rows, "type_vocab_size": 0})
    return total + (norm(D) if c.get("emb_layer_norm_before") else 0)


def ernie(c):
    tasks = c.get("task_type_vocab_size", 3) * c.get("hidden_size", 768) if c.get("use_task_id", False) else 0
    return bert(c | {"architectures": ["Bert" + kind_of(c)]}) + tasks


def mpnet(c):
    """A table of relative positions in place of one of types."""
    c = {"vocab_size": 30527, "type_vocab_size": 0} | c
    table = c.get("relative_attention_num_buckets", 32) * c.get("num_attention_heads", 12)
    return bert(c | {"architectures": ["Bert" + kind_of(c)]}) + table


def nomic_bert(c):
    """No pooler; gated networks are as wide as the next multiple of 256, but for the class of the library, whose rotary positions
    have parameters, and which has no biases."""
    if c.get("rope_parameters"):
        D, H, V = c["hidden_size"], c["num_attention_heads"], c["vocab_size"]
        layer = 4 * D * H * (c.get("head_dim") or D // H) + 3 * D * c["intermediate_size"] + 2 * norm(D)
        head = D * D + norm(D) + (0 if c.get("tie_word_embeddings", True) else V * D) if kind_of(c) == "ForPreTraining" else 0
        return (V + c.get("type_vocab_size", 2)) * D + norm(D) + c["num_hidden_layers"] * layer + head
    D, L = c.get("n_embd", 768), c.get("n_layer", 12)
    padding = c.get("pad_vocab_size_multiple", 1)
    V = -(-c.get("vocab_size", 50257) // padding) * padding
    bias, mlp_bias = c.get("qkv_proj_bias", True), c.get("mlp_fc1_bias", True)
    F = c.get("n_inner") or 4 * D
    if c.get("activation_function") in ("swiglu", "geglu"):
        F = -(-F // 256) * 256
        network = linear(D, 2 * F, mlp_bias) + linear(F, D, mlp_bias)
    else:
        network = linear(D, F, mlp_bias) + linear(F, D, mlp_bias)
    positions = 0 if c.get("rotary_emb_fraction", 0) else c.get("n_positions", 1024)
    total = (V + positions + c.get("type_vocab_size", 2)) * D + norm(D)
    total += L * (linear(D, 3 * D, bias) + linear(D, D, bias) + network + 2 * norm(D))
    if kind_of(c) == "ForPreTraining":
        total += linear(D, D, mlp_bias) + norm(D) + (V if mlp_bias else 0)
        total += 0 if c.get("tie_word_embeddings", True) else V * D
    return total


def gte(c):
    """Gated, with a bias of the last matrix alone."""
    D, F, V = c.get("hidden_size", 768), c.get("intermediate_size", 3072), c.get("vocab_size", 30528)
    layer = linear(D, 3 * D) + linear(D, D) + linear(D, 2 * F, False) + linear(F, D) + 2 * norm(D)
    total = (V + c.get("type_vocab_size", 1)) * D + norm(D) + c.get("num_hidden_layers", 12) * layer
    if kind_of(c) == "ForMaskedLM":
        total += linear(D, D) + norm(D) + V + (0 if c.get("tie_word_embeddings", True) else V * D)
    return total + of_tokens(D, c) + {"ForSequenceClassification": linear(D, D) + linear(D, classes(c)), "ForMultipleChoice": linear(D, D) + linear(D, 1)}.get(kind_of(c), 0)


def eurobert(c):
    D, H, V = c.get("hidden_size", 768), c.get("num_attention_heads", 12), c.get("vocab_size", 128256)
    F = c.get("intermediate_size", 3072)
    K, E = c.get("num_key_value_heads") or H, c.get("head_dim") or D // H
    bias, mlp_bias = c.get("attention_bias", False), c.get("mlp_bias", False)
    layer = linear(D, (H + 2 * K) * E, bias) + linear(H * E, D, bias) + 2 * D
    layer += linear(D, 2 * F, mlp_bias) + linear(F, D, mlp_bias)
    total = V * D + c.get("num_hidden_layers", 12) * layer + D
    if kind_of(c) == "ForMaskedLM":
        total += (0 if c.get("tie_word_embeddings", False) else V * D) + (V if mlp_bias else 0)
    return total


def modernbert_decoder(c):
    """ModernBERT with its head of masked tokens."""
    return modernbert(c | {"architectures": ["ModernBertForMaskedLM"]})


def umt5(c):
    """mT5 with a table of relative positions in each layer, not in each stack."""
    c = {"d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 250112, "feed_forward_proj": "gated-gelu"} | c
    kind, layers = (c.get("architectures") or ["UMT5ForConditionalGeneration"])[0], c["num_layers"]
    if kind in ("UMT5EncoderModel", "UMT5ForTokenClassification"):
        more = layers - 1
    else:
        more = layers + (c.get("num_decoder_layers") or layers) - 2
    return t5(c | {"architectures": [kind[2:]]}) + more * c.get("relative_attention_num_buckets", 32) * c["num_heads"]


def marian(c):
    return sequences(c, 0, False, False)


def pegasus(c):
    return sequences(c, 0, False, True)


def blenderbot(c):
    return sequences(c, c.get("max_position_embeddings", 128), False, True)


def blenderbot_small(c):
    return sequences(c, c.get("max_position_embeddings", 512), True, False)


def image_ends(c, tokens, patch_size=16):
    """Patches with a bias, so many tokens more, and a position of each; how many patches."""
    D = c.get("hidden_size", 768)
    number, width = patches({"patch_size": patch_size} | c)
    return linear(width, D) + tokens * D + (number + tokens) * D, number


def layers_of(c, qkv_bias=True):
    """Of the sizes that ViT has."""
    return c.get("num_hidden_layers", 12) * block(c.get("hidden_size", 768), c.get("intermediate_size", 3072), qkv_bias)


def deit(c):
    """A second token; a matrix of each of both where there is a teacher."""
    D, kind = c.get("hidden_size", 768), kind_of(c)
    total = image_ends(c, 2)[0] + layers_of(c, c.get("qkv_bias", True)) + norm(D)
    if kind == "Model":
        return total + linear(D, D)
    return total + (2 if kind.endswith("Teacher") else 1) * linear(D, classes(c))


def vit_msn(c):
    D = c.get("hidden_size", 768)
    total = image_ends(c, 1)[0] + layers_of(c, c.get("qkv_bias", True)) + norm(D)
    return total + (0 if kind_of(c) == "Model" else linear(D, classes(c)))


def ijepa(c):
    D = c.get("hidden_size", 768)
    total = image_ends(c, 0)[0] + layers_of(c, c.get("qkv_bias", True)) + norm(D)
    return total + (0 if kind_of(c) == "Model" else linear(D, classes(c)))


def beit(c):
    """No bias of keys; a table of relative positions, of each layer or of all; a norm in the pooler."""
    D, L, kind = c.get("hidden_size", 768), c.get("num_hidden_layers", 12), kind_of(c)
    side = c.get("image_size", 224) // c.get("patch_size", 16)
    table = ((2 * side - 1) ** 2 + 3) * c.get("num_attention_heads", 12)
    total, number = image_ends(c, 1)
    total -= 0 if c.get("use_absolute_position_embeddings") else (number + 1) * D
    total += layers_of(c) - L * D + (2 * L * D if c.get("layer_scale_init_value", 0.1) else 0)
    total += L * table if c.get("use_relative_position_bias") else 0
    total += table if c.get("use_shared_relative_position_bias") else 0
    total += D if c.get("use_mask_token") and kind != "ForImageClassification" else 0
    is_mean = c.get("use_mean_pooling", True)
    if not is_mean or kind == "ForImageClassification" or (kind == "Model" and c["model_type"] == "beit"):
        total += norm(D)
    if kind == "ForMaskedImageModeling":
        return total + norm(D) + linear(D, c.get("vocab_size", 8192))
    return total + (linear(D, classes(c)) if kind == "ForImageClassification" else 0)


def moonshine(c):
    """Three convolutions, a norm behind the first; norms without biases, and no bias of attention's output."""
    c = {"hidden_size": 288, "intermediate_size": 1152, "vocab_size": 32768} | c
    W, I = c["hidden_size"], c["intermediate_size"]
    attention = linear(W, 3 * W, c.get("attention_bias", False)) + W * W
    total = 127 * W + norm(W) + linear(7 * W, 2 * W) + linear(3 * 2 * W, W)
    total += first_of(c, 6, "encoder_num_hidden_layers", "num_hidden_layers") * (attention + linear(W, I) + linear(I, W) + 2 * W) + W
    total += c.get("decoder_num_hidden_layers", 6) * (2 * attention + linear(W, 2 * I) + linear(I, W) + 3 * W) + W
    return total + (1 if c.get("tie_word_embeddings", True) else 2) * c["vocab_size"] * W


def musicgen(c):
    """A table of each book, with a code more, and a head of each; nothing but norms has biases."""
    W, V = c.get("hidden_size", 1024), c.get("vocab_size", 2048)
    layer = 8 * W * W + 2 * W * first_of(c, 4096, "ffn_dim", "intermediate_size") + 3 * norm(W)
    return first_of(c, 4, "num_codebooks") * (2 * V + 1) * W + c.get("num_hidden_layers", 24) * layer + norm(W)


def first_of(c, default, *keys):
    return next((c[key] for key in keys if c.get(key) is not None), default)


def decoder_block(c, width, layers, size):
    """The layers of an autoencoder's decoder, and the norm behind them."""
    D = c.get("decoder_hidden_size", width)
    layer = block(D, c.get("decoder_intermediate_size", size), c.get("qkv_bias", True))
    return D, c.get("decoder_num_hidden_layers", layers) * layer + norm(D)


def vit_mae(c):
    """Positions that nothing trains, of the encoder and of the decoder, which both have a class token."""
    W, kind = c.get("hidden_size", 768), kind_of(c)
    total, number = image_ends(c, 1)
    total += layers_of(c, c.get("qkv_bias", True)) + norm(W)
    if kind == "Model" and c.get("architectures"):
        return total
    D, decoder = decoder_block(c, 512, 8, 2048)
    return total + linear(W, D) + D + (number + 1) * D + decoder + linear(D, patches(c)[1])


def videomae(c):
    """No learned positions and no bias of keys; a norm before the classes where they read a mean."""
    W, kind, is_mean, L = c.get("hidden_size", 768), kind_of(c), c.get("use_mean_pooling", True), c.get("num_hidden_layers", 12)
    bias = c.get("qkv_bias", True)
    pixels = patches(c)[1] * c.get("tubelet_size", 2)
    total = linear(pixels, W) + layers_of(c, bias) - (L * W if bias else 0) + (0 if is_mean else norm(W))
    if kind == "ForVideoClassification":
        return total + (norm(W) if is_mean else 0) + linear(W, classes(c))
    if kind == "Model":
        return total
    D, decoder = decoder_block(c, 384, 4, 1536)
    return total + W * D + D + decoder - (c.get("decoder_num_hidden_layers", 4) * D if bias else 0) + linear(D, pixels)


def vivit(c):
    W, (frames, rows, columns) = c.get("hidden_size", 768), c.get("tubelet_size", [2, 16, 16])
    size = c.get("image_size", 224)
    tokens = c.get("num_frames", 32) // frames * (size // rows) * (size // columns) + 1
    total = linear(c.get("num_channels", 3) * frames * rows * columns, W) + W + tokens * W + layers_of(c, c.get("qkv_bias", True)) + norm(W)
    return total + (linear(W, W) if kind_of(c) == "Model" else linear(W, classes(c)))


def vilt(c):
    """BERT's tables and ViT's, a row for each of both, a pooler, and a head twice as wide for answers."""
    c = {"image_size": 384, "patch_size": 32} | c
    D, words = c.get("hidden_size", 768), c.get("vocab_size", 30522) + c.get("max_position_embeddings", 40) + c.get("type_vocab_size", 2)
    total = (words + first_of(c, 2, "modality_type_vocab_size")) * D + image_ends(c, 1)[0] + layers_of(c, c.get("qkv_bias", True)) + 2 * norm(D)
    total += linear(D, D)
    return total if kind_of(c) == "Model" else total + linear(D, 2 * D) + norm(2 * D) + linear(2 * D, classes(c))


def trocr(c):
    """ViT with its pooler; a decoder with norms behind each part, whose keys and values of the image may have its width."""
    c = {"encoder": {}} | c
    t, D = c["decoder"], c["decoder"].get("d_model", 1024)
    if c["encoder"].get("model_type") == "donut-swin":
        layer = block(D, t.get("decoder_ffn_dim", 4096)) + 4 * linear(D, D) + norm(D)
        tables = t.get("vocab_size", 50265) * (1 if t.get("tie_word_embeddings", True) else 2) + t.get("max_position_embeddings", 1024) + 2
        return swin(c["encoder"]) + tables * D + 2 * norm(D) + t.get("decoder_layers", 12) * layer
    seen = deit if c["encoder"].get("model_type") == "deit" else vit
    total, W = seen(c["encoder"] | {"architectures": ["ViTModel"]}), c["encoder"].get("hidden_size", 768)
    if t["model_type"] == "gpt2":
        D = t.get("n_embd", 768)
        read = t.get("cross_attention_hidden_size") or D
        layer = block(D, t.get("n_inner") or 4 * D) + 2 * linear(D, D) + 2 * linear(read, D) + norm(D)
        tables = t.get("vocab_size", 50257) * (1 if t.get("tie_word_embeddings", True) else 2) + t.get("n_positions", 1024)
        return total + (linear(W, D) if W != read else 0) + tables * D + norm(D) + t.get("n_layer", 12) * layer
    read = t.get("cross_attention_hidden_size") or D
    total += linear(W, D) if W != D and not t.get("cross_attention_hidden_size") else 0
    layer = block(D, t.get("decoder_ffn_dim", 4096)) + 2 * linear(D, D) + 2 * linear(read, D) + norm(D)
    tables = t.get("vocab_size", 50265) * (1 if t.get("tie_word_embeddings", True) else 2) + t.get("max_position_embeddings", 512) + 2
    return total + tables * D + (norm(D) if t.get("layernorm_embedding", True) else 0) + t.get("decoder_layers", 12) * layer


def yolos(c):
    """Tokens of objects with positions, also behind all layers but the last; a network of three matrices for classes and for boxes."""
    c = {"image_size": [512, 864], "patch_size": 16} | c
    D, L, objects = c.get("hidden_size", 768), c.get("num_hidden_layers", 12), c.get("num_detection_tokens") or 100
    rows, columns = (size // c["patch_size"] for size in c["image_size"])
    tokens = rows * columns + 1 + objects
    total = linear(c.get("num_channels", 3) * c["patch_size"] ** 2, D) + (1 + objects) * D + tokens * D
    total += layers_of(c, c.get("qkv_bias", True)) + norm(D)
    total += (L - 1) * tokens * D if c.get("use_mid_position_embeddings", True) else 0
    if kind_of(c) == "Model":
        return total + linear(D, D)
    return total + 4 * linear(D, D) + linear(D, classes(c) + 1) + linear(D, 4)


def clip_text(c):
    c = {"hidden_size": 512, "intermediate_size": 2048} | c
    D = c["hidden_size"]
    total = (c.get("vocab_size", 49408) + c.get("max_position_embeddings", 77)) * D + layers_of(c) + norm(D)
    return total + (D * c.get("projection_dim", 512) if kind_of(c) == "ModelWithProjection" else 0)


def siglip_text(c):
    D = c.get("hidden_size", 768)
    total = (c.get("vocab_size", 32000) + c.get("max_position_embeddings", 64)) * D + layers_of(c) + norm(D)
    return total + linear(D, c.get("projection_size") or D)


def clip_vision(c):
    """No bias of patches, and norms of all tokens before the layers, of one behind them."""
    D = c.get("hidden_size", 768)
    total = image_ends(c, 1, 32)[0] - D + layers_of(c) + 2 * norm(D)
    return total + (D * c.get("projection_dim", 512) if kind_of(c) == "ModelWithProjection" else 0)


def siglip_tower(c, has_head, ends=None):
    D, F = c.get("hidden_size", 768), c.get("intermediate_size", 3072)
    total = (ends or image_ends(c, 0)[0]) + layers_of(c) + norm(D)
    return total + (D + block(D, F) - norm(D) if has_head else 0)


def siglip_vision(c):
    return siglip_tower(c, c.get("vision_use_head", True))


def siglip2_vision(c):
    """Any number of patches, and a table of so many positions."""
    D, (_, width) = c.get("hidden_size", 768), patches(c)
    ends = linear(width, D) + c.get("num_patches", 256) * D
    return siglip_tower(c, c.get("vision_use_head", True), ends)


def siglip(c):
    """A projection of texts, two towers, how steep a comparison is and where it is even."""
    t, v = c.get("text_config") or {}, c.get("vision_config") or {}
    D, tower = t.get("hidden_size", 768), siglip_vision(v) if c["model_type"] == "siglip" else siglip2_vision(v)
    if kind_of(c) == "ForImageClassification":
        return tower + linear(v.get("hidden_size", 768), classes(c))
    return siglip_text(t) + tower + 2


def spectrogram_transformer(c):
    D, P = c.get("hidden_size", 768), c.get("patch_size", 16)
    rows = (c.get("num_mel_bins", 128) - P) // c.get("frequency_stride", 10) + 1
    columns = (c.get("max_length", 1024) - P) // c.get("time_stride", 10) + 1
    total = linear(P * P, D) + 2 * D + (rows * columns + 2) * D + layers_of(c, c.get("qkv_bias", True)) + norm(D)
    return total + (0 if kind_of(c) == "Model" else norm(D) + linear(D, classes(c)))


def decoder(t, qkv_bias=False, o_bias=False, qk_norm=False, tied=False, ffn=None):
    """RMSNorm, grouped heads and a gated network in each layer, or `ffn` of a layer's number."""
    D, E = t["hidden_size"], t.get("head_dim") or t["hidden_size"] // t["num_attention_heads"]
    H, K = t["num_attention_heads"], t["num_key_value_heads"]
    layer = 2 * D + linear(D, (H + 2 * K) * E, qkv_bias) + linear(H * E, D, o_bias) + (2 * E if qk_norm else 0)
    networks = sum(ffn(i) if ffn else 3 * D * t["intermediate_size"] for i in range(t["num_hidden_layers"]))
    return (1 if tied else 2) * t["vocab_size"] * D + D + t["num_hidden_layers"] * layer + networks


LLAMA = {"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32}
QWEN2 = {"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, "num_attention_heads": 32,
         "num_key_value_heads": 32}


def llama_text(c, defaults=LLAMA):
    t = defaults | (c.get("text_config") or {})
    return t | {"num_key_value_heads": t.get("num_key_value_heads") or t["num_attention_heads"]}


def qwen3_tower(c, width, taken):
    """Positions of a square, a merger behind the tower, and one behind each of some layers."""
    v = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "in_channels": 3, "patch_size": 16, "spatial_merge_size": 2,
         "temporal_patch_size": 2, "num_position_embeddings": 2304, "deepstack_visual_indexes": taken}
    v |= c.get("vision_config") or {}
    D, wide = v["hidden_size"], v["spatial_merge_size"] ** 2 * v["hidden_size"]
    tower = linear(v["in_channels"] * v["temporal_patch_size"] * v["patch_size"] ** 2, D) + v["num_position_embeddings"] * D
    tower += v["depth"] * block(D, v["intermediate_size"])
    merger = linear(wide, wide) + linear(wide, width)
    return tower + merger + norm(D) + len(v["deepstack_visual_indexes"]) * (merger + norm(wide))


def qwen3_5(c):
    text = {"model_type": c["model_type"] + "_text", "tie_word_embeddings": c.get("tie_word_embeddings", False)} | c["text_config"]
    return qwen3_tower(c, text["hidden_size"], []) + closed_forms.count(text)[0]


def qwen3_vl(c):
    """A tower some of whose layers add to the text's."""
    defaults = QWEN2 | {"head_dim": 128}
    if c["model_type"] == "qwen3_vl_moe":
        defaults = QWEN2 | {"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16,
                            "num_key_value_heads": 16, "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408}
    t = defaults | (c.get("text_config") or {})
    tower = qwen3_tower(c, t["hidden_size"], [8, 16, 24])
    has_experts = "num_experts" in defaults

    def network(layer):
        is_dense = not has_experts or layer in t.get("mlp_only_layers", []) or (layer + 1) % t.get("decoder_sparse_step", 1)
        if is_dense:
            return 3 * t["hidden_size"] * t["intermediate_size"]
        return t["num_experts"] * t["hidden_size"] * (3 * t["moe_intermediate_size"] + 1)
    bias = t.get("attention_bias", False)
    return tower + decoder(t, bias, bias, True, c.get("tie_word_embeddings", False), network)


def internvl(c):
    """A scale of each part of a layer; RMSNorm, also of all queries and keys, in the largest tower."""
    t = QWEN2 | (c.get("text_config") or {})
    is_qwen3 = t.get("model_type") == "qwen3"
    v = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "image_size": [448, 448],
         "patch_size": [14, 14]} | (c.get("vision_config") or {})
    D, L = v["hidden_size"], v["num_hidden_layers"]
    width = norm(D) if v.get("norm_type", "layer_norm") == "layer_norm" else D
    layer = block(D, v["intermediate_size"], v.get("attention_bias", False)) - 2 * norm(D) + 2 * width + 2 * D
    layer += 2 * D if v.get("use_qk_norm") else 0
    square = {key: v[key][0] for key in ("image_size", "patch_size")} | {"hidden_size": D, "num_channels": v.get("num_channels", 3)}
    tower = image_ends(square, 1)[0] + L * layer + (0 if v.get("use_mean_pooling", True) else norm(D))
    projector = norm(4 * D) + linear(4 * D, t["hidden_size"]) + linear(t["hidden_size"], t["hidden_size"])
    bias, tied = t.get("attention_bias", False), c.get("tie_word_embeddings", True)
    if t.get("model_type") in ("qwen3_moe", "gpt_oss"):
        return tower + projector + closed_forms.count(t | {"tie_word_embeddings": tied})[0]
    text = decoder({"head_dim": 128} | t, bias, bias, True, tied) if is_qwen3 else decoder(t, True, tied=tied)
    return tower + projector + text


def qianfan_ocr(c):
    v = dict(c.get("vision_config") or {})
    v["attention_bias"] = v.pop("qkv_bias", v.get("attention_bias", True))
    return internvl({"tie_word_embeddings": False} | c | {"text_config": {"model_type": "qwen3"} | (c.get("text_config") or {}), "vision_config": v})


def internvl_chat(c):
    """The same tower, with other names and defaults, before a text that its type says."""
    t, v = c["llm_config"], c.get("vision_config") or {}
    kind = t["model_type"]
    tower = {"hidden_size": 3200, "intermediate_size": 12800, "num_hidden_layers": 48, "norm_type": "rms_norm"} | {
        key: value for key, value in v.items() if key not in ("image_size", "patch_size")} | {
        "image_size": [v.get("image_size", 224)], "patch_size": [v.get("patch_size", 14)], "attention_bias": v.get("qkv_bias", False),
        "use_qk_norm": v.get("qk_normalization", True)}
    tied, bias = t.get("tie_word_embeddings", False), t.get("bias", kind == "internlm2") or t.get("attention_bias", False)
    if kind in ("qwen3_moe", "gpt_oss"):
        return internvl({"vision_config": tower, "text_config": t, "tie_word_embeddings": tied})
    whole = internvl({"vision_config": tower, "text_config": t | {"model_type": "qwen2"}, "tie_word_embeddings": True})
    text = decoder({"head_dim": 128} | t if kind == "qwen3" else t, bias or kind == "qwen2", bias and kind != "qwen2", kind == "qwen3", tied)
    return whole - decoder(t, True, tied=True) + text


def paligemma(c):
    """Of a file that has both configurations. Layers of Gemma 2 have two norms more."""
    t = {"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28, "num_attention_heads": 16,
         "num_key_value_heads": 16, "head_dim": 256} | c["text_config"]
    D = t["hidden_size"]
    more = 2 * D * t["num_hidden_layers"] if t["model_type"] == "gemma2" else 0
    return more + siglip_tower(c["vision_config"], False) + linear(c["vision_config"]["hidden_size"], D) + decoder(t, tied=True)


def blip2(c):
    """A tower with a class token, queries whose layers read it now and then, one matrix, OPT."""
    v = {"hidden_size": 1408, "intermediate_size": 6144, "num_hidden_layers": 39, "patch_size": 14} | (c.get("vision_config") or {})
    q = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "cross_attention_frequency": 2} | (c.get("qformer_config") or {})
    t = {"vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072, "max_position_embeddings": 2048,
         "num_attention_heads": 12} | (c.get("text_config") or {})
    D, Q = v["hidden_size"], q["hidden_size"]
    total = image_ends(v, 1)[0] + layers_of(v, v.get("qkv_bias", True)) + norm(D)
    total += (c.get("num_query_tokens") or 32) * Q + norm(Q) + layers_of(q)
    readers = len(range(0, q["num_hidden_layers"], q["cross_attention_frequency"]))
    total += readers * (2 * linear(Q, Q) + 2 * linear(D, Q) + norm(Q)) + linear(Q, t["hidden_size"])
    return total + closed_forms.opt(t)[0]


def lfm2_vl(c):
    """A tower with a table of a square of positions, and two matrices of squares of patches, before LFM2."""
    v = {"hidden_size": 768, "num_channels": 3, "patch_size": 16, "num_patches": 256} | (c.get("vision_config") or {})
    t = c["text_config"] | {"model_type": "lfm2"}
    D, P, wide = v["hidden_size"], c.get("projector_hidden_size") or 2560, (c.get("downsample_factor") or 2) ** 2 * v["hidden_size"]
    tower = linear(v["num_channels"] * v["patch_size"] ** 2, D) + v["num_patches"] * D + layers_of(v) + norm(D)
    bias = c.get("projector_bias", True)
    projector = (norm(wide) if c.get("projector_use_layernorm", True) else 0) + linear(wide, P, bias) + linear(P, t["hidden_size"], bias)
    return tower + projector + closed_forms.lfm2(t)[0]


def fuyu(c):
    """Persimmon, and one matrix for patches."""
    t = {"hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 36, "num_attention_heads": 64, "vocab_size": 262144}
    t = t | {key: value for key, value in c.items() if value is not None} | (c.get("text_config") or {})
    patch = c.get("patch_size", 30)
    return closed_forms.persimmon(t)[0] + linear(c.get("num_channels", 3) * patch * patch, t["hidden_size"])


def idefics3(c):
    v = {"hidden_size": 1152, "patch_size": 32} | (c.get("vision_config") or {})
    t = llama_text(c)
    projector = c.get("scale_factor", 2) ** 2 * v["hidden_size"] * t["hidden_size"]
    return siglip_tower(v, False) + projector + decoder(t, tied=c.get("tie_word_embeddings", False))


def deepseek_vl(c):
    """A tower without the head that nobody reads, and two matrices."""
    v, t = c.get("vision_config") or {}, llama_text(c)
    D = t["hidden_size"]
    projector = linear(v.get("hidden_size", 768), D) + linear(D, D)
    return siglip_tower(v, False) + projector + decoder(t, tied=c.get("tie_word_embeddings", False))


def idefics2(c):
    """A gated network behind the tower; queries, three norms, few heads of keys and values, and a network four times as wide in each layer that reads."""
    v = {"patch_size": 32} | (c.get("vision_config") or {})
    t = LLAMA | {"intermediate_size": 14336, "num_key_value_heads": 8} | (c.get("text_config") or {})
    q = {"resampler_n_latents": 64, "resampler_depth": 3, "resampler_n_heads": 16, "num_key_value_heads": 4, "resampler_head_dim": 96} | (c.get("perceiver_config") or {})
    D, F, E = t["hidden_size"], t["intermediate_size"], q["resampler_head_dim"]
    layer = 2 * D * E * (q["resampler_n_heads"] + q["num_key_value_heads"]) + 3 * D * 4 * D + 3 * D
    reader = 2 * v.get("hidden_size", 768) * F + F * D + q["resampler_n_latents"] * D + q["resampler_depth"] * layer + D
    return siglip_tower(v, False) + reader + decoder(t, tied=c.get("tie_word_embeddings", False))


def voxtral_realtime(c):
    """RMSNorms, gated networks with a bias of the last matrix, no bias of keys and heads of a size of their own; two narrow matrices in each layer of the text."""
    a = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_attention_heads": 32, "head_dim": 64, "num_mel_bins": 128} | (c.get("audio_config") or {})
    t = LLAMA | {"vocab_size": 131072, "hidden_size": 3072, "intermediate_size": 9216, "num_hidden_layers": 26, "num_key_value_heads": 8, "head_dim": 128} | (c.get("text_config") or {})
    W, F, D, inner = a["hidden_size"], a["intermediate_size"], t["hidden_size"], a["num_attention_heads"] * a["head_dim"]
    layer = 2 * linear(W, inner) + W * inner + linear(inner, W) + 2 * W * F + linear(F, W) + 2 * W
    encoder = linear(3 * a["num_mel_bins"], W) + linear(3 * W, W) + a["num_hidden_layers"] * layer + W
    return encoder + F * D + D * D + t["num_hidden_layers"] * 2 * 32 * D + decoder(t, tied=c.get("tie_word_embeddings", True))


def granite_speech(c):
    """Two networks, attention with a table of distances, and a convolution of twice as many channels in each layer; a prediction and back; BLIP-2's queries."""
    e = {"input_dim": 160, "num_layers": 10, "hidden_dim": 1024, "feedforward_mult": 4, "num_heads": 8, "output_dim": 42, "max_pos_emb": 512, "conv_kernel_size": 15,
         "conv_expansion_factor": 2} | (c.get("encoder_config") or {})
    q = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "cross_attention_frequency": 2} | (c.get("projector_config") or {})
    t = LLAMA | (c.get("text_config") or {}) | {"tie_word_embeddings": c.get("tie_word_embeddings", (c.get("text_config") or {}).get("tie_word_embeddings", False))}
    D, Q, E = e["hidden_dim"], q["hidden_size"], e.get("dim_head") or e["hidden_dim"] // e["num_heads"]
    inner, wide, C = e["num_heads"] * E, e["feedforward_mult"] * D, e["conv_expansion_factor"] * D
    layer = 2 * (norm(D) + linear(D, wide) + linear(wide, D)) + norm(D)
    layer += norm(D) + 3 * D * inner + linear(inner, D) + (2 * e["max_pos_emb"] + 1) * E
    layer += norm(D) + linear(D, 2 * C) + e["conv_kernel_size"] * C + norm(C) + linear(C, D)
    encoder = linear(e["input_dim"], D) + e["num_layers"] * layer + linear(D, e["output_dim"]) + linear(e["output_dim"], D)
    readers = len(range(0, q["num_hidden_layers"], q["cross_attention_frequency"]))
    reader = c.get("window_size", 15) // c.get("downsample_rate", 5) * Q + norm(Q) + layers_of(q) + readers * (2 * linear(Q, Q) + 2 * linear(D, Q) + norm(Q))
    return encoder + reader + linear(Q, t["hidden_size"]) + closed_forms.granite(t)[0]


def phi4_multimodal(c):
    """A tower with a head that nobody reads, two learned tokens and two matrices; a Conformer with two biases of each gate, and matrices of
    sounds with images and without; adapters are left out."""
    v = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "image_size": 448, "patch_size": 14, "num_channels": 3} | (c.get("vision_config") or {})
    a = {"hidden_size": 1024, "intermediate_size": 1536, "num_blocks": 24, "num_attention_heads": 16, "kernel_size": 3, "input_size": 80, "bias_max_distance": 1000,
         "bias_symmetric": False, "nemo_conv_channels": 1024} | (c.get("audio_config") or {})
    t = {"vocab_size": 200064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8} | c
    V, D, W = v["hidden_size"], a["hidden_size"], t["hidden_size"]
    head = V + linear(V, 3 * V) + linear(V, V) + norm(V) + linear(V, v["intermediate_size"]) + linear(v["intermediate_size"], V)
    tower = linear(v["num_channels"] * v["patch_size"] ** 2, V) + (v["image_size"] // v["patch_size"]) ** 2 * V + layers_of(v) + norm(V) + head
    image = tower + 2 * V + linear(V, W) + linear(W, W)
    C, left = a["nemo_conv_channels"], -(-a["input_size"] // 8)
    layer = 2 * (norm(D) + linear(D, 2 * a["intermediate_size"]) + linear(a["intermediate_size"], D)) + norm(D) + 4 * linear(D, D) + norm(D)
    layer += norm(D) + linear(D, 2 * D) + 2 * D + linear(a["kernel_size"], D) + 2 * linear(D, D)
    sound = linear(9, C) + 2 * (linear(9, C) + linear(C, C)) + linear(C * left, D) + a["num_blocks"] * layer
    sound += (1 if a["bias_symmetric"] else 2) * a["bias_max_distance"] * a["num_attention_heads"] + 2 * (linear(D, W) + linear(W, W))
    return image + sound + closed_forms.phi3(t)[0]


def phi4mm(c):
    """The same, whose encoder of sound has other names."""
    a = (c.get("audio_processor") or {}).get("config") or {}
    names = {"attention_dim": "hidden_size", "attention_heads": "num_attention_heads", "linear_units": "intermediate_size"}
    sound = {names.get(key, key): value for key, value in a.items()}
    for group, key, name in (("nemo_conv_settings", "conv_channels", "nemo_conv_channels"), ("relative_attention_bias_args", "t5_bias_max_distance", "bias_max_distance")):
        if a.get(group):
            sound[name] = a[group][key]
    return phi4_multimodal({"num_key_value_heads": c.get("num_attention_heads", 32)} | c | {"audio_config": sound})


def ernie4_5_vl_moe(c):
    """A tower with LayerNorm, two pairs of matrices with norms and one more, and two sets of experts in each layer but dense ones."""
    v = {"depth": 32, "hidden_size": 1280, "in_channels": 3, "patch_size": 14, "spatial_merge_size": 2} | (c.get("vision_config") or {})
    t = {"vocab_size": 103424, "hidden_size": 2560, "intermediate_size": 12288, "num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4,
         "moe_intermediate_size": [1536, 512], "moe_num_experts": 64, "moe_num_shared_experts": 2} | c | (c.get("text_config") or {})
    D, W = v["hidden_size"], t["hidden_size"]
    wide = v["spatial_merge_size"] ** 2 * D
    tower = v["in_channels"] * v["patch_size"] ** 2 * D + v["depth"] * block(D, v.get("intermediate_size", 4 * D)) + norm(D)
    resampler = 3 * linear(wide, wide) + linear(2 * wide, wide) + 2 * norm(wide) + linear(wide, W) + W
    X = t["moe_num_experts"][0] if isinstance(t["moe_num_experts"], list) else t["moe_num_experts"]
    kinds = t.get("mlp_layer_types") or ["dense"] + ["sparse"] * (t["num_hidden_layers"] - 1)
    bias = t.get("use_bias", False)
    text, image = t["moe_intermediate_size"]

    def gated(width):
        return linear(W, 2 * width, bias) + linear(width, W, bias)

    sparse = X * (gated(text) + gated(image)) + 2 * (W * X + X) + (gated(t["moe_num_shared_experts"] * text) if t["moe_num_shared_experts"] else 0)
    networks = decoder(t, bias, bias, tied=c.get("tie_word_embeddings", True), ffn=lambda i: sparse if kinds[i] == "sparse" else gated(t["intermediate_size"]))
    return tower + resampler + networks + (t["vocab_size"] if bias else 0)


def git(c):
    """CLIP's tower, a matrix and a norm, and BERT's layers, of which a matrix with a bias makes words."""
    v = {"hidden_size": 768, "patch_size": 16} | (c.get("vision_config") or {})
    D, T = c.get("hidden_size", 768), v["hidden_size"]
    tower = image_ends(v, 1)[0] - T + norm(T) + layers_of(v | {"num_hidden_layers": v.get("num_hidden_layers", 12)}) + norm(T)
    text = (c.get("vocab_size", 30522) + c.get("max_position_embeddings", 1024)) * D + norm(D) + layers_of({"num_hidden_layers": 6} | c)
    return tower + linear(T, D) + norm(D) + text + (0 if c.get("tie_word_embeddings") else c.get("vocab_size", 30522) * D) + c.get("vocab_size", 30522)


def blip(c):
    """A ViT with biases, and BERT's layers with one more attention, a head with a matrix and a norm, and biases of words."""
    v = {"hidden_size": 768, "image_size": 384, "patch_size": 16} | (c.get("vision_config") or {})
    t = {"vocab_size": 30524, "hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072, "max_position_embeddings": 512} | (c.get("text_config") or {})
    D, T = t["hidden_size"], v["hidden_size"]
    tower = image_ends(v, 1)[0] + layers_of(v) + norm(T)
    readers = t["num_hidden_layers"] * (2 * linear(D, D) + 2 * linear(T, D) + norm(D))
    text = (t["vocab_size"] + t["max_position_embeddings"]) * D + norm(D) + layers_of(t) + readers
    questions = text if kind_of(c) == "ForQuestionAnswering" else 0
    return tower + text + questions + linear(D, D) + norm(D) + t["vocab_size"] * (1 if c.get("tie_word_embeddings", True) else 1 + D)


def instructblip(c):
    """BLIP-2 with a table of words and positions, and a network for them, of each layer of queries, before a Llama."""
    v = {"hidden_size": 1408, "intermediate_size": 6144, "num_hidden_layers": 39, "patch_size": 14} | (c.get("vision_config") or {})
    q = {"vocab_size": 30522, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "cross_attention_frequency": 2, "max_position_embeddings": 512} | (c.get("qformer_config") or {})
    D, Q, t = v["hidden_size"], q["hidden_size"], llama_text(c)
    tower = image_ends(v, 1)[0] + layers_of(v, v.get("qkv_bias", True)) + norm(D)
    words = (q["vocab_size"] + q["max_position_embeddings"]) * Q
    words += q["num_hidden_layers"] * (linear(Q, q["intermediate_size"]) + linear(q["intermediate_size"], Q) + norm(Q))
    readers = len(range(0, q["num_hidden_layers"], q["cross_attention_frequency"])) * (2 * linear(Q, Q) + 2 * linear(D, Q) + norm(Q))
    queries = (c.get("num_query_tokens") or 32) * Q + norm(Q) + layers_of(q) + readers
    return tower + words + queries + linear(Q, t["hidden_size"]) + decoder(t, tied=c.get("tie_word_embeddings", False))


def parakeet_ctc(c):
    """Three convolutions, two of single channels with a matrix each, and a Conformer whose positions have a matrix and two rows of each head."""
    e = {"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "attention_bias": True, "convolution_bias": True, "conv_kernel_size": 9,
         "subsampling_conv_channels": 256, "num_mel_bins": 80} | (c.get("encoder_config") or {})
    D, F, C, V = e["hidden_size"], e["intermediate_size"], e["subsampling_conv_channels"], c.get("vocab_size", 1025)
    bias, conv = e["attention_bias"], e["convolution_bias"]
    layer = 2 * (norm(D) + linear(D, F, bias) + linear(F, D, bias)) + norm(D) + 4 * linear(D, D, bias) + D * D + 2 * D
    layer += norm(D) + linear(D, 2 * D, conv) + linear(e["conv_kernel_size"], D, conv) + norm(D) + linear(D, D, conv) + norm(D)
    return linear(9, C) + 2 * (linear(9, C) + linear(C, C)) + linear(C * (e["num_mel_bins"] // 8), D) + e["num_hidden_layers"] * layer + linear(D, V)


def sam_tower(v):
    """Positions of a map, rows of relative positions of windows or of the whole in each layer, and a neck of a matrix and a convolution."""
    v = {"hidden_size": 768, "output_channels": 256, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 1024, "patch_size": 16, "num_channels": 3, "mlp_dim": 3072,
         "window_size": 14, "global_attn_indexes": [2, 5, 8, 11], "qkv_bias": True, "use_abs_pos": True} | v
    D, C, side = v["hidden_size"], v["output_channels"], v["image_size"] // v["patch_size"]
    E, L = D // v["num_attention_heads"], v["num_hidden_layers"]
    distances = sum(2 * (2 * (side if i in v["global_attn_indexes"] else v["window_size"]) - 1) * E for i in range(L))
    total = linear(v["num_channels"] * v["patch_size"] ** 2, D) + (side**2 * D if v["use_abs_pos"] else 0)
    return total + L * block(D, v["mlp_dim"], v["qkv_bias"]) + distances + D * C + 9 * C * C + 2 * norm(C)


def got_ocr2(c):
    """SAM's tower, two convolutions and a matrix, before a Qwen 2."""
    t = {"vocab_size": 151860, "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16} | (c.get("text_config") or {})
    D, v = t["hidden_size"], c.get("vision_config") or {}
    C = v.get("output_channels", 256)
    return sam_tower(v) + 9 * C * 2 * C + 9 * 2 * C * D + linear(D, D) + decoder(t, qkv_bias=True, tied=c.get("tie_word_embeddings", True))


def deepseek_ocr(c):
    """SAM's tower and two convolutions, a CLIP tower with patches that nothing reads, one matrix and two tokens, and a text with experts."""
    t = c["language_config"]
    D, X, width = t["hidden_size"], t["n_routed_experts"], t["moe_intermediate_size"]
    clip = 1024 + 3 * 14**2 * 1024 + 257 * 1024 + norm(1024) + 24 * block(1024, 4096)
    experts = X * (3 * D * width + D) + 3 * D * t["n_shared_experts"] * width
    text = decoder(t, tied=c.get("tie_word_embeddings", False), ffn=lambda i: 3 * D * t["intermediate_size"] if i < t["first_k_dense_replace"] else experts)
    return sam_tower({}) + 9 * 256 * 512 + 9 * 512 * 1024 + clip + linear(2048, D) + 2 * D + text


def deepseek_with_images(c):
    return (deepseek_ocr if (c.get("vision_config") or {}).get("model_name") == "deeplip_b_l" else deepseek_vl_v2)(c)


def florence2(c):
    """Four stages of overlapping patches with a norm each, whose layers have two networks, two attentions and four convolutions of each channel; rows and columns
    of positions, a matrix and a norm, before BART."""
    v = {"in_channels": 3, "depths": [1, 1, 9, 1], "patch_size": [7, 3, 3, 3], "embed_dim": [128, 256, 512, 1024], "mlp_ratio": 4, "qkv_bias": True, "projection_dim": 1024,
         "max_position_embeddings": 50} | (c.get("vision_config") or {})
    total, before = 0, v["in_channels"]
    for stage, (D, depth, size) in enumerate(zip(v["embed_dim"], v["depths"], v["patch_size"])):
        total += linear(size * size * before, D) + norm(before if stage else D) + depth * (2 * block(D, int(v["mlp_ratio"] * D), v["qkv_bias"]) + 4 * linear(9, D))
        before = D
    total += v["max_position_embeddings"] * before + before * v["projection_dim"] + norm(v["projection_dim"])
    return total + bart({"model_type": "bart", "tie_word_embeddings": c.get("tie_word_embeddings", True)} | {key: value for key, value in (c.get("text_config") or {}).items() if key != "model_type"})


def janus(c):
    """The same, of a tower whose networks are so many times as wide, and whose queries, keys and values may have no biases."""
    v, t = {"hidden_size": 1024, "num_hidden_layers": 24, "image_size": 384, "mlp_ratio": 4} | (c.get("vision_config") or {}), llama_text(c)
    D, T = v["hidden_size"], t["hidden_size"]
    fewer = 0 if v.get("attention_bias", True) else 3 * D * v["num_hidden_layers"]
    tower = siglip_tower(v | {"intermediate_size": D * v["mlp_ratio"]}, False) - fewer
    return tower + linear(D, T) + linear(T, T) + decoder(t, tied=c.get("tie_word_embeddings", False))


def video_llama_3(c):
    """SigLIP's tower without a table of positions, and two matrices, before Qwen 2, in a member of the file or among the others."""
    v = c.get("vision_config") or c.get("vision_encoder_config") or {}
    t = QWEN2 | {key: value for key, value in c.items() if key in QWEN2} | (c.get("text_config") or {})
    D, T, size = v.get("hidden_size", 768), t["hidden_size"], v.get("patch_size", 16)
    tower = siglip_tower(v, False, linear(v.get("num_channels", 3) * size * size, D))
    tied = c.get("tie_word_embeddings") or t.get("tie_word_embeddings")
    return tower + linear(D, T) + linear(T, T) + decoder(t, True, tied=tied)


def ovis2(c):
    """RMSNorms, gated networks; a matrix of squares and a LayerNorm give shares of words, which have a table."""
    v = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 24, "num_channels": 3, "image_size": 224, "patch_size": 14, "vocab_size": 16384,
         "hidden_stride": 1, "num_visual_indicator_tokens": 5} | (c.get("vision_config") or {})
    t = QWEN2 | (c.get("text_config") or {})
    D, F, bias, wide = v["hidden_size"], v["intermediate_size"], v.get("mlp_bias", False), v.get("qkv_bias", False)
    words = v["vocab_size"] - v["num_visual_indicator_tokens"]
    layer = linear(D, 3 * D, wide) + linear(D, D, wide) + 2 * linear(D, F, bias) + linear(F, D, bias) + 2 * D
    tower = linear(v["num_channels"] * v["patch_size"] ** 2, D) + (v["image_size"] // v["patch_size"]) ** 2 * D + 2 * D + v["num_hidden_layers"] * layer
    read = v["hidden_stride"] ** 2 * D * words + norm(words) + v["vocab_size"] * t["hidden_size"]
    return tower + read + decoder(t, True, tied=c.get("tie_word_embeddings", True))


def perception_lm(c):
    """Learned positions, a norm before the layers and perhaps one behind them, a scale of each part of a layer, and two matrices."""
    v, t = c["vision_config"], llama_text(c)
    is_large = "large" in v["architecture"]
    a = {"embed_dim": 1024 if is_large else 1536, "depth": 24 if is_large else 50, "img_size": [336, 336] if is_large else [448, 448]} | (v.get("model_args") or {})
    D, T = a["embed_dim"], t["hidden_size"]
    layer = block(D, 4 * D if is_large else 8960 * D // 1536) + (2 * D if a.get("init_values") is not None else 0)
    tower = 588 * D + (a["img_size"][0] // 14) ** 2 * D + (2 * D if is_large else 0) + norm(D) + a["depth"] * layer
    tower += norm(D) if a.get("use_post_transformer_norm", True) else 0
    return tower + linear(D, T) + linear(T, T) + decoder(t, tied=c.get("tie_word_embeddings", False))


def clip_tower(v):
    """Of LLaVA: no bias of patches, a token in front, a norm before and one behind."""
    v = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "image_size": 336, "patch_size": 14} | v
    D = v["hidden_size"]
    return image_ends(v, 1)[0] - D + layers_of(v) + 2 * norm(D)


def vipllava(c):
    v, t = c.get("vision_config") or {}, llama_text(c)
    wide, T = 5 * v.get("hidden_size", 1024), t["hidden_size"]
    return clip_tower(v) + norm(wide) + linear(wide, T) + linear(T, T) + decoder(t, tied=c.get("tie_word_embeddings", False))


def video_llava(c):
    """Two towers, which share two matrices behind them."""
    v, t, bias = {"image_size": 224} | (c.get("vision_config") or {}), llama_text(c), c.get("multimodal_projector_bias", True)
    T = t["hidden_size"]
    return 2 * clip_tower(v) + linear(v.get("hidden_size", 1024), T, bias) + linear(T, T, bias) + decoder(t, tied=c.get("tie_word_embeddings", False))


def modernvbert(c):
    """SigLIP's tower, one matrix of squares, and ModernBERT."""
    v, t = c.get("vision_config") or {}, {"vocab_size": 50368, "hidden_size": 768} | (c.get("text_config") or {})
    t |= {"tie_word_embeddings": c.get("tie_word_embeddings", True), "architectures": [(c.get("architectures") or ["ModernVBertModel"])[0].replace("VBert", "Bert")]}
    return siglip_tower(v, False) + c.get("pixel_shuffle_factor", 4) ** 2 * v.get("hidden_size", 768) * t["hidden_size"] + modernbert(t)


def with_vectors_of_tokens(vlm, hidden_size):
    """One matrix with a bias in place of the scores of the vocabulary, of a file whose models a member has."""
    def count(c):
        t = c["vlm_config"]
        return vlm(t) + linear(hidden_size(t), c.get("embedding_dim") or 128)
    return count


def of_qwen2_images(c):
    """Without a matrix of scores: a tower of one of two kinds, and two matrices of squares of patches."""
    v, t = c["vision_config"], c.get("text_config") or c
    text = decoder(t, True, tied=True)
    if c["model_type"] == "qwen2_5_vl":
        return qwen2_5_tower(v) + text
    v = {"embed_dim": 1280, "depth": 32, "mlp_ratio": 4, "patch_size": 14, "spatial_merge_size": 2} | v
    D, wide = v["embed_dim"], v["spatial_merge_size"] ** 2 * v["embed_dim"]
    tower = 6 * v["patch_size"] ** 2 * D + v["depth"] * block(D, v["mlp_ratio"] * D)
    return tower + norm(D) + linear(wide, wide) + linear(wide, t["hidden_size"]) + text


def minicpmv(c):
    """A tower, one layer of which may be left out, and queries that read its tokens, before one of three texts."""
    v, D = c.get("vision_config") or {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "patch_size": 14, "image_size": 980}, c.get("hidden_size", 4096)
    tower = siglip_tower(v | {"num_hidden_layers": v.get("num_hidden_layers", 12) - c.get("drop_vision_last_layer", True)}, False)
    reader = (c.get("query_num") or 64) * D + v.get("hidden_size", 768) * D + 4 * linear(D, D) + 3 * norm(D) + D * D
    version, bias, tied = str(c.get("version") or 2.5), c.get("attention_bias", False), c.get("tie_word_embeddings", False)
    given = {key: value for key, value in c.items() if value is not None}
    if version in ("2.5", "4", "4.0"):
        return tower + reader + decoder(llama_text({"text_config": given}), bias, bias, tied=tied)
    is_qwen3 = version == "4.5"
    return tower + reader + decoder(QWEN2 | ({"head_dim": 128} if is_qwen3 else {}) | given, bias or not is_qwen3, bias and is_qwen3, is_qwen3, tied)


def paddleocr_vl(c):
    """SigLIP's tower, two matrices of squares of patches, and ERNIE 4.5, in a member of the file or among the others."""
    v = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "image_size": 384, "patch_size": 14} | (c.get("vision_config") or {})
    t = {"vocab_size": 103424, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 18, "num_attention_heads": 16, "num_key_value_heads": 2,
         "head_dim": 128, "tie_word_embeddings": True} | c | (c.get("text_config") or {})
    D, T, bias = v["hidden_size"], t["hidden_size"], t.get("use_bias", False)
    wide = v.get("spatial_merge_size", 2) ** 2 * D
    network = 2 * linear(T, t["intermediate_size"], bias) + linear(t["intermediate_size"], T, bias)
    text = decoder(t, bias, bias, tied=t["tie_word_embeddings"], ffn=lambda layer: network)
    return siglip_tower(v, False) + norm(D) + linear(wide, wide) + linear(wide, T) + text


def deepseek_vl_v2(c):
    """A tower without the head that nobody reads, two matrices of squares, two learned tokens, and DeepSeek 2, or its experts alone."""
    v = {"width": 1024, "layers": 24, "patch_size": 16, "image_size": 384, "mlp_ratio": 4} | (c.get("vision_config") or {})
    q = {"mlp_ratio": 1, "downsample_ratio": 2} | (c.get("projector_config") or {})
    t = {"q_lora_rank": 1536, "kv_lora_rank": 512, "first_k_dense_replace": 0} | c["language_config"] | {"tie_word_embeddings": c.get("tie_word_embeddings", False)}
    D, T, H = v["width"], t["hidden_size"], t["num_attention_heads"]
    tower = {"hidden_size": D, "intermediate_size": int(D * v["mlp_ratio"]), "num_hidden_layers": v["layers"]} | {key: v[key] for key in ("patch_size", "image_size")}
    wide, adapted = q["downsample_ratio"] ** 2 * D, q["mlp_ratio"] * T
    attention = (closed_forms.latent_attention(t) if t.get("use_mla", True)
                 else closed_forms.grouped_attention(T, H, t["num_key_value_heads"], T // H))
    text = closed_forms.sigmoid_mixture(t, attention, t.get("topk_method") == "noaux_tc")[0]
    return siglip_tower(tower, False) + linear(wide, adapted) + linear(adapted, T) + 2 * T + text


def aria(c):
    """A tower, 256 queries as wide as it is, seven matrices of attention to it, two more to the width of the text, and Aria's text."""
    v = {"hidden_size": 1152, "intermediate_size": 3072} | (c.get("vision_config") or {})
    t = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000} | {
        key: value for key, value in (c.get("text_config") or {}).items() if value is not None} | {"tie_word_embeddings": c.get("tie_word_embeddings", False)}
    D, T = v["hidden_size"], t["hidden_size"]
    reader = 256 * D + 3 * D * D + 5 * linear(D, D) + 3 * norm(D) + D * T + T * T
    return siglip_tower(v, False) + reader + closed_forms.aria_text(t)[0]


def molmo(c):
    """CLIP's tower without its last norm, two vectors for patches outside of an image, attention of squares to what two layers
    give, and a gated network as wide as the text's; the table has 128 rows more than the head."""
    V = c.get("embedding_size", 50304) or c["vocab_size"]
    c = {key: value for key, value in c.items() if value is not None}
    D, F, H = c.get("hidden_size", 4096), c.get("intermediate_size", 11008) // 2, c.get("num_attention_heads", 32)
    text = {"hidden_size": D, "intermediate_size": F, "num_hidden_layers": c.get("num_hidden_layers", 32), "num_attention_heads": H,
            "num_key_value_heads": c.get("num_key_value_heads", H), "vocab_size": V}
    norms = D + text["num_key_value_heads"] * (D // H) if c.get("attention_layer_norm") else 0
    tower = 588 * 1024 + 1024 + 577 * 1024 + norm(1024) + 23 * block(1024, 4096)
    pooling = 2 * 2048 + 3 * linear(2048, 1024) + linear(1024, 1024) + 2 * 1024 * F + F * D
    return tower + pooling + decoder(text, c.get("qkv_bias", False)) + 128 * D + text["num_hidden_layers"] * norms


def whisper_encoder(c, D, F, L):
    """Keys have no bias."""
    total = linear(3 * c.get("num_mel_bins", 128), D) + linear(3 * D, D) + c.get("max_source_positions", 1500) * D
    return total + L * (block(D, F) - D) + norm(D)


def qwen2_audio(c):
    a = {"d_model": 1280, "encoder_ffn_dim": 5120, "encoder_layers": 32} | (c.get("audio_config") or {})
    t = QWEN2 | (c.get("text_config") or {})
    encoder = whisper_encoder(a, a["d_model"], a["encoder_ffn_dim"], a["encoder_layers"])
    return encoder + linear(a["d_model"], t["hidden_size"]) + decoder(t, True, tied=t.get("tie_word_embeddings", False))


def audioflamingo3(c):
    """Qwen 2 Audio with a second matrix behind the encoder, and without biases of both where they are not asked for."""
    a, names = dict(c.get("audio_config") or {}), {"hidden_size": "d_model", "intermediate_size": "encoder_ffn_dim", "num_hidden_layers": "encoder_layers"}
    a = {names.get(key, key): value for key, value in a.items()}
    D = (QWEN2 | (c.get("text_config") or {}))["hidden_size"]
    biases = 0 if c.get("projector_bias", True) else 2 * D
    return qwen2_audio(c | {"audio_config": a}) + linear(D, D) - biases


def qwen2_5_tower(v, K=None):
    """Norms before each part of a layer, a gated network with biases; four patches are joined and projected. There may be fewer
    heads of keys and values."""
    D, F, size, H = v.get("hidden_size", 3584), v.get("intermediate_size", 3420), v.get("patch_size", 14), v.get("num_heads", 16)
    layer = 2 * D + linear(D, D + 2 * (K or H) * (D // H)) + linear(D, D) + 2 * linear(D, F) + linear(F, D)
    ends = v.get("in_channels", 3) * 2 * size**2 * D + D + linear(4 * D, 4 * D) + linear(4 * D, v.get("out_hidden_size", 3584))
    return ends + v.get("depth", 32) * layer


def exaone4_5(c):
    v, t = c["vision_config"], c["text_config"]
    return qwen2_5_tower(v, v.get("num_key_value_heads", 8)) + closed_forms.exaone4(t | {"tie_word_embeddings": c.get("tie_word_embeddings", False)})[0]


def qwen2_5_omni_thinker(c):
    """Positions of sound are fixed. Two tokens around a sound are left out."""
    a = {"d_model": 1280, "encoder_ffn_dim": 5120, "encoder_layers": 32} | (c.get("audio_config") or {})
    t = {"vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
         "num_key_value_heads": 4} | (c.get("text_config") or {})
    encoder = whisper_encoder(a | {"max_source_positions": 0}, a["d_model"], a["encoder_ffn_dim"], a["encoder_layers"])
    text = decoder(t, True, tied=c.get("tie_word_embeddings", False))
    return qwen2_5_tower(c.get("vision_config") or {}) + encoder + linear(a["d_model"], t["hidden_size"]) + text


def qwen2_5_omni(c):
    return qwen2_5_omni_thinker(c.get("thinker_config") or {})


def encoder_of_chunks(a, W):
    """Three convolutions over chunks of a spectrogram, and a matrix without a bias; fixed positions; two matrices behind the layers."""
    D, channels = a["d_model"], a["downsample_hidden_size"]
    left = -(-a["num_mel_bins"] // 8)
    convolutions = linear(9, channels) + 2 * linear(9 * channels, channels) + channels * left * D
    return convolutions + a["encoder_layers"] * block(D, a["encoder_ffn_dim"]) + norm(D) + linear(D, D) + linear(D, W)


def qwen3_asr(c):
    """Qwen 3 behind them."""
    c = c.get("thinker_config") or c
    a = {"d_model": 1024, "encoder_ffn_dim": 4096, "encoder_layers": 24, "num_mel_bins": 128, "downsample_hidden_size": 480} | (c.get("audio_config") or {})
    t = {"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8,
         "head_dim": 128} | (c.get("text_config") or {})
    tied = c.get("tie_word_embeddings", t.get("tie_word_embeddings", True))
    return encoder_of_chunks(a, t["hidden_size"]) + decoder(t, qk_norm=True, tied=tied)


def qwen3_omni_moe_thinker(c):
    a = {"d_model": 1280, "encoder_ffn_dim": 5120, "encoder_layers": 32, "num_mel_bins": 128, "downsample_hidden_size": 480} | (c.get("audio_config") or {})
    encoder = encoder_of_chunks(a, c["text_config"]["hidden_size"])
    text = {"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768} | c["text_config"]
    return encoder + qwen3_vl(c | {"model_type": "qwen3_vl_moe", "text_config": text})


def qwen3_omni_moe(c):
    return qwen3_omni_moe_thinker(c["thinker_config"])


def voxtral(c):
    """Joined frames are as wide as the encoder's networks."""
    a = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32} | (c.get("audio_config") or {})
    t = llama_text(c, LLAMA | {"vocab_size": 131072, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 30,
                               "num_key_value_heads": 8, "head_dim": 128})
    encoder = whisper_encoder(a, a["hidden_size"], a["intermediate_size"], a["num_hidden_layers"])
    D = t["hidden_size"]
    return encoder + a["intermediate_size"] * D + D * D + decoder(t, tied=t.get("tie_word_embeddings", False))


def glmasr(c):
    """Voxtral without positions, and with a projection twice as wide as the text, with biases; there may be fewer heads of keys and values."""
    a = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_attention_heads": 20} | (c.get("audio_config") or {})
    t = llama_text(c, LLAMA | {"vocab_size": 59264, "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
                               "num_attention_heads": 16, "num_key_value_heads": 4})
    W, D, H = a["hidden_size"], t["hidden_size"], a["num_attention_heads"]
    fewer = (H - (a.get("num_key_value_heads") or H)) * (W // H)
    encoder = whisper_encoder(a | {"max_source_positions": 0}, W, a["intermediate_size"], a["num_hidden_layers"])
    encoder -= a["num_hidden_layers"] * fewer * (2 * W + 1)
    return encoder + linear(a["intermediate_size"], 2 * D) + linear(2 * D, D) + decoder(t, tied=c.get("tie_word_embeddings", False))


def llava_next(c):
    """LLaVA with a token behind each row of patches."""
    v = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "image_size": 336,
         "patch_size": 14} | (c.get("vision_config") or {})
    is_mistral = (c.get("text_config") or {}).get("model_type") == "mistral"
    t = llama_text(c, LLAMA | ({"num_key_value_heads": 8, "intermediate_size": 14336} if is_mistral else {}))
    D, bias = t["hidden_size"], c.get("multimodal_projector_bias", True)
    projector = linear(v["hidden_size"], D, bias) + linear(D, D, bias) + D
    is_qwen = (c.get("text_config") or {}).get("model_type") == "qwen2"
    return clip_vision(v) + projector + decoder(t, is_qwen, tied=c.get("tie_word_embeddings", False))


def pixtral(c):
    """RMSNorms, gated networks, no biases and no table of positions."""
    v = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_channels": 3, "patch_size": 16} | c
    D = v["hidden_size"]
    layer = 4 * D * D + 3 * D * v["intermediate_size"] + 2 * D
    return v["num_channels"] * v["patch_size"] ** 2 * D + D + v["num_hidden_layers"] * layer


def mistral3(c):
    """Pixtral's tower, a norm and a matrix of squares of its patches, two more, and one of four texts."""
    v = {"hidden_size": 1024, "patch_size": 14} | (c.get("vision_config") or {})
    t = {"model_type": "mistral"} | (c.get("text_config") or {}) | {
        "tie_word_embeddings": c.get("tie_word_embeddings", (c.get("text_config") or {}).get("model_type") == "qwen3")}
    D, T, bias = v["hidden_size"], t["hidden_size"], c.get("multimodal_projector_bias", False)
    projector = D + c.get("spatial_merge_size", 2) ** 2 * D * D + linear(D, T, bias) + linear(T, T, bias)
    return pixtral(v) + projector + closed_forms.count(t)[0]


def lighton_ocr(c):
    return mistral3(c | {"text_config": c["text_config"] | {"model_type": "qwen3"}})


def llava_onevision(c):
    """The same with SigLIP's tower and Qwen 2, whose table is tied where either configuration says so."""
    t = QWEN2 | (c.get("text_config") or {})
    v = c.get("vision_config") or {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 26,
                                   "image_size": 384, "patch_size": 14}
    D, bias = t["hidden_size"], c.get("multimodal_projector_bias", True)
    projector = linear(v.get("hidden_size", 768), D, bias) + linear(D, D, bias) + D
    tied = t.get("tie_word_embeddings") or c.get("tie_word_embeddings")
    return siglip_tower(v, False) + projector + decoder(t, True, tied=tied)


def gemma4(c):
    """A tower with norms of queries and keys and four more in a layer, no biases and two tables of positions; what a projection
    takes to the text has no weights of its own."""
    v = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 16, "num_attention_heads": 12, "num_key_value_heads": 12, "head_dim": 64,
         "patch_size": 16, "position_embedding_size": 10240} | (c.get("vision_config") or {})
    D, E = v["hidden_size"], v["head_dim"]
    layer = 2 * D * E * (v["num_attention_heads"] + v["num_key_value_heads"]) + 2 * E + 4 * D + 3 * D * v["intermediate_size"]
    text = {"vocab_size": 262144, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 4,
            "head_dim": 256} | c.get("text_config", {})
    if c.get("vision_config") is None:
        return closed_forms.gemma4_text(text)[0]
    tower = 3 * v["patch_size"] ** 2 * D + 2 * v["position_embedding_size"] * D + v["num_hidden_layers"] * layer + D * text["hidden_size"]
    return tower + closed_forms.gemma4_text(text)[0]


def gemma4_unified(c):
    """Patches with two norms around a matrix with a bias, two tables of positions, one more norm and one more matrix."""
    v = {"patch_size": 16, "pooling_kernel_size": 3, "mm_embed_dim": 3840, "mm_posemb_size": 1120} | (c.get("vision_config") or {})
    text, D = closed_forms.gemma4_unified_text(c.get("text_config") or {})[0], (c.get("text_config") or {}).get("hidden_size", 2304)
    if c.get("vision_config") is None:
        return text
    P, W = 3 * (v["patch_size"] * v["pooling_kernel_size"]) ** 2, v["mm_embed_dim"]
    return norm(P) + linear(P, W) + 2 * norm(W) + 2 * v["mm_posemb_size"] * W + W * D + text


def minimax_m3_vl(c):
    """A tower with one norm beside those of its layers, and four matrices behind it."""
    v = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_channels": 3, "patch_size": 14, "temporal_patch_size": 2,
         "spatial_merge_size": 2} | (c.get("vision_config") or {})
    text, D, P = c.get("text_config") or {}, (c.get("text_config") or {}).get("hidden_size", 6144), c.get("projector_hidden_size", 6144)
    W, F = v["hidden_size"], v["intermediate_size"]
    layer = 4 * linear(W, W) + linear(W, F) + linear(F, W) + 2 * norm(W)
    tower = v["num_channels"] * v["temporal_patch_size"] * v["patch_size"] ** 2 * W + norm(W) + v["num_hidden_layers"] * layer
    return (tower + linear(W, P) + linear(P, D) + linear(v["spatial_merge_size"] ** 2 * D, P) + linear(P, D)
            + closed_forms.minimax_m3_vl_text(text)[0])


def step3p7(c):
    """Learned positions, a number for each element that a layer gives, two convolutions and one matrix."""
    v = {"hidden_size": 1536, "num_hidden_layers": 47, "num_channels": 3, "image_size": 728, "patch_size": 14, "mlp_ratio": 8960 / 1536} | (c.get("vision_config") or {})
    W, text = v.get("width", v["hidden_size"]), c["text_config"]
    F = int(W * v["mlp_ratio"])
    layer = 4 * linear(W, W) + linear(W, F) + linear(F, W) + 2 * norm(W) + 2 * W
    tower = (v["num_channels"] * v["patch_size"] ** 2 + (v["image_size"] // v["patch_size"]) ** 2) * W + norm(W) + v.get("layers", v["num_hidden_layers"]) * layer
    behind = linear(9 * W, 2 * W) + linear(18 * W, 4 * W) + linear(4 * W, text["hidden_size"], c.get("projector_bias", False))
    return tower + behind + closed_forms.step3p5(text)[0]


def glm5_next(c):
    """GLM-OCR's tower: norms of queries and keys, a convolution, a matrix, a norm and a gated network behind it."""
    v = {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16, "in_channels": 3, "patch_size": 14, "spatial_merge_size": 2,
         "temporal_patch_size": 2, "attention_bias": True, "projection_intermediate_size": 10240} | (c.get("vision_config") or {})
    text, D = c.get("text_config") or {}, (c.get("text_config") or {}).get("hidden_size", 4096)
    W, F, bias = v["hidden_size"], v["intermediate_size"], v["attention_bias"]
    layer = 4 * linear(W, W, bias) + 2 * W // v["num_heads"] + 2 * W + 2 * linear(W, F, bias) + linear(F, W, bias)
    tower = linear(v["in_channels"] * v["temporal_patch_size"] * v["patch_size"] ** 2, W) + v["depth"] * layer + W
    merger = linear(v["spatial_merge_size"] ** 2 * W, D) + D * D + norm(D) + 3 * D * v["projection_intermediate_size"]
    return tower + merger + closed_forms.glm5_next_text(text)[0]


def cohere2_vision(c):
    """One norm, without a bias, in each layer of the text; squares are normalized in Aya Vision."""
    t = llama_text(c, {"vocab_size": 256000, "hidden_size": 8192, "intermediate_size": 22528, "num_hidden_layers": 40,
                       "num_attention_heads": 64})
    v, D, is_aya = c["vision_config"], t["hidden_size"], c["model_type"] == "aya_vision"
    wide = c.get("downsample_factor", 2) ** 2 * v["hidden_size"]
    between = c.get("alignment_intermediate_size", D if is_aya else 36864)
    projector = linear(wide, between) + linear(between // 2, D) + (norm(wide) if is_aya else 0)
    return siglip_tower(v, False) + projector + decoder(t, tied=c.get("tie_word_embeddings", True)) - t["num_hidden_layers"] * D


def qwen_image(c):
    """Layers of two streams, with all parts in the last one, too."""
    D, E = width(c, 24, 128), c.get("attention_head_dim", 128)
    channels, text = c.get("in_channels", 64), c.get("joint_attention_dim", 3584)
    stream = linear(D, 3 * D) + 2 * E + linear(D, D) + linear(D, 4 * D) + linear(4 * D, D) + linear(D, 6 * D)
    total = linear(channels, D) + text + linear(text, D) + features(256, D) + 2 * c.get("num_layers", 60) * stream
    given = c["out_channels"] or channels if "out_channels" in c else 16
    return total + linear(D, 2 * D) + linear(D, c.get("patch_size", 2) ** 2 * given)


def wan(c):
    """Attention twice, both with norms of all heads, and a table of six vectors in each layer."""
    D, channels, F = width(c, 40, 128), c.get("in_channels", 16), c.get("ffn_dim", 13824)
    volume = 1
    for side in c.get("patch_size", [1, 2, 2]):
        volume *= side
    layer = 2 * (linear(D, 3 * D) + linear(D, D) + 2 * D) + linear(D, F) + linear(F, D) + 6 * D
    layer += norm(D) if c.get("cross_attn_norm", True) else 0
    total = linear(volume * channels, D) + linear(c.get("text_dim", 4096), D) + linear(D, D)
    total += features(c.get("freq_dim", 256), D) + linear(D, 6 * D)
    if c.get("image_dim"):
        # Keys and values of an image, keys with a norm; what becomes of its tokens.
        layer += linear(D, 2 * D) + D
        known = c["image_dim"]
        total += norm(known) + linear(known, known) + linear(known, D) + norm(D) + (c.get("pos_embed_seq_len") or 0) * known
    return total + c.get("num_layers", 40) * layer + 2 * D + linear(D, volume * (c.get("out_channels", 16) or channels))


def pixart(c):
    """The same without norms of heads; the sizes of an image are in the vector where they are asked for."""
    D, channels = width(c, 16, 72), c.get("in_channels", 4)
    bias = c.get("attention_bias", True)
    layer = 2 * (linear(D, 3 * D, bias) + linear(D, D)) + linear(D, 4 * D) + linear(4 * D, D) + 6 * D
    total = linear(4 * channels, D) + linear(c["caption_channels"], D) + linear(D, D) + features(256, D) + linear(D, 6 * D)
    sizes = c.get("use_additional_conditions")
    total += 2 * features(256, D // 3) if (c.get("sample_size", 128) == 128 if sizes is None else sizes) else 0
    given = c["out_channels"] or channels if "out_channels" in c else 8
    return total + c.get("num_layers", 28) * layer + 2 * D + linear(D, 4 * given)


def perceptron(inputs, hidden, outputs, bias=True):
    return linear(inputs, hidden, bias) + linear(hidden, outputs, bias)


def cogvideox(c):
    """All tokens share matrices and two LayerNorms in a layer, with six vectors for each; heads have LayerNorms."""
    D, E = width(c, 30, 64), c.get("attention_head_dim", 64)
    steps, wide = c.get("patch_size_t"), c.get("time_embed_dim", 512)
    volume = c.get("patch_size", 2) ** 2 * (steps or 1)
    affine = norm(D) if c.get("norm_elementwise_affine", True) else 0
    total = linear(c.get("in_channels", 16) * volume, D, bool(steps) or c.get("patch_bias", True)) + linear(c.get("text_embed_dim", 4096), D)
    total += perceptron(D, wide, wide) + (perceptron(wide, wide, wide) if c.get("ofs_embed_dim") else 0)
    layer = 2 * (linear(wide, 6 * D) + affine) + linear(D, 3 * D, c.get("attention_bias", True)) + linear(D, D) + 2 * norm(E)
    layer += perceptron(D, 4 * D, D)
    return total + c.get("num_layers", 30) * layer + 2 * affine + linear(wide, 2 * D) + linear(D, volume * c.get("out_channels", 16))


def hunyuan_video(c):
    """FLUX for a video, and layers of the text alone, which have two norms with weights and two gates."""
    D, E, ratio = width(c, 24, 128), c.get("attention_head_dim", 128), c.get("mlp_ratio", 4.0)
    F, channels, words = int(D * ratio), c.get("in_channels", 16), c.get("text_embed_dim", 4096)
    volume = c.get("patch_size", 2) ** 2 * c.get("patch_size_t", 1)
    total = linear(channels * volume, D) + 2 * features(256, D) + features(words, D) + features(c.get("pooled_projection_dim", 768), D) + linear(words, D)
    total += features(256, D) if c.get("guidance_embeds", True) else 0
    attention = linear(D, 3 * D) + linear(D, D)
    total += c.get("num_refiner_layers", 2) * (attention + 2 * norm(D) + perceptron(D, 4 * D, D) + linear(D, 2 * D))
    total += 2 * c.get("num_layers", 20) * (attention + 2 * E + perceptron(D, F, D) + linear(D, 6 * D))
    total += c.get("num_single_layers", 40) * (linear(D, 3 * D) + 2 * E + linear(D, F) + linear(D + F, D) + linear(D, 3 * D))
    given = c["out_channels"] or channels if "out_channels" in c else 16
    return total + linear(D, 2 * D) + linear(D, volume * given)


def hunyuan_image(c):
    """HunyuanVideo without a vector of the whole text, with letters behind a norm and three matrices, and perhaps a second time step."""
    D, letters, patch = width(c, 28, 128), c["text_embed_2_dim"], c.get("patch_size", [1, 1])
    volume, channels = patch[0] * patch[1], c.get("in_channels", 64)
    given = c["out_channels"] or channels if "out_channels" in c else 64
    video = {"num_attention_heads": 28, "text_embed_dim": 3584, "guidance_embeds": False, "pooled_projection_dim": 0} | c | {
        "in_channels": channels * volume, "out_channels": given * volume, "patch_size": 1}
    total = hunyuan_video(video) - features(0, D) + (features(256, D) if c.get("use_meanflow") else 0)
    return total + norm(letters) + linear(letters, 2048) + linear(2048, 2048) + linear(2048, D)


def ltx_video(c):
    """Wan's layers, without a norm before attention to the text; the others may have weights."""
    D, channels = width(c, 32, 64), c.get("in_channels", 128)
    attention = linear(D, 3 * D, c.get("attention_bias", True)) + linear(D, D, c.get("attention_out_bias", True)) + 2 * D
    layer = 2 * attention + perceptron(D, 4 * D, D) + 6 * D + (2 * D if c.get("norm_elementwise_affine") else 0)
    total = linear(channels, D) + linear(c.get("caption_channels", 4096), D) + linear(D, D) + features(256, D) + linear(D, 6 * D)
    given = c["out_channels"] or channels if "out_channels" in c else 128
    return total + c.get("num_layers", 28) * layer + 2 * D + linear(D, given)


def flux2(c):
    """Nothing has a bias; fifteen vectors of a sample are made once; networks have a gate."""
    D, E, channels = width(c, 48, 128), c.get("attention_head_dim", 128), c.get("in_channels", 128)
    F, steps = int(D * c.get("mlp_ratio", 3.0)), c.get("timestep_guidance_channels", 256)
    total = D * (channels + c.get("joint_attention_dim", 15360) + 15 * D) + (2 if c.get("guidance_embeds", True) else 1) * (steps * D + D * D)
    stream = 4 * D * D + 3 * D * F + 2 * E
    total += (2 * c.get("num_layers", 8) + c.get("num_single_layers", 48)) * stream
    return total + 2 * D * D + D * (c.get("out_channels") or channels)


def scaled_layers(D, keys, E, F, condition, L, refiners, channels, given, words):
    """Four norms and two of heads in each layer, four vectors in all but those of a text alone; a norm and a matrix of the text."""
    layer = 2 * D * D + 2 * D * keys * E + 3 * D * F + 4 * D + 2 * E
    total = linear(channels, D) + words + linear(words, D) + (L + 2 * refiners) * layer
    return total + (L + refiners) * linear(condition, 4 * D) + linear(condition, D) + linear(D, given)


def lumina2(c):
    D, heads = c.get("hidden_size", 2304), c.get("num_attention_heads", 24)
    factor, step, channels = c.get("ffn_dim_multiplier"), c.get("multiple_of", 256), c.get("in_channels", 16)
    F = -(-int(4 * D * (factor or 1)) // step) * step
    area, condition = c.get("patch_size", 2) ** 2, min(D, 1024)
    total = scaled_layers(D, c.get("num_kv_heads", 8), D // heads, F, condition, c.get("num_layers", 26), c.get("num_refiner_layers", 2), area * channels,
                          area * (c.get("out_channels") or channels), c.get("cap_feat_dim", 1024))
    return total + features(256, condition)


def z_image(c):
    """Two tokens that fill sequences up, and a time step behind two matrices of 1024."""
    D, heads, condition = c.get("dim", 3840), c.get("n_heads", 30), min(c.get("dim", 3840), 256)
    volume = c.get("all_patch_size", [2])[0] ** 2 * c.get("all_f_patch_size", [1])[0] * c.get("in_channels", 16)
    L, refiners = c.get("n_layers", 30), c.get("n_refiner_layers", 2)
    total = scaled_layers(D, heads, D // heads, 8 * D // 3, condition, L, refiners, volume, volume, c.get("cap_feat_dim", 2560))
    total -= 0 if c.get("qk_norm", True) else 2 * (L + 2 * refiners) * (D // heads)
    return total + perceptron(256, 1024, condition) + 2 * D


def auraflow(c):
    """Biases of patches and of the time step alone; eight tokens and a table of positions."""
    D, area = width(c, 12, 256), c.get("patch_size", 2) ** 2
    F = -(-(2 * 4 * D // 3) // 256) * 256
    total = linear(area * c.get("in_channels", 4), D) + c.get("joint_attention_dim", 2048) * D + features(256, D)
    total += (c.get("pos_embed_max_size", 1024) + 8) * D
    stream = 6 * D * D + 4 * D * D + 3 * D * F
    total += (2 * c.get("num_mmdit_layers", 4) + c.get("num_single_dit_layers", 32)) * stream
    given = c["out_channels"] or c.get("in_channels", 4) if "out_channels" in c else 4
    return total + 2 * D * D + D * area * given


def mochi(c):
    """Two widths; four vectors of a sample for each stream, one for the text of the last layer; a pool of the text."""
    D, E, W, words = width(c, 24, 128), c.get("attention_head_dim", 128), c.get("pooled_projection_dim", 1536), c.get("text_embed_dim", 4096)
    area, channels, L = c.get("patch_size", 2) ** 2, c.get("in_channels", 12), c.get("num_layers", 48)
    total = linear(area * channels, D) + linear(words, W) + features(c.get("time_embed_dim", 256), D)
    total += 3 * linear(words, words) + linear(words, D) + 3 * D // 2
    image = linear(D, 4 * D) + 3 * D * D + 4 * E + linear(D, D) + 3 * D * (8 * D // 3)
    text = linear(D, 4 * W) + 3 * W * D + linear(D, W) + 3 * W * (8 * W // 3)
    total += L * image + (L - 1) * text + linear(D, W) + 3 * W * D
    return total + linear(D, 2 * D) + linear(D, area * (c.get("out_channels") or channels))


def wan_vace(c):
    """Wan, and as many layers more as have hints, each with a matrix behind, one with another one before."""
    c = {"num_layers": 40, "vace_layers": [0, 5, 10, 15, 20, 25, 30, 35]} | c
    D, hints, plain = width(c, 40, 128), len(c["vace_layers"]), wan(c)
    layer = (wan(c | {"num_layers": c["num_layers"] + 1}) - plain) * hints
    volume = 1
    for side in c.get("patch_size", [1, 2, 2]):
        volume *= side
    return plain + layer + (hints + 1) * linear(D, D) + linear(c.get("vace_in_channels", 96) * volume, D)


def sana(c):
    """Wan's modulation; attention with heads of its own size to the text, and a convolution of each of 2F channels."""
    D, channels = width(c, 70, 32), c.get("in_channels", 32)
    F, W = int(c.get("mlp_ratio", 2.5) * D), c.get("num_cross_attention_heads", 20) * c.get("cross_attention_head_dim", 112)
    area = c.get("patch_size", 1) ** 2
    layer = linear(D, 3 * D, c.get("attention_bias", False)) + linear(D, D) + linear(D, 3 * W) + linear(W, D) + 6 * D
    layer += linear(D, 2 * F) + linear(9, 2 * F) + F * D + (2 * D + 2 * W if c.get("qk_norm") else 0)
    total = linear(area * channels, D) + features(256, D) + linear(D, 6 * D) + features(c.get("caption_channels", 2304), D) + D
    total += features(256, D) if c.get("guidance_embeds") else 0
    given = c["out_channels"] or channels if "out_channels" in c else 32
    return total + c.get("num_layers", 20) * layer + 2 * D + linear(D, area * given)


def cosmos(c):
    """Nothing has a bias; three times three vectors of a low rank in each layer, and four norms of heads."""
    D, E, R, words = width(c, 32, 128), c.get("attention_head_dim", 128), c.get("adaln_lora_dim", 256), c.get("text_embed_dim", 1024)
    F, sides = int(D * c.get("mlp_ratio", 4.0)), c.get("patch_size", [1, 2, 2])
    volume = sides[0] * sides[1] * sides[2]
    layer = 3 * (D * R + 3 * R * D) + 4 * D * D + 2 * D * D + 2 * words * D + 4 * E + 2 * D * F
    total = (c.get("in_channels", 16) + c.get("concat_padding_mask", True)) * volume * D + 4 * D * D + D
    if c.get("extra_pos_embed_type", "learnable"):
        total += sum(size // side for size, side in zip(c.get("max_size", [128, 240, 240]), sides)) * D
    return total + c.get("num_layers", 28) * layer + D * R + 2 * R * D + volume * c.get("out_channels", 16) * D


def allegro(c):
    """PixArt's layers of a video, without the sizes of an image."""
    return pixart({"num_attention_heads": 24, "attention_head_dim": 96, "caption_channels": 4096, "num_layers": 32, "use_additional_conditions": False, "out_channels": 4} | c)


def latte(c):
    """PixArt's layers of each frame, and as many of each place, without attention to a text."""
    D = width(c, 16, 88)
    places = linear(D, 3 * D, c.get("attention_bias", False)) + linear(D, D) + linear(D, 4 * D) + linear(4 * D, D) + 6 * D
    frames = c | {"use_additional_conditions": False, "attention_bias": c.get("attention_bias", False), "out_channels": c.get("out_channels") or c["in_channels"]}
    return pixart({"num_layers": 1, "attention_head_dim": 88} | frames) + c.get("num_layers", 1) * places


def omnigen(c):
    """Phi-3's layers, a table of words, matrices of two kinds of patches, and two networks of a time step."""
    D, H, F = c.get("hidden_size", 3072), c.get("num_attention_heads", 32), c.get("intermediate_size", 8192)
    area = c.get("in_channels", 4) * c.get("patch_size", 2)**2
    layer = 2 * D * D + 2 * D * (D // H) * c.get("num_key_value_heads", 32) + 3 * D * F + 2 * D
    total = 2 * linear(area, D) + 2 * features(c.get("time_step_dim", 256), D) + c.get("vocab_size", 32064) * D
    return total + c.get("num_layers", 32) * layer + D + linear(D, 2 * D) + linear(D, area)


def hunyuan_dit(c):
    """Two attentions with LayerNorms of heads and three norms in a layer, one vector of a sample, a norm and a matrix of two streams in the
    second half; a text in the width of another one, and what asks for its mean."""
    c = {"hidden_size": 1152, "num_layers": 28, "mlp_ratio": 4.0, "cross_attention_dim": 1024, "cross_attention_dim_t5": 2048, "pooled_projection_dim": 1024, "text_len": 77, "text_len_t5": 256} | c
    D, E, C, L, P = c["hidden_size"], c.get("attention_head_dim", 88), c["cross_attention_dim"], c["cross_attention_dim_t5"], c["pooled_projection_dim"]
    area, F, half = c["in_channels"] * c["patch_size"]**2, int(D * c["mlp_ratio"]), c["num_layers"] // 2
    layer = linear(D, D) + 3 * norm(D) + 4 * linear(D, D) + 2 * linear(D, D) + 2 * linear(C, D) + 4 * norm(E) + linear(D, F) + linear(F, D)
    total = linear(area, D) + linear(L, 4 * L) + linear(4 * L, C) + (c["text_len"] + c["text_len_t5"]) * C + features(256, D)
    total += (c["text_len_t5"] + 1) * L + 3 * linear(L, L) + linear(L, P)
    styled = c.get("use_style_cond_and_image_meta_size", True)
    total += linear(P + (6 * 256 + D if styled else 0), 4 * D) + linear(4 * D, D) + (D if styled else 0)
    total += c["num_layers"] * layer + (half - 1) * (2 * norm(D) + linear(2 * D, D))
    return total + linear(D, 2 * D) + linear(D, area * (2 if c.get("learn_sigma", True) else 1))


def kandinsky5(c):
    """A matrix for six, or for nine, vectors of each layer; RMSNorms of heads, networks without biases; a LayerNorm of the text and of what it
    says as a whole."""
    c = {"in_visual_dim": 4, "in_text_dim": 3584, "in_text_dim2": 768, "time_dim": 512, "out_visual_dim": 4, "patch_size": [1, 2, 2], "model_dim": 2048, "ff_dim": 5120, "num_text_blocks": 2, "num_visual_blocks": 32,
         "axes_dims": [16, 24, 24], "visual_cond": False} | c
    D, T, E = c["model_dim"], c["time_dim"], sum(c["axes_dims"])
    volume = c["patch_size"][0] * c["patch_size"][1] * c["patch_size"][2]
    attention, network = 4 * linear(D, D) + 2 * E, 2 * D * c["ff_dim"]
    total = linear(D, T) + linear(T, T) + linear(c["in_text_dim"], D) + norm(D) + linear(c["in_text_dim2"], T) + norm(T)
    total += linear(volume * (2 * c["in_visual_dim"] + 1 if c["visual_cond"] else c["in_visual_dim"]), D)
    total += c["num_text_blocks"] * (linear(T, 6 * D) + attention + network) + c["num_visual_blocks"] * (linear(T, 9 * D) + 2 * attention + network)
    return total + linear(T, 2 * D) + linear(D, volume * c["out_visual_dim"])


def sana_video(c):
    """Sana with a convolution over three frames behind each network."""
    c = {"num_attention_heads": 20, "attention_head_dim": 112, "in_channels": 16, "qk_norm": "rms_norm_across_heads", "patch_size": [1, 2, 2]} | c
    D, sides = width(c, 20, 112), c["patch_size"]
    volume, given = sides[0] * sides[1] * sides[2], (c["out_channels"] or c["in_channels"]) if "out_channels" in c else 16
    return sana(c | {"patch_size": 1, "in_channels": volume * c["in_channels"], "out_channels": volume * given}) + c.get("num_layers", 20) * 3 * D * D


def easyanimate(c):
    """Two streams with matrices, networks and norms of heads of their own, twelve vectors of a sample, and two LayerNorms of both."""
    D, E, T, area = width(c, 48, 64), c.get("attention_head_dim", 64), c.get("time_embed_dim", 512), c["patch_size"]**2
    affine, text = norm(D) if c.get("norm_elementwise_affine", True) else 0, c.get("text_embed_dim", 3584)
    layer = 2 * (linear(T, 6 * D) + affine) + 2 * (4 * linear(D, D) + 2 * norm(E) + linear(D, 4 * D) + linear(4 * D, D))
    total = linear(D, T) + linear(T, T) + linear(area * c["in_channels"], D) + linear(text, D) + (text if c.get("add_norm_text_encoder", False) else 0)
    return total + c.get("num_layers", 48) * layer + 2 * affine + linear(T, 2 * D) + linear(D, area * c["out_channels"])


def stable_audio(c):
    """Three LayerNorms in a layer, biases of its gated network alone; half as many numbers that nothing trains as a time step has."""
    D, E, channels, given = width(c, 24, 64), c.get("attention_head_dim", 64), c.get("in_channels", 64), c.get("out_channels", 64)
    read, steps = c.get("cross_attention_dim", 768), c.get("time_proj_dim", 256)
    layer = 3 * norm(D) + 4 * D * D + 2 * D * D + 2 * read * c.get("num_key_value_attention_heads", 12) * E + linear(D, 8 * D) + linear(4 * D, D)
    total = steps // 2 + features(steps, D) + c.get("global_states_input_dim", 1536) * D + D * D
    total += c.get("cross_attention_input_dim", 768) * read + read * read + channels * channels + channels * D + given * D + given * given
    return total + c.get("num_layers", 24) * layer


def hidream(c):
    """Attention with two norms of all heads; experts and one of half the width; a matrix of a text in each layer."""
    def rounded(F):
        return -(-(2 * F // 3) // 256) * 256

    D, X, area = width(c, 20, 128), c.get("num_routed_experts", 4), c["patch_size"] ** 2
    channels, (first, own) = c.get("in_channels", 64), c["caption_channels"]
    L, singles = c.get("num_layers", 16), c.get("num_single_layers", 32)
    attention, network = linear(D, 3 * D) + linear(D, D) + 2 * D + linear(D, 6 * D), 3 * D * rounded(4 * D)
    image = attention + X * network + 3 * D * rounded(2 * D) + X * D
    total = linear(area * channels, D) + features(256, D) + features(c.get("text_emb_dim", 2048), D) + first * D + (L + singles) * own * D
    total += (L + singles) * image + L * (attention + network)
    return total + linear(D, 2 * D) + linear(D, area * (c.get("out_channels") or channels))


def cogview(c):
    """CogVideoX without weights of norms; twelve vectors of a sample in a layer; six sizes of an image."""
    D, wide, area = width(c, 64, 40), c.get("time_embed_dim", 512), c.get("patch_size", 2) ** 2
    total = linear(area * c.get("in_channels", 16), D) + linear(c.get("text_embed_dim", 4096), D)
    total += features(D, wide) + features(6 * c.get("condition_dim", 256), wide)
    layer = linear(wide, 12 * D) + linear(D, 3 * D) + linear(D, D) + perceptron(D, 4 * D, D)
    return total + c.get("num_layers", 30) * layer + linear(wide, 2 * D) + linear(D, area * c.get("out_channels", 16))


def cogview4(c):
    return cogview(c)


def longcat_image(c, more=0):
    """FLUX without the row of a text; `more` matrices beside the first one of a network, for gates."""
    D, E, channels, words = width(c, 24, 128), c.get("attention_head_dim", 128), c.get("in_channels", 64), c.get("joint_attention_dim", 3584)
    total = linear(channels, D) + linear(words, D) + features(256, D) * (2 if c.get("guidance_embeds") else 1)
    network = perceptron(D, 4 * D, D) + more * linear(D, 4 * D)
    attention = linear(D, 3 * D) + linear(D, D) + 2 * E
    total += 2 * c.get("num_layers", 19) * (attention + network + linear(D, 6 * D))
    # One bias of both outputs.
    total += c.get("num_single_layers", 38) * (attention + network - D + linear(D, 3 * D))
    return total + linear(D, 2 * D) + linear(D, c.get("out_channels") or channels)


def bria(c):
    return longcat_image({"joint_attention_dim": 4096} | c)


def ovis_image(c):
    c = {"num_layers": 6, "num_single_layers": 27, "joint_attention_dim": 2048, "out_channels": 64} | c
    return longcat_image(c, 1) + c["joint_attention_dim"]


def skyreels_v2(c):
    return wan({"num_attention_heads": 16, "ffn_dim": 8192, "num_layers": 32} | c)


def image_prior(c):
    """BERT's layers with norms before; five matrices of what is read and given; a mean and a deviation that nothing reads."""
    D, words = width(c, 32, 64), c.get("embedding_dim", 768)
    wide, given = c.get("time_embed_dim") or D, c.get("clip_embed_dim") or words
    total = perceptron(D, wide, D) + 2 * linear(words, D) + linear(c.get("embedding_proj_dim") or words, D)
    total += (c.get("num_embeddings", 77) + 4) * D + D + norm(D) + linear(D, given) + 2 * given
    return total + c.get("num_layers", 20) * block(D, 4 * D)


def chroma(c):
    """FLUX without what makes vectors, for which there is one network, whose five layers have a norm each."""
    D, E, channels, wide = width(c, 24, 128), c.get("attention_head_dim", 128), c.get("in_channels", 64), c.get("approximator_hidden_dim", 5120)
    total = linear(channels, D) + linear(c.get("joint_attention_dim", 4096), D)
    total += linear(c.get("approximator_num_channels", 64), wide) + 5 * (perceptron(wide, wide, wide) + wide) + linear(wide, D)
    stream = linear(D, 3 * D) + 2 * E + perceptron(D, 4 * D, D)
    total += 2 * c.get("num_layers", 19) * (stream + linear(D, D)) + c.get("num_single_layers", 38) * (stream + D * D)
    return total + linear(D, c.get("out_channels") or channels)


def hunyuan_video15(c):
    """Layers of two streams alone; a text that is refined, letters behind a norm and three matrices, an image behind two, and three kinds."""
    D, E, words, known = width(c, 16, 128), c.get("attention_head_dim", 128), c.get("text_embed_dim", 3584), c.get("image_embed_dim", 1152)
    F, channels, letters = int(D * c.get("mlp_ratio", 4.0)), c.get("in_channels", 65), c.get("text_embed_2_dim", 1472)
    volume = c.get("patch_size", 1) ** 2 * c.get("patch_size_t", 1)
    total = linear(channels * volume, D) + 2 * features(256, D) + features(words, D) + linear(words, D) + 3 * D
    total += norm(letters) + linear(letters, 2048) + linear(2048, 2048) + linear(2048, D) + norm(known) + perceptron(known, known, D) + norm(D)
    attention = linear(D, 3 * D) + linear(D, D)
    total += c.get("num_refiner_layers", 2) * (attention + 2 * norm(D) + perceptron(D, 4 * D, D) + linear(D, 2 * D))
    total += 2 * c.get("num_layers", 54) * (attention + 2 * E + perceptron(D, F, D) + linear(D, 6 * D))
    given = c["out_channels"] or channels if "out_channels" in c else 32
    return total + linear(D, 2 * D) + linear(D, volume * given)


def switch_transformers(c):
    """T5 with two matrices; X networks and a router in place of one, every so many layers."""
    c = {"d_model": 768, "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12, "d_ff": 2048, "num_experts": 8,
         "num_sparse_encoder_layers": 3, "num_sparse_decoder_layers": 3} | c
    kind = (c.get("architectures") or ["SwitchTransformersForConditionalGeneration"])[0]
    only_encoder = kind == "SwitchTransformersEncoderModel"
    total = t5(c | {"architectures": ["T5EncoderModel" if only_encoder else ""]})
    for stack, key in (("encoder", "num_layers"),) + (() if only_encoder else (("decoder", "num_decoder_layers"),)):
        some = c[f"num_sparse_{stack}_layers"]
        step = c[key] // some if some else 0
        places = sum(step == 1 or step > 1 and layer % step == 1 for layer in range(c[key]))
        more = (c["num_experts"] - 1) * 2 * c["d_model"] * c["d_ff"]
        total += places * (more + linear(c["d_model"], c["num_experts"], c.get("router_bias", False)))
    return total


def nllb_moe(c):
    """M2M 100 with X networks, whose matrices have biases, and a router in place of one."""
    c = {"num_experts": 128, "encoder_sparse_step": 4, "decoder_sparse_step": 4, "encoder_layers": 12, "decoder_layers": 12,
         "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "d_model": 1024, "vocab_size": 128112} | c
    D, X, total = c["d_model"], c["num_experts"], bart(c | {"model_type": "m2m_100"})
    for stack in ("encoder", "decoder"):
        F, places = c[f"{stack}_ffn_dim"], c[f"{stack}_layers"] // c[f"{stack}_sparse_step"]
        total += places * ((X - 1) * (linear(D, F) + linear(F, D)) + linear(D, X, c.get("router_bias", False)))
    return total


def t5gemma(c):
    """Gemma 2's layers, and attention with two norms to another width; a table for each stack."""
    defaults = {"hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
                "num_key_value_heads": 4, "head_dim": 256}
    encoder, decoder = (defaults | c.get(part, {}) for part in ("encoder", "decoder"))
    V, tied = c.get("vocab_size", 256000), c.get("tie_word_embeddings", True)
    total = 0 if tied else V * decoder["hidden_size"]
    for part in (encoder, decoder):
        D, H, K, E = (part[k] for k in ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim"))
        bias = part.get("attention_bias", False)
        layer = linear(D, (H + 2 * K) * E, bias) + linear(H * E, D, bias) + 3 * D * part["intermediate_size"] + 4 * D
        if part is decoder:
            layer += linear(D, H * E, bias) + linear(encoder["hidden_size"], 2 * K * E, bias) + linear(H * E, D, bias) + 2 * D
        total += V * D + part["num_hidden_layers"] * layer + D
    return total


def glm4v(c):
    """A tower with RMSNorms without biases, a convolution and a gated network behind it."""
    is_moe = c["model_type"] == "glm4v_moe" or (c.get("text_config") or {}).get("model_type") == "glm4v_moe_text"
    t = {"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696, "num_hidden_layers": 40, "num_attention_heads": 32,
         "num_key_value_heads": 2}
    if is_moe:
        t |= {"vocab_size": 151424, "intermediate_size": 10944, "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
              "n_routed_experts": 128, "n_shared_experts": 1, "moe_intermediate_size": 1408, "first_k_dense_replace": 1}
    t |= c.get("text_config") or {}
    v = {"depth": 24, "hidden_size": 1536, "intermediate_size": 13696, "in_channels": 3, "image_size": 336, "patch_size": 14,
         "spatial_merge_size": 2, "temporal_patch_size": 1, "out_hidden_size": 4096}
    v |= c.get("vision_config") or {}
    D, T = v["hidden_size"], t["hidden_size"]
    tower = linear(v["in_channels"] * v["temporal_patch_size"] * v["patch_size"] ** 2, D) + 2 * D
    tower += (v["image_size"] // v["patch_size"]) ** 2 * D
    tower += v["depth"] * (linear(D, 3 * D, v.get("attention_bias", False)) + D * D + 3 * D * T + 2 * D)
    tower += linear(v["spatial_merge_size"] ** 2 * D, T) + T * T + norm(T) + 3 * T * v["intermediate_size"]

    def network(layer):
        dense = 3 * T * t["intermediate_size"]
        if not is_moe:
            return dense + 2 * T  # The norms behind the parts.
        if layer < t["first_k_dense_replace"]:
            return dense
        experts = t["n_routed_experts"]
        return T * experts + experts + (experts + t["n_shared_experts"]) * 3 * T * t["moe_intermediate_size"]
    return tower + decoder(t, t.get("attention_bias", True), False, False, c.get("tie_word_embeddings", False), network)


def glm_ocr(c):
    """GLM-4's tower without positions, with norms of heads, biases in each layer, and a wider network behind it."""
    t = {"vocab_size": 59392, "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 16, "num_attention_heads": 16,
         "num_key_value_heads": 8} | (c.get("text_config") or {})
    v = {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16, "in_channels": 3, "patch_size": 14,
         "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 1536, "attention_bias": True} | (c.get("vision_config") or {})
    D, F, T, bias = v["hidden_size"], v["intermediate_size"], t["hidden_size"], v["attention_bias"]
    layer = linear(D, 3 * D, bias) + linear(D, D, bias) + 2 * linear(D, F, bias) + linear(F, D, bias) + 2 * D + 2 * (D // v["num_heads"])
    tower = linear(v["in_channels"] * v["temporal_patch_size"] * v["patch_size"] ** 2, D) + v["depth"] * layer + D
    merger = linear(v["spatial_merge_size"] ** 2 * D, T) + T * T + norm(T) + 3 * T * T * v["in_channels"]
    return tower + merger + decoder(t, tied=c.get("tie_word_embeddings", False), ffn=lambda layer: 3 * T * t["intermediate_size"] + 2 * T)


def hunyuan_vl(c):
    """SigLIP's layers between a square of positions with one more and a convolution over squares; five learned vectors and two norms."""
    t = llama_text(c, LLAMA | {"vocab_size": 290943}) if "text_config" in c else llama_text({"text_config": c}, LLAMA | {"vocab_size": 290943})
    v = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_channels": 3, "patch_size": 16, "spatial_merge_size": 2,
         "max_image_size": 2048} | (c.get("vision_config") or {})
    D, T, bias = v["hidden_size"], t["hidden_size"], t.get("attention_bias", False)
    tower = linear(v["num_channels"] * v["patch_size"] ** 2, D) + ((v["max_image_size"] // v["patch_size"]) ** 2 + 1) * D
    tower += v["num_hidden_layers"] * block(D, v["intermediate_size"])
    merger = D + linear(v["spatial_merge_size"] ** 2 * D, 2 * D) + linear(2 * D, 4 * D) + 4 * D + linear(4 * D, T) + 3 * T + T
    return tower + merger + decoder(t, bias, bias, qk_norm=True, tied=c.get("tie_word_embeddings", True))


def dots_ocr(c):
    """Layers as Llama's behind a norm of patches, perhaps one behind them, a merger as Qwen 2 VL's, and biases as Qwen 2's."""
    t = {"vocab_size": 151936, "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28, "num_attention_heads": 12, "num_key_value_heads": 2} | c
    v = {"embed_dim": 1536, "intermediate_size": 4224, "num_hidden_layers": 42, "num_channels": 3, "patch_size": 14, "spatial_merge_size": 2, "use_bias": False,
         "post_norm": True} | (c.get("vision_config") or {})
    D, F, T, bias = v["embed_dim"], v["intermediate_size"], t["hidden_size"], v["use_bias"]
    wide, layer = v["spatial_merge_size"] ** 2 * D, linear(D, 3 * D, bias) + linear(D, D, bias) + 2 * linear(D, F, bias) + linear(F, D, bias) + 2 * D
    tower = linear(v["num_channels"] * v["patch_size"] ** 2, D) + D + v["num_hidden_layers"] * layer + (D if v["post_norm"] else 0)
    return tower + norm(D) + linear(wide, wide) + linear(wide, T) + decoder(t, True, tied=c.get("tie_word_embeddings", False))


def phi3_v(c):
    """A large CLIP tower, two learned tokens as wide as four patches, and two matrices."""
    t = {"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32} | c
    t["num_key_value_heads"] = t.get("num_key_value_heads") or t["num_attention_heads"]
    T = t["hidden_size"]
    return clip_tower({}) + 2 * 4096 + linear(4096, T) + linear(T, T) + decoder(t, tied=c.get("tie_word_embeddings", False))


def gemma3n(c):
    """Its text."""
    defaults = {"vocab_size": 262400, "hidden_size": 2048, "num_hidden_layers": 35, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
                "intermediate_size": 16384, "altup_num_inputs": 4, "laurel_rank": 64, "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
                "num_kv_shared_layers": 15}
    return closed_forms.gemma3n_text(defaults | (c.get("text_config") or {}))[0]


def kimi_vl(c):
    """DeepSeek 3 behind a tower with positions of a square and a merger of squares."""
    t = {"vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
         "num_attention_heads": 128, "n_shared_experts": 1, "n_routed_experts": 256, "num_experts_per_tok": 8,
         "first_k_dense_replace": 3, "q_lora_rank": 1536} | (c.get("text_config") or {})
    v = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "patch_size": 14, "init_pos_emb_height": 64,
         "init_pos_emb_width": 64, "merge_kernel_size": [2, 2]} | (c.get("vision_config") or {})
    D, wide = v["hidden_size"], v["merge_kernel_size"][0] ** 2 * v["hidden_size"]
    tower = linear(3 * v["patch_size"] ** 2, D) + v["init_pos_emb_height"] * v["init_pos_emb_width"] * D
    tower += v["num_hidden_layers"] * block(D, v["intermediate_size"]) + 2 * norm(D)
    tower += linear(wide, wide) + linear(wide, t["hidden_size"])
    return tower + closed_forms.deepseek_v3(t | {"tie_word_embeddings": c.get("tie_word_embeddings", False)})[0]


def kimi_k25(c):
    """Kimi-VL whose tower has other names."""
    v, names = dict(c.get("vision_config") or {}), {"pos_emb_height": "init_pos_emb_height", "pos_emb_width": "init_pos_emb_width"}
    v |= {names.get(key, key.removeprefix("vt_")): value for key, value in v.items()}
    return kimi_vl(c | {"vision_config": v, "tie_word_embeddings": c.get("tie_word_embeddings", True)})


def weighed_layers(c, layers):
    """A number of what the layers read and of what the last one gives, where what is read is their sum."""
    is_read = kind_of(c) in ("ForSequenceClassification", "ForAudioFrameClassification", "ForXVector")
    return layers + 1 if c.get("use_weighted_layer_sum", False) and is_read else 0


def codebook(c, D, channels):
    """Scores of all vectors, the vectors of each group, and a matrix of them and one of frames to what is compared."""
    vectors = c.get("num_codevector_groups", 2) * c.get("num_codevectors_per_group", 320)
    width, compared = c.get("codevector_dim", 256), c.get("proj_codevector_dim", 256)
    return linear(channels, vectors) + vectors * width // c.get("num_codevector_groups", 2) + linear(width, compared) + linear(D, compared)


def voices(c, D):
    """A matrix, five convolutions over frames, two matrices and a column for each voice."""
    *C, last = c.get("tdnn_dim", [512, 512, 512, 512, 1500])
    X = c.get("xvector_output_dim", 512)
    convolutions = linear(5 * C[0], C[0]) + 2 * linear(3 * C[0], C[0]) + linear(C[0], C[0]) + linear(C[0], last)
    return linear(D, C[0]) + convolutions + linear(2 * last, X) + linear(X, X) + X * classes(c)


def wav2vec2(c):
    """Seven convolutions over samples, one over frames or several, and layers."""
    D, kind = c.get("hidden_size", 768), kind_of(c)
    C, bias = (c.get("conv_dim") or [512])[0], c.get("conv_bias", False)
    is_data2vec, is_hubert = c["model_type"] == "data2vec-audio", c["model_type"] == "hubert"
    windows = [10, 3, 3, 3, 3, 2, 2]
    total = sum(linear(width * (C if i else 1), C, bias) for i, width in enumerate(windows))
    is_each = is_data2vec or c.get("feat_extract_norm", "group") == "layer"
    total += norm(C) * (7 if is_each else 1)
    total += linear(C, D) + (norm(C) if not is_hubert or c.get("feat_proj_layer_norm", True) else 0)
    groups = c.get("num_conv_pos_embedding_groups", 16)
    if is_data2vec:
        total += c.get("num_conv_pos_embeddings", 5) * linear(c.get("conv_pos_kernel_size", 19) * D // groups, D)
    else:  # A length for each frame of the window.
        window = c.get("num_conv_pos_embeddings", 128)
        total += linear(window * D // groups, D) + window
    # Of frames that are hidden; nothing reads it where channels alone are.
    total += D if c.get("mask_time_prob", 0.05) > 0 else 0
    total += norm(D) + c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 3072))
    total += weighed_layers(c, c.get("num_hidden_layers", 12))
    if kind in ("ForPreTraining", "ForXVector"):
        return total + (codebook(c, D, C) if kind == "ForPreTraining" else voices(c, D))
    if kind == "ForCTC":
        return total + linear(D, c.get("vocab_size", 32))
    if kind == "ForSequenceClassification":
        narrow = c.get("classifier_proj_size", 256)
        return total + linear(D, narrow) + linear(narrow, classes(c))
    return total + (linear(D, classes(c)) if kind == "ForAudioFrameClassification" else 0)


def wavlm(c):
    """wav2vec 2.0, a table of relative positions, and in each layer eight gates of a part of a frame
    as large as a head, and a number for each head."""
    D, H = c.get("hidden_size", 768), c.get("num_attention_heads", 12)
    return wav2vec2(c) + c.get("num_buckets", 320) * H + c.get("num_hidden_layers", 12) * (linear(D // H, 8) + H)


def conformer(c):
    """Layers of two feed-forward networks, attention and a convolution, each with a norm, and one behind
    them. The convolution over frames of wav2vec 2.0 nothing reads."""
    c = {"vocab_size": 32} | c
    D, F, L = c.get("hidden_size", 768), c.get("intermediate_size", 3072), c.get("num_hidden_layers", 12)
    window = c.get("num_conv_pos_embeddings", 128)
    unread = linear(window * D // c.get("num_conv_pos_embedding_groups", 16), D) + window
    layer = 2 * (linear(D, F) + linear(F, D)) + 4 * linear(D, D) + 5 * norm(D)
    layer += linear(D, 2 * D, False) + c.get("conv_depthwise_kernel_size", 31) * D + norm(D) + linear(D, D, False)
    layer += linear(D, D, False) + 2 * D if c.get("position_embeddings_type", "relative") == "relative" else 0
    return wav2vec2(c) - unread - L * block(D, F) + L * layer


def wav2vec2_bert(c):
    """Features with a norm and a matrix; Conformer's layers, with a row for each distance in each of them."""
    c = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 0} | c
    D, F, features, kind = c["hidden_size"], c["intermediate_size"], c.get("feature_projection_input_dim", 160), kind_of(c)
    layer = 2 * (linear(D, F) + linear(F, D)) + 4 * linear(D, D) + 5 * norm(D)
    layer += 3 * D * D + c.get("conv_depthwise_kernel_size", 31) * D + norm(D)
    positions = c.get("position_embeddings_type", "relative_key")
    if positions == "relative_key":
        layer += (c.get("left_max_position_embeddings", 64) + 1 + c.get("right_max_position_embeddings", 8)) * D // c["num_attention_heads"]
    layer += D * D + 2 * D if positions == "relative" else 0
    # Nothing reads the frame of those that are hidden where none is.
    is_hiding = c.get("mask_time_prob", 0.05) > 0 and c.get("apply_spec_augment", True)
    total = norm(features) + linear(features, D) + (D if is_hiding else 0) + c.get("num_hidden_layers", 24) * layer
    narrow = c.get("classifier_proj_size", 768)
    heads = {"ForCTC": linear(D, c["vocab_size"]), "ForSequenceClassification": linear(D, narrow) + linear(narrow, classes(c)), "ForAudioFrameClassification": linear(D, classes(c)),
             "ForXVector": voices(c, D)}
    return total + weighed_layers(c, c.get("num_hidden_layers", 24)) + heads.get(kind, 0)


def convnext(c):
    """Four stages, before each but the first a convolution; learned scales, or a norm with two vectors."""
    widths, depths = c.get("hidden_sizes", [96, 192, 384, 768]), c.get("depths", [3, 3, 9, 3])
    total = linear(16 * c.get("num_channels", 3), widths[0]) + norm(widths[0])
    for before, C in zip(widths, widths[1:]):
        total += norm(before) + linear(4 * before, C)
    is_second = c["model_type"] == "convnextv2"
    has_scale = not is_second and c.get("layer_scale_init_value", 1e-6) > 0
    for C, depth in zip(widths, depths):
        layer = 50 * C + norm(C) + linear(C, 4 * C) + linear(4 * C, C)
        total += depth * (layer + (8 * C if is_second else C if has_scale else 0))
    total += norm(widths[3])
    return total + (linear(widths[3], classes(c)) if kind_of(c) != "Model" else 0)


def mllama(c):
    """A tower of gated and other layers with three tables of tiles, and layers that attend to it."""
    t = {"vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 40, "num_attention_heads": 32,
         "num_key_value_heads": 8, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]} | (c.get("text_config") or {})
    v = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_global_layers": 8, "image_size": 448,
         "patch_size": 14, "num_channels": 3, "max_num_tiles": 4} | (c.get("vision_config") or {})
    D, tiles = v["hidden_size"], v["max_num_tiles"]
    number, width = patches(v)
    ways = len(v.get("supported_aspect_ratios") or range(8)) + 1
    layer = 4 * D * D + linear(D, v["intermediate_size"]) + linear(v["intermediate_size"], D) + 2 * norm(D)
    tower = width * D + D + (number + 1) * D + ways * tiles * (number + 1) * D + 2 * ways * tiles * D + 3 + 2 * norm(D)
    tower += (v["num_hidden_layers"] + v["num_global_layers"]) * layer + 2 * v["num_global_layers"]
    H, K, wide, V = t["num_attention_heads"], t["num_key_value_heads"], t["hidden_size"], t["vocab_size"]
    E = wide // H
    text_layer = 2 * wide * (H + K) * E + 3 * wide * t["intermediate_size"] + 2 * wide
    text = t["num_hidden_layers"] * text_layer + len(t["cross_attention_layers"]) * (2 * E + 2)
    return tower + linear(6 * D, wide) + text + (V + 8) * wide + V * wide + wide


def roformer(c):
    """Tables of words and types alone, which may be narrow, and no pooler."""
    D, V = c.get("hidden_size", 768), c.get("vocab_size", 50000)
    kind = kind_of({"architectures": [(c.get("architectures") or ["Model"])[0].replace("RoFormer", "")]})
    E = c.get("embedding_size") or D
    total = (V + c.get("type_vocab_size", 2)) * E + norm(E) + (linear(E, D) if E != D else 0)
    total += c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 3072))
    if kind == "ForMaskedLM":
        total += linear(D, E) + norm(E) + V + (0 if c.get("tie_word_embeddings", True) else V * E)
    total += {"ForTokenClassification": linear(D, classes(c)), "ForQuestionAnswering": linear(D, 2)}.get(kind, 0)
    return total + (linear(D, D) + linear(D, classes(c)) if kind == "ForSequenceClassification" else 0)


def rembert(c):
    """Narrow tables, a matrix behind them, and a table of its own for the words that are masked."""
    D, V, kind = c.get("hidden_size", 1152), c.get("vocab_size", 250300), kind_of(c)
    E, O = c.get("input_embedding_size", 256), c.get("output_embedding_size", 1664)
    total = (V + c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)) * E + norm(E) + linear(E, D)
    total += c.get("num_hidden_layers", 32) * block(D, c.get("intermediate_size", 4608))
    total += linear(D, O) + norm(O) + linear(O, V) if kind == "ForMaskedLM" else 0
    total += linear(D, D) if kind in ("Model", "ForSequenceClassification") else 0
    return total + of_tokens(D, c) + (linear(D, classes(c)) if kind == "ForSequenceClassification" else 0)


def layoutlm(c):
    """BERT with four tables of places; the pooler is there whatever reads it."""
    D, kind = c.get("hidden_size", 768), kind_of(c)
    total = bert(c | {"architectures": ["Bert" + kind]}) + 4 * c.get("max_2d_position_embeddings", 1024) * D
    return total + (linear(D, D) if kind in ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering") else 0)


def ernie_m(c):
    """BERT without a table of types."""
    c = {"vocab_size": 250002, "max_position_embeddings": 514} | c
    return bert(c | {"architectures": ["Bert" + kind_of(c)], "type_vocab_size": 0})


def dream(c):
    given = {key: value for key, value in c.items() if value is not None}
    return decoder(QWEN2 | given, qkv_bias=True, tied=c.get("tie_word_embeddings", False))


def llada(c):
    """The table may have more rows than there are words."""
    D, H = c.get("d_model", 768), c.get("n_heads", 12)
    sizes = {"hidden_size": D, "num_attention_heads": H, "num_key_value_heads": c.get("n_kv_heads") or H, "num_hidden_layers": c.get("n_layers", 12),
             "intermediate_size": c.get("mlp_hidden_size") or c.get("mlp_ratio", 4) * D, "vocab_size": c.get("embedding_size") or c["vocab_size"]}
    return decoder(sizes, qkv_bias=c.get("include_qkv_bias", False), tied=c.get("weight_tying", True))


def markuplm(c):
    """BERT with two tables for each depth and two matrices behind them."""
    D, depth, width = c.get("hidden_size", 768), c.get("max_depth", 50), c.get("xpath_unit_hidden_size", 32)
    rows = c.get("max_xpath_tag_unit_embeddings", 256) + c.get("max_xpath_subs_unit_embeddings", 1024)
    paths = depth * rows * width + linear(depth * width, 4 * D) + linear(4 * D, D)
    return bert(c | {"architectures": ["Bert" + kind_of(c)]}) + paths


def words(kinds):
    """What a list says, or a text with bars."""
    return kinds.split("|") if isinstance(kinds, str) else kinds or []


def deberta(c):
    """BERT with a table of relative positions, twice as many rows as are told apart on one side. The
    second version has all biases; its projections of these rows may be those of tokens."""
    is_first = c["model_type"] == "deberta"
    sizes = (50265, 768, 12, 3072) if is_first else (128100, 1536, 24, 6144)
    c = dict(zip(("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"), sizes)) | c
    D, V, P = c["hidden_size"], c["vocab_size"], c.get("max_position_embeddings", 512)
    narrow, kind = c.get("embedding_size") or D, kind_of(c)
    rows = V + c.get("type_vocab_size", 0) + (P if c.get("position_biased_input", True) else 0)
    total = rows * narrow + norm(D) + (narrow * D if narrow != D else 0)
    layer = block(D, c["intermediate_size"]) - (D if is_first else 0)
    if c.get("relative_attention", False):
        farthest = c.get("max_relative_positions", -1)
        side = c.get("position_buckets", -1) if c.get("position_buckets", -1) > 0 else P if farthest < 1 else farthest
        total += 2 * side * D + (norm(D) if c.get("norm_rel_ebd", "none") == "layer_norm" else 0)
        terms = [] if c.get("share_att_key", False) else words(c.get("pos_att_type"))
        layer += (linear(D, D, not is_first) if "c2p" in terms else 0) + (linear(D, D) if "p2c" in terms else 0)
    window = c.get("conv_kernel_size", 0)
    total += linear(window * D // c.get("conv_groups", 1), D) + norm(D) if window else 0
    total += c["num_hidden_layers"] * layer
    if kind == "ForMaskedLM":
        is_tied = c.get("tie_word_embeddings", True) or not c.get("legacy", True)
        total += linear(D, narrow) + norm(narrow) + V + (0 if is_tied else V * narrow)
    return total + of_tokens(D, c) + (linear(D, D) + linear(D, classes(c)) if kind == "ForSequenceClassification" else 0)


def swin(c):
    """Stages of attention in windows; four positions become one, twice as wide. The first version has
    a table of a row for each relative position of a window, the second one a network of two numbers,
    no bias of keys, and a number for each head. Donut's has no norm at its end."""
    is_first, kind = c["model_type"] != "swinv2", kind_of(c)
    width, patch, colors = c.get("embed_dim", 96), c.get("patch_size", 4), c.get("num_channels", 3)
    window, bias = c.get("window_size", 7), c.get("qkv_bias", True)
    heads = c.get("num_heads", [3, 6, 12, 24])
    total = linear(colors * patch**2, width) + norm(width)
    for stage, depth in enumerate(c.get("depths", [2, 2, 6, 2])):
        D, H = width << stage, heads[stage]
        F = int(D * c.get("mlp_ratio", 4.0))
        layer = 2 * norm(D) + linear(D, D) + linear(D, F) + linear(F, D) + linear(D, 3 * D, False)
        layer += (3 if is_first else 2) * D if bias else 0
        layer += (2 * window - 1)**2 * H if is_first else linear(2, 512) + 512 * H + H
        total += depth * layer
        if stage < 3:
            total += linear(4 * D, 2 * D, False) + (norm(4 * D) if is_first else norm(2 * D))
    total += 0 if c["model_type"] == "donut-swin" else norm(8 * width)
    return total + (linear(8 * width, classes(c)) if kind == "ForImageClassification" else 0)


def segformer(c):
    """Patches that overlap; attention to a map that a convolution makes smaller, and a network with a
    convolution of each channel over 3 x 3 positions."""
    widths, squares = c.get("hidden_sizes", [32, 64, 160, 256]), c.get("sr_ratios", [8, 4, 2, 1])
    total, before = 0, c.get("num_channels", 3)
    for stage, D in enumerate(widths):
        F, square = D * c.get("mlp_ratios", [4, 4, 4, 4])[stage], squares[stage]
        layer = 2 * norm(D) + 4 * linear(D, D) + linear(D, F) + linear(9, F) + linear(F, D)
        layer += linear(square**2 * D, D) + norm(D) if square > 1 else 0
        total += linear(c.get("patch_sizes", [7, 3, 3, 3])[stage]**2 * before, D) + 2 * norm(D)
        total, before = total + c.get("depths", [2, 2, 2, 2])[stage] * layer, D
    if kind_of(c) == "ForSemanticSegmentation":
        M = c.get("decoder_hidden_size", 256)
        return total + sum(linear(D, M) for D in widths) + 4 * M * M + norm(M) + linear(M, classes(c))
    return total + (linear(before, classes(c)) if kind_of(c) == "ForImageClassification" else 0)


def layoutlmv3(c):
    """RoBERTa with two tables of sides and two of sizes, a tower's patches and positions, two norms more, and
    tables of relative positions and places."""
    D, H, kind = c.get("hidden_size", 768), c.get("num_attention_heads", 12), kind_of(c)
    tables = c.get("vocab_size", 50265) + c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)
    total = tables * D + norm(D) + 2 * c.get("max_2d_position_embeddings", 1024) * (c.get("coordinate_size", 128) + c.get("shape_size", 128))
    total += image_ends(c | {"image_size": c.get("input_size", 224)}, 1)[0] + 2 * norm(D) + layers_of(c)
    total += c.get("rel_pos_bins", 32) * H if c.get("has_relative_attention_bias", True) else 0
    total += 2 * c.get("rel_2d_pos_bins", 64) * H if c.get("has_spatial_attention_bias", True) else 0
    labels = 2 if kind == "ForQuestionAnswering" else classes(c)
    has_head = kind != "ForTokenClassification" or labels >= 10
    return total + ((linear(D, D) if has_head else 0) + linear(D, labels) if kind != "Model" else 0)


def dpr(c):
    """BERT without its pooler, and one matrix."""
    D, P = c.get("hidden_size", 768), c.get("projection_dim", 0)
    return bert(c | {"architectures": ["BertModel"]}) - linear(D, D) + (linear(D, P) if P else 0)


def bert_generation(c):
    """BERT without types and without its pooler; the head of a decoder is a bias, and a matrix where that is not the table."""
    c = {"vocab_size": 50358, "hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096} | c
    D, V = c["hidden_size"], c["vocab_size"]
    total = bert(c | {"architectures": ["BertModel"], "type_vocab_size": 0}) - linear(D, D)
    is_decoder = (c.get("architectures") or [""])[0] == "BertGenerationDecoder"
    return total + ((V + (0 if c.get("tie_word_embeddings", True) else V * D)) if is_decoder else 0)


def roberta_prelayernorm(c):
    return roberta(c) + norm(c.get("hidden_size", 768))


def roc_bert(c):
    """BERT with two tables more, and a matrix behind all three; the pooler is there before training for a task, too."""
    D, shape, sound = c.get("hidden_size", 768), c.get("shape_embed_dim", 512), c.get("pronunciation_embed_dim", 768)
    kind = kind_of(c)
    total = bert(c | {"architectures": ["Bert" + ("ForMaskedLM" if kind == "ForPreTraining" else kind)]})
    total += c.get("shape_vocab_size", 24858) * shape + c.get("pronunciation_vocab_size", 910) * sound + linear(D + shape + sound, D)
    return total + (linear(D, D) if kind == "ForPreTraining" else 0)


def xlm(c):
    """Tables of words, positions and languages, a norm, layers four times as wide inside, and a bias of words. Fixed positions
    are no parameters."""
    D, V, languages = c.get("emb_dim", 2048), c.get("vocab_size", 30145), c.get("n_langs", 1)
    rows = V + (0 if c.get("sinusoidal_embeddings", False) else c.get("max_position_embeddings", 512))
    rows += languages if languages > 1 and c.get("use_lang_emb", True) else 0
    total = rows * D + norm(D) + c.get("n_layers", 12) * block(D, 4 * D)
    has_head = "WithLMHead" in (c.get("architectures") or [""])[0]
    return total + ((V + (0 if c.get("tie_word_embeddings", True) else V * D)) if has_head else 0)


def fsmt(c):
    """The head is the decoder's table always, the encoder's table another one but where they are tied."""
    c = {"d_model": 1024, "encoder_layers": 12, "decoder_layers": 12, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
         "vocab_size": c.get("tgt_vocab_size", 42024)} | c
    tables = 0 if c.get("tie_word_embeddings", False) else c.get("src_vocab_size", 42024) * c["d_model"]
    return sequences(c | {"tie_word_embeddings": True}, 0, False, False) + tables


def xlnet(c):
    """Five matrices of attention without biases, and rows that queries are added to."""
    c = {"d_model": 1024, "n_layer": 24, "n_head": 16, "d_inner": 4096, "vocab_size": 32000} | c
    D, V, kind = c["d_model"], c["vocab_size"], kind_of(c)
    total = V * D + D + c["n_layer"] * (5 * D * D + 5 * D + linear(D, c["d_inner"]) + linear(c["d_inner"], D) + 2 * norm(D))
    if "LMHead" in (c.get("architectures") or [""])[0]:
        return total + V + (0 if c.get("tie_word_embeddings", True) else V * D)
    ends = {"ForSequenceClassification": linear(D, D) + linear(D, classes(c)), "ForTokenClassification": linear(D, classes(c)), "ForQuestionAnsweringSimple": linear(D, 2)}
    return total + ends.get(kind, 0)


def lilt(c):
    """RoBERTa, and layers of a narrower width beside its own, without an output of their own."""
    D, F, ratio = c.get("hidden_size", 768), c.get("intermediate_size", 3072), c.get("channel_shrink_ratio", 4)
    N, kind = D // ratio, kind_of(c)
    places = 4 * c.get("max_2d_position_embeddings", 1024) * (D // 6) + c.get("max_position_embeddings", 512) * N + linear(D, N) + norm(N)
    text = roberta({"vocab_size": 30522} | c | {"architectures": ["Roberta" + kind]})
    return text + places + c.get("num_hidden_layers", 12) * block(N, F // ratio)


def clap(c):
    """RoBERTa and Swin, each with two matrices; a fusion has two convolutions of a position and two of their mean."""
    t, a, P = c.get("text_config") or {}, c.get("audio_config") or {}, c.get("projection_dim", 512)
    C = a.get("patch_embeds_hidden_size", 96)
    names = {"depths": "depths", "num_attention_heads": "num_heads", "mlp_ratio": "mlp_ratio", "qkv_bias": "qkv_bias", "patch_size": "patch_size"}
    sound = swin({"model_type": "swin", "embed_dim": C, "num_channels": 1, "num_heads": [4, 8, 16, 32], "window_size": a.get("window_size", 8)}
                 | {names[key]: value for key, value in a.items() if key in names})
    text = roberta({"max_position_embeddings": 514, "type_vocab_size": 1} | t)
    total = text + sound + norm(a.get("num_mel_bins", 64)) + sum(linear(D, P) + linear(P, P) for D in (t.get("hidden_size", 768), 8 * C)) + 2
    if a.get("enable_fusion"):
        narrow = C // a.get("aff_block_r", 4)
        total += linear(3 * a.get("patch_size", 4)**2, C) + 2 * (linear(C, narrow) + norm(narrow) + linear(narrow, C) + norm(C))
    return total


def owlvit(c):
    """CLIP, and networks of what a patch finds: its class, its box, and for the second version whether it finds anything."""
    patch = 16 if c["model_type"] == "owlv2" else 32
    t, v = {"max_position_embeddings": 16} | (c.get("text_config") or {}), {"image_size": 768, "patch_size": patch} | (c.get("vision_config") or {})
    total, D, P = clip(c | {"text_config": t, "vision_config": v}), v.get("hidden_size", 768), t.get("hidden_size", 512)
    total += norm(D) + linear(D, P) + 2 * linear(D, 1) + 2 * linear(D, D) + linear(D, 4)
    return total + (2 * linear(D, D) + linear(D, 1) if c["model_type"] == "owlv2" else 0)


def timesformer(c):
    """ViT without a pooler, with positions of frames, and in each layer attention to frames and a matrix behind it."""
    D, frames = c.get("hidden_size", 768), c.get("num_frames", 8)
    layer = norm(D) + linear(D, 3 * D, c.get("qkv_bias", True)) + 2 * linear(D, D)
    total = vit(c | {"architectures": ["ViTModel"]}) - linear(D, D) + frames * D + c.get("num_hidden_layers", 12) * layer
    return total + (0 if kind_of(c) == "Model" else linear(D, classes(c)))


def pvt_v2(c):
    return segformer({"mlp_ratios": [8, 8, 4, 4]} | c)


def detr(c):
    """Convolutions without normalizations, one matrix, an encoder, and a decoder of queries; a network of three matrices for boxes."""
    c = {"d_model": 256, "num_queries": 100, "backbone": "resnet50", "encoder_layers": 6, "decoder_layers": 6, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048} | c
    D, is_plain, last = c["d_model"], c["backbone"] in ("resnet18", "resnet34"), c["model_type"] == "table-transformer"
    depths = {"resnet18": [2, 2, 2, 2], "resnet101": [3, 4, 23, 3]}.get(c["backbone"], [3, 4, 6, 3])
    total, inputs = 49 * c.get("num_channels", 3) * 64, 64
    for stage, depth in enumerate(depths):
        width = (64 if is_plain else 256) << stage
        for _ in range(depth):
            total += 9 * (inputs + width) * width if is_plain else inputs * width // 4 + 9 * width**2 // 16 + width**2 // 4
            total += inputs * width if inputs != width else 0
            inputs = width
    total += linear(inputs, D) + c["num_queries"] * D + norm(D) + (norm(D) if last else 0)
    total += c["encoder_layers"] * block(D, c["encoder_ffn_dim"]) + c["decoder_layers"] * (block(D, c["decoder_ffn_dim"]) + 4 * linear(D, D) + norm(D))
    return total + (0 if kind_of(c) == "Model" else linear(D, classes(c) + 1) + 2 * linear(D, D) + linear(D, 4))


def muse_glimmer(c):
    """Kimi's tower and three matrices without biases before layers with four norms and gates of heads' elements."""
    t = {"vocab_size": 202048, "hidden_size": 6656, "intermediate_size": 19968, "num_hidden_layers": 52, "num_attention_heads": 32, "num_key_value_heads": 2,
         "head_dim": 128} | (c.get("text_config") or {})
    v = {"hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 50, "patch_size": 14, "patch_temporal": 2, "pos_emb_height": 32, "merge_size": 2} | (c.get("vision_config") or {})
    D, W, P, bias = t["hidden_size"], v["hidden_size"], c.get("projector_hidden_size", 4096), t.get("attention_bias", False)
    tower = linear(3 * v["patch_temporal"] * v["patch_size"]**2, W, False) + v["pos_emb_height"]**2 * W + 2 * norm(W) + v["num_hidden_layers"] * block(W, v["intermediate_size"])
    H, K, E = t["num_attention_heads"], t["num_key_value_heads"], t["head_dim"]
    layer = linear(D, (2 * H + 2 * K) * E, bias) + linear(H * E, D, bias) + 3 * D * t["intermediate_size"] + 4 * D
    tables = 1 if c.get("tie_word_embeddings", t.get("tie_word_embeddings", False)) else 2
    return tower + (v["merge_size"]**2 * W + P + D) * P + t["num_hidden_layers"] * layer + D + tables * t["vocab_size"] * D


def big_bird(c):
    """BERT with a pooler whatever reads it, and a class of a text by another matrix than that."""
    c, kind = {"vocab_size": 50358, "max_position_embeddings": 4096} | c, kind_of(c)
    D = c.get("hidden_size", 768)
    return bert(c | {"architectures": ["Bert" + kind]}) + (linear(D, D) if kind not in ("Model", "ForPreTraining") else 0)


def separable(channels, c):
    """Convolutions over 3 x 3 positions of each channel, and of one position over all, with two numbers of a normalization each."""
    return sum(9 * before + norm(before) + before * behind + norm(behind) for before, behind in zip(channels, channels[1:])) + (0 if kind_of(c) == "Model" else linear(channels[-1], classes(c)))


def mobilenet_v1(c):
    channels = [max(int(width * c.get("depth_multiplier", 1.0)), c.get("min_depth", 8)) for width in [32, 64, 128, 128, 256, 256] + [512] * 6 + [1024] * 2]
    return 9 * c.get("num_channels", 3) * channels[0] + norm(channels[0]) + separable(channels, c)


def mobilenet_v2(c):
    """The same behind a convolution to more channels."""
    def rounded(width):
        size = int(round(width * c.get("depth_multiplier", 1.0)))
        near = max(8, (size + 4) // 8 * 8)
        return near + 8 if near < 0.9 * size else near

    channels = [rounded(width) for width in [16] + 2 * [24] + 3 * [32] + 4 * [64] + 3 * [96] + 3 * [160] + [320]]
    stem, last = rounded(32), max(1280, rounded(1280))
    total = 9 * c.get("num_channels", 3) * stem + norm(stem) + separable([stem, channels[0]], {})
    for before, behind in zip(channels, channels[1:]):
        wide = c.get("expand_ratio", 6) * before
        total += before * wide + norm(wide) + separable([wide, behind], {})
    return total + channels[-1] * last + norm(last) + (0 if kind_of(c) == "Model" else linear(last, classes(c)))


def rounded_channels(width, step=8, least=None):
    """The nearest multiple, which is no less than nine tenths."""
    near = max(least or step, int(width + step / 2) // step * step)
    return near + step if near < 0.9 * width else near


def batch_conv(window, before, behind, bias=False):
    """A convolution, and two numbers of a normalization."""
    return linear(window**2 * before, behind, bias) + norm(behind)


def inverted(before, wide, behind, window=3, weighs=0):
    """More channels, if there are more, a window of each, two matrices that weigh them, and fewer again."""
    total = (batch_conv(1, before, wide) if wide != before else 0) + batch_conv(window, 1, wide) + batch_conv(1, wide, behind)
    return total + (linear(wide, weighs) + linear(weighs, wide) if weighs else 0)


def efficientnet(c):
    """Seven stages of these; the first one of each reads the channels of the stage before."""
    def width(channels):
        return rounded_channels(channels * c.get("width_coefficient", 2.0), c.get("depth_divisor", 8))

    repeats = [-(-count * round(1000 * c.get("depth_coefficient", 3.1)) // 1000) for count in c.get("num_block_repeats", [1, 2, 2, 3, 3, 4, 1])]
    before = width(32)
    total = batch_conv(3, c.get("num_channels", 3), before)
    for stage, channels in enumerate(c.get("out_channels", [16, 24, 40, 80, 112, 192, 320])):
        for _ in range(repeats[stage]):
            ratio, window = c.get("expand_ratios", [1] + 6 * [6])[stage], c.get("kernel_sizes", [3, 3, 5, 3, 5, 5, 3])[stage]
            total += inverted(before, ratio * before, width(channels), window, max(1, int(before * c.get("squeeze_expansion_ratio", 0.25))))
            before = width(channels)
    return total + batch_conv(1, before, width(1280)) + (0 if kind_of(c) == "Model" else linear(width(1280), classes(c)))


def mobilevit(c):
    """Inverted layers, and three maps with layers of transformers between two windows of all channels."""
    maps, widths = c.get("neck_hidden_sizes", [16, 32, 64, 96, 128, 160, 640]), c.get("hidden_sizes", [144, 192, 240])
    window = c.get("conv_kernel_size", 3)

    def layer(before, behind):
        return inverted(before, rounded_channels(round(before * c.get("expand_ratio", 4.0))), behind)

    total = batch_conv(3, c.get("num_channels", 3), maps[0]) + layer(maps[0], maps[1]) + layer(maps[1], maps[2]) + 2 * layer(maps[2], maps[2])
    for place, (D, depth) in enumerate(zip(widths, [2, 4, 3])):
        C = maps[place + 3]
        total += layer(maps[place + 2], C) + batch_conv(window, C, C) + C * D + depth * block(D, int(D * c.get("mlp_ratio", 2.0)), c.get("qkv_bias", True))
        total += norm(D) + batch_conv(1, D, C) + batch_conv(window, 2 * C, C)
    return total + batch_conv(1, maps[5], maps[6]) + (0 if kind_of(c) == "Model" else linear(maps[6], classes(c)))


def mobilevitv2(c):
    """The same with a window of each channel, one score of a position, and without what joins two maps."""
    times = c.get("width_multiplier", 1.0)
    maps = [rounded_channels(max(16, min(64, 32 * times)), 8, 16), rounded_channels(64 * times, 16)] + [rounded_channels(width * times) for width in (128, 256, 384, 512)]

    def layer(before, behind):
        return inverted(before, rounded_channels(round(before * c.get("expand_ratio", 2.0))), behind)

    total = batch_conv(3, c.get("num_channels", 3), maps[0]) + layer(maps[0], maps[1]) + layer(maps[1], maps[2]) + layer(maps[2], maps[2])
    for place, (base, depth) in enumerate(zip(c.get("base_attn_unit_dims", [128, 192, 256]), c.get("n_attn_blocks", [2, 4, 3]))):
        C, D = maps[place + 3], rounded_channels(base * times)
        F = c.get("ffn_multiplier", 2) * D // 16 * 16
        total += layer(maps[place + 2], C) + batch_conv(c.get("conv_kernel_size", 3), 1, C) + C * D + norm(D) + batch_conv(1, D, C)
        total += depth * (2 * norm(D) + linear(D, 2 * D + 1) + linear(D, D) + linear(D, F) + linear(F, D))
    return total + (0 if kind_of(c) == "Model" else linear(maps[5], classes(c)))


def focalnet(c):
    """Patches; two matrices around windows of each channel and a third matrix, and networks."""
    wide, D, before = c.get("use_conv_embed", False), c.get("embed_dim", 96), c.get("num_channels", 3)
    total = 0
    for stage, depth in enumerate(c.get("depths", [2, 2, 6, 2])):
        windows, first = c.get("focal_levels", [2] * 4)[stage], c.get("focal_windows", [3] * 4)[stage]
        side = (7 if wide else 4) if stage == 0 else 3 if wide else 2
        total += linear(side**2 * before, D) + norm(D)
        layer = linear(D, 2 * D + windows + 1) + 2 * linear(D, D) + sum((first + 2 * k)**2 * D for k in range(windows)) + 2 * norm(D)
        layer += linear(D, int(D * c.get("mlp_ratio", 4.0))) + linear(int(D * c.get("mlp_ratio", 4.0)), D)
        layer += (2 * D if c.get("use_layerscale", False) else 0) + (norm(D) if c.get("use_post_layernorm_in_modulation", False) else 0)
        total, before, D = total + depth * layer, D, 2 * D
    return total + norm(before) + (0 if kind_of(c) == "Model" else linear(before, classes(c)))


def cvt(c):
    """Patches that overlap, and layers of transformers with a window of each channel and a normalization for each of queries, keys
    and values; a token in front of the last stage, and a norm of it before its class."""
    total, before = 0, c.get("num_channels", 3)
    for stage, D in enumerate(c.get("embed_dim", [64, 192, 384])):
        total += linear([7, 3, 3][stage]**2 * before, D) + norm(D)
        total += c.get("depth", [1, 2, 10])[stage] * (block(D, int(D * c.get("mlp_ratio", [4.0] * 3)[stage]), c.get("qkv_bias", [True] * 3)[stage]) + 3 * batch_conv(3, 1, D))
        before = D
    return total + before + (0 if kind_of(c) == "Model" else norm(before) + linear(before, classes(c)))


def swiftformer(c):
    """Convolutions with biases and normalizations; windows and networks, the last one of a stage with a network of its width, four
    matrices and a vector of scores, and a network behind a normalization."""
    widths, ratio, before = c.get("embed_dims", [48, 56, 112, 220]), c.get("mlp_ratio", 4), c.get("num_channels", 3)
    total = batch_conv(3, before, widths[0] // 2, True)
    before = widths[0] // 2
    for depth, D in zip(c.get("layers", [3, 3, 6, 4]), widths):
        local = batch_conv(3, 1, D, True) + D
        total += batch_conv(3, before, D, True) + (depth - 1) * (local + linear(D, ratio * D) + linear(ratio * D, D)) + local + 2 * linear(D, D)
        total += 4 * linear(D, D) + D + norm(D) + linear(D, ratio * D) + linear(ratio * D, D) + (2 * D if c.get("use_layer_scale", True) else 0)
        before = D
    return total + (0 if c["architectures"] == ["SwiftFormerModel"] else norm(before) + 2 * linear(before, classes(c)))


def glpn(c):
    """SegFormer's encoder; a matrix for each map of another width, three convolutions where two maps meet, and two of the largest."""
    total, M = segformer(c | {"architectures": ["SegformerModel"]}), c.get("decoder_hidden_size", 64)
    if kind_of(c) == "Model":
        return total
    total += sum(linear(D, M) for D in c.get("hidden_sizes", [32, 64, 160, 256]) if D != M)
    return total + 3 * (batch_conv(3, 2 * M, M, True) + batch_conv(3, M, M // 2, True) + linear(9 * M // 2, 2)) + linear(9 * M, M) + linear(9 * M, 1)


def kosmos2(c):
    """CLIP's tower, queries that read it and themselves, and XGLM with norms of what attention and the hidden layer give."""
    t = {"vocab_size": 65037, "embed_dim": 2048, "layers": 24, "ffn_dim": 8192} | (c.get("text_config") or {})
    v = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 224, "patch_size": 14} | (c.get("vision_config") or {})
    D, F = t["embed_dim"], t["ffn_dim"]
    text = t["vocab_size"] * D + t["layers"] * (block(D, F) + norm(D) + norm(F)) + norm(D)
    text += 0 if c.get("tie_word_embeddings", True) else t["vocab_size"] * D
    return text + clip_vision(v) + linear(v["hidden_size"], D) + c.get("latent_query_num", 64) * D + 4 * linear(D, D)


def luke(c):
    """RoBERTa beside a table of entities with positions and types of its own, and three more matrices of queries in each layer."""
    c = {"hidden_size": 768, "vocab_size": 50267, "num_hidden_layers": 12, "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2, "entity_vocab_size": 500000,
         "entity_emb_size": 256, "use_entity_aware_attention": True} | c
    D, V, X, N, kind = c["hidden_size"], c["vocab_size"], c["entity_vocab_size"], c["entity_emb_size"], kind_of(c)
    total = (V + 2 * (c["max_position_embeddings"] + c["type_vocab_size"])) * D + 2 * norm(D) + X * N + (0 if N == D else N * D) + linear(D, D)
    total += c["num_hidden_layers"] * (block(D, c["intermediate_size"]) + (3 * linear(D, D) if c["use_entity_aware_attention"] else 0))
    if kind == "ForMaskedLM":
        total += linear(D, D) + norm(D) + V + linear(D, N) + norm(N) + X + (0 if c.get("tie_word_embeddings", True) else V * D + X * N)
    return total + {"ForEntityClassification": linear(D, classes(c)), "ForEntityPairClassification": 2 * D * classes(c)}.get(kind, 0)


def tapas(c):
    """BERT with seven tables of what is known of a token."""
    sizes = c.get("type_vocab_sizes", [3, 256, 256, 2, 256, 256, 10])
    return bert({"max_position_embeddings": 1024} | c | {"type_vocab_size": sum(sizes), "architectures": ["Bert" + kind_of(c)]})


def clipseg(c):
    """CLIP, a matrix of each of three layers, two of what a text says, three layers of a small width, and transposed convolutions."""
    v = c.get("vision_config") or {}
    R, P, size = c.get("reduce_dim", 64), c.get("projection_dim", 512), v.get("patch_size", 32)
    total = clip(c) + 3 * linear(v.get("hidden_size", 768), R) + 2 * linear(P, R) + 3 * block(R, c.get("decoder_intermediate_size", 2048))
    if c.get("use_complex_transposed_convolution", False):
        return total + 9 * R * R + R + (size // 4) ** 2 * R * (R // 2) + R // 2 + 16 * (R // 2) + 1
    return total + size**2 * R + 1


def sam(c):
    """SAM's tower, tokens, and layers of three attentions, two of them of a part of the width; two transposed convolutions and networks of each mask and of their qualities."""
    m = {"mlp_dim": 2048, "num_hidden_layers": 2, "attention_downsample_rate": 2, "num_multimask_outputs": 3, "iou_head_hidden_dim": 256, "hidden_size": 256} | (c.get("mask_decoder_config") or {})
    v = c.get("vision_config") or {}
    v = {"mlp_dim": int(v.get("hidden_size", 768) * v.get("mlp_ratio", 4))} | v
    D, N, Q, M = m["hidden_size"], m["num_multimask_outputs"] + 1, m["iou_head_hidden_dim"], (c.get("prompt_encoder_config") or {}).get("mask_input_channels", 16)
    part = 3 * linear(D, D // m["attention_downsample_rate"]) + linear(D // m["attention_downsample_rate"], D)
    layer = 4 * linear(D, D) + 2 * part + linear(D, m["mlp_dim"]) + linear(m["mlp_dim"], D) + 4 * norm(D)
    prompts = (4 + 1 + 1) * D + linear(4, M // 4) + norm(M // 4) + linear(4 * M // 4, M) + norm(M) + linear(M, D)
    larger = 4 * D * (D // 4) + D // 4 + norm(D // 4) + 4 * (D // 4) * (D // 8) + D // 8
    heads = N * (2 * linear(D, D) + linear(D, D // 8)) + linear(D, Q) + linear(Q, Q) + linear(Q, N)
    return sam_tower(v) + prompts + (1 + N) * D + m["num_hidden_layers"] * layer + part + norm(D) + larger + heads


def seamless(c):
    """M2M 100, or in the place of its encoder Conformer's layers of features and a network, and a layer with two gated convolutions that makes one token of eight frames."""
    c = {"d_model": c.get("hidden_size", 1024), "vocab_size": 256102, "encoder_layers": 24, "decoder_layers": 24, "encoder_ffn_dim": 8192, "decoder_ffn_dim": 8192, "speech_encoder_layers": 24,
         "speech_encoder_attention_heads": 16, "speech_encoder_intermediate_size": 4096, "feature_projection_input_dim": 160, "conv_depthwise_kernel_size": 31} | c
    D, F, features, is_second = c["d_model"], c["speech_encoder_intermediate_size"], c["feature_projection_input_dim"], c["model_type"] == "seamless_m4t_v2"
    if kind_of(c) == "ForTextToText":
        return bart(c | {"model_type": "m2m_100"})
    network, kind = linear(D, F) + linear(F, D), c.get("position_embeddings_type", "relative_key" if is_second else "relative")
    layer = 2 * network + 4 * linear(D, D) + 6 * norm(D) + 3 * D * D + c["conv_depthwise_kernel_size"] * D
    layer += {"relative": D * D + 2 * D, "relative_key": (c.get("left_max_position_embeddings", 64) + c.get("right_max_position_embeddings", 8) + 1) * D // c["speech_encoder_attention_heads"]}.get(kind, 0)
    sound = norm(features) + linear(features, D) + c["speech_encoder_layers"] * layer + norm(D) + network
    sound += 2 * (norm(D) + 8 * D * 2 * D + 2 * D) + 4 * linear(D, D) + norm(D) + network + norm(D)
    # What M2M 100 has without its encoder.
    return sound + bart(c | {"model_type": "m2m_100", "encoder_layers": 0}) - norm(D)


def llama_layer(D, F, heads, keys, size, bias=False, ffn_bias=False):
    attention = D * (heads + 2 * keys) * size + heads * size * D + ((heads + 2 * keys) * size + D if bias else 0)
    return attention + 3 * D * F + (2 * F + D if ffn_bias else 0) + 2 * D


def csm(c):
    """A Llama of a text and of codes; a small one, with a matrix before it and one of each code but the first behind it. A codec is left out."""
    c = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 2051, "text_vocab_size": 128256, "num_codebooks": 32} | c
    d = {"hidden_size": 1024, "intermediate_size": 8192, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2} | (c.get("depth_decoder_config") or {})
    D, W, V, N = c["hidden_size"], d["hidden_size"], c["vocab_size"], c["num_codebooks"]

    def stack(c):
        size = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
        return c["hidden_size"] + c["num_hidden_layers"] * llama_layer(c["hidden_size"], c["intermediate_size"], c["num_attention_heads"], c["num_key_value_heads"], size,
                                                                       c.get("attention_bias", False), c.get("mlp_bias", False))

    tables = c["text_vocab_size"] * D + N * V * D * (1 if c.get("tie_codebooks_embeddings", True) else 2)
    return tables + stack(c) + stack(d) + D * V + D * W + (N - 1) * W * V


def bigbird_pegasus(c):
    """PEGASUS with a table of positions of each stack; biases are those of networks, and of attention if it has any."""
    c = {"d_model": 1024, "vocab_size": 96103, "encoder_layers": 16, "decoder_layers": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096} | c
    biases = 0 if c.get("use_bias", False) else 4 * c["d_model"] * (c["encoder_layers"] + 2 * c["decoder_layers"])
    return sequences(c, c.get("max_position_embeddings", 4096), False, True) - biases


def lxmert(c):
    """Layers of a text and of regions; of both with one attention to each other, and two of themselves; heads of what is hidden, and answers."""
    c = {"vocab_size": 30522, "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2, "l_layers": 9, "x_layers": 5, "r_layers": 5,
         "visual_feat_dim": 2048, "visual_pos_dim": 4, "num_qa_labels": 9500, "num_object_labels": 1600, "num_attr_labels": 400} | c
    D, V, layer, kind = c["hidden_size"], c["vocab_size"], block(c["hidden_size"], c["intermediate_size"]), kind_of(c)
    total = (V + c["max_position_embeddings"] + c["type_vocab_size"]) * D + norm(D) + linear(c["visual_feat_dim"], D) + linear(c["visual_pos_dim"], D) + 2 * norm(D)
    total += (c["l_layers"] + c["r_layers"] + 2 * c["x_layers"]) * layer + c["x_layers"] * (4 * linear(D, D) + norm(D)) + linear(D, D)
    answers = linear(D, 2 * D) + norm(2 * D) + linear(2 * D, c["num_qa_labels"])
    if kind == "ForPreTraining":
        total += 2 * (linear(D, D) + norm(D)) + V + linear(D, 2) + sum(linear(D, c[key]) for key in ("num_object_labels", "num_attr_labels", "visual_feat_dim"))
    return total + (answers if kind == "ForQuestionAnswering" or kind == "ForPreTraining" and c.get("task_qa", True) else 0)


def dual_encoder(c):
    """BERT with its pooler, or RoBERTa, and a CLIP tower, each with a matrix without a bias; a temperature."""
    t, v, P = c.get("text_config") or {}, c.get("vision_config") or {}, c.get("projection_dim", 512)
    return bert(t) + clip_vision(v) + (t.get("hidden_size", 768) + v.get("hidden_size", 768)) * P + 1


def convbert(c):
    """ELECTRA whose queries, keys and values are half as wide, beside a convolution of single channels, two matrices and one of windows."""
    c = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "embedding_size": 768} | c
    D, H = c["hidden_size"], c["num_attention_heads"] // 2
    narrow, L = D // 2, c.get("num_hidden_layers", 12)
    attention = 3 * linear(D, narrow) + 9 * D + linear(D, narrow) + linear(narrow, 9 * H) + linear(D, narrow)
    return electra(c | {"architectures": ["Electra" + kind_of(c)]}) + L * (attention - 3 * linear(D, D))


def canine(c):
    """Tables of hashes as wide as a row together, BERT's layers and two more, a matrix of four characters and a convolution over four of twice as many."""
    c = {"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072, "type_vocab_size": 16, "downsampling_rate": 4, "num_hash_buckets": 16384} | c
    D, kind = c["hidden_size"], kind_of(c)
    total = (2 * c["num_hash_buckets"] + c["type_vocab_size"]) * D + 3 * norm(D) + (c["num_hidden_layers"] + 2) * block(D, c["intermediate_size"])
    total += linear(c["downsampling_rate"] * D, D) + linear(8 * D, D) + linear(D, D)
    return total + {"ForSequenceClassification": linear(D, classes(c)), "ForMultipleChoice": linear(D, 1)}.get(kind, of_tokens(D, c))


def sew(c):
    """Thirteen convolutions over samples, every second one of single places; a convolution over frames, BERT's layers and a matrix twice
    as wide. The second kind has a table of relative positions with a norm in the place of one before its layers."""
    c = {"conv_dim": [64] + 4 * [128] + 4 * [256] + 4 * [512], "hidden_size": 768} | c
    D, C, kind, bias = c["hidden_size"], c["conv_dim"], kind_of(c), c.get("conv_bias", False)
    total = sum(linear(width * before, after, bias) for width, before, after in zip([10, 3, 1, 3, 1, 3, 1, 3, 1, 2, 1, 2, 1], [1] + C, C))
    total += sum(map(norm, C)) if c.get("feat_extract_norm", "group") == "layer" else norm(C[0])
    window = c.get("num_conv_pos_embeddings", 128)
    total += norm(C[12]) + (linear(C[12], D) if C[12] != D else 0) + linear(window * D // c.get("num_conv_pos_embedding_groups", 16), D) + window
    total += (D if c.get("mask_time_prob", 0.05) > 0 else 0) + norm(D) + linear(D, 2 * D) + c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 3072))
    if c["model_type"] == "sew-d":
        total += 2 * (c.get("position_buckets", 256) if c.get("position_buckets", 256) > 0 else c.get("max_position_embeddings", 512)) * D
    narrow = c.get("classifier_proj_size", 256)
    return total + {"ForCTC": linear(D, c.get("vocab_size", 32)), "ForSequenceClassification": linear(D, narrow) + linear(narrow, classes(c))}.get(kind, 0)


def time_series(c):
    """BART's layers of steps, by a matrix without a bias for each stack; a row for each kind of series, and three numbers of each step."""
    c = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_static_categorical_features": 0} | c
    D, kinds, width = c["d_model"], 0, 0
    if c["num_static_categorical_features"]:
        kinds = c["cardinality"][0]
        width = (c.get("embedding_dimension") or [min(50, (kinds + 1) // 2)])[0]
    numbers = len(c.get("lags_sequence") or range(7)) + width + 2 + sum(c.get(key, 0) for key in ("num_dynamic_real_features", "num_time_features", "num_static_real_features"))
    stacks = sequences(c | {"vocab_size": 0}, 0, True, False)
    return stacks + kinds * width + 2 * numbers * D + 3 * linear(D, 1)


def patchtst(c):
    """A matrix of patches, a row for each place, layers with two numbers for each channel before each part, and a matrix of the mean, or of all."""
    c = {"context_length": 32, "patch_length": 1, "patch_stride": 1, "num_hidden_layers": 3, "d_model": 128, "ffn_dim": 512, "prediction_length": 24} | c
    D, N = c["d_model"], (c["context_length"] - c["patch_length"]) // c["patch_stride"] + 1
    read = D if c.get("pooling_type", "mean") == "mean" else N * D
    return linear(c["patch_length"], D) + N * D + c["num_hidden_layers"] * block(D, c["ffn_dim"]) + linear(read, c["prediction_length"])


def nystromformer(c):
    """BERT with two rows of positions more, windows of values of each head, and a pooler of classes alone."""
    c = {"vocab_size": 30000, "max_position_embeddings": 510} | c
    D, kind = c.get("hidden_size", 768), kind_of(c)
    pooler = linear(D, D) if kind == "Model" else 0
    windows = c.get("num_hidden_layers", 12) * c.get("num_attention_heads", 12) * (c.get("conv_kernel_size", 65) or 0)
    return bert(c | {"architectures": ["Bert" + kind], "max_position_embeddings": c["max_position_embeddings"] + 2}) + windows - pooler


def bros(c):
    """BERT with its pooler whatever reads it, and a matrix of a quarter of a row to a head."""
    D = c.get("hidden_size", 768)
    return bert(c | {"architectures": ["BertModel"]}) + D // 4 * (D // c.get("num_attention_heads", 12)) + of_tokens(D, c)


def residual_network(inputs, inner, outputs):
    """Two matrices, and one beside both."""
    return linear(inputs, inner) + linear(inner, outputs) + linear(inputs, outputs)


def timesfm(c):
    """Patches and what is missing of them, a table of frequencies; biases, and a number for each element of a head."""
    c = {"patch_length": 32, "horizon_length": 128, "freq_size": 3, "num_hidden_layers": 50, "hidden_size": 1280, "intermediate_size": 1280, "head_dim": 80, "num_attention_heads": 16, "quantiles": 9 * [0]} | c
    D, F, wide = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"] * c["head_dim"]
    layer = D + linear(D, 3 * wide) + linear(wide, D) + c["head_dim"] + norm(D) + linear(D, F) + linear(F, D)
    ends = residual_network(2 * c["patch_length"], F, D) + residual_network(D, F, c["horizon_length"] * (len(c["quantiles"]) + 1))
    return ends + c["freq_size"] * D + c["num_hidden_layers"] * layer


def chronos_bolt(c):
    """T5 with a table of two tokens, and networks of patches and of quantiles."""
    series = {"input_patch_size": 16, "prediction_length": 64, "quantiles": 9 * [0]} | (c.get("chronos_config") or {})
    D, F = c.get("d_model", 512), c.get("d_ff", 2048)
    ends = residual_network(2 * series["input_patch_size"], F, D) + residual_network(D, F, series["prediction_length"] * len(series["quantiles"]))
    return ends + t5(c | {"architectures": ["T5Model"], "vocab_size": 2})


def musicgen_whole(c):
    """T5's encoder, a matrix where widths differ, and MusicGen's decoder. A codec is left out."""
    t, d = c.get("text_encoder") or {}, c.get("decoder") or {}
    read, D = t.get("d_model", 512), d.get("hidden_size", 1024)
    return t5(t | {"architectures": ["T5EncoderModel"]}) + musicgen(d) + (linear(read, D) if read != D else 0)


def musicgen_melody(c):
    """The same without attention to the text, with a matrix of a melody."""
    D = (c.get("decoder") or {}).get("hidden_size", 1024)
    layers = (c.get("decoder") or {}).get("num_hidden_layers", 24)
    return musicgen_whole(c) - layers * (4 * D * D + norm(D)) + linear(c.get("num_chroma", 12), D)


def dia(c):
    """Llama's layers without a mask of bytes, and with attention to these of codes; a table and a head of all books. A codec is left out."""
    e = {"vocab_size": 256, "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 12, "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 128} | (c.get("encoder_config") or {})
    d = {"vocab_size": 1028, "num_channels": 9, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 18, "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128,
         "cross_num_attention_heads": 16, "cross_num_key_value_heads": 16, "cross_head_dim": 128} | (c.get("decoder_config") or {})

    def stack(p):
        return p["num_hidden_layers"] * llama_layer(*(p[key] for key in ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim")))

    W, D = e["hidden_size"], d["hidden_size"]
    reading = D + 2 * D * d["cross_num_attention_heads"] * d["cross_head_dim"] + 2 * W * d["cross_num_key_value_heads"] * d["cross_head_dim"]
    return e["vocab_size"] * W + stack(e) + W + 2 * d["num_channels"] * d["vocab_size"] * D + stack(d) + d["num_hidden_layers"] * reading + D


def moshi(c):
    """Llama's layers of words and of the codes of two; of a token's codes layers whose matrices each place has, its norms shared by them."""
    c = {"vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "audio_vocab_size": 2048, "ffn_dim": 22528, "num_codebooks": 8} | c
    d = {"hidden_size": 1024, "num_hidden_layers": 6, "num_attention_heads": 16, "ffn_dim": 5632} | (c.get("depth_decoder_config") or {})
    D, W, V, N, C = c["hidden_size"], d["hidden_size"], c["vocab_size"], c["num_codebooks"], c["audio_vocab_size"]

    def layer(p):
        H = p["num_attention_heads"]
        return llama_layer(p["hidden_size"], p["ffn_dim"] // 2, H, p.get("num_key_value_heads") or H, p.get("head_dim") or p["hidden_size"] // H)

    if c.get("architectures", ["MoshiForConditionalGeneration"])[0] != "MoshiForConditionalGeneration":
        return (V + 1) * D + c["num_hidden_layers"] * layer(c) + D + (V * D if kind_of(c) == "ForCausalLM" else 0)
    whole = (V + 1 + 2 * N * (C + 1)) * D + c["num_hidden_layers"] * layer(c) + D + V * D
    return whole + (V + 1 + (N - 1) * (C + 1)) * W + N * D * W + d["num_hidden_layers"] * (N * (layer(d) - 2 * W) + 2 * W) + N * W * C


def kyutai(c):
    """Llama's layers, a table of words, of all books and of nothing, and a head of words. A codec is left out."""
    c = {"vocab_size": 4001, "codebook_vocab_size": 2049, "num_codebooks": 32, "hidden_size": 2048, "ffn_dim": 11264, "num_hidden_layers": 48, "num_attention_heads": 32} | c
    D, H, V = c["hidden_size"], c["num_attention_heads"], c["vocab_size"]
    layer = llama_layer(D, c["ffn_dim"] // 2, H, c.get("num_key_value_heads") or H, c.get("head_dim") or D // H)
    return (V + c["num_codebooks"] * c["codebook_vocab_size"] + 1) * D + c["num_hidden_layers"] * layer + D + V * D


def text_to_speech(c):
    """Words and steps with a number for their positions; BERT's layers with distances, and such as read them; three matrices
    before, beside a voice, and behind the decoder two matrices and five convolutions, each with two numbers of each channel."""
    c = {"hidden_size": 768, "encoder_layers": 12, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_layers": 6, "decoder_ffn_dim": 3072, "vocab_size": 81, "num_mel_bins": 80,
         "speech_decoder_prenet_units": 256, "speaker_embedding_dim": 512, "speech_decoder_postnet_units": 256, "reduction_factor": 2} | c
    D, M, U, C, R = (c[key] for key in ("hidden_size", "num_mel_bins", "speech_decoder_prenet_units", "speech_decoder_postnet_units", "reduction_factor"))
    encoder = c["vocab_size"] * D + 1 + norm(D) + c["encoder_layers"] * block(D, c["encoder_ffn_dim"])
    encoder += 2 * c.get("encoder_max_relative_position", 160) * D // c["encoder_attention_heads"]
    decoder = linear(M, U) + linear(U, U) + linear(U, D) + 1 + linear(D + c["speaker_embedding_dim"], D) + c["decoder_layers"] * (block(D, c["decoder_ffn_dim"]) + 4 * linear(D, D) + norm(D))
    return encoder + decoder + linear(D, M * R) + linear(D, R) + 5 * (2 * M * C + 3 * C * C) + 4 * norm(C) + norm(M)


def speecht5(c):
    """wav2vec 2.0 with one table of distances for all layers, and a decoder with a table of its own."""
    c = {"hidden_size": 768, "encoder_layers": 12, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_layers": 6, "decoder_ffn_dim": 3072, "vocab_size": 81} | c
    if kind_of(c) == "ForTextToSpeech":
        return text_to_speech(c)
    D, F, V = c["hidden_size"], c["decoder_ffn_dim"], c["vocab_size"]
    sound = wav2vec2(c | {"num_hidden_layers": c["encoder_layers"], "intermediate_size": c["encoder_ffn_dim"], "architectures": ["Wav2Vec2Model"]})
    distances = 2 * c.get("encoder_max_relative_position", 160) * D // c["encoder_attention_heads"]
    return sound + distances + c["decoder_layers"] * (block(D, F) + 4 * linear(D, D) + norm(D)) + V * D * (1 if c.get("tie_word_embeddings", True) else 2)


def granite4_vision(c):
    """A SigLIP tower, eight times two learned tables, norms and a layer of queries with a matrix behind it, a token that ends rows, and a Granite."""
    v, q = c["vision_config"], c.get("qformer_config") or {}
    t = {"num_key_value_heads": (c.get("text_config") or {}).get("num_attention_heads")} | LLAMA | (c.get("text_config") or {}) | {"tie_word_embeddings": c.get("tie_word_embeddings", False)}
    D, F, side = v["hidden_size"], q.get("intermediate_size", 3072), int(c["downsample_rate"].split("/")[0])
    reader = 2 * norm(D) + 5 * side**2 * D + block(D, F) + 4 * linear(D, D) + norm(D) + linear(D, t["hidden_size"])
    return siglip_vision(v) + 8 * reader + t["hidden_size"] + closed_forms.granite(t)[0]


def longt5(c):
    """T5; with sums of tokens a norm of them in each layer of the encoder, and a second table of relative positions."""
    total = t5(c | {"architectures": ["T5EncoderModel"] if c.get("architectures") == ["LongT5EncoderModel"] else None})
    if c.get("encoder_attention_type", "local") == "local":
        return total
    return total + c.get("num_layers", 6) * c.get("d_model", 512) + c.get("relative_attention_num_buckets", 32) * c.get("num_heads", 8)


def aimv2(c):
    """Norms have no bias, feed-forward networks have gates; a row reads, without a matrix of its own; computed positions are no parameters."""
    c = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 24, "num_channels": 3, "image_size": 224, "patch_size": 14, "use_head": True} | c
    D, F, bias, more = c["hidden_size"], c["intermediate_size"], c.get("qkv_bias", False), c.get("mlp_bias", False)
    layer = 4 * linear(D, D, bias) + 2 * linear(D, F, more) + linear(F, D, more) + 2 * D
    positions = 0 if c.get("is_native") else (c["image_size"] // c["patch_size"]) ** 2 * D
    head = D + 2 * linear(D, D, bias) + linear(D, D) if c["use_head"] else 0
    return linear(c["num_channels"] * c["patch_size"] ** 2, D) + D + positions + c["num_hidden_layers"] * layer + D + head


def hiera(c):
    """Overlapping patches with learned positions; the first layer of each stage but the first has a matrix beside attention, to twice the width."""
    c = {"embed_dim": 96, "image_size": [224, 224], "patch_size": [7, 7], "patch_stride": [4, 4], "depths": [2, 3, 16, 3], "mlp_ratio": 4, "num_channels": 3} | c
    C, (rows, columns) = c["embed_dim"], [size // stride for size, stride in zip(c["image_size"], c["patch_stride"])]
    total = linear(c["num_channels"] * c["patch_size"][0] ** 2, C) + rows * columns * C + c["depths"][0] * block(C, int(C * c["mlp_ratio"]))
    for depth in c["depths"][1:]:
        before, C = C, 2 * C
        F = int(C * c["mlp_ratio"])
        total += norm(before) + linear(before, C) + linear(before, 3 * C) + linear(C, C) + norm(C) + linear(C, F) + linear(F, C) + (depth - 1) * block(C, F)
    return total + norm(C) + (linear(C, classes(c)) if kind_of(c) == "ForImageClassification" else 0)


def vjepa2(c):
    """Tubes and layers without learned positions; a narrower predictor behind them, of whose learned tokens one is read, or three
    layers and a query without a matrix behind its attention, whose networks are four times as wide as they are."""
    c = {"hidden_size": 1024, "num_hidden_layers": 24, "mlp_ratio": 4, "patch_size": 16, "tubelet_size": 2, "in_chans": 3, "pred_hidden_size": 384, "pred_mlp_ratio": 4} | c
    D, P, bias = c["hidden_size"], c["pred_hidden_size"], c.get("qkv_bias", True)
    total = linear(c["in_chans"] * c["tubelet_size"] * c["patch_size"] ** 2, D) + c["num_hidden_layers"] * block(D, int(D * c["mlp_ratio"]), bias) + norm(D)
    if kind_of(c) == "ForVideoClassification":
        query = D + linear(D, 3 * D) + 2 * norm(D) + linear(D, 4 * D) + linear(4 * D, D)
        return total + c.get("num_pooler_layers", 3) * block(D, 4 * D) + query + linear(D, classes(c))
    return total + linear(D, P) + P + c.get("pred_num_hidden_layers", 12) * block(P, int(P * c["pred_mlp_ratio"]), bias) + norm(P) + linear(P, D)


def mlcd(c):
    """Patches without a bias and a class token, between two norms that layers stand between; no positions are learned."""
    c = {"hidden_size": 1664, "intermediate_size": 8192, "num_hidden_layers": 48, "image_size": 336, "patch_size": 14} | c
    return patches(c)[1] * c["hidden_size"] + c["hidden_size"] + layers_of(c) + 2 * norm(c["hidden_size"])


def pix2struct(c):
    """Patches with tables of rows and of columns, gated networks and no biases but that of patches; a decoder as T5's."""
    text = {"vocab_size": 50244, "hidden_size": 768, "d_ff": 2048, "num_layers": 12, "num_heads": 12, "relative_attention_num_buckets": 32} | c.get("text_config", {})
    image = {"patch_embed_hidden_size": 768, "d_kv": 64, "d_ff": 2048, "num_hidden_layers": 12, "num_attention_heads": 12, "seq_len": 4096} | c.get("vision_config", {})
    D, V = text["hidden_size"], text["vocab_size"]
    total = linear(image["patch_embed_hidden_size"], D) + 2 * image["seq_len"] * D + D
    total += image["num_hidden_layers"] * (4 * D * image["d_kv"] * image["num_attention_heads"] + 3 * D * image["d_ff"] + 2 * D)
    total += text["num_layers"] * (8 * D * D + 3 * D * text["d_ff"] + 3 * D) + D + text["relative_attention_num_buckets"] * text["num_heads"]
    return total + V * D * (1 if c.get("tie_word_embeddings", False) else 2)


def splinter(c):
    """BERT without a pooler; for each end of an answer two matrices with a norm, and one without a bias."""
    D = c.get("hidden_size", 768)
    ends = 2 * (2 * (linear(D, D) + norm(D)) + D * D) if kind_of(c) == "ForQuestionAnswering" else 0
    return bert(c | {"architectures": ["BertModel"]}) - linear(D, D) + ends


def kosmos2_5(c):
    """Pix2Struct's encoder, queries that read it and themselves, and XGLM with two types of tokens and norms of what hidden layers give."""
    t = {"vocab_size": 108481, "embed_dim": 1536, "layers": 24, "ffn_dim": 6144} | (c.get("text_config") or {})
    v = {"patch_embed_hidden_size": 768, "hidden_size": 1536, "d_kv": 64, "d_ff": 3968, "num_hidden_layers": 18, "num_attention_heads": 24, "seq_len": 4096} | (c.get("vision_config") or {})
    D, F, W = t["embed_dim"], t["ffn_dim"], v["hidden_size"]
    text = (t["vocab_size"] * (1 if c.get("tie_word_embeddings", True) else 2) + 2) * D + t["layers"] * (block(D, F) + norm(F)) + norm(D)
    image = linear(v["patch_embed_hidden_size"], W) + 2 * v["seq_len"] * W + W
    image += v["num_hidden_layers"] * (4 * W * v["d_kv"] * v["num_attention_heads"] + 3 * W * v["d_ff"] + 2 * W)
    return text + image + linear(W, D) + c.get("latent_query_num", 2048) * D + 4 * linear(D, D)


def encoder_decoder(c):
    """BERT with its pooler, and BERT with one more attention in each layer before the head of words."""
    t = {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12} | c["decoder"]
    D = t["hidden_size"]
    readers = t["num_hidden_layers"] * (4 * linear(D, D) + norm(D))
    return bert(c["encoder"] | {"architectures": ["BertModel"]}) + bert(t | {"architectures": ["BertForMaskedLM"]}) + readers


def decision_transformer(c):
    """GPT-2 with a table of places and one of steps, and a matrix each before and behind it for what is to be won, states and actions."""
    c = {"state_dim": 17, "act_dim": 4, "hidden_size": 128, "max_ep_len": 4096, "n_positions": 1024, "n_layer": 3} | c
    D = c["hidden_size"]
    ends = sum(linear(width, D) + linear(D, width) for width in (1, c["state_dim"], c["act_dim"]))
    return (c["max_ep_len"] + c["n_positions"]) * D + ends + 2 * norm(D) + c["n_layer"] * block(D, c.get("n_inner") or 4 * D)


def regnet(c):
    """A stem; two matrices and a convolution in groups between them, a norm behind each, and two matrices of a
    quarter of the channels before it; another matrix where a stage begins."""
    before, total = c.get("embedding_size", 32), linear(9 * c.get("num_channels", 3), c.get("embedding_size", 32), False)
    total += norm(before)
    for depth, D in zip(c.get("depths", [2, 6, 12, 2]), c.get("hidden_sizes", [128, 192, 512, 1088])):
        own = D // max(1, D // c.get("groups_width", 64))
        for place in range(depth):
            narrow = round(before / 4)
            total += before * D + 9 * own * D + D * D + 3 * norm(D) + (before * D + norm(D) if place == 0 else 0)
            total += linear(D, narrow) + linear(narrow, D) if c.get("layer_type", "y") == "y" else 0
            before = D
    return total + (linear(before, classes(c)) if kind_of(c) == "ForImageClassification" else 0)


def poolformer(c):
    """Patches that overlap; two norms, two scales and two matrices in each layer, and a norm before classes."""
    widths, total, before = c.get("hidden_sizes", [64, 128, 320, 512]), 0, c.get("num_channels", 3)
    for stage, D in enumerate(widths):
        F = int(D * c.get("mlp_ratio", 4))
        layer = 2 * norm(D) + linear(D, F) + linear(F, D) + (2 * D if c.get("use_layer_scale", True) else 0)
        total += linear(c.get("patch_sizes", [7, 3, 3, 3])[stage]**2 * before, D) + c.get("depths", [2, 2, 6, 2])[stage] * layer
        before = D
    # Its name has a "For" of its own.
    is_classifier = (c.get("architectures") or [""])[0].endswith("ForImageClassification")
    return total + (norm(before) + linear(before, classes(c)) if is_classifier else 0)


def maps_of_tower(D, widths, M, bias=True, has_norms=False):
    """Four maps of a tower: other channels for each, squares of four by four and of two by two, and a convolution
    with every second position; one without a bias each, and layers that join them."""
    total = sum(linear(D, width) + 9 * width * M for width in widths)
    total += linear(16 * widths[0], widths[0]) + linear(4 * widths[1], widths[1]) + linear(9 * widths[3], widths[3])
    return total + 4 * (linear(M, M) + 4 * (linear(9 * M, M, bias) + (norm(M) if has_norms else 0)))


def numbers_of_pixels(M, narrow):
    return linear(9 * M, M // 2) + linear(9 * (M // 2), narrow) + linear(narrow, 1)


def depth_anything(c):
    """DINOv2, its four maps, and three convolutions."""
    tower = {"hidden_size": 768} | c["backbone_config"]
    M = c.get("fusion_hidden_size", 64)
    return dinov2(tower | {"architectures": ["Dinov2Model"]}) + maps_of_tower(
        tower["hidden_size"], c.get("neck_hidden_sizes", [48, 96, 192, 384]), M) + numbers_of_pixels(M, c.get("head_hidden_size", 32))


def dpt(c):
    """ViT without a pooler, whose first token each map reads; three convolutions, or two heads of a convolution,
    a normalization and a matrix."""
    c = {"image_size": 384} | c
    D, M = c.get("hidden_size", 768), c.get("fusion_hidden_size", 256)
    has_norms = c.get("use_batch_norm_in_fusion_residual", False)
    bias = c.get("use_bias_in_fusion_residual")
    total = vit(c | {"architectures": ["ViTModel"]}) - linear(D, D)
    total += 4 * linear(2 * D, D) if c.get("readout_type", "project") == "project" else 0
    total += maps_of_tower(D, c.get("neck_hidden_sizes", [96, 192, 384, 768]), M, not has_norms if bias is None else bias, has_norms)
    if kind_of(c) == "ForSemanticSegmentation":
        return total + (2 if c.get("use_auxiliary_head", True) else 1) * (9 * M * M + norm(M) + linear(M, classes(c)))
    return total + numbers_of_pixels(M, 32)


def plain_unet(c):
    """Stable Diffusion's U-Net without texts, with attention of one layer behind some residual layers."""
    c = {"block_out_channels": [224, 448, 672, 896], "down_block_types": ["DownBlock2D"] + 3 * ["AttnDownBlock2D"], "up_block_types": 3 * ["AttnUpBlock2D"] + ["UpBlock2D"], "layers_per_block": 2, "in_channels": 3, "out_channels": 3} | c
    widths, many, middle = c["block_out_channels"], c["layers_per_block"], c.get("mid_block_type", "UNetMidBlock2D")
    total = unet(c | {"down_block_types": ["DownBlock2D"] * len(widths), "up_block_types": ["UpBlock2D"] * len(widths), "mid_block_type": middle and "UNetMidBlock2D"})

    def attention(D):
        return norm(D) + 4 * linear(D, D)

    total += sum(many * attention(D) for D, kind in zip(widths, c["down_block_types"]) if kind == "AttnDownBlock2D")
    total += sum((many + 1) * attention(D) for D, kind in zip(widths[::-1], c["up_block_types"]) if kind == "AttnUpBlock2D")
    # Of two residual layers in the middle Stable Diffusion has one where nothing reads a text.
    T, D = c.get("time_embedding_dim") or 4 * widths[0], widths[-1]
    if middle:
        total += 2 * norm(D) + 2 * linear(9 * D, D) + linear(T, D) + (attention(D) if c.get("add_attention", True) else 0)
    return total


def unet(c):
    """Two convolutions and a matrix of the condition for each residual layer, transformers between two matrices, and
    what the way down gives beside what comes on the way up."""
    c = {"block_out_channels": [320, 640, 1280, 1280], "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
         "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3, "cross_attention_dim": 1280, "layers_per_block": 2} | c
    widths, many = c["block_out_channels"], c["layers_per_block"]
    many = many if isinstance(many, int) else many[0]
    texts, depths, N = c["cross_attention_dim"], c.get("transformer_layers_per_block", 1), len(widths)
    texts = texts if isinstance(texts, int) else texts[0]
    depths = depths if isinstance(depths, list) else [depths] * N
    up_depths = c.get("reverse_transformer_layers_per_block") or depths[::-1]
    T = c.get("time_embedding_dim") or 4 * widths[0]

    def of_place(depth, place):
        return depth if isinstance(depth, int) else depth[place]

    def residual(inputs, outputs):
        own = norm(inputs) + linear(9 * inputs, outputs) + linear(T, outputs) + norm(outputs) + linear(9 * outputs, outputs)
        return own + (linear(inputs, outputs) if inputs != outputs else 0)

    def transformer(D, layers):
        layer = 3 * norm(D) + 6 * D * D + 2 * texts * D + 2 * D + linear(D, 8 * D) + linear(4 * D, D)
        return norm(D) + 2 * linear(D, D) + layers * layer

    total = features(widths[0], T) + linear(c.get("conv_in_kernel", 3)**2 * c.get("in_channels", 4), widths[0])
    total += c.get("time_cond_proj_dim", 0) * widths[0]
    read, kind = c.get("projection_class_embeddings_input_dim"), c.get("class_embed_type")
    total += {"timestep": features(widths[0], T), "projection": features(read or 0, T), "simple_projection": linear(read or 0, T)}.get(kind, 0)
    total += c.get("num_class_embeds", 0) * T if kind is None else 0
    total += features(read, T) if c.get("addition_embed_type") else 0
    total += linear(c["encoder_hid_dim"], texts) if c.get("encoder_hid_dim") else 0
    before, skipped = widths[0], [widths[0]]
    for level, D in enumerate(widths):
        for place in range(many):
            total += residual(before, D)
            total += transformer(D, of_place(depths[level], place)) if c["down_block_types"][level] == "CrossAttnDownBlock2D" else 0
            before = D
            skipped.append(D)
        if level < N - 1:
            total += linear(9 * D, D)
            skipped.append(D)
    middle = c.get("mid_block_type", "UNetMidBlock2DCrossAttn")
    total += residual(before, before) * {"UNetMidBlock2DCrossAttn": 2, "UNetMidBlock2D": 1, None: 0}[middle]
    total += transformer(before, of_place(depths[-1], 0)) if middle == "UNetMidBlock2DCrossAttn" else 0
    for stage, D in enumerate(widths[::-1]):
        for place in range(many + 1):
            total += residual(before + skipped.pop(), D)
            total += transformer(D, of_place(up_depths[stage], place)) if c["up_block_types"][stage] == "CrossAttnUpBlock2D" else 0
            before = D
        total += linear(9 * D, D) if stage < N - 1 else 0
    return total + norm(widths[0]) + linear(c.get("conv_out_kernel", 3)**2 * widths[0], c.get("out_channels", 4))


def autoencoder_kl(c):
    """Two convolutions for each residual layer, of an encoder and of a decoder, which has one more of each resolution;
    attention of one head between two of the smallest map."""
    c = {"block_out_channels": [64], "layers_per_block": 1, "latent_channels": 4} | c
    widths, many, latents = c["block_out_channels"], c["layers_per_block"], c["latent_channels"]

    def residual(inputs, outputs):
        own = norm(inputs) + linear(9 * inputs, outputs) + norm(outputs) + linear(9 * outputs, outputs)
        return own + (linear(inputs, outputs) if inputs != outputs else 0)

    def one_way(order, depth):
        total, before = 0, order[0]
        for D in order:
            total += residual(before, D) + (depth - 1) * residual(D, D)
            before = D
        return total

    D, C = widths[-1], widths[0]
    middle = 2 * residual(D, D) + (norm(D) + 4 * linear(D, D) if c.get("mid_block_add_attention", True) else 0)
    total = one_way(widths, many) + one_way(widths[::-1], many + 1) + sum(linear(9 * width, width) for width in widths[:-1] + widths[1:]) + 2 * middle
    total += linear(9 * c.get("in_channels", 3), C) + norm(D) + linear(9 * D, 2 * latents)
    total += linear(9 * latents, D) + norm(C) + linear(9 * C, c.get("out_channels", 3))
    total += linear(2 * latents, 2 * latents) if c.get("use_quant_conv", True) else 0
    return total + (linear(latents, latents) if c.get("use_post_quant_conv", True) else 0)


FAMILIES = {
    # Texts.
    "encoder-decoder": encoder_decoder, "decision_transformer": decision_transformer,
    "ibert": xlm_roberta,
    "kosmos-2.5": kosmos2_5,
    "splinter": splinter,
    "pix2struct": pix2struct,
    "mlcd_vision_model": mlcd,
    "vjepa2": vjepa2,
    "hiera": hiera,
    "aimv2_vision_model": aimv2,
    "longt5": longt5,
    "granite4_vision": granite4_vision,
    "xclip": xclip, "funnel": funnel, "pegasus_x": pegasus_x, "speech-encoder-decoder": speech_encoder_decoder,
    "speecht5": speecht5, "dia": dia, "kyutai_speech_to_text": kyutai, "musicgen": musicgen_whole, "musicgen_melody": musicgen_melody, "moshi": moshi, "timesfm": timesfm, "nystromformer": nystromformer, "bros": bros, "sew": sew, "sew-d": sew, "time_series_transformer": time_series, "patchtst": patchtst,
    "bigbird_pegasus": bigbird_pegasus, "lxmert": lxmert, "vision-text-dual-encoder": dual_encoder, "convbert": convbert, "canine": canine,
    "csm": csm,
    "seamless_m4t": seamless, "seamless_m4t_v2": seamless,
    "kosmos-2": kosmos2, "luke": luke, "tapas": tapas, "clipseg": clipseg, "sam": sam,
    "xlnet": xlnet, "lilt": lilt, "big_bird": big_bird,
    "distilbert": distilbert, "longformer": longformer, "xmod": xmod, "openai_privacy_filter": privacy_filter,
    "squeezebert": squeezebert, "mobilebert": mobilebert, "visual_bert": visual_bert, "jina_embeddings_v3": jina_embeddings,
    "dpr": dpr, "bert-generation": bert_generation, "roberta-prelayernorm": roberta_prelayernorm, "roc_bert": roc_bert,
    "xlm": xlm, "flaubert": xlm,
    "led": led, "speech_to_text": speech_to_text,
    "fsmt": fsmt, "mvp": lambda c: bart({"vocab_size": 50267} | c | {"model_type": "bart"}),
    "layoutlmv3": layoutlmv3,
    "deberta": deberta, "deberta-v2": deberta,
    "markuplm": markuplm,
    "llada": llada,
    "Dream": dream,
    "ernie_m": ernie_m,
    "layoutlm": layoutlm,
    "rembert": rembert,
    "roformer": roformer,
    "albert": albert, "bert": bert, "camembert": xlm_roberta, "clip_text_model": clip_text, "data2vec-text": data2vec_text,
    "electra": electra, "ernie": ernie, "esm": esm, "eurobert": eurobert, "megatron-bert": megatron_bert, "modernbert": modernbert,
    "modernbert-decoder": modernbert_decoder, "mpnet": mpnet, "new": gte, "nomic_bert": nomic_bert, "roberta": roberta,
    "xlm-roberta": xlm_roberta, "xlm-roberta-xl": xlm_roberta_xl,
    # Two sequences.
    "bart": bart, "blenderbot": blenderbot, "blenderbot-small": blenderbot_small, "m2m_100": bart, "marian": marian,
    "mbart": bart, "mt5": mt5, "pegasus": pegasus, "plbart": bart, "t5": t5, "umt5": umt5, "whisper": whisper,
    "vision-encoder-decoder": trocr, "moonshine": moonshine, "musicgen_decoder": musicgen, "nllb-moe": nllb_moe, "switch_transformers": switch_transformers, "t5gemma": t5gemma,
    # Images and sound.
    "clap": clap, "owlvit": owlvit, "owlv2": owlvit, "timesformer": timesformer, "pvt_v2": pvt_v2, "dinov3_convnext": convnext, "detr": detr, "table-transformer": detr,
    "mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2,
    "efficientnet": efficientnet, "mobilevit": mobilevit, "mobilevitv2": mobilevitv2, "focalnet": focalnet, "cvt": cvt, "swiftformer": swiftformer, "glpn": glpn,
    "audio-spectrogram-transformer": spectrogram_transformer, "beit": beit, "clip": clip, "metaclip_2": clip, "chinese_clip": chinese_clip, "altclip": altclip, "imagegpt": imagegpt, "resnet": resnet, "clip_vision_model": clip_vision,
    "wav2vec2-bert": wav2vec2_bert, "wavlm": wavlm, "wav2vec2-conformer": conformer,
    "segformer": segformer, "donut-swin": swin, "depth_anything": depth_anything, "dpt": dpt, "regnet": regnet, "poolformer": poolformer,
    "swin": swin, "swinv2": swin,
    "data2vec-vision": beit, "deit": deit, "dinov2": dinov2, "dinov2_with_registers": dinov2, "dinov3_vit": dinov3,
    "convnext": convnext, "convnextv2": convnext, "data2vec-audio": wav2vec2, "hubert": wav2vec2, "unispeech": wav2vec2, "unispeech-sat": wav2vec2, "wav2vec2": wav2vec2,
    "ijepa": ijepa,
    "siglip": siglip, "siglip2": siglip, "siglip2_vision_model": siglip2_vision,
    "pixtral": pixtral, "siglip_text_model": siglip_text, "siglip_vision_model": siglip_vision, "videomae": videomae, "vilt": vilt, "vit": vit, "vit_mae": vit_mae, "vit_msn": vit_msn, "vivit": vivit, "yolos": yolos,
    # Before a text.
    "muse_glimmer": muse_glimmer,
    "gemma4_unified": gemma4_unified, "minimax_m3_vl": minimax_m3_vl, "step3p7": step3p7, "glm5_next": glm5_next,
    "colmodernvbert": with_vectors_of_tokens(modernvbert, lambda c: c["text_config"]["hidden_size"]),
    "colpali": with_vectors_of_tokens(paligemma, lambda c: c["text_config"]["hidden_size"]), "colqwen2": with_vectors_of_tokens(of_qwen2_images, lambda c: (c.get("text_config") or c)["hidden_size"]),
    "phi4_multimodal": phi4_multimodal, "phi4mm": phi4mm, "ernie4_5_vl_moe": ernie4_5_vl_moe, "ernie4_5_moe_vl": ernie4_5_vl_moe, "git": git, "blip": blip,
    "instructblip": instructblip, "instructblipvideo": instructblip, "parakeet_ctc": parakeet_ctc, "got_ocr2": got_ocr2, "florence2": florence2,
    "lfm2-vl": lfm2_vl, "lfm2_vl": lfm2_vl, "blip-2": blip2, "fuyu": fuyu, "gemma4": gemma4,
    "granite_speech": granite_speech, "idefics2": idefics2, "voxtral_realtime": voxtral_realtime, "janus": janus, "modernvbert": modernvbert, "ovis2": ovis2, "perception_lm": perception_lm, "video_llama_3": video_llama_3, "videollama3_qwen2": video_llama_3, "video_llava": video_llava,
    "vipllava": vipllava, "exaone4_5": exaone4_5, "glm_ocr": glm_ocr, "glmasr": glmasr, "lighton_ocr": lighton_ocr, "musicflamingo": audioflamingo3, "qianfan_ocr": qianfan_ocr, "hunyuan_vl": hunyuan_vl, "qwen3_asr": qwen3_asr, "dots_ocr": dots_ocr, "phi3_v": phi3_v, "gemma3n": gemma3n,
    "aria": aria, "audioflamingo3": audioflamingo3, "deepseek_vl": deepseek_vl, "deepseek_vl_v2": deepseek_with_images, "paddleocr_vl": paddleocr_vl, "aya_vision": cohere2_vision, "cohere2_vision": cohere2_vision, "glm4v": glm4v, "glm46v": glm4v, "glmga": glm4v, "glm4v_moe": glm4v, "idefics3": idefics3, "internvl": internvl, "qwen2_5_omni": qwen2_5_omni, "qwen3_omni_moe": qwen3_omni_moe, "qwen3_omni_moe_thinker": qwen3_omni_moe_thinker, "qwen2_5_omni_thinker": qwen2_5_omni_thinker, "internvl_chat": internvl_chat,
    "kimi_k25": kimi_k25, "kimi_vl": kimi_vl, "minicpmv": minicpmv, "molmo": molmo,
    "llava_next": llava_next, "llava_next_video": llava_next, "mistral3": mistral3, "llava_onevision": llava_onevision, "mllama": mllama, "paligemma": paligemma, "qwen2_audio": qwen2_audio,
    "qwen3_5": qwen3_5, "qwen3_5_moe": qwen3_5, "qwen3_vl": qwen3_vl, "qwen3_vl_moe": qwen3_vl, "smolvlm": idefics3, "voxtral": voxtral,
    # Diffusion.
    "DiTTransformer2DModel": dit, "FluxTransformer2DModel": flux, "PixArtTransformer2DModel": pixart,
    "QwenImageTransformer2DModel": qwen_image, "SD3Transformer2DModel": sd3, "WanTransformer3DModel": wan, "ChronoEditTransformer3DModel": wan,
    "HunyuanVideo15Transformer3DModel": hunyuan_video15, "HunyuanImageTransformer2DModel": hunyuan_image, "interns1": internvl,
    "ChromaTransformer2DModel": chroma,
    "PriorTransformer": image_prior,
    "LongCatImageTransformer2DModel": longcat_image, "BriaTransformer2DModel": bria, "OvisImageTransformer2DModel": ovis_image,
    "SkyReelsV2Transformer3DModel": skyreels_v2,
    "CogView3PlusTransformer2DModel": cogview, "CogView4Transformer2DModel": cogview4,
    "StableAudioDiTModel": stable_audio, "HiDreamImageTransformer2DModel": hidream,
    "OmniGenTransformer2DModel": omnigen, "HunyuanDiT2DModel": hunyuan_dit, "AllegroTransformer3DModel": allegro, "LatteTransformer3DModel": latte, "Kandinsky5Transformer3DModel": kandinsky5, "SanaVideoTransformer3DModel": sana_video, "EasyAnimateTransformer3DModel": easyanimate, "UNet2DModel": plain_unet,
    "SanaTransformer2DModel": sana, "CosmosTransformer3DModel": cosmos, "WanVACETransformer3DModel": wan_vace,
    "Flux2Transformer2DModel": flux2, "Lumina2Transformer2DModel": lumina2, "ZImageTransformer2DModel": z_image,
    "AuraFlowTransformer2DModel": auraflow, "MochiTransformer3DModel": mochi,
    "CogVideoXTransformer3DModel": cogvideox, "HunyuanVideoTransformer3DModel": hunyuan_video, "LTXVideoTransformer3DModel": ltx_video,
    "UNet2DConditionModel": unet,
    "AutoencoderKL": autoencoder_kl,
}


def family(config):
    return config.get("model_type") or config["_class_name"]


def count(config):
    return FAMILIES[family(config)](config)
