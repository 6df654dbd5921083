// Residual networks over images: convolutions, each with a normalization of its channels over
// the batch, and what stands around them.
//
// An image is [batch, rows, columns, channels].

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of an image"
stg.symbol @IX "columns of an image"
stg.symbol @CI "channels of the input"
stg.symbol @C "channels of a bottleneck"
stg.symbol @CO = 4*C "channels of the output"
stg.symbol @NC "classes"

!input = !stg.tensor<[B, IY, IX, CI], bf16>
!narrow = !stg.tensor<[B, IY, IX, C], bf16>
!output = !stg.tensor<[B, IY, IX, CO], bf16>
!half_narrow = !stg.tensor<[B, IY/2, IX/2, C], bf16>
!half_output = !stg.tensor<[B, IY/2, IX/2, CO], bf16>
!quarter = !stg.tensor<[B, IY/4, IX/4, C], bf16>
!features = !stg.tensor<[B, CI], bf16>
!logits = !stg.tensor<[B, NC], bf16>
!loss = !stg.tensor<[B], f32>

// Normalization of each channel, and what follows.
stg.block @batch_norm(%x: !input) -> !input {
  stg.option @name : string = "bn" "of its parameters"
  stg.option @rectified : bool = true "a ReLU behind it"
  stg.option @norms_frozen : bool = false "constants scale and shift each channel, in the place of a normalization"
  %n = stg.if @norms_frozen -> !input {
    // No trace has the values of constants.
    %c = stg.splat 1 : !stg.tensor<[CI], bf16>
    %m = stg.mul_along %x, %c {dims = array<i64: 3>} <"{name}_scale"> : !input, !stg.tensor<[CI], bf16>
    %z = stg.bias_add %m, %c <"{name}_shift"> : !input, !stg.tensor<[CI], bf16>
    stg.yield %z : !input
  } else {
    %w = stg.param "{name}.weight" : !stg.tensor<[CI], bf16>
    %b = stg.param "{name}.bias" : !stg.tensor<[CI], bf16>
    %z = stg.batch_norm %x, %w, %b <"{name}"> : !input, !stg.tensor<[CI], bf16>, !stg.tensor<[CI], bf16>
    stg.yield %z : !input
  }
  %y = stg.if @rectified -> !input {
    %r = stg.activation relu %n <"{name}_relu"> : !input
    stg.yield %r : !input
  } else {
    stg.yield %n : !input
  }
  stg.return %y : !input
}

// The first layer: windows of 7 x 7 pixels, every second one, and the largest of 3 x 3 of what
// they give, every second one.
stg.block @image_stem(%x: !input) -> !quarter {
  stg.option @convolutions_frozen : bool = false "nothing trains the convolutions"
  %w = stg.param "conv" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[7, 7, CI, C], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 3, 3>} : !input, !stg.tensor<[7, 7, CI, C], bf16> -> !half_narrow
  %n = stg.call @batch_norm(%c) : (!half_narrow) -> !half_narrow
  %p = stg.pool max %n {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"max_pool"> : !half_narrow -> !quarter
  stg.return %p : !quarter
}

// Fewer channels, a convolution over 3 x 3 positions, more channels, and the input added.
stg.block @bottleneck(%x: !output) -> !output {
  stg.option @convolutions_frozen : bool = false "nothing trains the convolutions"
  %w1 = stg.param "conv1" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, CO, C], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !output, !stg.tensor<[1, 1, CO, C], bf16> -> !narrow
  %n1 = stg.call @batch_norm(%c1) {name = "bn1"} : (!narrow) -> !narrow
  %w2 = stg.param "conv2" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, C, C], bf16>
  %c2 = stg.conv %n1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !narrow, !stg.tensor<[3, 3, C, C], bf16> -> !narrow
  %n2 = stg.call @batch_norm(%c2) {name = "bn2"} : (!narrow) -> !narrow
  %w3 = stg.param "conv3" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, C, CO], bf16>
  %c3 = stg.conv %n2, %w3 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !narrow, !stg.tensor<[1, 1, C, CO], bf16> -> !output
  %n3 = stg.call @batch_norm(%c3) {name = "bn3", rectified = false} : (!output) -> !output
  %s = stg.add %x, %n3 <"residual"> : !output, !output
  %y = stg.activation relu %s <"residual_relu"> : !output
  stg.return %y : !output
}

// The first of a stage, whose input has other channels: a convolution takes it to those of the
// output.
stg.block @first_bottleneck(%x: !input) -> !output {
  stg.option @convolutions_frozen : bool = false "nothing trains the convolutions"
  %w1 = stg.param "conv1" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, CI, C], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, C], bf16> -> !narrow
  %n1 = stg.call @batch_norm(%c1) {name = "bn1"} : (!narrow) -> !narrow
  %w2 = stg.param "conv2" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, C, C], bf16>
  %c2 = stg.conv %n1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !narrow, !stg.tensor<[3, 3, C, C], bf16> -> !narrow
  %n2 = stg.call @batch_norm(%c2) {name = "bn2"} : (!narrow) -> !narrow
  %w3 = stg.param "conv3" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, C, CO], bf16>
  %c3 = stg.conv %n2, %w3 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !narrow, !stg.tensor<[1, 1, C, CO], bf16> -> !output
  %n3 = stg.call @batch_norm(%c3) {name = "bn3", rectified = false} : (!output) -> !output
  %wd = stg.param "downsample" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, CI, CO], bf16>
  %d = stg.conv %x, %wd {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !output
  %nd = stg.call @batch_norm(%d) {name = "downsample_bn", rectified = false} : (!output) -> !output
  %s = stg.add %nd, %n3 <"residual"> : !output, !output
  %y = stg.activation relu %s <"residual_relu"> : !output
  stg.return %y : !output
}

