// Samples that are several things one behind the other, as the frames of videos, are divided as
// samples: ranks that have all frames of some videos make the places of these of them, and say
// nothing to each other.
//
// RUN: stg-opt %s --stg-name-ops --stg-apply-preset="dp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @NF
stg.symbol @NP
!frames = !stg.tensor<[B = NF*B, S = NP, D], bf16>
!places = !stg.tensor<[B = NP*B, S = NF, D], bf16>
!videos = !stg.tensor<[B, _ = NF, D], bf16>
!rows = !stg.tensor<[B = NF*B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// CHECK-LABEL: func.func @to_places
// CHECK-SAME:  (%{{.*}}: !stg.tensor<[B = B*NF/2, S = NP, D], bf16>{{.*}}) -> !stg.tensor<[B = B*NF/2, S = NP, D], bf16>
// CHECK-NEXT:  stg.rearrange "(bf)pd->(bp)fd" {{.*}} -> !stg.tensor<[B = B*NP/2, S = NF, D], bf16>
// CHECK-NEXT:  stg.param
// CHECK-NEXT:  stg.einsum {{.*}} : !stg.tensor<[B = B*NP/2, S = NF, D], bf16>
// CHECK-NEXT:  stg.rearrange "(bp)fd->(bf)pd"
// CHECK-NEXT:  return
func.func @to_places(%x: !frames) -> !frames {
  %p = stg.rearrange "(bf)pd->(bp)fd" %x <"places"> : !frames -> !places
  %w = stg.param "w" : !w
  %y = stg.einsum "bsd,de->bse" %p, %w : !places, !w
  %z = stg.rearrange "(bp)fd->(bf)pd" %y <"frames"> : !places -> !frames
  return %z : !frames
}

// CHECK-LABEL: func.func @to_videos
// CHECK-SAME:  (%{{.*}}: !stg.tensor<[B = B*NF/2, D], bf16>{{.*}}) -> !stg.tensor<[B = B*NF/2, D], bf16>
// CHECK-NEXT:  stg.rearrange "(bf)d->bfd" {{.*}} -> !stg.tensor<[B/2, _ = NF, D], bf16>
// CHECK-NEXT:  stg.activation
// CHECK-NEXT:  stg.rearrange "bfd->(bf)d"
// CHECK-NEXT:  return
func.func @to_videos(%x: !rows) -> !rows {
  %v = stg.rearrange "(bf)d->bfd" %x <"videos"> : !rows -> !videos
  %y = stg.activation gelu %v : !videos
  %z = stg.rearrange "bfd->(bf)d" %y <"rows"> : !videos -> !rows
  return %z : !rows
}

// Where frames come before videos, each rank has some videos of no frame alone.
// CHECK-LABEL: func.func @frames_first
// CHECK:       stg.all_gather dim 0 over ["dp"]
// CHECK-NEXT:  stg.rearrange "(bf)pd->(fb)pd" {{.*}} -> !stg.tensor<[B = B*NF, S = NP, D], bf16>
func.func @frames_first(%x: !frames) -> !frames {
  %p = stg.rearrange "(bf)pd->(fb)pd" %x <"frames_first"> : !frames -> !frames
  return %p : !frames
}
