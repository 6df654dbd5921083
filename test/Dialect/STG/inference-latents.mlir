// RUN: stg-opt %s --stg-inference="mla-form=naive" | FileCheck %s --check-prefix=NAIVE
// RUN: stg-opt %s --stg-inference="mla-form=absorbed kv-type=f8E4M3FN" | FileCheck %s --check-prefix=ABSORBED
// RUN: stg-opt %s --stg-inference="mla-form=by-request requests=3*(1,9),(4,0)" | FileCheck %s --check-prefix=BOTH
// RUN: stg-opt %s --stg-inference="cached=0 values=H=16,R=512,N=128,E=64,V=128,B=1,S=1" | FileCheck %s --check-prefix=FORM --implicit-check-not=absorb
// RUN: stg-opt %s --stg-inference="cached=100000 values=H=16,R=512,N=128,E=64,V=128,B=1,S=170" | FileCheck %s --check-prefix=ABSORBED-FORM
// RUN: stg-opt %s --stg-inference="cached=100000 values=H=16,R=512,N=128,E=64,V=128,B=1,S=171" | FileCheck %s --check-prefix=FORM --implicit-check-not=absorb
// RUN: stg-opt %s --pass-pipeline="builtin.module(stg-narrow-products{outside=true},stg-inference{mla-form=absorbed})" | FileCheck %s --check-prefix=NARROW
// RUN: stg-opt %s --pass-pipeline="builtin.module(stg-narrow-products{outside=true},stg-inference{mla-form=naive})" | FileCheck %s --check-prefix=NARROW-NAIVE

// What is kept has no heads: the normalized latent and the rotary key. Keys and values of all
// tokens are made of them again.
//
// NAIVE: %[[N:.*]], %{{.*}} = stg.rms_norm
// NAIVE: %[[R:.*]] = stg.rope
// NAIVE-DAG: %[[NC:.*]] = stg.cache "attention.norm" %[[N]] <"attention.norm" fwd> : !stg.tensor<[B, S, R], bf16> -> !stg.tensor<[B, S = S + cached, R], bf16>
// NAIVE-DAG: %[[RC:.*]] = stg.cache "attention.rope" %[[R]] <"attention.rope" fwd> : !stg.tensor<[B, S, E], bf16> -> !stg.tensor<[B, S = S + cached, E], bf16>
// NAIVE-NOT: stg.cache
// NAIVE: %[[KV:.*]] = stg.einsum "bsr,rhe->bshe" %[[NC]], %{{.*}} <"b" fwd> : !stg.tensor<[B, S = S + cached, R], bf16>, !stg.tensor<[R, H, N + V], bf16>
// NAIVE: %[[P:.*]]:2 = stg.split dim 3 %[[KV]]
// NAIVE: %[[H:.*]] = stg.broadcast dim 2 %[[RC]]
// NAIVE: %[[KEYS:.*]] = stg.concat dim 3 %[[P]]#0, %[[H]]
// NAIVE: stg.attention causal %{{.*}}, %[[KEYS]], %[[P]]#1

// Products are with queries and with the output; the weights are two. The head of the
// latents is for all query heads.
//
// ABSORBED: %[[NC:.*]] = stg.cache "attention.norm" {{.*}} -> !stg.tensor<[B, S = S + cached, R], f8E4M3FN>
// ABSORBED: %[[RC:.*]] = stg.cache "attention.rope"
// ABSORBED: %[[Q:.*]]:2 = stg.split dim 3 %{{.*}} : !stg.tensor<[B, S, H, E + N], bf16> -> !stg.tensor<[B, S, H, N], bf16>, !stg.tensor<[B, S, H, E], bf16>
// ABSORBED: %[[QA:.*]] = stg.einsum "bshe,rhe->bshr" %[[Q]]#0, %{{.*}} <"attention.absorb_q" fwd> : !stg.tensor<[B, S, H, N], bf16>, !stg.tensor<[R, H, N], bf16>
// ABSORBED: %[[QJ:.*]] = stg.concat dim 3 %[[QA]], %[[Q]]#1
// ABSORBED: %[[L:.*]] = stg.concat dim 2 %[[NC]], %[[RC]]
// ABSORBED: %[[KA:.*]] = stg.broadcast dim 2 %[[L]] {{.*}} -> !stg.tensor<[B, S = S + cached, 1, E + R], f8E4M3FN>
// ABSORBED: %[[VA:.*]] = stg.broadcast dim 2 %[[NC]]
// ABSORBED: %[[O:.*]], %{{.*}} = stg.attention causal %[[QJ]], %[[KA]], %[[VA]] <"attention" fwd>
// ABSORBED: stg.einsum "bshr,rhe->bshe" %[[O]], %{{.*}} <"attention.absorb_v" fwd> : !stg.tensor<[B, S, H, R], bf16>, !stg.tensor<[R, H, V], bf16>

