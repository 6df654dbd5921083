"""Closed forms of the parameters of encoders, encoder-decoders, images and diffusion.

From the descriptions of the models, not from ours: linear layers of given widths, norms,
tables. `count` gives all parameters of a configuration.
"""


def linear(inputs, outputs, bias=True):
    return inputs * outputs + (outputs if bias else 0)


def norm(width):
    return 2 * width


def block(D, F, qkv_bias=True):
    """A layer of a transformer with biases and two layer norms."""
    return linear(D, 3 * D, qkv_bias) + linear(D, D) + linear(D, F) + linear(F, D) + 2 * norm(D)


def classes(c):
    return c.get("num_labels") or len(c.get("id2label") or {0: 0, 1: 1})


def bert(c):
    D, V = c.get("hidden_size", 768), c.get("vocab_size", 30522)
    tables = V + c.get("max_position_embeddings", 512) + c.get("type_vocab_size", 2)
    total = tables * D + norm(D)
    total += c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 3072))
    kind = (c.get("architectures") or ["BertModel"])[0]
    if kind != "BertForMaskedLM":
        total += linear(D, D)
    if kind in ("BertForMaskedLM", "BertForPreTraining"):
        total += linear(D, D) + norm(D) + V
        total += 0 if c.get("tie_word_embeddings", True) else V * D
    if kind == "BertForPreTraining":
        total += linear(D, 2)
    if kind == "BertForSequenceClassification":
        total += linear(D, classes(c))
    return total


def roberta(c):
    """BERT with other defaults and names; a classification has a layer in place of the pooler."""
    c = {"vocab_size": 50265} | c
    kind = (c.get("architectures") or ["RobertaModel"])[0]
    head = max(kind.find("Model"), kind.find("For"))
    return bert(c | {"architectures": ["Bert" + kind[head:]]})


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


def narrow_bert(c):
    """Tables narrower than the layers."""
    D = c["hidden_size"]
    E = c.get("embedding_size") or D
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
    total += linear(D, D) if kind != "AlbertForMaskedLM" else 0
    total += linear(D, 2) if kind == "AlbertForPreTraining" else 0
    return total + (linear(D, classes(c)) if kind == "AlbertForSequenceClassification" else 0)


def electra(c):
    D, kind = c.get("hidden_size", 256), (c.get("architectures") or ["ElectraModel"])[0]
    given = {key: value for key, value in c.items() if value is not None}
    total, masked = narrow_bert({"vocab_size": 30522, "embedding_size": 128, "hidden_size": D} | given)
    total += c.get("num_hidden_layers", 12) * block(D, c.get("intermediate_size", 1024))
    total += masked if kind == "ElectraForMaskedLM" else 0
    return total + (linear(D, D) + linear(D, 1) if kind == "ElectraForPreTraining" else 0)


def t5(c):
    D, E = c.get("d_model", 512), c.get("d_kv", 64) * c.get("num_heads", 8)
    F, V = c.get("d_ff", 2048), c.get("vocab_size", 32128)
    matrices = 3 if c.get("feed_forward_proj", "relu").startswith("gated-") else 2
    attention, network = 4 * D * E + D, matrices * D * F + D
    encoder = c.get("num_layers", 6)
    decoder = c.get("num_decoder_layers") or encoder
    bias = c.get("relative_attention_num_buckets", 32) * c.get("num_heads", 8)
    total = V * D + encoder * (attention + network) + D + bias
    if (c.get("architectures") or [""])[0] == "T5EncoderModel":
        return total
    total += decoder * (2 * attention + network) + D + bias
    return total + (0 if c.get("tie_word_embeddings", True) else V * D)


