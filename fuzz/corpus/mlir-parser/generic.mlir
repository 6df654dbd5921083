"builtin.module"() ({
  "stg.symbol"() <{sym_name = "B", default = #sym.expr<8>}> : () -> ()
  "stg.mesh"() <{sym_name = "mesh", mesh = #sym.mesh<tp = 2>}> : () -> ()
  "func.func"() <{function_type = (!stg.tensor<[B], f32>) -> (), sym_name = "f"}> ({
  ^bb0(%x: !stg.tensor<[B], f32>):
    %0 = "stg.add"(%x, %x) : (!stg.tensor<[B], f32>, !stg.tensor<[B], f32>) -> !stg.tensor<[B], f32>
    %1 = "stg.all_reduce"(%x) <{kind = #stg<reduce_kind sum>, axes = ["tp"]}> : (!stg.tensor<[B], f32>) -> !stg.tensor<[B], f32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