// Requests with one new token are absorbed, those with more are not. They have one cache.
//
// BOTH: %[[NC:.*]] = stg.cache "attention.norm" {{.*}} : !stg.tensor<[B, S, R], bf16> -> !stg.tensor<[B, S + 27, R], bf16>
// BOTH: %[[N:.*]]:2 = stg.split dim 1 ordered %[[NC]] <"attention.requests" fwd> : !stg.tensor<[B, S + 27, R], bf16> -> !stg.tensor<[B, S = 30, R], bf16>, !stg.tensor<[B, S - 3, R], bf16>
// BOTH: %[[RC:.*]] = stg.cache "attention.rope"
// BOTH: %[[R:.*]]:2 = stg.split dim 1 ordered %[[RC]]
// BOTH-NOT: stg.cache
// BOTH: stg.concat dim 2 %[[N]]#0, %[[R]]#0 <"attention.latents" fwd>
// BOTH: stg.attention causal {{.*}} {requests = #stg.requests<3 * (1, 9)>} <"attention.absorbed" fwd>
// BOTH: stg.einsum "bsr,rhe->bshe" %[[N]]#1
// BOTH: stg.einsum "bsr,rhe->bshe" %[[N]]#1
// BOTH: stg.attention causal {{.*}} {requests = #stg.requests<(4, 0)>} <"attention" fwd>
// BOTH: stg.concat dim 1 ordered %{{.*}}, %{{.*}} <"attention.requests" fwd> : {{.*}} -> !stg.tensor<[B, S, H, V], bf16>

// Without cached tokens there is nothing to expand again; with many, 171 new ones are worth it.
//
// FORM: stg.attention
// ABSORBED-FORM: <"attention.absorb_q" fwd>

// Products of linear layers in 8 bits: what is kept is as it is made, and what is absorbed is no
// linear layer.
//
// NARROW: stg.cache "attention.norm" {{.*}} : !stg.tensor<[B, S, R], bf16> -> !stg.tensor<[B, S = S + cached, R], bf16>
// NARROW: stg.einsum "bshe,rhe->bshr" {{.*}} <"attention.absorb_q" fwd> : !stg.tensor<[B, S, H, N], bf16>, !stg.tensor<[R, H, N], bf16>
// NARROW: stg.attention causal
// NARROW: stg.einsum "bshr,rhe->bshe" {{.*}} <"attention.absorb_v" fwd> : !stg.tensor<[B, S, H, R], bf16>, !stg.tensor<[R, H, V], bf16>
//
// NARROW-NAIVE: %[[NC:.*]] = stg.cache "attention.norm" {{.*}} : !stg.tensor<[B, S, R], bf16> -> !stg.tensor<[B, S = S + cached, R], bf16>
// NARROW-NAIVE: %[[N8:.*]] = stg.cast %[[NC]] {{.*}} : !stg.tensor<[B, S = S + cached, R], bf16> -> !stg.tensor<[B, S = S + cached, R], f8E4M3FN>
// NARROW-NAIVE: stg.einsum "bsr,rhe->bshe" %[[N8]], %{{.*}} {into = bf16} <"b" fwd> : !stg.tensor<[B, S = S + cached, R], f8E4M3FN>, !stg.tensor<[R, H, N + V], f8E4M3FN>

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @R
stg.symbol @N
stg.symbol @E
stg.symbol @V
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, N + E], bf16>
!v = !stg.tensor<[B, S, H, V], bf16>
!c = !stg.tensor<[B, S, R], bf16>
!r = !stg.tensor<[B, S, E], bf16>
func.func @latent(%x: !x, %q: !q) -> !v {
  %wa = stg.param "a" : !stg.tensor<[D, R + E], bf16>
  %a = stg.einsum "bsd,dr->bsr" %x, %wa <"a"> : !x, !stg.tensor<[D, R + E], bf16>
  %c, %p = stg.split dim 2 %a <"parts"> : !stg.tensor<[B, S, R + E], bf16> -> !c, !r
  %wn = stg.param "n" : !stg.tensor<[R], bf16>
  %n, %rstd = stg.rms_norm %c, %wn <"norm"> : !c, !stg.tensor<[R], bf16>
  %wb = stg.param "b" : !stg.tensor<[R, H, N + V], bf16>
  %kv = stg.einsum "bsr,rhe->bshe" %n, %wb <"b"> : !c, !stg.tensor<[R, H, N + V], bf16>
  %k, %v = stg.split dim 3 %kv <"kv"> : !stg.tensor<[B, S, H, N + V], bf16> -> !stg.tensor<[B, S, H, N], bf16>, !v
  %r = stg.rope %p <"rope"> : !r
  %h = stg.broadcast dim 2 %r <"heads"> : !r -> !stg.tensor<[B, S, H, E], bf16>
  %keys = stg.concat dim 3 %k, %h <"keys"> : !stg.tensor<[B, S, H, N], bf16>, !stg.tensor<[B, S, H, E], bf16> -> !q
  %o, %lse = stg.attention causal %q, %keys, %v <"attention"> : !q, !q, !v
  return %o : !v
}
