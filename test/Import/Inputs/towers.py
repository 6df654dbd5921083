"""Parameters of encoders, encoder-decoders, images and diffusion, of the library and as drawn.

All models of the library of these families, and configurations with sizes drawn by a fixed
seed: each has the parameters of tower_forms.py, and compiles with a batch alone. Numbers of
the library are those of PUBLISHED, too: published ones where a publication has them to the digit.

Usage: towers.py CONFIGS PUBLISHED FOLDER
"""

import json
import sys
from pathlib import Path

import compiling
import tower_forms

RUNS = 496


def draw_encoder(draw):
    H = draw.choice([1, 2, 3])
    return {"hidden_size": 8 * H * draw.choice([1, 2]), "num_attention_heads": H,
            "num_hidden_layers": draw.randint(1, 7), "intermediate_size": draw.randint(3, 99),
            "vocab_size": draw.randint(100, 999), "max_position_embeddings": draw.randint(4, 40)}


def labels(draw):
    return draw.choice([{}, {"id2label": {str(i): "x" for i in range(draw.randint(1, 9))}},
                        {"num_labels": draw.randint(1, 9)}])


def of_kind(draw, prefix, *kinds):
    """A class whose name says what hangs on the trunk."""
    return {"architectures": [prefix + draw.choice(kinds)]}


def draw_bert(draw):
    kinds = ["Model", "ForMaskedLM", "ForPreTraining", "ForNextSentencePrediction", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]
    return draw_encoder(draw) | labels(draw) | {
        "architectures": ["Bert" + draw.choice(kinds)], "type_vocab_size": draw.randint(1, 4),
        "tie_word_embeddings": draw.random() < 0.5}


def or_writing(draw, config, prefix):
    """A class that predicts the next token in the place of another one."""
    return config | ({"architectures": [prefix + "ForCausalLM"], "is_decoder": True} if draw.random() < 0.3 else {})


OF_TOKENS = ("ForTokenClassification", "ForQuestionAnswering")


