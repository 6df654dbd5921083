// ResNet with bottlenecks, as torchvision has it: the convolution over 3 x 3 positions has the
// stride of a stage (version 1.5).
//
// Four stages, each of which doubles the channels and, but for the first, halves rows and
// columns. Each convolution has a normalization over the batch behind it.

stg.import "blocks/residual.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @IM = 224 "rows and columns of an image"
stg.symbol @CI = 3 "channels of an image"
stg.symbol @C = 64 "channels of the first layer"
stg.symbol @NC = 1000 "classes"
stg.symbol @L1 "layers of the first stage"
stg.symbol @L2 "layers of the second stage"
stg.symbol @L3 "layers of the third stage"
stg.symbol @L4 "layers of the fourth stage"

stg.config @"resnet-50" "ResNet-50" {L1 = 3, L2 = 4, L3 = 6, L4 = 3}
stg.config @"resnet-101" "ResNet-101" {L1 = 3, L2 = 4, L3 = 23, L4 = 3}
stg.config @"resnet-152" "ResNet-152" {L1 = 3, L2 = 8, L3 = 36, L4 = 3}

!images = !stg.tensor<[B, IY = IM, IX = IM, CI], bf16>
!labels = !stg.tensor<[B], i32>
!loss = !stg.tensor<[B], f32>
!stem = !stg.tensor<[B, IY = IM/4, IX = IM/4, C], bf16>
!stage1 = !stg.tensor<[B, IY = IM/4, IX = IM/4, CO = 4*C], bf16>
!stage2 = !stg.tensor<[B, IY = IM/8, IX = IM/8, CO = 8*C], bf16>
!stage3 = !stg.tensor<[B, IY = IM/16, IX = IM/16, CO = 16*C], bf16>
!stage4 = !stg.tensor<[B, IY = IM/32, IX = IM/32, CO = 32*C], bf16>

func.func @resnet(%images: !images {stg.name = "images"}, %labels: !labels {stg.name = "labels"}) -> !loss {
  %s = stg.call @image_stem(%images) <"stem"> : (!images) -> !stem
  %a0 = stg.call @first_bottleneck(%s) {C = C, CO = 4*C} <"stage1"> : (!stem) -> !stage1
  %a = stg.repeat "stage1" * (L1 - 1) carry(%x = %a0 : !stage1) {
    %y = stg.call @bottleneck(%x) {C = C} : (!stage1) -> !stage1
    stg.yield %y : !stage1
  }
  %b0 = stg.call @first_half_bottleneck(%a) {C = 2*C, CO = 8*C} <"stage2"> : (!stage1) -> !stage2
  %b = stg.repeat "stage2" * (L2 - 1) carry(%x = %b0 : !stage2) {
    %y = stg.call @bottleneck(%x) {C = 2*C} : (!stage2) -> !stage2
    stg.yield %y : !stage2
  }
  %c0 = stg.call @first_half_bottleneck(%b) {C = 4*C, CO = 16*C} <"stage3"> : (!stage2) -> !stage3
  %c = stg.repeat "stage3" * (L3 - 1) carry(%x = %c0 : !stage3) {
    %y = stg.call @bottleneck(%x) {C = 4*C} : (!stage3) -> !stage3
    stg.yield %y : !stage3
  }
  %d0 = stg.call @first_half_bottleneck(%c) {C = 8*C, CO = 32*C} <"stage4"> : (!stage3) -> !stage4
  %d = stg.repeat "stage4" * (L4 - 1) carry(%x = %d0 : !stage4) {
    %y = stg.call @bottleneck(%x) {C = 8*C} : (!stage4) -> !stage4
    stg.yield %y : !stage4
  }
  %loss = stg.call @image_class_loss(%d, %labels) : (!stage4, !labels) -> !loss
  return %loss : !loss
}
