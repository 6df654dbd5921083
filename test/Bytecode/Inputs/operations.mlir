module {
  func.func @operations(%arg0: !stg.tensor<[1, 8, 16], bf16>, %arg1: !stg.tensor<[16], bf16>, %arg2: !stg.tensor<[2, 4, 2, 8], bf16>, %arg3: !stg.tensor<[1, 8, 6], bf16>, %arg4: !stg.tensor<[6, 4], bf16>, %arg5: !stg.tensor<[1, 8, 6, 2], bf16>, %arg6: !stg.tensor<[1, 8, 6], bf16>, %arg7: !stg.tensor<[1, 8, 4], bf16>, %arg8: !stg.tensor<[1, 8, 3, 2], bf16>, %arg9: !stg.tensor<[6], bf16>, %arg10: !stg.tensor<[6, 4], bf16>) {
    %0 = stg.einsum "abc,abd->cd" %arg0, %arg0 {into = f32} <"e" bwd dw> : !stg.tensor<[1, 8, 16], bf16>, !stg.tensor<[1, 8, 16], bf16>
    %1 = stg.bias_add %arg0, %arg1 <"y" fwd> : !stg.tensor<[1, 8, 16], bf16>, !stg.tensor<[16], bf16>
    %result, %lse = stg.attention_block 10 %arg2, %arg2, %arg2 {seen = #sym.expr<1>} <"o" fwd own> : !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>
    %result_0, %lse_1 = stg.attention_block 16 %arg2, %arg2, %arg2, %result, %lse : !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2], f32>
    %dquery, %dkey, %dvalue = stg.attention_block_grad 16 %arg2, %arg2, %arg2, %result_0, %lse_1, %arg2 {seen = #sym.expr<1>} : !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2, 8], bf16>, !stg.tensor<[2, 4, 2], f32>, !stg.tensor<[2, 4, 2, 8], bf16>
    %2 = stg.causal_conv %arg3, %arg4 {state = "conv.state"} <"conv" fwd> : !stg.tensor<[1, 8, 6], bf16>, !stg.tensor<[6, 4], bf16>
    %result_2 = stg.selective_scan %arg3, %arg3, %arg10, %arg7, %arg7, %arg9 {rollback = #sym.expr<3>, state = "scan.state"} : !stg.tensor<[1, 8, 6], bf16>, !stg.tensor<[1, 8, 6], bf16>, !stg.tensor<[6, 4], bf16>, !stg.tensor<[1, 8, 4], bf16>, !stg.tensor<[1, 8, 4], bf16>, !stg.tensor<[6], bf16>
    %result_3 = stg.ssd 4 %arg5, %arg6, %arg9, %arg7, %arg7, %arg9 {requests = #stg.requests<(3, 0), (5, 9)>, state = "ssd.state"} : !stg.tensor<[1, 8, 6, 2], bf16>, !stg.tensor<[1, 8, 6], bf16>, !stg.tensor<[6], bf16>, !stg.tensor<[1, 8, 4], bf16>, !stg.tensor<[1, 8, 4], bf16>, !stg.tensor<[6], bf16>
    %result_4 = stg.gated_delta_rule 4 %arg8, %arg8, %arg5, %arg6, %arg9, %arg6 {state = "delta.state"} : !stg.tensor<[1, 8, 3, 2], bf16>, !stg.tensor<[1, 8, 3, 2], bf16>, !stg.tensor<[1, 8, 6, 2], bf16>, !stg.tensor<[1, 8, 6], bf16>, !stg.tensor<[6], bf16>, !stg.tensor<[1, 8, 6], bf16>
    return
  }
}

