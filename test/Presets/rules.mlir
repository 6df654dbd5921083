// Where rules of a user stand among those of the preset.
//
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4" | FileCheck %s --check-prefix=PRESET
// PRESET: rules [B : dp, H : tp, F : tp]
//
// In place of the preset's rules for the dimension, one after the other.
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=H:dp,H:tp" | FileCheck %s --check-prefix=PLACE
// PLACE: rules [B : dp, H : dp, H : tp, F : tp]
//
// Last, where there are none for the dimension in that scope.
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=D:tp,B:dp@stream" | FileCheck %s --check-prefix=LAST
// LAST: rules [B : dp, H : tp, F : tp, D : tp, B : dp @stream]
//
// Before and after all of them.
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=D:tp+,+F:dp,H:dp+" | FileCheck %s --check-prefix=AROUND
// AROUND: rules [D : tp, H : dp, B : dp, H : tp, F : tp, F : dp]
//
// Without them.
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=H:" | FileCheck %s --check-prefix=DROP
// DROP: rules [B : dp, F : tp]
//
// A rule for tokens of the stream is what sequence parallelism adds.
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 cp=2 sequence-parallel" -o %t.option
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 cp=2 rules=S:tp@stream" -o %t.rule
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 cp=2 rules=+S:tp@stream" -o %t.after
// RUN: cmp %t.option %t.rule
// RUN: cmp %t.option %t.after
// RUN: FileCheck %s --check-prefix=TOKENS --input-file=%t.option
// TOKENS: rules [B : dp, S : cp, H : tp, F : tp, S : tp @stream]
//
// A rule for a group of axes is one for each of them, the slowest first.
// RUN: stg-opt %s --stg-apply-preset="dp=8 ep=2 dp-replicate=2 rules=F:dp@param" | FileCheck %s --check-prefix=GROUP
// GROUP: rules [B : dp_replicate, B : edp, B : ep, F : dp_replicate @param, F : edp @param, F : ep @param]
//
// Rules that shard nothing.
// RUN: not stg-opt %s --stg-apply-preset="dp=2 rules=F:tp" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: rule 'F:tp' shards nothing: mesh axis 'tp' has size 1
// RUN: not stg-opt %s --stg-apply-preset="dp=2 rules=N:dp" 2>&1 | FileCheck %s --check-prefix=PART
// PART: error: rule 'N:dp' shards nothing: no parameter, argument or carried value has a dimension 'N' whose names all have rules for the axis; there are N*W
// RUN: not stg-opt %s --stg-apply-preset="dp=2 rules=F:dp@input" 2>&1 | FileCheck %s --check-prefix=SCOPE
// SCOPE: error: rule 'F:dp@input' shards nothing: no argument has a dimension 'F'
// RUN: not stg-opt %s --stg-apply-preset="dp=2 rules=+F:dp+" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: rule '+F:dp+' is to stand before and after those of the preset, expected 'RULE+' or '+RULE'
//
// Rules that are edited have an effect: those of the mesh are applied.
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4" | sed 's/F : tp\]/F : dp]/' | stg-opt --stg-propagate-shardings | FileCheck %s --check-prefix=EDITED
// EDITED: stg.param "up" : !stg.tensor<[D, F : dp], bf16>

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @H
stg.symbol @N
stg.symbol @W
func.func @f(%x: !stg.tensor<[B, S, D], bf16>) {
  %up = stg.param "up" : !stg.tensor<[D, F], bf16>
  %heads = stg.param "heads" : !stg.tensor<[D, H], bf16>
  %logits = stg.param "logits" : !stg.tensor<[D, N*W], bf16>
  %y = stg.repeat "layers" * 2 carry(%c = %x : !stg.tensor<[B, S, D], bf16>) {
    stg.yield %c : !stg.tensor<[B, S, D], bf16>
  }
  return
}
