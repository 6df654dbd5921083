// RUN: stg-opt %s --stg-quantize-weights=format=fp8-block --verify-roundtrip | FileCheck %s --check-prefix=BLOCK
// RUN: stg-opt %s "--stg-quantize-weights=format=mxfp4 keep=r*" | FileCheck %s --check-prefix=MX
// RUN: stg-opt %s "--stg-quantize-weights=format=mxfp4 keep=r*,nobody keep-if-there" | FileCheck %s --check-prefix=MX
// RUN: stg-opt %s --stg-quantize-weights=format=int8 --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: not stg-opt %s "--stg-quantize-weights=format=int8 keep=[" 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: error: keeps '[': invalid glob pattern
// RUN: not stg-opt %s "--stg-quantize-weights=format=int8 keep=none,o,x*" 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: error: keeps 'x*', which is the name of none of its matrices; these are {{[a-z_, ]+$}}

// Matrices of products in repeats: heads and their size are summed over together; gate and up are
// two matrices; each expert has blocks of its own. What is read otherwise stays as it is, and so do
// vectors, and what stands outside.
//
// BLOCK: stg.param "head" : !stg.tensor<[D, V], bf16>
// BLOCK: stg.param "o" : !stg.tensor<[H, E, D], !stg.scaled<f8E4M3FN scales f32 of[0, 128, 128]>>
// BLOCK: stg.param "up" : !stg.tensor<[D, 2, F], !stg.scaled<f8E4M3FN scales f32 of[128, 1, 128]>>
// BLOCK: stg.param "experts" : !stg.tensor<[X, D, F], !stg.scaled<f8E4M3FN scales f32 of[1, 128, 128]>>
// BLOCK: stg.param "router" : !stg.tensor<[D, X], !stg.scaled<f8E4M3FN scales f32 of[128, 128]>>
// BLOCK: stg.param "gate" : !stg.tensor<[D], bf16>
// BLOCK: stg.dequantize %{{.*}} <"o.dequantize"> : !stg.tensor<[H, E, D], !stg.scaled<f8E4M3FN scales f32 of[0, 128, 128]>> -> !stg.tensor<[H, E, D], bf16>
// BLOCK-NEXT: stg.einsum "bhe,hed->bd"

// MX: stg.param "o" : !stg.tensor<[H, E, D], !stg.scaled<f4E2M1FN scales f8E8M0FNU of[0, 32, 1]>>
// MX: stg.param "up" : !stg.tensor<[D, 2, F], !stg.scaled<f4E2M1FN scales f8E8M0FNU of[32, 1, 1]>>
// MX: stg.param "experts" : !stg.tensor<[X, D, F], !stg.scaled<f4E2M1FN scales f8E8M0FNU of[1, 32, 1]>>
// MX: stg.param "router" : !stg.tensor<[D, X], bf16>

// What is read are elements and scales, by the product. The node before it has an operation for
// each element.
//
// COST: chakra.state "o" : !chakra.tensor<D*E*H + 4*D, parameter>
// COST: chakra.comp "o.dequantize.fwd"(%{{.*}}) ops(D*E*H) bytes(0)
// COST-SAME: -> ()
// COST: chakra.comp "o.fwd"(%{{.*}}, %{{.*}}) ops(2*B*D*E*H) matrix bytes(2*B*D + 2*B*E*H + D*E*H + 4*D)
// COST-SAME: kernel <einsum bf16 -> bf16, [B, D, E*H, 1, D*E*H + 4*D]>

// Products of 8 bits read weights of 8 bits as they are, without a cast; four bits are widened to
// eight. What is kept is neither stored nor multiplied in few bits.
//
// RUN: stg-opt %s "--stg-narrow-products=keep=router,up,gate" "--stg-quantize-weights=format=fp8 keep=router,up" --convert-stg-to-chakra | FileCheck %s --check-prefix=NARROW --implicit-check-not=cast_weight
// RUN: stg-opt %s "--stg-narrow-products=keep=gate" "--stg-quantize-weights=format=int4" --convert-stg-to-chakra | FileCheck %s --check-prefix=FOUR --implicit-check-not=cast_weight
// RUN: not stg-opt %s "--stg-narrow-products=keep=[" 2>&1 | FileCheck %s --check-prefix=PATTERN
// NARROW: chakra.state "o" : !chakra.tensor<D*E*H + 4*D, parameter>
// NARROW: chakra.state "up" : !chakra.tensor<4*D*F, parameter>
// NARROW: chakra.comp "o.dequantize.fwd"(%{{.*}}) ops(0) bytes(0)
// NARROW: chakra.comp "o.fwd"(%{{.*}}, %{{.*}}) ops(2*B*D*E*H) matrix bytes(2*B*D + B*E*H + D*E*H + 4*D)
// NARROW-SAME: kernel <einsum f8E4M3FN -> bf16, [B, D, E*H, 1, D*E*H + 4*D]>
// NARROW: chakra.comp "up.fwd"({{.*}} kernel <einsum bf16 -> bf16, [B, 2*F, D, 1]>
// NARROW: chakra.comp "experts.fwd"({{.*}} kernel <einsum f8E4M3FN -> bf16, [B, F, D, X, D*F*X + 4*F*X]>
// FOUR: chakra.comp "o.dequantize.fwd"(%{{.*}}) ops(D*E*H) bytes(0)
// FOUR: chakra.comp "o.fwd"({{.*}} kernel <einsum f8E4M3FN -> bf16, [B, D, E*H, 1,
stg.symbol @B
stg.symbol @D
stg.symbol @E
stg.symbol @F
stg.symbol @H
stg.symbol @L
stg.symbol @V
stg.symbol @X
func.func @layers(%x: !stg.tensor<[B, D], bf16>, %a: !stg.tensor<[B, H, E], bf16>, %r: !stg.tensor<[X, B, D], bf16>) -> !stg.tensor<[B, V], bf16> {
  %head = stg.param "head" : !stg.tensor<[D, V], bf16>
  %y = stg.repeat "layers" * L carry(%h = %x : !stg.tensor<[B, D], bf16>) {
    %o = stg.param "o" : !stg.tensor<[H, E, D], bf16>
    %up = stg.param "up" : !stg.tensor<[D, 2, F], bf16>
    %experts = stg.param "experts" : !stg.tensor<[X, D, F], bf16>
    %router = stg.param "router" : !stg.tensor<[D, X], bf16>
    %gate = stg.param "gate" : !stg.tensor<[D], bf16>
    %z = stg.einsum "bhe,hed->bd" %a, %o <"o"> : !stg.tensor<[B, H, E], bf16>, !stg.tensor<[H, E, D], bf16>
    %u = stg.einsum "bd,dgf->bgf" %z, %up <"up"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, 2, F], bf16>
    %e = stg.einsum "xbd,xdf->xbf" %r, %experts <"experts"> : !stg.tensor<[X, B, D], bf16>, !stg.tensor<[X, D, F], bf16>
    %s = stg.einsum "bd,dx->bx" %z, %router <"router"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, X], bf16>
    %g = stg.einsum "bd,d->b" %z, %gate <"gate"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D], bf16>
    stg.yield %z : !stg.tensor<[B, D], bf16>
  }
  %logits = stg.einsum "bd,dv->bv" %y, %head <"head"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, V], bf16>
  return %logits : !stg.tensor<[B, V], bf16>
}
