// Options of passes that have no meaning: the message names the option, the value and
// what would work.
//
// RUN: not stg-opt %s --stg-autodiff=gradient-type=float 2>&1 | FileCheck %s --check-prefix=GRAD --implicit-check-not=error:
// GRAD: [[#@LINE+95]]:1: error: gradient-type 'float' is not a float type such as f32 or bf16{{$}}
// RUN: not stg-opt %s --stg-autodiff=gradient-type=i32 2>&1 | FileCheck %s --check-prefix=GRADINT --implicit-check-not=error:
// GRADINT: error: gradient-type 'i32' is not a float type such as f32 or bf16{{$}}
// RUN: not stg-opt %s --stg-autodiff=gradient-type=f4E2M1FN 2>&1 | FileCheck %s --check-prefix=GRADSUB --implicit-check-not=error:
// GRADSUB: error: gradient-type 'f4E2M1FN' is not a float type such as f32 or bf16{{$}}
// RUN: not stg-opt %s --stg-autodiff=gradient-type= 2>&1 | FileCheck %s --check-prefix=GRADNONE --implicit-check-not=error:
// GRADNONE: error: gradient-type '' is not a float type such as f32 or bf16{{$}}

// RUN: not stg-opt %s --stg-optimizer=moment-type=double 2>&1 | FileCheck %s --check-prefix=MOMENT --implicit-check-not=error:
// MOMENT: error: moment-type 'double' is not a float type such as f32 or bf16{{$}}

// RUN: not stg-opt %s --stg-set-element-type 2>&1 | FileCheck %s --check-prefix=TONONE --implicit-check-not=error:
// TONONE: error: option 'to' has the value '', expected a float type such as bf16, f16 or f32{{$}}
// RUN: not stg-opt %s --stg-set-element-type=to=i8 2>&1 | FileCheck %s --check-prefix=TOINT --implicit-check-not=error:
// TOINT: error: option 'to' has the value 'i8', expected a float type such as bf16, f16 or f32{{$}}
// RUN: not stg-opt %s --stg-set-element-type="from=half to=f32" 2>&1 | FileCheck %s --check-prefix=FROM --implicit-check-not=error:
// FROM: error: option 'from' has the value 'half', expected a float type such as bf16, f16 or f32{{$}}

// RUN: not stg-opt %s --stg-set-attention-count=count=half 2>&1 | FileCheck %s --check-prefix=COUNT --implicit-check-not=option:
// COUNT: for the --count option: has the value 'half', expected executed or full{{$}}

// RUN: not stg-opt %s --stg-shard-states=level=4 2>&1 | FileCheck %s --check-prefix=LEVEL --implicit-check-not=option:
// LEVEL: for the --level option: has the value '4', expected 0, 1, 2 or 3{{$}}
// RUN: not stg-opt %s --stg-shard-states="level=3 root=some" 2>&1 | FileCheck %s --check-prefix=ROOT --implicit-check-not=option:
// ROOT: for the --root option: has the value 'some', expected kept or units{{$}}
// RUN: not stg-opt %s --stg-micro-batch=count=0 2>&1 | FileCheck %s --check-prefix=COUNT0 --implicit-check-not=error:
// COUNT0: error: count is '0', expected an integer of at least 1 or a symbol{{$}}
// RUN: not stg-opt %s --stg-micro-batch="count=2 batch=Q" 2>&1 | FileCheck %s --check-prefix=NOBATCH --implicit-check-not=error:
// NOBATCH: error: no dimension is named 'Q', the batch; name it with batch=NAME: dimensions are named B{{$}}

