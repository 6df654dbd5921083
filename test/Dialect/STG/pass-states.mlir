// Scans and convolutions over divided tokens: they hand on states, and become parts and messages.
//
// RUN: split-file %s %t
// RUN: stg-opt %t/scan.mlir --stg-pass-states --verify-roundtrip | FileCheck %t/scan.mlir --check-prefix=MODEL
// RUN: stg-opt %t/scan.mlir --stg-name-ops --stg-pass-states --stg-autodiff --stg-apply-preset="cp=4 tp=2" --stg-context-parallel --stg-propagate-shardings \
// RUN:   --stg-insert-collectives -o %t/local.mlir
// RUN: FileCheck %t/scan.mlir --check-prefix=LOCAL < %t/local.mlir
// RUN: stg-opt %t/local.mlir --stg-lower-recurrence | FileCheck %t/scan.mlir
// RUN: not stg-opt %t/local.mlir --convert-stg-to-chakra 2>&1 | FileCheck %t/scan.mlir --check-prefix=LATE
// RUN: not stg-opt %t/none.mlir --stg-pass-states 2>&1 | FileCheck %t/none.mlir
// RUN: not stg-opt %t/zigzag.mlir --stg-pass-states --stg-apply-preset="cp=2" --stg-context-parallel 2>&1 | FileCheck %t/zigzag.mlir
// RUN: stg-opt %t/zigzag.mlir --stg-pass-states --stg-apply-preset="cp=2" --stg-context-parallel="type=a2a" -o /dev/null
// RUN: stg-opt %t/zigzag.mlir --stg-pass-states --stg-apply-preset="cp=2" --stg-context-parallel="balance=none" -o /dev/null
// RUN: not stg-opt %t/short.mlir --stg-name-ops --stg-pass-states --stg-apply-preset="cp=4" --stg-context-parallel --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --stg-lower-recurrence 2>&1 | FileCheck %t/short.mlir
// RUN: stg-opt %t/errors.mlir -split-input-file -verify-diagnostics

//--- scan.mlir
stg.symbol @B
stg.symbol @S
stg.symbol @MH
stg.symbol @P
stg.symbol @N
stg.symbol @MG
!x = !stg.tensor<[B, S, MH, P], bf16>
!dt = !stg.tensor<[B, S, MH], bf16>
!h = !stg.tensor<[MH], bf16>
!g = !stg.tensor<[B, S, MG, N], bf16>
!w = !stg.tensor<[MH, P, 4], bf16>

// MODEL: stg.causal_conv %{{.*}} {along = []}
// MODEL: %{{.*}}, %{{.*}} = stg.ssd 8 {{.*}} {along = []}
//
// LOCAL: stg.causal_conv {{.*}}along = ["cp"]{{.*}}!stg.tensor<[B, S/4, MH/2, P], bf16>
// LOCAL: %{{.*}}, %[[START:.*]] = stg.ssd 8 {{.*}}along = ["cp"]
// LOCAL: stg.ssd_grad 8 {{.*}}, %[[START]] {along = ["cp"]}
// LOCAL-SAME: !stg.tensor<[B, MH/2, P, N], f32>
// LOCAL-NOT: all_to_all
//
// Three tokens of the convolution go on, but from the last device; the first one has zeros.
//
// CHECK: stg.repeat "conv.fwd.after" * min(-cp_index + 3, 1)
// CHECK-NEXT: stg.slice dim 1 %[[X:.*]] {from = #sym.expr<S/4 - 3>}
// CHECK-NEXT: stg.send over "cp" shift 1 channel 0 {{.*}} : !stg.tensor<[B, S = 3, MH/2, P], bf16>
// CHECK: %[[ZERO:.*]] = stg.splat 0
// CHECK: %[[TAIL:.*]] = stg.repeat "conv.fwd.before" * {{min\(1, cp_index\)|min\(cp_index, 1\)}} carry({{.*}} = %[[ZERO]]
// CHECK-NEXT: stg.recv over "cp" shift -1 channel 0
// CHECK: %[[Y:.*]] = stg.recurrence_part B*MH*P*S %[[X]], %{{.*}}, %[[TAIL]] {{.*}}<"conv" fwd>
//
// The state that is given is added to what the device has made of its own tokens, and goes on.
//
// CHECK: %[[OWN:.*]]:2 = stg.recurrence_part {{.*}}, matrix} <"scan" fwd own> {{.*}} -> !stg.tensor<[B, S/4, MH/2, P], bf16>, !stg.tensor<[B, MH/2, P, N], f32>
// CHECK: %[[START:.*]] = stg.repeat "scan.fwd.before" * {{min\(1, cp_index\)|min\(cp_index, 1\)}}
// CHECK-NEXT: stg.recv over "cp" shift -1 channel 2 <"scan" fwd state>
// CHECK: %[[LAST:.*]] = stg.recurrence_part B*MH*N*P %[[OWN]]#1, %[[START]] {completed = 1 : i64} <"scan" fwd state>
// CHECK: stg.repeat "scan.fwd.after" * min(-cp_index + 3, 1)
// CHECK-NEXT: stg.send over "cp" shift 1 channel 2 %[[LAST]]
// CHECK: stg.recurrence_part B*MH*N*P*S/4 %[[OWN]]#0, {{.*}}, %[[START]] {completed = 1 : i64, matrix} <"scan" fwd rest>
//
// Backward goes the other way. The convolution needs the first gradients of the next device.
//
// CHECK: stg.recurrence_part {{.*}}, %[[START]] {{.*}}, matrix} <"scan" bwd own>
// CHECK: stg.repeat "scan.bwd.before" * min(-cp_index + 3, 1)
// CHECK-NEXT: stg.recv over "cp" shift 1 channel 3
// CHECK: stg.repeat "scan.bwd.after" * {{min\(1, cp_index\)|min\(cp_index, 1\)}}
// CHECK-NEXT: stg.send over "cp" shift -1 channel 3
// CHECK: stg.recurrence_part B*MH*N*P*S/2 {{.*}} {completed = 6 : i64, matrix} <"scan" bwd rest>
// CHECK-COUNT-1: stg.send over "cp" shift -1 channel 1
// CHECK-NOT: stg.send
// CHECK: return
//
// LATE: error: 'stg.causal_conv' op is not what one device executes; run --stg-lower-recurrence first
func.func @f(%u: !x, %dt: !dt, %b: !g) -> !x {
  %w = stg.param "w" : !w
  %m = stg.param "m" : !h
  %n = stg.mul %u, %u : !x, !x
  %x = stg.causal_conv %n, %w <"conv"> : !x, !w
  %y = stg.ssd 8 %x, %dt, %m, %b, %b, %m <"scan"> : !x, !dt, !h, !g, !g, !h
  return %y : !x
}

