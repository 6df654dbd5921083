// Types and expressions that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{element type 'i4' is not an integer or float of whole bytes}}
func.func private @tensor_c1_sub_byte(!stg.tensor<[2], i4>)
// -----
// expected-error @+1 {{element type 'i1' is not an integer or float of whole bytes}}
func.func private @tensor_c1_bool(!stg.tensor<[2], i1>)
// -----
// expected-error @+1 {{element type 'i0' is not an integer or float of whole bytes}}
func.func private @tensor_c1_no_bits(!stg.tensor<[2], i0>)
// -----
// expected-error @+1 {{element type 'index' is not an integer or float of whole bytes}}
func.func private @tensor_c1_index(!stg.tensor<[2], index>)
// -----
// expected-error @+1 {{element type '!stg.tensor<[2], f32>' is not an integer or float of whole bytes}}
func.func private @tensor_c1_nested(!stg.tensor<[2], !stg.tensor<[2], f32>>)
// -----
// expected-error @+1 {{mesh axis 'tp' is used twice in one tensor}}
func.func private @tensor_c2_two_dimensions(!stg.tensor<[4 : tp, 4 : tp], f32>)
// -----
// expected-error @+1 {{mesh axis 'tp' is used twice in one tensor}}
func.func private @tensor_c2_one_dimension(!stg.tensor<[4 : (tp, dp, tp)], f32>)
// -----
// expected-error @+1 {{mesh axis 'tp' is used twice in one tensor}}
func.func private @tensor_c2_partial(!stg.tensor<[4 : tp, 4], f32, sum(tp)>)
// -----
// expected-error @+1 {{mesh axis 'tp' is used twice in one tensor}}
func.func private @sharding_c1() attributes {a = #stg.sharding<[{tp}, {}], sum(tp)>}
// -----
// expected-error @+1 {{dimension 0 is not an integer of at least 1}}
func.func private @tensor_c3_zero(!stg.tensor<[0], f32>)
// -----
// expected-error @+1 {{dimension -1 is not an integer of at least 1}}
func.func private @tensor_c3_negative(!stg.tensor<[2 - 3], f32>)
// -----
// expected-error @+1 {{dimension 7/2 is not an integer of at least 1}}
func.func private @tensor_c3_fraction(!stg.tensor<[7/2], f32>)
// -----
// expected-error @+1 {{expected 'sum' or 'max' for a partial value, found 'min'}}
func.func private @unknown_reduction(!stg.tensor<[4], f32, min(tp)>)
// -----
// expected-error @+1 {{expected ','}}
func.func private @no_element_type(!stg.tensor<[4]>)
// -----
// expected-error @+1 {{expected '[' in tensor shape}}
func.func private @no_brackets(!stg.tensor<4xf32>)
// -----
// expected-error @+1 {{expected valid keyword}}
func.func private @no_axis(!stg.tensor<[4 : ()], f32>)
// -----
// expected-error @+1 {{expected a symbol, an integer or '('}}
func.func private @no_dimension(!stg.tensor<[4, ], f32>)
// -----
// expected-error @+1 {{expected a symbol, an integer or '('}}
func.func private @two_signs(!stg.tensor<[B - -1], f32>)
// -----
// expected-error @+1 {{'B' is not divisible by 'B + 1'}}
func.func private @not_divisible(!stg.tensor<[B/(B + 1)], f32>)
// -----
// expected-error @+1 {{division by zero}}
func.func private @division_by_zero(!stg.tensor<[B/(2 - 2)], f32>)
// -----
// expected-error @+1 {{'ceildiv' expects 2 operands, found 1}}
func.func private @ceildiv_of_one(!stg.tensor<[ceildiv(B)], f32>)
// -----
// expected-error @+1 {{'max' expects at least 2 operands, found 1}}
func.func private @max_of_one(!stg.tensor<[max(B)], f32>)
// -----
// expected-error @+1 {{unbalanced '(' character in pretty dialect name}}
func.func private @open_function(!stg.tensor<[min(B, 2], f32>)
// -----
// expected-error @+1 {{unbalanced '(' character in pretty dialect name}}
func.func private @open_parenthesis(!stg.tensor<[(B + 2], f32>)
// -----
// expected-error @+1 {{unknown attribute `shape` in dialect `stg`}}
func.func private @unknown_attribute() attributes {a = #stg.shape<2>}

// -----

// expected-error @+1 {{unknown attribute 'shape' in dialect 'sym'}}
func.func private @unknown_attribute() attributes {a = #sym.shape<2>}
// -----
// expected-error @+1 {{unknown  type `matrix` in dialect `stg`}}
func.func private @unknown_type(!stg.matrix<2>)
// -----
// expected-error @+1 {{expression is too large}}
func.func private @too_large(!stg.tensor<[(a0 + b0)*(a1 + b1)*(a2 + b2)*(a3 + b3)*(a4 + b4)*(a5 + b5)*(a6 + b6)*(a7 + b7)*(a8 + b8)*(a9 + b9)*(a10 + b10)*(a11 + b11)*(a12 + b12)*(a13 + b13)*(a14 + b14)*(a15 + b15)*(a16 + b16)*(a17 + b17)*(a18 + b18)*(a19 + b19)*(a20 + b20)*(a21 + b21)*(a22 + b22)*(a23 + b23)], f32>)
// -----
// expected-error @+1 {{element type 'f6E2M3FN' is not an integer or float of whole bytes, or f4E2M1FN}}
func.func private @tensor_c1_six_bits(!stg.tensor<[2], f6E2M3FN>)
// -----
// expected-error @+1 {{rows of type '!stg.mixed<[#sym.expr<4>, #sym.expr<2>] of bf16, f32>' have 6 elements, which the last dimension has not}}
func.func private @tensor_c4(!stg.tensor<[2, 5], !stg.mixed<[#sym.expr<4>, #sym.expr<2>] of bf16, f32>>)
// -----
// expected-error @+1 {{a row has 2 parts of 1 types, expected as many, at least two}}
func.func private @mixed_c1(!stg.tensor<[2, 6], !stg.mixed<[#sym.expr<4>, #sym.expr<2>] of bf16>>)
// -----
// expected-error @+1 {{a part of a row has type 'i4', expected that of an element}}
func.func private @mixed_c2(!stg.tensor<[2, 6], !stg.mixed<[#sym.expr<4>, #sym.expr<2>] of bf16, i4>>)
