#error "cuRAND is not on the simulated SM: draw with a counter-based generator of your own (Philox)"