def draw_roberta(draw):
    return draw_bert(draw) | of_kind(draw, "Roberta", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_distilbert(draw):
    sizes = draw_bert(draw)
    del sizes["type_vocab_size"]
    return sizes | of_kind(draw, "DistilBert", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_longformer(draw):
    sizes, window = draw_roberta(draw), draw.choice([2, 8])
    return sizes | of_kind(draw, "Longformer", "Model", "ForMaskedLM", "ForTokenClassification") | {
        "attention_window": draw.choice([window, [window] * sizes["num_hidden_layers"]])}


def draw_squeezebert(draw):
    heads = draw.choice([1, 2])
    width, groups = 12 * draw.choice([1, 2]), [draw.choice([1, 2, 4]) for _ in range(2)]
    return draw_bert(draw) | of_kind(draw, "SqueezeBert", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "hidden_size": width, "num_attention_heads": 2 * heads, "intermediate_size": 4 * draw.randint(3, 20), "q_groups": heads, "k_groups": heads, "v_groups": heads,
        "intermediate_groups": groups[0], "output_groups": groups[1]}


def draw_mobilebert(draw):
    sizes = draw_bert(draw)
    del sizes["tie_word_embeddings"]
    return sizes | of_kind(draw, "MobileBert", "Model", "ForMaskedLM", "ForPreTraining", "ForNextSentencePrediction", "ForSequenceClassification", *OF_TOKENS) | {
        "embedding_size": draw.choice([3, 7]), "intra_bottleneck_size": sizes["num_attention_heads"] * draw.choice([2, 5]),
        "num_feedforward_networks": draw.randint(1, 4), "classifier_activation": draw.random() < 0.5, "normalization_type": draw.choice(["no_norm", "layer_norm"])}


def draw_visual_bert(draw):
    kinds = ["Model", "ForPreTraining", "ForQuestionAnswering", "ForVisualReasoning"]
    return draw_bert(draw) | of_kind(draw, "VisualBert", *kinds) | {"visual_embedding_dim": draw.choice([6, 20])}


def draw_jina_embeddings(draw):
    return draw_roberta(draw) | of_kind(draw, "JinaEmbeddingsV3", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_resnet(draw):
    is_plain, stem = draw.random() < 0.5, draw.choice([4, 8])
    widths = sorted(draw.sample([12, 16, 20, 24, 28], 4))
    return labels(draw) | of_kind(draw, "ResNet", "Model", "ForImageClassification") | {
        "layer_type": "basic" if is_plain else "bottleneck", "embedding_size": stem, "hidden_sizes": [stem] + widths[1:] if is_plain else widths,
        "depths": [draw.randint(1, 4) for _ in range(4)], "num_channels": draw.choice([1, 3])}


def draw_xmod(draw):
    return draw_roberta(draw) | of_kind(draw, "Xmod", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "languages": draw.choice([None, ["a"], ["a", "b", "c"]]), "pre_norm": draw.random() < 0.5, "adapter_layer_norm": draw.random() < 0.5,
        "adapter_reuse_layer_norm": draw.random() < 0.5, "ln_before_adapter": draw.random() < 0.5, "adapter_reduction_factor": draw.choice([2, 3])}


def draw_privacy_filter(draw):
    return draw_encoder(draw) | labels(draw) | {
        "architectures": ["OpenAIPrivacyFilter" + draw.choice(["Model", "ForTokenClassification"])], "num_key_value_heads": 1, "head_dim": draw.choice([8, 16]),
        "num_local_experts": draw.choice([2, 4]), "num_experts_per_tok": draw.choice([1, 2]), "sliding_window": draw.choice([1, 4]),
        "attention_bias": draw.random() < 0.5}


def draw_imagegpt(draw):
    sizes = draw_encoder(draw)
    return {"n_embd": sizes["hidden_size"], "n_layer": sizes["num_hidden_layers"], "n_head": sizes["num_attention_heads"],
            "vocab_size": sizes["vocab_size"], "n_positions": draw.randint(8, 64), "n_inner": draw.choice([None, 40])}


def draw_chinese_clip(draw):
    sizes = draw_clip(draw)
    return sizes | {"text_config": sizes["text_config"] | {"type_vocab_size": draw.randint(1, 4)}}


def draw_altclip(draw):
    sizes = draw_chinese_clip(draw)
    return sizes | {"text_config": sizes["text_config"] | {"project_dim": draw.choice([8, 20])}}


def draw_xlm_roberta(draw):
    config = draw_roberta(draw)
    return config | {"architectures": ["XLM" + config["architectures"][0]]}


def draw_camembert(draw):
    config = draw_roberta(draw)
    return config | {"architectures": [config["architectures"][0].replace("Roberta", "Camembert")]}


def draw_albert(draw):
    kinds = ["Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", *OF_TOKENS]
    groups = draw.randint(1, 3)
    return draw_bert(draw) | {
        "architectures": ["Albert" + draw.choice(kinds)], "embedding_size": draw.choice([4, 12]),
        "num_hidden_groups": groups, "num_hidden_layers": groups * draw.randint(1, 3),
        "inner_group_num": draw.choice([1, 1, 2])}


def draw_electra(draw):
    kinds = ["Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", *OF_TOKENS]
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


def draw_dinov3(draw):
    sizes = draw_vit(draw)
    query, key = draw.choice([(True, True), (True, False), (False, False)])
    return {key: value for key, value in sizes.items() if key not in ("architectures", "qkv_bias", "id2label", "num_labels")} | {
        "query_bias": query, "key_bias": key, "value_bias": query, "proj_bias": draw.random() < 0.5, "mlp_bias": draw.random() < 0.5,
        "use_gated_mlp": draw.random() < 0.5, "num_register_tokens": draw.choice([1, 4])}


def draw_t5(draw):
    return {"d_model": draw.choice([8, 24]), "d_kv": draw.choice([4, 12]), "num_heads": draw.choice([1, 3]),
            "d_ff": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
            "num_layers": draw.randint(1, 5), "num_decoder_layers": draw.choice([None, 1, 4]),
            "feed_forward_proj": draw.choice(["relu", "gated-gelu", "gated-silu"]),
            "relative_attention_num_buckets": draw.choice([8, 32]),
            "tie_word_embeddings": draw.random() < 0.5,
            "architectures": [draw.choice(["T5ForConditionalGeneration", "T5EncoderModel", "T5Model"])]}


def with_heads(draw, config, prefix):
    """One of T5's classes: a decoder that writes, one whose last token or all of whose tokens are read, or an encoder of these."""
    kinds = ["ForConditionalGeneration", "EncoderModel", "Model", "ForSequenceClassification", *OF_TOKENS]
    return config | labels(draw) | of_kind(draw, prefix, *kinds)


def draw_switch_transformers(draw):
    kinds = ["SwitchTransformersForConditionalGeneration", "SwitchTransformersEncoderModel"]
    sizes = draw_t5(draw) | {"num_layers": draw.randint(1, 6), "num_decoder_layers": draw.choice([1, 4, 6])}
    del sizes["feed_forward_proj"]
    return sizes | of_kind(draw, "", *kinds) | {
        "num_sparse_encoder_layers": draw.randint(0, sizes["num_layers"]), "num_sparse_decoder_layers": draw.choice([0, 1]),
        "num_experts": draw.choice([2, 4]), "expert_capacity": 512, "router_bias": draw.random() < 0.5}


def draw_nllb_moe(draw):
    return draw_bart(draw) | {"encoder_sparse_step": draw.randint(1, 3), "decoder_sparse_step": draw.randint(1, 3),
                              "num_experts": draw.choice([2, 4]), "router_bias": draw.random() < 0.5}


def draw_t5gemma(draw):
    def draw_part():
        part = draw_text(draw) | {"head_dim": draw.choice([8, 24]), "attention_bias": draw.random() < 0.5,
                                  "sliding_window": draw.choice([16, 4096])}
        del part["vocab_size"]
        kinds = [draw.choice(["full_attention", "sliding_attention"]) for _ in range(part["num_hidden_layers"])]
        return part | {"layer_types": draw.choice([None, kinds])}

    return {"vocab_size": draw.randint(100, 999), "tie_word_embeddings": draw.random() < 0.5,
            "encoder": draw_part(), "decoder": draw_part()}


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


def of_texts(draw, prefix):
    """A decoder that writes, or one whose last token says a class."""
    return of_kind(draw, prefix, "ForConditionalGeneration", "ForSequenceClassification") | labels(draw)


def draw_xclip(draw):
    text, tower, heads, P = draw_encoder(draw), draw_encoder(draw), draw.choice([1, 2]), draw.choice([8, 16])
    for key in ("vocab_size", "max_position_embeddings"):
        del tower[key]
    return {"projection_dim": P, "prompt_layers": draw.randint(1, 3), "prompt_num_attention_heads": heads, "text_config": text, "vision_config": tower | {
        "image_size": 8 * draw.randint(1, 3), "patch_size": draw.choice([4, 8]), "num_frames": draw.randint(1, 4), "mit_hidden_size": P, "mit_intermediate_size": draw.randint(3, 99),
        "mit_num_hidden_layers": draw.randint(1, 3), "mit_num_attention_heads": draw.choice([1, 2, 4])}}


def draw_funnel(draw):
    H = draw.choice([1, 2, 3])
    return labels(draw) | of_kind(draw, "Funnel", "Model", "BaseModel", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering") | {
        "d_model": 8 * H, "n_head": H, "d_head": draw.choice([8, 12]), "d_inner": draw.randint(3, 99), "vocab_size": draw.randint(100, 999), "num_decoder_layers": draw.randint(1, 3),
        "block_sizes": [draw.randint(1, 4), draw.randint(2, 4), draw.randint(2, 4)], "block_repeats": draw.choice([None, [1, 1, 1], [1, 2, 2], [1, 1, 2]]),
        "tie_word_embeddings": draw.random() < 0.5}


def draw_pegasus_x(draw):
    return draw_bart(draw) | {"block_size": draw.choice([2, 4]), "num_global_tokens": draw.randint(1, 5), "stagger_local_blocks": draw.random() < 0.7}


def draw_speech_encoder_decoder(draw):
    sound, text = draw_wav2vec2(draw), draw_bart(draw)
    for key in ("architectures", "id2label", "num_labels"):
        sound.pop(key, None)
    text = {key: text[key] for key in ("d_model", "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", "vocab_size", "max_position_embeddings", "tie_word_embeddings", "scale_embedding")}
    return {"encoder": {"model_type": "wav2vec2", "add_adapter": draw.random() < 0.5} | sound, "decoder": {"model_type": "mbart"} | text}


def draw_led(draw):
    sizes, window = draw_bart(draw), draw.choice([2, 8])
    del sizes["scale_embedding"], sizes["max_position_embeddings"]
    return sizes | {"max_encoder_position_embeddings": draw.randint(4, 60), "max_decoder_position_embeddings": draw.randint(4, 40),
                    "attention_window": draw.choice([window, [window] * sizes["encoder_layers"]])}


def draw_speech_to_text(draw):
    sizes = draw_bart(draw)
    del sizes["max_position_embeddings"]
    return sizes | {"max_source_positions": draw.randint(8, 60), "max_target_positions": draw.randint(4, 40), "conv_channels": draw.choice([6, 16]),
                    "input_feat_per_channel": draw.choice([8, 80])}


def draw_modernbert(draw):
    kinds = ["Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS]
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


def draw_classes(draw, pair, name):
    """A pair of encoders, or that of images alone, which says a class."""
    return pair if draw.random() < 0.5 else pair | labels(draw) | {"architectures": [name + "ForImageClassification"]}


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
        "dual_attention_layers": sorted(draw.sample(range(L), draw.randint(1, L)))}


def draw_flux(draw):
    return draw_diffusion(draw) | {
        "num_single_layers": draw.randint(1, 5), "joint_attention_dim": 24,
        "pooled_projection_dim": 20, "guidance_embeds": draw.random() < 0.5}


def draw_data2vec_text(draw):
    return draw_bert(draw) | of_kind(draw, "Data2VecText", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_megatron_bert(draw):
    return draw_bert(draw) | of_kind(draw, "MegatronBert", "Model", "ForMaskedLM", "ForPreTraining", "ForNextSentencePrediction", "ForSequenceClassification", *OF_TOKENS)


def draw_xlm_roberta_xl(draw):
    return draw_bert(draw) | of_kind(draw, "XLMRobertaXL", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_esm(draw):
    sizes = draw_bert(draw) | of_kind(draw, "Esm", "Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification")
    del sizes["type_vocab_size"]
    return sizes | {"position_embedding_type": draw.choice(["absolute", "rotary"]), "emb_layer_norm_before": draw.choice([None, False, True]),
                    "token_dropout": draw.random() < 0.5}


def draw_ernie(draw):
    return draw_bert(draw) | of_kind(draw, "Ernie", "Model", "ForMaskedLM", "ForPreTraining", "ForNextSentencePrediction", "ForSequenceClassification", *OF_TOKENS) | {
        "use_task_id": draw.random() < 0.5, "task_type_vocab_size": draw.randint(1, 4)}


def draw_mpnet(draw):
    sizes = draw_bert(draw) | of_kind(draw, "MPNet", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)
    del sizes["type_vocab_size"]
    return sizes | {"relative_attention_num_buckets": draw.choice([8, 32])}


def draw_nomic_bert(draw):
    sizes, bias = draw_encoder(draw), draw.random() < 0.5
    if draw.random() < 0.3:
        return sizes | of_kind(draw, "NomicBert", "Model", "ForPreTraining") | {
            "hidden_act": draw.choice(["silu", "gelu"]), "head_dim": draw.choice([None, 6]), "type_vocab_size": draw.choice([1, 2]),
            "tie_word_embeddings": draw.random() < 0.5, "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}}
    return {"n_embd": sizes["hidden_size"], "n_head": sizes["num_attention_heads"], "n_layer": sizes["num_hidden_layers"],
            "n_inner": draw.choice([None, 40, 300]), "vocab_size": sizes["vocab_size"],
            "n_positions": sizes["max_position_embeddings"], **of_kind(draw, "NomicBert", "Model", "ForPreTraining"),
            "activation_function": draw.choice(["swiglu", "geglu", "gelu"]), "rotary_emb_fraction": draw.choice([0, 1.0]),
            "qkv_proj_bias": draw.random() < 0.5, "mlp_fc1_bias": bias, "mlp_fc2_bias": bias,
            "pad_vocab_size_multiple": draw.choice([1, 64]), "type_vocab_size": draw.choice([1, 2])}


def draw_gte(draw):
    return draw_encoder(draw) | labels(draw) | of_kind(draw, "New", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "type_vocab_size": draw.randint(0, 2), "hidden_act": draw.choice(["gelu", "silu"]),
        "tie_word_embeddings": draw.random() < 0.5}


def draw_eurobert(draw):
    sizes = draw_encoder(draw)
    flags = {key: draw.random() < 0.5 for key in ("mlp_bias", "attention_bias", "tie_word_embeddings")}
    return sizes | of_kind(draw, "EuroBert", "Model", "ForMaskedLM") | flags | {
        "num_key_value_heads": draw.choice([None, 1, sizes["num_attention_heads"]]), "head_dim": draw.choice([None, 6])}


def draw_modernbert_decoder(draw):
    sizes = draw_modernbert(draw)
    for key in ("num_labels", "id2label"):
        sizes.pop(key, None)
    return sizes | {"architectures": ["ModernBertDecoderForCausalLM"]}


def draw_deit(draw):
    return draw_vit(draw) | of_kind(draw, "DeiT", "Model", "ForImageClassification", "ForImageClassificationWithTeacher")


def draw_vit_msn(draw):
    return draw_vit(draw) | of_kind(draw, "ViTMSN", "Model", "ForImageClassification")


def draw_ijepa(draw):
    return draw_vit(draw) | of_kind(draw, "IJepa", "Model", "ForImageClassification")


def draw_beit(draw, name="Beit", kinds=("Model", "ForImageClassification", "ForMaskedImageModeling")):
    sizes = draw_vit(draw) | of_kind(draw, name, *kinds)
    del sizes["qkv_bias"]
    flags = draw.choice([{}, {"use_relative_position_bias": True}, {"use_shared_relative_position_bias": True}])
    is_masked = sizes["architectures"][0].endswith("Modeling")
    return sizes | flags | {"use_mask_token": is_masked or draw.random() < 0.5, "use_mean_pooling": draw.random() < 0.5,
                            "use_absolute_position_embeddings": draw.random() < 0.5,
                            "layer_scale_init_value": draw.choice([0.0, 0.1])}


def draw_data2vec_vision(draw):
    return draw_beit(draw, "Data2VecVision", ["Model", "ForImageClassification"])


def draw_moonshine(draw):
    heads = draw.choice([1, 2, 3])
    layers = draw.choice(["encoder_num_hidden_layers", "num_hidden_layers"])
    return {"hidden_size": heads * draw.choice([10, 16, 20]), "intermediate_size": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
            layers: draw.randint(1, 5), "decoder_num_hidden_layers": draw.randint(1, 5), "encoder_num_attention_heads": heads,
            "decoder_num_attention_heads": heads, "decoder_num_key_value_heads": draw.choice([None, heads]),
            "pad_head_dim_to_multiple_of": draw.choice([None, 1, 8]), "attention_bias": draw.random() < 0.5, "partial_rotary_factor": draw.choice([0.8, 1.0]),
            "tie_word_embeddings": draw.random() < 0.5, "max_position_embeddings": draw.randint(4, 40)}


def draw_musicgen(draw):
    sizes = draw_encoder(draw)
    return sizes | {draw.choice(["ffn_dim", "intermediate_size"]): sizes.pop("intermediate_size"), "num_codebooks": draw.choice([None, 1, 8])}


def draw_autoencoder(draw):
    """A decoder, and images that patches divide."""
    heads = draw.choice([1, 2, 3])
    sizes = draw_vit(draw)
    return sizes | {"image_size": sizes["patch_size"] * draw.randint(2, 5), "decoder_num_attention_heads": heads,
                    "decoder_hidden_size": 4 * heads * draw.choice([1, 3]), "decoder_intermediate_size": draw.randint(3, 99),
                    "decoder_num_hidden_layers": draw.randint(1, 4), "norm_pix_loss": draw.choice([True, None])}


def draw_vit_mae(draw):
    sizes = draw_autoencoder(draw) | of_kind(draw, "ViTMAE", "Model", "ForPreTraining") | {
        "mask_ratio": draw.choice([None, 0.5, 0.25]), "norm_pix_loss": draw.random() < 0.5}
    return {key: value for key, value in sizes.items() if key not in ("id2label", "num_labels")}


def draw_videomae(draw):
    frames = draw.choice([1, 2, 3])
    return draw_autoencoder(draw) | of_kind(draw, "VideoMAE", "Model", "ForVideoClassification", "ForPreTraining") | {
        "tubelet_size": frames, "num_frames": frames * draw.randint(1, 4), "use_mean_pooling": draw.random() < 0.5}


def draw_vivit(draw):
    sizes = draw_vit(draw) | of_kind(draw, "Vivit", "Model", "ForVideoClassification")
    del sizes["patch_size"]
    return sizes | {"image_size": draw.randint(6, 20), "num_frames": draw.randint(3, 8),
                    "tubelet_size": [draw.randint(1, 3), draw.randint(2, 6), draw.randint(2, 6)]}


def draw_vilt(draw):
    words = {key: value for key, value in draw_encoder(draw).items() if key in ("vocab_size", "max_position_embeddings")}
    return draw_vit(draw) | words | of_kind(draw, "Vilt", "Model", "ForQuestionAnswering") | {
        "type_vocab_size": draw.randint(1, 4), "modality_type_vocab_size": draw.choice([None, 2, 3])}


def draw_trocr(draw):
    image, heads = draw_vit(draw), draw.choice([1, 2, 3])
    for key in ("architectures", "id2label", "num_labels"):
        image.pop(key, None)
    flags = {key: draw.random() < 0.5 for key in ("layernorm_embedding", "scale_embedding", "tie_word_embeddings")}
    return {"encoder": image, "decoder": flags | {
        "model_type": "trocr", "d_model": 8 * heads, "decoder_attention_heads": heads, "decoder_layers": draw.randint(1, 5),
        "decoder_ffn_dim": draw.randint(3, 99), "vocab_size": draw.randint(100, 999), "max_position_embeddings": draw.randint(4, 40),
        "cross_attention_hidden_size": draw.choice([None, image["hidden_size"]])}}


def draw_before_text(draw):
    """An encoder of images, and what writes of it: ViT before TrOCR or GPT-2, DeiT before TrOCR, Donut."""
    pair, kind = draw_trocr(draw), draw.choice(["trocr", "gpt2", "deit", "donut"])
    image, width, tied = pair["encoder"], pair["encoder"]["hidden_size"], draw.random() < 0.5
    if kind == "deit":
        return pair | {"encoder": image | {"model_type": "deit"}}
    if kind == "gpt2":
        heads = draw.choice([1, 2])
        return {"encoder": image, "decoder": {"model_type": "gpt2", "n_embd": 8 * heads, "n_head": heads, "n_layer": draw.randint(1, 4), "n_inner": draw.choice([None, 20]), "vocab_size": draw.randint(100, 999),
                                              "n_positions": draw.randint(4, 40), "tie_word_embeddings": tied, "cross_attention_hidden_size": draw.choice([None, width])}}
    if kind == "donut":
        swin = draw_donut_swin(draw)
        del swin["architectures"]
        return {"encoder": {"model_type": "donut-swin"} | swin, "decoder": {
            "model_type": "mbart", "d_model": 8 * swin["embed_dim"], "decoder_attention_heads": draw.choice([1, 4]), "decoder_layers": draw.randint(1, 4), "decoder_ffn_dim": draw.randint(3, 99),
            "vocab_size": draw.randint(100, 999), "max_position_embeddings": draw.randint(4, 40), "tie_word_embeddings": tied, "scale_embedding": draw.random() < 0.5}}
    return pair


def draw_encoder_decoder(draw):
    pair = {key: draw_encoder(draw) | {"type_vocab_size": draw.randint(1, 3), "model_type": draw.choice(["bert", "roberta"])} for key in ("encoder", "decoder")}
    pair["encoder"] |= {key: pair["decoder"][key] for key in ("hidden_size", "num_attention_heads")}
    return pair | {"decoder": pair["decoder"] | {"is_decoder": True, "add_cross_attention": True, "tie_word_embeddings": draw.random() < 0.5}}


def draw_decision_transformer(draw):
    heads = draw.choice([1, 2])
    return {"hidden_size": 8 * heads, "n_head": heads, "n_layer": draw.randint(1, 4), "n_inner": draw.choice([None, 20]), "state_dim": draw.randint(1, 9), "act_dim": draw.randint(1, 9),
            "max_ep_len": draw.randint(4, 40), "n_positions": draw.randint(4, 40), "action_tanh": draw.random() < 0.5}


def draw_yolos(draw):
    patch, has_mid = draw.choice([2, 4, 7]), draw.random() < 0.5
    sides = [patch * draw.randint(1, 5) + (0 if has_mid else draw.randint(0, 1)) for _ in range(2)]
    return draw_vit(draw) | of_kind(draw, "Yolos", "Model", "ForObjectDetection") | {
        "patch_size": patch, "image_size": sides, "use_mid_position_embeddings": has_mid, "num_detection_tokens": draw.choice([None, 1, 9])}


def draw_clip_text_model(draw):
    return draw_encoder(draw) | of_kind(draw, "CLIPText", "Model", "ModelWithProjection") | {
        "projection_dim": draw.choice([8, 20])}


def draw_tower(draw):
    sizes = draw_encoder(draw) | draw_image(draw)
    del sizes["vocab_size"], sizes["max_position_embeddings"]
    return sizes


def draw_clip_vision_model(draw):
    return draw_tower(draw) | of_kind(draw, "CLIPVision", "Model", "ModelWithProjection") | {
        "projection_dim": draw.choice([8, 20])}


def draw_siglip_text_model(draw):
    return draw_encoder(draw) | draw.choice([{}, {"projection_size": None}, {"projection_size": 20}])


def draw_siglip_vision_model(draw):
    return draw_tower(draw) | {"vision_use_head": draw.random() < 0.5}


def draw_siglip2_vision_model(draw):
    sizes = draw_siglip_vision_model(draw)
    del sizes["image_size"]
    return sizes | {"num_patches": draw.choice([1, 4, 9, 16])}


def draw_siglip(draw):
    vision = draw_tower(draw)
    return {"text_config": draw_encoder(draw) | {"projection_size": vision["hidden_size"]}, "vision_config": vision}


def draw_siglip2(draw):
    pair = draw_siglip(draw)
    del pair["vision_config"]["image_size"]
    return pair | {"vision_config": pair["vision_config"] | {"num_patches": draw.choice([1, 4, 9, 16])}}


def draw_spectrogram(draw):
    sizes = draw_vit(draw)
    for key in ("image_size", "num_channels"):
        del sizes[key]
    return sizes | of_kind(draw, "AST", "Model", "ForAudioClassification") | {
        "max_length": draw.randint(9, 30), "num_mel_bins": draw.randint(9, 30),
        "frequency_stride": draw.randint(1, 9), "time_stride": draw.randint(1, 9)}


def draw_text(draw):
    H = draw.choice([2, 4])
    return {"hidden_size": 16 * H, "num_attention_heads": H, "num_key_value_heads": draw.choice([1, 2]),
            "num_hidden_layers": draw.randint(4, 7), "intermediate_size": draw.randint(3, 99),
            "vocab_size": draw.randint(100, 999), "max_position_embeddings": 4096}


def draw_square_tower(draw, side):
    """As many patches along each side as are asked for."""
    patch = draw.choice([2, 4, 7])
    return draw_tower(draw) | {"image_size": patch * side, "patch_size": patch}


def draw_qwen3_vl(draw):
    text, depth = draw_text(draw), draw.randint(3, 6)
    chosen = draw.choice([[], sorted(draw.sample(range(depth), 3))])
    text |= {"head_dim": draw.choice([8, 24]), "attention_bias": draw.random() < 0.5}
    return {"tie_word_embeddings": draw.random() < 0.5, "text_config": text,
            "vision_config": {"depth": depth, "hidden_size": 24, "intermediate_size": draw.randint(3, 99), "num_heads": 3,
                              "patch_size": draw.choice([64, 128]), "out_hidden_size": text["hidden_size"],
                              "num_position_embeddings": draw.choice([9, 64]), "deepstack_visual_indexes": chosen}}


def draw_qwen3_vl_moe(draw):
    config = draw_qwen3_vl(draw)
    layers = config["text_config"]["num_hidden_layers"]
    config["text_config"] |= {"num_experts": draw.choice([4, 8]), "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                              "decoder_sparse_step": draw.choice([1, 2]),
                              "mlp_only_layers": sorted(draw.sample(range(layers), draw.randint(0, 2)))}
    return config


def draw_qwen3_5(draw):
    config = draw_qwen3_vl(draw)
    kinds = [draw.choice(["full_attention", "linear_attention"]) for _ in range(config["text_config"]["num_hidden_layers"])]
    config["vision_config"]["deepstack_visual_indexes"] = []
    config["text_config"] |= {"layer_types": draw.choice([None, kinds]), "linear_num_key_heads": 2, "linear_num_value_heads": draw.choice([2, 4]),
                              "linear_key_head_dim": 6, "linear_value_head_dim": 10}
    return config


def draw_qwen3_5_moe(draw):
    config = draw_qwen3_5(draw)
    del config["text_config"]["intermediate_size"]
    config["text_config"] |= {"num_experts": draw.choice([4, 8]), "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                              "shared_expert_intermediate_size": 36}
    return config


def draw_gemma4(draw):
    H, K = draw.choice([1, 2, 4]), draw.choice([1, 2])
    L, pooled = draw.choice([7, 8]), draw.choice([1, 2, 3])
    text = {"hidden_size": 8 * draw.choice([2, 3]), "num_hidden_layers": L, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12,
            "global_head_dim": draw.choice([12, 20]), "intermediate_size": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
            "max_position_embeddings": 64, "sliding_window": 16, "num_kv_shared_layers": draw.choice([0, 1]), "attention_k_eq_v": draw.random() < 0.5,
            "hidden_size_per_layer_input": draw.choice([0, 6]), "vocab_size_per_layer_input": 77}
    vision = {"hidden_size": draw.choice([16, 24]), "intermediate_size": draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4),
              "num_attention_heads": H * K, "num_key_value_heads": K, "head_dim": 8, "patch_size": draw.choice([2, 4]), "pooling_kernel_size": pooled,
              "position_embedding_size": draw.choice([16, 33]), "standardize": draw.random() < 0.5, "use_clipped_linears": draw.random() < 0.5}
    return {"text_config": text, "vision_config": draw.choice([vision, vision, None]), "vision_soft_tokens_per_image": draw.choice([4, 9]),
            "audio_config": draw.choice([None, {"model_type": "gemma4_audio", "hidden_size": 16}])}


def draw_gemma4_unified(draw):
    config = draw_gemma4(draw)
    text = config["text_config"] | {"hidden_size_per_layer_input": 0}
    return {"text_config": text, "vision_soft_tokens_per_image": draw.choice([4, 9]),
            "vision_config": config["vision_config"] and {
                "patch_size": draw.choice([2, 4]), "pooling_kernel_size": draw.choice([1, 3]), "mm_embed_dim": draw.choice([16, 24]), "mm_posemb_size": 20},
            "audio_config": draw.choice([None, {"model_type": "gemma4_unified_audio", "audio_embed_dim": 12}])}


def draw_routed_text(draw):
    return {"hidden_size": 8 * draw.choice([2, 3]), "num_hidden_layers": draw.randint(4, 6), "num_attention_heads": 4, "num_key_value_heads": draw.choice([2, 4]), "head_dim": 12,
            "intermediate_size": draw.randint(3, 99), "vocab_size": draw.randint(100, 999), "num_experts_per_tok": 2, "max_position_embeddings": 2048}


def draw_minimax_m3_vl(draw):
    text = draw_routed_text(draw) | {"num_local_experts": 4, "rotary_dim": 8, "index_head_dim": 8}
    text["layer_types"] = [draw.choice(["full_attention", "minimax_m3_sparse"]) for _ in range(text["num_hidden_layers"])]
    return {"text_config": text, "projector_hidden_size": 20, "vision_config": {
        "hidden_size": draw.choice([16, 24]), "intermediate_size": draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4), "num_attention_heads": 2,
        "patch_size": draw.choice([14, 28]), "temporal_patch_size": draw.choice([1, 2]), "spatial_merge_size": draw.choice([1, 2])}}


def draw_step3p7(draw):
    text = draw_routed_text(draw) | {"moe_num_experts": 4, "moe_intermediate_size": 20, "share_expert_dim": 14}
    text["num_attention_groups"], text["moe_top_k"] = text.pop("num_key_value_heads"), text.pop("num_experts_per_tok")
    sizes = draw.choice([("hidden_size", "num_hidden_layers", "num_attention_heads"), ("width", "layers", "heads")])
    return {"text_config": text, "projector_bias": draw.random() < 0.5, "vision_config": dict(zip(sizes, (draw.choice([16, 24]), draw.randint(1, 4), 2))) | {
        "mlp_ratio": draw.choice([2.5, 4.0]), "image_size": draw.choice([16, 28]), "patch_size": 4}}


def draw_glm5_next(draw):
    text = draw_routed_text(draw) | {"num_key_value_heads": 4, "n_routed_experts": 4, "moe_intermediate_size": 20, "q_lora_rank": 12, "kv_lora_rank": 16,
                                     "qk_nope_head_dim": 8, "v_head_dim": 10, "index_head_dim": 8, "index_n_heads": 2, "linear_head_dim": 6, "linear_num_heads": 2}
    return {"text_config": text, "vision_config": {
        "depth": draw.randint(1, 4), "hidden_size": draw.choice([16, 24]), "intermediate_size": draw.randint(3, 99), "num_heads": 2,
        "out_hidden_size": text["hidden_size"], "projection_intermediate_size": draw.choice([10, 30]), "attention_bias": draw.random() < 0.5,
        "swiglu_limit": draw.choice([0.0, 10.0])}}


def draw_kimi_k25(draw):
    config = draw_kimi_vl(draw)
    if draw.random() < 0.3:
        del config["tie_word_embeddings"]
    tower = config["vision_config"]
    if draw.random() < 0.5:
        for key in ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size"):
            tower["vt_" + key] = tower.pop(key)
        return config
    tower["pos_emb_height"], tower["pos_emb_width"] = tower.pop("init_pos_emb_height"), tower.pop("init_pos_emb_width")
    return config | {"projection_hidden_size": 24}


def draw_glm4v(draw):
    text = draw_text(draw) | {"head_dim": draw.choice([8, 24])}
    patch = draw.choice([28, 56])
    return {"text_config": text, "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"depth": draw.randint(1, 4), "hidden_size": 24, "intermediate_size": draw.randint(3, 99), "num_heads": 3,
                              "patch_size": patch, "image_size": patch * draw.randint(1, 5), "temporal_patch_size": draw.choice([1, 2]),
                              "out_hidden_size": text["hidden_size"], "attention_bias": draw.random() < 0.5}}


def draw_glm_ocr(draw):
    config = draw_glm4v(draw)
    config["vision_config"] |= {"in_channels": draw.choice([1, 3])}
    return config


def draw_hunyuan_vl(draw):
    text = draw_text(draw) | {"head_dim": draw.choice([8, 24]), "attention_bias": draw.random() < 0.5}
    patch, merge = draw.choice([(32, 2), (64, 1), (64, 2)])
    return {"text_config": text, "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"num_hidden_layers": draw.randint(1, 4), "hidden_size": 24, "intermediate_size": draw.randint(3, 99), "num_attention_heads": 3,
                              "patch_size": patch, "spatial_merge_size": merge, "max_image_size": draw.choice([512, 1024])}}


def draw_dots_ocr(draw):
    text, patch = draw_text(draw), draw.choice([(28, 2), (56, 2), (56, 1)])
    return text | {"tie_word_embeddings": draw.random() < 0.5,
                   "vision_config": {"num_hidden_layers": draw.randint(1, 4), "embed_dim": 24, "hidden_size": text["hidden_size"], "intermediate_size": draw.randint(3, 99),
                                     "num_attention_heads": 3, "patch_size": patch[0], "spatial_merge_size": patch[1], "use_bias": draw.random() < 0.5,
                                     "post_norm": draw.random() < 0.5}}


def draw_qwen3_asr(draw):
    text = draw_text(draw) | {"head_dim": draw.choice([8, 24]), "tie_word_embeddings": draw.random() < 0.5}
    config = {"text_config": text, "audio_config": {
        "d_model": 24, "encoder_ffn_dim": draw.randint(3, 99), "encoder_layers": draw.randint(1, 4), "encoder_attention_heads": 3, "num_mel_bins": draw.choice([12, 16]),
        "max_source_positions": 60, "n_window": 10, "n_window_infer": draw.choice([40, 200]), "downsample_hidden_size": draw.choice([4, 6]), "output_dim": text["hidden_size"]}}
    return draw.choice([config, {"thinker_config": config}])


def draw_phi3_v(draw):
    return draw_text(draw) | {"tie_word_embeddings": draw.random() < 0.5, "embd_layer": {"hd_transform_order": draw.choice(["sub_glb", "glb_sub"])}}


def draw_gemma3n(draw):
    """Of a text alone, whose layers may have no keys of their own."""
    layers, own = draw.choice([7, 10]), draw.choice([5, 7])
    return {"text_config": {
        "hidden_size": 2048, "num_hidden_layers": layers, "num_attention_heads": 4, "num_key_value_heads": draw.choice([1, 2]), "head_dim": draw.choice([12, 24]),
        "intermediate_size": draw.choice([40, [draw.choice([24, 40]) for _ in range(layers)]]), "vocab_size": draw.randint(100, 999), "max_position_embeddings": 64,
        "sliding_window": 16, "num_kv_shared_layers": layers - own, "hidden_size_per_layer_input": draw.choice([6, 20]), "vocab_size_per_layer_input": 64,
        "altup_num_inputs": draw.choice([2, 3]), "laurel_rank": draw.choice([4, 10])}, "vision_config": {"architecture": "mobilenetv5_300m_enc"}}


def draw_glm4v_moe(draw):
    config = draw_glm4v(draw)
    config["text_config"] |= {"n_routed_experts": draw.choice([4, 8]), "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                              "n_shared_experts": draw.choice([1, 2]), "first_k_dense_replace": draw.randint(0, 3),
                              "attention_bias": draw.random() < 0.5}
    return config


def draw_glm46v(draw):
    kind = draw.choice(["glm4v", "glm4v_moe"])
    config = draw_glm4v(draw) if kind == "glm4v" else draw_glm4v_moe(draw)
    config["text_config"]["model_type"] = kind + "_text"
    return config


def draw_latents(draw):
    """Latent attention and experts."""
    return {"num_key_value_heads": None, "kv_lora_rank": 20, "q_lora_rank": draw.choice([None, 12]), "qk_nope_head_dim": 12,
            "qk_rope_head_dim": 4, "v_head_dim": 10, "n_routed_experts": 4, "num_experts_per_tok": 2,
            "n_shared_experts": draw.choice([1, 2]), "moe_intermediate_size": 20, "n_group": 1, "topk_group": 1,
            "first_k_dense_replace": draw.randint(0, 3)}


def draw_kimi_vl(draw):
    text = draw_text(draw) | draw_latents(draw)
    merge = draw.choice([1, 2])
    return {"text_config": text, "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": draw.randint(1, 4),
                              "intermediate_size": draw.randint(3, 99), "patch_size": draw.choice([28, 56]),
                              "init_pos_emb_height": draw.randint(2, 8), "init_pos_emb_width": draw.randint(2, 8),
                              "merge_kernel_size": [merge, merge]}}


def draw_minicpmv(draw):
    heads = draw.choice([2, 4])
    text = draw_text(draw) | {"hidden_size": 128 * draw.choice([1, 2]), "num_attention_heads": heads,
                              "version": draw.choice([None, 2.6, "2.6", 4, "4.0", 4.5])}
    if text["version"] != 2.6 and text["version"] != "2.6":
        text["attention_bias"] = draw.random() < 0.5
    tower = draw_square_tower(draw, draw.randint(1, 5)) | {"model_type": draw.choice(["siglip", "siglip_vision_model"])}
    tower["num_hidden_layers"] += 1
    return text | {"query_num": draw.choice([None, 1, 5]), "vision_config": draw.choice([None, tower]), "slice_config": {"scale_resolution": draw.choice([16, 21])},
                   "drop_vision_last_layer": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5}


def draw_paddleocr_vl(draw):
    text = draw_text(draw) | {"head_dim": draw.choice([8, 24]), "use_bias": draw.random() < 0.5}
    tower = draw_tower(draw) | {"patch_size": draw.choice([28, 56]), "image_size": draw.choice([56, 120]), "spatial_merge_size": draw.choice([1, 2])}
    return {"tie_word_embeddings": draw.random() < 0.5, "vision_config": tower} | draw.choice([text, {"text_config": text}])


def draw_deepseek_vl_v2(draw):
    text, patch = draw_text(draw), draw.choice([14, 16])
    text |= {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": draw.choice([1, 2]), "moe_intermediate_size": 20,
             "first_k_dense_replace": draw.randint(0, 3), "topk_method": draw.choice(["greedy", "noaux_tc"])}
    text |= draw.choice([{"use_mla": False, "kv_lora_rank": None, "q_lora_rank": None, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0},
                         {"kv_lora_rank": 20, "q_lora_rank": draw.choice([None, 12]), "qk_nope_head_dim": 12, "qk_rope_head_dim": 4, "v_head_dim": 10}])
    width = 8 * draw.choice([1, 3])
    return {"tile_tag": "2D", "language_config": text, "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"width": width, "heads": draw.choice([1, 2, 4]), "layers": draw.randint(1, 4), "mlp_ratio": draw.choice([2, 3.7362]), "patch_size": patch,
                              "image_size": patch * draw.randint(1, 9) + 1, "global_pool": draw.choice(["map", ""])},
            "projector_config": {"input_dim": width, "n_embed": text["hidden_size"], "mlp_ratio": draw.choice([1, 2]), "downsample_ratio": draw.choice([1, 2, 3])}}


def draw_deepseek_vl(draw):
    tower = draw_square_tower(draw, draw.randint(2, 5)) | {"vision_use_head": draw.random() < 0.5}
    return {"text_config": draw_text(draw), "vision_config": tower, "tie_word_embeddings": draw.random() < 0.5}


def draw_idefics2(draw):
    tower, heads = draw_square_tower(draw, draw.randint(2, 5)), draw.choice([2, 4])
    return {"text_config": draw_text(draw) | draw.choice([{}, {"sliding_window": 16}]), "vision_config": tower, "tie_word_embeddings": draw.random() < 0.5,
            "perceiver_config": {"resampler_n_latents": draw.randint(1, 9), "resampler_depth": draw.randint(1, 4), "resampler_n_heads": heads,
                                 "num_key_value_heads": draw.choice([1, heads]), "resampler_head_dim": draw.choice([8, 12])}}


def draw_voxtral_realtime(draw):
    joined = draw.choice([2, 4])
    return {"text_config": draw_text(draw) | {"head_dim": draw.choice([8, 24]), "max_position_embeddings": 40}, "downsample_factor": joined, "tie_word_embeddings": draw.random() < 0.5,
            "audio_config": {"hidden_size": 24, "intermediate_size": joined * 24, "num_hidden_layers": draw.randint(1, 5), "num_attention_heads": draw.choice([2, 3]),
                             "head_dim": draw.choice([8, 20]), "num_mel_bins": draw.choice([8, 80]), "sliding_window": draw.choice([5, 750])}}


def draw_granite_speech(draw):
    heads, rate, width = draw.choice([2, 3]), draw.choice([1, 5]), draw.choice([24, 48])
    return {"text_config": draw_text(draw) | {"tie_word_embeddings": draw.random() < 0.5, "residual_multiplier": 0.22, "embedding_multiplier": draw.choice([1, 12])},
            "downsample_rate": rate, "window_size": rate * draw.choice([1, 3]),
            "encoder_config": {"input_dim": draw.choice([8, 160]), "num_layers": draw.randint(2, 5), "hidden_dim": width, "feedforward_mult": draw.choice([2, 4]), "num_heads": heads,
                               "dim_head": draw.choice([None, 12]), "output_dim": draw.randint(3, 50), "context_size": draw.choice([10, 20]), "max_pos_emb": draw.choice([20, 512]),
                               "conv_kernel_size": draw.choice([3, 15, 31]), "conv_expansion_factor": draw.choice([1, 2])},
            "projector_config": {"hidden_size": 32, "num_hidden_layers": draw.randint(1, 4), "num_attention_heads": draw.choice([2, 4]), "intermediate_size": draw.randint(3, 99),
                                 "cross_attention_frequency": draw.choice([1, 2]), "encoder_hidden_size": width}}


def draw_phi4_multimodal(draw):
    text, width, patch = draw_text(draw), 8 * draw.choice([1, 3]), draw.choice([4, 7])
    side, layers = 2 * draw.randint(1, 4) * patch, draw.randint(2, 5)
    return text | {
        "tie_word_embeddings": draw.random() < 0.5,
        "vision_config": {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": draw.randint(3, 99), "num_hidden_layers": layers, "patch_size": patch, "image_size": side, "crop_size": side,
                          "feature_layer": draw.choice([-1, -2, layers, 1])},
        "audio_config": {"hidden_size": width, "num_attention_heads": draw.choice([2, 4]), "intermediate_size": draw.randint(3, 99), "num_blocks": draw.randint(1, 4), "kernel_size": draw.choice([3, 4]),
                         "ext_pw_out_channel": width, "depthwise_separable_out_channel": width, "input_size": draw.choice([20, 80]), "nemo_conv_channels": draw.choice([8, 20]),
                         "bias_max_distance": draw.choice([500, 1000]), "bias_symmetric": draw.random() < 0.5}}


def draw_phi4mm(draw):
    text, width = draw_text(draw), 8 * draw.choice([1, 3])
    adapters = {"vision_lora": {"r": draw.choice([2, 5])}, "speech_lora": {"r": 3}} if draw.random() < 0.5 else {}
    return text | adapters | {
        "tie_word_embeddings": draw.random() < 0.5, "max_position_embeddings": 4096,
        "audio_processor": {"name": "cascades", "config": {
            "attention_dim": width, "attention_heads": draw.choice([2, 4]), "linear_units": draw.randint(3, 99), "num_blocks": draw.randint(1, 4), "kernel_size": draw.choice([3, 4]),
            "ext_pw_out_channel": width, "depthwise_seperable_out_channel": width, "input_size": draw.choice([20, 80]), "nemo_conv_settings": {"conv_channels": draw.choice([8, 20])},
            "relative_attention_bias_args": {"type": "t5", "t5_bias_max_distance": draw.choice([500, 1000])}}}}


def draw_ernie4_5_vl(draw, of_publisher):
    text, width = draw_text(draw), 8 * draw.choice([1, 3])
    layers, experts = text["num_hidden_layers"], draw.choice([2, 4])
    text |= {"moe_intermediate_size": [draw.randint(3, 40), draw.randint(3, 40)], "moe_num_experts": experts, "moe_k": draw.choice([1, 2]),
             "moe_num_shared_experts": draw.choice([0, 1, 2]), "use_bias": draw.random() < 0.3}
    tower = {"depth": draw.randint(1, 4), "num_heads": draw.choice([1, 2]), "patch_size": draw.choice([56, 112]), "spatial_merge_size": draw.choice([1, 2])}
    if of_publisher:
        return text | {"moe_num_experts": [experts, experts], "moe_layer_start_index": [1, 1], "moe_layer_end_index": [layers + 1, layers], "tie_word_embeddings": draw.random() < 0.5,
                       "pixel_hidden_size": width, "vision_config": tower | {"embed_dim": width, "hidden_size": width, "mlp_ratio": 4}}
    text["mlp_layer_types"] = draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in range(layers - 1)] + ["sparse"]])
    return {"text_config": text, "tie_word_embeddings": draw.random() < 0.5, "vision_config": tower | {"hidden_size": width, "intermediate_size": draw.randint(3, 99)}}


