"""Parameters of encoders, encoder-decoders, images and diffusion, as published and as drawn.

All models of the library of these families, and configurations with sizes drawn by a fixed
seed: each has the parameters of tower_forms.py, and compiles with a batch alone.

Usage: towers.py CONFIGS PUBLISHED FOLDER
"""

import json
import sys
from pathlib import Path

import compiling
import tower_forms

RUNS = 144


def draw_encoder(draw):
    H = draw.choice([1, 2, 3])
    return {"hidden_size": 8 * H * draw.choice([1, 2]), "num_attention_heads": H,
            "num_hidden_layers": draw.randint(1, 7), "intermediate_size": draw.randint(3, 99),
            "vocab_size": draw.randint(100, 999), "max_position_embeddings": draw.randint(4, 40)}


def labels(draw):
    return draw.choice([{}, {"id2label": {str(i): "x" for i in range(draw.randint(1, 9))}},
                        {"num_labels": draw.randint(1, 9)}])


def draw_bert(draw):
    kinds = ["Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification"]
    return draw_encoder(draw) | labels(draw) | {
        "architectures": ["Bert" + draw.choice(kinds)], "type_vocab_size": draw.randint(1, 4),
        "tie_word_embeddings": draw.random() < 0.5}


def draw_roberta(draw):
    kinds = ["Model", "ForMaskedLM", "ForSequenceClassification"]
    return draw_bert(draw) | {"architectures": ["Roberta" + draw.choice(kinds)]}


def draw_xlm_roberta(draw):
    config = draw_roberta(draw)
    return config | {"architectures": ["XLM" + config["architectures"][0]]}


def draw_camembert(draw):
    config = draw_roberta(draw)
    return config | {"architectures": [config["architectures"][0].replace("Roberta", "Camembert")]}


def draw_albert(draw):
    kinds = ["Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification"]
    groups = draw.randint(1, 3)
    return draw_bert(draw) | {
        "architectures": ["Albert" + draw.choice(kinds)], "embedding_size": draw.choice([4, 12]),
        "num_hidden_groups": groups, "num_hidden_layers": groups * draw.randint(1, 3),
        "inner_group_num": draw.choice([1, 1, 2])}


def draw_electra(draw):
    kinds = ["Model", "ForMaskedLM", "ForPreTraining"]
    return draw_bert(draw) | {"architectures": ["Electra" + draw.choice(kinds)],
                              "embedding_size": draw.choice([4, 12, None])}


def draw_image(draw):
    patch = draw.choice([2, 4, 7])
    return {"image_size": patch * draw.randint(1, 5) + draw.randint(0, 1), "patch_size": patch,
            "num_channels": draw.choice([1, 3])}


def draw_vit(draw):
    sizes = draw_encoder(draw)
    del sizes["vocab_size"], sizes["max_position_embeddings"]
    kind = draw.choice(["ViTModel", "ViTForImageClassification"])
    return sizes | draw_image(draw) | labels(draw) | {"architectures": [kind],
                                                      "qkv_bias": draw.random() < 0.5}


def draw_dinov2(draw):
    sizes = draw_vit(draw)
    del sizes["intermediate_size"]
    kind = draw.choice(["Dinov2Model", "Dinov2ForImageClassification"])
    return sizes | {"architectures": [kind], "mlp_ratio": draw.choice([None, 2, 3]),
                    "use_swiglu_ffn": draw.random() < 0.5, "use_mask_token": draw.random() < 0.5}


def draw_dinov2_with_registers(draw):
    kind = draw.choice(["Dinov2WithRegistersModel", "Dinov2WithRegistersForImageClassification"])
    return draw_dinov2(draw) | {"architectures": [kind], "num_register_tokens": draw.choice([1, 4, None])}


def draw_t5(draw):
    return {"d_model": draw.choice([8, 24]), "d_kv": draw.choice([4, 12]), "num_heads": draw.choice([1, 3]),
            "d_ff": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
            "num_layers": draw.randint(1, 5), "num_decoder_layers": draw.choice([None, 1, 4]),
            "feed_forward_proj": draw.choice(["relu", "gated-gelu", "gated-silu"]),
            "relative_attention_num_buckets": draw.choice([8, 32]),
            "tie_word_embeddings": draw.random() < 0.5,
            "architectures": [draw.choice(["T5ForConditionalGeneration", "T5EncoderModel"])]}


def draw_mt5(draw):
    kinds = ["MT5ForConditionalGeneration", "MT5EncoderModel"]
    return draw_t5(draw) | {"architectures": [draw.choice(kinds)]}


