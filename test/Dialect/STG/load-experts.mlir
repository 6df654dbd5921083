// Experts with different loads: a device has as many rows as its own experts get, in
// forward and backward; the sizes of the exchanges are those of the most loaded device.
//
// RUN: stg-opt %s --stg-autodiff --stg-apply-preset="dp=8 ep=4 cp=2" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives -o %t.mlir
// RUN: stg-opt %t.mlir --stg-load-experts="loads=5,2,0,1" | FileCheck %s
// RUN: stg-opt %t.mlir --stg-load-experts="loads=5,2,0,1 clip" | FileCheck %s --check-prefix=CLIP
// Equal loads are what there was; devices do not differ.
// RUN: stg-opt %t.mlir --stg-load-experts="loads=3,3,3,3" --stg-bind="B=8 S=16 D=8 F=16 X=4 A=2" | FileCheck %s --check-prefix=EQUAL

// Experts that are not divided have all rows.
// RUN: stg-opt %s --stg-apply-preset="dp=8" --stg-propagate-shardings --stg-insert-collectives --stg-load-experts="loads=5,2,0,1" | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: coordinate

// Numbers may be bound before or after.
// RUN: stg-opt %t.mlir --stg-bind="B=8 S=16 D=8 F=16 X=4 A=2" --stg-load-experts="loads=5,2,0,1" -o %t.first.mlir
// RUN: stg-opt %t.mlir --stg-load-experts="loads=5,2,0,1" --stg-bind="B=8 S=16 D=8 F=16 X=4 A=2" -o %t.last.mlir
// RUN: diff %t.first.mlir %t.last.mlir
// RUN: FileCheck %s --check-prefix=BOUND < %t.first.mlir

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @X
stg.symbol @A

!x = !stg.tensor<[B, S, D], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>
!hidden = !stg.tensor<[X, A*B*S/X, F], bf16>

// A tensor that is as large as a device's buffers is none if it has other names.
//
// CHECK: stg.symbol @ep_index coordinate "ep"
// CHECK: func.func @f({{.*}}, %{{.*}}: !stg.tensor<[Y = X/4, R = A*B*S/(4*X)], bf16> {stg.layout = #stg.layout<>})
// BOUND: func.func @f({{.*}}, %{{.*}}: !stg.tensor<[Y = 1, R = 16], bf16> {stg.layout = #stg.layout<>})

// The tokens of a group of ep make A*B*S/4 rows: 5/8 of them are the first device's, 1/8
// are the last one's. The tokens' side stays as it is.
//
// CHECK: stg.all_to_all from 1 to 0 over ["ep"] %{{[^ ]*}} {payload = #sym.expr<2*D*max([[MOST:.*]])>} <{{.*}}> : !stg.tensor<[X, A*B*S/(16*X), D], bf16> -> !stg.tensor<[X/4, [[ROWS:.*ep_index.*]], D], bf16>
// CHECK: stg.einsum "xcd,xdf->xcf" {{.*}} : !stg.tensor<[X/4, [[ROWS]], D], bf16>, !stg.tensor<[X/4, D, F], bf16>
// CHECK: stg.all_to_all from 0 to 1 over ["ep"] %{{[^ ]*}} {payload = #sym.expr<2*D*max([[MOST]])>} <{{.*}}> : !stg.tensor<[X/4, [[ROWS]], D], bf16> -> !stg.tensor<[X, A*B*S/(16*X), D], bf16>
// CHECK: stg.all_to_all from 1 to 0 over ["ep"] {{.*}} {payload = #sym.expr<2*D*max([[MOST]])>

// CLIP: stg.all_to_all from 1 to 0 over ["ep"] {{.*}} {payload = #sym.expr<A*B*D*S/8>} {{.*}}min(

// EQUAL: stg.all_to_all from 1 to 0 over ["ep"] {{.*}} {payload = #sym.expr<256>} <{{.*}}> : !stg.tensor<[X = 4, (A, B, S) = 4, D = 8], bf16> -> !stg.tensor<[X = 1, (A, B, S) = 16, D = 8], bf16>
func.func @f(%x: !x, %z: !stg.tensor<[Y = X/4, R = A*B*S/(4*X)], bf16>) -> !x {
  %router = stg.param "router" : !stg.tensor<[D, X], bf16>
  %logits = stg.einsum "bsd,dx->bsx" %x, %router : !x, !stg.tensor<[D, X], bf16>
  %probs = stg.softmax %logits : !stg.tensor<[B, S, X], bf16>
  %w, %choice = stg.top_k A %probs : !probs
  %rows = stg.dispatch %x, %choice : !x, !choices -> !buffers
  %up = stg.param "up" : !stg.tensor<[X, D, F], bf16>
  %h = stg.einsum "xcd,xdf->xcf" %rows, %up : !buffers, !stg.tensor<[X, D, F], bf16>
  %a = stg.activation gelu %h : !hidden
  %down = stg.param "down" : !stg.tensor<[X, F, D], bf16>
  %out = stg.einsum "xcf,xfd->xcd" %a, %down : !hidden, !stg.tensor<[X, F, D], bf16>
  %c = stg.combine %out, %choice, %w : !buffers, !choices, !weights
  %y = stg.add %x, %c : !x, !x
  return %y : !x
}