// The same with every second position: the convolution over 3 x 3 of them has the stride.
stg.block @first_half_bottleneck(%x: !input) -> !half_output {
  stg.option @convolutions_frozen : bool = false "nothing trains the convolutions"
  %w1 = stg.param "conv1" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, CI, C], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, C], bf16> -> !narrow
  %n1 = stg.call @batch_norm(%c1) {name = "bn1"} : (!narrow) -> !narrow
  %w2 = stg.param "conv2" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, C, C], bf16>
  %c2 = stg.conv %n1, %w2 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !narrow, !stg.tensor<[3, 3, C, C], bf16> -> !half_narrow
  %n2 = stg.call @batch_norm(%c2) {name = "bn2"} : (!half_narrow) -> !half_narrow
  %w3 = stg.param "conv3" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, C, CO], bf16>
  %c3 = stg.conv %n2, %w3 {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !half_narrow, !stg.tensor<[1, 1, C, CO], bf16> -> !half_output
  %n3 = stg.call @batch_norm(%c3) {name = "bn3", rectified = false} : (!half_output) -> !half_output
  %wd = stg.param "downsample" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, CI, CO], bf16>
  %d = stg.conv %x, %wd {strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !half_output
  %nd = stg.call @batch_norm(%d) {name = "downsample_bn", rectified = false} : (!half_output) -> !half_output
  %s = stg.add %nd, %n3 <"residual"> : !half_output, !half_output
  %y = stg.activation relu %s <"residual_relu"> : !half_output
  stg.return %y : !half_output
}

// Two convolutions over 3 x 3 positions, and the input added (ResNet-18 and -34).
stg.block @two_convolutions(%x: !output) -> !output {
  stg.option @convolutions_frozen : bool = false "nothing trains the convolutions"
  %w1 = stg.param "conv1" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, CO, CO], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !output, !stg.tensor<[3, 3, CO, CO], bf16> -> !output
  %n1 = stg.call @batch_norm(%c1) {name = "bn1"} : (!output) -> !output
  %w2 = stg.param "conv2" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, CO, CO], bf16>
  %c2 = stg.conv %n1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !output, !stg.tensor<[3, 3, CO, CO], bf16> -> !output
  %n2 = stg.call @batch_norm(%c2) {name = "bn2", rectified = false} : (!output) -> !output
  %s = stg.add %x, %n2 <"residual"> : !output, !output
  %y = stg.activation relu %s <"residual_relu"> : !output
  stg.return %y : !output
}

// The first of a stage, with every second position.
stg.block @first_half_two_convolutions(%x: !input) -> !half_output {
  stg.option @convolutions_frozen : bool = false "nothing trains the convolutions"
  %w1 = stg.param "conv1" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, CI, CO], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, CI, CO], bf16> -> !half_output
  %n1 = stg.call @batch_norm(%c1) {name = "bn1"} : (!half_output) -> !half_output
  %w2 = stg.param "conv2" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[3, 3, CO, CO], bf16>
  %c2 = stg.conv %n1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !half_output, !stg.tensor<[3, 3, CO, CO], bf16> -> !half_output
  %n2 = stg.call @batch_norm(%c2) {name = "bn2", rectified = false} : (!half_output) -> !half_output
  %wd = stg.param "downsample" {frozen, stg.options = {frozen = "convolutions_frozen"}} : !stg.tensor<[1, 1, CI, CO], bf16>
  %d = stg.conv %x, %wd {strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !half_output
  %nd = stg.call @batch_norm(%d) {name = "downsample_bn", rectified = false} : (!half_output) -> !half_output
  %s = stg.add %nd, %n2 <"residual"> : !half_output, !half_output
  %y = stg.activation relu %s <"residual_relu"> : !half_output
  stg.return %y : !half_output
}

// The mean of all positions, and of what it is.
stg.block @mean_of_image(%x: !input) -> !loss {
  %r = stg.rearrange "byxc->b(yx)c" %x <"positions"> : !input -> !stg.tensor<[B, _ = IY*IX, CI], bf16>
  %f = stg.mean dim 1 %r <"average_pool"> : !stg.tensor<[B, _ = IY*IX, CI], bf16>
  %m = stg.mean dim 1 %f <"mean_of_image"> : !features
  %l = stg.cast %m <"mean_of_image"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %l : !loss
}

// The mean of all positions, a classification and its cross-entropy.
stg.block @image_class_loss(%x: !input, %labels: !stg.tensor<[B], i32>) -> !loss {
  %r = stg.rearrange "byxc->b(yx)c" %x <"positions"> : !input -> !stg.tensor<[B, _ = IY*IX, CI], bf16>
  %f = stg.mean dim 1 %r <"average_pool"> : !stg.tensor<[B, _ = IY*IX, CI], bf16>
  %w = stg.param "fc" : !stg.tensor<[CI, NC], bf16>
  %p = stg.einsum "bc,cn->bn" %f, %w : !features, !stg.tensor<[CI, NC], bf16>
  %b = stg.param "fc_bias" : !stg.tensor<[NC], bf16>
  %l = stg.bias_add %p, %b : !logits, !stg.tensor<[NC], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels : !logits, !stg.tensor<[B], i32>
  stg.return %loss : !loss
}
