//===- STGAttrs.td - Attributes of the stg dialect ---------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGATTRS
#define STG_DIALECT_STG_IR_STGATTRS

include "stg/Dialect/STG/IR/STGBase.td"
include "stg/Dialect/Sym/IR/SymAttrs.td"
include "mlir/IR/SymbolInterfaces.td"

class STG_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<STG_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def STG_DimAttr : STG_Attr<"Dim", "dim"> {
  let summary = "a dimension: what it is called and how large it is";
  let description = [{
    Sharding rules, einsum indices and passes find a dimension by its names; costs
    and sizes follow from its extent. The names are by default those of the symbols
    that the extent is made of: `B/dp` is called `B`, `(H + 2*K)/tp` is called `H` and
    `K`, `B*S` is called `B` and `S`, `2` has no name. Names that differ from these
    stand before the extent:

    ```mlir
    #stg.dim<B/dp>         // called B
    #stg.dim<B = 64>       // called B, of extent 64
    #stg.dim<(H, K) = 48>  // called H and K
    #stg.dim<_ = S>        // of extent S, without a name
    ```
    A symbol names the dimension if it has a positive exponent in a term; of `ceildiv`
    those of the dividend do, of `min` and `max` those of all operands. A name that is
    not a word is in quotes. Printed inline in `!stg.tensor`.

    Constraints: (C1) names are sorted and distinct.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$names, "::stg::SymExpr":$extent);
  let builders = [
    /// With the default names of the extent.
    AttrBuilderWithInferredContext<(ins "::stg::SymExpr":$extent)>,
    AttrBuilderWithInferredContext<(ins "::mlir::StringAttr":$name,
                                        "::stg::SymExpr":$extent)>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasName(::mlir::StringAttr name) const {
      return ::llvm::is_contained(getNames(), name);
    }
    bool hasSameNames(DimAttr other) const {
      return getNames() == other.getNames();
    }
    /// The dimension with another extent.
    DimAttr withExtent(::stg::SymExpr extent) const;
    /// A dimension that has the names of all of these.
    static DimAttr getJoined(::llvm::ArrayRef<DimAttr> dims,
                             ::stg::SymExpr extent);
    /// The names as they are written: `S`, `(H, K)`, or `_` for none.
    std::string getNamesText() const;
    /// `S` or `T = S`, as in `!stg.tensor`.
    static ::mlir::FailureOr<DimAttr> parseInline(::mlir::AsmParser &parser);
    void printInline(::llvm::raw_ostream &os) const;
    std::string str() const;
  }];
}

def STG_ReduceKind : I32EnumAttr<"ReduceKind", "how partial values combine", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_ReduceKindAttr : EnumAttr<STG_Dialect, STG_ReduceKind, "reduce_kind">;

def STG_CollectiveKind : I32EnumAttr<"CollectiveKind", "what a collective does with the values of its group", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">,
    I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">,
    I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"LocalSlice", 4, "local_slice">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

