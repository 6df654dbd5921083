// What lookups in tables of different sizes, and of ids that are sent, refuse.
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @embedding_c4_rank(%t: !stg.tensor<[A = 2, NT = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, A = 2, NT = 3], i32>) {
  // expected-error @+1 {{lists the rows of tables, expected a table of rank 3: tables, their mean rows, width}}
  %0 = stg.embedding %t, %i {rows = array<i64: 2, 9, 4>} : !stg.tensor<[A = 2, NT = 3, R = 5, D = 8], bf16>, !stg.tensor<[B = 4, A = 2, NT = 3], i32>
  return
}

// -----

func.func @embedding_c4_rows(%t: !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, NT = 3], i32>) {
  // expected-error @+1 {{lists a table with 0 rows, expected one at least}}
  %0 = stg.embedding %t, %i {rows = array<i64: 2, 13, 0>} : !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, !stg.tensor<[B = 4, NT = 3], i32>
  return
}

// -----

func.func @embedding_c4_none(%t: !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, NT = 3], i32>) {
  // expected-error @+1 {{lists the rows of no table}}
  %0 = stg.embedding %t, %i {rows = array<i64>} : !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, !stg.tensor<[B = 4, NT = 3], i32>
  return
}

// -----

func.func @embedding_c5_number(%t: !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, NT = 3], i32>) {
  // expected-error @+1 {{lists the rows of 2 tables, but there are 3}}
  %0 = stg.embedding %t, %i {rows = array<i64: 2, 13>} : !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, !stg.tensor<[B = 4, NT = 3], i32>
  return
}

// -----

func.func @embedding_c5_sum(%t: !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, NT = 3], i32>) {
  // expected-error @+1 {{lists 16 rows in all, but the tables have 15}}
  %0 = stg.embedding %t, %i {rows = array<i64: 2, 9, 5>} : !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, !stg.tensor<[B = 4, NT = 3], i32>
  return
}

// -----

func.func @embedding_c6(%t: !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, NT = 3], i32>) {
  // expected-error @+1 {{has 'over' or 'rows_over', which come with 'rows' of tables}}
  %0 = stg.embedding %t, %i {over = ["dp"]} : !stg.tensor<[NT = 3, R = 5, D = 8], bf16>, !stg.tensor<[B = 4, NT = 3], i32>
  return
}

// -----

func.func @bucketize_c1(%i: !stg.tensor<[B = 4, P = 6], i32>) {
  // expected-error @+1 {{ids has rank 2, expected 3}}
  %l, %s = stg.bucketize %i : !stg.tensor<[B = 4, P = 6], i32> -> !stg.tensor<[2, B = 4, N = 3], i32>, !stg.tensor<[2, 12], i32>
  return
}

// -----

func.func @bucketize_c2_samples(%i: !stg.tensor<[B = 4, P = 2, N = 3], i32>) {
  // expected-error @+1 {{samples and tables has extent 5 in dimension 1, expected 3}}
  %l, %s = stg.bucketize %i : !stg.tensor<[B = 4, P = 2, N = 3], i32> -> !stg.tensor<[2, B = 4, N = 5], i32>, !stg.tensor<[2, 12], i32>
  return
}

// -----

func.func @bucketize_c2_number(%i: !stg.tensor<[B = 4, P = 2, N = 3], i32>) {
  // expected-error @+1 {{sorts 24 ids, but gives 26}}
  %l, %s = stg.bucketize %i : !stg.tensor<[B = 4, P = 2, N = 3], i32> -> !stg.tensor<[2, B = 4, N = 3], i32>, !stg.tensor<[2, 13], i32>
  return
}

// -----

func.func @embedding_bag_c1(%t: !stg.tensor<[N = 3, R = 5, D = 8], bf16>, %i: !stg.tensor<[1, 12], i32>, %l: !stg.tensor<[1, B = 4, N = 3], i32>) {
  // expected-error @+1 {{table has rank 3, expected 2: rows and embedding size}}
  %0 = stg.embedding_bag %t, %i, %l : !stg.tensor<[N = 3, R = 5, D = 8], bf16>, !stg.tensor<[1, 12], i32>, !stg.tensor<[1, B = 4, N = 3], i32> -> !stg.tensor<[B = 4, N = 3, D = 8], bf16>
  return
}

// -----

func.func @embedding_bag_c2(%t: !stg.tensor<[R = 5, D = 8], bf16>, %i: !stg.tensor<[1, 12], bf16>, %l: !stg.tensor<[1, B = 4, N = 3], i32>) {
  // expected-error @+1 {{ids has element type 'bf16', expected an integer}}
  %0 = stg.embedding_bag %t, %i, %l : !stg.tensor<[R = 5, D = 8], bf16>, !stg.tensor<[1, 12], bf16>, !stg.tensor<[1, B = 4, N = 3], i32> -> !stg.tensor<[B = 4, N = 3, D = 8], bf16>
  return
}

// -----

func.func @embedding_bag_c3(%t: !stg.tensor<[R = 5, D = 8], bf16>, %i: !stg.tensor<[1, 12], i32>, %l: !stg.tensor<[1, B = 4, N = 3], i32>) {
  // expected-error @+1 {{what is found has extent 7 in dimension 0, expected 4}}
  %0 = stg.embedding_bag %t, %i, %l : !stg.tensor<[R = 5, D = 8], bf16>, !stg.tensor<[1, 12], i32>, !stg.tensor<[1, B = 4, N = 3], i32> -> !stg.tensor<[B = 7, N = 3, D = 8], bf16>
  return
}

// -----

func.func @embedding_bag_grad(%i: !stg.tensor<[1, 12], i32>, %l: !stg.tensor<[1, B = 4, N = 3], i32>, %dy: !stg.tensor<[B = 4, N = 3, D = 8], bf16>) {
  // expected-error @+1 {{what is found has extent 8 in dimension 2, expected 9}}
  %0 = stg.embedding_bag_grad %i, %l, %dy : !stg.tensor<[1, 12], i32>, !stg.tensor<[1, B = 4, N = 3], i32>, !stg.tensor<[B = 4, N = 3, D = 8], bf16> -> !stg.tensor<[R = 5, D = 9], f32>
  return
}

// -----

func.func @row_adagrad_c1(%t: !stg.tensor<[R = 5, D = 8], bf16>, %i: !stg.tensor<[B = 4, P = 2], i32>, %dy: !stg.tensor<[B = 4, D = 9], bf16>) {
  // expected-error @+1 {{embedding size has extent 8 in dimension 0, expected 9}}
  %0 = stg.row_adagrad %t, %i, %dy {pooled = 1} : !stg.tensor<[R = 5, D = 8], bf16>, !stg.tensor<[B = 4, P = 2], i32>, !stg.tensor<[B = 4, D = 9], bf16>
  return
}
