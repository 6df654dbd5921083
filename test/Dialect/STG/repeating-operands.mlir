// Operands of pointwise ops that repeat themselves along dimensions of extent 1: the gradient is the
// sum along these, and a share of a dimension that is 1 is not one.
//
// RUN: stg-opt %s -split-input-file | stg-opt -split-input-file | FileCheck %s
// RUN: stg-opt %s -split-input-file --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: stg-opt %s -split-input-file --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2 tp=2 rules=S:tp" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=TOKENS

stg.symbol @B
stg.symbol @S
stg.symbol @D
!x = !stg.tensor<[B, S, D], bf16>
!row = !stg.tensor<[B, 1, D], bf16>

// CHECK-LABEL: func.func @gate
// CHECK: stg.mul %{{.*}}, %{{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, 1, D], bf16>
// CHECK: stg.add %{{.*}}, %{{.*}} : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S, D], bf16>

// COST: chakra.comp "mul.fwd"({{.*}}) ops(B*D*S) bytes(4*B*D*S + 2*B*D) phase "fwd"
// COST: chakra.comp "add.fwd"({{.*}}) ops(B*D*S) bytes(4*B*D*S + 2*B*D) phase "fwd"
// The sum, and no other node: a dimension of extent 1 is a view.
// COST: chakra.comp "add.bwd.repeated"({{.*}}) ops(B*D*S) bytes(2*B*D*S + 2*B*D)
// COST: chakra.comp "mul.bwd.drhs"({{.*}}) ops(B*D*S) bytes(6*B*D*S)
// COST: chakra.comp "mul.bwd.repeated"({{.*}}) ops(B*D*S) bytes(2*B*D*S + 2*B*D)

// Each device has some tokens, and so a part of the sum.
// TOKENS: chakra.comp "mul.fwd"({{.*}}) ops(B*D*S/4) bytes(B*D*S + B*D) phase "fwd"
// TOKENS: chakra.comp "mul.bwd.repeated"({{.*}}) ops(B*D*S/4)
// TOKENS: chakra.coll all_reduce {{.*}} over ["tp"]
func.func @gate(%x: !x, %c: !row) -> !x {
  %w = stg.param "w" : !stg.tensor<[D], bf16>
  %g = stg.einsum "btd,d->btd" %c, %w <"gate"> : !row, !stg.tensor<[D], bf16>
  %y = stg.mul %x, %g : !x, !row
  %z = stg.add %g, %y : !row, !x
  %o = stg.activation silu %z : !x
  return %o : !x
}