def STG_Activation : I32EnumAttr<"Activation", "pointwise nonlinearity", [
    I32EnumAttrCase<"Silu", 0, "silu">, I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"Relu", 2, "relu">, I32EnumAttrCase<"Sigmoid", 3, "sigmoid">,
    I32EnumAttrCase<"Tanh", 4, "tanh">, I32EnumAttrCase<"Relu2", 5, "relu2">,
    I32EnumAttrCase<"QuickGelu", 6, "quick_gelu">,
    I32EnumAttrCase<"Softplus", 7, "softplus">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_ActivationAttr : EnumAttr<STG_Dialect, STG_Activation, "activation">;

def STG_LearnedActivation : I32EnumAttr<"LearnedActivation", "pointwise nonlinearity with learned numbers", [
    I32EnumAttrCase<"Prelu", 0, "prelu">, I32EnumAttrCase<"Xielu", 1, "xielu">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_LearnedActivationAttr
    : EnumAttr<STG_Dialect, STG_LearnedActivation, "learned_activation">;

def STG_AttentionMask : I32EnumAttr<"AttentionMask", "which keys a query sees", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Causal", 1, "causal">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_AttentionMaskAttr
    : EnumAttr<STG_Dialect, STG_AttentionMask, "mask">;

def STG_KeyExchange : I32EnumAttr<"KeyExchange", "how keys of other devices are seen", [
    I32EnumAttrCase<"AllGather", 0, "all_gather">,
    I32EnumAttrCase<"AllToAll", 1, "a2a">, I32EnumAttrCase<"Ring", 2, "p2p">,
    I32EnumAttrCase<"GatheredRing", 3, "gather_p2p">,
    I32EnumAttrCase<"QueryRing", 4, "query_p2p">,
    I32EnumAttrCase<"AutoRing", 5, "auto_p2p">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_TokenShare : I32EnumAttr<"TokenShare", "which tokens of a sequence a device has", [
    I32EnumAttrCase<"ZigZag", 0, "zigzag">, I32EnumAttrCase<"Range", 1, "range">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

def STG_ContextAttr : STG_Attr<"Context", "context"> {
  let summary = "how attention is executed whose tokens are divided among devices";
  let description = [{
    The queries of one device see the keys of others by `all_gather` (keys and values are
    gathered), `a2a` (Ulysses: all-to-alls divide heads instead of tokens), `p2p` (a ring,
    in which keys and values go around), `gather_p2p` (keys and values are gathered, blocks
    are those of a ring, and gradients of keys and values go around it), `query_p2p` (a ring
    of queries, forward only) or `auto_p2p` (a ring of queries, or of keys and values, whichever
    has fewer bytes). Each device has a balanced share of the tokens,
    `zigzag`, as Megatron-LM deals them out, so that queries see half of the keys under a
    causal mask, or with `range` one range of them. On one device the axes follow that divide
    the tokens, the fastest one first.

    ```mlir
    %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<p2p zigzag>} : !q, !k, !k
    %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<p2p zigzag over ["cp"]>} : !q, !k, !k
    ```
    Constraints: (C1) the axes are distinct names, at least one.
  }];
  let parameters = (ins "::stg::KeyExchange":$exchange,
                        "::stg::TokenShare":$tokens,
                        OptionalParameter<"::mlir::ArrayAttr">:$axes);
  let assemblyFormat = "`<` $exchange $tokens (`over` $axes^)? `>`";
  let genVerifyDecl = 1;
}

def STG_RequestsAttr : STG_Attr<"Requests", "requests"> {
  let summary = "the requests whose tokens are packed into a row";
  let description = [{
    Of each its new tokens and those that are cached, and, if it is not 1, of how many of
    its last tokens logits are wanted; a number before says how many such requests there
    are, or an expression in brackets, where that is another one on each device. What
    follows tokens one by one is executed once on all new tokens of a row, only
    attention works request by request.

    ```mlir
    #stg.requests<2 * (1, 4095), (512, 0), (5, 1024, 5)>
    #stg.requests<[n] * (1, 4095), (512, 0)>
    ```
    Constraints: (C1) there is a request; (C2) each is there at least once.
  }];
  let parameters = (ins ArrayRefParameter<"::stg::SymExpr">:$counts,
                        ArrayRefParameter<"::stg::SymExpr">:$newTokens,
                        ArrayRefParameter<"::stg::SymExpr">:$cachedTokens,
                        ArrayRefParameter<"::stg::SymExpr">:$logits);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The sum over all requests of what `get` makes of one: of its new tokens and
    /// of those that are cached.
    ::stg::SymExpr getSum(::llvm::function_ref<::stg::SymExpr(
        ::stg::SymExpr newTokens, ::stg::SymExpr cachedTokens)> get) const;
    ::stg::SymExpr getNumNew() const;
    ::stg::SymExpr getNumCached() const;
    ::stg::SymExpr getNumLogits() const;
  }];
}

def STG_DrawsAttr : STG_Attr<"Draws", "draws"> {
  let summary = "how many slices a row draws at random";
  let description = [{
    What an operand has slices of, such as the experts of a layer, is chosen at random: each
    row of tokens draws so many of all of them, equally likely, and a slice that nobody has
    drawn is not read.

    ```mlir
    %h = stg.einsum "xcd,xdf->xcf" %e, %w {draws = #stg.draws<A of X>} : !e, !w
    ```
  }];
  let parameters = (ins "::stg::SymExpr":$chosen, "::stg::SymExpr":$among);
  let assemblyFormat = "`<` custom<Expr>($chosen) `of` custom<Expr>($among) `>`";
}

def STG_RecomputePolicy
    : I32EnumAttr<"RecomputePolicy", "what backward replays of a repeat", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Selective", 1, "selective">,
    I32EnumAttrCase<"Full", 2, "full">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_RecomputePolicyAttr
    : EnumAttr<STG_Dialect, STG_RecomputePolicy, "recompute">;

def STG_Phase : I32EnumAttr<"Phase", "part of the step that an op belongs to", [
    I32EnumAttrCase<"Forward", 0, "fwd">,
    I32EnumAttrCase<"Recompute", 1, "recompute">,
    I32EnumAttrCase<"Backward", 2, "bwd">,
    I32EnumAttrCase<"GradSync", 3, "grad_sync">,
    I32EnumAttrCase<"Optimizer", 4, "opt">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

/// `part`: of an op that was decomposed, told from the others by what it is. From
/// `first` on: a block or a message of a ring.
def STG_Role : I32EnumAttr<"Role", "which of several ops of one origin it is", [
    I32EnumAttrCase<"Dx", 0, "dx">, I32EnumAttrCase<"Dw", 1, "dw">,
    I32EnumAttrCase<"Db", 2, "db">, I32EnumAttrCase<"Dlhs", 3, "dlhs">,
    I32EnumAttrCase<"Drhs", 4, "drhs">, I32EnumAttrCase<"Add", 5, "add">,
    I32EnumAttrCase<"Accumulate", 6, "accumulate">,
    I32EnumAttrCase<"Shared", 7, "shared">,
    I32EnumAttrCase<"Cast", 8, "cast">,
    I32EnumAttrCase<"CastWeight", 9, "cast_weight">,
    I32EnumAttrCase<"CastGradient", 10, "cast_gradient">,
    I32EnumAttrCase<"CastParameter", 11, "cast_parameter">,
    I32EnumAttrCase<"Replicas", 12, "replicas">,
    I32EnumAttrCase<"Part", 13, "part">,
    I32EnumAttrCase<"First", 14, "first">, I32EnumAttrCase<"Own", 15, "own">,
    I32EnumAttrCase<"Keys", 16, "keys">,
    I32EnumAttrCase<"Gradients", 17, "gradients">,
    I32EnumAttrCase<"Block", 18, "block">, I32EnumAttrCase<"Last", 19, "last">,
    I32EnumAttrCase<"Farthest", 20, "farthest">,
    I32EnumAttrCase<"Tail", 21, "tail">, I32EnumAttrCase<"State", 22, "state">,
    I32EnumAttrCase<"Rest", 23, "rest">,
    I32EnumAttrCase<"Repeated", 24, "repeated">,
    I32EnumAttrCase<"Queries", 25, "queries">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

def STG_OriginAttr : STG_Attr<"Origin", "origin"> {
  let summary = "the op of the model that an op comes from, its phase and role";
  let description = [{
    The name is that of an op of the model, unique in its scope; what is derived from that
    op has it too. The phase is the part of the step, `fwd`, `recompute`, `bwd`, `grad_sync`
    or `opt`; an op without one has the phase of the op around it. The role tells apart
    several ops of one name and phase: `dx`, `dw`, ... Together they are the name of the
    node, `NAME.PHASE.ROLE`. Ops of this dialect write it behind their attributes,
    others as a discardable attribute.

    ```mlir
    %dw = stg.einsum "bd,bf->df" %x, %dy {into = f32} <"up" bwd dw> : !x, !y
    %y = test.op %x {stg.origin = #stg.origin<"up" fwd>} : !x
    ```
    Constraints: (C1) there is a name, a phase or a role; (C2) the name is not empty.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::StringAttr">:$name,
    OptionalParameter<"std::optional<::stg::Phase>">:$phase,
    OptionalParameter<"std::optional<::stg::Role>">:$role);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses what follows the opening bracket.
    static ::mlir::Attribute parseRest(::mlir::AsmParser &parser);
  }];
}

def STG_TaskKind : I32EnumAttr<"TaskKind", "what a task of a schedule is", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"BackwardInput", 2, "backward_input">,
    I32EnumAttrCase<"BackwardWeight", 3, "backward_weight">,
    I32EnumAttrCase<"Step", 4, "step">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

def STG_TaskAttr : STG_Attr<"Task", "task"> {
  let summary = "what a function is that devices call as a task of a schedule";
  let description = [{
    `forward` and `backward` are one micro-batch of one stage, `backward_input` and
    `backward_weight` the halves of a backward task, `step` is what a device does once. The
    first `sends` results go to other stages; the others are saved for another task
    (`saves`) or are gradients. A `variant` executes the nodes of another task, by the same
    names.

    ```mlir
    func.func private @stage0.forward(...) attributes {stg.task = #stg.task<forward, sends = 1, saves>}
    ```
    Constraints: (C1) `sends` is at least 0.
  }];
  let parameters = (ins "::stg::TaskKind":$kind, "int64_t":$sends,
                        "bool":$saves, "bool":$variant);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def STG_CoordinatesAttr : STG_Attr<"Coordinates", "coordinates"> {
  let summary = "which devices execute a function: their coordinates on mesh axes";
  let description = [{
    ```mlir
    func.func @f.device0() attributes {stg.coordinates = #stg.coordinates<pp = 0>}
    ```
    Constraints: (C1) an axis occurs at most once; (C2) no coordinate is negative.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$coordinates);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// By axis, as `chakra.graph` has them.
    ::mlir::DictionaryAttr getDictionary() const;
  }];
}

def STG_ProgramAttr : STG_Attr<"Program", "program", [
    DeclareAttrInterfaceMethods<SymbolUserAttrInterface>]> {
  let summary = "the program that a function is part of, and the mesh that runs it";
  let description = [{
    Functions of a module with one mesh say nothing. Where there are several programs, each
    with its own mesh, each function says its own; a private one that does not is a block
    that programs share until it is inlined.

    ```mlir
    stg.mesh @decode_mesh <dp = 8 : data>
    func.func @decode(...) attributes {stg.program = #stg.program<"decode" on @decode_mesh>}
    ```
    Constraints: (C1) the mesh is declared; (C2) the function calls no function of another
    program.
  }];
  let parameters = (ins "::mlir::StringAttr":$program,
                        "::mlir::FlatSymbolRefAttr":$mesh);
  let assemblyFormat = "`<` $program `on` $mesh `>`";
}

def STG_GradientAttr : STG_Attr<"Gradient", "gradient"> {
  let summary = "the parameter that a function's result is the gradient of";
  let description = [{
    The names of the repeats around it, outermost first, and its own.

    ```mlir
    func.func @f(%x: !x) -> (!y, !dw {stg.gradient = #stg.gradient<"layers", "w">})
    ```
    Constraints: (C1) there is a name, and none is empty.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$path);
  let assemblyFormat = "`<` $path `>`";
  let genVerifyDecl = 1;
}

/// The origin as an op's attribute: none, if builders are given none.
def STG_Origin : Attr<CPred<"::llvm::isa<::stg::OriginAttr>($_self)">,
                      "origin"> {
  let storageType = "::stg::OriginAttr";
  let returnType = "::stg::Origin";
  let convertFromStorage = "::stg::Origin::get($_self)";
  let constBuilderCall = "($0).getAttr($_builder.getContext())";
  let defaultValue = "::stg::Origin()";
  let isOptional = 1;
}

def STG_ShardingAttr : STG_Attr<"Sharding", "sharding"> {
  let summary = "the mesh axes that each dimension of a tensor is sharded over";
  let description = [{
    One list of axes per dimension, major to minor, and the axes over which the
    tensor is a partial sum: the full value is the sum over the devices along
    those axes. Printed inline in `!stg.tensor`; stands alone only where a
    sharding has no tensor.

    Constraints: (C1) an axis occurs at most once.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::ArrayAttr">:$dimAxes,
    "::mlir::ArrayAttr":$partialAxes,
    "::stg::ReduceKind":$partialKind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if no dimension is sharded and nothing is partial.
    bool isTrivial() const;
    /// True if a dimension is sharded over the axis.
    bool shardsOver(::mlir::StringAttr axis) const;
    /// True if a dimension is sharded over the axis or it is partial.
    bool uses(::mlir::StringAttr axis) const;
  }];
}

def STG_RuleScope : I32EnumAttr<"RuleScope", "which values a sharding rule is for", [
    I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Param", 1, "param">,
    I32EnumAttrCase<"Input", 2, "input">, I32EnumAttrCase<"Stream", 3, "stream">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

def STG_RuleAttr : STG_Attr<"Rule", "rule"> {
  let summary = "a named dimension is sharded over a mesh axis";
  let description = [{
    `#stg.rule<H : tp>` shards the dimensions of that name over the axis: those of
    parameters, of function arguments and of values that a `stg.repeat` carries. A scope
    restricts it to one of them: `#stg.rule<S : tp @ stream>` is for carried values only
    (the residual stream), `@ param` for parameters, `@ input` for arguments.
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "::mlir::StringAttr":$axis,
                        DefaultValuedParameter<"::stg::RuleScope",
                                               "::stg::RuleScope::All">:$scope);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Reads `DIM:AXIS` or `DIM:AXIS@SCOPE`, as flags write it.
    static ::llvm::Expected<RuleAttr> parseText(::mlir::MLIRContext *context,
                                                ::llvm::StringRef text);
    /// `DIM:AXIS@SCOPE`
    std::string str() const;
    /// Without `#stg.rule`: `DIM : AXIS @ SCOPE`.
    static ::mlir::FailureOr<RuleAttr> parseBare(::mlir::AsmParser &parser);
    void printBare(::mlir::AsmPrinter &printer) const;
    /// True if the rule is for values of that scope.
    bool covers(::stg::RuleScope value) const {
      return getScope() == ::stg::RuleScope::All || getScope() == value;
    }
  }];
}

def STG_RuleArrayAttr : TypedArrayAttrBase<STG_RuleAttr, "sharding rules">;

def STG_LayoutAttr : STG_Attr<"Layout", "layout", [
    DeclareAttrInterfaceMethods<SymbolUserAttrInterface>]> {
  let summary = "what devices have of a value at the local level";
  let description = [{
    For each mesh axis, what the devices along it have. What is not listed is whole:

    | written | devices along the axis have |
    |---|---|
    | | the same |
    | `tp : 1` | shards of dimension 1 |
    | `dp : flat` | flat shards; the dimensions of other axes are those of the tensor that they are shards of |
    | `tp : sum`, `tp : max` | parts of a sum or maximum |
    | `cp : unknown` | something else |

    Parameters have it as `layout`, arguments of functions as `stg.layout`; that of any
    other value follows from the ops. Without it nothing is known of a value. Axes with the
    role `pipeline` are not listed: their devices execute different programs.

    ```mlir
    %w = stg.param "up" {layout = #stg.layout<tp : 1>} : !stg.tensor<[D, F/tp], bf16>
    func.func @f(%x: !stg.tensor<[B/dp, S], i32> {stg.layout = #stg.layout<dp : 0>})
    ```
    Constraints: (C1) an axis is listed once; (C2) axes are axes of the mesh, and
    dimensions are dimensions of the tensor.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"::stg::AxisState">:$states);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What is said of the axis: whole if nothing is.
    ::stg::AxisState getState(::mlir::StringAttr axis) const;
  }];
}

/// A layout as an op's attribute: none, if builders are given none.
def STG_Layout : Attr<CPred<"::llvm::isa<::stg::LayoutAttr>($_self)">,
                      "layout"> {
  let storageType = "::stg::LayoutAttr";
  let returnType = "::stg::LayoutAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
  let defaultValue = "::stg::LayoutAttr()";
  let isOptional = 1;
}

def STG_FactorsAttr : STG_Attr<"Factors", "factors", [
    DeclareAttrInterfaceMethods<SymbolUserAttrInterface>]> {
  let summary = "mesh axes that an op computes its factors over";
  let description = [{
    The factors of an op's sharding rule that are sharded, sorted by name, each with its axes,
    major to minor. All ops with a sharding rule have it as `factors`; one of another dialect
    that does not declare it carries the discardable attribute `stg.factors`.

    `--stg-propagate-shardings` writes it. What is written before that is a claim:
    `factors = #stg.factors<h : cp>` on an attention op says that heads are to be computed
    over `cp`, whatever the tensors say, and all-to-alls bring them there. A claim is entered
    when all rules have been propagated, if the op does not compute another factor over the
    axis.

    ```mlir
    %h = stg.einsum "bd,df->bf" %x, %w {factors = #stg.factors<b : (dp, cp), f : tp>} : !x, !w
    ```
    Constraints: (C1) a factor is named once, and has an axis; (C2) an axis occurs once;
    (C3) the axes are axes of the mesh.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$factors,
                        ArrayRefParameter<"::mlir::ArrayAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    using Entry = std::pair<::mlir::StringAttr, ::mlir::ArrayAttr>;
    /// With the factors in their order; null if there are none.
    static FactorsAttr get(::mlir::MLIRContext *context,
                           ::llvm::SmallVector<Entry> entries);
    /// The axes of the factor; null if it is not sharded.
    ::mlir::ArrayAttr lookup(::llvm::StringRef factor) const;
  }];
}

/// Factors as an op's attribute: none, if builders are given none.
def STG_Factors : Attr<CPred<"::llvm::isa<::stg::FactorsAttr>($_self)">,
                       "the mesh axes of factors"> {
  let storageType = "::stg::FactorsAttr";
  let returnType = "::stg::FactorsAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
  let defaultValue = "::stg::FactorsAttr()";
  let isOptional = 1;
}

#endif // STG_DIALECT_STG_IR_STGATTRS
