# The same kernel sources with instrumented accesses (namespace rooftile::checked), for rooftile/sim/checked/.
#
# Instrumented and plain objects must not share an inline function or a template: the linker keeps one copy of each,
# and either choice is wrong, silently. So all instrumented objects become one, in which groups of shared sections are
# dissolved (ld -r --force-group-allocation) and only the names of namespace rooftile::checked are visible (objcopy).
if(ROOFTILE_SANITIZE)
  set(ROOFTILE_CHECKED OFF)  # two instrumentations of one access
endif()

# ThreadSanitizer's and the coverage's calls at compile time; what they call is rooftile/sim/checked/hooks.cpp, and no
# runtime of g++ is linked (-Wno-tsan: ours knows fences). Source lines need debug information (-g1), exact counts one
# instruction per access: nothing merged, vectorised, or copied into several places; no loop that never ends left out.
set(rooftile_checked_options ${ROOFTILE_CHECKED_OPTIMISATION} -g1 -Wno-tsan
  -fsanitize=thread "SHELL:--param tsan-instrument-func-entry-exit=0"
  "SHELL:--param tsan-distinguish-volatile=1" -fsanitize-coverage=trace-pc -fsanitize=bounds,alignment
  -finline-small-functions -fno-tree-loop-distribute-patterns -fno-tree-vectorize -fno-tree-slp-vectorize
  -fno-store-merging -fno-thread-jumps -fno-tree-dominator-opts -fno-split-paths -fno-reorder-blocks
  -fno-reorder-blocks-and-partition -fno-crossjumping -fno-tree-tail-merge -fno-tree-vrp -fno-ipa-cp-clone
  -fno-gnu-unique -fno-ipa-icf -fno-shrink-wrap -fno-optimize-sibling-calls -fno-finite-loops -Wa,--keep-locals)

# rooftile_add_checked_object(TARGET FILES.cu...): makes TARGET_FILE of the checked object known as the target's
# property ROOFTILE_CHECKED_OBJECT; no target where there are no files.
function(rooftile_add_checked_object target)
  if(NOT ARGN OR NOT ROOFTILE_CHECKED)
    return()
  endif()
  rooftile_generate_sim_sources(generated checked ${ARGN})
  add_library(${target}_parts OBJECT ${generated})
  rooftile_configure_target(${target}_parts)
  target_include_directories(${target}_parts PRIVATE ${PROJECT_SOURCE_DIR}
                             ${PROJECT_SOURCE_DIR}/rooftile/sim/cuda_headers)
  target_compile_definitions(${target}_parts PRIVATE ROOFTILE_TARGET=checked ROOFTILE_SIM=1 ROOFTILE_SIM_CHECKED=1)
  target_compile_options(${target}_parts PRIVATE ${rooftile_checked_options})
  rooftile_configure_simulated(${target}_parts)

  set(object ${PROJECT_BINARY_DIR}/checked/${target}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object}.all $<TARGET_OBJECTS:${target}_parts>
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=_ZN8rooftile7checked*" ${object}.all ${object}
    COMMAND ${CMAKE_COMMAND} -E rm ${object}.all
    DEPENDS ${target}_parts $<TARGET_OBJECTS:${target}_parts>
    COMMENT "Checked object ${target}.o" COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  # Programs in several directories may link it; it is made once.
  add_custom_target(${target} DEPENDS ${object})
  set_target_properties(${target} PROPERTIES ROOFTILE_CHECKED_OBJECT ${object})
endfunction()

# rooftile_link_checked(PROGRAM CHECKED_TARGETS...): absent ones are passed over.
function(rooftile_link_checked program)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      get_target_property(object ${target} ROOFTILE_CHECKED_OBJECT)
      target_sources(${program} PRIVATE ${object})
      add_dependencies(${program} ${target})
    endif()
  endforeach()
endfunction()