def draw_git(draw):
    text = draw_text(draw)
    del text["num_key_value_heads"]
    return text | {"max_position_embeddings": draw.randint(20, 90), "tie_word_embeddings": draw.random() < 0.5, "vision_config": draw_tower(draw)}


def draw_blip(draw):
    text = draw_text(draw)
    del text["num_key_value_heads"]
    blip = {"text_config": text | {"max_position_embeddings": draw.randint(20, 90)}, "tie_word_embeddings": draw.random() < 0.5, "vision_config": draw_tower(draw) | {"num_channels": 3}}
    if draw.random() < 0.5:
        return blip
    tower = blip["vision_config"] | {key: text[key] for key in ("hidden_size", "num_attention_heads")}
    return blip | {"architectures": ["BlipForQuestionAnswering"], "vision_config": tower}


def draw_instructblip(draw):
    text, queries = draw_text(draw), draw_tower(draw)
    for key in ("image_size", "patch_size", "num_channels"):
        del queries[key]
    tower = draw_tower(draw) | {"qkv_bias": draw.random() < 0.5}
    del tower["num_channels"]
    return {"num_query_tokens": draw.choice([None, 1, 5]), "text_config": text | {"model_type": "llama"}, "vision_config": tower,
            "qformer_config": queries | {"cross_attention_frequency": draw.randint(1, 3), "vocab_size": draw.randint(50, 99), "max_position_embeddings": draw.choice([20, 64])}}


def draw_parakeet_ctc(draw):
    heads = draw.choice([1, 2])
    return {"vocab_size": draw.randint(50, 99), "encoder_config": {
        "hidden_size": 12 * heads, "num_attention_heads": heads, "num_hidden_layers": draw.randint(1, 5), "intermediate_size": draw.randint(3, 99), "attention_bias": draw.random() < 0.5,
        "convolution_bias": draw.random() < 0.5, "conv_kernel_size": draw.choice([3, 9, 31]), "subsampling_conv_channels": draw.choice([8, 20]), "num_mel_bins": draw.choice([16, 80]),
        "scale_input": draw.random() < 0.5}}


def draw_got_ocr2(draw):
    heads, layers = draw.choice([1, 2]), draw.randint(1, 5)
    return {"text_config": draw_text(draw) | {"model_type": "qwen2"}, "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"hidden_size": 12 * heads, "num_attention_heads": heads, "num_hidden_layers": layers, "mlp_dim": draw.randint(3, 99), "output_channels": draw.choice([8, 20]),
                              "patch_size": 4, "image_size": 4 * draw.randint(3, 9), "window_size": draw.choice([2, 3]), "qkv_bias": draw.random() < 0.5, "use_abs_pos": draw.random() < 0.5,
                              "global_attn_indexes": sorted(draw.sample(range(layers), draw.randint(0, layers)))}}


def draw_deepseek_ocr(draw):
    text = draw_text(draw)
    text["num_key_value_heads"] = text["num_attention_heads"]
    return {"tile_tag": "2D", "tie_word_embeddings": draw.random() < 0.5, "vision_config": {"model_type": "vision", "model_name": "deeplip_b_l", "image_size": 1024},
            "language_config": text | {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": draw.choice([1, 2]), "moe_intermediate_size": 20, "first_k_dense_replace": draw.randint(0, 3),
                                       "use_mla": False, "kv_lora_rank": None, "q_lora_rank": None, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0},
            "projector_config": {"projector_type": "linear", "n_embed": text["hidden_size"]}}


def draw_florence2(draw):
    text, heads = draw_bart(draw), [draw.choice([1, 2]) for _ in range(4)]
    tied = text.pop("tie_word_embeddings")
    return {"text_config": text | {"model_type": "bart", "max_position_embeddings": draw.randint(578, 640)}, "tie_word_embeddings": tied,
            "vision_config": {"depths": [draw.randint(1, 2) for _ in range(4)], "embed_dim": [8 * H for H in heads], "num_heads": heads, "num_groups": [4 * H for H in heads], "window_size": draw.choice([5, 12]),
                              "mlp_ratio": draw.choice([2, 4]), "qkv_bias": draw.random() < 0.5, "projection_dim": text["d_model"], "max_position_embeddings": draw.choice([24, 50])}}


def draw_janus(draw):
    text, tower = draw_text(draw), draw_square_tower(draw, draw.randint(2, 5)) | {"mlp_ratio": draw.choice([2, 4]), "attention_bias": draw.random() < 0.5}
    del tower["intermediate_size"]
    return {"text_config": text, "vision_config": tower | {"projection_dim": text["hidden_size"]}, "tie_word_embeddings": draw.random() < 0.5}


def draw_video_llama_3(draw):
    tower = draw_tower(draw) | {"patch_size": draw.choice([28, 56])}
    del tower["image_size"]
    if draw.random() < 0.3:
        return {"model_type": "videollama3_qwen2", "vision_encoder_config": tower} | draw_text(draw)
    tied = {"tie_word_embeddings": draw.random() < 0.5}
    return {"text_config": draw_text(draw) | draw.choice([{}, tied]), "vision_config": tower} | draw.choice([{}, tied])


def draw_ovis2(draw):
    stride = draw.choice([1, 2])
    tower = draw_square_tower(draw, stride * draw.randint(1, 3)) | {
        "hidden_stride": stride, "vocab_size": draw.randint(10, 99), "qkv_bias": draw.random() < 0.5, "mlp_bias": draw.random() < 0.5,
        "num_visual_indicator_tokens": draw.choice([1, 5]), "hidden_act": draw.choice(["silu", "gelu"])}
    return {"text_config": draw_text(draw), "vision_config": tower, "tie_word_embeddings": draw.random() < 0.5}


def draw_perception_lm(draw):
    is_large, pooled = draw.random() < 0.5, draw.choice([1, 2])
    side = 14 * pooled * draw.randint(1, 3)
    return {"text_config": draw_text(draw), "projector_pooling_ratio": pooled, "vision_use_cls_token": is_large, "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"architecture": "vit_pe_core_large_patch14_336" if is_large else "vit_pe_core_gigantic_patch14_448", "model_args": {
                "embed_dim": draw.choice([48, 96]), "depth": draw.randint(1, 4), "img_size": [side, side], "init_values": draw.choice([None, 0.1]),
                "use_post_transformer_norm": draw.random() < 0.5}}}


def draw_vipllava(draw):
    layers = draw.randint(5, 8)
    seen = sorted(draw.sample(range(1, layers + 1), 5), reverse=True)
    tower = draw_square_tower(draw, draw.randint(2, 5)) | {"num_hidden_layers": layers}
    return {"text_config": draw_text(draw), "vision_config": tower, "tie_word_embeddings": draw.random() < 0.5,
            "vision_feature_layers": [layer if draw.random() < 0.5 else layer - layers - 1 for layer in seen]}


def draw_video_llava(draw):
    tower = draw_square_tower(draw, draw.randint(2, 5)) | {"num_hidden_layers": draw.randint(2, 4)}
    return {"text_config": draw_text(draw), "vision_config": tower, "multimodal_projector_bias": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5}


def draw_modernvbert(draw):
    text, factor = draw_modernbert(draw), draw.choice([1, 2])
    text |= {"max_position_embeddings": 40}
    del text["architectures"]
    return of_kind(draw, "ModernVBert", "Model", "ForMaskedLM") | {
        "text_config": {key: value for key, value in text.items() if key not in ("id2label", "num_labels", "tie_word_embeddings")}, "pixel_shuffle_factor": factor,
        "vision_config": draw_square_tower(draw, factor * draw.randint(1, 3)), "tie_word_embeddings": draw.random() < 0.5}


