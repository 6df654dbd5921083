//===- Passes.td - Passes over the stg dialect -------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_TRANSFORMS_PASSES
#define STG_DIALECT_STG_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def SelectProgram : Pass<"stg-select-program", "::mlir::ModuleOp"> {
  let summary = "drop all programs but one";
  let description = [{
    A program is a public function. Drops the others, functions and blocks that it does not
    call, their meshes, and the symbols that only they use, also from configurations.
    *Requires* the model, step, plan or local level.

    ```mlir
    // before
    func.func private @block(...) { ... }
    func.func @prefill(...) { ... }
    func.func @decode(...) { ... }
    // after --stg-select-program="name=decode"
    func.func private @block(...) { ... }
    func.func @decode(...) { ... }
    ```
  }];
  let options = [
    Option<"name", "name", "std::string", /*default=*/"\"\"",
           "The program; may be left out where there is one">,
  ];
}

def ResolveImports : Pass<"stg-resolve-imports", "::mlir::ModuleOp"> {
  let summary = "read the files whose blocks a model uses";
  let description = [{
    Files are looked for beside the one that imports them, then in the folders of `path`, of
    `$STG_MODELS_PATH`, and of the library. A file is there once. A block of it gets the
    symbols and options that it sees in its file. *Requires* and *produces* the model level.

    ```mlir
    // before
    stg.import "blocks/norm.mlir"
    // after
    stg.block @norm(%x: !stream) -> !stream { ... }
    ```
  }];
  let options = [
    ListOption<"path", "path", "std::string", "Folders of models">,
  ];
}