// RUN: not stg-opt %s --stg-apply-preset=dp=0 2>&1 | FileCheck %s --check-prefix=ZERO --implicit-check-not=error:
// ZERO: error: degree of 'dp' is '0', expected an integer of at least 1 or a symbol{{$}}
// RUN: not stg-opt %s --stg-apply-preset=tp=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE --implicit-check-not=error:
// NEGATIVE: error: degree of 'tp' is '-2', expected an integer of at least 1 or a symbol{{$}}
// RUN: not stg-opt %s --stg-apply-preset=tp=3/2 2>&1 | FileCheck %s --check-prefix=FRACTION --implicit-check-not=error:
// FRACTION: error: degree of 'tp' is '3/2', expected an integer of at least 1 or a symbol{{$}}
// RUN: not stg-opt %s --stg-apply-preset=tp=2*t 2>&1 | FileCheck %s --check-prefix=PRODUCT --implicit-check-not=error:
// PRODUCT: error: degree of 'tp' is '2*t', expected an integer of at least 1 or a symbol{{$}}
// RUN: not stg-opt %s --stg-apply-preset=tp= 2>&1 | FileCheck %s --check-prefix=NODEGREE --implicit-check-not=error:
// NODEGREE: error: degree of 'tp' is '', expected an integer of at least 1 or a symbol{{$}}
// RUN: not stg-opt %s --stg-apply-preset=dp=small 2>&1 | FileCheck %s --check-prefix=TAKEN --implicit-check-not=error:
// TAKEN: error: 'stg.config' op has the name of mesh degree 'small'{{$}}

// RUN: not stg-opt %s --stg-apply-preset=rank-order=xp 2>&1 | FileCheck %s --check-prefix=ORDER --implicit-check-not=error:
// ORDER: error: rank order is 'xp', expected tp, cp, dp and pp, each at most once, joined by '-'{{$}}
// RUN: not stg-opt %s --stg-apply-preset=rank-order=tp-tp-dp 2>&1 | FileCheck %s --check-prefix=ORDERTWICE --implicit-check-not=error:
// ORDERTWICE: error: rank order is 'tp-tp-dp', expected tp, cp, dp and pp, each at most once, joined by '-'{{$}}

// RUN: not stg-opt %s --stg-apply-preset=rules=B 2>&1 | FileCheck %s --check-prefix=RULE --implicit-check-not=error:
// RULE: error: 'B' is not a sharding rule, expected 'DIM:AXIS' or 'DIM:AXIS@SCOPE' with the scope param, input or stream{{$}}
// RUN: not stg-opt %s --stg-apply-preset=rules=:tp 2>&1 | FileCheck %s --check-prefix=RULENODIM --implicit-check-not=error:
// RULENODIM: error: ':tp' is not a sharding rule, expected 'DIM:AXIS' or 'DIM:AXIS@SCOPE' with the scope param, input or stream{{$}}
// RUN: not stg-opt %s --stg-apply-preset=rules=B:tp@all 2>&1 | FileCheck %s --check-prefix=RULESCOPE --implicit-check-not=error:
// RULESCOPE: error: 'B:tp@all' is not a sharding rule, expected 'DIM:AXIS' or 'DIM:AXIS@SCOPE' with the scope param, input or stream{{$}}
// RUN: not stg-opt %s --stg-apply-preset=rules=Q:dp 2>&1 | FileCheck %s --check-prefix=RULEDIM --implicit-check-not=error:
// RULEDIM: error: rule 'Q:dp' names dimension 'Q', which the model does not have; its dimensions are named B{{$}}
// RUN: not stg-opt %s --stg-apply-preset=rules=B:xp 2>&1 | FileCheck %s --check-prefix=RULEAXIS --implicit-check-not=error:
// RULEAXIS: error: rule 'B:xp' names mesh axis 'xp', expected one of tp, tp_replicate, tp_kv, tp_kg_replicate, tp_kg, tp_mg_replicate, tp_mg, tp_lk_replicate, tp_lk, etp, tp_ep, tp_edp, cp, cp_ep, cp_edp, dp, ep, edp, dp_replicate{{$}}