def draw_whisper(draw):
    D = draw.choice([12, 24])
    return {"d_model": D, "num_mel_bins": draw.choice([8, 80]), "vocab_size": draw.randint(100, 999),
            "encoder_layers": draw.randint(1, 5), "decoder_layers": draw.randint(1, 5),
            "encoder_attention_heads": draw.choice([2, 3]), "decoder_attention_heads": draw.choice([2, 3]),
            "encoder_ffn_dim": draw.randint(3, 99), "decoder_ffn_dim": draw.randint(3, 99),
            "max_source_positions": draw.randint(4, 40), "max_target_positions": draw.randint(4, 40)}


def draw_bart(draw):
    sizes = draw_whisper(draw)
    for key in ("num_mel_bins", "max_source_positions", "max_target_positions"):
        del sizes[key]
    return sizes | {"max_position_embeddings": draw.randint(4, 40), "scale_embedding": draw.random() < 0.5,
                    "tie_word_embeddings": draw.random() < 0.5}


def draw_modernbert(draw):
    kinds = ["Model", "ForMaskedLM", "ForSequenceClassification"]
    flags = ["norm_bias", "attention_bias", "mlp_bias", "decoder_bias", "classifier_bias"]
    return draw_encoder(draw) | labels(draw) | {
        "architectures": ["ModernBert" + draw.choice(kinds)], "local_attention": draw.choice([2, 5]),
        "global_attn_every_n_layers": draw.randint(1, 4),
        "tie_word_embeddings": draw.random() < 0.5} | {flag: draw.random() < 0.5 for flag in flags}


def draw_clip(draw):
    vision = draw_encoder(draw) | draw_image(draw)
    del vision["vocab_size"], vision["max_position_embeddings"]
    return {"text_config": draw_encoder(draw), "vision_config": vision,
            "projection_dim": draw.choice([8, 20])}


def draw_diffusion(draw):
    return {"num_attention_heads": draw.choice([1, 3]), "attention_head_dim": draw.choice([8, 16]),
            "num_layers": draw.randint(2, 6), "in_channels": draw.choice([4, 16]),
            "out_channels": draw.choice([None, 8])}


def draw_dit(draw):
    return draw_diffusion(draw) | {
        "sample_size": 2 * draw.randint(1, 6), "patch_size": 2, "attention_bias": draw.random() < 0.5,
        "num_embeds_ada_norm": draw.randint(1, 99)}


def draw_sd3(draw):
    sizes = draw_diffusion(draw)
    L = sizes["num_layers"]
    return sizes | {
        "caption_projection_dim": sizes["num_attention_heads"] * sizes["attention_head_dim"],
        "joint_attention_dim": 24, "pooled_projection_dim": 20, "sample_size": 8,
        "qk_norm": draw.choice([None, "rms_norm"]),
        "dual_attention_layers": sorted(draw.sample(range(L), draw.randint(0, L)))}


def draw_flux(draw):
    return draw_diffusion(draw) | {
        "num_single_layers": draw.randint(1, 5), "joint_attention_dim": 24,
        "pooled_projection_dim": 20, "guidance_embeds": draw.random() < 0.5}


def draw_heads(draw, prefix, *kinds):
    """BERT with other names of its heads."""
    return draw_bert(draw) | {"architectures": [prefix + draw.choice(kinds)]}


def draw_data2vec_text(draw):
    return draw_heads(draw, "Data2VecText", "Model", "ForMaskedLM", "ForSequenceClassification")


def draw_megatron_bert(draw):
    return draw_heads(draw, "MegatronBert", "Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification")


def draw_xlm_roberta_xl(draw):
    return draw_heads(draw, "XLMRobertaXL", "Model", "ForMaskedLM", "ForSequenceClassification")


def draw_ernie(draw):
    return draw_heads(draw, "Ernie", "Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification") | {
        "use_task_id": draw.random() < 0.5, "task_type_vocab_size": draw.randint(1, 4)}


def draw_mpnet(draw):
    sizes = draw_heads(draw, "MPNet", "Model", "ForMaskedLM", "ForSequenceClassification")
    del sizes["type_vocab_size"]
    return sizes | {"relative_attention_num_buckets": draw.choice([8, 32])}


