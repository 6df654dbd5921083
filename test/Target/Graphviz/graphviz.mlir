// A step is drawn as it is written: functions and loops as boxes, values as edges, each op
// with its name, cost, axes and communication.
//
// RUN: stg-translate %s --to-graphviz -o %t.dot
// RUN: FileCheck %s --input-file=%t.dot --match-full-lines --strict-whitespace
// RUN: %if graphviz %{ dot -Tsvg %t.dot -o %t.svg %}
// RUN: stg-opt %s --stg-insert-collectives --convert-stg-to-chakra | stg-translate --to-graphviz | FileCheck %s --check-prefix=CHAKRA --match-full-lines
// RUN: stg-opt %s --stg-insert-collectives | stg-translate --to-graphviz | FileCheck %s --check-prefix=LOCAL

stg.symbol @B
stg.symbol @D
stg.symbol @F
stg.symbol @L
stg.mesh @mesh <tp = 4 : tensor>

//      CHECK:digraph stg {
// CHECK-NEXT:  node [style=filled, fillcolor=white, fontname=Helvetica];
// CHECK-NEXT:  subgraph cluster_n0 {
// CHECK-NEXT:    n0 [shape=box, fillcolor="#ffffff", label="layers\nfunc.func"];
// CHECK-NEXT:    n1 [shape=ellipse, label="x\n!stg.tensor<[B, D], bf16>"];
// CHECK-NEXT:    subgraph cluster_n2 {
// CHECK-NEXT:      n2 [shape=box, fillcolor="#ffffff", label="layers * L\nstg.repeat"];
// CHECK-NEXT:      n3 [shape=ellipse, label="argument 0\n!stg.tensor<[B, D], bf16>"];
// CHECK-NEXT:      n4 [shape=cylinder, fillcolor="#ffffff", label="up\nstg.param\n!stg.tensor<[D, F : tp], bf16>"];
// CHECK-NEXT:      n5 [shape=cylinder, fillcolor="#ffffff", label="down \"1\"\nstg.param\n!stg.tensor<[F : tp, D], bf16>"];
// CHECK-NEXT:      n6 [shape=box, fillcolor="#cfe2f3", label="up.fwd\nstg.einsum\n2*B*D*F ops\n2*B*D + 2*B*F + 2*D*F bytes\nover f : tp\n!stg.tensor<[B, F : tp], bf16>"];
// CHECK-NEXT:      n7 [shape=box, fillcolor="#ffffff", label="down\nstg.einsum\n2*B*D*F ops\n2*B*D + 2*B*F + 2*D*F bytes\nover f : tp\n!stg.tensor<[B, D], bf16>"];
// CHECK-NEXT:      n8 [shape=box, fillcolor="#ffffff", label="stg.yield"];
// CHECK-NEXT:    }
// CHECK-NEXT:    n9 [shape=box, fillcolor="#ffffff", label="func.return"];
// CHECK-NEXT:  }
// CHECK-NEXT:  n0 -> n1 [style=dashed];
// CHECK-NEXT:  n1 -> n2;
// CHECK-NEXT:  n2 -> n3 [style=dashed];
// CHECK-NEXT:  n3 -> n6;
// CHECK-NEXT:  n4 -> n6;
// CHECK-NEXT:  n6 -> n7;
// CHECK-NEXT:  n5 -> n7;
// CHECK-NEXT:  n7 -> n8;
// CHECK-NEXT:  n8 -> n9;
// CHECK-NEXT:}

// LOCAL: n{{[0-9]+}} [shape=hexagon, fillcolor="#cfe2f3", label="down.fwd\nstg.all_reduce\nall_reduce over tp, 2*B*D bytes\n!stg.tensor<[B, D], bf16>"];

//      CHAKRA:  subgraph cluster_n0 {
// CHAKRA-NEXT:    n0 [shape=box, fillcolor="#ffffff", label="layers\nchakra.graph"];
// CHAKRA-NEXT:    n1 [shape=cylinder, fillcolor="#ffffff", label="x\nchakra.state\n!chakra.tensor<2*B*D, input>"];
//      CHAKRA:    subgraph cluster_n[[#LOOP:]] {
// CHAKRA-NEXT:      n[[#LOOP]] [shape=box, fillcolor="#ffffff", label="layers * L\nchakra.repeat"];
//      CHAKRA:      n{{[0-9]+}} [shape=box, fillcolor="#cfe2f3", label="up.fwd\nchakra.comp\nB*D*F/2 ops\n2*B*D + B*F/2 + D*F/2 bytes\n!chakra.tensor<B*F/2, temporary>"];
//      CHAKRA:      n{{[0-9]+}} [shape=hexagon, fillcolor="#cfe2f3", label="down.fwd.all_reduce\nchakra.coll\nall_reduce over tp, 2*B*D bytes\n!chakra.tensor<2*B*D, communication>"];
func.func @layers(%x: !stg.tensor<[B, D], bf16> {stg.name = "x"}) -> !stg.tensor<[B, D], bf16> {
  %y = stg.repeat "layers" * L carry(%c = %x : !stg.tensor<[B, D], bf16>) {
    %up = stg.param "up" : !stg.tensor<[D, F : tp], bf16>
    %down = stg.param "down \221\22" : !stg.tensor<[F : tp, D], bf16>
    %h = stg.einsum "bd,df->bf" %c, %up {factors = #stg.factors<f : tp>} <"up" fwd> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, F : tp], bf16> -> !stg.tensor<[B, F : tp], bf16>
    %z = stg.einsum "bf,fd->bd" %h, %down {factors = #stg.factors<f : tp>} <"down"> : !stg.tensor<[B, F : tp], bf16>, !stg.tensor<[F : tp, D], bf16> -> !stg.tensor<[B, D], bf16>
    stg.yield %z : !stg.tensor<[B, D], bf16>
  }
  return %y : !stg.tensor<[B, D], bf16>
}