// RUN: not stg-opt %s --stg-propagate-shardings 2>&1 | FileCheck %s --check-prefix=NOMESH --implicit-check-not=error:
// RUN: not stg-opt %s --stg-insert-collectives 2>&1 | FileCheck %s --check-prefix=NOMESH --implicit-check-not=error:
// NOMESH: error: the module has no mesh; run --stg-parallelize first or declare one with 'stg.mesh'{{$}}
// RUN: not stg-opt %s --stg-apply-preset --stg-apply-preset 2>&1 | FileCheck %s --check-prefix=TWICE --implicit-check-not=error:
// TWICE: error: 'stg.mesh' op already exists; a program has one mesh{{$}}

// RUN: not stg-opt %s --stg-bind=Q=3 2>&1 | FileCheck %s --check-prefix=BIND --implicit-check-not=error:
// BIND: error: cannot bind 'Q': no such symbol; declared are B, S{{$}}
// RUN: not stg-opt %s --stg-bind=B 2>&1 | FileCheck %s --check-prefix=BINDFORM --implicit-check-not=error:
// BINDFORM: error: cannot bind 'B', expected SYMBOL=EXPRESSION{{$}}
// RUN: not stg-opt %s --stg-bind="B=2*" 2>&1 | FileCheck %s --check-prefix=BINDEXPR --implicit-check-not=error:
// BINDEXPR: error: cannot bind 'B=2*': expected a symbol, an integer or '(' at column 3{{$}}
// RUN: not stg-opt %s --stg-bind=config=large 2>&1 | FileCheck %s --check-prefix=CONFIG --implicit-check-not=error:
// CONFIG: error: has no configuration 'large'; known ones are small{{$}}
// RUN: not stg-opt %s --stg-bind=B=B+1 2>&1 | FileCheck %s --check-prefix=ITSELF --implicit-check-not=error:
// ITSELF: error: cannot bind symbols that are defined by each other{{$}}
// RUN: not stg-opt %s --stg-bind="B=2*S S=B+1" 2>&1 | FileCheck %s --check-prefix=CYCLE --implicit-check-not=error:
// CYCLE: error: cannot bind symbols that are defined by each other{{$}}
// RUN: not stg-opt %s --stg-bind=S=0 2>&1 | FileCheck %s --check-prefix=BINDZERO --implicit-check-not=error:
// BINDZERO: error: 'stg.symbol' op has the value 0, expected an integer of at least 1{{$}}
// RUN: echo 'stg.symbol @B func.func @f() { %0 = stg.splat 1/B : !stg.tensor<[2], f32> return }' | not stg-opt --stg-bind=B=0 2>&1 | FileCheck %s --check-prefix=DIVZERO --implicit-check-not=error:
// DIVZERO: error: 'stg.splat' op has expression 1/B, which has no value with B = 0{{$}}
// RUN: not stg-opt %s --stg-bind=S=T 2>&1 | FileCheck %s --check-prefix=BINDNEW --implicit-check-not=error:
// BINDNEW: error: 'stg.symbol' op uses symbol 'T', which is not declared; declare it with 'stg.symbol @T'{{$}}
// RUN: not stg-opt %s --stg-bind=defaults=maybe 2>&1 | FileCheck %s --check-prefix=BOOL --implicit-check-not=error:
// BOOL: error: option 'defaults' has the value 'maybe', expected true or false{{$}}

// RUN: not stg-opt %s --stg-parallelize=degree=2 2>&1 | FileCheck %s --check-prefix=UNKNOWN --implicit-check-not=error:
// UNKNOWN: {{^}}<unknown>:0: error: <Pass-Options-Parser>: no such option degree{{$}}
// RUN: not stg-opt %s --stg-pipeline=degree=2 2>&1 | FileCheck %s --check-prefix=PIPELINE --implicit-check-not=error:
// PIPELINE: {{^}}<Pass-Options-Parser>: no such option degree{{$}}

stg.symbol @B
stg.symbol @S
stg.config @small {B = 3}
!w = !stg.tensor<[B, 4], f32>
func.func @f() -> !w {
  %w = stg.param "w" : !w
  return %w : !w
}