def draw_nomic_bert(draw):
    sizes, bias = draw_encoder(draw), draw.random() < 0.5
    return {"n_embd": sizes["hidden_size"], "n_head": sizes["num_attention_heads"], "n_layer": sizes["num_hidden_layers"],
            "n_inner": draw.choice([None, 40, 300]), "vocab_size": sizes["vocab_size"], "n_positions": sizes["max_position_embeddings"],
            "architectures": [draw.choice(["NomicBertModel", "NomicBertForPreTraining"])],
            "activation_function": draw.choice(["swiglu", "geglu", "gelu"]), "rotary_emb_fraction": draw.choice([0, 1.0]),
            "qkv_proj_bias": draw.random() < 0.5, "mlp_fc1_bias": bias, "mlp_fc2_bias": bias,
            "pad_vocab_size_multiple": draw.choice([1, 64]), "type_vocab_size": draw.choice([1, 2])}


def draw_gte(draw):
    return draw_encoder(draw) | {"architectures": [draw.choice(["NewModel", "NewForMaskedLM"])], "type_vocab_size": draw.randint(0, 2),
                                 "hidden_act": draw.choice(["gelu", "silu"]), "tie_word_embeddings": draw.random() < 0.5}


def draw_eurobert(draw):
    sizes = draw_encoder(draw)
    return sizes | {"architectures": [draw.choice(["EuroBertModel", "EuroBertForMaskedLM"])], "mlp_bias": draw.random() < 0.5,
                    "num_key_value_heads": draw.choice([None, 1, sizes["num_attention_heads"]]), "head_dim": draw.choice([None, 6]),
                    "attention_bias": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5}


def draw_modernbert_decoder(draw):
    sizes = draw_modernbert(draw)
    for key in ("num_labels", "id2label"):
        sizes.pop(key, None)
    return sizes | {"architectures": ["ModernBertDecoderForCausalLM"]}


def draw_umt5(draw):
    kinds = ["UMT5ForConditionalGeneration", "UMT5EncoderModel"]
    return draw_t5(draw) | {"architectures": [draw.choice(kinds)]}


DRAWS = {
    "blenderbot": draw_bart, "blenderbot-small": draw_bart, "marian": draw_bart, "pegasus": draw_bart, "plbart": draw_bart,
    "data2vec-text": draw_data2vec_text, "ernie": draw_ernie, "eurobert": draw_eurobert, "new": draw_gte, "megatron-bert": draw_megatron_bert,
    "modernbert-decoder": draw_modernbert_decoder,
    "mpnet": draw_mpnet, "nomic_bert": draw_nomic_bert, "umt5": draw_umt5, "xlm-roberta-xl": draw_xlm_roberta_xl,
    "bart": draw_bart, "m2m_100": draw_bart, "mbart": draw_bart,
    "albert": draw_albert, "electra": draw_electra, "dinov2": draw_dinov2,
    "dinov2_with_registers": draw_dinov2_with_registers,
    "bert": draw_bert, "vit": draw_vit, "t5": draw_t5, "mt5": draw_mt5, "roberta": draw_roberta,
    "xlm-roberta": draw_xlm_roberta, "camembert": draw_camembert, "whisper": draw_whisper,
    "modernbert": draw_modernbert, "clip": draw_clip, "DiTTransformer2DModel": draw_dit,
    "SD3Transformer2DModel": draw_sd3, "FluxTransformer2DModel": draw_flux,
}


# Of models of texts and images the counts of published files alone are compared.
PUBLISHED_ONLY = {"gemma3", "llava", "qwen2_5_vl"}


def check_library(folder, published):
    wrong, number = [], 0
    listed = compiling.list_models()
    for path in sorted(Path(folder).glob("*.json")):
        config = json.loads(path.read_text())
        family = tower_forms.family(config)
        if family not in tower_forms.FAMILIES and family not in PUBLISHED_ONLY:
            continue
        number += 1
        expected = (published.get(path.stem) if family in PUBLISHED_ONLY
                    else tower_forms.count(config))
        found = compiling.parameters(path)
        if expected != found or published.pop(path.stem, None) != expected:
            wrong.append(f"{path.stem}: {expected} expected, {found}")
    for name, _, config in compiling.read_sizes(Path(folder).parent / "families"):
        if tower_forms.family(config) not in tower_forms.FAMILIES:
            continue
        number += 1
        expected, entry = tower_forms.count(config), listed.get(name, {})
        if expected != entry.get("parameters") or published.pop(name, None) != expected:
            wrong.append(f"{name}: {expected} expected, {entry}")
    return number, wrong + [f"{name} is missing" for name in published]


def main(configs, published, folder):
    number, wrong = check_library(configs, json.loads(Path(published).read_text()))
    wrong += compiling.check_drawn(folder, RUNS, DRAWS, (), tower_forms.count, compiling.parameters)
    compiling.report(number, RUNS, wrong)


main(*sys.argv[1:])
