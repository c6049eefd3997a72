# kw_library(ROOM PUBLIC ... PRIVATE ...) and kw_test(ROOM ...): the only ways that own code is built.

add_library(kubewatch_settings INTERFACE)
target_include_directories(kubewatch_settings INTERFACE ${PROJECT_SOURCE_DIR}/lib)
target_compile_options(kubewatch_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wnull-dereference -fno-strict-aliasing -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # False positives of GCC 12 with std::string and std::function under optimisation.
  target_compile_options(kubewatch_settings INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-null-dereference)
endif()
if(KUBEWATCH_DEV)
  target_compile_options(kubewatch_settings INTERFACE -Werror)
endif()
if(KUBEWATCH_SANITIZE)
  # UBSan is for what ships: in the test cases' own code it is a third of the time that they compile.
  # A null pointer ends the process under ASan anyway, and the machines that run this read unaligned:
  # those two checks stand at each access of a member, and are half of the code that UBSan adds.
  set(of_what_ships $<$<NOT:$<BOOL:$<TARGET_PROPERTY:KUBEWATCH_TEST_CASES>>>:$<COMMA>undefined>)
  target_compile_options(kubewatch_settings INTERFACE
    -fsanitize=address${of_what_ships} -fno-sanitize=null,alignment -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(kubewatch_settings INTERFACE -fsanitize=address,undefined)
endif()
# What nobody calls is not linked: the binary's pages are most of an idle process.
target_compile_options(kubewatch_settings INTERFACE
  $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
target_link_options(kubewatch_settings INTERFACE
  $<$<CONFIG:Release>:LINKER:--gc-sections> $<$<CONFIG:Release>:LINKER:--as-needed>)
if(KUBEWATCH_COVERAGE)
  target_compile_options(kubewatch_settings INTERFACE --coverage)
  target_link_options(kubewatch_settings INTERFACE --coverage)
endif()

# Of code that runs once for a person, not once for an object: small rather than fast, for the same
# reason.
set(KUBEWATCH_SMALL $<$<CONFIG:Release>:-Os>)

# What nearly all files include is compiled once for all targets of a KIND (library, small, tests): a fifth
# of the time that a file takes. Not where ccache is, which saves more and does not see into a precompiled
# header; not for clang-tidy: there each file must have what it includes.
function(kw_precompiled target kind)
  if(NOT KUBEWATCH_PRECOMPILE OR KUBEWATCH_CCACHE)
    return()
  endif()
  set(owner precompiled_${kind})
  if(NOT TARGET ${owner})
    set(source ${PROJECT_BINARY_DIR}/${owner}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${owner} OBJECT ${source})
    target_link_libraries(${owner} PRIVATE kubewatch_settings fmt::fmt)
    set(header library)
    if(kind STREQUAL small)
      target_compile_options(${owner} PRIVATE ${KUBEWATCH_SMALL})
    elseif(kind STREQUAL tests)
      set(header tests)
      set_target_properties(${owner} PROPERTIES KUBEWATCH_TEST_CASES ON)
      target_include_directories(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
      target_link_libraries(${owner} PRIVATE Catch2::Catch2)
    endif()
    target_precompile_headers(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled_${header}.hpp)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# How a target of lib/ or cli/ is compiled: by eights, since what its files include and instantiate is most
# of the time that one takes; not for who edits (preset quick), nor for clang-tidy: there each file is its
# own. SMALL: all of it is code that runs once for a person. SEPARATE: not by eights, its files use the same
# names for their own things.
function(kw_own_code target)
  cmake_parse_arguments(arg "SMALL;SEPARATE" "" "" ${ARGN})
  target_compile_definitions(${target} PRIVATE KUBEWATCH_VERSION="${PROJECT_VERSION}")
  if(KUBEWATCH_UNITY AND NOT arg_SEPARATE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # It takes the .cpp files of an eight for headers, whose classes should have no such members.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
  if(arg_SMALL)
    target_compile_options(${target} PRIVATE ${KUBEWATCH_SMALL})
    kw_precompiled(${target} small)
  else()
    kw_precompiled(${target} library)
  endif()
endfunction()

# The library of one room, with kw_own_code's SMALL and SEPARATE. Other projects link kubewatch::ROOM, which
# brings them the headers and the language that these are written in, but not our warnings.
function(kw_library room)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${room}/*.cpp)
  if(NOT sources)
    add_library(kubewatch_${room} INTERFACE)
    target_link_libraries(kubewatch_${room} INTERFACE kubewatch_settings ${arg_PUBLIC})
    return()
  endif()
  add_library(kubewatch_${room} STATIC ${sources})
  add_library(kubewatch::${room} ALIAS kubewatch_${room})
  if(PROJECT_IS_TOP_LEVEL)
    target_link_libraries(kubewatch_${room} PUBLIC kubewatch_settings)
  else()
    target_link_libraries(kubewatch_${room} PRIVATE kubewatch_settings)
    target_include_directories(kubewatch_${room} SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/lib)
    target_compile_features(kubewatch_${room} INTERFACE cxx_std_20)
  endif()
  target_link_libraries(kubewatch_${room} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  kw_own_code(kubewatch_${room} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# Unit tests of one room: tests/ROOM/*_test.cpp, each TEST_CASE a ctest.
function(kw_test room)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${room} ${sources})
  set_target_properties(test_${room} PROPERTIES KUBEWATCH_TEST_CASES ON)
  target_link_libraries(test_${room} PRIVATE kubewatch_test_main ${ARGN})
  kw_precompiled(test_${room} tests)
  # A name that finds no test case is an error, in Catch 3 by itself: Catch 2 would say 0, as of a
  # name with a `;`, at which CMake cuts it.
  set(no_test_is_an_error)
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_test_is_an_error EXTRA_ARGS --warn NoTests)
  endif()
  catch_discover_tests(test_${room} TEST_PREFIX "${room}: " ${no_test_is_an_error}
                       PROPERTIES TIMEOUT 180)
endfunction()
