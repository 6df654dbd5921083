// Keys that are selected: what attention to them costs, forward and backward, and what selects them.
// Of 64 tokens each sees 8 keys at most: 8*9/2 + 56*8 = 484 pairs of 2080. The scores of all pairs are
// computed, of 2 heads with 16 elements, 2*(2*16 + 3) + 1 = 71 operations each. On each of two ranks
// attention has 2 heads of 32 elements, and the keys of all are selected.
// RUN: stg-opt %s --stg-bind="B=4 S=64" --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

// CHECK: chakra.comp "index.fwd"({{.*}}) ops(590720)
// CHECK: chakra.comp "attention.fwd"({{.*}}) ops(495616) matrix bytes(141312)
// CHECK: chakra.comp "attention.bwd"({{.*}}) ops(991232)
// CHECK-NOT: "index{{[a-z_]*}}.bwd

// A step of inference keeps what scores are made of. Of 64 keys and values, each of 512 bytes, 8 are
// read, for 8 pairs; of 32, 16 by two new tokens.
// RUN: stg-opt %s --stg-inference="cached=63" --stg-bind="B=4 S=1" --stg-name-ops --stg-apply-preset="tp=2" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=ONE
// RUN: stg-opt %s --stg-inference="cached=30" --stg-bind="B=4 S=2" --stg-name-ops --stg-apply-preset="tp=2" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=TWO
// ONE: chakra.comp "index.fwd"({{.*}}) ops(18176)
// ONE: chakra.comp "attention.fwd"({{.*}}) ops(8192) matrix bytes(9376)
// TWO: chakra.comp "index.fwd"({{.*}}) ops(17892)
// TWO: chakra.comp "attention.fwd"({{.*}}) ops(16384) matrix bytes(18752)

// A list of requests: three see 8 of 64 keys, two tokens of the fourth 7 and 8 of 8, all of which they
// read once.
// RUN: stg-opt %s --stg-inference="requests=3*(1,63),(2,6)" --stg-bind="B=1 S=5" --stg-name-ops --stg-apply-preset="tp=2" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=LIST
// LIST: chakra.comp "index.fwd"({{.*}}) ops(14697)
// LIST: chakra.comp "attention.fwd"({{.*}}) ops(9984) matrix bytes(9672)

// Where a rank has some of the tokens it is not known which keys these see.
// RUN: not stg-opt %s --stg-bind="B=4 S=64" --stg-name-ops --stg-apply-preset="cp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives 2>&1 | FileCheck %s --check-prefix=CP
// CP: error: 'stg.attention' op has selected keys, and its tokens are divided over ["cp"]: what each device sees of it is not known

stg.symbol @B
stg.symbol @S
stg.symbol @V
stg.symbol @D
stg.symbol @H
stg.symbol @E
!ids = !stg.tensor<[B, S], i32>
!x = !stg.tensor<[B, S, D = 16], bf16>
!w = !stg.tensor<[D = 16, H = 4, E = 32], bf16>
!q = !stg.tensor<[B, S, H = 4, E = 32], bf16>
!iw = !stg.tensor<[D = 16, 2, 16], bf16>
!iq = !stg.tensor<[B, S, 2, 16], bf16>
!s = !stg.tensor<[B, S, 8], i32>
func.func @f(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "table" : !stg.tensor<[V = 32, D = 16], bf16>
  %x = stg.embedding %table, %tokens : !stg.tensor<[V = 32, D = 16], bf16>, !ids
  %wq = stg.param "q_proj" : !w
  %q = stg.einsum "bsd,dhe->bshe" %x, %wq : !x, !w
  %wk = stg.param "k_proj" : !w
  %k = stg.einsum "bsd,dhe->bshe" %x, %wk : !x, !w
  %wv = stg.param "v_proj" : !w
  %v = stg.einsum "bsd,dhe->bshe" %x, %wv : !x, !w
  %wi = stg.param "index_q_proj" {frozen} : !iw
  %iq = stg.einsum "bsd,dhe->bshe" %x, %wi : !x, !iw
  %wj = stg.param "index_k_proj" {frozen} : !stg.tensor<[D = 16, 16], bf16>
  %ik = stg.einsum "bsd,de->bse" %x, %wj : !x, !stg.tensor<[D = 16, 16], bf16>
  %ww = stg.param "index_weights" {frozen} : !stg.tensor<[D = 16, 2], bf16>
  %iweights = stg.einsum "bsd,dh->bsh" %x, %ww : !x, !stg.tensor<[D = 16, 2], bf16>
  %s = stg.select_keys 8 %iq, %ik, %iweights <"index"> : !iq, !stg.tensor<[B, S, 16], bf16>, !stg.tensor<[B, S, 2], bf16>
  %a, %lse = stg.attention causal %q, %k, %v, %s <"attention"> : !q, !q, !q, !s
  %wo = stg.param "o_proj" : !stg.tensor<[H = 4, E = 32, V = 32], bf16>
  %l = stg.einsum "bshe,hev->bsv" %a, %wo : !q, !stg.tensor<[H = 4, E = 32, V = 32], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels : !stg.tensor<[B, S, V = 32], bf16>, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
