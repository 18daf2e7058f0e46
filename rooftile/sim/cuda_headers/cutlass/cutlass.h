#error "CUTLASS is not on the simulated SM: it ends in inline PTX, which has no host body"