def InlineBlocks : Pass<"stg-inline-blocks", "::mlir::ModuleOp"> {
  let summary = "put blocks in the place of their calls";
  let description = [{
    Each `stg.call` becomes the ops of its block, with what stands for its symbols and
    options. Of each `stg.if` the region stays that its option chooses. No block, no call and
    no variant is left. Files that the module imports are read first. Calls have the operands and
    results of their blocks, also of those that are imported.

    Options of the module have the values of `config` or of `values`, or their defaults. The
    parameters of blocks that `freeze` names become `frozen`.

    *Requires* and *produces* the model level.

    ```mlir
    // before
    %y = stg.call @norm(%x) {name = "ffn_norm"} : (!stream) -> !stream
    // after
    %w = stg.param "ffn_norm" : !stg.tensor<[D], bf16>
    %y, %rstd = stg.rms_norm %x, %w : !stream, !stg.tensor<[D], bf16>
    ```
  }];
  let options = [
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration that gives options their values">,
    ListOption<"values", "values", "std::string",
               "NAME=VALUE of options of the module">,
    ListOption<"path", "path", "std::string", "Folders of models">,
    ListOption<"freeze", "freeze", "std::string",
               "Patterns of names of blocks whose parameters are not trained">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def CheckCalls : Pass<"stg-check-calls", "::mlir::ModuleOp"> {
  let summary = "refuse a program that is too large when its calls are inlined";
  let description = [{
    Functions that call each other several times can be short and make a program
    that nothing can hold: 22 of them, each of which calls the next one twice, make
    four million ops. *Requires* the model level; changes nothing. Each function is
    counted once. The call with which the program has more than `max-ops` ops is an
    error.
  }];
  let options = [
    Option<"maxOps", "max-ops", "uint64_t", /*default=*/"1048576",
           "Ops that a program may have when all calls are inlined">,
  ];
}

def CutLayers : Pass<"stg-cut-layers", "::mlir::ModuleOp"> {
  let summary = "let pipeline stages end anywhere in periods of layers";
  let description = [{
    A layer is an innermost iteration of repeats. Stages are ranges of the iterations of
    repeats at the top of a program. An iteration of such a repeat in which a stage ends is
    taken out of it: its repeats stand at the top then, by the names `layers.3.local`. Where the
    first or the last layers are to be apart, a repeat that has some of them and others is
    divided, too.

    *Requires* the model level, ops named, and symbols of counts with values, which `config`,
    `values` or defaults give. *Produces* the same program.

    ```mlir
    // before: six layers in each of four iterations
    %y = stg.repeat "layers" * 4 carry(%h = %x : !x) {
      %a = stg.repeat "local" * 5 carry(...) { ... }
      %b = stg.repeat "global" * 1 carry(...) { ... }
      ...
    }
    // after --stg-cut-layers="stages=2 layers-per-stage=8,16"
    %1 = stg.repeat "layers_0" * 1 carry(...) { ... }
    %2 = stg.repeat "layers.1.local" * 5 carry(...) { ... }
    %3 = stg.repeat "layers.1.global" * 1 carry(...) { ... }
    %y = stg.repeat "layers_1" * 2 from 2 carry(...) { ... }
    ```
  }];
  let options = [
    Option<"stages", "stages", "unsigned", /*default=*/"1",
           "Virtual stages of the pipeline">,
    ListOption<"layersPerStage", "layers-per-stage", "int64_t",
               "Layers of each (default: as many in each)">,
    Option<"atStart", "at-start", "unsigned", /*default=*/"0",
           "First layers of the model, which are to be repeats of their own">,
    Option<"atEnd", "at-end", "unsigned", /*default=*/"0",
           "Last layers of the model, which are to be repeats of their own">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration that gives symbols their values">,
    ListOption<"values", "values", "std::string", "NAME=VALUE of symbols">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def SetElementType : Pass<"stg-set-element-type", "::mlir::ModuleOp"> {
  let summary = "replace one element type by another in all tensors";
  let description = [{
    *Requires* the model level. *Produces* the same model with `from`, which is the type
    of the parameters if it is not given, replaced by `to`:
    `--stg-set-element-type="to=f32"` runs a bf16 model in fp32. Results of a
    fixed type (loss, norms' reciprocal roots) keep it.

    ```mlir
    // before
    %w = stg.param "w" : !stg.tensor<[D], bf16>
    // after --stg-set-element-type="from=bf16 to=f32"
    %w = stg.param "w" : !stg.tensor<[D], f32>
    ```
  }];
  let options = [
    Option<"from", "from", "std::string", /*default=*/"\"\"",
           "Element type to replace (default: that of the parameters)">,
    Option<"to", "to", "std::string", /*default=*/"\"\"",
           "Element type to put in its place">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def SetParameterType : Pass<"stg-set-parameter-type", "::mlir::func::FuncOp"> {
  let summary = "choose the element type in which parameters are stored";
  let description = [{
    Parameters, and with them their shards and updates, get the element type `to`, and are
    cast where they are read: to the type that the model is written in, which stays that
    of activations. The type of gradients is that of `--stg-autodiff`. With ZeRO-3 a cast
    is part of the gather (`--stg-shard-states`).

    *Requires* and *produces* the model level, ops named.

    ```mlir
    // before
    %w = stg.param "w" : !stg.tensor<[D], bf16>
    // after --stg-set-parameter-type="to=f32"
    %p = stg.param "w" : !stg.tensor<[D], f32>
    %w = stg.cast %p <cast_parameter> : ... -> !stg.tensor<[D], bf16>
    ```
  }];
  let options = [
    Option<"to", "to", "std::string", /*default=*/"\"\"",
           "Element type of parameters">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def SetAttentionCount : Pass<"stg-set-attention-count", "::mlir::ModuleOp"> {
  let summary = "choose which pairs a masked attention counts";
  let description = [{
    `count=executed` (the default) counts the pairs of query and key that a kernel
    executes that skips masked blocks, `count=full` the full square, as the model
    FLOP formulas of PaLM and Megatron do.

    ```mlir
    // before
    %o, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    // after --stg-set-attention-count="count=full"
    %o, %lse = stg.attention causal %q, %k, %v {full_count} : !q, !k, !k
    ```
  }];
  let options = [
    Option<"count", "count", "::stg::AttentionCount",
           /*default=*/"::stg::AttentionCount::Executed", "executed or full">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def RepeatHeads : Pass<"stg-repeat-heads", "::mlir::func::FuncOp"> {
  let summary = "copy key/value heads for all query heads that share them";
  let description = [{
    Attention whose key/value heads are fewer than those of the queries reads copies of them,
    one for each query head, as a framework does whose kernel knows no grouped heads. The
    gradient of a head is then the sum of those of its copies. What devices exchange of keys
    and values are the copies.

    *Requires* and *produces* the model level, ops named.

    ```mlir
    // before
    %o, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    // after
    %k1 = stg.replicate dim 2 %k {together} <"k" replicas> : !k -> !k1
    %v1 = stg.replicate dim 2 %v {together} <"v" replicas> : !k -> !k1
    %o, %lse = stg.attention causal %q, %k1, %v1 : !q, !k1, !k1
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def SetAttentionMask : Pass<"stg-set-attention-mask", "::mlir::ModuleOp"> {
  let summary = "say which tokens of a row see each other";
  let description = [{
    Attention of tokens to the tokens of the same row, which `tokens` names, gets `documents`
    that are packed into a row, one behind the other, none of whose tokens see those of
    another, and a `prefix` of so many tokens, which under a causal mask see each other.

    Requires: the model level, calls inlined.
    Produces: the same, with `requests` and `prefix` of attention. A program without such
    attention, and one whose tokens see others with a length of their own, is an error.

    ```mlir
    // before
    %o, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    // after --stg-set-attention-mask="documents=3,3,4"
    %o, %lse = stg.attention causal %q, %k, %v {requests = #stg.requests<2 * (3, 0), (4, 0)>} : !q, !k, !k
    ```
  }];
  let options = [
    ListOption<"documents", "documents", "int64_t", "Tokens of each document of a row, in order">,
    Option<"prefix", "prefix", "int64_t", /*default=*/"0", "The first tokens, which see each other">,
    Option<"tokens", "tokens", "std::string", /*default=*/"\"S\"", "The name of the dimension of tokens">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Bind : Pass<"stg-bind", "::mlir::ModuleOp"> {
  let summary = "replace symbols by numbers, at any level";
  let description = [{
    `--stg-bind="S=4096 dp=8"` replaces the symbols in all types and attributes, and
    their declarations by ones with that value. `config=llama3-8b` binds the values
    of that `stg.config` first; assignments override it. A value may be an expression
    of other symbols. `defaults=true` also binds each symbol that is declared with a
    value. After binding, every extent and count that became a number must be a
    positive integer; one that is not is an error at its op, with the expression that
    does not divide. A loop that stacks nothing may get the count 0, as the steps of a
    ring of two devices between the first and the last; it is erased.

    *Requires* any level. *Produces* the same level with fewer symbols.

    ```mlir
    // before
    stg.symbol @S
    func.func @f(%x: !stg.tensor<[S/tp], f32>)
    // after --stg-bind="S=4096 tp=8"
    stg.symbol @S = 4096
    func.func @f(%x: !stg.tensor<[512], f32>)
    ```
  }];
  let options = [
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Name of the stg.config to bind">,
    Option<"bindDefaults", "defaults", "bool", /*default=*/"false",
           "Bind the symbols that are declared with a value">,
    ListOption<"values", "values", "std::string",
               "Assignments SYMBOL=EXPRESSION; may be given without 'values='">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def RollLayers : Pass<"stg-roll-layers", "::mlir::ModuleOp"> {
  let summary = "put a repeat in the place of layers one by one";
  let description = [{
    For models that come from elsewhere (`--convert-linalg-to-stg`), whose layers are written
    out. Ops that follow one another several times become the body of a `stg.repeat`, which
    pipelines, recomputation and ZeRO divide. Runs of ops are alike up to the names of
    parameters, and of symbols that have one default: the symbols of the first run stand for
    those of all. What a run reads of the one before it is carried. A parameter is called
    what its names have in common behind the number of the layer, and the number of layers is
    a symbol, `L`.

    Of several ways to cut, the one that covers most counts, then the one with most runs, then
    the one that carries least, then the one that begins where several ops read what is
    carried, as residuals do. Runs without parameters stay.

    *Requires* and *produces* the model level.

    ```mlir
    // before
    %w0 = stg.param "layers.0.w" : !w
    %y0 = stg.einsum "bd,de->be" %x, %w0 : !x, !w
    %w1 = stg.param "layers.1.w" : !w
    %y1 = stg.einsum "bd,de->be" %y0, %w1 : !x, !w
    // after
    %y = stg.repeat "layers" * L carry(%h = %x : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bd,de->be" %h, %w : !x, !w
      stg.yield %z : !x
    }
    ```
  }];
}

def RaiseKernels : Pass<"stg-raise-kernels", "::mlir::func::FuncOp"> {
  let summary = "put fused kernels in the place of their parts";
  let description = [{
    For models that come from elsewhere (`--convert-linalg-to-stg`), which have an op for each
    scalar function. Finds sigmoid, silu, GELU (by the error function or tanh), softmax, RMS
    and layer norms with their parameters, rotary positions (halves, whole or a part), and
    attention: scores that are scaled, masked, normalized and multiplied with values, in any
    order of heads and positions, with groups of heads. Batch normalization by running
    averages becomes that of training, and a sum that is divided by how many elements it has a
    mean. What these read that nobody else reads is erased, also inputs that are constants.

    A scale of queries, keys or scores is part of the kernel. A softmax that is computed in
    another type is that of fp32.

    *Requires* and *produces* the model level.

    ```mlir
    // before
    %n = stg.elementwise neg %x : !x
    %e = stg.elementwise exp %n : !x
    %s = stg.add %e, %one : !x, !x
    %r = stg.elementwise reciprocal %s : !x
    %y = stg.mul %x, %r : !x, !x
    // after
    %y = stg.activation silu %x : !x
    ```
  }];
}

def NameOps : Pass<"stg-name-ops", "::mlir::func::FuncOp"> {
  let summary = "give every op a stable name";
  let description = [{
    Gives each op that costs something a name, unique in its scope: its own if
    it has one, else that of its parameter, else its mnemonic; a second one of the
    same name gets a number. Names survive all later passes and become node names.
    A parameter read in two places under one name with two types is an error.

    *Requires* the model level, calls inlined. *Produces* the same with names.

    ```mlir
    // before
    %w = stg.param "o_proj" : !w
    %o = stg.einsum "bshe,hed->bsd" %a, %w : !a, !w
    // after
    %o = stg.einsum "bshe,hed->bsd" %a, %w <"o_proj"> : !a, !w
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def AddPredictionLayers
    : Pass<"stg-add-prediction-layers", "::mlir::func::FuncOp"> {
  let summary = "add modules that predict further tokens";
  let description = [{
    Multi-token prediction as DeepSeek-V3 has it. Each of `count` modules reads what the
    last layer, or the module before, has made, and the embedding of the next tokens:
    both are normalized, joined, and projected to the width of the residual stream. Then
    come a layer like the last one, a final normalization, the head, and the loss of the
    tokens after the next. The tables of the vocabulary are those of the model. Together the
    losses of modules have `weight`. With `repeated` all modules have the parameters of one.

    A program whose layers are of several kinds may say what a module has in place of the last
    one: `stg.module_layers` are names of an `stg.repeat`, of each of which the last layer is
    copied. One that nothing reads, but for an `stg.keep`, is of modules alone: it is removed
    with its `stg.keep`, also where `count` is 0. Where a token has several streams
    (hyper-connections), each is normalized and projected by itself, and the projected
    embedding is added to each, as DeepSeek-V4 has it.

    *Requires* the model level, calls inlined, of a language model: an embedding of tokens,
    layers that carry the residual stream, and a loss of logits. *Produces* the same with
    further arguments `mtp.tokens` and `mtp.labels`, parameters `mtp.NAME`, and a further
    result with `stg.loss`; with several modules they are `mtp0`, `mtp1`, but for parameters
    that are repeated. Of several layers they are `mtp.LAYER.NAME`. Products of the copied
    layer and the projection say that they are of a layer: `{stg.in_layer}`.

    With `only` the modules are left and nothing else, as a program that drafts tokens: the
    residual stream that they start from is an argument, and the loss of the last module is
    the result.
  }];
  let options = [
    Option<"count", "count", "unsigned", /*default=*/"1", "Modules">,
    Option<"weight", "weight", "std::string", /*default=*/"\"3/10\"",
           "Weight of their losses, an expression">,
    Option<"repeated", "repeated", "bool", /*default=*/"false",
           "All modules have the parameters of one">,
    Option<"only", "only", "bool", /*default=*/"false",
           "Leave the modules alone: what the model has made is an argument 'hidden'">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def AddRouterLosses : Pass<"stg-add-router-losses", "::mlir::func::FuncOp"> {
  let summary = "give the routers of mixtures of experts losses of their own";
  let description = [{
    A router is a `stg.top_k` whose indices say where an `stg.dispatch` copies tokens to.
    `balance` says which choices are counted together for the loss that balances experts:
    those of a `batch`, as a device has it, of each `sequence`, or of the `global` batch. It
    takes the place of the one that the model has; `none` leaves no such loss. Scores are
    the softmax that the router has made, its sigmoids divided by their sum, or else a softmax
    of what it compares. `z-loss` adds the mean square of the log-sum-exp of its logits.

    ```mlir
    // before
    %w, %i = stg.top_k A %p : !p
    // after --stg-add-router-losses="balance=batch"
    %w, %i = stg.top_k A %p : !p
    %c = stg.count_indices %i {own} : !i -> !stg.tensor<[X], f32>
    %l = stg.balance_loss %p, %c : !p, !stg.tensor<[X], f32>
    stg.auxiliary_loss 1/100 %l : !stg.tensor<[B, S], f32>
    ```
    *Requires* the model level, calls inlined. *Produces* the same with `stg.auxiliary_loss`,
    which `--stg-autodiff` reads.
  }];
  let options = [
    Option<"balance", "balance", "::stg::RouterLoss",
           /*default=*/"::stg::RouterLoss::Model",
           "Which choices are counted together: model, none, batch, sequence or global">,
    Option<"zLoss", "z-loss", "bool", /*default=*/"false",
           "Add the loss of logits">,
    Option<"weight", "weight", "std::string", /*default=*/"\"1/100\"",
           "Weight of the balance, an expression">,
    Option<"zWeight", "z-weight", "std::string", /*default=*/"\"1/1000\"",
           "Weight of the loss of logits, an expression">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def PassStates : Pass<"stg-pass-states", "::mlir::func::FuncOp"> {
  let summary = "let devices with some of the tokens of a sequence hand on states";
  let description = [{
    Scans and causal convolutions get the attribute `along`, which says that their tokens may
    be divided: a device goes over its own ones, in order, from the state that the device with
    the tokens before them hands on. A scan then gives that state as a second result, since
    its backward pass reads it. Without this pass all-to-alls divide heads or channels instead
    (`--stg-context-parallel`).

    ```mlir
    // before
    %y = stg.ssd 128 %x, %dt, %a, %b, %c, %d : !x, !dt, !a, !b, !b, !a
    // after
    %y, %start = stg.ssd 128 %x, %dt, %a, %b, %c, %d {along = []} : !x, !dt, !a, !b, !b, !a
    ```
    *Requires* the model level, calls inlined, before `--stg-autodiff`. *Produces* the same.
    `--stg-insert-collectives` says which axes these are, and `--stg-lower-context-parallel`
    makes the messages.
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def AddAdapters : Pass<"stg-add-adapters", "::mlir::ModuleOp"> {
  let summary = "put low-rank adapters beside projections, and freeze the rest";
  let description = [{
    LoRA: beside a product of `x` with a parameter stands that of `x` with two small ones,
    whose results are added, and only these are trained. A joint projection has an adapter
    for each of its parts (`q_proj`, `k_proj` and `v_proj` of `qkv_proj`, `gate_proj` and
    `up_proj` of `gate_up_proj`), added where the parts are apart, or one for all of it.

    A target is a pattern of the name of a parameter or of a part, or of what stands in it
    behind a dot. One that the program does not have may be a name from transformers or
    Megatron-LM (`c_attn`, `query_key_value`, `linear_fc1`, `w1`). `all-linear` are all
    products in repeats. With an `alpha` other than the rank, what is added is scaled.

    *Requires* the model level. *Produces* the same with adapters; all other parameters are
    `frozen`.

    ```mlir
    // before
    %y = stg.einsum "bsf,fd->bsd" %h, %w <"down_proj"> : !h, !w
    // after --stg-add-adapters="rank=16 targets=down_proj"
    %0 = stg.einsum "bsf,fd->bsd" %h, %w <"down_proj"> : !h, !w
    %a = stg.param "down_proj.lora_A" : !stg.tensor<[F, rank = 16], bf16>
    %1 = stg.einsum "bsf,fa->bsa" %h, %a : !h, !a
    %b = stg.param "down_proj.lora_B" : !stg.tensor<[rank = 16, D], bf16>
    %2 = stg.einsum "bsa,ad->bsd" %1, %b : !n, !b
    %y = stg.add %0, %2 <"down_proj.lora"> : !y, !y
    ```
  }];
  let options = [
    Option<"rank", "rank", "int64_t", /*default=*/"0", "Rank of the adapters">,
    Option<"alpha", "alpha", "int64_t", /*default=*/"0",
           "Times 1/rank the factor of what is added (default: the rank)">,
    ListOption<"targets", "targets", "std::string", "Patterns of projections">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def FreezeParameters : Pass<"stg-freeze-parameters", "::mlir::ModuleOp"> {
  let summary = "say which parameters are not trained";
  let description = [{
    A parameter is `frozen` that any of `names` is for: a pattern (`*`, `?`, `[...]`) of its
    path (`layers/qkv_proj`), of its name, of a repeat around it, or of what stands before a
    dot in either (`vision` is for `vision.patch_proj`). `layers:2` are the parameters of the
    first two iterations of that repeat, which becomes two. A parameter that is read in
    several places is frozen if one of them says so.

    Iterations of one repeat have one backward pass. So where the first iteration has less
    of it than the others, because no parameter before it is trained, it becomes a repeat of
    its own, `layers_first`; not with `peel=false`.

    *Requires* the model level, ops named. *Produces* the same program.

    ```mlir
    // before
    %e = stg.embedding %table, %tokens <"tok_embeddings"> : !table, !ids
    %y = stg.repeat "layers" * L carry(%h = %e : !x) { ... }
    // after --stg-freeze-parameters="names=tok_embeddings,layers:2"
    %table = stg.param "tok_embeddings" {frozen} : !table
    %e = stg.embedding %table, %tokens <"tok_embeddings"> : !table, !ids
    %1 = stg.repeat "layers_frozen" * 2 carry(%h = %e : !x) { ... }
    %2 = stg.repeat "layers_first" * 1 carry(%h = %1 : !x) { ... }
    %y = stg.repeat "layers" * L - 3 carry(%h = %2 : !x) { ... }
    ```
  }];
  let options = [
    ListOption<"names", "names", "std::string", "Patterns of names, NAME:COUNT of repeats">,
    Option<"peel", "peel", "bool", /*default=*/"true",
           "A first iteration with less backward becomes a repeat of its own">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration that gives symbols their values">,
    ListOption<"values", "values", "std::string", "NAME=VALUE of symbols">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def ReplicateHeads : Pass<"stg-replicate-heads", "::mlir::func::FuncOp"> {
  let summary = "replicate key/value heads or groups, for more devices than there are of them";
  let description = [{
    Each slice of a parameter along the dimension named by symbol `dim` is there `times`
    times (`stg.replicate`), and everything that is computed with the parameter has so many
    more heads: `K` becomes `times*K`. A head of the queries attends to a replica of the head
    that it attended to before, so the program computes the same. Its gradient is the sum of
    those of the replicas. `--stg-parallelize` with `tp-replicate` puts replicas on different
    devices.

    A `stg.gated_norm` of groups that are replicated is still one of each group: its groups are
    `cut`, and devices that have heads of the same group sum their squares, or gather what is
    normalized (`gathers-norms`).

    Where heads take the place of tokens that are divided (`--stg-context-parallel`), more
    devices may share a head than read its parameters. What attention (`exchanges-keys`), or a
    scan and the convolution before it (`exchanges-scans`), reads of the dimension is then
    replicated `exchanged` times by each device, and these replicas are what is exchanged;
    parameters of such an op are replicated as often.

    A projection that makes other heads, too, and is then split (`H + 2*K`) becomes two, with
    two parameters: one can be divided among more devices than the other.

    *Requires* the model level, ops named. *Produces* the same. An op that does not compute
    each head alone, such as a sum over them, is an error.

    ```mlir
    // before
    %w = stg.param "qkv_proj" : !stg.tensor<[D, H + 2*K, E], bf16>
    %y = stg.einsum "bsd,dhe->bshe" %x, %w <"qkv_proj"> : ...
    %q, %k, %v = stg.split dim 2 %y : ...
    // after --stg-replicate-heads="times=2"
    %wq = stg.param "qkv_proj_H" : !stg.tensor<[D, H, E], bf16>
    %wkv = stg.param "qkv_proj_K" : !stg.tensor<[D, 2*K, E], bf16>
    %r = stg.replicate dim 1 %wkv : ... -> !stg.tensor<[D, 4*K, E], bf16>
    %q = stg.einsum "bsd,dhe->bshe" %x, %wq <"qkv_proj_H"> : ...
    %kv = stg.einsum "bsd,dhe->bshe" %x, %r <"qkv_proj_K"> : ...
    %k, %v = stg.split dim 2 %kv : ...
    ```
  }];
  let options = [
    Option<"dim", "dim", "std::string", /*default=*/"\"K\"",
           "Symbol of the dimension">,
    Option<"times", "times", "std::string", /*default=*/"\"1\"",
           "Replicas of each head, a number or a symbol of the model">,
    Option<"exchanged", "exchanged", "std::string", /*default=*/"\"1\"",
           "Replicas of each head of a device that are exchanged for tokens, likewise">,
    Option<"exchangesKeys", "exchanges-keys", "bool", /*default=*/"false",
           "Attention reads replicas that are exchanged">,
    Option<"exchangesScans", "exchanges-scans", "bool", /*default=*/"false",
           "Scans and causal convolutions read replicas that are exchanged">,
    Option<"gathersNorms", "gathers-norms", "bool", /*default=*/"false",
           "Groups of norms that are cut are gathered">,
    Option<"tokens", "tokens", "std::string", /*default=*/"\"S\"",
           "Symbol of the tokens that are exchanged, the second dimension of what is read">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def NarrowProducts : Pass<"stg-narrow-products", "::mlir::ModuleOp"> {
  let summary = "products of layers with operands of 8 or 4 bits";
  let description = [{
    The operands of products with a parameter in the layers of a model are cast to a float of 8
    or 4 bits, results keep their type, as in TransformerEngine's recipes: `type` in forward,
    `gradients` for gradients that flow backward. Run before `--stg-autodiff`, so that
    backward saves and reads the narrow operands, and again after it for gradients.
    Casts of parameters are replayed in backward. Scaling factors and their reductions are
    not modelled. The head and what is outside of layers stays as it is without `outside`,
    and so do products of the parameters that `keep` names, and of the first and last layers
    of the model, which are repeats of their own (`--stg-cut-layers`). Products of a parameter
    may also have another narrow type: `keep=out_proj=f8E4M3FN`. A pattern that is that of no
    such parameter is an error, but for `router` and `none`.

    Layers are repeats, and what is copied from them: products with `{stg.in_layer}`.

    *Requires* and *produces* the model level, or the step level. Numbers of layers need
    symbols of counts with values, which `config`, `values` or defaults give.

    ```mlir
    // before
    %y = stg.einsum "bd,df->bf" %x, %w : !x, !w
    // after
    %x8 = stg.cast %x <cast> : !x -> !x8
    %w8 = stg.cast %w <cast_weight> : !w -> !w8
    %y = stg.einsum "bd,df->bf" %x8, %w8 {into = bf16} : !x8, !w8
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", /*default=*/"\"f8E4M3FN\"",
           "Type of forward operands">,
    Option<"gradients", "gradients", "std::string", /*default=*/"\"f8E5M2\"",
           "Type of gradients">,
    ListOption<"keep", "keep", "std::string",
               "Parameters whose products stay as they are: patterns of names, or PATTERN=TYPE "
               "for operands of another type">,
    Option<"keepIfThere", "keep-if-there", "bool", /*default=*/"false",
           "A pattern of keep may be that of no parameter">,
    Option<"atStart", "at-start", "unsigned", /*default=*/"0",
           "First layers of the model, whose products stay as they are">,
    Option<"atEnd", "at-end", "unsigned", /*default=*/"0",
           "Last layers of the model, whose products stay as they are">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration that gives symbols their values">,
    ListOption<"values", "values", "std::string", "NAME=VALUE of symbols">,
    Option<"outside", "outside", "bool", /*default=*/"false",
           "Products outside of layers, such as that of the head, have narrow operands, too">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Autodiff : Pass<"stg-autodiff", "::mlir::func::FuncOp"> {
  let summary = "derive the backward pass of the model";
  let description = [{
    The objective is the mean over all elements of the function's first result. Each
    op builds its own backward ops (`DifferentiableOpInterface`); contributions to one
    value are added; only values that lie between a parameter and the loss get a
    gradient. Backward of a `stg.repeat` is a `stg.repeat` in reverse: values of the
    forward body that the backward body uses are stacked by the forward repeat and
    read slice by slice, which makes the saved activations explicit. Parameters are
    read again, not saved.

    Where nothing before a layer is trained, the first iteration of a loop has the
    gradients of all others. With `replayed` so has an only one: what a layer reads that
    is replayed requires a gradient in frameworks.

    *Requires* the model level, calls inlined, ops named. *Produces* the step level:
    the function also returns the gradient of each parameter, with the result
    attribute `stg.gradient`.

    ```mlir
    // before
    func.func @f(%x: !x) -> !y {
      %w = stg.param "w" : !w
      %y = stg.einsum "bd,df->bf" %x, %w : !x, !w
      return %y : !y
    }
    // after
    func.func @f(%x: !x) -> (!y, !dw {stg.gradient = #stg.gradient<"w">}) {
      %w = stg.param "w" : !w
      %y = stg.einsum "bd,df->bf" %x, %w : !x, !w
      %seed = stg.splat 1/(B*F) : !y
      %dw = stg.einsum "bd,bf->df" %x, %seed {into = f32} <dw> : !x, !y
      return %y, %dw : !y, !dw
    }
    ```
  }];
  let options = [
    Option<"gradientType", "gradient-type", "std::string",
           /*default=*/"\"f32\"", "Element type of parameter gradients">,
    Option<"replayed", "replayed", "bool", /*default=*/"false",
           "Layers will be replayed: the only iteration of a loop has the backward pass "
           "that one of several has">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Inference : Pass<"stg-inference", "::mlir::ModuleOp"> {
  let summary = "derive a step of inference from the model";
  let description = [{
    A step is a list of requests: so many new tokens, after so many that are cached. Each
    row of the batch is a request, whose new tokens are those of dimension `tokens`, after
    `cached` ones, which may be a symbol; a prefill has cached=0, decoding one new token.
    With `requests` each row is a packed step, the tokens of these requests one behind the
    other, and what `tokens` is must be bound to is their number. With several lists,
    separated by ';', devices have different requests: the program has each kind that is on
    any list, as often as symbols say that `--stg-load-requests` gives values. If rows are `padded`, `tokens` may be more: the others
    fill a row up, and nothing is kept of them.

    An op that looks at other tokens says what it keeps of them and how it goes on from that
    (`IncrementalOpInterface`): attention keeps keys and values in caches (`stg.cache`), in
    the element type `kv-type`, but those that `kv-keep` names. Every other op has to treat tokens one by one, as its
    sharding rule says. The loss (`LossOpInterface`) becomes tokens that are sampled
    (`stg.sample`) from the logits of the rows that are asked for: `last` of each request, or
    `all`. Rows are selected before the product that makes the logits. What only the loss
    needs is dropped, labels too.

    Under a window a cache is a ring of so many tokens, with chunks it has room for one; with
    `kv-block-size` each request has whole blocks. With `kv-window-room` a window has room for
    so many new tokens beside the ones that the first of them sees, and for one block more, as
    it begins anywhere in one. Where keys and values are products of
    latents, vectors of each token without heads that are made for them alone, these are kept.
    `mla-form` says what follows: `naive` executes the products on all tokens; `absorbed`
    executes them on queries and on the output, and all heads have the latents as keys and
    values. `auto` takes for each request what executes fewer operations, if `config` and
    `values` say how large everything is, and else absorbs where a single token is new.
    Requests of both forms have one cache. Where any is absorbed, in this step or in those of
    `reserve` and `beside`, all read the same parameters: those of keys, and those of values.

    With `steps` the program is that of each of so many consecutive steps. The symbol `step`
    is the number of a step, from 0: before it requests have `cached` tokens and the new
    ones of the steps before. It is declared, and never bound; `--chakra-repeat-steps` makes
    the loop. Caches have room for what is kept after the last step, or for each of the
    lists of requests of `reserve`. With `advance` contexts grow by as many tokens a step,
    on average: before step i they are longer by i times that, rounded down.

    *Requires* the model level, calls inlined, ops named. *Produces* the step level, without
    a backward pass: the function returns the tokens.

    ```mlir
    // before
    %a, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    ...
    %logits = stg.einsum "bsd,dv->bsv" %n, %head : !x, !w
    %loss, %probs = stg.cross_entropy %logits, %labels : !y, !ids
    return %loss : !loss
    // after
    %k1 = stg.cache "attention.k" %k : !k -> !stg.tensor<[B, S = S + cached, K, E], bf16>
    %v1 = stg.cache "attention.v" %v : !k -> !stg.tensor<[B, S = S + cached, K, E], bf16>
    %a, %lse = stg.attention causal %q, %k1, %v1 : !q, !cache, !cache
    ...
    %last = stg.select_rows dim 1 %n : !x -> !stg.tensor<[B, S = 1, D], bf16>
    %logits = stg.einsum "bsd,dv->bsv" %last, %head : !last, !w
    %token = stg.sample %logits : !logits
    return %token : !stg.tensor<[B, S = 1], i32>
    ```
  }];
  let options = [
    Option<"tokens", "tokens", "std::string", /*default=*/"\"S\"",
           "Name of the dimension of tokens">,
    Option<"cached", "cached", "std::string", /*default=*/"\"cached\"",
           "Tokens of a request that are cached: an expression, whose symbols are "
           "declared if they are not">,
    Option<"requests", "requests", "std::string", /*default=*/"\"\"",
           "Requests that are packed into a row: COUNT*(NEW,CACHED,LOGITS),...; "
           "COUNT and LOGITS are 1 if they are not given; lists of several rows are "
           "separated by ';'">,
    Option<"logits", "logits", "::stg::LogitRows",
           /*default=*/"::stg::LogitRows::Last",
           "Rows that logits are made of, if requests do not say it">,
    Option<"kvType", "kv-type", "std::string", /*default=*/"\"\"",
           "Element type of caches (default: that of what is kept)">,
    Option<"kvScaleBlock", "kv-scale-block", "int64_t", /*default=*/"0",
           "Elements of the last dimension of a cache that share a scale, an f32; 0: "
           "there are no scales">,
    ListOption<"kvKeep", "kv-keep", "std::string",
               "Caches that keep the element type of what is kept: patterns of names, each of "
           "which is that of a cache">,
    Option<"kvKeepIfThere", "kv-keep-if-there", "bool", /*default=*/"false",
           "A pattern of kv-keep may be that of no cache">,
    Option<"padded", "padded", "bool", /*default=*/"false",
           "A row may have more tokens than its requests, of which nothing is kept">,
    Option<"kvBlockSize", "kv-block-size", "int64_t", /*default=*/"1",
           "Tokens of a block: of each request whole blocks are kept">,
    Option<"kvWindowRoom", "kv-window-room", "int64_t", /*default=*/"0",
           "New tokens that a window has room for before any of it is given up">,
    Option<"rollback", "rollback", "int64_t", /*default=*/"0",
           "New tokens that may be taken back: recurrent layers keep a state before each, and "
           "windows what they take the place of">,
    Option<"tokenParts", "token-parts", "int64_t", /*default=*/"1",
           "Shares of the tokens that are kept: a window has a multiple of so many">,
    Option<"mlaForm", "mla-form", "::stg::MlaForm",
           /*default=*/"::stg::MlaForm::Auto",
           "How attention with latents is executed">,
    Option<"steps", "steps", "int64_t", /*default=*/"1",
           "Consecutive steps that the program is executed for">,
    Option<"advance", "advance", "std::string", /*default=*/"\"\"",
           "Tokens by which contexts are longer after each step, a fraction such as "
           "2101/625 of which whole tokens count (default: the new tokens)">,
    Option<"reserve", "reserve", "std::string", /*default=*/"\"\"",
           "Lists of requests, separated by ';', for which caches have room (default: "
           "those of the last step)">,
    Option<"beside", "beside", "std::string", /*default=*/"\"\"",
           "Lists of requests, separated by ';', of other programs that read the same "
           "parameters, such as those of other micro-batches">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration whose values decide between the forms">,
    ListOption<"values", "values", "std::string",
               "NAME=VALUE,... before those of the configuration">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def QuantizeWeights : Pass<"stg-quantize-weights", "::mlir::func::FuncOp"> {
  let summary = "store the weights of layers in few bits, with scales";
  let description = [{
    A matrix that products in repeats read, and nothing else does, is stored in the element
    type of the format, with its scales (`!stg.scaled`), and products read it through
    `stg.dequantize`. What a product sums over is divided into blocks, as the format says.
    Dimensions of a matrix that are summed over together, or not, and stand beside each other
    are one, such as heads and their size. Parameters whose names match one of the patterns
    in `keep` stay as they are, and so do vectors. A name that is that of no matrix is an
    error, but for `router` and `none`.

    *Requires* the step level without a backward pass. *Produces* the step level.

    ```mlir
    // before
    %w = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
    %y = stg.einsum "bsf,fd->bsd" %h, %w : !h, !stg.tensor<[F, D], bf16>
    // after --stg-quantize-weights=format=mxfp4
    %w = stg.param "down_proj" : !stg.tensor<[F, D], !stg.scaled<f4E2M1FN scales f8E8M0FNU of [32, 1]>>
    %d = stg.dequantize %w : ... -> !stg.tensor<[F, D], bf16>
    %y = stg.einsum "bsf,fd->bsd" %h, %d : !h, !stg.tensor<[F, D], bf16>
    ```
  }];
  let options = [
    Option<"format", "format", "::stg::WeightFormat",
           /*default=*/"::stg::WeightFormat::FP8Block",
           "How weights are stored">,
    ListOption<"keep", "keep", "std::string",
               "Patterns of names of parameters that stay as they are">,
    Option<"keepIfThere", "keep-if-there", "bool", /*default=*/"false",
           "A pattern of keep may be that of no matrix">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Optimizer : Pass<"stg-optimizer", "::mlir::func::FuncOp"> {
  let summary = "update each parameter with its gradient";
  let description = [{
    Replaces the gradients that the function returns by steps of an optimizer: one
    `stg.adam` per parameter, in a `stg.repeat` for the parameters of a repeat. Parameters
    narrower than fp32 get an fp32 master copy. With `kind=momentum` and `kind=sgd` these are
    `stg.momentum` and `stg.sgd`.

    With `kind=muon` the momentum of a matrix (`stg.moment`) is made orthogonal
    (`stg.orthogonalize`) before `stg.sgd` steps along it. Matrices are parameters that an
    einsum contracts, but for those along the vocabulary (embeddings, heads). What the einsum
    sums over are rows; what both of its operands have, as experts, are matrices of their own.
    All other parameters are stepped by `stg.adam`.

    With `sparse` a table at the top of the program that is only looked up, once, has no
    gradient: `stg.row_adagrad` in backward updates the rows that were looked up. It is an
    error if there is none.

    *Requires* the step level after `--stg-autodiff`. *Produces* the step level with
    only the function's own results.

    ```mlir
    // before
    return %y, %dw : !y, !dw
    // after
    %w_0 = stg.param "w" : !w
    stg.adam f32 %w_0, %dw <"w" opt> : !w, !dw
    return %y : !y
    ```
  }];
  let options = [
    Option<"kind", "kind", "::stg::OptimizerKind",
           /*default=*/"::stg::OptimizerKind::Adam", "adam, momentum, sgd or muon">,
    Option<"momentType", "moment-type", "std::string", /*default=*/"\"f32\"",
           "Element type of moments">,
    Option<"sparse", "sparse", "bool", /*default=*/"false",
           "Update the rows of tables that were looked up, in backward">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def GroupLayers : Pass<"stg-group-layers", "::mlir::ModuleOp"> {
  let summary = "group the layers of a model for recomputation";
  let description = [{
    With `method=uniform` a repeat at the top of the program becomes one over groups of
    `size` layers (`recompute full`): `--stg-recompute` then saves the input of each group
    and replays it as a whole, as Megatron-LM's method of that name does. With
    `method=block` the first `size` layers of each of `stages` pipeline stages, which have
    equally many, become a repeat of their own, which alone is replayed. An iteration of a
    repeat over periods has several layers, and a group has whole iterations.

    Groups are named after their layers, `layers_groups`, and so are layers that are
    replayed apart from others, `layers_replayed`.

    *Requires* and *produces* the model level, calls inlined.

    ```mlir
    // before
    %y = stg.repeat "layers" * L carry(%x = %e : !x) { ... }
    // after --stg-group-layers="size=4"
    %y = stg.repeat "layers_groups" * L/4 carry(%g = %e : !x)
      recompute full {
      %z = stg.repeat "layers" * 4 carry(%x = %g : !x) { ... }
      stg.yield %z : !x
    }
    // after --stg-group-layers="method=block size=4"
    %z = stg.repeat "layers_replayed" * 4 carry(%x = %e : !x)
      recompute full { ... }
    %y = stg.repeat "layers" * L - 4 carry(%x = %z : !x)
      recompute none { ... }
    ```
  }];
  let options = [
    Option<"method", "method", "::stg::RecomputeMethod",
           /*default=*/"::stg::RecomputeMethod::Uniform", "uniform or block">,
    Option<"size", "size", "unsigned", /*default=*/"1",
           "Layers of a group, or of a stage that are replayed">,
    Option<"stages", "stages", "unsigned", /*default=*/"1",
           "Pipeline stages, virtual ones included; for method=block">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration that gives symbols their values">,
    ListOption<"values", "values", "std::string", "NAME=VALUE of symbols">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Recompute : Pass<"stg-recompute", "::mlir::func::FuncOp"> {
  let summary = "replay parts of the forward pass instead of saving their results";
  let description = [{
    Works on each pair of a forward and a backward `stg.repeat`. With `policy=alternate` the first
    of each two products of a body, and the ops named by `ops`, are saved, and backward begins
    with what else it reads, as torchtitan does op by op. With `policy=needed` the ops are saved
    whose names match `saved`, and backward begins with what else it reads, as jax.checkpoint does
    with a policy of names: the last projection of a layer, which backward does not read, is not
    replayed. With `policy=full` the
    forward repeat saves only what it carries, and the backward body begins with the whole
    forward body again (as Megatron-LM and torch.utils.checkpoint replay a layer, its last
    projection included). Of a repeat whose body is nothing but repeats, such as one over periods of
    layers that differ, these are replayed, each layer by itself, unless the repeat has a policy of
    its own: then its iterations are replayed as a whole. With `policy=selective` parts of a layer are replayed, those that
    `modules` names as Megatron-Core does, and ops named by `ops`. A part is replayed right before
    its own backward pass; what it reads is saved, and so is what others read of its results. Of
    `layernorm`, `mla_up_proj` and `moe_act` nothing is saved: the replay is right before whatever
    reads it first. Parts are told by what they compute, by no name: what a layer hands on to the
    next one is the residual stream, and what is added to it is a sum of attention, experts and
    feed-forward networks. With `convolutions` what kernels of causal convolutions do not save is
    replayed like such a part, with `policy=none`, too: of a scan of Mamba or Mamba-2 the convolution
    with its bias and its activation, of others what the activation reads. A forward repeat, and
    those inside of it, can have a policy of their own, `recompute full` behind it. Replayed ops have the phase `recompute`; their
    collectives are found later like those of any op.

    *Requires* the step level. *Produces* the step level, with fewer saved values.

    ```mlir
    // before
    %y, %h = stg.repeat "layers" * L carry(%x = %e : !x) {
      %1 = stg.einsum "bd,df->bf" %x, %up ...
      stg.yield %2, %1 ...
    // after --stg-recompute="policy=full"
    %y, %s = stg.repeat "layers" * L carry(%x = %e : !x) {
      ...
      stg.yield %2, %x ...
    %dx = stg.repeat "layers" * L reverse carry(...) slices(%x = %s : ...) {
      %1 = stg.einsum "bd,df->bf" %x, %up <recompute> ...
    ```
  }];
  let options = [
    Option<"policy", "policy", "::stg::RecomputeChoice",
           /*default=*/"::stg::RecomputeChoice::None", "none, selective, alternate, needed or full">,
    ListOption<"saved", "saved", "std::string",
               "Patterns of names of ops whose results policy=needed saves (default none)">,
    ListOption<"ops", "ops", "std::string",
               "Names of ops that policy=selective replays and policy=alternate saves (default stg.attention; with modules none)">,
    ListOption<"modules", "modules", "std::string",
               "Parts that policy=selective replays: all, or of core_attn, layernorm, mla_up_proj, moe_act, shared_experts, mlp, moe (default core_attn; with ops none)">,
    Option<"convolutions", "convolutions", "bool", /*default=*/"false",
           "Replay what kernels of causal convolutions do not save, with policy=none and policy=selective">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Parallelize : Pass<"stg-parallelize", "::mlir::ModuleOp"> {
  let summary = "state the mesh and which named dimensions it shards";
  let description = [{
    Adds the mesh and its sharding rules. Axes are given from the fastest to the slowest in
    rank order, `NAME=SIZE:ROLE`, with a number or an expression for the size; the role
    may be left out (see `#sym.mesh`). A rule is `DIM:AXIS`, or `DIM:AXIS@SCOPE` for
    parameters, inputs or the stream only; earlier rules win where one axis has two claims.
    A rule that shards nothing is an error, unless `?` is behind it. A claim
    `OP/FACTOR:AXIS` is put on all ops of that name that have the factor (`#stg.factors`), and
    `OP/FACTOR@DIM:AXIS` on those of them that have a dimension of that name. With the factor
    `none` they compute nothing in shares over the axis. With `>` for `/` they do not either,
    but what they make is planned with the factor over it: a slice, for those that read it.

    Which mesh and which rules a framework makes of degrees of parallelism is a matter of
    presets: `--stg-apply-preset`.

    A dimension that has several names (`H + 2*K`) is sharded if all of them are sharded
    alike. It is an error if one rule names two dimensions of a value. An axis with the role
    `pipeline` shards no value; see `--stg-schedule`.

    *Requires* the step or model level. *Produces* the plan level, with rules that
    `--stg-propagate-shardings` has yet to apply: those that the mesh has then.

    ```mlir
    // before
    %w = stg.param "w" : !stg.tensor<[D, F], bf16>
    // after --stg-parallelize="mesh=tp=8:tensor rules=F:tp"
    stg.mesh @mesh <tp = 8 : tensor> rules [F : tp]
    %w = stg.param "w" : !stg.tensor<[D, F], bf16>
    ```
  }];
  let options = [
    ListOption<"mesh", "mesh", "std::string",
               "Axes NAME=SIZE:ROLE from the fastest to the slowest in rank order">,
    ListOption<"rules", "rules", "std::string",
               "Sharding rules DIM:AXIS or DIM:AXIS@SCOPE, most important first; with "
               "'?' behind they may shard nothing">,
    ListOption<"claims", "claims", "std::string",
               "OP/FACTOR:AXIS or OP/FACTOR@DIM:AXIS: ops of that name (with that dimension) "
               "compute the factor over the axis; with '>' for '/' what they make is so divided">,
    ListOption<"joined", "joined", "std::string",
               "AXIS+AXIS: axes that one collective serves (default: by their roles)">,
    ListOption<"late", "late", "std::string",
               "Axes that may have no rule: passes after this one divide something over them">,
    Option<"program", "program", "std::string", /*default=*/"\"\"",
           "The program that is to run on the mesh, where there are several">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def PropagateShardings : Pass<"stg-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "complete the plan: the sharding of every value and op";
  let description = [{
    The rules of the mesh shard the dimensions of parameters, function arguments and values
    carried by a `stg.repeat` that nothing is written about yet. For each rule in order of
    importance, what it shards is propagated through the
    factors of the ops (`ShardableOpInterface`) in both directions until nothing
    changes, before the next rule is looked at. A tensor or an op takes an axis at most
    once; who came first keeps it. A rule does not shard a parameter whose readers all
    compute something else over the axis, if it shards others: `X:ep` experts, not the
    router. Dimensions made of several others (the rows of an expert's buffer) take what
    is left when all rules are propagated. The factors that each op computes sharded are
    recorded in their `factors`, and claims that are there are entered. With `delay-gradients`, sums over a sharded factor that
    leave a `stg.repeat` only as stacked results stay partial, so that they can be
    reduced once after it.

    An axis that a rule gives to the stream alone (`S:tp@stream`) ends where the stream
    starts. With `stream-start=whole` each device computes all of the value that the
    stream starts with, and takes its slice; in backward the gradient of the stream is
    gathered. A partial sum that is itself that value is reduce-scattered. So does
    Megatron-LM: it adds learned positions to whole token embeddings, and scatters token
    embeddings without positions. With `stream-start=sharded` each device computes its
    tokens only.

    *Requires* the plan level. *Produces* the complete plan level: the mesh has no rules
    any more.

    ```mlir
    // before
    %w = stg.param "w" : !stg.tensor<[D, F : tp], bf16>
    %y = stg.einsum "bd,df->bf" %x, %w : !x, !stg.tensor<[D, F : tp], bf16>
    // after
    %y = stg.einsum "bd,df->bf" %x, %w {factors = #stg.factors<f : tp>}
      : !x, !stg.tensor<[D, F : tp], bf16> -> !stg.tensor<[B, F : tp], bf16>
    ```
  }];
  let options = [
    Option<"delayGradients", "delay-gradients", "bool", /*default=*/"true",
           "Reduce the gradients of repeated parameters after the repeat">,
    Option<"streamStart", "stream-start", "::stg::StreamStart",
           /*default=*/"::stg::StreamStart::Whole",
           "What a sharded stream starts with is computed whole and sliced (whole), or "
           "on the shards (sharded)">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def InsertCollectives : Pass<"stg-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "make the program that one device executes";
  let description = [{
    One rule: where a value's sharding differs from what its user needs, or from what
    its producer makes, it is resharded: a partial sum by all-reduce or
    reduce-scatter, a sharded dimension by all-gather, a moved sharding by all-to-all, a
    whole value by taking a slice. Ops that cannot combine the shards of a factor by a
    sum are decomposed first. Then every shape becomes that of one device.

    *Requires* the complete plan level. *Produces* the local level: no sharding in any
    type, no op that refers to another device but collectives, and the layouts of
    parameters and arguments.

    ```mlir
    // before
    %y = stg.einsum "bf,fd->bd" %x, %w {factors = #stg.factors<f : tp>}
      : !stg.tensor<[B, F : tp], bf16>, !stg.tensor<[F : tp, D], bf16>
    // after
    %0 = stg.einsum "bf,fd->bd" %x, %w
      : !stg.tensor<[B, F/tp], bf16>, !stg.tensor<[F/tp, D], bf16>
    %y = stg.all_reduce sum over ["tp"] %0 : !stg.tensor<[B, D], bf16>
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def CheckLayouts : Pass<"stg-check-layouts", "::mlir::ModuleOp"> {
  let summary = "refuse collectives that cannot be right";
  let description = [{
    What devices have of each value follows from the layouts of parameters and arguments,
    from collectives, and from the sharding rules of ops (`#stg.layout`). A collective
    whose operand is known not to be what it needs is an error: a reduction over an axis
    needs a partial result, a gather a shard of that dimension, a slice a whole value. So
    is an optimizer step on a partial gradient. What is not known is no error.

    *Requires* and *produces* the local or the schedule level; nothing is changed. The
    pipeline runs it before the conversion, and where assertions are on after each pass of
    the local level.

    ```mlir
    %w = stg.param "norm" {layout = #stg.layout<>} : !stg.tensor<[D], bf16>
    // error: operand #0 is whole over mesh axis 'tp' (#stg.layout<>), expected a partial
    // sum; leave the axis out
    %s = stg.all_reduce sum over ["tp"] %w : !stg.tensor<[D], bf16>
    ```
  }];
  let options = [
    Option<"show", "show", "bool", "false",
           "Say in a remark at each op what its results are">,
  ];
}

def SimplifyCollectives : Pass<"stg-simplify-collectives", "::mlir::ModuleOp"> {
  let summary = "remove, merge and coalesce collectives";
  let description = [{
    - A value is gathered once for all its users in a phase. Those of the kinds of
      `keep-gathered` also across phases: what forward gathered is kept for backward
      instead of being gathered again. The kind of a gather is what first reads it:
      attention (`context`: keys and values), a product with one matrix for each entry
      of a leading index (`experts`: rows), anything else (`columns`: inputs of
      column-parallel products). The default is what frameworks do: Megatron-Core keeps
      rows of experts; Megatron-LM gathers inputs of products again, and
      TransformerEngine keys and values.
    - What an all-to-all made of a value in forward is kept for backward in the value's
      place, if backward exchanges the value in the same way and reads nothing else of it.
    - Partial sums are linear: `add(reduce(x), reduce(y))` becomes
      `reduce(add(x, y))`, for any linear op, and `(x + reduce(a)) + reduce(b)` becomes
      `x + reduce(a + b)`. With `combine-first` what experts made is combined first, too:
      `combine(reduce(x))` becomes `reduce(combine(x))`, one row for each token instead of
      one for each of its experts. A bias that is added before becomes a partial sum: the
      first device has it, the others zeros, of the same size. Engines of inference do so,
      frameworks of training not.
    - A slice of an all-reduce is a reduce-scatter, a slice of an all-gather is what was
      gathered, and an exchange undoes its inverse (also `--canonicalize` knows these). An
      all-gather of a slice is the value where its devices have the same one, which
      follows from the layouts of parameters and arguments (`stg-check-layouts`).
    *Requires* and *produces* the local level.

    ```mlir
    // before
    %0 = stg.reduce_scatter dim 1 over ["tp"] %x : !whole -> !shard
    %1 = stg.reduce_scatter dim 1 over ["tp"] %y : !whole -> !shard
    %2 = stg.add %0, %1 : !shard, !shard
    // after
    %0 = stg.add %x, %y : !whole, !whole
    %2 = stg.reduce_scatter dim 1 over ["tp"] %0 : !whole -> !shard
    ```
  }];
  let options = [
    ListOption<"keepGathered", "keep-gathered", "std::string",
               "Kinds of gathered values that are kept for backward instead of being "
               "gathered again: columns, experts, context; all or none of them (default "
               "experts)">,
    Option<"combineFirst", "combine-first", "bool", /*default=*/"false",
           "Reduce what experts made of a token after it is combined">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def ContextParallel : Pass<"stg-context-parallel", "::mlir::ModuleOp"> {
  let summary = "choose how attention sees the tokens of other devices";
  let description = [{
    With tokens sharded over mesh axes with the role `context`, `all_gather` gathers keys and values
    where attention reads them and scatters their gradients; `a2a` (Ulysses) exchanges
    tokens for heads before attention and back after it; `p2p` (ring attention) sends keys
    and values from device to device while blocks are computed, and their gradients in
    backward, which starts from the keys that forward ended with, as TransformerEngine
    does.

    With `balance=zigzag` all devices see equally many pairs under a causal mask, as each
    has one chunk of tokens from the start of a sequence and one from its end. With
    `balance=none` each has one range, and later ones see more: what attention costs
    depends on the device's coordinates on these axes, for which the pass declares symbols.
    A ring goes along one axis.

    *Requires* the plan level before `--stg-propagate-shardings`. *Produces* the same, with
    attributes on attention ops if the mesh has context axes.

    ```mlir
    // before
    %o, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    // after --stg-context-parallel="type=p2p"
    %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<p2p zigzag>} : !q, !k, !k
    ```
  }];
  let options = [
    Option<"type", "type", "::stg::ContextExchange",
           /*default=*/"::stg::ContextExchange::AllGather",
           "all_gather, a2a, p2p or gather_p2p">,
    Option<"balance", "balance", "::stg::ContextBalance",
           /*default=*/"::stg::ContextBalance::ZigZag",
           "Tokens of a device under a causal mask: zigzag or none">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def LowerRecurrence : Pass<"stg-lower-recurrence", "::mlir::ModuleOp"> {
  let summary = "make of scans over divided tokens what one device executes";
  let description = [{
    A recurrent op whose tokens are `along` an axis becomes parts
    (`stg.recurrence_part`) and messages to neighbours. The first device starts from zeros, the
    last one hands nothing on: both are in a `stg.repeat` of 0 or 1 iterations, by the
    coordinate of the device. Backward goes from the last device to the first.

    - A convolution needs the last tokens of the device before, one less than it is wide
      (`tail`); its gradients, of input and of weight, the first gradients of the next one. No
      device waits for more than its neighbour.
    - `stg.ssd` makes its chunks' states as if the first one were zero (`own`); the state that
      it is given is added to the last one and goes on (`state`), so that this is all that
      devices wait for; then tokens read the states (`rest`). Backward the same.
      So does `stg.matrix_memory`.
    - `stg.gated_delta_rule` prepares its chunks (`own`); their states depend on what they
      find (`state`); the rest is read of them (`rest`). So does `stg.general_delta_rule`.
    - `stg.selective_scan` goes over its tokens from the state that it is given (`state`).

    Messages have the first four channels of the axis that no message has. Repeats are
    named `NAME.PHASE.before` and `after`.

    *Requires* the local level, and coordinates that are symbols (`--stg-context-parallel`).
    *Produces* the same without `along`.

    ```mlir
    // before, among cp devices
    %y, %start = stg.ssd 128 %x, %dt, %a, %b, %c, %d {along = ["cp"]} <"scan" fwd> : !x, !dt, !a, !b, !b, !a
    // after
    %own:2 = stg.recurrence_part OPS %x, %dt, %a, %b, %c, %d {matrix} <"scan" fwd own> : ... -> !x, !state
    %zero = stg.splat 0 : !state
    %start = stg.repeat "scan.fwd.before" * min(1, cp_index) carry(%s = %zero : !state) {
      %r = stg.recv over "cp" shift -1 channel 2 <"scan" fwd state> : !state
      stg.yield %r : !state
    }
    %last = stg.recurrence_part OPS %own#1, %start {completed = 1 : i64} <"scan" fwd state> : !state, !state -> !state
    stg.repeat "scan.fwd.after" * min(1, cp - cp_index - 1) {
      stg.send over "cp" shift 1 channel 2 %last <"scan" fwd state> : !state
      stg.yield
    }
    %y = stg.recurrence_part OPS %own#0, %start, %x, ... {completed = 1 : i64, matrix} <"scan" fwd rest> : ... -> !x
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def LowerContextParallel : Pass<"stg-lower-context-parallel", "::mlir::ModuleOp"> {
  let summary = "make of attention over divided tokens what one device executes";
  let description = [{
    Attention with a `#stg.context` becomes blocks, `stg.attention_block` and
    `stg.attention_block_grad`, each with the pairs of queries and keys that it computes.
    Where keys have been gathered it is one block.

    A ring of n devices has n blocks. In each step keys and values go on to the next device
    (`stg.exchange`) while the block of those that are here is computed. Forward begins with
    the device's own block and then has those of the devices before it, the nearest first.
    Backward goes the other way around, begins with the block that forward ended with and
    ends with the own one; gradients of keys and values follow one step behind. All but the
    first and the last step are an `stg.repeat`. What goes around is in one buffer
    (`stg.pack`).

    With `gather_p2p` keys and values are gathered instead, in one collective, while the own
    block is computed, and each block reads a slice. Backward begins with the own block, too;
    gradients of keys and values go round as many times as there are devices, the last time to
    where they belong.

    With `query_p2p` queries go round instead, and keys and values stay. Each block is by
    itself; the outputs and log-sum-exps of all of them are packed (`stg.pack_partial`), one
    all-to-all takes them to the devices whose queries they are of, and `stg.merge_parts` makes
    attention of them. `auto_p2p` is that where queries are fewer bytes than keys and values,
    and a ring of these elsewhere. Both are for forward only.

    Blocks add up in the element type `sum-type`, which is then that of gradients that go
    round, and casts narrow what comes of it.

    With ranges of tokens, a causal mask hides the blocks of later ranges. They are passed
    on all the same, in a repeat without a block: which steps compute depends on the
    device's coordinate. Rings along one axis share their channels: the first three that no
    message has.

    Ops have the name and the phase of the attention, and a role: `first`, `own`, `keys`,
    `queries`, `gradients`, `block`, `part`, `last`, `farthest`; those of the exchange of parts
    are named `NAME.pack`, `NAME.exchange` and `NAME.merge`. Repeats are named `NAME.PHASE.ring`, `hidden`
    and `farthest`.

    *Requires* the local level; with ranges, coordinates that are symbols. *Produces* the
    same without `#stg.context`.

    ```mlir
    // before, among cp devices
    %o, %lse = stg.attention none %q, %k, %v {context = #stg.context<p2p zigzag over ["cp"]>} <"o"> : !x, !x, !x
    // after, with !x of S tokens
    %q0 = stg.pack %q <"o"> : !x
    %k0 = stg.pack %k <"o"> : !x
    %v0 = stg.pack %v <"o"> : !x
    %k1, %v1 = stg.exchange over "cp" shift 1 channel 0 %k0, %v0 <"o" first> : !x, !x
    %o0, %lse0 = stg.attention_block S*S %q0, %k0, %v0 <"o" own> : !x, !x, !x
    %r:4 = stg.repeat "o.fwd.ring" * cp - 2 carry(%kc = %k1 : !x, %vc = %v1 : !x, %oc = %o0 : !x, %lc = %lse0 : !lse) <"o"> {
      %kn, %vn = stg.exchange over "cp" shift 1 channel 0 %kc, %vc <"o" keys> : !x, !x
      %on, %ln = stg.attention_block S*S %q0, %kc, %vc, %oc, %lc <"o" block> : !x, !x, !x, !x, !lse
      stg.yield %kn, %vn, %on, %ln : !x, !x, !x, !lse
    }
    %o, %lse = stg.attention_block S*S %q0, %r#0, %r#1, %r#2, %r#3 <"o" last> : !x, !x, !x, !x, !lse
    ```
  }];
  let options = [
    Option<"sumType", "sum-type", "std::string", /*default=*/"\"\"",
           "Element type in which blocks of a ring add up (default: that of activations)">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def ShardStates : Pass<"stg-shard-states", "::mlir::ModuleOp"> {
  let summary = "ZeRO: shard optimizer states, gradients and parameters over data axes";
  let description = [{
    Devices that all-reduce the gradient of a parameter hold the same parameter, and the
    optimizer works on each element by itself. So each may step a flat shard:

    - level 1 (optimizer states): the all-reduce over the data axes becomes a
      reduce-scatter, each device steps its shard, and the parameters are gathered in
      place.
    - level 2 (gradients): the reduce-scatter is part of backward, for each micro-batch;
      only shards accumulate. Gradients must be reduced where they are made
      (`--stg-propagate-shardings="delay-gradients=false"`).
    - level 3 (parameters, FSDP): a parameter is a shard, and is gathered where forward
      uses it and again where backward does. All parameters of a layer are one unit, and
      so are those at the top before and after the layers: one collective. With
      `root=kept` everything at the top (of a pipeline stage) is one unit that is gathered
      once and kept, as PyTorch's FSDP does with its root. `prefetch` layers ahead the
      gather is issued. What is only cast to a narrower type, of at least `narrowest`
      bits, is gathered in that type.

    With hybrid sharding (axes with the role `replica`) what has been scattered is all-reduced over
    the replicas. The data axes are those whose ranks hold the same parameters (roles `data`,
    `context` and `expert`); a parameter is sharded over those
    that its gradient is reduced over, so experts over fewer.

    *Requires* and *produces* the local level.

    ```mlir
    // before
    %g = stg.all_reduce sum over ["dp"] %dw : !dw
    stg.adam f32 %w, %g : !w, !dw
    // after --stg-shard-states="level=1"
    %g = stg.flat_reduce_scatter over ["dp"] %dw : !dw -> !stg.tensor<[ceildiv(D*F, dp)], f32>
    %w1 = stg.adam f32 %w, %g : !w, !stg.tensor<[ceildiv(D*F, dp)], f32>
    stg.gather_updated over ["dp"] %w1 {leading = array<i64: 0>} : !w
    ```
  }];
  let options = [
    Option<"level", "level", "::stg::ZeroLevel",
           /*default=*/"::stg::ZeroLevel::None", "0, 1, 2 or 3">,
    Option<"root", "root", "::stg::RootUnits", /*default=*/"::stg::RootUnits::Kept",
           "Parameters outside of layers: kept or units">,
    Option<"reshardAfterForward", "reshard-after-forward", "bool",
           /*default=*/"true", "Gather layers again in backward">,
    Option<"prefetch", "prefetch", "unsigned", /*default=*/"1",
           "Layers that parameters are gathered ahead">,
    Option<"narrowest", "narrowest", "unsigned", /*default=*/"16",
           "Bits of the narrowest type that parameters are cast to before they are "
           "gathered">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def BucketGradients : Pass<"stg-bucket-gradients", "::mlir::ModuleOp"> {
  let summary = "coalesce collectives of gradients and of updated parameters";
  let description = [{
    Reductions of gradients that only the optimizer waits for become one collective per
    block, group and element type, right before the optimizer; so do gathers of updated
    parameters. With `bucket-bytes` a bucket is closed when it has reached that size.

    *Requires* and *produces* the local or the schedule level.

    ```mlir
    // before
    %0 = stg.all_reduce sum over ["dp"] %a : !a
    %1 = stg.all_reduce sum over ["dp"] %b : !b
    // after
    %0:2 = stg.all_reduce sum over ["dp"] %a, %b <"gradients"> : !a, !b
    ```
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "uint64_t", /*default=*/"0",
           "Least size of a bucket but the last; 0: one bucket">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def ClipGradients : Pass<"stg-clip-gradients", "::mlir::ModuleOp"> {
  let summary = "clip gradients by the norm of all of them";
  let description = [{
    Each device takes the norm of what it has of all gradients, devices with other parts of
    them sum these up, and the optimizer scales the gradients that it reads. The group of
    the sum has the axes along which devices do not have the same gradients: those that
    divide parameters, those that ZeRO divides gradients over, and that of a pipeline. No
    step of a parameter begins before all gradients of the model are reduced.

    *Requires* and *produces* the local or the schedule level, with optimizer steps that
    implement `ClippedOpInterface`.

    ```mlir
    // before
    %w1 = stg.adam f32 %w, %dw <"w" opt> : !w, !dw
    // after
    %n = stg.gradient_norm %dw <"gradient_norm" opt> : !dw
    %all = stg.all_reduce sum over ["tp"] %n <"gradient_norm" opt> : !stg.tensor<[], f32>
    %w1 = stg.adam f32 %w, %dw, %all <"w" opt> : !w, !dw, !stg.tensor<[], f32>
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def PadExperts : Pass<"stg-pad-experts", "::mlir::ModuleOp"> {
  let summary = "round the rows of each expert up";
  let description = [{
    What `stg.dispatch` makes has so many rows for each expert, which is a mean where the
    tokens of a device do not divide evenly. Here each buffer gets whole rows, the next
    integer, and so do those that exchanges make of them.

    *Requires* the local level; `--stg-micro-batch` comes before. *Produces* the local level.

    ```mlir
    // before
    %e = stg.dispatch %x, %i : ... -> !stg.tensor<[X, A*B/X, D], bf16>
    %o = stg.all_to_all from 1 to 0 over ["ep"] %e : ... -> !stg.tensor<[X/ep, A*B*ep/X, D], bf16>
    // after
    %e = stg.dispatch %x, %i : ... -> !stg.tensor<[X, ceildiv(A*B, X), D], bf16>
    %o = stg.all_to_all from 1 to 0 over ["ep"] %e : ... -> !stg.tensor<[X/ep, ep*ceildiv(A*B, X), D], bf16>
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def LoadExperts : Pass<"stg-load-experts", "::mlir::ModuleOp"> {
  let summary = "give experts different shares of the tokens";
  let description = [{
    With `loads=5,2,1,0` the first of four experts gets 5/8 of the tokens, and so on. Where
    experts are divided over devices, a device has as many rows as its own experts get: an
    expression in its coordinate, for which the pass declares a symbol. The rows of all
    devices of a group are those of uniform routing (an expert's end of the tokens is
    rounded up). Experts that are on one device together share their rows equally, which
    makes no difference to what is computed and moved. Tokens of all devices are routed
    alike. With `clip` no expert gets more rows than its buffer had before.

    All devices of a group must say the same size of an all-to-all, so it is that of the
    most loaded one, which the others wait for; with `clip` it is that of whole buffers.

    *Requires* the local level; `--stg-micro-batch` comes before, as loads are rounded.
    *Produces* the local level.

    ```mlir
    // before; two devices with two experts each
    %e = stg.all_to_all from 1 to 0 over ["ep"] %x : !stg.tensor<[4, T/4, D], bf16> -> !stg.tensor<[2, T/2, D], bf16>
    // after --stg-load-experts="loads=3,3,1,1"
    stg.symbol @ep_index coordinate "ep"
    // 3*T/4 rows on the first device, T/4 rows on the second one, for each expert
    %e = stg.all_to_all from 1 to 0 over ["ep"] %x {payload = ...} : !stg.tensor<[4, T/4, D], bf16> -> !stg.tensor<[2, ..., D], bf16>
    ```
  }];
  let options = [
    ListOption<"loads", "loads", "int64_t", "The relative load of each expert">,
    Option<"clip", "clip", "bool", /*default=*/"false",
           "Drop what an expert's buffer has no room for">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def PlaceTables : Pass<"stg-place-tables", "::mlir::ModuleOp"> {
  let summary = "place tables of different sizes on devices";
  let description = [{
    Tables of recommendation have from three rows to many millions. A lookup that lists them
    (`rows`) has the number of tables as one dimension, and their mean rows as another. Here
    tables whose dimension is divided are placed, each whole on one device: the largest one
    first, each on the device that has the fewest rows so far, the first of these; or as
    `ranks` says. A device then has as many tables, and rows, as it got: expressions in its
    coordinate, for which the pass declares a symbol. Some devices may have none. All tables of
    a device are joined, in parameter, gradient and states, to one with their rows.

    Ids and what they find are exchanged by all-to-alls. All devices of a group must say the
    same size, so it is that of the device with the most tables, which the others wait for.

    Of rows that are divided each device has of each table as many as the others, but for the
    last ones of the devices, which may have fewer or none. Tables of which neither is divided
    are joined as well.

    *Requires* the local level; `--stg-micro-batch` comes before. What `config` and `values`
    say of symbols is held against what is listed. *Produces* the local level.

    ```mlir
    // before; two devices
    %t = stg.param "tables" : !stg.tensor<[NT/2, R = NR/NT, D], bf16>
    %i = stg.all_to_all from 0 to 2 over ["dp"] %ids : !stg.tensor<[B/2, P, NT], i32> -> !stg.tensor<[B, P, NT/2], i32>
    %e = stg.embedding %t, %i {pooled = 1, rows = array<i64: 2, 9, 5>, over = ["dp"]} : !t, !i
    // after --stg-place-tables: 9 rows on the first device, 5 + 2 on the second one
    %t = stg.param "tables" : !stg.tensor<[R = -2*max(min(dp_index, 1), 0) + 9, D], bf16>
    %i = stg.all_to_all from 0 to 2 over ["dp"] %ids {payload = #sym.expr<8*B*P>} : !stg.tensor<[B/2, P, NT], i32> -> !stg.tensor<[B, P, NT = max(min(dp_index, 1), 0) + 1], i32>
    %e = stg.embedding %t, %i {pooled = 1, rows = array<i64: 2, 9, 5>, over = ["dp"]} : !t, !i
    ```
  }];
  let options = [
    ListOption<"ranks", "ranks", "int64_t",
               "The rank of each table, among those that divide the tables">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "The configuration that says how many tables and rows there are">,
    ListOption<"values", "values", "std::string", "SYMBOL=VALUE that say it, too">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def OverlapBatches : Pass<"stg-overlap-batches", "::mlir::ModuleOp"> {
  let summary = "make the program of a part of the batch that of all parts, executed by turns";
  let description = [{
    What depends on the rows of the batch is there for each of `parts` parts: arguments with a
    dimension named `batch`, ops that read them or what is made of them, and results. Ops of
    part `i` are called `parti.NAME`. Parameters, and what is made of them alone, are there
    once. A part is executed up to its next collective, then the next part is, so that what
    one part sends is behind the kernels of the others. Loops carry and stack what each part
    has, and each part has states of its own.

    For steps of inference: gradients are those of all rows.

    *Requires* the local level, in the program of one part (`--stg-micro-batch`). *Produces*
    the local level.

    ```mlir
    // before
    %d = stg.all_to_all from 1 to 0 over ["ep"] %x <"dispatch"> : !x
    %y = stg.add %d, %d <"act"> : !x, !x
    // after --stg-overlap-batches="parts=2"
    %d0 = stg.all_to_all from 1 to 0 over ["ep"] %x0 <"part0.dispatch"> : !x
    %d1 = stg.all_to_all from 1 to 0 over ["ep"] %x1 <"part1.dispatch"> : !x
    %y0 = stg.add %d0, %d0 <"part0.act"> : !x, !x
    %y1 = stg.add %d1, %d1 <"part1.act"> : !x, !x
    ```
  }];
  let options = [
    Option<"parts", "parts", "unsigned", /*default=*/"1", "Parts of the batch">,
    Option<"batch", "batch", "std::string", /*default=*/"\"B\"",
           "The name of the batch's dimensions">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def SendIds : Pass<"stg-send-ids", "::mlir::ModuleOp"> {
  let summary = "send ids to the device that has their rows";
  let description = [{
    Where the rows of a table are divided over the devices that divide the samples, each
    gathers the ids of all, and looks up those that it has rows of. Here each device sorts its
    ids by the device that has the row, and sends them there: an all-to-all of how many ids
    each sample has for each table, and one of the ids. What is found is summed and scattered
    as before. Backward uses the ids that forward got. Ids are spread evenly over the rows.

    *Requires* the local level, tables joined (`--stg-place-tables`). *Produces* the local level.

    ```mlir
    // before
    %g = stg.all_gather dim 0 over ["dp"] %ids : !stg.tensor<[B/dp, P, N], i32> -> !stg.tensor<[B, P, N], i32>
    %e = stg.embedding %t, %g {pooled = 1} : !t, !stg.tensor<[B, P, N], i32>
    // after
    %l, %s = stg.bucketize %ids : !ids -> !stg.tensor<[dp, B/dp, N], i32>, !stg.tensor<[dp, _ = B*N*P/(dp*dp)], i32>
    %lengths = stg.all_to_all from 1 to 0 over ["dp"] %l : !l -> !stg.tensor<[1, B, N], i32>
    %sent = stg.all_to_all from 1 to 0 over ["dp"] %s : !s -> !stg.tensor<[1, _ = B*N*P/dp], i32>
    %e = stg.embedding_bag %t, %sent, %lengths : !t, !sent, !lengths -> !stg.tensor<[B, N, D], bf16>
    ```
  }];
  let dependentDialects = ["::stg::STGDialect"];
}

def ReplicateExperts : Pass<"stg-replicate-experts", "::mlir::ModuleOp"> {
  let summary = "tell experts from what the router chooses among, and give some replicas";
  let description = [{
    A router chooses among all experts on every device. What it chooses among gets another name,
    so that a rule that divides experts does not divide it.

    Engines that divide experts over many devices have replicas of those that get most rows.
    There are then `count` more buffers, parameters and products than experts: the symbol
    `physical_experts`, which the pass declares, and which rows are spread over. The router
    chooses among the experts as before. Without a `count` there are only the names.

    *Requires* and *produces* the step level.

    ```mlir
    // before
    %e = stg.dispatch %x, %idx : !x, !idx -> !stg.tensor<[X, A*B*S/X, D], bf16>
    %w = stg.param "up_proj" : !stg.tensor<[X, D, F], bf16>
    // after --stg-replicate-experts="count=32"
    stg.symbol @physical_experts = X + 32
    %e = stg.dispatch %x, %idx : !x, !idx -> !stg.tensor<[X = physical_experts, A*B*S/physical_experts, D], bf16>
    %w = stg.param "up_proj" : !stg.tensor<[X = physical_experts, D, F], bf16>
    ```
  }];
  let options = [
    Option<"count", "count", "int64_t", /*default=*/"0", "How many more there are">,
    Option<"experts", "experts", "std::string", /*default=*/"\"X\"",
           "Name of the dimension of experts">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def ExpectExperts : Pass<"stg-expect-experts", "::mlir::ModuleOp"> {
  let summary = "read the experts that a random choice hits";
  let description = [{
    Of few tokens some experts get no row, and nobody reads their parameters. Where a router
    chooses at random, all experts being equally likely, `X*(1 - (1 - A/X)^T)` of X experts are
    expected to get one of T tokens that choose A each. Here products and biases between a
    dispatch and what combines its rows say how their slices are drawn; how many tokens there
    are follows from their rows, on each level and device. Rows that are not all that tokens
    choose, as with a capacity, are left alone: they are there for every expert. Symbols that
    say so, such as a capacity factor, have the values of the options, or their defaults.

    *Requires* and *produces* the step level.

    ```mlir
    // before
    %e = stg.dispatch %x, %idx : !x, !idx -> !stg.tensor<[X, A*B*S/X, D], bf16>
    %h = stg.einsum "xcd,xdf->xcf" %e, %w : !e, !w
    // after --stg-expect-experts
    %h = stg.einsum "xcd,xdf->xcf" %e, %w {draws = #stg.draws<A of X>} : !e, !w
    ```
  }];
  let options = [
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "Configuration whose values symbols have">,
    ListOption<"values", "values", "std::string", "NAME=VALUE: values of symbols">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def LoadRequests : Pass<"stg-load-requests", "::mlir::ModuleOp"> {
  let summary = "give devices that divide the batch different requests";
  let description = [{
    A step that was derived with several lists of requests has the tokens of one list in each
    row. Here the devices that divide the batch get a list each, in the order of their
    coordinates, the first axis fastest: new tokens, and how many requests of a kind there
    are, become expressions in the device's coordinates, for which the pass declares symbols.

    Over what axes a value has been gathered is known from its layout. Rows that went to
    experts are those of all devices of the group. Of other rows that are gathered `rows` says
    what they are: `padded`, each device brings as many as the one that has most; `exact`,
    each brings its own, and the parts are unequal; `summed`, each writes its own into zeros, and
    all are summed. Where devices bring different bytes,
    these are the payload of a collective, and `padded` is what all devices of the group say.

    *Requires* the local level; one row of the batch for each device. *Produces* the local
    level, without the symbols.

    ```mlir
    // before; two devices, with (1,9) and with 2*(1,4)
    %g = stg.all_gather dim 0 over ["dp"] %x : !stg.tensor<[B/2, S, D], bf16> -> !stg.tensor<[B, S, D], bf16>
    // after --stg-load-requests="requests=(1,9);2*(1,4) rows=exact"
    stg.symbol @dp_index coordinate "dp"
    %g = stg.all_gather dim 0 over ["dp"] %x {payload = ..., padded = #sym.expr<4*D>} : !stg.tensor<[B = 1, S = max(min(dp_index, 1), 0) + 1, D], bf16> -> !stg.tensor<[B = 1, S = 3, D], bf16>
    ```
  }];
  let options = [
    Option<"requests", "requests", "std::string", /*default=*/"\"\"",
           "The lists that --stg-inference got, separated by ';'">,
    Option<"rows", "rows", "::stg::GatheredRows",
           /*default=*/"::stg::GatheredRows::Padded",
           "Rows that are gathered of devices that have different numbers of them">,
    Option<"batch", "batch", "std::string", /*default=*/"\"B\"",
           "The name of the batch's dimensions">,
    Option<"tokens", "tokens", "std::string", /*default=*/"\"S\"",
           "Name of the dimension of tokens">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def DivideUnevenly : Pass<"stg-divide-unevenly", "::mlir::ModuleOp"> {
  let summary = "give devices unequal parts of dimensions that they do not divide evenly";
  let description = [{
    A dimension that devices divide has the same fraction of its extent on each of them. Of the
    dimensions with the names `dims`, where that is no integer each device gets as many as the
    others, rounded up, and the last one what is left: extents become expressions in the device's
    coordinates, for which the pass declares symbols. The first axis is the fastest. It is an
    error if nothing is left for the last device, or if the dimension is exchanged.

    Where devices bring parts of different size to a gather, or scatter such parts, the bytes of
    a device are the payload of a collective, and `padded` is what all devices of the group say.

    *Requires* the local level; sizes of the axes, and what `config` and `values` say of the
    dimension, are numbers. *Produces* the local level.

    ```mlir
    // before; V = 11 over four devices
    %w = stg.all_gather dim 1 over ["tp"] %l : !stg.tensor<[B, V/4], bf16> -> !stg.tensor<[B, V], bf16>
    // after --stg-divide-unevenly="dims=V values=V=11"
    stg.symbol @tp_index coordinate "tp"
    %w = stg.all_gather dim 1 over ["tp"] %l {payload = ..., padded = #sym.expr<6*B>} : !stg.tensor<[B, V = -max(min(tp_index - 2, 1), 0) + 3], bf16> -> !stg.tensor<[B, V = 11], bf16>
    ```
  }];
  let options = [
    ListOption<"dims", "dims", "std::string",
               "Names of dimensions of which devices may have unequal parts">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "The configuration that says how large they are">,
    ListOption<"values", "values", "std::string", "SYMBOL=VALUE that say it, too">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def DivideCaches : Pass<"stg-divide-caches", "::mlir::ModuleOp"> {
  let summary = "divide the tokens of caches over devices";
  let description = [{
    Devices along `axes` keep the same keys and values: their heads are fewer than devices,
    or latents have none. Here each keeps every n-th token of a request, from the one with its
    own number on. Queries that are divided over the axes are gathered; each device attends the
    keys that it has; log-sum-exps are gathered, and outputs that are scaled with them are
    summed: reduce-scattered over heads where queries were divided or what reads the output has
    some of them, else all-reduced. With `merge=exchange` devices exchange their outputs and
    two numbers of each head for heads instead, in one all-to-all, and each merges its own.

    *Requires* the local level; steps of one new token of each request, or, with numbers for
    what `config` and `values` name, of any; no window. *Produces* the local level.

    ```mlir
    // before; four devices with the same keys
    %k = stg.cache "k" %x : !stg.tensor<[B, S = 1, K, E], bf16> -> !stg.tensor<[B, S = 4096, K, E], bf16>
    %o, %l = stg.attention causal %q, %k, %v : !q, !k, !k
    // after --stg-divide-caches="axes=tp"
    %k = stg.cache "k" %x {divided_over = ["tp"]} : !stg.tensor<[B, S = 1, K, E], bf16> -> !stg.tensor<[B, S = 1024, K, E], bf16>
    %g = stg.all_gather dim 2 over ["tp"] %q : !q -> !all
    %o, %l = stg.attention causal %g, %k, %v {pairs = #sym.expr<1024>} : !all, !k, !k
    %s = stg.all_gather dim 2 over ["tp"] %l : !l -> !ls
    %p = stg.merge_partial %o, %s : !all, !ls
    %r = stg.reduce_scatter dim 2 over ["tp"] %p : !all -> !q
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "The axes">,
    Option<"merge", "merge", "::stg::CacheMerge", /*default=*/"::stg::CacheMerge::Sum",
           "How outputs of devices are made one">,
    Option<"tokens", "tokens", "std::string", /*default=*/"\"S\"",
           "Name of the dimension of tokens">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "The configuration that says how many tokens there are">,
    ListOption<"values", "values", "std::string", "SYMBOL=VALUE that say it, too">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def GatherLogits : Pass<"stg-gather-logits", "::mlir::ModuleOp"> {
  let summary = "sample logits of which devices have parts in another way";
  let description = [{
    By default rows of logits are gathered on all devices, and all sample. With `how=top` each
    device samples its part of the vocabulary (`stg.sample_part`), and what is gathered are two
    fp32 numbers of each row. With `how=one` the first device of the group gets the parts of the
    others in messages, joins them and samples, and sends the tokens to each of the others.

    *Requires* and *produces* the local or the schedule level.

    ```mlir
    // before
    %g = stg.all_gather dim 2 over ["tp"] %x : !stg.tensor<[B, S = 1, V/tp], bf16> -> !stg.tensor<[B, S = 1, V], bf16>
    %t = stg.sample %g : !stg.tensor<[B, S = 1, V], bf16>
    // after --stg-gather-logits="how=top"
    %p = stg.sample_part %x : !stg.tensor<[B, S = 1, V/tp], bf16>
    %g = stg.all_gather dim 2 over ["tp"] %p : !stg.tensor<[B, S = 1, 2], f32> -> !stg.tensor<[B, S = 1, 2*tp], f32>
    %t = stg.sample %g : !stg.tensor<[B, S = 1, 2*tp], f32>
    ```
  }];
  let options = [
    Option<"how", "how", "::stg::LogitsGather", /*default=*/"::stg::LogitsGather::All",
           "Where parts of rows meet">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def MicroBatch : Pass<"stg-micro-batch", "::mlir::ModuleOp"> {
  let summary = "make the program that of one micro-batch";
  let description = [{
    Divides the extent of each dimension named `batch` by the count, and of those that
    have this name among others (`B*S` rows), whether it is bound or not. Costs follow.
    Constants stay: the loss is the mean over the whole batch. `--stg-schedule` says how
    often the program is executed. With `parts` it is the program of a part of a micro-batch,
    of which `--stg-overlap-batches` makes that of all parts.

    *Requires* and *produces* the local level.

    ```mlir
    // before
    %y = stg.einsum "bd,df->bf" %x, %w : !stg.tensor<[B/dp, D], bf16>, !w
    // after --stg-micro-batch="count=M"
    %y = stg.einsum "bd,df->bf" %x, %w : !stg.tensor<[B/(M*dp), D], bf16>, !w
    ```
  }];
  let options = [
    Option<"count", "count", "std::string", /*default=*/"\"1\"",
           "Micro-batches of a step, a number or a symbol">,
    Option<"parts", "parts", "unsigned", /*default=*/"1",
           "Parts of each micro-batch, which have ops and states of their own">,
    Option<"batch", "batch", "std::string", /*default=*/"\"B\"",
           "The name of the batch's dimensions">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def DelayWeightGradients : Pass<"stg-delay-weight-gradients", "::mlir::ModuleOp"> {
  let summary = "compute gradients of experts' parameters beside an exchange";
  let description = [{
    Backward, an all-to-all sends what experts have made back to the devices that have the
    tokens. Gradients of the experts' parameters are neither sent nor read by another layer.
    They go behind that all-to-all, with all that only gradients of parameters are made of since
    the exchange before it, and with their reductions; so the all-to-all begins sooner, and they
    are computed meanwhile. The ops that compute are marked as delayed: where a forward and a
    backward are executed by turns, the other one goes on behind them. Megatron-LM calls this
    `--delay-wgrad-compute`; DualPipe has the same order.

    *Requires* the local level, and *produces* it.

    ```mlir
    // before
    %f = stg.einsum "xcd,xfd->xcf" %dy, %down <"down_proj" bwd dx> : !dy, !down
    %g = stg.einsum "xcf,xcd->xfd" %h, %dy <"down_proj" bwd dw> : !h, !dy
    %x = stg.einsum "xcf,xdf->xcd" %f, %up <"up_proj" bwd dx> : !f, !up
    %r = stg.all_to_all from 0 to 1 over ["ep"] %x <"dispatch" bwd> : !x -> !r
    // after
    %f = stg.einsum "xcd,xfd->xcf" %dy, %down <"down_proj" bwd dx> : !dy, !down
    %x = stg.einsum "xcf,xdf->xcd" %f, %up <"up_proj" bwd dx> : !f, !up
    %r = stg.all_to_all from 0 to 1 over ["ep"] %x <"dispatch" bwd> : !x -> !r
    %g = stg.einsum "xcf,xcd->xfd" %h, %dy {stg.delayed} <"down_proj" bwd dw> : !h, !dy
    ```
  }];
}

def EncodeExperts : Pass<"stg-encode-experts", "::mlir::ModuleOp"> {
  let summary = "send the rows of experts in another encoding";
  let description = [{
    An all-to-all of what `stg.dispatch` made, and one of what `stg.combine` reads, exchanges
    rows of so many bytes: `stg.encode_rows` makes them before it, and rows of elements of
    them behind it. Gradients likewise: what `stg.combine_grad` made is sent to experts, and
    what `stg.dispatch_grad` reads comes back.

    With `once` a token is sent once to so many neighbouring ranks of the exchange, such as those
    of a node, that have any of its experts, and comes back from them as one sum. Experts are
    chosen at random, in groups if the router has them: a row then has the bytes of one, times
    the ranks that are expected, over the experts of a token, rounded to the nearest byte.

    *Requires* and *produces* the local level; with `once` the sizes are numbers.

    ```mlir
    // before
    %rows = stg.dispatch %x, %choice : !x, !choice -> !rows
    %own = stg.all_to_all from 1 to 0 over ["ep"] %rows : !rows -> !own
    // after --stg-encode-experts="dispatch-bytes=D+D/32+16"
    %rows = stg.dispatch %x, %choice : !x, !choice -> !rows
    %sent = stg.encode_rows %rows : !rows -> !stg.tensor<[X, R/ep, D + D/32 + 16], i8>
    %got = stg.all_to_all from 1 to 0 over ["ep"] %sent : ...
    %own = stg.encode_rows %got : !stg.tensor<[X/ep, R, D + D/32 + 16], i8> -> !own
    ```
  }];
  let options = [
    Option<"dispatchBytes", "dispatch-bytes", "std::string", /*default=*/"\"\"",
           "Bytes of a row that is sent to an expert, an expression (default: its "
           "elements)">,
    Option<"combineBytes", "combine-bytes", "std::string", /*default=*/"\"\"",
           "Bytes of a row that an expert sends back (default: its elements)">,
    Option<"once", "once", "int64_t", /*default=*/"0",
           "Neighbouring ranks to which a token is sent once (0: once for each of its "
           "experts)">,
    Option<"config", "config", "std::string", /*default=*/"\"\"",
           "The configuration that says how many experts there are">,
    ListOption<"values", "values", "std::string", "SYMBOL=VALUE that say it, too">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

def Schedule : Pass<"stg-schedule", "::mlir::ModuleOp"> {
  let summary = "order micro-batches and pipeline stages";
  let description = [{
    Cuts the program into tasks and makes a program for each pipeline device that calls
    them in the order of a schedule.

    A virtual stage has a range of the layers: of the iterations of the repeats of the
    forward pass and of the repeats of the same name in backward and optimizer. What
    stands beside the repeats goes where its operands are: the embedding to the first
    stage, head and loss to the last, a loss of inputs and parameters alone to the first.
    What the program gives is kept. Tasks are private functions: forward and backward
    of a stage, for schedules that split it the two halves of backward, and what a device
    does once a step (reductions of gradients, optimizer). Their results are what is sent
    to the neighbouring stage, what is saved for backward, and gradients.

    Gradients of further micro-batches are added to those of the first in place; what is
    reduced once a step is reduced in the last one. A parameter that two stages read has
    a copy in both, whose gradients are summed over the two devices. A message is posted
    `receive-ahead` actions before its use.

    With `pairs` a forward and a backward are side by side where the schedule can have them
    so: a device executes both by turns, which change behind the exchanges of experts, or,
    if no axis of the mesh divides experts, behind all collectives.

    In a loop over steps of inference the first stage reads what the last one has sampled:
    `sent-tokens` are sent at the end of a step, and `received-tokens` are received at the
    beginning of the next one, into the tokens that the program reads. With `on-last-device`
    the program is a stage by itself, beside those of another program: modules that draft tokens
    are executed where the head is, and what they send is received by the first stage of what is
    verified.

    With `stage-tensors=2` a forward stage sends both summands of what its last layer adds up
    in place of the sum, as engines do whose norms add to the residual stream: the last
    iteration is a repeat of its own, and the next stage adds. With `stage-slices` devices of
    a group that have the same each send a slice. Both are for programs without a backward
    pass.

    Schedules are those of `PipelineSchedule.h` (gpipe, 1f1b, interleaved, zb-h1, ...) or
    a .json file; see docs/Schedules.md.

    *Requires* the local level, with the number of layers and the size of the mesh axis with the role
    `pipeline` bound where there is more than one stage, and a program of one micro-batch. *Produces* the
    schedule level: public functions with `stg.coordinates`, calls with `stg.scope`.

    ```mlir
    func.func @llama.device0(%mb0.tokens: ...) attributes {stg.coordinates = #stg.coordinates<pp = 0>} {
      %0:9 = call @llama.stage0.forward(%mb0.tokens) {stg.scope = "mb0"} : ...
      stg.send over "pp" shift 1 channel 8 %0#0 : ...
      ...
      call @llama.device0.step(%gradients...) : ...
    ```
  }];
  let options = [
    Option<"scheduleName", "schedule", "std::string", /*default=*/"\"1f1b\"",
           "Name of a schedule, or a .json file">,
    Option<"microBatches", "micro-batches", "unsigned", /*default=*/"1",
           "How often the program is executed in a step">,
    Option<"batch", "batch", "std::string", /*default=*/"\"B\"",
           "The name of the dimensions that micro-batches divide: inputs without one "
           "are those of all micro-batches">,
    Option<"virtualStages", "virtual-stages", "unsigned", /*default=*/"1",
           "Virtual stages of each device">,
    Option<"pairs", "pairs", "bool", /*default=*/"false",
           "Execute a forward and a backward of two micro-batches by turns, which change "
           "behind exchanges of experts">,
    ListOption<"layersPerStage", "layers-per-stage", "int64_t",
               "Layers of each virtual stage (default: as many in each)">,
    Option<"stageTensors", "stage-tensors", "unsigned", /*default=*/"1",
           "Tensors that a stage sends for the residual stream: 1, or 2, which the "
           "next stage adds">,
    Option<"stageSlices", "stage-slices", "bool", /*default=*/"false",
           "Send slices of what devices along axes of tensors have alike, which the "
           "next stage gathers">,
    Option<"receivedTokens", "received-tokens", "int64_t", /*default=*/"0",
           "Tokens of each row that the step before has sampled: the first stage "
           "receives them from the last one">,
    Option<"sentTokens", "sent-tokens", "int64_t", /*default=*/"0",
           "Sampled tokens of each row that the last stage sends to the first one, "
           "which reads them in the next step">,
    Option<"onLastDevice", "on-last-device", "bool", /*default=*/"false",
           "The program is one stage, on the device of the last one: what it has "
           "sampled goes to the first stage of another program">,
    Option<"receiveAhead", "receive-ahead", "unsigned", /*default=*/"0",
           "Actions of the schedule that messages are posted ahead; 0: as few "
           "as do not block where sends wait for receives">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::stg::STGDialect"];
}

#endif // STG_DIALECT_STG_TRANSFORMS_PASSES
