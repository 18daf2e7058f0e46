# Builds and runs the consumer. MODE, SOURCE_DIR, BUILD_DIR (of Rooftile), GENERATOR, CXX, LAUNCHER.
set(scratch ${BUILD_DIR}/consumer/${MODE})
file(REMOVE_RECURSE ${scratch})

if(MODE STREQUAL "find_package")
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${scratch}/prefix
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(arguments -DCMAKE_PREFIX_PATH=${scratch}/prefix)
else()
  set(arguments -DROOFTILE_SOURCE_DIR=${SOURCE_DIR} -DROOFTILE_CUDA=OFF)
endif()
# The same host flags as an ordinary user: none.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${scratch}/build -G ${GENERATOR}
                        -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} ${arguments}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${scratch}/build --target consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${scratch}/build/consumer COMMAND_ERROR_IS_FATAL ANY)
