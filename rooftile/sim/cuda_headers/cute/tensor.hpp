#error "CuTe is not on the simulated SM: its layouts end in inline PTX, which has no host body"
