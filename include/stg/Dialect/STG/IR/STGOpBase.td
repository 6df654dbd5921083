//===- STGOpBase.td - What ops over tensors share ----------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of ops over `!stg.tensor`. Those of another dialect can be made of them,
// too: the last parameter of a class is the dialect, and the C++ file that has the
// generated definitions includes stg/Dialect/STG/IR/STGOpBase.h.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGOPBASE
#define STG_DIALECT_STG_IR_STGOPBASE

include "stg/Dialect/STG/IR/STGBase.td"
include "stg/Dialect/STG/IR/STGAttrs.td"
include "stg/Dialect/STG/IR/STGTypes.td"
include "stg/Dialect/STG/IR/STGInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Attributes that the op does not declare have a dialect's prefix.
def STG_DeclaredAttributes : NativeOpTrait<"DeclaredAttributes"> {
  let cppNamespace = "::stg";
}

/// The parameters of the model: `stg.param` reads them, the optimizer writes them.
def STG_Parameters : Resource<"::stg::ParameterResource">;

/// What steps of inference keep: `stg.cache` reads and writes it.
def STG_Caches : Resource<"::stg::CacheResource">;

/// The op writes over the buffer of this operand, which nobody may read afterwards.
class STG_Destroys<int operand>
    : ParamNativeOpTrait<"DestroysOperand", !cast<string>(operand)> {
  let cppNamespace = "::stg";
}

/// The op is linear in each of these operands while the others stay: a partial sum may
/// be one of them, if the others are the same on all devices.
class STG_LinearIn<list<int> operands>
    : ParamNativeOpTrait<"LinearIn", !interleave(operands, ", ")> {
  let cppNamespace = "::stg";
}

class STG_Op<string mnemonic, list<Trait> traits = [],
             Dialect dialect = STG_Dialect>
    : Op<dialect, mnemonic, !listconcat([STG_DeclaredAttributes], traits)>;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// An attribute that is written before the operands, by its kind:
///
///   String "x"   Expr 2*B*S   Dimension K   Type f32   Int dim 3   Unit ordered
///   Axes over ["tp"]
///
/// `Int` and `Unit` are written with the attribute's name, `Unit` only if it is set.
class STG_Leading<string kind, string attr> {
  string name = attr;
  code parse = "::stg::detail::parse" # kind # "Leading(parser, attrs, \"" # attr
               # "\")";
  code print = "::stg::detail::print" # kind # "Leading(p, *this, \"" # attr
               # "\");";
}

/// A keyword: the case of an enum attribute of this dialect.
class STG_EnumLeading<string enum, string attr>
    : STG_Leading<"Enum", attr> {
  let parse = "::stg::detail::parseEnumLeading<::stg::" # enum
              # "Attr>(parser, attrs, \"" # attr # "\", ::stg::symbolize" # enum
              # ")";
  let print = "::stg::detail::printEnumLeading<::stg::" # enum
              # "Attr>(p, *this, \"" # attr # "\");";
}

/// Ops over tensors share one assembly, see STGOpBase.h:
///
///   stg.name LEADING %operands {attributes} <origin>
///     : operand types [-> result types]
///
/// Result types are left out where they follow from the operands.
class STG_TensorOp<string mnemonic, list<Trait> traits = [],
                   Dialect dialect = STG_Dialect>
    : STG_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<SymbolUserOpInterface>, StepOpInterface]),
        dialect> {
  /// What the op has beside its origin and its plan.
  dag args = (ins);
  /// What a plan says of the op.
  dag plan = (ins);
  let arguments = !con(args, (ins STG_Origin:$origin), plan);
  /// The attributes that are written first, in this order.
  list<STG_Leading> leading = [];
  /// Definitions that a class of ops adds.
  code moreDefinitions = "";
  /// Checks the symbols that an op of a class of ops uses.
  string verifySymbols = "::stg::detail::verifyDeclaredSymbols";
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return ::stg::detail::parseTensorOp<$cppClass>(
          parser, result,
          []([[maybe_unused]] ::mlir::OpAsmParser &parser,
             [[maybe_unused]] ::mlir::NamedAttrList &attrs)
              -> ::mlir::ParseResult {
            return ::mlir::failure(}]
              # !interleave(!listconcat(!foreach(l, leading, l.parse), ["false"]), " || ")
              # [{);
          });
    }
    void $cppClass::print(::mlir::OpAsmPrinter &p) {
      ::llvm::SmallVector<::llvm::StringRef> leading = {}]
        # !interleave(!foreach(l, leading, "\"" # l.name # "\""), ", ") # [{};
      }] # !interleave(!foreach(l, leading, l.print), " ") # [{
      ::stg::detail::printTensorOp(p, *this, leading);
    }
    ::llvm::LogicalResult $cppClass::verifySymbolUses(
        ::mlir::SymbolTableCollection &symbolTable) {
      return }] # verifySymbols # [{(*this, symbolTable);
    }
  }] # moreDefinitions;
}

