// RUN: stg-opt %s --stg-encode-experts="dispatch-bytes=D+16 combine-bytes=2*D+8" | FileCheck %s
// RUN: stg-opt %s --stg-encode-experts="combine-bytes=3*D" | FileCheck %s --check-prefix=BACK
// RUN: stg-opt %s --stg-encode-experts | FileCheck %s --check-prefix=NOTHING --implicit-check-not=stg.encode_rows
// RUN: not stg-opt %s --stg-encode-experts="dispatch-bytes=D+Q" 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: not stg-opt %s --stg-encode-experts="dispatch-bytes=D+" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: stg-opt %s --stg-encode-experts="dispatch-bytes=100 once=1 values=X=8,A=2,D=64" | FileCheck %s --check-prefix=ONCE
// RUN: not stg-opt %s --stg-encode-experts="once=3 values=X=8,A=2,D=64" 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not stg-opt %s --stg-encode-experts="once=1" 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not stg-opt %s --stg-encode-experts="combine-bytes=0" 2>&1 | FileCheck %s --check-prefix=ZERO

// Rows are sent to experts and back in so many bytes; what experts work on stays as it is.
// What is not on its way to or from experts stays, too.
//
// CHECK: %[[D:.*]] = stg.dispatch
// CHECK: %[[E:.*]] = stg.encode_rows %[[D]] <"rows.encode" fwd> : !stg.tensor<[X, R/2, D], bf16> -> !stg.tensor<[X, R/2, D + 16], i8>
// CHECK: %[[A:.*]] = stg.all_to_all from 1 to 0 over ["ep"] %[[E]] {{.*}} : !stg.tensor<[X, R/2, D + 16], i8> -> !stg.tensor<[X/2, R, D + 16], i8>
// CHECK: %[[G:.*]] = stg.encode_rows %[[A]] <"rows.decode" fwd> : {{.*}} -> !stg.tensor<[X/2, R, D], bf16>
// CHECK: %[[Y:.*]] = stg.activation gelu %[[G]]
// CHECK: %[[S:.*]] = stg.encode_rows %[[Y]] <"expert.encode" fwd> : !stg.tensor<[X/2, R, D], bf16> -> !stg.tensor<[X/2, R, 2*D + 8], i8>
// CHECK: %[[B:.*]] = stg.all_to_all from 0 to 1 over ["ep"] %[[S]]
// CHECK: %[[O:.*]] = stg.encode_rows %[[B]] <"expert.decode" fwd>
// CHECK: stg.combine %[[O]]
// CHECK: stg.all_to_all from 0 to 1 over ["ep"] %[[Y]]
// CHECK-NOT: stg.encode_rows
// BACK-NOT: D + 16
// BACK: stg.encode_rows {{.*}} -> !stg.tensor<[X/2, R, 3*D], i8>
// NOTHING: stg.combine
// Two ranks with 4 of 8 experts each: a token has 2 * (1 - 6/28) = 11/7 of them on average, and 2
// experts: 823881 of 2^20 parts of a row, 78.6 bytes of 100.
// ONCE: stg.all_to_all from 1 to 0 over ["ep"] {{.*}} : !stg.tensor<[X, R/2, D = 79], i8>
// ONCE: stg.all_to_all from 0 to 1 over ["ep"] {{.*}} : !stg.tensor<[X/2, R, ceildiv(3295524*D - 1048576, 2097152)], i8>
// DIVIDE: error: 'stg.all_to_all' op has 2 ranks, which cannot get a token once for each 3; expected a divisor
// NUMBERS: error: 'stg.all_to_all' op has sizes that are no numbers, so that it is not known to how many ranks a token is sent
// SYMBOL: error: dispatch-bytes is 'D+Q': the model has no symbol 'Q'
// SYNTAX: error: dispatch-bytes is 'D+':
// ZERO: error: combine-bytes is '0', expected an integer of at least 1
stg.symbol @T
stg.symbol @D
stg.symbol @X
stg.symbol @A
stg.symbol @R
stg.mesh @mesh <ep = 2 : expert>
!t = !stg.tensor<[T, D], bf16>
!c = !stg.tensor<[T, A], i32>
!w = !stg.tensor<[T, A], f32>
!rows = !stg.tensor<[X, R/2, D], bf16>
!own = !stg.tensor<[X/2, R, D], bf16>
func.func @f(%t: !t, %c: !c, %w: !w) -> (!t, !rows) {
  %d = stg.dispatch %t, %c <"rows" fwd> : !t, !c -> !rows
  %a = stg.all_to_all from 1 to 0 over ["ep"] %d <"rows" fwd> : !rows -> !own
  %y = stg.activation gelu %a <"expert" fwd> : !own
  %b = stg.all_to_all from 0 to 1 over ["ep"] %y <"combine" fwd> : !own -> !rows
  %o = stg.combine %b, %c, %w <"combine" fwd> : !rows, !c, !w
  %z = stg.all_to_all from 0 to 1 over ["ep"] %y <"other" fwd> : !own -> !rows
  return %o, %z : !t, !rows
}

// Gradients: what is sent to experts is that of what is summed, and what comes back that of the
// copies of tokens. Routers in front of the forward pass say in how many groups experts are.
//
// CHECK-LABEL: func.func @g
// CHECK: %[[GRAD:.*]], %{{.*}} = stg.combine_grad
// CHECK: %[[SENT:.*]] = stg.encode_rows %[[GRAD]] <"combine.encode" bwd> : !stg.tensor<[X, R/2, D], bf16> -> !stg.tensor<[X, R/2, D + 16], i8>
// CHECK: %[[THERE:.*]] = stg.all_to_all from 1 to 0 over ["ep"] %[[SENT]] {{.*}} : !stg.tensor<[X, R/2, D + 16], i8> -> !stg.tensor<[X/2, R, D + 16], i8>
// CHECK: %[[OWN:.*]] = stg.encode_rows %[[THERE]] <"combine.decode" bwd>
// CHECK: %[[MADE:.*]] = stg.activation gelu %[[OWN]]
// CHECK: %[[RETURNED:.*]] = stg.encode_rows %[[MADE]] <"expert.encode" bwd> : !stg.tensor<[X/2, R, D], bf16> -> !stg.tensor<[X/2, R, 2*D + 8], i8>
// CHECK: %[[HERE:.*]] = stg.all_to_all from 0 to 1 over ["ep"] %[[RETURNED]]
// CHECK: %[[ROWS:.*]] = stg.encode_rows %[[HERE]] <"expert.decode" bwd>
// CHECK: stg.dispatch_grad %[[ROWS]]
// BACK-LABEL: func.func @g
// ONCE-LABEL: func.func @g
// ONCE: stg.all_to_all from 1 to 0 over ["ep"] {{.*}} : !stg.tensor<[X, R/2, D = 79], i8>
// ONCE: stg.all_to_all from 0 to 1 over ["ep"] {{.*}} : !stg.tensor<[X/2, R, ceildiv(3295524*D - 1048576, 2097152)], i8>
func.func @g(%o: !rows, %dy: !t, %c: !c, %w: !w) -> !t {
  %do, %dw = stg.combine_grad %o, %c, %w, %dy <"combine" bwd> : !rows, !c, !w, !t
  %a = stg.all_to_all from 1 to 0 over ["ep"] %do <"combine" bwd> : !rows -> !own
  %y = stg.activation gelu %a <"expert" bwd> : !own
  %b = stg.all_to_all from 0 to 1 over ["ep"] %y <"dispatch" bwd> : !own -> !rows
  %dt = stg.dispatch_grad %b, %c <"dispatch" bwd> : !rows, !c -> !t
  return %dt : !t
}