def draw_aria(draw):
    text = draw_text(draw) | {"moe_num_experts": 4, "moe_topk": draw.choice([1, 2]), "moe_num_shared_experts": draw.choice([0, 1, 2])}
    patches = draw.choice([None, {"1225": 128, "4900": 256}])
    return {"text_config": text, "vision_config": draw_square_tower(draw, 70), "tie_word_embeddings": draw.random() < 0.5, "projector_patch_to_query_dict": patches}


def draw_molmo(draw):
    text = draw_text(draw)
    flags = {key: draw.random() < 0.5 for key in ("qkv_bias", "attention_layer_norm", "norm_after", "tie_word_embeddings")}
    return text | flags | {"intermediate_size": 2 * text["intermediate_size"], "embedding_size": draw.choice([None, 60000]), "vocab_size": 999,
                           "num_key_value_heads": draw.choice([None, 1, 2]), "clip_qkv": draw.choice([None, 8.0])}


def draw_experts_behind_a_tower(draw):
    return draw.choice([{"model_type": "qwen3_moe", "head_dim": 24, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20, "mlp_only_layers": [1]},
                        {"model_type": "gpt_oss", "head_dim": 24, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8}])


def draw_internvl(draw, experts=True):
    kinds = [{"model_type": "qwen2"}, {"model_type": "qwen3", "head_dim": 24}, *([draw_experts_behind_a_tower(draw)] if experts else [])]
    text = draw_text(draw) | draw.choice(kinds)
    tower = draw_square_tower(draw, 2 * draw.randint(1, 3))
    tower |= {key: [tower[key]] * 2 for key in ("image_size", "patch_size")}
    flags = {key: draw.random() < 0.5 for key in ("attention_bias", "use_qk_norm", "use_mean_pooling")}
    return {"tie_word_embeddings": draw.random() < 0.5, "text_config": text,
            "vision_config": tower | flags | {"norm_type": draw.choice(["layer_norm", "rms_norm"])}}


def draw_qianfan_ocr(draw):
    config = draw_internvl(draw, experts=False)
    config["text_config"] |= {"model_type": "qwen3", "head_dim": 24}
    if draw.random() < 0.5:
        config["vision_config"]["qkv_bias"] = config["vision_config"].pop("attention_bias")
    return config


def draw_interns1(draw):
    config = draw_internvl(draw)
    while config["text_config"]["model_type"] not in ("qwen3", "qwen3_moe"):
        config = draw_internvl(draw)
    config["vision_config"]["drop_path_rate"] = 0.0
    return config


def draw_internvl_chat(draw):
    experts = draw_experts_behind_a_tower(draw)
    kind = draw.choice(["llama", "internlm2", "qwen2", "qwen3", "phi3", experts["model_type"]])
    text = draw_text(draw) | {"model_type": kind, "tie_word_embeddings": draw.random() < 0.5}
    text |= {"internlm2": {"bias": draw.random() < 0.5}, "llama": {"attention_bias": draw.random() < 0.5}, "qwen3": {"head_dim": 24},
             "qwen2": {}, "phi3": {"sliding_window": draw.choice([None, 8])}, experts["model_type"]: experts}[kind]
    tower = draw_square_tower(draw, 2 * draw.randint(1, 3)) | {"norm_type": draw.choice(["layer_norm", "rms_norm"])}
    flags = {key: draw.random() < 0.5 for key in ("qkv_bias", "qk_normalization")}
    return {"architectures": ["InternVLChatModel"], "llm_config": text, "vision_config": tower | flags, "force_image_size": draw.choice([None, tower["image_size"]]), "select_layer": -1}


def draw_paligemma(draw, kind=None):
    text = draw_text(draw) | {"model_type": kind or draw.choice(["gemma", "gemma2"]), "head_dim": draw.choice([8, 24])}
    return {"projection_dim": text["hidden_size"], "hidden_size": 9, "text_config": text,
            "vision_config": draw_tower(draw) | {"model_type": "siglip_vision_model", "vision_use_head": False}}


def draw_vectors_of_tokens(draw, kind, vlm):
    return {"embedding_dim": draw.choice([None, 20]), "vlm_config": {"model_type": kind} | vlm}


def draw_colqwen2(draw):
    text, merge = draw_text(draw), draw.choice([1, 2])
    common = {"text_config": text, "tie_word_embeddings": draw.random() < 0.5}
    if draw.random() < 0.5:
        tower = draw_qwen2_5_omni_thinker(draw)["vision_config"] | {"out_hidden_size": text["hidden_size"]}
        return draw_vectors_of_tokens(draw, "qwen2_5_vl", common | {"vision_config": tower})
    return draw_vectors_of_tokens(draw, "qwen2_vl", common | {"vision_config": {
        "embed_dim": 24, "depth": draw.randint(1, 5), "mlp_ratio": draw.randint(1, 4), "num_heads": 3, "hidden_size": text["hidden_size"], "patch_size": draw.choice([28, 56]), "spatial_merge_size": merge}})


def draw_colmodernvbert(draw):
    vlm = draw_modernvbert(draw)
    del vlm["architectures"]
    return draw_vectors_of_tokens(draw, "modernvbert", vlm)


def draw_blip2(draw):
    text = draw_text(draw)
    text |= {"ffn_dim": text.pop("intermediate_size"), "max_position_embeddings": draw.randint(40, 90)}
    del text["num_key_value_heads"]
    queries = draw_tower(draw)
    for key in ("image_size", "patch_size", "num_channels"):
        del queries[key]
    tower = draw_tower(draw) | {"num_channels": 3, "qkv_bias": draw.random() < 0.5}
    return {"num_query_tokens": draw.choice([None, 1, 5]), "text_config": text, "vision_config": tower,
            "qformer_config": queries | {"cross_attention_frequency": draw.randint(1, 3)}}


def draw_lfm2_vl(draw):
    text = draw_text(draw)
    flags = {key: draw.random() < 0.5 for key in ("projector_bias", "projector_use_layernorm")}
    tower = draw_tower(draw) | {"num_patches": draw.randint(1, 9) ** 2, "patch_size": draw.choice([16, 40, 64]), "vision_use_head": False}
    del tower["image_size"]
    return flags | {"projector_hidden_size": draw.choice([None, 12, 20]), "downsample_factor": draw.choice([None, 2, 3, 4]), "vision_config": tower,
                    "text_config": text | {"full_attn_idxs": sorted(draw.sample(range(text["num_hidden_layers"]), 2))}}


def draw_fuyu(draw):
    """The text by itself, or among the other members."""
    text = draw_text(draw) | {"qk_layernorm": draw.random() < 0.5}
    del text["num_key_value_heads"]
    text = draw.choice([text, {"text_config": text | {"model_type": "persimmon"}}])
    return text | draw_image(draw) | {"tie_word_embeddings": draw.random() < 0.5}


def draw_idefics3(draw):
    factor = draw.choice([2, 3])
    return {"scale_factor": factor, "text_config": draw_text(draw), "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": draw_square_tower(draw, factor * draw.randint(1, 3))}


def draw_qwen2_audio(draw):
    return {"text_config": draw_text(draw),
            "audio_config": {"d_model": 24, "encoder_ffn_dim": draw.randint(3, 99), "encoder_layers": draw.randint(1, 5),
                             "encoder_attention_heads": 3, "num_mel_bins": draw.choice([8, 80]),
                             "max_source_positions": 2 * draw.randint(2, 20)}}


def draw_audioflamingo3(draw):
    config = draw_qwen2_audio(draw)
    if draw.random() < 0.5:
        names = {"d_model": "hidden_size", "encoder_ffn_dim": "intermediate_size", "encoder_layers": "num_hidden_layers", "encoder_attention_heads": "num_attention_heads"}
        config["audio_config"] = {names.get(key, key): value for key, value in config["audio_config"].items()}
    return config | {"projector_bias": draw.random() < 0.5}


def draw_glmasr(draw):
    config, heads = draw_voxtral(draw), draw.choice([1, 3])
    config["audio_config"] |= {"num_key_value_heads": heads, "partial_rotary_factor": draw.choice([0.5, 1])}
    return config | {"tie_word_embeddings": draw.random() < 0.5}


def draw_musicflamingo(draw):
    return draw_audioflamingo3(draw) | {"rope_parameters": {"partial_rotary_factor": draw.choice([0.25, 0.5])}}


def draw_exaone4_5(draw):
    config = draw_qwen2_5_omni_thinker(draw)
    del config["audio_config"]
    config["vision_config"]["num_key_value_heads"] = draw.choice([1, 3])
    config["text_config"] |= {"sliding_window_pattern": draw.choice([2, "LLLG"]), "head_dim": 24}
    return config


def draw_qwen2_5_omni_thinker(draw):
    text, sound, chunk = draw_text(draw), draw_qwen2_audio(draw)["audio_config"], draw.choice([2, 5])
    return {"text_config": text, "tie_word_embeddings": draw.random() < 0.5,
            "audio_config": sound | {"n_window": chunk, "max_source_positions": 2 * chunk * draw.randint(1, 4), "output_dim": text["hidden_size"]},
            "vision_config": {"depth": draw.randint(1, 5), "hidden_size": 24, "intermediate_size": draw.randint(3, 99), "num_heads": 3, "window_size": 28,
                              "out_hidden_size": text["hidden_size"], "fullatt_block_indexes": draw.choice([[], [0], [1, 3]])}}


def draw_qwen2_5_omni(draw):
    return {"thinker_config": draw_qwen2_5_omni_thinker(draw)}


def draw_qwen3_omni_moe_thinker(draw):
    config, chunk = draw_qwen3_vl_moe(draw), draw.choice([2, 3, 5])
    config["text_config"]["norm_topk_prob"] = draw.random() < 0.5
    return config | {"audio_config": {
        "d_model": 24, "encoder_ffn_dim": draw.randint(3, 99), "encoder_layers": draw.randint(1, 5), "encoder_attention_heads": 3,
        "num_mel_bins": draw.choice([9, 80]), "n_window": chunk, "max_source_positions": chunk * draw.randint(1, 4),
        "n_window_infer": 2 * chunk * draw.randint(1, 3), "output_dim": config["text_config"]["hidden_size"],
        "downsample_hidden_size": draw.choice([4, 10])}}


def draw_qwen3_omni_moe(draw):
    return {"thinker_config": draw_qwen3_omni_moe_thinker(draw)}


def draw_voxtral(draw):
    joined = draw.choice([2, 4])
    return {"text_config": draw_text(draw) | {"head_dim": draw.choice([8, 24])},
            "audio_config": {"hidden_size": 24, "intermediate_size": joined * 24, "num_hidden_layers": draw.randint(1, 5),
                             "num_attention_heads": 3, "num_mel_bins": draw.choice([8, 80]),
                             "max_source_positions": joined * draw.randint(2, 20)}}


def draw_llava_next(draw, kinds=("llama", "mistral", "qwen2")):
    text = draw_text(draw) | {"model_type": draw.choice(kinds)}
    tower = draw_square_tower(draw, draw.randint(2, 5)) | {"num_hidden_layers": draw.randint(2, 4)}
    return {"text_config": text, "vision_config": tower,
            "multimodal_projector_bias": draw.random() < 0.5, "vision_feature_layer": draw.choice([-1, -2])}


def draw_pixtral(draw):
    patch = draw.choice([2, 4, 7])
    return draw_tower(draw) | {"image_size": 2 * patch * draw.randint(1, 3) + 1, "patch_size": patch, "hidden_act": draw.choice(["gelu", "silu"])}


def draw_mistral3(draw):
    kind, merge = draw.choice(["mistral", "ministral3", "mistral4", "qwen3"]), draw.choice([1, 2, 3])
    text = draw_text(draw) | {"model_type": kind}
    if kind == "mistral4":
        text |= draw_latents(draw) | {"n_group": draw.choice([1, 2])}
    else:
        text |= {"head_dim": draw.choice([8, 24])}
    tower = draw_square_tower(draw, 2 * merge * draw.randint(1, 3)) | {"hidden_act": draw.choice(["gelu", "silu"])}
    return {"text_config": text, "vision_config": tower, "spatial_merge_size": merge, "multimodal_projector_bias": kind != "qwen3" and draw.random() < 0.5,
            "tie_word_embeddings": draw.random() < 0.5}


def draw_lighton_ocr(draw):
    merge = draw.choice([1, 2])
    return {"text_config": draw_text(draw) | {"head_dim": 24}, "vision_config": draw_square_tower(draw, 2 * merge), "spatial_merge_size": merge}


def draw_llava_onevision(draw):
    tied = draw.choice([{}, {"tie_word_embeddings": True}])
    config = {"text_config": draw_text(draw) | {"model_type": "qwen2"} | tied, "tie_word_embeddings": draw.random() < 0.5,
              "multimodal_projector_bias": draw.random() < 0.5}
    return config | draw.choice([{}, {"vision_config": draw_square_tower(draw, draw.randint(2, 5)) | {
        "model_type": "siglip_vision_model", "vision_use_head": False}}])


def draw_cohere2_vision(draw):
    factor = draw.choice([1, 2, 3])
    return {"downsample_factor": factor, "alignment_intermediate_size": 2 * draw.randint(3, 40), "text_config": draw_text(draw),
            "vision_config": draw_square_tower(draw, factor * draw.randint(1, 3)) | {"vision_use_head": False}}


def draw_aya_vision(draw):
    config = draw_cohere2_vision(draw)
    if draw.random() < 0.5:
        del config["alignment_intermediate_size"]
    return config


def draw_qwen_image(draw):
    return draw_diffusion(draw) | {"joint_attention_dim": 24, "patch_size": draw.choice([1, 2]), "out_channels": draw.choice([3, 8])}


def draw_wan(draw):
    return draw_diffusion(draw) | {"out_channels": draw.choice([3, 8]), "patch_size": draw.choice([[1, 2, 2], [2, 1, 1]]),
                                   "text_dim": 24, "freq_dim": draw.choice([8, 256]), "ffn_dim": draw.randint(3, 99),
                                   "cross_attn_norm": draw.random() < 0.5}


def draw_pixart(draw):
    sizes = draw_diffusion(draw) | {"num_attention_heads": 3, "out_channels": draw.choice([3, 8])}
    return sizes | {"cross_attention_dim": 3 * sizes["attention_head_dim"], "caption_channels": 24,
                    "sample_size": draw.choice([8, 128]), "attention_bias": draw.random() < 0.5,
                    "use_additional_conditions": draw.choice([None, True, False])}


def draw_cogvideox(draw):
    is_rotary = draw.random() < 0.5
    return draw_diffusion(draw) | {
        "out_channels": draw.choice([3, 8]), "time_embed_dim": 20, "ofs_embed_dim": draw.choice([None, 20]), "text_embed_dim": 24, "sample_width": 4, "sample_height": 8,
        "sample_frames": draw.choice([1, 9]), "patch_size_t": draw.choice([None, 2]), "max_text_seq_length": draw.randint(1, 20),
        "attention_bias": draw.random() < 0.5, "norm_elementwise_affine": draw.random() < 0.5, "patch_bias": draw.random() < 0.5,
        "use_rotary_positional_embeddings": is_rotary, "use_learned_positional_embeddings": is_rotary and draw.random() < 0.5}


def draw_hunyuan_video(draw):
    return draw_diffusion(draw) | {
        "out_channels": draw.choice([3, None]), "num_single_layers": draw.randint(1, 4), "num_refiner_layers": draw.randint(1, 3), "mlp_ratio": draw.choice([2.5, 4.0]),
        "patch_size_t": draw.choice([1, 2]), "guidance_embeds": draw.random() < 0.5, "text_embed_dim": 24, "pooled_projection_dim": 20}


def draw_ltx_video(draw):
    sizes = draw_diffusion(draw)
    return sizes | {
        "cross_attention_dim": sizes["num_attention_heads"] * sizes["attention_head_dim"], "caption_channels": 24, "attention_bias": draw.random() < 0.5,
        "attention_out_bias": draw.random() < 0.5, "norm_elementwise_affine": draw.random() < 0.5}


def draw_flux2(draw):
    return draw_diffusion(draw) | {
        "num_single_layers": draw.randint(1, 5), "joint_attention_dim": 24, "timestep_guidance_channels": draw.choice([8, 256]), "mlp_ratio": draw.choice([2.5, 3.0]),
        "guidance_embeds": draw.random() < 0.5}


def draw_lumina2(draw):
    heads = draw.choice([2, 4])
    return {
        "sample_size": 8, "patch_size": draw.choice([1, 2]), "in_channels": 4, "out_channels": draw.choice([None, 3]), "hidden_size": 8 * heads,
        "num_layers": draw.randint(1, 4), "num_refiner_layers": draw.randint(1, 3), "num_attention_heads": heads, "num_kv_heads": draw.choice([1, 2]),
        "multiple_of": draw.choice([8, 32]), "ffn_dim_multiplier": draw.choice([None, 0.75]), "cap_feat_dim": 12}


def draw_z_image(draw):
    heads = draw.choice([1, 3])
    return {
        "all_patch_size": [draw.choice([1, 2])], "all_f_patch_size": [draw.choice([1, 2])], "in_channels": 4, "dim": 8 * heads, "n_layers": draw.randint(1, 4),
        "n_refiner_layers": draw.randint(1, 3), "n_heads": heads, "n_kv_heads": 1, "qk_norm": draw.random() < 0.5, "cap_feat_dim": 12}


def draw_auraflow(draw):
    sizes = draw_diffusion(draw)
    del sizes["num_layers"]
    return sizes | {
        "num_mmdit_layers": draw.randint(1, 4), "num_single_dit_layers": draw.randint(1, 4), "sample_size": 8, "joint_attention_dim": 24,
        "caption_projection_dim": sizes["num_attention_heads"] * sizes["attention_head_dim"], "pos_embed_max_size": draw.choice([16, 40])}


def draw_mochi(draw):
    return draw_diffusion(draw) | {
        "pooled_projection_dim": draw.choice([12, 20]), "text_embed_dim": draw.choice([16, 24]), "time_embed_dim": draw.choice([8, 256]),
        "max_sequence_length": draw.randint(1, 20)}


def draw_wan_image(draw):
    sizes = draw_wan(draw)
    width = sizes["num_attention_heads"] * sizes["attention_head_dim"]
    image = {"image_dim": 12, "added_kv_proj_dim": width, "pos_embed_seq_len": draw.choice([None, 6])}
    return sizes | (image if draw.random() < 0.5 else {})


def draw_chronoedit(draw):
    return draw_wan_image(draw) | draw.choice([{}, {"rope_temporal_skip_len": 8}])


def draw_wan_vace(draw):
    sizes = draw_wan_image(draw)
    return sizes | {"vace_layers": [0, *sorted(draw.sample(range(1, sizes["num_layers"]), draw.randint(0, 1)))], "vace_in_channels": draw.choice([6, 12])}


