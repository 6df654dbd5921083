// Episodes of states and actions: each step has three tokens, of which what is still to be won comes
// first, then the state, then the action (Decision Transformer).

stg.symbol @B "episodes in the global batch"
stg.symbol @S "steps of an episode"
stg.symbol @D "hidden size"
stg.symbol @SD "numbers of a state"
stg.symbol @AD "numbers of an action"
stg.symbol @ME "steps that are told apart"

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B], f32>
!returns = !stg.tensor<[B, S, 1], bf16>
!states = !stg.tensor<[B, S, SD], bf16>
!actions = !stg.tensor<[B, S, AD], bf16>
!step = !stg.tensor<[B, S, D], bf16>
!three = !stg.tensor<[B, S, 3*D], bf16>
!tokens = !stg.tensor<[B, S = 3*S, D], bf16>
!vector = !stg.tensor<[D], bf16>

// A matrix with a bias each, and a row for each step, which the three tokens of it share.
stg.block @embed_episode(%returns: !returns, %states: !states, %actions: !actions, %steps: !ids) -> !tokens {
  %table = stg.param "step_embeddings" : !stg.tensor<[ME, D], bf16>
  %t = stg.embedding %table, %steps <"steps"> : !stg.tensor<[ME, D], bf16>, !ids
  %ws = stg.param "state_proj" : !stg.tensor<[SD, D], bf16>
  %ms = stg.einsum "bsn,nd->bsd" %states, %ws : !states, !stg.tensor<[SD, D], bf16>
  %bs = stg.param "state_bias" : !vector
  %s = stg.bias_add %ms, %bs : !step, !vector
  %wa = stg.param "action_proj" : !stg.tensor<[AD, D], bf16>
  %ma = stg.einsum "bsn,nd->bsd" %actions, %wa : !actions, !stg.tensor<[AD, D], bf16>
  %ba = stg.param "action_bias" : !vector
  %a = stg.bias_add %ma, %ba : !step, !vector
  %wr = stg.param "return_proj" : !stg.tensor<[1, D], bf16>
  %mr = stg.einsum "bsn,nd->bsd" %returns, %wr : !returns, !stg.tensor<[1, D], bf16>
  %br = stg.param "return_bias" : !vector
  %r = stg.bias_add %mr, %br : !step, !vector
  %st = stg.add %s, %t <"states_of_steps"> : !step, !step
  %at = stg.add %a, %t <"actions_of_steps"> : !step, !step
  %rt = stg.add %r, %t <"returns_of_steps"> : !step, !step
  %j = stg.concat dim 2 ordered %rt, %st, %at <"steps_in_order"> : !step, !step, !step -> !three
  %y = stg.rearrange "bs(md)->b(sm)d" %j <"tokens"> : !three -> !tokens
  stg.return %y : !tokens
}

// How far an action that a state says is from the one that was taken. Behind an action are the next
// state and what is won, too, which nobody reads.
stg.block @action_loss(%x: !tokens, %targets: !actions) -> !loss {
  stg.option @action_tanh : bool = true "actions are between -1 and 1"
  %j = stg.rearrange "b(sm)d->bs(md)" %x <"tokens_of_steps"> : !tokens -> !three
  %r, %s, %a = stg.split dim 2 ordered %j : !three -> !step, !step, !step
  %wr = stg.param "return_head" : !stg.tensor<[D, 1], bf16>
  %mr = stg.einsum "bsd,dn->bsn" %a, %wr : !step, !stg.tensor<[D, 1], bf16>
  %br = stg.param "return_head_bias" : !stg.tensor<[1], bf16>
  %pr = stg.bias_add %mr, %br : !returns, !stg.tensor<[1], bf16>
  stg.keep %pr : !returns
  %ws = stg.param "state_head" : !stg.tensor<[D, SD], bf16>
  %ms = stg.einsum "bsd,dn->bsn" %a, %ws : !step, !stg.tensor<[D, SD], bf16>
  %bs = stg.param "state_head_bias" : !stg.tensor<[SD], bf16>
  %ps = stg.bias_add %ms, %bs : !states, !stg.tensor<[SD], bf16>
  stg.keep %ps : !states
  %wa = stg.param "action_head" : !stg.tensor<[D, AD], bf16>
  %ma = stg.einsum "bsd,dn->bsn" %s, %wa : !step, !stg.tensor<[D, AD], bf16>
  %ba = stg.param "action_head_bias" : !stg.tensor<[AD], bf16>
  %la = stg.bias_add %ma, %ba : !actions, !stg.tensor<[AD], bf16>
  %pa = stg.if @action_tanh -> !actions {
    %z = stg.activation tanh %la <"action_tanh"> : !actions
    stg.yield %z : !actions
  } else {
    stg.yield %la : !actions
  }
  %e = stg.elementwise sub %pa, %targets <"differences"> : !actions, !actions
  %q = stg.elementwise square %e <"squared_differences"> : !actions
  %n = stg.mean dim 2 %q <"mean_of_numbers"> : !actions
  %m = stg.mean dim 1 %n <"mean_of_steps"> : !stg.tensor<[B, S], bf16>
  %y = stg.cast %m <"mean_of_steps"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}