/// The axes over which an op with a sharding rule computes its factors.
defvar STG_Plan = (ins STG_Factors:$factors);

class STG_Infer : InterfaceTrait<"::mlir::InferTypeOpInterface">;

/// A pure op whose result types follow from its operands and attributes.
class STG_InferredOp<string mnemonic, list<Trait> traits = [],
                     Dialect dialect = STG_Dialect>
    : STG_TensorOp<mnemonic, !listconcat([Pure, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<ShardableOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface>], traits), dialect> {
  let plan = STG_Plan;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
}

/// A pure op whose result types are written out.
class STG_ExplicitOp<string mnemonic, list<Trait> traits = [],
                     Dialect dialect = STG_Dialect>
    : STG_TensorOp<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<ShardableOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface>], traits), dialect> {
  let plan = STG_Plan;
}

/// A collective over mesh axes: among the devices that differ only in their
/// coordinates on these axes. The strings are expressions in C++ over the op, or
/// empty; an op is `coalescable` that has any number of operands.
class STG_CollectiveOp<string mnemonic, string kind, list<Trait> traits = [],
                       Dialect dialect = STG_Dialect>
    : STG_TensorOp<mnemonic, !listconcat([CollectiveOpInterface], traits),
                   dialect> {
  string reduction = "";
  string dividedBefore = "";
  string dividedAfter = "";
  bit flat = 0;
  bit coalescable = 0;
  let verifySymbols = "::stg::detail::verifyGroup";
  code moreDeclarations = "";
  let extraClassDeclaration = [{
    ::stg::CollectiveKind getCollectiveKind() {
      return ::stg::CollectiveKind::}] # kind # [{;
    }
  }] # !if(!empty(reduction), "", [{
    std::optional<::stg::ReduceKind> getReduction() { return }] # reduction # [{; }
  }]) # !if(!empty(dividedBefore), "", [{
    std::optional<int64_t> getDividedBefore() { return }] # dividedBefore # [{; }
  }]) # !if(!empty(dividedAfter), "", [{
    std::optional<int64_t> getDividedAfter() { return }] # dividedAfter # [{; }
  }]) # !if(flat, "bool isFlat() { return true; }\n", "")
      # !if(coalescable, "bool isCoalescable() { return true; }\n", "")
      # moreDeclarations;
}

/// A gradient with several results, of which those that nobody reads are not made.
def STG_MadeIfRead
    : DeclareOpInterfaceMethods<CostOpInterface, ["isMadeIfRead"]>;

def STG_Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

/// How a pointwise op is sharded and what it costs: `count` operations per element.
class STG_Pointwise<string count> {
  code rule = [{
    ::stg::ShardingRule $cppClass::getShardingRule() {
      return ::stg::detail::makePointwiseRule(*this);
    }
    ::stg::OpCost $cppClass::getCost() {
      return ::stg::detail::makePointwiseCost(*this, }] # count # [{);
    }
  }];
}

/// A pointwise op, all of it: operands and result have one shape and element type.
/// `count` is the number of operations per element, a number or an expression in C++.
/// Where `gradient` is the class of another pointwise op, that is the backward pass:
/// its operands are the op's `saved` value, Input or Result, and the gradient of the
/// result, and it has the op's attributes. Where it `broadcasts`, an operand may have an
/// extent of 1 where others have more: it repeats itself.
class STG_PointwiseOp<string mnemonic, string count, string gradient = "",
                      list<Trait> traits = [], Dialect dialect = STG_Dialect>
    : STG_InferredOp<mnemonic, !listconcat(traits,
        !if(!empty(gradient), []<Trait>, [STG_Differentiable])), dialect> {
  string saved = "Input";
  bit broadcasts = 0;
  let results = (outs STG_Tensor:$result);
  let moreDefinitions = STG_Pointwise<count>.rule # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> loc,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::stg::detail::inferPointwise(loc, adaptor.getOperands(),
                                           }] # !if(broadcasts, "true", "false")
                                           # [{, types);
    }
  }] # !if(!empty(gradient), "", [{
    ::llvm::LogicalResult $cppClass::buildGradient(
        ::stg::GradientBuilder &gradient) {
      return ::stg::detail::buildPointwiseGradient<}] # gradient # [{>(
          *this, get}] # saved # [{(), gradient);
    }
  }]);
}

#endif // STG_DIALECT_STG_IR_STGOPBASE