def draw_sana(draw):
    sizes = draw_diffusion(draw)
    return sizes | {
        "out_channels": draw.choice([3, None]), "num_cross_attention_heads": draw.choice([1, 2]), "cross_attention_head_dim": draw.choice([8, 16]),
        "cross_attention_dim": sizes["num_attention_heads"] * sizes["attention_head_dim"], "caption_channels": 24, "mlp_ratio": draw.choice([2.5, 3]),
        "attention_bias": draw.random() < 0.5, "sample_size": 4, "patch_size": draw.choice([1, 2]), "guidance_embeds": draw.random() < 0.5,
        "interpolation_scale": draw.choice([None, 1.0]), "qk_norm": draw.choice([None, "rms_norm_across_heads"])}


def draw_allegro(draw):
    heads, size = draw.choice([1, 2, 3]), draw.choice([6, 12])
    return {"num_attention_heads": heads, "attention_head_dim": size, "cross_attention_dim": heads * size, "in_channels": draw.choice([3, 4]), "out_channels": draw.choice([3, 8]), "num_layers": draw.randint(1, 4),
            "caption_channels": 24, "attention_bias": draw.random() < 0.5, "sample_frames": draw.randint(1, 4), "sample_height": 8, "sample_width": 4}


def draw_latte(draw):
    heads, size = draw.choice([1, 2, 3]), draw.choice([8, 12])
    return {"num_attention_heads": heads, "attention_head_dim": size, "cross_attention_dim": heads * size, "in_channels": draw.choice([3, 4]), "out_channels": draw.choice([None, 8]), "num_layers": draw.randint(1, 4), "caption_channels": 24,
            "attention_bias": draw.random() < 0.5, "sample_size": 8, "patch_size": 2, "video_length": draw.choice([1, 4]), "norm_type": "ada_norm_single", "norm_elementwise_affine": False, "activation_fn": "gelu-approximate"}


def draw_omnigen(draw):
    heads = draw.choice([2, 4])
    return {"hidden_size": heads * draw.choice([8, 12]), "num_attention_heads": heads, "num_key_value_heads": draw.choice([1, 2]), "intermediate_size": draw.choice([40, 52]), "num_layers": draw.randint(1, 4), "vocab_size": draw.choice([64, 96]),
            "in_channels": draw.choice([3, 4]), "time_step_dim": draw.choice([128, 256])}


def draw_hunyuan_dit(draw):
    heads, size = draw.choice([1, 2, 3]), draw.choice([8, 12])
    return {"num_attention_heads": heads, "attention_head_dim": size, "hidden_size": heads * size, "in_channels": draw.choice([3, 4]), "patch_size": 2, "sample_size": 8, "num_layers": 2 * draw.randint(1, 3), "mlp_ratio": draw.choice([2.5, 4.3637]),
            "learn_sigma": draw.random() < 0.5, "cross_attention_dim": draw.choice([16, 20]), "cross_attention_dim_t5": draw.choice([16, 24]), "pooled_projection_dim": draw.choice([16, 20]), "text_len": 5, "text_len_t5": 7,
            "use_style_cond_and_image_meta_size": draw.random() < 0.5}


def draw_kandinsky5(draw):
    axes = [draw.choice([2, 4]) for _ in range(3)]
    return {"in_visual_dim": draw.choice([3, 4]), "out_visual_dim": draw.choice([3, 4]), "in_text_dim": 24, "in_text_dim2": 20, "time_dim": draw.choice([16, 20]), "model_dim": sum(axes) * draw.randint(1, 3), "ff_dim": draw.choice([40, 52]),
            "num_text_blocks": draw.randint(1, 3), "num_visual_blocks": draw.randint(1, 4), "axes_dims": axes, "visual_cond": draw.random() < 0.5, "patch_size": draw.choice([[1, 2, 2], [2, 2, 2]])}


def draw_sana_video(draw):
    config = draw_sana(draw)
    del config["sample_size"], config["interpolation_scale"]
    return config | {"patch_size": draw.choice([[1, 2, 2], [1, 1, 1]])}


def draw_easyanimate(draw):
    return {"num_attention_heads": draw.choice([1, 2]), "attention_head_dim": draw.choice([8, 16]), "in_channels": draw.choice([3, 4]), "out_channels": draw.choice([3, 4]), "patch_size": 2, "sample_width": 4, "sample_height": 8, "num_layers": draw.randint(1, 4),
            "time_embed_dim": draw.choice([16, 20]), "text_embed_dim": 24, "add_norm_text_encoder": draw.random() < 0.5, "norm_elementwise_affine": draw.random() < 0.5}


def draw_cosmos(draw):
    return draw_diffusion(draw) | {
        "out_channels": draw.choice([3, 8]), "mlp_ratio": draw.choice([2.5, 4.0]), "text_embed_dim": 24, "adaln_lora_dim": draw.choice([4, 12]),
        "max_size": [6, 8, 10], "patch_size": draw.choice([[1, 2, 2], [2, 1, 1]]), "concat_padding_mask": draw.random() < 0.5,
        "extra_pos_embed_type": draw.choice(["learnable", "learnable", None])}


def draw_stable_audio(draw):
    return {
        "sample_size": draw.randint(1, 20), "in_channels": draw.choice([4, 8]), "num_layers": draw.randint(1, 5), "attention_head_dim": 8,
        "num_attention_heads": draw.choice([2, 4]), "num_key_value_attention_heads": draw.choice([1, 2]), "out_channels": draw.choice([4, 6]),
        "cross_attention_dim": 20, "time_proj_dim": draw.choice([8, 256]), "global_states_input_dim": 12, "cross_attention_input_dim": 24}


def draw_hidream(draw):
    sizes = draw_diffusion(draw) | {"num_single_layers": draw.randint(2, 4)}
    return sizes | {
        "patch_size": draw.choice([1, 2]), "caption_channels": [12, 20], "text_emb_dim": 24, "num_routed_experts": draw.choice([2, 4]),
        "num_activated_experts": draw.choice([1, 2]), "llama_layers": list(range(sizes["num_layers"] + sizes["num_single_layers"]))}


def draw_cogview(draw):
    return draw_diffusion(draw) | {
        "out_channels": draw.choice([3, 8]), "text_embed_dim": 24, "time_embed_dim": draw.choice([12, 20]), "condition_dim": draw.choice([4, 6]), "sample_size": 8,
        "patch_size": draw.choice([1, 2])}


def draw_cogview4(draw):
    return draw_cogview(draw)


def draw_longcat_image(draw):
    sizes = draw_diffusion(draw) | {"num_single_layers": draw.randint(1, 5), "joint_attention_dim": 24}
    del sizes["out_channels"]
    return sizes


def draw_bria(draw):
    return draw_longcat_image(draw) | {"guidance_embeds": draw.random() < 0.5}


def draw_ovis_image(draw):
    return draw_longcat_image(draw) | {"out_channels": draw.choice([None, 8])}


def draw_skyreels_v2(draw):
    return draw_wan_image(draw)


def draw_image_prior(draw):
    return {
        "num_attention_heads": draw.choice([1, 3]), "attention_head_dim": draw.choice([8, 16]), "num_layers": draw.randint(1, 5), "embedding_dim": draw.choice([12, 20]),
        "num_embeddings": draw.randint(1, 20), "time_embed_dim": draw.choice([None, 20]), "embedding_proj_dim": draw.choice([None, 28]),
        "clip_embed_dim": draw.choice([None, 36])}


def draw_chroma(draw):
    return draw_diffusion(draw) | {
        "num_single_layers": draw.randint(1, 5), "joint_attention_dim": 24, "approximator_num_channels": draw.choice([8, 16]),
        "approximator_hidden_dim": draw.choice([12, 20])}


def draw_hunyuan_video15(draw):
    return draw_diffusion(draw) | {
        "out_channels": draw.choice([3, None]), "num_refiner_layers": draw.randint(1, 3), "mlp_ratio": draw.choice([2.5, 4.0]), "patch_size": draw.choice([1, 2]),
        "patch_size_t": draw.choice([1, 2]), "text_embed_dim": 24, "text_embed_2_dim": 12, "image_embed_dim": 20}


def draw_hunyuan_image(draw):
    flags = {key: draw.random() < 0.5 for key in ("guidance_embeds", "use_meanflow")}
    return draw_diffusion(draw) | flags | {
        "num_single_layers": draw.randint(1, 4), "num_refiner_layers": draw.randint(1, 3), "mlp_ratio": draw.choice([2.5, 4.0]),
        "patch_size": [draw.choice([1, 2]), draw.choice([1, 2])], "text_embed_dim": 24, "text_embed_2_dim": 12}


def draw_voices(draw):
    C = draw.choice([4, 12])
    return {"use_weighted_layer_sum": draw.random() < 0.5, "tdnn_dim": [C, C, C, C, draw.randint(3, 20)], "xvector_output_dim": draw.choice([8, 20])}


def draw_codebook(draw, sizes, prefix):
    if draw.random() < 0.7:
        return sizes
    groups = draw.randint(1, 3)
    return sizes | {"architectures": [prefix + "ForPreTraining"], "mask_time_prob": 0.05, "num_codevector_groups": groups, "num_codevectors_per_group": draw.randint(2, 20),
                    "codevector_dim": groups * draw.randint(2, 9), "proj_codevector_dim": draw.randint(2, 20), "num_negatives": draw.randint(1, 9)}


def draw_wav2vec2(draw, prefix="Wav2Vec2"):
    sizes = draw_encoder(draw)
    del sizes["max_position_embeddings"]
    kinds = ["Model", "ForCTC", "ForSequenceClassification"] + ([] if prefix in ("Hubert", "UniSpeech") else ["ForAudioFrameClassification", "ForXVector"])
    return sizes | labels(draw) | of_kind(draw, prefix, *kinds) | draw_voices(draw) | {
        "conv_dim": [draw.choice([4, 12])] * 7, "feat_extract_norm": draw.choice(["group", "layer"]), "conv_bias": draw.random() < 0.5,
        "num_conv_pos_embeddings": draw.choice([3, 8]), "num_conv_pos_embedding_groups": draw.choice([2, 4]),
        "do_stable_layer_norm": draw.random() < 0.5, "mask_time_prob": draw.choice([0.0, 0.05]),
        "mask_feature_prob": draw.choice([0.0, 0.05]), "classifier_proj_size": draw.choice([3, 256])}


def draw_wavlm(draw):
    return draw_wav2vec2(draw, "WavLM") | {"num_buckets": draw.choice([4, 32])}


def draw_conformer(draw):
    return draw_codebook(draw, draw_wav2vec2(draw, "Wav2Vec2Conformer"), "Wav2Vec2Conformer") | {
        "do_stable_layer_norm": False, "conv_depthwise_kernel_size": draw.choice([3, 31]),
        "position_embeddings_type": draw.choice(["relative", "rotary", None])}


def draw_wav2vec2_bert(draw):
    sizes = draw_encoder(draw)
    del sizes["max_position_embeddings"]
    return sizes | labels(draw) | of_kind(draw, "Wav2Vec2Bert", "Model", "ForCTC", "ForSequenceClassification", "ForAudioFrameClassification", "ForXVector") | draw_voices(draw) | {
        "feature_projection_input_dim": draw.choice([6, 160]), "position_embeddings_type": draw.choice(["relative_key", "relative", "rotary", None]),
        "left_max_position_embeddings": draw.randint(0, 9), "right_max_position_embeddings": draw.randint(0, 9),
        "conv_depthwise_kernel_size": draw.choice([3, 31]), "mask_time_prob": draw.choice([0.0, 0.05]), "apply_spec_augment": draw.random() < 0.5,
        "classifier_proj_size": draw.choice([3, 768])}


def draw_convnext(draw, prefix="ConvNext"):
    return labels(draw) | of_kind(draw, prefix, "Model", "ForImageClassification") | {
        "hidden_sizes": [draw.choice([4, 6, 10]) for _ in range(4)], "depths": [draw.randint(1, 4) for _ in range(4)],
        "image_size": draw.choice([32, 96]), "num_channels": draw.choice([1, 3])}


def draw_scaled_convnext(draw):
    return draw_convnext(draw) | {"layer_scale_init_value": draw.choice([0, 1e-6])}


def draw_hubert(draw):
    return draw_wav2vec2(draw, "Hubert") | {"feat_proj_layer_norm": draw.random() < 0.5}


def draw_data2vec_audio(draw):
    return draw_wav2vec2(draw, "Data2VecAudio") | {"feat_extract_norm": "layer", "do_stable_layer_norm": False,
                                                   "num_conv_pos_embeddings": draw.randint(1, 3), "conv_pos_kernel_size": draw.choice([3, 6])}


