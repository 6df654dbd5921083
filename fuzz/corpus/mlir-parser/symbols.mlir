stg.symbol @B "sequences in the global batch"
stg.symbol @D = 4096 "hidden size"
stg.symbol @E = D/32
stg.config @small {D = 64, B = 8}
stg.config @"llama3-8b" "Llama 3 8B" {D = 4096}
stg.mesh @mesh <tp = 8, dp = B> rules [B : dp, D : tp @stream]
