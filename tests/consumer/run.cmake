# Builds and runs the consumer. MODE, SOURCE_DIR, BUILD_DIR (of Rooftile), GENERATOR, CXX, LAUNCHER, PKG_CONFIG.
set(scratch ${BUILD_DIR}/consumer/${MODE})
set(prefix ${scratch}/prefix)
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# install([--component NAME])
function(install)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} ${ARGN}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The same host flags as an ordinary user: none.
set(configure ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${scratch}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_PREFIX_PATH=${prefix})

# refused(COMPONENT TEXT): find_package says the text.
function(refused component text)
  execute_process(COMMAND ${configure} -DROOFTILE_COMPONENTS=${component}
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")
  string(FIND "${error}" "${text}" found)
  if(result EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "find_package with component ${component} shall say \"${text}\"; it said: ${error}")
  endif()
endfunction()

if(MODE STREQUAL "find_package")
  install()
  refused(simulator "rooftile has no component \"simulator\": use library, sim or headers")
  run(${configure} -DROOFTILE_COMPONENTS=sim)
  run(${CMAKE_COMMAND} --build ${scratch}/build)
  run(${scratch}/build/consumer)
  run(${scratch}/build/simulating_consumer)
elseif(MODE STREQUAL "add_subdirectory")
  run(${configure} -DCMAKE_BUILD_TYPE=Release -DROOFTILE_SOURCE_DIR=${SOURCE_DIR})
  run(${CMAKE_COMMAND} --build ${scratch}/build --target consumer)
  run(${scratch}/build/mine/consumer)
elseif(MODE STREQUAL "pkg_config")
  install(--component headers)
  install(--component library)
  # It is found wherever it lies.
  file(RENAME ${prefix} ${scratch}/moved)
  file(GLOB_RECURSE description ${scratch}/moved/rooftile.pc)
  cmake_path(GET description PARENT_PATH folder)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --cflags --libs rooftile
                  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CXX} -std=c++20 ${SOURCE_DIR}/tests/consumer/main.cpp -o ${scratch}/consumer ${flags})
  run(${scratch}/consumer)
elseif(MODE STREQUAL "headers")
  install(--component headers)
  refused(library "its headers are installed without the library")
  run(${configure} -DROOFTILE_COMPONENTS=headers)
  install(--component sim)
  run(${SOURCE_DIR}/tests/consumer/headers_test ${prefix} ${CXX})
endif()