//--- none.mlir
// CHECK: error: 'func.func' op has no scan, and no causal convolution, that could hand on a state
func.func @f(%x: !stg.tensor<[4], f32>) -> !stg.tensor<[4], f32> {
  return %x : !stg.tensor<[4], f32>
}

//--- zigzag.mlir
// CHECK: error: 'stg.causal_conv' op hands on the state behind one range of tokens, but devices have two chunks of them, which balance attention; use ranges (--cp-balance none), or exchange tokens of attention (--cp-comm-type a2a) or of scans (--cp-scan-type a2a)
// CHECK: note: the attention is here
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @C
!q = !stg.tensor<[B, S, H, 8], bf16>
!x = !stg.tensor<[B, S, C], bf16>
func.func @f(%q: !q, %x: !x, %w: !stg.tensor<[C, 4], bf16>) -> (!q, !x) {
  %y = stg.causal_conv %x, %w : !x, !stg.tensor<[C, 4], bf16>
  %o, %lse = stg.attention causal %q, %q, %q : !q, !q, !q
  return %o, %y : !q, !x
}

//--- short.mlir
// CHECK: error: 'stg.causal_conv' op needs 3 tokens of its neighbour, which has 2; divide tokens among fewer devices, or exchange them for channels (--cp-scan-type a2a)
stg.symbol @C
!x = !stg.tensor<[1, S = 8, C], bf16>
func.func @f(%x: !x, %w: !stg.tensor<[C, 4], bf16>) -> !x {
  %y = stg.causal_conv %x, %w : !x, !stg.tensor<[C, 4], bf16>
  return %y : !x
}

//--- errors.mlir
func.func @state(%x: !stg.tensor<[1, 8, 2], bf16>, %w: !stg.tensor<[2, 4], bf16>) {
  // expected-error @+1 {{has tokens that are divided, and a state that it keeps for the next step}}
  %y = stg.causal_conv %x, %w {state = "s", along = []} : !stg.tensor<[1, 8, 2], bf16>, !stg.tensor<[2, 4], bf16>
  return
}
// -----
func.func @completed(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{completes a value of type '!stg.tensor<[8], f32>', but result #0 has type '!stg.tensor<[4], f32>'}}
  %y = stg.recurrence_part 8 %x {completed = 1 : i64} : !stg.tensor<[8], f32> -> !stg.tensor<[4], f32>
  return
}
// -----
func.func @number(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{completes 2 values, but has 1 operands and 1 results}}
  %y = stg.recurrence_part 8 %x {completed = 2 : i64} : !stg.tensor<[8], f32> -> !stg.tensor<[8], f32>
  return
}
// -----
func.func @start(%x: !stg.tensor<[1, 8, 2], f32>, %a: !stg.tensor<[2, 3], f32>, %b: !stg.tensor<[1, 8, 3], f32>, %d: !stg.tensor<[2], f32>) {
  // expected-error @+1 {{has some of the tokens, but no state that its scan starts from}}
  %0:6 = stg.selective_scan_grad %x, %x, %a, %b, %b, %d, %x {along = []} : !stg.tensor<[1, 8, 2], f32>, !stg.tensor<[1, 8, 2], f32>, !stg.tensor<[2, 3], f32>, !stg.tensor<[1, 8, 3], f32>, !stg.tensor<[1, 8, 3], f32>, !stg.tensor<[2], f32>, !stg.tensor<[1, 8, 2], f32> -> !stg.tensor<[1, 8, 2], f32>, !stg.tensor<[1, 8, 2], f32>, !stg.tensor<[2, 3], f32>, !stg.tensor<[1, 8, 3], f32>, !stg.tensor<[1, 8, 3], f32>, !stg.tensor<[2], f32>
  return
}