def draw_mllama(draw):
    text, tiles = draw_text(draw), draw.choice([2, 4])
    L = text["num_hidden_layers"]
    return {"text_config": text | {"cross_attention_layers": sorted(draw.sample(range(L), draw.randint(1, L)))},
            "vision_config": {"hidden_size": 24, "num_attention_heads": draw.choice([1, 3]), "intermediate_size": draw.randint(3, 99),
                              "num_hidden_layers": draw.randint(9, 12), "num_global_layers": draw.randint(1, 3),
                              "intermediate_layers_indices": [1, 2, 4, 5, 8], "vision_output_dim": 144, "max_num_tiles": tiles,
                              "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]][:draw.randint(1, 3)]} | draw_image(draw)}


def draw_roformer(draw):
    return draw_bert(draw) | of_kind(draw, "RoFormer", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "embedding_size": draw.choice([None, 4, 12])}


def draw_rembert(draw):
    return draw_bert(draw) | of_kind(draw, "RemBert", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "tie_word_embeddings": False, "input_embedding_size": draw.choice([4, 12]), "output_embedding_size": draw.choice([8, 40])}


def draw_layoutlm(draw):
    return draw_bert(draw) | of_kind(draw, "LayoutLM", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "max_2d_position_embeddings": draw.randint(2, 40)}


def draw_ernie_m(draw):
    return draw_bert(draw) | of_kind(draw, "ErnieM", "Model", "ForSequenceClassification", *OF_TOKENS)


def draw_dream(draw):
    sizes = draw_encoder(draw)
    return sizes | {"num_key_value_heads": draw.choice([1, sizes["num_attention_heads"]]), "tie_word_embeddings": draw.random() < 0.5}


def draw_llada(draw):
    sizes = draw_encoder(draw)
    H, V = sizes["num_attention_heads"], sizes["vocab_size"]
    return {"block_type": "llama", "layer_norm_type": "rms", "rope": True, "activation_type": draw.choice(["silu", "gelu"]), "d_model": sizes["hidden_size"],
            "n_layers": sizes["num_hidden_layers"], "n_heads": H, "n_kv_heads": draw.choice([1, H]), "vocab_size": V, "embedding_size": V + draw.choice([0, 7]),
            "mlp_hidden_size": sizes["intermediate_size"], "include_qkv_bias": draw.random() < 0.5, "weight_tying": draw.random() < 0.5}


def draw_markuplm(draw):
    return draw_bert(draw) | of_kind(draw, "MarkupLM", "Model", "ForSequenceClassification", *OF_TOKENS) | {
        "max_xpath_tag_unit_embeddings": draw.randint(3, 20), "max_xpath_subs_unit_embeddings": draw.randint(3, 20),
        "xpath_unit_hidden_size": draw.choice([4, 6]), "max_depth": draw.randint(1, 9)}


def draw_deberta_v2(draw):
    config = draw_bert(draw) | of_kind(draw, "DebertaV2", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)
    relative, groups = draw.random() < 0.8, draw.choice([1, 2])
    return config | {
        "type_vocab_size": draw.choice([0, 0, 3]), "relative_attention": relative, "position_buckets": draw.choice([-1, 4, 9]),
        "max_relative_positions": draw.choice([-1, 7]), "position_biased_input": draw.random() < 0.5,
        "pos_att_type": draw.choice(["c2p|p2c", ["p2c", "c2p"], ["c2p"], "p2c"]), "share_att_key": draw.random() < 0.5,
        "norm_rel_ebd": "layer_norm" if relative and draw.random() < 0.5 else "none", "embedding_size": draw.choice([None, 4, 12]),
        "conv_kernel_size": draw.choice([0, 3, 5]), "conv_groups": groups, "conv_act": draw.choice(["gelu", "tanh"])}


def draw_deberta(draw):
    config = draw_deberta_v2(draw)
    for key in ("position_buckets", "share_att_key", "norm_rel_ebd", "conv_kernel_size", "conv_groups", "conv_act"):
        del config[key]
    return config | of_kind(draw, "Deberta", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_swin(draw, prefix="Swin"):
    heads, window, patch = draw.choice([1, 2]), draw.choice([2, 3, 4]), draw.choice([2, 4])
    columns = draw.choice([1, 2])
    return of_kind(draw, prefix, "Model", "ForImageClassification") | labels(draw) | {
        "image_size": draw.choice([8 * patch * window, [8 * patch * window, 8 * patch * window * columns]]), "patch_size": patch,
        "num_channels": draw.choice([1, 3]), "embed_dim": 8 * heads, "num_heads": [heads, heads, 2 * heads, 4 * heads],
        "depths": [draw.randint(1, 4) for _ in range(4)], "window_size": window, "mlp_ratio": draw.choice([2, 4.0, 1.5]),
        "qkv_bias": draw.random() < 0.5}


def draw_swinv2(draw):
    """Windows that are larger than the last map are as large as that."""
    config = draw_swin(draw, "Swinv2")
    return config | ({"window_size": 2 * config["window_size"]} if draw.random() < 0.5 else {})


def draw_donut_swin(draw):
    sizes = draw_swin(draw, "DonutSwin")
    return {key: value for key, value in sizes.items() if key not in ("id2label", "num_labels")} | {"architectures": ["DonutSwinModel"]}


def draw_maps(draw):
    return {"neck_hidden_sizes": [draw.choice([4, 6, 10]) for _ in range(4)], "fusion_hidden_size": draw.choice([8, 12])}


def draw_depth_anything(draw):
    tower = {key: value for key, value in draw_dinov2(draw).items() if key not in ("id2label", "num_labels", "architectures")}
    layers = draw.randint(4, 9)
    taken = sorted(draw.sample(range(1, layers), 3)) + [layers]
    return {"architectures": ["DepthAnythingForDepthEstimation"], "reassemble_hidden_size": tower["hidden_size"], "head_hidden_size": draw.choice([3, 8]),
            "depth_estimation_type": draw.choice(["relative", "metric"])} | draw_maps(draw) | {
        "backbone_config": tower | {"model_type": "dinov2", "num_hidden_layers": layers, "out_indices": taken}}


def draw_dpt(draw):
    sizes, layers = draw_vit(draw), draw.randint(4, 9)
    return sizes | draw_maps(draw) | of_kind(draw, "DPT", "ForDepthEstimation", "ForSemanticSegmentation") | {
        "image_size": draw.choice([32, 96, 100]), "patch_size": 16, "num_hidden_layers": layers, "backbone_out_indices": sorted(draw.sample(range(layers - 1), 3)) + [layers - 1],
        "readout_type": draw.choice(["project", "ignore"]), "use_batch_norm_in_fusion_residual": draw.random() < 0.5,
        "use_bias_in_fusion_residual": draw.choice([None, True, False]), "use_auxiliary_head": draw.random() < 0.5}


def draw_regnet(draw):
    width = draw.choice([4, 8])
    return of_kind(draw, "RegNet", "Model", "ForImageClassification") | labels(draw) | {
        "embedding_size": draw.choice([6, 8, 14]), "hidden_sizes": [draw.choice([width * draw.randint(1, 4), 3]) for _ in range(4)], "depths": [draw.randint(1, 4) for _ in range(4)],
        "groups_width": width, "layer_type": draw.choice(["x", "y"]), "num_channels": draw.choice([1, 3])}


def draw_poolformer(draw):
    first, others = draw.choice([(7, 2), (5, 1)]), [draw.choice([(3, 1), (5, 2)]) for _ in range(3)]
    return of_kind(draw, "PoolFormer", "Model", "ForImageClassification") | labels(draw) | {
        "hidden_sizes": [draw.choice([4, 6, 10]) for _ in range(4)], "depths": [draw.randint(1, 4) for _ in range(4)], "num_channels": draw.choice([1, 3]),
        "mlp_ratio": draw.choice([2.0, 4, 3.5]), "use_layer_scale": draw.random() < 0.5, "patch_sizes": [size for size, _ in (first, *others)], "padding": [margin for _, margin in (first, *others)]}


def draw_autoencoder_kl(draw):
    widths = [8]
    while len(widths) < 4 and draw.random() < 0.7:
        widths.append(widths[-1] * draw.choice([1, 2]))
    return {"block_out_channels": widths, "down_block_types": ["DownEncoderBlock2D"] * len(widths), "up_block_types": ["UpDecoderBlock2D"] * len(widths), "layers_per_block": draw.randint(1, 3),
            "latent_channels": draw.choice([3, 16]), "norm_num_groups": draw.choice([2, 4]), "sample_size": draw.choice([16, [8, 16]]), "in_channels": draw.choice([1, 3]), "out_channels": draw.choice([1, 3]),
            "use_quant_conv": draw.random() < 0.5, "use_post_quant_conv": draw.random() < 0.5, "mid_block_add_attention": draw.random() < 0.5}


def draw_plain_unet(draw):
    widths = [8]
    for _ in range(draw.randint(0, 5)):
        widths.append(widths[-1] * draw.choice([1, 1, 2]))
    return {"block_out_channels": widths, "layers_per_block": draw.randint(1, 2), "norm_num_groups": draw.choice([2, 4]), "attn_norm_num_groups": draw.choice([None, 8]), "sample_size": 32, "attention_head_dim": draw.choice([None, 4, 8]),
            "down_block_types": [draw.choice(["AttnDownBlock2D", "DownBlock2D"]) for _ in widths], "up_block_types": [draw.choice(["AttnUpBlock2D", "UpBlock2D"]) for _ in widths], "mid_block_type": draw.choice(["UNetMidBlock2D", "UNetMidBlock2D", None]),
            "in_channels": draw.choice([1, 3]), "add_attention": draw.random() < 0.7, **draw.choice([{}, {"num_class_embeds": 7}, {"class_embed_type": "timestep"}])}


def draw_unet(draw):
    levels, many = draw.randint(1, 4), draw.randint(1, 3)
    widths = [8]
    while len(widths) < levels:
        widths.append(widths[-1] * draw.choice([1, 2]))
    config = {"block_out_channels": widths, "layers_per_block": draw.choice([many, [many] * levels]), "norm_num_groups": draw.choice([2, 4]), "sample_size": draw.choice([16, [8, 16]]),
              "down_block_types": [draw.choice(["CrossAttnDownBlock2D", "DownBlock2D"]) for _ in widths], "up_block_types": [draw.choice(["CrossAttnUpBlock2D", "UpBlock2D"]) for _ in widths],
              "mid_block_type": draw.choice(["UNetMidBlock2DCrossAttn", "UNetMidBlock2DCrossAttn", "UNetMidBlock2D", None]), "cross_attention_dim": draw.choice([12, [12] * levels]),
              "attention_head_dim": draw.choice([2, [draw.choice([1, 4]) for _ in widths]]), "in_channels": draw.choice([4, 9]), "conv_in_kernel": draw.choice([1, 3, 5]),
              "transformer_layers_per_block": draw.choice([1, 2, [draw.randint(1, 3) for _ in widths]])}
    if draw.random() < 0.3:
        config |= {"transformer_layers_per_block": [[draw.randint(1, 3) for _ in range(many)] for _ in widths],
                   "reverse_transformer_layers_per_block": [[draw.randint(1, 3) for _ in range(many + 1)] for _ in widths]}
    added = draw.choice([{}, {"addition_embed_type": "text_time"}, {"class_embed_type": "projection"}, {"class_embed_type": "simple_projection"}])
    config |= added | ({"projection_class_embeddings_input_dim": 20} if added else draw.choice([{}, {"num_class_embeds": 7}, {"class_embed_type": "timestep"}]))
    has_text = any(kind.startswith("CrossAttn") for kind in config["down_block_types"] + config["up_block_types"])
    return config | draw.choice([{}, {"encoder_hid_dim": 20} if has_text else {}, {"time_cond_proj_dim": 24}, {"time_embedding_dim": 40}])


def draw_segformer(draw):
    heads = [draw.choice([1, 2]) for _ in range(4)]
    return of_kind(draw, "Segformer", "Model", "ForImageClassification", "ForSemanticSegmentation") | labels(draw) | {
        "decoder_hidden_size": draw.choice([8, 20]),
        "num_channels": draw.choice([1, 3]), "num_attention_heads": heads, "hidden_sizes": [H * draw.choice([4, 10]) for H in heads],
        "depths": [draw.randint(1, 4) for _ in range(4)], "sr_ratios": [draw.choice([1, 2, 4, 8]) for _ in range(4)],
        "patch_sizes": [draw.choice([5, 7]), 3, draw.choice([3, 5]), 3], "mlp_ratios": [draw.randint(1, 5) for _ in range(4)]}


def draw_layoutlmv3(draw):
    heads, image, has_bias = draw.choice([1, 2, 3]), draw_image(draw), draw.random() < 0.8
    kind = of_kind(draw, "LayoutLMv3", "Model", "ForSequenceClassification", *OF_TOKENS)
    ends = {} if kind == {"architectures": ["LayoutLMv3ForQuestionAnswering"]} else draw.choice([labels(draw), {"num_labels": 13}])
    return kind | ends | {
        "hidden_size": 8 * heads, "num_attention_heads": heads, "coordinate_size": heads, "shape_size": 2 * heads,
        "num_hidden_layers": draw.randint(1, 5), "intermediate_size": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
        "max_position_embeddings": draw.randint(4, 40), "type_vocab_size": draw.randint(1, 3), "max_2d_position_embeddings": draw.randint(2, 40),
        "input_size": image["image_size"], "patch_size": image["patch_size"], "num_channels": image["num_channels"], "rel_pos_bins": draw.choice([4, 32]),
        "rel_2d_pos_bins": draw.choice([4, 64]), "has_relative_attention_bias": has_bias, "has_spatial_attention_bias": has_bias and draw.random() < 0.7}


def draw_dpr(draw):
    sizes = draw_bert(draw) | of_kind(draw, "DPR", "ContextEncoder", "QuestionEncoder") | {"projection_dim": draw.choice([0, 12])}
    return {key: value for key, value in sizes.items() if key not in ("id2label", "num_labels")}


def draw_bert_generation(draw):
    return draw_encoder(draw) | draw.choice([
        {"architectures": ["BertGenerationEncoder"]}, {"architectures": ["BertGenerationEncoder"], "is_decoder": True},
        {"architectures": ["BertGenerationDecoder"], "is_decoder": True}]) | {"tie_word_embeddings": draw.random() < 0.5}


def draw_roberta_prelayernorm(draw):
    return draw_bert(draw) | of_kind(draw, "RobertaPreLayerNorm", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS)


def draw_roc_bert(draw):
    return draw_bert(draw) | of_kind(draw, "RoCBert", "Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", *OF_TOKENS) | {
        "shape_vocab_size": draw.randint(3, 20), "shape_embed_dim": draw.choice([4, 6]),
        "pronunciation_vocab_size": draw.randint(3, 20), "pronunciation_embed_dim": draw.choice([4, 10])}


def draw_xlm(draw, prefix="XLM"):
    H = draw.choice([1, 2, 3])
    return of_kind(draw, prefix, "Model", "WithLMHeadModel") | {
        "emb_dim": 8 * H, "n_heads": H, "n_layers": draw.randint(1, 7), "vocab_size": draw.randint(100, 999),
        "max_position_embeddings": draw.randint(4, 40), "n_langs": draw.choice([1, 3]), "use_lang_emb": draw.random() < 0.5,
        "sinusoidal_embeddings": draw.random() < 0.3, "gelu_activation": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5}


def draw_flaubert(draw):
    return draw_xlm(draw, "Flaubert") | {"pre_norm": draw.random() < 0.5}


def draw_fsmt(draw):
    sizes = draw_bart(draw)
    vocabulary = sizes.pop("vocab_size")
    return sizes | {"tgt_vocab_size": vocabulary, "src_vocab_size": vocabulary if sizes["tie_word_embeddings"] else draw.randint(100, 999)}


def draw_xlnet(draw):
    heads = draw.choice([1, 2, 3])
    return labels(draw) | of_kind(draw, "XLNet", "Model", "LMHeadModel", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnsweringSimple") | {
        "d_model": 8 * heads, "n_head": heads, "n_layer": draw.randint(1, 7), "d_inner": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
        "tie_word_embeddings": draw.random() < 0.5}


def draw_lilt(draw):
    heads, ratio = draw.choice([1, 2]), draw.choice([1, 2, 4])
    return draw_bert(draw) | of_kind(draw, "Lilt", "Model", "ForSequenceClassification", *OF_TOKENS) | {
        "hidden_size": 24 * heads, "num_attention_heads": heads, "intermediate_size": ratio * draw.randint(3, 20), "channel_shrink_ratio": ratio,
        "max_2d_position_embeddings": draw.randint(2, 40)}


def draw_clap(draw):
    heads, patch, window = draw.choice([1, 2]), draw.choice([2, 4]), draw.choice([2, 4])
    sound = {"patch_embeds_hidden_size": 8 * heads, "hidden_size": 64 * heads, "num_attention_heads": [heads, heads, 2 * heads, 4 * heads], "depths": [draw.randint(1, 3) for _ in range(4)],
             "window_size": window, "spec_size": 8 * patch * window, "patch_size": patch, "patch_stride": draw.choice([patch, [patch, patch]]), "num_mel_bins": draw.choice([1, 2, 4]) * patch,
             "enable_fusion": draw.random() < 0.5, "mlp_ratio": draw.choice([2, 4.0, 1.5]), "qkv_bias": draw.random() < 0.5, "aff_block_r": draw.choice([2, 4])}
    return {"projection_dim": draw.choice([8, 20]), "text_config": draw_encoder(draw) | {"type_vocab_size": draw.randint(1, 3)}, "audio_config": sound}


def draw_owlvit(draw, prefix="OwlViT"):
    sizes = draw_clip(draw) | draw.choice([{}, {"architectures": [prefix + "ForObjectDetection"]}])
    return sizes | {"projection_dim": sizes["text_config"]["hidden_size"]}


def draw_owlv2(draw):
    return draw_owlvit(draw, "Owlv2")


def draw_timesformer(draw):
    return draw_vit(draw) | of_kind(draw, "Timesformer", "Model", "ForVideoClassification") | {"num_frames": draw.randint(1, 8)}


def draw_pvt_v2(draw):
    sizes = draw_segformer(draw)
    del sizes["decoder_hidden_size"]
    sizes |= of_kind(draw, "PvtV2", "Model", "ForImageClassification") | {"image_size": draw.choice([256, [256, 512]])}
    if draw.random() < 0.5:
        del sizes["mlp_ratios"]
    return sizes


def draw_dinov3_convnext(draw):
    return {key: value for key, value in draw_convnext(draw, "DINOv3ConvNext").items() if key not in ("id2label", "num_labels")} | {"architectures": ["DINOv3ConvNextModel"]}


def draw_detr(draw, prefix="Detr"):
    heads = draw.choice([1, 2, 4])
    return labels(draw) | of_kind(draw, prefix, "Model", "ForObjectDetection") | {
        "d_model": 8 * heads, "encoder_attention_heads": heads, "decoder_attention_heads": draw.choice([1, heads]), "encoder_layers": draw.randint(1, 4), "decoder_layers": draw.randint(1, 4),
        "encoder_ffn_dim": draw.randint(3, 99), "decoder_ffn_dim": draw.randint(3, 99), "num_queries": draw.randint(1, 20), "backbone": draw.choice(["resnet18", "resnet34", "resnet50", "resnet101"])}


def draw_table_transformer(draw):
    return draw_detr(draw, "TableTransformer")


def draw_muse_glimmer(draw):
    text = draw_text(draw) | {"head_dim": draw.choice([8, 24]), "attention_bias": draw.random() < 0.5, "sliding_window": draw.choice([None, 16])}
    merge, side = draw.choice([1, 2]), draw.randint(2, 8)
    kinds = [draw.choice(["full_attention", "window_attention"]) for _ in range(4)]
    return {"text_config": text, "out_hidden_size": 24 * merge**2, "projector_hidden_size": draw.choice([12, 40]), "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 4, "intermediate_size": draw.randint(3, 99), "patch_size": draw.choice([2, 14]), "patch_temporal": draw.choice([1, 2]),
                              "pos_emb_height": side, "pos_emb_width": side, "merge_size": merge, "layer_types": draw.choice([None, kinds])}}


def draw_big_bird(draw):
    return draw_bert(draw) | of_kind(draw, "BigBird", "Model", "ForMaskedLM", "ForPreTraining", "ForSequenceClassification", "ForTokenClassification") | {
        "attention_type": "original_full", "rescale_embeddings": draw.random() < 0.5}


def draw_mobilenet_v1(draw):
    return labels(draw) | of_kind(draw, "MobileNetV1", "Model", "ForImageClassification") | {
        "depth_multiplier": draw.choice([0.1, 0.25, 0.5, 0.75, 1.0]), "image_size": draw.choice([32, 96]), "num_channels": draw.choice([1, 3]), "min_depth": draw.choice([4, 8])}


def draw_mobilenet_v2(draw):
    return labels(draw) | of_kind(draw, "MobileNetV2", "Model", "ForImageClassification") | {
        "depth_multiplier": draw.choice([0.1, 0.35, 0.5, 0.75, 1.0, 1.4]), "image_size": draw.choice([32, 96]), "num_channels": draw.choice([1, 3]), "expand_ratio": draw.choice([2, 6])}


def draw_efficientnet(draw):
    inner = [draw.choice([8, 16, 24, 40]) for _ in range(6)]
    width = draw.choice([0.5, 1.0, 1.1, 1.4])
    return labels(draw) | of_kind(draw, "EfficientNet", "Model", "ForImageClassification") | {
        "width_coefficient": width, "depth_coefficient": draw.choice([0.5, 1.0, 1.2, 2.2]), "image_size": draw.choice([32, 75, 96]), "num_channels": draw.choice([1, 3]),
        "kernel_sizes": [draw.choice([3, 5]) for _ in range(7)], "in_channels": [32] + inner, "out_channels": inner + [draw.choice([32, 48])],
        "num_block_repeats": [draw.randint(1, 4) for _ in range(7)], "expand_ratios": [draw.choice([1, 2, 6]) for _ in range(7)],
        "squeeze_expansion_ratio": draw.choice([0.1, 0.25]), "depthwise_padding": draw.choice([[], list(range(64))]), "hidden_dim": tower_forms.rounded_channels(1280 * width)}


def draw_mobilevit(draw):
    heads, patch = draw.choice([1, 2, 4]), draw.choice([2, 4])
    return labels(draw) | of_kind(draw, "MobileViT", "Model", "ForImageClassification") | {
        "image_size": 32 * patch * draw.randint(1, 2), "patch_size": patch, "num_channels": draw.choice([1, 3]), "num_attention_heads": heads,
        "hidden_sizes": [heads * draw.choice([4, 10]) for _ in range(3)], "neck_hidden_sizes": [draw.choice([8, 10]) for _ in range(3)] + [draw.choice([12, 20]) for _ in range(4)],
        "mlp_ratio": draw.choice([1.5, 2.0]), "expand_ratio": draw.choice([2.0, 3.0, 4]), "conv_kernel_size": draw.choice([3, 5]), "qkv_bias": draw.random() < 0.5}


def draw_mobilevitv2(draw):
    return labels(draw) | of_kind(draw, "MobileViTV2", "Model", "ForImageClassification") | {
        "image_size": 64 * draw.randint(1, 2), "num_channels": draw.choice([1, 3]), "width_multiplier": draw.choice([0.25, 0.5, 0.75, 1.25]),
        "n_attn_blocks": [draw.randint(1, 3) for _ in range(3)], "base_attn_unit_dims": [draw.choice([64, 96]) for _ in range(3)],
        "ffn_multiplier": draw.randint(2, 3), "expand_ratio": draw.choice([2.0, 3]), "conv_kernel_size": draw.choice([3, 5])}


def draw_focalnet(draw):
    return labels(draw) | of_kind(draw, "FocalNet", "Model", "ForImageClassification") | {
        "image_size": draw.choice([32, 64]), "num_channels": draw.choice([1, 3]), "embed_dim": draw.choice([8, 20]), "depths": [draw.randint(1, 3) for _ in range(4)],
        "focal_levels": [draw.randint(1, 4) for _ in range(4)], "focal_windows": [draw.choice([3, 5, 9]) for _ in range(4)], "mlp_ratio": draw.choice([2.5, 4.0]),
        **{key: draw.random() < 0.5 for key in ("use_conv_embed", "use_layerscale", "use_post_layernorm", "use_post_layernorm_in_modulation", "normalize_modulator")}}


def draw_cvt(draw):
    heads = [draw.choice([1, 2, 3]) for _ in range(3)]
    return labels(draw) | of_kind(draw, "Cvt", "Model", "ForImageClassification") | {
        "num_channels": draw.choice([1, 3]), "num_heads": heads, "embed_dim": [H * draw.choice([4, 10]) for H in heads], "depth": [draw.randint(1, 3) for _ in range(3)],
        "mlp_ratio": [draw.choice([2.5, 4.0]) for _ in range(3)], "qkv_bias": [draw.random() < 0.5 for _ in range(3)]}


def draw_swiftformer(draw):
    return labels(draw) | of_kind(draw, "SwiftFormer", "Model", "ForImageClassification") | {
        "image_size": draw.choice([32, 64]), "num_channels": draw.choice([1, 3]), "layers": [draw.randint(1, 3) for _ in range(4)], "embed_dims": [draw.choice([6, 10, 17]) for _ in range(4)],
        "mlp_ratio": draw.choice([2, 4]), "use_layer_scale": draw.random() < 0.5, "act_layer": draw.choice(["gelu", "relu"])}


def draw_glpn(draw):
    config = draw_segformer(draw)
    widths = config["hidden_sizes"]
    return config | of_kind(draw, "GLPN", "Model", "ForDepthEstimation") | {"decoder_hidden_size": draw.choice([6] + [width for width in widths if widths.count(width) == 1])}


def draw_kosmos2(draw):
    heads = draw.choice([1, 2, 3])
    vision = draw_encoder(draw) | draw_image(draw)
    del vision["vocab_size"], vision["max_position_embeddings"]
    return {"text_config": {"embed_dim": 8 * heads, "attention_heads": heads, "layers": draw.randint(1, 6), "ffn_dim": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
                            "max_position_embeddings": draw.randint(30, 60), "scale_embedding": draw.random() < 0.5},
            "latent_query_num": draw.randint(1, 20), "vision_config": vision}


def draw_luke(draw):
    sizes = draw_encoder(draw)
    return sizes | labels(draw) | of_kind(draw, "Luke", "Model", "ForMaskedLM", "ForEntityClassification", "ForEntityPairClassification") | {
        "type_vocab_size": draw.randint(1, 3), "entity_vocab_size": draw.randint(10, 99), "entity_emb_size": draw.choice([12, sizes["hidden_size"]]),
        "use_entity_aware_attention": draw.random() < 0.7}


def draw_tapas(draw):
    return draw_encoder(draw) | labels(draw) | of_kind(draw, "Tapas", "Model", "ForMaskedLM", "ForSequenceClassification") | {
        "type_vocab_sizes": [draw.randint(1, 9) for _ in range(7)]}


def draw_clipseg(draw):
    sizes, heads = draw_clip(draw), draw.choice([1, 2, 4])
    taken, is_twice = sorted(draw.sample(range(6), 3)), draw.random() < 0.5
    sizes["vision_config"] |= {"num_hidden_layers": taken[2] + draw.randint(1, 3)} | ({"patch_size": 16, "image_size": 32} if is_twice else {})
    return sizes | {"extract_layers": taken, "reduce_dim": 8 * heads, "decoder_num_attention_heads": heads, "decoder_intermediate_size": draw.randint(3, 99),
                    "conditional_layer": draw.randint(0, 2), "use_complex_transposed_convolution": is_twice}


def draw_sam(draw):
    tower, heads = draw_got_ocr2(draw)["vision_config"], draw.choice([1, 2])
    D = 16 * heads
    return {"vision_config": tower | {"output_channels": D, "num_pos_feats": D // 2},
            "prompt_encoder_config": {"hidden_size": D, "image_size": tower["image_size"], "patch_size": 4, "mask_input_channels": draw.choice([4, 16])},
            "mask_decoder_config": {"hidden_size": D, "num_attention_heads": heads, "mlp_dim": draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4), "iou_head_hidden_dim": draw.choice([12, 20]),
                                    "attention_downsample_rate": draw.choice([1, 2]), "num_multimask_outputs": draw.randint(1, 4)}}


def draw_seamless(draw, name, positions):
    sizes, heads = draw_bart(draw), draw.choice([1, 2])
    kind = draw.choice(["ForTextToText", "ForSpeechToText", "Model"])
    return sizes | {"architectures": [name + kind], "speech_encoder_layers": draw.randint(1, 4), "speech_encoder_attention_heads": heads if sizes["d_model"] % (2 * heads) == 0 else 1,
                    "speech_encoder_intermediate_size": draw.randint(3, 99), "feature_projection_input_dim": draw.choice([8, 20]), "conv_depthwise_kernel_size": draw.choice([3, 9, 31]),
                    "position_embeddings_type": draw.choice(positions)}


def draw_seamless_v2(draw):
    return draw_seamless(draw, "SeamlessM4Tv2", ["relative_key", "none"]) | {"left_max_position_embeddings": draw.randint(1, 9), "right_max_position_embeddings": draw.randint(1, 9)}


def draw_csm(draw):
    sizes, codes, heads = draw_text(draw), draw.randint(2, 6), draw.choice([1, 2])
    sizes |= {"num_codebooks": codes, "text_vocab_size": draw.randint(50, 99), "max_position_embeddings": draw.randint(9, 40), "attention_bias": draw.random() < 0.5, "tie_codebooks_embeddings": draw.random() < 0.7}
    return sizes | {"depth_decoder_config": {
        "num_codebooks": codes, "vocab_size": sizes["vocab_size"], "backbone_hidden_size": sizes["hidden_size"], "hidden_size": 24 * heads, "intermediate_size": draw.randint(3, 99),
        "num_hidden_layers": draw.randint(1, 4), "num_attention_heads": 2 * heads, "num_key_value_heads": draw.choice([1, heads]), "head_dim": draw.choice([None, 8]), "mlp_bias": draw.random() < 0.5}}


def draw_speecht5(draw):
    sizes, heads = draw_wav2vec2(draw), draw.choice([1, 2])
    for key in ("num_attention_heads", "num_hidden_layers", "intermediate_size", "architectures", "do_stable_layer_norm", "classifier_proj_size"):
        del sizes[key]
    return {key: value for key, value in sizes.items() if key not in ("id2label", "num_labels")} | {
        "hidden_size": 24 * heads, "encoder_attention_heads": 2 * heads, "encoder_layers": draw.randint(1, 4), "encoder_ffn_dim": draw.randint(3, 99), "decoder_layers": draw.randint(1, 4),
        "decoder_ffn_dim": draw.randint(3, 99), "decoder_attention_heads": draw.choice([2, 3]), "encoder_max_relative_position": draw.randint(1, 9), "max_text_positions": draw.randint(4, 40),
        "tie_word_embeddings": draw.random() < 0.5, "scale_embedding": draw.random() < 0.5}


def draw_bigbird_pegasus(draw):
    return draw_bart(draw) | {"attention_type": "original_full", "use_bias": draw.random() < 0.5} | of_texts(draw, "BigBirdPegasus")


def draw_lxmert(draw):
    sizes = draw_encoder(draw)
    del sizes["num_hidden_layers"]
    return sizes | of_kind(draw, "Lxmert", "Model", "ForPreTraining", "ForQuestionAnswering") | {
        "type_vocab_size": draw.randint(1, 3), "task_qa": draw.random() < 0.5} | {key: draw.randint(1, 4) for key in ("l_layers", "x_layers", "r_layers")} | {
        key: draw.randint(2, 30) for key in ("visual_feat_dim", "visual_pos_dim", "num_qa_labels", "num_object_labels", "num_attr_labels")}


def draw_dual_encoder(draw):
    text, kind = draw_encoder(draw), draw.choice(["bert", "roberta"])
    tower = draw_tower(draw) | {"model_type": "clip_vision_model"}
    return {"text_config": text | {"model_type": kind, "type_vocab_size": draw.randint(1, 3)}, "vision_config": tower, "projection_dim": draw.choice([8, 20])}


def draw_convbert(draw):
    sizes = draw_encoder(draw)
    return sizes | labels(draw) | of_kind(draw, "ConvBert", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {
        "num_attention_heads": 2 * sizes["num_attention_heads"], "hidden_size": 2 * sizes["hidden_size"], "embedding_size": draw.choice([12, 2 * sizes["hidden_size"]]), "type_vocab_size": draw.randint(1, 3)}


def draw_canine(draw):
    sizes = draw_encoder(draw)
    del sizes["vocab_size"]
    return sizes | labels(draw) | of_kind(draw, "Canine", "Model", "ForSequenceClassification", *OF_TOKENS) | {
        "max_position_embeddings": 64, "local_transformer_stride": draw.choice([8, 128]), "downsampling_rate": draw.choice([2, 4]), "num_hash_functions": draw.choice([1, 4]),
        "num_hash_buckets": draw.randint(64, 90), "type_vocab_size": draw.randint(1, 3)}


def draw_sew(draw, prefix="SEW"):
    sizes, C = draw_wav2vec2(draw, prefix), draw.choice([2, 4])
    for key in ("use_weighted_layer_sum", "do_stable_layer_norm"):
        del sizes[key]
    return sizes | of_kind(draw, prefix, "Model", "ForCTC", "ForSequenceClassification") | {
        "conv_dim": [C] + 4 * [2 * C] + 4 * [4 * C] + 4 * [draw.choice([12, sizes["hidden_size"]])], "num_conv_pos_embeddings": draw.choice([4, 8])}


def draw_sew_d(draw):
    return draw_sew(draw, "SEWD") | {"position_buckets": draw.choice([-1, 8, 20]), "max_position_embeddings": draw.randint(9, 30)}


def draw_time_series(draw):
    sizes = draw_bart(draw)
    for key in ("vocab_size", "max_position_embeddings", "scale_embedding", "tie_word_embeddings"):
        del sizes[key]
    has_kind = draw.random() < 0.5
    return sizes | {"prediction_length": draw.randint(1, 20), "lags_sequence": list(range(1, draw.randint(2, 9)))} | {
        key: draw.randint(0, 3) for key in ("num_time_features", "num_dynamic_real_features", "num_static_real_features")} | (
        {"num_static_categorical_features": 1, "cardinality": [draw.randint(1, 150)], "embedding_dimension": draw.choice([None, [draw.randint(1, 9)]])} if has_kind else {}) | draw.choice([{}, {"context_length": draw.randint(1, 30)}])


def draw_patchtst(draw):
    heads, patch = draw.choice([1, 2, 3]), draw.randint(1, 5)
    return {"num_input_channels": draw.randint(1, 7), "context_length": draw.randint(5, 60), "patch_length": patch, "patch_stride": draw.randint(1, patch), "num_hidden_layers": draw.randint(1, 4), "d_model": 8 * heads,
            "num_attention_heads": heads, "ffn_dim": draw.randint(3, 99), "prediction_length": draw.randint(1, 20), "norm_type": draw.choice(["batchnorm", "layernorm"]),
            "positional_encoding_type": draw.choice(["sincos", "random"])} | draw.choice([{}, {"pooling_type": "mean"}])


def draw_nystromformer(draw):
    return draw_bert(draw) | of_kind(draw, "Nystromformer", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {"conv_kernel_size": draw.choice([3, 9]), "num_landmarks": 8, "segment_means_seq_len": 8}


def draw_bros(draw):
    sizes, heads, box = draw_bert(draw), draw.choice([1, 2, 4]), draw.choice([1, 2])
    return sizes | of_kind(draw, "Bros", "Model", "ForTokenClassification") | {"num_attention_heads": heads, "hidden_size": 8 * box * heads, "dim_bbox": box}


def draw_timesfm(draw):
    patch = draw.choice([2, 5])
    return {"patch_length": patch, "context_length": patch * draw.randint(1, 9), "horizon_length": draw.randint(1, 20), "freq_size": draw.randint(1, 4), "num_hidden_layers": draw.randint(1, 4),
            "hidden_size": draw.choice([16, 24]), "intermediate_size": draw.randint(3, 99), "head_dim": draw.choice([4, 7]), "num_attention_heads": draw.randint(1, 3),
            "quantiles": [0.1 * i for i in range(1, draw.randint(2, 9))]}


def draw_chronos_bolt(draw):
    text, patch = draw_t5(draw), draw.choice([2, 5])
    for key in ("vocab_size", "tie_word_embeddings"):
        del text[key]
    return text | {"architectures": ["ChronosBoltModelForForecasting"], "chronos_config": {
        "context_length": patch * draw.randint(1, 9), "input_patch_size": patch, "input_patch_stride": patch, "prediction_length": draw.randint(1, 20), "quantiles": [0.1 * i for i in range(1, draw.randint(2, 9))]}}


def draw_text_to_speech(draw):
    heads = draw.choice([1, 2])
    return {"architectures": ["SpeechT5ForTextToSpeech"], "hidden_size": 24 * heads, "encoder_attention_heads": 2 * heads, "encoder_layers": draw.randint(1, 4), "encoder_ffn_dim": draw.randint(3, 99),
            "decoder_layers": draw.randint(1, 4), "decoder_ffn_dim": draw.randint(3, 99), "decoder_attention_heads": draw.choice([2, 3]), "encoder_max_relative_position": draw.randint(1, 9),
            "max_text_positions": draw.randint(4, 40), "max_speech_positions": draw.randint(4, 40), "vocab_size": draw.randint(10, 99), "num_mel_bins": draw.randint(2, 9),
            "speech_decoder_prenet_units": draw.randint(2, 20), "speech_decoder_postnet_units": draw.randint(2, 20), "speaker_embedding_dim": draw.randint(2, 20), "reduction_factor": draw.randint(1, 3)}


def draw_musicgen_whole(draw):
    text, decoder = draw_t5(draw), draw_musicgen(draw)
    for key in ("architectures", "num_decoder_layers", "tie_word_embeddings"):
        del text[key]
    return {"text_encoder": text | {"model_type": "t5", "d_model": draw.choice([24, decoder["hidden_size"]])}, "decoder": decoder | {"model_type": "musicgen_decoder"}, "audio_encoder": {"model_type": "encodec"}}


def draw_musicgen_melody(draw):
    whole = draw_musicgen_whole(draw)
    text = whole["text_encoder"] | {"n_positions": draw.randint(3, 20), "d_model": 12}
    return {"text_encoder": text, "decoder": whole["decoder"] | {"model_type": "musicgen_melody_decoder", "max_position_embeddings": draw.randint(40, 60)}, "num_chroma": draw.randint(2, 20), "chroma_length": draw.randint(2, 9)}


def draw_dia(draw):
    def draw_part(heads):
        return {"hidden_size": draw.choice([16, 24]), "intermediate_size": draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4), "num_attention_heads": 2 * heads, "num_key_value_heads": draw.choice([1, heads]),
                "head_dim": draw.choice([8, 12]), "vocab_size": draw.randint(50, 99), "max_position_embeddings": draw.randint(4, 40)}

    encoder, heads = draw_part(draw.choice([1, 2])), draw.choice([1, 2])
    return {"encoder_config": encoder, "decoder_config": draw_part(draw.choice([1, 2])) | {
        "num_channels": draw.randint(1, 9), "cross_hidden_size": encoder["hidden_size"], "cross_num_attention_heads": 2 * heads, "cross_num_key_value_heads": draw.choice([1, heads]), "cross_head_dim": draw.choice([4, 8])}}


def draw_kyutai(draw):
    sizes = draw_text(draw)
    return sizes | {"ffn_dim": 2 * sizes.pop("intermediate_size"), "num_codebooks": draw.randint(1, 9), "codebook_vocab_size": draw.randint(20, 99), "sliding_window": draw.choice([4, 400])}


def draw_moshi(draw):
    sizes, codes, heads, books = draw_text(draw), draw.randint(2, 6), draw.choice([1, 2]), draw.randint(20, 50)
    return sizes | {"ffn_dim": 2 * sizes.pop("intermediate_size"), "num_codebooks": codes, "audio_vocab_size": books, "sliding_window": draw.choice([4, 400]), "depth_decoder_config": {
        "num_codebooks": codes, "vocab_size": sizes["vocab_size"], "audio_vocab_size": books, "input_size": sizes["hidden_size"], "hidden_size": 24 * heads, "ffn_dim": 2 * draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4),
        "num_attention_heads": 2 * heads, "num_key_value_heads": draw.choice([None, heads]), "head_dim": draw.choice([None, 8])}}


def draw_moshi_text(draw):
    sizes = draw_text(draw)
    sizes["ffn_dim"] = 2 * sizes.pop("intermediate_size")
    return sizes | of_kind(draw, "Moshi", "ForCausalLM", "Model") | {"num_codebooks": 4, "sliding_window": draw.choice([4, 400])}


def draw_granite4_vision(draw):
    text, side, layers = draw_text(draw) | {"num_hidden_layers": 9, "residual_multiplier": draw.choice([1, 0.22])}, draw.choice([1, 2, 4]), sorted(draw.sample(range(1, 7), 3))
    tower, heads = draw_square_tower(draw, 2 * side * draw.randint(1, 2)) | {"model_type": "siglip_vision_model", "num_hidden_layers": 7}, draw.choice([1, 2])
    tower |= {"hidden_size": 8 * heads * tower["num_attention_heads"], "vision_use_head": draw.random() < 0.5}
    before = draw.sample(range(9), 8)
    return {"text_config": text, "vision_config": tower, "downsample_rate": f"{side}/{2 * side}", "tie_word_embeddings": draw.random() < 0.5,
            "deepstack_layer_map": [[layer if draw.random() < 0.5 else layer - 8, target] for layer, target in zip(layers + [7], before)],
            "spatial_target_layers": before[4:], "qformer_config": {"hidden_size": tower["hidden_size"], "encoder_hidden_size": tower["hidden_size"], "num_attention_heads": heads,
                                                                                 "intermediate_size": draw.randint(3, 99)}}


def draw_longt5(draw):
    sizes, block = draw_t5(draw), draw.choice([4, 8])
    sizes |= {"architectures": [draw.choice(["LongT5ForConditionalGeneration", "LongT5EncoderModel"])], "feed_forward_proj": draw.choice(["relu", "gated-gelu"])}
    return sizes | {"local_radius": block - 1, "global_block_size": draw.choice([2, 4]), "n_positions": 8 * draw.randint(1, 5), "encoder_attention_type": draw.choice(["local", "transient-global"])}


def draw_aimv2(draw):
    heads = draw.choice([1, 2, 4])
    return of_kind(draw, "Aimv2Vision", "Model") | {
        "hidden_size": 8 * heads * draw.randint(1, 2), "intermediate_size": 8 * draw.randint(1, 9), "num_hidden_layers": draw.randint(1, 4), "num_attention_heads": heads, "num_channels": draw.choice([1, 3]),
        "image_size": draw.choice([16, 30, 32]), "patch_size": draw.choice([4, 8]), "hidden_act": draw.choice(["silu", "gelu"])} | {
        key: draw.choice([True, False]) for key in ["qkv_bias", "mlp_bias", "use_head", "is_native"]}


def draw_hiera(draw):
    heads, stride, units = draw.choice([1, 2]), draw.choice([2, 4]), [draw.randint(1, 2) for _ in range(2)]
    return labels(draw) | of_kind(draw, "Hiera", "Model", "ForImageClassification") | {
        "embed_dim": 8 * heads, "num_heads": [heads, 2 * heads, draw.choice([2, 4]), 4], "depths": [draw.randint(1, 3) for _ in range(4)], "mlp_ratio": draw.choice([2, 4, 1.5]),
        "num_channels": draw.choice([1, 3]), "image_size": [8 * stride * n for n in units], "patch_stride": [stride, stride], "patch_size": [2 * stride - 1] * 2, "patch_padding": [stride - 1] * 2}


def draw_vjepa2(draw):
    heads, narrow, side, frames = draw.choice([1, 2]), draw.choice([1, 2]), draw.choice([2, 4]), draw.choice([1, 2])
    return labels(draw) | of_kind(draw, "VJEPA2", "Model", "ForVideoClassification") | {
        "hidden_size": 8 * heads * draw.choice([1, 2]), "num_attention_heads": heads, "num_hidden_layers": draw.randint(1, 4), "mlp_ratio": draw.choice([2, 4, 1.5]),
        "pred_hidden_size": 10 * narrow, "pred_num_attention_heads": narrow, "pred_num_hidden_layers": draw.randint(1, 4), "pred_mlp_ratio": draw.choice([2, 4, 1.5]),
        "pred_num_mask_tokens": draw.choice([1, 10]), "num_pooler_layers": draw.randint(0, 3), "qkv_bias": draw.random() < 0.5, "in_chans": draw.choice([1, 3]),
        "patch_size": side, "crop_size": side * draw.randint(1, 3) + 1, "tubelet_size": frames, "frames_per_clip": frames * draw.randint(1, 3)}


def draw_mlcd(draw):
    sizes, heads = draw_clip_vision_model(draw), draw.choice([1, 2])
    return sizes | {"architectures": ["MLCDVisionModel"], "hidden_size": 4 * heads * draw.choice([1, 3]), "num_attention_heads": heads}


def draw_pix2struct(draw):
    heads, head, tied = draw.choice([1, 2, 3]), draw.choice([4, 8]), draw.random() < 0.5
    return {"tie_word_embeddings": tied,
            "text_config": {"vocab_size": draw.randint(100, 999), "hidden_size": heads * head, "d_kv": head, "num_heads": heads, "d_ff": draw.randint(3, 99), "num_layers": draw.randint(1, 4),
                            "relative_attention_num_buckets": draw.choice([8, 32]), "tie_word_embeddings": tied, "is_decoder": True},
            "vision_config": {"patch_embed_hidden_size": draw.choice([12, 48]), "hidden_size": heads * head, "d_kv": draw.choice([4, 6]), "num_attention_heads": draw.choice([1, 3]),
                              "d_ff": draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4), "seq_len": draw.randint(4, 40)}}


def draw_splinter(draw):
    return draw_encoder(draw) | of_kind(draw, "Splinter", "Model", "ForQuestionAnswering") | {"type_vocab_size": draw.randint(1, 4)}


def draw_kosmos2_5(draw):
    heads = draw.choice([1, 2, 3])
    return {"text_config": {"embed_dim": 8 * heads, "attention_heads": heads, "layers": draw.randint(1, 6), "ffn_dim": draw.randint(3, 99), "vocab_size": draw.randint(100, 999),
                            "max_position_embeddings": draw.randint(30, 60), "scale_embedding": draw.random() < 0.5},
            "latent_query_num": draw.randint(1, 20), "tie_word_embeddings": draw.random() < 0.5,
            "vision_config": {"patch_embed_hidden_size": draw.choice([12, 48]), "hidden_size": draw.choice([16, 24]), "d_kv": draw.choice([4, 6]), "num_attention_heads": draw.choice([1, 3]),
                              "d_ff": draw.randint(3, 99), "num_hidden_layers": draw.randint(1, 4), "seq_len": draw.randint(4, 40)}}


def draw_ibert(draw):
    return draw_roberta(draw) | of_kind(draw, "IBert", "Model", "ForMaskedLM", "ForSequenceClassification", *OF_TOKENS) | {"quant_mode": False}


DRAWS = {
    "ibert": draw_ibert,
    "kosmos-2.5": draw_kosmos2_5,
    "splinter": draw_splinter,
    "pix2struct": draw_pix2struct,
    "mlcd_vision_model": draw_mlcd,
    "vjepa2": draw_vjepa2,
    "hiera": draw_hiera,
    "aimv2_vision_model": draw_aimv2,
    "longt5": draw_longt5,
    "granite4_vision": draw_granite4_vision,
    "speecht5": lambda draw: (draw_text_to_speech if draw.random() < 0.5 else draw_speecht5)(draw), "dia": draw_dia, "kyutai_speech_to_text": draw_kyutai, "musicgen": draw_musicgen_whole, "musicgen_melody": draw_musicgen_melody, "moshi": lambda draw: (draw_moshi_text if draw.random() < 0.5 else draw_moshi)(draw),
    "csm": draw_csm,
    "seamless_m4t": lambda draw: draw_seamless(draw, "SeamlessM4T", ["relative", "rotary"]), "seamless_m4t_v2": draw_seamless_v2,
    "kosmos-2": draw_kosmos2, "luke": draw_luke, "tapas": draw_tapas, "clipseg": draw_clipseg, "sam": draw_sam,
    # Texts.
    "xlnet": draw_xlnet, "lilt": draw_lilt, "big_bird": draw_big_bird,
    "distilbert": draw_distilbert, "longformer": draw_longformer, "xmod": draw_xmod, "openai_privacy_filter": draw_privacy_filter,
    "squeezebert": draw_squeezebert, "mobilebert": draw_mobilebert, "visual_bert": draw_visual_bert, "jina_embeddings_v3": draw_jina_embeddings,
    "dpr": draw_dpr, "bert-generation": draw_bert_generation, "roberta-prelayernorm": lambda draw: or_writing(draw, draw_roberta_prelayernorm(draw), "RobertaPreLayerNorm"), "roc_bert": draw_roc_bert,
    "xlm": draw_xlm, "flaubert": draw_flaubert, "led": lambda draw: draw_led(draw) | of_texts(draw, "LED"), "speech_to_text": draw_speech_to_text, "fsmt": draw_fsmt, "mvp": lambda draw: draw_bart(draw) | of_texts(draw, "Mvp"),
    "layoutlmv3": draw_layoutlmv3,
    "deberta": draw_deberta, "deberta-v2": draw_deberta_v2,
    "markuplm": draw_markuplm,
    "llada": draw_llada,
    "Dream": draw_dream,
    "ernie_m": draw_ernie_m,
    "layoutlm": draw_layoutlm,
    "rembert": draw_rembert,
    "roformer": draw_roformer,
    "albert": draw_albert, "bert": draw_bert, "camembert": lambda draw: or_writing(draw, draw_camembert(draw), "Camembert"), "clip_text_model": draw_clip_text_model,
    "data2vec-text": lambda draw: or_writing(draw, draw_data2vec_text(draw), "Data2VecText"), "electra": draw_electra, "ernie": lambda draw: or_writing(draw, draw_ernie(draw), "Ernie"), "esm": draw_esm, "eurobert": draw_eurobert,
    "megatron-bert": lambda draw: or_writing(draw, draw_megatron_bert(draw), "MegatronBert"), "modernbert": draw_modernbert, "modernbert-decoder": draw_modernbert_decoder,
    "mpnet": draw_mpnet, "new": draw_gte, "nomic_bert": draw_nomic_bert, "roberta": lambda draw: or_writing(draw, draw_roberta(draw), "Roberta"),
    "xlm-roberta": lambda draw: or_writing(draw, draw_xlm_roberta(draw), "XLMRoberta"), "xlm-roberta-xl": lambda draw: or_writing(draw, draw_xlm_roberta_xl(draw), "XLMRobertaXL"),
    # Two sequences.
    "bart": draw_bart, "blenderbot": draw_bart, "blenderbot-small": draw_bart, "m2m_100": draw_bart,
    "marian": draw_bart, "mbart": lambda draw: draw_bart(draw) | of_texts(draw, "MBart"), "mt5": lambda draw: with_heads(draw, draw_t5(draw), "MT5"), "pegasus": draw_bart, "plbart": lambda draw: draw_bart(draw) | of_texts(draw, "PLBart"), "t5": lambda draw: draw_chronos_bolt(draw) if draw.random() < 0.5 else with_heads(draw, draw_t5(draw), "T5"), "timesfm": draw_timesfm, "nystromformer": draw_nystromformer, "bros": draw_bros, "sew": draw_sew, "sew-d": draw_sew_d, "time_series_transformer": draw_time_series, "patchtst": draw_patchtst, "bigbird_pegasus": draw_bigbird_pegasus, "lxmert": draw_lxmert, "vision-text-dual-encoder": draw_dual_encoder, "convbert": draw_convbert, "canine": draw_canine,
    "xclip": draw_xclip, "funnel": draw_funnel, "pegasus_x": draw_pegasus_x, "speech-encoder-decoder": draw_speech_encoder_decoder,
    "umt5": lambda draw: with_heads(draw, draw_t5(draw), "UMT5"), "whisper": draw_whisper,
    "vision-encoder-decoder": draw_before_text, "encoder-decoder": draw_encoder_decoder, "decision_transformer": draw_decision_transformer, "moonshine": draw_moonshine, "musicgen_decoder": draw_musicgen, "nllb-moe": draw_nllb_moe, "switch_transformers": draw_switch_transformers, "t5gemma": draw_t5gemma,
    # Images and sound.
    "clap": draw_clap, "owlvit": draw_owlvit, "owlv2": draw_owlv2, "timesformer": draw_timesformer, "pvt_v2": draw_pvt_v2, "dinov3_convnext": draw_dinov3_convnext, "detr": draw_detr,
    "table-transformer": draw_table_transformer, "mobilenet_v1": draw_mobilenet_v1, "mobilenet_v2": draw_mobilenet_v2,
    "efficientnet": draw_efficientnet, "mobilevit": draw_mobilevit, "mobilevitv2": draw_mobilevitv2, "focalnet": draw_focalnet, "cvt": draw_cvt, "swiftformer": draw_swiftformer, "glpn": draw_glpn,
    "wav2vec2-bert": draw_wav2vec2_bert, "wavlm": draw_wavlm, "wav2vec2-conformer": draw_conformer,
    "segformer": draw_segformer, "donut-swin": draw_donut_swin, "depth_anything": draw_depth_anything, "dpt": draw_dpt, "regnet": draw_regnet, "poolformer": draw_poolformer,
    "swin": draw_swin, "swinv2": draw_swinv2,
    "audio-spectrogram-transformer": draw_spectrogram, "beit": draw_beit, "clip": lambda draw: draw_classes(draw, draw_clip(draw), "CLIP"), "metaclip_2": lambda draw: draw_classes(draw, draw_clip(draw), "MetaClip2"), "chinese_clip": draw_chinese_clip, "altclip": draw_altclip, "imagegpt": draw_imagegpt, "resnet": draw_resnet,
    "clip_vision_model": draw_clip_vision_model, "data2vec-vision": draw_data2vec_vision, "deit": draw_deit,
    "dinov2": draw_dinov2, "dinov2_with_registers": draw_dinov2_with_registers, "dinov3_vit": draw_dinov3, "ijepa": draw_ijepa,
    "convnext": draw_scaled_convnext, "convnextv2": lambda draw: draw_convnext(draw, "ConvNextV2"),
    "data2vec-audio": draw_data2vec_audio, "hubert": draw_hubert, "unispeech": lambda draw: draw_wav2vec2(draw, "UniSpeech"),
    "unispeech-sat": lambda draw: draw_wav2vec2(draw, "UniSpeechSat"), "wav2vec2": lambda draw: draw_codebook(draw, draw_wav2vec2(draw), "Wav2Vec2"),
    "siglip": lambda draw: draw_classes(draw, draw_siglip(draw), "Siglip"), "siglip2": lambda draw: draw_classes(draw, draw_siglip2(draw), "Siglip2"), "siglip2_vision_model": draw_siglip2_vision_model,
    "pixtral": draw_pixtral, "siglip_text_model": draw_siglip_text_model, "siglip_vision_model": draw_siglip_vision_model, "videomae": draw_videomae, "vilt": draw_vilt, "vit": draw_vit, "vit_mae": draw_vit_mae, "vit_msn": draw_vit_msn,
    "vivit": draw_vivit, "yolos": draw_yolos,
    # Before a text.
    "muse_glimmer": draw_muse_glimmer,
    "gemma4_unified": draw_gemma4_unified, "minimax_m3_vl": draw_minimax_m3_vl, "step3p7": draw_step3p7, "glm5_next": draw_glm5_next,
    "colmodernvbert": draw_colmodernvbert, "colpali": lambda draw: draw_vectors_of_tokens(draw, "paligemma", draw_paligemma(draw, "gemma")), "colqwen2": draw_colqwen2,
    "phi4_multimodal": draw_phi4_multimodal, "phi4mm": draw_phi4mm, "ernie4_5_vl_moe": lambda draw: draw_ernie4_5_vl(draw, False),
    "ernie4_5_moe_vl": lambda draw: draw_ernie4_5_vl(draw, True), "git": draw_git, "blip": draw_blip, "instructblip": draw_instructblip, "instructblipvideo": draw_instructblip,
    "parakeet_ctc": draw_parakeet_ctc, "got_ocr2": draw_got_ocr2, "florence2": draw_florence2,
    "lfm2-vl": draw_lfm2_vl, "blip-2": draw_blip2, "fuyu": draw_fuyu, "gemma4": draw_gemma4,
    "granite_speech": draw_granite_speech, "idefics2": draw_idefics2, "voxtral_realtime": draw_voxtral_realtime, "janus": draw_janus, "modernvbert": draw_modernvbert, "ovis2": draw_ovis2, "perception_lm": draw_perception_lm, "video_llama_3": draw_video_llama_3,
    "video_llava": draw_video_llava, "vipllava": draw_vipllava,
    "exaone4_5": draw_exaone4_5, "glm_ocr": draw_glm_ocr, "glmasr": draw_glmasr, "lighton_ocr": draw_lighton_ocr, "musicflamingo": draw_musicflamingo,
    "qianfan_ocr": draw_qianfan_ocr, "hunyuan_vl": draw_hunyuan_vl, "qwen3_asr": draw_qwen3_asr, "dots_ocr": draw_dots_ocr, "phi3_v": draw_phi3_v, "gemma3n": draw_gemma3n,
    "aria": draw_aria, "audioflamingo3": draw_audioflamingo3, "deepseek_vl": draw_deepseek_vl, "deepseek_vl_v2": lambda draw: (draw_deepseek_ocr if draw.random() < 0.5 else draw_deepseek_vl_v2)(draw), "paddleocr_vl": draw_paddleocr_vl, "aya_vision": draw_aya_vision, "cohere2_vision": draw_cohere2_vision, "glm4v": draw_glm4v, "glm46v": draw_glm46v, "glm4v_moe": draw_glm4v_moe, "idefics3": draw_idefics3,
    "internvl": draw_internvl, "internvl_chat": draw_internvl_chat, "qwen2_5_omni": draw_qwen2_5_omni, "qwen2_5_omni_thinker": draw_qwen2_5_omni_thinker,
    "qwen3_omni_moe": draw_qwen3_omni_moe, "qwen3_omni_moe_thinker": draw_qwen3_omni_moe_thinker, "kimi_k25": draw_kimi_k25, "kimi_vl": draw_kimi_vl, "minicpmv": draw_minicpmv, "molmo": draw_molmo, "llava_next": draw_llava_next, "llava_next_video": lambda draw: draw_llava_next(draw, ("llama", "mistral")), "mistral3": draw_mistral3, "llava_onevision": draw_llava_onevision,
    "mllama": draw_mllama,
    "paligemma": draw_paligemma, "qwen2_audio": draw_qwen2_audio, "qwen3_vl": draw_qwen3_vl,
    "qwen3_5": draw_qwen3_5, "qwen3_5_moe": draw_qwen3_5_moe, "qwen3_vl_moe": draw_qwen3_vl_moe, "smolvlm": draw_idefics3, "voxtral": draw_voxtral,
    # Diffusion.
    "DiTTransformer2DModel": draw_dit, "FluxTransformer2DModel": draw_flux, "PixArtTransformer2DModel": draw_pixart,
    "UNet2DConditionModel": draw_unet, "AutoencoderKL": draw_autoencoder_kl,
    "QwenImageTransformer2DModel": draw_qwen_image, "SD3Transformer2DModel": draw_sd3,
    "WanTransformer3DModel": draw_wan_image, "ChronoEditTransformer3DModel": draw_chronoedit,
    "HunyuanVideo15Transformer3DModel": draw_hunyuan_video15, "HunyuanImageTransformer2DModel": draw_hunyuan_image, "interns1": draw_interns1,
    "ChromaTransformer2DModel": draw_chroma,
    "PriorTransformer": draw_image_prior,
    "LongCatImageTransformer2DModel": draw_longcat_image, "BriaTransformer2DModel": draw_bria, "OvisImageTransformer2DModel": draw_ovis_image,
    "SkyReelsV2Transformer3DModel": draw_skyreels_v2,
    "CogView3PlusTransformer2DModel": draw_cogview, "CogView4Transformer2DModel": draw_cogview4,
    "StableAudioDiTModel": draw_stable_audio, "HiDreamImageTransformer2DModel": draw_hidream,
    "OmniGenTransformer2DModel": draw_omnigen, "HunyuanDiT2DModel": draw_hunyuan_dit, "AllegroTransformer3DModel": draw_allegro, "LatteTransformer3DModel": draw_latte, "Kandinsky5Transformer3DModel": draw_kandinsky5, "SanaVideoTransformer3DModel": draw_sana_video,
    "EasyAnimateTransformer3DModel": draw_easyanimate, "UNet2DModel": draw_plain_unet,
    "SanaTransformer2DModel": draw_sana, "CosmosTransformer3DModel": draw_cosmos, "WanVACETransformer3DModel": draw_wan_vace,
    "Flux2Transformer2DModel": draw_flux2, "Lumina2Transformer2DModel": draw_lumina2, "ZImageTransformer2DModel": draw_z_image,
    "AuraFlowTransformer2DModel": draw_auraflow, "MochiTransformer3DModel": draw_mochi,
    "CogVideoXTransformer3DModel": draw_cogvideox, "HunyuanVideoTransformer3DModel": draw_hunyuan_video, "LTXVideoTransformer3DModel": draw_ltx_video,
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
