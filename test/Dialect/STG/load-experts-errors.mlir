// Loads that are not those of the experts.
//
// RUN: stg-opt %s --stg-load-experts="loads=5,2,0" -split-input-file -verify-diagnostics -o /dev/null

// RUN: echo "module {}" | not stg-opt --stg-load-experts="loads=5,-2,0" 2>&1 | FileCheck %s --check-prefix=NEGATIVE --implicit-check-not=error:
// NEGATIVE: error: load of an expert is -2, expected none below zero{{$}}
// RUN: echo "module {}" | not stg-opt --stg-load-experts="loads=0,0,0" 2>&1 | FileCheck %s --check-prefix=ZERO --implicit-check-not=error:
// ZERO: error: loads of all experts are zero, expected one above{{$}}
// RUN: echo "module {}" | not stg-opt --stg-load-experts="loads=9223372036854775807,1,0" 2>&1 | FileCheck %s --check-prefix=SUM --implicit-check-not=error:
// SUM: error: sum of the loads does not fit 64 bits{{$}}

stg.mesh @mesh <ep = 2 : expert>
!x = !stg.tensor<[B = 4, S = 4, D = 8], bf16>
!choices = !stg.tensor<[B = 4, S = 4, A = 1], i32>
!rows = !stg.tensor<[X = 4, R = 4, D = 8], bf16>
!own = !stg.tensor<[X = 2, R = 8, D = 8], bf16>
func.func @undivided(%x: !x, %choice: !choices) -> !own {
  %rows = stg.dispatch %x, %choice : !x, !choices -> !rows
  // expected-error @+1 {{'stg.all_to_all' op divides experts over 2 devices, which do not divide the 3 loads that are given}}
  %own = stg.all_to_all from 1 to 0 over ["ep"] %rows : !rows -> !own
  return %own : !own
}

// -----

stg.mesh @mesh <ep = 3 : expert>
!x = !stg.tensor<[B = 4, S = 3, D = 8], bf16>
!choices = !stg.tensor<[B = 4, S = 3, A = 1], i32>
!rows = !stg.tensor<[X = 6, R = 2, D = 8], bf16>
!own = !stg.tensor<[X = 2, R = 6, D = 8], bf16>
func.func @number(%x: !x, %choice: !choices) -> !own {
  %rows = stg.dispatch %x, %choice : !x, !choices -> !rows
  // expected-error @+1 {{'stg.all_to_all' op is for 6 experts, but there are 3 loads}}
  %own = stg.all_to_all from 1 to 0 over ["ep"] %rows : !rows -> !own
  return %own : !own
}

// -----

stg.symbol @ep
stg.mesh @mesh <ep = ep : expert>
!x = !stg.tensor<[B = 4, S = 3, D = 8], bf16>
!choices = !stg.tensor<[B = 4, S = 3, A = 1], i32>
!rows = !stg.tensor<[X = 6, R = 2, D = 8], bf16>
!own = !stg.tensor<[X = 6/ep, R = 2*ep, D = 8], bf16>
func.func @symbol(%x: !x, %choice: !choices) -> !own {
  %rows = stg.dispatch %x, %choice : !x, !choices -> !rows
  // expected-error @+1 {{'stg.all_to_all' op is over axis 'ep', whose size is not a number}}
  %own = stg.all_to_all from 1 to 0 over ["ep"] %rows : !rows -> !own
  return %own : !own
}
