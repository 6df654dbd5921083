// Which axes one collective serves is said by the preset, or follows from roles.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-opt %t/model.mlir --stg-apply-preset="preset=%t/apart.json x=2 y=2" -o %t/apart.mlir
// RUN: FileCheck %t/model.mlir --check-prefix=APART --input-file=%t/apart.mlir
// RUN: stg-opt %t/apart.mlir --stg-propagate-shardings --stg-insert-collectives | FileCheck %t/model.mlir --check-prefix=TWO
// RUN: stg-opt %t/model.mlir --stg-apply-preset="preset=fsdp-tensor x=2 y=2" -o %t/together.mlir
// RUN: FileCheck %t/model.mlir --check-prefix=TOGETHER --input-file=%t/together.mlir
// RUN: stg-opt %t/model.mlir --stg-parallelize="mesh=y=2:data,x=2:data rules=B:x,B:y,D:x@param,D:y@param joined=x,y" | FileCheck %t/model.mlir --check-prefix=APART
// RUN: stg-opt %t/model.mlir --stg-parallelize="mesh=y=2:data,x=2:data rules=B:x,B:y,D:x@param,D:y@param joined=y+x" | FileCheck %t/model.mlir --check-prefix=TOGETHER
// RUN: stg-opt %t/together.mlir --stg-propagate-shardings --stg-insert-collectives | FileCheck %t/model.mlir --check-prefix=ONE
// RUN: not stg-opt %t/model.mlir --stg-apply-preset="preset=%t/wrong.json x=2" 2>&1 | FileCheck %t/model.mlir --check-prefix=WRONG
// RUN: stg-opt %t/errors.mlir -split-input-file -verify-diagnostics

//--- model.mlir
// APART:    stg.mesh @mesh <y = 2 : data, x = 2 : data> joined {{\[\[x\], \[y\]\]}} rules [B : x, B : y, D : x @param, D : y @param]
// TOGETHER: stg.mesh @mesh <y = 2 : data, x = 2 : data> rules [B : x, B : y, D : x @param, D : y @param]
// TWO-COUNT-2: stg.all_gather
// TWO-NOT:     stg.all_gather
// ONE-COUNT-1: stg.all_gather
// ONE-NOT:     stg.all_gather
// WRONG: error: preset '{{.*}}wrong.json': joins 'z', which is neither a group nor an axis
stg.symbol @B
stg.symbol @D
func.func @f(%x: !stg.tensor<[B, D], bf16>) -> !stg.tensor<[B], bf16> {
  %w = stg.param "w" : !stg.tensor<[D], bf16>
  %y = stg.einsum "bd,d->b" %x, %w : !stg.tensor<[B, D], bf16>, !stg.tensor<[D], bf16>
  return %y : !stg.tensor<[B], bf16>
}
//--- errors.mlir
// expected-error @+1 {{'stg.mesh' op joins 'dp', which is no axis of the mesh}}
stg.mesh @mesh_op_c4 <tp = 2> joined [[tp, dp]]
// -----
// expected-error @+1 {{'stg.mesh' op joins 'tp' twice}}
stg.mesh @mesh_op_c4_twice <tp = 2, dp = 2> joined [[tp, dp], [tp]]
//--- apart.json
{
  "description": "each axis by itself", "degrees": [{"name": "x"}, {"name": "y"}],
  "groups": [
    {"name": "y", "axes": [{"name": "y", "role": "data", "size": "y"}]},
    {"name": "x", "axes": [{"name": "x", "role": "data", "size": "x"}]}
  ],
  "joined": [["x"], ["y"]],
  "rules": ["B:x", "B:y", "D:x@param", "D:y@param"]
}
//--- wrong.json
{
  "description": "", "degrees": [{"name": "x"}],
  "groups": [{"name": "x", "axes": [{"name": "x", "role": "data", "size": "x"}]}],
  "joined": [["x", "z"]],
  "rules": ["B:x"]
}
