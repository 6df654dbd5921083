// What ops that go over tokens execute: published models, one sequence.
//
// RUN: stg-opt %s --stg-name-ops --convert-stg-to-chakra | FileCheck %s

// Nemotron-H 56B: 256 heads of 64, 8 groups, state 256, chunks of 128; 21,495,808 operations
// per token, and 163,840 of the convolution of 20,480 channels.
!x = !stg.tensor<[1, 128, 256, 64], bf16>
!t = !stg.tensor<[1, 128, 256], bf16>
!a = !stg.tensor<[256], bf16>
!g = !stg.tensor<[1, 128, 8, 256], bf16>
!c = !stg.tensor<[1, 128, 20480], bf16>
!cw = !stg.tensor<[20480, 4], bf16>
// With all of 200 tokens: chunks of 128 and 72.
!x2 = !stg.tensor<[1, 200, 256, 64], bf16>
!t2 = !stg.tensor<[1, 200, 256], bf16>
!n2 = !stg.tensor<[1, 200, 256], bf16>
// Mamba 2.8B: 5,120 channels, state 16; 573,440 operations per token.
!m = !stg.tensor<[1, 64, 5120], bf16>
!ma = !stg.tensor<[5120, 16], bf16>
!mn = !stg.tensor<[1, 64, 16], bf16>
!md = !stg.tensor<[5120], bf16>
// Qwen3.5 397B: 16 key heads and 64 value heads of 128, chunks of 64; 11,705,024 operations
// per token, of which 170,688 solve for the corrections.
!q = !stg.tensor<[1, 64, 16, 128], bf16>
!v = !stg.tensor<[1, 64, 64, 128], bf16>
!b = !stg.tensor<[1, 64, 64], bf16>
!d = !stg.tensor<[64], bf16>
// Kimi Linear: 32 heads of 128, and what each element of a key forgets: 10*64*64*128 + 6*64*128*128
// + 64*63*127/3 operations of a head, and four tensors of heads, a result and two of numbers.
!k = !stg.tensor<[1, 64, 32, 128], bf16>
!kb = !stg.tensor<[1, 64, 32], bf16>
!kd = !stg.tensor<[32], bf16>
// Zamba 7B: 2 heads of 3712 channels, each of which reads and writes what its head says.
!z = !stg.tensor<[1, 64, 2, 3712], bf16>
!za = !stg.tensor<[2, 3712, 16], bf16>
!zn = !stg.tensor<[1, 64, 2, 16], bf16>
!zd = !stg.tensor<[2, 3712], bf16>
func.func @f(%x: !x {stg.name = "x"}, %t: !t {stg.name = "t"}, %a: !a {stg.name = "a"}, %g: !g {stg.name = "g"},
             %c: !c {stg.name = "c"}, %cw: !cw {stg.name = "cw"}, %x2: !x2 {stg.name = "x2"}, %n2: !n2 {stg.name = "n2"},
             %m: !m {stg.name = "m"}, %ma: !ma {stg.name = "ma"}, %mn: !mn {stg.name = "mn"}, %md: !md {stg.name = "md"},
             %q: !q {stg.name = "q"}, %v: !v {stg.name = "v"}, %b: !b {stg.name = "b"}, %d: !d {stg.name = "d"},
             %k: !k {stg.name = "k"}, %kb: !kb {stg.name = "kb"}, %kd: !kd {stg.name = "kd"},
             %z: !z {stg.name = "z"}, %za: !za {stg.name = "za"}, %zn: !zn {stg.name = "zn"}, %zd: !zd {stg.name = "zd"}) {
  // 128*21,495,808
  // CHECK: comp "ssd.fwd"({{.*}}) ops(2751463424) matrix
  %0 = stg.ssd 128 %x, %t, %a, %g, %g, %a <"ssd"> : !x, !t, !a, !g, !g, !a
  // 128*163,840
  // CHECK: comp "conv.fwd"({{.*}}) ops(20971520) bytes
  %1 = stg.causal_conv %c, %cw <"conv"> : !c, !cw
  // One group: 2*(128*128 + 72*72)*(256 + 16384) + 200*4*16384*256
  // CHECK: comp "rest.fwd"({{.*}}) ops(4073226240) matrix
  %2 = stg.ssd 128 %x2, %n2, %a, %n2, %n2, %a <"rest"> : !x2, !t2, !a, !n2, !n2, !a
  // 64*573,440
  // CHECK: comp "scan.fwd"({{.*}}) ops(36700160) bytes
  %3 = stg.selective_scan %m, %m, %ma, %mn, %mn, %md <"scan"> : !m, !m, !ma, !mn, !mn, !md
  // 64*11,705,024
  // CHECK: comp "delta.fwd"({{.*}}) ops(749121536) matrix
  %4 = stg.gated_delta_rule 64 %q, %q, %v, %b, %d, %b <"delta"> : !q, !q, !v, !b, !d, !b
  // 32*11,705,024; 5*524,288 + 4096 + 64
  // CHECK: comp "channels.fwd"({{.*}}) ops(374560768) matrix bytes(1052736)
  %5 = stg.gated_delta_rule 64 %k, %k, %k, %k, %kd, %kb <"channels"> : !k, !k, !k, !k, !kd, !kb
  // 7*64*7424*16
  // CHECK: comp "heads.fwd"({{.*}}) ops(53215232) bytes
  %6 = stg.selective_scan %z, %z, %za, %zn, %zn, %zd <"heads"> : !z, !z, !za, !zn, !zn, !zd
  return
}