def mt5(c):
    """T5 with other defaults."""
    c = {"d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 250112,
         "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False} | c
    kind = (c.get("architectures") or ["MT5ForConditionalGeneration"])[0]
    return t5(c | {"architectures": [kind[1:]]})


def bart(c):
    """Positions of two rows more for each stack; mBART has norms behind them; M2M has no tables."""
    kind, D = c["model_type"], c.get("d_model", 1024)
    V = c.get("vocab_size", 128112 if kind == "m2m_100" else 50265)
    attention = 4 * linear(D, D) + norm(D)

    def network(key):
        F = c.get(key, 4096)
        return linear(D, F) + linear(F, D) + norm(D)

    total = V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    total += 0 if kind == "m2m_100" else 2 * ((c.get("max_position_embeddings", 1024) + 2) * D + norm(D))
    total += 2 * norm(D) if kind != "bart" else 0
    total += c.get("encoder_layers", 12) * (attention + network("encoder_ffn_dim"))
    return total + c.get("decoder_layers", 12) * (2 * attention + network("decoder_ffn_dim"))


def whisper(c):
    D, M = c.get("d_model", 384), c.get("num_mel_bins", 80)
    attention = 4 * D * D + 3 * D + norm(D)

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
    if kind == "ModernBertForSequenceClassification":
        total += linear(D, classes(c))
    return total


def clip_vision(v):
    D = v.get("hidden_size", 768)
    number, width = patches({"patch_size": 32} | v)
    total = width * D + D + (number + 1) * D + 2 * norm(D)
    return total + v.get("num_hidden_layers", 12) * block(D, v.get("intermediate_size", 3072))


def clip(c):
    t, v, P = c.get("text_config") or {}, c.get("vision_config") or {}, c.get("projection_dim", 512)
    D = t.get("hidden_size", 512)
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


def kind_of(c, prefix):
    """What hangs on the trunk, without the family's name."""
    return (c.get("architectures") or [prefix + "Model"])[0][len(prefix):]


def data2vec_text(c):
    """RoBERTa with BERT's number of words where none is said."""
    return roberta({"vocab_size": 30522} | c | {"architectures": ["Roberta" + kind_of(c, "Data2VecText")]})


def megatron_bert(c):
    """As many norms as BERT: one behind all layers in place of one behind the embedding."""
    c = {"vocab_size": 29056, "hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096} | c
    return bert(c | {"architectures": ["Bert" + kind_of(c, "MegatronBert")]})


def xlm_roberta_xl(c):
    c = {"vocab_size": 250880, "hidden_size": 2560, "num_hidden_layers": 36, "intermediate_size": 10240,
         "max_position_embeddings": 514, "type_vocab_size": 1} | c
    return bert(c | {"architectures": ["Bert" + kind_of(c, "XLMRobertaXL")]})


def ernie(c):
    tasks = c.get("task_type_vocab_size", 3) * c.get("hidden_size", 768) if c.get("use_task_id", False) else 0
    return bert(c | {"architectures": ["Bert" + kind_of(c, "Ernie")]}) + tasks


def mpnet(c):
    """A table of relative positions in place of one of types."""
    c = {"vocab_size": 30527, "type_vocab_size": 0} | c
    table = c.get("relative_attention_num_buckets", 32) * c.get("num_attention_heads", 12)
    return bert(c | {"architectures": ["Bert" + kind_of(c, "MPNet")]}) + table


def nomic_bert(c):
    """No pooler; gated networks are as wide as the next multiple of 256."""
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
    if kind_of(c, "NomicBert") == "ForPreTraining":
        total += linear(D, D, mlp_bias) + norm(D) + (V if mlp_bias else 0)
        total += 0 if c.get("tie_word_embeddings", True) else V * D
    return total


def gte(c):
    """Gated, with a bias of the last matrix alone."""
    D, F, V = c.get("hidden_size", 768), c.get("intermediate_size", 3072), c.get("vocab_size", 30528)
    layer = linear(D, 3 * D) + linear(D, D) + linear(D, 2 * F, False) + linear(F, D) + 2 * norm(D)
    total = (V + c.get("type_vocab_size", 1)) * D + norm(D) + c.get("num_hidden_layers", 12) * layer
    if kind_of(c, "New") == "ForMaskedLM":
        total += linear(D, D) + norm(D) + V + (0 if c.get("tie_word_embeddings", True) else V * D)
    return total


def eurobert(c):
    D, H, F, V = c.get("hidden_size", 768), c.get("num_attention_heads", 12), c.get("intermediate_size", 3072), c.get("vocab_size", 128256)
    K, E = c.get("num_key_value_heads") or H, c.get("head_dim") or D // H
    bias, mlp_bias = c.get("attention_bias", False), c.get("mlp_bias", False)
    layer = linear(D, (H + 2 * K) * E, bias) + linear(H * E, D, bias) + 2 * D
    layer += linear(D, 2 * F, mlp_bias) + linear(F, D, mlp_bias)
    total = V * D + c.get("num_hidden_layers", 12) * layer + D
    if kind_of(c, "EuroBert") == "ForMaskedLM":
        total += (0 if c.get("tie_word_embeddings", False) else V * D) + (V if mlp_bias else 0)
    return total


def modernbert_decoder(c):
    """ModernBERT with its head of masked tokens."""
    return modernbert(c | {"architectures": ["ModernBertForMaskedLM"]})


def umt5(c):
    """mT5 with a table of relative positions in each layer, not in each stack."""
    c = {"d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 250112, "feed_forward_proj": "gated-gelu"} | c
    kind, layers = (c.get("architectures") or ["UMT5ForConditionalGeneration"])[0], c["num_layers"]
    if kind == "UMT5EncoderModel":
        more = layers - 1
    else:
        more = layers + (c.get("num_decoder_layers") or layers) - 2
    return t5(c | {"architectures": [kind[2:]]}) + more * c.get("relative_attention_num_buckets", 32) * c["num_heads"]


def sequences(c, rows, embedding_norm, final_norm):
    """BART and what differs from it in tables of positions and norms."""
    D, V = c["d_model"], c["vocab_size"]
    attention = 4 * linear(D, D) + norm(D)
    total = V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    total += 2 * (rows * D + (norm(D) if embedding_norm else 0) + (norm(D) if final_norm else 0))
    for stack, parts in (("encoder", 1), ("decoder", 2)):
        F = c[f"{stack}_ffn_dim"]
        total += c[f"{stack}_layers"] * (parts * attention + linear(D, F) + linear(F, D) + norm(D))
    return total


def plbart(c):
    return sequences(c, c.get("max_position_embeddings", 1024) + 2, True, False)


def marian(c):
    return sequences(c, 0, False, False)


def pegasus(c):
    return sequences(c, 0, False, True)


def blenderbot(c):
    return sequences(c, c.get("max_position_embeddings", 128), False, True)


def blenderbot_small(c):
    return sequences(c, c.get("max_position_embeddings", 512), True, False)


FAMILIES = {
    "blenderbot": blenderbot, "blenderbot-small": blenderbot_small, "data2vec-text": data2vec_text, "ernie": ernie,
    "eurobert": eurobert, "new": gte, "marian": marian, "modernbert-decoder": modernbert_decoder, "megatron-bert": megatron_bert, "mpnet": mpnet, "nomic_bert": nomic_bert,
    "pegasus": pegasus, "plbart": plbart, "umt5": umt5, "xlm-roberta-xl": xlm_roberta_xl,
    "bart": bart, "m2m_100": bart, "mbart": bart,
    "albert": albert, "dinov2": dinov2, "dinov2_with_registers": dinov2, "electra": electra,
    "bert": bert, "vit": vit, "t5": t5, "mt5": mt5, "roberta": roberta, "xlm-roberta": xlm_roberta, "camembert": xlm_roberta, "whisper": whisper, "modernbert": modernbert, "clip": clip,
    "DiTTransformer2DModel": dit, "SD3Transformer2DModel": sd3, "FluxTransformer2DModel": flux,
}


def family(config):
    return config.get("model_type") or config["_class_name"]


def count(config):
    return FAMILIES[family(config)](config)
