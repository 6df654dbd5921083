// Messages and accumulated gradients that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

stg.mesh @mesh <pp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @send_axis(%x: !x) {
  // expected-error @+1 {{'stg.send' op is over 'tp', which is not an axis of the mesh}}
  stg.send over "tp" shift 1 channel 0 %x : !x
  return
}
// -----
stg.mesh @mesh <pp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @send_shift(%x: !x) {
  // expected-error @+1 {{'stg.send' op has shift 0, which is the device itself}}
  stg.send over "pp" shift 0 channel 0 %x : !x
  return
}
// -----
stg.mesh @mesh <pp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @send_channel(%x: !x) {
  // expected-error @+1 {{'stg.send' op has the channel -1, expected at least 0}}
  stg.send over "pp" shift 1 channel -1 %x : !x
  return
}
// -----
stg.mesh @mesh <pp = 2>
func.func @send_nothing() {
  // expected-error @+1 {{'stg.send' op expects at least one value}}
  "stg.send"() {axis = "pp", shift = 1 : i64, channel = 0 : i64} : () -> ()
  return
}
// -----
stg.mesh @mesh <pp = 2>
func.func @recv_axis() {
  // expected-error @+1 {{'stg.recv' op is over 'tp', which is not an axis of the mesh}}
  %0 = stg.recv over "tp" shift -1 channel 0 : !stg.tensor<[4, 6], f32>
  return
}
// -----
stg.mesh @mesh <pp = 2>
func.func @recv_shift() {
  // expected-error @+1 {{'stg.recv' op has shift 0, which is the device itself}}
  %0 = stg.recv over "pp" shift 0 channel 0 : !stg.tensor<[4, 6], f32>
  return
}
// -----
stg.mesh @mesh <pp = 2>
func.func @recv_channel() {
  // expected-error @+1 {{'stg.recv' op has the channel -7, expected at least 0}}
  %0 = stg.recv over "pp" shift -1 channel -7 : !stg.tensor<[4, 6], f32>
  return
}
// -----
stg.mesh @mesh <pp = 2>
func.func @recv_nothing() {
  // expected-error @+1 {{'stg.recv' op expects at least one value}}
  "stg.recv"() {axis = "pp", shift = 1 : i64, channel = 0 : i64} : () -> ()
  return
}
// -----
stg.mesh @mesh <pp = 2>
func.func @recv_symbol() {
  // expected-error @+1 {{'stg.recv' op uses symbol 'B', which is not declared; declare it with 'stg.symbol @B'}}
  %0 = stg.recv over "pp" shift -1 channel 0 : !stg.tensor<[B, 6], f32>
  return
}
// -----
func.func @accumulate_shape(%total: !stg.tensor<[4, 6], f32>, %term: !stg.tensor<[6, 4], f32>) {
  // expected-error @+1 {{operand #1 has extent 6 in dimension 0, expected 4}}
  %0 = stg.accumulate %total, %term : !stg.tensor<[4, 6], f32>, !stg.tensor<[6, 4], f32>
  return
}
// -----
func.func @accumulate_element_type(%total: !stg.tensor<[4, 6], f32>, %term: !stg.tensor<[4, 6], bf16>) {
  // expected-error @+1 {{operand #1 has element type 'bf16', expected 'f32'}}
  %0 = stg.accumulate %total, %term : !stg.tensor<[4, 6], f32>, !stg.tensor<[4, 6], bf16>
  return
}
// -----
stg.mesh @mesh <pp = 2>
!t = !stg.tensor<[4], i32>
func.func @recv_into_whole(%t: !t) {
  // expected-error @+1 {{'stg.recv' op expects a payload with what it receives into, and only with it}}
  %0 = stg.recv into %t : !t over "pp" shift -1 channel 0 : !t
  return
}
// -----
stg.mesh @mesh <pp = 2>
!t = !stg.tensor<[4], i32>
func.func @recv_into_another(%t: !t) {
  // expected-error @+1 {{'stg.recv' op receives into a value of type '!stg.tensor<[4], i32>', which is not that of its only result}}
  %0 = stg.recv into %t : !t payload(4) over "pp" shift -1 channel 0 : !stg.tensor<[2], i32>
  return
}
