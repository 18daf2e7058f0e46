# The verdicts' own gate: exit code 1 when 200 comparisons of a rung with itself say "different" more than 10 times, or
# 200 with 3 % more work say "faster" fewer than 180 times. Alone, because it measures time; not of sanitized code, whose
# times are nobody's. Launches of 12 us: a round of them is over before a busy host changes its pace (docs/measuring.md).
rooftile_add_script_test(lab.verdicts TIMEOUT 600 COMMAND rooftile_cli verdicts reduce --rung serial --device cpu
                                              --mode stream-hot --shape n=2^14 --runs 200)
set_tests_properties(lab.verdicts PROPERTIES RUN_SERIAL TRUE)
if(ROOFTILE_SANITIZE)
  set_tests_properties(lab.verdicts PROPERTIES DISABLED TRUE)
endif()
