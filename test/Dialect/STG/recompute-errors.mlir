// What --stg-recompute refuses.
//
// RUN: not stg-opt %s --stg-recompute="policy=most" 2>&1 | FileCheck %s
// CHECK: for the --policy option: has the value 'most', expected none, selective, alternate, needed or full

func.func @policy() {
  return
}
